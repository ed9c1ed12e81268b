package docfetch

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime/debug"
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
			var panicked *backgroundPanic
			for _, c := range queue {
				g := <-c
				a.Close(g.item)
				panicked = cmp.Or(panicked, g.panicked)
			}
			if panicked != nil {
				panic(panicked)
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
				panic(g.panicked)
			}
			fill()
			if !yield(g.item) {
				return
			}
		}
	}
}

type got[T any] struct {
	item     T
	panicked *backgroundPanic
}

func (a Ahead[T]) start(ctx context.Context, item T) chan got[T] {
	done := make(chan got[T], 1)
	if a.Ready(item) {
		done <- got[T]{item: item}
		return done
	}
	go func() {
		panicked := &backgroundPanic{value: "the Fetcher ended its goroutine"}
		defer func() {
			if v := recover(); v != nil {
				panicked = &backgroundPanic{v, debug.Stack()}
			}
			done <- got[T]{item, panicked}
		}()
		a.Get(ctx, item)
		panicked = nil
	}()
	return done
}

// A backgroundPanic is a panic of Get in the goroutine of the caller.
type backgroundPanic struct {
	value any
	stack []byte
}

func (p *backgroundPanic) Error() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// Unwrap returns the value of the panic if that is an error.
func (p *backgroundPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}
