package syntax

import (
	"strings"
	"unicode/utf8"
)

// HTTPHost returns the position of the host in an absolute HTTP URL, or 0 if s is none.
func HTTPHost[T Text](s T) int {
	n := len("http://")
	if len(s) <= n {
		return 0
	}
	if s[4]|0x20 == 's' {
		n++
	}
	if string(s[:4]) != "http" && !hasPrefixFold(s, "http") {
		return 0
	}
	if len(s) <= n || s[n-1] != '/' || s[n-2] != '/' || s[n-3] != ':' || s[n] == '/' {
		return 0
	}
	return n
}

// OfHost reports whether a path is that of a document which belongs to a whole host:
// /robots.txt (RFC 9309 §2.3) or one below /.well-known/ (RFC 8615).
func OfHost(path string) bool {
	return path == "/robots.txt" || strings.HasPrefix(path, "/.well-known/")
}

// SplitHTTP returns the beginning and the end of the authority of an absolute HTTP URL,
// or 0, 0 if s is none. The authority may begin with user information.
func SplitHTTP[T Text](s T) (host, end int) {
	host = HTTPHost(s)
	if host == 0 || s[host] == '?' || s[host] == '#' {
		return 0, 0
	}
	for end = host; end < len(s) && s[end] != '/' && s[end] != '?' && s[end] != '#'; end++ {
	}
	return host, end
}

// URLFault checks an absolute HTTP URL (RFC 3986 §3, RFC 9110 §4.2). A port above 65535,
// and escapes of ASCII in a host, are faults, because clients refuse them.
func URLFault[T Text](s T) string {
	host, end := SplitHTTP(s)
	if end == 0 {
		return "not an absolute HTTP URL"
	}
	if authority := s[host:end]; !isAll(authority, hostChars) {
		if fault := authorityFault(authority, 0); fault != "" {
			return fault
		}
		if fault := hostFault(hostPort(authority)); fault != "" {
			return fault
		}
	}
	return tailFault(s[end:], 0)
}

// What a byte can be in the most common URLs.
const (
	outsideHost uint8 = 1 << iota
	uncommon          // nowhere in such a URL
	ampersand
	percent
)

var commonBytes = func() (t [256]uint8) {
	for i := range t {
		switch c := byte(i); {
		case Alnum.Has(c), c == '-', c == '.':
		case c == '&':
			t[c] = outsideHost | ampersand
		case c == '%':
			t[c] = outsideHost | percent
		case (pathChars | classQuestion).Has(c):
			t[c] = outsideHost
		default:
			t[c] = outsideHost | uncommon
		}
	}
	return t
}()

// CommonURL reports whether s is an absolute HTTP URL of the most common kind, without a
// port and a fragment, and whether XML can have it without escapes. What it reports has
// no URLFault, no IRIFault and no empty port.
func CommonURL(s string) (isURL, isPlain bool) {
	n := len("http://")
	if len(s) <= n+1 || s[:4] != "http" {
		return false, false
	}
	if s[4] == 's' {
		n++
	}
	if s[n-3:n] != "://" || commonBytes[s[n]]&outsideHost != 0 {
		return false, false
	}
	for n < len(s) && commonBytes[s[n]]&outsideHost == 0 {
		n++
	}
	if n < len(s) && s[n] != '/' {
		return false, false
	}
	found := union(&commonBytes, s[n:])
	isURL = found&uncommon == 0 && (found&percent == 0 || charFault(s[n:], pathChars|classQuestion) == "")
	return isURL, isURL && found&ampersand == 0
}

// union returns what the bytes of s are in a table, together.
func union[F ~uint8, T Text](table *[256]F, s T) (found F) {
	for ; len(s) >= 4; s = s[4:] {
		found |= table[s[0]] | table[s[1]] | table[s[2]] | table[s[3]]
	}
	for i := range len(s) {
		found |= table[s[i]]
	}
	return found
}

// hostFault checks what clients require of host:port besides its grammar.
func hostFault[T Text](s T) string {
	colon := len(s)
	for colon > 0 && s[colon-1] != ':' && s[colon-1] != ']' {
		colon--
	}
	name, port := s, s[len(s):]
	if colon > 0 && s[colon-1] == ':' {
		name, port = s[:colon-1], s[colon:]
	}
	if len(name) == 0 {
		return "no host"
	}
	n := 0
	for i := range len(port) {
		if n = n*10 + int(port[i]-'0'); n > 65535 {
			return "a port above 65535"
		}
	}
	for i := range len(name) {
		if c, ok := Escaped(name, i); ok && c < utf8.RuneSelf {
			return "an ASCII character of the host that is percent-encoded"
		}
	}
	if EqualFold(name[:min(2, len(name))], "[v") {
		return "no IP address in the brackets"
	}
	return ""
}

// HasEmptyPort reports whether the host of an absolute HTTP URL is followed by a colon
// and no port.
func HasEmptyPort[T Text](s T) bool {
	_, end := SplitHTTP(s)
	return s[end-1] == ':'
}

// Flaws are the faults of single bytes of a URL, wherever they are.
type Flaws uint8

const (
	NotURL   Flaws = 1 << iota // ASCII that no URL has
	NotASCII                   // outside ASCII
	// white space, markup or a control character: the text is not one URL
	NotOne
)

var flaws = func() (t [256]Flaws) {
	for i := range t {
		switch c := byte(i); {
		case c >= utf8.RuneSelf:
			t[c] = NotASCII
		case c <= ' ', c == '<', c == '>', c == 0x7f:
			t[c] = NotURL | NotOne
		case !URI.Has(c):
			t[c] = NotURL
		}
	}
	return t
}()

// URLFlaws returns the flaws of all bytes of s. It is fast, since it does not parse s.
func URLFlaws[T Text](s T) Flaws { return union(&flaws, s) }

// EscapeURL percent-encodes the bytes of an IRI that an HTTP URL must not have (RFC 3987
// §3.1), and percent signs, brackets and number signs without a meaning at their
// position.
func EscapeURL(s string) string {
	_, end := SplitHTTP(s)
	fragment := false
	b := make([]byte, 0, len(s)+len(s)/2)
	for i := range len(s) {
		c := s[i]
		plain := URI.Has(c)
		switch c {
		case '%':
			_, plain = Escaped(s, i)
		case '[', ']':
			plain = i < end
		case '#':
			plain, fragment = !fragment, true
		}
		if plain {
			b = append(b, c)
		} else {
			b = AppendEscape(b, c)
		}
	}
	return string(b)
}

// An Origin is a scheme, a host and a port, in lower case and without the scheme's
// default port.
type Origin string

// OriginOf returns the origin of an absolute HTTP URL and the position of its path, or
// "", 0 if url is none.
func OriginOf(url string) (o Origin, path int) {
	host, end := SplitHTTP(url)
	if end == 0 {
		return "", 0
	}
	authority := strings.ToLower(url[host:end])
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	scheme, port := "http://", ":80"
	if host == len("https://") {
		scheme, port = "https://", ":443"
	}
	return Origin(scheme + strings.TrimSuffix(strings.TrimSuffix(authority, port), ":")), end
}

// Split returns the scheme and the rest of an origin.
func (o Origin) Split() (scheme, host string) {
	scheme, host, _ = strings.Cut(string(o), "://")
	return scheme, host
}

// Canonical returns the same string for all HTTP URLs that are equivalent by RFC 3986
// §6.2.2 and §6.2.3, without the fragment. It returns other URLs unchanged.
func Canonical(url string) string {
	o, end := OriginOf(url)
	if o == "" {
		return url
	}
	rest, _, _ := strings.Cut(url[end:], "#")
	query := ""
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		query = rest[i:]
	}
	return string(o) + Unescape(PathOf(rest, 0), Unreserved) + Unescape(query, Unreserved)
}

// PathOf returns the path of a URL whose authority ends at the given byte, without dot
// segments, or "/" if the path is empty.
func PathOf(url string, end int) string {
	p := url[end:]
	p = p[:IndexAny(p, "?#")]
	if p == "" {
		return "/"
	}
	if !strings.Contains(p, "/.") && !strings.Contains(p, "/%2") {
		return p
	}
	p = strings.NewReplacer("%2e", ".", "%2E", ".").Replace(p)
	return string(removeDots([]byte(p), 0))
}
