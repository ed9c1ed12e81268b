package xmlscan

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync/internal/charset"
)

// encodingState is what is known of the encoding.
type encodingState struct {
	known   bool             // the first bytes have been looked at
	shown   charset.Encoding // what they show
	decoded *charset.Reader  // nil if the document is in UTF-8
	late    bool             // white space or a second mark came before the declaration
}

func (e *encodingState) name() string {
	if e.decoded != nil {
		return e.decoded.Encoding().String()
	}
	return charset.UTF8.String()
}

const byteOrderMark = "\uFEFF"

// begin reads up to the end of the XML declaration, if there is one. It returns false
// after an error and if the buffer ends first.
func (r *Reader) begin() bool {
	if !r.enc.known {
		r.maxDepth = orDefault(r.MaxDepth, 256)
		r.maxToken = orDefault(r.MaxToken, 8<<20)
		r.maxAttrs = orDefault(r.MaxAttrs, 256)
		if r.end < 4 && r.srcErr == nil || !r.sniff() {
			return false
		}
		r.enc.known = true
	}
	if !r.skipLead() {
		return false
	}
	yes, short := r.starts("<?xml")
	switch {
	case short, yes && r.pos+5 == r.end:
		return false
	case !yes, class[r.buf[r.pos+5]]&nameByte != 0: // the latter: <?xml-stylesheet …?>
		r.mode = modeProlog
		return r.choose("", r.pos)
	}
	n := bytes.Index(r.buf[r.pos:r.end], []byte("?>"))
	if n < 0 || !r.declaration(r.buf[r.pos+5:r.pos+n]) {
		return false
	}
	r.mode = modeProlog
	r.seen.markup = true
	return true
}

// sniff finds UTF-16 and byte-order marks in the first bytes.
func (r *Reader) sniff() bool {
	e, mark := charset.Sniff(r.buf[:r.end])
	if e == charset.UTF32 {
		return r.fail(0, ErrEncoding, "UTF-32 is not supported")
	}
	r.enc.shown = e
	r.pos = mark
	r.origin.off, r.near.off, r.ahead.off, r.tok = mark, mark, mark, mark
	if e.IsWide() {
		r.transcode(charset.Choice{Encoding: e})
	}
	return true
}

// skipLead passes over what must not stand before an XML declaration.
func (r *Reader) skipLead() bool {
	for {
		mark, short := r.starts(byteOrderMark)
		switch {
		case r.pos == r.end:
			return false
		case isSpace(r.buf[r.pos]):
			r.pos++
		case r.Recover != nil && short:
			return false
		case r.Recover != nil && mark:
			r.note(r.pos, "second byte-order mark")
			r.pos += len(byteOrderMark)
		default:
			return true
		}
		r.enc.late = true
	}
}

// declaration takes the XML declaration, whose part between "<?xml" and "?>" is b.
func (r *Reader) declaration(b []byte) bool {
	if r.enc.late && !r.fault(r.pos, "white space before the XML declaration") {
		return false
	}
	label, ok := parseDeclaration(b)
	if !ok && !r.fault(r.pos, "invalid XML declaration") {
		return false
	}
	at := r.pos
	return r.consume(len("<?xml")+len(b)+len("?>")) && r.choose(label, at)
}

// parseDeclaration returns the declared encoding, as far as b can be read, and whether b
// is right.
func parseDeclaration(b []byte) (encoding string, ok bool) {
	version, b, _ := pseudoAttr(b, "version")
	label, b, hasLabel := pseudoAttr(b, "encoding")
	standalone, b, hasStandalone := pseudoAttr(b, "standalone")
	minor, ok := strings.CutPrefix(version, "1.")
	ok = ok && minor != "" && strings.Trim(minor, "0123456789") == "" &&
		(!hasLabel || isEncodingName(label)) &&
		(!hasStandalone || standalone == "yes" || standalone == "no") &&
		len(Trim(b)) == 0
	return label, ok
}

// pseudoAttr cuts name="value" with the white space before it from b.
func pseudoAttr(b []byte, name string) (value string, rest []byte, ok bool) {
	s := Trim(b)
	if len(b) == 0 || !isSpace(b[0]) || !bytes.HasPrefix(s, []byte(name)) {
		return "", b, false
	}
	s, ok = bytes.CutPrefix(Trim(s[len(name):]), []byte("="))
	s = Trim(s)
	if !ok || len(s) == 0 || s[0] != '"' && s[0] != '\'' {
		return "", b, false
	}
	v, s, ok := bytes.Cut(s[1:], s[:1])
	if !ok {
		return "", b, false
	}
	return string(v), s, true
}

// isEncodingName reports whether s is an EncName: production [81].
func isEncodingName(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || class[c]&nameByte == 0 || c == ':' || c >= utf8.RuneSelf) {
			return false
		}
	}
	return s != ""
}

// choose decides on the encoding, given the one that is declared at buf[at]; empty if none
// is.
func (r *Reader) choose(declared string, at int) bool {
	c, notes := charset.Choose(r.enc.shown, r.Charset, declared)
	if !c.Known() {
		return r.fail(at, ErrEncoding, "unsupported encoding %.100q", declared)
	}
	for _, note := range notes {
		r.note(at, note)
	}
	if c.Encoding != charset.UTF8 && !c.Encoding.IsWide() { // which is decoded already
		r.transcode(c)
	}
	return true
}

// transcode decodes the unread input and all that follows.
func (r *Reader) transcode(c charset.Choice) {
	r.enc.decoded = charset.NewReader(r.src, c, bytes.Clone(r.buf[r.pos:r.end]), r.srcErr)
	r.src, r.srcErr = r.enc.decoded, nil
	r.end = r.pos
	clear(r.buf[r.end : r.end+padding])
}
