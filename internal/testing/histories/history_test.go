package histories

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// quietRuns is how many runs see a publisher that is quiet and truthful, at the end.
const quietRuns = 3

// A publisher is a model of one: it changes, and writes its documents.
type publisher interface {
	source() harvest.Source
	// change makes a random change, and returns what it was.
	change(rng *rand.Rand, label string) string
	// publish puts all documents on the server.
	publish()
	siblings(url string) []string
	// render writes a list with other entries; nil if there is no such document.
	render(url string, entries []entry) []byte
	damage(doc []byte, rng *rand.Rand) []byte
	// listed returns what the publisher lists now and a Store must have.
	listed() map[string]want
	// deletes reports whether what is not listed must go: by absence or by a tombstone.
	deletes() bool
	// log reports whether the lists are a log: an earlier state in them is history.
	log() bool
	// tombstoned reports whether the publisher has stated that the resource is deleted.
	tombstoned(id string) bool
}

// A want is what a Store must have of a resource.
type want struct {
	time    websync.Datetime // zero: any
	content string
}

// A violation is a broken invariant.
type violation struct {
	rule   string
	run    int
	detail string
}

// A history is a publisher, what it does, and all runs that harvest it. It follows from
// its family, its kinds of fault and its seed.
type history struct {
	family     string
	seed       uint64
	kinds      []string
	p          float64
	runs       int             // before the quiet ones
	suppressed map[string]bool // events that do not happen, to find what a failure needs
	transcript *strings.Builder

	skew, stated time.Duration // of the server's clock, and of the stated times against that
	days         bool          // times are stated as dates

	events    []string // those that happened
	happened  map[string]bool
	run       int
	quiet     bool
	srv       *server
	publisher publisher
	store     *harvest.Catalog
	stored    map[string]record // after the last run
	findings  []websync.Finding
	broken    []violation
	notes     []violation         // what the invariants do not demand
	fresh     map[string]*version // of each list, the last that was sent and was the truth
	relisted  map[string]bool     // what a list with bytes had in a quiet run
	born      time.Time
}

// draw returns a source of random numbers for one decision. It does not depend on the
// order in which decisions are made.
func (h *history) draw(what ...any) *rand.Rand {
	sum := fnv.New64a()
	fmt.Fprint(sum, h.family, h.run, what)
	return rand.New(rand.NewPCG(h.seed, sum.Sum64()))
}

// happens decides whether a fault happens in this run.
func (h *history) happens(kind string, what ...any) bool {
	if h.quiet || !slices.Contains(h.kinds, kind) {
		return false
	}
	if h.draw(append([]any{kind}, what...)...).Float64() >= h.p {
		return false
	}
	return h.event(fmt.Sprint("run ", h.run, " ", kind, " ", what))
}

// only reports whether the history has one kind of fault, which is one of these.
func (h *history) only(kinds ...string) bool {
	return len(h.kinds) == 1 && slices.Contains(kinds, h.kinds[0])
}

// hides reports whether a fault of the history may change bytes, or which of them the
// Store has, without a trace in a list.
func (h *history) hides() bool {
	return slices.ContainsFunc(h.kinds, func(k string) bool { return slices.Contains([]string{"date-same", "page-stale", "maintenance"}, k) })
}

// isUnseen reports whether nothing shows that the bytes of a resource have changed, and
// no run had to ask for it in spite of that: only a listing of all resources takes a
// sample of what seems unchanged, which neither a list that was not sent is, nor a feed.
func (h *history) isUnseen(id string) bool {
	_, feeds := h.publisher.(*feed)
	lags := slices.Contains(h.kinds, "page-lag") // since the resource is new
	return (h.hides() || slices.Contains(h.kinds, "no-dates") || feeds && lags) && (feeds || !h.relisted[id])
}

// event reports whether an event may happen, and notes it.
func (h *history) event(label string) bool {
	if h.suppressed[label] {
		return false
	}
	if !h.happened[label] {
		h.happened[label] = true
		h.events = append(h.events, label)
	}
	return true
}

// behind reports whether something that ends with a run has not ended.
func (h *history) behind(until int) bool { return !h.quiet && h.run < until }

// server returns the time by the clock of the server.
func (h *history) server() time.Time { return time.Now().Add(h.skew).UTC() }

// now returns the time that the publisher states for what happens now.
func (h *history) now() websync.Datetime { return h.datetime(h.server().Add(h.stated)) }

func (h *history) datetime(t time.Time) websync.Datetime {
	text := t.UTC().Format(time.RFC3339)
	if h.days {
		text = t.UTC().Format(time.DateOnly)
	}
	d, err := websync.ParseDatetime(text)
	if err != nil {
		panic(err)
	}
	return d
}

// earlier returns a time before d.
func (h *history) earlier(d websync.Datetime, rng *rand.Rand) websync.Datetime {
	if h.days {
		return h.datetime(d.Time().AddDate(0, 0, -1-rng.IntN(30)))
	}
	return h.datetime(d.Time().Add(-time.Hour * time.Duration(1+rng.IntN(48))))
}

func (h *history) say(format string, args ...any) {
	if h.transcript != nil {
		fmt.Fprintf(h.transcript, format+"\n", args...)
	}
}

func (h *history) fail(rule, format string, args ...any) {
	v := violation{rule, h.run, fmt.Sprintf(format, args...)}
	h.broken = append(h.broken, v)
	h.say("  !! %s: %s", rule, v.detail)
}

func (h *history) note(rule, format string, args ...any) {
	v := violation{rule, h.run, fmt.Sprintf(format, args...)}
	h.notes = append(h.notes, v)
	h.say("  ?? %s: %s", rule, v.detail)
}

// step makes a random change of the publisher.
func (h *history) step(what string, i int) {
	if label := fmt.Sprint("run ", h.run, " step ", what, " ", i); h.event(label) {
		h.say("  publisher: %s", h.publisher.change(h.draw("step", what, i), what+fmt.Sprint(i)))
	}
}

// play plays the history, in a bubble of package synctest.
func (h *history) play() {
	h.happened, h.fresh, h.relisted = map[string]bool{}, map[string]*version{}, map[string]bool{}
	rng := h.draw("settings")
	h.p = []float64{0.15, 0.3, 0.6}[rng.IntN(3)]
	if slices.Contains(h.kinds, "clocks") {
		h.skew = []time.Duration{-400 * 24 * time.Hour, -14 * time.Hour, -10 * time.Minute, -30 * time.Second,
			30 * time.Second, 10 * time.Minute, 14 * time.Hour, 400 * 24 * time.Hour}[rng.IntN(8)]
		h.stated = []time.Duration{0, -14 * time.Hour, -5 * time.Second, 5 * time.Second, time.Hour, 14 * time.Hour}[rng.IntN(6)]
	}
	h.days = slices.Contains(h.kinds, "days")
	s := &server{
		h: h, docs: map[string][]*version{}, gone: map[string]bool{}, lists: map[string]bool{}, sent: map[string]map[*version]bool{}, lagsUntil: map[string]int{},
		lists304: rng.IntN(4), pages304: rng.IntN(4), exact304: rng.IntN(2) == 0, dateThen: rng.IntN(2) == 0,
	}
	h.srv = s
	time.Sleep(time.Duration(rng.IntN(86400)) * time.Second)
	h.born = h.server()
	if h.family == "sitemap" {
		h.publisher = newSite(h, rng)
	} else {
		h.publisher = newFeed(h, rng)
	}
	h.say("seed %d, kinds %v, p %.2f, %d runs; validators of lists %d, of pages %d, exact %v; clocks %v, %v; dates %v\n%v",
		h.seed, h.kinds, h.p, h.runs, s.lists304, s.pages304, s.exact304, h.skew, h.stated, h.days, h.publisher)
	h.store = harvest.NewCatalog(memstore.New())
	for h.run = 1; h.run <= h.runs+quietRuns; h.run++ {
		rng := h.draw("run")
		h.quiet = h.run > h.runs
		gap := []time.Duration{time.Minute, time.Hour, 24 * time.Hour}[rng.IntN(3)]
		gap += time.Duration(rng.Int64N(int64(3 * gap)))
		if h.quiet {
			gap = 48*time.Hour + time.Duration(rng.Int64N(int64(48*time.Hour)))
		}
		if h.run == 1 {
			gap = time.Hour
		}
		if !h.quiet && !h.event(fmt.Sprint("run ", h.run)) {
			continue
		}
		time.Sleep(gap / 2)
		h.say("run %d, %v later, server's clock %s", h.run, gap.Truncate(time.Second), h.server().Add(gap/2).Format(time.DateTime))
		if !h.quiet && h.run > 1 {
			for i := range rng.IntN(4) {
				time.Sleep(time.Second)
				h.step("gap", i)
			}
		}
		s.mu.Lock()
		h.publisher.publish()
		s.answers, s.raced = nil, false
		s.mu.Unlock()
		time.Sleep(gap - gap/2)
		h.harvest()
	}
}

// harvest makes one run and checks what must hold after it.
func (h *history) harvest() {
	ctx, src := context.Background(), h.publisher.source()
	was := h.stored
	listed := h.publisher.listed()
	h.findings = nil
	var mu sync.Mutex
	harvester := &harvest.Harvester{Catalog: h.store, Fetcher: h.srv, Hooks: &harvest.Hooks{
		Finding: func(_ string, f websync.Finding) {
			mu.Lock()
			defer mu.Unlock()
			h.findings = append(h.findings, f)
		},
		Problem: func(_ string, err error) { h.say("  problem: %v", err) },
	}}
	report, err := harvester.Run(ctx, src)
	if err != nil {
		h.say("  error: %v", err)
	}
	is := h.records()
	h.stored = is
	if report != nil {
		h.say("  in step %v, complete %v, skipped %d, created %d, updated %d, deleted %d, touched %d, unchanged %d, failed %d, left %+v",
			report.InStep(), report.Complete, report.Skipped, report.Created, report.Updated, report.Deleted,
			report.Touched, report.Unchanged, report.Failed, report.Left)
		if report.Guard != nil {
			h.say("  guard: %s: %s", report.Guard.Rule, report.Guard.Message)
		}
	}
	for _, f := range h.findings {
		h.say("  finding: %v", f)
	}
	for _, id := range slices.Sorted(maps.Keys(is)) {
		if r := is[id]; r != was[id] {
			h.say("    Store: %s %s %q live %v", short(id), r.time, r.content, r.live)
		}
	}
	inStep := err == nil && report.InStep()
	h.checkDeletions(was, is, listed)
	if inStep {
		h.checkInStep(is)
	}
	if h.run == h.runs+quietRuns {
		h.checkEnd(is, inStep)
	}
	for _, a := range h.srv.answers {
		if h.srv.lists[a.url] && a.shown() {
			if a.how == "" {
				h.fresh[a.url] = a.v
			}
		}
		for _, e := range a.entries() {
			if h.quiet {
				h.relisted[e.id] = true
			}
		}
	}
}

// A record is what the Store has of a resource.
type record struct {
	live    bool
	time    websync.Datetime
	content string
}

// records returns what the Store has.
func (h *history) records() map[string]record {
	all := map[string]record{}
	for r, err := range h.store.Records(context.Background(), h.publisher.source().Key(), "") {
		if err != nil {
			panic(err)
		}
		rec := record{live: r.Live(), time: r.Stated.Modified}
		if b, ok := r.Body(websync.ContentName); ok && rec.live {
			f, err := h.store.Open(context.Background(), b)
			if err != nil {
				panic(err)
			}
			text, err := io.ReadAll(f)
			if err != nil {
				panic(err)
			}
			f.Close()
			rec.content = string(text)
		}
		all[r.Resource.ID] = rec
	}
	return all
}

func (h *history) withheld(id string) bool {
	task := testkit.TaskOf(testkit.Must, h.store, h.publisher.source().Key(), id)
	return task.Source != "" && task.Kind == harvest.TaskWithheld
}

func same(a, b websync.Datetime) bool {
	return a == b || a.Time().Equal(b.Time()) && !a.IsZero() && !b.IsZero()
}

// checkEnd checks that the Store equals a publisher that was quiet and truthful.
func (h *history) checkEnd(is map[string]record, inStep bool) {
	listed := h.publisher.listed()
	whole := true
	for _, id := range slices.Sorted(maps.Keys(listed)) {
		w, r := listed[id], is[id]
		switch {
		case !r.live:
			h.fail("I1 missing", "%s is listed and not in the Store", short(id))
		case !w.time.IsZero() && !same(w.time, r.time):
			h.fail("I1 time", "%s is listed with %s, the Store has %s", short(id), w.time, r.time)
		case w.content != r.content && h.inline():
			h.fail("I1 content", "%s has the text %q, the Store %q", short(id), w.content, r.content)
		case w.content != r.content && h.isUnseen(id):
			h.note("bytes of before", "%s has the bytes %q, the Store %q, which nothing shows", short(id), w.content, r.content)
			continue
		case w.content != r.content && !h.relisted[id]:
			h.fail("I1 bytes, no list sent", "%s has the bytes %q, the Store %q; each list was skipped or not modified", short(id), w.content, r.content)
		case w.content != r.content:
			h.fail("I1 bytes", "%s has the bytes %q, the Store %q", short(id), w.content, r.content)
		default:
			continue
		}
		whole = false
	}
	for _, id := range slices.Sorted(maps.Keys(is)) {
		if _, ok := listed[id]; ok || !is[id].live || !h.publisher.deletes() {
			continue
		}
		whole = false
		if !h.withheld(id) || inStep {
			h.fail("I1 not deleted", "%s is not listed and in the Store; withheld %v, in step %v", short(id), h.withheld(id), inStep)
		}
	}
	if _, ok := h.publisher.(*site); ok && !inStep && h.allRead() {
		for task, err := range h.store.Tasks(context.Background(), h.publisher.source().Key(), "") {
			if err != nil {
				panic(err)
			}
			id := task.Resource.ID
			if _, ok := listed[id]; !ok && !is[id].live && task.Kind == harvest.TaskGet {
				h.fail("I4 task", "the whole listing is without %s, the Store, too, and a task of it keeps the run out of step", short(id))
			}
		}
	}
	if whole && !inStep {
		h.note("never in step", "the Store equals the publisher and the last run is not in step")
	}
}

// allRead reports whether each list was answered with its bytes.
func (h *history) allRead() bool {
	for url := range h.srv.lists {
		if !slices.ContainsFunc(h.srv.answers, func(a answer) bool { return a.url == url && a.status == http.StatusOK }) {
			return false
		}
	}
	return true
}

// checkInStep checks that a run that is in step has what its answers showed.
func (h *history) checkInStep(is map[string]record) {
	listed := h.publisher.listed()
	times, texts := map[string][]websync.Datetime{}, map[string]map[string]bool{}
	current := map[string]bool{}
	for _, a := range h.srv.answers {
		if !h.srv.lists[a.url] || !a.shown() {
			continue
		}
		for _, e := range a.v.entries {
			now := a.v == h.srv.current(a.url) || strings.HasPrefix(a.how, "bad byte")
			if !now && !e.deleted {
				h.checkStale(is, listed, e, a)
				continue
			}
			key := e.id + " " + e.time.String()
			if texts[key] == nil {
				texts[key] = map[string]bool{}
			}
			if e.deleted {
				continue
			}
			times[e.id] = append(times[e.id], e.time)
			texts[key][e.content] = true
			current[e.id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(current)) {
		r := is[id]
		if h.publisher.log() {
			latest := slices.MaxFunc(times[id], websync.Datetime.Compare)
			if !r.live && !h.publisher.tombstoned(id) {
				h.fail("I2 missing", "in step, but %s was shown and is not in the Store", short(id))
			} else if r.live && r.time.Before(latest) {
				h.fail("I2 time", "in step, but %s was shown with %s, the Store has %s", short(id), latest, r.time)
			}
			continue
		}
		stated := slices.ContainsFunc(times[id], func(d websync.Datetime) bool { return d.IsZero() || same(d, r.time) })
		shown := texts[id+" "+r.time.String()]
		switch {
		case h.apart(id):
		case !r.live:
			h.fail("I2 missing", "in step, but %s was shown and is not in the Store", short(id))
		case !stated:
			h.fail("I2 time", "in step, but %s was shown with %v, the Store has %s", short(id), times[id], r.time)
		case shown != nil && !shown[""] && !shown[r.content]:
			h.fail("I2 content", "in step, but %s was shown with %v, the Store has %q", short(id), shown, r.content)
		}
	}
	h.checkBodies(is)
	h.checkDuplicates()
}

// checkStale checks an entry of a document that is not the present one: the Store may
// have what is later.
func (h *history) checkStale(is map[string]record, listed map[string]want, e entry, a answer) {
	r := is[e.id]
	if _, ok := listed[e.id]; ok && !r.live {
		h.fail("I2 missing", "in step, but %s was shown, by a %s document, and is not in the Store", short(e.id), a.how)
	} else if r.live && r.time.Before(e.time) && !slices.Contains(h.kinds, "date-back") {
		h.fail("I2 time", "in step, but %s was shown with %s, by a %s document, and the Store has %s", short(e.id), e.time, a.how, r.time)
	}
}

// checkBodies checks that the Store has the last bytes with which a page was answered.
func (h *history) checkBodies(is map[string]record) {
	last := map[string]answer{}
	for _, a := range h.srv.answers {
		if !h.srv.lists[a.url] && a.status == http.StatusOK {
			last[a.url] = a
		}
	}
	for _, url := range slices.Sorted(maps.Keys(last)) {
		a := last[url]
		id := h.idOf(url)
		if r := is[id]; r.live && !h.apart(id) && r.content != string(a.v.body) && !h.srv.later(a, r.content) {
			h.fail("I2 bytes", "in step, but %s was answered with %q, the Store has %q", short(id), a.v.body, r.content)
		}
	}
}

func (h *history) inline() bool {
	f, ok := h.publisher.(*feed)
	return ok && f.inline
}

func (h *history) idOf(url string) string {
	if f, ok := h.publisher.(*feed); ok {
		return f.idOf(url)
	}
	return url
}

// apart reports whether an id is only a link, and the Store has several records of it.
func (h *history) apart(id string) bool {
	n := 0
	for other, r := range h.stored {
		if r.live && other != id && strings.HasPrefix(other, id) && !strings.Contains("0123456789", other[len(id):len(id)+1]) {
			n++
		}
	}
	f, ok := h.publisher.(*feed)
	return ok && f.noGUID && n > 0
}

// checkDuplicates checks that two different states of one id and time in one document
// are a finding.
func (h *history) checkDuplicates() {
	for _, a := range h.srv.answers {
		if !h.srv.lists[a.url] || a.status != http.StatusOK {
			continue
		}
		seen := map[string]entry{}
		for _, e := range a.v.entries {
			key := e.id + " " + e.time.String()
			first, ok := seen[key]
			seen[key] = e
			later := slices.ContainsFunc(h.srv.answers, func(o answer) bool {
				return o.v != nil && slices.ContainsFunc(o.v.entries, func(x entry) bool { return x.id == e.id && x.time.After(e.time) })
			})
			if !ok || first == e || later || h.apart(e.id) || slices.ContainsFunc(h.findings, func(f websync.Finding) bool {
				return strings.Contains(f.Message+f.Value+f.Element, e.id)
			}) {
				continue
			}
			h.fail("I2 duplicate", "in step, without a finding that names %s, which %s has twice with other links or texts", short(e.id), short(a.url))
		}
	}
}

// checkDeletions checks that nothing was deleted that the publisher lists, unless
// nothing distinguishes the documents of this run from a truthful list without it.
func (h *history) checkDeletions(was map[string]record, is map[string]record, before map[string]want) {
	now := h.publisher.listed()
	for _, id := range slices.Sorted(maps.Keys(was)) {
		if !was[id].live || is[id].live {
			continue
		}
		if h.publisher.tombstoned(id) {
			continue
		}
		_, a := before[id]
		_, b := now[id]
		switch reason := h.doubt(); {
		case !h.publisher.deletes():
			h.fail("I3 deleted", "%s was deleted, and absence is no deletion", short(id))
		case !a || !b || h.srv.raced:
		case reason != "":
			h.fail("I3 deleted", "%s is listed and was deleted, although %s", short(id), reason)
		default:
			h.note("deleted, not distinguishable", "%s is listed and was deleted", short(id))
		}
	}
}

// doubt returns why the documents of this run can't be taken for the truth, compared
// with the last truthful ones; empty if nothing distinguishes them from it.
func (h *history) doubt() string {
	faulty := false
	shown := map[string]*version{}
	for _, a := range h.srv.answers {
		if h.srv.lists[a.url] && a.shown() {
			shown[a.url] = a.v
		}
		faulty = faulty || h.srv.lists[a.url] && a.how != ""
	}
	if !faulty {
		return "all documents were the present ones"
	}
	for _, url := range slices.Sorted(maps.Keys(shown)) {
		v, last := shown[url], h.fresh[url]
		if last == nil || v == last {
			continue
		}
		n, m := len(last.entries), len(v.entries)
		switch {
		case n > 0 && m == 0:
			return short(url) + " had entries and has none"
		case n > 10 && 2*m < n:
			return fmt.Sprintf("%s had %d entries and has %d", short(url), n, m)
		case h.srv.lists304&modifiedOnly != 0 && !v.modified.IsZero():
			if v.modified.Truncate(time.Second).Before(last.modified.Truncate(time.Second)) {
				return short(url) + " is older than before by its Last-Modified"
			}
		case v.newest().Compare(last.newest()) < 0 && !slices.Contains(h.kinds, "date-back"):
			return fmt.Sprintf("the newest entry of %s is %s, and was %s", short(url), v.newest(), last.newest())
		}
		for _, other := range h.publisher.siblings(url) {
			for _, w := range []*version{shown[other], h.fresh[other]} {
				if w != nil && m > 0 && slices.Equal(sorted(w.entries), sorted(v.entries)) {
					return short(url) + " equals " + short(other)
				}
			}
		}
	}
	return ""
}

func sorted(entries []entry) []entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return strings.Compare(a.id, b.id) })
}
