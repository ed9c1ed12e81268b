package storetest_test

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/storetest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/suite"
)

var matrix = flag.Bool("matrix", false, "run every case on every broken driver and log which ones catch it")

// A brokenDriver is a driver with one fault.
type brokenDriver struct {
	name   string // what is wrong
	breaks string // the sentence of package harvest that says so, abbreviated
	caught string // by these cases
	races  bool   // so that the race detector sees it
	// fault alters each opening.
	fault func(d *driver)
}

// brokenDrivers are broken in one way each, and sound otherwise.
var brokenDrivers = slices.Concat(
	brokenKeys, brokenValues, brokenMemory, brokenViews, brokenScans, brokenWrites, brokenUpdates, brokenOrders, brokenOpenings, brokenRests,
	brokenPrefetches, brokenAbsents, brokenLogs, brokenBlobs, brokenOwners,
)

// A soundDriver does what the contract allows and a suite may not expect.
type soundDriver struct {
	name   string // what it does
	allows string // the sentence of package harvest that says so, abbreviated
	lacks  feature
	alter  func(d *driver)
}

// optionsOf returns what the suite runs with. Reopen and Beside take any opening that has
// not ended. A Reopen ends that opening only, and loses what is not durable. Some faults
// wait forever: until the context of the call ends, or the test.
func optionsOf(lacks feature, alter func(d *driver)) storetest.Options {
	return storetest.Options{
		Open: func(t testing.TB) harvest.Store {
			m := newMedium()
			t.Cleanup(func() { close(m.over) })
			return m.open(lacks, alter).db()
		},
		Reopen: func(_ testing.TB, db harvest.Store) harvest.Store {
			d := db.(opening).self()
			d.m.end(d)
			return d.m.open(lacks, alter).db()
		},
		Beside: func(_ testing.TB, db harvest.Store) harvest.Store {
			return db.(opening).self().m.open(lacks, alter).db()
		},
	}
}

// The cases named for a broken driver catch it, and each case catches one.
func TestBrokenDrivers(t *testing.T) {
	var all []suite.Broken[storetest.Options]
	for _, b := range brokenDrivers {
		if !b.races || !racing.Enabled {
			all = append(all, suite.Broken[storetest.Options]{Name: b.name, Caught: b.caught, Options: func() storetest.Options {
				o := optionsOf(nothing, b.fault)
				o.Patience = 300 * time.Millisecond
				return o
			}})
		}
	}
	suite.CatchAll(t, storetest.Cases(), all, *matrix)
}

// Sound drivers pass all that they do not lack. If time is short, the first one tries all
// cases, and each other one a tenth.
func TestSoundDrivers(t *testing.T) {
	for i, s := range soundDrivers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for j, c := range storetest.Cases() {
				if i > 0 && racing.Few() && (i+j)%10 > 0 {
					continue
				}
				if r := suite.Record(t.Context(), c, optionsOf(s.lacks, s.alter)); r.Failed() {
					t.Errorf("%s:\n%s", c, r)
				}
			}
		})
	}
}
