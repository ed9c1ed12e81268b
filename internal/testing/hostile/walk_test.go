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

// What all documents of a dump list is limited, too, and what a Capability List has.
func TestDumpsOfDumps(t *testing.T) {
	const long = 6 << 20
	name := strings.Repeat("x", long)
	for what, test := range map[string]struct {
		capability string
		list       func(base string) string
	}{
		"packages": {"resourcedump", func(base string) string {
			return numbered(40_000, "<url><loc>"+base+"/p/%d.zip</loc></url>\n").String()
		}},
		"elements": {"resourcedump", func(base string) string {
			return "<url><loc>" + base + "/p.zip</loc><x xmlns='y'>" + name + "</x></url>"
		}},
		"links": {"resourcedump", func(base string) string {
			return "<url><loc>" + base + "/p.zip</loc><rs:ln rel='alternate' href='" + base + "/" + name + "'/></url>"
		}},
		"locs": {"resourcedump", func(base string) string { return "<url><loc>" + base + "/" + name + "</loc></url>" }},
		"types": {"resourcedump", func(base string) string {
			return "<url><loc>" + base + "/p.zip</loc><rs:md type='" + name + "'/></url>"
		}},
		"lists": {"changelist", func(string) string { return "" }},
		"capabilities": {"", func(base string) string {
			return "<url><loc>" + base + "/l.xml</loc><x xmlns='y'>" + name + "</x></url>"
		}},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			w.memory = 4 * memoryLimit
			w.serve("", func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Type", "application/xml")
				switch {
				case r.URL.Path == "/capabilitylist.xml" && test.capability == "":
					io.WriteString(rw, "<urlset "+syncSpace+`><rs:md capability="capabilitylist"/>`)
					join(many(2*documentLimit, test.list(w.url)), text("</urlset>")).send(rw)
				case r.URL.Path == "/capabilitylist.xml":
					io.WriteString(rw, capabilities(w.url, test.capability).String())
				case strings.HasPrefix(r.URL.Path, "/d/"):
					io.WriteString(rw, "<urlset "+syncSpace+`><rs:md capability="`+test.capability+`" at="2026-04-01T00:00:00Z"/>`)
					io.WriteString(rw, strings.ReplaceAll(test.list(w.url), "/p", "/p"+r.URL.Path)+"</urlset>")
				case strings.HasPrefix(r.URL.Path, "/p/"):
					http.NotFound(rw, r)
				case test.capability == "changelist":
					io.WriteString(rw, "<sitemapindex "+syncSpace+`><rs:md capability="changelist"/>`)
					numbered(500_000, "<sitemap><loc>"+w.url+"/d/%d</loc></sitemap>").send(rw)
					io.WriteString(rw, "</sitemapindex>")
				default:
					io.WriteString(rw, syncIndex(test.capability, strings.Split(strings.TrimSuffix(numbered(documentLimit-5, w.url+"/d/%d,").String(), ","), ",")...))
				}
			})
			w.expect(refused, w.run(limited("resource list", w.url), 4*documentLimit))
		})
	}
}
