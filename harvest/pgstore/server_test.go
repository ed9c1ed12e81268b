package pgstore

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/pgtest"
)

func TestMain(m *testing.M) {
	if childMain() {
		os.Exit(0)
	}
	flag.Parse()
	if _, err := pgtest.Find(); err != nil && os.Getenv("CI") != "true" {
		flag.Set("test.skip", "^Example") // an example can't skip itself
	}
	os.Exit(m.Run())
}

// reopen opens the Store in a schema, until the test ends.
func reopen(t testing.TB, dsn, schema string) *catalog {
	t.Helper()
	s, err := onStore(Open(t.Context(), dsn, &Options{Schema: schema}))
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}
