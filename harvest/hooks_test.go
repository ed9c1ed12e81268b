package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

type key string

// JoinHooks calls every function of every Hooks, in their order, with the same arguments.
func TestJoinHooks(t *testing.T) {
	var calls []string
	note := func(name string) *harvest.Hooks {
		add := func(args ...any) { calls = append(calls, name+": "+fmt.Sprint(args...)) }
		return &harvest.Hooks{
			Begin: func(ctx context.Context, source string) context.Context {
				add("begin ", source)
				return context.WithValue(ctx, key(name), "of "+name)
			},
			End: func(ctx context.Context, r *harvest.Report, err error) {
				add("end ", ctx.Value(key(name)), r.Events, err)
			},
			Progress: func(p harvest.Progress) { add("progress ", p.Done) },
			Outcome:  func(source, id string, o harvest.Outcome, err error) { add(source, id, o, err) },
			Attempt:  func(ctx context.Context, a harvest.AttemptInfo) { add("attempt ", ctx.Value(key(name)), a.Status) },
			Step:     func(ctx context.Context, s harvest.StepInfo) { add("step ", ctx.Value(key(name)), s.Events) },
			Commit:   func(ctx context.Context, c harvest.CommitInfo) { add("commit ", ctx.Value(key(name)), c.Puts) },
			Finding:  func(source string, f websync.Finding) { add(source, f.Rule) },
			Problem:  func(source string, err error) { add(source, err) },
			Held:     func(source string, err error) { add("held ", source, err) },
		}
	}
	joined := harvest.JoinHooks(note("a"), nil, &harvest.Hooks{}, note("b"), note("c"))
	ctx := joined.Begin(t.Context(), "s")
	joined.Progress(harvest.Progress{Done: 1})
	joined.Outcome("s", "id", harvest.OutcomeFailed, errors.New("no"))
	joined.Attempt(ctx, harvest.AttemptInfo{Status: 200})
	joined.Step(ctx, harvest.StepInfo{Events: 4})
	joined.Commit(ctx, harvest.CommitInfo{Puts: 2})
	joined.Finding("s", websync.Finding{Rule: "rule"})
	joined.Problem("s", errors.New("bad"))
	joined.Held("s", harvest.ErrHeld)
	joined.End(ctx, &harvest.Report{Events: 3}, errors.New("worse"))
	var want []string
	for _, call := range []string{"begin s", "progress 1", "sidfailed no", "attempt of %s200", "step of %s4", "commit of %s2", "srule", "sbad", "held sclaimed by another holder", "end of %s3 worse"} {
		for _, name := range []string{"a", "b", "c"} {
			want = append(want, name+": "+strings.ReplaceAll(call, "%s", name))
		}
	}
	assert.Equal(t, want, calls)

	for _, none := range []*harvest.Hooks{harvest.JoinHooks(), harvest.JoinHooks(nil, &harvest.Hooks{})} {
		for i := range reflect.TypeFor[harvest.Hooks]().NumField() {
			assert.True(t, reflect.ValueOf(*none).Field(i).IsNil(), "nothing is called for no one")
		}
	}
	for i := range reflect.TypeFor[harvest.Hooks]().NumField() {
		assert.False(t, reflect.ValueOf(*joined).Field(i).IsNil(), reflect.TypeFor[harvest.Hooks]().Field(i).Name)
	}
}

// TestBeginAndEnd: every run that begins ends, with what it returns, and between them the
// hooks have the context of the run.
func TestBeginAndEnd(t *testing.T) {
	boom := errors.New("boom")
	for name, test := range map[string]struct {
		arrange func(*world)
		run     func(*harvest.Harvester) (*harvest.Report, error)
		err     error
		panics  bool
	}{
		"Run": {run: func(h *harvest.Harvester) (*harvest.Report, error) {
			return h.Run(t.Context(), snapshot(put("a", day(1))))
		}},
		"List": {run: func(h *harvest.Harvester) (*harvest.Report, error) {
			return h.List(t.Context(), snapshot(put("a", day(1))))
		}},
		"Work":    {run: func(h *harvest.Harvester) (*harvest.Report, error) { return h.Work(t.Context(), snapshot()) }},
		"Approve": {run: func(h *harvest.Harvester) (*harvest.Report, error) { return h.Approve(t.Context(), snapshot()) }},
		"Plan": {run: func(h *harvest.Harvester) (*harvest.Report, error) {
			return h.Plan(t.Context(), snapshot(put("a", day(1))), nil)
		}},
		"the Source fails": {
			run: func(h *harvest.Harvester) (*harvest.Report, error) { return h.Run(t.Context(), failing{boom}) }, err: boom,
		},
		"the Source panics": {run: func(h *harvest.Harvester) (*harvest.Report, error) {
			return h.Run(t.Context(), hookedSource{snapshot(), func(harvest.Event) { panic(boom) }})
		}, err: boom},
		"the Store panics": {
			arrange: func(w *world) {
				w.run(harvest.Of(src, put("a", day(1))))
				w.h.Catalog = w.looking('r', func() { panic(boom) })
			},
			run: func(h *harvest.Harvester) (*harvest.Report, error) {
				return h.Run(t.Context(), harvest.Of(src, put("a", day(1))))
			}, panics: true,
		},
		"the claim is held": {
			arrange: func(w *world) {
				_, err := w.store.Claim(t.Context(), "source/"+src, time.Hour)
				require.NoError(t, err)
			},
			run: func(h *harvest.Harvester) (*harvest.Report, error) { return h.Run(t.Context(), snapshot()) }, err: harvest.ErrHeld,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.page("a")
			if test.arrange != nil {
				test.arrange(w)
			}
			const run = key("run")
			var begun, ended []string
			var gotReport *harvest.Report
			var gotErr error
			check := func(ctx context.Context) { assert.Equal(t, "this one", ctx.Value(run)) }
			w.h.Hooks = &harvest.Hooks{
				Begin: func(ctx context.Context, source string) context.Context {
					begun = append(begun, source)
					return context.WithValue(ctx, run, "this one")
				},
				Attempt: func(ctx context.Context, _ harvest.AttemptInfo) { check(ctx) },
				Commit:  func(ctx context.Context, _ harvest.CommitInfo) { check(ctx) },
				End: func(ctx context.Context, r *harvest.Report, err error) {
					check(ctx)
					ended = append(ended, r.Source)
					gotReport, gotErr = r, err
					assert.False(t, r.Ended.IsZero())
				},
			}
			var report *harvest.Report
			var err error
			call := func() { report, err = test.run(&w.h) }
			if test.panics {
				assert.Panics(t, call)
				assert.ErrorContains(t, gotErr, "panic")
			} else {
				call()
				assert.ErrorIs(t, err, test.err)
				assert.Equal(t, err, gotErr)
				assert.Same(t, report, gotReport)
				assert.Equal(t, name == "Plan", gotReport.Dry)
			}
			assert.Equal(t, []string{src}, begun)
			assert.Equal(t, begun, ended)
		})
	}
}

// failing is a Source that cannot be read.
type failing struct{ err error }

func (failing) Key() string { return src }

func (f failing) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) { yield(harvest.Event{}, f.err) }
}

// TestAttempts: a request is reported when its body has been read, with its bytes, and
// without secrets.
func TestAttempts(t *testing.T) {
	const list = "https://me:hunter2@example.org/list?token=hunter2"
	w := newWorld(t)
	w.site.pages[list] = "the list"
	w.page("a")
	var attempts []harvest.AttemptInfo
	w.h.Hooks = &harvest.Hooks{Attempt: func(_ context.Context, a harvest.AttemptInfo) {
		a.Duration = 0
		attempts = append(attempts, a)
	}}
	fetch := func(ctx context.Context, run *harvest.Run, req *harvest.Request) {
		before := len(attempts)
		resp, err := run.Fetcher.Fetch(ctx, req)
		if err != nil {
			return
		}
		if !req.Spool {
			assert.Len(t, attempts, before, "its body is still to be read")
		}
		_, err = io.CopyN(io.Discard, resp.Body, 3)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.NoError(t, resp.Body.Close())
		assert.Len(t, attempts, before+1)
	}
	w.run(walking{snapshot(put("a", day(1))), func(ctx context.Context, run *harvest.Run) {
		fetch(ctx, run, &harvest.Request{URL: list})
		fetch(ctx, run, &harvest.Request{URL: list, Spool: true})
		fetch(ctx, run, &harvest.Request{URL: "urn:none"})
	}})
	require.Len(t, attempts, 4)
	assert.Error(t, attempts[2].Err)
	attempts[2].Err = nil
	const host, shown = "https://example.org", "https://example.org/list?token=xxxxx"
	assert.Equal(t, []harvest.AttemptInfo{
		{Source: src, List: true, Method: "GET", Host: host, URL: shown, Status: 200, Bytes: 3},
		{Source: src, List: true, Method: "GET", Host: host, URL: shown, Status: 200, Bytes: int64(len("the list"))},
		{Source: src, List: true, Method: "GET", URL: "urn:none"},
		{Source: src, Method: "GET", Host: host, URL: base + "a", Status: 200, Bytes: 1},
	}, attempts)
}

// walking is a Source that calls a function before it is listed.
type walking struct {
	harvest.Source
	before func(context.Context, *harvest.Run)
}

func (w walking) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	w.before(ctx, run)
	return w.Source.Events(ctx, run)
}
