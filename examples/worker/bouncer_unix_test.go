//go:build unix

package main

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/websync-go/websync/internal/testing/pgtest"
)

// bouncerConfig lets a pool give each transaction another connection, and keeps few of
// them: what a client leaves in one, others find.
const bouncerConfig = `
[databases]
* = host=%s port=%d user=%s%s
[pgbouncer]
pool_mode = transaction
default_pool_size = 4
unix_socket_dir = %s
listen_port = 6432
auth_type = any
admin_users = admin
user = %s
`

// bouncer starts a PgBouncer in its transaction mode in front of the server of a database,
// until the test ends, and returns the connection string through it. The test is skipped
// if there is no PgBouncer, but fails in CI.
func bouncer(t *testing.T, dsn string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("PgBouncer must be there in CI: ", err)
		}
		t.Skip("no PgBouncer")
	}
	server, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	// PgBouncer does not run as root. Its directory belongs to the user that it becomes.
	user := ""
	dir, err := os.MkdirTemp("", "bouncer")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if os.Getuid() == 0 {
		user = "postgres"
		err = os.Chmod(dir, 0o777)
	}
	file := filepath.Join(dir, "bouncer.ini")
	password := ""
	if server.Password != "" {
		password = " password='" + strings.ReplaceAll(server.Password, "'", "''") + "'"
	}
	text := fmt.Sprintf(bouncerConfig, server.Host, server.Port, server.User, password, dir, user)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, file)
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})
	through := url.URL{Scheme: "postgres", User: url.User(server.User), Path: "/" + server.Database}
	through.RawQuery = url.Values{"host": {dir}, "port": {"6432"}}.Encode()
	for began := time.Now(); ; {
		if _, err = pgtest.Query(through.String(), "select 1"); err == nil {
			return through.String()
		}
		if time.Since(began) > time.Minute {
			t.Fatal(err)
		}
		select {
		case <-ended:
			t.Fatal("PgBouncer has ended: ", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestPgBouncer: workers share a database through a pool that gives each transaction
// another connection.
func TestPgBouncer(t *testing.T) {
	testTwoWorkers(t, 1, func(dsn string) string { return bouncer(t, dsn) })
}
