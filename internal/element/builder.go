package element

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/xmlscan"
)

// A Builder writes one element. Its first error sticks.
type Builder struct {
	space, local string
	prefix       string   // with its colon
	open         []string // names of the elements that are open
	tag          bool     // the start tag of the last one is
	b            []byte
	err          error
}

// New starts an element. If prefix is empty, its namespace is the default one.
func New(prefix, space, local string) *Builder {
	m := &Builder{space: space, local: local}
	declaration := "xmlns"
	if prefix != "" {
		m.prefix = prefix + ":"
		declaration += ":" + prefix
	}
	m.Start(local)
	m.Attr(declaration, space)
	return m
}

// Text returns an element that holds only text.
func Text(space, local, text string) (websync.Element, error) {
	m := New("", space, local)
	m.text(text)
	return m.Element()
}

// Start starts a child.
func (m *Builder) Start(local string) {
	m.closeTag()
	m.b = append(m.b, "<"+m.prefix+local...)
	m.open, m.tag = append(m.open, local), true
}

// Attr adds an attribute to the element that was started last, unless value is empty.
func (m *Builder) Attr(name, value string) {
	if value != "" {
		m.escaped(xmlscan.AppendAttr(m.b, " "+name+`="`, value))
	}
}

// End ends the element that was started last, with its text.
func (m *Builder) End(text string) {
	m.text(text)
	last := len(m.open) - 1
	if m.tag {
		m.b = append(m.b, "/>"...)
	} else {
		m.b = append(m.b, "</"+m.prefix+m.open[last]+">"...)
	}
	m.open, m.tag = m.open[:last], false
}

// Child writes a child that holds only text, unless that is empty.
func (m *Builder) Child(local, text string) {
	if text != "" {
		m.Start(local)
		m.End(text)
	}
}

// Element ends all elements that are open and returns the whole.
func (m *Builder) Element() (websync.Element, error) {
	for len(m.open) > 0 {
		m.End("")
	}
	if m.err != nil {
		return websync.Element{}, m.err
	}
	return websync.Element{Space: m.space, Local: m.local, XML: string(m.b)}, nil
}

func (m *Builder) closeTag() {
	if m.tag {
		m.b = append(m.b, '>')
		m.tag = false
	}
}

func (m *Builder) text(s string) {
	if s != "" {
		m.closeTag()
		m.escaped(xmlscan.AppendText(m.b, s))
	}
}

func (m *Builder) escaped(b []byte, err error) {
	if m.b = b; m.err == nil {
		m.err = err
	}
}
