package harvest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/websync-go/websync"
)

// A Decision is what a run would do about one id.
type Decision struct {
	ID string
	// Outcome to be expected. With Get, Updated may turn out as Touched or Unchanged once
	// the bytes are known, and the get may fail; Unchanged means that the source states
	// too little to know, so that the server is to be asked.
	Outcome Outcome
	// Get: the bodies are to be obtained first.
	Get bool
	// Resource is the resource as announced; nil for a deletion.
	Resource *websync.Resource
	// Held is what the Store holds; nil if the id is not known to it.
	Held *Record
}

// Plan tells what Run would do now, and writes nothing: it lists the source and decides
// with the same code about the same records, but gets no bodies and takes no claim. Each,
// if not nil, is called for every decision in the order of the listing; what it is given
// is valid during the call. The Report counts the outcomes to be expected.
//
// Events of one id are decided on what the earlier ones lead to, as far as they are among
// the last 65,536 changes.
func (h *Harvester) Plan(ctx context.Context, src Source, each func(Decision)) (*Report, error) {
	return h.dryRun(ctx, src, &dryRun{each: each})
}

// Audit compares everything and gets nothing: it makes a pass from the beginning, tells
// every difference between the source and the Store as a Decision, and reads the bodies
// that the Store holds to see that they are still what they were; one that is not is a
// Failure. What a source states neither a time nor a digest of is compared by its
// description alone. [Report.Differences] counts. Each may be nil.
func (h *Harvester) Audit(ctx context.Context, src Source, each func(Decision)) (*Report, error) {
	return h.dryRun(ctx, src, &dryRun{each: each, audit: true})
}

// Differences returns how many ids a Plan or an Audit found not to be in step.
func (r *Report) Differences() int64 {
	return r.Created + r.Updated + r.Deleted + r.Withheld + r.Failed
}

// A dryRun is a run that writes nothing.
type dryRun struct {
	each    func(Decision)
	audit   bool
	planned map[string]*Record // what earlier events lead to
	last    websync.Seq        // number of the last change that is planned; greater than those of the Store
	swept   *snapshot          // the last one that ends tasks
}

// maxPlanned bounds planned.
const maxPlanned = 1 << 16

// put notes a change that later events will meet.
func (d *dryRun) put(rec Record) {
	if d == nil {
		return
	}
	d.last++
	rec.Seq = d.last
	d.touch(rec)
}

// touch notes a record that later events will meet, and that no task waits for any more.
func (d *dryRun) touch(rec Record) {
	if d == nil {
		return
	}
	if len(d.planned) >= maxPlanned {
		clear(d.planned)
	}
	d.planned[rec.Resource.ID] = &rec
}

// expected returns what earlier events lead to; nil if there were none.
func (d *dryRun) expected(id string) *Record {
	if d == nil {
		return nil
	}
	return d.planned[id]
}

// last returns the number of the last change.
func (r *run) last(head websync.Head) websync.Seq {
	if r.dry != nil {
		return r.dry.last
	}
	return head.Last
}

// records yields the source's records in byte order of the id; to a dry run, as earlier
// events leave them.
func (r *run) records(ctx context.Context) iter.Seq2[Record, error] {
	stored := r.h.Store.Records(ctx, r.key, "")
	if r.dry == nil {
		return stored
	}
	return r.dry.merge(stored)
}

// merge puts what is planned in its place among the records that are stored.
func (d *dryRun) merge(stored iter.Seq2[Record, error]) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		ids := slices.Sorted(maps.Keys(d.planned))
		next := func() bool {
			rec := d.planned[ids[0]] // nil: put out to make room
			ids = ids[1:]
			return rec == nil || yield(*rec, nil)
		}
		for rec, err := range stored {
			for len(ids) > 0 && ids[0] < rec.Resource.ID {
				if !next() {
					return
				}
			}
			if len(ids) > 0 && ids[0] == rec.Resource.ID {
				ids = ids[1:]
			}
			if planned := d.planned[rec.Resource.ID]; planned != nil {
				rec = *planned
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
		for len(ids) > 0 && next() {
		}
	}
}

func (d *dryRun) audits() bool { return d != nil && d.audit }

func (d *dryRun) tell(decision Decision) {
	if d != nil && d.each != nil {
		d.each(decision)
	}
}

func (h *Harvester) dryRun(ctx context.Context, src Source, dry *dryRun) (*Report, error) {
	r, err := newRun(h, src)
	if err != nil {
		return r.report, err
	}
	r.dry = dry
	err = r.considerAll(ctx)
	err = errors.Join(err, r.report.countLeft(context.WithoutCancel(ctx), h.Store))
	r.report.Ended = time.Now().UTC()
	if err != nil {
		r.report.Complete = false
		return r.report, fmt.Errorf("harvest: %s: %w", websync.RedactURL(r.key), err)
	}
	return r.report, nil
}

// considerAll lists the source, and the tasks that are due, to the planner.
func (r *run) considerAll(ctx context.Context) error {
	from, err := r.h.Store.Checkpoint(ctx, r.key)
	if err != nil {
		return err
	}
	r.report.From, r.report.To, r.report.Complete = from, from, true
	if r.isFull() {
		from = Checkpoint{}
	}
	if err := r.findTasks(ctx); err != nil {
		return err
	}
	r.dry.planned, r.dry.last = map[string]*Record{}, 1<<62
	p := r.newPipe(-1)
	var batch []*slot
	flush := func() error {
		defer func() { batch = batch[:0] }()
		return p.planEvents(ctx, batch)
	}
	err = r.walk(ctx, from, func(s *slot) error {
		if s.ev.Kind <= Delete {
			if batch = append(batch, s); len(batch) < planBatch {
				return nil
			}
			return flush()
		}
		err := flush()
		p.drain(ctx, s)
		return errors.Join(err, p.control(ctx, s))
	})
	err = errors.Join(err, flush())
	p.drain(ctx, nil)
	p.endListing()
	if err != nil {
		return err
	}
	return p.considerTasks(ctx)
}

// considerTasks tells which tasks would be carried out.
func (p *pipe) considerTasks(ctx context.Context) error {
	now := p.report.Started
	for t, err := range p.h.Store.Tasks(ctx, p.key, "") {
		if err != nil {
			return err
		}
		if t.Kind != TaskGet || t.Parked || t.Due.After(now) || p.dry.expected(t.Resource.ID) != nil ||
			p.dry.swept != nil && p.ends(p.dry.swept, &t) {
			continue
		}
		s := &slot{ev: t.event(), task: &t}
		if err := p.planEvents(ctx, []*slot{s}); err != nil {
			return err
		}
	}
	return nil
}

// consider tells what is decided about a slot.
func (p *pipe) consider(ctx context.Context, s *slot, d decision) {
	ask := d.get && s.rec.Live() && !p.lacks(s) && !s.ev.At.After(s.rec.time()) && (s.restates() || p.isUnchanged(s))
	if ask && p.dry.audit {
		d = decision{outcome: OutcomeUnchanged}
	}
	told := Decision{ID: s.id(), Outcome: d.outcome, Get: d.get}
	if s.rec.Known() {
		told.Held = s.rec
	}
	if s.ev.Kind == Put {
		told.Resource = &s.ev.Resource
	}
	switch {
	case d.get && !ask:
		told.Outcome = OutcomeUpdated
		if !s.rec.Live() {
			told.Outcome = OutcomeCreated
		}
		p.dry.put(obtained(s))
	case d.change != nil && !d.touch:
		p.dry.put(d.change.Record)
	case d.change != nil:
		p.dry.touch(d.change.Record)
	case p.endsTask(s, d):
		p.dry.touch(*s.rec)
	}
	var err error
	if told.Outcome == OutcomeUnchanged && p.dry.audit {
		if err = p.auditBodies(ctx, s.rec); err != nil {
			told.Outcome = OutcomeFailed
			p.report.failure(Failure{Source: p.key, ID: s.id(), Error: err.Error()})
		}
	}
	p.ledger.leave(s)
	p.free(s)
	p.outcome(s.id(), told.Outcome, err)
	p.dry.tell(told)
}

// obtained returns the record that a get leads to, as far as it can be known.
func obtained(s *slot) Record {
	key := websync.Digest{Algorithm: keyAlgorithm}
	bodies := []websync.Body{{Name: ContentName, Link: s.ev.Resource.Content, Key: key}}
	return Record{Item: websync.Item{At: s.ev.time(), Resource: s.ev.Resource, Bodies: bodies}, Stated: s.stated}
}

// auditBodies reads what the Store holds of a record.
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
	r, err := p.h.Store.Open(ctx, b)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, websync.Link{Href: b.Link.Href, Length: b.Link.Length, Digests: websync.Digests{b.Key}}.Verify(r))
	return err
}
