package histories

import (
	"flag"
	"github.com/websync-go/websync/internal/testing/racing"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

var (
	number = flag.Int("histories", racing.Some(2000), "how many histories of each family")
	seed   = flag.Int64("seed", -1, "play one history of each chosen subtest, and write what happened")
)

// Kinds of faults.
var (
	sitemapKinds = []string{
		"none", "list-stale", "list-swapped", "list-empty", "list-half", "page-stale", "page-lag", "index-frozen", "index-lags",
		"date-back", "date-same", "no-dates", "days", "clocks", "outage", "maintenance", "bad-byte", "racing", "mixed",
	}
	feedKinds = []string{
		"none", "list-stale", "list-swapped", "list-empty", "list-half", "page-stale", "page-lag", "date-back", "date-same",
		"no-dates", "duplicate", "clocks", "outage", "maintenance", "bad-byte", "racing", "mixed",
	}
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

func TestSitemap(t *testing.T) { test(t, "sitemap", sitemapKinds) }

func TestFeed(t *testing.T) { test(t, "feed", feedKinds) }

func test(t *testing.T, family string, kinds []string) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			create := func(seed uint64) *history { return newHistory(family, kind, kinds, seed) }
			if *seed >= 0 {
				one(t, create, uint64(*seed))
				return
			}
			failed, rules, notes := map[string]uint64{}, map[string]int{}, map[string][]uint64{}
			bad, total := 0, (*number+len(kinds)-1)/len(kinds)
			for s := range uint64(total) {
				h := create(s)
				synctest.Test(t, func(*testing.T) { h.play() })
				for _, v := range distinct(h.broken) {
					rules[v]++
					if _, ok := failed[v]; !ok {
						failed[v] = s
					}
				}
				for _, v := range distinct(h.notes) {
					notes[v] = append(notes[v], s)
				}
				if len(h.broken) > 0 {
					bad++
				}
			}
			if len(notes) > 0 {
				for _, v := range slices.Sorted(maps.Keys(notes)) {
					t.Logf("not demanded: %s in %d of %d histories, the first with -seed %d", v, len(notes[v]), total, notes[v][0])
				}
			}
			if bad == 0 {
				return
			}
			t.Errorf("%d of %d histories fail: %v", bad, total, rules)
			for _, rule := range slices.Sorted(maps.Keys(failed)) {
				h := shortest(t, create, failed[rule], rule)
				t.Errorf("-run '%s$' -seed %d: %s with %d runs before the quiet ones: %s", t.Name(), h.seed, rule, h.runs, first(h, rule).detail)
			}
		})
	}
}

// newHistory returns the history of a seed.
func newHistory(family, kind string, kinds []string, seed uint64) *history {
	h := &history{family: family + kind, seed: seed}
	rng := h.draw("kinds")
	h.family = family
	h.runs = 3 + rng.IntN(10)
	switch kind {
	case "none":
	case "mixed":
		for _, k := range kinds[1 : len(kinds)-1] {
			if rng.IntN(4) == 0 {
				h.kinds = append(h.kinds, k)
			}
		}
	default:
		h.kinds = []string{kind}
	}
	return h
}

func distinct(all []violation) (rules []string) {
	for _, v := range all {
		if !slices.Contains(rules, v.rule) {
			rules = append(rules, v.rule)
		}
	}
	return rules
}

func first(h *history, rule string) violation {
	if i := slices.IndexFunc(h.broken, func(v violation) bool { return v.rule == rule }); i >= 0 {
		return h.broken[i]
	}
	return violation{}
}

// shortest returns the history with the fewest runs that breaks a rule.
func shortest(t *testing.T, create func(uint64) *history, seed uint64, rule string) *history {
	for runs := 1; ; runs++ {
		h := create(seed)
		all := h.runs
		h.runs = min(runs, all)
		synctest.Test(t, func(*testing.T) { h.play() })
		if runs >= all || slices.Contains(distinct(h.broken), rule) {
			return h
		}
	}
}

// one plays one history and writes, of each broken rule, the fewest events that break it.
func one(t *testing.T, create func(uint64) *history, seed uint64) {
	full := create(seed)
	full.transcript = &strings.Builder{}
	synctest.Test(t, func(*testing.T) { full.play() })
	rules := distinct(full.broken)
	if len(rules) == 0 {
		t.Log(full.transcript)
		return
	}
	for _, rule := range rules {
		runs := shortest(t, create, seed, rule).runs
		without := map[string]bool{}
		play := func() *history {
			h := create(seed)
			h.runs, h.suppressed, h.transcript = runs, without, &strings.Builder{}
			synctest.Test(t, func(*testing.T) { h.play() })
			return h
		}
		best := play()
		events := slices.Clone(best.events) // whole runs first
		slices.SortStableFunc(events, func(a, b string) int { return strings.Count(a, " ") - strings.Count(b, " ") })
		for _, event := range events {
			without[event] = true
			if h := play(); slices.Contains(distinct(h.broken), rule) {
				best = h
			} else {
				delete(without, event)
			}
		}
		t.Errorf("%s\nevents: %s\n%s", rule, strings.Join(best.events, "; "), best.transcript)
	}
}
