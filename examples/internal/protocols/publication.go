package protocols

import (
	"context"
	"net/url"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

// Published are the protocols of publications.
var Published = []string{"sitemap", "atom", "atompmh", "resourcesync", "eli", "rinfo"}

// A Site is what is published at a base URL: a store, by one protocol or several.
type Site struct {
	Catalog websync.Catalog
	// State keeps a record of dumps.
	State websync.State
	Base  string
	// Own are the sources whose resources keep their URLs.
	Own []string
	// Sources are those that are published; empty: all.
	Sources []string
	Report  func(websync.Finding)
}

// A Publication is one protocol of a Site.
type Publication struct {
	Protocol string   // one of Published
	Path     string   // of the document that a reader begins with, below the base; empty: the protocol's default
	Hubs     []string // WebSub hubs that are named in the documents of a feed or of ResourceSync
	// Dumps is a directory for packages of ResourceSync; empty: none are made.
	Dumps string
	// ListSize and MaxLists are those of a resourcesync.Publisher.
	ListSize, MaxLists int

	lists lists
}

// A lists is a Publisher whose documents begin at a URL and take up paths of the site.
type lists interface {
	websync.Publisher
	URL() string
	Reserved(path string) bool
}

// Publishers returns the Publishers of the documents of publications, in their order, and
// last the one of the bodies.
func (s *Site) Publishers(publications ...*Publication) (all []websync.Publisher) {
	locator := websync.PathLocator{Base: s.Base, Own: s.Own, Reserved: func(path string) bool {
		for _, p := range publications {
			if p.lists.Reserved(path) {
				return true
			}
		}
		return false
	}}
	var links []websync.Link // of the resources
	for _, p := range publications {
		p.lists = s.lists(p, locator)
		all = append(all, p.lists)
		if set, ok := p.lists.(*resourcesync.Publisher); ok {
			links = append(links, set.Link())
		}
	}
	return append(all, publish.Linked(publish.Bodies(s.Catalog, locator, s.Sources...), links...))
}

func (s *Site) lists(p *Publication, locator websync.Locator) lists {
	author := websync.Person{Name: s.author()}
	switch p.Protocol {
	case "atom":
		return &atom.Publisher{Catalog: s.Catalog, Base: s.Base, Path: p.Path, Sources: s.Sources, Locator: locator, Report: s.Report,
			Title: s.Base, Author: author, Hubs: p.Hubs}
	case "atompmh":
		return &atompmh.Publisher{Catalog: s.Catalog, Base: s.Base, Path: p.Path, Sources: s.Sources, Locator: locator, Report: s.Report,
			Title: s.Base, Author: author, Hubs: p.Hubs}
	case "rinfo":
		return &rinfo.Publisher{Catalog: s.Catalog, Base: s.Base, Path: p.Path, Sources: s.Sources, Locator: locator, Report: s.Report,
			Title: s.Base, Author: author, Hubs: p.Hubs}
	case "eli":
		return &eli.Publisher{Catalog: s.Catalog, Base: s.Base, Path: p.Path, Sources: s.Own, Locator: locator, Report: s.Report, Author: author}
	case "resourcesync":
		set := &resourcesync.Publisher{Catalog: s.Catalog, Base: s.Base, Path: p.Path, Sources: s.Sources, Locator: locator, Report: s.Report, Robots: true,
			Hubs: p.Hubs, ListSize: p.ListSize, MaxLists: p.MaxLists}
		if p.Dumps != "" {
			set.Dumps = &resourcesync.Dumps{Dir: p.Dumps, State: s.State, MaxPackages: p.MaxLists}
		}
		return set
	}
	return &sitemap.Publisher{Catalog: s.Catalog, Base: s.Base, Path: p.Path, Sources: s.Sources, Locator: locator, Extensions: google.Extensions(), Report: s.Report}
}

// author returns the author of a feed whose entries have none: the host.
func (s *Site) author() string {
	if u, err := url.Parse(s.Base); err == nil {
		return u.Hostname()
	}
	return s.Base
}

// Entry returns the URL that a reader begins with. It is known after Site.Publishers.
func (p *Publication) Entry() string { return p.lists.URL() }

// IsList reports whether a path, from the root of the host, is that of a list. It is
// known after Site.Publishers.
func (p *Publication) IsList(path string) bool { return p.lists.Reserved(path) }

// Notifier returns what makes the content of notices; nil if the protocol has none.
func (p *Publication) Notifier() publish.Notifier {
	n, _ := p.lists.(publish.Notifier)
	return n
}

// Pack makes packages of what has changed, if there are to be any.
func (p *Publication) Pack(ctx context.Context) error {
	if set, ok := p.lists.(*resourcesync.Publisher); ok && p.Dumps != "" {
		return set.Pack(ctx)
	}
	return nil
}

// PackAgain makes packages at intervals until the context ends. Without them the lists
// are served all the same: fail receives the errors.
func (p *Publication) PackAgain(ctx context.Context, every time.Duration, fail func(error)) {
	for p.Dumps != "" {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		if err := p.Pack(ctx); err != nil && ctx.Err() == nil {
			fail(err)
		}
	}
}
