package atom

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// ValidateOptions say what [Validate] knows besides the bytes. The zero value is of use:
// what can't be known is not checked.
type ValidateOptions struct {
	// Document is the URL or file name of the document. Findings carry it.
	Document string

	// URL is where the document is published. Empty means Document, if that is a URL.
	// Relative links are resolved against it.
	URL string

	// Report receives every finding, in the order of the document but for what only its
	// end can tell.
	Report func(websync.Finding)

	// Now, if set, makes findings of times that lie more than a day after it.
	Now time.Time

	// Lenient makes every finding that costs no entry and no tombstone, because a
	// [Reader] reads over it, at most a warning.
	Lenient bool

	// MaxBytes ends reading, as in Reader. Zero means 1 GiB, negative no limit.
	MaxBytes int64
}

// A Summary is what a document was found to be.
type Summary struct {
	Kind       Kind
	Entries    int   // that a Reader gets
	Tombstones int   // likewise
	Skipped    int   // as Reader.Skipped
	Bytes      int64 // uncompressed, as far as it was read

	Errors, Warnings, Infos int // findings

	ID      string           // of the feed or entry; ref of a tombstone
	Updated websync.Datetime // of the feed or entry; when of a tombstone; the zero value if it can't be read

	// The targets of the feed's first link of each relation, resolved, in a Feed
	// Document.
	Self, Current, Next, PrevArchive, NextArchive string

	Archive  bool // fh:archive
	Complete bool // fh:complete

	// Oldest and Youngest are the least and the greatest time of the entries and
	// tombstones, updated and when.
	Oldest, Youngest websync.Datetime
}

// Validate reads one document, with all that a [Reader] takes, and reports every
// departure from RFC 4287, RFC 5005, RFC 6721 and the drafts of the link extensions: see
// [Rules].
//
// The error is that of the Reader: the document is none of Atom's, is cut short, damaged
// or too long. Then there is a finding for it, too, unless src itself has failed. It is
// nil for a document that was read to its end, whatever the findings.
//
// It needs memory for the longest text, and 32 to 96 bytes for each entry and tombstone,
// to find ids that are there twice; only among the first four million of them is each
// compared, and of the alternate links of an element among the first 65,536.
func Validate(src io.Reader, o ValidateOptions) (Summary, error) {
	return newValidator(o).run(src)
}

func newValidator(o ValidateOptions) *validator {
	if o.URL == "" && syntax.Scheme(o.Document) > 1 {
		o.URL = o.Document
	}
	return &validator{o: o}
}

// maxChecked is how much of one text is checked, roughly.
const maxChecked = 64 << 20

// A spot is a place in the document.
type spot struct{ line, column int }

// A validator is one run of Validate.
type validator struct {
	o   ValidateOptions
	r   *document.XML
	sum Summary

	space  string           // the namespace that is taken for Atom's
	scopes [maxScopes]scope // of the open elements that hold others
	open   int              // how many of them
	buf    []byte           // the text of the current element
	small  []byte           // scratch space
	html   htmlChecker
	ids    idTable

	head     feedHead
	lastText []byte // the last date that was read, and what it was
	lastDate websync.Datetime
	lastMiss string

	// For a chain of documents.
	item   func(id []byte, at websync.Datetime, dead bool, p spot)
	sum256 hash.Hash // of the entries and tombstones
	inItem bool
}

// A validateSource keeps the error of an io.Reader, which is none of the document.
type validateSource struct {
	src io.Reader
	err error
}

func (f *validateSource) Read(p []byte) (int, error) {
	n, err := f.src.Read(p)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		f.err = err
	}
	return n, err
}

func (v *validator) run(src io.Reader) (Summary, error) {
	f := &validateSource{src: src}
	doc := &document.Document{Kind: atomKind, URL: v.o.Document, Report: v.departure}
	count := startCount(v.o)
	err := doc.Open(io.TeeReader(f, count.to), v.o.MaxBytes)
	if err == nil {
		err = v.document(doc)
	}
	count.end(v)
	v.sum.Bytes = doc.Size()
	if err != nil && f.err == nil {
		v.fatal(err)
	}
	return v.sum, err
}

// A count is a Reader of what a validator reads. It knows which entries and tombstones a
// Reader gets.
type count struct {
	to                           *io.PipeWriter
	done                         chan struct{}
	entries, tombstones, skipped int
	nested                       []websync.Finding
}

func startCount(o ValidateOptions) *count {
	from, to := io.Pipe()
	c := &count{to: to, done: make(chan struct{})}
	r := NewReader(from)
	r.Document, r.MaxBytes = o.Document, o.MaxBytes
	r.Report = func(f websync.Finding) {
		if f.Rule == ruleNesting.Name && len(c.nested) < maxAuthorless {
			c.nested = append(c.nested, f)
		}
	}
	go func() {
		defer close(c.done)
		for {
			v, err := r.NextView()
			switch {
			case err != nil:
				c.skipped = r.Skipped()
				io.Copy(io.Discard, from)
				return
			case v.Deleted:
				c.tombstones++
			default:
				c.entries++
			}
		}
	}()
	return c
}

// end takes over what was counted.
func (c *count) end(v *validator) {
	c.to.Close()
	<-c.done
	v.sum.Entries, v.sum.Tombstones, v.sum.Skipped = c.entries, c.tombstones, c.skipped
	for _, f := range c.nested {
		v.reportLoss(ruleNesting, spot{f.Line, f.Column}, f.Element, nil, f.Message)
	}
}

// departure reports on the bytes of the document and their XML.
func (v *validator) departure(d document.Departure, line, column int, value []byte, message string) {
	v.report(documentRules[d], spot{line, column}, "", value, message)
}

// document reads the document from its first byte to its last. Errors have their place.
func (v *validator) document(doc *document.Document) (err error) {
	if v.r, err = doc.XML(); err != nil {
		return err
	}
	at := v.spot()
	name := v.r.Name()
	if v.sum.Kind = kindOf(name); v.sum.Kind == 0 {
		return doc.Fail(at.line, at.column, name.Local, doc.Not(document.WhatRoot(name)))
	}
	v.r.CheckPrologue()
	if v.space = name.Space; v.sum.Kind == TombstoneDocument {
		v.space = Namespace
	}
	if v.space != Namespace {
		v.report(ruleNamespace, at, name.Local, []byte(name.Space), "the namespace is not "+Namespace)
	}
	switch v.sum.Kind {
	case FeedDocument:
		err = v.feed(at)
	case EntryDocument:
		err = v.entry(nil, at)
	default:
		err = v.tombstone(nil, at)
	}
	if err != nil {
		return v.r.Fail(err)
	}
	return v.r.End()
}

// fatal reports why reading has ended.
func (v *validator) fatal(err error) {
	var parse *websync.ParseError
	if !errors.As(err, &parse) {
		return
	}
	rule := ruleXML
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, websync.ErrTruncated):
		rule = ruleTruncated
	case errors.Is(err, websync.ErrNotDocument), errors.Is(err, websync.ErrLimit), errors.Is(err, gzip.ErrHeader),
		errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		rule = ruleDocument
	}
	v.reportLoss(rule, spot{parse.Line, parse.Column}, parse.Element, nil, parse.Err.Error())
}

// report reports on an element that starts at p.
func (v *validator) report(rule Rule, p spot, element string, value []byte, message string) {
	if v.o.Lenient && rule.Severity == websync.SeverityError {
		rule.Severity = websync.SeverityWarning
	}
	v.reportLoss(rule, p, element, value, message)
}

// reportLoss is report for what costs an entry, a tombstone or the rest of the document.
func (v *validator) reportLoss(rule Rule, p spot, element string, value []byte, message string) {
	switch rule.Severity {
	case websync.SeverityError:
		v.sum.Errors++
	case websync.SeverityWarning:
		v.sum.Warnings++
	default:
		v.sum.Infos++
	}
	if v.o.Report != nil {
		v.o.Report(rule.Finding(v.o.Document, p.line, p.column, element, value, message))
	}
}

// name returns the name of the current element. Its namespace is Atom's if it is taken
// for that.
func (v *validator) name() xmlscan.Name {
	name := v.r.Name()
	if name.Space == v.space {
		name.Space = Namespace
	}
	return name
}

// spot returns the place of the current token.
func (v *validator) spot() spot {
	line, column := v.r.Position()
	return spot{line, column}
}

// next is Next of v.r, for those who also want to know what entries and tombstones
// consist of.
func (v *validator) next() (xmlscan.Kind, error) {
	kind, err := v.r.Next()
	if v.inItem && v.sum256 != nil && err == nil {
		v.digest(kind)
	}
	return kind, err
}

// skip passes over the rest of the element whose Start is current.
func (v *validator) skip() error {
	if v.sum256 == nil || !v.inItem {
		return v.r.Skip()
	}
	for depth := v.r.Depth(); ; {
		kind, err := v.next()
		if err != nil || kind == xmlscan.End && v.r.Depth() == depth {
			return err
		}
	}
}

// startItem says whether what is read from now on, the current Start included, belongs to
// an entry or a tombstone.
func (v *validator) startItem(is bool) {
	v.inItem = is
	if is && v.sum256 != nil {
		v.digest(xmlscan.Start)
	}
}

// digest adds the current token to the digest of the entries and tombstones. White space
// between the elements of Atom, and prefixes, make no difference.
func (v *validator) digest(kind xmlscan.Kind) {
	b := append(v.small[:0], byte(kind))
	add := func(parts ...string) {
		for _, s := range parts {
			b = append(append(b, s...), 0)
		}
	}
	switch kind {
	case xmlscan.Start:
		add(v.r.Name().Space, v.r.Name().Local)
		for _, a := range v.r.Attrs() {
			add(a.Name.Space, a.Name.Local, string(a.Value))
		}
	case xmlscan.Text:
		b = append(append(b, v.r.Text()...), 0)
	}
	v.sum256.Write(b)
	v.small = b
}

// entriesDigest returns the digest of the entries and tombstones, if it was asked for.
func (v *validator) entriesDigest() websync.Digest {
	return websync.Digest{Algorithm: "sha-256", Sum: string(v.sum256.Sum(nil))}
}

func (v *validator) wantDigest() { v.sum256 = sha256.New() }

// isBlank tells whether text is only white space.
func isBlank(text []byte) bool { return len(bytes.TrimLeft(text, " \t\r\n")) == 0 }
