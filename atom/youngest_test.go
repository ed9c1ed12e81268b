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
)

func newTestYoungest(t testing.TB) *youngest {
	y := newYoungest()
	t.Cleanup(func() { assert.NoError(t, y.close()) })
	return y
}

// second returns the time n seconds after a fixed one; 0 is not stated.
func second(n int) websync.Datetime {
	if n == 0 {
		return websync.Datetime{}
	}
	return websync.NewDatetime(time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC))
}

func TestYoungest(t *testing.T) {
	entry := func(document, item, at int) state { return state{document, item, second(at), false} }
	grave := func(document, item, at int) state { return state{document, item, second(at), true} }
	day, err := websync.ParseDatetime("2026-01-01")
	require.NoError(t, err)
	tests := map[string]struct {
		states []state // as they are seen
		want   int
	}{
		"alone":                                    {[]state{entry(0, 0, 1)}, 0},
		"the later time":                           {[]state{entry(0, 0, 1), entry(0, 1, 3), entry(1, 0, 2)}, 1},
		"the later time in an older document":      {[]state{entry(0, 0, 1), entry(1, 0, 2)}, 1},
		"one time, the newer document":             {[]state{entry(0, 0, 1), entry(1, 0, 1)}, 0},
		"one time and document, the first":         {[]state{entry(0, 0, 1), entry(0, 1, 1)}, 0},
		"one document, the tombstone":              {[]state{entry(0, 0, 1), grave(0, 1, 1)}, 1},
		"one document, the tombstone before":       {[]state{grave(0, 0, 1), entry(0, 1, 1)}, 0},
		"one document, the entry is later":         {[]state{grave(0, 0, 1), entry(0, 1, 2)}, 1},
		"published again in a newer document":      {[]state{entry(0, 0, 1), grave(1, 0, 1)}, 0},
		"an entry in the document before":          {[]state{grave(0, 0, 1), entry(1, 0, 1)}, 0},
		"no times, the newer document":             {[]state{entry(0, 0, 0), entry(1, 0, 0)}, 0},
		"no time in the newer document":            {[]state{entry(0, 0, 0), entry(1, 0, 9)}, 0},
		"no time in the older document":            {[]state{entry(0, 0, 9), entry(1, 0, 0)}, 0},
		"no times in one document, the tombstone":  {[]state{entry(0, 0, 0), grave(0, 1, 0)}, 1},
		"a day and a second of it are of one time": {[]state{{0, 0, day, false}, entry(1, 0, 30)}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			y := newTestYoungest(t)
			for i, s := range test.states {
				require.NoError(t, y.see([]byte("urn:other"), state{document: s.document, item: 100 + i}))
				require.NoError(t, y.see([]byte("urn:id"), s))
			}
			for i, s := range test.states {
				assert.Equal(t, i == test.want, y.isYoungest(s.document, s.item), "state %d", i)
			}
			assert.Equal(t, 2, y.len())
		})
	}
}

// TestYoungestCollisions: ids of one hash, and ids whose hashes differ in their segment
// only, are kept apart; so are an id and one that begins with it.
func TestYoungestCollisions(t *testing.T) {
	hashes := map[string]func([]byte) uint64{
		"all the same":   func([]byte) uint64 { return 7<<56 | 9 },
		"few segments":   func(id []byte) uint64 { return uint64(len(id)) << 56 },
		"the last place": func([]byte) uint64 { return 1<<32 - 1 },
	}
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			const ids = 300
			y := newTestYoungest(t)
			y.hash = hash
			for document := range 2 {
				for i := range ids {
					id := append(bytes.Repeat([]byte("x"), i/2), "ab"[i%2])
					require.NoError(t, y.see(id, state{document: document, item: i, time: second(1 + document*(i%2))}))
				}
			}
			assert.Equal(t, ids, y.len())
			for i := range ids {
				odd := i%2 == 1 // those are younger in the older document
				assert.Equal(t, !odd, y.isYoungest(0, i), i)
				assert.Equal(t, odd, y.isYoungest(1, i), i)
			}
		})
	}
}

// TestYoungestModel compares with a map, over many documents and more ids than stay in
// memory before they are written.
func TestYoungestModel(t *testing.T) {
	const documents, items, ids = 40, 500, 6000
	rng := rand.New(rand.NewPCG(1, 2))
	y := newTestYoungest(t)
	held := map[string]state{}
	for document := range documents {
		for item := range items {
			id := fmt.Sprintf("https://www.example.com/%0*d", rng.IntN(40), rng.IntN(ids))
			s := state{document, item, second(rng.IntN(50)), rng.IntN(4) == 0}
			require.NoError(t, y.see([]byte(id), s))
			if h, ok := held[id]; !ok || s.supersedes(h) {
				held[id] = s
			}
		}
	}
	require.Positive(t, y.written)
	want := map[[2]int]bool{}
	for _, s := range held {
		want[[2]int{s.document, s.item}] = true
	}
	for document := range documents {
		for item := range items {
			require.Equal(t, want[[2]int{document, item}], y.isYoungest(document, item), "%d, %d", document, item)
		}
	}
	assert.Equal(t, len(held), y.len())
}

// TestYoungestMemory: at most 24 bytes an id, at whatever size. Growing makes room in one
// of 256 parts at a time.
func TestYoungestMemory(t *testing.T) {
	y := newTestYoungest(t)
	for n := 1; n <= 300_000; n++ {
		require.NoError(t, y.see(fmt.Appendf(nil, "urn:%d", n), state{item: n}))
		if n < 100_000 || n%10_007 != 0 {
			continue
		}
		taken := 0
		for i := range y.segments {
			s := &y.segments[i]
			taken += cap(s.tags)*int(unsafe.Sizeof(s.tags[0])) + cap(s.at)*int(unsafe.Sizeof(s.at[0]))
		}
		assert.LessOrEqual(t, taken, 24*n, n)
	}
}

// TestYoungestDisk: little stays in memory; more makes a file, which goes.
func TestYoungestDisk(t *testing.T) {
	y := newYoungest()
	require.NoError(t, y.see([]byte("urn:1"), state{}))
	assert.Nil(t, y.file)
	fill := func() (err error) {
		id := []byte("urn:")
		for n := 0; n < 2000 && err == nil; n++ {
			id = append(id, 'x')
			err = y.see(id, state{item: n})
		}
		return err
	}
	require.NoError(t, fill())
	require.NoError(t, fill())
	file := y.file
	require.NoError(t, y.close())
	assert.NoFileExists(t, file.Name())
	require.NoError(t, y.close())
	y.file = file // a disk that fails
	assert.ErrorIs(t, fill(), os.ErrClosed)

	t.Setenv("TMPDIR", t.TempDir()+"/none")
	y = newYoungest()
	assert.ErrorIs(t, fill(), os.ErrNotExist)
}
