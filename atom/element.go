package atom

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

const (
	// limits the bytes, roughly, of the repeated elements of one item, or of the feed
	maxKept  = 4 << 20
	perChild = 256  // bytes that a link, a person and so on take beside their text
	maxRaw   = 1024 // bytes of a text that is kept because it could not be read
)

// A children is a set of child elements.
type children uint32

const (
	childID children = 1 << iota
	childTitle
	childUpdated
	childSubtitle
	childSummary
	childRights
	childPublished
	childContent
	childSource
	childGenerator
	childIcon
	childLogo
	childAuthor
	childContributor
	childCategory
	childLink
	childName
	childURI
	childEmail
	childBy
	childComment
	childComplete
	childArchive
	childTombstone

	repeatedChildren = childAuthor | childContributor | childCategory | childLink
	historyMarks     = childComplete | childArchive
	metadataChildren = childID | childTitle | childSubtitle | childRights | childUpdated | childGenerator | childIcon |
		childLogo |
		historyMarks | repeatedChildren
)

func (c children) has(child children) bool { return c&child != 0 }

// A model states which children an element may and must have.
type model struct {
	children, required children
	surplus, lacks     *Rule // broken by a surplus child; by a missing one
}

var (
	feedModel   = model{metadataChildren, childID | childTitle | childUpdated, &ruleFeedChild, &ruleFeedChild}
	sourceModel = model{metadataChildren, childID | childTitle | childUpdated, &ruleSourceChild, &ruleSourceLacks}
	entryModel  = model{childID | childTitle | childSummary | childRights | childUpdated | childPublished | childContent |
		childSource | repeatedChildren,
		childID | childTitle | childUpdated, &ruleEntryChild, &ruleEntryChild}
	tombstoneModel = model{childBy | childComment | childLink | childSource, 0, &ruleTombstoneChild, nil}
	personModel    = model{childName | childURI | childEmail, childName, &rulePersonChild, &rulePersonChild}
)

// A scope is an open element that holds others.
type scope struct {
	*model
	name string // local
	at   position
	inherited
	seen, twice children // twice: those reported as surplus
	kept        int      // bytes, roughly, of the repeated children
}

// scopeOf returns the scope of the element whose Start is current.
func (r *Reader) scopeOf(m *model, at position, in inherited) scope {
	return scope{model: m, name: r.scan.Name().Local, at: at, inherited: in.with(r.stated(in))}
}

// childOf returns the child of s that has this name; 0 if s has no such child.
func (r *Reader) childOf(s *scope, name xmlscan.Name) (child children) {
	switch {
	case r.own(name.Space):
		child = childNamed(name.Local)
	case name.Space == HistoryNamespace && name.Local == "complete":
		child = childComplete
	case name.Space == HistoryNamespace && name.Local == "archive":
		child = childArchive
	case name.Space == TombstoneNamespace && name.Local == "by":
		child = childBy
	case name.Space == TombstoneNamespace && name.Local == "comment":
		child = childComment
	}
	return child & s.children
}

func childNamed(local string) children {
	switch local {
	case "id":
		return childID
	case "title":
		return childTitle
	case "subtitle":
		return childSubtitle
	case "summary":
		return childSummary
	case "rights":
		return childRights
	case "updated":
		return childUpdated
	case "published":
		return childPublished
	case "content":
		return childContent
	case "source":
		return childSource
	case "generator":
		return childGenerator
	case "icon":
		return childIcon
	case "logo":
		return childLogo
	case "author":
		return childAuthor
	case "contributor":
		return childContributor
	case "category":
		return childCategory
	case "link":
		return childLink
	case "name":
		return childName
	case "uri":
		return childURI
	case "email":
		return childEmail
	}
	return 0
}

// A childOrder holds the first children of the last entry. The next entry often has the
// same ones.
type childOrder [12]struct {
	local string
	child children
}

// childNamed is childNamed for child n of an entry.
func (o *childOrder) childNamed(n int, local string) children {
	if n >= len(o) {
		return childNamed(local)
	}
	if o[n].local != local {
		o[n].local, o[n].child = local, childNamed(local)
	}
	return o[n].child
}

// admits reports whether the current element, a child of s, is kept: there is room for
// it, and it is not surplus.
func (r *Reader) admits(s *scope, child children) bool {
	surplus := s.seen & child &^ (repeatedChildren | historyMarks)
	s.seen |= child
	return surplus == 0 && s.kept <= maxKept && r.check == nil || r.admitsOdd(s, child, surplus != 0)
}

// admitsOdd is the slow path of admits, for a child that may need a report.
func (r *Reader) admitsOdd(s *scope, child children, surplus bool) bool {
	ok := !surplus
	if surplus {
		r.reportSurplus(s, child)
	}
	if child&repeatedChildren != 0 {
		ok = r.hasRoom(s.kept)
	}
	r.view.damaged = r.view.damaged || !ok && child&(childContent|childLink) != 0
	if r.check != nil {
		r.check.child(s, child)
	}
	return ok
}

// reportSurplus reports that the current child is surplus. Validate reports that once for
// each name.
func (r *Reader) reportSurplus(s *scope, child children) {
	if r.watched && (r.check == nil || s.twice&child == 0) {
		s.twice |= child
		r.reportChild(*s.surplus, nil, fmt.Sprintf("%s must have at most one %s: the first counts", s.name, r.scan.Name().Local))
	}
}

// hasRoom reports whether one more element can be kept. Validate keeps none beyond the
// limit, and does not report that.
func (r *Reader) hasRoom(kept int) bool {
	if kept <= maxKept {
		return true
	}
	if r.check == nil {
		r.reportChild(ruleElementSize, nil, "more than 4 MiB of links, elements and the like: the others are left out")
	}
	return false
}

// discard passes over a child that is not kept. For Validate it reads the child, to check
// it, and drops the result.
func (r *Reader) discard(read func() error) error {
	if r.check == nil {
		return r.scan.Skip()
	}
	view := r.view
	r.view.source = nil // which view keeps
	err := read()
	r.view = view
	return err
}

// foreign reports a child of s that has no meaning there. A tombstone is one, unless it
// is a child of the feed.
func (r *Reader) foreign(s *scope, name xmlscan.Name) {
	if r.watched && r.own(name.Space) && s.model != &tombstoneModel {
		r.reportChild(ruleUnknown, nil, fmt.Sprintf("%s has no element %.100q", s.name, name.Local))
	} else if r.check != nil {
		r.check.foreign(s, name)
	}
	if isTombstone(name) {
		r.stops(name)
	}
}

// The methods below read the element whose Start is current. Their errors are those of
// r.scan.

// source reads the feed that an item was copied from (RFC 4287 §4.2.11).
func (r *Reader) source(in inherited) error {
	v := &r.view
	f := v.newSource()
	f.lang, f.base = r.stated(in)
	v.hasSource = true
	s := r.scopeOf(&sourceModel, r.at, in)
	for {
		tag, err := r.nextTag()
		if err == nil && tag == xmlscan.End {
			if r.check != nil {
				r.check.endSource(&s)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if err := r.feedChild(f, &s); err != nil {
			v.hasSource = false
			return err
		}
	}
}

// feedChild reads a child of a feed or source into f.
func (r *Reader) feedChild(f *feedView, s *scope) (err error) {
	v := &r.view
	before := len(v.buf.Bytes)
	name := r.scan.Name()
	switch child := r.childOf(s, name); {
	case child == 0:
		err = r.feedElement(f, s, name)
	case r.admits(s, child):
		err = r.feedValue(f, s, child)
	default:
		err = r.discard(func() error { return r.feedValue(new(feedView), s, child) })
	}
	s.kept += perChild + len(v.buf.Bytes) - before
	return err
}

// feedElement keeps an extension of a feed.
func (r *Reader) feedElement(f *feedView, s *scope, name xmlscan.Name) (err error) {
	v := &r.view
	own, inFeed := r.own(name.Space), s.model == &feedModel
	isItem := inFeed && (strings.EqualFold(name.Local, "entry") || strings.EqualFold(name.Local, "deleted-entry"))
	among := inFeed && own && r.entries > 0
	switch {
	case isItem:
		r.doubt(ruleUnknown, r.at, name.Local, []byte(name.Space),
			"an item must be named entry or deleted-entry, in its own namespace: this one is skipped")
	case among:
		r.doubt(ruleUnknown, r.at, name.Local, nil,
			fmt.Sprintf("feed has no element %.100q: among its entries it may stand for one", name.Local))
	}
	if !own || !isItem && !among {
		r.foreign(s, name)
	}
	if !r.hasRoom(s.kept) {
		return r.scan.Skip()
	}
	from := len(v.buf.Bytes)
	if v.buf.Bytes, err = r.scan.AppendElement(v.buf.Bytes); err == nil && len(v.buf.Bytes) > from {
		f.elements = append(f.elements, elementView{name.Space, name.Local, v.buf.Since(from)})
	}
	return err
}

// feedValue reads a child that Atom defines.
func (r *Reader) feedValue(f *feedView, s *scope, child children) (err error) {
	switch child {
	case childComplete:
		err = r.historyMark(&f.complete, s)
	case childArchive:
		err = r.historyMark(&f.archive, s)
	case childID:
		f.id, err = r.id()
	case childTitle:
		err = r.construct(&f.title, s)
	case childSubtitle:
		err = r.construct(&f.subtitle, s)
	case childRights:
		err = r.construct(&f.rights, s)
	case childUpdated:
		f.updated, f.updatedText, err = r.date(&r.updated)
		r.checkFuture(f.updated, nil)
	case childGenerator:
		err = r.generator(&f.generator, s.inherited)
	case childIcon:
		f.icon, err = r.reference(s.inherited)
	case childLogo:
		f.logo, err = r.reference(s.inherited)
	case childLink:
		err = r.feedLink(f, s)
	default:
		err = r.credit(&f.authors, &f.contributors, &f.categories, s, child)
	}
	return err
}

// credit reads an author, a contributor or a category, which feeds and entries have.
func (r *Reader) credit(authors, contributors *[]personView, categories *[]categoryView, s *scope, child children) error {
	switch child {
	case childAuthor:
		return r.itemPerson(authors, s.inherited)
	case childContributor:
		return r.itemPerson(contributors, s.inherited)
	}
	ok, err := r.category(extend(categories), s.inherited)
	if !ok {
		*categories = (*categories)[:len(*categories)-1]
	}
	return err
}

// feedLink reads a link of a feed or source.
func (r *Reader) feedLink(f *feedView, s *scope) error {
	l := extend(&f.links)
	ok, err := r.link(l, s)
	if !ok && err == nil && slices.Contains(pageRelations[:], string(r.view.buf.Of(l.Rel))) {
		// as if href were empty, so that a Source notices that a document may be lost
		l.Href = r.resolved(s.base, nil)
		ok = !l.Href.IsEmpty()
	}
	if !ok {
		f.links = f.links[:len(f.links)-1]
	}
	return err
}

// historyMark reads fh:complete or fh:archive (RFC 5005 §2, §4).
func (r *Reader) historyMark(mark *bool, s *scope) error {
	*mark = true
	if r.check == nil {
		return r.scan.Skip()
	}
	from := len(r.view.buf.Bytes)
	text, err := r.characters(&ruleHistoryElement, asText)
	if err == nil {
		r.check.historyMark(s, r.view.buf.Of(text))
	}
	r.view.buf.Bytes = r.view.buf.Bytes[:from]
	return err
}

// generator reads the software that made the feed (RFC 4287 §4.2.4).
func (r *Reader) generator(g *generatorView, in inherited) (err error) {
	in = in.with(r.stated(in))
	if uri, ok := r.scan.Attr("", "uri"); ok {
		g.URI = r.resolved(in.base, uri)
		if r.check != nil {
			r.checkReference(&ruleIRI, "uri", uri)
		}
	}
	version, _ := r.scan.Attr("", "version")
	g.Version = r.view.buf.Add(version)
	if g.Name, err = r.value(); g.Name.IsEmpty() && err == nil && r.check != nil {
		r.reportChild(ruleGenerator, nil, "a generator should have a name")
	}
	return err
}

// entry reads an entry into r.view.
func (r *Reader) entry(s *scope) error {
	v := &r.view
	err := r.entryChildren(s)
	if err != nil && err != xmlscan.ErrStopped {
		return err
	}
	if v.id.IsEmpty() && (err != nil || !s.seen.has(childID)) {
		r.loss(ruleEntryChild, s.at, "entry", nil, "an entry must have an id: this one is skipped")
	}
	// Validate reports a missing updated itself
	if v.Deleted && v.Updated.IsZero() && r.check == nil {
		r.report(ruleTombstoneWhen, s.at, "entry", nil, "a deletion must have the time of it, in updated")
	}
	return err
}

func (r *Reader) entryChildren(s *scope) error {
	for n := 0; ; n++ {
		tag, err := r.nextTag()
		if err != nil || tag == xmlscan.End {
			return err
		}
		name := r.scan.Name()
		child := children(0)
		if r.own(name.Space) {
			child = r.order.childNamed(n, name.Local) & entryModel.children
		}
		if err := r.entryChild(s, name, child); err != nil {
			return err
		}
	}
}

// entryChild reads a child of an entry.
func (r *Reader) entryChild(s *scope, name xmlscan.Name, child children) error {
	switch {
	case child == 0:
		return r.extension(s, name)
	case child == childID && s.seen.has(childID):
		return r.secondID(s)
	case !r.admits(s, child):
		return r.discard(func() error { return r.entryValue(s, child) })
	}
	before := len(r.view.buf.Bytes)
	err := r.entryValue(s, child)
	if child&repeatedChildren != 0 {
		s.kept += perChild + len(r.view.buf.Bytes) - before
	}
	return err
}

// entryValue reads a child of an entry that Atom defines.
func (r *Reader) entryValue(s *scope, child children) (err error) {
	v := &r.view
	switch child {
	case childID:
		v.id, err = r.id()
	case childTitle:
		err = r.construct(&v.title, s)
	case childSummary:
		err = r.construct(&v.summary, s)
	case childRights:
		err = r.construct(&v.rights, s)
	case childUpdated:
		v.Updated, v.updatedText, err = r.date(&r.updated)
		r.checkFuture(v.Updated, nil)
	case childPublished:
		v.published, v.publishedText, err = r.date(&r.published)
		if r.check != nil {
			r.checkFuture(v.published, nil)
		}
	case childContent:
		err = r.inlineOrElsewhere(s)
	case childSource:
		err = r.source(s.inherited)
	case childLink:
		err = r.itemLink(s)
	default:
		err = r.credit(&v.authors, &v.contributors, &v.categories, s, child)
	}
	return err
}

// extend appends a zero element to a slice and returns a pointer to it.
func extend[T any](s *[]T) *T {
	n := len(*s)
	if n == cap(*s) {
		*s = append(*s, *new(T))
		return &(*s)[n]
	}
	*s = (*s)[:n+1]
	last := &(*s)[n]
	*last = *new(T)
	return last
}

// itemPerson reads an author or contributor.
func (r *Reader) itemPerson(all *[]personView, in inherited) error {
	p := extend(all)
	err := r.person(p, in)
	if p.isZero() {
		*all = (*all)[:len(*all)-1]
	}
	return err
}

// itemLink reads a link of an item.
func (r *Reader) itemLink(s *scope) error {
	v := &r.view
	l := extend(&v.links)
	ok, err := r.link(l, s)
	if !ok {
		v.damaged = v.damaged || leadsToBody(v.buf.Of(l.Rel))
		v.links = v.links[:len(v.links)-1]
	}
	return err
}

// tombstone reads an at:deleted-entry into r.view (RFC 6721 §3).
func (r *Reader) tombstone(s *scope) error {
	v := &r.view
	v.Deleted = true
	if r.watched {
		r.at = s.at
	}
	if ref, _ := r.scan.Attr("", "ref"); len(xmlscan.Trim(ref)) > 0 {
		if r.usable(&ruleTombstoneRef, ref, r.before) {
			v.id = v.buf.Add(xmlscan.Trim(ref))
		}
	} else {
		r.loss(ruleTombstoneRef, s.at, s.name, nil, "a tombstone must have a ref: this one is skipped")
	}
	r.when()
	for {
		tag, err := r.nextTag()
		if err != nil || tag == xmlscan.End {
			return err
		}
		name := r.scan.Name()
		switch child := r.childOf(s, name); {
		case child == 0:
			r.foreign(s, name)
			err = r.capture(s, name)
		case r.admits(s, child):
			err = r.tombstoneValue(s, child)
		default:
			err = r.discard(func() error { return r.tombstoneValue(s, child) })
		}
		if err != nil {
			return err
		}
	}
}

// when reads the time of a deletion.
func (r *Reader) when() {
	v := &r.view
	when, ok := r.scan.Attr("", "when")
	if !ok {
		r.reportChild(ruleTombstoneWhen, nil, "a tombstone must have the time of the deletion, in when")
		return
	}
	var text []byte
	v.Updated, text = r.attrDate(&ruleTombstoneWhen, "when", when)
	v.updatedText = v.buf.Add(text)
	r.checkFuture(v.Updated, when)
}

func (r *Reader) tombstoneValue(s *scope, child children) (err error) {
	v := &r.view
	switch child {
	case childBy:
		return r.person(&v.by, s.inherited)
	case childComment:
		return r.construct(&v.comment, s)
	case childSource:
		return r.source(s.inherited)
	}
	before := len(v.buf.Bytes)
	err = r.itemLink(s)
	s.kept += perChild + len(v.buf.Bytes) - before
	return err
}

// extension reads a child of an entry that has another namespace, or that Atom does not
// define there.
func (r *Reader) extension(s *scope, name xmlscan.Name) error {
	r.foreign(s, name)
	switch name {
	case xmlscan.Name{Space: GDataNamespace, Local: "deleted"}:
		r.markDeleted()
		return r.scan.Skip()
	case xmlscan.Name{Space: FeedSyncNamespace, Local: "sync"}:
		if deleted, _ := r.scan.Attr("", "deleted"); string(deleted) == "true" || string(deleted) == "1" {
			r.markDeleted()
		}
	}
	return r.capture(s, name)
}

// markDeleted makes the current entry a tombstone.
func (r *Reader) markDeleted() {
	r.reportChild(ruleForm, nil, "a deletion that is not written as at:deleted-entry (RFC 6721)")
	r.view.Deleted = true
}

// capture keeps an element as it is.
func (r *Reader) capture(s *scope, name xmlscan.Name) (err error) {
	v := &r.view
	if !r.hasRoom(s.kept) {
		return r.scan.Skip()
	}
	from := len(v.buf.Bytes)
	if v.buf.Bytes, err = r.scan.AppendElement(v.buf.Bytes); err == nil && len(v.buf.Bytes) > from {
		v.elements = append(v.elements, elementView{name.Space, name.Local, v.buf.Since(from)})
	}
	s.kept += perChild + len(v.buf.Bytes) - from
	return err
}

// id reads an IRI and does not resolve it. If it is not usable, id reports it and returns
// an empty one.
func (r *Reader) id() (span, error) {
	before := r.scan.Losses()
	text, err := r.characters(&ruleValueElement, asText)
	if err != nil || !r.usable(&ruleID, r.view.buf.Of(text), before) {
		return span{}, err
	}
	return r.view.buf.Trimmed(text), nil
}

// usable reports whether a text without the white space around it can be an id or ref.
// Otherwise the scanner has lost parts of it since before, or it has characters that no
// IRI has, because the markup is damaged. It reports a doubt if another id may have been
// meant.
func (r *Reader) usable(rule *Rule, text []byte, before xmlscan.Losses) bool {
	id := r.trimmed(text)
	lost := r.scan.Losses()
	raw := lost.References != before.References
	lost.References = before.References
	odd := syntax.URLFlaws(id)&syntax.NotOne != 0
	switch {
	case len(id) == 0:
		r.loss(*rule, r.at, r.scan.Name().Local, text, "an empty id")
		return false
	case lost != before, odd && (bytes.ContainsAny(id, "<>\r\n") || isTwo(id)):
		r.loss(*rule, r.at, r.scan.Name().Local, text, "an id must be one IRI: this one is not used")
		return false
	case raw:
		r.doubt(*rule, r.at, r.scan.Name().Local, text, "an & must be written as &amp;: another id may be meant")
	case odd && bytes.ContainsAny(id, " \t"):
		r.doubt(*rule, r.at, r.scan.Name().Local, text, "an id must have no white space inside: another id may be meant")
	case r.check != nil:
		r.check.id(rule, id)
	}
	return true
}

// isTwo reports whether an id is two IRIs with white space in between.
func isTwo(id []byte) bool {
	for i, c := range id {
		if syntax.IsSpace(c) && syntax.Scheme(id[i+1:]) > 0 {
			return true
		}
	}
	return false
}

// secondID reads a second id of an entry. If it differs from the first, the entry may be
// two entries.
func (r *Reader) secondID(s *scope) error {
	v := &r.view
	if r.check != nil {
		r.check.child(s, childID)
	}
	from := len(v.buf.Bytes)
	text, err := r.characters(&ruleValueElement, asText)
	if err != nil {
		return err
	}
	other := v.buf.Of(v.buf.Trimmed(text))
	if len(other) == 0 || bytes.Equal(other, v.buf.Of(v.id)) {
		r.reportSurplus(s, childID)
	} else {
		s.twice |= childID
		r.doubt(ruleEntryChild, r.at, "id", v.buf.Of(text), "an entry must have one id only: this may be another entry")
	}
	if r.check != nil {
		r.check.id(&ruleID, other)
	}
	v.buf.Bytes = v.buf.Bytes[:from]
	return nil
}

// trimmed returns a value without the white space around it, which it reports.
func (r *Reader) trimmed(text []byte) []byte {
	value := xmlscan.Trim(text)
	if len(value) != len(text) {
		r.reportChild(ruleSpace, text, "an IRI or a date must have no white space around it")
	}
	return value
}

// reference reads an IRI that may be relative.
func (r *Reader) reference(in inherited) (span, error) {
	in = in.with(r.stated(in))
	value, err := r.characters(&ruleValueElement, asText)
	text := r.view.buf.Of(value)
	if err == nil && r.check != nil {
		r.checkReference(&ruleIRI, "", text)
	}
	return r.resolved(in.base, text), err
}

// checkReference checks, for Validate, the syntax of a reference. attr is empty for the
// text of an element.
func (r *Reader) checkReference(rule *Rule, attr string, ref []byte) {
	fault := syntax.ReferenceFault(xmlscan.Trim(ref))
	switch {
	case fault == "":
	case attr == "":
		r.reportChild(*rule, ref, fault)
	default:
		r.reportAttr(*rule, attr, ref, fault)
	}
}

// resolved appends an IRI to the view, resolved against base.
func (r *Reader) resolved(base string, ref []byte) span {
	v := &r.view
	ref = r.trimmed(ref)
	if syntax.Scheme(ref) > 0 {
		return v.buf.Add(ref)
	}
	if base == "" && r.check == nil {
		r.reportChild(ruleRelative, ref,
			"a relative reference, but neither the document nor xml:base has a URL to resolve it against")
	}
	from := len(v.buf.Bytes)
	v.buf.Bytes = syntax.AppendResolved(v.buf.Bytes, base, ref)
	return v.buf.Since(from)
}

// A lastDate is the last date that was read, and its text. The next one is often the
// same.
type lastDate struct {
	text []byte
	date websync.Datetime
}

// date reads a date. If it is not RFC 3339, text is the text of the element.
func (r *Reader) date(last *lastDate) (d websync.Datetime, text span, err error) {
	v := &r.view
	text, err = r.characters(&ruleValueElement, asText)
	if err != nil {
		return d, span{}, err
	}
	raw := v.buf.Of(text)
	d, ok := last.date, len(raw) > 0 && string(raw) == string(last.text)
	if !ok {
		d, ok = exactDate(raw)
	}
	if !ok {
		d, fault := date3339(r.trimmed(raw))
		if fault != "" {
			r.reportChild(ruleDate, raw, fault)
		}
		text.To = min(text.To, text.From+maxRaw)
		return d, text, nil
	}
	last.text, last.date = append(last.text[:0], raw...), d
	v.buf.Bytes = v.buf.Bytes[:text.From]
	return d, span{}, nil
}

// attrDate reads a date of an attribute. If it is not RFC 3339, text is the value.
func (r *Reader) attrDate(rule *Rule, attr string, value []byte) (d websync.Datetime, text []byte) {
	d, ok := exactDate(value)
	if ok {
		return d, nil
	}
	d, fault := date3339(r.trimmed(value))
	if fault != "" {
		r.reportAttr(*rule, attr, value, fault)
	}
	return d, value[:min(len(value), maxRaw)]
}

// date3339 reads a date as Atom demands it: RFC 3339, with a time, seconds, a zone, and
// the letters T and Z as capitals (RFC 4287 §3.3). A date that departs from that and is
// still readable is returned with its fault.
func date3339[T syntax.Text](s T) (d websync.Datetime, fault string) {
	d, err := websync.ParseDatetime(string(s))
	switch {
	case err != nil:
		d, fault, err = websync.ParseDatetimeLenient(string(s))
		if err != nil {
			return websync.Datetime{}, "not an RFC 3339 date: " + err.Error()
		}
		return d, "not an RFC 3339 date: " + fault
	case d.Precision() <= websync.PrecisionDay:
		return d, "a date without a time"
	case d.Precision() < websync.PrecisionSecond:
		return d, "a time without seconds"
	case syntax.IndexAny(s, "tz") < len(s):
		return d, "a small t or z"
	}
	return d, ""
}

// exactDate is date3339 for dates without a fault.
func exactDate(s []byte) (websync.Datetime, bool) {
	d, err := websync.ParseDatetime(string(s))
	return d, err == nil && d.Precision() >= websync.PrecisionSecond && s[len("2006-01-02")] == 'T' && s[len(s)-1] != 'z'
}

// isFuture reports whether a time is more than a day after now.
func isFuture(d websync.Datetime, now time.Time) bool { return d.Time().After(now.AddDate(0, 0, 1)) }

func (r *Reader) checkFuture(d websync.Datetime, value []byte) {
	if !r.Now.IsZero() && !d.IsZero() && isFuture(d, r.Now) {
		if value == nil {
			value = []byte(d.String())
		}
		r.reportChild(ruleDateFuture, value, "more than a day ahead of the clock")
	}
}

// An elementsInside is how elements are kept that are where only text belongs.
type elementsInside uint8

const (
	asText   elementsInside = iota // only their text is kept
	asMarkup                       // as they are
)

// characters reads the text of an element into the view. Child elements break the rule.
func (r *Reader) characters(rule *Rule, inside elementsInside) (span, error) {
	v := &r.view
	from, depth := len(v.buf.Bytes), 0
	r.mixed = false
	for {
		kind, err := r.next()
		if err != nil {
			return span{}, err
		}
		switch {
		case kind == xmlscan.Text:
			if text := r.scan.Text(); r.fits(from, len(text)) {
				v.buf.Bytes = append(v.buf.Bytes, text...)
			}
		case kind == xmlscan.End && depth == 0:
			return v.buf.Since(from), nil
		case kind == xmlscan.End:
			depth--
		default:
			if !r.mixed {
				r.reportMixed(rule)
			}
			r.mixed = true
			if inside == asMarkup {
				err = r.captureInside(from)
			} else {
				depth++
			}
			if err != nil {
				return span{}, err
			}
		}
	}
}

// reportMixed reports that the current element is inside a text.
func (r *Reader) reportMixed(rule *Rule) {
	if r.watched {
		local := r.scan.Parent().Local
		r.report(*rule, r.position(), local, []byte(r.scan.Name().Local), local+" must hold text only, no elements")
	}
}

// fits reports whether the value that starts at from has room for n more bytes.
func (r *Reader) fits(from, n int) bool {
	limit := r.MaxValue
	if limit == 0 {
		limit = 8 << 20
	}
	if r.inContent {
		limit = r.maxContent()
	}
	if limit < 0 || len(r.view.buf.Bytes)-from+n <= limit {
		return true
	}
	if !r.unusable {
		r.unusable = true
		r.loss(ruleElementSize, r.position(), r.scan.Name().Local, nil, fmt.Sprintf("more than %d bytes in one value", limit))
	}
	return false
}

func (r *Reader) maxContent() int {
	if r.MaxContent == 0 {
		return 64 << 20
	}
	return r.MaxContent
}

// captureInside appends an element to the value that starts at from.
func (r *Reader) captureInside(from int) (err error) {
	if !r.fits(from, 0) {
		return r.scan.Skip()
	}
	r.view.buf.Bytes, err = r.scan.AppendElement(r.view.buf.Bytes)
	return err
}
