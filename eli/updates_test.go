package eli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
)

// All entries of a feed are in memory, so their ids are limited as their number is.
func TestUpdatesOfLongIDs(t *testing.T) {
	long := strings.Repeat("x", maxIDs/4)
	for limit, want := range map[int]error{10: websync.ErrLimit, -1: nil} {
		u := &updates{byID: make(map[string]int32), limit: limit}
		for i := range 4 {
			require.NoError(t, u.add(long[i:], websync.Datetime{}, false))
		}
		require.NoError(t, u.add(long, websync.Datetime{}, false), "it is known")
		assert.ErrorIs(t, u.add(long[4:], websync.Datetime{}, false), want)
	}
}
