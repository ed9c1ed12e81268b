package atom

import (
	"cmp"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

// A View is an [Item] whose bytes belong to the [Reader]: they are valid until the next
// call of NextView, Next or All. Clone copies the whole item.
type View struct {
	// Deleted reports whether the View is of a Tombstone: ID is then its Ref, and Updated
	// its When.
	Deleted bool

	ID      []byte
	Updated websync.Datetime

	Line, Column int // where the item starts, from 1

	id            span
	updatedText   span
	published     websync.Datetime
	publishedText span

	title, summary, rights textView
	authors, contributors  []personView
	categories             []categoryView
	content                contentView
	links                  []linkView
	source                 *feedView // its memory; nil before the first one
	hasSource              bool
	elements               []elementView

	by      personView // of a Tombstone, like comment
	comment textView

	lang, base string
	damaged    bool // as Entry.Damaged

	buf     document.Buffer // the bytes of all fields
	digests []document.Digest
	attrs   []attrView
}

// A span is a part of the buffer of a View, or of its digests or attributes.
type span = document.Span

// The types below correspond to those without View in their names.

type textView struct {
	Type       string
	Value      span
	Lang, Base string
}

type personView struct{ Name, Email, URI span }

func (p *personView) isZero() bool { return p.Name.IsEmpty() && p.Email.IsEmpty() && p.URI.IsEmpty() }

type categoryView struct {
	Term, Scheme, Label span
	Lang                string
}

type linkView struct {
	Rel, Href, Type, Lang, Title span

	Length   int64
	Digests  span // of digests
	Modified websync.Datetime
	Attrs    span // of attrs
}

type attrView struct {
	Space, Local string
	Value        span
}

type contentView struct {
	linkView
	Value span
	Base  string
}

type generatorView struct{ Name, URI, Version span }

// A feedView is the metadata of a source or, one child after the other, of the feed.
type feedView struct {
	id                      span
	title, subtitle, rights textView
	updated                 websync.Datetime
	updatedText             span
	authors, contributors   []personView
	categories              []categoryView
	generator               generatorView
	icon, logo              span
	links                   []linkView
	complete, archive       bool
	elements                []elementView
	lang, base              string
}

// reset empties f, keeping its memory.
func (f *feedView) reset() {
	*f = feedView{
		authors: f.authors[:0], contributors: f.contributors[:0], categories: f.categories[:0],
		links: f.links[:0], elements: f.elements[:0],
	}
}

// newSource returns the view of a source that is read now.
func (v *View) newSource() *feedView {
	if v.source == nil {
		v.source = new(feedView)
	}
	v.source.reset()
	return v.source
}

type elementView struct {
	Space, Local string
	XML          span
}

// reset makes v the view of an item that starts at p, keeping its memory.
func (v *View) reset(p position) {
	authors, contributors, categories := v.authors[:0], v.contributors[:0], v.categories[:0]
	links, elements, source := v.links[:0], v.elements[:0], v.source
	buf, digests, attrs := v.buf.Bytes[:0], v.digests[:0], v.attrs[:0]
	*v = View{}
	v.Line, v.Column = p.line, p.column
	v.authors, v.contributors, v.categories, v.links, v.elements = authors, contributors, categories, links, elements
	v.source = source
	v.buf.Bytes, v.digests, v.attrs = buf, digests, attrs
}

// digest returns digest i.
func (v *View) digest(i int) websync.Digest {
	d := &v.digests[i]
	return websync.Digest{Algorithm: d.Algorithm, Sum: string(v.buf.Of(d.Sum))}
}

// Clone returns the item in memory of its own: one string for all of its text.
func (v *View) Clone() Item {
	if v.Deleted {
		return Item{Tombstone: v.tombstone()}
	}
	return Item{Entry: v.entry()}
}

// An entryBlock is an entry with room for the few links, authors and so on that most
// entries have: one allocation instead of seven.
type entryBlock struct {
	Entry
	authors    [1]websync.Person
	categories [1]Category
	links      [2]websync.Link
	digests    [2]websync.Digest
	elements   [1]websync.Element
}

func (v *View) entry() *Entry {
	block := new(entryBlock)
	e, k := &block.Entry, v.keeper(block.digests[:])
	e.ID = k.text(v.id)
	k.construct(&e.Title, &v.title)
	k.construct(&e.Summary, &v.summary)
	k.construct(&e.Rights, &v.rights)
	e.Updated, e.UpdatedText = v.Updated, k.text(v.updatedText)
	e.Published, e.PublishedText = v.published, k.text(v.publishedText)
	e.Authors = keepAll(block.authors[:], v.authors, k.person)
	e.Contributors = keepAll(nil, v.contributors, k.person)
	e.Categories = keepAll(block.categories[:], v.categories, k.category)
	k.link(&e.Content.Link, &v.content.linkView)
	e.Content.Value, e.Content.Base = k.text(v.content.Value), v.content.Base
	e.Links = keepAll(block.links[:], v.links, k.link)
	e.Source = k.source(v)
	e.Elements = keepAll(block.elements[:], v.elements, k.element)
	e.Lang, e.Base = v.lang, v.base
	e.Damaged = v.damaged
	e.Line, e.Column = v.Line, v.Column
	return e
}

func (v *View) tombstone() *Tombstone {
	t, k := new(Tombstone), v.keeper(nil)
	t.Ref = k.text(v.id)
	t.When, t.WhenText = v.Updated, k.text(v.updatedText)
	k.person(&t.By, &v.by)
	k.construct(&t.Comment, &v.comment)
	t.Links = keepAll(nil, v.links, k.link)
	t.Source = k.source(v)
	t.Elements = keepAll(nil, v.elements, k.element)
	t.Lang, t.Base = v.lang, v.base
	t.Line, t.Column = v.Line, v.Column
	return t
}

// A keeper copies a View into memory of its own: all bytes are one string, all digests
// one slice, and all attributes another.
type keeper struct {
	all     string
	digests websync.Digests
	attrs   []websync.Attr
}

// keeper returns a keeper of v. The digests are in room if they fit.
func (v *View) keeper(room []websync.Digest) (k keeper) {
	k.all = string(v.buf.Bytes)
	k.digests = keepAll(room, v.digests, k.digest)
	k.attrs = keepAll(nil, v.attrs, k.attr)
	return k
}

func (k *keeper) text(s span) string { return k.all[s.From:s.To] }

func (k *keeper) construct(kept *Text, t *textView) {
	kept.Type, kept.Value, kept.Lang, kept.Base = t.Type, k.text(t.Value), t.Lang, t.Base
}

func (k *keeper) person(kept *websync.Person, p *personView) {
	kept.Name, kept.Email, kept.URI = k.text(p.Name), k.text(p.Email), k.text(p.URI)
}

// keepAll copies each of some views, into room if they fit.
func keepAll[T, V any](room []T, views []V, keep func(*T, *V)) []T {
	all := document.SliceOf(room, len(views))
	for i := range views {
		keep(&all[i], &views[i])
	}
	return all
}

// keepMore appends a copy of each of some views.
func keepMore[T, V any](kept *[]T, views []V, keep func(*T, *V)) {
	*kept = slices.Grow(*kept, len(views))
	for i := range views {
		keep(extend(kept), &views[i])
	}
}

// source returns the source of an item; nil if it has none.
func (k *keeper) source(v *View) *Feed {
	if !v.hasSource {
		return nil
	}
	f := &Feed{Lang: v.source.lang, Base: v.source.base}
	k.feed(f, v.source)
	return f
}

// feed adds metadata to those that are kept of a feed.
func (k *keeper) feed(kept *Feed, f *feedView) {
	keepText := func(kept *Text, t *textView) {
		if t.Type != "" {
			k.construct(kept, t)
		}
	}
	kept.ID = cmp.Or(k.text(f.id), kept.ID)
	keepText(&kept.Title, &f.title)
	keepText(&kept.Subtitle, &f.subtitle)
	keepText(&kept.Rights, &f.rights)
	kept.Updated = cmp.Or(f.updated, kept.Updated)
	kept.UpdatedText = cmp.Or(k.text(f.updatedText), kept.UpdatedText)
	keepMore(&kept.Authors, f.authors, k.person)
	keepMore(&kept.Contributors, f.contributors, k.person)
	keepMore(&kept.Categories, f.categories, k.category)
	if g := &f.generator; *g != (generatorView{}) {
		kept.Generator = Generator{Name: k.text(g.Name), URI: k.text(g.URI), Version: k.text(g.Version)}
	}
	kept.Icon, kept.Logo = cmp.Or(k.text(f.icon), kept.Icon), cmp.Or(k.text(f.logo), kept.Logo)
	keepMore(&kept.Links, f.links, k.link)
	kept.Complete, kept.Archive = kept.Complete || f.complete, kept.Archive || f.archive
	keepMore(&kept.Elements, f.elements, k.element)
}

func (k *keeper) category(kept *Category, c *categoryView) {
	kept.Term, kept.Scheme, kept.Label, kept.Lang = k.text(c.Term), k.text(c.Scheme), k.text(c.Label), c.Lang
}

func (k *keeper) link(kept *websync.Link, l *linkView) {
	kept.Rel, kept.Href, kept.Type = k.text(l.Rel), k.text(l.Href), k.text(l.Type)
	kept.Lang, kept.Title = k.text(l.Lang), k.text(l.Title)
	kept.Length, kept.Modified = l.Length, l.Modified
	if d := l.Digests; !d.IsEmpty() {
		kept.Digests = k.digests[d.From:d.To:d.To]
	}
	if a := l.Attrs; !a.IsEmpty() {
		kept.Attrs = k.attrs[a.From:a.To:a.To]
	}
}

func (k *keeper) digest(kept *websync.Digest, d *document.Digest) {
	kept.Algorithm, kept.Sum = d.Algorithm, k.text(d.Sum)
}

func (k *keeper) attr(kept *websync.Attr, a *attrView) {
	kept.Space, kept.Local, kept.Value = a.Space, a.Local, k.text(a.Value)
}

func (k *keeper) element(kept *websync.Element, e *elementView) {
	kept.Space, kept.Local, kept.XML = e.Space, e.Local, k.text(e.XML)
}
