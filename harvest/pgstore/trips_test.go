package pgstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/fill"
	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/internal/testing/testkit"
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

// take returns the number of round trips since the last take.
func (t *trips) take() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, t.n = t.n, 0
	return n
}

// A countedStore counts the round trips of each View and each Update. It makes one call
// at a time.
type countedStore struct {
	*Store
	trips          *trips
	mu             sync.Mutex
	views, updates tally
}

// A tally counts calls. Most is the round trips of the one that had most.
type tally struct{ calls, most int }

func (s *countedStore) View(ctx context.Context, fn func(harvest.Reader) error) error {
	return s.count(&s.views, func() error { return s.Store.View(ctx, fn) })
}

func (s *countedStore) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	return s.count(&s.updates, func() error { return s.Store.Update(ctx, fn) })
}

func (s *countedStore) count(in *tally, call func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trips.take()
	err := call()
	for s.pool.Stat().AcquiredConns() > 0 { // a View ends after its call
		runtime.Gosched()
	}
	in.calls++
	in.most = max(in.most, s.trips.take())
	return err
}

// tallies returns the tallies.
func (s *countedStore) tallies() (views, updates tally) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.views, s.updates
}

// atMost checks that do succeeds with Views and Updates of at most so many round trips
// each, and with none of those that have 0.
func (s *countedStore) atMost(t *testing.T, views, updates int, what string, do func() error) {
	t.Helper()
	s.mu.Lock()
	s.views, s.updates = tally{}, tally{}
	s.mu.Unlock()
	require.NoError(t, do(), what)
	v, u := s.tallies()
	assert.LessOrEqual(t, v.most, views, "%s: Views", what)
	assert.LessOrEqual(t, u.most, updates, "%s: Updates", what)
	assert.Equal(t, views > 0, v.calls > 0, "%s: Views", what)
	assert.Equal(t, updates > 0, u.calls > 0, "%s: Updates", what)
}

// counted opens a Store whose round trips are counted.
func counted(t testing.TB, dsn, schema string) *countedStore {
	config, err := pgxpool.ParseConfig(dsn)
	require.NoError(t, err)
	n := &trips{received: map[net.Conn]bool{}}
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &countedConn{conn, n}, err
	}
	s, err := open(t.Context(), config, &Options{Schema: schema})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return &countedStore{Store: s, trips: n}
}

// pages are the resources of a complete snapshot, all of one day.
type pages struct {
	n, day int
	text   string // of the bytes that come with each; they are fetched if it is empty
}

func (p pages) source() harvest.Source {
	events := []harvest.Event{{Kind: harvest.SnapshotStart}}
	for i := range p.n {
		id := fmt.Sprintf("https://www.example.com/%03d", i)
		e := harvest.Event{Resource: websync.Resource{ID: id, Modified: testkit.Day(p.day)}}
		if p.text == "" {
			e.Resource.Content.Href = id
		} else {
			e.Open = harvest.OpenBytes([]byte(p.text + " of " + id))
		}
		events = append(events, e)
	}
	return harvest.Of("a", append(events, harvest.Event{Kind: harvest.SnapshotEnd, Complete: true})...)
}

// An echo is a Fetcher that answers with the URL.
type echo struct{}

func (echo) Fetch(_ context.Context, req *harvest.Request) (*harvest.Response, error) {
	return &harvest.Response{URL: req.URL, Status: 200, Length: -1, Body: io.NopCloser(strings.NewReader(req.URL))}, nil
}

// outcomes are the counts of a Report.
type outcomes struct{ created, updated, touched, unchanged, deleted, deferred int64 }

func (o outcomes) check(r *harvest.Report, err error) error {
	got := outcomes{r.Created, r.Updated, r.Touched, r.Unchanged, r.Deleted, r.Deferred}
	if err == nil && got != o {
		err = fmt.Errorf("got %+v, want %+v", got, o)
	}
	return err
}

// The calls of a run are a few round trips each, however many resources there are.
func TestRoundTripsOfRuns(t *testing.T) {
	dsn := pgtest.Server(t)
	db := counted(t, dsn, pgtest.Schema(t, dsn))
	catalog := harvest.NewCatalog(db)
	h := &harvest.Harvester{Catalog: catalog, Fetcher: echo{}, Concurrency: 1, Sample: -1, MaxDelete: -1}
	run := func(views, updates int, p pages, want outcomes) {
		t.Helper()
		db.atMost(t, views, updates, fmt.Sprintf("%+v", want), func() error { return want.check(h.Run(t.Context(), p.source())) })
	}
	run(3, 4, pages{500, 1, "text"}, outcomes{created: 500})
	run(3, 2, pages{500, 1, "text"}, outcomes{unchanged: 500})
	run(3, 5, pages{500, 2, "new text"}, outcomes{updated: 500})
	run(3, 5, pages{500, 3, "new text"}, outcomes{touched: 500})
	run(4, 5, pages{10, 3, "new text"}, outcomes{unchanged: 10, deleted: 490})

	later := pages{n: 500, day: 4}.source()
	db.atMost(t, 4, 3, "List", func() error { return outcomes{deferred: 500}.check(h.List(t.Context(), later)) })
	db.atMost(t, 4, 0, "Plan", func() error {
		return outcomes{created: 490, updated: 10}.check(h.Plan(t.Context(), pages{500, 5, "text"}.source(), nil))
	})
	h.Concurrency = 128 // all tasks are taken at once
	db.atMost(t, 4, 5, "Work", func() error { return outcomes{created: 490, updated: 10}.check(h.Work(t.Context(), later)) })
	h.Concurrency = 1

	compact := func() { // in pages, as many in an Update as there is time for
		t.Helper()
		_, err := catalog.Compact(t.Context())
		require.NoError(t, err)
	}
	compact()
	run(4, 6, pages{500, 6, "text"}, outcomes{updated: 500})
	compact()
	run(4, 6, pages{500, 7, "text"}, outcomes{touched: 500})
	compact()
	run(4, 6, pages{10, 7, "text"}, outcomes{unchanged: 10, deleted: 490})

	long := strings.Repeat("long ", 100_000)
	db.atMost(t, 3, 4, "a long body", func() error {
		src := harvest.Of("b", harvest.Event{Resource: websync.Resource{ID: "1"}, Open: harvest.OpenBytes([]byte(long))})
		return outcomes{created: 1}.check(h.Run(t.Context(), src))
	})
	db.atMost(t, 2, 0, "reading a long body", func() error {
		assert.Equal(t, long, testkit.Read(t, catalog, websync.Body{Key: websync.SHA256([]byte(long))}))
		return nil
	})
}

// The calls of every size are a few round trips.
func TestRoundTrips(t *testing.T) {
	dsn := pgtest.Server(t)
	db := counted(t, dsn, pgtest.Schema(t, dsn))
	s := harvest.NewCatalog(db)
	var content []any
	ids := make([]string, 500)
	for i := range ids {
		ids[i] = fmt.Sprintf("https://www.example.com/%03d", i)
		resource := websync.Resource{ID: ids[i]}
		bodies := []websync.Body{{Name: "content", Key: websync.SHA256([]byte(ids[i]))}}
		content = append(content, ids[i], websync.Item{Resource: resource, Bodies: bodies}, harvest.Task{Source: "a", Resource: resource})
	}
	db.atMost(t, 2, 4, "a commit of 500 new records, bodies and tasks", func() error { return fill.Commit(t.Context(), s, "a", content...) })
	db.atMost(t, 4, 0, "a first Get", func() error {
		_, err := s.Get(t.Context(), "a", ids[:1])
		return err
	})
	db.atMost(t, 3, 0, "a Get of 256", func() error {
		items, err := s.Get(t.Context(), "a", ids[:256])
		assert.Equal(t, ids[255], items[255].Resource.ID)
		return err
	})
	db.atMost(t, 4, 0, "a page of Resources", func() error { return first(s.Resources(t.Context(), websync.Range{})) })
	db.atMost(t, 4, 0, "a page of Changes", func() error { return first(s.Changes(t.Context(), websync.Range{})) })
	db.atMost(t, 4, 0, "a page of Records", func() error { return first(s.Records(t.Context(), "a", "")) })
	db.atMost(t, 3, 0, "a page of Tasks", func() error { return first(s.Tasks(t.Context(), "a", "")) })
	db.atMost(t, 3, 0, "a Head", func() error { _, err := s.Head(t.Context()); return err })
	db.atMost(t, 0, 2, "a Swap", func() error { return s.Swap(t.Context(), "k", nil, []byte("v")) })
	db.atMost(t, 2, 0, "a State", func() error { _, err := s.State(t.Context(), "k"); return err })
	db.atMost(t, 0, 2, "a Hold that is renewed", func() error {
		_, release, err := s.Hold(t.Context(), "b", 4*time.Second)
		require.NoError(t, err)
		renewed := func() bool { _, updates := db.tallies(); return updates.calls > 1 }
		require.Eventually(t, renewed, time.Minute, 10*time.Millisecond)
		release()
		return nil
	})
	db.atMost(t, 3, 5, "a commit of 500 changes", func() error { return fill.Commit(t.Context(), s, "a", content...) })
}

// first reads the first of walk.
func first[V any](walk iter.Seq2[V, error]) error {
	for _, err := range walk {
		return err
	}
	return errors.New("there is none")
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
