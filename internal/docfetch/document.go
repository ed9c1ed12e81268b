package docfetch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"time"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/spool"
	"github.com/websync-go/websync/internal/syntax"
)

// DefaultDocuments is how many documents a Source reads in a run if nothing else is set.
const DefaultDocuments = 50_000

// A Document is one document of a set, as its server sent it.
type Document struct {
	URL         string              // as requested
	AsSent      bool                // it is got in the content coding in which it is sent
	Final       string              // after redirects; empty until there is an answer
	Validators                      // of the answer
	Date        time.Time           // by the server's clock; zero if not stated
	ContentType string              // of the answer; empty if not stated
	MayBeCut    bool                // as in harvest.Response
	Header      map[string][]string // of the answer; nil after Load
	NotModified bool
	Skipped     int               // entries that are unreadable, or may be lost
	Body        io.ReadSeekCloser // nil if there is none
}

// Validators are the ETag and the Last-Modified of a document. They make a later request
// conditional.
type Validators struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"modified,omitempty"`
}

// IsZero reports whether v can't make a request conditional.
func (v Validators) IsZero() bool { return v == Validators{} }

// Kept returns v as a checkpoint keeps it: zero if one of them is longer than 512 bytes,
// or is not UTF-8, which JSON can't hold.
func (v Validators) Kept() Validators {
	const most = 512 // bytes
	for _, s := range []string{v.ETag, v.LastModified} {
		if len(s) > most || !utf8.ValidString(s) {
			return Validators{}
		}
	}
	return v
}

// An Error is an error of one document: the others can be read.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// IsOfDocument reports whether err is an [*Error].
func IsOfDocument(err error) bool {
	var e *Error
	return errors.As(err, &e)
}

// Load fetches a document as Get does, calls check, which must read the body to its end,
// and rewinds the body for yielding the entries. check reports the faults of the document
// and counts Skipped; Load returns its error. If file is not nil, the body is stored
// there and is valid as long as file is. After an error, or if the document is not
// modified, there is no Body.
func (p *Pass) Load(
	ctx context.Context, d *Document, known Validators, maxBytes int64, file *spool.File, check func() error,
) error {
	err := p.Get(ctx, d, known, maxBytes)
	if err != nil || d.NotModified {
		return err
	}
	d.Header = nil // documents may be held, and many of them
	if file != nil {
		var at spool.Span
		at, err = file.Append(d.Body)
		err = errors.Join(err, d.Close())
		d.Body = section{file.Section(at)}
	}
	if err == nil {
		err = check()
	}
	if err == nil {
		err = p.Rewind(d)
	}
	if err != nil {
		d.Close()
	}
	return err
}

// A section is a body in a file that others share.
type section struct{ *io.SectionReader }

func (section) Close() error { return nil }

// Rewind goes back to the beginning of the body.
func (p *Pass) Rewind(d *Document) error {
	if _, err := d.Body.Seek(0, io.SeekStart); err != nil {
		return &Error{p.Named(d.URL, err)}
	}
	return nil
}

// Get fetches a whole document into memory or a temporary file. The request is
// conditional if known is not zero. If maxBytes is zero, it is 1 GiB; if negative, there
// is no limit. The error is an [*Error], or that of ctx. The caller closes d.
func (p *Pass) Get(ctx context.Context, d *Document, known Validators, maxBytes int64) error {
	var header map[string][]string
	if d.AsSent {
		header = map[string][]string{"Accept-Encoding": {"identity"}}
	}
	resp, err := p.Fetcher.Fetch(ctx, &harvest.Request{
		URL:       d.URL,
		Header:    header,
		Accept:    p.Accept,
		Validator: harvest.Validator{URL: d.URL, ETag: known.ETag, LastModified: known.LastModified},
		MaxBytes:  cmp.Or(maxBytes, document.DefaultBytes),
		Spool:     true,
	})
	if ended := ctx.Err(); ended != nil {
		if err == nil && resp.Body != nil {
			resp.Body.Close()
		}
		return ended
	}
	if err != nil {
		return &Error{fmt.Errorf("%s: %w", p.Format, err)} // which names the URL
	}
	d.Final = cmp.Or(resp.URL, d.URL)
	d.Validators = Validators{resp.Validator.ETag, resp.Validator.LastModified}
	d.Date = Time(resp, "Date")
	d.ContentType, d.MayBeCut, d.Header = ContentType(resp.Header), resp.MayBeCut, resp.Header
	if d.NotModified = resp.NotModified; d.NotModified {
		return nil
	}
	if d.Body, err = Spooled(resp.Body); err != nil {
		return &Error{p.Named(d.URL, err)}
	}
	return nil
}

// Close closes the body.
func (d *Document) Close() error {
	if d.Body == nil {
		return nil
	}
	body := d.Body
	d.Body = nil
	return body.Close()
}

// Spooled returns the body of a response as one that can be read again.
func Spooled(body io.ReadCloser) (io.ReadSeekCloser, error) {
	if body == nil {
		return spool.Read(bytes.NewReader(nil), 0)
	}
	if s, ok := body.(io.ReadSeekCloser); ok {
		return s, nil
	}
	s, err := spool.Read(body, 0)
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	return s, nil
}

// Made returns the Last-Modified; zero if it is not stated.
func (v Validators) Made() time.Time {
	t, _ := time.Parse(HTTPDate, v.LastModified) // zero if there is an error
	return t
}

// HTTPDate is the layout of dates in headers (RFC 9110 §5.6.7).
const HTTPDate = "Mon, 02 Jan 2006 15:04:05 GMT"

// Time returns the time in a header, such as Date: the time of the server's clock. It is
// zero if there is none.
func Time(resp *harvest.Response, name string) (t time.Time) {
	if values := resp.Header[name]; len(values) > 0 {
		t, _ = time.Parse(HTTPDate, values[0]) // zero if there is an error
	}
	return t
}

// ContentType returns the media type that a header states, with its parameters; empty if
// it states none, or one that is longer than any that is meant.
func ContentType(header map[string][]string) string {
	const most = 1024 // bytes
	if types := header["Content-Type"]; len(types) > 0 && len(types[0]) <= most {
		return types[0]
	}
	return ""
}

// IsHTML reports whether a header says that the document is a web page.
func IsHTML(header map[string][]string) bool {
	for _, value := range header["Content-Type"] {
		if t, _, _ := mime.ParseMediaType(value); syntax.IsPage(t) {
			return true
		}
	}
	return false
}

// A partError is a failure to obtain a part of a resource, such as its metadata. It is
// never [websync.ErrGone]: the resource itself may still be there.
type partError struct {
	part, url string
	err       error
}

// NewPartError returns the error of a part of a resource, if err is not nil. part names the
// package and the part.
func NewPartError(part, url string, err error) error {
	if err == nil {
		return nil
	}
	return &partError{part, url, err}
}

func (e *partError) Error() string {
	return e.part + " " + websync.RedactURL(e.url) + ": " + e.err.Error()
}

// Is reports what errors.Is reports of the cause, except for [websync.ErrGone].
func (e *partError) Is(target error) bool {
	return target != websync.ErrGone && errors.Is(e.err, target)
}

// As does what errors.As does with the cause.
func (e *partError) As(target any) bool { return errors.As(e.err, target) }
