package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// resumeFloor is how many bytes must have come before a body is resumed.
const resumeFloor = 64 << 10

// errChanged: a body cannot be resumed, because the server has another representation, or
// sends all of it.
var errChanged = errors.New("can't be resumed")

// A transfer reads a body in its content coding. If the connection breaks, and the answer
// has a strong validator, it requests the rest (RFC 9110 §14). What is read is one
// representation, or ends in an error.
type transfer struct {
	k        *call
	x        *exchange // the current one
	ifRange  string    // the strong validator; empty: the body is not resumed
	coding   string    // Content-Encoding
	etag     string
	modified string
	got      int64 // bytes read
	total    int64 // bytes of the whole; -1: not known
	most     int64 // bytes allowed
	resumed  bool
	sent     io.Writer // gets what is read; may be nil

	outer context.Context // of all exchanges but the first
	mu    sync.Mutex
	stop  context.CancelCauseFunc // ends x and the exchanges after it
	ended bool
}

func (t *transfer) open(k *call, x *exchange, most int64) {
	h := x.resp.Header
	t.k, t.x, t.total, t.most, t.stop = k, x, x.resp.ContentLength, most, x.cancel
	t.coding, t.etag, t.modified = h.Get("Content-Encoding"), etagOf(h), h.Get("Last-Modified")
	if x.resp.StatusCode == http.StatusOK && !x.resp.Uncompressed {
		t.ifRange = rangeValidator(h)
	}
}

// Read implements io.Reader.
func (t *transfer) Read(p []byte) (int, error) {
	for {
		n, err := t.x.Read(p)
		if t.got += int64(n); t.sent != nil {
			_, _ = t.sent.Write(p[:n]) // a sum, which never fails
		}
		switch {
		case t.got > t.most:
			return 0, fmt.Errorf("body of more than %d bytes as transferred: %w", t.most, websync.ErrLimit)
		case t.resumed && t.got > t.total:
			n -= int(t.got - t.total)
			return n, t.broken(fmt.Errorf("%w: more than the %d bytes of Content-Range", errChanged, t.total))
		case t.resumed && err == io.EOF && t.got < t.total:
			err = truncated(io.ErrUnexpectedEOF)
		}
		if err != nil && err != io.EOF {
			err = t.resume(err)
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// resume replaces the exchange that failed with err by one for the missing bytes. If the
// body is not resumed, it returns why.
func (t *transfer) resume(err error) error {
	cause := t.x.failure(err)
	if t.ifRange == "" || t.k.whole || t.got < resumeFloor || t.got == t.total {
		return cause
	}
	t.x.end(cause)
	t.k.spent += time.Since(t.x.sent)
	ctx, err := t.context()
	if err != nil {
		return err
	}
	for {
		if err := t.k.again(ctx, cause); err != nil {
			return t.broken(err)
		}
		x, err := t.rest(ctx)
		switch {
		case err == nil:
			t.x, t.resumed = x, true
			return nil
		case errors.Is(err, harvest.ErrNotYet):
			return t.broken(later(cause, err))
		case errors.Is(err, errChanged):
			return t.broken(err)
		}
		cause = err
	}
}

// rest requests the missing bytes.
func (t *transfer) rest(ctx context.Context) (*exchange, error) {
	t.k.from, t.k.ifRange = t.got, t.ifRange
	x, err := t.k.send(ctx, t.x.url)
	t.k.ifRange = ""
	if err != nil {
		return nil, err
	}
	switch code := x.resp.StatusCode; {
	case code == http.StatusPartialContent:
		if err = t.join(x.resp); err == nil {
			return x, nil
		}
		t.k.whole = true
		x.end(err)
		return nil, err
	case retriedStatus(code):
		err = x.statusError()
	default:
		// If nothing has changed, the server has no ranges.
		h := x.resp.Header
		t.k.whole = h.Get("ETag") == t.etag && h.Get("Last-Modified") == t.modified
		err = fmt.Errorf("%w: %d %s", errChanged, code, http.StatusText(code))
	}
	x.discard()
	return nil, err
}

// join returns an error unless resp has the bytes after those that were read, of the same
// representation (RFC 9110 §15.3.7.3). It may lack Last-Modified and Content-Encoding.
func (t *transfer) join(resp *http.Response) error {
	h := resp.Header
	r, ok := contentRange(h.Get("Content-Range"))
	if r.total < 0 {
		r.total = t.total
	}
	modified, coding := h.Get("Last-Modified"), h.Get("Content-Encoding")
	switch {
	case !ok, r.first != t.got, r.total <= r.last, t.total >= 0 && r.total != t.total,
		resp.ContentLength >= 0 && resp.ContentLength != r.last-r.first+1:
		return fmt.Errorf("%w: Content-Range %.60q after %d of %d bytes", errChanged, h.Get("Content-Range"), t.got, t.total)
	case etagOf(h) != t.etag, t.etag == "" && modified != "" && modified != t.modified:
		return fmt.Errorf("%w: its validator has changed", errChanged)
	case resp.Uncompressed, coding != "" && !strings.EqualFold(coding, t.coding):
		return fmt.Errorf("%w: its content coding has changed", errChanged)
	}
	t.total = r.total
	return nil
}

// A byteRange is the value of a Content-Range in bytes.
type byteRange struct {
	first, last int64
	total       int64 // -1: not stated
}

// contentRange parses the Content-Range of a satisfied range (RFC 9110 §14.4).
func contentRange(text string) (r byteRange, ok bool) {
	unit, text, _ := strings.Cut(strings.TrimSpace(text), " ")
	span, total, _ := strings.Cut(text, "/")
	first, last, _ := strings.Cut(span, "-")
	r = byteRange{octets(first), octets(last), octets(total)}
	ok = strings.EqualFold(unit, "bytes") && r.first >= 0 && r.last >= r.first && (r.total > r.last || total == "*")
	return r, ok
}

// octets parses a number of bytes; it returns -1 for anything else.
func octets(text string) int64 {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == math.MaxInt64 {
		return -1
	}
	return int64(n)
}

// broken returns the error of a body that remains without its end.
func (t *transfer) broken(cause error) error {
	e, ok := errors.AsType[*RequestError](cause)
	if errors.Is(cause, websync.ErrTruncated) || ok && e.Kind == nil { // the latter: by the caller
		return cause
	}
	b := &RequestError{URL: t.x.name(), Kind: harvest.ErrTemporary}
	b.RetryAt, _ = harvest.RetryAfter(cause)
	if errors.Is(cause, harvest.ErrForbidden) {
		b.Kind = harvest.ErrForbidden
	}
	if ok {
		cause = e.Err // without the URL
	}
	b.Err = fmt.Errorf("%w after %d bytes: %w", websync.ErrTruncated, t.got, cause)
	return b
}

// failure returns the RequestError for a body that cannot be read.
func (t *transfer) failure(err error) error {
	if _, ok := errors.AsType[*RequestError](err); ok {
		return err
	}
	err = t.x.failure(err)
	if e, ok := err.(*RequestError); ok && t.resumed && errors.Is(err, errCoding) {
		e.Kind = harvest.ErrTemporary // the parts do not fit together
	}
	return err
}

// context returns the context of the exchanges after the first.
func (t *transfer) context() (context.Context, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil, &RequestError{URL: t.x.name(), Err: errClosed}
	}
	if t.outer == nil {
		t.outer, t.stop = context.WithCancelCause(t.x.outer)
	}
	return t.outer, nil
}

// interrupt makes a Read that waits return. It may be called at any time.
func (t *transfer) interrupt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.stop(errClosed)
}

// end releases what the transfer holds; err is the reason of its failure.
func (t *transfer) end(err error) {
	t.x.end(err)
	t.interrupt()
}
