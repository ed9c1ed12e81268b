package fetch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
)

// processes returns Clients that share a State, as several processes do.
func (w *web) processes(n int, rate float64, s websync.State) []*Client {
	all := make([]*Client, n)
	for i := range all {
		all[i] = w.client()
		all[i].state, all[i].Rate, all[i].MaxWait = s, rate, time.Hour
	}
	return all
}

// TestProcessesShareAnInterval has several processes ask one host: together they keep its
// interval, and waste little time. Where intervals are short that may be what remains of
// the time that one of them has reserved.
func TestProcessesShareAnInterval(t *testing.T) {
	const requests = 20 // of each process
	for name, test := range map[string]struct {
		rate  float64
		delay string // in robots.txt
		gap   float64
		waste float64 // seconds
	}{
		"one a second":     {1, "", 1, 0},
		"five a second":    {5, "", 0.2, 0},
		"a hundred":        {100, "", 0.01, 1},
		"one in a minute":  {1. / 60, "", 60, 0},
		"by robots.txt":    {-1, "Crawl-delay: 10", 10, 0},
		"twenty-one":       {21, "", 1. / 21, 1},
		"without interval": {-1, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb()
				w.answers[robotsURL] = reply(200, "User-agent: *\n"+test.delay)
				clients := w.processes(3, test.rate, new(memState))
				for i := range len(clients) * requests {
					w.answers[fmt.Sprintf("http://example.org/%d", i)] = reply(200, "x")
				}
				var group sync.WaitGroup
				for i, c := range clients {
					c.IgnoreRobots = test.delay == ""
					for k := range requests {
						url := fmt.Sprintf("http://example.org/%d", i*requests+k)
						group.Go(func() {
							_, err := get(t.Context(), c, url)
							assert.NoError(t, err)
						})
					}
				}
				group.Wait()
				var at []float64
				for _, r := range w.seen {
					if r.URL != robotsURL {
						at = append(at, r.At.Seconds())
					}
				}
				slices.Sort(at)
				require.Len(t, at, 3*requests)
				for i := range at[1:] {
					require.GreaterOrEqual(t, at[i+1]-at[i], test.gap-1e-6)
				}
				whole := at[len(at)-1] - at[0]
				assert.LessOrEqual(t, whole, test.gap*float64(len(at)-1)+test.waste+1e-6)
			})
		})
	}
}

// TestProcessesShareRetryAfter sends a Retry-After to one process: the others obey it,
// too.
func TestProcessesShareRetryAfter(t *testing.T) {
	for name, rate := range map[string]float64{"an interval": 1, "short intervals": 100, "no interval": -1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb()
				w.answers["http://example.org/a"] = reply(200, "x")
				w.answers["http://example.org/b"] = then(reply(503, "", "Retry-After: 7"), reply(200, "x"))
				s := new(memState)
				clients := w.processes(2, rate, s)
				mustGet(t, clients[0], "http://example.org/a")
				clients[1].Attempts = 1
				_, err := get(t.Context(), clients[1], "http://example.org/b")
				require.Error(t, err)
				closed := w.times("http://example.org/b")[0]
				time.Sleep(shareMin)
				mustGet(t, clients[0], "http://example.org/a")
				require.GreaterOrEqual(t, w.times("http://example.org/a")[1], closed+7)
			})
		})
	}
}

// TestLoneProcess has one process use a host: it writes to the State every few seconds
// and not for each request. When another process comes, both reserve the host for one
// request at a time.
func TestLoneProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a, b = "http://example.org/a", "http://example.org/b"
		w := newWeb()
		w.answers[a], w.answers[b] = reply(200, "x"), reply(200, "x")
		s := new(memState)
		clients := w.processes(2, 5, s)
		for range 100 {
			mustGet(t, clients[0], a)
		}
		assert.Less(t, s.swaps, 12)
		at := w.times(a)
		assert.InDelta(t, 99*0.2, at[99]-at[0], 1e-3)

		began, swaps := time.Since(w.began).Seconds(), s.swaps
		var group sync.WaitGroup
		for i, url := range []string{a, b} {
			group.Go(func() {
				for range 40 {
					mustGet(t, clients[i], url)
				}
			})
		}
		group.Wait()
		assert.Less(t, time.Since(w.began).Seconds()-began, 80*0.2+shareMax.Seconds()+0.3)
		assert.Greater(t, s.swaps-swaps, 40, "short reservations again")
	})
}

// TestReleasedHost: when a process has closed its Client, another one waits for an
// interval only.
func TestReleasedHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a = "http://example.org/a"
		w := newWeb()
		w.answers[a] = reply(200, "x")
		clients := w.processes(2, 5, new(memState))
		for range 100 {
			mustGet(t, clients[0], a)
		}
		clients[0].CloseIdleConnections()
		mustGet(t, clients[1], a)
		mustGet(t, clients[0], a)
		at := w.times(a)
		assert.InDelta(t, 0.2, at[100]-at[99], 1e-3)
		assert.GreaterOrEqual(t, at[101]-at[100], 0.2-1e-3)
	})
}

// TestProcessDies ends a process that has reserved the host: others wait only until the
// end of its reservation.
func TestProcessDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/a"] = reply(200, "x")
		clients := w.processes(2, 0.1, new(memState))
		mustGet(t, clients[0], "http://example.org/a")
		mustGet(t, clients[1], "http://example.org/a")
		sameTimes(t, []float64{0, 10}, w.times("http://example.org/a"))
	})
}

// jammed is a State whose Swap is always a conflict.
type jammed struct{ memState }

func (*jammed) Swap(context.Context, string, []byte, []byte) error { return websync.ErrConflict }

// TestJammedState fetches nevertheless, as politely as one process can.
func TestJammedState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/a"] = then(reply(200, "x"), reply(503, "", "Retry-After: 7"), reply(200, "x"))
		c := w.processes(1, 1, new(jammed))[0]
		for range 3 {
			mustGet(t, c, "http://example.org/a")
		}
		sameTimes(t, []float64{0, 1, 8, 9}, w.times("http://example.org/a"))
	})
}

// TestStrangeClock reads the note of a process whose clock is years ahead.
func TestStrangeClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/a"] = reply(200, "x")
		s := &memState{m: map[string][]byte{hostKey("http://example.org"): []byte(`{"next":"2999-01-01T00:00:00Z"}`)}}
		c := w.processes(1, 1, s)[0]
		mustGet(t, c, "http://example.org/a")
		mustGet(t, c, "http://example.org/a")
		sameTimes(t, []float64{60, 61}, w.times("http://example.org/a"))
	})
}
