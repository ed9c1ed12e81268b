package harvest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// A Fetcher gets documents and bodies for Sources and the engine; package fetch has the
// one for HTTP. Several goroutines use it at the same time.
//
// A Fetcher may have two more methods. Unsaved() map[string][]byte returns the values, by
// State key, that changed since its last call, such as robots.txt and the gates of hosts:
// the engine calls it before each Commit and adds them to the Batch. Waiting()
// map[string]time.Time returns the hosts that the Fetcher waits for now, and until when;
// the zero Time means that this is not known.
type Fetcher interface {
	// Fetch gets one representation. It waits as long as politeness demands. It returns a
	// Response for success and for "not modified"; every other answer is an error, which
	// names the URL without its secrets. The caller closes Response.Body. Fetch does not
	// store validators.
	Fetch(ctx context.Context, req *Request) (*Response, error)
}

// A Request asks for one representation.
type Request struct {
	// URL to get.
	URL string
	// Root is the URL that the user named as the source. Only its host may have a private
	// address. The engine sets it.
	Root string
	// Source is the key of the source, and List is set for a document of the Source
	// rather than a body. The engine sets them, for those who observe requests.
	Source string
	List   bool
	// Began is when the run began. The engine sets it. A Fetcher may give up a host for
	// all requests of a run: see LeftAloneError.
	Began time.Time
	// Accept is the Accept header. If empty, none is sent.
	Accept string
	// Header holds further headers. Credentials do not belong here: they are bound to
	// hosts, in the Fetcher.
	Header map[string][]string
	// Validator, if set, makes the request conditional.
	Validator Validator
	// Identity asks for the bytes without transfer compression, so that a stated length
	// or digest can be verified.
	Identity bool
	// MaxBytes limits the body, after decompression. If zero, it is the Fetcher's
	// default; if negative, there is no limit. A longer body is ErrLimit.
	MaxBytes int64
	// Interval is the least time between two requests to a host that the request goes to,
	// redirects included, if the Fetcher's own is shorter. Like a Crawl-delay in
	// robots.txt it holds for all later requests to the host. If zero, the request asks
	// for none.
	Interval time.Duration
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
	Validator   Validator // of Body; if NotModified, that of the Request stays
	// decompressed; nil when NotModified; ends in io.EOF only if it is complete, but see
	// MayBeCut
	Body   io.ReadCloser
	Length int64 // of Body; if not known, -1

	// MayBeCut is set if the answer had neither a length nor chunks, so that only the end
	// of the connection ended it. A truncated body then looks complete. Such an answer
	// has no Validator.
	MayBeCut bool
}

// A Validator identifies one representation as its server sent it. With it a later
// request asks whether the representation has changed.
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
	// ErrForbidden: robots.txt, the address guard or the server does not allow the
	// request.
	ErrForbidden = errors.New("not allowed")
	// ErrTemporary: a later attempt may succeed.
	ErrTemporary = errors.New("temporary")
	// ErrNotYet: no request was made, because the host may not be asked yet. It does not
	// count as an attempt.
	ErrNotYet = errors.New("host is not to be asked yet")
)

// A LeftAloneError: the host has refused so many requests in a row that the run leaves it
// alone. It matches ErrNotYet and ErrTemporary: it is no failed attempt at the resource,
// also if the request was made and refused. The engine stores what is left as tasks, ends
// getting, and reports the host. The next run begins with one request.
type LeftAloneError struct {
	Host     string    `json:"host"`              // scheme, name and port
	Refusals int       `json:"refusals"`          // in a row
	Status   int       `json:"status"`            // of the last refusal: 429 or 503
	RetryAt  time.Time `json:"retry_at,omitzero"` // by its Retry-After; zero: not stated
	Answered bool      `json:"-"`                 // the request was made, and is the last refusal
}

// Error returns, for example, "https://example.org refused 5 requests in a row, the last
// with status 429, and is left alone until the next run".
func (e *LeftAloneError) Error() string {
	text := fmt.Sprintf("%s refused %d requests in a row, the last with status %d, and is left alone until the next run", e.Host, e.Refusals, e.Status)
	if !e.RetryAt.IsZero() {
		text += ", not before " + e.RetryAt.UTC().Format(time.RFC3339)
	}
	return text
}

// Is lets errors.Is match ErrNotYet and ErrTemporary.
func (e *LeftAloneError) Is(target error) bool { return target == ErrNotYet || target == ErrTemporary }

// StatusCode returns Status if the request was made; otherwise 0.
func (e *LeftAloneError) StatusCode() int {
	if e.Answered {
		return e.Status
	}
	return 0
}

// RetryAfter returns the time before which the server is not to be asked again, if err or
// an error that it wraps has a method RetryAfter() time.Time that returns one.
func RetryAfter(err error) (time.Time, bool) {
	var r interface{ RetryAfter() time.Time }
	if errors.As(err, &r) {
		t := r.RetryAfter()
		return t, !t.IsZero()
	}
	return time.Time{}, false
}
