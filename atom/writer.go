package atom

import (
	"errors"
	"io"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

// A Writer writes one document that is valid by construction: it refuses each [Feed],
// [Entry] and [Tombstone] that breaks RFC 4287, RFC 5005, RFC 6721 or the drafts of the
// link extensions. The output depends only on them and the fields.
//
// For a feed document, call WriteFeed once, WriteTombstone and then WriteEntry any number
// of times, and Close. WriteEntryDocument writes a complete entry document, and
// WriteTombstoneDocument a complete deleted-entry document.
//
// For a feed, entry or tombstone that can't be written, the methods return a
// [*websync.EntryError]. They write nothing of it, and the Writer can go on. An error of
// the io.Writer sticks.
//
// Atom demands full dates and times, so some are written otherwise: a Datetime without a
// time as midnight UTC of its first day, one without seconds with them, a leap second as
// the one after it, an offset above 14 hours in UTC. The Rel of a link without one is
// "alternate". A Writer ignores Line, Column, UpdatedText, WhenText, the Form of a
// tombstone and the Priority of a link.
//
// Memory grows with the tombstones of the document, not with its entries. A Writer does
// not notice two entries with one id.
//
// Set the fields before the first call. A Writer is not safe for concurrent use.
type Writer struct {
	// LegacyMD5 also writes the MD5 digest of links and content in le:md5, for readers
	// that know only the older drafts of the link extensions. The attribute hash has all
	// digests in either case.
	LegacyMD5 bool

	// Namespaces are declared on the root element, by prefix, and used for the attributes
	// of links and content. Other namespaces of attributes are declared on the element
	// that has the attribute. The prefixes "at", "fh", "le" and those like "ns1" are
	// reserved.
	Namespaces map[string]string

	dst   io.Writer
	state writerState
	err   error // of dst; sticks
	enc   encoder

	authors bool           // the feed has authors
	latest  map[string]int // by ref: the latest tombstone, as an index in times, from 1
	times   []tombstoneTime
}

// A writerState is what may be written next.
type writerState uint8

const (
	atRoot       writerState = iota // nothing is written
	inTombstones                    // the feed is written, and maybe tombstones
	inEntries
	afterDocument
)

// A tombstoneTime is the time of one tombstone.
type tombstoneTime struct {
	when  websync.Datetime
	older int // the previous one of its ref, as an index in times, from 1; if 0, none
}

// NewWriter returns a Writer to dst.
func NewWriter(dst io.Writer) *Writer { return &Writer{dst: dst} }

var (
	errClosed = errors.New("atom: write after the end of the document")
	errNoFeed = errors.New("atom: WriteFeed must be called before")
	errSecond = errors.New("atom: the document already has a root element")
	errAfter  = errors.New("a tombstone must come before the entries")
)

// WriteFeed begins a feed document: it writes its root element and its metadata.
func (w *Writer) WriteFeed(f *Feed) error {
	if w.state != atRoot {
		return w.misplaced()
	}
	c := w.begin()
	c.feed(f)
	if err := w.finish(f.ID, inTombstones); err != nil {
		return err
	}
	c.lang, c.base = f.Lang, f.Base
	w.authors = len(f.Authors) > 0
	return nil
}

// WriteTombstone writes one tombstone. Tombstones come before entries, like everything
// that is not an entry (RFC 4287 §4.1.1). It refuses a second tombstone with the same ref
// and when (RFC 6721 §3).
func (w *Writer) WriteTombstone(t *Tombstone) error {
	if w.state != inTombstones && w.state != inEntries {
		return w.misplaced()
	}
	c := &w.enc
	c.start()
	if w.state == inEntries {
		c.Refuse("deleted-entry", ruleFeedOrder.Section, errAfter)
	}
	c.tombstone(t, "")
	latest := w.latest[t.Ref]
	for i := latest; i > 0; i = w.times[i-1].older {
		if w.times[i-1].when.Time().Equal(t.When.Time()) {
			c.breaks("deleted-entry", &ruleTombstoneTwice)
		}
	}
	if err := w.finish(t.Ref, inTombstones); err != nil {
		return err
	}
	w.remember(t, latest)
	return nil
}

// remember records the time of a tombstone. latest is the index of the latest one with
// its ref so far.
func (w *Writer) remember(t *Tombstone, latest int) {
	if w.latest == nil {
		w.latest = make(map[string]int)
	}
	if latest > 0 && w.times[latest-1].when.Time().After(t.When.Time()) {
		w.times = append(w.times, tombstoneTime{t.When, w.times[latest-1].older})
		w.times[latest-1].older = len(w.times)
		return
	}
	w.times = append(w.times, tombstoneTime{t.When, latest})
	w.latest[t.Ref] = len(w.times)
}

// WriteEntry writes one entry. If the feed has no author, the entry needs one (RFC 4287
// §4.1.1). If a tombstone for it was written, the entry must be newer, or readers would
// ignore it (RFC 6721 §3).
func (w *Writer) WriteEntry(e *Entry) error {
	if w.state != inTombstones && w.state != inEntries {
		return w.misplaced()
	}
	c := &w.enc
	c.start()
	c.entry(e, "")
	if !w.authors && len(e.Authors) == 0 {
		c.breaks("author", &ruleFeedAuthor)
	}
	if len(w.latest) > 0 {
		if i := w.latest[e.ID]; i > 0 && !e.Updated.Time().After(w.times[i-1].when.Time()) {
			c.breaks("updated", &ruleTombstoneLive)
		}
	}
	return w.finish(e.ID, inEntries)
}

// Close ends a feed document. It does not close the io.Writer. Calls after the first
// return the same.
func (w *Writer) Close() error {
	if w.state == atRoot && w.err == nil {
		return errNoFeed
	}
	if w.state == afterDocument || w.err != nil {
		return w.err
	}
	w.enc.start()
	w.enc.B = append(w.enc.B, "\n</feed>\n"...)
	return w.end()
}

// WriteEntryDocument writes a complete entry document (RFC 4287 §2). Its entry needs an
// author, or a source that has one.
func (w *Writer) WriteEntryDocument(e *Entry) error {
	if w.state != atRoot {
		return w.misplaced()
	}
	c := w.begin()
	c.entry(e, ` xmlns="`+Namespace+`"`)
	if len(e.Authors) == 0 && (e.Source == nil || len(e.Source.Authors) == 0) {
		c.breaks("author", &ruleEntryAuthor)
	}
	return w.document(e.ID)
}

// WriteTombstoneDocument writes a complete deleted-entry document (RFC 6721 §4).
func (w *Writer) WriteTombstoneDocument(t *Tombstone) error {
	if w.state != atRoot {
		return w.misplaced()
	}
	w.begin().tombstone(t, ` xmlns:at="`+TombstoneNamespace+`" xmlns="`+Namespace+`"`)
	return w.document(t.Ref)
}

// misplaced returns the error for a call in the wrong state.
func (w *Writer) misplaced() error {
	switch {
	case w.err != nil:
		return w.err
	case w.state == atRoot:
		return errNoFeed
	case w.state == afterDocument:
		return errClosed
	}
	return errSecond
}

// begin begins a document.
func (w *Writer) begin() *encoder {
	c := &w.enc
	// each element begins its line
	c.B = append(c.B[:0], document.XMLHeading[:len(document.XMLHeading)-1]...)
	c.start()
	c.declare(w.Namespaces, w.LegacyMD5)
	return c
}

// finish keeps what was encoded since start, or removes it and returns the reason.
func (w *Writer) finish(id string, next writerState) error {
	if w.err != nil {
		return w.err
	}
	if err := w.enc.finish(id); err != nil {
		return err
	}
	w.state = next
	if len(w.enc.B) >= document.FlushSize {
		w.err = w.flush()
	}
	return w.err
}

// document ends a document of one element.
func (w *Writer) document(id string) error {
	if err := w.finish(id, afterDocument); err != nil {
		return err
	}
	w.enc.B = append(w.enc.B, '\n')
	return w.end()
}

func (w *Writer) end() error {
	w.state = afterDocument
	w.err = w.flush()
	return w.err
}

func (w *Writer) flush() (err error) {
	w.enc.B, err = document.Flush("atom", w.dst, w.enc.B)
	return err
}
