package hostile

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What the documents of a walk state of themselves is not held until its end: that of one
// is limited, and a walk has up to 50,000.
func TestWalksOfLongHeads(t *testing.T) {
	const size = 4 << 20
	long := strings.Repeat("x", size)
	for name, head := range map[string]string{
		"author":      "<author><name>" + long + "</name></author>",
		"self":        link("self", "/"+long),
		"newer":       link("next-archive", "/"+long),
		"fork":        link("prev", "/a") + link("prev", "/"+long),
		"description": "<subtitle>" + long + "</subtitle>",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.memory = 3 * memoryLimit // one value is held several times
			w.serve("", func(rw http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/doc/") {
					fmt.Fprint(rw, plain("", r.URL.Path, 4))
					return
				}
				rw.Header().Set("Content-Type", "application/xml")
				n := next(r.URL.Path)
				fmt.Fprint(rw, "<feed ", atomSpace, "><id>urn:feed</id><title>F</title><updated>2026-04-01T00:00:00Z</updated>")
				if n > 1 {
					fmt.Fprint(rw, "<fh:archive/>")
				}
				if n < documentLimit-1 {
					fmt.Fprint(rw, link("prev-archive", fmt.Sprintf("%s/a/%d", w.url, n)))
				}
				io.WriteString(rw, head)
				fmt.Fprintf(rw, "<entry><id>urn:%d</id><title>A</title><updated>2026-04-01T00:00:00Z</updated><author><name>A</name></author>%s</entry></feed>",
					n, src(w.url+"/doc/0", 0))
			})
			o := w.run(limited("atom", w.url), 4*documentLimit)
			assert.NoError(t, o.err)
			assert.Greater(t, w.requests, documentLimit, "%q", o.messages)
		})
	}
}
