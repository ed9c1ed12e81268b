package resourcesync

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/xmlscan"
	"github.com/websync-go/websync/sitemap"
)

// A Writer writes one document of version 1.1 that is valid by construction: it refuses a
// Head, and each [Entry], that breaks a requirement of the standard or of the sitemaps
// that its documents are. Recommendations are the caller's. The output depends only on
// the Head, the entries and the fields.
//
// Call WriteHead, Write any number of times, and Close.
//
// Times of md and ln are written in full and in UTC: one that is less precise as the
// first second of its period. A lastmod that is a date stays one; other times are written
// in UTC.
//
// Set the fields before the first call. A Writer is not safe for concurrent use.
type Writer struct {
	sitemap.WriterOptions

	out   *sitemap.Writer
	begun bool
	check checker
	id    string // of the entry at hand
	wrong error  // the first error that check has reported of it
	buf   []byte // its md and ln
	entry sitemap.Entry
	err   error // sticks
}

// NewWriter returns a Writer to dst.
func NewWriter(dst io.Writer) *Writer { return &Writer{out: sitemap.NewWriter(dst)} }

// Entries returns how many entries were written.
func (w *Writer) Entries() int { return w.out.Entries() }

// Bytes returns the length of what was written so far, uncompressed; after Close, that of
// the document.
func (w *Writer) Bytes() int64 { return w.out.Bytes() }

// WriteHead writes the metadata of the document. It must be called once, before the first
// entry. Index decides whether the entries are documents; Metadata.Capability is
// required, so there is no document without WriteHead.
//
// For a head that no valid document can have, it returns a [*websync.EntryError]; for one
// that is too long, an error that matches [websync.ErrLimit]. These errors stick.
func (w *Writer) WriteHead(h *Head) error {
	switch {
	case w.err != nil:
		return w.err
	case w.begun:
		return errHead
	}
	if w.err = w.begin(h); w.err != nil {
		return w.err
	}
	kind := sitemap.URLSet
	if h.Index {
		kind = sitemap.Index
	}
	return w.ours(w.out.WriteHead(&sitemap.Head{Kind: kind, Elements: h.Elements}))
}

var errHead = errors.New("resourcesync: WriteHead must be called once, before the entries")

// ready writes the zero Head if no other was written: an error, because it has no
// Capability.
func (w *Writer) ready() error {
	if w.err == nil && !w.begun {
		return w.WriteHead(new(Head))
	}
	return w.err
}

// Write writes one entry. It ignores Line, Column, LastModText and the fields Faulty.
//
// For an entry that no valid document of this kind can hold, or that can't follow those
// before, Write returns a [*websync.EntryError]; for one that does not fit into this
// document, an error that matches [websync.ErrLimit]. In both cases it writes nothing,
// and the Writer can go on. An error of the Head or of the io.Writer sticks.
func (w *Writer) Write(e *Entry) error {
	if err := w.ready(); err != nil {
		return err
	}
	if !e.Metadata.isExact() {
		exact := *e
		exact.Metadata.makeExact()
		e = &exact
	}
	w.id, w.wrong = e.Loc, nil
	w.check.entry(e)
	if w.wrong == nil {
		w.render(&e.Metadata, e.Links, "")
	}
	if w.wrong == nil {
		w.elements(e.Elements)
	}
	if w.wrong != nil {
		return w.wrong
	}
	w.entry = e.Entry
	w.entry.LastMod = inUTC(e.LastMod)
	if err := w.out.Write(&w.entry); err != nil {
		return w.ours(err)
	}
	w.check.add(e)
	return nil
}

// Close ends the document. It does not close the io.Writer. Calls after the first return
// the same. A document may have no entries.
func (w *Writer) Close() error {
	if err := w.ready(); err != nil {
		return err
	}
	return w.ours(w.out.Close())
}

// begin checks the head, and prepares the writer of the sitemap.
func (w *Writer) begin(h *Head) error {
	w.begun = true
	w.check.writing, w.check.report = true, w.refuse
	head := *h
	head.Metadata.makeExact()
	w.check.document(&head)
	if w.wrong == nil {
		w.render(&head.Metadata, head.Links, "\n")
	}
	if w.wrong == nil {
		w.elements(h.Elements)
	}
	if w.wrong != nil {
		return w.wrong
	}
	s := w.out
	s.WriterOptions = w.WriterOptions
	ours := append([]byte(nil), w.buf...)
	s.Appender = &sitemap.Appender{
		Prefix: "rs", Space: Namespace,
		Document: func(b []byte) []byte { return append(b, ours...) },
		Entry:    func(b []byte, _ *sitemap.Entry) []byte { return append(b, w.buf...) },
	}
	return nil
}

// refuse keeps the first requirement that the entry at hand, or the head, breaks.
func (w *Writer) refuse(rule Rule, at subject, _, message string) {
	if rule.Severity < websync.SeverityError || w.wrong != nil {
		return
	}
	local := "ln"
	switch at {
	case onEntry:
		local = ""
	case onMetadata:
		local = "md"
	}
	w.fail(local, rule.Section, errors.New(message))
}

func (w *Writer) fail(local, section string, err error) {
	if w.wrong == nil {
		w.wrong = &websync.EntryError{Format: "resourcesync", ID: w.id, Element: local, Section: section, Err: err}
	}
}

// ours returns an error of the sitemap's writer as one of this package.
func (w *Writer) ours(err error) error {
	var entry *websync.EntryError
	if !errors.As(err, &entry) {
		return err
	}
	mine := *entry
	mine.Format = "resourcesync"
	return &mine
}

// elements refuses what only Metadata and Links may state.
func (w *Writer) elements(all []websync.Element) {
	for i := range all {
		if x := &all[i]; x.Space == Namespace || isNear(x.Space) {
			w.fail(x.Local, sectionFormat, errors.New("the elements of the standard are in Metadata and Links"))
		}
	}
}

// render writes an md and its links into w.buf, with end after each.
func (w *Writer) render(m *Metadata, links []Link, end string) {
	w.buf = w.buf[:0]
	if !m.isZero() {
		from := w.start("md")
		w.attr("capability", string(m.Capability))
		w.time("at", m.At)
		w.time("completed", m.Completed)
		w.time("from", m.From)
		w.time("until", m.Until)
		w.attr("change", string(m.Change))
		w.time("datetime", m.Datetime)
		w.hash(m.Digests)
		w.length(m.Length)
		w.attr("type", m.Type)
		w.attr("encoding", m.Encoding)
		w.attr("path", m.Path)
		w.foreign("md", from, m.Attrs)
		w.buf = append(w.buf, end...)
	}
	for i := range links {
		l := &links[i]
		from := w.start("ln")
		w.attr("rel", l.Rel)
		w.attr("href", l.Href)
		w.time("modified", l.Modified)
		w.hash(l.Digests)
		w.length(l.Length)
		w.attr("type", l.Type)
		w.attr("encoding", l.Encoding)
		w.attr("path", l.Path)
		if l.Priority > 0 {
			w.name("pri")
			w.buf = strconv.AppendInt(w.buf, int64(l.Priority), 10)
			w.buf = append(w.buf, '"')
		}
		w.foreign("ln", from, l.Attrs)
		w.buf = append(w.buf, end...)
	}
}

// start begins an element, and returns where.
func (w *Writer) start(local string) (from int) {
	from = len(w.buf)
	w.buf = append(w.buf, "<rs:"...)
	w.buf = append(w.buf, local...)
	return from
}

// name begins an attribute.
func (w *Writer) name(name string) {
	w.buf = append(w.buf, ' ')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, `="`...)
}

// attr writes an attribute, unless it is empty.
func (w *Writer) attr(name, value string) {
	if value == "" {
		return
	}
	w.name(name)
	b, err := xmlscan.AppendAttr(w.buf, value)
	if err != nil {
		w.fail("", "XML 1.0 §2.2", errors.New(name+": "+err.Error()))
	}
	w.buf = append(b, '"')
}

// hash writes the digests, which have been checked.
func (w *Writer) hash(digests websync.Digests) {
	for i, d := range digests {
		if i == 0 {
			w.name("hash")
		} else {
			w.buf = append(w.buf, ' ')
		}
		if !d.Known() {
			w.buf, _ = xmlscan.AppendAttr(w.buf, d.String())
			continue
		}
		w.buf = document.AppendDigest(w.buf, d)
	}
	if len(digests) > 0 {
		w.buf = append(w.buf, '"')
	}
}

func (w *Writer) time(name string, d websync.Datetime) {
	if d.IsZero() {
		return
	}
	w.name(name)
	w.buf, _ = document.AppendSchemaDate(w.buf, exact(d))
	w.buf = append(w.buf, '"')
}

// exact returns a time as an md or ln is written with it: "2013" as its first second.
func exact(d websync.Datetime) websync.Datetime {
	if d = inUTC(d); d.Precision() < websync.PrecisionSecond {
		d = d.WithPrecision(websync.PrecisionSecond)
	}
	return d
}

// times returns the times of m.
func (m *Metadata) times() [5]*websync.Datetime {
	return [...]*websync.Datetime{&m.At, &m.Completed, &m.From, &m.Until, &m.Datetime}
}

// isExact reports whether the times of m are written as they are: those are what the
// checks must compare.
func (m *Metadata) isExact() bool {
	for _, d := range m.times() {
		if !d.IsZero() && d.Precision() < websync.PrecisionSecond {
			return false
		}
	}
	return true
}

func (m *Metadata) makeExact() {
	for _, d := range m.times() {
		if !d.IsZero() {
			*d = exact(*d)
		}
	}
}

// inUTC returns a time in UTC.
func inUTC(d websync.Datetime) websync.Datetime {
	if d.Precision() > websync.PrecisionDay {
		return d.UTC()
	}
	return d
}

func (w *Writer) length(n int64) {
	if n == 0 {
		return
	}
	w.name("length")
	w.buf = strconv.AppendInt(w.buf, max(n, 0), 10) // StatedZero is negative
	w.buf = append(w.buf, '"')
}

const xmlNamespace = "http://www.w3.org/XML/1998/namespace"

// foreign writes attributes of other namespaces, and ends the tag.
func (w *Writer) foreign(local string, from int, attrs []websync.Attr) {
	for i, a := range attrs {
		if a.Space == "" || a.Space == Namespace || isNear(a.Space) {
			err := fmt.Errorf("the attribute %.100q of others has no namespace, or the standard's", a.Local)
			w.fail(local, sectionFormat, err)
			return
		}
		prefix := "xml"
		if a.Space != xmlNamespace {
			prefix = "a" + strconv.Itoa(i)
			w.attr("xmlns:"+prefix, a.Space)
		}
		w.name(prefix + ":" + a.Local)
		b, err := xmlscan.AppendAttr(w.buf, a.Value)
		if err != nil {
			w.fail(local, "XML 1.0 §2.2", err)
			return
		}
		w.buf = append(b, '"')
	}
	w.buf = append(w.buf, "/>"...)
	if len(attrs) == 0 {
		return
	}
	xml := "<rs:" + local + ` xmlns:rs="` + Namespace + `"` + string(w.buf[from+len("<rs:")+len(local):])
	n, err := element.Parse(&websync.Element{Space: Namespace, Local: local, XML: xml})
	if err == nil && !slices.Equal(n.Attrs[max(0, len(n.Attrs)-len(attrs)):], attrs) {
		err = errors.New("a name that is none")
	}
	if err != nil {
		w.fail(local, sectionFormat, fmt.Errorf("attributes of others: %w", err))
	}
}
