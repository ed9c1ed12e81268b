package harvest_test

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// afterCompact runs g under the lock after each Compact, with the state before it.
func (f *faulty) afterCompact(g func(before *model)) {
	f.compact = func() (uint64, error) {
		before := &model{}
		f.locked(func() {
			before.newest, before.seq, before.born = f.newest, f.seq, f.born
			before.logs, before.claims = maps.Clone(f.logs), map[string]*standing{}
			for name, st := range f.claims {
				c := *st
				before.claims[name] = &c
			}
			before.tasks = map[string]map[string]harvest.Task{}
			for source, tasks := range f.model.tasks {
				before.tasks[source] = maps.Clone(tasks)
			}
		})
		generation, err := f.model.Compact(context.Background())
		if err == nil {
			f.locked(func() { g(before) })
		}
		return generation, err
	}
}

// compactLoses makes Compact lose what lose takes from each record.
func (f *faulty) compactLoses(lose func(r *harvest.Record)) {
	f.afterCompact(func(*model) { f.model.eachRecord(lose) })
}

// eachRecord replaces all records.
func (m *model) eachRecord(f func(r *harvest.Record)) {
	for _, records := range m.records {
		for id, r := range records {
			f(&r)
			records[id] = r
		}
	}
}

func brokenGenerations() []brokenCatalog {
	background := context.Background()
	return []brokenCatalog{
		{name: "Compact copies the log", caught: "generations/compact",
			with: func(f *faulty) {
				f.afterCompact(func(before *model) {
					f.logs[f.newest], f.seq = before.logs[before.newest], before.seq
				})
			}},
		{name: "Compact leaves tombstones out", caught: "generations/compact generations/drop",
			with: func(f *faulty) {
				f.afterCompact(func(*model) {
					f.logs[f.newest] = slices.DeleteFunc(f.logs[f.newest], func(it websync.Item) bool { return it.Kind == websync.Deleted })
				})
			}},
		{name: "Compact sets new times", caught: "generations/compact",
			with: func(f *faulty) {
				f.afterCompact(func(*model) {
					for i := range f.logs[f.newest] {
						f.logs[f.newest][i].Time = f.lastTime().Add(time.Second)
					}
				})
			}},
		{name: "Compact starts the clock anew", caught: "generations/times-go-on",
			with: func(f *faulty) {
				anew := false
				f.afterCompact(func(*model) { anew = true })
				f.stamp = func(now, last time.Time) time.Time {
					if anew {
						anew, last = false, time.Time{}
					}
					return nextTime(now, last)
				}
			}},
		{name: "Compact forgets numberless tombstones", caught: "generations/compact",
			with: func(f *faulty) {
				f.afterCompact(func(*model) {
					for _, records := range f.model.records {
						maps.DeleteFunc(records, func(_ string, r harvest.Record) bool { return r.Seq == 0 })
					}
				})
			}},
		{name: "Compact loses Stated", caught: "generations/compact-keeps",
			with: func(f *faulty) { f.compactLoses(func(r *harvest.Record) { r.Stated.Hash = 0 }) }},
		{name: "Compact loses Validators", caught: "generations/compact-keeps",
			with: func(f *faulty) { f.compactLoses(func(r *harvest.Record) { r.Validators = nil }) }},
		{name: "Compact loses the stated times", caught: "generations/compact-keeps",
			with: func(f *faulty) {
				f.compactLoses(func(r *harvest.Record) { r.Stated.At, r.Stated.Modified = websync.Datetime{}, websync.Datetime{} })
			}},
		{name: "Compact loses a field that is new", caught: "generations/compact-keeps",
			with: func(f *faulty) {
				f.compactLoses(func(r *harvest.Record) {
					v := reflect.ValueOf(r).Elem()
					v.Field(v.NumField() - 1).SetZero()
				})
			}},
		{name: "Compact loses tasks to get", caught: "generations/compact-keeps",
			with: func(f *faulty) {
				f.afterCompact(func(*model) {
					for _, tasks := range f.model.tasks {
						maps.DeleteFunc(tasks, func(_ string, t harvest.Task) bool { return t.Kind == harvest.TaskGet })
					}
				})
			}},
		{name: "Compact loses what is due", caught: "generations/compact-keeps",
			with: func(f *faulty) {
				f.afterCompact(func(*model) {
					f.due = func(string, time.Time, int) []harvest.Task { return nil }
				})
			}},
		{name: "Compact loses checkpoints", caught: "generations/compact-keeps",
			with: func(f *faulty) { f.afterCompact(func(*model) { clear(f.checkpoints) }) }},
		{name: "Compact loses State", caught: "generations/compact-keeps",
			with: func(f *faulty) { f.afterCompact(func(*model) { clear(f.states) }) }},
		{name: "Compact forgets the last generation's log", caught: "generations/old-readable generations/compact-empty",
			with: func(f *faulty) {
				f.afterCompact(func(before *model) {
					delete(f.logs, before.newest)
					if before.seq == 0 {
						delete(f.logs, f.newest)
					}
				})
			}},
		{name: "commits go to the old generation too", caught: "generations/old-readable",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					if f.logs[f.newest-1] != nil && len(b.Puts) > 0 {
						f.logs[f.newest-1] = append(f.logs[f.newest-1], f.logs[f.newest][len(f.logs[f.newest])-1])
					}
				}
			}},
		{name: "Born in the order of the new numbers", caught: "generations/born",
			with: func(f *faulty) {
				f.afterCompact(func(*model) {
					f.model.eachRecord(func(r *harvest.Record) { r.Born = r.Seq })
				})
			}},
		{name: "Born has gaps after Compact", caught: "generations/born",
			with: func(f *faulty) {
				f.afterCompact(func(*model) {
					f.model.eachRecord(func(r *harvest.Record) { r.Born *= 2 })
					for i := range f.logs[f.newest] {
						f.logs[f.newest][i].Born *= 2
					}
				})
			}},
		{name: "Drop drops nothing", caught: "generations/drop durability/generations",
			with: func(f *faulty) { f.drop = func(uint64) error { return nil } }},
		{name: "Drop drops the given one too", caught: "generations/drop",
			with: func(f *faulty) {
				f.drop = func(before uint64) error { return f.model.Drop(background, before+1) }
			}},
		{name: "claims survive Compact", caught: "generations/claims-end",
			with: func(f *faulty) {
				f.afterCompact(func(before *model) { f.claims = before.claims })
			}},
		{name: "names stay held after Compact", caught: "generations/claims-end",
			with: func(f *faulty) {
				f.afterCompact(func(before *model) {
					for name, st := range before.claims {
						f.claims[name].expires = st.expires
					}
				})
			}},
		{name: "records keep their old numbers", caught: "generations/base generations/compact",
			with: func(f *faulty) {
				f.afterCompact(func(before *model) {
					for _, it := range before.logs[before.newest] {
						r := f.model.records[it.Source][it.Resource.ID]
						r.Seq = it.Seq
						f.model.records[it.Source][it.Resource.ID] = r
					}
				})
			}},
		{name: "tasks stay behind", caught: "generations/tasks",
			with: func(f *faulty) {
				f.afterCompact(func(before *model) { f.model.tasks = before.tasks })
			}},
		{name: "tasks follow whatever their Base was", caught: "generations/tasks",
			with: func(f *faulty) {
				f.afterCompact(func(*model) {
					for source, tasks := range f.model.tasks {
						for id, t := range tasks {
							t.Base = f.model.records[source][id].Seq
							tasks[id] = t
						}
					}
				})
			}},
		{name: "Resources pages by Born across Compact", caught: "generations/compact-inside",
			with: func(f *faulty) {
				f.byBorn = true
				f.afterCompact(func(*model) {
					var live []*harvest.Record
					f.model.eachRecord(func(r *harvest.Record) {
						if r.Live() {
							live = append(live, r)
						}
					})
					slices.SortFunc(live, func(a, b *harvest.Record) int { return cmp.Compare(a.Born, b.Born) })
					for i, r := range live {
						r.Born = websync.Seq(i + 1)
						f.model.records[r.Source][r.Resource.ID] = *r
					}
				})
			}},
		{name: "a loop over a dropped generation just ends", caught: "generations/drop-inside",
			with: func(f *faulty) {
				began := uint64(1)
				f.loop = func(yes func() bool) bool { return yes() && f.logs[began] != nil }
			}},
		{name: "Compact loses what is committed beside it", caught: "generations/compact-beside-commits",
			with: func(f *faulty) {
				f.afterCompact(func(*model) {
					if log := f.logs[f.newest]; len(log) > 0 {
						f.logs[f.newest], f.seq = log[:len(log)-1], f.seq-1
					}
				})
				// A Compact always finds something.
				compact := f.compact
				f.compact = func() (uint64, error) {
					for range 100 {
						if h, _ := f.model.Head(background); h.Last > 0 {
							break
						}
						time.Sleep(time.Millisecond)
					}
					return compact()
				}
			}},
		{name: "Vacuum removes what is named", caught: "generations/vacuum generations/vacuum-pending generations/vacuum-compacted bodies/shared durability/bodies",
			with: func(f *faulty) {
				f.vacuum = func(grace time.Duration) (n int, _ error) {
					f.locked(func() {
						n = len(f.bodies)
						clear(f.bodies)
					})
					return n, nil
				}
			}},
		{name: "Vacuum does nothing", caught: "generations/vacuum generations/vacuum-grace generations/vacuum-pending",
			with: func(f *faulty) { f.vacuum = func(time.Duration) (int, error) { return 0, nil } }},
		{name: "Vacuum knows no grace", caught: "generations/vacuum generations/vacuum-grace",
			with: func(f *faulty) {
				f.vacuum = func(time.Duration) (int, error) { return f.model.Vacuum(background, 0) }
			}},
		{name: "Vacuum counts grace from when a body was stored", caught: "generations/vacuum-grace",
			with: func(f *faulty) {
				stored := map[websync.Digest]time.Time{}
				f.committed = func(*harvest.Claim, *harvest.Batch) {
					for key, b := range f.bodies {
						if _, ok := stored[key]; !ok {
							stored[key] = b.at
						}
						b.at = stored[key]
					}
				}
			}},
		{name: "Vacuum reckons by the wall clock", caught: "generations/vacuum-grace",
			with: func(f *faulty) {
				opened := time.Now()
				f.vacuum = func(grace time.Duration) (int, error) {
					if time.Since(opened) < grace {
						return 0, nil
					}
					return f.model.Vacuum(background, 0)
				}
			}},
		{name: "bodies lie in the store before their Commit", caught: "generations/vacuum-pending",
			with: func(f *faulty) {
				f.writers(func(w *bodyWriter) error {
					f.locked(func() { f.bodies[w.key()] = &stored{slices.Clone(w.data.Bytes()), f.now()} })
					return nil
				}, nil)
				commit := f.commit
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
					inner := *b
					inner.Bodies = nil
					return commit(ctx, c, &inner)
				}
			}},
		{name: "Vacuum races with Commit", caught: "generations/vacuum-race",
			with: func(f *faulty) {
				// It decides first and removes later.
				f.vacuum = func(grace time.Duration) (n int, _ error) {
					named := map[websync.Digest]bool{}
					f.locked(func() {
						f.model.eachRecord(func(r *harvest.Record) {
							for _, b := range r.Bodies {
								named[b.Key] = true
							}
						})
					})
					time.Sleep(2 * time.Millisecond)
					f.locked(func() {
						n = len(f.bodies)
						maps.DeleteFunc(f.bodies, func(key websync.Digest, _ *stored) bool { return !named[key] })
						n -= len(f.bodies)
					})
					return n, nil
				}
			}},
	}
}

func brokenDurability() []brokenCatalog {
	return []brokenCatalog{
		{name: "Reopen loses the last Commit", caught: "durability/everything durability/counters durability/base",
			reopen: func(m *model) {
				log := m.logs[m.newest]
				last := log[len(log)-1]
				delete(m.records[last.Source], last.Resource.ID)
				m.logs[m.newest] = log[:len(log)-1]
				m.seq--
			}},
		{name: "Reopen loses State", caught: "durability/everything", reopen: func(m *model) { clear(m.states) }},
		{name: "Reopen loses checkpoints", caught: "durability/everything", reopen: func(m *model) { clear(m.checkpoints) }},
		{name: "Reopen loses tasks", caught: "durability/everything", reopen: func(m *model) { clear(m.tasks) }},
		{name: "Reopen loses bodies", caught: "durability/bodies", reopen: func(m *model) { clear(m.bodies) }},
		{name: "Reopen counts rows", caught: "durability/counters",
			reopen: func(m *model) { m.seq = websync.Seq(len(m.records["a"])) }},
		{name: "Reopen starts the tasks' counter anew", caught: "durability/counters", reopen: func(m *model) { m.taskN = 0 }},
		{name: "Reopen starts Epochs anew", caught: "durability/claims", reopen: func(m *model) { clear(m.claims) }},
		{name: "Reopen forgets the last Batch", caught: "durability/repeat",
			reopen: func(m *model) {
				for _, st := range m.claims {
					st.applied = false
				}
			}},
		{name: "Reopen forgets numbers of records", caught: "durability/base durability/everything",
			reopen: func(m *model) { m.eachRecord(func(r *harvest.Record) { r.Seq = r.Born }) }},
		{name: "Reopen brings dropped generations back", caught: "durability/generations",
			reopen: func(m *model) { m.logs[1] = nil }},
		{name: "Reopen finds what failed", caught: "durability/failed",
			with: func(f *faulty) {
				f.failed = func(_ *harvest.Claim, b *harvest.Batch) { f.left = b }
			},
			reopen: func(m *model) { m.apply(m.left) }},
	}
}
