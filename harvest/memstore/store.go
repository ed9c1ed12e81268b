package memstore

import "github.com/websync-go/websync/harvest/kvstore"

// New returns an empty Store. Its fields may be set before first use.
func New() *kvstore.Store { return kvstore.New(NewDB()) }
