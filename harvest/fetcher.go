package harvest

import (
	"context"
	"errors"
	"io"
	"time"
)

// A Fetcher gets documents and bodies for Sources and the engine: package fetch has the
// one for HTTP. It is used by many goroutines at once.
type Fetcher interface {
	// Fetch gets one representation, waiting as long as politeness demands. A Response is
	// returned for success and for "not modified"; every other answer is an error, which
	// names the URL without its secrets. The caller closes Response.Body. Fetch never
	// keeps a validator.
	Fetch(ctx context.Context, req *Request) (*Response, error)
}

// A Keeper is a Fetcher that wants small values kept: gates of hosts, robots.txt. The
// engine takes what has changed before each Commit and lets it ride in the Batch.
type Keeper interface {
	Fetcher
	// Unsaved returns the values that changed since the last call, by State key.
	Unsaved() map[string][]byte
}

// A Waiter is a Fetcher that can tell which hosts it waits for right now.
type Waiter interface {
	Fetcher
	// Waiting returns the hosts, and until when each wait lasts; the zero Time, if that
	// is not known.
	Waiting() map[string]time.Time
}

// A Request asks for one representation.
type Request struct {
	// URL to get.
	URL string
	// Root is the URL that the user named as the source. Its own host may be private; no
	// other may. The engine fills it.
	Root string
	// Accept is the Accept header. Empty: none.
	Accept string
	// Header holds further headers. Credentials do not belong here: they are bound to
	// hosts, in the Fetcher.
	Header map[string][]string
	// Validator, if set, makes the request conditional.
	Validator Validator
	// Identity asks for the bytes without transfer compression, so that a stated length
	// or digest can be verified.
	Identity bool
	// MaxBytes limits the body, after decompression. 0: the Fetcher's default; negative:
	// none. More is ErrLimit.
	MaxBytes int64
	// Spool reads the whole body before Fetch returns, into memory or a temporary file.
	// Response.Body is then an io.ReadSeekCloser.
	Spool bool
}

// A Response is the answer to a Request.
type Response struct {
	URL         string // final, after redirects
	Status      int
	NotModified bool // the Validator of the Request still holds; there is no body
	Header      map[string][]string
	Validator   Validator     // of Body; when NotModified, that of the Request stays
	Body        io.ReadCloser // decompressed; nil when NotModified; ends in io.EOF only when it is whole, but see MayBeCut
	Length      int64         // of Body as far as it is known, otherwise -1

	// MayBeCut says that only the end of the connection ended the answer: it had neither
	// a length nor chunks. A body that was cut looks whole then. Such an answer has no
	// Validator.
	MayBeCut bool
}

// A Validator is what a server said about one representation, to ask later whether it
// still holds.
type Validator struct {
	URL          string // of the request that it answers
	ETag         string // with its quotes and, if it is weak, W/
	LastModified string // the header's text
}

// IsZero reports whether v can't make a request conditional.
func (v Validator) IsZero() bool { return v.ETag == "" && v.LastModified == "" }

// These errors, and [websync.ErrGone] for a URL at which the server has nothing (404,
// 410), decide what the engine does next. Errors of a Fetcher match them with errors.Is.
var (
	// ErrForbidden: the request was not made or not allowed: robots.txt, the address
	// guard, credentials.
	ErrForbidden = errors.New("not allowed")
	// ErrTemporary: a later attempt may succeed.
	ErrTemporary = errors.New("temporary")
	// ErrNotYet: no request was made, because the host may not be asked yet. It does not
	// count as an attempt.
	ErrNotYet = errors.New("host is not to be asked yet")
)

// RetryAfter returns the moment before which the server does not want to be asked again,
// if err or what it wraps says one, by a method RetryAfter() time.Time.
func RetryAfter(err error) (time.Time, bool) {
	var r interface{ RetryAfter() time.Time }
	if errors.As(err, &r) {
		t := r.RetryAfter()
		return t, !t.IsZero()
	}
	return time.Time{}, false
}
