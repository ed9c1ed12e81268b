package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/pgstore"
	"github.com/websync-go/websync/internal/testing/pgtest"
)

// An output is what a program has written to standard error.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	lines chan string
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	select {
	case o.lines <- string(p):
	default:
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// TestTwoWorkers: two workers that start at the same time make the tables and bring a
// sitemap and a feed in step, again and again, and stop. A URL that can't be read yet
// keeps nothing waiting.
func TestTwoWorkers(t *testing.T) { testTwoWorkers(t, 3, func(dsn string) string { return dsn }) }

// testTwoWorkers is TestTwoWorkers with a database that is reached through something. The
// workers work until the sitemap has been harvested as often as times.
func testTwoWorkers(t *testing.T, times int, through func(dsn string) string) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/sitemap.xml":
			fmt.Fprintf(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://%s/page</loc></url></urlset>`, r.Host)
		case "/feed.atom":
			fmt.Fprint(w, `<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:f</id><title>F</title><updated>2026-01-01T00:00:00Z</updated>
				<entry><id>urn:e</id><title>E</title><updated>2026-01-01T00:00:00Z</updated><content>text</content></entry></feed>`)
		case "/page":
			fmt.Fprint(w, "page")
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	pgtest.Server(t)
	dsn, drop, err := pgtest.NewDatabase()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, drop()) })
	dsn = through(dsn)
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	outs := [2]*output{{lines: make(chan string, 100)}, {lines: make(chan string, 100)}}
	for i, out := range outs {
		workers.Go(func() {
			p := &program{Console: cli.NewConsole("worker", out, out)}
			assert.Equal(t, 0, p.run(ctx, []string{"-status", []string{"", "127.0.0.1:0"}[i], "-store", "postgres:" + dsn, "-rate", "1000", "-every", "1s", "http://127.0.0.1:1/", site.URL + "/sitemap.xml", site.URL + "/feed.atom"}))
		})
	}
	db, err := pgstore.Open(t.Context(), dsn, nil)
	require.NoError(t, err)
	defer db.Close()
	store := harvest.NewCatalog(db)
	for {
		head, err := store.Head(t.Context())
		require.NoError(t, err)
		if all := outs[0].String() + outs[1].String(); head.Last == 2 && strings.Count(all, "/sitemap.xml: ") >= times && strings.Contains(all, "connection refused") {
			assert.Equal(t, map[string]int64{site.URL + "/sitemap.xml": 1, site.URL + "/feed.atom": 1}, head.Live)
			break
		}
		select {
		case <-outs[0].lines:
		case <-outs[1].lines:
		case <-time.After(time.Minute):
			require.Fail(t, "nothing happens", "%s\n%s", outs[0], outs[1])
		}
	}
	var rest string
	for found := false; !found; {
		if _, rest, found = strings.Cut(outs[1].String(), "status page at "); !found {
			<-outs[1].lines
		}
	}
	url, _, _ := strings.Cut(rest, "\n")
	page, err := http.Get(url + "status.json")
	require.NoError(t, err)
	shown, err := io.ReadAll(page.Body)
	require.NoError(t, err)
	assert.NoError(t, page.Body.Close())
	assert.Contains(t, string(shown), site.URL+"/feed.atom")
	assert.Contains(t, string(shown), "http://127.0.0.1:1/")
	require.Eventually(t, func() bool {
		metrics, err := http.Get(url + "metrics")
		require.NoError(t, err)
		defer metrics.Body.Close()
		parser := expfmt.NewTextParser(model.LegacyValidation)
		families, err := parser.TextToMetricFamilies(metrics.Body)
		require.NoError(t, err)
		require.Contains(t, families, "websync_source_in_step", "of all processes")
		return families["http_client_request_duration_seconds"] != nil // of this one
	}, time.Minute, 10*time.Millisecond)
	stop()
	workers.Wait()
	all := outs[0].String() + outs[1].String()
	assert.Contains(t, all, "/sitemap.xml: 1 created, 0 updated, 0 deleted. In step")
	assert.Contains(t, all, "/feed.atom: 1 created, 0 updated, 0 deleted. In step")
	assert.Equal(t, 2, strings.Count(all, "worker: working\n"))
}

func TestUsage(t *testing.T) {
	for want, args := range map[string]string{
		"-store: must be postgres:DSN":                                          "https://example.org/",
		"-store sqlite: must be postgres:DSN":                                   "-store sqlite:a.db https://example.org/",
		`-store "oracle:x": not one of`:                                         "-store oracle:x",
		`-protocol "gopher": not one of`:                                        "-store postgres:x -protocol gopher",
		`-protocol "dir": not one of`:                                           "-store postgres:x -protocol dir .",
		`"ftp://example.org/" is not a URL that begins with http`:               "-store postgres:x ftp://example.org/",
		"https://example.org/: a URL with a password can't be put into the que": "-store postgres:x https://me:secret@example.org/",
		"-slice 1ms: must be at least 1s":                                       "-store postgres:x -slice 1ms",
		`-status "x": not HOST:PORT`:                                            "-store postgres:x -status x",
		"-rate NaN: not a number of requests a second":                          "-store postgres:x -rate NaN",
		"-rate +Inf: not a number of requests a second":                         "-store postgres:x -rate Inf",
		"-per-host 0: must be at least 1":                                       "-store postgres:x -per-host 0",
		"pgstore: the connection string can't be parsed":                        "-store postgres:port=secret",
	} {
		var out bytes.Buffer
		p := &program{Console: cli.NewConsole("worker", &out, &out)}
		assert.Equal(t, 2, p.run(t.Context(), strings.Fields(args)), args)
		assert.Contains(t, out.String(), want)
		assert.NotContains(t, out.String(), "secret")
	}
	var out bytes.Buffer
	p := &program{Console: cli.NewConsole("worker", &out, &out)}
	assert.Equal(t, 0, p.run(t.Context(), []string{"-h"}))
	assert.Contains(t, out.String(), "usage: worker")
}
