package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A Fetcher serves a Site without a network. It answers as package fetch does: its status
// errors match [websync.ErrGone] and the like, conditional requests get "not modified",
// and a body that is too long or breaks off ends in an error. It logs its requests and
// counts the bodies that are not closed. It may be used by many goroutines at once.
type Fetcher struct {
	// Site is what it serves. It must not change while the Fetcher is in use.
	Site Site

	// Hook, if set, is called with each request, counted from 1, and with what the Site
	// has at its URL before redirects. What it returns is served instead. It may wait.
	Hook func(ctx context.Context, n int, req *harvest.Request, doc Document) (Document, error)

	mu        sync.Mutex
	exchanges []Exchange
	open      map[*stream]bool // true: a spool
}

var _ harvest.Fetcher = (*Fetcher)(nil)

// An Exchange is one request and the status of its answer: 200, 304 and so on; 0 while
// there is no answer.
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

// Open returns how many bodies are not closed: streams, which would hold a connection in
// a network, and spools.
func (f *Fetcher) Open() (streams, spools int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, spooled := range f.open {
		if spooled {
			spools++
		}
	}
	return len(f.open) - spools, spools
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
	if e, ok := err.(*answerError); ok {
		f.exchanges[n-1].Status = e.status
	} else if err == nil {
		f.exchanges[n-1].Status = resp.Status
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
	if holds(req.Validator, &doc) {
		resp.Status, resp.NotModified = 304, true
		return resp, nil
	}
	if err := f.body(resp, req, &doc); err != nil {
		return nil, &answerError{url: final, err: err}
	}
	return resp, nil
}

// holds reports whether a validator holds for a document (RFC 9110 §13.1).
func holds(v harvest.Validator, doc *Document) bool {
	if v.ETag != "" {
		return doc.ETag != "" && strings.TrimPrefix(v.ETag, "W/") == strings.TrimPrefix(doc.ETag, "W/")
	}
	return v.LastModified != "" && v.LastModified == doc.LastModified
}

// body sets the Body and the Length of a response.
func (f *Fetcher) body(resp *harvest.Response, req *harvest.Request, doc *Document) error {
	s := &stream{f: f, text: strings.NewReader(doc.Body), end: io.EOF}
	if doc.Broken {
		s.end = fmt.Errorf("body: %w (%w)", websync.ErrTruncated, harvest.ErrTemporary)
	} else {
		resp.Length = int64(len(doc.Body))
	}
	if req.MaxBytes > 0 && int64(len(doc.Body)) > req.MaxBytes {
		s.text = strings.NewReader(doc.Body[:req.MaxBytes])
		s.end = fmt.Errorf("body: %w", websync.ErrLimit)
	}
	resp.Body = s
	if req.Spool {
		if s.end != io.EOF {
			return s.end
		}
		resp.Body = spooled{s, s.text}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = map[*stream]bool{}
	}
	f.open[s] = req.Spool
	return nil
}

// A stream is a body that comes over the network.
type stream struct {
	f    *Fetcher
	text *strings.Reader
	end  error // after the last byte
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
	delete(s.f.open, s)
	s.text.Reset("")
	return nil
}

// A spooled is a body that was read before Fetch returned.
type spooled struct {
	*stream
	io.Seeker
}

var errNoAnswer = fmt.Errorf("no connection: %w", harvest.ErrTemporary)

// An answerError is an answer that is not a success. It matches the same errors as those
// of package fetch.
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

// A Site is what a publisher serves at one moment: documents by URL. Every other URL is
// answered with status 404.
type Site map[string]Document

// A Document is what a Site has at one URL.
type Document struct {
	// Body is what comes with status 200.
	Body string

	// Status of the answer. If zero, it is 200. With every other status the Fetcher
	// returns an error.
	Status int

	// Header of the answer, by canonical names: Content-Type, Date and so on.
	Header map[string][]string

	// ETag, with its quotes, and LastModified are sent as headers and make conditional
	// requests possible. If empty, they are not sent.
	ETag, LastModified string

	// Location, if set, is the URL that the answer redirects to; it may be relative.
	Location string

	// Broken: the connection breaks off after Body, which is not all of the document.
	Broken bool

	// Err, if set, is the error that the Fetcher returns.
	Err error
}

// find follows redirects from address and returns the URL at the end of them, and what is
// there.
func (s Site) find(address string, doc Document) (string, Document, error) {
	for range 10 {
		if doc.Location == "" {
			return address, doc, nil
		}
		next, err := url.Parse(address)
		if err == nil {
			next, err = next.Parse(doc.Location)
		}
		if err != nil {
			return address, doc, err
		}
		address = next.String()
		doc = s.at(address)
	}
	return address, doc, errors.New("too many redirects")
}

// at returns what is at a URL, before redirects.
func (s Site) at(address string) Document {
	if doc, ok := s[address]; ok {
		return doc
	}
	return Document{Status: 404}
}

// header returns a new map of all headers.
func (d *Document) header() map[string][]string {
	h := map[string][]string{}
	maps.Copy(h, d.Header)
	for name, value := range map[string]string{"Etag": d.ETag, "Last-Modified": d.LastModified} {
		if value != "" {
			h[name] = []string{value}
		}
	}
	return h
}

// A Failure is a way in which the answer for a document can fail.
type Failure uint8

const (
	NotThere    Failure = iota // status 404
	ServerError                // status 500
	NoAnswer                   // no connection, this time
	Broken                     // the connection breaks off half-way
	Cut                        // status 200, and only the first half, as if it were all
	Empty                      // status 200 without a byte
	LoginPage                  // status 200 with an HTML page
	Redirected                 // a redirect to another document that the pass reads
	Mistaken                   // status 200 with the bytes of that other document
)

var failures = [...]string{
	NotThere:    "404",
	ServerError: "500",
	NoAnswer:    "no answer",
	Broken:      "broken connection",
	Cut:         "cut in half",
	Empty:       "empty",
	LoginPage:   "login page",
	Redirected:  "redirected to another document",
	Mistaken:    "another document's bytes",
}

var everyFailure = []Failure{NotThere, ServerError, NoAnswer, Broken, Cut, Empty, LoginPage, Redirected, Mistaken}

// String returns the failure in a few words.
func (f Failure) String() string { return failures[f] }

// of returns the answer that replaces the document d of a site. Other is the URL of
// another one.
func (f Failure) of(d Document, site Site, other string) Document {
	half := d.Body[:len(d.Body)/2]
	return [...]Document{
		NotThere:    {Status: 404},
		ServerError: {Status: 500},
		NoAnswer:    {Err: errNoAnswer},
		Broken:      {Body: half, Header: d.Header, Broken: true},
		Cut:         {Body: half, Header: d.Header},
		Empty:       {Header: d.Header},
		LoginPage:   {Body: loginPage, Header: map[string][]string{"Content-Type": {"text/html; charset=utf-8"}}},
		Redirected:  {Location: other},
		Mistaken:    site.at(other),
	}[f]
}

const loginPage = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in</title><link rel="stylesheet" href="/style.css"></head>
<body><h1>Sign in</h1><p>Your session has ended. <a href="https://example.com/help">Help</a></p>
<form method="post" action="/login"><input name="user"><input name="password" type="password"><br><button>Go</button></form>
</body></html>
`
