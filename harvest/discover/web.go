package discover

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
)

type key = docfetch.Key

func keyOf(url string) key { return docfetch.KeyOf(url) }

// accept is the Accept header of all requests: what can be harvested, and what leads to
// it.
const accept = "application/atom+xml, application/xml;q=0.9, text/xml;q=0.9, " +
	"application/rss+xml;q=0.8, application/feed+json;q=0.8, " +
	"text/html;q=0.7, application/xhtml+xml;q=0.7, text/plain;q=0.6, */*;q=0.5"

// A web asks for documents, each once and not too many, and keeps the answers. It is a
// Fetcher for those packages that look for more of their own documents.
type web struct {
	fetcher  harvest.Fetcher
	root     string // the URL that the user named
	left     int    // requests; if negative, there is no limit
	maxBytes int64  // of each document; if negative, there is no limit
	answers  map[key]*answer
	order    []*answer    // as asked for
	buffer   bytes.Buffer // of the document that is being read
}

// An answer is the beginning of a document, and what is known of it.
type answer struct {
	url         string
	final       string // after redirects
	header      map[string][]string
	contentType string
	body        []byte
	cut         error          // why the body ends before the document does; if nil, it is whole
	head        []webpage.Link // links of a web page

	err   error  // why there is no document
	fault error  // of the document
	what  string // it is
}

var (
	errRequests = fmt.Errorf("not asked for, because of MaxRequests: %w", websync.ErrLimit)
	errScheme   = errors.New("not on the web")
	errBytes    = fmt.Errorf("read no further than MaxBytes: %w", websync.ErrLimit)
)

// get returns the answer for a URL.
func (w *web) get(ctx context.Context, url string) *answer {
	if a, ok := w.answers[keyOf(url)]; ok {
		return a
	}
	a := &answer{url: url, final: url}
	if a.err = ctx.Err(); a.err == nil && syntax.HTTPHost(url) == 0 {
		a.err = errScheme
	}
	if a.err != nil {
		return a
	}
	w.answers[keyOf(url)] = a
	w.order = append(w.order, a)
	if w.left == 0 {
		a.err = errRequests
		return a
	}
	w.left--
	resp, err := w.fetcher.Fetch(ctx, &harvest.Request{URL: url, Root: w.root, Accept: accept, MaxBytes: -1})
	switch {
	case err != nil:
		a.err = err
		return a
	case resp.Body == nil:
		return a
	}
	defer resp.Body.Close()
	a.final, a.header, a.contentType = cmp.Or(resp.URL, url), resp.Header, docfetch.ContentType(resp.Header)
	if _, ok := w.answers[keyOf(a.final)]; !ok {
		w.answers[keyOf(a.final)] = a
	}
	a.body, a.cut = w.read(resp.Body)
	return a
}

// read reads a body up to the limit.
func (w *web) read(src io.Reader) ([]byte, error) {
	if w.maxBytes >= 0 {
		src = io.LimitReader(src, w.maxBytes+1)
	}
	w.buffer.Reset()
	_, err := w.buffer.ReadFrom(src)
	body := bytes.Clone(w.buffer.Bytes())
	if w.maxBytes >= 0 && int64(len(body)) > w.maxBytes {
		return body[:w.maxBytes], errBytes
	}
	return body, err
}

// reader returns a Reader of the document. If only its beginning was read, the Reader
// ends with an error.
func (a *answer) reader() *cutReader { return &cutReader{bytes.NewReader(a.body), a.cut} }

// A cutReader ends with an error, unless that is nil.
type cutReader struct {
	*bytes.Reader
	end error
}

func (r *cutReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == io.EOF && r.end != nil {
		err = r.end
	}
	return n, err
}

func (r *cutReader) Close() error { return nil }

// noteFault notes why a document can't be read to its end, unless nobody wanted to.
func (a *answer) noteFault(err error) {
	if err != nil && err != io.EOF && !errors.Is(err, errBytes) {
		a.fault = err
	}
}

// is notes what a document is.
func (a *answer) is(format string, args ...any) { a.what = fmt.Sprintf(format, args...) }

// Fetch implements [harvest.Fetcher]. The body of a document that is longer than MaxBytes
// ends with an error.
func (w *web) Fetch(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
	a := w.get(ctx, req.URL)
	if a.err != nil {
		return nil, a.err
	}
	return &harvest.Response{URL: a.final, Status: 200, Header: a.header, Body: a.reader(), Length: -1}, nil
}

// onHost returns the URL of a path on the host of a URL.
func onHost(at, path string) string {
	_, end := syntax.SplitHTTP(at)
	return at[:end] + path
}
