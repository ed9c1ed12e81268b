// Package kvstore turns any ordered key-value store into a [harvest.Store].
//
// Whoever has one writes a driver: a [DB] with View and Update around Get, Set, Delete
// and Scan. All the rest, the records, the log, the tasks, the bodies and the claims, is
// done here. Package memstore is a driver on an ordered map in memory, package
// sqlitestore one on SQLite, and the example below one on a sorted map.
//
//	store := kvstore.New(db)
//
// # Drivers
//
// A driver must keep the contracts of [DB], [Reader] and [Tx]. What it can do besides it
// says by implementing further interfaces, which a Store finds by itself:
//
//   - [Prefetcher], of a Reader, for a DB behind a network: the reads of a Commit are
//     three round trips then, whatever its size, and those of a lookup are two;
//   - [Blobs], of a DB, for bodies longer than [Store].ChunkSize: files or objects beside
//     the DB. Without it they are kept in the DB, in pieces;
//   - [Owners], of a DB that can find out that a process has died: its claims end at
//     once.
//
// Run package storetest on your Store to see whether the driver keeps the contracts.
//
// # Costs
//
// A Commit is one Update: for each put one Get and about three Sets. Iterators read a
// page of up to 256 records in one View and hand it on after the View has ended. A short
// body waits in memory for its Commit. A long one is written as it comes and becomes
// visible with the Commit that names it; what no Commit has named is removed by Vacuum.
//
// # Versions
//
// What a Store has written carries the version of its layout. A DB with a newer one is
// refused with [harvest.ErrNewer]. One with an older one is refused too, and stays as it
// is: harvest again into an empty DB.
package kvstore
