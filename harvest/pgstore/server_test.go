package pgstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"flag"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if childMain() {
		os.Exit(0)
	}
	flag.Parse()
	if _, err := findServer(); err != nil && os.Getenv("CI") != "true" {
		flag.Set("test.skip", "^Example") // an example can't skip itself
	}
	os.Exit(m.Run())
}

// findServer returns the connection string of a database for tests: that of the
// environment, or the one that CI has.
var findServer = sync.OnceValues(func() (dsn string, err error) {
	dsn = cmp.Or(os.Getenv("WEBSYNC_POSTGRES"), "postgres://postgres@127.0.0.1:5432/test?sslmode=disable")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	return dsn, conn.Close(ctx)
})

func server(t testing.TB) (dsn string) {
	t.Helper()
	dsn, err := findServer()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("PostgreSQL must be there in CI: ", err)
		}
		t.Skip("no PostgreSQL at 127.0.0.1:5432, nor at $WEBSYNC_POSTGRES: its Store is not tested")
	}
	return dsn
}

// NewDatabase creates a database, for the example.
func NewDatabase() (connection string, drop func()) {
	dsn, err := findServer()
	must(err)
	u, err := url.Parse(dsn)
	must(err)
	name := "example_" + strings.ToLower(rand.Text())
	_, err = query(dsn, "create database "+name)
	must(err)
	u.Path = name
	return u.String(), func() {
		_, err := query(dsn, "drop database "+name+" with (force)")
		must(err)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// newSchema returns the name of a schema that is dropped when the test has ended.
func newSchema(t testing.TB, dsn string) string {
	name := "test_" + strings.ToLower(rand.Text())
	t.Cleanup(func() { ask(t, dsn, "drop schema if exists "+name+" cascade") })
	return name
}

// ask runs one statement and returns the first column of its rows as text.
func ask(t testing.TB, dsn, sql string) (answer []string) {
	t.Helper()
	answer, err := query(dsn, sql)
	require.NoError(t, err, sql)
	return answer
}

func query(dsn, sql string) (answer []string, err error) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	results, err := conn.PgConn().Exec(ctx, sql).ReadAll()
	for _, result := range results {
		for _, row := range result.Rows {
			answer = append(answer, string(row[0]))
		}
	}
	return answer, err
}

// reopen opens the Store in a schema, until the test ends.
func reopen(t testing.TB, dsn, schema string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dsn, &Options{Schema: schema})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}
