// Package kvstore turns any ordered key-value store into a [harvest.Store].
//
// Such a store needs a driver: a [DB] with View and Update around Get, Set, Delete and
// Scan. This package does the rest: the records, the log, the tasks, the bodies and the
// claims. Package memstore is a driver on an ordered map in memory, package sqlitestore
// one on SQLite, and the example below one on a sorted map.
//
//	store := kvstore.New(db)
//
// # Drivers
//
// A driver must keep the contracts of [DB], [Reader] and [Tx]. It may implement further
// interfaces, which a Store detects:
//
//   - [Prefetcher], of a Reader, for a DB behind a network: the reads of a Commit are at
//     most four round trips then, whatever its size, and those of a lookup two; records
//     that have not changed since a Compact need one more;
//   - [Pager], of a Reader, for a DB that reads the keys of a Scan in pages;
//   - [Inserter], of a Tx, for a DB that writes a new key more cheaply;
//   - [Blobs], of a DB, for bodies longer than [Store].ChunkSize: files or objects beside
//     the DB. Without it they are kept in the DB, in pieces;
//   - [Owners], of a DB that can find out that a process has died: its claims end at
//     once;
//   - [Rester], of a DB that has work to do between the Updates of maintenance;
//   - [LogNotifier], of a Tx, and [LogWatcher], of its DB, if the DB can notify the other
//     processes that use it: [harvest.WaitLog] then returns at once.
//
// Run package storetest on your Store to see whether the driver keeps the contracts, and
// [Inspect] to see what interrupted processes have left in a DB.
//
// # Costs
//
// A resource is described in the log only, where writes are in order; its record refers
// to the entry, and holds what shows whether an event states something new. A Commit is
// one Update: for each put two Sets, and one Get unless its id is greater than those of
// all records. Blocks of 32 records, in the order of their Born, have the numbers of the
// entries and the Fingerprints: Compact changes only these and the log, and Fingerprints
// reads only these, unless the source has few of the records. Other iterators read a page
// of up to 256 records in one View and yield it after the View has ended; meanwhile they
// may read the next one. A short body waits in memory for its Commit. A long one is
// written as it comes and becomes visible with the Commit that names it; what no Commit
// has named is removed by Vacuum. Compact, Drop and Vacuum work in many Updates of a few
// hundredths of a second, with a rest after each.
//
// # Versions
//
// A DB holds the version of its layout. A Store refuses one with a newer layout with
// [harvest.ErrNewer]. It also refuses one with an older layout, and does not change it:
// harvest again into an empty DB.
package kvstore
