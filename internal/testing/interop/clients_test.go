package interop

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/testkit"
)

// A kind is one of documents, with those who read or write it.
type kind struct {
	name      string
	documents []document
	tools     []tool
}

// A document is one of a protocol.
type document struct {
	protocol string
	path     string
	want     func(t *testing.T, s *site) []row
}

var kinds = []kind{
	{
		name: "Sitemaps",
		documents: []document{
			{"sitemap", "sitemap.xml", listed},
			{"ResourceSync", "resourcelist.xml", listed},
			{"ELI", "eli/sitemap.xml", acts(listed)},
		},
		tools: []tool{
			{name: "sitemapper", npm: "sitemapper@4.1.6", script: "sitemapper.mjs"},
			{name: "sitemap.js", npm: "sitemap@9.0.1", script: "sitemap.mjs"},
			{name: "Scrapy", deb: "python3-scrapy", script: "scrapy_sitemap.py"},
		},
	},
	{
		name: "Feeds",
		documents: []document{
			{"Atom", "feed.atom", entries},
			{"Atom-PMH", "pmh.atom", records},
			{"rinfo", "rinfo.atom", entries},
			{"ELI", "eli/eli-update-feed.atom", acts(updates)},
		},
		tools: []tool{
			{name: "feedparser (Python)", deb: "python3-feedparser", script: "feedparser.py"},
			{name: "feedparser (npm)", npm: "feedparser@2.6.0", script: "node-feedparser.mjs"},
			{name: "rss-parser", npm: "rss-parser@3.13.0", script: "rss-parser.mjs"},
			{name: "feedsmith", npm: "feedsmith@3.0.1", script: "feedsmith.mjs"},
			{name: "feed-extractor", npm: "@extractus/feed-extractor@8.0.3", script: "feed-extractor.mjs"},
			{name: "feed-parser", npm: "@rowanmanning/feed-parser@2.1.5", script: "feed-parser.mjs"},
			{name: "feedme", npm: "feedme@2.0.2", script: "feedme.mjs"},
			{name: "gofeed", module: "github.com/mmcdole/gofeed", script: "gofeed.go"},
			{name: "Newsboat", deb: "newsboat", script: "newsboat.sh"},
			{name: "sfeed", deb: "sfeed", script: "sfeed.sh"},
			{name: "feedparser (Ruby)", deb: "ruby-feedparser", script: "ruby_feedparser.rb"},
			{name: "rss (Ruby)", deb: "ruby", script: "ruby_rss.rb"},
			{name: "XML::Feed", deb: "libxml-feed-perl", script: "xml_feed.pl"},
			{name: "XML::Atom", deb: "libxml-atom-perl", script: "xml_atom.pl"},
			{name: "XML::FeedPP", deb: "libxml-feedpp-perl", script: "xml_feedpp.pl"},
			{name: "Raptor", deb: "raptor2-utils", script: "rapper.py"},
		},
	},
	{
		name:      "Packages",
		documents: []document{{"Resource Dump", "resourcedump.xml", members}},
		tools: []tool{
			{name: "Info-ZIP", deb: "unzip", script: "unpack.sh unzip"},
			{name: "libarchive", deb: "libarchive-tools", script: "unpack.sh bsdtar"},
			{name: "7-Zip", deb: "p7zip-full", script: "unpack.sh 7z"},
			{name: "zipfile (Python)", deb: "python3", script: "zipfile_reader.py"},
			{name: "rubyzip", deb: "ruby-zip", script: "rubyzip.rb"},
			{name: "Archive::Zip", deb: "libarchive-zip-perl", script: "archive_zip.pl"},
			{name: "node-stream-zip", npm: "node-stream-zip@1.16.0", script: "node-stream-zip.mjs"},
			{name: "yauzl", npm: "yauzl@3.4.0", script: "yauzl.mjs"},
			{name: "adm-zip", npm: "adm-zip@0.6.1", script: "adm-zip.mjs"},
			{name: "JSZip", npm: "jszip@3.10.2", script: "jszip.mjs"},
		},
	},
	{
		name:      "Bodies",
		documents: []document{{"HTTP", "sitemap.xml", bodies}},
		tools: []tool{
			{name: "curl", deb: "curl", script: "curl.sh"},
			{name: "Wget2", deb: "wget2", script: "wget2.sh"},
			{name: "LWP", deb: "libwww-perl", script: "lwp.pl"},
			{name: "Requests", deb: "python3-requests", script: "requests.py"},
		},
	},
	{
		name:      "Metadata of acts",
		documents: []document{{"RDFa", "eli/act/1", triples}},
		tools: []tool{
			{name: "rdfa-streaming-parser", npm: "rdfa-streaming-parser@3.0.2", script: "rdfa-streaming-parser.mjs"},
			{name: "pyRdfa", deb: "python3-pyrdfa", script: "rdfa.py"},
			{name: "RDF::RDFa::Parser", deb: "librdf-rdfa-parser-perl", script: "rdfa.pl"},
		},
	},
}

var writers []kind

// TestClients lets each client read what is published for it, and compares.
func TestClients(t *testing.T) {
	install(t)
	s := newSite(t)
	var mu sync.Mutex
	cells := map[string]string{}
	t.Run("of", func(t *testing.T) {
		for _, k := range kinds {
			for _, client := range k.tools {
				t.Run(client.name, func(t *testing.T) {
					t.Parallel()
					different := map[string]bool{}
					for _, d := range k.documents {
						location := s.Base + d.path
						if k.name == "Packages" {
							location = s.download(t, d.path)
						}
						lost := compare(t, d.protocol, d.want(t, s), rows(t, client.run(t, location)), client.differs, different)
						mu.Lock()
						cells[client.name+d.protocol] = lost
						mu.Unlock()
					}
					for field := range client.differs {
						assert.True(t, different[field], "%s does not differ", field)
					}
				})
			}
		}
	})
	var b strings.Builder
	b.WriteString(head)
	for _, k := range kinds {
		fmt.Fprintf(&b, "\n## %s\n\n| client | version |", k.name)
		for _, d := range k.documents {
			fmt.Fprintf(&b, " %s |", d.protocol)
		}
		b.WriteString("\n|---|---|" + strings.Repeat("---|", len(k.documents)) + "\n")
		var notes strings.Builder
		for _, client := range k.tools {
			fmt.Fprintf(&b, "| %s | %s |", client.name, client.version(t))
			for _, d := range k.documents {
				fmt.Fprintf(&b, " %s |", cells[client.name+d.protocol])
			}
			b.WriteString("\n")
			for _, field := range slices.Sorted(maps.Keys(client.differs)) {
				fmt.Fprintf(&notes, "- **%s**, %s: %s\n", client.name, field, client.differs[field])
			}
		}
		if notes.Len() > 0 {
			b.WriteString("\n" + notes.String())
		}
	}
	testkit.Golden(t, filepath.Join("..", "..", "..", "docs", "clients.md"), []byte(b.String()))
}

const head = `# What clients read
`

// fields are those of rows, in the order of the page.
var fields = []string{"id", "link", "title", "summary", "updated", "published", "author", "lang", "enclosure", "sha256", "again"}

var times = map[string]bool{"updated": true, "published": true}

// compare compares what a client has read with what is published, and returns what has
// not arrived. It notes the fields of differs that are different.
func compare(t *testing.T, protocol string, want, got []row, differs map[string]string, different map[string]bool) string {
	index := map[string]row{}
	for _, w := range want {
		for _, key := range keys(w) {
			index[key] = w
		}
	}
	arrived, missing, wrong, seen := map[string]bool{}, map[string]bool{}, map[string]string{}, map[string]bool{}
	for _, g := range got {
		var w row
		for _, key := range keys(g) {
			if w == nil {
				w = index[key]
			}
		}
		if w == nil {
			wrong["id"] = fmt.Sprintf("%v is not published", g)
			continue
		}
		name := keys(w)[0]
		if seen[name] {
			wrong["id"] = name + " comes twice"
		}
		seen[name] = true
		for _, field := range fields {
			switch {
			case w[field] == "":
			case g[field] == "":
				missing[field] = true
			case !equal(field, w[field], g[field]):
				wrong[field] = fmt.Sprintf("%s: got %q, want %q", name, g[field], w[field])
			default:
				arrived[field] = true
			}
		}
	}
	if len(seen) < len(want) && wrong["id"] == "" {
		wrong["id"] = fmt.Sprintf("%d of %d entries", len(seen), len(want))
	}
	var lost []string
	for _, field := range fields {
		if missing[field] && arrived[field] && wrong[field] == "" {
			wrong[field] = "is missing in some entries"
		}
		if missing[field] || wrong[field] != "" {
			lost = append(lost, field)
		}
		if wrong[field] != "" {
			different[field] = true
			if differs[field] == "" {
				assert.Fail(t, fmt.Sprintf("%s: %s: %s", protocol, field, wrong[field]))
			}
		}
	}
	if len(lost) == 0 {
		return "all"
	}
	return "no " + strings.Join(lost, ", ")
}

// keys are what identifies an entry.
func keys(r row) (all []string) {
	for _, field := range []string{"id", "link", "sha256"} {
		if r[field] != "" {
			all = append(all, field+" "+r[field])
		}
	}
	return all
}

// equal compares the values of a field: times to two seconds, which is what ZIP has.
func equal(field, want, got string) bool {
	if !times[field] {
		return want == strings.TrimSpace(got)
	}
	w, ok := instant(want)
	g, ok2 := instant(got)
	return ok && ok2 && w.Sub(g).Abs() < 2*time.Second
}

func instant(s string) (time.Time, bool) {
	if seconds, err := strconv.ParseFloat(s, 64); err == nil {
		return time.Unix(int64(seconds), 0), true
	}
	for _, layout := range []string{time.RFC3339, time.RFC1123, time.RFC1123Z, "2006-01-02T15:04Z07:00", time.DateOnly} {
		if at, err := time.Parse(layout, s); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

var _ = require.NoError
