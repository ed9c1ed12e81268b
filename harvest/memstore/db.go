package memstore

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/websync-go/websync/harvest/kvstore"
)

// A DB is an ordered map in memory. Two Stores on one DB are like two processes on one
// database.
type DB struct {
	root   atomic.Pointer[node]
	update sync.Mutex
	edit   edit // of the last Update
}

// NewDB returns an empty DB.
func NewDB() *DB {
	db := new(DB)
	db.root.Store(new(node))
	return db
}

var _ kvstore.DB = (*DB)(nil)

// View implements [kvstore.DB]. It never blocks.
func (db *DB) View(_ context.Context, fn func(kvstore.Reader) error) error {
	return fn(tx{root: db.root.Load()})
}

// Update implements [kvstore.DB].
func (db *DB) Update(_ context.Context, fn func(kvstore.Tx) error) error {
	db.update.Lock()
	defer db.update.Unlock()
	db.edit++
	t := &tx{root: db.root.Load(), edit: db.edit}
	if err := fn(t); err != nil {
		return err
	}
	db.root.Store(t.root)
	return nil
}

// A tx holds one state of the map.
type tx struct {
	root *node
	edit edit
}

func (t tx) Get(key []byte) ([]byte, error) { return t.root.get(key), nil }

func (t tx) Scan(from, to []byte, fn func(key, value []byte) bool) error {
	t.root.scan(from, to, fn)
	return nil
}

func (t *tx) Set(key, value []byte) error {
	left, right := t.root.set(key, value, t.edit)
	if right != nil {
		left = &node{edit: t.edit, keys: [][]byte{left.first(), right.first()}, kids: []*node{left, right}}
	}
	t.root = left
	return nil
}

func (t *tx) Delete(key []byte) error {
	if t.root.get(key) == nil {
		return nil
	}
	t.root = t.root.delete(key, t.edit)
	for len(t.root.kids) == 1 {
		t.root = t.root.kids[0]
	}
	return nil
}
