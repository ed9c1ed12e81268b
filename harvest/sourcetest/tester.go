package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
)

// noDocument is why some cases are skipped.
const noDocument = "not checked: the Source reads no document through its Fetcher that may fail"

// A tester is one case at work.
type tester struct {
	testing.TB
	ctx     context.Context
	options Options
	state   int // that the publisher is in; -1: none yet
}

// source returns a new Source.
func (t *tester) source() harvest.Source {
	t.Helper()
	s := t.options.Source()
	if s == nil {
		t.Fatal("there is no Source")
	}
	return s
}

// enter brings the publisher into a state.
func (t *tester) enter(state int) {
	if t.state == state {
		return
	}
	if t.options.Enter != nil {
		t.options.Enter(t.TB, state)
	}
	t.state = state
}

// states returns how many there are.
func (t *tester) states() int { return len(t.options.Sites) }

// stateName returns what messages call a state.
func stateName(state int) string { return fmt.Sprintf("state %d", state+1) }

// ok ends the case if err is not nil.
func (t *tester) ok(err error, what string, args ...any) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", fmt.Sprintf(what, args...), err)
	}
}

// await returns what f returns. It is an error if f takes longer than the suite's patience.
func (t *tester) await(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- safely(f) }()
	patience := time.NewTimer(t.options.Patience)
	defer patience.Stop()
	select {
	case err := <-done:
		return err
	case <-patience.C:
		return fmt.Errorf("blocked for %v", t.options.Patience)
	}
}

// soon reports whether cond becomes true while there is patience.
func (t *tester) soon(cond func() bool) bool {
	end := time.Now().Add(t.options.Patience)
	for wait := 50 * time.Microsecond; !cond(); wait = min(2*wait, 20*time.Millisecond) {
		if time.Now().After(end) || t.ctx.Err() != nil {
			return false
		}
		time.Sleep(wait)
	}
	return true
}

// safely returns a panic of f as an error, so that it ends the case and not the process.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// together runs n functions at once and waits for all of them.
func together(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = safely(func() error { return f(i) }) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// places chooses from 1 to n, the first and the last among them.
func (t *tester) places(n int) []int {
	most := t.options.Places
	if most < 0 || most > n {
		most = n
	}
	chosen := make([]int, most)
	for i := range chosen {
		chosen[i] = 1 + i*(n-1)/max(1, most-1)
	}
	return chosen
}

// chosen returns at most as many of all as there are places.
func chosen[V any](t *tester, all []V) []V {
	some := make([]V, 0, len(all))
	for _, i := range t.places(len(all)) {
		some = append(some, all[i-1])
	}
	return some
}
