package storetest

import (
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func idCases() []rule {
	return []rule{
		{Name: "odd", Rule: "An id is any string of bytes; no two different ones are the same.", Check: idOdd},
		{Name: "longest", Rule: "Ids of MaxID bytes are taken, also when only the last byte differs.", Check: idLongest},
		{Name: "long", Rule: "Long ids that no compression makes shorter are taken, also when they begin alike.", Check: idLong},
		{Name: "too-long", Rule: "An id over MaxID bytes is ErrBatch, wherever it stands.", Check: idTooLong},
		{Name: "empty", Rule: "An empty id is ErrBatch, wherever it stands.", Check: idEmpty},
		{Name: "two-sources", Rule: "The same id in two sources is two records.", Check: idTwoSources},
		{Name: "odd-sources", Rule: "Sources whose keys are odd, or begin with one another, do not mix.", Check: idOddSources},
	}
}

// oddIDs returns ids that some encoding, collation or path would confuse or corrupt.
func oddIDs() []string {
	return []string{
		"https://example.com", "https://example.com/", "https://example.com//",
		"https://example.com/a", "https://example.com/A", "HTTPS://example.com/a",
		"https://example.com/a%2Fb", "https://example.com/a%2fb", "https://example.com/a/b", "https://example.com/a%252Fb",
		"https://example.com/%C3%A4", "https://example.com/ä", "https://example.com/a\u0308", "https://example.com/\xe4",
		"https://example.com/a?b", "https://example.com/a?b#", "https://example.com/a?b#c", "https://example.com/a+b", "https://example.com/a b",
		"tag:example.com,2026:1", "urn:x", "/", "//", ".", "..", "../x", "%", "%%", "%s", "_", "*", "'", "\"", "\\", "\\x00", ";--",
		"\x00", "\x00\x00", "a", "a\x00", "a\x00b", "a\x00\x00b", "\x00a", "\x01", "\xff", "\xff\xff", "\xfe\xff",
		"\xf0\x9f\x98", "\xed\xa0\x80", "\uFFFD", "\xc0\x80", "\ufeff", "\u202e", "0", "00", "-0", "1e3", "1000", "NULL", "null", "true",
		" ", " a", "a ", "\n", "\r\n", "\t", "a\n",
		strings.Repeat("k", 2048), strings.Repeat("k", 2049),
	}
}

func idOdd(t *tester) {
	w := t.open().writer("a")
	ids := oddIDs()
	b := w.batch()
	for i, id := range ids {
		c := change(id, 0, websync.Created, "title of "+id)
		if i%5 == 4 {
			c.Record.Kind = websync.Deleted
			b.Touches = append(b.Touches, c)
		} else {
			b.Puts = append(b.Puts, c)
		}
		b.Tasks = append(b.Tasks, task("a", id, time.Time{}))
	}
	w.apply(b)
	for i, r := range w.lookup("a", ids...) {
		if r.Resource.ID != ids[i] || r.Resource.Title != "title of "+ids[i] {
			t.Errorf("asked for %.60q, got %.60q %.60q", ids[i], r.Resource.ID, r.Resource.Title)
		}
	}
	want := sorted(ids)
	t.Same(want, recordIDs(w.records("a", "")), "Records")
	t.Same(want, taskIDs(w.tasks("a", "")), "Tasks")
	t.Same(len(b.Puts), len(w.checkLog()), "entries of the log")
	for i, it := range w.resources(websync.Range{}) {
		t.Same(b.Puts[i].Record.Resource.ID, it.Resource.ID, "id in Resources")
	}
	// One that is changed or done leaves the others as they are.
	w.update(ids[0], "updated")
	w.done(harvest.TaskRef{ID: ids[0]})
	for i, r := range w.lookup("a", ids[1:]...) {
		t.Same("title of "+ids[i+1], r.Resource.Title, "title of %.60q", ids[i+1])
	}
	t.Same(len(ids)-1, len(w.tasks("a", "")), "tasks")
}

func idLongest(t *tester) {
	w := t.open().writer("a")
	long := strings.Repeat("\xff", harvest.MaxID-1)
	ids := []string{long, long + "\x00", long + "a", long + "b"}
	b := w.batch()
	for _, id := range ids[:3] {
		b.Puts = append(b.Puts, change(id, 0, websync.Created, id[len(id)-1:]))
		b.Tasks = append(b.Tasks, task("a", id, now()))
	}
	b.Touches = []harvest.Change{change(ids[3], 0, websync.Deleted, "b")}
	w.apply(b)
	for i, r := range w.lookup("a", ids...) {
		if r.Resource.ID != ids[i] || r.Resource.Title != ids[i][len(ids[i])-1:] {
			t.Errorf("the id that ends in %q came back with one that ends in %q", ids[i][len(ids[i])-1:], r.Resource.Title)
		}
	}
	t.Same(ids[2:], recordIDs(w.records("a", ids[1])), "Records after a long id")
	t.Same(ids[1:3], taskIDs(w.tasks("a", ids[0])), "Tasks after a long id")
	w.done(harvest.TaskRef{ID: ids[1]})
	t.Same(2, len(w.due("a", now(), 10)), "tasks that are due")
	w.delete(ids[0])
	t.Same(ids[1:3], itemIDs(w.resources(websync.Range{})), "Resources")
}

// idLong uses ids as long as what indexes of databases can hold, and longer. They differ
// behind 2,500 bytes only.
func idLong(t *tester) {
	w := t.open().writer("a")
	noise := func(size int, seed uint64) string { return string(pattern(size, seed)) }
	prefix := noise(2500, 1)
	var ids []string
	for i, size := range []int{2700, 3000, harvest.MaxID, 2700, 3000, harvest.MaxID} {
		ids = append(ids, prefix+noise(size-len(prefix), uint64(2+i)))
	}
	b := w.batch()
	for _, id := range ids {
		b.Puts = append(b.Puts, change(id, 0, websync.Created, "title of "+id))
		b.Tasks = append(b.Tasks, task("a", id, now()))
	}
	w.apply(b)
	want := sorted(ids)
	for i, r := range w.lookup("a", ids...) {
		t.Same("title of "+ids[i], r.Resource.Title, "title of an id of %d bytes", len(ids[i]))
	}
	t.Same(want, recordIDs(w.records("a", "")), "Records")
	t.Same(want[3:], recordIDs(w.records("a", want[2])), "Records after a long id")
	t.Same(want, taskIDs(w.tasks("a", "")), "Tasks")
	t.Same(len(ids), len(w.due("a", now(), 10)), "tasks that are due")
	for i, id := range ids {
		if i%2 == 0 {
			w.update(id, "updated")
			w.done(harvest.TaskRef{ID: id})
		} else {
			w.delete(id)
		}
	}
	t.Same([]string{ids[0], ids[2], ids[4]}, itemIDs(w.resources(websync.Range{})), "Resources")
	t.Same(sorted([]string{ids[1], ids[3], ids[5]}), taskIDs(w.tasks("a", "")), "tasks that are left")
	w.checkLog()
}

// refusesID checks that id is ErrBatch in every place of a Batch, and that nothing of the
// Batch is left.
func refusesID(t *tester, id string) {
	w := t.open().writer("a")
	w.create(uri1)
	for _, b := range []struct {
		what string
		harvest.Batch
	}{
		{"a Put", harvest.Batch{Puts: []harvest.Change{change(id, 0, websync.Created, "")}}},
		{"a Touch", harvest.Batch{Touches: []harvest.Change{change(id, 0, websync.Deleted, "")}}},
		{"a Task", harvest.Batch{Tasks: []harvest.Task{task("a", id, now())}}},
	} {
		before := w.contents([]string{"a"}, []string{"key"})
		batch := w.batch()
		batch.Puts = append([]harvest.Change{w.change(uri1, websync.Updated, "too early")}, b.Puts...)
		batch.Touches, batch.Tasks = b.Touches, b.Tasks
		batch.State = map[string][]byte{"key": []byte("too early")}
		_, err := w.Commit(t.Ctx, w.c, batch)
		t.Is(err, harvest.ErrBatch, "%s with an id of %d bytes", b.what, len(id))
		t.Same(before, w.contents([]string{"a"}, []string{"key"}), "after ErrBatch: ")
	}
	w.update(uri1, "next")
}

func idTooLong(t *tester) { refusesID(t, strings.Repeat("x", harvest.MaxID+1)) }

func idEmpty(t *tester) { refusesID(t, "") }

func idTwoSources(t *tester) {
	a := t.open().writer("a")
	b := a.writer("b")
	for _, w := range []*writer{a, b} {
		w.put(change(uri1, 0, websync.Created, "of "+w.source))
		w.addTasks(task(w.source, uri1, now()))
	}
	a.update(uri1, "newer")
	b.touch(b.change(uri1, websync.Updated, "touched"))
	a.delete(uri1)
	t.Same("touched", b.record("b", uri1).Resource.Title, "title in the other source")
	t.Same(websync.Seq(2), b.record("b", uri1).Seq, "number in the other source")
	t.Same(1, len(b.resources(websync.Range{})), "resources")
	t.Same(4, len(b.checkLog()), "entries of the log")
}

func idOddSources(t *tester) {
	s := t.open()
	keys := []string{
		"https://example.com/sitemap.xml", "https://example.com/sitemap.xml/", "https://example.com/sitemap", "https://example.com/%73itemap",
		"a", "a\x00", "a\x00b", "ab", "a/", "/", "\xff", "\xff\xff", "A", "ä", "\xe4", "%", "a b",
	}
	ids := []string{"x", "b", "\x00", "b\x00x", "\x00x", "/x"}
	for _, key := range keys {
		w := s.writer(key)
		b := w.batch()
		b.Checkpoint = &harvest.Checkpoint{Version: 1, Data: []byte(key)}
		for _, id := range ids {
			b.Puts = append(b.Puts, change(id, 0, websync.Created, key+" "+id))
			b.Tasks = append(b.Tasks, task(key, id, now()))
		}
		w.apply(b)
	}
	head := s.head()
	for _, key := range keys {
		recs := s.records(key, "")
		t.Same(sorted(ids), recordIDs(recs), "Records of %q", key)
		for _, r := range recs {
			t.Same(key+" "+r.Resource.ID, r.Resource.Title, "title of %q in %q", r.Resource.ID, key)
			t.Same(key, r.Source, "Source")
		}
		t.Same(sorted(ids), taskIDs(s.tasks(key, "")), "Tasks of %q", key)
		t.Same(ids, itemIDs(s.changes(websync.Range{Sources: []string{key}})), "Changes of %q", key)
		t.Same(ids, itemIDs(s.resources(websync.Range{Sources: []string{key}})), "Resources of %q", key)
		t.Same(key, string(s.checkpoint(key).Data), "checkpoint of %q", key)
		t.Same(int64(len(ids)), head.Live[key], "live records of %q", key)
	}
	t.Same(len(keys)*len(ids), len(s.checkLog()), "entries of the log")
}
