package sitemap_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

// doubts are parts of documents whose structure is damaged: {1}, {2} and {3} are URLs.
// The readable entries are read, and those that may be lost are counted as skipped.
var doubts = map[string]struct {
	doc     string
	read    string // which URLs are read, in this order
	skipped int
}{
	"two locs in a url":              {"<url><loc>{1}</loc><lastmod>2025-01-01</lastmod><loc>{2}</loc><priority>0.1</priority></url><url><loc>{3}</loc></url>", "123", 1},
	"three locs in a url":            {"<url><loc>{1}</loc><loc>{2}</loc><LOC>{3}</LOC></url>", "123", 2},
	"an empty loc before another":    {"<url><loc/><loc>{2}</loc></url><url><loc>{3}</loc></url>", "23", 2},
	"a url in a url":                 {"<url><loc>{1}</loc><url><loc>{2}</loc></url></url><url><loc>{3}</loc></url>", "123", 1},
	"a url in a url, before its loc": {"<url><url><loc>{2}</loc></url><loc>{1}</loc><priority>0.1</priority></url><url><loc>{3}</loc></url>", "213", 3},
	"a url in a url, and its rest":   {"<url><loc>{1}</loc><url><loc>{2}</loc></url><lastmod>2025-01-01</lastmod></url><url><loc>{3}</loc></url>", "123", 1},
	"urls in an unknown element":     {"<group><url><loc>{1}</loc></url><url><loc>{2}</loc></url></group><url><loc>{3}</loc></url>", "123", 1},
	"a url in a foreign namespace":   {"<url xmlns='urn:x'><loc>{1}</loc></url><url><loc>{2}</loc></url><url><loc>{3}</loc></url>", "23", 1},
	"urls in a foreign element":      {"<x:g xmlns:x='urn:x'><x:h><url><loc>{1}</loc></url></x:h></x:g><url><loc>{2}</loc></url><url><loc>{3}</loc></url>", "123", 1},
	"a url in an extension":          {"<url><loc>{1}</loc><x:g xmlns:x='urn:x'><url><loc>{2}</loc></url></x:g></url><url><loc>{3}</loc></url>", "123", 1},
	"a loc in an unknown element":    {"<url><group><loc>{1}</loc></group></url><url><loc>{2}</loc></url><url><loc>{3}</loc></url>", "123", 2},
	"a url in a loc":                 {"<url><loc>{1}<url><loc>{2}</loc></url></loc></url><url><loc>{3}</loc></url>", "23", 2},
	"a url in a lastmod":             {"<url><loc>{1}</loc><lastmod>2025<url><loc>{2}</loc></url></lastmod></url><url><loc>{3}</loc></url>", "123", 1},
	"an element in a loc":            {"<url><loc>{1}<b>x</b></loc></url><url><loc>{2}</loc></url><url><loc>{3}</loc></url>", "23", 1},
	"locs without url":               {"<loc>{1}</loc><lastmod>2025-01-01</lastmod><url><loc>{2}</loc></url><loc>{3}</loc>", "123", 3},
	"a second urlset inside":         {"<url><loc>{1}</loc></url><urlset><url><loc>{2}</loc></url><url><loc>{3}</loc></url></urlset>", "123", 1},
	"a CDATA loc that doesn't end":   {"<url><loc><![CDATA[{1}]></loc></url><url><loc><![CDATA[{2}]]></loc></url><url><loc>{3}</loc></url>", "3", 1},
	"a CDATA date that doesn't end":  {"<url><loc>{1}</loc><lastmod><![CDATA[2025-01-01]></lastmod></url><url><loc>{2}</loc><lastmod><![CDATA[2025-01-01]]></lastmod></url><url><loc>{3}</loc></url>", "13", 1},
	"a CDATA text that doesn't end":  {"<url><loc>{1}</loc><x:t xmlns:x='urn:x'><![CDATA[t]></x:t></url><s:url><s:loc>{2}</s:loc></s:url><url><x:t><![CDATA[t]]></x:t></url><url><loc>{3}</loc></url>", "13", 1},
	"an instruction that runs on":    {"<?a ><url><loc>{1}</loc></url><?b?><url><loc>{2}</loc></url><url><loc>{3}</loc></url>", "23", 1},
	"what is nested too deep":        {"<url><loc>{1}</loc>" + strings.Repeat("<x:d>", 300) + strings.Repeat("</x:d>", 300) + "</url><url><loc>{2}</loc></url><url><loc>{3}</loc></url>", "123", 1},
	"a value over the limit":         {"<url><loc>{1}</loc><x:d>" + strings.Repeat("x", 9<<20) + "</x:d></url><x:d>" + strings.Repeat("x", 9<<20) + "</x:d><url><loc>{2}</loc></url><url><loc>{3}</loc></url>", "123", 2},
	"entries as text":                {"<url><loc>{1}</loc></url><![CDATA[<url><loc>{2}</loc></url>]]>&lt;url>&lt;loc>{3}&lt;/loc>&lt;/url>", "1", 1},
	"an error message":               {"<url><loc>{1}</loc></url>\nError: database gone away\n", "1", 1},
	"an error message in HTML":       {"<url><loc>{1}</loc></url><br />\n<b>Fatal error</b>: Allowed memory size exhausted", "1", 3},
	"an error message, before":       {"<error>timeout</error><url><loc>{1}</loc></url>", "1", 1},
	"an error message, no namespace": {"<url><loc>{1}</loc></url><error xmlns=''>timeout</error>", "1", 1},
	"a URL as text":                  {"<url><loc>{1}</loc></url>{2}<url><loc>{3}</loc></url>", "13", 1},
	"two URLs run together":          {"<url><loc>{1}{2}</loc></url><url><loc>{3}</loc></url>", "3", 1},
	"two URLs in a loc":              {"<url><loc>{1} {2}</loc></url><url><loc>{3}</loc></url>", "3", 1},
	"two URLs, no-break space":       {"<url><loc>{1}\u00a0{2}</loc></url><url><loc>{3}</loc></url>", "3", 1},
	"two lines, line separator":      {"<url><loc>{1}\u2028x</loc></url><url><loc>{3}</loc></url>", "3", 1},
	"two lines in a loc":             {"<url><loc>{1}\n{2}</loc></url><url><loc>{3}</loc></url>", "3", 1},
	"markup in a loc":                {"<url><loc>{1}&gt;</loc></url><url><loc>{2}&lt;</loc></url><url><loc>{3}</loc></url>", "3", 2},
}

func TestDoubt(t *testing.T) {
	for name, test := range doubts {
		t.Run(name, func(t *testing.T) {
			doc := "<urlset xmlns='" + sitemap.Namespace + "' xmlns:s='" + sitemap.Namespace + "' xmlns:x='urn:x'>" + listed(test.doc, 1, 2, 3) + "</urlset>"
			var want []string
			for _, c := range test.read {
				want = append(want, numberedPage(int(c-'0')))
			}
			found := 0
			for _, report := range []func(websync.Finding){nil, func(f websync.Finding) {
				assert.Positive(t, f.Line)
				found++
			}} {
				r := newReader([]byte(doc), report)
				var got []string
				for e, err := range r.All() {
					require.NoError(t, err)
					got = append(got, e.Loc)
				}
				assert.Equal(t, want, got)
				assert.Equal(t, test.skipped, r.Skipped())
			}
			assert.GreaterOrEqual(t, found, test.skipped)
		})
	}
}

// TestDoubtDeletesNothing: a Complete sitemap of 40 pages is damaged and then lists fewer
// of them.
func TestDoubtDeletesNothing(t *testing.T) {
	const url = site + "/sitemap.xml"
	var all []string
	for n := range 40 {
		all = append(all, numberedPage(n))
	}
	for name, test := range doubts {
		t.Run(name, func(t *testing.T) {
			web := &web{pages: sourcetest.Site{url: {Body: string(urlset(all...))}}}
			store := harvest.NewCatalog(memstore.New())
			h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: web, Bodies: harvest.SkipBodies}
			src := &sitemap.Source{URL: url, Complete: true}
			report, err := h.Run(t.Context(), src)
			require.NoError(t, err)
			require.EqualValues(t, 40, report.Created)

			damaged := listed(test.doc, 37, 38, 39)
			web.pages[url] = sourcetest.Document{Body: strings.NewReplacer("<urlset ", "<urlset xmlns:s='"+sitemap.Namespace+"' xmlns:x='urn:x' ", "</urlset>", damaged+"</urlset>").
				Replace(string(urlset(all[:37]...)))}
			report, err = h.Run(t.Context(), src)
			require.NoError(t, err)
			assert.Equal(t, test.skipped, report.Skipped)
			assert.Zero(t, report.Deleted)
			assert.False(t, report.InStep())
			head, err := store.Head(t.Context())
			require.NoError(t, err)
			assert.EqualValues(t, 40, head.Total())

			web.pages[url] = pages(all[:37]...)
			report, err = h.Run(t.Context(), src)
			require.NoError(t, err)
			assert.EqualValues(t, 3, report.Deleted, "a sound listing deletes what it no longer lists")
		})
	}
}

// listed replaces {1}, {2} and {3} with pages.
func listed(doc string, first, second, third int) string {
	return strings.NewReplacer("{1}", numberedPage(first), "{2}", numberedPage(second), "{3}", numberedPage(third)).Replace(doc)
}

func numberedPage(n int) string { return fmt.Sprintf("%s/page-%02d", site, n) }

// TestTwoURLs: where the end of a line is lost, two URLs are not one. A URL may contain
// another one.
func TestTwoURLs(t *testing.T) {
	for name, test := range map[string]struct {
		url string
		two bool
	}{
		"after a letter":                {url: site + "/page-1" + site + "/page-2", two: true},
		"after a name with a dot":       {url: site + "/a.html" + "http://www.example.com/b.html", two: true},
		"in capitals":                   {url: site + "/a" + "HTTPS://www.example.com/b", two: true},
		"after a host":                  {url: site + site + "/b", two: true},
		"after an escaped letter":       {url: site + "/caf%C3%A9" + site + "/b", two: true},
		"after a letter beyond ASCII":   {url: site + "/café" + site + "/b", two: true},
		"after the value of a query":    {url: site + "/?page=1" + site + "/?page=2", two: true},
		"after one that contains one":   {url: site + "/?url=https://example.org/a" + site + "/b", two: true},
		"three that end in slashes":     {url: site + "/a/" + site + "/b/" + site + "/c/", two: true},
		"in a query":                    {url: site + "/?url=https://www.example.com/a"},
		"in a query that has more":      {url: site + "/?a=b&url=https://www.example.com/a&c=d"},
		"the query itself":              {url: site + "/?https://www.example.com/a"},
		"in a query, a path":            {url: site + "/?url=/https://www.example.com/a"},
		"in a query, after its escape":  {url: site + "/?url%3Dhttps://www.example.com/a"},
		"of an archive":                 {url: "https://web.archive.org/web/2020/https://www.example.com/a"},
		"of an archive, in an archive":  {url: "https://web.archive.org/web/2020/https://example.net/?u=https://www.example.com/a"},
		"of its own host":               {url: site + "/bodies/https://www.example.com/a/content"},
		"after another delimiter":       {url: site + "/cache:https://www.example.com/a"},
		"in a fragment":                 {url: site + "/viewer#https://www.example.com/a"},
		"a scheme twice":                {url: "http://https://www.example.com/a"},
		"another scheme":                {url: site + "/page-1ftp://www.example.com/a"},
		"a scheme without anything":     {url: site + "/what-is-http://"},
		"escaped":                       {url: site + "/page-1https%3A%2F%2Fwww.example.com"},
		"a colon and another one after": {url: site + "/a:b:c"},
	} {
		t.Run(name, func(t *testing.T) {
			for format, doc := range map[string]string{
				"text": site + "/first\n" + test.url + "\n" + site + "/last\n", "urlset": string(urlset(site+"/first", strings.ReplaceAll(test.url, "&", "&amp;"), site+"/last")),
			} {
				want := []string{site + "/first", test.url, site + "/last"}
				skipped := 0
				if test.two {
					want, skipped = slices.Delete(want, 1, 2), 1
				}
				var found []websync.Finding
				r := newReader([]byte(doc), func(f websync.Finding) { found = append(found, f) })
				var got []string
				for e, err := range r.All() {
					require.NoError(t, err)
					got = append(got, e.Loc)
				}
				assert.Equal(t, want, got, format)
				assert.Equal(t, skipped, r.Skipped(), format)
				if test.two {
					rule := map[string]string{"text": "sitemap-text-line", "urlset": "sitemap-loc-syntax"}[format]
					assert.Contains(t, testkit.Rules(found), rule)
				}
				sum, err := sitemap.Validate(strings.NewReader(doc), sitemap.ValidateOptions{})
				require.NoError(t, err)
				assert.Equal(t, skipped, sum.Skipped)
				if test.two {
					assert.Positive(t, sum.Errors)
				}
			}
			var b bytes.Buffer
			err := sitemap.NewWriter(&b).Write(&sitemap.Entry{Loc: test.url})
			if test.two {
				assert.Error(t, err)
			}

			w := &web{pages: sourcetest.Site{
				site + "/robots.txt": {Body: "Sitemap: " + site + "/a.xml\nSitemap: " + test.url + "\n"},
				site + "/a.xml":      pages(site + "/1"), test.url: pages(site + "/2"),
			}}
			robots := listen(t, w, &sitemap.Source{URL: site + "/robots.txt"}, harvest.Checkpoint{}, 0)
			require.NoError(t, robots.err)
			if test.two {
				assert.Equal(t, []string{"snapshot start", site + "/1", "snapshot end, 1 skipped, resume"}, robots.events)
				assert.Equal(t, []string{"sitemap-robots"}, robots.rules())
			} else {
				assert.NotContains(t, robots.rules(), "sitemap-robots")
			}
		})
	}
	t.Run("two lines of robots.txt", func(t *testing.T) {
		w := &web{pages: sourcetest.Site{site + "/robots.txt": {Body: "Sitemap: " + site + "/a.xmlSitemap: " + site + "/b.xml"}}}
		got := listen(t, w, &sitemap.Source{URL: site + "/robots.txt"}, harvest.Checkpoint{}, 0)
		assert.Equal(t, []string{"snapshot start", "snapshot end, 1 skipped, resume"}, got.events)
	})
}

// TestLostLineEnds: a Complete text sitemap that lost its line ends deletes nothing.
func TestLostLineEnds(t *testing.T) {
	const url = site + "/sitemap.txt"
	var all []string
	for n := range 40 {
		all = append(all, numberedPage(n))
	}
	for name, lost := range map[string]string{
		"all of them":  strings.Join(all, ""),
		"one of them":  strings.Join(all[:38], "\n") + "\n" + all[38] + all[39],
		"with slashes": strings.Join(all[:37], "\n") + "\n" + strings.Join(all[37:], "/"),
	} {
		t.Run(name, func(t *testing.T) {
			web := &web{pages: sourcetest.Site{url: {Body: strings.Join(all, "\n")}}}
			store := harvest.NewCatalog(memstore.New())
			h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: web, Bodies: harvest.SkipBodies, MaxDelete: 1}
			src := &sitemap.Source{URL: url, Complete: true}
			report, err := h.Run(t.Context(), src)
			require.NoError(t, err)
			require.True(t, report.InStep())
			for range 2 {
				web.pages[url] = sourcetest.Document{Body: lost}
				report, err = h.Run(t.Context(), src)
				require.NoError(t, err)
				assert.Zero(t, report.Deleted)
				assert.Zero(t, report.Created)
				assert.False(t, report.InStep())
			}
		})
	}
}
