package syntax

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
		switch s[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return 0
}

// Essence returns a media type without its parameters.
func Essence[T Text](s T) T {
	end := IndexAny(s, "; \t\r\n")
	return s[:end]
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

// LengthFault checks a number of bytes.
func LengthFault[T Text](s T) string {
	for i := range len(s) {
		if !IsDigit(s[i]) {
			return "not a number of bytes"
		}
	}
	if len(s) == 0 || len(s) > 18 {
		return "not a number of bytes"
	}
	return ""
}

// digestSizes are the lengths in bytes of a digest, by the algorithms that the link
// extensions name (Atom Link Extensions 09 §3.2).
var digestSizes = [...]struct {
	name string
	size int
}{{"md5", 16}, {"sha-256", 32}, {"sha-1", 20}, {"sha-512", 64}, {"sha-384", 48}, {"sha-224", 28}, {"md2", 16}}

// DigestSize returns the length of an algorithm's digest in bytes, or 0 if the link
// extensions do not name it.
func DigestSize[T Text](algorithm T) int {
	for _, known := range digestSizes {
		if EqualFold(algorithm, known.name) {
			return known.size
		}
	}
	return 0
}

// DigestFault checks one algorithm:digest of a hash (Atom Link Extensions 09 §3.2).
func DigestFault[T Text](s T) string {
	colon := tokenEnd(s, 0)
	if colon == 0 || colon == len(s) || s[colon] != ':' {
		return "not an algorithm, a colon and a digest"
	}
	digits := s[colon+1:]
	for i := range len(digits) {
		if !IsHex(digits[i]) {
			return "a digest that is not in hex"
		}
	}
	if size := DigestSize(s[:colon]); len(digits) == 0 || size > 0 && len(digits) != 2*size {
		return "a digest that does not have its algorithm's length"
	}
	return ""
}
