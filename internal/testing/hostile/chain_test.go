package hostile

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
)

const documentLimit = 40

// limited returns a Source that reads a limited number of documents.
func limited(name, base string) harvest.Source {
	switch src := shapeOf(name).source(base).(type) {
	case *sitemap.Source:
		src.MaxDocuments = documentLimit
		return src
	case *atom.Source:
		src.MaxDocuments = documentLimit
		return src
	case *atompmh.Source:
		src.MaxDocuments = documentLimit
		return src
	case *rinfo.Source:
		src.MaxDocuments = documentLimit
		return src
	case *resourcesync.Source:
		src.MaxDocuments = documentLimit
		return src
	}
	panic(name)
}

func index(locs ...string) string {
	return "<sitemapindex " + sitemapSpace + "><sitemap><loc>" + strings.Join(locs, "</loc></sitemap>\n<sitemap><loc>") + "</loc></sitemap></sitemapindex>"
}

func syncIndex(capability string, locs ...string) string {
	return "<sitemapindex " + syncSpace + `><rs:md capability="` + capability + `" at="2026-04-01T00:00:00Z" from="2026-01-01T00:00:00Z"/><sitemap><loc>` +
		strings.Join(locs, "</loc></sitemap>\n<sitemap><loc>") + "</loc></sitemap></sitemapindex>"
}

// feed writes a document with links and one entry.
func feed(base, id, name, links string) string {
	return "<feed " + atomSpace + "><id>" + id + "</id><title>F</title><updated>2026-04-01T00:00:00Z</updated><author><name>A</name></author>" + links +
		"<entry><id>" + base + "/doc/" + name + "</id><title>A</title><updated>2026-04-01T00:00:00Z</updated>" + src(base+"/doc/0", 0) + "</entry></feed>"
}

func link(rel, href string) string { return `<link rel="` + rel + `" href="` + href + `"/>` }

// A chain is what a server has that leads in circles, or on and on.
type chain struct {
	name, shape string
	verdict     verdict
	// text returns the document of a path
	text func(base, path string) string
}

// next returns the number at the end of a path, plus one.
func next(path string) int {
	n, _ := strconv.Atoi(path[strings.LastIndexByte(path, '/')+1:])
	return n + 1
}

// feedChains are for all profiles of Atom.
func feedChains(shape string) []chain {
	document := func(links func(base, path string) string) func(base, path string) string {
		return func(base, path string) string {
			return feed(base, "urn:feed", fmt.Sprint(next(path)), links(base, path))
		}
	}
	v := refused
	if shape == "atompmh" {
		v = anything // links between pages are not followed
	}
	return []chain{
		{"prev-archive to itself", shape, refused, document(func(base, path string) string { return link("prev-archive", base+path) })},
		{"prev-archive to nothing", shape, anything, document(func(string, string) string { return link("prev-archive", "") })},
		{"prev-archive in a circle", shape, refused, document(func(base, path string) string {
			return "<fh:archive/>" + link("prev-archive", fmt.Sprintf("%s/a/%d", base, next(path)%3))
		})},
		{"prev-archive without an end", shape, refused, document(func(base, path string) string {
			return "<fh:archive/>" + link("prev-archive", fmt.Sprintf("%s/a/%d", base, next(path)))
		})},
		{"prev-archive with fragments", shape, refused, document(func(base, path string) string {
			return link("prev-archive", fmt.Sprintf("%s%s#%d", base, path, next(path)))
		})},
		{"prev-archive by another spelling", shape, refused, document(func(base, path string) string {
			return link("prev-archive", base+"/x/.."+path)
		})},
		{"two archives", shape, refused, document(func(base, path string) string {
			return link("prev-archive", base+"/a/1") + link("prev-archive", base+"/a/2")
		})},
		{"ten thousand archives", shape, refused, func(base, path string) string {
			return feed(base, "urn:feed", "1", numbered(10_000, `<link rel="prev-archive" href="/a/%d"/>`).String())
		}},
		{"archive of another feed", shape, refused, func(base, path string) string {
			if path == "/feed.atom" {
				return feed(base, "urn:feed", "1", link("prev-archive", base+"/a/1"))
			}
			return feed(base, "urn:other", "2", "<fh:archive/>")
		}},
		{"archive that is a login page", shape, refused, func(base, path string) string {
			if path == "/feed.atom" {
				return feed(base, "urn:feed", "1", link("prev-archive", base+"/a/1"))
			}
			return "<html><body>Log in</body></html>"
		}},
		{"archive inside", shape, refused, document(func(string, string) string { return link("prev-archive", inside.url()+"/") })},
		{"archive in a file", shape, refused, document(func(string, string) string { return link("prev-archive", "file:///etc/passwd") })},
		{"next to itself", shape, v, document(func(base, path string) string { return link("next", base+path) })},
		{"next in a circle", shape, v, document(func(base, path string) string {
			return link("next", fmt.Sprintf("%s/a/%d", base, next(path)%3))
		})},
		{"next without an end", shape, v, document(func(base, path string) string {
			return link("next", fmt.Sprintf("%s/a/%d", base, next(path)))
		})},
		{"next and prev-archive", shape, refused, document(func(base, path string) string {
			return link("next", fmt.Sprintf("%s/a/%d", base, next(path))) + link("prev-archive", fmt.Sprintf("%s/b/%d", base, next(path)))
		})},
		{"complete and archived", shape, refused, document(func(base, path string) string {
			return "<fh:complete/>" + link("prev-archive", fmt.Sprintf("%s/a/%d", base, next(path)))
		})},
	}
}

var chains = append([]chain{
	{"index of itself", "sitemap", refused, func(base, path string) string { return index(base + path) }},
	{"index of itself by fragments", "sitemap", refused, func(base, path string) string { return index(base+path+"#a", base+path+"#b") }},
	{"indexes in a circle", "sitemap", refused, func(base, path string) string { return index(fmt.Sprintf("%s/i/%d", base, next(path)%2)) }},
	{"indexes without an end", "sitemap", refused, func(base, path string) string { return index(fmt.Sprintf("%s/i/%d", base, next(path))) }},
	{"indexes that branch", "sitemap", refused, func(base, path string) string {
		return index(base+path+"/1", base+path+"/2", base+path+"/3", base+path+"/4", base+path+"/5", base+path+"/6", base+path+"/7")
	}},
	{"parts without an end", "sitemap", refused, func(base, path string) string {
		if path != "/sitemap.xml" {
			return urls(base, 4, document{}, sitemapSpace, "", "").String()
		}
		return index(strings.Split(strings.TrimSuffix(numbered(20_000, base+"/part/%d,").String(), ","), ",")...)
	}},
	{"parts that are one", "sitemap", anything, func(base, path string) string {
		if path != "/sitemap.xml" {
			return urls(base, 4, document{}, sitemapSpace, "", "").String()
		}
		return index(strings.Split(strings.TrimSuffix(strings.Repeat(base+"/part,", 20_000), ","), ",")...)
	}},
	{"capabilities in a circle", "resource list", refused, func(base, path string) string { return capabilities(base, "capabilitylist").String() }},
	{"capability list that is its resource list", "resource list", refused, func(base, path string) string {
		return strings.ReplaceAll(capabilities(base, "resourcelist").String(), "resourcelist.xml", "capabilitylist.xml")
	}},
	{"thousand resource lists", "resource list", refused, func(base, path string) string {
		return "<urlset " + syncSpace + `><rs:md capability="capabilitylist"/>` + numbered(1000, `<url><loc>`+base+`/r/%d</loc><rs:md capability="resourcelist"/></url>`).String() + "</urlset>"
	}},
	{"resource list index of itself", "resource list", refused, syncChain("resourcelist", func(base, path string) string { return base + path })},
	{"resource list indexes without an end", "resource list", refused, syncChain("resourcelist", func(base, path string) string { return fmt.Sprintf("%s/r/%d", base, next(path)) })},
	{"change list index of itself", "change list", refused, syncChain("changelist", func(base, path string) string { return base + path })},
	{"change list indexes without an end", "change list", refused, syncChain("changelist", func(base, path string) string { return fmt.Sprintf("%s/r/%d", base, next(path)) })},
	{"dump index of itself", "resource list", refused, syncChain("resourcedump", func(base, path string) string { return base + path })},
	{"change dump indexes without an end", "resource list", refused, syncChain("changedump", func(base, path string) string { return fmt.Sprintf("%s/r/%d", base, next(path)) })},
	{"archives that are capability lists", "atom", refused, func(base, path string) string { return capabilities(base, "resourcelist").String() }},
}, append(feedChains("atom"), append(feedChains("atompmh"), feedChains("rinfo")...)...)...)

// syncChain offers a capability whose documents are indexes.
func syncChain(capability string, to func(base, path string) string) func(base, path string) string {
	return func(base, path string) string {
		switch {
		case path == "/capabilitylist.xml":
			return capabilities(base, capability).String()
		}
		return syncIndex(capability, to(base, path))
	}
}

// Lists that lead to themselves, or on and on, end.
func TestChains(t *testing.T) {
	for _, c := range chains {
		t.Run(c.shape+", "+c.name, func(t *testing.T) {
			w := newWorld(t)
			s := shapeOf(c.shape)
			held := w.prepare(s)
			w.mu.Lock()
			w.answers = map[string]http.HandlerFunc{"": func(rw http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/doc/") {
					fmt.Fprint(rw, plain("", r.URL.Path, 4))
					return
				}
				rw.Header().Set("Content-Type", "application/xml")
				fmt.Fprint(rw, c.text(w.url, r.URL.Path))
			}}
			w.mu.Unlock()
			w.leads = []string{inside.url(), "file:///etc/passwd"}
			src := limited(c.shape, w.url)
			o := w.run(src, 4*documentLimit)
			w.expect(c.verdict, o)
			now := w.live(src)
			if c.verdict == refused {
				for id := range held {
					assert.Contains(t, now, id)
				}
			}
		})
	}
}

// Discovery ends, too.
func TestFollow(t *testing.T) {
	for name, text := range map[string]func(base, path string) string{
		"description of itself": func(base, path string) string {
			return "<urlset " + syncSpace + `><rs:md capability="description"/><url><loc>` + base + path + `</loc><rs:md capability="capabilitylist"/></url></urlset>`
		},
		"descriptions without an end": func(base, path string) string {
			return "<sitemapindex " + syncSpace + `><rs:md capability="description"/><sitemap><loc>` + fmt.Sprintf("%s/d/%d", base, next(path)) + `</loc></sitemap></sitemapindex>`
		},
		"up without an end": func(base, path string) string {
			return "<urlset " + syncSpace + `><rs:ln rel="up" href="` + fmt.Sprintf("%s/d/%d", base, next(path)) + `"/><rs:md capability="resourcelist"/></urlset>`
		},
		"up to itself": func(base, path string) string {
			return "<urlset " + syncSpace + `><rs:ln rel="up" href="` + base + path + `"/><rs:md capability="changelist"/></urlset>`
		},
		"page that links to itself": func(base, path string) string {
			return `<html><head><link rel="resourcesync" href="` + base + path + `"></head></html>`
		},
		"ten thousand sets": func(base, path string) string {
			return "<urlset " + syncSpace + `><rs:md capability="description"/>` + numbered(10_000, `<url><loc>`+base+`/c/%d</loc><rs:md capability="capabilitylist"/></url>`).String() + "</urlset>"
		},
		"feeds of feeds": func(base, path string) string {
			return "<feed " + atomSpace + "><id>urn:f</id><title>F</title><updated>2026-01-01T00:00:00Z</updated><entry><id>urn:a</id><updated>2026-01-01T00:00:00Z</updated>" +
				`<content type="application/atom+xml;type=feed" src="` + fmt.Sprintf("%s/d/%d", base, next(path)) + `"/></entry></feed>`
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.serve("", func(rw http.ResponseWriter, r *http.Request) {
				if !strings.Contains(text(w.url, ""), "<html") {
					rw.Header().Set("Content-Type", "application/xml")
				}
				fmt.Fprint(rw, text(w.url, r.URL.Path))
			})
			ctx, cancel := w.context()
			defer cancel()
			rooted := func(ctx context.Context, req *harvest.Request) (*harvest.Response, error) {
				req.Root = w.url
				return w.client.Fetch(ctx, req)
			}
			w.measured(func() {
				_, err1 := resourcesync.Follow(ctx, testkit.FetchFunc(rooted), w.url+"/d/0")
				_, err2 := resourcesync.Discover(ctx, testkit.FetchFunc(rooted), w.url+"/d/0")
				_, _, err3 := rinfo.Sources(ctx, testkit.FetchFunc(rooted), w.url+"/d/0", []string{w.url})
				t.Log(err1, err2, err3)
			})
			require.NoError(t, ctx.Err())
			assert.LessOrEqual(t, w.requests, requestLimit)
		})
	}
}
