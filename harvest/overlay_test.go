package harvest_test

import (
	"context"
	"fmt"
	"github.com/websync-go/websync/internal/testing/racing"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/storetest"
)

func TestOverlay(t *testing.T) {
	t.Run("Store", func(t *testing.T) {
		storetest.Run(t, storetest.Options{Open: func(testing.TB) harvest.Store { return harvest.OverlayOn(memstore.New()) }})
	})
	if racing.Few() {
		return
	}
	t.Run("Catalog", func(t *testing.T) {
		runSuite(t, options(func(t testing.TB) harvest.Store { return harvest.OverlayOn(&strictDB{t: t, db: memstore.New()}) }))
	})
	t.Run("Prefetcher", func(t *testing.T) {
		runSuite(t, options(func(t testing.TB) harvest.Store { return harvest.OverlayOn(&remoteDB{Store: memstore.New()}) }))
	})
}

// A plan on a server reads in batches, as a run does.
func TestPlanRoundTrips(t *testing.T) {
	remote := &remoteDB{Store: memstore.New()}
	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(remote), Bodies: harvest.SkipBodies}
	_, err := h.Run(t.Context(), listing(1000))
	require.NoError(t, err)
	remote.trips.Store(0)
	r, err := h.Plan(t.Context(), listing(3000), nil)
	require.NoError(t, err)
	require.EqualValues(t, []int64{2000, 1000}, []int64{r.Created, r.Unchanged})
	require.Less(t, remote.trips.Load(), int64(100))
}

// An overlay on a Store with keys of its own reads like one map, and never writes below.
func TestOverlayAgainstMap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	key := func() string { return fmt.Sprintf("k%03d", r.IntN(300)) }
	for range 60 {
		below, model := memstore.New(), map[string]string{}
		require.NoError(t, below.Update(t.Context(), func(tx harvest.Tx) error {
			for range r.IntN(200) {
				k := key()
				model[k] = "below"
				require.NoError(t, tx.Set([]byte(k), []byte("below")))
			}
			return nil
		}))
		written := maps.Clone(model)
		over := harvest.OverlayOn(below)
		for range 5 {
			require.NoError(t, over.Update(t.Context(), func(tx harvest.Tx) error {
				for i := range r.IntN(60) {
					k := key()
					if r.IntN(2) == 0 {
						delete(model, k)
						require.NoError(t, tx.Delete([]byte(k)))
						continue
					}
					model[k] = fmt.Sprint(i)
					require.NoError(t, tx.Set([]byte(k), []byte(model[k])))
				}
				return nil
			}))
			from, to, most := key(), key(), 1+r.IntN(50)
			want := []string{}
			for _, k := range slices.Sorted(maps.Keys(model)) {
				if from <= k && k < to && len(want) < most {
					want = append(want, k+"="+model[k])
				}
			}
			require.Equal(t, want, scanned(t, over, from, to, most), "at most %d from %s to %s", most, from, to)
			require.Len(t, scanned(t, below, "k", "l", 1000), len(written))
		}
	}
}

// scanned returns at most n of the keys of a Store, with their values.
func scanned(t *testing.T, s harvest.Store, from, to string, n int) []string {
	all := []string{}
	require.NoError(t, s.View(t.Context(), func(r harvest.Reader) error {
		return r.Scan([]byte(from), []byte(to), n, func(k, v []byte) bool {
			all = append(all, string(k)+"="+string(v))
			return len(all) < n
		})
	}))
	return all
}

// TestPlanWhileOthersWrite harvests another source at every decision of a plan: what the
// plan has decided until then is forgotten, and the numbers of its changes are taken.
func TestPlanWhileOthersWrite(t *testing.T) {
	w := newWorld(t)
	w.pages("a", "b", "c", "d")
	w.run(snapshot(put("a", day(1)), put("b", day(1))))
	n := 0
	another := func(d harvest.Decision) {
		n++
		_, err := (&harvest.Harvester{Catalog: w.store, Bodies: harvest.SkipBodies}).Run(t.Context(), harvest.Of("another", put(fmt.Sprint(n), day(1))))
		require.NoError(t, err)
	}
	r := w.plan(snapshot(put("a", day(2)), put("c", day(1)), put("d", day(1))), another)
	require.Equal(t, 4, n)
	require.EqualValues(t, []int64{2, 1, 1}, []int64{r.Created, r.Updated, r.Deleted})
	require.True(t, r.Complete)
}

// A plan of more changes than it remembers decides about each, and about those that come
// again while it does.
func TestPlanForgets(t *testing.T) {
	racing.Long(t) // it plans 200,000 changes
	const n, remembered = 200_000, 65_536
	all := make([]harvest.Event, 0, 2*n)
	for i := range n {
		all = append(all, put(fmt.Sprint(i), day(2)))
	}
	for i := n - remembered; i < n; i++ {
		all = append(all, put(fmt.Sprint(i), day(2)))
	}
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New()), Bodies: harvest.SkipBodies}
	r, err := h.Plan(context.Background(), harvest.Of("many", all...), nil)
	require.NoError(t, err)
	require.EqualValues(t, n, r.Created)
	require.EqualValues(t, remembered, r.Unchanged)
}
