package anyfeed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// The limits on a document, which is read as a whole. A document that exceeds them is an
// error that matches [websync.ErrLimit].
const (
	MaxBytes   = 16 << 20 // the default of [Parser.MaxBytes]
	MaxEntries = 25_000   // items or entries; twice as many with twice the MaxBytes

	// elements and attributes of XML; names, values and brackets of JSON; likewise
	maxNodes      = 500_000
	maxAttributes = 256     // of an element
	maxDepth      = 256     // of elements
	maxScope      = 64      // namespace declarations of an element and those around it
	maxBase       = 4 << 10 // bytes of an xml:base, resolved
	maxDate       = 256     // bytes of a date
	maxParts      = 10_000  // links, categories and people of an entry
	maxDoubts     = 100     // findings of what may have hidden an entry

	// what an entry, link, category or person counts beyond its text
	partCost = 128
)

// A Parser is [Parse] with a limit of its own. The zero value is ready to use.
type Parser struct {
	// MaxBytes limits a document: its bytes in UTF-8, uncompressed, 128 for each
	// entry, link, category and person, and what relative references grow by when they
	// are resolved. An eighth of it limits each text, tag and value. Reading takes up to
	// four times as much memory. If zero, it is 16 MiB; if negative, there is no limit.
	// A document that exceeds it is an error that matches [websync.ErrLimit].
	MaxBytes int64
}

var rules = document.NewRules("anyfeed")

var (
	ruleTolerant = rules.Info("tolerant", "RFC 4287 §2", "a document that is not Atom, or not sound, and was read tolerantly")
	ruleID       = rules.Error("id", "RFC 4287 §4.2.6", "an entry without anything that could be its id, which is left out")
	ruleLinkID   = rules.Warning("link-id", "RFC 4287 §4.2.6", "an entry whose id is made of its link, "+
		"because it lacks one that its format demands, or shares the link with others")
	ruleSameID = rules.Error("same-id", "RFC 4287 §4.1.1",
		"two entries of one id that differ and are no versions, of which one is left out")
	ruleStructure = rules.Error("structure", "RFC 4287 §4.1",
		"text, an element or a tag where none may be, which may have hidden an entry")
	ruleDate    = rules.Warning("date", "RFC 4287 §3.3", "a date that can't be read")
	ruleLeftOut = rules.Warning("left-out", "RFC 4287 §4", "something that is stated and can't be kept")
	ruleBytes   = rules.Warning("bytes", "XML 1.0 §2.2",
		"bytes that the encoding does not have, or characters that XML does not have, which are replaced")
	ruleGzip = rules.Warning("gzip", "RFC 1952 §2.2", "bytes after the compressed data, or compressed twice")
)

// Rules returns every rule, in the order of the source.
func Rules() []websync.Rule { return rules.All() }

var (
	_ atom.Parser = Parse
	_ atom.Parser = new(Parser).Parse
)

// Parse reads an RSS feed, a JSON Feed or an Atom feed, compressed with gzip or not, and
// closes nothing. The content decides which it is. The URL or file name of origin is in
// every error and finding, and is the base of relative references if the feed states
// none; its ContentType counts as in [atom.Reader], except for JSON, which is UTF-8 (RFC
// 8259 §8.1). report receives what does not stop reading, beginning with a finding that the
// document was read tolerantly; it may be nil. The limits are those of a zero [Parser].
//
// The items are entries, never tombstones, in the order of the document. Feed.Skipped is
// the number of items that are left out, tombstones among them, plus how often others may
// have been lost to damage. An error is a [*websync.ParseError]; then there is neither a
// feed nor an item. It matches [websync.ErrNotDocument] if the document is not a feed of
// these formats, [websync.ErrTruncated] if it ends too early, [websync.ErrLimit] if it is
// too large.
func Parse(src io.Reader, origin atom.Origin, report func(websync.Finding)) (*atom.Feed, []atom.Item, error) {
	return new(Parser).Parse(src, origin, report)
}

// Parse is the function [Parse] with the limits of the Parser.
func (limits *Parser) Parse(src io.Reader, origin atom.Origin, report func(websync.Finding)) (*atom.Feed, []atom.Item, error) {
	p := newParser(origin, report)
	switch p.max = limits.MaxBytes; {
	case p.max == 0:
		p.max = MaxBytes
	case p.max < 0:
		p.max = math.MaxInt64
	}
	text, err := p.open(src)
	if err != nil {
		return nil, nil, err
	}
	if text.byte(text.start()) == '<' {
		err = p.xml(text)
	} else {
		err = p.json(text.take())
	}
	if err == nil {
		p.identify()
		err = p.afford(0)
	}
	if err != nil {
		return nil, nil, err
	}
	p.feed.Skipped = p.skipped
	return p.feed, p.items, nil
}

// A parser makes a feed and its items of one document.
type parser struct {
	doc     document.Document
	report  func(websync.Finding)
	feed    *atom.Feed
	items   []atom.Item
	linked  []int             // those whose link is their id
	mustID  bool              // the format demands an id
	entries int               // that have begun
	skipped int               // items that are left out, or may have been lost
	unsure  int               // doubts, which are among them
	early   []websync.Finding // found before the feed is known
	parts   int               // links, categories, people and elements of the item
	at      notes             // of the feed or entry that is being made
	max     int64             // the limit
	cost    int64             // what counts against it
}

func newParser(origin atom.Origin, report func(websync.Finding)) *parser {
	if report == nil {
		report = func(websync.Finding) {}
	}
	p := &parser{report: report}
	p.doc = document.Document{
		Kind: document.Kind{Format: "anyfeed", Name: "a feed", Else: "neither XML nor JSON"},
		URL:  origin.URL, ContentType: origin.ContentType,
		Report: func(_ document.Departure, _, _ int, value []byte, message string) {
			p.find(ruleGzip, "", string(value), message)
		},
	}
	return p
}

// open reads all of src. After white space, the result starts with '<' or '{'.
func (p *parser) open(src io.Reader) (*pages, error) {
	if err := p.doc.Open(src, -1); err != nil {
		return nil, err
	}
	head := bytes.Clone(p.doc.Head())
	text, err := p.utf8(head)
	if err != nil {
		return nil, p.fail("", err)
	}
	p.cost = int64(text.size)
	switch start := text.start(); {
	case start == text.size:
		return nil, p.doc.Fail(1, 1, "", p.doc.Not("an empty document"))
	case text.byte(start) != '<' && text.byte(start) != '{':
		return nil, p.doc.NotThis(head)
	}
	return text, nil
}

// fail returns err with the position of what is being made.
func (p *parser) fail(element string, err error) error {
	return p.doc.Fail(p.at.line, p.at.column, element, err)
}

// afford returns an error if something that costs so much would exceed the limit on the
// document.
func (p *parser) afford(cost int64) error {
	if p.cost+cost > p.max {
		err := fmt.Errorf("more than %d bytes with its entries, links, categories and people: %w", p.max, websync.ErrLimit)
		return p.fail("", err)
	}
	return nil
}

// part counts a part of an item or of the feed against the limits, and what is kept of it
// beyond its length in the document.
func (p *parser) part(bytes int) error {
	p.cost += int64(partCost + bytes)
	if p.parts++; p.parts > maxParts {
		return p.fail("", fmt.Errorf("more than %d links, categories and people of an entry: %w", maxParts, websync.ErrLimit))
	}
	return p.afford(0)
}

// maxValue limits a text, a tag or a value.
func (p *parser) maxValue() int { return int(p.max / 8) }

// scaled returns a limit that grows with the limit on the document.
func (p *parser) scaled(n int) int { return n * max(1, int(p.max/MaxBytes)) }

// tooLong returns the error for a part of a document.
func (p *parser) tooLong(what string) error {
	return fmt.Errorf("%s of more than %d bytes: %w", what, p.maxValue(), websync.ErrLimit)
}

// find reports a departure of what is being made.
func (p *parser) find(rule websync.Rule, element, value, message string) {
	f := rule.Finding(p.doc.URL, p.at.line, p.at.column, element, []byte(value), message)
	if p.feed == nil {
		p.early = append(p.early, f)
	} else {
		p.report(f)
	}
}

// doubt records a departure that may have hidden an entry. It counts as skipped. The
// format has a %s for each name, which is quoted.
func (p *parser) doubt(element string, value []byte, format string, names ...string) {
	p.skipped++
	if p.unsure++; p.unsure > maxDoubts {
		return // a document may consist of them
	}
	quoted := make([]any, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%.100q", name)
	}
	p.find(ruleStructure, element, string(value), fmt.Sprintf(format, quoted...))
}

// leftOut reports what is not read of a document, and the doubts that were not reported.
func (p *parser) leftOut(tombstones, astray int) {
	if tombstones > 0 {
		p.find(ruleLeftOut, "deleted-entry", "", fmt.Sprintf("tombstones are left out: %d", tombstones))
	}
	if astray > 0 {
		p.find(ruleLeftOut, "", "", fmt.Sprintf("entries inside of other elements are left out: %d", astray))
	}
	if n := p.unsure - maxDoubts; n > 0 {
		p.find(ruleStructure, "", "", fmt.Sprintf("more of what may have hidden an entry: %d", n))
	}
	p.skipped += tombstones + astray
}

// begin starts the feed. format is the name of its format, with an article.
func (p *parser) begin(format string, at notes) {
	p.at = at
	p.feed = &atom.Feed{Lang: at.lang}
	p.find(ruleTolerant, "", "", format+", read as Atom")
	for _, f := range p.early {
		p.report(f)
	}
	if at.base != p.doc.URL {
		p.feed.Base = at.base
	}
}

// entry returns a new entry, which the caller fills and gives to add.
func (p *parser) entry(at notes) *atom.Entry {
	p.at = at
	e := &atom.Entry{Lang: at.lang, Base: at.base, Line: at.line, Column: at.column}
	if e.Lang == "" {
		e.Lang = p.feed.Lang
	}
	return e
}

// add adds an entry, unless it has nothing by which it differs from others. One without
// an ID gets that of its link.
func (p *parser) add(e *atom.Entry) {
	if e.ID == "" {
		page, ok := e.Link("alternate")
		if !ok {
			p.skipped++
			p.find(ruleID, "entry", e.Title.Value, "an entry without an id or a link is left out")
			return
		}
		e.ID = page.Href
		p.linked = append(p.linked, len(p.items))
	}
	p.items = append(p.items, atom.Item{Entry: e})
}

// xml reads a feed of a format that is XML. If it is not well-formed, it is repaired
// first, and gofeed reads it if it is Atom.
func (p *parser) xml(text *pages) error {
	before := *p
	err := p.wellFormed(text)
	if errors.Is(err, errCharacters) || isSyntax(err) {
		*p = before
		if text, err = p.clean(text); err != nil {
			return err
		}
		before = *p
		if err = p.wellFormed(text); isSyntax(err) {
			*p = before
			err = p.damaged(text)
		}
	}
	text.dropAll()
	var syntax *xmlscan.SyntaxError
	if errors.As(err, &syntax) {
		err = p.doc.Fail(syntax.Line, syntax.Column, "", document.Cause(syntax))
	}
	return err
}

// isSyntax reports whether a document is not well-formed.
func isSyntax(err error) bool {
	var syntax *xmlscan.SyntaxError
	return errors.As(err, &syntax) && !errors.Is(err, xmlscan.ErrLimit)
}

// damaged reads a feed that is not well-formed.
func (p *parser) damaged(text *pages) (err error) {
	root := p.rootOf(text)
	isAtom := strings.EqualFold(root, "feed")
	if root != "" && !isAtom && !strings.EqualFold(root, "rss") && !strings.EqualFold(root, "rdf") {
		return p.fail("", p.doc.Not(document.WhatRoot(xmlscan.Name{Local: root})))
	}
	if text, err = p.repair(text, isAtom); err != nil {
		return err
	}
	if isAtom {
		return p.broken(text)
	}
	return p.wellFormed(text)
}

// resolve resolves a reference against base. Past the limit it leaves it as it is.
func (p *parser) resolve(base, ref string) string {
	ref = strings.TrimSpace(ref)
	if isURL, _ := syntax.CommonURL(ref); ref == "" || p.cost > p.max || isURL && !strings.Contains(ref, "/.") {
		return ref
	}
	abs := syntax.AppendResolved(nil, base, []byte(ref))
	p.cost += int64(max(0, len(abs)-len(ref)))
	return string(abs)
}

// url resolves a reference of what is being made.
func (p *parser) url(ref string) string { return p.resolve(p.at.base, ref) }

// date reads the first of the texts that is not empty. text is what is kept of one that
// is not RFC 3339.
func (p *parser) date(element string, texts ...string) (d websync.Datetime, text string) {
	text = first(texts...)
	if text == "" {
		return d, ""
	}
	if len(text) > maxDate {
		text = strings.ToValidUTF8(text[:maxDate], "")
		p.find(ruleDate, element, text, fmt.Sprintf("a date of more than %d bytes, which is cut", maxDate))
		return d, text
	}
	d, departure, err := websync.ParseDatetimeLenient(text)
	if err != nil {
		p.find(ruleDate, element, text, "not a date")
		return d, text
	}
	if departure == "" && d.Precision() >= websync.PrecisionSecond {
		text = ""
	}
	return d, text
}

// link appends a link, unless it leads nowhere.
func (p *parser) link(links *[]websync.Link, l websync.Link) {
	if l.Href = p.url(l.Href); l.Href == "" {
		return
	}
	if l.Rel = syntax.RelationName(strings.TrimSpace(l.Rel)); l.Rel == "" {
		l.Rel = "alternate"
	}
	l.Type, l.Lang = strings.TrimSpace(l.Type), strings.TrimSpace(l.Lang)
	*links = append(*links, l)
}

// length reads a number of bytes. Producers write 0 for an unknown length.
func length(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func category(categories *[]atom.Category, term, scheme, label string) {
	if term = strings.TrimSpace(term); term == "" {
		return
	}
	if scheme = strings.TrimSpace(scheme); syntax.Scheme(scheme) == 0 {
		scheme = ""
	}
	*categories = append(*categories, atom.Category{Term: term, Scheme: scheme, Label: strings.TrimSpace(label)})
}

func person(people *[]websync.Person, x websync.Person) {
	if x != (websync.Person{}) {
		*people = append(*people, x)
	}
}

// text returns a text; an empty one is not stated.
func text(typ, value string) atom.Text {
	if value == "" {
		return atom.Text{}
	}
	return atom.Text{Type: typ, Value: value}
}

// first returns the first text that is not only white space, without that around it.
func first(texts ...string) string {
	for _, s := range texts {
		if s = strings.TrimSpace(s); s != "" {
			return s
		}
	}
	return ""
}
