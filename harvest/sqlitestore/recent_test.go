package sqlitestore

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

func setKey(t *testing.T, s *Store, key string, size int) {
	require.NoError(t, s.Update(t.Context(), func(tx harvest.Tx) error { return tx.Set([]byte(key), bytes.Repeat([]byte("x"), size)) }))
}

// A transaction that is older than what the process knows begins again: what it reads of both tables is of one state.
func TestFollowsLaterState(t *testing.T) {
	s := openDriver(t, filepath.Join(t.TempDir(), "store.db"))
	s.limits = limits{apart: -1, bytes: 1 << 20, rows: 1000}
	setKey(t, s, "a", 1)
	require.NoError(t, s.withReader(t.Context(), func(c *conn) error {
		require.NoError(t, c.run(c.begin))
		_, err := c.get.Step() // from here on it has its state
		require.NoError(t, err)
		require.NoError(t, c.get.Reset())
		setKey(t, s, "b", 1)
		require.NoError(t, s.follow(c))
		last, err := c.ask("SELECT max(n) FROM recent")
		require.NoError(t, err)
		assert.Equal(t, "2", last)
		assert.Equal(t, last, strconv.FormatInt(c.recent.last, 10))
		return nil
	}))
}

// What is recent has no more than its bytes and its rows.
func TestRecentIsLimited(t *testing.T) {
	for name, l := range map[string]limits{
		"bytes": {apart: -1, bytes: 3000, rows: 1000},
		"rows":  {apart: -1, bytes: 1 << 20, rows: 6},
	} {
		t.Run(name, func(t *testing.T) {
			s := openDriver(t, filepath.Join(t.TempDir(), "store.db"))
			s.limits = l
			for i := range 40 {
				setKey(t, s, fmt.Sprint("a", i), 500)
				r := s.recent.Load()
				require.Less(t, r.last-r.first, int64(7))
				require.LessOrEqual(t, r.size, l.bytes)
			}
			rows, err := s.writer.ask("SELECT count(*) FROM kv")
			require.NoError(t, err)
			assert.Greater(t, rows, "30")
		})
	}
}

// Keys that lie together go to kv at once, and scattered ones do not.
func TestScatteredIsRecent(t *testing.T) {
	s := openDriver(t, filepath.Join(t.TempDir(), "store.db"))
	set := func(from, step int) {
		require.NoError(t, s.Update(t.Context(), func(tx harvest.Tx) error {
			for i := range 100 {
				if err := tx.Set(fmt.Appendf(nil, "a%06d", from+i*step), []byte("x")); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	for i := range 10 {
		set(i*1000, 10)
		require.True(t, s.recent.Load().empty())
	}
	set(5, 97)
	assert.False(t, s.recent.Load().empty())
}
