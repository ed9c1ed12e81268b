package sourcetest

import (
	"context"
	"errors"
	"iter"
	"maps"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

// A target is a Store and the key of the Source that is harvested into it.
type target struct {
	t     *tester
	store *harvest.Catalog
	key   string
}

// target returns a new Store into which the given number of states were harvested.
func (t *tester) target(states int) *target {
	t.Helper()
	p := &target{t: t, store: harvest.NewCatalog(t.options.Store(t.TB)), key: t.options.Source().Key()}
	for state := range states {
		p.undisturbed(state)
	}
	return p
}

// A disturbance is what happens to one run. The zero disturbance is none.
type disturbance struct {
	what          string
	full          bool
	lists, bodies hook // of the requests of the Source, and of those for bodies

	// After this many events the run ends with the error end, or this request of the
	// Source fails with it; 0: none does. The end context.Canceled ends the context, too.
	after, request int
	end            error
}

var errInterrupted = errors.New("interrupted")

// A result is the outcome of a run.
type result struct {
	*harvest.Report
	err           error
	events        int
	lists, bodies []Exchange // of the Source, and of the engine
	state         int
	contents      *contents // of a baseline
}

// whole reports whether the run has listed everything, by its own Report.
func (r *result) whole() bool { return r.err == nil && r.Complete }

// run brings the Store in step with a new Source over the site in a state.
func (p *target) run(state int, d disturbance) *result {
	p.t.Helper()
	p.t.enter(state)
	ctx, cancel := context.WithCancel(p.t.Ctx)
	defer cancel()
	site := p.t.options.Sites[state]
	lists, bodies := &Fetcher{Site: site, Hook: d.lists}, &Fetcher{Site: site, Hook: d.bodies}
	if d.request > 0 {
		lists.Hook = func(_ context.Context, n int, req *harvest.Request, doc Document) (Document, error) {
			if n != d.request || p.t.options.Tolerates(req.URL, NoAnswer) {
				return doc, nil
			}
			if d.end == context.Canceled {
				cancel()
			}
			return Document{Err: d.end}, nil
		}
	}
	src := &probe{Source: p.t.options.Source(), d: d, cancel: cancel, lists: lists}
	h := &harvest.Harvester{
		Catalog: p.store, Fetcher: bodies, Bodies: p.t.options.Bodies, Full: d.full,
		MaxDelete: -1, Attempts: -1, Sample: -1,
	}
	r := &result{state: state}
	err := p.t.Await(func() error {
		r.Report, r.err = h.Run(ctx, src.source())
		return nil
	})
	p.t.OK(err, "harvesting %s", stateName(state))
	r.events, r.lists, r.bodies = src.events, lists.Exchanges(), bodies.Exchanges()
	return r
}

// undisturbed harvests a state. It ends the case if the run is not complete.
func (p *target) undisturbed(state int) *result {
	p.t.Helper()
	r := p.run(state, disturbance{})
	if !r.whole() {
		p.t.Fatalf("harvesting %s undisturbed: not complete: error %v, problems %v", stateName(state), r.err, r.Problems)
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
		return struct {
			*probe
			getter
		}{p, g}
	}
	return p
}

// TwoLists is that of the Source under test, if it has one: see [harvest.Source].
func (p *probe) TwoLists() bool { return twoLists(p.Source) }

func twoLists(src harvest.Source) bool {
	l, ok := src.(interface{ TwoLists() bool })
	return ok && l.TwoLists()
}

type getter interface {
	Get(ctx context.Context, job *harvest.Job) error
}

func (p *probe) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		own := *run
		own.Fetcher = p.lists
		over := false
		p.Source.Events(ctx, &own)(func(ev harvest.Event, err error) bool {
			over = over || !yield(ev, err) || err != nil
			p.events++
			switch {
			case over || p.events != p.d.after:
			case p.d.end == context.Canceled:
				p.cancel()
			default:
				over = true
				yield(harvest.Event{}, p.d.end)
			}
			return !over
		})
	}
}

// contents are what a run leaves in a Store, without what depends on when it ran:
// numbers, times, attempts.
type contents struct {
	Records map[string]harvest.Record
	// the last entry of each id in the log, without times: of several changes in a run
	// the first or the last may be there
	Log        map[string]websync.Item
	Tasks      map[string]harvest.Task
	Checkpoint bool // there is one
}

func (p *target) contents() *contents {
	p.t.Helper()
	c := &contents{Records: map[string]harvest.Record{}, Log: map[string]websync.Item{}, Tasks: map[string]harvest.Task{}}
	item := func(it websync.Item, at, modified websync.Datetime) websync.Item {
		it.Resource.Modified = modified
		if it.Kind != websync.Deleted {
			it.Kind = websync.Updated
		}
		return websync.Item{Kind: it.Kind, At: at, Resource: it.Resource, Bodies: it.Bodies}
	}
	for r, err := range p.store.Records(p.t.Ctx, p.key, "") {
		p.t.OK(err, "Store.Records")
		// a record whose date was corrected equals one that had this date at once
		it := item(r.Item, r.Stated.At, r.Stated.Modified)
		if twoLists(p.t.options.Source()) { // which of their times is known depends on the runs
			it.At, it.Resource.Modified = websync.Datetime{}, websync.Datetime{}
		}
		c.Records[r.Resource.ID] = harvest.Record{Item: it, Stated: harvest.Stated{Hash: r.Stated.Hash}, Validators: r.Validators}
	}
	for it, err := range p.store.Changes(p.t.Ctx, websync.Range{Sources: []string{p.key}}) {
		p.t.OK(err, "Store.Changes")
		c.Log[it.Resource.ID] = item(it, websync.Datetime{}, websync.Datetime{})
	}
	for t, err := range p.store.Tasks(p.t.Ctx, p.key, "") {
		p.t.OK(err, "Store.Tasks")
		c.Tasks[t.Resource.ID] = harvest.Task{Kind: t.Kind, Resource: t.Resource}
	}
	at, err := p.store.Checkpoint(p.t.Ctx, p.key)
	p.t.OK(err, "Store.Checkpoint")
	c.Checkpoint = !at.IsZero()
	return c
}

// last returns the number of the last entry of the log.
func (p *target) last() websync.Seq {
	p.t.Helper()
	head, err := p.store.Head(p.t.Ctx)
	p.t.OK(err, "Store.Head")
	return head.Last
}

// live returns the records that are not deleted.
func (c *contents) live() map[string]harvest.Record {
	live := maps.Clone(c.Records)
	maps.DeleteFunc(live, func(_ string, r harvest.Record) bool { return r.Kind == websync.Deleted })
	return live
}

// holds ends the case unless the Store has all live records that harvesting nothing but
// one state gives. It may have more.
func (p *target) holds(state int, what string) {
	p.t.Helper()
	alone := p.t.target(0)
	alone.undisturbed(state)
	want, got := alone.contents().live(), p.contents().live()
	maps.DeleteFunc(got, func(id string, _ harvest.Record) bool { _, ok := want[id]; return !ok })
	if d := suite.Diff(want, got); d != "" {
		p.t.Fatalf("%s, %s: record%s", stateName(state), what, d)
	}
}

// baseline harvests all states undisturbed and returns the results, with their contents.
func (t *tester) baseline() (base []*result) {
	t.Helper()
	p := t.target(0)
	for state := range t.options.Sites {
		r := p.undisturbed(state)
		r.contents = p.contents()
		base = append(base, r)
	}
	return base
}

// heals harvests the state of an undisturbed run and ends the case unless the Store is
// then as that run left it.
func (p *target) heals(undisturbed *result, what string) {
	p.t.Helper()
	p.undisturbed(undisturbed.state)
	if d := suite.Diff(undisturbed.contents, p.contents()); d != "" {
		p.t.Fatalf("%s, %s, and the next run: %s", stateName(undisturbed.state), what, d)
	}
}
