package xmlscan

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// How much memory the names of one document may take before the table is emptied.
const (
	maxNames     = 4096
	maxNameBytes = 1 << 20
)

// A qname is a name as it is written in the document.
type qname struct {
	raw      string
	local    string
	prefix   *prefix
	declares *prefix // for xmlns and xmlns:…, the prefix that such an attribute declares
	next     *qname  // the name that followed last time, and another one that did
	other    *qname
	serial   uint64 // the last tag that had an attribute of this name

	// "<raw>", if it is that short: to be copied and compared without a call
	tag [tagSize]byte
}

const tagSize = 32 // two machine registers: copied without a call

// leads reports whether b starts with q.raw. b has that many bytes and at least eight.
func (q *qname) leads(b []byte) bool {
	n := len(q.raw)
	if n > 8 {
		return string(b[:n]) == q.raw
	}
	return (binary.LittleEndian.Uint64(b)^binary.LittleEndian.Uint64(q.tag[1:]))<<((64-n*8)&63) == 0
}

// names holds all names that a document has used so far, checked once. Documents repeat
// themselves, so a name is first compared with two that have followed its predecessor,
// then looked up in a small cache, then in the map.
type names struct {
	byRaw    map[string]*qname
	cache    [256]*qname
	last     *qname // the last name read; never nil
	size     int    // bytes in byRaw and uris
	full     bool   // a limit is passed: call forget
	serial   uint64 // counts tags with attributes
	prefixes map[string]*prefix
	uris     map[string]string
	none     *prefix // the default namespace
	captures uint64  // counts captures
	binds    []binding
}

// reset removes all declarations. The names stay, because the next document is often of
// the same kind.
func (t *names) reset() {
	t.unbind(0)
	if t.byRaw == nil {
		t.byRaw = make(map[string]*qname)
		t.prefixes = make(map[string]*prefix)
		t.uris = make(map[string]string)
		t.none = new(prefix)
		t.forget()
	}
}

// forget drops the names, prefixes and URIs that are not in use. The names of open
// elements stay in the stack.
func (t *names) forget() {
	for _, q := range t.byRaw {
		q.next, q.other = nil, nil // or each open element would hold on to all names of its time
	}
	clear(t.byRaw)
	clear(t.cache[:])
	for name, p := range t.prefixes {
		if p.captured == 0 || p.captured != t.captures { // a capture declares each once
			delete(t.prefixes, name)
		}
	}
	clear(t.uris)
	t.size = 0
	t.full = false
	t.last = new(qname)
	t.prefixes[""] = t.none
	t.prefixes["xml"] = &prefix{name: "xml", uri: xmlURI}
	t.prefixes["xmlns"] = &prefix{name: "xmlns", uri: xmlnsURI}
	for _, b := range t.binds {
		t.prefixes[b.prefix.name] = b.prefix
		t.uris[b.prefix.uri] = b.prefix.uri
	}
}

// readName reads the name at buf[p] and returns it with the offset behind it. It returns
// nil after an error and if the buffer ends first.
func (r *Reader) readName(p int) (*qname, int) {
	last := r.last
	if q := last.next; q != nil {
		if n := p + len(q.raw); n < r.end && class[r.buf[n]]&nameByte == 0 && q.leads(r.buf[p:]) {
			r.last = q
			return q, n
		}
	}
	if q := last.other; q != nil {
		if n := p + len(q.raw); n < r.end && class[r.buf[n]]&nameByte == 0 && q.leads(r.buf[p:]) {
			last.next, last.other = q, last.next
			r.last = q
			return q, n
		}
	}
	return r.findName(p)
}

func (r *Reader) findName(p int) (*qname, int) {
	raw := r.buf[p:r.end]
	raw = raw[:nameLen(raw)]
	n := len(raw)
	switch {
	case p+n == r.end:
		return nil, p
	case n == 0:
		r.fail(p, nil, "%q where a name is expected", r.buf[p:p+1])
		return nil, p
	}
	if q := r.find(raw); q != nil {
		return q, p + n
	}
	r.fail(p, nil, "invalid name %q", raw)
	return nil, p
}

// find returns the name raw, which is not empty; nil if it is no name.
func (t *names) find(raw []byte) *qname {
	n := len(raw)
	slot := &t.cache[(uint(raw[0])+uint(raw[n/2])*7+uint(raw[n-1])*31+uint(n)*61)%uint(len(t.cache))]
	q := *slot
	if q == nil || q.raw != string(raw) {
		if q = t.byRaw[string(raw)]; q == nil {
			if q = t.intern(raw); q == nil {
				return nil
			}
		}
		*slot = q
	}
	t.last.next, t.last.other = q, t.last.next
	t.last = q
	return q
}

// intern checks raw and adds it to the table. It returns nil if raw is no name.
func (t *names) intern(raw []byte) *qname {
	q := &qname{raw: string(raw), prefix: t.none}
	q.local = q.raw
	if i := bytes.IndexByte(raw, ':'); i >= 0 {
		if !isNCName(raw[:i]) {
			return nil
		}
		q.prefix = t.prefix(q.raw[:i])
		q.local = q.raw[i+1:]
	}
	if !isNCName(raw[len(raw)-len(q.local):]) {
		return nil
	}
	switch {
	case q.raw == "xmlns":
		q.declares = t.none
	case q.prefix.uri == xmlnsURI:
		q.declares = t.prefix(q.local)
	}
	if len(raw) <= tagSize-2 {
		q.tag[0] = '<'
		q.tag[1+copy(q.tag[1:], raw)] = '>'
	}
	t.byRaw[q.raw] = q
	t.size += len(raw)
	t.full = t.size > maxNameBytes || len(t.byRaw) > maxNames
	return q
}

// isNCName reports whether b is a name without a colon, by XML 1.0 fifth edition §2.3.
func isNCName(b []byte) bool {
	if len(b) == 0 || class[b[0]]&nameStart == 0 {
		return false
	}
	for i := 0; i < len(b); {
		c := b[i]
		if c < utf8.RuneSelf {
			if class[c]&nameByte == 0 || c == ':' {
				return false
			}
			i++
			continue
		}
		c32, n := utf8.DecodeRune(b[i:])
		if n == 1 || !isNameRune(c32, i == 0) {
			return false
		}
		i += n
	}
	return true
}

// isNameRune reports whether a character outside ASCII can stand in a name, or start one:
// productions [4] and [4a].
func isNameRune(c rune, start bool) bool {
	for _, r := range nameStartRanges {
		if c <= r[1] {
			if c >= r[0] {
				return true
			}
			break
		}
	}
	return !start && (c == 0xB7 || 0x300 <= c && c <= 0x36F || 0x203F <= c && c <= 0x2040)
}

var nameStartRanges = [...][2]rune{
	{0xC0, 0xD6}, {0xD8, 0xF6}, {0xF8, 0x2FF}, {0x370, 0x37D}, {0x37F, 0x1FFF}, {0x200C, 0x200D}, {0x2070, 0x218F},
	{0x2C00, 0x2FEF}, {0x3001, 0xD7FF}, {0xF900, 0xFDCF}, {0xFDF0, 0xFFFD}, {0x10000, 0xEFFFF},
}
