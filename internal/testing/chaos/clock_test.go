package chaos

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const year = 365 * 24 * time.Hour

// jumps are how far clocks are off.
var jumps = []time.Duration{0, time.Second, -time.Second, time.Hour, -time.Hour, 26 * time.Hour, -26 * time.Hour, year, -year, 20 * year, -20 * year}

// TestClock kills processes while the clock of their Store jumps back and forward, within
// a run and between two. What a process leaves that was ahead does not stop those that
// come after it.
func TestClock(t *testing.T) {
	for _, name := range []string{"resourcesync", "sitemap"} {
		for kind, at := range kinds {
			t.Run(name+" into "+kind, func(t *testing.T) {
				t.Parallel()
				testKills(t, wayOf(name), kind+", clock jumping", at, jumps)
			})
		}
	}
}

// TestClocks runs while all clocks of the harvester, those of the engine, the Store and
// the Fetcher, show another year.
func TestClocks(t *testing.T) {
	for i := range ways {
		t.Run(ways[i].name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, &ways[i], seedOf(t.Name()))
			at, ever := kinds["SQLite"](t), map[string]bool{}
			for range times() {
				s.change()
				later := time.Duration(s.rnd.IntN(60)) * year
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(later) // from 2000 on
					report, err := s.run(t.Context(), at)
					require.NoError(t, err)
					require.True(t, report.InStep(), "%+v", report)
				})
				h := at.inspected(t)
				s.requireInStep(t, h, ever)
				h.add(ever)
				s.change()
				s.recovers(t, at, ever)
				numbers.add("faults: clocks of a harvester jump", 2)
			}
		})
	}
}

// TestDate lets the clock of the HTTP server jump, within a run and between two.
func TestDate(t *testing.T) {
	for i := range ways {
		if ways[i].entry == "" {
			continue
		}
		t.Run(ways[i].name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, &ways[i], seedOf(t.Name()))
			at, ever := kinds["SQLite"](t), map[string]bool{}
			for range times() {
				s.change()
				first, then, when := s.jump(), s.jump(), s.requests.Load()+1+s.rnd.Int64N(8)
				s.wrong.Store(first)
				s.setAnswer(func(n int64, rw http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
					if n == when {
						s.wrong.Store(then)
					}
					serve(rw, r)
				})
				_, err := s.run(t.Context(), at)
				require.NoError(t, err)
				s.answer.Store(nil)
				s.wrong.Store(0)
				at.inspected(t).add(ever)
				s.recovers(t, at, ever)
				numbers.add("faults: clock of a server jumps", 2)
			}
		})
	}
}

// jump returns a random distance.
func (s *site) jump() int64 { return int64(jumps[s.rnd.IntN(len(jumps))]) }
