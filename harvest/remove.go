package harvest

import (
	"context"

	"github.com/websync-go/websync"
)

// Remove deletes all records of src, and ends its tasks: for a publisher that is followed
// no longer, or for a set that its publisher no longer names. Nothing else does that;
// what no source lists any more stays as it is. Readers of the Catalog learn of the
// deletions. Neither MaxDelete nor MaxDeletes limits them. The source is asked nothing,
// and if it is run again, it is listed from the beginning. The Report counts what was
// deleted.
func (h *Harvester) Remove(ctx context.Context, src Source) (*Report, error) {
	return h.claimed(ctx, src, (*run).claimSource, (*run).remove)
}

func (r *run) remove(ctx context.Context) error {
	r.report.Complete = true
	b := newBatch(r.key)
	b.Checkpoint = &Checkpoint{} // first: a run after an interruption lists everything again
	b.State = map[string][]byte{}
	memories := [...]memory{guardState, documentsState, listingState, beliefState, alikeState, membershipState, choiceState}
	for _, m := range memories {
		b.State[m.of(r.key)] = nil
	}
	flush := func() error {
		applied, err := r.commits.applyRest(ctx, b)
		for i := range applied {
			r.outcome(applied[i].Record.Resource.ID, OutcomeDeleted, nil)
		}
		b = newBatch(r.key)
		return err
	}
	for t, err := range r.catalog.Tasks(ctx, r.key, "") {
		if err != nil {
			return &StoreError{err}
		}
		if b.Done = append(b.Done, taskRef{ID: t.Resource.ID, N: t.N}); len(b.Done) == commitSlots {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	for rec, err := range r.catalog.Records(ctx, r.key, "") {
		switch {
		case err != nil:
			return &StoreError{err}
		case !rec.Live():
			continue
		}
		// without a time: whatever the source states of it later is new
		gone := Record{Item: websync.Item{Kind: websync.Deleted, Resource: rec.Resource}}
		if b.Puts = append(b.Puts, change{Base: rec.Seq, Record: gone}); len(b.Puts) == commitSlots {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
