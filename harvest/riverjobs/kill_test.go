package riverjobs

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/pgstore"
	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/sitemap"
)

var kills = flag.Int("kills", 0, "how often TestKilled kills a worker with 20 sources; each takes about a minute")

// childEnv makes the test binary a worker. Its value is a child in JSON.
const childEnv = "WEBSYNC_RIVERJOBS_WORKER"

// A child is a process that works on jobs until it is killed.
type child struct{ Name, DSN, Store, Queue string }

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		var c child
		err := json.Unmarshal([]byte(text), &c)
		if err == nil {
			err = c.run(context.Background())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const (
	slice   = 10 * time.Second
	hosts   = 5
	sources = 4 // of a host
	pages   = 30
)

var sitemaps = Registry{"sitemap": func(_ context.Context, a Args) (harvest.Source, error) { return &sitemap.Source{URL: a.URL}, nil }}

func (c *child) run(ctx context.Context) error {
	db, err := pgstore.Open(ctx, c.DSN, &pgstore.Options{Schema: c.Store})
	if err != nil {
		return err
	}
	store := harvest.NewCatalog(db)
	client := fetch.New(store)
	client.UserAgent, client.Rate = c.Name, -1
	w := &Worker{Harvester: &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: client, TTL: 5 * time.Second}, Registry: sitemaps, Slice: slice}
	config := &river.Config{Schema: c.Queue, JobTimeout: slice}
	if err := w.Configure(config); err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, c.DSN)
	if err != nil {
		return err
	}
	queue, err := river.NewClient(riverpgxv5.New(pool), config)
	if err == nil {
		err = queue.Start(ctx)
	}
	if err != nil {
		return err
	}
	select {}
}

// A site is a host with some sitemaps. It sees to it that one worker at a time reads one
// of them.
type site struct {
	*httptest.Server
	t       *testing.T
	asked   chan<- string // receives the worker of each request
	mu      sync.Mutex
	working map[string]int // requests that are being answered, by worker and source
	faults  []string
}

func newSite(t *testing.T, asked chan<- string) *site {
	s := &site{t: t, asked: asked, working: map[string]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP serves the sitemaps /a/sitemap.xml, /b/sitemap.xml … and their pages.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	source, page, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if page == "" {
		http.NotFound(w, r) // robots.txt
		return
	}
	job := r.UserAgent() + " reads " + source
	s.count(job, 1)
	defer s.count(job, -1)
	select {
	case s.asked <- r.UserAgent():
	default:
	}
	select {
	case <-time.After(20 * time.Millisecond):
	case <-r.Context().Done(): // the worker was killed
		return
	}
	if page != "sitemap.xml" {
		fmt.Fprintln(w, r.URL.Path)
		return
	}
	fmt.Fprint(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for i := range pages {
		fmt.Fprintf(w, "<url><loc>%s/%s/%d</loc></url>", s.URL, source, i)
	}
	fmt.Fprint(w, "</urlset>")
}

func (s *site) count(job string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.working[job] += n; s.working[job] == 0 {
		delete(s.working, job)
	}
	if len(s.working) > 1 {
		s.faults = append(s.faults, fmt.Sprint(s.working))
	}
}

// TestKilled: 20 sources of 5 hosts are spread over two workers, one of which is killed
// while it holds jobs. All sources are in step a minute after a slice, and at no time do
// two jobs make requests to one host.
func TestKilled(t *testing.T) {
	if *kills == 0 {
		t.Skip("takes a minute: set -kills")
	}
	for n := range *kills {
		killWorker(t, n)
	}
	t.Logf("%d workers were killed while they held jobs", *kills)
}

func killWorker(t *testing.T, n int) {
	pool, queue := newSchema(t)
	dsn := pool.Config().ConnString()
	store := pgtest.Schema(t, dsn)
	asked := make(chan string, 2*hosts*sources*(pages+1))
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: queue})
	require.NoError(t, err)
	var sites []*site
	for range hosts {
		s := newSite(t, asked)
		sites = append(sites, s)
		for i := range sources {
			args, err := sitemaps.Args(t.Context(), Args{Protocol: "sitemap", URL: fmt.Sprintf("%s/%c/sitemap.xml", s.URL, 'a'+i)})
			require.NoError(t, err)
			_, err = client.Insert(t.Context(), args, nil)
			require.NoError(t, err)
		}
	}
	first, ended := start(t, child{"first", dsn, store, queue})
	await := func(requests int) {
		for requests > 0 {
			select {
			case by := <-asked:
				if by == "first" {
					requests--
				}
			case <-ended:
				require.FailNow(t, "the worker ended by itself")
			}
		}
	}
	await(1) // a job of each host waits for nobody else
	start(t, child{"second", dsn, store, queue})
	await(20 + n%3*40) // it is in the middle of those jobs
	held := running(t, pool, queue)
	require.NoError(t, first.Process.Kill())
	killed := time.Now()
	require.NotZero(t, held, "it held jobs")

	limit := slice + time.Minute
	for finished(t, pool, queue) < hosts*sources {
		require.Less(t, time.Since(killed), limit, "%d of %d jobs are finished", finished(t, pool, queue), hosts*sources)
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("killed while %d jobs ran; all were finished %.0f s later", held, time.Since(killed).Seconds())
	for _, s := range sites {
		s.mu.Lock()
		assert.Empty(t, s.faults, "jobs that made requests at the same time")
		s.mu.Unlock()
	}
	db, err := pgstore.Open(t.Context(), dsn, &pgstore.Options{Schema: store})
	require.NoError(t, err)
	defer db.Close()
	s := harvest.NewCatalog(db)
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, hosts*sources*pages, head.Last, "each page came once")
}

// start starts a worker that is killed when the test ends. It returns a channel that is
// closed when the worker has ended.
func start(t *testing.T, c child) (*exec.Cmd, <-chan struct{}) {
	text, err := json.Marshal(c)
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	return cmd, ended
}

func running(t *testing.T, pool *pgxpool.Pool, schema string) int {
	return jobs(t, pool, schema, "running")
}

func finished(t *testing.T, pool *pgxpool.Pool, schema string) int {
	return jobs(t, pool, schema, "completed")
}

// jobs counts those in a state.
func jobs(t *testing.T, pool *pgxpool.Pool, schema, state string) (n int) {
	sql := "SELECT count(*) FROM " + pgx.Identifier{schema, "river_job"}.Sanitize() + " WHERE state::text = $1"
	require.NoError(t, pool.QueryRow(t.Context(), sql, state).Scan(&n))
	return n
}
