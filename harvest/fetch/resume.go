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

const (
	resumeFloor = 64 << 10 // bytes that must have come before the rest is asked for
	// a Last-Modified that is older than its answer by so much is a strong validator
	clockDoubt = time.Minute
)

// errChanged: the rest of a body can't be had, because what the server has now is another
// one, or all of it.
var errChanged = errors.New("can't be resumed")

// A transfer reads a body as it comes over the wire, in its content coding. If the
// connection breaks, and the server has sent what it takes to notice a change, the rest
// is asked for (RFC 9110 §14): what is read is one representation, or an error.
type transfer struct {
	k        *call
	x        *exchange // the one that the bytes come from
	ifRange  string    // strong validator; empty: nothing is resumed
	coding   string    // Content-Encoding
	etag     string
	modified string
	got      int64 // bytes until now
	total    int64 // of the whole; -1: not known
	most     int64 // that may come
	resumed  bool

	outer context.Context // of all exchanges but the first
	mu    sync.Mutex
	stop  context.CancelCauseFunc // ends x and what comes after it
	ended bool
}

func (t *transfer) open(k *call, x *exchange, most int64) {
	h := x.resp.Header
	t.k, t.x, t.total, t.most, t.stop = k, x, x.resp.ContentLength, most, x.cancel
	t.coding, t.etag, t.modified = h.Get("Content-Encoding"), strings.TrimSpace(h.Get("ETag")), h.Get("Last-Modified")
	if x.resp.StatusCode == http.StatusOK && !x.resp.Uncompressed {
		t.ifRange = rangeValidator(h)
	}
}

// rangeValidator returns what may stand in If-Range (RFC 9110 §13.1.5): a strong ETag or,
// if there is no ETag at all, a Last-Modified that nothing can have followed within its
// second. It is empty if there is neither, or if the server says that it has no ranges.
func rangeValidator(h http.Header) string {
	if strings.EqualFold(strings.TrimSpace(h.Get("Accept-Ranges")), "none") {
		return ""
	}
	if etag := strings.TrimSpace(h.Get("ETag")); etag != "" {
		if len(etag) < 2 || etag[0] != '"' || etag[len(etag)-1] != '"' || !sendable(etag) {
			return "" // weak, or malformed
		}
		return etag
	}
	modified, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil {
		return ""
	}
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil || date.Sub(modified) < clockDoubt {
		return ""
	}
	return h.Get("Last-Modified")
}

// Read implements io.Reader.
func (t *transfer) Read(p []byte) (int, error) {
	for {
		n, err := t.x.Read(p)
		t.got += int64(n)
		switch {
		case t.got > t.most:
			return 0, fmt.Errorf("body of more than %d bytes on the wire: %w", t.most, websync.ErrLimit)
		case t.resumed && t.got > t.total:
			n -= int(t.got - t.total)
			return n, t.broken(fmt.Errorf("%w: more than the %d bytes that were announced", errChanged, t.total))
		case t.resumed && err == io.EOF && t.got < t.total:
			err = cutOff(io.ErrUnexpectedEOF)
		}
		if err != nil && err != io.EOF {
			err = t.resume(err)
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// resume has the missing bytes come from another exchange, after err. If that can't be,
// it returns why.
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

// rest asks for the bytes that are missing.
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
	case retriedStatus[code]:
		err = &StatusError{URL: x.name(), Code: code, RetryAt: x.retryAt}
		x.discard()
	default:
		h := x.resp.Header
		// it has no ranges
		t.k.whole = h.Get("ETag") == t.etag && h.Get("Last-Modified") == t.modified
		err = fmt.Errorf("%w: %d %s", errChanged, code, http.StatusText(code))
		x.discard()
	}
	return nil, err
}

// join returns an error unless resp holds what follows the bytes that were read, of the
// same representation (RFC 9110 §15.3.7.3). Last-Modified and Content-Encoding may be
// missing there.
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
	case strings.TrimSpace(h.Get("ETag")) != t.etag, t.etag == "" && modified != "" && modified != t.modified:
		return fmt.Errorf("%w: it has changed", errChanged)
	case resp.Uncompressed, coding != "" && !strings.EqualFold(coding, t.coding):
		return fmt.Errorf("%w: the content coding has changed", errChanged)
	}
	t.total = r.total
	return nil
}

// A byteRange is what a Content-Range says of bytes.
type byteRange struct {
	first, last int64
	total       int64 // -1: not stated
}

// contentRange reads a Content-Range (RFC 9110 §14.4) of a range that was satisfied.
func contentRange(text string) (r byteRange, ok bool) {
	unit, text, _ := strings.Cut(strings.TrimSpace(text), " ")
	span, total, _ := strings.Cut(text, "/")
	first, last, _ := strings.Cut(span, "-")
	r = byteRange{octets(first), octets(last), octets(total)}
	ok = strings.EqualFold(unit, "bytes") && r.first >= 0 && r.last >= r.first && (r.total > r.last || total == "*")
	return r, ok
}

// octets reads a number of bytes; what is none is -1.
func octets(text string) int64 {
	if strings.Trim(text, "0123456789") != "" {
		return -1
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n == math.MaxInt64 {
		return -1
	}
	return n
}

// broken returns the error of a body that stays without its end.
func (t *transfer) broken(cause error) error {
	e, ok := errors.AsType[*RequestError](cause)
	// the caller has ended it
	if errors.Is(cause, websync.ErrTruncated) || ok && e.Kind == nil {
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

// failure returns the Error for a body that can't be read.
func (t *transfer) failure(err error) error {
	if _, ok := errors.AsType[*RequestError](err); ok {
		return err
	}
	err = t.x.failure(err)
	if e, ok := err.(*RequestError); ok && t.resumed && errors.Is(err, errCoding) {
		e.Kind = harvest.ErrTemporary // the parts don't fit, whatever the server says
	}
	return err
}

// context returns what ends with the transfer, for the exchanges after the first.
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

// end gives back what the transfer holds. Err is why it failed.
func (t *transfer) end(err error) {
	t.x.end(err)
	t.interrupt()
}
