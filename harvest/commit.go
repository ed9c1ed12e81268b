package harvest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync"
	"time"
)

// commit is the fourth stage: it collects finished slots and commits them together with
// the checkpoint that they cover.
func (p *pipe) commit(context.Context) error {
	ctx := p.ending // finished slots are committed even if the run is cancelled
	var c collection
	tick := time.NewTicker(commitAge)
	defer tick.Stop()
	for open := true; open; {
		due := true
		var s *slot
		select {
		case s, open = <-p.finished:
			if open {
				c.add(s)
				due = c.full() || p.idle()
			}
		case <-tick.C:
		}
		if due {
			if err := p.flush(ctx, &c); err != nil {
				return err
			}
		}
	}
	return nil
}

// idle reports whether no other slot is about to be finished.
func (p *pipe) idle() bool { return len(p.finished) == 0 && p.getting.Load() == 0 }

// collection gathers the slots of the next batch.
type collection struct {
	slots  []*slot
	bytes  int64
	bodies int64 // bytes of them
}

func (c *collection) add(s *slot) {
	c.slots = append(c.slots, s)
	if s.change != nil {
		c.bytes += int64(s.change.Record.Resource.Size())
	}
	c.bytes += s.bytes
	c.bodies += s.bytes
}

func (c *collection) full() bool { return len(c.slots) >= commitSlots || c.bytes >= commitBytes }

// flush commits the collection. Slots with a conflict go back to plan, and the checkpoint
// does not pass them.
func (p *pipe) flush(ctx context.Context, c *collection) error {
	slots := c.slots
	var conflicted []*slot
	var moved []listedIn
	for _, s := range slots {
		s.batched = s.state != slotStuck
	}
	for {
		b := p.batch(slots)
		at, moves := p.ledger.covered()
		if moves {
			b.Checkpoint = &at.at
		}
		if len(slots) == 0 && !moves {
			break
		}
		conflicts, err := p.commits.apply(ctx, b)
		if err != nil {
			return err
		}
		if len(conflicts) == 0 {
			if moves {
				p.ledger.passed(at.n)
			}
			moved = b.moved
			break
		}
		var out []*slot
		slots, out = split(slots, conflicts)
		conflicted = append(conflicted, out...)
	}
	for _, s := range slots {
		p.retire(ctx, s)
	}
	p.queue.hold(-c.bodies)
	*c = collection{}
	if len(slots)+len(conflicted) > 0 {
		p.put(slots, conflicted, moved)
	}
	return nil
}

// batch returns the batch that applies slots.
func (p *pipe) batch(slots []*slot) *batch {
	b := newBatch(p.key)
	puts, bodies := 0, 0
	for _, s := range slots {
		if s.change != nil && s.outcome.isLogged() {
			puts++
		}
		bodies += len(s.bodies)
	}
	p.quota.count(b, slots)
	b.Puts, b.Bodies = make([]change, 0, puts), make([]pendingBody, 0, bodies)
	for _, s := range slots {
		if s.change != nil {
			s.change.New = s.certain
			s.change.Document = s.document
			p.noteStranger(b, s)
		}
		if s.change != nil && s.task != nil {
			s.change.Task = s.task.N
		}
		switch {
		case s.change == nil && p.relists(s):
			b.Listed = append(b.Listed, listedIn{s.id(), s.rec.Born, s.document})
		case s.change == nil:
		case s.outcome.isLogged():
			b.Puts = append(b.Puts, *s.change)
		default:
			b.Touches = append(b.Touches, *s.change)
		}
		b.Bodies = append(b.Bodies, s.bodies...)
		if s.todo != nil {
			b.Tasks = append(b.Tasks, *s.todo)
		}
		if s.done != nil {
			b.Done = append(b.Done, *s.done)
		}
	}
	return b
}

// split separates the slots whose changes conflict, and discards their bodies.
func split(slots []*slot, ids []string) (kept, out []*slot) {
	is := make(map[string]bool, len(ids))
	for _, id := range ids {
		is[id] = true
	}
	for _, s := range slots {
		if s.change == nil || !is[s.id()] {
			kept = append(kept, s)
			continue
		}
		for _, w := range s.bodies {
			w.Discard()
		}
		s.batched = false
		out = append(out, s)
	}
	return kept, out
}

// retire reports a slot that is committed.
func (p *pipe) retire(ctx context.Context, s *slot) {
	if s.state != slotStuck {
		p.ledger.leave(s)
	}
	p.worker.noteCommitted(s)
	if s.task != nil && s.task.Run == p.id {
		p.report.outcome(OutcomeDeferred, -1)
	}
	p.outcomeOf(ctx, s)
	if _, left := s.err.(*QuotaError); s.todo != nil && s.err != nil && !left {
		p.report.failure(Failure{Source: p.key, ID: s.id(), URL: urlOf(s.err, s.aim.ev.Resource.Content.Href),
			Attempt: s.todo.Attempts, Next: s.todo.Due, Error: s.err.Error()})
	}
}

// feedback has the slots that commit returns to plan.
type feedback struct {
	mu         sync.Mutex
	committed  []*slot
	conflicted []*slot // their records have changed since they were planned
	moved      []listedIn
	wake       chan struct{}
}

func (f *feedback) put(committed, conflicted []*slot, moved []listedIn) {
	f.mu.Lock()
	f.committed = append(f.committed, committed...)
	f.conflicted = append(f.conflicted, conflicted...)
	f.moved = append(f.moved, moved...)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *feedback) take() (committed, conflicted []*slot, moved []listedIn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	committed, conflicted, moved = f.committed, f.conflicted, f.moved
	f.committed, f.conflicted, f.moved = nil, nil, nil
	return committed, conflicted, moved
}

// committer applies batches under the run's claim.
type committer struct {
	run     *run
	mu      sync.Mutex
	claim   *claim
	unsaved map[string][]byte // values, those of the Fetcher too, that no Commit has stored yet
	lost    error             // of the first Commit that the Store failed to apply
}

// apply commits a batch with the values that are not saved yet. If there are conflicts,
// it commits nothing.
func (c *committer) apply(ctx context.Context, b *batch) (conflicts []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.collect() {
		if b.State == nil {
			b.State = map[string][]byte{}
		}
		maps.Copy(b.State, c.unsaved)
	}
	if len(b.Tasks) > 0 {
		c.run.hasTasks.Store(true)
	}
	began := time.Now()
	if conflicts, err = c.try(ctx, b); err != nil || len(conflicts) > 0 {
		return conflicts, err
	}
	c.unsaved = nil
	if err := c.run.quota.committed(ctx, b); err != nil {
		return nil, err
	}
	if f := c.run.hooks.Commit; f != nil {
		f(ctx, CommitInfo{Source: b.Source, Puts: len(b.Puts), Touches: len(b.Touches), Tasks: len(b.Tasks), Done: len(b.Done),
			Checkpoint: b.Checkpoint != nil, Duration: time.Since(began)})
	}
	return nil, nil
}

// collect takes the values that the Fetcher wants stored, and reports whether there are
// any.
func (c *committer) collect() bool {
	if k, ok := c.run.h.Fetcher.(interface{ Unsaved() map[string][]byte }); ok {
		if c.unsaved == nil {
			c.unsaved = map[string][]byte{}
		}
		maps.Copy(c.unsaved, k.Unsaved())
	}
	return len(c.unsaved) > 0
}

// know notes how many records the source has: see claim.
func (c *committer) know(records int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claim.records = records
}

// try makes up to three attempts to commit a batch: the Store does not apply it twice if
// only its answer was lost. It notes the first error.
func (c *committer) try(ctx context.Context, b *batch) (conflicts []string, err error) {
	for try := 1; ; try++ {
		conflicts, err = c.run.catalog.commit(ctx, c.claim, b)
		if err == nil {
			return conflicts, nil
		}
		final := errors.Is(err, ErrFenced) || errors.Is(err, errBatch) || errors.Is(err, errNoBody)
		if final || try == 3 || ctx.Err() != nil {
			break
		}
		time.Sleep(time.Duration(try) * 100 * time.Millisecond)
	}
	err = &StoreError{err}
	cancelled := aborted(ctx, err) && c.run.ending.Err() == nil
	if c.lost == nil && !cancelled && !errors.Is(err, ErrFenced) {
		c.lost = err
	}
	return nil, err
}

// keep stores a memory of the source with the next Commit.
func (c *committer) keep(m memory, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unsaved == nil {
		c.unsaved = map[string][]byte{}
	}
	c.unsaved[m.of(c.run.key)], _ = json.Marshal(value) // strings
}

// saveState commits the values that the Fetcher wants stored, if there are any.
func (c *committer) saveState(ctx context.Context) error {
	if !c.collect() {
		return nil
	}
	_, err := c.apply(ctx, newBatch(c.run.key))
	if errors.Is(err, ErrFenced) {
		return nil // the values are advisory, and another process has the claim
	}
	return err
}

// applyRest commits a batch without the changes that conflict, whose records another
// process has changed. It returns the puts that were applied.
func (c *committer) applyRest(ctx context.Context, b *batch) (applied []change, err error) {
	for !b.empty() {
		conflicts, err := c.apply(ctx, b)
		if err != nil {
			return nil, err
		}
		if len(conflicts) == 0 {
			break
		}
		b.without(conflicts)
	}
	return b.Puts, nil
}

func (c *committer) renew(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run.catalog.renew(ctx, c.claim)
}

// The limits of one Commit.
const (
	commitSlots = 512
	commitBytes = 4 << 20     // of bodies and descriptions, about
	commitAge   = time.Second // how long a finished slot waits for others

	maxUncommitted = commitBytes * 3 / 2 // of bodies: what is more waits for get
)
