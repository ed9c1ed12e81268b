package harvest

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/websync-go/websync"
)

// A server in trouble may answer every request with one page and status 200: a notice of
// maintenance, a login form. So bodies that replace others wait for a few more of their
// kind. If most of those become equal to each other, the run keeps the old ones and gets
// nothing more.

const (
	alikeWindow = 64 // replaced bodies that are compared with each other
	minAlike    = 3

	alikeMessage = "most of the bodies that would replace others have become equal to each other: " +
		"the old ones are kept, and nothing more is fetched; Approve accepts the new one, or a later run gets others"
)

// An alikeGuard holds the slots whose bodies replace others.
type alikeGuard struct {
	mu       sync.Mutex
	size     int     // how many may wait
	waiting  []*slot // oldest first
	recent   []replacement
	alike    websync.Digest // of the bodies that are not kept; zero if there are none
	stopped  atomic.Bool    // the run gets nothing more
	draining atomic.Bool    // plan takes no events
}

// A replacement is that of one body by another.
type replacement struct{ was, is websync.Digest }

// An alikeMemory is what the Store keeps of bodies that were alike.
type alikeMemory struct {
	Withheld string   `json:"withheld"`           // the digest of those that were not kept last
	Accepted []string `json:"accepted,omitempty"` // digests that the user has approved
}

// acceptAlike accepts the body that was withheld last.
func (r *run) acceptAlike(ctx context.Context) error {
	m, err := recall[alikeMemory](ctx, r, alikeState)
	if err != nil {
		return err
	}
	m.Accepted = append(m.Accepted, m.Withheld)
	b := newBatch(r.key)
	b.set(alikeState, m)
	_, err = r.commits.apply(ctx, b)
	return err
}

// pass hands a slot whose bodies were obtained to commit, or lets it wait.
func (p *pipe) pass(ctx context.Context, s *slot) error {
	g := &p.alike
	g.mu.Lock()
	defer g.mu.Unlock()
	// before the slot is sent: commit does not flush while another one may come
	p.getting.Add(-1)
	rep, replaces := s.replacement()
	if !replaces {
		p.send(s)
	} else {
		g.waiting = append(g.waiting, s)
		g.recent = append(g.recent, rep)
		g.recent = g.recent[max(0, len(g.recent)-alikeWindow):]
	}
	switch {
	case g.draining.Load() && p.getting.Load() == 0:
		return p.passOn(ctx, 0)
	case len(g.waiting) > g.size:
		return p.passOn(ctx, g.size)
	}
	return nil
}

// replacement returns how the slot replaces the first body of its record. It returns
// false if it does not, or if the source identifies the bytes.
func (s *slot) replacement() (rep replacement, ok bool) {
	if s.change == nil || !s.rec.Live() || s.aim.ev.identifies() || s.ev.Open != nil || len(s.change.Record.Bodies) == 0 {
		return rep, false
	}
	is := &s.change.Record.Bodies[0]
	was, ok := s.rec.Body(is.Name)
	rep.was, _ = was.Link.Digests.Get(keyAlgorithm)
	rep.is, _ = is.Link.Digests.Get(keyAlgorithm)
	return rep, ok && rep.was != rep.is
}

// passOn hands all slots that wait but some to commit, without what is too much alike.
func (p *pipe) passOn(ctx context.Context, keep int) error {
	g := &p.alike
	if alike, ok := g.mostAlike(); ok && g.alike.IsZero() {
		m, err := recall[alikeMemory](ctx, p.run, alikeState)
		if err != nil {
			return err
		}
		if !slices.Contains(m.Accepted, alike.String()) {
			g.alike, m.Withheld = alike, alike.String()
			g.stopped.Store(true)
			p.commits.keep(alikeState, m)
			p.withhold(&GuardError{"bodies", alikeMessage})
		}
	}
	if g.stopped.Load() {
		keep = 0
	}
	n := len(g.waiting) - keep
	for _, s := range g.waiting[:n] {
		if rep, _ := s.replacement(); !g.alike.IsZero() && rep.is == g.alike {
			p.refuse(s)
		}
		p.send(s)
	}
	g.waiting = append(g.waiting[:0], g.waiting[n:]...)
	return nil
}

// mostAlike returns the digest that most of the recent bodies have become, of others that
// differed from each other.
func (g *alikeGuard) mostAlike() (websync.Digest, bool) {
	for i := range g.recent {
		was := map[websync.Digest]bool{}
		for _, rep := range g.recent {
			if rep.is == g.recent[i].is {
				was[rep.was] = true
			}
		}
		if len(was) >= minAlike && 2*len(was) > len(g.recent) {
			return g.recent[i].is, true
		}
	}
	return websync.Digest{}, false
}

// refuse keeps the body that the record has, and leaves a task to get another.
func (p *pipe) refuse(s *slot) {
	for _, w := range s.bodies {
		w.Discard()
	}
	s.err = &GuardError{"bodies", alikeMessage}
	s.decision, s.bodies, s.done = decision{outcome: OutcomeWithheld, todo: p.retryTask(s, s.err)}, nil, nil
}

// send hands a slot to commit.
func (p *pipe) send(s *slot) {
	if s.sample != nil && s.err == nil {
		p.compare(s)
	}
	s.bytes = 0
	for _, w := range s.bodies {
		if _, n, err := w.Finish(); err == nil {
			s.bytes += n
		}
	}
	p.queue.hold(s.bytes)
	p.finished <- s
}

// drainAlike lets no slot wait while plan takes no events: it may wait for these slots.
func (p *pipe) drainAlike(ctx context.Context, draining bool) error {
	p.alike.draining.Store(draining)
	if !draining || p.getting.Load() > 0 {
		return nil
	}
	return p.settle(ctx)
}

// settle hands all slots that wait to commit: no other will come.
func (p *pipe) settle(ctx context.Context) error {
	p.alike.mu.Lock()
	defer p.alike.mu.Unlock()
	return p.passOn(ctx, 0)
}
