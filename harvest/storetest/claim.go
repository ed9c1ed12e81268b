package storetest

import (
	"errors"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func claimCases() []rule {
	return []rule{
		{Name: "held", Rule: "While a claim is valid, nobody else gets its name; other names are free.", Check: claimHeld},
		{Name: "one-winner", Rule: "Of several who claim a name at once one gets it.", Check: claimOneWinner},
		{Name: "released", Rule: "After Release the next holder need not wait, and the previous one can no longer commit.", Check: claimReleased},
		{Name: "release-lost", Rule: "Releasing a lost claim is no error and does not affect the new holder.", Check: claimReleaseLost},
		{Name: "expired", Rule: "An expired claim is taken over with a higher Epoch; the old holder is fenced.", Check: claimExpired},
		{Name: "not-taken-over", Rule: "An expired claim that nobody took over still commits and can be renewed.", Check: claimNotTakenOver},
		{Name: "renew", Rule: "Renew extends a claim by its TTL from now.", Lack: aClock, Check: claimRenew},
		{Name: "expires", Rule: "Expires is the time of the Store's clock plus the TTL.", Lack: aClock, Check: claimExpires},
		{Name: "ttl", Rule: "A claim is valid for the TTL that was requested, be it seconds or days, also after Renew.", Lack: aClock, Check: claimTTL},
		{Name: "clock-once-ahead", Rule: "A claim that was made while the clock was ahead does not hold its name until that time.", Lack: aClock, Check: claimClockOnceAhead},
		{Name: "nil", Rule: "A nil Claim is ErrFenced everywhere.", Check: claimNil},
		{Name: "zombie", Rule: "A holder that lost its claim can't commit, even if the checkpoint has not changed.", Check: claimZombie},
		{Name: "older-n", Rule: "A claim of the right Epoch but an older N can't commit.", Check: claimOlderN},
		{Name: "made-up", Rule: "A claim newer than the latest one, or of a name that nobody claimed, can't commit.", Check: claimMadeUp},
		{Name: "advances", Rule: "Every Commit that succeeds advances N, also an empty one and one that leaves the checkpoint.", Check: claimAdvances},
		{Name: "repeat", Rule: "A Batch with the ID of the last one succeeds and changes nothing.", Check: claimRepeat},
		{Name: "repeat-lost-answer", Rule: "A holder that never got the answer repeats its Batch with the N it has, and goes on.", Check: claimRepeatLostAnswer},
		{Name: "repeat-next-holder", Rule: "The last Batch is known by name: the next holder's repetition changes nothing either.", Check: claimRepeatNextHolder},
		{Name: "repeat-zombie", Rule: "A repetition by a holder that lost its claim changes nothing and does not give the claim back.", Check: claimRepeatZombie},
	}
}

func claimHeld(t *tester) {
	s := t.open()
	c := s.claim("a")
	if c.Name != "source/a" || c.TTL != time.Hour {
		t.Errorf("Claim: got the name %q and the TTL %v, want %q and %v", c.Name, c.TTL, "source/a", time.Hour)
	}
	_, err := s.Claim(t.Ctx, "source/a", time.Hour)
	t.Is(err, harvest.ErrHeld, "Claim a name that is held")
	s.claim("b")
	_, err = s.Claim(t.Ctx, "host/a", time.Hour)
	t.OK(err, "Claim another name")
	s.commit(c, harvest.NewBatch("a"))
	_, err = s.Claim(t.Ctx, "source/a", time.Hour)
	t.Is(err, harvest.ErrHeld, "Claim a name that is held, after a Commit")
}

func claimOneWinner(t *tester) {
	s := t.open()
	const n = 8
	won := make([]bool, n)
	t.Together(n, func(i int) error {
		_, err := s.Claim(t.Ctx, "source/a", time.Hour)
		won[i] = err == nil
		if errors.Is(err, harvest.ErrHeld) {
			return nil
		}
		return err
	})
	winners := 0
	for _, w := range won {
		if w {
			winners++
		}
	}
	if winners != 1 {
		t.Errorf("%d of %d got the claim", winners, n)
	}
}

func claimReleased(t *tester) {
	s := t.open()
	a := s.claim("a")
	s.release(a)
	b := s.claim("a")
	s.refused(a, "the claim that was released")
	s.commit(b, harvest.NewBatch("a"))
}

// refused checks that a Commit under c is fenced and leaves nothing. It also brings
// conflicts: fencing comes first.
func (s *store) refused(c *harvest.Claim, what string) {
	s.t.Helper()
	source := c.Name[len("source/"):]
	before := s.contents([]string{source}, nil)
	b := harvest.NewBatch(source)
	b.Checkpoint = &harvest.Checkpoint{Version: 99, Data: []byte("of a zombie")}
	b.Puts = []harvest.Change{change("https://example.com/zombie", 0, websync.Created, "")}
	b.Tasks = []harvest.Task{task(source, "https://example.com/zombie", time.Time{})}
	b.Touches = []harvest.Change{change("https://example.com/unknown", 12345, websync.Deleted, "")}
	conflicts, err := s.Commit(s.t.Ctx, c, b)
	s.t.Is(err, harvest.ErrFenced, "Commit with %s", what)
	if len(conflicts) > 0 {
		s.t.Errorf("Commit with %s: ErrFenced and also conflicts", what)
	}
	s.t.Same(before, s.contents([]string{source}, nil), "after a Commit with %s: ", what)
}

func claimReleaseLost(t *tester) {
	s := t.open()
	a := s.claim("a")
	lost := *a
	s.release(a)
	b := s.claim("a")
	s.release(&lost)
	_, err := s.Claim(t.Ctx, "source/a", time.Hour)
	t.Is(err, harvest.ErrHeld, "Claim, after somebody released a claim that was lost")
	s.commit(b, harvest.NewBatch("a"))
	never := harvest.Claim{Name: "source/never", Epoch: 1, TTL: time.Hour}
	t.OK(s.Release(t.Ctx, &never), "Release a claim that never was")
}

// expiring returns a Store, a claim in it and a function that waits until the claim has
// expired.
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

func claimExpired(t *tester) {
	s, a, expire := t.expiring()
	s.commit(a, harvest.NewBatch("a"))
	expire()
	b := s.claim("a")
	if b.Epoch <= a.Epoch {
		t.Errorf("taken over: Epoch %d after %d", b.Epoch, a.Epoch)
	}
	s.refused(a, "the expired claim that was taken over")
	t.Is(s.Renew(t.Ctx, a), harvest.ErrFenced, "Renew a claim that was taken over")
	s.release(a)
	_, err := s.Claim(t.Ctx, "source/a", time.Hour)
	t.Is(err, harvest.ErrHeld, "Claim what was taken over")
	s.commit(b, harvest.NewBatch("a"))
	t.OK(s.Renew(t.Ctx, b), "Renew by the new holder")
}

func claimNotTakenOver(t *tester) {
	s, a, expire := t.expiring()
	expire()
	s.commit(a, harvest.NewBatch("a"))
	t.OK(s.Renew(t.Ctx, a), "Renew an expired claim that nobody took over")
	if t.options.OpenClock == nil {
		return // by now it may have expired again
	}
	_, err := s.Claim(t.Ctx, "source/a", time.Hour)
	t.Is(err, harvest.ErrHeld, "Claim what was renewed")
}

func claimRenew(t *tester) {
	now := newClock()
	s := t.openClock(now)
	a := s.claim("a")
	now.step(40 * time.Minute)
	t.OK(s.Renew(t.Ctx, a), "Renew")
	until(t, a, now, "Renew")
	now.step(40 * time.Minute)
	_, err := s.Claim(t.Ctx, "source/a", time.Hour)
	t.Is(err, harvest.ErrHeld, "Claim 40 minutes after Renew")
	s.commit(a, harvest.NewBatch("a"))
	now.step(21 * time.Minute)
	b := s.claim("a")
	t.Is(s.Renew(t.Ctx, a), harvest.ErrFenced, "Renew when somebody else holds the name")
	s.commit(b, harvest.NewBatch("a"))
}

func until(t *tester, c *harvest.Claim, now *clock, what string) {
	t.Helper()
	want := now.Now().Add(c.TTL)
	if d := c.Expires.Sub(want).Abs(); d > time.Millisecond {
		t.Errorf("%s: the claim expires at %v, want %v", what, c.Expires, want)
	}
}

func claimExpires(t *tester) {
	now := newClock()
	s := t.openClock(now)
	a := s.claim("a")
	until(t, a, now, "Claim")
	now.step(time.Hour - time.Second)
	_, err := s.Claim(t.Ctx, "source/a", time.Hour)
	t.Is(err, harvest.ErrHeld, "Claim a second before the other expires")
	now.step(2 * time.Second)
	until(t, s.claim("a"), now, "Claim")
}

func claimTTL(t *tester) {
	now := newClock()
	s := t.openClock(now)
	for _, ttl := range []time.Duration{1500 * time.Millisecond, 5 * time.Minute, 36 * time.Hour} {
		name := "source/" + ttl.String()
		c, err := s.Claim(t.Ctx, name, ttl)
		t.OK(err, "Claim for %v", ttl)
		t.Same(ttl, c.TTL, "TTL")
		until(t, c, now, "Claim")
		now.step(ttl / 2)
		t.OK(s.Renew(t.Ctx, c), "Renew")
		until(t, c, now, "Renew")
		now.step(ttl - 10*time.Millisecond)
		_, err = s.Claim(t.Ctx, name, time.Hour)
		t.Is(err, harvest.ErrHeld, "Claim shortly before one for %v expires", ttl)
		now.step(20 * time.Millisecond)
		_, err = s.Claim(t.Ctx, name, ttl)
		t.OK(err, "Claim when one for %v has expired", ttl)
	}
}

func claimClockOnceAhead(t *tester) {
	now := newClock()
	s := t.openClock(now)
	const ahead = 64 * 365 * 24 * time.Hour
	now.step(ahead)
	a, b := s.claim("a"), s.claim("b")
	now.step(-10 * time.Minute)
	_, err := s.Claim(t.Ctx, "source/b", time.Hour)
	t.Is(err, harvest.ErrHeld, "Claim what was claimed before the clock stepped back by ten minutes")
	t.OK(s.Renew(t.Ctx, b), "Renew after the clock stepped back")
	now.step(-ahead)
	for _, name := range []string{"a", "b"} {
		_, err = s.Claim(t.Ctx, "source/"+name, time.Hour)
		if err != nil {
			t.Is(err, harvest.ErrHeld, "Claim what was claimed while the clock was ahead")
			now.step(2*time.Hour + time.Second)
			s.claim(name)
		}
	}
	s.refused(a, "a claim from when the clock was ahead, after the next was given")
}

func claimNil(t *tester) {
	s := t.open()
	s.claim("a")
	before := s.contents([]string{"a"}, nil)
	b := harvest.NewBatch("a")
	b.Puts = []harvest.Change{change(uri1, 0, websync.Created, "")}
	_, err := s.Commit(t.Ctx, nil, b)
	t.Is(err, harvest.ErrFenced, "Commit with a nil Claim")
	t.Same(before, s.contents([]string{"a"}, nil), "after a Commit with a nil Claim: ")
	t.Is(s.Renew(t.Ctx, nil), harvest.ErrFenced, "Renew a nil Claim")
	t.Is(s.Release(t.Ctx, nil), harvest.ErrFenced, "Release a nil Claim")
}

func claimZombie(t *tester) {
	s := t.open()
	a := s.claim("a")
	b := harvest.NewBatch("a")
	b.Checkpoint = &harvest.Checkpoint{Version: 1, Data: []byte("here")}
	s.commit(a, b)
	zombie := *a
	s.release(a)
	next := s.claim("a")
	s.refused(&zombie, "a zombie's claim, before the next holder's first Commit")
	s.commit(next, harvest.NewBatch("a"))
	s.refused(&zombie, "a zombie's claim, after a Commit that left the checkpoint")
	t.Is(s.Renew(t.Ctx, &zombie), harvest.ErrFenced, "Renew a zombie's claim")
	s.commit(next, harvest.NewBatch("a"))
}

func claimOlderN(t *tester) {
	s := t.open()
	c := s.claim("a")
	first := *c
	s.commit(c, harvest.NewBatch("a"))
	second := *c
	s.commit(c, harvest.NewBatch("a"))
	s.refused(&first, "the right Epoch but the first N")
	s.refused(&second, "the right Epoch but the N before")
	s.commit(c, harvest.NewBatch("a"))
}

func claimMadeUp(t *tester) {
	s := t.open()
	c := s.claim("a")
	s.commit(c, harvest.NewBatch("a"))
	ahead, later := *c, *c
	ahead.N++
	s.refused(&ahead, "an N that is not yet")
	later.Epoch++
	s.refused(&later, "an Epoch that is not yet")
	never := harvest.Claim{Name: "source/never", Epoch: 1, N: 1, TTL: time.Hour}
	s.refused(&never, "a name that nobody claimed")
	zero := harvest.Claim{Name: "source/never", TTL: time.Hour}
	s.refused(&zero, "a zero claim of a name that nobody claimed")
	s.commit(c, harvest.NewBatch("a"))
}

func claimAdvances(t *tester) {
	w := t.open().writer("a")
	last := w.c.N
	step := func(what string) {
		t.Helper()
		if w.c.N <= last {
			t.Errorf("%s: N was %d and is %d", what, last, w.c.N)
		}
		last = w.c.N
	}
	w.apply(w.batch())
	step("an empty Batch")
	w.create("https://example.com/")
	step("a Put")
	b := w.batch()
	b.Checkpoint = &harvest.Checkpoint{Version: 1}
	w.apply(b)
	step("a checkpoint")
}

// full returns a batch that changes everything there is to change.
func (w *writer) full() *harvest.Batch {
	w.t.Helper()
	data := []byte("the bytes of a body")
	b := w.batch()
	b.Checkpoint = &harvest.Checkpoint{Version: 3, Data: []byte("position")}
	b.Puts = []harvest.Change{
		bodyChange("https://example.com/1", 0, "one", websync.SHA256(data)),
		change("https://example.com/2", 0, websync.Created, "two"),
	}
	b.Touches = []harvest.Change{change("https://example.com/3", 0, websync.Deleted, "")}
	b.Tasks = []harvest.Task{task(w.source, "https://example.com/4", time.Time{})}
	b.Bodies = []harvest.BodyWriter{w.body(data)}
	b.State = map[string][]byte{"key": []byte("value")}
	return b
}

func claimRepeat(t *tester) {
	w := t.open().writer("a")
	b := w.full()
	w.apply(b)
	// What comes in between is not undone, though the batch has set it.
	w.swap("key", []byte("value"), []byte("newer"))
	before := w.contents([]string{"a"}, []string{"key"})
	for range 2 {
		w.apply(b)
		t.Same(before, w.contents([]string{"a"}, []string{"key"}), "after a repetition: ")
	}
	w.create("https://example.com/next")
}

func claimRepeatLostAnswer(t *tester) {
	w := t.open().writer("a")
	w.apply(w.batch())
	lost := *w.c
	b := w.full()
	w.apply(b)
	before := w.contents([]string{"a"}, []string{"key"})
	w.commit(&lost, b)
	t.Same(before, w.contents([]string{"a"}, []string{"key"}), "after a repetition: ")
	w.c = &lost
	w.create("https://example.com/next")
	t.Same(3, len(w.changes(websync.Range{})), "entries of the log")
}

func claimRepeatNextHolder(t *tester) {
	w := t.open().writer("a")
	b := w.full()
	w.apply(b)
	w.release(w.c)
	w.c = w.claim("a")
	before := w.contents([]string{"a"}, []string{"key"})
	w.apply(b)
	t.Same(before, w.contents([]string{"a"}, []string{"key"}), "after the next holder's repetition: ")
	w.create("https://example.com/next")
}

func claimRepeatZombie(t *tester) {
	w := t.open().writer("a")
	b := w.full()
	w.apply(b)
	zombie := *w.c
	w.release(w.c)
	next := w.claim("a")
	before := w.contents([]string{"a"}, []string{"key"})
	if _, err := w.Commit(t.Ctx, &zombie, b); err != nil {
		t.Is(err, harvest.ErrFenced, "a zombie's repetition")
	}
	t.Same(before, w.contents([]string{"a"}, []string{"key"}), "after a zombie's repetition: ")
	w.refused(&zombie, "a zombie's claim, after it repeated its last Batch")
	w.commit(next, harvest.NewBatch("a"))
}
