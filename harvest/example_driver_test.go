package harvest_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A sortedMap is a driver: a map that is copied for each Update, and never changed once
// Views can see it.
type sortedMap struct {
	values   atomic.Pointer[tx]
	updating sync.Mutex
}

func newSortedMap() *sortedMap {
	m := new(sortedMap)
	m.values.Store(&tx{})
	return m
}

func (m *sortedMap) View(_ context.Context, fn func(harvest.Reader) error) error {
	return fn(*m.values.Load())
}

func (m *sortedMap) Update(_ context.Context, fn func(harvest.Tx) error) error {
	m.updating.Lock()
	defer m.updating.Unlock()
	next := maps.Clone(*m.values.Load())
	err := fn(next)
	if err == nil {
		m.values.Store(&next)
	}
	return err
}

type tx map[string][]byte

func (t tx) Get(key []byte) ([]byte, error) { return t[string(key)], nil }
func (t tx) Set(key, value []byte) error    { t[string(key)] = value; return nil }
func (t tx) Delete(key []byte) error        { delete(t, string(key)); return nil }

func (t tx) Scan(from, to []byte, _ int, fn func(key, value []byte) bool) error {
	for _, k := range slices.Sorted(maps.Keys(t)) {
		if k >= string(from) && (k >= string(to) || !fn([]byte(k), t[k])) {
			return nil
		}
	}
	return nil
}

// Any ordered key-value store becomes a Catalog: here a sorted map.
func ExampleNewCatalog() {
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(newSortedMap())}
	page := harvest.Event{Resource: websync.Resource{ID: "https://example.com/a"}, Open: harvest.OpenBytes([]byte("Hello."))}
	report, err := h.Run(context.Background(), harvest.Of("demo", page))
	fmt.Println("created", report.Created, err)
	// Output: created 1 <nil>
}
