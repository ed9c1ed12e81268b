package interop

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

// A format is one of files that generators write.
type format struct {
	name string
	file string
	open func(url string) harvest.Source
	// published: its only time is that of the publication, which orders the states
	published bool
}

// A family is generators of the same formats.
type family struct {
	name    string
	formats []format
	// fields are what the formats have
	fields []string
	tools  []tool
}

func openSitemap(url string) harvest.Source { return &sitemap.Source{URL: url} }
func openFeed(url string) harvest.Source    { return &atom.Source{URL: url, Parser: anyfeed.Parse} }
func openDump(url string) harvest.Source {
	return &resourcesync.Source{URL: strings.Replace(url, "package.zip", "capabilitylist.xml", 1)}
}

var families = []family{
	{
		name:    "Sitemaps",
		formats: []format{{"sitemap", "sitemap.xml", openSitemap, false}, {"index", "index.xml", openSitemap, false}},
		fields:  []string{"id", "updated", "sha256"},
		tools: []tool{
			{name: "sitemap.js", npm: "sitemap@9.0.1", script: "write-sitemap.mjs"},
			{name: "Django", deb: "python3-django", script: "write_django.py", differs: map[string]string{
				"updated": "its template writes dates without times.",
			}},
		},
	},
	{
		name: "Feeds",
		formats: []format{
			{"Atom", "feed.atom", openFeed, false},
			{"RSS 2.0", "feed.rss", openFeed, true},
			{"RSS 1.0", "feed.rdf", openFeed, true},
			{"JSON Feed", "feed.json", openFeed, false},
		},
		fields: fields,
		tools: []tool{
			{name: "feed", npm: "feed@6.0.0", script: "write-feed.mjs", differs: map[string]string{
				"sha256": "in JSON Feed the description is written as the content.",
				"title":  "in Atom it is written as HTML, without escapes: what looks like a tag is lost.",
			}},
			{name: "rss", npm: "rss@1.2.2", script: "write-rss.mjs"},
			{name: "feedsmith", npm: "feedsmith@3.0.1", script: "write-feedsmith.mjs", differs: map[string]string{
				"finding": "in Atom, an id with an ampersand has white space around it. It is read without.",
			}},
			{name: "feedgenerator", deb: "python3-feedgenerator", script: "write_feedgenerator.py"},
			{name: "Django", deb: "python3-django", script: "write_django.py"},
			{name: "rss (Ruby)", deb: "ruby", script: "write_rss.rb"},
			{name: "XML::Atom", deb: "libxml-atom-perl", script: "write_xml_atom.pl"},
			{name: "XML::RSS", deb: "libxml-rss-perl", script: "write_xml_rss.pl"},
			{name: "XML::FeedPP", deb: "libxml-feedpp-perl", script: "write_xml_feedpp.pl", differs: map[string]string{
				"sha256": "in Atom the description is written as the content.",
			}},
		},
	},
	{
		name:    "Packages",
		formats: []format{{"Resource Dump", "package.zip", openDump, false}},
		fields:  []string{"id", "updated", "sha256"},
		tools: []tool{
			{name: "Info-ZIP", deb: "zip", script: "pack.sh zip"},
			{name: "libarchive", deb: "libarchive-tools", script: "pack.sh bsdtar"},
			{name: "7-Zip", deb: "p7zip-full", script: "pack.sh 7z"},
			{name: "zipfile (Python)", deb: "python3", script: "pack.sh zipfile"},
			{name: "JSZip", npm: "jszip@3.10.2", script: "write-jszip.mjs"},
			{name: "yazl", npm: "yazl@3.3.1", script: "write-yazl.mjs"},
		},
	},
}

// generators harvests what generators write for a set of resources, and compares.
func (p *page) generators(t *testing.T) {
	for _, f := range families {
		for _, generator := range f.tools {
			t.Run(f.name+"/"+generator.name, func(t *testing.T) {
				t.Parallel()
				dir, base, want := written(t, f.name == "Packages")
				generator.run(t, filepath.Join(dir, "site.json"), dir)
				c := comparison{differs: generator.differs}
				for _, format := range f.formats {
					if _, err := os.Stat(filepath.Join(dir, format.file)); err == nil {
						want := slices.Clone(want)
						for i := range want {
							if format.published {
								want[i] = maps.Clone(want[i])
								want[i]["updated"] = want[i]["published"]
							}
						}
						got := c.harvested(t, format.open(base+format.file))
						p.set(f.name, generator, format.name, c.lost(t, format.name, f.fields, want, got))
					}
				}
				c.end(t)
			})
		}
	}
}

// written returns a directory with the description of a site and its bodies, and the URL
// at which it is served. Those of a package are besides its documents.
func written(t *testing.T, packed bool) (dir, base string, want []row) {
	dir = t.TempDir()
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	base = server.URL + "/"
	bodies := dir
	if packed {
		bodies = filepath.Join(dir, "package")
	}
	require.NoError(t, os.MkdirAll(filepath.Join(bodies, "docs"), 0o755))
	manifest := fmt.Sprintf(`%s<rs:md capability="resourcedump-manifest" at="2025-04-01T00:00:00Z"/>`, urlset)
	for n := range 30 {
		name, text := fmt.Sprintf("docs/r&d-é-%d.txt", n), fmt.Sprintf("Text %d\n", n)
		r := row{
			"id": base + fmt.Sprintf("docs/r&d-%%C3%%A9-%d.txt", n), "title": fmt.Sprintf("Title %d <b> & “Grüße” 𝄞", n),
			"summary": fmt.Sprintf("%d < 7 & ü", n),
			"updated": fmt.Sprintf("2025-03-%02dT10:20:30Z", n+1), "published": "2024-12-31T23:59:59Z",
			"author": "Zoë", "enclosure": base + fmt.Sprintf("media/%d.mp3?a=1&b=2", n), "text": text,
			"sha256": fmt.Sprintf("%x", websync.SHA256([]byte(text)).Sum),
		}
		r["link"] = r["id"]
		want = append(want, r)
		require.NoError(t, os.WriteFile(filepath.Join(bodies, name), []byte(text), 0o644))
		manifest += fmt.Sprintf(`<url><loc>%s</loc><lastmod>%s</lastmod><rs:md path="/%s" hash="sha-256:%s"/></url>`,
			strings.ReplaceAll(r["id"], "&", "&amp;"), r["updated"], strings.ReplaceAll(name, "&", "&amp;"), r["sha256"])
	}
	files := map[string]string{}
	if packed {
		files = map[string]string{
			"package/manifest.xml": manifest + "</urlset>",
			"capabilitylist.xml": urlset + `<rs:md capability="capabilitylist"/>` +
				`<url><loc>` + base + `resourcedump.xml</loc><rs:md capability="resourcedump"/></url></urlset>`,
			"resourcedump.xml": urlset + `<rs:md capability="resourcedump" at="2025-04-01T00:00:00Z"/>` +
				`<url><loc>` + base + `package.zip</loc><rs:md type="application/zip"/></url></urlset>`,
		}
	}
	site, err := json.Marshal(map[string]any{"base": base, "items": want})
	require.NoError(t, err)
	files["site.json"] = string(site)
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir, base, want
}

const urlset = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">`

// harvested returns what a Source yields, with the bodies.
func (c *comparison) harvested(t *testing.T, source harvest.Source) (all []row) {
	store := harvest.NewCatalog(memstore.New())
	client := fetch.New(store)
	client.Rate, client.AllowPrivate, client.IgnoreRobots = -1, true, true
	t.Cleanup(client.CloseIdleConnections)
	hooks := &harvest.Hooks{Finding: func(_ string, f websync.Finding) {
		if f.Severity == websync.SeverityError && !c.wrongs["finding"] {
			c.wrong(t, "finding", f.String())
		}
	}}
	report, err := (&harvest.Harvester{Catalog: store, Fetcher: client, Hooks: hooks}).Run(t.Context(), source)
	require.NoError(t, err)
	assert.True(t, report.InStep(), "%+v", report)
	for record, err := range store.Records(t.Context(), source.Key(), "") {
		require.NoError(t, err)
		r := record.Resource
		link, _ := r.Link("alternate")
		enclosure, _ := r.Link("enclosure")
		fields := row{
			"id": r.ID, "link": link.Href, "title": r.Title, "summary": r.Summary, "lang": r.Lang,
			"updated": r.Modified.String(), "published": r.Published.String(), "enclosure": enclosure.Href,
		}
		if len(r.Authors) > 0 {
			fields["author"] = r.Authors[0].Name
		}
		if body, ok := record.Body(websync.ContentName); ok {
			fields["sha256"] = fmt.Sprintf("%x", body.Key.Sum)
		}
		all = append(all, fields)
	}
	return all
}
