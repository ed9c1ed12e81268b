// Package jsonscan reads JSON (RFC 8259) from memory as a stream of values: it checks all
// of it, builds no tree, copies nothing that has no escapes, and knows the line and column
// of each value.
//
// A [Scanner] stands before a value. Exactly one call takes it:
//
//	s := jsonscan.New(data)
//	for name := range s.Members() { // of an object; a value that is not taken is skipped
//		switch name {
//		case "title":
//			title, ok = s.Text()
//		case "items":
//			for i := range s.Elements() { … }
//		}
//	}
//	err := s.End()
//
// After an error every call returns nothing, and loops end; [websync.ErrTruncated] if the
// data ends too early. What is no character, or one
// that XML does not have, is no error: it becomes U+FFFD, and goes to Scanner.Fault.
package jsonscan

import (
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// MaxDepth is how deep objects and arrays may be nested. Others are an error that matches
// [websync.ErrLimit].
const MaxDepth = 256

// A Scanner reads one JSON text.
type Scanner struct {
	// Fault, if set, is called for each Text and Since of which a part became U+FFFD, with
	// the offset of the value.
	Fault func(offset int)

	data  string
	at    int
	depth int
	err   error
	text  []byte // of a string that has escapes
	line  struct{ number, from, until int }
}

// New returns a Scanner of data.
func New(data string) *Scanner { return &Scanner{data: data} }

// Kind returns the first byte of the next value: '{', '[', '"', 't', 'f', 'n', '0' for a
// number; 0 if there is none.
func (s *Scanner) Kind() byte {
	c := s.peek()
	switch c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return '0'
	case 0:
		return 0
	}
	s.fail("%q where a value must be", c)
	return 0
}

// peek returns the next byte that is not white space; at the end it fails and returns 0.
func (s *Scanner) peek() byte {
	if s.err != nil {
		return 0
	}
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		case 0:
			s.fail("a byte 0 where a value must be")
			return 0
		default:
			return c
		}
	}
	s.err = websync.ErrTruncated
	return 0
}

// Members ranges over the members of the next value, if it is an object, with the name of
// each. Breaking out of the loop ends reading.
func (s *Scanner) Members() iter.Seq[string] {
	return func(yield func(string) bool) {
		for more := s.open('{'); more; more = s.more('}') {
			if s.peek() != '"' {
				s.fail("a member without a name")
				return
			}
			name, escaped := s.quoted()
			if escaped {
				name = string(AppendUnquoted(nil, name))
			}
			if s.peek() != ':' {
				s.fail("a name without a value")
				return
			}
			s.at++
			if !s.each(func() bool { return yield(name) }) {
				return
			}
		}
	}
}

// Elements ranges over the elements of the next value, if it is an array, with the index
// of each. Breaking out of the loop ends reading.
func (s *Scanner) Elements() iter.Seq[int] {
	return func(yield func(int) bool) {
		i := 0
		for more := s.open('['); more; more = s.more(']') {
			if !s.each(func() bool { return yield(i) }) {
				return
			}
			i++
		}
	}
}

// open enters an object or array. It returns false if there is nothing in it, and skips
// another value.
func (s *Scanner) open(bracket byte) bool {
	switch kind := s.Kind(); {
	case kind == 0:
		return false
	case kind != bracket:
		s.Skip()
		return false
	case s.depth == MaxDepth:
		s.fail("objects and arrays more than %d deep: %w", MaxDepth, websync.ErrLimit)
		return false
	}
	s.at++
	s.depth++
	return s.peek() != bracket+2 || s.close()
}

// close leaves an object or array, and returns false.
func (s *Scanner) close() bool {
	s.at++
	s.depth--
	return false
}

// more passes the comma before another member or element, or the end.
func (s *Scanner) more(end byte) bool {
	switch s.peek() {
	case ',':
		s.at++
		return true
	case end:
		return s.close()
	}
	s.fail("neither a comma nor %q after a value", end)
	return false
}

// each gives a value to take, and skips what that leaves.
func (s *Scanner) each(take func() bool) bool {
	if s.Kind() == 0 {
		return false
	}
	from := s.at
	if !take() {
		s.fail("not read to its end")
	} else if s.at == from {
		s.Skip()
	}
	return s.err == nil
}

// Text takes the next value. ok is false if it is not a string.
func (s *Scanner) Text() (text string, ok bool) {
	if s.Kind() != '"' {
		s.Skip()
		return "", false
	}
	offset := s.at
	inner, escaped := s.quoted()
	if escaped {
		s.text = AppendUnquoted(s.text[:0], inner)
		inner = string(s.text)
	}
	return s.characters(offset, inner), s.err == nil
}

// Since returns what was read since an offset, as it is written.
func (s *Scanner) Since(offset int) string { return s.characters(offset, s.data[offset:s.at]) }

// characters returns a text with U+FFFD for each run of what is no character of XML.
func (s *Scanner) characters(offset int, text string) string {
	if isPlain(text) {
		return text
	}
	clean := strings.Map(func(r rune) rune {
		if !syntax.IsXMLCharacter(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if clean != text && s.Fault != nil {
		s.Fault(offset)
	}
	return clean
}

// isPlain reports whether a text is ASCII without control characters, but for white space.
func isPlain(text string) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; len(text) >= 8; text = text[8:] {
		word := uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
			uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
		if word&high != 0 || (word-' '*ones)&^word&high != 0 && !isPlainBytes(text[:8]) {
			return false
		}
	}
	return isPlainBytes(text)
}

func isPlainBytes(text string) bool {
	for _, c := range []byte(text) {
		if c >= utf8.RuneSelf || c < ' ' && !syntax.IsSpace(c) {
			return false
		}
	}
	return true
}

// Skip takes the next value.
func (s *Scanner) Skip() {
	switch kind := s.Kind(); kind {
	case '{':
		for range s.Members() {
		}
	case '[':
		for range s.Elements() {
		}
	case '"':
		s.quoted()
	case '0':
		s.number()
	case 't':
		s.word("true")
	case 'f':
		s.word("false")
	case 'n':
		s.word("null")
	}
}

func (s *Scanner) word(word string) {
	switch rest := s.data[s.at:]; {
	case strings.HasPrefix(rest, word):
		s.at += len(word)
	case strings.HasPrefix(word, rest):
		s.err = websync.ErrTruncated
	default:
		s.fail("neither true nor false nor null")
	}
}

// number passes over a number (RFC 8259 §6).
func (s *Scanner) number() {
	digits := func() (n int) {
		for s.at+n < len(s.data) && s.data[s.at+n]-'0' <= 9 {
			n++
		}
		s.at += n
		return n
	}
	is := func(set string) bool {
		if s.at < len(s.data) && strings.IndexByte(set, s.data[s.at]) >= 0 {
			s.at++
			return true
		}
		return false
	}
	is("-")
	sound := is("0") || digits() > 0
	if sound && is(".") {
		sound = digits() > 0
	}
	if sound && is("eE") {
		is("+-")
		sound = digits() > 0
	}
	switch {
	case sound:
	case s.at == len(s.data):
		s.err = websync.ErrTruncated
	default:
		s.fail("not a number")
	}
}

// quoted passes over a string, and returns what is between its quotes and whether that
// has escapes.
func (s *Scanner) quoted() (inner string, escaped bool) {
	from := s.at + 1
	at, end := from, from-1
	for {
		if end < at {
			n := strings.IndexByte(s.data[at:], '"')
			if n < 0 {
				s.at, s.err = len(s.data), websync.ErrTruncated
				return "", false
			}
			end = at + n
		}
		n := strings.IndexByte(s.data[at:end], '\\')
		if n < 0 {
			break
		}
		escaped = true
		if at += n; s.data[at+1] != 'u' {
			if Escapes[s.data[at+1]] == 0 {
				s.at = at
				s.fail(`\%c in a string`, s.data[at+1])
				return "", false
			}
			at += 2
			continue
		}
		for i := at + 2; i < at+6 && i < len(s.data); i++ {
			if !syntax.IsHex(s.data[i]) {
				s.at = at
				s.fail(`\u without four hexadecimal digits`)
				return "", false
			}
		}
		at = min(at+6, len(s.data))
	}
	s.at = end + 1
	return s.data[from:end], escaped
}

// End returns the error of reading. The whole text must have been read, and nothing but
// white space may follow.
func (s *Scanner) End() error {
	if s.err == nil && len(strings.TrimLeft(s.data[s.at:], " \t\r\n")) > 0 {
		s.peek()
		s.fail("more after the end of the value")
	}
	return s.err
}

// Stop ends reading with an error, unless there is one.
func (s *Scanner) Stop(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *Scanner) fail(format string, args ...any) { s.Stop(fmt.Errorf(format, args...)) }

// Offset returns the position in the data: of the next value after Kind, in the body of a
// loop, and of an error.
func (s *Scanner) Offset() int { return s.at }

// Position returns the line and the column of an offset, from 1. The column counts bytes.
// It takes time for what lies between this offset and that of the last call.
func (s *Scanner) Position(offset int) (line, column int) {
	l := &s.line
	if offset < l.from {
		l.number, l.from, l.until = 0, 0, 0
	}
	if offset > l.until {
		between := s.data[l.until:offset]
		l.number += strings.Count(between, "\n")
		if n := strings.LastIndexByte(between, '\n'); n >= 0 {
			l.from = l.until + n + 1
		}
		l.until = offset
	}
	return 1 + l.number, 1 + offset - l.from
}
