package anyfeed

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const pageSize = 64 << 10

// pages are the text of a document in pieces of pageSize; the last one may be shorter.
// One after the other can be dropped while what is made of them grows.
type pages struct {
	all  [][]byte
	size int
}

// unused are pages that were dropped. What is made of a text takes those of the text.
var unused = sync.Pool{New: func() any { return new([pageSize]byte) }}

// A span is a part of a document.
type span struct{ from, to int }

// last returns the page that has room.
func (p *pages) last() *[]byte {
	if p.size == len(p.all)*pageSize {
		p.all = append(p.all, unused.Get().(*[pageSize]byte)[:0])
	}
	return &p.all[len(p.all)-1]
}

// Write appends to the text.
func (p *pages) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		last := p.last()
		k := min(len(b), pageSize-len(*last))
		*last = append(*last, b[:k]...)
		p.size += k
		b = b[k:]
	}
	return n, nil
}

// ReadFrom appends what r reads.
func (p *pages) ReadFrom(r io.Reader) (read int64, err error) {
	for {
		last := p.last()
		n, err := r.Read((*last)[len(*last):cap(*last)])
		*last = (*last)[:len(*last)+n]
		p.size += n
		read += int64(n)
		if err == io.EOF {
			return read, nil
		}
		if err != nil {
			return read, err
		}
	}
}

func (p *pages) byte(at int) byte { return p.all[at/pageSize][at%pageSize] }

// rest returns what follows in the same page.
func (p *pages) rest(at int) []byte { return p.all[at/pageSize][at%pageSize:] }

// bytes returns a part of the text as a copy.
func (p *pages) bytes(s span) []byte {
	b := make([]byte, 0, s.to-s.from)
	for at := s.from; at < s.to; at = s.from + len(b) {
		page := p.rest(at)
		b = append(b, page[:min(len(page), s.to-at)]...)
	}
	return b
}

// put replaces the text from a position on.
func (p *pages) put(at int, b []byte) {
	for len(b) > 0 {
		n := copy(p.rest(at), b)
		at, b = at+n, b[n:]
	}
}

// blank replaces all but line feeds with spaces.
func (p *pages) blank(s span) {
	for at := s.from; at < s.to; {
		page := p.rest(at)
		page = page[:min(len(page), s.to-at)]
		for i := range page {
			if page[i] != '\n' {
				page[i] = ' '
			}
		}
		at += len(page)
	}
}

// count returns how often a byte is in a part of the text.
func (p *pages) count(s span, b byte) (n int) {
	for at := s.from; at < s.to; {
		page := p.rest(at)
		page = page[:min(len(page), s.to-at)]
		n += bytes.Count(page, []byte{b})
		at += len(page)
	}
	return n
}

// erase removes a part of the text for what remains returns. The text must be clean.
func (p *pages) erase(s span) {
	for at := s.from; at < s.to; {
		page := p.rest(at)
		page = page[:min(len(page), s.to-at)]
		clear(page)
		at += len(page)
	}
}

// remains returns a reader of a part of the text, without what was erased.
func (p *pages) remains(s span) io.Reader { return &pageReader{p, s, false} }

// moved returns a reader of the text that drops the pages that have been read.
func (p *pages) moved() io.Reader { return &pageReader{p, span{0, p.size}, true} }

type pageReader struct {
	pages *pages
	span
	moves bool
}

func (r *pageReader) Read(b []byte) (n int, err error) {
	for n == 0 && len(b) > 0 {
		if r.from >= r.to {
			return 0, io.EOF
		}
		page := r.pages.rest(r.from)
		page = page[:min(len(page), r.to-r.from, len(b))]
		r.from += len(page)
		if r.moves || bytes.IndexByte(page, 0) < 0 {
			n = copy(b, page)
			if r.moves {
				r.pages.drop(r.from)
			}
			continue
		}
		for _, c := range page {
			if c != 0 {
				b[n] = c
				n++
			}
		}
	}
	return n, nil
}

// drop drops the pages that end before a position.
func (p *pages) drop(to int) {
	for i := to/pageSize - 1; i >= 0 && p.all[i] != nil; i-- {
		unused.Put((*[pageSize]byte)(p.all[i][:pageSize]))
		p.all[i] = nil
	}
}

// dropAll drops all pages.
func (p *pages) dropAll() { p.drop(len(p.all) * pageSize) }

// take returns all of the text, and drops the pages.
func (p *pages) take() string {
	var b strings.Builder
	b.Grow(p.size)
	for _, page := range p.all {
		b.Write(page)
	}
	p.dropAll()
	return b.String()
}

// start returns the position of the first character that is not white space; the size if
// there is none.
func (p *pages) start() int {
	for at := 0; at < p.size; {
		page := p.rest(at)
		if n := len(page) - len(bytes.TrimLeft(page, " \t\r\n")); n < len(page) {
			return at + n
		}
		at += len(page)
	}
	return p.size
}
