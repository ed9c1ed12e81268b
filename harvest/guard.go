package harvest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/websync-go/websync"
)

// A guardMemory is what the guard keeps of the complete snapshots of a source. It is
// stored in the same Commit as their deletions.
type guardMemory struct {
	// Options are the options of the last snapshot that passed the guard; nil if none
	// has.
	Options *string `json:"options,omitempty"`
	// Withheld are the options of a later snapshot that did not pass it.
	Withheld *string `json:"withheld,omitempty"`
	// Live has the number of live records at the beginning of each of the last snapshots
	// that passed the guard.
	Live []int64 `json:"live,omitempty"`
}

// guardedSnapshots is how many complete snapshots in a row the guard judges together.
const guardedSnapshots = 10

// believe notes a snapshot that passes the guard, and how many live records there were
// when it began.
func (m *guardMemory) believe(options string, live int64) {
	m.Options, m.Withheld = &options, nil
	m.Live = append(m.Live, live)
	m.Live = m.Live[max(0, len(m.Live)-guardedSnapshots+1):]
}

// withhold reports and logs why deletions or bodies are withheld.
func (r *run) withhold(why *GuardError) {
	r.report.mu.Lock()
	before := r.report.Guard
	r.report.Guard = cmp.Or(before, why)
	r.report.mu.Unlock()
	if before == nil || before.Rule != why.Rule {
		r.log.Warn("withheld", "source", r.key, "why", why)
	}
}

// guard returns why the deletions of a snapshot are withheld; nil if they are not.
func (w *sweeper) guard(gone int64, memory guardMemory, documents *documentDoubts) *GuardError {
	if gone == 0 {
		return nil
	}
	rule, why := w.doubt(gone, memory, documents)
	if rule == "" {
		return nil
	}
	return &GuardError{rule, why + "; Approve carries the deletions out, or a later listing in full that the guard lets pass"}
}

// share returns MaxDelete, and up to how many records it does not limit.
func (w *sweeper) share() (share float64, few int64) {
	if w.h.MaxDelete == 0 {
		return 0.5, 10
	}
	return w.h.MaxDelete, 0
}

// tooMany reports whether the loss of some records is more than MaxDelete allows.
func (w *sweeper) tooMany(gone, of int64) bool {
	share, few := w.share()
	return share > 0 && of > few && float64(gone) > math.Floor(share*float64(of))
}

// doubt returns the rule that the deletions break, and how they break it. The rule
// "share" also limits what the last snapshots deleted in sum, less what was added
// meanwhile.
func (w *sweeper) doubt(gone int64, memory guardMemory, documents *documentDoubts) (rule, why string) {
	live := w.snap.live
	share, few := w.share()
	peak := live
	for _, n := range memory.Live {
		peak = max(peak, n)
	}
	left := live - gone + w.snap.table.unknown
	all := gone + w.deletes.Load() // in this run
	switch {
	case !w.report.readAll():
		return "skipped", fmt.Sprintf("%d entries of the listing could not be read", w.report.Skipped)
	case memory.Options != nil && *memory.Options != w.end.Options:
		return "options", "the source's options changed since the last complete listing"
	case w.tooMany(gone, live):
		return "share", fmt.Sprintf("%d of %d records would be deleted, more than a share of %g", gone, live, share)
	case share > 0 && gone == live && live <= few:
		return "share", fmt.Sprintf("%d of %d records would be deleted: all", gone, live)
	case w.tooMany(peak-left, peak):
		const message = "%d records would be left of %d within %d complete listings, which takes away more than a share of %g"
		return "share", fmt.Sprintf(message, left, peak, len(memory.Live)+1, share)
	case w.h.MaxDeletes > 0 && all > int64(w.h.MaxDeletes):
		return "number", fmt.Sprintf("%d records would be deleted in this run, more than %d", all, w.h.MaxDeletes)
	case documents.why != "":
		return "document", documents.why
	}
	return "", ""
}

// withholdDelete turns the deletion that an event states into a task if the run has
// carried out as many as MaxDeletes allows. A deletion that was withheld and is stated
// again stays withheld.
func (p *pipe) withholdDelete(s *slot) {
	if s.outcome != OutcomeDeleted {
		return
	}
	t := s.waiting
	again := p.h.MaxDeletes > 0 && t != nil && t.Kind == TaskWithheld && t.Base == s.rec.Seq && t.At == s.ev.time()
	if !again && p.mayDelete() {
		return
	}
	const message = "the source states more than %d deletions; only Approve carries out the others"
	why := &GuardError{"number", fmt.Sprintf(message, p.h.MaxDeletes)}
	p.withhold(why)
	s.decision = decision{outcome: OutcomeWithheld, todo: p.withheldTask(s.rec, s.ev.time(), why)}
}

// mayDelete reports whether this run may delete one more record, and counts it.
func (p *pipe) mayDelete() bool {
	if n := p.deletes.Add(1); p.h.MaxDeletes <= 0 || n <= int64(p.h.MaxDeletes) {
		return true
	}
	p.deletes.Add(-1)
	return false
}

// withheldTask returns the task that deletes a record once the user approves it.
func (r *run) withheldTask(rec *Record, at websync.Datetime, why *GuardError) *Task {
	return &Task{Source: r.key, Kind: TaskWithheld, Resource: rec.Resource, At: at, Base: rec.Seq, Run: r.id, Error: why.Message}
}

// Approve carries out the deletions of src that were withheld, each only if its record
// has not changed since, and accepts the options under which the source was listed, and
// the body that many resources had in the run before: the next run keeps it. It asks the
// source nothing. The Report counts what it deleted.
func (h *Harvester) Approve(ctx context.Context, src Source) (*Report, error) {
	return h.claimed(ctx, src, (*run).claimSource, (*run).approve)
}

func (r *run) approve(ctx context.Context) error {
	r.report.Complete = true
	memory, err := recall[guardMemory](ctx, r, guardState)
	if err != nil {
		return err
	}
	memory.Options, memory.Withheld, memory.Live = cmp.Or(memory.Withheld, memory.Options), nil, nil
	alike := false
	for tasks, err := range parts(r.catalog.Tasks(ctx, r.key, ""), commitSlots) {
		if err != nil {
			return &StoreError{err}
		}
		for i := range tasks {
			alike = alike || tasks[i].Kind == TaskGet && tasks[i].Error == alikeMessage
		}
		withheld := slices.DeleteFunc(tasks, func(t Task) bool { return t.Kind != TaskWithheld })
		if err := r.approveTasks(ctx, withheld, memory); err != nil {
			return err
		}
	}
	if alike {
		return r.acceptAlike(ctx)
	}
	return nil
}

// approveTasks carries out withheld deletions. A record whose number is not the task's
// Base has changed: it stays, and the task ends.
func (r *run) approveTasks(ctx context.Context, tasks []Task, memory guardMemory) error {
	if len(tasks) == 0 {
		return nil
	}
	ids := make([]string, len(tasks))
	for i := range tasks {
		ids[i] = tasks[i].Resource.ID
	}
	records, err := r.recordsOf(ctx, ids)
	if err != nil {
		return err
	}
	b := newBatch(r.key)
	b.set(guardState, memory)
	b.State[documentsState.of(r.key)] = nil
	for i, t := range tasks {
		if rec := &records[i]; rec.Live() && rec.Seq == t.Base {
			b.Puts = append(b.Puts, change{Base: rec.Seq, Record: unlisted(rec, t.At)})
		}
		b.Done = append(b.Done, taskRef{ID: ids[i], N: t.N})
	}
	applied, err := r.commits.applyRest(ctx, b)
	for _, c := range applied {
		r.outcome(c.Record.Resource.ID, OutcomeDeleted, nil)
	}
	return err
}
