package harvest_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/pgstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// moverEnv makes the test binary a process that moves a Store. Its value is a mover in
// JSON.
const moverEnv = "WEBSYNC_MOVER"

// A mover moves a file to a schema, or back to another file.
type mover struct {
	From, To    string // files; one of them is empty
	DSN, Schema string
	Updates     int // in the last of these the process kills itself; 0: never
}

func (m *mover) open(ctx context.Context, file string) (harvest.Store, error) {
	if file == "" {
		return pgstore.Open(ctx, m.DSN, &pgstore.Options{Schema: m.Schema})
	}
	return sqlitestore.Open(ctx, file, nil)
}

func (m *mover) move(ctx context.Context) error {
	from, err := m.open(ctx, m.From)
	if err != nil {
		return err
	}
	to, err := m.open(ctx, m.To)
	if err != nil {
		return err
	}
	return move(harvest.NewCatalog(from), harvest.NewCatalog(&killing{to, m.Updates}))
}

// A killing Store kills the process inside of an Update.
type killing struct {
	harvest.Store
	left int
}

func (k *killing) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	return k.Store.Update(ctx, func(tx harvest.Tx) error {
		err := fn(tx)
		if k.left--; k.left == 0 {
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			select {}
		}
		return err
	})
}

// moverMain runs the process, and reports whether it is one.
func moverMain() bool {
	args := os.Getenv(moverEnv)
	if args == "" {
		return false
	}
	var m mover
	err := json.Unmarshal([]byte(args), &m)
	if err == nil {
		err = m.move(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

// run runs a process, and returns its processor time and whether it was killed.
func (m *mover) run(t testing.TB) (cpu time.Duration, killed bool) {
	args, err := json.Marshal(m)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), moverEnv+"="+string(args))
	cmd.Stderr = os.Stderr
	err = cmd.Run()
	state := cmd.ProcessState
	require.True(t, err == nil || !state.Exited(), "%v", err)
	return state.UserTime() + state.SystemTime(), err != nil
}

var moved = flag.Int("moved", racing.Some(120_000), "how many records TestMoveKilled moves")

// TestMoveKilled moves a Store from SQLite to PostgreSQL and back. The process is killed
// twice on each way. The long form moves each record in at most 40 µs of processor time,
// both ways together.
func TestMoveKilled(t *testing.T) {
	racing.Skip(t)
	dsn := pgtest.Server(t)
	n := *moved
	dir := t.TempDir()
	there := &mover{From: filepath.Join(dir, "from.db"), DSN: dsn, Schema: pgtest.Schema(t, dsn)}
	source, db := openSQLite(t, there.From)
	fillSmall(t, source, n)
	want := digest(t, source)
	require.NoError(t, db.Close())
	back := *there
	back.From, back.To = "", filepath.Join(dir, "to.db")
	var cpu time.Duration
	for _, m := range []*mover{there, &back} {
		for kills := 0; ; {
			m.Updates = 0
			if kills < 2 {
				m.Updates = 2 + kills + n/50_000
			}
			spent, killed := m.run(t)
			cpu += spent
			if !killed {
				require.Equal(t, 2, kills)
				break
			}
			kills++
			half, err := m.open(t.Context(), m.To)
			require.NoError(t, err)
			_, err = harvest.NewCatalog(half).Head(t.Context())
			require.ErrorIs(t, err, harvest.ErrUnfinished)
			half.(interface{ Close() error }).Close()
		}
	}
	each := cpu / time.Duration(n)
	t.Logf("%d records there and back, killed four times: %v of processor time for each", n, each)
	if !racing.Few() {
		assert.LessOrEqual(t, each, 40*time.Microsecond)
	}
	target, db := openSQLite(t, back.To)
	defer db.Close()
	assert.Equal(t, want, digest(t, target))
	isConsistent(t, target)
}

// fillSmall fills a Catalog with n records of a sitemap, a tenth of them with bodies.
func fillSmall(t testing.TB, c *harvest.Catalog, n int) {
	for source, h := range map[string]*harvest.Harvester{
		"https://a.example/": {Catalog: c, Bodies: harvest.SkipBodies}, "https://b.example/": {Catalog: c},
	} {
		events := make([]harvest.Event, 0, n)
		for i := range n {
			if bodies := i%10 == 0; bodies == (h.Bodies != harvest.SkipBodies) {
				e := testkit.Put(fmt.Sprintf("documents/%07d", i), testkit.Day(1+i%28))
				e.Open = harvest.OpenBytes(fmt.Appendf(nil, "the body of %d", i))
				events = append(events, e)
			}
		}
		events = append(events, harvest.Event{Kind: harvest.Mark, Resume: harvest.Checkpoint{Version: 1, Data: []byte("at")}})
		report, err := h.Run(t.Context(), harvest.Of(source, events...))
		require.NoError(t, err)
		require.EqualValues(t, len(events)-1, report.Created)
	}
}

// digest returns a digest of all that readers of a large Catalog see.
func digest(t testing.TB, c *harvest.Catalog) string {
	h := sha256.New()
	describe(t, h, c)
	return fmt.Sprintf("%x", h.Sum(nil))
}
