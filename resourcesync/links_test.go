package resourcesync_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// A linked is a publisher with links between resources, and who harvests it.
type linked struct {
	*testing.T
	source *resourcesync.Source
	site   sourcetest.Site
	hook   func(req *harvest.Request, doc sourcetest.Document) sourcetest.Document // if not nil
	store  *harvest.Catalog
	h      harvest.Harvester
	log    []string // the entries of the Change List
	cut    bool     // only the end of the connection ends the text of a TimeMap

	asked    []string // what was asked for in the last run, without lists
	findings []string // of the last run
}

func newLinked(t *testing.T) *linked {
	return &linked{T: t, source: &resourcesync.Source{URL: sourceURL}, site: make(sourcetest.Site), store: harvest.NewCatalog(memstore.New()), h: harvest.Harvester{Sample: -1}}
}

// set publishes texts by path or URL, of a type if the text has one in front: "text/html
// <p>".
func (l *linked) set(docs map[string]string) {
	for path, text := range docs {
		header := map[string][]string{"Date": {"Sun, 01 Jun 2025 12:00:00 GMT"}}
		if kind, rest, ok := strings.Cut(text, " "); ok && strings.Contains(kind, "/") && !strings.Contains(kind, "<") {
			header["Content-Type"], text = []string{kind}, rest
		}
		l.site[absolute(path)] = sourcetest.Document{Body: text, Header: header}
	}
}

func absolute(path string) string {
	if strings.HasPrefix(path, "http") {
		return path
	}
	return www + path
}

// changes adds entries to the Change List.
func (l *linked) changes(entries ...string) {
	l.log = append(l.log, entries...)
	l.set(map[string]string{"changelist.xml": document("urlset", `capability="changelist" from="2025-01-01T00:00:00Z"`, "capabilitylist.xml", l.log...)})
}

func (l *linked) run() *harvest.Report {
	l.Helper()
	l.asked, l.findings = nil, nil
	fetcher := &sourcetest.Fetcher{Site: l.site}
	if l.hook != nil {
		fetcher.Hook = func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
			return l.hook(req, doc), nil
		}
	}
	l.h.Catalog, l.h.Fetcher = l.store, testkit.FetchFunc(func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
		resp, err := fetcher.Fetch(ctx, req)
		if err == nil && l.cut && strings.Contains(req.URL, "timemap") {
			resp.MayBeCut = true
		}
		return resp, err
	})
	l.h.Hooks = testkit.OnFinding(func(f websync.Finding) { l.findings = append(l.findings, f.Rule+": "+f.Message) })
	report, err := l.h.Run(l.Context(), l.source)
	require.NoError(l, err)
	for _, x := range fetcher.Exchanges() {
		if !strings.HasSuffix(x.URL, "list.xml") {
			l.asked = append(l.asked, fmt.Sprint(x.Status, " ", strings.TrimPrefix(x.URL, www)))
		}
	}
	streams, spools := fetcher.Open()
	require.Zero(l, streams+spools, "bodies that are not closed")
	return report
}

// live returns the live resources by path, with their content; "-" if there is none.
func (l *linked) live() map[string]string {
	live := make(map[string]string)
	for id, text := range testkit.Live(l, l.store) {
		live[strings.TrimPrefix(id, www)] = text
	}
	return live
}

func (l *linked) record(path string) harvest.Record {
	l.Helper()
	return testkit.RecordOf(l, l.store, sourceURL, absolute(path))
}

// negotiating is a hook that answers for the generic URI res1 by the Accept header.
func negotiating(req *harvest.Request, doc sourcetest.Document) sourcetest.Document {
	if req.URL != www+"res1" {
		return doc
	}
	for want := range strings.SplitSeq(req.Accept, ",") {
		switch want, _, _ = strings.Cut(strings.TrimSpace(want), ";"); want {
		case "application/pdf", "text/html":
			return sourcetest.Document{Body: "res1 as " + want, Header: map[string][]string{"Content-Type": {want}}, ETag: `"` + want + `"`}
		case "*/*":
			return sourcetest.Document{Body: "default", Header: map[string][]string{"Content-Type": {"text/html"}}}
		}
	}
	return sourcetest.Document{Status: 406}
}

// TestAlternates follows Examples 25 and 26 of the specification.
func TestAlternates(t *testing.T) {
	const html, pdf = www + "res1.html", www + "res1.pdf"
	generic := entryWith("res1", "", linkTo("alternate", html, `type="text/html"`)+linkTo("alternate", pdf, `type="application/pdf"`))
	specific := entryWith("res1.html", hashOf("page"), linkTo("canonical", www+"res1", ""))
	typed := entryWith("res1.html", `type="text/html" `+hashOf("page"), linkTo("canonical", www+"res1", ""))
	both := map[string]string{"res1.html": "text/html page", "res1.pdf": "application/pdf %PDF"}
	for _, test := range []struct {
		name  string
		types []string
		entry string
		docs  map[string]string
		text  string
		asked []string
	}{
		{"no choice", nil, generic, both, "plain", []string{"200 res1"}},
		{"an alternate", []string{"application/pdf"}, generic, both, "%PDF", []string{"200 res1.pdf"}},
		{"the best of two", []string{"Application/PDF", "text/html"}, generic, both, "%PDF", []string{"200 res1.pdf"}},
		{"the other way round", []string{"text/html", "application/pdf"}, generic, both, "page", []string{"200 res1.html"}},
		{"a range", []string{"image/*", "text/*"}, generic, both, "page", []string{"200 res1.html"}},
		{"the best is gone", []string{"application/pdf", "text/html"}, generic, map[string]string{"res1.html": "page"}, "page", []string{"404 res1.pdf", "200 res1.html"}},
		{
			"an alternate with another digest", []string{"application/pdf"},
			entryWith("res1", "", linkTo("alternate", pdf, `type="application/pdf" `+hashOf("other"))), both, "res1 as application/pdf", []string{"200 res1.pdf", "200 res1"},
		},
		{"none of the types: negotiation", []string{"text/csv"}, generic, both, "default", []string{"200 res1"}},
		{"loc is the best", []string{"text/html", "application/pdf"}, entryWith("res1.html", `type="text/html; charset=utf-8"`, linkTo("alternate", pdf, `type="application/pdf"`)), both, "page", []string{"200 res1.html"}},
		{"loc is the second", []string{"application/pdf", "text/html"}, entryWith("res1.html", `type="text/html"`, linkTo("alternate", pdf, `type="application/pdf"`)), both, "%PDF", []string{"200 res1.pdf"}},
		{"the generic URI has it", []string{"application/pdf"}, typed, both, "res1 as application/pdf", []string{"200 res1"}},
		{"the generic URI answers 406", []string{"text/csv"}, typed, both, "page", []string{"406 res1", "200 res1.html"}},
		{"the generic URI is not asked", []string{"text/html"}, typed, both, "page", []string{"200 res1.html"}},
		{"loc has it, as its answer says", []string{"text/html"}, specific, both, "page", []string{"200 res1.html"}},
		{"loc does not have it, the generic URI does", []string{"application/pdf"}, specific, both, "res1 as application/pdf", []string{"200 res1.html", "200 res1"}},
		{"nothing has it", []string{"image/*"}, specific, both, "page", []string{"200 res1.html", "406 res1", "200 res1.html"}},
		{"a mirror is one of loc", []string{"text/html"}, entryWith("res1.html", `type="text/html"`, linkTo("duplicate", pdf, "")), both, "%PDF", []string{"200 res1.pdf"}},
		{"no web", []string{"application/pdf"}, entryWith("res1", `type="text/html"`, linkTo("alternate", "ftp://www.example.com/x", `type="application/pdf"`)), both, "res1 as text/html", []string{"200 res1"}},
		{"a digest and no type: nothing to negotiate", []string{"text/csv"}, entryWith("res1.html", hashOf("%PDF"), linkTo("duplicate", pdf, "")), both, "%PDF", []string{"200 res1.pdf"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLinked(t)
			l.set(listOf(test.entry))
			l.set(test.docs)
			l.source.Types = test.types
			l.hook = negotiating
			if test.types == nil {
				l.hook = nil
				l.set(map[string]string{"res1": "plain"})
			}
			require.True(t, l.run().InStep())
			assert.Equal(t, test.asked, l.asked)
			for _, text := range l.live() {
				assert.Equal(t, test.text, text)
			}
			l.run()
			assert.Empty(t, l.asked, "nothing is new")
		})
	}
}

// TestAlternateLater checks that a resource is not kept in a lesser representation
// because a server is busy.
func TestAlternateLater(t *testing.T) {
	l := newLinked(t)
	l.set(listOf(entryWith("res1.html", `type="text/html"`, linkTo("alternate", www+"res1.pdf", `type="application/pdf"`))))
	l.set(map[string]string{"res1.html": "page", "res1.pdf": "%PDF"})
	l.source.Types = []string{"application/pdf"}
	l.hook = func(req *harvest.Request, doc sourcetest.Document) sourcetest.Document {
		if req.URL == www+"res1.pdf" {
			return sourcetest.Document{Status: 503}
		}
		return doc
	}
	require.EqualValues(t, 1, l.run().Failed)
	assert.Equal(t, []string{"503 res1.pdf"}, l.asked)
	l.hook = nil
	require.True(t, l.run().InStep())
	assert.Equal(t, map[string]string{"res1.html": "%PDF"}, l.live())
}

// TestNegotiationConditional checks that a later request for a negotiated representation
// is conditional by its ETag, and never by a date, which all representations may have.
func TestNegotiationConditional(t *testing.T) {
	l := newLinked(t)
	l.set(listOf(entryWith("res1", "", "")))
	l.source.Types = []string{"application/pdf"}
	var validators []harvest.Validator
	l.hook = func(req *harvest.Request, doc sourcetest.Document) sourcetest.Document {
		if req.URL != www+"res1" {
			return doc
		}
		validators = append(validators, req.Validator)
		doc = negotiating(req, doc)
		doc.LastModified = "Wed, 01 Jan 2025 00:00:00 GMT"
		return doc
	}
	l.run()
	l.h.Recheck = true
	require.True(t, l.run().InStep())
	assert.Equal(t, []string{"304 res1"}, l.asked)
	l.source.Types = []string{"text/html"}
	require.True(t, l.run().InStep())
	assert.Equal(t, []string{"200 res1"}, l.asked)
	assert.Equal(t, map[string]string{"res1": "res1 as text/html"}, l.live())
	assert.Zero(t, validators[0])
	for _, v := range validators[1:] {
		assert.Equal(t, `"application/pdf"`, v.ETag)
		assert.Empty(t, v.LastModified)
	}
}

func TestTypesCheck(t *testing.T) {
	for types, want := range map[string]string{"pdf": `Source.Types has "pdf": not a media type`, "text/html\r\nX: y": "not a media type"} {
		assert.ErrorContains(t, (&resourcesync.Source{URL: sourceURL, Types: []string{types}}).Check(), want)
	}
	assert.NoError(t, (&resourcesync.Source{URL: sourceURL, Types: []string{"text/*", `application/ld+json;profile="a b"`}}).Check())
}

// TestCollections follows Example 30 of the specification.
func TestCollections(t *testing.T) {
	const chosen = "http://example.com/aggregation/0601007"
	member := linkTo("collection", chosen, "")
	other := linkTo("collection", "http://example.com/aggregation/1", "")
	l := newLinked(t)
	l.source.Collections = []string{"http://example.com/set", chosen}
	l.set(listOf(entryWith("res1", "", other+member), entryWith("res2", "", other), entryWith("res3", "", ""), entryWith("res4", "", member)))
	l.set(map[string]string{"res1": "1", "res2": "2", "res3": "3", "res4": "4", "res5": "5"})
	report := l.run()
	require.True(t, report.InStep())
	assert.Equal(t, map[string]string{"res1": "1", "res4": "4"}, l.live())
	assert.Zero(t, report.Skipped)
	change := func(name, kind, time, links string) string {
		return entryWith(name, `change="`+kind+`" datetime="2025-02-0`+time+`T00:00:00Z"`, links)
	}
	l.changes(change("res1", "updated", "1", other), change("res2", "updated", "2", other), change("res5", "created", "3", member), change("res4", "deleted", "4", ""))
	require.True(t, l.run().InStep())
	assert.Equal(t, map[string]string{"res5": "5"}, l.live())
	assert.Equal(t, []string{"200 res5"}, l.asked, "who is no member is not asked for")
	assert.Equal(t, "2025-02-01T00:00:00Z", l.record("res1").At.String())
	l.changes(change("res1", "updated", "5", member))
	require.True(t, l.run().InStep())
	assert.Equal(t, map[string]string{"res1": "1", "res5": "5"}, l.live())

	l.source.Collections = nil
	l.run()
	assert.Equal(t, map[string]string{"res1": "1", "res2": "2", "res3": "3", "res5": "5"}, l.live(), "another choice lists everything anew")
}

// described has the metadata of Example 28 of the specification.
const described = "res2_dublin-core_metadata.xml"

func describedEntry(more string) string {
	return entryWith("res2.pdf", hashOf("%PDF"), linkTo("describedby", www+described, `type="application/xml" `+more))
}

// bodies returns the bodies of a record by name, as text.
func (l *linked) bodies(path string) map[string]string {
	l.Helper()
	bodies := make(map[string]string)
	record := l.record(path)
	for _, b := range record.Bodies {
		bodies[b.Name] = testkit.Read(l, l.store, b)
	}
	return bodies
}

// TestDescribedBy follows Example 28 of the specification.
func TestDescribedBy(t *testing.T) {
	l := newLinked(t)
	l.source.DescribedBy = true
	metadata := entryWith(described, `type="application/xml"`, linkTo("describes", www+"res2.pdf", ""))
	l.set(listOf(describedEntry(`modified="2013-01-01T12:00:00Z"`), metadata))
	l.set(map[string]string{"res2.pdf": "%PDF", described: "application/xml <dc/>"})
	require.True(t, l.run().InStep())
	assert.Equal(t, map[string]string{"content": "%PDF", "describedby application/xml": "<dc/>"}, l.bodies("res2.pdf"))
	assert.Equal(t, map[string]string{"content": "<dc/>"}, l.bodies(described), "it is a resource of its own")
	record := l.record(described)
	link, ok := record.Resource.Link("describes")
	assert.True(t, ok)
	assert.Equal(t, www+"res2.pdf", link.Href)

	l.set(map[string]string{described: "application/xml <dc>new</dc>"})
	l.changes(entryWith("res2.pdf", `change="updated" datetime="2025-02-01T00:00:00Z" `+hashOf("%PDF"),
		linkTo("describedby", www+described, `type="application/xml" modified="2025-02-01T00:00:00Z"`)))
	require.True(t, l.run().InStep())
	assert.Equal(t, "<dc>new</dc>", l.bodies("res2.pdf")["describedby application/xml"], "the entry states another time of the metadata")

	delete(l.site, www+described)
	l.set(map[string]string{"res2.pdf": "%PDF-2"})
	l.changes(entryWith("res2.pdf", `change="updated" datetime="2025-03-01T00:00:00Z" `+hashOf("%PDF-2"), linkTo("describedby", www+described, `type="application/xml"`)))
	report := l.run()
	assert.False(t, report.InStep())
	assert.Equal(t, map[string]string{"content": "%PDF", "describedby application/xml": "<dc>new</dc>"}, l.bodies("res2.pdf"), "never half a pair")
	assert.Contains(t, report.Failures[0].Error, "describedby "+www+described)
	l.h.Attempts = 2
	report = l.run()
	assert.Zero(t, report.Gone+int64(report.Left.Gone), "the resource itself is there")
	l.set(map[string]string{described: "application/xml <dc>2</dc>"})
	l.changes(entryWith("res2.pdf", `change="updated" datetime="2025-04-01T00:00:00Z" `+hashOf("%PDF-2"), linkTo("describedby", www+described, `type="application/xml"`)))
	require.True(t, l.run().InStep())
	assert.Equal(t, map[string]string{"content": "%PDF-2", "describedby application/xml": "<dc>2</dc>"}, l.bodies("res2.pdf"))
}

func TestDescribedByNames(t *testing.T) {
	l := newLinked(t)
	l.source.DescribedBy = true
	links := linkTo("describedby", www+"a.xml", `type="application/xml"`) + linkTo("describedby", www+"b.xml", `type="application/xml"`) +
		linkTo("describedby", www+"c.json", `type="application/json"`) + linkTo("describedby", www+"a.xml", `type="application/xml"`) +
		linkTo("describedby", www+"res1", "") + linkTo("describedby", "urn:x:y", "")
	l.set(listOf(entryWith("res1", "", links)))
	l.set(map[string]string{"res1": "1", "a.xml": "a", "b.xml": "b", "c.json": "c"})
	require.True(t, l.run().InStep())
	assert.Len(t, l.asked, 4, l.asked)
	bodies := l.bodies("res1")
	assert.Len(t, bodies, 4)
	assert.Equal(t, "1", bodies["content"])
	assert.Equal(t, "c", bodies["describedby application/json"])
}

func TestSelect(t *testing.T) {
	for _, mode := range []harvest.BodyMode{harvest.KeepBodies, harvest.VerifyBodies} {
		l := newLinked(t)
		l.h.Bodies = mode
		l.set(listOf(describedEntry(hashOf("<dc>law</dc>")), entryWith("res3", "", linkTo("describedby", www+"res3.xml", "")), entryWith("res4", "", "")))
		l.set(map[string]string{"res2.pdf": "%PDF", described: "<dc>law</dc>", "res3": "3", "res3.xml": "<dc>other</dc>", "res4": "4"})
		for url, doc := range l.site {
			doc.ETag = fmt.Sprintf("%q", doc.Body)
			l.site[url] = doc
		}
		word := "law"
		l.source.Select = func(r *websync.Resource, link websync.Link, metadata io.Reader) (bool, error) {
			data, err := io.ReadAll(metadata)
			if link.Rel != "describedby" || !strings.HasPrefix(link.Href, r.ID[:len(www)+4]) {
				err = fmt.Errorf("the link %v", link)
			}
			return strings.Contains(string(data), word), err
		}
		require.True(t, l.run().InStep())
		names := func(path string) (all []string) {
			record := l.record(path)
			for _, b := range record.Bodies {
				all = append(all, b.Name)
			}
			return all
		}
		assert.Equal(t, []string{"describedby application/xml", "content"}, names("res2.pdf"))
		assert.Equal(t, []string{"describedby"}, names("res3"), "metadata and no content")
		assert.Equal(t, []string{"content"}, names("res4"), "nothing to select by")
		assert.NotContains(t, l.asked, "200 res3")

		word = "other"
		l.h.Recheck = true
		require.True(t, l.run().InStep())
		assert.Equal(t, []string{"describedby application/xml"}, names("res2.pdf"))
		assert.Equal(t, []string{"describedby", "content"}, names("res3"))
		if mode == harvest.KeepBodies {
			assert.Contains(t, l.asked, "304 res3.xml")
		}
		l.h.Recheck = false

		l.source.Select = func(*websync.Resource, websync.Link, io.Reader) (bool, error) {
			return false, errors.New("not readable")
		}
		l.changes(entryWith("res3", `change="updated" datetime="2025-02-01T00:00:00Z"`, linkTo("describedby", www+"res3.xml", "")))
		report := l.run()
		assert.EqualValues(t, 1, report.Failed)
		assert.Equal(t, []string{"describedby", "content"}, names("res3"))
	}
}

// TestSelectRefusesOtherBytes checks that Select does not decide by bytes that are kept
// back.
func TestSelectRefusesOtherBytes(t *testing.T) {
	l := newLinked(t)
	l.set(listOf(describedEntry(hashOf("<dc/>"))))
	l.set(map[string]string{"res2.pdf": "%PDF", described: "<forged/>"})
	l.source.Select = func(*websync.Resource, websync.Link, io.Reader) (bool, error) {
		return true, errors.New("called")
	}
	report := l.run()
	require.Len(t, report.Failures, 1)
	assert.NotContains(t, report.Failures[0].Error, "called")
	assert.Empty(t, l.live())
}

// TestRepublishedLinks follows Examples 32 and 33 of the specification: an aggregator
// keeps the via of what it has harvested, and drops the links that lead to other bytes
// of the original. The others keep their targets.
func TestRepublishedLinks(t *testing.T) {
	const origin = "http://original.example.com/res1.html"
	var others string
	for _, rel := range []string{"collection", "canonical", "duplicate", "memento", "timegate", "timemap", "http://www.openarchives.org/rs/terms/patch"} {
		others += linkTo(rel, www+"other", `type="application/json-patch"`)
	}
	stated := `type="text/html" modified="2013-01-03T07:00:00Z" ` + hashOf("text")
	l := newLinked(t)
	l.set(listOf(
		entryWith("res1.html", hashOf("text"), others+linkTo("via", origin, stated)),
		entryWith("res2.html", hashOf("2"), others+linkTo("describedby", www+"res1.html", "")),
	))
	l.changes(entryWith("res1.html", `change="updated" datetime="2025-02-01T00:00:00Z" `+hashOf("text"), others+linkTo("via", origin, stated)))
	l.set(map[string]string{"res1.html": "text", "res2.html": "2"})
	require.True(t, l.run().InStep())
	const base = "https://aggregator.example.org/"
	p := &resourcesync.Publisher{Place: websync.Place{Catalog: l.store, Base: base, Locator: websync.PathLocator{Base: base}}}
	links := make(map[string][]resourcesync.Link)
	doc, err := p.Document(t.Context(), "/resourcelist.xml")
	require.NoError(t, err)
	for e, err := range resourcesync.NewReader(bytes.NewReader(render(t, doc))).All() {
		require.NoError(t, err)
		links[path.Base(e.Loc)] = e.Links
	}
	rels := func(links []resourcesync.Link) (all []string) {
		for _, l := range links {
			all = append(all, l.Rel+" "+l.Href)
		}
		return all
	}
	one, two := links["res1.html~content"], links["res2.html~content"]
	assert.Equal(t, []string{"collection " + www + "other", "canonical " + www + "other", "via " + origin}, rels(one))
	assert.Equal(t, "2013-01-03T07:00:00Z", one[2].Modified.String())
	assert.True(t, one[2].Verifiable())
	assert.Equal(t, []string{
		"collection " + www + "other", "canonical " + www + "other", "describedby " + www + "res1.html", "via " + www + "res2.html",
	}, rels(two), "the first aggregator adds via")
}

// TestPublishedLinks: links keep their targets and types. Only loc is here, and what
// Destinations fetch besides the content, if it is kept.
func TestPublishedLinks(t *testing.T) {
	const base = "https://aggregator.example.org/"
	const id = www + "1"
	pdf := websync.Link{Href: www + "1.pdf", Type: "application/pdf"}
	page := websync.Link{Rel: "alternate", Href: id, Type: "text/html"}
	about := websync.Link{Rel: "describedby", Href: www + "about", Type: "application/xml"}
	file := websync.Link{Rel: "enclosure", Href: www + "1.zip", Type: "application/zip"}
	for name, test := range map[string]struct {
		content websync.Link
		links   []websync.Link
		kept    []websync.Link // besides the content
		want    []string       // relations, targets and types; "here" is a copy
	}{
		"a PDF, its page is the id": {pdf, []websync.Link{page}, nil, []string{"alternate " + id + " text/html"}},
		"another type at the id": {websync.Link{Href: id, Type: "application/pdf"}, []websync.Link{page, {Rel: "canonical", Href: id}}, nil,
			[]string{"alternate " + id + " text/html", "canonical " + id + " "}},
		"one target, two relations": {pdf, []websync.Link{page, {Rel: "license", Href: id}}, nil,
			[]string{"alternate " + id + " text/html", "license " + id + " "}},
		"metadata that are kept": {pdf, []websync.Link{about}, []websync.Link{about}, []string{"describedby here application/xml"}},
		"metadata that are not":  {pdf, []websync.Link{about}, nil, []string{"describedby " + about.Href + " application/xml"}},
		"another body": {pdf, []websync.Link{file}, []websync.Link{file},
			[]string{"enclosure " + file.Href + " application/zip", "enclosure here application/zip"}},
	} {
		t.Run(name, func(t *testing.T) {
			item := websync.Item{Resource: websync.Resource{ID: id, Content: test.content, Links: test.links}}
			var texts []string
			for _, l := range append([]websync.Link{test.content}, test.kept...) {
				name := item.Resource.BodyName(&l)
				item.Bodies = append(item.Bodies, websync.Body{Name: name, Link: l, Key: websync.SHA256([]byte(name))})
				texts = append(texts, name)
			}
			store := testkit.NewStore(t)
			store.Fill("a", texts, item)
			p := &resourcesync.Publisher{Place: websync.Place{Catalog: store, Base: base, Locator: websync.PathLocator{Base: base}}}
			doc, err := p.Document(t.Context(), "/resourcelist.xml")
			require.NoError(t, err)
			e, err := resourcesync.NewReader(bytes.NewReader(render(t, doc))).Next()
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(e.Loc, base))
			assert.Equal(t, test.content.Type, e.Metadata.Type)
			var got []string
			for _, l := range e.Links {
				if strings.HasPrefix(l.Href, base) {
					l.Href = "here"
				}
				got = append(got, l.Rel+" "+l.Href+" "+l.Type)
			}
			assert.Equal(t, append(test.want, "via "+id+" "+test.content.Type), got)
		})
	}
}
