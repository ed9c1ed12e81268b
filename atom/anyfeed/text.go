package anyfeed

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

const (
	xhtmlNamespace = "http://www.w3.org/1999/xhtml"
	divStart       = `<div xmlns="` + xhtmlNamespace + `">`
	divEnd         = `</div>`
)

// A form is how a text is written.
type form uint8

const (
	asText   form = iota // plain text
	asHTML               // HTML, whose markup is escaped
	asMarkup             // elements; what is escaped is text
)

// construct reads the text of the element whose Start is current. An empty one is not
// stated.
func (r *reader) construct(as form) (t atom.Text, err error) {
	t.Lang, t.Base = r.stated(r.xml)
	if t.Type, err = r.markup(as); err != nil {
		return t, err
	}
	if t.Value = r.kept.keep(xmlscan.Trim(r.buf)); t.Value == "" {
		return atom.Text{}, nil
	}
	return t, nil
}

// markup reads the text of an element into r.buf, and returns its type. If there are
// elements in it, what is escaped beside them is text. Elements of XHTML become a div,
// and others HTML.
func (r *reader) markup(as form) (typ string, err error) {
	r.buf = r.buf[:0]
	element, depth := r.xml.Name().Local, r.xml.Depth()
	m := marking{reader: r, typ: as.typ(), plain: as != asMarkup}
	for {
		kind, err := r.xml.Next()
		if err == nil && kind == xmlscan.Start {
			err = m.start(r.xml.Name())
		}
		if err == nil {
			err = r.checkLosses()
		}
		switch {
		case err != nil:
			return "", err
		case len(r.buf) > r.maxValue():
			return "", r.fail(element, r.tooLong("an element"))
		case kind == xmlscan.Text:
			m.text(r.xml.Text())
		case kind == xmlscan.End && r.xml.Depth() == depth:
			m.end()
			return m.typ, nil
		case kind == xmlscan.End && m.typ == atom.HTML:
			r.buf = appendEnd(r.buf, r.xml.Name().Local)
		}
	}
}

// A marking makes a text of what is in an element.
type marking struct {
	*reader
	typ            string
	plain          bool // nothing but text so far, which is kept as it is
	elements, divs int
	beside         int // bytes of text beside them
}

func (m *marking) text(t []byte) {
	if m.plain {
		m.buf = append(m.buf, t...)
		return
	}
	m.buf = appendEscaped(m.buf, t, inText)
	m.beside += len(xmlscan.Trim(t))
}

// start takes the element whose Start is current: all of one of XHTML, or the tag.
func (m *marking) start(name xmlscan.Name) (err error) {
	if m.plain {
		m.scratch = appendEscaped(m.scratch[:0], m.buf, inText)
		m.buf, m.scratch = m.scratch, m.buf
		m.plain, m.typ, m.beside = false, atom.HTML, len(xmlscan.Trim(m.buf))
	}
	if m.elements == 0 && name.Space == xhtmlNamespace {
		m.typ = atom.XHTML
		m.buf = slices.Insert(m.buf, 0, []byte(divStart)...)
	}
	m.elements++
	if name == (xmlscan.Name{Space: xhtmlNamespace, Local: "div"}) {
		m.divs++
	}
	if m.typ == atom.XHTML {
		m.buf, err = m.xml.AppendElement(m.buf)
		return err
	}
	m.passes(name)
	m.appendStart(name.Local)
	return nil
}

// end completes the div of XHTML, unless the text is one itself.
func (m *marking) end() {
	switch {
	case m.typ != atom.XHTML:
	case m.divs == 1 && m.elements == 1 && m.beside == 0:
		m.buf = xmlscan.Trim(m.buf)[len(divStart):]
	default:
		m.buf = append(m.buf, divEnd...)
	}
}

// appendStart appends the start tag of an element of HTML. Attributes of other namespaces
// have no place there, except for the language.
func (r *reader) appendStart(local string) {
	r.buf = append(append(r.buf, '<'), local...)
	for _, a := range r.xml.Attrs() {
		if a.Name.Space == "" || a.Name == (xmlscan.Name{Space: xmlNamespace, Local: "lang"}) {
			r.buf = append(append(r.buf, ' '), a.Name.Local...)
			r.buf = append(appendEscaped(append(r.buf, `="`...), a.Value, inQuotes), '"')
		}
	}
	r.buf = append(r.buf, '>')
}

// appendEnd appends the end tag of an element of HTML, which some have not.
func appendEnd(b []byte, local string) []byte {
	if isVoid(local) {
		return b
	}
	return append(append(append(b, "</"...), local...), '>')
}

// isVoid reports whether an element of HTML has no end tag.
func isVoid(local string) bool {
	switch strings.ToLower(local) {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}

// The characters that are escaped.
const (
	inText   = "&<>"
	inQuotes = `&<>"`
)

var escapes = [...]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&quot;"}

// appendEscaped appends a text as HTML or XML.
func appendEscaped(dst, text []byte, chars string) []byte {
	for {
		n := bytes.IndexAny(text, chars)
		if n < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:n]...)
		dst = append(dst, escapes[text[n]]...)
		text = text[n+1:]
	}
}

// typ returns the type of a text without elements.
func (f form) typ() string {
	if f == asText {
		return atom.PlainText
	}
	return atom.HTML
}

// textForm returns how a text of Atom with some type and mode is written, and whether it
// is Base64. In Atom 0.3 a text of a media type without a mode is XML.
func textForm(typ, mode string, isOld bool) (as form, encoded bool) {
	typ = strings.ToLower(typ)
	isHTML, isMedia := strings.Contains(typ, "html"), strings.Contains(typ, "/")
	switch {
	case mode == "base64" && isHTML:
		return asHTML, true
	case mode == "base64":
		return asText, true
	case isHTML && (mode == "xml" || mode == "" && (isMedia && isOld || strings.Contains(typ, "xhtml"))):
		return asMarkup, false
	case isHTML, typ == "" && mode == "escaped":
		return asHTML, false
	}
	return asText, false
}

// form returns the type and the mode of a text of Atom.
func (r *reader) form() (typ, mode string) {
	t, _ := r.xml.Attr("", "type")
	m, _ := r.xml.Attr("", "mode")
	return r.kept.keep(xmlscan.Trim(t)), r.kept.keep(xmlscan.Trim(m))
}

// atomText reads a text construct of Atom.
func (r *reader) atomText() (atom.Text, error) {
	typ, mode := r.form()
	as, encoded := textForm(typ, mode, r.root.Space == atom03Namespace)
	t, err := r.construct(as)
	if err != nil || !encoded {
		return t, err
	}
	b, fault := base64.StdEncoding.DecodeString(dropSpace(t.Value))
	if fault != nil || !utf8.Valid(b) {
		r.find(ruleLeftOut, "", t.Value, "a text in Base64 that can't be read is left out")
		return atom.Text{}, nil
	}
	t.Value = string(b)
	return t, nil
}

func dropSpace(s string) string { return strings.Join(strings.Fields(s), "") }

// atomContent reads the content of an entry of Atom.
func (r *reader) atomContent(c *atom.Content) error {
	l := r.link(r.xml, "content", "src")
	l.Rel = ""
	if l.Href != "" {
		c.Link = l
		return r.skip()
	}
	typ, mode := r.form()
	media := strings.ToLower(syntax.Essence(typ))
	isXML := syntax.IsXML(media) && !strings.Contains(media, "html") && mode != "escaped" && mode != "base64"
	switch {
	case isXML:
		return r.xmlContent(c, typ)
	case !strings.Contains(media, "/"), syntax.IsText(media), strings.Contains(media, "html"):
		t, err := r.atomText()
		c.Type, c.Value, c.Lang, c.Base = t.Type, t.Value, t.Lang, t.Base
		if t.Type == atom.PlainText && syntax.IsText(media) && media != "text/plain" {
			c.Type = typ
		}
		return err
	}
	value, err := r.text()
	if value = dropSpace(value); syntax.Base64Fault(value) != "" {
		r.find(ruleLeftOut, "content", typ, "content that can't be kept is left out")
	} else if value != "" {
		c.Type, c.Value = typ, value
	}
	return err
}

// xmlContent reads content that is one element.
func (r *reader) xmlContent(c *atom.Content, typ string) error {
	r.inContent = true
	defer func() { r.inContent = false }()
	r.buf = r.buf[:0]
	elements, beside := 0, 0
	for {
		kind, err := r.xml.Next()
		if err == nil && kind == xmlscan.Start {
			elements++
			r.buf, err = r.xml.AppendElement(r.buf)
		}
		if err == nil {
			err = r.checkLosses()
		}
		switch {
		case err != nil:
			return err
		case kind == xmlscan.Text:
			beside += len(xmlscan.Trim(r.xml.Text()))
		case kind == xmlscan.Start:
		case elements == 1 && beside == 0:
			c.Type, c.Value = typ, r.kept.keep(r.buf)
			return nil
		default:
			r.find(ruleLeftOut, "content", typ, "content that can't be kept is left out")
			return nil
		}
	}
}
