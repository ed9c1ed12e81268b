package xmlscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// encodingState is what is known of the encoding. The byte-order mark counts first, then
// the bytes, then the declaration.
type encodingState struct {
	known  bool   // the first bytes have been looked at
	marked bool   // there was a byte-order mark
	wide   bool   // UTF-16
	label  string // the encoding that is decoded, if it is not UTF-8
	late   bool   // white space or a second mark came before the declaration
}

func (e *encodingState) name() string {
	if e.label != "" {
		return e.label
	}
	return "UTF-8"
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
		return true
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
	b := r.buf[:r.end]
	mark := 0
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(b, []byte(byteOrderMark)):
		mark = len(byteOrderMark)
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE, 0, 0}), bytes.HasPrefix(b, []byte{0, 0, 0xFE, 0xFF}),
		bytes.HasPrefix(b, []byte{'<', 0, 0, 0}), bytes.HasPrefix(b, []byte{0, 0, 0, '<'}):
		return r.fail(0, ErrEncoding, "UTF-32 is not supported")
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		mark, order = 2, binary.LittleEndian
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		mark, order = 2, binary.BigEndian
	case len(b) >= 2 && b[1] == 0 && (b[0] == '<' || isSpace(b[0])):
		order = binary.LittleEndian
	case len(b) >= 2 && b[0] == 0 && (b[1] == '<' || isSpace(b[1])):
		order = binary.BigEndian
	}
	r.enc.marked = mark > 0
	r.pos = mark
	r.origin.off, r.near.off, r.ahead.off, r.tok = mark, mark, mark, mark
	if order != nil {
		r.enc.wide, r.enc.label = true, "UTF-16"
		r.transcode(utf16Decoder(order))
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
	return r.consume(len("<?xml")+len(b)+len("?>")) && (label == "" || r.declared(label, at))
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

// declared compares the declared encoding with what is known from the bytes. If that is
// nothing, it starts to decode.
func (r *Reader) declared(label string, at int) bool {
	id := encodingID(label)
	wide := strings.HasPrefix(id, "utf16") || strings.HasPrefix(id, "utf32") || strings.HasPrefix(id, "ucs") ||
		strings.HasPrefix(id, "iso10646ucs")
	narrow := id == "utf8" || id == "usascii" || id == "ascii"
	switch {
	case r.enc.wide && wide, !r.enc.wide && narrow:
		return true
	case r.enc.wide, r.enc.marked, wide:
		r.note(at, fmt.Sprintf("declared encoding %.100s, but the document is in %s", label, r.enc.name()))
		return true
	}
	cm := Charmap(label)
	if cm == nil {
		return r.fail(at, ErrEncoding, "unsupported encoding %.100q", label)
	}
	r.enc.label = label
	r.transcode(charmapDecoder(cm))
	return true
}

// encodingID reduces an encoding's name to small letters and digits.
func encodingID(label string) string {
	return strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || c == '.' {
			return -1
		}
		return c
	}, strings.ToLower(label))
}

// charmaps returns the tables of the single-byte encodings.
var charmaps = sync.OnceValue(func() map[string]*charmap.Charmap {
	return map[string]*charmap.Charmap{
		"iso88591": charmap.ISO8859_1, "latin1": charmap.ISO8859_1, "l1": charmap.ISO8859_1,
		"iso88592": charmap.ISO8859_2, "latin2": charmap.ISO8859_2,
		"iso88593":    charmap.ISO8859_3,
		"iso88594":    charmap.ISO8859_4,
		"iso88595":    charmap.ISO8859_5,
		"iso88596":    charmap.ISO8859_6,
		"iso88597":    charmap.ISO8859_7,
		"iso88598":    charmap.ISO8859_8,
		"iso88599":    charmap.ISO8859_9,
		"iso885910":   charmap.ISO8859_10,
		"iso885913":   charmap.ISO8859_13,
		"iso885914":   charmap.ISO8859_14,
		"iso885915":   charmap.ISO8859_15,
		"iso885916":   charmap.ISO8859_16,
		"windows1250": charmap.Windows1250, "cp1250": charmap.Windows1250,
		"windows1251": charmap.Windows1251, "cp1251": charmap.Windows1251,
		"windows1252": charmap.Windows1252, "cp1252": charmap.Windows1252,
		"windows1253": charmap.Windows1253,
		"windows1254": charmap.Windows1254,
		"windows1255": charmap.Windows1255,
		"windows1256": charmap.Windows1256,
		"windows1257": charmap.Windows1257,
		"windows1258": charmap.Windows1258,
		"windows874":  charmap.Windows874,
		"koi8r":       charmap.KOI8R,
		"koi8u":       charmap.KOI8U,
		"ibm437":      charmap.CodePage437,
		"ibm850":      charmap.CodePage850,
		"ibm852":      charmap.CodePage852,
		"ibm866":      charmap.CodePage866,
		"macintosh":   charmap.Macintosh,
	}
})

// Charmap returns the table of a single-byte encoding, or nil if label names none that a
// Reader supports.
func Charmap(label string) *charmap.Charmap { return charmaps()[encodingID(label)] }

// notUTF8 is what the decoders give for input that they cannot decode: a byte that the
// scanner reports, in its place. (The decoders of x/text give U+FFFD, which a document
// may well contain.)
const notUTF8 = 0xFF

// A decoder decodes some of src into dst, which has room for at least one character; at
// the end it takes all of src.
type decoder func(dst, src []byte, atEOF bool) (nDst, nSrc int)

// transcode decodes the unread input and all that follows.
func (r *Reader) transcode(d decoder) {
	t := &transcoder{src: r.src, err: r.srcErr, decode: d, raw: make([]byte, bufferSize)}
	t.pending = append(t.pending, r.buf[r.pos:r.end]...)
	r.src, r.srcErr = t, nil
	r.end = r.pos
	clear(r.buf[r.end : r.end+padding])
}

type transcoder struct {
	src     io.Reader
	err     error // what src ended with
	decode  decoder
	raw     []byte
	pending []byte // what is not decoded yet

	char [utf8.UTFMax]byte // holds a character that is longer than a read,
	rest []byte            // and this is what is left of it
}

func (t *transcoder) Read(p []byte) (int, error) {
	if n := t.take(p); n > 0 {
		return n, nil
	}
	if t.err == nil {
		var n int
		kept := copy(t.raw, t.pending)
		n, t.err = t.src.Read(t.raw[kept:])
		t.pending = t.raw[:kept+n]
		if n := t.take(p); n > 0 {
			return n, nil
		}
	}
	return 0, t.err
}

// take decodes pending input into p, which can be shorter than a character.
func (t *transcoder) take(p []byte) int {
	if len(t.rest) == 0 && len(p) >= utf8.UTFMax {
		return t.decodeInto(p)
	}
	if len(t.rest) == 0 {
		t.rest = t.char[:t.decodeInto(t.char[:])]
	}
	n := copy(p, t.rest)
	t.rest = t.rest[n:]
	return n
}

func (t *transcoder) decodeInto(p []byte) int {
	nDst, nSrc := t.decode(p, t.pending, t.err == io.EOF)
	t.pending = t.pending[nSrc:]
	return nDst
}

func utf16Decoder(order binary.ByteOrder) decoder {
	return func(dst, src []byte, atEOF bool) (nDst, nSrc int) {
		for nDst+utf8.UTFMax <= len(dst) && nSrc < len(src) {
			if len(src)-nSrc == 1 {
				if atEOF {
					dst[nDst] = notUTF8
					nDst, nSrc = nDst+1, nSrc+1
				}
				break
			}
			c, n := rune(order.Uint16(src[nSrc:])), 2
			if utf16.IsSurrogate(c) {
				if len(src)-nSrc < 4 && !atEOF {
					break
				}
				c = utf8.RuneError
				if len(src)-nSrc >= 4 {
					c = utf16.DecodeRune(rune(order.Uint16(src[nSrc:])), rune(order.Uint16(src[nSrc+2:])))
				}
				if c == utf8.RuneError {
					dst[nDst] = notUTF8
					nDst, nSrc = nDst+1, nSrc+2
					continue
				}
				n = 4
			}
			nDst += utf8.EncodeRune(dst[nDst:], c)
			nSrc += n
		}
		return nDst, nSrc
	}
}

func charmapDecoder(cm *charmap.Charmap) decoder {
	var table [256]string
	for c := range table {
		table[c] = string([]byte{notUTF8})
		if d := cm.DecodeByte(byte(c)); d != utf8.RuneError {
			table[c] = string(d)
		}
	}
	return func(dst, src []byte, _ bool) (nDst, nSrc int) {
		for nDst+utf8.UTFMax <= len(dst) && nSrc < len(src) {
			nDst += copy(dst[nDst:], table[src[nSrc]])
			nSrc++
		}
		return nDst, nSrc
	}
}
