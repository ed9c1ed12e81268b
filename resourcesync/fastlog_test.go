package resourcesync_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// A follower is a Destination of a library.
type follower struct {
	*library
	h     *harvest.Harvester
	gaps  int // findings of one
	lists int // requests for lists
}

func newFollower(l *library) *follower {
	f := &follower{library: l}
	f.h = &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Fetcher: l, MaxDelete: 1, Hooks: testkit.OnFinding(func(finding websync.Finding) {
		if strings.Contains(finding.Rule, "gap") {
			f.gaps++
		}
	})}
	return f
}

// run harvests the library once, and counts the requests for lists.
func (f *follower) run(between func(url string)) *harvest.Report {
	f.asked = nil
	f.between = func() {
		if between != nil {
			between(f.asked[len(f.asked)-1])
		}
	}
	report, err := f.h.Run(f.t.Context(), &resourcesync.Source{URL: f.URL(), Parallel: 1})
	require.NoError(f.t, err)
	f.lists = 0
	for _, url := range f.asked {
		if strings.HasSuffix(url, ".xml") {
			f.lists++
		}
	}
	return report
}

// closedLists returns how often each closed Change List was requested.
func (f *follower) closedLists() map[string]int {
	all := make(map[string]int)
	for _, url := range f.asked {
		if strings.Contains(url, "changelist-1-") {
			all[url]++
		}
	}
	return all
}

// TestSourceFastLog: a Publisher closes lists between the requests for the index and for
// the open list. A run reads the index again, and not the lists that it has read.
func TestSourceFastLog(t *testing.T) {
	for name, c := range map[string]struct {
		closings int // how many of the readings of the open list come after two closed lists
		lists    int // requests for lists
		next     int // of the next run
	}{
		"never":            {0, 6, 3},
		"once":             {1, 6 + 4, 3},
		"twice":            {2, 6 + 2*4, 3},
		"three times":      {3, 6 + 3*4, 3},
		"at every reading": {100, 5 + 3*4, 5}, // the Capability List is not asked
	} {
		t.Run(name, func(t *testing.T) {
			f := newFollower(newLibrary(t, &resourcesync.Publisher{ListSize: 2}))
			n := 0
			put := func(changes int) {
				for range changes {
					n++
					f.put(fmt.Sprint("r", n), fmt.Sprint("text ", n))
				}
			}
			put(5)
			require.True(t, f.run(nil).InStep())
			put(6)
			require.True(t, f.run(nil).InStep(), "several lists are closed between two runs")
			put(6)
			left, before := c.closings, n
			report := f.run(func(url string) {
				if left > 0 && strings.HasSuffix(url, "changelist.xml") {
					left--
					put(4)
				}
			})
			assert.Equal(t, left == 0, report.InStep(), report)
			assert.Equal(t, c.lists, f.lists, "requests for lists")
			if left > 0 {
				require.Len(t, report.Problems, 1)
				assert.Contains(t, fmt.Sprint(report.Problems[0]), "changelist.xml: it begins later than its index states")
			}
			live := testkit.Live(t, f.h.Catalog)
			for i := range before {
				assert.Contains(t, live, fmt.Sprint("r", i+1), "it was listed before the run")
			}
			read := f.closedLists()
			for url, times := range read {
				assert.Equal(t, 1, times, url)
			}
			require.True(t, f.run(nil).InStep())
			assert.Equal(t, c.next, f.lists, "requests of the next run: %s", f.asked)
			assert.Equal(t, f.truth, testkit.Live(t, f.h.Catalog))
			for url := range f.closedLists() {
				assert.True(t, read[url] == 0 || left > 0, "%s is read again", url)
			}
			assert.Zero(t, f.gaps)
		})
	}
}

// TestSourceFastLogForever: a Publisher of short lists changes at every request. No gap
// makes the Destination begin again, and each run is further than the one before.
func TestSourceFastLogForever(t *testing.T) {
	changes := racing.Some(1000)
	for _, size := range []int{1, 2, 3} {
		t.Run(fmt.Sprint("lists of ", size), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(size), 11))
			f := newFollower(newLibrary(t, &resourcesync.Publisher{ListSize: size}))
			f.change(random, 60)
			require.True(t, f.run(nil).InStep())
			runs, done := 0, 0
			for ; done < changes; runs++ {
				report := f.run(func(url string) {
					for range 1 + random.IntN(2*size) {
						if strings.HasSuffix(url, ".xml") || random.IntN(4*size) == 0 {
							f.change(random, 60)
							done++
						}
					}
				})
				require.Zero(t, report.Snapshots, "run %d: a new baseline", runs)
			}
			require.True(t, f.run(nil).InStep())
			assert.Equal(t, f.truth, testkit.Live(t, f.h.Catalog))
			assert.Zero(t, f.gaps)
			assert.Less(t, runs, changes/10, "runs")
		})
	}
}

// TestSourceWithinAMillisecond: everything is committed within one, and at some moment
// the fraction of a time ends in zeros.
func TestSourceWithinAMillisecond(t *testing.T) {
	for before := range 30 {
		l := newLibrary(t, &resourcesync.Publisher{ListSize: 2})
		now := time.Date(2025, 6, 1, 12, 0, 0, 500_000_000, time.UTC).Add(-time.Duration(before) * time.Microsecond)
		l.store.Now = func() time.Time { return now }
		f := newFollower(l)
		f.live.now = func() time.Time { return now.Add(time.Minute) }
		n := 0
		put := func(changes int) {
			for range changes {
				n++
				f.put(fmt.Sprint("r", n), fmt.Sprint("text ", n))
			}
		}
		put(5)
		require.True(t, f.run(nil).InStep())
		put(12)
		closes := true
		f.run(func(url string) {
			if closes && strings.HasSuffix(url, "changelist.xml") {
				closes = false
				put(4)
			}
		})
		require.True(t, f.run(nil).InStep())
		assert.Equal(t, f.truth, testkit.Live(t, f.h.Catalog), before)
	}
}
