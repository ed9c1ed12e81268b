package anyfeed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// A reader reads a feed that is well-formed XML: RSS of any version, Atom 0.3 and Atom.
type reader struct {
	*parser
	xml *xmlscan.Reader

	// of the elements that are kept, to read what is in one
	inner    *xmlscan.Reader
	innerSrc strings.Reader

	isAtom  bool
	root    xmlscan.Name
	spaces  []string // of the format's own elements
	version string
	meta    atom.Feed // of the feed
	metaAt  notes

	channels  int
	atoms     int        // elements of Atom
	tombs     int        // tombstones
	astray    int        // items that are not where items may be
	inside    int        // elements inside of those that are read as a whole
	inContent bool       // which may be a feed
	room      int64      // for elements that are kept
	elements  int        // of the current feed or entry
	kept      arena      // the values
	lowered   lowered    // names in lower case
	buf       []byte     // the last value
	scratch   []byte     // what is needed for a moment
	current   atom.Entry // that is being read; its lists are used again
	outer     notes      // around the item
	lost      xmlscan.Losses
	over      error               // a limit that was passed
	faulty    bool                // there was a fault since the last tag
	fault     xmlscan.SyntaxError // the last one that did not end reading
}

// An arena keeps values: many short ones in one piece of memory.
type arena struct{ b strings.Builder }

func (a *arena) keep(value []byte) string {
	const size = 4 << 10
	switch n := len(value); {
	case n == 0:
		return ""
	case n > size/4:
		return string(value)
	case a.b.Cap()-a.b.Len() < n:
		a.b = strings.Builder{}
		a.b.Grow(size)
	}
	from := a.b.Len()
	a.b.Write(value)
	return a.b.String()[from:]
}

// lowered has the names with capitals.
type lowered map[string]string

// of returns a name in lower case.
func (l lowered) of(name string) string {
	for i := range len(name) {
		if name[i]-'A' < 26 {
			lower, ok := l[name]
			if !ok {
				lower = strings.ToLower(name)
				if len(l) < 1000 {
					l[name] = lower
				}
			}
			return lower
		}
	}
	return name
}

// errCharacters means that a document has to be cleaned first.
var errCharacters = errors.New("something that is no character")

// wellFormed reads a feed that is well-formed.
func (p *parser) wellFormed(text *pages) error {
	r := &reader{parser: p, lowered: make(lowered), inner: xmlscan.NewReader(nil), room: (p.max - p.cost) / 2}
	r.xml = xmlscan.NewReader(text.remains(span{0, text.size}))
	r.xml.MaxToken, r.xml.MaxValue, r.xml.MaxAttrs, r.xml.MaxDepth = p.maxValue(), p.maxValue(), maxAttributes, maxDepth
	r.inner.MaxToken, r.inner.MaxValue = -1, -1
	r.xml.Recover = func(line, column int, message string) {
		r.faulty = true
		r.fault = xmlscan.SyntaxError{Line: line, Column: column, Msg: message}
	}
	r.xml.Stop, r.xml.Entities = r.passes, true
	if _, err := r.next(); err != nil {
		if errors.Is(err, xmlscan.ErrEmpty) {
			return p.doc.Fail(1, 1, "", p.doc.Not("an empty document"))
		}
		return err
	}
	if err := r.document(); err != nil {
		return err
	}
	if !r.isAtom {
		r.finishChannel()
	}
	r.at = r.metaAt
	return r.check()
}

// document reads the root element, and looks for something after it.
func (r *reader) document() error {
	r.root = r.xml.Name()
	r.at = notes{base: r.doc.URL}
	r.enter()
	r.metaAt = r.at
	version, _ := r.xml.Attr("", "version")
	r.version = string(xmlscan.Trim(version))
	children := r.rssFeed
	switch r.lowered.of(r.root.Local) {
	case "rss", "rdf":
		r.spaces = rssSpaces
		if !slices.Contains(rssSpaces, r.root.Space) {
			// a namespace that RSS does not have, on the root, must not make its elements
			// foreign
			r.spaces = append(slices.Clone(rssSpaces), r.root.Space)
		}
	case "feed":
		r.spaces, r.isAtom, r.mustID = atomSpaces, true, true
		children = r.atomFeed
	}
	if !slices.Contains(r.spaces, r.root.Space) {
		return r.fail("", r.doc.Not(document.WhatRoot(r.root)))
	}
	if err := children(); err != nil {
		return err
	}
	if _, err := r.xml.Next(); err != io.EOF {
		var syntax *xmlscan.SyntaxError
		if errors.As(err, &syntax) {
			r.at.line, r.at.column = syntax.Line, syntax.Column
		}
		r.parser.doubt("", nil, "something after the end of the feed may stand for an entry")
	}
	return nil
}

// enter makes the element whose Start is current what is being made.
func (r *reader) enter() {
	r.at.line, r.at.column = r.xml.Position()
	lang, base := r.stated(r.xml)
	r.at.lang, r.at.base = first(lang, r.at.lang), first(base, r.at.base)
	r.at.single, r.at.hasText = 0, false
}

// stated returns xml:lang of the element whose Start is current, and its xml:base,
// resolved against the one around it; empty if it does not state them.
func (r *reader) stated(xml *xmlscan.Reader) (lang, base string) {
	attrs := xml.Attrs()
	for i := range attrs {
		a := &attrs[i]
		if a.Name.Space != xmlNamespace {
			continue
		}
		switch a.Name.Local {
		case "lang":
			if lang = r.kept.keep(xmlscan.Trim(a.Value)); lang == "" && r.at.lang != "" {
				lang = "und" // as in package atom: it revokes the one around it
			}
		case "base":
			if base = r.resolved(r.at.base, a.Value); len(base) > maxBase && r.over == nil {
				r.over = r.fail(r.xml.Name().Local, fmt.Errorf("xml:base of more than %d bytes: %w", maxBase, websync.ErrLimit))
			}
		}
	}
	return lang, base
}

// resolved returns a reference, resolved against base.
func (r *reader) resolved(base string, ref []byte) string {
	ref = xmlscan.Trim(ref)
	if len(ref) == 0 || syntax.Scheme(ref) > 0 || r.cost > r.max {
		return r.kept.keep(ref)
	}
	r.scratch = syntax.AppendResolved(r.scratch[:0], base, ref)
	r.cost += int64(max(0, len(r.scratch)-len(ref)))
	return r.kept.keep(r.scratch)
}

// next reads up to the next tag. Text on the way is in the document, root, or item around
// it, where only elements may be.
func (r *reader) next() (xmlscan.Kind, error) {
	for {
		kind, err := r.xml.NextTagOrText()
		if err == nil {
			err = r.checkLosses()
		}
		if kind != xmlscan.Text || err != nil {
			return kind, err
		}
		if text := xmlscan.Trim(r.xml.Text()); len(text) > 0 && !r.at.hasText {
			r.at.hasText = true
			r.doubt("", text, "text between elements may stand for an entry, or be a part of one")
		}
	}
}

// checkLosses returns an error if a limit was passed, and reports sections that run on.
func (r *reader) checkLosses() error {
	if !r.faulty {
		return r.over
	}
	r.faulty = false
	lost := r.xml.Losses()
	for range lost.Sections + lost.Instructions - r.lost.Sections - r.lost.Instructions {
		r.doubt("", nil, "a CDATA section or processing instruction contains the start of another: its end may be damaged")
	}
	r.lost = lost
	if lost.Characters > 0 {
		return r.doc.Fail(r.fault.Line, r.fault.Column, "", fmt.Errorf("%w: %s", errCharacters, r.fault.Msg))
	}
	if lost.Cut > 0 {
		return r.doc.Fail(r.fault.Line, r.fault.Column, "", fmt.Errorf("%s: %w", r.fault.Msg, websync.ErrLimit))
	}
	return nil
}

// doubt records a departure at the current token that may have hidden an item.
func (r *reader) doubt(element string, value []byte, format string, names ...string) {
	at := r.at
	r.at.line, r.at.column = r.xml.Position()
	r.parser.doubt(element, value, format, names...)
	r.at = at
}

// passes looks for items and tombstones in what is read as a whole.
func (r *reader) passes(name xmlscan.Name) bool {
	r.inside++
	if !r.inContent {
		r.lookFor(name)
	}
	return false
}

// lookFor counts an item or a tombstone where it is not read.
func (r *reader) lookFor(name xmlscan.Name) {
	switch local := r.lowered.of(name.Local); {
	case local == "deleted-entry" && name.Space == atom.TombstoneNamespace:
		r.tombs++
	case (local == "item" || local == "entry") && slices.Contains(r.spaces, name.Space):
		r.astray++
	}
}

// skip passes over the element whose Start is current.
func (r *reader) skip() error {
	r.lookFor(r.xml.Name())
	return r.xml.Skip()
}

// The elements of which a feed or an item has one. Some have several names.
const (
	theID uint16 = 1 << iota
	theGUID
	theTitle
	theSubtitle
	theSummary
	theRights
	theUpdated
	thePublished
	theContent
	theSource
	theIcon
	theLogo
	theGenerator

	naming = theID | theGUID | theTitle // a second one may be that of another item
)

func single(local string) uint16 {
	switch local {
	case "id":
		return theID
	case "guid":
		return theGUID
	case "title":
		return theTitle
	case "subtitle", "tagline":
		return theSubtitle
	case "summary", "description":
		return theSummary
	case "rights", "copyright":
		return theRights
	case "updated", "modified":
		return theUpdated
	case "published", "issued", "pubdate":
		return thePublished
	case "content":
		return theContent
	case "source":
		return theSource
	case "icon":
		return theIcon
	case "logo":
		return theLogo
	case "generator":
		return theGenerator
	}
	return 0
}

// isFirst reports whether an element is not the second one of which a feed or an item has
// one.
func (r *reader) isFirst(local string) bool {
	one := single(local)
	isFirst := r.at.single&one == 0
	if r.at.single |= one; !isFirst && one&naming != 0 {
		r.doubt(local, nil, "a second %s: it may be that of another entry", local)
	}
	return isFirst
}

// unknown reports an element of the format's own namespaces where it has none like it.
func (r *reader) unknown(parent string) {
	local := r.xml.Name().Local
	r.doubt(local, nil, "%s in %s: it may stand for an entry, or be a part of one", local, parent)
}

// value reads the text of the element whose Start is current, without white space around
// it. It is valid until the next call that reads.
func (r *reader) value() ([]byte, error) {
	value, err := r.xml.ElementText()
	if err == nil {
		err = r.checkLosses()
	}
	return xmlscan.Trim(value), err
}

// alone is value for what can make an ID: an element in it is a doubt.
func (r *reader) alone() ([]byte, error) {
	local, inside := r.xml.Name().Local, r.inside
	value, err := r.value()
	if r.inside > inside {
		r.doubt(local, nil, "an element in %s, which has a value only: it may be a part of an entry", local)
	}
	return value, err
}

// text is value, in memory of its own.
func (r *reader) text() (string, error) {
	value, err := r.value()
	return r.kept.keep(value), err
}

// element keeps the element whose Start is current as it is. Those of Atom, RFC 5005 and
// RFC 6721 have no meaning outside of them, and are left out.
func (r *reader) element(to *[]websync.Element) error {
	name := r.xml.Name()
	switch name.Space {
	case atom.Namespace, atom.HistoryNamespace, atom.TombstoneNamespace:
		return r.skip()
	}
	r.lookFor(name)
	switch r.elements++; {
	case r.elements > maxParts+1, r.room < 0:
		return r.xml.Skip()
	case r.elements > maxParts, r.room < partCost:
		r.find(ruleLeftOut, name.Local, "", "no room for more elements of other namespaces: they are left out")
		if r.elements <= maxParts {
			r.room = -1
		}
		return r.xml.Skip()
	}
	r.room -= partCost
	r.cost += partCost
	var err error
	if r.buf, err = r.xml.AppendElement(r.buf[:0]); err == nil {
		err = r.checkLosses()
	}
	if err == nil {
		*to = append(*to, websync.Element{Space: name.Space, Local: name.Local, XML: r.kept.keep(r.buf)})
	}
	return err
}

// open starts to read an element that was kept.
func (r *reader) open(x *websync.Element) {
	r.innerSrc.Reset(x.XML)
	r.inner.Reset(&r.innerSrc)
	r.inner.NextTag()
}

// take returns the text of the first of the elements that has one of some names, and
// removes it from them. The names are in their order of preference.
func (r *reader) take(from *[]websync.Element, names ...name) string {
	for _, n := range names {
		for i := range *from {
			x := &(*from)[i]
			if n.local != r.lowered.of(x.Local) || n.of != r.vocabulary(x.Space) {
				continue
			}
			r.open(x)
			text, _ := r.inner.ElementText()
			if text = xmlscan.Trim(text); len(text) > 0 {
				*from = slices.Delete(*from, i, i+1)
				return r.kept.keep(text)
			}
		}
	}
	return ""
}

// A name is that of an element, whatever its prefix and namespace.
type name struct {
	of    vocabulary
	local string
}

// A vocabulary is what some namespaces stand for.
type vocabulary uint8

const (
	foreign vocabulary = iota
	own                // of the format
	dublinCore
	dublinTerms
	contentModule
	atomElements
	history
	media
	itunes
	xhtml
	slash
	syndication
)

// vocabulary returns what a namespace stands for. A prefix that is not declared stands
// for itself.
func (r *reader) vocabulary(space string) vocabulary {
	if space == r.root.Space || slices.Contains(r.spaces, space) {
		return own
	}
	return vocabularyOf(space)
}

// vocabularyOf returns what a namespace stands for that is not one of the format.
func vocabularyOf(space string) vocabulary {
	switch space {
	case dublinCoreNamespace, "http://purl.org/dc/elements/1.0/", "dc":
		return dublinCore
	case dublinTermsNamespace, "dcterms":
		return dublinTerms
	case contentNamespace, "content":
		return contentModule
	case atom.Namespace, atom03Namespace, "atom":
		return atomElements
	case atom.HistoryNamespace:
		return history
	case mediaNamespace, "http://search.yahoo.com/mrss", "media":
		return media
	case itunesNamespace, "http://www.itunes.com/DTDs/Podcast-1.0.dtd", "itunes":
		return itunes
	case xhtmlNamespace:
		return xhtml
	case slashNamespace:
		return slash
	case syndicationNamespace:
		return syndication
	}
	return foreign
}

// person reads a person: a text, or elements with a name, an address and a URL.
func (r *reader) person(to *[]websync.Person) error {
	if err := r.part(0); err != nil {
		return err
	}
	var p websync.Person
	_, base := r.stated(r.xml)
	base = first(base, r.at.base)
	r.buf = r.buf[:0]
	for {
		kind, err := r.xml.Next()
		switch {
		case err != nil:
			return err
		case kind == xmlscan.End:
			addPerson(to, p)
			addPerson(to, parsePerson(r.kept.keep(r.buf)))
			return nil
		case kind == xmlscan.Text:
			r.buf = append(r.buf, r.xml.Text()...)
			continue
		}
		local := r.lowered.of(r.xml.Name().Local)
		if v := r.vocabulary(r.xml.Name().Space); v != own && v != atomElements {
			local = ""
		}
		value, err := r.value()
		if err != nil {
			return err
		}
		switch local {
		case "name":
			p.Name = first(p.Name, r.kept.keep(value))
		case "email":
			p.Email = first(p.Email, r.kept.keep(value))
		case "uri", "url":
			p.URI = first(p.URI, r.resolved(base, value))
		}
	}
}

// addPerson adds a person, or what is known of one who is there already.
func addPerson(people *[]websync.Person, x websync.Person) {
	for i := range *people {
		p := &(*people)[i]
		if x.Email != "" && strings.EqualFold(p.Email, x.Email) || x.Name != "" && p.Name == x.Name {
			p.Name, p.Email, p.URI = first(p.Name, x.Name), first(p.Email, x.Email), first(p.URI, x.URI)
			return
		}
	}
	person(people, x)
}

// link returns what the attributes of the element whose Start is current state of a link.
// If rel is empty, they state the relation, too. href is the name of the one with the
// reference.
func (r *reader) link(xml *xmlscan.Reader, rel, href string) websync.Link {
	l := websync.Link{Rel: rel}
	_, base := r.stated(xml)
	base = first(base, r.at.base)
	attrs := xml.Attrs()
	for i := range attrs {
		a := &attrs[i]
		switch value := xmlscan.Trim(a.Value); {
		case a.Name.Space == atom.LinkExtNamespace && a.Name.Local == "md5":
			r.digests(&l, append([]byte("md5:"), value...))
		case element.IsAttrSpace(a.Name.Space, atom.Namespace):
			l.Attrs = append(l.Attrs, websync.Attr{Space: a.Name.Space, Local: a.Name.Local, Value: r.kept.keep(a.Value)})
		case a.Name.Space != "":
		case a.Name.Local == href:
			l.Href = r.resolved(base, value)
		case a.Name.Local == "rel" && rel == "":
			l.Rel = r.kept.keep(value)
		case a.Name.Local == "type":
			l.Type = r.kept.keep(value)
		case a.Name.Local == "hreflang", a.Name.Local == "lang":
			l.Lang = r.kept.keep(value)
		case a.Name.Local == "title":
			l.Title = r.kept.keep(a.Value)
		case a.Name.Local == "length", a.Name.Local == "fileSize":
			l.Length = length(string(value))
		case a.Name.Local == "hash":
			r.digests(&l, value)
		}
	}
	return l
}

// digests reads digests that are written algorithm:sum.
func (r *reader) digests(l *websync.Link, fields []byte) {
	for field := range bytes.FieldsSeq(fields) {
		if d, err := websync.ParseDigest(string(field)); err == nil {
			l.Digests = append(l.Digests, d)
		}
	}
}

// addLink adds a link with a resolved reference, unless it leads nowhere.
func (r *reader) addLink(to *[]websync.Link, l websync.Link) error {
	if l.Href == "" {
		return nil
	}
	if l.Rel = syntax.RelationName(l.Rel); l.Rel == "" {
		l.Rel = "alternate"
	}
	*to = append(*to, l)
	return r.part(0)
}

// check returns an error if the document is no feed, and finishes the feed.
func (r *reader) check() error {
	switch {
	case len(r.parser.items) == 0 && r.astray > 0:
		return r.doc.Fail(0, 0, "", errors.New("entries inside of other elements, and no others"))
	case r.isAtom && r.root.Space == "" && r.atoms == 0 && len(r.parser.items) == 0:
		return r.doc.Fail(0, 0, "", r.doc.Not("a feed element with nothing of Atom in it"))
	case !r.isAtom && r.channels == 0 && len(r.parser.items) == 0:
		return r.doc.Fail(0, 0, "", r.doc.Not("an "+r.root.Local+" document without a channel"))
	}
	format := "an RSS feed "
	if r.isAtom {
		format = "an Atom feed "
	}
	r.leftOut(r.tombs, r.astray)
	r.begin(strings.TrimSpace(format+r.version), r.metaAt)
	r.meta.Base, r.meta.Lang = r.feed.Base, first(r.meta.Lang, r.metaAt.lang)
	*r.feed = r.meta
	for _, item := range r.items {
		item.Entry.Lang = first(item.Entry.Lang, r.meta.Lang)
	}
	return nil
}

// beginEntry starts the entry whose Start is current.
func (r *reader) beginEntry() (*atom.Entry, error) {
	r.outer = r.at
	r.enter()
	r.parts, r.elements = 0, 0
	r.cost += partCost
	switch limit := r.scaled(MaxEntries); {
	case r.entries == limit:
		return nil, r.fail("", fmt.Errorf("more than %d entries: %w", limit, websync.ErrLimit))
	}
	r.entries++
	e := &r.current
	*e = atom.Entry{
		Lang: r.at.lang, Base: r.at.base, Line: r.at.line, Column: r.at.column,
		Links: e.Links[:0], Elements: e.Elements[:0], Authors: e.Authors[:0], Categories: e.Categories[:0],
	}
	return e, r.afford(0)
}

// endEntry adds an entry that was read.
func (r *reader) endEntry(deleted bool) {
	e := r.current
	e.Links, e.Elements = append([]websync.Link(nil), e.Links...), append([]websync.Element(nil), e.Elements...)
	e.Authors, e.Categories = append([]websync.Person(nil), e.Authors...), append([]atom.Category(nil), e.Categories...)
	if deleted {
		r.skipped++
		r.find(ruleLeftOut, "entry", e.ID, "an entry that is marked as deleted is left out")
	} else {
		r.add(&e)
	}
	r.at = r.outer
}
