// Package kvstore turns any ordered key-value store into a [harvest.Store].
//
// Whoever has one implements [DB]: View and Update around Get, Set, Delete and Scan. All
// the rest, the records, the log, the tasks, the bodies and the claims, is done here.
// Package memstore is kvstore on an ordered map in memory.
//
//	store := kvstore.New(db)
//
// What a commit costs: for each put one Get and about three Sets, all in one Update.
// Iterators read a page of up to 256 records in one View and hand it on after the View
// has ended. A body longer than Store.ChunkSize is written in pieces, each in an Update
// of its own, and becomes visible with the Commit that names it; a shorter one waits in
// memory for its Commit.
//
// Run storetest on your store to see whether the DB keeps the contract.
//
// Not supported: telling that the holder of a claim is dead. Its claim ends when its time
// is over.
package kvstore
