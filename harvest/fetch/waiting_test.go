package fetch

import (
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

func TestWaiting(t *testing.T) {
	const host = "http://example.org"
	for _, tt := range []struct {
		name  string
		first func(*web, *Client)
		n     int // calls
		at    map[float64]map[string]float64
	}{
		{"nobody", func(w *web, c *Client) { w.answers[host+"/"] = reply(200, "x") }, 3, map[float64]map[string]float64{
			2: {},
		}},
		{"a closed host", func(w *web, c *Client) {
			w.answers[host+"/"] = then(reply(429, "", "Retry-After: 60"), reply(200, "x"))
		}, 1, map[float64]map[string]float64{
			1: {}, 1.5: {host: 60}, 59: {host: 60}, 61: {},
		}},
		{"the rate", func(w *web, c *Client) {
			w.answers[host+"/"] = reply(200, "x")
			c.Rate = 0.2
		}, 3, map[float64]map[string]float64{
			1: {}, 2: {host: 5}, 6: {host: 10}, 11: {},
		}},
		{"short waits, one after the other", func(w *web, c *Client) {
			w.answers[host+"/"] = reply(200, "x")
			c.Rate = 2
		}, 5, map[float64]map[string]float64{
			0.9: {}, 1.25: {host: 1.5}, 2.1: {},
		}},
		{"the next attempt", func(w *web, c *Client) {
			// It waits 1 and 2 seconds.
			w.answers[host+"/"] = then(reply(500, ""), reply(500, ""), reply(200, "x"))
		}, 1, map[float64]map[string]float64{
			0.9: {}, 1.9: {}, 2.1: {host: 3}, 3.1: {},
		}},
		{"a slot, until an unknown time", func(w *web, c *Client) {
			w.answers[host+"/"] = slow(10 * time.Second)
			c.PerHost = 1
		}, 2, map[float64]map[string]float64{
			0.9: {}, 1.1: {host: 0}, 9: {host: 0}, 11: {}, 21: {},
		}},
		{"robots.txt, which another call reads", func(w *web, c *Client) {
			w.answers[host+"/robots.txt"] = slow(10 * time.Second)
			w.answers[host+"/"] = reply(200, "x")
			c.IgnoreRobots = false
		}, 2, map[float64]map[string]float64{
			0.9: {}, 1.1: {host: 0}, 11: {},
		}},
		{"the rest of a body", func(w *web, c *Client) {
			f := half()
			w.answers[host+"/"] = then(f.answer, reply(503, "", "Retry-After: 50"), f.answer)
		}, 1, map[float64]map[string]float64{
			0.9: {}, 2.1: {host: 51}, 52: {},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb()
				w.answers["http://other.example/"] = reply(200, "x")
				c := w.client()
				tt.first(w, c)
				for at, want := range tt.at {
					time.AfterFunc(time.Duration(at*float64(time.Second)), func() {
						got := map[string]float64{}
						for host, until := range c.Waiting() {
							got[host] = 0
							if !until.IsZero() {
								got[host] = until.Sub(w.began).Seconds()
							}
						}
						assert.InDeltaMapValues(t, want, got, 1e-3, "after %v seconds", at)
					})
				}
				for _, err := range all(t, c, append(repeat(host+"/", tt.n), "http://other.example/")...) {
					require.NoError(t, err)
				}
				time.Sleep(time.Hour)
				assert.Zero(t, waits(c))
			})
		})
	}
}

// Waiting may be called at any time.
func TestWaitingConcurrently(t *testing.T) {
	w := newWeb()
	w.answers["http://example.org/"] = reply(200, "x")
	c := w.client()
	c.Rate, c.PerHost = 1000, 2
	stop := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				c.Waiting()
			}
		}
	})
	for _, err := range all(t, c, repeat("http://example.org/", 50)...) {
		require.NoError(t, err)
	}
	close(stop)
	asking.Wait()
	assert.Zero(t, waits(c))
}

// The end of a call ends its wait.
func TestWaitingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/"] = slow(time.Hour)
		c := w.client()
		c.PerHost, c.MaxWait, c.Inactivity = 1, 10*time.Second, -1
		for _, err := range all(t, c, repeat("http://example.org/", 2)...) {
			if err != nil {
				require.ErrorIs(t, err, harvest.ErrNotYet)
			}
		}
		assert.Zero(t, waits(c))

		w.answers["http://example.org/"] = fail(io.EOF)
		_, err := get(t.Context(), c, "http://example.org/")
		require.Error(t, err)
		assert.Zero(t, waits(c))
	})
}

// waits returns how many calls of c wait.
func waits(c *Client) (n int) {
	for range c.waits.Range {
		n++
	}
	return n
}
