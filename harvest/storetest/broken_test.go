package storetest_test

import (
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/storetest"
)

var matrix = flag.Bool("matrix", false, "run every case on every broken store and log which ones catch it")

// A broken is a Store with one fault, and the cases that are there to catch it.
type broken struct {
	name   string
	caught string // by these cases
	with   func(f *faulty)
	reopen func(m *model) // what Reopen loses
}

func allBroken() []broken {
	return slices.Concat(brokenClaims(), brokenCommits(), brokenRaces(), brokenLogs(), brokenRecords(), brokenTasks(), brokenBodies(),
		brokenIterators(), brokenStates(), brokenIDs(), brokenGenerations(), brokenDurability())
}

func (b broken) options() storetest.Options {
	open := func(now func() time.Time) harvest.Store {
		f := &faulty{model: newModel(now)}
		if b.with != nil {
			b.with(f)
		}
		return f
	}
	return storetest.Options{
		Open:      func(testing.TB) harvest.Store { return open(time.Now) },
		OpenClock: func(_ testing.TB, now func() time.Time) harvest.Store { return open(now) },
		Reopen: func(_ testing.TB, s harvest.Store) harvest.Store {
			if b.reopen != nil {
				b.reopen(s.(*faulty).model)
			}
			return s
		},
		Patience: 300 * time.Millisecond,
	}
}

// Each broken store is caught by the cases that are there for it, and says so without a panic.
func TestBrokenStores(t *testing.T) {
	cases := map[string]storetest.Case{}
	for _, c := range storetest.Cases() {
		cases[c.String()] = c
	}
	for _, b := range allBroken() {
		t.Run(b.name, func(t *testing.T) {
			for name := range strings.FieldsSeq(b.caught) {
				c, ok := cases[name]
				if !ok {
					t.Fatalf("there is no case %s", name)
				}
				r := record(t.Context(), c, b.options())
				if !r.failed {
					t.Errorf("%s does not catch it:\n%s", name, r)
				}
				if r.panicked() {
					t.Errorf("%s panics:\n%s", name, r)
				}
			}
			if *matrix {
				logMatrix(t, b)
			}
		})
	}
}

func logMatrix(t *testing.T, b broken) {
	var caught []string
	for _, c := range storetest.Cases() {
		r := record(t.Context(), c, b.options())
		if r.panicked() {
			t.Logf("%s panics:\n%s", c, r)
		}
		if r.failed {
			caught = append(caught, c.String())
		}
	}
	t.Logf("%d: %s", len(caught), strings.Join(caught, " "))
}

// There is no case that can't fail: each catches a broken store.
func TestEveryCaseFails(t *testing.T) {
	catches := map[string]bool{}
	for _, b := range allBroken() {
		for name := range strings.FieldsSeq(b.caught) {
			catches[name] = true
		}
	}
	for _, c := range storetest.Cases() {
		if !catches[c.String()] {
			t.Errorf("%s catches no broken store", c)
		}
	}
}

// What breaks nothing is caught by nothing: the recorder and the faulty store are not what fails.
func TestSoundStore(t *testing.T) {
	o := (broken{}).options()
	o.Patience = 0
	for _, c := range storetest.Cases() {
		if r := record(t.Context(), c, o); r.failed || r.skipped {
			t.Errorf("%s:\n%s", c, r)
		}
	}
}
