package xmlscan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// flushSize is how much a Writer gathers before it writes.
const flushSize = 32 << 10

// A Writer writes one XML document in UTF-8. Calls after an error do nothing; Flush,
// Close and Err return the first error.
//
//	w := xmlscan.NewWriter(dst)
//	w.Declaration()
//	w.Start("urlset")
//	w.Attr("xmlns", ns)
//	w.Element("loc", url)
//	w.End()
//	err := w.Close()
//
// Names are written as given, prefix and all; a prefix must have been declared by an Attr
// "xmlns:…" of the element or one around it.
type Writer struct {
	// Indent puts each element on a line of its own, two spaces for each level. Elements
	// that hold text stay as they are.
	Indent bool

	dst   io.Writer
	err   error
	buf   []byte
	state state
	lines bool // an element written now begins on a new line

	names
	stack []element
	attrs []*qname // the attributes of the open tag that have a prefix

	fragment strings.Reader // for Raw
	checker  *Reader
}

// A state tells where in the document a Writer is.
type state uint8

const (
	atStart   state = iota // nothing is written
	inProlog               // after the XML declaration
	inTag                  // the innermost element's start tag is still open
	inContent              // inside an element
	afterRoot
	failed // there is an error
)

// An element is one that a Writer has open.
type element struct {
	name  *qname
	binds int  // the number of bindings outside the element
	text  bool // it holds text
}

// NewWriter returns a Writer to dst.
func NewWriter(dst io.Writer) *Writer {
	w := &Writer{buf: make([]byte, 0, flushSize+flushSize/4)}
	w.Reset(dst)
	return w
}

// Reset makes w write another document to dst with the same settings, keeping its memory.
func (w *Writer) Reset(dst io.Writer) {
	w.dst = dst
	w.err = nil
	w.buf = w.buf[:0]
	w.state = atStart
	w.lines = false
	w.names.reset()
	w.stack = w.stack[:0]
	w.attrs = w.attrs[:0]
}

// Declaration writes the XML declaration. It can only come first.
func (w *Writer) Declaration() {
	if w.state != atStart {
		w.fail("XML declaration that is not at the start")
		return
	}
	w.state = inProlog
	w.buf = append(w.buf, `<?xml version="1.0" encoding="UTF-8"?>`...)
	w.buf = append(w.buf, '\n')
}

// Start opens an element.
func (w *Writer) Start(name string) {
	q := w.name(name)
	if q == nil || !w.content() {
		return
	}
	b := q.appendTag(w.line())
	w.buf = b[:len(b)-1]
	w.stack = append(w.stack, element{name: q, binds: len(w.binds)})
	w.serial++
	w.lines = w.Indent
	w.state = inTag
}

// content ends an open start tag and prepares for an element. It tells whether there is
// no error.
func (w *Writer) content() bool {
	return w.state == inContent && len(w.buf) < flushSize || w.prepare()
}

func (w *Writer) prepare() bool {
	switch w.state {
	case afterRoot:
		w.fail("element after the root element")
	case inTag:
		w.buf = append(w.buf, '>')
		w.endTag()
	}
	if len(w.buf) >= flushSize {
		w.Flush()
	}
	return w.state != failed
}

// line returns w.buf with the beginning of a new line for an element, where that changes
// no text.
func (w *Writer) line() []byte {
	if w.lines {
		return appendLine(w.buf, len(w.stack))
	}
	return w.buf
}

// appendLine begins a new line for an element at the given level.
func appendLine(dst []byte, level int) []byte {
	const line = ' '*low&^0xFF | '\n'
	n := len(dst)
	if level > 3 || n+8 > cap(dst) {
		return appendLongLine(dst, level)
	}
	binary.LittleEndian.PutUint64(dst[n:n+8], line)
	return dst[:n+1+2*level]
}

func appendLongLine(dst []byte, level int) []byte {
	dst = append(dst, '\n')
	for range level {
		dst = append(dst, "  "...)
	}
	return dst
}

// Attr adds an attribute or namespace declaration to the element just opened.
func (w *Writer) Attr(name, value string) {
	if w.state != inTag {
		w.fail("attribute %s outside a tag", name)
		return
	}
	q := w.name(name)
	if q == nil {
		return
	}
	if q.serial == w.serial {
		w.fail("attribute %s twice", name)
		return
	}
	q.serial = w.serial
	if q.declares != nil {
		w.declare(q.declares, value)
	} else if q.prefix != w.none {
		w.attrs = append(w.attrs, q)
	}
	b := q.appendTag(w.buf)
	b[len(w.buf)], b[len(b)-1] = ' ', '='
	b = append(b, '"')
	b, n := doubleStops.appendPlain(b, view(value))
	if n < len(value) {
		b = w.escape(b, value[n:], inValue)
	}
	w.buf = append(b, '"')
}

// declare handles the declaration of a prefix, or of the default namespace.
func (w *Writer) declare(p *prefix, uri string) {
	switch {
	case p != w.none && uri == "":
		w.fail("prefix %s declared as empty", p.name)
	case p.name == "xmlns", uri == xmlnsURI, (p.name == "xml") != (uri == xmlURI):
		w.fail("prefix %q bound to %s", p.name, uri)
	}
	w.binds = append(w.binds, binding{p, p.uri, p.depth})
	p.uri, p.depth = uri, len(w.stack)
}

// endTag checks the names of the tag at hand, all of whose declarations are known now.
func (w *Writer) endTag() {
	w.state = inContent
	if q := w.stack[len(w.stack)-1].name; q.prefix != w.none {
		w.checkPrefix(q)
	}
	if len(w.attrs) > 0 {
		w.checkAttrs()
	}
}

// checkAttrs checks prefixes, and looks for one attribute under two of them.
func (w *Writer) checkAttrs() {
	for i, a := range w.attrs {
		w.checkPrefix(a)
		for _, b := range w.attrs[:i] {
			if a.local == b.local && a.prefix.uri == b.prefix.uri {
				w.fail("attribute %s twice, once as %s", b.raw, a.raw)
			}
		}
	}
	w.attrs = w.attrs[:0]
}

// checkPrefix checks that the prefix of a name that has one is declared.
func (w *Writer) checkPrefix(q *qname) {
	if q.prefix.uri == "" || q.declares != nil {
		w.fail("prefix %s is not declared", q.prefix.name)
	}
}

// Text writes text into the open element.
func (w *Writer) Text(s string) {
	if len(w.stack) == 0 {
		w.fail("text outside the root element")
	}
	if s == "" || !w.content() {
		return
	}
	w.stack[len(w.stack)-1].text = true
	w.lines = false
	w.buf = w.escape(w.buf, s, inText)
}

// End closes the innermost open element; one without content becomes an empty-element
// tag.
func (w *Writer) End() {
	n := len(w.stack) - 1
	if n < 0 {
		w.fail("end without a start")
	}
	if w.state == failed {
		return
	}
	l := &w.stack[n]
	if w.state == inTag {
		w.buf = append(w.buf, "/>"...)
		w.endTag()
	} else {
		b := w.buf
		if w.lines {
			b = appendLine(b, n)
		}
		w.buf = l.name.appendEndTag(b)
	}
	if len(w.binds) > l.binds {
		w.unbind(l.binds)
	}
	w.stack = w.stack[:n]
	w.lines = w.Indent && n > 0 && !w.stack[n-1].text
	if n == 0 && w.state != failed {
		w.state = afterRoot
	}
}

// Element writes an element that holds only text.
func (w *Writer) Element(name, text string) {
	if text == "" || len(w.stack) == 0 {
		w.Start(name)
		w.Text(text)
		w.End()
		return
	}
	q := w.name(name)
	if q == nil || !w.content() {
		return
	}
	if q.prefix != w.none {
		w.checkPrefix(q)
	}
	b, n := textStops.appendPlain(q.appendTag(w.line()), view(text))
	if n < len(text) {
		b = w.escape(b, text[n:], inText)
	}
	w.buf = q.appendEndTag(b)
}

// Raw writes xml, one element that declares every prefix it uses (as
// [Reader.AppendElement] gives it), as it is after checking it.
func (w *Writer) Raw(xml string) {
	if err := w.checkFragment(xml); err != nil {
		w.fail("raw element: %w", err)
	}
	if !w.content() {
		return
	}
	w.buf = append(w.line(), xml...)
	w.state = inContent
	if len(w.stack) == 0 {
		w.state = afterRoot
	}
}

var errNotElement = errors.New("not one element")

func (w *Writer) checkFragment(xml string) error {
	if w.checker == nil {
		w.checker = NewReader(nil)
		w.checker.MaxToken = -1
		w.checker.MaxAttrs = -1
	}
	r := w.checker
	w.fragment.Reset(xml)
	r.Reset(&w.fragment)
	for {
		if _, err := r.Next(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	if r.seen.markup || r.enc.marked || r.enc.wide || xml[0] != '<' {
		return errNotElement
	}
	return nil
}

// escape appends s to dst, escaped.
func (w *Writer) escape(dst []byte, s string, where where) []byte {
	dst, err := escape(dst, view(s), where)
	if err != nil {
		w.setErr(err)
	}
	return dst
}

func (w *Writer) fail(format string, args ...any) { w.setErr(fmt.Errorf("xml: "+format, args...)) }

// setErr keeps the first error.
func (w *Writer) setErr(err error) {
	if w.err == nil {
		w.err = err
	}
	w.state = failed
}

// Err returns the first error.
func (w *Writer) Err() error { return w.err }

// Flush hands what is buffered to the io.Writer. After an error it hands over nothing
// more.
func (w *Writer) Flush() error {
	if w.err != nil || len(w.buf) == 0 {
		return w.err
	}
	n, err := w.dst.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.fail("%w", err)
	}
	w.buf = w.buf[:0]
	return w.err
}

// Close checks that the document is complete, ends its last line and flushes it. It does
// not close the io.Writer.
func (w *Writer) Close() error {
	switch {
	case len(w.stack) > 0:
		w.fail("element %s is open", w.stack[len(w.stack)-1].name.raw)
	case w.state != afterRoot:
		w.fail("no root element")
	}
	w.buf = append(w.buf, '\n')
	return w.Flush()
}
