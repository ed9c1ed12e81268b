package atom

import (
	"errors"
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
// the document. An entry document and a deleted-entry document are read as well, perhaps
// compressed with gzip. It holds one item at a time.
//
// It reads liberally: what departs from the specifications is reported and read over, and
// a bad entry costs none of its neighbours. Only what is not Atom, is cut short, is not
// well-formed XML or passes a limit ends reading, with a [*websync.ParseError] that wraps
// [websync.ErrNotDocument], [websync.ErrTruncated] or [websync.ErrLimit] where one of
// them is the reason. A feed that is valid and has no entries is no error.
//
// Set the fields before the first call. A Reader is not safe for concurrent use.
type Reader struct {
	// Document is the URL or file name of the document. Findings and errors carry it. If
	// it is an absolute URL, relative references are resolved against it where no
	// xml:base says otherwise.
	Document string

	// Report receives each departure from the specifications that does not stop the
	// Reader. If nil, they are dropped.
	Report func(websync.Finding)

	// Strict makes the first finding that is a warning or an error end reading with a
	// *websync.ParseError.
	Strict bool

	// MaxEntries ends reading with websync.ErrLimit when there are more items, tombstones
	// included. Zero and negative mean no limit.
	MaxEntries int

	// MaxBytes ends reading with websync.ErrLimit when the document, decompressed, is
	// longer. Zero means 1 GiB, negative no limit.
	MaxBytes int64

	// MaxContent limits the bytes of inline content, as the document has them. If zero,
	// it is 64 MiB; if negative, there is no limit but MaxBytes. MaxValue does so for any
	// other value: a text, an attribute, an extension. If zero, it is 8 MiB; if negative,
	// there is no limit. MaxDepth limits how deep elements stand one inside another. If
	// zero, it is 256; if negative, there is no limit. An entry or tombstone that passes
	// one of them is reported and skipped, and costs no other.
	MaxContent, MaxValue int
	MaxDepth             int

	// Now, if set, makes updated and when more than a day after it a finding.
	Now time.Time

	src                io.Reader
	doc                *document.Document
	xml                *document.XML
	scan               *xmlscan.Reader // of xml
	kind               Kind
	space              string // the namespace that is taken for Atom's
	watched            bool   // somebody wants to know where things are
	pending            bool   // the current Start is that of an item
	feed               Feed
	scope              inherited // of the feed
	seen               children  // of the feed
	kept               int       // about the size of feed
	view               View
	entries            int
	skipped            int
	cut                int  // what xml has cut in items that skipped counts
	unusable           bool // what is read can't be used: a limit is passed, a reference is not UTF-8
	inContent          bool
	ended              bool           // the root element is
	before             xmlscan.Losses // the current tag
	order              childOrder
	updated, published lastDate
	line               int // where the current child element starts, if anybody wants to know
	column             int
	strings            map[string]string // that are the same in many entries
	scratch            []byte
	fatal              error // a finding of a strict Reader
	err                error // sticks
}

// An inherited is what elements hand down to those inside them.
type inherited struct{ lang, base string }

// NewReader returns a Reader of the document in r.
func NewReader(r io.Reader) *Reader { return &Reader{src: r} }

// Kind says what the document is. It is known after the first call of Feed, Next or
// NextView, also if that returned io.EOF.
func (r *Reader) Kind() Kind { return r.kind }

// Skipped returns how many items were left out so far, because they have no usable id or
// ref, a link that is not UTF-8, or pass a limit; and how often others may be lost in
// what was read over: an item inside of another or of an unknown element, a second id, a
// CDATA section that runs on to the end of another. Items are read where that is
// possible, and counted all the same: that all were found can't be known.
func (r *Reader) Skipped() int {
	if r.scan == nil {
		return r.skipped
	}
	lost := r.scan.Losses()
	return r.skipped + lost.Cut - r.cut + lost.Sections + lost.Instructions
}

// Feed returns the metadata of a feed document as far as it was read. Called before the
// first Next, it reads what stands before the first item; an error is then returned by
// Next. What stands after items, which Atom allows, is there when Next has returned
// io.EOF. Of other documents the Feed is empty. The Reader fills it on, so it must not be
// changed before the end.
func (r *Reader) Feed() *Feed {
	r.begin()
	return &r.feed
}

// All returns an iterator over the remaining items. It stops after the first error and
// can be ranged over once.
func (r *Reader) All() iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for {
			item, err := r.Next()
			if err == io.EOF {
				return
			}
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

// Next returns the next item, or io.EOF at the end of the document. Errors stick.
func (r *Reader) Next() (Item, error) {
	v, err := r.NextView()
	if err != nil {
		return Item{}, err
	}
	return v.Clone(), nil
}

// NextView is like Next but returns a view, valid until the next call. It needs no memory
// of its own but for atom:source, and for values of xml:lang and xml:base that change all
// the time.
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

// atomKind is what a Reader asks for.
var atomKind = document.Kind{Format: "atom", Name: "an Atom document", Else: "not XML"}

// documentRules are those that a document's departures break.
var documentRules = [...]Rule{
	document.Compression: ruleGzip,
	document.Preamble:    rulePrologue,
	document.Fault:       ruleXML,
	document.Encoding:    ruleEncoding,
	document.Doctype:     ruleDoctype,
}

// open finds out what the document is.
func (r *Reader) open() (err error) {
	r.watched = r.Report != nil || r.Strict
	report := func(d document.Departure, line, column int, value []byte, message string) {
		r.report(documentRules[d], line, column, "", value, message)
	}
	r.doc = &document.Document{Kind: atomKind, URL: r.Document, Report: report, Strict: r.Strict, MaxDepth: r.MaxDepth}
	if err := r.doc.Open(r.src, r.MaxBytes); err != nil {
		return err
	}
	if r.xml, err = r.doc.XML(); err != nil {
		return err
	}
	r.scan = r.xml.Reader
	r.scan.MaxValue, r.scan.Stop = r.MaxValue, r.stops
	line, column := r.xml.Position()
	name := r.scan.Name()
	if r.kind = kindOf(name); r.kind == 0 {
		return r.doc.Fail(line, column, name.Local, r.doc.Not(document.WhatRoot(name)))
	}
	r.xml.CheckPrologue()
	r.space = name.Space
	switch {
	case r.kind == TombstoneDocument:
		r.space = Namespace
	case r.space != Namespace:
		r.report(ruleNamespace, line, column, name.Local, []byte(r.space), "the namespace is not "+Namespace)
	}
	if syntax.Scheme(r.Document) > 1 { // a file name may start with a drive's letter
		r.scope.base = r.Document
	}
	if r.kind == FeedDocument {
		r.feed.Lang, r.feed.Base = r.stated(r.scope)
		r.scope = r.scope.with(r.feed.Lang, r.feed.Base)
	}
	r.pending = r.kind != FeedDocument
	return r.fatal
}

// kindOf tells what a document with this root element is; 0: none of Atom's. A namespace
// that can only be meant as Atom's is taken for it, and so is none.
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

// isNearAtom tells whether a namespace is Atom's, or differs from it only in https, www,
// case, or a slash or "#" at its end.
func isNearAtom(space string) bool {
	s := strings.TrimRight(strings.ToLower(strings.TrimSpace(space)), "/#")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "https://"), "http://")
	return strings.TrimPrefix(s, "www.") == "w3.org/2005/atom"
}

// advance reads metadata of the feed up to the next item, or to the end of the document.
func (r *Reader) advance() error {
	for !r.pending {
		if r.ended {
			return r.end()
		}
		tag, err := r.nextTag()
		switch {
		case err == nil && tag == xmlscan.End:
			r.ended = r.scan.Depth() == 1
		case err == nil && r.isFeedChild():
			err = r.feedElementOrValue()
		case err == nil:
			err = r.scan.Skip() // the rest of what had an item inside
		}
		if r.pending = err == xmlscan.ErrStopped; err != nil && !r.pending {
			return r.xml.Fail(err)
		}
		if r.fatal != nil {
			return r.fatal
		}
	}
	return nil
}

// feedElementOrValue reads a child of the feed.
func (r *Reader) feedElementOrValue() error {
	r.view.reset(0, 0)
	name := r.scan.Name()
	if strings.EqualFold(name.Local, "entry") || strings.EqualFold(name.Local, "deleted-entry") {
		r.doubt(ruleUnknown, r.line, r.column, name.Local, []byte(name.Space), "an item in a namespace that is not its own, or with capitals in its name: it is skipped")
	}
	err := r.feedChild(&r.feed, &r.seen, r.scope, &r.kept)
	if r.unusable {
		r.unusable = false
		r.skipped++
	}
	return err
}

// stops reports whether an element with this name, in which nobody expects an entry, is
// one. A tombstone there deletes nothing.
func (r *Reader) stops(name xmlscan.Name) bool {
	if isTombstone(name) {
		r.doubt(ruleNesting, r.line, r.column, name.Local, nil, "a tombstone inside of an element that has none: it is not read as one")
	}
	return r.isEntry(name)
}

func (r *Reader) isEntry(name xmlscan.Name) bool { return name.Local == "entry" && r.own(name.Space) }

func isTombstone(name xmlscan.Name) bool {
	return name.Local == "deleted-entry" && name.Space == TombstoneNamespace
}

// own tells whether a namespace is Atom's, as far as this document is concerned.
func (r *Reader) own(space string) bool { return space == r.space || space == Namespace }

// nextItem reads the next item that can be used into r.view.
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

// item reads the item whose Start is current. It returns false if it can't be used.
func (r *Reader) item() (ok bool, err error) {
	v := &r.view
	v.reset(r.xml.Position())
	r.entries++
	if r.MaxEntries > 0 && r.entries > r.MaxEntries {
		err := fmt.Errorf("more than %d entries: %w", r.MaxEntries, websync.ErrLimit)
		return false, r.doc.Fail(v.Line, v.Column, "", err)
	}
	if r.scan.Depth() > 1 && !r.isFeedChild() {
		r.doubt(ruleNesting, v.Line, v.Column, r.scan.Name().Local, nil, "inside of an element that has no such child: what is around it may be lost")
	}
	in := r.scope.with(r.stated(r.scope))
	v.Lang, v.Base = in.lang, in.base
	cut := r.scan.Losses().Cut
	if r.unusable = false; isTombstone(r.scan.Name()) {
		err = r.tombstone(in)
	} else {
		err = r.entry(in)
	}
	switch {
	case err == xmlscan.ErrStopped:
		r.pending = true
	case err != nil:
		return false, r.xml.Fail(err)
	default:
		r.ended = r.scan.Depth() == 1
	}
	if n := r.scan.Losses().Cut - cut; n > 0 {
		r.cut += n
		r.unusable = true
		r.report(ruleElementSize, v.Line, v.Column, "", nil, "more than the limits of the Reader allow: it is skipped")
	}
	ok = len(v.ID) > 0 && !r.unusable
	if r.unusable = false; !ok {
		r.skipped++
	}
	return ok, r.fatal
}

// end is the end of a document that was read as a whole.
func (r *Reader) end() error {
	if err := r.xml.End(); err != nil {
		return err
	}
	if r.fatal != nil {
		return r.fatal
	}
	return io.EOF
}

// nextTag is NextTag, and for those who want to know notes where the tag is. Errors are
// those of r.scan; at the Start of an entry wherever it stands, and of a tombstone where
// it belongs, the error is xmlscan.ErrStopped.
func (r *Reader) nextTag() (kind xmlscan.Kind, err error) {
	r.before = r.scan.Losses()
	if r.watched {
		kind, err = r.watchedTag()
	} else {
		kind, err = r.scan.NextTag()
	}
	if kind == xmlscan.Start && (r.isEntry(r.scan.Name()) || r.isFeedChild() && isTombstone(r.scan.Name())) {
		err = xmlscan.ErrStopped
	}
	return kind, err
}

// isFeedChild reports whether the current element stands where the items and the metadata
// of a feed do.
func (r *Reader) isFeedChild() bool { return r.scan.Depth() == 2 && r.kind == FeedDocument }

// next is Next of r.scan, but stops where nobody expects an entry.
func (r *Reader) next() (xmlscan.Kind, error) {
	kind, err := r.scan.Next()
	if kind == xmlscan.Start && r.scan.Stop(r.scan.Name()) {
		err = xmlscan.ErrStopped
	}
	return kind, err
}

// watchedTag is nextTag that reports text between the elements.
func (r *Reader) watchedTag() (xmlscan.Kind, error) {
	kind, err := r.xml.NextTagAndText(func(line, column int, text []byte) {
		r.report(ruleTextBetween, line, column, "", text, "text between the elements")
	})
	r.line, r.column = r.xml.Position()
	return kind, err
}

// with returns what an element hands down that states lang and base.
func (in inherited) with(lang, base string) inherited {
	if lang != "" {
		in.lang = lang
	}
	if base != "" {
		in.base = base
	}
	return in
}

// undetermined is the language of what takes back the language around it, with an empty
// xml:lang (XML 1.0 §2.12, RFC 5646 §4.1).
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

// intern returns b as a string, the same for many entries.
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
	r.reportPart(rule, r.scan.Name().Local, value, message)
}

// reportPart reports on a part, an attribute for instance, of the current child element.
func (r *Reader) reportPart(rule Rule, name string, value []byte, message string) {
	r.report(rule, r.line, r.column, name, value, message)
}

// doubt counts what may have hidden an item as one that was skipped, and reports it.
func (r *Reader) doubt(rule Rule, line, column int, element string, value []byte, message string) {
	r.skipped++
	r.report(rule, line, column, element, value, message)
}

func (r *Reader) report(rule Rule, line, column int, element string, value []byte, message string) {
	if r.Strict && rule.Severity > websync.SeverityInfo && r.fatal == nil {
		r.fatal = &websync.ParseError{
			Format: "atom", Document: r.Document, Line: line, Column: column, Element: element,
			Err: errors.New(message),
		}
	}
	if r.Report != nil {
		r.Report(rule.Finding(r.Document, line, column, element, value, message))
	}
}
