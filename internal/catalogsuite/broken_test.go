package catalogsuite_test

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/websync-go/websync/internal/catalogsuite"
	"github.com/websync-go/websync/internal/suite"
)

var matrix = flag.Bool("matrix", false, "run every case on every broken store and log which ones catch it")

// A broken is a catalogsuite.Store with one fault, and the cases that are there to catch
// it.
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

func (b broken) options() catalogsuite.Options {
	open := func(now func() time.Time) catalogsuite.Store {
		f := &faulty{model: newModel(now)}
		if b.with != nil {
			b.with(f)
		}
		return f
	}
	return catalogsuite.Options{
		Open:      func(testing.TB) catalogsuite.Store { return open(time.Now) },
		OpenClock: func(_ testing.TB, now func() time.Time) catalogsuite.Store { return open(now) },
		Reopen: func(_ testing.TB, s catalogsuite.Store) catalogsuite.Store {
			if b.reopen != nil {
				b.reopen(s.(*faulty).model)
			}
			return s
		},
		Patience: 300 * time.Millisecond,
	}
}

// The cases named for a broken store catch it, and each case catches one.
func TestBrokenStores(t *testing.T) {
	all := brokenDrivers()
	for _, b := range allBroken() {
		all = append(all, suite.Broken[catalogsuite.Options]{Name: b.name, Caught: b.caught, Options: b.options})
	}
	suite.CatchAll(t, catalogsuite.Cases(), all, *matrix)
}

// A faulty store without a fault passes every case: neither it nor the recorder fails.
func TestSoundStore(t *testing.T) {
	o := (broken{}).options()
	o.Patience = 0
	suite.Passes(t, catalogsuite.Cases(), o)
}
