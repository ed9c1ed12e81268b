package sourcetest_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/sitemap"
)

func newStore(testing.TB) harvest.Store { return memstore.New() }

const www = "https://www.example.com/"

// urlset returns a sitemap. An entry is a path and, after a space, its lastmod.
func urlset(entries ...string) string { return document("urlset", "url", entries) }

// index returns a sitemap index.
func index(entries ...string) string { return document("sitemapindex", "sitemap", entries) }

func document(root, element string, entries []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<%s xmlns=%q>\n", root, sitemap.Namespace)
	for _, e := range entries {
		path, lastmod, dated := strings.Cut(e, " ")
		fmt.Fprintf(&b, "<%s><loc>%s%s</loc>", element, www, path)
		if dated {
			fmt.Fprintf(&b, "<lastmod>%s</lastmod>", lastmod)
		}
		fmt.Fprintf(&b, "</%s>\n", element)
	}
	fmt.Fprintf(&b, "</%s>\n", root)
	return b.String()
}

func gzipped(t *testing.T, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()
}

// site returns a Site of documents by path, each with an ETag made of its content, and of
// pages.
func site(date string, documents map[string]string, pages ...string) sourcetest.Site {
	s := sourcetest.Site{}
	for path, text := range documents {
		s[www+path] = sourcetest.Document{
			Body:   text,
			Header: map[string][]string{"Date": {date}},
			ETag:   fmt.Sprintf(`"%d-%.60x"`, len(text), text[max(0, len(text)-60):]),
		}
	}
	for _, page := range pages {
		path, version, _ := strings.Cut(page, "@")
		s[www+path] = sourcetest.Document{Body: "page " + page, ETag: `"` + version + `"`}
	}
	return s
}

const (
	monday   = "Mon, 05 Jan 2026 10:00:00 GMT"
	friday   = "Fri, 09 Jan 2026 10:00:00 GMT"
	saturday = "Sat, 10 Jan 2026 10:00:00 GMT"
)

func indexSites() []sourcetest.Site {
	one := map[string]string{
		"sitemap.xml": index("a.xml 2026-01-01", "b.xml 2026-01-01", "c.xml"),
		"a.xml":       urlset("a/1 2025-05-01", "a/2 2025-05-02", "a/3"),
		"b.xml":       urlset("b/1 2025-06-01", "b/2"),
		"c.xml":       urlset("c/1 2025-07-01"),
	}
	two := maps.Clone(one)
	two["sitemap.xml"] = index("a.xml 2026-01-08T12:00:00Z", "b.xml 2026-01-01", "c.xml", "d.xml 2026-01-09")
	two["a.xml"] = urlset("a/1 2026-01-08", "a/3", "a/4 2026-01-08")
	two["c.xml"] = urlset("c/1 2025-07-01", "c/2 2026-01-07")
	two["d.xml"] = urlset("d/1 2026-01-08", "d/2 2026-01-08")
	pages := []string{"a/1@1", "a/2@1", "a/3@1", "b/1@1", "b/2@1", "c/1@1"}
	later := []string{"a/1@2", "a/3@2", "a/4@1", "b/1@1", "b/2@1", "c/1@1", "c/2@1", "d/1@1", "d/2@1"}
	three := maps.Clone(two) // the index does not show that some have changed
	three["d.xml"] = urlset("d/1 2026-01-08", "d/2 2026-01-08", "d/3 2026-01-09")
	three["c.xml"] = urlset("c/1 2025-07-01", "c/3 2026-01-07")
	return []sourcetest.Site{site(monday, one, pages...), site(friday, two, later...), site(saturday, three, append(later, "c/3@1", "d/3@1")...)}
}

// oddSites have an index inside an index, damaged entries, an entry of another host, and
// a document that is listed twice.
func oddSites() []sourcetest.Site {
	one := map[string]string{
		"sitemap.xml": index("a.xml", "more.xml", "a.xml"),
		"more.xml":    index("b.xml"),
		"a.xml":       urlset("a/1 yesterday", "a/2 2025-05-02", "", strings.Repeat("x", harvest.MaxID)),
		"b.xml":       strings.Replace(urlset("b/1 2025-06-01", "b/2", "b/3"), "<loc>"+www+"b/2</loc>", "<loc></loc>", 1),
	}
	two := maps.Clone(one)
	two["a.xml"] = urlset("a/1 today", "a/3 2026-01-08")
	two["b.xml"] = strings.Replace(urlset("b/1 2026-01-06", "b/2"), www+"b/2", "https://other.example.com/b/2", 1)
	return []sourcetest.Site{site(monday, one), site(friday, two)}
}

func urlsetSites() []sourcetest.Site {
	one := urlset("1 2025-05-01", "2 2025-05-02", "3", "4 2025-05-04", "5")
	two := urlset("1 2025-05-01", "3", "4 2026-01-08", "5", "6 2026-01-08")
	return []sourcetest.Site{
		site(monday, map[string]string{"sitemap.xml": one}, "1@1", "2@1", "3@1", "4@1", "5@1"),
		site(friday, map[string]string{"sitemap.xml": two}, "1@1", "3@2", "4@2", "5@1", "6@1"),
	}
}

func TestSitemap(t *testing.T) {
	check := func(name, path string, complete bool, o sourcetest.Options) {
		t.Run(name, func(t *testing.T) {
			o.Source = func() harvest.Source { return &sitemap.Source{URL: www + path, Complete: complete} }
			o.Store = newStore
			if racing.Few() {
				o.Positions = 2
			}
			tolerates := o.Tolerates
			// a sitemap does not contain its own URL
			o.Tolerates = func(url string, f sourcetest.Failure) bool {
				return f == sourcetest.Mistaken || tolerates != nil && tolerates(url, f)
			}
			sourcetest.Run(t, o)
		})
	}
	check("urlset", "sitemap.xml", false, sourcetest.Options{Sites: urlsetSites()})
	check("urlset, complete", "sitemap.xml", true, sourcetest.Options{Sites: urlsetSites()})
	check("index", "sitemap.xml", false, sourcetest.Options{Sites: indexSites()})
	check("index, complete", "sitemap.xml", true, sourcetest.Options{Sites: indexSites()})
	check("gzip", "sitemap.xml", false, sourcetest.Options{Sites: zipped(t, indexSites()), Bodies: harvest.SkipBodies})
	check("odd", "sitemap.xml", true, sourcetest.Options{Sites: oddSites(), Bodies: harvest.SkipBodies})
	check("redirects", "sitemap.xml", true, sourcetest.Options{Sites: moved(urlsetSites())})
	t.Run("text", func(t *testing.T) { sourcetest.Run(t, textOptions()) })
	check("robots", "robots.txt", false, sourcetest.Options{
		Sites: robots(urlsetSites()),
		Tolerates: func(url string, f sourcetest.Failure) bool {
			return f == sourcetest.Cut && strings.HasSuffix(url, ".txt")
		},
	})
	check("bodies that are missing", "sitemap.xml", true, sourcetest.Options{
		Sites: []sourcetest.Site{site(monday, map[string]string{"sitemap.xml": urlset("1", "2 2025-01-01")})},
	})
}

func zipped(t *testing.T, sites []sourcetest.Site) []sourcetest.Site {
	for _, s := range sites {
		for url, doc := range s {
			if strings.HasSuffix(url, ".xml") {
				doc.Body = gzipped(t, doc.Body)
				s[url] = doc
			}
		}
	}
	return sites
}

func robots(sites []sourcetest.Site) []sourcetest.Site {
	text := "User-agent: *\nSitemap: " + www + "sitemap.xml\nSitemap: /more.txt\n"
	for _, s := range sites {
		s[www+"robots.txt"] = sourcetest.Document{Body: text, ETag: `"r"`}
		s[www+"more.txt"] = sourcetest.Document{Body: www + "more/1\n" + www + "more/2\n"}
		s[www+"more/1"] = sourcetest.Document{Body: "more", ETag: `"1"`}
	}
	return sites
}

// moved moves the sitemap and leaves a redirect.
func moved(sites []sourcetest.Site) []sourcetest.Site {
	for _, s := range sites {
		s[www+"new/sitemap.xml"] = s[www+"sitemap.xml"]
		s[www+"sitemap.xml"] = sourcetest.Document{Location: "/new/sitemap.xml"}
	}
	return sites
}
