package anyfeed

import (
	"fmt"
	"io"
	"strings"

	gofeed "github.com/mmcdole/gofeed/atom"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/survive"
	"github.com/websync-go/websync/internal/syntax"
)

// broken lets gofeed read Atom that is not well-formed: first without its entries, then
// some entries at a time, because its tree is several times as large as what remains of
// it.
func (p *parser) broken(text *pages) error {
	o, err := p.outline(text)
	if err != nil {
		return err
	}
	p.mustID = true
	if err := o.parse(o.without(), nil, func(f *gofeed.Feed) { p.atom(o, f) }); err != nil {
		return err
	}
	for rest := o.items; len(rest) > 0; {
		var some []*outlined
		some, rest = batch(rest)
		o.data.drop(some[0].all.from)
		err := o.parse(o.only(some), some, func(f *gofeed.Feed) {
			for i, e := range f.Entries {
				p.atomEntry(some[i], e)
				*some[i] = outlined{}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// parse lets gofeed parse a document that has some of the entries.
func (o *outline) parse(src io.Reader, want []*outlined, take func(*gofeed.Feed)) error {
	var f *gofeed.Feed
	err := survive.Panic("gofeed", func() (err error) {
		f, err = new(gofeed.Parser).Parse(src)
		return err
	})
	if err == nil && len(f.Entries) != len(want) {
		err = fmt.Errorf("gofeed finds %d entries instead of %d", len(f.Entries), len(want))
	}
	if err != nil {
		return o.p.doc.Fail(0, 0, "", err)
	}
	take(f)
	return nil
}

func (p *parser) atom(o *outline, f *gofeed.Feed) {
	p.begin(strings.TrimSpace("an Atom feed "+f.Version), o.feed.notes)
	types := o.feed.types
	p.feed.ID = o.feed.id
	p.feed.Complete, p.feed.Archive = o.complete, o.archive
	p.feed.Title = text(types["title"], f.Title)
	p.feed.Subtitle = text(first(types["subtitle"], types["tagline"]), f.Subtitle)
	p.feed.Rights = text(first(types["rights"], types["copyright"]), f.Rights)
	p.feed.Updated, p.feed.UpdatedText = p.date("updated", o.feed.dates.updated)
	p.feed.Authors, p.feed.Contributors = p.atomPeople(f.Authors), p.atomPeople(f.Contributors)
	p.feed.Categories = atomCategories(f.Categories)
	p.feed.Icon, p.feed.Logo = p.url(f.Icon), p.url(f.Logo)
	if g := f.Generator; g != nil {
		p.feed.Generator = atom.Generator{Name: g.Value, URI: p.url(g.URI), Version: g.Version}
	}
	for _, l := range f.Links {
		p.link(&p.feed.Links, atomLink(l))
	}
}

func (p *parser) atomEntry(at *outlined, x *gofeed.Entry) {
	e := p.entry(at.notes)
	e.ID = at.id
	if at.deleted {
		p.skipped++
		p.find(ruleLeftOut, "entry", e.ID, "an entry that is marked as deleted is left out")
		return
	}
	e.Title = text(at.types["title"], x.Title)
	e.Summary = text(at.types["summary"], x.Summary)
	e.Rights = text(first(at.types["rights"], at.types["copyright"]), x.Rights)
	e.Updated, e.UpdatedText = p.date("updated", at.dates.updated)
	e.Published, e.PublishedText = p.date("published", at.dates.published, at.dates.created)
	e.Authors, e.Contributors = p.atomPeople(x.Authors), p.atomPeople(x.Contributors)
	e.Categories = atomCategories(x.Categories)
	e.Links = make([]websync.Link, 0, len(x.Links))
	for _, l := range x.Links {
		p.link(&e.Links, atomLink(l))
	}
	p.atomContent(e, at, x.Content)
	if s := x.Source; s != nil {
		e.Source = p.atomSource(at, s)
	}
	p.add(e)
}

// atomContent sets the content. Base64 is left out: gofeed may have decoded it or not.
func (p *parser) atomContent(e *atom.Entry, at *outlined, c *gofeed.Content) {
	if c == nil {
		return
	}
	if href := p.url(c.Src); href != "" {
		e.Content.Href, e.Content.Type = href, at.media
		return
	}
	typ := at.types["content"]
	switch media := strings.ToLower(at.media); {
	case typ != "":
		e.Content.Type = typ
	case syntax.IsText(media), syntax.IsXML(media) && isElement(c.Value):
		e.Content.Type = media
	default:
		p.find(ruleLeftOut, "content", media, "content that can't be kept is left out")
		return
	}
	e.Content.Value = c.Value
}

// isElement reports whether s is one element that declares all its prefixes.
func isElement(s string) bool {
	_, err := element.Name(s)
	return err == nil
}

// textType returns the type of a text, of Atom 1.0 or 0.3, after gofeed has read it. It
// is empty for other media types, which a content may have.
func textType(typ, mode string) string {
	typ = strings.ToLower(typ)
	switch {
	case strings.Contains(typ, "html"), typ == "" && mode != "": // a text of which the escapes are kept
		return atom.HTML
	case typ == "", typ == "text", typ == "text/plain":
		return atom.PlainText
	}
	return ""
}

func (p *parser) atomSource(at *outlined, s *gofeed.Source) *atom.Feed {
	f := &atom.Feed{ID: strings.TrimSpace(s.ID), Title: text(atom.PlainText, s.Title)}
	f.Updated, f.UpdatedText = p.date("updated", at.source.updated)
	f.Authors, f.Contributors = p.atomPeople(s.Authors), p.atomPeople(s.Contributors)
	f.Categories = atomCategories(s.Categories)
	for _, l := range s.Links {
		p.link(&f.Links, atomLink(l))
	}
	return f
}

func atomLink(l *gofeed.Link) websync.Link {
	return websync.Link{Rel: l.Rel, Href: l.Href, Type: l.Type, Lang: l.Hreflang, Title: l.Title, Length: length(l.Length)}
}

func (p *parser) atomPeople(stated []*gofeed.Person) (people []websync.Person) {
	for _, x := range stated {
		person(&people, websync.Person{Name: x.Name, Email: x.Email, URI: p.url(x.URI)})
	}
	return people
}

func atomCategories(stated []*gofeed.Category) (categories []atom.Category) {
	for _, c := range stated {
		category(&categories, c.Term, c.Scheme, c.Label)
	}
	return categories
}
