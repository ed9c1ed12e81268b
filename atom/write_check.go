package atom

import (
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// What a byte can be of.
const (
	hostByte uint8 = 1 << iota // the host of a plain URL
	pathByte                   // what follows the host
	typeByte                   // a plain media type
)

var plainBytes = func() (t [256]uint8) {
	for i := range t {
		c := byte(i)
		switch {
		case syntax.IsAlpha(c), syntax.IsDigit(c), c == '-', c == '.':
			t[c] = hostByte | pathByte | typeByte
		case c == '+':
			t[c] = pathByte | typeByte
		case strings.IndexByte("_~!$'()*,;=:@/?", c) >= 0:
			t[c] = pathByte
		}
	}
	return t
}()

// isPlainURL tells whether s is an absolute IRI of the most common kind, which needs
// neither a closer look nor escapes.
func isPlainURL(s string) bool {
	n := len("http://")
	if len(s) <= n+1 || s[:4] != "http" {
		return false
	}
	if s[4] == 's' {
		n++
	}
	if s[n-3:n] != "://" || plainBytes[s[n]]&hostByte == 0 {
		return false
	}
	for n < len(s) && plainBytes[s[n]]&hostByte != 0 {
		n++
	}
	if n < len(s) && s[n] != '/' {
		return false
	}
	all := pathByte
	for ; n < len(s); n++ {
		all &= plainBytes[s[n]]
	}
	return all != 0
}

// isPlainType tells whether s is a media type of the most common kind, which needs
// neither a closer look nor escapes.
func isPlainType(s string) bool {
	slash := strings.IndexByte(s, '/')
	if slash <= 0 || slash == len(s)-1 {
		return false
	}
	for i := range len(s) {
		if plainBytes[s[i]]&typeByte == 0 && i != slash {
			return false
		}
	}
	return true
}

// isPlainRel tells whether s is the name of a relation of the most common kind, which
// needs neither a closer look nor escapes.
func isPlainRel(s string) bool {
	for i := range len(s) {
		if plainBytes[s[i]]&hostByte == 0 {
			return false
		}
	}
	return true
}

// appendDate appends d in the form that Atom and its schema have: a date with a time to
// the second or finer, and an offset of at most 14 hours (RFC 4287 §3.3).
func appendDate(b []byte, d websync.Datetime) []byte {
	if d.Precision() < websync.PrecisionSecond {
		d = d.WithPrecision(websync.PrecisionSecond)
	}
	from := len(b)
	b, _ = d.AppendText(b)
	switch text := b[from:]; {
	case len(text) <= len("2006-01-02T15:04:05"):
		return b
	case text[17] == '6':
		b, _ = websync.NewDatetime(d.Time().Truncate(time.Second)).AppendText(b[:from])
	case text[len(text)-1] != 'Z' && string(text[len(text)-5:]) > "14:00":
		b, _ = d.UTC().AppendText(b[:from])
	}
	return b
}
