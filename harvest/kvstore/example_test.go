package kvstore_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/kvstore"
)

// A sortedMap is a driver: a map, locked as a whole, and copied for each Update.
type sortedMap struct {
	mu     sync.RWMutex
	values tx
}

func (m *sortedMap) View(_ context.Context, fn func(kvstore.Reader) error) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return fn(m.values)
}

func (m *sortedMap) Update(_ context.Context, fn func(kvstore.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := maps.Clone(m.values)
	err := fn(next)
	if err == nil {
		m.values = next
	}
	return err
}

type tx map[string][]byte

func (t tx) Get(key []byte) ([]byte, error) { return t[string(key)], nil }
func (t tx) Set(key, value []byte) error    { t[string(key)] = value; return nil }
func (t tx) Delete(key []byte) error        { delete(t, string(key)); return nil }

func (t tx) Scan(from, to []byte, fn func(key, value []byte) bool) error {
	for _, k := range slices.Sorted(maps.Keys(t)) {
		if k >= string(from) && (k >= string(to) || !fn([]byte(k), t[k])) {
			return nil
		}
	}
	return nil
}

// Any ordered key-value store becomes a Store: here a sorted map.
func Example() {
	h := &harvest.Harvester{Store: kvstore.New(&sortedMap{values: tx{}})}
	page := harvest.Event{Resource: websync.Resource{ID: "https://example.com/a"}, Open: harvest.OpenBytes([]byte("Hello."))}
	report, err := h.Run(context.Background(), harvest.Of("demo", page))
	fmt.Println("created", report.Created, err)
	// Output: created 1 <nil>
}
