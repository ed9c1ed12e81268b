package anyfeed

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/transform"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/charset"
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
	shown, mark := charset.Sniff(head)
	_, _, declared := prologue(head[mark:])
	stated := charset.Of(p.doc.ContentType)
	if start := bytes.TrimLeft(head[mark:], " \t\r\n"); bytes.HasPrefix(start, []byte("{")) {
		stated = ""
	}
	isGuess := shown == charset.Encoding{} && stated == "" && declared == ""
	if isGuess {
		stated = "us-ascii"
	}
	c, notes := charset.Choose(shown, stated, declared)
	if !c.Known() {
		c, notes = charset.Choose(charset.Encoding{}, stated, "")
		notes = append(notes, "an encoding that is not known: "+declared)
	}
	for _, note := range notes {
		p.find(ruleBytes, "", declared, note)
	}
	p.doc.Discard(mark)
	decoded := charset.NewReader(p.doc, c, nil, nil)
	text, err := p.read(decoded)
	if err != nil {
		return nil, err
	}
	if isGuess && decoded.Encoding() != charset.UTF8 {
		p.find(ruleBytes, "", "", "neither UTF-8 nor an encoding that is stated; read as Windows-1252")
	}
	first := text.bytes(span{0, min(text.size, headSize)})
	start, end, _ := prologue(first)
	text.blank(span{start, end})
	if before := bytes.TrimSpace(first[:max(0, start-len("\n"))]); len(before) > 0 {
		p.find(ruleLeftOut, "", string(before), "lines before the XML declaration")
		text.blank(span{0, start})
	}
	return text, nil
}

// read reads all of r, up to the limit on the document.
func (p *parser) read(r io.Reader) (*pages, error) {
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
	text, err := p.read(transform.NewReader(text.moved(), c))
	if err != nil {
		return nil, p.fail("", err)
	}
	if c.faults > 0 {
		at := p.at
		p.at.line, p.at.column = c.line+1, c.column+1
		p.find(ruleBytes, "", "", "what is no character became U+FFFD")
		p.at = at
	}
	p.cost = int64(text.size)
	return text, nil
}

// A cleaner replaces each fault of a text with U+FFFD. Bytes that are not UTF-8 and
// follow each other are one fault.
type cleaner struct {
	faults       int
	inside       bool // a fault of several bytes
	line, column int  // of the first fault, from 0
}

// pass counts what comes before the first fault.
func (c *cleaner) pass(b []byte) {
	switch n := bytes.Count(b, []byte("\n")); {
	case c.faults > 0:
	case n > 0:
		c.line, c.column = c.line+n, len(b)-1-bytes.LastIndexByte(b, '\n')
	default:
		c.column += len(b)
	}
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
			c.pass(b[:n])
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
			c.pass(b[:n])
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

var replacement = []byte("\ufffd")

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
