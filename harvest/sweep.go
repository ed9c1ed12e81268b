package harvest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"
)

// endSnapshot deletes the records that a complete snapshot did not list, if the guard
// allows it. The last batch has the snapshot's checkpoint.
func (p *pipe) endSnapshot(ctx context.Context, s *slot) error {
	snap := p.snap
	if snap == nil {
		return &sourceError{errors.New("the source ended a snapshot that it did not begin")}
	}
	p.skip(s)
	w := &sweeper{pipe: p, snap: snap, documents: p.docs.take(), end: &s.ev, batch: newBatch(p.key)}
	swept := false
	if (s.ev.Complete || s.ev.Whole) && !p.broken {
		began := time.Now()
		if err := w.sweep(ctx); err != nil {
			return err
		}
		if len(w.batch.Puts) > 0 { // one of them may be left out, and then the membership is not clean
			if err := w.flush(ctx); err != nil {
				return err
			}
		}
		swept = s.ev.Complete && w.why == nil && p.report.Skipped == 0
		p.step(ctx, "sweep", 0, began)
	}
	p.endSample(w.batch)
	p.snap = nil
	if snap.noted {
		w.batch.set(listingState, snap.note)
	}
	p.resume(s)
	at, ok := p.ledger.covered()
	if ok {
		w.batch.Checkpoint = &at.at
		defer p.ledger.passed(at.n)
	}
	w.endMembers(swept && at.n == s.n)
	return w.flush(ctx)
}

// A sweeper is the fifth stage: it deletes the records that a complete snapshot does not
// list, or withholds these deletions.
type sweeper struct {
	*pipe
	snap      *snapshot
	documents []ListedDocument
	end       *Event
	absent    []string    // the ids that the snapshot does not list, in byte order; nil: too many
	why       *GuardError // why deletions are withheld; if nil, they are carried out
	batch     *batch
}

// sweep deletes the records that a complete snapshot did not list, and ends the tasks
// that it or a whole one did not.
func (w *sweeper) sweep(ctx context.Context) error {
	if w.end.Complete {
		if err := w.sweepRecords(ctx); err != nil {
			return err
		}
	}
	if !w.report.readAll() {
		return nil
	}
	return w.sweepTasks(ctx)
}

func (w *sweeper) sweepRecords(ctx context.Context) error {
	before, err := w.documentNotes(ctx)
	if err != nil {
		return err
	}
	if err := w.census(ctx); err != nil {
		return err
	}
	lost := w.lost(before)
	if err := w.count(ctx, lost); err != nil {
		return err
	}
	memory, err := recall[guardMemory](ctx, w.run, guardState)
	if err != nil {
		return err
	}
	documents := w.doubtDocuments(before, lost)
	w.why = w.guard(lost.gone, memory, documents)
	if w.why != nil {
		w.withhold(w.why)
		memory.Withheld = &w.end.Options
	} else {
		memory.believe(w.end.Options, w.snap.live)
		w.deletes.Add(lost.gone)
	}
	w.batch.set(guardState, memory) // with the first deletions
	if w.report.readAll() {
		if err := w.keepDocuments(ctx, documents); err != nil {
			return err
		}
	}
	if lost.gone == 0 {
		return nil
	}
	return w.removeGone(ctx)
}

// isGone reports whether the snapshot deletes a record: it does not list the record,
// which was there before it began and has not changed after the moment it describes. A
// record is not gone if a task that the snapshot does not end has a later state of it.
func (w *sweeper) isGone(rec *brief, waiting *Task) bool {
	return w.stays(rec) && !w.snap.stands(w.horizon().past(rec.Stated.time())) &&
		(waiting == nil || waiting.Kind == TaskWithheld || waiting.lags() || w.ends(w.snap, waiting))
}

// stays reports whether a live record that was there before the snapshot began is not
// listed.
func (w *sweeper) stays(rec *brief) bool {
	return rec.Live() && rec.Seq <= w.snap.last && !w.snap.table.seen(rec.ID)
}

// unlisted yields, in byte order, the records that may not be listed, perhaps with others.
func (w *sweeper) unlisted(ctx context.Context) iter.Seq2[brief, error] {
	if w.absent == nil {
		return w.catalog.briefs(ctx, w.key, "")
	}
	return func(yield func(brief, error) bool) {
		for ids := range slices.Chunk(w.absent, planBatch) {
			records, err := w.catalog.lookup(ctx, w.key, ids)
			for i := range records {
				if !yield(records[i].brief(), err) {
					return
				}
			}
			if err != nil {
				yield(brief{}, err)
				return
			}
		}
	}
}

// A goneRecord is a record that is gone, with its task; nil if it has none.
type goneRecord struct {
	rec     brief
	waiting *Task
}

// gone yields every record that is gone.
func (w *sweeper) gone(ctx context.Context) iter.Seq2[goneRecord, error] {
	return func(yield func(goneRecord, error) bool) {
		tasks := w.taskCursor(ctx)
		defer tasks.stop()
		for rec, err := range w.unlisted(ctx) {
			var waiting *Task
			if err == nil {
				waiting, err = tasks.find(rec.ID)
			}
			if err != nil {
				yield(goneRecord{}, &StoreError{err})
				return
			}
			if !w.isGone(&rec, waiting) {
				w.snap.members.partial = w.snap.members.partial || w.stays(&rec)
				continue
			}
			if !yield(goneRecord{rec, waiting}, nil) {
				return
			}
		}
	}
}

func (w *sweeper) count(ctx context.Context, l *lost) error {
	if w.snap.table.allSeen() {
		return nil
	}
	for gone, err := range w.gone(ctx) {
		if err != nil {
			return err
		}
		l.add(&gone.rec)
	}
	return nil
}

// skip counts the skipped entries that an event reports.
func (p *pipe) skip(s *slot) { p.report.Skipped += max(0, s.ev.Skipped) }

// removeGone removes the records that are gone, unless they have changed meanwhile.
func (w *sweeper) removeGone(ctx context.Context) error {
	for part, err := range parts(w.gone(ctx), planBatch) {
		if err != nil {
			return err
		}
		ids := make([]string, len(part))
		for i := range part {
			ids[i] = part[i].rec.ID
		}
		records, err := w.recordsOf(ctx, ids)
		if err != nil {
			return err
		}
		for i := range records {
			rec := &records[i]
			if b := rec.brief(); !w.isGone(&b, part[i].waiting) {
				w.snap.members.partial = true
				continue
			}
			w.remove(rec, part[i].waiting)
			if err := w.flushFull(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove adds the deletion of a record to the batch, or a task for a withheld deletion.
func (w *sweeper) remove(rec *Record, waiting *Task) {
	id := rec.Resource.ID
	if w.why == nil {
		next := unlisted(rec, w.snap.moment())
		w.batch.Puts = append(w.batch.Puts, change{Base: rec.Seq, Record: next})
		w.batch.Done = append(w.batch.Done, taskRef{ID: id})
		w.dry.report(Decision{ID: id, Outcome: OutcomeDeleted, Held: rec})
		return
	}
	if waiting == nil || waiting.Kind != TaskWithheld || waiting.Base != rec.Seq {
		w.batch.Tasks = append(w.batch.Tasks, *w.withheldTask(rec, w.snap.moment(), w.why))
	}
	w.outcome(id, OutcomeWithheld, w.why)
	w.dry.report(Decision{ID: id, Outcome: OutcomeWithheld, Held: rec})
}

// sweepTasks ends the tasks of earlier runs to get resources that are no longer listed.
// If the snapshot is not complete, those of live records stay: they have a later state of
// what is held. It does not ask the guard: a later listing that has the resource stores a
// task again.
func (w *sweeper) sweepTasks(ctx context.Context) error {
	for tasks, err := range parts(w.catalog.Tasks(ctx, w.key, ""), planBatch) {
		if err != nil {
			return &StoreError{err}
		}
		if tasks = slices.DeleteFunc(tasks, func(t Task) bool { return !w.ends(w.snap, &t) }); len(tasks) == 0 {
			continue
		}
		ids := make([]string, len(tasks))
		for i := range tasks {
			ids[i] = tasks[i].Resource.ID
		}
		records, err := w.recordsOf(ctx, ids)
		if err != nil {
			return err
		}
		for i := range tasks {
			if w.end.Complete || !records[i].Live() {
				w.batch.Done = append(w.batch.Done, taskRef{ID: ids[i], N: tasks[i].N})
			}
		}
		if err := w.flushFull(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ends reports whether a snapshot that listed everything ends a task to get: an earlier
// run has stored it, the snapshot does not list its id, and its change is before the
// snapshot's moment.
func (r *run) ends(s *snapshot, t *Task) bool {
	if t.Kind != TaskGet || t.Run == r.id || s.table.seen(t.Resource.ID) || s.tasks[t.Resource.ID] {
		return false
	}
	return !notBefore(r.horizon().past(t.time()), s.moment()) && !s.members.mayList(t)
}

func (w *sweeper) flushFull(ctx context.Context) error {
	if len(w.batch.Puts)+len(w.batch.Tasks)+len(w.batch.Done) < 2*commitSlots {
		return nil
	}
	return w.flush(ctx)
}

// flush commits the batch. It leaves out records that have changed meanwhile.
func (w *sweeper) flush(ctx context.Context) error {
	puts := len(w.batch.Puts)
	applied, err := w.commits.applyRest(ctx, w.batch)
	w.snap.members.partial = w.snap.members.partial || len(applied) < puts
	for _, c := range applied {
		w.outcome(c.Record.Resource.ID, OutcomeDeleted, nil)
	}
	w.batch = newBatch(w.key)
	return err
}

func (b *batch) empty() bool {
	return b.Checkpoint == nil && len(b.Puts)+len(b.Touches)+len(b.Listed)+len(b.Tasks)+len(b.Done)+len(b.State) == 0
}

// without removes the changes and the ends of tasks of these ids.
func (b *batch) without(ids []string) {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	b.ID = newBatch("").ID
	changes := func(c change) bool { return out[c.Record.Resource.ID] }
	b.Puts, b.Touches = slices.DeleteFunc(b.Puts, changes), slices.DeleteFunc(b.Touches, changes)
	b.Done = slices.DeleteFunc(b.Done, func(t taskRef) bool { return out[t.ID] })
}
