package resourcesync

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/sitemap"
)

// timeOf returns a time of the log.
func timeOf(t time.Time) websync.Datetime {
	if t.IsZero() {
		return epoch
	}
	return websync.NewDatetime(t)
}

// A publishedList is one document of the Resource List, in the state that its ETag names.
type publishedList struct {
	publisher *Publisher
	url       string
	part      publishing.Part
}

// resourceList returns a document of the Resource List (Z39.99 §10).
func (p *Publisher) resourceList(ctx context.Context, path string) (*websync.Document, error) {
	d := &publishedList{publisher: p, url: p.site.Origin + path}
	var err error
	if path == p.resources.Site.Root {
		d.part, err = p.resources.Root(ctx)
	} else {
		d.part, err = p.resources.Part(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	at := d.part.At
	return &websync.Document{
		Type: documentType, ETag: d.part.ETag("-" + strconv.FormatInt(at.UnixMicro(), 10)), Modified: at, Write: d.write,
	}, nil
}

// head returns the metadata of the document itself.
func (d *publishedList) head() Head {
	h := Head{
		Index:    d.part.Index,
		Metadata: Metadata{Capability: ResourceList, At: timeOf(d.part.At)},
		Links:    linksOf(d.publisher.site.URL()),
	}
	if root := d.publisher.resources.Site.URL(); d.url != root {
		h.Links = append(h.Links, linkOf("index", root))
	}
	return h
}

// write is Document.Write.
func (d *publishedList) write(ctx context.Context, w io.Writer) (err error) {
	if d.part.Index {
		err = d.writeIndex(ctx, w)
	} else {
		l := d.publisher.newLister(w, d.head(), d.url, nil, d.part.IsReported)
		if err = d.addAll(ctx, l); err == nil {
			err = l.close(ctx)
		}
	}
	if err != nil {
		return err
	}
	return d.part.Finish(ctx)
}

// writeIndex writes a Resource List Index (Z39.99 §10.2). It states no at of the parts: a
// part is requested later, and has a later one then.
func (d *publishedList) writeIndex(ctx context.Context, w io.Writer) error {
	p := d.publisher
	listed, err := p.resources.Listed(ctx)
	if err != nil {
		return err
	}
	var entries []Entry
	for _, part := range listed {
		entry := sitemap.Entry{Loc: p.site.Origin + part.Path, LastMod: websync.NewDatetime(part.Modified())}
		entries = append(entries, Entry{Entry: entry})
	}
	return writeAll(w, d.head(), entries)
}

// addAll writes the entries of a part.
func (d *publishedList) addAll(ctx context.Context, l *lister) error {
	return l.addAll(ctx, d.part.Resources(ctx, l.refuse))
}

// bound returns how many bytes the entry of an item takes at most. No link depends on
// other ids.
func (p *Publisher) bound(item *websync.Item) (bytes int64, links bool) {
	const around, link, escaped = 500, 400, len("&amp;")
	r := &item.Resource
	n := around + escaped*(max(len(r.ID), len(r.Content.Href))+len(p.Base)+len(r.Content.Type))
	if p.Item != nil { // what it may add is not known
		n += around
	}
	count := func(l *websync.Link) {
		n += link + escaped*(len(l.Href)+len(l.Rel)+len(l.Type)+len(l.Encoding)+len(p.Base)+len(r.ID)) + 100*len(l.Digests)
		for _, a := range l.Attrs {
			n += link + escaped*(len(a.Space)+len(a.Local)+len(a.Value))
		}
	}
	for i := range r.Links {
		count(&r.Links[i])
	}
	for i := range item.Bodies {
		count(&item.Bodies[i].Link)
	}
	for i := range r.Elements {
		n += len(r.Elements[i].XML)
	}
	return int64(n), false
}

// measure returns the length of a part, or the limit if it is longer.
func (p *Publisher) measure(ctx context.Context, part *publishing.Part) (int64, error) {
	d := &publishedList{publisher: p, url: p.site.Origin + part.Path, part: *part}
	l := p.newLister(io.Discard, d.head(), d.url, nil, func(websync.Seq) bool { return true })
	err := d.addAll(ctx, l)
	if errors.Is(err, websync.ErrLimit) {
		return sitemap.MaxBytes, nil
	}
	return l.out.Bytes(), err
}
