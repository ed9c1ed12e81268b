package storetest

import (
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func stateRules() []rule {
	return []rule{
		withStore("missing", "A key without a value is nil.", func(s *store) {
			s.hasNo("missing")
			s.swapFails("missing", []byte("something"), []byte("other"))
			s.swapFails("missing", []byte("something"), nil)
		}),
		withStore("swap", "Swap creates, replaces and deletes; with another old value it is ErrConflict and changes nothing.", func(s *store) {
			one, two := []byte("one"), pattern(100_000, 7)
			s.swap("k", nil, one)
			s.Same(one, s.state("k"), "created value")
			s.swapFails("k", nil, two)
			s.swapFails("k", two, one)
			s.swapFails("k", two, nil)
			s.swap("k", one, two)
			s.Same(two, s.state("k"), "replaced value")
			s.swapFails("k", one, two)
			s.swap("k", two, two)
			s.swap("k", two, nil)
			s.hasNo("k")
			s.swapFails("k", two, one)
			s.swap("k", nil, one)
			s.Same(one, s.state("k"), "value created again")
		}),
		withStore("empty", "An empty value and no value are the same.", func(s *store) {
			empty := []byte{}
			s.swap("k", nil, nil)
			s.swap("k", empty, empty)
			s.swap("k", empty, []byte("one"))
			s.swapFails("k", empty, []byte("two"))
			s.swap("k", []byte("one"), empty)
			s.hasNo("k")
			s.swap("k", nil, []byte("two"))
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
					if v == "" {
						w.hasNo(key)
					}
					w.Same(v, string(w.state(key)), "value of %s", key)
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

// swapFails checks that a Swap is a conflict that changes nothing.
func (s *store) swapFails(key string, old, new []byte) {
	s.Helper()
	before := string(s.state(key))
	s.Is(s.Swap(s.Ctx, key, old, new), websync.ErrConflict, "Swap of %q from %.60q, which is %.60q", key, old, before)
	s.Same(before, string(s.state(key)), "value after a conflict")
}

func (s *store) hasNo(key string) {
	s.Helper()
	if v := s.state(key); v != nil {
		s.Errorf("State of %q: got %.60q, want nil", key, v)
	}
}
