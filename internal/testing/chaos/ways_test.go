package chaos

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/dirsource"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
)

// A way is a protocol, or one of its forms: what publishes a set and what reads it.
type way struct {
	name   string
	entry  string // the path of the document that the Source begins with
	source func(p place) harvest.Source
	// lists returns the Publisher of the documents; nil: there is a feed in RSS, or a
	// directory.
	lists func(s *site) lister
	// keeps: deletions are not in the documents
	keeps bool
}

// A place is where a Source finds its documents.
type place struct {
	URL string // of the document that the Source begins with, or of a directory
	Dir string // a directory of the reader, or the one to read
}

// A lister is a Publisher of a protocol's documents.
type lister interface {
	websync.Publisher
	Reserved(path string) bool
	Check() error
}

// size is how many entries a document has at most: few, so that there are many.
const size = 25

var author = websync.Person{Name: "Chaos"}

var ways = []way{
	{
		name: "sitemap", entry: "sitemap.xml",
		source: func(p place) harvest.Source { return &sitemap.Source{URL: p.URL, Complete: true} },
		lists: func(s *site) lister {
			return &sitemap.Publisher{Place: websync.Place{Catalog: s.store, Base: s.base, Locator: s.locator(), Report: s.report}, PartSize: size}
		},
	},
	{
		name: "atom", entry: "feed.atom",
		source: func(p place) harvest.Source { return &atom.Source{URL: p.URL, Dir: p.Dir} },
		lists: func(s *site) lister {
			return &atom.Publisher{Place: websync.Place{Catalog: s.store, Base: s.base, Locator: s.locator(), Report: s.report}, Author: author, ArchiveSize: size}
		},
	},
	{
		name: "anyfeed", entry: "feed.rss", keeps: true,
		source: func(p place) harvest.Source { return &atom.Source{URL: p.URL, Parser: anyfeed.Parse} },
	},
	{
		name: "resourcesync", entry: "capabilitylist.xml",
		source: func(p place) harvest.Source { return &resourcesync.Source{URL: p.URL, NoDumps: true} },
		lists: func(s *site) lister {
			return &resourcesync.Publisher{Place: websync.Place{Catalog: s.store, Base: s.base, Locator: s.locator(), Report: s.report}, PartSize: size, ListSize: size}
		},
	},
	{
		name: "resourcesync dumps", entry: "capabilitylist.xml",
		source: func(p place) harvest.Source { return &resourcesync.Source{URL: p.URL} },
		lists: func(s *site) lister {
			return &resourcesync.Publisher{Place: websync.Place{Catalog: s.store, Base: s.base, Locator: s.locator(), Report: s.report}, PartSize: size, ListSize: size,
				Dumps: &resourcesync.Dumps{Dir: s.t.TempDir(), State: s.store, MaxEntries: size}}
		},
	},
	{
		name: "atompmh", entry: "feed.atom",
		source: func(p place) harvest.Source { return &atompmh.Source{URL: p.URL, AllFormats: true, Dir: p.Dir} },
		lists: func(s *site) lister {
			return &atom.Publisher{Profile: atompmh.Profile(), Place: websync.Place{Catalog: s.store, Base: s.base, Locator: s.locator(), Report: s.report}, Author: author, ArchiveSize: size}
		},
	},
	{
		name: "rinfo", entry: "feed.atom",
		source: func(p place) harvest.Source { return &rinfo.Source{URL: p.URL, Dir: p.Dir} },
		lists: func(s *site) lister {
			return &atom.Publisher{Profile: rinfo.Profile(), Place: websync.Place{Catalog: s.store, Base: s.base, Locator: s.locator(), Report: s.report}, Author: author, ArchiveSize: size}
		},
	},
	{
		name: "eli", entry: "eli/sitemap.xml",
		source: func(p place) harvest.Source {
			// the sitemap in each run: the feed has no deletions
			return &eli.Source{Sitemap: p.URL, Feed: strings.TrimSuffix(p.URL, "sitemap.xml") + "eli-update-feed.atom", Interval: -1, SitemapEvery: 1}
		},
		lists: func(s *site) lister {
			return &eli.Publisher{Place: websync.Place{Catalog: s.store, Base: s.base, Locator: s.locator(), Report: s.report, Sources: []string{ownKey}}, Author: author}
		},
	},
	{
		name:   "directory",
		source: func(p place) harvest.Source { return &dirsource.Source{Dir: p.Dir, Base: p.URL} },
	},
}

// wayOf returns the way with a name.
func wayOf(name string) *way {
	for i := range ways {
		if ways[i].name == name {
			return &ways[i]
		}
	}
	panic("no way is named " + name)
}

// handler returns what publishes the documents of a site and its bodies.
func (w *way) handler(s *site) http.Handler {
	if w.lists != nil {
		s.lists = w.lists(s)
	}
	h := &publish.Handler{Publishers: []websync.Publisher{publish.Bodies(s.store, s.locator())}, Dir: s.t.TempDir()}
	if s.lists != nil {
		h.Publishers = append([]websync.Publisher{s.lists}, h.Publishers...)
	}
	s.t.Cleanup(func() { h.Close() })
	if err := h.Check(); err != nil {
		s.t.Fatal(err)
	}
	if s.lists != nil {
		return h
	}
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.HandleFunc("/"+w.entry, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/rss+xml")
		if err := writeRSS(r.Context(), rw, s.store); err != nil {
			panic(http.ErrAbortHandler)
		}
	})
	return mux
}

// writeRSS writes all resources as a feed, with a link to each.
func writeRSS(ctx context.Context, w io.Writer, c websync.Catalog) error {
	type item struct {
		GUID    string `xml:"guid"`
		Title   string `xml:"title"`
		Link    string `xml:"link"`
		Updated string `xml:"http://www.w3.org/2005/Atom updated"`
	}
	var items []item
	for i, err := range c.Resources(ctx, websync.Range{}) {
		if err != nil {
			return err
		}
		items = append(items, item{i.Resource.ID, i.Resource.Title, i.Resource.ID, i.Resource.Modified.String()})
	}
	return xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"rss"`
		Version string   `xml:"version,attr"`
		Title   string   `xml:"channel>title"`
		Items   []item   `xml:"channel>item"`
	}{Version: "2.0", Title: "Chaos", Items: items})
}

// page returns a document of about n bytes, with the metadata that legislation has.
func page(id, title, filler string, n int) string {
	head := fmt.Sprintf(`<!DOCTYPE html>
<html lang="en" prefix="eli: http://data.europa.eu/eli/ontology#"><head><title>%[2]s</title></head>
<body about="%[1]s" typeof="eli:LegalResource">
<div property="eli:is_realized_by" resource="%[1]s/en" typeof="eli:LegalExpression">
<link property="eli:language" href="http://publications.europa.eu/resource/authority/language/ENG">
<h1 property="eli:title" lang="en">%[2]s</h1>
<div property="eli:is_embodied_by" resource="%[1]s" typeof="eli:Format">
<link property="eli:media_type" href="https://www.iana.org/assignments/media-types/text/html"></div>
</div>
`, id, title)
	b := []byte(head)
	for len(b) < n {
		b = append(b, filler...)
	}
	return string(b) + "</body></html>\n"
}

// epoch is when the publisher's clock begins.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
