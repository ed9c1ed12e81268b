package kvstore_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/kvstore"
)

// A sortedMap is about the least that can be a kvstore.DB: a map, locked as a whole, and
// copied for each Update.
type sortedMap struct {
	mu     sync.RWMutex
	values map[string][]byte
}

func (m *sortedMap) View(_ context.Context, fn func(kvstore.Reader) error) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return fn(sortedTx(m.values))
}

func (m *sortedMap) Update(_ context.Context, fn func(kvstore.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := maps.Clone(m.values)
	if next == nil {
		next = map[string][]byte{}
	}
	if err := fn(sortedTx(next)); err != nil {
		return err
	}
	m.values = next
	return nil
}

type sortedTx map[string][]byte

func (tx sortedTx) Get(key []byte) ([]byte, error) { return tx[string(key)], nil }

func (tx sortedTx) Scan(from, to []byte, fn func(key, value []byte) bool) error {
	for _, k := range slices.Sorted(maps.Keys(tx)) {
		if k >= string(from) && (k >= string(to) || !fn([]byte(k), tx[k])) {
			return nil
		}
	}
	return nil
}

func (tx sortedTx) Set(key, value []byte) error {
	tx[string(key)] = value
	return nil
}

func (tx sortedTx) Delete(key []byte) error {
	delete(tx, string(key))
	return nil
}

// Any ordered key-value store becomes a Store: here a sorted map of forty lines.
func Example() {
	ctx := context.Background()
	store := kvstore.New(&sortedMap{})

	claim, err := store.Claim(ctx, "source/demo", time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	batch := harvest.NewBatch("demo")
	for _, id := range []string{"https://example.com/b", "https://example.com/a"} {
		item := websync.Item{Kind: websync.Created, Resource: websync.Resource{ID: id}}
		batch.Puts = append(batch.Puts, harvest.Change{Record: harvest.Record{Item: item}})
	}
	if _, err := store.Commit(ctx, claim, batch); err != nil {
		fmt.Println(err)
		return
	}

	for item, err := range store.Changes(ctx, websync.Range{}) {
		fmt.Println(item.Seq, item.Kind, item.Resource.ID, err)
	}
	// Output:
	// 1 created https://example.com/b <nil>
	// 2 created https://example.com/a <nil>
}
