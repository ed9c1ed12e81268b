package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

// millionEnv makes the test binary publish the SQLite store it names, and print its
// figures.
const millionEnv = "WEBSYNC_PUBLISH_STORE"

func TestMain(m *testing.M) {
	if file := os.Getenv(millionEnv); file != "" {
		publishMillion(file)
		return
	}
	os.Exit(m.Run())
}

const millionBase = "https://www.example.org/"

// fillMillion makes a store of n records without bodies.
func fillMillion(tb testing.TB, file string, n int) {
	store, err := sqlitestore.Open(tb.Context(), file, nil)
	require.NoError(tb, err)
	h := &harvest.Harvester{Store: store, Bodies: harvest.SkipBodies}
	report, err := h.Run(tb.Context(), listing(n))
	require.NoError(tb, err)
	require.EqualValues(tb, n, report.Created)
	require.NoError(tb, store.Close())
}

// listing is a Source of n pages.
type listing int

func (listing) Key() string { return "pages" }

func (n listing) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range int(n) {
			id := fmt.Sprintf("%scollections/%02d/documents/%07d.html", millionBase, i%40, i)
			e := harvest.Event{Resource: websync.Resource{ID: id, Content: websync.Link{Href: id}}}
			e.Resource.Modified = websync.NewDatetime(began.Add(time.Duration(i) * time.Second))
			if !yield(e, nil) {
				return
			}
		}
	}
}

// counting is a Catalog that counts the rows it yields.
type counting struct {
	websync.Catalog
	rows int
}

func (c *counting) count(seq iter.Seq2[websync.Item, error]) iter.Seq2[websync.Item, error] {
	return func(yield func(websync.Item, error) bool) {
		for item, err := range seq {
			c.rows++
			if !yield(item, err) {
				return
			}
		}
	}
}

func (c *counting) Resources(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return c.count(c.Catalog.Resources(ctx, r))
}

func (c *counting) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return c.count(c.Catalog.Changes(ctx, r))
}

// A sink is a ResponseWriter that counts what it gets.
type sink struct {
	header http.Header
	status int
	bytes  int64
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) WriteHeader(c int)   { s.status = c }
func (s *sink) Write(p []byte) (int, error) {
	s.bytes += int64(len(p))
	return len(p), nil
}

// figures are the measurements of publishing a store.
type figures struct {
	Documents int
	Bytes     int64
	// the index, which reads the log; all parts; all of them once more, from the spool
	Index, Read, Again time.Duration
	// GET and HEAD of each part that has not changed, with its ETag
	Conditional     time.Duration
	ConditionalRows int
	Peak            int64
}

func publishMillion(file string) {
	ctx := context.Background()
	store, err := sqlitestore.Open(ctx, file, nil)
	if err != nil {
		panic(err)
	}
	catalog := &counting{Catalog: store}
	list := &sitemap.Publisher{Catalog: catalog, Base: millionBase}
	handler := &publish.Handler{Publishers: []websync.Publisher{list}}
	ask := func(method, path, tag string) *sink {
		r := httptest.NewRequest(method, millionBase+strings.TrimPrefix(path, "/"), nil)
		if tag != "" {
			r.Header.Set("If-None-Match", tag)
		}
		w := &sink{header: http.Header{}, status: http.StatusOK}
		handler.ServeHTTP(w, r)
		if want := map[bool]int{true: http.StatusNotModified, false: http.StatusOK}[tag != ""]; w.status != want {
			panic(fmt.Sprint(method, path, w.status))
		}
		return w
	}
	var f figures
	timed := func(d *time.Duration, do func()) {
		began := time.Now()
		do()
		*d += time.Since(began)
	}
	timed(&f.Index, func() { ask("GET", "/sitemap.xml", "") })
	for path, err := range list.Documents(ctx) {
		if err != nil {
			panic(err)
		}
		if !strings.Contains(path, "sitemap-") {
			continue
		}
		f.Documents++
		var w *sink
		timed(&f.Read, func() { w = ask("GET", path, "") })
		f.Bytes += w.bytes
		timed(&f.Again, func() { ask("GET", path, "") })
		rows := catalog.rows
		timed(&f.Conditional, func() {
			ask("GET", path, w.header.Get("ETag"))
			ask("HEAD", path, w.header.Get("ETag"))
		})
		f.ConditionalRows += catalog.rows - rows
	}
	if err := handler.Close(); err != nil {
		panic(err)
	}
	if err := store.Close(); err != nil {
		panic(err)
	}
	f.Peak = peakMemory()
	json.NewEncoder(os.Stdout).Encode(f)
}

// peakMemory returns VmHWM in bytes; 0 if the system does not have it.
func peakMemory() int64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

// BenchmarkMillion publishes an SQLite store of a million records, 50,000 with -short, as
// a sitemap: the parts through a Handler, in a process of its own, so that the peak of
// its resident memory counts everything. The peer writes as many bytes from memory to a
// file.
func BenchmarkMillion(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 50_000
	}
	file := filepath.Join(b.TempDir(), "store.db")
	fillMillion(b, file, n)
	var f figures
	b.Run("publish", func(b *testing.B) {
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), millionEnv+"="+file)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			require.NoError(b, err)
			require.NoError(b, json.Unmarshal(out, &f))
		}
		require.Zero(b, f.ConditionalRows, "rows read to answer that nothing has changed")
		b.ReportMetric(perSecond(f.Bytes, f.Read), "MB/s")
		b.ReportMetric(perSecond(f.Bytes, f.Again), "spool-MB/s")
		b.ReportMetric(f.Index.Seconds(), "index-s")
		b.ReportMetric(float64(f.Conditional.Microseconds())/float64(2*f.Documents), "µs/conditional")
		b.ReportMetric(float64(f.Peak)/(1<<20), "peak-MiB")
	})
	b.Run("memory-to-file", func(b *testing.B) {
		data := make([]byte, f.Bytes/int64(max(1, f.Documents)))
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			out, err := os.Create(filepath.Join(b.TempDir(), "peer"))
			require.NoError(b, err)
			_, err = out.Write(data)
			require.NoError(b, err)
			require.NoError(b, out.Close())
		}
	})
}

func perSecond(n int64, d time.Duration) float64 { return float64(n) / 1e6 / d.Seconds() }
