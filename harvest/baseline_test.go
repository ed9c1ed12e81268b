package harvest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
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
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/bench"
)

// The size of the baseline.
const (
	baselineResources   = 2000
	baselineBytes       = 4 << 10
	baselineConcurrency = 8
)

// serveEnv makes the test binary a server for the baseline, so that its work is not
// counted with the client's.
const serveEnv = "WEBSYNC_BASELINE_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		serveBaseline()
		return
	}
	if args := os.Getenv(crashEnv); args != "" {
		crashStep(args)
		return
	}
	if file := os.Getenv(millionEnv); file != "" {
		harvestMillion(file)
		return
	}
	if moverMain() {
		return
	}
	os.Exit(m.Run())
}

func serveBaseline() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"`+r.URL.Path+`"`)
		w.Header().Set("Content-Type", "text/plain")
		w.Write(baselinePage(r.URL.Path))
	}))
	fmt.Println(s.URL)
	io.Copy(io.Discard, os.Stdin) // until the parent has ended
}

func baselinePage(path string) []byte {
	return bytes.Repeat([]byte(fmt.Sprintf("%-63s\n", path)), baselineBytes/64)
}

// startBaseline starts the server and returns the events that list its resources, each
// with its digest and length.
func startBaseline(b *testing.B) (events []harvest.Event) {
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"=1")
	_, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	url, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(b, err)
	url = strings.TrimSpace(url)
	for i := range baselineResources {
		path := fmt.Sprintf("/resource/%d", i)
		events = append(events, harvest.Event{Kind: harvest.Put, Resource: websync.Resource{
			ID:       url + path,
			Modified: websync.NewDatetime(time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)),
			Content: websync.Link{Href: url + path, Length: int64(len(baselinePage(path))),
				Digests: websync.Digests{websync.SHA256(baselinePage(path))}},
		}})
	}
	return events
}

// BenchmarkBaseline compares harvesting with fetching the same resources from the same
// server, as many at a time. The figure to compare is cpu-µs/resource, the CPU time of
// this process only; the server is another process.
func BenchmarkBaseline(b *testing.B) {
	events := startBaseline(b)
	each := func(b *testing.B, harvestAll func(b *testing.B)) {
		b.SetBytes(baselineResources * baselineBytes)
		b.ReportAllocs()
		began := bench.CPUTime()
		for b.Loop() {
			harvestAll(b)
		}
		spent := bench.CPUTime() - began
		b.ReportMetric(float64(spent.Microseconds())/float64(b.N*baselineResources), "cpu-µs/resource")
	}
	b.Run("bare-get", func(b *testing.B) {
		each(b, func(b *testing.B) { bareGet(b, events) })
	})
	b.Run("verify-only", func(b *testing.B) {
		each(b, func(b *testing.B) {
			h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Bodies: harvest.VerifyBodies}
			runBaseline(b, h, events)
		})
	})
	b.Run("sqlite", func(b *testing.B) {
		each(b, func(b *testing.B) {
			store, db := openSQLite(b, filepath.Join(b.TempDir(), "store.db"))
			defer db.Close()
			runBaseline(b, &harvest.Harvester{Sample: -1, Catalog: store}, events)
		})
	})
}

func openSQLite(tb testing.TB, file string) (*harvest.Catalog, io.Closer) {
	db, err := sqlitestore.Open(tb.Context(), file, nil)
	require.NoError(tb, err)
	return harvest.NewCatalog(db), db
}

func runBaseline(b *testing.B, h *harvest.Harvester, events []harvest.Event) {
	client := fetch.New(h.Catalog)
	client.Rate, client.PerHost, client.AllowPrivate = -1, baselineConcurrency, true
	defer client.CloseIdleConnections()
	h.Fetcher, h.Concurrency = client, baselineConcurrency
	report, err := h.Run(b.Context(), harvest.Of("list", events...))
	require.NoError(b, err)
	require.EqualValues(b, baselineResources, report.Created)
}

func bareGet(b *testing.B, events []harvest.Event) {
	loop := bench.NewLoop(baselineConcurrency)
	defer loop.Close()
	require.NoError(b, loop.All(b.Context(), func(yield func(string) bool) {
		for i := range events {
			if !yield(events[i].Resource.ID) {
				return
			}
		}
	}))
}
