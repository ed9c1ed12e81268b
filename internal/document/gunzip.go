package document

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

func isGzip(b *bufio.Reader) bool {
	magic, _ := b.Peek(2)
	return string(magic) == "\x1f\x8b"
}

// A gunzip reads a gzip file of one or more members. Unlike gzip.Reader it ignores other
// bytes after the last one.
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
