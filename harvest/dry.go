package harvest

import (
	"context"
	"fmt"
	"io"

	"github.com/websync-go/websync"
)

// A Decision is what a run would do about one event.
type Decision struct {
	ID string
	// Outcome is the expected one. If Get is set, the run may fail to get the bodies, and
	// OutcomeUpdated may become OutcomeTouched or OutcomeUnchanged once they are known.
	// OutcomeUnchanged with Get means that only the server knows.
	Outcome Outcome
	// Get: the run would get the bodies.
	Get bool
	// Resource is the description in the event; nil for a deletion.
	Resource *websync.Resource
	// Held is the record in the Catalog; nil if there is none.
	Held *Record
}

// Plan is a Run that gets no bodies, takes no claim and writes nothing. It calls each, if
// that is not nil, for every decision in the order of the listing, one call at a time and
// in a goroutine of the run; the Decision is valid during the call. The Report counts the
// expected outcomes.
//
// An event is compared with the result of earlier events of its id if that is among the
// last 65,536 changes, and nobody has written to the Catalog since.
func (h *Harvester) Plan(ctx context.Context, src Source, each func(Decision)) (*Report, error) {
	return h.dryRun(ctx, src, &dryRun{each: each})
}

// Audit is a Plan that compares everything. It lists the source from the beginning and
// verifies the bodies in the Catalog; a body that is damaged is a Failure. It compares a
// resource by its description alone if the source states neither a time nor a digest.
// [Report.Differences] counts the differences.
func (h *Harvester) Audit(ctx context.Context, src Source, each func(Decision)) (*Report, error) {
	return h.dryRun(ctx, src, &dryRun{each: each, audit: true})
}

// Differences returns how many differences a Plan or an Audit found.
func (r *Report) Differences() int64 {
	return r.Created + r.Updated + r.Deleted + r.Withheld + r.Failed
}

// A dryRun has what Plan and Audit add to a run.
type dryRun struct {
	each  func(Decision)
	audit bool
	below *Catalog

	decided []*slot             // to be committed
	changed map[string]struct{} // the ids that the batch has changed since it was looked up
}

func (d *dryRun) audits() bool { return d != nil && d.audit }

func (d *dryRun) report(decision Decision) {
	if d != nil && d.each != nil {
		d.each(decision)
	}
}

// dryRun is Run on an overlay of the Store. Report.Left counts the tasks of the Catalog
// itself.
func (h *Harvester) dryRun(ctx context.Context, src Source, dry *dryRun) (*Report, error) {
	over := *h
	over.dry, dry.below, dry.changed = dry, h.Catalog, map[string]struct{}{}
	if h.Catalog != nil {
		over.Catalog = h.Catalog.overlaid()
	}
	if h.Fetcher != nil {
		over.Fetcher = struct{ Fetcher }{h.Fetcher} // hides Unsaved
	}
	if h.Hooks != nil {
		hooks := *h.Hooks
		hooks.Commit = nil
		over.Hooks = &hooks
	}
	claim := func(r *run, ctx context.Context) (*claim, error) { return r.claim(ctx, "plan/"+r.key) }
	return over.claimed(ctx, src, claim, func(r *run, ctx context.Context) error {
		if err := r.list(ctx, -1); err != nil {
			return err
		}
		return r.planTasks(ctx)
	})
}

// planTasks plans each task that is due once, also those that a worker has in hand.
func (r *run) planTasks(ctx context.Context) error {
	r.hasTasks.Store(true)
	return r.pipe(ctx, -1, func(ctx context.Context, give func(*slot) error) error {
		n := int64(0)
		for t, err := range r.catalog.Tasks(ctx, r.key, "") {
			if err != nil {
				return &StoreError{err}
			}
			if !mayFallDue(&t) || t.Due.After(r.dueNow()) {
				continue
			}
			n++
			if err := give(&slot{n: n, statement: statement{ev: t.event(), task: &t}}); err != nil {
				return err
			}
		}
		return nil
	})
}

// foresee decides what a get leads to, as far as that is known without the bodies.
func (p *pipe) foresee(s *slot) {
	st := s.aim
	switch lacks := !s.held.content && st.ev.hasContent(); {
	case !s.get:
	case !s.rec.Live():
		s.outcome, s.change = OutcomeCreated, p.foreseen(s)
	case !lacks && !st.ev.At.After(s.rec.Stated.time()) && (st.restates(s.rec) || st.isHeld(&s.held)):
		s.decision = decision{outcome: OutcomeUnchanged, get: !p.dry.audit}
	default:
		s.outcome, s.change = OutcomeUpdated, p.foreseen(s)
	}
}

// foreseen returns the change that a get leads to, as far as it is known.
func (p *pipe) foreseen(s *slot) *change {
	change := p.putOf(s)
	unknown := websync.Digest{Algorithm: keyAlgorithm}
	change.Record.Bodies = []websync.Body{{Name: websync.ContentName, Link: s.aim.ev.Resource.Content, Key: unknown}}
	return change
}

// finish reports what is decided about a slot, and keeps it for commit.
func (d *dryRun) finish(ctx context.Context, p *pipe, s *slot) {
	d.decided = append(d.decided, s)
	d.changed[s.id()] = struct{}{}
	p.retire(ctx, s)
	p.free(s)
}

// renew looks up what a slot is compared with once more, if an earlier slot of the batch
// has changed it.
func (d *dryRun) renew(ctx context.Context, p *pipe, s *slot) error {
	if _, ok := d.changed[s.id()]; !ok {
		return nil
	}
	if err := d.apply(ctx, p); err != nil {
		return err
	}
	return p.lookup(ctx, []*slot{s})
}

// commit applies what is left of a batch before the next one is looked up.
func (d *dryRun) commit(ctx context.Context, p *pipe) error {
	if d == nil {
		return nil
	}
	clear(d.changed)
	return d.apply(ctx, p)
}

// apply commits what is decided to the overlay. It leaves out what others have changed
// below it.
func (d *dryRun) apply(ctx context.Context, p *pipe) error {
	if len(d.decided) == 0 {
		return nil
	}
	b := p.batch(d.decided)
	clear(d.decided)
	d.decided = d.decided[:0]
	_, err := p.commits.applyRest(ctx, b)
	return err
}

// done reports the decision about a slot. An audit reads the bodies of unchanged records.
func (d *dryRun) done(ctx context.Context, p *pipe, s *slot) {
	if s.outcome == OutcomeUnchanged && d.audit {
		if s.err = p.auditBodies(ctx, s.rec); s.err != nil {
			s.outcome = OutcomeFailed
			p.report.failure(Failure{Source: p.key, ID: s.id(), Error: s.err.Error()})
		}
	}
	decision := Decision{ID: s.id(), Outcome: s.outcome, Get: s.get}
	if s.rec.Known() {
		decision.Held = s.rec
	}
	if s.ev.Kind == Put {
		decision.Resource = &s.aim.ev.Resource
	}
	d.report(decision)
}

// auditBodies verifies the stored bodies of a record.
func (p *pipe) auditBodies(ctx context.Context, rec *Record) error {
	for _, b := range rec.Bodies {
		if b.Key.IsZero() {
			continue
		}
		if err := p.auditBody(ctx, b); err != nil {
			return fmt.Errorf("body %q: %w", b.Name, err)
		}
	}
	return nil
}

func (p *pipe) auditBody(ctx context.Context, b websync.Body) error {
	r, err := p.catalog.Open(ctx, b)
	if err != nil {
		return err
	}
	defer r.Close()
	kept := websync.Link{Href: b.Link.Href, Length: b.Link.Length, Digests: websync.Digests{b.Key}}
	_, err = io.Copy(io.Discard, kept.Verify(r))
	return err
}
