package storetest

import (
	"fmt"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync/harvest"
)

// txWith returns r for Stores whose Txs have an optional interface.
func txWith[I any](r rule) rule {
	check := r.Check
	r.Check = func(t *tester) {
		var w harvest.Tx
		t.open().update(func(t *tx) { w = t.w })
		offered[I](t, w)
		check(t)
	}
	return r
}

var ownerName = regexp.MustCompile(`^[0-9A-Za-z]{0,30}$`)

var optionalRules = []rule{
	txWith[harvest.Prefetcher](withModel("prefetch", "After Prefetch, Get returns what the keys had, or what the same Tx has "+
		"written, before it or since.",
		"gp", "gsdpp", ".", 1)),
	txWith[harvest.Prefetcher](withModel("absent", "After Absent of a key that has no value, a Tx sets it as any other.",
		"gc", "gsdiic", ".", 1)),
	withTwo("rest", "Rest may be called at any time, also while others write, and changes nothing.", func(d, other *db) {
		rester := offered[harvest.Rester](d.tester, d.Store)
		d.Together(4, func(i int) (err error) {
			for n := 0; n < 10 && err == nil; n++ {
				if i < 2 {
					err = [...]*db{d, other}[i].Store.(harvest.Rester).Rest(d.Ctx)
				} else {
					err = other.tryUpdate(d.Ctx, func(t *tx) { t.set(fmt.Sprint(i), pattern(100_000+n, i)) })
				}
			}
			return err
		})
		other.update(func(t *tx) {
			t.set("a", "1")
			t.fail(d.Await(func() error { return rester.Rest(d.Ctx) }))
		})
		d.holds(pairs{"2": pattern(100_009, 2), "3": pattern(100_009, 3), "a": "1"})
		rested := false
		d.view(func(t *tx) {
			held := t.list(least, greatest)
			if t.err == nil && !rested {
				rested = true
				t.fail(other.tryUpdate(d.Ctx, func(t *tx) { t.set("a", "2") }))
				t.fail(d.Await(func() error { return rester.Rest(d.Ctx) }))
			}
			t.holds(held)
		})
	}),
	withTwo("watch", "What Watch was given is called after each Update of another opening that sets or deletes a key of the "+
		"log, once it is applied, and seldom otherwise.",
		func(d, other *db) {
			d.needs(d.options.Beside != nil, "Options.Beside is nil")
			watchers := []*watcher{d.watch(), d.beside().watch()}
			if d.options.Reopen != nil {
				d.options.Reopen(d.TB, d.beside().Store)
			}
			update := func(n, key, value string, err error) {
				d.Is(other.tryUpdate(d.Ctx, func(t *tx) {
					t.set(key, value)
					t.set("n", n)
					t.fail(err)
				}), err, "an Update")
			}
			const rounds = 6
			for round := range rounds {
				for range 20 {
					update("failed", logKey(1, 1), "failed", errTest)
					update("not of the log", "m", "1", nil)
				}
				if round%2 == 0 {
					d.set(pairs{logKey(2, uint64(round)): "1"})
				}
				time.Sleep(20 * time.Millisecond)
				for _, w := range watchers {
					select {
					case <-w.call:
					default:
					}
				}
				for n := range 2 {
					update(fmt.Sprint(round, n), logKey(1, uint64(round/2*2+n)), []string{"1", ""}[round%2], nil)
					for _, w := range watchers {
						w.Within("after an Update of the log", func() error { return w.sees(fmt.Sprint(round, n)) })
					}
				}
			}
			for _, w := range watchers {
				calls := w.calls.Load()
				d.ErrorIf(calls >= 10*rounds, "called %d times in %d rounds", calls, rounds)
			}
		}),
	withTwo("owners", "Each opening has a name of at most 30 letters and digits, and lives until it is closed.",
		func(d, other *db) {
			o, beside := offered[harvest.Owners](d.tester, d.Store), offered[harvest.Owners](d.tester, other.Store)
			name := o.Owner()
			d.FatalIf(!ownerName.MatchString(name) || name != o.Owner(),
				"Owner: got %q and %q, want at most 30 letters and digits", name, o.Owner())
			d.ErrorIf(d != other && name != "" && name == beside.Owner(), "two openings have the Owner %q", name)
			for range 2 {
				d.ErrorIf(o.Dead("") || beside.Dead("") || o.Dead(name) || o.Dead(beside.Owner()) || beside.Dead(name),
					"Dead of a living owner, or of none")
				o.Dead("unknown")
				o.Dead("../" + name)
			}
			if name == "" || d.options.Reopen == nil {
				return
			}
			openings, ended := slices.Compact([]*db{other, d}), []string{}
			for i, old := range openings {
				ended = append(ended, old.Store.(harvest.Owners).Owner())
				openings[i], _ = reopened(old, old)
				for _, by := range openings {
					dead := by.Store.(harvest.Owners).Dead
					for _, name := range ended {
						d.ErrorIf(!dead(name), "Dead is false of an owner that has ended")
					}
					for _, living := range openings {
						name := living.Store.(harvest.Owners).Owner()
						d.ErrorIf(dead(name) || slices.Contains(ended, name), "the next owner is dead, or has the same name")
					}
				}
			}
		}),
}

// A watcher is an opening whose Watch is called.
type watcher struct {
	*db
	calls atomic.Int64
	call  chan struct{} // has an element after a call
}

func (d *db) watch() *watcher {
	d.Helper()
	w := &watcher{db: d, call: make(chan struct{}, 1)}
	offers := offered[harvest.Watcher](d.tester, d.Store)
	d.Within("Watch", func() error {
		offers.Watch(func() {
			w.calls.Add(1)
			select {
			case w.call <- struct{}{}:
			default:
			}
			time.Sleep(10 * time.Millisecond) // the next Update may come meanwhile
		})
		return nil
	})
	return w
}

// sees waits until n has a value.
func (w *watcher) sees(value string) (err error) {
	for n := ""; n != value && err == nil; {
		select {
		case <-w.call:
			err = w.tryView(w.Ctx, func(t *tx) { n = t.get("n") })
		case <-w.Ctx.Done():
			err = w.Ctx.Err()
		}
	}
	return err
}
