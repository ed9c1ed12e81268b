package naive

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// faults are ways in which a document of a feed can be wrong: each returns what is in its
// place.
var faults = map[string]func(d *Depot, path, body string) Page{
	"404":        func(*Depot, string, string) Page { return Page{Status: 404} },
	"410":        func(*Depot, string, string) Page { return Page{Status: 410} },
	"401":        func(*Depot, string, string) Page { return Page{Status: 401} },
	"500":        func(*Depot, string, string) Page { return Page{Status: 500} },
	"broken off": func(_ *Depot, _, b string) Page { return Page{Body: b, Cut: true} },
	"half":       func(_ *Depot, _, b string) Page { return Page{Body: b[:len(b)/2]} },
	"no end":     func(_ *Depot, _, b string) Page { return Page{Body: strings.Replace(b, "</feed>", "", 1)} },
	"empty":      func(*Depot, string, string) Page { return Page{} },
	"login page": func(*Depot, string, string) Page {
		return Page{Type: "text/html", Body: "<!DOCTYPE html><html><head><title>Log in</title></head><body><form><input name=p></form></body></html>"}
	},
	"login page in XHTML": func(*Depot, string, string) Page {
		return Page{Type: "text/html", Body: `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Log in</title></head><body></body></html>`}
	},
	"JSON": func(*Depot, string, string) Page { return Page{Type: "application/json", Body: `{"error":"no"}`} },
	"RSS": func(*Depot, string, string) Page {
		return Page{Body: `<rss version="2.0"><channel><title>x</title></channel></rss>`}
	},
	"an entry document": func(_ *Depot, _, b string) Page {
		i, j := strings.Index(b, "<entry>"), strings.Index(b, "</entry>")
		return Page{Body: `<entry xmlns="http://www.w3.org/2005/Atom">` + b[i+7:j+8]}
	},
	"another feed": func(_ *Depot, _, b string) Page {
		return Page{Body: strings.Replace(b, FeedID, "tag:other.example,2020:feed", 1)}
	},
	"prev-archive to itself":    func(_ *Depot, path, b string) Page { return Page{Body: withPrev(b, path)} },
	"prev-archive to the start": func(_ *Depot, _, b string) Page { return Page{Body: withPrev(b, "/index.atom")} },
	"prev-archive twice": func(_ *Depot, _, b string) Page {
		return Page{Body: strings.Replace(b, "</author>", "</author>"+Prev("/a0.atom")+Prev("/x.atom"), 1)}
	},
	"prev-archive to a private address": func(_ *Depot, _, b string) Page { return Page{Body: withPrev(b, "http://10.255.255.1/a.atom")} },
	"prev-archive to a file":            func(_ *Depot, _, b string) Page { return Page{Body: withPrev(b, "file:///etc/passwd")} },
	"prev-archive is empty":             func(_ *Depot, _, b string) Page { return Page{Body: withPrev(b, "")} },
	"prev-archive is no URL":            func(_ *Depot, _, b string) Page { return Page{Body: withPrev(b, "http://[::1/")} },
	"redirect into the chain": func(_ *Depot, path, _ string) Page {
		if path == "/index.atom" {
			return Page{Location: "/a3.atom"}
		}
		return Page{Location: "/index.atom"}
	},
	"redirect to nothing":           func(*Depot, string, string) Page { return Page{Location: "/login"} },
	"redirect to itself":            func(_ *Depot, path, _ string) Page { return Page{Location: path} },
	"redirect to a private address": func(*Depot, string, string) Page { return Page{Location: "http://10.255.255.1/x"} },
	"a broken tag":                  func(_ *Depot, _, b string) Page { return Page{Body: strings.Replace(b, "<updated>", "<updated><<", 1)} },
	"an entry without its end":      func(_ *Depot, _, b string) Page { return Page{Body: strings.Replace(b, "</entry>", "", 1)} },
	"an entry without id":           func(_ *Depot, _, b string) Page { return Page{Body: withID(b, "")} },
	"an entry with an empty id":     func(_ *Depot, _, b string) Page { return Page{Body: withID(b, "<id> </id>")} },
	"an id that is not UTF-8":       func(_ *Depot, _, b string) Page { return Page{Body: withID(b, "<id>urn:x:\xff</id>")} },
	"an unknown encoding":           func(_ *Depot, _, b string) Page { return Page{Body: declare(b, "x-unknown")} },
	"an entity": func(_ *Depot, _, b string) Page {
		return Page{Body: strings.Replace(b, "<feed", `<!DOCTYPE feed [<!ENTITY a "b">]><feed`, 1)}
	},
}

// withPrev returns a document with another link prev-archive.
func withPrev(doc, href string) string {
	if i := strings.Index(doc, `<link rel="prev-archive"`); i >= 0 {
		doc = doc[:i] + doc[i+strings.Index(doc[i:], "/>")+2:]
	}
	return strings.Replace(doc, "</author>", "</author>"+Prev(href), 1)
}

// withID returns a document whose first entry has another id.
func withID(doc, id string) string {
	i := strings.Index(doc, "<entry>")
	i += strings.Index(doc[i:], "<id>")
	return doc[:i] + id + doc[i+strings.Index(doc[i:], "</id>")+len("</id>"):]
}

// RunFaults serves each fault in the place of each document of a chain, before the first
// harvest and in a chain that has grown since. The runs must not be in step, and must
// delete nothing. After the fault is mended, one run must complete. Only one in every of
// these cases is run.
func RunFaults(t *testing.T, p Profile, every int) {
	n := 0
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		for _, path := range []string{"/index.atom", "/a3.atom", "/a1.atom", "/a0.atom"} {
			for _, before := range []int{0, 1, 3} { // archive documents that were harvested before
				known := before == 3 && (path == "/a0.atom" || path == "/a1.atom") || before == 1 && path == "/a0.atom"
				if n++; n%every > 0 || known {
					continue // it may not be read again
				}
				t.Run(fmt.Sprintf("%s at %s after %d", name, path, before), func(t *testing.T) {
					d := NewDepot(t, p)
					if before > 0 {
						d.Chain(before)
						d.Sound("first")
					}
					d.Chain(4)
					page := d.Page(path)
					d.Set(path, faults[name](d, path, page.Body))
					d.Doubt("fault")
					d.Doubt("fault, again")
					d.Set(path, page)
					d.Sound("mended")
				})
			}
		}
	}
}
