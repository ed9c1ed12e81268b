package storetest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

func recordCases() []rule {
	return []rule{
		{Name: "kinds", Rule: "A record has the Kind of its last Put; a deleted one stays as a tombstone with its description.", Check: recordKinds},
		{Name: "replaced", Rule: "A Put replaces the whole description: what it leaves out is gone.", Check: recordReplaced},
		{Name: "touch", Rule: "A Touch changes the description and keeps Seq, Born, Time, Source and Kind.", Check: recordTouch},
		{Name: "touch-base", Rule: "A Touch does not change the record's number: the next change has the same Base.", Check: recordTouchBase},
		{Name: "touch-unknown", Rule: "A Touch of an unknown id leaves a tombstone without numbers and without an entry.", Check: recordTouchUnknown},
		{Name: "touch-unknown-live", Rule: "A Touch of an unknown id that is not Deleted is ErrBatch.", Check: recordTouchUnknownLive},
		{Name: "tombstone-again", Rule: "A Touch replaces a tombstone without a number; a Put with Base 0 makes it a record.", Check: recordTombstoneAgain},
		{Name: "head", Rule: "Head keeps the live counts of each source, and the first and last number with their times.", Check: recordHead},
		{Name: "lookup", Rule: "Lookup and Get answer in the order of ids, each time an id is asked, and with zero for an unknown one.", Check: recordLookup},
		{Name: "lookup-many", Rule: "Lookup and Get take thousands of ids.", Check: recordLookupMany},
		{Name: "resources", Rule: "Resources yields the live records in the order of Born; a Range limits Born and sources.", Check: recordResources},
		{Name: "resources-long", Rule: "Resources of many pages, with gaps, are whole and in order.", Check: recordResourcesLong},
		{Name: "byte-order", Rule: "Records yields ids greater than after in byte order, tombstones included.", Check: recordByteOrder},
		{Name: "records-long", Rule: "Records of many pages are whole and in order, from any id on.", Check: recordsLong},
		{Name: "every-field", Rule: "Every field of a Record comes back as it was put, in records and in the log.", Check: recordEveryField},
		{Name: "extremes", Rule: "The greatest and smallest numbers come back.", Check: recordExtremes},
		{Name: "datetimes", Rule: "Datetimes keep their precision and zone.", Check: recordDatetimes},
		{Name: "long-text", Rule: "Texts of a megabyte and thousands of links come back.", Check: recordLongText},
	}
}

func recordKinds(t *tester) {
	w := t.open().writer("a")
	is := func(kind websync.ChangeKind, title string) {
		t.Helper()
		r := w.record("a", uri1)
		if r.Kind != kind || r.Resource.Title != title || r.Resource.ID != uri1 || r.Source != "a" {
			t.Errorf("got %v %q of %q, want %v %q of %q", r.Kind, r.Resource.Title, r.Source, kind, title, "a")
		}
		live := 0
		if kind != websync.Deleted {
			live = 1
		}
		t.Same(live, len(w.resources(websync.Range{})), "live resources")
	}
	for _, kind := range []websync.ChangeKind{
		websync.Created, websync.Updated, websync.Deleted, websync.Created, websync.Deleted, websync.Deleted, websync.Updated,
	} {
		title := "now " + kind.String()
		w.put(w.change(uri1, kind, title))
		is(kind, title)
	}
	log := w.checkLog()
	var kinds []string
	for _, it := range log {
		kinds = append(kinds, it.Kind.String())
	}
	t.Same([]string{"created", "updated", "deleted", "created", "deleted", "deleted", "updated"}, kinds, "kinds in the log")
}

// filled returns a record in which every field has a value. Its bodies have no Key.
func (t *tester) filled(n int, id string) harvest.Record {
	t.Helper()
	var r harvest.Record
	suite.Fill(t, n, &r)
	r.Resource.ID = id
	for i := range r.Bodies {
		r.Bodies[i].Key = websync.Digest{}
	}
	return r
}

func recordReplaced(t *tester) {
	w := t.open().writer("a")
	w.put(harvest.Change{Record: t.filled(1, uri1)})
	bare := harvest.Record{Item: websync.Item{Resource: websync.Resource{ID: uri1}}}
	w.put(harvest.Change{Base: 1, Record: bare})
	r := w.record("a", uri1)
	bare.Seq, bare.Born, bare.Time, bare.Source = 2, 1, r.Time, "a"
	t.Same(bare, r, "after a Put with nothing but an id: ")
	w.touch(harvest.Change{Base: 2, Record: t.filled(2, uri1)})
	w.touch(harvest.Change{Base: 2, Record: bare})
	t.Same(bare, w.record("a", uri1), "after a Touch with nothing but an id: ")
}

func recordTouch(t *tester) {
	w := t.open().writer("a")
	w.put(change(uri1, 0, websync.Created, "one"), change(uri2, 0, websync.Created, "two"))
	w.delete(uri2)
	for _, id := range []string{uri1, uri2} {
		before := w.record("a", id)
		touched := t.filled(100, id)
		touched.Seq, touched.Born, touched.Source, touched.Kind = 77, 78, "elsewhere", websync.Deleted
		if before.Kind == websync.Deleted {
			touched.Kind = websync.Updated
		}
		w.touch(harvest.Change{Base: before.Seq, Record: touched})
		touched.Seq, touched.Born, touched.Time = before.Seq, before.Born, before.Time
		touched.Source, touched.Kind = before.Source, before.Kind
		got := w.record("a", id)
		t.Same(touched, got, "after a Touch of %s: ", id)
		t.Same(touched.Item, w.get("a", id)[0], "Get after a Touch: ")
	}
	t.Same([]string{uri1}, itemIDs(w.resources(websync.Range{})), "live resources after Touches")
	t.Same(w.record("a", uri1).Item, suite.Exactly(t, 1, w.resources(websync.Range{}), "resources")[0], "Resources after a Touch: ")
}

func recordTouchBase(t *tester) {
	w := t.open().writer("a")
	w.create(uri1)
	w.touch(change(uri1, 1, websync.Updated, "touched"))
	w.touch(change(uri1, 1, websync.Updated, "touched again"))
	w.put(change(uri1, 1, websync.Updated, "put"))
	b := w.batch()
	b.Touches = []harvest.Change{change(uri1, 1, websync.Updated, "too late")}
	conflicts, err := w.Commit(t.Ctx, w.c, b)
	t.OK(err, "Commit")
	t.Same([]string{uri1}, conflicts, "conflicts of a Touch that was planned against the record before")
}

func recordTouchUnknown(t *tester) {
	w := t.open().writer("a")
	w.create(uri1)
	head := w.head()
	tombstone := t.filled(1, uri2)
	tombstone.Kind = websync.Deleted
	w.touch(harvest.Change{Record: tombstone})
	r := w.record("a", uri2)
	tombstone.Seq, tombstone.Born, tombstone.Time, tombstone.Source = 0, 0, r.Time, "a"
	t.Same(tombstone, r, "the tombstone: ")
	if !r.Time.IsZero() {
		t.Errorf("a tombstone without a number has the commit time %v", r.Time)
	}
	t.Same(r.Item, w.get("a", uri2)[0], "Get of a tombstone without a number: ")
	t.Same([]string{uri1, uri2}, recordIDs(w.records("a", "")), "records")
	t.Same([]string{uri1}, itemIDs(w.resources(websync.Range{})), "resources")
	t.Same(1, len(w.checkLog()), "entries of the log")
	t.Same(head, w.head(), "Head: ")
	conflicts, err := w.Commit(t.Ctx, w.c, &harvest.Batch{
		ID: [16]byte{1}, Source: "a", Touches: []harvest.Change{change(uri3, 1, websync.Deleted, "")},
	})
	t.OK(err, "Commit")
	t.Same([]string{uri3}, conflicts, "conflicts of a Touch of an unknown id that was planned against a record")
}

func recordTouchUnknownLive(t *tester) {
	w := t.open().writer("a")
	for _, kind := range []websync.ChangeKind{websync.Updated, websync.Created} {
		before := w.contents([]string{"a"}, nil)
		b := w.batch()
		b.Puts = []harvest.Change{change(uri1, 0, websync.Created, "")}
		b.Touches = []harvest.Change{change(uri2, 0, kind, "")}
		_, err := w.Commit(t.Ctx, w.c, b)
		t.Is(err, harvest.ErrBatch, "a Touch of an unknown id, %v", kind)
		t.Same(before, w.contents([]string{"a"}, nil), "after ErrBatch: ")
	}
}

func recordTombstoneAgain(t *tester) {
	w := t.open().writer("a")
	w.touch(change(uri1, 0, websync.Deleted, "first"), change(uri2, 0, websync.Deleted, "first"))
	w.touch(change(uri1, 0, websync.Deleted, "second"))
	r := w.record("a", uri1)
	if r.Seq != 0 || r.Born != 0 || r.Kind != websync.Deleted || r.Resource.Title != "second" {
		t.Errorf("touched again: got number %d, Born %d, %v, %q", r.Seq, r.Born, r.Kind, r.Resource.Title)
	}
	w.put(change(uri2, 0, websync.Created, "put"))
	r = w.record("a", uri2)
	if r.Seq != 1 || r.Born != 1 || r.Kind != websync.Created || !r.Live() {
		t.Errorf("put with Base 0: got number %d, Born %d, %v", r.Seq, r.Born, r.Kind)
	}
	t.Same(map[string]int64{"a": 1}, w.head().Live, "Head.Live")
	t.Same(websync.Seq(1), w.head().Born, "Head.Born")
	t.Same(1, len(w.checkLog()), "entries of the log")
	b := w.batch()
	b.Puts = []harvest.Change{change(uri1, 1, websync.Created, "")}
	conflicts, err := w.Commit(t.Ctx, w.c, b)
	t.OK(err, "Commit")
	t.Same([]string{uri1}, conflicts, "conflicts of a Put that took the tombstone for a numbered record")
}

func recordHead(t *tester) {
	a := t.open().writer("a")
	b := a.writer("b")
	live := func(inA, inB int64, what string) {
		t.Helper()
		t.Same(map[string]int64{"a": inA, "b": inB}, a.head().Live, "Head.Live after %s: ", what)
		t.Same(inA+inB, a.head().Total(), "Head.Total after %s", what)
		a.checkLog()
	}
	live(0, 0, "nothing")
	a.put(change(uri1, 0, websync.Created, ""), change(uri2, 0, websync.Created, ""))
	live(2, 0, "two are created")
	b.put(change(uri1, 0, websync.Updated, ""))
	live(2, 1, "one is put as updated, though it was unknown")
	a.update(uri1, "again")
	live(2, 1, "an update")
	a.touch(a.change(uri1, websync.Updated, "touched"))
	live(2, 1, "a Touch")
	a.touch(change(uri3, 0, websync.Deleted, ""))
	live(2, 1, "a Touch of an unknown id")
	a.delete(uri1)
	live(1, 1, "a deletion")
	a.touch(a.change(uri1, websync.Deleted, "touched"))
	live(1, 1, "a Touch of a tombstone")
	a.delete(uri1)
	live(1, 1, "a deletion of what is deleted")
	a.create(uri1)
	live(2, 1, "a return")
	a.create(uri3)
	live(3, 1, "a Put of a tombstone without a number")
	a.put(change(uri4, 0, websync.Deleted, ""))
	live(3, 1, "a deletion of an unknown id")
	b.delete(uri1)
	live(3, 0, "the deletion of a source's last")
	a.put(a.change(uri1, websync.Deleted, ""), a.change(uri2, websync.Updated, ""), change(uri5, 0, websync.Created, ""))
	live(3, 0, "a deletion, an update and a creation in one Batch")
}

func recordLookup(t *tester) {
	w := t.open().writer("a")
	w.put(change(uri1, 0, websync.Created, "one"), change(uri2, 0, websync.Created, "two"))
	w.delete(uri2)
	ids := []string{uri2, uri3, uri1, uri2, "", uri3, uri1, strings.Repeat("x", harvest.MaxID+1)}
	want := []string{uri2, "", uri1, uri2, "", "", uri1, ""}
	recs := w.lookup("a", ids...)
	t.Same(want, recordIDs(recs), "ids of Lookup")
	items := w.get("a", ids...)
	for i, r := range recs {
		t.Same(r.Item, items[i], "Get and Lookup differ in %q: ", ids[i])
		if want[i] == "" {
			t.Same(harvest.Record{}, r, "the record of an unknown id: ")
		}
	}
	w.lookup("a")
	w.get("a")
	w.lookup("unknown", uri1)
	t.Same(websync.Item{}, w.get("unknown", uri1)[0], "an id of an unknown source: ")
}

func recordLookupMany(t *tester) {
	w := t.open().writer("a")
	ids := w.createMany(1000)
	ask := slices.Clone(ids)
	slices.Reverse(ask)
	for i := range 1500 {
		ask = append(ask, fmt.Sprintf("unknown %d", i))
	}
	want := append(ask[:1000:1000], make([]string, 1500)...)
	t.Same(want, recordIDs(w.lookup("a", ask...)), "ids of Lookup")
	t.Same(want, itemIDs(w.get("a", ask...)), "ids of Get")
}

func recordResources(t *tester) {
	a := t.open().writer("a")
	b := a.writer("b")
	for _, id := range []string{"z", "m", "a"} {
		a.create(id + " of a")
		b.create(id + " of b")
	}
	a.update("z of a", "again")
	a.delete("m of a")
	for _, r := range []struct {
		r    websync.Range
		want []string
	}{
		{websync.Range{}, []string{"z of a", "z of b", "m of b", "a of a", "a of b"}},
		{websync.Range{Sources: []string{"a"}}, []string{"z of a", "a of a"}},
		{websync.Range{Sources: []string{"b", "a", "b"}}, []string{"z of a", "z of b", "m of b", "a of a", "a of b"}},
		{websync.Range{Sources: []string{"unknown"}}, nil},
		{websync.Range{Until: 4}, []string{"z of a", "z of b", "m of b"}},
		{websync.Range{After: 1, Until: 4}, []string{"z of b", "m of b"}},
		{websync.Range{After: 2, Until: 3}, nil},
		{websync.Range{After: 4, Sources: []string{"b"}}, []string{"a of b"}},
		{websync.Range{After: 6}, nil},
		{websync.Range{Until: 1 << 62, After: 5}, []string{"a of b"}},
	} {
		t.Same(r.want, itemIDs(a.resources(r.r)), "Resources of %+v: ", r.r)
	}
	first := suite.Exactly(t, 5, a.resources(websync.Range{}), "resources")[0]
	t.Same(a.record("a", "z of a").Item, first, "the first resource is not its record: ")
	a.create("m of a")
	t.Same([]string{"z of a", "m of a", "a of a"}, itemIDs(a.resources(websync.Range{Sources: []string{"a"}})), "after a return")
}

func recordResourcesLong(t *tester) {
	w := t.open().writer("a")
	ids := w.createMany(1200)
	b := w.batch()
	var want []string
	for i, id := range ids {
		if i%100 < 60 {
			b.Puts = append(b.Puts, change(id, websync.Seq(i+1), websync.Deleted, ""))
			continue
		}
		want = append(want, id)
	}
	w.apply(b)
	t.Same(want, itemIDs(w.resources(websync.Range{})), "Resources")
	t.Same(want, itemIDs(w.resources(websync.Range{Sources: []string{"b", "a"}})), "Resources of sources")
	t.Same(int64(len(want)), w.head().Total(), "live records")
}

func recordByteOrder(t *tester) {
	w := t.open().writer("a")
	ids := []string{"\xff", "\xfe\xff", "z", "a/", "a", "B", "b", "ä", "A", "a\x00", "ab", "a%2F", "a%2f", "%", "0", "10", "9"}
	for _, id := range ids {
		w.create(id)
	}
	w.delete("b")
	w.touch(change("numberless", 0, websync.Deleted, ""))
	want := sorted(append(ids, "numberless"))
	t.Same(want, recordIDs(w.records("a", "")), "ids in byte order")
	for i, id := range want {
		t.Same(want[i+1:], recordIDs(w.records("a", id)), "ids after %q", id)
	}
	t.Same(want, recordIDs(w.records("a", "\x00")), "ids after an id that is not there")
	t.Same(0, len(w.records("a", "\xff\xff")), "ids after the last")
}

func recordsLong(t *tester) {
	w := t.open().writer("a")
	ids := w.createMany(1200)
	t.Same(ids, recordIDs(w.records("a", "")), "Records")
	t.Same(ids[700:], recordIDs(w.records("a", ids[699])), "Records after the 700th")
	t.Same(ids[700:], recordIDs(w.records("a", ids[699]+"x")), "Records after an id that is not there")
}

func recordEveryField(t *tester) {
	w := t.open().writer("a")
	r := t.filled(1, uri1)
	b := w.batch()
	for i := range r.Bodies {
		data := []byte(r.Bodies[i].Name)
		b.Bodies = append(b.Bodies, w.body(data))
		r.Bodies[i].Key = websync.SHA256(data)
	}
	b.Puts = []harvest.Change{{Record: r}}
	w.apply(b)
	got := w.record("a", uri1)
	r.Seq, r.Born, r.Time, r.Source = 1, 1, got.Time, "a"
	t.Same(r, got, "the record: ")
	t.Same(r.Item, w.get("a", uri1)[0], "Get: ")
	t.Same([]harvest.Record{r}, w.records("a", ""), "Records")
	t.Same([]websync.Item{r.Item}, w.changes(websync.Range{}), "Changes")
	t.Same([]websync.Item{r.Item}, w.resources(websync.Range{}), "Resources")
	for range 3 {
		r = t.filled(1000*int(r.Seq), uri1)
		w.put(harvest.Change{Base: got.Seq, Record: r})
		seq, born := got.Seq, got.Born
		got = w.record("a", uri1)
		r.Seq, r.Born, r.Time, r.Source = seq+1, born, got.Time, "a"
		t.Same(r, got, "the record, filled otherwise: ")
	}
}

func recordExtremes(t *tester) {
	w := t.open().writer("a")
	r := harvest.Record{Stated: harvest.Stated{Hash: math.MaxUint64}}
	r.Resource.ID = uri1
	r.Resource.Content = websync.Link{Length: math.MaxInt64, Priority: math.MaxInt32}
	r.Resource.Links = []websync.Link{
		{Length: websync.StatedZero, Priority: math.MinInt32},
		{Length: math.MinInt64, Digests: websync.Digests{{Algorithm: "blake3", Sum: "not:hex \xff"}, {Algorithm: "md5"}}},
	}
	r.Resource.Origin = &websync.Origin{Title: "only a title"}
	w.put(harvest.Change{Record: r})
	got := w.record("a", uri1)
	r.Seq, r.Born, r.Time, r.Source = 1, 1, got.Time, "a"
	t.Same(r, got, "the record: ")
	r.Stated.Hash = 1 << 63
	w.touch(harvest.Change{Base: 1, Record: r})
	t.Same(r, w.record("a", uri1), "the record: ")
}

// datetimeTexts are of every precision and of every kind of zone.
var datetimeTexts = [...]string{
	"2024", "2024-02", "2024-02-29", "2024-02-29T12:30Z", "2024-02-29T12:30:15Z",
	"2024-02-29T12:30:15.1Z", "2024-02-29T12:30:15.10Z", "2024-02-29T12:30:15.100Z", "2024-02-29T12:30:15.0000Z",
	"2024-02-29T12:30:15.12345Z", "2024-02-29T12:30:15.123456Z", "2024-02-29T12:30:15.1234567Z",
	"2024-02-29T12:30:15.12345678Z", "2024-02-29T12:30:15.123456789Z",
	"2024-02-29T12:30+05:30", "2024-02-29T12:30:15-11:45", "2024-02-29T12:30:15.5+14:00",
	"2024-02-29T12:30:15+00:00", "2024-02-29T12:30:15-00:00",
	"2016-12-31T23:59:60Z", "2017-01-01T00:59:60.250+01:00",
	"1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "0001-01-01", "9999-12-31T23:59:59.999999999Z",
}

func recordDatetimes(t *tester) {
	w := t.open().writer("a")
	b := w.batch()
	want := make([]websync.Datetime, len(datetimeTexts))
	for i, s := range datetimeTexts {
		d := date(t, s)
		want[i] = d
		c := change(s, 0, websync.Created, "")
		c.Record.At, c.Record.Resource.Modified, c.Record.Resource.Published = d, d, d
		c.Record.Resource.Content.Modified = d
		c.Record.Resource.Origin = &websync.Origin{Updated: d}
		b.Puts = append(b.Puts, c)
		task := harvest.Task{Source: "a", At: d, Resource: c.Record.Resource}
		b.Tasks = append(b.Tasks, task)
	}
	w.apply(b)
	recs := w.lookup("a", datetimeTexts[:]...)
	log := suite.Exactly(t, len(recs), w.changes(websync.Range{}), "entries of the log")
	tasks := map[string]harvest.Task{}
	for _, task := range w.tasks("a", "") {
		tasks[task.Resource.ID] = task
	}
	for i, s := range datetimeTexts {
		task := tasks[s]
		for _, got := range []websync.Datetime{
			recs[i].At, recs[i].Resource.Modified, recs[i].Resource.Published, recs[i].Resource.Content.Modified,
			log[i].At, log[i].Resource.Modified, task.At, task.Resource.Modified,
		} {
			if got != want[i] {
				t.Errorf("got %v, want %s", got, s)
			}
		}
		if o := recs[i].Resource.Origin; o == nil || o.Updated != want[i] {
			t.Errorf("Origin of %s: got %v", s, o)
		}
	}
}

func recordLongText(t *tester) {
	w := t.open().writer("a")
	c := change(uri1, 0, websync.Created, "")
	c.Record.Resource.Summary = string(pattern(1<<20, 5))
	for i := range 3000 {
		c.Record.Resource.Links = append(c.Record.Resource.Links, websync.Link{Rel: "related", Href: fmt.Sprintf("%s/%d", uri1, i)})
	}
	w.put(c)
	t.Same(c.Record.Resource, w.record("a", uri1).Resource, "the record: ")
	t.Same(c.Record.Resource, suite.Exactly(t, 1, w.changes(websync.Range{}), "entries of the log")[0].Resource, "the entry: ")
}
