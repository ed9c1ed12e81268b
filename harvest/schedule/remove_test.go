package schedule

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// TestRemove: the run of an entry that is removed ends, and no other; its notices count no
// longer; an entry that is added again is due when it was.
func TestRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const otherURL = "https://example.org/other"
		began := time.Now()
		var mu sync.Mutex
		ended, runs := map[string]time.Duration{}, map[string]int{}
		locked := func(f func()) {
			mu.Lock()
			defer mu.Unlock()
			f()
		}
		hasRun := func(want map[string]int) {
			t.Helper()
			synctest.Wait()
			locked(func() { assert.Equal(t, want, runs) })
		}
		s := scheduler(func(ctx context.Context, src harvest.Source) (*harvest.Report, error) {
			locked(func() { runs[src.Key()]++ })
			select {
			case <-ctx.Done():
				locked(func() { ended[src.Key()] = time.Since(began) })
				time.Sleep(time.Second) // until it has tidied up
			case <-time.After(time.Minute):
			}
			return new(harvest.Report), ctx.Err()
		}, Entry{Source: harvest.Of("a"), URLs: []string{feedURL}, Every: time.Hour}, Entry{Source: harvest.Of("b"), URLs: []string{otherURL}})
		s.PerHost = -1
		during(t, s.Run, func() {
			time.Sleep(30 * time.Minute)
			hasRun(map[string]int{"a": 1})
			s.Notify(otherURL)
			s.Notify(feedURL)
			time.Sleep(time.Second)
			require.NoError(t, s.Remove(t.Context(), "a", "unknown"))
			locked(func() {
				assert.Equal(t, map[string]time.Duration{"a": 30*time.Minute + time.Second}, ended, "the other goes on")
			})
			assert.Equal(t, 30*time.Minute+2*time.Second, time.Since(began), "Remove waits for the end of the run")
			assert.False(t, s.Notify(feedURL))
			assert.NotContains(t, s.Due(), "a")
			time.Sleep(24 * time.Hour)
			hasRun(map[string]int{"a": 2, "b": 1})
			require.NoError(t, s.Add(Entry{Source: harvest.Of("a"), URLs: []string{feedURL}, Every: 48 * time.Hour, Jitter: -1}))
			hasRun(map[string]int{"a": 3, "b": 1}) // it was due when its run was ended
			require.NoError(t, s.Remove(t.Context(), "a"))
			require.NoError(t, s.Remove(t.Context(), "a"))
		})
	})
}

// TestRemoveBeforeARunBegins: an entry may be removed while it is looked up in the Store,
// which may fail for long.
func TestRemoveBeforeARunBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scheduler(func(context.Context, harvest.Source) (*harvest.Report, error) {
			panic("it was removed")
		}, Entry{Source: harvest.Of("a"), URLs: []string{feedURL}})
		during(t, s.Run, func() {
			s.mu.Lock() // as launch does
			turn := s.turns[0]
			turn.running, turn.over = true, make(chan struct{})
			s.mu.Unlock()
			removed := make(chan error, 1)
			go func() { removed <- s.Remove(t.Context(), "a") }()
			synctest.Wait()
			require.Empty(t, removed, "it waits")
			turn.noticed = true
			require.NoError(t, s.serve(t.Context(), turn))
			require.NoError(t, <-removed)
		})
	})
}

// TestRemoveGivesUp: Remove does not wait longer than its context lasts.
func TestRemoveGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scheduler(func(context.Context, harvest.Source) (*harvest.Report, error) {
			time.Sleep(time.Hour)
			return nil, nil
		}, Entry{Source: harvest.Of("a"), URLs: []string{feedURL}})
		during(t, s.Run, func() {
			s.Notify(feedURL)
			synctest.Wait()
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(errors.New("no time"))
			assert.EqualError(t, s.Remove(ctx, "a"), "no time")
		})
	})
}
