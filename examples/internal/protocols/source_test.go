package protocols

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli"
)

// TestRate: the rate decides about the interval between requests for legislation.
func TestRate(t *testing.T) {
	for rate, want := range map[float64]time.Duration{0: 0, 1: time.Second, 0.2: 5 * time.Second, 1e12: 1, 1e-12: 24 * time.Hour} {
		sources, err := (&Opener{Rate: rate}).Sources(t.Context(), Target{Protocol: "eli", URL: "https://example.org/", Feed: "https://example.org/feed"})
		require.NoError(t, err)
		assert.Equal(t, want, sources[0].(*eli.Source).Interval)
	}
}
