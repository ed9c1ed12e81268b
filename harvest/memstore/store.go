package memstore

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/sorted"
)

// A Store is an ordered map in memory.
type Store struct {
	state  atomic.Pointer[sorted.Map] // after the last Update
	update sync.Mutex
}

// New returns an empty Store.
func New() *Store {
	s := new(Store)
	s.state.Store(sorted.New())
	return s
}

var _ harvest.Store = (*Store)(nil)

// View implements [harvest.Store]. It never blocks.
func (s *Store) View(_ context.Context, fn func(harvest.Reader) error) error {
	return fn(reader{s.state.Load()})
}

// Update implements [harvest.Store].
func (s *Store) Update(_ context.Context, fn func(harvest.Tx) error) error {
	s.update.Lock()
	defer s.update.Unlock()
	next := s.state.Load().Clone()
	if err := fn(tx{reader{next}}); err != nil {
		return err
	}
	s.state.Store(next)
	return nil
}

type reader struct{ keys *sorted.Map }

func (r reader) Get(key []byte) ([]byte, error) { return r.keys.Get(key), nil }

func (r reader) Scan(from, to []byte, _ int, fn func(key, value []byte) bool) error {
	r.keys.Scan(from, to, fn)
	return nil
}

type tx struct{ reader }

func (t tx) Set(key, value []byte) error {
	t.keys.Set(key, value)
	return nil
}

func (t tx) Delete(key []byte) error {
	t.keys.Delete(key)
	return nil
}
