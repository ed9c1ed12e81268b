package chaos

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A wire leads to a server, and can be cut.
type wire struct {
	net.Listener
	to    string
	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
}

func newWire(t *testing.T, to string) *wire {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{Listener: l, to: to, conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		l.Close()
		w.set(true)
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.lead(c)
		}
	}()
	return w
}

// set cuts all connections and lets none be made, or ends that.
func (w *wire) set(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
	for c := range w.conns {
		c.Close()
	}
	clear(w.conns)
}

// enter reports whether a connection may be used.
func (w *wire) enter(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.down {
		w.conns[c] = true
	}
	return !w.down
}

func (w *wire) lead(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer to.Close()
	if !w.enter(from) || !w.enter(to) {
		return
	}
	go func() {
		io.Copy(to, from)
		to.Close()
	}()
	io.Copy(from, to)
}

// TestOutage takes the server away in the middle of a run, for longer than the Store
// tries to reach it.
func TestOutage(t *testing.T) {
	t.Parallel()
	at := kinds["PostgreSQL"](t)
	u, err := url.Parse(at.Server)
	require.NoError(t, err)
	w := newWire(t, u.Host)
	u.Host = w.Addr().String()
	at.Server, at.Retry = u.String(), ttl
	s, ever, felt := newSite(t, wayOf("resourcesync"), seedOf(t.Name())), map[string]bool{}, 0
	for range times() {
		s.change()
		when := s.requests.Load() + 1 + s.rnd.Int64N(10)
		s.setAnswer(func(n int64, rw http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
			if n == when {
				w.set(true)
			}
			serve(rw, r)
		})
		if s.faulty(t, at, "no connection to the server for "+ttl.String()) {
			felt++
		}
		s.answer.Store(nil)
		w.set(false)
		at.inspected(t).add(ever)
		s.recovers(t, at, ever)
	}
	assert.Equal(t, times(), felt)
	numbers.add("faults: outages of PostgreSQL", felt)
}
