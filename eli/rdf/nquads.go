package rdf

import (
	"strings"
	"unicode/utf8"
)

// notInIRI reports whether an IRIREF can't have a byte (N-Quads §4, production 10).
func notInIRI(c byte) bool { return c <= ' ' || strings.IndexByte("<>\"{}|^`\\", c) >= 0 }

// isLangTag reports whether s matches LANGTAG, without the @.
func isLangTag(s string) bool {
	part := 0 // characters of the current subtag
	digits := false
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z', digits && '0' <= c && c <= '9':
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

// isLabelStart is PN_CHARS_U, production 157s, of which N-Quads has the colon as well.
func isLabelStart(c rune) bool {
	switch {
	case c == '_', c == ':', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z':
		return true
	case c < 0xC0:
		return false
	}
	return c <= 0xD6 || c >= 0xD8 && c <= 0xF6 || c >= 0xF8 && c <= 0x2FF || c >= 0x370 && c <= 0x37D ||
		c >= 0x37F && c <= 0x1FFF || c >= 0x200C && c <= 0x200D || c >= 0x2070 && c <= 0x218F ||
		c >= 0x2C00 && c <= 0x2FEF || c >= 0x3001 && c <= 0xD7FF || c >= 0xF900 && c <= 0xFDCF ||
		c >= 0xFDF0 && c <= 0xFFFD || c >= 0x10000 && c <= 0xEFFFF
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
