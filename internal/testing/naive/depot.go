package naive

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/fetch"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// FeedID is the id of the feed of a [Depot].
const FeedID = "tag:depot.example,2020:feed"

// Elements of a feed.
const (
	Complete = "<fh:complete/>"
	Archive  = "<fh:archive/>"
)

// A Profile is how a protocol writes and reads the items of a feed.
type Profile struct {
	// Source returns a Source of the feed at url, whose Key is [testkit.Src].
	Source func(url string) harvest.Source
	// Entry returns version v of an entry. Its links lead to the Docs of the name.
	Entry func(d *Depot, name string, v int) string
	// Docs are the extensions of the documents of an entry.
	Docs []string
	// Digests reports whether entries state the digests of their documents.
	Digests bool
	// Deletion returns the deletion of an entry at the time of version v.
	Deletion func(d *Depot, name string, v int) string
	// Deletes reports whether an entry is a deletion.
	Deletes func(e *Entry) bool
}

// A Depot is a publisher, on a [Web], and a Store that follows it. Its subscription
// document is /index.atom.
type Depot struct {
	*Web
	Profile   Profile
	Store     *harvest.Catalog
	Source    harvest.Source
	Harvester *harvest.Harvester

	t     testing.TB
	mu    sync.Mutex
	finds []websync.Finding
	gets  int // bodies that were obtained
}

// NewDepot returns a Depot without documents.
func NewDepot(t testing.TB, p Profile) *Depot {
	d := &Depot{Web: NewWeb(t), Profile: p, Store: harvest.NewCatalog(memstore.New()), t: t}
	client := fetch.New(nil)
	client.Rate, client.IgnoreRobots, client.Attempts = -1, true, -1
	client.OnAttempt = func(_ context.Context, a harvest.AttemptInfo) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if a.Status == 200 && !strings.HasSuffix(a.URL, ".atom") {
			d.gets++
		}
	}
	d.Source = p.Source(d.URL + "/index.atom")
	d.Harvester = &harvest.Harvester{Catalog: d.Store, Fetcher: client, MaxDelete: -1, Attempts: -1, Hooks: &harvest.Hooks{
		Finding: func(_ string, f websync.Finding) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.finds = append(d.finds, f)
		}}}
	return d
}

// Rules returns the rules of the findings since the last call.
func (d *Depot) Rules() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	rules := testkit.Rules(d.finds)
	d.finds = nil
	return rules
}

// obtained returns how many bodies were obtained since the last call.
func (d *Depot) obtained() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.gets
	d.gets = 0
	return n
}

// At returns the time of version v.
func At(v int) string {
	return time.Date(2020, 1, 1, 0, v, 0, 0, time.UTC).Format(time.RFC3339)
}

// Text returns version v of a document of an entry.
func Text(name, ext string, v int) string { return fmt.Sprintf("%s.%s, version %d", name, ext, v) }

// Now returns version v of an entry, and publishes its documents.
func (d *Depot) Now(name string, v int) string {
	for _, ext := range d.Profile.Docs {
		d.Put("/doc/"+name+"."+ext, Text(name, ext, v))
	}
	return d.Past(name, v)
}

// Past returns version v of an entry.
func (d *Depot) Past(name string, v int) string { return d.Profile.Entry(d, name, v) }

// Del returns the deletion of an entry.
func (d *Depot) Del(name string, v int) string { return d.Profile.Deletion(d, name, v) }

// Prev returns a link prev-archive.
func Prev(path string) string { return `<link rel="prev-archive" href="` + path + `"/>` }

// Feed publishes a document at path, of the time of version v. Head is what it has
// besides the usual.
func (d *Depot) Feed(path string, v int, head string, items ...string) {
	d.Put(path, d.Doc(path, v, head, items...))
}

// Doc returns such a document.
func (d *Depot) Doc(path string, v int, head string, items ...string) string {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b string) int { // tombstones come first
		return strings.Index(b, "at:deleted") - strings.Index(a, "at:deleted")
	})
	return fmt.Sprintf(`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0" xmlns:fh="http://purl.org/syndication/history/1.0" xmlns:dct="http://purl.org/dc/terms/" xmlns:le="http://purl.org/atompub/link-extensions/1.0">
<id>%s</id><title>Feed</title><updated>%s</updated><author><name>A</name><email>a@example.org</email></author><link rel="self" href="%s%s"/>%s
%s
</feed>
`, FeedID, At(v), d.URL, path, head, strings.Join(items, "\n"))
}

// Chain publishes n archive documents, /a0.atom the oldest, and the subscription
// document, of two entries each.
func (d *Depot) Chain(n int) {
	head := ""
	for i := range n + 1 {
		path, h := fmt.Sprintf("/a%d.atom", i), head+Archive
		if i == n {
			path, h = "/index.atom", head
		}
		d.Feed(path, 10*i+5, h, d.Now(fmt.Sprintf("doc%d", i), 10*i+1), d.Now(fmt.Sprintf("also%d", i), 10*i+2))
		head = Prev(path)
	}
}

// Truth is what a Store must hold: a replay of the feed as it is now.
func (d *Depot) Truth() map[string]string {
	d.t.Helper()
	feeds, err := Walk(d.URL+"/index.atom", Get)
	if err != nil {
		d.t.Fatal(err)
	}
	truth := map[string]string{}
	for id, s := range Latest(feeds) {
		if s.Entry == nil || d.Profile.Deletes != nil && d.Profile.Deletes(s.Entry) {
			continue
		}
		var parts []string
		for _, link := range slices.Concat(s.Entry.Content, s.Entry.Links) {
			if rel := link.Rel; rel == "alternate" || rel == "enclosure" || link.Src != "" {
				parts = append(parts, d.bytes(link.Href+link.Src))
			}
		}
		truth[id] = describe(s.Entry.Updated[0], strings.Join(s.Entry.Published, " "), parts)
	}
	return truth
}

func describe(updated, published string, parts []string) string {
	slices.Sort(parts)
	return strings.Join(append([]string{updated, published}, slices.Compact(parts)...), "; ")
}

func (d *Depot) bytes(url string) string {
	data, err := Get(url)
	if err != nil {
		return err.Error()
	}
	return strings.TrimPrefix(url, d.URL) + "=" + string(data)
}

// Held is what the Store holds.
func (d *Depot) Held() map[string]string {
	d.t.Helper()
	held := map[string]string{}
	for _, r := range testkit.All(d.t, d.Store.Records(d.t.Context(), testkit.Src, "")) {
		if !r.Live() {
			continue
		}
		var parts []string
		for _, b := range r.Bodies {
			parts = append(parts, strings.TrimPrefix(b.Link.Href, d.URL)+"="+testkit.Read(d.t, d.Store, b))
		}
		held[r.Resource.ID] = describe(r.Stated.Modified.String(), r.Resource.Published.String(), parts)
	}
	return held
}

// Harvest runs a harvest. All tasks are due.
func (d *Depot) Harvest() (*harvest.Report, error) {
	testkit.MakeDue(d.t, d.Store)
	return d.Harvester.Run(d.t.Context(), d.Source)
}

// Interrupted runs a harvest that ends at the request after n.
func (d *Depot) Interrupted(n int) {
	ctx, cancel := context.WithCancel(d.t.Context())
	defer cancel()
	var requests atomic.Int64
	d.Hook(func(string) {
		if requests.Add(1) > int64(n) {
			cancel()
		}
	})
	d.Harvester.Run(ctx, d.Source)
	d.Hook(nil)
}

// Sound runs a harvest that must bring the Store in step with the feed, and a second one
// that must change nothing.
func (d *Depot) Sound(step string) {
	d.t.Helper()
	d.InStep(step, d.Truth())
}

// InStep is Sound with what the Store must hold.
func (d *Depot) InStep(step string, want map[string]string) {
	d.t.Helper()
	d.run(step)
	d.equal(step, want)
	log := d.log()
	d.obtained()
	d.run(step + ", again")
	if got := d.log(); got != log {
		d.t.Errorf("%s, again: %d new entries of the log", step, got-log)
	}
	if n := d.obtained(); n > 0 {
		d.t.Errorf("%s, again: %d bodies are obtained anew", step, n)
	}
	d.equal(step+", again", want)
}

func (d *Depot) run(step string) {
	d.t.Helper()
	report, err := d.Harvest()
	if err != nil || !report.InStep() {
		d.t.Errorf("%s: not in step: %v; %s", step, err, summary(report))
	}
}

func (d *Depot) equal(step string, want map[string]string) {
	d.t.Helper()
	held := d.Held()
	if maps.Equal(want, held) {
		return
	}
	var lines []string
	for id := range maps.Keys(want) {
		if held[id] != want[id] {
			lines = append(lines, fmt.Sprintf("%s is %q, not %q", id, held[id], want[id]))
		}
	}
	for id := range held {
		if _, ok := want[id]; !ok {
			lines = append(lines, fmt.Sprintf("%s is still there: %q", id, held[id]))
		}
	}
	slices.Sort(lines)
	d.t.Errorf("%s: %d of %d ids differ: %s", step, len(lines), len(want), lines[0])
}

// id returns the id of an entry.
func (d *Depot) id(name string) string {
	f, err := Read(d.URL+"/", []byte(d.Doc("/", 0, "", d.Past(name, 0))))
	if err != nil {
		d.t.Fatal(err)
	}
	return f.Entries[0].ID[0]
}

// Bodies returns the URLs of the bodies that the Store holds of an id, without the host.
func (d *Depot) Bodies(id string) (urls []string) {
	for _, b := range testkit.RecordOf(d.t, d.Store, testkit.Src, id).Bodies {
		urls = append(urls, strings.TrimPrefix(b.Link.Href, d.URL))
	}
	slices.Sort(urls)
	return urls
}

func (d *Depot) log() int { return len(testkit.Entries(d.t, d.Store)) }

// Doubt runs a harvest that can't be in step. It must report that, and delete nothing.
func (d *Depot) Doubt(step string) {
	d.t.Helper()
	before := d.Held()
	report, err := d.Harvest()
	if err == nil && report.InStep() {
		d.t.Errorf("%s: in step", step)
	}
	after := d.Held()
	for id := range before {
		if _, ok := after[id]; !ok {
			d.t.Errorf("%s: %s was deleted", step, id)
		}
	}
}

func summary(r *harvest.Report) string {
	return fmt.Sprintf("complete %v, skipped %d, left %+v, problems %v, failures %v, guard %v", r.Complete, r.Skipped, r.Left, r.Problems, r.Failures, r.Guard)
}
