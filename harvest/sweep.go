package harvest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/websync-go/websync"
)

// A snapshot is a listing of everything there is, between its SnapshotStart and its
// SnapshotEnd.
type snapshot struct {
	last     websync.Seq // the last number of the log when it began: greater ones are new
	live     int64       // how many live records there were when it began
	followed bool        // a log of the changes since its At follows
	table    *seenTable

	resting map[string]bool // listed ids whose tasks stay as they are

	latest websync.Datetime // the latest time of its entries, if that is after its At
	note   listingNote      // of this listing
	before listingNote      // of the last complete listing with the same At
	noted  bool             // note is to be stored
}

// startSnapshot fills the table of known and seen ids.
func (p *pipe) startSnapshot(ctx context.Context, s *slot) error {
	if p.snap != nil {
		return &sourceError{errors.New("the source began a snapshot inside a snapshot")}
	}
	began := time.Now()
	head, err := p.h.Store.Head(ctx)
	if err != nil {
		return &StoreError{err}
	}
	snap := &snapshot{last: head.Last, followed: s.ev.Followed, resting: map[string]bool{}}
	if err := snap.describes(ctx, p, s.ev.At); err != nil {
		return err
	}
	// other processes may have added records since Head
	for size, filled := head.Live[p.key], false; !filled; size += 16 + size/2 {
		if filled, err = p.fill(ctx, snap, size); err != nil {
			return err
		}
	}
	p.snap = snap
	p.report.Snapshots++
	p.step(ctx, "plan", 0, began)
	return nil
}

// fill makes a table for about size records and enters all of them. It reports whether
// they fit. Records with a task are to be looked up.
func (p *pipe) fill(ctx context.Context, snap *snapshot, size int64) (filled bool, err error) {
	records, err := p.h.Store.Fingerprints(ctx, p.key)
	if err != nil {
		return false, &StoreError{err}
	}
	snap.table, snap.live = newSeenTable(records.Key, size), 0
	snap.table.whole = records.Others == 0
	for f, err := range records.All {
		if err != nil {
			return false, &StoreError{err}
		}
		if !snap.table.add(f.ID, snap.table.stateOf(f.State, p.keeps(f.HasContent, f.KeepsContent))) {
			return false, nil
		}
		snap.live++
	}
	for t, err := range p.h.Store.Tasks(ctx, p.key, "") {
		if err != nil {
			return false, &StoreError{err}
		}
		snap.table.forget(t.Resource.ID)
	}
	return true, nil
}

// endSnapshot deletes the records that a complete snapshot did not list, if the guard
// allows it. The last batch has the snapshot's checkpoint.
func (p *pipe) endSnapshot(ctx context.Context, s *slot) error {
	snap := p.snap
	if snap == nil {
		return &sourceError{errors.New("the source ended a snapshot that it did not begin")}
	}
	p.skip(s)
	w := &sweeper{pipe: p, snap: snap, end: &s.ev, batch: NewBatch(p.key)}
	if s.ev.Complete && !p.broken && !p.stuck {
		began := time.Now()
		if err := w.sweep(ctx); err != nil {
			return err
		}
		p.step(ctx, "sweep", 0, began)
	}
	p.snap = nil
	snap.keepNote(w.batch)
	p.resume(s)
	if at, ok := p.ledger.covered(); ok {
		w.batch.Checkpoint = &at.at
		defer p.ledger.passed(at.n)
	}
	return w.flush(ctx)
}

// A sweeper is the fifth stage: it deletes the records that a complete snapshot does not
// list, or withholds these deletions.
type sweeper struct {
	*pipe
	snap  *snapshot
	end   *Event
	why   *GuardError // why deletions are withheld; if nil, they are carried out
	batch *Batch
}

func (w *sweeper) sweep(ctx context.Context) error {
	gone, err := w.count(ctx)
	if err != nil {
		return err
	}
	memory, err := w.guardMemory(ctx)
	if err != nil {
		return &StoreError{err}
	}
	w.why = w.guard(gone, memory)
	if w.why != nil {
		w.withhold(w.why)
		memory.Withheld = &w.end.Options
	} else {
		memory.believe(w.end.Options, w.snap.live)
		w.deletes.Add(gone)
	}
	w.batch.State = memory.state(w.key) // with the first deletions
	if gone > 0 {
		if err := w.removeGone(ctx); err != nil {
			return err
		}
	}
	if w.report.readAll() {
		if err := w.sweepTasks(ctx); err != nil {
			return err
		}
	}
	return nil
}

// isGone reports whether the snapshot deletes a record: it does not list the record,
// which was there before it began and has not changed after the moment it describes. A
// record is not gone if a task that the snapshot does not end has a later state of it.
func (w *sweeper) isGone(rec *Brief, waiting *Task) bool {
	return rec.Live() && rec.Seq <= w.snap.last && !notBefore(w.believed(rec.Stated.time()), w.snap.sweptUntil()) && !w.snap.table.seen(rec.ID) &&
		(waiting == nil || waiting.Kind == TaskWithheld || w.ends(w.snap, waiting))
}

// eachGone calls f with every record that is gone, and with its task; nil if it has none.
func (w *sweeper) eachGone(ctx context.Context, f func(rec *Brief, waiting *Task) error) error {
	tasks := w.taskCursor(ctx)
	defer tasks.stop()
	for rec, err := range w.h.Store.Briefs(ctx, w.key, "") {
		if err != nil {
			return &StoreError{err}
		}
		waiting, err := tasks.find(rec.ID)
		if err != nil {
			return err
		}
		if !w.isGone(&rec, waiting) {
			continue
		}
		if err := f(&rec, waiting); err != nil {
			return err
		}
	}
	return nil
}

func (w *sweeper) count(ctx context.Context) (gone int64, err error) {
	if w.snap.table.allSeen() {
		return 0, nil
	}
	err = w.eachGone(ctx, func(*Brief, *Task) error { gone++; return nil })
	return gone, err
}

// skip counts the skipped entries that an event reports.
func (p *pipe) skip(s *slot) { p.report.Skipped += max(0, s.ev.Skipped) }

func (w *sweeper) removeGone(ctx context.Context) error {
	var ids []string
	waiting := map[string]*Task{}
	remove := func() error {
		defer func() { ids = ids[:0]; clear(waiting) }()
		return w.removeAll(ctx, ids, waiting)
	}
	err := w.eachGone(ctx, func(rec *Brief, task *Task) error {
		if ids = append(ids, rec.ID); task != nil {
			held := *task
			waiting[rec.ID] = &held
		}
		if len(ids) < planBatch {
			return nil
		}
		return remove()
	})
	if err != nil {
		return err
	}
	return remove()
}

// removeAll removes the records of ids, unless they have changed meanwhile.
func (w *sweeper) removeAll(ctx context.Context, ids []string, waiting map[string]*Task) error {
	if len(ids) == 0 {
		return nil
	}
	records, err := w.recordsOf(ctx, ids)
	if err != nil {
		return err
	}
	for i := range records {
		rec := &records[i]
		if b := rec.Brief(); !w.isGone(&b, waiting[ids[i]]) {
			continue
		}
		w.remove(rec, waiting[ids[i]])
		if err := w.flushFull(ctx); err != nil {
			return err
		}
	}
	return nil
}

// remove adds the deletion of a record to the batch, or a task for a withheld deletion.
func (w *sweeper) remove(rec *Record, waiting *Task) {
	id := rec.Resource.ID
	if w.why == nil {
		next := unlisted(rec, w.snap.moment())
		w.batch.Puts = append(w.batch.Puts, Change{Base: rec.Seq, Record: next})
		w.batch.Done = append(w.batch.Done, TaskRef{ID: id})
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
// It does not ask the guard: a later listing that has the resource stores a task again.
func (w *sweeper) sweepTasks(ctx context.Context) error {
	if w.dry != nil {
		snap := w.snap
		w.dry.store.ended = func(t *Task) bool { return w.ends(snap, t) }
		return nil
	}
	for t, err := range w.h.Store.Tasks(ctx, w.key, "") {
		if err != nil {
			return &StoreError{err}
		}
		if !w.ends(w.snap, &t) {
			continue
		}
		w.batch.Done = append(w.batch.Done, TaskRef{ID: t.Resource.ID, N: t.N})
		if err := w.flushFull(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ends reports whether a complete snapshot ends a task to get: an earlier run has stored
// it, the snapshot does not list its id, and its change is before the snapshot's moment.
func (r *run) ends(s *snapshot, t *Task) bool {
	if t.Kind != TaskGet || t.Run == r.id || s.table.seen(t.Resource.ID) || s.resting[t.Resource.ID] {
		return false
	}
	return !notBefore(r.believed(t.time()), s.moment())
}

func (w *sweeper) flushFull(ctx context.Context) error {
	if len(w.batch.Puts)+len(w.batch.Tasks)+len(w.batch.Done) < 2*commitSlots {
		return nil
	}
	return w.flush(ctx)
}

// flush commits the batch. It leaves out records that have changed meanwhile.
func (w *sweeper) flush(ctx context.Context) error {
	applied, err := w.commits.applyRest(ctx, w.batch)
	for _, c := range applied {
		w.outcome(c.Record.Resource.ID, OutcomeDeleted, nil)
	}
	w.batch = NewBatch(w.key)
	return err
}

func (b *Batch) empty() bool {
	return b.Checkpoint == nil && len(b.Puts)+len(b.Touches)+len(b.Tasks)+len(b.Done)+len(b.State) == 0
}

// without removes the puts and the ends of tasks of these ids.
func (b *Batch) without(ids []string) {
	out := make(map[string]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	b.ID = NewBatch("").ID
	b.Puts = slices.DeleteFunc(b.Puts, func(c Change) bool { return out[c.Record.Resource.ID] })
	b.Done = slices.DeleteFunc(b.Done, func(t TaskRef) bool { return out[t.ID] })
}
