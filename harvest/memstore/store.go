package memstore

import "github.com/websync-go/websync/harvest/kvstore"

// A Store is a kvstore.Store in memory. Its field Now, if set before first use, is the
// clock.
type Store struct {
	*kvstore.Store
}

// New returns an empty Store.
func New() *Store { return &Store{kvstore.New(NewDB())} }
