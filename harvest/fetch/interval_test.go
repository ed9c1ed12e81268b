package fetch

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// page gets a URL with an Interval.
func page(t *testing.T, c *Client, url string, interval time.Duration) {
	t.Helper()
	resp, err := c.Fetch(t.Context(), &harvest.Request{URL: url, Interval: interval})
	if assert.NoError(t, err) {
		resp.Body.Close()
	}
}

// apart requires that any two requests of a web are at least so many seconds apart.
func (w *web) apart(t *testing.T, seconds float64) {
	t.Helper()
	var at []float64
	for _, r := range w.seen {
		at = append(at, r.At.Seconds())
	}
	slices.Sort(at)
	for i := range len(at) - 1 {
		require.GreaterOrEqual(t, at[i+1]-at[i], seconds-1e-6, "request %d of %v", i+1, at)
	}
}

// TestInterval: a Request.Interval holds for its host, from the last request on, for all
// later requests, and for the hosts of redirects.
func TestInterval(t *testing.T) {
	const a, b, other = "http://example.org/a", "http://example.org/b", "http://other.example/"
	for name, test := range map[string]struct {
		robots string // "": there is none, and it is not asked for
		rate   float64
		run    func(*testing.T, *Client)
		want   map[string][]float64
	}{
		"pages": {run: func(t *testing.T, c *Client) {
			for range 3 {
				page(t, c, a, 5*time.Second)
			}
		}, want: map[string][]float64{a: {0, 5, 10}}},
		"since the last request": {run: func(t *testing.T, c *Client) {
			mustGet(t, c, a)
			time.Sleep(2 * time.Second)
			page(t, c, b, 5*time.Second)
			mustGet(t, c, a)
		}, want: map[string][]float64{a: {0, 10}, b: {5}}},
		"long after the last request": {run: func(t *testing.T, c *Client) {
			mustGet(t, c, a)
			time.Sleep(time.Minute)
			page(t, c, b, 5*time.Second)
		}, want: map[string][]float64{a: {0}, b: {60}}},
		"the longest": {run: func(t *testing.T, c *Client) {
			for _, seconds := range []time.Duration{2, 5, 1, 0, -1} {
				page(t, c, a, seconds*time.Second)
			}
		}, want: map[string][]float64{a: {0, 5, 10, 15, 20}}},
		"the Client's is longer": {rate: 0.1, run: func(t *testing.T, c *Client) {
			page(t, c, a, 5*time.Second)
			page(t, c, a, 5*time.Second)
		}, want: map[string][]float64{a: {0, 10}}},
		"with robots.txt": {robots: "Crawl-delay: 3", run: func(t *testing.T, c *Client) {
			page(t, c, a, 5*time.Second)
			page(t, c, b, 5*time.Second)
		}, want: map[string][]float64{robotsURL: {0}, a: {5}, b: {10}}},
		"a longer Crawl-delay": {robots: "Crawl-delay: 7", run: func(t *testing.T, c *Client) {
			page(t, c, a, 5*time.Second)
			page(t, c, b, 5*time.Second)
		}, want: map[string][]float64{robotsURL: {0}, a: {7}, b: {14}}},
		"another host": {run: func(t *testing.T, c *Client) {
			page(t, c, a, 5*time.Second)
			mustGet(t, c, other)
			mustGet(t, c, other)
		}, want: map[string][]float64{a: {0}, other: {0, 0}}},
		"of redirects": {run: func(t *testing.T, c *Client) {
			page(t, c, other+"from", 5*time.Second)
			page(t, c, other+"from", 5*time.Second)
			mustGet(t, c, a)
		}, want: map[string][]float64{other + "from": {0, 5}, a: {0, 5, 10}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb()
				for _, url := range []string{a, b, other} {
					w.answers[url] = reply(200, "x")
				}
				w.answers[other+"from"] = reply(302, "", "Location: "+a)
				w.answers[robotsURL] = reply(200, "User-agent: *\n"+test.robots)
				c := w.client()
				c.IgnoreRobots = test.robots == ""
				if test.rate != 0 {
					c.Rate = test.rate
				}
				test.run(t, c)
				for url, want := range test.want {
					sameTimes(t, want, w.times(url), url)
				}
			})
		})
	}
}

// TestIntervalOfTheQueue: calls that wait already keep an Interval that another asks for.
func TestIntervalOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/a"] = reply(200, "x")
		c := w.client()
		c.Rate = 1
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() { mustGet(t, c, "http://example.org/a") })
		}
		time.Sleep(time.Second / 2)
		page(t, c, "http://example.org/a", 5*time.Second)
		group.Wait()
		at := w.times("http://example.org/a")
		require.Len(t, at, 4)
		w.apart(t, 5)
	})
}

// TestIntervalAcrossRestarts: whether the first process ends with CloseIdleConnections or
// is killed, the next one keeps the interval, even if its own requests ask for none.
func TestIntervalAcrossRestarts(t *testing.T) {
	for _, closed := range []bool{true, false} {
		for _, next := range []time.Duration{5 * time.Second, 0} {
			t.Run(fmt.Sprintf("closed %t, then %v", closed, next), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWeb()
					w.answers["http://example.org/a"] = reply(200, "x")
					s := new(memState)
					for i, interval := range []time.Duration{5 * time.Second, next, next} {
						c := w.processes(1, 0, s)[0]
						for range 3 {
							page(t, c, "http://example.org/a", interval)
						}
						if closed {
							c.CloseIdleConnections()
						}
						time.Sleep(time.Duration(i) * time.Second)
					}
					sameTimes(t, []float64{0, 5, 10, 15, 20, 25, 30, 35, 40}, w.times("http://example.org/a"))
				})
			})
		}
	}
}

// TestIntervalIsReplaced: a process whose requests ask for a shorter Interval than those
// of an earlier process keeps the shorter one.
func TestIntervalIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/a"] = reply(200, "x")
		s := new(memState)
		for _, interval := range []time.Duration{5 * time.Second, 2 * time.Second} {
			c := w.processes(1, 0, s)[0]
			page(t, c, "http://example.org/a", interval)
			page(t, c, "http://example.org/a", interval)
			c.CloseIdleConnections()
		}
		sameTimes(t, []float64{0, 5, 10, 12}, w.times("http://example.org/a"))
	})
}

// TestProcessesShareIntervals: several processes that ask for an Interval keep it
// together, also if one of them has reserved the host before for quick requests.
func TestProcessesShareIntervals(t *testing.T) {
	for name, test := range map[string]struct {
		quick    int
		interval time.Duration
	}{"at once": {0, 5 * time.Second}, "after quick requests": {40, 5 * time.Second}, "inside a reservation": {37, 2 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb()
				w.answers["http://example.org/a"] = reply(200, "x")
				clients := w.processes(3, 0, new(memState))
				for range test.quick {
					mustGet(t, clients[0], "http://example.org/a")
				}
				w.seen = nil
				var group sync.WaitGroup
				for i, c := range clients {
					group.Go(func() {
						time.Sleep(time.Duration(i) * 100 * time.Millisecond)
						for range 10 {
							page(t, c, "http://example.org/a", test.interval)
						}
					})
				}
				group.Wait()
				require.Len(t, w.seen, 30)
				w.apart(t, test.interval.Seconds())
			})
		})
	}
}
