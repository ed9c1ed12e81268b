package harvest

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// A Quota limits what the Catalog takes of one source, so that no source can fill the
// Store, or what is published from it. If a field is zero or negative, there is no limit.
//
// Over a limit, a run leaves out new records, and updates that take more of what is
// limited. Deletions go on, and so do other updates. The run is not in step, and
// Report.OverQuota states why. No checkpoint passes what was left out: when the limit is
// raised, or the source has deleted enough, the next run takes it.
//
// Processes that share the tasks of a source may exceed a limit by what each has on its
// way. The first run with a limit on bytes or entries reads all records of the source
// once; from then on, the Catalog keeps the sums.
type Quota struct {
	// Records limits the live records. Tasks to get new ones count.
	Records int64
	// Bodies limits the bytes of the bodies that live records keep. Bytes that several
	// records have count for each.
	Bodies int64
	// Descriptions limits the bytes of the descriptions of live records, as
	// [websync.Resource.Size] counts them. Tasks to get new ones count.
	Descriptions int64
	// Description limits the bytes of the description of one record, counted likewise.
	Description int64
	// Entries limits the entries of the log on one day, UTC. Deletions count, but are
	// carried out all the same.
	Entries int64

	// Shared are the Keys of sources that hold this together with the one that runs, such
	// as those to which one publisher's URL leads. Description is of one record all the
	// same. Sources that run at the same time may exceed a limit by what each has on its
	// way.
	Shared []string
}

// A QuotaError is the limit of a Quota that has left something out.
type QuotaError struct {
	Limit   string `json:"limit"`    // the name of the field of Quota
	Max     int64  `json:"max"`      // its value
	Held    int64  `json:"held"`     // what counts towards it, when something was first left out
	LeftOut int64  `json:"left_out"` // events and tasks in this run
}

func (e *QuotaError) Error() string {
	const format = "over the quota: %s (Quota.%s), and %d changes are left out; " +
		"a run with a higher limit takes them, or one after the source holds less"
	text := "%d of at most %d are taken" // of a limit that a later version may have noted
	for _, l := range quotaLimits {
		if l.field == e.Limit {
			text = l.text
		}
	}
	return fmt.Sprintf(format, fmt.Sprintf(text, e.Held, e.Max), e.Limit, e.LeftOut)
}

// A quotaLimit is a field of Quota, and the text for what it has left out.
type quotaLimit struct{ field, text string }

var quotaLimits = [...]quotaLimit{
	ofRecords:      {"Records", "%d of at most %d records are taken"},
	ofBodies:       {"Bodies", "%d of at most %d bytes of bodies are taken"},
	ofDescriptions: {"Descriptions", "%d of at most %d bytes of descriptions are taken"},
	ofEntries:      {"Entries", "%d of at most %d entries of the log of this day are taken"},
	ofDescription:  {"Description", "a description has %d of at most %d bytes"},
}

// A quota is what a run knows of the Quota of its source. A nil one limits nothing.
type quota struct {
	run     *run
	limits  amounts
	sources []string

	mu    sync.Mutex
	held  amounts // by all sources, after the last Commit
	taken amounts // by slots on their way
	tasks amounts // by tasks to get what has no record
}

// newQuota returns what the sources hold now; nil if nothing is limited.
func (r *run) newQuota(ctx context.Context) (*quota, error) {
	l := r.h.Quota
	q := &quota{run: r, limits: amounts{l.Records, l.Bodies, l.Descriptions, l.Entries}}
	if max(l.Records, l.Bodies, l.Descriptions, l.Entries) <= 0 {
		return nil, nil
	}
	q.sources = slices.Compact(slices.Sorted(slices.Values(append(slices.Clip(l.Shared), r.key))))
	held, uncounted, err := r.catalog.amounts(ctx, q.sources...)
	if max(l.Bodies, l.Descriptions, l.Entries) > 0 && len(uncounted) > 0 && err == nil {
		for _, source := range uncounted {
			if err := r.catalog.countUsage(ctx, source); err != nil {
				return nil, &StoreError{err}
			}
		}
		held, _, err = r.catalog.amounts(ctx, q.sources...)
	}
	if err != nil {
		return nil, &StoreError{err}
	}
	q.held = held
	for _, source := range q.sources {
		for t, err := range r.catalog.Tasks(ctx, source, "") {
			if err != nil {
				return nil, &StoreError{err}
			}
			q.tasks.add(1, takenBy(&t))
		}
	}
	return q, nil
}

// keepQuota reports whether the Quota allows what a slot takes. If not, the slot is left
// out.
func (p *pipe) keepQuota(s *slot) bool {
	why := p.tooLong(s)
	if why == nil && p.quota != nil {
		why = p.quota.take(s, p.growth(s))
	}
	if why != nil {
		p.leaveOut(s, why)
	}
	return why == nil
}

// leaveOut leaves out what a slot takes.
func (p *pipe) leaveOut(s *slot, why *QuotaError) {
	s.err, s.bodies, s.done, s.decision = why, nil, nil, decision{outcome: OutcomeWithheld}
	if s.task != nil {
		s.todo = p.retryTask(s, why)
	} else {
		p.ledger.stop(s.n)
	}
	p.overQuota(why)
}

// tooLong returns the limit of a description if that of a slot is longer, and longer than
// that of the record.
func (p *pipe) tooLong(s *slot) *QuotaError {
	limit := p.h.Quota.Description
	if limit <= 0 || !s.get && s.outcome != OutcomeCreated && s.outcome != OutcomeUpdated {
		return nil
	}
	next := &s.aim.ev.Resource
	if s.change != nil {
		next = &s.change.Record.Resource
	}
	size := int64(next.Size())
	if size <= limit || s.rec.Live() && size <= int64(s.rec.Resource.Size()) {
		return nil
	}
	return &QuotaError{Limit: quotaLimits[ofDescription].field, Max: limit, Held: size}
}

// growth returns what a slot adds to what the source holds, as far as it is known: of
// bodies that are still to be got, what is stated, and at least a byte.
func (p *pipe) growth(s *slot) (more amounts) {
	switch {
	case s.get && !s.rec.Live():
		r := &s.aim.ev.Resource
		more = amounts{ofRecords: 1, ofDescriptions: int64(r.Size())}
		if n, _ := r.Content.StatedLength(); p.h.Bodies == KeepBodies {
			more[ofBodies] = max(n, 1)
		}
	case s.outcome == OutcomeCreated, s.outcome == OutcomeUpdated:
		more = amountsOf(&s.change.Record.Item)
	default:
		return more
	}
	if s.rec.Live() {
		held := amountsOf(&s.rec.Item)
		more.add(-1, &held)
	}
	more[ofEntries] = 1
	return more
}

// take reserves what a slot takes, in place of what it took so far. If that exceeds a
// limit, it reserves nothing and returns the limit.
func (q *quota) take(s *slot, more amounts) *QuotaError {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken.add(-1, &s.taken)
	s.taken = amounts{}
	for i, limit := range q.limits {
		used := q.held[i] + q.taken[i]
		if s.task == nil && s.waiting == nil {
			used += q.tasks[i]
		}
		if more[i] = max(more[i], 0); limit > 0 && more[i] > 0 && used+more[i] > limit {
			return &QuotaError{Limit: quotaLimits[i].field, Max: limit, Held: used}
		}
	}
	s.taken = more
	q.taken.add(1, &more)
	return nil
}

// overQuota counts what is left out, and logs the first limit.
func (r *run) overQuota(why *QuotaError) {
	r.report.mu.Lock()
	defer r.report.mu.Unlock()
	if r.report.OverQuota == nil {
		r.report.OverQuota = &QuotaError{Limit: why.Limit, Max: why.Max, Held: why.Held}
		r.log.Warn("over the quota", "source", r.key, "limit", why.Limit, "max", why.Max, "held", why.Held)
	}
	r.report.OverQuota.LeftOut++
}

// takenBy returns what a task to get what has no record takes.
func takenBy(t *Task) *amounts {
	if t == nil || t.Kind != TaskGet || t.Base != 0 {
		return new(amounts)
	}
	return &amounts{ofRecords: 1, ofDescriptions: int64(t.Resource.Size())}
}

// count sets what the slots of a batch reserve, and what its tasks take.
func (q *quota) count(b *batch, slots []*slot) {
	if q == nil {
		return
	}
	for _, s := range slots {
		b.taken.add(1, &s.taken)
		before := s.task
		if before == nil {
			before = s.waiting
		}
		if s.todo != nil || s.done != nil {
			b.waiting.add(-1, takenBy(before))
			b.waiting.add(1, takenBy(s.todo))
		}
	}
}

// committed notes what the sources hold after a Commit.
func (q *quota) committed(ctx context.Context, b *batch) error {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(b.Puts) > 0 {
		held, _, err := q.run.catalog.amounts(ctx, q.sources...)
		if err != nil {
			return &StoreError{err}
		}
		q.held = held
	}
	q.taken.add(-1, &b.taken)
	q.tasks.add(1, &b.waiting)
	return nil
}
