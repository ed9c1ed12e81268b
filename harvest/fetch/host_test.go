package fetch

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// all gets the URLs at the same time and returns the errors.
func all(t *testing.T, c *Client, urls ...string) []error {
	errs := make([]error, len(urls))
	var wg sync.WaitGroup
	for i, url := range urls {
		wg.Go(func() { _, errs[i] = get(t.Context(), c, url) })
	}
	wg.Wait()
	return errs
}

func repeat(url string, n int) []string {
	urls := make([]string, n)
	for i := range urls {
		urls[i] = url
	}
	return urls
}

// slow answers after d.
func slow(d time.Duration) answer {
	return func(r *http.Request) (*http.Response, error) {
		time.Sleep(d)
		return reply(200, "x")(r)
	}
}

func TestRate(t *testing.T) {
	for _, tt := range []struct {
		rate float64
		want []float64
	}{
		{0, []float64{0, 0.2, 0.4, 0.6}},
		{10, []float64{0, 0.1, 0.2, 0.3}},
		{0.2, []float64{0, 5, 10, 15}},
		{-1, []float64{0, 0, 0, 0}},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWeb()
			w.answers["http://example.org/"] = reply(200, "x")
			w.answers["http://example.org:8080/"] = reply(200, "x")
			c := w.client()
			c.Rate = tt.rate
			urls := append(repeat("http://example.org/", 4), repeat("http://example.org:8080/", 4)...)
			for _, err := range all(t, c, urls...) {
				require.NoError(t, err)
			}
			sameTimes(t, tt.want, w.times("http://example.org/"))
			sameTimes(t, tt.want, w.times("http://example.org:8080/"), "another port is another host")
		})
	}
}

func TestConcurrency(t *testing.T) {
	for _, tt := range []struct{ perHost, all, hosts, want int }{
		{0, 0, 1, 4}, {0, 0, 20, 32}, {2, 0, 3, 6}, {2, 3, 3, 3}, {-1, 0, 1, 32}, {-1, -1, 2, 80},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWeb()
			var urls []string
			for i := range tt.hosts {
				url := fmt.Sprintf("http://h%d.example/", i)
				w.answers[url] = slow(time.Second)
				urls = append(urls, repeat(url, 40)...)
			}
			c := w.client()
			c.PerHost, c.Concurrency = tt.perHost, tt.all
			for _, err := range all(t, c, urls...) {
				require.NoError(t, err)
			}
			assert.Equal(t, tt.want, w.most)
		})
	}
}

// A slot is held until the body is closed or read to its end.
func TestSlotIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/"] = reply(200, "x")
		c := w.client()
		c.PerHost = 1
		req := &harvest.Request{URL: "http://example.org/"}
		for name, end := range map[string]func(*harvest.Response){
			"closed": func(r *harvest.Response) { r.Body.Close(); r.Body.Close() },
			"read":   func(r *harvest.Response) { r.Body.Read(make([]byte, 9)); r.Body.Read(make([]byte, 9)) },
		} {
			resp, err := c.Fetch(t.Context(), req)
			require.NoError(t, err)
			time.AfterFunc(3*time.Second, func() { end(resp) })
			began := time.Now()
			mustGet(t, c, req.URL)
			assert.Equal(t, 3*time.Second, time.Since(began), name)
		}
	})
}

// Calls that wait for a slow host hold no slot of the Client.
func TestSlowHostDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://slow.example/"] = reply(429, "", "Retry-After: 60")
		w.answers["http://fast.example/"] = reply(200, "x")
		c := w.client()
		c.Concurrency = 1
		var wg sync.WaitGroup
		wg.Go(func() { all(t, c, repeat("http://slow.example/", 3)...) })
		time.Sleep(time.Second)
		mustGet(t, c, "http://fast.example/")
		assert.Equal(t, time.Second, time.Since(w.began))
		wg.Wait()
	})
}

// When a host is closed, and for how long, is in testdata/retries.md.
func TestOnWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/a"] = then(reply(429, "", "Retry-After: 7"), reply(200, "x"))
		c := w.client()
		var waits []time.Duration
		c.OnWait = func(host string, until time.Time) {
			assert.Equal(t, "http://example.org", host)
			waits = append(waits, until.Sub(w.began))
		}
		mustGet(t, c, "http://example.org/a")
		assert.Equal(t, []time.Duration{7 * time.Second}, waits)
	})
}

// synctestEpoch is the time at which a bubble of synctest begins.
var synctestEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// A Retry-After that one caller gets closes the host for all.
func TestClosedForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/a"] = reply(429, "", "Retry-After: 100")
		w.answers["http://example.org/b"] = reply(200, "x")
		w.answers["http://other.example/"] = reply(200, "x")
		c := w.client()
		c.Attempts = 1
		_, err := get(t.Context(), c, "http://example.org/a")
		at, ok := harvest.RetryAfter(err)
		require.True(t, ok)
		assert.Equal(t, 100*time.Second, at.Sub(w.began))
		for _, err := range all(t, c, "http://example.org/b", "http://other.example/", "http://example.org/b") {
			require.NoError(t, err)
		}
		assert.Equal(t, []float64{0}, w.times("http://other.example/"))
		assert.Equal(t, []float64{100, 100}, w.times("http://example.org/b"))
	})
}

// A call that has its turn but no slot yet does not send when its host is closed.
func TestClosedBeforeSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/a"] = func(r *http.Request) (*http.Response, error) {
			time.Sleep(5 * time.Second)
			return reply(503, "", "Retry-After: 100")(r)
		}
		w.answers["http://example.org/b"] = reply(200, "x")
		w.answers["http://other.example/"] = slow(10 * time.Second)
		c := w.client()
		c.Concurrency, c.Attempts = 2, 1
		var wg sync.WaitGroup
		for _, url := range []string{"http://other.example/", "http://example.org/a", "http://example.org/b"} {
			wg.Go(func() { get(t.Context(), c, url) })
			synctest.Wait()
		}
		wg.Wait()
		sameTimes(t, []float64{105}, w.times("http://example.org/b"))
	})
}

// Answers to requests of the same time count once: four transfers that end in 503 do not
// make the wait eight times as long.
func TestConcurrentRefusalsCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/"] = func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return reply(503, "")(r)
		}
		c := w.client()
		c.Attempts = 1
		all(t, c, repeat("http://example.org/", 4)...)
		assert.Equal(t, 2*time.Second, c.hosts.m["http://example.org"].until.Sub(w.began))
	})
}

// The wait grows with each refusal in a row. The longer of it and Retry-After counts.
func TestRefusalsGrow(t *testing.T) {
	for name, tt := range map[string]struct {
		header []string
		want   []float64
	}{
		"without":                {nil, []float64{0, 1, 3, 7, 15, 31, 63, 123, 183}},
		"no seconds":             {[]string{"Retry-After: 0"}, []float64{0, 1, 3, 7, 15, 31, 63, 123, 183}},
		"a date that has passed": {[]string{"Retry-After: Wed, 21 Oct 1998 07:28:00 GMT"}, []float64{0, 1, 3, 7, 15, 31, 63, 123, 183}},
		"some seconds":           {[]string{"Retry-After: 10"}, []float64{0, 10, 20, 30, 40, 56, 88, 148, 208}},
		"a long time":            {[]string{"Retry-After: 100"}, []float64{0, 100, 200, 300, 400, 500, 600, 700, 800}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb()
				w.answers["http://example.org/"] = reply(503, "", tt.header...)
				c := w.client()
				c.Attempts = -1
				for range 9 {
					_, err := get(t.Context(), c, "http://example.org/")
					require.ErrorIs(t, err, harvest.ErrTemporary)
				}
				sameTimes(t, tt.want, w.times("http://example.org/"))
			})
		})
	}
}

// All waits of one Fetch count together: for a slot, for robots.txt, between attempts.
func TestPatienceIsOne(t *testing.T) {
	for _, tt := range []struct {
		maxWait time.Duration
		asked   int
	}{{34 * time.Second, 1}, {36 * time.Second, 2}} {
		synctest.Test(t, func(t *testing.T) {
			w := newWeb()
			// It waits 1 and 2 seconds.
			w.answers[robotsURL] = then(reply(500, ""), reply(500, ""), reply(404, ""))
			w.answers["http://example.org/a"] = then(reply(429, "", "Retry-After: 10"), reply(200, "x"))
			c := w.obedient()
			c.PerHost, c.MaxWait = 1, tt.maxWait
			// During the third request for robots.txt.
			time.AfterFunc(3*time.Second-1, func() {
				h := c.hosts.m["http://example.org"]
				h.slots <- struct{}{}
				time.AfterFunc(22*time.Second+1, func() { <-h.slots })
			})
			_, err := get(t.Context(), c, "http://example.org/a")
			assert.Equal(t, tt.asked == 1, err != nil)
			assert.Len(t, w.times("http://example.org/a"), tt.asked)
		})
	}
}

// A call that would wait in the queue for too long fails at once.
func TestLongQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/"] = reply(200, "x")
		c := w.client()
		c.Rate, c.MaxWait = 0.1, time.Minute
		var asked atomic.Int32
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				_, err := get(t.Context(), c, "http://example.org/")
				if err == nil {
					asked.Add(1)
					return
				}
				assert.Zero(t, time.Since(w.began))
				assert.ErrorIs(t, err, harvest.ErrNotYet)
				at, _ := harvest.RetryAfter(err)
				assert.Greater(t, at.Sub(w.began), time.Minute)
			})
		}
		wg.Wait()
		assert.Equal(t, int32(7), asked.Load())
		assert.Equal(t, time.Minute, time.Since(w.began))

		c = w.client()
		c.PerHost, c.MaxWait = 1, time.Minute
		w.answers["http://example.org/"] = slow(time.Hour)
		c.Inactivity = -1
		go get(t.Context(), c, "http://example.org/")
		synctest.Wait()
		_, err := get(t.Context(), c, "http://example.org/")
		require.ErrorIs(t, err, harvest.ErrNotYet, "no slot becomes free")
		time.Sleep(2 * time.Hour)
	})
}

func TestMaxRetryAfter(t *testing.T) {
	for limit, want := range map[time.Duration]time.Duration{0: 24 * time.Hour, time.Hour: time.Hour, -1: 100000 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			w := newWeb()
			w.answers["http://example.org/"] = reply(503, "", "Retry-After: 360000000")
			c := w.client()
			c.MaxRetryAfter = limit
			_, err := get(t.Context(), c, "http://example.org/")
			at, _ := harvest.RetryAfter(err)
			assert.Equal(t, want, at.Sub(w.began))
		})
	}
}

// A redirect waits for its turn at the host to which it leads.
func TestRedirectsAreGated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://a.example/"] = reply(302, "", "Location: http://b.example/")
		w.answers["http://b.example/"] = reply(200, "x")
		c := w.client()
		c.Rate, c.PerHost, c.Concurrency = 1, 1, 1
		for _, err := range all(t, c, repeat("http://a.example/", 3)...) {
			require.NoError(t, err)
		}
		mustGet(t, c, "http://b.example/")
		sameTimes(t, []float64{0, 1, 2}, w.times("http://a.example/"))
		sameTimes(t, []float64{0, 1, 2, 3}, w.times("http://b.example/"))
	})
}

// However a call ends, it gives its slots back.
func TestNothingLeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		url := "http://example.org/"
		w.answers[url] = then(
			reply(404, "x"), reply(302, "", "Location: ftp://x/"), fail(fmt.Errorf("broken")), reply(304, ""), hang,
			reply(200, "x", "Content-Encoding: br"), reply(200, "x"), reply(200, "x"))
		c := w.client()
		c.PerHost, c.Attempts = 1, 1
		for range 6 {
			_, err := get(t.Context(), c, url)
			require.Error(t, err)
		}
		_, err := c.Fetch(t.Context(), &harvest.Request{URL: url, MaxBytes: -1, Spool: true})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = get(ctx, c, url)
		require.NoError(t, err, "there is no wait, and the fake ignores the context")
		h := c.hosts.m["http://example.org"]
		assert.Empty(t, h.slots)
		assert.Empty(t, h.turn)
		assert.Empty(t, c.set.slots)
		assert.Zero(t, h.users)
		assert.Zero(t, w.running)
	})
}

// However many hosts there are, memory is bounded.
func TestHostsAreForgotten(t *testing.T) {
	w := newWeb()
	c := w.client()
	c.Attempts = 1
	busy := c.host(t.Context(), "http://busy.example", "")
	for i := range 2*hostBudget/hostSize + 10 {
		c.hosts.leave(c.host(t.Context(), fmt.Sprintf("http://%d.example", i), ""))
	}
	assert.LessOrEqual(t, c.hosts.size, hostBudget)
	assert.GreaterOrEqual(t, len(c.hosts.m), hostBudget/hostSize/8*7)
	assert.Same(t, busy, c.hosts.m["http://busy.example"])
}
