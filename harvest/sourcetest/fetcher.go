package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/spool"
)

// A Fetcher serves a Site without a network. It answers as package fetch does: with
// status errors that match [websync.ErrGone] and its like, "not modified" to conditional
// requests, spools, and errors for bodies that are too long or break off. It keeps a log
// and knows what was not closed. It may be used by many goroutines at once.
type Fetcher struct {
	// Site is what it serves. It is not changed while the Fetcher is in use.
	Site Site

	// Hook, if set, is called with each request, counted from 1, and with what the Site
	// has at its URL, redirects not followed. What it returns is served instead. It may
	// wait.
	Hook func(ctx context.Context, n int, req *harvest.Request, doc Document) (Document, error)

	mu        sync.Mutex
	exchanges []Exchange
	streams   map[*stream]bool
	spools    []spooled
}

var _ harvest.Fetcher = (*Fetcher)(nil)

// An Exchange is one request and the status of its answer: 200, 304 and so on; 0 while
// there is none.
type Exchange struct {
	URL    string
	Status int
}

// Exchanges returns all requests so far, oldest first.
func (f *Fetcher) Exchanges() []Exchange {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.exchanges)
}

// Open returns how many bodies are not closed: streams, which in a network would hold a
// connection, and spools.
func (f *Fetcher) Open() (streams, spools int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.spools {
		if s.open() {
			spools++
		}
	}
	return len(f.streams), spools
}

// openStreams is Open for streams alone.
func (f *Fetcher) openStreams() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.streams)
}

// Fetch implements [harvest.Fetcher].
func (f *Fetcher) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	f.mu.Lock()
	f.exchanges = append(f.exchanges, Exchange{URL: req.URL})
	n := len(f.exchanges)
	f.mu.Unlock()
	resp, err := f.answer(ctx, n, req)
	f.mu.Lock()
	defer f.mu.Unlock()
	var status *answerError
	switch {
	case err == nil:
		f.exchanges[n-1].Status = resp.Status
	case errors.As(err, &status):
		f.exchanges[n-1].Status = status.status
	}
	return resp, err
}

func (f *Fetcher) answer(ctx context.Context, n int, req *harvest.Request) (*harvest.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	doc := f.Site.at(req.URL)
	var err error
	if f.Hook != nil {
		if doc, err = f.Hook(ctx, n, req, doc); err != nil {
			return nil, err
		}
	}
	final, doc, err := f.Site.find(req.URL, doc)
	switch {
	case err != nil:
		return nil, &answerError{url: final, err: err}
	case doc.Err != nil:
		return nil, &answerError{url: final, err: doc.Err}
	case doc.Status != 0 && doc.Status != 200:
		return nil, &answerError{url: final, status: doc.Status, err: fmt.Errorf("status %d", doc.Status)}
	}
	resp := &harvest.Response{URL: final, Status: 200, Header: doc.header(), Length: -1}
	resp.Validator = harvest.Validator{URL: req.URL, ETag: doc.ETag, LastModified: doc.LastModified}
	if holds(req, &doc) {
		resp.Status, resp.NotModified = 304, true
		return resp, nil
	}
	if err := f.body(resp, req, &doc); err != nil {
		return nil, &answerError{url: final, err: err}
	}
	return resp, nil
}

// holds reports whether the validator of a request still holds (RFC 9110 §13.1).
func holds(req *harvest.Request, doc *Document) bool {
	v := req.Validator
	if v.ETag != "" {
		weak := func(tag string) string { return strings.TrimPrefix(tag, "W/") }
		return doc.ETag != "" && weak(v.ETag) == weak(doc.ETag)
	}
	return v.LastModified != "" && v.LastModified == doc.LastModified
}

// body gives a response its body.
func (f *Fetcher) body(resp *harvest.Response, req *harvest.Request, doc *Document) error {
	s := &stream{f: f, text: strings.NewReader(doc.Body), end: io.EOF}
	if doc.Broken {
		s.end = fmt.Errorf("body: %w", websync.ErrTruncated)
	} else {
		resp.Length = int64(len(doc.Body))
	}
	if req.MaxBytes > 0 && int64(len(doc.Body)) > req.MaxBytes {
		s.text = strings.NewReader(doc.Body[:req.MaxBytes])
		s.end = fmt.Errorf("body: %w", websync.ErrLimit)
	}
	if req.Spool {
		spool, err := spool.Read(s, 0)
		if err != nil {
			return err
		}
		resp.Body, resp.Length = f.watch(spool), spool.Size()
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.streams == nil {
		f.streams = map[*stream]bool{}
	}
	f.streams[s] = true
	resp.Body = s
	return nil
}

// A stream is a body that comes over the network.
type stream struct {
	f    *Fetcher
	text io.Reader
	end  error
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.text.Read(p)
	if err == io.EOF {
		err = s.end
	}
	return n, err
}

func (s *stream) Close() error {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	delete(s.f.streams, s)
	return nil
}

// A spooled is a spool that was given out. Closing a Spool takes its reader away: it is
// open as long as it has the one that it was given here.
type spooled struct {
	*spool.Spool
	reader *watched
}

type watched struct{ io.ReadSeeker }

func (f *Fetcher) watch(s *spool.Spool) *spool.Spool {
	w := &watched{s.ReadSeeker}
	s.ReadSeeker = w
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spools = append(f.spools, spooled{s, w})
	return s
}

func (s spooled) open() bool { return s.ReadSeeker == s.reader }

// errNoAnswer and errRedirects are answers that are none.
var (
	errNoAnswer  = fmt.Errorf("no connection: %w", harvest.ErrTemporary)
	errRedirects = errors.New("too many redirects")
)

// An answerError is an answer that is not a success. It matches what errors of package
// fetch say.
type answerError struct {
	url    string
	status int // 0: none
	err    error
}

func (e *answerError) Error() string      { return e.url + ": " + e.err.Error() }
func (e *answerError) Unwrap() error      { return e.err }
func (e *answerError) StatusCode() int    { return e.status }
func (e *answerError) RequestURL() string { return e.url }

func (e *answerError) Is(target error) bool {
	switch target {
	case websync.ErrGone:
		return e.status == 404 || e.status == 410
	case harvest.ErrForbidden:
		return e.status == 401 || e.status == 403
	case harvest.ErrTemporary:
		return e.status == 429 || e.status >= 500
	}
	return false
}
