package xmlscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
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
	serial   uint64  // the last tag that had an attribute of this name
	ends     nameEnds
	pattern  namePattern
}

// A nameEnds is the first and the last eight bytes of a name; both are the whole name,
// filled up with zeros, if it is shorter.
type nameEnds struct{ first, last uint64 }

// endsOf returns the ends of the n bytes at the start of b. At least eight can be read.
func endsOf(b []byte, n int) nameEnds {
	x := binary.LittleEndian.Uint64(b)
	if n < 8 {
		x &= 1<<(n*8&63) - 1
		return nameEnds{x, x}
	}
	return nameEnds{x, binary.LittleEndian.Uint64(b[n-8:])}
}

// A namePattern is what an end tag has behind its "</": the name and '>', or the first
// eight bytes of these. The mask has the bits of the bytes that count.
type namePattern struct{ word, mask uint64 }

func patternOf(name string) namePattern {
	b := append(make([]byte, 0, 64), name...)
	b = append(b, ">\x00\x00\x00\x00\x00\x00\x00"...)
	p := namePattern{binary.LittleEndian.Uint64(b), 1<<64 - 1}
	if len(name) < 7 {
		p.mask = 1<<((len(name)+1)*8) - 1
	}
	return p
}

// endsAt reports whether q.raw and '>' stand at b[p]. The eight bytes there are x.
func (q *qname) endsAt(b []byte, p int, x uint64) bool {
	if (x^q.pattern.word)&q.pattern.mask != 0 {
		return false
	}
	n := len(q.raw)
	return n < 8 || p+n < len(b) && b[p+n] == '>' && string(b[p:p+n]) == q.raw
}

// is reports whether b, which has such ends, is q.raw.
func (q *qname) is(ends nameEnds, b []byte) bool {
	return q.ends == ends && len(q.raw) == len(b) && (len(b) <= 16 || q.raw == string(b))
}

// names holds all names that a document has used so far, checked once. Documents repeat
// themselves: the cache has most names, in one of the two places that their ends give.
type names struct {
	byRaw    map[string]*qname
	cache    [512]*qname
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
	t.prefixes[""] = t.none
	t.prefixes["xml"] = &prefix{name: "xml", uri: xmlURI}
	t.prefixes["xmlns"] = &prefix{name: "xmlns", uri: xmlnsURI}
	for _, b := range t.binds {
		t.prefixes[b.prefix.name] = b.prefix
		t.uris[b.prefix.uri] = b.prefix.uri
	}
}

// places returns the two places in the cache of names with such ends.
func (t *names) places(e nameEnds) (a, b **qname) {
	i := (e.first ^ bits.RotateLeft64(e.last, 29)) * 0x9E3779B97F4A7C15 >> 55
	return &t.cache[i], &t.cache[i^1]
}

// put makes q the first of its places in the cache.
func (t *names) put(q *qname) {
	first, second := t.places(q.ends)
	*first, *second = q, *first
}

// readName reads the name at buf[p], whose first eight bytes are x, and returns it with
// the offset behind it. It returns nil after an error and if the buffer ends first; a
// short name may then end with the buffer.
func (r *Reader) readName(p int, x uint64) (*qname, int) {
	m := nameStops(x)
	if m == 0 {
		return r.readLongName(p, x)
	}
	n := bits.TrailingZeros64(m) >> 3
	x &= 1<<(n*8&63) - 1
	first, _ := r.places(nameEnds{x, x})
	if q := *first; q != nil && q.ends.first == x { // x is the whole name
		return q, p + n
	}
	return r.findName(p, n, nameEnds{x, x})
}

// readLongName is readName for a name of eight bytes or more.
func (r *Reader) readLongName(p int, x uint64) (*qname, int) {
	b := r.buf
	for i := p + 8; ; i += 8 {
		if m := nameStops(word(b, i)); m != 0 {
			i += bits.TrailingZeros64(m) >> 3
			return r.findName(p, i-p, nameEnds{x, word(b, i-8)})
		}
	}
}

// findName is readName for n bytes at buf[p] that have such ends. Bytes that no name has
// may be among them.
func (r *Reader) findName(p, n int, ends nameEnds) (*qname, int) {
	if p+n < r.end {
		first, second := r.places(ends)
		if q := *first; q != nil && q.is(ends, r.buf[p:p+n]) {
			return q, p + n
		}
		if q := *second; q != nil && q.is(ends, r.buf[p:p+n]) {
			return q, p + n
		}
	}
	return r.lookUpName(p)
}

// lookUpName is readName for a name that is not in the cache.
func (r *Reader) lookUpName(p int) (*qname, int) {
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
	q := r.byRaw[string(raw)]
	if q == nil {
		if q = r.intern(raw); q == nil {
			r.fail(p, nil, "invalid name %q", raw)
			return nil, p
		}
		q.ends = endsOf(r.buf[p:], n)
	}
	r.put(q)
	return q, p + n
}

// intern checks raw and adds it to the table. It returns nil if raw is no name.
func (t *names) intern(raw []byte) *qname {
	q := &qname{raw: string(raw), prefix: t.none}
	q.local, q.pattern = q.raw, patternOf(q.raw)
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
