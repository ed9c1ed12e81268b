package sitemap

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/docfetch"
)

func encode(c *checkpoint) []byte {
	return docfetch.Checkpoint(checkpointVersion, c.columns()).Data
}

func decode(data []byte) (*checkpoint, bool) {
	var read columns
	if json.Unmarshal(data, &read) != nil {
		return nil, false
	}
	return read.checkpoint()
}

func TestCheckpoint(t *testing.T) {
	c := &checkpoint{options: "o", whole: true, parts: make(map[partKey]partNote)}
	c.remember("https://www.example.com/a.xml", partNote{"2025-06-01", docfetch.Validators{ETag: `W/"1"`, LastModified: "Sun, 01 Jun 2025 12:00:00 GMT"}})
	c.remember("https://www.example.com/b.xml", partNote{})
	data := encode(c)
	assert.Equal(t, data, encode(c), "the same bytes each time")

	got, ok := decode(data)
	require.True(t, ok)
	assert.Equal(t, c.options, got.options)
	assert.Equal(t, c.whole, got.whole)
	assert.Equal(t, c.parts, got.parts)

	for n := range data {
		_, ok := decode(data[:n])
		assert.False(t, ok, "cut to %d bytes", n)
	}
	_, ok = decode(append(data, 0))
	assert.False(t, ok, "with a byte more")
	for name, broken := range map[string]columns{
		"a key more":      {Keys: make([]byte, 16)},
		"part of a key":   {Keys: make([]byte, 15), LastMod: []string{""}, ETag: []string{""}, LastModified: []string{""}},
		"an ETag less":    {Keys: make([]byte, 16), LastMod: []string{""}, LastModified: []string{""}},
		"a date too many": {Keys: make([]byte, 16), LastMod: []string{""}, ETag: []string{""}, LastModified: []string{"", ""}},
	} {
		_, ok := broken.checkpoint()
		assert.False(t, ok, name)
	}
}

// TestCheckpointIsBounded: a checkpoint holds an index of the greatest length, and
// hostile headers do not make it longer.
func TestCheckpointIsBounded(t *testing.T) {
	fill := func(etag func(i int) string) *checkpoint {
		c := &checkpoint{parts: make(map[partKey]partNote)}
		for i := range 2 * docfetch.DefaultDocuments {
			c.remember(fmt.Sprint("https://www.example.com/", i), partNote{
				"2025-06-01T12:00:00.123456789+00:00", docfetch.Validators{ETag: etag(i), LastModified: "Sun, 01 Jun 2025 12:00:00 GMT"},
			})
		}
		return c
	}
	usual := fill(func(i int) string { return fmt.Sprintf(`"%032x"`, i) })
	assert.GreaterOrEqual(t, len(usual.parts), docfetch.DefaultDocuments)
	assert.Less(t, len(encode(usual)), 11<<20)
	long := fill(func(i int) string { return strings.Repeat("e", 512+i%2) })
	assert.Less(t, len(encode(long)), 11<<20)
	for _, n := range long.parts {
		assert.Equal(t, n.ETag == "", n.LastModified == "", "both validators or none")
	}
}

func BenchmarkCheckpoint(b *testing.B) {
	c := &checkpoint{parts: make(map[partKey]partNote)}
	for i := range docfetch.DefaultDocuments {
		c.remember(fmt.Sprint("https://www.example.com/", i), partNote{
			"2025-06-01T12:00:00Z", docfetch.Validators{ETag: fmt.Sprintf(`"%016x"`, i), LastModified: "Sun, 01 Jun 2025 12:00:00 GMT"},
		})
	}
	data := encode(c)
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			encode(c)
		}
		b.ReportMetric(float64(len(data)), "bytes")
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, ok := decode(data); !ok {
				b.Fatal("can't be read")
			}
		}
	})
}

func FuzzCheckpoint(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("{}"))
	f.Add(encode(&checkpoint{options: "o", parts: map[partKey]partNote{{1}: {Validators: docfetch.Validators{ETag: "e"}}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, ok := decode(data)
		if !ok {
			return
		}
		again, ok := decode(encode(c))
		require.True(t, ok)
		require.Equal(t, c, again)
	})
}
