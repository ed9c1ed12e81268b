package xmlscan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

const (
	smallBuffer = 4 << 10 // for a document that is not longer
	bufferSize  = 32 << 10
	padding     = 16 // zero bytes after the data: every scan stops there at the latest
)

// errSize is srcErr after MaxSize bytes.
var errSize = errors.New("document longer than the limit")

// An input is the buffer over the source. buf[pos:end] is unread; at least padding zero
// bytes follow. Only Reader.more moves it.
type input struct {
	src    io.Reader
	srcErr error // what src ended with
	buf    []byte
	pos    int // start of the token that is read next
	end    int
	base   int64 // bytes of the document before buf

	tok    int      // start of the current token; negative if buf no longer holds it
	tokPos position // of the current token if tok is negative
	origin marker   // the beginning of buf
	near   marker   // the last position of a token that was asked for
	ahead  marker   // the last other position
}

// A position is a line and a column, both from 0.
type position struct{ line, col int }

// A marker is the position of buf[off].
type marker struct {
	off int
	position
}

func (in *input) reset(src io.Reader) {
	buf := in.buf
	if buf == nil {
		buf = make([]byte, smallBuffer+padding)
	}
	clear(buf[:padding])
	*in = input{src: src, buf: buf}
}

// more reads at least as many bytes as are unread, and puts them behind the unread ones.
// A token is scanned again after each call, which takes linear time because the amount
// doubles. At the end of the input more sets r.err.
func (r *Reader) more() {
	unread := r.end - r.pos
	switch {
	case r.srcErr != nil:
		r.ended()
		return
	case unread > r.maxToken && unread > overlap && r.mode != modeLong && r.mode != modeDeep:
		if !r.beginLong() && r.err == nil {
			r.fail(r.pos, ErrLimit, "token longer than %d bytes", r.maxToken)
		}
		return
	}
	full := r.end == len(r.buf)-padding
	r.slide()
	if free := len(r.buf) - padding - r.end; free <= r.end || full && len(r.buf) < bufferSize {
		r.buf = append(r.buf, make([]byte, max(len(r.buf), bufferSize+padding-len(r.buf)))...)
	}
	before := r.end
	for r.srcErr == nil && r.end-before <= unread {
		r.read()
	}
}

// slide moves the unread bytes to the beginning of buf.
func (r *Reader) slide() {
	n := r.pos
	if n == 0 {
		return
	}
	if r.tok >= 0 && r.tok < n {
		r.tokPos = r.position(r.tok)
	}
	r.origin = marker{0, r.position(n)}
	r.near, r.ahead = r.origin, r.origin
	r.tok -= n
	r.base += int64(n)
	r.end = copy(r.buf, r.buf[n:r.end])
	r.pos = 0
}

// read calls the source until it returns bytes or an error, and keeps the padding.
func (r *Reader) read() {
	const maxEmptyReads = 100
	n := 0
	for range maxEmptyReads {
		n, r.srcErr = r.src.Read(r.buf[r.end : len(r.buf)-padding])
		if n > 0 || r.srcErr != nil {
			break
		}
	}
	if n == 0 && r.srcErr == nil {
		r.srcErr = io.ErrNoProgress
	}
	r.end += n
	if r.MaxSize > 0 && r.base+int64(r.end) > r.MaxSize {
		r.end = int(r.MaxSize - r.base)
		r.srcErr = errSize
	}
	clear(r.buf[r.end : r.end+padding])
}

// ended sets r.err to what the end of the input means.
func (r *Reader) ended() {
	switch {
	case r.srcErr == errSize:
		r.fail(r.end, ErrLimit, "document longer than %d bytes", r.MaxSize)
	case r.srcErr != io.EOF:
		r.err = fmt.Errorf("xml: %w", r.srcErr)
	case r.mode == modeEpilog && r.pos == r.end:
		r.err = io.EOF
	case r.mode >= modeBegin && !r.seen.markup && len(Trim(r.buf[r.pos:r.end])) == 0:
		r.fail(r.end, ErrEmpty, "empty input")
	case len(r.stack) > 0:
		r.fail(r.end, ErrTruncated, "input ended inside element %s", r.stack[len(r.stack)-1].name.raw)
	default:
		r.fail(r.end, ErrTruncated, "input ended inside the document")
	}
}

// fail sets r.err to a SyntaxError at buf[at]. It returns false, for the caller to
// return.
func (r *Reader) fail(at int, reason error, format string, args ...any) bool {
	pos := r.position(at)
	r.mode = modeFailed
	r.err = &SyntaxError{Line: pos.line + 1, Column: pos.col + 1, Msg: fmt.Sprintf(format, args...), Err: reason}
	return false
}

// position returns the position of buf[at].
func (in *input) position(at int) position {
	in.ahead = in.marker(at)
	return in.ahead.position
}

// marker counts from the last known position on.
func (in *input) marker(at int) marker {
	m := in.origin
	for _, known := range [...]marker{in.near, in.ahead} {
		if known.off <= at && known.off > m.off {
			m = known
		}
	}
	seg := in.buf[m.off:at]
	if n := bytes.Count(seg, []byte{'\n'}); n > 0 {
		m.line += n
		m.col = len(seg) - 1 - bytes.LastIndexByte(seg, '\n')
	} else {
		m.col += len(seg)
	}
	m.off = at
	return m
}
