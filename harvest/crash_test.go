package harvest_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// crashEnv makes the test binary one step of a history on SQLite. Its value is "file seed
// step".
const crashEnv = "WEBSYNC_CRASH_STEP"

var (
	kills    = flag.Int("kills", racing.Some(20), "how many processes TestKills kills, at least")
	killSeed = flag.Uint64("killseed", 0, "what TestKills draws its moments from; 0: another each time")
)

const (
	crashSteps     = 10 // kills in one history
	crashResources = 200
)

// replay returns the publisher as it is after so many steps of the history with this
// seed.
func replay(seed uint64, steps int) (*machine, *rand.Rand) {
	rng := rand.New(rand.NewPCG(seed, 0))
	m := newMachine()
	for step := range steps {
		changes := crashResources / 4
		if step == 0 {
			changes = crashResources
		}
		for range changes {
			name := fmt.Sprintf("%03d", rng.IntN(crashResources))
			m.now = m.now.Add(time.Second)
			if m.pages[name] != nil && rng.IntN(4) == 0 {
				m.take(name)
			} else {
				m.version(name, websync.NewDatetime(m.now), "")
			}
		}
	}
	return m, rng
}

// crashStep harvests the publisher once, as a log or as a snapshot. A negative step is
// the last one of the history; it also checks the store.
func crashStep(args string) {
	var file string
	var seed uint64
	var step int
	if _, err := fmt.Sscan(args, &file, &seed, &step); err != nil {
		panic(err)
	}
	last := step < 0
	m, rng := replay(seed, max(step, -step))
	db, err := sqlitestore.Open(context.Background(), file, nil)
	if err != nil {
		panic(err)
	}
	defer db.Close()
	store := harvest.NewCatalog(db)
	m.store = store
	h := m.harvester()
	h.Window, h.MaxDelete = 16, -1
	var source harvest.Source = &snapshotSource{machine: m, complete: true, fail: -1}
	if !last && rng.IntN(2) == 0 {
		source = &logSource{m, 2, -1, -1}
	}
	fmt.Println("ready")
	report, err := h.Run(context.Background(), source)
	if err != nil {
		panic(err)
	}
	if last {
		if !report.InStep() {
			panic(fmt.Sprintf("%+v", report))
		}
		m.checkLog(testkit.Must, nil)
		m.inStep(testkit.Must)
		fmt.Println("in step")
	}
}

// TestKills kills processes that harvest into SQLite, at random moments, one after the
// other on the same file, while the publisher keeps changing, and then compares the final
// store with the publisher.
func TestKills(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-killseed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	begun, killed := 0, 0
	most := 60 * time.Millisecond // until a kill; less if steps end before it
	for history := uint64(0); killed < *kills; history++ {
		require.LessOrEqual(t, begun, 10**kills, "too many steps ended before they were killed")
		file := filepath.Join(t.TempDir(), "store.db")
		for step := 1; step <= crashSteps; step++ {
			begun++
			after := 1 + time.Duration(rng.Int64N(int64(most)))
			if runStep(t, fmt.Sprintf("%s %d %d", file, seed+history, step), after) {
				killed++
				most += most / 8
			} else {
				most = max(most/2, time.Millisecond)
			}
		}
		runStep(t, fmt.Sprintf("%s %d %d", file, seed+history, -crashSteps), 0)
	}
	t.Logf("%d of %d processes were killed before they ended", killed, begun)
}

// runStep runs one step, kills it after a time, and reports whether it was killed. If
// after is 0, it does not kill the step.
func runStep(t *testing.T, args string, after time.Duration) (killed bool) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashEnv+"="+args)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "the step does not begin: %s", args)
	if after > 0 {
		timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
		defer timer.Stop()
	}
	var last string
	for lines.Scan() {
		last = lines.Text()
	}
	err = cmd.Wait()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); after > 0 && status.Signaled() {
		return true
	}
	require.NoError(t, err, args)
	if after == 0 {
		require.Equal(t, "in step", last, args)
	}
	return false
}
