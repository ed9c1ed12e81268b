package harvest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
)

// A countingDB counts what its Views read.
type countingDB struct {
	harvest.Store
	gets, scans, most int // most: bytes of values that one View has read
	views, bytes      int
}

func (d *countingDB) View(ctx context.Context, fn func(harvest.Reader) error) error {
	return d.Store.View(ctx, func(r harvest.Reader) error {
		c := &countingReader{Reader: r, d: d}
		defer func() {
			d.most = max(d.most, c.bytes)
			d.bytes += c.bytes
		}()
		d.views++
		return fn(c)
	})
}

type countingReader struct {
	harvest.Reader
	d     *countingDB
	bytes int
}

func (r *countingReader) Get(key []byte) ([]byte, error) {
	v, err := r.Reader.Get(key)
	r.d.gets++
	r.bytes += len(v)
	return v, err
}

func (r *countingReader) Scan(from, to []byte, n int, fn func(k, v []byte) bool) error {
	r.d.scans++
	return r.Reader.Scan(from, to, n, func(k, v []byte) bool {
		r.bytes += len(v)
		return fn(k, v)
	})
}

// Resources reads the entries of the log that are near to each other by a Scan, and the
// others by Gets.
func TestResourcesInRuns(t *testing.T) {
	racing.Skip(t)
	const n = 512 // two pages
	for _, tt := range []struct {
		name        string
		size        int   // of each resource
		updates     []int // indexes of a second commit
		touches     []int // likewise
		same        []int // Touches that repeat the item
		gets, scans int   // of the pages, at most
		most        int   // bytes
	}{
		{name: "unchanged", scans: 4, most: 100_000},
		{name: "every tenth updated", updates: every(10, 1), scans: 6, most: 100_000},
		{name: "some updated far from each other", updates: []int{0, 300, 1, 301, 2, 302, 3, 303, 4, 304, 5}, scans: 6, most: 100_000},
		{name: "all updated in another order", updates: every(1, 37), gets: n, scans: 100, most: 100_000},
		{name: "some touched", touches: every(50, 1), gets: 11, scans: 4, most: 100_000},
		{name: "touched with the same item", same: every(50, 1), scans: 4, most: 100_000},
		{name: "few not updated", size: 100, updates: allBut(every(8, 1)), gets: 64, scans: 6, most: 70_000},
		{name: "large", size: 100_000, gets: n, scans: 600, most: 800 << 10},
		{name: "large, in another order", size: 100_000, updates: every(1, 37), gets: n, scans: 600, most: 800 << 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := &countingDB{Store: memstore.New()}
			s := harvest.NewCatalog(db)
			c := claim(t, s)
			ids, seqs := make([]string, n), make([]websync.Seq, n)
			want := make([]string, n)
			summary := strings.Repeat("x", tt.size)
			change := func(i int, title string) harvest.Change {
				p := changeTo(ids[i], seqs[i], websync.Updated)
				p.Record.Resource.Title, p.Record.Resource.Summary = title, summary
				want[i] = fmt.Sprint(ids[i], title)
				return p
			}
			b := harvest.NewBatch("a")
			for i := range n {
				ids[i] = fmt.Sprintf("%04d", i*7919%n)
				b.Puts = append(b.Puts, change(i, "first"))
				seqs[i] = websync.Seq(i + 1)
			}
			commit(t, s, c, b)
			b = harvest.NewBatch("a")
			for _, i := range tt.updates {
				b.Puts = append(b.Puts, change(i, "second"))
			}
			for _, i := range tt.touches {
				b.Touches = append(b.Touches, change(i, "touched"))
			}
			for _, i := range tt.same {
				b.Touches = append(b.Touches, change(i, "first"))
			}
			commit(t, s, c, b)
			inspect(t, db.Store)

			check := func(gets, scans int) {
				db.gets, db.scans, db.most = 0, 0, 0
				var got []string
				for item, err := range s.Resources(ctx, websync.Range{}) {
					require.NoError(t, err)
					require.Len(t, item.Resource.Summary, tt.size)
					got = append(got, item.Resource.ID+item.Resource.Title)
				}
				assert.Equal(t, want, got)
				const each = 2 // of a View: the head, the name of the source
				pages := n/256 + n*tt.size>>17
				assert.LessOrEqual(t, db.gets, gets+each*(pages+2), "Gets")
				assert.LessOrEqual(t, db.scans, scans, "Scans")
				assert.LessOrEqual(t, db.most, tt.most, "bytes in a View")
			}
			check(tt.gets, tt.scans)
			_, err := s.Compact(ctx)
			require.NoError(t, err)
			check(tt.gets, tt.scans)
		})
	}
}

// every returns each step-th number below 512, in an order that stride makes.
func every(step, stride int) (list []int) {
	for i := range 512 / step {
		list = append(list, i*stride%(512/step)*step)
	}
	return list
}

// allBut returns the numbers below 512 that are not in list, in order.
func allBut(list []int) (others []int) {
	for i := range 512 {
		if !slices.Contains(list, i) {
			others = append(others, i)
		}
	}
	return others
}
