package rdf

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/websync-go/websync/internal/syntax"
)

// notInIRI reports whether an IRIREF can't have a byte (N-Quads §4, production 10).
func notInIRI(c byte) bool {
	switch c {
	case '<', '>', '"', '{', '}', '|', '^', '`', '\\':
		return true
	}
	return c <= ' '
}

// isLangTag reports whether s matches LANGTAG, without the @.
func isLangTag(s string) bool {
	part := 0 // characters of the current subtag
	digits := false
	for i := range len(s) {
		switch c := s[i]; {
		case syntax.IsAlpha(c), digits && syntax.IsDigit(c):
			part++
		case c == '-' && part > 0:
			part, digits = 0, true
		default:
			return false
		}
	}
	return part > 0
}

// isLabel reports whether s is the label of a blank node, without the "_:".
func isLabel(s string) bool {
	for i, c := range s {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			return false
		case i == 0 && !isLabelStart(c) && !('0' <= c && c <= '9'), !isLabelChar(c) && c != '.':
			return false
		}
	}
	return s != "" && !strings.HasSuffix(s, ".")
}

// labelStarts are the characters of PN_CHARS_U, production 157s, beyond ASCII.
var labelStarts = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xC0, 0xD6, 1}, {0xD8, 0xF6, 1}, {0xF8, 0x2FF, 1}, {0x370, 0x37D, 1}, {0x37F, 0x1FFF, 1}, {0x200C, 0x200D, 1},
		{0x2070, 0x218F, 1}, {0x2C00, 0x2FEF, 1}, {0x3001, 0xD7FF, 1}, {0xF900, 0xFDCF, 1}, {0xFDF0, 0xFFFD, 1},
	},
	R32:         []unicode.Range32{{0x10000, 0xEFFFF, 1}},
	LatinOffset: 2,
}

// isLabelStart is PN_CHARS_U without the colon, which the errata of N-Quads and N-Triples
// 1.1 take out: no other syntax of RDF can carry a label with one.
func isLabelStart(c rune) bool {
	if c < utf8.RuneSelf {
		return c == '_' || syntax.IsAlpha(byte(c))
	}
	return unicode.Is(labelStarts, c)
}

func isLabelChar(c rune) bool {
	return isLabelStart(c) || c == '-' || '0' <= c && c <= '9' || c == 0xB7 ||
		c >= 0x300 && c <= 0x36F || c >= 0x203F && c <= 0x2040
}

// appendQuad appends q with its line feed.
func appendQuad(dst []byte, q Quad) []byte {
	dst = append(appendTerm(dst, q.Subject), ' ')
	dst = append(appendTerm(dst, q.Predicate), ' ')
	dst = append(appendTerm(dst, q.Object), ' ')
	if q.Graph.Kind != 0 {
		dst = append(appendTerm(dst, q.Graph), ' ')
	}
	return append(dst, '.', '\n')
}

func appendTerm(dst []byte, t Term) []byte {
	switch t.Kind {
	case KindIRI:
		return appendIRI(dst, t.Value)
	case KindBlank:
		return append(append(dst, "_:"...), t.Value...)
	case KindLiteral:
		dst = append(appendEscaped(append(dst, '"'), t.Value), '"')
		switch {
		case t.Lang != "":
			dst = append(append(dst, '@'), t.Lang...)
		case t.Datatype != "" && t.Datatype != XSDString:
			dst = appendIRI(append(dst, "^^"...), t.Datatype)
		}
	}
	return dst
}

func appendIRI(dst []byte, iri string) []byte {
	dst = append(dst, '<')
	from := 0
	for i := range len(iri) {
		if notInIRI(iri[i]) {
			dst = appendUchar(append(dst, iri[from:i]...), iri[i])
			from = i + 1
		}
	}
	return append(append(dst, iri[from:]...), '>')
}

// appendEscaped appends the text of a literal. The characters that it escapes are those
// of the canonical form.
func appendEscaped(dst []byte, s string) []byte {
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != 0x7F {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch short := strings.IndexByte(shortEscaped, c); {
		case short >= 0:
			dst = append(dst, '\\', shortEscapes[short])
		default:
			dst = appendUchar(dst, c)
		}
	}
	return append(dst, s[from:]...)
}

// The characters with short escapes (ECHAR), and the letters that stand for them. The
// apostrophe needs none.
const (
	shortEscaped = "\t\b\n\r\f\"\\'"
	shortEscapes = "tbnrf\"\\'"
)

func appendUchar(dst []byte, c byte) []byte {
	const hex = "0123456789ABCDEF"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
