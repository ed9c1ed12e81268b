package instep

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/sitemap"
)

// taskRows are those of work that can't be done.
func taskRows() []row {
	ended := func(broken answer, root func(w *world, all ...entry)) func(w *world) {
		return func(w *world) {
			src := &sitemap.Source{URL: base + "sitemap.xml"}
			all := entries("page", longAgo, 5)
			w.pages(all...)
			w.serve("broken", broken)
			root(w, append(all, entry{"broken", longAgo, ""})...)
			r := w.run(src)
			w.notInStep(r, "a page can't be got")
			assert.EqualValues(w, 1, r.Left.Waiting, "a page can't be got: %s", brief(r))
			w.holds("a page can't be got", all...)

			w.nextDay()
			w.notInStep(w.run(src), "it is still listed")

			w.nextDay()
			root(w, all...)
			r = w.run(src)
			w.inStep(r, "it is listed no more")
			assert.Zero(w, r.Left.Waiting+r.Left.Parked, "it is listed no more: %s", brief(r))
			w.holds("it is listed no more", all...)
		}
	}
	kept := func(w *world) {
		src := &sitemap.Source{URL: base + "sitemap.xml"}
		all := entries("page", longAgo, 5)
		w.pages(all...)
		w.serve("sitemap.xml", plain(urlset(all...)))
		w.inStep(w.run(src), "first run")

		w.nextDay()
		w.serve(all[0].id, refused(http.StatusInternalServerError))
		w.serve("sitemap.xml", plain(urlset(with(all, entry{all[0].id, today, ""})...)))
		w.notInStep(w.run(src), "a page has changed and can't be got")

		w.nextDay()
		w.serve("sitemap.xml", plain(urlset(all[1:]...)))
		r := w.run(src)
		w.notInStep(r, "there is a record of what is listed no more")
		w.holds("there is a record of what is listed no more", all...)
	}
	single := func(w *world, all ...entry) { w.serve("sitemap.xml", plain(urlset(all...))) }
	indexed := func(w *world, all ...entry) {
		w.serve("sitemap.xml", plain(index(entry{"a.xml", "", ""}, entry{"b.xml", "", ""})))
		w.serve("a.xml", plain(urlset(all[:3]...)))
		w.serve("b.xml", plain(urlset(all[3:]...)))
	}
	refusing := func(n, status int, host string, restart bool) func(w *world) {
		return func(w *world) {
			w.client.Rate = 0 // the recommended settings
			src := &sitemap.Source{URL: base + "sitemap.xml"}
			var all []entry
			for i := range n {
				id := fmt.Sprintf("%spage/%03d", host, i+1)
				all = append(all, entry{id, longAgo, "text of " + id})
			}
			w.serve("sitemap.xml", plain(urlset(all...)))
			now, most := 0, 0 // requests at once
			for _, e := range all {
				w.serve(e.id, func(out http.ResponseWriter, r *http.Request) {
					w.mu.Lock()
					now++
					most = max(most, now)
					w.mu.Unlock()
					time.Sleep(time.Second)
					w.mu.Lock()
					now--
					w.mu.Unlock()
					refused(status)(out, r)
				})
			}
			pages := func(u string) bool { return strings.Contains(u, "/page/") }
			r, _ := w.tryRun(src)
			assert.LessOrEqual(w, w.countAsked(pages), 12, "after some refusals in a row the host must be left alone")
			assert.Less(w, r.Ended.Sub(r.Started), 10*time.Minute, "the run ends early")
			assert.EqualValues(w, n, r.Left.Waiting, "the tasks stay: %s", brief(r))
			w.notInStep(r, "the host refuses everything")

			w.nextDay()
			if restart {
				w.restart()
			}
			most = 0
			r, _ = w.tryRun(src)
			assert.LessOrEqual(w, w.countAsked(pages), 4, "the next run begins with one request, and ends with it if it is refused")
			assert.Equal(w, 1, most, "the next run begins with one request, until it is answered")
			assert.EqualValues(w, n, r.Left.Waiting+r.Left.Parked, "the tasks stay: %s", brief(r))
			w.notInStep(r, "the host still refuses everything")

			w.pages(all...)
			for range 3 {
				w.nextDay()
				r = w.run(src)
			}
			w.inStep(r, "the host answers again")
			var want []entry
			for _, e := range all {
				want = append(want, entry{strings.TrimPrefix(e.id, base), e.time, e.text})
			}
			w.holds("the host answers again", want...)
		}
	}
	everything := func(status int) func(w *world) {
		return func(w *world) {
			w.client.Rate = 0
			src := &sitemap.Source{URL: base + "sitemap.xml"}
			all := entries("page", longAgo, 12)
			now := changed(all, today)
			w.pages(all...)
			w.serve("sitemap.xml", plain(urlset(all...)))
			w.inStep(w.run(src), "first run")

			for range 2 {
				w.nextDay()
				w.serve("robots.txt", refused(status))
				w.serve("sitemap.xml", refused(status))
				for _, e := range all {
					w.serve(e.id, refused(status))
				}
				r, _ := w.tryRun(src)
				w.notInStep(r, "the host refuses everything")
				w.holds("the host refuses everything", all...)
				assert.LessOrEqual(w, len(w.asked), 8, "the host is left alone: %v", w.asked)
			}

			w.serve("robots.txt", refused(404))
			w.serve("sitemap.xml", plain(urlset(now...)))
			w.pages(now...)
			w.heal(src, "the host answers again", now)
		}
	}
	return []row{
		{"a failed task of a URL that is listed no more ends", []variant{
			{"status 500", ended(refused(500), single)},
			{"status 403", ended(refused(403), single)},
			{"no answer", ended(func(out http.ResponseWriter, r *http.Request) {
				out.Header().Set("Content-Length", "1000")
				out.Write([]byte("half"))
			}, single)},
			{"in an index", ended(refused(500), indexed)},
		}},
		{"a failed task of a URL that is listed no more stays if there is a record", []variant{{"status 500", kept}}},
		{"a host that refuses everything is left alone", []variant{
			{"503 to 12 pages", refusing(12, 503, base, false)},
			{"429 to 12 pages", refusing(12, 429, base, false)},
			{"503 to 12 pages of another host", refusing(12, 503, "https://pages.example.com/", false)},
			{"503 to the list, too", everything(503)},
			{"429 to the list, too", everything(429)},
			{"503 to 100 pages, and the next run is that of a new process", refusing(100, 503, base, true)},
		}},
	}
}
