package spool_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/spool"
)

// TestGzip: what is short may expand however much; of what is longer, only what readers
// accept at every point has a gzip form.
func TestGzip(t *testing.T) {
	noise := make([]byte, 4<<20)
	for i := range noise {
		noise[i] = byte(rand.IntN(256))
	}
	for name, tt := range map[string]struct {
		text    string
		expands bool
	}{
		"nothing":                {"", false},
		"short":                  {strings.Repeat("a", spool.FreeExpansion), false},
		"equal letters":          {strings.Repeat("a", 12<<20), true},
		"noise":                  {strings.Repeat(string(noise), 3), false},
		"noise before letters":   {string(noise) + strings.Repeat("a", 20<<20), false},
		"letters before noise":   {strings.Repeat("a", 20<<20) + string(noise), true},
		"as lists are, and long": {strings.Repeat("<url><loc>https://example.org/laws/2026/", 1<<19), true},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			err := spool.Gzip(&b, strings.NewReader(tt.text))
			if tt.expands {
				require.ErrorIs(t, err, spool.ErrExpands)
				return
			}
			require.NoError(t, err)
			r, err := gzip.NewReader(&b)
			require.NoError(t, err)
			got, err := io.ReadAll(r)
			require.NoError(t, err)
			assert.True(t, tt.text == string(got))
		})
	}
}
