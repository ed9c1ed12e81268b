// Package sqlitestore keeps what was harvested in one SQLite file: a [harvest.Store] for
// one host, without a server and without cgo.
//
//	store, err := sqlitestore.Open(ctx, "harvest.db", nil)
//	…
//	defer store.Close()
//
// It is package kvstore on tables of SQLite.
//
// # Files
//
// With a Store named FILE there are
//
//   - FILE, the database, and while it is open FILE-wal and FILE-shm, which belong to it;
//   - FILE.bodies, a directory with the bodies that are longer than [Options.InlineBody].
//     The database knows which file is which. Shorter bodies are in the database;
//   - FILE.owners, a directory with one small locked file for each open Store. It is gone
//     when all are closed.
//
// Do not rename FILE without the others, and do not put it on a network file system:
// SQLite's locks and its shared memory need one host.
//
// # Durability
//
// When Commit returns its Batch is on the disk: neither a killed process nor a power cut
// takes it back. A process that is killed in the middle leaves nothing of its Batch but
// files that no record names, which Vacuum removes.
//
// # Sharing
//
// Any number of Stores, in one process or in several, may have the same file open. One
// Commit goes on at a time; readers never wait for it, nor it for them. A claim ends when
// its time is up, when its Store is closed, or at once when its process dies, where the
// system has file locks; a program that was killed can go on as soon as it is started
// again. The sources of one file share its log, and a Commit takes the same time whether
// they are few or many.
//
// # Memory
//
// A Store takes about Options.Cache (16 MiB) of memory however large the file is.
// Iterators hold a page of up to 256 items; bodies stream, except that short ones wait in
// memory for their Commit.
//
// # Maintenance
//
// Nothing in the log is ever removed by itself. Compact writes a generation of the log
// without superseded entries, Drop removes older generations, Vacuum removes bodies that
// no record names any more. None of them makes the database file shorter: free space is
// used again. They work in many short transactions, beside commits.
//
// To make a copy while the Store is in use, run "VACUUM INTO 'copy.db'" with any SQLite
// tool first and copy FILE.bodies to copy.db.bodies after that, with no Vacuum in
// between.
//
// # Versions
//
// Open refuses a file that a newer version of this package wrote with [harvest.ErrNewer],
// a file of an older version, whose sources are to be harvested again into a new file,
// and a file that something else wrote. All of them stay as they are.
package sqlitestore
