package resourcesync_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// A member is one file of a package.
type member struct {
	name, text string
	method     uint16
	raw        bool   // its size stands before its bytes, in no data descriptor
	claims     uint64 // the size that a raw member states besides that of its text
	flags      uint16 // besides those that the writer sets
}

func zipped(members ...member) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: m.method, Flags: m.flags}
		create := z.CreateHeader
		if m.raw {
			h.CRC32, h.CompressedSize64, h.UncompressedSize64 = crc32.ChecksumIEEE([]byte(m.text)), uint64(len(m.text)), uint64(len(m.text))+m.claims
			create = z.CreateRaw
		}
		w, err := create(h)
		if err == nil {
			_, err = io.WriteString(w, m.text)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// packedAt returns the entry of a manifest.
func packedAt(name, text, path string) string {
	return entryWith(name, fmt.Sprintf("path=%q %s", path, hashOf(text)), "")
}

func manifest(entries ...string) string {
	return document("urlset", `capability="resourcedump-manifest" at="2025-06-01T12:00:00Z"`, "capabilitylist.xml", entries...)
}

func packageAt(path, md, links string) string {
	return entryWith(path, `type="application/zip" `+md, links)
}

func dumpOf(packages ...string) string {
	return document("urlset", `capability="resourcedump" at="2025-06-01T12:00:00Z"`, "capabilitylist.xml", packages...)
}

// TestPackages harvests dumps: what of them can't be used is fetched one by one, and the
// run says why.
func TestPackages(t *testing.T) {
	offered := offers("resourcedump", "dump.xml")
	beside := linkTo("contents", www+"manifest", "")
	two := manifest(packedAt("a", "1", "/x/a"), packedAt("b", "1", "/x/b"))
	file := func(text string) member { return member{name: "manifest.xml", text: text} }
	a, b := member{name: "x/a", text: "1"}, member{name: "x/b", text: "1"}
	packed := func(members ...member) pages {
		return offered.with(pages{"dump.xml": dumpOf(packageAt("p.zip", "", "")), "p.zip": zipped(members...)})
	}
	with := func(md, manifest string, members ...member) pages {
		return offered.with(pages{"dump.xml": dumpOf(packageAt("p.zip", md, beside)), "manifest": manifest, "p.zip": zipped(members...)})
	}
	const truth = "a=1 b=1"
	xz := "\xfd7zXZ\x00" + strings.Repeat(".", 100)
	bodies := func(n int) *int { return &n }
	for name, test := range map[string]struct {
		pages  pages
		bodies *int // that are fetched one by one
		want   verdict
		said   string
	}{
		"data descriptors, deflated":         {pages: packed(file(two), member{name: "x/", text: ""}, member{name: "x/a", text: "1", method: zip.Deflate}, member{name: "x/b", text: "1", method: zip.Deflate}), bodies: bodies(0)},
		"data descriptors, stored":           {pages: packed(file(two), a, b), bodies: bodies(0)},
		"no data descriptors":                {pages: packed(member{name: "manifest.xml", text: two, raw: true}, member{name: "x/a", text: "1", raw: true}, b), bodies: bodies(0)},
		"the manifest comes last":            {pages: packed(a, b, file(two)), bodies: bodies(0)},
		"the manifest begins with a newline": {pages: packed(file("\n"+two), a, b), want: either},
		"paths without a slash":              {pages: packed(file(strings.ReplaceAll(two, `"/x/`, `"x/`)), a, b), bodies: bodies(0), want: either},
		"no manifest":                        {pages: packed(a, b), want: inDoubt, said: "p.zip"},
		"two manifests":                      {pages: packed(file(two), file(two), a, b), want: inDoubt, said: "p.zip"},
		"a manifest in a directory":          {pages: packed(member{name: "x/manifest.xml", text: two}, a, b), want: inDoubt, said: "p.zip"},
		"a manifest of another capability":   {pages: packed(file(resourceList(0, has("a", "1"), has("b", "1"))), a, b), want: inDoubt, said: "p.zip"},
		"the manifest of a Change Dump":      {pages: packed(file(strings.Replace(two, "resourcedump-manifest", "changedump-manifest", 1)), a, b), want: inDoubt, said: "p.zip"},
		"a manifest that is cut":             {pages: packed(file(two[:len(two)-10]), a, b), want: inDoubt, said: "p.zip"},
		"a file is missing":                  {pages: packed(file(two), a), bodies: bodies(1), said: "x/b"},
		"a file that is there twice":         {pages: packed(file(two), a, b, b), bodies: bodies(1), said: "x/b"},
		"a file with other bytes":            {pages: packed(file(two), a, member{name: "x/b", text: "2"}), bodies: bodies(1)},
		"an encrypted file":                  {pages: packed(file(two), a, member{name: "x/b", text: "1", flags: 1}), bodies: bodies(1), said: "x/b"},
		"an unknown method":                  {pages: packed(file(two), a, member{name: "x/b", text: "1", raw: true, method: 99}), bodies: bodies(1), said: "x/b"},
		"an encrypted manifest":              {pages: packed(member{name: "manifest.xml", text: two, flags: 1}, a, b), want: inDoubt, said: "p.zip"},
		"a file that is not listed":          {pages: packed(file(two), a, b, member{name: "x/c", text: "1"}), bodies: bodies(0), said: "x/c"},
		"a directory where a file must be":   {pages: packed(file(manifest(packedAt("a", "1", "/x/"), packedAt("b", "1", "/x/b"))), member{name: "x/"}, a, b), bodies: bodies(1), said: "/x/"},
		"an absolute path":                   {pages: packed(file(manifest(packedAt("a", "1", "//etc/a"), packedAt("b", "1", "/x/b"))), member{name: "/etc/a", text: "1"}, b), bodies: bodies(1), said: "//etc/a"},
		"a path that climbs":                 {pages: packed(file(manifest(packedAt("a", "1", "/x/../../a"), packedAt("b", "1", "/x/b"))), member{name: "../a", text: "1"}, b), bodies: bodies(1), said: "../a"},
		"a path of a drive":                  {pages: packed(file(manifest(packedAt("a", "1", `C:\a`), packedAt("b", "1", "/x/b"))), member{name: `C:\a`, text: "1"}, b), bodies: bodies(1), said: `C:`},
		"one file for two resources":         {pages: packed(file(manifest(packedAt("a", "1", "/x/a"), packedAt("b", "1", "/x/a"))), a), bodies: bodies(0)},
		"a resource that is listed twice":    {pages: packed(file(manifest(packedAt("a", "1", "/x/a"), packedAt("b", "1", "/x/b"), packedAt("a", "1", "/x/b"))), a, b), bodies: bodies(0)},
		"two texts of one resource":          {pages: packed(file(manifest(packedAt("a", "2", "/x/a2"), packedAt("b", "1", "/x/b"), packedAt("a", "1", "/x/a"))), a, b, member{name: "x/a2", text: "2"}), want: either},
		"a bitstream without path":           {pages: packed(file(manifest(has("a", "1"), packedAt("b", "1", "/x/b"))), b), bodies: bodies(1)},
		"the manifest as a bitstream":        {pages: packed(file(manifest(packedAt("a", "1", "/manifest.xml"), packedAt("b", "1", "/x/b"))), a, b), bodies: bodies(1)},
		"a manifest beside it":               {pages: with("", two, file(two), a, b), bodies: bodies(0)},
		"a manifest beside it that is gone":  {pages: packed(file(two), a, b).with(pages{"dump.xml": dumpOf(packageAt("p.zip", "", beside))}), want: either, said: "manifest"},
		"another manifest beside it":         {pages: with("", two, file(manifest(packedAt("a", "1", "/x/b"), packedAt("b", "1", "/x/a"))), a, b), bodies: bodies(0)},
		"more in the manifest beside it":     {pages: with("", two, file(manifest(packedAt("a", "1", "/x/a"))), a), bodies: bodies(1), said: "x/b"},
		"less in the manifest beside it":     {pages: with("", manifest(packedAt("a", "1", "/x/a")), file(two), a, b), want: inDoubt, said: "/b"},
		"one manifest beside two packages": {pages: offered.with(pages{
			"dump.xml": dumpOf(packageAt("p.zip", "", beside), packageAt("q.zip", "", beside)), "manifest": manifest(packedAt("a", "1", "/x/a")),
			"p.zip": zipped(file(manifest(packedAt("a", "1", "/x/a"))), a), "q.zip": zipped(file(manifest(packedAt("b", "1", "/x/b"))), b)}), bodies: bodies(0)},
		"a wrong length":                    {pages: with(`length="7"`, two, file(two), a, b), bodies: bodies(2), said: "p.zip"},
		"a wrong hash":                      {pages: with(hashOf("other"), two, file(two), a, b), bodies: bodies(2), said: "p.zip"},
		"a wrong length, nothing beside it": {pages: packed(file(two), a, b).with(pages{"dump.xml": dumpOf(packageAt("p.zip", `length="7"`, ""))}), want: inDoubt, said: "p.zip"},
		"a page":                            {pages: offered.with(pages{"dump.xml": dumpOf(packageAt("p.zip", "", beside)), "manifest": two, "p.zip": "<!doctype html>"}), bodies: bodies(2), said: "a page"},
		"a package that is the dump":        {pages: offered.with(pages{"dump.xml": dumpOf(packageAt("dump.xml", "", ""))}), want: inDoubt, said: "dump.xml"},
		"more than MaxPackage":              {pages: with("", two, file(two), a, b, member{name: "big", text: strings.Repeat("x", 1<<20)}), bodies: bodies(2), said: "p.zip"},
		"a bomb as a bitstream":             {pages: packed(file(two), member{name: "x/a", text: strings.Repeat("\x00", 5<<20), method: zip.Deflate}, b), bodies: bodies(1)},
		"a bomb":                            {pages: with("", two, file(two), member{name: "x/a", text: "1", raw: true, claims: 70 << 20}, b), bodies: bodies(2), said: "p.zip"},
		"an index of dumps": {pages: offered.with(pages{
			"dump.xml": document("sitemapindex", `capability="resourcedump" at="2025-06-01T12:00:00Z"`, "capabilitylist.xml", named("sitemap", "d1", ""), named("sitemap", "d2", "")),
			"d1":       dumpOf(packageAt("p.zip", "", "")), "p.zip": zipped(file(manifest(packedAt("a", "1", "/x/a"))), a),
			"d2": dumpOf(packageAt("q.zip", "", "")), "q.zip": zipped(file(manifest(packedAt("b", "1", "/x/b"))), b)}), bodies: bodies(0)},
		"an index that lists itself": {pages: offered.with(pages{
			"dump.xml": document("sitemapindex", `capability="resourcedump" at="2025-06-01T12:00:00Z"`, "capabilitylist.xml", named("sitemap", "dump.xml", ""))}), want: inDoubt, said: "dump.xml"},
		"an index of which a dump is gone": {pages: offered.with(pages{
			"dump.xml": document("sitemapindex", `capability="resourcedump" at="2025-06-01T12:00:00Z"`, "capabilitylist.xml", named("sitemap", "d1", ""), named("sitemap", "d2", "")),
			"d1":       dumpOf(packageAt("p.zip", "", "")), "p.zip": zipped(file(manifest(packedAt("a", "1", "/x/a"))), a)}), want: inDoubt, said: "d2"},
		"a part redirects to another": {pages: offered.with(pages{
			"dump.xml": document("sitemapindex", `capability="resourcedump" at="2025-06-01T12:00:00Z"`, "capabilitylist.xml", named("sitemap", "d1", ""), named("sitemap", "d2", "")),
			"d1":       dumpOf(packageAt("p.zip", "", "")), "p.zip": zipped(file(manifest(packedAt("a", "1", "/x/a"))), a), "d2": "-> d1"}), want: inDoubt, said: "d2"},
		"a package redirects to another": {pages: offered.with(pages{
			"dump.xml": dumpOf(packageAt("p.zip", "", ""), packageAt("q.zip", "", "")), "p.zip": zipped(file(manifest(packedAt("a", "1", "/x/a"))), a), "q.zip": "-> p.zip"}), want: inDoubt, said: "q.zip"},
		"an index of which one package is of xz": {pages: offered.with(pages{
			"dump.xml": document("sitemapindex", `capability="resourcedump" at="2025-06-01T12:00:00Z"`, "capabilitylist.xml", named("sitemap", "d1", ""), named("sitemap", "d2", "")),
			"d1":       dumpOf(packageAt("p.zip", "", "")), "p.zip": zipped(file(manifest(packedAt("a", "1", "/x/a"))), a),
			"d2": dumpOf(entryWith("q.xz", `type="application/x-xz"`, "")), "q.xz": xz}), want: inDoubt, said: "compressed with xz"},
		"an index of which one package is of xz, with a manifest beside it": {pages: offered.with(pages{
			"dump.xml": document("sitemapindex", `capability="resourcedump" at="2025-06-01T12:00:00Z"`, "capabilitylist.xml", named("sitemap", "d1", ""), named("sitemap", "d2", "")),
			"d1":       dumpOf(packageAt("p.zip", "", "")), "p.zip": zipped(file(manifest(packedAt("a", "1", "/x/a"))), a),
			"d2": dumpOf(entryWith("q.xz", `type="application/x-xz"`, beside)), "manifest": manifest(packedAt("b", "1", "/x/b")), "q.xz": xz}), bodies: bodies(1), said: "compressed with xz"},
		"a package of ZIP that is said to be of xz": {pages: offered.with(pages{
			"dump.xml": dumpOf(entryWith("p.zip", `type="application/x-xz"`, "")), "p.zip": zipped(file(two), a, b)}), bodies: bodies(0)},
		"an index that names a dump twice": {pages: offered.with(pages{
			"dump.xml": document("sitemapindex", `capability="resourcedump" at="2025-06-01T12:00:00Z"`, "capabilitylist.xml", named("sitemap", "d1", ""), named("sitemap", "d1", "")),
			"d1":       dumpOf(packageAt("p.zip", "", "")), "p.zip": zipped(file(two), a, b)}), bodies: bodies(0), want: either},
	} {
		t.Run(name, func(t *testing.T) {
			store := harvest.NewCatalog(memstore.New())
			truth := held(truth)
			site := serve(test.pages, truth, 1)
			report, said := harvestOnce(t, store, site)
			if test.want != either {
				assert.Equal(t, test.want == inStep, report.InStep(), "in step\n%s", said)
			}
			live := testkit.Live(t, store)
			if report.InStep() {
				assert.Equal(t, truth, live, said)
			}
			assert.Contains(t, said, test.said)
			for name, text := range live {
				assert.Equal(t, truth[name], text)
			}
			if test.bodies != nil {
				n := 0
				for _, f := range harvestedURLs(t, site) {
					if f == www+"a" || f == www+"b" {
						n++
					}
				}
				assert.Equal(t, *test.bodies, n, "bodies that are fetched one by one\n%s", said)
			}
			// With a Resource List too, nothing depends on the dump.
			all := offers("resourcelist", "resourcelist.xml", "resourcedump", "dump.xml")
			all["resourcelist.xml"] = resourceList(0, has("a", "1"), has("b", "1"))
			store = harvest.NewCatalog(memstore.New())
			for range 3 {
				report, said = harvestOnce(t, store, serve(test.pages.with(all), truth, 1))
				if report.InStep() {
					assert.Equal(t, truth, testkit.Live(t, store), said)
				}
			}
			assert.True(t, report.InStep(), said)
		})
	}
}

// TestOldManifests: the manifest beside the package of a Resource Dump is one of before,
// in which nothing is new. What the dump states of it gives it away.
func TestOldManifests(t *testing.T) {
	manifestAt := func(at string, entries ...string) string {
		return document("urlset", `capability="resourcedump-manifest"`+at, "capabilitylist.xml", entries...)
	}
	a, b := packedAt("a", "1", "/x/a"), packedAt("b", "1", "/x/b")
	dump := func(at int, md, link, inside, beside string) pages {
		return offers("resourcedump", "dump.xml").with(pages{
			"dump.xml": document("urlset", `capability="resourcedump"`+timed("at", at), "capabilitylist.xml",
				packageAt("p.zip", md, linkTo("contents", www+"manifest", link))),
			"manifest": beside,
			"p.zip":    zipped(member{name: "manifest.xml", text: inside}, member{name: "x/a", text: "1"}, member{name: "x/b", text: "1"}),
		})
	}
	for name, test := range map[string]struct{ md, at, link string }{
		"at of the package":      {md: timed("at", 5), at: timed("at", 0)},
		"a later at":             {md: timed("at", 5), at: timed("at", 9)},
		"no at":                  {md: timed("at", 5)},
		"at of the dump":         {at: timed("at", 0)},
		"completed":              {md: timed("completed", 6), at: timed("at", 5) + timed("completed", 1)},
		"the hash of the link":   {at: timed("at", 5), link: hashOf("another")},
		"the length of the link": {at: timed("at", 5), link: `length="7"`},
	} {
		t.Run(name, func(t *testing.T) {
			before := manifestAt(timed("at", 0), a)
			play(t, []stage{
				{pages: dump(0, "", "", before, before), truth: "a=1"},
				{pages: dump(5, test.md, test.link, manifestAt(timed("at", 5)+timed("completed", 6), a, b), manifestAt(test.at, a)), truth: "a=1 b=1", said: "the manifest in "},
			})
		})
	}
}

// harvestedURLs returns what a first run asks for.
func harvestedURLs(t *testing.T, site sourcetest.Site) (urls []string) {
	fetcher := &sourcetest.Fetcher{Site: site}
	_, _ = (&harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New()), Fetcher: fetcher}).Run(t.Context(), &resourcesync.Source{URL: sourceURL, MaxPackage: 1 << 20})
	for _, x := range fetcher.Exchanges() {
		urls = append(urls, x.URL)
	}
	return urls
}

// TestHostileLinks: mirrors that are wrong, gone, slow to give up or on other schemes.
func TestHostileLinks(t *testing.T) {
	const mirror = "https://mirror.example.com/a"
	list := func(md, links string) pages {
		return offers("resourcelist", "resourcelist.xml").with(pages{"resourcelist.xml": resourceList(0, entryWith("a", md, links))})
	}
	broken := sourcetest.Document{Body: "1", Broken: true}
	for name, test := range map[string]struct {
		md, links string
		mirror    sourcetest.Document
		self      sourcetest.Document
		want      verdict
	}{
		"gone":                          {links: linkTo("duplicate", mirror, ""), mirror: sourcetest.Document{Status: 410}},
		"an error of the server":        {links: linkTo("duplicate", mirror, ""), mirror: sourcetest.Document{Status: 500}},
		"forbidden":                     {links: linkTo("duplicate", mirror, ""), mirror: sourcetest.Document{Status: 403}},
		"it breaks off":                 {links: linkTo("duplicate", mirror, ""), mirror: broken},
		"other bytes":                   {md: hashOf("1"), links: linkTo("duplicate", mirror, ""), mirror: sourcetest.Document{Body: "2"}},
		"other bytes, hash at the link": {links: linkTo("duplicate", mirror, hashOf("1")), mirror: sourcetest.Document{Body: "2"}},
		"other length":                  {md: `length="1"`, links: linkTo("duplicate", mirror, ""), mirror: sourcetest.Document{Body: "22"}},
		"it redirects to itself":        {md: hashOf("1"), links: linkTo("duplicate", mirror, ""), mirror: sourcetest.Document{Location: mirror}},
		"other schemes": {links: linkTo("duplicate", "file:///etc/passwd", "") + linkTo("duplicate", "javascript:alert(1)", "") +
			linkTo("duplicate", "ftp://example.org/a", "") + linkTo("duplicate", "//mirror.example.com/a", "") + linkTo("duplicate", "", "") + linkTo("duplicate", "http://", "") + linkTo("duplicate", "http://[::1", "")},
		"pri is no number":     {links: linkTo("duplicate", mirror, `pri="-1"`), mirror: sourcetest.Document{Status: 404}},
		"more than are tried":  {links: strings.Repeat(linkTo("duplicate", mirror, ""), 1000), mirror: sourcetest.Document{Status: 404}},
		"only the mirror":      {md: hashOf("1"), links: linkTo("duplicate", mirror, ""), mirror: sourcetest.Document{Body: "1"}, self: sourcetest.Document{Status: 404}},
		"neither, one is gone": {links: linkTo("duplicate", mirror, ""), mirror: sourcetest.Document{Status: 410}, self: sourcetest.Document{Status: 500}, want: inDoubt},
		"neither, one fails":   {links: linkTo("duplicate", mirror, ""), mirror: sourcetest.Document{Status: 500}, self: sourcetest.Document{Status: 410}, want: either},
	} {
		t.Run(name, func(t *testing.T) {
			site := serve(list(test.md, test.links), held("a=1"), 1)
			if test.mirror.Body != "" || test.mirror.Status != 0 || test.mirror.Location != "" {
				site[mirror] = test.mirror
			}
			if test.self.Status != 0 {
				site[www+"a"] = test.self
			}
			store := harvest.NewCatalog(memstore.New())
			report, said := harvestOnce(t, store, site)
			if test.want != either {
				assert.Equal(t, test.want == inStep, report.InStep(), said)
			}
			for _, text := range testkit.Live(t, store) {
				assert.Equal(t, "1", text)
			}
			if test.want == inStep {
				assert.Len(t, testkit.Live(t, store), 1)
			}
		})
	}

	t.Run("a validator of the mirror is not one of the resource", func(t *testing.T) {
		store := harvest.NewCatalog(memstore.New())
		site := serve(list("", linkTo("duplicate", mirror, "")), held("a=1"), 1)
		site[mirror] = sourcetest.Document{Body: "1", ETag: `"v1"`}
		_, said := harvestOnce(t, store, site)
		require.Equal(t, held("a=1"), testkit.Live(t, store), said)
		delete(site, mirror)
		site[www+"resourcelist.xml"] = sourcetest.Document{Body: resourceList(1, entryWith("a", "", linkTo("duplicate", mirror, "")))}
		site[www+"a"] = sourcetest.Document{Body: "2", ETag: `"v1"`}
		_, said = harvestOnce(t, store, site)
		assert.Equal(t, held("a=2"), testkit.Live(t, store), said)
	})
}

// TestHostilePatches: whatever a patch is, the resource is what its digest says.
func TestHostilePatches(t *testing.T) {
	const before, after = `{"a":[1,2,3,4,5,6,7,8]}`, `{"a":2}`
	var bomb []string
	for i := range 60 {
		bomb = append(bomb, fmt.Sprintf(`{"op":"copy","from":"/a","path":"/b%d"},{"op":"copy","from":"","path":"/a/-"}`, i))
	}
	for name, patch := range map[string]string{
		"a bomb":             "[" + strings.Join(bomb, ",") + "]",
		"not JSON":           "<x>",
		"null":               "null",
		"an array of nulls":  "[null,null]",
		"no op":              "[{}]",
		"op is a number":     `[{"op":1,"path":"/a"}]`,
		"path is a number":   `[{"op":"add","path":1,"value":1}]`,
		"path without slash": `[{"op":"add","path":"a","value":1}]`,
		"no value":           `[{"op":"add","path":"/a"}]`,
		"no from":            `[{"op":"move","path":"/a"}]`,
		"into itself":        `[{"op":"move","from":"/a","path":"/a/0"}]`,
		"a huge index":       `[{"op":"add","path":"/a/99999999999999999999","value":1}]`,
		"a negative index":   `[{"op":"remove","path":"/a/-99"}]`,
		"all of it":          `[{"op":"remove","path":""}]`,
		"all replaced":       `[{"op":"replace","path":"","value":null},{"op":"add","path":"/a","value":1}]`,
		"deep":               `[{"op":"add","path":"/a","value":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}]`,
		"a deep path":        `[{"op":"add","path":"` + strings.Repeat("/a", 100_000) + `","value":1}]`,
		"into a number":      `[{"op":"add","path":"/a/0/b","value":1}]`,
		"the wrong result":   `[{"op":"replace","path":"/a","value":3}]`,
	} {
		t.Run(name, func(t *testing.T) {
			store := harvest.NewCatalog(memstore.New())
			docs := listOf(entryWith("res4", hashOf(before), ""))
			docs["res4"] = before
			_, live := harvested(t, store, docs)
			require.Equal(t, map[string]string{"res4": before}, live)
			docs["changelist.xml"] = document("urlset", `capability="changelist" from="2025-01-01T00:00:00Z"`, "capabilitylist.xml",
				entryWith("res4", `change="updated" datetime="2025-05-01T00:00:00Z" `+hashOf(after), linkTo("http://www.openarchives.org/rs/terms/patch", www+"patch", `type="application/json-patch"`)))
			docs["res4"], docs["patch"] = after, patch
			_, live = harvested(t, store, docs)
			assert.Equal(t, map[string]string{"res4": after}, live)
		})
	}
}

// TestHostileDiscovery: what leads to Capability Lists, and what does not.
func TestHostileDiscovery(t *testing.T) {
	html := map[string][]string{"Content-Type": {"text/html"}}
	page := func(body string) sourcetest.Document { return sourcetest.Document{Header: html, Body: body} }
	link := func(values ...string) sourcetest.Document {
		return sourcetest.Document{Header: map[string][]string{"Link": values}, Body: "text"}
	}
	described := func(locs ...string) sourcetest.Document {
		var entries []string
		for _, loc := range locs {
			entries = append(entries, "<url><loc>"+loc+`</loc><rs:md capability="capabilitylist"/></url>`)
		}
		return sourcetest.Document{Body: document("urlset", `capability="description"`, "", entries...)}
	}
	many := make([]string, 2000)
	for i := range many {
		many[i] = named("sitemap", fmt.Sprint("d", i), "")
	}
	const set = www + "set.xml"
	for name, test := range map[string]struct {
		doc  sourcetest.Document
		want []string
	}{
		"in a comment":                   {page(`<head><!-- <link rel="resourcesync" href="no.xml"> --><link rel="resourcesync" href="set.xml">`), []string{set}},
		"in a script":                    {page(`<head><script>"<link rel='resourcesync' href='no.xml'>"</script><title><link rel="resourcesync" href="no.xml"></title>`), nil},
		"in the body":                    {page(`<head></head><body><link rel="resourcesync" href="no.xml">`), nil},
		"in capitals":                    {page(`<HTML><HEAD><LINK REL=RESOURCESYNC HREF=set.xml></HEAD>`), []string{set}},
		"another relation":               {page(`<head><link rel="notresourcesync" href="no.xml"><link rel="resourcesync-x" href="no.xml">`), nil},
		"without an href":                {page(`<head><link rel="resourcesync"><link rel="resourcesync" href="">`), nil},
		"twice an href":                  {page(`<head><link rel="resourcesync" href="set.xml" href="no.xml">`), []string{set}},
		"white space":                    {page("<head><link rel=\"\n resourcesync\t\" href=\" set.xml\n\">"), []string{set}},
		"other schemes":                  {page(`<head><link rel="resourcesync" href="javascript:alert(1)"><link rel="resourcesync" href="ftp://example.org/x"><link rel="resourcesync" href="file:///etc/passwd"><link rel="resourcesync" href="file://host/etc">`), nil},
		"a base that is no URL":          {page(`<head><base href="http://[::1"><link rel="resourcesync" href="set.xml">`), []string{set}},
		"a base of a script":             {page(`<head><base href="javascript:x"><link rel="resourcesync" href="https://example.org/set.xml">`), []string{set}},
		"two bases":                      {page(`<head><base href="/"><base href="/no/"><link rel="resourcesync" href="set.xml">`), []string{set}},
		"a character reference":          {page(`<head><link rel="resourcesync" href="set.xml&#63;a&amp;b">`), []string{set + "?a&b"}},
		"the head never ends":            {page("<head>" + strings.Repeat("<meta>", 1<<18) + `<link rel="resourcesync" href="no.xml">`), nil},
		"a header":                       {link(`<set.xml>; rel=resourcesync`), []string{set}},
		"a header of many":               {link(`<no.xml>; rel="x"; title="<no.xml>; rel=resourcesync, <no.xml>", <set.xml>; rel="next resourcesync"`), []string{set}},
		"several headers":                {link(`<no.xml>; rel=up`, `<set.xml>; rel=resourcesync`, `<set2.xml>; rel=resourcesync`), []string{set, www + "set2.xml"}},
		"a header for another":           {link(`<no.xml>; rel=resourcesync; anchor="/other"`), nil},
		"a header of garbage":            {link(`<`, `>`, `<<>>;;;`, `;rel=resourcesync`, `<no.xml`, `<no.xml>; rel="resourcesync`+strings.Repeat(" ", 1000), `<ftp://example.org/no>; rel=resourcesync`), nil},
		"sets on other schemes":          {described("ftp://example.org/x", "file:///etc/passwd", set), []string{set}},
		"a Source Description of itself": {described(www+"start", set), nil},
		"an index of many":               {sourcetest.Document{Body: document("sitemapindex", `capability="description"`, "", many...)}, nil},
		"a loop of up":                   {sourcetest.Document{Body: document("urlset", `capability="resourcelist"`, "u1")}, nil},
		"up leads to another site":       {sourcetest.Document{Body: strings.Replace(document("urlset", `capability="resourcelist"`, "u1"), www+"u1", "https://other.example.com/c", 1)}, []string{"https://other.example.com/c"}},
	} {
		t.Run(name, func(t *testing.T) {
			site := sourcetest.Site{
				www + "start": test.doc,
				www + "u1":    {Body: document("urlset", `capability="changelist"`, "u2")}, www + "u2": {Body: document("urlset", `capability="resourcelist"`, "u1")},
				"https://other.example.com/c": {Body: document("urlset", `capability="capabilitylist"`, "")},
			}
			fetcher := &sourcetest.Fetcher{Site: site, Hook: func(_ context.Context, _ int, req *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
				assert.True(t, strings.HasPrefix(req.URL, "https://"), req.URL)
				return doc, nil
			}}
			sets, err := resourcesync.Discover(t.Context(), fetcher, www+"start")
			var got []string
			for _, s := range sets {
				got = append(got, s.CapabilityList)
				assert.NoError(t, s.Source().Check())
			}
			if name == "a Source Description of itself" {
				assert.Contains(t, got, set)
			} else {
				assert.Equal(t, test.want, got)
			}
			if test.want == nil && len(got) == 0 {
				assert.Error(t, err)
			}
			assert.LessOrEqual(t, len(fetcher.Exchanges()), 210)
			streams, spools := fetcher.Open()
			assert.Zero(t, streams+spools)
		})
	}
}
