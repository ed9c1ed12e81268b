package chaos

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/internal/testing/racing"
)

// namespaceEnv is set where the test binary may mount what it likes.
const namespaceEnv = "WEBSYNC_CHAOS_NAMESPACE"

// mayMount reports whether the test may mount. If not, it has run in a process of its own
// whose mounts no other process sees.
func mayMount(t *testing.T) bool {
	if os.Getenv(namespaceEnv) != "" {
		return true
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-seed="+strconv.FormatUint(*seed, 10), "-kills="+strconv.Itoa(*kills))
	cmd.Env = append(os.Environ(), namespaceEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Skip("no namespace to mount file systems in: ", err)
	}
	require.NoError(t, cmd.Wait(), "%s", &out)
	if strings.Contains(out.String(), "--- SKIP") {
		t.Skip(out.String())
	}
	for line := range strings.Lines(out.String()) {
		if at := strings.LastIndex(line, ": "); at > 0 && strings.HasPrefix(line, "faults") {
			n, err := strconv.Atoi(strings.TrimSpace(line[at+2:]))
			require.NoError(t, err)
			numbers.add(line[:at], n)
		}
	}
	return false
}

// A disk is a file system in memory that can be filled.
type disk struct {
	t   *testing.T
	dir string
}

func newDisk(t *testing.T, megabytes int) *disk {
	// no other process is to see what is mounted
	require.NoError(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	d := &disk{t, filepath.Join(t.TempDir(), "disk")}
	require.NoError(t, os.Mkdir(d.dir, 0o755))
	if err := syscall.Mount("chaos", d.dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0755", megabytes)); err != nil {
		t.Skip("no file system of limited size can be mounted: ", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(d.dir, syscall.MNT_DETACH)) })
	return d
}

func (d *disk) ballast() string { return filepath.Join(d.dir, "ballast") }

// fill leaves so many bytes free.
func (d *disk) fill(free int64) {
	var is syscall.Statfs_t
	require.NoError(d.t, syscall.Statfs(d.dir, &is))
	n := int64(is.Bavail)*is.Bsize - free
	f, err := os.Create(d.ballast())
	require.NoError(d.t, err)
	if n > 0 {
		require.NoError(d.t, syscall.Fallocate(int(f.Fd()), 0, 0, n))
	}
	require.NoError(d.t, f.Close())
}

func (d *disk) empty() { require.NoError(d.t, os.Remove(d.ballast())) }

// readOnly mounts the disk again so that nothing can be written to it, or ends that.
func (d *disk) readOnly(on bool) {
	flags := uintptr(syscall.MS_REMOUNT)
	if on {
		flags |= syscall.MS_RDONLY
	}
	require.NoError(d.t, syscall.Mount("", d.dir, "", flags, ""))
}

var full = []string{"no space left on device", "disk is full", "disk full"}

// TestDiskFull fills the disk of a Store.
func TestDiskFull(t *testing.T) {
	if !mayMount(t) {
		return
	}
	s := newSite(t, wayOf("resourcesync"), seedOf(t.Name()))
	d := newDisk(t, 64)
	felt := 0
	for n := range times() {
		at, ever := storage{File: filepath.Join(d.dir, strconv.Itoa(n), "store.db")}, map[string]bool{}
		require.NoError(t, os.Mkdir(filepath.Dir(at.File), 0o755))
		for range 3 {
			s.change()
			for _, free := range []int{0, 1 + s.rnd.IntN(100_000), 1 + s.rnd.IntN(2_000_000)} {
				d.fill(int64(free))
				if s.faulty(t, at, full...) {
					felt++
				}
				d.empty()
				at.inspected(t).add(ever)
			}
			s.recovers(t, at, ever)
		}
		require.NoError(t, os.RemoveAll(filepath.Dir(at.File)))
	}
	assert.GreaterOrEqual(t, felt, 3*times())
	numbers.add("faults: disk of SQLite full", felt)
}

// TestTemporaryFull fills the disk for temporary files.
func TestTemporaryFull(t *testing.T) {
	if !mayMount(t) {
		return
	}
	felt := 0
	for _, name := range []string{"atom", "eli", "resourcesync dumps"} {
		s := newSite(t, wayOf(name), seedOf(t.Name()+name))
		s.place.Dir = "" // nothing is kept for the next run
		at, ever := kinds["SQLite"](t), map[string]bool{}
		s.change()
		d := newDisk(t, 64)
		t.Setenv("TMPDIR", d.dir)
		for n := range times() {
			d.fill(int64(n % 2 * s.rnd.IntN(20_000)))
			if s.faulty(t, at, full...) {
				felt++
			}
			d.empty()
			at.inspected(t).add(ever)
			s.recovers(t, at, ever)
			s.change()
		}
	}
	assert.GreaterOrEqual(t, felt, times())
	numbers.add("faults: disk of temporary files full", felt)
}

var readOnly = []string{"read-only file system", "readonly database", "unable to open database file"}

// TestReadOnly takes away the right to write: to the whole disk between two runs, and to
// the bodies while a run goes on.
func TestReadOnly(t *testing.T) {
	if !mayMount(t) {
		return
	}
	s := newSite(t, wayOf("resourcesync"), seedOf(t.Name()))
	d := newDisk(t, 64)
	at, ever := storage{File: filepath.Join(d.dir, "store.db")}, map[string]bool{}
	felt := 0
	for n := range times() {
		s.change()
		d.readOnly(true)
		require.True(t, s.faulty(t, at, readOnly...))
		d.readOnly(false)
		felt++
		if n > 0 { // there is a Store
			felt += s.bodiesReadOnly(t, at)
		}
		at.inspected(t).add(ever)
		s.recovers(t, at, ever)
	}
	numbers.add("faults: file system read-only", felt)
}

// bodiesReadOnly runs, and takes away the right to write bodies at a random request. It
// returns how many faults were felt.
func (s *site) bodiesReadOnly(t *testing.T, at storage) (felt int) {
	bodies, mounted := at.File+".bodies", false
	require.NoError(t, os.MkdirAll(bodies, 0o755)) // no body so far may have been long enough for one
	when := s.requests.Load() + 1 + s.rnd.Int64N(10)
	s.setAnswer(func(n int64, rw http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
		if n == when {
			assert.NoError(t, syscall.Mount(bodies, bodies, "", syscall.MS_BIND, ""))
			assert.NoError(t, syscall.Mount("", bodies, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
			mounted = true
		}
		serve(rw, r)
	})
	if s.faulty(t, at, readOnly...) {
		felt++
	}
	s.answer.Store(nil)
	if mounted {
		require.NoError(t, syscall.Unmount(bodies, 0))
	}
	return felt
}

// A cluster is a PostgreSQL server of its own.
type cluster struct {
	t    *testing.T
	dir  string
	port int
	as   *syscall.Credential
}

// newCluster makes a server in a directory.
func newCluster(t *testing.T, dir string) *cluster {
	postgres, err := user.Lookup("postgres")
	if _, e := exec.LookPath("initdb"); e != nil || err != nil || os.Getenv(namespaceEnv) == "" {
		t.Skip("no initdb, or no user for it: the disk of no PostgreSQL server is filled")
	}
	uid, _ := strconv.Atoi(postgres.Uid)
	gid, _ := strconv.Atoi(postgres.Gid)
	c := &cluster{t: t, dir: dir, as: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	require.NoError(t, os.Chown(dir, uid, gid))
	for up := dir; up != "/"; up = filepath.Dir(up) {
		os.Chmod(up, 0o755) // else its user can't get there
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c.port = l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())
	require.NoError(t, c.command("initdb", "-A", "trust", "-U", "postgres", "-N", "--wal-segsize=1", "-D", dir+"/data"))
	t.Cleanup(func() { c.command("pg_ctl", "-D", dir+"/data", "-m", "immediate", "-w", "stop") })
	return c
}

func (c *cluster) command(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.as}
	return cmd.Run() // its output would stay open in the server
}

// restart stops the server, if it has not crashed, and starts it.
func (c *cluster) restart() {
	c.command("pg_ctl", "-D", c.dir+"/data", "-m", "immediate", "-w", "stop") // it may be down
	options := fmt.Sprintf("-p %d -k %s -c listen_addresses=127.0.0.1 -c fsync=off -c min_wal_size=2MB -c max_wal_size=8MB", c.port, c.dir)
	require.NoError(c.t, c.command("pg_ctl", "-D", c.dir+"/data", "-l", "/dev/null", "-o", options, "-w", "start"))
}

// TestServerDiskFull fills the disk of a PostgreSQL server, which may crash.
func TestServerDiskFull(t *testing.T) {
	racing.Long(t) // a PostgreSQL server of its own takes seconds
	if !mayMount(t) {
		return
	}
	d := newDisk(t, 256)
	c := newCluster(t, d.dir)
	c.restart()
	s := newSite(t, wayOf("resourcesync"), seedOf(t.Name()))
	felt, restarts := 0, 0
	for n := range times() {
		at := storage{Server: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", c.port), Schema: fmt.Sprintf("full%d", n), Retry: ttl}
		ever := map[string]bool{}
		for round := range 2 {
			s.change()
			d.fill(int64(round * s.rnd.IntN(400_000)))
			if s.faulty(t, at, append(full, "sqlstate 53100", "could not write", "no connection to the server for")...) {
				felt++
			}
			d.empty()
			if _, err := pgtest.Query(at.Server, "select 1"); err != nil || s.rnd.IntN(3) == 0 {
				c.restart()
				restarts++
			}
			at.inspected(t).add(ever)
			s.recovers(t, at, ever)
		}
		pgtest.Ask(t, at.Server, "drop schema "+at.Schema+" cascade; checkpoint")
	}
	assert.GreaterOrEqual(t, felt, times())
	numbers.add("faults: disk of PostgreSQL full", felt)
	numbers.add("faults: restarts of PostgreSQL", restarts)
}
