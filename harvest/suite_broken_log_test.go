package harvest_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func brokenLogs() []brokenCatalog {
	return []brokenCatalog{
		{name: "numbers with gaps", caught: "log/dense log/concurrent",
			with: func(f *faulty) {
				f.committed = func(*harvest.Claim, *harvest.Batch) { f.seq++ }
			}},
		{name: "a failed Commit costs a number", caught: "commit/conflicts",
			with: func(f *faulty) {
				f.conflict = func(*harvest.Claim, *harvest.Batch) { f.seq++ }
			}},
		{name: "numbers the Puts of a Batch in byte order", caught: "log/dense",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					slices.SortFunc(b.Puts, func(a, b harvest.Change) int {
						return strings.Compare(a.Record.Resource.ID, b.Record.Resource.ID)
					})
				}
			}},
		{name: "yields numbers out of order", caught: "log/concurrent log/dense",
			with: func(f *faulty) {
				f.changes = func(_ websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
					// The last but one is still being written somewhere.
					if len(items) > 1 {
						items = slices.Delete(items, len(items)-2, len(items)-1)
					}
					return items, err
				}
			}},
		{name: "uses the clock as it is", caught: "log/times generations/times-go-on",
			with: func(f *faulty) {
				f.stamp = func(now, _ time.Time) time.Time { return now.UTC().Truncate(time.Microsecond) }
			}},
		{name: "equal times within a Batch", caught: "log/times log/whole-microseconds",
			with: func(f *faulty) {
				f.stamp = func(now, last time.Time) time.Time {
					if now = now.UTC().Truncate(time.Microsecond); now.Before(last) {
						now = last
					}
					return now.Truncate(100 * time.Millisecond)
				}
			}},
		{name: "times in milliseconds", caught: "log/whole-microseconds log/times",
			with: func(f *faulty) {
				f.stamp = func(now, last time.Time) time.Time {
					if now = now.UTC().Truncate(time.Millisecond); !now.After(last) {
						now = last.Add(time.Millisecond)
					}
					return now
				}
			}},
		{name: "times in nanoseconds", caught: "log/whole-microseconds log/concurrent",
			with: func(f *faulty) {
				f.stamp = func(now, last time.Time) time.Time {
					if now = now.UTC(); !now.After(last) {
						now = last.Add(1)
					}
					return now.Truncate(time.Microsecond).Add(time.Microsecond + 1)
				}
			}},
		{name: "times in local time", caught: "log/whole-microseconds",
			with: func(f *faulty) {
				f.stamp = func(now, last time.Time) time.Time { return nextTime(now, last).In(time.FixedZone("", 3600)) }
			}},
		{name: "Born changes upon return", caught: "log/born records/resources",
			with: func(f *faulty) {
				f.beforeCommit(func(_ *standing, _ *harvest.Claim, b *harvest.Batch) {
					for _, p := range b.Puts {
						r, ok := f.model.records[b.Source][p.Record.Resource.ID]
						if ok && r.Kind == websync.Deleted && p.Record.Kind != websync.Deleted {
							r.Born = 0
							f.model.records[b.Source][p.Record.Resource.ID] = r
						}
					}
				})
			}},
		{name: "entries have no Prior", caught: "log/prior",
			with: func(f *faulty) { f.entry = func(it *websync.Item) { it.Prior = 0 } }},
		{name: "a Touch gives a Prior", caught: "log/prior",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					for _, touch := range b.Touches {
						r := f.model.records[b.Source][touch.Record.Resource.ID]
						r.Prior = r.Seq
						f.model.records[b.Source][touch.Record.Resource.ID] = r
					}
				}
			}},
		{name: "Born is the number", caught: "log/born",
			with: func(f *faulty) {
				f.beforeCommit(func(*standing, *harvest.Claim, *harvest.Batch) { f.born = f.seq })
			}},
		{name: "drops superseded entries", caught: "log/superseded records/kinds",
			with: func(f *faulty) {
				f.changes = func(_ websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
					return slices.DeleteFunc(items, func(it websync.Item) bool {
						return f.model.records[it.Source][it.Resource.ID].Seq != it.Seq
					}), err
				}
			}},
		{name: "entries have the latest description", caught: "log/superseded log/touch",
			with: func(f *faulty) {
				f.entry = func(it *websync.Item) { it.Resource = f.model.records[it.Source][it.Resource.ID].Resource }
			}},
		{name: "entries lose their bodies", caught: "log/superseded records/every-field generations/vacuum",
			with: func(f *faulty) {
				f.entry = func(it *websync.Item) {
					it.Bodies = slices.DeleteFunc(it.Bodies, func(b websync.Body) bool { return f.bodies[b.Key] == nil })
					if len(it.Bodies) > 1 {
						it.Bodies = it.Bodies[:1]
					}
				}
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					for _, p := range b.Puts {
						if p.Record.Kind == websync.Deleted {
							clear(f.bodies)
						}
					}
				}
			}},
		{name: "a Touch leaves an entry", caught: "log/touch records/touch",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					b.Puts, b.Touches = append(b.Puts, b.Touches...), nil
				}
			}},
		{name: "After is the first", caught: "log/range",
			with: func(f *faulty) {
				f.changes = func(r websync.Range, _ []websync.Item, _ error) ([]websync.Item, error) {
					if r.After > 0 {
						r.After--
					}
					return collect(f.model.Changes(context.Background(), r))
				}
			}},
		{name: "Until is not reached", caught: "log/range log/long",
			with: func(f *faulty) {
				f.changes = func(r websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
					return slices.DeleteFunc(items, func(it websync.Item) bool { return it.Seq == r.Until }), err
				}
			}},
		{name: "knows one source at a time", caught: "log/range",
			with: func(f *faulty) {
				f.changes = func(r websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
					return slices.DeleteFunc(items, func(it websync.Item) bool {
						return len(r.Sources) > 0 && it.Source != r.Sources[0]
					}), err
				}
			}},
		{name: "the log ends after its first page", caught: "log/long iterators/context",
			with: func(f *faulty) {
				f.changes = func(_ websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
					return items[:min(500, len(items))], err
				}
				f.loop = func(yes func() bool) bool { return yes() && false }
			}},
		{name: "an unknown generation is empty", caught: "generations/drop durability/generations",
			with: func(f *faulty) {
				f.changes = func(_ websync.Range, items []websync.Item, _ error) ([]websync.Item, error) { return items, nil }
			}},
		{name: "generation 0", caught: "log/dense",
			with: func(f *faulty) {
				f.head = func(h *websync.Head) { h.Generation-- }
			}},
	}
}

func brokenRecords() []brokenCatalog {
	// kept runs g on each record that a Batch has put or touched, under the lock.
	kept := func(f *faulty, g func(before, r *harvest.Record, put bool)) {
		f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
			var before map[string]harvest.Record
			f.locked(func() { before = maps.Clone(f.model.records[b.Source]) })
			conflicts, err := f.model.Commit(ctx, c, b)
			if err != nil || len(conflicts) > 0 {
				return conflicts, err
			}
			f.locked(func() {
				for i, ch := range slices.Concat(b.Puts, b.Touches) {
					was, is := before[ch.Record.Resource.ID], f.model.records[b.Source][ch.Record.Resource.ID]
					g(&was, &is, i < len(b.Puts))
					f.model.records[b.Source][ch.Record.Resource.ID] = is
				}
			})
			return conflicts, err
		}
	}
	return []brokenCatalog{
		{name: "loses tombstones", caught: "records/kinds records/byte-order log/born records/touch-unknown",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					maps.DeleteFunc(f.model.records[b.Source], func(_ string, r harvest.Record) bool { return !r.Live() })
				}
			}},
		{name: "tombstones lose their description", caught: "records/kinds",
			with: func(f *faulty) {
				kept(f, func(_, r *harvest.Record, put bool) {
					if r.Kind == websync.Deleted {
						r.Resource = websync.Resource{ID: r.Resource.ID}
					}
				})
			}},
		{name: "decides the Kind itself", caught: "records/kinds records/every-field",
			with: func(f *faulty) {
				kept(f, func(was, r *harvest.Record, put bool) {
					if put && r.Kind != websync.Deleted && was.Known() {
						r.Kind = websync.Updated
					}
				})
				f.entry = func(it *websync.Item) {
					if it.Kind == websync.Created && it.Seq > 1 {
						it.Kind = websync.Updated
					}
				}
			}},
		{name: "merges descriptions", caught: "records/replaced",
			with: func(f *faulty) {
				kept(f, func(was, r *harvest.Record, _ bool) {
					if len(r.Resource.Links) == 0 {
						r.Resource.Links = was.Resource.Links
					}
				})
			}},
		{name: "keeps old validators", caught: "records/replaced",
			with: func(f *faulty) {
				kept(f, func(was, r *harvest.Record, _ bool) {
					if len(r.Validators) == 0 {
						r.Validators = was.Validators
					}
				})
			}},
		{name: "keeps two validators", caught: "records/every-field",
			with: func(f *faulty) {
				kept(f, func(_, r *harvest.Record, _ bool) { r.Validators = r.Validators[:min(2, len(r.Validators))] })
			}},
		{name: "sorts links", caught: "records/every-field",
			with: func(f *faulty) {
				kept(f, func(_, r *harvest.Record, _ bool) {
					slices.SortFunc(r.Resource.Links, func(a, b websync.Link) int { return strings.Compare(a.Href, b.Href) })
				})
			}},
		{name: "KeepsContent is always set", caught: "bodies/not-kept",
			with: func(f *faulty) {
				f.brief = func(b *harvest.Brief) { b.KeepsContent = b.HasContent }
			}},
		{name: "a Fingerprint always has KeepsContent", caught: "bodies/not-kept",
			with: func(f *faulty) {
				f.spoilPrints(func(p *harvest.Fingerprint) { p.KeepsContent = p.HasContent })
			}},
		{name: "a Brief has no Hash", caught: "records/every-field",
			with: func(f *faulty) {
				f.brief = func(b *harvest.Brief) { b.Stated.Hash = 0 }
			}},
		{name: "a Brief is never Early", caught: "records/every-field",
			with: func(f *faulty) {
				f.brief = func(b *harvest.Brief) { b.Early = false }
			}},
		{name: "a Fingerprint has no State", caught: "records/fingerprints",
			with: func(f *faulty) {
				f.spoilPrints(func(p *harvest.Fingerprint) { p.State = 0 })
			}},
		{name: "a Fingerprint is of another id", caught: "records/fingerprints",
			with: func(f *faulty) {
				f.spoilPrints(func(p *harvest.Fingerprint) { p.ID++ })
			}},
		{name: "no Fingerprints", caught: "records/fingerprints",
			with: func(f *faulty) {
				f.prints = func(all *harvest.Fingerprints) { all.All = func(func(harvest.Fingerprint, error) bool) {} }
			}},
		{name: "Fingerprints counts no tombstones", caught: "records/fingerprints",
			with: func(f *faulty) {
				f.prints = func(all *harvest.Fingerprints) { all.Others = 0 }
			}},
		{name: "one FingerprintKey for all", caught: "records/fingerprint-key",
			with: func(f *faulty) { f.key = harvest.FingerprintKey{1} }},
		{name: "a Touch sets the Kind", caught: "records/touch records/head",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					for _, ch := range b.Touches {
						r := f.model.records[b.Source][ch.Record.Resource.ID]
						r.Kind = websync.Updated
						f.model.records[b.Source][ch.Record.Resource.ID] = r
					}
				}
			}},
		{name: "a Touch sets the time", caught: "records/touch",
			with: func(f *faulty) {
				kept(f, func(was, r *harvest.Record, put bool) {
					if !put && was.Seq > 0 {
						r.Time = nextTime(f.now(), was.Time)
					}
				})
			}},
		{name: "a Touch takes a number", caught: "records/touch-base records/touch",
			with: func(f *faulty) {
				kept(f, func(was, r *harvest.Record, put bool) {
					if !put && was.Seq > 0 {
						r.Seq++
					}
				})
			}},
		{name: "a Touch has no Base", caught: "records/touch-base records/touch-unknown commit/conflicts generations/base",
			with: func(f *faulty) {
				f.beforeCommit(func(_ *standing, _ *harvest.Claim, b *harvest.Batch) {
					for i, ch := range b.Touches {
						b.Touches[i].Base = f.model.records[b.Source][ch.Record.Resource.ID].Seq
					}
				})
			}},
		{name: "a Touch of an unknown id is dropped", caught: "records/touch-unknown records/byte-order",
			with: func(f *faulty) {
				kept(f, func(was, r *harvest.Record, put bool) {})
				f.batch = func(b *harvest.Batch) {
					b.Touches = slices.DeleteFunc(b.Touches, func(c harvest.Change) bool { return c.Base == 0 })
				}
			}},
		{name: "a Touch of an unknown id makes a record", caught: "records/touch-unknown-live",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					for i, ch := range b.Touches {
						if ch.Base == 0 {
							b.Touches[i].Record.Kind = websync.Deleted
						}
					}
				}
			}},
		{name: "a tombstone without a number stays as it is", caught: "records/tombstone-again",
			with: func(f *faulty) {
				kept(f, func(was, r *harvest.Record, put bool) {
					if was.Known() && was.Seq == 0 {
						*r = *was
					}
				})
			}},
		{name: "counts Puts", caught: "records/head",
			with: func(f *faulty) {
				live := map[string]int64{}
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					for _, ch := range b.Puts {
						switch {
						case ch.Record.Kind == websync.Deleted:
							live[b.Source]--
						case ch.Base == 0:
							live[b.Source]++
						}
					}
				}
				f.head = func(h *websync.Head) { h.Live = maps.Clone(live) }
			}},
		{name: "Head has no first", caught: "records/head log/dense",
			with: func(f *faulty) {
				f.head = func(h *websync.Head) { h.First, h.FirstTime = 0, time.Time{} }
			}},
		{name: "answers each id once", caught: "records/lookup",
			with: func(f *faulty) {
				f.lookup = func(source string, ids []string) ([]harvest.Record, error) {
					recs, err := f.model.Lookup(context.Background(), source, ids)
					seen := map[string]bool{}
					for i, r := range recs {
						if seen[r.Resource.ID] {
							recs[i] = harvest.Record{}
						}
						seen[r.Resource.ID] = true
					}
					return recs, err
				}
			}},
		{name: "answers in its own order", caught: "records/lookup records/lookup-many ids/odd",
			with: func(f *faulty) {
				f.lookup = func(source string, ids []string) ([]harvest.Record, error) {
					return f.model.Lookup(context.Background(), source, slices.Sorted(slices.Values(ids)))
				}
			}},
		{name: "an unknown id has an ID", caught: "records/lookup",
			with: func(f *faulty) {
				f.lookup = func(source string, ids []string) ([]harvest.Record, error) {
					recs, err := f.model.Lookup(context.Background(), source, ids)
					for i := range recs {
						recs[i].Resource.ID = ids[i]
					}
					return recs, err
				}
			}},
		{name: "takes 999 ids", caught: "records/lookup-many",
			with: func(f *faulty) {
				f.lookup = func(source string, ids []string) ([]harvest.Record, error) {
					if len(ids) > 999 {
						return nil, errBroken
					}
					return f.model.Lookup(context.Background(), source, ids)
				}
			}},
		{name: "Resources in the order of ids", caught: "records/resources log/born",
			with: func(f *faulty) {
				f.resources = func(_ websync.Range, items []websync.Item) []websync.Item {
					slices.SortFunc(items, func(a, b websync.Item) int { return strings.Compare(a.Resource.ID, b.Resource.ID) })
					return items
				}
			}},
		{name: "Resources limits Seq", caught: "records/resources",
			with: func(f *faulty) {
				f.resources = func(r websync.Range, items []websync.Item) []websync.Item {
					return slices.DeleteFunc(items, func(it websync.Item) bool { return !in(r, it.Source, it.Seq) })
				}
			}},
		{name: "a page of which all are deleted is the last", caught: "records/resources-long",
			with: func(f *faulty) {
				f.resources = func(_ websync.Range, items []websync.Item) []websync.Item {
					for i := range items {
						if i > 0 && items[i].Born > items[i-1].Born+50 {
							return items[:i]
						}
					}
					return items
				}
			}},
		{name: "ids in the order of a language", caught: "records/byte-order",
			with: func(f *faulty) {
				f.records = func(recs []harvest.Record) []harvest.Record {
					slices.SortStableFunc(recs, func(a, b harvest.Record) int {
						return strings.Compare(strings.ToLower(a.Resource.ID), strings.ToLower(b.Resource.ID))
					})
					return recs
				}
			}},
		{name: "Records ends after its first page", caught: "iterators/long iterators/while-others-commit generations/compact-inside",
			with: func(f *faulty) {
				f.records = func(recs []harvest.Record) []harvest.Record { return recs[:min(1000, len(recs))] }
			}},
		{name: "forgets Origin.Self", caught: "records/every-field",
			with: func(f *faulty) {
				f.record = func(r *harvest.Record) {
					if r.Resource.Origin != nil {
						r.Resource.Origin.Self = ""
					}
				}
			}},
		{name: "Stated has 63 bits", caught: "records/extremes",
			with: func(f *faulty) { f.record = func(r *harvest.Record) { r.Stated.Hash &^= 1 << 63 } }},
		{name: "Datetimes in UTC", caught: "records/datetimes",
			with: func(f *faulty) {
				f.record = func(r *harvest.Record) { r.Resource.Modified = r.Resource.Modified.UTC() }
			}},
		{name: "Datetimes of tasks in milliseconds", caught: "records/datetimes",
			with: func(f *faulty) {
				f.task = func(t *harvest.Task) { t.At = t.At.WithPrecision(min(t.At.Precision(), websync.PrecisionMillisecond)) }
			}},
		{name: "texts of 64 KiB", caught: "records/long-text",
			with: func(f *faulty) {
				f.record = func(r *harvest.Record) { r.Resource.Summary = r.Resource.Summary[:min(1<<16, len(r.Resource.Summary))] }
			}},
	}
}
