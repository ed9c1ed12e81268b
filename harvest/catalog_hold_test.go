package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// Of several processes that share a Store, one at a time writes the export.
func ExampleCatalog_Hold() {
	ctx := context.Background()
	catalog := harvest.NewCatalog(memstore.New())
	held, release, err := catalog.Hold(ctx, "export", time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	_, _, err = catalog.Hold(ctx, "export", time.Minute) // as another process would
	fmt.Println(errors.Is(err, harvest.ErrHeld), held.Err())
	release()
	fmt.Println(held.Err())
	// Output:
	// true <nil>
	// context canceled
}

func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harvest.NewCatalog(memstore.New())
		_, release, err := c.Hold(t.Context(), "a", time.Minute)
		require.NoError(t, err)
		_, _, err = c.Hold(t.Context(), "a", time.Minute)
		assert.ErrorIs(t, err, harvest.ErrHeld)
		_, other, err := c.Hold(t.Context(), "b", 0)
		require.NoError(t, err, "another name")

		time.Sleep(time.Hour) // it is renewed
		for _, name := range []string{"a", "b"} {
			_, _, err = c.Hold(t.Context(), name, time.Minute)
			assert.ErrorIs(t, err, harvest.ErrHeld)
		}
		other()
		release()
		release() // again
		held, release, err := c.Hold(t.Context(), "a", time.Nanosecond)
		require.NoError(t, err, "a name that was given up")
		release()
		assert.Error(t, held.Err())
	})
}

// TestHoldReleasedAfterCancel: a name is given up also when the context has ended.
func TestHoldReleasedAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := harvest.NewCatalog(memstore.New())
		ctx, cancel := context.WithCancel(t.Context())
		held, release, err := c.Hold(ctx, "a", time.Minute)
		require.NoError(t, err)
		cancel()
		assert.Error(t, held.Err())
		release()
		_, release, err = c.Hold(t.Context(), "a", time.Minute)
		require.NoError(t, err)
		release()
	})
}

// TestHoldOnAnUnreachableStore: after the end of the context, release waits for 5 seconds
// only.
func TestHoldOnAnUnreachableStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		updates := 0
		unreachable := &testkit.Watched{Store: memstore.New(), Before: func(ctx context.Context, _ testkit.Act) error {
			if updates++; updates > 1 {
				<-ctx.Done()
			}
			return ctx.Err()
		}}
		ctx, cancel := context.WithCancel(t.Context())
		_, release, err := harvest.NewCatalog(unreachable).Hold(ctx, "a", time.Minute)
		require.NoError(t, err)
		cancel()
		began := time.Now()
		release()
		assert.Equal(t, 5*time.Second, time.Since(began))
	})
}

// A cutOff is a Store whose Updates fail as they are made to.
type cutOff struct {
	harvest.Store
	fail atomic.Pointer[func(context.Context) error]
}

func (s *cutOff) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	if f := s.fail.Load(); f != nil {
		return (*f)(ctx)
	}
	return s.Store.Update(ctx, fn)
}

func TestHoldLost(t *testing.T) {
	for name, tt := range map[string]struct {
		fail  func(context.Context) error
		after time.Duration // that no other can have the name before
	}{
		"another has it":     {func(context.Context) error { return harvest.ErrFenced }, 15 * time.Second},
		"no connection":      {func(context.Context) error { return errors.New("no connection") }, 53 * time.Second},
		"an endless request": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, 53 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &cutOff{Store: memstore.New()}
				held, release, err := harvest.NewCatalog(store).Hold(t.Context(), "a", time.Minute)
				require.NoError(t, err)
				time.Sleep(10 * time.Minute)
				require.NoError(t, held.Err())
				synctest.Wait()

				store.fail.Store(&tt.fail)
				cut := time.Now()
				<-held.Done()
				assert.ErrorIs(t, context.Cause(held), harvest.ErrFenced)
				assert.LessOrEqual(t, time.Since(cut), tt.after)
				store.fail.Store(nil)
				release()
			})
		})
	}
}

// TestHoldOutlivesAnOutage: the name stays if the Store answers again in time.
func TestHoldOutlivesAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &cutOff{Store: memstore.New()}
		held, release, err := harvest.NewCatalog(store).Hold(t.Context(), "a", time.Minute)
		require.NoError(t, err)
		broken := func(context.Context) error { return errors.New("no connection") }
		store.fail.Store(&broken)
		time.Sleep(40 * time.Second)
		store.fail.Store(nil)
		time.Sleep(10 * time.Minute)
		assert.NoError(t, held.Err())
		release()
	})
}
