package cli

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestAwaitAll: a target that can't be opened is opened again later and later, until it
// can be, and does not keep the others waiting.
func TestAwaitAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, failures := time.Now(), 0
		opened := map[string]time.Duration{}
		minutes := map[string]int{"at once": 0, "later": 200}
		AwaitAll(t.Context(), []string{"at once", "later"}, func(_ context.Context, name string) error {
			if time.Since(began) < time.Duration(minutes[name])*time.Minute {
				return errors.New(name)
			}
			opened[name] = time.Since(began)
			return nil
		}, func(err error) {
			assert.EqualError(t, err, "later")
			failures++
		})
		assert.Equal(t, map[string]time.Duration{"at once": 0, "later": (1 + 2 + 4 + 8 + 16 + 32 + 60 + 60 + 60) * time.Minute}, opened)
		assert.Equal(t, 9, failures)
	})
}

// TestAwaitAllEnds: the end of the context ends the waiting, whether for the next attempt
// or for a turn.
func TestAwaitAllEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		AwaitAll(ctx, make([]int, 3*opening), func(ctx context.Context, _ int) error {
			if n, _ := ctx.Deadline(); time.Until(n) < 50*time.Second {
				<-ctx.Done()
			}
			return errors.New("never")
		}, func(error) {})
	})
}
