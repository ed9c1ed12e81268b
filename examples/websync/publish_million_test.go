package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/bench"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

// millionEnv and exportEnv make the test binary publish the SQLite store they name, and
// print its figures.
const (
	millionEnv = "WEBSYNC_PUBLISH_STORE"
	exportEnv  = "WEBSYNC_EXPORT_STORE"
)

const millionBase = "https://www.example.org/"

// fillMillion makes a store of n records without bodies.
func fillMillion(tb testing.TB, file string, n int) {
	db, err := sqlitestore.Open(tb.Context(), file, nil)
	require.NoError(tb, err)
	store := harvest.NewCatalog(db)
	h := &harvest.Harvester{Catalog: store, Bodies: harvest.SkipBodies}
	report, err := h.Run(tb.Context(), listing(n))
	require.NoError(tb, err)
	require.EqualValues(tb, n, report.Created)
	require.NoError(tb, db.Close())
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
	*harvest.Catalog
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
	ReadCPU            time.Duration // the processor time of Read
	// GET and HEAD of each part that has not changed, with its ETag
	Conditional     time.Duration
	ConditionalRows int
	Peak            int64
}

func publishMillion(file string) {
	ctx := context.Background()
	db, err := sqlitestore.Open(ctx, file, nil)
	if err != nil {
		panic(err)
	}
	store := harvest.NewCatalog(db)
	catalog := &counting{Catalog: store}
	list := &sitemap.Publisher{Place: websync.Place{Catalog: catalog, Base: millionBase}}
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
		read := bench.CPU("read", func() error {
			timed(&f.Read, func() { w = ask("GET", path, "") })
			return nil
		})
		cpu, _ := read.Do()
		f.ReadCPU += cpu
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
	if err := db.Close(); err != nil {
		panic(err)
	}
	f.Peak = testkit.PeakMemory()
	json.NewEncoder(os.Stdout).Encode(f)
}

// exportMillion writes the documents of ResourceSync as files beside the store.
func exportMillion(file string) {
	ctx := context.Background()
	db, err := sqlitestore.Open(ctx, file, nil)
	if err != nil {
		panic(err)
	}
	store := harvest.NewCatalog(db)
	dir := file + ".export"
	defer os.RemoveAll(dir)
	began := time.Now()
	written, err := publish.WriteDir(ctx, dir, &resourcesync.Publisher{Place: websync.Place{Catalog: store, Base: millionBase}})
	f := figures{Documents: int(written.Written), Read: time.Since(began)}
	if err == nil {
		err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				f.Bytes += info.Size()
			}
			return err
		})
	}
	if err := errors.Join(err, db.Close()); err != nil {
		panic(err)
	}
	f.Peak = testkit.PeakMemory()
	json.NewEncoder(os.Stdout).Encode(f)
}

// BenchmarkMillion publishes an SQLite store of a million records, 50,000 with -short:
// the parts of a sitemap through a Handler, and the documents of ResourceSync as files.
// Each has a process of its own, so that the peak of its resident memory counts
// everything. The peer writes as many bytes from memory to a file.
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
			f = figuresOf(b, millionEnv, file)
		}
		require.Zero(b, f.ConditionalRows, "rows read to answer that nothing has changed")
		b.ReportMetric(perSecond(f.Bytes, f.Read), "MB/s")
		b.ReportMetric(perSecond(f.Bytes, f.ReadCPU), "cpu-MB/s")
		b.ReportMetric(perSecond(f.Bytes, f.Again), "spool-MB/s")
		b.ReportMetric(f.Index.Seconds(), "index-s")
		b.ReportMetric(float64(f.Conditional.Microseconds())/float64(2*f.Documents), "µs/conditional")
		b.ReportMetric(float64(f.Peak)/(1<<20), "peak-MiB")
	})
	b.Run("export-resourcesync", func(b *testing.B) {
		var f figures
		for b.Loop() {
			f = figuresOf(b, exportEnv, file)
		}
		b.ReportMetric(perSecond(f.Bytes, f.Read), "MB/s")
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

// figuresOf runs the test binary with a variable of the environment.
func figuresOf(b *testing.B, env, file string) (f figures) {
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), env+"="+file)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(b, err)
	require.NoError(b, json.Unmarshal(out, &f))
	return f
}

func perSecond(n int64, d time.Duration) float64 { return float64(n) / 1e6 / d.Seconds() }
