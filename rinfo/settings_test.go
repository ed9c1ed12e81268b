package rinfo

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestSettings: what a Source shares with that of package atom reaches it.
func TestSettings(t *testing.T) {
	s := &Source{}
	testkit.SetAll(s)
	testkit.PassesOn(t, s, s.feed(nil))
}

// TestSums: the sums of the last bodies are remembered, and not more than twice as many.
func TestSums(t *testing.T) {
	var s sums
	one := sum{"md5", 1}
	for i := range 3 * maxSums {
		s.put(fmt.Sprint(i), one)
		got, known := s.get(fmt.Sprint(max(0, i-maxSums+1)))
		require.True(t, known, i)
		require.Equal(t, one, got)
	}
	assert.LessOrEqual(t, len(s.recent)+len(s.older), 2*maxSums)
	_, known := s.get("0")
	assert.False(t, known)
}
