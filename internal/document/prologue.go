package document

import (
	"bytes"
	"io"
)

// A prologue passes on what it reads. Up to the root element it notes what an XML reader
// does not report: the declared encoding and a DOCTYPE. It reads UTF-16 as ASCII with
// zeros in between.
type prologue struct {
	src     io.Reader
	wide    bool     // UTF-16
	doctype position // zero: none

	declaration []byte // the first bytes of the first processing instruction
	declared    bool   // it has ended

	tail  []byte // the last bytes since state has changed, at most three
	state prologueState
	position
}

// A position is where something starts in a document.
type position struct{ line, column int }

type prologueState uint8

const (
	inProlog prologueState = iota
	inMarkup
	inInstruction
	inComment
	pastProlog
)

const maxDeclaration = 512

func (p *prologue) Read(b []byte) (int, error) {
	n, err := p.src.Read(b)
	for _, c := range b[:n] {
		if p.state == pastProlog {
			break
		}
		p.byte(c)
	}
	return n, err
}

// move counts a byte. It returns false for one that is part of no character.
func (p *prologue) move(c byte) bool {
	switch {
	case c == 0, p.line == 0 && (c == 0xfe || c == 0xff):
		p.wide = true
		return false
	case p.line == 0 && (c == 0xef || c == 0xbb || c == 0xbf): // a byte-order mark
		return false
	}
	p.line = max(p.line, 1)
	if p.column++; c == '\n' {
		p.line, p.column = p.line+1, 0
	}
	return true
}

func (p *prologue) byte(c byte) {
	if !p.move(c) {
		return
	}
	p.tail = append(p.tail[max(0, len(p.tail)-2):], c)
	switch p.state {
	case inProlog:
		if c == '<' {
			p.enter(inMarkup)
		}
	case inMarkup:
		p.markup(c)
	case inInstruction:
		if !p.declared && len(p.declaration) < maxDeclaration {
			p.declaration = append(p.declaration, c)
		}
		if bytes.HasSuffix(p.tail, []byte("?>")) {
			p.declared = true
			p.enter(inProlog)
		}
	case inComment:
		if bytes.HasSuffix(p.tail, []byte("-->")) {
			p.enter(inProlog)
		}
	}
}

// markup takes a byte after '<'.
func (p *prologue) markup(c byte) {
	switch {
	case c == '?' && len(p.tail) == 1:
		p.enter(inInstruction)
	case c == '!' && len(p.tail) == 1:
	case string(p.tail) == "!-":
	case string(p.tail) == "!--":
		p.enter(inComment)
	case string(p.tail) == "!D":
		p.doctype = position{p.line, p.column - len("<!")}
		p.enter(pastProlog)
	default:
		p.enter(pastProlog)
	}
}

func (p *prologue) enter(s prologueState) { p.state, p.tail = s, p.tail[:0] }

// encoding returns the encoding that the XML declaration names; empty if it names none.
func (p *prologue) encoding() string {
	if !bytes.HasPrefix(p.declaration, []byte("xml")) {
		return ""
	}
	_, rest, ok := bytes.Cut(p.declaration, []byte("encoding"))
	rest, equals := bytes.CutPrefix(bytes.TrimSpace(rest), []byte("="))
	rest = bytes.TrimSpace(rest)
	if !ok || !equals || len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	label, _, ok := bytes.Cut(rest[1:], rest[:1])
	if !ok {
		return ""
	}
	return string(label)
}
