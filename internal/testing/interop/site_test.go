package interop

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/rinfo"
	"github.com/websync-go/websync/sitemap"
)

// A site is a set of resources, published by every protocol.
type site struct {
	publish.Site
	catalog    *harvest.Catalog
	publishers []websync.Publisher // of Site.Publishers
	rs         *resourcesync.Publisher
}

const ownKey = "own"

var author = websync.Person{Name: "Åsa & Søn"}

// newSite serves 29 resources, of which one was deleted and published again. Another one
// was deleted.
func newSite(t *testing.T) *site {
	handler := &publish.Handler{}
	t.Cleanup(func() { handler.Close() })
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)

	s := &site{catalog: harvest.NewCatalog(memstore.New())}
	s.Site = publish.Site{Catalog: s.catalog, Base: server.URL + "/", Own: []string{ownKey}}
	s.rs = &resourcesync.Publisher{Dumps: &resourcesync.Dumps{Dir: t.TempDir()}, PartSize: 10}
	s.publishers = s.Site.Publishers(
		&sitemap.Publisher{PartSize: 10}, &atom.Publisher{Author: author, Title: "Käse & Brot"}, s.rs,
		&eli.Publisher{Author: author, NoRobots: true},
		&atom.Publisher{Path: "pmh.atom", Profile: atompmh.Profile(), Author: author},
		&atom.Publisher{Path: "rinfo.atom", Profile: rinfo.Profile(), Author: author},
	)
	handler.Publishers = s.publishers
	require.NoError(t, handler.Check())

	for _, absent := range [][]int{{29}, {8, 9, 29}, {8}} {
		events := []harvest.Event{{Kind: harvest.SnapshotStart}}
		for n := range 30 {
			if !slices.Contains(absent, n) {
				events = append(events, s.event(t, n))
			}
		}
		events = append(events, harvest.Event{Kind: harvest.SnapshotEnd, Complete: true})
		report, err := (&harvest.Harvester{Catalog: s.catalog}).Run(t.Context(), harvest.Of(ownKey, events...))
		require.NoError(t, err)
		require.True(t, report.InStep(), "%+v", report)
	}
	require.NoError(t, s.rs.Pack(t.Context()))
	return s
}

// event lists the resource number n: the first six are acts with metadata.
func (s *site) event(t *testing.T, n int) harvest.Event {
	path, mediaType, text := fmt.Sprintf("docs/%d.txt", n), "text/plain", fmt.Sprintf("Text %d\n", n)
	switch {
	case n < 6:
		path, mediaType = fmt.Sprintf("eli/act/%d", n), "text/html"
		text = fmt.Sprintf(actPage, s.Base+path, n)
	case n%8 == 5:
		path = fmt.Sprintf("docs/r&d+(x)-%d.txt", n)
	case n%8 == 1:
		path = fmt.Sprintf("docs/r&d+ü-%d.txt", n)
	case n%4 == 2:
		path = fmt.Sprintf("docs/%%C3%%A9tude-%d.txt", n)
	}
	modified := map[int]string{10: "2025-03-11T10:20:30.123456Z", 11: "2025-03-12", 12: "2025-03-13T10:20:30+02:00"}[n]
	if modified == "" {
		modified = fmt.Sprintf("2025-03-%02dT10:20:30Z", n+1)
	}
	r := websync.Resource{
		ID: s.Base + path, Title: fmt.Sprintf("Title %d <b> & “Grüße” 𝄞", n), Summary: fmt.Sprintf("%d < 7 & ü", n), Lang: "en",
		Modified: testkit.Date(t, modified), Published: testkit.Date(t, "2024-12-31T23:59:59Z"),
		Authors: []websync.Person{{Name: "Zoë"}},
		Content: websync.Link{Href: s.Base + path, Type: mediaType, Digests: websync.Digests{websync.SHA256([]byte(text))}},
	}
	if n%2 == 0 {
		r.Links = []websync.Link{
			{Rel: "alternate", Href: s.Base + fmt.Sprintf("?page=%d&view=full", n), Type: "text/html"},
			{Rel: "enclosure", Href: s.Base + fmt.Sprintf("media/%d.mp3?a=1&b=2", n), Type: "audio/mpeg", Length: 1000},
		}
	}
	return harvest.Event{Kind: harvest.Put, Resource: r, Open: harvest.OpenBytes([]byte(text))}
}

const actPage = `<!DOCTYPE html>
<html lang="en" prefix="eli: http://data.europa.eu/eli/ontology#"><head><meta charset="utf-8"><title>Act %[2]d</title></head>
<body about="%[1]s" typeof="eli:LegalResource">
<div property="eli:is_realized_by" resource="%[1]s/en" typeof="eli:LegalExpression">
<link property="eli:language" href="http://publications.europa.eu/resource/authority/language/ENG">
<h1 property="eli:title" lang="en">Act %[2]d &amp; “Grüße”</h1>
</div></body></html>
`

// items calls do with each live resource of a protocol's documents, and the URL of its
// body.
func (s *site) items(t *testing.T, do func(item websync.Item, url string) row) (all []row) {
	for item, err := range s.catalog.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		if item.Kind != websync.Deleted {
			all = append(all, do(item, s.rs.Locator.URL(&item, websync.ContentName)))
		}
	}
	require.Len(t, all, 29)
	return all
}

// listed are the entries of a sitemap.
func listed(t *testing.T, s *site) []row {
	return s.items(t, func(item websync.Item, url string) row {
		return row{"id": url, "updated": item.Resource.Modified.String()}
	})
}

// acts returns those entries that are acts.
func acts(want func(*testing.T, *site) []row) func(*testing.T, *site) []row {
	return func(t *testing.T, s *site) []row {
		return slices.DeleteFunc(want(t, s), func(r row) bool { return !eli.IsELI(r["id"]) })
	}
}

// entries are those of a feed. Their first alternate is the link.
func entries(t *testing.T, s *site) []row {
	return s.items(t, func(item websync.Item, url string) row {
		r := row{
			"id": item.Resource.ID, "link": url, "title": item.Resource.Title, "summary": item.Resource.Summary, "lang": "en",
			"author":  "Zoë",
			"updated": item.Time.Format(time.RFC3339Nano), "published": item.Resource.Published.String(),
		}
		for _, l := range item.Resource.Links {
			if l.Rel == "alternate" {
				l.Rel = "link"
			}
			r[l.Rel] = l.Href
		}
		return r
	})
}

// records are the entries of a feed of Atom-PMH: the link is the content, and a deletion is
// an entry without content.
func records(t *testing.T, s *site) []row {
	all := entries(t, s)
	for i, r := range s.items(t, func(_ websync.Item, url string) row { return row{"link": url} }) {
		all[i]["link"] = r["link"]
	}
	return append(all, row{"id": s.Base + "docs/8.txt"})
}

// updates are the entries of an update feed of ELI.
func updates(t *testing.T, s *site) []row {
	return s.items(t, func(item websync.Item, url string) row {
		return row{"id": url, "link": url, "title": item.Resource.Title, "lang": "en", "updated": item.Resource.Modified.String()}
	})
}

// bodies are those of all resources. A second request for one transfers none.
func bodies(t *testing.T, s *site) []row {
	return s.items(t, func(item websync.Item, url string) row {
		modified := item.Resource.Modified.String()
		if item.Prior > 0 || modified == "2025-03-12" { // which is no Last-Modified
			modified = item.Time.Format(time.RFC3339)
		}
		return row{"id": url, "sha256": digestOf(item), "updated": modified, "again": "304"}
	})
}

// members are the files of a package: the manifest, and the bodies, wherever they are.
func members(t *testing.T, s *site) []row {
	manifest := s.get(t, "resourcedump.xml", `contents" href="([^"]+)"`)
	all := s.items(t, func(item websync.Item, url string) row {
		return row{"sha256": digestOf(item), "updated": item.Resource.Modified.String()}
	})
	return append(all, row{"sha256": fmt.Sprintf("%x", sha256.Sum256(manifest))})
}

func digestOf(item websync.Item) string { return fmt.Sprintf("%x", item.Bodies[0].Key.Sum) }

// get returns the document that a document of the site names.
func (s *site) get(t *testing.T, path, named string) []byte {
	read := func(url string) []byte {
		r, err := http.Get(url)
		require.NoError(t, err)
		defer r.Body.Close()
		require.Equal(t, http.StatusOK, r.StatusCode, url)
		text, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		return text
	}
	match := regexp.MustCompile(named).FindSubmatch(read(s.Base + path))
	require.NotNil(t, match)
	return read(string(match[1]))
}

// download returns a file with the package that a dump names.
func (s *site) download(t *testing.T, path string) string {
	file := filepath.Join(t.TempDir(), "package.zip")
	require.NoError(t, os.WriteFile(file, s.get(t, path, `<loc>([^<]+)`), 0o644))
	return file
}

// triples are what is read from the page of an act.
func triples(t *testing.T, s *site) (all []row) {
	url := s.Base + "eli/act/1"
	found, err := new(rdfa.Extractor).Extract(strings.NewReader(fmt.Sprintf(actPage, url, 1)), url, "text/html", nil)
	require.NoError(t, err)
	for _, x := range found {
		value := x.Object.Value
		if x.Object.Lang != "" {
			value += "@" + x.Object.Lang
		}
		all = append(all, row{"id": x.Subject.Value + " " + x.Predicate.Value + " " + value})
	}
	require.Len(t, all, 5)
	return all
}
