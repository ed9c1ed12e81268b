package xmlscan

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
)

// A Kind is the kind of a token.
type Kind uint8

const (
	Start Kind = iota + 1 // a start tag, or the first half of an empty-element tag
	End                   // an end tag, or the second half of an empty-element tag
	Text                  // a run of text, never empty
)

// String returns the name of the kind.
func (k Kind) String() string {
	switch k {
	case Start:
		return "Start"
	case End:
		return "End"
	case Text:
		return "Text"
	}
	return "None"
}

// A Name is a resolved name. Space is the namespace's URI, empty for none; it is never a
// prefix.
type Name struct{ Space, Local string }

// An Attr is one attribute of a start tag; namespace declarations are not among them.
// Value is normalised as XML 1.0 §3.3.3 says and valid until the next call that reads.
type Attr struct {
	Name  Name
	Value []byte
}

// A Reader reads one XML document. It holds one token at a time, and memory for the
// longest.
//
// Set the fields before the first call that reads. A Reader is not safe for concurrent
// use.
type Reader struct {
	// Charset is that of the document's Content-Type; empty if none is known.
	//
	// A byte-order mark, and what can only be UTF-16, count before Charset, and Charset
	// counts before the XML declaration (RFC 7303 §3.2). Where one of the two is UTF-8
	// and the other is not, the bytes decide, because many servers state one charset for
	// everything: the document is in UTF-8 if nine of ten of the first characters beyond
	// ASCII are. A document without a declaration is as one that declares UTF-8. A Charset that
	// is not known does not count.
	Charset string

	// MaxDepth limits the nesting of elements. If zero, it is 256; if negative, there is
	// no limit.
	MaxDepth int

	// MaxToken limits the bytes of a tag with its attributes, of a DOCTYPE, and of one
	// Text: a longer run of text comes in several. Comments and processing instructions
	// may be of any length. If zero, it is 8 MiB; if negative, there is no limit.
	MaxToken int

	// MaxValue limits the bytes that ElementText and AppendElement return, and may be
	// changed at any time. If zero, it is 8 MiB; if negative, there is no limit.
	MaxValue int

	// MaxSize limits the bytes of the document in UTF-8. If zero or negative, there is no
	// limit.
	MaxSize int64

	// MaxAttrs limits the attributes of one element, namespace declarations included. If
	// zero, it is 256; if negative, there is no limit.
	MaxAttrs int

	// Recover, if set, makes the Reader go on after a fault that does not touch the
	// structure, and receives each. Losses counts what is lost.
	//
	//   - A '&' that starts no reference, and a reference to an unknown entity, stay as
	//     they are; HTML 4 entities are decoded.
	//   - A character that XML forbids, raw or by reference, is left out.
	//   - Bytes that are not the document's encoding become U+FFFD.
	//   - "]]>" in text is kept.
	//   - A prefix that is not declared is its own namespace: Name.Space is the prefix.
	//   - White space before the XML declaration, a faulty or repeated XML declaration
	//     and a second byte-order mark are skipped.
	//   - What passes MaxToken, MaxAttrs, MaxValue or MaxDepth is left out: the
	//     attributes of a tag, the text or the element that is asked for, or the elements
	//     that are nested too deep.
	//
	// Recover also receives notes on encodings that contradict each other or the bytes,
	// or are not known, and on elements that ElementText skips. If Recover is nil, these
	// are no errors. Positions are as in SyntaxError. Recover must not use the Reader.
	Recover func(line, column int, msg string)

	// RepairTags, with Recover, makes the Reader go on after a start tag whose attributes
	// are not well-formed, unless it is that of the root or another '<' comes before the
	// next '>'. The tag then ends at that '>', without the attributes from the fault on.
	// The fault is among the Losses that are Cut.
	RepairTags bool

	// Entities makes the Reader accept a DOCTYPE that declares entities. A reference to one
	// whose value is text is decoded (XML 1.0 §4.4.2); its value may refer to those
	// declared before it. Others, external ones above all, are as not declared. Parameter
	// entities are passed over. A DOCTYPE may declare 1000 entities, of 64 KiB each, and
	// the references of a document may stand for 1 MiB.
	Entities bool

	// Stop, if set, is called with each element inside of one that Skip, ElementText or
	// AppendElement reads. If it returns true, they return ErrStopped, and the Start of
	// that element is the current token. It must not use the Reader.
	Stop func(Name) bool

	maxDepth, maxToken, maxAttrs int // the limits above with their defaults

	input
	names
	mode  mode
	err   error   // what Next returns from now on
	stack []frame // the open elements

	// The current token.
	kind  Kind
	text  []byte    // of a Text, in buf or joined
	attrs []Attr    // of a Start
	raws  []rawAttr // attrs as they stand in the tag
	sound int       // offset behind the attributes that were scanned
	decls []*prefix // the prefixes that a Start declares

	attrPrefix *prefix // the last one of an attribute in the tag; nil if none has any

	cooked bool // attrs are decoded and their names resolved
	// buf[tok:] starts with the attributes of the Start, or is the Text, just as
	// AppendElement writes them
	verbatim bool
	spilled  bool // the text returned last is not the end of its run

	long   long // in modeLong
	deep   int  // in modeDeep: the elements that are open below MaxDepth
	losses Losses

	messages map[string]string // about lost characters, by their bytes

	values  []byte // attribute values that had to be decoded
	joined  []byte // a run of text that is not one view of buf
	element []byte // the text of an element that is not one run
	scrap   []byte // what is needed for a moment

	entities map[string]entity // that the DOCTYPE declares
	expanded int               // bytes that references to them stand for

	outer []*prefix // those that the element of AppendElement uses from outside

	seen struct{ markup, doctype bool } // what came before the root
	enc  encodingState
}

// A frame is one open element.
type frame struct {
	name  *qname
	space string
	binds int // the number of bindings outside the element
}

// A mode is what may come next. In modeContent, any token may.
type mode uint8

const (
	modeContent mode = iota // inside the root element
	modeEmpty               // after the Start of an empty element
	modeRun                 // inside a run of text of several pieces
	modeLong                // inside a token that is not read as a whole
	modeDeep                // inside elements that are nested too deep
	modeBegin               // before the first byte
	modeProlog              // before the root element
	modeEpilog              // after the root element
	modeFailed              // after an error
)

// NewReader returns a Reader of the document in src. It detects the encoding.
func NewReader(src io.Reader) *Reader {
	r := new(Reader)
	r.Reset(src)
	return r
}

// Reset makes r read another document from src with the same settings, keeping its
// memory.
func (r *Reader) Reset(src io.Reader) {
	r.input.reset(src)
	r.names.reset()
	r.mode = modeBegin
	r.err = nil
	r.stack = r.stack[:0]
	r.kind, r.text = 0, nil
	r.seen.markup, r.seen.doctype = false, false
	r.enc = encodingState{}
	r.spilled, r.deep, r.losses = false, 0, Losses{}
	clear(r.messages)
	r.entities, r.expanded = nil, 0
}

// defaultValue is what MaxValue means by zero.
const defaultValue = 8 << 20

// orDefault returns a limit: def if it is zero, none if it is negative.
func orDefault(limit, def int) int {
	switch {
	case limit == 0:
		return def
	case limit < 0:
		return math.MaxInt
	}
	return limit
}

// Next advances to the next token. Comments, processing instructions and a DOCTYPE
// without entity declarations are checked and passed over. At the end of the document the
// error is io.EOF; what is not well-formed gives a *SyntaxError; an error of the
// underlying io.Reader is wrapped. Errors stick.
func (r *Reader) Next() (Kind, error) {
	if k := r.token(); k != 0 {
		r.kind = k
		return k, nil
	}
	return r.next()
}

// next is Next when the buffer does not hold the whole token, and after an error.
func (r *Reader) next() (Kind, error) {
	for {
		if r.err == nil {
			r.more()
		}
		if r.err != nil {
			r.kind, r.mode = 0, modeFailed
			return 0, r.err
		}
		if k := r.token(); k != 0 {
			r.kind = k
			return k, nil
		}
	}
}

// NextTag is like Next but passes over Text.
func (r *Reader) NextTag() (Kind, error) {
	k, err := r.NextTagOrText()
	for k == Text {
		k, err = r.Next()
	}
	return k, err
}

// NextTagOrText is like Next but passes over white space that a tag follows at once.
func (r *Reader) NextTagOrText() (Kind, error) {
	if r.mode == modeContent && r.buf[r.pos] != '<' {
		r.passIndentation()
	}
	return r.Next()
}

// Skip reads to the end of the innermost open element (the one whose Start is current, if
// one is); its End becomes the current token. After an End, that is the element around
// the one that ended.
func (r *Reader) Skip() error {
	depth := len(r.stack)
	for {
		k, err := r.Next()
		if err != nil {
			return err
		}
		if len(r.stack) < depth {
			return nil
		}
		if k == Start && r.stops() {
			return ErrStopped
		}
	}
}

// stops reports whether Stop returns true for the current Start.
func (r *Reader) stops() bool { return r.Stop != nil && r.Stop(r.Name()) }

// ElementText reads the element whose Start is current up to its End, which becomes the
// current token, and returns its text as a view valid until the next call that reads.
// White space is kept (see [Trim]). Child elements are skipped with their text, with a
// note to Recover.
func (r *Reader) ElementText() ([]byte, error) {
	k, err := r.Next()
	if k == End || err != nil {
		return nil, err
	}
	r.element = r.element[:0]
	limit := orDefault(r.MaxValue, defaultValue)
	if k == Text && r.mode == modeContent && len(r.text) <= limit {
		text := r.text
		if k = r.token(); k == End { // buf did not move: text is still there
			r.kind = End
			return text, nil
		}
		r.element = append(r.element, text...)
		if k != 0 {
			r.kind = k
		} else if k, err = r.Next(); err != nil {
			return nil, err
		}
	}
	for k != End {
		switch {
		case k == Start:
			err = r.skipChild()
		case len(r.text) <= limit-len(r.element):
			r.element = append(r.element, r.text...)
		default:
			return nil, r.skipOver(len(r.stack), "text of an element is longer than %d bytes", limit)
		}
		if err != nil {
			return nil, err
		}
		if k, err = r.Next(); err != nil {
			return nil, err
		}
	}
	return r.element, nil
}

// skipOver reports a passed limit and skips to the End of the element at depth.
func (r *Reader) skipOver(depth int, format string, limit int) error {
	if !r.cut(r.pos, format, limit) {
		r.kind = 0
		return r.err
	}
	for len(r.stack) >= depth {
		if err := r.Skip(); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) skipChild() error {
	if r.Recover != nil {
		line, col := r.Position()
		r.Recover(line, col, "element "+r.current().name.raw+" where only text is expected")
	}
	if r.stops() {
		return ErrStopped
	}
	return r.Skip()
}

// Name returns the resolved name of the current Start or End. Its strings may be kept.
func (r *Reader) Name() Name {
	if r.kind == Start || r.kind == End {
		f := r.current()
		return Name{f.space, f.name.local}
	}
	return Name{}
}

// Parent returns the resolved name of the element that the current Start is a child of;
// the zero Name if that is the root.
func (r *Reader) Parent() Name {
	if n := r.Depth() - 1; r.kind == Start && n > 0 {
		f := &r.stack[n-1]
		return Name{f.space, f.name.local}
	}
	return Name{}
}

// current returns the element of the current Start or End.
func (r *Reader) current() *frame {
	n := r.Depth()
	return &r.stack[:n][n-1] // an element that has just ended is still behind the stack
}

// Attrs returns the attributes of the current Start in the order of the document, as a
// view valid until the next call that reads.
func (r *Reader) Attrs() []Attr {
	if r.kind != Start {
		return nil
	}
	return r.attrs
}

// Attr returns the value of one attribute of the current Start, as a view valid until the
// next call that reads. Most attributes are in no namespace: their space is empty.
func (r *Reader) Attr(space, local string) (value []byte, ok bool) {
	for i, a := range r.Attrs() {
		if a.Name.Local == local && a.Name.Space == space {
			return r.attrs[i].Value, true
		}
	}
	return nil, false
}

// Text returns the current Text with references and line ends decoded, as a view valid
// until the next call that reads.
func (r *Reader) Text() []byte {
	if r.kind != Text {
		return nil
	}
	return r.text
}

// Depth returns the number of open elements, the one that a current Start or End belongs
// to included: 1 at both tags of the root.
func (r *Reader) Depth() int {
	if r.kind == End {
		return len(r.stack) + 1
	}
	return len(r.stack)
}

// Losses counts what a Reader with Recover has left out so far, and the constructs that
// may hide a part of its document.
type Losses struct {
	Characters int // that are left out, or replaced by U+FFFD
	// that are left as they stand: to entities that are not known, or not closed
	References int
	// elements of which something is left out because it passes a limit, or because their
	// tags are not well-formed
	Cut int

	// Sections and Instructions count the CDATA sections and processing instructions that
	// contain the start of another one. The end of the first is probably damaged, so that
	// it hides everything up to the end of the second.
	Sections, Instructions int
}

// Losses returns what was lost up to the current token. If two results are equal, nothing
// was lost in between.
func (r *Reader) Losses() Losses { return r.losses }

// Position returns where the current token starts: line and column count from 1, the
// column in bytes of the document in UTF-8.
func (r *Reader) Position() (line, column int) {
	p := r.tokPos
	if r.tok >= 0 {
		r.near = r.marker(r.tok)
		p = r.near.position
	}
	return p.line + 1, p.col + 1
}

// Trim returns b without the white space of XML (space, tab, line feed, carriage return)
// around it.
func Trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// token reads one token from the buffer, which it never moves. It returns zero after an
// error, which is then in r.err, and if the buffer holds only the beginning of a token:
// nothing has changed then, and the caller reads more and calls again.
func (r *Reader) token() Kind {
	if r.mode != modeContent {
		return r.special()
	}
	head := (*[padding]byte)(r.buf[r.pos : r.pos+padding])
	if head[0] != '<' {
		return r.plainRun()
	}
	switch c := head[1]; {
	case c == '/':
		return r.endTag(binary.LittleEndian.Uint64(head[2:]))
	case class[c]&nameStart != 0:
		return r.startTag(binary.LittleEndian.Uint64(head[1:]))
	}
	return r.run()
}

func (r *Reader) special() Kind {
	switch r.mode {
	case modeFailed:
		return 0
	case modeEmpty:
		return r.close()
	case modeRun:
		return r.run()
	case modeLong:
		return r.passLong()
	case modeDeep:
		return r.passDeep()
	case modeBegin:
		if !r.begin() {
			return 0
		}
	}
	return r.outside()
}

// outside reads what comes before and after the root element.
func (r *Reader) outside() Kind {
	for {
		for isSpace(r.buf[r.pos]) {
			r.pos++
		}
		switch b := r.buf[r.pos:r.end]; {
		case len(b) == 0:
			return 0
		case b[0] != '<':
			return r.strayText()
		case len(b) == 1:
			return 0
		case b[1] == '?':
			if !r.pi() {
				return 0
			}
		case b[1] == '!':
			if !r.comment() && !r.doctype() {
				return 0
			}
		case r.mode == modeEpilog:
			r.fail(r.pos, nil, "markup after the root element")
			return 0
		default:
			return r.startTag(word(r.buf, r.pos+1))
		}
		r.seen.markup = true
	}
}

func (r *Reader) strayText() Kind {
	switch {
	case r.mode == modeEpilog:
		r.fail(r.pos, nil, "text after the root element")
	case r.seen.markup:
		r.fail(r.pos, nil, "text before the root element")
	default:
		r.fail(r.pos, ErrNotXML, "the first character is not '<'")
	}
	return 0
}

// starts reports whether s is at r.pos. If the buffer ends too early to know, short is
// true.
func (r *Reader) starts(s string) (yes, short bool) {
	b := r.buf[r.pos:r.end]
	if len(b) < len(s) {
		return false, s[:len(b)] == string(b)
	}
	return string(b[:len(s)]) == s, false
}

// declares reports whether start is at r.pos, where markup starts with "<!". If that is
// no comment either, it sets r.err.
func (r *Reader) declares(start, fault string) bool {
	if r.err != nil {
		return false
	}
	yes, short := r.starts(start)
	if comment, cut := r.starts("<!--"); !yes && !short && !comment && !cut {
		r.fail(r.pos, nil, "%s", fault)
	}
	return yes
}

// pi passes over a processing instruction.
func (r *Reader) pi() bool {
	n := bytes.Index(r.buf[r.pos+2:r.end], []byte("?>"))
	if n < 0 {
		return false
	}
	from := r.pos + 2
	body := r.buf[from : from+n]
	if r.piTarget(r.buf[r.pos:from+n+1]) == 0 || !r.checkChars(body, from) {
		return false
	}
	if hasPI(body) {
		r.runsOn(&r.losses.Instructions)
	}
	r.pos = from + n + 2
	return true
}

// piTarget checks the target of the processing instruction at r.pos, whose bytes are b.
// It returns the offset behind the target, or 0 after an error and if the target does not
// end.
func (r *Reader) piTarget(b []byte) int {
	target := b[2 : 2+nameLen(b[2:])]
	n := 2 + len(target)
	switch {
	case n == len(b):
		return 0
	case string(target) == "xml":
		if !r.fault(r.pos, "XML declaration is not at the start of the document") {
			return 0
		}
	case !isNCName(target) || bytes.EqualFold(target, []byte("xml")):
		r.fail(r.pos, nil, "invalid target %q of a processing instruction", target)
		return 0
	case b[n] != '?' && !isSpace(b[n]):
		r.fail(r.pos, nil, "no white space after the target of a processing instruction")
		return 0
	}
	return n
}

// comment passes over a comment. It returns false, too, when there is none.
func (r *Reader) comment() bool {
	if yes, _ := r.starts("<!--"); !yes {
		return false
	}
	from := r.pos + 4
	n := bytes.Index(r.buf[from:r.end], []byte("--"))
	switch end := from + n + 2; {
	case n < 0 || end == r.end:
		return false
	case r.buf[end] != '>': // its end may be damaged, and then what follows is no comment
		return r.fail(from+n, nil, doubleHyphen)
	}
	if !r.checkChars(r.buf[from:from+n], from) {
		return false
	}
	r.pos = from + n + 3
	return true
}

const doubleHyphen = `"--" in a comment`

// consume passes over n checked bytes of markup that is no token.
func (r *Reader) consume(n int) bool {
	if n > r.maxToken {
		return r.fail(r.pos, ErrLimit, "token longer than %d bytes", r.maxToken)
	}
	r.pos += n
	return true
}
