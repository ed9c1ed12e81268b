package harvest_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/bench"
)

// scattered97 returns typicalChange with ids that go back and forth in 97 ranges.
func scattered97(i int) harvest.Change { return typicalChange(i%97*1_000_000 + i) }

// fillSQLite commits n changes in batches of 512, with bodies of size bytes if size is
// not 0.
func fillSQLite(b *testing.B, s *harvest.Catalog, n, size int) {
	c := claim(b, s)
	body := make([]byte, size)
	for i := 0; i < n; {
		batch := harvest.NewBatch("a")
		for ; i < n && len(batch.Puts) < 512; i++ {
			put := scattered97(i)
			if size > 0 {
				binary.LittleEndian.PutUint64(body, uint64(i))
				w, err := s.NewBody(ctx)
				require.NoError(b, err)
				w.Write(body)
				put.Record.Bodies[0].Key, _, err = w.Finish()
				require.NoError(b, err)
				batch.Bodies = append(batch.Bodies, w)
			}
			batch.Puts = append(batch.Puts, put)
		}
		commit(b, s, c, batch)
	}
}

// measureCPU starts a measurement, and what it returns reports it: time on the clock is
// mostly that of the disk.
func measureCPU(b *testing.B) func() {
	b.ReportAllocs()
	start := bench.CPUTime()
	b.ResetTimer()
	return func() { b.ReportMetric(float64((bench.CPUTime()-start).Nanoseconds())/float64(b.N), "cpu-ns/op") }
}

// An op of commit is one resource, in batches of 512. An op of lookup is one id, in calls
// with 256.
func BenchmarkSQLite(b *testing.B) {
	for _, size := range []int{0, 2 << 10, 16 << 10} {
		b.Run(fmt.Sprintf("commit/body=%d", size), func(b *testing.B) {
			s := openFile(b, newFile(b), nil)
			b.SetBytes(int64(size))
			defer measureCPU(b)()
			fillSQLite(b, s.Catalog, b.N, size)
		})
	}
	const n = 50_000
	s := openFile(b, newFile(b), nil)
	fillSQLite(b, s.Catalog, n, 0)
	ids := make([]string, n)
	for i := range ids {
		ids[i] = scattered97(i * 7919 % n).Record.Resource.ID
	}
	for _, known := range []bool{true, false} {
		b.Run(fmt.Sprintf("lookup/known=%t", known), func(b *testing.B) {
			defer measureCPU(b)()
			for done := 0; done < b.N; done += 256 {
				asked := make([]string, 256)
				for i := range asked {
					if asked[i] = ids[(done+i)%n]; !known {
						asked[i] += "/unknown"
					}
				}
				_, err := s.Lookup(ctx, "a", asked)
				require.NoError(b, err)
			}
		})
	}
}
