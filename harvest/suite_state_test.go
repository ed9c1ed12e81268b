package harvest_test

import (
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func stateRules() []rule {
	return []rule{
		withStore("swap", "Swap creates, replaces and deletes; with another old value it is ErrConflict and changes nothing. A value that is missing or empty is nil.", func(s *store) {
			none, empty, one, two := []byte(nil), []byte{}, []byte("one"), pattern(100_000, 7)
			held := none
			for i, step := range []struct {
				old, new []byte
				want     error
			}{
				{one, two, websync.ErrConflict}, {one, none, websync.ErrConflict}, {none, one, nil},
				{none, two, websync.ErrConflict}, {two, one, websync.ErrConflict}, {two, none, websync.ErrConflict}, {one, two, nil},
				{one, two, websync.ErrConflict}, {two, two, nil}, {one, one, websync.ErrConflict}, {two, none, nil}, {one, one, websync.ErrConflict}, {two, one, websync.ErrConflict},
				{none, none, nil}, {empty, empty, nil}, {empty, one, nil}, {empty, two, websync.ErrConflict}, {one, empty, nil}, {none, two, nil},
			} {
				s.isState("k", held)
				s.Is(s.Swap(s.Ctx, "k", step.old, step.new), step.want, "Swap %d", i+1)
				if step.want == nil {
					held = step.new
				}
				s.isState("k", held)
			}
		}),
		withStore("keys", "Keys are any bytes, and each has its own value.", func(s *store) {
			keys := append(oddIDs(), "")
			for i, key := range keys {
				s.swap(key, nil, fmt.Append(nil, i))
			}
			for i, key := range keys {
				s.Same(fmt.Sprint(i), string(s.state(key)), "value of %.60q", key)
			}
		}),
		withStore("one-winner", "Of several Swaps at once from the same old value one succeeds.", func(s *store) {
			var old []byte
			for round := range 5 {
				value := func(i int) []byte { return fmt.Appendf(nil, "%d %d", round, i) }
				winner := s.oneWinner(6, "Swaps from the same value", func(i int) (bool, error) {
					return won(s.Swap(s.Ctx, "k", old, value(i)), websync.ErrConflict)
				})
				old = value(winner)
				s.Same(string(old), string(s.state("k")), "value after the Swap that succeeded")
			}
		}),
		withWriter("batch", "A Batch sets and deletes values whatever they are, together with the rest or not at all.", func(w *writer) {
			w.swap("kept", nil, []byte("kept"))
			for _, key := range []string{"replaced", "deleted", "emptied"} {
				w.swap(key, nil, []byte("old"))
			}
			b := w.batch(harvest.Batch{
				State: map[string][]byte{"created": []byte("new"), "replaced": []byte("new"), "deleted": nil, "emptied": {}, "never": nil},
				Puts:  []harvest.Change{change(uri1, 7, websync.Updated, "")},
			})
			is := func(want map[string]string) {
				w.Helper()
				for key, v := range want {
					w.isState(key, []byte(v))
				}
			}
			w.conflict(b, uri1)
			is(map[string]string{"kept": "kept", "created": "", "replaced": "old", "deleted": "old", "emptied": "old", "never": ""})
			b.Puts = nil
			w.apply(b)
			is(map[string]string{"kept": "kept", "created": "new", "replaced": "new", "deleted": "", "emptied": "", "never": ""})
			w.swap("created", []byte("new"), []byte("newer"))
			w.swap("deleted", nil, []byte("back"))
		}),
		withStore("arguments", "Neither the arguments nor the result are shared with the Store.", func(s *store) {
			v := []byte("value")
			s.swap("k", nil, v)
			copy(v, "spoil")
			got := s.state("k")
			s.Same("value", string(got), "value, after the argument was changed")
			copy(got, "spoil")
			s.Same("value", string(s.state("k")), "value, after the result was changed")
		}),
	}
}

// isState checks the value of a key: nil if want is empty.
func (s *store) isState(key string, want []byte) {
	s.Helper()
	got := s.state(key)
	s.Same(want, got, "value of %q", key)
	s.ErrorIf(len(want) == 0 && got != nil, "the missing value of %q is empty, want nil", key)
}
