package sourcetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

func byteCases() []rule {
	return []rule{
		{Name: "open", Rule: "Bytes that come along with an event can be opened again and by several at once, until the yield of the next Mark returns, or after the pass if there is none.", Check: byteOpen},
		{Name: "stated", Rule: "Bytes that come along have the length and the digests that the event states.", Check: byteStated},
	}
}

func byteOpen(t *tester) {
	t.eachOpen(func(l *recording, open map[int][]byte, now int) error {
		some := slices.Sorted(maps.Keys(open))
		return suite.Together(len(some), func(k int) error {
			i := some[k]
			if err := openAgain(&l.events[i], open[i]); err != nil {
				return fmt.Errorf("the bytes of event %d, after event %d: %w", i+1, now, err)
			}
			return nil
		})
	})
}

// eachOpen walks the plain passes and reads the bytes of every event that has some, at
// once. It calls again at every Mark, and after the pass, with those that must still be
// there, by the index of their event.
func (t *tester) eachOpen(again func(l *recording, open map[int][]byte, now int) error) {
	t.Helper()
	any := false
	var before harvest.Checkpoint
	for state := range t.states() {
		open := map[int][]byte{}
		l := t.listen(pass{state: state, from: before, each: func(l *recording, ev *harvest.Event) error {
			n := len(l.events)
			if ev.Open != nil {
				any = true
				data, err := readAll(ev)
				if err != nil {
					return fmt.Errorf("the bytes of event %d: %w", n, err)
				}
				open[n-1] = data
			}
			if ev.Kind != harvest.Mark {
				return nil
			}
			err := again(l, open, n)
			clear(open)
			return err
		}})
		t.OK(again(l, open, len(l.events)), "%s", l.name)
		before = l.resume(before)
	}
	if !any {
		t.Skip("not checked: no event brings bytes along")
	}
}

func readAll(ev *harvest.Event) ([]byte, error) {
	r, err := ev.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

// openAgain reads the bytes of an event twice, the second time while the first is under
// way.
func openAgain(ev *harvest.Event, want []byte) error {
	first, err := ev.Open()
	if err != nil {
		return err
	}
	defer first.Close()
	head := make([]byte, len(want)/2)
	if _, err := io.ReadFull(first, head); err != nil {
		return err
	}
	whole, err := readAll(ev)
	if err != nil {
		return err
	}
	rest, err := io.ReadAll(first)
	if err != nil {
		return err
	}
	if !bytes.Equal(whole, want) || !bytes.Equal(append(head, rest...), want) {
		return errors.New("they are not what they were at first")
	}
	return nil
}

func byteStated(t *tester) {
	t.eachOpen(func(l *recording, open map[int][]byte, _ int) error {
		for i, data := range open {
			_, err := io.Copy(io.Discard, l.events[i].Resource.Content.Verify(bytes.NewReader(data)))
			if err != nil {
				return fmt.Errorf("the bytes of event %d: %w", i+1, err)
			}
		}
		return nil
	})
}
