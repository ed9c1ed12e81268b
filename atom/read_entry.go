package atom

import (
	"bytes"
	"fmt"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

const (
	maxKept  = 4 << 20 // bytes, roughly, of what one item, or the feed itself, can have any number of
	perChild = 256     // bytes that a link, a person and so on take beside their text
	maxRaw   = 1024    // bytes of a text that is kept because it could not be read
)

// A children is a set of child elements.
type children uint32

const (
	childID children = 1 << iota
	childTitle
	childSubtitle
	childSummary
	childRights
	childUpdated
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

	feedChildren = childID | childTitle | childSubtitle | childRights | childUpdated | childGenerator | childIcon | childLogo |
		childAuthor | childContributor | childCategory | childLink
	entryChildren = childID | childTitle | childSummary | childRights | childUpdated | childPublished | childContent | childSource |
		childAuthor | childContributor | childCategory | childLink
	repeatedChildren = childAuthor | childContributor | childCategory | childLink
)

func (c children) has(child children) bool { return c&child != 0 }

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
	}
	return 0
}

// A childOrder is the first children of the last entry: those of the next one are often
// the same.
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

// admits tells whether the current child element counts: there is room for it, and it is
// not one too many.
func (r *Reader) admits(child children, seen *children, kept int, rule *Rule) bool {
	switch {
	case child&repeatedChildren != 0:
		return r.hasRoom(kept)
	case *seen&child != 0:
		r.reportChild(*rule, nil, "one too many: the first counts")
		return false
	}
	*seen |= child
	return true
}

func (r *Reader) hasRoom(kept int) bool {
	if kept > maxKept {
		r.reportChild(ruleElementSize, nil, "more than 4 MiB of links, elements and the like: left out")
		return false
	}
	return true
}

// The methods below read the element whose Start is current. Their errors are those of
// r.scan.

// entry reads an entry into r.view.
func (r *Reader) entry(in inherited) error {
	v := &r.view
	err := r.entryChildren(in)
	if err != nil && err != xmlscan.ErrStopped {
		return err
	}
	if len(v.ID) == 0 {
		r.report(ruleEntryChild, v.Line, v.Column, "entry", nil, "an entry without id: it is skipped")
	}
	if v.Deleted && v.Updated.IsZero() {
		r.report(ruleTombstoneWhen, v.Line, v.Column, "entry", nil, "a deletion that does not say when")
	}
	return err
}

func (r *Reader) entryChildren(in inherited) error {
	var seen children
	for n := 0; ; n++ {
		tag, err := r.nextTag()
		if err != nil || tag == xmlscan.End {
			return err
		}
		name := r.scan.Name()
		child := children(0)
		if r.own(name.Space) {
			child = r.order.childNamed(n, name.Local)
		}
		if err := r.entryChild(name, child, &seen, in); err != nil {
			return err
		}
	}
}

// entryChild reads a child of an entry.
func (r *Reader) entryChild(name xmlscan.Name, child children, seen *children, in inherited) (err error) {
	v := &r.view
	switch {
	case child&entryChildren == 0:
		return r.extension(name)
	case child == childID && seen.has(childID):
		return r.secondID()
	}
	if !r.admits(child, seen, v.kept, &ruleEntryChild) {
		return r.scan.Skip()
	}
	if child&repeatedChildren != 0 {
		before := len(v.buf)
		err = r.repeatedChild(child, in)
		v.kept += perChild + len(v.buf) - before
		return err
	}
	switch child {
	case childID:
		v.ID, err = r.id("an id that is not one IRI")
	case childTitle:
		err = r.construct(&v.Title, in)
	case childSummary:
		err = r.construct(&v.Summary, in)
	case childRights:
		err = r.construct(&v.Rights, in)
	case childUpdated:
		v.Updated, v.UpdatedText, err = r.date(&r.updated)
		r.checkFuture(v.Updated)
	case childPublished:
		v.Published, v.PublishedText, err = r.date(&r.published)
	case childContent:
		err = r.content(in)
	case childSource:
		v.Source, err = r.source(in)
	}
	return err
}

// repeatedChild reads a child that an entry can have any number of.
func (r *Reader) repeatedChild(child children, in inherited) error {
	v := &r.view
	switch child {
	case childAuthor:
		return r.itemPerson(&v.Authors, in)
	case childContributor:
		return r.itemPerson(&v.Contributors, in)
	case childCategory:
		return r.itemCategory(in)
	}
	return r.itemLink(in)
}

// extend makes a slice longer by one zero, and returns it.
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

// itemPerson reads an author or contributor of an entry.
func (r *Reader) itemPerson(all *[]PersonView, in inherited) error {
	p := extend(all)
	err := r.person(p, in)
	if p.isZero() {
		*all = (*all)[:len(*all)-1]
	}
	return err
}

// itemLink reads a link of an item.
func (r *Reader) itemLink(in inherited) error {
	v := &r.view
	ok, err := r.link(extend(&v.Links), in)
	if !ok {
		v.Links = v.Links[:len(v.Links)-1]
	}
	return err
}

// itemCategory reads a category of an entry.
func (r *Reader) itemCategory(in inherited) error {
	v := &r.view
	ok, err := r.category(extend(&v.Categories), in)
	if !ok {
		v.Categories = v.Categories[:len(v.Categories)-1]
	}
	return err
}

// extension reads a child of an entry that has another namespace, or that Atom does not
// have there.
func (r *Reader) extension(name xmlscan.Name) error {
	if r.own(name.Space) {
		r.reportChild(ruleUnknown, nil, "Atom has no such element here")
	}
	switch name {
	case xmlscan.Name{Space: TombstoneNamespace, Local: "deleted-entry"}:
		r.stops(name)
	case xmlscan.Name{Space: GDataNamespace, Local: "deleted"}:
		r.delete(GDataDeleted)
		return r.scan.Skip()
	case xmlscan.Name{Space: FeedSyncNamespace, Local: "sync"}:
		if deleted, _ := r.scan.Attr("", "deleted"); string(deleted) == "true" || string(deleted) == "1" {
			r.delete(FeedSyncDeleted)
		}
	}
	return r.capture(name)
}

// delete makes the entry at hand a tombstone.
func (r *Reader) delete(form TombstoneForm) {
	r.reportChild(ruleForm, nil, "a deletion that is not written as RFC 6721 does")
	r.view.Deleted, r.view.Form = true, form
}

// capture keeps an element as it is.
func (r *Reader) capture(name xmlscan.Name) (err error) {
	v := &r.view
	if !r.hasRoom(v.kept) {
		return r.scan.Skip()
	}
	from := len(v.buf)
	if v.buf, err = r.scan.AppendElement(v.buf); err == nil && len(v.buf) > from {
		v.Elements = append(v.Elements, ElementView{name.Space, name.Local, v.from(from)})
	}
	v.kept += perChild + len(v.buf) - from
	return err
}

// id reads an IRI that is not resolved. What is none is reported, and empty.
func (r *Reader) id(fault string) ([]byte, error) {
	before := r.scan.Losses()
	text, err := r.characters(&ruleValueElement, false)
	if err != nil {
		return nil, err
	}
	return r.usable(text, before, fault), nil
}

// usable returns an id or ref without white space around it. It is empty if that is no
// id: something was lost in it since before, or it has in it what no IRI has, because
// markup is damaged there. Where another id may have been meant, it is in doubt.
func (r *Reader) usable(text []byte, before xmlscan.Losses, fault string) []byte {
	id := r.trimmed(text)
	lost := r.scan.Losses()
	raw := lost.References != before.References
	lost.References = before.References
	switch {
	case lost != before, bytes.ContainsAny(id, "<>\r\n"), isTwo(id):
		r.reportChild(ruleID, text, fault)
		return nil
	case raw:
		r.doubt(ruleID, r.line, r.column, "", text, "an & that is not written as &amp;: another id may be meant")
	case bytes.ContainsAny(id, " \t"):
		r.doubt(ruleID, r.line, r.column, "", text, "white space inside: another id may be meant")
	}
	return id
}

// isTwo reports whether what is said to be one IRI is two, with white space in between.
func isTwo(id []byte) bool {
	for i, c := range id {
		if syntax.IsSpace(c) && syntax.Scheme(id[i+1:]) > 0 {
			return true
		}
	}
	return false
}

// secondID reads an id beside that of an entry. If it is another, the entry may well be
// two.
func (r *Reader) secondID() error {
	v := &r.view
	from := len(v.buf)
	text, err := r.characters(&ruleValueElement, false)
	other := xmlscan.Trim(text)
	if message := "one too many: the first counts"; len(other) == 0 || bytes.Equal(other, v.ID) {
		r.reportChild(ruleEntryChild, nil, message)
	} else {
		r.doubt(ruleEntryChild, r.line, r.column, "id", text, message)
	}
	v.buf = v.buf[:from]
	return err
}

// trimmed returns an IRI without the white space around it, which it reports.
func (r *Reader) trimmed(text []byte) []byte {
	iri := xmlscan.Trim(text)
	if len(iri) != len(text) {
		r.reportChild(ruleSpace, text, "white space around an IRI")
	}
	return iri
}

// reference reads an IRI that may be relative.
func (r *Reader) reference(in inherited) ([]byte, error) {
	in = in.with(r.stated(in))
	text, err := r.characters(&ruleValueElement, false)
	return r.resolved(in.base, text), err
}

// resolved appends an IRI to the view, resolved against base.
func (r *Reader) resolved(base string, ref []byte) []byte {
	v := &r.view
	ref = r.trimmed(ref)
	if syntax.Scheme(ref) > 0 {
		return v.add(ref)
	}
	if base == "" {
		r.reportChild(ruleRelative, ref, "a relative reference, and nothing to resolve it against")
	}
	from := len(v.buf)
	v.buf = syntax.AppendResolved(v.buf, base, ref)
	return v.from(from)
}

// A lastDate is a date that was read, and its text: the next one is often the same.
type lastDate struct {
	text []byte
	date websync.Datetime
}

// date reads a date. Text is what was there if that is not RFC 3339.
func (r *Reader) date(last *lastDate) (d websync.Datetime, text []byte, err error) {
	from := len(r.view.buf)
	raw, err := r.characters(&ruleValueElement, false)
	if err != nil {
		return d, nil, err
	}
	d, ok := last.date, len(raw) > 0 && string(raw) == string(last.text)
	if !ok {
		d, ok = exactDate(raw)
	}
	if !ok {
		d, fault := date3339(raw)
		r.reportChild(ruleDate, raw, fault)
		return d, raw[:min(len(raw), maxRaw)], nil
	}
	last.text, last.date = append(last.text[:0], raw...), d
	r.view.buf = r.view.buf[:from]
	return d, nil, nil
}

// exactDate is date3339 for dates without a fault.
func exactDate(s []byte) (websync.Datetime, bool) {
	d, err := websync.ParseDatetime(string(s))
	return d, err == nil && d.Precision() >= websync.PrecisionSecond && s[len("2006-01-02")] == 'T' && s[len(s)-1] != 'z'
}

// isFuture reports whether a time lies so far ahead that it can't be right.
func isFuture(d websync.Datetime, now time.Time) bool { return d.Time().After(now.AddDate(0, 0, 1)) }

func (r *Reader) checkFuture(d websync.Datetime) {
	if !r.Now.IsZero() && isFuture(d, r.Now) {
		r.reportChild(ruleDateFuture, nil, "more than a day ahead: "+d.String())
	}
}

// characters reads the text of an element into the view. Child elements, which break the
// rule, are kept as markup or taken for their text.
func (r *Reader) characters(rule *Rule, markup bool) ([]byte, error) {
	v := &r.view
	from, depth := len(v.buf), 0
	for {
		kind, err := r.next()
		if err != nil {
			return nil, err
		}
		switch {
		case kind == xmlscan.Text:
			if text := r.scan.Text(); r.fits(from, len(text)) {
				v.buf = append(v.buf, text...)
			}
		case kind == xmlscan.End && depth == 0:
			return v.from(from), nil
		case kind == xmlscan.End:
			depth--
		default:
			r.reportInside(rule, "an element inside of a text")
			if markup {
				err = r.captureInside(from)
			} else {
				depth++
			}
			if err != nil {
				return nil, err
			}
		}
	}
}

// fits reports whether n more bytes have room in the value that starts at from.
func (r *Reader) fits(from, n int) bool {
	limit := r.MaxValue
	if limit == 0 {
		limit = 8 << 20
	}
	if r.inContent {
		limit = r.maxContent()
	}
	if limit < 0 || len(r.view.buf)-from+n <= limit {
		return true
	}
	if !r.unusable {
		r.unusable = true
		r.reportInside(&ruleElementSize, fmt.Sprintf("more than %d bytes of one value", limit))
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
	r.view.buf, err = r.scan.AppendElement(r.view.buf)
	return err
}

// reportInside reports on something inside of the current child element.
func (r *Reader) reportInside(rule *Rule, message string) {
	if r.watched {
		line, column := r.xml.Position()
		r.report(*rule, line, column, r.scan.Name().Local, nil, message)
	}
}
