package publishing

import (
	"context"
	"fmt"
	"slices"

	"github.com/websync-go/websync"
)

// An Overlap finds the items whose id another source of a Site had first. Readers would
// see the resources of both under one id, and the bodies of both have one URL. It keeps a
// few hundred items at a time, and costs nothing if the Site has one source.
type Overlap struct {
	Site *Site

	// Report receives an item, of which only Source, Born, Seq and the ID are set, and a
	// message.
	Report func(item *websync.Item, message string)

	known   bool // sources is set
	sources []string
	waiting []websync.Item
}

// Add adds an item. It is checked in a batch with others, at the latest by Flush.
func (o *Overlap) Add(ctx context.Context, item *websync.Item) error {
	const batch = 500
	if !o.known {
		var err error
		if o.sources, err = siteSources(ctx, o.Site); err != nil {
			return err
		}
		o.known = true
	}
	if len(o.sources) < 2 {
		return nil
	}
	o.waiting = append(o.waiting, websync.Item{
		Source: item.Source, Born: item.Born, Seq: item.Seq, Resource: websync.Resource{ID: item.Resource.ID},
	})
	if len(o.waiting) < batch {
		return nil
	}
	return o.Flush(ctx)
}

// Flush checks the items that were added and not yet checked.
func (o *Overlap) Flush(ctx context.Context) error {
	for _, source := range o.sources {
		others := slices.DeleteFunc(slices.Clone(o.waiting), func(item websync.Item) bool { return item.Source == source })
		ids := make([]string, len(others))
		for i := range others {
			ids[i] = others[i].Resource.ID
		}
		found, err := o.Site.Catalog.Get(ctx, source, ids)
		if err != nil {
			return o.Site.CatalogError(err)
		}
		for i := range found {
			if f := &found[i]; f.Seq > 0 && f.Kind != websync.Deleted && f.Born < others[i].Born {
				o.Report(&others[i], fmt.Sprintf(
					"the source %q lists it, and %q had it first: Publisher.Sources must have no common id",
					websync.RedactURL(others[i].Source), websync.RedactURL(source)))
			}
		}
	}
	o.waiting = o.waiting[:0]
	return nil
}
