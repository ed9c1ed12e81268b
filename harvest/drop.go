package harvest

import "context"

// DropSource deletes all records of a source that nobody harvests any more, as a complete
// listing without any entry would, whatever the delete guard says. Then it forgets the
// source's tasks, its checkpoint, and what runs have noted of it. Its readers get a tombstone
// for each record, which stays, as that of any other deletion. While a run goes on, the
// error is [ErrHeld]. An interrupted call is continued by the next. If the source is
// harvested again, all its records come back.
func (h *Harvester) DropSource(ctx context.Context, source string) (*Report, error) {
	notes := []string{alikeKey(source), beliefKey(source), documentsKey(source), guardKey(source), membershipKey(source),
		workKey(source)}
	if err := h.Catalog.forget(ctx, source, notes); err != nil { // the guard remembers earlier listings
		return nil, err
	}
	all := &Harvester{Catalog: h.Catalog, Hooks: h.Hooks, Log: h.Log, Bodies: SkipBodies, MaxDelete: -1}
	report, err := all.Run(ctx, Of(source, Event{Kind: SnapshotStart}, Event{Kind: SnapshotEnd, Complete: true}))
	if err != nil {
		return report, err
	}
	return report, h.Catalog.forget(ctx, source, notes)
}
