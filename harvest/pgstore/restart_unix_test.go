//go:build unix

package pgstore

import (
	"context"
	"fmt"
	"iter"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/pgtest"
)

// An ownServer is a server in a directory of its own.
type ownServer struct {
	t       *testing.T
	bin     string
	dir     string
	port    int
	as      *syscall.Credential // the server refuses to run as root
	running *exec.Cmd
}

func newServer(t *testing.T) *ownServer {
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		bins = append(bins, path)
	}
	if len(bins) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("initdb must be there in CI")
		}
		t.Skip("no initdb: no server is restarted under a Store")
	}
	s := &ownServer{t: t, bin: filepath.Dir(bins[len(bins)-1])}
	var err error
	s.dir, err = os.MkdirTemp("", "pgstore")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(s.dir) })
	if os.Getuid() == 0 {
		postgres, err := user.Lookup("postgres")
		require.NoError(t, err)
		uid, _ := strconv.Atoi(postgres.Uid)
		gid, _ := strconv.Atoi(postgres.Gid)
		s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		require.NoError(t, os.Chown(s.dir, uid, gid))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.port = l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	out, err := s.command("initdb", "-A", "trust", "-U", "postgres", "-N", "-D", s.dir+"/data").CombinedOutput()
	require.NoError(t, err, string(out))
	t.Cleanup(func() { s.stop(syscall.SIGQUIT) })
	return s
}

func (s *ownServer) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	return cmd
}

// start returns when the server answers.
func (s *ownServer) start() {
	s.running = s.command("postgres", "-D", s.dir+"/data", "-p", strconv.Itoa(s.port), "-k", s.dir, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off")
	require.NoError(s.t, s.running.Start())
	answers := func() bool { _, err := pgtest.Query(s.dsn(), "select 1"); return err == nil }
	require.Eventually(s.t, answers, time.Minute, 10*time.Millisecond)
}

func (s *ownServer) stop(how syscall.Signal) {
	if s.running != nil {
		s.running.Process.Signal(how)
		s.running.Wait()
	}
	s.running = nil
}

func (s *ownServer) dsn() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

// A harvest goes on although its server crashes, or is restarted.
func TestRestart(t *testing.T) {
	server := newServer(t)
	server.start()
	s := reopen(t, server.dsn(), "restarted")
	l := listing{"a", 10_000}
	done, gate := make(chan error, 1), make(chan struct{}, 1)
	go func() {
		h := &harvest.Harvester{Sample: -1, Catalog: s.Catalog, Bodies: harvest.SkipBodies}
		_, err := h.Run(t.Context(), gated{l, gate})
		done <- err
	}()
	for _, how := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGINT, syscall.SIGQUIT} { // immediate, fast
		const updates = "select coalesce(max(updates), 0) from restarted.session"
		began := pgtest.Ask(t, server.dsn(), updates)
		gate <- struct{}{}
		goesOn := func() bool {
			now, err := pgtest.Query(server.dsn(), updates)
			return err == nil && now[0] != began[0] || len(done) > 0
		}
		require.Eventually(t, goesOn, time.Minute, time.Millisecond)
		server.stop(how)
		server.start()
	}
	close(gate)
	require.NoError(t, <-done)
	checkListing(t, s, l)
}

// A gated listing waits at the gate before each quarter of its entries.
type gated struct {
	listing
	gate <-chan struct{}
}

func (g gated) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		i := 0
		for ev, err := range g.listing.Events(ctx, run) {
			if i%(g.n/4) == 1 {
				<-g.gate
			}
			if !yield(ev, err) {
				return
			}
			i++
		}
	}
}
