package publishing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
)

// newLog returns a log with an entry at each of these seconds.
func newLog(seconds ...int) *websync.Log {
	log := new(websync.Log)
	for _, s := range seconds {
		log.Append(websync.Item{Time: time.Unix(int64(s), 0), Resource: websync.Resource{ID: fmt.Sprint("urn:", s)}})
	}
	return log
}

// TestSince walks a log that grows, and one that replaces it, without losing or repeating
// an entry.
func TestSince(t *testing.T) {
	ctx := t.Context()
	of := func(log websync.Catalog) *publishing.Chain {
		return &publishing.Chain{Site: publishing.New(publishing.Settings{Package: "x", Place: websync.Place{Catalog: log, Base: "https://example.org/"}, Path: "a.xml"}), Size: 2}
	}
	var got []string
	at := publishing.Position{}
	take := func(c *publishing.Chain) (documents int) {
		for {
			d, end, err := c.Since(ctx, at, 3)
			require.NoError(t, err)
			text, err := publishing.ParsePosition(end.String())
			require.NoError(t, err)
			require.Equal(t, end, text)
			at = end
			if d.After == d.Last {
				return documents
			}
			documents++
			from, err := d.From(ctx)
			require.NoError(t, err)
			for item, err := range d.Entries(ctx, nil) {
				require.NoError(t, err)
				assert.False(t, item.Time.Before(from))
				assert.False(t, item.Time.After(d.Time))
				got = append(got, item.Resource.ID)
			}
		}
	}
	empty := of(new(websync.Log))
	assert.Zero(t, take(empty))
	end, err := empty.End(ctx)
	require.NoError(t, err)
	assert.Equal(t, at, end)

	log := newLog(10, 20, 30, 40)
	c := of(log)
	assert.Equal(t, 2, take(c))
	assert.Zero(t, take(c))
	log.Append(websync.Item{Time: time.Unix(50, 0), Resource: websync.Resource{ID: "urn:50"}})
	assert.Equal(t, 1, take(c))
	assert.Equal(t, 1, take(of(newLog(20, 40, 50, 60))), "fewer numbers, as after a compaction")
	assert.Equal(t, 1, take(of(newLog(5, 10, 20, 40, 50, 60, 70))), "more numbers")
	assert.Zero(t, take(of(newLog(5))), "an older one")
	assert.Equal(t, []string{"urn:10", "urn:20", "urn:30", "urn:40", "urn:50", "urn:60", "urn:70"}, got)
	for _, text := range []string{"", "1 2", "1 2 x", "1 2 3 4", "01 2 3", "-1 2 3"} {
		_, err := publishing.ParsePosition(text)
		assert.Error(t, err, text)
	}
}

// TestDocumentSince: the entries from a time on, and single entries by their numbers.
func TestDocumentSince(t *testing.T) {
	ctx := t.Context()
	s := publishing.New(publishing.Settings{Package: "x", Place: websync.Place{Catalog: newLog(10, 20, 30, 40, 50), Base: "https://example.org/"}, Path: "a.xml"})
	c := &publishing.Chain{Site: s, Size: 2}
	whole, _, err := c.Whole(ctx)
	require.NoError(t, err)
	listed := func(d publishing.Segment) (ids []string) {
		for item, err := range d.Entries(ctx, nil) {
			require.NoError(t, err)
			ids = append(ids, item.Resource.ID)
		}
		return ids
	}
	all := []string{"urn:10", "urn:20", "urn:30", "urn:40", "urn:50"}
	for second, after := range map[int64]int{0: 0, 10: 0, 11: 1, 30: 2, 50: 4} {
		recent, err := whole.Since(ctx, time.Unix(second, 0))
		require.NoError(t, err)
		assert.Equal(t, all[after:], listed(recent), second)
		again, err := recent.Since(ctx, time.Unix(30, 0))
		require.NoError(t, err)
		assert.Equal(t, all[max(after, 2):], listed(again), second)
	}
	none, err := whole.Since(ctx, time.Unix(51, 0))
	require.NoError(t, err)
	assert.Empty(t, listed(none))
	found, err := whole.EntriesAt(ctx, []websync.Seq{5, 2, 9, 2})
	require.NoError(t, err)
	require.Len(t, found, 2)
	assert.Equal(t, "urn:20", found[2].Resource.ID)
	assert.Equal(t, "urn:50", found[5].Resource.ID)
}
