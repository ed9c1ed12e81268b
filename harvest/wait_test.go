package harvest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// TestWaitLog waits for changes of the log, with a Store that has LogChanged and with one
// that is polled.
func TestWaitLog(t *testing.T) {
	for name, test := range map[string]struct {
		catalog func(w *world) websync.Catalog
		late    time.Duration
	}{
		"notified": {func(w *world) websync.Catalog { return w.store }, 0},
		"polled":   {func(w *world) websync.Catalog { return struct{ websync.Catalog }{w.store} }, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.page("a")
				catalog := test.catalog(w)
				before, err := catalog.Head(t.Context())
				require.NoError(t, err)
				var began time.Time
				change := func(f func()) {
					time.AfterFunc(700*time.Millisecond, func() {
						began = time.Now()
						f()
					})
				}

				change(func() { w.run(harvest.Of(src, put("a", day(1)))) })
				head, err := harvest.WaitLog(t.Context(), catalog, before)
				require.NoError(t, err)
				require.EqualValues(t, 1, head.Last)
				require.LessOrEqual(t, time.Since(began), test.late)
				synctest.Wait() // the run ends, and sets the Baseline
				head.Baseline = head.Last

				began = time.Now()
				again, err := harvest.WaitLog(t.Context(), catalog, before)
				require.NoError(t, err)
				require.Equal(t, head, again)
				require.Zero(t, time.Since(began), "the log has passed the Head already")

				change(func() {
					_, err := w.store.Compact(t.Context())
					require.NoError(t, err)
				})
				compacted, err := harvest.WaitLog(t.Context(), catalog, head)
				require.NoError(t, err)
				require.Greater(t, compacted.Generation, head.Generation)
				require.LessOrEqual(t, time.Since(began), test.late)

				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				_, err = harvest.WaitLog(ctx, catalog, compacted)
				require.ErrorIs(t, err, context.DeadlineExceeded)
			})
		})
	}
}
