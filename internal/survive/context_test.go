package survive

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		longer, end := Cancel(ctx, time.Minute)
		defer end()
		assert.Equal(t, "value", longer.Value(key{}))
		time.Sleep(time.Hour)
		cancel()
		time.Sleep(time.Minute - time.Nanosecond)
		synctest.Wait()
		require.NoError(t, longer.Err())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.ErrorIs(t, longer.Err(), context.Canceled)

		late, end := Cancel(ctx, time.Minute)
		synctest.Wait()
		require.NoError(t, late.Err())
		end()
		require.ErrorIs(t, late.Err(), context.Canceled)
	})
}
