package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// answer returns a Getter over events whose Get returns the same answer each time.
func answer(get func(*harvest.Job) error, events ...harvest.Event) harvest.Source {
	return getting{harvest.Of(src, events...), func(_ context.Context, job *harvest.Job) error { return get(job) }}
}

func TestGetAnswersGone(t *testing.T) {
	for _, deletes := range []bool{false, true} {
		w := newWorld(t)
		w.page("a")
		w.h.Attempts, w.h.DeleteGone = 2, deletes
		w.run(getting{harvest.Of(src, put("a", day(1))), content})
		gone := answer(func(*harvest.Job) error { return fmt.Errorf("the index omits it: %w", websync.ErrGone) }, put("a", day(2)))
		r := w.run(gone)
		require.EqualValues(t, 1, r.Failed)
		require.False(t, r.InStep(), "one answer is not enough")
		r = w.run(gone)
		require.True(t, r.InStep())
		require.EqualValues(t, 1, r.Left.Gone)
		require.Equal(t, "the index omits it: gone", w.tasks()[0].Error, "the task holds the evidence")
		if deletes {
			require.EqualValues(t, 1, r.Deleted)
			require.Empty(t, w.live())
		} else {
			require.EqualValues(t, 1, r.Gone)
			require.Equal(t, map[string]string{"a": "a"}, w.live())
		}
	}
}

func TestGetAnswersNothingNew(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	reuse := func(job *harvest.Job) error { return job.ReuseAll() }
	r := w.run(answer(reuse, put("a", day(1))))
	require.EqualValues(t, 1, r.Failed, "there is nothing to reuse")
	require.Contains(t, r.Failures[0].Error, "not found")

	two := func(job *harvest.Job) error {
		for _, name := range []string{"content", "graph"} {
			resp, err := job.Fetch(t.Context(), &harvest.Request{URL: base + "a"})
			if err != nil {
				return err
			}
			if _, err := job.Keep(t.Context(), name, websync.Link{}, resp.Body); err != nil {
				return err
			}
		}
		return nil
	}
	require.True(t, w.run(answer(two, put("a", day(2)))).InStep())
	before := w.record("a")
	require.Len(t, before.Bodies, 2)
	require.Len(t, before.Validators, 1)

	w.site.reset()
	r = w.run(answer(reuse, put("a", day(3))))
	require.EqualValues(t, 1, r.Updated, "a log states a later change")
	require.True(t, r.InStep())
	require.Empty(t, w.site.requests)
	after := w.record("a")
	require.Equal(t, before.Bodies, after.Bodies)
	require.Equal(t, before.Validators, after.Validators)

	one := func(job *harvest.Job) error {
		_, err := job.Keep(t.Context(), "graph", websync.Link{}, strings.NewReader("new"))
		return errors.Join(err, job.ReuseAll())
	}
	require.EqualValues(t, 1, w.run(answer(one, put("a", day(4)))).Updated)
	content, _ := before.Body("content")
	after = w.record("a")
	kept, _ := after.Body("content")
	require.Equal(t, content, kept)
	require.Len(t, after.Bodies, 2)
	graph, _ := after.Body("graph")
	require.Equal(t, websync.SHA256([]byte("new")), graph.Key, "ReuseAll leaves a kept body alone")
}

func TestGetAnswersNotYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.h.Attempts = 2
		at := time.Now().Add(time.Hour).UTC()
		calls := 0
		notYet := answer(func(job *harvest.Job) error {
			calls++
			return job.NotYet(at, "published at noon")
		}, put("a", day(1)))
		run := func(s harvest.Source) *harvest.Report {
			time.Sleep(time.Millisecond) // a failed task is due a moment later
			return w.run(s)
		}
		failing := answer(func(job *harvest.Job) error { return errors.New("broken") }, put("a", day(1)))
		run(failing)
		r := run(notYet)
		require.EqualValues(t, 1, r.Deferred)
		require.Zero(t, r.Failed)
		require.Equal(t, "published at noon", r.Failures[0].Error)
		task := w.tasks()[0]
		require.Equal(t, 1, task.Attempts, "the answer is no attempt")
		require.Equal(t, at, task.Due)
		require.False(t, task.Parked)

		run(notYet)
		require.Equal(t, 1, calls, "the task is not due")
		time.Sleep(time.Hour + time.Second)
		at = time.Time{}
		run(notYet)
		require.Equal(t, 2, calls)
		require.False(t, w.tasks()[0].Parked)
		run(notYet)
		require.Equal(t, 3, calls, "without a time the next run tries again")

		run(failing)
		require.True(t, w.tasks()[0].Parked, "parked after the second failed attempt")
		w.h.Recheck = true
		run(notYet)
		require.Equal(t, 4, calls)
		require.True(t, w.tasks()[0].Parked, "a parked task stays parked")

		w.h.Recheck, w.h.Attempts = false, 1
		other := put("b", day(1))
		run(answer(func(job *harvest.Job) error { return job.NotYet(at, "later") }, other))
		require.False(t, w.tasks()[1].Parked)
	})
}

// hinted returns a put with a hint.
func hinted(name string, modified websync.Datetime, hint string) harvest.Event {
	ev := put(name, modified)
	ev.Hint = []byte(hint)
	return ev
}

// TestHint checks that a hint reaches the Getter, directly and through the task of
// another run.
func TestHint(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	var got []string
	source := func(events ...harvest.Event) harvest.Source {
		return getting{harvest.Of(src, events...), func(ctx context.Context, job *harvest.Job) error {
			got = append(got, string(job.Hint))
			return job.Content(ctx)
		}}
	}
	hints := func() []string {
		defer func() { got = nil }()
		return got
	}
	restart := func() { w.h = harvest.Harvester{Sample: -1, Catalog: w.store, Fetcher: w.site} }
	w.run(source(hinted("a", day(1), "one")))
	require.Equal(t, []string{"one"}, hints())
	require.EqualValues(t, 1, w.run(source(hinted("a", day(1), "other"))).Unchanged, "a hint is no part of the state")

	w.list(source(hinted("a", day(2), "two")))
	restart()
	w.list(source(hinted("a", day(2), "again")))
	w.site.failing[base+"a"] = later{time.Now().Add(time.Hour)}
	restart()
	w.work(source())
	require.Equal(t, []string{"again"}, hints(), "the hint of the later event")
	require.Equal(t, "again", string(w.tasks()[0].Hint), "a failed attempt keeps the hint")

	before := w.tasks()[0]
	restart()
	w.run(source(hinted("a", day(2), "later")))
	require.Empty(t, hints(), "the task is not due")
	after := w.tasks()[0]
	require.Equal(t, "later", string(after.Hint))
	after.Hint, after.N = before.Hint, before.N
	require.Equal(t, before, after, "nothing else of the task changes")
	w.run(source(put("a", day(2))))
	require.Empty(t, w.tasks()[0].Hint, "an event without a hint removes it")
	require.EqualValues(t, 1, w.run(source(put("a", day(2)))).Deferred)

	r := w.run(source(hinted("b", day(1), strings.Repeat("x", 64<<10+1))))
	require.Len(t, r.Problems, 1)
	require.Contains(t, r.Problems[0].Error, "65537 bytes")
	w.page("b")
	require.Empty(t, w.run(source(hinted("b", day(1), strings.Repeat("x", 64<<10)))).Problems)
	require.Len(t, hints()[0], 64<<10)
}

// twoLinks is a Getter that obtains the bodies of two links, under the names a and b.
type twoLinks struct{ harvest.Source }

func (g twoLinks) Get(ctx context.Context, job *harvest.Job) error {
	return errors.Join(job.Obtain(ctx, "a", job.Resource.Links[0]), job.Obtain(ctx, "b", job.Resource.Links[1]))
}

func TestObtain(t *testing.T) {
	w := newWorld(t)
	w.pages("1", "2")
	one, two := websync.Link{Href: base + "1"}, websync.Link{Href: base + "2"}
	run := func(n int, links ...websync.Link) (bodies string) {
		w.site.reset()
		e := put("r", day(n))
		e.Resource.Links = links
		require.True(t, w.run(twoLinks{snapshot(e)}).InStep())
		rec := w.record("r")
		require.Len(t, rec.Bodies, 2)
		for _, b := range rec.Bodies {
			r, err := w.store.Open(t.Context(), b)
			require.NoError(t, err)
			text, err := io.ReadAll(r)
			require.NoError(t, errors.Join(err, r.Close()))
			bodies += b.Name + string(text)
		}
		return bodies
	}
	require.Equal(t, "a1b2", run(1, one, two))
	require.Equal(t, "a1b2", run(2, one, two))
	require.Zero(t, w.site.bodies, "not modified")
	require.Equal(t, "a2b1", run(3, two, one), "a body is reused for its own link only")
	one.Length = 7
	e := put("r", day(4))
	e.Resource.Links = []websync.Link{two, one}
	require.EqualValues(t, 1, w.run(twoLinks{snapshot(e)}).Failed, "the stated length is verified")
}

// TestValidatorsOfGet checks which validators a Get leaves: none of bytes that were
// refused, and none of an answer that a Header chose.
func TestValidatorsOfGet(t *testing.T) {
	w := newWorld(t)
	w.pages("1", "2", "3")
	source := getting{snapshot(put("r", day(1))), func(ctx context.Context, job *harvest.Job) error {
		refused := websync.Link{Href: base + "1", Length: 7}
		if err := job.Obtain(ctx, websync.ContentName, refused); !errors.Is(err, websync.ErrMismatch) {
			return fmt.Errorf("other bytes are kept: %v", err)
		}
		chosen := websync.Link{Href: base + "2"}
		req := job.Request(websync.ContentName, chosen)
		req.Header = map[string][]string{"Accept-Datetime": {"Thu, 03 Jan 2013 18:00:00 GMT"}}
		resp, err := job.Fetch(ctx, req)
		if err != nil {
			return err
		}
		return errors.Join(job.Receive(ctx, "b", chosen, resp), job.Obtain(ctx, "c", websync.Link{Href: base + "3"}))
	}}
	require.True(t, w.run(source).InStep())
	rec := w.record("r")
	require.Zero(t, rec.Validator(base+"1"), "of bytes that were refused")
	require.Zero(t, rec.Validator(base+"2"), "of one version of many")
	require.NotZero(t, rec.Validator(base+"3"))
}
