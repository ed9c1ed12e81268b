package instep

import (
	"bytes"
	"compress/gzip"
	"strings"

	"github.com/websync-go/websync/sitemap"
)

const sitemapRoot = ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`

// urlset returns a sitemap of entries.
func urlset(entries ...entry) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<urlset" + sitemapRoot + "\n")
	for _, e := range entries {
		b.WriteString("<url><loc>" + url(e.id) + "</loc>")
		if e.time != "" {
			b.WriteString("<lastmod>" + e.time + "</lastmod>")
		}
		b.WriteString("</url>\n")
	}
	b.WriteString("</urlset>\n")
	return b.String()
}

// index returns an index of sitemaps: the ids and times of entries.
func index(parts ...entry) string {
	text := strings.NewReplacer("urlset", "sitemapindex", "<url>", "<sitemap>", "</url>", "</sitemap>").Replace(urlset(parts...))
	return text
}

// lines returns a text sitemap.
func lines(entries ...entry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(url(e.id) + "\n")
	}
	return b.String()
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(s))
	z.Close()
	return b.String()
}

const (
	longAgo = "2026-02-20T08:00:00Z"
	today   = "2026-03-02T06:00:00Z" // some hours before the second run
)

// sitemapRows are those of the parts of an index.
func sitemapRows() []row {
	a, b := entries("a", "2026-02-19T08:00:00Z", 5), entries("b", "2026-02-18T08:00:00Z", 5)
	newA := with(a, changed(a[:1], today)[0], entry{"a/new", today, "text of a/new"})
	// once has a part that comes wrong in the second run, just after the index has
	// changed, and right in the third.
	once := func(wrong []entry, made string) []variant {
		return each(func(w *world, as func(body, at string) answer) {
			src := &sitemap.Source{URL: base + "sitemap.xml"}
			old := index(entry{"a.xml", longAgo, ""}, entry{"b.xml", longAgo, ""})
			w.serve("sitemap.xml", as(old, longAgo))
			w.serve("a.xml", as(urlset(a...), longAgo))
			w.serve("b.xml", as(urlset(b...), "2026-02-20T08:00:01Z"))
			w.pages(a...)
			w.pages(b...)
			w.inStep(w.run(src), "first run")
			w.holds("first run", append(a, b...)...)

			w.nextDay()
			w.serve("sitemap.xml", as(index(entry{"a.xml", today, ""}, entry{"b.xml", longAgo, ""}), today))
			w.serve("a.xml", as(urlset(wrong...), made))
			w.run(src)
			w.holds("the part came wrong", append(a, b...)...)

			w.nextDay()
			w.serve("a.xml", as(urlset(newA...), today))
			w.pages(newA...)
			w.inStep(w.run(src), "the part is right again")
			w.holds("the part is right again", append(newA, b...)...)

			w.nextDay()
			w.inStep(w.run(src), "nothing has changed")
			w.holds("nothing has changed", append(newA, b...)...)
		})
	}
	never := each(func(w *world, as func(body, at string) answer) {
		src := &sitemap.Source{URL: base + "sitemap.xml"}
		w.serve("sitemap.xml", as(index(entry{"a.xml", longAgo, ""}, entry{"b.xml", longAgo, ""}), longAgo))
		w.serve("a.xml", as(urlset(a...), longAgo))
		w.serve("b.xml", as(urlset(b...), longAgo))
		w.pages(a...)
		w.pages(b...)
		w.inStep(w.run(src), "first run")
		w.holds("first run", append(a, b...)...)

		w.nextDay()
		w.serve("a.xml", as(urlset(newA...), today))
		w.pages(newA...)
		w.inStep(w.run(src), "a part has changed")
		w.holds("a part has changed", append(newA, b...)...)

		w.nextDay()
		newB := changed(b[:3], "2026-03-03T06:00:00Z")
		w.serve("b.xml", as(urlset(with(b, newB...)...), "2026-03-03T06:00:00Z"))
		w.pages(newB...)
		w.inStep(w.run(src), "the other part has changed")
		w.holds("the other part has changed", append(newA, with(b, newB...)...)...)
	})
	return []row{
		{"a cache sent the old part of an index just after the index changed", once(a, longAgo)},
		{"a cache sent an empty part of an index just after the index changed", once(nil, today)},
		{"a cache sent another part of an index just after the index changed", once(b, "2026-02-20T08:00:01Z")},
		{"the lastmod in an index never moves while parts do", never},
	}
}
