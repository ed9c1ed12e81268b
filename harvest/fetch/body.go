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
)

// errCoding: the body is in a content coding that it was not asked for in, or not in the
// one it is said to be.
var errCoding = errors.New("content coding")

var errBehindGzip = fmt.Errorf("%w: bytes that are not gzip behind those that are", errCoding)

// A body is what a caller reads: decoded, limited, and whole if it ends in io.EOF and the
// Response has no MayBeCut.
type body struct {
	transfer
	length int64 // -1: not known

	mu    sync.Mutex
	r     io.Reader
	unzip *unzipper // r, if the body came compressed
	left  int64     // of the limit
	err   error     // sticks
}

func newBody(x *exchange, k *call) (*body, error) {
	b := &body{length: x.resp.ContentLength, left: k.c.set.maxBytes}
	switch {
	case k.req.MaxBytes > 0:
		b.left = k.req.MaxBytes
	case k.req.MaxBytes < 0:
		b.left = math.MaxInt64
	}
	b.transfer.open(k, x, wireLimit(b.left))
	b.r = &b.transfer
	if http.Header(k.req.Header).Get("Accept-Encoding") == "" {
		zipped, err := gzipped(x.resp.Header)
		if err != nil {
			return nil, transferError(x.name(), err)
		}
		if zipped {
			b.unzip = unzippers.Get().(*unzipper)
			b.unzip.open(&b.transfer, k.c.set.maxExpansion)
			b.r, b.length = b.unzip, -1
			x.resp.Header.Del("Content-Encoding")
			x.resp.Header.Del("Content-Length")
		}
	}
	if b.length > b.left {
		return nil, transferError(x.name(), fmt.Errorf("body of %d bytes: %w of %d", b.length, websync.ErrLimit, b.left))
	}
	if b.total > b.most {
		return nil, transferError(x.name(), fmt.Errorf("body of %d bytes in gzip: %w of %d", b.total, websync.ErrLimit, b.left))
	}
	return b, nil
}

// wireLimit returns how many bytes may come for a body of at most so many: what can't be
// made shorter becomes a little longer in gzip.
func wireLimit(most int64) int64 {
	if most > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return most + most/8 + 1<<10
}

// gzipped reports whether the body came in gzip. Other codings were not asked for, and a
// body that can't be read must not pass for one; words that are no codings occur and mean
// nothing.
func gzipped(h http.Header) (bool, error) {
	switch coding := strings.ToLower(strings.Join(h.Values("Content-Encoding"), ",")); coding {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	case "br", "zstd", "deflate", "compress", "x-compress", "dcb", "dcz", "exi":
		return false, fmt.Errorf("%w %s was not asked for", errCoding, coding)
	default:
		if strings.Contains(coding, ",") {
			return false, fmt.Errorf("%w %.40q was not asked for", errCoding, coding)
		}
		return false, nil
	}
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	if int64(len(p))-1 > b.left {
		p = p[:b.left+1] // one more, to see whether there is more
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

// finish ends the transfer; what is read from now on is err.
func (b *body) finish(err, reason error) {
	b.err = err
	if b.unzip != nil {
		b.unzip.close()
		b.unzip, b.r = nil, nil
	}
	b.transfer.end(reason)
}

// Close ends the transfer. It may be called during Read and again.
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

// An unzipper reads gzip and stops when it becomes too long for what went in.
type unzipper struct {
	from *transfer
	in   *bufio.Reader
	zip  gzip.Reader
	on   bool  // within a member
	any  bool  // there was one
	most int64 // bytes out for one in
	out  int64
}

// expansionFloor is how long a body may become from however little.
const expansionFloor = 10 << 20

var unzippers = sync.Pool{New: func() any { return &unzipper{in: bufio.NewReaderSize(nil, 16<<10)} }}

func (u *unzipper) open(t *transfer, most int64) {
	u.from, u.most, u.out, u.on, u.any = t, most, 0, false, false
	u.in.Reset(t)
}

func (u *unzipper) close() {
	u.from = nil
	u.in.Reset(nil)
	unzippers.Put(u)
}

func (u *unzipper) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if !u.on {
			// io.EOF: an empty body is empty in any coding
			if err := u.begin(); err != nil {
				return 0, notGzip(err)
			}
		}
		n, err = u.zip.Read(p)
		if err == io.EOF { // another member may follow
			u.on, err = false, nil
		}
	}
	u.out += int64(n)
	if u.out > expansionFloor && u.out/u.most > u.from.got {
		return n, fmt.Errorf("gzip of %d bytes expands to more than %d: %w", u.from.got, u.out, websync.ErrLimit)
	}
	return n, notGzip(err)
}

// begin reads the header of the first member, or of the next. Bytes behind the last that
// are none are not a member that was cut off.
func (u *unzipper) begin() error {
	if u.any {
		magic, err := u.in.Peek(2)
		if len(magic) > 0 && (err == nil || err == io.EOF) && string(magic) != "\x1f\x8b" {
			return errBehindGzip
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

// notGzip marks the errors of bytes that end too early, or that can't be read as gzip.
func notGzip(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return fmt.Errorf("%w: %w", errCoding, err)
	case err == io.ErrUnexpectedEOF:
		return cutOff(err)
	}
	return err
}
