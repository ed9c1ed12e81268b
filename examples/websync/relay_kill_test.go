package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// A front is a server with a URL that stays, in front of a relay that comes and goes.
type front struct {
	*httptest.Server
	relay atomic.Pointer[url.URL] // nil: it does not run
}

// newFront returns a front that calls then before it passes on a request.
func newFront(t *testing.T, then func()) *front {
	f, silent := &front{}, log.New(io.Discard, "", 0)
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		then()
		to := f.relay.Load()
		if to == nil {
			w.WriteHeader(http.StatusBadGateway) // unlike 503, nothing that readers wait for
			return
		}
		proxy := &httputil.ReverseProxy{
			Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(to) },
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
			ErrorLog:     silent,
		}
		proxy.ServeHTTP(w, r)
	}))
	f.Config.ErrorLog = silent // a killed relay cuts connections
	f.Start()
	t.Cleanup(f.Close)
	return f
}

// A relayProcess is the relay as a process of its own.
type relayProcess struct {
	*exec.Cmd
	stderr buffer
	up     chan struct{} // closed when it listens, or has ended
	ended  chan struct{}
}

// launch starts the relay. When it listens, f leads to it.
func launch(t *testing.T, f *front, args ...string) *relayProcess {
	p := &relayProcess{Cmd: process(append([]string{"relay"}, args...)...), up: make(chan struct{}), ended: make(chan struct{})}
	stderr, err := p.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	go func() {
		once := sync.OnceFunc(func() { close(p.up) })
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			fmt.Fprintln(&p.stderr, lines.Text())
			if addr, ok := strings.CutPrefix(lines.Text(), "relay: listening at "); ok {
				f.relay.Store(&url.URL{Scheme: "http", Host: addr})
				once()
			}
		}
		p.Wait()
		once()
		close(p.ended)
	}()
	t.Cleanup(func() {
		p.Process.Kill()
		<-p.ended
	})
	return p
}

// A world is upstreams that change while they are read.
type world struct {
	mu    sync.Mutex
	rnd   *rand.Rand
	quiet bool
	ups   []*upstream
	made  [2]int // resources of each

	requests atomic.Int64 // of the relay
	at       atomic.Int64
	reached  chan struct{} // holds one: there were so many requests
}

// asked counts a request of the relay.
func (w *world) asked() {
	if w.requests.Add(1) == w.at.Load() {
		w.reached <- struct{}{}
	}
	w.sometimes(4)
}

// read is called before a request of a reader.
func (w *world) read() { w.sometimes(50) }

// sometimes changes something at one of n calls: less than the relay can follow.
func (w *world) sometimes(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rnd.IntN(n) == 0 {
		w.change()
	}
}

// change creates, changes or deletes a resource. Most are changed once or never, so that
// a change that is lost stays lost.
func (w *world) change() {
	if w.quiet {
		return
	}
	k := w.rnd.IntN(len(w.ups))
	u, name := w.ups[k], fmt.Sprintf("%d.txt", w.rnd.IntN(w.made[k]+1))
	switch w.rnd.IntN(4) {
	case 0:
		u.delete(name)
	case 1:
		u.put(name, fmt.Sprintf("%s %d", name, w.rnd.Uint64()))
	default:
		w.made[k]++
		name = fmt.Sprintf("%d.txt", w.made[k])
		u.put(name, "new "+name)
	}
}

// pick returns a random number below n.
func (w *world) pick(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rnd.IntN(n)
}

// kill kills a relay at a random moment: after it has made so many requests, or while it
// starts.
func (w *world) kill(t *testing.T, p *relayProcess) {
	t.Helper()
	moment := time.Duration(w.pick(20_000)) * time.Microsecond
	if w.pick(5) > 0 {
		w.at.Store(w.requests.Load() + 1 + int64(w.pick(200)))
		select {
		case <-w.reached:
		case <-p.ended:
			t.Fatalf("the relay ended: %s", &p.stderr)
		case <-time.After(patience):
			t.Fatalf("the relay asks no more: %s", &p.stderr)
		}
	} else {
		moment *= 10
	}
	select {
	case <-time.After(moment): // chosen at random; nothing is waited for
	case <-p.ended:
		t.Fatalf("the relay ended: %s", &p.stderr)
	}
	p.Process.Kill()
	<-p.ended
	w.at.Store(0)
	select {
	case <-w.reached: // meanwhile
	default:
	}
}

// TestRelayKill kills the relay with -9 at random moments, while its sources change and
// readers follow it. When they change no more, all stores agree.
func TestRelayKill(t *testing.T) {
	racing.Skip(t)
	n := *kills
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-killseed=%d", seed)
	w := &world{rnd: rand.New(rand.NewPCG(seed, 0)), reached: make(chan struct{}, 1)}
	one, two := newUpstream(t, "resourcesync"), newUpstream(t, "atom")
	w.ups = []*upstream{one, two}
	for range 100 {
		w.change()
	}
	then := func(*http.Request) { w.asked() }
	one.then.Store(&then)
	two.then.Store(&then)
	f := newFront(t, w.read)
	file := filepath.Join(t.TempDir(), "relay.db")
	args := []string{"-store=sqlite:" + file, "-addr=127.0.0.1:0", "-rate=1e6", configured(t, `{
		"base": %q,
		"publish": [{"protocol": "resourcesync", "list_size": 100}, {"protocol": "atom"}],
		"sources": [{"url": %q, "every": "5ms", "interval": "0s"}, {"url": %q, "protocol": "atom", "every": "5ms", "interval": "0s"}]
	}`, f.URL+"/", one.entry, two.entry)}
	readers := []*reader{
		newReader(&resourcesync.Source{URL: f.URL + "/capabilitylist.xml", Name: testkit.Src}),
		newReader(&atom.Source{URL: f.URL + "/feed.atom", Name: testkit.Src}),
	}

	began := time.Now()
	for range n {
		p := launch(t, f, args...)
		stop := make(chan struct{})
		var reading sync.WaitGroup
		for _, r := range readers {
			reading.Go(func() {
				for <-p.up; ; r.run(t) { // it may fail
					select {
					case <-stop:
						return
					case <-p.ended:
						return
					default:
					}
				}
			})
		}
		w.kill(t, p)
		f.relay.Store(nil)
		close(stop)
		reading.Wait()
	}
	t.Logf("killed %d times in %v, after %d requests of the relay", n, time.Since(began), w.requests.Load())

	w.mu.Lock()
	w.quiet = true
	w.mu.Unlock()
	p := launch(t, f, args...)
	select {
	case <-p.up:
	case <-time.After(patience):
	}
	for _, r := range readers {
		r.follows(t, one, two)
	}
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	<-p.ended
	require.Equal(t, exitDone, p.ProcessState.ExitCode(), &p.stderr)

	db, err := sqlitestore.Open(t.Context(), file, nil)
	require.NoError(t, err)
	defer db.Close()
	store := harvest.NewCatalog(db)
	assert.Equal(t, texts(t, one.store, two.store), texts(t, store))
	head, err := store.Head(t.Context())
	require.NoError(t, err)
	at := head.First - 1
	for item, err := range store.Changes(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		require.Equal(t, at+1, item.Seq)
		at = item.Seq
	}
	assert.Equal(t, head.Last, at)
	for source := range head.Live {
		for task, err := range store.Tasks(t.Context(), source, "") {
			require.NoError(t, err)
			t.Errorf("%s: a task is left: %+v", source, task)
		}
	}
	t.Logf("%d changes upstream, %d in the relay, %d and %d in the readers",
		last(t, one.store)+last(t, two.store), head.Last, last(t, readers[0].store), last(t, readers[1].store))
}

// last returns the number of the last change in a store.
func last(t *testing.T, store websync.Catalog) websync.Seq {
	head, err := store.Head(t.Context())
	require.NoError(t, err)
	return head.Last
}
