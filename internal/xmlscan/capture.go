package xmlscan

import (
	"cmp"
	"slices"
)

// AppendElement reads the element whose Start is current up to its End, which becomes the
// current token, and appends it to dst as text that any document can hold: it declares
// each prefix that its names use (and xmlns="" if it needs no default namespace).
// Comments and processing instructions are dropped. Prefixes that occur only inside
// values and inherited xml: attributes are not carried along. The text can be MaxValue
// bytes long; of a longer one, nothing is appended.
//
// The text depends on the tokens alone, not on how the document writes them.
func (r *Reader) AppendElement(dst []byte) ([]byte, error) {
	r.captures++
	r.outer = r.outer[:0]
	c := capture{r: r, dst: dst, depth: len(r.stack), start: len(dst)}
	c.declareAt = c.start + 1 + len(r.current().name.raw)
	limit := orDefault(r.MaxValue, defaultValue)
	c.startTag()
	for len(r.stack) >= c.depth {
		k := r.token()
		if r.kind = k; k == 0 {
			c.flush() // the buffer may move
			var err error
			if k, err = r.Next(); err != nil {
				return dst, err
			}
		}
		if c.size() > limit {
			return dst, r.skipOver(c.depth, "element over %d bytes", limit)
		}
		switch k {
		case Start:
			if r.stops() {
				return dst, ErrStopped
			}
			c.startTag()
		case Text:
			c.text()
		case End:
			c.end()
		}
	}
	return c.declare(), nil
}

// A capture writes one element as text. Most of it is copied as it stands in the buffer,
// in pieces as long as possible.
type capture struct {
	r         *Reader
	dst       []byte
	start     int // of the element in dst
	depth     int // of the element
	declareAt int // where its declarations belong
	inTag     bool
	from, to  int // what is still to be copied of buf
}

func (c *capture) size() int { return len(c.dst) - c.start + c.to - c.from }

// keep adds buf[from:to].
func (c *capture) keep(from, to int) {
	if from != c.to {
		c.flush()
		c.from = from
	}
	c.to = to
}

// write adds s.
func (c *capture) write(s string) {
	c.flush()
	c.dst = append(c.dst, s...)
}

func (c *capture) flush() {
	if c.from < c.to {
		c.dst = append(c.dst, c.r.buf[c.from:c.to]...)
		c.from = c.to
	}
}

// put adds s, from the buffer if it stands there, too.
func (c *capture) put(s string) {
	if string(c.r.buf[c.to:c.to+len(s)]) == s {
		c.to += len(s)
		return
	}
	c.write(s)
}

func (c *capture) startTag() {
	c.closeTag()
	r, name := c.r, c.r.current().name
	end := r.tok + 1 + len(name.raw)
	c.use(name.prefix)
	if r.attrPrefix != nil {
		for i := range r.raws {
			if p := r.raws[i].name.prefix; p != r.none {
				c.use(p)
			}
		}
	}
	switch {
	case !r.verbatim:
		c.keep(r.tok, end)
		c.attrs()
	case len(r.attrs) > 0:
		c.keep(r.tok, r.sound)
	default:
		c.keep(r.tok, end)
	}
	c.inTag = true
}

// attrs writes the declarations and attributes of a tag.
func (c *capture) attrs() {
	c.flush()
	for _, p := range c.r.decls {
		c.dst = p.appendDeclaration(c.dst)
	}
	for i := range c.r.attrs {
		c.dst = append(c.dst, ' ')
		c.dst = append(c.dst, c.r.raws[i].name.raw...)
		c.dst = append(c.dst, `="`...)
		c.dst, _ = escape(c.dst, c.r.attrs[i].Value, inValue)
		c.dst = append(c.dst, '"')
	}
}

func (c *capture) closeTag() {
	if c.inTag {
		c.put(">")
		c.inTag = false
	}
}

func (c *capture) text() {
	c.closeTag()
	if c.r.verbatim {
		c.keep(c.r.tok, c.r.pos)
		return
	}
	c.flush()
	c.dst, _ = escape(c.dst, c.r.text, inText) // the Reader has checked the characters
}

func (c *capture) end() {
	r, name := c.r, c.r.current().name.raw
	switch {
	case c.inTag:
		c.put("/>")
		c.inTag = false
	case r.pos-r.tok == len(name)+len("</>"):
		c.keep(r.tok, r.pos)
	default:
		c.write("</")
		c.write(name)
		c.write(">")
	}
}

// use notes the prefix of a name, if its namespace comes from outside the element.
func (c *capture) use(p *prefix) {
	if p.depth >= c.depth || p.captured == c.r.captures || p.name == "xml" {
		return
	}
	p.captured = c.r.captures
	c.r.outer = append(c.r.outer, p)
}

// declare puts the declarations of the outer namespaces into the element's tag.
func (c *capture) declare() []byte {
	c.flush()
	n, end, at := 0, len(c.dst), c.declareAt
	for _, p := range c.r.outer {
		if p.declaration == "" {
			p.declaration = string(p.appendDeclaration(nil))
		}
		n += len(p.declaration)
	}
	dst := slices.Grow(c.dst, n)[:end+n]
	copy(dst[at+n:], dst[at:end])
	for _, p := range c.r.outer {
		at += copy(dst[at:], p.declaration)
	}
	return dst
}

// appendDeclaration appends what declares p as its current namespace.
func (p *prefix) appendDeclaration(dst []byte) []byte {
	uri := p.uri
	dst = append(dst, " xmlns"...)
	if p.name != "" {
		dst = append(dst, ':')
		dst = append(dst, p.name...)
		uri = cmp.Or(uri, p.name) // it is not declared, and Recover is set
	}
	dst = append(dst, `="`...)
	dst, _ = escape(dst, view(uri), inValue)
	return append(dst, '"')
}
