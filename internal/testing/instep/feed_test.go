package instep

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
)

// An item is an entry of a feed in any format. Its content is inline.
type item struct {
	id, link, text string
	at             time.Time
}

func escaped(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

func rss(head string, items ...string) string {
	return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:atom="http://www.w3.org/2005/Atom" xmlns:fh="http://purl.org/syndication/history/1.0">
<channel><title>News</title><link>https://example.org/</link><description>News</description>` + head + "\n" + strings.Join(items, "\n") + "\n</channel></rss>\n"
}

// rssItem returns an item with the elements that are not empty.
func rssItem(it item, date string) string {
	var b strings.Builder
	b.WriteString("<item><title>" + escaped(it.text) + "</title>")
	if it.link != "" {
		b.WriteString("<link>" + it.link + "</link>")
	}
	if it.id != "" {
		b.WriteString(`<guid isPermaLink="false">` + it.id + "</guid>")
	}
	b.WriteString(date + "<content:encoded><![CDATA[" + it.text + "]]></content:encoded></item>")
	return b.String()
}

func pubDate(it item) string { return "<pubDate>" + it.at.Format(time.RFC1123Z) + "</pubDate>" }

func writeRSS(items ...item) string {
	var all []string
	for _, it := range items {
		all = append(all, rssItem(it, pubDate(it)))
	}
	return rss("", all...)
}

func writeDC(items ...item) string {
	var all []string
	for _, it := range items {
		all = append(all, rssItem(it, "<dc:date>"+it.at.Format(time.RFC3339)+"</dc:date>"))
	}
	return rss("", all...)
}

func jsonFeed(next string, items ...item) string {
	feed := map[string]any{"version": "https://jsonfeed.org/version/1.1", "title": "News", "feed_url": base + "feed"}
	if next != "" {
		feed["next_url"] = next
	}
	all := []map[string]any{}
	for _, it := range items {
		all = append(all, map[string]any{"id": it.id, "url": it.link, "title": it.text, "content_text": it.text, "date_published": it.at.Format(time.RFC3339)})
	}
	feed["items"] = all
	text, err := json.MarshalIndent(feed, "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

func writeJSON(items ...item) string { return jsonFeed("", items...) }

func writeAtom03(items ...item) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>News</title><link rel="alternate" type="text/html" href="https://example.org/"/>
<modified>2026-02-20T08:00:00Z</modified><author><name>A</name></author>`)
	for _, it := range items {
		fmt.Fprintf(&b, `<entry><title>%s</title><link rel="alternate" type="text/html" href="%s"/><id>%s</id><issued>%s</issued>
<content type="text/plain" mode="escaped">%[1]s</content></entry>`, escaped(it.text), it.link, it.id, it.at.Format(time.RFC3339))
	}
	b.WriteString("</feed>\n")
	return b.String()
}

func atomEntry(it item) string {
	return fmt.Sprintf(`<entry><title>%s</title><link rel="alternate" href="%s"/><id>%s</id><updated>%s</updated><content type="text">%[1]s</content></entry>`,
		escaped(it.text), it.link, it.id, it.at.Format(time.RFC3339))
}

// atomFeed returns a feed with more elements in its head.
func atomFeed(head string, items ...item) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:fh="http://purl.org/syndication/history/1.0"><id>urn:news</id><title>News</title>
<updated>2026-02-20T08:00:00Z</updated><author><name>A</name></author>` + head + "\n")
	for _, it := range items {
		b.WriteString(atomEntry(it) + "\n")
	}
	b.WriteString("</feed>\n")
	return b.String()
}

func writeAtom(items ...item) string { return atomFeed("", items...) }

// items returns items from the newest to the oldest, an hour apart.
func items(from, n int) (all []item) {
	for i := from; i < from+n; i++ {
		all = append(all, item{
			id: fmt.Sprintf("urn:item:%03d", i), link: fmt.Sprintf("https://example.org/item/%03d", i), text: fmt.Sprintf("text of item %d", i),
			at: time.Date(2026, 2, 20, 8, 0, 0, 0, time.UTC).Add(-time.Duration(i) * time.Hour),
		})
	}
	return all
}

func itemTexts(items ...item) (all []entry) {
	for _, it := range items {
		all = append(all, entry{it.id, "", it.text})
	}
	return all
}

// itemStates are itemTexts with the times that an Atom feed states.
func itemStates(items ...item) (all []entry) {
	for _, it := range items {
		all = append(all, entry{it.id, it.at.Format(time.RFC3339), it.text})
	}
	return all
}

func feedSource() *atom.Source { return &atom.Source{URL: base + "feed", Parser: anyfeed.Parse} }

// A move is what becomes of the date of an item, in as many steps.
type move struct {
	name  string
	steps []time.Duration
}

var moves = []move{
	{"an hour, as a corrected zone", []time.Duration{-time.Hour}},
	{"a year, as a corrected typing error", []time.Duration{-365 * 24 * time.Hour}},
	{"twice", []time.Duration{-2 * time.Hour, -3 * time.Hour}},
}

// feedRows are those of dates that move back.
func feedRows() []row {
	back := func(write func(items ...item) string, state func(items ...item) []entry) (all []variant) {
		for _, m := range moves {
			all = append(all, variant{m.name, func(w *world) {
				now := items(1, 5)
				check := w.holdsTexts
				if state(now...)[0].time != "" {
					check = w.holds
				}
				w.serve("feed", tagged(write(now...)))
				w.inStep(w.run(feedSource()), "first run")
				check("first run", state(now...)...)
				first := now[2].at
				for i, by := range m.steps {
					w.nextDay()
					now[2].at = first.Add(by)
					now[2].text = fmt.Sprintf("text %d of the item", i+2)
					w.serve("feed", tagged(write(now...)))
					w.inStep(w.run(feedSource()), "its date has moved back")
					check("its date has moved back", state(now...)...)
				}
				w.nextDay()
				r := w.run(feedSource())
				w.inStep(r, "nothing has changed")
				assert.Zero(w, r.Created+r.Updated, "nothing has changed: %s", brief(r))
				check("nothing has changed", state(now...)...)
			}})
		}
		return all
	}
	// in an archived feed: the item is in the subscription document
	var full []variant
	for _, m := range moves {
		full = append(full, variant{m.name, func(w *world) {
			now, old := items(1, 3), items(4, 3)
			archive := atomFeed(`<fh:archive/><link rel="self" href="https://example.org/archive"/><link rel="current" href="https://example.org/feed"/>`, old...)
			head := `<link rel="self" href="https://example.org/feed"/><link rel="prev-archive" href="https://example.org/archive"/>`
			w.serve("archive", tagged(archive))
			w.serve("feed", tagged(atomFeed(head, now...)))
			src := &atom.Source{URL: base + "feed"}
			w.inStep(w.run(src), "first run")
			w.holdsTexts("first run", itemTexts(append(now, old...)...)...)
			w.harvester.Full = true
			first := now[1].at
			for i, by := range m.steps {
				w.nextDay()
				now[1].at = first.Add(by)
				now[1].text = fmt.Sprintf("text %d of the item", i+2)
				w.serve("feed", tagged(atomFeed(head, now...)))
				w.inStep(w.run(src), "its date has moved back")
				w.holds("its date has moved back", itemStates(append(now, old...)...)...)
			}
		}})
	}
	bad := func(damage func(doc string) string) func(w *world) {
		return func(w *world) {
			now, old, oldest := items(1, 3), items(4, 3), items(7, 3)
			link := func(self, prev string) string {
				s := `<link rel="self" href="https://example.org/` + self + `"/>`
				if prev != "" {
					s += `<link rel="prev-archive" href="https://example.org/` + prev + `"/>`
				}
				if self != "feed" {
					s += `<fh:archive/><link rel="current" href="https://example.org/feed"/>`
				}
				return s
			}
			whole := atomFeed(link("archive2", "archive1"), old...)
			w.serve("archive1", tagged(atomFeed(link("archive1", ""), oldest...)))
			w.serve("archive2", tagged(damage(whole)))
			require.NotEqual(w, whole, damage(whole))
			w.serve("feed", tagged(atomFeed(link("feed", "archive2"), now...)))
			src := &atom.Source{URL: base + "feed"}
			r := w.run(src)
			require.Positive(w, r.Skipped, "first run: the damage must cost an entry: %s", brief(r))
			w.notInStep(r, "first run")

			w.nextDay()
			w.serve("archive2", tagged(whole))
			w.inStep(w.run(src), "the page is whole again")
			w.holdsTexts("the page is whole again", itemTexts(append(append(now, old...), oldest...)...)...)

			w.nextDay()
			r = w.run(src)
			w.inStep(r, "nothing has changed")
			assert.Zero(w, r.Created+r.Updated, "nothing has changed: %s", brief(r))
			assert.Zero(w, w.countAsked(func(u string) bool { return strings.Contains(u, "archive") }), "a whole archive must not be walked again")
		}
	}
	replace := func(old, new string) func(string) string {
		return func(doc string) string { return strings.Replace(doc, old, new, 1) }
	}
	return []row{
		{"RSS pubDate that moves back", back(writeRSS, itemTexts)},
		{"dc date that moves back", back(writeDC, itemTexts)},
		{"JSON Feed date_published that moves back", back(writeJSON, itemTexts)},
		{"Atom 0.3 issued that moves back", back(writeAtom03, itemTexts)},
		{"Atom updated that moves back in a window", back(writeAtom, itemStates)},
		{"Atom updated that moves back in an archived feed and a full run", full},
		{"an archive page that came once with a bad byte", []variant{
			{"that is not UTF-8, in a link", bad(replace("item/005", "item/0\xff5"))},
			{"a control character, in an id", bad(replace("urn:item:005", "urn:it\x01m:005"))},
			{"text between two entries", bad(replace("</entry>\n<entry><title>text of item 6", "</entry>x<entry><title>text of item 6"))},
		}},
	}
}

func pagingRows() []row {
	// walked checks that all items are there, or that the run says what it left out.
	walked := func(w *world, what string, words []string, all ...item) {
		w.Helper()
		r := w.run(feedSource())
		got := w.live(false)
		for _, it := range all {
			if got[it.id] == it.text {
				continue
			}
			said := !r.InStep()
			for _, word := range words {
				said = said || w.says(r, word)
			}
			assert.True(w, said, "%s: %s is not held, and nothing says that a document was left out; findings:%s", what, it.id, w.findingTexts())
			return
		}
		w.inStep(r, what)
	}
	chain := func(write func(rel, href string, items ...item) string, rel string, pages int) func(w *world) {
		return func(w *world) {
			var all []item
			for i := range pages {
				path, next := "feed", ""
				if i > 0 {
					path = fmt.Sprintf("feed-page%d", i+1)
				}
				if i+1 < pages {
					next = fmt.Sprintf("%sfeed-page%d", base, i+2)
				}
				page := items(1+3*i, 3)
				all = append(all, page...)
				w.serve(path, tagged(write(rel, next, page...)))
			}
			walked(w, "first run", []string{"feed-page2", rel}, all...)

			// changes that are more than the first page has
			w.nextDay()
			fresh := items(-3, 4)
			all = append(fresh, all...)
			for i := range pages {
				path, next := "feed", ""
				if i > 0 {
					path = fmt.Sprintf("feed-page%d", i+1)
				}
				if i+1 < pages {
					next = fmt.Sprintf("%sfeed-page%d", base, i+2)
				}
				end := min(3*i+3, len(all))
				if i+1 == pages {
					end = len(all)
				}
				w.serve(path, tagged(write(rel, next, all[3*i:end]...)))
			}
			walked(w, "more than a page is new", []string{"feed-page2", rel}, all...)
		}
	}
	atomLink := func(rel, href string, items ...item) string {
		head := ""
		if href != "" {
			head = `<link rel="` + rel + `" href="` + href + `"/>`
		}
		return atomFeed(head, items...)
	}
	rssLink := func(rel, href string, items ...item) string {
		head := ""
		if href != "" {
			head = `<atom:link rel="` + rel + `" href="` + href + `"/>`
		}
		var all []string
		for _, it := range items {
			all = append(all, rssItem(it, pubDate(it)))
		}
		return rss(head, all...)
	}
	// archived has an archive of as many documents, which never change
	archived := func(documents int) func(w *world) {
		return func(w *world) {
			document := func(path, prev string, items ...item) {
				doc := rssLink("prev-archive", prev, items...)
				if path != "feed" {
					doc = strings.Replace(doc, "<channel>", "<channel><fh:archive/>", 1)
				}
				w.serve(path, tagged(doc))
			}
			all := items(1, 3*documents+3)
			prev := ""
			for i := documents; i > 0; i-- {
				path := fmt.Sprintf("feed-archive%d", i)
				document(path, prev, all[3*i:3*i+3]...)
				prev = base + path
			}
			document("feed", prev, all[:3]...)
			walked(w, "first run", []string{"feed-archive1", "prev-archive"}, all...)

			w.nextDay()
			all = append(items(-3, 4), all...)
			document("feed-archive0", prev, all[3:7]...)
			document("feed", base+"feed-archive0", all[:3]...)
			walked(w, "one more archive document", []string{"feed-archive", "prev-archive"}, all...)
		}
	}
	jsonNext := func(_, href string, items ...item) string { return jsonFeed(href, items...) }
	complete := func(left int, head string) func(w *world) {
		return func(w *world) {
			all := items(1, 5)
			write := func(items ...item) string {
				var texts []string
				for _, it := range items {
					texts = append(texts, rssItem(it, pubDate(it)))
				}
				return rss(head, texts...)
			}
			w.serve("feed", tagged(write(all...)))
			w.inStep(w.run(feedSource()), "first run")
			w.holdsTexts("first run", itemTexts(all...)...)

			w.nextDay()
			w.serve("feed", tagged(write(all[:left]...)))
			r := w.run(feedSource())
			if got := w.live(false); len(got) != left {
				assert.True(w, !r.InStep() || w.says(r, "complete"),
					"the complete feed lists %d items, %d are held, and nothing says that fh:complete was not followed; findings:%s", left, len(got), w.findingTexts())
			} else {
				w.inStep(r, "the complete feed lists less")
			}
		}
	}
	variants := func(write func(rel, href string, items ...item) string, rel string) []variant {
		return []variant{
			{"two pages", chain(write, rel, 2)},
			{"three pages", chain(write, rel, 3)},
			{"seven pages", chain(write, rel, 7)},
		}
	}
	return []row{
		{"rel=next in Atom", variants(atomLink, "next")},
		{"rel=next in RSS", variants(rssLink, "next")},
		{"next_url in JSON Feed", variants(jsonNext, "next_url")},
		{"prev-archive in RSS", []variant{{"one archive document", archived(1)}, {"two archive documents", archived(2)}, {"six archive documents", archived(6)}}},
		{"fh complete in RSS", []variant{
			{"one is gone", complete(4, "<fh:complete/>")},
			{"two are gone", complete(3, "<fh:complete/>")},
			{"one is gone, with a link to itself", complete(4, `<fh:complete/><atom:link rel="self" href="https://example.org/feed"/>`)},
		}},
	}
}

// duplicateRows are those of several entries with one identity.
func duplicateRows() []row {
	// names reports whether one finding names two of the entries, by patterns for each.
	names := func(w *world, marks ...[]string) bool {
		for _, f := range w.findings {
			n := 0
			for _, m := range marks {
				if slices.ContainsFunc(m, func(mark string) bool { return regexp.MustCompile(mark).MatchString(findingText(f)) }) {
					n++
				}
			}
			if n >= 2 {
				return true
			}
		}
		return false
	}
	lineOf := func(doc, text string) string {
		i := strings.Index(doc, text)
		return fmt.Sprintf(`\b(lines?|and|,) %d\b`, 1+strings.Count(doc[:i], "\n"))
	}
	twoEntries := func(second item) func(w *world) {
		return func(w *world) {
			all := items(1, 5)
			second.id, second.at = all[1].id, all[1].at
			doc := writeAtom(append(all, second)...)
			w.serve("feed", tagged(doc))
			w.run(feedSource())
			assert.True(w, names(w, []string{all[1].link, lineOf(doc, all[1].text)}, []string{second.link, lineOf(doc, second.text)}),
				"a finding must name both entries with id %s; findings:%s", second.id, w.findingTexts())
		}
	}
	oneGUID := func(n int) func(w *world) {
		return func(w *world) {
			all := items(1, 3)
			var marks [][]string
			from := len(all)
			for _, it := range items(101, n) {
				it.id = "urn:the same"
				all = append(all, it)
			}
			doc := writeRSS(all...)
			for _, it := range all[from:] {
				marks = append(marks, []string{it.link, it.text, lineOf(doc, it.text)})
			}
			w.serve("feed", tagged(doc))
			w.run(feedSource())
			assert.True(w, names(w, marks...), "a finding must name two of the %d items with one guid; findings:%s", n, w.findingTexts())
		}
	}
	oneLink := func(n int, write func(items ...item) string) func(w *world) {
		return func(w *world) {
			all := items(1, n)
			for i := range all {
				all[i].id, all[i].link = "", "https://example.org/news"
			}
			w.serve("feed", tagged(write(all...)))
			r := w.run(feedSource())
			got := w.live(false)
			texts := map[string]bool{}
			for _, text := range got {
				texts[text] = true
			}
			if len(texts) == n {
				w.inStep(r, "the ids are told apart")
				// and they stay apart
				w.nextDay()
				r = w.run(feedSource())
				w.inStep(r, "nothing has changed")
				assert.Zero(w, r.Created+r.Updated+r.Deleted, "nothing has changed: %s", brief(r))
				// also when another one comes
				w.nextDay()
				all = append([]item{{link: all[0].link, text: "the newest", at: time.Date(2026, 2, 21, 8, 0, 0, 0, time.UTC)}}, all...)
				w.serve("feed", tagged(write(all...)))
				w.inStep(w.run(feedSource()), "another one")
				texts := slices.Collect(maps.Values(w.live(false)))
				var want []string
				for _, it := range all {
					want = append(want, it.text)
				}
				assert.ElementsMatch(w, want, texts, "another one")
				return
			}
			assert.GreaterOrEqual(w, r.Skipped, n-len(texts), "%d of %d items are held, so the others must count as skipped: %s", len(texts), n, brief(r))
			w.notInStep(r, "items are not held")
		}
	}
	without := func(items ...item) string {
		var all []string
		for _, it := range items {
			all = append(all, rssItem(it, ""))
		}
		return rss("", all...)
	}
	return []row{
		{"two Atom entries with one id and one time and different links", []variant{
			{"with the same text", twoEntries(item{link: "https://example.org/another", text: "text of item 2 "})},
			{"with another text", twoEntries(item{link: "https://example.org/another", text: "another text"})},
			{"on another host", twoEntries(item{link: "https://example.com/item", text: "of another host"})},
		}},
		{"RSS items with one guid", []variant{{"ten", oneGUID(10)}, {"two", oneGUID(2)}, {"three", oneGUID(3)}}},
		{"RSS items without guid and with one link", []variant{{"ten", oneLink(10, writeRSS)}, {"two", oneLink(2, writeRSS)}, {"three without dates", oneLink(3, without)}}},
	}
}

// damagedRows are those of damaged RSS.
func damagedRows() []row {
	all := items(1, 6)
	damaged := func(damage func(doc string) string) func(w *world) {
		return func(w *world) {
			whole := writeRSS(all...)
			require.NotEqual(w, whole, damage(whole))
			w.serve("feed", tagged(damage(whole)))
			r, err := w.tryRun(feedSource())
			if err == nil && len(w.live(false)) == len(all) && r.Skipped == 0 {
				w.holdsTexts("read in spite of the damage", itemTexts(all...)...)
			} else {
				if err == nil {
					assert.Positive(w, r.Skipped, "items have vanished, so they must count as skipped: %s", brief(r))
				}
				w.notInStep(r, "items have vanished")
			}

			w.nextDay()
			w.serve("feed", tagged(whole))
			w.inStep(w.run(feedSource()), "the feed is whole again")
			w.holdsTexts("the feed is whole again", itemTexts(all...)...)
		}
	}
	// lose loses the first s in item n
	lose := func(s string, n int, by string) func(w *world) {
		return damaged(func(doc string) string {
			i := strings.Index(doc, "<item><title>"+all[n].text)
			return doc[:i] + strings.Replace(doc[i:], s, by, 1)
		})
	}
	three := func(s, by string) []variant {
		return []variant{{"of the first item", lose(s, 0, by)}, {"of the third item", lose(s, 2, by)}, {"of the last but one item", lose(s, 4, by)}}
	}
	return []row{
		{"RSS that has lost the end of a CDATA section", three("]]>", "")},
		{"RSS that has lost an item start tag", three("<item>", "")},
		{"RSS with an early rss end tag", three("</item>", "</item></channel></rss>")},
		{"RSS with an early channel end tag", three("</item>", "</item></channel>")},
	}
}
