package document_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

func TestBuffer(t *testing.T) {
	var b document.Buffer
	first := b.Add([]byte(" one\n"))
	second := b.Add([]byte("two"))
	assert.Equal(t, "two", string(b.Of(second)))
	assert.Equal(t, "one", string(b.Of(b.Trimmed(first))))
	assert.True(t, b.Trimmed(b.Add([]byte(" \t"))).IsEmpty())
	assert.Equal(t, "two \t", string(b.Of(b.Since(first.To))))
}

func TestBufferDigests(t *testing.T) {
	tests := map[string]struct{ field, algorithm, sum string }{
		"in hex":         {"md5:00ff00ff00ff00ff00ff00ff00ff00ff", "md5", "\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff"},
		"in capitals":    {"MD5:00FF00FF00FF00FF00FF00FF00FF00FF", "md5", "\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff\x00\xff"},
		"another one":    {"x-own:00ff", "x-own", "00ff"},
		"without a name": {field: ":00ff"},
		"not hex":        {field: "md5:zz"},
		"nothing":        {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := document.Buffer{Bytes: []byte("before")}
			d, err := b.AddDigest([]byte(test.field))
			_, want := websync.ParseDigest(test.field)
			assert.Equal(t, want, err)
			assert.Equal(t, test.algorithm, d.Algorithm)
			if want != nil {
				require.Equal(t, "before", string(b.Bytes))
				return
			}
			assert.Equal(t, test.sum, string(b.Of(d.Sum)))
		})
	}
}

func TestBufferRelation(t *testing.T) {
	for rel, want := range map[string]string{" next\n": "next", "Prev-Archive": "prev-archive", "http://Example.org/A": "http://Example.org/A"} {
		var b document.Buffer
		s, capitals := b.AddRelation([]byte(rel))
		assert.Equal(t, want, string(b.Of(s)))
		assert.Equal(t, rel == "Prev-Archive", capitals, rel)
	}
}

func TestLength(t *testing.T) {
	for value, want := range map[string]int64{" 12 ": 12, "0": websync.StatedZero} {
		n, fault := document.Length([]byte(value))
		assert.Equal(t, want, n)
		assert.Empty(t, fault)
	}
	n, fault := document.Length([]byte("1.5"))
	assert.Zero(t, n)
	assert.NotEmpty(t, fault)
}
