package webpage

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"

	"github.com/websync-go/websync"
)

// LinkFormat is the media type of a document of links.
const LinkFormat = "application/link-format"

// maxLink limits the bytes of one link.
const maxLink = 64 << 10

// A Link is one link as it is written.
type Link struct {
	Target string // a reference, not resolved
	Params []LinkParam
}

// A LinkParam is a parameter of a Link. Its name is in lower case. Quotes and backslashes
// of a quoted value are removed.
type LinkParam struct{ Name, Value string }

// Get returns the value of the first parameter with a name, which is in lower case;
// those after it do not count (RFC 8288 §3.3, RFC 6690 §2). If there is none, it is "".
func (l *Link) Get(name string) string {
	for _, p := range l.Params {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

// HasRel reports whether rel is among the relation types of the link. Case does not
// matter (RFC 8288 §2.1).
func (l *Link) HasRel(rel string) bool {
	for one := range strings.FieldsSeq(l.Get("rel")) {
		if strings.EqualFold(one, rel) {
			return true
		}
	}
	return false
}

// Resolve returns the absolute URL of a link of the document at base. It is empty if href
// leads to no host.
func Resolve(base, href string) string {
	from, err := url.Parse(base)
	if err != nil {
		return ""
	}
	to, err := from.Parse(strings.TrimSpace(href))
	if err != nil || href == "" || to.Host == "" {
		return ""
	}
	return to.String()
}

// A LinkReader streams the links of one document. It holds one link at a time.
type LinkReader struct {
	src          *bufio.Reader
	document     string
	line, column int  // of the byte that was read last
	last         byte // that byte
	separated    bool // a comma came last
	size         int  // of the link so far
	err          error
}

// NewLinkReader returns a LinkReader of the document in src. Errors name the document.
func NewLinkReader(src io.Reader, document string) *LinkReader {
	return &LinkReader{src: bufio.NewReader(src), document: document, line: 1}
}

// All returns an iterator over the remaining links. It stops after the first error.
func (r *LinkReader) All() iter.Seq2[Link, error] {
	return func(yield func(Link, error) bool) {
		for {
			l, err := r.Next()
			if err == io.EOF {
				return
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// Next returns the next link, or io.EOF at the end of the document. Other errors are
// [*websync.ParseError]. They match [websync.ErrTruncated] if the document ends in a
// link or with a comma, after which a link may be missing, and [websync.ErrLimit] if a
// link is longer than maxLink. Errors stick.
func (r *LinkReader) Next() (Link, error) {
	if r.err != nil {
		return Link{}, r.err
	}
	l, err := r.next()
	if err != nil {
		r.err = err
		if err != io.EOF {
			r.err = &websync.ParseError{Format: "link-format", Document: r.document, Line: r.line, Column: r.column, Err: err}
		}
		return Link{}, r.err
	}
	return l, nil
}

// HeaderLinks returns the links of the document at base, of which values are the Link
// header fields, with absolute targets. It leaves out links with an anchor, which lead
// from another document, those that lead to no host, and what is damaged: the rest of
// that value.
func HeaderLinks(values []string, base string) []Link {
	var links []Link
	for _, value := range values {
		for l, err := range NewLinkReader(strings.NewReader(value), "").All() {
			if err != nil || l.Get("anchor") != "" {
				continue
			}
			// an empty target is the document itself (RFC 3986 §4.4)
			if l.Target = Resolve(base, cmp.Or(l.Target, base)); l.Target != "" {
				links = append(links, l)
			}
		}
	}
	return links
}

var errNoTarget = errors.New(`a link must begin with "<"`)

func (r *LinkReader) next() (l Link, err error) {
	c, err := r.skip(" \t\r\n,")
	switch r.size = 1; {
	case err == io.EOF && r.separated:
		return l, fmt.Errorf("the document ends with a comma: %w", websync.ErrTruncated)
	case err != nil:
		return l, err
	case c != '<':
		return l, errNoTarget
	}
	r.separated = false
	if l.Target, err = r.until('>'); err != nil {
		return l, err
	}
	for {
		c, err := r.skip(" \t\r\n")
		switch {
		case err == io.EOF:
			return l, nil
		case err != nil:
			return l, err
		case c == ',':
			r.separated = true
			return l, nil
		case c != ';':
			return l, fmt.Errorf("%q after a link or parameter must be %q or %q", c, ';', ',')
		}
		p, err := r.param()
		if err != nil {
			return l, err
		}
		if p.Name != "" {
			l.Params = append(l.Params, p)
		}
	}
}

// param reads what follows a semicolon. Its name is empty if nothing does.
func (r *LinkReader) param() (p LinkParam, err error) {
	c, err := r.skip(" \t\r\n")
	if err == io.EOF {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	r.unread()
	if c == ';' || c == ',' {
		return p, nil
	}
	name, err := r.token()
	if err != nil {
		return p, err
	}
	if name == "" {
		return p, fmt.Errorf("%q where the name of a parameter must be", c)
	}
	p.Name = lower(name)
	c, err = r.skip(" \t\r\n")
	switch {
	case err == io.EOF:
		return p, nil
	case err != nil:
		return p, err
	case c != '=':
		r.unread()
		return p, nil
	}
	switch c, err = r.skip(" \t\r\n"); {
	case err != nil:
		return p, cut(err)
	case c == '"':
		p.Value, err = r.until('"')
	default:
		r.unread()
		p.Value, err = r.token()
	}
	return p, err
}

// token reads up to white space or a delimiter.
func (r *LinkReader) token() (string, error) {
	var b strings.Builder
	for {
		c, err := r.read()
		switch {
		case err == io.EOF:
			return b.String(), nil
		case err != nil:
			return "", err
		case strings.IndexByte(" \t\r\n,;=\"<>", c) >= 0:
			r.unread()
			return b.String(), nil
		}
		b.WriteByte(c)
	}
}

// lower returns a name in small letters. Names have letters of ASCII only (RFC 9110
// §5.6.2); other bytes stay as they are.
func lower(name string) string {
	b := []byte(name)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// until reads up to end. In a quoted string a backslash takes the byte after it as it is.
func (r *LinkReader) until(end byte) (string, error) {
	var b strings.Builder
	for {
		c, err := r.read()
		if err != nil {
			return "", cut(err)
		}
		if c == end {
			return b.String(), nil
		}
		if c == '\\' && end == '"' {
			if c, err = r.read(); err != nil {
				return "", cut(err)
			}
		}
		b.WriteByte(c)
	}
}

// cut returns the error of a read inside a link.
func cut(err error) error {
	if err == io.EOF {
		return fmt.Errorf("the document ends in a link: %w", websync.ErrTruncated)
	}
	return err
}

// skip returns the first byte that is not in set.
func (r *LinkReader) skip(set string) (byte, error) {
	for size := r.size; ; r.size = size {
		c, err := r.read()
		if err != nil {
			return 0, err
		}
		if strings.IndexByte(set, c) < 0 {
			return c, nil
		}
	}
}

func (r *LinkReader) read() (byte, error) {
	c, err := r.src.ReadByte()
	if err != nil {
		return 0, err
	}
	if r.size++; r.size > maxLink {
		return 0, fmt.Errorf("a link of more than %d bytes: %w", maxLink, websync.ErrLimit)
	}
	if r.last == '\n' {
		r.line, r.column = r.line+1, 0
	}
	r.column++
	r.last = c
	return c, nil
}

// unread takes back the byte that was read last, which is not a line feed that matters.
func (r *LinkReader) unread() {
	_ = r.src.UnreadByte() // what was read can be taken back once
	r.size--
	r.column--
	r.last = 0
}
