package pgstore

import (
	"testing"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/storetest"
	"github.com/websync-go/websync/internal/testing/pgtest"
)

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
