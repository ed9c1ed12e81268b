package kvstore_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/kvstore"
	"github.com/websync-go/websync/harvest/memstore"
)

// A watchedDB calls what WatchLog was given after each Update that changes the log.
type watchedDB struct {
	*memstore.DB
	mu      sync.Mutex
	watches []func()
}

func (d *watchedDB) WatchLog(changed func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watches = append(d.watches, changed)
}

func (d *watchedDB) Update(ctx context.Context, fn func(kvstore.Tx) error) error {
	var tx *notifyingTx
	err := d.DB.Update(ctx, func(inner kvstore.Tx) error {
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
	kvstore.Tx
	notified bool
}

func (t *notifyingTx) NotifyLog() { t.notified = true }

// A Store on a DB that watches the log notices what another Store on it appends, and
// nothing else.
func TestWatchLog(t *testing.T) {
	db := &watchedDB{DB: memstore.NewDB()}
	waiting, other := kvstore.New(db), kvstore.New(db)
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
		b.Puts = []harvest.Change{put("1", 0, websync.Created)}
		commit(t, other, c, b)
	})
	notices(true, "a new generation", func() {
		_, err := other.Compact(ctx)
		require.NoError(t, err)
	})
	assert.Len(t, db.watches, 1, "of the Store that waits, once")
}
