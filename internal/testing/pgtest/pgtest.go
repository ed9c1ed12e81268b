// Package pgtest finds the PostgreSQL server that tests use: that of the environment
// variable WEBSYNC_POSTGRES, which is a URL, or the one at 127.0.0.1:5432, with a
// database "test" for its user postgres.
package pgtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Find returns the connection string of a database, a URL.
var Find = sync.OnceValues(func() (dsn string, err error) {
	dsn = cmp.Or(os.Getenv("WEBSYNC_POSTGRES"), "postgres://postgres@127.0.0.1:5432/test?sslmode=disable")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	return dsn, conn.Close(ctx)
})

// Server returns the connection string of a database. The test is skipped if there is no
// server, but fails in CI.
func Server(t testing.TB) (dsn string) {
	t.Helper()
	dsn, err := Find()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("PostgreSQL must be there in CI: ", err)
		}
		t.Skip("no PostgreSQL at 127.0.0.1:5432, nor at $WEBSYNC_POSTGRES")
	}
	return dsn
}

// Schema returns the name of a schema that does not exist. It is dropped when the test
// has ended.
func Schema(t testing.TB, dsn string) string {
	name := "test_" + strings.ToLower(rand.Text())
	t.Cleanup(func() { Ask(t, dsn, "drop schema if exists "+name+" cascade") })
	return name
}

// Reader returns the connection string of a new role that may only read a schema, which
// exists. The role is dropped when the test has ended.
func Reader(t testing.TB, dsn, schema string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	role, password := "test_"+strings.ToLower(rand.Text()), rand.Text()
	Ask(t, dsn, "create role "+role+" login password '"+password+"'")
	t.Cleanup(func() { Ask(t, dsn, "drop owned by "+role+"; drop role "+role) })
	Ask(t, dsn, "grant usage on schema "+schema+" to "+role)
	Ask(t, dsn, "grant select on all tables in schema "+schema+" to "+role)
	u.User = url.UserPassword(role, password)
	return u.String()
}

// NewDatabase creates a database on the server of Find. It is dropped with drop.
func NewDatabase() (dsn string, drop func() error, err error) {
	server, err := Find()
	if err != nil {
		return "", nil, err
	}
	u, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	u.Path = "test_" + strings.ToLower(rand.Text())
	if _, err := Query(server, "create database "+u.Path); err != nil {
		return "", nil, err
	}
	return u.String(), func() error {
		_, err := Query(server, "drop database "+u.Path+" with (force)")
		return err
	}, nil
}

// Ask runs one statement and returns the first column of its rows as text.
func Ask(t testing.TB, dsn, sql string) (answer []string) {
	t.Helper()
	answer, err := Query(dsn, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return answer
}

// Query is Ask outside tests.
func Query(dsn, sql string) (answer []string, err error) {
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
