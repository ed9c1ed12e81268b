package harvest_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

// raceRounds is the number of rounds of a race: a check outside of the transaction passes
// most of them.
const raceRounds = 250

func raceRules() []rule {
	return []rule{
		withWriter("commit-commit", "Of two Commits at once with the same Epoch and N one is applied, and the other is ErrFenced.", func(w *writer) {
			for round := range raceRounds {
				claims := [2]harvest.Claim{*w.c, *w.c}
				w.c = &claims[w.raceCommits(round, harvest.ErrFenced, func(i int) (*harvest.Claim, harvest.Change) {
					return &claims[i], change(fmt.Sprint(round, " ", i), 0, websync.Created, "")
				})]
			}
			suite.Exactly(w, raceRounds, w.checkLog(), "entries of the log")
		}),
		withWriter("base", "Of two holders who change one record at once from the same Base one has a conflict.", func(w *writer) {
			second, err := w.Claim(w.Ctx, "second/a", time.Hour)
			w.OK(err, "Claim")
			for round := range raceRounds {
				w.raceCommits(round, errConflicts, func(i int) (*harvest.Claim, harvest.Change) {
					return []*harvest.Claim{w.c, second}[i], change(uri1, websync.Seq(round), websync.Updated, fmt.Sprint(round, " ", i))
				})
			}
			suite.Exactly(w, raceRounds, w.checkLog(), "entries of the log")
		}),
		withClock("commit-claim", "A Commit at the moment of a takeover is applied before it or ErrFenced, never after it.", func(s *store, now *clock) {
			applied := 0
			s.takeovers(now, func(round int, c *harvest.Claim) (next *harvest.Claim) {
				s.race(round, func() error {
					b := harvest.NewBatch("a")
					b.Puts = []harvest.Change{change(fmt.Sprint(c.Epoch), 0, websync.Created, "")}
					is, err := won(s.tryCommit(c, b), harvest.ErrFenced)
					if is {
						applied++
					}
					return err
				}, func() (err error) {
					next, err = s.Claim(s.Ctx, "source/a", time.Hour)
					return err
				})
				if err := s.tryCommit(next, harvest.NewBatch("a")); err != nil {
					s.Fatalf("the new holder's first Commit, after the old one's at the moment of the takeover: %v", err)
				}
				return next
			})
			suite.Exactly(s, applied, s.checkLog(), "entries of the log")
		}),
		withWriter("lookup", "A Lookup beside Commits returns the records before a Commit or after it, never some of each.", func(w *writer) {
			// Each Commit changes several records. Every other one fails at its last Put.
			ids := []string{"1", "2", "3", "4"}
			commit := func(round int) error {
				b := w.batch(harvest.Batch{})
				for i, id := range ids {
					base := max(0, (round-1)*len(ids)+i+1)
					b.Puts = append(b.Puts, change(id, websync.Seq(base), websync.Updated, "never"))
				}
				last := &b.Puts[len(ids)-1].Record
				last.Bodies = []websync.Body{{Name: "content", Key: websync.SHA256([]byte("nowhere"))}}
				if err := w.tryCommit(w.c, b); !errors.Is(err, harvest.ErrNoBody) {
					return fmt.Errorf("a Commit that names an unknown body returned %v", err)
				}
				last.Bodies = nil
				for i := range b.Puts {
					b.Puts[i].Record.Resource.Title = fmt.Sprint(round)
				}
				return w.tryCommit(w.c, b)
			}
			w.OK(commit(0), "Commit")
			for round := 1; round <= raceRounds; round++ {
				w.race(round, func() error { return commit(round) }, func() error {
					for range 3 {
						recs, err := w.Lookup(w.Ctx, "a", ids)
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
		}),
		withClock("renew-claim", "At the moment of a takeover the old holder renews its claim or the new one gets it, never both.", func(s *store, now *clock) {
			s.takeovers(now, func(round int, c *harvest.Claim) *harvest.Claim {
				var next *harvest.Claim
				renewed := false
				s.race(round, func() (err error) {
					renewed, err = won(s.Renew(s.Ctx, c), harvest.ErrFenced)
					return err
				}, func() (err error) {
					next, err = s.Claim(s.Ctx, "source/a", time.Hour)
					_, err = won(err, harvest.ErrHeld)
					return err
				})
				s.FatalIf(renewed == (next != nil), "at the moment of a takeover: renewed %t, and taken over %t", renewed, next != nil)
				if renewed {
					return c
				}
				return next
			})
		}),
	}
}

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

// raceCommits commits two changes at once and returns the index of the one that is
// applied. The error of the other must be lost.
func (w *writer) raceCommits(round int, lost error, commit func(i int) (*harvest.Claim, harvest.Change)) int {
	w.Helper()
	first := round % 2
	return first ^ w.oneWinner(2, "Commits", func(i int) (bool, error) {
		c, put := commit(first ^ i)
		return won(w.tryCommit(c, w.batch(harvest.Batch{Puts: []harvest.Change{put}})), lost)
	})
}

// takeovers calls f once for each round with a claim that has expired. f returns the next
// claim.
func (s *store) takeovers(now *clock, f func(round int, c *harvest.Claim) *harvest.Claim) {
	s.Helper()
	c := s.claim("a")
	for round := range raceRounds {
		now.step(3 * time.Hour)
		c = f(round, c)
	}
}
