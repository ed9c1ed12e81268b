package anyfeed

import (
	"strings"

	ext "github.com/mmcdole/gofeed/extensions"
	"github.com/mmcdole/gofeed/rss"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/syntax"
)

func (p *parser) rss(o *outline, f *rss.Feed) {
	p.begin(strings.TrimSpace("an RSS feed "+f.Version), o.feed)
	p.feed.Lang = first(o.feed.lang, f.Language, value(f.Extensions, "dc", "language"))
	p.feed.Title = text(atom.PlainText, first(f.Title, value(f.Extensions, "dc", "title")))
	p.feed.Subtitle = text(atom.PlainText, f.Description)
	p.feed.Rights = text(atom.PlainText, first(f.Copyright, value(f.Extensions, "dc", "rights")))
	p.feed.Generator.Name = f.Generator
	p.feed.Complete, p.feed.Archive = o.complete, o.archive
	p.feed.Updated, p.feed.UpdatedText = p.date("updated", o.feed.dates.built,
		value(f.Extensions, "dcterms", "modified"), o.feed.dates.published, value(f.Extensions, "dc", "date"))
	if f.Image != nil {
		p.feed.Logo = p.url(f.Image.URL)
	}
	p.feed.Authors = rssPeople(f.Extensions, f.ManagingEditor)
	p.feed.Categories = rssCategories(f.Extensions, f.Categories)
	for _, href := range f.Links {
		p.link(&p.feed.Links, websync.Link{Href: href})
	}
	for _, l := range atomLinks(f.Extensions) {
		p.link(&p.feed.Links, l)
	}
}

func (p *parser) rssItem(at *notes, i *rss.Item) {
	e := p.entry(*at)
	x := i.Extensions
	e.Lang = first(at.lang, value(x, "dc", "language"), e.Lang)
	e.Title = text(atom.PlainText, first(i.Title, value(x, "dc", "title")))
	e.Summary = text(atom.HTML, i.Description)
	if i.Content != "" {
		e.Content = atom.Content{Link: websync.Link{Type: atom.HTML}, Value: i.Content}
	}
	e.Rights = text(atom.PlainText, value(x, "dc", "rights"))
	e.Published, e.PublishedText = p.date("published", at.dates.published, value(x, "dcterms", "created"), value(x, "dc", "date"))
	e.Updated, e.UpdatedText = p.date("updated", value(x, "dcterms", "modified"), value(x, "atom", "updated"))
	e.Authors = rssPeople(x, i.Author)
	e.Categories = rssCategories(x, i.Categories)
	p.rssLinks(e, i)
	if e.ID = at.id; i.GUID != nil {
		e.ID = first(i.GUID.Value, at.id)
	}
	if s := i.Source; s != nil {
		e.Source = &atom.Feed{Title: text(atom.PlainText, s.Title)}
		p.link(&e.Source.Links, websync.Link{Rel: "self", Href: s.URL})
	}
	p.add(e)
}

func (p *parser) rssLinks(e *atom.Entry, i *rss.Item) {
	n := len(i.Links) + len(i.Extensions["atom"]["link"]) + len(i.Enclosures)
	if i.Comments != "" {
		n++
	}
	e.Links = make([]websync.Link, 0, n)
	for _, href := range i.Links {
		p.link(&e.Links, websync.Link{Href: href})
	}
	for _, l := range atomLinks(i.Extensions) {
		p.link(&e.Links, l)
	}
	if _, ok := e.Link("alternate"); !ok && i.GUID != nil && strings.EqualFold(i.GUID.IsPermalink, "true") {
		if href := first(i.GUID.Value); syntax.IsHTTP(href) {
			p.link(&e.Links, websync.Link{Href: href})
		}
	}
	for _, x := range i.Enclosures {
		p.link(&e.Links, websync.Link{Rel: "enclosure", Href: x.URL, Type: x.Type, Length: length(x.Length)})
	}
	p.link(&e.Links, websync.Link{Rel: "replies", Href: i.Comments})
}

func atomLinks(x ext.Extensions) (links []websync.Link) {
	for _, l := range x["atom"]["link"] {
		a := l.Attrs
		links = append(links, websync.Link{Rel: a["rel"], Href: a["href"], Type: a["type"], Lang: a["hreflang"],
			Title: a["title"], Length: length(a["length"])})
	}
	return links
}

// rssPeople returns the creators, or else the author of RSS itself.
func rssPeople(x ext.Extensions, named string) (people []websync.Person) {
	for _, creator := range values(x, "dc", "creator") {
		person(&people, parsePerson(creator))
	}
	if len(people) == 0 {
		person(&people, parsePerson(named))
	}
	return people
}

// parsePerson reads a name and an address in the forms "address (name)", "name (address)"
// and "name <address>", or one of both.
func parsePerson(s string) websync.Person {
	s = strings.TrimSpace(s)
	before, inside := s, ""
	if at := strings.IndexAny(s, "(<"); at >= 0 && strings.HasSuffix(s, map[byte]string{'(': ")", '<': ">"}[s[at]]) {
		before, inside = strings.TrimSpace(s[:at]), strings.TrimSpace(s[at+1:len(s)-1])
	}
	switch {
	case isAddress(before):
		return websync.Person{Name: inside, Email: before}
	case isAddress(inside):
		return websync.Person{Name: before, Email: inside}
	}
	return websync.Person{Name: s}
}

func isAddress(s string) bool {
	local, domain, _ := strings.Cut(s, "@")
	return local != "" && domain != "" && !strings.ContainsAny(domain, "@") && !strings.ContainsAny(s, " \t\r\n()<>")
}

func rssCategories(x ext.Extensions, stated []*rss.Category) (categories []atom.Category) {
	for _, c := range stated {
		category(&categories, c.Value, c.Domain, "")
	}
	for _, subject := range values(x, "dc", "subject") {
		category(&categories, subject, "", "")
	}
	return categories
}

// values returns the texts of the extension elements of one name.
func values(x ext.Extensions, prefix, local string) (texts []string) {
	for _, e := range x[prefix][local] {
		texts = append(texts, e.Value)
	}
	return texts
}

// value returns the first text that is not empty.
func value(x ext.Extensions, prefix, local string) string { return first(values(x, prefix, local)...) }
