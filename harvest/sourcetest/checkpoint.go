package sourcetest

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/websync-go/websync/harvest"
)

func checkpointCases() []rule {
	return []rule{
		{Name: "unreadable", Rule: "A Source that meets a checkpoint that it can't read, or of another Version, makes a full pass.", Check: checkpointUnreadable},
		{Name: "damaged", Rule: "A checkpoint with a part missing is no error, whatever it is taken for.", Check: checkpointDamaged},
		{Name: "finds-all", Rule: "A run from the checkpoint of an earlier state finds everything that a pass from the beginning finds.", Check: checkpointFindsAll},
		{Name: "unchanged", Rule: "Harvesting what has not changed changes nothing in the Store, and asks for no more than the time before.", Check: checkpointUnchanged},
	}
}

// checkpoint returns the one that a pass over a state gives. It skips the case if there
// is none.
func (t *tester) checkpoint(state int) harvest.Checkpoint {
	t.Helper()
	at := t.listen(pass{state: state}).resume(harvest.Checkpoint{})
	if at.IsZero() {
		t.Skip("not checked: the Source gives no checkpoint")
	}
	return at
}

func checkpointUnreadable(t *tester) {
	for state := range t.states() {
		sound := t.checkpoint(state)
		want := t.listen(pass{state: state})
		for _, bad := range []harvest.Checkpoint{
			{Version: sound.Version + 1000, Data: sound.Data},
			{Version: sound.Version + 1, Data: sound.Data},
			{Version: -1, Data: sound.Data},
			{Version: sound.Version, Data: []byte("\xff\x00 not a checkpoint \xfe")},
			{Version: sound.Version, Data: bytes.Repeat([]byte{0xff}, 64)},
			{Version: sound.Version},
			{Data: []byte("{")},
		} {
			what := fmt.Sprintf("%s from a checkpoint of version %d, %.20q", stateName(state), bad.Version, bad.Data)
			got := t.listen(pass{state: state, from: bad})
			if d := differ(want, got); d != "" {
				t.Fatalf("%s: not the full pass: %s", what, d)
			}
		}
	}
}

func checkpointDamaged(t *tester) {
	for state := range t.states() {
		sound := t.checkpoint(state)
		for _, n := range t.positions(len(sound.Data)) {
			from := harvest.Checkpoint{Version: sound.Version, Data: sound.Data[:n-1]}
			l := t.listen(pass{state: state, from: from})
			if l.err != nil {
				t.Fatalf("%s, of which %d of %d bytes are there: %v", l.name, n-1, len(sound.Data), l.err)
			}
		}
	}
}

func checkpointFindsAll(t *tester) {
	if t.states() < 2 {
		t.Skip("not checked: there is one state only")
	}
	p := t.target(1)
	for state := 1; state < t.states(); state++ {
		p.undisturbed(state)
		fresh := t.target(0)
		fresh.undisturbed(state)
		if d := p.lacks(fresh.contents().live()); d != "" {
			t.Fatalf("%s, harvested after the states before it: %s", stateName(state), d)
		}
	}
}

func checkpointUnchanged(t *tester) {
	for state := range t.states() {
		p := t.target(state)
		first := p.undisturbed(state)
		numbers, before := p.numbers(), p.contents()
		asked := t.listen(pass{state: state}).lists.Exchanges() // by a full pass
		for range 2 {
			again := p.undisturbed(state)
			if d := diffMap("number", numbers, p.numbers()); d != "" {
				t.Fatalf("%s again: %s", stateName(state), d)
			}
			if d := before.diff(p.contents()); d != "" {
				t.Fatalf("%s again: %s", stateName(state), d)
			}
			if len(again.lists) > len(asked) || received(again.lists) > received(asked) {
				t.Fatalf("%s again: the Source asked for more than the time before.\nNow:%s\nBefore:%s", stateName(state), list(again.lists), list(asked))
			}
			asked = again.lists
			if len(again.bodies) > len(first.bodies) && state == 0 {
				t.Fatalf("%s again: more bodies were asked for than the first time.\nNow:%s\nFirst:%s", stateName(state), list(again.bodies), list(first.bodies))
			}
		}
	}
}

// received counts the answers that brought a document.
func received(xs []Exchange) (n int) {
	for _, x := range xs {
		if x.Status == 200 {
			n++
		}
	}
	return n
}

// list returns exchanges, one a line.
func list(xs []Exchange) string {
	var b strings.Builder
	for _, x := range xs {
		fmt.Fprintf(&b, "\n%d %s", x.Status, x.URL)
	}
	return b.String()
}
