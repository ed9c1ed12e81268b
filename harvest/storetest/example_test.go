package storetest_test

import (
	"testing"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/storetest"
)

// All that the author of a driver writes.
func Example() {
	_ = func(t *testing.T) { // func TestStore(t *testing.T)
		storetest.Run(t, storetest.Options{
			Open: func(t testing.TB) harvest.Store { return memstore.New() },
		})
	}
}
