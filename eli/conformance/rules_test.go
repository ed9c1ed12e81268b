package conformance_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli/conformance"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// A departure makes a world break a rule.
type departure struct {
	name   string
	make   func(w *world)
	want   conformance.Status
	needle string // in one of the examples
}

const (
	fail = conformance.Fail
	warn = conformance.Warn
)

// errTemporary is the error of a server that is out of order.
var errTemporary = fmt.Errorf("fetch: 503 Service Unavailable: %w", harvest.ErrTemporary)

// many returns n entries of a sitemap.
func many(n int, lastMod string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(urlOf(fmt.Sprintf("%s/eli/order/2025/%d", host, i), lastMod))
	}
	return b.String()
}

// manyEntries returns n entries of a feed.
func manyEntries(n int, updated string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(entryOf(fmt.Sprintf("%s/eli/order/2025/%d", host, i), "Order", updated))
	}
	return b.String()
}

// index makes the sitemap an index of files.
func (w *world) index(parts ...string) {
	list := w.answers[sitemapURL]
	w.set(parts[0], list.kind, list.body)
	var b strings.Builder
	b.WriteString(`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, part := range parts {
		b.WriteString("<sitemap><loc>" + part + "</loc><lastmod>2026-03-08</lastmod></sitemap>\n")
	}
	w.set(sitemapURL, list.kind, b.String()+"</sitemapindex>")
}

const part1 = host + "/eli/sitemap1.xml"

func edit(url, old, new string) func(*world) { return func(w *world) { w.edit(url, old, new) } }
func add(url, entries string) func(*world)   { return func(w *world) { w.add(url, entries) } }

// onPage edits the page of the first act.
func onPage(old, new string) func(*world) { return edit(act1, old, new) }

// departures are, for each rule, worlds that break it. Rules that nothing can break have
// none.
var departures = map[string][]departure{
	"P4-001": {
		{"no feed", func(w *world) { delete(w.answers, feedURL) }, fail, "must offer an update feed: the server has nothing there"},
		{"no feed given", func(w *world) { w.Feed = conformance.Input{} }, fail, "must offer an update feed: there is none"},
		{"no sitemap", func(w *world) { delete(w.answers, sitemapURL) }, fail, "must offer a sitemap"},
		{"a login page for a sitemap", func(w *world) { w.set(sitemapURL, "text/html", "<!DOCTYPE html><html><body>Log in</body></html>") }, fail, "the document is none"},
		{"a login page for a feed", func(w *world) { w.set(feedURL, "text/html", "<!DOCTYPE html><html><body>Log in</body></html>") }, fail, "the document is no feed"},
		{"an entry for a feed", func(w *world) {
			w.set(feedURL, "application/atom+xml", strings.Replace(entryOf(act1, "A", "2026-03-08T16:20:00Z"), "<entry", `<entry xmlns="http://www.w3.org/2005/Atom"`, 1))
		}, fail, "the document is no feed"},
	},
	"P4-002": {{"a page without metadata", func(w *world) { w.set(act1, "text/html", "<!DOCTYPE html><p>Act") }, fail, "1 of 3 pages"}},
	"P4-003": {
		{"the feed has moved", func(w *world) { w.visited(1).Feed.URL = host + "/feed" }, warn, "the URL of the feed has changed"},
		{"the sitemap has moved", func(w *world) { w.visited(1).Sitemap.URL = host + "/sitemap.xml" }, warn, "the URL of the sitemap has changed"},
		{"another namespace", func(w *world) { w.visited(1).Sitemap.Namespace = "urn:old" }, warn, "namespace of the sitemap"},
		{"an extension is gone", func(w *world) { w.visited(1).Feed.Extensions = []string{"http://purl.org/dc/terms/"} }, warn, "http://purl.org/dc/terms/"},
		{"entries less often", func(w *world) {
			for i := range 20 {
				w.add(feedURL, entryOf(fmt.Sprintf("%s/eli/act/2025/%d", host, i), "A", fmt.Sprintf("2026-01-%02dT10:00:00Z", i+1)))
			}
			w.visited(1).Feed.Days = 7
		}, warn, "every 1 days; at the last visit every 7 days"},
	},
	"P4-010": {
		{"not well-formed", edit(sitemapURL, "</lastmod></url>", "</url>"), fail, ""},
		{"cut short", edit(sitemapURL, "</urlset>", ""), fail, "ends"},
		{"bytes that are not UTF-8", edit(sitemapURL, "act/2026/2", "act/2026/\xe9"), fail, ""},
		{"declared as ISO-8859-1", edit(sitemapURL, "UTF-8", "ISO-8859-1"), fail, "ISO-8859-1"},
		{"a raw ampersand", edit(sitemapURL, "act/2026/2<", "act/2026/2?a=1&b=2<"), fail, ""},
	},
	"P4-011": {
		{"a namespace with https", edit(sitemapURL, `"http://www.sitemaps.org`, `"https://www.sitemaps.org`), fail, "https for http"},
		{"no namespace", edit(sitemapURL, `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`, ""), fail, "there is none"},
		{"another namespace", edit(sitemapURL, "schemas/sitemap/0.9", "schemas/sitemap/0.84"), fail, "0.84"},
	},
	"P4-012": {
		{"no loc", edit(sitemapURL, "<loc>"+act1+"</loc>", ""), fail, ""},
		{"two locs", edit(sitemapURL, "<loc>"+act1+"</loc>", "<loc>"+act1+"</loc><loc>"+act1+"</loc>"), fail, ""},
		{"an empty loc", edit(sitemapURL, act1, ""), fail, ""},
		{"a relative loc", edit(sitemapURL, "<loc>"+act1, "<loc>/eli/act/2026/1"), fail, ""},
		{"one slash", edit(sitemapURL, "<loc>http://", "<loc>http:/"), fail, ""},
		{"too long", edit(sitemapURL, act1, act1+strings.Repeat("a", 2048)), fail, ""},
		{"not percent-encoded", edit(sitemapURL, "act/2026/1", "act/2026/é"), fail, ""},
	},
	"P4-013": {
		{"changefreq", edit(sitemapURL, "</lastmod>", "</lastmod><changefreq>sometimes</changefreq>"), fail, "sometimes"},
		{"priority", edit(sitemapURL, "</lastmod>", "</lastmod><priority>2</priority>"), fail, "2"},
		{"two priorities", edit(sitemapURL, "</lastmod>", "</lastmod><priority>1</priority><priority>1</priority>"), fail, ""},
	},
	"P4-014": {
		{"50,001 entries", add(sitemapURL, many(49_998, "2025-01-01")), fail, "50,000"},
		{"too long", add(sitemapURL, "<!--"+strings.Repeat(" ", 53<<20)+"-->"), fail, ""},
	},
	"P4-015": {
		{"an index inside an index", func(w *world) {
			w.index(part1)
			w.set(part1, "application/xml", w.answers[sitemapURL].body)
		}, fail, "must not list another index"},
		{"a file that is not there", func(w *world) { w.index(part1, host+"/eli/lost.xml") }, fail, "404"},
		{"a page for a file", func(w *world) {
			w.index(part1, host+"/eli/page.xml")
			w.set(host+"/eli/page.xml", "text/html", "<!DOCTYPE html><html></html>")
		}, fail, "not a sitemap"},
	},
	"P4-016": {{"a file on another host", func(w *world) { w.index("http://files.example/eli/1.xml") }, fail, "http://files.example"}},
	"P4-017": {{"a DOCTYPE", edit(sitemapURL, "<urlset", "<!DOCTYPE urlset>\n<urlset"), fail, ""}},
	"P4-018": {
		{"listed twice", add(sitemapURL, urlOf(act1, "2026-03-08")), warn, act1},
		{"listed in two files", func(w *world) {
			w.index(part1, host+"/eli/sitemap2.xml")
			w.answers[host+"/eli/sitemap2.xml"] = w.answers[part1]
		}, warn, act1},
		{"a file listed twice", func(w *world) { w.index(part1, part1) }, warn, "this sitemap twice"},
	},
	"P4-020": {
		{"an entry of the feed is missing", edit(sitemapURL, urlOf(act2, "2026-03-06"), ""), fail, act2},
		{"no entries", func(w *world) { w.set(sitemapURL, "application/xml", sitemapHead+"</urlset>") }, fail, "it lists none"},
		{"a linked act is missing", onPage(`<div rel="eli:is_realized_by">`, `<a rel="eli:is_member_of" href="`+host+`/eli/act/2026/99"></a><div rel="eli:is_realized_by">`), warn, "act/2026/99"},
		{"shorter than at the last visit", func(w *world) { w.visited(1).Sitemap.Entries = 4 }, fail, "at the last visit it was 4"},
	},
	"P4-021": {{"elsewhere", moved(host + "/eli/all.xml"), warn, "should end in /eli/sitemap.xml"}},
	"P4-022": {
		{"another host", edit(sitemapURL, act1, "http://www.law.example/eli/act/2026/1"), fail, "http://www.law.example"},
		{"another scheme", edit(sitemapURL, act1, "https://law.example/eli/act/2026/1"), fail, "https://law.example"},
		{"another directory", edit(sitemapURL, act1, host+"/other/eli/act/2026/1"), fail, "the directory of the sitemap"},
		{"a file with two directories", func(w *world) {
			w.files()
			w.edit(sitemapURL, act2, host+"/other/eli/act/2026/1")
		}, fail, "as the first entry does"},
	},
	"P4-023": {{"two hosts", edit(sitemapURL, act1, "http://other.example/eli/act/2026/1"), fail, "2 hosts"}},
	"P4-024": {
		{"no robots.txt", func(w *world) { w.elsewhere("") }, fail, "there is no robots.txt"},
		{"another sitemap", func(w *world) { w.elsewhere("Sitemap: http://maps.example/other.xml\n") }, fail, "names other sitemaps only"},
		{"no sitemap", func(w *world) { w.elsewhere("User-agent: *\nDisallow:\n") }, fail, "names no sitemap"},
	},
	"P4-025": {
		{"an expression beside its legal resource", add(sitemapURL, urlOf(act1+"/eng", "2026-03-08")), fail, act1 + "/eng"},
		{"a format beside its legal resource", add(sitemapURL, urlOf(act1+"/pdf", "2026-03-08")), fail, act1 + "/pdf"},
		{"one expression among others", add(sitemapURL, urlOf(host+"/eli/act/2026/3/fr", "2026-03-08")), fail, "don't"},
		{"all look like expressions", func(w *world) {
			w.set(sitemapURL, "", sitemapHead+urlOf(act1+"/fr", "2026-03-08")+urlOf(act2+"/fr", "2026-03-08")+"</urlset>")
		}, warn, "2 of 2"},
		{"an expression that a page names", func(w *world) {
			w.edit(act1, act1+`/eng"`, host+`/eli/act/2026/text-of-1"`)
			w.add(sitemapURL, urlOf(host+"/eli/act/2026/text-of-1", "2026-03-08"))
		}, fail, "must not list an expression"},
		{"a page of an expression", onPage("eli:LegalResource", "eli:LegalExpression"), fail, "of an expression or a format"},
	},
	"P4-026": {{"another page", add(sitemapURL, urlOf(host+"/news/1", "2026-03-08")), fail, "/news/1"}},
	"P4-027": {{"an incomplete list", edit(sitemapURL, urlOf(act2, "2026-03-06"), ""), fail, "P4-020"}},
	"P4-029": {
		{"a page that describes another one", func(w *world) { w.set(act1, "text/html", pageOf(act2)) }, fail, "synonym"},
		{"two pages that describe one", func(w *world) {
			w.set(act1, "text/html", pageOf(host+"/eli/act/2026/one"))
			w.set(act2, "text/html", pageOf(host+"/eli/act/2026/one"))
		}, fail, "the same ELI"},
		{"sameAs", onPage(`<div rel="eli:is_realized_by">`, `<a rel="http://www.w3.org/2002/07/owl#sameAs" href="`+act2+`"></a><div rel="eli:is_realized_by">`), fail, act2},
		{"two ELIs lead to one page", func(w *world) {
			a := w.answers[act1]
			a.url = host + "/page"
			w.answers[act1] = a
			b := w.answers[act2]
			b.url = host + "/page"
			w.answers[act2] = b
		}, warn, "leads to the page of another one"},
	},
	"P4-030": {
		{"no lastmod", edit(sitemapURL, "<lastmod>2026-03-06</lastmod>", ""), fail, act2},
		{"two lastmods", edit(sitemapURL, "<lastmod>2026-03-06</lastmod>", "<lastmod>2026-03-06</lastmod><lastmod>2026-03-05</lastmod>"), fail, ""},
	},
	"P4-031": {
		{"a time without a zone", edit(sitemapURL, "2026-03-06<", "2026-03-06T10:00:00<"), fail, "2026-03-06T10:00:00"},
		{"a space", edit(sitemapURL, "2026-03-06<", "2026-03-06 10:00:00<"), fail, ""},
		{"an impossible date", edit(sitemapURL, "2026-03-06<", "2026-02-30<"), fail, "2026-02-30"},
		{"in the future", edit(sitemapURL, "2026-03-06<", "2027-03-06<"), warn, "2027-03-06"},
	},
	"P4-032": {
		{"a page has changed, and lastmod has not", func(w *world) {
			w.visited(1)
			w.edit(decree, "The act of", "The amended act of")
		}, fail, "lastmod has not"},
		{"all dates are the same", func(w *world) {
			w.set(sitemapURL, "", sitemapHead+many(30, "2026-03-08")+"</urlset>")
			w.Sample = -1
		}, warn, "all 30 entries"},
	},
	"P4-033": {
		{"an unknown element", edit(sitemapURL, "</lastmod>", "</lastmod><title>Act</title>"), warn, `no element "title"`},
		{"in another order", edit(sitemapURL, "<url><loc>"+act1+"</loc>", `<url><dct:title>A</dct:title><loc>`+act1+"</loc>"), warn, ""},
	},
	"P4-034": {
		{"another feed", edit(sitemapURL, `dct:relation="`+feedURL, `dct:relation="`+host+`/feed`), warn, "is not the URL of the feed"},
		{"relative", edit(sitemapURL, `dct:relation="`+feedURL, `dct:relation="/feed`), warn, "absolute"},
	},
	"P4-035": {{"50,001 entries", add(sitemapURL, many(49_998, "2025-01-01")), fail, "must be split"}},
	"P4-036": {
		{"the index elsewhere", func(w *world) {
			w.index(part1)
			moved(host + "/eli/index.xml")(w)
		}, fail, "the index must be"},
		{"no index", add(sitemapURL, many(49_998, "2025-01-01")), fail, "too long for one file"},
	},
	"P4-038": {
		{"five weeks old", func(w *world) { w.Now = now.AddDate(0, 0, 35) }, fail, "37 days"},
		{"the same as at the last visit", func(w *world) {
			last := w.visited(40)
			last.Sitemap.Newest = testkit.Date(w.t, "2026-03-08")
			last.Feed.Updated = testkit.Date(w.t, "2026-01-08T16:20:00Z")
		}, fail, "has not changed for 40 days"},
	},
	"P4-039": {{"not in the registry", func(w *world) { w.Registry = []conformance.Pair{{Sitemap: host + "/x", Feed: feedURL}} }, fail, "does not have the sitemap"}},
	"P4-040": {
		{"a page that is not there", func(w *world) { delete(w.answers, act1) }, fail, "404"},
		{"a PDF", func(w *world) { w.set(act1, "application/pdf", "%PDF-1.7") }, fail, "application/pdf"},
		{"an empty page", func(w *world) { w.set(act1, "text/html", " ") }, fail, "empty"},
		{"robots.txt forbids", func(w *world) { w.answers[act1] = answer{err: fmt.Errorf("robots.txt: %w", harvest.ErrForbidden)} }, fail, "not allowed"},
		{"out of order", func(w *world) { w.answers[act1] = answer{err: errTemporary} }, warn, "could not be checked now"},
		{"not to be asked yet", func(w *world) { w.answers[act1] = answer{err: harvest.ErrNotYet} }, warn, "could not be checked now"},
		{"a redirect in HTML", func(w *world) {
			w.answers[host+"/page"] = w.answers[act1]
			w.set(act1, "text/html", `<html><head><meta http-equiv="Refresh" content="0; URL='/page'"></head></html>`)
		}, warn, "redirects in HTML"},
		{"redirects in HTML without end", func(w *world) {
			w.set(act1, "text/html", `<meta http-equiv="refresh" content="0;url=/a">`)
			w.set(host+"/a", "text/html", `<meta http-equiv="refresh" content="0;url=/b">`)
			w.set(host+"/b", "text/html", `<meta http-equiv="refresh" content="0;url=/a">`)
		}, fail, "more than 10"},
	},
	"P4-041": {
		{"an empty shell", func(w *world) {
			w.set(act1, "text/html", `<!DOCTYPE html><div id="app"></div><script src="app.js"></script>`)
		}, fail, "must hold metadata"},
		{"for crawlers only", func(w *world) {
			w.crawler[act1] = w.answers[act1]
			w.set(act1, "text/html", "<!DOCTYPE html><p>Act")
		}, fail, "cloaked"},
		{"JSON-LD that is not read", func(w *world) {
			w.set(act1, "text/html", `<!DOCTYPE html><script type="application/ld+json">{"@id":"`+act1+`","@type":"http://data.europa.eu/eli/ontology#LegalResource"}</script>`)
		}, fail, "can't be read"},
	},
	"P4-042": {
		{"another subject", func(w *world) { w.set(act1, "text/html", pageOf(host+"/eli/act/2026/9")) }, fail, "act/2026/9"},
		{"https", func(w *world) { w.set(act1, "text/html", pageOf(strings.Replace(act1, "http:", "https:", 1))) }, fail, "https"},
		{"no type", onPage(` typeof="eli:LegalResource"`, ` property="eli:id_local" content="1"`), fail, "LegalResource"},
	},
	"P4-043": {
		{"no expression", func(w *world) {
			w.set(act1, "text/html", `<!DOCTYPE html><html prefix="eli: http://data.europa.eu/eli/ontology#"><p about="`+act1+`" typeof="eli:LegalResource" property="eli:title">Act</p></html>`)
		}, fail, "describe an expression"},
		{"no format", onPage("eli:is_embodied_by", "eli:see_also"), fail, "describe a format"},
	},
	"P4-045": {
		{"https", onPage("http://data.europa.eu", "https://data.europa.eu"), fail, ""},
		{"a comma", onPage("ontology#", "ontology#,"), fail, ""},
		{"no prefix", onPage(` prefix="eli: http://data.europa.eu/eli/ontology#"`, ""), fail, ""},
	},
	"P4-046": {
		{"http", onPage("https://www.iana.org", "http://www.iana.org"), warn, ""},
		{"a file type of the EU", onPage("https://www.iana.org/assignments/media-types/application/pdf", "http://publications.europa.eu/resource/authority/file-type/PDF"), warn, ""},
		{"none", onPage("eli:media_type", "eli:see_also"), warn, ""},
	},
	"P4-050": {
		{"declared as UTF-16", edit(feedURL, "UTF-8", "utf-16"), fail, "utf-16"},
		{"an unknown element of Atom", edit(feedURL, "<author>", "<series>1</series><author>"), fail, "series"},
		{"a date without a time", edit(feedURL, "2026-03-06T09:00:00+01:00", "2026-03-06"), fail, "2026-03-06"},
		{"not well-formed", edit(feedURL, "</entry>", ""), fail, ""},
		{"two ids", edit(feedURL, "<id>", "<id>urn:x-y:z</id><id>"), fail, ""},
	},
	"P4-051": {
		{"no title", edit(feedURL, "<title>Acts of Law</title>", ""), fail, "must have a title"},
		{"an empty title", edit(feedURL, "Acts of Law", " "), fail, "must have a title"},
	},
	"P4-052": {
		{"none", edit(feedURL, `rel="self"`, `rel="via"`), fail, "rel=\"self\""},
		{"another URL", edit(feedURL, `href="`+feedURL, `href="`+host+`/feed`), fail, "is not the URL of the feed"},
		{"relative in a file", func(w *world) { w.files(); w.edit(feedURL, `href="`+feedURL, `href="feed.atom`) }, fail, "must be the URL"},
	},
	"P4-053": {
		{"older", edit(feedURL, "<updated>2026-03-08T16:20:00Z", "<updated>2026-03-07T16:20:00Z"), fail, "older than its newest entry"},
		{"newer", edit(feedURL, "<updated>2026-03-08T16:20:00Z", "<updated>2026-03-09T16:20:00Z"), warn, "newer than its newest entry"},
		{"none", edit(feedURL, "<updated>2026-03-08T16:20:00Z</updated>", ""), fail, "must have updated"},
		{"no date", edit(feedURL, "<updated>2026-03-08T16:20:00Z", "<updated>today"), fail, "can't be read"},
	},
	"P4-054": {
		{"none", edit(feedURL, "<author><name>Ministry of Justice</name></author>", ""), fail, "an author"},
		{"without a name", edit(feedURL, "Ministry of Justice", ""), fail, "an author"},
	},
	"P4-055": {
		{"none", edit(feedURL, "<id>urn:law-example:eli:eli-update-feed</id>", ""), fail, "must have an id"},
		{"no IRI", edit(feedURL, "<id>urn:law-example:eli:eli-update-feed", "<id>feed 1"), fail, "absolute IRI"},
		{"the URL", edit(feedURL, "<id>urn:law-example:eli:eli-update-feed", "<id>"+feedURL), fail, "must not be the URL"},
		{"the URL before a redirect", func(w *world) {
			w.edit(feedURL, "<id>urn:law-example:eli:eli-update-feed", "<id>"+feedURL)
			w.edit(feedURL, `rel="self" href="`+feedURL, `rel="self" href="`+host+`/feeds/1.atom`)
			a := w.answers[feedURL]
			a.url = host + "/feeds/1.atom"
			w.answers[feedURL] = a
		}, fail, "must not be the URL"},
		{"another one than at the last visit", func(w *world) { w.visited(1).Feed.ID = "urn:old" }, fail, "urn:old"},
	},
	"P4-056": {
		{"another URN", edit(feedURL, "urn:law-example:eli:eli-update-feed", "urn:uuid:1225c695-cfb8-4ebb-aaaa-80da344efa6a"), warn, "urn:uuid"},
		{"another host", edit(feedURL, "urn:law-example:", "urn:other-example:"), warn, "law-example"},
	},
	"P4-060": {
		{"no link", edit(feedURL, `<link href="`+act1+`"/>`, ""), fail, "must have a link"},
		{"another URL", edit(feedURL, `<link href="`+act1, `<link href="`+act1+`.html`), fail, act1 + ".html"},
		{"on another host", add(feedURL, entryOf("http://other.example/eli/act/1", "A", "2026-03-07T10:00:00Z")), fail, "below http://law.example/eli/"},
	},
	"P4-061": {
		{"no ELI", edit(feedURL, "<id>"+act1, "<id>urn:act:1"), fail, "urn:act:1"},
		{"none", edit(feedURL, "<id>"+act1+"</id>", ""), fail, "no usable id"},
		{"twice", add(feedURL, entryOf(act1, "First act", "2026-03-07T10:00:00Z")), warn, act1},
	},
	"P4-062": {{"an empty title", edit(feedURL, "First act", ""), warn, "should have the title"}},
	"P4-063": {
		{"none", edit(feedURL, "<updated>2026-03-06T09:00:00+01:00</updated>", ""), fail, "must have updated"},
		{"a date", edit(feedURL, "2026-03-06T09:00:00+01:00", "2026-03-06"), fail, "with a time and a zone"},
		{"in the future", edit(feedURL, "2026-03-06T09:00:00+01:00", "2027-03-06T09:00:00+01:00"), fail, "in the future"},
	},
	"P4-064": {
		{"elsewhere", movedFeed(host + "/eli/feed.atom"), warn, "should end in /eli/eli-update-feed.atom"},
		{"on another host", movedFeed("http://feeds.example/eli/eli-update-feed.atom"), warn, "allowed if the pair is registered"},
	},
	"P4-065": {
		{"a week old", func(w *world) { w.Now = now.AddDate(0, 0, 7) }, warn, "younger than 4 days"},
		{"the same as at the last visit", func(w *world) {
			w.visited(6)
			w.Last.Visited = now.AddDate(0, 0, -6)
			w.add(sitemapURL, urlOf(host+"/eli/act/2026/4", "2026-03-09"))
			w.set(host+"/eli/act/2026/4", "text/html", pageOf(host+"/eli/act/2026/4"))
		}, fail, "has not changed for 6 days"},
	},
	"P4-066": {
		{"30 days", func(w *world) {
			w.add(sitemapURL, urlOf(host+"/eli/act/2026/0", "2026-01-20"))
			w.edit(feedURL, entryOf(decree, "Decree", "2026-01-05T09:00:00Z"), "")
		}, fail, "1 ELIs of the sitemap"},
		{"an entry has left the feed", func(w *world) {
			w.visited(1)
			w.edit(feedURL, entryOf(act2, "Second act", "2026-03-06T09:00:00+01:00"), "")
		}, fail, "has left the feed"},
	},
	"P4-067": {{"a feed of two sitemaps", func(w *world) {
		w.Registry = append(w.Registry, conformance.Pair{Sitemap: "http://other.example/eli/sitemap.xml", Feed: feedURL})
	}, fail, "http://other.example"}},
	"P4-068": {{"registered with another sitemap", func(w *world) { w.Registry[0].Feed = host + "/feed" }, fail, "together with the sitemap"}},
	"P4-069": {
		{"an ELI that the sitemap lacks", edit(sitemapURL, urlOf(act2, "2026-03-06"), ""), fail, act2},
		{"other dates", edit(sitemapURL, "2026-03-06<", "2026-03-05<"), warn, "2026-03-06, and the sitemap 2026-03-05"},
	},
	"P4-070": {
		{"all of it", func(w *world) {
			w.add(sitemapURL, many(300, "2026-03-05"))
			w.add(feedURL, manyEntries(300, "2026-03-05T10:00:00Z"))
			w.Sample = -1
		}, warn, "of the 303 legal resources"},
		{"one time", func(w *world) {
			w.add(sitemapURL, many(20_000, "2026-03-05"))
			w.add(feedURL, manyEntries(1001, "2026-03-05T10:00:00Z"))
			w.Sample = -1
		}, warn, "1001 entries"},
	},
	"P4-071": {
		{"titles that are ELIs", edit(feedURL, "First act", act1), warn, "the title of the act"},
		{"no content", edit(feedURL, "<content>An abstract.</content>", ""), warn, "abstract"},
	},
	"P4-080": {
		{"a format that is not there", exemplified(host+"/lost.pdf", answer{err: errors.New("404")}), warn, "can't be obtained"},
		{"a page for a PDF", exemplified(host+"/1.pdf", answer{kind: "application/pdf", body: "<!DOCTYPE html><p>Sorry"}), warn, "text/html"},
		{"an empty file", exemplified(host+"/1.pdf", answer{kind: "application/pdf"}), warn, "empty"},
		{"a soft 404", func(w *world) {
			w.edit(act1, "media-types/application/pdf", "media-types/text/html")
			exemplified(host+"/texts/1.html", answer{kind: "text/html", body: "<!DOCTYPE html><script>var a=1</script><p>Nothing here"})(w)
			w.crawler = nil
			w.Fetcher = w.softly(host + "/texts/no-such-document-")
		}, warn, "for what does not exist"},
		{"no format that is read", onPage("application/pdf", "application/msword"), warn, "lead to no full text"},
	},
	"P4-081": {
		{"not there", func(w *world) { delete(w.answers, act1+"/eng/pdf") }, fail, "404"},
		{"a page", func(w *world) { w.set(act1+"/eng/pdf", "text/html", "<!DOCTYPE html><p>Formats of the act") }, fail, "text/html"},
	},
	"P4-082": {{"found only by tolerant readers", onPage("https://www.iana.org", "http://www.iana.org"), warn, "by the annex's steps"}},
}

// moved makes the sitemap be at another URL.
func moved(url string) func(*world) {
	return func(w *world) {
		w.answers[url] = w.answers[sitemapURL]
		w.Sitemap.Name = url
		w.Registry[0].Sitemap = url
	}
}

// movedFeed makes the feed be at another URL, which is not registered.
func movedFeed(url string) func(*world) {
	return func(w *world) {
		w.edit(feedURL, `href="`+feedURL, `href="`+url)
		w.answers[url] = w.answers[feedURL]
		w.Feed.Name = url
	}
}

// elsewhere makes the sitemap be on another host, and the ELIs' host have a robots.txt.
func (w *world) elsewhere(robots string) {
	moved("http://maps.example/eli/sitemap.xml")(w)
	if robots != "" {
		w.set(host+"/robots.txt", "text/plain", robots)
	}
}

// exemplified makes the format of the first act have a file.
func exemplified(url string, a answer) func(*world) {
	return func(w *world) {
		w.edit(act1, `<a rel="eli:media_type"`, `<a rel="eli:is_exemplified_by" href="`+url+`"></a><a rel="eli:media_type"`)
		w.answers[url] = a
	}
}

// TestRules checks that each rule passes for a publisher who conforms, and is broken by
// each of its departures.
func TestRules(t *testing.T) {
	base := newWorld(t)
	base.visited(1)
	good := base.check()
	for _, r := range good.Rules {
		if r.Reason == conformance.CannotFail {
			assert.NotContains(t, departures, r.ID)
			assert.NotEmpty(t, r.Why, r.ID)
			continue
		}
		assert.Equal(t, conformance.Pass, r.Status, "%s: %v", r.ID, r.Examples)
		if r.ID != "P4-044" { // which reports, and never fails
			assert.Contains(t, departures, r.ID)
		}
	}
	for _, rule := range conformance.Rules() {
		for _, d := range departures[rule.Name] {
			t.Run(rule.Name+"/"+d.name, func(t *testing.T) {
				w := newWorld(t)
				d.make(w)
				got := row(t, w.check(), rule.Name)
				assert.Equal(t, d.want, got.Status, "%+v", got)
				require.NotEmpty(t, got.Examples)
				assert.Contains(t, fmt.Sprint(got.Examples), d.needle)
				assert.NotEmpty(t, got.Advice)
				for _, f := range got.Examples {
					assert.Equal(t, rule.Name, f.Rule)
					assert.Equal(t, rule.Section, f.Section)
				}
			})
		}
	}
}

// TestHarmless checks that what only looks like a departure breaks no rule.
func TestHarmless(t *testing.T) {
	leaves := edit(feedURL, entryOf(decree, "Decree", "2026-01-05T09:00:00Z"), "")
	for name, test := range map[string]struct {
		rule string
		make func(w *world)
	}{
		"the sitemap has become an index": {"P4-003", func(w *world) {
			w.visited(1).Sitemap.Root = "urlset"
			w.index(part1)
		}},
		"an expression that is the act itself": {"P4-025", onPage(`<div rel="eli:is_realized_by"><div about="`+act1+`/eng"`, `<div rel="eli:is_realized_by"><div about="`+act1+`"`)},
		"a lastmod that can't be read":         {"P4-030", edit(sitemapURL, "2026-03-06<", "yesterday<")},
		"a page that has changed again on the day of its date": {"P4-032", func(w *world) {
			w.visited(2)
			w.edit(act1, "The act of", "The amended act of")
		}},
		"two dates that are the same": {"P4-032", func(w *world) {
			w.visited(1)
			w.Last.Pages = w.Last.Pages[:1]
			w.set(sitemapURL, "", sitemapHead+urlOf(act1, "2026-03-08")+urlOf(act2, "2026-03-08")+urlOf(decree, "2026-03-08")+"</urlset>")
		}},
		"a registered feed on another host": {"P4-064", func(w *world) {
			const there = "http://feeds.example/eli/eli-update-feed.atom"
			movedFeed(there)(w)
			w.Registry[0].Feed = there
		}},
		"a feed without changes for a day": {"P4-065", func(w *world) {
			w.visited(1)
			w.add(sitemapURL, urlOf(host+"/eli/act/2026/4", "2026-03-09"))
			w.set(host+"/eli/act/2026/4", "text/html", pageOf(host+"/eli/act/2026/4"))
		}},
		"an entry that leaves the feed after 60 days": {"P4-066", func(w *world) {
			w.visited(1)
			leaves(w)
		}},
		"the 60 days are those before the visit": {"P4-066", func(w *world) {
			w.edit(sitemapURL, "2026-01-05", "2026-01-08")
			leaves(w)
		}},
		"a change that is newer than the feed": {"P4-066", func(w *world) {
			w.add(sitemapURL, urlOf(host+"/eli/act/2026/4", "2026-03-09"))
			leaves(w)
		}},
		"an act of the sitemap's last day": {"P4-069", add(feedURL, entryOf(host+"/eli/act/2026/4", "Fourth act", "2026-03-08T10:00:00Z"))},
		"a time after midnight, which is the day before in UTC": {"P4-069", func(w *world) {
			w.edit(feedURL, "2026-03-06T09:00:00+01:00", "2026-03-06T00:30:00+01:00")
			w.edit(sitemapURL, "2026-03-06", "2026-03-05")
		}},
		"an earlier entry of the same act": {"P4-069", add(feedURL, entryOf(act1, "First act", "2026-03-05T10:00:00Z"))},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.make(w)
			got := row(t, w.check(), test.rule)
			assert.Equal(t, conformance.Pass, got.Status, "%+v", got)
		})
	}
}
