//go:build unix

package main

import (
	"testing"

	"github.com/websync-go/websync/internal/testing/pgtest"
)

// TestPgBouncer: workers share a database through a pool that gives each transaction
// another connection.
func TestPgBouncer(t *testing.T) {
	testTwoWorkers(t, 1, func(dsn string) string { return pgtest.Bouncer(t, dsn) })
}
