package resourcesync

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/sitemap"
)

// A publishedChanges is one Change List, or the index of them, in the state that its ETag
// names.
type publishedChanges struct {
	publishing.Segment
	publisher *Publisher
	url       string
	indexed   bool // there is an index
	index     bool // this is the index
}

// changeList returns a Change List or the index of them (Z39.99 §12).
func (p *Publisher) changeList(ctx context.Context, path string) (*websync.Document, error) {
	d := &publishedChanges{publisher: p, url: p.site.Origin + path}
	var err error
	if p.changes.IsClosed(path) {
		d.Segment, err = p.changes.Closed(ctx, path)
		d.indexed = true
	} else {
		d.Segment, err = p.changes.Open(ctx, 0)
		d.indexed, d.index = d.HasPrevious(), path == p.changes.IndexPath()
		if err == nil && d.index && !d.indexed {
			err = p.site.DocumentError(path, websync.ErrNotFound)
		}
	}
	if err != nil {
		return nil, err
	}
	doc := &websync.Document{Type: documentType, Modified: d.Time, Final: d.Closed, ETag: d.ETag(), Write: d.write}
	if !d.Closed {
		doc.Links = p.hubLinks(p.site.URL())
		depends := p.Hubs
		if d.index {
			depends = append([]string{"index", strconv.Itoa(p.MaxLists)}, depends...)
		}
		doc.ETag = d.ETag(depends...)
	}
	return doc, nil
}

// head returns the metadata of a document with the changes from a moment on.
func (d *publishedChanges) head(from time.Time) Head {
	p := d.publisher
	h := Head{Index: d.index, Metadata: Metadata{Capability: ChangeList, From: timeOf(from)}, Links: linksOf(p.site.URL())}
	if d.Closed {
		h.Metadata.Until = timeOf(d.Time)
	} else {
		h.Links = linksOf(p.site.URL(), p.hubLinks(p.site.URL())...)
	}
	if d.indexed && !d.index {
		h.Links = append(h.Links, linkOf("index", p.site.Origin+p.changes.IndexPath()))
	}
	return h
}

// write is Document.Write. What it writes depends only on the log up to a number, so it
// can't change meanwhile.
func (d *publishedChanges) write(ctx context.Context, w io.Writer) error {
	if d.index {
		return d.writeIndex(ctx, w)
	}
	if err := d.writeChanges(ctx, w, d.IsReported); err != nil {
		return err
	}
	d.SetReported()
	return nil
}

// writeChanges writes a Change List.
func (d *publishedChanges) writeChanges(ctx context.Context, w io.Writer, silent func(websync.Seq) bool) error {
	from, err := d.From(ctx)
	if err != nil {
		return err
	}
	l := d.publisher.newLister(w, d.head(from), d.url, &d.Segment, silent)
	if l.gone, err = d.deleted(ctx); err != nil {
		return err
	}
	l.perEntry = (sitemap.MaxBytes - roomOfHead) / (2 * defaultSize)
	if err := l.addAll(ctx, d.Entries(ctx, l.refuse)); err != nil {
		return err
	}
	return l.close(ctx)
}

// deleted returns, by Born, the number of the last deletion in the range of the list.
func (d *publishedChanges) deleted(ctx context.Context) (map[websync.Seq]websync.Seq, error) {
	gone := make(map[websync.Seq]websync.Seq)
	for item, err := range d.Entries(ctx, func(*websync.Item, error) {}) {
		if err != nil {
			return nil, err
		}
		if item.Kind == websync.Deleted {
			gone[item.Born] = item.Seq
		}
	}
	return gone, nil
}

// writeIndex writes a Change List Index: the closed lists, the oldest first, and then the
// open one, which covers the range of the latest closed list, too.
func (d *publishedChanges) writeIndex(ctx context.Context, w io.Writer) error {
	p := d.publisher
	lists := []publishing.Segment{d.Segment}
	for before, ok, err := d.Previous(ctx); ok || err != nil; before, ok, err = before.Previous(ctx) {
		if err != nil {
			return err
		}
		if p.MaxLists > 0 && len(lists) > p.MaxLists {
			break
		}
		lists = append(lists, before)
	}
	var entries []Entry
	for i := len(lists) - 1; i >= 0; i-- {
		from, err := lists[i].From(ctx)
		if err != nil {
			return err
		}
		e := Entry{Entry: sitemap.Entry{Loc: p.site.Origin + lists[i].Path()}, Metadata: Metadata{From: timeOf(from)}}
		if lists[i].Closed {
			e.Metadata.Until = timeOf(lists[i].Time)
		}
		entries = append(entries, e)
	}
	return writeAll(w, d.head(entries[0].Metadata.From.Time()), entries)
}
