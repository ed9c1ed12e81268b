package eli_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// variantsOf returns the eight forms of the URI of an act.
func variantsOf(name string) (all []string) {
	for _, prefix := range []string{"https://", "http://", "https://www.", "http://www."} {
		all = append(all, prefix+"law.example/eli/"+name, prefix+"law.example/eli/"+name+"/")
	}
	return all
}

// actAt adds the page of an act whose URI is uri, at at.
func (s *lawSite) actAt(at, uri, title string) *lawSite {
	return s.add(at, "text/html; charset=utf-8", rdfaPage(uri, title))
}

// titles returns the title of each live act by its id.
func (c *collection) titles() map[string]string {
	c.Helper()
	all := map[string]string{}
	for _, item := range testkit.All(c, c.store.Resources(c.Context(), websync.Range{})) {
		all[item.Resource.ID] = item.Resource.Title
	}
	return all
}

// TestVariants: an act that the sitemap, the feed and its page write in different forms is
// one act with the URI of the sitemap, also when only the feed is read.
func TestVariants(t *testing.T) {
	for i := range variantsOf("a") {
		for j := range variantsOf("a") {
			a, b, fed, page := variantsOf("a")[i], variantsOf("b")[i], variantsOf("a")[j], variantsOf("a")[(i+j)%8]
			c := newCollection(t)
			require.True(t, c.run(newSite(40).actAt(a, page, "One").actAt(b, b, "Other").lists(
				urlset(a+" 2026-02-01", b+" 2026-02-02"), feed(fed+" 2026-02-01T12:00:00Z", b+" 2026-02-01T12:00:00Z"))).InStep(), "%s %s: %v", a, fed, c.tasks())
			assert.Equal(t, map[string]string{a: "One", b: "Other"}, c.titles())
			assert.Equal(t, a != fed, slices.Contains(testkit.Rules(c.findings), "eli-variant"), "%s %s: %v", a, fed, c.findings)
			assert.Equal(t, a != page, slices.Contains(testkit.Rules(c.findings), "eli-uri"), "%s %s: %v", a, page, c.findings)

			n := variantsOf("c")[j] // which only the feed has, in its form
			news := variantsOf("c")[i]
			require.True(t, c.run(newSite(41).actAt(a, page, "Two").actAt(b, b, "Other").actAt(news, n, "New").lists(
				"", feed(n+" 2026-02-10T11:00:00Z", fed+" 2026-02-10T10:00:00Z", fed+" 2026-02-01T12:00:00Z", b+" 2026-02-01T12:00:00Z"))).InStep(), "%s %s: %v", a, fed, c.tasks())
			assert.Equal(t, map[string]string{a: "Two", b: "Other", news: "New"}, c.titles())
		}
	}
}

// TestSitemapVariants: which URI counts if a sitemap has several forms, and which acts the
// feed's are when it is read alone.
func TestSitemapVariants(t *testing.T) {
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("many/%d", i), fmt.Sprintf("http://www.law.example/eli/odd/%d/", i))
	}
	for name, test := range map[string]struct {
		sitemap, feed, want []string // without dates; want without what the sitemap does not have
		variants            int
	}{
		"all forms":                   {append(variantsOf("a"), "b"), []string{"a/"}, []string{"a", "b"}, 7},
		"that of most":                {append(variantsOf("a"), variantsOf("b")[7]), []string{"a"}, []string{variantsOf("a")[7], variantsOf("b")[7]}, 7},
		"odd ones":                    {[]string{"a", "b", "c/", "http://law.example/eli/d", "https://LAW.example/eli/e"}, []string{"c", "d/", "e", "f/"}, []string{"a", "b", "c/", "http://law.example/eli/d", "https://LAW.example/eli/e", "f"}, 0},
		"fragments and queries":       {[]string{"a#1", "a#2", "a?x", "a/?x", "a"}, []string{"a/#2"}, []string{"a#1", "a#2", "a?x", "a"}, 1},
		"more odd ones than are kept": {many, []string{"odd/7", "many/7/"}, many, 0},
	} {
		for _, reversed := range []bool{false, true} { // the order changes nothing
			t.Run(fmt.Sprintf("%s, reversed %t", name, reversed), func(t *testing.T) {
				l := newLister(t)
				of := func(day int, names []string) (pairs []string) {
					for _, name := range names {
						pairs = append(pairs, name+" "+timeOf(day))
					}
					return pairs
				}
				pass := func(day int) (ids []string) {
					listed := of(5, test.sitemap)
					if reversed {
						slices.Reverse(listed)
					}
					for _, e := range l.pass(newSite(day).lists(urlset(listed...), feed(append(of(day-1, test.feed), "kept 2026-01-01T12:00:00Z")...))) {
						if id, ok := strings.CutPrefix(e, "put "); ok {
							id, _, _ = strings.Cut(id, " ")
							ids = append(ids, strings.TrimPrefix(id, law+"eli/"))
						}
					}
					slices.Sort(ids)
					return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return strings.Contains(id, "kept") })
				}
				want := slices.Sorted(slices.Values(test.want))
				for i, id := range want {
					want[i] = strings.TrimPrefix(id, law+"eli/")
				}
				require.Equal(t, want, pass(40))
				assert.Equal(t, test.variants > 0, strings.Contains(fmt.Sprint(l.findings), fmt.Sprintf("%d entries are variants of URIs that are listed", test.variants)), "%v", l.findings)
				for day := 41; day < 43; day++ {
					got := pass(day)
					assert.Subset(t, want, got)
					assert.GreaterOrEqual(t, len(got), len(test.feed))
				}
			})
		}
	}
}

// TestVariantsOnPage: what a page states of several forms of a URI is about one resource.
func TestVariantsOnPage(t *testing.T) {
	for _, c := range []struct{ name, statements, want, rules string }{
		{"of the act", `1 a LegalResource|http://law.example/1 title "T"|https://www.law.example/1/ id_local "7"|1/ is_realized_by 1/en|1/en title "E"`, "T 7 E", "eli-variant"},
		{"of an expression", `1 a LegalResource|1 title "T"|1 id_local "7"|1 is_realized_by http://www.law.example/1/en/|1/en title "E"`, "T 7 E", ""},
		{"an act that is not that of the page", `1 title "T"|1 id_local "7"|1 is_realized_by 1/en|1/en title "E"|1 cites http://law.example/2/|2 title "X"`, "T 7 E", ""},
		{"an expression that only a slash makes another one", `1 title "T"|1 id_local "7"|1 is_realized_by 1/|1/ title "E"|1/ a LegalExpression`, "T 7 E", ""},
		{"parts", `1 title "T"|1 id_local "7"|1#art-1 id_local "8"|http://law.example/1#art-2 id_local "9"|1 is_realized_by 1/en|1/en title "E"`, "T 7 E", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var findings []websync.Finding
			g := graph(t, func(f websync.Finding) { findings = append(findings, f) }, strings.Split(c.statements, "|")...)
			r := resource(t, g)
			text := r.Titles[0].Value + " " + strings.Join(r.IDLocal, ",")
			require.Len(t, r.Expressions, 1)
			assert.Equal(t, c.want, text+" "+r.Expressions[0].Titles[0].Value)
			rules := slices.DeleteFunc(testkit.Rules(findings), func(r string) bool { return r == "eli-language" })
			assert.Equal(t, c.rules, strings.Join(rules, " "))
			again := eli.NewGraph(g.Triples(), func(f websync.Finding) { assert.NotEqual(t, "eli-variant", f.Rule) })
			assert.Equal(t, g.Triples(), again.Triples())
			other, err := g.Resource("http://www.law.example/1/")
			require.NoError(t, err)
			assert.Equal(t, r.Titles, other.Titles)
		})
	}
}

// TestVariantsDeleted: an act that both lists no longer have in any form is deleted, and
// one whose form has changed in the feed is not.
func TestVariantsDeleted(t *testing.T) {
	c := newCollection(t)
	c.source.SitemapEvery = time.Hour
	site := func(day int) *lawSite {
		return newSite(day).act("a", "A").act("b", "B").act("c", "C").act("d", "D")
	}
	require.True(t, c.run(site(40).lists(urlset("a 2026-01-05", "b 2026-01-06", "c 2026-01-07", "d 2026-01-01"), feed("http://law.example/eli/a/ 2026-01-05T12:00:00Z", "c 2026-01-07T12:00:00Z", "d 2026-01-01T12:00:00Z"))).InStep())
	require.True(t, c.run(site(41).lists(urlset("a 2026-01-05", "c 2026-02-07", "d 2026-01-01"), feed("http://www.law.example/eli/c 2026-02-07T12:00:00Z", "d 2026-01-01T12:00:00Z"))).InStep())
	assert.Equal(t, map[string]string{law + "eli/a": "A", law + "eli/c": "C", law + "eli/d": "D"}, c.titles())
	c.source.SitemapEvery = 0
	require.True(t, c.run(site(42).lists("", feed("-http://www.law.example/eli/a/ 2026-02-09T12:00:00Z", "d 2026-01-01T12:00:00Z", "http://www.law.example/eli/c 2026-02-07T12:00:00Z"))).InStep())
	assert.Equal(t, map[string]string{law + "eli/c": "C", law + "eli/d": "D"}, c.titles(), "a tombstone")
}

// TestRequestedAmongVariants: a page that describes the requested URI, and another form of
// it, has one finding, of which clients need not care.
func TestRequestedAmongVariants(t *testing.T) {
	page := rdfaPage("http://law.example/eli/a", "A", "en/html") + rdfaPage(law+"eli/a", "A")
	c := newCollection(t)
	require.True(t, c.run(newSite(40).act("a", "A", "en/html").add(law+"eli/a", "text/html", page).add("http://law.example/eli/a/en/html", "text/html", "text").lists(
		urlset("a 2026-01-05"), feed("a 2026-01-05T12:00:00Z"))).InStep(), "%v", c.tasks())
	assert.Equal(t, []string{"eli-variant"}, slices.DeleteFunc(testkit.Rules(c.findings), func(r string) bool { return !strings.HasPrefix(r, "eli-") }))
	items, err := c.store.Get(t.Context(), testkit.Src, []string{law + "eli/a"})
	require.NoError(t, err)
	quads := testkit.Read(t, c.store, items[0].Bodies[1])
	if items[0].Bodies[0].Name == "graph" {
		quads = testkit.Read(t, c.store, items[0].Bodies[0])
	}
	assert.NotContains(t, quads, "<http://law.example/eli/a> ")
	assert.Contains(t, quads, "<"+law+"eli/a> <http://data.europa.eu/eli/ontology#is_realized_by>")
}
