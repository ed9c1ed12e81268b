package sourcetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

func identityCases() []rule {
	return []rule{
		{Name: "key", Rule: "Key is not empty and stays the same: for another Source of the same configuration, and before, during and after a pass.", Check: identityKey},
		{Name: "again", Rule: "Events of one Source can be ranged over again, also after a break, and yields the same.", Check: identityAgain},
		{Name: "at-once", Rule: "Two Sources of the same configuration can be ranged over at the same time; each yields the same.", Check: identityAtOnce},
		{Name: "inside", Rule: "Inside the loop over one Source another can be walked: no lock is held across a yield.", Check: identityInside},
	}
}

func identityKey(t *tester) {
	s := t.source()
	key := s.Key()
	if key == "" {
		t.Fatal("the key is empty")
	}
	if other := t.source().Key(); other != key {
		t.Errorf("another Source has the key %.100q, not %.100q", other, key)
	}
	for state := range t.states() {
		t.listen(pass{state: state, source: s, each: func(*recording, *harvest.Event) error {
			if now := s.Key(); now != key {
				return fmt.Errorf("during a pass the key is %.100q, not %.100q", now, key)
			}
			return nil
		}})
	}
	if now := s.Key(); now != key {
		t.Errorf("after a pass the key is %.100q, not %.100q", now, key)
	}
}

func identityAgain(t *tester) {
	for state := range t.states() {
		want := t.listen(pass{state: state})
		s := t.source()
		for _, stop := range []int{0, 1, 1 + len(want.events)/2} {
			t.listen(pass{state: state, source: s, stop: stop})
			if d := differ(want, t.listen(pass{state: state, source: s})); d != "" {
				t.Fatalf("%s, the same Source again: %s", stateName(state), d)
			}
		}
	}
}

func identityAtOnce(t *tester) {
	const n = 4
	for state := range t.states() {
		want := t.listen(pass{state: state})
		var begun sync.WaitGroup
		begun.Add(n)
		// at the first event, so that they are under way together
		meet := func(l *recording, _ *harvest.Event) error {
			if len(l.events) > 1 {
				return nil
			}
			begun.Done()
			return t.Await(func() error { begun.Wait(); return nil })
		}
		err := suite.Together(n, func(int) error {
			got, err := t.tryListen(pass{state: state, each: meet})
			if err != nil {
				return err
			}
			if d := differ(want, got); d != "" {
				return errors.New(d)
			}
			return nil
		})
		t.OK(err, "%s, several Sources at once", stateName(state))
	}
}

func identityInside(t *tester) {
	for state := range t.states() {
		want := t.listen(pass{state: state})
		last := len(want.events)
		t.listen(pass{state: state, each: func(l *recording, _ *harvest.Event) error {
			if n := len(l.events); n != 1 && n != 1+last/2 && n != last {
				return nil
			}
			inner := &tester{Tester: t.Tester, options: t.options, state: t.state}
			inner.Patience /= 2
			got, err := inner.tryListen(pass{state: state})
			if err != nil {
				return fmt.Errorf("another Source inside the loop: %w", err)
			}
			if d := differ(want, got); d != "" {
				return errors.New("another Source inside the loop: " + d)
			}
			return nil
		}})
	}
}
