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

// The waits between attempts: full jitter, which is a random time below base, 2 base, 4
// base …
const (
	backoffBase = time.Second
	backoffCap  = time.Minute
)

// backoff returns how long to wait after failure n, from 1.
func (c *Client) backoff(n int) time.Duration {
	ceiling := backoffCap
	if n <= 6 {
		ceiling = min(backoffBase<<(n-1), backoffCap)
	}
	if c.jitter != nil {
		return c.jitter(ceiling)
	}
	return rand.N(ceiling)
}

// retriedStatus are the answers after which the same request is made again.
var retriedStatus = map[int]bool{
	http.StatusRequestTimeout:      true,
	http.StatusTooEarly:            true,
	http.StatusTooManyRequests:     true,
	http.StatusInternalServerError: true,
	http.StatusBadGateway:          true,
	http.StatusServiceUnavailable:  true,
	http.StatusGatewayTimeout:      true,
}

// retried reports whether the same request is worth another attempt now.
func retried(err error) bool {
	var dns *net.DNSError
	switch {
	case errors.Is(err, harvest.ErrNotYet), errors.Is(err, errRobots), errors.Is(err, errTooLong), errors.Is(err, errUnasked):
		return false
	case errors.As(err, &dns) && dns.IsNotFound:
		return false
	}
	if e, ok := errors.AsType[*StatusError](err); ok {
		return retriedStatus[e.Code]
	}
	return errors.Is(err, harvest.ErrTemporary)
}

// later returns the error of an attempt that failed, when the next is not made because
// the host is not to be asked yet.
func later(failed, notYet error) error {
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
	errInactive = &timeoutError{"no byte for so long"}
	errSlow     = &timeoutError{"too few bytes in a minute"}
	errTooLong  = &timeoutError{"transfer takes too long"}
	errClosed   = errors.New("body is closed")
	errUnasked  = errors.New("304 Not Modified without a condition")
)

// exceeded returns late with the setting that is behind it.
func (s *settings) exceeded(late *timeoutError) error {
	switch late {
	case errSlow:
		return fmt.Errorf("%w: less than %d", late, s.minSpeed)
	case errTooLong:
		return fmt.Errorf("%w: %s", late, s.timeout)
	}
	return fmt.Errorf("%w: %s", late, s.inactivity)
}

// A timeoutError is a [net.Error].
type timeoutError struct{ text string }

func (e *timeoutError) Error() string   { return e.text }
func (e *timeoutError) Timeout() bool   { return true }
func (e *timeoutError) Temporary() bool { return true }

// transferError makes an Error of what went wrong between the Client and a host.
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

// cutOff marks an error of a body that ends before it is whole.
func cutOff(err error) error {
	if err == nil || err == io.EOF || errors.Is(err, websync.ErrTruncated) {
		return err
	}
	return fmt.Errorf("%w: %w", websync.ErrTruncated, err)
}
