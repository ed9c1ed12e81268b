// Package pgstore is a [harvest.Store] in a PostgreSQL database, for several processes
// and hosts.
//
//	store, err := pgstore.Open(ctx, "postgres://websync@db.example/websync", nil)
//	…
//	defer store.Close()
//	catalog := harvest.NewCatalog(store)
//
// It uses pgx.
//
// # Starting
//
// The Store needs a database and a role that may create a schema in it:
//
//	createuser websync
//	createdb --owner websync websync
//
// Open creates the schema "websync" with its tables; several Stores in one database have
// [Options.Schema]. Passwords belong into a file that PGPASSFILE names, or into
// PGPASSWORD; errors and logs have none. The environment variables, service files and
// TLS settings of psql have the same effect here.
//
// # Rights
//
// The role that creates the schema owns it and may do everything. Another role needs
// these rights to write, which includes reading:
//
//	grant usage on schema websync to harvester;
//	grant select, insert, update, delete on all tables in schema websync to harvester;
//
// Open and all methods of the Catalog that only read need less:
//
//	grant usage on schema websync to reader;
//	grant select on all tables in schema websync to reader;
//
// They also work on a hot standby, and with default_transaction_read_only. There a write
// returns an error at once; if the server was no standby when the Store was opened, it is
// an outage.
//
// # Durability
//
// When Update returns, what it has written is as durable as the server makes it: on its
// disk, and on its standby if synchronous_commit says so. A synchronous_commit of off is
// not obeyed. Nothing of an Update remains if a process is killed, or loses its
// connection, before the server commits.
//
// # Outages
//
// A call that loses its connection tries again, until the server has not been reached
// for as long as [Options.Retry], by any call: while the server restarts, is exchanged
// for its standby, or ends a connection. If the connection is lost while the server
// commits, the Store asks the server whether it has, so that no call is carried out
// twice. After a longer outage the call returns an error; what was committed before is
// there, and the next run goes on from it. A call that is cancelled ends at once, or up
// to 5 seconds later if the server is committing.
//
// # Sharing
//
// Any number of processes may have one schema open. One Update runs at a time; readers
// never wait for it, nor it for them. A claim ends when it is released or expires: the
// server does not know whether the process that lost its connection has died.
// [harvest.WaitLog] notices the commits of other processes at once.
//
// A connection pool between the processes and the server may give each transaction
// another connection, as PgBouncer does in its transaction mode: the Store keeps nothing
// in a connection but the notifications. Where these get lost, WaitLog notices the
// commits of other processes within a second.
//
// # Round trips
//
// A batch of new records takes four round trips to the server, one of changed records
// five, whatever its size, a lookup three, or four at first, and a page of up to 256
// items four, the last of which nobody waits for: one more each after Compact has
// renumbered what they read. All plans use indexes, so the tables need not be analysed
// first.
//
// # Bodies
//
// Bodies are in the database, those longer than ChunkSize (128 KiB) in pieces of that
// size, unless the Catalog's field Blobs keeps them elsewhere.
//
// # Maintenance
//
// The log and the bodies only grow until [harvest.Catalog.Retain] removes what is not
// kept any more. The server's autovacuum makes the space free for reuse: a generation of
// the log that goes is more than the fifth of a table with which it begins. pg_dump makes
// a copy while the Store is in use.
//
// # Versions
//
// Open brings a schema of an older version, from 2 on, up to date, in one transaction for
// each version: if it is interrupted, the next Open goes on. Only the owner of the schema
// can do that. Open refuses a schema that a newer version of this package wrote with
// [harvest.ErrNewer], and one of a still older version, whose sources must be harvested
// again into a new schema. It changes none of these. It was tried with PostgreSQL 15 and
// PgBouncer 1.18.
package pgstore
