package atom

import (
	"bytes"
	"cmp"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// plain returns the text without markup.
func (t *Text) plain() string {
	if t.Type == HTML || t.Type == XHTML {
		return plainMarkup(t.Value)
	}
	return t.Value
}

// plainMarkup returns the text of HTML or XHTML, with single spaces.
func plainMarkup(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return strings.Join(strings.Fields(s), " ")
	}
	text, out := []byte(s), make([]byte, 0, len(s))
	for i := 0; i < len(text); {
		at := strings.IndexByte(s[i:], '<')
		if at < 0 {
			at = len(s) - i
		}
		out = append(out, html.UnescapeString(s[i:i+at])...)
		if i += at; i < len(s) {
			end, space := passMarkup(text, i)
			switch {
			case end == i:
				out, end = append(out, '<'), i+1
			case space:
				out = append(out, ' ')
			}
			i = end
		}
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// passMarkup returns where the markup at i ends, i if it is none, and whether it parts
// words.
func passMarkup(text []byte, i int) (end int, space bool) {
	rest := text[i+1:]
	switch {
	case len(rest) == 0:
		return i, false
	case bytes.HasPrefix(rest, []byte("!--")):
		return passUntil(text, i+4, "-->"), false
	case rest[0] == '!' || rest[0] == '?':
		return passUntil(text, i+2, ">"), false
	case rest[0] == '/' && len(rest) > 1 && syntax.IsAlpha(rest[1]):
		name, end := tagEnd(text, i+2)
		return max(end, i), !isPhrase(text[i+2 : name])
	case !syntax.IsAlpha(rest[0]):
		return i, false
	}
	n, end := tagEnd(text, i+1)
	if end == 0 {
		return i, false
	}
	name := text[i+1 : n]
	if isOneOf(name, "script", "style", "template") && text[end-2] != '/' {
		if end, fault := new(htmlChecker).raw(text, name, end); fault == "" {
			return end, true
		}
		return len(text), true
	}
	return end, !isPhrase(name)
}

// passUntil returns where what ends markup ends itself, or the end of the text.
func passUntil(text []byte, i int, end string) int {
	at := bytes.Index(text[min(i, len(text)):], []byte(end))
	if at < 0 {
		return len(text)
	}
	return i + at + len(end)
}

// isPhrase tells whether an element can stand within a word.
func isPhrase(name []byte) bool {
	return isOneOf(name, "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd",
		"mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr")
}

// cleanText returns s without what XML can't carry.
func cleanText(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && !syntax.IsSpace(c) || c >= utf8.RuneSelf {
			return strings.Map(func(r rune) rune {
				if r < ' ' && !syntax.IsSpace(byte(r)) || r == 0xFFFE || r == 0xFFFF {
					return -1
				}
				return r
			}, strings.ToValidUTF8(s, "\uFFFD"))
		}
	}
	return s
}

// cleanPeople returns those who have a name, or what can stand for it.
func cleanPeople(people []websync.Person) []websync.Person {
	var clean []websync.Person
	for _, p := range people {
		p.Name = firstText(p.Name, p.Email, p.URI)
		if syntax.EmailFault(p.Email) != "" || cleanText(p.Email) != p.Email {
			p.Email = ""
		}
		if syntax.IRIFault(p.URI) != "" {
			p.URI = ""
		}
		if p.Name != "" {
			clean = append(clean, p)
		}
	}
	return clean
}

// firstText returns the first of some texts that is not blank, "" if all are.
func firstText(texts ...string) string {
	for _, text := range texts {
		if text = cleanText(text); strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// cleanLinks returns the links that Atom can state.
func cleanLinks(links []websync.Link) []websync.Link {
	if len(links) == 0 {
		return nil
	}
	clean := make([]websync.Link, 0, len(links)+1)
	for _, l := range links {
		if l, ok := cleanLink(l); ok {
			l.Rel = cmp.Or(l.Rel, "alternate")
			clean = append(clean, l)
		}
	}
	tellApart(clean)
	return clean
}

// tellApart makes all alternates "related" that Atom can't tell from an earlier one.
func tellApart(links []websync.Link) {
	seen := make(map[alternate]bool)
	for i := range links {
		l := &links[i]
		if !isAlternate(l.Rel) {
			continue
		}
		if key := alternateOf(l); seen[key] {
			l.Rel = "related"
		} else {
			seen[key] = true
		}
	}
}

// cleanLink returns what Atom can state of a link. Ok is false if that is nothing.
func cleanLink(l websync.Link) (_ websync.Link, ok bool) {
	if syntax.IRIFault(l.Href) != "" || l.Rel != "" && syntax.RelationFault(l.Rel) != "" {
		return l, false
	}
	if syntax.MediaTypeFault(l.Type) != "" {
		l.Type = ""
	}
	if syntax.LanguageFault(l.Lang) != "" {
		l.Lang = ""
	}
	l.Title = cleanText(l.Title)
	if l.Length < websync.StatedZero {
		l.Length = 0
	}
	if l.Encoding != "" {
		l.Encoding, l.Length, l.Digests = "", 0, nil
	}
	l.Digests, l.Attrs = cleanDigests(l.Digests), cleanAttrs(l.Attrs)
	return l, true
}

// cleanDigests returns those that can be read again, one of each algorithm.
func cleanDigests(digests websync.Digests) websync.Digests {
	return clean(digests, func(c *encoder, d websync.Digests) { c.hash("", d) })
}

// cleanAttrs returns those that the Writer takes.
func cleanAttrs(attrs []websync.Attr) []websync.Attr {
	return clean(attrs, func(c *encoder, a []websync.Attr) { c.attributes("", a) })
}

// clean returns all, if they can be written, or those of them that can be written behind
// the ones before.
func clean[S ~[]E, E any](all S, write func(*encoder, S)) S {
	if len(all) == 0 || writable(all, write) {
		return all
	}
	var some S
	for _, one := range all {
		if more := append(some, one); writable(more, write) {
			some = more
		}
	}
	return some
}

func writable[S any](s S, write func(*encoder, S)) bool {
	var c encoder
	write(&c, s)
	return c.refused == nil
}
