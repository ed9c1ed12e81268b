package harvest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
)

// A process that died leaves a claim. A run says until when that stands, and waits for
// its end if it is to.
func TestHeldClaim(t *testing.T) {
	die := func(w *world) *harvest.Claim {
		c, err := w.store.Claim(t.Context(), "source/"+src, time.Minute)
		require.NoError(w, err)
		return c
	}
	source := harvest.Of(src, put("a", day(1)))
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		claim := die(w)
		_, err := w.h.Run(t.Context(), source)
		held, ok := errors.AsType[*harvest.HeldError](err)
		require.True(t, ok, "%v", err)
		require.ErrorIs(t, err, harvest.ErrHeld)
		assert.Equal(t, "source/"+src, held.Name)
		assert.True(t, held.Expires.Equal(claim.Expires))
		assert.ErrorContains(t, err, claim.Expires.Format(time.RFC3339))
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		die(w)
		began := time.Now()
		var waits []string
		w.h.Wait = true
		w.h.Hooks = &harvest.Hooks{Held: func(source string, err error) {
			require.ErrorIs(t, err, harvest.ErrHeld)
			waits = append(waits, source)
		}}
		require.True(t, w.run(source).InStep())
		assert.Equal(t, []string{src}, waits)
		assert.InDelta(t, 60, time.Since(began).Seconds(), 2)
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		die(w)
		w.h.Wait = true
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := w.h.Run(ctx, source)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
