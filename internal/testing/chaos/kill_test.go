package chaos

import (
	"bufio"
	"bytes"
	"encoding/json"
	"hash/fnv"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A moment is when a process is killed.
type moment struct {
	request int64 // the number of the request; 0: none
	bytes   int   // of its answer are sent before; negative: all of it
	mark    int64 // the number of the mark; 0: none
	spin    int   // turns of the killer after the mark
}

// A killing is a process that is killed at a moment.
type killing struct {
	moment
	cmd     *exec.Cmd
	started chan struct{} // closed when cmd has a process
	begin   int64         // requests to the site before
	once    sync.Once
}

// TestKill kills processes that harvest each protocol into each Store.
func TestKill(t *testing.T) {
	for i := range ways {
		for kind, at := range kinds {
			w := &ways[i]
			t.Run(w.name+" into "+kind, func(t *testing.T) {
				t.Parallel()
				testKills(t, w, kind, at, nil)
			})
		}
	}
}

// perStore is how many kills a Store gets before the next one begins empty: a first
// harvest is more than what follows it.
const perStore = 5

// testKills kills processes until there were as many kills as the flag wants, while the
// site changes. It makes a new Store from time to time. Clocks are what that of a Store
// may be off by, at random.
func testKills(t *testing.T, w *way, kind string, newStorage func(*testing.T) storage, clocks []time.Duration) {
	n := *kills
	s := newSite(t, w, seedOf(t.Name()))
	killed, begun := 0, 0
	for killed < n {
		at, ever := newStorage(t), map[string]bool{}
		for until := min(killed+perStore, n); killed < until; {
			s.change()
			left := s.spent
			if len(ever) == 0 {
				left = s.first
			}
			inStep := false
			for tries := 1 + s.rnd.IntN(4); tries > 0 && killed < until; tries-- {
				c := &reader{Way: w.name, Place: s.place, Store: at, Halves: s.rnd.IntN(4) == 0}
				for range min(len(clocks), s.rnd.IntN(4)) {
					c.Clocks = append(c.Clocks, clocks[s.rnd.IntN(len(clocks))])
				}
				numbers.add("faults: clock of a Store jumps", len(c.Clocks))
				begun++
				if inStep = !s.kill(t, c, s.moment(left)); inStep {
					break
				}
				killed++
				at.inspected(t).add(ever)
				left = cost{max(left.requests*2/3, 1), max(left.marks*2/3, 4)}
				if s.rnd.IntN(4) == 0 {
					s.change()
					left = s.spent
				}
			}
			if !inStep {
				begun++
				require.False(t, s.kill(t, &reader{Way: w.name, Place: s.place, Store: at}, moment{}))
			}
			h := at.inspected(t)
			s.requireInStep(t, h, ever)
			h.add(ever)
		}
	}
	numbers.add("kills: "+w.name+" into "+kind, killed)
	numbers.add("kills", killed)
	numbers.add("processes", begun)
}

// seedOf returns the seed of a test, so that it can be repeated without the others.
func seedOf(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return *seed ^ h.Sum64()
}

// moment returns a random one in what is left to do, or a little after. Half of them are
// near the end, where a run commits what lets the next one read less.
func (s *site) moment(left cost) (m moment) {
	pick := func(n int64) int64 {
		if s.rnd.IntN(2) == 0 {
			return n - s.rnd.Int64N(min(n, 20))
		}
		return 1 + s.rnd.Int64N(n)
	}
	if left.requests == 0 || s.rnd.IntN(2) == 0 {
		m.mark = pick(left.marks + 2)
		m.spin = s.rnd.IntN(20_000)
		return m
	}
	m.request = pick(left.requests)
	switch s.rnd.IntN(3) {
	case 0:
		m.bytes = -1
	case 1:
		m.bytes = s.rnd.IntN(3_000)
	}
	return m
}

// kill runs a process until it is killed, or ends in step: killed reports which. Without
// a moment it is not killed.
func (s *site) kill(t *testing.T, c *reader, m moment) (killed bool) {
	t.Helper()
	args, err := json.Marshal(c)
	require.NoError(t, err)
	k := &killing{moment: m, cmd: exec.CommandContext(t.Context(), os.Args[0]), started: make(chan struct{}), begin: s.requests.Load()}
	k.cmd.Env = append(os.Environ(), childEnv+"="+string(args))
	var stderr bytes.Buffer
	k.cmd.Stderr = &stderr
	marks, err := k.cmd.StdoutPipe()
	require.NoError(t, err)
	s.setAnswer(k.answer)
	defer s.answer.Store(nil)
	require.NoError(t, k.cmd.Start())
	close(k.started)
	at := int64(0)
	for lines := bufio.NewScanner(marks); lines.Scan(); {
		if at++; at == m.mark {
			for range m.spin {
				runtime.Gosched()
			}
			k.kill()
		}
	}
	err = k.cmd.Wait()
	if state := k.cmd.ProcessState; !state.Exited() {
		require.NotZero(t, m, "the process was killed by another: %v", err)
		return true
	}
	require.NoError(t, err, "%s", &stderr)
	return false
}

func (k *killing) kill() {
	k.once.Do(func() {
		<-k.started // the process may be quicker than Start
		k.cmd.Process.Kill()
	})
}

// answer serves the requests of the process, and kills it at the right one.
func (k *killing) answer(n int64, rw http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	if n-k.begin != k.request {
		serve(rw, r)
		return
	}
	if k.bytes != 0 {
		serve(&cutter{rw, k.bytes, k.kill}, r)
		http.NewResponseController(rw).Flush()
	}
	k.kill()
}

// A cutter sends an answer, and calls cut after so many bytes of it.
type cutter struct {
	http.ResponseWriter
	left int // negative: it is not cut
	cut  func()
}

func (c *cutter) Write(p []byte) (n int, err error) {
	if c.left >= 0 && len(p) >= c.left {
		n, err = c.ResponseWriter.Write(p[:c.left])
		http.NewResponseController(c.ResponseWriter).Flush()
		c.cut()
		p, c.left = p[c.left:], -1
	} else if c.left >= 0 {
		c.left -= len(p)
	}
	m, err2 := c.ResponseWriter.Write(p)
	if err == nil {
		err = err2
	}
	return n + m, err
}
