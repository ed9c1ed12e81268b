package discover_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/discover"
	"github.com/websync-go/websync/harvest/sourcetest"
)

const www = "https://www.example.org"

var html = map[string][]string{"Content-Type": {"text/html; charset=utf-8"}}

// page returns a web page with a head.
func page(head string) sourcetest.Document {
	return sourcetest.Document{Header: html, Body: "<!doctype html><html><head><title>Acts</title>" + head + "</head><body><p>Welcome.</body></html>"}
}

// alternate returns a link of a page to a feed.
func alternate(kind, href string) string {
	return fmt.Sprintf(`<link rel="alternate" type="application/%s" href="%s">`, kind, href)
}

// urlset returns a sitemap of paths.
func urlset(paths ...string) sourcetest.Document { return list("urlset", "url", paths) }

// index returns an index of sitemaps.
func index(paths ...string) sourcetest.Document { return list("sitemapindex", "sitemap", paths) }

func list(root, entry string, paths []string) sourcetest.Document {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?><%s xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`, root)
	for _, p := range paths {
		fmt.Fprintf(&b, "<%s><loc>%s%s</loc></%[1]s>", entry, www, p)
	}
	fmt.Fprintf(&b, "</%s>", root)
	return sourcetest.Document{Body: b.String()}
}

// resourceSync returns a document of ResourceSync with entries, paths and their
// capabilities, and a link up.
func resourceSync(capability, up string, entries ...string) sourcetest.Document {
	var b strings.Builder
	fmt.Fprintf(&b, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/"><rs:md capability=%q/>`, capability)
	if up != "" {
		fmt.Fprintf(&b, `<rs:ln rel="up" href="%s%s"/>`, www, up)
	}
	for _, e := range entries {
		path, capability, _ := strings.Cut(e, " ")
		fmt.Fprintf(&b, `<url><loc>%s%s</loc><rs:md capability=%q/></url>`, www, path, capability)
	}
	return sourcetest.Document{Body: b.String() + "</urlset>"}
}

// feed returns a feed in Atom, with metadata and entries.
func feed(title, meta string, entries ...string) sourcetest.Document {
	return sourcetest.Document{Body: fmt.Sprintf(`<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:fh="http://purl.org/syndication/history/1.0">
<id>urn:feed:%s</id><title>%[1]s</title><updated>2026-01-02T00:00:00Z</updated><author><name>A</name></author>%s%s</feed>`, title, meta, strings.Join(entries, ""))}
}

// entry returns an entry of Atom; inside is what it has besides an id, a title and a
// time.
func entry(id, inside string) string {
	return fmt.Sprintf("<entry><id>%s</id><title>T</title><updated>2026-01-01T00:00:00Z</updated>%s</entry>", id, inside)
}

// post returns an entry as blogs have it.
func post(path string) string {
	return entry("urn:post:"+path, `<link href="`+www+path+`"/><content type="html">text</content>`)
}

func rss(title string, links ...string) sourcetest.Document {
	var b strings.Builder
	for _, l := range links {
		fmt.Fprintf(&b, "<item><link>%s%s</link></item>", www, l)
	}
	return sourcetest.Document{Body: `<?xml version="1.0"?><rss version="2.0"><channel><title>` + title + "</title>" + b.String() + "</channel></rss>"}
}

// numberedPaths returns the paths of some pages.
func numberedPaths(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("/", i))
	}
	return all
}

func zipped(d sourcetest.Document) sourcetest.Document {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(d.Body))
	z.Close()
	d.Body = b.String()
	return d
}

// wide returns a document in UTF-16.
func wide(d sourcetest.Document) sourcetest.Document {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(d.Body)) {
		b = append(b, byte(u), byte(u>>8))
	}
	d.Body = string(b)
	return d
}

// linked returns a document with Link header fields.
func linked(d sourcetest.Document, links ...string) sourcetest.Document {
	header := map[string][]string{"Link": links}
	for name, values := range d.Header {
		header[name] = values
	}
	d.Header = header
	return d
}

func text(body string) sourcetest.Document { return sourcetest.Document{Body: body} }

// Outcomes of Choose in a fixture, besides the number of offers that it returns.
const (
	ambiguous = -1
	none      = 0
	limited   = -2
	reversed  = -3 // all, the last first
)

// A fixture is a site, and what Find finds there.
type fixture struct {
	name     string
	url      string // of which www is left out
	site     sourcetest.Site
	want     []string // protocol and URL, without www
	choose   int
	evidence []string // of the best offer
	tried    []string // parts of the texts of Tried
	requests int
	err      error // of Find
}

// site adds the host to the paths of documents.
func site(documents sourcetest.Site) sourcetest.Site {
	s := sourcetest.Site{}
	for path, d := range documents {
		if !strings.Contains(path, "://") {
			path = www + path
		}
		s[path] = d
	}
	return s
}

var (
	notThere  = 13 // requests of a host that has nothing: the page, well-known, robots.txt, ten usual places
	threePost = []string{post("/1"), post("/2"), post("/3")}
)

var fixtures = []fixture{
	// the document itself
	{name: "a sitemap", url: "/sitemap.xml", site: sourcetest.Site{"/sitemap.xml": urlset("/a", "/b")},
		want: []string{"sitemap /sitemap.xml"}, choose: 1, evidence: []string{"a sitemap of 2 entries"}, requests: 1},
	{name: "an index", url: "/sitemap.xml", site: sourcetest.Site{"/sitemap.xml": index("/1.xml", "/2.xml")},
		want: []string{"sitemap /sitemap.xml"}, choose: 1, evidence: []string{"an index of sitemaps, of 2 entries"}, requests: 1},
	{name: "a sitemap named feed.xml", url: "/feed.xml", site: sourcetest.Site{"/feed.xml": urlset("/a")},
		want: []string{"sitemap /feed.xml"}, choose: 1, evidence: []string{"a sitemap of 1 entry"}, requests: 1},
	{name: "a feed named sitemap.xml", url: "/sitemap.xml", site: sourcetest.Site{"/sitemap.xml": feed("F", "", threePost...)},
		want: []string{`atom /sitemap.xml "F"`}, choose: 1, evidence: []string{"an Atom feed of 3 entries"}, requests: 1},
	{name: "a sitemap with the type of web pages", url: "/s", site: sourcetest.Site{"/s": {Header: html, Body: urlset("/a").Body}},
		want: []string{"sitemap /s"}, choose: 1, requests: 1},
	{name: "a sitemap without a namespace", url: "/s", site: sourcetest.Site{"/s": text("<urlset><url><loc>" + www + "/a</loc></url></urlset>")},
		want: []string{"sitemap /s"}, choose: 1, requests: 1},
	{name: "a sitemap without entries", url: "/s", site: sourcetest.Site{"/s": urlset()},
		want: []string{"sitemap /s"}, choose: 1, evidence: []string{"of 0 entries"}, requests: 1},
	{name: "a text sitemap", url: "/urls", site: sourcetest.Site{"/urls": text("# pages\n" + www + "/a\n" + www + "/b\n")},
		want: []string{"sitemap /urls"}, choose: 1, evidence: []string{"a text sitemap of 2 entries"}, requests: 1},
	{name: "a sitemap in gzip", url: "/sitemap.xml.gz", site: sourcetest.Site{"/sitemap.xml.gz": zipped(urlset("/a"))},
		want: []string{"sitemap /sitemap.xml.gz"}, choose: 1, evidence: []string{"a sitemap of 1 entry"}, requests: 1},
	{name: "a feed in UTF-16", url: "/feed", site: sourcetest.Site{"/feed": wide(feed("F", "", threePost...))},
		want: []string{`atom /feed "F"`}, choose: 1, evidence: []string{"an Atom feed of 3 entries"}, requests: 1},
	{name: "RSS", url: "/rss", site: sourcetest.Site{"/rss": rss("News", "/1", "/2")},
		want: []string{`atom /rss "News"`}, choose: 1, evidence: []string{"a feed of 2 entries that is not Atom"}, requests: 1},
	{name: "a JSON Feed", url: "/feed.json", site: sourcetest.Site{"/feed.json": text(`{"version": "https://jsonfeed.org/version/1.1", "title": "News", "items": [{"id": "1"}]}`)},
		want: []string{`atom /feed.json "News"`}, choose: 1, evidence: []string{"a feed of 1 entry that is not Atom"}, requests: 1},
	{name: "Atom 0.3", url: "/feed", site: sourcetest.Site{"/feed": text(`<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>Old</title><entry><id>urn:1</id><title>T</title></entry></feed>`)},
		want: []string{`atom /feed "Old"`}, choose: 1, requests: 1},
	{name: "a complete feed", url: "/feed", site: sourcetest.Site{"/feed": feed("F", "<fh:complete/>", post("/1"))},
		want: []string{`atom /feed "F"`}, choose: 1, evidence: []string{"fh:complete"}, requests: 1},
	{name: "an archived feed with a hub", url: "/feed", site: sourcetest.Site{"/feed": feed("F", `<link rel="prev-archive" href="/old"/><link rel="hub" href="https://hub.example.com/"/>`, post("/1"))},
		want: []string{`atom /feed "F"`}, choose: 1, evidence: []string{"prev-archive", "its hub is https://hub.example.com/"}, requests: 1},
	{name: "an archive document", url: "/old", site: sourcetest.Site{
		"/old":  feed("F", `<fh:archive/><link rel="current" href="/feed"/>`, post("/1")),
		"/feed": feed("F", `<link rel="prev-archive" href="/old"/>`, post("/2")),
	}, want: []string{`atom /feed "F"`}, choose: 1, evidence: []string{`its link "current"`, "prev-archive"}, requests: 2},
	{name: "an archive document whose newest document is gone", url: "/old", site: sourcetest.Site{"/old": feed("F", `<fh:archive/><link rel="current" href="/feed"/>`, post("/1"))},
		want: []string{`atom /old "F"`}, choose: 1, evidence: []string{"the newest document of its feed is not known"}, tried: []string{"", "404"}, requests: 2},
	{name: "archive documents that lead to each other", url: "/a", site: sourcetest.Site{
		"/a": feed("A", `<link rel="current" href="/b"/>`, post("/1")), "/b": feed("B", `<link rel="current" href="/a"/>`, post("/1")),
	}, want: []string{`atom /b "B"`}, choose: 1, requests: 2},
	{name: "a subscription document at another URL", url: "/mirror", site: sourcetest.Site{"/mirror": feed("F", `<link rel="self" href="/feed"/><link rel="current" href="/feed"/>`, post("/1"))},
		want: []string{`atom /mirror "F"`}, choose: 1, requests: 1},
	{name: "a later page", url: "/feed?page=2", site: sourcetest.Site{
		"/feed?page=2": feed("F", `<link rel="first" href="/feed"/><link rel="previous" href="/feed"/>`, post("/1")), "/feed": feed("F", `<link rel="next" href="/feed?page=2"/>`, post("/2")),
	}, want: []string{`atom /feed "F"`}, choose: 1, evidence: []string{`its link "first"`, "further pages"}, requests: 2},

	// ResourceSync
	{name: "a Source Description", url: "/.well-known/resourcesync", site: sourcetest.Site{"/.well-known/resourcesync": resourceSync("description", "", "/1.xml capabilitylist", "/2.xml capabilitylist")},
		want: []string{"resourcesync /1.xml", "resourcesync /2.xml"}, choose: 2, evidence: []string{`the capability "description"`}, requests: 1},
	{name: "a Capability List", url: "/caps.xml", site: sourcetest.Site{"/caps.xml": resourceSync("capabilitylist", "", "/list.xml resourcelist")},
		want: []string{"resourcesync /caps.xml"}, choose: 1, requests: 1},
	{name: "a Resource List", url: "/list.xml", site: sourcetest.Site{"/list.xml": resourceSync("resourcelist", "/caps.xml", "/a "), "/caps.xml": resourceSync("capabilitylist", "", "/list.xml resourcelist")},
		want: []string{"resourcesync /caps.xml"}, choose: 1, evidence: []string{`the capability "resourcelist"`}, requests: 2},
	{name: "a Resource List without a link up", url: "/list.xml", site: sourcetest.Site{"/list.xml": resourceSync("resourcelist", "", "/a ")},
		want: []string{"sitemap /list.xml"}, choose: 1, evidence: []string{"leads to no Capability List"}, requests: 1},
	{name: "a Change List without a link up", url: "/changes.xml", site: sourcetest.Site{"/changes.xml": resourceSync("changelist", "", "/a ")},
		err: errAny, tried: []string{"without a link up"}, requests: notThere},
	{name: "a loop of links up", url: "/1.xml", site: sourcetest.Site{"/1.xml": resourceSync("changelist", "/2.xml"), "/2.xml": resourceSync("changedump", "/1.xml")},
		err: errAny, requests: notThere + 1},
	{name: "two Capability Lists of one publisher", url: "/doc", site: sourcetest.Site{
		"/doc":   page(`<link rel="resourcesync" href="/1.xml"><link rel="resourcesync" href="/2.xml">`),
		"/1.xml": resourceSync("capabilitylist", "/d.xml"), "/2.xml": resourceSync("capabilitylist", "/d.xml"),
	}, want: []string{"resourcesync /1.xml", "resourcesync /2.xml"}, choose: 2, evidence: []string{`rel="resourcesync"`}, requests: 3},
	{name: "two Capability Lists of two publishers", url: "/doc", site: sourcetest.Site{
		"/doc":   linked(text("a text"), `</1.xml>; rel="resourcesync"`, `</2.xml>; rel="resourcesync"`),
		"/1.xml": resourceSync("capabilitylist", "/d1.xml"), "/2.xml": resourceSync("capabilitylist", "/d2.xml"),
	}, want: []string{"resourcesync /1.xml", "resourcesync /2.xml"}, choose: ambiguous, evidence: []string{"its HTTP header has"}, requests: 3},
	{name: "two Capability Lists without a publisher", url: "/doc", site: sourcetest.Site{
		"/doc":   page(`<link rel="resourcesync" href="/1.xml"><link rel="resourcesync" href="/2.xml">`),
		"/1.xml": resourceSync("capabilitylist", ""), "/2.xml": resourceSync("capabilitylist", ""),
	}, want: []string{"resourcesync /1.xml", "resourcesync /2.xml"}, choose: ambiguous, requests: 3},
	{name: "a host with ResourceSync and a sitemap", url: "/", site: sourcetest.Site{
		"/":                         page(""),
		"/.well-known/resourcesync": resourceSync("description", "", "/caps.xml capabilitylist"),
		"/robots.txt":               text("Sitemap: " + www + "/sitemap.xml"), "/sitemap.xml": urlset("/a"),
	}, want: []string{"resourcesync /caps.xml", "sitemap /sitemap.xml"}, choose: 1, evidence: []string{"/.well-known/resourcesync"}, requests: 4},
	{name: "a Capability List that a host and its page name", url: "/", site: sourcetest.Site{
		"/": page(`<link rel="resourcesync" href="/caps.xml">`), "/.well-known/resourcesync": resourceSync("description", "", "/caps.xml capabilitylist"), "/caps.xml": resourceSync("capabilitylist", "/.well-known/resourcesync"),
	}, want: []string{"resourcesync /caps.xml"}, choose: 1, evidence: []string{"/.well-known/resourcesync", `rel="resourcesync"`}, requests: 4},
	{name: "robots.txt names a Resource List and a sitemap", url: "/", site: sourcetest.Site{
		"/robots.txt": text("Sitemap: /sitemap.xml\nSitemap: /list.xml"), "/sitemap.xml": urlset("/a"),
		"/list.xml": resourceSync("resourcelist", "/caps.xml"), "/caps.xml": resourceSync("capabilitylist", ""),
	}, want: []string{"resourcesync /caps.xml", "sitemap /robots.txt"}, choose: 1, requests: 6},
	{name: "an error page at the well-known URI", url: "/", site: sourcetest.Site{"/": page(""), "/.well-known/resourcesync": page(""), "/sitemap.xml": urlset("/a")},
		want: []string{"sitemap /sitemap.xml"}, choose: 1, evidence: []string{"hosts may have /sitemap.xml"}, tried: []string{"", `resourcesync: a web page with the title "Acts"`, "404"}, requests: 10},
	{name: "a sitemap at the well-known URI", url: "/", site: sourcetest.Site{"/": page(""), "/.well-known/resourcesync": urlset("/a")},
		choose: none, tried: []string{"", "no document of ResourceSync"}, requests: notThere},

	// pages
	{name: "a page with three feeds", url: "/", site: sourcetest.Site{
		"/":  page(alternate("atom+xml", "/1") + alternate("atom+xml", "/2") + alternate("rss+xml", "/3")),
		"/1": feed("All", "", post("/1")), "/2": feed("Comments", "", post("/2")), "/3": rss("Jobs", "/3"),
	}, want: []string{`atom /1 "All"`, `atom /2 "Comments"`, `atom /3 "Jobs"`}, choose: ambiguous, evidence: []string{`type="application/atom+xml"`}, requests: 13},
	{name: "a page with one feed in two formats", url: "/blog", site: sourcetest.Site{
		"/blog": page(alternate("rss+xml", "/1") + alternate("atom+xml", "/2")), "/1": rss("News", "/a", "/b"), "/2": feed("News", "", post("/b")),
	}, want: []string{`atom /2 "News"`, `atom /1 "News"`}, choose: 1, requests: 3},
	{name: "a page with different feeds of one title", url: "/blog", site: sourcetest.Site{
		"/blog": page(alternate("rss+xml", "/1") + alternate("atom+xml", "/2")), "/1": rss("News", "/a"), "/2": feed("News", "", post("/b")),
	}, want: []string{`atom /1 "News"`, `atom /2 "News"`}, choose: ambiguous, requests: 3},
	{name: "a page that links to itself", url: "/blog", site: sourcetest.Site{"/blog": page(alternate("atom+xml", "/blog") + alternate("atom+xml", "#top") + alternate("atom+xml", www+"/./blog"))},
		choose: none, requests: notThere},
	{name: "feeds with one entry in common", url: "/blog", site: sourcetest.Site{
		"/blog": page(alternate("rss+xml", "/1") + alternate("atom+xml", "/2")), "/1": rss("Road News", "/b"), "/2": feed("News", "", post("/b")),
	}, want: []string{`atom /1 "Road News"`, `atom /2 "News"`}, choose: ambiguous, requests: 3},
	{name: "a page without an element html", url: "/blog", site: sourcetest.Site{"/blog": {Header: html, Body: "Welcome " + alternate("atom+xml", "/feed")}, "/feed": feed("F", "")},
		want: []string{`atom /feed "F"`}, choose: 1, requests: 2},
	{name: "a page in XML with an empty title and script", url: "/blog", site: sourcetest.Site{
		"/blog": {Header: map[string][]string{"Content-Type": {"application/xhtml+xml"}}, Body: `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x"/><link rel="alternate" type="application/atom+xml" href="/feed"/></head><body/></html>`},
		"/feed": feed("F", ""),
	}, want: []string{`atom /feed "F"`}, choose: 1, requests: 2},
	{name: "pages that link to each other", url: "/1", site: sourcetest.Site{"/1": page(alternate("atom+xml", "/2")), "/2": page(alternate("atom+xml", "/1"))},
		choose: none, tried: []string{"", "/2: a web page"}, requests: notThere + 1},
	{name: "relative URLs and a base", url: "/a/b", site: sourcetest.Site{"/a/b": page(`<base href="/x/">` + alternate("atom+xml", "../feed")), "/feed": feed("F", "")},
		want: []string{`atom /feed "F"`}, choose: 1, requests: 2},
	{name: "capitals and several relations", url: "/blog", site: sourcetest.Site{"/blog": page(`<LINK REL="HOME Alternate" TYPE="APPLICATION/ATOM+XML; charset=utf-8" HREF="/feed">`), "/feed": feed("F", "")},
		want: []string{`atom /feed "F"`}, choose: 1, requests: 2},
	{name: "links of other kinds", url: "/blog", site: sourcetest.Site{"/blog": page(`<link rel="alternate" hreflang="fr" href="/fr"><link rel="alternate" type="application/json" href="/api"><link rel="stylesheet" type="application/atom+xml" href="/x">`)},
		choose: none, requests: notThere},
	{name: "a link sitemap", url: "/blog", site: sourcetest.Site{"/blog": page(`<link rel="sitemap" type="application/xml" href="/blog/sitemap.xml">`), "/blog/sitemap.xml": urlset("/a")},
		want: []string{"sitemap /blog/sitemap.xml"}, choose: 1, evidence: []string{`rel="sitemap"`}, requests: 2},
	{name: "a hub and its topic", url: "/blog", site: sourcetest.Site{
		"/blog": linked(page(""), `<https://hub.example.com/>; rel="hub"`, `</feed>; rel="self"`), "/feed": linked(feed("F", ""), `<https://hub.example.com/>; rel="hub"`),
	}, want: []string{`atom /feed "F"`}, choose: 1, evidence: []string{`rel="self"`, "its hub is https://hub.example.com/"}, requests: 2},
	{name: "a self link without a hub", url: "/blog", site: sourcetest.Site{"/blog": page(`<link rel="self" href="/feed">`), "/feed": feed("F", ""), "/robots.txt": text("User-agent: *")},
		want: []string{`atom /feed "F"`}, choose: ambiguous, evidence: []string{"hosts may have /feed"}, requests: notThere},
	{name: "a page that is not there, on a host with a sitemap", url: "/login", site: sourcetest.Site{"/robots.txt": text("Sitemap: /s.xml"), "/s.xml": urlset("/1")},
		want: []string{"sitemap /s.xml"}, choose: ambiguous, tried: []string{"404"}, requests: 5},
	{name: "robots.txt itself, with one sitemap", url: "/robots.txt", site: sourcetest.Site{"/robots.txt": text("Sitemap: /1.xml"), "/1.xml": urlset("/1")},
		want: []string{"sitemap /robots.txt"}, choose: 1, requests: 2},
	{name: "links off the host", url: "/blog", site: sourcetest.Site{"/blog": page(alternate("atom+xml", "https://feeds.example.com/f")), "https://feeds.example.com/f": feed("F", "")},
		want: []string{`atom https://feeds.example.com/f "F"`}, choose: 1, requests: 2},
	{name: "links to private addresses", url: "/blog", site: sourcetest.Site{
		"/blog": page(alternate("atom+xml", "http://10.0.0.1/feed") + alternate("atom+xml", "file:///etc/passwd") + alternate("atom+xml", "ftp://example.org/x")), "http://10.0.0.1/feed": feed("F", ""),
	}, choose: none, tried: []string{"", "not allowed"}, requests: notThere + 1},
	{name: "a file with a Link header", url: "/photo.jpg", site: sourcetest.Site{"/photo.jpg": linked(text("\xff\xd8\xff"), `</caps.xml>; rel="up ResourceSync"`, `</no>; rel=resourcesync; anchor="/x"`), "/caps.xml": resourceSync("capabilitylist", "")},
		want: []string{"resourcesync /caps.xml"}, choose: 1, requests: 2},
	{name: "a page with a thousand feeds", url: "/blog", site: sourcetest.Site{"/blog": page(strings.Repeat(alternate("atom+xml", "/f"), 10) + numbered(1000))},
		choose: limited, tried: []string{"", "404"}, requests: 30},
	{name: "a feed that a page links to twice", url: "/blog", site: sourcetest.Site{"/blog": linked(page(alternate("atom+xml", "/feed")+alternate("atom+xml", "/moved")), `</feed>; rel=alternate; type="application/atom+xml"`), "/feed": feed("F", ""), "/moved": {Location: "/feed"}},
		want: []string{`atom /feed "F"`}, choose: 1, evidence: []string{"its HTTP header has", "its head has"}, requests: 3},

	// hosts
	{name: "robots.txt with five sitemaps", url: "/", site: sourcetest.Site{
		"/": page(""), "/robots.txt": text("User-agent: *\nDisallow: /x\n\nsitemap: /1.xml\nSITEMAP : /2.xml # two\nSitemap:/3.xml\nSitemap: /4.xml\nSitemap: " + www + "/5.xml\n"),
		"/1.xml": urlset("/1"), "/2.xml": urlset("/2"), "/3.xml": index("/a.xml"), "/4.xml": urlset("/4"), "/5.xml": text(www + "/5\n"),
	}, want: []string{"sitemap /robots.txt"}, choose: 1, evidence: []string{"a robots.txt file with 5 Sitemap lines, which are one set; 5 of the first 5"}, requests: 15},
	{name: "robots.txt with eight sitemaps", url: "/robots.txt", site: sourcetest.Site{
		"/robots.txt": text("Sitemap: /1.xml\nSitemap: /2.xml\nSitemap: /3.xml\nSitemap: /4.xml\nSitemap: /5.xml\nSitemap: /6.xml\nSitemap: /7.xml\nSitemap: /8.xml\n"), "/5.xml": urlset("/1"),
	}, want: []string{"sitemap /robots.txt"}, choose: 1, evidence: []string{"1 of the first 5 lead to sitemaps"}, requests: 6},
	{name: "robots.txt itself", url: "/robots.txt", site: sourcetest.Site{"/robots.txt": text("Sitemap: /1.xml\nSitemap: /2.xml"), "/1.xml": urlset("/1"), "/2.xml": urlset("/2")},
		want: []string{"sitemap /robots.txt"}, choose: 1, requests: 3},
	{name: "robots.txt with one sitemap, which a page links to", url: "/", site: sourcetest.Site{
		"/": page(`<link rel="sitemap" href="/s.xml">`), "/robots.txt": text("Sitemap: /s.xml"), "/s.xml": urlset("/1"),
	}, want: []string{"sitemap /s.xml"}, choose: 1, evidence: []string{`rel="sitemap"`, "robots.txt"}, requests: 11},
	{name: "robots.txt with sitemaps, one of which a page links to", url: "/", site: sourcetest.Site{
		"/": page(`<link rel="sitemap" href="/1.xml">`), "/robots.txt": text("Sitemap: /1.xml\nSitemap: /2.xml"), "/1.xml": urlset("/1"), "/2.xml": urlset("/2"),
	}, want: []string{"sitemap /robots.txt"}, choose: 1, requests: 12},
	{name: "robots.txt with lines that lead nowhere", url: "/", site: sourcetest.Site{"/": page(""), "/robots.txt": text("Sitemap: /1.xml\nSitemap: http://[bad\nSitemap: /2.xml"), "/2.xml": page("")},
		choose: none, requests: notThere + 2},
	{name: "a feed of a page, and a sitemap that nothing names", url: "/", site: sourcetest.Site{
		"/": page(alternate("rss+xml", "/feed")), "/feed": rss("F", numberedPaths(10)...), "/sitemap_index.xml": index("/1.xml"), "/1.xml": urlset(numberedPaths(30)...),
	}, want: []string{"sitemap /sitemap_index.xml", `atom /feed "F"`}, choose: 2, requests: 11},
	{name: "a complete feed of a page, and a sitemap that nothing names", url: "/", site: sourcetest.Site{
		"/": page(alternate("atom+xml", "/feed")), "/feed": feed("F", "<fh:complete/>", post("/1")), "/sitemap.txt": text(www + "/1\n" + www + "/2"),
	}, want: []string{`atom /feed "F"`, "sitemap /sitemap.txt"}, choose: reversed, requests: 11},
	{name: "two sitemaps that a host names, and one that it does not", url: "/", site: sourcetest.Site{
		"/": page(`<link rel="sitemap" href="/a.xml">`), "/a.xml": urlset("/1"), "/robots.txt": text("Sitemap: /b.xml"), "/b.xml": urlset("/2"), "/sitemap.xml": urlset("/old"),
	}, want: []string{"sitemap /b.xml", "sitemap /a.xml", "sitemap /sitemap.xml"}, choose: 2, requests: 12},
	{name: "two sitemaps that nothing names", url: "/", site: sourcetest.Site{"/": page(""), "/wp-sitemap.xml": index("/2.xml"), "/sitemap.xml": urlset("/1")},
		want: []string{"sitemap /sitemap.xml", "sitemap /wp-sitemap.xml"}, choose: 1, requests: 10},
	{name: "a sitemap at a usual place that a page names", url: "/", site: sourcetest.Site{"/": page(`<link rel="sitemap" href="/wp-sitemap.xml">`), "/wp-sitemap.xml": index("/2.xml"), "/sitemap.xml": urlset("/1")},
		want: []string{"sitemap /wp-sitemap.xml", "sitemap /sitemap.xml"}, choose: 1, requests: 10},
	{name: "two feeds and a sitemap", url: "/", site: sourcetest.Site{"/": page(alternate("atom+xml", "/posts") + alternate("atom+xml", "/comments")), "/posts": feed("P", "", post("/1")), "/comments": feed("C", ""), "/sitemap.xml": urlset("/1")},
		want: []string{"sitemap /sitemap.xml", `atom /posts "P"`, `atom /comments "C"`}, choose: 2, requests: 12},
	{name: "a page with a feed, on a host with a sitemap", url: "/blog", site: sourcetest.Site{"/blog": page(alternate("atom+xml", "/posts")), "/posts": feed("P", "", post("/1")), "/sitemap.xml": urlset("/1")},
		want: []string{`atom /posts "P"`}, choose: 1, requests: 2},
	{name: "ResourceSync, a feed and a sitemap", url: "/", site: sourcetest.Site{
		"/": page(alternate("atom+xml", "/feed")), "/feed": feed("F", "", post("/1")), "/sitemap.xml": urlset("/1"),
		"/.well-known/resourcesync": resourceSync("description", "", "/caps.xml capabilitylist"), "/caps.xml": resourceSync("capabilitylist", "/.well-known/resourcesync"),
	}, want: []string{"resourcesync /caps.xml", `atom /feed "F"`}, choose: 1, requests: 4},
	{name: "a bare host with a sitemap and a feed", url: "", site: sourcetest.Site{
		"": page(alternate("atom+xml", "/feed")), "/feed": feed("F", "", post("/1")), "/robots.txt": text("Sitemap: /sitemap.xml"), "/sitemap.xml": urlset("/1"),
	}, want: []string{"sitemap /sitemap.xml", `atom /feed "F"`}, choose: 2, requests: 11},
	{name: "a page with a feed on a host with a sitemap", url: "/blog", site: sourcetest.Site{
		"/blog": page(alternate("atom+xml", "/feed")), "/feed": feed("F", "", post("/1")), "/robots.txt": text("Sitemap: /sitemap.xml"), "/sitemap.xml": urlset("/1"),
	}, want: []string{`atom /feed "F"`}, choose: 1, requests: 2},
	{name: "a host with an archived feed and ResourceSync", url: "/", site: sourcetest.Site{
		"/": page(alternate("atom+xml", "/feed")), "/feed": feed("F", `<link rel="prev-archive" href="/old"/>`, post("/1")),
		"/.well-known/resourcesync": resourceSync("description", "", "/caps.xml capabilitylist"),
	}, want: []string{"resourcesync /caps.xml", `atom /feed "F"`}, choose: ambiguous, requests: 4},
	{name: "a redirected host", url: "http://example.org/", site: sourcetest.Site{
		"http://example.org/": {Location: www + "/en"}, "http://example.org/robots.txt": {Location: www + "/robots.txt"}, "/en": page(""), "/robots.txt": text("Sitemap: /s.xml"), "/s.xml": urlset("/1"),
	}, want: []string{"sitemap /s.xml"}, choose: 1, requests: 12},
	{name: "a redirected host with a sitemap at the usual place", url: "http://example.org/", site: sourcetest.Site{
		"http://example.org/": {Location: www + "/"}, "http://example.org/sitemap.xml": {Location: www + "/sitemap.xml"}, "/": page(""), "/sitemap.xml": urlset("/1"),
	}, want: []string{"sitemap /sitemap.xml"}, choose: 1, requests: 13},
	{name: "a host that redirects to another site", url: "https://old.example.com/", site: sourcetest.Site{
		"https://old.example.com/": {Location: www + "/"}, "/": page(""), "/robots.txt": text("Sitemap: /s.xml"), "/s.xml": urlset("/1"),
	}, want: []string{"sitemap /s.xml"}, choose: 1, requests: 14},
	{name: "a login page", url: "/", site: sourcetest.Site{"/": {Header: html, Body: "<!doctype html><title>Sign in</title><form>"}, "/login": page("")},
		choose: none, tried: []string{`a web page with the title "Sign in"`}, requests: notThere},
	{name: "a login page everywhere", url: "/data", site: everywhere(page(""), "/data"), choose: none, tried: []string{"a web page", "a web page", "robots.txt: a web page"}, requests: notThere},
	{name: "an empty site", url: "/", site: sourcetest.Site{"/": text("")}, choose: none, tried: []string{"an empty document"}, requests: notThere},
	{name: "nothing anywhere", url: "/", err: websync.ErrGone, tried: []string{"404"}, requests: notThere},
	{name: "a host without a front page", url: "/", site: sourcetest.Site{"/robots.txt": text("Sitemap: /s.xml"), "/s.xml": urlset("/1")},
		want: []string{"sitemap /s.xml"}, choose: 1, tried: []string{"404"}, requests: 11},
	{name: "a forbidden page", url: "/x", site: sourcetest.Site{"/x": {Status: 403}}, err: harvest.ErrForbidden, requests: notThere},
	{name: "a host that is overloaded", url: "/", site: sourcetest.Site{"/": {Status: 503}, "/robots.txt": text("Sitemap: /s.xml"), "/s.xml": urlset("/1")},
		err: harvest.ErrTemporary, requests: 1},
	{name: "a host that becomes overloaded", url: "/", site: sourcetest.Site{"/": page(""), "/robots.txt": {Status: 429}, "/sitemap.xml": urlset("/1")},
		choose: none, tried: []string{"", "", "429"}, requests: 3},
	{name: "no connection", url: "/", site: sourcetest.Site{"/": {Err: fmt.Errorf("no such host: %w", harvest.ErrTemporary)}}, err: harvest.ErrTemporary, requests: 1},

	// damage
	{name: "a truncated sitemap", url: "/s", site: sourcetest.Site{"/s": cut(urlset("/a", "/b", "/c"), 20)},
		want: []string{"sitemap /s"}, choose: 1, evidence: []string{"can't be read to its end"}, requests: 1},
	{name: "the beginning of a sitemap", url: "/s", site: sourcetest.Site{"/s": text("<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/sch")}, err: websync.ErrTruncated, requests: 1},
	{name: "a sitemap without an entry", url: "/s", site: sourcetest.Site{"/s": text("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>")}, err: websync.ErrTruncated, requests: 1},
	{name: "a truncated feed", url: "/f", site: sourcetest.Site{"/f": cut(feed("F", "", threePost...), 20)},
		want: []string{`atom /f "F"`}, choose: 1, evidence: []string{"can't be read to its end"}, requests: 1},
	{name: "the beginning of a feed", url: "/f", site: sourcetest.Site{"/f": text("<feed xmlns='http://www.w3.org/2005/Atom'><ti")}, err: websync.ErrTruncated, requests: 1},
	{name: "truncated RSS", url: "/f", site: sourcetest.Site{"/f": cut(rss("News", "/1"), 20)},
		want: []string{"atom /f"}, choose: 1, evidence: []string{"can't be read to its end"}, requests: 1},
	{name: "a broken connection", url: "/s", site: sourcetest.Site{"/s": {Body: urlset("/a").Body[:30], Broken: true}}, err: websync.ErrTruncated, requests: 1},
	{name: "a broken connection of a page", url: "/", site: sourcetest.Site{"/": {Header: html, Body: "<!doctype html><head><link rel=", Broken: true}}, err: websync.ErrTruncated, requests: 1},
	{name: "a truncated sitemap in gzip", url: "/s.gz", site: sourcetest.Site{"/s.gz": text(zipped(urlset("/a")).Body[:40])}, err: websync.ErrTruncated, requests: 1},
	{name: "XML that is nothing", url: "/x", site: sourcetest.Site{"/x": text("<?xml version='1.0'?><invoice><line/></invoice>")},
		choose: none, tried: []string{`the root element "invoice"`}, requests: notThere},
	{name: "an entry of Atom", url: "/x", site: sourcetest.Site{"/x": text("<entry xmlns='http://www.w3.org/2005/Atom'><id>x</id></entry>")}, choose: none, tried: []string{"an Atom entry"}, requests: notThere},
	{name: "JSON that is nothing", url: "/x", site: sourcetest.Site{"/x": text(`{"version": 1}`)}, choose: none, tried: []string{"JSON"}, requests: notThere},
	{name: "prose", url: "/x", site: sourcetest.Site{"/x": text("We are sorry, but the site is being rebuilt.")}, choose: none, tried: []string{"neither XML nor JSON"}, requests: notThere},
	{name: "RDF that is no feed", url: "/x", site: sourcetest.Site{"/x": text(`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><x/></rdf:RDF>`)}, choose: none, requests: notThere},

	// ELI
	{name: "an ELI sitemap and its feed", url: "/eli/sitemap.xml", site: legislation("/eli/"),
		want: []string{`eli /eli/sitemap.xml "Updates"`}, choose: 1, evidence: []string{"2 of 2 URLs have the step eli", "its update feed is beside it"}, requests: 2},
	{name: "an ELI feed and its sitemap", url: "/eli/eli-update-feed.atom", site: legislation("/eli/"),
		want: []string{`eli /eli/sitemap.xml "Updates"`}, choose: 1, evidence: []string{"it is an update feed of ELI Pillar IV, so there may be a sitemap", "its update feed leads to it"}, requests: 2},
	{name: "an ELI pair in another directory", url: "/oj/eli/sitemap.xml", site: legislation("/oj/eli/"),
		want: []string{`eli /oj/eli/sitemap.xml "Updates"`}, choose: 1, requests: 2},
	{name: "a page of an ELI pair in another directory", url: "/oj/eli/law/2026/1", site: plus(legislation("/oj/eli/"), "/oj/eli/law/2026/1", page("")),
		want: []string{`eli /oj/eli/sitemap.xml "Updates"`}, choose: ambiguous, requests: 5},
	{name: "an ELI sitemap that names its feed", url: "/acts.xml", site: sourcetest.Site{
		"/acts.xml": related(urlset("/eli/law/2026/1"), "https://other.example.org/updates"), "https://other.example.org/updates": feed("Elsewhere", "", act("/eli/law/2026/1", "", "")),
	}, want: []string{`eli /acts.xml "Elsewhere"`}, choose: 1, evidence: []string{"dct:relation"}, requests: 2},
	{name: "an ELI sitemap whose feed is gone", url: "/acts.xml", site: sourcetest.Site{"/acts.xml": related(urlset("/eli/law/2026/1"), "/updates")},
		want: []string{"eli /acts.xml"}, choose: 1, evidence: []string{"names the update feed " + www + "/updates (dct:relation), which can't be read"}, requests: 4},
	{name: "an ELI sitemap without a feed", url: "/eli/sitemap.xml", site: sourcetest.Site{"/eli/sitemap.xml": urlset("/eli/law/2026/1")},
		want: []string{"eli /eli/sitemap.xml"}, choose: 1, evidence: []string{"no update feed was found"}, requests: 2},
	{name: "an index of ELI sitemaps", url: "/eli/sitemap.xml", site: plus(legislation("/eli/"), "/eli/sitemap.xml", index("/1.xml", "/2.xml"), "/1.xml", urlset("/eli/law/2026/1", "/about")),
		want: []string{`eli /eli/sitemap.xml "Updates"`}, choose: 1, evidence: []string{"1 of 2 URLs have the step eli"}, requests: 3},
	{name: "an index whose parts are gone", url: "/eli/sitemap.xml", site: sourcetest.Site{"/eli/sitemap.xml": index("/1.xml")},
		want: []string{"sitemap /eli/sitemap.xml"}, choose: 1, requests: 2},
	{name: "ELIs in an ordinary sitemap", url: "/sitemap.xml", site: sourcetest.Site{"/sitemap.xml": urlset("/eli/law/2026/1", "/eli/law/2026/2", "/about")},
		want: []string{"sitemap /sitemap.xml"}, choose: 1, evidence: []string{"2 of 3 URLs have the step eli", "a weak sign"}, requests: 3},
	{name: "few ELIs in an ordinary sitemap", url: "/sitemap.xml", site: plus(legislation("/eli/"), "/sitemap.xml", urlset("/eli/law/2026/1", "/about", "/contact")),
		want: []string{"sitemap /sitemap.xml"}, choose: 1, requests: 1},
	{name: "an ELI feed without a sitemap", url: "/updates", site: sourcetest.Site{"/updates": feed("F", "", act("/eli/law/2026/1", "", "")), "/sitemap.xml": urlset("/about")},
		want: []string{`atom /updates "F"`}, choose: 1, evidence: []string{"its sitemap was not found"}, requests: 3},
	{name: "a host with ELI and a sitemap", url: "/", site: plus(legislation("/eli/"), "/", page(""), "/robots.txt", text("Sitemap: /sitemap.xml"), "/sitemap.xml", urlset("/about")),
		want: []string{`eli /eli/sitemap.xml "Updates"`, "sitemap /sitemap.xml"}, choose: 1, evidence: []string{"hosts may have /eli/sitemap.xml"}, requests: 11},
	{name: "robots.txt names an ELI sitemap", url: "/", site: plus(legislation("/oj/eli/"), "/", page(""), "/robots.txt", text("Sitemap: /oj/eli/sitemap.xml")),
		want: []string{`eli /oj/eli/sitemap.xml "Updates"`}, choose: 1, evidence: []string{"robots.txt"}, requests: 5},
	{name: "a page that links to both of an ELI pair", url: "/laws", site: plus(legislation("/eli/"), "/laws", page(alternate("atom+xml", "/eli/eli-update-feed.atom")+`<link rel="sitemap" href="/eli/sitemap.xml">`)),
		want: []string{`eli /eli/sitemap.xml "Updates"`}, choose: 1, requests: 3},

	// profiles of Atom
	{name: "an index of feeds", url: "/index", site: sourcetest.Site{
		"/index": feed("Index", "", entry("urn:1", `<content type="application/atom+xml;type=feed" src="/1"/>`), entry("urn:2", `<content type="application/atom+xml; type=feed" src="/2"/>`)),
		"/1":     feed("One", "", post("/1")), "/2": feed("Two", "", post("/2")),
	}, want: []string{`atom /1 "One"`, `atom /2 "Two"`}, choose: ambiguous, evidence: []string{"an index of 2 feeds"}, requests: 3},
	{name: "entries whose content is an entry", url: "/f", site: sourcetest.Site{"/f": feed("F", "", entry("urn:1", `<content type="application/atom+xml;type=entry" src="/1"/>`))},
		want: []string{`atom /f "F"`}, choose: 1, requests: 1},
	{name: "an index of itself", url: "/index", site: sourcetest.Site{"/index": feed("Index", "", entry("urn:1", `<content type="application/atom+xml;type=feed" src="/index"/>`))},
		choose: none, requests: notThere},
	{name: "rinfo", url: "/f", site: sourcetest.Site{"/f": feed("F", "", act("/1", md5, rdf), act("/2", md5, rdf))},
		want: []string{`rinfo /f "F"`}, choose: 1, evidence: []string{"MD5 digest (Atom-insamling §3.3)"}, requests: 1},
	{name: "rinfo with other digests, and official ids", url: "/f", site: sourcetest.Site{"/f": feed("F", "", strings.ReplaceAll(act("/1", "", rdf), www+"/1<", "http://rinfo.lagrummet.se/publ/sfs/1<"))},
		want: []string{`rinfo /f "F"`}, choose: 1, evidence: []string{"the Swedish legal information system"}, requests: 1},
	{name: "rinfo whose newest document is empty", url: "/f", site: sourcetest.Site{"/f": feed("F", `<link rel="prev-archive" href="/old"/>`), "/old": feed("F", "<fh:archive/>", act("/1", md5, rdf))},
		want: []string{`rinfo /f "F"`}, choose: 1, evidence: []string{"prev-archive"}, requests: 2},
	{name: "MD5 digests without RDF data", url: "/f", site: sourcetest.Site{"/f": feed("F", "", act("/1", md5, ""), act("/2", md5, rdf))},
		want: []string{`rinfo /f "F"`}, choose: 1, evidence: []string{"only 1 of 2 entries have the RDF data"}, requests: 1},
	{name: "MD5 digests without a time of publication", url: "/f", site: sourcetest.Site{"/f": feed("F", "", strings.Replace(act("/1", md5, ""), "<published>2026-01-01T00:00:00Z</published>", "", 1))},
		want: []string{`atom /f "F"`}, choose: 1, requests: 1},
	{name: "rinfo without documents", url: "/f", site: sourcetest.Site{"/f": feed("F", "", entry(www+"/1", `<published>2026-01-01T00:00:00Z</published><link rel="alternate" type="application/rdf+xml" href="/1/rdf" length="3"`+md5+`/>`))},
		want: []string{`rinfo /f "F"`}, choose: 1, requests: 1},
	{name: "an archived feed of ELIs", url: "/f", site: sourcetest.Site{"/f": feed("F", `<link rel="prev-archive" href="/old"/>`, act("/eli/law/2026/1", "", ""))},
		want: []string{`atom /f "F"`}, choose: 1, requests: 1},
	{name: "an archive off the web", url: "/f", site: sourcetest.Site{"/f": feed("F", `<link rel="prev-archive" href="urn:old"/>`)},
		want: []string{`atom /f "F"`}, choose: 1, requests: 1},
	{name: "weak signs of rinfo", url: "/f", site: sourcetest.Site{"/f": feed("F", "", act("/1", md5, rdf), post("/2"))},
		want: []string{`atom /f "F"`}, choose: 1, evidence: []string{"weak sign"}, requests: 1},
	{name: "digests that are not MD5", url: "/f", site: sourcetest.Site{"/f": feed("F", "", act("/1", ` hash="sha-256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"`, rdf))},
		want: []string{`atom /f "F"`}, choose: 1, requests: 1},
	{name: "Atom-PMH with a deletion", url: "/f", site: sourcetest.Site{"/f": feed("F", "", entry("urn:1", `<link type="text/html" href="/1"/>`), entry("urn:2", "<content/>"))},
		want: []string{`atompmh /f "F"`}, choose: 1, evidence: []string{"1 of its entries are deletions"}, requests: 1},
	{name: "Atom-PMH with archive documents", url: "/f", site: sourcetest.Site{"/f": feed("F", `<link rel="prev-archive" href="/old"/>`, entry("urn:1", `<link type="application/rdf+xml" href="/1"/>`))},
		want: []string{`atompmh /f "F"`}, choose: 1, evidence: []string{"Atom-PMH, Active entries"}, requests: 1},
	{name: "Atom-PMH with a link current", url: "/f", site: sourcetest.Site{"/f": feed("F", `<link rel="current" href="/f"/>`, entry("urn:1", `<link type="application/rdf+xml" href="/1"/>`))},
		want: []string{`atompmh /f "F"`}, choose: 1, requests: 1},
	{name: "complete Atom-PMH", url: "/f", site: sourcetest.Site{"/f": feed("F", "<fh:complete/>", entry("urn:1", `<link type="text/html" href="/1"/><link hreflang="fr" type="text/html" href="/2"/>`))},
		want: []string{`atompmh /f "F"`}, choose: 1, requests: 1},
	{name: "weak signs of Atom-PMH", url: "/f", site: sourcetest.Site{"/f": feed("F", "", entry("urn:1", `<link type="application/rdf+xml" href="/1"/>`))},
		want: []string{`atom /f "F"`}, choose: 1, evidence: []string{"weak sign"}, requests: 1},
	{name: "a blog with archive documents and without content", url: "/f", site: sourcetest.Site{"/f": feed("F", `<link rel="prev-archive" href="/old"/>`, entry("urn:1", `<link type="text/html" href="/1"/>`))},
		want: []string{`atom /f "F"`}, choose: 1, requests: 1},
	{name: "entries that are only descriptions", url: "/f", site: sourcetest.Site{"/f": feed("F", "", entry("urn:1", "<content/><summary>x</summary>"))},
		want: []string{`atom /f "F"`}, choose: 1, requests: 1},
}

// legislation returns a sitemap and an update feed by ELI Pillar IV in a directory.
func legislation(dir string) sourcetest.Site {
	updates := feed("Updates", "", entry(www+dir+"law/2026/1", `<link href="`+www+dir+`law/2026/1"/>`))
	updates.Body = strings.Replace(updates.Body, "urn:feed:Updates", "urn:www-example-org:eli:eli-update-feed", 1)
	return sourcetest.Site{dir + "sitemap.xml": urlset(dir+"law/2026/1", dir+"law/2026/2"), dir + "eli-update-feed.atom": updates}
}

// related returns a sitemap with dct:relation.
func related(d sourcetest.Document, url string) sourcetest.Document {
	d.Body = strings.Replace(d.Body, "<urlset ", `<urlset xmlns:dct="http://purl.org/dc/terms/" dct:relation="`+url+`" `, 1)
	return d
}

// plus returns a site with further documents: paths, each with its document.
func plus(s sourcetest.Site, more ...any) sourcetest.Site {
	for i := 0; i < len(more); i += 2 {
		s[more[i].(string)] = more[i+1].(sourcetest.Document)
	}
	return s
}

const (
	md5 = ` hash="md5:900150983cd24fb0d6963f7d28e17f72"`
	rdf = "application/rdf+xml"
)

// act returns an entry as authorities in Sweden publish it: with a digest, and with RDF
// data of a media type.
func act(path, digest, data string) string {
	more := ""
	if data != "" {
		more = fmt.Sprintf(`<link rel="alternate" type="%s" href="%s%s/rdf" length="3"%s/>`, data, www, path, digest)
	}
	return entry(www+path, fmt.Sprintf(`<published>2026-01-01T00:00:00Z</published><content type="application/pdf" src="%s%s.pdf"%s/>%s`, www, path, digest, more))
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(alternate("atom+xml", fmt.Sprint("/", i)))
	}
	return b.String()
}

// everywhere returns a site with the same document at all places that are asked for.
func everywhere(d sourcetest.Document, paths ...string) sourcetest.Site {
	s := sourcetest.Site{}
	for _, path := range append(paths, "/.well-known/resourcesync", "/robots.txt", "/sitemap.xml", "/feed.atom", "/atom.xml", "/feed") {
		s[path] = d
	}
	return s
}

// cut returns a document without its last bytes.
func cut(d sourcetest.Document, n int) sourcetest.Document {
	d.Body = d.Body[:len(d.Body)-n]
	return d
}

// errAny stands for any error.
var errAny = errors.New("any error")

func TestFixtures(t *testing.T) {
	for _, test := range fixtures {
		t.Run(test.name, func(t *testing.T) {
			url := test.url
			if !strings.Contains(url, "://") {
				url = www + url
			}
			fetcher := &sourcetest.Fetcher{Site: site(test.site), Hook: guard(t, url)}
			result, err := (&discover.Finder{Fetcher: fetcher}).Find(t.Context(), url)
			assert.Len(t, fetcher.Exchanges(), test.requests, "%v", fetcher.Exchanges())
			streams, spools := fetcher.Open()
			assert.Zero(t, streams+spools, "bodies are left open")
			if test.err != nil {
				require.Error(t, err)
				if test.err != errAny {
					assert.ErrorIs(t, err, test.err)
				}
				for _, part := range test.tried {
					assert.ErrorContains(t, err, part)
				}
				return
			}
			require.NoError(t, err)
			check(t, test, result)
		})
	}
}

// guard refuses private addresses, as package fetch does.
func guard(t *testing.T, url string) func(context.Context, int, *harvest.Request, sourcetest.Document) (sourcetest.Document, error) {
	return func(_ context.Context, _ int, req *harvest.Request, d sourcetest.Document) (sourcetest.Document, error) {
		assert.Equal(t, url, req.Root)
		if !strings.HasPrefix(req.URL, "http://example") && !strings.HasPrefix(req.URL, "https://") {
			d = sourcetest.Document{Err: harvest.ErrForbidden}
		}
		return d, nil
	}
}

func check(t *testing.T, test fixture, r *discover.Result) {
	var got []string
	for _, o := range r.Offers {
		got = append(got, strings.ReplaceAll(o.String(), www, ""))
		require.NotEmpty(t, o.Evidence)
		assert.Equal(t, r.URL, o.Evidence[0].URL, "the evidence begins at the URL")
		src := o.Source()
		assert.Equal(t, o.URL, src.Key())
		if c, ok := src.(interface{ Check() error }); ok {
			assert.NoError(t, c.Check())
		}
	}
	assert.Equal(t, test.want, got)
	assert.LessOrEqual(t, len(r.Tried), 110)
	chosen, err := r.Choose()
	var many *discover.AmbiguousError
	switch test.choose {
	case ambiguous:
		require.ErrorAs(t, err, &many)
		assert.Equal(t, len(many.Choices) == 1, many.Itself != nil)
		for _, o := range many.Choices {
			assert.Contains(t, err.Error(), o.URL)
		}
	case limited:
		assert.ErrorIs(t, err, websync.ErrLimit)
	case none:
		assert.ErrorIs(t, err, websync.ErrNotFound)
	case reversed:
		require.NoError(t, err)
		slices.Reverse(chosen)
		assert.Equal(t, r.Offers, chosen)
	default:
		require.NoError(t, err)
		assert.Equal(t, r.Offers[:test.choose], chosen)
	}
	for _, part := range test.evidence {
		assert.Contains(t, fmt.Sprint(r.Offers[0].Evidence), part)
	}
	for i, part := range test.tried {
		require.Less(t, i, len(r.Tried))
		assert.Contains(t, r.Tried[i].String(), part)
	}
}
