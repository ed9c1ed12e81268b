package rdfa

import (
	"bytes"
	"fmt"
	"io"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/webpage"
)

const (
	bytesPerNode = 64  // of the limit of a document, for one of its tree
	textPerNode  = 128 // bytes of text that take as much memory as a node
)

var errTree = fmt.Errorf("the tree has more nodes than MaxBytes allows, one for %d bytes: %w", bytesPerNode, websync.ErrLimit)

// A treeSize counts the nodes that the tree of an HTML document can have at most; two
// attributes count as one, and so do 128 bytes. The tree may be far larger than the
// document: a formatting element that is not closed as it was opened, such as <b>, is
// repeated in each block after it (HTML §13.2.4.3, the list of active formatting
// elements), with all others of which that is true, and package html has no limit of its
// own.
type treeSize struct {
	nodes int

	// active is what the list of active formatting elements holds at most, in nodes.
	// open are the open elements since the first formatting element that may yet be
	// closed as it was opened.
	active int
	open   []openElement
	// popped: a tag may have closed formatting elements since they were repeated last
	popped bool
	// pictures is how many <svg> are open. vague: there may be tags where the tokenizer
	// sees text, and the other way round: SVG, MathML and framesets have other rules.
	pictures int
	vague    bool
}

type openElement struct {
	tag    atom.Atom
	custom string // its name, if tag is 0
	active int    // what it adds to the list of active formatting elements
}

// checkTree returns an error if the tree of a document may have more nodes than limit, or
// one of its elements has more attributes than a webpage.Scanner allows.
func checkTree(text []byte, limit int) error {
	s := &treeSize{nodes: 8} // the document, html, head, body, and white space between
	z := webpage.NewScanner(text)
	for s.nodes <= limit {
		token := z.Next()
		s.nodes += len(z.Raw()) / textPerNode
		switch token {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				return err
			}
			return nil
		case html.TextToken:
			s.hidden(z.Raw())
			s.repeat(1)
		case html.StartTagToken, html.SelfClosingTagToken:
			s.hidden(z.Raw()[1:])
			s.start(z, token == html.SelfClosingTagToken)
		case html.EndTagToken:
			s.hidden(z.Raw()[1:])
			s.end(z.Name())
		default: // a comment, a DOCTYPE
			s.nodes++
			if bytes.HasPrefix(z.Raw(), []byte("<![")) {
				s.odd() // in SVG and MathML, a CDATA section
			}
			s.hidden(z.Raw()[1:])
		}
	}
	return errTree
}

// repeat counts nodes before which formatting elements are repeated.
func (s *treeSize) repeat(nodes int) {
	s.nodes += nodes
	if s.popped {
		s.nodes += s.active
		s.popped = false
	}
}

// hidden counts the elements that may begin inside a token.
func (s *treeSize) hidden(raw []byte) {
	for i := bytes.IndexByte(raw, '<'); i >= 0; {
		s.odd()
		if raw = raw[i+1:]; !s.vague {
			return
		}
		i = bytes.IndexByte(raw, '<')
		n, length := bytes.IndexAny(raw, "\t\n\f\r />"), i
		if i < 0 {
			length = len(raw)
		}
		nodes := 3 + length // perhaps all of it is attributes
		s.popped = true
		s.repeat(nodes)
		s.popped = true
		if n > 0 && isFormatting(atom.Lookup(bytes.ToLower(raw[:min(n, 8)]))) {
			s.active += nodes
		}
	}
}

// odd is for what changes what the tags after it mean.
func (s *treeSize) odd() {
	s.open = nil
	s.vague = s.vague || s.pictures > 0
}

// start counts an element.
func (s *treeSize) start(z *webpage.Scanner, closed bool) {
	name := z.Name()
	e := openElement{tag: atom.Lookup(name)}
	if e.tag == 0 {
		e.custom = string(name)
	}
	nodes := 1 + (z.Attrs+1)/2
	if isFormatting(e.tag) {
		s.format(e, nodes)
		return
	}
	s.popped = true
	s.repeat(nodes)
	s.popped = true
	switch e.tag {
	case atom.Td, atom.Th, atom.Tr, atom.Col:
		s.nodes += 2 // <tbody> and <tr>, or <colgroup>
	case atom.Noscript:
		z.NextIsNotRawText() // without scripting
	case atom.Svg:
		if !closed {
			s.pictures++
		}
	case atom.Math, atom.Frameset:
		s.vague = true
	}
	switch {
	case s.isOdd(e.tag):
		s.odd()
	case len(s.open) == 0 || isVoid[string(name)] || closed && s.pictures > 0:
	default:
		s.open = append(s.open, e)
	}
}

// format opens a formatting element, which has some nodes.
func (s *treeSize) format(e openElement, nodes int) {
	if e.tag == atom.A || e.tag == atom.Nobr {
		s.adopt() // they close the one before
	}
	s.repeat(nodes)
	e.active = nodes
	s.active += nodes
	s.open = append(s.open, e)
}

// end closes an element. A formatting element leaves the list if all in it were closed
// before; otherwise it stays there, as far as is known.
func (s *treeSize) end(name []byte) {
	tag := atom.Lookup(name)
	is := func(e *openElement) bool { return e.tag == tag && (tag != 0 || e.custom == string(name)) }
	if tag == atom.Svg {
		s.pictures = max(s.pictures-1, 0)
	}
	last := len(s.open) - 1
	if last >= 0 && is(&s.open[last]) {
		s.active -= s.open[last].active
		s.popped = s.popped || s.open[last].active == 0
		s.open = s.open[:last]
		return
	}
	s.popped = true
	switch {
	case isFormatting(tag):
		s.adopt()
	case tag == atom.P || tag == atom.Br:
		s.nodes++ // they are elements, even if none is open
	}
	for last >= 0 && !is(&s.open[last]) {
		last--
	}
	s.open = s.open[:max(last, 0)]
}

// adopt counts the copies of formatting elements that do not contain each other (HTML
// §13.2.6.4.7, the adoption agency algorithm).
func (s *treeSize) adopt() {
	s.popped = true
	s.nodes += 8 * s.active
}

func isFormatting(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike,
		atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}

// isOdd reports whether an element changes what tags after it mean.
func (s *treeSize) isOdd(tag atom.Atom) bool {
	if s.pictures > 0 && (tag == atom.Title || endsSVG(tag)) {
		return tag != atom.Title
	}
	switch tag {
	case atom.Script, atom.Style, atom.Title, atom.Textarea, atom.Xmp, atom.Iframe, atom.Noembed, atom.Noframes,
		atom.Noscript, atom.Plaintext, atom.Select, atom.Template, atom.Frameset, atom.Math, atom.ForeignObject,
		atom.Foreignobject, atom.Desc, atom.Object, atom.Applet, atom.Marquee, atom.Image:
		return true
	}
	return false
}

// endsSVG reports whether an element of HTML ends SVG (HTML §13.2.6.5).
func endsSVG(tag atom.Atom) bool {
	switch tag {
	case atom.Blockquote, atom.Body, atom.Br, atom.Center, atom.Dd, atom.Div, atom.Dl, atom.Dt, atom.Embed, atom.H1,
		atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Head, atom.Hr, atom.Img, atom.Li, atom.Listing, atom.Menu,
		atom.Meta, atom.Ol, atom.P, atom.Pre, atom.Ruby, atom.Span, atom.Sub, atom.Sup, atom.Table, atom.Ul, atom.Var:
		return true
	}
	return false
}
