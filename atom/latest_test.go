package atom

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/racing"
)

func newTestLatest(t testing.TB) *latest {
	l := newLatest()
	t.Cleanup(func() { assert.NoError(t, l.close()) })
	return l
}

// second returns the time n seconds after a fixed one; 0 is not stated.
func second(n int) websync.Datetime {
	if n == 0 {
		return websync.Datetime{}
	}
	return websync.NewDatetime(time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC))
}

func TestLatest(t *testing.T) {
	entry := func(document, item, at int) state { return state{document, item, second(at), false, false} }
	tombstone := func(document, item, at int) state { return state{document, item, second(at), true, false} }
	day, err := websync.ParseDatetime("2026-01-01")
	require.NoError(t, err)
	tests := map[string]struct {
		states []state // in the order of reading
		want   int
	}{
		"alone":                                    {[]state{entry(0, 0, 1)}, 0},
		"the later time":                           {[]state{entry(0, 0, 1), entry(0, 1, 3), entry(1, 0, 2)}, 1},
		"the later time in an older document":      {[]state{entry(0, 0, 1), entry(1, 0, 2)}, 1},
		"one time, the newer document":             {[]state{entry(0, 0, 1), entry(1, 0, 1)}, 0},
		"one time and document, the first":         {[]state{entry(0, 0, 1), entry(0, 1, 1)}, 0},
		"one document, the tombstone":              {[]state{entry(0, 0, 1), tombstone(0, 1, 1)}, 1},
		"one document, the tombstone before":       {[]state{tombstone(0, 0, 1), entry(0, 1, 1)}, 0},
		"one document, the entry is later":         {[]state{tombstone(0, 0, 1), entry(0, 1, 2)}, 1},
		"published again in a newer document":      {[]state{entry(0, 0, 1), tombstone(1, 0, 1)}, 0},
		"an entry in the document before":          {[]state{tombstone(0, 0, 1), entry(1, 0, 1)}, 0},
		"no times, the newer document":             {[]state{entry(0, 0, 0), entry(1, 0, 0)}, 0},
		"no time in the newer document":            {[]state{entry(0, 0, 0), entry(1, 0, 9)}, 0},
		"no time in the older document":            {[]state{entry(0, 0, 9), entry(1, 0, 0)}, 0},
		"no times in one document, the tombstone":  {[]state{entry(0, 0, 0), tombstone(0, 1, 0)}, 1},
		"a day and a second of it are of one time": {[]state{{0, 0, day, false, false}, entry(1, 0, 30)}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newTestLatest(t)
			for i, s := range test.states {
				require.NoError(t, l.add([]byte("urn:other"), state{document: s.document, item: 100 + i}))
				require.NoError(t, l.add([]byte("urn:id"), s))
			}
			for i, s := range test.states {
				assert.Equal(t, i == test.want, l.has(s.document, s.item), "state %d", i)
			}
			assert.Equal(t, 2, l.len())
		})
	}
}

// TestLatestCollisions: ids with the same hash, and ids whose hashes differ in their
// segment only, are distinct. So are an id and another one that begins with it.
func TestLatestCollisions(t *testing.T) {
	hashes := map[string]func([]byte) uint64{
		"all the same":  func([]byte) uint64 { return 7<<56 | 9 },
		"few segments":  func(id []byte) uint64 { return uint64(len(id)) << 56 },
		"the last slot": func([]byte) uint64 { return 1<<32 - 1 },
	}
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			const ids = 300
			l := newTestLatest(t)
			l.hash = hash
			for document := range 2 {
				for i := range ids {
					id := append(bytes.Repeat([]byte("x"), i/2), "ab"[i%2])
					require.NoError(t, l.add(id, state{document: document, item: i, time: second(1 + document*(i%2))}))
				}
			}
			assert.Equal(t, ids, l.len())
			for i := range ids {
				odd := i%2 == 1 // those are later in the older document
				assert.Equal(t, !odd, l.has(0, i), i)
				assert.Equal(t, odd, l.has(1, i), i)
			}
		})
	}
}

// TestLatestModel compares with a map, over many documents and more ids than stay in
// memory before they are written.
func TestLatestModel(t *testing.T) {
	const documents, items, ids = 40, 500, 6000
	rng := rand.New(rand.NewPCG(1, 2))
	l := newTestLatest(t)
	held := map[string]state{}
	for document := range documents {
		for item := range items {
			id := fmt.Sprintf("https://www.example.com/%0*d", rng.IntN(40), rng.IntN(ids))
			s := state{document, item, second(rng.IntN(50)), rng.IntN(4) == 0, false}
			require.NoError(t, l.add([]byte(id), s))
			if h, ok := held[id]; !ok || s.supersedes(h) {
				held[id] = s
			}
		}
	}
	require.Positive(t, l.written)
	want := map[[2]int]bool{}
	for _, s := range held {
		want[[2]int{s.document, s.item}] = true
	}
	for document := range documents {
		for item := range items {
			require.Equal(t, want[[2]int{document, item}], l.has(document, item), "%d, %d", document, item)
		}
	}
	assert.Equal(t, len(held), l.len())
}

// TestLatestMemory: at most 24 bytes an id, at whatever size. Growing makes room in one
// of 256 parts at a time.
func TestLatestMemory(t *testing.T) {
	racing.Skip(t)
	l := newTestLatest(t)
	for n := 1; n <= 300_000; n++ {
		require.NoError(t, l.add(fmt.Appendf(nil, "urn:%d", n), state{item: n}))
		if n < 100_000 || n%10_007 != 0 {
			continue
		}
		taken := 0
		for i := range l.segments {
			s := &l.segments[i]
			taken += cap(s.tags)*int(unsafe.Sizeof(s.tags[0])) + cap(s.offsets)*int(unsafe.Sizeof(s.offsets[0]))
		}
		assert.LessOrEqual(t, taken, 24*n, n)
	}
}

// TestLatestDisk: little stays in memory; more makes a file.
func TestLatestDisk(t *testing.T) {
	l := newLatest()
	require.NoError(t, l.add([]byte("urn:1"), state{}))
	assert.Zero(t, l.file.Size())
	fill := func() (err error) {
		id := []byte("urn:")
		for n := 0; n < 2000 && err == nil; n++ {
			id = append(id, 'x')
			err = l.add(id, state{item: n})
		}
		return err
	}
	require.NoError(t, fill())
	require.NoError(t, fill())
	file := l.file
	require.NoError(t, l.close())
	assert.Zero(t, l.file.Size())
	require.NoError(t, l.close())
	l.file = file // a disk that fails
	assert.ErrorIs(t, fill(), os.ErrClosed)

	t.Setenv("TMPDIR", t.TempDir()+"/none")
	l = newLatest()
	assert.ErrorIs(t, fill(), os.ErrNotExist)
}
