package memstore_test

import (
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/storetest"
	"github.com/websync-go/websync/internal/catalogsuite"
)

func TestCatalog(t *testing.T) {
	catalogsuite.Run(t, catalogsuite.Options{
		Open: func(t testing.TB) catalogsuite.Store { return harvest.NewCatalog(memstore.New()) },
		OpenClock: func(t testing.TB, now func() time.Time) catalogsuite.Store {
			c := harvest.NewCatalog(memstore.New())
			c.Now = now
			return c
		},
	})
}

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Options{Open: func(testing.TB) harvest.Store { return memstore.New() }})
}
