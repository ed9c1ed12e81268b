// Package element builds, checks and parses foreign elements: markup of other namespaces,
// which documents carry as [websync.Element].
package element

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/xmlscan"
)

var (
	errNotElement = errors.New("not one element")
	errInherits   = errors.New("an element without a namespace that does not declare xmlns=\"\"")
)

// An element is read inside another one, which has this default namespace. An element in
// that namespace inherits it, so its meaning would differ from document to document.
const (
	outerSpace = "about:blank"
	outerStart = `<w xmlns="` + outerSpace + `">`
	outerEnd   = "</w>"
)

// maxDepth limits how deep an element is nested. Inside a document, the element is then
// still within the default MaxDepth of an xmlscan.Reader.
const maxDepth = 252

// Check checks that x.XML is one element, well-formed, that means the same in every
// document, and that its name is that of x.
func Check(x *websync.Element) error {
	if isFlat(x) {
		return nil
	}
	name, err := Name(x.XML)
	if err == nil {
		err = checkName(x, name)
	}
	return err
}

// maxFlat limits the bytes of an element that isFlat accepts, far below all limits of the
// parser.
const maxFlat = 4096

// isFlat reports whether x is an element of the most common kind, which needs no parser:
// it declares its namespace and nothing else, and holds text without references.
func isFlat(x *websync.Element) bool {
	name, rest, ok := strings.Cut(x.XML, " ")
	if !ok || name[:min(1, len(name))] != "<" || len(x.XML) > maxFlat || !isSpace(x.Space) {
		return false
	}
	name = name[1:]
	colon := strings.IndexByte(name, ':') // of the prefix
	if local := name[colon+1:]; local != x.Local || !isName(local) {
		return false
	}
	text, ok := strings.CutPrefix(rest, "xmlns")
	if ok && colon >= 0 {
		prefix := name[:colon]
		if !isName(prefix) || prefix[0]|0x20 == 'x' { // xml is reserved
			return false
		}
		text, ok = after(text, ":", prefix)
	}
	if ok {
		text, ok = after(text, `="`, x.Space, `">`)
	}
	end := strings.IndexByte(text, '<')
	if !ok || end < 0 || !xmlscan.IsPlain(text[:end]) {
		return false
	}
	rest, ok = after(text[end:], "</", name, ">")
	return ok && rest == ""
}

// after returns what follows some strings at the beginning of s.
func after(s string, beginning ...string) (string, bool) {
	for _, b := range beginning {
		rest, ok := strings.CutPrefix(s, b)
		if !ok {
			return s, false
		}
		s = rest
	}
	return s, true
}

// isName reports whether s is a name of ASCII letters.
func isName(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return s != ""
}

// isSpace reports whether a namespace needs no escapes and has no meaning of its own for
// XML or for a parser.
func isSpace(space string) bool {
	return space != "" && space != outerSpace && !strings.HasPrefix(space, "http://www.w3.org/XML/") &&
		!strings.HasPrefix(space, "http://www.w3.org/2000/xmlns") &&
		xmlscan.IsPlain(space) && strings.IndexByte(space, '"') < 0
}

func checkName(x *websync.Element, name xmlscan.Name) error {
	if name.Space != x.Space || name.Local != x.Local {
		return fmt.Errorf("its name is {%s}%s", name.Space, name.Local)
	}
	return nil
}

// Name returns the name of the one element that xml is, after checking it as Check does.
func Name(xml string) (xmlscan.Name, error) {
	p := parsers.Get().(*parser)
	defer parsers.Put(p)
	name, err := p.open(xml)
	for err == nil && (p.kind != xmlscan.End || p.xml.Depth() != 2) {
		err = p.next()
	}
	if err == nil {
		err = p.close()
	}
	return name, err
}

// A Node is an element with all that is in it.
type Node struct {
	Space, Local string
	Text         string // its own, without white space around it
	Attrs        []websync.Attr
	Children     []Node
}

// Parse returns x as a tree, after checking it as Check does.
func Parse(x *websync.Element) (*Node, error) {
	p := parsers.Get().(*parser)
	defer parsers.Put(p)
	name, err := p.open(x.XML)
	if err != nil {
		return nil, err
	}
	n, err := p.node()
	if err == nil {
		err = p.close()
	}
	if err == nil {
		err = checkName(x, name)
	}
	return &n, err
}

// Texts holds the texts of elements that were parsed before: those of lists recur.
type Texts map[string]string

// maxTexts limits the entries of Texts.
const maxTexts = 1000

// Of returns the text of an element; ok is false if that is not valid.
func (t Texts) Of(x *websync.Element) (text string, ok bool) {
	if text, ok = t[x.XML]; ok {
		return text, true
	}
	n, err := Parse(x)
	if err != nil {
		return "", false
	}
	if len(t) < maxTexts {
		t[x.XML] = n.Text
	}
	return n.Text, true
}

// Attr returns the value of an attribute without a namespace; empty if there is none.
func (n *Node) Attr(local string) string {
	for _, a := range n.Attrs {
		if a.Space == "" && a.Local == local {
			return a.Value
		}
	}
	return ""
}

// Child returns the first child of n's own namespace with a name; an empty Node if there
// is none.
func (n *Node) Child(local string) *Node {
	for i := range n.Children {
		if c := &n.Children[i]; c.Local == local && c.Space == n.Space {
			return c
		}
	}
	return new(Node)
}

// A parser reads one element at a time.
type parser struct {
	xml  *xmlscan.Reader
	src  fragments
	kind xmlscan.Kind // of the current token
}

var parsers = sync.Pool{New: func() any {
	p := &parser{xml: xmlscan.NewReader(nil)}
	p.xml.MaxDepth = maxDepth + 1
	return p
}}

// open reads the start of the element, and returns its name.
func (p *parser) open(xml string) (xmlscan.Name, error) {
	if len(xml) < 2 || xml[0] != '<' || xml[1] == '!' || xml[1] == '?' {
		return xmlscan.Name{}, errNotElement
	}
	p.src = fragments{outerStart, xml, outerEnd}
	p.xml.Reset(&p.src)
	if _, err := p.xml.Next(); err != nil {
		return xmlscan.Name{}, err
	}
	if err := p.next(); err != nil {
		return xmlscan.Name{}, err
	}
	return p.xml.Name(), nil
}

// next reads a token.
func (p *parser) next() (err error) {
	if p.kind, err = p.xml.Next(); err != nil {
		return err
	}
	if p.kind == xmlscan.Start && p.xml.Name().Space == outerSpace {
		return errInherits
	}
	return nil
}

// close checks that nothing follows the element.
func (p *parser) close() error {
	for {
		switch kind, err := p.xml.Next(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case kind != xmlscan.End:
			return errNotElement
		}
	}
}

// node reads the element whose start is current.
func (p *parser) node() (Node, error) {
	n := Node{Space: p.xml.Name().Space, Local: p.xml.Name().Local}
	for _, a := range p.xml.Attrs() {
		n.Attrs = append(n.Attrs, websync.Attr{Space: a.Name.Space, Local: a.Name.Local, Value: string(a.Value)})
	}
	var text []byte
	for {
		if err := p.next(); err != nil {
			return n, err
		}
		switch p.kind {
		case xmlscan.Text:
			text = append(text, p.xml.Text()...)
		case xmlscan.Start:
			child, err := p.node()
			if err != nil {
				return n, err
			}
			n.Children = append(n.Children, child)
		case xmlscan.End:
			n.Text = string(xmlscan.Trim(text))
			return n, nil
		}
	}
}

// fragments reads some strings, one after the other.
type fragments [3]string

func (f *fragments) Read(p []byte) (n int, err error) {
	for i := range f {
		copied := copy(p[n:], f[i])
		f[i] = f[i][copied:]
		n += copied
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
