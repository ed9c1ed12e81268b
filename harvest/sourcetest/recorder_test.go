package sourcetest_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest/sourcetest"
)

// A recorder is a testing.TB that notes what a case says of a Source. Methods that no case may use are those of a nil TB.
type recorder struct {
	testing.TB
	ctx context.Context

	mu              sync.Mutex
	failed, skipped bool
	said            []string
}

// record runs a case to its end and returns what came of it.
func record(ctx context.Context, c sourcetest.Case, o sourcetest.Options) *recorder {
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
	case <-time.After(60 * time.Second):
		r.Fail()
		r.Log("the case does not come to its end")
	}
	return r
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.said, "\n")
}

// panicked reports whether the case itself has panicked.
func (r *recorder) panicked() bool { return strings.Contains(r.String(), "\npanic: ") }

func (r *recorder) Log(args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprint(args...))
}

func (r *recorder) Fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *recorder) Error(args ...any) {
	r.Log(args...)
	r.Fail()
}

func (r *recorder) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }

func (r *recorder) Skip(args ...any) {
	r.Log(args...)
	r.mu.Lock()
	r.skipped = true
	r.mu.Unlock()
	runtime.Goexit()
}

func (r *recorder) Helper() {}

func (r *recorder) Context() context.Context { return r.ctx }
