package harvest_test

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func brokenTasks() []brokenCatalog {
	return []brokenCatalog{
		{name: "forgets Task.Run", caught: "tasks/every-field tasks/replace",
			with: func(f *faulty) { f.task = func(t *harvest.Task) { t.Run = [16]byte{} } }},
		{name: "Due in milliseconds", caught: "tasks/times",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					for i := range b.Tasks {
						b.Tasks[i].Due = b.Tasks[i].Due.Truncate(time.Millisecond)
					}
				}
			}},
		{name: "keeps Due as it is", caught: "tasks/times",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					for _, given := range b.Tasks {
						t := f.model.tasks[b.Source][given.Resource.ID]
						t.Due = given.Due.UTC()
						f.model.tasks[b.Source][given.Resource.ID] = t
					}
				}
			}},
		{name: "Due in nanoseconds since 1970", caught: "tasks/times",
			with: func(f *faulty) {
				f.task = func(t *harvest.Task) { t.Due = time.Unix(0, t.Due.UnixNano()).UTC() }
			}},
		{name: "keeps N when it replaces", caught: "tasks/replace",
			with: func(f *faulty) { f.task = func(t *harvest.Task) { t.N = 1 } }},
		{name: "forgets Done", caught: "tasks/done tasks/due-replaced tasks/source ids/odd",
			with: func(f *faulty) { f.batch = func(b *harvest.Batch) { b.Done = nil } }},
		{name: "Done does not look at N", caught: "tasks/done",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					for i := range b.Done {
						b.Done[i].N = 0
					}
				}
			}},
		{name: "Done after Tasks", caught: "tasks/done-before-tasks",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					for _, ref := range b.Done {
						if ref.N == 0 {
							delete(f.model.tasks[b.Source], ref.ID)
						}
					}
				}
			}},
		{name: "an old task replaces a new one", caught: "tasks/replace-only",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					for i := range b.Tasks {
						b.Tasks[i].N = 0
					}
				}
			}},
		{name: "N counts for each id", caught: "tasks/n-never-again durability/counters",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					if len(b.Tasks) == 0 {
						f.taskN = 0
					}
				}
			}},
		{name: "Due ends after 1,500", caught: "tasks/long",
			with: func(f *faulty) {
				f.due = func(source string, now time.Time, n int) []harvest.Task {
					tasks, _ := f.model.Due(context.Background(), source, now, min(n, 1500))
					return tasks
				}
			}},
		{name: "errors of a kilobyte", caught: "tasks/long-text",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					for i := range b.Tasks {
						b.Tasks[i].Error = b.Tasks[i].Error[:min(len(b.Tasks[i].Error), 1024)]
					}
				}
			}},
		{name: "LookupTasks remembers what it has answered", caught: "tasks/lookup",
			with: func(f *faulty) {
				known := map[string]harvest.Task{}
				last := ""
				f.byID = func(source string, tasks []harvest.Task) []harvest.Task {
					for i := range tasks {
						if id := tasks[i].Resource.ID; id != "" {
							known[id], last = tasks[i], id
						} else if len(tasks) == 1 {
							tasks[i] = known[last]
						}
					}
					return tasks
				}
			}},
		{name: "Due in the order of ids", caught: "tasks/due tasks/due-replaced tasks/long",
			with: func(f *faulty) {
				f.due = func(source string, now time.Time, n int) []harvest.Task {
					due, _ := f.model.Due(context.Background(), source, now, 1<<30)
					slices.SortFunc(due, func(a, b harvest.Task) int { return strings.Compare(a.Resource.ID, b.Resource.ID) })
					return due[:min(n, len(due))]
				}
			}},
		{name: "Due forgets the limit", caught: "tasks/due",
			with: func(f *faulty) {
				f.due = func(source string, now time.Time, _ int) []harvest.Task {
					due, _ := f.model.Due(context.Background(), source, now, 1<<30)
					return due
				}
			}},
		{name: "Done without N leaves parked tasks", caught: "tasks/done",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					b.Done = slices.DeleteFunc(b.Done, func(ref harvest.TaskRef) bool { return ref.N == 0 && f.taskOf(b.Source, ref.ID).Parked })
				}
			}},
		{name: "Done without N leaves withheld deletions", caught: "tasks/done",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					b.Done = slices.DeleteFunc(b.Done, func(ref harvest.TaskRef) bool {
						return ref.N == 0 && f.taskOf(b.Source, ref.ID).Kind == harvest.TaskWithheld
					})
				}
			}},
		{name: "parked tasks are due", caught: "tasks/not-due tasks/due-replaced",
			with: func(f *faulty) {
				f.due = func(source string, now time.Time, n int) []harvest.Task {
					return f.dueBut(source, now, n, func(t harvest.Task) bool { return t.Kind != harvest.TaskGet })
				}
			}},
		{name: "withheld deletions are due", caught: "tasks/not-due",
			with: func(f *faulty) {
				f.due = func(source string, now time.Time, n int) []harvest.Task {
					return f.dueBut(source, now, n, func(t harvest.Task) bool { return t.Parked })
				}
			}},
		{name: "a limit counts what is not due", caught: "tasks/not-due",
			with: func(f *faulty) {
				f.due = func(source string, now time.Time, n int) []harvest.Task {
					all := f.dueBut(source, now, n, func(harvest.Task) bool { return false })
					return slices.DeleteFunc(all, func(t harvest.Task) bool { return t.Parked || t.Kind != harvest.TaskGet })
				}
			}},
		{name: "an old time stays in the index", caught: "tasks/due-replaced",
			with: func(f *faulty) {
				soonest := map[string]time.Time{}
				f.batch = func(b *harvest.Batch) {
					for i, t := range b.Tasks {
						if old, ok := soonest[t.Resource.ID]; ok && old.Before(t.Due) {
							b.Tasks[i].Due = old
						}
						soonest[t.Resource.ID] = b.Tasks[i].Due
					}
				}
			}},
		{name: "Tasks in the order of a language", caught: "tasks/order",
			with: func(f *faulty) {
				f.tasks = func(tasks []harvest.Task) []harvest.Task {
					slices.SortStableFunc(tasks, func(a, b harvest.Task) int {
						return strings.Compare(strings.ToLower(a.Resource.ID), strings.ToLower(b.Resource.ID))
					})
					return tasks
				}
			}},
		{name: "Tasks yields only what is to get", caught: "tasks/order tasks/not-due tasks/every-field",
			with: func(f *faulty) {
				f.tasks = func(tasks []harvest.Task) []harvest.Task {
					return slices.DeleteFunc(tasks, func(t harvest.Task) bool { return t.Kind != harvest.TaskGet || t.Parked })
				}
			}},
		{name: "Tasks ends after its first page", caught: "tasks/long",
			with: func(f *faulty) {
				f.tasks = func(tasks []harvest.Task) []harvest.Task { return tasks[:min(1000, len(tasks))] }
			}},
		{name: "does not look at Change.Task", caught: "tasks/carried-out",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					for _, changes := range [][]harvest.Change{b.Puts, b.Touches} {
						for i := range changes {
							changes[i].Task = 0
						}
					}
				}
			}},
		{name: "LookupTasks leaves out what has no task", caught: "tasks/lookup",
			with: func(f *faulty) {
				f.byID = func(_ string, tasks []harvest.Task) []harvest.Task {
					return slices.DeleteFunc(tasks, func(t harvest.Task) bool { return t.Resource.ID == "" })
				}
			}},
		{name: "LookupTasks finds only what is to get", caught: "tasks/lookup",
			with: func(f *faulty) {
				f.byID = func(_ string, tasks []harvest.Task) []harvest.Task {
					for i, t := range tasks {
						if t.Kind != harvest.TaskGet || t.Parked {
							tasks[i] = harvest.Task{}
						}
					}
					return tasks
				}
			}},
		{name: "LookupTasks in the order of the table", caught: "tasks/lookup",
			with: func(f *faulty) {
				f.byID = func(_ string, tasks []harvest.Task) []harvest.Task {
					slices.SortFunc(tasks, func(a, b harvest.Task) int { return strings.Compare(a.Resource.ID, b.Resource.ID) })
					return tasks
				}
			}},
		{name: "Done of one source reaches others", caught: "tasks/source",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					for _, ref := range b.Done {
						for source := range f.model.tasks {
							delete(f.model.tasks[source], ref.ID)
						}
					}
				}
			}},
	}
}

// dueBut is Due without the tasks that not selects.
func (f *faulty) dueBut(source string, now time.Time, n int, not func(harvest.Task) bool) []harvest.Task {
	due := slices.DeleteFunc(above(f.model, f.model.tasks, source, ""), func(t harvest.Task) bool {
		return not(t) || t.Due.After(now)
	})
	slices.SortStableFunc(due, func(a, b harvest.Task) int { return a.Due.Compare(b.Due) })
	return due[:min(n, len(due))]
}

// A spoiltWriter is a BodyWriter with its own Finish and Discard.
type spoiltWriter struct {
	*bodyWriter
	finish  func(w *bodyWriter) error
	discard func(w *bodyWriter)
}

func (w *spoiltWriter) Finish() (websync.Digest, int64, error) {
	if w.finish != nil {
		if err := w.finish(w.bodyWriter); err != nil {
			return websync.Digest{}, 0, err
		}
	}
	return w.bodyWriter.Finish()
}

func (w *spoiltWriter) Discard() error {
	if w.discard != nil {
		w.discard(w.bodyWriter)
		return nil
	}
	return w.bodyWriter.Discard()
}

// writers makes all writers spoilt ones. The model gets the writers inside them.
func (f *faulty) writers(finish func(w *bodyWriter) error, discard func(w *bodyWriter)) {
	f.newBody = func() harvest.BodyWriter { return &spoiltWriter{&bodyWriter{}, finish, discard} }
	commit := f.commit
	f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
		inner := *b
		inner.Bodies = nil
		for _, w := range b.Bodies {
			if s, ok := w.(*spoiltWriter); ok {
				w = s.bodyWriter
			}
			inner.Bodies = append(inner.Bodies, w)
		}
		if commit != nil {
			return commit(ctx, c, &inner)
		}
		return f.model.Commit(ctx, c, &inner)
	}
}

// countBodies makes Vacuum count what Puts and Touches take and let go of the keys that a
// record names.
func (f *faulty) countBodies(take, let func(keys []websync.Digest) []websync.Digest) {
	counts := map[websync.Digest]int{}
	keysOf := func(bodies []websync.Body) (keys []websync.Digest) {
		for _, b := range bodies {
			keys = append(keys, b.Key)
		}
		return keys
	}
	f.beforeCommit(func(_ *standing, _ *harvest.Claim, b *harvest.Batch) {
		for _, c := range slices.Concat(b.Puts, b.Touches) {
			for _, key := range let(keysOf(f.model.records[b.Source][c.Record.Resource.ID].Bodies)) {
				counts[key]--
			}
			for _, key := range take(keysOf(c.Record.Bodies)) {
				counts[key]++
			}
		}
	})
	f.vacuum = func(time.Duration) (n int, _ error) {
		f.locked(func() {
			n = len(f.bodies)
			maps.DeleteFunc(f.bodies, func(key websync.Digest, _ *stored) bool { return counts[key] <= 0 })
			n -= len(f.bodies)
		})
		return n, nil
	}
}

func all(keys []websync.Digest) []websync.Digest { return keys }

func brokenBodies() []brokenCatalog {
	data := func(f *faulty, key websync.Digest) ([]byte, error) {
		r, err := f.model.Open(context.Background(), websync.Body{Key: key})
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}
	// opened spoils the bytes that Open returns.
	opened := func(spoil func(b []byte) []byte) func(f *faulty) {
		return func(f *faulty) {
			f.open = func(key websync.Digest) (io.ReadSeekCloser, error) {
				b, err := data(f, key)
				if err != nil {
					return nil, err
				}
				return reader{bytes.NewReader(spoil(b))}, nil
			}
		}
	}
	return []brokenCatalog{
		{name: "an empty body is none", caught: "bodies/sizes",
			with: func(f *faulty) {
				f.open = func(key websync.Digest) (io.ReadSeekCloser, error) {
					if key == websync.SHA256(nil) {
						return nil, websync.ErrNotFound
					}
					return f.model.Open(context.Background(), websync.Body{Key: key})
				}
			}},
		{name: "bodies are text", caught: "bodies/sizes",
			with: opened(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) })},
		{name: "the last chunk is lost", caught: "bodies/sizes bodies/streamed bodies/read-while-commit",
			with: opened(func(b []byte) []byte {
				if len(b) > 64<<10 {
					return b[:len(b)/(64<<10)*(64<<10)-1]
				}
				return b
			})},
		{name: "a position after the end is the end", caught: "bodies/streamed",
			with: func(f *faulty) {
				f.open = func(key websync.Digest) (io.ReadSeekCloser, error) {
					r, err := f.model.Open(context.Background(), websync.Body{Key: key})
					return clamped{r}, err
				}
			}},
		{name: "can't seek", caught: "bodies/streamed",
			with: func(f *faulty) {
				f.open = func(key websync.Digest) (io.ReadSeekCloser, error) {
					r, err := f.model.Open(context.Background(), websync.Body{Key: key})
					return noSeeker{r}, err
				}
			}},
		{name: "Finish works once", caught: "bodies/sizes",
			with: func(f *faulty) {
				finished := map[*bodyWriter]int{}
				f.writers(func(w *bodyWriter) error {
					if finished[w]++; finished[w] > 1 {
						return errBroken
					}
					return nil
				}, nil)
			}},
		{name: "the same bytes twice are an error", caught: "bodies/same-content",
			with: func(f *faulty) {
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
					seen := map[websync.Digest]bool{}
					for _, w := range b.Bodies {
						key, _, _ := w.Finish()
						if seen[key] || f.bodies[key] != nil {
							return nil, errBroken
						}
						seen[key] = true
					}
					return f.model.Commit(ctx, c, b)
				}
			}},
		{name: "a body goes with its first record", caught: "bodies/shared",
			with: func(f *faulty) {
				f.beforeCommit(func(_ *standing, _ *harvest.Claim, b *harvest.Batch) {
					for _, p := range b.Puts {
						if p.Record.Kind == websync.Deleted {
							for _, body := range f.model.records[b.Source][p.Record.Resource.ID].Bodies {
								delete(f.bodies, body.Key)
							}
						}
					}
				})
			}},
		{name: "keeps the first body of a record", caught: "bodies/several records/every-field",
			with: func(f *faulty) {
				f.record = func(r *harvest.Record) { r.Bodies = r.Bodies[:min(1, len(r.Bodies))] }
			}},
		{name: "counts the records that name a body, and forgets each name", caught: "bodies/named-twice",
			with: func(f *faulty) { f.countBodies(slices.Compact[[]websync.Digest], all) }},
		{name: "counts the names of a body, and forgets each record", caught: "bodies/named-twice",
			with: func(f *faulty) { f.countBodies(all, slices.Compact[[]websync.Digest]) }},
		{name: "wants every body in the Batch", caught: "bodies/shared",
			with: func(f *faulty) {
				f.beforeCommit(func(_ *standing, _ *harvest.Claim, b *harvest.Batch) { clear(f.bodies) })
			}},
		{name: "does not check the bodies of Touches", caught: "bodies/touch",
			with: func(f *faulty) {
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
					inner := *b
					for _, ch := range b.Touches {
						for _, body := range ch.Record.Bodies {
							f.locked(func() {
								if f.bodies[body.Key] == nil {
									f.bodies[body.Key] = &stored{at: f.now()}
								}
							})
						}
					}
					return f.model.Commit(ctx, c, &inner)
				}
			}},
		{name: "does not check bodies", caught: "bodies/missing commit/half-way-body bodies/touch generations/vacuum",
			with: func(f *faulty) {
				f.beforeCommit(func(_ *standing, _ *harvest.Claim, b *harvest.Batch) {
					for _, ch := range slices.Concat(b.Puts, b.Touches) {
						for _, body := range ch.Record.Bodies {
							if f.bodies[body.Key] == nil {
								f.bodies[body.Key] = &stored{at: f.now()}
							}
						}
					}
				})
			}},
		{name: "looks at the sum only", caught: "bodies/missing",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					for i := range b.Puts {
						for k := range b.Puts[i].Record.Bodies {
							b.Puts[i].Record.Bodies[k].Key.Algorithm = "sha-256"
						}
					}
				}
				f.open = func(key websync.Digest) (io.ReadSeekCloser, error) {
					key.Algorithm = "sha-256"
					return f.model.Open(context.Background(), websync.Body{Key: key})
				}
			}},
		{name: "wants a Key of every body", caught: "bodies/not-kept records/replaced",
			with: func(f *faulty) {
				f.commit = func(ctx context.Context, c *harvest.Claim, b *harvest.Batch) ([]string, error) {
					for _, p := range b.Puts {
						if slices.ContainsFunc(p.Record.Bodies, func(b websync.Body) bool { return b.Key.IsZero() }) {
							return nil, harvest.ErrNoBody
						}
					}
					return f.model.Commit(ctx, c, b)
				}
			}},
		{name: "an unknown body is empty", caught: "bodies/not-kept generations/vacuum",
			with: func(f *faulty) {
				f.open = func(key websync.Digest) (io.ReadSeekCloser, error) {
					b, _ := data(f, key)
					return reader{bytes.NewReader(b)}, nil
				}
			}},
		{name: "Discard takes what is committed", caught: "bodies/discard-after",
			with: func(f *faulty) {
				f.writers(nil, func(w *bodyWriter) {
					w.Discard()
					f.locked(func() { delete(f.bodies, w.key()) })
				})
			}},
		{name: "Discard does nothing", caught: "bodies/discard-before",
			with: func(f *faulty) { f.writers(nil, func(*bodyWriter) {}) }},
		{name: "a writer holds the write lock", caught: "bodies/open-writers",
			with: func(f *faulty) {
				var writing sync.Mutex
				f.newBody = func() harvest.BodyWriter {
					writing.Lock()
					return &bodyWriter{}
				}
			}},
		{name: "a reader holds the lock", caught: "bodies/read-while-commit",
			with: func(f *faulty) {
				f.open = func(key websync.Digest) (io.ReadSeekCloser, error) {
					r, err := f.model.Open(context.Background(), websync.Body{Key: key})
					if err != nil {
						return nil, err
					}
					f.mu.Lock()
					return &lockedReader{ReadSeekCloser: r, unlock: f.mu.Unlock}, nil
				}
			}},
	}
}

type noSeeker struct{ io.ReadSeekCloser }

func (noSeeker) Seek(offset int64, _ int) (int64, error) { return offset, nil }

// A clamped body counts no position after its end.
type clamped struct{ io.ReadSeekCloser }

func (c clamped) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekEnd {
		offset = min(offset, 0)
	}
	return c.ReadSeekCloser.Seek(offset, whence)
}

// A lockedReader gives its lock back when it is closed.
type lockedReader struct {
	io.ReadSeekCloser
	once   sync.Once
	unlock func()
}

func (r *lockedReader) Close() error {
	r.once.Do(r.unlock)
	return nil
}

// beforeGap returns the items before the first gap of a thousand numbers.
func beforeGap(items []websync.Item, number func(websync.Item) websync.Seq, last websync.Seq) []websync.Item {
	for i, it := range items {
		if number(it) > last+1000 {
			return items[:i]
		}
		last = number(it)
	}
	return items
}

func brokenIterators() []brokenCatalog {
	return []brokenCatalog{
		{name: "nothing to yield is an error", caught: "iterators/empty log/dense",
			with: func(f *faulty) {
				f.changes = func(_ websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
					if len(items) == 0 {
						err = websync.ErrNotFound
					}
					return items, err
				}
			}},
		{name: "holds the lock across a yield", caught: "iterators/inside iterators/paused iterators/many",
			with: func(f *faulty) {
				f.loop = func(yes func() bool) (more bool) {
					f.locked(func() { more = yes() })
					return more
				}
			}},
		{name: "holds a connection of a pool across a yield", caught: "iterators/many",
			with: func(f *faulty) {
				pool := make(chan struct{}, 8)
				f.loop = func(yes func() bool) bool {
					pool <- struct{}{}
					defer func() { <-pool }()
					return yes()
				}
			}},
		{name: "a loop that is broken off keeps its connection", caught: "iterators/break",
			with: func(f *faulty) {
				pool := make(chan struct{}, 50)
				f.loop = func(yes func() bool) bool {
					pool <- struct{}{}
					more := yes()
					if more {
						<-pool
					}
					return more
				}
			}},
		{name: "goes on after a break", caught: "iterators/break",
			with: func(f *faulty) {
				f.loop = func(yes func() bool) bool {
					yes()
					return true
				}
			}},
		{name: "loops share a cursor", caught: "iterators/again",
			with: func(f *faulty) {
				depth := 0
				f.loop = func(yes func() bool) bool {
					depth++
					defer func() { depth-- }()
					return yes() && depth == 1
				}
			}},
		{name: "pages by offset", caught: "iterators/while-others-commit generations/compact-inside",
			with: func(f *faulty) { f.offset = 400 }},
		{name: "Tasks pages by offset", caught: "iterators/while-others-commit",
			with: func(f *faulty) { f.taskPages = 100 }},
		{name: "Records ends after 2,000", caught: "iterators/long",
			with: func(f *faulty) {
				f.records = func(recs []harvest.Record) []harvest.Record { return recs[:min(len(recs), 2000)] }
			}},
		{name: "Resources ends after 2,000", caught: "iterators/long",
			with: func(f *faulty) {
				f.resources = func(_ websync.Range, items []websync.Item) []websync.Item { return items[:min(len(items), 2000)] }
			}},
		{name: "Changes ends after 2,000", caught: "iterators/long",
			with: func(f *faulty) {
				f.changes = func(_ websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
					return items[:min(len(items), 2000)], err
				}
			}},
		{name: "Tasks ends after 2,000", caught: "iterators/long tasks/long",
			with: func(f *faulty) {
				f.tasks = func(tasks []harvest.Task) []harvest.Task { return tasks[:min(len(tasks), 2000)] }
			}},
		{name: "the log of a source ends at a page of foreign entries", caught: "iterators/filtered",
			with: func(f *faulty) {
				f.changes = func(r websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
					return beforeGap(items, func(it websync.Item) websync.Seq { return it.Seq }, r.After), err
				}
			}},
		{name: "the resources of a source end at a page of foreign ones", caught: "iterators/filtered",
			with: func(f *faulty) {
				f.resources = func(r websync.Range, items []websync.Item) []websync.Item {
					return beforeGap(items, func(it websync.Item) websync.Seq { return it.Born }, r.After)
				}
			}},
		{name: "the log of a source ends with what the last page holds", caught: "iterators/filtered",
			with: func(f *faulty) {
				f.changes = func(r websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
					if log := f.logs[f.newest]; len(r.Sources) > 0 && len(log) > 2000 && len(items) < 2000 {
						items = append(items, clone(log[len(log)-1]))
					}
					return items, err
				}
			}},
		{name: "loops see what came since they began", caught: "iterators/ends",
			with: func(f *faulty) { f.offset = 1 }},
		{name: "Tasks sees what came since it began", caught: "iterators/ends",
			with: func(f *faulty) { f.taskByTask = true }},
		{name: "a loop looks at its Range when it begins", caught: "iterators/arguments",
			with: func(f *faulty) { f.sharesRange = true }},
		{name: "jumps to the end of a growing log", caught: "iterators/log-grows",
			with: func(f *faulty) {
				f.changes = func(_ websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
					if len(items) > 500 {
						items = slices.Delete(items, 400, 401)
					}
					return items, err
				}
			}},
		{name: "ends without an error when its context ends", caught: "iterators/context",
			with: func(f *faulty) { f.quiet = true }},
		{name: "goes on after an error", caught: "iterators/context",
			with: func(f *faulty) { f.stubborn = true }},
	}
}

func brokenStates() []brokenCatalog {
	background := context.Background()
	return []brokenCatalog{
		{name: "a missing value is empty", caught: "state/swap",
			with: func(f *faulty) {
				f.state = func(key string) []byte {
					v, _ := f.model.State(background, key)
					return append([]byte{}, v...)
				}
			}},
		{name: "Swap does not compare", caught: "state/swap state/one-winner",
			with: func(f *faulty) {
				f.swap = func(key string, _, new []byte) error {
					f.locked(func() { f.set(key, new) })
					return nil
				}
			}},
		{name: "Swap of equal values does not compare", caught: "state/swap",
			with: func(f *faulty) {
				f.swap = func(key string, old, new []byte) error {
					if bytes.Equal(old, new) {
						return nil
					}
					return f.model.Swap(background, key, old, new)
				}
			}},
		{name: "a conflict sets the value", caught: "state/swap",
			with: func(f *faulty) {
				f.swap = func(key string, old, new []byte) error {
					err := f.model.Swap(background, key, old, new)
					f.locked(func() { f.set(key, new) })
					return err
				}
			}},
		{name: "Swap compares, then sets", caught: "state/one-winner",
			with: func(f *faulty) {
				f.swap = func(key string, old, new []byte) error {
					v, _ := f.model.State(background, key)
					if !bytes.Equal(v, old) {
						return websync.ErrConflict
					}
					time.Sleep(time.Millisecond)
					f.locked(func() { f.set(key, new) })
					return nil
				}
			}},
		{name: "an empty value is a value", caught: "state/swap",
			with: func(f *faulty) {
				f.swap = func(key string, old, new []byte) error {
					if len(old) == 0 && old != nil {
						return websync.ErrConflict
					}
					return f.model.Swap(background, key, old, new)
				}
			}},
		{name: "keys without regard to case", caught: "state/keys",
			with: func(f *faulty) {
				f.state = func(key string) []byte {
					v, _ := f.model.State(background, strings.ToLower(key))
					return v
				}
				f.swap = func(key string, old, new []byte) error {
					return f.model.Swap(background, strings.ToLower(key), old, new)
				}
			}},
		{name: "a Batch does not delete State", caught: "state/batch",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) {
					for key, v := range b.State {
						if len(v) == 0 {
							delete(b.State, key)
						}
					}
				}
			}},
		{name: "shares State with its callers", caught: "state/arguments",
			with: func(f *faulty) {
				f.swap = func(key string, old, new []byte) error {
					err := f.model.Swap(background, key, old, new)
					if err == nil && len(new) > 0 {
						f.locked(func() { f.states[key] = new })
					}
					return err
				}
			}},
	}
}

// ids replaces every id of a batch, and looks up by the replacement.
func (f *faulty) ids(replace func(string) string) {
	f.batch = func(b *harvest.Batch) {
		for _, changes := range [][]harvest.Change{b.Puts, b.Touches} {
			for i := range changes {
				changes[i].Record.Resource.ID = replace(changes[i].Record.Resource.ID)
			}
		}
		for i := range b.Tasks {
			b.Tasks[i].Resource.ID = replace(b.Tasks[i].Resource.ID)
		}
		for i := range b.Done {
			b.Done[i].ID = replace(b.Done[i].ID)
		}
	}
	f.lookup = func(source string, ids []string) ([]harvest.Record, error) {
		ids = slices.Clone(ids)
		for i := range ids {
			ids[i] = replace(ids[i])
		}
		return f.model.Lookup(context.Background(), source, ids)
	}
}

// uncheckedIDs makes a checkedCatalog accept ids that are not allowed, under another
// name.
func uncheckedIDs(f *faulty) {
	f.ids(func(id string) string {
		if len(id) > harvest.MaxID {
			return id[:harvest.MaxID]
		}
		return cmp.Or(id, "empty")
	})
}

func brokenIDs() []brokenCatalog {
	return []brokenCatalog{
		{name: "ids are UTF-8", caught: "ids/odd records/byte-order",
			with: func(f *faulty) { f.ids(func(id string) string { return strings.ToValidUTF8(id, "\uFFFD") }) }},
		{name: "ids end at NUL", caught: "ids/odd",
			with: func(f *faulty) {
				f.ids(func(id string) string {
					if i := strings.IndexByte(id, 0); i > 0 {
						return id[:i]
					}
					return id
				})
			}},
		{name: "ids without regard to a trailing slash", caught: "ids/odd",
			with: func(f *faulty) { f.ids(func(id string) string { return cmp.Or(strings.TrimSuffix(id, "/"), id) }) }},
		{name: "ids with escapes in upper case", caught: "ids/odd",
			with: func(f *faulty) { f.ids(func(id string) string { return strings.ReplaceAll(id, "%2f", "%2F") }) }},
		{name: "ids of 2 kB", caught: "ids/longest",
			with: func(f *faulty) { f.ids(func(id string) string { return id[:min(2049, len(id))] }) }},
		{name: "ids that compress to 2 kB", caught: "ids/long",
			with: func(f *faulty) { f.ids(func(id string) string { return id[:min(compressible(id), len(id))] }) }},
		{name: "ids are unchecked", caught: "ids/not-allowed commit/half-way-id",
			with: uncheckedIDs},
		{name: "one record for all sources", caught: "ids/two-sources commit/sources",
			with: func(f *faulty) {
				f.committed = func(_ *harvest.Claim, b *harvest.Batch) {
					for _, ch := range slices.Concat(b.Puts, b.Touches) {
						id := ch.Record.Resource.ID
						for source := range f.model.records {
							r := f.model.records[b.Source][id]
							r.Source = source
							f.model.records[source][id] = r
						}
					}
				}
			}},
		{name: "sources end at NUL", caught: "ids/odd-sources",
			with: func(f *faulty) {
				f.batch = func(b *harvest.Batch) { b.Source, _, _ = strings.Cut(b.Source, "\x00") }
			}},
		{name: "a source yields those that begin with it", caught: "ids/odd-sources",
			with: func(f *faulty) {
				f.changes = func(r websync.Range, _ []websync.Item, _ error) ([]websync.Item, error) {
					sources := r.Sources
					r.Sources = nil
					items, err := collect(f.model.Changes(context.Background(), r))
					return slices.DeleteFunc(items, func(it websync.Item) bool {
						return len(sources) > 0 && !slices.ContainsFunc(sources, func(s string) bool { return strings.HasPrefix(it.Source, s) })
					}), err
				}
			}},
	}
}

// compressible returns how many bytes of id an index holds that compresses its keys to at
// most 2 kB: all of them, if they fit.
func compressible(id string) int {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed)
	io.WriteString(w, id)
	w.Close()
	if b.Len() > 2048 {
		return 2048
	}
	return len(id)
}
