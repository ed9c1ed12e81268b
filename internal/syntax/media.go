package syntax

import (
	"math"
	"strings"
)

// MediaTypeFault checks a media type, perhaps with parameters (RFC 2045 §5.1).
func MediaTypeFault[T Text](s T) string {
	const fault = "not a media type"
	slash := tokenEnd(s, 0)
	if slash == 0 || slash == len(s) || s[slash] != '/' {
		return fault
	}
	i := tokenEnd(s, slash+1)
	if i == slash+1 {
		return fault
	}
	for i < len(s) {
		i = spaceEnd(s, i)
		if i == len(s) || s[i] != ';' {
			return fault
		}
		name := spaceEnd(s, i+1)
		equals := tokenEnd(s, name)
		if equals == name || equals == len(s) || s[equals] != '=' {
			return fault
		}
		if i = valueEnd(s, equals+1); i == equals+1 {
			return fault
		}
	}
	return ""
}

func tokenEnd[T Text](s T, i int) int {
	for i < len(s) && classToken.Has(s[i]) {
		i++
	}
	return i
}

func spaceEnd[T Text](s T, i int) int {
	for i < len(s) && IsSpace(s[i]) {
		i++
	}
	return i
}

// valueEnd returns the end of the token or quoted string at i, or i if there is none.
func valueEnd[T Text](s T, i int) int {
	if i == len(s) || s[i] != '"' {
		return tokenEnd(s, i)
	}
	if end := quotedEnd(s, i); end > 0 {
		return end
	}
	return i
}

// quotedEnd returns the end of the quoted string that begins at i, or 0 if it has none.
func quotedEnd[T Text](s T, i int) int {
	for i++; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1
		case c == '\\':
			i++
		case c < ' ' && c != '\t' || c == 0x7f:
			return 0
		}
	}
	return 0
}

// Essence returns a media type without its parameters.
func Essence[T Text](s T) T {
	end := IndexAny(s, "; \t\r\n")
	return s[:end]
}

// IsOfType reports whether a media type is the wanted one, which may be a range such as
// image/*. Parameters make no difference.
func IsOfType(mediaType, wanted string) bool {
	have, want := Essence(strings.TrimSpace(mediaType)), Essence(wanted)
	if prefix, ok := strings.CutSuffix(want, "/*"); ok {
		kind, _, _ := strings.Cut(have, "/")
		return have != "" && (prefix == "*" || strings.EqualFold(kind, prefix))
	}
	return have != "" && strings.EqualFold(have, want)
}

// IsPage reports whether a media type is that of web pages: HTML or XHTML.
func IsPage(mediaType string) bool {
	return IsOfType(mediaType, "text/html") || IsOfType(mediaType, "application/xhtml+xml")
}

// IsComposite reports whether a media type is message/… or multipart/… (RFC 2045 §5.1).
func IsComposite[T Text](s T) bool {
	slash := IndexAny(s, "/")
	return EqualFold(s[:slash], "message") || EqualFold(s[:slash], "multipart")
}

// IsText reports whether a media type is text/….
func IsText[T Text](s T) bool { return EqualFold(s[:IndexAny(s, "/")], "text") }

// IsXML reports whether a media type is one of XML's (RFC 7303 §9, RFC 4287 §4.1.3.3).
func IsXML[T Text](s T) bool {
	t := Essence(s)
	return len(t) > 4 && (EqualFold(t[len(t)-4:], "+xml") || EqualFold(t[len(t)-4:], "/xml")) ||
		EqualFold(t, "text/xml-external-parsed-entity") || EqualFold(t, "application/xml-external-parsed-entity") ||
		EqualFold(t, "application/xml-dtd")
}

// EntityTagFault checks an entity tag (Atom Link Extensions 09 §4).
func EntityTagFault[T Text](s T) string {
	start := 0
	if len(s) > 2 && s[0] == 'W' && s[1] == '/' {
		start = 2
	}
	if start == len(s) || s[start] != '"' || quotedEnd(s, start) != len(s) {
		return "not an entity tag in its quotation marks"
	}
	return ""
}

// Length reads a number of bytes. If it is none, it returns what is wrong, and 0.
func Length[T Text](s T) (n int64, fault string) {
	const noLength = "not a number of bytes"
	if len(s) == 0 {
		return 0, noLength
	}
	for i := range len(s) {
		if !IsDigit(s[i]) {
			return 0, noLength
		}
		digit := int64(s[i] - '0')
		if n > (math.MaxInt64-digit)/10 {
			return 0, noLength
		}
		n = n*10 + digit
	}
	return n, ""
}
