package storetest

import (
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func idRules() []rule {
	return []rule{
		withWriter("odd", "An id is any string of bytes; no two different ones are the same.", idOdd),
		withWriter("longest", "Ids of MaxID bytes are taken, also when only the last byte differs.", func(w *writer) {
			long := strings.Repeat("\xff", harvest.MaxID-1)
			list := []string{long, long + "\x00", long + "a", long + "b"}
			title := func(id string) string { return id[len(id)-1:] }
			b := harvest.Batch{Touches: []harvest.Change{change(list[3], 0, websync.Deleted, "b")}}
			for _, id := range list[:3] {
				b.Puts = append(b.Puts, change(id, 0, websync.Created, title(id)))
				b.Tasks = append(b.Tasks, task("a", id, now()))
			}
			w.send(b)
			for i, r := range w.lookup("a", list...) {
				if r.Resource.ID != list[i] || r.Resource.Title != title(list[i]) {
					w.Errorf("the id that ends in %q came back with one that ends in %q", title(list[i]), r.Resource.Title)
				}
			}
			w.Same(list[2:], ids(w.records("a", list[1])), "Records after a long id")
			w.Same(list[1:3], ids(w.tasks("a", list[0])), "Tasks after a long id")
			w.done(harvest.TaskRef{ID: list[1]})
			w.Same(2, len(w.due("a", now(), 10)), "tasks that are due")
			w.delete(list[0])
			w.Same(list[1:3], ids(w.resources(websync.Range{})), "Resources")
		}),
		withWriter("long", "Long ids that no compression makes shorter are taken, also when they begin alike.", idLong),
		withWriter("too-long", "An id over MaxID bytes is ErrBatch, wherever it stands.", func(w *writer) {
			w.refusesID(strings.Repeat("x", harvest.MaxID+1))
		}),
		withWriter("empty", "An empty id is ErrBatch, wherever it stands.", func(w *writer) { w.refusesID("") }),
		withWriter("two-sources", "The same id in two sources is two records.", func(a *writer) {
			b := a.writer("b")
			for _, w := range []*writer{a, b} {
				w.put(change(uri1, 0, websync.Created, "of "+w.source))
				w.addTasks(task(w.source, uri1, now()))
			}
			a.update(uri1, "newer")
			b.touch(b.change(uri1, websync.Updated, "touched"))
			a.delete(uri1)
			a.Same("touched", b.record("b", uri1).Resource.Title, "title in the other source")
			a.Same(websync.Seq(2), b.record("b", uri1).Seq, "number in the other source")
			a.Same(1, len(b.resources(websync.Range{})), "resources")
			a.Same(4, len(b.checkLog()), "entries of the log")
		}),
		withStore("odd-sources", "Sources whose keys are odd, or begin with one another, do not mix.", idOddSources),
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

func idOdd(w *writer) {
	list := oddIDs()
	b := harvest.Batch{}
	for i, id := range list {
		c := change(id, 0, websync.Created, "title of "+id)
		if i%5 == 4 {
			c.Record.Kind = websync.Deleted
			b.Touches = append(b.Touches, c)
		} else {
			b.Puts = append(b.Puts, c)
		}
		b.Tasks = append(b.Tasks, task("a", id, time.Time{}))
	}
	w.send(b)
	for i, r := range w.lookup("a", list...) {
		if r.Resource.ID != list[i] || r.Resource.Title != "title of "+list[i] {
			w.Errorf("asked for %.60q, got %.60q %.60q", list[i], r.Resource.ID, r.Resource.Title)
		}
	}
	want := sorted(list)
	w.Same(want, ids(w.records("a", "")), "Records")
	w.Same(want, ids(w.tasks("a", "")), "Tasks")
	w.Same(len(b.Puts), len(w.checkLog()), "entries of the log")
	for i, it := range w.resources(websync.Range{}) {
		w.Same(b.Puts[i].Record.Resource.ID, it.Resource.ID, "id in Resources")
	}
	// One that is changed or done leaves the others as they are.
	w.update(list[0], "updated")
	w.done(harvest.TaskRef{ID: list[0]})
	for i, r := range w.lookup("a", list[1:]...) {
		w.Same("title of "+list[i+1], r.Resource.Title, "title of %.60q", list[i+1])
	}
	w.Same(len(list)-1, len(w.tasks("a", "")), "tasks")
}

// idLong uses ids as long as what indexes of databases can hold, and longer. They differ
// behind 2,500 bytes only.
func idLong(w *writer) {
	noise := func(size int, seed uint64) string { return string(pattern(size, seed)) }
	prefix := noise(2500, 1)
	var list []string
	for i, size := range []int{2700, 3000, harvest.MaxID, 2700, 3000, harvest.MaxID} {
		list = append(list, prefix+noise(size-len(prefix), uint64(2+i)))
	}
	b := harvest.Batch{}
	for _, id := range list {
		b.Puts = append(b.Puts, change(id, 0, websync.Created, "title of "+id))
		b.Tasks = append(b.Tasks, task("a", id, now()))
	}
	w.send(b)
	want := sorted(list)
	for i, r := range w.lookup("a", list...) {
		w.Same("title of "+list[i], r.Resource.Title, "title of an id of %d bytes", len(list[i]))
	}
	w.Same(want, ids(w.records("a", "")), "Records")
	w.Same(want[3:], ids(w.records("a", want[2])), "Records after a long id")
	w.Same(want, ids(w.tasks("a", "")), "Tasks")
	w.Same(len(list), len(w.due("a", now(), 10)), "tasks that are due")
	for i, id := range list {
		if i%2 == 0 {
			w.update(id, "updated")
			w.done(harvest.TaskRef{ID: id})
		} else {
			w.delete(id)
		}
	}
	w.Same([]string{list[0], list[2], list[4]}, ids(w.resources(websync.Range{})), "Resources")
	w.Same(sorted([]string{list[1], list[3], list[5]}), ids(w.tasks("a", "")), "tasks that are left")
	w.checkLog()
}

// refusesID checks that id is ErrBatch in every part of a Batch, and that nothing of the
// Batch is left.
func (w *writer) refusesID(id string) {
	w.Helper()
	w.create(uri1)
	for what, b := range map[string]harvest.Batch{
		"a Put":   {Puts: []harvest.Change{change(id, 0, websync.Created, "")}},
		"a Touch": {Touches: []harvest.Change{change(id, 0, websync.Deleted, "")}},
		"a Task":  {Tasks: []harvest.Task{task("a", id, now())}},
	} {
		b.Puts = append([]harvest.Change{w.change(uri1, websync.Updated, "too early")}, b.Puts...)
		b.State = map[string][]byte{"key": []byte("too early")}
		w.fails(w.c, w.batch(b), harvest.ErrBatch, "%s with an id of %d bytes", what, len(id))
	}
	w.update(uri1, "next")
}

func idOddSources(s *store) {
	keys := []string{
		"https://example.com/sitemap.xml", "https://example.com/sitemap.xml/", "https://example.com/sitemap", "https://example.com/%73itemap",
		"a", "a\x00", "a\x00b", "ab", "a/", "/", "\xff", "\xff\xff", "A", "ä", "\xe4", "%", "a b",
	}
	list := []string{"x", "b", "\x00", "b\x00x", "\x00x", "/x"}
	for _, key := range keys {
		w := s.writer(key)
		b := harvest.Batch{Checkpoint: &harvest.Checkpoint{Version: 1, Data: []byte(key)}}
		for _, id := range list {
			b.Puts = append(b.Puts, change(id, 0, websync.Created, key+" "+id))
			b.Tasks = append(b.Tasks, task(key, id, now()))
		}
		w.send(b)
	}
	head := s.head()
	for _, key := range keys {
		recs := s.records(key, "")
		s.Same(sorted(list), ids(recs), "Records of %q", key)
		for _, r := range recs {
			s.Same(key+" "+r.Resource.ID, r.Resource.Title, "title of %q in %q", r.Resource.ID, key)
			s.Same(key, r.Source, "Source")
		}
		s.Same(sorted(list), ids(s.tasks(key, "")), "Tasks of %q", key)
		s.Same(list, ids(s.changes(websync.Range{Sources: []string{key}})), "Changes of %q", key)
		s.Same(list, ids(s.resources(websync.Range{Sources: []string{key}})), "Resources of %q", key)
		s.Same(key, string(s.checkpoint(key).Data), "checkpoint of %q", key)
		s.Same(int64(len(list)), head.Live[key], "live records of %q", key)
	}
	s.Same(len(keys)*len(list), len(s.checkLog()), "entries of the log")
}
