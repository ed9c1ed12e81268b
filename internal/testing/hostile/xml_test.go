package hostile

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/websync-go/websync/internal/testing/racing"
)

// An xmlAttack changes the document under attack.
type xmlAttack struct {
	name    string
	verdict verdict
	big     bool // it is sent for few shapes only
	// memory, if set, is the limit: a value of 8 MiB is held up to eight times
	memory int64
	change func(w *world, d *document)
	// whole, if set, is sent instead
	whole func(w *world, honest flow, s *shape) flow
}

const nested = 400_000

func declared(s string) flow { return text("<?xml version=\"1.0\"?>\n" + s + "\n") }

// laughs declares ten entities, each ten times the one before.
func laughs(first string) string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE r [<!ENTITY e0 \"" + first + "\">")
	for i := range 10 {
		fmt.Fprintf(&b, "<!ENTITY e%d \"%s\">", i+1, strings.Repeat(fmt.Sprintf("&e%d;", i), 10))
	}
	return b.String() + "]>"
}

// recode writes a text in another character set.
func recode(e encoding.Encoding, s string) flow {
	out, err := e.NewEncoder().String(s)
	if err != nil {
		panic(err)
	}
	return text(out)
}

func replaced(f flow, old, new string) flow { return text(strings.ReplaceAll(f.String(), old, new)) }

var xmlAttacks = []xmlAttack{
	// document type definitions
	{name: "billion laughs", change: func(_ *world, d *document) {
		d.prologue, d.id = declared(laughs("lol")), text("http://x.example/&e10;")
	}},
	{name: "billion laughs in an attribute", change: func(_ *world, d *document) {
		d.prologue, d.attrs = declared(laughs("lol")), text(` title="&e10;"`)
	}},
	{name: "quadratic entities", change: func(_ *world, d *document) {
		d.prologue = join(declared(""), text(`<!DOCTYPE r [<!ENTITY a "`), many(100_000, "a"), text(`">]>`))
		d.inner = join(text("<x>"), many(20_000, "&a;"), text("</x>"))
	}},
	{name: "entity that contains itself", change: func(_ *world, d *document) {
		d.prologue, d.when = declared(`<!DOCTYPE r [<!ENTITY a "&b;"><!ENTITY b "&a;">]>`), text("&a;")
	}},
	{name: "external entity of a file", change: func(w *world, d *document) {
		d.prologue = declared(`<!DOCTYPE r [<!ENTITY x SYSTEM "file://` + filepath.Join(filepath.Dir(w.dir), "secret.txt") + `">]>`)
		d.id = text("http://x.example/&x;")
	}},
	{name: "external entity of a service inside", change: func(_ *world, d *document) {
		d.prologue, d.id = declared(`<!DOCTYPE r [<!ENTITY x SYSTEM "`+inside.url()+`/">]>`), text("http://x.example/&x;")
	}},
	{name: "parameter entities that send a file", change: func(w *world, d *document) {
		d.prologue = declared(`<!DOCTYPE r [<!ENTITY % f SYSTEM "file://` + filepath.Join(filepath.Dir(w.dir), "secret.txt") +
			`"><!ENTITY % d SYSTEM "` + inside.url() + `/evil.dtd"> %d; %f;]>`)
	}},
	{name: "external subset", change: func(_ *world, d *document) {
		d.prologue = declared(`<!DOCTYPE urlset PUBLIC "-//X//Y" "` + inside.url() + `/x.dtd">`)
	}},
	{name: "endless DTD", big: true, verdict: refused, change: func(_ *world, d *document) {
		d.prologue = join(declared("<!DOCTYPE r ["), many(4_000_000, "<!ENTITY a 'aaaaaaaa'>"))
	}},
	{name: "DTD nested without end", verdict: refused, change: func(_ *world, d *document) {
		d.prologue = join(declared("<!DOCTYPE r "), many(nested, "["))
	}},
	{name: "undeclared entity", change: func(_ *world, d *document) { d.id = text("http://x.example/&nope;") }},
	{name: "style sheet and inclusion", change: func(_ *world, d *document) {
		d.prologue = declared(`<?xml-stylesheet href="` + inside.url() + `/x.xsl" type="text/xsl"?>`)
		d.inner = text(`<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="` + inside.url() + `/x"/>`)
	}, verdict: anything},

	// depth, number and size
	{name: "deep and open", verdict: refused, change: func(_ *world, d *document) { d.inner, d.end = many(nested, "<a>"), text("") }},
	{name: "deep and closed", change: func(_ *world, d *document) { d.inner = join(many(nested, "<a>"), many(nested, "</a>")) }},
	{name: "deep in another namespace", change: func(_ *world, d *document) {
		d.inner = join(many(nested, `<x:a xmlns:x="urn:x">`), many(nested, `</x:a>`))
	}},
	{name: "deep after the root", verdict: refused, change: func(_ *world, d *document) { d.end = many(nested, "<url>") }},
	{name: "million attributes", verdict: anything, change: func(_ *world, d *document) {
		d.inner = join(text("<x"), numbered(1_000_000, ` a%d=""`), text("/>"))
	}},
	{name: "million attributes of the root", verdict: anything, change: func(_ *world, d *document) { d.attrs = numbered(1_000_000, ` a%d=""`) }},
	{name: "million namespaces", verdict: anything, change: func(_ *world, d *document) { d.attrs = numbered(1_000_000, ` xmlns:n%d="u"`) }},
	{name: "namespaces at every depth", verdict: anything, change: func(_ *world, d *document) {
		d.inner = join(numbered(60, `<x xmlns:n%d="u">`), many(60, "</x>"))
	}},
	{name: "million children", verdict: anything, change: func(_ *world, d *document) { d.inner = many(1_000_000, `<x:a xmlns:x="urn:x">b</x:a>`) }},
	{name: "gigantic text", big: true, change: func(_ *world, d *document) { d.id = join(text("http://x.example/"), many(72<<20, "a")) }},
	{name: "gigantic time", big: true, memory: 80 << 20, change: func(_ *world, d *document) { d.when = many(72<<20, "2") }},
	{name: "gigantic attribute", big: true, change: func(_ *world, d *document) { d.inner = join(text(`<x a="`), many(72<<20, "a"), text(`"/>`)) }, verdict: anything},
	{name: "gigantic attribute of the root", big: true, change: func(_ *world, d *document) { d.attrs = join(text(` a="`), many(72<<20, "a"), text(`"`)) }, verdict: anything},
	{name: "gigantic name", big: true, change: func(_ *world, d *document) { d.inner = join(text("<"), many(72<<20, "a"), text("/>")) }},
	{name: "gigantic prefix", big: true, change: func(_ *world, d *document) { d.inner = join(text("<"), many(72<<20, "a"), text(":b/>")) }},
	{name: "gigantic root", big: true, verdict: refused, whole: func(*world, flow, *shape) flow { return join(text("<"), many(72<<20, "a"), text("/>")) }},
	{name: "gigantic comment", big: true, verdict: anything, change: func(_ *world, d *document) { d.inner = join(text("<!--"), many(72<<20, "a"), text("-->")) }},
	{name: "open comment", big: true, verdict: refused, change: func(_ *world, d *document) { d.inner, d.end = join(text("<!--"), many(72<<20, "- ")), text("") }},
	{name: "open CDATA", big: true, verdict: refused, change: func(_ *world, d *document) { d.when, d.end = join(text("<![CDATA["), many(72<<20, "]")), text("") }},
	{name: "open instruction", big: true, verdict: refused, change: func(_ *world, d *document) { d.inner, d.end = join(text("<?x "), many(72<<20, "?")), text("") }},
	{name: "gigantic white space", big: true, verdict: anything, change: func(_ *world, d *document) { d.inner = many(72<<20, "\n") }},
	{name: "white space only", big: true, verdict: refused, whole: func(*world, flow, *shape) flow { return many(72<<20, " ") }},
	{name: "white space before the declaration", verdict: anything, whole: func(_ *world, honest flow, _ *shape) flow { return join(many(1<<20, "\n"), honest) }},

	// not well-formed
	{name: "mismatched end", verdict: refused, change: func(_ *world, d *document) { d.inner = text("<a><b></a></b>") }},
	{name: "duplicate attributes", change: func(_ *world, d *document) { d.inner = text(`<x a="1" a="2"/>`) }},
	{name: "unbound prefix", change: func(_ *world, d *document) { d.inner = text(`<nope:x/>`) }},
	{name: "prefix xmlns bound", change: func(_ *world, d *document) { d.inner = text(`<x xmlns:xmlns="urn:x" xmlns:xml="urn:y"/>`) }},
	{name: "less-than in an attribute", change: func(_ *world, d *document) { d.inner = text(`<x a="<"/>`) }},
	{name: "two hyphens in a comment", change: func(_ *world, d *document) { d.inner = text(`<!-- a -- b --->`) }},
	{name: "bare ampersand", change: func(_ *world, d *document) { d.id = text("http://x.example/a?b&c=d") }},
	{name: "two roots", whole: func(_ *world, honest flow, s *shape) flow {
		return join(honest, text("<"+s.root+"/>"))
	}},
	{name: "text after the root", whole: func(_ *world, honest flow, _ *shape) flow { return join(honest, text("and so on")) }},
	{name: "endless text after the root", big: true, whole: func(_ *world, honest flow, _ *shape) flow { return join(honest, many(72<<20, "a")) }},
	{name: "end of the root missing", verdict: refused, change: func(_ *world, d *document) { d.end = text("") }},
	{name: "cut in an entry", verdict: refused, whole: func(_ *world, honest flow, _ *shape) flow { s := honest.String(); return text(s[:len(s)/2]) }},
	{name: "cut after the root's start", verdict: refused, whole: func(_ *world, honest flow, s *shape) flow {
		all := honest.String()
		at := strings.Index(all, "<"+s.root)
		return text(all[:at+strings.Index(all[at:], ">")+1])
	}},
	{name: "cut in the declaration", verdict: refused, whole: func(*world, flow, *shape) flow { return text("<?xml vers") }},
	{name: "mark of order only", verdict: refused, whole: func(*world, flow, *shape) flow { return text("\ufeff") }},

	// another document
	{name: "nothing", verdict: refused, whole: func(*world, flow, *shape) flow { return nil }},
	{name: "login page", verdict: refused, whole: func(*world, flow, *shape) flow {
		return text("<!DOCTYPE html><html><head><title>Log in</title></head><body><form action=/login></form></body></html>")
	}},
	{name: "login page in XHTML", verdict: refused, whole: func(*world, flow, *shape) flow {
		return text(`<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>Log in</title></head><body/></html>`)
	}},
	{name: "error in JSON", verdict: refused, whole: func(*world, flow, *shape) flow { return text(`{"error":"overloaded"}`) }},
	{name: "one word", verdict: refused, whole: func(*world, flow, *shape) flow { return text("OK\n") }},
	{name: "NUL bytes only", verdict: refused, whole: func(*world, flow, *shape) flow { return many(1<<20, "\x00") }},
	{name: "another namespace", whole: func(_ *world, honest flow, _ *shape) flow {
		return replaced(replaced(honest, `"http://www.sitemaps.org/schemas/sitemap/0.9"`, `"urn:x"`), `"http://www.w3.org/2005/Atom"`, `"urn:x"`)
	}},
	{name: "another root", verdict: refused, whole: func(_ *world, honest flow, s *shape) flow {
		return replaced(replaced(honest, "<"+s.root+" ", "<nothing "), "</"+s.root+">", "</nothing>")
	}},
	{name: "root in a wrapper", verdict: refused, whole: func(_ *world, honest flow, _ *shape) flow {
		all := honest.String()
		return text("<soap:Envelope xmlns:soap='urn:s'>" + all[strings.Index(all, "?>")+2:] + "</soap:Envelope>")
	}},

	// bytes and character sets
	{name: "invalid UTF-8 in an id", change: func(_ *world, d *document) { d.id = text("http://x.example/\xff\xfe\xc0\xaf") }},
	{name: "invalid UTF-8 in a time", change: func(_ *world, d *document) { d.when = text("2026-10-02T00:00:00Z\x80") }},
	{name: "invalid UTF-8 in an attribute", change: func(_ *world, d *document) { d.inner = text("<x a='\xed\xa0\x80'/>") }},
	{name: "invalid UTF-8 in a name", change: func(_ *world, d *document) { d.inner = text("<x\xf8\x88/>") }},
	{name: "invalid UTF-8 in a comment", verdict: anything, change: func(_ *world, d *document) { d.inner = text("<!-- \xf5 -->") }},
	{name: "overlong less-than", change: func(_ *world, d *document) { d.inner = text("\xc0\xbca/\xc0\xbe") }},
	{name: "cut character at the end", change: func(_ *world, d *document) { d.when = text("2026-10-02\xe2\x82") }},
	{name: "NUL in an id", change: func(_ *world, d *document) { d.id = text("http://x.example/a\x00b") }},
	{name: "NUL in a name", change: func(_ *world, d *document) { d.inner = text("<x\x00/>") }},
	{name: "control characters", change: func(_ *world, d *document) { d.id = text("http://x.example/\x01\x1b[2J\x7f") }},
	{name: "not a character", change: func(_ *world, d *document) { d.id = text("http://x.example/\ufffe\uffff") }},
	{name: "reference to NUL", change: func(_ *world, d *document) { d.id = text("http://x.example/&#0;") }},
	{name: "reference to a surrogate", change: func(_ *world, d *document) { d.id = text("http://x.example/&#xD800;") }},
	{name: "reference beyond Unicode", change: func(_ *world, d *document) { d.id = text("http://x.example/&#x110000;") }},
	{name: "reference beyond all numbers", change: func(_ *world, d *document) {
		d.id = join(text("http://x.example/&#"), many(1<<20, "9"), text(";"))
	}},
	{name: "reference without an end", change: func(_ *world, d *document) { d.id = join(text("http://x.example/&#x"), many(1<<20, "0")) }},
	{name: "two marks of order", whole: func(_ *world, honest flow, _ *shape) flow { return join(text("\ufeff\ufeff"), honest) }, verdict: anything},
	{name: "mark and another declaration", verdict: anything, whole: func(_ *world, honest flow, _ *shape) flow {
		return join(text("\ufeff"), replaced(honest, "UTF-8", "ISO-8859-1"))
	}},
	{name: "UTF-8 declared as UTF-16", verdict: anything, whole: func(_ *world, honest flow, _ *shape) flow { return replaced(honest, "UTF-8", "UTF-16") }},
	{name: "UTF-16 declared as UTF-8", verdict: anything, whole: func(_ *world, honest flow, _ *shape) flow {
		return recode(unicode.UTF16(unicode.BigEndian, unicode.UseBOM), honest.String())
	}},
	{name: "UTF-16 without a mark", verdict: anything, whole: func(_ *world, honest flow, _ *shape) flow {
		return recode(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), honest.String())
	}},
	{name: "UTF-16 with a wrong mark", verdict: refused, whole: func(_ *world, honest flow, _ *shape) flow {
		return join(text("\xff\xfe"), recode(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), honest.String()))
	}},
	{name: "UTF-16 with half a pair", whole: func(_ *world, honest flow, _ *shape) flow {
		all := recode(unicode.UTF16(unicode.BigEndian, unicode.UseBOM), strings.ReplaceAll(honest.String(), "hostile", "h!stile")).String()
		return text(strings.ReplaceAll(all, "\x00h\x00!", "\x00h\xd8\x00"))
	}},
	{name: "UTF-16 cut in a character", verdict: refused, whole: func(_ *world, honest flow, _ *shape) flow {
		all := recode(unicode.UTF16(unicode.BigEndian, unicode.UseBOM), honest.String()).String()
		return text(all[:len(all)/2|1])
	}},
	{name: "UTF-32", verdict: anything, whole: func(_ *world, honest flow, _ *shape) flow {
		return recode(utf32.UTF32(utf32.BigEndian, utf32.UseBOM), honest.String())
	}},
	{name: "UTF-7", verdict: refused, whole: func(_ *world, honest flow, _ *shape) flow {
		return replaced(replaced(replaced(honest, "UTF-8", "UTF-7"), "<url", "+ADw-url"), "<entry", "+ADw-entry")
	}},
	{name: "UTF-7 in an id", change: func(_ *world, d *document) {
		d.prologue, d.id = text(`<?xml version="1.0" encoding="UTF-7"?>`), text("http://x.example/+ADw-script+AD4-")
	}},
	{name: "EBCDIC", verdict: refused, whole: func(_ *world, honest flow, _ *shape) flow { return recode(charmap.CodePage037, honest.String()) }},
	{name: "character set of nobody", change: func(_ *world, d *document) { d.prologue = text(`<?xml version="1.0" encoding="x-evil"?>`) }},
	{name: "character set with an injection", change: func(_ *world, d *document) {
		d.prologue = text("<?xml version=\"1.0\" encoding=\"../../etc/passwd\r\nX: y\"?>")
	}},
	{name: "character set of a megabyte", change: func(_ *world, d *document) {
		d.prologue = join(text(`<?xml version="1.0" encoding="`), many(1<<20, "u"), text(`"?>`))
	}},
	{name: "stateful character set", verdict: anything, change: func(_ *world, d *document) {
		d.prologue, d.inner = text(`<?xml version="1.0" encoding="ISO-2022-JP"?>`), text("<!-- \x1b$B -->")
	}},
	{name: "XML 1.1", verdict: anything, change: func(_ *world, d *document) { d.prologue = text(`<?xml version="1.1"?>`) }},
	{name: "XML 9.9", verdict: anything, change: func(_ *world, d *document) { d.prologue = text(`<?xml version="9.9"?>`) }},
	{name: "declaration in the middle", change: func(_ *world, d *document) { d.inner = text(`<?xml version="1.0" encoding="UTF-16"?>`) }},

	// times
	{name: "year 0", change: func(_ *world, d *document) { d.when = text("0000-01-01T00:00:00Z") }, verdict: anything},
	{name: "year 9999", change: func(_ *world, d *document) { d.when = text("9999-12-31T23:59:59Z") }, verdict: anything},
	{name: "year 9999 west", change: func(_ *world, d *document) { d.when = text("9999-12-31T23:59:59-14:00") }, verdict: anything},
	{name: "year 10000", change: func(_ *world, d *document) { d.when = text("10000-01-01T00:00:00Z") }},
	{name: "negative year", change: func(_ *world, d *document) { d.when = text("-2026-01-01T00:00:00Z") }},
	{name: "year 292277026596", change: func(_ *world, d *document) { d.when = text("292277026596-12-04T15:30:08Z") }},
	{name: "30 February", change: func(_ *world, d *document) { d.when = text("2026-02-30T00:00:00Z") }},
	{name: "zone of 99 hours", change: func(_ *world, d *document) { d.when = text("2026-10-02T00:00:00+99:99") }},
	{name: "fraction of a megabyte", verdict: anything, change: func(_ *world, d *document) {
		d.when = join(text("2026-10-02T00:00:00."), many(1<<20, "9"), text("Z"))
	}},
	{name: "other digits", change: func(_ *world, d *document) { d.when = text("٢٠٢٦-10-02T00:00:00Z") }},
	{name: "time with an injection", change: func(_ *world, d *document) { d.when = text("2026-10-02T00:00:00Z&#13;&#10;X: y") }},

	// ids
	{name: "id of 5 kB", change: func(w *world, d *document) { d.id = join(text(w.url+"/doc/"), many(5000, "a")) }},
	{name: "empty id", change: func(_ *world, d *document) { d.id = text("") }},
	{name: "id of white space", change: func(_ *world, d *document) { d.id = text(" \n&#160;\t") }},
	{name: "id with lines", change: func(_ *world, d *document) { d.id = text("http://x.example/a&#13;&#10;Host: evil&#13;&#10;&#13;&#10;") }},
	{name: "id with a password", change: func(w *world, d *document) {
		d.id = text(strings.Replace(w.url, "://", "://me:"+password+"@", 1) + "/doc/hostile")
	}, verdict: anything, whole: nil},
	{name: "id that leaves", change: func(w *world, d *document) { d.id = text(w.url + "/doc/../../../../etc/passwd") }, verdict: anything},
	{name: "id of a file", change: func(_ *world, d *document) { d.id = text("file:///etc/passwd") }, verdict: anything},
	{name: "id of a script", change: func(_ *world, d *document) { d.id = text("javascript:alert(1)") }, verdict: anything},
	{name: "id of data", change: func(_ *world, d *document) { d.id = text("data:text/plain,x") }, verdict: anything},
	{name: "id without a host", change: func(_ *world, d *document) { d.id = text("http:///x") }, verdict: anything},
	{name: "id with port 99999", change: func(_ *world, d *document) { d.id = text("http://x.example:99999/") }, verdict: anything},
	{name: "id with a broken address", change: func(_ *world, d *document) { d.id = text("http://[::1/") }, verdict: anything},
	{name: "id with broken escapes", change: func(w *world, d *document) { d.id = text(w.url + "/doc/%zz%") }, verdict: anything},
	{name: "duplicate id", change: func(w *world, d *document) { d.id, d.when = text(w.url+"/doc/3"), text(monthOf(4)) }, verdict: anything},
	{name: "all times in year 9999", verdict: anything, whole: func(_ *world, honest flow, _ *shape) flow {
		return replaced(honest, monthOf(4), "9999-12-31T23:59:59Z")
	}},
	{name: "all times in year 0", verdict: anything, whole: func(_ *world, honest flow, _ *shape) flow {
		return replaced(honest, monthOf(4), "0000-01-01T00:00:00Z")
	}},
	{name: "all times unreadable", verdict: loud, whole: func(_ *world, honest flow, _ *shape) flow {
		return replaced(honest, monthOf(4), "when hell freezes")
	}},
	{name: "base that moves everything", change: func(_ *world, d *document) { d.attrs = text(` xml:base="file:///etc/"`) }, verdict: anything},
}

// numbered repeats a text with another number each time.
func numbered(n int, format string) (f flow) {
	const block = 1000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
		if i%block == block-1 || i == n-1 {
			f = append(f, piece{b.String(), 1})
			b.Reset()
		}
	}
	return f
}

var (
	full       = flag.Bool("full", !racing.Few(), "about twice as many inputs")
	everything = flag.Bool("everything", false, "every attack on every document")
)

// chosen reports whether attack k is made on shape i. The others would say little more.
func chosen(i, k int, big bool) bool {
	turn := i + k
	switch {
	case *everything:
		return true
	case big && !*full:
		return turn%(7*len(shapes)) == 0
	case big:
		return turn%len(shapes) == 0
	case !*full:
		return turn%len(shapes) == 0
	}
	return turn%4 == 0
}

// Documents of every protocol, attacked.
func TestDocuments(t *testing.T) {
	for i, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			for k, a := range xmlAttacks {
				if !chosen(i, k, a.big) {
					continue
				}
				t.Run(a.name, func(t *testing.T) {
					attack(t, &s, a.verdict, func(w *world) {
						w.memory = max(w.memory, s.memory, a.memory)
						d := document{}
						if a.change != nil {
							a.change(w, &d)
						}
						f := s.write(w.url, 4, d)
						if a.whole != nil {
							f = a.whole(w, f, &s)
						}
						w.serveText(s.path, f)
					})
				})
			}
		})
	}
}
