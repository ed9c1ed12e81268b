package naive

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// What a stranger may write into a feed, and so what a Catalog may hold.
var (
	oddTexts = []string{"", " ", "\n\t", "Act (2026:1) & <b>notes</b>", "]]>", "a\x00b\x01\x1f", "\xff\xfe", "\ufffe\uffff", "\U0001f4dc",
		"\u202eabc", "<![CDATA[x]]>", "&amp;&nbsp;", strings.Repeat("long ", 300), "\r\nlines\r", "http://example.org/", "\u0085\u2028"}
	oddIRIs = []string{"urn:x:1", "tag:a.example,2026:x", "HTTP://EXAMPLE.org:80/../a", "http://ex.example/ä/ö?q=å#§", "http://ex.example/a b", "relative/path",
		"", " http://ex.example/trimmed ", "http://[::1", "http://ex.example/%zz", `http://ex.example/"<>{}|^`, "urn:", ":", "#", "a#b#c", "javascript:alert(1)",
		"http://ex.example/\u202e", "http://ex.example/\x7f", "http://ex.example/\xff", "http://ex.example/\ue000", "http://user:secret@ex.example/", "//ex.example/x",
		"mailto:a@b", "1http://x/", "http://ex.example/a\nb", "http://ex.example/a%", "http://ex.example/\uffff"}
	oddTimes = []string{"", "2026-01-01", "2026", "2026-01", "2099-12-31T23:59:60Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2026-01-01T00:00:00.5-23:59",
		"2026-01-01T12:00Z", "0000-01-01T00:00:00Z", "2016-12-31T23:59:60Z", "2026-01-01T24:00:00Z"}
	oddTypes = []string{"", "text/html", "TEXT/HTML; Charset=UTF-8", "text", "a b", "image/*", "message/rfc822", "multipart/mixed", "application/x;a", "application/pdf", "text/html;a=\"b\nc\"",
		"xhtml", "html", "application/rdf+xml", "x/y/z", "/", "application/\u00e4"}
	oddLangs    = []string{"", "sv", "sv_SE", "x", "i-klingon", "toolongsubtag", "-", "sv-", "ä"}
	oddRels     = []string{"", "alternate", "self", "related", "enclosure", "via", "http://a.example/rel", "a b", "ALTERNATE", "next", "prev-archive", "current", "edit", "a:b c", "http://www.iana.org/assignments/relation/self", "http://www.iana.org/assignments/relation/alternate", "å", "hub", "up up"}
	oddElements = []string{`<x xmlns="urn:x">&amp;</x>`, `<entry xmlns="http://www.w3.org/2005/Atom"/>`, `<x>`, `<a:b/>`, `<id xmlns="http://www.w3.org/2005/Atom">urn:other</id>`,
		`<x xmlns=""/>`, `<category xmlns="http://www.w3.org/2005/Atom"/>`, `<category xmlns="http://www.w3.org/2005/Atom" term="a" xml:lang="x_y"/>`,
		`<fh:complete xmlns:fh="http://purl.org/syndication/history/1.0"/>`, `<fh:archive xmlns:fh="http://purl.org/syndication/history/1.0"/>`, `<x xmlns="urn:x" a="1" a="2"/>`, `<!DOCTYPE x><x xmlns="urn:x"/>`,
		`<rights xmlns="http://www.w3.org/2005/Atom" type="xhtml">x</rights>`, `<rights xmlns="http://www.w3.org/2005/Atom" type="pdf">x</rights>`, `<rights xmlns="http://www.w3.org/2005/Atom">x</rights>`,
		`<contributor xmlns="http://www.w3.org/2005/Atom"/>`, `<contributor xmlns="http://www.w3.org/2005/Atom"><name>C</name><email>nobody</email></contributor>`,
		`<link xmlns="http://www.w3.org/2005/Atom" rel="self"/>`, `<deleted-entry xmlns="http://purl.org/atompub/tombstones/1.0" ref="urn:x" when="never"/>`, "", "text", `<x xmlns="urn:x"/><y xmlns="urn:x"/>`}
)

func pick[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

// Odd returns a Store with resources of the sources "own", below base, and "found". Most
// of what they state is of some oddity.
func Odd(t testkit.T, seed uint64, base string) *testkit.Store {
	s, r := testkit.NewStore(t), rand.New(rand.NewPCG(seed, 3))
	var ids []string
	for n := range 12 {
		if r.IntN(5) == 0 && len(ids) > 0 {
			s.Delete("found", pick(r, ids))
			continue
		}
		item, text := oddItem(r, n, base)
		if item.Resource.ID == "" {
			continue // which no Store accepts
		}
		source := "found"
		if strings.HasPrefix(item.Resource.ID, base) {
			source = "own"
		} else {
			ids = append(ids, item.Resource.ID)
		}
		s.Clock = s.Clock.Add(time.Duration(r.IntN(3)) * 500 * time.Millisecond)
		s.Fill(source, []string{text}, item)
	}
	return s
}

func oddItem(r *rand.Rand, n int, base string) (websync.Item, string) {
	id := pick(r, oddIRIs)
	if r.IntN(3) == 0 {
		id = fmt.Sprint(base, "publ/", n)
	}
	res := websync.Resource{
		ID: id, Title: pick(r, oddTexts), Summary: pick(r, oddTexts), Lang: pick(r, oddLangs), Authors: oddPeople(r),
		Modified: oddTime(r), Published: oddTime(r), Content: oddLink(r),
	}
	for range r.IntN(5) {
		res.Links = append(res.Links, oddLink(r))
	}
	for range r.IntN(3) {
		e := websync.Element{XML: pick(r, oddElements)}
		e.Local, e.Space = "x", pick(r, []string{"urn:x", "", atomSpace, historySpace})
		res.Elements = append(res.Elements, e)
	}
	if r.IntN(2) == 0 {
		res.Origin = &websync.Origin{ID: pick(r, oddIRIs), Title: pick(r, oddTexts), Updated: oddTime(r), Authors: oddPeople(r), Self: pick(r, oddIRIs)}
	}
	item := websync.Item{Resource: res}
	text := fmt.Sprint("text ", n)
	names := []string{websync.ContentName, "alternate application/rdf+xml", "alternate text/html sv", "enclosure a.pdf", "graph"}
	for _, name := range names[r.IntN(len(names)):] {
		if r.IntN(2) == 0 {
			link := oddLink(r)
			link.Length, link.Digests = int64(len(text)), nil
			item.Bodies = append(item.Bodies, websync.Body{Name: name, Link: link, Key: websync.SHA256([]byte(text))})
		}
	}
	return item, text
}

func oddTime(r *rand.Rand) websync.Datetime {
	d, _ := websync.ParseDatetime(pick(r, oddTimes)) // the zero value is odd, too
	return d
}

func oddPeople(r *rand.Rand) (all []websync.Person) {
	for range r.IntN(3) {
		all = append(all, websync.Person{Name: pick(r, oddTexts), Email: pick(r, append(oddTexts, "a@b.example")), URI: pick(r, oddIRIs)})
	}
	return all
}

func oddLink(r *rand.Rand) websync.Link {
	l := websync.Link{Rel: pick(r, oddRels), Href: pick(r, oddIRIs), Type: pick(r, oddTypes), Lang: pick(r, oddLangs), Title: pick(r, oddTexts), Modified: oddTime(r),
		Length: int64(r.IntN(5) - 2), Encoding: pick(r, []string{"", "gzip"}), Priority: r.IntN(3)}
	if r.IntN(3) == 0 {
		l.Digests = websync.Digests{{Algorithm: pick(r, []string{"md5", "", "a b", "sha-256", "\x00"}), Sum: pick(r, oddTexts)}}
	}
	if r.IntN(3) == 0 {
		l.Attrs = []websync.Attr{{Space: pick(r, []string{"urn:x", "", xmlSpace, atomSpace, " "}), Local: pick(r, []string{"a", "", "a b", "xmlns", "ä", "href", "isFormatOf"}), Value: pick(r, oddTexts)}}
	}
	return l
}

// CheckPublished reports the [Faults] of all documents of a Publisher, and passes each to
// check.
func CheckPublished(t testing.TB, p websync.Publisher, check func(path string, doc []byte)) {
	t.Helper()
	for path, err := range p.Documents(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		doc, err := p.Document(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := doc.Write(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if faults := Faults(b.Bytes()); len(faults) > 0 {
			t.Errorf("%s: %q in\n%s", path, faults, b.Bytes())
		}
		check(path, b.Bytes())
	}
}
