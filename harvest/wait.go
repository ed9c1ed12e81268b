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
// once a second and, if the Catalog has a method LogChanged as [Catalog] has, after each
// change that this notices.
//
// A program that follows the log reads the Head first, so that nothing is missed:
//
//	for err == nil {
//		head, _ := catalog.Head(ctx)
//		if err = harvest.Each(ctx, catalog, "index", index); err == nil {
//			_, err = harvest.WaitLog(ctx, catalog, head)
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
