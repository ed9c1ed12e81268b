package sitemap

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// MaxEntries is how many entries the protocol allows in one document.
const MaxEntries = 50_000

// A Kind is what a document lists.
type Kind uint8

const (
	URLSet Kind = iota + 1 // a list of pages
	Index                  // a list of sitemaps
	Text                   // a list of pages in plain text
)

// String returns "urlset", "sitemapindex", "text", or "unknown" for the zero Kind.
func (k Kind) String() string {
	switch k {
	case URLSet:
		return "urlset"
	case Index:
		return "sitemapindex"
	case Text:
		return "text"
	}
	return "unknown"
}

// A Reader streams the entries of one document: a <urlset>, a <sitemapindex> or a list of
// URLs in plain text. It recognises the format, and compression with gzip, by the
// content. It holds one entry at a time.
//
// It reads liberally: it reports and reads over departures from the protocol, and a bad
// entry costs none of its neighbours. Reading ends early only if the document is not a
// sitemap, is cut short, is not well-formed XML or passes a limit. The error is then a
// [*websync.ParseError], which wraps [websync.ErrNotDocument], [websync.ErrTruncated] or
// [websync.ErrLimit] where one of them is the reason. A valid document without entries is
// no error.
//
// Set the fields before the first call.
type Reader struct {
	// Document is the URL or file name of the document. Findings and errors carry it. If
	// it is a URL, relative locs are resolved against it.
	Document string

	// ContentType is the header of that name that came with the document; empty if none
	// is known. A byte-order mark counts before its charset, and its charset before the
	// XML declaration (RFC 7303 §3.2). Where one of the two is UTF-8 and the other is
	// not, the bytes decide. All encodings of the web are read.
	ContentType string

	// Report receives each departure from the protocol that does not stop the Reader. If
	// nil, they are dropped.
	Report func(websync.Finding)

	// Strict makes the first finding that is a warning or an error end reading with a
	// *websync.ParseError.
	Strict bool

	// MaxEntries limits the entries; more are websync.ErrLimit. If zero or negative,
	// there is no limit, and more than the protocol's 50,000 are a finding.
	MaxEntries int

	// MaxBytes limits the bytes of the document, decompressed; more are websync.ErrLimit.
	// If zero, it is 1 GiB; if negative, there is no limit. More than the protocol's 50
	// MiB are a finding.
	MaxBytes int64

	// MaxValue limits the bytes of one value: a loc, an extension element. If zero, it is
	// 8 MiB; if negative, there is no limit but MaxBytes. MaxDepth limits how deep
	// elements are nested. If zero, it is 256; if negative, there is no limit. A value
	// that passes one of them is reported, left out and counted in Skipped; a Strict
	// Reader ends with websync.ErrLimit.
	MaxValue, MaxDepth int

	// Now, if set, makes a lastmod more than a day after it a finding.
	Now time.Time

	// Take, if set, is called at the start tag of each extension element, of an entry or
	// of the document itself. If it returns true, the element is not among Elements, and
	// the Reader passes over its content, which is a finding. Take must not use the
	// Reader.
	Take func(*Tag) bool

	src     io.Reader
	reports document.Reports
	doc     *document.Document
	xml     *document.XML
	lines   *lines
	kind    Kind
	root    string    // the XML root's local name
	space   string    // and its namespace
	foreign [4]string // the last namespaces that were not the protocol's
	spaced  bool      // an element with another namespace was reported
	inner   string    // the namespace of the current entry
	// the current token, if it is still to be handled: the start of an entry, the end of
	// the root
	tag       xmlscan.Kind
	parent    bool // the last element had an element inside
	view      View
	texts     texts
	elements  []websync.Element
	attrs     []websync.Attr // of the root
	positions []position     // of elements, where they start
	size      int            // of elements
	entries   int
	base      base
	start     Tag // the argument of Take
	// where the current element of an entry, or the line of a text, starts
	line     int
	column   int    // known only if findings are reported
	lastText []byte // the last lastmod that was read
	lastMod  websync.Datetime
	err      error // sticks
}

// A position is where something starts in a document.
type position struct{ line, column int }

// NewReader returns a Reader of the document in r.
func NewReader(r io.Reader) *Reader { return &Reader{src: r} }

// Kind returns what the document is. It is known after the first call of Next or
// NextView, even if that returned io.EOF.
//
// A document is an Index if its root element or its first entry is that of an index:
// mistaking an index for pages loses data silently; the reverse is visible.
func (r *Reader) Kind() Kind { return r.kind }

// Skipped returns how many entries were left out so far because they have no usable loc,
// plus how often others may have been lost: an entry inside another or inside an unknown
// element, a second loc, text with markup where none belongs. The Reader reads such
// entries where it can, and still counts them, because there may be more.
//
// A value that passes MaxValue or MaxDepth also counts, and so does a processing
// instruction that runs on to the end of another.
func (r *Reader) Skipped() int {
	if r.xml == nil {
		return r.reports.Skipped
	}
	lost := r.xml.Losses()
	// lost.Sections is not added, because the text of CDATA sections is checked
	return r.reports.Skipped + lost.Cut + lost.Instructions
}

// Elements returns the extension elements of the root element itself that were read so
// far, for example rs:md and rs:ln.
func (r *Reader) Elements() []websync.Element { return r.elements }

// Attrs returns the attributes of other namespaces of the root element, for example
// dct:relation. They are known after the first call of Next or NextView, even if that
// returned io.EOF.
func (r *Reader) Attrs() []websync.Attr { return r.attrs }

// All returns an iterator over the remaining entries. It stops after the first error and
// can be ranged over once.
func (r *Reader) All() iter.Seq2[Entry, error] { return document.All(r.Next) }

// Next returns the next entry, or io.EOF at the end of the document. Errors stick.
//
// The texts of entries of up to 128 bytes share blocks of 1 KiB with those of their
// neighbours. A program that keeps one entry of many for long clones its strings, or uses
// NextView and Clone.
func (r *Reader) Next() (e Entry, err error) {
	v, err := r.NextView()
	if err == nil {
		v.copyTo(&e, r.texts.copy(v.buf.Bytes), 0)
	}
	return e, err
}

// NextView is like Next but returns a view, which is valid until the next call and
// allocates nothing.
func (r *Reader) NextView() (*View, error) {
	if r.err == nil && r.doc == nil {
		r.err = r.begin()
	}
	if r.err == nil {
		if r.lines != nil {
			r.err = r.nextLine()
		} else {
			r.err = r.nextElement()
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return &r.view, nil
}

// sitemapKind is what a Reader expects.
var sitemapKind = document.Kind{Format: "sitemap", Name: "a sitemap", Else: "neither XML nor a list of URLs"}

// begin recognises the document and reads to its root element.
func (r *Reader) begin() error {
	r.base = newBase(r.Document)
	r.reports.Format, r.reports.Document, r.reports.To, r.reports.Strict = "sitemap", r.Document, r.Report, r.Strict
	r.doc = &document.Document{
		Kind: sitemapKind, URL: r.Document, ContentType: r.ContentType, Report: r.reportDocument, Strict: r.Strict,
		MaxDepth: r.MaxDepth,
	}
	if err := r.doc.Open(r.src, r.MaxBytes); err != nil {
		return err
	}
	if head := r.doc.Head(); !document.StartsAsXML(head) && isText(head) {
		r.kind = Text
		r.lines = newLines(r.text())
		return r.reports.Fatal
	}
	return r.beginXML()
}

func (r *Reader) beginXML() (err error) {
	if r.xml, err = r.doc.XML(); err != nil {
		return err
	}
	line, column := r.xml.Position()
	name := r.xml.Name()
	switch {
	case strings.EqualFold(name.Local, "urlset"):
		r.kind, r.root = URLSet, "urlset"
	case strings.EqualFold(name.Local, "sitemapindex"):
		r.kind, r.root = Index, "sitemapindex"
	default:
		return r.doc.Fail(line, column, name.Local, r.doc.Not(document.WhatRoot(name)))
	}
	r.xml.CheckPrologue()
	if name.Local != r.root {
		r.reports.Add(ruleElementName, line, column, name.Local, nil, "the element is named "+r.root)
	}
	r.space = name.Space
	r.xml.Stop, r.xml.MaxValue = r.stop, r.MaxValue
	if r.space != Namespace {
		r.reports.Add(ruleNamespace, line, column, name.Local, []byte(r.space), namespaceFault(r.space))
	}
	r.rootAttrs(line, column)
	return r.reports.Fatal
}

// documentRules are the rules that departures break.
var documentRules = [...]Rule{
	document.Compression: ruleGzip,
	document.Preamble:    rulePrologue,
	document.Fault:       ruleXML,
	document.Encoding:    ruleEncoding,
	document.Doctype:     ruleDoctype,
}

func (r *Reader) reportDocument(d document.Departure, line, column int, value []byte, message string) {
	r.reports.Add(documentRules[d], line, column, "", value, message)
}

const (
	schemaInstance = "http://www.w3.org/2001/XMLSchema-instance"
	xmlNamespace   = "http://www.w3.org/XML/1998/namespace"
)

// rootAttrs keeps the attributes of the root that belong to other namespaces, and reports
// the others.
func (r *Reader) rootAttrs(line, column int) {
	for _, a := range r.xml.Attrs() {
		if space := a.Name.Space; space == schemaInstance || space == xmlNamespace || r.own(space) {
			r.checkAttr(&a, line, column)
			continue
		}
		r.attrs = append(r.attrs, websync.Attr{Space: a.Name.Space, Local: a.Name.Local, Value: string(a.Value)})
	}
}

// checkAttrs reports the attributes of the current element.
func (r *Reader) checkAttrs(line, column int) {
	for _, a := range r.xml.Attrs() {
		r.checkAttr(&a, line, column)
	}
}

// checkAttr reports an attribute, unless it names a schema.
func (r *Reader) checkAttr(a *xmlscan.Attr, line, column int) {
	switch a.Name.Space {
	case schemaInstance:
	case xmlNamespace:
		r.reports.Add(ruleAttribute, line, column, r.xml.Name().Local, a.Value,
			"the protocol has no attribute "+shorten("xml:"+a.Name.Local))
	case "":
		r.reports.Add(ruleAttribute, line, column, r.xml.Name().Local, a.Value,
			"the protocol has no attribute "+shorten(a.Name.Local))
	default:
		r.reports.Add(ruleForeignAttr, line, column, r.xml.Name().Local, a.Value,
			"the attribute "+shorten(a.Name.Local)+" of another namespace")
	}
}

// shorten quotes a name, cut to 100 characters.
func shorten(name string) string { return fmt.Sprintf("%.100q", name) }

func noElement(name string) string { return "the protocol has no element " + shorten(name) }

// namespaceFault returns how a namespace differs from the protocol's.
func namespaceFault(space string) string {
	const fault = "the namespace is not " + Namespace
	switch rest, https := strings.CutPrefix(space, "https:"); {
	case space == "":
		return fault + ": there is none"
	case https && "http:"+rest == Namespace:
		return fault + ": https for http"
	case strings.EqualFold(strings.Trim(space, "/ "), Namespace):
		return fault + ", byte for byte"
	}
	return fault
}

// isNear reports whether a namespace is a variant of the protocol's.
func isNear(space string) bool {
	return strings.Contains(strings.ToLower(space), "sitemaps.org/schemas/sitemap") ||
		strings.HasPrefix(space, "http://www.google.com/schemas/sitemap/")
}

// nextElement reads up to the next entry of an XML document.
func (r *Reader) nextElement() error {
	for {
		tag, err := r.tag, error(nil)
		fresh := tag == 0
		if r.tag = 0; fresh {
			tag, err = r.nextListTag()
		}
		switch {
		case err != nil:
			return r.xml.Fail(err)
		case tag == xmlscan.Start:
		case r.xml.Depth() == 1:
			return r.endXML()
		default:
			continue // the end of an element that had entries inside
		}
		line, column := r.xml.Position()
		name := r.entryName(r.xml.Name())
		if name == "loc" && fresh {
			r.interrupted(ruleNesting, "a loc outside of an entry: read as an entry of its own")
		}
		if name == "" {
			if err := r.elsewhere(line, column); err != nil {
				return err
			}
		} else if ok, err := r.entry(name, line, column); ok || err != nil {
			return err
		}
	}
}

// nextListTag returns the next tag outside of entries. Text there may stand for an entry:
// an error message, for example.
func (r *Reader) nextListTag() (xmlscan.Kind, error) {
	return r.xml.NextTagAndText(func(line, column int, text []byte) {
		r.reports.Doubt(ruleText, line, column, "", text, "text between the elements that may stand for an entry")
	})
}

// nextTag returns the next tag in an entry. It reports text between the elements.
func (r *Reader) nextTag() (xmlscan.Kind, error) {
	return r.xml.NextTagAndText(func(line, column int, text []byte) {
		if bytes.IndexByte(text, '<') >= 0 || bytes.Contains(text, []byte("://")) {
			r.reports.Doubt(ruleText, line, column, "", text, "text between the elements that may have been an entry")
			return
		}
		r.reports.Add(ruleText, line, column, "", text, "text between the elements")
	})
}

// entryName returns "url", "sitemap" or "loc" if an element with this name starts an
// entry; otherwise "". Every loc but the first one of an entry starts an entry.
func (r *Reader) entryName(name xmlscan.Name) string {
	local := name.Local
	if len(local) != len("url") && len(local) != len("sitemap") {
		return ""
	}
	for _, entry := range [...]string{"url", "loc", "sitemap"} {
		if (local == entry || strings.EqualFold(local, entry)) && r.own(name.Space) {
			return entry
		}
	}
	return ""
}

// own reports whether a namespace stands for the protocol's in this document.
func (r *Reader) own(space string) bool {
	switch {
	case space == r.space, space == Namespace, space == "":
		return true
	case slices.Contains(r.foreign[:], space):
		return false
	case isNear(space):
		return true
	}
	copy(r.foreign[1:], r.foreign[:])
	r.foreign[0] = space
	return false
}

// stop makes the XML reader stop at an entry inside an element that it reads over.
func (r *Reader) stop(name xmlscan.Name) bool {
	r.parent = true
	return r.entryName(name) != ""
}

// interrupted reports that the current element starts an entry where the protocol allows
// none. The text before or after it may be another entry.
func (r *Reader) interrupted(rule Rule, message string) {
	line, column := r.xml.Position()
	r.tag = xmlscan.Start
	r.reports.Doubt(rule, line, column, r.xml.Name().Local, nil, message)
}

// entry reads one entry into r.view: the element whose start is current or, if that is a
// loc, it and the elements after it. It returns false if the entry has no usable loc.
func (r *Reader) entry(name string, line, column int) (ok bool, err error) {
	r.view.reset(line, column)
	if err := r.count(); err != nil {
		return false, err
	}
	var seen fields
	if r.tag = 0; name == "loc" {
		r.inner = r.xml.Name().Space
		err = r.child(&seen)
	} else {
		r.checkEntryName(name, line, column)
	}
	for err == nil {
		var tag xmlscan.Kind
		if tag, err = r.nextTag(); err != nil {
			break
		}
		if tag == xmlscan.End {
			if r.xml.Depth() == 1 {
				r.tag = tag // the end of the root, after a loc outside an entry
			}
			break
		}
		err = r.child(&seen)
	}
	if err != nil && err != xmlscan.ErrStopped {
		return false, r.xml.Fail(err)
	}
	if r.view.loc == (span{}) {
		if seen&seenLoc == 0 {
			r.reports.Loss(ruleLocMissing, line, column, name, nil, "an entry without loc")
		}
		r.reports.Skipped++
	}
	r.view.finish()
	return r.view.loc != span{}, r.reports.Fatal
}

// checkEntryName compares the entry's element with the root.
func (r *Reader) checkEntryName(name string, line, column int) {
	full := r.xml.Name()
	r.inner = full.Space
	if full.Local != name {
		r.reports.Add(ruleElementName, line, column, full.Local, nil, "the element is named "+name)
	}
	r.checkNamespace(full, line, column)
	r.checkAttrs(line, column)
	switch {
	case (name == "sitemap") == (r.kind == Index):
	case r.entries == 1 && r.kind == URLSet:
		r.kind = Index
		r.reports.Add(ruleRoot, line, column, r.root, nil, "a urlset of sitemap elements: an index was meant")
	default:
		r.reports.Add(ruleEntry, line, column, name, nil, "a "+name+" element in a "+r.kind.String())
	}
}

// checkNamespace reports an element whose namespace is neither the root's nor the
// protocol's. If the root's is wrong, it reports only the first one.
func (r *Reader) checkNamespace(name xmlscan.Name, line, column int) {
	if name.Space != r.space && name.Space != Namespace && (!r.spaced || r.space == Namespace) {
		r.spaced = true
		r.reports.Add(ruleNamespace, line, column, name.Local, []byte(name.Space), namespaceFault(name.Space))
	}
}

// A fields is a set of the elements that an entry can have once.
type fields uint8

const (
	seenLoc fields = 1 << iota
	seenLastMod
	seenChangeFreq
	seenPriority
	seenExtension
)

// child reads one child element of an entry. Errors are those of r.xml;
// xmlscan.ErrStopped means that the current element starts another entry, and has been
// reported.
func (r *Reader) child(seen *fields) error {
	if r.Report != nil || r.Strict {
		r.line, r.column = r.xml.Position()
	}
	name := r.xml.Name()
	if name.Space != r.space {
		if !r.own(name.Space) {
			*seen |= seenExtension
			if taken, err := r.take(name, &r.view); taken || err != nil {
				return err
			}
			return r.capture()
		}
		if name.Space != r.inner {
			r.checkNamespace(name, r.line, r.column)
		}
	}
	local := name.Local
	field := fieldNamed(local)
	if field == 0 {
		local = strings.ToLower(name.Local)
		field = fieldNamed(local)
	}
	switch {
	case field == seenLoc && *seen&seenLoc != 0:
		r.interrupted(ruleDuplicate, "a second loc in one entry: read as an entry of its own")
		return xmlscan.ErrStopped
	case field == 0 && r.entryName(name) != "":
		r.interrupted(ruleNesting, "an entry inside of another")
		return xmlscan.ErrStopped
	case field == 0:
		r.reportChild(ruleUnknown, nil, noElement(name.Local))
		return r.capture()
	case local != name.Local:
		r.reportChild(ruleElementName, nil, "the element is named "+local)
	}
	if len(r.xml.Attrs()) > 0 {
		r.checkAttrs(r.line, r.column)
	}
	return r.field(seen, field, local)
}

// field reads the text of a child that the protocol defines. Errors are those of child.
func (r *Reader) field(seen *fields, field fields, local string) error {
	r.parent = false
	var before xmlscan.Losses
	if field == seenLoc {
		before = r.xml.Losses()
	}
	text, err := r.xml.ElementText()
	if err == xmlscan.ErrStopped {
		r.interrupted(ruleNesting, "an entry inside of "+local)
	}
	if err != nil {
		return err
	}
	if field != seenLoc && bytes.IndexByte(text, '<') >= 0 && hasEntry(text, "</") {
		r.reports.Doubt(ruleNesting, r.line, r.column, r.xml.Name().Local, nil, textWithEntry)
	}
	if *seen&field != 0 {
		r.reportChild(ruleDuplicate, text, "twice in one entry: the first counts")
		return nil
	}
	if *seen > field {
		r.reportChild(ruleOrder, nil, "after an element that it has to precede")
	}
	*seen |= field
	switch field {
	case seenLoc:
		r.takeDamagedLoc(text, before)
	case seenLastMod:
		r.takeLastMod(text)
	case seenChangeFreq:
		r.takeChangeFreq(text)
	case seenPriority:
		r.takePriority(xmlscan.Trim(text))
	}
	return nil
}

func fieldNamed(local string) fields {
	switch local {
	case "loc":
		return seenLoc
	case "lastmod":
		return seenLastMod
	case "changefreq":
		return seenChangeFreq
	case "priority":
		return seenPriority
	}
	return 0
}

func (r *Reader) takeLastMod(text []byte) {
	v := &r.view
	v.modAt = position{r.line, r.column}
	if len(r.lastText) > 0 && string(text) == string(r.lastText) {
		v.LastMod = r.lastMod
	} else {
		text = xmlscan.Trim(text)
		d, err := websync.ParseDatetime(string(text))
		if err != nil {
			r.takeOddLastMod(text)
			return
		}
		if hasSmallTZ(text) {
			r.reportChild(ruleLastMod, text, smallTZ)
		} else if len(text) <= maxValue {
			r.lastText = append(r.lastText[:0], text...)
			r.lastMod = d
		}
		v.LastMod = d
	}
	r.checkFuture(text)
}

const smallTZ = "not a W3C date: T and Z are written in capitals"

// hasSmallTZ reports whether a datetime has a small t or z, which RFC 3339 allows but W3C
// datetimes do not.
func hasSmallTZ[T syntax.Text](datetime T) bool {
	const date = len("2006-01-02")
	return len(datetime) > date && (datetime[date] == 't' || datetime[len(datetime)-1] == 'z')
}

// takeOddLastMod reads a lastmod that is not a W3C datetime.
func (r *Reader) takeOddLastMod(text []byte) {
	if len(text) == 0 {
		r.reportChild(ruleLastMod, nil, "an empty lastmod")
		return
	}
	v := &r.view
	v.text = v.buf.Add(text[:min(len(text), maxValue)])
	d, departure, err := websync.ParseDatetimeLenient(string(text))
	if err != nil {
		r.reportChild(ruleLastMod, text, err.Error())
		return
	}
	v.LastMod = d
	r.reportChild(ruleLastMod, text, "not a W3C date: "+departure)
	r.checkFuture(text)
}

func (r *Reader) checkFuture(text []byte) {
	if !r.Now.IsZero() && r.view.LastMod.Time().After(r.Now.Add(24*time.Hour)) {
		r.reportChild(ruleLastModFuture, text, "lastmod lies in the future")
	}
}

func (r *Reader) takeChangeFreq(text []byte) {
	trimmed := xmlscan.Trim(text)
	f, exact := parseChangeFreq(trimmed)
	r.view.ChangeFreq = f
	switch {
	case exact && len(trimmed) < len(text):
		r.reportChild(ruleChangeFreq, text, "white space around changefreq")
	case exact:
		r.notInIndex()
	case f != "":
		r.reportChild(ruleChangeFreq, text, "changefreq is written in lower case")
	default:
		r.reportChild(ruleChangeFreq, text, "not one of always, hourly, daily, weekly, monthly, yearly, never")
	}
}

func (r *Reader) takePriority(text []byte) {
	p, ok := parsePriority(text)
	if ok {
		r.view.Priority = p
		r.notInIndex()
		return
	}
	if fixed := bytes.Replace(text, []byte(","), []byte("."), 1); len(fixed) == len(text) {
		p, ok = parsePriority(fixed)
	}
	if ok {
		r.view.Priority = p
		r.reportChild(rulePriority, text, "a comma instead of the decimal point")
		return
	}
	r.reportChild(rulePriority, text, "not a number from 0.0 to 1.0")
}

// notInIndex reports the current element if the document is an index, whose entries have
// only loc and lastmod.
func (r *Reader) notInIndex() {
	if r.kind == Index {
		r.reportChild(ruleNotInIndex, nil, "an index has only loc and lastmod")
	}
}

// maxValue limits the bytes of LastModText.
const maxValue = 1024

// maxElements limits the bytes of extension elements of one entry, and of the root.
const maxElements = 1 << 20

// capture keeps the current element of an entry. Its errors are those of child.
func (r *Reader) capture() error {
	v := &r.view
	name, from := r.xml.Name(), len(v.buf.Bytes)
	b, err := r.append(v.buf.Bytes, r.line, r.column)
	if err != nil {
		return err
	}
	if v.buf.Bytes = b; len(b) == from { // over a limit, and reported
		return nil
	}
	if from > maxElements {
		v.buf.Bytes = b[:from]
		r.reportChild(ruleElementSize, nil, "more than 1 MiB of extension elements in one entry: left out")
		return nil
	}
	v.pieces = append(v.pieces, piece{name.Space, name.Local, v.buf.Since(from), position{r.line, r.column}})
	return nil
}

// append appends the current element to dst, and looks for entries in it. Its errors are
// those of child.
func (r *Reader) append(dst []byte, line, column int) ([]byte, error) {
	local := r.xml.Name().Local
	b, err := r.xml.AppendElement(dst)
	switch {
	case err == xmlscan.ErrStopped:
		r.interrupted(ruleNesting, "an entry inside of "+shorten(local))
	case err == nil && hasEntry(b[len(dst):], "&lt;/"):
		r.reports.Doubt(ruleNesting, line, column, local, nil, textWithEntry)
	}
	return b, err
}

const textWithEntry = "the end tag of an entry is text here: entries may be lost in it"

// hasEntry reports whether a text holds the end tag of an entry. A CDATA section that
// ends too late does. End tags begin with mark.
func hasEntry(text []byte, mark string) bool {
	for {
		_, rest, ok := bytes.Cut(text, []byte(mark))
		if !ok {
			return false
		}
		end := bytes.IndexAny(rest, "&> \t\r\n")
		if end < 0 {
			return false
		}
		name := rest[bytes.LastIndexByte(rest[:end], ':')+1 : end]
		if bytes.EqualFold(name, []byte("url")) || bytes.EqualFold(name, []byte("sitemap")) {
			return true
		}
		text = rest
	}
}

// elsewhere reads an element that is neither an entry nor part of one. It keeps it if it
// is a child of the root.
func (r *Reader) elsewhere(line, column int) error {
	name, top := r.xml.Name(), r.xml.Depth() == 2
	own := r.own(name.Space)
	mistaken, extension := top && own, top && !own
	switch {
	case own && !top:
		r.reports.Add(ruleUnknown, line, column, name.Local, nil, noElement(name.Local))
	case extension && (name.Local == "url" || name.Local == "sitemap"):
		r.reports.Doubt(ruleNamespace, line, column, name.Local, []byte(name.Space),
			"an entry in a namespace that is not the sitemap's: it is not read")
	}
	if extension {
		taken, err := r.take(name, nil)
		if err != nil {
			return r.readOver(err)
		}
		if taken {
			r.checkLate(line, column, name.Local)
			return r.reports.Fatal
		}
	}
	b, err := r.append(nil, line, column)
	switch {
	case mistaken && err == nil:
		r.reports.Doubt(ruleUnknown, line, column, name.Local, nil, noElement(name.Local)+": it may stand for an entry")
	case mistaken: // an entry inside it is read, and those around that are in doubt
		r.reports.Add(ruleUnknown, line, column, name.Local, nil, noElement(name.Local))
	}
	if err == nil && top && len(b) > 0 {
		r.keep(name, b, line, column)
	}
	return r.readOver(err)
}

// readOver returns the error that ends reading after an element that was read over. err
// is that of r.xml.
func (r *Reader) readOver(err error) error {
	if err != nil && err != xmlscan.ErrStopped {
		return r.xml.Fail(err)
	}
	return r.reports.Fatal
}

// keep keeps an element that is a child of the root.
func (r *Reader) keep(name xmlscan.Name, b []byte, line, column int) {
	if r.size > maxElements {
		r.reports.Add(ruleElementSize, line, column, name.Local, nil,
			"more than 1 MiB of extension elements outside of entries: left out")
		return
	}
	if !r.own(name.Space) {
		r.checkLate(line, column, name.Local)
	}
	r.size += len(b) + 64
	r.positions = append(r.positions, position{line, column})
	r.elements = append(r.elements, websync.Element{Space: name.Space, Local: name.Local, XML: string(b)})
}

// checkLate reports an extension of the document itself that follows an entry.
func (r *Reader) checkLate(line, column int, local string) {
	if r.entries > 0 {
		r.reports.Add(ruleOrder, line, column, local, nil,
			"an extension of the whole document after an entry: the schema has it before")
	}
}

// count counts the entry that starts.
func (r *Reader) count() error {
	r.entries++
	if r.MaxEntries > 0 && r.entries > r.MaxEntries {
		err := fmt.Errorf("more than %d entries: %w", r.MaxEntries, websync.ErrLimit)
		return r.doc.Fail(r.view.Line, r.view.Column, "", err)
	}
	if r.entries == MaxEntries+1 {
		r.reports.Add(ruleEntries, r.view.Line, r.view.Column, "", nil, "more than 50,000 entries")
	}
	return nil
}

// endXML reads what follows the root element.
func (r *Reader) endXML() error {
	if err := r.xml.End(); err != nil {
		return err
	}
	return r.end()
}

// end makes the checks at the end of a document.
func (r *Reader) end() error {
	if r.doc.Size() > MaxBytes {
		r.reports.Add(ruleSize, 0, 0, "", nil, "more than 50 MiB uncompressed")
	}
	if r.entries == 0 {
		r.reports.Add(ruleEmpty, 0, 0, "", nil, "no entries")
	}
	if r.reports.Fatal != nil {
		return r.reports.Fatal
	}
	return io.EOF
}

// reportChild reports on the current element of an entry.
func (r *Reader) reportChild(rule Rule, value []byte, message string) {
	element := ""
	if r.xml != nil {
		element = r.xml.Name().Local
	}
	r.reports.Add(rule, r.line, r.column, element, value, message)
}
