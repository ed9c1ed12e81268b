package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/racing"
)

var (
	kills    = flag.Int("kills", racing.Some(30), "how often the tests of kill -9 kill; 50 or more: a harvest of 2,000 resources rather than 500")
	killSeed = flag.Uint64("killseed", 0, "their seed; 0: another one each time")
)

// A killSite has two states: many small resources, and the same with a part gone, a part
// edited, some new and some that fail. It can call a function when it has answered so
// many requests.
type killSite struct {
	size   int
	second atomic.Bool
	served atomic.Int64
	at     atomic.Int64
	then   atomic.Pointer[func()]
}

func (s *killSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := "http://" + r.Host
	switch {
	case r.URL.Path == "/sitemap.xml":
		fmt.Fprint(w, `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
		for part := range 4 {
			fmt.Fprintf(w, "<sitemap><loc>%s/%d.xml</loc></sitemap>", host, part)
		}
		fmt.Fprint(w, "</sitemapindex>")
	case strings.HasSuffix(r.URL.Path, ".xml"):
		var part int
		fmt.Sscanf(r.URL.Path, "/%d.xml", &part)
		fmt.Fprint(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
		for i := part; i < s.size+s.size/20; i += 4 {
			if edition := s.edition(i); edition > 0 {
				fmt.Fprintf(w, "<url><loc>%s/r/%d</loc><lastmod>2026-01-0%d</lastmod></url>\n", host, i, edition)
			}
		}
		fmt.Fprint(w, "</urlset>")
	default:
		var i int
		if n, _ := fmt.Sscanf(r.URL.Path, "/r/%d", &i); n == 0 || i%500 == 499 && s.second.Load() {
			http.NotFound(w, r)
			break
		}
		fmt.Fprintf(w, "resource %d, edition %d\n", i, s.edition(i))
	}
	if s.served.Add(1) == s.at.Load() {
		(*s.then.Load())()
	}
}

// edition is 0 for a resource that is not listed.
func (s *killSite) edition(i int) int {
	switch second := s.second.Load(); {
	case !second && i >= s.size, second && i%7 == 3 && i < s.size:
		return 0
	case second && (i%10 == 1 || i%500 == 499):
		return 2
	}
	return 1
}

// TestHarvestKill kills the command at random moments of a harvest, runs it again, and
// compares the store with that of an undisturbed run.
func TestHarvestKill(t *testing.T) {
	racing.Skip(t)
	t.Parallel()
	if *kills == 0 {
		t.Skip("-kills=0")
	}
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-killseed=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	site := &killSite{size: 500}
	if *kills >= 50 {
		site.size = 2000
	}
	server := httptest.NewServer(site)
	defer server.Close()
	url := server.URL + "/sitemap.xml"

	var bases, wants [2]string // stores before the harvest, what they hold after it
	var requests [2]int64
	bases[0] = t.TempDir()
	for phase := range 2 {
		site.second.Store(phase == 1)
		dir := copyDir(t, bases[phase])
		site.served.Store(0)
		harvestIn(t, dir, url, phase)
		requests[phase] = site.served.Load()
		wants[phase] = storeContents(t, dir, url)
		if phase == 0 {
			bases[1] = dir
		}
	}
	require.NotEqual(t, wants[0], wants[1])
	killed := 0
	for i := 0; killed < *kills; i++ {
		require.Less(t, i, 10**kills, "the runs end before they can be killed")
		phase := i % 2
		site.second.Store(phase == 1)
		dir := copyDir(t, bases[phase])
		at, wait := random.Int64N(requests[phase]*5/4), time.Duration(0)
		if at >= requests[phase] { // after the last request: the last commit, the sweep
			at, wait = requests[phase], time.Duration(random.Int64N(int64(100*time.Millisecond)))
		}
		if site.kill(t, dir, url, at, wait) {
			killed++
		}
		harvestIn(t, dir, url, phase)
		if got := storeContents(t, dir, url); got != wants[phase] {
			t.Fatalf("kill %d, in harvest %d after %d requests and %s: %s", i, phase+1, at, wait, firstDifference(wants[phase], got))
		}
		os.RemoveAll(dir)
	}
}

func killArgs(url string) []string {
	return []string{"-complete", "-rate=1e7", "-concurrency=8", "-store=sqlite:store.db", url}
}

// harvestIn harvests to the end. In the second state of the site some resources fail.
func harvestIn(t *testing.T, dir, url string, phase int) {
	t.Helper()
	cmd := process(append([]string{"harvest"}, killArgs(url)...)...)
	cmd.Dir = dir
	out, _ := cmd.CombinedOutput()
	require.Equal(t, []int{exitDone, exitLeft}[phase], cmd.ProcessState.ExitCode(), "%s", out)
}

// kill begins a harvest and kills it after so many requests and a while. It reports
// whether that was in time.
func (s *killSite) kill(t *testing.T, dir, url string, at int64, wait time.Duration) bool {
	t.Helper()
	cmd := process(append([]string{"harvest"}, killArgs(url)...)...)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	reached := make(chan struct{})
	kill := func() { close(reached) }
	s.served.Store(0)
	s.then.Store(&kill)
	s.at.Store(max(at, 1))
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	select {
	case <-reached:
		time.Sleep(wait)
		cmd.Process.Kill()
		<-ended
	case <-ended:
	}
	s.at.Store(0)
	require.NotEqual(t, exitFailed, cmd.ProcessState.ExitCode(), "%s", &out)
	return !cmd.ProcessState.Exited()
}

func copyDir(t *testing.T, from string) string {
	dir, err := os.MkdirTemp(t.TempDir(), "store")
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
	return dir
}

// storeContents returns what must not depend on interruptions: records, bodies, tasks and
// the last log entry of each id, without the numbers and times of the store.
func storeContents(t *testing.T, dir, source string) string {
	t.Helper()
	ctx := t.Context()
	db, err := sqlitestore.Open(ctx, filepath.Join(dir, "store.db"), nil)
	require.NoError(t, err)
	defer db.Close()
	store := harvest.NewCatalog(db)
	var b strings.Builder
	for rec, err := range store.Records(ctx, source, "") {
		require.NoError(t, err)
		fmt.Fprintf(&b, "record %s stated=%x validators=%v\n", describeItem(ctx, t, store, rec.Item), rec.Stated.Hash, rec.Validators)
	}
	for task, err := range store.Tasks(ctx, source, "") {
		require.NoError(t, err)
		fmt.Fprintf(&b, "task %s kind=%d parked=%t %v %s\n", task.Resource.ID, task.Kind, task.Parked, task.Resource, task.Error)
	}
	last := map[string]websync.Item{}
	for item, err := range store.Changes(ctx, websync.Range{}) {
		require.NoError(t, err)
		last[item.Resource.ID] = item
	}
	var lines []string
	for _, item := range last {
		item.Bodies = slices.Clone(item.Bodies)
		lines = append(lines, fmt.Sprintf("log %s\n", describeItem(ctx, t, nil, item)))
	}
	slices.Sort(lines)
	checkpoint, err := store.Checkpoint(ctx, source)
	require.NoError(t, err)
	fmt.Fprintf(&b, "%scheckpoint %v\n", strings.Join(lines, ""), checkpoint)
	return b.String()
}

// describeItem returns an item without numbers and times of the store; with its bytes, if
// there is a store.
func describeItem(ctx context.Context, t *testing.T, store *harvest.Catalog, item websync.Item) string {
	bodies := item.Bodies
	item.Seq, item.Born, item.Time, item.Bodies = 0, 0, time.Time{}, nil
	text := fmt.Sprintf("%+v", item)
	for _, body := range bodies {
		text += fmt.Sprintf(" %+v", body)
		if store == nil {
			continue
		}
		r, err := store.Open(ctx, body)
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		text += fmt.Sprintf(" %q", data)
	}
	return text
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
