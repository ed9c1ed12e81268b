package pgstore

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/websync-go/websync/harvest"
)

// schemaVersion is the version of schema.
const schemaVersion = 1

// schema is the schema of the database; $ stands for its name. kvstore defines the keys
// and values, with a version of its own. Keys that are too long for an index are in a
// table of their own, by a hash, in the order of their first bytes. A session is an
// opening of the Store, and the number of its latest Update.
var schema = [...]string{
	"create table $.kv (k bytea primary key, v bytea not null)",
	"alter table $.kv alter v set storage external",
	"create table $.long (hash bytea primary key, prefix bytea not null, k bytea not null, v bytea not null)",
	"create index on $.long (prefix)",
	"create table $.session (id bytea primary key, updates bigint not null, at timestamptz not null)",
	"create table $.version (n bigint not null)",
}

// sqlSettings makes all plans use the indexes: a table that was never analysed would be
// read from its beginning to its end. A process that stops inside a transaction must not
// keep the others waiting for ever.
const sqlSettings = `select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
	set_config('jit', 'off', true), set_config('idle_in_transaction_session_timeout', '60s', true)`

// sqlLock begins an Update. It is durable even if the database is set up otherwise.
const sqlLock = sqlSettings + `, pg_advisory_xact_lock($1), set_config('synchronous_commit',
	case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, true)`

// statements are those on the tables of one schema.
type statements struct {
	get, getLong, scan, scanLong          string
	insert, replace, replaceLong          string
	remove, removeLong                    string
	applied, isApplied, expire            string
	exists, create, version, writeVersion string
}

func newStatements(schema string) statements {
	in := func(sql string) string { return strings.ReplaceAll(sql, "$.", pgx.Identifier{schema}.Sanitize()+".") }
	const pairs = "select * from unnest($1, $2) as pairs (k, v)"
	return statements{
		get:         in("select k, v from $.kv where k = any ($1)"),
		getLong:     in("select k, v from $.long where hash = any ($1)"),
		scan:        in("select k, v from $.kv where k >= $1 and k < $2 order by k limit $3"),
		scanLong:    in("select k, v from $.long where prefix between $3 and $4 and k >= $1 and k < $2 order by prefix, k limit $5"),
		insert:      in("insert into $.kv " + pairs),
		replace:     in("insert into $.kv " + pairs + " on conflict (k) do update set v = excluded.v"),
		replaceLong: in("insert into $.long select sha256(k), substr(k, 1, " + fmt.Sprint(maxKey) + "), k, v from (" + pairs + ") as p on conflict (hash) do update set v = excluded.v"),
		remove:      in("delete from $.kv where k = any ($1)"),
		removeLong:  in("delete from $.long where hash = any ($1)"),
		applied:     in("insert into $.session values ($1, $2, now()) on conflict (id) do update set updates = excluded.updates, at = excluded.at"),
		isApplied:   in("select from $.session where id = $1 and updates = $2"),
		// an Update in doubt is long over by then
		expire:       in("delete from $.session where at < now() - interval '1 day'"),
		exists:       "select from pg_class join pg_namespace n on n.oid = relnamespace where nspname = $1 and relname = 'version'",
		create:       "create schema if not exists " + pgx.Identifier{schema}.Sanitize(),
		version:      in("select n from $.version"),
		writeVersion: in("insert into $.version values ($1)"),
	}
}

// setUp creates the schema, unless it is to exist already, or checks its version.
func (d *db) setUp(ctx context.Context, existing bool) error {
	t, err := d.begin(ctx, true)
	if err != nil {
		return err
	}
	defer t.conn.Release()
	exists := false
	b := t.batch()
	b.add(d.sql.exists, func([][]byte) { exists = true }, d.schema)
	if err := t.send(b); err != nil {
		return err
	}
	switch {
	case exists:
		return t.checkVersion()
	case existing:
		return fmt.Errorf("pgstore: the schema %q holds no Store: %w", d.schema, fs.ErrNotExist)
	}
	return t.create()
}

func (t *tx) create() error {
	b := t.batch()
	b.add(t.db.sql.create, nil)
	for _, sql := range schema {
		b.add(strings.ReplaceAll(sql, "$.", pgx.Identifier{t.db.schema}.Sanitize()+"."), nil)
	}
	b.add(t.db.sql.writeVersion, nil, int64(schemaVersion))
	b.add("commit", nil)
	return t.send(b)
}

func (t *tx) checkVersion() error {
	version := uint64(0)
	b := t.batch()
	b.add(t.db.sql.version, func(row [][]byte) { version = binary.BigEndian.Uint64(row[0]) })
	b.add(t.db.sql.expire, nil)
	b.add("commit", nil)
	if err := t.send(b); err != nil {
		return err
	}
	switch {
	case version > schemaVersion:
		return fmt.Errorf("pgstore: %w: the schema %q has version %d, this version reads version %d", harvest.ErrNewer, t.db.schema, version, schemaVersion)
	case version < schemaVersion:
		return fmt.Errorf("pgstore: the schema %q has version %d: version %d is right; harvest again into a new schema", t.db.schema, version, schemaVersion)
	}
	return nil
}
