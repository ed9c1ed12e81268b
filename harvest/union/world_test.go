package union_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

const (
	base = "https://example.org/"
	src  = "https://example.org/list"
)

func day(n int) websync.Datetime {
	return websync.NewDatetime(time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC))
}

func date(t *testing.T, s string) websync.Datetime {
	t.Helper()
	d, err := websync.ParseDatetime(s)
	require.NoError(t, err)
	return d
}

func put(name string, modified websync.Datetime) harvest.Event {
	url := base + name
	return harvest.Event{Resource: websync.Resource{ID: url, Modified: modified, Content: websync.Link{Href: url}}}
}

func del(name string, at websync.Datetime) harvest.Event {
	return harvest.Event{Kind: harvest.Delete, At: at, Resource: websync.Resource{ID: base + name}}
}

// world is the store of a union and a harvester that keeps it.
type world struct {
	*testing.T
	store harvest.Store
	h     harvest.Harvester
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, store: memstore.New()}
	w.h.Store = w.store
	return w
}

func (w *world) run(s harvest.Source) *harvest.Report {
	w.Helper()
	r, err := w.h.Run(w.Context(), s)
	require.NoError(w, err)
	return r
}

// live returns the live ids with their content.
func (w *world) live() map[string]string {
	w.Helper()
	all := map[string]string{}
	for item, err := range w.store.Resources(w.Context(), websync.Range{}) {
		require.NoError(w, err)
		text := "-"
		if b, ok := item.Body(harvest.ContentName); ok && !b.Key.IsZero() {
			text = read(w, w.store, b)
		}
		all[strings.TrimPrefix(item.Resource.ID, base)] = text
	}
	return all
}

// log returns the changes as "kind name", oldest first.
func (w *world) log() (all []string) {
	w.Helper()
	for _, item := range entries(w, w.store) {
		all = append(all, item.Kind.String()+" "+strings.TrimPrefix(item.Resource.ID, base))
	}
	return all
}

func (w *world) tasks() (tasks []harvest.Task) {
	w.Helper()
	for t, err := range w.store.Tasks(w.Context(), src, "") {
		require.NoError(w, err)
		tasks = append(tasks, t)
	}
	return tasks
}

func (w *world) record(name string) harvest.Record {
	w.Helper()
	recs, err := w.store.Lookup(w.Context(), src, []string{base + name})
	require.NoError(w, err)
	return recs[0]
}

func read(t require.TestingT, store harvest.Store, b websync.Body) string {
	r, err := store.Open(context.Background(), b)
	require.NoError(t, err)
	defer r.Close()
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(data)
}

func entries(t require.TestingT, store harvest.Store) (items []websync.Item) {
	for item, err := range store.Changes(context.Background(), websync.Range{}) {
		require.NoError(t, err)
		items = append(items, item)
	}
	return items
}

// makeDue lets the time pass that failed tasks wait.
func makeDue(t require.TestingT, store harvest.Store) {
	ctx := context.Background()
	claim, err := store.Claim(ctx, "test", time.Minute)
	require.NoError(t, err)
	b := harvest.NewBatch(src)
	for task, err := range store.Tasks(ctx, src, "") {
		require.NoError(t, err)
		task.Due = time.Time{}
		b.Tasks = append(b.Tasks, task)
	}
	_, err = store.Commit(ctx, claim, b)
	require.NoError(t, err)
	require.NoError(t, store.Release(ctx, claim))
}

// failing is a Store whose Commit fails from the n-th on, before or after it was applied.
type failing struct {
	harvest.Store
	mu    sync.Mutex
	left  int
	after bool
}

var errCut = errors.New("power cut")

func (f *failing) Commit(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left >= 0 {
		return f.Store.Commit(ctx, c, b)
	}
	if f.after && f.left == -1 {
		f.Store.Commit(ctx, c, b)
	}
	return nil, errors.Join(errCut, harvest.ErrFenced)
}

// panicking is a TestingT for where a test cannot stop itself.
type panicking struct{}

func (panicking) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (panicking) FailNow()                          { panic("failed") }
