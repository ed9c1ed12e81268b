package hostile

import (
	"io"
	"strings"
)

// A flow is a text that is made while it is sent: pieces, each repeated.
type flow []piece

type piece struct {
	text  string
	times int // negative: without end
}

func text(s string) flow        { return flow{{s, 1}} }
func many(n int, s string) flow { return flow{{s, n}} }
func endless(s string) flow     { return flow{{s, -1}} }
func join(parts ...flow) (all flow) { // of what comes after an endless one nothing is sent
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// send writes the text in blocks.
func (f flow) send(w io.Writer) error {
	const block = 32 << 10
	for _, p := range f {
		if p.text == "" {
			continue
		}
		size := max(1, block/len(p.text))
		whole := strings.Repeat(p.text, size)
		for left := p.times; left != 0; {
			n := size
			if left > 0 {
				n = min(n, left)
				left -= n
			}
			if _, err := io.WriteString(w, whole[:n*len(p.text)]); err != nil {
				return err
			}
		}
	}
	return nil
}

// String returns the text, which must have an end.
func (f flow) String() string {
	var b strings.Builder
	f.send(&b)
	return b.String()
}
