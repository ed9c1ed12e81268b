package harvest_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// A watchedDB calls what Watch was given after each Update that changes the log.
type watchedDB struct {
	*memstore.Store
	mu      sync.Mutex
	watches []func()
}

func (d *watchedDB) Watch(changed func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watches = append(d.watches, changed)
}

func (d *watchedDB) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	var tx *notifyingTx
	err := d.Store.Update(ctx, func(inner harvest.Tx) error {
		tx = &notifyingTx{Tx: inner}
		return fn(tx)
	})
	if err != nil || !tx.notified {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, changed := range d.watches {
		changed()
	}
	return nil
}

type notifyingTx struct {
	harvest.Tx
	notified bool
}

func (t *notifyingTx) Set(key, value []byte) error {
	t.notified = t.notified || key[0] == harvest.LogKey
	return t.Tx.Set(key, value)
}

// A Store on a Store that watches the log notices what another Store on it appends, and
// nothing else.
func TestWatch(t *testing.T) {
	db := &watchedDB{Store: memstore.New()}
	waiting, other := harvest.NewCatalog(db), harvest.NewCatalog(db)
	notices := func(want bool, what string, do func()) {
		t.Helper()
		changed := waiting.LogChanged()
		do()
		select {
		case <-changed:
			assert.True(t, want, what)
		default:
			assert.False(t, want, what)
		}
	}
	c := claim(t, other)
	notices(false, "a State", func() { require.NoError(t, other.Swap(ctx, "k", nil, []byte("v"))) })
	notices(false, "a task", func() {
		b := harvest.NewBatch("a")
		b.Tasks = []harvest.Task{{Source: "a", Resource: websync.Resource{ID: "1"}, Due: time.Now()}}
		commit(t, other, c, b)
	})
	notices(true, "an entry of the log", func() {
		b := harvest.NewBatch("a")
		b.Puts = []harvest.Change{changeTo("1", 0, websync.Created)}
		commit(t, other, c, b)
	})
	notices(true, "a new generation", func() {
		_, err := other.Compact(ctx)
		require.NoError(t, err)
	})
	assert.Len(t, db.watches, 1, "of the Store that waits, once")
}
