package harvest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/websync-go/websync"
)

// What a source states can be wrong: a page changes and its time does not. So each
// snapshot asks for a random sample of what seems unchanged, and notes how often it was
// not. If that is often, everything is asked for.

// The sample of a snapshot, and from when on a source's statements are not believed.
const (
	minSample, maxSample = 10, 1000
	defaultSample        = 200 // one in so many

	freshShare = 10 // one in so many of them is asked for without a condition

	minWrong   = 3
	wrongShare = 20 // one in so many
	// maxBelief is how many answers a belief counts; it scales more of them down to that.
	maxBelief = 1000
)

// A Recheck counts the answers to requests for what seemed unchanged.
type Recheck struct {
	Asked int64 `json:"asked"`
	Wrong int64 `json:"wrong"` // the bytes had changed
}

func (c *Recheck) add(wrong bool) {
	c.Asked++
	if wrong {
		c.Wrong++
	}
}

// Rechecks are the counts by what made the resource seem unchanged.
type Rechecks struct {
	// Times are those of the publisher, such as a lastmod. Digests are the publisher's,
	// too, or what else identifies the bytes. Validators are those of the server, of
	// which a tenth of the sample is asked for without a condition.
	Times      Recheck `json:"times"`
	Digests    Recheck `json:"digests"`
	Validators Recheck `json:"validators"`
	// Unasked counts the entries that seemed unchanged and were not asked for in a run
	// that found the publisher's statements to be wrong too often. The run is not in step
	// because of them, and the next one asks for all.
	Unasked int64 `json:"unasked"`
}

// Total returns the counts of all resources that were asked for, whatever made them seem
// unchanged.
func (r *Rechecks) Total() Recheck {
	return Recheck{Asked: r.Times.Asked + r.Digests.Asked, Wrong: r.Times.Wrong + r.Digests.Wrong}
}

// A belief is what the Store keeps of the samples of a source.
type belief struct{ Recheck }

// isLost reports whether the statements of the source are not believed.
func (b belief) isLost() bool { return b.Wrong >= minWrong && b.Wrong*wrongShare >= b.Asked }

// A sample chooses entries of one snapshot.
type sample struct {
	need   int64 // how many of them to ask for
	passed int64 // entries that seemed unchanged and were not asked for
	drawn  bool
	kept   []recordPrint // those that unchanged documents list and that are still to be asked for

	before belief      // of earlier snapshots
	now    belief      // with this one; the Report's lock guards it
	all    atomic.Bool // all are asked for
}

// A sampling is how a resource of a sample is asked for.
type sampling uint8

const (
	sampledOther   sampling = iota // its answer does not count for the belief
	sampledTypical                 // it does
	sampledFresh                   // it does, and is asked for without a Validator
)

// takesSamples reports whether the snapshots of the run ask for samples.
func (r *run) takesSamples() bool {
	return r.h.Sample >= 0 && r.h.Bodies != SkipBodies && r.dry == nil
}

// sampleSize returns how many of n resources are asked for, or of a few all.
func sampleSize(setting int, n int64) int64 {
	if setting < 0 {
		return 0
	}
	return min(max(n/int64(cmp.Or(setting, defaultSample)), minSample), maxSample)
}

// startSample prepares the sample of a snapshot of live records.
func (p *pipe) startSample(ctx context.Context, live int64) (*sample, error) {
	if !p.takesSamples() {
		return nil, nil
	}
	before, err := recall[belief](ctx, p.run, beliefState)
	c := &sample{need: sampleSize(p.h.Sample, live), before: before, now: before}
	if limit := p.h.Budget.Requests; limit > 0 {
		c.need = min(c.need, (limit+1)/2) // the rest is for what waits
	}
	if before.isLost() {
		p.disbelieve(c, before)
	}
	return c, err
}

// samples reports whether to ask for an entry of the snapshot although it seems
// unchanged.
func (p *pipe) samples(s *slot) bool {
	c := p.snap.sample
	if c == nil || s.ev.Open != nil || p.getter == nil && !s.ev.hasContent() {
		return false
	}
	all, left := c.all.Load(), p.snap.table.count-p.snap.table.listed // without this one
	chosen := c.need > 0 && rand.Int64N(int64(left)+1) < c.need
	if !all && !chosen || p.spent() {
		c.passed++
		return false
	}
	s.sample = c
	switch {
	case chosen:
		c.choose(s)
	case c.before.isLost():
		s.sampled = sampledTypical
	}
	return true
}

// choose makes a slot one of the sample.
func (c *sample) choose(s *slot) {
	s.sample, s.sampled = c, sampledTypical
	if rand.IntN(freshShare) == 0 {
		s.sampled = sampledFresh
	}
	c.need--
}

// draw chooses the rest of the sample among the records that unchanged documents list.
func (p *pipe) draw(ctx context.Context) error {
	c, n := p.snap.sample, int64(0)
	c.drawn = true
	records, err := p.catalog.fingerprints(ctx, p.key)
	if err != nil {
		return &StoreError{err}
	}
	for f, err := range records.All {
		if err != nil {
			return &StoreError{err}
		}
		if !p.snap.members.keeps(f.Document) {
			continue
		}
		n++
		if int64(len(c.kept)) < c.need {
			c.kept = append(c.kept, f)
		} else if i := rand.Int64N(n); i < c.need {
			c.kept[i] = f
		}
	}
	c.passed += n
	return nil
}

// sampleKept asks for those of the sample that unchanged documents list, a part at a
// time. None of them is in flight when it returns if there are no more.
func (p *pipe) sampleKept(ctx context.Context) error {
	if p.snap == nil || p.snap.sample == nil || p.control.ev.Kind != SnapshotEnd {
		return nil
	}
	c := p.snap.sample
	if !c.drawn && len(p.snap.members.unchanged) > 0 {
		if err := p.draw(ctx); err != nil {
			return err
		}
	}
	for p.inflight == 0 && len(c.kept) > 0 {
		part := c.kept[:min(len(c.kept), planBatch, p.window)]
		c.kept = c.kept[len(part):]
		if err := p.askKept(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// askKept asks for records of the sample.
func (p *pipe) askKept(ctx context.Context, part []recordPrint) error {
	c := p.snap.sample
	borns := make([]websync.Seq, len(part))
	documents := make(map[websync.Seq]documentNumber, len(part))
	for i, f := range part {
		borns[i], documents[f.Born] = f.Born, f.Document
	}
	c.passed -= int64(len(part))
	ids, err := p.catalog.idsByBorn(ctx, p.key, borns)
	if err != nil {
		return &StoreError{err}
	}
	batch := make([]*slot, len(ids))
	for i, id := range ids {
		batch[i] = newSlot(p.control.n, Event{Resource: websync.Resource{ID: id}})
	}
	if err := p.lookup(ctx, batch); err != nil {
		return err
	}
	for _, s := range batch {
		s.document = documents[s.rec.Born]
		if !s.rec.Live() || s.rec.Seq > p.snap.last || s.waiting != nil || !p.snap.members.isKept(s.id(), s.document) {
			continue // it has changed since, is to be got, or is listed elsewhere, too
		}
		s.statement = *p.present(s)
		if s.listed = true; p.getter == nil && !s.ev.hasContent() {
			continue
		}
		c.choose(s)
		if p.snap.table.seen(s.id()) { // because several documents list it
			p.report.keep(-1)
		}
		p.snap.table.keep(p.snap.table.hash(s.id()))
		p.report.event(p.timeOf(s))
		if err := p.admit(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// disbelieve makes the snapshot ask for everything.
func (p *pipe) disbelieve(c *sample, now belief) {
	if c.all.Swap(true) {
		return
	}
	message := fmt.Sprintf("of %d resources that seemed unchanged, %d had changed: all are asked for", now.Asked, now.Wrong)
	p.finding(ruleUnchanged.Finding(p.key, 0, 0, "", nil, message))
	p.log.Warn(message, "source", p.key)
}

// compare notes whether a resource of a sample was unchanged.
func (p *pipe) compare(s *slot) {
	next := s.rec
	if s.change != nil {
		next = &s.change.Record
	}
	wrong := !slices.EqualFunc(s.rec.Bodies, next.Bodies, sameBytes)
	r := p.report
	r.mu.Lock()
	kind := &r.Rechecked.Times
	if s.aim.ev.identifies() {
		kind = &r.Rechecked.Digests
	}
	kind.add(wrong)
	for _, v := range next.Validators {
		if s.sampled == sampledFresh && v == s.rec.Validator(v.URL) {
			r.Rechecked.Validators.add(wrong)
		}
	}
	if s.sampled != sampledOther {
		s.sample.now.add(wrong)
	}
	now := s.sample.now
	r.mu.Unlock()
	if now.isLost() {
		p.disbelieve(s.sample, now)
	}
}

// endSample adds what the snapshot has shown of the source's statements to the batch that
// ends it.
func (p *pipe) endSample(b *batch) {
	c := p.snap.sample
	if c == nil || c.now == c.before {
		return
	}
	if c.all.Load() {
		p.report.Rechecked.Unasked += c.passed
	}
	if c.now.Asked > maxBelief {
		c.now.Asked, c.now.Wrong = maxBelief, c.now.Wrong*maxBelief/c.now.Asked
	}
	b.set(beliefState, c.now)
}
