package sourcetest

import (
	"bytes"
	"fmt"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

// fromBeginning makes a pass over a state. It skips the case if that gives no checkpoint.
func (t *tester) fromBeginning(state int) (*recording, harvest.Checkpoint) {
	t.Helper()
	l := t.listen(pass{state: state})
	if l.resume().IsZero() {
		t.Skip("not checked: the Source gives no checkpoint")
	}
	return l, l.resume()
}

var checkpointRules = []rule{
	newRule("unreadable", "A Source that gets a checkpoint that it can't read, or of another Version, makes a full pass.",
		func(t *tester) {
			for state := range t.options.Sites {
				want, sound := t.fromBeginning(state)
				for _, bad := range []harvest.Checkpoint{
					{Version: sound.Version + 1000, Data: sound.Data},
					{Version: sound.Version + 1, Data: sound.Data},
					{Version: -1, Data: sound.Data},
					{Version: sound.Version, Data: []byte("\xff\x00 not a checkpoint \xfe")},
					{Version: sound.Version, Data: bytes.Repeat([]byte{0xff}, 64)},
					{Version: sound.Version},
					{Data: []byte("{")},
				} {
					what := fmt.Sprintf(" of version %d, %.20q", bad.Version, bad.Data)
					l := t.listen(pass{state: state, from: bad, what: what})
					if d := differ(want, l); d != "" {
						t.Fatalf("%s: not the full pass: %s", l.name, d)
					}
				}
			}
		}),
	newRule("damaged", "A checkpoint with a part missing is no error, whatever the Source reads it as.", func(t *tester) {
		for state := range t.options.Sites {
			_, sound := t.fromBeginning(state)
			for _, n := range t.positions(len(sound.Data)) {
				from := harvest.Checkpoint{Version: sound.Version, Data: sound.Data[:n-1]}
				l := t.listen(pass{state: state, from: from, what: fmt.Sprintf(" cut to %d of %d bytes", n-1, len(sound.Data))})
				t.OK(l.err, "%s", l.name)
			}
		}
	}),
	newRule("finds-all", "A run from the checkpoint of an earlier state finds everything that a pass from the beginning "+
		"finds.",
		func(t *tester) {
			if len(t.options.Sites) < 2 {
				t.Skip("not checked: there is one state only")
			}
			p := t.target(1)
			for state := 1; state < len(t.options.Sites); state++ {
				p.undisturbed(state)
				p.holds(state, "harvested after the states before it")
			}
		}),
	newRule("unchanged", "Harvesting what has not changed changes nothing in the Store, and requests no more than the time "+
		"before.",
		func(t *tester) {
			for state := range t.options.Sites {
				p := t.target(state)
				first := p.undisturbed(state)
				last, before := p.last(), p.contents()
				lists := t.listen(pass{state: state}).lists.Exchanges() // of a full pass
				for range 2 {
					again := p.undisturbed(state)
					if d := suite.Diff(before, p.contents()); d != "" || p.last() != last {
						t.Fatalf("%s again: the log ends at %d, want %d; %s", stateName(state), p.last(), last, d)
					}
					if len(again.lists) > len(lists) || received(again.lists) > received(lists) {
						t.Fatalf("%s again: the Source requested %v, and the time before %v",
							stateName(state), again.lists, lists)
					}
					lists = again.lists
					if len(again.bodies) > len(first.bodies) && state == 0 {
						t.Fatalf("%s again: the bodies %v were requested, and the first time %v",
							stateName(state), again.bodies, first.bodies)
					}
				}
			}
		}),
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
