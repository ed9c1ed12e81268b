package cli

import (
	"context"
	"sync"
	"time"
)

// opening is how many targets AwaitAll opens at the same time.
const opening = 4

// AwaitAll calls open for each target until that succeeds: again after 1, 2, 4 and more
// minutes, at most an hour. It calls failed with each error, and returns when all are
// open or ctx ends.
func AwaitAll[T any](ctx context.Context, targets []T, open func(context.Context, T) error, failed func(error)) {
	var all sync.WaitGroup
	defer all.Wait()
	turns := make(chan struct{}, opening)
	for _, t := range targets {
		all.Go(func() {
			for wait := time.Minute; ; wait = min(2*wait, time.Hour) {
				select {
				case turns <- struct{}{}:
				case <-ctx.Done():
					return
				}
				err := open(ctx, t)
				<-turns
				if err == nil || ctx.Err() != nil {
					return
				}
				failed(err)
				select {
				case <-time.After(wait):
				case <-ctx.Done():
					return
				}
			}
		})
	}
}
