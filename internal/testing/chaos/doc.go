// Package chaos holds the tests that kill, starve and confuse harvests: each protocol
// into each Store that outlives a process. It has tests only.
//
//   - TestKill kills processes with a signal at random moments: at a request, within an
//     answer, at a Commit, at the start.
//   - TestClock kills them too, while the clock of their Store jumps by hours and years;
//     TestClocks changes all clocks of the harvester, and TestDate those of the server.
//   - TestDiskFull, TestTemporaryFull and TestServerDiskFull fill the disk of SQLite,
//     that of the temporary files and that of a PostgreSQL server, TestReadOnly forbids
//     writing, all in a mount namespace of their own.
//   - TestOutage takes PostgreSQL away for longer than the Store tries to reach it.
//
// After each kill and each fault the whole Store is inspected: its parts agree, its log
// is dense, the times in it rise, and its changes in their order make the records. When
// the run has ended in step, the Store has the same records, bodies and deletions as a
// Store whose harvests nothing has disturbed.
//
// The flag -kills sets how many processes are killed for each protocol and Store, and how
// often each fault is tried: half as often, 25 times at most. The flag -seed repeats the
// choices of a run. With -v the last lines of the output have the numbers.
//
// Others test parts of this closer to the code: harvest.TestKills kills the engine on a
// Source in memory, pgstore.TestKill kills processes inside COMMIT, TestLostInCommit,
// TestTerminated and TestRestart take away the connections and the server of a running
// harvest, sqlitestore.TestKill and TestWorkerKill kill writers and workers, and
// TestRelayKill of examples/websync kills a program that harvests and publishes at the
// same time.
package chaos
