package riverjobs

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

const example = "https://law.example"

func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		_, first, err := hold(t.Context(), store, example, 2, time.Minute)
		require.NoError(t, err)
		_, second, err := hold(t.Context(), store, example, 2, time.Minute)
		require.NoError(t, err)
		_, _, err = hold(t.Context(), store, example, 2, time.Minute)
		assert.ErrorIs(t, err, harvest.ErrHeld)
		_, other, err := hold(t.Context(), store, "http://law.example", 2, time.Minute)
		require.NoError(t, err, "another host")

		time.Sleep(time.Hour) // they are renewed
		_, _, err = hold(t.Context(), store, example, 2, time.Minute)
		assert.ErrorIs(t, err, harvest.ErrHeld)

		first.release(t.Context())
		_, third, err := hold(t.Context(), store, example, 2, time.Minute)
		require.NoError(t, err, "a slot that was given up")
		for _, s := range []*slot{second, third, other} {
			s.release(t.Context())
		}
	})
}

// TestSlotReleasedAfterCancel: a slot is given up also when the job was cancelled.
func TestSlotReleasedAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		ctx, cancel := context.WithCancel(t.Context())
		_, s, err := hold(ctx, store, example, 1, time.Minute)
		require.NoError(t, err)
		cancel()
		s.release(ctx)
		_, s, err = hold(t.Context(), store, example, 1, time.Minute)
		require.NoError(t, err)
		s.release(t.Context())
	})
}

// An unreachable Store waits until the context ends.
type unreachable struct{ harvest.Store }

func (unreachable) Release(ctx context.Context, _ *harvest.Claim) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestSlotOfAnUnreachableStore: a cancelled job waits for 5 seconds only.
func TestSlotOfAnUnreachableStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		_, s, err := hold(ctx, unreachable{memstore.New()}, example, 1, time.Minute)
		require.NoError(t, err)
		cancel()
		began := time.Now()
		s.release(ctx)
		assert.Equal(t, 5*time.Second, time.Since(began))
	})
}

// A cutOff is a Store whose Renew fails as it is told to.
type cutOff struct {
	harvest.Store
	renew atomic.Pointer[func(context.Context) error]
}

func (s *cutOff) Renew(ctx context.Context, c *harvest.Claim) error {
	if f := s.renew.Load(); f != nil {
		return (*f)(ctx)
	}
	return s.Store.Renew(ctx, c)
}

func TestSlotLost(t *testing.T) {
	for name, tt := range map[string]struct {
		renew func(context.Context) error
		after time.Duration // that no other can have the slot before
	}{
		"another has it":     {func(context.Context) error { return harvest.ErrFenced }, 15 * time.Second},
		"no connection":      {func(context.Context) error { return errors.New("no connection") }, 53 * time.Second},
		"an endless request": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, 53 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &cutOff{Store: memstore.New()}
				ctx, s, err := hold(t.Context(), store, example, 1, time.Minute)
				require.NoError(t, err)
				time.Sleep(10 * time.Minute)
				require.NoError(t, ctx.Err())
				synctest.Wait()

				store.renew.Store(&tt.renew)
				cut := time.Now()
				<-ctx.Done()
				assert.ErrorIs(t, context.Cause(ctx), errSlotLost)
				assert.LessOrEqual(t, time.Since(cut), tt.after)
				s.release(t.Context())
			})
		})
	}
}

// TestSlotOutlivesAnOutage: the slot stays if the Store answers again in time.
func TestSlotOutlivesAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &cutOff{Store: memstore.New()}
		ctx, s, err := hold(t.Context(), store, example, 1, time.Minute)
		require.NoError(t, err)
		broken := func(context.Context) error { return errors.New("no connection") }
		store.renew.Store(&broken)
		time.Sleep(40 * time.Second)
		store.renew.Store(nil)
		time.Sleep(10 * time.Minute)
		assert.NoError(t, ctx.Err())
		s.release(t.Context())
	})
}
