package websync

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// BodyName returns the name of the body that a link of r leads to: ContentName if it has
// the URL of Content; otherwise the link's relation, media type and language, as far as
// it states them, for example "alternate application/pdf" or "alternate text/html de".
// Without a relation the link is an alternate.
//
// If other links of r have the same words and another URL, the names of all their bodies
// also have a digest of the URL. So two bodies of a resource never share a name, and no
// name depends on the order of the links.
func (r *Resource) BodyName(link *Link) string {
	if link.Href == r.Content.Href {
		return ContentName
	}
	words := link.words()
	for i := range r.Links {
		if other := &r.Links[i]; other.Href != link.Href && other.Href != r.Content.Href && other.words() == words {
			sum := sha256.Sum256([]byte(link.Href))
			return words + " " + hex.EncodeToString(sum[:4])
		}
	}
	return words
}

// words returns the relation, media type and language of a link.
func (l *Link) words() string {
	mediaType, _, _ := strings.Cut(l.Type, ";")
	words := cmp.Or(l.Rel, "alternate")
	for _, word := range []string{mediaType, l.Lang} {
		if word = strings.TrimSpace(word); word != "" {
			words += " " + strings.ToLower(word)
		}
	}
	return words
}

// A PathLocator is the default [Locator]. All its URLs are under Base.
//
// Other publishers choose the ids of harvested resources: an id could be the URL of the
// site's robots.txt or of a script. So the content of a resource keeps its id as its URL
// only if its source is in Own and the id is a URL under Base that no client, server or
// file system changes:
//
//   - no query and no fragment; escapes in upper case, and only of characters that need
//     one;
//   - no segment that, without its escapes, is empty (except the last), is "." or "..",
//     is longer than 255 bytes, is not UTF-8, or contains a control character, a slash or
//     a backslash;
//   - no segment that begins with a dot, except ".well-known" as the first one below
//     Base;
//   - nothing below Base + "r/", and nothing that is Reserved.
//
// The URL of any other body consists of Base, "r/", the escaped id, "~" and the escaped
// name of the body. Letters, digits, slashes and a few marks are not escaped, so that
// such URLs are readable; every other byte becomes "=" and two hexadecimal digits. These
// URLs need no percent-encoding. As files, none is also a directory, none has an
// extension that a server interprets, and no segment is longer than 200 bytes. On a file
// system that ignores case, ids that differ in case only share a file; Windows has no
// files for a few ids, such as those with a segment "nul".
type PathLocator struct {
	// Base is the absolute URL of the site: scheme, host and a path that ends in a slash.
	Base string

	// Own are the sources that are the publisher's own work, such as a directory of
	// files. Only their resources keep their URLs. Never add a source that is harvested
	// from others.
	Own []string

	// Reserved, if set, reports whether a path is that of another document of the host. A
	// resource with such an id does not keep its URL.
	Reserved func(path string) bool
}

var _ Locator = PathLocator{}

// ContentName is the name of the body that is the primary representation of a resource.
// It is the only one that may keep the URL of its resource.
const ContentName = "content"

const (
	foreignPath = "r/"
	wellKnown   = ".well-known"
	maxSegment  = 200
	maxName     = 255 // of a file, on most systems
)

// Owns implements [Locator].
func (l PathLocator) Owns(source string) bool { return slices.Contains(l.Own, source) }

// URL implements [Locator].
func (l PathLocator) URL(item *Item, body string) string {
	id := item.Resource.ID
	if body == ContentName && l.Owns(item.Source) && l.canKeep(id) {
		return id
	}
	return l.named(id, body)
}

// Find implements [Locator].
func (l PathLocator) Find(path string) (id, body string, ok bool) {
	root := l.root()
	rest, under := strings.CutPrefix(path, root)
	if !under {
		return "", "", false
	}
	named, foreign := strings.CutPrefix(rest, foreignPath)
	if !foreign {
		id = l.Base + rest
		return id, ContentName, len(l.Own) > 0 && l.canKeep(id)
	}
	escaped, name, _ := strings.Cut(named, "~")
	id, body = unescapeName(escaped), unescapeName(name)
	return id, body, l.named(id, body) == l.Base+rest
}

// String returns the settings, but for Reserved: Publishers name documents by what they
// depend on.
func (l PathLocator) String() string { return fmt.Sprintf("%q, own %q", l.Base, l.Own) }

// named returns the URL of a body that does not keep the one of its resource.
func (l PathLocator) named(id, body string) string {
	b := make([]byte, 0, len(l.Base)+len(id)+len(body)+16)
	b = append(b, l.Base...)
	b = append(b, foreignPath...)
	b = appendNamed(b, id, "/.")
	b = append(b, '~')
	return string(appendNamed(b, body, ""))
}

// root returns the path of Base.
func (l PathLocator) root() string {
	_, rest, _ := strings.Cut(l.Base, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return ""
}

// canKeep reports whether a resource of an own source can keep its URL.
func (l PathLocator) canKeep(id string) bool {
	rest, under := strings.CutPrefix(id, l.Base)
	if !under || strings.HasPrefix(rest, foreignPath) || !isPlainPath(rest) {
		return false
	}
	return l.Reserved == nil || !l.Reserved(l.root()+rest)
}

// isPlainPath reports whether the path s below Base is the only one for its file, and
// every server finds the file by it.
func isPlainPath(s string) bool {
	below, isWellKnown := strings.CutPrefix(s, wellKnown+"/")
	if isWellKnown {
		s = below
	}
	for more := s != "" || isWellKnown; more; {
		var segment string
		segment, s, more = strings.Cut(s, "/")
		if !isPlainSegment(segment) {
			return false
		}
		more = more && s != ""
	}
	return true
}

// isPlainSegment reports whether a segment is the canonical escape of the name of a file
// that is not hidden.
func isPlainSegment(segment string) bool {
	name, err := url.PathUnescape(segment)
	if err != nil || name == "" || name[0] == '.' || len(name) > maxName || !utf8.ValidString(name) {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case c < ' ', c == 0x7f, c == '/', c == '\\':
			return false
		case standsForItself(c) && segment[0] == c:
			segment = segment[1:]
		case !standsForItself(c) && strings.HasPrefix(segment, string([]byte{'%', upperHex[c>>4], upperHex[c&15]})):
			segment = segment[3:]
		default:
			return false
		}
	}
	return true
}

const upperHex = "0123456789ABCDEF"

// standsForItself reports whether c needs no escape in a segment (RFC 3986 §3.3).
func standsForItself(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte("-._~!$&'()*+,;=:@", c) >= 0
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// appendNamed appends s, escaped for a part of a path. It does not escape the slashes and
// dots in kept where they separate other characters. It breaks a segment that becomes too
// long by "=/", which unescapeName removes.
func appendNamed(b []byte, s, kept string) []byte {
	start := bytes.LastIndexByte(b, '/') + 1 // of the segment
	for i := range len(s) {
		if len(b)-start > maxSegment-len("=00=") {
			b = append(b, '=', '/')
			start = len(b)
		}
		c := s[i]
		parts := i > 0 && i+1 < len(s) && strings.IndexByte(kept, c) >= 0
		switch {
		case c == '/' && parts && s[i-1] != '/':
			b = append(b, c)
			start = len(b)
		case isAlphanumeric(c), strings.IndexByte("-_,+@", c) >= 0, c == '.' && parts && len(b) > start && s[i+1] != '/':
			b = append(b, c)
		default:
			b = append(b, '=', upperHex[c>>4], upperHex[c&15])
		}
	}
	return b
}

// unescapeName is the inverse of appendNamed. For other input its result is arbitrary.
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
