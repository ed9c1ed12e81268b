package instep

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/resourcesync"
)

// rsList returns a document of ResourceSync. Lines are whole entries.
func rsList(root string, lines ...string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">
<rs:md ` + root + `/>` + "\n" + strings.Join(lines, "\n") + "\n</urlset>\n"
}

func rsEntry(loc, lastmod, md string) string {
	if lastmod != "" {
		lastmod = "<lastmod>" + lastmod + "</lastmod>"
	}
	return "<url><loc>" + url(loc) + "</loc>" + lastmod + "<rs:md " + md + "/></url>"
}

// pack returns a package of entries, and their manifest beside them.
func pack(manifest string, all ...entry) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	var lines []string
	add := func(name, text string) {
		f, err := z.Create(name)
		if err != nil {
			panic(err)
		}
		f.Write([]byte(text))
	}
	for i, e := range all {
		path := fmt.Sprintf("resources/%d", i+1)
		add(path, e.text)
		lines = append(lines, rsEntry(e.id, e.time, fmt.Sprintf(`length="%d" path="/%s"`, len(e.text), path)))
	}
	add("manifest.xml", rsList(manifest, lines...))
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

func resourcesyncRows() []row {
	const early, late = "2026-02-20T08:00:00Z", "2026-02-22T08:00:00Z"
	older := func(entryAt, manifestAt string, change func(all []entry) (line string, now []entry)) func(w *world) {
		return func(w *world) {
			all := entries("law", "2026-02-01T08:00:00Z", 5)
			zip := pack(`capability="resourcedump-manifest" at="`+manifestAt+`"`, all...)
			line, now := change(all)
			w.serve("capabilities.xml", plain(rsList(`capability="capabilitylist"`,
				rsEntry("dump.xml", "", `capability="resourcedump"`), rsEntry("changes.xml", "", `capability="changelist"`))))
			md := fmt.Sprintf(`type="application/zip" length="%d"`, len(zip))
			if entryAt != "" {
				md += ` at="` + entryAt + `"`
			}
			w.serve("dump.xml", plain(rsList(`capability="resourcedump" at="`+late+`"`, rsEntry("part1.zip", "", md))))
			w.serve("part1.zip", plain(zip))
			w.serve("changes.xml", plain(rsList(`capability="changelist" from="2026-02-01T00:00:00Z"`, line)))
			w.pages(now...)
			src := &resourcesync.Source{URL: base + "capabilities.xml"}
			r := w.run(src)
			w.inStep(r, "first run")
			w.holdsTexts("the package is older than its dump", now...)
			assert.True(w, w.says(r, "part1.zip") || w.says(r, "manifest") || w.says(r, "dump.xml"),
				"a finding must say that the package is older than its dump; findings:%s", w.findingTexts())

			w.nextDay()
			w.inStep(w.run(src), "nothing has changed")
			w.holdsTexts("nothing has changed", now...)
		}
	}
	const between = "2026-02-21T08:00:00Z"
	updated := func(all []entry) (string, []entry) {
		now := with(all, entry{all[1].id, between, "new text"})
		return rsEntry(all[1].id, between, `change="updated" datetime="`+between+`"`), now
	}
	deleted := func(all []entry) (string, []entry) {
		return rsEntry(all[1].id, "", `change="deleted" datetime="`+between+`"`), append(all[:1:1], all[2:]...)
	}
	created := func(all []entry) (string, []entry) {
		return rsEntry("law/new", between, `change="created" datetime="`+between+`"`), with(all, entry{"law/new", between, "text of the new law"})
	}
	return []row{{"ResourceSync a package is older than its dump", []variant{
		{"the package and the manifest, and one was updated between", older(early, early, updated)},
		{"the package and the manifest, and one was deleted between", older(early, early, deleted)},
		{"the package and the manifest, and one was created between", older(early, early, created)},
		{"the manifest only", older("", early, updated)},
		{"the package only", older(early, late, updated)},
	}}}
}
