package harvest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
)

// A table is rows by id.
type table map[string]tableRow

type tableRow struct {
	title, text string
	modified    time.Time
	deleted     bool
	bare        bool // without bytes
}

// rowsOf returns a Source over what tableNow returns. Its query fails after as many rows
// as failAfter returns, or never if that is negative.
func rowsOf(tableNow func() table, failAfter func() int) *harvest.Rows {
	return &harvest.Rows{Name: "rows", Query: func(ctx context.Context) iter.Seq2[harvest.Row, error] {
		return func(yield func(harvest.Row, error) bool) {
			now, n := tableNow(), failAfter()
			for _, id := range slices.Sorted(maps.Keys(now)) {
				if n == 0 {
					break
				}
				n--
				r := now[id]
				row := harvest.Row{ID: id, Title: r.title, Type: "text/plain", Modified: r.modified, Deleted: r.deleted}
				if !r.bare {
					row.Open = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewBufferString(r.text)), nil }
				}
				if !yield(row, nil) {
					return
				}
			}
			if n >= 0 {
				yield(harvest.Row{}, errBoom)
			}
		}
	}}
}

func never() int { return -1 }

// heldRows returns what the Catalog holds of the source "rows".
func heldRows(t testing.TB, c *harvest.Catalog) table {
	held := table{}
	for item, err := range c.Resources(t.Context(), websync.Range{Sources: []string{"rows"}}) {
		require.NoError(t, err)
		r := tableRow{title: item.Resource.Title, modified: item.Resource.Modified.Time(), bare: true}
		require.Equal(t, "text/plain", item.Resource.Content.Type)
		if b, ok := item.Body(websync.ContentName); ok {
			body, err := c.Open(t.Context(), b)
			require.NoError(t, err)
			text, err := io.ReadAll(body)
			require.NoError(t, errors.Join(err, body.Close()))
			r.text, r.bare = string(text), false
		} else {
			r.modified = time.Time{}
		}
		held[item.Resource.ID] = r
	}
	return held
}

// live returns the rows that a Catalog should hold.
func live(now table) table {
	live := maps.Clone(now)
	maps.DeleteFunc(live, func(_ string, r tableRow) bool { return r.deleted })
	for id, r := range live {
		if r.bare {
			r.text, r.modified = "", time.Time{} // a change of the time alone is none
			live[id] = r
		}
	}
	return live
}

// TestRowsType changes the type of a row, and nothing else.
func TestRowsType(t *testing.T) {
	row := harvest.Row{ID: "urn:row", Type: "text/plain", Modified: time.Unix(1_700_000_000, 0),
		Open: func(context.Context) (io.ReadCloser, error) { return harvest.OpenBytes([]byte("text"))() }}
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	src := &harvest.Rows{Name: "rows", Query: func(context.Context) iter.Seq2[harvest.Row, error] {
		return func(yield func(harvest.Row, error) bool) { yield(row, nil) }
	}}
	for _, row.Type = range []string{"text/plain", "text/markdown"} {
		_, err := h.Run(t.Context(), src)
		require.NoError(t, err)
		items, err := h.Catalog.Get(t.Context(), "rows", []string{"urn:row"})
		require.NoError(t, err)
		require.Equal(t, row.Type, items[0].Resource.Content.Type)
		require.Equal(t, row.Type, items[0].Bodies[0].Link.Type)
	}
}

// TestRowsHistory changes a table at random, and compares the Catalog with it after each
// run. After a failed query each row is as it was or as it is now, and none is gone but
// those that are marked.
func TestRowsHistory(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		now, fail := table{}, -1
		src := rowsOf(func() table { return now }, func() int { return fail })
		h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New()), MaxDelete: -1}
		clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		untimed := seed%4 == 3
		for step := range 60 {
			for range random.IntN(8) {
				id := fmt.Sprint("urn:row:", random.IntN(20))
				clock = clock.Add(time.Duration(random.IntN(3)+1) * time.Microsecond)
				was, ok := now[id]
				row := tableRow{title: fmt.Sprint(random.IntN(3)), text: fmt.Sprint(step, id), modified: clock}
				switch n := random.IntN(10); {
				case n < 2:
					delete(now, id)
					continue
				case n == 2 && ok: // a deletion that is marked
					row = was
					row.deleted, row.modified = true, clock
				case n == 3 && ok && !was.deleted: // restored from before
					row.modified = was.modified.Add(-time.Hour)
				case n == 4 && ok && !was.deleted:
					row = was
					row.title += "!"
				case n == 5:
					row.bare = true
				}
				if untimed {
					row.modified = time.Time{}
				}
				now[id] = row
			}
			want, before, failed := live(now), heldRows(t, h.Catalog), len(now) > 0 && random.IntN(4) == 0
			if fail = -1; failed {
				fail = random.IntN(len(now) + 1)
			}
			report, err := h.Run(t.Context(), src)
			require.Equal(t, failed, errors.Is(err, errBoom), "%v", err)
			held := heldRows(t, h.Catalog)
			switch {
			case failed:
				require.False(t, report.InStep())
				for id := range before {
					if _, ok := held[id]; !ok {
						require.True(t, now[id].deleted, "%s is gone", id)
					}
				}
				for id, row := range held {
					require.Contains(t, []tableRow{before[id], want[id]}, row)
				}
			case len(want) > 0:
				require.True(t, report.InStep(), "step %d of seed %d: %+v", step, seed, report)
				require.Equal(t, want, held, "step %d of seed %d", step, seed)
			}
			if !failed && len(want) > 0 {
				report, err := h.Run(t.Context(), src)
				require.NoError(t, err)
				require.Zero(t, report.Created+report.Updated+report.Deleted, "the second run changes nothing")
			}
		}
	}
}

func TestRowsConformance(t *testing.T) {
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	states := []table{
		{"urn:1": {text: "1", modified: at(1)}, "urn:2": {text: "2", modified: at(2)}, "urn:3": {text: "3", modified: at(3)}, "urn:4": {title: "bare", bare: true}},
		{"urn:1": {text: "one", modified: at(4)}, "urn:2": {text: "2", modified: at(2)}, "urn:3": {modified: at(5), deleted: true}, "urn:5": {text: "5"}},
		{"urn:1": {text: "one", modified: at(4)}, "urn:3": {text: "again", modified: at(6)}, "urn:5": {text: "5"}, "urn:4": {title: "BARE", bare: true}},
	}
	now := 0
	sourcetest.Run(t, sourcetest.Options{
		Source: func() harvest.Source { return rowsOf(func() table { return states[now] }, never) },
		Sites:  make([]sourcetest.Site, len(states)),
		Store:  func(testing.TB) harvest.Store { return memstore.New() },
		Enter:  func(_ testing.TB, state int) { now = state },
	})
}

// Rows that are missing are deleted within the delete guard, those that are marked
// always.
func TestRowsGuard(t *testing.T) {
	now := table{}
	for i := range 20 {
		now[fmt.Sprint("urn:", i)] = tableRow{bare: true}
	}
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	run := func() *harvest.Report {
		report, err := h.Run(t.Context(), rowsOf(func() table { return now }, never))
		require.NoError(t, err)
		return report
	}
	run()
	all := maps.Clone(now)
	for i := range 15 {
		delete(now, fmt.Sprint("urn:", i))
	}
	report := run()
	assert.Equal(t, []int64{0, 15}, []int64{report.Deleted, report.Left.Withheld})
	now = all
	for i := range 15 {
		now[fmt.Sprint("urn:", i)] = tableRow{deleted: true}
	}
	report = run()
	assert.Equal(t, []int64{15, 0}, []int64{report.Deleted, report.Left.Withheld})
}

// Bytes that can't be read are a Problem: nothing is deleted, and the next run tries
// again.
func TestRowsOpenFails(t *testing.T) {
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := table{"urn:1": {text: "1", modified: at}, "urn:2": {text: "2", modified: at}, "urn:3": {text: "3", modified: at}}
	good := rowsOf(func() table { return now }, never)
	_, err := h.Run(t.Context(), good)
	require.NoError(t, err)
	before := maps.Clone(now)
	delete(now, "urn:3")
	now["urn:1"] = tableRow{text: "one", modified: at.Add(1000)}
	bad := &harvest.Rows{Name: "rows", Query: func(ctx context.Context) iter.Seq2[harvest.Row, error] {
		return func(yield func(harvest.Row, error) bool) {
			for row, err := range good.Query(ctx) {
				if row.ID == "urn:1" {
					row.Open = func(context.Context) (io.ReadCloser, error) { return nil, errBoom }
				}
				if !yield(row, err) {
					return
				}
			}
		}
	}}
	report, err := h.Run(t.Context(), bad)
	require.NoError(t, err)
	assert.False(t, report.InStep())
	assert.Equal(t, before, heldRows(t, h.Catalog))
	report, err = h.Run(t.Context(), good)
	require.NoError(t, err)
	assert.True(t, report.InStep())
	assert.Equal(t, now, heldRows(t, h.Catalog))
}

// A Query that its context ends without an error has not yielded all rows.
func TestRowsEnd(t *testing.T) {
	h := &harvest.Harvester{Catalog: harvest.NewCatalog(memstore.New())}
	now := table{"urn:1": {text: "1"}, "urn:2": {text: "2"}}
	_, err := h.Run(t.Context(), rowsOf(func() table { return now }, never))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = h.Run(ctx, &harvest.Rows{Name: "rows", Query: func(context.Context) iter.Seq2[harvest.Row, error] {
		return func(yield func(harvest.Row, error) bool) {
			if yield(harvest.Row{ID: "urn:1"}, nil) {
				cancel()
			}
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, now, heldRows(t, h.Catalog))

	ctx, cancel = context.WithCancel(t.Context())
	src := &harvest.Rows{Name: "rows", Query: func(context.Context) iter.Seq2[harvest.Row, error] {
		return func(func(harvest.Row, error) bool) { cancel() }
	}}
	for event, err := range src.Events(ctx, nil) {
		if event.Kind != harvest.SnapshotStart {
			require.ErrorIs(t, err, context.Canceled, "%v", event.Kind)
		}
	}

	_, err = h.Run(t.Context(), &harvest.Rows{Name: "rows"})
	assert.EqualError(t, err, "harvest: Rows.Query is nil")
	_, err = h.Run(t.Context(), &harvest.Rows{Query: rowsOf(func() table { return now }, never).Query})
	assert.EqualError(t, err, "harvest: Rows.Name is empty")
}
