package instep

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/sitemap"
)

// A form is a way to list entries in several documents.
type form struct {
	name string
	// list serves the parts, of which each was last made at a time.
	list   func(w *world, made []string, parts ...[]entry)
	source func() harvest.Source
	times  bool // the documents state those of their entries
}

func complete(path string) func() harvest.Source {
	return func() harvest.Source { return &sitemap.Source{URL: base + path, Complete: true} }
}

var forms = []form{
	{"single", func(w *world, made []string, parts ...[]entry) {
		w.serve("sitemap.xml", plain(urlset(slices.Concat(parts...)...)))
	}, complete("sitemap.xml"), true},
	{"index", func(w *world, made []string, parts ...[]entry) {
		var all []entry
		for i, p := range parts {
			name := fmt.Sprintf("part%d.xml", i+1)
			w.serve(name, plain(urlset(p...)))
			all = append(all, entry{name, made[i], ""})
		}
		w.serve("sitemap.xml", plain(index(all...)))
	}, complete("sitemap.xml"), true},
	{"several in robots.txt", func(w *world, made []string, parts ...[]entry) {
		robots := "User-agent: *\nDisallow:\n"
		for i, p := range parts {
			name := fmt.Sprintf("part%d.xml", i+1)
			w.serve(name, plain(urlset(p...)))
			robots += "Sitemap: " + base + name + "\n"
		}
		w.serve("robots.txt", plain(robots))
	}, complete("robots.txt"), true},
	{"gzipped", func(w *world, made []string, parts ...[]entry) {
		var all []entry
		for i, p := range parts {
			name := fmt.Sprintf("part%d.xml.gz", i+1)
			w.serve(name, plain(zipped(urlset(p...))))
			all = append(all, entry{name, made[i], ""})
		}
		w.serve("sitemap.xml", plain(index(all...)))
	}, complete("sitemap.xml"), true},
	{"text", func(w *world, made []string, parts ...[]entry) {
		robots := "User-agent: *\nDisallow:\n"
		for i, p := range parts {
			name := fmt.Sprintf("part%d.txt", i+1)
			w.serve(name, stamped(lines(p...), made[i]))
			robots += "Sitemap: " + base + name + "\n"
		}
		w.serve("robots.txt", plain(robots))
	}, complete("robots.txt"), false},
}

// doubtRows are those of listings that are readable and improbable.
func doubtRows() []row {
	var parts [][]entry
	var made []string
	for i := range 4 {
		parts = append(parts, entries(fmt.Sprint("part", i+1), fmt.Sprintf("2026-02-%d1T08:00:00Z", 1+i%2), 20))
		made = append(made, longAgo)
	}
	// a wrong listing of f after a right one
	type wrong struct {
		before, after [][]entry
		madeBefore    []string
		madeAfter     []string
	}
	doubted := func(f form, x wrong) func(w *world) {
		return func(w *world) {
			state := slices.Concat(x.before...)
			if !f.times {
				for i := range state {
					state[i].time = ""
				}
			}
			w.pages(slices.Concat(slices.Concat(parts...), state)...)
			f.list(w, made, parts...)
			w.inStep(w.run(f.source()), "first run")
			w.nextDay()
			f.list(w, x.madeBefore, x.before...)
			w.inStep(w.run(f.source()), "second run")
			w.holds("second run", state...)

			w.nextDay()
			f.list(w, x.madeAfter, x.after...)
			r := w.run(f.source())
			assert.Zero(w, r.Deleted, "in doubt nothing is deleted: %s", brief(r))
			w.holds("the listing is in doubt", state...)
			w.notInStep(r, "the listing is in doubt")
			readable := r.Complete // an empty text is none
			if readable {
				assert.Positive(w, r.Left.Withheld, "what the listing omits is withheld: %s", brief(r))
			}
			w.nextDay()
			w.notInStep(w.run(f.source()), "the listing is in doubt a day later, too")

			w.nextDay()
			f.list(w, x.madeBefore, x.before...)
			r = w.run(f.source())
			w.inStep(r, "the listing is right again")
			w.holds("the listing is right again", state...)
			assert.Zero(w, r.Left.Withheld, "the listing is right again: %s", brief(r))
			if !readable {
				return
			}

			// once more, and somebody who has looked into it approves
			f.list(w, x.madeAfter, x.after...)
			w.nextDay()
			w.run(f.source())
			r = w.approve(f.source())
			left := stateOf(true, slices.Concat(x.after...))
			assert.EqualValues(w, len(state)-len(left), r.Deleted, "Approve carries it out: %s", brief(r))
			assert.Len(w, w.live(false), len(left), "what was approved is deleted")
			w.nextDay()
			w.inStep(w.run(f.source()), "after the approval")
			assert.Len(w, w.live(false), len(left), "after the approval")
		}
	}
	part2 := func(p []entry) [][]entry { return [][]entry{parts[0], p, parts[2], parts[3]} }
	reversed := slices.Clone(parts[2])
	slices.Reverse(reversed)
	grown := append(slices.Clone(parts[1]), entries("part2/new", today, 5)...)
	madeGrown := []string{longAgo, today, longAgo, longAgo}
	rows := []row{
		{name: "a document of a Complete sitemap that had entries and has none"},
		{name: "a document of a Complete sitemap that equals its sibling"},
		{name: "a document of a Complete sitemap that has lost most of its entries"},
		{name: "a document of a Complete sitemap that is older than the one read before"},
	}
	for _, f := range forms {
		add := func(row int, name string, x wrong) {
			rows[row].variants = append(rows[row].variants, variant{name, doubted(f, x)})
		}
		empty, most := part2(nil), part2(parts[1][:5])
		if f.name == "single" {
			empty, most = [][]entry{{}}, [][]entry{parts[0], parts[1][:5]}
		}
		add(0, f.name, wrong{parts, empty, made, made})
		if f.name != "single" {
			add(1, f.name, wrong{parts, part2(parts[2]), made, made})
			add(1, f.name+", reordered", wrong{parts, part2(reversed), made, made})
		}
		add(2, f.name, wrong{parts, most, made, made})
		add(3, f.name, wrong{part2(grown), parts, madeGrown, made})
	}

	// what is probable is no doubt
	believed := func(f form, after [][]entry, deleted int) func(w *world) {
		return func(w *world) {
			w.pages(slices.Concat(parts...)...)
			w.pages(grown...)
			f.list(w, made, parts...)
			w.inStep(w.run(f.source()), "first run")
			w.nextDay()
			f.list(w, madeGrown, after...)
			r := w.run(f.source())
			w.inStep(r, "the listing is probable")
			assert.EqualValues(w, deleted, r.Deleted, "the listing is probable: %s", brief(r))
			w.holdsTexts("the listing is probable", slices.Concat(after...)...)
		}
	}
	probable := row{name: "a document of a Complete sitemap that is probable is believed"}
	for _, f := range forms {
		for _, x := range []struct {
			name    string
			after   [][]entry
			deleted int
		}{
			{"two entries are gone", part2(parts[1][2:]), 2},
			{"five entries are gone and others have come", part2(grown[5:]), 5},
			{"nearly all entries have moved to another document", [][]entry{parts[0], parts[1][:1], slices.Concat(parts[1][1:], parts[2]), parts[3]}, 0},
		} {
			probable.variants = append(probable.variants, variant{f.name + ", " + x.name, believed(f, x.after, x.deleted)})
		}
	}
	rows = append(rows, probable)

	// text sitemaps that lose line ends
	text := entries("text", "", 20)
	joined := func(root string, as func(string) string, lose func(doc string) string, src func() harvest.Source) func(w *world) {
		return func(w *world) {
			w.pages(text...)
			whole := lines(text...)
			require.NotEqual(w, whole, lose(whole))
			w.serve(root, plain(as(whole)))
			w.inStep(w.run(src()), "first run")
			w.holds("first run", text...)

			w.nextDay()
			w.serve(root, plain(as(lose(whole))))
			r, _ := w.tryRun(src())
			assert.Zero(w, r.Deleted, "in doubt nothing is deleted: %s", brief(r))
			w.holds("line ends are lost", text...)
			w.notInStep(r, "line ends are lost")
			assert.Zero(w, w.countAsked(func(u string) bool { return strings.Count(u, "://") > 1 }), "two URLs in a line are not one")

			w.nextDay()
			w.serve(root, plain(as(whole)))
			w.inStep(w.run(src()), "the line ends are back")
			w.holds("the line ends are back", text...)
		}
	}
	same := func(s string) string { return s }
	all := func(doc string) string { return strings.ReplaceAll(doc, "\n", "") }
	one := func(doc string) string { return strings.Replace(doc, "/007\n", "/007", 1) }
	windowed := func() harvest.Source { return &sitemap.Source{URL: base + "sitemap.txt"} }
	return append(rows, row{"a text sitemap that has lost line ends", []variant{
		{"all", joined("sitemap.txt", same, all, complete("sitemap.txt"))},
		{"one", joined("sitemap.txt", same, one, complete("sitemap.txt"))},
		{"one, gzipped", joined("sitemap.txt.gz", zipped, one, complete("sitemap.txt.gz"))},
		{"one, and it is not Complete", joined("sitemap.txt", same, one, windowed)},
	}})
}

// bodyRows are those of bodies that all become equal.
func bodyRows() []row {
	const maintenance = "<!DOCTYPE html><title>Back soon</title><p>We are down for maintenance."
	const login = `<!DOCTYPE html><title>Sign in</title><form method="post" action="/login"><input name="user"><input type="password"></form>`
	const challenge = `<!DOCTYPE html><title>Just a moment...</title><p>Checking your browser<script src="/cdn-cgi/challenge.js"></script>`
	equal := func(page, before, after string, set func(w *world)) func(w *world) {
		return func(w *world) {
			src := &sitemap.Source{URL: base + "sitemap.xml", Complete: true}
			old := entries("page", before, 40)
			now := old
			if after != before {
				now = changed(old, after)
			}
			w.pages(old...)
			w.serve("sitemap.xml", plain(urlset(old...)))
			w.inStep(w.run(src), "first run")
			w.holds("first run", old...)

			outage := func() {
				w.nextDay()
				set(w)
				w.serve("sitemap.xml", plain(urlset(now...)))
				for _, e := range now {
					w.serve(e.id, plain(page))
				}
				r, _ := w.tryRun(src)
				w.holdsTexts("all pages are one", old...)
				w.notInStep(r, "all pages are one")
			}
			outage()
			w.nextDay()
			r, _ := w.tryRun(src)
			w.notInStep(r, "all pages are one a day later, too")
			w.holdsTexts("all pages are one a day later, too", old...)

			w.pages(now...)
			w.heal(src, "the pages are back", now)

			// another outage, which is none: somebody approves
			old = now
			if after != before {
				now = changed(now, "2026-06-01T00:00:00Z")
			}
			for range 100 {
				w.nextDay()
			}
			outage()
			w.approve(src)
			var accepted []entry
			for _, e := range now {
				accepted = append(accepted, entry{e.id, e.time, page})
			}
			w.heal(src, "after the approval", accepted)
		}
	}
	// few are some pages that become equal, and others that change, too
	few := func(equal int) func(w *world) {
		return func(w *world) {
			src := &sitemap.Source{URL: base + "sitemap.xml", Complete: true}
			old := entries("page", longAgo, 40)
			w.pages(old...)
			w.serve("sitemap.xml", plain(urlset(old...)))
			w.inStep(w.run(src), "first run")

			w.nextDay()
			now := changed(old, today)
			for i := range equal {
				now[i].text = "<!DOCTYPE html><title>Moved</title><p>This page has moved."
			}
			w.pages(now...)
			w.serve("sitemap.xml", plain(urlset(now...)))
			w.inStep(w.run(src), "some pages have become equal")
			w.holds("some pages have become equal", now...)
		}
	}
	byDefault := func(*world) {}
	recheck := func(w *world) { w.harvester.Recheck = true }
	three := func(page string) []variant {
		return []variant{
			{"pages with a new lastmod", equal(page, longAgo, today, byDefault)},
			{"pages without lastmod", equal(page, "", "", byDefault)},
			{"pages that are rechecked", equal(page, longAgo, longAgo, recheck)},
		}
	}
	return []row{
		{"40 pages become one maintenance page", three(maintenance)},
		{"40 pages become one login page", three(login)},
		{"40 pages become one challenge", three(challenge)},
		{"some of 40 pages become equal, and that is believed", []variant{{"two", few(2)}, {"five", few(5)}, {"ten", few(10)}}},
	}
}

// heal runs, a day apart, until the Store holds entries, at most five times. The last run
// must be in step.
func (w *world) heal(src harvest.Source, when string, want []entry) {
	w.Helper()
	var r *harvest.Report
	for range 5 {
		w.nextDay()
		r = w.run(src)
		if r.InStep() {
			break
		}
	}
	w.inStep(r, when)
	w.holds(when, want...)
}
