package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A target is a Store and what is harvested into it.
type target struct {
	t     *tester
	store harvest.Store
	key   string
}

// target returns a new Store into which the given number of states were harvested.
func (t *tester) target(states int) *target {
	t.Helper()
	p := &target{t: t, store: t.options.Store(t.TB), key: t.source().Key()}
	if p.store == nil {
		t.Fatal("there is no Store")
	}
	for state := range states {
		p.undisturbed(state)
	}
	return p
}

// A disturbance is what happens to one run. The zero one is none.
type disturbance struct {
	full   bool
	lists  func(cancel context.CancelFunc) hook // of the Source's requests
	bodies func(cancel context.CancelFunc) hook // of those for bodies
	// after so many events; an error is where the run ends
	each func(n int, cancel context.CancelFunc) error
}

// errInterrupted ends a run.
var errInterrupted = errors.New("interrupted")

// stopAfter ends a run after so many events were yielded and stored.
func stopAfter(events int) disturbance {
	return disturbance{each: func(n int, _ context.CancelFunc) error {
		if n == events {
			return errInterrupted
		}
		return nil
	}}
}

// cancelAfter ends a run by its context after so many events.
func cancelAfter(events int) disturbance {
	return disturbance{each: func(n int, cancel context.CancelFunc) error {
		if n == events {
			cancel()
		}
		return nil
	}}
}

// A result is what came of a run.
type result struct {
	*harvest.Report
	err    error
	events int
	lists  []Exchange // of the Source
	bodies []Exchange // of the engine
}

// whole reports whether the run has listed everything by its own Report.
func (r *result) whole() bool { return r.err == nil && r.Complete }

// run brings the Store in step with a new Source over the site in a state.
func (p *target) run(state int, d disturbance) *result {
	p.t.Helper()
	p.t.enter(state)
	ctx, cancel := context.WithCancel(p.t.Ctx)
	defer cancel()
	site := p.t.options.Sites[state]
	src := &probe{Source: p.t.source(), d: d, cancel: cancel, lists: &Fetcher{Site: site}}
	if d.lists != nil {
		src.lists.Hook = d.lists(cancel)
	}
	bodies := &Fetcher{Site: site}
	if d.bodies != nil {
		bodies.Hook = d.bodies(cancel)
	}
	h := &harvest.Harvester{Store: p.store, Fetcher: bodies, Bodies: p.t.options.Bodies, Full: d.full, MaxDelete: -1, Attempts: -1}
	r := new(result)
	err := p.t.Await(func() error {
		r.Report, r.err = h.Run(ctx, src.source())
		return nil
	})
	p.t.OK(err, "harvesting %s", stateName(state))
	r.events, r.lists, r.bodies = src.events, src.lists.Exchanges(), bodies.Exchanges()
	return r
}

// undisturbed harvests a state. It ends the case if the run is not complete.
func (p *target) undisturbed(state int) *result {
	p.t.Helper()
	r := p.run(state, disturbance{})
	if r.err != nil {
		p.t.Fatalf("harvesting %s undisturbed: %v", stateName(state), r.err)
	}
	if !r.Complete {
		p.t.Fatalf("harvesting %s undisturbed: not complete: %v", stateName(state), r.Problems)
	}
	return r
}

// A probe stands between the engine and the Source under test. The Source's requests do
// not go through the engine, so they differ from those for bodies.
type probe struct {
	harvest.Source
	d      disturbance
	cancel context.CancelFunc
	lists  *Fetcher
	events int
}

// source returns p, or p as a Getter if the Source is one.
func (p *probe) source() harvest.Source {
	if g, ok := p.Source.(harvest.Getter); ok {
		return &getter{p, g}
	}
	return p
}

type getter struct {
	*probe
	under harvest.Getter
}

func (g *getter) Get(ctx context.Context, job *harvest.Job) error { return g.under.Get(ctx, job) }

func (p *probe) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		own := *run
		own.Fetcher = p.lists
		over := false
		p.Source.Events(ctx, &own)(func(ev harvest.Event, err error) bool {
			over = over || !p.pass(yield, ev, err)
			return !over
		})
	}
}

// pass hands one event to the engine and reports whether the run goes on.
func (p *probe) pass(yield func(harvest.Event, error) bool, ev harvest.Event, err error) bool {
	if !yield(ev, err) || err != nil {
		return false
	}
	p.events++
	if p.d.each == nil {
		return true
	}
	if err := p.d.each(p.events, p.cancel); err != nil {
		yield(harvest.Event{}, err)
		return false
	}
	return true
}

// contents are what a run leaves in a Store, without what depends on when it ran:
// numbers, times, attempts.
type contents struct {
	records map[string]record
	last    map[string]entry // of the log
	tasks   map[string]task
	resume  bool // there is a checkpoint
}

type record struct {
	Deleted    bool
	At         websync.Datetime
	Resource   websync.Resource
	Bodies     []websync.Body
	Stated     uint64
	Validators []harvest.Validator
}

// An entry is without times: several changes of one id in a run may leave the first or
// the last of them in the log.
type entry struct {
	Deleted  bool
	Resource websync.Resource
	Bodies   []websync.Body
}

type task struct {
	Kind     harvest.TaskKind
	Resource websync.Resource
}

func (p *target) contents() *contents {
	p.t.Helper()
	c := &contents{records: map[string]record{}, last: map[string]entry{}, tasks: map[string]task{}}
	for r, err := range p.store.Records(p.t.Ctx, p.key, "") {
		p.t.OK(err, "Store.Records")
		// a record that was re-dated is one that had this date from the beginning
		r.At, r.Resource.Modified = r.Stated.At, r.Stated.Modified
		c.records[r.Resource.ID] = record{r.Kind == websync.Deleted, r.At, r.Resource, r.Bodies, r.Stated.Hash, r.Validators}
	}
	for e, err := range p.store.Changes(p.t.Ctx, websync.Range{Sources: []string{p.key}}) {
		p.t.OK(err, "Store.Changes")
		e.Resource.Modified = websync.Datetime{}
		c.last[e.Resource.ID] = entry{e.Kind == websync.Deleted, e.Resource, e.Bodies}
	}
	for t, err := range p.store.Tasks(p.t.Ctx, p.key, "") {
		p.t.OK(err, "Store.Tasks")
		c.tasks[t.Resource.ID] = task{t.Kind, t.Resource}
	}
	at, err := p.store.Checkpoint(p.t.Ctx, p.key)
	p.t.OK(err, "Store.Checkpoint")
	c.resume = !at.IsZero()
	return c
}

// numbers returns the number of every record and the last one of the log.
func (p *target) numbers() map[string]websync.Seq {
	p.t.Helper()
	head, err := p.store.Head(p.t.Ctx)
	p.t.OK(err, "Store.Head")
	numbers := map[string]websync.Seq{"": head.Last}
	for r, err := range p.store.Records(p.t.Ctx, p.key, "") {
		p.t.OK(err, "Store.Records")
		numbers[r.Resource.ID] = r.Seq
	}
	return numbers
}

// diff returns where got is not what was wanted, "" if it is.
func (c *contents) diff(got *contents) string {
	if d := diffMap("record", c.records, got.records); d != "" {
		return d
	}
	if d := diffMap("last entry of the log", c.last, got.last); d != "" {
		return d
	}
	if d := diffMap("task", c.tasks, got.tasks); d != "" {
		return d
	}
	if c.resume != got.resume {
		return fmt.Sprintf("checkpoint: got one: %t, want one: %t", got.resume, c.resume)
	}
	return ""
}

// live returns the records that are there.
func (c *contents) live() map[string]record {
	return only(c.records, func(_ string, r record) bool { return !r.Deleted })
}

// lacks returns what of the live records that are wanted is not there or another; "" if
// nothing is. There may be more.
func (p *target) lacks(want map[string]record) string {
	p.t.Helper()
	got := only(p.contents().live(), func(id string, _ record) bool { _, ok := want[id]; return ok })
	return diffMap("record", want, got)
}

// only returns the entries of m that f chooses.
func only[V any](m map[string]V, f func(id string, v V) bool) map[string]V {
	m = maps.Clone(m)
	maps.DeleteFunc(m, func(id string, v V) bool { return !f(id, v) })
	return m
}

// diffMap returns the first id, in byte order, of which two maps differ, and in what.
func diffMap[V any](what string, want, got map[string]V) string {
	ids := slices.Sorted(maps.Keys(want))
	for id := range got {
		if _, ok := want[id]; !ok {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		w, wanted := want[id]
		g, there := got[id]
		switch {
		case !there:
			return fmt.Sprintf("%s of %.200q: missing", what, id)
		case !wanted:
			return fmt.Sprintf("%s of %.200q: not wanted", what, id)
		}
		if d := diffValue(reflect.ValueOf(w), reflect.ValueOf(g)); d != "" {
			return fmt.Sprintf("%s of %.200q: %s", what, id, d)
		}
	}
	return ""
}

// diffValue returns in which field two values differ.
func diffValue(want, got reflect.Value) string {
	if reflect.DeepEqual(want.Interface(), got.Interface()) {
		return ""
	}
	if want.Kind() == reflect.Struct && want.Type() != reflect.TypeFor[websync.Datetime]() {
		for i := range want.NumField() {
			if d := diffValue(want.Field(i), got.Field(i)); d != "" {
				return strings.TrimPrefix(want.Type().Field(i).Name+"."+d, ".")
			}
		}
	}
	return fmt.Sprintf(" got %.200s, want %.200s", fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
}

// A baseline is what undisturbed runs leave, state by state.
type baseline struct {
	contents []*contents
	runs     []*result
}

func (t *tester) baseline() *baseline {
	t.Helper()
	p, b := t.target(0), new(baseline)
	for state := range t.states() {
		b.runs = append(b.runs, p.undisturbed(state))
		b.contents = append(b.contents, p.contents())
	}
	return b
}
