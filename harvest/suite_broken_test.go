package harvest_test

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/suite"
)

var matrix = flag.Bool("matrix", false, "run every case on every broken store and log which ones catch it")

// A brokenCatalog is a checkedCatalog with one fault, and the cases that are there to
// catch it.
type brokenCatalog struct {
	name   string
	caught string // by these cases
	with   func(f *faulty)
	reopen func(m *model) // what Reopen loses
}

func allBroken() []brokenCatalog {
	return slices.Concat(brokenClaims(), brokenCommits(), brokenRaces(), brokenLogs(), brokenRecords(), brokenTasks(), brokenBodies(),
		brokenIterators(), brokenStates(), brokenIDs(), brokenGenerations(), brokenDurability())
}

func (b brokenCatalog) options() suiteOptions {
	open := func(now func() time.Time) checkedCatalog {
		f := &faulty{model: newModel(now)}
		if b.with != nil {
			b.with(f)
		}
		return f
	}
	return suiteOptions{
		Open:      func(testing.TB) checkedCatalog { return open(time.Now) },
		OpenClock: func(_ testing.TB, now func() time.Time) checkedCatalog { return open(now) },
		Reopen: func(_ testing.TB, s checkedCatalog) checkedCatalog {
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
	racing.Skip(t)
	all := brokenDrivers()
	for _, b := range allBroken() {
		all = append(all, suite.Broken[suiteOptions]{Name: b.name, Caught: b.caught, Options: b.options})
	}
	suite.CatchAll(t, suiteCases(), all, *matrix)
}

// A faulty store without a fault passes every case: neither it nor the recorder fails.
func TestSoundStore(t *testing.T) {
	racing.Long(t)
	o := (brokenCatalog{}).options()
	o.Patience = 0
	suite.Passes(t, suiteCases(), o)
}
