package rinfo_test

import (
	"context"
	"crypto/md5"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/rinfo"
)

const (
	www     = "https://www.example.se/"
	feedURL = www + "feed"
	publ    = "http://rinfo.example.se/publ/"
)

// moment returns the text of the time n seconds after a fixed one.
func moment(n int) string { return fmt.Sprintf("2026-01-01T00:%02d:%02dZ", n/60, n%60) }

// feedOf returns a document of the feed urn:feed with the markup of its metadata and
// items.
func feedOf(parts ...string) string {
	return `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0"
		xmlns:fh="http://purl.org/syndication/history/1.0" xmlns:le="http://purl.org/atompub/link-extensions/1.0"
		xmlns:dct="http://purl.org/dc/terms/"><id>urn:feed</id><title>Acts</title><updated>` + moment(1000) + `</updated>
		<author><name>Agency</name><email>rinfo@example.se</email></author><link rel="self" href="` + feedURL + `"/>` + "\n" +
		strings.Join(parts, "\n") + "\n</feed>\n"
}

const (
	isComplete = "<fh:complete/>"
	isArchive  = "<fh:archive/>"
)

func prev(path string) string { return `<link rel="prev-archive" href="` + www + path + `"/>` }

// entryOf returns an entry that was published at the moment 1.
func entryOf(id string, at int, links ...string) string {
	return entryAt(id, at, 1, links...)
}

func entryAt(id string, updated, published int, links ...string) string {
	return "<entry><id>" + publ + id + "</id><title>" + id + "</title><summary/><updated>" + moment(updated) + "</updated><published>" +
		moment(published) + "</published>" + strings.Join(links, "") + "</entry>"
}

func tombstoneOf(id string, at int) string {
	return `<at:deleted-entry ref="` + publ + id + `" when="` + moment(at) + `"/>`
}

// hash returns the attributes of a link to a text.
func hash(text string) string { return ` hash="md5:` + sumOf(text) + `"` }

func sumOf(text string) string { return fmt.Sprintf("%x", md5.Sum([]byte(text))) }

func stated(text string) string { return fmt.Sprintf(` length="%d"%s`, len(text), hash(text)) }

// The texts at the URLs of files are the paths.
func pdf(path string) string {
	return `<content type="application/pdf" src="` + www + path + `"` + hash(path) + `/>`
}

func rdf(path string) string {
	return `<link rel="alternate" type="application/rdf+xml" href="` + www + path + `"` + stated(path) + `/>`
}

func enclosure(path, more string) string {
	return `<link rel="enclosure" type="application/pdf" href="` + www + path + `"` + stated(path) + more + `/>`
}

// siteOf returns a site of documents by path, each with an ETag, and of the files that
// they link to.
func siteOf(documents map[string]string) sourcetest.Site {
	site := sourcetest.Site{}
	add := func(path, text string) {
		site[www+path] = sourcetest.Document{
			Body: text, ETag: fmt.Sprintf("%q", fmt.Sprintf("%x", md5.Sum([]byte(text)))),
			Header: map[string][]string{"Date": {"Thu, 01 Jan 2026 12:00:00 GMT"}},
		}
	}
	for _, text := range documents {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, `="`+www+"files/")
			if !ok {
				break
			}
			path, end, _ := strings.Cut(after, `"`)
			add("files/"+path, "files/"+path)
			rest = end
		}
	}
	for path, text := range documents {
		add(path, text)
	}
	return site
}

func archiveStates() []sourcetest.Site {
	one := map[string]string{
		"feed": feedOf(prev("2"), entryOf("a/2", 22, pdf("files/a2"), rdf("files/a2.rdf"), enclosure("files/a2-1", ` dct:isFormatOf="`+publ+`a/2#one"`))),
		"2":    feedOf(isArchive, prev("1"), tombstoneOf("b/1", 12), entryOf("c/1", 11, rdf("files/c1.rdf"))),
		"1":    feedOf(isArchive, entryOf("b/1", 3, pdf("files/b1"), rdf("files/b1.rdf")), entryOf("a/1", 2, pdf("files/a1"), rdf("files/a1.rdf"))),
	}
	two := maps.Clone(one)
	two["3"] = feedOf(isArchive, prev("2"), entryOf("b/1", 31, pdf("files/b1x"), rdf("files/b1.rdf")),
		entryOf("a/2", 22, pdf("files/a2"), rdf("files/a2.rdf"), enclosure("files/a2-1", ` dct:isFormatOf="`+publ+`a/2#one"`)))
	two["feed"] = feedOf(prev("3"), tombstoneOf("a/1", 42),
		entryOf("a/2", 41, pdf("files/a2"), rdf("files/a2x.rdf"), enclosure("files/a2-1", ""), enclosure("files/a2-2", "")))
	return []sourcetest.Site{siteOf(one), siteOf(two)}
}

func completeStates() []sourcetest.Site {
	inline := `<content type="text">` + "text" + `</content>`
	return []sourcetest.Site{
		siteOf(map[string]string{"feed": feedOf(isComplete, entryOf("a/1", 1, pdf("files/a1"), rdf("files/a1.rdf")),
			entryOf("b/1", 2, rdf("files/b1.rdf")), entryOf("c/1", 3, inline, rdf("files/c1.rdf")))}),
		siteOf(map[string]string{"feed": feedOf(isComplete, entryOf("a/1", 4, pdf("files/a1"), rdf("files/a1x.rdf"), enclosure("files/a1-1", "")),
			entryOf("d/1", 5, pdf("files/d1"), rdf("files/d1.rdf")), entryOf("c/1", 6, inline, rdf("files/c1x.rdf")))}),
	}
}

func TestSourceConformance(t *testing.T) {
	for name, sites := range map[string][]sourcetest.Site{"archive": archiveStates(), "complete": completeStates()} {
		t.Run(name, func(t *testing.T) {
			sourcetest.Run(t, sourcetest.Options{
				Source:    func() harvest.Source { return &rinfo.Source{URL: feedURL} },
				Sites:     sites,
				Store:     func(testing.TB) harvest.Store { return memstore.New() },
				Positions: racing.Some(20),
			})
		})
	}
}

// A collection is a Store that is harvested into.
type collection struct {
	*testing.T
	store  *harvest.Catalog
	source rinfo.Source
	// of the last run
	findings []websync.Finding
}

func newCollection(t *testing.T) *collection {
	return &collection{t, harvest.NewCatalog(memstore.New()), rinfo.Source{URL: feedURL, Name: testkit.Src}, nil}
}

// run harvests a site and returns the requests, by path.
func (c *collection) run(site sourcetest.Site) (report *harvest.Report, asked []string) {
	c.Helper()
	f := &sourcetest.Fetcher{Site: site}
	c.findings = nil
	hooks := testkit.OnFinding(func(f websync.Finding) { c.findings = append(c.findings, f) })
	report, err := (&harvest.Harvester{Sample: -1, Catalog: c.store, Fetcher: f, Hooks: hooks}).Run(c.Context(), &c.source)
	require.NoError(c, err)
	for _, x := range f.Exchanges() {
		path := strings.TrimPrefix(x.URL, www)
		if x.Status != 200 {
			path = fmt.Sprintf("%s %d", path, x.Status)
		}
		asked = append(asked, path)
	}
	return report, asked
}

// bodies returns the live resources by their id below publ, each with its bodies.
func (c *collection) bodies() map[string]string {
	all := map[string]string{}
	for _, item := range testkit.All(c, c.store.Resources(c.Context(), websync.Range{})) {
		var text []string
		for _, b := range item.Bodies {
			text = append(text, b.Name+": "+testkit.Read(c, c.store, b))
		}
		all[strings.TrimPrefix(item.Resource.ID, publ)] = strings.Join(text, "; ")
	}
	return all
}

// tasks returns the errors of the tasks that are left, by id.
func (c *collection) tasks() map[string]string {
	all := map[string]string{}
	for _, task := range testkit.All(c, c.store.Tasks(c.Context(), c.source.Key(), "")) {
		all[strings.TrimPrefix(task.Resource.ID, publ)] = task.Error
	}
	return all
}

// TestSource: everything that an entry links to is collected, and what the entry states
// is kept.
func TestSource(t *testing.T) {
	c := newCollection(t)
	sites := archiveStates()
	report, asked := c.run(sites[0])
	assert.True(t, report.InStep())
	assert.Equal(t, []string{"feed", "2", "1"}, asked[:3])
	assert.NotContains(t, asked, "files/b1", "what an old entry links to is not requested (§8.3)")
	assert.Equal(t, map[string]string{
		"a/1": "content: files/a1; alternate application/rdf+xml: files/a1.rdf",
		"a/2": "content: files/a2; alternate application/rdf+xml: files/a2.rdf; enclosure one.pdf: files/a2-1",
		"c/1": "alternate application/rdf+xml: files/c1.rdf",
	}, c.bodies())

	items, err := c.store.Get(t.Context(), testkit.Src, []string{publ + "a/2"})
	require.NoError(t, err)
	r := items[0].Resource
	assert.Equal(t, moment(22), r.Modified.String())
	assert.Equal(t, moment(1), r.Published.String())
	assert.Equal(t, www+"files/a2", r.Content.Href)
	assert.Equal(t, www+"files/a2-1", r.Links[1].Href)

	report, asked = c.run(sites[0])
	assert.True(t, report.InStep())
	assert.Equal(t, []string{"feed 304"}, asked)

	report, asked = c.run(sites[1])
	assert.True(t, report.InStep())
	assert.Equal(t, []string{"feed", "3"}, asked[:2], "back to the newest known document only")
	assert.Equal(t, map[string]string{
		"a/2": "content: files/a2; alternate application/rdf+xml: files/a2x.rdf; enclosure a2-1: files/a2-1; enclosure a2-2: files/a2-2",
		"b/1": "content: files/b1x; alternate application/rdf+xml: files/b1.rdf",
		"c/1": "alternate application/rdf+xml: files/c1.rdf",
	}, c.bodies())

	kinds := testkit.Entries(t, c.store)
	var log []string
	for _, item := range kinds {
		log = append(log, item.Kind.String()+" "+strings.TrimPrefix(item.Resource.ID, publ))
	}
	assert.Contains(t, log, "deleted a/1")
}

// TestCompleteFeed: what a complete feed no longer lists is deleted (§8.2), and another
// feed id deletes nothing.
func TestCompleteFeed(t *testing.T) {
	c := newCollection(t)
	sites := completeStates()
	c.run(sites[0])
	assert.Len(t, c.bodies(), 3)
	other := siteOf(map[string]string{"feed": strings.Replace(feedOf(isComplete), "urn:feed", "urn:other", 1)})
	report, _ := c.run(other)
	assert.False(t, report.InStep())
	assert.Len(t, c.bodies(), 3)
	report, _ = c.run(sites[1])
	assert.True(t, report.InStep())
	assert.Equal(t, map[string]string{
		"a/1": "content: files/a1; alternate application/rdf+xml: files/a1x.rdf; enclosure a1-1: files/a1-1",
		"c/1": "content: text; alternate application/rdf+xml: files/c1x.rdf",
		"d/1": "content: files/d1; alternate application/rdf+xml: files/d1.rdf",
	}, c.bodies())
}

// TestVerified: any part that is not what its entry states keeps the whole resource back,
// whichever form the digest has, and nothing else. Once the source is repaired, one run
// completes.
func TestVerified(t *testing.T) {
	long := strings.Repeat("x", 300)
	sha := ` hash="sha-256:` + fmt.Sprintf("%x", websync.SHA256([]byte("files/1.rdf")).Sum) + `"`
	for name, test := range map[string]struct {
		links string
		wrong string // path of the wrong file
		part  string
	}{
		"the content":       {pdf("files/1") + rdf("files/1.rdf"), "files/1", "content"},
		"the RDF":           {pdf("files/1") + rdf("files/1.rdf"), "files/1.rdf", "alternate"},
		"an enclosure":      {pdf("files/1") + rdf("files/1.rdf") + enclosure("files/2", ""), "files/2", "enclosure"},
		"the older le:md5":  {pdf("files/1") + strings.Replace(rdf("files/1.rdf"), `hash="md5:`, `le:md5="`, 1), "files/1.rdf", "alternate"},
		"the length only":   {pdf("files/1") + strings.Replace(rdf("files/1.rdf"), hash("files/1.rdf"), "", 1), "files/1.rdf", "alternate"},
		"a stronger digest": {pdf("files/1") + strings.Replace(rdf("files/1.rdf"), hash("files/1.rdf"), sha, 1), "files/1.rdf", "alternate"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			docs := map[string]string{
				"feed": feedOf(prev("1"), entryOf("young/1", 9, pdf("files/y"), rdf("files/y.rdf"))),
				"1":    feedOf(isArchive, entryOf("old/1", 2, test.links), entryOf("middle/1", 3, pdf("files/m"), rdf("files/m.rdf"))),
			}
			good, bad := siteOf(docs), siteOf(docs)
			bad[www+test.wrong] = sourcetest.Document{Body: long}
			report, _ := c.run(bad)
			assert.False(t, report.InStep())
			live := c.bodies()
			assert.NotContains(t, live, "old/1")
			assert.Contains(t, live, "young/1")
			assert.Contains(t, live, "middle/1")
			assert.Contains(t, c.tasks()["old/1"], "rinfo: "+test.part+" "+www+test.wrong+": ")

			testkit.MakeDue(t, c.store)
			report, _ = c.run(good)
			assert.True(t, report.InStep())
			assert.Contains(t, c.bodies(), "old/1")
			assert.Empty(t, c.tasks())
		})
	}
}

// TestHoles: after a hole no younger document becomes the new starting point. Once the
// source is repaired, one run completes.
func TestHoles(t *testing.T) {
	entry := func(id string, at int) string { return entryOf(id, at, pdf("files/"+id), rdf("files/"+id+".rdf")) }
	docs := map[string]string{
		"feed": feedOf(prev("3"), entry("e/1", 50)),
		"3":    feedOf(isArchive, prev("2"), entry("d/1", 40)),
		"2":    feedOf(isArchive, prev("1"), entry("c/1", 30)),
		"1":    feedOf(isArchive, entry("b/1", 20), entry("a/1", 10)),
	}
	for name, document := range map[string]sourcetest.Document{
		"missing": {Status: 404}, "not there now": {Status: 503}, "broken off": {Body: docs["2"][:300], Broken: true},
		"cut": {Body: docs["2"][:len(docs["2"])-20]}, "another page": {Body: "<!DOCTYPE html><html/>"},
		"a loop to itself":  {Body: strings.Replace(docs["2"], www+"1", www+"2", 1)},
		"a loop back":       {Body: strings.Replace(docs["2"], www+"1", www+"3", 1)},
		"of another feed":   {Body: strings.Replace(docs["2"], "urn:feed", "urn:other", 1)},
		"a redirect inside": {Location: "/3"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			c.source.Dir = t.TempDir()
			site := siteOf(docs)
			good := site[www+"2"]
			site[www+"2"] = document
			for range 2 {
				report, asked := c.run(site)
				assert.False(t, report.InStep())
				assert.Contains(t, strings.Join(asked, " ")+" ", " 3 ", "each run walks again")
				assert.NotContains(t, c.bodies(), "a/1")
			}
			site[www+"2"] = good
			report, _ := c.run(site)
			assert.True(t, report.InStep())
			assert.Len(t, c.bodies(), 5)
		})
	}
}

// TestOrder: the entries of a long document are processed from the oldest to the latest,
// too.
func TestOrder(t *testing.T) {
	c := newCollection(t)
	const count = 1100
	text := func(n int) string { return fmt.Sprint(n, strings.Repeat("x", 5000+n%50/49*70_000)) }
	var entries []string
	for _, n := range rand.New(rand.NewPCG(1, 2)).Perm(count) {
		entries = append(entries, entryOf(fmt.Sprint(n), n+1, "<content>"+text(n)+"</content>"))
	}
	entries = append(entries, tombstoneOf("not/here", 600))
	doc := feedOf(entries...)
	require.Greater(t, len(doc), 5<<20)
	c.store = testkit.NewStore(t).Plain()
	f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"feed": doc})}
	report, err := (&harvest.Harvester{Sample: -1, Catalog: c.store, Fetcher: f, Concurrency: 1}).Run(t.Context(), &c.source)
	require.NoError(t, err)
	require.True(t, report.InStep(), "%+v", report)
	marks := 0
	for ev, err := range c.source.Events(t.Context(), (&harvest.Run{Fetcher: f}).WithDefaults()) {
		require.NoError(t, err)
		if ev.Kind == harvest.Mark {
			marks++
		}
	}
	assert.Equal(t, 4, marks, "three parts are in memory one after the other")
	log := testkit.Entries(t, c.store)
	require.Len(t, log, count)
	for n, item := range log {
		require.Equal(t, moment(n+1), item.Resource.Modified.String())
		require.Equal(t, text(n), testkit.Read(t, c.store, item.Bodies[0]))
	}
}

// TestOrigin: what an entry is from is its atom:source, or else the subscription
// document, unless that has an excessive title.
func TestOrigin(t *testing.T) {
	c := newCollection(t)
	originOf := func(id string) *websync.Origin {
		items, err := c.store.Get(t.Context(), testkit.Src, []string{publ + id})
		require.NoError(t, err)
		return items[0].Resource.Origin
	}
	const source = `<source><id>urn:first</id><title>First</title><updated>2026-01-01T00:00:00Z</updated></source>`
	docs := map[string]string{
		"feed": feedOf(prev("1"), entryOf("a/1", 9, pdf("files/a"), source)),
		"1":    strings.Replace(feedOf(isArchive, entryOf("b/1", 2, pdf("files/b"))), "Acts", "Old acts", 1),
	}
	report, _ := c.run(siteOf(docs))
	require.True(t, report.InStep())
	assert.Equal(t, "urn:first", originOf("a/1").ID)
	assert.Equal(t, "First", originOf("a/1").Title)
	assert.Equal(t, &websync.Origin{ID: "urn:feed", Title: "Acts", Self: feedURL}, originOf("b/1"))

	docs["feed"] = strings.Replace(feedOf(entryOf("c/1", 10, pdf("files/c"))), "Acts", strings.Repeat("long ", 1000), 1)
	c.run(siteOf(docs))
	assert.Contains(t, c.bodies(), "c/1")
	assert.Nil(t, originOf("c/1"))
}

// TestGone: a part that does not exist does not delete its resource.
func TestGone(t *testing.T) {
	c := newCollection(t)
	docs := map[string]string{"feed": feedOf(entryOf("a/1", 1, pdf("files/a"), rdf("files/a.rdf")))}
	site := siteOf(docs)
	c.run(site)
	docs["feed"] = feedOf(entryOf("a/1", 2, pdf("files/b"), rdf("files/b.rdf")))
	site = siteOf(docs)
	delete(site, www+"files/b")
	for range 12 {
		testkit.MakeDue(t, c.store)
		f := &sourcetest.Fetcher{Site: site}
		report, err := (&harvest.Harvester{Sample: -1, Catalog: c.store, Fetcher: f, DeleteGone: true}).Run(t.Context(), &c.source)
		require.NoError(t, err)
		assert.False(t, report.InStep())
		assert.Zero(t, report.Left.Gone)
	}
	assert.Contains(t, c.tasks()["a/1"], "status 404")
	assert.Equal(t, map[string]string{"a/1": "content: files/a; alternate application/rdf+xml: files/a.rdf"}, c.bodies())
}

// TestReusedID: an update that looks like a new document is reported, or, with
// RefuseReusedIDs, does not replace another one.
func TestReusedID(t *testing.T) {
	entry := func(path string, updated, published int) sourcetest.Site {
		return siteOf(map[string]string{"feed": feedOf(entryAt("a/1", updated, published, pdf(path), rdf(path+".rdf")))})
	}
	for name, test := range map[string]struct {
		updated, published int
		suspect, refuse    bool
	}{
		"an update":              {updated: 5, published: 2},
		"with a new publication": {updated: 5, published: 4},
		// or published again, and the deletion is no longer listed (§4.2.1)
		"without a later time":       {updated: 2, published: 2},
		"strictly":                   {updated: 2, published: 2, refuse: true},
		"as if it were new":          {updated: 5, published: 5, suspect: true},
		"before its own publication": {updated: 5, published: 6, suspect: true},
		"an update, strictly":        {updated: 5, published: 2, refuse: true},
		"refused":                    {updated: 5, published: 5, suspect: true, refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			c.source.RefuseReusedIDs = test.refuse
			report, _ := c.run(entry("files/one", 2, 2))
			require.True(t, report.InStep())
			report, _ = c.run(entry("files/two", test.updated, test.published))
			replaced := !test.suspect || !test.refuse
			assert.Equal(t, replaced, report.InStep())
			assert.Equal(t, replaced, strings.Contains(c.bodies()["a/1"], "files/two"))
			assert.Equal(t, test.suspect && replaced, slices.Contains(testkit.Rules(c.findings), "rinfo-reused-id"), "%v", c.findings)
			if !replaced {
				assert.Contains(t, c.tasks()["a/1"], "an update must be later than the publication")
			}
		})
	}
	t.Run("after a deletion", func(t *testing.T) {
		c := newCollection(t)
		c.run(entry("files/one", 2, 2))
		c.run(siteOf(map[string]string{"feed": feedOf(tombstoneOf("a/1", 3))}))
		assert.Empty(t, c.bodies())
		report, _ := c.run(entry("files/two", 5, 5))
		assert.True(t, report.InStep())
		assert.Contains(t, c.bodies()["a/1"], "files/two")
	})
}

// TestWithoutDigests: a later update of an entry whose RDF has no digest is obtained,
// though the entry states nothing else that is new.
func TestWithoutDigests(t *testing.T) {
	bare := `<link rel="alternate" type="application/rdf+xml" href="` + www + `files/a.rdf"/>`
	for name, content := range map[string]string{"linked": pdf("files/a"), "inline": "<content>text</content>", "none": ""} {
		t.Run(name, func(t *testing.T) {
			c := newCollection(t)
			c.run(siteOf(map[string]string{"feed": feedOf(entryOf("a/1", 2, content, bare))}))
			site := siteOf(map[string]string{"feed": feedOf(entryOf("a/1", 3, content, bare))})
			site[www+"files/a.rdf"] = sourcetest.Document{Body: "changed"}
			report, _ := c.run(site)
			assert.True(t, report.InStep())
			assert.Contains(t, c.bodies()["a/1"], "changed")
		})
	}
}

// TestInline: inline content is not lost when another part of its entry can't be
// obtained: the document is read again.
func TestInline(t *testing.T) {
	c := newCollection(t)
	site := siteOf(map[string]string{"feed": feedOf(prev("1")), "1": feedOf(isArchive, entryOf("a/1", 1, "<content>text</content>", rdf("files/a.rdf")))})
	good := site[www+"files/a.rdf"]
	site[www+"files/a.rdf"] = sourcetest.Document{Body: "other"}
	report, _ := c.run(site)
	assert.False(t, report.InStep())
	assert.Empty(t, c.bodies())
	site[www+"files/a.rdf"] = good
	report, _ = c.run(site)
	assert.True(t, report.InStep())
	assert.Equal(t, map[string]string{"a/1": "content: text; alternate application/rdf+xml: files/a.rdf"}, c.bodies())
}

// TestParts: which links are collected.
func TestParts(t *testing.T) {
	c := newCollection(t)
	same := `<link rel="alternate" type="application/pdf" href="` + www + `files/a"` + stated("files/a") + `/>`
	iri := strings.Replace(rdf("files/a.rdf"), `"alternate"`, `"http://www.iana.org/assignments/relation/alternate"`, 1)
	_, asked := c.run(siteOf(map[string]string{"feed": feedOf(entryOf("a/1", 1, pdf("files/a"), same, iri, rdf("files/a.rdf"),
		`<link rel="related" href="`+www+`files/no"/><link rel="via" href="`+www+`files/no"/><link rel="alternate" href="ftp://example.se/x"/>`,
		`<link href="`+www+`files/page" type="text/html" hreflang="sv"/>`,
		enclosure("files/x", ""), enclosure("files/sub/x", ` dct:isFormatOf="`+publ+`other#x"`)))}))
	assert.Equal(t, []string{"feed", "files/a", "files/a.rdf", "files/page", "files/x", "files/sub/x"}, asked, "each once")
	assert.Equal(t, map[string]string{"a/1": "content: files/a; alternate application/rdf+xml: files/a.rdf; " +
		"alternate text/html sv: files/page; enclosure x: files/x; enclosure application/pdf 94d0022d: files/sub/x"}, c.bodies())
}

func TestTooManyParts(t *testing.T) {
	c := newCollection(t)
	var links strings.Builder
	for i := range 1001 {
		links.WriteString(enclosure(fmt.Sprintf("files/%d", i), ""))
	}
	_, asked := c.run(siteOf(map[string]string{"feed": feedOf(entryOf("a/1", 1, pdf("files/a"), links.String()))}))
	assert.Len(t, asked, 2)
	assert.Contains(t, c.tasks()["a/1"], "1001 alternates and enclosures")
}

// An index of feeds leads to the approved ones, and only to them.
func TestSources(t *testing.T) {
	const stranger = "https://stranger.example.com/feed"
	entry := func(id, src, mediaType string, at int) string {
		return `<entry><id>` + id + `</id><title/><summary/><updated>` + moment(at) + `</updated><content type="` + mediaType + `" src="` + src + `"/></entry>`
	}
	const feedType = "application/atom+xml;type=feed"
	index := feedOf(prev("older"), `<link rel="next" href="`+stranger+`"/>`,
		entry("urn:b", "b.atom", feedType, 3), entry("urn:x", stranger, feedType, 2), entry("urn:a", www+"sub/a.atom", `application/atom+xml; Type=feed`, 1),
		entry("urn:dots", www+"sub/../../c.atom", feedType, 4), entry("urn:pdf", www+"sub/x.pdf", "application/pdf", 5), entry("urn:entry", www+"sub/e.atom", "application/atom+xml;type=entry", 6))
	f := &sourcetest.Fetcher{Site: siteOf(map[string]string{"index": index})}
	sources, others, err := rinfo.Sources(t.Context(), f, www+"index", []string{"HTTPS://www.example.se:443/b.atom", www + "sub/", stranger[:len(stranger)-1]})
	require.NoError(t, err)
	assert.Equal(t, []*rinfo.Source{
		{URL: www + "sub/a.atom", Name: "urn:a", FeedID: "urn:a"}, {URL: www + "b.atom", Name: "urn:b", FeedID: "urn:b"},
	}, sources)
	assert.Equal(t, []string{stranger, www + "sub/../../c.atom"}, others)
	assert.Equal(t, []sourcetest.Exchange{{URL: www + "index", Status: 200}}, f.Exchanges())

	f.Site = siteOf(map[string]string{"index": feedOf(entryOf("a/1", 1, pdf("files/a")))})
	_, _, err = rinfo.Sources(t.Context(), f, www+"index", nil)
	assert.ErrorIs(t, err, websync.ErrNotDocument)
	assert.ErrorContains(t, err, www+"index")

	f.Site = siteOf(map[string]string{"index": feedOf("<entry/>", entry("urn:a", www+"a", feedType, 1))})
	sources, _, err = rinfo.Sources(t.Context(), f, www+"index", []string{www + "a"})
	assert.ErrorContains(t, err, "1 entries can't be read")
	assert.Len(t, sources, 1)

	_, _, err = rinfo.Sources(t.Context(), f, "", nil)
	assert.EqualError(t, err, "rinfo: Source.URL is empty")
}

// A Source does not store an index of feeds as documents.
func TestIndexAsSource(t *testing.T) {
	c := newCollection(t)
	report, _ := c.run(siteOf(map[string]string{"feed": feedOf(entryOf("a/1", 1, `<content type="application/atom+xml;type=feed" src="`+www+`other"/>`))}))
	assert.False(t, report.InStep())
	assert.Empty(t, c.bodies())
	assert.Contains(t, fmt.Sprint(c.findings), "this is an index of feeds")
}

func TestSourceSettings(t *testing.T) {
	s := &rinfo.Source{URL: feedURL}
	assert.Equal(t, []string{feedURL, feedURL}, []string{s.Key(), s.Root()})
	s.Name = "agency"
	assert.Equal(t, []string{"agency", feedURL}, []string{s.Key(), s.Root()})
	for _, err := range new(rinfo.Source).Events(context.Background(), nil) {
		assert.EqualError(t, err, "rinfo: Source.URL is empty")
	}
}
