package memstore_test

import (
	"testing"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Options{Open: func(testing.TB) harvest.Store { return memstore.New() }})
}
