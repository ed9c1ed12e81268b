package harvest_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

func taskRules() []rule {
	return []rule{
		withWriter("every-field", "Every field of a Task comes back, from Tasks and from Due.", func(w *writer) {
			want := w.filledTasks(2)
			want[0].Base = 1 << 62
			want[1].Kind, want[1].Parked = harvest.TaskWithheld, true
			w.addTasks(want...)
			got := suite.Exactly(w, 2, w.tasks("a", ""), "tasks")
			for i := range got {
				w.ErrorIf(got[i].N == 0, "the N of a stored task is 0")
				want[i].N = got[i].N
				w.Same(want[i], got[i], "Tasks: ")
			}
			due := suite.Exactly(w, 1, w.due("a", now(), 10), "tasks that are due")
			w.Same(want[0], due[0], "Due: ")
		}),
		withWriter("times", "Due comes back in UTC, in whole microseconds: what is finer is cut off; zero stays zero.", func(w *writer) {
			want := map[string]time.Time{
				"zero":         {},
				"microseconds": now().Add(1 * time.Microsecond),
				"finer":        now().Add(999 * time.Nanosecond),
				"finer, early": time.Date(1969, 1, 2, 3, 4, 5, 6789, time.UTC),
				"milliseconds": now(),
				"seconds":      now().Truncate(time.Second),
				"long ago":     time.Date(1969, 1, 2, 3, 4, 5, 6000, time.UTC),
				"far":          time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
				"east":         now().In(time.FixedZone("", 3*3600)),
			}
			var tasks []harvest.Task
			for id, due := range want {
				tasks = append(tasks, task("a", id, due))
			}
			w.addTasks(tasks...)
			got := suite.Exactly(w, len(want), w.tasks("a", ""), "tasks")
			for _, task := range append(got, w.due("a", now(), len(want))...) {
				w.Same(want[task.Resource.ID].UTC().Truncate(time.Microsecond), task.Due, "Due of %q", task.Resource.ID)
			}
		}),
		withWriter("replace", "A Task replaces the one of its id, and gets another N each time.", func(w *writer) {
			seen := map[uint64]bool{0: true}
			for i := range 4 {
				task := task("a", uri1, now())
				task.Attempts = i
				if i == 0 {
					task.Error, task.Run = "of the first", [16]byte{1}
				}
				w.addTasks(task)
				task.N = w.newN(seen)
				w.Same(task, w.tasks("a", "")[0], "replaced %d times: ", i)
			}
		}),
		withWriter("done", "Done removes the task with this N, or any task if N is 0; a wrong N is ignored.", func(w *writer) {
			w.addTasks(task("a", uri1, now()), task("a", uri2, now()), task("a", uri3, now()))
			tasks := suite.Exactly(w, 3, w.tasks("a", ""), "tasks")
			w.addTasks(task("a", uri3, now()))
			parked, withheld := task("a", uri4, now()), task("a", uri5, now())
			parked.Parked, withheld.Kind = true, harvest.TaskWithheld
			w.addTasks(parked, withheld)
			w.done(harvest.TaskRef{ID: uri4}, harvest.TaskRef{ID: uri5})
			for _, step := range []struct {
				done []harvest.TaskRef
				what string
				left []string
			}{
				{[]harvest.TaskRef{{ID: uri1, N: tasks[0].N + 1000}}, "a wrong N", []string{uri1, uri2, uri3}},
				{[]harvest.TaskRef{{ID: uri5}, {ID: uri5, N: tasks[0].N}}, "unknown ids", []string{uri1, uri2, uri3}},
				{[]harvest.TaskRef{{ID: uri1, N: tasks[0].N}}, "the right N", []string{uri2, uri3}},
				{[]harvest.TaskRef{{ID: uri2}}, "N 0", []string{uri3}},
				{[]harvest.TaskRef{{ID: uri3, N: tasks[2].N}}, "the N before it was replaced", []string{uri3}},
				{[]harvest.TaskRef{{ID: uri3}, {ID: uri3}}, "the same id twice", nil},
			} {
				w.done(step.done...)
				w.Same(step.left, ids(w.tasks("a", "")), "tasks after %s: ", step.what)
				w.Same(len(step.left), len(w.due("a", now(), 10)), "due tasks after %s", step.what)
			}
		}),
		withWriter("done-before-tasks", "Done is applied before Tasks: a Task that replaces one that is done is dropped.", func(w *writer) {
			w.addTasks(task("a", uri1, now()), task("a", uri2, now()), task("a", uri4, now()))
			tasks := suite.Exactly(w, 3, w.tasks("a", ""), "tasks")
			early := task("a", uri1, now().Add(-time.Hour))
			early.Attempts = 1
			w.send(harvest.Batch{
				Tasks: []harvest.Task{early, task("a", uri2, now()), task("a", uri3, now()), tasks[2]},
				Done:  []harvest.TaskRef{{ID: uri1}, {ID: uri2, N: tasks[1].N}, {ID: uri3}, {ID: uri4}},
			})
			got := suite.Exactly(w, 3, w.tasks("a", ""), "tasks")
			w.Same([]string{uri1, uri2, uri3}, ids(got), "tasks")
			w.Same(1, got[0].Attempts, "Attempts of the new task")
		}),
		withWriter("replace-only", "A task with an N replaces only the task with this N, and is dropped if there is none.", func(w *writer) {
			w.addTasks(task("a", uri1, now()), task("a", uri2, now()))
			was := suite.Exactly(w, 2, w.tasks("a", ""), "tasks")
			w.addTasks(task("a", uri2, now()))
			for i := range was {
				was[i].Attempts = 7
			}
			gone := was[0]
			gone.Resource.ID = uri3
			w.addTasks(was[0], was[1], gone)
			got := suite.Exactly(w, 2, w.tasks("a", ""), "tasks")
			w.Same(7, got[0].Attempts, "Attempts of the task that had this N")
			w.Same(0, got[1].Attempts, "Attempts of the task that had another N since")
			w.ErrorIf(got[0].N == was[0].N, "replaced, and N is still %d", got[0].N)
		}),
		withWriter("n-never-again", "A task that follows one that was done has another N.", func(w *writer) {
			seen := map[uint64]bool{}
			for range 4 { // else an old TaskRef would remove the new task
				w.addTasks(task("a", uri1, now()))
				w.done(harvest.TaskRef{ID: uri1, N: w.newN(seen)})
			}
		}),
		withWriter("due", "Due returns at most n tasks to get whose Due is not after now, earliest first.", func(w *writer) {
			w.addTasks(
				task("a", "1 last", now()),
				task("a", "2 first", time.Time{}),
				task("a", "3 too late", now().Add(1*time.Microsecond)),
				task("a", "4 second", now().Add(-time.Hour)),
				task("a", "5 third", now().Add(-1*time.Microsecond)),
				task("a", "6 much too late", now().Add(time.Hour)),
			)
			want := []string{"2 first", "4 second", "5 third", "1 last"}
			for n := range len(want) + 1 {
				w.Same(want[:n], ids(w.due("a", now(), n)), "the first %d that are due: ", n)
			}
			w.Same(want, ids(w.due("a", now(), 100)), "all that are due: ")
			w.Same(want, ids(w.due("a", now().In(time.FixedZone("", -7*3600)), 100)), "all that are due, asked in another zone: ")
			w.Same(6, len(w.due("a", now().Add(time.Hour), 100)), "due an hour later")
			w.Same([]string{"2 first"}, ids(w.due("a", time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC), 100)), "due in 1969: ")
			w.Same(0, len(w.due("unknown", now(), 100)), "due tasks of an unknown source")
		}),
		withWriter("not-due", "Parked tasks and withheld deletions are never due; Tasks yields them.", func(w *writer) {
			parked, withheld, get := task("a", uri1, now()), task("a", uri2, now()), task("a", uri3, now())
			parked.Parked = true
			withheld.Kind = harvest.TaskWithheld
			w.addTasks(parked, withheld, get)
			w.Same([]string{uri3}, ids(w.due("a", now(), 1)), "due, one at most: ")
			w.Same([]string{uri3}, ids(w.due("a", now().Add(time.Hour), 10)), "due: ")
			w.Same([]string{uri1, uri2, uri3}, ids(w.tasks("a", "")), "Tasks: ")
		}),
		withWriter("due-replaced", "A task that is put off, parked or done is no longer due at its old time.", func(w *writer) {
			w.addTasks(task("a", uri1, now().Add(-3*time.Second)))
			for _, step := range []struct {
				what   string
				id     string
				due    time.Duration // after now
				parked bool
				want   []string
			}{
				{"the second was added", uri2, -2 * time.Second, false, []string{uri1, uri2}},
				{"the first was put off a little", uri1, -time.Second, false, []string{uri2, uri1}},
				{"the first was put off", uri1, time.Hour, false, []string{uri2}},
				{"the second was parked", uri2, 0, true, nil},
				{"the second was revived", uri2, 0, false, []string{uri2}},
			} {
				next := task("a", step.id, now().Add(step.due))
				next.Parked = step.parked
				w.addTasks(next)
				w.Same(step.want, ids(w.due("a", now(), 10)), "due after %s: ", step.what)
			}
			w.done(harvest.TaskRef{ID: uri2})
			w.Same(0, len(w.due("a", now(), 10)), "due after the second was done")
		}),
		withWriter("order", "Tasks yields ids greater than after in byte order.", func(w *writer) {
			list := []string{"\xff", "b", "a/", "a", "a\x00", "ä", "B", "ab", "10", "9"}
			for i, id := range list {
				task := task("a", id, now())
				task.Kind = harvest.TaskKind(i % 2)
				task.Parked = i%3 == 0
				w.addTasks(task)
			}
			w.inByteOrder(list, func(after string) []string { return ids(w.tasks("a", after)) })
			w.Same(0, len(w.tasks("unknown", "")), "tasks of an unknown source")
		}),
		withWriter("long", "Tasks of many pages are whole and in order.", func(w *writer) {
			const n = 2300
			var tasks []harvest.Task
			for i := range n {
				tasks = append(tasks, task("a", fmt.Sprintf("%06d", i), now().Add(-time.Duration(i)*time.Second)))
			}
			w.addTasks(tasks...)
			want := ids(tasks)
			w.Same(want, ids(w.tasks("a", "")), "Tasks")
			w.Same(want[800:], ids(w.tasks("a", want[799])), "Tasks after the 800th")
			slices.Reverse(want)
			for _, limit := range []int{1100, 1700, n, 2 * n} {
				w.Same(want[:min(limit, n)], ids(w.due("a", now(), limit)), "the first %d that are due: ", limit)
			}
		}),
		withWriter("long-text", "A Task's Error of 4 KiB and its long description come back.", func(w *writer) {
			long := task("a", uri1, now())
			long.Error = string(pattern(4<<10, 83))
			long.Resource.Summary = string(pattern(1<<20, 89))
			w.addTasks(long)
			for _, got := range [][]harvest.Task{w.tasks("a", ""), w.due("a", now(), 1), w.lookupTasks("a", uri1)} {
				long.N = suite.Exactly(w, 1, got, "tasks")[0].N
				w.Same(long, got[0], "the task: ")
			}
		}),
		withWriter("carried-out", "A change that carries out a task is a conflict if the id has none with this N.", func(w *writer) {
			list := []string{uri1, uri2, uri3, uri4}
			w.create(uri4)
			for _, id := range list {
				w.addTasks(task("a", id, now()))
			}
			w.writer("b").addTasks(task("b", uri5, now()))
			was := suite.Exactly(w, 4, w.tasks("a", ""), "tasks")
			w.addTasks(task("a", uri2, now()))
			w.done(harvest.TaskRef{ID: uri3})
			carriedOut := func(id string, base websync.Seq, n uint64) harvest.Change {
				c := change(id, base, websync.Created, "got")
				c.Task = n
				return c
			}
			b := harvest.Batch{
				Puts:    []harvest.Change{carriedOut(uri5, 0, was[0].N)},
				Touches: []harvest.Change{carriedOut(uri4, w.record("a", uri4).Seq, was[3].N+1000)},
			}
			for i, id := range list[:3] {
				b.Puts = append(b.Puts, carriedOut(id, 0, was[i].N))
				b.Done = append(b.Done, harvest.TaskRef{ID: id, N: was[i].N})
			}
			w.conflict(w.batch(b), uri2, uri3, uri4, uri5)
			w.send(harvest.Batch{
				Puts: []harvest.Change{carriedOut(uri1, 0, was[0].N)},
				Done: []harvest.TaskRef{{ID: uri1, N: was[0].N}},
			})
			w.Same("got", w.record("a", uri1).Resource.Title, "Title of what a task got: ")
			w.Same([]string{uri2, uri4}, ids(w.tasks("a", "")), "tasks that are left: ")
		}),
		withWriter("lookup", "LookupTasks answers in the order of ids, each time an id is asked, with zero for one that has no task, and with every kind.", func(w *writer) {
			w.writer("b").addTasks(task("b", uri4, now()))
			parked, withheld, get := task("a", uri1, now()), task("a", uri2, now().Add(time.Hour)), task("a", uri3, now())
			parked.Parked, parked.Error, parked.Attempts = true, "again and again", 8
			withheld.Kind = harvest.TaskWithheld
			w.addTasks(parked, withheld, get, task("a", uri5, now()))
			w.done(harvest.TaskRef{ID: uri5})
			all := suite.Exactly(w, 3, w.tasks("a", ""), "tasks")
			none := harvest.Task{}
			w.Same([]harvest.Task{all[2], none, all[0], all[1], all[0], none, none, none},
				w.lookupTasks("a", uri3, uri4, uri1, uri2, uri1, uri5, "unknown", ""), "tasks by id: ")
			w.Same([]harvest.Task{none, none}, w.lookupTasks("unknown", uri1, uri2), "tasks of an unknown source: ")
			w.Same(0, len(w.lookupTasks("a")), "tasks of no ids")
			w.addTasks(get)
			if n := w.lookupTasks("a", uri3)[0].N; n == all[2].N || n == 0 {
				w.Errorf("replaced, and N by id is %d, as before, or 0", n)
			}
			w.done(harvest.TaskRef{ID: uri3})
			w.Same([]harvest.Task{none}, w.lookupTasks("a", uri3), "the task after Done: ")
		}),
		withWriter("source", "Tasks belong to the Batch's source.", func(a *writer) {
			b := a.writer("b")
			a.addTasks(harvest.Task{Resource: websync.Resource{ID: uri1}, Due: now()})
			b.addTasks(task("b", uri1, now()), task("b", uri2, now()))
			b.done(harvest.TaskRef{ID: uri2})
			a.done(harvest.TaskRef{ID: uri2})
			for _, source := range []string{"a", "b"} {
				for _, tasks := range [][]harvest.Task{a.tasks(source, ""), a.due(source, now(), 10)} {
					a.ErrorIf(len(tasks) != 1 || tasks[0].Source != source || tasks[0].Resource.ID != uri1, "tasks of %s: got %+v", source, tasks)
				}
			}
			a.done(harvest.TaskRef{ID: uri1})
			a.Same([]string{uri1}, ids(a.tasks("b", "")), "tasks of b after that of a is done")
		}),
	}
}

// newN returns the N of the only task of the source, and checks that it was not seen
// before.
func (w *writer) newN(seen map[uint64]bool) uint64 {
	w.Helper()
	n := suite.Exactly(w, 1, w.tasks(w.source, ""), "tasks")[0].N
	w.ErrorIf(seen[n], "N is %d again, or 0", n)
	seen[n] = true
	return n
}

// filledTasks returns n tasks in which every field has a value but N. They are due.
func (w *writer) filledTasks(n int) []harvest.Task {
	w.Helper()
	tasks := make([]harvest.Task, n)
	for i := range tasks {
		suite.Fill(w, 1000*i, &tasks[i])
		tasks[i].Source, tasks[i].Resource.ID, tasks[i].N = w.source, fmt.Sprint(i), 0
		tasks[i].Kind, tasks[i].Parked = harvest.TaskGet, false
	}
	return tasks
}
