package eli_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

func conformanceStates() []sourcetest.Site {
	acts := func(day int) *lawSite {
		return newSite(day).act("act/1", "One", "en/html", "en/pdf").act("act/2", "Two", "en/pdf").act("act/3", "Three").act("act/4", "Four", "en/xml", "fr/xml")
	}
	one := acts(40).add("eli/sitemap1.xml", "application/xml", urlset("act/1 2025-12-01", "act/2 2026-01-10T10:00:00Z")).
		add("eli/sitemap2.xml", "application/xml", urlset("act/3 2026-01-20", "act/4 2026-01-21")).
		lists(index("eli/sitemap1.xml", "eli/sitemap2.xml"), feed("act/4 2026-01-21T12:00:00Z", "act/2 2026-01-10"))
	two := acts(41).act("act/4", "Four, as amended", "en/xml", "fr/xml").act("act/5", "Five", "en/html").
		add("eli/sitemap1.xml", "application/xml", urlset("act/1 2025-12-01", "act/2 2026-01-10T10:00:00Z")).
		add("eli/sitemap2.xml", "application/xml", urlset("act/3 2026-01-20", "act/4 2026-01-21")).
		lists(index("eli/sitemap1.xml", "eli/sitemap2.xml"), feed("act/5 2026-02-11T13:00:00Z", "act/4 2026-02-11T12:00:00Z", "act/2 2026-01-10"))
	three := acts(80).act("act/4", "Four, as amended", "en/xml", "fr/xml").act("act/5", "Five", "en/html").act("act/6", "Six", "en/html").
		lists(urlset("act/2 2026-01-10T10:00:00Z", "act/3 2026-03-20", "act/4 2026-02-11T12:00:00Z", "act/5 2026-02-11"),
			feed("act/6 2026-03-22T12:00:00Z", "act/3 2026-03-20T12:00:00Z", "act/5 2026-02-11T13:00:00Z"))
	return []sourcetest.Site{one.Site, two.Site, three.Site}
}

func TestSourceConformance(t *testing.T) {
	all := conformanceStates()
	monthly := []sourcetest.Site{all[0], all[2]}
	for name, feed := range map[string]string{"with a feed": feedURL, "without a feed": ""} {
		sites := all
		if feed == "" {
			sites = monthly
		}
		t.Run(name, func(t *testing.T) {
			sourcetest.Run(t, sourcetest.Options{
				Source: func() harvest.Source {
					return &eli.Source{Sitemap: sitemapURL, Feed: feed, Preferences: eli.Preferences{AllLanguages: true}}
				},
				Sites:     sites,
				Store:     func(testing.TB) harvest.Store { return memstore.New() },
				Positions: racing.Some(20),
				Tolerates: func(url string, f sourcetest.Failure) bool {
					format := strings.HasSuffix(url, "/html") || strings.HasSuffix(url, "/xml") || strings.HasSuffix(url, "/pdf")
					part := strings.HasPrefix(url, law+"eli/sitemap") // it does not have its name
					return format && f == sourcetest.NotThere || part && f == sourcetest.Mistaken
				},
			})
		})
	}
}

// A lister makes passes over a publisher, without a Store.
type lister struct {
	*testing.T
	source   eli.Source
	hook     func(*harvest.Request, sourcetest.Document) sourcetest.Document
	from     harvest.Checkpoint
	findings []websync.Finding
	asked    []string // of the last pass: the paths, and statuses other than 200
}

func newLister(t *testing.T) *lister {
	return &lister{T: t, source: eli.Source{Sitemap: sitemapURL, Feed: feedURL}}
}

// pass makes a pass and returns its events: "put act/1 2026-01-10", with an asterisk if
// it is Apart, "delete", "mark", "start", "end", "problem"; a plus at the end of those
// with Resume.
func (l *lister) pass(site *lawSite) (events []string) {
	l.Helper()
	f := &sourcetest.Fetcher{Site: site.Site}
	if l.hook != nil {
		f.Hook = func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
			return l.hook(req, doc), nil
		}
	}
	run := &harvest.Run{From: l.from, Fetcher: f, Report: func(f websync.Finding) { l.findings = append(l.findings, f) }}
	l.findings = nil
	last, broken := l.from, false
	for ev, err := range l.source.Events(l.Context(), run) {
		require.NoError(l, err)
		text := ev.Kind.String()
		switch ev.Kind {
		case harvest.Put, harvest.Delete:
			text += " " + strings.TrimPrefix(ev.Resource.ID, law+"eli/")
			if !ev.Resource.Modified.IsZero() {
				text += " " + ev.Resource.Modified.String()
			}
			if ev.Apart {
				text += "*"
			}
			if ev.Tag != "" {
				text += " (" + ev.Tag + ")"
			}
		case harvest.SnapshotStart:
			text = strings.TrimSuffix("start "+ev.At.String(), " ")
		case harvest.SnapshotEnd:
			text = "end"
			if !ev.Complete {
				text = "end, incomplete"
			}
		case harvest.Problem:
			text += ": " + ev.Err.Error()
			broken = true
		}
		if ev.Skipped > 0 {
			text += fmt.Sprintf(", %d skipped", ev.Skipped)
		}
		if !ev.Resume.IsZero() {
			require.False(l, broken)
			text += "+"
			last = ev.Resume
		}
		events = append(events, text)
	}
	l.from, l.asked = last, nil
	for _, x := range f.Exchanges() {
		path := strings.TrimPrefix(x.URL, law+"eli/")
		if x.Status != 200 {
			path = fmt.Sprintf("%s %d", path, x.Status)
		}
		l.asked = append(l.asked, path)
	}
	return events
}

// A visit is a pass of a table, over the lists of a day.
type visit struct {
	day           int
	sitemap, feed string
	want          []string
}

// TestListing makes passes over the lists of a publisher.
func TestListing(t *testing.T) {
	const broken = "<html><body>Please log in</body></html>"
	var many []string
	for i := range 32 {
		many = append(many, fmt.Sprintf("many/%d 2026-02-01T12:00:%02dZ", i, i))
	}
	puts := func(pairs []string) (all []string) {
		for _, pair := range pairs {
			all = append(all, "put "+pair)
		}
		return all
	}
	first := visit{40, urlset("a 2026-01-05", "b 2026-02-05"), feed("b 2026-02-05T12:00:00Z", "a 2026-01-05T12:00:00Z"), []string{
		"put a 2026-01-05T12:00:00Z", "put b 2026-02-05T12:00:00Z", "mark+",
		"start 2026-02-05", "put a 2026-01-05T12:00:00Z", "put b 2026-02-05T12:00:00Z", "end+", "mark+",
	}}
	for name, test := range map[string]struct {
		source eli.Source
		visits []visit
	}{
		"the feed, day by day": {visits: []visit{first,
			{41, first.sitemap, first.feed, []string{"mark+"}},
			{42, "", feed("c 2026-02-12T09:00:00Z", "b 2026-02-05T12:00:00Z", "a 2026-01-05T12:00:00Z"), []string{
				"put a 2026-01-05T12:00:00Z", "put b 2026-02-05T12:00:00Z", "put c 2026-02-12T09:00:00Z", "mark+"}},
			{43, "", feed("c 2026-02-12T09:00:00Z", "b 2026-02-05T12:00:00Z"), []string{
				"put b 2026-02-05T12:00:00Z", "put c 2026-02-12T09:00:00Z", "mark+"}},
		}},
		"a gap": {visits: []visit{first,
			{45, urlset("a 2026-01-05", "b 2026-02-05", "c 2026-02-11", "d 2026-02-14"), feed("d 2026-02-14T08:00:00Z"), []string{
				"put d 2026-02-14T08:00:00Z", "mark+",
				"start 2026-02-14", "put a 2026-01-05", "put b 2026-02-05", "put c 2026-02-11", "put d 2026-02-14T08:00:00Z", "end+", "mark+"}},
			{46, "", feed("d 2026-02-14T08:00:00Z", "e 2026-02-15T08:00:00Z"), []string{
				"put d 2026-02-14T08:00:00Z", "put e 2026-02-15T08:00:00Z", "mark+"}},
		}},
		"a gap behind an entry that is years old": {visits: []visit{
			{40, urlset(), feed(append(many, "old 2005-01-01T12:00:00Z")...), slices.Concat(
				[]string{"put old 2005-01-01T12:00:00Z"}, puts(many), []string{"mark+", "start", "put old 2005-01-01T12:00:00Z"}, puts(many), []string{"end+", "mark+"})},
			{41, urlset("a 2026-02-11"), feed("a 2026-02-11T12:00:00Z", "old 2005-01-01T12:00:00Z"), []string{
				"put old 2005-01-01T12:00:00Z", "put a 2026-02-11T12:00:00Z", "mark+",
				"start 2026-02-11", "put a 2026-02-11T12:00:00Z", "put old 2005-01-01T12:00:00Z", "end+", "mark+"}},
		}},
		"a gap that the sitemap does not cover": {visits: []visit{first,
			{45, first.sitemap, feed("d 2026-02-14T08:00:00Z"), []string{
				"put d 2026-02-14T08:00:00Z", "mark+", "mark+",
				"problem: eli: the latest date in the sitemap https://law.example/eli/sitemap.xml is 2026-02-05, and the oldest in the feed was 2026-02-14T08:00:00Z when nothing in it was known: changes in between may be missing"}},
			{46, first.sitemap, feed("d 2026-02-14T08:00:00Z", "e 2026-02-15T08:00:00Z"), []string{
				"put d 2026-02-14T08:00:00Z", "put e 2026-02-15T08:00:00Z", "mark+", "mark+",
				"problem: eli: the latest date in the sitemap https://law.example/eli/sitemap.xml is 2026-02-05, and the oldest in the feed was 2026-02-14T08:00:00Z when nothing in it was known: changes in between may be missing"}},
			// the feed has been followed since the gap, so that is what the sitemap must
			// cover
			{47, urlset("a 2026-01-05", "b 2026-02-05", "c 2026-02-11", "d 2026-02-14"), feed("e 2026-02-15T08:00:00Z"), []string{
				"put e 2026-02-15T08:00:00Z", "mark+",
				"start 2026-02-14", "put a 2026-01-05", "put b 2026-02-05", "put c 2026-02-11", "put d 2026-02-14", "put e 2026-02-15T08:00:00Z*", "end+", "mark+"}},
			{48, "", feed("e 2026-02-15T08:00:00Z"), []string{"mark+"}},
		}},
		"a new sitemap that does not cover the gap": {visits: []visit{first,
			{45, urlset("a 2026-01-05", "b 2026-02-06"), feed("d 2026-02-14T08:00:00Z"), []string{
				"put d 2026-02-14T08:00:00Z", "mark+",
				"start 2026-02-06", "put a 2026-01-05", "put b 2026-02-06", "put d 2026-02-14T08:00:00Z*", "end+", "mark+",
				"problem: eli: the latest date in the sitemap https://law.example/eli/sitemap.xml is 2026-02-06, and the oldest in the feed was 2026-02-14T08:00:00Z when nothing in it was known: changes in between may be missing"}},
		}},
		"the sitemap again after 30 days": {visits: []visit{first,
			{69, "", first.feed, []string{"mark+"}},
			{70, urlset("b 2026-02-05", "c 2026-03-01"), feed("c 2026-03-01T10:00:00Z", "b 2026-02-05T12:00:00Z"), []string{
				"put b 2026-02-05T12:00:00Z", "put c 2026-03-01T10:00:00Z", "mark+",
				"start 2026-03-01", "put b 2026-02-05T12:00:00Z", "put c 2026-03-01T10:00:00Z", "end+", "mark+"}},
			{99, "", feed("c 2026-03-01T10:00:00Z", "b 2026-02-05T12:00:00Z"), []string{"mark+"}},
		}},
		"an unchanged feed is read whole when the sitemap is": {visits: []visit{first,
			{70, urlset("a 2026-01-05", "b 2026-02-06"), first.feed, []string{
				"mark+", "start 2026-02-06", "put a 2026-01-05T12:00:00Z", "put b 2026-02-06", "end+", "mark+"}},
		}},
		"an unchanged sitemap": {visits: []visit{first,
			{70, first.sitemap, feed("c 2026-03-01T10:00:00Z", "b 2026-02-05T12:00:00Z"), []string{
				"put b 2026-02-05T12:00:00Z", "put c 2026-03-01T10:00:00Z", "mark+", "mark+"}},
			{99, "", feed("c 2026-03-01T10:00:00Z", "b 2026-02-05T12:00:00Z"), []string{"mark+"}},
		}},
		"the clock was ahead": {visits: []visit{first,
			{4000, first.sitemap, first.feed, []string{"mark+", "mark+"}},
			{41, urlset("a 2026-01-05", "b 2026-02-06"), first.feed, []string{
				"mark+", "start 2026-02-06", "put a 2026-01-05T12:00:00Z", "put b 2026-02-06", "end+", "mark+"}},
			{42, "", first.feed, []string{"mark+"}},
		}},
		"never the sitemap alone": {source: eli.Source{SitemapEvery: -1}, visits: []visit{first, {4000, "", first.feed, []string{"mark+"}}}},
		"the sitemap each day": {source: eli.Source{SitemapEvery: 24 * time.Hour}, visits: []visit{first,
			{41, urlset("a 2026-01-05"), first.feed, []string{
				"mark+", "start 2026-01-05", "put a 2026-01-05T12:00:00Z*", "put b 2026-02-05T12:00:00Z*", "end+", "mark+"}},
		}},
		"the same date, coarser or finer": {visits: []visit{
			{40, urlset("day 2026-02-05", "second 2026-02-05T10:00:00Z", "earlier 2026-02-04", "later 2026-02-06", "none", "only 2026-02-01", "year 2026"),
				feed("day 2026-02-05T12:00:00Z", "second 2026-02-05", "earlier 2026-02-05", "later 2026-02-05", "none 2026-02-05", "feed 2026-02-05", "year 2026-02-05"), []string{
					"put second 2026-02-05", "put earlier 2026-02-05", "put later 2026-02-05", "put none 2026-02-05", "put feed 2026-02-05", "put year 2026-02-05",
					"put day 2026-02-05T12:00:00Z", "mark+",
					"start 2026-02-06",
					"put day 2026-02-05T12:00:00Z", "put second 2026-02-05T10:00:00Z", "put earlier 2026-02-05", "put later 2026-02-06", "put none 2026-02-05", "put only 2026-02-01",
					"put year 2026-02-05", "put feed 2026-02-05", "end+", "mark+"}},
		}},
		"without dates": {visits: []visit{
			{40, urlset("a", "b"), feed("b", "c"), []string{"put b", "put c", "mark+", "start", "put a", "put b", "put c", "end+", "mark+"}},
			{41, urlset("a", "b"), feed("b", "c"), []string{"mark+", "mark+"}},
		}},
		"listed twice": {visits: []visit{
			{40, urlset("a 2026-01-05", "b 2026-01-01", "a 2026-01-07", "b 2026-01-01", "a 2026-01-06", "c 2026-01-03", "c"),
				feed("b 2026-01-02T12:00:00Z", "b 2026-01-03T12:00:00Z"), []string{
					"put b 2026-01-03T12:00:00Z", "mark+",
					"start 2026-01-07", "put a 2026-01-07", "put b 2026-01-03T12:00:00Z", "put c 2026-01-03", "end+", "mark+"}},
		}},
		"a date in the future": {visits: []visit{
			{40, urlset("a 2026-01-05", "b 2099-01-01"), feed("a 2026-01-05T12:00:00Z", "c 2099-01-01T12:00:00Z"), []string{
				"put a 2026-01-05T12:00:00Z", "put c 2099-01-01T12:00:00Z", "mark+",
				"start 2026-01-05", "put a 2026-01-05T12:00:00Z", "put b 2099-01-01*", "put c 2099-01-01T12:00:00Z*", "end+", "mark+"}},
			{41, urlset("a 2026-01-05", "d 2026-02-11"), feed("d 2026-02-11T12:00:00Z", "c 2099-01-01T12:00:00Z"), []string{
				"put d 2026-02-11T12:00:00Z", "put c 2099-01-01T12:00:00Z", "mark+", // c does not hide the gap
				"start 2026-02-11", "put a 2026-01-05", "put d 2026-02-11T12:00:00Z", "put c 2099-01-01T12:00:00Z*", "end+", "mark+"}},
		}},
		// what changed again on the day of a date does not change the lists
		"the date of today": {visits: []visit{
			{40, urlset("a 2026-02-10"), feed("a 2026-02-10"), []string{"put a 2026-02-10", "mark+", "start 2026-02-10", "put a 2026-02-10", "end+", "mark+"}},
			{41, "", feed("a 2026-02-10"), []string{"put a 2026-02-10", "mark+"}},
			{42, "", feed("a 2026-02-10"), []string{"put a 2026-02-10", "mark+"}},
			{43, "", feed("a 2026-02-10"), []string{"mark+"}},
		}},
		"the date of today, in the sitemap": {source: eli.Source{SitemapEvery: time.Hour}, visits: []visit{
			{40, urlset("a 2026-02-10"), feed("a 2026-01-05"), []string{"put a 2026-01-05", "mark+", "start 2026-02-10", "put a 2026-02-10", "end+", "mark+"}},
			{42, urlset("a 2026-02-10"), feed("a 2026-01-05"), []string{"mark+", "start 2026-02-10", "put a 2026-02-10", "end+", "mark+"}},
			{43, urlset("a 2026-02-10"), feed("a 2026-01-05"), []string{"mark+", "mark+"}},
		}},
		"tombstones": {visits: []visit{
			{40, urlset("a 2026-01-05", "b 2026-01-05", "c 2026-01-09", "d"), feed("-a 2026-01-06T12:00:00Z", "-b 2026-01-05T12:00:00Z", "-c 2026-01-08T12:00:00Z", "-d 2026-01-08T12:00:00Z"), []string{
				"delete b 2026-01-05T12:00:00Z", "delete a 2026-01-06T12:00:00Z", "delete c 2026-01-08T12:00:00Z", "delete d 2026-01-08T12:00:00Z", "mark+",
				"start 2026-01-09", "put b 2026-01-05", "put c 2026-01-09", "end+", "mark+"}},
		}},
		"the feed can't be read": {visits: []visit{first,
			{41, "", broken, []string{"problem: NOT A FEED"}},
			{42, first.sitemap, first.feed, []string{"mark+"}},
		}},
		"the feed can't be read in the first run": {visits: []visit{
			{40, urlset("a 2026-01-05"), broken, []string{"problem: NOT A FEED", "start 2026-01-05", "put a 2026-01-05", "end, incomplete"}},
			first,
		}},
		"the sitemap can't be read in the first run": {visits: []visit{
			{40, broken, feed("a 2026-01-05T12:00:00Z"), []string{"put a 2026-01-05T12:00:00Z", "mark+", "problem: NOT A SITEMAP"}},
			{41, urlset("a 2026-01-05"), feed("a 2026-01-05T12:00:00Z"), []string{
				"mark+", "start 2026-01-05", "put a 2026-01-05T12:00:00Z", "end+", "mark+"}},
		}},
		"an entry of the feed that can't be read": {visits: []visit{
			{40, urlset("a 2026-01-05"), strings.Replace(feed("a 2026-01-05T12:00:00Z"), "</feed>", "<entry/></feed>", 1), []string{
				"put a 2026-01-05T12:00:00Z", "mark, 1 skipped+", "start 2026-01-05", "put a 2026-01-05T12:00:00Z", "end+", "mark+"}},
			{41, urlset("a 2026-01-05"), feed("a 2026-01-05T12:00:00Z"), []string{"put a 2026-01-05T12:00:00Z", "mark+", "mark+"}},
			{42, "", feed("a 2026-01-05T12:00:00Z"), []string{"mark+"}},
		}},
		"an entry of the sitemap that can't be read": {visits: []visit{
			{40, strings.Replace(urlset("a 2026-01-05"), "</urlset>", "<url/></urlset>", 1), feed("a 2026-01-05T12:00:00Z"), []string{
				"put a 2026-01-05T12:00:00Z", "mark+", "start 2026-01-05", "put a 2026-01-05T12:00:00Z", "end, 1 skipped+", "mark+"}},
			{41, urlset("a 2026-01-05"), feed("a 2026-01-05T12:00:00Z"), []string{
				"mark+", "start 2026-01-05", "put a 2026-01-05T12:00:00Z", "end+", "mark+"}},
		}},
		"the feed becomes empty": {visits: []visit{first,
			{41, first.sitemap, feed(), []string{"mark+", "mark+"}},
			{42, urlset("a 2026-01-05", "b 2026-02-07"), feed(), []string{"mark+", "start 2026-02-07", "put a 2026-01-05", "put b 2026-02-07", "end+", "mark+"}},
		}},
		"a feed with another id": {visits: []visit{first,
			{41, "", strings.Replace(first.feed, feedID, "urn:other", 1), []string{
				"problem: atom: " + feedURL + `: the feed id is "urn:other", and must be "` + feedID + `"`}},
		}},
		"a feed that says to be complete": {visits: []visit{
			{40, urlset("a 2026-01-05"), strings.Replace(feed("b 2026-01-05T12:00:00Z"), "<title>",
				`<fh:complete xmlns:fh="http://purl.org/syndication/history/1.0"/><title>`, 1), []string{
				"put b 2026-01-05T12:00:00Z", "mark+", "start 2026-01-05", "put a 2026-01-05", "put b 2026-01-05T12:00:00Z", "end+", "mark+"}},
		}},
		"too many updates": {source: eli.Source{MaxUpdates: 1}, visits: []visit{
			{40, urlset("a 2026-01-05"), feed("a 2026-01-05T12:00:00Z", "b 2026-01-06T12:00:00Z"), []string{
				"problem: eli: " + feedURL + ": more than 1 entries: over the limit", "start 2026-01-05", "put a 2026-01-05", "end, incomplete"}},
		}},
		"all pages again after a year": {source: eli.Source{ResyncEvery: 365 * 24 * time.Hour, SitemapEvery: -1}, visits: []visit{first,
			{404, "", first.feed, []string{"mark+"}},
			{405, first.sitemap, first.feed, []string{"mark+", "start 2026-02-05", "put a 2026-01-05T12:00:00Z (resynchronised 2027-02-10)",
				"put b 2026-02-05T12:00:00Z (resynchronised 2027-02-10)", "end+", "mark+"}},
			{406, "", first.feed, []string{"mark+"}},
			{771, urlset("a 2026-01-05", "b", "c 2028-02-11"), first.feed, []string{"mark+", "start 2028-02-11", "put a 2026-01-05T12:00:00Z (resynchronised 2028-02-11)",
				"put b 2026-02-05T12:00:00Z (resynchronised 2028-02-11)", "put c 2028-02-11", "end+", "mark+"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLister(t)
			l.source = test.source
			l.source.Sitemap, l.source.Feed = sitemapURL, feedURL
			for _, v := range test.visits {
				got := l.pass(newSite(v.day).lists(v.sitemap, v.feed))
				for i := range got {
					if i < len(v.want) && (v.want[i] == "problem: NOT A FEED" && strings.Contains(got[i], feedURL) ||
						v.want[i] == "problem: NOT A SITEMAP" && strings.Contains(got[i], sitemapURL)) {
						assert.Contains(t, got[i], "an HTML page, not a")
						got[i] = v.want[i]
					}
				}
				require.Equal(t, v.want, got, "day %d", v.day)
			}
		})
	}
}

// TestFeedMeanwhile: what is new in the feed when the sitemap has been read is yielded,
// and only that. If the feed can't be read then, the next run goes on from before.
func TestFeedMeanwhile(t *testing.T) {
	before, sitemap := feed("a 2026-01-05T12:00:00Z", "b 2026-01-06T12:00:00Z", "e 2026-01-04T12:00:00Z"), urlset("a 2026-01-05", "b 2026-01-06")
	listed := []string{
		"put e 2026-01-04T12:00:00Z", "put a 2026-01-05T12:00:00Z", "put b 2026-01-06T12:00:00Z", "mark+",
		"start 2026-01-06", "put a 2026-01-05T12:00:00Z", "put b 2026-01-06T12:00:00Z", "put e 2026-01-04T12:00:00Z", "end+",
	}
	after := feed("a 2026-02-10T09:00:00Z", "b 2026-01-06T12:00:00Z", "c 2026-02-10T08:00:00Z", "-d 2026-02-10T10:00:00Z", "-e 2026-01-04T12:00:00Z")
	changes := []string{"delete e 2026-01-04T12:00:00Z", "put c 2026-02-10T08:00:00Z", "put a 2026-02-10T09:00:00Z", "delete d 2026-02-10T10:00:00Z"}
	all := append(slices.Insert(slices.Clone(changes), 1, "put b 2026-01-06T12:00:00Z"), "mark+")
	for name, test := range map[string]struct {
		after       string
		first, next []string
	}{
		"changes":                     {after, append(changes, "mark+"), []string{"mark+"}},
		"an entry that can't be read": {strings.Replace(after, "</feed>", "<entry/></feed>", 1), append(changes, "mark, 1 skipped+"), all},
		"a shell":                     {shellPage, []string{"problem: atom: " + feedURL + ": line 1, column 16: html: an HTML page, not an Atom document"}, all},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLister(t)
			reads := 0
			l.hook = func(req *harvest.Request, doc sourcetest.Document) sourcetest.Document {
				if req.URL == feedURL {
					if reads++; reads == 2 {
						return newSite(40).lists("", test.after).Site[feedURL]
					}
				}
				return doc
			}
			assert.Equal(t, append(slices.Clone(listed), test.first...), l.pass(newSite(40).lists(sitemap, before)))
			assert.Equal(t, test.next, l.pass(newSite(41).lists("", after)))
		})
	}
}

// TestNewFeedID: if the feed must have another id than before, it is another feed, and
// the sitemap is read again.
func TestNewFeedID(t *testing.T) {
	l := newLister(t)
	site := func(day int) *lawSite {
		return newSite(day).lists(urlset("a 2026-01-05"), feed("a 2026-01-05T12:00:00Z"))
	}
	l.pass(site(40))
	l.source.FeedID = feedID
	assert.Equal(t, []string{"mark+"}, l.pass(site(41)))
	l.source.FeedID = "urn:other"
	assert.Equal(t, "problem: atom: "+feedURL+`: the feed id is "`+feedID+`", and must be "urn:other"`, l.pass(site(42))[0])
	other := strings.Replace(feed("a 2026-01-05T12:00:00Z"), feedID, "urn:other", 1)
	assert.Equal(t, []string{"put a 2026-01-05T12:00:00Z", "mark+", "start 2026-01-05", "put a 2026-01-05T12:00:00Z", "end+", "mark+"}, l.pass(site(43).lists("", other)))
}

// TestURIs: which entries of the lists are yielded, under which ids.
func TestURIs(t *testing.T) {
	entry := func(id, link string) string {
		return "<entry><id>" + id + "</id><title/><updated>" + timeOf(20) + `</updated><link href="` + link + `"/></entry>`
	}
	for name, test := range map[string]struct {
		source  eli.Source
		sitemap []string
		feed    string // entries
		want    []string
		rules   []string // of package eli
	}{
		"as the specification wants": {
			sitemap: []string{"a 2026-01-05"}, feed: entry(law+"eli/a", law+"eli/a"), want: []string{"a"},
		},
		"one slash after the scheme": {
			sitemap: []string{"https:/law.example/eli/a 2026-01-05", "https:///law.example/eli/b 2026-01-05"},
			feed:    entry("https:/law.example/eli/a", law+"eli/a"), want: []string{"a", "b"},
			rules: []string{"eli-malformed-uri"},
		},
		"not ELIs": {
			sitemap: []string{law + "news/1 2026-01-05", "a 2026-01-05", law + "help?eli/x", "urn:lex:eli", "https://Other.example/ELI/fr/b"},
			feed:    entry(law+"news/2", law+"news/2"), want: []string{"a", "https://Other.example/ELI/fr/b"}, rules: []string{"eli-other-uri"},
		},
		"chosen by the program": {
			source:  eli.Source{Include: func(uri string) bool { return strings.Contains(uri, "news") }},
			sitemap: []string{law + "news/1 2026-01-05", "a 2026-01-05"},
			feed:    entry(law+"news/2", law+"news/2"), want: []string{"https://law.example/news/1", "https://law.example/news/2"}, rules: []string{"eli-other-uri"},
		},
		"an id that is not the ELI": {
			feed: entry("tag:law.example,2026:1", law+"eli/a") + entry("eli/b", "eli/b") + entry("urn:x", "mailto:x@law.example"),
			want: []string{"a", "eli/b"}, rules: []string{"eli-feed-uri", "eli-other-uri"},
		},
		"a link that is not the ELI": {
			feed: entry(law+"eli/a", law+"eli/b") + entry(law+"eli/c", law+"view?id=c"), want: []string{"a", "c"}, rules: []string{"eli-feed-uri"},
		},
		"the first of two": {
			feed: entry(law+"eli/a", law+"eli/a") + entry("urn:x", law+"eli/a"), want: []string{"a"}, rules: []string{"eli-feed-uri"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLister(t)
			l.source = test.source
			l.source.Sitemap, l.source.Feed = sitemapURL, feedURL
			var got []string
			for _, text := range l.pass(newSite(40).lists(urlset(test.sitemap...), strings.Replace(feed(), "</feed>", test.feed+"</feed>", 1))) {
				id, put := strings.CutPrefix(text, "put ")
				if id, _, _ = strings.Cut(id, " "); put && !slices.Contains(got, id) {
					got = append(got, id)
				}
			}
			slices.Sort(got)
			assert.Equal(t, test.want, got)
			rules := slices.DeleteFunc(testkit.Rules(l.findings), func(rule string) bool { return !strings.HasPrefix(rule, "eli-") })
			slices.Sort(rules)
			assert.Equal(t, test.rules, rules)
		})
	}
}

// A collection is a Store that a publisher is harvested into.
type collection struct {
	*testing.T
	store  *harvest.Catalog
	source eli.Source
	h      harvest.Harvester
	// of the last run
	findings []websync.Finding
	asked    []string
}

func newCollection(t *testing.T) *collection {
	return &collection{T: t, store: harvest.NewCatalog(memstore.New()), h: harvest.Harvester{Sample: -1}, source: eli.Source{Sitemap: sitemapURL, Feed: feedURL, Name: testkit.Src}}
}

// run harvests a site. It notes the findings, and the requests for anything but the lists
// as paths, with the status if that is not 200.
func (c *collection) run(site *lawSite) *harvest.Report {
	c.Helper()
	f := &sourcetest.Fetcher{Site: site.Site}
	c.findings, c.asked = nil, nil
	c.h.Catalog, c.h.Fetcher = c.store, f
	c.h.Hooks = testkit.OnFinding(func(f websync.Finding) { c.findings = append(c.findings, f) })
	testkit.MakeDue(c, c.store)
	report, err := c.h.Run(c.Context(), &c.source)
	require.NoError(c, err)
	for _, x := range f.Exchanges() {
		if x.URL == sitemapURL || x.URL == feedURL {
			continue
		}
		path := strings.TrimPrefix(x.URL, law+"eli/")
		if x.Status != 200 {
			path = fmt.Sprintf("%s %d", path, x.Status)
		}
		c.asked = append(c.asked, path)
	}
	return report
}

// bodies returns the live names, each with its bodies but the graph as "name: text".
func (c *collection) bodies() map[string]string {
	c.Helper()
	live := map[string]string{}
	for _, item := range testkit.All(c, c.store.Resources(c.Context(), websync.Range{})) {
		var all []string
		for _, b := range item.Bodies {
			text := testkit.Read(c, c.store, b)
			if b.Name != "graph" {
				all = append(all, b.Name+": "+text)
				continue
			}
			assert.Equal(c, "application/n-quads", b.Link.Type)
			assert.Contains(c, text, " <"+item.Resource.ID+"> .\n")
		}
		live[strings.TrimPrefix(item.Resource.ID, law+"eli/")] = strings.Join(all, "; ")
	}
	return live
}

func (c *collection) resource(name string) websync.Resource {
	c.Helper()
	items, err := c.store.Get(c.Context(), testkit.Src, []string{law + "eli/" + name})
	require.NoError(c, err)
	return items[0].Resource
}

// tasks returns the error of each task.
func (c *collection) tasks() map[string]string {
	tasks := map[string]string{}
	for _, t := range testkit.Tasks(c, c.store) {
		tasks[strings.TrimPrefix(t.Resource.ID, law+"eli/")] = t.Error
	}
	return tasks
}

// one returns a site with the act "a" in its sitemap, on a day, changed on that day.
func one(day int) *lawSite {
	return newSite(day).lists(urlset("a "+timeOf(day)), feed("a "+timeOf(day)))
}

// TestListedDocuments: the sitemap is a document of the listing.
func TestListedDocuments(t *testing.T) {
	var got []harvest.ListedDocument
	run := &harvest.Run{
		Fetcher:  &sourcetest.Fetcher{Site: newSite(1).lists(urlset("a "+timeOf(1), "b "+timeOf(1)), feed("a "+timeOf(1))).Site},
		Document: func(d harvest.ListedDocument) { got = append(got, d) },
	}
	for _, err := range (&eli.Source{Sitemap: sitemapURL, Feed: feedURL}).Events(t.Context(), run) {
		require.NoError(t, err)
	}
	require.Len(t, got, 1)
	assert.Equal(t, sitemapURL, got[0].URL)
	assert.EqualValues(t, 2, got[0].Entries)
}

// TestGet: the metadata and the full text of a resource, and what is requested for them.
func TestGet(t *testing.T) {
	const a = law + "eli/a"
	page := func(formats ...string) string { return rdfaPage(a, "An act", formats...) }
	exemplified := strings.Replace(page("en/html"), `typeof="eli:Format">`, `typeof="eli:Format"><a rel="eli:is_exemplified_by" href="`+law+`files/a.html"></a>
		<a rel="eli:is_exemplified_by" href="`+a+`"></a>`, 1)
	for name, test := range map[string]struct {
		source eli.Source
		site   *lawSite
		asked  []string
		again  []string // a day later, when the date is new but nothing else
		want   string
		rules  []string // of package eli
	}{
		"one format": {
			site: one(1).act("a", "An act", "en/pdf"), asked: []string{"a", "a/en/pdf"}, again: []string{"a 304", "a/en/pdf 304"},
			want: "content: An act in en/pdf",
		},
		"the preferred of several": {
			site: one(1).act("a", "An act", "en/pdf", "en/html"), asked: []string{"a", "a/en/html"}, again: []string{"a 304", "a/en/html 304"},
			want: "content: An act in en/html",
		},
		"by the program's choice": {
			source: eli.Source{Preferences: eli.Preferences{Languages: []string{"de"}, Formats: []string{"application/pdf"}}},
			site:   one(1).act("a", "An act", "en/pdf", "de/html", "de/pdf"), asked: []string{"a", "a/de/pdf"}, again: []string{"a 304", "a/de/pdf 304"},
			want: "content: An act in de/pdf",
		},
		"all languages and formats": {
			source: eli.Source{Preferences: eli.Preferences{AllLanguages: true, AllFormats: true}},
			site:   one(1).act("a", "An act", "en/pdf", "en/html", "fr/pdf"), asked: []string{"a", "a/en/html", "a/en/pdf", "a/fr/pdf"},
			again: []string{"a 304", "a/en/html 304", "a/en/pdf 304", "a/fr/pdf 304"},
			want:  "content: An act in en/html; alternate application/pdf en: An act in en/pdf; alternate application/pdf fr: An act in fr/pdf",
		},
		"the next format": {
			site:  one(1).act("a", "An act", "en/pdf").add("eli/a", "text/html", page("en/html", "en/xml", "en/pdf")).gone("eli/a/en/xml", 410),
			asked: []string{"a", "a/en/html 404", "a/en/xml 410", "a/en/pdf"}, again: []string{"a 304", "a/en/html 404", "a/en/xml 410", "a/en/pdf 304"},
			want: "content: An act in en/pdf",
		},
		"no format is there": {
			site:  one(1).add("eli/a", "text/html", page("en/html", "en/pdf")),
			asked: []string{"a", "a/en/html 404", "a/en/pdf 404"}, again: []string{"a 304", "a/en/html 404", "a/en/pdf 404"},
			rules: []string{"eli-full-text-gone"},
		},
		"one of two languages is not there": {
			source: eli.Source{Preferences: eli.Preferences{AllLanguages: true}},
			site:   one(1).act("a", "An act", "fr/pdf").add("eli/a", "text/html", page("en/pdf", "fr/pdf")),
			asked:  []string{"a", "a/en/pdf 404", "a/fr/pdf"}, again: []string{"a 304", "a/en/pdf 404", "a/fr/pdf 304"},
			want: "content: An act in fr/pdf", rules: []string{"eli-full-text-gone"},
		},
		"no format is stated": {site: one(1).act("a", "An act"), asked: []string{"a"}, again: []string{"a 304"}},
		"by is_exemplified_by": {
			site: one(1).add("eli/a", "text/html", exemplified).add("files/a.html", "text/html", "The text"), asked: []string{"a", law + "files/a.html"},
			again: []string{"a 304", law + "files/a.html 304"}, want: "content: The text",
		},
		"the page is the next format": {
			site: one(1).add("eli/a", "text/html", exemplified), asked: []string{"a", law + "files/a.html 404"},
			again: []string{"a 304", law + "files/a.html 404"}, want: "content: " + exemplified,
		},
		"the page after a redirect is the format": {
			site: one(1).moved("eli/a", "eli/a/en/html").add("eli/a/en/html", "text/html", page("en/html", "en/pdf")), asked: []string{"a"}, again: []string{"a 304"},
			want: "content: " + page("en/html", "en/pdf"),
		},
		"the format redirects to the page": {
			site: one(1).moved("eli/a/en/html", "eli/a").add("eli/a", "text/html", page("en/html")), asked: []string{"a", "a/en/html"},
			again: []string{"a 304", "a/en/html 304"}, want: "content: " + page("en/html"),
		},
		"a redirect in HTML": {
			site: one(1).act("a", "An act", "en/pdf").add("eli/a", "text/html", `<html><head><base href="/view/"><meta http-equiv="Refresh" content="0; URL='a#top'"></head></html>`).
				add("view/a", "text/html", page("en/pdf")),
			asked: []string{"a", law + "view/a", "a/en/pdf"}, again: []string{"a", law + "view/a 304", "a/en/pdf 304"},
			want: "content: An act in en/pdf", rules: []string{"eli-html-redirect"},
		},
		"a refresh that leads nowhere else": {
			site:  one(1).add("eli/a", "text/html", strings.Replace(page(), "<head>", `<head><meta http-equiv="refresh" content="600"><meta http-equiv="refresh" content="5; url=/other">`, 1)),
			asked: []string{"a"}, again: []string{"a 304"},
		},
		"another type than stated": {
			site: one(1).add("eli/a", "text/html", page("en/pdf")).add("eli/a/en/pdf", "text/html", "<html>A viewer</html>"), asked: []string{"a", "a/en/pdf"},
			again: []string{"a 304", "a/en/pdf 304"}, want: "content: <html>A viewer</html>", rules: []string{"eli-format-type"},
		},
		"another URI of the page": {
			site:  one(1).add("eli/a", "text/html", strings.ReplaceAll(page("en/pdf"), law, "http://www.law.example/")).add("http://www.law.example/eli/a/en/pdf", "application/pdf", "text"),
			asked: []string{"a", "http://www.law.example/eli/a/en/pdf"}, again: []string{"a 304", "http://www.law.example/eli/a/en/pdf 304"},
			want: "content: text", rules: []string{"eli-uri"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			c.source.Preferences = test.source.Preferences
			require.True(t, c.run(test.site).InStep(), "%v", c.tasks())
			assert.Equal(t, test.asked, c.asked)
			assert.Equal(t, test.want, c.bodies()["a"])
			rules := slices.DeleteFunc(testkit.Rules(c.findings), func(rule string) bool { return !strings.HasPrefix(rule, "eli-") })
			assert.ElementsMatch(t, test.rules, rules)
			r, last := c.resource("a"), len(testkit.Entries(t, c.store))

			later := one(2)
			for url, doc := range test.site.Site {
				if url != sitemapURL && url != feedURL {
					later.Site[url] = doc
				}
			}
			require.True(t, c.run(later).InStep(), "%v", c.tasks())
			assert.Equal(t, test.again, c.asked)
			assert.Equal(t, test.want, c.bodies()["a"])
			again := c.resource("a")
			again.Modified = r.Modified
			assert.Equal(t, r, again)
			assert.LessOrEqual(t, len(testkit.Entries(t, c.store)), last+1)
		})
	}
}

// TestDescription: what the metadata say of a resource.
func TestDescription(t *testing.T) {
	c := newCollection(t)
	c.source.Preferences = eli.Preferences{Languages: []string{"fr"}}
	c.run(one(1).act("a", "An act", "en/pdf", "fr/html", "fr/pdf"))
	uri := law + "eli/a"
	assert.Equal(t, websync.Resource{
		ID: uri, Title: "An act (fr)", Lang: "fr", Modified: testkit.Date(t, timeOf(1)),
		Content: websync.Link{Href: uri + "/fr/html", Type: "text/html", Lang: "fr"},
		Links: []websync.Link{
			{Rel: "alternate", Href: uri + "/en/pdf", Type: "application/pdf", Lang: "en"},
			{Rel: "alternate", Href: uri + "/fr/pdf", Type: "application/pdf", Lang: "fr"},
		},
	}, c.resource("a"))
	item, err := c.store.Get(t.Context(), testkit.Src, []string{uri})
	require.NoError(t, err)
	graph, name, err := eli.ReadGraph(strings.NewReader(testkit.Read(t, c.store, item[0].Bodies[0])))
	require.NoError(t, err)
	assert.Equal(t, uri, name)
	act, err := graph.Resource(uri)
	require.NoError(t, err)
	assert.Len(t, act.Expressions, 2)
}

// TestFormats: the links of a resource are those that were found to work, as far as they
// were tried, and a file of several expressions is requested once.
func TestFormats(t *testing.T) {
	const a = law + "eli/a"
	exemplify := func(page, format, url string) string {
		format = `about="` + a + "/" + format + `" typeof="eli:Format">`
		require.Contains(t, page, format)
		return strings.Replace(page, format, format+`<a rel="eli:is_exemplified_by" href="`+url+`"></a>`, 1)
	}
	page := rdfaPage(a, "An act", "en/html", "en/pdf", "fr/pdf")
	html, pdf, french := a+"/en/html", a+"/en/pdf", a+"/fr/pdf"
	for name, test := range map[string]struct {
		page  string
		files []string
		all   bool
		asked []string
		want  []string // the content, and the links
	}{
		"the URI of a format": {exemplify(page, "en/html", law+"gone"), []string{html}, false, []string{law + "gone 404", "a/en/html"}, []string{html, pdf, french}},
		"another format":      {exemplify(page, "en/html", law+"gone"), []string{pdf}, false, []string{law + "gone 404", "a/en/html 404", "a/en/pdf"}, []string{pdf, law + "gone", french}},
		"the URIs of several": {exemplify(exemplify(page, "en/html", law+"gone"), "fr/pdf", law+"gone/too"), []string{html, french}, true,
			[]string{law + "gone 404", "a/en/html", law + "gone/too 404", "a/fr/pdf"}, []string{html, pdf, french}},
		"one file of two expressions": {exemplify(exemplify(page, "en/html", law+"both"), "fr/pdf", law+"both"), []string{law + "both"}, true, []string{law + "both"}, []string{law + "both", pdf}},
		"none":                        {page, nil, false, []string{"a/en/html 404", "a/en/pdf 404", "a/fr/pdf 404"}, []string{"", html, pdf, french}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			c.source.Preferences.AllLanguages = test.all
			site := one(1).add("eli/a", "text/html", test.page)
			for _, file := range test.files {
				site.add(file, "", "text")
			}
			require.True(t, c.run(site).InStep(), "%v", c.tasks())
			assert.Equal(t, append([]string{"a"}, test.asked...), c.asked)
			r := c.resource("a")
			got := []string{r.Content.Href}
			for _, l := range r.Links {
				got = append(got, l.Href)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// TestPageForFile: if the file of the full text is gone and the page, which has not
// changed, is next, the page is requested once more, for its bytes.
func TestPageForFile(t *testing.T) {
	c := newCollection(t)
	page := strings.Replace(rdfaPage(law+"eli/a", "An act", "en/html"), `typeof="eli:Format">`, `typeof="eli:Format"><a rel="eli:is_exemplified_by" href="`+law+`files/a.html"></a>
		<a rel="eli:is_exemplified_by" href="`+law+`eli/a"></a>`, 1)
	require.True(t, c.run(one(1).add("eli/a", "text/html", page).add("files/a.html", "text/html", "The text")).InStep())
	require.Equal(t, "content: The text", c.bodies()["a"])
	f := &sourcetest.Fetcher{Site: one(2).add("eli/a", "text/html", page).Site, Hook: func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
		assert.Equal(t, 5*time.Second, req.Interval, req.URL)
		return doc, nil
	}}
	c.h.Fetcher = f
	report, err := c.h.Run(t.Context(), &c.source)
	require.NoError(t, err)
	require.True(t, report.InStep(), "%v", c.tasks())
	assert.Equal(t, "content: "+page, c.bodies()["a"])
	assert.Len(t, f.Exchanges(), 6, "the feed, the sitemap, the feed, the page, the file and the page")
}

// TestCutPages: a page that may have been cut must have its end.
func TestCutPages(t *testing.T) {
	page := rdfaPage(law+"eli/a", "An act")
	for name, test := range map[string]struct {
		page string
		cut  bool
		task string
	}{
		"with its end":             {page, true, ""},
		"without":                  {strings.TrimSuffix(page, "</html>\n"), true, "document ends too early"},
		"without, but of a length": {strings.TrimSuffix(page, "</html>\n"), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			f := &sourcetest.Fetcher{Site: one(1).add("eli/a", "text/html", test.page).Site}
			c.h.Catalog, c.h.Fetcher = c.store, testkit.FetchFunc(func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
				resp, err := f.Fetch(ctx, req)
				if err == nil {
					resp.MayBeCut = test.cut && req.URL == law+"eli/a"
				}
				return resp, err
			})
			report, err := c.h.Run(t.Context(), &c.source)
			require.NoError(t, err)
			assert.Equal(t, test.task == "", report.InStep())
			assert.Contains(t, c.tasks()["a"], test.task)
		})
	}
}

// TestFailedPages: a page or a file that is not what it must be leaves the resource as it
// was, and a task. The next run repairs it.
func TestFailedPages(t *testing.T) {
	const a = law + "eli/a"
	for name, test := range map[string]struct {
		fail func(*lawSite)
		task string
		gone bool
	}{
		"gone":            {func(s *lawSite) { s.gone("eli/a", 404) }, "eli: page: " + a + ": status 404", true},
		"gone for good":   {func(s *lawSite) { s.gone("eli/a", 410) }, "eli: page: " + a + ": status 410", true},
		"not there now":   {func(s *lawSite) { s.gone("eli/a", 503) }, "eli: page: " + a + ": status 503", false},
		"a shell":         {func(s *lawSite) { s.add("eli/a", "text/html", shellPage) }, "eli: " + a + ": no ELI metadata", false},
		"another act":     {func(s *lawSite) { s.add("eli/a", "text/html", rdfaPage(law+"eli/b", "Another")) }, "the page does not describe it, but " + law + "eli/b", false},
		"a PDF":           {func(s *lawSite) { s.add("eli/a", "application/pdf", "%PDF-1.4") }, `the Content-Type is "application/pdf", and must be text/html`, false},
		"no type":         {func(s *lawSite) { s.add("eli/a", "", "{}") }, `the Content-Type is "", and must be text/html`, false},
		"nothing":         {func(s *lawSite) { s.add("eli/a", "text/html", "") }, "the answer is empty", false},
		"JSON-LD":         {func(s *lawSite) { s.add("eli/a", "text/html", `<script type="application/ld+json">{}</script>`) }, "add a jsonld.Extractor", false},
		"too long":        {func(s *lawSite) { s.add("eli/a", "text/html", rdfaPage(a, strings.Repeat("x", 9999))) }, "over the limit", false},
		"no full text":    {func(s *lawSite) { s.gone("eli/a/en/pdf", 500) }, "eli: full text " + a + "/en/pdf: " + a + "/en/pdf: status 500", false},
		"forbidden":       {func(s *lawSite) { s.gone("eli/a/en/pdf", 403) }, "status 403", false},
		"empty full text": {func(s *lawSite) { s.add("eli/a/en/pdf", "application/pdf", "") }, "the answer is empty", false},
		"redirects for ever": {func(s *lawSite) {
			s.add("eli/a", "text/html", `<meta http-equiv=refresh content="0;url=/eli/a2">`)
			s.add("eli/a2", "text/html", `<meta http-equiv=refresh content="0;url=/eli/a">`)
		}, "no ELI metadata", false},
		"redirect to nothing": {func(s *lawSite) { s.add("eli/a", "text/html", `<meta http-equiv=refresh content="0;url=/eli/a2">`) }, "eli: page " + law + "eli/a2: ", false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			c.source.MaxPage = 8000
			require.True(t, c.run(one(1).act("a", "An act", "en/pdf")).InStep())
			before := c.resource("a")
			site := one(2).act("a", "An act, as amended", "en/pdf")
			test.fail(site)
			var report *harvest.Report
			for range 10 {
				report = c.run(site)
			}
			assert.Contains(t, c.tasks()["a"], test.task)
			assert.Equal(t, before, c.resource("a"))
			assert.Equal(t, "content: An act in en/pdf", c.bodies()["a"])
			assert.EqualValues(t, map[bool]int64{true: 1}[test.gone], report.Left.Gone)
			assert.Equal(t, test.gone, report.InStep())
			require.True(t, c.run(one(3).act("a", "An act, as amended", "en/pdf")).InStep())
			assert.Equal(t, "content: An act, as amended in en/pdf", c.bodies()["a"])
		})
	}
}

// TestMaxPage: the limit is also that of the Extractor, if none is set.
func TestMaxPage(t *testing.T) {
	c := newCollection(t)
	site := one(1).act("a", "An act", "en/pdf")
	long := strings.Repeat("<p>"+strings.Repeat("x", 1<<20)+"</p>", 13)
	site.add("eli/a", "text/html", strings.Replace(rdfaPage(law+"eli/a", "Long", "en/pdf"), "</body>", long+"</body>", 1))
	assert.False(t, c.run(site).InStep())
	assert.Contains(t, c.tasks()["a"], "over the limit")
	c = newCollection(t)
	c.source.MaxPage = 16 << 20
	assert.True(t, c.run(site).InStep())
}

// A crowd is an Extractor that notes how many pages it has at once.
type crowd struct {
	rdfa.Extractor
	now, most atomic.Int64
}

func (x *crowd) Extract(src io.Reader, base, contentType string, report func(websync.Finding)) ([]rdf.Triple, error) {
	x.most.Store(max(x.most.Load(), x.now.Add(1)))
	defer x.now.Add(-1)
	for range 100 {
		runtime.Gosched() // others would come in
	}
	return x.Extractor.Extract(src, base, contentType, report)
}

// TestOnePageAtATime: pages, which may be hostile, are not in memory as trees at once.
func TestOnePageAtATime(t *testing.T) {
	c, x := newCollection(t), new(crowd)
	c.source.Extractors = []eli.Extractor{x}
	c.h.Concurrency = 8
	site := newSite(40)
	var acts []string
	for i := range 50 {
		name := fmt.Sprint("act/", i)
		site.act(name, name)
		acts = append(acts, name+" 2026-01-05")
	}
	require.True(t, c.run(site.lists(urlset(acts...), feed())).InStep())
	assert.Len(t, c.bodies(), 50)
	assert.EqualValues(t, 1, x.most.Load())
}

// TestVanished: what neither list has any more is deleted, unless it is later than the
// sitemap. A feed that has it again with an old date does not bring it back.
func TestVanished(t *testing.T) {
	acts := func(day int) *lawSite {
		return newSite(day).act("old", "Old").act("feed", "In the feed").act("new", "New").act("stays", "Stays")
	}
	c := newCollection(t)
	stays := "stays 2026-01-20T12:00:00Z"
	require.True(t, c.run(acts(40).lists(urlset("old 2026-01-05", "feed 2026-01-06", stays), feed("new 2026-02-09T12:00:00Z", "feed 2026-01-06T12:00:00Z", stays))).InStep())
	assert.Len(t, c.bodies(), 4)
	// the sitemap of 30 days later lacks three of them, the feed two
	require.True(t, c.run(acts(71).lists(urlset("stays 2026-01-21"), feed("feed 2026-01-06T12:00:00Z", stays))).InStep())
	assert.Equal(t, []string{"feed", "new", "stays"}, slices.Sorted(maps.Keys(c.bodies())), "new is later than the sitemap")
	require.True(t, c.run(acts(102).lists(urlset("stays 2026-03-01"), feed(stays))).InStep())
	assert.Equal(t, []string{"stays"}, slices.Sorted(maps.Keys(c.bodies())))
	last := len(testkit.Entries(t, c.store))
	require.True(t, c.run(acts(103).lists("", feed("old 2026-01-05T00:00:00Z", "feed 2026-01-06T12:00:00Z", "new 2026-02-09T12:00:00Z", stays))).InStep())
	assert.Equal(t, []string{"stays"}, slices.Sorted(maps.Keys(c.bodies())))
	assert.Len(t, testkit.Entries(t, c.store), last)
	require.True(t, c.run(acts(104).lists("", feed("old 2026-04-14T12:00:00Z", stays))).InStep(), "published again")
	assert.Equal(t, []string{"old", "stays"}, slices.Sorted(maps.Keys(c.bodies())))
}

// TestVanishedAtOneDate: what is later than the sitemap stays, although the latest date
// in the sitemap has remained the same while its list has changed.
func TestVanishedAtOneDate(t *testing.T) {
	acts := func(day int) *lawSite {
		return newSite(day).act("old", "Old").act("new", "New").act("stays", "Stays")
	}
	c := newCollection(t)
	stays := "stays 2026-01-20T12:00:00Z"
	require.True(t, c.run(acts(40).lists(urlset("old 2026-01-05", stays), feed("new 2026-02-09T12:00:00Z", stays))).InStep())
	require.True(t, c.run(acts(71).lists(urlset(stays), feed(stays))).InStep())
	assert.Equal(t, []string{"new", "stays"}, slices.Sorted(maps.Keys(c.bodies())))
}

// TestCorrectedDate: an act whose date in the sitemap was too late, and was corrected, is
// obtained when it changes at an earlier date.
func TestCorrectedDate(t *testing.T) {
	c := newCollection(t)
	c.source.SitemapEvery = time.Hour
	run := func(day int, date, title string) {
		t.Helper()
		b := "b 2026-01-20T12:00:00Z"
		require.True(t, c.run(newSite(day).act("a", title).act("b", "B").lists(urlset("a "+date, b), feed(b))).InStep())
		assert.Equal(t, title, c.resource("a").Title)
	}
	run(40, "2026-02-08", "A")
	run(41, "2026-01-10", "A, as amended")
	run(42, "2026-01-15", "A, as amended again")
	run(43, "2026-01-15", "A, as amended again")
	assert.Empty(t, c.asked)
}

// TestTitles: a title that only the feed has, or a date that is coarser in one list,
// makes no resource different.
func TestTitles(t *testing.T) {
	c := newCollection(t)
	c.source.SitemapEvery = time.Hour
	lists := func(day int, more string) *lawSite {
		return newSite(day).act("a", "An act").lists(urlset("a 2026-01-05", "b"+more+" 2026-01-04"), feed("a 2026-01-05T12:00:00Z")).act("b1", "B").act("b2", "B")
	}
	require.True(t, c.run(lists(40, "1")).InStep())
	last := len(testkit.Entries(t, c.store))
	require.True(t, c.run(lists(41, "1")).InStep())
	assert.Empty(t, c.asked)
	assert.Len(t, testkit.Entries(t, c.store), last)
}

// TestResync: a resynchronisation asks for each page once, conditionally, and finds what
// changed without a new date. An interrupted one goes on with the rest.
func TestResync(t *testing.T) {
	c := newCollection(t)
	c.h.Sample = -1
	c.source.ResyncEvery = 100 * 24 * time.Hour
	site := func(day int, title string) *lawSite {
		return newSite(day).act("a", title).act("b", "B").lists(urlset("a 2026-01-05", "b 2026-01-06"), feed("b 2026-01-06"))
	}
	require.True(t, c.run(site(40, "A")).InStep())
	require.True(t, c.run(site(139, "A, as enriched")).InStep())
	assert.Empty(t, c.asked)
	c.h.Budget.Requests, c.h.Concurrency = 1, 1
	require.False(t, c.run(site(140, "A, as enriched")).InStep())
	assert.Len(t, c.asked, 1)
	c.h.Budget.Requests = 0
	require.True(t, c.run(site(141, "A, as enriched")).InStep())
	assert.Len(t, c.asked, 1)
	assert.Equal(t, "A, as enriched", c.resource("a").Title)
	for day := 142; day < 240; day += 48 { // the sitemap is read, too
		later := site(day, "A, as enriched")
		later.lists(later.Site[sitemapURL].Body+fmt.Sprintf("<!-- day %d -->", day), "")
		require.True(t, c.run(later).InStep())
		assert.Empty(t, c.asked)
	}
	c.store = harvest.NewCatalog(memstore.New())
	require.True(t, c.run(site(40, "A")).InStep())
	require.True(t, c.run(site(140, "A")).InStep())
	slices.Sort(c.asked)
	assert.Equal(t, []string{"a 304", "b 304"}, c.asked)
}

// entries returns the log of the Store.
func (c *collection) entries() []websync.Item { return testkit.Entries(c, c.store) }
