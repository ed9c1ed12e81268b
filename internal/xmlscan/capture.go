package xmlscan

// AppendElement reads the element whose Start is current up to its End, which becomes the
// current token, and appends it to dst as text that any document can hold: it declares
// each prefix that its names use (and xmlns="" if it needs no default namespace).
// Comments and processing instructions are dropped. Prefixes that occur only inside
// values and inherited xml: attributes are not carried along. The text can be MaxValue
// bytes long; of a longer one, nothing is appended.
func (r *Reader) AppendElement(dst []byte) ([]byte, error) {
	r.captures++
	c := capture{r: r, dst: dst, depth: len(r.stack), from: len(dst)}
	limit := orDefault(r.MaxValue, defaultValue)
	c.start()
	c.declareAt = c.from + 1 + len(r.current().name.raw)
	for len(r.stack) >= c.depth {
		k, err := r.Next()
		switch {
		case err != nil:
			return dst, err
		case len(c.dst)-c.from > limit:
			return dst, r.skipOver(c.depth, "element over %d bytes", limit)
		}
		switch k {
		case Start:
			if r.stops() {
				return dst, ErrStopped
			}
			c.start()
		case Text:
			c.closeTag()
			// the Reader has checked the characters
			c.dst, _ = escape(c.dst, r.text, inText)
		case End:
			c.end()
		}
	}
	return c.declare(), nil
}

// A capture writes one element as text.
type capture struct {
	r         *Reader
	dst       []byte
	from      int // where the element starts in dst
	depth     int // of the element
	declareAt int // where its declarations belong
	inTag     bool
	outer     []namespace // the outer namespaces that it uses
}

type namespace struct{ prefix, uri string }

func (c *capture) start() {
	c.closeTag()
	f := c.r.current()
	c.dst = append(c.dst, '<')
	c.dst = append(c.dst, f.name.raw...)
	c.use(f.name, f.space)
	for _, p := range c.r.decls {
		c.dst = appendNamespace(c.dst, namespace{p.name, p.uri})
	}
	for i, a := range c.r.attrs {
		q := c.r.raws[i].name
		if q.prefix != c.r.none {
			c.use(q, a.Name.Space)
		}
		c.dst = append(c.dst, ' ')
		c.dst = append(c.dst, q.raw...)
		c.dst = append(c.dst, `="`...)
		c.dst, _ = escape(c.dst, a.Value, inValue)
		c.dst = append(c.dst, '"')
	}
	c.inTag = true
}

func (c *capture) closeTag() {
	if c.inTag {
		c.dst = append(c.dst, '>')
		c.inTag = false
	}
}

func (c *capture) end() {
	if c.inTag {
		c.dst = append(c.dst, "/>"...)
		c.inTag = false
		return
	}
	c.dst = append(c.dst, "</"...)
	c.dst = append(c.dst, c.r.current().name.raw...)
	c.dst = append(c.dst, '>')
}

// use notes the namespace of a name, if it comes from outside the element.
func (c *capture) use(q *qname, space string) {
	p := q.prefix
	if p.depth >= c.depth || p.captured == c.r.captures || p.name == "xml" {
		return
	}
	p.captured = c.r.captures
	c.outer = append(c.outer, namespace{p.name, space})
}

// declare puts the declarations of the outer namespaces into the element's tag.
func (c *capture) declare() []byte {
	end := len(c.dst)
	for _, n := range c.outer {
		c.dst = appendNamespace(c.dst, n)
	}
	rotate(c.dst[c.declareAt:], end-c.declareAt)
	return c.dst
}

// rotate moves b[n:] before b[:n].
func rotate(b []byte, n int) {
	tail := append([]byte(nil), b[n:]...)
	copy(b[len(tail):], b[:n])
	copy(b, tail)
}

func appendNamespace(dst []byte, n namespace) []byte {
	dst = append(dst, " xmlns"...)
	if n.prefix != "" {
		dst = append(dst, ':')
		dst = append(dst, n.prefix...)
	}
	dst = append(dst, `="`...)
	dst, _ = escape(dst, view(n.uri), inValue)
	return append(dst, '"')
}
