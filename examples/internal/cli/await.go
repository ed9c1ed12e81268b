package cli

import (
	"context"
	"sync"
	"time"
)

// How many targets AwaitAll opens at the same time. One that takes longer than a moment
// waits for its host, and the next one begins.
const (
	opening    = 4
	maxOpening = 16 * opening
	openMoment = 500 * time.Millisecond
)

// AwaitAll calls open for each target until that succeeds: again after 1, 2, 4 and more
// minutes, at most an hour. It calls failed with each error, and returns when all are
// open or ctx ends.
func AwaitAll[T any](ctx context.Context, targets []T, open func(context.Context, T) error, failed func(error)) {
	var all sync.WaitGroup
	defer all.Wait()
	turns, most := make(chan struct{}, opening), make(chan struct{}, maxOpening)
	inTurn := func(t T) error {
		release := sync.OnceFunc(func() { <-turns })
		defer release()
		defer time.AfterFunc(openMoment, release).Stop()
		return open(ctx, t)
	}
	for _, t := range targets {
		all.Go(func() {
			for wait := time.Minute; ; wait = min(2*wait, time.Hour) {
				for _, queue := range []chan struct{}{most, turns} {
					select {
					case queue <- struct{}{}:
					case <-ctx.Done():
						return
					}
				}
				err := inTurn(t)
				<-most
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
