package atom

import (
	"strings"

	"github.com/websync-go/websync"
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

	updatedText   []byte
	published     websync.Datetime
	publishedText []byte

	title, summary, rights textView
	authors, contributors  []personView
	categories             []categoryView
	content                contentView
	links                  []linkView
	source                 *Feed // in memory of its own
	elements               []elementView

	by      personView // of a Tombstone, like comment
	comment textView

	lang, base string
	damaged    bool // as Entry.Damaged

	// holds the bytes of all fields; when it grows, earlier fields keep the old memory
	buf     []byte
	digests []digestView
	attrs   []attrView
}

// The types below correspond to those without View in their names. Their bytes belong to
// the Reader.

type textView struct {
	Type       string
	Value      []byte
	Lang, Base string
}

type personView struct{ Name, Email, URI []byte }

func (p *personView) isZero() bool { return len(p.Name) == 0 && len(p.Email) == 0 && len(p.URI) == 0 }

type categoryView struct {
	Term, Scheme, Label []byte
	Lang                string
}

type linkView struct {
	Rel, Href, Type, Lang, Title []byte

	Length   int64
	Digests  []digestView
	Modified websync.Datetime
	Attrs    []attrView
}

type digestView struct {
	Algorithm string
	Sum       []byte
}

func (d digestView) digest() websync.Digest {
	return websync.Digest{Algorithm: d.Algorithm, Sum: string(d.Sum)}
}

type attrView struct {
	Space, Local string
	Value        []byte
}

type contentView struct {
	linkView
	Value []byte
	Base  string
}

type elementView struct {
	Space, Local string
	XML          []byte
}

// reset makes v the view of an item that starts at p, keeping its memory.
func (v *View) reset(p position) {
	authors, contributors, categories := v.authors[:0], v.contributors[:0], v.categories[:0]
	links, elements := v.links[:0], v.elements[:0]
	buf, digests, attrs := v.buf[:0], v.digests[:0], v.attrs[:0]
	*v = View{}
	v.Line, v.Column = p.line, p.column
	v.authors, v.contributors, v.categories, v.links, v.elements = authors, contributors, categories, links, elements
	v.buf, v.digests, v.attrs = buf, digests, attrs
}

// add copies text into the buffer.
func (v *View) add(text []byte) []byte {
	from := len(v.buf)
	v.buf = append(v.buf, text...)
	return v.from(from)
}

// from returns what was appended to the buffer since its length was n.
func (v *View) from(n int) []byte { return v.buf[n:len(v.buf):len(v.buf)] }

// Clone returns the item in memory of its own: one string for all of its text.
func (v *View) Clone() Item {
	var k keeper
	k.Grow(len(v.buf))
	if v.Deleted {
		return Item{Tombstone: k.tombstone(v)}
	}
	return Item{Entry: k.entry(v)}
}

// A keeper copies views into memory of their own. If it was grown to hold all of the
// text, it allocates one string for it.
type keeper struct{ strings.Builder }

// An entryBlock is an entry with room for the few links, authors and so on that most
// entries have: one allocation instead of five.
type entryBlock struct {
	Entry
	authors    [1]websync.Person
	categories [1]Category
	links      [2]websync.Link
	digests    [1]websync.Digest // of the content
}

func (k *keeper) entry(v *View) *Entry {
	block := new(entryBlock)
	e := &block.Entry
	e.ID = k.text(v.ID)
	k.construct(&e.Title, &v.title)
	k.construct(&e.Summary, &v.summary)
	k.construct(&e.Rights, &v.rights)
	e.Updated, e.UpdatedText = v.Updated, k.text(v.updatedText)
	e.Published, e.PublishedText = v.published, k.text(v.publishedText)
	e.Authors = keepAll(block.authors[:], v.authors, k.person)
	e.Contributors = keepAll(nil, v.contributors, k.person)
	e.Categories = keepAll(block.categories[:], v.categories, k.category)
	e.Content.Digests = block.digests[:]
	k.link(&e.Content.Link, &v.content.linkView)
	e.Content.Value, e.Content.Base = k.text(v.content.Value), v.content.Base
	e.Links = keepAll(block.links[:], v.links, k.link)
	e.Source = v.source
	e.Elements = keepAll(nil, v.elements, k.element)
	e.Lang, e.Base = v.lang, v.base
	e.Damaged = v.damaged
	e.Line, e.Column = v.Line, v.Column
	return e
}

func (k *keeper) tombstone(v *View) *Tombstone {
	t := new(Tombstone)
	t.Ref = k.text(v.ID)
	t.When, t.WhenText = v.Updated, k.text(v.updatedText)
	k.person(&t.By, &v.by)
	k.construct(&t.Comment, &v.comment)
	t.Links = keepAll(nil, v.links, k.link)
	t.Source = v.source
	t.Elements = keepAll(nil, v.elements, k.element)
	t.Lang, t.Base = v.lang, v.base
	t.Line, t.Column = v.Line, v.Column
	return t
}

func (k *keeper) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	n := k.Len()
	k.Write(b)
	return k.String()[n:]
}

func (k *keeper) construct(kept *Text, t *textView) {
	kept.Type, kept.Value, kept.Lang, kept.Base = t.Type, k.text(t.Value), t.Lang, t.Base
}

func (k *keeper) person(kept *websync.Person, p *personView) {
	kept.Name, kept.Email, kept.URI = k.text(p.Name), k.text(p.Email), k.text(p.URI)
}

// sliceOf returns a slice of n zero values: the first ones of room if it is long enough,
// or else new ones.
func sliceOf[T any](room []T, n int) []T {
	switch {
	case n == 0:
		return nil
	case n <= len(room):
		return room[:n:n]
	}
	return make([]T, n)
}

// keepAll copies each of some views, into room if they fit.
func keepAll[T, V any](room []T, views []V, keep func(*T, *V)) []T {
	all := sliceOf(room, len(views))
	for i := range views {
		keep(&all[i], &views[i])
	}
	return all
}

func (k *keeper) category(kept *Category, c *categoryView) {
	kept.Term, kept.Scheme, kept.Label, kept.Lang = k.text(c.Term), k.text(c.Scheme), k.text(c.Label), c.Lang
}

func (k *keeper) link(kept *websync.Link, l *linkView) {
	kept.Rel, kept.Href, kept.Type = k.text(l.Rel), k.text(l.Href), k.text(l.Type)
	kept.Lang, kept.Title = k.text(l.Lang), k.text(l.Title)
	kept.Length, kept.Modified = l.Length, l.Modified
	kept.Digests = keepAll(kept.Digests, l.Digests, k.digest)
	kept.Attrs = keepAll(nil, l.Attrs, k.attr)
}

func (k *keeper) digest(kept *websync.Digest, d *digestView) {
	kept.Algorithm, kept.Sum = d.Algorithm, k.text(d.Sum)
}

func (k *keeper) attr(kept *websync.Attr, a *attrView) {
	kept.Space, kept.Local, kept.Value = a.Space, a.Local, k.text(a.Value)
}

func (k *keeper) element(kept *websync.Element, e *elementView) {
	kept.Space, kept.Local, kept.XML = e.Space, e.Local, k.text(e.XML)
}
