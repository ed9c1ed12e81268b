package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// MaxBytes is how long the protocol allows one document to be, uncompressed.
const MaxBytes = 50 << 20

// A Writer writes one <urlset> or <sitemapindex> that is valid by construction: it
// refuses each [Entry] that the protocol, its schema or the rules of an extension would
// refuse, and every entry that does not fit. The output depends on nothing but the
// entries and the fields.
//
// Set the fields before the first call. A Writer is not safe for concurrent use.
type Writer struct {
	// Kind is what is written: URLSet, which the zero Kind means, too, or Index.
	Kind Kind

	// Gzip compresses the document.
	Gzip bool

	// Elements are extension elements of the document itself. They come before the
	// entries.
	Elements []websync.Element

	// MaxEntries and MaxBytes limit the document; the bytes are those of the uncompressed
	// document, to its end. Zero means the protocol's limits, 50,000 and 52,428,800, and
	// so does everything above them or below zero.
	MaxEntries int
	MaxBytes   int64

	dst     io.Writer
	zip     *gzip.Writer
	begun   bool
	err     error  // of dst; sticks
	buf     []byte // what is not yet handed to dst
	size    int64  // of the document, buf included
	empty   int64  // what of it precedes the entries
	entries int
	lastMod websync.Datetime

	entry []byte // the entry at hand
	check checker
}

const (
	writeSize  = 32 << 10 // how much is gathered before it is written
	xmlHeading = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
)

// NewWriter returns a Writer to dst.
func NewWriter(dst io.Writer) *Writer { return &Writer{dst: dst} }

// reset makes w write another document, keeping its settings and memory.
func (w *Writer) reset(dst io.Writer) {
	w.dst, w.begun, w.err = dst, false, nil
	w.buf, w.size, w.entries, w.lastMod = w.buf[:0], 0, 0, websync.Datetime{}
}

// Entries returns how many entries were written.
func (w *Writer) Entries() int { return w.entries }

// Bytes returns the length of what was written so far, uncompressed; after Close, that of
// the document.
func (w *Writer) Bytes() int64 { return w.size }

// LastMod returns the greatest LastMod that was written.
func (w *Writer) LastMod() websync.Datetime { return w.lastMod }

var errClosed = errors.New("sitemap: write after Close")

// Write writes one entry. Line, Column and LastModText mean nothing to it.
//
// An entry that no valid document can hold is an [*EntryError]. One for which this
// document has no room left is an error that matches [websync.ErrLimit]. After both
// nothing of it was written, and the Writer goes on. An error of the io.Writer sticks.
//
// The schema has full dates and full times only, so some are written otherwise: a year or
// a month is written as its first day, a time without seconds with them, a leap second as
// the one after it, an offset above 14 hours in UTC.
func (w *Writer) Write(e *Entry) error {
	if w.err == nil {
		w.err = w.begin()
	}
	if w.err != nil {
		return w.err
	}
	if err := w.encode(e); err != nil {
		return err
	}
	if !w.fits() {
		return errFull
	}
	return w.put()
}

// begin writes what precedes the entries.
func (w *Writer) begin() error {
	if w.begun {
		return nil
	}
	if w.Kind > Index {
		return fmt.Errorf("sitemap: no Writer for %v", w.Kind)
	}
	w.begun = true
	if w.buf == nil {
		w.buf = make([]byte, 0, writeSize+writeSize/4)
	}
	w.buf = append(w.buf, xmlHeading+"<"+w.root()+` xmlns="`+Namespace+"\">\n"...)
	for _, x := range w.Elements {
		b, err := w.check.appendElement(w.buf, x, 0)
		if err != nil {
			return &EntryError{Element: x.Local, Err: err}
		}
		w.buf = append(b, '\n')
	}
	w.size = int64(len(w.buf))
	w.empty = w.size
	if w.size+int64(len(w.footer())) > w.maxBytes() {
		return fmt.Errorf("sitemap: elements of the document: %w", websync.ErrLimit)
	}
	if w.Gzip {
		if w.zip == nil {
			w.zip = gzip.NewWriter(w.dst)
		} else {
			w.zip.Reset(w.dst)
		}
	}
	return nil
}

func (w *Writer) root() string {
	if w.Kind == Index {
		return "sitemapindex"
	}
	return "urlset"
}

func (w *Writer) footer() string {
	if w.Kind == Index {
		return "</sitemapindex>\n"
	}
	return "</urlset>\n"
}

func (w *Writer) maxBytes() int64 {
	if w.MaxBytes <= 0 || w.MaxBytes > MaxBytes {
		return MaxBytes
	}
	return w.MaxBytes
}

func (w *Writer) maxEntries() int {
	if w.MaxEntries <= 0 || w.MaxEntries > MaxEntries {
		return MaxEntries
	}
	return w.MaxEntries
}

var errFull = fmt.Errorf("sitemap: the document is full: %w", websync.ErrLimit)

// fits tells whether there is room for w.entry.
func (w *Writer) fits() bool {
	return w.entries < w.maxEntries() && w.size+int64(len(w.entry)+len(w.footer())) <= w.maxBytes()
}

// put writes w.entry.
func (w *Writer) put() error {
	w.buf = append(w.buf, w.entry...)
	w.size += int64(len(w.entry))
	w.entries++
	if w.check.lastMod.Compare(w.lastMod) > 0 {
		w.lastMod = w.check.lastMod
	}
	if len(w.buf) >= writeSize {
		w.err = w.flush()
	}
	return w.err
}

func (w *Writer) flush() error {
	dst := w.dst
	if w.Gzip {
		dst = w.zip
	}
	n, err := dst.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	w.buf = w.buf[:0]
	if err != nil {
		return fmt.Errorf("sitemap: %w", err)
	}
	return nil
}

// Close ends the document. It does not close the io.Writer. Calls after the first return
// the same. A document without entries is written, too: it says that there is nothing,
// which Validate calls worth a warning, and which the schema does not know.
func (w *Writer) Close() error {
	if w.err == errClosed {
		return nil
	}
	if w.err == nil {
		w.err = w.begin()
	}
	if w.err != nil {
		return w.err
	}
	w.buf = append(w.buf, w.footer()...)
	w.size += int64(len(w.footer()))
	w.err = w.flush()
	if w.err == nil && w.Gzip {
		if err := w.zip.Close(); err != nil {
			w.err = fmt.Errorf("sitemap: %w", err)
		}
	}
	if w.err != nil {
		return w.err
	}
	w.err = errClosed
	return nil
}

// An EntryError says why an [Entry] or an extension element can't be written, or an
// extension element not be read.
type EntryError struct {
	Loc     string // empty: not known
	Element string // local name
	Err     error
}

// Error returns, for example, "sitemap: https://www.example.com/: priority: not a number
// from 0.0 to 1.0".
func (e *EntryError) Error() string {
	var b strings.Builder
	b.WriteString("sitemap: ")
	if e.Loc != "" {
		fmt.Fprintf(&b, "%s: ", strings.Trim(strconv.Quote(e.Loc[:min(len(e.Loc), 200)]), `"`))
	}
	if inner := (*fault)(nil); e.Element != "" && !(errors.As(e.Err, &inner) && inner.element == e.Element) {
		b.WriteString(e.Element + ": ")
	}
	return b.String() + e.Err.Error()
}

// Unwrap returns e.Err.
func (e *EntryError) Unwrap() error { return e.Err }

// encode writes e into w.entry.
func (w *Writer) encode(e *Entry) error {
	b := w.entry[:0]
	name := "url"
	if w.Kind == Index {
		name = "sitemap"
	}
	b = append(b, '<')
	b = append(b, name...)
	b = append(b, '>')
	b, element, err := w.check.append(b, e, w.Kind == Index)
	if err != nil {
		return &EntryError{Loc: e.Loc, Element: element, Err: err}
	}
	b = append(b, "</"...)
	b = append(b, name...)
	b = append(b, '>', '\n')
	w.entry = b
	return nil
}

// A checker appends what is in an entry, if it is valid.
type checker struct {
	tree    treeReader
	lastMod websync.Datetime // as written
}

var (
	errEmptyPort = errors.New("a colon without a port after it") // RFC 3986 §6.2.3: not to be produced
	errShort     = errors.New("fewer than 12 characters, which the schema refuses")
	errLong      = errors.New("2,048 characters or more")
	errFreq      = errors.New("not one of always, hourly, daily, weekly, monthly, yearly, never")
	errPriority  = errors.New("not a number from 0.0 to 1.0")
	errInIndex   = errors.New("an index has only loc and lastmod")
)

// append appends the children of an entry. If it fails, it names the element.
func (c *checker) append(b []byte, e *Entry, index bool) (_ []byte, element string, err error) {
	switch message := syntax.URLFault(e.Loc); {
	case message != "":
		return b, "loc", errors.New(message)
	case syntax.HasEmptyPort(e.Loc):
		return b, "loc", errEmptyPort
	case len(e.Loc) < minLoc:
		return b, "loc", errShort
	case len(e.Loc) >= maxLoc:
		return b, "loc", errLong
	}
	b = append(b, "<loc>"...)
	if b, err = xmlscan.AppendText(b, e.Loc); err != nil {
		return b, "loc", err
	}
	b = append(b, "</loc>"...)
	if c.lastMod = schemaDate(e.LastMod); !c.lastMod.IsZero() {
		b = append(b, "<lastmod>"...)
		b, _ = c.lastMod.AppendText(b)
		b = append(b, "</lastmod>"...)
	}
	if index && e.ChangeFreq != "" {
		return b, "changefreq", errInIndex
	}
	if index && e.Priority != 0 {
		return b, "priority", errInIndex
	}
	if e.ChangeFreq != "" {
		if !slices.Contains(changeFreqs, e.ChangeFreq) {
			return b, "changefreq", errFreq
		}
		b = append(b, "<changefreq>"...)
		b = append(b, e.ChangeFreq...)
		b = append(b, "</changefreq>"...)
	}
	if e.Priority != 0 {
		p, _ := e.StatedPriority()
		if !(p >= 0 && p <= 1) {
			return b, "priority", errPriority
		}
		b = append(b, "<priority>"...)
		b = appendPriority(b, p)
		b = append(b, "</priority>"...)
	}
	return c.appendElements(b, e, index)
}

var changeFreqs = []ChangeFreq{Always, Hourly, Daily, Weekly, Monthly, Yearly, Never}

// leastPriority is the smallest that is written, but for zero: schema processors limit
// the digits of a decimal.
const leastPriority = 1e-6

func appendPriority(b []byte, p float32) []byte {
	if p > 0 {
		p = max(p, leastPriority)
	}
	from := len(b)
	b = strconv.AppendFloat(b, float64(p), 'f', -1, 32)
	if bytes.IndexByte(b[from:], '.') < 0 {
		b = append(b, ".0"...)
	}
	return b
}

// schemaDate returns d in a form that the schema has: a full date, or a time with seconds
// and an offset of at most 14 hours.
func schemaDate(d websync.Datetime) websync.Datetime {
	switch p := d.Precision(); {
	case p == websync.PrecisionUnstated:
		return d
	case p < websync.PrecisionDay:
		return d.WithPrecision(websync.PrecisionDay)
	case p == websync.PrecisionDay:
		return d
	case p < websync.PrecisionSecond:
		d = d.WithPrecision(websync.PrecisionSecond)
	}
	const most = 14 * 60 * 60
	if _, offset := d.Time().Zone(); offset < -most || offset > most {
		d = d.UTC()
	}
	if isLeap(d) {
		return websync.NewDatetime(d.Time().Truncate(time.Second))
	}
	return d
}

// isLeap tells whether d is in a leap second, whose text has the second 60.
func isLeap(d websync.Datetime) bool {
	if d.Time().Second() != 0 {
		return false
	}
	var buf [64]byte
	text, _ := d.AppendText(buf[:0])
	return len(text) > 19 && string(text[17:19]) == "60"
}

// appendElements appends the extension elements of an entry.
func (c *checker) appendElements(b []byte, e *Entry, index bool) (_ []byte, element string, err error) {
	from := len(b)
	set := alternateSet{loc: e.Loc}
	images, news := 0, 0
	for _, x := range e.Elements {
		known := extensionOf(x.Space)
		if index && known != nil {
			return b, x.Local, errInIndex
		}
		switch known {
		case imageExtension:
			images++
		case newsExtension:
			news++
		}
		n, err := c.read(x)
		if err != nil {
			return b, x.Local, err
		}
		if n.isAlternate() {
			set.add(n)
		}
		b = append(b, x.XML...)
		if len(b)-from > maxElements {
			return b, x.Local, errors.New(ruleElementSize.Summary)
		}
	}
	switch {
	case images > maxImages:
		return b, "image", errors.New(ruleImageCount.Summary)
	case news > 1:
		return b, "news", errors.New(ruleNewsTwice.Summary)
	}
	err = nil
	set.check(func(f fault) {
		if err == nil {
			err = &f
		}
	})
	return b, "link", err
}

// appendElement appends one extension element of a document.
func (c *checker) appendElement(b []byte, x websync.Element, from int) ([]byte, error) {
	if extensionOf(x.Space) != nil || x.Space == XHTMLNamespace {
		return b, errors.New(ruleExtPlace.Summary)
	}
	if _, err := c.read(x); err != nil {
		return b, err
	}
	if b = append(b, x.XML...); len(b)-from > maxElements {
		return b, errors.New(ruleElementSize.Summary)
	}
	return b, nil
}

// read reads an extension element that is to be written, if it is valid.
func (c *checker) read(x websync.Element) (*node, error) {
	n, err := c.tree.read([]byte(x.XML))
	switch {
	case err != nil:
		return nil, fmt.Errorf("raw element: %w", err)
	case n.space != x.Space || n.local != x.Local:
		return nil, fmt.Errorf("raw element: its name is {%s}%s", n.space, n.local)
	case n.space == "" || n.space == Namespace || isNear(n.space):
		return nil, errors.New("an extension has a namespace of its own")
	case !utf8.ValidString(x.XML):
		return nil, errNotElement
	}
	return &n, checkNode(&n)
}
