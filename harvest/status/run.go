package status

import (
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/display"
)

// A Result is what a run has returned.
type Result struct {
	// Report is what the run did. It is required.
	Report *harvest.Report
	// Err ended the run early. If nil, nothing did.
	Err error
	// Title names the run. If empty, the Source does.
	Title string
	// Interrupted is set if Err is that of a cancelled context.
	Interrupted bool
	// Lasts is set if the Store outlives the program, so that the next run goes on.
	Lasts bool
}

// A State is how a run left its source, in words.
type State string

const (
	InStep      State = "in step"     // nothing is left to do
	NotInStep   State = "not in step" // work is left, or the listing was incomplete
	Interrupted State = "interrupted" // the run was interrupted
	Failed      State = "failed"      // an error ended the run

	running  State = "running"
	neverRun State = "never run"
)

// The classes of states, in the style sheet and in status.json.
const (
	pass = "pass"
	warn = "warn"
	fail = "fail"
	none = "none"
)

func (s State) class() string {
	switch s {
	case InStep:
		return pass
	case Failed:
		return fail
	case neverRun:
		return none
	}
	return warn
}

// colour returns the class of a state in a picture.
func (s State) colour() string {
	switch s {
	case InStep:
		return "ok"
	case Failed:
		return "broken"
	}
	return "refused"
}

// State returns how the run left its source.
func (r *Result) State() State {
	switch {
	case r.Interrupted:
		return Interrupted
	case r.Err != nil:
		return Failed
	case r.Report.InStep() && !(r.Report.Dry && r.Report.Differences() > 0):
		return InStep
	}
	return NotInStep
}

// Verdict returns the state in one or two sentences.
func (r *Result) Verdict() string {
	switch state := r.State(); {
	case state == Interrupted && r.Lasts:
		return "Interrupted: the next run goes on from here."
	case state == Interrupted:
		return "Interrupted."
	case state == Failed:
		return "Not harvested to the end: the source or the store could not be read."
	case r.Report.Dry:
		return dryVerdict(r.Report) + " Nothing was written."
	case state == NotInStep:
		return "Not in step: " + whatIsLeft(r.Report)
	}
	if report := r.Report; report.Created+report.Updated+report.Deleted == 0 {
		return "In step: " + display.Number(report.Held) + " held, nothing new."
	}
	return "In step: " + display.Number(r.Report.Held) + " held. The store has what the source lists."
}

// dryVerdict returns what a Plan or an Audit has found.
func dryVerdict(r *harvest.Report) string {
	switch differences := r.Differences(); {
	case !r.Listed():
		return "A part of the listing could not be read."
	case differences > 0:
		return "Not in step: " + display.Plural(differences, "difference", "differences") + "."
	case r.InStep():
		return "In step: there is nothing to do."
	}
	return "Not in step: work is left for the next run."
}

// whatIsLeft returns why a run is not in step.
func whatIsLeft(r *harvest.Report) string {
	switch left := tasksOf(r).open() > 0; {
	case !r.Listed() && left:
		return "a part of the listing could not be read, and work is left for the next run."
	case !r.Listed():
		return "a part of the listing could not be read."
	case r.OverQuota != nil:
		return "the source is over its quota."
	case left && r.Left.Waiting+r.Left.Parked == 0:
		return "deletions are withheld."
	case r.BudgetSpent:
		return "the budget is spent, and the next run goes on from here."
	case left:
		return "work is left for the next run."
	}
	return "too much of what seemed unchanged had changed, and the rest is still to be asked for."
}

// Errors returns what went wrong, a line for each: the error that ended the run, unless
// it was interrupted, the limit of its Quota, the hosts that it left alone, the problems
// and the failures. These name their id and URL once, without secrets. The name of the
// Source, which stands beside them, is left out where it comes first.
func (r *Result) Errors() (lines []string) {
	report := r.Report
	if r.Err != nil && !r.Interrupted { // of which the verdict says enough
		text := strings.TrimPrefix(r.Err.Error(), "harvest: ")
		for _, source := range []string{report.Source, websync.RedactURL(report.Source)} {
			text = strings.TrimPrefix(text, source+": ")
		}
		lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	if report.OverQuota != nil {
		lines = append(lines, report.OverQuota.Error())
	}
	for _, e := range report.LeftAlone {
		lines = append(lines, e.Error())
	}
	for _, f := range slices.Concat(report.Problems, report.Failures) {
		text, id := f.Error, websync.RedactURL(f.ID)
		if f.ID != "" {
			text = strings.ReplaceAll(text, f.ID, id)
		}
		for _, name := range []string{websync.RedactURL(f.URL), id} {
			if name != "" && !strings.Contains(text, name+":") {
				text = name + ": " + text
			}
		}
		lines = append(lines, text)
	}
	return lines
}

// A Run is a run that has ended, or several in a row that found nothing to do.
type Run struct {
	Started time.Time `json:"started"` // of several, the first
	Ended   time.Time `json:"ended"`   // of several, the last
	Count   int64     `json:"count"`   // of runs

	State   State  `json:"state"`
	Verdict string `json:"verdict"` // a sentence about it
	// Errors are the first three lines of [Result.Errors]; Guard is what was withheld,
	// and why.
	Errors []string `json:"errors,omitempty"`
	Guard  string   `json:"guard,omitempty"`

	Listed    int64 `json:"listed"`
	Created   int64 `json:"created"`
	Updated   int64 `json:"updated"`
	Deleted   int64 `json:"deleted"`
	Touched   int64 `json:"touched"`
	Unchanged int64 `json:"unchanged"`
	History   int64 `json:"history"`
	Deferred  int64 `json:"deferred"`
	Withheld  int64 `json:"withheld"`
	Excluded  int64 `json:"excluded"`
	Gone      int64 `json:"gone"`
	Failed    int64 `json:"failed"`
	Skipped   int64 `json:"skipped"`
	Findings  int64 `json:"findings"`
	Requests  int64 `json:"requests"`
	Fetched   int64 `json:"fetched"`
	Bytes     int64 `json:"bytes"`
	Held      int64 `json:"held"` // live records after the run
	// Left are the tasks after the run.
	Left Tasks `json:"left"`
}

// maxErrors is how many errors of a run are kept.
const maxErrors = 3

// newRun returns what is kept of a run.
func newRun(result *Result) Run {
	r := result.Report
	run := Run{
		Started: r.Started.UTC(), Ended: r.Ended.UTC(), Count: 1, State: result.State(), Verdict: result.Verdict(),
		Listed: r.Events, Created: r.Created, Updated: r.Updated, Deleted: r.Deleted, Touched: r.Touched,
		Unchanged: r.Unchanged, History: r.History, Deferred: r.Deferred, Withheld: r.Withheld, Excluded: r.Excluded,
		Gone: r.Gone, Failed: r.Failed,
		Skipped: int64(r.Skipped), Findings: r.Findings, Fetched: r.Fetched, Bytes: r.Bytes, Held: r.Held, Left: tasksOf(r),
	}
	for _, n := range r.Requests {
		run.Requests += n
	}
	for _, line := range result.Errors() {
		if line = display.Shown(line); len(run.Errors) < maxErrors && !slices.Contains(run.Errors, line) {
			run.Errors = append(run.Errors, line)
		}
	}
	if r.Guard != nil {
		run.Guard = display.Shown(r.Guard.Sentence())
	}
	return run
}

// add adds the counts of another run.
func (r *Run) add(o *Run) {
	r.Listed += o.Listed
	r.Created += o.Created
	r.Updated += o.Updated
	r.Deleted += o.Deleted
	r.Touched += o.Touched
	r.Unchanged += o.Unchanged
	r.History += o.History
	r.Deferred += o.Deferred
	r.Withheld += o.Withheld
	r.Excluded += o.Excluded
	r.Gone += o.Gone
	r.Failed += o.Failed
	r.Skipped += o.Skipped
	r.Findings += o.Findings
	r.Requests += o.Requests
	r.Fetched += o.Fetched
	r.Bytes += o.Bytes
}

// isIdle reports whether a run found nothing to do.
func (r *Run) isIdle() bool {
	return r.State == InStep && r.Created+r.Updated+r.Deleted+r.Failed+r.Withheld == 0 && len(r.Errors) == 0
}

// Took returns how long the run took.
func (r *Run) Took() time.Duration { return max(0, r.Ended.Sub(r.Started)) }

// Tasks counts the tasks of a source.
type Tasks struct {
	Waiting  int64 `json:"waiting"`
	Parked   int64 `json:"parked"`
	Gone     int64 `json:"gone"`
	Withheld int64 `json:"withheld"`
	// held as their server sends them, and asked for again later; a source is in step
	// with them
	Lagging int64 `json:"lagging"`
}

func tasksOf(r *harvest.Report) Tasks {
	left := &r.Left
	return Tasks{Waiting: left.Waiting, Parked: left.Parked, Gone: left.Gone, Withheld: left.Withheld, Lagging: left.Lagging}
}

// open returns the number of tasks with which a source is not in step.
func (c Tasks) open() int64 { return c.Waiting + c.Parked + c.Withheld }

// outcomes are those of the entries, in the order of the pages.
var outcomes = []struct {
	outcome harvest.Outcome
	about   string
	of      func(*Run) int64
}{
	{harvest.OutcomeCreated, "new, or back after a deletion", func(r *Run) int64 { return r.Created }},
	{harvest.OutcomeUpdated, "the content or the description has changed", func(r *Run) int64 { return r.Updated }},
	{harvest.OutcomeDeleted, "removed by the source", func(r *Run) int64 { return r.Deleted }},
	{
		harvest.OutcomeTouched, "only the stated time, or what the server says of the version, is new",
		func(r *Run) int64 { return r.Touched },
	},
	{harvest.OutcomeUnchanged, "the store already had it", func(r *Run) int64 { return r.Unchanged }},
	{harvest.OutcomeHistory, "the store has something later", func(r *Run) int64 { return r.History }},
	{harvest.OutcomeDeferred, "to be fetched by a later run", func(r *Run) int64 { return r.Deferred }},
	{
		harvest.OutcomeWithheld, "deletions and new bodies that were not accepted, because they may be wrong",
		func(r *Run) int64 { return r.Withheld },
	},
	{harvest.OutcomeGone, "listed, but removed by the server", func(r *Run) int64 { return r.Gone }},
	{harvest.OutcomeExcluded, "left out by the filter", func(r *Run) int64 { return r.Excluded }},
	{harvest.OutcomeFailed, "could not be fetched", func(r *Run) int64 { return r.Failed }},
}

// sumUp returns a sentence about sources, of which each class has so many, and the class
// of all of them.
func sumUp(by map[string]int64) (verdict, class string) {
	n := by[fail] + by[warn] + by[none] + by[pass]
	switch {
	case by[fail] > 0:
		class = fail
	case by[warn] > 0:
		class = warn
	case by[pass] > 0:
		class = pass
	default:
		class = none
	}
	switch {
	case n == 0:
		return "There are no sources yet.", class
	case by[pass] == n && n == 1:
		return "The source is in step.", class
	case by[pass] == n:
		return "All " + display.Number(n) + " sources are in step.", class
	}
	var parts []string
	for _, state := range []State{Failed, NotInStep, neverRun, InStep} {
		if m := by[state.class()]; m > 0 {
			parts = append(parts, display.Number(m)+" "+string(state))
		}
	}
	return display.Plural(n, "source", "sources") + ": " + strings.Join(parts, ", ") + ".", class
}
