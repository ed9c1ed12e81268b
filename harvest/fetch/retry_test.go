package fetch

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// Errors wrap their causes.
func TestCauses(t *testing.T) {
	for _, cause := range []error{
		syscall.ECONNREFUSED, syscall.ECONNRESET, os.ErrDeadlineExceeded, io.EOF, http.ErrSchemeMismatch,
	} {
		w := newWeb()
		w.answers["http://example.org/"] = fail(&net.OpError{Op: "read", Net: "tcp", Err: cause})
		c := w.client()
		c.Attempts = 1
		_, err := get(t.Context(), c, "http://example.org/")
		require.ErrorIs(t, err, cause)
		e, ok := errors.AsType[*RequestError](err)
		require.True(t, ok)
		assert.Equal(t, "http://example.org/", e.RequestURL())
	}
}

func TestRetrySucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/"] = then(reply(500, ""), fail(io.EOF), reply(503, ""), reply(200, "x"))
		c := w.client()
		assert.Equal(t, "x", mustGet(t, c, "http://example.org/"))
		assert.Zero(t, c.hosts.m["http://example.org"].refusals)
	})
}

func TestAttemptsLimit(t *testing.T) {
	for limit, want := range map[int]int{-1: 1, 1: 1, 2: 2, 0: 4, 12: 12} {
		synctest.Test(t, func(t *testing.T) {
			w := newWeb()
			w.answers["http://example.org/"] = reply(500, "")
			c := w.client()
			c.Attempts, c.MaxWait = limit, -1
			_, err := get(t.Context(), c, "http://example.org/")
			require.Error(t, err)
			times := w.times("http://example.org/")
			assert.Len(t, times, want)
			if want == 12 {
				assert.Equal(t, 60.0, times[11]-times[10], "the cap")
			}
		})
	}
}

// The wait is random between 0 and the ceiling.
func TestJitter(t *testing.T) {
	c := New(nil)
	for n, ceiling := range map[int]time.Duration{1: time.Second, 3: 4 * time.Second, 7: time.Minute, 1000: time.Minute} {
		var low, high int
		for range 1000 {
			d := c.backoff(n)
			require.GreaterOrEqual(t, d, time.Duration(0))
			require.Less(t, d, ceiling)
			if d < ceiling/4 {
				low++
			}
			if d > 3*ceiling/4 {
				high++
			}
		}
		assert.InDelta(t, 250, low, 100)
		assert.InDelta(t, 250, high, 100)
	}
}

// Inactivity is that of the host: a slow caller only has to obey Timeout.
func TestSlowCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		w.answers["http://example.org/"] = trickle(1, time.Second)
		resp, err := w.client().Fetch(t.Context(), &harvest.Request{URL: "http://example.org/"})
		require.NoError(t, err)
		defer resp.Body.Close()
		one := make([]byte, 1)
		for range 5 {
			time.Sleep(5 * time.Minute)
			_, err = resp.Body.Read(one)
			require.NoError(t, err)
		}
		time.Sleep(5 * time.Minute)
		_, err = resp.Body.Read(one)
		require.ErrorIs(t, err, errTooLong)
	})
}

// A body that comes too slowly, or for too long, ends its attempt, which gives its slot
// back. The time that the reader takes does not count as slow.
func TestMinSpeed(t *testing.T) {
	for _, tt := range []struct {
		name   string
		speed  int64
		answer answer
		lasts  time.Duration
	}{
		{"a byte now and then", 0, trickle(1, 29*time.Second), time.Minute},
		{"all but enough", 0, trickle(1365, 9*time.Second), time.Minute},
		{"enough", 0, trickle(1366, 9*time.Second), 30 * time.Minute},
		{"a setting", 10, trickle(1, 5*time.Second), 30 * time.Minute},
		{"none", -1, trickle(1, 29*time.Second), 30 * time.Minute},
		{"fast, then slow", 0, slowsDown(100 << 10), 63*time.Second + time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb()
				w.answers["http://example.org/"] = tt.answer
				c := w.client()
				c.MinSpeed, c.PerHost, c.Attempts = tt.speed, 1, -1
				_, err := c.Fetch(t.Context(), &harvest.Request{URL: "http://example.org/", Spool: true})
				require.ErrorIs(t, err, harvest.ErrTemporary)
				require.ErrorIs(t, err, websync.ErrTruncated)
				var timeout net.Error
				require.ErrorAs(t, err, &timeout)
				assert.True(t, timeout.Timeout())
				assert.Equal(t, tt.lasts, time.Since(w.began))
				w.answers["http://example.org/"] = reply(200, "x")
				mustGet(t, c, "http://example.org/")
				assert.Equal(t, tt.lasts, time.Since(w.began), "the slot is free")
			})
		})
	}
	t.Run("a slow reader", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWeb()
			w.answers["http://example.org/"] = reply(200, "0123456789")
			c := w.client()
			c.Timeout = -1
			resp, err := c.Fetch(t.Context(), &harvest.Request{URL: "http://example.org/"})
			require.NoError(t, err)
			defer resp.Body.Close()
			for range 10 {
				time.Sleep(time.Hour)
				_, err := io.ReadFull(resp.Body, make([]byte, 1))
				require.NoError(t, err)
			}
		})
	})
}

// slowsDown sends most bytes in a minute, and then one every nine seconds.
func slowsDown(most int) answer {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := trickle(most/6, 9*time.Second)(r)
		fast, began := resp.Body, time.Now()
		slow, _ := trickle(1, 9*time.Second)(r)
		resp.Body = io.NopCloser(readerFunc(func(p []byte) (int, error) {
			if time.Since(began) < time.Minute {
				return fast.Read(p)
			}
			return slow.Body.Read(p)
		}))
		return resp, err
	}
}
