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

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// MaxBytes is how long the protocol allows one document to be, uncompressed.
const MaxBytes = 50 << 20

// A Writer writes one <urlset> or <sitemapindex> that is valid by construction: it
// refuses each [Entry] that breaks the protocol, its schema, the rules for alternates or
// those of Extensions, and each one that does not fit. The output depends only on the
// Head, the entries and the fields.
//
// Call WriteHead at most once, Write any number of times, and Close. Without WriteHead
// the document is a urlset whose root has nothing but entries.
//
// Set the fields before the first call. A Writer is not safe for concurrent use.
type Writer struct {
	WriterOptions

	// Appender, if set, appends extension elements to the document and to each entry.
	Appender *Appender

	dst     io.Writer
	zip     *gzip.Writer
	begun   bool   // the head is written
	index   bool   // the document is one
	err     error  // of the head or of dst; sticks
	buf     []byte // bytes not yet written to dst
	size    int64  // of the document, buf included
	empty   int64  // length of the part before the entries
	entries int
	lastMod websync.Datetime

	entry []byte // the current entry
	check checker
}

// WriterOptions is how documents are written. The zero value is usable.
type WriterOptions struct {
	// Gzip compresses each document with gzip.
	Gzip bool

	// Extensions are the extensions whose elements are checked, besides alternates: for
	// example those of package sitemap/google. Elements of other namespaces must only be
	// well-formed.
	Extensions []Extension

	// MaxEntries and MaxBytes limit each document; the bytes are those of the whole
	// document, uncompressed. If zero, negative or above them, they are the protocol's
	// limits: 50,000 and 52,428,800.
	MaxEntries int
	MaxBytes   int64
}

// NewWriter returns a Writer to dst.
func NewWriter(dst io.Writer) *Writer { return &Writer{dst: dst} }

// reset makes w write another document, keeping its settings and memory.
func (w *Writer) reset(dst io.Writer) {
	w.dst, w.begun, w.err = dst, false, nil
	w.buf, w.size, w.entries, w.lastMod = w.buf[:0], 0, 0, websync.Datetime{}
}

// Entries returns how many entries were written.
func (w *Writer) Entries() int { return w.entries }

// Bytes returns how many bytes were written so far, uncompressed; after Close, the length
// of the document.
func (w *Writer) Bytes() int64 { return w.size }

// LastMod returns the greatest LastMod that was written.
func (w *Writer) LastMod() websync.Datetime { return w.lastMod }

var (
	errClosed = errors.New("sitemap: write after Close")
	errHead   = errors.New("sitemap: WriteHead must be called once, before the entries")
)

// WriteHead writes the start of the document: its root element with Attrs and Namespaces,
// and Elements. It ignores URL, Index and At. If Kind is zero, it is URLSet; Text is an
// error.
//
// For a head that no valid document can have, it returns a [*websync.EntryError], and for
// one that is too long, an error that matches [websync.ErrLimit]. These errors stick.
func (w *Writer) WriteHead(h *Head) error {
	switch {
	case w.err != nil:
		return w.err
	case w.begun:
		return errHead
	}
	w.err = w.begin(h)
	return w.err
}

// Write writes one entry. It ignores Line, Column and LastModText.
//
// For an entry that no valid document can hold, Write returns a [*websync.EntryError];
// for one that does not fit into this document, an error that matches [websync.ErrLimit].
// In both cases it writes nothing, and the Writer can go on. An error of the io.Writer
// sticks.
//
// The schema has full dates and full times only, so some are written otherwise: a year or
// a month is written as its first day, a time without seconds with them, a leap second as
// the one after it, an offset above 14 hours in UTC.
func (w *Writer) Write(e *Entry) error {
	if err := w.ready(); err != nil {
		return err
	}
	if err := w.encode(e); err != nil {
		return err
	}
	if !w.fits() {
		return errFull
	}
	return w.put()
}

// ready writes the zero Head if no other was written.
func (w *Writer) ready() error {
	if w.err == nil && !w.begun {
		return w.WriteHead(new(Head))
	}
	return w.err
}

// begin writes the part of the document before the entries.
func (w *Writer) begin(h *Head) error {
	if h.Kind > Index {
		return fmt.Errorf("sitemap: Head.Kind %v must be URLSet or Index", h.Kind)
	}
	w.begun, w.index = true, h.Kind == Index
	if w.buf == nil {
		w.buf = make([]byte, 0, document.FlushSize+document.FlushSize/4)
	}
	w.buf = append(w.buf, document.XMLHeading+"<"+w.root()+` xmlns="`+Namespace+`"`...)
	if a := w.Appender; a != nil {
		w.buf = append(w.buf, ` xmlns:`+a.Prefix+`="`+a.Space+`"`...)
	}
	if err := w.appendAttrs(h); err != nil {
		return err
	}
	w.buf = append(w.buf, ">\n"...)
	if a := w.Appender; a != nil {
		w.buf = a.Document(w.buf)
	}
	w.check.use(w.Extensions)
	w.check.appender = w.Appender
	for i := range h.Elements {
		b, err := w.check.appendElement(w.buf, &h.Elements[i])
		if err != nil {
			return err
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
	if w.index {
		return "sitemapindex"
	}
	return "urlset"
}

func (w *Writer) footer() string {
	if w.index {
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

// fits reports whether there is room for w.entry.
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
	if len(w.buf) >= document.FlushSize {
		w.err = w.flush()
	}
	return w.err
}

func (w *Writer) flush() (err error) {
	dst := w.dst
	if w.Gzip {
		dst = w.zip
	}
	w.buf, err = document.Flush("sitemap", dst, w.buf)
	return err
}

// Close ends the document. It does not close the io.Writer. Calls after the first return
// the same. It also writes a document without entries, which the schema does not allow
// and Validate reports as a warning.
func (w *Writer) Close() error {
	if w.err == errClosed {
		return nil
	}
	if err := w.ready(); err != nil {
		return err
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

// encode writes e into w.entry.
func (w *Writer) encode(e *Entry) error {
	b := w.entry[:0]
	name := "url"
	if w.index {
		name = "sitemap"
	}
	b = append(b, '<')
	b = append(b, name...)
	b = append(b, '>')
	b, err := w.check.append(b, e, w.index)
	if err != nil {
		return err
	}
	b = append(b, "</"...)
	b = append(b, name...)
	b = append(b, '>', '\n')
	w.entry = b
	return nil
}

// A checker appends the children of valid entries.
type checker struct {
	exts     extensions
	appender *Appender        // nil if there is none
	count    []int            // of the elements of each extension in the entry
	lastMod  websync.Datetime // as written
}

// use makes c check the elements of some extensions.
func (c *checker) use(exts []Extension) { c.exts, c.count = exts, make([]int, len(exts)) }

var (
	// RFC 3986 §6.2.3: producers should omit the colon
	errEmptyPort = errors.New("a colon without a port after it")
	errShort     = errors.New("fewer than 12 characters, which the schema refuses")
	errLong      = errors.New("2,048 characters or more")
	errTwo       = errors.New("a second URL after the first, as if the end of a line was lost")
	errFreq      = errors.New("not one of always, hourly, daily, weekly, monthly, yearly, never")
	errPriority  = errors.New("not a number from 0.0 to 1.0")
	errInIndex   = errors.New("an index has only loc and lastmod")
)

// append appends the children of an entry.
func (c *checker) append(b []byte, e *Entry, index bool) (_ []byte, err error) {
	isURL, isPlain := syntax.CommonURL(e.Loc)
	if err := locFault(e.Loc, isURL); err != nil {
		return b, c.refuse(e.Loc, "loc", err)
	}
	b = append(b, "<loc>"...)
	if isPlain {
		b = append(b, e.Loc...)
	} else if b, err = xmlscan.AppendText(b, e.Loc); err != nil {
		return b, c.refuse(e.Loc, "loc", err)
	}
	b = append(b, "</loc>"...)
	if c.lastMod = e.LastMod; !c.lastMod.IsZero() {
		b = append(b, "<lastmod>"...)
		b, c.lastMod = document.AppendSchemaDate(b, e.LastMod)
		b = append(b, "</lastmod>"...)
	}
	if e.ChangeFreq != "" {
		switch {
		case index:
			return b, c.refuse(e.Loc, "changefreq", errInIndex)
		case !slices.Contains(changeFreqs, e.ChangeFreq):
			return b, c.refuse(e.Loc, "changefreq", errFreq)
		}
		b = append(b, "<changefreq>"...)
		b = append(b, e.ChangeFreq...)
		b = append(b, "</changefreq>"...)
	}
	if e.Priority != 0 {
		p, _ := e.StatedPriority()
		switch {
		case index:
			return b, c.refuse(e.Loc, "priority", errInIndex)
		case !(p >= 0 && p <= 1):
			return b, c.refuse(e.Loc, "priority", errPriority)
		}
		b = append(b, "<priority>"...)
		b = appendPriority(b, p)
		b = append(b, "</priority>"...)
	}
	if c.appender != nil {
		b = c.appender.Entry(b, e)
	}
	if len(e.Elements) == 0 {
		return b, nil
	}
	return c.appendElements(b, e, index)
}

// locFault returns why a loc can't be written; nil if it can. isURL is the result of
// syntax.CommonURL.
func locFault(loc string, isURL bool) error {
	if !isURL {
		if message := syntax.URLFault(loc); message != "" {
			return errors.New(message)
		}
		if syntax.HasEmptyPort(loc) {
			return errEmptyPort
		}
	}
	switch {
	case len(loc) < minLoc:
		return errShort
	case len(loc) >= maxLoc:
		return errLong
	case strings.LastIndex(loc, "://") > len("https") && holdsTwo([]byte(loc)):
		return errTwo
	}
	return nil
}

// leastPriority is the least priority above zero that is written: schema processors limit
// the digits of a decimal.
const leastPriority = 1e-6

func appendPriority(b []byte, p float32) []byte {
	if tenths := int(10*p + 0.5); float32(tenths)/10 == p {
		return append(b, '0'+byte(tenths/10), '.', '0'+byte(tenths%10))
	}
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

// appendElements appends the extension elements of an entry.
func (c *checker) appendElements(b []byte, e *Entry, index bool) (_ []byte, err error) {
	from := len(b)
	set := alternateSet{loc: e.Loc}
	clear(c.count)
	for i := range e.Elements {
		x := &e.Elements[i]
		known := c.exts.of(x.Space)
		if index && known >= 0 {
			return b, c.refuse(e.Loc, x.Local, errInIndex)
		}
		alternate, wrong := c.exts.refusal(x)
		if wrong != nil {
			return b, refused(e.Loc, x, wrong)
		}
		if alternate != nil {
			set.add(alternate)
		}
		if known >= 0 {
			c.count[known]++
		}
		b = append(b, x.XML...)
		if len(b)-from > maxElements {
			return b, c.refuse(e.Loc, x.Local, errors.New(ruleElementSize.Summary))
		}
	}
	for i, n := range c.count {
		if x := &c.exts[i]; x.PerEntry > 0 && n > x.PerEntry {
			return b, c.refuse(e.Loc, x.Local, errors.New(x.EntryRule.Summary))
		}
	}
	set.check(func(f websync.Finding) {
		if err == nil {
			err = c.refuse(e.Loc, "link", errors.New(f.Message))
		}
	})
	return b, err
}

// appendElement appends one extension element of a document.
func (c *checker) appendElement(b []byte, x *websync.Element) ([]byte, error) {
	if c.exts.of(x.Space) >= 0 || x.Space == XHTMLNamespace {
		return b, c.refuse("", x.Local, errors.New(ruleExtPlace.Summary))
	}
	if _, wrong := c.exts.refusal(x); wrong != nil {
		return b, refused("", x, wrong)
	}
	if b = append(b, x.XML...); len(b) > maxElements {
		return b, c.refuse("", x.Local, errors.New(ruleElementSize.Summary))
	}
	return b, nil
}

func (c *checker) refuse(loc, element string, err error) error {
	return &websync.EntryError{Format: "sitemap", ID: loc, Element: element, Err: err}
}
