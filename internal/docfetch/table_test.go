package docfetch

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	var table Table[int32]
	want := make(map[string]int32)
	assert.Nil(t, table.Find("http://law.example/eli/1"))
	random := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		url, d := fmt.Sprint("http://law.example/eli/", random.IntN(20_000)), int32(random.IntN(1000))
		held, known := want[url]
		got, isNew := table.Add(url)
		require.Equal(t, !known, isNew)
		require.Equal(t, held, *got)
		*got, want[url] = d, d
	}
	assert.Len(t, want, table.Len)
	for url, d := range want {
		got := table.Find(url)
		require.NotNil(t, got)
		require.Equal(t, d, *got)
	}
	assert.Nil(t, table.Find("http://law.example/other"))
}

// A URL with 4 bytes takes at most 24 bytes when the table has grown, and 40 while it
// grows.
func TestTableSize(t *testing.T) {
	const n = 500_000
	var table Table[int32]
	most := 0.0
	for i := range n {
		size := len(table.hashes)
		table.Add(fmt.Sprintf("http://law.example/eli/%d", i))
		if i > 10_000 {
			bytes := 12 * cap(table.hashes)
			if len(table.hashes) != size {
				bytes += 12 * size
			}
			most = max(most, float64(bytes)/float64(table.Len))
		}
		if i == n-1 {
			assert.LessOrEqual(t, float64(12*cap(table.hashes))/n, 24.1)
		}
	}
	assert.LessOrEqual(t, most, 40.1)
	runtime.KeepAlive(table)
}
