package dirsource_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// scanned is the number of files in the benchmarks; an environment variable can set
// another one.
const scannedEnv = "WEBSYNC_SCAN_FILES"

func scanned() int {
	if n, err := strconv.Atoi(os.Getenv(scannedEnv)); err == nil {
		return n
	}
	return 100_000
}

// fill makes n files of a few bytes, each directory with the given number, in memory if
// the system has a file system for that.
func fill(b *testing.B, n, each int) *tree {
	parent := "/dev/shm"
	if _, err := os.Stat(parent); err != nil {
		parent = b.TempDir()
	}
	dir, err := os.MkdirTemp(parent, "dirsource")
	require.NoError(b, err)
	b.Cleanup(func() { os.RemoveAll(dir) })
	x := newTree(b, dir)
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprint(i/each))
		if i%each == 0 {
			require.NoError(b, os.Mkdir(sub, 0o777))
		}
		require.NoError(b, os.WriteFile(filepath.Join(sub, fmt.Sprintf("file-%d.html", i)), []byte("<p>text"), 0o666))
	}
	return x
}

// BenchmarkScan walks over a tree in which nothing has changed: the Source alone, and
// with the engine.
func BenchmarkScan(b *testing.B) {
	n := scanned()
	for _, each := range []int{100, n} {
		name := fmt.Sprintf("%d-in-a-directory", each)
		b.Run("source/"+name, func(b *testing.B) {
			x := fill(b, n, each)
			measure(b, n, func() { require.Equal(b, n, count(b, x.src)) })
		})
		b.Run("harvest/"+name, func(b *testing.B) {
			x := fill(b, n, each)
			began := time.Now()
			require.EqualValues(b, n, x.run().Created)
			first := float64(time.Since(began).Microseconds()) / float64(n)
			measure(b, n, func() { require.EqualValues(b, n, x.run().Unchanged) })
			b.ReportMetric(first, "first-µs/file")
		})
	}
}

// count returns how many files a Source yields.
func count(b *testing.B, src *dirsource.Source) (n int) {
	run := &harvest.Run{Report: func(websync.Finding) {}, Expect: func(int64) {}}
	for ev, err := range src.Events(b.Context(), run) {
		require.NoError(b, err)
		if ev.Kind == harvest.Put {
			n++
		}
	}
	return n
}

func measure(b *testing.B, n int, f func()) {
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/file")
	b.ReportMetric(float64(testkit.PeakMemory())/(1<<20), "peak-MiB")
}
