package resourcesync_test

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// run harvests a site once, and returns the report, and what was reported as text.
func run(t *testing.T, store *harvest.Catalog, site sourcetest.Site) (report *harvest.Report, said string) {
	t.Helper()
	var b strings.Builder
	h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: site}, Hooks: testkit.OnFinding(func(f websync.Finding) { fmt.Fprintln(&b, f) })}
	report, err := h.Run(t.Context(), &resourcesync.Source{URL: sourceURL})
	fmt.Fprintln(&b, err)
	for _, p := range append(report.Problems, report.Failures...) {
		fmt.Fprintln(&b, p)
	}
	return report, b.String()
}

// TestBadInput brings a publisher that was harvested into a bad state. Each is said,
// nothing is deleted or lost because of it, and when it is over the next run is in step.
func TestBadInput(t *testing.T) {
	// edit replaces what a document says.
	edit := func(path, old, new string) func(sourcetest.Site) {
		return func(site sourcetest.Site) {
			doc := site[www+path]
			text := regexp.MustCompile(old).ReplaceAllString(doc.Body, new)
			if text == doc.Body {
				panic(path + " does not have " + old)
			}
			doc.Body, doc.ETag = text, fmt.Sprintf(`"%x"`, md5.Sum([]byte(text)))
			site[www+path] = doc
		}
	}
	serve := func(path string, doc sourcetest.Document) func(sourcetest.Site) {
		return func(site sourcetest.Site) { site[www+path] = doc }
	}
	const entries = `(?s)(<rs:md capability[^>]*>).*</urlset>`
	for name, test := range map[string]struct {
		shape  func(*publisher)
		quiet  bool // nothing changes before the bad state
		list   bool // the Source makes its first baseline, of a Resource List made after the last change
		bad    func(sourcetest.Site)
		said   string
		inStep bool
	}{
		"500 on an empty change list":    {bad: serve("changelist.xml", sourcetest.Document{Status: 500}), said: "500"},
		"a change list without from":     {bad: edit("changelist.xml", ` from="[^"]*"`, ""), said: "nil", inStep: true},
		"until is always now":            {bad: edit("changelist.xml", `( from="[^"]*")`, `$1 until="2025-06-02T00:00:00Z"`), inStep: true, said: "nil"},
		"a change list that is shorter":  {bad: edit("changelist.xml", `(?s)(<rs:md capability[^>]*>)<url>.*?</url>`, "$1"), inStep: true, said: "nil"},
		"an empty change list":           {quiet: true, bad: edit("changelist.xml", entries, "$1</urlset>"), inStep: true, said: "nil"},
		"times without a zone":           {bad: edit("changelist.xml", `(datetime="[^"]*)Z"`, `$1"`), inStep: true, said: "W3C datetime"},
		"no times at all":                {bad: edit("changelist.xml", ` (datetime|from)="[^"]*"`, ""), said: "may be missing"},
		"white space in loc":             {bad: edit("changelist.xml", `<loc>(.*?)</loc>`, "<loc>\n  $1\n  </loc>"), inStep: true, said: "loc"},
		"a hash in base64":               {bad: edit("changelist.xml", `hash="md5:[^"]*"`, `hash="md5:`+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 16))+`"`), said: "hash"},
		"a wrong hash":                   {bad: edit("changelist.xml", `hash="md5:......`, `hash="md5:000000`), said: "r1"},
		"a wrong length":                 {bad: edit("changelist.xml", `length="[^"]*"`, `length="99"`), said: "99"},
		"an urlset for an index":         {shape: func(p *publisher) { p.perPart, p.perList = 1, 2 }, bad: edit("changelist.xml", "sitemapindex", "urlset"), said: "a urlset of sitemap elements", inStep: true},
		"a part redirects to its index":  {shape: func(p *publisher) { p.perList = 2 }, bad: serve("changelist-2.xml", sourcetest.Document{Location: "/changelist.xml"}), said: "redirects"},
		"no Capability List":             {shape: func(p *publisher) { p.noChange = true }, bad: serve("capabilitylist.xml", sourcetest.Document{Status: 404}), said: "404"},
		"a Capability List of nothing":   {shape: func(p *publisher) { p.noChange = true }, bad: edit("capabilitylist.xml", entries, "$1</urlset>"), said: "offers no"},
		"a login page":                   {bad: serve("changelist.xml", sourcetest.Document{Body: "<!doctype html><title>Log in</title>"}), said: "changelist.xml"},
		"a Resource List of nothing":     {shape: func(p *publisher) { p.noChange = true }, bad: edit("resourcelist.xml", entries, "$1</urlset>"), said: "resourcelist.xml"},
		"the Resource List is a sitemap": {shape: func(p *publisher) { p.noChange = true }, bad: edit("resourcelist.xml", `<rs:md cap[^>]*>`, ""), said: "not that of a Resource List"},
		"a change without change":        {bad: edit("changelist.xml", ` change="updated"`, ""), said: "nil", inStep: true},
		"an unknown change":              {bad: edit("changelist.xml", ` change="updated"`, ` change="removed"`), said: "removed", inStep: true},
		"an entry without loc":           {bad: edit("changelist.xml", `</urlset>`, `<url><rs:md change="deleted"/></url></urlset>`), said: "loc"},
		"a change list cut short":        {bad: edit("changelist.xml", `</urlset>`, ``), said: "ends too early"},
		"a capability of others":         {shape: func(p *publisher) { p.noChange = true }, bad: edit("capabilitylist.xml", `</urlset>`, `<url><loc>https://example.org/oai</loc><rs:md capability="oai-pmh"/></url></urlset>`), said: "info: capability", inStep: true},
		"a capability misspelt":          {shape: func(p *publisher) { p.noChange = true }, bad: edit("capabilitylist.xml", `</urlset>`, `<url><loc>https://example.org/oai</loc><rs:md capability="change-list"/></url></urlset>`), said: "change-list"},
		"the order of time is broken":    {bad: edit("changelist.xml", `datetime="2025-06-01T12:00:0[56]Z"`, `datetime="2024-01-01T00:00:00Z"`), said: "nil", inStep: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher()
			if test.shape != nil {
				test.shape(p)
			}
			for i := range 3 {
				p.put(fmt.Sprint("r", i), fmt.Sprint("text ", i))
			}
			p.list()
			store := harvest.NewCatalog(memstore.New())
			report, said := run(t, store, p.site())
			require.True(t, report.InStep(), said)
			before := testkit.Live(t, store)
			if !test.quiet {
				p.put("r1", "changed")
				p.put("new", "is new")
				if p.noChange {
					p.list()
				}
			}
			site := p.site()
			test.bad(site)
			report, said = run(t, store, site)
			assert.Contains(t, said, test.said)
			assert.Equal(t, test.inStep, report.InStep(), "%s", said)
			live := testkit.Live(t, store)
			for name := range before {
				assert.Contains(t, live, name, "deleted")
			}
			if test.inStep {
				assert.Equal(t, p.texts(), live)
			}
			p.put("r2", "")
			p.put("r0", "when it is over")
			if p.noChange {
				p.list()
			}
			var again int
			for again = 1; again < 3 && !report.InStep() || again == 1; again++ {
				report, said = run(t, store, p.site())
			}
			assert.True(t, report.InStep(), said)
			assert.Equal(t, p.texts(), testkit.Live(t, store))
		})
	}
}

// TestBadDump: what of a package can't be read is fetched one by one.
func TestBadDump(t *testing.T) {
	for name, test := range map[string]struct {
		bad  func(map[string]string)
		said string
	}{
		"a tar archive":       {func(d map[string]string) { d["dump-0.zip"] = "\xfd7zXZ\x00" + strings.Repeat("x", 600) }, "compressed with xz"},
		"a package cut short": {func(d map[string]string) { d["dump-0.zip"] = d["dump-0.zip"][:200] }, "dump-0.zip"},
		"a page":              {func(d map[string]string) { d["dump-0.zip"] = "<!doctype html>" }, "dump-0.zip"},
		"not there":           {func(d map[string]string) { delete(d, "dump-0.zip") }, "404"},
		"a missing file": {func(d map[string]string) {
			d["dump-0.xml"] = strings.ReplaceAll(d["dump-0.xml"], "/res/r0", "/res/none")
		}, "1 files that the manifest does not list"},
		"a path that leads out": {func(d map[string]string) { d["dump-0.xml"] = strings.ReplaceAll(d["dump-0.xml"], "/res/r0", "/../r0") }, "path"},
		"an absolute path": {func(d map[string]string) {
			d["dump-0.xml"] = strings.ReplaceAll(d["dump-0.xml"], "/res/r0", "C:/res/r0")
		}, "path"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher()
			p.dump, p.contents = 10, true
			for i := range 3 {
				p.put(fmt.Sprint("r", i), fmt.Sprint("text ", i))
			}
			p.list()
			docs := make(map[string]string)
			for url, doc := range p.site() {
				docs[strings.TrimPrefix(url, www)] = doc.Body
			}
			test.bad(docs)
			docs["resourcedump.xml"] = regexp.MustCompile(` length="\d+"`).ReplaceAllString(docs["resourcedump.xml"], "")
			site := make(sourcetest.Site)
			for path, text := range docs {
				site[www+path] = sourcetest.Document{Body: text}
			}
			store := harvest.NewCatalog(memstore.New())
			report, said := run(t, store, maps.Clone(site))
			assert.Contains(t, said, test.said)
			assert.True(t, report.InStep(), said)
			assert.Equal(t, p.texts(), testkit.Live(t, store))
		})
	}
}
