// Package syntax holds the grammars that documents of all protocols share: URLs, IRIs and
// their resolution, escapes, media types, language tags, e-mail addresses, link
// relations, entity tags and Base64.
//
// The functions keep no argument, and allocate only their results. A function whose name
// ends in Fault returns a few words about what is wrong with its argument, for the
// message of a finding or an error, or "" if nothing is wrong.
package syntax

import (
	"strings"
	"unicode/utf8"
)

// A Text is a value in a document or in a program.
type Text interface{ ~string | ~[]byte }

// A Class is a set of characters.
type Class uint16

const (
	classAlpha    Class = 1 << iota
	classDigit          // decimal
	classMark           // unreserved, and neither a letter nor a digit
	classSubDelim       // sub-delims (RFC 3986 §2.2)
	classColon
	classAt
	classSlash
	classQuestion
	classOther   // the rest of what a URI has: % # [ ]
	classToken   // of a token (RFC 9110 §5.6.2)
	classAtom    // of an atom (RFC 5322 §3.2.3)
	classUCS     // outside ASCII, in every part of an IRI
	classPrivate // outside ASCII, in the query of an IRI
)

// Sets of ASCII characters.
const (
	Alnum = classAlpha | classDigit // letters and digits
	// never needs an escape (RFC 3986 §2.3)
	Unreserved = Alnum | classMark
	// of a path's segment (RFC 3986 §3.3, pchar)
	Segment = Unreserved | Marks
	// Marks are the characters of a segment that some programs escape.
	Marks = classSubDelim | classColon | classAt
	// of a URI, the percent sign included
	URI = pathChars | classQuestion | classOther

	hostChars = Unreserved | classSubDelim
	pathChars = Segment | classSlash
)

var classes = func() (t [256]Class) {
	mark := func(class Class, chars string) {
		for i := range len(chars) {
			t[chars[i]] |= class
		}
	}
	for c := range byte(utf8.RuneSelf) {
		switch {
		case IsAlpha(c):
			t[c] = classAlpha | classToken | classAtom
		case IsDigit(c):
			t[c] = classDigit | classToken | classAtom
		}
	}
	mark(classMark, "-._~")
	mark(classSubDelim, "!$&'()*+,;=")
	mark(classColon, ":")
	mark(classAt, "@")
	mark(classSlash, "/")
	mark(classQuestion, "?")
	mark(classOther, "%#[]")
	mark(classToken, "!#$%&'*+-.^_`|~")
	mark(classAtom, "!#$%&'*+-/=?^_`{|}~")
	return t
}()

// Has reports whether the byte c is in the set.
func (class Class) Has(c byte) bool { return classes[c]&class != 0 }

// isAll reports whether s has only characters of a class.
func isAll[T Text](s T, class Class) bool {
	for i := range len(s) {
		if !class.Has(s[i]) {
			return false
		}
	}
	return true
}

// IsAlpha reports whether c is a letter of ASCII.
func IsAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }

// IsHex reports whether c is a hexadecimal digit.
func IsHex(c byte) bool { return IsDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// IsSpace reports whether c is white space in XML.
func IsSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// EqualFold reports whether s equals lower, which has no capitals, in any case of ASCII.
func EqualFold[T Text](s T, lower string) bool {
	return len(s) == len(lower) && hasPrefixFold(s, lower)
}

// hasPrefixFold reports whether s begins with lower, which has no capitals, in any case.
func hasPrefixFold[T Text](s T, lower string) bool {
	if len(s) < len(lower) {
		return false
	}
	for i := range len(lower) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// IndexAny returns the position of the first byte of s that is in chars, or len(s) if
// there is none.
func IndexAny[T Text](s T, chars string) int {
	for i := range len(s) {
		for j := range len(chars) {
			if s[i] == chars[j] {
				return i
			}
		}
	}
	return len(s)
}

// Escape returns s with a percent-encoding for each byte that is not plain.
func Escape(s string, plain func(byte) bool) string {
	for i := range len(s) {
		if !plain(s[i]) {
			return string(AppendEscaped(make([]byte, 0, len(s)+len(s)/2+2), s, plain))
		}
	}
	return s
}

// AppendEscaped appends s to dst, with a percent-encoding for each byte that is not
// plain.
func AppendEscaped(dst []byte, s string, plain func(byte) bool) []byte {
	for i := range len(s) {
		if c := s[i]; plain(c) {
			dst = append(dst, c)
		} else {
			dst = AppendEscape(dst, c)
		}
	}
	return dst
}

// AppendEscape appends the percent-encoding of c to dst.
func AppendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(dst, '%', digits[c>>4], digits[c&15])
}

// Escaped returns the byte that the percent-encoding at s[i] stands for. Ok is false if
// there is no percent sign with two hexadecimal digits.
func Escaped[T Text](s T, i int) (c byte, ok bool) {
	if i+2 >= len(s) || s[i] != '%' || !IsHex(s[i+1]) || !IsHex(s[i+2]) {
		return 0, false
	}
	return unhex(s[i+1])<<4 | unhex(s[i+2]), true
}

func unhex(c byte) byte {
	if IsDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// Unescape returns s without escapes of the characters of a class. Other escapes have
// capitals. With Unreserved it is equivalent to s (RFC 3986 §6.2.2).
func Unescape(s string, plain Class) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c, ok := Escaped(s, i)
		switch {
		case !ok:
			b = append(b, s[i])
			continue
		case plain.Has(c):
			b = append(b, c)
		default:
			b = AppendEscape(b, c)
		}
		i += 2
	}
	return string(b)
}

// IsXMLCharacter reports whether XML has a character (XML 1.0 §2.2).
func IsXMLCharacter(c rune) bool {
	if c < ' ' {
		return c == '\t' || c == '\n' || c == '\r'
	}
	return c < 0xD800 || c >= 0xE000 && c <= 0x10FFFF && c != 0xFFFE && c != 0xFFFF
}
