package resourcesync_test

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/resourcesync"
)

const site = "https://example.com/"

// A tree is the documents of a source, by the end of their URLs.
type tree map[string]string

// goodTree is a source with one set of resources and a document of each kind.
func goodTree() tree {
	const (
		toCap     = `<rs:ln rel="up" href="https://example.com/cap"/>`
		january   = ` from="2026-01-01T00:00:00Z" until="2026-02-01T00:00:00Z"`
		february  = ` from="2026-02-01T00:00:00Z"`
		noon      = ` at="2026-02-03T12:00:00Z"`
		completed = ` completed="2026-02-03T13:00:00Z"`
	)
	entry := func(name, md string) string {
		return "<loc>" + site + name + "</loc><rs:md " + md + "/>"
	}
	contents := func(name string) string {
		return `<rs:ln rel="contents" href="` + site + name + `"/>`
	}
	urls := func(md, links string, entries ...string) string {
		return strings.Replace(set(md, entries...), up, links, 1)
	}
	maps := func(md string, entries ...string) string {
		return strings.Replace(index(md, entries...), up, toCap, 1)
	}
	part := func(name string) string { return toCap + `<rs:ln rel="index" href="` + site + name + `"/>` }
	return tree{
		"src": urls(`capability="description"`, about, entry("cap", `capability="capabilitylist"`)+about),
		"cap": urls(`capability="capabilitylist"`, `<rs:ln rel="up" href="https://example.com/src"/>`+about,
			entry("list", `capability="resourcelist"`), entry("dump", `capability="resourcedump"`), entry("changes", `capability="changelist"`),
			entry("changedump", `capability="changedump"`), entry("archive", `capability="changelist-archive"`)),
		"list":     maps(`capability="resourcelist"`+noon+completed, entry("list1", noon), entry("list2", noon+completed)),
		"list1":    urls(`capability="resourcelist"`+noon, part("list"), page),
		"list2":    urls(`capability="resourcelist"`+noon+completed, part("list"), page),
		"dump":     urls(`capability="resourcedump"`+noon, toCap, entry("1.zip", `type="application/zip" length="1"`+noon)+contents("manifest"), entry("2.zip", `type="application/zip" length="1"`)),
		"manifest": urls(`capability="resourcedump-manifest"`+noon, toCap, page+`<rs:md path="/a" type="text/html"/>`),
		"changes":  maps(`capability="changelist" from="2026-01-01T00:00:00Z"`, entry("changes1", january), entry("changes2", february)),
		"changes1": urls(`capability="changelist"`+january, part("changes"), page+`<rs:md change="created" datetime="2026-01-02T00:00:00Z"/>`),
		"changes2": urls(`capability="changelist"`+february, part("changes")),
		"changedump": urls(`capability="changedump" from="2026-01-01T00:00:00Z"`, toCap,
			entry("3.zip", `type="application/zip" length="1"`+january)+contents("changemanifest")),
		"changemanifest": urls(`capability="changedump-manifest"`+january, toCap, page+`<rs:md change="deleted" datetime="2026-01-02T00:00:00Z"/>`),
		"archive":        urls(`capability="changelist-archive"`, toCap, entry("old", `capability="changelist" from="2025-01-01T00:00:00Z" until="2026-01-01T00:00:00Z"`)),
		"old":            urls(`capability="changelist" from="2025-01-01T00:00:00Z" until="2026-01-01T00:00:00Z"`, toCap),
	}
}

// walk checks a tree from a document on. It returns what it found, each as the document
// and the rule, and which documents were opened.
func (s tree) walk(start string, o resourcesync.TreeOptions) (sum resourcesync.TreeSummary, found, opened []string) {
	o.Report = func(f websync.Finding) {
		found = append(found, strings.TrimPrefix(f.Document, site)+" "+strings.TrimPrefix(f.Rule, "resourcesync-"))
	}
	sum = resourcesync.ValidateTree(site+start, func(url string) (io.ReadCloser, error) {
		opened = append(opened, strings.TrimPrefix(url, site))
		doc, ok := s[strings.TrimPrefix(url, site)]
		if !ok {
			return nil, fmt.Errorf("status 404: %w", websync.ErrNotFound)
		}
		return io.NopCloser(strings.NewReader(doc)), nil
	}, o)
	return sum, found, opened
}

func TestValidateTree(t *testing.T) {
	good := goodTree()
	sum, found, opened := good.walk("src", resourcesync.TreeOptions{})
	assert.Empty(t, found)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(good)), opened)
	assert.Equal(t, len(good), sum.Documents)
	assert.Equal(t, 19, sum.Entries)
	assert.Zero(t, sum.Errors+sum.Warnings+sum.Infos+sum.Skipped)
	assert.Positive(t, sum.Bytes)

	_, found, opened = good.walk("changes", resourcesync.TreeOptions{})
	assert.Empty(t, found, "from the middle")
	assert.Equal(t, []string{"changes", "changes1", "changes2"}, opened)
	_, found, opened = good.walk("src", resourcesync.TreeOptions{MaxDocuments: 2})
	assert.Equal(t, []string{"cap tree-long"}, found)
	assert.Equal(t, []string{"src", "cap"}, opened)
	_, found, _ = good.walk("src", resourcesync.TreeOptions{MaxDocuments: -1})
	assert.Empty(t, found)

	broken := make(map[string]bool)
	for name, test := range map[string]struct {
		doc, old, new string // one replacement
		want          []string
	}{
		"a document is missing":               {"list1", "", "", []string{"list1 tree-missing"}},
		"the first one is missing":            {"src", "", "", []string{"src tree-missing"}},
		"an HTML page":                        {"list1", "<urlset", "<html", []string{"list1 sitemap-document", "list1 tree-missing"}},
		"a document is cut short":             {"manifest", "</urlset>", "", []string{"manifest sitemap-truncated", "manifest tree-missing"}},
		"another capability than listed":      {"cap", `"changedump"`, `"resourcelist-archive"`, []string{"changedump tree-capability"}},
		"another capability in an index":      {"list1", `"resourcelist"`, `"resourcedump"`, []string{"list1 package", "list1 tree-capability"}},
		"a manifest of another kind":          {"changedump", site + "changemanifest", site + "manifest2", []string{"manifest2 tree-missing"}},
		"no manifest":                         {"dump", site + "manifest", site + "list2", []string{"dump tree-repeated"}},
		"a Capability List leads elsewhere":   {"cap", site + "src", site + "other", []string{"cap tree-up"}},
		"a list leads elsewhere":              {"dump", site + "cap", site + "cap2", []string{"dump tree-up"}},
		"a part leads to its index":           {"changes1", `rel="up" href="` + site + "cap", `rel="up" href="` + site + "changes", []string{"changes1 tree-up"}},
		"a manifest leads to its dump":        {"manifest", site + "cap", site + "dump", []string{"manifest tree-up"}},
		"no link to the index":                {"list2", `rel="index"`, `rel="via"`, []string{"list2 tree-index-missing"}},
		"a link to another index":             {"list2", site + "list", site + "list1", []string{"list2 tree-index"}},
		"an index in an index":                {"list1", "urlset", "sitemapindex", []string{"list1 tree-nested"}},
		"a document is listed twice":          {"changes", site + "changes2", site + "list1", []string{"changes tree-repeated"}},
		"a document above itself":             {"list", site + "list1", site + "cap", []string{"list tree-repeated"}},
		"a closed list that is open":          {"changes1", ` until="2026-02-01T00:00:00Z"`, "", []string{"changes1 tree-times"}},
		"an open list that was closed":        {"changes2", `Z"/>`, `Z" until="2026-03-01T00:00:00Z"/>`, nil},
		"another from than listed":            {"changes2", `from="2026-02-01`, `from="2026-02-02`, []string{"changes2 tree-times"}},
		"a list from before its index":        {"changes1", `from="2026-01-01`, `from="2025-01-01`, []string{"changes1 tree-times", "changes1 tree-interval"}},
		"a part that was completed later":     {"list1", `Z"/>`, `Z" completed="2026-02-03T14:00:00Z"/>`, []string{"list1 tree-interval"}},
		"another at of a manifest":            {"manifest", "2026-02-03T12", "2026-02-03T11", []string{"manifest tree-times"}},
		"a part without times":                {"list2", ` completed="2026-02-03T13:00:00Z"`, "", []string{"list2 tree-times"}},
		"an archive of another list":          {"old", `capability="changelist"`, `capability="changedump"`, []string{"old tree-capability"}},
		"a capability of others":              {"cap", `"changelist-archive"`, `"unknown"`, []string{"cap capability"}},
		"a mistake in a document of the tree": {"old", `rel="up"`, `rel="upwards"`, []string{"old up", "old rel"}},
	} {
		t.Run(name, func(t *testing.T) {
			site := goodTree()
			if test.old == "" {
				delete(site, test.doc)
			} else {
				assert.Contains(t, site[test.doc], test.old)
				site[test.doc] = strings.ReplaceAll(site[test.doc], test.old, test.new)
			}
			sum, found, opened := site.walk("src", resourcesync.TreeOptions{})
			slices.Sort(opened)
			assert.Len(t, slices.Compact(slices.Clone(opened)), len(opened), "each is opened once")
			for _, want := range test.want {
				assert.Contains(t, found, want)
			}
			if len(test.want) == 0 {
				assert.Empty(t, found)
			}
			assert.Equal(t, len(found), sum.Errors+sum.Warnings+sum.Infos)
		})
		for _, want := range test.want {
			broken["resourcesync-"+strings.Fields(want)[1]] = true
		}
	}
	for _, r := range resourcesync.Rules() {
		if strings.HasPrefix(r.Name, "resourcesync-tree-") && r.Name != "resourcesync-tree-long" {
			assert.Truef(t, broken[r.Name], "no tree breaks %s", r.Name)
		}
	}
}
