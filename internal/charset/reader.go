package charset

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/transform"
)

// Invalid is what a Reader returns for input that it can't decode: a byte that UTF-8 does
// not have. (The decoders of x/text return U+FFFD, which a document may well contain.)
const Invalid = 0xFF

const (
	bufferSize    = 32 << 10
	sampleSize    = 4 << 10 // bytes from the first one beyond ASCII on that decide
	maxEmptyReads = 100
)

// A decoder decodes some of src into dst, which has room for at least one character; at
// the end it takes all of src.
type decoder func(dst, src []byte, atEOF bool) (nDst, nSrc int)

// A Reader reads a document in UTF-8, decoded.
type Reader struct {
	src     io.Reader
	err     error // what src ended with
	choice  Choice
	decode  decoder
	buf     []byte
	pending []byte // what is not decoded yet

	char [utf8.UTFMax]byte // holds a character that is longer than a read,
	rest []byte            // and this is what is left of it
}

// NewReader returns a Reader of a document whose Choice is Known. Begun is what was read
// of src already, and err what src ended with; it is nil if there is more. The Reader
// keeps begun.
func NewReader(src io.Reader, c Choice, begun []byte, err error) *Reader {
	r := &Reader{src: src, err: err, choice: c, pending: begun}
	if !c.OrUTF8 {
		r.decode = c.Encoding.decoder()
	}
	return r
}

// Encoding returns the encoding that was decoded so far.
func (r *Reader) Encoding() Encoding {
	if r.decode == nil {
		return UTF8
	}
	return r.choice.Encoding
}

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for empty := 0; ; {
		if n := r.take(p); n > 0 {
			return n, nil
		}
		if r.err != nil {
			return 0, r.err
		}
		switch n := r.fill(); {
		case n > 0:
			empty = 0
		case empty == maxEmptyReads:
			r.err = io.ErrNoProgress
		default:
			empty++
		}
	}
}

// fill reads once from the source.
func (r *Reader) fill() (n int) {
	if r.buf == nil {
		r.buf = make([]byte, bufferSize)
	}
	kept := copy(r.buf, r.pending)
	n, r.err = r.src.Read(r.buf[kept:])
	r.pending = r.buf[:kept+n]
	return n
}

// take decodes pending input into p, which can be shorter than a character.
func (r *Reader) take(p []byte) int {
	if len(r.rest) == 0 && len(p) >= utf8.UTFMax {
		return r.decodeInto(p)
	}
	if len(r.rest) == 0 {
		r.rest = r.char[:r.decodeInto(r.char[:])]
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n
}

func (r *Reader) decodeInto(p []byte) int {
	if r.decode == nil {
		n := 0
		for n < len(r.pending) && r.pending[n] < utf8.RuneSelf {
			n++
		}
		if n == 0 && (len(r.pending) >= sampleSize || r.err != nil && len(r.pending) > 0) {
			r.decide()
			return r.decodeInto(p)
		}
		n = copy(p, r.pending[:n])
		r.pending = r.pending[n:]
		return n
	}
	nDst, nSrc := r.decode(p, r.pending, r.err == io.EOF)
	r.pending = r.pending[nSrc:]
	return nDst
}

// decide chooses between UTF-8 and the other encoding. It is UTF-8 if nine of ten of the
// characters beyond ASCII are: some may be damaged. In another encoding, hardly any
// text is, but up to half of the bytes may look like characters of UTF-8.
func (r *Reader) decide() {
	sample := r.pending[:min(len(r.pending), sampleSize)]
	valid, invalid := 0, 0
	for len(sample) > 0 && (utf8.FullRune(sample) || r.err == io.EOF) {
		c, n := utf8.DecodeRune(sample)
		switch {
		case n > 1:
			valid++
		case c == utf8.RuneError:
			invalid++
		}
		sample = sample[n:]
	}
	if valid > 9*invalid {
		r.choice.Encoding = UTF8
	}
	r.decode = r.choice.Encoding.decoder()
}

func (e Encoding) decoder() decoder {
	switch e {
	case UTF8:
		return func(dst, src []byte, _ bool) (int, int) {
			n := copy(dst, src)
			return n, n
		}
	case UTF16LE:
		return utf16Decoder(binary.LittleEndian)
	case UTF16BE:
		return utf16Decoder(binary.BigEndian)
	}
	if cm, ok := e.text.(*charmap.Charmap); ok {
		return charmapDecoder(cm)
	}
	t := e.text.NewDecoder().Transformer
	if e.text == simplifiedchinese.GB18030 {
		return gb18030Decoder(t)
	}
	return func(dst, src []byte, atEOF bool) (nDst, nSrc int) {
		nDst, nSrc, _ = t.Transform(dst, src, atEOF) // the error is that dst or src is short
		return markInvalid(dst[:nDst]), nSrc
	}
}

var replacement = []byte("\uFFFD")

// markInvalid replaces each U+FFFD in b by Invalid, and returns how many bytes remain.
func markInvalid(b []byte) int {
	n := bytes.Index(b, replacement)
	if n < 0 {
		return len(b)
	}
	for from := n; from < len(b); n++ {
		if bytes.HasPrefix(b[from:], replacement) {
			b[n] = Invalid
			from += len(replacement)
			continue
		}
		b[n] = b[from]
		from++
	}
	return n
}

// gb18030Decoder returns a decoder of GB 18030, which has U+FFFD itself. T holds no
// state.
func gb18030Decoder(t transform.Transformer) decoder {
	own := []byte("\x84\x31\xa4\x37")
	return func(dst, src []byte, atEOF bool) (nDst, nSrc int) {
		nDst, nSrc, _ = t.Transform(dst, src, atEOF)
		if !bytes.Contains(src[:nSrc], own) {
			return markInvalid(dst[:nDst]), nSrc
		}
		all := nSrc
		nDst, nSrc = 0, 0
		for nSrc < all { // one character at a time: it has one, two or four bytes
			n, from := 0, 0
			for size := 1; from == 0; size *= 2 {
				char := src[nSrc:min(nSrc+size, all)]
				n, from, _ = t.Transform(dst[nDst:], char, nSrc+len(char) == all)
			}
			if !bytes.Equal(src[nSrc:nSrc+from], own) {
				n = markInvalid(dst[nDst : nDst+n])
			}
			nDst, nSrc = nDst+n, nSrc+from
		}
		return nDst, nSrc
	}
}

// charmapDecoder returns the decoder of a single-byte encoding. The web reads bytes below
// 0xA0 that it lacks as control characters.
func charmapDecoder(cm *charmap.Charmap) decoder {
	var table [256]string
	for b := range table {
		switch c := cm.DecodeByte(byte(b)); {
		case c != utf8.RuneError:
			table[b] = string(c)
		case b < 0xA0:
			table[b] = string(rune(b))
		default:
			table[b] = string([]byte{Invalid})
		}
	}
	return func(dst, src []byte, _ bool) (nDst, nSrc int) {
		for nDst+utf8.UTFMax <= len(dst) && nSrc < len(src) {
			nDst += copy(dst[nDst:], table[src[nSrc]])
			nSrc++
		}
		return nDst, nSrc
	}
}

func utf16Decoder(order binary.ByteOrder) decoder {
	return func(dst, src []byte, atEOF bool) (nDst, nSrc int) {
		for nDst+utf8.UTFMax <= len(dst) && nSrc < len(src) {
			if len(src)-nSrc == 1 {
				if atEOF {
					dst[nDst] = Invalid
					nDst, nSrc = nDst+1, nSrc+1
				}
				break
			}
			c, n := rune(order.Uint16(src[nSrc:])), 2
			if utf16.IsSurrogate(c) {
				if len(src)-nSrc < 4 && !atEOF {
					break
				}
				c = utf8.RuneError
				if len(src)-nSrc >= 4 {
					c = utf16.DecodeRune(rune(order.Uint16(src[nSrc:])), rune(order.Uint16(src[nSrc+2:])))
				}
				if c == utf8.RuneError {
					dst[nDst] = Invalid
					nDst, nSrc = nDst+1, nSrc+2
					continue
				}
				n = 4
			}
			nDst += utf8.EncodeRune(dst[nDst:], c)
			nSrc += n
		}
		return nDst, nSrc
	}
}
