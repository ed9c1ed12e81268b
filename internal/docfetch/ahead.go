package docfetch

import (
	"cmp"
	"context"
	"iter"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/survive"
)

// An Ahead fetches documents in the background while the caller reads those before them.
type Ahead[T any] struct {
	Parallel int                      // how many at a time; if zero or negative, 4
	Next     func() (T, bool)         // returns the next one; false if there are no more
	Ready    func(T) bool             // reports whether one needs no Get
	Get      func(context.Context, T) // fetches one, in a goroutine of its own
	Close    func(T)                  // closes one that is not yielded
}

// All yields the documents in the order of Next. When it ends, nothing runs in the
// background. A panic of Get continues in the goroutine of the caller.
func (a Ahead[T]) All(ctx context.Context) iter.Seq[T] {
	return func(yield func(T) bool) {
		parallel := a.Parallel
		if parallel <= 0 {
			parallel = 4
		}
		ctx, cancel := context.WithCancel(ctx)
		var queue []chan got[T]
		defer func() {
			cancel()
			var panicked *websync.PanicError
			for _, c := range queue {
				g := <-c
				a.Close(g.item)
				panicked = cmp.Or(panicked, g.panicked)
			}
			if panicked != nil {
				panic(&survive.Rethrown{PanicError: panicked})
			}
		}()
		fill := func() {
			for len(queue) < parallel {
				item, ok := a.Next()
				if !ok {
					return
				}
				queue = append(queue, a.start(ctx, item))
			}
		}
		for {
			fill()
			if len(queue) == 0 {
				return
			}
			g := <-queue[0]
			queue = queue[1:]
			if g.panicked != nil {
				a.Close(g.item)
				panic(&survive.Rethrown{PanicError: g.panicked})
			}
			fill()
			if !yield(g.item) {
				return
			}
		}
	}
}

// Each returns the Next of an Ahead for some documents, in their order.
func Each[T any](documents []T) func() (T, bool) {
	return func() (next T, ok bool) {
		if len(documents) == 0 {
			return next, false
		}
		next, documents = documents[0], documents[1:]
		return next, true
	}
}

type got[T any] struct {
	item     T
	panicked *websync.PanicError
}

func (a Ahead[T]) start(ctx context.Context, item T) chan got[T] {
	done := make(chan got[T], 1)
	if a.Ready(item) {
		done <- got[T]{item: item}
		return done
	}
	go func() {
		panicked := &websync.PanicError{Value: "the Fetcher ended its goroutine"}
		defer func() {
			if v := recover(); v != nil {
				panicked = survive.Caught(v)
			}
			done <- got[T]{item, panicked}
		}()
		a.Get(ctx, item)
		panicked = nil
	}()
	return done
}
