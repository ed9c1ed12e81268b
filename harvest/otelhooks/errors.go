package otelhooks

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// words are the values of error.type. An error that matches several has the first.
var words = []struct {
	err  error
	word string
}{
	{context.Canceled, "canceled"},
	{context.DeadlineExceeded, "timeout"},
	{harvest.ErrHeld, "held"},
	{harvest.ErrFenced, "fenced"},
	{harvest.ErrNewer, "newer"},
	{harvest.ErrCorrupt, "corrupt"},
	{harvest.ErrNotYet, "not_yet"},
	{harvest.ErrForbidden, "forbidden"},
	{websync.ErrMismatch, "mismatch"},
	{websync.ErrNotDocument, "not_document"},
	{websync.ErrTruncated, "truncated"},
	{websync.ErrLimit, "limit"},
	{websync.ErrGone, "gone"},
	{websync.ErrNotFound, "not_found"},
	{websync.ErrConflict, "conflict"},
}

// errorType returns the value of error.type: the status of an answer, or a word.
func errorType(err error) string {
	var answer interface{ StatusCode() int }
	if errors.As(err, &answer) {
		return strconv.Itoa(answer.StatusCode())
	}
	for _, w := range words {
		if errors.Is(err, w.err) {
			return w.word
		}
	}
	var late interface{ Timeout() bool }
	switch {
	case errors.As(err, &late) && late.Timeout():
		return "timeout"
	case errors.Is(err, harvest.ErrTemporary):
		return "temporary"
	}
	return semconv.ErrorTypeOther.Value.AsString()
}

// withError adds the error.type of an error, if there is one.
func withError(attrs []attribute.KeyValue, err error) []attribute.KeyValue {
	if err == nil {
		return attrs
	}
	return append(attrs, semconv.ErrorTypeKey.String(errorType(err)))
}

// requestError returns the error.type of a request, empty if it succeeded.
func requestError(a *harvest.AttemptInfo) string {
	switch {
	case a.Status >= 400:
		return strconv.Itoa(a.Status)
	case a.Err != nil:
		return errorType(a.Err)
	}
	return ""
}

// hostOf returns the name and the port of a host that is a scheme, a name and perhaps a
// port.
func hostOf(host string) (address string, port int) {
	u, err := url.Parse(host)
	if err != nil {
		return "", 0
	}
	port, err = strconv.Atoi(u.Port())
	switch {
	case err == nil:
	case u.Scheme == "https":
		port = 443
	case u.Scheme == "http":
		port = 80
	}
	return u.Hostname(), port
}
