package sourcetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

var identityRules = []rule{
	newRule("key", "Key is not empty and stays the same: for another Source of the same configuration, and before, during "+
		"and after a pass.",
		func(t *tester) {
			s := t.options.Source()
			want := s.Key()
			check := func(s harvest.Source) error {
				if key := s.Key(); key == "" || key != want {
					return fmt.Errorf("the key is %.100q, was %.100q, and must not be empty", key, want)
				}
				return nil
			}
			t.OK(check(t.options.Source()), "another Source")
			for state := range t.options.Sites {
				t.listen(pass{state: state, source: s, each: func(*recording, *harvest.Event) error { return check(s) }})
			}
			t.OK(check(s), "after a pass")
		}),
	newRule("again", "Events of one Source can be ranged over again, also after a break, and yields the same.",
		func(t *tester) {
			for state := range t.options.Sites {
				want := t.listen(pass{state: state})
				s := t.options.Source()
				for _, stop := range []int{0, 1, 1 + len(want.events)/2} {
					t.listen(pass{state: state, source: s, stop: stop})
					if d := differ(want, t.listen(pass{state: state, source: s})); d != "" {
						t.Fatalf("%s, the same Source again: %s", stateName(state), d)
					}
				}
			}
		}),
	newRule("at-once", "Two Sources of the same configuration can be ranged over at the same time; each yields the same.",
		func(t *tester) {
			const n = 4
			for state := range t.options.Sites {
				want := t.listen(pass{state: state})
				var begun sync.WaitGroup
				begun.Add(n)
				// each pass waits at its first event until all have begun
				meet := func(l *recording, _ *harvest.Event) error {
					if len(l.events) > 1 {
						return nil
					}
					begun.Done()
					return t.Await(func() error { begun.Wait(); return nil })
				}
				err := suite.Together(n, func(int) error { return t.another(want, meet) })
				t.OK(err, "%s, several Sources at once", stateName(state))
			}
		}),
	newRule("inside", "Inside the loop over one Source another can be ranged over: no lock is held across a yield.",
		func(t *tester) {
			inner := *t
			inner.Patience /= 2
			for state := range t.options.Sites {
				want := t.listen(pass{state: state})
				inner.state = state
				last := len(want.events)
				t.listen(pass{state: state, each: func(l *recording, _ *harvest.Event) error {
					if n := len(l.events); n != 1 && n != 1+last/2 && n != last {
						return nil
					}
					if err := inner.another(want, nil); err != nil {
						return fmt.Errorf("another Source inside the loop: %w", err)
					}
					return nil
				}})
			}
		}),
}

// another makes a pass beside others and returns where it differs from want.
func (t *tester) another(want *recording, each func(*recording, *harvest.Event) error) error {
	got, err := t.tryListen(pass{state: want.state, each: each})
	if err != nil {
		return err
	}
	if d := differ(want, got); d != "" {
		return errors.New(d)
	}
	return nil
}
