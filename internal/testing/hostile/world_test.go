package hostile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/bench"
	"github.com/websync-go/websync/internal/testing/racing"
)

const (
	// secret is in credentials and files of the reader, and must not become visible.
	secret = "hunter2-Zx81"
	// password is in URLs that documents list: ids keep it, messages and logs do not.
	password = "swordfish-Zx82"

	memoryLimit = 64 << 20
	// the server of the attack is in the same process, and its garbage, too
	serverMemory = 32 << 20
	// processor time of one run; its time on a clock depends on the machine
	timeLimit = 20 * time.Second
	hangLimit = time.Minute
	// what an input may cost in requests, unless it says otherwise
	requestLimit = 120
)

var (
	inputs atomic.Int64 // how many hostile inputs were tried
	inside *canary      // a service on a private address that nobody may reach
	floor  int64        // resident memory after the last clean-up
	worst  struct {
		grown int64
		name  string
	}
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(100) // the bounds of memory are for that
	inside = newCanary()
	code := m.Run()
	fmt.Printf("hostile inputs: %d; most memory over the baseline: %d MiB, by %s\n", inputs.Load(), worst.grown>>20, worst.name)
	os.Exit(code)
}

// A canary counts the connections to it.
type canary struct {
	listener net.Listener
	reached  atomic.Int64
}

func newCanary() *canary {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	c := &canary{listener: listener}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c.reached.Add(1)
			conn.Close()
		}
	}()
	return c
}

func (c *canary) port() string {
	_, port, _ := net.SplitHostPort(c.listener.Addr().String())
	return port
}

func (c *canary) url() string { return "http://127.0.0.1:" + c.port() }

// A world is one server under the attacker's control, and the machine of its reader.
type world struct {
	t      *testing.T
	server *httptest.Server
	url    string   // of the server
	memory int64    // the limit
	leads  []string // other URLs that messages may name
	dir    string   // of all that the reader may write, with the directory temp in it

	mu       sync.Mutex
	answers  map[string]http.HandlerFunc // by path; "" for all others
	asked    []string                    // the paths of the first requests
	requests int
	dials    []string // to addresses other than the server's that were attempted

	client   *fetch.Client
	store    *harvest.Catalog
	log      bytes.Buffer // of harvester and client; guarded by mu
	findings []websync.Finding
}

// newWorld returns a world for one input.
func newWorld(t *testing.T) *world {
	if h := fnv.New32a(); racing.Few() {
		h.Write([]byte(t.Name()))
		if h.Sum32()%10 != 0 {
			t.Skip("one input in ten is tried")
		}
	}
	inputs.Add(1)
	outer := t.TempDir()
	w := &world{t: t, memory: memoryLimit, dir: filepath.Join(outer, "root"), answers: map[string]http.HandlerFunc{}, store: harvest.NewCatalog(memstore.New())}
	require.NoError(t, os.MkdirAll(filepath.Join(w.dir, "temp"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(outer, "secret.txt"), []byte(secret), 0o644))
	t.Setenv("TMPDIR", filepath.Join(w.dir, "temp"))
	w.server = httptest.NewServer(w)
	w.url = w.server.URL
	w.client = w.newClient()
	before := inside.reached.Load()
	t.Cleanup(func() {
		w.client.CloseIdleConnections()
		w.server.CloseClientConnections()
		w.server.Close()
		assert.Equal(t, before, inside.reached.Load(), "a private address was reached")
		assert.Empty(t, w.dials, "dials to addresses that are not the source's")
		assert.Empty(t, names(t, filepath.Join(w.dir, "temp")), "temporary files are left")
		assert.Equal(t, []string{"root", "secret.txt"}, names(t, outer), "files outside the root")
		assert.NotContains(t, w.log.String(), secret)
		assert.NotContains(t, w.log.String(), password)
		for _, f := range w.findings {
			assert.NotContains(t, fmt.Sprint(f), secret)
		}
	})
	return w
}

// newClient returns the Client with its usual limits, except for what is about patience.
func (w *world) newClient() *fetch.Client {
	return &fetch.Client{
		Rate: -1, Attempts: -1, IgnoreRobots: true,
		Inactivity: 3 * time.Second, MaxWait: time.Second,
		Log: slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// renew replaces the Client, whose settings hold from its first request on.
func (w *world) renew(set func(*fetch.Client)) {
	w.client.CloseIdleConnections()
	w.client = w.newClient()
	set(w.client)
}

// Write adds to the log.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.log.Len() < 8<<20 {
		w.log.Write(p)
	}
	return len(p), nil
}

func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.requests++
	if len(w.asked) < 1000 {
		w.asked = append(w.asked, r.URL.Path)
	}
	answer, ok := w.answers[r.URL.Path]
	if !ok {
		answer, ok = w.answers[""]
	}
	w.mu.Unlock()
	if !ok {
		http.NotFound(rw, r)
		return
	}
	answer(rw, r)
}

func (w *world) serve(path string, answer http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[path] = answer
}

func (w *world) serveText(path string, f flow) { w.serve(path, as("application/xml", f)) }

// as answers with a text of a media type.
func as(mediaType string, f flow) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", mediaType)
		f.send(rw)
	}
}

// context ends when the time is up, and watches what is dialled.
func (w *world) context() (context.Context, context.CancelFunc) {
	own := w.server.Listener.Addr().String()
	trace := &httptrace.ClientTrace{ConnectDone: func(_, addr string, err error) {
		if addr != own && !errors.Is(err, harvest.ErrForbidden) {
			w.mu.Lock()
			w.dials = append(w.dials, addr)
			w.mu.Unlock()
		}
	}}
	return context.WithTimeout(httptrace.WithClientTrace(w.t.Context(), trace), hangLimit)
}

// An outcome is all that a run says.
type outcome struct {
	*harvest.Report
	err      error
	messages []string // of errors, problems, failures and findings
}

// run harvests, and checks what no input may exceed.
func (w *world) run(src harvest.Source, requests int) (o outcome) {
	w.t.Helper()
	ctx, cancel := w.context()
	defer cancel()
	before := w.requests
	findings := len(w.findings)
	h := &harvest.Harvester{
		Catalog: w.store, Fetcher: w.client, TTL: time.Minute,
		Log: slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Hooks: &harvest.Hooks{Finding: func(_ string, f websync.Finding) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if len(w.findings) < 1000 {
				w.findings = append(w.findings, f)
			}
		}},
	}
	w.measured(func() { o.Report, o.err = h.Run(ctx, src) })
	require.NoError(w.t, ctx.Err(), "the run took too long")
	assert.LessOrEqual(w.t, w.requests-before, requests, "requests: %.2000q", w.asked)
	if o.err != nil {
		o.messages = append(o.messages, o.err.Error())
	}
	for _, f := range slices.Concat(o.Problems, o.Failures) {
		o.messages = append(o.messages, f.URL+" "+websync.RedactURL(f.ID)+" "+f.Error)
	}
	for _, f := range w.findings[findings:] {
		o.messages = append(o.messages, f.Document+" "+f.Message)
	}
	for _, m := range o.messages {
		assert.NotContains(w.t, m, secret)
		assert.NotContains(w.t, m, password)
		assert.Less(w.t, len(m), 16<<10, "an error of %d bytes: %.100q …", len(m), m)
		assert.NotContains(w.t, m, "panic")
	}
	assert.Equal(w.t, src.Key(), o.Source)
	return o
}

// measured runs f and checks the growth of resident memory.
func (w *world) measured(f func()) {
	w.t.Helper()
	if floor == 0 || resident("VmRSS:") > floor+16<<20 {
		debug.FreeOSMemory()
		floor = resident("VmRSS:")
	}
	before := resident("VmRSS:")
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // begins a new peak
	start := bench.CPUTime()
	f()
	grown := resident("VmHWM:") - before
	took := bench.CPUTime() - start
	if grown > memoryLimit/2 {
		w.t.Logf("%d MiB of memory", grown>>20)
	}
	if w.memory == memoryLimit && grown > worst.grown {
		worst.grown, worst.name = grown, w.t.Name()
	}
	if !racing.Enabled {
		assert.Less(w.t, took, timeLimit, "processor time")
		assert.LessOrEqual(w.t, grown, w.memory+serverMemory, "%d MiB of memory", grown>>20)
	}
}

// resident returns a line of /proc/self/status in bytes, 0 where there is none.
func resident(name string) int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), name)
	line, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(line, 10, 64)
	return n << 10
}

// A verdict is what must come of an input.
type verdict int

const (
	// loud: the run is not in step, or there is a finding
	loud verdict = iota
	// refused: the run is not in step
	refused
	// harmless: it is as any other input, and the run is in step
	harmless
	// anything: the input may be read as it is meant; only the limits count
	anything
)

// expect checks what a run says against the verdict.
func (w *world) expect(v verdict, o outcome) {
	w.t.Helper()
	inStep := o.err == nil && o.InStep()
	says := strings.Join(o.messages, "\n")
	switch {
	case v == anything:
		return
	case v == harmless:
		assert.True(w.t, inStep, "not in step: %.1000s", says)
		return
	case v == refused:
		assert.False(w.t, inStep, "in step: %.1000s", says)
	case inStep:
		assert.NotEmpty(w.t, o.messages, "nothing was reported")
	}
	for _, url := range append(w.leads, strings.TrimPrefix(w.url, "http://")) {
		if strings.Contains(says, url) {
			return
		}
	}
	assert.Fail(w.t, "no message names the URL", says)
}

// live returns the times of the live records of a source by id.
func (w *world) live(src harvest.Source) map[string]websync.Datetime {
	all := map[string]websync.Datetime{}
	for r, err := range w.store.Records(w.t.Context(), src.Key(), "") {
		require.NoError(w.t, err)
		if r.Live() {
			all[r.Resource.ID] = r.Resource.Modified
		}
		assert.NotContains(w.t, fmt.Sprintf("%+v", r.Resource), secret)
	}
	return all
}

// names returns what is in a directory.
func names(t *testing.T, dir string) (all []string) {
	entries, err := os.ReadDir(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}
