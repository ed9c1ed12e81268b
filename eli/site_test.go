package eli_test

import (
	"crypto/md5"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync/harvest/sourcetest"
)

const (
	law        = "https://law.example/"
	sitemapURL = law + "eli/sitemap.xml"
	feedURL    = law + "eli/eli-update-feed.atom"
	feedID     = "urn:law-example:eli:eli-update-feed"
)

// firstDay is day 0 of the publishers in tests.
var firstDay = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// dayOf returns a day as a date.
func dayOf(n int) string { return firstDay.AddDate(0, 0, n).Format(time.DateOnly) }

// timeOf returns noon of a day.
func timeOf(n int) string { return dayOf(n) + "T12:00:00Z" }

// dateHeader returns the end of a day by the server's clock.
func dateHeader(n int) map[string][]string {
	return map[string][]string{"Date": {firstDay.AddDate(0, 0, n).Add(20 * time.Hour).Format(http.TimeFormat)}}
}

// An urlEntry is one of a sitemap, or one of a feed.
type urlEntry struct{ uri, at string }

func (e urlEntry) element(of ...string) string {
	text := ""
	if e.at != "" {
		text = "<" + of[1] + ">" + e.at + "</" + of[1] + ">"
	}
	return "<" + of[0] + ">" + of[2] + text + "</" + of[0] + ">\n"
}

// entriesOf returns the entries of "name time" pairs below law/eli/; a name that has a
// colon is a whole URI.
func entriesOf(pairs []string) (all []urlEntry) {
	for _, pair := range pairs {
		name, at, _ := strings.Cut(pair, " ")
		if !strings.Contains(name, ":") {
			name = law + "eli/" + name
		}
		all = append(all, urlEntry{name, at})
	}
	return all
}

// urlset returns a sitemap of "name date" pairs.
func urlset(pairs ...string) string {
	var b strings.Builder
	b.WriteString(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, e := range entriesOf(pairs) {
		b.WriteString(e.element("url", "lastmod", "<loc>"+e.uri+"</loc>"))
	}
	return b.String() + "</urlset>\n"
}

// index returns an index of sitemaps.
func index(paths ...string) string {
	var b strings.Builder
	b.WriteString(`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n")
	for _, path := range paths {
		b.WriteString("<sitemap><loc>" + law + path + "</loc></sitemap>\n")
	}
	return b.String() + "</sitemapindex>\n"
}

// feed returns an update feed of "name time" pairs. A name that begins with a hyphen is a
// tombstone.
func feed(pairs ...string) string {
	var b strings.Builder
	b.WriteString(`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0"><id>` + feedID +
		`</id><title>Updates</title><updated>` + timeOf(0) + `</updated><author><name>Gazette</name></author><link rel="self" href="` + feedURL + `"/>` + "\n")
	for _, pair := range pairs {
		gone := strings.HasPrefix(pair, "-")
		e := entriesOf([]string{strings.TrimPrefix(pair, "-")})[0]
		if gone {
			b.WriteString(`<at:deleted-entry ref="` + e.uri + `" when="` + e.at + `"/>` + "\n")
			continue
		}
		b.WriteString(e.element("entry", "updated", "<title>"+e.uri+" as a title</title><id>"+e.uri+`</id><link href="`+e.uri+`"/>`))
	}
	return b.String() + "</feed>\n"
}

// rdfaPage returns the page of an act with formats, such as "en/html" and "fr/pdf", whose
// URLs are below that of the act.
func rdfaPage(uri, title string, formats ...string) string {
	languages := map[string][]string{}
	for _, f := range formats {
		lang, format, _ := strings.Cut(f, "/")
		languages[lang] = append(languages[lang], format)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<!DOCTYPE html><html prefix="eli: http://data.europa.eu/eli/ontology#"><head><title>%s</title></head><body>
<div about="%s" typeof="eli:LegalResource"><h1 property="eli:title">%s</h1>
`, title, uri, title)
	for _, lang := range slices.Sorted(maps.Keys(languages)) {
		code := map[string]string{"en": "ENG", "fr": "FRA", "de": "DEU"}[lang]
		fmt.Fprintf(&b, `<div rel="eli:is_realized_by"><div about="%s/%s" typeof="eli:LegalExpression">
<span property="eli:title" lang="%s">%s (%s)</span>
<a rel="eli:language" href="http://publications.europa.eu/resource/authority/language/%s"></a>
`, uri, lang, lang, title, lang, code)
		for _, format := range languages[lang] {
			media := map[string]string{"html": "text/html", "xml": "application/xml", "pdf": "application/pdf"}[format]
			fmt.Fprintf(&b, `<div rel="eli:is_embodied_by"><div about="%s/%s/%s" typeof="eli:Format">
<a rel="eli:media_type" href="https://www.iana.org/assignments/media-types/%s"></a></div></div>
`, uri, lang, format, media)
		}
		b.WriteString("</div></div>\n")
	}
	return b.String() + "</div></body></html>\n"
}

// shellPage is an application that has no metadata without scripts.
const shellPage = `<!DOCTYPE html><html><head><title>Laws</title></head><body><div id="app"></div><script src="/app.js"></script></body></html>`

// A lawSite builds the documents of a publisher.
type lawSite struct {
	sourcetest.Site
	header map[string][]string
}

// newSite returns the site of a publisher on a day.
func newSite(day int) *lawSite { return &lawSite{sourcetest.Site{}, dateHeader(day)} }

// add adds a document with an ETag at a URL, or at a path below law.
func (s *lawSite) add(url, contentType, body string) *lawSite {
	if !strings.Contains(url, ":") {
		url = law + url
	}
	header := maps.Clone(s.header)
	header["Content-Type"] = []string{contentType}
	s.Site[url] = sourcetest.Document{Body: body, ETag: fmt.Sprintf(`"%x"`, md5.Sum([]byte(body))), Header: header}
	return s
}

// lists adds a sitemap and a feed; an empty one is left out.
func (s *lawSite) lists(sitemap, feed string) *lawSite {
	if sitemap != "" {
		s.add(sitemapURL, "application/xml", sitemap)
	}
	if feed != "" {
		s.add(feedURL, "application/atom+xml", feed)
	}
	return s
}

// act adds the page of an act and the files of its formats.
func (s *lawSite) act(name, title string, formats ...string) *lawSite {
	uri := law + "eli/" + name
	s.add(uri, "text/html; charset=utf-8", rdfaPage(uri, title, formats...))
	for _, f := range formats {
		media := map[string]string{"html": "text/html", "xml": "application/xml", "pdf": "application/pdf"}[f[len(f)-len("xml")-strings.Count(f, "html"):]]
		s.add(uri+"/"+f, media, title+" in "+f)
	}
	return s
}

// gone makes the answer for a path a status.
func (s *lawSite) gone(path string, status int) *lawSite {
	s.Site[law+path] = sourcetest.Document{Status: status}
	return s
}

// moved makes a path redirect to another.
func (s *lawSite) moved(path, to string) *lawSite {
	s.Site[law+path] = sourcetest.Document{Location: law + to}
	return s
}
