package xmlscan

import "bytes"

// doctype passes over a document type declaration. Unless Entities is set, it refuses one
// that declares entities. It returns false after an error and if the buffer ends first.
func (r *Reader) doctype() bool {
	if !r.declares("<!DOCTYPE", `"<!" starts neither a comment nor a DOCTYPE`) {
		return false
	}
	if r.seen.doctype || r.mode == modeEpilog {
		return r.fail(r.pos, nil, "DOCTYPE after the first DOCTYPE or after the root element")
	}
	d := doctypeScanner{b: r.buf[r.pos:r.end], p: len("<!DOCTYPE"), entities: r.Entities}
	if !d.scan() {
		if d.fault != "" {
			r.fail(r.pos+d.p, d.reason, "%s", d.fault)
		}
		return false
	}
	if !r.checkChars(d.b[:d.p], r.pos) {
		return false
	}
	for _, e := range d.declared {
		if !r.declare(e.name, e.value, r.pos+e.at) {
			return false
		}
	}
	if !r.consume(d.p) {
		return false
	}
	r.seen.doctype = true
	return true
}

// A doctypeScanner finds the end of a DOCTYPE. Its methods return false if the buffer
// ends first, or after they have set fault.
type doctypeScanner struct {
	b        []byte
	p        int
	entities bool
	declared []declaration // the internal entities, if entities is set
	fault    string
	reason   error
}

// A declaration is that of an internal entity, whose value is at b[at].
type declaration struct {
	name, value []byte
	at          int
}

func (d *doctypeScanner) fail(fault string) bool {
	d.fault = fault
	return false
}

// scan reads production [28] from behind the keyword.
func (d *doctypeScanner) scan() bool {
	if !d.need(1) {
		return false
	}
	if !isSpace(d.b[d.p]) {
		return d.fail("no white space after DOCTYPE")
	}
	if !d.space() || !d.name() || !d.externalID() {
		return false
	}
	if d.b[d.p] == '[' {
		d.p++
		if !d.subset() || !d.space() {
			return false
		}
	}
	if d.b[d.p] != '>' {
		return d.fail("syntax error in the DOCTYPE")
	}
	d.p++
	return true
}

func (d *doctypeScanner) need(n int) bool { return d.p+n <= len(d.b) }

// space passes over white space; something follows it.
func (d *doctypeScanner) space() bool {
	for d.need(1) && isSpace(d.b[d.p]) {
		d.p++
	}
	return d.need(1)
}

func (d *doctypeScanner) name() bool {
	n := nameLen(d.b[d.p:])
	if !d.need(n + 1) {
		return false
	}
	if !isName(d.b[d.p : d.p+n]) {
		return d.fail("invalid name in the DOCTYPE")
	}
	d.p += n
	return true
}

// externalID passes over an external ID, production [75], if there is one, and the white
// space around it.
func (d *doctypeScanner) externalID() bool {
	from := d.p
	if !d.space() {
		return false
	}
	literals := 0
	switch n := nameLen(d.b[d.p:]); {
	case !d.need(n + 1):
		return false
	case string(d.b[d.p:d.p+n]) == "SYSTEM":
		literals = 1
	case string(d.b[d.p:d.p+n]) == "PUBLIC":
		literals = 2
	case n == 0:
		return true
	default:
		return d.fail("syntax error in the DOCTYPE")
	}
	if d.p == from {
		return d.fail("syntax error in the DOCTYPE")
	}
	d.p += len("SYSTEM")
	for range literals {
		if !isSpace(d.b[d.p]) {
			return d.fail("syntax error in the DOCTYPE")
		}
		if !d.space() || !d.literal() || !d.need(1) {
			return false
		}
	}
	return d.space()
}

// literal passes over a quoted string.
func (d *doctypeScanner) literal() bool {
	quote := d.b[d.p]
	if quote != '"' && quote != '\'' {
		return d.fail("syntax error in the DOCTYPE")
	}
	n := bytes.IndexByte(d.b[d.p+1:], quote)
	d.p += n + 2
	return n >= 0
}

// subset passes over the internal subset and the bracket that closes it.
func (d *doctypeScanner) subset() bool {
	for {
		if !d.space() {
			return false
		}
		ok := false
		switch c := d.b[d.p]; {
		case c == ']':
			d.p++
			return true
		case c == '%':
			ok = d.parameter()
		case c == '<':
			ok = d.declaration()
		default:
			return d.fail("syntax error in the internal subset of the DOCTYPE")
		}
		if !ok {
			return false
		}
	}
}

// declaration passes over one declaration, comment or processing instruction.
func (d *doctypeScanner) declaration() bool {
	if d.need(2) && d.b[d.p+1] == '?' {
		return d.after(2, "?>")
	}
	if d.need(4) && string(d.b[d.p:d.p+4]) == "<!--" {
		return d.after(4, "--") && (!d.need(1) || d.b[d.p] == '>' || d.fail(`"--" in a comment`)) && d.after(0, ">")
	}
	if !d.need(2) {
		return false
	}
	if d.b[d.p+1] != '!' {
		return d.fail("syntax error in the internal subset of the DOCTYPE")
	}
	keyword := d.b[d.p+2:]
	keyword = keyword[:nameLen(keyword)]
	if !d.need(2 + len(keyword) + 1) {
		return false
	}
	switch string(keyword) {
	case "ENTITY":
		if !d.entities {
			d.reason = ErrEntity
			return d.fail("entity declarations are not allowed")
		}
		d.p += len("<!ENTITY")
		return d.entity()
	case "ELEMENT", "ATTLIST", "NOTATION":
		d.p += 2
		return d.rest()
	}
	return d.fail("syntax error in the internal subset of the DOCTYPE")
}

// refuse refuses parameter entities.
func (d *doctypeScanner) refuse() bool {
	d.reason = ErrEntity
	return d.fail("parameter entities are not allowed")
}

// parameter passes over a reference to a parameter entity.
func (d *doctypeScanner) parameter() bool {
	if !d.entities {
		return d.refuse()
	}
	d.p++
	if !d.name() {
		return false
	}
	if d.b[d.p] != ';' {
		return d.fail("syntax error in the internal subset of the DOCTYPE")
	}
	d.p++
	return true
}

// entity passes over an entity declaration, production [70], behind its keyword.
func (d *doctypeScanner) entity() bool {
	if !isSpace(d.b[d.p]) {
		return d.fail("no white space after ENTITY")
	}
	if !d.space() {
		return false
	}
	if d.b[d.p] == '%' {
		return d.rest()
	}
	from := d.p
	if !d.name() {
		return false
	}
	e := declaration{name: d.b[from:d.p]}
	if !d.space() {
		return false
	}
	if c := d.b[d.p]; c != '"' && c != '\'' {
		return d.rest()
	}
	e.at = d.p + 1
	if !d.literal() {
		return false
	}
	e.value = d.b[e.at : d.p-1]
	d.declared = append(d.declared, e)
	return d.rest()
}

// after passes over everything up to the end of s, which is searched from n bytes on.
func (d *doctypeScanner) after(n int, s string) bool {
	i := bytes.Index(d.b[min(d.p+n, len(d.b)):], []byte(s))
	if i < 0 {
		return false
	}
	d.p += n + i + len(s)
	return true
}

// rest passes over the rest of a declaration, in which quoted strings can hold '>'.
func (d *doctypeScanner) rest() bool {
	for ; d.need(1); d.p++ {
		switch c := d.b[d.p]; c {
		case '>':
			d.p++
			return true
		case '<':
			return d.fail("syntax error in the internal subset of the DOCTYPE")
		case '"', '\'':
			n := bytes.IndexByte(d.b[d.p+1:], c)
			if n < 0 {
				return false
			}
			d.p += n + 1
		case '%':
			if !d.entities {
				return d.refuse()
			}
		}
	}
	return false
}
