package rdf

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
)

// A Reader streams the quads of one N-Quads or N-Triples document (W3C N-Quads 1.1). It
// holds one line at a time.
//
// Reading ends with the first fault. The error is a [*websync.ParseError] with the line
// and column, and wraps [websync.ErrTruncated] or [websync.ErrLimit] where one of them is
// the reason. A document without quads is no error.
//
// Set the fields before the first call. A Reader is not safe for concurrent use.
type Reader struct {
	// Document is the URL or file name of the document. Errors carry it.
	Document string

	// MaxLine limits the bytes of one line; a longer one is websync.ErrLimit. If zero, it
	// is 64 MiB; if negative, there is no limit.
	MaxLine int

	src  *bufio.Reader
	line int
	long []byte // a line that is longer than the buffer of src
	err  error  // sticks

	// the line that is read, and the position in it
	text []byte
	pos  int
	last bool              // no line feed follows it
	iris map[string]string // recent IRIs, which documents repeat
}

// NewReader returns a Reader of the document in r.
func NewReader(r io.Reader) *Reader {
	return &Reader{src: bufio.NewReaderSize(r, 64<<10), iris: make(map[string]string)}
}

// All returns an iterator over the remaining quads. It stops after the first error and
// can be ranged over once.
func (r *Reader) All() iter.Seq2[Quad, error] { return document.All(r.Next) }

// Next returns the next quad. At the end of the document the error is io.EOF.
func (r *Reader) Next() (Quad, error) {
	for r.err == nil {
		if r.err = r.readLine(); r.err != nil {
			break
		}
		q, ok, err := r.statement()
		if err != nil {
			r.err = r.fail(r.pos+1, err)
			break
		}
		if ok {
			return q, nil
		}
	}
	return Quad{}, r.err
}

func (r *Reader) fail(column int, err error) error {
	return &websync.ParseError{Format: "rdf", Document: r.Document, Line: r.line, Column: column, Err: err}
}

// readLine reads the next line into r.text, without its end.
func (r *Reader) readLine() error {
	limit := r.MaxLine
	if limit == 0 {
		limit = 64 << 20
	}
	r.long = r.long[:0]
	r.line++
	r.pos = 0
	for {
		part, err := r.src.ReadSlice('\n')
		if limit > 0 && len(r.long)+len(bytes.TrimRight(part, "\r\n")) > limit {
			return r.fail(1, fmt.Errorf("line over %d bytes: %w", limit, websync.ErrLimit))
		}
		if err == bufio.ErrBufferFull {
			r.long = append(r.long, part...)
			continue
		}
		if len(r.long) > 0 {
			r.long = append(r.long, part...)
			part = r.long
		}
		switch {
		case err == io.EOF && len(part) > 0:
		case err == io.EOF:
			return io.EOF
		case errors.Is(err, io.ErrUnexpectedEOF):
			return r.fail(1, fmt.Errorf("%w: %w", websync.ErrTruncated, err))
		case err != nil:
			return r.fail(1, err)
		}
		r.text, r.last = bytes.TrimSuffix(part, []byte("\n")), err == io.EOF
		return nil
	}
}

// space passes over white space.
func (r *Reader) space() {
	for r.pos < len(r.text) && (r.text[r.pos] == ' ' || r.text[r.pos] == '\t') {
		r.pos++
	}
}

// atEnd passes over white space and a comment, and reports whether the line ends there.
func (r *Reader) atEnd() bool {
	r.space()
	return r.pos == len(r.text) || r.text[r.pos] == '#' || r.text[r.pos] == '\r' && r.pos == len(r.text)-1
}

// statement reads a line. Ok is false if it is empty.
func (r *Reader) statement() (q Quad, ok bool, err error) {
	if !utf8.Valid(r.text) {
		r.pos = len(r.text) - len(trimValid(r.text))
		return q, false, errors.New("bytes that are not UTF-8")
	}
	if r.atEnd() {
		return q, false, nil
	}
	for i, slot := range [...]*Term{&q.Subject, &q.Predicate, &q.Object, &q.Graph} {
		r.space()
		if i == 3 && r.pos < len(r.text) && r.text[r.pos] == '.' {
			break
		}
		at := r.pos
		if *slot, err = r.term(); err != nil {
			return q, false, err
		}
		if kind := slot.Kind; kind == KindLiteral && i != 2 || kind == KindBlank && i == 1 {
			r.pos = at
			return q, false, fmt.Errorf("a %s as %s", kind, [...]string{"subject", "predicate", "", "graph"}[i])
		}
	}
	err = r.stop()
	return q, err == nil, err
}

// trimValid returns what follows the UTF-8 at the start of text.
func trimValid(text []byte) []byte {
	for len(text) > 0 {
		c, n := utf8.DecodeRune(text)
		if c == utf8.RuneError && n == 1 {
			break
		}
		text = text[n:]
	}
	return text
}

// stop reads the full stop of a statement, after which the line ends.
func (r *Reader) stop() error {
	r.space()
	if r.pos == len(r.text) {
		return r.short("the line ends before the statement does")
	}
	if r.text[r.pos] != '.' {
		return fmt.Errorf("%q where the statement must end with a full stop", r.text[r.pos])
	}
	r.pos++
	if !r.atEnd() {
		return fmt.Errorf("%q after the statement", r.text[r.pos])
	}
	return nil
}

// short returns the error for a line that is too short. If it is the last one, the
// document may be cut short.
func (r *Reader) short(what string) error {
	if r.last {
		return fmt.Errorf("%s: %w", what, websync.ErrTruncated)
	}
	return errors.New(what)
}

func (r *Reader) term() (Term, error) {
	if r.pos == len(r.text) {
		return Term{}, r.short("the line ends before the statement does")
	}
	switch c := r.text[r.pos]; c {
	case '<':
		iri, err := r.iri()
		return IRI(iri), err
	case '_':
		return r.blank()
	case '"':
		return r.literal()
	default:
		return Term{}, fmt.Errorf("%q where a term must begin", c)
	}
}

// iri reads an IRI in angle brackets.
func (r *Reader) iri() (string, error) {
	n := bytes.IndexByte(r.text[r.pos:], '>')
	if n < 0 {
		return "", r.short("an IRI without its closing bracket")
	}
	from := r.pos
	raw := r.text[from+1 : from+n]
	iri, known := r.iris[string(raw)]
	if known {
		r.pos += n + 1
		return iri, nil
	}
	iri = string(raw)
	if bytes.IndexByte(raw, '\\') >= 0 {
		var err error
		if iri, err = r.unescape(from+1, raw, ""); err != nil {
			return "", err
		}
		r.pos = from
	}
	if fault := iriFault(iri); fault != "" {
		return "", errors.New(fault)
	}
	if len(r.iris) >= 1<<12 {
		clear(r.iris)
	}
	if len(iri) <= 1<<10 {
		r.iris[string(raw)] = iri
	}
	r.pos += n + 1
	return iri, nil
}

func (r *Reader) blank() (Term, error) {
	rest, ok := bytes.CutPrefix(r.text[r.pos:], []byte("_:"))
	if !ok {
		return Term{}, errors.New(`"_" without the colon of a blank node`)
	}
	if end := bytes.IndexFunc(rest, func(c rune) bool { return !isLabelChar(c) && c != '.' }); end >= 0 {
		rest = rest[:end]
	}
	label := string(bytes.TrimRight(rest, "."))
	if !isLabel(label) {
		return Term{}, errors.New("a blank node without a label")
	}
	r.pos += len("_:") + len(label)
	return Blank(label), nil
}

func (r *Reader) literal() (Term, error) {
	value, err := r.quoted()
	if err != nil {
		return Term{}, err
	}
	switch rest := r.text[r.pos:]; {
	case bytes.HasPrefix(rest, []byte("^^<")):
		r.pos += 2
		datatype, err := r.iri()
		if err == nil && datatype == LangString {
			err = errors.New("an rdf:langString without a language")
		}
		return Literal(value, datatype), err
	case bytes.HasPrefix(rest, []byte("@")):
		n := 1
		for n < len(rest) && (rest[n] == '-' || syntax.IsDigit(rest[n]) || syntax.IsAlpha(rest[n])) {
			n++
		}
		lang := string(rest[1:n])
		if !isLangTag(lang) {
			return Term{}, fmt.Errorf("%q where a language tag must be", lang)
		}
		r.pos += n
		return Text(value, lang), nil
	}
	return Literal(value, ""), nil
}

// quoted reads the text of a literal, with its quotes.
func (r *Reader) quoted() (string, error) {
	from := r.pos + 1
	end, escaped := from, false
	for ; end < len(r.text) && r.text[end] != '"'; end++ {
		switch r.text[end] {
		case '\\':
			escaped = true
			end++
		case '\r':
			return "", errors.New("a carriage return in a literal")
		}
	}
	if end >= len(r.text) {
		return "", r.short("a literal without its closing quote")
	}
	raw := r.text[from:end]
	if !escaped {
		r.pos = end + 1
		return string(raw), nil
	}
	value, err := r.unescape(from, raw, shortEscapes)
	if err == nil {
		r.pos = end + 1
	}
	return value, err
}

// unescape decodes the escapes of raw, which starts at an offset of the line: numeric
// ones, and the letters of short.
func (r *Reader) unescape(at int, raw []byte, short string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c != '\\' {
			b.WriteByte(c)
			continue
		}
		r.pos = at + i
		i++
		if i == len(raw) {
			return "", errors.New("a backslash without an escape")
		}
		digits := 0
		switch n := strings.IndexByte(short, raw[i]); {
		case raw[i] == 'u':
			digits = 4
		case raw[i] == 'U':
			digits = 8
		case n >= 0:
			b.WriteByte(shortEscaped[n])
			continue
		}
		if digits == 0 || i+digits >= len(raw) {
			return "", errors.New("an unknown escape")
		}
		n, err := strconv.ParseUint(string(raw[i+1:i+1+digits]), 16, 32)
		if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return "", errors.New("an escape that stands for no character")
		}
		b.WriteRune(rune(n))
		i += digits
	}
	return b.String(), nil
}
