package discover

import (
	"bytes"
	"context"
	"errors"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
	"github.com/websync-go/websync/internal/xmlscan"
	"github.com/websync-go/websync/sitemap"
)

// maxEntries is how many entries of a document are read for signs of a profile.
const maxEntries = 1000

// read returns what a document offers, and what it leads to.
func (s *search) read(ctx context.Context, l lead, a *answer) []*Offer {
	if a.err != nil {
		return nil
	}
	_, path := syntax.OriginOf(l.url)
	if syntax.PathOf(l.url, path) == "/robots.txt" {
		return s.robots(ctx, l, a)
	}
	root, head, err := a.root()
	switch {
	case err == nil && (root.Local == "urlset" || root.Local == "sitemapindex"):
		return s.sitemap(ctx, l, a)
	case err == nil && root.Local == "feed":
		if found, known := s.feed(ctx, l, a); known {
			return found
		}
	}
	if found, known := s.otherFeed(l, a, root, head); known {
		return found
	}
	if found, known := s.text(l, a); known {
		return found
	}
	what := document.What(err)
	if err == nil {
		what = document.WhatRoot(root)
	}
	if a.is("%s", what); what == "" {
		a.fault = err
	}
	if what == document.HTMLPage || docfetch.IsHTML(a.header) {
		a.page()
	}
	return nil
}

// root returns the name of the root element of a document in XML, and the beginning of a
// document of any kind.
func (a *answer) root() (xmlscan.Name, []byte, error) {
	doc := &document.Document{
		Kind: document.Kind{
			Format: "discover", Name: "a document that can be harvested", Else: "neither XML nor JSON nor a list of URLs",
		},
		URL: a.final, ContentType: a.contentType,
		Report: func(document.Departure, int, int, []byte, string) {},
	}
	if err := doc.Open(a.reader(), -1); err != nil {
		return xmlscan.Name{}, nil, err
	}
	head := bytes.Clone(doc.Head())
	x, err := doc.XML()
	if err != nil {
		return xmlscan.Name{}, head, err
	}
	return x.Name(), head, nil
}

// otherFeed returns the offer of a feed that is not sound Atom. known is false if the
// document is none.
func (s *search) otherFeed(l lead, a *answer, root xmlscan.Name, head []byte) (found []*Offer, known bool) {
	const jsonFeed = "//jsonfeed.org/version/"
	feed, items, err := anyfeed.Parse(a.reader(), atom.Origin{URL: a.final, ContentType: a.contentType}, nil)
	switch {
	case errors.Is(err, websync.ErrNotDocument):
		return nil, false
	case err == nil:
		a.is("a feed of %s that is not Atom", count(len(items), "entry", "entries"))
		o := Offer{Protocol: Atom, URL: l.url, Title: title(feed), grade: window, lossy: true, entries: names(items)}
		o.Topic, o.Hubs = a.channel(webpage.Links(feed.Links))
		return s.offer(l, o, "it is %s, read like Atom", a.what), true
	}
	what := ""
	switch {
	case root.Local == "rss", root.Local == "RDF" && bytes.Contains(head, []byte("rss/1.0/")), root.Local == "feed":
		what = document.WhatRoot(root)
	case root.Local == "" && bytes.Contains(head, []byte(jsonFeed)):
		what = "a JSON Feed"
	default:
		return nil, false
	}
	a.is("%s", what)
	a.noteFault(err)
	o := Offer{Protocol: Atom, URL: l.url, grade: window, lossy: true}
	o.Topic, o.Hubs = a.channel(nil)
	return s.offer(l, o, "by its beginning it is %s%s", what, a.damage()), true
}

// text returns the offer of a sitemap in plain text. known is false if the document is
// none.
func (s *search) text(l lead, a *answer) (found []*Offer, known bool) {
	n := a.list("")
	if n.kind != sitemap.Text || n.entries == 0 {
		return nil, false
	}
	a.is("a text sitemap of %s", entries(n.entries, n.err))
	a.noteFault(n.err)
	o := Offer{Protocol: Sitemap, URL: l.url, grade: listing}
	o.Topic, o.Hubs = a.channel(nil)
	return s.offer(l, o, "it is %s", a.what), true
}
