package resourcesync

import (
	"context"
	"io"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
)

// A change notification has at most this many changes, so that it is shorter than 1 MiB,
// which is what a notify.Subscriber takes by default.
const mostNotified = 250

// Notification returns a Change Notification (ResourceSync Change Notification 1.0.1): a
// Change List of the first changes after a position, at most 250, and the position at its
// end. It implements publish.Notifier, so that a publish.Pinger posts it to the Hubs:
//
//	&publish.Pinger{Topics: []string{p.URL()}, Hubs: p.Hubs, Notifier: p, State: catalog}
//
// The document is nil if no change after the position is to be listed. Positions are
// opaque, and stay usable when the log gets a new generation. If after is empty or no
// position, Notification returns the end of the log and no document.
func (p *Publisher) Notification(ctx context.Context, after string) (doc *websync.Document, end string, err error) {
	if p.open().Err != nil {
		return nil, after, p.site.Err
	}
	from, err := publishing.ParsePosition(after)
	if err != nil {
		last, err := p.changes.End(ctx)
		return nil, last.String(), err
	}
	d, next, err := p.changes.Since(ctx, from, mostNotified)
	if err != nil {
		return nil, after, err
	}
	n := &publishedChanges{Segment: d, publisher: p, url: p.changes.Site.URL()}
	for _, err := range d.Entries(ctx, func(*websync.Item, error) {}) {
		if err != nil {
			return nil, after, err
		}
		// What it leaves out is reported with the Change List.
		write := func(ctx context.Context, w io.Writer) error {
			return n.writeChanges(ctx, w, func(websync.Seq) bool { return true })
		}
		return &websync.Document{Type: documentType, Modified: d.Time, Final: true, Write: write}, next.String(), nil
	}
	return nil, next.String(), nil
}
