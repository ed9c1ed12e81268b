// Package bench has what benchmarks need: irregular documents, measurements side by side,
// and a bare loop of GETs.
//
// The documents are as the web has them: children come and go and change places, texts
// are short and long and in several scripts, URLs have ampersands, and there are
// comments. A seed decides everything.
package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Script is what the texts of a document are written in.
type Script int

// The scripts.
const (
	Mixed Script = iota // each text in one of the others
	Latin
	Russian
	Greek
	Chinese
)

// Scripts are all of them by name.
var Scripts = []struct {
	Name string
	Script
}{{"mixed", Mixed}, {"latin", Latin}, {"russian", Russian}, {"greek", Greek}, {"chinese", Chinese}}

// A writer writes one document.
type writer struct {
	bytes.Buffer
	*rand.Rand
	script Script
	indent bool
}

func newWriter(seed uint64, script Script) *writer {
	r := rand.New(rand.NewPCG(seed, uint64(script)))
	return &writer{Rand: r, script: script, indent: r.IntN(2) == 0}
}

// chance reports true in that many of a hundred cases.
func (w *writer) chance(percent int) bool { return w.IntN(100) < percent }

// line begins a line, if the document has any.
func (w *writer) line(depth int) {
	if w.indent {
		w.WriteString("\n" + strings.Repeat("  ", depth))
	}
}

// element writes an element with a text that is already escaped.
func (w *writer) element(depth int, name, text string) {
	w.line(depth)
	fmt.Fprintf(w, "<%s>%s</%s>", name, text, name)
}

// shuffled calls some functions, each in its percentage of cases, in any order.
func (w *writer) shuffled(percent []int, write ...func()) {
	for _, i := range w.Perm(len(write)) {
		if w.chance(percent[i]) {
			write[i]()
		}
	}
}

// words are common words of each script's language.
var words = map[Script][]string{
	Latin:   strings.Fields("the library of law and science keeps every record for readers who ask Straße forêt años række"),
	Russian: strings.Fields("закон о порядке опубликования и вступления в силу федеральных конституционных законов палат собрания"),
	Greek:   strings.Fields("νόμος για την προστασία του περιβάλλοντος και τη δημόσια υγεία εφημερίδα της κυβερνήσεως τεύχος"),
	Chinese: strings.Fields("中华人民共和国 法律 全国人民代表大会 常务委员会 公布 施行 条例 国务院 办公厅 通知 关于 环境保护"),
}

// text returns n words, escaped.
func (w *writer) text(n int) string {
	script := w.script
	if script == Mixed {
		script = Script(1 + w.IntN(4))
	}
	list := words[script]
	var b strings.Builder
	for i := range n {
		switch {
		case i == 0:
		case script == Chinese && w.chance(80):
			b.WriteString([]string{"", "，", "、"}[w.IntN(3)])
		case w.chance(4):
			b.WriteString(" &amp; ")
		case w.chance(2):
			b.WriteString(" &lt;1&gt; ")
		default:
			b.WriteByte(' ')
		}
		b.WriteString(list[w.IntN(len(list))])
	}
	return b.String()
}

// url returns a URL, escaped; some have parameters or characters outside ASCII.
func (w *writer) url(i int) string {
	u := fmt.Sprintf("https://www.example.org/%s/%d", []string{"a", "catalogue/items", "eli/lov/2024", "archiv/band-17/heft"}[w.IntN(4)], i)
	switch {
	case w.chance(30):
		u += fmt.Sprintf("?id=%d&amp;lang=%s", w.IntN(1e6), []string{"de", "el", "zh"}[w.IntN(3)])
		if w.chance(40) {
			u += "&amp;session=" + fmt.Sprintf("%x", w.Uint64())
		}
	case w.chance(10):
		u += "/%D0%B7%D0%B0%D0%BA%D0%BE%D0%BD.html"
	case w.chance(50):
		u += ".html"
	}
	return u
}

// date returns a W3C datetime of any precision.
func (w *writer) date() string {
	d := fmt.Sprintf("20%02d-%02d-%02d", 5+w.IntN(20), 1+w.IntN(12), 1+w.IntN(28))
	t := fmt.Sprintf("T%02d:%02d", w.IntN(24), w.IntN(60))
	switch w.IntN(6) {
	case 0:
		return d
	case 1:
		return d + t + "+02:00"
	case 2:
		return d + t + fmt.Sprintf(":%02d.%03dZ", w.IntN(60), w.IntN(1000))
	}
	return d + t + fmt.Sprintf(":%02dZ", w.IntN(60))
}

// instant returns a time as Atom and ResourceSync have it.
func (w *writer) instant() string {
	return fmt.Sprintf("20%02d-%02d-%02dT%02d:%02d:%02dZ", 5+w.IntN(20), 1+w.IntN(12), 1+w.IntN(28), w.IntN(24), w.IntN(60), w.IntN(60))
}

// comment writes one between two entries, rarely.
func (w *writer) comment() {
	if w.chance(3) {
		w.line(1)
		fmt.Fprintf(w, "<!-- %s -->", strings.NewReplacer("&amp;", "", "&lt;", "", "&gt;", "").Replace(w.text(5)))
	}
}

// attrs writes some attributes in any order; each is a name and a value that is escaped.
func (w *writer) attrs(percent int, attrs ...string) {
	for _, i := range w.Perm(len(attrs) / 2) {
		if w.chance(percent) {
			fmt.Fprintf(w, " %s=\"%s\"", attrs[2*i], attrs[2*i+1])
		}
	}
}

// media are types of resources.
var media = []string{"text/html", "application/pdf", "application/rdf+xml", "text/plain; charset=utf-8"}

func (w *writer) media() string { return media[w.IntN(len(media))] }

// document returns what was written.
func (w *writer) document(root string) []byte {
	if w.indent {
		w.WriteByte('\n')
	}
	fmt.Fprintf(w, "</%s>\n", root)
	return w.Bytes()
}

// Sitemap returns a sitemap with n entries, without extensions.
func Sitemap(seed uint64, n int, script Script) []byte { return sitemap(seed, n, script, false) }

// Extended returns a sitemap with n entries, most of them with images, videos or
// alternates.
func Extended(seed uint64, n int, script Script) []byte { return sitemap(seed, n, script, true) }

func sitemap(seed uint64, n int, script Script, extended bool) []byte {
	w := newWriter(seed, script)
	w.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`)
	if extended {
		w.WriteString(` xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"` +
			` xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"`)
	}
	w.WriteByte('>')
	for i := range n {
		w.comment()
		w.line(1)
		w.WriteString("<url>")
		w.element(2, "loc", w.url(i))
		w.shuffled([]int{80, 40, 40},
			func() { w.element(2, "lastmod", w.date()) },
			func() {
				w.element(2, "changefreq", []string{"daily", "weekly", "monthly", "yearly"}[w.IntN(4)])
			},
			func() { w.element(2, "priority", fmt.Sprintf("0.%d", 1+w.IntN(9))) })
		if extended {
			w.shuffled([]int{50, 15, 40}, func() { w.images(i) }, func() { w.video(i) }, func() { w.alternates(i) })
		}
		w.line(1)
		w.WriteString("</url>")
	}
	return w.document("urlset")
}

func (w *writer) images(i int) {
	for range 1 + w.IntN(3) {
		w.line(2)
		w.WriteString("<image:image>")
		w.element(3, "image:loc", w.url(i))
		if w.chance(40) {
			w.element(3, "image:caption", w.text(3+w.IntN(8)))
		}
		w.line(2)
		w.WriteString("</image:image>")
	}
}

func (w *writer) video(i int) {
	w.line(2)
	w.WriteString("<video:video>")
	w.element(3, "video:thumbnail_loc", w.url(i))
	w.element(3, "video:title", w.text(2+w.IntN(5)))
	w.element(3, "video:description", w.text(10+w.IntN(40)))
	w.element(3, "video:content_loc", w.url(i))
	w.shuffled([]int{60, 40}, func() { w.element(3, "video:duration", fmt.Sprint(1+w.IntN(3600))) },
		func() {
			w.line(3)
			w.WriteString(`<video:restriction relationship="allow">IE GB US</video:restriction>`)
		})
	w.line(2)
	w.WriteString("</video:video>")
}

func (w *writer) alternates(i int) {
	for _, lang := range []string{"de", "el", "zh-Hans", "x-default"}[:1+w.IntN(4)] {
		w.line(2)
		fmt.Fprintf(w, `<xhtml:link rel="alternate" hreflang="%s" href="%s"/>`, lang, w.url(i))
	}
}

// ResourceList returns a Resource List of ResourceSync with n entries.
func ResourceList(seed uint64, n int, script Script) []byte {
	w := newWriter(seed, script)
	w.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"` +
		` xmlns:rs="http://www.openarchives.org/rs/terms/">`)
	w.line(1)
	w.WriteString(`<rs:ln rel="up" href="https://www.example.org/capabilitylist.xml"/>`)
	w.line(1)
	w.WriteString(`<rs:md capability="resourcelist" at="2025-01-03T09:00:00Z" completed="2025-01-03T09:01:00Z"/>`)
	for i := range n {
		w.comment()
		w.line(1)
		w.WriteString("<url>")
		w.element(2, "loc", w.url(i))
		w.shuffled([]int{85, 20, 90},
			func() { w.element(2, "lastmod", w.instant()) },
			func() { w.element(2, "changefreq", "monthly") },
			func() {
				w.line(2)
				w.WriteString("<rs:md")
				hash := fmt.Sprintf("md5:%016x%016x", w.Uint64(), w.Uint64())
				if w.chance(50) {
					hash += fmt.Sprintf(" sha-256:%016x%016x%016x%016x", w.Uint64(), w.Uint64(), w.Uint64(), w.Uint64())
				}
				w.attrs(75, "hash", hash, "length", fmt.Sprint(w.IntN(1e6)), "type", w.media())
				w.WriteString("/>")
			})
		for range w.IntN(3) {
			w.line(2)
			fmt.Fprintf(w, `<rs:ln rel="%s" href="%s"`, []string{"describedby", "alternate", "duplicate", "collection"}[w.IntN(4)], w.url(i))
			w.attrs(30, "type", w.media(), "modified", w.instant(), "length", fmt.Sprint(w.IntN(1e6)), "pri", fmt.Sprint(1+w.IntN(3)))
			w.WriteString("/>")
		}
		w.line(1)
		w.WriteString("</url>")
	}
	return w.document("urlset")
}

// Atom returns a feed with n entries.
func Atom(seed uint64, n int, script Script) []byte {
	w := newWriter(seed, script)
	w.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:dct="http://purl.org/dc/terms/"` +
		` xmlns:le="http://purl.org/atompub/link-extensions/1.0">`)
	w.element(1, "id", "https://www.example.org/feed")
	w.element(1, "title", w.text(4))
	w.element(1, "updated", w.instant())
	for i := range n {
		w.comment()
		w.line(1)
		w.WriteString("<entry>")
		w.shuffled([]int{100, 100, 100, 60, 60, 70, 30, 40, 20},
			func() { w.element(2, "id", fmt.Sprintf("tag:example.org,2025:%d", i)) },
			func() { w.element(2, "title", w.text(3+w.IntN(10))) },
			func() { w.element(2, "updated", w.instant()) },
			func() { w.element(2, "published", w.instant()) },
			func() { w.element(2, "author", "<name>"+w.text(2)+"</name>") },
			func() { w.element(2, "summary", w.text(5+w.IntN(60))) },
			func() {
				w.line(2)
				fmt.Fprintf(w, `<category term="t%d" scheme="https://www.example.org/terms" label="%s"/>`, w.IntN(90), w.text(2))
			},
			func() { w.element(2, "dct:identifier", fmt.Sprintf("SFS %d:%d", 1900+w.IntN(125), w.IntN(900))) },
			func() {
				w.line(2)
				fmt.Fprintf(w, `<content type="html">&lt;p&gt;%s&lt;/p&gt;</content>`, w.text(20+w.IntN(60)))
			})
		for k := range 1 + w.IntN(3) {
			w.line(2)
			fmt.Fprintf(w, `<link rel="%s" href="%s"`, []string{"alternate", "enclosure", "related"}[k], w.url(i))
			w.attrs(50, "type", media[k], "length", fmt.Sprint(w.IntN(1e6)), "title", w.text(2),
				"le:md5", fmt.Sprintf("%016x%016x", w.Uint64(), w.Uint64()))
			w.WriteString("/>")
		}
		w.line(1)
		w.WriteString("</entry>")
	}
	return w.document("feed")
}
