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

// newChain returns a chain over log with three numbers a document, for change lists in
// plain text.
func newChain(log websync.Catalog, settings string) *publishing.Chain {
	s := publishing.New(publishing.Settings{
		Package: "text", Place: websync.Place{Catalog: log, Base: "https://example.org/", Locator: websync.PathLocator{Base: "https://example.org/", Own: []string{"own"}}}, Path: "changes.txt",
	})
	return &publishing.Chain{Site: s, Size: 3, Settings: settings}
}

// refused is an id that only an own source may have.
const refused = "https://example.org/own"

// write returns the latest state of each id. Deleted ids have a minus.
func write(t *testing.T, d publishing.Segment) (ids []string) {
	items, err := d.Latest(t.Context(), func(item *websync.Item, why error) { assert.Equal(t, refused, item.Resource.ID, why) })
	require.NoError(t, err)
	for _, item := range items {
		mark := ""
		if item.Kind == websync.Deleted {
			mark = "-"
		}
		ids = append(ids, mark+item.Resource.ID)
	}
	return ids
}

func change(id string) websync.Item {
	return websync.Item{Source: "a", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Resource: websync.Resource{ID: id}}
}

func TestChain(t *testing.T) {
	ctx := t.Context()
	log := new(websync.Log)
	c := newChain(log, "1")
	open, err := c.Open(ctx, 0)
	require.NoError(t, err)
	assert.Empty(t, write(t, open))
	from, err := open.From(ctx)
	require.NoError(t, err)
	assert.Zero(t, from)

	gone := change("b")
	gone.Kind = websync.Deleted
	log.Append(change("a"), change("b"), change("a"))
	log.Append(gone, change(refused), change("c"), change("d"))

	var paths []string
	for path, err := range c.Site.Documents([]publishing.Numbered{c.Numbered(ctx)}, c.Site.Root) {
		require.NoError(t, err)
		paths = append(paths, path)
	}
	require.Len(t, paths, 3)
	want := [][]string{{"a", "b"}, {"c", "-b"}}
	for i, path := range paths[:2] {
		assert.True(t, c.IsClosed(path))
		d, err := c.Closed(ctx, path)
		require.NoError(t, err)
		assert.Equal(t, want[i], write(t, d))
		assert.Equal(t, path, d.Path())
		before, ok, err := d.Previous(ctx)
		require.NoError(t, err)
		if assert.Equal(t, i > 0, ok) && ok {
			assert.Equal(t, paths[0], before.Path())
		}
	}
	open, err = c.Open(ctx, 0)
	require.NoError(t, err)
	assert.Equal(t, []string{"d", "c", "-b"}, write(t, open), "after the last closed document but one")
	before, ok, err := open.Previous(ctx)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, paths[0], before.Path())
	from, err = open.From(ctx)
	require.NoError(t, err)
	assert.Equal(t, before.Time, from, "each begins when the one before ends")
	from, err = before.From(ctx)
	require.NoError(t, err)
	assert.Zero(t, from, "before the first there is nothing")
	assert.Equal(t, "/changes.txt", open.Path())
	assert.False(t, c.IsClosed(c.IndexPath()))

	var all []string
	for item, err := range open.Entries(ctx, func(item *websync.Item, why error) { all = append(all, fmt.Sprint("not ", item.Seq)) }) {
		require.NoError(t, err)
		all = append(all, fmt.Sprint(item.Seq))
	}
	assert.Equal(t, []string{"4", "not 5", "6", "7"}, all)

	for path, want := range map[string]error{
		fmt.Sprintf("/changes-1-%08d-1.txt", 0):      websync.ErrGone,
		fmt.Sprintf("/changes-2-%08d-1.txt", 0):      websync.ErrNotFound,
		c.Site.Numbered(fmt.Sprintf("1-%08d", 0), 3): websync.ErrNotFound,
	} {
		assert.True(t, c.IsClosed(path), path)
		_, err := c.Closed(ctx, path)
		assert.ErrorIs(t, err, want, path)
	}
	_, err = newChain(log, "2").Closed(ctx, paths[0])
	assert.ErrorIs(t, err, websync.ErrGone, "other settings")
	for _, path := range []string{"/changes.txt", "/changes-1-0-1.txt", "/changes-01-00000000-1.txt", "/changes-1-00000000-0.txt", "/changes-00000000-1.txt"} {
		assert.False(t, c.IsClosed(path), path)
	}
}

func TestReported(t *testing.T) {
	log := new(websync.Log)
	c := newChain(log, "1")
	for i := range 10 {
		log.Append(change(fmt.Sprint(i)))
	}
	var paths []string
	for path, err := range c.Site.Documents([]publishing.Numbered{c.Numbered(t.Context())}) {
		require.NoError(t, err)
		paths = append(paths, path)
	}
	at := func(n int) publishing.Segment {
		d, err := c.Closed(t.Context(), paths[n-1])
		require.NoError(t, err)
		return d
	}
	for _, n := range []int{2, 1, 3} { // in either order, each beside the range before
		d := at(n)
		assert.False(t, d.IsReported(d.Last), n)
		d.SetReported()
		assert.True(t, d.IsReported(d.Last) && d.IsReported(d.After+1), n)
	}
	d := at(1)
	assert.True(t, d.IsReported(1) && d.IsReported(9), "all three")
	assert.False(t, d.IsReported(10))

	whole, _, err := c.Whole(t.Context())
	require.NoError(t, err)
	require.NoError(t, whole.CheckUnchanged(t.Context()))
	log.Append(change("x"))
	assert.ErrorIs(t, whole.CheckUnchanged(t.Context()), websync.ErrConflict)
}

func TestHistory(t *testing.T) {
	log := new(websync.Log)
	c := newChain(log, "1")
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for day := range 14 { // documents end on days 2, 5, 8 and 11
		item := change(fmt.Sprint(day))
		item.Time = start.AddDate(0, 0, day)
		log.Append(item)
	}
	for days, want := range map[int]websync.Seq{0: 9, 4: 9, 5: 6, 7: 6, 8: 3, 10: 3, 11: 0, 1000: 0} {
		d, err := c.Open(t.Context(), time.Duration(days)*24*time.Hour)
		require.NoError(t, err)
		assert.Equal(t, want, d.After, "%d days", days)
	}
}

// TestPeriod: a closed document ends before the first entry of another period, or with
// Size entries, and the log only decides where.
func TestPeriod(t *testing.T) {
	ctx := t.Context()
	log := newLog(1, 2, 11, 12, 13, 14, 15, 41)
	c := newChain(log, "1")
	c.Period = 10 * time.Second
	var ends []websync.Seq
	for path, err := range c.Site.Documents([]publishing.Numbered{c.Numbered(ctx)}) {
		require.NoError(t, err)
		d, err := c.Closed(ctx, path)
		require.NoError(t, err)
		ends = append(ends, d.After, d.Last)
		assert.Equal(t, path, d.Path())
	}
	assert.Equal(t, []websync.Seq{0, 2, 2, 5, 5, 7}, ends)
	for seconds, after := range map[int]websync.Seq{0: 5, 26: 5, 28: 2, 39: 0} {
		open, err := c.Open(ctx, time.Duration(seconds)*time.Second)
		require.NoError(t, err)
		assert.Equal(t, after, open.After, "%d seconds", seconds)
	}
	log.Append(websync.Item{Time: time.Unix(49, 0), Resource: websync.Resource{ID: "urn:49"}}, websync.Item{Time: time.Unix(49, 1000), Resource: websync.Resource{ID: "urn:50"}})
	open, err := c.Open(ctx, 0)
	require.NoError(t, err)
	assert.Equal(t, websync.Seq(7), open.After, "the period is not over, but the document is full")
	before, ok, err := open.Previous(ctx)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, websync.Seq(5), before.After)
}

// Documents of changes begin after the first state, wherever in a document it ends.
func TestAfterBaseline(t *testing.T) {
	ctx := t.Context()
	for first := range 8 {
		t.Run(fmt.Sprint(first, " at first"), func(t *testing.T) {
			log := new(websync.Log)
			for i := range first {
				log.Append(change(fmt.Sprint(i)))
			}
			before := newChain(log, "1")
			before.AfterBaseline = true
			var old []string
			for path := range before.Site.Documents([]publishing.Numbered{before.Numbered(ctx)}) {
				old = append(old, path)
			}
			require.Len(t, old, first/3)
			log.EndBaseline()
			log.EndBaseline()
			c := newChain(log, "1")
			c.AfterBaseline = true
			d, err := c.Open(ctx, 0)
			require.NoError(t, err)
			assert.Empty(t, write(t, d), "no changes yet")
			assert.False(t, d.HasPrevious())
			for _, path := range old {
				_, err := c.Closed(ctx, path)
				assert.ErrorIs(t, err, websync.ErrGone, "it had what was no change")
			}
			for i := first; i < 11; i++ {
				log.Append(change(fmt.Sprint(i)))
				d, err := c.Open(ctx, 0)
				require.NoError(t, err)
				seen := d.Last
				for ok := true; ok; d, ok, err = d.Previous(ctx) {
					require.NoError(t, err)
					assert.LessOrEqual(t, d.Last, seen)
					seen = d.After
					from, err := d.From(ctx)
					require.NoError(t, err)
					assert.Equal(t, seen == 0, from.IsZero())
				}
				assert.EqualValues(t, first, seen, "all changes, and nothing else, after %d", i)
				n := 0
				for path, err := range c.Site.Documents([]publishing.Numbered{c.Numbered(ctx)}) {
					require.NoError(t, err)
					closed, err := c.Closed(ctx, path)
					require.NoError(t, err)
					assert.Equal(t, path, closed.Path())
					n++
				}
				assert.Equal(t, (i+1)/3-first/3, n)
			}
		})
	}
}

// A time that is stated and not yet over when it is committed is not published.
func TestLastMod(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for stated, want := range map[string]string{
		"":                     "2026-01-02T03:04:05Z",
		"2026-01-02":           "2026-01-02",
		"2025":                 "2025",
		"2026-01-02T03:04:05Z": "2026-01-02T03:04:05Z",
		"2026-01-02T03:04:06Z": "2026-01-02T03:04:05Z",
		"2099":                 "2026-01-02T03:04:05Z",
	} {
		item := websync.Item{Time: at}
		if stated != "" {
			var err error
			item.Resource.Modified, err = websync.ParseDatetime(stated)
			require.NoError(t, err)
		}
		assert.Equal(t, want, publishing.LastMod(&item).String(), stated)
	}
}

// What a caller passes on to an ETag, such as the Hubs of a Publisher, stays as it is.
func TestETagKeepsItsArguments(t *testing.T) {
	log := new(websync.Log)
	log.Append(change("a"))
	log.EndBaseline()
	c := newChain(log, "1")
	c.AfterBaseline = true
	d, err := c.Open(t.Context(), 0)
	require.NoError(t, err)
	hubs := []string{"https://hub.example.net/", "free"}
	d.ETag(hubs[:1]...)
	assert.Equal(t, "free", hubs[1])
}
