package harvest

import (
	"context"
	"errors"
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/survive"
)

// catch calls f in a goroutine of the run, and stop with the error. It keeps a panic of
// f, which goes on in end.
func (r *run) catch(stop context.CancelCauseFunc, f func() error) {
	err := errPanic
	defer func() {
		if v := recover(); v != nil {
			r.keepPanic(v)
		}
		if err != nil {
			stop(err)
		}
	}()
	err = f()
}

// keepPanic keeps the first panic, which goes on in end.
func (r *run) keepPanic(v any) {
	r.caught.CompareAndSwap(nil, &survive.Rethrown{PanicError: survive.Caught(v)})
}

// errPanic ends a run in which the Store, a hook or the engine panicked, or a goroutine
// ended.
var errPanic = errors.New("a panic ended the run")

// ours is deferred where a Source calls the Store or a hook. A panic of these is no
// failure of the Source: it ends the run, even if the Source recovers it.
func (r *run) ours() {
	if v := recover(); v != nil {
		r.keepPanic(v)
		r.cancel(errPanic)
		panic(v)
	}
}

// panicError returns the error for a recovered panic of the Source.
func (r *run) panicError(v any) error {
	return fmt.Errorf("the Source, a %T, or what it calls: %w", r.src, survive.Caught(v))
}

// endOfSource returns the error that ends the run after a panic in Events, which is a
// Problem, too. A panic of the Store or a hook, which the Source called, goes on.
func (r *run) endOfSource(err error) error {
	if r.caught.Load() != nil {
		return errPanic
	}
	r.problem(err)
	return &sourceError{err}
}

// A resourcePanic is an error of which only the panic is found, and not what that was
// called with: ErrGone, for instance, would delete.
type resourcePanic struct {
	error
	caught *websync.PanicError
}

func (e *resourcePanic) As(target any) bool {
	p, ok := target.(**websync.PanicError)
	if ok {
		*p = e.caught
	}
	return ok
}

// logPanic logs the stack if err is a panic of a Source, or of a library that it uses.
func (r *run) logPanic(id string, err error) {
	if caught, ok := errors.AsType[*websync.PanicError](err); ok {
		r.log.Error("panic", "source", r.key, "id", id, "err", err, "stack", string(caught.Stack))
	}
}
