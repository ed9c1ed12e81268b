package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

const refusing = "https://example.org/"

// A trial is a host that is asked for pages by runs.
type trial struct {
	*testing.T
	web    *web
	client *Client
	began  time.Time
	list   bool
}

func newTrial(t *testing.T, state websync.State) *trial {
	w := newWeb()
	c := New(state)
	c.Transport, c.IgnoreRobots = w, true
	return &trial{T: t, web: w, client: c, began: time.Now()}
}

// run begins another run.
func (r *trial) run() {
	time.Sleep(time.Millisecond)
	r.began = time.Now()
}

// get asks for n pages, 8 at a time as the engine does, and returns how many requests
// were made and how many pages came or were left alone.
func (r *trial) get(n int) (requests, got, alone int) {
	before := len(r.web.urls())
	urls, errs := make(chan string), make(chan error)
	for range 8 {
		go func() {
			for u := range urls {
				resp, err := r.client.Fetch(r.Context(), &harvest.Request{URL: u, Began: r.began, List: r.list})
				if err == nil {
					resp.Body.Close()
				}
				errs <- err
			}
		}()
	}
	go func() {
		for i := range n {
			urls <- fmt.Sprint(refusing, i)
		}
		close(urls)
	}()
	for range n {
		err := <-errs
		if _, ok := errors.AsType[*harvest.LeftAloneError](err); ok {
			require.ErrorIs(r, err, harvest.ErrNotYet)
			require.ErrorIs(r, err, harvest.ErrTemporary)
			alone++
		} else if err == nil {
			got++
		}
	}
	return len(r.web.urls()) - before, got, alone
}

// answer makes the host give all of n pages this answer.
func (r *trial) answer(n int, a answer) {
	r.web.mu.Lock()
	defer r.web.mu.Unlock()
	for i := range n {
		r.web.answers[fmt.Sprint(refusing, i)] = a
	}
}

// A host that refuses everything is left alone, and the next run begins with one request.
func TestRefusingHostIsLeftAlone(t *testing.T) {
	const pages = 12
	for _, test := range []struct {
		name   string
		answer answer
		list   bool
	}{
		{name: "429", answer: reply(429, "")},
		{name: "503", answer: reply(503, "")},
		{name: "503 for lists", answer: reply(503, ""), list: true},
		{name: "429 with Retry-After", answer: reply(429, "", "Retry-After: 2")},
		{name: "after a redirect", answer: reply(429, "", "Location: /")},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/restarted=%t", test.name, restarted), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					state := harvest.NewCatalog(memstore.New())
					r := newTrial(t, state)
					r.list = test.list
					r.answer(pages, test.answer)
					requests, got, alone := r.get(pages)
					assert.Equal(t, 5, requests)
					assert.Zero(t, got)
					assert.GreaterOrEqual(t, alone, pages-1, "a page may use up its attempts")

					next := func() {
						r.run()
						if restarted {
							r.client = New(state)
							r.client.Transport, r.client.IgnoreRobots = r.web, true
						}
					}
					for range 3 {
						next()
						requests, got, alone = r.get(pages)
						assert.Equal(t, 1, requests, "one probe")
						assert.Zero(t, got)
						assert.Equal(t, pages, alone)
						requests, _, _ = r.get(pages)
						assert.Zero(t, requests, "nothing more in this run")
					}
					r.answer(pages, reply(200, "text"))
					next()
					requests, got, _ = r.get(pages)
					assert.Equal(t, pages, requests)
					assert.Equal(t, pages, got, "the probe succeeds")
				})
			})
		}
	}
}

// The others wait until the probe is answered.
func TestProbeIsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTrial(t, nil)
		r.answer(12, reply(429, ""))
		r.get(12)
		r.run()
		slow := reply(200, "text")
		r.answer(12, func(req *http.Request) (*http.Response, error) {
			time.Sleep(10 * time.Second)
			return slow(req)
		})
		before := len(r.web.seen)
		_, got, _ := r.get(12)
		assert.Equal(t, 12, got)
		assert.GreaterOrEqual(t, r.web.seen[before+1].At-r.web.seen[before].At, 10*time.Second)
	})
}

func TestNotLeftAlone(t *testing.T) {
	const anyNumber = -1
	for _, test := range []struct {
		name    string
		prepare func(r *trial)
		want    int // requests for 12 pages
	}{
		{"no limit", func(r *trial) { r.client.MaxRefusals = -1; r.answer(12, reply(503, "")) }, 48},
		{"a limit of its own", func(r *trial) { r.client.MaxRefusals = 7; r.answer(12, reply(503, "")) }, 7},
		{"not of a run", func(r *trial) { r.began = time.Time{}; r.answer(12, reply(503, "")) }, 48},
		{"another error", func(r *trial) { r.answer(12, reply(500, "")) }, 48},
		{"successes between", func(r *trial) {
			n := 0
			r.answer(12, func(req *http.Request) (*http.Response, error) {
				r.web.mu.Lock()
				defer r.web.mu.Unlock()
				if n++; n%3 == 0 {
					return reply(200, "")(req)
				}
				return reply(429, "")(req)
			})
		}, anyNumber},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newTrial(t, nil)
				r.client.MaxWait = -1
				test.prepare(r)
				requests, _, alone := r.get(12)
				if test.want == anyNumber {
					assert.Zero(t, alone)
					return
				}
				assert.Equal(t, test.want, requests)
			})
		})
	}
}

// However long a run lasts, the host is not left alone for ever, and never before its
// Retry-After.
func TestLeftAloneForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTrial(t, nil)
		r.answer(12, reply(429, "", "Retry-After: 7200"))
		requests, _, _ := r.get(12)
		assert.Equal(t, 1, requests, "it is closed at once")
		time.Sleep(time.Hour + time.Minute)
		r.run()
		requests, _, _ = r.get(12)
		assert.Zero(t, requests)
	})
	synctest.Test(t, func(t *testing.T) {
		r := newTrial(t, nil)
		r.answer(12, reply(429, ""))
		r.get(12)
		r.answer(12, reply(200, ""))
		requests, _, _ := r.get(12)
		assert.Zero(t, requests)
		time.Sleep(leftAlone + time.Second)
		_, got, _ := r.get(12)
		assert.Equal(t, 12, got)
	})
}

// A process that shares the State leaves the host alone, too.
func TestProcessesShareRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := harvest.NewCatalog(memstore.New())
		r := newTrial(t, state)
		r.answer(12, reply(429, ""))
		r.get(12)
		other := New(state)
		other.Transport, other.IgnoreRobots = r.web, true
		r.client = other
		requests, _, alone := r.get(12) // its run began before
		assert.Zero(t, requests)
		assert.Equal(t, 12, alone)
	})
}
