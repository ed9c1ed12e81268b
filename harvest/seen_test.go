package harvest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSeenTableNote: an id that was marked is never taken for a new one, few new ones are taken for marked ones, and few ids take
// little memory.
func TestSeenTableNote(t *testing.T) {
	table := newSeenTable(printKey{}, 0)
	hash := func(n int) uint64 { return table.mix(uint64(n)) }
	doubtful := 0
	for n := range 100_000 {
		if !table.note(hash(n)) {
			doubtful++
		}
		for _, marked := range []int{0, n / 2, n} {
			require.False(t, table.note(hash(marked)), "%d of %d", marked, n)
		}
		if n+1 == 256 || n+1 == 4096 {
			assert.Less(t, doubtful, 1+n/50)
			assert.LessOrEqual(t, 64*len(table.others[len(table.others)-1]), 256*2*n)
		}
	}
	assert.Less(t, doubtful, 2000)
	assert.Len(t, table.others, 3)
	assert.Equal(t, lastOthers, 64*len(table.others[2]))
}
