package atom

import (
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync"
)

// chars are what the checks of this file take. None of them keeps its argument or needs
// memory. A check returns in a few words what is wrong, fit for the message of a Finding
// or an error; "" if nothing is.
type chars interface{ ~string | ~[]byte }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// Classes of characters.
const (
	classToken      uint8 = 1 << iota // of a token (RFC 9110 §5.6.2)
	classAtom                         // of an atom (RFC 5322 §3.2.3)
	classUnreserved                   // never needs to be percent-encoded (RFC 3986 §2.3)
	classIRI                          // may stand anywhere in an IRI: those, and sub-delims
	classColon
	classAt
	classSlash
	classQuestion
)

var classes = func() (t [256]uint8) {
	mark := func(class uint8, chars string) {
		for i := range len(chars) {
			t[chars[i]] |= class
		}
	}
	for c := range byte(utf8.RuneSelf) {
		if isAlpha(c) || isDigit(c) {
			t[c] = classToken | classAtom | classUnreserved | classIRI
		}
	}
	mark(classToken, "!#$%&'*+-.^_`|~")
	mark(classAtom, "!#$%&'*+-/=?^_`{|}~")
	mark(classUnreserved|classIRI, "-._~")
	mark(classIRI, "!$&'()*+,;=")
	mark(classColon, ":")
	mark(classAt, "@")
	mark(classSlash, "/")
	mark(classQuestion, "?")
	return t
}()

// runeAt returns the character at s[i].
func runeAt[T chars](s T, i int) (rune, int) {
	return utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
}

// equalFold tells whether s is lower, which has only small letters of ASCII, in any case.
func equalFold[T chars](s T, lower string) bool {
	if len(s) != len(lower) {
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

// indexAny returns where the first of some characters stands in s; len(s) if none does.
func indexAny[T chars](s T, set string) int {
	for i := range len(s) {
		for j := range len(set) {
			if s[i] == set[j] {
				return i
			}
		}
	}
	return len(s)
}

// schemeEnd returns where the colon after the scheme of an IRI stands; -1 if there is
// none, which makes it a relative reference.
func schemeEnd[T chars](s T) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c == ':':
			if i == 0 {
				return -1
			}
			return i
		case isAlpha(c), i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		default:
			return -1
		}
	}
	return -1
}

// isHTTP tells whether the scheme of an IRI, which ends before colon, is http or https.
func isHTTP[T chars](s T, colon int) bool {
	return equalFold(s[:colon], "http") || equalFold(s[:colon], "https")
}

// iriFault checks an absolute IRI (RFC 3987 §2.2).
func iriFault[T chars](s T) string {
	if len(s) == 0 {
		return "an empty IRI"
	}
	if schemeEnd(s) < 0 {
		return "not an absolute IRI"
	}
	return iriReferenceFault(s)
}

// idSchemeFault checks an absolute IRI by the rules of its scheme, where that is one that
// ids often have.
func idSchemeFault[T chars](s T) string {
	colon := schemeEnd(s)
	if colon < 0 {
		return ""
	}
	rest := s[colon+1:]
	switch {
	case equalFold(s[:colon], "tag"):
		return tagFault(rest)
	case equalFold(s[:colon], "urn"):
		return urnFault(rest)
	}
	return ""
}

// tagFault checks what follows "tag:" (RFC 4151 §2.1): an authority, a comma, a date, a
// colon, and anything.
func tagFault[T chars](s T) string {
	comma := indexAny(s, ",")
	if comma == len(s) {
		return "a tag without a comma after its authority"
	}
	if !isTagAuthority(s[:comma]) {
		return "a tag whose authority is neither a domain nor an e-mail address"
	}
	s = s[comma+1:]
	colon := indexAny(s, ":")
	if colon == len(s) {
		return "a tag without a colon after its date"
	}
	if !isTagDate(s[:colon]) {
		return "a tag whose date is not a year, a month or a day"
	}
	return ""
}

func isTagAuthority[T chars](s T) bool {
	if at := indexAny(s, "@"); at < len(s) {
		for i := range at {
			if c := s[i]; !isAlpha(c) && !isDigit(c) && c != '-' && c != '.' && c != '_' {
				return false
			}
		}
		return at > 0 && isDomain(s[at+1:])
	}
	return isDomain(s)
}

// isDomain reports whether s is labels of letters, digits and hyphens, which neither
// start nor end one, with dots in between.
func isDomain[T chars](s T) bool {
	label := 0
	for i := range len(s) {
		switch c := s[i]; {
		case isAlpha(c), isDigit(c):
			label++
		case c == '-' && label > 0:
			label++
		case c == '.' && label > 0 && s[i-1] != '-':
			label = 0
		default:
			return false
		}
	}
	return label > 0 && s[len(s)-1] != '-'
}

func isTagDate[T chars](s T) bool {
	switch len(s) {
	case len("2006"), len("2006-01"), len("2006-01-02"):
	default:
		return false
	}
	d, err := websync.ParseDatetime(string(s))
	return err == nil && d.Precision() <= websync.PrecisionDay
}

// urnFault checks what follows "urn:" (RFC 8141 §2): the identifier of a namespace, a
// colon, and what is not empty.
func urnFault[T chars](s T) string {
	colon := indexAny(s, ":")
	nid := s[:colon]
	valid := len(nid) >= 2 && len(nid) <= 32 && nid[0] != '-' && nid[len(nid)-1] != '-'
	for i := range len(nid) {
		valid = valid && (isAlpha(nid[i]) || isDigit(nid[i]) || nid[i] == '-')
	}
	switch {
	case !valid:
		return "a URN whose namespace is not 2 to 32 letters, digits and hyphens"
	case colon == len(s):
		return "a URN without a colon after its namespace"
	}
	nss := s[colon+1:]
	nss = nss[:indexAny(nss, "?#")]
	switch {
	case len(nss) == 0 || nss[0] == '/':
		return "a URN that names nothing in its namespace"
	case equalFold(nid, "uuid") && !isUUID(nss):
		return "a urn:uuid that is not a UUID"
	}
	return ""
}

// isUUID reports whether s is a UUID as text (RFC 9562 §4).
func isUUID[T chars](s T) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (s[i] == '-') || !hyphen && !isHex(s[i]) {
			return false
		}
	}
	return true
}

// iriReferenceFault checks an IRI, absolute or relative, perhaps empty (RFC 3987 §2.2).
func iriReferenceFault[T chars](s T) string {
	rest := s
	colon := schemeEnd(s)
	if colon >= 0 {
		rest = s[colon+1:]
	} else if end := indexAny(s, ":/?#"); end < len(s) && s[end] == ':' {
		return "a colon without a scheme before it"
	}
	if len(rest) >= 2 && rest[0] == '/' && rest[1] == '/' {
		end := 2 + indexAny(rest[2:], "/?#")
		if fault := authorityFault(rest[2:end]); fault != "" {
			return fault
		}
		host := rest[2:end]
		if at := indexAny(host, "@"); at < len(host) {
			host = host[at+1:]
		}
		if colon >= 0 && isHTTP(s, colon) && (len(host) == 0 || host[0] == ':') {
			return "no host"
		}
		rest = rest[end:]
	} else if colon >= 0 && isHTTP(s, colon) {
		return "no host"
	}
	path := indexAny(rest, "?#")
	if fault := iriCharFault(rest[:path], classColon|classAt|classSlash, false); fault != "" {
		return fault
	}
	rest = rest[path:]
	if len(rest) > 0 && rest[0] == '?' {
		query := indexAny(rest, "#")
		if fault := iriCharFault(rest[1:query], classColon|classAt|classSlash|classQuestion, true); fault != "" {
			return fault
		}
		rest = rest[query:]
	}
	if len(rest) > 0 {
		return iriCharFault(rest[1:], classColon|classAt|classSlash|classQuestion, false)
	}
	return ""
}

// authorityFault checks userinfo@host:port.
func authorityFault[T chars](s T) string {
	if at := indexAny(s, "@"); at < len(s) {
		if fault := iriCharFault(s[:at], classColon, false); fault != "" {
			return fault
		}
		s = s[at+1:]
	}
	host := indexAny(s, ":")
	if len(s) > 0 && s[0] == '[' {
		if host = indexAny(s, "]") + 1; host > len(s) {
			return "an IP address without its closing bracket"
		}
		if ip, err := netip.ParseAddr(string(s[1 : host-1])); !equalFold(s[1:2], "v") && (err != nil || !ip.Is6() || ip.Zone() != "") {
			return "no IP address in the brackets"
		}
		if fault := iriCharFault(s[1:host-1], classColon, false); fault != "" {
			return fault
		}
	} else if fault := iriCharFault(s[:host], 0, false); fault != "" {
		return fault
	}
	if host == len(s) {
		return ""
	}
	if s[host] != ':' {
		return "something between the host and the port"
	}
	for i := host + 1; i < len(s); i++ {
		if !isDigit(s[i]) {
			return "a port that is not a number"
		}
	}
	return ""
}

// iriCharFault checks the characters of a part of an IRI: those that may stand anywhere,
// percent-encoded ones, those of some more classes, and, in a query, private ones.
func iriCharFault[T chars](s T, also uint8, query bool) string {
	also |= classIRI
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case classes[c]&also != 0:
		case c >= utf8.RuneSelf:
			r, n := runeAt(s, i)
			if r == utf8.RuneError && n == 1 || !isUCS(r) && !(query && isPrivate(r)) {
				return "a character that no IRI has"
			}
			i += n - 1
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return "a percent sign without two hex digits"
			}
			i += 2
		case isSpace(c):
			return "white space in an IRI"
		default:
			return "a character that has to be percent-encoded"
		}
	}
	return ""
}

// isUCS tells whether a character outside ASCII may stand in every part of an IRI.
func isUCS(r rune) bool {
	switch {
	case r < 0xA0, r >= 0xD800 && r < 0xF900, r >= 0xFDD0 && r < 0xFDF0:
		return false
	case r < 0x10000:
		return r < 0xFFF0
	}
	return r&0xFFFF < 0xFFFE && r < 0xF0000 && (r < 0xE0000 || r >= 0xE1000)
}

// isPrivate tells whether a character is for private use, which only a query may have.
func isPrivate(r rune) bool {
	return r >= 0xE000 && r < 0xF900 || r >= 0xF0000 && r&0xFFFF < 0xFFFE
}

// iriUnnormal says in what an IRI that has no fault is not normalised, as ids should be
// (RFC 4287 §4.2.6.1, RFC 3987 §5.3.2); "" if it is.
func iriUnnormal[T chars](s T) string {
	colon := schemeEnd(s)
	for i := range max(colon, 0) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			return "capitals in the scheme"
		}
	}
	for i := 0; i+2 < len(s); i++ {
		if s[i] != '%' {
			continue
		}
		if s[i+1] >= 'a' || s[i+2] >= 'a' {
			return "small letters in percent-encoding"
		}
		if classes[unhex(s[i+1])<<4|unhex(s[i+2])]&classUnreserved != 0 {
			return "percent-encoding of a character that does not need it"
		}
	}
	rest := s[colon+1:]
	if len(rest) < 2 || rest[0] != '/' || rest[1] != '/' {
		return ""
	}
	end := 2 + indexAny(rest[2:], "/?#")
	if fault := authorityUnnormal(rest[2:end], s, colon); fault != "" {
		return fault
	}
	path := rest[end : end+indexAny(rest[end:], "?#")]
	if len(path) == 0 && isHTTP(s, colon) {
		return "an empty path, which is written as a slash"
	}
	if hasDots(path) {
		return "dot segments in the path"
	}
	return ""
}

func authorityUnnormal[T chars](authority, s T, colon int) string {
	host := authority
	if at := indexAny(host, "@"); at < len(host) {
		host = host[at+1:]
	}
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
	for end > 0 && isDigit(host[end]) {
		end--
	}
	if host[end] != ':' {
		return ""
	}
	port := string(host[end+1:])
	if port == "" || port == "80" && equalFold(s[:colon], "http") || port == "443" && equalFold(s[:colon], "https") {
		return "the port that the scheme has anyway"
	}
	return ""
}

// hasDots tells whether a path has a segment that is "." or "..".
func hasDots[T chars](path T) bool {
	start := 0
	for i := 0; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		switch segment := path[start:i]; {
		case len(segment) == 1 && segment[0] == '.', len(segment) == 2 && segment[0] == '.' && segment[1] == '.':
			return true
		}
		start = i + 1
	}
	return false
}

// unhex returns the value of a hex digit.
func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// A langTag is what is left of a language tag while it is read.
type langTag[T chars] struct{ rest T }

// peek returns the next subtag.
func (t *langTag[T]) peek() T { return t.rest[:indexAny(t.rest, "-")] }

// next passes over the next subtag.
func (t *langTag[T]) next() {
	n := len(t.peek())
	t.rest = t.rest[min(n+1, len(t.rest)):]
}

// take passes over the next subtag if it has from min to max characters and is of letters
// only, if that is asked for.
func (t *langTag[T]) take(least, most int, letters bool) bool {
	sub := t.peek()
	if len(sub) < least || len(sub) > most {
		return false
	}
	for i := range len(sub) {
		if !isAlpha(sub[i]) && (letters || !isDigit(sub[i])) {
			return false
		}
	}
	t.next()
	return true
}

// irregular are the tags that the grammar does not cover and that are valid all the same
// (RFC 5646 §2.2.8).
var irregular = [...]string{
	"en-gb-oed", "i-ami", "i-bnn", "i-default", "i-enochian", "i-hak", "i-klingon", "i-lux", "i-mingo", "i-navajo", "i-pwn",
	"i-tao", "i-tay", "i-tsu", "sgn-be-fr", "sgn-be-nl", "sgn-ch-de",
}

// languageFault checks that a language tag is well-formed (RFC 5646 §2.1).
func languageFault[T chars](s T) string {
	const fault = "not a language tag"
	for _, known := range irregular {
		if equalFold(s, known) {
			return ""
		}
	}
	if len(s) == 0 || s[len(s)-1] == '-' {
		return fault
	}
	t := langTag[T]{s}
	if sub := t.peek(); !equalFold(sub, "x") {
		t.language()
		if len(t.rest) == len(s) || !t.extensions() {
			return fault
		}
	}
	if equalFold(t.peek(), "x") && len(t.peek()) < len(t.rest) {
		for t.next(); t.take(1, 8, false); {
		}
	}
	if len(t.rest) > 0 {
		return fault
	}
	return ""
}

// language passes over language, script, region and variants.
func (t *langTag[T]) language() {
	switch n := len(t.peek()); {
	case n < 2 || !t.take(2, 8, true):
		return
	case n <= 3:
		for range 3 {
			t.take(3, 3, true)
		}
	}
	t.take(4, 4, true)
	if region := t.peek(); len(region) == 2 || len(region) == 3 && isDigit(region[0]) && isDigit(region[1]) && isDigit(region[2]) {
		t.take(2, 3, len(region) == 2)
	}
	for {
		sub := t.peek()
		if len(sub) < 4 || len(sub) == 4 && !isDigit(sub[0]) || !t.take(4, 8, false) {
			return
		}
	}
}

// extensions passes over the extensions. It returns false if one has nothing but its
// letter.
func (t *langTag[T]) extensions() bool {
	for {
		sub := t.peek()
		if len(sub) != 1 || equalFold(sub, "x") || !isAlpha(sub[0]) && !isDigit(sub[0]) {
			return true
		}
		t.next()
		if !t.take(2, 8, false) {
			return false
		}
		for t.take(2, 8, false) {
		}
	}
}

// mediaTypeFault checks a media type, perhaps with parameters (RFC 2045 §5.1).
func mediaTypeFault[T chars](s T) string {
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

func tokenEnd[T chars](s T, i int) int {
	for i < len(s) && classes[s[i]]&classToken != 0 {
		i++
	}
	return i
}

func spaceEnd[T chars](s T, i int) int {
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	return i
}

// valueEnd returns where the token or quoted string at i ends; i if there is none.
func valueEnd[T chars](s T, i int) int {
	if i == len(s) || s[i] != '"' {
		return tokenEnd(s, i)
	}
	if end := quotedEnd(s, i); end > 0 {
		return end
	}
	return i
}

// quotedEnd returns where the quoted string that starts at i ends; 0 if it has no end.
func quotedEnd[T chars](s T, i int) int {
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

// essence returns a media type without its parameters.
func essence[T chars](s T) T {
	end := indexAny(s, "; \t\r\n")
	return s[:end]
}

// isCompositeType tells whether a media type is message/… or multipart/… (RFC 2045 §5.1).
func isCompositeType[T chars](s T) bool {
	slash := indexAny(s, "/")
	return equalFold(s[:slash], "message") || equalFold(s[:slash], "multipart")
}

// isTextType tells whether a media type is text/….
func isTextType[T chars](s T) bool { return equalFold(s[:indexAny(s, "/")], "text") }

// isXMLType tells whether a media type is one of XML's (RFC 7303 §9, RFC 4287 §4.1.3.3).
func isXMLType[T chars](s T) bool {
	t := essence(s)
	return len(t) > 4 && (equalFold(t[len(t)-4:], "+xml") || equalFold(t[len(t)-4:], "/xml")) ||
		equalFold(t, "text/xml-external-parsed-entity") || equalFold(t, "application/xml-external-parsed-entity") ||
		equalFold(t, "application/xml-dtd")
}

// emailFault checks an address as mail has it: local@domain (RFC 5322 §3.4.1), with no
// name and no comment around it.
func emailFault[T chars](s T) string {
	const fault = "not an e-mail address"
	at := dotAtomEnd(s, 0)
	if len(s) > 0 && s[0] == '"' {
		at = quotedEnd(s, 0)
	}
	if at == 0 || at == len(s) || s[at] != '@' {
		return fault
	}
	domain := s[at+1:]
	if len(domain) > 2 && domain[0] == '[' {
		if end := indexAny(domain[1:], "[]\\ \t\r\n"); end != len(domain)-2 || domain[end+1] != ']' {
			return fault
		}
		return ""
	}
	if len(domain) == 0 || dotAtomEnd(domain, 0) != len(domain) {
		return fault
	}
	return ""
}

// dotAtomEnd returns where the atoms with single dots between them end, that start at i;
// i if there are none. Letters outside ASCII count as atext (RFC 6531 §3.3).
func dotAtomEnd[T chars](s T, i int) int {
	start := i
	for i < len(s) {
		switch c := s[i]; {
		case c >= utf8.RuneSelf, classes[c]&classAtom != 0:
		case c == '.' && i > start && s[i-1] != '.' && i+1 < len(s) && s[i+1] != '@':
		default:
			return i
		}
		i++
	}
	return i
}

// date3339 reads a date as Atom has it: RFC 3339, with a time, seconds, a zone, and the
// letters T and Z as capitals (RFC 4287 §3.3). What is only a departure from that, and
// has a time all the same, is returned with its fault.
func date3339[T chars](s T) (d websync.Datetime, fault string) {
	d, err := websync.ParseDatetime(string(s))
	switch {
	case err != nil:
		d, fault, err = websync.ParseDatetimeLenient(string(s))
		if err != nil {
			return websync.Datetime{}, "not an RFC 3339 date: " + err.Error()
		}
		return d, "not an RFC 3339 date: " + fault
	case d.Precision() <= websync.PrecisionDay:
		return d, "a date without a time"
	case d.Precision() < websync.PrecisionSecond:
		return d, "a time without seconds"
	case indexAny(s, "tz") < len(s):
		return d, "a small t or z"
	}
	return d, ""
}

// relations are the registered names of link relations (RFC 8288 §4.2), those of 2026.
var relations = strings.Fields(`about acl alternate amphtml api-catalog appendix apple-touch-icon apple-touch-startup-image archives author
blocked-by bookmark c2pa-manifest canonical chapter cite-as collection compression-dictionary contents convertedfrom copyright
create-form current deprecation describedby describes disclosure dns-prefetch duplicate edit edit-form edit-media enclosure
external first geofeed glossary help hosts hub ice-server icon index intervalafter intervalbefore intervalcontains
intervaldisjoint intervalduring intervalequals intervalfinishedby intervalfinishes intervalin intervalmeets intervalmetby
intervaloverlappedby intervaloverlaps intervalstartedby intervalstarts item last latest-version license linkset lrdd manifest
mask-icon me media-feed memento micropub modulepreload monitor monitor-group next next-archive nofollow noopener noreferrer
opener openid2.local_id openid2.provider original p3pv1 payment pingback preconnect predecessor-version prefetch preload
prerender prev prev-archive preview previous privacy-policy profile publication rdap-active rdap-bottom rdap-down rdap-top
rdap-up related replies restconf ruleinput search section self service service-desc service-doc service-meta sip-trunking-capability
sponsored start status stylesheet subsection successor-version sunset tag terms-of-service timegate timemap token_endpoint
type ugc up version-history via webmention working-copy working-copy-of`)

// isRelation tells whether a name is a registered link relation.
func isRelation[T chars](s T) bool {
	for _, known := range relations {
		if equalFold(s, known) {
			return true
		}
	}
	return false
}

// relFault checks a link relation: a name without a colon or slash, or an IRI (RFC 4287
// §4.2.7.2).
func relFault[T chars](s T) string {
	switch {
	case len(s) == 0:
		return "an empty relation"
	case schemeEnd(s) >= 0:
		return iriFault(s)
	case indexAny(s, ":/?#") < len(s):
		return "neither a name nor an absolute IRI"
	}
	return iriCharFault(s, classAt, false)
}

// lengthFault checks a number of bytes.
func lengthFault[T chars](s T) string {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return "not a number of bytes"
		}
	}
	if len(s) == 0 || len(s) > 18 {
		return "not a number of bytes"
	}
	return ""
}

// digestSizes are the bytes of a digest, by the algorithms that the link extensions name
// (Atom Link Extensions 09 §3.2).
var digestSizes = [...]struct {
	name string
	size int
}{{"md5", 16}, {"sha-256", 32}, {"sha-1", 20}, {"sha-512", 64}, {"sha-384", 48}, {"sha-224", 28}, {"md2", 16}}

// digestSize returns the bytes of an algorithm's digest; 0 if the link extensions do not
// name it.
func digestSize[T chars](algorithm T) int {
	for _, known := range digestSizes {
		if equalFold(algorithm, known.name) {
			return known.size
		}
	}
	return 0
}

// digestFault checks one algorithm:digest of a hash (Atom Link Extensions 09 §3.2).
func digestFault[T chars](s T) string {
	colon := tokenEnd(s, 0)
	if colon == 0 || colon == len(s) || s[colon] != ':' {
		return "not an algorithm, a colon and a digest"
	}
	digits := s[colon+1:]
	for i := range len(digits) {
		if !isHex(digits[i]) {
			return "a digest that is not in hex"
		}
	}
	if size := digestSize(s[:colon]); len(digits) == 0 || size > 0 && len(digits) != 2*size {
		return "a digest that does not have its algorithm's length"
	}
	return ""
}

// entityTagFault checks an entity tag (Atom Link Extensions 09 §4).
func entityTagFault[T chars](s T) string {
	start := 0
	if len(s) > 2 && s[0] == 'W' && s[1] == '/' {
		start = 2
	}
	if start == len(s) || s[start] != '"' || quotedEnd(s, start) != len(s) {
		return "not an entity tag in its quotation marks"
	}
	return ""
}

// base64Fault checks Base64 (RFC 4648 §4) with white space around it and single line
// feeds between its lines (RFC 4287 §4.1.3.3).
func base64Fault[T chars](s T) string {
	i, end := spaceEnd(s, 0), len(s)
	for end > i && isSpace(s[end-1]) {
		end--
	}
	digits, padding := 0, 0
	for ; i < end; i++ {
		switch c := s[i]; {
		case c == '\n':
			if s[i+1] == '\n' {
				return "an empty line in Base64"
			}
		case isSpace(c):
			return "a space in Base64"
		case c == '=':
			padding++
		case padding > 0:
			return "something after the end of Base64"
		case isAlpha(c), isDigit(c), c == '+', c == '/':
			digits++
		default:
			return "a character that Base64 does not have"
		}
	}
	if (digits+padding)%4 != 0 || padding > 2 {
		return "Base64 that is cut short, or with wrong padding"
	}
	return ""
}
