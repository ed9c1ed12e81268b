package hostile

import (
	"crypto/md5"
	"fmt"
	"net/http"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
)

// seeds is how many resources every site has before the attack.
const seeds = 12

// A document is an honest document with one more entry, and places for an attack.
type document struct {
	prologue flow // before the root
	attrs    flow // of the root
	id, when flow // of the entry, as written in XML
	inner    flow // more of the entry
	end      flow // in place of what closes the root
}

func (d document) or(base string) document {
	if d.prologue == nil {
		d.prologue = text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	}
	if d.id == nil {
		d.id = text(base)
	}
	if d.when == nil {
		d.when = text("2026-10-02T00:00:00Z")
	}
	return d
}

// A shape is a protocol with one of its documents under attack.
type shape struct {
	name   string
	source func(base string) harvest.Source
	path   string // of the document under attack
	// write writes it; edition is the month in which the resources changed
	write func(base string, edition int, d document) flow
	// around are the other documents
	around map[string]func(base string, edition int) flow
	page   func(base, path string, edition int) string // the body of a resource
	root   string                                      // the name of the root element
	memory int64                                       // the limit, if it is another one
}

func plain(_, path string, edition int) string {
	return fmt.Sprintf("resource %s of %d\n", path, edition)
}

func monthOf(edition int) string { return fmt.Sprintf("2026-%02d-01T00:00:00Z", edition) }

// listing writes a document of n entries.
func listing(d document, root, attrs, head string, each func(id, when, inner flow) flow, id func(i int) string, edition int) flow {
	all := join(d.prologue, text("<"+root+" "+attrs), d.attrs, text(">\n"+head))
	for i := range seeds {
		all = append(all, each(text(id(i)), text(monthOf(edition)), nil)...)
	}
	all = append(all, each(d.id, d.when, d.inner)...)
	if d.end != nil {
		return append(all, d.end...)
	}
	return append(all, piece{"</" + root + ">\n", 1})
}

const (
	sitemapSpace = `xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"`
	syncSpace    = sitemapSpace + ` xmlns:rs="http://www.openarchives.org/rs/terms/"`
	atomSpace    = `xmlns="http://www.w3.org/2005/Atom" xmlns:fh="http://purl.org/syndication/history/1.0" xmlns:at="http://purl.org/atompub/tombstones/1.0"`
)

func doc(base string) func(int) string {
	return func(i int) string { return fmt.Sprintf("%s/doc/%d", base, i) }
}

// urls writes a urlset whose entries carry md.
func urls(base string, edition int, d document, space, head, md string) flow {
	d = d.or(base + "/doc/hostile")
	each := func(id, when, inner flow) flow {
		return join(text("<url><loc>"), id, text("</loc><lastmod>"), when, text("</lastmod>"+md), inner, text("</url>\n"))
	}
	return listing(d, "urlset", space, head, each, doc(base), edition)
}

// entries writes a feed whose entries have what links writes.
func entries(base string, edition int, d document, head string, links func(href string, edition int) string) flow {
	d = d.or(base + "/doc/hostile")
	known := 0
	each := func(id, when, inner flow) flow {
		href := base + "/doc/hostile"
		if known < seeds {
			href = doc(base)(known)
		}
		known++
		return join(text("<entry><id>"), id, text("</id><title>A</title><updated>"), when, text("</updated>"+links(href, edition)), inner, text("</entry>\n"))
	}
	head = "<id>urn:feed</id><title>F</title><updated>2026-10-02T00:00:00Z</updated><author><name>A</name></author>" + head
	return listing(d, "feed", atomSpace, head, each, doc(base), edition)
}

func src(href string, _ int) string { return `<content type="text/plain" src="` + href + `"/>` }
func alternate(href string, _ int) string {
	return `<link rel="alternate" type="text/plain" href="` + href + `"/>`
}

func legal(href string, edition int) string {
	_, path, _ := strings.Cut(strings.TrimPrefix(href, "http://"), "/")
	sum := md5.Sum([]byte(plain("", "/"+path, edition)))
	return fmt.Sprintf(`<published>2026-01-01T00:00:00Z</published><content type="text/plain" src="%s" hash="md5:%x"/>`, href, sum)
}

func capabilities(base string, lists ...string) flow {
	all := "<urlset " + syncSpace + `><rs:md capability="capabilitylist"/>`
	for _, name := range lists {
		all += fmt.Sprintf(`<url><loc>%s/%s.xml</loc><rs:md capability="%s"/></url>`, base, name, name)
	}
	return text(all + "</urlset>")
}

func act(base, path string, edition int) string {
	return fmt.Sprintf(`<!DOCTYPE html><html lang="fr" prefix="eli: http://data.europa.eu/eli/ontology#">
<body about="%[1]s%[2]s" typeof="eli:LegalResource"><div rel="eli:is_realized_by">
<div resource="%[1]s%[2]s/fr" typeof="eli:LegalExpression"><h1 property="eli:title">Act of %[3]d</h1>
<link property="eli:language" href="http://publications.europa.eu/resource/authority/language/FRA">
<div rel="eli:is_embodied_by"><p resource="%[1]s%[2]s/fr/html" typeof="eli:Format">
<link property="eli:media_type" href="https://www.iana.org/assignments/media-types/text/html">
<a property="eli:is_exemplified_by" href="%[1]s/file%[2]s">Text</a></p></div></div></div></body></html>`, base, path, edition)
}

func acts(base string) func(int) string {
	return func(i int) string { return fmt.Sprintf("%s/eli/%d", base, i) }
}

var shapes = []shape{{
	name: "sitemap", path: "/sitemap.xml", root: "urlset",
	source: func(base string) harvest.Source { return &sitemap.Source{URL: base + "/sitemap.xml", Complete: true} },
	write: func(base string, edition int, d document) flow {
		return urls(base, edition, d, sitemapSpace, "", "")
	},
}, {
	name: "sitemap part", path: "/part.xml", root: "urlset",
	source: func(base string) harvest.Source { return &sitemap.Source{URL: base + "/sitemap.xml", Complete: true} },
	write: func(base string, edition int, d document) flow {
		return urls(base, edition, d, sitemapSpace, "", "")
	},
	around: map[string]func(string, int) flow{"/sitemap.xml": func(base string, _ int) flow {
		return text("<sitemapindex " + sitemapSpace + "><sitemap><loc>" + base + "/part.xml</loc></sitemap></sitemapindex>")
	}},
}, {
	name: "sitemap index", path: "/sitemap.xml", root: "sitemapindex",
	source: func(base string) harvest.Source { return &sitemap.Source{URL: base + "/sitemap.xml", Complete: true} },
	write: func(base string, edition int, d document) flow {
		d = d.or(base + "/part.xml")
		each := func(id, when, inner flow) flow {
			return join(text("<sitemap><loc>"), id, text("</loc><lastmod>"), when, text("</lastmod>"), inner, text("</sitemap>\n"))
		}
		return listing(d, "sitemapindex", sitemapSpace, "", each, func(i int) string { return fmt.Sprintf("%s/part/%d", base, i) }, edition)
	},
	around: partsOf(),
}, {
	name: "atom", path: "/feed.atom", root: "feed",
	source: func(base string) harvest.Source { return &atom.Source{URL: base + "/feed.atom"} },
	write: func(base string, edition int, d document) flow {
		return entries(base, edition, d, "", src)
	},
}, {
	name: "atom, complete", path: "/feed.atom", root: "feed",
	source: func(base string) harvest.Source { return &atom.Source{URL: base + "/feed.atom"} },
	write: func(base string, edition int, d document) flow {
		return entries(base, edition, d, "<fh:complete/>", src)
	},
}, {
	name: "atom archive", path: "/archive.atom", root: "feed",
	source: func(base string) harvest.Source {
		return &atom.Source{URL: base + "/feed.atom", Profile: atom.SourceProfile{Archives: atom.ArchivesMove}}
	},
	write: func(base string, edition int, d document) flow {
		return entries(base, edition, d, "<fh:archive/>", src)
	},
	around: map[string]func(string, int) flow{"/feed.atom": func(base string, edition int) flow {
		return text("<feed " + atomSpace + "><id>urn:feed</id><title>F</title><updated>" + monthOf(edition) + `</updated><link rel="prev-archive" href="` +
			base + `/archive.atom"/><entry><id>` + base + "/doc/new</id><title>N</title><updated>" + monthOf(edition) + "</updated>" + src(base+"/doc/new", 0) + "</entry></feed>")
	}},
}, {
	name: "anyfeed", path: "/feed.atom", root: "feed",
	source: func(base string) harvest.Source {
		return &atom.Source{URL: base + "/feed.atom", Parser: anyfeed.Parse}
	},
	write: func(base string, edition int, d document) flow {
		return entries(base, edition, d, "", src)
	},
}, {
	name: "resource list", path: "/resourcelist.xml", root: "urlset",
	source: func(base string) harvest.Source { return &resourcesync.Source{URL: base + "/capabilitylist.xml"} },
	write: func(base string, edition int, d document) flow {
		return urls(base, edition, d, syncSpace, `<rs:md capability="resourcelist" at="`+monthOf(edition)+`"/>`, "")
	},
	around: map[string]func(string, int) flow{"/capabilitylist.xml": func(base string, _ int) flow {
		return capabilities(base, "resourcelist")
	}},
}, {
	name: "change list", path: "/changelist.xml", root: "urlset",
	source: func(base string) harvest.Source { return &resourcesync.Source{URL: base + "/capabilitylist.xml"} },
	write: func(base string, edition int, d document) flow {
		if d.when == nil {
			d.when = text(monthOf(edition))
		}
		return urls(base, edition, d, syncSpace, `<rs:md capability="changelist" from="2026-01-01T00:00:00Z"/>`, `<rs:md change="updated"/>`)
	},
	around: map[string]func(string, int) flow{
		"/capabilitylist.xml": func(base string, _ int) flow { return capabilities(base, "resourcelist", "changelist") },
		"/resourcelist.xml": func(base string, _ int) flow {
			return urls(base, 1, document{}, syncSpace, `<rs:md capability="resourcelist" at="2026-02-01T00:00:00Z"/>`, "")
		},
	},
}, {
	name: "capability list", path: "/capabilitylist.xml", root: "urlset",
	source: func(base string) harvest.Source { return &resourcesync.Source{URL: base + "/capabilitylist.xml"} },
	write: func(base string, edition int, d document) flow {
		d = d.or(base + "/resourcelist.xml")
		return join(d.prologue, text("<urlset "+syncSpace), d.attrs, text(`><rs:md capability="capabilitylist"/><url><loc>`), d.id,
			text(`</loc><lastmod>`), d.when, text(`</lastmod><rs:md capability="resourcelist"/>`), d.inner, text("</url>"), orEnd(d.end, "</urlset>"))
	},
	around: map[string]func(string, int) flow{"/resourcelist.xml": func(base string, edition int) flow {
		return urls(base, edition, document{}, syncSpace, `<rs:md capability="resourcelist" at="`+monthOf(edition)+`"/>`, "")
	}},
}, {
	name: "atompmh", path: "/feed.atom", root: "feed",
	source: func(base string) harvest.Source { return &atompmh.Source{URL: base + "/feed.atom"} },
	write: func(base string, edition int, d document) flow {
		return entries(base, edition, d, "<fh:complete/>", alternate)
	},
}, {
	name: "rinfo", path: "/feed.atom", root: "feed",
	source: func(base string) harvest.Source { return &rinfo.Source{URL: base + "/feed.atom"} },
	write: func(base string, edition int, d document) flow {
		return entries(base, edition, d, "<fh:complete/>", legal)
	},
}, {
	name: "eli sitemap", path: "/eli/sitemap.xml", root: "urlset", page: act,
	source: func(base string) harvest.Source {
		return &eli.Source{Sitemap: base + "/eli/sitemap.xml", Interval: -1}
	},
	write: func(base string, edition int, d document) flow { return lawList(base, edition, d) },
}, {
	name: "eli feed", path: "/eli/feed.atom", root: "feed", page: act,
	source: func(base string) harvest.Source {
		return &eli.Source{Sitemap: base + "/eli/sitemap.xml", Feed: base + "/eli/feed.atom", Interval: -1}
	},
	write: func(base string, edition int, d document) flow {
		d = d.or(base + "/eli/hostile")
		each := func(id, when, inner flow) flow {
			return join(text("<entry><id>"), id, text("</id><title>A</title><updated>"), when, text("</updated>"), inner, text("</entry>\n"))
		}
		head := "<id>urn:x:eli:eli-update-feed</id><title>F</title><updated>2026-10-02T00:00:00Z</updated><author><name>A</name></author>"
		return listing(d, "feed", atomSpace, head, each, acts(base), edition)
	},
	around: map[string]func(string, int) flow{"/eli/sitemap.xml": func(base string, edition int) flow {
		return lawList(base, edition, document{})
	}},
}}

func lawList(base string, edition int, d document) flow {
	d = d.or(base + "/eli/hostile")
	each := func(id, when, inner flow) flow {
		return join(text("<url><loc>"), id, text("</loc><lastmod>"), when, text("</lastmod>"), inner, text("</url>\n"))
	}
	return listing(d, "urlset", sitemapSpace, "", each, acts(base), edition)
}

func orEnd(end flow, closing string) flow {
	if end == nil {
		return text(closing)
	}
	return end
}

// partsOf returns the parts of the sitemap index: one resource each.
func partsOf() map[string]func(string, int) flow {
	one := func(name string) func(string, int) flow {
		return func(base string, edition int) flow {
			return text("<urlset " + sitemapSpace + "><url><loc>" + base + "/doc/" + name + "</loc><lastmod>" + monthOf(edition) + "</lastmod></url></urlset>")
		}
	}
	parts := map[string]func(string, int) flow{"/part.xml": one("hostile")}
	for i := range seeds {
		parts[fmt.Sprintf("/part/%d", i)] = one(fmt.Sprint(i))
	}
	return parts
}

// publish puts an edition of the site on the server.
func (w *world) publish(s *shape, edition int, d document) {
	for path, write := range s.around {
		w.serveText(path, write(w.url, edition))
	}
	w.serveText(s.path, s.write(w.url, edition, d))
	page := s.page
	if page == nil {
		page = plain
	}
	w.serve("", func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/eli/") || strings.HasPrefix(r.URL.Path, "/file/"):
			rw.Header().Set("Content-Type", "text/html")
		case !strings.HasPrefix(r.URL.Path, "/doc/"):
			http.NotFound(rw, r)
			return
		default:
			rw.Header().Set("Content-Type", "text/plain")
		}
		fmt.Fprint(rw, page(w.url, r.URL.Path, edition))
	})
}

// prepare harvests the honest site, and returns what the Store then holds.
func (w *world) prepare(s *shape) map[string]websync.Datetime {
	w.t.Helper()
	w.publish(s, 3, document{})
	o := w.run(s.source(w.url), requestLimit)
	w.expect(harmless, o)
	held := w.live(s.source(w.url))
	if len(held) < seeds {
		w.t.Fatalf("the honest site has %d resources: %v", len(held), o.messages)
	}
	return held
}
