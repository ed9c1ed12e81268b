package fetch

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// restart returns a new Client with a State.
func (w *web) restart(s *memState) *Client {
	c := w.obedient()
	c.state = s
	c.Rate = 1
	return c
}

func TestStateOfHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		s := new(memState)
		w.answers["http://example.org/a"] = then(reply(503, "", "Retry-After: 100"), reply(200, "x"))
		w.answers["http://example.org/b"] = reply(200, "x")
		c := w.restart(s)
		c.Attempts = 1
		assert.Empty(t, c.Unsaved())
		_, err := get(t.Context(), c, "http://example.org/a")
		require.ErrorIs(t, err, harvest.ErrTemporary)
		assert.Equal(t, 3, s.swaps, "two requests and the wait are written at once")
		assert.Contains(t, s.m, "fetch/host/http://example.org")
		assert.Equal(t, 2, s.commit(c))
		assert.Contains(t, s.m, "fetch/hosts")
		assert.Contains(t, s.m, "fetch/host/http://example.org")
		assert.Contains(t, s.m, "fetch/robots/http://example.org")
		assert.Empty(t, c.Unsaved(), "nothing has changed since")

		// After a kill the gate is still closed.
		c = w.restart(s)
		mustGet(t, c, "http://example.org/b")
		assert.Len(t, w.times(robotsURL), 1)
		sameTimes(t, []float64{101}, w.times("http://example.org/b"))
	})
}

// After a start, a call for a known host waits one interval, that for an unknown one does
// not. The State holds Crawl-delay.
func TestStateOfInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		s := new(memState)
		w.answers[robotsURL] = reply(200, "User-agent: *\nCrawl-delay: 20\nDisallow: /b")
		w.answers["http://example.org/a"] = reply(200, "x")
		c := w.restart(s)
		mustGet(t, c, "http://example.org/a")
		assert.Equal(t, 2, s.commit(c))
		mustGet(t, c, "http://example.org/a")
		assert.Empty(t, c.Unsaved())
		for range 2 {
			c = w.restart(s)
			mustGet(t, c, "http://example.org/a")
			_, err := get(t.Context(), c, "http://example.org/b")
			require.ErrorIs(t, err, harvest.ErrForbidden)
			s.commit(c)
		}
		sameTimes(t, []float64{20, 40, 60, 80}, w.times("http://example.org/a"))
		assert.Len(t, w.times(robotsURL), 1)
	})
}

// A restart keeps since when robots.txt is unreachable, but requests it again at once.
func TestStateOfUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		s := new(memState)
		w.answers[robotsURL] = reply(500, "")
		w.answers["http://example.org/a"] = reply(200, "x")
		for range 2 {
			c := w.restart(s)
			_, err := get(t.Context(), c, "http://example.org/a")
			require.ErrorIs(t, err, harvest.ErrTemporary)
			s.commit(c)
		}
		assert.Len(t, w.times(robotsURL), 8)
		time.Sleep(31 * 24 * time.Hour)
		mustGet(t, w.restart(s), "http://example.org/a")
	})
}

// A State that fails or holds nonsense costs politeness, never the harvest.
func TestBadState(t *testing.T) {
	for name, s := range map[string]*memState{
		"failing": {err: errors.New("disk full")},
		"nonsense": {m: map[string][]byte{
			"fetch/host/http://example.org": []byte("\xff"), "fetch/robots/http://example.org": []byte("{"),
		}},
		"far future": {m: map[string][]byte{
			"fetch/host/http://example.org":   []byte(`{"until":"9999-01-01T00:00:00Z","refusals":-7}`),
			"fetch/robots/http://example.org": []byte(`{"checked":"9999-01-01T00:00:00Z"}`),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb()
				w.answers["http://example.org/a"] = then(reply(503, "", "Retry-After: 20"), reply(200, "x"))
				c := w.restart(s)
				c.MaxWait = -1
				c.MaxRetryAfter = time.Hour
				mustGet(t, c, "http://example.org/a")
				assert.Less(t, time.Since(w.began), 2*time.Hour)
			})
		})
	}
}

// If nobody calls Unsaved, the Client writes the values itself.
func TestUnsavedIsBounded(t *testing.T) {
	w := newWeb()
	s := new(memState)
	c := w.client()
	c.state = s
	c.start()
	for i := range 100 {
		c.keep(t.Context(), fmt.Sprint(i), []byte(strings.Repeat("x", unsavedLimit/10)))
	}
	assert.Greater(t, s.swaps, 80)
	s.commit(c)
	assert.Len(t, s.m, 100)
}

// The values of a host are deleted when it is not contacted any more, and the number of
// hosts is limited.
func TestStateIsDeleted(t *testing.T) {
	t.Run("long ago", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWeb()
			s := new(memState)
			for _, host := range []string{"a", "b", "c"} {
				w.answers["http://"+host+".example/"] = reply(200, "x")
				w.answers["http://"+host+".example/robots.txt"] = reply(200, "User-agent: *\nDisallow: /x")
			}
			visit := func(hosts ...string) {
				c := w.restart(s)
				for _, host := range hosts {
					mustGet(t, c, "http://"+host+".example/")
				}
				s.commit(c)
			}
			visit("a", "b", "c")
			assert.Len(t, s.m, 7)
			time.Sleep(20 * 24 * time.Hour)
			visit("b")
			assert.Len(t, s.m, 7)
			time.Sleep(11 * 24 * time.Hour)
			visit("c")
			assert.Len(t, s.m, 5)
			assert.NotContains(t, s.m, hostKey("http://a.example"))
			assert.NotContains(t, s.m, robotsKey("http://a.example"))
			time.Sleep(31 * 24 * time.Hour)
			visit("c")
			assert.Len(t, s.m, 3)
		})
	})
	t.Run("in a process that runs on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWeb()
			w.answers["http://a.example/"] = reply(200, "x")
			w.answers["http://b.example/"] = reply(200, "x")
			s := new(memState)
			c := w.restart(s)
			mustGet(t, c, "http://a.example/")
			s.commit(c)
			time.Sleep(31 * 24 * time.Hour)
			mustGet(t, c, "http://b.example/")
			s.commit(c)
			assert.Len(t, s.m, 3)
		})
	})
	t.Run("too many", func(t *testing.T) {
		w := newWeb()
		s := new(memState)
		c := w.client()
		c.IgnoreRobots = false
		c.state = s
		long := reply(200, "User-agent: *\n"+strings.Repeat("Disallow: /x\n", 36<<10))
		for i := range keptHosts + 100 {
			host := fmt.Sprintf("http://h%d.example", i)
			w.answers[host+"/"], w.answers[host+"/robots.txt"] = reply(200, "x"), reply(404, "")
			if i%1000 == 0 {
				w.answers[host+"/robots.txt"] = long
			}
			mustGet(t, c, host+"/")
		}
		s.commit(c)
		size := 0
		for key, value := range s.m {
			size += len(key) + len(value)
		}
		assert.LessOrEqual(t, len(s.m), 2*keptHosts+1)
		assert.Less(t, size, 2<<20)
	})
}

// A robots.txt that is too long to be kept is read again after a restart.
func TestStateOfLongRobots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		s := new(memState)
		w.answers[robotsURL] = reply(200, "User-agent: *\nDisallow: /b\n"+strings.Repeat("Disallow: /x\n", 2000))
		w.answers["http://example.org/a"] = reply(200, "x")
		for range 2 {
			c := w.restart(s)
			mustGet(t, c, "http://example.org/a")
			_, err := get(t.Context(), c, "http://example.org/b")
			require.ErrorIs(t, err, harvest.ErrForbidden)
			s.commit(c)
		}
		assert.Len(t, w.times(robotsURL), 2)
		assert.Less(t, len(s.m[robotsKey("http://example.org")]), 1000)
	})
}
