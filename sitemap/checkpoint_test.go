package sitemap

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
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
	first := newCheckpoint("o")
	c := &first
	c.whole, c.trust = true, -3
	newest, err := websync.ParseDatetime("2025-05-31T10:00:00.5+02:00")
	require.NoError(t, err)
	c.remember(keyOf("https://www.example.com/a.xml"), partNote{
		Validators: docfetch.Validators{ETag: `W/"1"`, LastModified: "Sun, 01 Jun 2025 12:00:00 GMT"},
		lastMod:    "2025-06-01", flags: noteOver | noteShown, sum: 1<<63 + 1, newest: newest,
	})
	c.remember(keyOf("https://www.example.com/b.xml"), partNote{})
	c.doubt(keyOf("https://www.example.com/a.xml"), doubt{sum: 1<<63 + 2, since: 1 << 40})
	c.doubt(keyOf("https://www.example.com/c.xml"), doubt{})
	data := encode(c)
	assert.Equal(t, data, encode(c), "the same bytes each time")

	got, ok := decode(data)
	require.True(t, ok)
	got.size = c.size
	assert.Equal(t, c, got)

	for n := range data {
		_, ok := decode(data[:n])
		assert.False(t, ok, "cut to %d bytes", n)
	}
	_, ok = decode(append(data, 0))
	assert.False(t, ok, "with a byte more")
	one := func(change func(c *columns)) columns {
		c := columns{Keys: make([]byte, 16), LastMod: []string{""}, ETag: []string{""}, LastModified: []string{""},
			Newest: make([]websync.Datetime, 1), Sums: make([]byte, 8), Flags: make([]byte, 1), Doubts: make([]byte, 32)}
		_, ok := c.checkpoint()
		assert.True(t, ok)
		change(&c)
		return c
	}
	for name, broken := range map[string]columns{
		"a key more":      one(func(c *columns) { c.Keys = make([]byte, 32) }),
		"part of a key":   one(func(c *columns) { c.Keys = c.Keys[1:] }),
		"an ETag less":    one(func(c *columns) { c.ETag = nil }),
		"a date too many": one(func(c *columns) { c.LastModified = []string{"", ""} }),
		"no newest":       one(func(c *columns) { c.Newest = nil }),
		"part of a sum":   one(func(c *columns) { c.Sums = c.Sums[1:] }),
		"no flags":        one(func(c *columns) { c.Flags = nil }),
		"part of a doubt": one(func(c *columns) { c.Doubts = c.Doubts[1:] }),
	} {
		_, ok := broken.checkpoint()
		assert.False(t, ok, name)
	}
}

// TestCheckpointIsBounded: a checkpoint holds an index of the greatest length, and
// hostile headers do not make it longer.
func TestCheckpointIsBounded(t *testing.T) {
	longest, err := websync.ParseDatetime("2025-06-01T12:00:00.123456789+01:00")
	require.NoError(t, err)
	fill := func(etag func(i int) string) *checkpoint {
		c := newCheckpoint("")
		for i := range 2 * docfetch.DefaultDocuments {
			key := keyOf(fmt.Sprint("https://www.example.com/", i))
			c.remember(key, partNote{
				lastMod: "2025-06-01T12:00:00.123456789+00:00", newest: longest, sum: math.MaxUint64, flags: noteOver | noteShown,
				Validators: docfetch.Validators{ETag: etag(i), LastModified: "Sun, 01 Jun 2025 12:00:00 GMT"},
			})
			if i > docfetch.DefaultDocuments {
				c.doubt(key, doubt{math.MaxUint64, math.MaxInt64})
			}
		}
		return &c
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
	c := newCheckpoint("")
	newest, err := websync.ParseDatetime("2025-06-01T12:00:00Z")
	require.NoError(b, err)
	for i := range docfetch.DefaultDocuments {
		c.remember(keyOf(fmt.Sprint("https://www.example.com/", i)), partNote{
			lastMod: newest.String(), newest: newest, sum: uint64(i) << 40, flags: noteOver | noteShown,
			Validators: docfetch.Validators{ETag: fmt.Sprintf(`"%016x"`, i), LastModified: "Sun, 01 Jun 2025 12:00:00 GMT"},
		})
	}
	data := encode(&c)
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			encode(&c)
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
	f.Add(encode(&checkpoint{options: "o", parts: map[partKey]partNote{{1}: {Validators: docfetch.Validators{ETag: "e"}, sum: 2}}, doubts: map[partKey]doubt{{1}: {3, 4}}}))
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
