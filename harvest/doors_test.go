package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// TestGetAnswersInEveryOrder has Get return four answers in every order, one in each run
// over the same listing, and compares the results with the contract of Getter,
// Harvester.Attempts and Harvester.DeleteGone.
func TestGetAnswersInEveryOrder(t *testing.T) {
	const answers = "gkyf" // gone, keep, not yet, failed
	for n := range 256 {
		order := []byte{answers[n%4], answers[n/4%4], answers[n/16%4], answers[n/64]}
		for _, held := range []bool{false, true} {
			for _, deletes := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					m := &answerModel{world: newWorld(t), held: held, deletes: deletes}
					for i, answer := range order {
						m.step(fmt.Sprintf("%s, held %t, DeleteGone %t, run %d", order, held, deletes, i+1), answer)
					}
				})
			}
		}
	}
}

// An answerModel has what the Store must hold after the answers so far.
type answerModel struct {
	*world
	held, deletes bool
	begun         bool

	attempts     int
	gone         bool // the last attempt
	done, parked bool
	live         map[string]string
}

func (m *answerModel) step(name string, answer byte) {
	if !m.begun {
		m.begun = true
		m.h.Attempts, m.h.DeleteGone = 3, m.deletes
		m.live = map[string]string{}
		time.Sleep(time.Until(day(10).Time())) // after all stated times
		if m.held {
			m.page("a")
			m.run(harvest.Of(src, put("a", day(1))))
			m.live["a"] = "a"
		}
	}
	called := false
	get := func(ctx context.Context, job *harvest.Job) error {
		called = true
		switch answer {
		case 'g':
			return fmt.Errorf("the list omits it: %w", websync.ErrGone)
		case 'y':
			return job.NotYet(time.Time{}, "later")
		case 'f':
			return errors.New("broken")
		}
		if job.Held != nil {
			return job.ReuseAll()
		}
		_, err := job.Keep(ctx, websync.ContentName, websync.Link{}, strings.NewReader("made"))
		return err
	}
	time.Sleep(48 * time.Hour) // failed tasks are due again
	var outcomes []harvest.Outcome
	m.h.Hooks = &harvest.Hooks{Outcome: func(_, _ string, o harvest.Outcome, _ error) { outcomes = append(outcomes, o) }}
	r := m.run(getting{harvest.Of(src, put("a", day(2))), get})
	require.Equal(m, !m.done && !m.parked, called, name)
	require.Equal(m, []harvest.Outcome{m.outcome(called, answer)}, outcomes, name)
	require.Equal(m, m.live, m.world.live(), name)
	require.Equal(m, m.done || m.parked && m.gone, r.InStep(), name)
	tasks := m.tasks()
	if m.done {
		require.Empty(m, tasks, name)
		return
	}
	require.Len(m, tasks, 1, name)
	require.Equal(m, m.attempts, tasks[0].Attempts, name)
	require.Equal(m, m.parked, tasks[0].Parked, name)
}

// outcome returns the outcome of the next answer.
func (m *answerModel) outcome(called bool, answer byte) harvest.Outcome {
	switch {
	case m.done:
		return harvest.OutcomeUnchanged
	case !called && m.gone:
		return harvest.OutcomeGone
	case !called:
		return harvest.OutcomeDeferred
	case answer == 'y':
		return harvest.OutcomeDeferred
	case answer == 'k':
		m.done = true
		if m.held {
			return harvest.OutcomeUpdated
		}
		m.live["a"] = "made"
		return harvest.OutcomeCreated
	}
	before := m.gone
	m.attempts++
	m.gone, m.parked = answer == 'g', m.attempts == 3
	switch {
	case !m.parked:
		return harvest.OutcomeFailed
	case !m.gone || !before:
		m.gone = false
		return harvest.OutcomeParked
	case m.held && m.deletes:
		delete(m.live, "a")
		return harvest.OutcomeDeleted
	}
	return harvest.OutcomeGone
}

// TestPanicOfWorker panics in a Get of Work. The other tasks are carried out, and the
// next run of Work carries out this one.
func TestPanicOfWorker(t *testing.T) {
	for _, at := range []int{1, 7, 40} {
		w := tasked(t, newWorld(t).store, 40)
		calls := 0
		w.h.Concurrency = 1
		r := w.work(getting{harvest.Of(src), func(ctx context.Context, job *harvest.Job) error {
			if calls++; calls == at {
				panic("boom")
			}
			return job.Content(ctx)
		}})
		require.Equal(t, int64(39), r.Created)
		require.Equal(t, int64(1), r.Failed)
		r = w.work(getting{harvest.Of(src), content})
		require.True(t, r.InStep())
		require.Len(t, w.live(), 40)
		require.Len(t, w.log(), 40)
		value, err := w.store.State(t.Context(), "harvest/work/"+src)
		require.NoError(t, err)
		require.Empty(t, value, "the worker has given up its tasks")
	}
}

// TestSecondLevel harvests entries whose documents list the representations, each of
// which becomes a body: the answers are conditional, and no body is kept that the
// document no longer lists.
func TestSecondLevel(t *testing.T) {
	w := newWorld(t)
	get := func(ctx context.Context, job *harvest.Job) error {
		url := job.Resource.Content.Href
		resp, err := job.Fetch(ctx, &harvest.Request{URL: url, Spool: true})
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		names, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return fmt.Errorf("%s lists no representation: %w", url, websync.ErrGone)
		}
		for name := range strings.FieldsSeq(string(names)) {
			link := websync.Link{Href: url + "/" + name}
			resp, err := job.Fetch(ctx, &harvest.Request{URL: link.Href, Validator: job.Held.Validator(link.Href)})
			if err != nil {
				return err
			}
			if resp.NotModified {
				_, err = job.Reuse(name)
			} else {
				_, err = job.Keep(ctx, name, link, resp.Body)
				resp.Body.Close()
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	run := func(n int) *harvest.Report {
		return w.run(getting{harvest.Of(src, put("act", day(n))), get})
	}
	bodies := func() string {
		rec := w.record("act")
		var names []string
		for _, b := range rec.Bodies {
			r, err := w.store.Open(t.Context(), b)
			require.NoError(t, err)
			data, err := io.ReadAll(r)
			require.NoError(t, errors.Join(err, r.Close()))
			names = append(names, b.Name+"="+string(data))
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	w.site.set(base+"act", "html pdf xml")
	for _, name := range []string{"html", "pdf", "xml"} {
		w.site.set(base+"act/"+name, name+"1")
	}
	require.True(t, run(1).InStep())
	require.Equal(t, "html=html1 pdf=pdf1 xml=xml1", bodies())
	require.Len(t, w.record("act").Validators, 4)

	w.site.reset()
	w.site.set(base+"act/pdf", "pdf2")
	require.EqualValues(t, 1, run(2).Updated)
	require.Equal(t, 2, w.site.bodies, "the document and the changed body")
	require.Equal(t, "html=html1 pdf=pdf2 xml=xml1", bodies())

	w.site.set(base+"act", "html pdf missing")
	w.site.set(base+"act/html", "html3")
	require.False(t, run(3).InStep())
	require.Equal(t, "html=html1 pdf=pdf2 xml=xml1", bodies(), "all bodies change or none")

	w.site.set(base+"act", "html pdf")
	require.EqualValues(t, 1, run(4).Updated)
	require.Equal(t, "html=html3 pdf=pdf2", bodies())
	require.Len(t, w.record("act").Validators, 3, "the validators of the kept bodies")
	before := w.record("act")

	w.site.set(base+"act", "")
	w.h.Attempts = 2
	run(5)
	time.Sleep(time.Millisecond)
	require.EqualValues(t, 1, run(5).Gone)
	require.Equal(t, before, w.record("act"), "the record stays")
	w.site.set(base+"act", "pdf")
	r := run(6)
	require.EqualValues(t, 1, r.Updated, "another state is tried at once")
	require.True(t, r.InStep())
	require.Equal(t, "pdf=pdf2", bodies())
}

// TestWaitLogEnds ends waiting in other ways than by a change of the log.
func TestWaitLogEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.page("a")
		w.run(harvest.Of(src, put("a", day(1))))
		head, err := w.store.Head(t.Context())
		require.NoError(t, err)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = harvest.WaitLog(ctx, w.store, head)
		require.ErrorIs(t, err, context.Canceled, "the context has ended already")

		// Commits without a log entry do not end the wait.
		ctx, cancel2 := context.WithTimeout(t.Context(), time.Minute)
		defer cancel2()
		time.AfterFunc(time.Second, func() { w.run(harvest.Of(src, put("a", day(1)))) })
		_, err = harvest.WaitLog(ctx, w.store, head)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		// A consumer that follows the log sees each change, also in a new generation, and
		// ends.
		var seen []string
		ctx, cancel3 := context.WithCancel(t.Context())
		defer cancel3()
		followed := make(chan error, 1)
		go func() {
			var err error
			for err == nil {
				var head websync.Head
				if head, err = w.store.Head(ctx); err != nil {
					break
				}
				err = harvest.Each(ctx, w.store, "index", func(d *harvest.Delivery) error {
					seen = append(seen, strings.TrimPrefix(d.ID, base))
					return nil
				})
				if err == nil {
					_, err = harvest.WaitLog(ctx, w.store, head)
				}
			}
			followed <- err
		}()
		for _, name := range []string{"b", "c", "d"} {
			synctest.Wait()
			generation, err := w.store.Compact(t.Context())
			require.NoError(t, err)
			w.page(name)
			w.run(harvest.Of(src, put(name, day(1))))
			require.NoError(t, w.store.Drop(t.Context(), generation))
		}
		synctest.Wait()
		cancel3()
		require.ErrorIs(t, <-followed, context.Canceled)
		require.Equal(t, []string{"a", "b", "c", "d"}, seen)
	})
}
