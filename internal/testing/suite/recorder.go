package suite

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Recorder is a testing.TB that records what a case reports. A case must not use
// methods that it does not implement: they belong to a nil TB.
type Recorder struct {
	testing.TB
	ctx context.Context

	mu              sync.Mutex
	failed, skipped bool
	lines           []string
	cleanups        []func()
}

// Record runs a case to its end and returns its result.
func Record[O any](ctx context.Context, c Case[O], o O) *Recorder {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &Recorder{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(r, o)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute): // a broken implementation may block
		r.Errorf("the case does not end")
		return r
	}
	for _, f := range r.cleanups {
		defer f()
	}
	return r
}

func (r *Recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}

// Panicked reports whether the case itself has panicked.
func (r *Recorder) Panicked() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.lines, func(line string) bool { return strings.HasPrefix(line, "panic: ") })
}

func (r *Recorder) Log(args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprint(args...))
}

func (r *Recorder) Errorf(format string, args ...any) {
	r.Log(fmt.Sprintf(format, args...))
	r.Fail()
}

func (r *Recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.FailNow()
}

func (r *Recorder) Fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *Recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *Recorder) FailNow() {
	r.Fail()
	runtime.Goexit()
}

// Skipped reports whether the case had nothing to check.
func (r *Recorder) Skipped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.skipped
}

func (r *Recorder) Skip(args ...any) {
	r.Log(args...)
	r.mu.Lock()
	r.skipped = true
	r.mu.Unlock()
	runtime.Goexit()
}

func (r *Recorder) Skipf(format string, args ...any) { r.Skip(fmt.Sprintf(format, args...)) }

func (r *Recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *Recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

func (r *Recorder) Helper() {}

func (r *Recorder) Name() string { return "recorder" }

func (r *Recorder) Context() context.Context { return r.ctx }

func (r *Recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}
