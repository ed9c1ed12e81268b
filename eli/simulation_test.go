package eli_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

var full = flag.Bool("full", !racing.Few(), "TestSimulatedPublisher has 5,000 acts, not 200")

// A gazetteer simulates a publisher of legislation, day by day, and is the Fetcher of its
// documents. Its sitemap is a copy of some day; its feed and its pages are those of now.
type gazetteer struct {
	*testing.T
	rand *rand.Rand
	now  time.Time
	acts []*simulatedAct

	feedDates, sitemapDates bool // dates without a time
	feedMost                int  // entries; 0: any number
	parts                   [][]urlEntry
	partOf                  map[string]bool // the URIs in parts
	made                    time.Time       // when parts were
	latest                  time.Time       // the latest change in parts

	mu       sync.Mutex
	failing  map[string]func() (*harvest.Response, error) // by URL, today
	requests int
	stopAt   int // the number of the request that stops the run; 0: none
	stop     func()
	sitemaps int // answers with the sitemap's root
}

// A simulatedAct is a legal resource of a gazetteer.
type simulatedAct struct {
	uri     string
	n       int
	version int
	changed time.Time
	gone    time.Time // zero: it is there
	shell   bool      // its page has no metadata now
	noHTML  bool      // its HTML format is listed, and not there
	noText  bool      // none of its formats is there
	in      bool      // a gone one is still in the feed
}

const feedDays = 60 * 24 * time.Hour

const gazetteURL = "https://gazette.example/"

func (a *simulatedAct) title() string { return fmt.Sprintf("Act %d, version %d", a.n, a.version) }

func (a *simulatedAct) page() string {
	if a.shell {
		return shellPage
	}
	return rdfaPage(a.uri, a.title(), "en/html", "en/pdf")
}

// text returns the full text that a Source must store; "" if there is none.
func (a *simulatedAct) text() string {
	switch {
	case a.noText:
		return ""
	case a.noHTML:
		return a.title() + " in PDF"
	}
	return a.title() + " in HTML"
}

func (g *gazetteer) enact(n int) {
	for range n {
		i := len(g.acts)
		a := &simulatedAct{uri: fmt.Sprintf("%seli/act/%d", gazetteURL, i), n: i, version: 1, changed: g.now, noHTML: g.chance(10), noText: g.chance(40)}
		g.acts = append(g.acts, a)
	}
}

// chance returns true once in n times.
func (g *gazetteer) chance(n int) bool { return g.rand.IntN(n) == 0 }

// live returns a random act that is there.
func (g *gazetteer) live() *simulatedAct {
	for {
		if a := g.acts[g.rand.IntN(len(g.acts))]; a.gone.IsZero() {
			return a
		}
	}
}

// day lets time pass until the evening of the next day, with its changes.
func (g *gazetteer) day(changes int) {
	g.now = g.now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	for range changes {
		g.now = g.now.Add(time.Duration(1+g.rand.IntN(60)) * time.Second)
		switch k := g.rand.IntN(20); {
		case k < 5:
			g.enact(1)
		case k < 6:
			a := g.live()
			a.gone, a.in = g.now, g.chance(2)
		case k < 7:
			g.live().shell = true
		default:
			a := g.live()
			a.version++
			a.changed = g.now
		}
	}
	for _, a := range g.acts {
		a.shell = a.shell && !g.chance(3)
	}
	g.now = g.now.Truncate(24 * time.Hour).Add(20 * time.Hour)
}

// list makes a new sitemap.
func (g *gazetteer) list() {
	g.parts, g.partOf, g.made, g.latest = nil, map[string]bool{}, g.now, time.Time{}
	var part []urlEntry
	for _, a := range g.acts {
		if !a.gone.IsZero() {
			continue
		}
		g.partOf[a.uri] = true
		if a.changed.After(g.latest) {
			g.latest = a.changed
		}
		part = append(part, urlEntry{a.uri, g.date(a.changed, g.sitemapDates)})
		if len(part) == 2000 {
			g.parts, part = append(g.parts, part), nil
		}
	}
	g.parts = append(g.parts, part)
}

func (g *gazetteer) date(at time.Time, only bool) string {
	if only {
		return at.Format(time.DateOnly)
	}
	return at.Format(time.RFC3339)
}

// updates returns what the feed has now, the newest first.
func (g *gazetteer) updates() []*simulatedAct {
	var all []*simulatedAct
	for _, a := range g.acts {
		if g.now.Sub(a.changed) < feedDays && (a.gone.IsZero() || a.in) {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b *simulatedAct) int { return b.changed.Compare(a.changed) })
	if g.feedMost > 0 {
		all = all[:min(len(all), g.feedMost)]
	}
	return all
}

// document returns what is at a URL; status is 404 if nothing is.
func (g *gazetteer) document(url string) (body, contentType string, status int) {
	path, ok := strings.CutPrefix(url, gazetteURL)
	switch {
	case !ok:
		return "", "", 404
	case path == "eli/sitemap.xml":
		g.sitemaps++
		var paths []string
		for i := range g.parts {
			paths = append(paths, fmt.Sprintf("eli/sitemap%d.xml", i))
		}
		return strings.ReplaceAll(index(paths...), law, gazetteURL), "application/xml", 200
	case strings.HasPrefix(path, "eli/sitemap"):
		var i int
		fmt.Sscanf(path, "eli/sitemap%d.xml", &i)
		var b strings.Builder
		b.WriteString(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
		for _, e := range g.parts[i] {
			b.WriteString(e.element("url", "lastmod", "<loc>"+e.uri+"</loc>"))
		}
		return b.String() + "</urlset>", "application/xml", 200
	case path == "eli/eli-update-feed.atom":
		var pairs []string
		for _, a := range g.updates() {
			pairs = append(pairs, a.uri+" "+g.date(a.changed, g.feedDates))
		}
		return feed(pairs...), "application/atom+xml", 200
	}
	var n int
	fmt.Sscanf(path, "eli/act/%d", &n)
	if n >= len(g.acts) || !g.acts[n].gone.IsZero() {
		return "", "", 404
	}
	a := g.acts[n]
	switch {
	case url == a.uri:
		return a.page(), "text/html; charset=utf-8", 200
	case strings.HasSuffix(path, "/en/html") && !a.noHTML && !a.noText:
		return a.title() + " in HTML", "text/html", 200
	case strings.HasSuffix(path, "/en/pdf") && !a.noText:
		return a.title() + " in PDF", "application/pdf", 200
	}
	return "", "", 404
}

var errStopped = errors.New("the run was stopped")

// A simulatedStatus is the error for an answer without success.
type simulatedStatus struct {
	url  string
	code int
}

func (e *simulatedStatus) Error() string   { return fmt.Sprintf("%s: status %d", e.url, e.code) }
func (e *simulatedStatus) StatusCode() int { return e.code }
func (e *simulatedStatus) Is(target error) bool {
	return target == websync.ErrGone && e.code == 404 || target == harvest.ErrTemporary && e.code >= 500
}

// Fetch implements harvest.Fetcher.
func (g *gazetteer) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.requests++; g.requests == g.stopAt {
		g.stop()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if fail := g.failing[req.URL]; fail != nil {
		return fail()
	}
	body, contentType, status := g.document(req.URL)
	if status != 200 {
		return nil, &simulatedStatus{req.URL, status}
	}
	return g.answer(req, body, contentType), nil
}

func (g *gazetteer) answer(req *harvest.Request, body, contentType string) *harvest.Response {
	resp := &harvest.Response{
		URL: req.URL, Status: 200, Length: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)),
		Header:    map[string][]string{"Date": {g.now.Format(http.TimeFormat)}, "Content-Type": {contentType}},
		Validator: harvest.Validator{URL: req.URL, ETag: fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(body)))},
	}
	if req.Validator.ETag == resp.Validator.ETag {
		resp.Status, resp.NotModified, resp.Body, resp.Length = 304, true, nil, 0
	}
	return resp
}

// break lets some documents fail today.
func (g *gazetteer) breakSome() {
	g.failing = map[string]func() (*harvest.Response, error){}
	fail := func(url string) {
		status := func() (*harvest.Response, error) { return nil, &simulatedStatus{url, 503} }
		page := func() (*harvest.Response, error) {
			return g.answer(&harvest.Request{URL: url}, shellPage, "text/html"), nil
		}
		cut := func() (*harvest.Response, error) {
			body, contentType, _ := g.document(url)
			return g.answer(&harvest.Request{URL: url}, body[:len(body)*2/3], contentType), nil
		}
		g.failing[url] = [...]func() (*harvest.Response, error){status, page, cut}[g.rand.IntN(3)]
	}
	if g.chance(8) {
		fail(gazetteURL + "eli/eli-update-feed.atom")
	}
	if g.chance(8) {
		fail(gazetteURL + "eli/sitemap0.xml")
	}
	for range g.rand.IntN(3) {
		a := g.live()
		g.failing[a.uri+"/en/html"] = func() (*harvest.Response, error) { return nil, &simulatedStatus{a.uri, 503} }
	}
}

// TestSimulatedPublisher harvests a publisher for 60 days and more: with a monthly
// sitemap, a feed that is cut or can't be read, acts that vanish, shell pages, formats
// that are not there, and runs that are interrupted. After each run the Store equals what
// the publisher has, or the run lists what does not.
func TestSimulatedPublisher(t *testing.T) {
	acts, changes, seeds := 200, 12, []uint64{1, 6, 0, 2, 3, 4, 5, 7}
	if *full {
		acts, changes, seeds = 5000, 60, []uint64{1, 6}
	}
	seeds = seeds[:racing.Some(len(seeds))]
	var all simulation
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			g := &gazetteer{T: t, rand: rand.New(rand.NewPCG(seed, 1)), now: firstDay.AddDate(0, 0, -400)}
			g.feedDates, g.sitemapDates = seed&1 != 0, seed&2 == 0
			for range 400 {
				g.now = g.now.Add(24 * time.Hour)
				g.enact(acts / 400)
			}
			g.enact(acts % 400)
			s := &simulation{gazetteer: g, store: harvest.NewCatalog(memstore.New()), source: eli.Source{
				Sitemap: gazetteURL + "eli/sitemap.xml", Feed: gazetteURL + "eli/eli-update-feed.atom", Name: testkit.Src, Interval: -1,
			}}
			if seed&4 != 0 {
				s.source.SitemapEvery = 24 * time.Hour
			}
			for day := range 75 {
				g.day(changes)
				if day%30 == 0 || g.chance(40) {
					g.list()
				}
				if g.feedMost = 0; g.chance(25) {
					g.feedMost = changes / 2 // the day's changes are more
				}
				if day > 0 && g.chance(12) {
					continue // no run today
				}
				g.breakSome()
				for g.chance(4) {
					s.run(1 + g.rand.IntN(2*changes))
				}
				s.run(0)
			}
			t.Logf("%d runs, %d in step, %d with a hole, %d interrupted; %d acts deleted", s.runs, s.inStep, s.holes, s.interrupted, s.swept)
			all.inStep, all.holes, all.swept, all.interrupted = all.inStep+s.inStep, all.holes+s.holes, all.swept+s.swept, all.interrupted+s.interrupted
		})
	}
	assert.Positive(t, all.inStep, "runs in step")
	assert.Positive(t, all.holes, "runs with a hole")
	assert.Positive(t, all.interrupted, "interrupted runs")
	assert.Positive(t, all.swept, "acts that were deleted")
}

// A simulation is a Store that a gazetteer is harvested into.
type simulation struct {
	*gazetteer
	store  *harvest.Catalog
	source eli.Source

	passed time.Time // when all of the sitemap was last read
	// counts of runs, and of acts
	runs, inStep, holes, interrupted, swept int
}

// run makes a run. If stopAt is not zero, the run is interrupted at that request.
func (s *simulation) run(stopAt int) {
	s.Helper()
	ctx, cancel := context.WithCancelCause(s.Context())
	defer cancel(nil)
	s.requests, s.stopAt, s.sitemaps = 0, stopAt, 0
	s.stop = func() { cancel(errStopped) }
	s.runs++
	testkit.MakeDue(s, s.store)
	source := s.source
	h := harvest.Harvester{Catalog: s.store, Fetcher: s.gazetteer, Sample: -1}
	report, err := h.Run(ctx, &source)
	if stopAt > 0 && err != nil {
		require.ErrorIs(s, err, errStopped)
		s.interrupted++
		return
	}
	require.NoError(s, err)
	if report.Complete && s.sitemaps > 0 {
		s.passed = s.now
	}
	s.swept += int(report.Deleted)
	s.check(report)
}

// check compares the Store with the publisher.
func (s *simulation) check(report *harvest.Report) {
	s.Helper()
	if report.InStep() {
		s.inStep++
	}
	hole := slices.ContainsFunc(report.Problems, func(f harvest.Failure) bool { return strings.Contains(f.Error, "changes in between may be missing") })
	if hole {
		s.holes++
	}
	tasks := map[string]harvest.Task{}
	for _, task := range testkit.Tasks(s, s.store) {
		tasks[task.Resource.ID] = task
	}
	inFeed := map[string]bool{}
	for _, a := range s.updates() {
		inFeed[a.uri] = true
	}
	stored := map[string]websync.Item{}
	for _, item := range testkit.All(s, s.store.Resources(s.Context(), websync.Range{})) {
		stored[item.Resource.ID] = item
	}
	for _, a := range s.acts {
		item, isStored := stored[a.uri]
		task, waits := tasks[a.uri]
		day := s.now.Sub(firstDay) / (24 * time.Hour)
		if !a.gone.IsZero() {
			// what is gone is deleted once no list has it, unless it is later than the
			// sitemap
			known := s.partOf[a.uri] || a.in && s.passed.Sub(a.changed) < feedDays || !a.changed.Before(s.latest.Truncate(24*time.Hour)) ||
				s.passed.Before(s.made) || s.passed.Before(a.gone)
			require.True(s, !isStored || known || !report.InStep(), "day %d: %s is gone since %v, and is in the Store", day, a.uri, a.gone)
			continue
		}
		if isStored && s.equals(&item, a) {
			require.True(s, !waits || task.Parked || !task.Since.IsZero() || a.shell || s.isFailing(a), "day %d: %s has what the publisher has, and a task: %+v", day, a.uri, task)
			continue
		}
		// it differs
		require.False(s, report.InStep(), "day %d: %s is %q, and must be %q", day, a.uri, item.Resource.Title, a.title())
		if waits || !report.Complete && !hole {
			continue
		}
		require.True(s, hole && !inFeed[a.uri] && !a.changed.Before(s.latest), "day %d: %s of %v is %q, must be %q, and is not listed; the sitemap is of %v; problems: %v",
			day, a.uri, a.changed, item.Resource.Title, a.title(), s.latest, report.Problems)
	}
}

// isFailing reports whether a document of an act fails today.
func (s *simulation) isFailing(a *simulatedAct) bool { return s.failing[a.uri+"/en/html"] != nil }

// equals reports whether the Store has the present state of an act.
func (s *simulation) equals(item *websync.Item, a *simulatedAct) bool {
	wantBodies := 2
	if a.text() == "" {
		wantBodies = 1
	}
	if strings.TrimSuffix(item.Resource.Title, " (en)") != a.title() || len(item.Bodies) != wantBodies {
		return false
	}
	if wantBodies == 1 {
		return true
	}
	digest, _ := item.Bodies[1].Link.Digests.Get("sha-256")
	return digest == websync.SHA256([]byte(a.text()))
}
