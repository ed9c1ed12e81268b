package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/display"
)

// A step is something to do: a sentence, and perhaps a setting and what it does.
type step struct{ Text, Setting, Effect string }

// Next returns what to do after a run, in sentences, the most important first.
func (s *Summary) Next(r *Result) (lines []string) {
	for _, step := range s.next(r) {
		lines = append(lines, strings.Join(strings.Fields(step.Text+" "+step.Setting+" "+step.Effect), " "))
	}
	return lines
}

// next returns what to do after a run, the most important first.
func (s *Summary) next(r *Result) []step {
	steps := slices.Concat(afterEnd(r), s.aboutTasks(r.Report), s.aboutListing(r.Report))
	if len(steps) == 0 && r.State() == NotInStep {
		steps = []step{{Text: "Run again."}}
	}
	return steps
}

// afterEnd returns what to do because of how a run has ended.
func afterEnd(r *Result) (steps []step) {
	switch {
	case r.Interrupted && r.Lasts:
		steps = append(steps, step{Text: "Run again: the next run goes on where this one was interrupted."})
	case r.Interrupted:
		steps = append(steps, step{Text: "Run again."})
	case r.Err != nil:
		steps = append(steps, step{Text: "Mend what the error names, and run again."})
	}
	if r.Report.Dry && r.Report.Differences() > 0 {
		steps = append(steps, step{Text: "This run only looked. One that writes would carry out the differences."})
	}
	for _, e := range r.Report.LeftAlone {
		text := "Give " + display.Shown(e.Host) + " time"
		if !e.RetryAt.IsZero() {
			text += ", at least until " + display.Time(e.RetryAt)
		}
		steps = append(steps, step{Text: text + "."})
	}
	return steps
}

// aboutTasks returns what to do about what is left.
func (s *Summary) aboutTasks(r *harvest.Report) (steps []step) {
	approve := cmp.Or(s.Approve, "Harvester.Approve")
	if n := r.Left.Waiting; n > 0 && !r.Dry {
		text := "Run again: " + display.Plural(n, "resource is", "resources are") + " still to be fetched."
		if due := r.Left.Next; due.After(r.Ended.Add(time.Second)) {
			text += " The first is due after " + display.Time(due) + "."
		}
		steps = append(steps, step{Text: text})
	}
	if n := r.Rechecked.Unasked; n > 0 {
		total := r.Rechecked.Total()
		steps = append(steps, step{Text: fmt.Sprintf(
			"Tell the publisher: of %s that seemed unchanged, %s had changed. Run again: the next run asks for the other %s.",
			display.Plural(total.Asked, "resource", "resources"), display.Number(total.Wrong), display.Number(n),
		)})
	}
	if r.Guard != nil && r.Guard.Rule == "bodies" {
		text := "Look at what the server sends now. If the new bodies are right,"
		steps = append(steps, step{text, approve, "accepts them."})
	}
	if n := r.Left.Withheld; n > 0 {
		text := "Look at " + display.Plural(n, "resource", "resources") + " that the source no longer lists: " +
			cmp.Or(s.Plan, "Harvester.Plan, with Full,") + " names them. If it is right that they go,"
		steps = append(steps, step{text, approve, "deletes them."})
	}
	if n := r.Left.Parked; n > 0 {
		text := display.Plural(n, "resource has", "resources have") +
			" failed too often to be tried again before the source states a change."
		steps = append(steps, step{text, cmp.Or(s.Recheck, "Harvester.Recheck"), "tries them at once."})
	}
	return steps
}

// aboutListing returns what to do about what could not be read, and about the clock.
func (s *Summary) aboutListing(r *harvest.Report) (steps []step) {
	if r.Skipped > 0 && !r.AcceptSkipped {
		text := display.Plural(int64(r.Skipped), "entry", "entries") + " of the listing could not be read: tell the publisher."
		steps = append(steps, step{text, cmp.Or(s.AcceptSkipped, "Harvester.AcceptSkipped"), "does without them."})
	}
	if len(r.Problems) > 0 {
		steps = append(steps, step{Text: "Documents of the source could not be read; its problems name them. " +
			"Run again; if it stays so, tell the publisher."})
	}
	if n := r.ExcludedHeld; n > 0 {
		steps = append(steps, step{Text: "The filter leaves out " + display.Plural(n, "resource", "resources") +
			" of the store from now on: what is held of them stays as it is until the source no longer lists them."})
	}
	if !r.LogAhead.IsZero() {
		text := "Check the clock: the last entry of the store's log has the time " + display.Time(r.LogAhead) + "."
		steps = append(steps, step{Text: text})
	}
	return steps
}

// maxFinished limits the runs that a Summary holds.
const maxFinished = 200

// A runList has the runs that have ended.
type runList struct {
	all     []finished
	dropped int64 // that are not in all
	sum     Run   // of all and the dropped ones
}

// A finished run is what is kept of a Result.
type finished struct {
	runRow
	source string // as the page shows it
	key    string // of the source
	latest bool   // no later run of its source is there
}

// Add records a run that has ended.
func (s *Summary) Add(r Result) {
	source := display.Shown(r.Report.Source)
	f := finished{newRunRow(cmp.Or(display.Shown(r.Title), source), newRun(&r)), source, r.Report.Source, true}
	f.Next = s.next(&r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now(0)
	s.runs.add(f)
}

// maxFails limits the errors outside of runs.
const maxFails = 10

// Fail records an error outside of any run, such as that of a Store that can't be opened.
func (s *Summary) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now(0)
	if len(s.errors) < maxFails {
		s.errors = append(s.errors, display.Shown(err.Error()))
	}
}

func (r *runList) add(f finished) {
	r.sum.add(&f.Run)
	for i := range r.all {
		if r.all[i].key == f.key {
			r.all[i].latest = false
		}
	}
	if len(r.all) >= maxFinished {
		r.drop()
	}
	r.all = append(r.all, f)
}

// drop removes one run: the oldest that a later one of its source follows, else the
// oldest that is in step, else the oldest.
func (r *runList) drop() {
	worst := 0
	for i := range r.all {
		if !r.all[i].latest {
			worst = i
			break
		}
		if r.all[worst].State != InStep && r.all[i].State == InStep {
			worst = i
		}
	}
	r.all = slices.Delete(r.all, worst, worst+1)
	r.dropped++
}
