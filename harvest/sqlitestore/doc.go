// Package sqlitestore is a [harvest.Store] in one SQLite file, for one host, without a
// server and without cgo.
//
//	store, err := sqlitestore.Open(ctx, "harvest.db", nil)
//	…
//	defer store.Close()
//	catalog := harvest.NewCatalog(store)
//
// # Files
//
// The files of a Store named FILE are
//
//   - FILE, the database, and while it is open FILE-wal and FILE-shm, which belong to it;
//   - FILE.bodies, a directory with a file for each body that is longer than the ChunkSize
//     of its [harvest.Catalog], 128 KiB by default, and one for the shorter bodies of a
//     Commit if they are longer than that together. The database knows which bytes are
//     which. Other bodies are in the database;
//   - FILE.owners, a directory with one small locked file for each open Store. It is gone
//     when all are closed.
//
// Do not rename FILE without the others, and do not put it on a network file system:
// SQLite's locks and its shared memory need one host. Open refuses FILE-wal or
// FILE.bodies without FILE: restore FILE, or remove both to create a new Store.
//
// # Durability
//
// When Update returns, what it has written is on the disk and survives a killed process
// and a power cut. A process that is killed during an Update leaves nothing of it but
// files that no record names, which Vacuum removes.
//
// # Sharing
//
// Any number of Stores, in one process or in several, may have the same file open. One
// Update runs at a time; readers never wait for it, nor it for them. A claim ends when it
// expires, when its Store is closed, or, on systems with file locks, as soon as its
// process dies: a program that was killed can continue as soon as it is restarted. The
// sources of one file share its log. The time of an Update does not depend on their
// number.
//
// # Memory
//
// A Store takes about Options.Cache (8 MiB) of memory however large the file is.
// Iterators hold a page of up to 256 items; bodies stream, except that short ones wait in
// memory for their Update.
//
// # Maintenance
//
// The log and the bodies only grow until [harvest.Catalog.Retain] removes what is not
// kept any more. It then calls Shrink, which makes the file shorter, step by step, and
// empties FILE-wal: nothing that was removed is left in them. In a file of several bodies
// one is overwritten with zeros, on Linux with a hole, which takes no space. Files of
// earlier versions are not made shorter; their free space is reused.
//
// To make a copy while the Store is in use, run "VACUUM INTO 'copy.db'" with any SQLite
// tool first and copy FILE.bodies to copy.db.bodies after that, in less time than Vacuum
// leaves bodies that no record names. Before a copy is used in place of the Store, call
// Restored of its [harvest.Catalog].
//
// # Versions
//
// Open brings a file of an older version, from schema 5 on, up to date, in one transaction
// for each schema: if it is interrupted, the next Open goes on. It refuses a file that a
// newer version of this package wrote with [harvest.ErrNewer], one of a still older
// version, whose sources must be harvested again into a new file, and one that another
// program wrote. It changes none of these.
package sqlitestore
