package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
)

func raceCases() []rule {
	return []rule{
		{Name: "commit-commit", Rule: "Of two Commits at once with the same Epoch and N one is applied, and the other is ErrFenced.", Check: raceCommitCommit},
		{Name: "base", Rule: "Of two holders who change one record at once from the same Base one has a conflict.", Check: raceBase},
		{Name: "commit-claim", Rule: "A Commit at the moment of a takeover is applied before it or ErrFenced, never after it.", Lack: aClock, Check: raceCommitClaim},
		{Name: "lookup", Rule: "A Lookup beside Commits returns the records before a Commit or after it, never some of each.", Check: raceLookup},
		{Name: "renew-claim", Rule: "At the moment of a takeover the old holder renews its claim or the new one gets it, never both.", Lack: aClock, Check: raceRenewClaim},
	}
}

// raceRounds is the number of rounds of a race: a check outside of the transaction passes
// most of them.
const raceRounds = 250

// race runs one and other at once. Each round changes which starts first.
func (t *tester) race(round int, one, other func() error) {
	t.Helper()
	t.Together(2, func(i int) error {
		if (i+round)%2 == 0 {
			return one()
		}
		return other()
	})
}

// unlessFenced returns err unless it is ErrFenced.
func unlessFenced(err error) error {
	if errors.Is(err, harvest.ErrFenced) {
		return nil
	}
	return err
}

func raceCommitCommit(t *tester) {
	w := t.open().writer("a")
	for round := range raceRounds {
		claims := [2]harvest.Claim{*w.c, *w.c}
		var won [2]bool
		commit := func(i int) func() error {
			return func() error {
				b := w.batch()
				b.Puts = []harvest.Change{change(fmt.Sprint(round, " ", i), 0, websync.Created, "")}
				conflicts, err := w.Commit(t.Ctx, &claims[i], b)
				won[i] = err == nil && len(conflicts) == 0
				return unlessFenced(err)
			}
		}
		t.race(round, commit(0), commit(1))
		if won[0] == won[1] {
			t.Fatalf("round %d: of two Commits at once with one Epoch and N, applied: %v", round, won)
		}
		w.c = &claims[0]
		if won[1] {
			w.c = &claims[1]
		}
	}
	suite.Exactly(t, raceRounds, w.checkLog(), "entries of the log")
}

func raceBase(t *tester) {
	w := t.open().writer("a")
	second, err := w.Claim(t.Ctx, "second/a", time.Hour)
	t.OK(err, "Claim")
	claims := [2]*harvest.Claim{w.c, second}
	for round := range raceRounds {
		var won [2]bool
		commit := func(i int) func() error {
			return func() error {
				b := w.batch()
				b.Puts = []harvest.Change{change(uri1, websync.Seq(round), websync.Updated, fmt.Sprint(round, " ", i))}
				conflicts, err := w.Commit(t.Ctx, claims[i], b)
				won[i] = err == nil && len(conflicts) == 0
				return err
			}
		}
		t.race(round, commit(0), commit(1))
		if won[0] == won[1] {
			t.Fatalf("round %d: of two Puts at once with one Base, applied: %v", round, won)
		}
	}
	suite.Exactly(t, raceRounds, w.checkLog(), "entries of the log")
}

// raceLookup changes several records in each Commit. Every other one fails at its last
// Put.
func raceLookup(t *tester) {
	w := t.open().writer("a")
	ids := []string{"1", "2", "3", "4"}
	commit := func(round int) error {
		b := w.batch()
		for i, id := range ids {
			base := max(0, (round-1)*len(ids)+i+1)
			b.Puts = append(b.Puts, change(id, websync.Seq(base), websync.Updated, "never"))
		}
		last := &b.Puts[len(ids)-1].Record
		last.Bodies = []websync.Body{{Name: "content", Key: websync.SHA256([]byte("nowhere"))}}
		if _, err := w.Commit(t.Ctx, w.c, b); !errors.Is(err, harvest.ErrNoBody) {
			return fmt.Errorf("a Commit that names an unknown body returned %v", err)
		}
		last.Bodies = nil
		for i := range b.Puts {
			b.Puts[i].Record.Resource.Title = fmt.Sprint(round)
		}
		conflicts, err := w.Commit(t.Ctx, w.c, b)
		if len(conflicts) > 0 {
			err = fmt.Errorf("conflicts %q", conflicts)
		}
		return err
	}
	t.OK(commit(0), "Commit")
	for round := 1; round <= raceRounds; round++ {
		t.race(round, func() error { return commit(round) }, func() error {
			for range 3 {
				recs, err := w.Lookup(t.Ctx, "a", ids)
				if err != nil {
					return err
				}
				for _, r := range recs {
					if r.Resource.Title != recs[0].Resource.Title || r.Resource.Title == "never" {
						return fmt.Errorf("%q and %q in one answer of Lookup", recs[0].Resource.Title, r.Resource.Title)
					}
				}
			}
			return nil
		})
	}
}

// takeovers runs f once for each round with a claim that has expired. F returns the next
// claim.
func (t *tester) takeovers(f func(s *store, round int, c *harvest.Claim) *harvest.Claim) *store {
	t.Helper()
	now := newClock()
	s := t.openClock(now)
	c := s.claim("a")
	for round := range raceRounds {
		now.step(3 * time.Hour)
		c = f(s, round, c)
	}
	return s
}

func raceCommitClaim(t *tester) {
	applied := 0
	s := t.takeovers(func(s *store, round int, c *harvest.Claim) (next *harvest.Claim) {
		t.race(round, func() error {
			b := harvest.NewBatch("a")
			b.Puts = []harvest.Change{change(fmt.Sprint(c.Epoch), 0, websync.Created, "")}
			_, err := s.Commit(t.Ctx, c, b)
			if err == nil {
				applied++
			}
			return unlessFenced(err)
		}, func() (err error) {
			next, err = s.Claim(t.Ctx, "source/a", time.Hour)
			return err
		})
		if _, err := s.Commit(t.Ctx, next, harvest.NewBatch("a")); err != nil {
			t.Fatalf("the new holder's first Commit, after the old one's at the moment of the takeover: %v", err)
		}
		return next
	})
	suite.Exactly(t, applied, s.checkLog(), "entries of the log")
}

func raceRenewClaim(t *tester) {
	t.takeovers(func(s *store, round int, c *harvest.Claim) *harvest.Claim {
		var next *harvest.Claim
		renewed := false
		t.race(round, func() error {
			err := s.Renew(t.Ctx, c)
			renewed = err == nil
			return unlessFenced(err)
		}, func() (err error) {
			next, err = s.Claim(t.Ctx, "source/a", time.Hour)
			if errors.Is(err, harvest.ErrHeld) {
				return nil
			}
			return err
		})
		if renewed == (next != nil) {
			t.Fatalf("at the moment of a takeover: renewed %t, and taken over %t", renewed, next != nil)
		}
		if renewed {
			return c
		}
		return next
	})
}
