package fetch

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// The waits between attempts have full jitter: each is a random time below base, 2 base,
// 4 base and so on, up to cap.
const (
	backoffBase = time.Second
	backoffCap  = time.Minute
)

// backoff returns how long to wait after failure n, from 1.
func (c *Client) backoff(n int) time.Duration {
	ceiling := min(backoffBase<<min(n-1, 10), backoffCap)
	if c.jitter != nil {
		return c.jitter(ceiling)
	}
	return rand.N(ceiling)
}

// retriedStatus reports whether the same request is made again after an answer of this
// status.
func retriedStatus(code int) bool {
	switch code {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retried reports whether the same request is made again after err.
func retried(err error) bool {
	var dns *net.DNSError
	switch {
	case errors.Is(err, harvest.ErrNotYet), errors.Is(err, errRobots), errors.Is(err, errTooLong), errors.Is(err, errUnasked):
		return false
	case errors.As(err, &dns) && dns.IsNotFound:
		return false
	}
	if e, ok := errors.AsType[*StatusError](err); ok {
		return retriedStatus(e.Code)
	}
	return errors.Is(err, harvest.ErrTemporary)
}

// later returns the error of a failed attempt with the time at which the host may be
// asked again, where it is closed before the next attempt. If it is left alone, the
// attempt does not count.
func later(failed, notYet error) error {
	if _, alone := errors.AsType[*harvest.LeftAloneError](notYet); alone {
		return notYet
	}
	at, _ := harvest.RetryAfter(notYet)
	switch e := failed.(type) {
	case *StatusError:
		return &StatusError{URL: e.URL, Code: e.Code, RetryAt: at}
	case *RequestError:
		return &RequestError{URL: e.URL, Kind: e.Kind, RetryAt: at, Err: e.Err}
	}
	return failed
}

// Why the Client itself ends an attempt.
var (
	errInactive = &timeoutError{"no byte for"}
	errSlow     = &timeoutError{"fewer bytes in a minute than"}
	errTooLong  = &timeoutError{"transfer longer than"}
	errClosed   = errors.New("body is closed")
	errUnasked  = errors.New("304 Not Modified for a request without a condition")
)

// exceeded returns late with the limit that was exceeded.
func (s *settings) exceeded(late *timeoutError) error {
	switch late {
	case errSlow:
		return fmt.Errorf("%w %d", late, s.minSpeed)
	case errTooLong:
		return fmt.Errorf("%w %s", late, s.timeout)
	}
	return fmt.Errorf("%w %s", late, s.inactivity)
}

// A timeoutError is a [net.Error].
type timeoutError struct{ text string }

func (e *timeoutError) Error() string   { return e.text }
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Temporary() bool { return true }

// transferError returns the RequestError for a failure between the Client and a host.
func transferError(url string, err error) *RequestError {
	e := &RequestError{URL: url, Kind: harvest.ErrTemporary, Err: err}
	var (
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, harvest.ErrForbidden):
		e.Kind = harvest.ErrForbidden
	case errors.Is(err, websync.ErrLimit), errors.Is(err, errCoding),
		errors.As(err, &cert), errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		e.Kind = nil
	}
	return e
}

// truncated makes an error of a body that ends early match websync.ErrTruncated.
func truncated(err error) error {
	if err == nil || err == io.EOF || errors.Is(err, websync.ErrTruncated) {
		return err
	}
	return fmt.Errorf("%w: %w", websync.ErrTruncated, err)
}
