package sqlitestore_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

// TestLayout opens a file that an earlier version wrote, before the Store was two
// methods: 40 resources of the source "a", changes and a deletion, a Compact, more
// changes, and a task of the source "b". All of it is there, and a harvest goes on.
func TestLayout(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "layout7"))))
	db, err := sqlitestore.Open(t.Context(), filepath.Join(dir, "layout7.db"), nil)
	require.NoError(t, err)
	defer db.Close()
	c, ctx := harvest.NewCatalog(db), t.Context()
	inspect := func() {
		t.Helper()
		faults, err := c.Inspect(ctx)
		require.NoError(t, err)
		require.Empty(t, faults)
	}
	texts := func(source string) map[string]string {
		all := map[string]string{}
		for rec, err := range c.Records(ctx, source, "") {
			require.NoError(t, err)
			if !rec.Live() {
				all[rec.Resource.ID] = "deleted"
				continue
			}
			b, ok := rec.Body(websync.ContentName)
			require.True(t, ok)
			r, err := c.Open(ctx, b)
			require.NoError(t, err)
			text, err := io.ReadAll(r)
			require.NoError(t, err)
			require.NoError(t, r.Close())
			all[rec.Resource.ID] = string(text)
		}
		return all
	}
	const base = "https://example.com/"
	want := map[string]string{base + "100": "new"}
	for i := range 40 {
		want[fmt.Sprint(base, i)] = fmt.Sprintf("text of %d", i)
	}
	want[base+"3"], want[base+"4"], want[base+"5"], want[base+"6"] = "changed", strings.Repeat("long ", 10_000), "deleted", "after Compact"

	inspect()
	assert.Equal(t, want, texts("a"))
	assert.Equal(t, map[string]string{base + "7": "of b"}, texts("b"))
	head, err := c.Head(ctx)
	require.NoError(t, err)
	assert.Equal(t, map[string]int64{"a": 40, "b": 1}, head.Live)
	assert.EqualValues(t, 2, head.Generation)
	for generation, n := range map[uint64]int{1: 43, 2: 43} {
		entries := 0
		for _, err := range c.Changes(ctx, websync.Range{Generation: generation}) {
			require.NoError(t, err)
			entries++
		}
		assert.Equal(t, n, entries, "generation %d", generation)
	}
	at, err := c.Checkpoint(ctx, "a")
	require.NoError(t, err)
	assert.Equal(t, harvest.Checkpoint{Version: 3, Data: []byte("there")}, at)
	value, err := c.State(ctx, "key")
	require.NoError(t, err)
	assert.Equal(t, "value", string(value))
	var tasks []string
	for task, err := range c.Tasks(ctx, "b", "") {
		require.NoError(t, err)
		tasks = append(tasks, task.Resource.ID)
	}
	assert.Equal(t, []string{base + "8"}, tasks)

	h := &harvest.Harvester{Catalog: c, Sample: -1}
	event := func(i int, day int) harvest.Event {
		modified := websync.NewDatetime(time.Date(2026, 1, day, 12, 0, 0, 0, time.UTC))
		return harvest.Event{Open: harvest.OpenBytes([]byte("later")), Resource: websync.Resource{ID: fmt.Sprint(base, i), Title: fmt.Sprint("Title ", i),
			Modified: modified, Content: websync.Link{Type: "text/plain"}}}
	}
	report, err := h.Run(ctx, harvest.Of("a", event(3, 2), event(7, 9)))
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 1}, []int64{report.Unchanged, report.Updated})
	_, err = c.Compact(ctx)
	require.NoError(t, err)
	want[base+"7"] = "later"
	assert.Equal(t, want, texts("a"))
	inspect()
}
