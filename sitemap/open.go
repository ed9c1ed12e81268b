package sitemap

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/websync-go/websync"
)

const (
	headSize     = 4 << 10  // how much of a document is looked at to tell what it is
	protocolSize = 50 << 20 // the protocol's limit
	defaultBytes = 1 << 30
)

// A document is the bytes of a document, decompressed and limited. Its first headSize bytes can be peeked at.
type document struct {
	*bufio.Reader
	limited *counter
}

// openDocument finds out by content whether src is compressed with gzip. Some servers compress twice, so it looks twice.
func openDocument(src io.Reader, maxBytes int64, note func(message string)) (*document, error) {
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
			return nil, err
		}
		b = bufio.NewReaderSize(&counter{r: z, max: -1}, headSize)
	}
	switch {
	case maxBytes == 0:
		maxBytes = defaultBytes
	case maxBytes < 0:
		maxBytes = -1
	}
	c := &counter{r: b, max: maxBytes}
	return &document{bufio.NewReaderSize(c, headSize), c}, nil
}

// head returns the first bytes of the document; fewer than headSize only if there are no more.
// An error that prevents more comes again when they are read.
func (d *document) head() []byte {
	head, _ := d.Peek(headSize)
	return head
}

// A counter counts what it reads and limits it. Its errors stick, which bufio's don't.
type counter struct {
	r   io.Reader
	n   int64
	max int64 // negative: none
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if c.max >= 0 && int64(len(p)) > c.max-c.n+1 {
		p = p[:c.max-c.n+1] // one byte more tells whether there is more
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

func isGzip(b *bufio.Reader) bool {
	magic, _ := b.Peek(2)
	return string(magic) == "\x1f\x8b"
}

// A gunzip reads a gzip file of one or more members. Unlike gzip.Reader it forgives other bytes after the last one.
type gunzip struct {
	src  *bufio.Reader
	z    *gzip.Reader
	note func(message string)
}

func newGunzip(src *bufio.Reader, note func(string)) (*gunzip, error) {
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gunzip{src, z, note}, nil
}

func (g *gunzip) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		if err == io.EOF {
			err = g.nextMember()
		}
		var damage flate.CorruptInputError
		if errors.As(err, &damage) {
			err = fmt.Errorf("gzip: %w", err)
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

func (g *gunzip) nextMember() error {
	magic, err := g.src.Peek(2)
	if len(magic) == 0 {
		return err
	}
	if !isGzip(g.src) {
		g.note("bytes after the end of the compressed data are left out")
		return io.EOF
	}
	if err := g.z.Reset(g.src); err != nil {
		return err
	}
	g.z.Multistream(false)
	return nil
}

var utf8BOM = []byte("\ufeff")

// trimStart returns b without a byte-order mark and white space at its start.
func trimStart(b []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimLeft(b, " \t\r\n"), utf8BOM), " \t\r\n")
}

// isUTF16 tells whether a document starts as UTF-16 does, with a byte-order mark or with '<' or white space.
func isUTF16(head []byte) bool {
	if len(head) < 2 {
		return false
	}
	a, b := head[0], head[1]
	return a == 0xff && b == 0xfe || a == 0xfe && b == 0xff || (a == 0) != (b == 0)
}

// looksLike says what a document is that isn't a sitemap. It is empty if nothing tells.
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
		return "an HTML page"
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

// A notSitemap says what a document is instead.
type notSitemap struct{ what string }

func (e *notSitemap) Error() string { return e.what + ", not a sitemap" }

func (e *notSitemap) Unwrap() error { return websync.ErrNotDocument }
