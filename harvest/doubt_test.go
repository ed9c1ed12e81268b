package harvest_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestSkipped counts entries that could not be listed wherever a Source may count them.
func TestSkipped(t *testing.T) {
	skipped := func(kind harvest.EventKind, n int) harvest.Event {
		return harvest.Event{Kind: kind, Skipped: n, Complete: kind == harvest.SnapshotEnd, Resume: checkpoint("after")}
	}
	a, b := put("a", day(1)), put("b", day(1))
	for name, test := range map[string]struct {
		events []harvest.Event
		count  int
		sweeps bool // if skipped entries are accepted
	}{
		"at the end of a log":           {[]harvest.Event{a, b, skipped(harvest.Mark, 2)}, 2, false},
		"in the middle of a log":        {[]harvest.Event{skipped(harvest.Mark, 1), a, skipped(harvest.Mark, 1), b}, 2, false},
		"at the end of a snapshot":      {[]harvest.Event{start, a, skipped(harvest.SnapshotEnd, 1)}, 1, true},
		"inside a snapshot":             {[]harvest.Event{start, a, skipped(harvest.Mark, 1), complete}, 1, true},
		"before a snapshot":             {[]harvest.Event{skipped(harvest.Mark, 3), start, a, complete}, 3, true},
		"after a snapshot":              {[]harvest.Event{start, a, b, complete, skipped(harvest.Mark, 1)}, 1, false},
		"in a snapshot before":          {[]harvest.Event{start, a, b, skipped(harvest.SnapshotEnd, 1), start, a, complete}, 1, true},
		"in one that is not complete":   {[]harvest.Event{start, a, {Kind: harvest.SnapshotEnd, Skipped: 1}}, 1, false},
		"less than none, which is none": {[]harvest.Event{start, a, b, skipped(harvest.SnapshotEnd, -1)}, 0, false},
		"nothing listed, all skipped":   {[]harvest.Event{start, skipped(harvest.SnapshotEnd, 2)}, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.h.MaxDelete = -1
			w.pages("a", "b")
			w.run(snapshot(a, b))

			r := w.run(harvest.Of(src, test.events...))
			require.Equal(t, test.count, r.Skipped)
			require.Equal(t, test.count == 0, r.InStep())
			require.Equal(t, test.count == 0, r.Listed())
			require.True(t, r.Complete)
			require.Len(t, w.live(), 2)
			if test.sweeps {
				require.Equal(t, "skipped", r.Guard.Rule)
			}

			w.h.AcceptSkipped = true
			planned := w.plan(harvest.Of(src, test.events...))
			r = w.run(harvest.Of(src, test.events...))
			require.Equal(t, test.count, r.Skipped)
			require.True(t, r.InStep())
			require.Equal(t, test.sweeps, r.Deleted > 0)
			require.Equal(t, counts(r), counts(planned))
			require.Equal(t, r.Skipped, planned.Skipped)
		})
	}
}

// A cut Source yields events and then, if there is one, an error.
type cut struct {
	harvest.Source
	err error
}

func (c cut) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		for e := range c.Source.Events(ctx, run) {
			if !yield(e, nil) {
				return
			}
		}
		if c.err != nil {
			yield(harvest.Event{}, c.err)
		}
	}
}

// broken returns a Source whose connection breaks after its events.
func broken(events ...harvest.Event) harvest.Source {
	return cut{harvest.Of(src, events...), errors.New("connection reset")}
}

// TestSnapshotNotEnded yields listings without a proper end: nothing is deleted, and the
// run is not in step.
func TestSnapshotNotEnded(t *testing.T) {
	a, b := put("a", day(1)), put("b", day(1))
	resume := harvest.Event{Kind: harvest.Mark, Resume: checkpoint("inside")}
	last := a
	last.Resume = checkpoint("inside")
	for name, test := range map[string]struct {
		events []harvest.Event
		err    error
		want   string // in a Problem
		failed string // in the error
	}{
		"nothing after it":        {[]harvest.Event{start}, nil, "did not end it", ""},
		"entries":                 {[]harvest.Event{start, a}, nil, "did not end it", ""},
		"a Mark":                  {[]harvest.Event{start, a, resume}, nil, "did not end it", ""},
		"an entry with a point":   {[]harvest.Event{start, last}, nil, "did not end it", ""},
		"a Problem":               {[]harvest.Event{start, a, {Kind: harvest.Problem, Err: errors.New("p")}}, nil, "did not end it", ""},
		"a second one after one":  {[]harvest.Event{start, a, b, complete, start, a}, nil, "did not end it", ""},
		"an error":                {[]harvest.Event{start, a}, errors.New("cut off"), "", "cut off"},
		"a second one inside it":  {[]harvest.Event{start, a, start, a, complete}, nil, "", "inside a snapshot"},
		"one that did not begin":  {[]harvest.Event{a, complete}, nil, "", "did not begin"},
		"a snapshot ended twice":  {[]harvest.Event{start, a, b, complete, complete}, nil, "", "did not begin"},
		"one that is not allowed": {[]harvest.Event{start, a, {Kind: 99}, complete}, nil, "event kind 99", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.h.MaxDelete = -1
			w.pages("a", "b")
			w.run(snapshot(a, b))
			source := cut{harvest.Of(src, test.events...), test.err}
			check := func(r *harvest.Report, err error) {
				t.Helper()
				if test.failed != "" {
					require.ErrorContains(t, err, test.failed)
				} else {
					require.NoError(t, err)
				}
				var problems []string
				for _, p := range r.Problems {
					problems = append(problems, p.Error)
				}
				require.Contains(t, strings.Join(problems, "\n"), test.want)
				require.False(t, r.Complete)
				require.False(t, r.InStep())
				require.Zero(t, r.Deleted)
			}
			check(w.h.Run(t.Context(), source))
			check(w.h.List(t.Context(), source))
			check(w.h.Plan(t.Context(), source, nil))
			check(w.h.Audit(t.Context(), source, nil))
			require.Len(t, w.live(), 2)
			require.Equal(t, "listed", w.checkpoint())
		})
	}
}

// getting is a Source whose Get is a function.
type getting struct {
	harvest.Source
	get func(context.Context, *harvest.Job) error
}

func (g getting) Get(ctx context.Context, job *harvest.Job) error { return g.get(ctx, job) }

func content(ctx context.Context, job *harvest.Job) error { return job.Content(ctx) }

// TestBytesForAGetter reads, in Get, the bytes that came with an event.
func TestBytesForAGetter(t *testing.T) {
	came := func(open func() (io.ReadCloser, error)) harvest.Event {
		return harvest.Event{Kind: harvest.Put, Resource: websync.Resource{ID: base + "a", Modified: day(1)}, Open: open}
	}
	t.Run("Content", func(t *testing.T) {
		w := newWorld(t)
		r := w.run(getting{harvest.Of(src, came(harvest.OpenBytes([]byte("bytes")))), content})
		require.True(t, r.InStep())
		require.Equal(t, map[string]string{"a": "bytes"}, w.live())
	})
	t.Run("Content fetches", func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		w.run(getting{harvest.Of(src, put("a", day(1))), content})
		require.Equal(t, map[string]string{"a": "a"}, w.live())
		require.True(t, w.run(getting{harvest.Of(src, put("a", day(2))), content}).InStep())
		require.Equal(t, 1, w.site.bodies, "the second request is conditional")
	})
	t.Run("Content fetches what failed", func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		e := put("a", day(1))
		e.Open = func() (io.ReadCloser, error) { return nil, errors.New("damaged") }
		require.True(t, w.run(getting{harvest.Of(src, e), content}).InStep())
		require.Equal(t, map[string]string{"a": "a"}, w.live())
	})
	t.Run("Content that fails deletes nothing", func(t *testing.T) {
		w := newWorld(t)
		w.pages("b", "c")
		w.run(snapshot(put("b", day(1)), put("c", day(1))))
		damaged := came(func() (io.ReadCloser, error) { return nil, errors.New("damaged") })
		for range 2 { // the second run must not keep the resource without bytes
			r := w.run(getting{snapshot(put("b", day(1)), damaged), content})
			require.Contains(t, r.Problems[0].Error, "damaged")
			require.False(t, r.InStep())
			require.Len(t, w.live(), 2)
		}
	})
	t.Run("Content without anything", func(t *testing.T) {
		w := newWorld(t)
		require.True(t, w.run(getting{harvest.Of(src, came(nil)), content}).InStep())
		require.Equal(t, map[string]string{"a": "-"}, w.live())
	})
	t.Run("Came, and a URL", func(t *testing.T) {
		w := newWorld(t)
		e := put("a", day(1))
		e.Open = harvest.OpenBytes([]byte("bytes"))
		r := w.run(getting{harvest.Of(src, e), func(_ context.Context, job *harvest.Job) error {
			r, err := job.Came()
			return errors.Join(errors.New("not yet"), err, r.Close())
		}})
		require.EqualValues(t, 1, r.Left.Waiting, "a task can be carried out")
		require.Empty(t, r.Problems)
	})
	t.Run("Came", func(t *testing.T) {
		w := newWorld(t)
		fails := errors.New("not yet")
		source := getting{harvest.Of(src, came(harvest.OpenBytes([]byte("bytes")))), func(ctx context.Context, job *harvest.Job) error {
			r, err := job.Came()
			if fails != nil {
				return errors.Join(fails, err, r.Close())
			}
			if err != nil {
				return err
			}
			defer r.Close()
			_, err = job.Keep(ctx, "other", job.Resource.Content, r)
			return err
		}}
		r := w.run(source)
		require.Contains(t, r.Problems[0].Error, "not yet", "a task would have no bytes")
		require.Zero(t, r.Left.Waiting)
		require.False(t, r.InStep())
		fails = nil
		require.True(t, w.run(source).InStep())
		rec := w.record("a")
		body, ok := rec.Body("other")
		require.True(t, ok)
		require.EqualValues(t, 5, body.Link.Length)
	})
}

// TestOpenReturnsNothing: an Open without bytes and without an error is a Problem, not a
// panic.
func TestOpenReturnsNothing(t *testing.T) {
	w := newWorld(t)
	e := harvest.Event{Resource: websync.Resource{ID: base + "a"}, Open: func() (io.ReadCloser, error) { return nil, nil }}
	r := w.run(harvest.Of(src, e))
	require.Contains(t, r.Problems[0].Error, "Event.Open returned neither bytes nor an error")
	require.False(t, r.InStep())
}

// TestBytesThatCameAreWrong: bytes that came with an event and are not as stated, or
// can't be read, are fetched instead, and the run reports why.
func TestBytesThatCameAreWrong(t *testing.T) {
	for name, c := range map[string]struct {
		open func() (io.ReadCloser, error)
		why  string
	}{
		"as stated":  {harvest.OpenBytes([]byte("a")), ""},
		"other":      {harvest.OpenBytes([]byte("other")), "length"},
		"not opened": {func() (io.ReadCloser, error) { return nil, errors.New("no such member") }, "no such member"},
		"not read":   {func() (io.ReadCloser, error) { return io.NopCloser(errReader{}), nil }, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.page("a")
			var findings []websync.Finding
			w.h.Hooks = testkit.OnFinding(func(f websync.Finding) { findings = append(findings, f) })
			ev := put("a", day(1))
			ev.Resource.Content.Length, ev.Open = 1, c.open
			r := w.run(harvest.Of(src, ev))
			require.True(t, r.InStep())
			require.Equal(t, map[string]string{"a": "a"}, w.live())
			if c.why == "" {
				require.Empty(t, findings)
				return
			}
			require.Len(t, findings, 1)
			require.EqualValues(t, 1, r.Findings)
			require.Equal(t, "came-along", findings[0].Rule)
			require.Equal(t, base+"a", findings[0].Value)
			require.Contains(t, findings[0].Message, c.why)
		})
	}
}
