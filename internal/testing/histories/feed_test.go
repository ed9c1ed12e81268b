package histories

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/harvest"
)

const feedURL = base + "feed"

// The formats of feeds.
const (
	atomWindow   = "Atom window"
	atomComplete = "Atom complete"
	atomArchive  = "Atom archive"
	rss          = "RSS"
	jsonFeed     = "JSON Feed"
)

// An item is an item of a feed.
type item struct {
	id, url  string
	version  int
	time     websync.Datetime
	position int // the higher, the later it was put to the top
}

// A feed publishes a feed.
type feed struct {
	h       *history
	format  string
	items   map[string]*item
	made    int
	moves   int
	limit   int
	size    int  // of the window, or of an archive document
	inline  bool // the entries have their content
	noDates bool // of RSS and JSON Feed
	noGUID  bool // of RSS: an item is known by its link
	byTime  bool // a window is ordered by the stated times
	// of an archive: what was published, oldest first
	history []entry
	dead    map[string]bool
}

func newFeed(h *history, rng *rand.Rand) *feed {
	f := &feed{
		h: h, format: []string{atomWindow, atomComplete, atomArchive, rss, jsonFeed}[rng.IntN(5)], items: map[string]*item{},
		limit: 10, size: 3 + rng.IntN(6), inline: rng.IntN(2) == 0, byTime: rng.IntN(2) == 0, dead: map[string]bool{},
	}
	switch {
	case h.only("list-swapped"):
		f.format = atomArchive
	case h.only("date-back") && f.format == atomArchive:
		f.format = atomWindow
	}
	if f.noDates = slices.Contains(h.kinds, "no-dates"); f.noDates && f.format != jsonFeed {
		f.format = rss
	}
	f.noGUID = f.format == rss && rng.IntN(3) == 0
	if !h.hides() && rng.IntN(2) == 0 {
		f.limit = 40
	}
	h.days = false // all formats state instants
	for i := range f.limit/3 + rng.IntN(f.limit/2) {
		if h.event(fmt.Sprint("page ", i)) {
			f.add()
		} else {
			f.made++
		}
	}
	return f
}

func (f *feed) String() string {
	return fmt.Sprintf("feed: %s of %d, inline %v, no dates %v, no guid %v, by time %v", f.format, f.size, f.inline, f.noDates, f.noGUID, f.byTime)
}

func (f *feed) source() harvest.Source {
	src := &atom.Source{URL: feedURL}
	if f.format == rss || f.format == jsonFeed {
		src.Parser = anyfeed.Parse
	}
	return src
}

func (f *feed) deletes() bool             { return f.format == atomComplete || f.format == atomArchive }
func (f *feed) log() bool                 { return f.format == atomArchive }
func (f *feed) tombstoned(id string) bool { return f.dead[id] }

func (f *feed) idOf(url string) string {
	if f.noGUID {
		return url
	}
	return "tag:example.org,2000:" + strings.TrimPrefix(url, base+"i/")
}

func (f *feed) add() string {
	f.made++
	url := fmt.Sprintf("%si/%d", base, f.made)
	it := &item{id: f.idOf(url), url: url, version: 1}
	f.items[it.id] = it
	it.time = f.now()
	f.top(it)
	return "adds " + it.id
}

func (f *feed) now() websync.Datetime {
	if f.noDates {
		return websync.Datetime{}
	}
	return f.h.now()
}

func (f *feed) top(it *item) {
	f.moves++
	it.position = f.moves
	f.history = append(f.history, f.entry(it))
}

func (it *item) content() string {
	return fmt.Sprintf("Text %s, version %d", short(it.url), it.version)
}

func (f *feed) entry(it *item) entry {
	e := entry{id: it.id, title: "Item " + short(it.url), link: it.url, time: it.time}
	if f.inline {
		e.content = it.content()
	}
	return e
}

func (f *feed) change(rng *rand.Rand, label string) string {
	ids := slices.Sorted(maps.Keys(f.items))
	action := rng.IntN(10)
	if len(ids) == 0 || action < 3 && len(ids) < f.limit {
		return f.add()
	}
	it := f.items[ids[rng.IntN(len(ids))]]
	if action < 5 && len(ids) > 2 {
		delete(f.items, it.id)
		f.h.srv.remove(it.url)
		if f.format == atomArchive {
			f.history = append(f.history, entry{id: it.id, time: f.h.now(), deleted: true})
			f.dead[it.id] = true
		}
		return "removes " + it.id
	}
	it.version++
	if !f.h.happens("date-same", label) {
		it.time = f.now()
		if f.format != atomArchive && !it.time.IsZero() && f.h.happens("date-back", label) {
			it.time = f.h.earlier(it.time, rng)
		}
	}
	f.top(it)
	return fmt.Sprintf("changes %s, %s", it.id, it.time)
}

// shown returns the documents of the feed by URL, and the newest of them.
func (f *feed) shown() map[string][]entry {
	if f.format == atomArchive {
		docs := map[string][]entry{}
		closed := max(0, len(f.history)-1) / f.size
		for i := range closed {
			docs[f.archiveURL(i)] = newestFirst(f.history[i*f.size : (i+1)*f.size])
		}
		docs[feedURL] = newestFirst(f.history[closed*f.size:])
		return docs
	}
	all := slices.SortedFunc(maps.Values(f.items), func(a, b *item) int { return b.position - a.position })
	if f.byTime {
		slices.SortStableFunc(all, func(a, b *item) int { return b.time.Compare(a.time) })
	}
	if f.format != atomComplete {
		all = all[:min(f.size, len(all))]
	}
	entries := []entry{}
	for i, it := range all {
		e := f.entry(it)
		entries = append(entries, e)
		if f.h.happens("duplicate", i) {
			e.title += ", another"
			if !f.noGUID {
				e.link += "-other"
				f.h.srv.put(e.link, []byte("another page"), nil)
			}
			if e.content != "" {
				e.content += ", or another"
			}
			entries = append(entries, e)
		}
	}
	return map[string][]entry{feedURL: entries}
}

func newestFirst(history []entry) []entry {
	doc := slices.Clone(history)
	slices.Reverse(doc)
	return doc
}

func (f *feed) archiveURL(i int) string { return fmt.Sprintf("%sarchive-%d", base, i) }

func (f *feed) publish() {
	for _, it := range f.items { // in any order
		f.h.srv.put(it.url, []byte(it.content()), nil)
	}
	docs := f.shown()
	for _, url := range slices.Sorted(maps.Keys(docs)) {
		f.h.srv.put(url, f.write(url, docs[url], len(docs)-1), docs[url])
	}
}

func (f *feed) siblings(url string) (others []string) {
	for u := range f.h.srv.lists {
		if u != url && strings.HasPrefix(u, base+"archive-") && url != feedURL {
			others = append(others, u)
		}
	}
	slices.Sort(others)
	return others
}

func (f *feed) render(url string, entries []entry) []byte {
	if f.format == atomArchive {
		return nil // an archive without entries is another archive
	}
	return f.write(url, entries, 0)
}

func (f *feed) write(url string, entries []entry, archives int) []byte {
	switch f.format {
	case rss:
		return f.writeRSS(entries)
	case jsonFeed:
		return f.writeJSON(entries)
	}
	var b bytes.Buffer
	b.WriteString(`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:fh="` + atom.HistoryNamespace + `" xmlns:at="` + atom.TombstoneNamespace + "\">\n")
	fmt.Fprintf(&b, "<id>tag:example.org,2000:feed</id><title>Feed</title><author><name>A</name></author>\n")
	updated := f.h.datetime(f.h.born)
	for _, e := range entries {
		if e.time.Compare(updated) > 0 {
			updated = e.time
		}
	}
	fmt.Fprintf(&b, "<updated>%s</updated><link rel=\"self\" href=\"%s\"/>\n", updated, url)
	previous := archives - 1
	if f.format == atomComplete {
		b.WriteString("<fh:complete/>\n")
	}
	if f.format == atomArchive && url != feedURL {
		var n int
		fmt.Sscanf(url, base+"archive-%d", &n)
		previous = n - 1
		fmt.Fprintf(&b, "<fh:archive/><link rel=\"current\" href=\"%s\"/>\n", feedURL)
	}
	if f.format == atomArchive && previous >= 0 {
		fmt.Fprintf(&b, "<link rel=\"prev-archive\" href=\"%s\"/>\n", f.archiveURL(previous))
	}
	for _, e := range entries {
		if e.deleted {
			fmt.Fprintf(&b, "<at:deleted-entry ref=\"%s\" when=\"%s\"/>\n", e.id, e.time)
			continue
		}
		fmt.Fprintf(&b, "<entry><id>%s</id><title>%s</title><updated>%s</updated><link href=\"%s\"/>", e.id, e.title, e.time, e.link)
		if e.content != "" {
			fmt.Fprintf(&b, "<content>%s</content>", e.content)
		}
		b.WriteString("</entry>\n")
	}
	b.WriteString("</feed>\n")
	return b.Bytes()
}

func (f *feed) writeRSS(entries []entry) []byte {
	var b bytes.Buffer
	b.WriteString(`<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>` + "\n")
	b.WriteString("<title>Feed</title><link>" + base + "</link><description>A feed</description>\n")
	for _, e := range entries {
		fmt.Fprintf(&b, "<item><title>%s</title><link>%s</link>", e.title, e.link)
		if !f.noGUID {
			fmt.Fprintf(&b, "<guid isPermaLink=\"false\">%s</guid>", e.id)
		}
		if !e.time.IsZero() {
			fmt.Fprintf(&b, "<pubDate>%s</pubDate>", e.time.Time().Format(time.RFC1123Z))
		}
		if e.content != "" {
			fmt.Fprintf(&b, "<content:encoded><![CDATA[%s]]></content:encoded>", e.content)
		}
		b.WriteString("</item>\n")
	}
	b.WriteString("</channel></rss>\n")
	return b.Bytes()
}

func (f *feed) writeJSON(entries []entry) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"version": "https://jsonfeed.org/version/1.1", "title": "Feed", "feed_url": %q, "items": [`, feedURL)
	for i, e := range entries {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "\n"+`{"id": %q, "title": %q, "url": %q`, e.id, e.title, e.link)
		if !e.time.IsZero() {
			fmt.Fprintf(&b, `, "date_published": %q`, e.time)
		}
		if e.content != "" {
			fmt.Fprintf(&b, `, "content_text": %q`, e.content)
		}
		b.WriteString("}")
	}
	b.WriteString("\n]}\n")
	return b.Bytes()
}

func (f *feed) damage(doc []byte, rng *rand.Rand) []byte {
	switch f.format {
	case rss:
		return damage(doc, rng, []string{"<item>", "</item>", "]]>", "</guid>", "<guid isPermaLink=\"false\">"})
	case jsonFeed: // another name of an id is no damage that a reader can notice
		return damage(doc, rng, []string{`"items"`, "},"})
	}
	return damage(doc, rng, []string{"<id>", "</id>", "<entry>", "</entry>", "</updated>"})
}

// listed returns the entries of a window, and of other feeds all.
func (f *feed) listed() map[string]want {
	all := map[string]want{}
	if f.format == atomArchive {
		for id, it := range f.items {
			all[id] = want{it.time, it.content()}
		}
		return all
	}
	for _, e := range f.shown()[feedURL] {
		it := f.items[e.id]
		all[e.id] = want{it.time, it.content()}
	}
	return all
}
