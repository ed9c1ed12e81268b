package cli

import (
	"context"
	"net/url"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
)

// A Publication is one protocol of a site.
type Publication struct {
	Protocol string   // one of Published
	Path     string   // of the document that a reader begins with, below the base; empty: the protocol's default
	Hubs     []string // WebSub hubs that are named in the documents of a feed or of ResourceSync
	// Dumps is a directory for packages of ResourceSync; empty: none are made.
	Dumps string
	// State keeps a record of dumps; if nil, the Catalog does.
	State websync.State
	// ListSize and MaxLists are those of a resourcesync.Publisher.
	ListSize, MaxLists int
	// Inline is the InlineBytes of an atom.Publisher.
	Inline int

	lists lists
}

// A lists is a Publisher whose documents begin at a URL and take up paths of the site.
type lists interface {
	websync.Publisher
	URL() string
	Reserved(path string) bool
}

// Publisher returns the Publisher of the documents, for a site at a base URL. The author
// of a feed whose entries have none is the host.
func (p *Publication) Publisher(base string) websync.Publisher {
	host := websync.Person{Name: base}
	if u, err := url.Parse(base); err == nil {
		host.Name = u.Hostname()
	}
	p.lists = protocols[p.Protocol].lists(p, base, host)
	return p.lists
}

// Entry returns the URL that a reader begins with. It is known when a publish.Site
// has the Publisher.
func (p *Publication) Entry() string { return p.lists.URL() }

// IsList reports whether a path, from the root of the host, is that of a list. It is
// known when a publish.Site has the Publisher.
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
