package harvest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testkit"
)

// millionEnv makes the test binary harvest a long listing into the SQLite store that it
// names, and print the time and memory that it took. millionEntriesEnv is the number of
// entries.
const (
	millionEnv        = "WEBSYNC_MILLION_STORE"
	millionEntriesEnv = "WEBSYNC_MILLION_ENTRIES"
)

// harvestMillion prints the microseconds an entry and the peak of resident memory in
// bytes.
func harvestMillion(file string) {
	ctx := context.Background()
	n, err := strconv.Atoi(os.Getenv(millionEntriesEnv))
	if err != nil {
		panic(err)
	}
	store, err := sqlitestore.Open(ctx, file, nil)
	if err != nil {
		panic(err)
	}
	h := &harvest.Harvester{Store: store, Bodies: harvest.SkipBodies}
	began := time.Now()
	report, err := h.Run(ctx, listing(n))
	if err != nil {
		panic(err)
	}
	took := time.Since(began)
	if report.Created+report.Unchanged != int64(n) {
		panic(fmt.Sprintf("%+v", report))
	}
	if err := store.Close(); err != nil {
		panic(err)
	}
	fmt.Println(float64(took.Microseconds())/float64(n), testkit.PeakMemory())
}

// BenchmarkMillion harvests listings of one and of three million entries, without bodies,
// into SQLite: first into an empty store, then again. Each is a process of its own, so
// that the peak of its resident memory counts everything, SQLite's caches too. The cost
// of an unchanged entry is the difference between the two sizes.
func BenchmarkMillion(b *testing.B) {
	sizes := []int{1_000_000, 3_000_000}
	if testing.Short() {
		sizes = []int{100_000}
	}
	for _, n := range sizes {
		file := filepath.Join(b.TempDir(), "store.db")
		for _, name := range []string{"new", "unchanged"} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					cmd := exec.CommandContext(b.Context(), os.Args[0])
					cmd.Env = append(os.Environ(), millionEnv+"="+file, fmt.Sprint(millionEntriesEnv, "=", n))
					cmd.Stderr = os.Stderr
					out, err := cmd.Output()
					require.NoError(b, err)
					var perEntry float64
					var peak int64
					_, err = fmt.Sscan(string(out), &perEntry, &peak)
					require.NoError(b, err)
					b.ReportMetric(perEntry, "µs/entry")
					b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
				}
			})
		}
	}
}
