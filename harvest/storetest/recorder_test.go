package storetest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest/storetest"
)

// A recorder is a testing.TB that notes what a case says of a Store. Methods that no case may use are those of a nil TB.
type recorder struct {
	testing.TB
	ctx context.Context

	mu              sync.Mutex
	failed, skipped bool
	said            []string
	cleanups        []func()
}

// record runs a case to its end and returns what came of it.
func record(ctx context.Context, c storetest.Case, o storetest.Options) *recorder {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &recorder{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(r, o)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second): // a broken store may well stand still
		r.Errorf("the case does not come to its end")
		return r
	}
	for _, f := range r.cleanups {
		defer f()
	}
	return r
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.said, "\n")
}

// panicked reports whether the case has looked at what was not there.
func (r *recorder) panicked() bool { return strings.Contains(r.String(), "panic: ") }

func (r *recorder) Log(args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprint(args...))
}

func (r *recorder) Errorf(format string, args ...any) {
	r.Log(fmt.Sprintf(format, args...))
	r.Fail()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.FailNow()
}

func (r *recorder) Fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *recorder) FailNow() {
	r.Fail()
	runtime.Goexit()
}

func (r *recorder) Skip(args ...any) {
	r.Log(args...)
	r.mu.Lock()
	r.skipped = true
	r.mu.Unlock()
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) { r.Skip(fmt.Sprintf(format, args...)) }

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

func (r *recorder) Helper() {}

func (r *recorder) Name() string { return "recorder" }

func (r *recorder) Context() context.Context { return r.ctx }

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}
