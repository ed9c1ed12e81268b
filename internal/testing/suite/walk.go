package suite

import (
	"context"
	"fmt"
	"iter"
)

// A Walk is an iterator under test, reduced to the ids that it yields.
type Walk struct {
	Name string
	IDs  func(ctx context.Context) iter.Seq2[string, error]
	Want []string // what it yields first; the rest is not checked
}

// IDs reduces an iterator to the ids of its values.
func IDs[V any](seq iter.Seq2[V, error], id func(V) string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		seq(func(v V, err error) bool { return yield(id(v), err) })
	}
}

// Collect returns what seq yields.
func Collect[V any](t *Tester, what string, seq iter.Seq2[V, error]) []V {
	t.Helper()
	var vs []V
	for v, err := range seq {
		t.OK(err, "%s", what)
		vs = append(vs, v)
	}
	return vs
}

// Inside calls use in every step of every loop.
func (t *Tester) Inside(walks []Walk, use func(round string) error) {
	t.Helper()
	for _, walk := range walks {
		n := 0
		for id, err := range walk.IDs(t.Ctx) {
			t.OK(err, "%s", walk.Name)
			if n == len(walk.Want) {
				break // the loop itself has added the rest
			}
			if id != walk.Want[n] {
				t.Fatalf("%s yields %q, want %q", walk.Name, id, walk.Want[n])
			}
			n++
			t.Within("all methods inside a loop of "+walk.Name, func() error { return use(fmt.Sprint(walk.Name, n)) })
		}
		if n < len(walk.Want) {
			t.Errorf("%s yields %d, want at least %d", walk.Name, n, len(walk.Want))
		}
	}
}

// Paused calls use while each loop is paused after its first step, and then continues the
// loop.
func (t *Tester) Paused(walks []Walk, use func(round string) error) {
	t.Helper()
	for _, walk := range walks {
		t.pause(walk, use)
	}
}

func (t *Tester) pause(walk Walk, use func(round string) error) {
	t.Helper()
	next, stop := iter.Pull2(walk.IDs(t.Ctx))
	defer stop()
	for n, want := range walk.Want {
		id, err, more := next()
		t.OK(err, "%s", walk.Name)
		if !more || id != want {
			t.Errorf("%s goes on with %q, want %q", walk.Name, id, want)
		}
		if n == 0 {
			t.Within("all methods, while a loop of "+walk.Name+" is paused", func() error { return use("paused " + walk.Name) })
		}
	}
}

// Nested runs the loops inside one another, eight times over, and calls use inside the
// innermost.
func (t *Tester) Nested(walks []Walk, use func(round string) error) {
	t.Helper()
	var dozens []Walk
	for range 8 {
		dozens = append(dozens, walks...)
	}
	t.Within("all methods inside dozens of loops", func() error { return t.nest(dozens, use) })
}

func (t *Tester) nest(loops []Walk, use func(round string) error) error {
	if len(loops) == 0 {
		return use("many")
	}
	walk, n := loops[0], 0
	for id, err := range walk.IDs(t.Ctx) {
		if err == nil && n == 0 {
			err = t.nest(loops[1:], use)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", walk.Name, err)
		}
		if n < len(walk.Want) && id != walk.Want[n] {
			return fmt.Errorf("%s: got %q, want %q", walk.Name, id, walk.Want[n])
		}
		n++
	}
	if n < len(walk.Want) {
		return fmt.Errorf("%s ended after %d of %d", walk.Name, n, len(walk.Want))
	}
	return nil
}

// BrokenOff breaks out of many loops in their first step, and then calls use.
func (t *Tester) BrokenOff(walks []Walk, use func(round string) error) {
	t.Helper()
	t.Within("breaking out of many loops", func() error {
		for range 30 {
			for _, walk := range walks {
				steps := 0
				var err error
				walk.IDs(t.Ctx)(func(_ string, e error) bool {
					steps++
					err = e
					return false
				})
				if err != nil || steps != 1 {
					return fmt.Errorf("%s: %d steps of a loop that breaks in its first, error %w", walk.Name, steps, err)
				}
			}
		}
		return nil
	})
	t.Within("all methods after loops that ended in a break", func() error { return use("break") })
}

// TwiceAtOnce runs each loop inside itself.
func (t *Tester) TwiceAtOnce(walks []Walk) {
	t.Helper()
	for _, walk := range walks {
		var seen []string
		for outer, err := range walk.IDs(t.Ctx) {
			t.OK(err, "%s", walk.Name)
			seen = append(seen, outer)
			t.Same(walk.Want, Collect(t, walk.Name, walk.IDs(t.Ctx)), "%s inside itself, at %q", walk.Name, outer)
		}
		t.Same(walk.Want, seen, "%s with loops of its own kind inside", walk.Name)
	}
}

// Cancelled ends the context of each loop in its first step, and then calls use.
func (t *Tester) Cancelled(walks []Walk, use func(round string) error) {
	t.Helper()
	for _, walk := range walks {
		ctx, cancel := context.WithCancel(t.Ctx)
		var ended error
		n := 0
		for id, err := range walk.IDs(ctx) {
			if ended != nil {
				t.Fatalf("%s yields %q after the error %v", walk.Name, id, ended)
			}
			ended = err
			n++
			cancel()
		}
		cancel()
		if ended == nil && n < len(walk.Want) {
			t.Errorf("%s ended after %d of %d without an error", walk.Name, n, len(walk.Want))
		}
	}
	t.Within("all methods after loops whose context ended", func() error { return use("context") })
}
