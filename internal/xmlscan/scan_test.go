package xmlscan_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/xmlscan"
)

// plain does what the scanners do, byte by byte.
func plain(b []byte, other byte, ascii bool) int {
	for i, c := range b {
		if c < ' ' || c == '&' || c == '<' || c == other || ascii && c >= utf8.RuneSelf {
			return i
		}
	}
	return len(b)
}

func requireScans(t *testing.T, b []byte) {
	t.Helper()
	for quote, other := range map[byte]byte{0: '>', '"': '"', '\'': '\''} {
		n := plain(b, other, true)
		require.Equal(t, n, xmlscan.Plain(b, quote), "%q", b)
		require.Equal(t, plain(b, other, false), xmlscan.PlainUTF8(b, quote), "%q", b)
		require.Equal(t, string(b[:n]), string(xmlscan.Copied(nil, b, quote)), "%q", b)
	}
	valid := utf8.Valid(b) && !bytes.Contains(b, []byte("\uFFFE")) && !bytes.Contains(b, []byte("\uFFFF"))
	require.Equal(t, valid, xmlscan.ValidUTF8(b), "%q", b)
}

// Every byte at every position of a short string, and behind every other byte.
func TestScanBytes(t *testing.T) {
	for size := range 40 {
		for at := range size {
			b := bytes.Repeat([]byte("x"), size)
			for c := range 256 {
				b[at] = byte(c)
				requireScans(t, b)
			}
		}
	}
	for i := range 1 << 16 {
		requireScans(t, []byte{'x', byte(i), byte(i >> 8), 'y', 'z', 'x', 'y', 'z', 'x', 'y'})
	}
}

func TestScanRunes(t *testing.T) {
	for c := range utf8.MaxRune + 2 {
		b := utf8.AppendRune([]byte("text "), c)
		valid := c != 0xFFFE && c != 0xFFFF
		if !assert.Equal(t, valid, xmlscan.ValidUTF8(b), "%U", c) || !assert.Equal(t, valid, xmlscan.ValidUTF8(append(b, "more text"...)), "%U", c) {
			return
		}
	}
}

func TestScanRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"x", "yz", "long enough", "é", "€", "😀", "\uFFFD", "\uFFFE", "\xC3", "\xE2\x82", "\xED\xA0\x80", "\xC0\x80", "\xF4\x90\x80\x80", "\x80", "&", "<", ">", "\"", "\n", "\x7F"}
	for range 50_000 {
		var b []byte
		for range rnd.IntN(8) {
			b = append(b, pieces[rnd.IntN(len(pieces))]...)
		}
		requireScans(t, b)
	}
}
