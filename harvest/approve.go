package harvest

import "context"

// Approve carries out the deletions of src that were withheld, each only if its record
// has not changed since, and accepts the options under which the source was listed. It
// asks the source nothing. The Report counts what it deleted.
func (h *Harvester) Approve(ctx context.Context, src Source) (*Report, error) {
	return h.claimed(ctx, src, (*run).claimSource, func(ctx context.Context, r *run) error {
		r.report.Complete = true
		return r.approve(ctx)
	})
}

func (r *run) approve(ctx context.Context) error {
	memory, err := r.guardMemory(ctx)
	if err != nil {
		return err
	}
	memory.accept()
	var tasks []Task
	for t, err := range r.h.Store.Tasks(ctx, r.key, "") {
		if err != nil {
			return err
		}
		if t.Kind != TaskWithheld {
			continue
		}
		if tasks = append(tasks, t); len(tasks) == commitSlots {
			if err := r.approveTasks(ctx, tasks, memory); err != nil {
				return err
			}
			tasks = tasks[:0]
		}
	}
	return r.approveTasks(ctx, tasks, memory)
}

// approveTasks deletes what some withheld tasks name. A record that has another number
// than the task has changed: it stays, and the task ends.
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
	b := NewBatch(r.key)
	b.State = memory.state(r.key)
	for i, t := range tasks {
		if rec := &records[i]; rec.Live() && rec.Seq == t.Base {
			b.Puts = append(b.Puts, Change{Base: rec.Seq, Record: tombstone(rec, t.At)})
		}
		b.Done = append(b.Done, TaskRef{ID: ids[i], N: t.N})
	}
	applied, err := r.commits.applyRest(ctx, b)
	for _, c := range applied {
		r.outcome(c.Record.Resource.ID, OutcomeDeleted, nil)
	}
	return err
}
