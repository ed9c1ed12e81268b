package resourcesync_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
)

var firstCommit = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// logOf returns a log with an entry a second for each change: "name", or "-name" for a
// deletion.
func logOf(source string, changes ...string) *websync.Log {
	log := new(websync.Log)
	for i, c := range changes {
		name, deleted := strings.CutPrefix(c, "-")
		item := websync.Item{Source: source, Time: firstCommit.Add(time.Duration(i) * time.Second), Kind: websync.Updated,
			Resource: websync.Resource{ID: www + name, Content: websync.Link{Href: www + name}}}
		if deleted {
			item.Kind = websync.Deleted
		}
		log.Append(item)
	}
	return log
}

func publisherOf(catalog websync.Catalog, settings *resourcesync.Publisher) *resourcesync.Publisher {
	settings.Catalog, settings.Base = catalog, www
	settings.Locator = websync.PathLocator{Base: www, Own: []string{"own"}, Reserved: settings.Reserved}
	return settings
}

// documents returns what a Publisher lists, by path, in the order of Documents.
func documents(t *testing.T, p *resourcesync.Publisher) (paths []string, texts map[string]string) {
	t.Helper()
	texts = make(map[string]string)
	for path, err := range p.Documents(t.Context()) {
		require.NoError(t, err)
		doc, err := p.Document(t.Context(), path)
		require.NoError(t, err, path)
		assert.True(t, p.Reserved(path), path)
		paths = append(paths, path)
		texts[path] = string(render(t, doc))
	}
	return paths, texts
}

// body returns the part of a document after its root.
func body(text string) string {
	_, text, _ = strings.Cut(text, ">\n")
	_, text, _ = strings.Cut(text, ">\n")
	text = strings.ReplaceAll(text, www, "/")
	return text[:strings.LastIndex(text, "</")]
}

// TestPublisherDocuments compares all documents of a small set with what the standard
// shows: one Resource List and one open Change List.
func TestPublisherDocuments(t *testing.T) {
	p := publisherOf(logOf("own", "a", "b", "a", "-b"), &resourcesync.Publisher{
		DescribedBy: "https://example.org/about", Hubs: []string{"https://hub.example.net/"},
	})
	require.NoError(t, p.Check())
	paths, texts := documents(t, p)
	assert.Equal(t, []string{"/resourcelist.xml", "/changelist.xml", "/capabilitylist.xml", "/.well-known/resourcesync"}, paths)
	const hub = `<rs:ln rel="hub" href="https://hub.example.net/"/>` + "\n" + `<rs:ln rel="self" href="/capabilitylist.xml"/>` + "\n"
	const up = `<rs:ln rel="up" href="/capabilitylist.xml"/>` + "\n"
	for path, want := range map[string]string{
		"/.well-known/resourcesync": `<rs:md capability="description"/>` + "\n" + hub +
			`<url><loc>/capabilitylist.xml</loc><rs:md capability="capabilitylist"/><rs:ln rel="describedby" href="/about"/></url>` + "\n",
		"/capabilitylist.xml": `<rs:md capability="capabilitylist"/>` + "\n" + `<rs:ln rel="up" href="/.well-known/resourcesync"/>` + "\n" + hub +
			`<rs:ln rel="describedby" href="/about"/>` + "\n" +
			`<url><loc>/resourcelist.xml</loc><rs:md capability="resourcelist"/></url>` + "\n" +
			`<url><loc>/changelist.xml</loc><rs:md capability="changelist"/></url>` + "\n",
		"/resourcelist.xml": `<rs:md capability="resourcelist" at="2026-01-01T12:00:03Z"/>` + "\n" + up +
			`<url><loc>/a</loc><lastmod>2026-01-01T12:00:02Z</lastmod></url>` + "\n",
		"/changelist.xml": `<rs:md capability="changelist" from="1970-01-01T00:00:00Z"/>` + "\n" + up + hub +
			`<url><loc>/a</loc><lastmod>2026-01-01T12:00:00Z</lastmod><rs:md change="updated" datetime="2026-01-01T12:00:00Z"/></url>` + "\n" +
			`<url><loc>/a</loc><lastmod>2026-01-01T12:00:02Z</lastmod><rs:md change="updated" datetime="2026-01-01T12:00:02Z"/></url>` + "\n" +
			`<url><loc>/b</loc><rs:md change="deleted" datetime="2026-01-01T12:00:03Z"/></url>` + "\n",
	} {
		assert.Equal(t, want, body(texts[path]), path)
	}
}

// TestPublisherTree checks all documents of larger sets: the published schemas and
// ValidateTree find nothing.
func TestPublisherTree(t *testing.T) {
	var changes []string
	for i := range 60 {
		changes = append(changes, fmt.Sprint("r", i))
		if i%3 == 2 {
			changes = append(changes, fmt.Sprint("-r", i/2), fmt.Sprint("r", i/4))
		}
	}
	for name, test := range map[string]struct {
		log      *websync.Log
		settings *resourcesync.Publisher
		closed   int // Change Lists that the index names
	}{
		"an empty log":                  {new(websync.Log), new(resourcesync.Publisher), 0},
		"one list of each":              {logOf("own", changes...), new(resourcesync.Publisher), 0},
		"indexes":                       {logOf("own", changes...), &resourcesync.Publisher{PartSize: 7, ListSize: 10}, 9},
		"an index that reaches back":    {logOf("own", changes...), &resourcesync.Publisher{PartSize: 7, ListSize: 10, MaxLists: 2}, 2},
		"harvested":                     {logOf("theirs", changes...), &resourcesync.Publisher{PartSize: 7, ListSize: 10}, 9},
		"everything at other locations": {logOf("own", changes...), &resourcesync.Publisher{PartSize: 7, ListSize: 10, Path: "sub/cap.xml"}, 9},
	} {
		t.Run(name, func(t *testing.T) {
			test.settings.DescribedBy, test.settings.DescribedByHost = www+"about", www+"about-all"
			p := publisherOf(test.log, test.settings)
			paths, texts := documents(t, p)
			closed := 0
			for path, text := range texts {
				if strings.Contains(text, "<loc>") { // the schema demands an entry
					testkit.Lint(t, schema(strings.Contains(text, "<sitemapindex")), []byte(text))
				}
				if strings.HasSuffix(path, "changelist-index.xml") {
					closed = strings.Count(text, "<sitemap>") - 1
				}
			}
			assert.Equal(t, test.closed, max(closed, 0))
			read := make(map[string]bool)
			open := func(url string) (io.ReadCloser, error) {
				path := strings.TrimPrefix(url, strings.TrimSuffix(www, "/"))
				require.Contains(t, texts, path)
				read[path] = true
				return io.NopCloser(strings.NewReader(texts[path])), nil
			}
			resourcesync.ValidateTree(www+".well-known/resourcesync", open, resourcesync.TreeOptions{Now: firstCommit.AddDate(0, 0, 1), Report: func(f websync.Finding) {
				if f.Severity >= websync.SeverityWarning && f.Rule != "sitemap-empty" {
					t.Error(f)
				}
			}})
			if test.settings.MaxLists == 0 {
				want := len(paths)
				if test.closed > 0 {
					want-- // nothing links to the latest closed list yet
				}
				assert.Len(t, read, want)
			}
		})
	}
}

// TestOneVia: of several links via the first counts, which is that to the first
// publisher.
func TestOneVia(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Sample: -1, Catalog: store}
	_, err := h.Run(t.Context(), harvest.Of("other")) // before it, nothing was there
	require.NoError(t, err)
	_, err = h.Run(t.Context(), harvest.Of("other", harvest.Event{
		Resource: websync.Resource{ID: "https://other.example.com/a", Links: []websync.Link{
			{Rel: "via", Href: "https://first.example.com/a"}, {Rel: "via", Href: "https://second.example.com/a"},
		}},
		Open: harvest.OpenBytes([]byte("a")),
	}))
	require.NoError(t, err)
	p := &resourcesync.Publisher{Place: websync.Place{Catalog: store, Base: "https://example.org/"}}
	for _, path := range []string{"/resourcelist.xml", "/changelist.xml"} {
		doc, err := p.Document(t.Context(), path)
		require.NoError(t, err)
		text := string(render(t, doc))
		assert.Equal(t, 1, strings.Count(text, `rel="via"`), text)
		assert.Contains(t, text, `href="https://first.example.com/a"`)
	}
}

// TestRepublished follows Examples 31 to 33 of the standard: a second aggregator keeps
// the link via of the first.
func TestRepublished(t *testing.T) {
	const first, second, third = "https://original.example.com/", "https://aggregator1.example.com/", "https://aggregator2.example.com/"
	modified, err := websync.ParseDatetime("2013-01-03T07:00:00Z")
	require.NoError(t, err)
	original := harvest.NewCatalog(memstore.New())
	_, err = (&harvest.Harvester{Sample: -1, Catalog: original}).Run(t.Context(), harvest.Of("own", harvest.Event{
		Resource: websync.Resource{ID: first + "res1.html", Modified: modified, Content: websync.Link{Type: "text/html"}, Links: []websync.Link{
			{Rel: "collection", Href: first + "all"}, {Rel: "license", Href: "https://example.net/license"},
		}},
		Open: harvest.OpenBytes([]byte("<p>text</p>")),
	}))
	require.NoError(t, err)
	store := original
	for i, base := range []string{first, second, third} {
		p := &resourcesync.Publisher{Place: websync.Place{Catalog: store, Base: base}}
		l := websync.PathLocator{Base: base, Reserved: p.Reserved}
		if i == 0 {
			l.Own = []string{"own"}
		}
		p.Locator = l
		site := publish.Join(p, publish.Bodies(store, l))
		doc, err := site.Document(t.Context(), "/resourcelist.xml")
		require.NoError(t, err)
		r := resourcesync.NewReader(bytes.NewReader(render(t, doc)))
		var entries []resourcesync.Entry
		for e, err := range r.All() {
			require.NoError(t, err)
			entries = append(entries, e)
		}
		require.Len(t, entries, 1)
		links := make(map[string]resourcesync.Link)
		for _, l := range entries[0].Links {
			links[l.Rel] = l
		}
		assert.Contains(t, links, "license")
		if i == 0 {
			assert.Equal(t, first+"res1.html", entries[0].Loc)
			assert.Equal(t, modified, entries[0].LastMod)
			assert.Contains(t, links, "collection")
			assert.NotContains(t, links, "via")
		} else {
			assert.Equal(t, base+"r/", entries[0].Loc[:len(base)+2])
			assert.True(t, entries[0].LastMod.After(modified))
			assert.Contains(t, links, "collection", "of the resource, whoever has a copy")
			via := links["via"]
			assert.Equal(t, first+"res1.html", via.Href)
			assert.Equal(t, "2013-01-03T07:00:00Z", via.Modified.String())
			assert.EqualValues(t, 11, via.Length)
			assert.Equal(t, "text/html", via.Type)
			assert.NotEmpty(t, via.Digests)
		}
		next := harvest.NewCatalog(memstore.New())
		fetcher := &live{t: t, p: site, base: base, now: time.Now, bytes: make(map[string]string), closed: make(map[string]string)}
		report, err := (&harvest.Harvester{Sample: -1, Catalog: next, Fetcher: fetcher}).Run(t.Context(), &resourcesync.Source{URL: p.URL()})
		require.NoError(t, err)
		require.True(t, report.InStep(), report)
		store = next
	}
}

// TestPublisherLeavesOut lists resources whose descriptions no entry can have.
func TestPublisherLeavesOut(t *testing.T) {
	log := new(websync.Log)
	for _, r := range []websync.Resource{
		{ID: "urn:no:url"},
		{ID: www + "long-" + strings.Repeat("x", 2048)},
		{ID: www + "größe", Content: websync.Link{Type: "no media type"}},
		{ID: www + "links", Links: []websync.Link{{Rel: "no relation", Href: www + "a"}, {Rel: "license", Href: www + "b"}}},
		{ID: www + "elements", Elements: []websync.Element{{Space: "urn:x", Local: "x", XML: `<x xmlns="urn:x">`}}},
		{ID: www + "freq", Elements: []websync.Element{{Space: "http://www.sitemaps.org/schemas/sitemap/0.9", Local: "changefreq", XML: `<changefreq xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">often</changefreq>`}}},
	} {
		log.Append(websync.Item{Source: "own", Time: firstCommit, Resource: r})
	}
	var said []string
	p := publisherOf(log, &resourcesync.Publisher{Place: websync.Place{Report: func(f websync.Finding) { said = append(said, f.Rule+" "+f.Value[:min(len(f.Value), 30)]) }}})
	for range 2 {
		doc, err := p.Document(t.Context(), "/resourcelist.xml")
		require.NoError(t, err)
		text := body(string(render(t, doc)))
		assert.Equal(t, 4, strings.Count(text, "<url>"), text)
		assert.Contains(t, text, "<loc>/gr%C3%B6%C3%9Fe</loc>")
		assert.Contains(t, text, `<rs:ln rel="license" href="/b"/>`)
		assert.NotContains(t, text, "no relation")
	}
	assert.Equal(t, []string{
		"resourcesync-not-listed urn:no:url", "resourcesync-not-listed " + (www + "long-xxxxxxxxxxxxxxxxxxxxx")[:30],
		"resourcesync-left-out " + www + "größe", "resourcesync-left-out " + www + "links",
		"resourcesync-left-out " + www + "elements", "resourcesync-left-out " + www + "freq",
	}, said)
}

// TestPublisherLongEntries: a Change List of very long entries is not longer than the
// standard allows, and has an entry for each change.
func TestPublisherLongEntries(t *testing.T) {
	log := new(websync.Log)
	for i := range 40 {
		log.Append(websync.Item{Source: "own", Time: firstCommit, Resource: websync.Resource{
			ID: fmt.Sprint(www, i), Links: []websync.Link{{Rel: "license", Href: www + "license"}},
			Elements: []websync.Element{{Space: "urn:x", Local: "x", XML: `<x xmlns="urn:x">` + strings.Repeat("x", 50_000) + `</x>`}},
		}})
	}
	left := 0
	p := publisherOf(log, &resourcesync.Publisher{Place: websync.Place{Report: func(websync.Finding) { left++ }}})
	doc, err := p.Document(t.Context(), "/changelist.xml")
	require.NoError(t, err)
	text := string(render(t, doc))
	assert.Equal(t, 40, strings.Count(text, "<url>"))
	assert.Equal(t, 40, strings.Count(text, `rel="license"`))
	assert.Less(t, len(text), 200_000)
	assert.Greater(t, left, 30)
}
