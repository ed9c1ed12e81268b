package runreport

import (
	"strings"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/page"
)

// A Run is a run that has ended.
type Run struct {
	// Report is what the run returned. It is required.
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

// A State is how a run left its source.
type State uint8

const (
	InStep      State = iota // nothing is left to do
	NotInStep                // work is left, or the listing was incomplete
	Interrupted              // the run was interrupted
	Failed                   // an error ended the run
)

// State returns how the run left its source.
func (r *Run) State() State {
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
func (r *Run) Verdict() string {
	report := r.Report
	switch state := r.State(); {
	case state == Interrupted && r.Lasts:
		return "Interrupted: the next run goes on from here."
	case state == Interrupted:
		return "Interrupted."
	case state == Failed:
		return "Not harvested to the end: the source or the store could not be read."
	case report.Dry && state == InStep:
		return "In step: there is nothing to do. Nothing was written."
	case report.Dry && report.Listed() && report.Differences() == 0:
		return "Not in step: work is left for the next run. Nothing was written."
	case report.Dry && report.Listed():
		return "Not in step: " + page.Plural(report.Differences(), "difference", "differences") + ". Nothing was written."
	case report.Dry:
		return "A part of the listing could not be read. Nothing was written."
	case state == InStep && changes(report) == 0:
		return "In step: there was nothing to do."
	case state == InStep:
		return "In step: the store has what the source lists."
	case report.Listed() && leftOver(report) == 0: // but some are unasked
		return "Not in step: too much of what seemed unchanged had changed, and the rest is still to be asked for."
	case !report.Listed() && leftOver(report) == 0:
		return "Not in step: a part of the listing could not be read."
	case !report.Listed():
		return "Not in step: a part of the listing could not be read, and work is left for the next run."
	}
	return "Not in step: work is left for the next run."
}

func changes(r *harvest.Report) int64 { return r.Created + r.Updated + r.Deleted + r.Touched }

func leftOver(r *harvest.Report) int64 { return r.Left.Waiting + r.Left.Parked + r.Left.Withheld }

// A step is something to do: a sentence, and perhaps a setting and what it does.
type step struct{ Text, Setting, Effect string }

// next returns what to do after a run, the most important first.
func (rec *Recorder) next(r *Run) (steps []step) {
	add := func(text, setting, effect string) { steps = append(steps, step{text, setting, effect}) }
	report := r.Report
	switch {
	case r.Interrupted && r.Lasts:
		add("Run again: the next run goes on where this one was interrupted.", "", "")
	case r.Interrupted:
		add("Run again.", "", "")
	case r.Err != nil:
		add("Mend what the error names, and run again.", "", "")
	}
	if report.Dry && report.Differences() > 0 {
		add("This run only looked. One that writes would carry out the differences.", "", "")
	}
	for _, e := range report.LeftAlone {
		add("Give the host time: "+page.Shown(e.Error())+".", "", "")
	}
	if n := report.Left.Waiting; n > 0 && !report.Dry {
		text := "Run again: " + page.Plural(n, "resource is", "resources are") + " still to be fetched."
		if due := report.Left.Next; due.After(report.Ended.Add(time.Second)) {
			text += " The first is due after " + page.Time(due) + "."
		}
		add(text, "", "")
	}
	if n := report.Rechecked.Unasked; n > 0 {
		total := report.Rechecked.Total()
		add("Tell the publisher: of "+page.Plural(total.Asked, "resource", "resources")+" that seemed unchanged, "+page.Number(total.Wrong)+
			" had changed. Run again: the next run asks for the other "+page.Number(n)+".", "", "")
	}
	if report.Guard != nil && report.Guard.Rule == "bodies" {
		add("Look at what the server sends now. If the new bodies are right,", either(rec.Approve, "Harvester.Approve"), "accepts them.")
	}
	if n := report.Left.Withheld; n > 0 {
		add("Look at "+page.Plural(n, "resource", "resources")+" that the source no longer lists. If it is right that they go,",
			either(rec.Approve, "Harvester.Approve"), "deletes them.")
	}
	if n := report.Left.Parked; n > 0 {
		add(page.Plural(n, "resource has", "resources have")+" failed too often to be tried again before the source states a change.",
			either(rec.Recheck, "Harvester.Recheck"), "tries them at once.")
	}
	if report.Skipped > 0 && !report.AcceptSkipped {
		add(page.Plural(int64(report.Skipped), "entry", "entries")+" of the listing could not be read: tell the publisher.",
			either(rec.AcceptSkipped, "Harvester.AcceptSkipped"), "does without them.")
	}
	if len(report.Problems) > 0 {
		add("Documents of the source could not be read; the problems are below. Run again; if it stays so, tell the publisher.", "", "")
	}
	if !report.LogAhead.IsZero() {
		add("Check the clock: the last entry of the store's log has the time "+page.Time(report.LogAhead)+".", "", "")
	}
	if len(steps) == 0 && r.State() == NotInStep {
		add("Run again.", "", "")
	}
	return steps
}

func either(name, std string) string {
	if name == "" {
		return std
	}
	return name
}

// maxRuns limits the runs that a Recorder holds.
const maxRuns = 200

// runs are those that have ended.
type runs struct {
	all     []finished
	dropped int64 // that are not in all
	sum     sum   // of all and the dropped ones
}

// A finished run is what is kept of a Run.
type finished struct {
	key                           string // of the source
	source, title, verdict, guard string
	err                           []string // lines
	state                         State
	next                          []step
	started                       time.Time
	took                          time.Duration
	sum                           sum
	latest                        bool // no later run of its source is there
}

// A sum has the numbers of one or several Reports.
type sum struct {
	listed, left, requests, fetched, bytes, skipped, findings int64
	outcomes                                                  [numOutcomes]int64
}

func sumOf(r *harvest.Report) sum {
	s := sum{listed: r.Events, left: leftOver(r), fetched: r.Fetched, bytes: r.Bytes, skipped: int64(r.Skipped), findings: r.Findings}
	for _, n := range r.Requests {
		s.requests += n
	}
	for o, n := range map[harvest.Outcome]int64{
		harvest.OutcomeCreated: r.Created, harvest.OutcomeUpdated: r.Updated, harvest.OutcomeDeleted: r.Deleted, harvest.OutcomeTouched: r.Touched,
		harvest.OutcomeUnchanged: r.Unchanged, harvest.OutcomeHistory: r.History, harvest.OutcomeDeferred: r.Deferred, harvest.OutcomeFailed: r.Failed,
		harvest.OutcomeGone: r.Gone, harvest.OutcomeWithheld: r.Withheld,
	} {
		s.outcomes[o] = n
	}
	return s
}

func (s *sum) add(o *sum) {
	s.listed += o.listed
	s.requests += o.requests
	s.fetched += o.fetched
	s.bytes += o.bytes
	s.skipped += o.skipped
	s.findings += o.findings
	for i, n := range o.outcomes {
		s.outcomes[i] += n
	}
}

// Add records a run that has ended.
func (rec *Recorder) Add(r Run) {
	report := r.Report
	f := finished{
		key: report.Source, source: page.Shown(report.Source), title: page.Shown(r.Title), verdict: r.Verdict(), state: r.State(), next: rec.next(&r),
		started: report.Started, took: max(report.Ended.Sub(report.Started), 0),
		sum: sumOf(report), latest: true,
	}
	if r.Err != nil {
		for line := range strings.Lines(strings.TrimPrefix(r.Err.Error(), report.Source+": ")) {
			f.err = append(f.err, page.Shown(line))
		}
	}
	if report.Guard != nil {
		f.guard = page.Shown(report.Guard.Sentence())
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.now(0)
	rec.runs.add(f)
}

// maxErrors limits the errors outside of runs.
const maxErrors = 10

// Fail records an error outside of any run, such as that of a Store that can't be opened.
func (rec *Recorder) Fail(err error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.now(0)
	if len(rec.errors) < maxErrors {
		rec.errors = append(rec.errors, page.Shown(err.Error()))
	}
}

func (r *runs) add(f finished) {
	r.sum.add(&f.sum)
	for i := range r.all {
		if r.all[i].key == f.key {
			r.all[i].latest = false
		}
	}
	if len(r.all) >= maxRuns {
		r.drop()
	}
	r.all = append(r.all, f)
}

// drop removes one run: the oldest that a later one of its source follows, else the
// oldest that is in step, else the oldest.
func (r *runs) drop() {
	worst := 0
	for i := range r.all {
		if !r.all[i].latest {
			worst = i
			break
		}
		if r.all[worst].state != InStep && r.all[i].state == InStep {
			worst = i
		}
	}
	r.all = append(r.all[:worst], r.all[worst+1:]...)
	r.dropped++
}
