package websync

import (
	"bytes"
	"net/url"
	"strings"
	"unicode/utf8"
)

// A PathLocator is the default [Locator]. Everything it names lies under Base.
//
// The content of a resource whose id is a URL under Base keeps that URL, if every client, server and file system leaves it
// as it is: no query and no fragment, nothing that would have to be escaped, no escaped slash, no segment that is "." or
// ".." or, but for the last, empty, no name longer than 255 bytes, and nothing below Base + "r/". Any other body has a URL
// that is made of the id and the body's name: Base, "r/", the escaped id, "~" and the escaped name. Letters, digits, slashes
// and a few marks stand for themselves, so that such URLs can be read; every other byte is "=" and two hexadecimal digits.
// They need no escaping of URLs, they are file names on every system, no directory among them is a file as well, and no part
// of a path is longer than 200 bytes.
type PathLocator struct {
	// Base is the absolute URL that ids are compared with: scheme, host and a path that ends in a slash.
	Base string

	// Reserved, if set, says of a path whether it is that of another document of the host. A resource with such an id
	// does not keep its URL.
	Reserved func(path string) bool
}

var _ Locator = PathLocator{}

const (
	contentBody = "content" // the name of the body that may keep the URL of its resource
	foreignPath = "r/"
	maxSegment  = 200
	maxName     = 255 // of a file, on most systems
)

// URL implements [Locator].
func (l PathLocator) URL(id, body string) string {
	if body == contentBody && l.keeps(id) {
		return id
	}
	b := make([]byte, 0, len(l.Base)+len(id)+len(body)+16)
	b = append(b, l.Base...)
	b = append(b, foreignPath...)
	b = appendNamed(b, id, true)
	b = append(b, '~')
	return string(appendNamed(b, body, false))
}

// Find implements [Locator].
func (l PathLocator) Find(path string) (id, body string, ok bool) {
	root := l.root()
	rest, under := strings.CutPrefix(path, root)
	if !under {
		return "", "", false
	}
	if named, foreign := strings.CutPrefix(rest, foreignPath); foreign {
		escaped, name, _ := strings.Cut(named, "~")
		id, body = unescapeName(escaped), unescapeName(name)
	} else {
		id, body = l.Base+rest, contentBody
	}
	return id, body, l.URL(id, body) == l.Base[:len(l.Base)-len(root)]+path
}

// root returns the path of Base.
func (l PathLocator) root() string {
	_, rest, _ := strings.Cut(l.Base, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return ""
}

// keeps tells whether a resource keeps its URL: one that every client and every server leaves as it is.
func (l PathLocator) keeps(id string) bool {
	rest, under := strings.CutPrefix(id, l.Base)
	if !under || strings.HasPrefix(rest, foreignPath) || !isPlainPath(rest) {
		return false
	}
	return l.Reserved == nil || !l.Reserved(l.root()+rest)
}

// isPlainPath tells whether s is what may follow a slash in a URL: no query, no fragment, no character to be escaped, and
// nothing that cleaning a path would change or a file could not be named.
func isPlainPath(s string) bool {
	for i := range len(s) {
		if c := s[i]; !standsForItself(c) && c != '%' && c != '/' {
			return false
		}
	}
	for more := s != ""; more; {
		var segment string
		segment, s, more = strings.Cut(s, "/")
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == "" || plain == "." || plain == ".." || strings.ContainsAny(plain, "/\x00") || len(fileName(segment, plain)) > maxName {
			return false
		}
		more = more && s != ""
	}
	return true
}

// fileName returns the longest name that a file for a segment has: with its escapes, unless any system can have the decoded one
// and they are the only way to escape it.
func fileName(segment, plain string) string {
	if !utf8.ValidString(plain) || strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }) {
		return segment
	}
	for i := range len(segment) {
		if segment[i] != '%' {
			continue
		}
		high, low := segment[i+1], segment[i+2]
		if high >= 'a' || low >= 'a' || standsForItself(unhex(high)<<4|unhex(low)&15) {
			return segment
		}
	}
	return plain
}

// standsForItself tells whether c needs no escape in a segment (RFC 3986 §3.3).
func standsForItself(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte("-._~!$&'()*+,;=:@", c) >= 0
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// appendNamed appends s so that it can be a part of a path. Slashes are kept where they part something. A segment that
// becomes too long is broken by "=/", which stands for nothing.
func appendNamed(b []byte, s string, slashes bool) []byte {
	const hex = "0123456789ABCDEF"
	start := bytes.LastIndexByte(b, '/') + 1 // of the segment
	for i := range len(s) {
		if len(b)-start > maxSegment-len("=00=") {
			b = append(b, '=', '/')
			start = len(b)
		}
		c, inside := s[i], i+1 < len(s)
		switch {
		case c == '/' && slashes && inside && i > 0 && s[i-1] != '/':
			b = append(b, c)
			start = len(b)
		case isAlphanumeric(c), strings.IndexByte("-_,+@", c) >= 0, c == '.' && inside && len(b) > start:
			b = append(b, c)
		default:
			b = append(b, '=', hex[c>>4], hex[c&15])
		}
	}
	return b
}

// unescapeName undoes appendNamed. What it would not have written, it returns as anything.
func unescapeName(s string) string {
	if strings.IndexByte(s, '=') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '=':
			b = append(b, s[i])
		case i+1 < len(s) && s[i+1] == '/':
			i++
		case i+2 < len(s):
			b = append(b, unhex(s[i+1])<<4|unhex(s[i+2])&15)
			i += 2
		}
	}
	return string(b)
}

func unhex(c byte) byte {
	if c >= 'A' {
		return c - 'A' + 10
	}
	return c - '0'
}
