package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// Fingerprints reads the blocks of a source that has most of the records, and the records
// of one that has few. Both have each record that is live throughout once, though the
// loop commits, and none that came since.
func TestFingerprintsOfManyAndFew(t *testing.T) {
	const many, few = 20_000, 300
	db := &countingDB{Store: memstore.New()}
	s := harvest.NewCatalog(db)
	c := claim(t, s)
	name := func(source string, i int) string { return fmt.Sprintf("%s %05d", source, i*7919%many) }
	for i := 0; i < many; i += 1000 {
		b, other := harvest.NewBatch("many"), harvest.NewBatch("few")
		for k := i; k < i+1000; k++ {
			b.Puts = append(b.Puts, changeTo(name("many", k), 0, websync.Created))
			if k < few {
				other.Puts = append(other.Puts, changeTo(name("few", k), 0, websync.Created))
			}
		}
		commit(t, s, c, b)
		commit(t, s, c, other)
	}
	for _, tt := range []struct {
		source     string
		n, changes int
		views      int // at most
		bytes      int // of each record, at most
	}{
		{source: "many", n: many, changes: 3000, views: many/8192 + 2, bytes: 40},
		{source: "few", n: few, changes: 100, views: few/256 + 3, bytes: 100},
	} {
		t.Run(tt.source, func(t *testing.T) {
			db.views, db.bytes = 0, 0
			all, err := s.Fingerprints(ctx, tt.source)
			require.NoError(t, err)
			seen := map[uint64]int{}
			for f, err := range all.All {
				require.NoError(t, err)
				seen[f.ID]++
			}
			assert.Len(t, seen, tt.n)
			assert.LessOrEqual(t, db.views, tt.views, "Views")
			assert.LessOrEqual(t, db.bytes, tt.bytes*tt.n, "bytes")

			clear(seen)
			all, err = s.Fingerprints(ctx, tt.source)
			require.NoError(t, err)
			later := harvest.NewBatch(tt.source)
			later.Puts = []harvest.Change{changeTo("later", 0, websync.Created)}
			commit(t, s, c, later)
			changed := harvest.NewBatch(tt.source)
			for f, err := range all.All {
				require.NoError(t, err)
				if seen[f.ID]++; len(seen) != 10 {
					continue
				}
				ids := make([]string, tt.changes)
				for i := range ids {
					ids[i] = name(tt.source, tt.n-1-i)
				}
				held, err := s.Lookup(ctx, tt.source, ids)
				require.NoError(t, err)
				for i, rec := range held {
					kind := websync.ChangeKind(1 + i%2) // Created or Deleted
					changed.Puts = append(changed.Puts, changeTo(ids[i], rec.Seq, kind), changeTo(fmt.Sprint("new ", i), 0, websync.Created))
				}
				commit(t, s, c, changed)
			}
			for i := range tt.n {
				id := all.Key.Of(&harvest.Brief{ID: name(tt.source, i)}).ID
				switch n := seen[id]; {
				case n > 1, n == 0 && (i < tt.n-tt.changes || (tt.n-1-i)%2 == 0):
					t.Fatalf("%s is there %d times", name(tt.source, i), n)
				}
				delete(seen, id)
			}
			assert.Empty(t, seen, "records that came since")
		})
	}
}

// Fingerprints ends with the error of the Store, and with that of its context.
func TestFingerprintsFail(t *testing.T) {
	s := harvest.NewCatalog(memstore.New())
	c := claim(t, s)
	for n := range 10 {
		b := harvest.NewBatch("a")
		for i := range 1000 {
			b.Puts = append(b.Puts, changeTo(fmt.Sprint(n, " ", i), 0, websync.Created))
		}
		commit(t, s, c, b)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	all, err := s.Fingerprints(ctx, "a")
	require.NoError(t, err)
	var failed error
	for _, err := range all.All {
		stop()
		failed = err
	}
	assert.ErrorIs(t, failed, context.Canceled)
	_, err = s.Fingerprints(ctx, "a")
	assert.ErrorIs(t, err, context.Canceled)
}

// A restingDB counts its rests.
type restingDB struct {
	harvest.Store
	rests int
	err   error
}

func (d *restingDB) Rest(context.Context) error {
	d.rests++
	return d.err
}

// A Store rests between two Updates of Compact and Drop. Its error ends them.
func TestRest(t *testing.T) {
	db := &restingDB{Store: memstore.New()}
	h := &hookDB{Store: db}
	s := harvest.OnePage(harvest.NewCatalog(struct {
		*hookDB
		harvest.Rester
	}{h, db}))
	worn(t, s, 700)
	generation, err := s.Compact(ctx)
	require.NoError(t, err)
	assert.Equal(t, 3, db.rests, "between the four pages of the log")
	require.NoError(t, s.Drop(ctx, generation))
	assert.Equal(t, 6, db.rests, "likewise")
	db.err = errors.New("no rest")
	_, err = s.Compact(ctx)
	assert.ErrorIs(t, err, db.err)
}
