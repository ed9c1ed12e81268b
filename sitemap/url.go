package sitemap

import (
	"net/netip"
	"strconv"
	"strings"
)

// A text is a URL as a document or a program has it. The functions on it allocate
// nothing.
type text interface{ ~string | []byte }

// splitURL returns where the host of an absolute HTTP URL starts and where its authority
// ends; 0, 0 if it is none.
func splitURL[T text](s T) (host, end int) {
	n := len("http://")
	if len(s) > 4 && s[4]|0x20 == 's' {
		n++
	}
	if len(s) <= n || !hasFold(s, "https://"[:4]) || s[n-3] != ':' || s[n-2] != '/' || s[n-1] != '/' {
		return 0, 0
	}
	for end = n; end < len(s) && s[end] != '/' && s[end] != '?' && s[end] != '#'; end++ {
	}
	if end == n {
		return 0, 0
	}
	return n, end
}

// hasFold tells whether s begins with prefix, which is in lower case.
func hasFold[T text](s T, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}

// urlFault tells what prevents s from being an absolute HTTP URL of RFC 3986; nothing:
// "".
func urlFault[T text](s T) string {
	host, end := splitURL(s)
	if end == 0 {
		return "not an absolute HTTP URL"
	}
	fragment := false
	for i := range len(s) {
		switch c := s[i]; {
		case locBytes[c]&notURL != 0:
			return "a character that no URL has"
		case locBytes[c]&notASCII != 0:
			return "characters outside ASCII that are not percent-encoded"
		case c == '%' && (len(s) < i+3 || !isHex(s[i+1]) || !isHex(s[i+2])):
			return "a percent sign without two hexadecimal digits after it"
		case (c == '[' || c == ']') && i >= end:
			return "a bracket that is not percent-encoded"
		case c == '#' && fragment:
			return "two fragments"
		case c == '#':
			fragment = true
		}
	}
	return authorityFault(s[host:end])
}

func authorityFault[T text](a T) string {
	for i := len(a) - 1; i >= 0; i-- {
		if a[i] == '@' {
			if !isUser(a[:i]) {
				return "a user name with characters that have to be percent-encoded"
			}
			a = a[i+1:]
			break
		}
	}
	colon := len(a)
	for i := len(a) - 1; i >= 0 && a[i] != ']'; i-- {
		if a[i] == ':' {
			colon = i
		}
	}
	name, port := a[:colon], a[colon:]
	if len(name) == 0 {
		return "a URL without a host"
	}
	n := 0
	for i := 1; i < len(port); i++ {
		if port[i] < '0' || port[i] > '9' {
			return "a port that is not a number"
		}
		if n = n*10 + int(port[i]-'0'); n > 65535 {
			return "a port above 65535"
		}
	}
	if name[0] == '[' {
		inner := strings.TrimSuffix(string(name[1:]), "]")
		if ip, err := netip.ParseAddr(inner); len(inner)+2 != len(name) || err != nil || !ip.Is6() || ip.Zone() != "" {
			return "a host in brackets that is no IPv6 address"
		}
		return ""
	}
	for i := range len(name) {
		switch {
		case name[i] == '[' || name[i] == ']':
			return "a bracket in the host"
		case name[i] == '%' && name[i+1] < '8':
			return "an ASCII character of the host that is percent-encoded"
		}
	}
	return ""
}

// isUser tells whether user information has only characters that it may have.
func isUser[T text](s T) bool {
	for i := range len(s) {
		if s[i] == '[' || s[i] == ']' || s[i] == '@' {
			return false
		}
	}
	return true
}

// emptyPort tells whether the host of an absolute HTTP URL is followed by a colon and
// nothing else.
func emptyPort[T text](s T) bool {
	_, end := splitURL(s)
	return s[end-1] == ':'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// An origin is a scheme, a host and a port, in lower case and without the port that goes
// without saying.
type origin string

// originOf returns the origin of an absolute HTTP URL, and where its path starts; "" if
// it is none.
func originOf(url string) (o origin, path int) {
	host, end := splitURL(url)
	if end == 0 {
		return "", 0
	}
	authority := strings.ToLower(url[host:end])
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	scheme, port := "http://", ":80"
	if host == len("https://") {
		scheme, port = "https://", ":443"
	}
	return origin(scheme + strings.TrimSuffix(strings.TrimSuffix(authority, port), ":")), end
}

// split returns the scheme and the rest of an origin.
func (o origin) split() (scheme, host string) {
	scheme, host, _ = strings.Cut(string(o), "://")
	return scheme, host
}

// canonical returns what is the same for all spellings of an HTTP URL that RFC 3986
// §6.2.2 and §6.2.3 call equivalent, without the fragment. Other URLs are returned as
// they are.
func canonical(url string) string {
	o, end := originOf(url)
	if o == "" {
		return url
	}
	rest, _, _ := strings.Cut(url[end:], "#")
	path, query := rest, ""
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		path, query = rest[:i], rest[i:]
	}
	return string(o) + pathOf(plain(path), 0) + plain(query)
}

// plain returns s with the same percent-encoding for the same characters: letters, digits
// and "-._~" stand for themselves, and the digits of the others are in capitals.
func plain(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			b.WriteByte(s[i])
			continue
		}
		triplet := strings.ToUpper(s[i : i+3])
		n, _ := strconv.ParseUint(triplet[1:], 16, 8)
		switch c := byte(n); {
		case '0' <= c && c <= '9', 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString(triplet)
		}
		i += 2
	}
	return b.String()
}
