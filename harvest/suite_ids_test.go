package harvest_test

import (
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func idRules() []rule {
	return []rule{
		withWriter("odd", "An id is any string of bytes; no two different ones are the same.", func(w *writer) {
			list := oddIDs()
			w.putIDs(list, 5)
			// One that is changed or done leaves the others as they are.
			w.update(list[0], "updated")
			w.done(harvest.TaskRef{ID: list[0]})
			w.haveTitles(list[1:])
			w.Same(len(list)-1, len(w.tasks("a", "")), "tasks")
		}),
		withWriter("longest", "Ids of MaxID bytes are taken, also when only the last byte differs.", func(w *writer) {
			long := strings.Repeat("\xff", harvest.MaxID-1)
			list := []string{long, long + "\x00", long + "a", long + "b"}
			w.putIDs(list, 4)
			w.Same(list[2:], ids(w.records("a", list[1])), "Records after a long id")
			w.Same(list[1:], ids(w.tasks("a", list[0])), "Tasks after a long id")
			w.done(harvest.TaskRef{ID: list[1]})
			w.Same(3, len(w.due("a", now(), 10)), "tasks that are due")
			w.delete(list[0])
			w.Same(list[1:3], ids(w.resources(websync.Range{})), "Resources")
		}),
		withWriter("long", "Long ids that no compression makes shorter are taken, also when they begin alike.", func(w *writer) {
			// Indexes of databases can't hold ids that long. They begin to differ after
			// 2,500 bytes.
			noise := func(size int, seed uint64) string { return string(pattern(size, seed)) }
			prefix := noise(2500, 1)
			var list []string
			for i, size := range []int{2700, 3000, harvest.MaxID, 2700, 3000, harvest.MaxID} {
				list = append(list, prefix+noise(size-len(prefix), uint64(2+i)))
			}
			w.putIDs(list, len(list)+1)
			want := sorted(list)
			w.Same(want[3:], ids(w.records("a", want[2])), "Records after a long id")
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
		}),
		withWriter("not-allowed", "An id over MaxID bytes and an empty one are ErrBatch, wherever they stand.", func(w *writer) {
			w.create(uri1)
			for _, id := range []string{strings.Repeat("x", harvest.MaxID+1), ""} {
				for what, b := range map[string]harvest.Batch{
					"a Put":   {Puts: []harvest.Change{change(id, 0, websync.Created, "")}},
					"a Touch": {Touches: []harvest.Change{change(id, 0, websync.Deleted, "")}},
					"a Task":  {Tasks: []harvest.Task{task("a", id, now())}},
				} {
					b.Puts = append([]harvest.Change{w.change(uri1, websync.Updated, "too early")}, b.Puts...)
					b.State = map[string][]byte{"key": []byte("too early")}
					w.fails(w.c, w.batch(b), harvest.ErrBatch, "%s with an id of %d bytes", what, len(id))
				}
			}
			w.update(uri1, "next")
		}),
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
		withStore("odd-sources", "Sources whose keys are odd, or begin with one another, do not mix.", func(s *store) {
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
		}),
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

// putIDs commits a record and a task for each id, and checks that they come back. Every
// nth record is a tombstone without a number.
func (w *writer) putIDs(list []string, nth int) {
	w.Helper()
	b := harvest.Batch{}
	var live []string
	for i, id := range list {
		if c := change(id, 0, websync.Created, "title of "+id); i%nth == nth-1 {
			c.Record.Kind = websync.Deleted
			b.Touches = append(b.Touches, c)
		} else {
			b.Puts = append(b.Puts, c)
			live = append(live, id)
		}
		b.Tasks = append(b.Tasks, task("a", id, now()))
	}
	w.send(b)
	w.haveTitles(list)
	w.Same(sorted(list), ids(w.records("a", "")), "Records")
	w.Same(sorted(list), ids(w.tasks("a", "")), "Tasks")
	w.Same(len(list), len(w.due("a", now(), 2*len(list))), "tasks that are due")
	w.Same(live, ids(w.resources(websync.Range{})), "Resources")
	w.Same(live, ids(w.checkLog()), "the log")
}

// haveTitles checks that each id has the record that putIDs has given it.
func (w *writer) haveTitles(list []string) {
	w.Helper()
	for i, r := range w.lookup("a", list...) {
		w.ErrorIf(r.Resource.ID != list[i] || r.Resource.Title != "title of "+list[i], "Lookup of an id of %d bytes, %.60q: got %.60q with the title %.60q", len(list[i]), list[i], r.Resource.ID, r.Resource.Title)
	}
}
