package resourcesync

import (
	"context"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
	"github.com/websync-go/websync/sitemap"
)

// A change releases the URL that its resource was listed with before, if it is not listed
// with that any more: it was deleted, its bytes are no longer kept, its Content has
// another URL, or it must not be listed now. The list of the changes deletes the URL,
// unless another resource has it at that time. That is so when two resources exchange
// their URLs, and when a publisher changes an id and keeps the URL.

// addDeletions writes the deletion of a resource whose state before is not known.
func (l *lister) addDeletions(ctx context.Context, item *websync.Item) error {
	for _, url := range l.publisher.site.DeletedURLs(item) {
		holder, err := l.holder(ctx, item, listable(url))
		if err == nil && holder == 0 {
			err = l.delete(item, item, url, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// release writes what becomes of the URL old, with which prior was listed, by the change
// item: none if it was not listed.
func (l *lister) release(ctx context.Context, item, prior *websync.Item, old string) error {
	if old == "" {
		return nil
	}
	holder := websync.Seq(0)
	if !isAlone(l.publisher, prior, old) {
		var err error
		if holder, err = l.holder(ctx, item, old); err != nil {
			return err
		}
	}
	switch {
	case holder == 0:
		return l.delete(item, prior, l.publisher.site.ItemURL(prior), old)
	case holder > prior.Seq || l.pack != nil: // readers have that state already
		return nil
	}
	return l.restore(ctx, item, holder)
}

// delete writes that a change deletes a URL. Gone is the state that had it. Item gets the
// entry with the loc that it had got then, and does not decide the URL unless url is
// empty.
func (l *lister) delete(item, gone *websync.Item, loc, url string) error {
	e := Entry{Entry: sitemap.Entry{Loc: loc}, Metadata: Metadata{Change: Deleted, Datetime: websync.NewDatetime(item.Time)}}
	if p := l.publisher; p.Item != nil {
		at := *gone
		at.Seq, at.Prior, at.Time, at.At, at.Kind, at.Bodies = item.Seq, item.Prior, item.Time, item.At, websync.Deleted, nil
		if err := p.Item(&at, &e); err != nil {
			l.refuse(item, err)
			return nil
		}
		if e.Loc == "" {
			return nil
		}
	}
	if url != "" {
		e.Loc = url
	}
	return l.write(&websync.Item{Seq: item.Seq, Kind: websync.Deleted, Resource: item.Resource}, &e)
}

// restore writes the state of another resource that has had the URL for longer than the
// one that releases it: readers have what that one put in its place.
func (l *lister) restore(ctx context.Context, item *websync.Item, holder websync.Seq) error {
	other, err := l.log.Entry(ctx, holder)
	if err != nil || other == nil {
		return err
	}
	d := l.publisher.newDescriber()
	var e Entry
	if url, err := d.describe(other, nil, &e); err != nil || url == "" {
		return nil
	}
	e.Metadata.Change, e.Metadata.Datetime = Updated, websync.NewDatetime(item.Time)
	return l.write(other, &e)
}

// A holders knows what changes release and other resources have: the number of the latest
// entry of these.
type holders map[released]websync.Seq

// A released is a URL, and the number of the change that releases it.
type released struct {
	seq websync.Seq
	url string
}

// holder returns the number of the entry of another resource that has the URL that a
// change releases; 0 if there is none.
func (l *lister) holder(ctx context.Context, item *websync.Item, url string) (_ websync.Seq, err error) {
	if l.holders == nil {
		l.holders, err = l.findHolders(ctx)
	}
	return l.holders[released{item.Seq, url}], err
}

// isAlone reports whether no other resource can have the URL of an item, because it is
// that of its content here.
func isAlone(p *Publisher, item *websync.Item, url string) bool {
	_, kept := publishing.KeptContent(item)
	return kept && url == p.site.Locator.URL(item, websync.ContentName)
}

// findHolders reads the log from its beginning to the end of the list. So the result
// depends on no later entry, and a closed list never changes. It keeps only what has a
// URL that a change of the list releases.
func (l *lister) findHolders(ctx context.Context) (holders, error) {
	wanted, err := l.findReleased(ctx)
	if err != nil {
		return nil, err
	}
	type resource struct{ source, id string }
	found := make(holders)
	latest := make(map[resource]websync.Seq)
	urls := make(map[websync.Seq]string)     // of these entries
	having := make(map[string][]websync.Seq) // by URL, in ascending order
	d := l.publisher.newDescriber()
	all := l.log.FromStart()
	for item, err := range all.Entries(ctx, func(*websync.Item, error) {}) {
		if err != nil {
			return nil, err
		}
		r := resource{item.Source, item.Resource.ID}
		before := latest[r]
		olds := []string{urls[before]}
		if isUnknown(item) {
			olds = l.deletedURLs(item)
		}
		url := ""
		_, kept := publishing.KeptContent(item)
		if !kept || l.publisher.Item != nil || l.publisher.site.Locator.Owns(item.Source) {
			url = d.urlOf(item)
		}
		if before > 0 {
			isBefore := func(seq websync.Seq) bool { return seq == before }
			having[urls[before]] = slices.DeleteFunc(having[urls[before]], isBefore)
			delete(urls, before)
			delete(latest, r)
		}
		for _, old := range olds {
			if others := having[old]; len(others) > 0 && old != url && item.Seq > l.log.After {
				found[released{item.Seq, old}] = others[len(others)-1]
			}
		}
		if wanted[url] {
			latest[r], urls[item.Seq] = item.Seq, url
			having[url] = append(having[url], item.Seq)
		}
	}
	return found, nil
}

// isUnknown reports whether an item is the deletion of a resource whose state before is
// not known.
func isUnknown(item *websync.Item) bool { return item.Kind == websync.Deleted && item.Prior == 0 }

// deletedURLs returns the URLs that the deletion of an unknown state names.
func (l *lister) deletedURLs(item *websync.Item) []string {
	urls := l.publisher.site.DeletedURLs(item)
	for i, url := range urls {
		urls[i] = listable(url)
	}
	return urls
}

// findReleased returns the URLs that changes of the list release and others may have.
func (l *lister) findReleased(ctx context.Context) (map[string]bool, error) {
	wanted := make(map[string]bool)
	d := l.publisher.newDescriber()
	for items, err := range publishing.Batches(l.log.Entries(ctx, func(*websync.Item, error) {})) {
		var priors []*websync.Item
		if err == nil {
			priors, err = l.log.Priors(ctx, items)
		}
		if err != nil {
			return nil, err
		}
		for i, prior := range priors {
			if prior == nil {
				if isUnknown(items[i]) {
					for _, url := range l.deletedURLs(items[i]) {
						wanted[url] = true
					}
				}
				continue
			}
			if old := d.urlOf(prior); old != "" && !isAlone(l.publisher, prior, old) && old != d.urlOf(items[i]) {
				wanted[old] = true
			}
		}
	}
	return wanted, nil
}
