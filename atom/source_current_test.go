package atom_test

import (
	"errors"
	"fmt"
	"github.com/websync-go/websync/internal/testing/racing"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
)

// stateOf returns an entry of an id in a state, which is its title and its page.
func stateOf(id, state, dates string) string {
	return "<entry><id>urn:" + id + "</id><title>" + state + "</title>" + dates + linkTo("alternate", "page/"+state) + "</entry>"
}

func updated(n int) string { return "<updated>" + moment(n) + "</updated>" }

func published(n int) string { return "<published>" + moment(n) + "</published>" }

// pagesOf adds the pages of the entries of stateOf to a site.
func pagesOf(site sourcetest.Site, states ...string) sourcetest.Site {
	for _, s := range states {
		site[www+"page/"+s] = sourcetest.Document{Body: "body " + s, ETag: fmt.Sprintf("%q", s)}
	}
	return site
}

// TestSourceDatesMoveBack: what a feed lists now counts, whatever its time, unless the
// feed has an archive.
func TestSourceDatesMoveBack(t *testing.T) {
	a := func(state string, dates string) string { return feedOf(stateOf("a", state, dates)) }
	archived := func(items ...string) string { return feedOf(append([]string{prev("1")}, items...)...) }
	deletedAt := func(n int) string { return tombstoneOf("a", n) }
	tests := map[string]struct {
		runs []string // the subscription document of each
		full bool     // the last run is
		want string   // the state of a; "" if it is deleted
	}{
		"updated in a window":      {runs: []string{a("x", updated(9)), a("y", updated(5))}, want: "y"},
		"published":                {runs: []string{a("x", published(9)), a("y", published(5))}, want: "y"},
		"published, in an archive": {runs: []string{archived(stateOf("a", "x", published(9))), archived(stateOf("a", "y", published(5)))}, want: "y"},
		"back and forth":           {runs: []string{a("x", updated(9)), a("y", updated(5)), a("z", updated(7)), a("x", updated(9)), a("y", updated(5))}, want: "y"},
		"an old document and then the present one": {
			runs: []string{a("x", updated(5)), a("y", updated(9)), a("x", updated(5)), a("y", updated(9))}, want: "y",
		},
		"two states in a document": {
			runs: []string{a("x", updated(9)), feedOf(stateOf("a", "y", updated(4)), stateOf("a", "z", updated(5)))}, want: "z",
		},
		"updated in an archive: history": {
			runs: []string{archived(stateOf("a", "x", updated(9))), archived(stateOf("a", "y", updated(5)))}, want: "x",
		},
		"updated in an archive, a full run": {
			runs: []string{archived(stateOf("a", "x", updated(9))), archived(stateOf("a", "y", updated(5)))}, full: true, want: "y",
		},
		"a window becomes an archive": {
			runs: []string{a("x", updated(9)), a("y", updated(5)), archived(stateOf("a", "z", updated(6)))}, want: "z",
		},
		"an archive becomes a window": {runs: []string{archived(stateOf("a", "x", updated(9))), a("y", updated(5))}, want: "y"},
		"a complete feed becomes a window, and what it dropped is there again": {
			runs: []string{feedOf(isComplete, stateOf("a", "x", updated(9)), entryOf("b", 1)), feedOf(isComplete, entryOf("b", 1)), a("y", updated(5))}, want: "y",
		},
		"a complete feed":                  {runs: []string{feedOf(isComplete, stateOf("a", "x", updated(9))), feedOf(isComplete, stateOf("a", "y", updated(5)))}, want: "y"},
		"a deletion after it":              {runs: []string{a("x", updated(9)), feedOf(deletedAt(10)), a("y", updated(5))}},
		"a deletion after it, a full run":  {runs: []string{a("x", updated(9)), feedOf(deletedAt(10)), a("y", updated(5))}, full: true},
		"a deletion before it":             {runs: []string{a("x", updated(4)), feedOf(deletedAt(5)), a("y", updated(6))}, want: "y"},
		"a deletion in the same document":  {runs: []string{a("x", updated(9)), feedOf(stateOf("a", "y", updated(5)), deletedAt(9))}},
		"a deletion of the entry's moment": {runs: []string{a("x", updated(9)), feedOf(stateOf("a", "y", updated(9)), deletedAt(9))}},
		"published after the deletion":     {runs: []string{a("x", published(4)), feedOf(stateOf("a", "y", published(9)), deletedAt(5))}, want: "y"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store := harvest.NewCatalog(memstore.New())
			source := &atom.Source{URL: feedURL}
			var f *sourcetest.Fetcher
			for i, feed := range test.runs {
				site := pagesOf(siteOf(map[string]string{"feed": feed, "1": feedOf(isArchive)}), "x", "y", "z")
				f = &sourcetest.Fetcher{Site: site}
				h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: f, Full: test.full && i == len(test.runs)-1}
				plan, err := h.Plan(t.Context(), source, nil)
				require.NoError(t, err)
				report, err := h.Run(t.Context(), source)
				require.NoError(t, err)
				require.True(t, report.InStep())
				assert.Equal(t, plan.Created+plan.Updated, report.Created+report.Updated, "the plan, run %d", i)
			}
			want := map[string]string{"urn:a": test.want + " body " + test.want}
			if test.want == "" {
				want = map[string]string{}
			}
			got := contentsOf(t, store, feedURL)
			delete(got, "urn:b")
			assert.Equal(t, want, got)
			before := len(f.Exchanges())
			report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: f}).Run(t.Context(), source)
			require.NoError(t, err)
			assert.Zero(t, report.Updated+report.Created+report.Deleted)
			for _, x := range f.Exchanges()[before:] {
				assert.NotContains(t, x.URL, "/page/", "an equal listing costs no request")
			}
		})
	}
}

// TestSourceAuditsDates: an audit finds a state whose time has moved back in an archived
// feed, and a full run gets it.
func TestSourceAuditsDates(t *testing.T) {
	store, source := harvest.NewCatalog(memstore.New()), &atom.Source{URL: feedURL}
	for _, n := range []int{9, 5} {
		f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": feedOf(prev("1"), entryOf("b", 10)), "1": feedOf(isArchive, stateOf("a", fmt.Sprint(n), updated(n)))})}
		pagesOf(f.Site, "5", "9")
		h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: f}
		if n == 5 {
			found, err := h.Audit(t.Context(), source, nil)
			require.NoError(t, err)
			assert.EqualValues(t, 1, found.Updated)
			h.Full = true
		}
		_, err := h.Run(t.Context(), source)
		require.NoError(t, err)
	}
	assert.Equal(t, "5 body 5", contentsOf(t, store, feedURL)["urn:a"])
}

// TestSourceWindowHistories: dates move both ways, documents come from a cache, entries
// leave the window. When the publisher has been quiet for three runs, the Store has what
// the documents list. It makes 2,000 histories.
func TestSourceWindowHistories(t *testing.T) {
	histories := uint64(2000)
	if racing.Few() {
		histories = 200
	}
	for seed := range histories {
		rng := rand.New(rand.NewPCG(seed, 28))
		type entry struct {
			state   string
			at      int
			deleted bool
		}
		feed, deletions, order := map[string]entry{}, map[string]int{}, []string{}
		states, last := 0, 0
		publish := rng.IntN(3)
		render := func() string {
			var items []string
			for _, id := range order[:min(len(order), 4)] {
				e := feed[id]
				dates := updated(e.at)
				if publish == 1 || publish == 2 && id < "c" {
					dates = published(e.at)
				}
				if e.deleted {
					items = append(items, tombstoneOf(id, e.at))
				} else {
					items = append(items, stateOf(id, e.state, dates))
				}
			}
			return feedOf(items...)
		}
		change := func() {
			id := string('a' + rune(rng.IntN(6)))
			was := feed[id]
			states++
			e := entry{state: fmt.Sprint(states), at: max(deletions[id], was.at+rng.IntN(9)-4)}
			if e.deleted = rng.IntN(6) == 0; e.deleted {
				e.at = last + 1 // by a clock that is right
				deletions[id] = e.at + 1
			}
			feed[id], last = e, max(last, e.at)
			order = slices.Insert(slices.DeleteFunc(order, func(o string) bool { return o == id }), 0, id)
		}
		store, cached := harvest.NewCatalog(memstore.New()), []string{}
		run := func(doc string, full bool) *harvest.Report {
			site := siteOf(map[string]string{"feed": doc})
			for n := range states + 1 {
				pagesOf(site, fmt.Sprint(n))
			}
			h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: site}, Full: full, MaxDelete: -1}
			report, err := h.Run(t.Context(), &atom.Source{URL: feedURL})
			require.NoError(t, err)
			return report
		}
		for range 2 + rng.IntN(6) {
			for range rng.IntN(4) {
				change()
			}
			doc := render()
			cached = append(cached, doc)
			if rng.IntN(5) == 0 && !strings.Contains(strings.Join(cached, ""), "deleted-entry") {
				doc = cached[rng.IntN(len(cached))]
			}
			run(doc, rng.IntN(6) == 0)
		}
		for range 3 {
			require.True(t, run(render(), false).InStep())
		}
		want := map[string]string{}
		for _, id := range order[:min(len(order), 4)] {
			if e := feed[id]; !e.deleted {
				want["urn:"+id] = e.state + " body " + e.state
			}
		}
		got := contentsOf(t, store, feedURL)
		maps.DeleteFunc(got, func(id, _ string) bool { return slices.Index(order, strings.TrimPrefix(id, "urn:")) >= 4 })
		require.Equal(t, want, got, "seed %d", seed)
	}
}

// TestSourceTwins: of different entries of one id that no time orders, the first counts,
// and the others are findings.
func TestSourceTwins(t *testing.T) {
	tests := map[string]struct {
		items  []string
		others int
		want   string
	}{
		"other links":            {items: []string{stateOf("a", "x", updated(5)), stateOf("a", "y", updated(5))}, others: 1, want: "x"},
		"three of them":          {items: []string{stateOf("a", "x", updated(5)), entryOf("b", 3), stateOf("a", "y", updated(5)), stateOf("a", "z", updated(5))}, others: 2, want: "x"},
		"the same entry":         {items: []string{stateOf("a", "x", updated(5)), stateOf("a", "x", updated(5))}, want: "x"},
		"two states":             {items: []string{stateOf("a", "x", updated(5)), stateOf("a", "y", updated(6))}, want: "y"},
		"published only":         {items: []string{stateOf("a", "x", published(5)), stateOf("a", "y", published(6))}, others: 1, want: "x"},
		"without a time":         {items: []string{stateOf("a", "x", ""), stateOf("a", "y", "")}, others: 1, want: "x"},
		"before a later state":   {items: []string{stateOf("a", "x", updated(5)), stateOf("a", "y", updated(5)), stateOf("a", "z", updated(6))}, others: 1, want: "z"},
		"an entry and tombstone": {items: []string{tombstoneOf("a", 4), stateOf("a", "x", updated(5)), stateOf("a", "y", updated(5))}, others: 1, want: "x"},
	}
	for name, test := range tests {
		for _, complete := range []string{"", isComplete} {
			t.Run(name+complete, func(t *testing.T) {
				docs := map[string]string{"feed": feedOf(append([]string{complete}, test.items...)...)}
				got := runAll(t, &atom.Source{URL: feedURL}, harvest.Checkpoint{}, siteOf(docs))
				require.NoError(t, got.err)
				assert.Zero(t, skippedBy(got))
				assert.Equal(t, test.want, got.puts["a"].Resource.Title)
				found := 0
				for _, f := range got.findings {
					if f.Rule == "atom-entry-other" {
						found++
						assert.NotZero(t, f.Line)
						assert.Contains(t, f.Message, `"x"`)
						assert.Contains(t, f.Message, "page/")
					}
				}
				assert.Equal(t, test.others, found)
			})
		}
	}
}

// TestSourceDocument: a complete feed is a document of its listing.
func TestSourceDocument(t *testing.T) {
	listed := func(feed string) (all []harvest.ListedDocument) {
		run := &harvest.Run{Fetcher: &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": feed, "1": feedOf(isArchive)})},
			Document: func(d harvest.ListedDocument) { all = append(all, d) }}
		for ev, err := range (&atom.Source{URL: feedURL}).Events(t.Context(), run) {
			require.NoError(t, err)
			assert.False(t, ev.Kind == harvest.SnapshotEnd && len(all) == 0, "before the end")
		}
		return all
	}
	all := listed(feedOf(isComplete, entryOf("a", 1), entryOf("b", 5), entryOf("b", 4), tombstoneOf("c", 9)))
	require.Len(t, all, 1)
	assert.Equal(t, feedURL, all[0].URL)
	assert.EqualValues(t, 2, all[0].Entries)
	assert.Equal(t, moment(5), all[0].Newest.WithPrecision(5).String())
	assert.Equal(t, moment(0), all[0].Made.UTC().Format("2006-01-02T15:04:05Z"))
	assert.Equal(t, all[0].Sum, listed(feedOf(isComplete, entryOf("b", 5), entryOf("a", 1)))[0].Sum)
	assert.Empty(t, listed(feedOf(entryOf("a", 1))), "a window")
	assert.Empty(t, listed(feedOf(prev("1"), entryOf("a", 1))), "an archive")
}

// TestSourceParserPages: what a Parser returns is walked as Atom is, over its pages or
// its archive, and is a snapshot if it is complete. Times of publication show what is
// known.
func TestSourceParserPages(t *testing.T) {
	parse := func(src io.Reader, _ atom.Origin, _ func(websync.Finding)) (*atom.Feed, []atom.Item, error) {
		data, err := io.ReadAll(src)
		if err != nil || !strings.HasPrefix(string(data), "list ") {
			return nil, nil, errors.Join(err, websync.ErrNotDocument)
		}
		feed, items := &atom.Feed{}, []atom.Item{}
		for _, word := range strings.Fields(string(data))[1:] {
			name, value, _ := strings.Cut(word, "=")
			switch name {
			case "next", "prev-archive":
				feed.Links = append(feed.Links, websync.Link{Rel: name, Href: www + value})
			case "complete":
				feed.Complete = true
			default:
				n, _ := strconv.Atoi(value)
				at, _ := websync.ParseDatetime(moment(n))
				items = append(items, atom.Item{Entry: &atom.Entry{ID: "urn:" + name, Title: atom.Text{Value: name}, Published: at}})
			}
		}
		return feed, items, nil
	}
	source := &atom.Source{URL: feedURL, Parser: parse}
	docs := map[string]string{"feed": "list next=2 d=4", "2": "list next=3 c=3", "3": "list b=2 a=1"}
	first := runAll(t, source, harvest.Checkpoint{}, siteOf(docs))
	assert.Equal(t, []string{"a@1", "b@2", "mark", "c@3", "mark", "d@4", "mark+"}, first.events)
	assert.True(t, first.puts["a"].Current)
	docs["feed"], docs["2"] = "list next=2 f=6 e=5", "list next=3 d=4 c=3"
	next := runAll(t, source, first.resume, siteOf(docs))
	assert.Equal(t, []string{"c@3", "d@4", "mark", "e@5", "f@6", "mark+"}, next.events)
	assert.Equal(t, []string{"feed", "2", "feed 304"}, next.asked)
	limited := runAll(t, &atom.Source{URL: feedURL, Parser: parse, MaxDocuments: 2}, harvest.Checkpoint{}, siteOf(docs))
	assert.Contains(t, strings.Join(limited.events, " "), "problem: ")

	archived := runAll(t, source, harvest.Checkpoint{}, siteOf(map[string]string{"feed": "list prev-archive=1 b=2", "1": "list a=1"}))
	assert.Equal(t, []string{"a@1", "mark+", "b@2", "mark+"}, archived.events)
	whole := runAll(t, source, harvest.Checkpoint{}, siteOf(map[string]string{"feed": "list complete b=2 a=1"}))
	assert.Equal(t, []string{"snapshot start", "a@1", "b@2", "snapshot end, complete+"}, whole.events)
}
