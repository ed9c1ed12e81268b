package harvest_test

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

// counter counts the requests of several workers by URL.
type counter struct {
	mu sync.Mutex
	n  map[string]int
}

// workerFetcher is the Fetcher of one worker.
type workerFetcher struct {
	*counter
	site  *site
	first func() // called for the first request
	each  func() // called for every request
	once  sync.Once
	total atomic.Int64
}

func (f *workerFetcher) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	f.mu.Lock()
	f.n[req.URL]++
	f.mu.Unlock()
	f.total.Add(1)
	if f.first != nil {
		f.once.Do(f.first)
	}
	if f.each != nil {
		f.each()
	}
	return f.site.Fetch(ctx, req)
}

// tasked lists n pages in a store, for workers to get.
func tasked(t *testing.T, store *harvest.Catalog, n int) *world {
	w := &world{T: t, site: newSite(), store: store}
	w.h.Catalog, w.h.Fetcher = store, w.site
	w.list(snapshot(w.numbered(n)...))
	require.Len(t, w.tasks(), n)
	return w
}

// openWorkFile returns a function that opens the same file each time, as another process
// would.
func openWorkFile(t *testing.T) func() (*harvest.Catalog, io.Closer) {
	name := filepath.Join(t.TempDir(), "store.db")
	return func() (*harvest.Catalog, io.Closer) {
		db, err := sqlitestore.Open(t.Context(), name, nil)
		require.NoError(t, err)
		t.Cleanup(func() { db.Close() })
		return harvest.NewCatalog(db), db
	}
}

// A barrier holds workers until all have come, or one has ended.
type barrier struct {
	missing atomic.Int64
	once    sync.Once
	opened  chan struct{}
}

func newBarrier(n int64) *barrier {
	b := &barrier{opened: make(chan struct{})}
	b.missing.Store(n)
	return b
}

func (b *barrier) open() { b.once.Do(func() { close(b.opened) }) }

func (b *barrier) wait() {
	if b.missing.Add(-1) == 0 {
		b.open()
	}
	<-b.opened
}

// TestWorkersShare has several workers carry out the tasks of one source. No request is
// answered before each worker has made one.
func TestWorkersShare(t *testing.T) {
	const workers, n = 4, 200
	shared := harvest.NewCatalog(memstore.New())
	sqlite := openWorkFile(t)
	for name, open := range map[string]func() *harvest.Catalog{
		"memstore":    func() *harvest.Catalog { return shared },
		"sqlitestore": func() *harvest.Catalog { c, _ := sqlite(); return c },
	} {
		t.Run(name, func(t *testing.T) {
			w := tasked(t, open(), n)
			count := &counter{n: map[string]int{}}
			started := newBarrier(workers)
			var ended sync.WaitGroup
			reports := make([]*harvest.Report, workers)
			for i := range workers {
				f := &workerFetcher{counter: count, site: w.site, first: started.wait}
				h := harvest.Harvester{Sample: -1, Catalog: open(), Fetcher: f, Concurrency: 2}
				ended.Go(func() {
					defer started.open() // a worker that fails must not block the others
					var err error
					// One of them is a Run, which carries out tasks although it lists
					// nothing.
					if i == 0 {
						reports[i], err = h.Run(t.Context(), harvest.Of(src))
					} else {
						reports[i], err = h.Work(t.Context(), harvest.Of(src))
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			ended.Wait()
			var created int64
			for _, r := range reports {
				require.NotZero(t, r.Created)
				created += r.Created
			}
			require.EqualValues(t, n, created)
			require.Len(t, count.n, n)
			for url, times := range count.n {
				require.Equal(t, 1, times, url)
			}
			require.Len(t, w.live(), n)
			require.Empty(t, w.tasks())
			value, err := w.store.State(t.Context(), "harvest/work/"+src)
			require.NoError(t, err)
			require.Empty(t, value, "no worker holds a task")
		})
	}
}

// mortal is the Store of a process that may be killed.
type mortal struct {
	harvest.Store
	dead atomic.Bool
}

var errDead = errors.New("the process is dead")

func (m *mortal) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Update(ctx, fn)
}

// die has a worker claim tasks, make 5 or 6 requests, and be killed. It takes 8 tasks,
// and before its end it may take more, up to twice as many that no request was made for.
// With the 4 that were answered, these are at most mostHeld.
func (w *world) die(store *harvest.Catalog, count *counter) {
	ctx, cancel := context.WithCancel(w.Context())
	m := &mortal{Store: harvest.StoreOf(store)}
	catalog := harvest.NewCatalog(m)
	if o, ok := m.Store.(harvest.Owners); ok {
		catalog = harvest.NewCatalog(struct {
			*mortal
			harvest.Owners
		}{m, o})
	}
	f := &workerFetcher{counter: count, site: w.site}
	f.each = func() {
		if f.total.Load() >= 5 {
			m.dead.Store(true)
			cancel()
		}
	}
	h := harvest.Harvester{Sample: -1, Catalog: catalog, Fetcher: f, Concurrency: 2}
	_, err := h.Work(ctx, harvest.Of(src))
	require.Error(w, err)
}

const mostHeld = 4 + 16

// TestDeadWorker takes over the tasks of a killed worker when its claim ends.
func TestDeadWorker(t *testing.T) {
	const n = 50
	setUp := func(t *testing.T) (*world, *counter) {
		w := tasked(t, harvest.NewCatalog(memstore.New()), n)
		count := &counter{n: map[string]int{}}
		w.die(w.store, count)
		return w, count
	}
	check := func(t *testing.T, w *world, count *counter) {
		require.Len(t, w.live(), n)
		require.Empty(t, w.tasks())
		twice := 0
		for _, times := range count.n {
			require.LessOrEqual(t, times, 2)
			twice += times - 1
		}
		require.LessOrEqual(t, twice, 6, "only the requests of the dead worker")
		value, err := w.store.State(t.Context(), "harvest/work/"+src)
		require.NoError(t, err)
		require.Empty(t, value)
	}
	t.Run("a run that waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, count := setUp(t)
			h := harvest.Harvester{Sample: -1, Catalog: w.store, Fetcher: &workerFetcher{counter: count, site: w.site}, Wait: true}
			r, err := h.Work(t.Context(), harvest.Of(src))
			require.NoError(t, err)
			require.True(t, r.InStep())
			check(t, w, count)
		})
	})
	t.Run("a later run", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, count := setUp(t)
			h := harvest.Harvester{Sample: -1, Catalog: w.store, Fetcher: &workerFetcher{counter: count, site: w.site}}
			r, err := h.Work(t.Context(), harvest.Of(src))
			require.NoError(t, err)
			require.NotZero(t, r.Created)
			require.NotZero(t, r.Left.Waiting, "the claim is still valid")
			require.LessOrEqual(t, r.Left.Waiting, int64(mostHeld))
			for url, times := range count.n {
				require.Equal(t, 1, times, url)
			}
			time.Sleep(time.Minute + time.Second)
			_, err = h.Run(t.Context(), harvest.Of(src))
			require.NoError(t, err)
			check(t, w, count)
		})
	})
	t.Run("one that goes on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w, count := setUp(t)
			f := &workerFetcher{counter: count, site: w.site, each: func() { time.Sleep(10 * time.Second) }}
			h := harvest.Harvester{Sample: -1, Catalog: w.store, Fetcher: f, Concurrency: 2}
			_, err := h.Work(t.Context(), harvest.Of(src))
			require.NoError(t, err)
			check(t, w, count)
		})
	})
	t.Run("sqlitestore", func(t *testing.T) {
		open := openWorkFile(t)
		first, _ := open()
		w := tasked(t, first, n)
		count := &counter{n: map[string]int{}}
		store, db := open()
		w.die(store, count)
		require.NoError(t, db.Close())
		h := harvest.Harvester{Sample: -1, Catalog: w.store, Fetcher: &workerFetcher{counter: count, site: w.site}}
		_, err := h.Work(t.Context(), harvest.Of(src))
		require.NoError(t, err)
		check(t, w, count)
	})
}

// TestWorkStateLost works without the state that lists the tasks of other workers: a task
// that is carried out twice is a conflict, and does no harm.
func TestWorkStateLost(t *testing.T) {
	w := tasked(t, harvest.NewCatalog(memstore.New()), 40)
	other := harvest.Harvester{Sample: -1, Catalog: w.store, Fetcher: w.site}
	var once sync.Once
	f := &workerFetcher{counter: &counter{n: map[string]int{}}, site: w.site, each: func() {
		once.Do(func() {
			key := "harvest/work/" + src
			held, err := w.store.State(t.Context(), key)
			require.NoError(t, err)
			require.NotEmpty(t, held)
			require.NoError(t, w.store.Swap(t.Context(), key, held, []byte("nonsense")))
			_, err = other.Work(t.Context(), harvest.Of(src))
			require.NoError(t, err)
		})
	}}
	h := harvest.Harvester{Sample: -1, Catalog: w.store, Fetcher: f, Concurrency: 1}
	r, err := h.Work(t.Context(), harvest.Of(src))
	require.NoError(t, err)
	require.NotZero(t, r.History)
	require.Len(t, w.live(), 40)
	require.Len(t, w.log(), 40)
	require.Empty(t, w.tasks())
}
