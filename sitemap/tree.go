package sitemap

import (
	"bytes"
	"io"
	"strconv"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/xmlscan"
)

// A node is an extension element with all that is in it.
type node struct {
	space, local string
	text         string // its own, trimmed
	attrs        []websync.Attr
	children     []node
}

// maxDepth is how deep an extension element may be nested: what the Reader takes, less
// the root and the entry.
const maxDepth = 256 - 2

// A treeReader reads extension elements into trees. The zero treeReader is ready.
type treeReader struct {
	xml *xmlscan.Reader
	src bytes.Reader
}

// read reads one element. Its text must be an element and nothing else, as
// [websync.Element] demands.
func (t *treeReader) read(element []byte) (node, error) {
	if t.xml == nil {
		t.xml = xmlscan.NewReader(nil)
		t.xml.MaxDepth = maxDepth
	}
	if len(element) < 2 || element[0] != '<' || element[1] == '?' || element[1] == '!' || element[1] == 0 {
		return node{}, errNotElement
	}
	t.src.Reset(element)
	t.xml.Reset(&t.src)
	if _, err := t.xml.NextTag(); err != nil {
		return node{}, err
	}
	n, err := t.node()
	if err != nil {
		return node{}, err
	}
	if _, err = t.xml.Next(); err != io.EOF {
		return node{}, err
	}
	return n, nil
}

// node reads the element whose start is current.
func (t *treeReader) node() (node, error) {
	n := node{space: t.xml.Name().Space, local: t.xml.Name().Local}
	for _, a := range t.xml.Attrs() {
		n.attrs = append(n.attrs, websync.Attr{Space: a.Name.Space, Local: a.Name.Local, Value: string(a.Value)})
	}
	var text []byte
	for {
		kind, err := t.xml.Next()
		if err != nil {
			return node{}, err
		}
		switch kind {
		case xmlscan.Text:
			text = append(text, t.xml.Text()...)
		case xmlscan.Start:
			child, err := t.node()
			if err != nil {
				return node{}, err
			}
			n.children = append(n.children, child)
		case xmlscan.End:
			n.text = string(xmlscan.Trim(text))
			return n, nil
		}
	}
}

// attr returns the value of an attribute without a namespace; empty if there is none.
func (n *node) attr(local string) string {
	for _, a := range n.attrs {
		if a.Space == "" && a.Local == local {
			return a.Value
		}
	}
	return ""
}

// child returns the first child of n's own namespace with a name, or an empty node.
func (n *node) child(local string) *node {
	for i := range n.children {
		if c := &n.children[i]; c.local == local && c.space == n.space {
			return c
		}
	}
	return new(node)
}

// A markup builds one extension element. Its first error sticks.
type markup struct {
	prefix string
	b      []byte
	err    error
}

// newMarkup begins an element that declares its prefix.
func newMarkup(prefix, space, local string) *markup {
	m := &markup{prefix: prefix}
	m.b = append(m.b, "<"+prefix+":"+local+" xmlns:"+prefix+`="`+space+`"`...)
	return m
}

// attr adds an attribute to the tag that was begun, unless its value is empty.
func (m *markup) attr(name, value string) {
	if value == "" {
		return
	}
	m.b = append(m.b, " "+name+`="`...)
	m.escape(value, xmlscan.AppendAttr)
	m.b = append(m.b, '"')
}

// begin begins a child's tag.
func (m *markup) begin(local string) { m.b = append(m.b, "<"+m.prefix+":"+local...) }

// end writes the text of an element, and its end.
func (m *markup) end(local, text string) {
	m.b = append(m.b, '>')
	m.escape(text, xmlscan.AppendText)
	m.close(local)
}

// open ends a tag whose element has children.
func (m *markup) open() { m.b = append(m.b, '>') }

func (m *markup) close(local string) { m.b = append(m.b, "</"+m.prefix+":"+local+">"...) }

// element writes a child that holds only text, unless that is empty.
func (m *markup) element(local, text string) {
	if text != "" {
		m.begin(local)
		m.end(local, text)
	}
}

func (m *markup) escape(s string, escape func([]byte, string) ([]byte, error)) {
	b, err := escape(m.b, s)
	if m.b = b; m.err == nil {
		m.err = err
	}
}

// finish returns the element, if it keeps the rules of its extension.
func (m *markup) finish(space, local string) (websync.Element, error) {
	err := m.err
	if err == nil {
		var n node
		if n, err = new(treeReader).read(m.b); err == nil {
			err = checkNode(&n)
		}
	}
	if err != nil {
		return websync.Element{}, &EntryError{Element: local, Err: err}
	}
	return websync.Element{Space: space, Local: local, XML: string(m.b)}, nil
}

// number writes a number: nothing for 0, and 0 for websync.StatedZero.
func number[T int | int64](n T) string {
	switch n {
	case 0:
		return ""
	case websync.StatedZero:
		return "0"
	}
	return strconv.FormatInt(int64(n), 10)
}
