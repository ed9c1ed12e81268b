package suite

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

// A Tester runs one case.
type Tester struct {
	testing.TB
	Ctx      context.Context
	Patience time.Duration // how long a call may take before it counts as blocked
}

// NewTester returns a Tester. If patience is zero, it is a minute.
func NewTester(t testing.TB, patience time.Duration) Tester {
	if patience == 0 {
		patience = time.Minute
	}
	return Tester{TB: t, Ctx: t.Context(), Patience: patience}
}

// OK ends the case if err is not nil.
func (t *Tester) OK(err error, what string, args ...any) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", fmt.Sprintf(what, args...), err)
	}
}

// Is ends the case if err is not want.
func (t *Tester) Is(err, want error, what string, args ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: got the error %s, want %s", fmt.Sprintf(what, args...), text(err), text(want))
	}
}

func text(err error) string {
	if err == nil {
		return "nil"
	}
	return fmt.Sprintf("%q", err)
}

// Same reports where got differs from want.
func (t *Tester) Same(want, got any, what string, args ...any) {
	t.Helper()
	if d := Diff(want, got); d != "" {
		t.Errorf("%s%s", fmt.Sprintf(what, args...), d)
	}
}

// ErrorIf reports what is wrong if wrong is true.
func (t *Tester) ErrorIf(wrong bool, what string, args ...any) {
	t.Helper()
	if wrong {
		t.Errorf(what, args...)
	}
}

// FatalIf ends the case with what is wrong if wrong is true.
func (t *Tester) FatalIf(wrong bool, what string, args ...any) {
	t.Helper()
	if wrong {
		t.Fatalf(what, args...)
	}
}

// Exactly returns vs. It ends the case if there are not n of them, since the caller goes
// on to use all n.
func Exactly[V any](t testing.TB, n int, vs []V, what string) []V {
	t.Helper()
	if len(vs) != n {
		t.Fatalf("%s: got %d, want %d", what, len(vs), n)
	}
	return vs
}

// ErrBlocked is the error of what takes longer than a Tester's patience. It goes on: what
// it uses must not be read.
var ErrBlocked = errors.New("blocked")

// Await returns what f returns, or an error that matches ErrBlocked.
func (t *Tester) Await(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- Safely(f) }()
	patience := time.NewTimer(t.Patience)
	defer patience.Stop()
	select {
	case err := <-done:
		return err
	case <-patience.C:
		return fmt.Errorf("%w for %v", ErrBlocked, t.Patience)
	}
}

// Within ends the case if f fails or takes too long. f runs in a goroutine of its own, so
// it returns its error instead of failing.
func (t *Tester) Within(what string, f func() error) {
	t.Helper()
	t.OK(t.Await(f), "%s", what)
}

// Together runs n functions at once and waits for all of them.
func (t *Tester) Together(n int, f func(i int) error) {
	t.Helper()
	t.Within("several goroutines at once", func() error { return Together(n, f) })
}

// Together runs n functions at once and returns their errors, joined.
func Together(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = Safely(func() error { return f(i) }) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Safely calls f and returns a panic of it as an error, which ends the case and not the
// process.
func Safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
