package sitemap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckpoint(t *testing.T) {
	c := &checkpoint{options: "o", whole: true, parts: make(map[partKey]partNote)}
	c.remember("https://www.example.com/a.xml", partNote{lastMod: "2025-06-01", settled: true, etag: `W/"1"`, lastModified: "Sun, 01 Jun 2025 12:00:00 GMT"})
	c.remember("https://www.example.com/b.xml", partNote{})
	data := c.encode()
	assert.Equal(t, data, c.encode(), "the same bytes each time")

	got, ok := decodeCheckpoint(data)
	require.True(t, ok)
	assert.Equal(t, c, got)

	for n := range data {
		_, ok := decodeCheckpoint(data[:n])
		assert.False(t, ok, "cut to %d bytes", n)
	}
	_, ok = decodeCheckpoint(append(data, 0))
	assert.False(t, ok, "with a byte more")
}

func TestCheckpointIsBounded(t *testing.T) {
	c := &checkpoint{parts: make(map[partKey]partNote)}
	for i := range maxParts + 10 {
		c.remember(fmt.Sprint("https://www.example.com/", i), partNote{
			lastMod: "2025-06-01T12:00:00.123456789+00:00", etag: strings.Repeat("e", maxNote+i%2), lastModified: "Sun, 01 Jun 2025 12:00:00 GMT",
		})
	}
	assert.Len(t, c.parts, maxParts)
	for _, n := range c.parts {
		assert.LessOrEqual(t, len(n.etag), maxNote)
		assert.Equal(t, n.etag == "", n.lastModified == "", "both validators or none")
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add([]byte{})
	f.Add((&checkpoint{options: "o", parts: map[partKey]partNote{{1}: {etag: "e"}}}).encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		c, ok := decodeCheckpoint(data)
		if !ok {
			return
		}
		again, ok := decodeCheckpoint(c.encode())
		require.True(t, ok)
		require.Equal(t, c, again)
	})
}
