package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

func taskCases() []rule {
	return []rule{
		{Name: "every-field", Rule: "Every field of a Task comes back, from Tasks and from Due.", Check: taskEveryField},
		{Name: "times", Rule: "Due comes back in UTC, in whole microseconds: what is finer is cut off; zero stays zero.", Check: taskTimes},
		{Name: "replace", Rule: "A Task replaces the one of its id, and gets another N each time.", Check: taskReplace},
		{Name: "done", Rule: "Done removes the task with this N, or any task if N is 0; a wrong N is ignored.", Check: taskDone},
		{Name: "done-before-tasks", Rule: "Done is applied before Tasks: a Task that replaces one that is done is dropped.", Check: taskDoneBeforeTasks},
		{Name: "replace-only", Rule: "A task with an N replaces only the task with this N, and is dropped if there is none.", Check: taskReplaceOnly},
		{Name: "n-never-again", Rule: "A task that follows one that was done has another N.", Check: taskNNeverAgain},
		{Name: "due", Rule: "Due returns at most n tasks to get whose Due is not after now, earliest first.", Check: taskDue},
		{Name: "not-due", Rule: "Parked tasks and withheld deletions are never due; Tasks yields them.", Check: taskNotDue},
		{Name: "due-replaced", Rule: "A task that is put off, parked or done is no longer due at its old time.", Check: taskDueReplaced},
		{Name: "order", Rule: "Tasks yields ids greater than after in byte order.", Check: taskOrder},
		{Name: "long", Rule: "Tasks of many pages are whole and in order.", Check: taskLong},
		{Name: "long-text", Rule: "A Task's Error of 4 KiB and its long description come back.", Check: taskLongText},
		{Name: "carried-out", Rule: "A change that carries out a task is a conflict if the id has none with this N.", Check: taskCarriedOut},
		{Name: "lookup", Rule: "LookupTasks answers in the order of ids, each time an id is asked, with zero for one that has no task, and with every kind.", Check: taskLookup},
		{Name: "source", Rule: "Tasks belong to the Batch's source.", Check: taskSource},
	}
}

// now is a moment for tasks.
func now() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 891_234_000, time.UTC) }

func taskEveryField(t *tester) {
	w := t.open().writer("a")
	var want [2]harvest.Task
	for i := range want {
		suite.Fill(t, 1000*i, &want[i])
		want[i].Source = "a"
		want[i].Resource.ID = fmt.Sprint(i)
		want[i].N = 0
	}
	want[0].Kind, want[0].Parked, want[0].Base = harvest.TaskGet, false, 1<<62
	want[1].Kind = harvest.TaskWithheld
	w.addTasks(want[:]...)
	got := suite.Exactly(t, 2, w.tasks("a", ""), "tasks")
	for i := range got {
		if got[i].N == 0 {
			t.Error("the N of a stored task is 0")
		}
		want[i].N = got[i].N
		t.Same(want[i], got[i], "Tasks: ")
	}
	due := suite.Exactly(t, 1, w.due("a", now(), 10), "tasks that are due")
	t.Same(want[0], due[0], "Due: ")
}

func taskTimes(t *tester) {
	w := t.open().writer("a")
	east := time.FixedZone("", 3*3600)
	want := map[string]time.Time{
		"zero":         {},
		"microseconds": now().Add(1 * time.Microsecond),
		"finer":        now().Add(999 * time.Nanosecond),
		"finer, early": time.Date(1969, 1, 2, 3, 4, 5, 6789, time.UTC),
		"milliseconds": now(),
		"seconds":      now().Truncate(time.Second),
		"long ago":     time.Date(1969, 1, 2, 3, 4, 5, 6000, time.UTC),
		"far":          time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
		"east":         now().In(east),
	}
	var tasks []harvest.Task
	for id, due := range want {
		tasks = append(tasks, task("a", id, due))
	}
	w.addTasks(tasks...)
	for _, task := range w.tasks("a", "") {
		t.Same(want[task.Resource.ID].UTC().Truncate(time.Microsecond), task.Due, "Due of %q", task.Resource.ID)
	}
	t.Same(len(want), len(w.tasks("a", "")), "tasks")
	for _, task := range w.due("a", now(), len(want)) {
		t.Same(want[task.Resource.ID].UTC().Truncate(time.Microsecond), task.Due, "Due of %q, from Due", task.Resource.ID)
	}
}

func taskReplace(t *tester) {
	w := t.open().writer("a")
	seen := map[uint64]bool{}
	for i := range 4 {
		task := task("a", uri1, now())
		task.Attempts = i
		if i == 0 {
			task.Error, task.Run = "of the first", [16]byte{1}
		}
		w.addTasks(task)
		got := suite.Exactly(t, 1, w.tasks("a", ""), "tasks of one id")
		if seen[got[0].N] || got[0].N == 0 {
			t.Errorf("replaced %d times: N is %d again, or 0", i, got[0].N)
		}
		seen[got[0].N] = true
		task.N = got[0].N
		t.Same(task, got[0], "replaced %d times: ", i)
	}
}

// done commits refs.
func (w *writer) done(refs ...harvest.TaskRef) {
	w.t.Helper()
	b := w.batch()
	b.Done = refs
	w.apply(b)
}

func taskDone(t *tester) {
	w := t.open().writer("a")
	left := func(want []string, what string) {
		t.Helper()
		t.Same(want, taskIDs(w.tasks("a", "")), "tasks after %s: ", what)
		t.Same(len(want), len(w.due("a", now(), 10)), "due tasks after %s", what)
	}
	w.addTasks(task("a", uri1, now()), task("a", uri2, now()), task("a", uri3, now()))
	tasks := suite.Exactly(t, 3, w.tasks("a", ""), "tasks")
	w.done(harvest.TaskRef{ID: uri1, N: tasks[0].N + 1000}, harvest.TaskRef{ID: uri5}, harvest.TaskRef{ID: uri5, N: tasks[0].N})
	left([]string{uri1, uri2, uri3}, "a wrong N and unknown ids")
	w.done(harvest.TaskRef{ID: uri1, N: tasks[0].N})
	left([]string{uri2, uri3}, "the right N")
	w.done(harvest.TaskRef{ID: uri2})
	left([]string{uri3}, "N 0")
	w.addTasks(task("a", uri3, now()))
	w.done(harvest.TaskRef{ID: uri3, N: tasks[2].N})
	left([]string{uri3}, "the N that the task had before it was replaced")
	w.done(harvest.TaskRef{ID: uri3}, harvest.TaskRef{ID: uri3})
	left(nil, "the same id twice")
}

func taskDoneBeforeTasks(t *tester) {
	w := t.open().writer("a")
	w.addTasks(task("a", uri1, now()), task("a", uri2, now()), task("a", uri4, now()))
	tasks := suite.Exactly(t, 3, w.tasks("a", ""), "tasks")
	b := w.batch()
	b.Tasks = []harvest.Task{task("a", uri1, now().Add(-time.Hour)), task("a", uri2, now()), task("a", uri3, now()), tasks[2]}
	b.Tasks[0].Attempts = 1
	b.Done = []harvest.TaskRef{{ID: uri1}, {ID: uri2, N: tasks[1].N}, {ID: uri3}, {ID: uri4}}
	w.apply(b)
	got := suite.Exactly(t, 3, w.tasks("a", ""), "tasks")
	t.Same([]string{uri1, uri2, uri3}, taskIDs(got), "tasks")
	t.Same(1, got[0].Attempts, "Attempts of the new task")
}

func taskReplaceOnly(t *tester) {
	w := t.open().writer("a")
	w.addTasks(task("a", uri1, now()), task("a", uri2, now()))
	was := suite.Exactly(t, 2, w.tasks("a", ""), "tasks")
	w.addTasks(task("a", uri2, now()))
	for i := range was {
		was[i].Attempts = 7
	}
	gone := was[0]
	gone.Resource.ID = uri3
	w.addTasks(was[0], was[1], gone)
	got := suite.Exactly(t, 2, w.tasks("a", ""), "tasks")
	t.Same(7, got[0].Attempts, "Attempts of the task that had this N")
	t.Same(0, got[1].Attempts, "Attempts of the task that had another N since")
	if got[0].N == was[0].N {
		t.Errorf("replaced, and N is still %d", got[0].N)
	}
}

func taskNNeverAgain(t *tester) {
	w := t.open().writer("a")
	seen := map[uint64]bool{}
	for range 4 {
		w.addTasks(task("a", uri1, now()))
		n := suite.Exactly(t, 1, w.tasks("a", ""), "tasks")[0].N
		if seen[n] {
			t.Errorf("N is %d again after the task was done: an old TaskRef would take the new task away", n)
		}
		seen[n] = true
		w.done(harvest.TaskRef{ID: uri1, N: n})
	}
}

func taskDue(t *tester) {
	w := t.open().writer("a")
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
		t.Same(want[:n], taskIDs(w.due("a", now(), n)), "the first %d that are due: ", n)
	}
	t.Same(want, taskIDs(w.due("a", now(), 100)), "all that are due: ")
	t.Same(want, taskIDs(w.due("a", now().In(time.FixedZone("", -7*3600)), 100)), "all that are due, asked in another zone: ")
	t.Same(6, len(w.due("a", now().Add(time.Hour), 100)), "due an hour later")
	t.Same([]string{"2 first"}, taskIDs(w.due("a", time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC), 100)), "due in 1969: ")
	t.Same(0, len(w.due("unknown", now(), 100)), "due tasks of an unknown source")
}

func taskNotDue(t *tester) {
	w := t.open().writer("a")
	parked, withheld, get := task("a", uri1, now()), task("a", uri2, now()), task("a", uri3, now())
	parked.Parked = true
	withheld.Kind = harvest.TaskWithheld
	w.addTasks(parked, withheld, get)
	t.Same([]string{uri3}, taskIDs(w.due("a", now(), 1)), "due, one at most: ")
	t.Same([]string{uri3}, taskIDs(w.due("a", now().Add(time.Hour), 10)), "due: ")
	t.Same([]string{uri1, uri2, uri3}, taskIDs(w.tasks("a", "")), "Tasks: ")
}

func taskDueReplaced(t *tester) {
	w := t.open().writer("a")
	due := func(want []string, what string) {
		t.Helper()
		t.Same(want, taskIDs(w.due("a", now(), 10)), "due after %s: ", what)
	}
	w.addTasks(task("a", uri1, now().Add(-3*time.Second)), task("a", uri2, now().Add(-2*time.Second)))
	due([]string{uri1, uri2}, "the first Commit")
	w.addTasks(task("a", uri1, now().Add(-time.Second)))
	due([]string{uri2, uri1}, "one was put off a little")
	w.addTasks(task("a", uri1, now().Add(time.Hour)))
	due([]string{uri2}, "one was put off")
	parked := task("a", uri2, now())
	parked.Parked = true
	w.addTasks(parked)
	due(nil, "the other was parked")
	w.addTasks(task("a", uri2, now()))
	due([]string{uri2}, "it was revived")
	w.done(harvest.TaskRef{ID: uri2})
	due(nil, "it was done")
}

func taskOrder(t *tester) {
	w := t.open().writer("a")
	ids := []string{"\xff", "b", "a/", "a", "a\x00", "ä", "B", "ab", "10", "9"}
	for i, id := range ids {
		task := task("a", id, now())
		task.Kind = harvest.TaskKind(i % 2)
		task.Parked = i%3 == 0
		w.addTasks(task)
	}
	want := sorted(ids)
	t.Same(want, taskIDs(w.tasks("a", "")), "ids in byte order")
	for i, id := range want {
		t.Same(want[i+1:], taskIDs(w.tasks("a", id)), "ids after %q", id)
	}
	t.Same(want, taskIDs(w.tasks("a", "!")), "ids after an id that is not there")
	t.Same(0, len(w.tasks("unknown", "")), "tasks of an unknown source")
}

func taskLong(t *tester) {
	w := t.open().writer("a")
	b := w.batch()
	var ids []string
	const n = 2300
	for i := range n {
		id := fmt.Sprintf("%06d", i)
		ids = append(ids, id)
		b.Tasks = append(b.Tasks, task("a", id, now().Add(-time.Duration(i)*time.Second)))
	}
	w.apply(b)
	t.Same(ids, taskIDs(w.tasks("a", "")), "Tasks")
	t.Same(ids[800:], taskIDs(w.tasks("a", ids[799])), "Tasks after the 800th")
	for _, limit := range []int{1100, 1700, n, 2 * n} {
		want := slices.Clone(ids)
		slices.Reverse(want)
		t.Same(want[:min(limit, n)], taskIDs(w.due("a", now(), limit)), "the first %d that are due: ", limit)
	}
}

func taskLongText(t *tester) {
	w := t.open().writer("a")
	long := task("a", uri1, now())
	long.Error = string(pattern(4<<10, 83))
	long.Resource.Summary = string(pattern(1<<20, 89))
	w.addTasks(long)
	for _, got := range [][]harvest.Task{w.tasks("a", ""), w.due("a", now(), 1), w.lookupTasks("a", uri1)} {
		long.N = suite.Exactly(t, 1, got, "tasks")[0].N
		t.Same(long, got[0], "the task: ")
	}
}

func taskCarriedOut(t *tester) {
	w := t.open().writer("a")
	ids := []string{uri1, uri2, uri3, uri4}
	w.create(uri4)
	for _, id := range ids {
		w.addTasks(task("a", id, now()))
	}
	w.writer("b").addTasks(task("b", uri5, now()))
	was := suite.Exactly(t, 4, w.tasks("a", ""), "tasks")
	w.addTasks(task("a", uri2, now()))
	w.done(harvest.TaskRef{ID: uri3})
	b := w.batch()
	for i, id := range ids[:3] {
		c := change(id, 0, websync.Created, "got")
		c.Task = was[i].N
		b.Puts = append(b.Puts, c)
		b.Done = append(b.Done, harvest.TaskRef{ID: id, N: was[i].N})
	}
	touch := bodyChange(uri4, w.record("a", uri4).Seq, uri4, websync.Digest{})
	touch.Task = was[3].N + 1000
	b.Touches = []harvest.Change{touch}
	other := change(uri5, 0, websync.Created, "got")
	other.Task = was[0].N
	b.Puts = append(b.Puts, other)
	before := w.contents([]string{"a"}, nil)
	conflicts, err := w.Commit(t.Ctx, w.c, b)
	t.OK(err, "Commit of what carries out tasks that were replaced or done")
	t.Same([]string{uri2, uri3, uri4, uri5}, sorted(conflicts), "conflicts: ")
	t.Same(before, w.contents([]string{"a"}, nil), "after conflicts: ")
	b = w.batch()
	c := change(uri1, 0, websync.Created, "got")
	c.Task = was[0].N
	b.Puts, b.Done = []harvest.Change{c}, []harvest.TaskRef{{ID: uri1, N: was[0].N}}
	w.apply(b)
	t.Same("got", w.record("a", uri1).Resource.Title, "Title of what a task got: ")
	t.Same([]string{uri2, uri4}, taskIDs(w.tasks("a", "")), "tasks that are left: ")
}

func taskLookup(t *tester) {
	w := t.open().writer("a")
	w.writer("b").addTasks(task("b", uri4, now()))
	parked, withheld, get := task("a", uri1, now()), task("a", uri2, now().Add(time.Hour)), task("a", uri3, now())
	parked.Parked, parked.Error, parked.Attempts = true, "again and again", 8
	withheld.Kind = harvest.TaskWithheld
	w.addTasks(parked, withheld, get, task("a", uri5, now()))
	w.done(harvest.TaskRef{ID: uri5})
	all := suite.Exactly(t, 3, w.tasks("a", ""), "tasks")
	none := harvest.Task{}
	t.Same([]harvest.Task{all[2], none, all[0], all[1], all[0], none, none, none},
		w.lookupTasks("a", uri3, uri4, uri1, uri2, uri1, uri5, "unknown", ""), "tasks by id: ")
	t.Same([]harvest.Task{none, none}, w.lookupTasks("unknown", uri1, uri2), "tasks of an unknown source: ")
	t.Same(0, len(w.lookupTasks("a")), "tasks of no ids")
	w.addTasks(get)
	if n := w.lookupTasks("a", uri3)[0].N; n == all[2].N || n == 0 {
		t.Errorf("replaced, and N by id is %d, as before, or 0", n)
	}
	w.done(harvest.TaskRef{ID: uri3})
	t.Same([]harvest.Task{none}, w.lookupTasks("a", uri3), "the task after Done: ")
}

func taskSource(t *tester) {
	a := t.open().writer("a")
	b := a.writer("b")
	a.addTasks(harvest.Task{Resource: websync.Resource{ID: uri1}, Due: now()})
	b.addTasks(task("b", uri1, now()), task("b", uri2, now()))
	b.done(harvest.TaskRef{ID: uri2})
	a.done(harvest.TaskRef{ID: uri2})
	for _, source := range []string{"a", "b"} {
		for _, tasks := range [][]harvest.Task{a.tasks(source, ""), a.due(source, now(), 10)} {
			if len(tasks) != 1 || tasks[0].Source != source || tasks[0].Resource.ID != uri1 {
				t.Errorf("tasks of %s: got %+v", source, tasks)
			}
		}
	}
	a.done(harvest.TaskRef{ID: uri1})
	t.Same([]string{uri1}, taskIDs(a.tasks("b", "")), "tasks of b after that of a is done")
}
