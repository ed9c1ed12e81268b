package syntax

import (
	"net/netip"
	"time"
	"unicode/utf8"
)

// Scheme returns the length of the scheme of an absolute URI or IRI, or 0 if s is a
// relative reference (RFC 3986 §3.1).
func Scheme[T Text](s T) int {
	for i := range len(s) {
		switch c := s[i]; {
		case IsAlpha(c), i > 0 && (IsDigit(c) || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return i
		default:
			return 0
		}
	}
	return 0
}

// IsHTTP reports whether the scheme of s is http or https.
func IsHTTP[T Text](s T) bool {
	return hasPrefixFold(s, "http:") || hasPrefixFold(s, "https:")
}

// IRIFault checks an absolute IRI (RFC 3987 §2.2).
func IRIFault[T Text](s T) string {
	if len(s) == 0 {
		return "an empty IRI"
	}
	n := Scheme(s)
	if n == 0 {
		return "not an absolute IRI"
	}
	if rest := s[n+1:]; !IsHTTP(s) && authorityEnd(rest) == 0 && isAll(rest, pathChars|classQuestion) {
		return "" // tag:, urn: and the like
	}
	return ReferenceFault(s)
}

// ReferenceFault checks an IRI reference, which may be relative or empty (RFC 3987 §2.2).
func ReferenceFault[T Text](s T) string {
	if isPlainHTTP(s) {
		return ""
	}
	rest := s
	if n := Scheme(s); n > 0 {
		rest = s[n+1:]
	} else if end := IndexAny(s, ":/?#"); end < len(s) && s[end] == ':' {
		return "a colon without a scheme before it"
	}
	end := authorityEnd(rest)
	if end > 0 {
		if fault := authorityFault(rest[2:end], classUCS); fault != "" {
			return fault
		}
	}
	if IsHTTP(s) && (end == 0 || len(hostPort(rest[2:end])) == 0 || hostPort(rest[2:end])[0] == ':') {
		return "no host"
	}
	return tailFault(rest[end:], classUCS|classPrivate)
}

// isPlainHTTP reports whether s is an HTTP URL of the most common kind: a host, a path and
// perhaps a query, without a port, escapes or anything outside of ASCII.
func isPlainHTTP[T Text](s T) bool {
	host := len("http://")
	if len(s) > host && s[4] == 's' {
		host++
	}
	if len(s) <= host || string(s[:4]) != "http" || string(s[host-3:host]) != "://" {
		return false
	}
	end := host
	for end < len(s) && hostChars.Has(s[end]) {
		end++
	}
	return end > host && (end == len(s) || s[end] == '/') && isAll(s[end:], pathChars|classQuestion)
}

// authorityEnd returns the length of the two slashes and the authority at the beginning
// of s, a reference without its scheme, or 0 if there are none.
func authorityEnd[T Text](s T) int {
	if len(s) < 2 || s[0] != '/' || s[1] != '/' {
		return 0
	}
	return 2 + IndexAny(s[2:], "/?#")
}

// hostPort returns an authority without its user information.
func hostPort[T Text](authority T) T {
	if at := IndexAny(authority, "@"); at < len(authority) {
		return authority[at+1:]
	}
	return authority
}

// authorityFault checks userinfo@host:port. ucs is classUCS in an IRI, 0 in a URI.
func authorityFault[T Text](s T, ucs Class) string {
	if at := IndexAny(s, "@"); at < len(s) {
		if fault := charFault(s[:at], hostChars|classColon|ucs); fault != "" {
			return fault
		}
		s = s[at+1:]
	}
	host := IndexAny(s, ":")
	if len(s) > 0 && s[0] == '[' {
		if host = IndexAny(s, "]") + 1; host > len(s) {
			return "an IP address without its closing bracket"
		}
		ip, err := netip.ParseAddr(string(s[1 : host-1]))
		if !EqualFold(s[1:2], "v") && (err != nil || !ip.Is6() || ip.Zone() != "") {
			return "no IP address in the brackets"
		}
		if fault := charFault(s[1:host-1], hostChars|classColon|ucs); fault != "" {
			return fault
		}
	} else if fault := charFault(s[:host], hostChars|ucs); fault != "" {
		return fault
	}
	if host == len(s) {
		return ""
	}
	if s[host] != ':' {
		return "something between the host and the port"
	}
	if !isAll(s[host+1:], classDigit) {
		return "a port that is not a number"
	}
	return ""
}

// tailFault checks path?query#fragment. others are the allowed characters outside ASCII:
// classUCS and classPrivate in an IRI, none in a URI.
func tailFault[T Text](s T, others Class) string {
	if isAll(s, pathChars|classQuestion) {
		return ""
	}
	path := IndexAny(s, "?#")
	if fault := charFault(s[:path], pathChars|others&classUCS); fault != "" {
		return fault
	}
	s = s[path:]
	if len(s) > 0 && s[0] == '?' {
		query := IndexAny(s, "#")
		if fault := charFault(s[1:query], pathChars|classQuestion|others); fault != "" {
			return fault
		}
		s = s[query:]
	}
	if len(s) > 0 {
		return charFault(s[1:], pathChars|classQuestion|others&classUCS)
	}
	return ""
}

// charFault checks that a part of an IRI has only escapes and characters of a class.
func charFault[T Text](s T, class Class) string {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case class.Has(c):
		case c >= utf8.RuneSelf:
			if class&classUCS == 0 {
				return "characters outside ASCII that are not percent-encoded"
			}
			r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r == utf8.RuneError && n == 1 || !isUCS(r) && !(class&classPrivate != 0 && isPrivate(r)) {
				return "a character that no IRI has"
			}
			i += n - 1
		case c == '%':
			if _, ok := Escaped(s, i); !ok {
				return "a percent sign without two hexadecimal digits"
			}
			i += 2
		case IsSpace(c):
			return "white space inside"
		default:
			return "a character that has to be percent-encoded"
		}
	}
	return ""
}

// isUCS reports whether every part of an IRI may have a character outside ASCII.
func isUCS(r rune) bool {
	switch {
	case r < 0xA0, r >= 0xD800 && r < 0xF900, r >= 0xFDD0 && r < 0xFDF0:
		return false
	case r < 0x10000:
		return r < 0xFFF0
	}
	return r&0xFFFF < 0xFFFE && r < 0xF0000 && (r < 0xE0000 || r >= 0xE1000)
}

// isPrivate reports whether a character is for private use, which only a query may have.
func isPrivate(r rune) bool {
	return r >= 0xE000 && r < 0xF900 || r >= 0xF0000 && r&0xFFFF < 0xFFFE
}

// NormalFault returns how an IRI without a fault departs from its normal form, which ids
// should have (RFC 4287 §4.2.6.1, RFC 3987 §5.3.2).
func NormalFault[T Text](s T) string {
	n := Scheme(s)
	for i := range n {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return "capitals in the scheme"
		}
	}
	for i := range len(s) {
		switch c, ok := Escaped(s, i); {
		case !ok:
		case s[i+1] >= 'a' || s[i+2] >= 'a':
			return "small letters in percent-encoding"
		case Unreserved.Has(c):
			return "percent-encoding of a character that does not need it"
		}
	}
	if n > 0 {
		n++
	}
	rest := s[n:]
	end := authorityEnd(rest)
	if end == 0 {
		return ""
	}
	if fault := normalAuthorityFault(rest[2:end], s); fault != "" {
		return fault
	}
	path := rest[end : end+IndexAny(rest[end:], "?#")]
	if len(path) == 0 && IsHTTP(s) {
		return "an empty path, which is written as a slash"
	}
	if hasDots(path) {
		return "dot segments in the path"
	}
	return ""
}

// normalAuthorityFault is NormalFault for the authority of s.
func normalAuthorityFault[T Text](authority, s T) string {
	host := hostPort(authority)
	for i := 0; i < len(host); i++ {
		switch c := host[i]; {
		case c == '%':
			i += 2
		case c >= 'A' && c <= 'Z':
			return "capitals in the host"
		}
	}
	if len(host) == 0 {
		return ""
	}
	end := len(host) - 1
	for end > 0 && IsDigit(host[end]) {
		end--
	}
	if host[end] != ':' {
		return ""
	}
	port := host[end+1:]
	switch {
	case len(port) == 0,
		EqualFold(port, "80") && hasPrefixFold(s, "http:"),
		EqualFold(port, "443") && hasPrefixFold(s, "https:"):
		return "the scheme's default port"
	}
	return ""
}

// hasDots reports whether a path has a segment "." or "..".
func hasDots[T Text](path T) bool {
	start := 0
	for i := 0; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		if segment := path[start:i]; EqualFold(segment, ".") || EqualFold(segment, "..") {
			return true
		}
		start = i + 1
	}
	return false
}

// SchemeFault checks an absolute IRI by the rules of its scheme, if that is tag or urn.
func SchemeFault[T Text](s T) string {
	switch {
	case hasPrefixFold(s, "tag:"):
		return tagFault(s[len("tag:"):])
	case hasPrefixFold(s, "urn:"):
		return urnFault(s[len("urn:"):])
	}
	return ""
}

// tagFault checks what follows "tag:" (RFC 4151 §2.1): an authority, a comma, a date, a
// colon, and any string.
func tagFault[T Text](s T) string {
	comma := IndexAny(s, ",")
	if comma == len(s) {
		return "a tag without a comma after its authority"
	}
	if !isTagAuthority(s[:comma]) {
		return "a tag whose authority is neither a domain nor an e-mail address"
	}
	s = s[comma+1:]
	colon := IndexAny(s, ":")
	if colon == len(s) {
		return "a tag without a colon after its date"
	}
	if !isTagDate(s[:colon]) {
		return "a tag whose date is not a year, a month or a day"
	}
	return ""
}

func isTagAuthority[T Text](s T) bool {
	if at := IndexAny(s, "@"); at < len(s) {
		for i := range at {
			if c := s[i]; !Alnum.Has(c) && c != '-' && c != '.' && c != '_' {
				return false
			}
		}
		return at > 0 && isDomain(s[at+1:])
	}
	return isDomain(s)
}

// isDomain reports whether s is a domain: labels of letters, digits and hyphens with dots
// in between, of which none begins or ends with a hyphen.
func isDomain[T Text](s T) bool {
	label := 0
	for i := range len(s) {
		switch c := s[i]; {
		case Alnum.Has(c), c == '-' && label > 0:
			label++
		case c == '.' && label > 0 && s[i-1] != '-':
			label = 0
		default:
			return false
		}
	}
	return label > 0 && s[len(s)-1] != '-'
}

func isTagDate[T Text](s T) bool {
	const layout = "2006-01-02"
	switch len(s) {
	case len("2006"), len("2006-01"), len(layout):
		_, err := time.Parse(layout[:len(s)], string(s))
		return err == nil
	}
	return false
}

// urnFault checks what follows "urn:" (RFC 8141 §2): the identifier of a namespace, a
// colon, and a string that is not empty.
func urnFault[T Text](s T) string {
	colon := IndexAny(s, ":")
	nid := s[:colon]
	valid := len(nid) >= 2 && len(nid) <= 32 && nid[0] != '-' && nid[len(nid)-1] != '-'
	for i := range len(nid) {
		valid = valid && (Alnum.Has(nid[i]) || nid[i] == '-')
	}
	switch {
	case !valid:
		return "a URN whose namespace is not 2 to 32 letters, digits and hyphens"
	case colon == len(s):
		return "a URN without a colon after its namespace"
	}
	nss := s[colon+1:]
	nss = nss[:IndexAny(nss, "?#")]
	switch {
	case len(nss) == 0 || nss[0] == '/':
		return "a URN that names nothing in its namespace"
	case EqualFold(nid, "uuid") && !isUUID(nss):
		return "a urn:uuid that is not a UUID"
	}
	return ""
}

// isUUID reports whether s is a UUID as text (RFC 9562 §4).
func isUUID[T Text](s T) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (s[i] == '-') || !hyphen && !IsHex(s[i]) {
			return false
		}
	}
	return true
}
