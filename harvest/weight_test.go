package harvest_test

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// verbose is a Source of n resources, each with a description of each bytes. most is the
// largest number of them that were in the engine at once.
type verbose struct {
	n, each   int
	committed atomic.Int64
	most      int64
}

func (v *verbose) Key() string { return "verbose" }

func (v *verbose) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	summary := strings.Repeat("s", v.each)
	return func(yield func(harvest.Event, error) bool) {
		for i := range v.n {
			v.most = max(v.most, int64(i)-v.committed.Load())
			r := websync.Resource{ID: base + strconv.Itoa(i), Summary: summary}
			if !yield(harvest.Event{Kind: harvest.Put, Resource: r}, nil) {
				return
			}
		}
	}
}

// TestLongDescriptions checks that the engine limits the bytes of pending events, too: a
// publisher can make each of a thousand entries megabytes long.
func TestLongDescriptions(t *testing.T) {
	src := &verbose{n: 24, each: 2 << 20}
	largest := 0
	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Bodies: harvest.SkipBodies, Hooks: &harvest.Hooks{
		Commit: func(_ context.Context, c harvest.CommitInfo) {
			src.committed.Add(int64(c.Puts))
			largest = max(largest, c.Puts)
		},
	}}
	report, err := h.Run(context.Background(), src)
	require.NoError(t, err)
	assert.EqualValues(t, src.n, report.Created)
	assert.LessOrEqual(t, src.most, int64(8), "at most 16 MiB are pending")
	assert.LessOrEqual(t, largest, 3, "a Commit has 4 MiB and at most one record more")
}
