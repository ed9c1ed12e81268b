package storetest

import (
	"errors"
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func stateCases() []rule {
	return []rule{
		{Name: "missing", Rule: "A key without a value is nil.", Check: stateMissing},
		{Name: "swap", Rule: "Swap creates, replaces and deletes; with another old value it is ErrConflict and changes nothing.", Check: stateSwap},
		{Name: "empty", Rule: "An empty value and no value are the same.", Check: stateEmpty},
		{Name: "keys", Rule: "Keys are any bytes, and each has its own value.", Check: stateKeys},
		{Name: "one-winner", Rule: "Of several Swaps at once from the same old value one succeeds.", Check: stateOneWinner},
		{Name: "batch", Rule: "A Batch sets and deletes values whatever they are, together with the rest or not at all.", Check: stateBatch},
		{Name: "arguments", Rule: "Neither the arguments nor the result are shared with the Store.", Check: stateArguments},
	}
}

func (s *store) conflict(key string, old, new []byte) {
	s.t.Helper()
	before := string(s.state(key))
	s.t.Is(s.Swap(s.t.Ctx, key, old, new), websync.ErrConflict, "Swap of %q from %q, which is %q", key, old, before)
	s.t.Same(before, string(s.state(key)), "value after a conflict")
}

func stateMissing(t *tester) {
	s := t.open()
	if v := s.state("missing"); v != nil {
		t.Errorf("got %q, want nil", v)
	}
	s.conflict("missing", []byte("something"), []byte("other"))
	s.conflict("missing", []byte("something"), nil)
}

func stateSwap(t *tester) {
	s := t.open()
	one, two := []byte("one"), pattern(100_000, 7)
	s.swap("k", nil, one)
	t.Same(one, s.state("k"), "created value")
	s.conflict("k", nil, two)
	s.conflict("k", two, one)
	s.conflict("k", two, nil)
	s.swap("k", one, two)
	t.Same(two, s.state("k"), "replaced value")
	s.conflict("k", one, two)
	s.swap("k", two, two)
	s.swap("k", two, nil)
	if v := s.state("k"); v != nil {
		t.Errorf("deleted value: got %q, want nil", v)
	}
	s.conflict("k", two, one)
	s.swap("k", nil, one)
	t.Same(one, s.state("k"), "value created again")
}

func stateEmpty(t *tester) {
	s := t.open()
	empty := []byte{}
	s.swap("k", nil, nil)
	s.swap("k", empty, empty)
	s.swap("k", empty, []byte("one"))
	s.conflict("k", empty, []byte("two"))
	s.swap("k", []byte("one"), empty)
	if v := s.state("k"); v != nil {
		t.Errorf("value that was set to nothing: got %q, want nil", v)
	}
	s.swap("k", nil, []byte("two"))
}

func stateKeys(t *tester) {
	s := t.open()
	keys := append(oddIDs(), "")
	for i, key := range keys {
		s.swap(key, nil, fmt.Append(nil, i))
	}
	for i, key := range keys {
		t.Same(fmt.Sprint(i), string(s.state(key)), "value of %.60q", key)
	}
}

func stateOneWinner(t *tester) {
	s := t.open()
	var old []byte
	for round := range 5 {
		const n = 6
		won := make([]bool, n)
		t.Together(n, func(i int) error {
			err := s.Swap(t.Ctx, "k", old, fmt.Appendf(nil, "%d %d", round, i))
			won[i] = err == nil
			if errors.Is(err, websync.ErrConflict) {
				return nil
			}
			return err
		})
		winners, now := 0, s.state("k")
		for i, w := range won {
			if !w {
				continue
			}
			winners++
			if want := fmt.Sprintf("%d %d", round, i); string(now) != want {
				t.Errorf("%q has won, but the value is %q", want, now)
			}
		}
		if winners != 1 {
			t.Fatalf("%d of %d Swaps from the same value succeeded", winners, n)
		}
		old = now
	}
}

func stateBatch(t *tester) {
	w := t.open().writer("a")
	w.swap("kept", nil, []byte("kept"))
	w.swap("replaced", nil, []byte("old"))
	w.swap("deleted", nil, []byte("old"))
	w.swap("emptied", nil, []byte("old"))
	b := w.batch()
	b.State = map[string][]byte{
		"created": []byte("new"), "replaced": []byte("new"), "deleted": nil, "emptied": {}, "never": nil,
	}
	b.Puts = []harvest.Change{change(uri1, 7, websync.Updated, "")}
	is := func(want map[string]string) {
		t.Helper()
		for key, v := range want {
			got := w.state(key)
			if string(got) != v || v == "" && got != nil {
				t.Errorf("%s: got %q, want %q", key, got, v)
			}
		}
	}
	conflicts, err := w.Commit(t.Ctx, w.c, b)
	t.OK(err, "Commit")
	t.Same([]string{uri1}, conflicts, "conflicts")
	is(map[string]string{"kept": "kept", "created": "", "replaced": "old", "deleted": "old", "emptied": "old", "never": ""})
	b.Puts = nil
	w.apply(b)
	is(map[string]string{"kept": "kept", "created": "new", "replaced": "new", "deleted": "", "emptied": "", "never": ""})
	w.swap("created", []byte("new"), []byte("newer"))
	w.swap("deleted", nil, []byte("back"))
}

func stateArguments(t *tester) {
	s := t.open()
	v := []byte("value")
	s.swap("k", nil, v)
	copy(v, "spoil")
	got := s.state("k")
	t.Same("value", string(got), "value, after the argument was changed")
	copy(got, "spoil")
	t.Same("value", string(s.state("k")), "value, after the result was changed")
}
