package xmlscan

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// A rawAttr is an attribute as it was found in a tag.
type rawAttr struct {
	name  *qname
	at    int // offset of the name
	from  int // offset of the value
	clean int // bytes of the value before what needs decoding; -1: nothing does
}

// startTag reads a start tag or empty-element tag. The eight bytes behind its '<' are x.
func (r *Reader) startTag(x uint64) Kind {
	if r.full {
		r.forget()
	}
	if len(r.stack) >= r.maxDepth {
		return r.beginDeep()
	}
	r.attrs, r.raws, r.decls = r.attrs[:0], r.raws[:0], r.decls[:0]
	r.cooked, r.verbatim = true, true
	q, p := r.readName(r.pos+1, x)
	mode := modeContent
	switch {
	case q == nil:
		return 0
	case r.buf[p] != '>':
		if p, mode = r.restOfTag(q, p); p == tooManyAttrs {
			return r.cutTag("more than %d attributes", r.maxAttrs)
		}
	}
	switch {
	case p < 0:
		return 0
	case p+1-r.pos > r.maxToken:
		return r.cutTag("token longer than %d bytes", r.maxToken)
	case !r.open(q, p+1, mode):
		return 0
	}
	return Start
}

// restOfTag reads a tag of q from the byte behind its name on. It returns where the '>'
// is, and the mode behind it; a negative number after an error and if the buffer ends
// first.
func (r *Reader) restOfTag(q *qname, p int) (int, mode) {
	before, mode := r.mode, modeContent
	if p = r.scanAttrs(p); p == tooManyAttrs {
		return p, before
	}
	if p >= 0 && r.buf[p] == '/' {
		mode = modeEmpty
		p++
	}
	if p >= 0 && r.buf[p] != '>' {
		if p < r.end {
			r.fail(p, nil, "unexpected %q in the tag of element %s", r.buf[p], q.raw)
		}
		p = -1
	}
	if p < 0 && r.err != nil {
		return r.repair(before)
	}
	return p, mode
}

// open makes the element whose tag was scanned, and ends before buf[end], the current
// one.
func (r *Reader) open(q *qname, end int, mode mode) bool {
	binds := len(r.binds)
	if !r.cooked && !r.cookAttrs() {
		return false
	}
	space := q.prefix.uri
	if space == "" || q.declares != nil {
		var ok bool
		if space, ok = r.oddSpace(q); !ok {
			return false
		}
	}
	r.stack = append(r.stack, frame{q, space, binds})
	r.tok, r.pos, r.mode = r.pos, end, mode
	return true
}

// oddSpace returns the namespace of an element's name q that has none, or is xmlns.
func (r *Reader) oddSpace(q *qname) (space string, ok bool) {
	switch {
	case q.prefix == r.none:
		return q.prefix.uri, true
	case q.declares != nil:
		return "", r.fail(r.pos, nil, "an element must not have the prefix xmlns")
	}
	return r.undeclared(q, r.pos)
}

// endTag reads an end tag. The eight bytes behind its "</" are x.
func (r *Reader) endTag(x uint64) Kind {
	open := r.stack[len(r.stack)-1].name
	if !open.endsAt(r.buf[:r.end], r.pos+2, x) {
		return r.endTagSlowly(open.raw)
	}
	r.tok = r.pos
	r.pos += len(open.raw) + len("</>")
	return r.close()
}

// endTagSlowly reads an end tag that is wrong, cut short, or has white space in it.
func (r *Reader) endTagSlowly(open string) Kind {
	b := r.buf[r.pos+2 : r.end]
	n := nameLen(b)
	if n == len(b) {
		return 0
	}
	if string(b[:n]) != open {
		r.fail(r.pos, nil, "end tag %q where element %s is open", b[:n], open)
		return 0
	}
	for n < len(b) && isSpace(b[n]) {
		n++
	}
	if n == len(b) {
		return 0
	}
	if b[n] != '>' {
		r.fail(r.pos+2+n, nil, "unexpected %q in an end tag", b[n])
		return 0
	}
	tok := r.pos
	if !r.consume(n + 3) {
		return 0
	}
	r.tok = tok
	return r.close()
}

// close ends the innermost element.
func (r *Reader) close() Kind {
	n := len(r.stack) - 1
	if f := &r.stack[n]; len(r.binds) > f.binds {
		r.unbind(f.binds)
	}
	r.stack = r.stack[:n]
	r.mode = modeContent
	if n == 0 {
		r.mode = modeEpilog
	}
	return End
}

// scanAttrs finds the attributes of a tag, from the byte behind its name, and returns the
// offset of what ends it: '>', '/' or a wrong character. It returns -1 after an error and
// if the buffer ends first, and tooManyAttrs.
func (r *Reader) scanAttrs(p int) int {
	r.serial++
	r.values, r.attrPrefix = r.values[:0], nil
	for {
		r.sound = p
		if head := r.buf[p : p+2]; head[0] == ' ' && class[head[1]]&nameStart != 0 {
			p++
		} else if next := r.attrOrEnd(p); next < 0 || class[r.buf[next]]&nameStart == 0 {
			return next
		} else {
			p = next
		}
		if p = r.scanAttr(p); p < 0 {
			return p
		}
	}
}

// attrOrEnd passes over white space in a tag, as scanAttrs does.
func (r *Reader) attrOrEnd(from int) int {
	p := r.skipSpace(from)
	if p < 0 || r.buf[p] == '>' || r.buf[p] == '/' {
		return p
	}
	if p == from {
		r.fail(p, nil, "%q where white space or the end of the tag is expected", r.buf[p])
		return -1
	}
	r.verbatim = false
	return p
}

// tooManyAttrs is returned in place of an offset for more attributes than MaxAttrs.
const tooManyAttrs = -2

// scanAttr scans one attribute and returns the offset behind it.
func (r *Reader) scanAttr(at int) int {
	q, p := r.readName(at, word(r.buf, at))
	if q == nil {
		return -1
	}
	quote := byte('"')
	if binary.LittleEndian.Uint16(r.buf[p:p+2]) == '='|'"'<<8 {
		p += len(`="`)
	} else if p, quote = r.beginValue(q, p); p < 0 {
		return -1
	}
	value, to, clean := r.scanValue(p, quote)
	switch {
	case to < 0:
		return -1
	case q.serial == r.serial:
		r.fail(at, ErrAttribute, "attribute %s occurs twice", q.raw)
		return -1
	case len(r.raws) >= r.maxAttrs:
		return tooManyAttrs
	}
	q.serial = r.serial
	space := ""
	if p := q.prefix; p != r.none {
		space = p.uri
		r.cooked = r.cooked && space != "" && (r.attrPrefix == nil || r.attrPrefix == p)
		r.attrPrefix = p
	}
	if clean >= 0 || q.declares != nil {
		r.cooked, r.verbatim = false, false
	}
	r.raws = append(r.raws, rawAttr{q, at, p, clean})
	a := r.addAttr()
	a.Name.Space, a.Name.Local, a.Value = space, q.local, value
	return to + 1
}

// beginValue passes over what is between the name q of an attribute, which ends before
// buf[p], and its value. It returns where the value starts, and its quote; -1 after an
// error and if the buffer ends first.
func (r *Reader) beginValue(q *qname, p int) (int, byte) {
	r.verbatim = false
	if p = r.skipSpace(p); p < 0 {
		return -1, 0
	}
	if r.buf[p] != '=' {
		r.fail(p, nil, "attribute %s has no value", q.raw)
		return -1, 0
	}
	if p = r.skipSpace(p + 1); p < 0 {
		return -1, 0
	}
	quote := r.buf[p]
	if quote != '"' && quote != '\'' {
		r.fail(p, nil, "the value of attribute %s is not quoted", q.raw)
		return -1, 0
	}
	return p + 1, quote
}

// addAttr adds an Attr to r.attrs, which is not cleared: to set its fields is cheaper
// than to copy it.
func (r *Reader) addAttr() *Attr {
	n := len(r.attrs)
	if n == cap(r.attrs) {
		r.attrs = slices.Grow(r.attrs, 1)
	}
	r.attrs = r.attrs[:n+1]
	return &r.attrs[n]
}

// skipSpace returns the offset of the next byte from p on that is not white space, or -1
// if the buffer ends first.
func (r *Reader) skipSpace(p int) int {
	for isSpace(r.buf[p]) {
		p++
	}
	if p == r.end {
		return -1
	}
	return p
}

// scanValue returns the attribute value that starts at p and where it ends. If it still
// needs decoding, clean is how many bytes of it are before what does; otherwise it is -1.
func (r *Reader) scanValue(p int, quote byte) (value []byte, to, clean int) {
	stops := valueStops(quote)
	special := p + stops.plain(r.buf[p:])
	if r.buf[special] == quote {
		return r.buf[p:special:special], special, -1
	}
	if special += stops.clean(r.buf[special:]); r.buf[special] == quote {
		return r.buf[p:special:special], special, -1
	}
	from := len(r.values)
	if r.values, to = r.decodeSimple(r.values, p, special, stops); r.buf[to] == quote {
		return r.values[from:len(r.values):len(r.values)], to, -1
	}
	r.values = r.values[:from]
	n := bytes.IndexByte(r.buf[special:r.end], quote)
	if n < 0 {
		return nil, -1, -1
	}
	to = special + n
	if i := bytes.IndexByte(r.buf[special:to], '<'); i >= 0 {
		r.fail(special+i, nil, "'<' in an attribute value")
		return nil, -1, -1
	}
	return r.buf[p:to:to], to, special - p
}

// decodeSimple appends to dst the value from buf[p] on up to the first stop that is not a
// simple reference. The bytes before to are known to be clean. It returns where it ends.
func (r *Reader) decodeSimple(dst []byte, p, to int, stops stops) ([]byte, int) {
	b := r.buf
	for {
		dst = append(dst, b[p:to]...)
		c, n := simpleReference(b[to:])
		if n == 0 {
			return dst, to
		}
		dst = append(dst, c)
		p = to + n
		to = p + stops.clean(b[p:])
	}
}

// cookAttrs decodes values, declares namespaces, and leaves the resolved attributes in
// r.attrs.
func (r *Reader) cookAttrs() bool {
	n, prefixed := 0, false
	for i, raw := range r.raws {
		a := &r.attrs[i]
		if raw.clean >= 0 {
			from, ok := len(r.values), false
			if r.values, ok = r.decode(append(r.values, a.Value[:raw.clean]...), a.Value, raw.clean, raw.from, inValue); !ok {
				return false
			}
			a.Value = r.values[from:len(r.values):len(r.values)]
		}
		if p := raw.name.declares; p != nil {
			if !r.bind(p, a.Value, raw.at) {
				return false
			}
			continue
		}
		prefixed = prefixed || raw.name.prefix != r.none
		if n < i {
			r.attrs[n], r.raws[n] = *a, raw
		}
		n++
	}
	r.attrs, r.raws = r.attrs[:n], r.raws[:n]
	return !prefixed || r.resolveAttrs()
}

// resolveAttrs gives prefixed attributes their namespaces.
func (r *Reader) resolveAttrs() bool {
	var first *prefix
	several := false
	for i, raw := range r.raws {
		p := raw.name.prefix
		if p == r.none {
			continue
		}
		space := p.uri
		if space == "" {
			var ok bool
			if space, ok = r.undeclared(raw.name, r.pos); !ok {
				return false
			}
		}
		r.attrs[i].Name.Space = space
		if first == nil {
			first = p
		}
		several = several || p != first
	}
	return !several || r.areDistinct()
}

// areDistinct finds prefixed attributes that are one attribute under two prefixes.
func (r *Reader) areDistinct() bool {
	var seen map[Name]bool
	if len(r.raws) > 16 {
		seen = make(map[Name]bool, len(r.raws))
	}
	for i, raw := range r.raws {
		if raw.name.prefix == r.none {
			continue
		}
		name := r.attrs[i].Name
		if seen[name] || seen == nil && hasAttr(r.attrs[:i], name) {
			return r.fail(r.pos, ErrAttribute, "attribute %s occurs twice in namespace %s", name.Local, name.Space)
		}
		if seen != nil {
			seen[name] = true
		}
	}
	return true
}

func hasAttr(attrs []Attr, name Name) bool {
	for _, a := range attrs {
		if a.Name == name {
			return true
		}
	}
	return false
}
