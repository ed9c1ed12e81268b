package pgstore

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/storetest"
	"github.com/websync-go/websync/internal/catalogsuite"
	"github.com/websync-go/websync/internal/pgtest"
)

func TestCatalog(t *testing.T) {
	dsn := pgtest.Server(t)
	open := func(t testing.TB, now func() time.Time) catalogsuite.Store {
		s := reopen(t, dsn, pgtest.Schema(t, dsn))
		s.Now = now
		return s
	}
	catalogsuite.Run(t, catalogsuite.Options{
		Open:      func(t testing.TB) catalogsuite.Store { return open(t, nil) },
		OpenClock: open,
		Reopen: func(t testing.TB, s catalogsuite.Store) catalogsuite.Store {
			old := s.(*catalog)
			require.NoError(t, old.Close())
			return reopen(t, dsn, old.db.schema)
		},
	})
}

func TestStore(t *testing.T) {
	dsn := pgtest.Server(t)
	storetest.Run(t, storetest.Options{
		Open: func(t testing.TB) harvest.Store { return reopen(t, dsn, pgtest.Schema(t, dsn)).db },
		Reopen: func(t testing.TB, old harvest.Store) harvest.Store {
			old.(*Store).Close()
			return reopen(t, dsn, old.(*Store).schema).db
		},
		Beside: func(t testing.TB, other harvest.Store) harvest.Store { return reopen(t, dsn, other.(*Store).schema).db },
	})
}

// A catalog is closed with its Store.
type catalog struct {
	*harvest.Catalog
	db *Store
}

func onStore(s *Store, err error) (*catalog, error) {
	if err != nil {
		return nil, err
	}
	return &catalog{harvest.NewCatalog(s), s}, nil
}

func (c *catalog) Close() error { return c.db.Close() }
