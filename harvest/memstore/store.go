package memstore

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/websync-go/websync/harvest"
)

// A Store is an ordered map in memory.
type Store struct {
	root   atomic.Pointer[node]
	update sync.Mutex
	edit   edit // of the last Update
}

// New returns an empty Store.
func New() *Store {
	s := new(Store)
	s.root.Store(new(node))
	return s
}

var _ harvest.Store = (*Store)(nil)

// View implements [harvest.Store]. It never blocks.
func (s *Store) View(_ context.Context, fn func(harvest.Reader) error) error {
	return fn(tx{root: s.root.Load()})
}

// Update implements [harvest.Store].
func (s *Store) Update(_ context.Context, fn func(harvest.Tx) error) error {
	s.update.Lock()
	defer s.update.Unlock()
	s.edit++
	t := &tx{root: s.root.Load(), edit: s.edit}
	if err := fn(t); err != nil {
		return err
	}
	s.root.Store(t.root)
	return nil
}

// A tx holds one state of the map.
type tx struct {
	root *node
	edit edit
}

func (t tx) Get(key []byte) ([]byte, error) { return t.root.get(key), nil }

func (t tx) Scan(from, to []byte, _ int, fn func(key, value []byte) bool) error {
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
