package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
)

// A source is a document while it is checked.
type source struct {
	Input
	document *Document

	space    string // the namespace of the root element
	local    string // its name
	relation string // dct:relation of the root; empty: none
	release  func() error
}

func (s *source) close() {
	if s.release != nil {
		s.release() // an error loses nothing
		s.release = nil
	}
}

// open makes a document ready to be read, several times, and looks at its root element.
func (k *check) open(s *source) error {
	s.document.Name, s.document.Kind = s.Name, "unknown"
	var err error
	switch {
	case s.Name == "":
		err = errNoInput
	case s.Open == nil:
		err = k.fetchDocument(s)
	}
	if s.URL == "" && syntax.HTTPHost(s.Name) > 0 {
		s.URL = s.Name
	}
	s.document.URL = s.URL
	if err == nil {
		err = k.peek(s)
	}
	if err != nil {
		s.document.Error = err.Error()
	}
	return err
}

// fetchDocument fetches a document to its end.
func (k *check) fetchDocument(s *source) error {
	resp, err := k.Fetcher.Fetch(k.ctx, &harvest.Request{URL: s.Name, Root: k.rootFor(s.Name), Spool: true,
		MaxBytes: cmp.Or(k.MaxBytes, document.DefaultBytes)})
	if err != nil {
		return err
	}
	held, err := docfetch.Spooled(resp.Body)
	if err != nil {
		return err
	}
	s.release = held.Close
	s.URL, s.ContentType, s.Modified = resp.URL, docfetch.ContentType(resp.Header), docfetch.Time(resp, "Last-Modified")
	s.Open = func() (io.ReadCloser, error) {
		_, err := held.Seek(0, io.SeekStart)
		return io.NopCloser(held), err
	}
	return nil
}

// rootFor returns the Root of a request: the URL that the user named on the host of url,
// or else that of the sitemap.
func (k *check) rootFor(url string) string {
	there, _ := syntax.OriginOf(url)
	for _, named := range []string{k.Sitemap.Name, k.Feed.Name, k.Page.Name} {
		if here, _ := syntax.OriginOf(named); here != "" && here == there {
			return named
		}
	}
	if syntax.HTTPHost(k.Sitemap.Name) > 0 {
		return k.Sitemap.Name
	}
	return ""
}

// peek reads the start tag of the root element. It returns an error only if the document
// can't be opened: what reads it reports all else.
func (k *check) peek(s *source) error {
	src, err := s.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	d := document.Document{
		Kind: document.Kind{Format: "conformance", Name: "XML", Else: "not XML"}, URL: s.Name, ContentType: s.ContentType,
		Report: func(document.Departure, int, int, []byte, string) {},
	}
	if d.Open(src, 0) != nil {
		return nil
	}
	x, err := d.XML()
	if err != nil {
		return nil
	}
	s.space, s.local = x.Name().Space, x.Name().Local
	for _, a := range x.Attrs() {
		if a.Name.Space == "http://purl.org/dc/terms/" && a.Name.Local == "relation" {
			s.relation = string(a.Value)
		}
	}
	return nil
}

// read opens a document and passes its bytes to a function.
func (s *source) read(do func(io.Reader) error) error {
	src, err := s.Open()
	if err != nil {
		return err
	}
	err = do(src)
	return errors.Join(err, src.Close())
}

// unreadable returns why a document can't be read, for a message.
func unreadable(err error) string {
	switch {
	case errors.Is(err, errNoInput):
		return "there is none"
	case errors.Is(err, websync.ErrGone):
		return "the server has nothing there"
	}
	return fmt.Sprintf("it can't be read: %v", err)
}
