package hostile

import (
	"slices"
	"strings"
	"testing"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/harvest"
)

func ld(f flow) flow {
	return join(text(`<!DOCTYPE html><html><head><script type="application/ld+json">`), f, text(`</script></head><body></body></html>`))
}

func body(f flow) flow { return join(text("<!DOCTYPE html><html><body>"), f, text("</body></html>")) }

var pages = []struct {
	name    string
	verdict verdict
	page    func(good string) flow
}{
	{"empty", refused, func(string) flow { return nil }},
	{"login page", refused, func(string) flow { return body(text("<form>Log in</form>")) }},
	{"app shell", refused, func(string) flow { return body(text("<div id=root></div><script src=/a.js></script>")) }},
	{"another resource", refused, func(good string) flow { return replaced(text(good), "/eli/7", "/eli/evil") }},
	{"cut", anything, func(good string) flow { return text(good[:len(good)/2]) }},
	{"deep elements", anything, func(good string) flow { return join(body(many(nested, "<div>")), text(good)) }},
	{"deep spans", anything, func(good string) flow { return join(body(many(100_000, "<span property=x>")), text(good)) }},
	{"deep tables", anything, func(good string) flow { return join(body(many(5000, "<table><tr><td>")), text(good)) }},
	{"misnested formatting", anything, func(good string) flow { return join(body(many(2000, "<a><b><i><p>")), text(good)) }},
	{"million attributes", anything, func(good string) flow {
		return join(body(join(text("<p"), numbered(1_000_000, " a%d=b"), text(">"))), text(good))
	}},
	{"formatting that multiplies", refused, func(good string) flow {
		return body(join(text("<p>"), numbered(400, "<b a=%d>"), many(20_000, "</p><p>x"), text(good)))
	}},
	{"million elements", anything, func(good string) flow { return join(body(many(500_000, "<p>a")), text(good)) }},
	{"million triples", anything, func(good string) flow {
		return body(join(text(`<div about="http://x.example/">`), numbered(300_000, `<p property="http://x.example/p%d">a</p>`), text("</div>")))
	}},
	{"attributes before many tags", refused, func(good string) flow {
		return body(join(text("<p"), numbered(200_000, " a%d"), text(">"), many(2_000_000, "<i>"), text(good)))
	}},
	{"attributes hidden in a picture", anything, func(good string) flow {
		return body(join(text("<svg><style><p"), numbered(30_000, " a%d"), text("></p></style></svg>"), many(90_000, "<p>"), text(good)))
	}},
	{"XHTML of a million elements", refused, func(good string) flow { return body(join(many(1_000_000, "<p/>"), text(good))) }},
	{"XHTML of a million attributes", refused, func(good string) flow {
		return body(join(many(50_000, "<p a='' b='' c='' d='' e='' f='' g='' h='' i='' j='' k='' l='' m='' n='' o='' p='' q='' r='' s='' t=''/>"), text(good)))
	}},
	{"XHTML of text", anything, func(good string) flow { return body(join(many(11<<20, "a"), text(good))) }},
	{"text of the greatest length", anything, func(good string) flow { return body(join(many(11<<20, "a"), text(good))) }},
	{"half a million types", anything, func(good string) flow {
		return body(join(text(`<p about="http://x.example/" typeof="`), many(500_000, "eli:A "), text(`"></p>`), text(good)))
	}},
	{"triples that multiply", anything, func(good string) flow {
		return body(join(text(`<p about="http://x.example/" rel="`), numbered(3000, "http://x.example/p%d "), text(`">`), numbered(3000, `<a href="/%d"></a>`), text("</p>")))
	}},
	{"gigantic attribute", refused, func(string) flow { return body(join(text(`<p property="`), many(72<<20, "a "), text(`">`))) }},
	{"gigantic text", refused, func(string) flow { return body(many(72<<20, "a")) }},
	{"without an end", refused, func(string) flow { return many(72<<20, "<p>") }},
	{"prefixes", anything, func(good string) flow {
		return body(join(text(`<p prefix="`), numbered(200_000, "p%d: http://x.example/ "), text(`" property="p1:a">b</p>`)))
	}},
	{"prefix of itself", anything, func(good string) flow { return body(text(`<p prefix="eli: eli:eli: " property="eli:title">b</p>`)) }},
	{"refresh to itself", refused, func(string) flow { return text(`<html><head><meta http-equiv=refresh content="0"></head></html>`) }},
	{"refresh inside", refused, func(string) flow {
		return text(`<html><head><meta http-equiv=refresh content="0; url=` + inside.url() + `/"></head></html>`)
	}},
	{"base inside", anything, func(good string) flow {
		return text(strings.Replace(good, "<body", `<head><base href="file:///etc/"></head><body`, 1))
	}},
	{"text inside", refused, func(good string) flow {
		return replaced(text(good), "/file/eli/7", "@"+strings.TrimPrefix(inside.url(), "http://")+"/")
	}},
	{"text in a file", anything, func(good string) flow {
		i := strings.Index(good, `is_exemplified_by" href="`) + len(`is_exemplified_by" href="`)
		return text(good[:i] + "file:///etc/passwd" + good[i+strings.IndexByte(good[i:], '"'):])
	}},
	{"title with lines", anything, func(good string) flow { return replaced(text(good), "Act of", "Act\r\nX-Evil: 1\x00\x1b[2J of") }},
	{"title of bytes", anything, func(good string) flow { return replaced(text(good), "Act of", "Act \xff\xfe\xed\xa0\x80 of") }},
	{"UTF-7", anything, func(good string) flow { return replaced(text(good), "<body", "<meta charset=utf-7><body") }},
	{"UTF-16 declared", anything, func(good string) flow { return replaced(text(good), "<body", "<meta charset=utf-16><body") }},
	{"JSON-LD in a file", anything, func(string) flow { return ld(text(`{"@context":"file:///etc/passwd","@id":"x"}`)) }},
	{"JSON-LD context inside", refused, func(string) flow { return ld(text(`{"@context":"` + inside.url() + `/","@id":"x","a":"b"}`)) }},
	{"JSON-LD import inside", refused, func(string) flow {
		return ld(text(`{"@context":{"@version":1.1,"@import":"` + inside.url() + `/"},"@id":"x","a":"b"}`))
	}},
	{"deep JSON-LD", refused, func(string) flow { return ld(join(many(nested, `{"@graph":[`), many(nested, "]}"))) }},
	{"deep JSON-LD, open", refused, func(string) flow { return ld(many(nested, `[`)) }},
	{"JSON-LD contexts in a circle", refused, func(string) flow {
		return ld(text(`{"@context":{"a":"b:c","b":"a:d","c":{"@id":"c","@context":{"c":{"@id":"c"}}}},"@id":"x","a":"y"}`))
	}},
	{"JSON-LD terms that expand", refused, func(string) flow {
		return ld(join(text(`{"@context":{"a":"http://x.example/`), many(10_000, "a"), text(`/"},"@id":"x",`), numbered(10_000, `"a:%d":"v",`), text(`"a:z":"v"}`)))
	}},
	{"many JSON-LD values", refused, func(string) flow {
		return ld(join(text(`{"@id":"http://x.example/","http://x.example/p":[`), many(500_000, `1,`), text(`1]}`)))
	}},
	{"JSON-LD numbers", refused, func(string) flow { return ld(text(`{"@id":"x","http://x.example/p":1e999999999}`)) }},
	{"JSON-LD cut", refused, func(string) flow { return ld(text(`{"@id":"x","http://x.example/p":`)) }},
	{"JSON-LD of bytes", refused, func(string) flow {
		return ld(text("{\"@id\":\"\xff\x00\",\"http://x.example/\xfe\":\"\xed\xa0\x80\"}"))
	}},
	{"JSON-LD id of a megabyte", refused, func(string) flow {
		return ld(join(text(`{"@id":"http://x.example/`), many(1<<20, "a"), text(`","http://x.example/p":1}`)))
	}},
}

// Pages with metadata of legislation.
func TestPages(t *testing.T) {
	s := *shapeOf("eli sitemap")
	s.source = func(base string) harvest.Source {
		return &eli.Source{Sitemap: base + "/eli/sitemap.xml", Interval: -1, Extractors: []eli.Extractor{&rdfa.Extractor{}, &jsonld.Extractor{}}}
	}
	for k, p := range pages {
		if !*full && k%3 != 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			attack(t, &s, p.verdict, func(w *world) {

				w.leads = []string{inside.url(), "file:///etc/passwd"}
				media := "text/html"
				if strings.HasPrefix(p.name, "XHTML") {
					media = "application/xhtml+xml"
				}
				w.serve("/eli/7", as(media, p.page(act(w.url, "/eli/7", 4))))
			})
		})
	}
}

func rss(f flow) flow {
	return join(text(`<rss version="2.0"><channel><title>T</title><link>http://x.example/</link>`), f, text("</channel></rss>"))
}

func item(f flow) flow { return rss(join(text("<item><guid>urn:a</guid>"), f, text("</item>"))) }

func core(f flow) flow {
	return join(text(`<rss xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><item><guid>urn:a</guid>`), f, text("</item></channel></rss>"))
}

func atom03(f flow) flow {
	return join(text(`<feed xmlns="http://purl.org/atom/ns#" version="0.3"><title>T</title><entry><id>urn:a</id>`), f, text("</entry></feed>"))
}

func jsonFeed(f flow) flow {
	return join(text(`{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[`), f, text("]}"))
}

// Items with nearly as many parts as one may have.
var (
	attached = join(text(`{"id":"a","attachments":[{}`), many(9_900, `,{"url":"a"}`), text(`]},`))
	authored = join(text(`{"id":"a","authors":[{}`), many(9_900, `,{"name":"a"}`), text(`]},`))
	enclosed = join(text(`<item><guid>a</guid>`), many(9_900, `<enclosure url='a'/>`), text(`</item>`))
)

var feeds = []struct {
	name    string
	verdict verdict
	feed    flow
}{
	{"RSS with laughs", loud, join(text(laughs("x")), item(text("<title>&e10;</title>")))},
	{"RSS with a file", loud, join(text(`<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]>`), item(text("<title>&x;</title>")))},
	{"deep RSS", refused, item(many(nested, "<a>"))},
	{"deep RSS description", loud, item(join(text("<description><![CDATA["), many(nested, "<b>"), text("]]></description>")))},
	{"RSS of a million attributes", anything, item(join(text("<enclosure"), numbered(1_000_000, ` a%d="b"`), text("/>")))},
	{"RSS of many items", refused, rss(many(60_000, "<item><guid>a</guid></item>"))},
	{"RSS without an end", refused, rss(many(3_000_000, "<item><guid>aaaaaaaa</guid></item>"))},
	{"RSS with a title in pieces", refused, core(join(text("<dc:title>"), many(250_000, "a<!--->-->"), text("</dc:title>")))},
	{"RSS of many dates", loud, item(many(400_000, "<pubDate>x</pubDate>"))},
	{"RSS of a title of control characters", refused, item(join(text("<title>"), many(12<<20, "\x01"), text("</title>")))},
	{"RSS of many links", refused, item(many(400_000, "<link>a</link>"))},
	{"RSS of many creators", refused, core(many(400_000, "<dc:creator>a</dc:creator>"))},
	{"RSS of many foreign elements", loud, core(many(480_000, "<dc:x/>"))},
	{"RSS of long ampersands", loud, item(join(text("<title>"), many(1<<20, "&"), text("</title>")))},
	{"RSS with many namespaces", refused, rss(join(text("<item"), numbered(200, ` xmlns:p%d="urn:x"`), text(">"), many(400_000, "<a/>"), text("</item>")))},
	{"RSS with stray end tags", refused, rss(join(many(400_000, "<a>b</a>"), many(20, "</x>")))},
	{"RSS of items with many parts", refused, rss(many(24_000, "<item><guid>a</guid><link>a</link><category>b</category><category>c</category><enclosure url='d'/><author>e</author></item>"))},
	{"RSS of long texts", loud, rss(slices.Repeat(join(text("<item><guid>a</guid><description>"), many(2_000_000, "a"), text("</description></item>")), 7))},
	{"RSS in another character set", refused, join(text(`<?xml version="1.0" encoding="shift_jis"?>`), item(join(text("<title>"), many(12<<20, "\xb1"), text("</title>"))))},
	{"Atom with formatting that multiplies", loud, atom03(join(text(`<content type="xhtml"><p>`), numbered(200, "<b a='%d'>"), many(100_000, "<p>x</p>"), many(200, "</b>"), text("</p></content>")))},
	{"Atom with a name that multiplies", loud, atom03(join(text(`<author><name x:type="&#120;html"><p>`), numbered(200, "<b a='%d'>"), many(100_000, "<p>x</p>"), many(200, "</b>"), text("</p></name></author>")))},
	{"Atom with a base everywhere", refused, atom03(many(20_000, `<link xml:base="http://x.example/`+strings.Repeat("b", 2000)+`/" href="a"/>`))},
	{"RSS cut", refused, text(`<rss version="2.0"><channel><item><guid>a</guid>`)},
	{"RSS of nothing", loud, text(`<rss/>`)},
	{"RSS with enclosures of absurd lengths", loud, item(text(`<enclosure url="http://x.example/a" length="-1" type="a"/><enclosure url="b" length="99999999999999999999999"/>`))},
	{"RSS with dates of the year 0", loud, item(text(`<pubDate>Sat, 01 Jan 0000 00:00:00 GMT</pubDate>`))},
	{"RSS with dates of the year 99999", loud, item(text(`<pubDate>Sat, 01 Jan 99999 00:00:00 GMT</pubDate>`))},
	{"RSS with long dates", loud, item(join(text(`<pubDate>`), many(1<<20, "1"), text(`</pubDate>`)))},
	{"RSS with bytes", loud, item(text("<title>\xff\x00\x01</title><link>http://x.example/\xfe</link>"))},
	{"RSS with lines in links", loud, item(text("<link>http://x.example/&#13;&#10;X: y</link>"))},
	{"RSS in UTF-7", loud, join(text(`<?xml version="1.0" encoding="UTF-7"?>`), item(text("+ADw-")))},
	{"RSS with content inside", refused, item(text(`<pubDate>Thu, 01 Oct 2026 00:00:00 GMT</pubDate><link>http://169.254.169.254/</link>`))},
	{"RSS without ids", loud, rss(text("<item/><item></item>"))},
	{"deep JSON", refused, jsonFeed(many(nested, "["))},
	{"deep JSON objects", refused, jsonFeed(join(many(nested, `{"a":`), text("1"), many(nested, "}")))},
	{"JSON of many items", refused, jsonFeed(join(many(60_000, `{"id":"a"},`), text(`{"id":"b"}`)))},
	{"JSON numbers", loud, jsonFeed(text(`{"id":1e999999}`))},
	{"JSON of duplicates", loud, jsonFeed(text(`{"id":"a","id":"b","ID":"c"}`))},
	{"JSON of long names", refused, jsonFeed(join(text(`{"`), many(16<<20, "a"), text(`":1,"id":"a"}`)))},
	{"JSON of escapes", refused, jsonFeed(join(text(`{"id":"a","title":"`), many(2<<20, `\u0000`), text(`"}`)))},
	{"JSON of attachments", refused, jsonFeed(join(text(`{"id":"a","attachments":[{}`), many(120_000, `,{"url":"a"}`), text(`]}`)))},
	{"JSON of items of attachments", refused, jsonFeed(join(slices.Repeat(attached, 12), text(`{"id":"b"}`)))},
	{"JSON of items of authors", refused, jsonFeed(join(slices.Repeat(authored, 20), text(`{"id":"b"}`)))},
	{"RSS of items of enclosures", refused, rss(slices.Repeat(enclosed, 13))},
	{"JSON of long numbers", refused, jsonFeed(join(text(`{"id":1`), many(12<<20, "0"), text("}")))},
	{"JSON with half a pair", loud, jsonFeed(text(`{"id":"\ud800","title":"\u0000"}`))},
	{"JSON with bytes", loud, jsonFeed(text("{\"id\":\"\xff\xfe\"}"))},
	{"JSON cut", refused, text(`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"a"}`)},
	{"JSON of nothing", refused, text(`{}`)},
	{"JSON of an error", refused, text(`{"error":"overloaded","items":null}`)},
	{"JSON of null", refused, text(`{"version":"https://jsonfeed.org/version/1.1","items":null}`)},
	{"JSON that goes on", loud, text(`{"version":"https://jsonfeed.org/version/1.1","title":"T","next_url":"/feed.atom","items":[]}`)},
	{"JSON with attachments of absurd sizes", loud, jsonFeed(text(`{"id":"a","attachments":[{"url":"http://x.example/","mime_type":"a\r\nb","size_in_bytes":-5},{"url":"x","mime_type":"","size_in_bytes":1e300}]}`))},
	{"JSON with dates of absurd years", loud, jsonFeed(text(`{"id":"a","date_modified":"99999-01-01T00:00:00Z","date_published":"0000-00-00"}`))},
}

// Feeds that are not Atom.
func TestFeeds(t *testing.T) {
	s := *shapeOf("anyfeed")
	s.source = func(base string) harvest.Source {
		return &atom.Source{URL: base + "/feed.atom", Parser: anyfeed.Parse}
	}
	for k, f := range feeds {
		if !*full && k%3 != 0 {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			attack(t, &s, f.verdict, func(w *world) {
				w.leads = []string{"169.254.169.254"}
				w.serve(s.path, as("text/xml", f.feed))
			})
		})
	}
}
