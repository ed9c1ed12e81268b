package atom

import (
	"strings"

	"github.com/websync-go/websync"
)

// A View is an [Item] whose bytes belong to the [Reader]: they are valid until the next
// call of NextView, Next or All, and so are its slices. Strings may be kept. Clone makes
// all of it last.
//
// Its fields are those of an [Entry], or of a [Tombstone] if Deleted is set.
type View struct {
	// Deleted says that the View is of a Tombstone: ID is then its Ref, Updated its When,
	// and UpdatedText its WhenText.
	Deleted bool

	ID            []byte
	Updated       websync.Datetime
	UpdatedText   []byte
	Published     websync.Datetime
	PublishedText []byte

	Title, Summary, Rights TextView
	Authors, Contributors  []PersonView
	Categories             []CategoryView
	Content                ContentView
	Links                  []LinkView
	Source                 *Feed // needs memory of its own, and may be kept
	Elements               []ElementView

	// Form, By and Comment are of a Tombstone.
	Form    TombstoneForm
	By      PersonView
	Comment TextView

	Lang, Base   string
	Line, Column int

	buf     []byte // holds what the views above show; an older one lives on where it had to grow
	digests []DigestView
	attrs   []AttrView
	kept    int // about the size of what there can be any number of
}

// A TextView is a [Text] whose Value belongs to the Reader.
type TextView struct {
	Type       string
	Value      []byte
	Lang, Base string
}

// A PersonView is a [websync.Person] whose bytes belong to the Reader.
type PersonView struct{ Name, Email, URI []byte }

func (p *PersonView) isZero() bool { return len(p.Name) == 0 && len(p.Email) == 0 && len(p.URI) == 0 }

// A CategoryView is a [Category] whose bytes belong to the Reader.
type CategoryView struct {
	Term, Scheme, Label []byte
	Lang                string
}

// A LinkView is a [websync.Link] whose bytes and slices belong to the Reader.
type LinkView struct {
	Rel, Href, Type, Lang, Title []byte

	Length   int64
	Digests  []DigestView
	Modified websync.Datetime
	Attrs    []AttrView
}

// A DigestView is a [websync.Digest] whose Sum belongs to the Reader.
type DigestView struct {
	Algorithm string
	Sum       []byte
}

// An AttrView is a [websync.Attr] whose Value belongs to the Reader.
type AttrView struct {
	Space, Local string
	Value        []byte
}

// A ContentView is a [Content] whose bytes and slices belong to the Reader.
type ContentView struct {
	LinkView
	Value []byte
	Base  string
}

// An ElementView is a [websync.Element] whose XML belongs to the Reader.
type ElementView struct {
	Space, Local string
	XML          []byte
}

// reset makes v the view of an item that starts at line and column, keeping its memory.
func (v *View) reset(line, column int) {
	authors, contributors, categories := v.Authors[:0], v.Contributors[:0], v.Categories[:0]
	links, elements := v.Links[:0], v.Elements[:0]
	buf, digests, attrs := v.buf[:0], v.digests[:0], v.attrs[:0]
	*v = View{}
	v.Line, v.Column = line, column
	v.Authors, v.Contributors, v.Categories, v.Links, v.Elements = authors, contributors, categories, links, elements
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

// A keeper turns views into what can be kept. Of the text it makes one string, if it has
// grown to hold it.
type keeper struct{ strings.Builder }

// An entryBlock is an entry with room for what most entries have few of: one piece of
// memory instead of five.
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
	k.construct(&e.Title, &v.Title)
	k.construct(&e.Summary, &v.Summary)
	k.construct(&e.Rights, &v.Rights)
	e.Updated, e.UpdatedText = v.Updated, k.text(v.UpdatedText)
	e.Published, e.PublishedText = v.Published, k.text(v.PublishedText)
	e.Authors = k.persons(block.authors[:], v.Authors)
	e.Contributors = k.persons(nil, v.Contributors)
	e.Categories = k.categories(block.categories[:], v.Categories)
	k.link(&e.Content.Link, &v.Content.LinkView, block.digests[:])
	e.Content.Value, e.Content.Base = k.text(v.Content.Value), v.Content.Base
	e.Links = k.links(block.links[:], v.Links)
	e.Source = v.Source
	e.Elements = k.elements(v.Elements)
	e.Lang, e.Base = v.Lang, v.Base
	e.Line, e.Column = v.Line, v.Column
	return e
}

func (k *keeper) tombstone(v *View) *Tombstone {
	t := new(Tombstone)
	t.Ref = k.text(v.ID)
	t.When, t.WhenText = v.Updated, k.text(v.UpdatedText)
	t.By = k.person(&v.By)
	k.construct(&t.Comment, &v.Comment)
	t.Links = k.links(nil, v.Links)
	t.Source = v.Source
	t.Elements = k.elements(v.Elements)
	t.Form = v.Form
	t.Lang, t.Base = v.Lang, v.Base
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

func (k *keeper) construct(kept *Text, t *TextView) {
	kept.Type, kept.Value, kept.Lang, kept.Base = t.Type, k.text(t.Value), t.Lang, t.Base
}

func (k *keeper) person(p *PersonView) websync.Person {
	return websync.Person{Name: k.text(p.Name), Email: k.text(p.Email), URI: k.text(p.URI)}
}

// sliceOf returns a slice of n zeros: the first of room, if they are enough, else new
// ones.
func sliceOf[T any](room []T, n int) []T {
	switch {
	case n == 0:
		return nil
	case n <= len(room):
		return room[:n:n]
	}
	return make([]T, n)
}

func (k *keeper) persons(room []websync.Person, views []PersonView) []websync.Person {
	all := sliceOf(room, len(views))
	for i := range views {
		all[i] = k.person(&views[i])
	}
	return all
}

func (k *keeper) categories(room []Category, views []CategoryView) []Category {
	all := sliceOf(room, len(views))
	for i := range views {
		all[i] = k.category(&views[i])
	}
	return all
}

func (k *keeper) category(c *CategoryView) Category {
	return Category{Term: k.text(c.Term), Scheme: k.text(c.Scheme), Label: k.text(c.Label), Lang: c.Lang}
}

func (k *keeper) links(room []websync.Link, views []LinkView) []websync.Link {
	all := sliceOf(room, len(views))
	for i := range views {
		k.link(&all[i], &views[i], nil)
	}
	return all
}

func (k *keeper) link(kept *websync.Link, l *LinkView, room []websync.Digest) {
	kept.Rel, kept.Href, kept.Type = k.text(l.Rel), k.text(l.Href), k.text(l.Type)
	kept.Lang, kept.Title = k.text(l.Lang), k.text(l.Title)
	kept.Length, kept.Modified = l.Length, l.Modified
	kept.Digests = sliceOf(room, len(l.Digests))
	for i, d := range l.Digests {
		kept.Digests[i] = websync.Digest{Algorithm: d.Algorithm, Sum: k.text(d.Sum)}
	}
	kept.Attrs = sliceOf[websync.Attr](nil, len(l.Attrs))
	for i, a := range l.Attrs {
		kept.Attrs[i] = websync.Attr{Space: a.Space, Local: a.Local, Value: k.text(a.Value)}
	}
}

func (k *keeper) elements(views []ElementView) []websync.Element {
	all := sliceOf[websync.Element](nil, len(views))
	for i := range views {
		all[i] = k.element(&views[i])
	}
	return all
}

func (k *keeper) element(e *ElementView) websync.Element {
	return websync.Element{Space: e.Space, Local: e.Local, XML: k.text(e.XML)}
}
