package sourcetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
)

func brokenIdentities() []broken {
	return []broken{
		{name: "another key for each Source", caught: "identity/key", with: func() breaker {
			var n atomic.Int64
			return func(m *model) {
				key := fmt.Sprint(n.Add(1))
				m.key = func() string { return key }
			}
		}},
		{name: "no key", caught: "identity/key",
			with: each(func(m *model) { m.key = func() string { return "" } })},
		{name: "another key during a pass", caught: "identity/key", with: each(func(m *model) {
			key := base
			m.key = func() string { return key }
			m.alter = func(*walk, *harvest.Event) { key = base + "now" }
		})},
		{name: "can be walked once", caught: "identity/again", with: each(func(m *model) {
			walked := false
			m.all = func(w *walk) {
				if !walked {
					walked = true
					w.yieldSnapshot()
				}
			}
		})},
		{name: "goes on where the last pass ended", caught: "identity/again", with: each(func(m *model) {
			yielded := 0
			m.alter = func(w *walk, ev *harvest.Event) {
				if yielded++; w.n < yielded && ev.Kind == harvest.Put {
					ev.Resource.Title = "again"
				}
			}
		})},
		{name: "two at once share what is known", caught: "identity/at-once", with: func() breaker {
			var walking atomic.Int64
			return func(m *model) {
				m.all = func(w *walk) {
					walking.Add(1)
					defer walking.Add(-1)
					w.yieldSnapshot()
				}
				m.alter = func(w *walk, ev *harvest.Event) {
					if n := walking.Load(); n > 1 && ev.Kind == harvest.Put {
						ev.Resource.Title = "seen"
					}
				}
			}
		}},
		{name: "a lock across yields", caught: "identity/inside identity/at-once", with: func() breaker {
			var mu sync.Mutex
			return func(m *model) {
				m.all = func(w *walk) {
					mu.Lock()
					defer mu.Unlock()
					w.yieldSnapshot()
				}
			}
		}},
	}
}

// on changes events of one kind.
func on(kind harvest.EventKind, change func(ev *harvest.Event)) func() breaker {
	return each(func(m *model) {
		m.alter = func(_ *walk, ev *harvest.Event) {
			if ev.Kind == kind {
				change(ev)
			}
		}
	})
}

func brokenEvents() []broken {
	return []broken{
		{name: "ids in lower case", caught: "events/id-case", with: each(func(m *model) {
			m.alter = func(_ *walk, ev *harvest.Event) { ev.Resource.ID = strings.ToLower(ev.Resource.ID) }
		})},
		{name: "an older state after a newer", caught: "events/newest-last", with: each(func(m *model) {
			m.all = func(w *walk) {
				next := w.next
				w.next = func(ev harvest.Event, err error) bool {
					if !next(ev, err) {
						return false
					}
					if ev.Kind != harvest.Put {
						return true
					}
					ev.Resource.Modified, _ = websync.ParseDatetime("2025-12-31")
					return next(ev, nil)
				}
				w.yieldSnapshot()
			}
		})},
		{name: "every state of an instant", caught: "events/instant", with: each(func(m *model) {
			m.all = func(w *walk) {
				next := w.next
				w.next = func(ev harvest.Event, err error) bool {
					if ev.Kind == harvest.Put {
						earlier := ev
						earlier.Resource.Title = "earlier"
						if !next(earlier, err) {
							return false
						}
					}
					return next(ev, err)
				}
				w.yieldSnapshot()
			}
		})},
		{name: "an instant twice in a log", caught: "events/instant", log: true, with: each(func(m *model) {
			m.alter = func(w *walk, ev *harvest.Event) {
				if ev.Kind == harvest.Put && !ev.Resume.IsZero() && w.n > 1 {
					ev.Resource.ID, ev.Resource.Modified = base+"a", websync.Datetime{}
					ev.At, _ = websync.ParseDatetime("2026-01-09")
				}
			}
		})},
		{name: "a baseline without the log's position", caught: "events/baseline", log: true, with: each(func(m *model) {
			m.all = func(w *walk) {
				next := w.next
				w.next = func(ev harvest.Event, err error) bool {
					if ev.Kind == harvest.Mark && w.from == (note{}) {
						ev.Resume = harvest.Checkpoint{}
					}
					return next(ev, err)
				}
				w.yieldBaseline()
			}
		})},
		{name: "titles that depend on the checkpoint", caught: "events/described", log: true, with: each(func(m *model) {
			m.alter = func(w *walk, ev *harvest.Event) {
				if ev.Kind == harvest.Put && !w.run.From.IsZero() {
					ev.Resource.Title = "new"
				}
			}
		})},
		{name: "titles that count the passes", caught: "events/same", with: func() breaker {
			var n atomic.Int64
			return func(m *model) {
				m.all = func(w *walk) {
					title := fmt.Sprint(n.Add(1))
					m.alter = func(_ *walk, ev *harvest.Event) {
						if ev.Kind == harvest.Put {
							ev.Resource.Title = title
						}
					}
					w.yieldSnapshot()
				}
			}
		}},
		{name: "what can't be read is not counted", caught: "events/skipped", sites: skippingSites(), skips: []int{3},
			with: on(harvest.SnapshotEnd, func(ev *harvest.Event) { ev.Skipped = 0 })},
		{name: "what can't be read counts once for each page", caught: "events/skipped", sites: skippingSites(), skips: []int{3},
			with: on(harvest.SnapshotEnd, func(ev *harvest.Event) { ev.Skipped = 2 })},

		{name: "yields nothing", caught: "events/undisturbed", with: each(func(m *model) { m.all = func(*walk) {} })},
		{name: "always a Problem", caught: "events/undisturbed interrupt/events",
			with: each(func(m *model) {
				m.all = func(w *walk) {
					if w.problem(errors.New("out of order")) {
						w.yieldSnapshot()
					}
				}
			})},
		{name: "a Problem without an error", caught: "events/kinds",
			with: on(harvest.Problem, func(ev *harvest.Event) { ev.Err = nil })},
		{name: "a kind that does not exist", caught: "events/kinds",
			with: on(harvest.SnapshotStart, func(ev *harvest.Event) { ev.Kind = 77 })},
		{name: "a Put that is complete", caught: "events/kinds",
			with: on(harvest.Put, func(ev *harvest.Event) { ev.Complete = true })},
		{name: "a Put that counts skipped entries", caught: "events/kinds",
			with: on(harvest.Put, func(ev *harvest.Event) { ev.Skipped = 1 })},
		{name: "a snapshot with a resource", caught: "events/kinds",
			with: on(harvest.SnapshotEnd, func(ev *harvest.Event) { ev.Resource.ID = base })},
		{name: "a negative number of skipped entries", caught: "events/kinds",
			with: on(harvest.SnapshotEnd, func(ev *harvest.Event) { ev.Skipped = -1 })},
		{name: "an empty id", caught: "events/ids",
			with: on(harvest.Put, func(ev *harvest.Event) { ev.Resource.ID = strings.TrimSuffix(ev.Resource.ID, base+"b") })},
		{name: "an id that is too long", caught: "events/ids",
			with: on(harvest.Put, func(ev *harvest.Event) { ev.Resource.ID += strings.Repeat("x", harvest.MaxID) })},
		{name: "other ids in each pass", caught: "events/ids events/same checkpoint/unchanged", with: func() breaker {
			var n atomic.Int64
			return func(m *model) {
				m.alter = func(_ *walk, ev *harvest.Event) {
					if ev.Kind == harvest.Put {
						ev.Resource.ID += fmt.Sprintf("#%d", n.Add(1))
					}
				}
			}
		}},
		{name: "newest first", caught: "events/order", log: true, with: each(func(m *model) {
			m.read = func(w *walk, url string) ([]line, error) {
				lines, err := w.check(url)
				slices.Reverse(lines)
				return lines, err
			}
		})},
		{name: "a snapshot inside a snapshot", caught: "events/snapshots", with: each(func(m *model) {
			m.alter = func(w *walk, ev *harvest.Event) {
				if w.n == 2 {
					*ev = harvest.Event{Kind: harvest.SnapshotStart}
				}
			}
		})},
		{name: "a snapshot without an end", caught: "events/snapshots",
			with: on(harvest.SnapshotEnd, func(ev *harvest.Event) { *ev = harvest.Event{Kind: harvest.Mark} })},
		{name: "a snapshot without a start", caught: "events/snapshots",
			with: on(harvest.SnapshotStart, func(ev *harvest.Event) { *ev = harvest.Event{Kind: harvest.Mark} })},
		{name: "Resume inside a snapshot", caught: "events/resume", with: on(harvest.Put, func(ev *harvest.Event) {
			ev.Resume = note{Page: "all"}.checkpoint()
		})},
		{name: "Resume on the start of a snapshot", caught: "events/resume", with: on(harvest.SnapshotStart, func(ev *harvest.Event) {
			ev.Resume = note{Page: "all"}.checkpoint()
		})},
		{name: "Resume after a Problem", caught: "events/resume", with: on(harvest.SnapshotEnd, func(ev *harvest.Event) {
			ev.Resume = note{Page: "all"}.checkpoint()
		})},
		{name: "a checkpoint without a version", caught: "events/resume",
			with: on(harvest.SnapshotEnd, func(ev *harvest.Event) { ev.Resume.Version = 0 })},
		{name: "Complete after a Problem", caught: "events/complete failure/reported",
			with: on(harvest.SnapshotEnd, func(ev *harvest.Event) { ev.Complete = true })},
		{name: "goes on after an error", caught: "events/error-last", with: each(func(m *model) {
			m.all = func(w *walk) {
				if _, err := w.document(w.url); err != nil {
					w.fail(err)
				}
				w.yieldSnapshot()
			}
		})},
		{name: "in the order of arrival", caught: "events/same", with: each(func(m *model) { m.all = (*walk).yieldInOrderOfArrival })},
		{name: "the present time", caught: "events/same checkpoint/unchanged", with: on(harvest.Put, func(ev *harvest.Event) {
			ev.Resource.Modified = websync.NewDatetime(time.Now())
		})},
		{name: "one slice for all events", caught: "events/kept", with: each(func(m *model) {
			elements := make([]websync.Element, 1)
			m.alter = func(_ *walk, ev *harvest.Event) {
				if ev.Kind == harvest.Put {
					elements[0] = websync.Element{Local: "id", XML: "<id>" + ev.Resource.ID + "</id>"}
					ev.Resource.Elements = elements
				}
			}
		})},
		{name: "findings of no document", caught: "events/findings", with: each(func(m *model) {
			m.alter = func(w *walk, _ *harvest.Event) { w.run.Report(websync.Finding{Rule: "odd", Message: "odd"}) }
		})},
		{name: "findings by no rule", caught: "events/findings", with: each(func(m *model) {
			m.alter = func(w *walk, _ *harvest.Event) { w.run.Report(websync.Finding{Document: w.url, Message: "odd"}) }
		})},
		{name: "findings without a message", caught: "events/findings", with: each(func(m *model) {
			m.alter = func(w *walk, _ *harvest.Event) { w.run.Report(websync.Finding{Document: w.url, Rule: "odd"}) }
		})},
		{name: "expects a negative number", caught: "events/findings", with: each(func(m *model) {
			m.alter = func(w *walk, _ *harvest.Event) { w.run.Expect(-1) }
		})},
	}
}

// yieldInOrderOfArrival is yieldSnapshot with the pages in the order in which they
// arrive.
func (w *walk) yieldInOrderOfArrival() {
	root, err := w.document(w.url)
	if err != nil {
		w.fail(err)
		return
	}
	type page struct {
		lines []line
		err   error
	}
	arrived := make(chan page, len(root))
	n := 0
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	w.ctx = ctx
	for _, l := range root {
		if l.word == "page" {
			n++
			go func() {
				lines, err := w.document(l.id)
				arrived <- page{lines, err}
			}()
		}
	}
	w.yield(harvest.Event{Kind: harvest.SnapshotStart})
	for range n {
		for _, l := range (<-arrived).lines {
			if !w.yield(l.event()) {
				return
			}
		}
	}
	w.yield(harvest.Event{Kind: harvest.SnapshotEnd})
}

func brokenBytes() []broken {
	return []broken{
		{name: "bytes that can be opened once", caught: "bytes/open", with: on(harvest.Put, func(ev *harvest.Event) {
			if open := ev.Open; open != nil {
				var n atomic.Int64
				ev.Open = func() (readCloser, error) {
					if n.Add(1) > 1 {
						return nil, errors.New("gone")
					}
					return open()
				}
			}
		})},
		{name: "bytes of which all readers share one", caught: "bytes/open", with: on(harvest.Put, func(ev *harvest.Event) {
			if open := ev.Open; open != nil {
				var shared sharedReader
				ev.Open = func() (readCloser, error) { return shared.open(open) }
			}
		})},
		{name: "bytes that are gone when the Mark is yielded", caught: "bytes/open", log: true, with: each(func(m *model) {
			var gone atomic.Bool
			m.alter = func(_ *walk, ev *harvest.Event) {
				gone.Store(ev.Kind == harvest.Mark)
				if open := ev.Open; open != nil {
					ev.Open = func() (readCloser, error) {
						if gone.Load() {
							return nil, errors.New("gone")
						}
						return open()
					}
				}
			}
		})},
		{name: "bytes of another length", caught: "bytes/stated", with: on(harvest.Put, func(ev *harvest.Event) { ev.Resource.Content.Length++ })},
		{name: "bytes of another digest", caught: "bytes/stated", log: true, with: on(harvest.Put, func(ev *harvest.Event) {
			ev.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte("other"))}
		})},
	}
}

// skippingSites have three entries that can't be read.
func skippingSites() []sourcetest.Site {
	return []sourcetest.Site{lists(map[string]string{
		"root": "put /a 2026-01-01\npage /1\npage /2\n",
		"1":    "bad one\nput /b 2026-01-02\nbad two\n",
		"2":    "bad three\n",
	})}
}

// A getterOf is a model that is a Getter.
type getterOf struct {
	*model
	get func(ctx context.Context, job *harvest.Job) error
}

func (g getterOf) Get(ctx context.Context, job *harvest.Job) error { return g.get(ctx, job) }

func soundGet(ctx context.Context, job *harvest.Job) error { return getting{}.Get(ctx, job) }

func brokenGetters() []broken {
	return []broken{
		{name: "an error is no body", caught: "get/failure", get: func(ctx context.Context, job *harvest.Job) error {
			resp, err := job.Fetch(ctx, &harvest.Request{URL: job.Resource.ID})
			if err != nil {
				return nil
			}
			defer resp.Body.Close()
			_, err = job.Keep(ctx, "page", job.Resource.Content, resp.Body)
			return err
		}},
		{name: "half of a body is a body", caught: "get/failure", get: func(ctx context.Context, job *harvest.Job) error {
			resp, err := job.Fetch(ctx, &harvest.Request{URL: job.Resource.ID})
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			data, _ := io.ReadAll(resp.Body)
			_, err = job.Keep(ctx, "page", job.Resource.Content, bytes.NewReader(data))
			return err
		}},
		{name: "whatever fails is gone", caught: "get/answer", get: func(ctx context.Context, job *harvest.Job) error {
			if err := soundGet(ctx, job); err != nil {
				return fmt.Errorf("%w: %w", err, websync.ErrGone)
			}
			return nil
		}},
		{name: "whatever fails is ErrNotYet", caught: "get/answer", get: func(ctx context.Context, job *harvest.Job) error {
			if err := soundGet(ctx, job); err != nil {
				return job.NotYet(time.Time{}, err.Error())
			}
			return nil
		}},
	}
}
