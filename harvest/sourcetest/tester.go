package sourcetest

import (
	"fmt"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

// noDocument is why some cases are skipped.
const noDocument = "not checked: the Source reads no document through its Fetcher that may fail"

// A tester is one case at work.
type tester struct {
	suite.Tester
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

// soon reports whether cond becomes true while there is patience.
func (t *tester) soon(cond func() bool) bool {
	end := time.Now().Add(t.Patience)
	for wait := 50 * time.Microsecond; !cond(); wait = min(2*wait, 20*time.Millisecond) {
		if time.Now().After(end) || t.Ctx.Err() != nil {
			return false
		}
		time.Sleep(wait)
	}
	return true
}

// positions chooses from 1 to n, the first and the last among them.
func (t *tester) positions(n int) []int {
	most := t.options.Positions
	if most < 0 || most > n {
		most = n
	}
	chosen := make([]int, most)
	for i := range chosen {
		chosen[i] = 1 + i*(n-1)/max(1, most-1)
	}
	return chosen
}

// chosen returns at most as many of all as there are positions.
func chosen[V any](t *tester, all []V) []V {
	some := make([]V, 0, len(all))
	for _, i := range t.positions(len(all)) {
		some = append(some, all[i-1])
	}
	return some
}
