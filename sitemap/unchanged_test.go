package sitemap_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/testing/fill"
	"github.com/websync-go/websync/sitemap"
)

// A keptSite is a complete sitemap in parts, whose server answers "not modified", and
// the Store that is to be in step with it.
type keptSite struct {
	parts   map[string]map[string]int // by the URL of the part, the version of each page that it lists
	undated bool                      // it states no lastmod
	edits   map[string]int            // how often the bytes of a page have changed, and its lastmod has not
	down    map[string]bool           // pages and parts that fail
	fetcher *sourcetest.Fetcher
	catalog *harvest.Catalog
	h       *harvest.Harvester
	asked   []sourcetest.Exchange // in the last run
}

func newKeptSite(bodies harvest.BodyMode) *keptSite {
	s := &keptSite{parts: map[string]map[string]int{}, down: map[string]bool{}, edits: map[string]int{}, catalog: harvest.NewCatalog(memstore.New())}
	s.h = &harvest.Harvester{Catalog: s.catalog, Bodies: bodies, MaxDelete: -1, Sample: -1, Attempts: -1}
	return s
}

func keptPart(i int) string { return fmt.Sprintf("%s/part-%d.xml", site, i) }
func keptPage(i int) string { return fmt.Sprintf("%s/page-%d", site, i) }

// lastMod is the lastmod of a version of a page.
func lastMod(version int) time.Time {
	return time.Date(2020, 1, 1, 0, 0, version, 0, time.UTC)
}

// site returns what the server has.
func (s *keptSite) site() sourcetest.Site {
	pages := sourcetest.Site{}
	for url, entries := range s.parts {
		var b strings.Builder
		b.WriteString("<urlset xmlns='" + sitemap.Namespace + "'>")
		for _, loc := range slices.Sorted(maps.Keys(entries)) {
			fmt.Fprintf(&b, "<url><loc>%s</loc>", loc)
			if !s.undated {
				fmt.Fprintf(&b, "<lastmod>%s</lastmod>", lastMod(entries[loc]).Format(time.RFC3339))
			}
			b.WriteString("</url>")
		}
		b.WriteString("</urlset>")
		pages[url] = sourcetest.Document{Body: b.String(), ETag: `"` + docfetch.Fingerprint("%s", b.String()) + `"`}
	}
	for loc, version := range s.listed() {
		pages[loc] = sourcetest.Document{Body: fmt.Sprint(loc, " ", version)}
	}
	pages[siteIndex] = sourcetest.Document{Body: index(slices.Sorted(maps.Keys(s.parts))...)}
	for url := range pages {
		if s.down[url] {
			pages[url] = sourcetest.Document{Status: 503}
		}
	}
	return pages
}

// run harvests the site. The run is cut off at a request with this number, if it is not 0.
func (s *keptSite) run(cutAt int) (*harvest.Report, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.fetcher = &sourcetest.Fetcher{Site: s.site()}
	s.fetcher.Hook = func(_ context.Context, n int, _ *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
		if n == cutAt {
			cancel()
			return doc, context.Canceled
		}
		return doc, nil
	}
	s.h.Fetcher = s.fetcher
	report, err := s.h.Run(ctx, &sitemap.Source{URL: siteIndex, Complete: true})
	s.asked = s.fetcher.Exchanges()
	return report, err
}

// unmodified returns the parts of which the last run was told "not modified".
func (s *keptSite) unmodified() (urls []string) {
	for _, x := range s.asked {
		if x.Status == 304 {
			urls = append(urls, x.URL)
		}
	}
	slices.Sort(urls)
	return urls
}

// listed returns the versions of the pages that the site lists, the latest of each.
func (s *keptSite) listed() map[string]int {
	all := map[string]int{}
	for _, entries := range s.parts {
		for loc, version := range entries {
			all[loc] = max(all[loc], version)
		}
	}
	for loc := range all {
		all[loc] += s.edits[loc]
	}
	return all
}

// held returns the versions of the pages that the Store has: of their bytes, or by their
// times if it has none.
func (s *keptSite) held(t require.TestingT) map[string]int {
	all := map[string]int{}
	for item, err := range s.catalog.Resources(context.Background(), websync.Range{}) {
		require.NoError(t, err)
		version := int(item.Resource.Modified.Time().Sub(lastMod(0)) / time.Second)
		if content, ok := item.Body(websync.ContentName); ok {
			r, err := s.catalog.Open(context.Background(), content)
			require.NoError(t, err)
			_, err = fmt.Fscanf(r, item.Resource.ID+" %d", &version)
			require.NoError(t, errors.Join(err, r.Close()))
		}
		all[item.Resource.ID] = version
	}
	return all
}

// set makes a part list pages, and no others.
func (s *keptSite) set(part int, pages ...int) {
	entries := map[string]int{}
	for _, p := range pages {
		entries[keptPage(p)] = 1
	}
	s.parts[keptPart(part)] = entries
}

// settle runs until the Store is in step, and the parts are known.
func (s *keptSite) settle(t *testing.T) {
	for range 2 {
		report, err := s.run(0)
		require.NoError(t, err)
		require.True(t, report.InStep())
		require.Equal(t, s.listed(), s.held(t))
	}
}

// TestUnchangedParts: a part that its server has not changed is not read, and what it
// lists stays.
func TestUnchangedParts(t *testing.T) {
	s := newKeptSite(harvest.SkipBodies)
	s.set(1, 1, 2, 3)
	s.set(2, 3, 4)
	s.set(3, 5, 6)
	s.settle(t)
	all := []string{keptPart(1), keptPart(2), keptPart(3)}
	steps := []struct {
		name      string
		change    func()
		unchanged []string
		deleted   int64
		snapshots int
	}{
		{name: "nothing", unchanged: all},
		{name: "a page changes", change: func() { s.parts[keptPart(1)][keptPage(1)] = 2 }, unchanged: all[1:], snapshots: 1},
		{name: "a page goes", change: func() { delete(s.parts[keptPart(3)], keptPage(6)) }, unchanged: all[:2], deleted: 1, snapshots: 1},
		{name: "a page of two parts goes from the first", change: func() { delete(s.parts[keptPart(1)], keptPage(3)) }, unchanged: all[1:], snapshots: 1},
		{name: "and from the other", change: func() { delete(s.parts[keptPart(2)], keptPage(3)) }, unchanged: []string{all[0], all[2]}, deleted: 1, snapshots: 1},
		{name: "a page moves", change: func() { s.set(1, 1); s.set(2, 4, 2) }, unchanged: all[2:], snapshots: 1},
		{name: "and goes from there", change: func() { s.set(2, 4) }, unchanged: []string{all[0], all[2]}, deleted: 1, snapshots: 1},
		{name: "a part goes", change: func() { delete(s.parts, keptPart(2)) }, unchanged: []string{all[0], all[2]}, deleted: 1, snapshots: 1},
		{name: "a part comes", change: func() { s.set(7, 8) }, unchanged: []string{all[0], all[2]}, snapshots: 1},
		{name: "all is read, after nine runs that left out something", change: func() { s.h.Sample = 0 }, snapshots: 1},
		{name: "nothing again", unchanged: []string{all[0], all[2], keptPart(7)}},
	}
	for _, step := range steps {
		if step.change != nil {
			step.change()
		}
		report, err := s.run(0)
		require.NoError(t, err, step.name)
		assert.True(t, report.InStep(), step.name)
		assert.Equal(t, step.unchanged, s.unmodified(), step.name)
		assert.Equal(t, step.deleted, report.Deleted, step.name)
		assert.Equal(t, step.snapshots, report.Snapshots, step.name)
		if step.snapshots > 0 {
			assert.GreaterOrEqual(t, report.Events, report.Held, step.name)
		}
		assert.Equal(t, s.listed(), s.held(t), step.name)
	}
	faults, err := s.catalog.Inspect(t.Context())
	require.NoError(t, err)
	assert.Empty(t, faults)
}

// TestEverythingIsRead: what makes a run read all parts.
func TestEverythingIsRead(t *testing.T) {
	for name, change := range map[string]func(s *keptSite){
		"other bodies": func(s *keptSite) { s.h.Bodies = harvest.VerifyBodies },
		"Recheck":      func(s *keptSite) { s.h.Recheck = true },
		"a source that is not believed": func(s *keptSite) {
			s.h.Sample = 1
			for i := range 3 {
				s.edits[keptPage(i+1)]++
			}
			_, err := s.run(0)
			assert.NoError(t, err)
		},
		"Full":                   func(s *keptSite) { s.h.Full = true },
		"a run that was cut off": func(s *keptSite) { s.set(1, 1, 9); _, err := s.run(4); assert.Error(t, err) },
		"two parts that state different things": func(s *keptSite) {
			s.set(2, 2, 3)
			s.parts[keptPart(2)][keptPage(2)] = 2
			for range 2 { // what several parts list is known in the second run
				_, err := s.run(0)
				assert.NoError(t, err)
			}
		},
		"a resource that no part lists": func(s *keptSite) {
			put := harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: keptPage(9)}}
			_, err := s.h.Run(t.Context(), harvest.Of(siteIndex, put))
			assert.NoError(t, err)
		},
		"a resource that another source has changed": func(s *keptSite) {
			put := harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: keptPage(3), Modified: websync.NewDatetime(lastMod(2))}}
			_, err := s.h.Run(t.Context(), harvest.Of(siteIndex, put))
			assert.NoError(t, err)
			s.parts[keptPart(1)][keptPage(3)] = 3
			_, err = s.run(0)
			assert.NoError(t, err)
			assert.Empty(t, s.unmodified())
			s.set(1, 1, 2)
			s.parts[keptPart(2)][keptPage(3)] = 4
			_, err = s.run(0)
			assert.NoError(t, err)
		},
		"a record that no run has put": func(s *keptSite) {
			page := websync.Item{Kind: websync.Created, Resource: websync.Resource{ID: keptPage(9)}}
			assert.NoError(t, fill.Commit(t.Context(), s.catalog, siteIndex, page))
			s.set(2, 3, 4)
			report, err := s.run(0)
			assert.NoError(t, err)
			assert.Equal(t, []string{keptPart(1)}, s.unmodified())
			assert.False(t, report.InStep(), "the part may list it")
			assert.Contains(t, s.held(t), keptPage(9))
		},
		"pages without a lastmod": func(s *keptSite) {
			s.undated = true
			for range 2 {
				_, err := s.run(0)
				assert.NoError(t, err)
			}
		},
		"a page that was got before the time that is stated of it": func(s *keptSite) {
			soon := int(time.Now().Add(time.Hour).Sub(lastMod(0)) / time.Second)
			s.parts[keptPart(1)][keptPage(1)], s.parts[keptPart(2)][keptPage(3)] = soon, soon
			_, err := s.run(0)
			assert.NoError(t, err)
		},
		"a part that failed": func(s *keptSite) {
			s.down[keptPart(1)] = true
			report, err := s.run(0)
			assert.NoError(t, err)
			assert.False(t, report.InStep())
			clear(s.down)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newKeptSite(harvest.KeepBodies)
			s.set(1, 1, 2)
			s.set(2, 3)
			s.settle(t)
			change(s)
			_, err := s.run(0)
			require.NoError(t, err)
			assert.Empty(t, s.unmodified())
			assert.Equal(t, s.listed(), s.held(t))
		})
	}
}

// TestSampleOfUnchangedParts: pages that unchanged parts list are asked for, too.
func TestSampleOfUnchangedParts(t *testing.T) {
	s := newKeptSite(harvest.KeepBodies)
	s.h.Sample = 1 // all of them
	s.set(1, 1, 2, 3)
	s.set(2, 3, 4)
	s.settle(t)
	run := func() *harvest.Report {
		report, err := s.run(0)
		require.NoError(t, err)
		assert.Equal(t, s.listed(), s.held(t))
		assert.True(t, report.InStep())
		return report
	}
	for i := range 4 {
		s.edits[keptPage(i+1)]++
		whole := 0
		for range 30 { // so that the source is believed
			report := run()
			assert.EqualValues(t, 4, report.Rechecked.Times.Asked)
			assert.Equal(t, 1, report.Snapshots)
			if len(s.unmodified()) == 0 {
				whole++
				continue
			}
			assert.Equal(t, []string{keptPart(1), keptPart(2)}, s.unmodified())
			assert.EqualValues(t, 4, report.Events)
		}
		assert.Equal(t, 3, whole, "one in ten")
	}
	for range 7 {
		run()
	}
	s.edits[keptPage(1)]++
	s.set(2, 3, 4, 5) // the other one is unchanged
	assert.EqualValues(t, 4, run().Rechecked.Times.Asked)
	assert.Equal(t, []string{keptPart(1)}, s.unmodified())

	s.h.Sample = 0
	for i := range 40 {
		s.parts[keptPart(1)][keptPage(100+i)] = 1
	}
	s.settle(t)
	asked := map[string]bool{}
	for range 40 {
		report := run()
		require.EqualValues(t, 10, report.Rechecked.Times.Asked)
		for _, x := range s.asked {
			asked[x.URL] = true
		}
	}
	assert.Greater(t, len(asked), 40, "in time all of them")

	s.h.Sample, s.h.Budget.Requests = 1, 3
	report, err := s.run(0)
	require.NoError(t, err)
	assert.EqualValues(t, 2, report.Rechecked.Times.Asked, "half of it")
}

// TestUnchangedPartsAreNotBelieved: if pages that unchanged parts list have changed, the
// run is not in step, and the next one asks for all.
func TestUnchangedPartsAreNotBelieved(t *testing.T) {
	s := newKeptSite(harvest.KeepBodies)
	s.h.Sample = 0
	for part := range 2 {
		s.set(part+1, 100)
		for i := range 20 {
			s.parts[keptPart(part+1)][keptPage(20*part+i)] = 1
		}
	}
	s.settle(t)
	for page := range s.listed() {
		s.edits[page]++
	}
	report, err := s.run(0)
	require.NoError(t, err)
	require.NotEmpty(t, s.unmodified())
	assert.EqualValues(t, 10, report.Rechecked.Times.Wrong)
	assert.EqualValues(t, 31, report.Rechecked.Unasked)
	assert.False(t, report.InStep())
	report, err = s.run(0)
	require.NoError(t, err)
	assert.Empty(t, s.unmodified())
	assert.True(t, report.InStep())
	assert.Equal(t, s.listed(), s.held(t))
}

// TestSampleOfUnchangedRoot: a sitemap without parts is asked for conditionally, and its
// pages are asked for.
func TestSampleOfUnchangedRoot(t *testing.T) {
	s := newKeptSite(harvest.KeepBodies)
	s.h.Sample = 1
	s.set(1, 1, 2)
	for range 3 {
		s.edits[keptPage(1)]++
		fetcher := &sourcetest.Fetcher{Site: s.site()}
		s.h.Fetcher = fetcher
		report, err := s.h.Run(t.Context(), &sitemap.Source{URL: keptPart(1), Complete: true})
		require.NoError(t, err)
		assert.True(t, report.InStep())
		assert.Equal(t, s.listed(), s.held(t))
		s.asked = fetcher.Exchanges()
	}
	assert.Equal(t, []string{keptPart(1)}, s.unmodified())
}

// TestUnchangedTasks: what could not be got is known by the part that lists it, too.
func TestUnchangedTasks(t *testing.T) {
	s := newKeptSite(harvest.KeepBodies)
	run := func(change func()) *harvest.Report {
		change()
		report, err := s.run(0)
		require.NoError(t, err)
		return report
	}
	s.set(1, 1, 2)
	s.set(2, 3)
	s.settle(t)
	s.down[keptPage(9)] = true
	assert.EqualValues(t, 1, run(func() { s.set(1, 1, 2, 9) }).Left.Waiting)
	report := run(func() { s.set(2, 3, 4) })
	assert.Equal(t, []string{keptPart(1)}, s.unmodified())
	assert.EqualValues(t, 1, report.Left.Waiting, "the part that lists it is unchanged")
	run(func() { s.set(2, 3, 4, 9) })
	report = run(func() { s.set(2, 3, 4) })
	assert.EqualValues(t, 1, report.Left.Waiting, "the first part still lists it")

	clear(s.down)
	s.h.Recheck = true // however long ago it failed
	assert.True(t, run(func() {}).InStep())
	s.h.Recheck = false
	assert.Equal(t, s.listed(), s.held(t))
	for range 2 { // the first one, since what two parts list has changed
		assert.True(t, run(func() {}).InStep())
	}
	assert.Len(t, s.unmodified(), 2)

	s.down[keptPage(10)] = true
	run(func() { s.set(1, 1, 2, 9, 10) })
	clear(s.down)
	assert.True(t, run(func() { s.set(2, 3) }).InStep(), "it is tried again")
	assert.Equal(t, s.listed(), s.held(t))
	assert.True(t, run(func() {}).InStep())
	assert.Len(t, s.unmodified(), 2, "the record is known by its part")
	s.down[keptPage(11)] = true
	run(func() { s.set(1, 1, 2, 9, 10, 11) })
	assert.True(t, run(func() { s.set(1, 1, 2, 9, 10) }).InStep(), "no part lists it any more")
}

// TestSampleKeepsTasks: the sample does not take back a change that could not be got.
func TestSampleKeepsTasks(t *testing.T) {
	s := newKeptSite(harvest.KeepBodies)
	s.h.Sample = 1
	s.set(1, 1, 2)
	s.settle(t)
	s.down[keptPage(1)] = true
	s.parts[keptPart(1)][keptPage(1)] = 2
	for range 3 {
		report, err := s.run(0)
		require.NoError(t, err)
		assert.EqualValues(t, 1, report.Left.Waiting)
	}
	assert.NotEmpty(t, s.unmodified())
	for task, err := range s.catalog.Tasks(t.Context(), siteIndex, "") {
		require.NoError(t, err)
		assert.Equal(t, lastMod(2), task.Resource.Modified.Time())
	}
	clear(s.down)
	report, err := s.run(0)
	require.NoError(t, err)
	assert.EqualValues(t, 1, report.Left.Waiting, "it is not due yet")
	assert.NotEmpty(t, s.unmodified())
	s.h.Recheck = true // however long ago it failed
	_, err = s.run(0)
	require.NoError(t, err)
	items, err := s.catalog.Get(t.Context(), siteIndex, []string{keptPage(1)})
	require.NoError(t, err)
	assert.Equal(t, lastMod(2), items[0].Resource.Modified.Time())
	assert.Equal(t, s.listed(), s.held(t))
}

// TestUnchangedHistories: whatever a site and its pages do, a run that is in step has what
// the site lists, and none deletes what is listed.
func TestUnchangedHistories(t *testing.T) {
	unchanged := 0
	rapid.Check(t, func(t *rapid.T) {
		s := newKeptSite(rapid.SampledFrom([]harvest.BodyMode{harvest.SkipBodies, harvest.KeepBodies}).Draw(t, "bodies"))
		number := func(name string, most int) int { return rapid.IntRange(1, most).Draw(t, name) }
		s.undated = s.h.Bodies == harvest.KeepBodies && rapid.Bool().Draw(t, "undated")
		if s.h.Bodies == harvest.KeepBodies && rapid.Bool().Draw(t, "sampled") {
			s.h.Sample = 1
		}
		version := 1
		for i := range 4 {
			s.set(i+1, number("page", 12), number("page", 12), number("page", 12))
		}
		check := func(cutAt int) *harvest.Report {
			before := s.held(t)
			report, err := s.run(cutAt)
			if cutAt == 0 || !errors.Is(err, context.Canceled) {
				require.NoError(t, err)
			}
			held, listed := s.held(t), s.listed()
			for loc := range before {
				if _, ok := listed[loc]; ok {
					require.Contains(t, held, loc, "deleted by mistake")
				}
			}
			if err == nil && report.InStep() {
				require.Equal(t, listed, held)
			}
			unchanged += len(s.unmodified())
			return report
		}
		for range number("runs", 12) {
			for range number("changes", 3) - 1 {
				part, page := keptPart(number("part", 5)), keptPage(number("page", 12))
				switch rapid.SampledFrom([]string{"put", "edit", "remove", "drop", "down", "up", "alone", "compact"}).Draw(t, "change") {
				case "put":
					if s.parts[part] == nil {
						s.parts[part] = map[string]int{}
					}
					version++
					s.parts[part][page] = version
					for _, entries := range s.parts { // no two parts state different things
						if entries[page] != 0 {
							entries[page] = version
						}
					}
				case "edit":
					if s.h.Sample == 1 {
						s.edits[page] += 1000
					}
				case "remove":
					delete(s.parts[part], page)
				case "drop":
					delete(s.parts, part)
				case "down":
					s.down[rapid.SampledFrom([]string{part, page}).Draw(t, "down")] = true
				case "up":
					clear(s.down)
				case "compact":
					_, err := s.catalog.Compact(context.Background())
					require.NoError(t, err)
				case "alone": // a resource that no document has listed
					put := harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: page, Modified: websync.NewDatetime(lastMod(1))}}
					_, err := s.h.Run(context.Background(), harvest.Of(siteIndex, put))
					require.NoError(t, err)
				}
			}
			cutAt := 0
			if rapid.IntRange(0, 4).Draw(t, "cut") == 0 {
				cutAt = number("request", 8)
			}
			check(cutAt)
		}
		clear(s.down)
		faults, err := s.catalog.Inspect(context.Background())
		require.NoError(t, err)
		require.Empty(t, faults)
		for i := range 6 {
			s.h.Recheck = i >= 3 // tries what has failed once more, however long ago
			if report := check(0); report.InStep() {
				return
			}
			_, err := s.h.Approve(context.Background(), &sitemap.Source{URL: siteIndex, Complete: true})
			require.NoError(t, err)
		}
		require.Fail(t, "not in step")
	})
	assert.NotZero(t, unchanged)
}
