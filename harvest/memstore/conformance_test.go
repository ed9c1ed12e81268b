package memstore_test

import (
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Options{
		Open: func(t testing.TB) harvest.Store { return memstore.New() },
		OpenClock: func(t testing.TB, now func() time.Time) harvest.Store {
			s := memstore.New()
			s.Now = now
			return s
		},
	})
}
