package harvest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
)

// hosts answers requests with one status for each host.
type hosts struct {
	mu     sync.Mutex
	status map[string]int
	asked  map[string]int
}

func (h *hosts) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked[r.URL.Host]++
	return &http.Response{
		StatusCode: h.status[r.URL.Host], Header: http.Header{}, Request: r, ContentLength: 4, Body: io.NopCloser(strings.NewReader("text")),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// A refusingWorld is a Store and a Harvester with the Client of package fetch.
type refusingWorld struct {
	*testing.T
	hosts *hosts
	tasks *taskCounter
	h     *harvest.Harvester
}

// A taskCounter counts the tasks that Commits store.
type taskCounter struct {
	harvest.Store
	n int
}

func (c *taskCounter) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	return c.Store.Update(ctx, func(tx harvest.Tx) error { return fn(countedTx{tx, c}) })
}

type countedTx struct {
	harvest.Tx
	c *taskCounter
}

func (tx countedTx) Set(key, value []byte) error {
	if key[0] == 't' {
		tx.c.n++
	}
	return tx.Tx.Set(key, value)
}

func newRefusingWorld(t *testing.T) *refusingWorld {
	w := &refusingWorld{T: t, hosts: &hosts{status: map[string]int{}}, tasks: &taskCounter{Store: memstore.New()}}
	w.h = &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(w.tasks)}
	return w
}

// run makes a run by a new process, and returns the requests for each host and the number
// of tasks that were stored.
func (w *refusingWorld) run(s harvest.Source) (r *harvest.Report, asked map[string]int, stored int) {
	w.Helper()
	time.Sleep(time.Second)
	w.hosts.asked, w.tasks.n = map[string]int{}, 0
	c := fetch.New(w.h.Catalog)
	c.Transport, c.IgnoreRobots, c.Rate = w.hosts, true, 1000
	w.h.Fetcher = c
	r, err := w.h.Run(w.Context(), s)
	require.NoError(w, err)
	return r, w.hosts.asked, w.tasks.n
}

// listed returns a snapshot of n pages of each host.
func listed(n int, hosts ...string) harvest.Source {
	var events []harvest.Event
	for _, host := range hosts {
		for i := range n {
			e := put("x", day(1))
			e.Resource.ID = fmt.Sprintf("https://%s/%05d", host, i)
			e.Resource.Content.Href = e.Resource.ID
			events = append(events, e)
		}
	}
	return snapshot(events...)
}

// A host that refuses everything ends getting: the tasks stay as they are, no attempt is
// counted, and each later run begins with one request.
func TestHostIsLeftAlone(t *testing.T) {
	const host = "example.org"
	for _, status := range []int{429, 503} {
		for _, n := range []int{12, 3000} {
			for name, again := range map[string]harvest.Source{"listed again": listed(n, host), "not listed again": harvest.Of(src)} {
				t.Run(fmt.Sprintf("%d, %d pages, %s", status, n, name), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := newRefusingWorld(t)
						w.hosts.status[host] = status
						began := time.Now()
						r, asked, stored := w.run(listed(n, host))
						assert.Equal(t, 5, asked[host])
						assert.Equal(t, n, stored, "each once")
						assert.EqualValues(t, n, r.Left.Waiting)
						assert.False(t, r.InStep())
						require.Len(t, r.LeftAlone, 1)
						assert.Equal(t, &harvest.LeftAloneError{Host: "https://" + host, Refusals: 5, Status: status, Answered: r.LeftAlone[0].Answered}, r.LeftAlone[0])
						assert.Less(t, time.Since(began), 10*time.Minute)
						assert.LessOrEqual(t, r.Failed, int64(1), "a page may use up its attempts")

						for run := range 9 / (1 + n/1000) {
							time.Sleep(24 * time.Hour)
							r, asked, stored = w.run(again)
							assert.Equal(t, 1, asked[host], "run %d", run)
							assert.LessOrEqual(t, stored, 256)
							if n == 12 {
								assert.Zero(t, stored, "the tasks stay as they are")
							}
							assert.EqualValues(t, n, r.Left.Waiting)
							assert.Zero(t, r.Left.Parked)
							assert.Len(t, r.LeftAlone, 1)
							assert.EqualValues(t, 1, r.Requests[status])
						}
						w.hosts.status[host] = 200
						time.Sleep(24 * time.Hour)
						r, asked, _ = w.run(again)
						assert.True(t, r.InStep())
						assert.Equal(t, n, asked[host])
						assert.Empty(t, r.LeftAlone)
					})
				})
			}
		}
	}
}

// The other hosts of a source are asked nevertheless, in the same run or a later one.
func TestOneOfTwoHostsIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1500
		w := newRefusingWorld(t)
		w.hosts.status["a.example"], w.hosts.status["b.example"] = 429, 200
		list := listed(n, "a.example", "b.example")
		w.run(list)
		got := 0
		for range 8 {
			time.Sleep(24 * time.Hour)
			_, asked, _ := w.run(harvest.Of(src))
			got += asked["b.example"]
			assert.Equal(t, 1, asked["a.example"])
		}
		r, _, _ := w.run(harvest.Of(src))
		assert.EqualValues(t, n, r.Left.Waiting, "of the host that refuses; of the other %d were got", got)
	})
}
