package harvest_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// While the Store is slow, a run gets no more than 6 MiB of bodies ahead of it.
func TestBodiesWaitForCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, pages = 100_000, 300
		w := newWorld(t)
		events := w.numbered(pages)
		for _, ev := range events {
			w.site.set(ev.Resource.ID, ev.Resource.ID+strings.Repeat(" ", size))
		}
		blocked, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		w.h.Catalog = w.watched(func(_ context.Context, act testkit.Act) error {
			if act == testkit.Commit {
				once.Do(func() {
					close(blocked)
					<-release
				})
			}
			return nil
		})
		w.h.Concurrency = 4
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.run(snapshot(events...))
		}()
		<-blocked
		synctest.Wait()
		got := len(w.site.requests)
		assert.Greater(t, got, 6<<20/(size+100))
		assert.LessOrEqual(t, got, 6<<20/size+4)
		close(release)
		<-ended
		require.Len(t, w.live(), pages)
	})
}

// A server's word about the length of a body takes no memory.
func TestBodyStatedLong(t *testing.T) {
	for _, stated := range []string{"1000000000000000", "-5", "x", "3"} {
		w := newWorld(t)
		w.store.ChunkSize = -1
		w.h.Fetcher = testkit.FetchFunc(func(context.Context, *harvest.Request) (*harvest.Response, error) {
			body := io.NopCloser(strings.NewReader("short"))
			return &harvest.Response{Header: map[string][]string{"Content-Length": {stated}}, Body: body}, nil
		})
		w.run(snapshot(put("a", day(1))))
		require.Equal(t, map[string]string{"a": "short"}, w.live(), stated)
	}
}
