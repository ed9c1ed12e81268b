package catalogtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/websync-go/websync"
)

func headRules() []rule {
	return []rule{
		{Name: "log", Check: headLog,
			Rule: "The Generation is at least 1; First, Last and their times are those of the log; numbers are dense from " +
				"1, times strictly increasing whole microseconds in UTC."},
		{Name: "live", Rule: "Live counts the live resources of each source.", Check: headLive},
		{Name: "born", Rule: "Head.Born is the greatest Born that any id has had.", Check: headBorn},
	}
}

func headLog(t *tester) { t.CheckLog(t.head(), t.log(websync.Range{})) }

func headLive(t *tester) {
	want := map[string]int64{}
	live := t.live(websync.Range{})
	for _, it := range live {
		want[it.Source]++
	}
	h := t.head()
	t.Same(want, h.Live, "Head.Live: ")
	t.Same(int64(len(live)), h.Total(), "Head.Total")
}

func headBorn(t *tester) {
	var born websync.Seq
	for _, it := range t.log(websync.Range{}) {
		born = max(born, it.Born)
	}
	if h := t.head(); h.Born < born {
		t.Errorf("Head.Born is %d, want at least %d, the Born of an entry of the log", h.Born, born)
	}
}

func logRules() []rule {
	return []rule{
		{Name: "entries", Check: logEntries,
			Rule: "An entry has an id, a kind and a source; a live one has a Born; the Born of an id stays, and no two " +
				"ids share one."},
		{Name: "prior", Check: logPrior,
			Rule: "The Prior of an entry is 0, or the number of the preceding entry of its id; Get and Resources have " +
				"that of the entry."},
		{Name: "range", Rule: "A Range of Changes yields the entries with After < Seq <= Until of its sources.", Check: logRange},
		{Name: "since", Rule: "A Range with Since yields the entries whose Time is not before it.", Check: logSince},
		{Name: "since-range", Check: logSinceRange,
			Rule: "A Range with Since and other limits yields the entries that are within all of them."},
		{Name: "generations", Check: logGenerations,
			Rule: "A Range may name the newest generation; an unknown one is ErrNotFound."},
	}
}

// A ref names a resource of a source.
type ref struct{ source, id string }

func refOf(it websync.Item) ref { return ref{it.Source, it.Resource.ID} }

func logEntries(t *tester) {
	born, owner := map[ref]websync.Seq{}, map[websync.Seq]ref{}
	for _, it := range t.some(t.log(websync.Range{}), "entries of the log") {
		r := refOf(it)
		if it.Resource.ID == "" || it.Source == "" {
			t.Errorf("entry %d has the id %q and the source %q, want both not empty", it.Seq, it.Resource.ID, it.Source)
		}
		if it.Kind > websync.Deleted {
			t.Errorf("entry %d has the kind %v, want created, updated or deleted", it.Seq, it.Kind)
		}
		if it.Born == 0 {
			if it.Kind != websync.Deleted {
				t.Errorf("entry %d (%v) has no Born; only a deletion of an unknown id has none", it.Seq, it.Kind)
			}
			continue
		}
		if was, ok := born[r]; ok && was != it.Born {
			t.Errorf("entry %d: the Born of %q is %d, want %d, as in earlier entries", it.Seq, r.id, it.Born, was)
		}
		if other, ok := owner[it.Born]; ok && other != r {
			t.Errorf("entry %d has the Born %d, which is that of %q", it.Seq, it.Born, other.id)
		}
		born[r], owner[it.Born] = it.Born, r
	}
}

func logPrior(t *tester) {
	last := map[ref]websync.Item{}
	for _, it := range t.some(t.log(websync.Range{}), "entries of the log") {
		before := last[refOf(it)].Seq
		if it.Prior != 0 && it.Prior != before {
			t.Errorf("entry %d has the Prior %d, want 0 or %d, the number of the preceding entry of %q",
				it.Seq, it.Prior, before, it.Resource.ID)
		}
		last[refOf(it)] = it
	}
	for _, it := range t.live(websync.Range{}) {
		t.Same(last[refOf(it)].Prior, it.Prior, "Prior of %q by Resources, compared with its last entry", it.Resource.ID)
	}
	for r, it := range last {
		t.Same(it.Prior, t.get(r.source, r.id)[0].Prior, "Prior of %q by Get, compared with its last entry", r.id)
	}
}

// ranges returns Ranges around the numbers of items, and some that are empty.
func ranges(items []websync.Item, number func(websync.Item) websync.Seq) []websync.Range {
	var sources []string
	for _, it := range items {
		if !slices.Contains(sources, it.Source) {
			sources = append(sources, it.Source)
		}
	}
	first, mid, last := number(items[0]), number(items[len(items)/2]), number(items[len(items)-1])
	all := []websync.Range{
		{}, {After: first}, {Until: first}, {After: first, Until: mid}, {After: mid}, {After: mid, Until: mid}, {After: last},
		{After: mid + 1, Until: mid}, {After: 1 << 62}, {After: first, Until: 1 << 62}, {Sources: []string{"unknown source"}},
		{Sources: sources}, {Sources: append([]string{"unknown source"}, sources...), After: first},
	}
	for _, s := range sources {
		all = append(all, websync.Range{Sources: []string{s}}, websync.Range{Sources: []string{s, s}, After: first, Until: mid})
	}
	return all
}

// in returns the items in a Range.
func in(r websync.Range, items []websync.Item, number func(websync.Item) websync.Seq) (in []websync.Item) {
	for _, it := range items {
		n := number(it)
		if n > r.After && (r.Until == 0 || n <= r.Until) && (len(r.Sources) == 0 || slices.Contains(r.Sources, it.Source)) {
			in = append(in, it)
		}
	}
	return in
}

func seq(it websync.Item) websync.Seq  { return it.Seq }
func born(it websync.Item) websync.Seq { return it.Born }

func logRange(t *tester) {
	log := t.some(t.log(websync.Range{}), "entries of the log")
	for _, r := range ranges(log, seq) {
		t.Same(in(r, log, seq), t.log(r), "Changes of %+v: ", r)
	}
}

// sinces returns times around those of entries, before the first and after the last.
func sinces(log []websync.Item) (all []time.Time) {
	for _, it := range []websync.Item{log[0], log[1%len(log)], log[len(log)/2], log[len(log)-1]} {
		all = append(all, it.Time.Add(-1), it.Time, it.Time.Add(1).In(time.FixedZone("", 3600)))
	}
	return append(all, time.Time{}, log[0].Time.AddDate(-2000, 0, 0), log[len(log)-1].Time.AddDate(200, 0, 0))
}

// since returns the items whose Time is not before t.
func since(t time.Time, items []websync.Item) (since []websync.Item) {
	for _, it := range items {
		if !it.Time.Before(t) {
			since = append(since, it)
		}
	}
	return since
}

func logSince(t *tester) {
	log, head := t.some(t.log(websync.Range{}), "entries of the log"), t.head()
	for _, at := range sinces(log) {
		want := since(at, log)
		t.Same(want, t.log(websync.Range{Since: at}), "Changes since %v: ", at)
		first, err := websync.FirstSince(t.Ctx, t.Catalog, head, at)
		t.OK(err, "FirstSince")
		t.Same(head.Last+1-websync.Seq(len(want)), first, "FirstSince of %v", at)
	}
}

func logSinceRange(t *tester) {
	log, generation := t.some(t.log(websync.Range{}), "entries of the log"), t.head().Generation
	for _, r := range ranges(log, seq) {
		for _, at := range sinces(log) {
			r.Since, r.Generation = at, generation
			t.Same(since(at, in(r, log, seq)), t.log(r), "Changes of %+v: ", r)
		}
	}
}

func logGenerations(t *tester) {
	h := t.head()
	t.Same(t.log(websync.Range{}), t.log(websync.Range{Generation: h.Generation}), "Changes of the newest generation: ")
	t.NoGeneration(t.Catalog, h.Generation+7, "an unknown generation")
}

func resourceRules() []rule {
	return []rule{
		{Name: "order", Rule: "Resources are live, in the order of Born, and each comes once.", Check: resourceOrder},
		{Name: "log", Check: resourceLog,
			Rule: "Resources yields the ids whose last entry of the log is no deletion, with its number, Born, time and kind."},
		{Name: "range", Check: resourceRange,
			Rule: "A Range of Resources yields those with After < Born <= Until of its sources."},
	}
}

func resourceOrder(t *tester) {
	var last websync.Seq
	seen := map[ref]bool{}
	for _, it := range t.some(t.live(websync.Range{}), "resources") {
		if it.Born <= last {
			t.Errorf("Resources yields Born %d after Born %d, want ascending order", it.Born, last)
		}
		if it.Kind == websync.Deleted || it.Resource.ID == "" || seen[refOf(it)] {
			t.Errorf("Resources yields %q of %q with the kind %v (yielded before: %t), want each live resource once",
				it.Resource.ID, it.Source, it.Kind, seen[refOf(it)])
		}
		last, seen[refOf(it)] = it.Born, true
	}
}

// numbers returns the fields of an item that come from its entry in the log.
func numbers(it websync.Item) string {
	return fmt.Sprint(it.Seq, it.Born, it.Time.UTC(), it.Kind, it.Source, it.Resource.ID)
}

func resourceLog(t *tester) {
	want := map[ref]string{}
	for _, it := range t.some(t.log(websync.Range{}), "entries of the log") {
		if it.Kind == websync.Deleted {
			delete(want, refOf(it))
		} else {
			want[refOf(it)] = numbers(it)
		}
	}
	got := map[ref]string{}
	for _, it := range t.live(websync.Range{}) {
		got[refOf(it)] = numbers(it)
	}
	for r := range got {
		if want[r] == "" {
			t.Errorf("Resources yields %q of %q, but the log has no live last entry of it", r.id, r.source)
		}
	}
	for r, entry := range want {
		if got[r] != entry {
			t.Errorf("%q of %q: Resources yields %q, want %q, as the log does", r.id, r.source, got[r], entry)
		}
	}
}

func resourceRange(t *tester) {
	live := t.some(t.live(websync.Range{}), "resources")
	for _, r := range ranges(live, born) {
		r.Since = live[len(live)-1].Time.AddDate(1, 0, 0) // for Changes only
		t.Same(in(r, live, born), t.live(r), "Resources of %+v: ", r)
	}
}

func getRules() []rule {
	return []rule{
		{Name: "order", Check: getOrder,
			Rule: "Get returns one item for each id given, in their order; the item of an unknown id is zero."},
		{Name: "log", Check: getLog,
			Rule: "Get returns the last entry of an id, live or deleted, and of a live one what Resources yields."},
	}
}

func getOrder(t *tester) {
	items := t.some(t.live(websync.Range{}), "resources")
	items = items[:min(20, len(items))]
	for _, it := range items {
		id := it.Resource.ID
		got := t.get(it.Source, "unknown", id, "", "also unknown", id)
		t.Same([]websync.Item{{}, it, {}, {}, it}, got, "Get of %q between unknown ids: ", id)
		t.Same(make([]websync.Item, 1), t.get("unknown source", id), "Get of %q in an unknown source: ", id)
	}
	var ids []string
	var want []websync.Item
	for _, it := range slices.Backward(items) {
		if it.Source == items[0].Source {
			ids, want = append(ids, it.Resource.ID), append(want, it)
		}
	}
	t.Same(want, t.get(items[0].Source, ids...), "Get of ids in reverse order: ")
	t.get(items[0].Source)
}

func getLog(t *tester) {
	last := map[ref]websync.Item{}
	for _, it := range t.some(t.log(websync.Range{}), "entries of the log") {
		last[refOf(it)] = it
	}
	for r, it := range last {
		t.Same(numbers(it), numbers(t.get(r.source, r.id)[0]), "Get of %q, compared with its last entry", r.id)
	}
	for _, it := range t.live(websync.Range{}) {
		t.Same(it, t.get(it.Source, it.Resource.ID)[0], "Get of %q, compared with Resources: ", it.Resource.ID)
	}
}
