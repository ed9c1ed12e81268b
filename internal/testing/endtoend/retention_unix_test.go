//go:build unix

package endtoend

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/fill"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
)

// elsewhere begins the URLs of resources that the Store of a register describes only.
// Each change gives one another URL.
const elsewhere = "http://elsewhere.example"

// A register is a Store of one publisher that changes every day.
type register struct {
	*harvest.Catalog
	t    *testing.T
	r    *rand.Rand
	live []string // ids
	born int
	all  int64 // bytes of all bodies ever
}

// put commits new states of resources.
func (g *register) put(ids ...string) {
	var content []any
	for _, id := range ids {
		if strings.HasSuffix(id, "0") {
			there := fmt.Sprintf("%s%s?%d", elsewhere, strings.TrimPrefix(id, origin), g.r.Uint64())
			content = append(content, websync.Item{Resource: websync.Resource{ID: id, Title: "moves", Content: websync.Link{Href: there}}})
			continue
		}
		size := 500 + g.r.IntN(8000)
		if g.r.IntN(50) == 0 {
			size = 200_000 // a file of its own
		}
		text := fmt.Sprintf("%s at %v %d", id, time.Now(), g.r.Uint64())
		text += strings.Repeat(" more", (size-len(text))/5)
		g.all += int64(len(text))
		key := websync.SHA256([]byte(text))
		link := websync.Link{Href: id, Type: "text/plain", Length: int64(len(text)), Digests: websync.Digests{key}}
		content = append(content, text, websync.Item{
			Resource: websync.Resource{ID: id, Title: fmt.Sprint("Title of ", time.Now().Format(time.DateTime)), Content: link},
			Bodies:   []websync.Body{{Name: websync.ContentName, Link: link, Key: key}},
		})
	}
	if len(content) > 0 {
		require.NoError(g.t, fill.Commit(g.t.Context(), g.Catalog, "own", content...))
	}
}

// appear commits n new resources.
func (g *register) appear(n int) {
	var ids []string
	for range n {
		g.born++
		ids = append(ids, fmt.Sprintf("%s/doc/%d", origin, g.born))
	}
	g.put(ids...)
	g.live = append(g.live, ids...)
}

// day changes some resources; others appear, are withdrawn, or come back.
func (g *register) day() {
	var changed []string
	for range g.r.IntN(10) {
		if id := g.live[g.r.IntN(len(g.live))]; !slices.Contains(changed, id) {
			changed = append(changed, id)
		}
	}
	g.put(changed...)
	for range g.r.IntN(5) {
		i := g.r.IntN(len(g.live))
		gone := websync.Item{Kind: websync.Deleted, Resource: websync.Resource{ID: g.live[i], Title: "withdrawn", Content: websync.Link{Href: g.live[i]}}}
		require.NoError(g.t, fill.Commit(g.t.Context(), g.Catalog, "own", gone))
		g.live = slices.Delete(g.live, i, i+1)
	}
	g.appear(g.r.IntN(5))
	if back := fmt.Sprintf("%s/doc/%d", origin, 1+g.r.IntN(g.born)); !slices.Contains(g.live, back) {
		g.put(back)
		g.live = append(g.live, back)
	}
}

// sizeOf returns the bytes of a database with all that is beside it.
func sizeOf(t *testing.T, file string) (size int64) {
	require.NoError(t, filepath.WalkDir(filepath.Dir(file), func(path string, d fs.DirEntry, err error) error {
		if info, statErr := d.Info(); err == nil && statErr == nil && !d.IsDir() && !strings.HasSuffix(path, "-shm") {
			size += info.Size()
			if stat, ok := info.Sys().(*syscall.Stat_t); ok { // without holes
				size += stat.Blocks*512 - info.Size()
			}
		}
		return err
	}))
	return size
}

// fresh returns the size of a new Store into which what the register holds was committed.
func (g *register) fresh() int64 {
	file := filepath.Join(g.t.TempDir(), "fresh.db")
	store, err := sqlitestore.Open(g.t.Context(), file, nil)
	require.NoError(g.t, err)
	defer store.Close()
	c := harvest.NewCatalog(store)
	var content []any
	ids := map[string]bool{}
	flush := func() {
		require.NoError(g.t, fill.Commit(g.t.Context(), c, "own", content...))
		content = nil
		clear(ids)
	}
	for item := range g.Changes(g.t.Context(), websync.Range{}) {
		if ids[item.Resource.ID] {
			flush()
		}
		ids[item.Resource.ID] = true
		for i := range item.Bodies {
			r, err := g.Open(g.t.Context(), item.Bodies[i])
			if err != nil { // removed
				item.Bodies = nil
				break
			}
			r.Close()
			content = append(content, testkit.Read(g.t, g, item.Bodies[i]))
		}
		content = append(content, item)
	}
	flush()
	require.NoError(g.t, store.Shrink(g.t.Context()))
	return sizeOf(g.t, file)
}

// listed returns what a register lists, with its content: by URL, or by id.
func (g *register) listed(byURL bool) map[string]string {
	all := map[string]string{}
	for item, err := range g.Resources(g.t.Context(), websync.Range{}) {
		require.NoError(g.t, err)
		r := &item.Resource
		switch {
		case len(item.Bodies) > 0:
			all[r.ID] = testkit.Read(g.t, g, item.Bodies[0])
		case byURL:
			all[r.Content.Href] = r.Content.Href
		default:
			all[r.ID] = r.Content.Href
		}
	}
	return all
}

// A subscriber follows a register.
type subscriber struct {
	name   string
	every  int // days
	source harvest.Source
	store  *harvest.Catalog
}

// The Store of a publisher that changes every day keeps to its Retention for a year: it
// takes about what it holds, and readers that come every day or once a month have what it
// has, each time.
func TestRetentionForAYear(t *testing.T) {
	y := year{days: 366, rarely: 31, resources: 300}
	if racing.Few() {
		const day = 24 * time.Hour
		y = year{days: 32, rarely: 8, resources: 40, retention: harvest.Retention{Log: 12 * day, Bodies: 2 * day}}
	}
	for _, kind := range []string{"memstore", "sqlitestore"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &register{t: t, r: rand.New(rand.NewPCG(1, 36)), Catalog: harvest.NewCatalog(memstore.New())}
				file := ""
				if kind == "sqlitestore" {
					file = filepath.Join(t.TempDir(), "store.db")
					store, err := sqlitestore.Open(t.Context(), file, nil)
					require.NoError(t, err)
					defer store.Close()
					g.Catalog = harvest.NewCatalog(store)
				}
				y.run(t, g, file)
			})
		})
	}
}

// A year is how long a register is followed, and how.
type year struct {
	days, rarely int // one reader comes every day, one rarely
	resources    int
	retention    harvest.Retention
}

func (y *year) run(t *testing.T, g *register, file string) {
	site := &publish.Site{Catalog: g.Catalog, Base: origin + "/", Own: []string{"own"}}
	publishers := site.Publishers(&resourcesync.Publisher{ListSize: 40}, &atom.Publisher{Author: websync.Person{Name: "me"}, ArchiveSize: 40})
	here := &testkit.Mirror{Publisher: publish.Join(publishers...)}
	web := testkit.FetchFunc(func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
		if !strings.HasPrefix(req.URL, elsewhere) {
			return here.Fetch(ctx, req)
		}
		return &harvest.Response{URL: req.URL, Status: 200, Length: -1, Body: io.NopCloser(strings.NewReader(req.URL))}, nil
	})
	var all []*subscriber
	for _, every := range []int{1, y.rarely} {
		for name, src := range map[string]harvest.Source{
			"ResourceSync": &resourcesync.Source{URL: origin + "/capabilitylist.xml"},
			"Atom":         &atom.Source{URL: origin + "/feed.atom"},
		} {
			all = append(all, &subscriber{fmt.Sprint(name, " every ", every), every, src, harvest.NewCatalog(memstore.New())})
		}
	}
	g.appear(y.resources)
	removed, largest, ratio := harvest.Retained{}, int64(0), 0.0
	for day := range y.days {
		here.Date = time.Now().UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
		for _, s := range all {
			if day%s.every != 0 {
				continue
			}
			report, err := (&harvest.Harvester{Catalog: s.store, Fetcher: web}).Run(t.Context(), s.source)
			require.NoError(t, err, "day %d, %s", day, s.name)
			require.Empty(t, report.Problems)
			require.Equal(t, g.listed(strings.HasPrefix(s.name, "R")), testkit.Live(t, s.store), "day %d, %s", day, s.name)
		}
		time.Sleep(time.Hour)
		g.day()
		time.Sleep(23 * time.Hour)
		done, err := g.Retain(t.Context(), y.retention)
		require.NoError(t, err)
		removed.Entries += done.Entries
		removed.Bodies += done.Bodies
		if done.Entries > 0 {
			head, err := g.Head(t.Context())
			require.NoError(t, err)
			t.Logf("day %d: generation %d of the log has %d entries, %d less", day, head.Generation, head.Last, done.Entries)
		}
		if file == "" || day%y.rarely != 0 || day < y.days/2 {
			continue
		}
		size, fresh := sizeOf(t, file), g.fresh()
		largest, ratio = max(largest, size), max(ratio, float64(size)/float64(fresh))
		t.Logf("day %d: %d bytes, %d in a new Store; all bodies ever had %d", day, size, fresh, g.all)
	}
	assert.Positive(t, removed.Entries)
	assert.Positive(t, removed.Bodies)
	assert.Less(t, ratio, 1.3)
	faults, err := g.Inspect(context.Background())
	require.NoError(t, err)
	assert.Empty(t, faults)
	t.Logf("%+v; at most %d bytes, %.2f times those of a new Store", removed, largest, ratio)
}
