package sitemap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/sitemap"
)

// TestPublisherTags: documents with the same tag have the same bytes, whatever happens to
// the Catalog and whichever Publisher writes them. The tag of a part changes only when
// the log gets an entry of the part.
func TestPublisherTags(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 4
		s := testkit.NewStore(t)
		s.Clock = time.Unix(1_700_000_000, 0)
		publisher := func() *sitemap.Publisher {
			return &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}, PartSize: size}
		}
		p := publisher()
		bytesOf := map[string]string{} // by path and tag
		// by path, of the parts that nothing has touched since
		tagOf := map[string]string{}
		live := map[string]bool{}
		id := rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("%s/%d", site, rapid.IntRange(1, 15).Draw(t, "id")) })
		touch := func(ids ...string) {
			items, err := s.Get(context.Background(), "a", ids)
			require.NoError(t, err)
			for path := range tagOf {
				for _, item := range items {
					if strings.Contains(path, fmt.Sprintf("-%d.xml", (item.Born-1)/size+1)) {
						delete(tagOf, path)
					}
				}
			}
		}
		check := func(t *rapid.T, path string) (tag string, body []byte) {
			doc, body := render(t, p, path)
			key := path + " " + doc.ETag
			if before, known := bytesOf[key]; known {
				require.Equal(t, before, string(body), key)
			}
			bytesOf[key] = string(body)
			return doc.ETag, body
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				ids := rapid.SliceOfNDistinct(id, 1, 3, rapid.ID).Draw(t, "ids")
				for _, id := range ids {
					r := websync.Resource{ID: id}
					if rapid.Bool().Draw(t, "stated") {
						r.Modified = websync.DateOf(s.Clock)
					}
					s.Put("a", r)
					live[id] = true
				}
				touch(ids...)
			},
			"delete": func(t *rapid.T) {
				if len(live) == 0 {
					t.Skip("nothing to delete")
				}
				id := rapid.SampledFrom(slices.Sorted(maps.Keys(live))).Draw(t, "id")
				s.Delete("a", id)
				delete(live, id)
				touch(id)
			},
			"compact": func(t *rapid.T) {
				_, err := s.Compact(context.Background())
				require.NoError(t, err)
				clear(tagOf)
			},
			"restart":  func(*rapid.T) { p = publisher() },
			"wait":     func(*rapid.T) { s.Clock = s.Clock.Add(24 * time.Hour) },
			"compress": func(t *rapid.T) { check(t, "/sitemap.xml.gz") },
			"": func(t *rapid.T) {
				var listed []string
				all := paths(t, p)
				for _, path := range all {
					tag, body := check(t, path)
					if before, known := tagOf[path]; known {
						require.Equal(t, before, tag, path)
					}
					if strings.Contains(path, "-") {
						tagOf[path] = tag
						listed = append(listed, locs(read(t, body))...)
					}
				}
				_, root := render(t, p, "/sitemap.xml")
				if len(all) > 2 {
					require.Equal(t, all[:len(all)-2], locs(read(t, root)))
				} else {
					listed = locs(read(t, root))
				}
				var want []string
				for id := range live {
					want = append(want, strings.TrimPrefix(id, site))
				}
				require.ElementsMatch(t, want, listed)
			},
		})
	})
}

// walkSet reads an index and then its parts, as a crawler does, and returns the locs.
func walkSet(t require.TestingT, p *sitemap.Publisher, between func()) (seen map[string]bool, err error) {
	seen = map[string]bool{}
	note := func(body []byte) {
		for _, e := range read(t, body) {
			seen[e.Loc] = true
		}
	}
	_, body := render(t, p, "/sitemap.xml")
	if !bytes.Contains(body, []byte("<sitemapindex")) {
		note(body)
		return seen, nil
	}
	for _, e := range read(t, body) {
		between()
		doc, err := p.Document(context.Background(), strings.TrimPrefix(e.Loc, site))
		if err != nil {
			return seen, err
		}
		var part bytes.Buffer
		// A document that changes while it is written is still complete.
		if err := doc.Write(context.Background(), &part); err != nil && !errors.Is(err, websync.ErrConflict) {
			return seen, err
		}
		note(part.Bytes())
	}
	return seen, nil
}

// A reader that walks the set while 10,000 records change misses no record that was there
// throughout.
func TestPublisherWalk(t *testing.T) {
	const steady, changes = 1000, 10_000
	s := testkit.NewStore(t)
	for i := 0; i < 3*steady; i += 500 {
		s.Put("a", numbered(i+1, i+500)...)
	}
	var there []string // one in three, updated now and then
	for i := 1; i <= 3*steady; i += 3 {
		there = append(there, fmt.Sprintf("%s/%d", site, i))
	}
	p := &sitemap.Publisher{Place: websync.Place{Catalog: s, Base: site + "/"}, PartSize: 100}
	_, err := walkSet(t, p, func() {})
	require.NoError(t, err)

	var done atomic.Bool
	var made atomic.Int64
	go func() {
		defer done.Store(true)
		random := rand.New(rand.NewPCG(1, 2))
		born := 3 * steady
		for n := 0; n < changes; n += 20 {
			var puts []websync.Resource
			var gone []string
			chosen := map[string]bool{}
			for range 20 {
				i := random.IntN(born) + 1
				id := fmt.Sprintf("%s/%d", site, i)
				if random.IntN(4) == 0 {
					born++
					id = fmt.Sprintf("%s/%d", site, born)
				}
				switch {
				case chosen[id]:
				case i%3 != 1 && random.IntN(2) == 0:
					gone = append(gone, id)
				default:
					puts = append(puts, websync.Resource{ID: id})
				}
				chosen[id] = true
			}
			s.Put("a", puts...)
			s.Delete("a", gone...)
			made.Add(20)
		}
	}()
	walks := 0
	for last := false; !last; walks++ {
		last = done.Load() // one walk after the end
		seen, err := walkSet(t, p, func() {})
		require.NoError(t, err)
		for _, id := range there {
			if !seen[id] {
				t.Fatalf("walk %d misses %s", walks, id)
			}
		}
	}
	t.Logf("%d walks, %d changes", walks, made.Load())

	n := 0
	seen, err := walkSet(t, p, func() {
		if n++; n == 5 {
			_, err := s.Compact(t.Context())
			require.NoError(t, err)
		}
	})
	assert.ErrorIs(t, err, websync.ErrGone, "rather than parts of another cut")
	assert.NotEmpty(t, seen)
	seen, err = walkSet(t, p, func() {})
	require.NoError(t, err)
	for _, id := range there {
		assert.True(t, seen[id], id)
	}
}

// siteFiles are what is put into the first Store, by id.
type siteFiles map[string]siteFile

type siteFile struct {
	text     string
	modified websync.Datetime
}

func (f siteFiles) source() harvest.Source {
	events := []harvest.Event{{Kind: harvest.SnapshotStart}}
	for _, id := range slices.Sorted(maps.Keys(f)) {
		events = append(events, harvest.Event{
			Resource: websync.Resource{ID: id, Modified: f[id].modified, Content: websync.Link{Digests: websync.Digests{websync.SHA256([]byte(f[id].text))}}},
			Open:     harvest.OpenBytes([]byte(f[id].text)),
		})
	}
	return harvest.Of("site", append(events, harvest.Event{Kind: harvest.SnapshotEnd, Complete: true})...)
}

// roundedUp returns the lastmod of a time.
func roundedUp(d websync.Datetime) string {
	if d.Precision() <= websync.PrecisionSecond {
		return d.String()
	}
	return websync.NewDatetime(d.Time().Add(time.Second - 1).Truncate(time.Second)).String()
}

// requireSame checks that the contents of one Store are in the other, and that the other
// has nothing else unless more is allowed.
func requireSame(t *testing.T, want, got *harvest.Catalog, more bool) {
	t.Helper()
	type state struct{ modified, text string }
	states := func(s *harvest.Catalog, own bool) map[string]state {
		all := map[string]state{}
		for item, err := range s.Resources(t.Context(), websync.Range{}) {
			require.NoError(t, err)
			modified := item.Resource.Modified
			if own && modified.IsZero() {
				modified = websync.NewDatetime(item.Time)
			}
			body, ok := item.Body("content")
			require.True(t, ok, item.Resource.ID)
			r, err := s.Open(t.Context(), body)
			require.NoError(t, err)
			text, err := io.ReadAll(r)
			require.NoError(t, err)
			require.NoError(t, r.Close())
			all[item.Resource.ID] = state{roundedUp(modified), string(text)}
		}
		return all
	}
	first, second := states(want, true), states(got, false)
	if more {
		maps.DeleteFunc(second, func(id string, _ state) bool { _, ok := first[id]; return !ok })
	}
	require.Equal(t, first, second)
}

// TestPublisherRoundTrip: store, Publisher, Source, second store: the same ids, bytes and
// times, again and again.
func TestPublisherRoundTrip(t *testing.T) {
	for _, complete := range []bool{true, false} {
		t.Run(fmt.Sprintf("complete %t", complete), func(t *testing.T) {
			ctx := t.Context()
			random := rand.New(rand.NewPCG(3, 4))
			now := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
			first, second := harvest.NewCatalog(memstore.New()), harvest.NewCatalog(memstore.New())
			first.Now = func() time.Time { return now }
			p := &sitemap.Publisher{Place: websync.Place{Catalog: first, Base: site + "/docs/"}, PartSize: 50}
			p.Locator = websync.PathLocator{Base: p.Base, Own: []string{"site"}, Reserved: p.Reserved}
			web := &testkit.Mirror{Publisher: publish.Join(p, publish.Bodies(first, p.Locator))}
			in := &harvest.Harvester{Sample: -1, Catalog: first, MaxDelete: -1}
			out := &harvest.Harvester{Sample: -1, Catalog: second, Fetcher: web, MaxDelete: -1}
			source := &sitemap.Source{URL: p.URL(), Complete: complete}

			files := siteFiles{}
			n := 0
			change := func() {
				ids := slices.Sorted(maps.Keys(files))
				kind := random.IntN(4)
				if len(ids) < 100 || kind == 0 {
					n++
					id := fmt.Sprintf("%s/docs/%d/a%%20b&c=%%C3%%A9;100%%25/%d'~.x", site, n%7, n)
					files[id] = siteFile{text: id}
					return
				}
				id := ids[random.IntN(len(ids))]
				if kind == 1 {
					delete(files, id)
					return
				}
				f := files[id]
				switch random.IntN(3) {
				case 0:
					f.modified = websync.DateOf(now)
				case 1:
					f.modified = websync.NewDatetime(now.Add(-time.Hour).Truncate(time.Second))
				case 2:
					f.modified = websync.Datetime{}
				}
				f.text = fmt.Sprint("text ", random.Int())
				files[id] = f
			}
			for round, changes := range []int{200, 0, 3, 300, 1000} {
				now = now.Add(48 * time.Hour)
				for range changes {
					change()
				}
				report, err := in.Run(ctx, files.source())
				require.NoError(t, err)
				require.True(t, report.InStep())
				if round == 3 {
					_, err := first.Compact(ctx)
					require.NoError(t, err)
				}
				web.Lists()
				web.Date = now.Add(60 * time.Hour).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
				report, err = out.Run(ctx, source)
				require.NoError(t, err)
				require.True(t, report.InStep(), "%v %v", report.Failures, report.Problems)
				requireSame(t, first, second, !complete)
				if !complete && changes <= 3 {
					require.LessOrEqual(t, web.Lists(), 1+changes, "the index, and the parts that have changed")
				}
			}
		})
	}
}

// TestPublisherWithinASecond: a resource that changes again in the second of a reading is
// in step after the next one, although its lastmod, and that of its part, is the same.
func TestPublisherWithinASecond(t *testing.T) {
	second := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const page = site + "/docs/page"
	for name, times := range map[string][3]time.Duration{ // of a change, a reading and another change
		"in the middle":  {200 * time.Millisecond, 500 * time.Millisecond, 800 * time.Millisecond},
		"at its border":  {time.Microsecond, time.Microsecond, time.Second},
		"up to the next": {0, 999_999 * time.Microsecond, time.Second},
		"across it":      {999_999 * time.Microsecond, 999_999 * time.Microsecond, 1_000_001 * time.Microsecond},
	} {
		for _, size := range []int{1, 100} {
			for _, stated := range []bool{false, true} {
				for _, wait := range []time.Duration{0, 10 * time.Minute} {
					t.Run(fmt.Sprint(name, size, stated, wait), func(t *testing.T) {
						first, held := harvest.NewCatalog(memstore.New()), harvest.NewCatalog(memstore.New())
						now := second
						first.Now = func() time.Time { return now }
						p := &sitemap.Publisher{Place: websync.Place{Catalog: first, Base: site + "/docs/"}, PartSize: size}
						p.Locator = websync.PathLocator{Base: p.Base, Own: []string{"site"}, Reserved: p.Reserved}
						web := &testkit.Mirror{Publisher: publish.Join(p, publish.Bodies(first, p.Locator))}
						files := siteFiles{site + "/docs/other": {text: "other"}}
						change := func(at time.Duration, text string) {
							now = second.Add(at)
							f := siteFile{text: text}
							if stated {
								f.modified = websync.NewDatetime(now)
							}
							files[page] = f
							_, err := (&harvest.Harvester{Catalog: first}).Run(t.Context(), files.source())
							require.NoError(t, err)
						}
						harvestAt := func(at time.Duration) (lastMods []websync.Datetime) {
							now = second.Add(at)
							web.Date = now.Format("Mon, 02 Jan 2006 15:04:05 GMT")
							h := &harvest.Harvester{Sample: -1, Catalog: held, Fetcher: web}
							report, err := h.Run(t.Context(), &sitemap.Source{URL: p.URL()})
							require.NoError(t, err)
							require.True(t, report.InStep())
							_, root := render(t, p, "/docs/sitemap.xml")
							for _, e := range read(t, root) {
								lastMods = append(lastMods, e.LastMod)
							}
							return lastMods
						}
						change(-time.Hour, "before")
						harvestAt(-time.Minute)
						change(times[0], "one")
						harvestAt(times[1])
						assert.Equal(t, "one", testkit.Live(t, held)[page])
						change(times[2], "two")
						latest := slices.MaxFunc(harvestAt(times[2]+wait), websync.Datetime.Compare)
						assert.False(t, latest.Time().Before(second.Add(times[2])), "who reads what is later than the last reading finds it")
						assert.Equal(t, websync.PrecisionSecond, latest.Precision())
						harvestAt(times[2] + wait + 2*time.Minute)
						assert.Equal(t, "two", testkit.Live(t, held)[page])
					})
				}
			}
		}
	}
}
