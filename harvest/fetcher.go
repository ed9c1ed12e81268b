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
// State key, that changed since its last call, such as robots.txt: the engine stores them
// with its next Update. Waiting() map[string]time.Time returns the hosts that the Fetcher
// waits for, and until when; zero if that is not known.
type Fetcher interface {
	// Fetch gets one representation. It waits as long as politeness demands. It returns a
	// Response for success and for "not modified"; every other answer is an error, which
	// names the URL without its secrets. The caller closes Response.Body. Fetch does not
	// store validators.
	Fetch(ctx context.Context, req *Request) (*Response, error)
}

// A Request asks for one representation.
type Request struct {
	URL string // required
	// Root is the URL that the user named as the source. Only its host may have a private
	// address. The engine sets it, unless it knows no such URL of the Source.
	Root string
	// SameHost allows requests to the host of Root only, by its name, with any scheme and
	// port; to others, redirects included, they are ErrForbidden. The engine sets it if
	// Harvester.SameHost is.
	SameHost bool
	// Source is the key of the source, and List is set for a document of the Source
	// rather than a body. Began is when the run began: a Fetcher may leave a host alone
	// for the rest of a run. The engine sets all three.
	Source string
	List   bool
	Began  time.Time
	Accept string // the header; if empty, none is sent
	// Header holds further headers, but no credentials: the Fetcher binds those to hosts.
	Header    map[string][]string
	Validator Validator // if set, the request is conditional
	// Identity asks for the bytes without transfer compression, of which a stated length
	// and digest are, unless an encoding is stated, too.
	Identity bool
	// MaxBytes limits the body after decompression. If zero, it is the Fetcher's default;
	// if negative, there is no limit. A longer body is websync.ErrLimit.
	MaxBytes int64
	// Interval is the least time between two requests to any host that the request goes
	// to, redirects included. Like a Crawl-delay it holds for all later requests. If
	// zero, the Fetcher's own interval holds, as it does if it is longer.
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
	// Body is decompressed, and nil if NotModified. It ends in io.EOF only if it is
	// complete, but see MayBeCut. It may have a method Sent(w io.Writer) bool, to be called
	// before the first Read: it reports whether Body decodes a content coding, and makes it
	// write the bytes that were sent to w (see websync.Link.Verify).
	Body   io.ReadCloser
	Length int64 // of Body; if not known, -1
	// MayBeCut is set if only the end of the connection ended the answer, which had
	// neither a length nor chunks. A truncated body then looks complete. Such an answer
	// has no Validator.
	MayBeCut bool
}

// header returns the first value of a header, whose name is in canonical form.
func (r *Response) header(name string) string {
	if v := r.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// A Validator identifies one representation as its server sent it, for conditional
// requests.
type Validator struct {
	URL          string // of the request that it answers
	ETag         string // with its quotes and, if it is weak, W/
	LastModified string // the header's text
}

// IsZero reports whether v can't make a request conditional.
func (v Validator) IsZero() bool { return v.ETag == "" && v.LastModified == "" }

// Errors of a Fetcher match these with errors.Is, and [websync.ErrGone] if the server has
// nothing at the URL (404, 410).
var (
	// ErrForbidden: robots.txt, the address guard or the server does not allow the
	// request.
	ErrForbidden = errors.New("not allowed")
	// ErrTemporary: a later attempt may succeed.
	ErrTemporary = errors.New("temporary")
	// ErrNotYet: the host may not be asked yet. It does not count as an attempt.
	ErrNotYet = errors.New("host is not to be asked yet")
)

// A LeftAloneError reports that a host has refused so many requests in a row that the run
// leaves it alone. It matches ErrNotYet and ErrTemporary, also if the request was made:
// what the run has of the host is left as tasks, and no attempt is counted. If 512
// resources in a row are on such hosts, the run gets no more. The next run begins with
// one request.
type LeftAloneError struct {
	Host     string    `json:"host"`              // scheme, name and port
	Refusals int       `json:"refusals"`          // in a row
	Status   int       `json:"status"`            // of the last refusal: 429 or 503
	RetryAt  time.Time `json:"retry_at,omitzero"` // by its Retry-After; zero: not stated
	Answered bool      `json:"-"`                 // the request was made, and is the last refusal
}

func (e *LeftAloneError) Error() string {
	const message = "%s refused %d requests in a row, the last with status %d, and is left alone until the next run"
	text := fmt.Sprintf(message, e.Host, e.Refusals, e.Status)
	if !e.RetryAt.IsZero() {
		text += ", not before " + e.RetryAt.UTC().Format(time.RFC3339)
	}
	return text
}

func (e *LeftAloneError) Is(target error) bool { return target == ErrNotYet || target == ErrTemporary }

// StatusCode returns Status if the request was made; otherwise 0.
func (e *LeftAloneError) StatusCode() int {
	if e.Answered {
		return e.Status
	}
	return 0
}

// RetryAfter returns the time before which not to ask the server again, if err or an
// error that it wraps has a method RetryAfter() time.Time that returns one.
func RetryAfter(err error) (time.Time, bool) {
	var r interface{ RetryAfter() time.Time }
	if errors.As(err, &r) {
		t := r.RetryAfter()
		return t, !t.IsZero()
	}
	return time.Time{}, false
}
