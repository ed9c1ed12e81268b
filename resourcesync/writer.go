package resourcesync

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

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
	enc   document.Encoder // of the md and ln of the entry at hand
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
	w.check.entry(e)
	w.render(&e.Metadata, e.Links, "")
	w.elements(e.Elements)
	if err := w.enc.Refusal("resourcesync", e.Loc); err != nil {
		return err
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
	w.render(&head.Metadata, head.Links, "\n")
	w.elements(h.Elements)
	if err := w.enc.Refusal("resourcesync", ""); err != nil {
		return err
	}
	s := w.out
	s.WriterOptions = w.WriterOptions
	ours := bytes.Clone(w.enc.B)
	s.Appender = &sitemap.Appender{
		Prefix: "rs", Space: Namespace,
		Document: func(b []byte) []byte { return append(b, ours...) },
		Entry:    func(b []byte, _ *sitemap.Entry) []byte { return append(b, w.enc.B...) },
	}
	return nil
}

// refuse keeps the first requirement that the entry at hand, or the head, breaks.
func (w *Writer) refuse(rule Rule, at subject, _, message string) {
	if rule.Severity < websync.SeverityError {
		return
	}
	local := "ln"
	switch at {
	case onEntry:
		local = ""
	case onMetadata:
		local = "md"
	}
	w.enc.Refuse(local, rule.Section, errors.New(message))
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
			w.enc.Refuse(x.Local, sectionFormat, errors.New("the elements of the standard are in Metadata and Links"))
		}
	}
}

// render writes an md and its links into w.enc, with end after each.
func (w *Writer) render(m *Metadata, links []Link, end string) {
	c := &w.enc
	c.B = c.B[:0]
	if !m.isZero() {
		from := w.start("md")
		w.attr(` capability="`, string(m.Capability))
		c.Date(` at="`, inUTC(m.At))
		c.Date(` completed="`, inUTC(m.Completed))
		c.Date(` from="`, inUTC(m.From))
		c.Date(` until="`, inUTC(m.Until))
		w.attr(` change="`, string(m.Change))
		c.Date(` datetime="`, inUTC(m.Datetime))
		c.Hash(m.Digests)
		c.Number(` length="`, m.Length)
		w.attr(` type="`, m.Type)
		w.attr(` encoding="`, m.Encoding)
		w.attr(` path="`, m.Path)
		w.foreign("md", from, m.Attrs)
		c.B = append(c.B, end...)
	}
	for i := range links {
		l := &links[i]
		from := w.start("ln")
		w.attr(` rel="`, l.Rel)
		w.attr(` href="`, l.Href)
		c.Date(` modified="`, inUTC(l.Modified))
		c.Hash(l.Digests)
		c.Number(` length="`, l.Length)
		w.attr(` type="`, l.Type)
		w.attr(` encoding="`, l.Encoding)
		w.attr(` path="`, l.Path)
		c.Number(` pri="`, int64(l.Priority))
		w.foreign("ln", from, l.Attrs)
		c.B = append(c.B, end...)
	}
}

// start begins an element, and returns where.
func (w *Writer) start(local string) (from int) {
	from = len(w.enc.B)
	w.enc.B = append(append(w.enc.B, "<rs:"...), local...)
	return from
}

// attr writes an attribute, unless it is empty. start is all that precedes its value.
func (w *Writer) attr(start, value string) {
	if value == "" {
		return
	}
	b, err := xmlscan.AppendAttr(w.enc.B, start, value)
	if err != nil {
		w.enc.Refuse("", document.SectionXML, errors.New(strings.Trim(start, ` ="`)+": "+err.Error()))
	}
	w.enc.B = b
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

const xmlNamespace = "http://www.w3.org/XML/1998/namespace"

// foreign writes attributes of other namespaces, and ends the tag.
func (w *Writer) foreign(local string, from int, attrs []websync.Attr) {
	for i, a := range attrs {
		if a.Space == "" || a.Space == Namespace || isNear(a.Space) {
			err := fmt.Errorf("the attribute %.100q of others has no namespace, or the standard's", a.Local)
			w.enc.Refuse(local, sectionFormat, err)
			return
		}
		prefix := "xml"
		if a.Space != xmlNamespace {
			prefix = "a" + strconv.Itoa(i)
			w.attr(" xmlns:"+prefix+`="`, a.Space)
		}
		b, err := xmlscan.AppendAttr(w.enc.B, " "+prefix+":"+a.Local+`="`, a.Value)
		if err != nil {
			w.enc.Refuse(local, document.SectionXML, err)
			return
		}
		w.enc.B = b
	}
	w.enc.B = append(w.enc.B, "/>"...)
	if len(attrs) == 0 {
		return
	}
	xml := "<rs:" + local + ` xmlns:rs="` + Namespace + `"` + string(w.enc.B[from+len("<rs:")+len(local):])
	n, err := element.Parse(&websync.Element{Space: Namespace, Local: local, XML: xml})
	if err == nil && !slices.Equal(n.Attrs[max(0, len(n.Attrs)-len(attrs)):], attrs) {
		err = errors.New("a name that is none")
	}
	if err != nil {
		w.enc.Refuse(local, sectionFormat, fmt.Errorf("attributes of others: %w", err))
	}
}
