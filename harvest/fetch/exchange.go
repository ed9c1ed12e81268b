package fetch

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/outgoing"
)

// An exchange is one request and its answer. It counts against the limits of its host
// until end is called.
type exchange struct {
	k           *call
	h           *host
	url         *url.URL
	conditional bool
	resp        *http.Response
	retryAt     time.Time // by Retry-After; zero: not stated
	alone       error     // the run leaves the host alone because of this answer

	outer  context.Context // the caller's
	ctx    context.Context // is cancelled when the exchange ends
	cancel context.CancelCauseFunc
	timer  *time.Timer                  // runs while the host is to send something
	late   atomic.Pointer[timeoutError] // why the timer ends the exchange
	sent   time.Time
	spent  time.Duration // of Timeout, before it was sent
	bytes  int64         // of the body
	speed  speedometer
	once   sync.Once
}

// A speedometer counts the bytes of a body in the current minute of waiting for them.
type speedometer struct {
	waited time.Duration
	bytes  int64
}

// left returns how long the host may take to complete the bytes that a minute must have.
func (s *speedometer) left(least int64) time.Duration {
	if s.bytes >= least {
		return math.MaxInt64
	}
	return time.Minute - s.waited
}

func (s *speedometer) add(n int, waited time.Duration, least int64) {
	s.bytes += int64(n)
	if s.waited += waited; s.waited >= time.Minute && s.bytes >= least {
		*s = speedometer{}
	}
}

// exchange sends the request for u and waits for the header of the answer.
func (k *call) exchange(ctx context.Context, h *host, u *url.URL) (*exchange, error) {
	x := &exchange{k: k, h: h, url: u, outer: ctx, sent: time.Now(), spent: k.spent}
	k.since = time.Time{}
	defer func() {
		if k.probe { // others may send now
			k.probe = false
			give(h.turn)
		}
	}()
	via, inner := k.c.set.transport, ctx
	if h.origin == k.root && k.c.set.sourceTransport != nil {
		via, inner = k.c.set.sourceTransport, context.WithValue(ctx, sourceHost{}, h)
	}
	x.ctx, x.cancel = context.WithCancelCause(inner)
	r, conditional, err := k.request(x.ctx, h.origin, u)
	if err != nil {
		x.cancel(nil)
		x.leave()
		return nil, err
	}
	x.conditional = conditional
	x.await(x.sent)
	x.resp, err = via.RoundTrip(r)
	x.timer.Stop()
	if err != nil {
		x.resp = nil
		err = x.failure(err)
		x.end(err)
		return nil, err
	}
	now := time.Now()
	if wait, ok := outgoing.RetryAfter(x.resp.Header, now, k.c.set.maxRetryAfter); ok {
		x.retryAt = now.Add(wait)
	}
	k.last = h
	x.alone = h.noteAnswer(ctx, k, x.resp.StatusCode, x.retryAt, x.sent)
	return x, nil
}

// closeDelimited reports whether only the end of the connection ends the body (RFC 9112
// §6.3, rule 8): then a connection that breaks looks like the end.
func (x *exchange) closeDelimited() bool {
	r := x.resp
	return r.ContentLength < 0 && r.ProtoMajor < 2 && !slices.Contains(r.TransferEncoding, "chunked") && !r.Uncompressed
}

// await starts the timer that ends the exchange unless a byte comes in time.
func (x *exchange) await(now time.Time) {
	c := x.k.c
	wait, why := c.set.inactivity, errInactive
	if left := x.speed.left(c.set.minSpeed); x.resp != nil && left < wait {
		wait, why = left, errSlow
	}
	if left := c.set.timeout - x.spent - now.Sub(x.sent); left < wait {
		wait, why = left, errTooLong
	}
	x.late.Store(why)
	if x.timer == nil {
		x.timer = time.AfterFunc(wait, func() { x.cancel(x.late.Load()) })
	} else {
		x.timer.Reset(wait)
	}
}

// Read reads the body as it is transferred.
func (x *exchange) Read(p []byte) (int, error) {
	began := time.Now()
	x.await(began)
	n, err := x.resp.Body.Read(p)
	x.timer.Stop()
	x.bytes += int64(n)
	x.speed.add(n, time.Since(began), x.k.c.set.minSpeed)
	// net/http checks the length, other Transports may not.
	if err == io.EOF && x.bytes < x.resp.ContentLength {
		err = io.ErrUnexpectedEOF
	}
	return n, truncated(err)
}

// failure returns the error for a failed transfer: the cause of the caller's
// cancellation, the time limit that was exceeded, or err.
func (x *exchange) failure(err error) error {
	if x.outer.Err() != nil {
		return &RequestError{URL: x.name(), Err: context.Cause(x.outer)}
	}
	if late, ok := context.Cause(x.ctx).(*timeoutError); ok {
		short := errors.Is(err, websync.ErrTruncated)
		err = x.k.c.set.exceeded(late)
		if short {
			err = truncated(err)
		}
	}
	return transferError(x.name(), err)
}

// statusError returns the answer as an error.
func (x *exchange) statusError() error {
	if x.alone != nil {
		return x.alone
	}
	return &StatusError{URL: x.name(), Code: x.resp.StatusCode, RetryAt: x.retryAt}
}

// discard ends an exchange whose body nobody reads. It reads a short body, so that the
// connection can be used again.
func (x *exchange) discard() {
	const short, soon = 64 << 10, 2 * time.Second
	if x.resp.ContentLength <= short {
		x.timer.Reset(soon)
		n, _ := io.CopyN(io.Discard, x.resp.Body, short)
		x.timer.Stop()
		x.bytes += n
	}
	x.end(nil)
}

// end releases what the exchange holds; err is the reason of its failure. Further calls
// have no effect.
func (x *exchange) end(err error) {
	x.once.Do(func() {
		x.timer.Stop()
		if x.resp != nil {
			x.resp.Body.Close()
		}
		x.cancel(errClosed)
		x.leave()
		x.report(err)
	})
}

// leave gives back what enter took.
func (x *exchange) leave() {
	give(x.k.c.set.slots)
	give(x.h.slots)
	x.k.c.hosts.leave(x.h)
}

// report calls OnAttempt and logs the exchange.
func (x *exchange) report(err error) {
	c := x.k.c
	logged := c.set.log.Enabled(x.outer, slog.LevelDebug)
	if c.OnAttempt == nil && !logged {
		return
	}
	a := harvest.AttemptInfo{
		Source: x.k.req.Source, List: x.k.req.List, Method: http.MethodGet, Host: x.h.origin, URL: x.name(), Attempt: x.k.attempt,
		Bytes: x.bytes, Duration: time.Since(x.sent), Err: err,
	}
	if x.resp != nil {
		a.Status = x.resp.StatusCode
	}
	if c.OnAttempt != nil {
		c.OnAttempt(x.outer, a)
	}
	if logged {
		c.set.log.DebugContext(x.outer, "request", "host", a.Host, "uri", a.URL, "attempt", a.Attempt,
			"status", a.Status, "bytes", a.Bytes, "dur", a.Duration, "err", a.Err)
	}
}

// name returns the URL without secrets.
func (x *exchange) name() string { return websync.RedactURL(x.url.String()) }
