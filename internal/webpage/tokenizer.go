package webpage

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"github.com/websync-go/websync"
)

const (
	MaxAttrs = 256     // of a tag, repeated ones included
	MaxToken = 4 << 20 // bytes of a tag, a comment, or text without tags
)

// The errors for what is over a limit.
var (
	ErrAttrs = fmt.Errorf("more than %d attributes of one element: %w", MaxAttrs, websync.ErrLimit)
	errToken = fmt.Errorf("a tag, a comment or a text of more than %d bytes: %w", MaxToken, websync.ErrLimit)
)

// A Tokenizer returns the tokens of a document that is in memory. It is the Tokenizer of
// package html with limits: that one keeps the attributes of a tag in a map, which it
// clears for each tag after it, and a token in a buffer of up to twice its length. Next
// and Err are its own; all else is that of package html.
type Tokenizer struct {
	*html.Tokenizer
	// Attrs is how many attributes the current start tag has, repeated ones included.
	Attrs int

	rest []byte // after the current token
	most int    // attributes of a tag
	raw  bool   // the next token is text, or an end tag, whatever it looks like
	err  error
}

// NewTokenizer returns a Tokenizer of a document in UTF-8.
func NewTokenizer(text []byte) *Tokenizer {
	z := &Tokenizer{Tokenizer: html.NewTokenizer(bytes.NewReader(text)), rest: text, most: MaxAttrs}
	z.SetMaxBuf(MaxToken)
	return z
}

// Next reads the next token, as in package html.
func (z *Tokenizer) Next() html.TokenType {
	raw := false
	if !z.raw {
		if tag, ok := tagName(z.rest); ok {
			if z.Attrs, _, _ = countAttrs(z.rest[len(tag):], z.most); z.Attrs > z.most {
				z.err = ErrAttrs
			}
			raw = rawElement(tag[1:]) != ""
		}
	}
	if z.err != nil {
		return html.ErrorToken
	}
	token := z.Tokenizer.Next()
	z.rest = z.rest[len(z.Raw()):]
	z.raw = raw
	return token
}

// NextIsNotRawText says that the element that has just begun has children.
func (z *Tokenizer) NextIsNotRawText() {
	z.raw = false
	z.Tokenizer.NextIsNotRawText()
}

// Err returns ErrAttrs, errToken, or io.EOF at the end.
func (z *Tokenizer) Err() error {
	err := cmp.Or(z.err, z.Tokenizer.Err())
	if err == html.ErrBufferExceeded {
		return errToken
	}
	return err
}

// tagName returns the start of a tag that ends after its name, if text starts with a tag.
func tagName(text []byte) ([]byte, bool) {
	i := 1
	if len(text) > i && text[i] == '/' {
		i++
	}
	if len(text) <= i || text[0] != '<' || !isLetter(text[i]) {
		return nil, false
	}
	for i < len(text) && !isSpace(text[i]) && text[i] != '/' && text[i] != '>' {
		i++
	}
	return text[:i], true
}

// rawElement returns the name of an element in lower case if what follows its start tag is text up to its end tag (HTML
// §13.2.5), else "".
func rawElement(name []byte) string {
	for _, raw := range [...]string{
		"iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea", "title", "xmp",
	} {
		if len(name) == len(raw) && strings.EqualFold(string(name), raw) {
			return raw
		}
	}
	return ""
}

// countAttrs returns how many attributes a tag has, of which text is what follows its
// name (HTML §13.2.5.32 to §13.2.5.40). If they are more than most, it is one more. Last
// follows the name of the last one, or of none before a slash, and end is the end of the
// tag with what follows.
func countAttrs(text []byte, most int) (n int, last, end []byte) {
	text = skipSpace(text)
	for ; len(text) > 0 && text[0] != '>' && n <= most; text = skipSpace(text) {
		if text[0] != '/' {
			n++
		}
		last = skipName(text)
		text = skipValue(last)
	}
	return n, last, text
}

func skipName(text []byte) []byte {
	for i, c := range text {
		if isSpace(c) || c == '/' || c == '>' || c == '=' && i > 0 {
			return text[i:]
		}
	}
	return nil
}

func skipValue(text []byte) []byte {
	text = skipSpace(text)
	switch {
	case len(text) == 0, text[0] != '=' && text[0] != '/':
		return text
	case text[0] == '/':
		return text[1:]
	}
	if text = skipSpace(text[1:]); len(text) == 0 {
		return nil
	}
	if quote := text[0]; quote == '"' || quote == '\'' {
		end := bytes.IndexByte(text[1:], quote)
		if end < 0 {
			return nil
		}
		return text[end+2:]
	}
	for i, c := range text {
		if isSpace(c) || c == '>' {
			return text[i:]
		}
	}
	return nil
}

func skipSpace(text []byte) []byte {
	for len(text) > 0 && isSpace(text[0]) {
		text = text[1:]
	}
	return text
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' }
