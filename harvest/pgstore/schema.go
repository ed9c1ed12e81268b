package pgstore

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/websync-go/websync/harvest"
)

// schemaVersion is the version of schema. Version 1 had no table of the log.
const schemaVersion = 2

// schema is the schema of the database; $ stands for its name. package harvest defines
// the keys and values, with a version of its own. Keys that are too long for an index are
// in a table of their own, by a hash, in the order of their first bytes. The log is in
// chunks: see type chunk. A session is an opening of the Store, and the number of its
// latest Update.
var schema = [...]string{
	"create table $.kv (k bytea primary key, v bytea not null)",
	"alter table $.kv alter v set storage external",
	"create table $.long (hash bytea primary key, prefix bytea not null, k bytea not null, v bytea not null)",
	"create index on $.long (prefix)",
	"create table $.log (n bigint primary key, v bytea not null)",
	"alter table $.log alter v set storage external",
	"create table $.session (id bytea primary key, updates bigint not null, at timestamptz not null)",
	"create table $.version (n bigint not null)",
}

// upgrades has the statements that bring each schema, from the first one that is upgraded,
// to the next. It is empty: that is schemaVersion. A change of schema adds an element.
var upgrades [0][]string

// sqlSettings makes all plans use the indexes: a table that was never analysed would be
// read from its beginning to its end. A process that stops inside a transaction must not
// keep the others waiting for ever.
const sqlSettings = `select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
	set_config('jit', 'off', true), set_config('idle_in_transaction_session_timeout', '60s', true)`

// sqlLock begins an Update. It is durable even if the database is set up otherwise.
const sqlLock = sqlSettings + `, pg_advisory_xact_lock($1), set_config('synchronous_commit',
	case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, true)`

// sqlReadOnly has a row if all transactions of this connection can only read.
const sqlReadOnly = "select where pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean"

// statements are those on the tables of one schema.
type statements struct {
	get, getLong, scan, scanLong          string
	insert, replace, replaceLong          string
	remove, removeLong                    string
	getLog, scanLog, insertLog, removeLog string
	applied, isApplied, expire            string
	exists, create, version               string
	forgetVersion, writeVersion           string
}

func newStatements(schema string) statements {
	in := func(sql string) string { return inSchema(schema, sql) }
	const pairs = "select * from unnest($1, $2) as pairs (k, v)"
	return statements{
		get:     in("select k, v from $.kv where k = any ($1)"),
		getLong: in("select k, v from $.long where hash = any ($1)"),
		scan:    in("select k, v from $.kv where k >= $1 and k < $2 order by k limit $3"),
		scanLong: in("select k, v from $.long where prefix between $3 and $4 and k >= $1 and k < $2 " +
			"order by prefix, k limit $5"),
		insert:  in("insert into $.kv " + pairs),
		replace: in("insert into $.kv " + pairs + " on conflict (k) do update set v = excluded.v"),
		replaceLong: in("insert into $.long select sha256(k), substr(k, 1, " + fmt.Sprint(maxKey) + "), k, v " +
			"from (" + pairs + ") as p on conflict (hash) do update set v = excluded.v"),
		remove:     in("delete from $.kv where k = any ($1)"),
		removeLong: in("delete from $.long where hash = any ($1)"),
		getLog: in("select n, v from $.log where n = any (array(" +
			"select (select max(n) from $.log where n <= asked) from unnest($1) as asked))"),
		scanLog: in("select n, v from $.log where n >= coalesce((select max(n) from $.log where n <= $1), $1) and n < $2 " +
			"order by n limit $3"),
		insertLog: in("insert into $.log select * from unnest($1, $2)"),
		removeLog: in("delete from $.log where n = any ($1)"),
		applied: in("insert into $.session values ($1, $2, now()) " +
			"on conflict (id) do update set updates = excluded.updates, at = excluded.at"),
		isApplied: in("select from $.session where id = $1 and updates = $2"),
		// an Update in doubt is long over by then
		expire: in("delete from $.session where at < now() - interval '1 day'"),
		exists: "select from pg_class join pg_namespace n on n.oid = relnamespace " +
			"where nspname = $1 and relname = 'version'",
		create:        "create schema if not exists " + pgx.Identifier{schema}.Sanitize(),
		version:       in("select n from $.version"),
		forgetVersion: in("delete from $.version"),
		writeVersion:  in("insert into $.version values ($1)"),
	}
}

// inSchema returns a statement with the name of the schema for $.
func inSchema(schema, sql string) string {
	return strings.ReplaceAll(sql, "$.", pgx.Identifier{schema}.Sanitize()+".")
}

// inspect returns the version of the schema; 0 if there is no Store. This takes the right
// to read only.
func (s *Store) inspect(ctx context.Context) (version int, err error) {
	t, err := s.begin(ctx, reading)
	if err != nil {
		return 0, err
	}
	defer t.conn.Release()
	defer t.end()
	b := t.batch()
	b.add(sqlReadOnly, func([][]byte) { s.readOnly = true })
	if err := t.send(b); err != nil {
		return 0, err
	}
	return t.version()
}

// upgrade creates a Store, or brings its schema to the next version, unless another
// process has done so. It returns the version.
func (s *Store) upgrade(ctx context.Context) (version int, err error) {
	t, err := s.begin(ctx, writing)
	if err != nil {
		return 0, err
	}
	defer t.conn.Release()
	if version, err = t.version(); err != nil || version == schemaVersion {
		t.end()
		return version, err
	}
	b := t.batch()
	var step []string
	if version == 0 {
		b.add(s.sql.create, nil)
		step, version = schema[:], schemaVersion
	} else {
		step, version = s.upgrades[len(s.upgrades)-(schemaVersion-version)], version+1
	}
	for _, sql := range step {
		b.add(inSchema(s.schema, sql), nil)
	}
	b.add(s.sql.forgetVersion, nil)
	b.add(s.sql.writeVersion, nil, int64(version))
	b.add("commit", nil)
	return version, t.send(b)
}

// version is inspect in a transaction.
func (t *tx) version() (version int, err error) {
	exists := false
	b := t.batch()
	b.add(t.db.sql.exists, func([][]byte) { exists = true }, t.db.schema)
	if err := t.send(b); err != nil || !exists {
		return 0, err
	}
	b = t.batch()
	b.add(t.db.sql.version, func(row [][]byte) { version = int(binary.BigEndian.Uint64(row[0])) })
	if err := t.send(b); err != nil {
		return 0, err
	}
	switch {
	case version > schemaVersion:
		return 0, fmt.Errorf("pgstore: %w: the schema %q has version %d, this version reads version %d",
			harvest.ErrNewer, t.db.schema, version, schemaVersion)
	case version < schemaVersion-len(t.db.upgrades):
		return 0, fmt.Errorf("pgstore: the schema %q has version %d: version %d is right; harvest again into a new schema",
			t.db.schema, version, schemaVersion)
	}
	return version, nil
}
