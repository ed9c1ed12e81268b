package document

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/websync-go/websync"
)

// The limits on a document if none is set.
const (
	DefaultBytes = 1 << 30
	PageBytes    = 12 << 20 // of a page, which is read into memory and becomes a tree
)

const headSize = 4 << 10 // how much of a document is examined to recognise it

// A Kind is what a document is expected to be.
type Kind struct {
	Format string // of errors: the package that reads it
	Name   string // with an article: "a sitemap"
	Else   string // the name of a document that is not recognised: "not XML"
}

// A Departure is a fault in the bytes or the XML of a document that does not stop
// reading.
type Departure uint8

const (
	Compression Departure = iota // bytes after the compressed data, or compressed twice
	Preamble                     // a line before the XML declaration
	Fault                        // of the XML
	Encoding                     // another encoding than UTF-8
	Doctype                      // a DOCTYPE
)

// A Document is the bytes of a document, decompressed and limited.
type Document struct {
	Kind
	URL string // of errors: URL or file name

	ContentType string // the header that came with the document; empty if none is known

	// Report receives each Departure. It is required.
	Report func(d Departure, line, column int, value []byte, message string)

	// Strict makes a Fault, or XML that is nested deeper than MaxDepth, end reading.
	// MaxDepth is that of xmlscan.Reader.
	Strict bool

	RepairTags bool // as in xmlscan.Reader
	MaxDepth   int

	*bufio.Reader
	limited *counter
	whole   []byte // the document, if it is in memory as it is
	length  int    // of the source, if it is known
}

// Open opens src, and decompresses it if it is gzip by its content; some servers compress
// twice, so it looks twice. maxBytes limits what remains. If zero, it is DefaultBytes; if
// negative, there is no limit.
func (d *Document) Open(src io.Reader, maxBytes int64) error {
	d.limited = new(counter)
	note := func(message string) { d.Report(Compression, 0, 0, nil, message) }
	if buffer, ok := src.(*bytes.Buffer); ok {
		d.whole = buffer.Bytes()
	}
	if sized, ok := src.(interface{ Len() int }); ok {
		d.length = sized.Len()
	}
	b := bufio.NewReaderSize(&counter{r: src, max: -1}, headSize)
	for i := range 2 {
		if !isGzip(b) {
			break
		}
		if i > 0 {
			note("compressed twice")
		}
		z, err := newGunzip(b, note)
		if err != nil {
			d.limited.err = err
			d.Reader = bufio.NewReader(d.limited)
			return d.Fail(0, 0, "", err)
		}
		b = bufio.NewReaderSize(&counter{r: z, max: -1}, headSize)
		d.whole = nil
	}
	switch {
	case maxBytes == 0:
		maxBytes = DefaultBytes
	case maxBytes < 0:
		maxBytes = -1
	}
	*d.limited = counter{r: b, max: maxBytes}
	d.Reader = bufio.NewReaderSize(d.limited, headSize)
	return nil
}

// Head returns the first 4 KiB of the document, or all of a shorter one. An error of src
// is not returned here, but when the bytes are read.
func (d *Document) Head() []byte {
	head, _ := d.Peek(headSize)
	return head
}

// All returns the whole document, of which nothing was read yet. It is not copied if src
// is a bytes.Buffer, and copied once if src knows its length.
func (d *Document) All() ([]byte, error) {
	if n := int64(len(d.whole)); n > 0 && (d.limited.max < 0 || n <= d.limited.max) {
		d.limited.n = n
		return d.whole, nil
	}
	var data bytes.Buffer
	data.Grow(d.length + bytes.MinRead)
	if _, err := data.ReadFrom(d.Reader); err != nil {
		return nil, d.Fail(0, 0, "", err)
	}
	return data.Bytes(), nil
}

// Size returns how many bytes were read so far; 0 for a document that was not opened.
func (d *Document) Size() int64 {
	if d.limited == nil {
		return 0
	}
	return d.limited.n
}

// StartsAsXML reports whether the first character of a document is '<', or it is empty.
func StartsAsXML(head []byte) bool {
	start := trimStart(head)
	return isUTF16(head) || len(start) == 0 || start[0] == '<'
}

// NotThis returns the error for a document that is not of the expected kind, given its
// Head.
func (d *Document) NotThis(head []byte) error {
	if err := d.limited.err; err != nil && err != io.EOF {
		return d.Fail(0, 0, "", err) // head is incomplete
	}
	what := looksLike(head)
	if what == "" {
		what = d.Else
	}
	return d.Fail(1, 1, "", d.Not(what))
}

// Not returns the error for a document that is something else: what, with an article.
func (k Kind) Not(what string) error { return &notDocument{what, k.Name} }

type notDocument struct{ what, name string }

func (e *notDocument) Error() string { return e.what + ", not " + e.name }

func (e *notDocument) Unwrap() error { return websync.ErrNotDocument }

// HTMLPage is what What and WhatRoot return for web pages.
const HTMLPage = "an HTML page"

// What returns what a document is that is not of the expected kind, with an article,
// given the error that says so; "" for other errors.
func What(err error) string {
	var e *notDocument
	if errors.As(err, &e) {
		return e.what
	}
	return ""
}

// Fail returns err with its position in the document. An io.ErrUnexpectedEOF becomes
// [websync.ErrTruncated].
func (d *Document) Fail(line, column int, element string, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, websync.ErrTruncated) {
		err = fmt.Errorf("%w: %w", websync.ErrTruncated, err)
	}
	return &websync.ParseError{Format: d.Format, Document: d.URL, Line: line, Column: column, Element: element, Err: err}
}

// A counter counts and limits the bytes that it reads. Its errors stick, unlike those of
// bufio.
type counter struct {
	r   io.Reader
	n   int64
	max int64 // if negative, none
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if c.max >= 0 && int64(len(p)) > c.max-c.n+1 {
		p = p[:c.max-c.n+1] // one more byte reveals that the limit is passed
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.max >= 0 && c.n > c.max {
		n, err = n-1, fmt.Errorf("more than %d bytes: %w", c.max, websync.ErrLimit)
		c.n = c.max
	}
	c.err = err
	return n, err
}

// ByteOrderMark is the byte-order mark of UTF-8.
const ByteOrderMark = "\ufeff"

// trimStart returns b without a byte-order mark and white space at its start.
func trimStart(b []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte(ByteOrderMark)), " \t\r\n")
}

// isUTF16 reports whether a document starts as UTF-16 does, with a byte-order mark or
// with '<' or white space.
func isUTF16(head []byte) bool {
	if len(head) < 2 {
		return false
	}
	a, b := head[0], head[1]
	return a == 0xff && b == 0xfe || a == 0xfe && b == 0xff || (a == 0) != (b == 0)
}

// looksLike returns what a document seems to be, with an article; "" if it does not
// recognise it.
func looksLike(head []byte) string {
	start := bytes.ToLower(trimStart(head))
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if bytes.HasPrefix(start, []byte(p)) {
				return true
			}
		}
		return false
	}
	switch {
	case len(start) == 0:
		return "an empty document"
	case has("<!doctype html", "<html", "<head", "<body", "<br", "<script"), bytes.Contains(start, []byte("<html")):
		return HTMLPage
	case has("{", "["):
		return "JSON"
	case has("%pdf"):
		return "a PDF file"
	case has("pk\x03\x04"):
		return "a ZIP file"
	case has("user-agent:", "sitemap:", "allow:", "disallow:"):
		return "a robots.txt file"
	}
	return ""
}
