package harvest_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// newestClaim makes c the newest, whatever it was.
func (f *faulty) newestClaim(c *harvest.Claim) {
	f.locked(func() {
		if st := f.claims[c.Name]; st != nil {
			c.Epoch, c.N = st.epoch, st.n
		} else {
			f.claims[c.Name] = &standing{epoch: c.Epoch, n: c.N}
		}
	})
}

// beforeCommit runs g under the lock before each Commit.
func (f *faulty) beforeCommit(g func(st *standing, c *harvest.Claim, b *harvest.Batch)) {
	f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
		f.locked(func() {
			if st := f.claims[c.Name]; st != nil {
				g(st, c, b)
			}
		})
		return f.model.Commit(ctx, c, b)
	}
}

func brokenClaims() []brokenCatalog {
	return []brokenCatalog{
		{name: "grants every claim", caught: "claim/held claim/one-winner claim/renew claim/ttl claim/released claim/expired claim/not-taken-over",
			with: func(f *faulty) {
				f.claim = func(name string, ttl time.Duration) (*harvest.Claim, error) {
					f.locked(func() {
						if st := f.claims[name]; st != nil {
							st.expires = time.Time{}
						}
					})
					return f.model.Claim(context.Background(), name, ttl)
				}
			}},
		{name: "Release does nothing", caught: "claim/released durability/claims",
			with: func(f *faulty) { f.release = func(*harvest.Claim) error { return nil } }},
		{name: "Release does not ask who", caught: "claim/released claim/expired",
			with: func(f *faulty) {
				f.release = func(c *harvest.Claim) error {
					f.newestClaim(c)
					return f.model.Release(context.Background(), c)
				}
			}},
		{name: "a takeover keeps the Epoch", caught: "claim/released claim/expired claim/zombie durability/claims",
			with: func(f *faulty) {
				f.claim = func(name string, ttl time.Duration) (*harvest.Claim, error) {
					c, err := f.model.Claim(context.Background(), name, ttl)
					if err == nil && c.Epoch > 1 {
						f.locked(func() { f.claims[name].epoch-- })
						c.Epoch--
					}
					return c, err
				}
			}},
		{name: "ignores fencing", caught: "claim/zombie claim/made-up claim/expired claim/released durability/claims",
			with: func(f *faulty) {
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
					f.newestClaim(c)
					return f.model.Commit(ctx, c, b)
				}
			}},
		{name: "looks for conflicts before it fences", caught: "claim/zombie claim/made-up",
			with: func(f *faulty) {
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) (conflicts []string, err error) {
					f.locked(func() { conflicts, err = f.check(b) })
					if len(conflicts) > 0 {
						return conflicts, err
					}
					return f.model.Commit(ctx, c, b)
				}
			}},
		{name: "checks the Epoch only", caught: "claim/made-up",
			with: func(f *faulty) {
				f.beforeCommit(func(st *standing, c *harvest.Claim, b *harvest.Batch) {
					if c.Epoch == st.epoch {
						c.N = st.n
					}
				})
			}},
		{name: "checks N only", caught: "claim/zombie claim/made-up",
			with: func(f *faulty) {
				f.beforeCommit(func(st *standing, c *harvest.Claim, b *harvest.Batch) { c.Epoch = st.epoch })
			}},
		{name: "takes N for a minimum", caught: "claim/made-up",
			with: func(f *faulty) {
				f.beforeCommit(func(st *standing, c *harvest.Claim, b *harvest.Batch) { c.N = min(c.N, st.n) })
			}},
		{name: "refuses what has expired", caught: "claim/not-taken-over",
			with: func(f *faulty) {
				f.beforeCommit(func(st *standing, c *harvest.Claim, b *harvest.Batch) {
					if !st.expires.After(f.now()) {
						c.Epoch = 0
					}
				})
			}},
		{name: "Renew does nothing", caught: "claim/renew claim/zombie claim/not-taken-over",
			with: func(f *faulty) { f.renew = func(*harvest.Claim) error { return nil } }},
		{name: "Renew extends from the old end", caught: "claim/renew",
			with: func(f *faulty) {
				f.renew = func(c *harvest.Claim) error {
					end := c.Expires.Add(c.TTL)
					err := f.model.Renew(context.Background(), c)
					f.locked(func() { f.claims[c.Name].expires = end })
					c.Expires = end
					return err
				}
			}},
		{name: "Expires is not set", caught: "claim/ttl claim/renew",
			with: func(f *faulty) {
				f.claim = func(name string, ttl time.Duration) (*harvest.Claim, error) {
					c, err := f.model.Claim(context.Background(), name, ttl)
					if err == nil {
						c.Expires = time.Time{}
					}
					return c, err
				}
				f.renew = func(c *harvest.Claim) error {
					err := f.model.Renew(context.Background(), c)
					c.Expires = time.Time{}
					return err
				}
			}},
		{name: "every claim is for an hour", caught: "claim/ttl",
			with: func(f *faulty) {
				f.claim = func(name string, ttl time.Duration) (*harvest.Claim, error) {
					return f.model.Claim(context.Background(), name, time.Hour)
				}
			}},
		{name: "a TTL in whole seconds", caught: "claim/ttl",
			with: func(f *faulty) {
				f.claim = func(name string, ttl time.Duration) (*harvest.Claim, error) {
					c, err := f.model.Claim(context.Background(), name, ttl.Truncate(time.Second))
					if err == nil {
						c.TTL = ttl
					}
					return c, err
				}
			}},
		{name: "Renew extends by an hour", caught: "claim/ttl",
			with: func(f *faulty) {
				f.renew = func(c *harvest.Claim) error {
					asked := *c
					asked.TTL = time.Hour
					err := f.model.Renew(context.Background(), &asked)
					c.Expires = asked.Expires
					return err
				}
			}},
		{name: "a claim holds until the clock is there again", caught: "claim/clock-once-ahead",
			with: func(f *faulty) {
				f.claim = func(name string, ttl time.Duration) (*harvest.Claim, error) {
					var held bool
					f.locked(func() { held = f.claims[name] != nil && f.claims[name].expires.After(f.now()) })
					if held {
						return nil, harvest.ErrHeld
					}
					return f.model.Claim(context.Background(), name, ttl)
				}
			}},
		{name: "any step back of the clock frees a claim", caught: "claim/clock-once-ahead",
			with: func(f *faulty) {
				f.claim = func(name string, ttl time.Duration) (*harvest.Claim, error) {
					f.locked(func() {
						if st := f.claims[name]; st != nil && st.expires.Sub(f.now()) > st.ttl {
							st.expires = time.Time{}
						}
					})
					return f.model.Claim(context.Background(), name, ttl)
				}
			}},
		{name: "no Claim is needed", caught: "claim/nil",
			with: func(f *faulty) {
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
					if c == nil {
						f.locked(func() { f.apply(b) })
						return nil, nil
					}
					return f.model.Commit(ctx, c, b)
				}
			}},
		{name: "Release of no Claim is no error", caught: "claim/nil",
			with: func(f *faulty) {
				f.release = func(c *harvest.Claim) error {
					if c == nil {
						return nil
					}
					return f.model.Release(context.Background(), c)
				}
			}},
		{name: "N moves with the checkpoint only", caught: "claim/advances claim/made-up",
			with: func(f *faulty) {
				f.committed = func(c *harvest.Claim, b *harvest.Batch) {
					if b.Checkpoint == nil {
						f.claims[c.Name].n--
						c.N--
					}
				}
			}},
		{name: "knows no repeated Batch", caught: "claim/repeat durability/repeat",
			with: func(f *faulty) {
				f.beforeCommit(func(st *standing, c *harvest.Claim, b *harvest.Batch) { st.applied = false })
			}},
		{name: "sets the State of a repeated Batch again", caught: "claim/repeat",
			with: func(f *faulty) {
				f.committed = func(c *harvest.Claim, b *harvest.Batch) {
					for key, v := range b.State {
						f.set(key, v)
					}
				}
			}},
		{name: "answers a repetition only with the newest N", caught: "claim/repeat-lost-answer",
			with: func(f *faulty) {
				f.beforeCommit(func(st *standing, c *harvest.Claim, b *harvest.Batch) {
					if st.n != c.N {
						c.Epoch = 0
					}
				})
			}},
		{name: "a repetition does not bring c.N up to date", caught: "claim/repeat-lost-answer",
			with: func(f *faulty) {
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
					n, repeated := c.N, false
					f.locked(func() { repeated = f.claims[c.Name] != nil && f.claims[c.Name].n > n })
					conflicts, err := f.model.Commit(ctx, c, b)
					if repeated {
						c.N = n
					}
					return conflicts, err
				}
			}},
		{name: "knows the last Batch by its holder", caught: "claim/repeat",
			with: func(f *faulty) {
				f.claim = func(name string, ttl time.Duration) (*harvest.Claim, error) {
					c, err := f.model.Claim(context.Background(), name, ttl)
					if err == nil {
						f.locked(func() { f.claims[name].applied = false })
					}
					return c, err
				}
			}},
		{name: "a repetition gives a lost claim back", caught: "claim/repeat-zombie",
			with: func(f *faulty) {
				f.beforeCommit(func(st *standing, c *harvest.Claim, b *harvest.Batch) {
					if st.last == b.ID {
						c.Epoch, c.N = st.epoch, st.n
					}
				})
			}},
	}
}

// alone commits a part of a batch as one of its own, without the caller's claim moving.
func (f *faulty) alone(c *harvest.Claim, b harvest.Batch) {
	st := f.claims[c.Name]
	if st == nil || st.epoch != c.Epoch || st.n != c.N {
		return
	}
	if conflicts, err := f.check(&b); err == nil && len(conflicts) == 0 {
		f.apply(&b)
	}
}

func brokenCommits() []brokenCatalog {
	return []brokenCatalog{
		{name: "checkpoints of 64 KiB", caught: "commit/checkpoint",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					if c := b.Checkpoint; c != nil {
						c.Data = c.Data[:min(len(c.Data), 64<<10)]
					}
				}
			}},
		{name: "500 Puts in a Batch", caught: "commit/large",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) { b.Puts = b.Puts[:min(len(b.Puts), 500)] }
			}},
		{name: "500 Touches in a Batch", caught: "commit/large",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) { b.Touches = b.Touches[:min(len(b.Touches), 500)] }
			}},
		{name: "500 Done in a Batch", caught: "commit/large",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) { b.Done = b.Done[:min(len(b.Done), 500)] }
			}},
		{name: "1,000 keys of State in a Batch", caught: "commit/large",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					for key := range b.State {
						if len(b.State) > 1000 {
							delete(b.State, key)
						}
					}
				}
			}},
		{name: "names the first conflict only", caught: "commit/conflicts",
			with: func(f *faulty) {
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
					conflicts, err := f.model.Commit(ctx, c, b)
					return conflicts[:min(1, len(conflicts))], err
				}
			}},
		{name: "applies what is no conflict", caught: "commit/conflicts",
			with: func(f *faulty) {
				f.conflict = func(c *harvest.Claim, b *harvest.Batch) {
					f.alone(c, harvest.Batch{Source: b.Source, Puts: b.Puts[:1]})
				}
			}},
		{name: "moves the checkpoint in spite of conflicts", caught: "commit/conflicts",
			with: func(f *faulty) {
				f.conflict = func(c *harvest.Claim, b *harvest.Batch) {
					f.alone(c, harvest.Batch{Source: b.Source, Checkpoint: b.Checkpoint})
				}
			}},
		{name: "sets State in spite of conflicts", caught: "commit/conflicts state/batch",
			with: func(f *faulty) {
				f.conflict = func(c *harvest.Claim, b *harvest.Batch) { f.alone(c, harvest.Batch{Source: b.Source, State: b.State}) }
			}},
		{name: "remembers a Batch with conflicts", caught: "commit/conflicts",
			with: func(f *faulty) {
				f.conflict = func(c *harvest.Claim, b *harvest.Batch) {
					f.claims[c.Name].last, f.claims[c.Name].applied = b.ID, true
				}
			}},
		{name: "a conflict costs the bodies", caught: "commit/conflicts",
			with: func(f *faulty) {
				f.conflict = func(c *harvest.Claim, b *harvest.Batch) {
					for _, w := range b.Bodies {
						w.Discard()
					}
				}
			}},
		{name: "applies half a Batch before it misses a body", caught: "commit/half-way-body durability/failed bodies/missing",
			with: func(f *faulty) {
				f.failed = func(c *harvest.Claim, b *harvest.Batch) {
					if len(b.Puts) > 1 {
						f.alone(c, harvest.Batch{Source: b.Source, Puts: b.Puts[:len(b.Puts)-1], Bodies: b.Bodies})
					}
				}
			}},
		{name: "a failure leaves the State", caught: "commit/half-way-body commit/half-way-id durability/failed",
			with: func(f *faulty) {
				f.failed = func(c *harvest.Claim, b *harvest.Batch) { f.alone(c, harvest.Batch{Source: b.Source, State: b.State}) }
			}},
		{name: "applies half a Batch before its context ends", caught: "commit/half-way-context",
			with: func(f *faulty) {
				f.failed = func(c *harvest.Claim, b *harvest.Batch) {
					if len(b.Puts) > 0 {
						f.alone(c, harvest.Batch{Source: b.Source, Puts: b.Puts[:1], Bodies: b.Bodies})
					}
				}
			}},
		{name: "applies a Batch bit by bit", caught: "commit/at-once log/concurrent",
			with: func(f *faulty) {
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) (conflicts []string, err error) {
					for _, p := range b.Puts {
						one := harvest.NewBatch(b.Source)
						one.Puts = []harvest.Change{p}
						if conflicts, err = f.model.Commit(ctx, c, one); err != nil {
							break
						}
						time.Sleep(50 * time.Microsecond)
					}
					return conflicts, err
				}
			}},
		{name: "the last of an id in a Batch wins", caught: "commit/twice",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					seen := map[string]bool{}
					once := func(c harvest.Change) bool {
						id := c.Record.Resource.ID
						defer func() { seen[id] = true }()
						return seen[id]
					}
					b.Puts = slices.DeleteFunc(b.Puts, once)
					b.Touches = slices.DeleteFunc(b.Touches, once)
				}
			}},
		{name: "a Put clears the task of its id", caught: "commit/put-and-task",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					for _, p := range b.Puts {
						delete(f.model.tasks[b.Source], p.Record.Resource.ID)
					}
				}
			}},
		{name: "takes a Batch without an ID for a repetition", caught: "commit/zero-id",
			with: func(f *faulty) {
				f.beforeCommit(func(st *standing, c *harvest.Claim, b *harvest.Batch) { st.applied = true })
			}},
		{name: "a checkpoint is visible before its changes", caught: "commit/at-once",
			with: func(f *faulty) {
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
					if b.Checkpoint != nil {
						f.locked(func() { f.checkpoints[b.Source] = *b.Checkpoint })
						time.Sleep(time.Millisecond)
					}
					return f.model.Commit(ctx, c, b)
				}
			}},
		{name: "a Batch without a checkpoint resets it", caught: "commit/checkpoint",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					if b.Checkpoint == nil {
						b.Checkpoint = &harvest.Checkpoint{}
					}
				}
			}},
		{name: "forgets the checkpoint's version", caught: "commit/checkpoint",
			with: func(f *faulty) {
				f.checkpoint = func(c harvest.Checkpoint) harvest.Checkpoint {
					return harvest.Checkpoint{Version: min(c.Version, 1), Data: c.Data}
				}
			}},
		{name: "a zero checkpoint is none", caught: "commit/checkpoint",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					if b.Checkpoint != nil && b.Checkpoint.IsZero() {
						b.Checkpoint = nil
					}
				}
			}},
		{name: "stores Record.Source as given", caught: "commit/sources",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					for _, p := range b.Puts {
						r := f.model.records[b.Source][p.Record.Resource.ID]
						if p.Record.Source != "" {
							r.Source = p.Record.Source
						}
						f.model.records[b.Source][r.Resource.ID] = r
					}
				}
			}},
		{name: "keeps the caller's slices", caught: "commit/arguments",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					if b.Checkpoint != nil {
						f.checkpoints[b.Source] = *b.Checkpoint
					}
				}
			}},
		{name: "keeps the caller's pointers", caught: "commit/arguments",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					for _, c := range b.Puts {
						r := f.model.records[b.Source][c.Record.Resource.ID]
						r.Resource.Origin = c.Record.Resource.Origin
						f.model.records[b.Source][c.Record.Resource.ID] = r
					}
				}
			}},
		{name: "hands out its own slices", caught: "commit/arguments",
			with: func(f *faulty) {
				f.record = func(r *harvest.Record) { r.Validators = f.model.records[r.Source][r.Resource.ID].Validators }
			}},
		{name: "hands out its own map", caught: "commit/arguments",
			with: func(f *faulty) {
				live := map[string]int64{}
				f.head = func(h *websync.Head) {
					for source, n := range h.Live {
						if _, ok := live[source]; !ok || n == 0 {
							live[source] = n
						}
					}
					h.Live = live
				}
			}},
	}
}

// outside is the time between the check of a broken store and its transaction.
const outside = 200 * time.Microsecond

func brokenRaces() []brokenCatalog {
	return []brokenCatalog{
		{name: "looks at the claim outside of its transaction", caught: "race/commit-commit race/commit-claim",
			with: func(f *faulty) {
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
					fenced := false
					f.locked(func() {
						st := f.claims[c.Name]
						fenced = st == nil || st.epoch != c.Epoch || st.n != c.N
					})
					if !fenced {
						time.Sleep(outside)
						f.newestClaim(c)
					}
					return f.model.Commit(ctx, c, b)
				}
			}},
		{name: "looks at Bases outside of its transaction", caught: "race/base",
			with: func(f *faulty) {
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) (conflicts []string, err error) {
					f.locked(func() { conflicts, err = f.check(b) })
					if len(conflicts) > 0 || err != nil {
						return conflicts, err
					}
					time.Sleep(outside)
					b.Puts = slices.Clone(b.Puts)
					f.locked(func() {
						for i := range b.Puts {
							b.Puts[i].Base = f.model.records[b.Source][b.Puts[i].Record.Resource.ID].Seq
						}
					})
					return f.model.Commit(ctx, c, b)
				}
			}},
		{name: "Lookup asks for one record after the other", caught: "race/lookup",
			with: func(f *faulty) {
				f.lookup = func(source string, ids []string) ([]harvest.Record, error) {
					recs := make([]harvest.Record, len(ids))
					for i, id := range ids {
						f.locked(func() { recs[i] = clone(f.model.records[source][id]) })
						time.Sleep(outside)
					}
					return recs, nil
				}
			}},
		{name: "Renew looks at the claim outside of its transaction", caught: "race/renew-claim",
			with: func(f *faulty) {
				f.renew = func(c *harvest.Claim) error {
					fenced := false
					f.locked(func() {
						st := f.claims[c.Name]
						fenced = st == nil || st.epoch != c.Epoch
					})
					if !fenced {
						time.Sleep(outside)
						f.newestClaim(c)
					}
					return f.model.Renew(context.Background(), c)
				}
			}},
	}
}

var errBroken = errors.New("broken")
