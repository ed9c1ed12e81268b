package fetch

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A StatusError is an answer that is not a success. It matches [websync.ErrGone] (404,
// 410), [harvest.ErrForbidden] (401, 402, 403, 407, 451) and [harvest.ErrTemporary] (202,
// 408, 421, 425, 429 and all of 5xx but 501 and 505).
type StatusError struct {
	URL     string // of the answer, without secrets
	Code    int
	RetryAt time.Time // by Retry-After; zero: not stated
}

// Error returns, for example, "fetch: https://example.org/a: 404 Not Found".
func (e *StatusError) Error() string {
	return "fetch: " + e.URL + ": " + e.reason()
}

func (e *StatusError) reason() string {
	text := fmt.Sprintf("%d %s", e.Code, http.StatusText(e.Code))
	if !e.RetryAt.IsZero() {
		text += ", retry after " + e.RetryAt.UTC().Format(time.RFC3339)
	}
	return strings.TrimSuffix(text, " ")
}

// StatusCode returns e.Code.
func (e *StatusError) StatusCode() int { return e.Code }

// RequestURL returns e.URL.
func (e *StatusError) RequestURL() string { return e.URL }

// RetryAfter returns e.RetryAt.
func (e *StatusError) RetryAfter() time.Time { return e.RetryAt }

// Is lets errors.Is match the errors of package harvest.
func (e *StatusError) Is(target error) bool {
	switch target {
	case websync.ErrGone:
		return e.Code == http.StatusNotFound || e.Code == http.StatusGone
	case harvest.ErrForbidden:
		switch e.Code {
		case 401, 402, 403, 407, 451:
			return true
		}
	case harvest.ErrTemporary:
		switch e.Code {
		case 202, 408, 421, 425, 429:
			return true
		case 501, 505:
			return false
		}
		return e.Code >= 500
	}
	return false
}

// A RequestError is the reason why a request was not made or failed. If no request was
// made, because the host is closed for longer or has a longer queue than [Client] MaxWait
// allows, it matches [harvest.ErrNotYet] and [harvest.ErrTemporary], and RetryAt is the
// time to come back.
type RequestError struct {
	URL     string    // without secrets
	Kind    error     // harvest.ErrForbidden, harvest.ErrTemporary, or nil
	RetryAt time.Time // when the request may be repeated; zero: not known
	Err     error
}

// Error returns, for example, "fetch: https://example.org/a: no byte for 30s".
func (e *RequestError) Error() string { return "fetch: " + e.URL + ": " + e.Err.Error() }

// RequestURL returns e.URL.
func (e *RequestError) RequestURL() string { return e.URL }

// RetryAfter returns e.RetryAt.
func (e *RequestError) RetryAfter() time.Time { return e.RetryAt }

// Unwrap returns e.Kind and e.Err.
func (e *RequestError) Unwrap() []error {
	if e.Kind == nil {
		return []error{e.Err}
	}
	return []error{e.Kind, e.Err}
}

// refused returns the error of a request that is not made.
func refused(url, format string, args ...any) *RequestError {
	return &RequestError{URL: websync.RedactURL(url), Kind: harvest.ErrForbidden, Err: fmt.Errorf(format, args...)}
}
