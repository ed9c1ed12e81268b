package atom_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// A chronicle is an archived or a paged feed whose history is made at random.
type chronicle struct {
	paged    int // items of a page; if 0, an archived feed
	mu       sync.Mutex
	now      int
	versions int
	chain    int        // the number of the present chain
	closed   [][]saying // its archive documents, oldest first
	head     []saying
	// the rendered documents: archive documents, which stay, and pages
	site     sourcetest.Site
	old      map[string]bool // paths of the chains before that are gone
	tricks   map[int]func()  // called before a request for a document, by its number
	failures map[int]sourcetest.Failure
	n        int // requests for documents
}

// A saying is an item of the feed.
type saying struct {
	id      string
	at      int // in tenths of a second
	version int
	deleted bool
	inline  bool
}

func newChronicle(paged int) *chronicle {
	c := &chronicle{paged: paged, now: 100, site: sourcetest.Site{}, old: map[string]bool{}}
	c.render()
	return c
}

// say draws a change to the feed, and returns the function that makes it.
func (c *chronicle) say(t *rapid.T) func() {
	s := saying{
		id:      rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g"}).Draw(t, "id"),
		deleted: rapid.IntRange(0, 3).Draw(t, "delete") == 0,
		inline:  rapid.Bool().Draw(t, "inline"),
	}
	later := rapid.SampledFrom([]int{0, 0, 1, 1, 2, -3}).Draw(t, "later")
	first := rapid.Bool().Draw(t, "first")
	return func() {
		c.versions++
		c.now += max(later, 0)
		if h := c.replay()[s.id]; c.paged > 0 {
			later = 0
			c.now = max(c.now, h.at+1)
		}
		s.at, s.version = c.now+min(later, 0), c.versions
		if first {
			c.head = append([]saying{s}, c.head...)
		} else {
			c.head = append(c.head, s)
		}
	}
}

// roll closes the present head document; some of its items may stay in the head.
func (c *chronicle) roll(stays int) {
	stays = min(stays, len(c.head))
	c.closed = append(c.closed, slices.Clone(c.head[stays:]))
	c.head = slices.Clone(c.head[:stays])
}

// begin begins a new chain whose documents have the given number of items, and may remove
// the old chain.
func (c *chronicle) begin(items int, latest, drop bool) {
	if drop {
		for path := range c.site {
			if strings.Contains(path, "chain/") {
				c.old[path] = true
			}
		}
	}
	all := slices.Concat(c.closed...)
	if latest {
		keep := c.replay()
		all = slices.DeleteFunc(all, func(s saying) bool { return keep[s.id] != s })
	}
	c.chain++
	c.closed = slices.Collect(slices.Chunk(all, items))
}

func (c *chronicle) path(n int) string { return fmt.Sprintf("chain/%d/%d", c.chain, n) }

// render writes the present documents to the site.
func (c *chronicle) render() {
	if c.paged > 0 {
		c.renderPages()
		return
	}
	link := ""
	for i, doc := range c.closed {
		if _, ok := c.site[www+c.path(i)]; !ok {
			c.write(c.path(i), append([]string{isArchive, link}, c.items(doc)...))
		}
		link = prev(c.path(i))
	}
	c.write("feed", append([]string{link}, c.items(c.head)...))
}

// renderPages puts the present state of each id on pages: from the latest to the oldest,
// on each page tombstones first.
func (c *chronicle) renderPages() {
	all := slices.SortedFunc(maps.Values(c.replay()), func(a, b saying) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.id, b.id))
	})
	c.write("feed", nil)
	for n, path := 0, "feed"; n*c.paged < len(all); n++ {
		page := slices.Clone(all[n*c.paged : min(len(all), (n+1)*c.paged)])
		slices.SortStableFunc(page, func(a, b saying) int {
			switch {
			case a.deleted == b.deleted:
				return 0
			case a.deleted:
				return -1
			}
			return 1
		})
		next, link := fmt.Sprintf("p/%d", n), ""
		if (n+1)*c.paged < len(all) {
			link = linkTo("next", next)
		}
		c.write(path, append([]string{link}, c.items(page)...))
		path = next
	}
}

func (c *chronicle) write(path string, parts []string) {
	maps.Copy(c.site, siteOf(map[string]string{path: feedOf(parts...)}))
}

func (c *chronicle) items(all []saying) (parts []string) {
	for _, s := range all {
		page := fmt.Sprintf("page/%d", s.version)
		if s.deleted {
			parts = append(parts, tombstoneAt(s.id, s.time()))
			continue
		}
		content := linkTo("alternate", page)
		if s.inline {
			content = "<content>" + page + "</content>"
		}
		entry := strings.Replace(entryAt(s.id, s.time()), "</entry>", content+"</entry>", 1)
		parts = append(parts, strings.Replace(entry, "<title>"+s.id, fmt.Sprintf("<title>%d", s.version), 1))
		c.site[www+page] = sourcetest.Document{Body: page}
	}
	return parts
}

// time writes the time of a saying with the digits it needs, or with more.
func (s *saying) time() string {
	text := moment(s.at / 10)
	if s.at%10 == 0 && s.version%2 == 0 {
		return text
	}
	return strings.TrimSuffix(text, "Z") + fmt.Sprintf(".%d%sZ", s.at%10, strings.Repeat("0", s.version%3))
}

// replay computes the state of each id after the whole history, document by document from
// the oldest to the newest. In each document tombstones come after entries, and the item
// that is first in the document comes last.
func (c *chronicle) replay() map[string]saying {
	held := map[string]saying{}
	for _, doc := range append(slices.Clone(c.closed), c.head) {
		for _, deleted := range []bool{false, true} {
			for _, s := range slices.Backward(doc) {
				if h, ok := held[s.id]; s.deleted == deleted && (!ok || s.at >= h.at) {
					held[s.id] = s
				}
			}
		}
	}
	return held
}

// live returns the expected result of contentsOf.
func (c *chronicle) live() map[string]string {
	all := map[string]string{}
	for id, s := range c.replay() {
		if !s.deleted {
			all["urn:"+id] = fmt.Sprintf("%d page/%d", s.version, s.version)
		}
	}
	return all
}

// fetcher serves the feed, and calls what is planned for the requests of a run.
func (c *chronicle) fetcher() *sourcetest.Fetcher {
	c.n = 0
	return &sourcetest.Fetcher{Hook: func(_ context.Context, _ int, req *harvest.Request, _ sourcetest.Document) (sourcetest.Document, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		path := strings.TrimPrefix(req.URL, www)
		if !strings.HasPrefix(path, "page/") {
			c.n++
			if trick := c.tricks[c.n]; trick != nil {
				delete(c.tricks, c.n)
				trick()
				c.render()
			}
		}
		doc, ok := c.site[req.URL]
		if !ok || c.old[req.URL] {
			return sourcetest.Document{Status: 410}, nil
		}
		if how, ok := c.failures[c.n]; ok && !strings.HasPrefix(path, "page/") {
			switch how {
			case sourcetest.Cut:
				return sourcetest.Document{Body: cut(doc.Body)}, nil
			case sourcetest.LoginPage:
				return sourcetest.Document{Body: "<html><body>Log in</body></html>"}, nil
			}
			return sourcetest.Document{Status: 500}, nil
		}
		return doc, nil
	}}
}

var errFeeble = errors.New("the store is out of order")

// feeble returns a Catalog that fails at one Commit.
func feeble(db harvest.Store, at int) *harvest.Catalog {
	return harvest.NewCatalog(&testkit.Watched{Store: db, Before: func(_ context.Context, act testkit.Act) error {
		if act == testkit.Commit {
			if at--; at == 0 {
				return errFeeble
			}
		}
		return nil
	}})
}

// trouble draws the failures of one run, and runs it.
func (c *chronicle) trouble(t *rapid.T, db harvest.Store, source func() *atom.Source) {
	c.tricks, c.failures = map[int]func(){}, map[int]sourcetest.Failure{}
	store := harvest.NewCatalog(db)
	at := rapid.IntRange(1, 6).Draw(t, "at request")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	switch rapid.IntRange(0, 4).Draw(t, "trouble") {
	case 0:
		c.failures[at] = rapid.SampledFrom([]sourcetest.Failure{sourcetest.ServerError, sourcetest.Cut, sourcetest.LoginPage}).Draw(t, "failure")
	case 1:
		c.tricks[at] = cancel
	case 2:
		store = feeble(db, rapid.IntRange(1, 9).Draw(t, "commits"))
	case 3:
		c.tricks[at] = c.change(t)
	}
	f := c.fetcher()
	h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: f, Attempts: -1}
	events := rapid.IntRange(0, 20).Draw(t, "events")
	if events > 12 {
		events = -1 // to the end
	}
	_, err := h.Run(ctx, &interrupted{source(), events, func() {}})
	if err != nil && !errors.Is(err, errFeeble) && !errors.Is(err, context.Canceled) && !errors.Is(err, errEnough) && len(c.failures) == 0 {
		require.NoError(t, err)
	}
}

// An interrupted source calls a function after a number of events, and ends.
type interrupted struct {
	*atom.Source
	left int
	then func()
}

var errEnough = errors.New("enough")

func (i *interrupted) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		for ev, err := range i.Source.Events(ctx, run) {
			if i.left == 0 {
				i.then()
				yield(harvest.Event{}, errEnough)
				return
			}
			i.left--
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// change draws a few changes to the feed, and returns the function that makes them.
func (c *chronicle) change(t *rapid.T) func() {
	var all []func()
	for range rapid.IntRange(1, 6).Draw(t, "changes") {
		switch rapid.IntRange(0, 9).Draw(t, "change") {
		case 0, 1, 2:
			stays := rapid.IntRange(0, 3).Draw(t, "stays")
			all = append(all, func() { c.roll(stays) })
		case 3:
			items := rapid.IntRange(1, 4).Draw(t, "items")
			latest, drop := rapid.Bool().Draw(t, "latest"), rapid.Bool().Draw(t, "drop")
			all = append(all, func() { c.begin(items, latest, drop) })
		default:
			all = append(all, c.say(t))
		}
	}
	return func() {
		for _, f := range all {
			f()
		}
	}
}

// finished runs without a disturbance and compares with the replay.
func (c *chronicle) finished(t *rapid.T, tb testing.TB, store *harvest.Catalog, source *atom.Source) *sourcetest.Fetcher {
	c.tricks, c.failures = nil, nil
	f := c.fetcher()
	report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: f, Attempts: -1}).Run(context.Background(), source)
	require.NoError(t, err)
	require.True(t, report.InStep(), "%+v", report)
	require.Equal(t, c.live(), contentsOf(tb, store, feedURL))
	return f
}

// TestSourceHistories: after any history of a feed and any interruptions, the store holds
// the result of a replay of the documents, and an undisturbed run requests only the pages
// of the entries that are left. It makes five times as many histories as the flag
// -rapid.checks sets.
func TestSourceHistories(t *testing.T) {
	dirs := t.TempDir()
	history := func(r *rapid.T) {
		c := newChronicle(rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3}).Draw(r, "paged"))
		db := memstore.New()
		store := harvest.NewCatalog(db)
		dir := ""
		if rapid.Bool().Draw(r, "dir") {
			var err error
			dir, err = os.MkdirTemp(dirs, "")
			require.NoError(r, err)
		}
		source := func() *atom.Source { return &atom.Source{URL: feedURL, Dir: dir} }
		for range rapid.IntRange(1, 4).Draw(r, "rounds") {
			for range rapid.IntRange(1, 3).Draw(r, "bursts") {
				c.change(r)()
			}
			c.render()
			for range rapid.IntRange(0, 3).Draw(r, "troubles") {
				c.trouble(r, db, source)
			}
			c.finished(r, t, store, source())
		}
		if dir != "" {
			require.Zero(r, files(t, dir))
		}

		var want, got []string
		for _, s := range c.replay() {
			if !s.deleted && !s.inline {
				want = append(want, fmt.Sprintf("%spage/%d", www, s.version))
			}
		}
		for _, x := range c.finished(r, t, harvest.NewCatalog(memstore.New()), source()).Exchanges() {
			if strings.Contains(x.URL, "/page/") {
				got = append(got, x.URL)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		require.Equal(r, want, got)
	}
	for range 5 { // of a hundred each
		rapid.Check(t, history)
	}
}
