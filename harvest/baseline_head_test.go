package harvest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

func puts(from, to int) (events []harvest.Event) {
	for i := from; i < to; i++ {
		id := fmt.Sprint("https://example.org/", i)
		events = append(events, harvest.Event{Resource: websync.Resource{ID: id}, Open: harvest.OpenBytes([]byte(id))})
	}
	return events
}

// The first state ends with the first run that is complete, and stays: also in the next
// generation, as far as its entries are there.
func TestBaselineOfHead(t *testing.T) {
	ctx := t.Context()
	s := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: s, Sample: -1}
	baseline := func(want websync.Seq) {
		t.Helper()
		head, err := s.Head(ctx)
		require.NoError(t, err)
		assert.Equal(t, want, head.Baseline)
		require.NoError(t, head.Check())
		faults, err := s.Inspect(ctx)
		require.NoError(t, err)
		assert.Empty(t, faults)
	}
	_, err := h.Run(ctx, cut{harvest.Of("a", puts(0, 3)...), errors.New("connection reset")})
	require.Error(t, err)
	baseline(0)
	_, err = h.Plan(ctx, harvest.Of("a"), nil)
	require.NoError(t, err)
	baseline(0)
	_, err = h.List(ctx, harvest.Of("a", puts(3, 5)...))
	require.NoError(t, err)
	_, err = h.Run(ctx, harvest.Of("a", puts(3, 5)...))
	require.NoError(t, err)
	baseline(5)
	_, err = h.Run(ctx, harvest.Of("b", puts(5, 9)...))
	require.NoError(t, err)
	baseline(5)
	changed := puts(1, 3)
	for i := range changed {
		changed[i].Resource.Title = "changed"
	}
	_, err = h.Run(ctx, harvest.Of("a", changed...))
	require.NoError(t, err)
	baseline(5)
	_, err = s.Compact(ctx)
	require.NoError(t, err)
	baseline(3) // 0, 3 and 4 are as they were
}

// If there was nothing, the first state is empty, and everything is a change.
func TestBaselineOfNothing(t *testing.T) {
	s := harvest.NewCatalog(memstore.New())
	h := &harvest.Harvester{Catalog: s}
	for range 2 {
		_, err := h.Run(t.Context(), harvest.Of("a"))
		require.NoError(t, err)
	}
	_, err := h.Run(t.Context(), harvest.Of("a", puts(0, 3)...))
	require.NoError(t, err)
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	assert.Zero(t, head.Baseline)
	assert.EqualValues(t, 3, head.Last)
}
