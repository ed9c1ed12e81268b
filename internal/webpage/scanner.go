package webpage

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// A Scanner splits a document that is in memory into tokens, with the limits of a
// Tokenizer. It reads each byte once and allocates nothing for a token, but knows only
// the names of tags and how many attributes they have.
type Scanner struct {
	// Attrs is how many attributes the current tag has, repeated ones included.
	Attrs int

	raw, rest []byte // the current token, and what comes after it
	name      []byte // of the current tag
	rawName   string // of the element whose text begins, if tags in it are text
	err       error
}

// NewScanner returns a Scanner of a document in UTF-8.
func NewScanner(text []byte) *Scanner { return &Scanner{rest: text} }

// Raw returns the current token.
func (z *Scanner) Raw() []byte { return z.raw }

// Name returns the name of the current tag in lower case. It is valid until the next call of Next.
func (z *Scanner) Name() []byte { return z.name }

// NextIsNotRawText says that the element that has just begun has children.
func (z *Scanner) NextIsNotRawText() { z.rawName = "" }

// Err returns ErrAttrs, errToken, or io.EOF at the end.
func (z *Scanner) Err() error { return z.err }

// Next reads the next token, as a Tokenizer of package html does. A DOCTYPE is a comment, too.
func (z *Scanner) Next() html.TokenType {
	if z.err != nil {
		return html.ErrorToken
	}
	token, length := z.scan()
	z.raw, z.rest = z.rest[:length], z.rest[length:]
	switch {
	case length >= MaxToken:
		z.err = errToken
	case z.Attrs > MaxAttrs:
		z.err = ErrAttrs
	case token == html.ErrorToken:
		z.err = io.EOF
	}
	if z.err != nil {
		return html.ErrorToken
	}
	return token
}

// scan returns the kind of the next token and its length.
func (z *Scanner) scan() (html.TokenType, int) {
	z.Attrs = 0
	if name := z.rawName; name != "" {
		z.rawName = ""
		if length := rawText(z.rest, name); length > 0 {
			return html.TextToken, length
		}
	}
	if length := plainText(z.rest); length > 0 {
		return html.TextToken, length
	}
	text := z.rest
	if name, ok := tagName(text); ok {
		return z.tag(name)
	}
	switch {
	case len(text) == 0:
		return html.ErrorToken, 0
	case bytes.HasPrefix(text, []byte("<!--")):
		return html.CommentToken, len("<!--") + commentText(text[len("<!--"):])
	}
	if end := bytes.IndexByte(text, '>'); end >= 0 {
		return html.CommentToken, end + 1
	}
	return html.CommentToken, len(text)
}

// tag returns the kind and the length of the next token, a tag, whose start with its name is given.
func (z *Scanner) tag(start []byte) (html.TokenType, int) {
	attrs, last, end := countAttrs(z.rest[len(start):], MaxAttrs)
	z.Attrs = attrs
	if len(end) == 0 {
		return html.ErrorToken, len(z.rest)
	}
	length := len(z.rest) - len(end) + 1
	name := start[1:]
	if name[0] == '/' {
		z.setName(name[1:])
		return html.EndTagToken, length
	}
	z.setName(name)
	z.rawName = rawElement(name)
	if z.rest[length-2] == '/' && (skipSpace(last)[0] == '/' || attrs > 1 && isSelfClosing(z.rest[:length])) {
		return html.SelfClosingTagToken, length
	}
	return html.StartTagToken, length
}

// setName sets the name in lower case and without NUL, which package html replaces.
func (z *Scanner) setName(name []byte) {
	z.name = z.name[:0]
	for _, c := range name {
		switch {
		case 'A' <= c && c <= 'Z':
			z.name = append(z.name, c|0x20)
		case c == 0:
			z.name = append(z.name, "\uFFFD"...)
		default:
			z.name = append(z.name, c)
		}
	}
}

// isSelfClosing reports whether a tag is an end tag, too, though the slash at its end belongs to a value. QUIRK: package html
// sees the slash if the value is that of a repeated attribute.
func isSelfClosing(tag []byte) bool {
	return html.NewTokenizer(bytes.NewReader(tag)).Next() == html.SelfClosingTagToken
}

// plainText returns the length of the text before the next tag or comment.
func plainText(text []byte) int {
	for i := 0; ; i++ {
		at := bytes.IndexByte(text[i:], '<')
		if at < 0 || i+at+1 == len(text) {
			return len(text)
		}
		i += at
		switch c := text[i+1]; {
		case c == '/' && i == 0 && len(text) == len("</"):
			return len(text)
		case isLetter(c), c == '!', c == '?', c == '/':
			return i
		}
	}
}

// commentText returns the length of a comment after its "<!--", with its end (HTML §13.2.5.43 to §13.2.5.52).
func commentText(text []byte) int {
	for i := 0; ; i++ {
		at := bytes.IndexByte(text[i:], '>')
		if at < 0 {
			return len(text)
		}
		i += at
		before := text[:i]
		if bytes.HasSuffix(before, []byte("--")) || bytes.HasSuffix(before, []byte("--!")) || len(bytes.Trim(before, "-")) == 0 {
			return i + 1
		}
	}
}

// rawText returns the length of the text of an element in which tags are text.
func rawText(text []byte, name string) int {
	switch name {
	case "plaintext":
		return len(text)
	case "script":
		return scriptText(text)
	}
	for i := 0; ; i++ {
		at := bytes.IndexByte(text[i:], '<')
		if at < 0 {
			return len(text)
		}
		if i += at; startsTag(text[i:], "</", name) {
			return i
		}
	}
}

// What scripts have in comments may be scripts, too (HTML §13.2.5.15 to §13.2.5.31).
type scriptState uint8

const (
	scriptData scriptState = iota
	scriptEscaped
	scriptDoubleEscaped
)

// scriptText returns the length of the text of a script. QUIRK: as in package html, "<" before what is no letter and no slash
// ends a comment, which HTML §13.2.5.23 continues.
func scriptText(text []byte) int {
	state := scriptData
	for i := 0; i < len(text); i++ {
		if state == scriptData {
			at := bytes.IndexByte(text[i:], '<')
			if at < 0 {
				break
			}
			i += at
		}
		switch c, rest := text[i], text[i:]; {
		case c == '>' && bytes.HasSuffix(text[:i], []byte("--")):
			state = scriptData
		case c != '<':
		case startsTag(rest, "</", "script"):
			if state != scriptDoubleEscaped {
				return i
			}
			state = scriptEscaped
		default:
			state = state.open(rest)
		}
	}
	return len(text)
}

// open returns the state after a "<" that text begins with.
func (s scriptState) open(text []byte) scriptState {
	switch {
	case s == scriptData && bytes.HasPrefix(text, []byte("<!--")):
		return scriptEscaped
	case s == scriptEscaped && startsTag(text, "<", "script"):
		return scriptDoubleEscaped
	case s == scriptEscaped && len(text) > 1 && !isLetter(text[1]) && text[1] != '/':
		return scriptData
	}
	return s
}

// startsTag reports whether text begins with a tag of a name.
func startsTag(text []byte, open, name string) bool {
	n := len(open) + len(name)
	return len(text) > n && string(text[:len(open)]) == open && strings.EqualFold(string(text[len(open):n]), name) &&
		(isSpace(text[n]) || text[n] == '/' || text[n] == '>')
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
