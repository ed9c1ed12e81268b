package instep

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/eli"
)

// An act has a date in the sitemap, one in the feed, and a text.
type act struct {
	number        int
	listed, moved string // if empty, it is not in this list
	text          string
}

func (a act) path() string { return fmt.Sprintf("eli/law/2026/%d", a.number) }

// acts serves the lists and the pages of acts.
func (w *world) acts(head string, acts ...act) {
	w.serve("eli/sitemap.xml", plain(urlset(listed(acts)...)))
	w.serve("eli/eli-update-feed.atom", plain(eliFeed(head, acts...)))
	w.actPages(acts...)
}

func listed(acts []act) (all []entry) {
	for _, a := range acts {
		if a.listed != "" {
			all = append(all, entry{a.path(), a.listed, ""})
		}
	}
	return all
}

func eliFeed(head string, acts ...act) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:eli:eli-update-feed</id><title>Updates</title><updated>2026-02-20T08:00:00Z</updated>
<author><name>Gazette</name></author>` + head + "\n")
	for _, a := range acts {
		if a.moved != "" {
			fmt.Fprintf(&b, "<entry><id>%s</id><title>Act %d</title><link href=\"%[1]s\"/><updated>%[3]s</updated></entry>\n", base+a.path(), a.number, a.moved)
		}
	}
	b.WriteString("</feed>\n")
	return b.String()
}

func (w *world) actPages(acts ...act) {
	for _, a := range acts {
		file := fmt.Sprintf("files/%d.html", a.number)
		w.serve(file, tagged(a.text))
		w.serve(a.path(), tagged(strings.NewReplacer("URI", base+a.path(), "FILE", base+file, "TEXT", a.text).Replace(`<!DOCTYPE html>
<html lang="en" prefix="eli: http://data.europa.eu/eli/ontology#"><body about="URI" typeof="eli:LegalResource">
<div rel="eli:is_realized_by"><div resource="URI/en" typeof="eli:LegalExpression">
<link property="eli:language" href="http://publications.europa.eu/resource/authority/language/ENG"><h1 property="eli:title">TEXT</h1>
<div rel="eli:is_embodied_by"><p resource="URI/en/html" typeof="eli:Format">
<link property="eli:media_type" href="https://www.iana.org/assignments/media-types/text/html">
<a property="eli:is_exemplified_by" href="FILE">Text</a></p></div></div></div></body></html>`)))
	}
}

func actTexts(acts ...act) (all []entry) {
	for _, a := range acts {
		all = append(all, entry{a.path(), "", a.text})
	}
	return all
}

func eliSource() *eli.Source {
	return &eli.Source{Sitemap: base + "eli/sitemap.xml", Feed: base + "eli/eli-update-feed.atom", Interval: -1}
}

func eliRows() []row {
	eight := func(oldest, newest, moved string, set func(w *world)) func(w *world) {
		return func(w *world) {
			var all []act
			for i := range 8 {
				a := act{i + 1, newest, "", fmt.Sprint("text of act ", i+1)}
				if i == 0 {
					a.listed, a.moved = oldest, moved
				} else if moved != "" {
					a.moved = moved
				}
				all = append(all, a)
			}
			w.acts("", all...)
			w.inStep(w.run(eliSource()), "first run")
			w.holdsTexts("first run", actTexts(all...)...)

			w.nextDay()
			w.nextDay()
			for i := range all {
				all[i].text = "new " + all[i].text
			}
			w.acts("", all...)
			set(w)
			w.inStep(w.run(eliSource()), "all pages have changed")
			w.holdsTexts("all pages have changed", actTexts(all...)...)
		}
	}
	recheck := func(w *world) { w.harvester.Recheck = true }
	full := func(w *world) { w.harvester.Full = true }

	// steps are the dates that the feed states of the act in later runs
	later := func(first act, others []act, steps ...string) func(w *world) {
		return func(w *world) {
			all := append([]act{first}, others...)
			w.acts("", all...)
			w.inStep(w.run(eliSource()), "first run")
			w.holdsTexts("first run", actTexts(all...)...)
			for i, at := range steps {
				w.nextDay()
				all[0].moved, all[0].text = at, fmt.Sprintf("text %d of the act", i+2)
				w.acts("", all...)
				w.inStep(w.run(eliSource()), "the feed states a change")
				w.holdsTexts("the feed states a change", actTexts(all...)...)
			}
		}
	}
	others := []act{{2, "2026-02-20T08:00:00Z", "2026-02-20T08:00:00Z", "text of act 2"}, {3, "2026-02-19T08:00:00Z", "2026-02-19T08:00:00Z", "text of act 3"}}
	day := []act{{2, "2026-02-20", "2026-02-20T08:00:00Z", "text of act 2"}, {3, "2026-02-19", "2026-02-19T08:00:00Z", "text of act 3"}}

	// paged has a feed of pages of three entries, the newest first
	paged := func(pages int, first, then func(all []act)) func(w *world) {
		return func(w *world) {
			var all []act
			for i := range 3 * pages {
				all = append(all, act{i + 1, "2026-02-20T09:00:00Z", fmt.Sprintf("2026-02-20T08:%02d:00Z", 59-i), fmt.Sprint("text of act ", i+1)})
			}
			check := func(what string) {
				w.Helper()
				w.acts("", all...)
				for i := range pages {
					path, head := "eli/eli-update-feed.atom", ""
					if i > 0 {
						path = fmt.Sprintf("eli/page%d.atom", i+1)
					}
					if i+1 < pages {
						head = fmt.Sprintf(`<link rel="next" href="%seli/page%d.atom"/>`, base, i+2)
					}
					w.serve(path, plain(eliFeed(head, all[3*i:3*i+3]...)))
				}
				r := w.run(eliSource())
				got := w.live(false)
				for _, a := range all {
					if got[a.path()] != a.text {
						assert.True(w, !r.InStep() || w.says(r, "page2") || w.says(r, "next"),
							"%s: act %d is not held as the feed has it, the run is in step, and nothing says that page 2 was left out; findings:%s", what, a.number, w.findingTexts())
						return
					}
				}
				w.inStep(r, what)
			}
			first(all)
			check("first run")
			w.nextDay()
			then(all)
			check("second run")
		}
	}
	nothing := func([]act) {}
	// the sitemap does not list what is on page 2 and later
	unlisted := func(all []act) {
		for i := range all[3:] {
			all[3+i].listed = ""
		}
	}
	// all but the first and the last two change; the sitemap does not show it yet, and
	// the feed is not in the order of its times, so that no page shows that the rest is
	// known
	many := func(all []act) {
		for i := range len(all) - 2 {
			if i > 0 {
				all[i].moved, all[i].text = fmt.Sprintf("2026-03-02T08:%02d:00Z", 59-i), fmt.Sprint("new text of act ", i+1)
			}
		}
	}
	// more change than a page has, and the sitemap has another date for one of them
	gap := func(all []act) {
		for i := range len(all) - 2 {
			all[i].moved, all[i].text = fmt.Sprintf("2026-03-02T08:%02d:00Z", 59-i), fmt.Sprint("new text of act ", i+1)
		}
		all[0].listed = all[0].moved
	}
	return []row{
		{"ELI Recheck asks for every act, those with the newest date of the sitemap too", []variant{
			{"days", eight("2026-02-19", "2026-02-20", "", recheck)},
			{"instants", eight("2026-02-19T08:00:00Z", "2026-02-20T08:00:00Z", "", recheck)},
			{"with the same dates in the feed", eight("2026-02-20", "2026-02-20", "2026-02-20T08:00:00Z", recheck)},
			{"with Full, as its share of what seems unchanged", eight("2026-02-19", "2026-02-20", "", full)},
		}},
		{"ELI the date of an act in the sitemap is later than in the feed", []variant{
			{"instants", later(act{1, "2026-03-01T09:00:00Z", "2026-02-20T10:00:00Z", "text of act 1"}, others, "2026-02-25T10:00:00Z")},
			{"two changes", later(act{1, "2026-03-01T09:00:00Z", "2026-02-20T10:00:00Z", "text of act 1"}, others, "2026-02-25T10:00:00Z", "2026-02-26T10:00:00Z")},
			{"a day", later(act{1, "2026-03-01", "2026-02-20T10:00:00Z", "text of act 1"}, day, "2026-02-25T10:00:00Z")},
			{"the act comes into the feed later", later(act{1, "2026-03-01T09:00:00Z", "", "text of act 1"}, others, "2026-02-25T10:00:00Z", "2026-02-26T10:00:00Z")},
		}},
		{"ELI the date of an act in the sitemap is local and that in the feed is UTC", []variant{
			{"the day after, east of Greenwich", later(act{1, "2026-02-25", "2026-02-24T16:30:00Z", "text of act 1"}, day, "2026-02-24T20:00:00Z")},
			{"the day after, and a change on that day", later(act{1, "2026-02-25", "2026-02-24T20:30:00Z", "text of act 1"}, day, "2026-02-25T03:00:00Z")},
			{"two changes on the day after", later(act{1, "2026-02-25", "2026-02-24T16:30:00Z", "text of act 1"}, day, "2026-02-24T20:00:00Z", "2026-02-24T23:00:00Z")},
			{"an hour, east of Greenwich", later(act{1, "2026-02-25T08:00:00", "2026-02-24T22:00:00Z", "text of act 1"}, day, "2026-02-25T01:00:00Z")},
			{"the same day", later(act{1, "2026-02-25", "2026-02-25T01:30:00Z", "text of act 1"}, day, "2026-02-25T20:00:00Z")},
			{"the day before, west of Greenwich", later(act{1, "2026-02-24", "2026-02-25T03:30:00Z", "text of act 1"}, day, "2026-02-25T04:00:00Z", "2026-02-25T05:00:00Z")},
		}},
		{"rel=next in an ELI feed", []variant{
			{"two pages, of which the second has acts that the sitemap lacks", paged(2, unlisted, nothing)},
			{"two pages, of which the first has an act that is known", paged(2, nothing, many)},
			{"three pages, and all of the first is new", paged(3, nothing, gap)},
			{"seven pages, and then the first has an act that is known", paged(7, unlisted, many)},
		}},
	}
}
