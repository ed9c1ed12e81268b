package cli

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestRate: the rate decides about the interval between requests for legislation.
func TestRate(t *testing.T) {
	for rate, want := range map[float64]time.Duration{0: 0, 1: time.Second, 0.2: 5 * time.Second, 1e12: 1, 1e-12: 24 * time.Hour} {
		sources, _, err := (&Opener{Rate: rate}).Sources(t.Context(), Target{Protocol: "eli", URL: "https://example.org/", Feed: "https://example.org/feed"})
		require.NoError(t, err)
		assert.Equal(t, want, sources[0].(*eli.Source).Interval)
	}
}

// TestSourcesThatPanic: what a target leads to may panic while it is found out.
func TestSourcesThatPanic(t *testing.T) {
	for _, protocol := range []string{Auto, "eli", "resourcesync"} {
		t.Run(protocol, func(t *testing.T) {
			var announced string
			o := &Opener{
				Fetcher: testkit.FetchFunc(func(context.Context, *harvest.Request) (*harvest.Response, error) { panic("on purpose") }),
				State:   harvest.NewCatalog(memstore.New()), Announce: func(line string) { announced += line },
			}
			_, _, err := o.Sources(t.Context(), Target{Protocol: protocol, URL: "https://me:secret@example.org/"})
			assert.EqualError(t, err, "https://example.org/: panic: on purpose")
			assert.Contains(t, announced, "TestSourcesThatPanic", "the stack")
		})
	}
}
