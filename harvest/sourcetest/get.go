package sourcetest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/websync-go/websync/harvest"
)

func getCases() []rule {
	return []rule{
		{Name: "failure", Rule: "When an answer that a Getter needs fails or breaks off, nothing is kept: the record is as it was, and the task stays.", Check: getFailure},
		{Name: "answer", Rule: "An answer that fails is a failed attempt: Get returns ErrGone only if the server did, and never ErrNotYet, which would be tried again for ever.", Check: getAnswer},
	}
}

// getFailures are those that show whatever the format is.
var getFailures = []Failure{NotThere, ServerError, NoAnswer, Broken}

func getFailure(t *tester) { t.eachGetFailure(t.getFails) }

func getAnswer(t *tester) { t.eachGetFailure(t.getAnswers) }

// eachGetFailure calls check for each answer to a Getter and each way in which it may
// fail.
func (t *tester) eachGetFailure(check func(f failed, base *baseline)) {
	t.Helper()
	if _, ok := t.source().(harvest.Getter); !ok {
		t.Skip("not checked: the Source is no Getter")
	}
	base := t.baseline()
	checked := false
	for state := range t.states() {
		for _, f := range t.fails(getFailures, state, harvest.Checkpoint{}, base.runs[state].bodies) {
			checked = true
			check(f, base)
		}
	}
	if !checked {
		t.Skip("not checked: the Getter asks for nothing that may fail")
	}
}

// getFails lets one answer fail in a run, and looks for records that are neither what
// they were nor what they will be.
func (t *tester) getFails(f failed, base *baseline) {
	t.Helper()
	p := t.target(f.state)
	before, whole := p.contents(), base.contents[f.state]
	p.run(f.state, disturbance{bodies: f.lists})
	after := p.contents()
	for _, id := range slices.Sorted(maps.Keys(after.records)) {
		got := fmt.Sprintf("%+v", after.records[id].Bodies)
		was, willBe := fmt.Sprintf("%+v", before.records[id].Bodies), fmt.Sprintf("%+v", whole.records[id].Bodies)
		_, known := before.records[id]
		if got != willBe && (!known || got != was) {
			t.Fatalf("%v: the record of %.200q has the bodies %.300s, want %.300s", f, id, got, willBe)
		}
	}
	for id := range whole.live() {
		_, there := after.live()[id]
		_, waits := after.tasks[id]
		if !there && !waits {
			t.Fatalf("%v: %.200q has neither a record nor a task", f, id)
		}
	}
}

// getAnswers lets one answer fail in a run, and looks at the tasks that are left.
func (t *tester) getAnswers(f failed, base *baseline) {
	t.Helper()
	p := t.target(f.state)
	p.run(f.state, disturbance{bodies: f.lists})
	for task, err := range p.store.Tasks(t.Ctx, p.key, "") {
		t.OK(err, "Store.Tasks")
		id := task.Resource.ID
		if _, same := base.contents[f.state].tasks[id]; same {
			continue // it fails undisturbed, too
		}
		switch {
		case task.Gone && f.how != NotThere:
			t.Fatalf("%v: %.200q counts as gone: %s", f, id, task.Error)
		case task.Error != "" && task.Attempts == 0:
			t.Fatalf("%v: the attempt at %.200q is not counted: %s", f, id, task.Error)
		}
	}
}
