package resourcesync

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/sitemap"
)

// A Reader streams the entries of one document of ResourceSync, of version 1.0 or 1.1,
// compressed with gzip or not. It holds one entry at a time.
//
// It reads liberally, as the [sitemap.Reader] in it does: it reports and reads over
// departures from the specifications, and a bad entry costs none of its neighbours. Where
// a value is in doubt, its text is in the field Faulty. A sitemap
// without any md is read, too; its Head has no Capability then.
//
// Reading ends early only if the document is no sitemap in XML, is cut short, is not
// well-formed or passes a limit. The error is then a [*websync.ParseError], which wraps
// [websync.ErrNotDocument], [websync.ErrTruncated] or [websync.ErrLimit] where one of
// them is the reason. A document without entries is no error.
//
// Set the fields before the first call.
type Reader struct {
	// Document is the URL or file name of the document. Findings and errors carry it. If
	// it is a URL, relative references are resolved against it.
	Document string

	// ContentType is as in sitemap.Reader.
	ContentType string

	// Report receives each departure from the specifications that does not stop the
	// Reader. If nil, they are dropped.
	Report func(websync.Finding)

	// Strict makes the first finding that is a warning or an error end reading with a
	// *websync.ParseError.
	Strict bool

	// MaxEntries, MaxBytes, MaxValue and MaxDepth are as in sitemap.Reader.
	MaxEntries         int
	MaxBytes           int64
	MaxValue, MaxDepth int

	// Now, if set, makes a lastmod more than a day after it a finding.
	Now time.Time

	sitemap *sitemap.Reader
	scan    *scanner
	ahead   *View // that Head has read, still to be returned
	begun   bool
	err     error // sticks
}

// NewReader returns a Reader of the document in r.
func NewReader(r io.Reader) *Reader { return &Reader{sitemap: sitemap.NewReader(r)} }

// Head returns the metadata of the document: what precedes its first entry, and what was
// read since. If nothing has been read yet, Head reads on to the first entry, and Next
// returns that later. The error is that of reading; the end of the document is none.
func (r *Reader) Head() (Head, error) {
	if !r.begun {
		r.ahead = r.advance()
	}
	h := r.scan.head
	h.Index, h.Elements = r.sitemap.Kind() == sitemap.Index, r.sitemap.Elements()
	if r.err == io.EOF {
		return h, nil
	}
	return h, r.err
}

// Skipped returns how many entries were left out so far, or may have been lost:
// [sitemap.Reader.Skipped].
func (r *Reader) Skipped() int { return r.sitemap.Skipped() }

// All returns an iterator over the remaining entries. It stops after the first error and
// can be ranged over once.
func (r *Reader) All() iter.Seq2[Entry, error] { return document.All(r.Next) }

// Next returns the next entry, or io.EOF at the end of the document. Errors stick.
func (r *Reader) Next() (Entry, error) {
	v, err := r.NextView()
	if err != nil {
		return Entry{}, err
	}
	return v.Clone(), nil
}

// NextView is like Next but returns a view, which is valid until the next call and
// allocates nothing.
func (r *Reader) NextView() (*View, error) {
	v := r.ahead
	if r.ahead = nil; v == nil {
		v = r.advance()
	}
	if v == nil {
		return nil, r.err
	}
	return v, nil
}

// advance reads the next entry. It returns nil if there is an error.
func (r *Reader) advance() *View {
	if r.err != nil {
		return nil
	}
	if !r.begun {
		r.begin()
	}
	v, err := r.sitemap.NextView()
	if r.scan.empty {
		err = io.EOF // a Strict reader of sitemaps ends in an error
	}
	switch {
	case r.sitemap.Kind() == sitemap.Text:
		err = &websync.ParseError{Document: r.Document, Line: 1, Column: 1, Err: errText}
	case err == io.EOF:
		r.scan.end()
	}
	switch {
	case r.scan.reports.Fatal != nil:
		r.err = r.scan.reports.Fatal
	case err != nil:
		r.err = ours(err)
	default:
		return r.scan.turn(v)
	}
	return nil
}

var errText = fmt.Errorf("a list of URLs in plain text, not a document of ResourceSync: %w", websync.ErrNotDocument)

func (r *Reader) begin() {
	r.begun = true
	r.scan = newScanner(r.Document, r.Document)
	r.scan.reports.To, r.scan.reports.Strict = r.Report, r.Strict
	s := r.sitemap
	if r.Report != nil || r.Strict {
		s.Report, r.scan.positions = r.scan.relay, true
	}
	s.Document, s.ContentType, s.Strict, s.Now, s.Take = r.Document, r.ContentType, r.Strict, r.Now, r.scan.take
	s.MaxEntries, s.MaxBytes, s.MaxValue, s.MaxDepth = r.MaxEntries, r.MaxBytes, r.MaxValue, r.MaxDepth
}

// relay passes on a finding on the sitemap that a document is. A document of ResourceSync
// may have no entries (Z39.99 §7).
func (s *scanner) relay(f websync.Finding) {
	if f.Rule == sitemapEmpty {
		s.empty = true
	} else if s.reports.To != nil {
		s.reports.To(f)
	}
}

// end reports what a document that was read to its end does not have.
func (s *scanner) end() {
	if !s.known {
		s.reports.Add(ruleMetadata, 0, 0, "md", nil, "the document has no md")
	}
}

// ours returns an error of the sitemap's reader as one of this package.
func ours(err error) error {
	var parse *websync.ParseError
	if !errors.As(err, &parse) {
		return err
	}
	at := *parse
	at.Format = "resourcesync"
	return &at
}
