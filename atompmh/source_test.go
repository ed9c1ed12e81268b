package atompmh_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const (
	www     = "https://www.example.com/"
	feedURL = www + "feed"

	isComplete = `<fh:complete xmlns:fh="` + atom.HistoryNamespace + `"/>`
	isArchive  = `<fh:archive xmlns:fh="` + atom.HistoryNamespace + `"/>`
)

// moment returns the text of the time n seconds after a fixed one.
func moment(n int) string { return fmt.Sprintf("2026-01-01T00:%02d:%02dZ", n/60, n%60) }

// docOf returns a document with the markup of its metadata and entries.
func docOf(at int, parts ...string) string {
	return `<feed xmlns="` + atom.Namespace + `"><id>urn:feed</id><title>f</title><author><name>a</name></author><updated>` + moment(at) + "</updated>\n" +
		strings.Join(parts, "\n") + "\n</feed>\n"
}

func rel(rel, path string) string { return `<link rel="` + rel + `" href="` + www + path + `"/>` }

func prev(path string) string { return rel("prev-archive", path) }

// entryOf returns an entry with the markup of its links and content.
func entryOf(id string, at int, more ...string) string {
	return "<entry><id>urn:" + id + "</id><title>" + id + "</title><updated>" + moment(at) + "</updated>" + strings.Join(more, "") + "</entry>"
}

// link returns an alternate link to the record of an id in a format.
func link(id, format string) string {
	return `<link type="text/` + format + `" href="` + www + "r/" + id + "." + format + `"/>`
}

// active returns an entry with an alternate link for each format.
func active(id string, at int, formats ...string) string {
	var links []string
	for _, f := range formats {
		links = append(links, link(id, f))
	}
	return entryOf(id, at, links...)
}

func deletionOf(id string, at int) string { return entryOf(id, at, "<content/>") }

// siteOf returns a site of documents by path, and of each record with the ids a to e in
// the formats a and b.
func siteOf(documents map[string]string) sourcetest.Site {
	s := sourcetest.Site{}
	add := func(path, text string) {
		s[www+path] = sourcetest.Document{
			Body: text, ETag: fmt.Sprintf("%q", websync.SHA256([]byte(text))),
			Header: map[string][]string{"Date": {"Thu, 01 Jan 2026 12:00:00 GMT"}}, LastModified: "Thu, 01 Jan 2026 11:00:00 GMT",
		}
	}
	for path, text := range documents {
		add(path, text)
	}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		add("r/"+id+".a", id+" as a")
		add("r/"+id+".b", id+" as b")
	}
	return s
}

// contents returns the live records of a store by id, as "name: text" of each body.
func contents(t testing.TB, store *harvest.Catalog) map[string]string {
	all := map[string]string{}
	for item, err := range store.Resources(context.Background(), websync.Range{}) {
		require.NoError(t, err)
		var texts []string
		for _, b := range item.Bodies {
			texts = append(texts, b.Name+": "+testkit.Read(t, store, b))
		}
		slices.Sort(texts)
		all[strings.TrimPrefix(item.Resource.ID, "urn:")] = strings.Join(texts, ", ")
	}
	return all
}

// A run is a run of a harvester and what it requested and reported.
type run struct {
	*harvest.Report
	asked    []string
	findings []string
	err      error
}

// harvestSite runs a Source over a site.
func harvestSite(t testing.TB, store *harvest.Catalog, s *atompmh.Source, f *sourcetest.Fetcher) *run {
	r := new(run)
	h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: f, Concurrency: 1, MaxDelete: -1, Hooks: testkit.OnFinding(func(f websync.Finding) { r.findings = append(r.findings, f.Rule) })}
	before := len(f.Exchanges())
	r.Report, r.err = h.Run(context.Background(), s)
	for _, x := range f.Exchanges()[before:] {
		r.asked = append(r.asked, strings.TrimPrefix(x.URL, www))
	}
	return r
}

func records(ids ...string) map[string]string {
	all := map[string]string{}
	for _, id := range ids {
		all[id] = "content: " + id + " as a"
	}
	return all
}

// TestEntryTypes: what each form of an entry means ("Detecting entry type").
func TestEntryTypes(t *testing.T) {
	const anywhere = `<link rel="related" href="https://www.example.com/x"/>`
	tests := map[string]struct {
		entry   string // of the record a, which the store has
		deleted bool
		skipped bool
		rules   []string
	}{
		"active":                    {entry: active("a", 9, "a")},
		"deletion":                  {entry: deletionOf("a", 9), deleted: true},
		"deletion with other links": {entry: entryOf("a", 9, anywhere, "<content/>"), deleted: true},
		"deletion with a type":      {entry: entryOf("a", 9, `<content type="text/plain"></content>`), deleted: true},
		"deletion with white space": {entry: entryOf("a", 9, "<content>\n</content>"), deleted: true, rules: []string{"atompmh-deletion-content"}},
		"tombstone":                 {entry: `<at:deleted-entry xmlns:at="` + atom.TombstoneNamespace + `" ref="urn:a" when="` + moment(9) + `"/>`, deleted: true, rules: []string{"atompmh-tombstone"}},
		"historical":                {entry: deletionOf("a", 9) + active("a", 10, "a")},
		"later in the document":     {entry: active("a", 9, "a") + deletionOf("a", 10), deleted: true},
		"both at one time":          {entry: active("a", 9, "a") + deletionOf("a", 9), deleted: true},
		"an older deletion":         {entry: deletionOf("a", 0)},
		"link and content":          {entry: entryOf("a", 9, link("a", "a"), "<content>x</content>"), rules: []string{"atompmh-content"}},
		"link and src":              {entry: entryOf("a", 9, link("a", "a"), `<content src="x"/>`), rules: []string{"atompmh-content"}},
		"link and empty content":    {entry: entryOf("a", 9, link("a", "a"), "<content/>"), skipped: true, rules: []string{"atom-profile"}},
		"content":                   {entry: entryOf("a", 9, "<content>x</content>"), skipped: true, rules: []string{"atom-profile"}},
		"src":                       {entry: entryOf("a", 9, `<content src="x"/>`), skipped: true, rules: []string{"atom-profile"}},
		"empty src":                 {entry: entryOf("a", 9, `<content src=""/>`), skipped: true, rules: []string{"atom-link-itself", "atom-profile"}},
		"nothing":                   {entry: entryOf("a", 9), skipped: true, rules: []string{"atom-profile"}},
		"an element in the content": {entry: entryOf("a", 9, "<content><b/></content>"), skipped: true, rules: []string{"atom-content-element", "atom-profile"}},
		"a second content":          {entry: entryOf("a", 9, "<content/><content>x</content>"), skipped: true, rules: []string{"atom-entry-child", "atom-profile"}},
		"a link without href":       {entry: entryOf("a", 9, "<link/><content/>"), skipped: true, rules: []string{"atom-link-href", "atom-profile"}},
		"a deletion without a time": {entry: "<entry><id>urn:a</id><title>a</title><content/></entry>", skipped: true, rules: []string{"atom-profile"}},
		"an alternate by its IRI":   {entry: entryOf("a", 9, strings.Replace(link("a", "a"), "<link", `<link rel="http://www.iana.org/assignments/relation/alternate"`, 1))},
		"only other links":          {entry: entryOf("a", 9, anywhere), skipped: true, rules: []string{"atom-profile"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, complete := range []string{"", isComplete} {
				store := harvest.NewCatalog(memstore.New())
				f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": docOf(1, active("b", 1, "a"), active("a", 1, "a"))})}
				source := &atompmh.Source{URL: feedURL}
				require.True(t, harvestSite(t, store, source, f).InStep())
				f.Site = siteOf(map[string]string{"feed": docOf(10, complete, active("b", 1, "a"), test.entry)})
				r := harvestSite(t, store, source, f)
				want := records("a", "b")
				if delete(want, "z"); test.deleted || complete != "" && name == "an older deletion" {
					delete(want, "a")
				}
				assert.Equal(t, want, contents(t, store), complete)
				assert.Equal(t, !test.skipped, r.InStep(), "%v %v", complete, r.findings)
				assert.Equal(t, test.rules, r.findings)
			}
		})
	}
}

// TestWalk: an archived feed is walked to the document that is older than what was
// yielded, ties included, whatever the URLs are.
func TestWalk(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	source := &atompmh.Source{URL: feedURL}
	f := &sourcetest.Fetcher{Site: siteOf(map[string]string{
		"feed": docOf(6, prev("2"), active("b", 6, "a")),
		"2":    docOf(4, isArchive, prev("1"), active("c", 4, "a"), active("b", 3, "a")),
		"1":    docOf(2, isArchive, active("a", 2, "a"), active("d", 1, "a")),
	})}
	r := harvestSite(t, store, source, f)
	require.True(t, r.InStep())
	assert.Equal(t, []string{"feed", "2", "1"}, r.asked[:3])
	assert.Equal(t, records("a", "b", "c", "d"), contents(t, store))
	assert.Equal(t, []string{"feed"}, harvestSite(t, store, source, f).asked, "not modified")

	f.Site = siteOf(map[string]string{ // other URLs, and one more entry of the last time
		"feed": docOf(9, prev("x/3"), deletionOf("d", 9)),
		"x/3":  docOf(8, isArchive, prev("x/2"), active("e", 8, "a")),
		"x/2":  docOf(6, isArchive, prev("x/1"), active("c", 6, "b"), active("b", 6, "a")),
		"x/1":  docOf(4, isArchive, prev("x/0"), active("b", 3, "a")),
		"x/0":  docOf(2, isArchive, prev("gone"), active("a", 2, "a")),
	})
	r = harvestSite(t, store, source, f)
	require.True(t, r.InStep(), "%v %v", r.Problems, r.Failures)
	assert.Equal(t, []string{"feed", "x/3", "x/2", "x/1"}, r.asked[:4])
	assert.NotContains(t, r.asked, "x/0")
	want := records("a", "b", "e")
	want["c"] = "content: c as b"
	assert.Equal(t, want, contents(t, store))
	assert.Empty(t, r.findings)

	f.Site = siteOf(map[string]string{ // another feed under the same URL and id, of earlier times
		"feed": docOf(5, prev("y"), active("a", 5, "b")),
		"y":    docOf(3, isArchive, active("d", 3, "a")),
	})
	r = harvestSite(t, store, source, f)
	assert.Contains(t, r.asked, "y", "nothing is as late as what was yielded: all is read")
}

// TestWithoutDate: if the server does not state its time, an entry in the future does not
// end a walk.
func TestWithoutDate(t *testing.T) {
	for _, date := range []bool{false, true} {
		t.Run(fmt.Sprint(date), func(t *testing.T) {
			store := harvest.NewCatalog(memstore.New())
			source := &atompmh.Source{URL: feedURL}
			site := func(docs map[string]string) sourcetest.Site {
				s := siteOf(docs)
				for url, doc := range s {
					if !date {
						doc.Header = nil
					}
					s[url] = doc
				}
				return s
			}
			ahead := strings.Replace(active("a", 0, "a"), moment(0), "2099-01-01T00:00:00Z", 1)
			f := &sourcetest.Fetcher{Site: site(map[string]string{"feed": docOf(3, prev("1"), ahead), "1": docOf(2, isArchive, active("b", 2, "a"))})}
			require.True(t, harvestSite(t, store, source, f).InStep())
			f.Site = site(map[string]string{
				"feed": docOf(9, prev("3"), ahead, active("e", 9, "a")),
				"3":    docOf(8, isArchive, prev("2"), active("d", 8, "a")),
				"2":    docOf(7, isArchive, prev("1"), active("c", 7, "a")),
				"1":    docOf(2, isArchive, active("b", 2, "a")),
			})
			require.True(t, harvestSite(t, store, source, f).InStep())
			assert.Equal(t, records("a", "b", "c", "d", "e"), contents(t, store))
		})
	}
}

// TestMoved: entries that move, during a walk, to an archive document that the walk has
// read already are not missed: the walk starts again. If that never ends, it is a
// problem.
func TestMoved(t *testing.T) {
	before := siteOf(map[string]string{
		"feed": docOf(9, prev("3"), active("e", 9, "a")),
		"3":    docOf(8, isArchive, prev("2"), active("d", 8, "a")),
		"2":    docOf(7, isArchive, prev("1"), active("c", 7, "a"), active("b", 6, "a")),
		"1":    docOf(5, isArchive, active("a", 5, "a")),
	})
	after := siteOf(map[string]string{
		"3": docOf(8, isArchive, prev("2"), active("d", 8, "a"), active("c", 7, "a"), active("b", 6, "a")),
		"2": docOf(5, isArchive, prev("1"), active("a", 5, "a")),
		"1": docOf(4, isArchive),
	})
	run := func(change func(path string, doc *sourcetest.Document)) (*run, map[string]string) {
		store := harvest.NewCatalog(memstore.New())
		f := &sourcetest.Fetcher{Site: before}
		f.Hook = func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
			change(strings.TrimPrefix(req.URL, www), &doc)
			return doc, nil
		}
		r := harvestSite(t, store, &atompmh.Source{URL: feedURL}, f)
		return r, contents(t, store)
	}
	for name, modified := range map[string]string{"no Last-Modified": "", "later": "Thu, 01 Jan 2026 12:00:00 GMT"} {
		t.Run(name, func(t *testing.T) {
			moved := false
			r, got := run(func(path string, doc *sourcetest.Document) {
				moved = moved || path == "2"
				if now, ok := after[www+path]; ok && moved {
					*doc = now
					doc.LastModified = modified
				}
			})
			assert.True(t, r.InStep(), "%v", r.Problems)
			assert.Equal(t, records("a", "b", "c", "d", "e"), got)
			assert.Equal(t, []string{"feed", "3", "2", "1", "3", "feed", "3", "2", "1"}, r.asked[:9])
		})
	}
	t.Run("nothing", func(t *testing.T) {
		r, got := run(func(string, *sourcetest.Document) {})
		assert.True(t, r.InStep())
		assert.Len(t, got, 5)
		assert.Equal(t, []string{"feed", "3", "2", "1"}, slices.DeleteFunc(r.asked, func(path string) bool { return strings.HasPrefix(path, "r/") }))
	})
	t.Run("without end", func(t *testing.T) {
		n := 0
		r, got := run(func(path string, doc *sourcetest.Document) {
			if doc.LastModified = ""; path == "3" {
				n++
				doc.Body = docOf(8, isArchive, prev("2"), active("d", 8, "a"), active("b", 10+n, "b"))
				doc.ETag = fmt.Sprintf("%q", fmt.Sprint(n))
			}
		})
		assert.False(t, r.InStep())
		assert.Contains(t, fmt.Sprint(r.Problems), www+"3: the archive changes while it is read")
		assert.Equal(t, 6, n)
		assert.Len(t, got, 5, "what was read is there")
	})
}

// TestWalkDisorder: if an archive document has a later entry than a newer document, the
// times do not show where to stop.
func TestWalkDisorder(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	source := &atompmh.Source{URL: feedURL}
	site := func(at int, entries string) sourcetest.Site {
		return siteOf(map[string]string{
			"feed": docOf(at, prev("2"), entries),
			"2":    docOf(4, isArchive, prev("1"), active("c", 4, "a")),
			"1":    docOf(59, isArchive, active("a", 59, "a")),
		})
	}
	f := &sourcetest.Fetcher{Site: site(6, active("b", 6, "a"))}
	require.True(t, harvestSite(t, store, source, f).InStep())
	f.Site = site(61, active("b", 61, "b"))
	r := harvestSite(t, store, source, f)
	assert.Equal(t, []string{"feed", "2", "1"}, r.asked[:3])

	store = harvest.NewCatalog(memstore.New()) // the order is lost between two runs
	f.Site = siteOf(map[string]string{"feed": docOf(6, prev("2"), active("b", 6, "a")), "2": docOf(4, isArchive, active("c", 4, "a"))})
	require.True(t, harvestSite(t, store, source, f).InStep())
	f.Site = siteOf(map[string]string{
		"feed": docOf(61, prev("3"), active("b", 61, "a")),
		"3":    docOf(70, isArchive, prev("2"), active("e", 70, "a")),
		"2":    docOf(4, isArchive, prev("1"), active("c", 4, "a")),
		"1":    docOf(50, isArchive, active("d", 50, "a")),
	})
	require.True(t, harvestSite(t, store, source, f).InStep())
	assert.Equal(t, records("b", "c", "d", "e"), contents(t, store))
}

// TestSkippedInArchive: a skipped entry of an archive document is read when it is mended.
func TestSkippedInArchive(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	source := &atompmh.Source{URL: feedURL}
	site := func(old string) sourcetest.Site {
		return siteOf(map[string]string{
			"feed": docOf(6, prev("2"), active("b", 6, "a")),
			"2":    docOf(4, isArchive, prev("1"), active("c", 4, "a")),
			"1":    docOf(2, isArchive, old, active("a", 1, "a")),
		})
	}
	f := &sourcetest.Fetcher{Site: site(entryOf("d", 2))}
	for range 2 {
		r := harvestSite(t, store, source, f)
		assert.False(t, r.InStep())
		assert.Equal(t, 1, r.Skipped)
	}
	f.Site = site(active("d", 2, "a"))
	assert.True(t, harvestSite(t, store, source, f).InStep())
	assert.Equal(t, records("a", "b", "c", "d"), contents(t, store))
}

// TestHoles: nothing younger than a hole is the new starting point; after the source is
// mended, one run completes.
func TestHoles(t *testing.T) {
	docs := map[string]string{
		"feed": docOf(9, prev("3"), active("b", 9, "b")),
		"3":    docOf(8, isArchive, prev("2"), active("e", 8, "a")),
		"2":    docOf(6, isArchive, prev("1"), active("d", 6, "a"), deletionOf("a", 5)),
		"1":    docOf(4, isArchive, active("c", 4, "a"), active("b", 3, "a"), active("a", 2, "a")),
	}
	holes := map[string]func(sourcetest.Site){
		"missing": func(s sourcetest.Site) { delete(s, www+"2") },
		"broken":  func(s sourcetest.Site) { s[www+"2"] = sourcetest.Document{Body: docs["2"][:len(docs["2"])-20]} },
		"cut":     func(s sourcetest.Site) { s[www+"2"] = sourcetest.Document{Body: docs["2"], Broken: true} },
		"login":   func(s sourcetest.Site) { s[www+"2"] = sourcetest.Document{Body: "<html>Log in</html>"} },
		"loop": func(s sourcetest.Site) {
			s[www+"2"] = sourcetest.Document{Body: strings.Replace(docs["2"], www+"1", www+"3", 1)}
		},
		"itself": func(s sourcetest.Site) {
			s[www+"2"] = sourcetest.Document{Body: strings.Replace(docs["2"], www+"1", www+"2", 1)}
		},
		"another feed": func(s sourcetest.Site) {
			s[www+"2"] = sourcetest.Document{Body: strings.Replace(docs["2"], "urn:feed", "urn:other", 1)}
		},
	}
	for name, dig := range holes {
		for _, earlier := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %t", name, earlier), func(t *testing.T) {
				store := harvest.NewCatalog(memstore.New())
				dir := ""
				if earlier {
					dir = t.TempDir()
				}
				source := &atompmh.Source{URL: feedURL, Dir: dir}
				f := &sourcetest.Fetcher{}
				if earlier {
					f.Site = siteOf(map[string]string{"feed": docs["1"]})
					require.True(t, harvestSite(t, store, source, f).InStep())
				}
				broken := siteOf(docs)
				dig(broken)
				f.Site = broken
				for range 2 {
					r := harvestSite(t, store, source, f)
					assert.False(t, r.InStep())
					assert.NotEmpty(t, r.Problems)
					assert.Contains(t, contents(t, store), "e", "what is newer is there")
				}
				f.Site = siteOf(docs)
				r := harvestSite(t, store, source, f)
				assert.True(t, r.InStep(), "%v", r.Problems)
				want := records("b", "c", "d", "e")
				want["b"] = "content: b as b"
				assert.Equal(t, want, contents(t, store))
			})
		}
	}
}

// TestComplete: a complete feed deletes what it does not list, unless something shows
// that it is not the whole.
func TestComplete(t *testing.T) {
	tests := map[string]struct {
		docs    map[string]string
		want    []string
		finding string
	}{
		"complete":      {docs: map[string]string{"feed": docOf(9, isComplete, active("b", 1, "a"))}, want: []string{"b"}},
		"not complete":  {docs: map[string]string{"feed": docOf(9, active("b", 1, "a"))}, want: []string{"a", "b", "c"}},
		"both versions": {docs: map[string]string{"feed": docOf(9, isComplete, active("b", 1, "b"), active("b", 2, "a"))}, want: []string{"b"}},
		"with history in an archive": {docs: map[string]string{
			"feed": docOf(9, isComplete, prev("1"), active("b", 9, "a")), "1": docOf(3, isArchive, active("b", 3, "a")),
		}, want: []string{"b"}},
		"with deletions in an archive": {docs: map[string]string{
			"feed": docOf(9, isComplete, prev("1"), active("b", 9, "a")), "1": docOf(3, isArchive, deletionOf("a", 3), active("a", 2, "a")),
		}, want: []string{"b"}},
		"more in an archive": {docs: map[string]string{
			"feed": docOf(9, isComplete, prev("1"), active("b", 9, "a")), "1": docOf(3, isArchive, active("d", 3, "a")),
		}, want: []string{"a", "b", "c", "d"}, finding: "atom-complete-paged"},
		"pages": {docs: map[string]string{
			"feed": docOf(9, isComplete, rel("next", "2"), active("b", 9, "a")), "2": docOf(3, active("d", 3, "a")),
		}, want: []string{"a", "b", "c"}, finding: "atompmh-complete-paged"},
		"pages are not followed": {docs: map[string]string{
			"feed": docOf(9, rel("next", "2"), active("b", 9, "a")), "2": docOf(3, active("d", 3, "a")),
		}, want: []string{"a", "b", "c"}, finding: "atompmh-paged"},
		"another is current": {docs: map[string]string{"feed": docOf(9, isComplete, rel("current", "other"), active("b", 1, "a"))},
			want: []string{"a", "b", "c"}, finding: "atom-complete-paged"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store := harvest.NewCatalog(memstore.New())
			source := &atompmh.Source{URL: feedURL}
			f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": docOf(1, isComplete, active("a", 1, "a"), active("b", 1, "a"), active("c", 1, "a"))})}
			require.True(t, harvestSite(t, store, source, f).InStep())
			f.Site = siteOf(test.docs)
			r := harvestSite(t, store, source, f)
			assert.True(t, r.InStep(), "%v", r.Problems)
			assert.Equal(t, records(test.want...), contents(t, store))
			if test.finding != "" {
				assert.Contains(t, r.findings, test.finding)
			}
		})
	}
}

// TestFormats: which representations of a record are obtained.
func TestFormats(t *testing.T) {
	many := entryOf("a", 1, link("a", "a"), link("a", "b"), `<link href="`+www+`r/b.a"/>`, `<link rel="related" type="text/a" href="`+www+`r/c.a"/>`)
	const a, b, untyped = "a as a", "a as b", "b as a"
	tests := map[string]struct {
		formats []string
		all     bool
		want    string
	}{
		"the first":               {nil, false, "content: " + a},
		"all":                     {nil, true, "alternate text/b: " + b + ", alternate: " + untyped + ", content: " + a},
		"one":                     {[]string{"text/b"}, false, "content: " + b},
		"the better":              {[]string{"text/x", "text/b", "text/a"}, false, "content: " + b},
		"all of them, in order":   {[]string{"text/b", "text/a"}, true, "alternate text/a: " + a + ", content: " + b},
		"a range":                 {[]string{"TEXT/*"}, true, "alternate text/b: " + b + ", content: " + a},
		"parameters":              {[]string{"text/b;q=1"}, false, "content: " + b},
		"anything after the best": {[]string{"text/b", "*/*"}, true, "alternate text/a: " + a + ", alternate: " + untyped + ", content: " + b},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store := harvest.NewCatalog(memstore.New())
			f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": docOf(1, many)})}
			source := &atompmh.Source{URL: feedURL, Formats: test.formats, AllFormats: test.all}
			require.True(t, harvestSite(t, store, source, f).InStep())
			assert.Equal(t, map[string]string{"a": test.want}, contents(t, store))
			assert.Equal(t, []string{"feed"}, harvestSite(t, store, source, f).asked)
		})
	}
	for name, s := range map[string]*atompmh.Source{
		"no type": {URL: feedURL, Formats: []string{"xml"}}, "no URL": {}, "no policy": {URL: feedURL, Unwanted: 3},
	} {
		assert.ErrorContains(t, s.Check(), "atompmh: ", name)
		for _, err := range s.Events(t.Context(), nil) {
			assert.Error(t, err)
		}
	}
}

// TestUnwanted: a modification removes the formats that are wanted.
func TestUnwanted(t *testing.T) {
	for policy, want := range map[atompmh.UnwantedPolicy]map[string]string{
		atompmh.DeleteUnwanted:   records("b"),
		atompmh.DescribeUnwanted: {"a": "", "b": "content: b as a", "c": ""},
		atompmh.KeepUnwanted:     {"a": "content: a as a", "b": "content: b as a", "c": ""},
	} {
		for _, mark := range []string{"", isComplete} {
			t.Run(fmt.Sprint(policy, mark != ""), func(t *testing.T) {
				store := harvest.NewCatalog(memstore.New())
				source := &atompmh.Source{URL: feedURL, Formats: []string{"text/a"}, Unwanted: policy}
				f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": docOf(1, mark, active("a", 1, "a", "b"), active("b", 1, "a"))})}
				require.True(t, harvestSite(t, store, source, f).InStep())
				assert.Equal(t, records("a", "b"), contents(t, store))
				f.Site = siteOf(map[string]string{"feed": docOf(2, mark, active("a", 2, "b"), active("b", 1, "a"), active("c", 2, "b"))})
				require.True(t, harvestSite(t, store, source, f).InStep())
				assert.Equal(t, want, contents(t, store))
				f.Site = siteOf(map[string]string{"feed": docOf(3, mark, active("a", 3, "a"), active("b", 1, "a"), active("c", 3, "a"))})
				require.True(t, harvestSite(t, store, source, f).InStep())
				assert.Equal(t, records("a", "b", "c"), contents(t, store), "the format is back")
			})
		}
	}
}

// TestGone: what an answer for a link of an active entry means.
func TestGone(t *testing.T) {
	before := docOf(2, active("a", 2, "a", "b"), active("b", 1, "a"))
	tests := map[string]struct {
		status int
		again  string // the subscription document when it is read again
		gone   bool
		reads  int // of the subscription document
		later  bool
	}{
		"deleted":            {404, docOf(3, deletionOf("a", 3), active("b", 1, "a")), true, 2, false},
		"deleted, 410":       {410, docOf(3, deletionOf("a", 3), active("b", 1, "a")), true, 2, false},
		"no longer there":    {410, docOf(3, isComplete, active("b", 3, "a")), true, 2, false},
		"in an archive":      {404, docOf(3, prev("1"), active("b", 3, "a")), true, 2, false},
		"both at one time":   {404, docOf(3, active("a", 3, "a"), deletionOf("a", 3)), true, 2, false},
		"the deletion first": {404, docOf(3, deletionOf("a", 3), active("a", 3, "a")), true, 2, false},
		"an older deletion":  {404, docOf(1, deletionOf("a", 1), active("b", 1, "a")), false, 2, false},
		"modified":           {404, docOf(3, active("a", 3, "a"), active("b", 1, "a")), false, 2, true},
		"still listed":       {404, before, false, 2, false},
		"an older copy":      {404, docOf(1, active("a", 1, "a"), active("b", 1, "a")), false, 2, false},
		"broken":             {404, before[:len(before)-20], false, 2, false},
		"not a feed":         {404, "<entry xmlns='" + atom.Namespace + "'><id>urn:x</id></entry>", false, 2, false},
		"no feed":            {404, "", false, 2, false},
		"not allowed":        {401, docOf(3, deletionOf("a", 3), active("b", 1, "a")), false, 1, false},
		"forbidden":          {403, docOf(3, deletionOf("a", 3), active("b", 1, "a")), false, 1, false},
		"an error":           {500, docOf(3, deletionOf("a", 3), active("b", 1, "a")), false, 1, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store := harvest.NewCatalog(memstore.New())
			f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": before})}
			read := 0
			f.Hook = func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
				switch {
				case strings.HasPrefix(req.URL, www+"r/a."):
					return sourcetest.Document{Status: test.status}, nil
				case req.URL == feedURL:
					if read++; read > 1 && test.again == "" {
						return sourcetest.Document{Status: 404}, nil
					} else if read > 1 {
						return sourcetest.Document{Body: test.again}, nil
					}
				}
				return doc, nil
			}
			h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: f, Attempts: 1, DeleteGone: true}
			r, err := h.Run(t.Context(), &atompmh.Source{URL: feedURL, AllFormats: test.status != 500})
			require.NoError(t, err)
			assert.Equal(t, test.reads, read)
			assert.Equal(t, test.gone, r.Left.Gone == 1 || r.InStep(), "%+v %+v", r.Left, r.Failures)
			assert.Equal(t, records("b"), contents(t, store))
			if test.later {
				assert.Equal(t, int64(1), r.Deferred)
				read = 1 // the next run reads the later entry
				f.Hook = nil
				f.Site = siteOf(map[string]string{"feed": test.again})
				r, err = h.Run(t.Context(), &atompmh.Source{URL: feedURL})
				require.NoError(t, err)
				assert.True(t, r.InStep())
				assert.Equal(t, records("a", "b"), contents(t, store))
			}
		})
	}
}

// TestReadAgain: the subscription document is read again once in a run, however many
// links lead to nothing.
func TestReadAgain(t *testing.T) {
	var entries []string
	for n := range 50 {
		entries = append(entries, active(fmt.Sprint("n", n), 1, "a"))
	}
	f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": docOf(1, entries...)})}
	source := &atompmh.Source{URL: feedURL}
	store := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: f}
	for range 2 {
		before := len(f.Exchanges())
		_, err := h.Run(t.Context(), source)
		require.NoError(t, err)
		reads := 0
		for _, x := range f.Exchanges()[before:] {
			if x.URL == feedURL {
				reads++
			}
		}
		assert.Equal(t, 2, reads)
	}
}

// TestReadAgainLater: an entry that is later than all in the document that was read again
// is not taken for deleted: the document may have been an older copy.
func TestReadAgainLater(t *testing.T) {
	f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": docOf(5, active("a", 1, "a"), active("b", 5, "a"))})}
	delete(f.Site, www+"r/a.a")
	delete(f.Site, www+"r/b.a")
	read := 0
	f.Hook = func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
		if req.URL == feedURL {
			if read++; read == 2 {
				return sourcetest.Document{Body: docOf(2, deletionOf("a", 2))}, nil
			}
		}
		return doc, nil
	}
	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Fetcher: f, Concurrency: 1, Attempts: 1}
	r, err := h.Run(t.Context(), &atompmh.Source{URL: feedURL})
	require.NoError(t, err)
	assert.Equal(t, 3, read)
	assert.Equal(t, int64(1), r.Left.Gone, "%+v", r.Failures)
}

// TestReadAgainRepaired: a document is read again as it was read before.
func TestReadAgainRepaired(t *testing.T) {
	damage := func(doc string) string {
		return strings.Replace(doc, "</title>", `</title><link rel="self" href="`+www+`feed"/2012"/>`, 1)
	}
	f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": damage(docOf(2, active("a", 2, "a")))})}
	read := 0
	f.Hook = func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
		if strings.HasPrefix(req.URL, www+"r/") {
			return sourcetest.Document{Status: 404}, nil
		}
		if read++; read > 1 {
			doc.Body = damage(docOf(3, deletionOf("a", 3)))
		}
		return doc, nil
	}
	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Fetcher: f, Attempts: 1}
	r, err := h.Run(t.Context(), &atompmh.Source{URL: feedURL, Repair: true})
	require.NoError(t, err)
	assert.Equal(t, int64(1), r.Left.Gone, "%+v", r.Failures)
}

// TestOtherSettings: with other Formats, or another policy, a feed that has not changed
// is read again.
func TestOtherSettings(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": docOf(2, active("a", 2, "a", "b"), active("b", 1, "a"))})}
	only := func(format string, unwanted atompmh.UnwantedPolicy) *run {
		return harvestSite(t, store, &atompmh.Source{URL: feedURL, Formats: []string{"text/" + format}, Unwanted: unwanted}, f)
	}
	require.True(t, only("a", atompmh.KeepUnwanted).InStep())
	assert.Equal(t, records("a", "b"), contents(t, store))
	only("b", atompmh.KeepUnwanted)
	assert.Equal(t, map[string]string{"a": "content: a as b", "b": "content: b as a"}, contents(t, store))
	only("b", atompmh.DeleteUnwanted)
	assert.Equal(t, map[string]string{"a": "content: a as b"}, contents(t, store))
}

// TestSomeGone: if the best format leads to nothing, the next best is the content. Of all
// formats, each must lead to something.
func TestSomeGone(t *testing.T) {
	for all, want := range map[bool]string{false: "content: a as b", true: ""} {
		site := siteOf(map[string]string{"feed": docOf(1, active("a", 1, "a", "b", "c"))})
		delete(site, www+"r/a.a")
		site[www+"r/a.c"] = sourcetest.Document{Body: "x"}
		store := harvest.NewCatalog(memstore.New())
		f := &sourcetest.Fetcher{Site: site}
		source := &atompmh.Source{URL: feedURL, AllFormats: all}
		if r := harvestSite(t, store, source, f); all {
			assert.False(t, r.InStep())
			assert.NotContains(t, r.asked, "r/a.b", "of no use any more")
			assert.Empty(t, contents(t, store))
			continue
		}
		assert.Equal(t, map[string]string{"a": want}, contents(t, store))
		assert.Equal(t, []string{"feed"}, harvestSite(t, store, source, f).asked)
		f.Site = maps.Clone(site)
		f.Site[www+"r/a.b"] = sourcetest.Document{Status: 500}
		f.Site[feedURL] = sourcetest.Document{Body: docOf(2, active("a", 2, "a", "b", "c"))}
		assert.False(t, harvestSite(t, store, source, f).InStep())
		assert.Equal(t, map[string]string{"a": want}, contents(t, store), "an error is no reason for another format")
	}
}

func TestSourceConformance(t *testing.T) {
	archive := func(docs ...map[string]string) (sites []sourcetest.Site) {
		for _, d := range docs {
			sites = append(sites, siteOf(d))
		}
		return sites
	}
	states := map[string][]sourcetest.Site{
		"archive": archive(
			map[string]string{
				"feed": docOf(4, prev("1"), active("c", 4, "a"), active("b", 3, "a", "b")),
				"1":    docOf(2, isArchive, active("a", 2, "a"), active("b", 1, "b")),
			},
			map[string]string{
				"feed": docOf(7, prev("x/2"), active("b", 6, "b"), active("d", 7, "a")),
				"x/2":  docOf(5, isArchive, prev("x/1"), deletionOf("c", 5), active("b", 3, "a", "b")),
				"x/1":  docOf(2, isArchive, active("a", 2, "a")),
			},
		),
		"complete": archive(
			map[string]string{"feed": docOf(2, isComplete, active("b", 2, "a"), active("a", 1, "a", "b"))},
			map[string]string{"feed": docOf(3, isComplete, active("c", 3, "b"), active("a", 1, "a", "b"))},
			map[string]string{"feed": docOf(4, isComplete, prev("1"), active("c", 4, "a")), "1": docOf(3, isArchive, active("c", 3, "b"))},
		),
	}
	for name, sites := range states {
		t.Run(name, func(t *testing.T) {
			sourcetest.Run(t, sourcetest.Options{
				Source: func() harvest.Source { return &atompmh.Source{URL: feedURL, AllFormats: true} },
				Sites:  sites, Positions: racing.Some(20),
				Store: func(testing.TB) harvest.Store { return memstore.New() },
			})
		})
	}
}

// TestDir: documents that a stopped run has kept are requested again: they may have
// changed, and one that can't be read is a hole.
func TestDir(t *testing.T) {
	docs := func(more string) sourcetest.Site {
		return siteOf(map[string]string{
			"feed": docOf(6, prev("2"), active("b", 6, "a")),
			"2":    docOf(4, isArchive, prev("1"), active("c", 4, "a"), more),
			"1":    docOf(2, isArchive, active("a", 2, "a")),
		})
	}
	store := harvest.NewCatalog(memstore.New())
	source := &atompmh.Source{URL: feedURL, Dir: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	f := &sourcetest.Fetcher{Site: docs("")}
	f.Hook = func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
		if strings.HasPrefix(req.URL, www+"r/") {
			cancel()
		}
		return doc, nil
	}
	h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: f, Concurrency: 1}
	_, err := h.Run(ctx, source)
	require.ErrorIs(t, err, context.Canceled)
	f.Hook = nil
	f.Site = docs(active("d", 3, "a"))
	f.Site[www+"2"] = sourcetest.Document{Status: 500}
	assert.NotEmpty(t, harvestSite(t, store, source, f).Problems)
	f.Site = docs(active("d", 3, "a"))
	r := harvestSite(t, store, source, f)
	assert.True(t, r.InStep(), "%v", r.Problems)
	assert.Equal(t, records("a", "b", "c", "d"), contents(t, store))
}
