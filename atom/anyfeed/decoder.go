package anyfeed

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"github.com/websync-go/websync"
)

// A decoder reads a document that need not be well-formed.
type decoder struct {
	p       *parser
	src     *source
	dec     *xml.Decoder
	data    *pages
	started bool // the root element has
}

func newDecoder(p *parser, data *pages) *decoder {
	d := &decoder{p: p, src: &source{p: p, data: data}, data: data}
	d.dec = xml.NewDecoder(d.src)
	d.dec.Strict = false
	return d
}

// begin starts a token.
func (d *decoder) begin() {
	d.p.at.line, d.p.at.column = d.dec.InputPos()
	d.src.begin(d.offset())
}

func (d *decoder) offset() int { return int(d.dec.InputOffset()) }

// syntax returns an error of the decoder with its position.
func (d *decoder) syntax(err error) error {
	line, column := d.dec.InputPos()
	var syntax *xml.SyntaxError
	switch {
	case d.src.err != nil: // the decoder may have another
		err = d.src.err
	case err == io.EOF && !d.started:
		return d.p.doc.Fail(1, 1, "", d.p.doc.Not("an empty document"))
	case d.offset() == d.data.size:
		err = websync.ErrTruncated
	case errors.As(err, &syntax):
		err = errors.New(syntax.Msg)
	}
	return d.p.doc.Fail(line, column, "", err)
}

// A source feeds a decoder with a document. It limits the tokens, and the attributes of a
// tag, which become fifty times as large.
type source struct {
	io.Reader // for the type only: the decoder reads bytes
	p         *parser
	data      *pages
	page      []byte
	at        int

	from       int // of the token
	tag        bool
	quote      byte
	space      bool
	separators int // at most four for each attribute
	err        error
}

// begin starts a token.
func (s *source) begin(from int) {
	s.from, s.quote, s.space, s.separators = from, 0, false, 0
	s.tag = from+1 < s.data.size && s.data.byte(from) == '<' && s.data.byte(from+1) != '!' && s.data.byte(from+1) != '?'
}

func (s *source) ReadByte() (byte, error) {
	if s.at == s.data.size {
		return 0, io.EOF
	}
	if s.at%pageSize == 0 {
		s.page = s.data.rest(s.at)
	}
	b := s.page[s.at%pageSize]
	s.at++
	if s.at-s.from > s.p.maxValue() {
		s.err = s.p.tooLong("a text or tag")
	}
	if s.tag {
		s.count(b)
		if s.separators > 4*maxAttributes {
			s.err = fmt.Errorf("more than %d attributes: %w", maxAttributes, websync.ErrLimit)
		}
	}
	return b, s.err
}

func (s *source) count(b byte) {
	space := b == ' ' || b == '\n' || b == '\t' || b == '\r'
	switch {
	case s.quote != 0:
		if b == s.quote {
			s.quote = 0
		}
	case b == '"' || b == '\'':
		s.quote = b
	case b == '=', space && !s.space:
		s.separators++
	}
	s.space = space
}
