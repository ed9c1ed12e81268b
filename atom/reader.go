package atom

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// A Reader streams the items of one feed document, entries and tombstones in the order of
// the document. It also reads entry documents and deleted-entry documents. It recognises
// compression with gzip by the content. It holds one item at a time.
//
// It reads liberally: it reports and reads over departures from the specifications, and a
// bad entry costs none of its neighbours. Reading ends with a [*websync.ParseError] only
// if the document is not Atom, is cut short, is not well-formed XML or passes a limit.
// The error wraps [websync.ErrNotDocument], [websync.ErrTruncated] or [websync.ErrLimit]
// if one of them is the reason. A valid feed without entries is no error.
//
// Set the fields before the first call. A Reader is not safe for concurrent use.
type Reader struct {
	// Document is the URL or file name of the document. Findings and errors carry it. If
	// it is an absolute URL, relative references are resolved against it unless xml:base
	// states another base.
	Document string

	// ContentType is the header of that name that came with the document; empty if none
	// is known. A byte-order mark counts before its charset, and its charset before the
	// XML declaration (RFC 7303 §3.2). Where one of the two is UTF-8 and the other is
	// not, the bytes decide. All encodings of the web are read.
	ContentType string

	// Report receives each departure from the specifications that does not stop the
	// Reader. If nil, they are dropped.
	Report func(websync.Finding)

	// Strict makes the first finding that is a warning or an error end reading with a
	// *websync.ParseError.
	Strict bool

	// Repair makes the Reader go on after a tag whose attributes are not well-formed, as
	// in <link href="https://example.org/>: it ends at the next '>', without the
	// attributes from the fault on. Its entry, or else one of the feed, counts as
	// skipped.
	Repair bool

	// MaxEntries limits the items, tombstones included; more of them end reading with
	// websync.ErrLimit. If zero or negative, there is no limit.
	MaxEntries int

	// MaxBytes limits the document, decompressed; more bytes end reading with
	// websync.ErrLimit. If zero, it is 1 GiB; if negative, there is no limit.
	MaxBytes int64

	// MaxContent limits the bytes of inline content, as the document has them. If zero,
	// it is 64 MiB; if negative, there is no limit but MaxBytes. MaxValue limits the
	// bytes of any other value: a text, an attribute, an extension. If zero, it is 8 MiB;
	// if negative, there is no limit. MaxDepth limits how deep elements are nested. If
	// zero, it is 256; if negative, there is no limit. An entry or tombstone that passes
	// one of them is reported and skipped.
	MaxContent, MaxValue int
	MaxDepth             int

	// Now, if set, makes an updated or a when more than a day after it a finding.
	Now time.Time

	check *checker // the further checks of Validate; nil for a Reader

	src     io.Reader
	reports document.Reports
	doc     *document.Document
	xml     *document.XML
	scan    *xmlscan.Reader // of xml
	kind    Kind
	space   string // the namespace that stands for Atom's
	watched bool   // findings are reported, so positions are needed
	pending bool   // the current Start is that of an item
	feed    Feed
	root    scope // of the feed
	view    View
	entries int
	cut     int // losses of scan in items that are counted in reports.Skipped
	// the current value is not usable: it passes a limit, or a reference is not UTF-8
	unusable           bool
	mixed              bool // the last text had elements inside
	inContent          bool
	ended              bool           // the root element has ended
	before             xmlscan.Losses // those before the last tag that advance read
	order              childOrder
	updated, published lastDate
	// where the current child element starts, if watched
	at      position
	strings map[string]string // for intern
	scratch []byte
	err     error // of the last call; it stays
}

// A position is where something starts in a document.
type position struct{ line, column int }

// An inherited holds what an element inherits from those around it.
type inherited struct{ lang, base string }

// NewReader returns a Reader of the document in r.
func NewReader(r io.Reader) *Reader { return &Reader{src: r} }

// Kind returns what the document is. It is known after the first call of Feed, Next or
// NextView, even if that returned io.EOF.
func (r *Reader) Kind() Kind { return r.kind }

// Skipped returns how many items were left out so far because they have no usable id or
// ref, have a link that is not UTF-8, or pass a limit; plus how often others may have
// been lost: an item inside another or inside an unknown element, a second id, a CDATA
// section that runs on to the end of another. The Reader reads such items where it can,
// and still counts them, because there may be more.
func (r *Reader) Skipped() int {
	if r.scan == nil {
		return r.reports.Skipped
	}
	lost := r.scan.Losses()
	return r.reports.Skipped + lost.Cut - r.cut + lost.Sections + lost.Instructions
}

// Feed returns the metadata of a feed document that was read so far. Called before the
// first Next, it reads the metadata before the first item; if that fails, Next returns
// the error. Atom allows metadata after items too; they are there when Next has returned
// io.EOF. For other documents the Feed is empty. The Reader continues to fill it, so the
// caller must not change it before the end.
func (r *Reader) Feed() *Feed {
	r.begin()
	return &r.feed
}

// All returns an iterator over the remaining items. It stops after the first error and
// can be ranged over once.
func (r *Reader) All() iter.Seq2[Item, error] { return document.All(r.Next) }

// Next returns the next item, or io.EOF at the end of the document. Errors stick.
func (r *Reader) Next() (Item, error) {
	v, err := r.NextView()
	if err != nil {
		return Item{}, err
	}
	return v.Clone(), nil
}

// NextView is like Next but returns a view, which is valid until the next call. It
// allocates only for new values of xml:lang and xml:base.
func (r *Reader) NextView() (*View, error) {
	r.begin()
	if r.err == nil {
		r.err = r.nextItem()
	}
	if r.err != nil {
		return nil, r.err
	}
	return &r.view, nil
}

// begin reads up to the first item.
func (r *Reader) begin() {
	if r.doc == nil {
		if r.err = r.open(); r.err == nil {
			r.err = r.advance()
		}
	}
}

// atomKind is what a Reader expects.
var atomKind = document.Kind{Format: "atom", Name: "an Atom document", Else: "not XML"}

// documentRules are the rules that departures break.
var documentRules = [...]Rule{
	document.Compression: ruleGzip,
	document.Preamble:    rulePrologue,
	document.Fault:       ruleXML,
	document.Encoding:    ruleEncoding,
	document.Doctype:     ruleDoctype,
}

// open recognises the document and reads its root element.
func (r *Reader) open() (err error) {
	r.watched = r.Report != nil || r.Strict
	r.reports.Format, r.reports.Document, r.reports.To, r.reports.Strict = "atom", r.Document, r.Report, r.Strict
	report := func(d document.Departure, line, column int, value []byte, message string) {
		r.reports.Add(documentRules[d], line, column, "", value, message)
	}
	r.doc = &document.Document{Kind: atomKind, URL: r.Document, ContentType: r.ContentType, Report: report, Strict: r.Strict,
		MaxDepth: r.MaxDepth, RepairTags: r.Repair}
	if err := r.doc.Open(r.src, r.MaxBytes); err != nil {
		return err
	}
	if r.xml, err = r.doc.XML(); err != nil {
		return err
	}
	r.scan = r.xml.Reader
	r.scan.MaxValue, r.scan.Stop = r.MaxValue, r.stops
	at, name := r.position(), r.scan.Name()
	if r.kind = kindOf(name); r.kind == 0 {
		return r.doc.Fail(at.line, at.column, name.Local, r.doc.Not(document.WhatRoot(name)))
	}
	r.xml.CheckPrologue()
	if r.space = name.Space; r.kind == TombstoneDocument {
		r.space = Namespace
	}
	if r.space != Namespace {
		r.report(ruleNamespace, at, name.Local, []byte(r.space), "the namespace must be "+Namespace)
	}
	if syntax.Scheme(r.Document) > 1 { // a file name may start with a drive's letter
		r.root.base = r.Document
	}
	if r.kind == FeedDocument {
		r.feed.Lang, r.feed.Base = r.stated(r.root.inherited)
		r.root = r.scopeOf(&feedModel, at, r.root.inherited)
		if r.check != nil {
			r.check.attributes(0, at)
		}
	}
	r.pending = r.kind != FeedDocument
	return r.reports.Fatal
}

// kindOf returns the Kind of a document with this root element; 0 if it is not Atom. An
// empty namespace, and one that can only be meant as Atom's, stand for Atom's.
func kindOf(name xmlscan.Name) Kind {
	switch {
	case name == xmlscan.Name{Space: TombstoneNamespace, Local: "deleted-entry"}:
		return TombstoneDocument
	case name.Space != "" && !isNearAtom(name.Space):
		return 0
	case name.Local == "feed":
		return FeedDocument
	case name.Local == "entry":
		return EntryDocument
	}
	return 0
}

// isNearAtom reports whether a namespace is Atom's, or differs from it only in https,
// www, case, or a slash or "#" at its end.
func isNearAtom(space string) bool {
	s := strings.TrimRight(strings.ToLower(strings.TrimSpace(space)), "/#")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "https://"), "http://")
	return strings.TrimPrefix(s, "www.") == "w3.org/2005/atom"
}

// advance reads the metadata of the feed up to the next item, or to the end of the
// document.
func (r *Reader) advance() error {
	for !r.pending {
		if r.ended {
			return r.end()
		}
		r.before = r.scan.Losses()
		tag, err := r.stopping(r.watchedTag())
		switch {
		case err == nil && tag == xmlscan.End:
			r.ended = r.scan.Depth() == 1
		case err == nil && r.isFeedChild():
			err = r.metadata()
		case err == nil:
			err = r.scan.Skip() // the rest of an element that had an item inside
		}
		if r.pending = err == xmlscan.ErrStopped; err != nil && !r.pending {
			return r.xml.Fail(err)
		}
		if r.reports.Fatal != nil {
			return r.reports.Fatal
		}
	}
	return nil
}

// metadata reads a child of the feed that is not an item.
func (r *Reader) metadata() error {
	v := &r.view
	v.reset(position{})
	f := v.newSource()
	err := r.feedChild(f, &r.root)
	k := v.keeper(nil)
	k.feed(&r.feed, f)
	if r.unusable {
		r.unusable = false
		r.reports.Skipped++
	}
	return err
}

// stops reports whether an element with this name, inside another, is an entry. A
// tombstone there deletes nothing.
func (r *Reader) stops(name xmlscan.Name) bool {
	if isTombstone(name) {
		r.doubt(ruleNesting, r.at, name.Local, nil,
			"a tombstone inside another element is not read: it must be a child of the feed")
	}
	return r.isEntry(name)
}

func (r *Reader) isEntry(name xmlscan.Name) bool { return name.Local == "entry" && r.own(name.Space) }

func isTombstone(name xmlscan.Name) bool {
	return name.Local == "deleted-entry" && name.Space == TombstoneNamespace
}

// own reports whether a namespace stands for Atom's in this document.
func (r *Reader) own(space string) bool { return space == r.space || space == Namespace }

// nextItem reads the next usable item into r.view.
func (r *Reader) nextItem() error {
	for {
		if err := r.advance(); err != nil {
			return err
		}
		r.pending = false
		if ok, err := r.item(); ok || err != nil {
			return err
		}
	}
}

// item reads the item whose Start is current. It returns false if the item is not usable.
func (r *Reader) item() (ok bool, err error) {
	v, at := &r.view, r.position()
	v.reset(at)
	r.entries++
	if r.MaxEntries > 0 && r.entries > r.MaxEntries {
		err := fmt.Errorf("more than %d entries: %w", r.MaxEntries, websync.ErrLimit)
		return false, r.doc.Fail(v.Line, v.Column, "", err)
	}
	if r.scan.Depth() > 1 && !r.isFeedChild() {
		r.doubt(ruleNesting, at, r.scan.Name().Local, nil, "an entry inside another element: entries around it may be lost")
	}
	m := &entryModel
	if isTombstone(r.scan.Name()) {
		m = &tombstoneModel
	}
	s := r.scopeOf(m, at, r.root.inherited)
	v.lang, v.base = s.lang, s.base
	cut := r.scan.Losses().Cut
	r.unusable = false
	if r.check != nil {
		r.check.startItem(&s)
	}
	if m == &tombstoneModel {
		err = r.tombstone(&s)
	} else {
		err = r.entry(&s)
	}
	switch {
	case err == xmlscan.ErrStopped:
		r.pending, v.damaged = true, true
	case err != nil:
		return false, r.xml.Fail(err)
	default:
		r.ended = r.scan.Depth() == 1
	}
	v.ID = v.buf.Of(v.id)
	if r.check != nil {
		r.check.endItem(&s, !r.pending)
	}
	if n := r.scan.Losses().Cut - cut; n > 0 {
		r.cut += n
		r.unusable = true
		r.loss(ruleElementSize, at, "", nil, "over a limit of the Reader: the item is skipped")
	}
	ok = len(v.ID) > 0 && !r.unusable
	if r.unusable = false; !ok {
		r.reports.Skipped++
	}
	return ok, r.reports.Fatal
}

// end handles the end of a document that was read in full.
func (r *Reader) end() error {
	if r.check != nil && r.kind == FeedDocument {
		r.check.endFeed(&r.root)
	}
	if err := r.xml.End(); err != nil {
		return err
	}
	if r.reports.Fatal != nil {
		return r.reports.Fatal
	}
	return io.EOF
}

// nextTag is NextTag of r.scan. If the Reader is watched, it sets r.at. Errors are those
// of r.scan; the error is xmlscan.ErrStopped at the Start of an entry anywhere, and of a
// tombstone where one is allowed.
func (r *Reader) nextTag() (xmlscan.Kind, error) {
	if r.watched {
		return r.stopping(r.watchedTag())
	}
	return r.stopping(r.scan.NextTag())
}

// stopping returns xmlscan.ErrStopped if a tag that was read is one that nextTag stops
// at.
func (r *Reader) stopping(kind xmlscan.Kind, err error) (xmlscan.Kind, error) {
	if kind == xmlscan.Start && (r.isEntry(r.scan.Name()) || r.isFeedChild() && isTombstone(r.scan.Name())) {
		err = xmlscan.ErrStopped
	}
	return kind, err
}

// isFeedChild reports whether the current element is a child of the feed.
func (r *Reader) isFeedChild() bool { return r.scan.Depth() == 2 && r.kind == FeedDocument }

// next is Next of r.scan, but stops at an entry.
func (r *Reader) next() (xmlscan.Kind, error) {
	kind, err := r.scan.Next()
	if kind == xmlscan.Start && r.scan.Stop(r.scan.Name()) {
		err = xmlscan.ErrStopped
	}
	return kind, err
}

// watchedTag is NextTag of r.scan that sets r.at and reports text between the elements.
// Text between the items of a feed may stand for an item: an error message, for example.
func (r *Reader) watchedTag() (xmlscan.Kind, error) {
	kind, err := r.xml.NextTagAndText(func(line, column int, text []byte) {
		if r.scan.Depth() == 1 && r.kind == FeedDocument {
			r.doubt(ruleTextBetween, position{line, column}, "", text,
				"only white space may stand between elements: this may stand for an entry")
			return
		}
		r.reports.Add(ruleTextBetween, line, column, "", text, "only white space may stand between elements")
	})
	r.at = r.position()
	return kind, err
}

// position returns where the current token starts.
func (r *Reader) position() position {
	line, column := r.xml.Position()
	return position{line, column}
}

// with returns what the children of an element inherit if it states lang and base.
func (in inherited) with(lang, base string) inherited {
	if lang != "" {
		in.lang = lang
	}
	if base != "" {
		in.base = base
	}
	return in
}

// undetermined is the language of an element whose empty xml:lang revokes the one around
// it (XML 1.0 §2.12, RFC 5646 §4.1).
const undetermined = "und"

// stated returns xml:lang of the element whose Start is current, and its xml:base,
// resolved against the one around it; empty if it does not state them.
func (r *Reader) stated(in inherited) (lang, base string) {
	attrs := r.scan.Attrs()
	for i := range attrs {
		a := &attrs[i]
		if a.Name.Space != xmlNamespace {
			continue
		}
		switch a.Name.Local {
		case "lang":
			if lang = r.intern(xmlscan.Trim(a.Value)); lang == "" && in.lang != "" {
				lang = undetermined
			}
		case "base":
			r.scratch = syntax.AppendResolved(r.scratch[:0], in.base, xmlscan.Trim(a.Value))
			base = r.intern(r.scratch)
		}
	}
	return lang, base
}

// intern returns b as a string, which equal values share.
func (r *Reader) intern(b []byte) string {
	const maxStrings, maxString = 1000, 256
	if s, ok := r.strings[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(r.strings) < maxStrings && len(s) <= maxString {
		if r.strings == nil {
			r.strings = make(map[string]string)
		}
		r.strings[s] = s
	}
	return s
}

// reportChild reports on the current child element.
func (r *Reader) reportChild(rule Rule, value []byte, message string) {
	r.report(rule, r.at, r.scan.Name().Local, value, message)
}

// reportAttr reports on an attribute of the current child element.
func (r *Reader) reportAttr(rule Rule, attr string, value []byte, fault string) {
	r.reportChild(rule, value, attr+": "+fault)
}

// report reports a departure that costs no item.
func (r *Reader) report(rule Rule, at position, element string, value []byte, message string) {
	r.reports.Add(rule, at.line, at.column, element, value, message)
}

// doubt reports a departure that may have hidden an item, and counts it as skipped.
func (r *Reader) doubt(rule Rule, at position, element string, value []byte, message string) {
	r.reports.Doubt(rule, at.line, at.column, element, value, message)
}

// loss reports a departure that costs an item, or the rest of the document.
func (r *Reader) loss(rule Rule, at position, element string, value []byte, message string) {
	r.reports.Loss(rule, at.line, at.column, element, value, message)
}
