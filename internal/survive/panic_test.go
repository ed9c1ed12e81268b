package survive_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/survive"
)

func explode(v any) error { panic(v) }

func TestCall(t *testing.T) {
	failed := errors.New("failed")
	assert.NoError(t, survive.Panic("lib", func() error { return nil }))
	assert.Equal(t, failed, survive.Panic("lib", func() error { return failed }))

	for text, v := range map[string]any{"out of range": "out of range", "failed": failed, "[1 2]": []int{1, 2}, strings.Repeat("é", 1000): strings.Repeat("é", 2000)} {
		err := survive.Panic("lib", func() error { return explode(v) })
		assert.EqualError(t, err, "lib: panic: "+text)
		assert.Equal(t, v == any(failed), errors.Is(err, failed))
		caught, ok := errors.AsType[*websync.PanicError](err)
		require.True(t, ok)
		assert.Equal(t, v, caught.Value)
		assert.Contains(t, string(caught.Stack), "survive_test.explode")
	}
	assert.ErrorContains(t, survive.Panic("lib", func() error { return explode(nil) }), "lib: panic: panic called with nil argument")
}

// TestAgain: a panic that goes on in another goroutine has the stack of the first.
func TestAgain(t *testing.T) {
	failed := errors.New("failed")
	first, _ := errors.AsType[*websync.PanicError](survive.Panic("lib", func() error { return explode(failed) }))
	again := &survive.Rethrown{PanicError: first}
	assert.ErrorIs(t, again, failed)
	assert.Contains(t, again.Error(), "survive_test.explode")
	caught, ok := errors.AsType[*websync.PanicError](survive.Panic("lib", func() error { panic(again) }))
	require.True(t, ok)
	assert.Same(t, first, caught)
}
