package harvest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/survive"
)

// sourcesAtOnce is how many sources RunAll runs at a time.
const sourcesAtOnce = 8

// RunAll calls Run for each source, for 8 at a time, and returns when all have ended.
// Each run has its own claim, Concurrency and Budget, and the Fetcher's politeness holds
// for all of them. A run that fails stops no other. The Reports have the order of
// sources, and none is nil; the error joins those of the runs. When the context ends, all
// end.
//
// If a source is nil, or two have the same Key, RunAll runs none and returns no Reports.
// A panic that continues in the goroutine that called Run ends the other runs, too, and
// continues in the one that called RunAll.
func (h *Harvester) RunAll(ctx context.Context, sources ...Source) ([]*Report, error) {
	seen := make(map[string]bool, len(sources))
	for i, src := range sources {
		if src == nil {
			return nil, fmt.Errorf("harvest: source %d of %d is nil", i+1, len(sources))
		}
		if seen[src.Key()] {
			return nil, fmt.Errorf("harvest: two sources have the Key %q; each needs its own", websync.RedactURL(src.Key()))
		}
		seen[src.Key()] = true
	}
	reports, errs := make([]*Report, len(sources)), make([]error, len(sources))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var caught atomic.Pointer[survive.Rethrown]
	var exited atomic.Bool
	var running sync.WaitGroup
	room := make(chan struct{}, sourcesAtOnce)
	for i, src := range sources {
		room <- struct{}{}
		running.Go(func() {
			returned := false
			defer func() {
				if v := recover(); v != nil {
					caught.CompareAndSwap(nil, &survive.Rethrown{PanicError: survive.Caught(v)})
				}
				if !returned {
					exited.Store(true)
					cancel(errPanic)
				}
				<-room
			}()
			reports[i], errs[i] = h.Run(ctx, src)
			returned = true
		})
	}
	running.Wait()
	if v := caught.Load(); v != nil {
		panic(v)
	}
	if exited.Load() {
		runtime.Goexit()
	}
	return reports, errors.Join(errs...)
}
