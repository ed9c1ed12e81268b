package publish

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/websync-go/websync"
)

// A Site is what is published at a base URL: a Catalog, by one protocol or several. It
// gives all its Publishers the same [websync.Place], with a [websync.PathLocator] that
// knows the paths of all their documents, and adds the Publisher of the bodies.
//
// The Publishers of a Site have no Catalog, and are given to one method of one Site,
// once. Those of the protocol packages can be, and any other one that embeds a
// websync.Place; others are taken as they are.
type Site struct {
	// Catalog is what to publish. It is required. If it is a [websync.State], packages of
	// ResourceSync keep their record there.
	Catalog websync.Catalog
	// Base is the absolute URL of the site. It ends in a slash. It is required.
	Base string
	// Own are the sources that are the publisher's own work, whose resources keep their
	// URLs below Base.
	Own []string
	// Sources are the sources that are published; if empty, all.
	Sources []string
	// MaxDescription is that of a [websync.Place].
	MaxDescription int
	// Report, if set, receives a finding for each resource that can't be listed. It may
	// be called from several goroutines.
	Report func(websync.Finding)
}

// Handler returns a Handler of Publishers. What is wrong with their settings is the error
// of its Check.
func (s *Site) Handler(publishers ...websync.Publisher) *Handler {
	return &Handler{Publishers: s.Publishers(publishers...)}
}

// WriteDir is [WriteDir] of Publishers, at one moment of the Catalog: see [Freeze].
func (s *Site) WriteDir(ctx context.Context, dir string, publishers ...websync.Publisher) (Written, error) {
	catalog, err := Freeze(ctx, s.Catalog)
	if err != nil {
		return Written{}, err
	}
	then := *s
	then.Catalog = catalog
	if state, ok := s.Catalog.(websync.State); ok {
		then.Catalog = moment{catalog.(*frozen), state}
	}
	return WriteDir(ctx, dir, then.Publishers(publishers...)...)
}

// A moment is a frozen Catalog, with the State of the one that goes on.
type moment struct {
	*frozen
	lasting
}

// A lasting is a State, embedded without hiding its method State.
type lasting = websync.State

// Publishers returns what Handler serves: the Publishers, and last the one of the bodies.
// Each has the Site's Place from then on.
func (s *Site) Publishers(publishers ...websync.Publisher) []websync.Publisher {
	locator := websync.PathLocator{Base: s.Base, Own: s.Own, Reserved: func(path string) bool {
		for _, p := range publishers {
			if r, ok := p.(interface{ Reserved(path string) bool }); ok && r.Reserved(path) {
				return true
			}
		}
		return false
	}}
	place := websync.Place{
		Catalog: s.Catalog, Base: s.Base, Own: s.Own, Sources: s.Sources, Locator: locator,
		MaxDescription: s.MaxDescription, Report: s.Report,
	}
	var faults []error
	var links []websync.Link // of the resources
	roots := map[string]bool{}
	for _, p := range publishers { // all, before the Locator asks any of them
		if settler, ok := p.(interface{ Settle(websync.Place) error }); ok {
			if err := settler.Settle(place); err != nil {
				faults = append(faults, fmt.Errorf("publish: a %T of a Site: %w", p, err))
			}
		}
	}
	for _, p := range publishers {
		if l, ok := p.(interface{ URL() string }); ok {
			if roots[l.URL()] {
				err := fmt.Errorf("publish: two Publishers of a Site have the document %s: one needs another Path", l.URL())
				faults = append(faults, err)
			}
			roots[l.URL()] = true
		}
		if l, ok := p.(interface{ Link() websync.Link }); ok {
			links = append(links, l.Link())
		}
	}
	if len(faults) > 0 {
		return []websync.Publisher{wrong{errors.Join(faults...)}}
	}
	return append(publishers[:len(publishers):len(publishers)], Linked(Bodies(s.Catalog, locator, s.Sources...), links...))
}

// wrong is the Publisher of a Site with wrong settings.
type wrong struct{ err error }

func (w wrong) Check() error { return w.err }

func (w wrong) Document(context.Context, string) (*websync.Document, error) { return nil, w.err }

func (w wrong) Documents(context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { yield("", w.err) }
}
