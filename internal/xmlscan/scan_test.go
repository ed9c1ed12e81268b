package xmlscan_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/xmlscan"
)

// clean does what the scanners do, character by character.
func clean(b []byte, other byte) int {
	for i := 0; i < len(b); {
		c, n := utf8.DecodeRune(b[i:])
		if c < ' ' || c == '&' || c == '<' || c == rune(other) {
			return i
		}
		if c == utf8.RuneError && n == 1 || c == 0xFFFE || c == 0xFFFF {
			return i
		}
		i += n
	}
	return len(b)
}

func requireScans(t *testing.T, b []byte) {
	t.Helper()
	for quote, other := range map[byte]byte{0: '>', '"': '"', '\'': '\''} {
		if want, got := clean(b, other), xmlscan.Clean(b, quote); got != want {
			t.Fatalf("%q between %q: the first %d bytes are clean, not %d", b, quote, want, got)
		}
	}
	if want, got := clean(bytes.Map(lineToSpace, b), '>'), xmlscan.CleanText(b); got != want && utf8.Valid(b) {
		t.Fatalf("%q: the first %d bytes are clean, not %d", b, want, got)
	}
}

func lineToSpace(c rune) rune {
	if c == '\n' || c == '\t' {
		return ' '
	}
	return c
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
	racing.Skip(t)
	var b []byte
	for c := range utf8.MaxRune + 2 {
		for _, end := range []string{"", "more text"} {
			b = append(utf8.AppendRune(append(b[:0], "text "...), c), end...)
			if want, got := clean(b, '>'), xmlscan.Clean(b, 0); got != want {
				t.Fatalf("%U: the first %d bytes of %q are clean, not %d", c, want, b, got)
			}
		}
	}
}

// Characters, and what is none, at every position of a word between foreign ones.
func TestScanAcrossWords(t *testing.T) {
	var b []byte
	for at := range 8 {
		for _, lead := range []byte{0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF4, 0xF8} {
			for second := range 256 {
				for _, third := range []byte{'x', 0x7F, 0x80, 0xBD, 0xBE, 0xBF, 0xC2} {
					b = append(b[:0], "законы жд法律"...)
					b = append(append(b, "xxxxxxxx"[:at]...), lead, byte(second), third)
					b = append(b, "сборник法律法律"...)
					if want, got := clean(b, '>'), xmlscan.Clean(b, 0); got != want {
						t.Fatalf("the first %d bytes of %q are clean, not %d", want, b, got)
					}
				}
			}
		}
	}
}

// Every sequence of three bytes that may be a character, before and behind another one.
func TestScanPairs(t *testing.T) {
	for i := range 1 << 16 {
		c := string([]byte{0xE0 | byte(i>>12), 0x80 | byte(i>>6)&0x3F, 0x80 | byte(i)&0x3F})
		for _, b := range []string{c + "法律", "法" + c + "律", "法律" + c} {
			if want, got := clean([]byte(b), '>'), xmlscan.Clean([]byte(b), 0); got != want {
				t.Fatalf("the first %d bytes of %q are clean, not %d", want, b, got)
			}
		}
	}
}

// White space of any kind in text, of any length, before everything that ends it.
func TestScanSpace(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for size := range 40 {
		for range 200 {
			b := []byte("text"[:rnd.IntN(5)])
			for range size {
				b = append(b, " \n\n\t"[rnd.IntN(4)])
			}
			requireScans(t, append(b, "\r<&>x\x00\x0B\x1F\"'"[rnd.IntN(10):]...))
			requireScans(t, append(b, "ж"...))
		}
	}
}

func TestScanRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"x", "yz", "long enough", "é", "закон", "сбор ", "νόμ", "法律", "、环境，保护", "€", "😀", "\uFFFD", "\uFFFE", "\xC3", "\xE2\x82", "\xED\xA0\x80", "\xC0\x80", "\xF4\x90\x80\x80", "\x80", "&", "<", ">", "\"", "\n", "\x7F"}
	for range 50_000 {
		var b []byte
		for range rnd.IntN(16) {
			b = append(b, pieces[rnd.IntN(len(pieces))]...)
		}
		requireScans(t, b)
	}
}
