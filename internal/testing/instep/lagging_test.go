package instep

import (
	"fmt"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/sitemap"
)

// laggingRows are those of a page whose lastmod moves before its bytes do.
func laggingRows() []row {
	// so many that a random share of them rarely has the page
	others := entries("other", longAgo, 300)
	old := entry{"page", longAgo, "old text"}
	lagging := func(root, page func(body string) answer, runs int, set func(w *world)) func(w *world) {
		return func(w *world) {
			src := &sitemap.Source{URL: base + "sitemap.xml"}
			w.pages(others...)
			w.serve("page", page(old.text))
			w.serve("sitemap.xml", root(urlset(append(others, old)...)))
			w.inStep(w.run(src), "first run")
			w.holds("first run", append(others, old)...)

			set(w)
			now := entry{"page", today, "old text"}
			w.serve("sitemap.xml", root(urlset(append(others, now)...)))
			for range runs {
				w.nextDay()
				w.run(src)
				w.holdsTexts("the page lags behind its lastmod", append(others, now)...)
			}

			now.text = "new text"
			w.serve("page", page(now.text))
			day := 1
			for ; day <= 10 && w.live(false)["page"] != now.text; day++ {
				w.nextDay()
				w.run(src)
			}
			w.holds(fmt.Sprintf("%d runs after the page has changed", day-1), append(others, now)...)
			assert.LessOrEqual(w, day-1, 2*runs+2, "the page must be asked for soon")
			w.nextDay()
			w.inStep(w.run(src), "nothing has changed")
		}
	}
	distance := func(root, page func(body string) answer, set func(w *world)) func(w *world) {
		return func(w *world) {
			src := &sitemap.Source{URL: base + "sitemap.xml"}
			w.pages(others...)
			w.serve("page", page(old.text))
			w.serve("sitemap.xml", root(urlset(append(others, old)...)))
			w.run(src)
			set(w)
			w.serve("sitemap.xml", root(urlset(append(others, entry{"page", today, ""})...)))
			var asked []int
			for day := range 40 {
				w.nextDay()
				w.inStep(w.run(src), fmt.Sprintf("day %d", day+1))
				if w.countAsked(func(u string) bool { return u == base+"page" }) > 0 {
					asked = append(asked, day+1)
				}
			}
			assert.GreaterOrEqual(w, len(asked), 3, "a page that never changes must be asked for in later runs: %v", asked)
			assert.LessOrEqual(w, len(asked), 20, "and with growing distance, but for the random shares: %v", asked)
			w.holdsTexts("the page has a new lastmod and the old bytes", append(others, entry{"page", today, old.text})...)
		}
	}
	byDefault := func(*world) {}
	full := func(w *world) { w.harvester.Full = true }
	return []row{
		{"a page with a new lastmod whose old bytes still came as a 304", []variant{
			{"once", lagging(plain, tagged, 1, byDefault)},
			{"twice", lagging(plain, tagged, 2, byDefault)},
			{"with Full", lagging(plain, tagged, 1, full)},
			{"and the sitemap is a 304, too", lagging(tagged, tagged, 1, byDefault)},
		}},
		{"a page with a new lastmod whose old bytes still came with 200", []variant{
			{"once", lagging(plain, plain, 1, byDefault)},
			{"twice", lagging(plain, plain, 2, byDefault)},
			{"with Full", lagging(plain, plain, 1, full)},
			{"and the sitemap is a 304", lagging(tagged, plain, 1, byDefault)},
		}},
		{"a page whose bytes never follow its lastmod is asked for with growing distance", []variant{
			{"304", distance(plain, tagged, byDefault)},
			{"200", distance(plain, plain, byDefault)},
			{"with Full", distance(plain, tagged, full)},
		}},
	}
}
