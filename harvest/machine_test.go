package harvest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// A machine is a publisher whose resources change at random, a store that follows it
// with random failures, and a naive model of what may be in the store.
type machine struct {
	store    *harvest.Catalog
	site     *site
	now      time.Time
	attempts int // of each run
	// a run with Recheck may leave parked tasks due
	rechecked bool

	pages    map[string]*page
	log      []harvest.Event // all changes, oldest first
	texts    map[string]map[string]bool
	deleted  map[string]bool // ids that the store may have deleted
	untimed  map[string]bool // ids that were published without a time
	gone     map[string]int  // runs in which the server wrongly answered that an id is gone
	versions int
	stale    []state  // what the site was before each harvest
	listed   []*state // those of stale that were listed
}

// A state is a copy of the site at one moment.
type state struct {
	at    websync.Datetime
	pages map[string]*page
}

type page struct {
	text     string
	modified websync.Datetime
}

func newMachine() *machine {
	return &machine{store: harvest.NewCatalog(memstore.New()), site: newSite(), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), attempts: -1,
		pages: map[string]*page{}, texts: map[string]map[string]bool{}, deleted: map[string]bool{}, untimed: map[string]bool{}, gone: map[string]int{}}
}

// stamp returns the present moment in one of the precisions that publishers use, or the
// zero Datetime. It advances the clock, so that no resource changes twice within one
// stated time, which cannot be noticed.
func (m *machine) stamp(t *rapid.T, name string) websync.Datetime {
	again := m.texts[name] != nil
	m.now = m.now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 3600, 86400}).Draw(t, "step")) * time.Second)
	precision := rapid.SampledFrom([]string{"second", "second", "second", "day", "none"}).Draw(t, "precision")
	if again && precision == "day" {
		m.now = m.now.AddDate(0, 0, 1)
	}
	if again {
		m.now = m.now.Add(time.Second)
	}
	now := websync.NewDatetime(m.now)
	switch precision {
	case "day":
		return now.WithPrecision(websync.PrecisionDay)
	case "none":
		return websync.Datetime{}
	}
	return now
}

func (m *machine) name(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}).Draw(t, "name")
}

// publish makes a new version of a resource.
func (m *machine) publish(t *rapid.T) {
	name := m.name(t)
	modified := m.stamp(t, name)
	text := ""
	if old := m.pages[name]; old != nil && rapid.Bool().Draw(t, "same bytes") {
		text = old.text
	}
	m.version(name, modified, text)
}

// version publishes a text under a name. If the text is empty, it makes a new one.
func (m *machine) version(name string, modified websync.Datetime, text string) {
	m.versions++
	if text == "" {
		text = fmt.Sprintf("%s v%d", name, m.versions)
	}
	p := &page{text, modified}
	m.pages[name] = p
	m.untimed[name] = m.untimed[name] || modified.IsZero()
	m.site.set(base+name, p.text)
	if m.texts[name] == nil {
		m.texts[name] = map[string]bool{}
	}
	m.texts[name][p.text] = true
	e := put(name, p.modified)
	if p.modified.IsZero() {
		e.At = websync.NewDatetime(m.now)
	}
	m.log = append(m.log, e)
}

// remove takes a resource away.
func (m *machine) remove(t *rapid.T) {
	name := m.name(t)
	if m.pages[name] == nil {
		return
	}
	m.now = m.now.Add(time.Duration(rapid.IntRange(0, 1).Draw(t, "tie")) * time.Second)
	m.take(name)
}

func (m *machine) take(name string) {
	delete(m.pages, name)
	delete(m.site.pages, base+name)
	m.deleted[name] = true
	m.log = append(m.log, del(name, websync.NewDatetime(m.now)))
}

// logSource yields what changed since the checkpoint, and repeats a few events before it.
type logSource struct {
	*machine
	overlap int
	fail    int // ends with an error after so many events; if negative, never
	problem int // a Problem comes before the event with this number; if negative, never
}

func (s *logSource) Key() string { return src }

func (s *logSource) Events(_ context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		from := 0
		fmt.Sscanf(string(run.From.Data), "%d", &from)
		from = max(0, from-s.overlap)
		for i := from; i < len(s.log); i++ {
			if i-from == s.fail {
				yield(harvest.Event{}, errors.New("cut off"))
				return
			}
			if i-from == s.problem && !yield(harvest.Event{Kind: harvest.Problem, Err: errors.New("a page is missing")}, nil) {
				return
			}
			e := s.log[i]
			e.Resume = harvest.Checkpoint{Version: 1, Data: fmt.Append(nil, i+1)}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// snapshotSource lists everything there is, or claims to.
type snapshotSource struct {
	*machine
	copy     *state // lists this state, with its time as At
	complete bool
	skipped  []string
	fail     int
}

func (s *snapshotSource) Key() string { return src }

func (s *snapshotSource) Events(_ context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		pages, start := s.pages, start
		var yielded []byte // no checkpoint comes with a copy
		if s.copy != nil {
			pages, start.At = s.copy.pages, s.copy.at
		} else {
			yielded = fmt.Append(nil, len(s.log))
		}
		if !yield(start, nil) {
			return
		}
		for i, name := range slices.Sorted(maps.Keys(pages)) {
			if i == s.fail {
				yield(harvest.Event{}, errors.New("cut off"))
				return
			}
			if slices.Contains(s.skipped, name) {
				continue
			}
			if !yield(put(name, pages[name].modified), nil) {
				return
			}
		}
		end := harvest.Event{Kind: harvest.SnapshotEnd, Complete: s.complete, Skipped: len(s.skipped)}
		if yielded != nil {
			end.Resume = harvest.Checkpoint{Version: 1, Data: yielded}
		}
		yield(end, nil)
	}
}

// harvest runs once, with settings and failures drawn at random.
func (m *machine) harvest(t *rapid.T) {
	h := m.harvester()
	h.Sample = rapid.SampledFrom([]int{0, -1}).Draw(t, "sample")
	h.MaxDelete = rapid.SampledFrom([]float64{0, -1, 0.1}).Draw(t, "max delete")
	h.MaxDeletes = rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "max deletes")
	h.Window = rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "window")
	h.Concurrency = rapid.IntRange(1, 4).Draw(t, "concurrency")
	h.SetPatience(rapid.SampledFrom([]time.Duration{0, time.Nanosecond, -1}).Draw(t, "patience"))
	h.Recheck = rapid.IntRange(0, 3).Draw(t, "recheck") == 0
	m.rechecked = m.rechecked || h.Recheck
	h.DeleteGone = rapid.Bool().Draw(t, "delete gone")
	h.Budget.Requests = rapid.SampledFrom([]int64{0, 0, 0, 2}).Draw(t, "budget")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var requests sync.Mutex
	left := rapid.SampledFrom([]int{-1, -1, -1, 0, 1, 3}).Draw(t, "stop at request")
	m.site.before = func(string) {
		requests.Lock()
		defer requests.Unlock()
		if left == 0 {
			stop()
		}
		left--
	}
	for _, name := range slices.Sorted(maps.Keys(m.pages)) {
		switch rapid.IntRange(0, 9).Draw(t, "failing") {
		case 0:
			m.site.failing[base+name] = fmt.Errorf("status 503: %w", harvest.ErrTemporary)
		case 1:
			m.site.failing[base+name] = fmt.Errorf("status 410: %w", websync.ErrGone)
			m.gone[name]++
			if h.DeleteGone && m.attempts > 0 && m.gone[name] >= min(2, m.attempts) {
				m.deleted[name] = true
			}
		}
	}
	if n := rapid.SampledFrom([]int{-1, -1, 0, 1, 2}).Draw(t, "cut at commit"); n >= 0 {
		h.Catalog = harvest.NewCatalog(testkit.CutAfter(harvest.StoreOf(m.store), n, rapid.Bool().Draw(t, "after it")))
	}
	before, tasks := testkit.Entries(t, m.store), testkit.Tasks(t, m.store)
	m.stale = append(m.stale, state{websync.NewDatetime(m.now), maps.Clone(m.pages)})
	m.run(ctx, t, h)
	m.site.failing, m.site.before = map[string]error{}, nil
	m.checkLog(t, before)
	m.checkTasks(t, h, tasks)
	if h.MaxDeletes > 0 {
		deleted := 0
		for _, item := range testkit.Entries(t, m.store)[len(before):] {
			if item.Kind == websync.Deleted {
				deleted++
			}
		}
		require.LessOrEqual(t, deleted, h.MaxDeletes)
	}
}

// checkTasks asserts that a task is parked after its last attempt, and that only Recheck
// changes parked tasks.
func (m *machine) checkTasks(t *rapid.T, h *harvest.Harvester, before []harvest.Task) {
	parked := map[string]harvest.Task{}
	for _, task := range before {
		if task.Parked {
			parked[task.Resource.ID] = task
		}
	}
	for _, task := range testkit.Tasks(t, m.store) {
		if task.Kind != harvest.TaskGet {
			continue
		}
		failed := h.Attempts > 0 && task.Attempts >= h.Attempts
		require.True(t, failed == task.Parked || failed && m.rechecked, "%+v", task)
		require.False(t, task.Gone && task.Attempts == 0)
		was, ok := parked[task.Resource.ID]
		if ok && !h.Recheck && was.At == task.At && was.Resource.Modified == task.Resource.Modified {
			require.Equal(t, was.Attempts, task.Attempts, "parked before")
		}
	}
}

func (m *machine) run(ctx context.Context, t *rapid.T, h *harvest.Harvester) {
	fail := rapid.SampledFrom([]int{-1, -1, -1, 0, 2}).Draw(t, "fail")
	switch rapid.SampledFrom([]string{"log", "log", "snapshot", "stale", "list", "work"}).Draw(t, "what") {
	case "log":
		h.Run(ctx, &logSource{m, rapid.IntRange(0, 3).Draw(t, "overlap"), fail, rapid.SampledFrom([]int{-1, -1, 0, 2}).Draw(t, "problem")})
	case "snapshot":
		s := &snapshotSource{machine: m, complete: rapid.Bool().Draw(t, "complete"), fail: fail}
		for _, name := range slices.Sorted(maps.Keys(m.pages)) {
			if rapid.IntRange(0, 9).Draw(t, "skip") == 0 {
				s.skipped = append(s.skipped, name)
			}
		}
		h.Run(ctx, s)
	case "stale":
		s := &snapshotSource{machine: m, complete: rapid.Bool().Draw(t, "complete"), fail: fail}
		s.copy = &m.stale[rapid.IntRange(0, len(m.stale)-1).Draw(t, "copy")]
		unmoved := slices.ContainsFunc(m.listed, func(c *state) bool { return c.at == s.copy.at && !maps.Equal(c.pages, s.copy.pages) })
		m.listed = append(m.listed, s.copy)
		for name := range m.texts {
			if s.copy.pages[name] == nil && (m.untimed[name] || unmoved) {
				// without times, or with an At that has not moved, a stale copy cannot be
				// recognised
				m.deleted[name] = true
			}
		}
		h.Run(ctx, s)
	case "list":
		h.List(ctx, &logSource{m, 0, fail, -1})
	case "work":
		h.Work(ctx, &logSource{machine: m})
	}
}

func (m *machine) harvester() *harvest.Harvester {
	return &harvest.Harvester{Catalog: m.store, Fetcher: m.site, Attempts: m.attempts, Sample: -1}
}

// checkLog asserts what must hold after every run, whatever happened in it.
func (m *machine) checkLog(t require.TestingT, before []websync.Item) {
	items := testkit.Entries(t, m.store)
	require.GreaterOrEqual(t, len(items), len(before), "no entry is removed")
	latest := map[string]websync.Item{}
	for i, item := range items {
		require.EqualValues(t, i+1, item.Seq, "dense")
		if i > 0 {
			require.True(t, item.Time.After(items[i-1].Time), "increasing")
		}
		name := strings.TrimPrefix(item.Resource.ID, base)
		if item.Kind == websync.Deleted {
			require.True(t, m.deleted[name], "%s was never deleted", name)
		}
		latest[item.Resource.ID] = item
	}
	for rec, err := range m.store.Records(context.Background(), src, "") {
		require.NoError(t, err)
		if rec.Seq == 0 {
			continue
		}
		require.Equal(t, latest[rec.Resource.ID].Kind == websync.Deleted, !rec.Live(), "the record is the latest entry")
		require.Equal(t, latest[rec.Resource.ID].Seq, rec.Seq)
		if rec.Live() {
			name := strings.TrimPrefix(rec.Resource.ID, base)
			text := testkit.Read(t, m.store, rec.Bodies[0])
			require.True(t, m.texts[name][text], "%q was never published as %s", text, name)
		}
	}
}

// finish harvests without failures until nothing is left, and compares the store with the
// site.
func (m *machine) finish(t *rapid.T) {
	h := m.harvester()
	h.MaxDelete = -1
	if rapid.Bool().Draw(t, "the log first") {
		r, err := h.Run(context.Background(), &logSource{m, 0, -1, -1})
		require.NoError(t, err)
		testkit.MakeDue(t, m.store)
		require.True(t, r.Complete)
	}
	s := &snapshotSource{machine: m, complete: true, fail: -1}
	// only Recheck asks again for parked tasks
	h.Recheck = slices.ContainsFunc(testkit.Tasks(t, m.store), func(task harvest.Task) bool { return task.Parked }) || rapid.Bool().Draw(t, "recheck")
	planned := m.plan(t, h, s)
	done := map[string]harvest.Outcome{}
	h.Hooks = &harvest.Hooks{Outcome: func(_, id string, o harvest.Outcome, _ error) { m.note(done, id, o) }}
	_, err := h.Run(context.Background(), s)
	require.NoError(t, err)
	h.Hooks = nil
	agree(t, planned, done)
	testkit.MakeDue(t, m.store)
	r, err := h.Run(context.Background(), s)
	require.NoError(t, err)
	require.True(t, r.InStep(), "%+v", r)

	m.inStep(t)

	h.Recheck = false
	n := len(testkit.Entries(t, m.store))
	m.site.reset()
	for range 2 {
		r, err = h.Run(context.Background(), s)
		require.NoError(t, err)
		require.True(t, r.InStep())
	}
	require.Len(t, testkit.Entries(t, m.store), n, "doing it again changes nothing")
	require.Zero(t, m.site.bodies, "and fetches no body")

	h.Recheck = true
	m.site.reset()
	r, err = h.Run(context.Background(), s)
	require.NoError(t, err)
	require.True(t, r.InStep())
	require.Len(t, testkit.Entries(t, m.store), n)
	require.Zero(t, m.site.bodies)
	require.Len(t, m.site.requests, len(m.pages), "everything is asked for")
}

// inStep asserts that the store has what the site has.
func (m *machine) inStep(t require.TestingT) {
	want, got := map[string]string{}, map[string]string{}
	for name, p := range m.pages {
		want[name] = p.text
	}
	for rec, err := range m.store.Records(context.Background(), src, "") {
		require.NoError(t, err)
		if rec.Live() {
			got[strings.TrimPrefix(rec.Resource.ID, base)] = testkit.Read(t, m.store, rec.Bodies[0])
		}
	}
	require.Equal(t, want, got, "nothing lost, nothing wrongly deleted")
}

// plan returns what is planned for each id, and asserts that planning changes nothing.
func (m *machine) plan(t *rapid.T, h *harvest.Harvester, s harvest.Source) map[string]harvest.Decision {
	before, tasks := testkit.Entries(t, m.store), testkit.Tasks(t, m.store)
	m.site.reset()
	planned := map[string]harvest.Decision{}
	_, err := h.Plan(context.Background(), s, func(d harvest.Decision) {
		if old, ok := planned[d.ID]; !ok || old.Outcome == harvest.OutcomeUnchanged {
			planned[d.ID] = harvest.Decision{Outcome: d.Outcome, Get: d.Get}
		}
	})
	require.NoError(t, err)
	require.Equal(t, before, testkit.Entries(t, m.store))
	require.Equal(t, tasks, testkit.Tasks(t, m.store))
	require.Empty(t, m.site.requests)
	return planned
}

func (m *machine) note(done map[string]harvest.Outcome, id string, o harvest.Outcome) {
	m.site.mu.Lock()
	defer m.site.mu.Unlock()
	if old, ok := done[id]; !ok || old == harvest.OutcomeUnchanged || old == harvest.OutcomeDeferred {
		done[id] = o
	}
}

// agree asserts that a run did what was planned, as far as that can be decided without
// the bytes.
func agree(t *rapid.T, planned map[string]harvest.Decision, done map[string]harvest.Outcome) {
	for id, o := range done {
		d, ok := planned[id]
		if !ok {
			// not reported, because a snapshot's table has it
			d.Outcome = harvest.OutcomeUnchanged
		}
		switch {
		case d.Outcome == o:
		case d.Get && d.Outcome != harvest.OutcomeCreated: // the bytes decide: updated, touched or unchanged
			require.Contains(t, []harvest.Outcome{harvest.OutcomeUpdated, harvest.OutcomeTouched, harvest.OutcomeUnchanged}, o, id)
		default:
			require.Equal(t, d.Outcome, o, id)
		}
	}
	for id := range planned {
		require.Contains(t, done, id)
	}
}

func TestRandomHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine()
		m.attempts = rapid.SampledFrom([]int{-1, 1, 2, 3}).Draw(t, "attempts")
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			for range rapid.IntRange(0, 6).Draw(t, "changes") {
				if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
					m.remove(t)
				} else {
					m.publish(t)
				}
			}
			m.harvest(t)
		}
		m.finish(t)
	})
}
