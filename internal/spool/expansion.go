package spool

import (
	"compress/gzip"
	"errors"
	"io"
)

// How much longer compressed data may become. Readers refuse what expands more, and
// writers make nothing that these readers would refuse.
const (
	MaxExpansion  = 200      // times as long as its compressed form
	FreeExpansion = 10 << 20 // up to this length it may expand however much
)

// ErrExpands is the error for data that would expand too much.
var ErrExpands = errors.New("its compressed form would expand too much")

// Gzip writes the gzip form of r. If readers would refuse that at any point, it returns
// ErrExpands, and what it wrote is worthless.
func Gzip(w io.Writer, r io.Reader) error {
	to := &counter{Writer: w}
	z := gzip.NewWriter(to)
	if _, err := io.Copy(&expanding{z: z, to: to}, r); err != nil {
		return err
	}
	return z.Close()
}

// An expanding compresses what is written to it. It compares each length with the bytes that
// were written before, which a reader has when it comes to that length.
type expanding struct {
	z  *gzip.Writer
	to *counter
	n  int64
}

func (c *expanding) Write(p []byte) (n int, err error) {
	for err == nil && n < len(p) {
		piece := p[n:min(len(p), n+32<<10)]
		if c.n += int64(len(piece)); c.n > FreeExpansion && c.n/MaxExpansion > c.to.n {
			return n, ErrExpands
		}
		var written int
		written, err = c.z.Write(piece)
		n += written
	}
	return n, err
}

// A counter counts the bytes that are written to Writer.
type counter struct {
	io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}
