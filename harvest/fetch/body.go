package fetch

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/spool"
)

// errCoding: the body has a content coding that was not requested, or does not have the
// one that the answer states.
var errCoding = errors.New("content coding")

var errAfterGzip = fmt.Errorf("%w: bytes after the end of the gzip data", errCoding)

// A body is what a caller reads: decoded and limited. If it ends in io.EOF and
// Response.MayBeCut is false, it is whole.
type body struct {
	transfer
	length int64 // of the decoded body; -1: not known

	mu    sync.Mutex
	r     io.Reader
	unzip *unzipper // r, if the body is gzip
	left  int64     // bytes that may still be read
	err   error     // of all further Reads
}

func newBody(x *exchange, k *call) (*body, error) {
	most := limit(k.req.MaxBytes, limit(k.c.MaxBytes, 1<<30, math.MaxInt64), math.MaxInt64)
	b := &body{length: x.resp.ContentLength, left: most}
	transferred := int64(math.MaxInt64)
	if most <= math.MaxInt64/2 { // incompressible data becomes a little longer in gzip
		transferred = most + most/8 + 1<<10
	}
	b.transfer.open(k, x, transferred)
	b.r = &b.transfer
	if http.Header(k.req.Header).Get("Accept-Encoding") == "" {
		zipped, err := gzipped(x.resp.Header)
		if err != nil {
			return nil, transferError(x.name(), err)
		}
		if zipped {
			b.unzip = unzippers.Get().(*unzipper)
			b.unzip.open(&b.transfer, limit(k.c.MaxExpansion, spool.MaxExpansion, math.MaxInt64))
			b.r, b.length = b.unzip, -1
			x.resp.Header.Del("Content-Encoding")
			x.resp.Header.Del("Content-Length")
		}
	}
	if b.length > most || b.total > b.most {
		err := fmt.Errorf("body with a Content-Length of %d: %w of %d bytes", b.total, websync.ErrLimit, most)
		return nil, transferError(x.name(), err)
	}
	return b, nil
}

// gzipped reports whether the body is gzip. Other codings are an error, since nothing
// would decode them. Some servers send words that are no codings, which mean nothing.
func gzipped(h http.Header) (bool, error) {
	switch coding := strings.ToLower(strings.Join(h.Values("Content-Encoding"), ",")); coding {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	case "br", "zstd", "deflate", "compress", "x-compress", "dcb", "dcz", "exi":
		return false, fmt.Errorf("%w %q must be gzip or identity", errCoding, coding)
	default:
		if strings.Contains(coding, ",") {
			return false, fmt.Errorf("%w %.40q must be gzip or identity", errCoding, coding)
		}
		return false, nil
	}
}

// Sent reports whether the body is decoded. If it is, w, which must not fail, gets the
// bytes as they were sent.
func (b *body) Sent(w io.Writer) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unzip == nil {
		return false
	}
	b.sent = w
	return true
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	if int64(len(p))-1 > b.left {
		p = p[:b.left+1] // one more byte than allowed
	}
	n, err := b.r.Read(p)
	if int64(n) > b.left {
		n = int(b.left)
		err = fmt.Errorf("body: %w", websync.ErrLimit)
	}
	b.left -= int64(n)
	if err == io.EOF {
		b.finish(io.EOF, nil)
	} else if err != nil {
		err = b.failure(err)
		b.finish(err, err)
	}
	return n, b.err
}

// finish ends the transfer, which failed for the given reason. All further Reads return
// err.
func (b *body) finish(err, reason error) {
	b.err = err
	if b.unzip != nil {
		b.unzip.close()
		b.unzip, b.r = nil, nil
	}
	b.transfer.end(reason)
}

// Close ends the transfer. It may be called during Read, and more than once.
func (b *body) Close() error {
	if !b.mu.TryLock() {
		b.interrupt() // wakes Read
		b.mu.Lock()
	}
	defer b.mu.Unlock()
	if b.err == nil {
		b.finish(http.ErrBodyReadAfterClose, nil)
	}
	return nil
}

// An unzipper decodes gzip, and fails if it expands too much. Some servers say gzip of
// bytes that are not: if these are of another known type, they are the body.
type unzipper struct {
	from  *transfer
	in    *bufio.Reader
	zip   gzip.Reader
	plain bool  // it is not gzip
	on    bool  // within a member
	any   bool  // a member has begun
	most  int64 // bytes of output for a byte of input
	out   int64
}

var unzippers = sync.Pool{New: func() any { return &unzipper{in: bufio.NewReaderSize(nil, 16<<10)} }}

func (u *unzipper) open(t *transfer, most int64) {
	u.from, u.most, u.out, u.plain, u.on, u.any = t, most, 0, false, false, false
	u.in.Reset(t)
}

func (u *unzipper) close() {
	u.from = nil
	u.in.Reset(nil)
	unzippers.Put(u)
}

func (u *unzipper) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if u.plain {
			return u.in.Read(p)
		}
		if !u.on {
			// An empty body is empty in any coding: io.EOF.
			if err := u.begin(); err != nil {
				return 0, notGzip(err)
			}
			continue
		}
		n, err = u.zip.Read(p)
		if err == io.EOF { // another member may follow
			u.on, err = false, nil
		}
	}
	u.out += int64(n)
	if u.out > spool.FreeExpansion && u.out/u.most > u.from.got {
		return n, fmt.Errorf("gzip of %d bytes expands to more than %d: %w", u.from.got, u.out, websync.ErrLimit)
	}
	return n, notGzip(err)
}

// begin reads the header of the next member. It distinguishes other bytes after the last
// member from a member that is truncated.
func (u *unzipper) begin() error {
	if !u.any {
		head, _ := u.in.Peek(512) // all that the next line looks at
		switch http.DetectContentType(head) {
		case "application/x-gzip", "application/octet-stream":
		default:
			u.plain = len(head) > 0
		}
		if u.plain {
			return nil
		}
	} else {
		magic, err := u.in.Peek(2)
		if len(magic) > 0 && (err == nil || err == io.EOF) && string(magic) != "\x1f\x8b" {
			return errAfterGzip
		}
		if err != nil {
			return err
		}
	}
	if err := u.zip.Reset(u.in); err != nil {
		return err
	}
	u.zip.Multistream(false)
	u.on, u.any = true, true
	return nil
}

// notGzip makes errors match errCoding or websync.ErrTruncated.
func notGzip(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return fmt.Errorf("%w: %w", errCoding, err)
	case err == io.ErrUnexpectedEOF:
		return truncated(err)
	}
	return err
}
