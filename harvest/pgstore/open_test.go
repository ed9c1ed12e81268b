package pgstore

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

func TestOpenRefuses(t *testing.T) {
	dsn := pgtest.Server(t)
	schema := pgtest.Schema(t, dsn)
	_, err := Open(t.Context(), dsn, &Options{Schema: schema, Existing: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.Empty(t, pgtest.Ask(t, dsn, "select 1 from pg_namespace where nspname = '"+schema+"'"), "nothing is created")
	require.NoError(t, reopen(t, dsn, schema).Close())
	s, err := onStore(Open(t.Context(), dsn, &Options{Schema: schema, Existing: true}))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "twice")
	_, err = s.Head(t.Context())
	require.ErrorIs(t, err, os.ErrClosed)
	require.ErrorIs(t, s.Swap(t.Context(), "k", nil, []byte("v")), os.ErrClosed)

	pgtest.Ask(t, dsn, "update "+schema+".version set n = 3")
	_, err = Open(t.Context(), dsn, &Options{Schema: schema})
	require.ErrorIs(t, err, harvest.ErrNewer)
	pgtest.Ask(t, dsn, "update "+schema+".version set n = 1")
	_, err = Open(t.Context(), dsn, &Options{Schema: schema})
	require.ErrorContains(t, err, "has version 1: version 2 is right")
}

// A schema of an older version is brought up to date, each step once, although a connection
// is lost in the middle and several go on at the same time.
func TestUpgrade(t *testing.T) {
	dsn := pgtest.Server(t)
	schema := pgtest.Schema(t, dsn)
	require.NoError(t, reopen(t, dsn, schema).Swap(t.Context(), "k", nil, []byte("v")))
	pgtest.Ask(t, dsn, fmt.Sprintf("update %[1]s.version set n = 1; create table %[1]s.n as select 1 as n", schema))
	upgrade := func(step ...string) error {
		config, err := pgxpool.ParseConfig(dsn)
		require.NoError(t, err)
		s, err := newStore(t.Context(), config, &Options{Schema: schema})
		require.NoError(t, err)
		defer s.Close()
		s.upgrades = [][]string{step}
		return s.setUp(t.Context(), true)
	}
	const step = "update $.n set n = n + 1"
	require.Error(t, upgrade(step, "select pg_terminate_backend(pg_backend_pid())"))
	require.Equal(t, []string{"1"}, pgtest.Ask(t, dsn, "select n from "+schema+".n"))
	require.Equal(t, []string{"1"}, pgtest.Ask(t, dsn, "select n from "+schema+".version"))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { assert.NoError(t, upgrade(step)) })
	}
	all.Wait()
	assert.Equal(t, []string{"2"}, pgtest.Ask(t, dsn, "select n from "+schema+".n"))
	value, err := reopen(t, dsn, schema).State(t.Context(), "k")
	require.NoError(t, err)
	assert.Equal(t, "v", string(value))
}

// No error has the password of the connection string.
func TestNoPassword(t *testing.T) {
	pgtest.Server(t)
	for _, dsn := range []string{
		"postgres://u:secret@127.0.0.1:1/x", "postgres://u:secret@127.0.0.1:port/x", "postgres://u:secret@nowhere.invalid/x",
		"postgres://u:se/secret@127.0.0.1/x", "postgres://u: secret@[/x", "postgres://127.0.0.1:1/x?password=secret", "postgres://127.0.0.1:1/x?pass%77ord=secret&y=%",
		"host=127.0.0.1 port=1 password=secret", "host=127.0.0.1 port=x password=secret", "host=127.0.0.1 password='secret", "password = secret nonsense",
		"postgres://nobody:secret@127.0.0.1:5432/nonesuch", "secret",
	} {
		_, err := Open(t.Context(), dsn, nil)
		require.Error(t, err, dsn)
		assert.NotContains(t, err.Error(), "secret", dsn)
		assert.True(t, strings.HasPrefix(err.Error(), "pgstore: "), err)
	}
}

// A schema may have any name, and several processes may create it at once.
func TestCreate(t *testing.T) {
	dsn := pgtest.Server(t)
	schema := pgtest.Schema(t, dsn) + ` "Odd"; --`
	t.Cleanup(func() { pgtest.Ask(t, dsn, `drop schema "`+strings.ReplaceAll(schema, `"`, `""`)+`" cascade`) })
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := onStore(Open(t.Context(), dsn, &Options{Schema: schema}))
			if assert.NoError(t, err) {
				assert.NoError(t, s.Close())
			}
		})
	}
	all.Wait()
	s := reopen(t, dsn, schema)
	require.NoError(t, s.Swap(t.Context(), "k", nil, []byte("v")))
	value, err := s.State(t.Context(), "k")
	require.NoError(t, err)
	assert.Equal(t, "v", string(value))
}

// A session that has not written for a day is forgotten when the next one writes.
func TestExpire(t *testing.T) {
	dsn := pgtest.Server(t)
	schema := pgtest.Schema(t, dsn)
	require.NoError(t, reopen(t, dsn, schema).Swap(t.Context(), "k", nil, []byte("v")))
	pgtest.Ask(t, dsn, "update "+schema+".session set at = now() - interval '25 hours'")
	s := reopen(t, dsn, schema)
	assert.Len(t, pgtest.Ask(t, dsn, "select id from "+schema+".session"), 1)
	require.NoError(t, s.Swap(t.Context(), "k", []byte("v"), nil))
	assert.Equal(t, []string{string(s.db.session)}, pgtest.Ask(t, dsn, "select convert_from(id, 'UTF8') from "+schema+".session"))
}

// A role that may only read, and a server or a role on which all transactions can only
// read, open a Store that exists. A write returns what is missing, and changes nothing.
func TestReadOnly(t *testing.T) {
	dsn := pgtest.Server(t)
	schema := pgtest.Schema(t, dsn)
	s := reopen(t, dsn, schema)
	testkit.Fill(t, s.Catalog, "a", []string{"text"}, websync.Item{Resource: websync.Resource{ID: "urn:x"}})
	require.NoError(t, s.Swap(t.Context(), "k", nil, []byte("v")))
	pgtest.Ask(t, dsn, "update "+schema+".session set at = now() - interval '25 hours'")
	readOnly, err := url.Parse(dsn)
	require.NoError(t, err)
	query := readOnly.Query()
	query.Set("default_transaction_read_only", "on")
	readOnly.RawQuery = query.Encode()
	for name, test := range map[string]struct{ dsn, write, create string }{
		"a role with few rights": {
			pgtest.Reader(t, dsn, schema),
			"^pgstore: the role \"test_.*\" lacks a right: ERROR: permission denied for table .*: reading needs USAGE on the schema .* and SELECT on its tables, writing also INSERT, UPDATE and DELETE, creating it CREATE on the database$",
			"permission denied for database .* creating it CREATE on the database",
		},
		"transactions that only read": {
			readOnly.String(),
			"^pgstore: the Store can only be read: ERROR: .*read-only transaction.*: to write, connect to a server that is not a standby, as a role without default_transaction_read_only$",
			"the Store can only be read: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, existing := range []bool{true, false} {
				r, err := onStore(Open(t.Context(), test.dsn, &Options{Schema: schema, Existing: existing}))
				require.NoError(t, err)
				defer r.Close()
				assert.Len(t, testkit.All(t, r.Resources(t.Context(), websync.Range{})), 1)
				value, err := r.State(t.Context(), "k")
				require.NoError(t, err)
				assert.Equal(t, "v", string(value))
				err = r.Swap(t.Context(), "k", []byte("v"), []byte("w"))
				require.Error(t, err)
				assert.Regexp(t, test.write, err.Error())
			}
			_, err := Open(t.Context(), test.dsn, &Options{Schema: schema + "_none", Existing: true})
			require.ErrorIs(t, err, fs.ErrNotExist)
			_, err = Open(t.Context(), test.dsn, &Options{Schema: schema + "_none"})
			require.Error(t, err)
			assert.Regexp(t, test.create, err.Error())
		})
	}
	assert.Equal(t, []string{string(s.db.session)}, pgtest.Ask(t, dsn, "select convert_from(id, 'UTF8') from "+schema+".session"))
}
