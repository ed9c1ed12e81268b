package harvest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/pgstore"
	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/internal/testing/racing"
)

// A pgCatalog is a Catalog on a schema of a PostgreSQL database.
type pgCatalog struct {
	*harvest.Catalog
	store  *pgstore.Store
	schema string
}

// openPostgres opens the Store in a schema until the test ends.
func openPostgres(t testing.TB, dsn, schema string) *pgCatalog {
	store, err := pgstore.Open(t.Context(), dsn, &pgstore.Options{Schema: schema})
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	return &pgCatalog{harvest.NewCatalog(store), store, schema}
}

func TestCatalogOnPostgres(t *testing.T) {
	racing.Long(t)
	dsn := pgtest.Server(t)
	open := func(t testing.TB, now func() time.Time) checkedCatalog {
		s := openPostgres(t, dsn, pgtest.Schema(t, dsn))
		s.Now = now
		return s
	}
	runSuite(t, suiteOptions{
		Open:      func(t testing.TB) checkedCatalog { return open(t, nil) },
		OpenClock: open,
		Reopen: func(t testing.TB, s checkedCatalog) checkedCatalog {
			old := s.(*pgCatalog)
			require.NoError(t, old.store.Close())
			return openPostgres(t, dsn, old.schema)
		},
	})
}
