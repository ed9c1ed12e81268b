package instep

import (
	"fmt"
	"slices"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

// sampleRows are those of the share of what seems unchanged that each full pass asks for.
func sampleRows() []row {
	few := func(src harvest.Source, list func(w *world, all []entry), silent int) func(w *world) {
		return func(w *world) {
			all := entries("page", longAgo, 10)
			w.pages(all...)
			list(w, all)
			w.inStep(w.run(src), "first run")
			w.holdsTexts("first run", all...)

			w.nextDay()
			for i := range silent {
				all[3*i].text = "silently another text " + fmt.Sprint(i)
			}
			w.pages(all...)
			list(w, all)
			r := w.run(src)
			w.inStep(r, "pages have changed under an unmoved time")
			w.holdsTexts("pages have changed under an unmoved time", all...)
			assert.True(w, counts(w, r, float64(silent), "wrong", "false", "mistak", "untrue"),
				"the Report must count how often the publisher's statement was wrong: %d", silent)
		}
	}
	many := func(src harvest.Source, list func(w *world, all []entry), wrong func(i int) bool) func(w *world) {
		return func(w *world) {
			all := entries("page", longAgo, 2000)
			w.pages(all...)
			list(w, all)
			w.inStep(w.run(src), "first run")
			w.holdsTexts("first run", all...)
			for i := range all {
				if wrong(i) {
					all[i].text = "silently new " + all[i].text
				}
			}
			w.pages(all...)
			// the share of one pass is ten pages: three of them show that it was half,
			// sooner or later, and the next pass asks for all
			for range 8 {
				w.nextDay()
				if r := w.run(src); r.InStep() && r.Rechecked.Times.Asked >= int64(len(all)) {
					break
				}
			}
			w.holdsTexts("after a few full passes", all...)
		}
	}
	single := func(w *world, all []entry) { w.serve("sitemap.xml", plain(urlset(all...))) }
	indexed := func(w *world, all []entry) {
		n := len(all) / 2
		w.serve("sitemap.xml", plain(index(entry{"a.xml", "", ""}, entry{"b.xml", "", ""})))
		w.serve("a.xml", plain(urlset(all[:n]...)))
		w.serve("b.xml", plain(urlset(all[n:]...)))
	}
	resourceList := func(w *world, all []entry) {
		var lines []string
		for _, e := range all {
			lines = append(lines, rsEntry(e.id, e.time, `type="text/html"`))
		}
		w.serve("capabilities.xml", plain(rsList(`capability="capabilitylist"`, rsEntry("list.xml", "", `capability="resourcelist"`))))
		w.serve("list.xml", plain(rsList(`capability="resourcelist" at="2026-02-21T00:00:00Z"`, lines...)))
	}
	completeFeed := func(w *world, all []entry) {
		var b string
		for _, e := range all {
			b += fmt.Sprintf("<entry><id>%s</id><title>%s</title><link rel=\"alternate\" href=\"%[1]s\"/><updated>%[3]s</updated></entry>\n", url(e.id), e.id, e.time)
		}
		w.serve("feed", plain(atomFeed("<fh:complete/>"+b)))
	}
	plainSitemap := &sitemap.Source{URL: base + "sitemap.xml"}
	completeSitemap := &sitemap.Source{URL: base + "sitemap.xml", Complete: true}
	list := &resourcesync.Source{URL: base + "capabilities.xml"}
	feed := &atom.Source{URL: base + "feed"}
	half := func(i int) bool { return i%2 == 0 }
	return []row{
		{"a run finds one of ten pages that has changed under an unmoved lastmod", []variant{
			{"sitemap", few(plainSitemap, single, 1)},
			{"index of sitemaps, Complete", few(completeSitemap, indexed, 1)},
			{"Resource List", few(list, resourceList, 1)},
			{"complete feed", few(feed, completeFeed, 1)},
			{"three of ten", few(completeSitemap, single, 3)},
		}},
		{"half of 2,000 pages have changed under an unmoved lastmod", []variant{
			{"sitemap", many(plainSitemap, single, half)},
			{"index of sitemaps, Complete", many(completeSitemap, indexed, half)},
			{"the first half", many(completeSitemap, single, func(i int) bool { return i < 1000 })},
		}},
		{"a share of what seems unchanged costs no more than the share", []variant{
			{"300 pages", asksFor(plainSitemap, single, 300, 10)},
			{"2,000 pages", asksFor(plainSitemap, single, 2000, 10)},
			{"4,000 pages", asksFor(completeSitemap, indexed, 4000, 20)},
		}},
	}
}

// asksFor checks that a run asks for about as many as wanted of n pages, none of which
// has changed, and not for the same ones each time.
func asksFor(src harvest.Source, list func(w *world, all []entry), n, want int) func(w *world) {
	return func(w *world) {
		all := entries("page", longAgo, n)
		w.pages(all...)
		list(w, all)
		w.run(src)
		var before []string
		for range 3 {
			w.nextDay()
			w.inStep(w.run(src), "nothing has changed")
			asked := slices.DeleteFunc(slices.Sorted(slices.Values(w.asked)), func(u string) bool { return len(u) < len(base)+5 || u[len(base):len(base)+5] != "page/" })
			assert.GreaterOrEqual(w, len(asked), 10, "pages that are asked for")
			assert.LessOrEqual(w, len(asked), 2*want, "pages that are asked for")
			if len(before) > 0 {
				assert.NotEqual(w, before, asked, "the share must be a random one")
			}
			before = asked
		}
	}
}
