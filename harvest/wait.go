package harvest

import (
	"context"
	"time"

	"github.com/websync-go/websync"
)

// pollLog is the interval at which WaitLog reads the Head.
const pollLog = time.Second

// WaitLog waits until the log of a Catalog has entries after those of a Head that was
// read before, or has a new generation, and returns the present Head. It reads the Head
// once a second. A Store may have a method LogChanged() <-chan struct{}, which returns a
// channel that is closed after the next change of the log that the Store notices: then
// WaitLog reads the Head at once. A [Catalog] notices the commits of its own process.
//
// A program that follows the log reads the Head first, so that nothing is missed:
//
//	for err == nil {
//		head, _ := store.Head(ctx)
//		if err = harvest.Each(ctx, store, "index", index); err == nil {
//			_, err = harvest.WaitLog(ctx, store, head)
//		}
//	}
func WaitLog(ctx context.Context, c websync.Catalog, after websync.Head) (websync.Head, error) {
	notifier, _ := c.(interface{ LogChanged() <-chan struct{} })
	tick := time.NewTicker(pollLog)
	defer tick.Stop()
	for {
		var changed <-chan struct{}
		if notifier != nil {
			changed = notifier.LogChanged() // before Head: a change in between closes it
		}
		head, err := c.Head(ctx)
		if err != nil || head.Generation != after.Generation || head.Last > after.Last {
			return head, err
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-ctx.Done():
			return head, context.Cause(ctx)
		}
	}
}
