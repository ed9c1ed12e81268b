package resourcesync_test

import (
	"crypto/md5"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
		"list2":    urls(`capability="resourcelist"`+noon+completed, part("list"), other),
		"dump":     urls(`capability="resourcedump"`+noon+completed, toCap, entry("1.zip", `type="application/zip" length="1"`+noon)+contents("manifest"), entry("2.zip", `type="application/zip" length="1"`)),
		"manifest": urls(`capability="resourcedump-manifest"`+noon, toCap, page+`<rs:md path="/a" type="text/html"/>`),
		"changes":  maps(`capability="changelist" from="2026-01-01T00:00:00Z"`, entry("changes1", january), entry("changes2", february)),
		"changes1": urls(`capability="changelist"`+january, part("changes"), page+`<rs:md change="created" datetime="2026-01-02T00:00:00Z"/>`),
		"changes2": urls(`capability="changelist"`+february, part("changes")),
		"changedump": urls(`capability="changedump" from="2026-01-01T00:00:00Z"`, toCap,
			entry("3.zip", `type="application/zip" length="1"`+january)+contents("changemanifest")),
		"changemanifest": urls(`capability="changedump-manifest"`+january, toCap, page+`<rs:md change="created" path="/a" type="text/html" datetime="2026-01-02T00:00:00Z"/>`),
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
	open := func(url string) (io.ReadCloser, error) {
		opened = append(opened, strings.TrimPrefix(url, site))
		doc, ok := s[strings.TrimPrefix(url, site)]
		if !ok {
			return nil, fmt.Errorf("status 404: %w", websync.ErrNotFound)
		}
		return io.NopCloser(strings.NewReader(doc)), nil
	}
	if _, packed := s["1.zip"]; packed {
		o.OpenPackage = open
	}
	sum = resourcesync.ValidateTree(site+start, open, o)
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
		"an open list that was closed":        {"changes2", `Z"/>`, `Z" until="2026-03-01T00:00:00Z"/>`, []string{"changes2 tree-until"}},
		"a link to an index of itself":        {"dump", `rel="up"`, `rel="index" href="https://example.com/list"/><rs:ln rel="up"`, []string{"dump tree-index"}},
		"other changes in a package":          {"changemanifest", "/a</loc>", "/b</loc>", []string{"changemanifest tree-set"}},
		"another change in a package":         {"changemanifest", `change="created"`, `change="updated"`, []string{"changemanifest tree-set"}},
		"a Change List that begins late":      {"changes", `from="2026-01-01T00:00:00Z"/>`, `from="2026-03-01T00:00:00Z"/>`, []string{"changes tree-gap"}},
		"another from than listed":            {"changes2", `from="2026-02-01`, `from="2026-02-02`, []string{"changes2 tree-times"}},
		"a list from before its index":        {"changes1", `from="2026-01-01`, `from="2025-01-01`, []string{"changes1 tree-times", "changes1 tree-interval"}},
		"a part that was completed later":     {"list1", `Z"/>`, `Z" completed="2026-02-03T14:00:00Z"/>`, []string{"list1 tree-interval"}},
		"another at of a manifest":            {"manifest", "2026-02-03T12", "2026-02-03T11", []string{"manifest tree-times"}},
		"a part without times":                {"list2", ` completed="2026-02-03T13:00:00Z"`, "", []string{"list2 tree-times"}},
		"an archive of another list":          {"old", `capability="changelist"`, `capability="changedump"`, []string{"old tree-capability"}},
		"a capability of others":              {"cap", `"changelist-archive"`, `"unknown"`, []string{"cap capability-other"}},
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
		switch r.Name {
		case "resourcesync-tree-long": // above
		case "resourcesync-tree-package", "resourcesync-tree-manifest", "resourcesync-tree-contents", "resourcesync-tree-bitstream", "resourcesync-tree-bytes": // of packages
		default:
			if strings.HasPrefix(r.Name, "resourcesync-tree-") {
				assert.Truef(t, broken[r.Name], "no tree breaks %s", r.Name)
			}
		}
	}
}

// packedTree is goodTree with packages, after a replacement in a document or in a file of
// a package.
func packedTree(name, old, text string) tree {
	s := goodTree()
	s["1.zip/manifest.xml"], s["1.zip/a"] = s["manifest"], "page a"
	s["2.zip/manifest.xml"] = strings.ReplaceAll(strings.ReplaceAll(s["manifest"], "/a", "/b"), `type="text/html"`, `type="text/html" length="6" hash="md5:ffffffffffffffffffffffffffffffff"`)
	s["2.zip/manifest.xml"] = strings.Replace(s["2.zip/manifest.xml"], "ffffffffffffffffffffffffffffffff", fmt.Sprintf("%x", md5.Sum([]byte("page b"))), 1)
	s["2.zip/b"] = "page b"
	s["3.zip/manifest.xml"], s["3.zip/a"] = s["changemanifest"], "page a"
	if strings.HasPrefix(name, "+") {
		s[name[1:]] = text
	} else if old == "" {
		delete(s, name)
	} else {
		s[name] = strings.ReplaceAll(s[name], old, text)
	}
	for _, zip := range []string{"1.zip", "2.zip", "3.zip"} {
		var files []member
		for _, name := range slices.Sorted(maps.Keys(s)) {
			if file, ok := strings.CutPrefix(name, zip+"/"); ok {
				files = append(files, member{name: file, text: s[name]})
				delete(s, name)
			}
		}
		if s[zip] == "" {
			s[zip] = zipped(files...)
		}
		for _, dump := range []string{"dump", "changedump"} {
			before, after, ok := strings.Cut(s[dump], zip)
			if ok {
				s[dump] = before + zip + strings.Replace(after, `length="1"`, fmt.Sprintf(`length="%d"`, len(s[zip])), 1)
			}
		}
	}
	return s
}

func TestValidateTreePackages(t *testing.T) {
	good := packedTree("+x", "", "")
	delete(good, "x")
	sum, found, opened := good.walk("src", resourcesync.TreeOptions{})
	assert.Empty(t, found)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(good)), opened)
	assert.Equal(t, 3, sum.Packages)
	assert.Equal(t, len(good), sum.Documents, "a manifest in each package")
	_, found, _ = good.walk("src", resourcesync.TreeOptions{MaxPackage: 100})
	assert.Equal(t, []string{"1.zip tree-package", "2.zip tree-package", "3.zip tree-package"}, found)

	for name, test := range map[string]struct {
		doc, old, new string // as in packedTree
		want          []string
	}{
		"a package that is no ZIP file":         {"+1.zip", "", "<html/>", []string{"1.zip tree-package"}},
		"another length than stated":            {"dump", `length="1"`, `length="2"`, []string{"1.zip tree-bytes", "2.zip tree-bytes"}},
		"another format":                        {"dump", "application/zip", "application/x-tar", nil},
		"no manifest":                           {"1.zip/manifest.xml", "", "", []string{"1.zip tree-manifest"}},
		"a manifest of another kind":            {"2.zip/manifest.xml", "resourcedump-manifest", "resourcelist", []string{"2.zip#manifest.xml path-place", "2.zip#manifest.xml tree-capability"}},
		"a manifest that is cut short":          {"2.zip/manifest.xml", "</urlset>", "", []string{"2.zip#manifest.xml sitemap-truncated", "2.zip#manifest.xml tree-missing"}},
		"a manifest of another at":              {"1.zip/manifest.xml", "T12:", "T13:", []string{"1.zip#manifest.xml tree-times", "manifest tree-contents"}},
		"a manifest from before its dump":       {"2.zip/manifest.xml", "T12:", "T11:", []string{"2.zip#manifest.xml tree-interval"}},
		"a manifest of other entries":           {"1.zip/manifest.xml", "text/html", "text/xml", []string{"manifest tree-contents"}},
		"a copy of more entries":                {"3.zip/manifest.xml", "<url>", "<url>" + other + `<rs:md change="deleted"/></url><url>`, []string{"3.zip#manifest.xml change-time", "changemanifest tree-contents", "3.zip#manifest.xml tree-set"}},
		"a file is missing":                     {"1.zip/a", "", "", []string{"1.zip#manifest.xml tree-bitstream"}},
		"a file of another length":              {"2.zip/b", "page", "pages", []string{"2.zip#manifest.xml tree-bytes"}},
		"a file of another hash":                {"2.zip/b", "page", "book", []string{"2.zip#manifest.xml tree-bytes"}},
		"a file that is not listed":             {"+1.zip/c", "", "page c", []string{"1.zip package-unlisted"}},
		"a Resource List of other resources":    {"list1", page, "<loc>https://example.com/c</loc>", []string{"dump tree-set"}},
		"a Resource List of more resources":     {"list1", "</urlset>", "<url><loc>https://example.com/c</loc></url></urlset>", []string{"dump tree-set"}},
		"a Resource List of another at":         {"list", ` completed="2026-02-03T13:00:00Z"`, "", nil},
		"a package without manifest or copy":    {"2.zip/manifest.xml", "", "", []string{"2.zip tree-manifest"}},
		"a package that can't be read, changes": {"+3.zip", "", "x", []string{"3.zip tree-package"}},
	} {
		t.Run(name, func(t *testing.T) {
			broken := packedTree(test.doc, test.old, test.new)
			_, found, _ := broken.walk("src", resourcesync.TreeOptions{})
			switch name {
			case "another format", "a Resource List of another at":
				assert.NotContains(t, found, "dump tree-set")
			default:
				assert.ElementsMatch(t, test.want, found)
			}
		})
	}
}

// A source without end: every document of an index lists more.
func TestValidateTreeEndless(t *testing.T) {
	opened := 0
	sum := resourcesync.ValidateTree(site+"x", func(url string) (io.ReadCloser, error) {
		opened++
		return io.NopCloser(strings.NewReader(lists("<loc>"+url+"x</loc>", "<loc>"+url+"y</loc>"))), nil
	}, resourcesync.TreeOptions{MaxDocuments: 50})
	assert.Equal(t, 50, opened)
	assert.Equal(t, 50, sum.Documents)
}

// FuzzTree: whatever the documents and packages, the walk ends, opens each of at most
// MaxDocuments once, and counts what it reports. A document is preceded by a line with
// its name; the files of a package have names below that of the package.
func FuzzTree(f *testing.F) {
	seed := func(s tree) {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(s)) {
			if !strings.HasSuffix(name, ".zip") {
				b.WriteString("-- " + name + "\n" + s[name] + "\n")
			}
		}
		f.Add(b.String())
	}
	seed(goodTree())
	loop := goodTree()
	loop["1.zip/manifest.xml"], loop["1.zip/a"], loop["list"] = loop["manifest"], "a", loop["src"]
	seed(loop)
	f.Fuzz(func(t *testing.T, text string) {
		const limit = 50
		s, packed := make(tree), make(map[string][]member)
		for part := range strings.SplitSeq("\n"+text, "\n-- ") {
			name, doc, _ := strings.Cut(part, "\n")
			s[name] = doc
			if zip, file, ok := strings.Cut(name, "/"); ok {
				packed[zip] = append(packed[zip], member{name: file, text: doc})
			}
		}
		opened := make(map[string]bool)
		open := func(url string) (io.ReadCloser, error) {
			require.False(t, opened[url], "opened twice: %q", url)
			opened[url] = true
			name := strings.TrimPrefix(url, site)
			doc, ok := s[name]
			if files := packed[name]; files != nil {
				doc, ok = zipped(files...), true
			}
			if !ok {
				return nil, websync.ErrNotFound
			}
			return io.NopCloser(strings.NewReader(doc)), nil
		}
		found := 0
		sum := resourcesync.ValidateTree(site+"src", open, resourcesync.TreeOptions{
			MaxDocuments: limit, MaxBytes: 1 << 20, MaxPackage: 1 << 20, OpenPackage: open, Report: func(websync.Finding) { found++ },
		})
		require.LessOrEqual(t, len(opened), limit)
		require.LessOrEqual(t, sum.Documents, limit)
		require.Equal(t, found, sum.Errors+sum.Warnings+sum.Infos)
	})
}
