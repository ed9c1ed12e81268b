package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// An exchanged is a publisher whose store is exchanged, and a reader that follows it.
type exchanged struct {
	*upstream
	reader *reader
	close  func() error

	mu    sync.Mutex
	asked []string // the paths of lists that the reader has requested
}

// newExchanged returns a publisher with 2,100 resources in a store, which are more than
// two archive documents, and a reader that has them and a first change of each kind.
func newExchanged(t *testing.T, protocol, store string) *exchanged {
	f := &exchanged{upstream: newUpstream(t, protocol), close: func() error { return nil }}
	f.open(store)
	events := make([]harvest.Event, 2100)
	for i := range events {
		events[i] = f.putting(fmt.Sprintf("%d.txt", i), fmt.Sprint("first ", i))
	}
	f.commit(events...)
	f.reader = newReader(map[string]harvest.Source{
		"resourcesync": &resourcesync.Source{URL: f.entry, Name: testkit.Src}, "atom": &atom.Source{URL: f.entry, Name: testkit.Src},
	}[protocol])
	fetcher := f.reader.harvester.Fetcher
	f.reader.harvester.Fetcher = testkit.FetchFunc(func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
		u, err := url.Parse(req.URL)
		if err == nil && f.lists.IsList(u.EscapedPath()) {
			f.mu.Lock()
			f.asked = append(f.asked, u.Path)
			f.mu.Unlock()
		}
		return fetcher.Fetch(ctx, req)
	})
	f.follow(2100, 0, 0)
	f.change(1)
	f.follow(1, 1, 1)
	return f
}

// open publishes a store in place of the one before. It is closed when the test ends.
func (f *exchanged) open(store string) {
	require.NoError(f.t, f.close())
	spec, err := cli.ParseStore(store)
	require.NoError(f.t, err)
	catalog, closeStore, err := spec.Open(f.t.Context())
	require.NoError(f.t, err)
	f.close = sync.OnceValue(closeStore)
	f.t.Cleanup(func() { assert.NoError(f.t, f.close()) })
	f.publish(catalog)
}

// change makes a change of each kind; n is another number each time.
func (f *exchanged) change(n int) {
	f.put("0.txt", fmt.Sprint("changed ", n))
	f.put(fmt.Sprintf("new-%d.txt", n), "new")
	f.delete(fmt.Sprintf("%d.txt", n))
}

// follow runs the reader once. It returns the lists that this took.
func (f *exchanged) follow(created, updated, deleted int64) (lists []string) {
	f.t.Helper()
	f.asked = nil
	report, err := f.reader.harvester.Run(f.t.Context(), f.reader.source)
	require.NoError(f.t, err)
	require.True(f.t, report.InStep(), "%+v", report)
	assert.Equal(f.t, []int64{created, updated, deleted}, []int64{report.Created, report.Updated, report.Deleted})
	return f.asked
}

// differs returns the names of what the reader has otherwise than the publisher, or only
// one of both.
func (f *exchanged) differs() (names []string) {
	want, got := texts(f.t, f.store), texts(f.t, f.reader.store)
	all := maps.Clone(want)
	maps.Copy(all, got)
	for id := range all {
		if want[id] != got[id] {
			names = append(names, strings.TrimPrefix(id, f.url))
		}
	}
	return names
}

// A reader of a publisher whose store was moved goes on as if nothing had happened.
func TestReadersOfMoved(t *testing.T) {
	racing.Skip(t)
	targets := map[string]func(t *testing.T) string{
		"SQLite": func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "to.db") },
		"PostgreSQL": func(t *testing.T) string {
			dsn, drop, err := pgtest.NewDatabase()
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, drop()) })
			return dsn
		},
	}
	for name, target := range targets {
		for _, protocol := range []string{"resourcesync", "atom"} {
			t.Run(name+" "+protocol, func(t *testing.T) {
				if name == "PostgreSQL" {
					pgtest.Server(t)
				}
				from, to := "sqlite:"+filepath.Join(t.TempDir(), "from.db"), target(t)
				f := newExchanged(t, protocol, from)
				idle := f.follow(0, 0, 0)
				f.change(2)
				lists := f.follow(1, 1, 1)
				require.NoError(t, f.close())
				code, _, stderr := storeNow(t, "move", from, to)
				require.Zero(t, code, stderr)
				f.open(to)
				assert.Equal(t, idle, f.follow(0, 0, 0))
				f.change(3)
				assert.Equal(t, lists, f.follow(1, 1, 1))
				assert.Empty(t, f.differs())
			})
		}
	}
}

// A reader that had changes which a restored store has lost reads all once, and ends with
// what that store holds. Only a feed can't state that a resource never was.
func TestReadersOfRestored(t *testing.T) {
	racing.Skip(t)
	for protocol, test := range map[string]struct {
		created, updated, deleted int64
		stays                     []string
	}{
		"resourcesync": {1, 1, 1, nil},
		"atom":         {1, 2099, 0, []string{"new-2.txt"}},
	} {
		t.Run(protocol, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "store")
			from, to, backup := "sqlite:"+at+".db", "sqlite:"+at+"-restored.db", at+".export"
			f := newExchanged(t, protocol, from)
			run := func(args ...string) {
				code, _, stderr := storeNow(t, args...)
				require.Zero(t, code, "%q: %s", args, stderr)
			}
			run("-store="+from, "export", backup)
			f.change(2)
			f.follow(1, 1, 1)
			run("-store="+to, "import", backup)
			run("-store="+to, "restored")
			f.open(to)
			f.follow(test.created, test.updated, test.deleted)
			assert.Equal(t, test.stays, f.differs())
			f.change(3)
			assert.Len(t, f.follow(1, 1, 1), 1, "only what is new")
			assert.Equal(t, test.stays, f.differs())
		})
	}
}
