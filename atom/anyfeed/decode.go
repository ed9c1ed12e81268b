package anyfeed

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
)

const (
	headSize     = 4 << 10 // bytes at the start of a document that are examined
	maxReference = 64      // bytes of a character reference that are examined
)

var (
	declaration = regexp.MustCompile(`^<\?xml\s[^>]*\?>`)
	encodingOf  = regexp.MustCompile(`\sencoding\s*=\s*["']([^"'<>]*)["']`)
	reference   = regexp.MustCompile(`^&#(?:[0-9]+|x[0-9a-fA-F]+);`)
)

// utf8 reads all of the document, in UTF-8. It replaces what is before the XML
// declaration, and the declaration, which names the old encoding, with white space. Line
// numbers stay the same.
func (p *parser) utf8(head []byte) (*pages, error) {
	decoder := utf16(head)
	if decoder == nil {
		_, _, label := prologue(bytes.TrimPrefix(head, byteOrderMark))
		if e, name := charset.Lookup(label); e != nil && !strings.HasPrefix(name, "utf-") {
			decoder = e
		}
	}
	if bytes.HasPrefix(head, byteOrderMark) {
		p.doc.Discard(len(byteOrderMark))
	}
	text, err := p.read(p.doc, decoder)
	if err != nil {
		return nil, err
	}
	known := decoder != nil
	first := text.bytes(span{0, min(text.size, headSize)})
	start, end, label := prologue(first)
	text.blank(span{start, end})
	if before := bytes.TrimSpace(first[:max(0, start-len("\n"))]); len(before) > 0 {
		p.find(ruleLeftOut, "", string(before), "lines before the XML declaration")
		text.blank(span{0, start})
	}
	switch _, name := charset.Lookup(label); {
	case known, name != "":
	case label != "":
		p.find(ruleBytes, "", label, "an encoding that is not known; read as UTF-8")
	case !text.isUTF8():
		p.find(ruleBytes, "", "", "neither UTF-8 nor an encoding that is stated; read as Windows-1252")
		if text, err = p.read(text.moved(), charmap.Windows1252); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// read reads all of r with a decoder, if there is one, up to the limit on the document.
func (p *parser) read(r io.Reader, decoder encoding.Encoding) (*pages, error) {
	if decoder != nil {
		r = decoder.NewDecoder().Reader(r)
	}
	text := new(pages)
	n, err := io.Copy(text, io.LimitReader(r, min(p.max, math.MaxInt64-1)+1))
	switch {
	case err != nil:
		return nil, err
	case n > p.max:
		return nil, fmt.Errorf("more than %d bytes: %w", p.max, websync.ErrLimit)
	}
	return text, nil
}

// utf16 returns the decoder of a document in UTF-16, otherwise nil.
func utf16(head []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}), bytes.HasPrefix(head, []byte{0, '<'}):
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{'<', 0}):
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	return nil
}

// prologue finds the XML declaration near the start of a document, and the encoding that
// it names.
func prologue(data []byte) (start, end int, label string) {
	head := data[:min(len(data), headSize)]
	start = len(head) - len(bytes.TrimLeft(head, " \t\r\n"))
	if at := bytes.Index(head, []byte("\n<?xml ")); at >= 0 && !document.StartsAsXML(head) {
		start = at + len("\n")
	}
	found := declaration.Find(head[start:])
	if m := encodingOf.FindSubmatch(found); m != nil {
		label = string(m[1])
	}
	return start, start + len(found), label
}

// clean returns the text with U+FFFD for what is no character.
func (p *parser) clean(text *pages) (*pages, error) {
	c := new(cleaner)
	text, err := p.read(transform.NewReader(text.moved(), c), nil)
	if err != nil {
		return nil, p.fail("", err)
	}
	if c.faults > 0 {
		p.find(ruleBytes, "", "", "what is no character became U+FFFD")
	}
	p.cost = int64(text.size)
	return text, nil
}

// A cleaner replaces each fault of a text with U+FFFD. Bytes that are not UTF-8 and
// follow each other are one fault.
type cleaner struct {
	faults int
	inside bool // a fault of several bytes
}

func (c *cleaner) Reset() {}

func (c *cleaner) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		b := src[nSrc:]
		if len(dst)-nDst < len(replacement) {
			return nDst, nSrc, transform.ErrShortDst
		}
		if n := sound(b[:min(len(b), len(dst)-nDst)]); n > 0 {
			nDst += copy(dst[nDst:], b[:n])
			nSrc += n
			c.inside = false
			continue
		}
		if !atEOF && len(b) < maxReference && (b[0] == '&' && bytes.IndexByte(b, ';') < 0 || !utf8.FullRune(b)) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		switch n, fault := character(b); {
		case !fault && len(dst)-nDst < n:
			return nDst, nSrc, transform.ErrShortDst
		case !fault:
			nDst += copy(dst[nDst:], b[:n])
			nSrc += n
			c.inside = false
		default:
			if invalid := b[0] >= utf8.RuneSelf && n == 1; !invalid || !c.inside {
				nDst += copy(dst[nDst:], replacement)
				c.faults++
				c.inside = invalid
			}
			nSrc += n
		}
	}
	return nDst, nSrc, nil
}

// sound returns how many bytes at the start of b are ASCII and can't be a fault.
func sound(b []byte) int {
	for i, c := range b {
		if c >= utf8.RuneSelf || c == '&' || !syntax.IsXMLCharacter(rune(c)) {
			return i
		}
	}
	return len(b)
}

// character returns the length of the character or reference at the start of b, and
// whether it is a fault.
func character(b []byte) (n int, fault bool) {
	if b[0] == '&' {
		if len(b) < 2 || b[1] != '#' {
			return 1, false
		}
		if ref := reference.Find(b[:min(len(b), maxReference)]); ref != nil && !syntax.IsXMLCharacter(referred(ref)) {
			return len(ref), true
		}
		return 1, false
	}
	r, n := utf8.DecodeRune(b)
	return n, r == utf8.RuneError && n == 1 || !syntax.IsXMLCharacter(r)
}

var (
	replacement   = []byte("\ufffd")
	byteOrderMark = []byte(document.ByteOrderMark)
)

// referred returns the number of a character reference; -1 if it is far too large.
func referred(ref []byte) rune {
	digits, base := string(ref[2:len(ref)-1]), 10
	if digits[0] == 'x' {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseInt(digits, base, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}
