package harvest_test

import (
	"errors"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func claimRules() []rule {
	return []rule{
		withStore("held", "While a claim is valid, nobody else gets its name; other names are free.", func(s *store) {
			c := s.claim("a")
			s.ErrorIf(c.Name != "source/a" || c.TTL != time.Hour, "Claim: got the name %q and the TTL %v, want %q and %v", c.Name, c.TTL, "source/a", time.Hour)
			s.isHeld("a", "while it is held")
			s.claim("b")
			_, err := s.Claim(s.Ctx, "host/a", time.Hour)
			s.OK(err, "Claim another name")
			s.commit(c, harvest.NewBatch("a"))
			s.isHeld("a", "after its holder's Commit")
		}),
		withStore("one-winner", "Of several who claim a name at once one gets it.", func(s *store) {
			s.oneWinner(8, "Claims of one name", func(int) (bool, error) {
				_, err := s.Claim(s.Ctx, "source/a", time.Hour)
				return won(err, harvest.ErrHeld)
			})
		}),
		withStore("released", "After Release the next holder need not wait, and the previous one can neither commit nor release.", func(s *store) {
			a := s.claim("a")
			lost := *a
			s.release(a)
			b := s.claim("a")
			s.refused(a, "the claim that was released")
			s.release(&lost)
			s.isHeld("a", "after somebody released a claim that was lost")
			s.commit(b, harvest.NewBatch("a"))
			s.release(&harvest.Claim{Name: "source/never", Epoch: 1, TTL: time.Hour})
		}),
		{Name: "expired", Rule: "An expired claim is taken over with a higher Epoch; the old holder is fenced.", Check: func(t *tester) {
			s, a, expire := t.expiring()
			s.commit(a, harvest.NewBatch("a"))
			expire()
			b := s.claimAfter(a, "taken over")
			s.refused(a, "the expired claim that was taken over")
			s.Is(s.Renew(s.Ctx, a), harvest.ErrFenced, "Renew a claim that was taken over")
			s.release(a)
			s.isHeld("a", "after it was taken over")
			s.commit(b, harvest.NewBatch("a"))
		}},
		{Name: "not-taken-over", Rule: "An expired claim that nobody took over still commits and can be renewed.", Check: func(t *tester) {
			s, a, expire := t.expiring()
			expire()
			s.commit(a, harvest.NewBatch("a"))
			s.OK(s.Renew(s.Ctx, a), "Renew an expired claim that nobody took over")
			if t.options.OpenClock != nil { // else it may have expired again
				s.isHeld("a", "after it was renewed")
			}
		}},
		withClock("renew", "Renew extends a claim by its TTL from now.", func(s *store, now *clock) {
			a := s.claim("a")
			now.step(40 * time.Minute)
			s.renew(a, now)
			now.step(40 * time.Minute)
			s.isHeld("a", "40 minutes after Renew")
			s.commit(a, harvest.NewBatch("a"))
			now.step(21 * time.Minute)
			b := s.claim("a")
			s.Is(s.Renew(s.Ctx, a), harvest.ErrFenced, "Renew when somebody else holds the name")
			s.commit(b, harvest.NewBatch("a"))
		}),
		withClock("ttl", "A claim expires after the TTL that was requested, be it seconds or days, counted from Claim or Renew.", func(s *store, now *clock) {
			for _, ttl := range []time.Duration{1500 * time.Millisecond, 5 * time.Minute, 36 * time.Hour} {
				for _, renewed := range []bool{false, true} {
					c, err := s.Claim(s.Ctx, "source/"+ttl.String(), ttl)
					s.OK(err, "Claim for %v", ttl)
					s.Same(ttl, c.TTL, "TTL")
					s.expiresAt(c, now, "Claim")
					if renewed {
						now.step(ttl / 2)
						s.renew(c, now)
					}
					now.step(ttl - 10*time.Millisecond)
					s.isHeld(ttl.String(), "shortly before it expires")
					now.step(20 * time.Millisecond)
					s.release(s.claim(ttl.String()))
				}
			}
		}),
		withClock("clock-once-ahead", "A claim that was made while the clock was ahead does not hold its name until that time.", func(s *store, now *clock) {
			const ahead = 64 * 365 * 24 * time.Hour
			now.step(ahead)
			a, b := s.claim("a"), s.claim("b")
			now.step(-10 * time.Minute)
			s.isHeld("b", "after the clock stepped back by ten minutes")
			s.OK(s.Renew(s.Ctx, b), "Renew after the clock stepped back")
			now.step(-ahead)
			for _, source := range []string{"a", "b"} {
				if _, err := s.Claim(s.Ctx, "source/"+source, time.Hour); err != nil {
					s.Is(err, harvest.ErrHeld, "Claim what was claimed while the clock was ahead")
					now.step(2*time.Hour + time.Second)
					s.claim(source)
				}
			}
			s.refused(a, "a claim from when the clock was ahead, after the next was given")
		}),
		withWriter("nil", "A nil Claim is ErrFenced everywhere.", func(w *writer) {
			b := w.batch(harvest.Batch{Puts: []harvest.Change{change(uri1, 0, websync.Created, "")}})
			w.fails(nil, b, harvest.ErrFenced, "a Batch with a nil Claim")
			w.Is(w.Renew(w.Ctx, nil), harvest.ErrFenced, "Renew a nil Claim")
			w.Is(w.Release(w.Ctx, nil), harvest.ErrFenced, "Release a nil Claim")
		}),
		withWriter("zombie", "A holder that lost its claim can't commit, even if the checkpoint has not changed.", func(w *writer) {
			w.send(harvest.Batch{Checkpoint: &harvest.Checkpoint{Version: 1, Data: []byte("here")}})
			zombie := *w.c
			w.release(w.c)
			w.claimAgain()
			w.refused(&zombie, "a zombie's claim, before the next holder's first Commit")
			w.send(harvest.Batch{})
			w.refused(&zombie, "a zombie's claim, after a Commit that left the checkpoint")
			w.Is(w.Renew(w.Ctx, &zombie), harvest.ErrFenced, "Renew a zombie's claim")
			w.send(harvest.Batch{})
		}),
		withStore("made-up", "A claim with another Epoch or N than the latest one, or of a name that nobody claimed, can't commit.", func(s *store) {
			c := s.claim("a")
			first := *c
			s.commit(c, harvest.NewBatch("a"))
			second := *c
			s.commit(c, harvest.NewBatch("a"))
			ahead, later := *c, *c
			ahead.N++
			later.Epoch++
			for what, claim := range map[string]*harvest.Claim{
				"the right Epoch but the first N":       &first,
				"the right Epoch but the N before":      &second,
				"an N that is not yet":                  &ahead,
				"an Epoch that is not yet":              &later,
				"a name that nobody claimed":            {Name: "source/never", Epoch: 1, N: 1, TTL: time.Hour},
				"a zero claim of a name nobody claimed": {Name: "source/never", TTL: time.Hour},
			} {
				s.refused(claim, what)
			}
			s.commit(c, harvest.NewBatch("a"))
		}),
		withWriter("advances", "Every Commit that succeeds advances N, also an empty one and one that leaves the checkpoint.", func(w *writer) {
			for _, b := range []harvest.Batch{
				{},
				{Puts: []harvest.Change{change(uri1, 0, websync.Created, "")}},
				{Checkpoint: &harvest.Checkpoint{Version: 1}},
			} {
				last := w.c.N
				w.send(b)
				w.ErrorIf(w.c.N <= last, "Commit of %d Puts and the checkpoint %v: N was %d and is %d", len(b.Puts), b.Checkpoint, last, w.c.N)
			}
		}),
		withWriter("repeat", "A Batch with the ID of the last one succeeds and changes nothing, also for the next holder of the name.", func(w *writer) {
			b := w.full()
			w.apply(b)
			// What comes in between is not undone, though the batch has set it.
			w.swap("key", []byte("value"), []byte("newer"))
			for range 2 {
				w.unchanged("a repetition", func() { w.apply(b) })
			}
			w.release(w.c)
			w.claimAgain()
			w.unchanged("the next holder's repetition", func() { w.apply(b) })
			w.create("https://example.com/next")
		}),
		withWriter("repeat-lost-answer", "A holder that never got the answer repeats its Batch with the N it has, and goes on.", func(w *writer) {
			w.send(harvest.Batch{})
			lost := *w.c
			b := w.full()
			w.apply(b)
			w.c = &lost
			w.unchanged("a repetition", func() { w.apply(b) })
			w.create("https://example.com/next")
			w.Same(3, len(w.changes(websync.Range{})), "entries of the log")
		}),
		withWriter("repeat-zombie", "A repetition by a holder that lost its claim changes nothing and does not give the claim back.", func(w *writer) {
			b := w.full()
			w.apply(b)
			zombie := *w.c
			w.release(w.c)
			next := w.claim("a")
			w.unchanged("a zombie's repetition", func() {
				if _, err := w.Commit(w.Ctx, &zombie, b); err != nil {
					w.Is(err, harvest.ErrFenced, "a zombie's repetition")
				}
			})
			w.refused(&zombie, "a zombie's claim, after it repeated its last Batch")
			w.commit(next, harvest.NewBatch("a"))
		}),
	}
}

// won returns true for success, and an error unless err is the one that losers get.
func won(err, lost error) (bool, error) {
	if errors.Is(err, lost) {
		return false, nil
	}
	return err == nil, err
}

// oneWinner runs n calls at once, and returns the index of the one that wins. It ends the
// case if there are more, or none.
func (s *store) oneWinner(n int, what string, call func(i int) (bool, error)) (winner int) {
	s.Helper()
	wins := make([]bool, n)
	s.Together(n, func(i int) (err error) {
		wins[i], err = call(i)
		return err
	})
	count := 0
	for i, win := range wins {
		if win {
			winner = i
			count++
		}
	}
	s.FatalIf(count != 1, "of %d %s at once %d succeeded, want 1", n, what, count)
	return winner
}

// refused checks that a Commit under c is fenced and leaves nothing. It also brings
// conflicts: fencing comes first.
func (s *store) refused(c *harvest.Claim, what string) {
	s.Helper()
	source := c.Name[len("source/"):]
	b := harvest.NewBatch(source)
	b.Checkpoint = &harvest.Checkpoint{Version: 99, Data: []byte("of a zombie")}
	b.Puts = []harvest.Change{change("https://example.com/zombie", 0, websync.Created, "")}
	b.Tasks = []harvest.Task{task(source, "https://example.com/zombie", time.Time{})}
	b.Touches = []harvest.Change{change("https://example.com/unknown", 12345, websync.Deleted, "")}
	conflicts := s.fails(c, b, harvest.ErrFenced, "a Batch with %s", what)
	s.ErrorIf(len(conflicts) > 0, "Commit with %s: ErrFenced and also conflicts %.200q", what, conflicts)
}

// claimAfter claims what c held, and checks that the Epoch is higher.
func (s *store) claimAfter(c *harvest.Claim, when string) *harvest.Claim {
	s.Helper()
	next := s.claim(c.Name[len("source/"):])
	s.ErrorIf(next.Epoch <= c.Epoch, "Claim, %s: got Epoch %d after %d", when, next.Epoch, c.Epoch)
	return next
}

func (s *store) renew(c *harvest.Claim, now *clock) {
	s.Helper()
	s.OK(s.Renew(s.Ctx, c), "Renew")
	s.expiresAt(c, now, "Renew")
}

// expiresAt checks that c expires one TTL from now.
func (s *store) expiresAt(c *harvest.Claim, now *clock, what string) {
	s.Helper()
	want := now.Now().Add(c.TTL)
	s.ErrorIf(c.Expires.Sub(want).Abs() > time.Millisecond, "%s: the claim expires at %v, want %v", what, c.Expires, want)
}

// expiring returns a checkedCatalog, a claim in it and a function that waits until the
// claim has expired.
func (t *tester) expiring() (s *store, c *harvest.Claim, expire func()) {
	t.Helper()
	if t.options.OpenClock != nil {
		now := newClock()
		s = t.openClock(now)
		return s, s.claim("a"), func() { now.step(2 * time.Hour) }
	}
	const short = 20 * time.Millisecond
	s = t.open()
	c, err := s.Claim(t.Ctx, "source/a", short)
	t.OK(err, "Claim")
	return s, c, func() { time.Sleep(2 * short) }
}

var theBody = []byte("the bytes of a body")

// full returns a batch that changes everything there is to change.
func (w *writer) full() *harvest.Batch {
	w.Helper()
	return w.batch(harvest.Batch{
		Checkpoint: &harvest.Checkpoint{Version: 3, Data: []byte("position")},
		Puts:       []harvest.Change{bodyChange(uri1, 0, "one", theBody), change(uri2, 0, websync.Created, "two")},
		Touches:    []harvest.Change{change(uri3, 0, websync.Deleted, "")},
		Tasks:      []harvest.Task{task(w.source, uri4, time.Time{})},
		Bodies:     []harvest.BodyWriter{w.body(theBody)},
		State:      map[string][]byte{"key": []byte("value")},
	})
}
