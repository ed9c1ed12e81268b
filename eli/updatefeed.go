package eli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/publishing"
)

const feedType = "application/atom+xml"

var ruleFeedEntry = rules.Error("feed-entry", "ELI Pillar IV §3.3.2", "an act that the update feed can't list")

// An updateFeed is the feed of a Publisher, in the state that its ETag names.
type updateFeed struct {
	publishing.Segment
	publisher *Publisher
}

// feed returns the document of the feed.
func (p *Publisher) feed(ctx context.Context) (*websync.Document, error) {
	whole, _, err := p.log.Whole(ctx)
	if err != nil {
		return nil, err
	}
	f := &updateFeed{whole, p}
	return &websync.Document{
		Type: feedType + "; charset=utf-8", ETag: whole.ETag(), Modified: whole.Time,
		Links: []websync.Link{p.selfLink()}, Write: f.write,
	}, nil
}

// A change is the latest entry of an act in the log.
type change struct {
	born, seq websync.Seq
	at        websync.Datetime // zero if it is not listed
}

// latest leaves the latest change of each act.
func latest(all []change) []change {
	slices.SortFunc(all, func(a, b change) int { return cmp.Or(cmp.Compare(a.born, b.born), cmp.Compare(b.seq, a.seq)) })
	return slices.CompactFunc(all, func(a, b change) bool { return a.born == b.born })
}

// changes returns what the feed lists, the latest first.
func (f *updateFeed) changes(ctx context.Context) ([]change, error) {
	var all []change
	full := 10_000 // then superseded ones are removed
	add := func(c change) {
		if all = append(all, c); len(all) >= full {
			all = latest(all)
			full = max(full, 2*len(all))
		}
	}
	for items, err := range publishing.Batches(f.Entries(ctx, nil)) {
		var times []websync.Datetime
		var dated []*websync.Item
		for _, item := range items {
			switch {
			case item.Born == 0: // a deletion of what never was
			case item.Kind == websync.Deleted || f.publisher.refusal(item) != nil:
				add(change{born: item.Born, seq: item.Seq})
			default:
				dated = append(dated, item)
			}
		}
		if err == nil {
			times, err = f.publisher.times(ctx, f.Generation, dated)
		}
		if err != nil {
			return nil, err
		}
		for i, item := range dated {
			add(change{item.Born, item.Seq, times[i]})
		}
	}
	all = slices.DeleteFunc(latest(all), func(c change) bool { return c.at.IsZero() })
	slices.SortFunc(all, func(a, b change) int { return cmp.Or(b.at.Time().Compare(a.at.Time()), cmp.Compare(b.seq, a.seq)) })
	return all, nil
}

// write is Document.Write.
func (f *updateFeed) write(ctx context.Context, w io.Writer) error {
	p := f.publisher
	feed := p.newFeed()
	recent, listed := *f, []change(nil)
	if f.Last > 0 {
		feed.Updated = websync.NewDatetime(f.Time)
		var err error
		if recent.Segment, err = f.Since(ctx, f.Time.Add(-p.history())); err != nil {
			return err
		}
		if listed, err = recent.changes(ctx); err != nil {
			return err
		}
	}
	if len(listed) > 0 {
		feed.Updated = listed[0].at
	}
	out := atom.NewWriter(w)
	if err := out.WriteFeed(feed); err != nil {
		return err
	}
	const batch = 1000
	for some := range slices.Chunk(listed, batch) {
		if err := recent.writeEntries(ctx, out, some); err != nil {
			return err
		}
	}
	if err := out.Close(); err != nil {
		return err
	}
	recent.SetReported()
	return nil
}

// writeEntries writes the entries of some changes.
func (f *updateFeed) writeEntries(ctx context.Context, out *atom.Writer, some []change) error {
	seqs := make([]websync.Seq, len(some))
	for i := range some {
		seqs[i] = some[i].seq
	}
	items, err := f.EntriesAt(ctx, seqs)
	if err != nil {
		return err
	}
	for _, c := range some {
		item := items[c.seq]
		if item == nil {
			return f.publisher.site.CatalogError(fmt.Errorf("%w: entry %d is no longer in generation %d",
				websync.ErrCatalog, c.seq, f.Generation))
		}
		e := entryOf(&item.Resource, c.at)
		err := out.WriteEntry(&e)
		if refused, ok := errors.AsType[*websync.EntryError](err); ok {
			f.refuse(item, refused)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// refuse reports that an act is not in the feed, unless that was reported before.
func (f *updateFeed) refuse(item *websync.Item, refused *websync.EntryError) {
	if p := f.publisher; p.Report != nil && !f.IsReported(item.Seq) {
		p.Report(ruleFeedEntry.Finding(p.site.URL(), 0, 0, refused.Element, []byte(item.Resource.ID),
			"not listed: "+refused.Err.Error()))
	}
}

// entryOf returns the entry of an act: its ELI, its title and, as content, its summary
// (§3.3.2, §3.3.4).
func entryOf(r *websync.Resource, at websync.Datetime) atom.Entry {
	act := websync.Resource{ID: r.ID, Title: strings.TrimSpace(r.Title), Summary: strings.TrimSpace(r.Summary), Lang: r.Lang}
	e := atom.EntryOf(&act, at, websync.Person{})
	if !e.Summary.IsZero() {
		e.Content = atom.Content{Link: websync.Link{Type: e.Summary.Type}, Value: e.Summary.Value}
		e.Summary = atom.Text{}
	}
	return e
}
