package pgstore

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/pgtest"
)

// A trips counts the round trips of connections: how often something is sent after
// something has been received.
type trips struct {
	mu       sync.Mutex
	n        int
	received map[net.Conn]bool
}

type countedConn struct {
	net.Conn
	trips *trips
}

func (c *countedConn) Write(p []byte) (int, error) {
	c.trips.mu.Lock()
	if c.trips.received[c.Conn] {
		c.trips.n++
	}
	c.trips.received[c.Conn] = false
	c.trips.mu.Unlock()
	return c.Conn.Write(p)
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.trips.mu.Lock()
	c.trips.received[c.Conn] = true
	c.trips.mu.Unlock()
	return n, err
}

// counted opens a Store whose round trips are counted.
func counted(t testing.TB, dsn, schema string) (*catalog, *trips) {
	config, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	n := &trips{received: map[net.Conn]bool{}}
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &countedConn{conn, n}, err
	}
	s, err := onStore(open(t.Context(), config, &Options{Schema: schema}))
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s, n
}

// batchOf returns a batch with new records, each with a body and a task.
func batchOf(t testing.TB, s *catalog, ids []string) *harvest.Batch {
	b := harvest.NewBatch("a")
	for _, id := range ids {
		w, err := s.NewBody(t.Context())
		require.NoError(t, err)
		_, err = w.Write([]byte("the body of " + id))
		require.NoError(t, err)
		key, _, err := w.Finish()
		require.NoError(t, err)
		b.Bodies = append(b.Bodies, w)
		resource := websync.Resource{ID: id}
		b.Puts = append(b.Puts, harvest.Change{Record: harvest.Record{Item: websync.Item{
			Resource: resource, Bodies: []websync.Body{{Name: "content", Key: key}},
		}}})
		b.Tasks = append(b.Tasks, harvest.Task{Source: "a", Resource: resource})
	}
	return b
}

// The calls of every size are a few round trips.
func TestRoundTrips(t *testing.T) {
	dsn := pgtest.Server(t)
	s, n := counted(t, dsn, pgtest.Schema(t, dsn))
	c, err := s.Claim(t.Context(), "source/a", time.Hour)
	require.NoError(t, err)
	atMost := func(most int, what string, do func() error) {
		t.Helper()
		n.n = 0
		require.NoError(t, do())
		for s.db.pool.Stat().AcquiredConns() > 0 { // a View ends after its call
			runtime.Gosched()
		}
		assert.LessOrEqual(t, n.n, most, what)
		assert.Positive(t, n.n, what)
	}
	ids := make([]string, 500)
	for i := range ids {
		ids[i] = fmt.Sprintf("https://www.example.com/%03d", i)
	}
	atMost(4, "a Commit of 500 new records", func() error {
		conflicts, err := s.Commit(t.Context(), c, batchOf(t, s, ids))
		assert.Empty(t, conflicts)
		return err
	})
	atMost(4, "a first Lookup", func() error {
		_, err = s.Lookup(t.Context(), "a", ids[:1])
		return err
	})
	atMost(3, "a Lookup of 256", func() error {
		records, err := s.Lookup(t.Context(), "a", ids[:256])
		assert.True(t, records[255].Known())
		return err
	})
	atMost(4, "256 tasks that are due", func() error {
		due, err := s.Due(t.Context(), "a", time.Now(), 256)
		assert.Len(t, due, 256)
		return err
	})
	atMost(4, "500 tasks that are due", func() error {
		due, err := s.Due(t.Context(), "a", time.Now(), len(ids))
		assert.Len(t, due, len(ids))
		return err
	})
	first := func(walk func(func(websync.Item, error) bool)) error {
		for _, err := range walk {
			return err
		}
		return nil
	}
	atMost(4, "a page of Resources", func() error { return first(s.Resources(t.Context(), websync.Range{})) })
	atMost(4, "a page of Changes", func() error { return first(s.Changes(t.Context(), websync.Range{})) })
	atMost(3, "a Swap", func() error { return s.Swap(t.Context(), "k", nil, []byte("v")) })
	atMost(2, "a State", func() error { _, err := s.State(t.Context(), "k"); return err })
	atMost(3, "a Renew", func() error { return s.Renew(t.Context(), c) })
}

// In tables that were never analysed all statements use the indexes, so that their time
// does not grow with the number of rows.
func TestPlans(t *testing.T) {
	dsn := pgtest.Server(t)
	s := reopen(t, dsn, pgtest.Schema(t, dsn))
	short, long := [][]byte{}, [][]byte{}
	for i := range 300 {
		short = append(short, fmt.Appendf(nil, "a%d", i))
		long = append(long, fmt.Appendf(nil, "a%03000d", i))
	}
	all := append(short, long...)
	// scans returns how often the transaction, and the connection before it, have read a
	// table from its beginning to its end.
	scans := func(tx *tx) (n uint64) {
		b := tx.batch()
		b.add("select sum(seq_scan)::bigint from pg_stat_xact_all_tables where schemaname = $1", func(row [][]byte) {
			n = binary.BigEndian.Uint64(row[0])
		}, s.db.schema)
		require.NoError(t, tx.send(b))
		return n
	}
	write := func(what string, change func(tx harvest.Tx, key []byte) error) {
		require.NoError(t, s.db.Update(t.Context(), func(kv harvest.Tx) error {
			tx := kv.(*tx)
			before := scans(tx)
			for _, k := range all {
				require.NoError(t, change(tx, k))
			}
			b := tx.batch()
			tx.addChanges(b)
			require.NoError(t, tx.send(b))
			assert.Equal(t, before, scans(tx), what)
			return nil
		}))
	}
	set := func(tx harvest.Tx, key []byte) error { return tx.Set(key, key) }
	write("Set", set)
	write("Set again", set)
	require.NoError(t, s.db.View(t.Context(), func(r harvest.Reader) error {
		tx := r.(*tx)
		before := scans(tx)
		require.NoError(t, tx.Prefetch(all))
		assert.Equal(t, before, scans(tx), "Prefetch")
		n := 0
		require.NoError(t, tx.Scan([]byte("a"), []byte("b"), 256, func(_, _ []byte) bool {
			n++
			return true
		}))
		assert.Equal(t, len(all), n, "keys")
		assert.Equal(t, before, scans(tx), "Scan")
		return nil
	}))
	write("Delete", func(tx harvest.Tx, key []byte) error { return tx.Delete(key) })
}
