package xmlscan

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// flushSize is how much a Writer gathers before it writes.
const flushSize = 32 << 10

// A Writer writes one XML document in UTF-8. Calls after an error do nothing; Flush, Close and Err return the first error.
//
//	w := xmlscan.NewWriter(dst)
//	w.Declaration()
//	w.Start("urlset")
//	w.Attr("xmlns", ns)
//	w.Element("loc", url)
//	w.End()
//	err := w.Close()
//
// Names are written as given, prefix and all; a prefix must have been declared by an Attr "xmlns:…" of the element or one around it.
type Writer struct {
	// Indent puts each element on a line of its own, two spaces for each level. Elements that hold text stay as they are.
	Indent bool

	dst  io.Writer
	err  error
	buf  []byte
	any  bool // something was written
	done bool // the root element was closed

	stack []level
	inTag bool        // the innermost element's start tag is still open
	attrs []attrName  // its attributes, other than declarations
	decls []namespace // the declarations of all open elements

	fragment strings.Reader // for Raw
	checker  *Reader
}

// An attrName is a checked name; colon is the length of its prefix, 0 if it has none.
type attrName struct {
	name  string
	colon int
}

// A level is one open element.
type level struct {
	attrName
	decls    int // the number of declarations outside
	text     bool
	children bool // on lines of their own, unless there is text
}

// NewWriter returns a Writer to dst.
func NewWriter(dst io.Writer) *Writer {
	return &Writer{dst: dst, buf: make([]byte, 0, flushSize+flushSize/4)}
}

// Reset makes w write another document to dst with the same settings, keeping its memory.
func (w *Writer) Reset(dst io.Writer) {
	*w = Writer{
		Indent: w.Indent, dst: dst, buf: w.buf[:0],
		stack: w.stack[:0], attrs: w.attrs[:0], decls: w.decls[:0], checker: w.checker,
	}
}

// Declaration writes the XML declaration. It can only come first.
func (w *Writer) Declaration() {
	if w.any {
		w.fail("XML declaration that is not at the start")
	}
	if w.err != nil {
		return
	}
	w.any = true
	w.buf = append(w.buf, `<?xml version="1.0" encoding="UTF-8"?>`...)
	w.buf = append(w.buf, '\n')
}

// Start opens an element.
func (w *Writer) Start(name string) {
	colon := w.checkName(name)
	if !w.content() {
		return
	}
	w.startLine()
	w.stack = append(w.stack, level{attrName: attrName{name, colon}, decls: len(w.decls)})
	w.buf = append(w.buf, '<')
	w.buf = append(w.buf, name...)
	w.inTag = true
}

// content ends an open start tag and prepares for an element. It tells whether there is no error.
func (w *Writer) content() bool {
	if w.done {
		w.fail("element after the root element")
	}
	if w.inTag {
		w.endTag()
		w.buf = append(w.buf, '>')
	}
	if len(w.buf) >= flushSize {
		w.Flush()
	}
	w.any = true
	return w.err == nil
}

// startLine begins a new line for an element, where that changes no text.
func (w *Writer) startLine() {
	n := len(w.stack)
	if n == 0 || !w.Indent {
		return
	}
	parent := &w.stack[n-1]
	parent.children = true
	if !parent.text {
		w.newLine(n)
	}
}

func (w *Writer) newLine(level int) {
	b := append(w.buf, '\n')
	for range level {
		b = append(b, "  "...)
	}
	w.buf = b
}

// Attr adds an attribute or namespace declaration to the element just opened.
func (w *Writer) Attr(name, value string) {
	if !w.inTag {
		w.fail("attribute %s outside a tag", name)
	}
	if w.err != nil {
		return
	}
	if prefix, ok := strings.CutPrefix(name, "xmlns"); ok && (prefix == "" || prefix[0] == ':') {
		w.declare(strings.TrimPrefix(prefix, ":"), name, value)
	} else {
		a := attrName{name, w.checkName(name)}
		if slices.Contains(w.attrs, a) {
			w.fail("attribute %s twice", name)
		}
		w.attrs = append(w.attrs, a)
	}
	w.buf = append(w.buf, ' ')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, `="`...)
	w.escape(value, true)
	w.buf = append(w.buf, '"')
}

// declare checks and remembers the declaration of a prefix, or of the default namespace.
func (w *Writer) declare(prefix, name, uri string) {
	switch {
	case name == "xmlns:", prefix != "" && !isNCName(view(prefix)):
		w.fail("bad name %q", name)
	case prefix != "" && uri == "":
		w.fail("prefix %s declared as empty", prefix)
	case prefix == "xmlns", uri == xmlnsURI, (prefix == "xml") != (uri == xmlURI):
		w.fail("prefix %q bound to %s", prefix, uri)
	}
	for _, d := range w.decls[w.stack[len(w.stack)-1].decls:] {
		if d.prefix == prefix {
			w.fail("attribute %s twice", name)
		}
	}
	w.decls = append(w.decls, namespace{prefix, uri})
}

// endTag checks the names of the tag at hand, all of whose declarations are known now.
func (w *Writer) endTag() {
	w.inTag = false
	w.space(w.stack[len(w.stack)-1].attrName)
	prefixed := 0
	for _, a := range w.attrs {
		if a.colon > 0 {
			w.space(a)
			prefixed++
		}
	}
	if prefixed > 1 {
		w.checkAttrs()
	}
	w.attrs = w.attrs[:0]
}

// checkAttrs looks for one attribute under two prefixes.
func (w *Writer) checkAttrs() {
	for i, a := range w.attrs {
		for _, b := range w.attrs[:i] {
			if a.colon > 0 && b.colon > 0 && a.name[a.colon:] == b.name[b.colon:] && w.space(a) == w.space(b) {
				w.fail("attribute %s twice, once as %s", b.name, a.name)
			}
		}
	}
}

// space returns the namespace of a name's prefix, which must be declared.
func (w *Writer) space(a attrName) string {
	if a.colon == 0 {
		return ""
	}
	prefix := a.name[:a.colon]
	if prefix == "xml" {
		return xmlURI
	}
	for _, d := range slices.Backward(w.decls) {
		if d.prefix == prefix {
			return d.uri
		}
	}
	w.fail("prefix %s is not declared", prefix)
	return ""
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
	w.escape(s, false)
}

// End closes the innermost open element; one without content becomes an empty-element tag.
func (w *Writer) End() {
	n := len(w.stack) - 1
	if n < 0 {
		w.fail("end without a start")
	}
	if w.err != nil {
		return
	}
	l := w.stack[n]
	if w.inTag {
		w.endTag()
		w.buf = append(w.buf, "/>"...)
	} else {
		if l.children && !l.text {
			w.newLine(n)
		}
		w.buf = append(w.buf, "</"...)
		w.buf = append(w.buf, l.name...)
		w.buf = append(w.buf, '>')
	}
	w.stack = w.stack[:n]
	w.decls = w.decls[:l.decls]
	w.done = n == 0
}

// Element writes an element that holds only text.
func (w *Writer) Element(name, text string) {
	colon := w.checkName(name)
	if text == "" || len(w.stack) == 0 {
		w.Start(name)
		w.Text(text)
		w.End()
		return
	}
	if !w.content() {
		return
	}
	w.startLine()
	if colon > 0 {
		w.space(attrName{name, colon})
	}
	b := append(w.buf, '<')
	b = append(b, name...)
	b = append(b, '>')
	b, err := escape(b, view(text), false)
	if err != nil && w.err == nil {
		w.err = err
	}
	b = append(b, "</"...)
	b = append(b, name...)
	w.buf = append(b, '>')
}

// Raw writes xml, one element that declares every prefix it uses (as [Reader.AppendElement] gives it), as it is after checking it.
func (w *Writer) Raw(xml string) {
	if err := w.checkFragment(xml); err != nil {
		w.fail("raw element: %w", err)
	}
	if !w.content() {
		return
	}
	w.startLine()
	w.buf = append(w.buf, xml...)
	w.done = len(w.stack) == 0
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

func (w *Writer) escape(s string, value bool) {
	var err error
	if w.buf, err = escape(w.buf, view(s), value); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *Writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("xml: "+format, args...)
	}
}

// Err returns the first error.
func (w *Writer) Err() error { return w.err }

// Flush hands what is buffered to the io.Writer. After an error it hands over nothing more.
func (w *Writer) Flush() error {
	if w.err != nil || len(w.buf) == 0 {
		return w.err
	}
	n, err := w.dst.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		w.err = fmt.Errorf("xml: %w", err)
	}
	w.buf = w.buf[:0]
	return w.err
}

// Close checks that the document is complete, ends its last line and flushes it. It does not close the io.Writer.
func (w *Writer) Close() error {
	switch {
	case len(w.stack) > 0:
		w.fail("element %s is open", w.stack[len(w.stack)-1].name)
	case !w.done:
		w.fail("no root element")
	}
	w.buf = append(w.buf, '\n')
	return w.Flush()
}

// checkName checks that name is one of Namespaces in XML 1.0 §4, and returns the length of its prefix.
func (w *Writer) checkName(name string) (colon int) {
	if name != "" && class[name[0]]&nameStart != 0 && name[0] != ':' {
		i := 0
		for i < len(name) && class[name[i]]&nameByte != 0 && name[i] < utf8.RuneSelf && name[i] != ':' {
			i++
		}
		if i == len(name) {
			return 0
		}
	}
	prefix, local, ok := strings.Cut(name, ":")
	if !isNCName(view(prefix)) || ok && !isNCName(view(local)) {
		w.fail("bad name %q", name)
	}
	if !ok {
		return 0
	}
	return len(prefix)
}
