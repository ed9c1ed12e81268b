package pgstore

import (
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/pgtest"
)

func TestOpenRefuses(t *testing.T) {
	dsn := pgtest.Server(t)
	schema := pgtest.Schema(t, dsn)
	_, err := Open(t.Context(), dsn, &Options{Schema: schema, Existing: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.Empty(t, pgtest.Ask(t, dsn, "select 1 from pg_namespace where nspname = '"+schema+"'"), "nothing is created")
	require.NoError(t, reopen(t, dsn, schema).Close())
	s, err := Open(t.Context(), dsn, &Options{Schema: schema, Existing: true})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "twice")
	_, err = s.Head(t.Context())
	require.ErrorIs(t, err, os.ErrClosed)
	require.ErrorIs(t, s.Swap(t.Context(), "k", nil, []byte("v")), os.ErrClosed)

	pgtest.Ask(t, dsn, "update "+schema+".version set n = 2")
	_, err = Open(t.Context(), dsn, &Options{Schema: schema})
	require.ErrorIs(t, err, harvest.ErrNewer)
	pgtest.Ask(t, dsn, "update "+schema+".version set n = 0")
	_, err = Open(t.Context(), dsn, &Options{Schema: schema})
	require.ErrorContains(t, err, "has version 0: version 1 is right")
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
			s, err := Open(t.Context(), dsn, &Options{Schema: schema})
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

// A session that has not written for a day is forgotten.
func TestExpire(t *testing.T) {
	dsn := pgtest.Server(t)
	schema := pgtest.Schema(t, dsn)
	s := reopen(t, dsn, schema)
	require.NoError(t, s.Swap(t.Context(), "k", nil, []byte("v")))
	pgtest.Ask(t, dsn, "insert into "+schema+".session values ('old', 1, now() - interval '25 hours')")
	reopen(t, dsn, schema)
	assert.Equal(t, []string{string(s.db.session)}, pgtest.Ask(t, dsn, "select convert_from(id, 'UTF8') from "+schema+".session"))
}
