package sitemap_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

// A partSite is the publisher of an index with parts, whose entries all have a lastmod,
// and the Store that is to be in step with it.
type partSite struct {
	sample int // Harvester.Sample
	t      *testing.T
	web    *web
	store  *harvest.Catalog
	src    *sitemap.Source

	now     time.Time
	parts   []*sitePart
	plain   bool // answers have neither ETag nor Last-Modified
	cached  map[string]sourcetest.Document
	report  *harvest.Report
	finding []websync.Finding
}

// A sitePart is one part of a partSite.
type sitePart struct {
	url     string
	entries map[string]time.Time // the lastmod of each loc
	lastMod time.Time            // in the index
	made    time.Time
}

const siteIndex = site + "/index.xml"

// newPartSite returns a site of n parts of three entries that were made an hour before.
func newPartSite(t *testing.T, n int) *partSite {
	s := &partSite{t: t, web: &web{}, store: harvest.NewCatalog(memstore.New()), src: &sitemap.Source{URL: siteIndex}, now: time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)}
	for i := range n {
		p := &sitePart{url: fmt.Sprintf("%s/part-%02d.xml", site, i), entries: make(map[string]time.Time)}
		s.parts = append(s.parts, p)
		s.change(i, "1", "2", "3")
	}
	s.now = s.now.Add(time.Hour)
	return s
}

// change gives entries of a part a new lastmod, which the index states, too.
func (s *partSite) change(i int, names ...string) {
	p := s.parts[i]
	for _, name := range names {
		p.entries[s.loc(i, name)] = s.now
	}
	p.lastMod, p.made = s.now, s.now
}

func (s *partSite) loc(i int, name string) string {
	return fmt.Sprintf("%s/part-%02d/%s", site, i, name)
}

// document returns a part as it is now.
func (s *partSite) document(i int) sourcetest.Document {
	p := s.parts[i]
	var b strings.Builder
	b.WriteString("<urlset xmlns='" + sitemap.Namespace + "'>")
	for _, loc := range slices.Sorted(maps.Keys(p.entries)) {
		fmt.Fprintf(&b, "<url><loc>%s</loc><lastmod>%s</lastmod></url>", loc, p.entries[loc].Format(time.RFC3339))
	}
	b.WriteString("</urlset>")
	doc := sourcetest.Document{Body: b.String()}
	if !s.plain {
		doc.ETag, doc.LastModified = docfetch.Fingerprint("%s", doc.Body), p.made.Format(docfetch.HTTPDate)
	}
	return doc
}

// run harvests what the site, or its cache, answers an hour or more later.
func (s *partSite) run(later time.Duration) *harvest.Report {
	s.t.Helper()
	s.now = s.now.Add(later)
	pages := sourcetest.Site{}
	var listed []string
	for i, p := range s.parts {
		pages[p.url] = s.document(i)
		listed = append(listed, p.url+" "+p.lastMod.Format(time.RFC3339))
	}
	pages[siteIndex] = sourcetest.Document{Body: index(listed...)}
	maps.Copy(pages, s.cached)
	for url, doc := range pages {
		doc.Header = dated(s.now.Format(docfetch.HTTPDate))
		pages[url] = doc
	}
	s.web.pages, s.web.asked, s.finding = pages, nil, nil
	h := &harvest.Harvester{Sample: s.sample, Catalog: s.store, Fetcher: s.web, Bodies: harvest.SkipBodies, Hooks: testkit.OnFinding(func(f websync.Finding) {
		s.finding = append(s.finding, f)
	})}
	report, err := h.Run(s.t.Context(), s.src)
	require.NoError(s.t, err)
	s.report = report
	return report
}

// cache lets the cache answer with a document in the place of a part; nothing ends that.
func (s *partSite) cache(i int, doc ...sourcetest.Document) {
	s.cached = nil
	if len(doc) > 0 {
		s.cached = map[string]sourcetest.Document{s.parts[i].url: doc[0]}
	}
}

// difference returns the locs of which the Store does not hold what the site lists.
func (s *partSite) difference() (locs []string) {
	held := make(map[string]websync.Datetime)
	for _, item := range testkit.All(s.t, s.store.Resources(s.t.Context(), websync.Range{})) {
		held[item.Resource.ID] = item.Resource.Modified
	}
	for _, p := range s.parts {
		for loc, at := range p.entries {
			if !held[loc].Time().Equal(at) {
				locs = append(locs, loc)
			}
		}
	}
	slices.Sort(locs)
	return locs
}

// asked returns the requests for parts.
func (s *partSite) asked() []string { return s.web.asked[1:] }

// inStep checks that the run is in step with the site, and found nothing.
func (s *partSite) inStep() {
	s.t.Helper()
	assert.True(s.t, s.report.InStep())
	assert.Empty(s.t, s.difference())
	assert.Empty(s.t, s.finding)
}

// TestStalePart: just after the index has changed, a cache sends something else in the
// place of a part, once. The next run gets what was missing.
func TestStalePart(t *testing.T) {
	empty := sourcetest.Document{Body: string(urlset())}
	tests := map[string]struct {
		cached func(s *partSite, before sourcetest.Document) sourcetest.Document
		doubt  bool
	}{
		"the part of before": {cached: func(_ *partSite, before sourcetest.Document) sourcetest.Document { return before }},
		"an empty document":  {cached: func(*partSite, sourcetest.Document) sourcetest.Document { return empty }, doubt: true},
		"an empty document with validators": {cached: func(s *partSite, _ sourcetest.Document) sourcetest.Document {
			return sourcetest.Document{Body: empty.Body, ETag: `"empty"`, LastModified: s.now.Format(docfetch.HTTPDate)}
		}, doubt: true},
		"another part": {cached: func(s *partSite, _ sourcetest.Document) sourcetest.Document { return s.document(2) }, doubt: true},
		"another part in another order": {cached: func(s *partSite, _ sourcetest.Document) sourcetest.Document {
			doc := s.document(2)
			entries := strings.SplitAfter(doc.Body, "</url>")
			entries[0], entries[1] = strings.Replace(entries[0], "<url>", entries[1]+"<url>", 1), ""
			doc.Body, doc.ETag = strings.Join(entries, ""), `"another order"`
			return doc
		}, doubt: true},
		"another part that is new, too": {cached: func(s *partSite, _ sourcetest.Document) sourcetest.Document {
			s.change(2, "new")
			return s.document(2)
		}, doubt: true},
	}
	for name, test := range tests {
		for _, plain := range []bool{false, true} {
			for _, n := range []int{3, 40} {
				t.Run(fmt.Sprintf("%s, %d parts, plain: %v", name, n, plain), func(t *testing.T) {
					s := newPartSite(t, n)
					s.plain = plain
					s.run(time.Hour)
					s.inStep()
					s.change(1, "1")
					s.run(time.Hour)
					s.inStep() // so the lastmods of the index can be believed

					before := s.document(0)
					s.change(0, "1", "new")
					s.cache(0, test.cached(s, before))
					s.run(time.Hour)
					assert.Equal(t, []string{s.loc(0, "1"), s.loc(0, "new")}, s.difference())
					assert.Equal(t, test.doubt, !s.report.InStep())
					assert.Equal(t, test.doubt, s.report.Skipped > 0)
					assert.Equal(t, test.doubt, slices.Contains(testkit.Rules(s.finding), "sitemap-doubt"))

					s.cache(0)
					s.run(time.Hour)
					s.inStep()
					s.run(time.Hour)
					s.inStep()
				})
			}
		}
	}
}

// TestOlderPart: a cache sends a version of a part that is older than the one that was
// read last, or one between two versions.
func TestOlderPart(t *testing.T) {
	s := newPartSite(t, 40)
	s.run(time.Hour)
	before := s.document(0)
	s.change(0, "1", "2")
	s.run(time.Hour)
	between := s.document(0)
	s.change(0, "1", "new")
	s.cache(0, before)
	s.run(time.Hour)
	assert.False(t, s.report.InStep())
	assert.Equal(t, []string{"sitemap-doubt"}, testkit.Rules(s.finding))
	s.cache(0, between)
	s.run(time.Hour)
	assert.NotEmpty(t, s.difference())
	for range 2 {
		s.change(0, "1", "3")
		between = s.document(0)
		s.now = s.now.Add(time.Minute)
		s.change(0, "2", "new")
		s.cache(0, between)
		s.run(time.Hour)
		assert.NotEmpty(t, s.difference())
		s.cache(0)
		s.run(time.Hour)
		assert.Empty(t, s.difference())
	}
}

// TestIndexStandsStill: the lastmods in the index never move, and parts change.
func TestIndexStandsStill(t *testing.T) {
	for _, plain := range []bool{false, true} {
		for _, n := range []int{3, 40} {
			t.Run(fmt.Sprintf("%d parts, plain: %v", n, plain), func(t *testing.T) {
				s := newPartSite(t, n)
				s.plain = plain
				s.run(time.Hour)
				for i := range 3 {
					stated := s.parts[i].lastMod
					s.change(i, "1", "new")
					s.parts[i].lastMod = stated
					s.run(time.Hour)
					assert.True(t, s.report.InStep())
					assert.Empty(t, s.difference())
					assert.Equal(t, []string{"sitemap-index-lastmod"}, testkit.Rules(s.finding))
					require.NotEmpty(t, s.finding)
					assert.Equal(t, siteIndex, s.finding[0].Document)
					assert.Contains(t, s.finding[0].Message, s.parts[i].url)
				}
			})
		}
	}
}

// TestBelieved: parts are not asked for once a lastmod in the index has proved true,
// apart from a sample; and all of them after one has proved wrong, until ten changes were
// stated truthfully.
func TestBelieved(t *testing.T) {
	const sample = 10
	s := newPartSite(t, 40)
	s.run(time.Hour)
	s.run(time.Hour)
	assert.Len(t, s.asked(), 40, "nothing has proved true")
	s.change(0, "1")
	s.run(time.Hour)
	assert.Len(t, s.asked(), 40)
	s.run(time.Hour)
	assert.Len(t, s.asked(), sample)
	for _, asked := range s.asked() {
		assert.Contains(t, asked, " 304")
	}
	s.change(1, "1")
	s.run(time.Hour)
	assert.Len(t, s.asked(), 1+sample)
	s.inStep()

	// one of the sample, and then one that is asked for anyway, is wrong
	for i := range s.parts {
		stated := s.parts[i].lastMod
		s.change(i, "2", "new")
		s.parts[i].lastMod = stated
	}
	s.run(time.Hour)
	assert.Len(t, s.asked(), 40)
	assert.Empty(t, s.difference())
	for i := range 9 {
		s.change(i, "1")
		s.run(time.Hour)
		assert.Len(t, s.asked(), 40)
		s.inStep()
	}
	s.change(9, "1")
	s.run(time.Hour)
	assert.Len(t, s.asked(), 40)
	s.run(time.Hour)
	assert.Len(t, s.asked(), 30+sample, "those whose own lastmod was wrong are asked for")
	for i := range s.parts {
		s.change(i, "1")
	}
	s.run(time.Hour)
	s.run(time.Hour)
	assert.Len(t, s.asked(), sample)
	s.inStep()
	s.sample = -1
	s.run(time.Hour)
	assert.Empty(t, s.asked(), "the index is believed")
	s.sample = 2
	s.run(time.Hour)
	assert.Len(t, s.asked(), 20)

	s.parts[3].entries[s.loc(3, "1")] = s.now.Add(2 * time.Hour) // an entry that is later
	s.parts[3].lastMod, s.parts[3].made = s.now, s.now.Add(time.Minute)
	s.run(3 * time.Hour)
	assert.Equal(t, []string{"sitemap-index-lastmod"}, testkit.Rules(s.finding))
	assert.Len(t, s.asked(), 40)
}

// TestBelievedNeedsEvidence: a part that does not show that it is as new as its lastmod
// in the index is asked for in each run.
func TestBelievedNeedsEvidence(t *testing.T) {
	for name, change := range map[string]func(s *partSite, p *sitePart){
		"touched, and the same entries": func(s *partSite, p *sitePart) { p.lastMod = s.now },
		"no entry of its time, and an older Last-Modified": func(s *partSite, p *sitePart) {
			p.entries[p.url+"/old"] = s.now.Add(-5 * time.Hour)
			p.lastMod = s.now
		},
		"the period is not over": func(s *partSite, p *sitePart) { p.lastMod = s.now.Add(10 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newPartSite(t, 400)
			s.run(time.Hour)
			s.change(1, "1")
			s.run(time.Hour)
			change(s, s.parts[0])
			for range 3 {
				s.run(time.Hour)
				assert.Contains(t, strings.Join(s.asked(), " "), s.parts[0].url)
				assert.Less(t, len(s.asked()), 15)
				s.inStep()
			}
		})
	}
	t.Run("an entry without lastmod", func(t *testing.T) {
		s := newPartSite(t, 40)
		s.run(time.Hour)
		s.change(1, "1")
		s.run(time.Hour)
		s.change(0, "1")
		undated := s.document(0)
		undated.Body = strings.Replace(undated.Body, "</urlset>", "<url><loc>"+s.loc(0, "undated")+"</loc></url></urlset>", 1)
		for range 3 {
			s.cache(0, undated)
			s.run(time.Hour)
			assert.Contains(t, strings.Join(s.asked(), " "), s.parts[0].url)
		}
	})
}

// TestDoubtEnds: what is improbable and true is believed a day later.
func TestDoubtEnds(t *testing.T) {
	restored := func(s *partSite) {
		before, made := maps.Clone(s.parts[0].entries), s.parts[0].made
		s.change(0, "1", "2", "3")
		s.run(time.Hour)
		s.parts[0].entries, s.parts[0].made, s.parts[0].lastMod = before, made, s.now
	}
	for name, change := range map[string]func(s *partSite){
		"emptied":            func(s *partSite) { s.change(0); clear(s.parts[0].entries) },
		"equal to a sibling": func(s *partSite) { s.change(0); s.parts[0].entries = s.parts[1].entries },
		"restored":           restored,
	} {
		t.Run(name, func(t *testing.T) {
			s := newPartSite(t, 40)
			s.run(time.Hour)
			change(s)
			for hours := 0; hours < 24; hours += 8 {
				s.run(8 * time.Hour)
				assert.False(t, s.report.InStep())
				assert.Equal(t, 1, s.report.Skipped)
				assert.Contains(t, s.asked(), s.parts[0].url, "asked for unconditionally")
			}
			s.run(8 * time.Hour)
			assert.True(t, s.report.InStep())
			assert.Empty(t, s.difference())
			s.run(time.Hour)
			s.inStep()
		})
	}
}

// TestEntriesMove: entries that move from one part to another are no doubt, and what is
// new is read.
func TestEntriesMove(t *testing.T) {
	for name, move := range map[string]func(s *partSite){
		"two parts change places": func(s *partSite) {
			s.parts[0].entries, s.parts[1].entries = s.parts[1].entries, s.parts[0].entries
		},
		"a new part, and each moves on": func(s *partSite) {
			entries := map[string]time.Time{site + "/new": s.now}
			for _, p := range s.parts {
				p.entries, entries = entries, p.entries
			}
			s.parts = append(s.parts, &sitePart{url: site + "/last.xml", entries: entries})
		},
		"other names": func(s *partSite) {
			for _, p := range s.parts {
				p.url = strings.Replace(p.url, "part", "section", 1)
			}
		},
		"one is closed under another name": func(s *partSite) {
			s.parts = append(s.parts, &sitePart{url: site + "/closed.xml", entries: s.parts[0].entries})
			s.parts[0].entries = map[string]time.Time{site + "/new": s.now}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newPartSite(t, 20)
			s.run(time.Hour)
			move(s)
			for _, p := range s.parts {
				p.lastMod, p.made = s.now, s.now
			}
			for range 3 {
				s.run(time.Hour)
				s.inStep()
			}
		})
	}
}

// TestStaleIndex: a cache sends an empty or an older index, and what is known of the
// parts is kept.
func TestStaleIndex(t *testing.T) {
	for _, empty := range []bool{false, true} {
		t.Run(fmt.Sprintf("empty: %v", empty), func(t *testing.T) {
			s := newPartSite(t, 40)
			stale := func(entries ...string) {
				s.cached = map[string]sourcetest.Document{siteIndex: {Body: index(entries...), LastModified: s.now.Format(docfetch.HTTPDate)}}
			}
			list := func(n int) (entries []string) {
				for _, p := range s.parts[:n] {
					entries = append(entries, p.url+" "+p.lastMod.Format(time.RFC3339))
				}
				return entries
			}
			stale(list(39)...)
			old := s.cached
			s.run(time.Hour)
			stale(list(40)...)
			s.run(time.Hour)
			s.inStep()
			right := s.cached
			if s.cached = old; empty {
				stale()
			}
			s.run(time.Hour)
			assert.False(t, s.report.InStep())
			assert.Contains(t, testkit.Rules(s.finding), "sitemap-doubt")
			s.cached = right
			s.run(time.Hour)
			s.inStep()
			for _, asked := range s.asked() {
				assert.Contains(t, asked, " 304")
			}
		})
	}
}

// TestCompleteLeavesDoubtToTheEngine: a Source whose sitemap is complete reads everything
// in full, and skips nothing because of a doubt.
func TestCompleteLeavesDoubtToTheEngine(t *testing.T) {
	s := newPartSite(t, 12)
	s.src.Complete = true
	s.run(time.Hour)
	clear(s.parts[0].entries)
	s.cache(1, s.document(2))
	s.run(time.Hour)
	assert.Zero(t, s.report.Skipped)
	assert.NotContains(t, testkit.Rules(s.finding), "sitemap-doubt")
}

// TestListedDocuments: Run.Document receives each document that lists pages, in both
// modes, when it was read.
func TestListedDocuments(t *testing.T) {
	s := newPartSite(t, 3)
	s.change(0, "newest")
	s.run(time.Hour)
	pages := maps.Clone(s.web.pages)
	pages[site+"/list.txt"] = sourcetest.Document{Body: site + "/t1\n" + site + "/t2\n"}
	pages[site+"/lost.xml"] = sourcetest.Document{Body: "<html>"}
	pages[siteIndex] = sourcetest.Document{Body: strings.Replace(pages[siteIndex].Body, "</sitemapindex>",
		"<sitemap><loc>"+site+"/lost.xml</loc></sitemap><sitemap><loc>"+site+"/list.txt</loc></sitemap></sitemapindex>", 1)}
	for _, complete := range []bool{false, true} {
		var got []harvest.ListedDocument
		run := &harvest.Run{Fetcher: &web{pages: pages}, Document: func(d harvest.ListedDocument) { got = append(got, d) }}
		for ev, err := range (&sitemap.Source{URL: siteIndex, Complete: complete}).Events(t.Context(), run) {
			require.NoError(t, err)
			if ev.Kind == harvest.SnapshotEnd {
				require.Len(t, got, 4)
			}
		}
		sums := make(map[uint64]bool)
		for i, d := range got {
			assert.NotZero(t, d.Sum)
			sums[d.Sum] = true
			if i < 3 {
				assert.Equal(t, s.parts[i].url, d.URL)
				assert.EqualValues(t, len(s.parts[i].entries), d.Entries)
				assert.Equal(t, websync.NewDatetime(s.parts[i].lastMod), d.Newest)
				assert.Equal(t, s.parts[i].made, d.Made)
			}
		}
		got[3].Sum = 0
		assert.Equal(t, harvest.ListedDocument{URL: site + "/list.txt", Entries: 2}, got[3])
		assert.Len(t, sums, 4)
	}
}
