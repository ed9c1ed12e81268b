package pgstore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/storetest"
	"github.com/websync-go/websync/internal/pgtest"
)

func TestConformance(t *testing.T) {
	dsn := pgtest.Server(t)
	open := func(t testing.TB, now func() time.Time) harvest.Store {
		s := reopen(t, dsn, pgtest.Schema(t, dsn))
		s.Now = now
		return s
	}
	storetest.Run(t, storetest.Options{
		Open:      func(t testing.TB) harvest.Store { return open(t, nil) },
		OpenClock: open,
		Reopen: func(t testing.TB, s harvest.Store) harvest.Store {
			old := s.(*Store)
			require.NoError(t, old.Close())
			return reopen(t, dsn, old.db.schema)
		},
	})
}
