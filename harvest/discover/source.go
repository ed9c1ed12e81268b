package discover

import (
	"context"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
)

// Source returns a Source of the offer with default settings. Its Key is URL.
func (o *Offer) Source() harvest.Source {
	switch o.Protocol {
	case ResourceSync:
		return o.Bind(&resourcesync.Source{URL: o.URL})
	case ELI:
		extractors := []eli.Extractor{&rdfa.Extractor{}, &jsonld.Extractor{}}
		return o.Bind(&eli.Source{Sitemap: o.URL, Feed: o.Feed, Extractors: extractors})
	case Rinfo:
		return o.Bind(&rinfo.Source{URL: o.URL})
	case AtomPMH:
		return o.Bind(&atompmh.Source{URL: o.URL, AllFormats: true})
	case Atom:
		return o.Bind(&atom.Source{URL: o.URL, Parser: anyfeed.Parse})
	}
	return o.Bind(&sitemap.Source{URL: o.URL})
}

// Bind returns a Source that does what src does, and whose Root is the URL that Find was
// given: a private address is reached only if that URL names its host, and not because a
// publisher links to it. It is meant for Sources of the offer that are made with other
// settings. If both URLs are on one host, Bind returns src.
func (o *Offer) Bind(src harvest.Source) harvest.Source {
	here, _ := syntax.OriginOf(o.Root)
	if there, _ := syntax.OriginOf(o.URL); here == "" || here == there {
		return src
	}
	b := bound{src, o.Root}
	if g, ok := src.(harvest.Getter); ok {
		return &boundGetter{b, g.Get}
	}
	return &b
}

// A bound is a Source with another Root.
type bound struct {
	harvest.Source
	root string
}

// Root returns the URL that Find was given.
func (b *bound) Root() string { return b.root }

// Check returns what is wrong with the settings.
func (b *bound) Check() error {
	if c, ok := b.Source.(interface{ Check() error }); ok {
		return c.Check()
	}
	return nil
}

// TwoLists is that of the Source, if it has one: see [harvest.Source].
func (b *bound) TwoLists() bool {
	l, ok := b.Source.(interface{ TwoLists() bool })
	return ok && l.TwoLists()
}

// A boundGetter is a bound Source that is a Getter.
type boundGetter struct {
	bound
	get func(context.Context, *harvest.Job) error
}

var _ harvest.Getter = (*boundGetter)(nil)

// Get implements [harvest.Getter].
func (b *boundGetter) Get(ctx context.Context, job *harvest.Job) error { return b.get(ctx, job) }
