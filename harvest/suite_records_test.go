package harvest_test

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

func recordRules() []rule {
	return []rule{
		withWriter("kinds", "A record has the Kind of its last Put; a deleted one stays as a tombstone with its description.", func(w *writer) {
			kinds := []websync.ChangeKind{
				websync.Created, websync.Updated, websync.Deleted, websync.Created, websync.Deleted, websync.Deleted, websync.Updated,
			}
			for _, kind := range kinds {
				title := "now " + kind.String()
				w.put(w.change(uri1, kind, title))
				r := w.record("a", uri1)
				w.ErrorIf(r.Kind != kind || r.Resource.Title != title || r.Resource.ID != uri1 || r.Source != "a", "got %v %q of %q, want %v %q of %q", r.Kind, r.Resource.Title, r.Source, kind, title, "a")
				live := map[bool]int{kind != websync.Deleted: 1}[true]
				w.Same(live, len(w.resources(websync.Range{})), "live resources")
			}
			for i, it := range suite.Exactly(w, len(kinds), w.checkLog(), "entries of the log") {
				w.Same(kinds[i], it.Kind, "Kind of entry %d", it.Seq)
			}
		}),
		withWriter("replaced", "A Put replaces the whole description: what it leaves out is gone.", func(w *writer) {
			w.put(harvest.Change{Record: w.filled(1, uri1)})
			bare := harvest.Record{Item: websync.Item{Resource: websync.Resource{ID: uri1}}}
			w.put(harvest.Change{Base: 1, Record: bare})
			r := w.record("a", uri1)
			bare.Seq, bare.Born, bare.Prior, bare.Time, bare.Source = 2, 1, 1, r.Time, "a"
			w.Same(bare, r, "after a Put with nothing but an id: ")
			w.touch(harvest.Change{Base: 2, Record: w.filled(2, uri1)})
			w.touch(harvest.Change{Base: 2, Record: bare})
			w.Same(bare, w.record("a", uri1), "after a Touch with nothing but an id: ")
		}),
		withWriter("touch", "A Touch changes the description and keeps Seq, Born, Prior, Time, Source and Kind.", func(w *writer) {
			w.create(uri1, uri2)
			w.delete(uri2)
			for _, id := range []string{uri1, uri2} {
				before := w.record("a", id)
				touched := w.filled(100, id)
				touched.Seq, touched.Born, touched.Prior, touched.Source, touched.Kind = 77, 78, 76, "elsewhere", websync.Deleted
				if before.Kind == websync.Deleted {
					touched.Kind = websync.Updated
				}
				w.touch(harvest.Change{Base: before.Seq, Record: touched})
				touched.Seq, touched.Born, touched.Prior, touched.Time = before.Seq, before.Born, before.Prior, before.Time
				touched.Source, touched.Kind = before.Source, before.Kind
				w.Same(touched, w.record("a", id), "after a Touch of %s: ", id)
				w.Same(touched.Item, w.get("a", id)[0], "Get after a Touch: ")
			}
			live := suite.Exactly(w, 1, w.resources(websync.Range{}), "live resources after Touches")
			w.Same(w.record("a", uri1).Item, live[0], "Resources after a Touch: ")
		}),
		withWriter("touch-base", "A Touch does not change the record's number: the next change has the same Base.", func(w *writer) {
			w.create(uri1)
			w.touch(change(uri1, 1, websync.Updated, "touched"))
			w.touch(change(uri1, 1, websync.Updated, "touched again"))
			w.put(change(uri1, 1, websync.Updated, "put"))
			w.conflict(w.batch(harvest.Batch{Touches: []harvest.Change{change(uri1, 1, websync.Updated, "too late")}}), uri1)
		}),
		withWriter("touch-unknown", "A Touch of an unknown id leaves a tombstone without numbers and without an entry.", func(w *writer) {
			w.create(uri1)
			head := w.head()
			tombstone := w.filled(1, uri2)
			tombstone.Kind = websync.Deleted
			w.touch(harvest.Change{Record: tombstone})
			r := w.record("a", uri2)
			tombstone.Seq, tombstone.Born, tombstone.Prior, tombstone.Time, tombstone.Source = 0, 0, 0, r.Time, "a"
			w.Same(tombstone, r, "the tombstone: ")
			w.ErrorIf(!r.Time.IsZero(), "a tombstone without a number has the commit time %v", r.Time)
			w.Same(r.Item, w.get("a", uri2)[0], "Get of a tombstone without a number: ")
			w.Same([]string{uri1, uri2}, ids(w.records("a", "")), "records")
			w.Same([]string{uri1}, ids(w.resources(websync.Range{})), "resources")
			w.Same(1, len(w.checkLog()), "entries of the log")
			w.Same(head, w.head(), "Head: ")
			w.conflict(w.batch(harvest.Batch{Touches: []harvest.Change{change(uri3, 1, websync.Deleted, "of an unknown record")}}), uri3)
		}),
		withWriter("touch-unknown-live", "A Touch of an unknown id that is not Deleted is ErrBatch.", func(w *writer) {
			for _, kind := range []websync.ChangeKind{websync.Updated, websync.Created} {
				w.fails(w.c, w.batch(harvest.Batch{
					Puts:    []harvest.Change{change(uri1, 0, websync.Created, "")},
					Touches: []harvest.Change{change(uri2, 0, kind, "")},
				}), harvest.ErrBatch, "a Touch of an unknown id, %v", kind)
			}
		}),
		withWriter("tombstone-again", "A Touch replaces a tombstone without a number; a Put with Base 0 makes it a record.", func(w *writer) {
			w.touch(change(uri1, 0, websync.Deleted, "first"), change(uri2, 0, websync.Deleted, "first"))
			w.touch(change(uri1, 0, websync.Deleted, "second"))
			r := w.record("a", uri1)
			w.ErrorIf(r.Seq != 0 || r.Born != 0 || r.Kind != websync.Deleted || r.Resource.Title != "second", "touched again: got number %d, Born %d, %v, %q", r.Seq, r.Born, r.Kind, r.Resource.Title)
			w.put(change(uri2, 0, websync.Created, "put"))
			r = w.record("a", uri2)
			w.ErrorIf(r.Seq != 1 || r.Born != 1 || r.Kind != websync.Created || !r.Live(), "put with Base 0: got number %d, Born %d, %v", r.Seq, r.Born, r.Kind)
			w.Same(map[string]int64{"a": 1}, w.head().Live, "Head.Live")
			w.Same(websync.Seq(1), w.head().Born, "Head.Born")
			w.Same(1, len(w.checkLog()), "entries of the log")
			w.conflict(w.batch(harvest.Batch{Puts: []harvest.Change{change(uri1, 1, websync.Created, "of a numbered record")}}), uri1)
		}),
		withWriter("head", "Head keeps the live counts of each source, and the first and last number with their times.", func(a *writer) {
			b := a.writer("b")
			for _, step := range []struct {
				inA, inB int64
				after    string
				commit   func()
			}{
				{0, 0, "nothing", func() {}},
				{2, 0, "two are created", func() { a.create(uri1, uri2) }},
				{2, 1, "one is put as updated, though it was unknown", func() { b.put(change(uri1, 0, websync.Updated, "")) }},
				{2, 1, "an update", func() { a.update(uri1, "again") }},
				{2, 1, "a Touch", func() { a.touch(a.change(uri1, websync.Updated, "touched")) }},
				{2, 1, "a Touch of an unknown id", func() { a.touch(change(uri3, 0, websync.Deleted, "")) }},
				{1, 1, "a deletion", func() { a.delete(uri1) }},
				{1, 1, "a Touch of a tombstone", func() { a.touch(a.change(uri1, websync.Deleted, "touched")) }},
				{1, 1, "a deletion of what is deleted", func() { a.delete(uri1) }},
				{2, 1, "a return", func() { a.create(uri1) }},
				{3, 1, "a Put of a tombstone without a number", func() { a.create(uri3) }},
				{3, 1, "a deletion of an unknown id", func() { a.delete(uri4) }},
				{3, 0, "the deletion of a source's last", func() { b.delete(uri1) }},
				{3, 0, "a deletion, an update and a creation in one Batch", func() {
					a.put(a.change(uri1, websync.Deleted, ""), a.change(uri2, websync.Updated, ""), change(uri5, 0, websync.Created, ""))
				}},
			} {
				step.commit()
				a.Same(map[string]int64{"a": step.inA, "b": step.inB}, a.head().Live, "Head.Live after %s: ", step.after)
				a.Same(step.inA+step.inB, a.head().Total(), "Head.Total after %s", step.after)
				a.checkLog()
			}
		}),
		withWriter("lookup", "Lookup and Get answer in the order of ids, each time an id is asked, and with zero for an unknown one.", func(w *writer) {
			w.create(uri1, uri2)
			w.delete(uri2)
			ask := []string{uri2, uri3, uri1, uri2, "", uri3, uri1, strings.Repeat("x", harvest.MaxID+1)}
			want := []string{uri2, "", uri1, uri2, "", "", uri1, ""}
			recs := w.lookup("a", ask...)
			w.Same(want, ids(recs), "ids of Lookup")
			items := w.get("a", ask...)
			for i, r := range recs {
				w.Same(r.Item, items[i], "Get and Lookup differ in %.60q: ", ask[i])
				if want[i] == "" {
					w.Same(harvest.Record{}, r, "the record of an unknown id: ")
				}
			}
			w.lookup("a")
			w.get("a")
			w.lookup("unknown", uri1)
			w.Same(websync.Item{}, w.get("unknown", uri1)[0], "an id of an unknown source: ")
		}),
		withWriter("lookup-many", "Lookup and Get take thousands of ids.", func(w *writer) {
			ask := w.createMany(1000)
			slices.Reverse(ask)
			for i := range 1500 {
				ask = append(ask, fmt.Sprintf("unknown %d", i))
			}
			want := append(ask[:1000:1000], make([]string, 1500)...)
			w.Same(want, ids(w.lookup("a", ask...)), "ids of Lookup")
			w.Same(want, ids(w.get("a", ask...)), "ids of Get")
		}),
		withWriter("resources", "Resources yields the live records in the order of Born; a Range limits Born and sources.", func(a *writer) {
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
				a.Same(r.want, ids(a.resources(r.r)), "Resources of %+v: ", r.r)
			}
			first := suite.Exactly(a, 5, a.resources(websync.Range{}), "resources")[0]
			a.Same(a.record("a", "z of a").Item, first, "the first resource is not its record: ")
			a.create("m of a")
			a.Same([]string{"z of a", "m of a", "a of a"}, ids(a.resources(websync.Range{Sources: []string{"a"}})), "after a return")
		}),
		withWriter("resources-long", "Resources of many pages, with gaps, are whole and in order.", func(w *writer) {
			var puts []harvest.Change
			var want []string
			for i, id := range w.createMany(1200) {
				if i%100 < 60 {
					puts = append(puts, change(id, websync.Seq(i+1), websync.Deleted, ""))
				} else {
					want = append(want, id)
				}
			}
			w.put(puts...)
			w.Same(want, ids(w.resources(websync.Range{})), "Resources")
			w.Same(want, ids(w.resources(websync.Range{Sources: []string{"b", "a"}})), "Resources of sources")
			w.Same(int64(len(want)), w.head().Total(), "live records")
		}),
		withWriter("byte-order", "Records yields ids greater than after in byte order, tombstones included.", func(w *writer) {
			list := []string{"\xff", "\xfe\xff", "z", "a/", "a", "B", "b", "ä", "A", "a\x00", "ab", "a%2F", "a%2f", "%", "0", "10", "9"}
			for _, id := range list {
				w.create(id)
			}
			w.delete("b")
			w.touch(change("numberless", 0, websync.Deleted, ""))
			w.inByteOrder(append(list, "numberless"), func(after string) []string { return ids(w.records("a", after)) })
			w.Same(0, len(w.records("a", "\xff\xff")), "records after the last")
		}),
		withWriter("every-field", "Every field of a Record comes back as it was put, in records and in the log.", func(w *writer) {
			r := w.filled(1, uri1)
			b := harvest.Batch{}
			for i := range r.Bodies {
				data := []byte(r.Bodies[i].Name)
				b.Bodies = append(b.Bodies, w.body(data))
				r.Bodies[i].Key = websync.SHA256(data)
			}
			b.Puts = []harvest.Change{{Record: r}}
			w.send(b)
			got := w.record("a", uri1)
			r.Seq, r.Born, r.Prior, r.Time, r.Source = 1, 1, 0, got.Time, "a"
			w.Same(r, got, "the record: ")
			w.Same(r.Item, w.get("a", uri1)[0], "Get: ")
			w.Same([]harvest.Record{r}, w.records("a", ""), "Records")
			w.Same([]websync.Item{r.Item}, w.changes(websync.Range{}), "Changes")
			w.Same([]websync.Item{r.Item}, w.resources(websync.Range{}), "Resources")
			for range 3 {
				r = w.filled(1000*int(r.Seq), uri1)
				w.put(harvest.Change{Base: got.Seq, Record: r})
				seq, born := got.Seq, got.Born
				got = w.record("a", uri1)
				r.Seq, r.Born, r.Prior, r.Time, r.Source = seq+1, born, seq, got.Time, "a"
				w.Same(r, got, "the record, filled otherwise: ")
			}
		}),
		withWriter("fingerprints", "Fingerprints has a Fingerprint of each live record and no other, as it is now.", func(a *writer) {
			b := a.writer("b")
			b.create(uri1, uri2)
			for i, step := range []func(){
				func() {},
				func() { a.create(uri1, uri2, uri3) },
				func() { a.put(harvest.Change{Base: 3, Record: a.filled(1, uri1)}) },
				func() { a.touch(harvest.Change{Base: 6, Record: a.filled(2, uri1)}) },
				func() { a.touch(change(uri4, 0, websync.Deleted, "")) },
				func() { a.delete(uri2) },
				func() { a.touch(a.change(uri2, websync.Deleted, "touched")) },
				func() { a.create(uri4) },
				func() { a.create(uri2) },
				func() { a.delete(uri3) },
				func() {
					a.compact()
					a.claimAgain()
				},
				func() {
					r := a.filled(3, uri4)
					r.Early = false
					a.touch(harvest.Change{Base: a.record("a", uri4).Seq, Record: r})
				},
				func() { a.update(uri1, "again") },
			} {
				step()
				if len(a.records("a", "")) != []int{0, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4}[i] || len(a.records("b", "")) != 2 {
					a.Errorf("step %d: %d and %d records", i, len(a.records("a", "")), len(a.records("b", "")))
				}
			}
		}),
		{Name: "fingerprint-key", Rule: "Each Store has a FingerprintKey of its own, which stays.", Check: func(t *tester) {
			var keys [2]harvest.FingerprintKey
			for i := range keys {
				w := t.open().writer("a")
				key := func() harvest.FingerprintKey {
					f, err := w.Fingerprints(w.Ctx, "a")
					w.OK(err, "Fingerprints")
					return f.Key
				}
				w.create(uri1)
				keys[i] = key()
				w.delete(uri1)
				w.Same(keys[i], key(), "the key, later: ")
			}
			t.FatalIf(keys[0] == keys[1], "two Stores have the same FingerprintKey, %x", keys[0])
		}},
		withWriter("extremes", "The greatest and smallest numbers come back.", func(w *writer) {
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
			w.Same(r, got, "the record: ")
			r.Stated.Hash = 1 << 63
			w.touch(harvest.Change{Base: 1, Record: r})
			w.Same(r, w.record("a", uri1), "the record: ")
		}),
		withWriter("datetimes", "Datetimes keep their precision and zone.", func(w *writer) {
			b := harvest.Batch{}
			for _, s := range datetimeTexts {
				d := datetime(w, s)
				c := change(s, 0, websync.Created, "")
				c.Record.At = d
				c.Record.Resource.Modified, c.Record.Resource.Published, c.Record.Resource.Content.Modified = d, d, d
				c.Record.Resource.Origin = &websync.Origin{Updated: d}
				b.Puts = append(b.Puts, c)
				b.Tasks = append(b.Tasks, harvest.Task{Source: "a", At: d, Resource: c.Record.Resource})
			}
			w.send(b)
			recs := w.lookup("a", datetimeTexts[:]...)
			log := suite.Exactly(w, len(recs), w.changes(websync.Range{}), "entries of the log")
			for i, task := range w.lookupTasks("a", datetimeTexts[:]...) {
				want := b.Puts[i].Record
				w.Same(want.At, recs[i].At, "At of the record")
				w.Same(want.Resource, recs[i].Resource, "the record: ")
				w.Same(want.At, log[i].At, "At of the entry")
				w.Same(want.Resource, log[i].Resource, "the entry: ")
				w.Same(want.At, task.At, "At of the task")
				w.Same(want.Resource, task.Resource, "the task: ")
			}
		}),
		withWriter("long-text", "Texts of a megabyte and thousands of links come back.", func(w *writer) {
			c := change(uri1, 0, websync.Created, "")
			c.Record.Resource.Summary = string(pattern(1<<20, 5))
			for i := range 3000 {
				c.Record.Resource.Links = append(c.Record.Resource.Links, websync.Link{Rel: "related", Href: fmt.Sprintf("%s/%d", uri1, i)})
			}
			w.put(c)
			w.Same(c.Record.Resource, w.record("a", uri1).Resource, "the record: ")
			w.Same(c.Record.Resource, suite.Exactly(w, 1, w.changes(websync.Range{}), "entries of the log")[0].Resource, "the entry: ")
		}),
	}
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

// inByteOrder checks that list returns those of all that are greater than after, in byte
// order.
func (t *tester) inByteOrder(all []string, list func(after string) []string) {
	t.Helper()
	want := sorted(all)
	t.Same(want, list(""), "ids in byte order")
	for i, id := range want {
		t.Same(want[i+1:], list(id), "ids after %q", id)
	}
	t.Same(want, list("\x00"), "ids after an id that is not there")
	t.Same(want, list("!"), "ids after another id that is not there")
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
