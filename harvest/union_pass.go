package harvest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"github.com/websync-go/websync"
)

// A unionPoint is how far a Union has told its members, in their order: what its
// Checkpoint holds.
type unionPoint []unionCursor

// A unionCursor is behind an entry of a member's log: of whatever source, so it may stand
// at the log's end.
type unionCursor struct {
	Source string `json:"source"`
	cursor
}

const unionVersion = 1

func (p unionPoint) checkpoint() Checkpoint {
	data, _ := json.Marshal(p) // numbers, times of a log and strings
	return Checkpoint{Version: unionVersion, Data: data}
}

// readUnionPoint returns the empty point if c can't be read.
func readUnionPoint(c Checkpoint) (p unionPoint) {
	if c.Version != unionVersion || json.Unmarshal(c.Data, &p) != nil {
		return nil
	}
	return p
}

// errStopped ends a pass that nobody listens to any more.
var errStopped = errors.New("the pass was stopped")

var errCompacted = errors.New("a member was compacted while it was listed")

// A unionPass is one walk over the members of a Union.
type unionPass struct {
	*Union
	run     *Run
	yield   func(Event, error) bool
	at      unionPoint // told so far
	listing bool       // inside a snapshot
}

func (p *unionPass) tell(ev Event) error {
	if !p.yield(ev, nil) {
		return errStopped
	}
	return nil
}

func (p *unionPass) walk(ctx context.Context) error {
	if err := p.check(); err != nil {
		return err
	}
	heads, err := p.heads(ctx)
	if err != nil {
		return err
	}
	p.at = readUnionPoint(p.run.From)
	goesOn, err := p.goesOn(ctx, heads)
	if err != nil {
		return err
	}
	if !goesOn {
		return p.list(ctx, heads)
	}
	if p.isAt(heads) {
		return nil
	}
	if err := p.follow(ctx, heads); err != nil {
		return err
	}
	return p.tell(Event{Kind: Mark, Resume: p.at.checkpoint()})
}

// heads returns where the members' logs stand.
func (p *unionPass) heads(ctx context.Context) ([]websync.Head, error) {
	heads := make([]websync.Head, len(p.Members))
	for i := range p.Members {
		var err error
		if heads[i], err = p.Members[i].Catalog.Head(ctx); err != nil {
			return nil, p.Members[i].failed(err)
		}
	}
	return heads, nil
}

// enter makes heads the point up to which everything is told.
func (p *unionPass) enter(heads []websync.Head) {
	p.at = make(unionPoint, len(heads))
	for i, h := range heads {
		p.at[i] = unionCursor{p.Members[i].Source, cursor{h.Generation, h.Last, h.LastTime}}
	}
}

func (p *unionPass) isAt(heads []websync.Head) bool {
	for i, h := range heads {
		if p.at[i].Seq != h.Last {
			return false
		}
	}
	return true
}

// goesOn reports whether the point is one of these members, and their logs go on from it.
func (p *unionPass) goesOn(ctx context.Context, heads []websync.Head) (bool, error) {
	if len(p.at) != len(heads) {
		return false, nil
	}
	for i, h := range heads {
		m, c := &p.Members[i], &p.at[i]
		if c.Source != m.Source || c.Generation != h.Generation {
			return false, nil
		}
		ok, err := c.isIn(ctx, m.Catalog)
		if err != nil {
			return false, m.failed(err)
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}

// isIn reports whether the log has the cursor's entry. A Store that was restored or
// replaced has another there, or none.
func (c *unionCursor) isIn(ctx context.Context, log websync.Catalog) (bool, error) {
	if c.Seq == 0 {
		return true, nil
	}
	for item, err := range log.Changes(ctx, websync.Range{Generation: c.Generation, After: c.Seq - 1, Until: c.Seq}) {
		if err != nil {
			return false, err
		}
		return item.Seq == c.Seq && item.Time.Equal(c.Time), nil
	}
	return false, nil
}

// list tells everything there is. Heads are where the logs stood before. The point is
// given up first: if the listing is cut short and the list of members then goes back to
// what it was, their logs would not tell what is to be taken back.
func (p *unionPass) list(ctx context.Context, heads []websync.Head) error {
	if err := p.tell(Event{Kind: Mark, Resume: unionPoint(nil).checkpoint()}); err != nil {
		return err
	}
	var total int64
	for i, h := range heads {
		total += h.Live[p.Members[i].Source]
	}
	p.run.Expect(total)
	p.listing = true
	p.enter(heads)
	if err := p.tell(Event{Kind: SnapshotStart}); err != nil {
		return err
	}
	for i := range p.Members {
		if err := p.listMember(ctx, i); err != nil {
			return err
		}
	}
	return p.endList(ctx)
}

// endList tells what changed while the members were listed: an id that went from one to
// the other may have been in none when it was listed. Otherwise it would be taken for
// gone.
func (p *unionPass) endList(ctx context.Context) error {
	heads, err := p.heads(ctx)
	if err != nil {
		return err
	}
	goesOn, err := p.goesOn(ctx, heads)
	if err != nil {
		return err
	}
	if !goesOn {
		if err := p.tell(Event{Kind: Problem, Err: errCompacted}); err != nil {
			return err
		}
		return p.tell(Event{Kind: SnapshotEnd})
	}
	if err := p.follow(ctx, heads); err != nil {
		return err
	}
	return p.tell(Event{Kind: SnapshotEnd, Complete: true, Options: p.options(), Resume: p.at.checkpoint()})
}

// listMember tells the records that a member speaks for.
func (p *unionPass) listMember(ctx context.Context, i int) error {
	m := &p.Members[i]
	batch := make([]websync.Item, 0, planBatch)
	for item, err := range m.Catalog.Resources(ctx, websync.Range{Sources: []string{m.Source}}) {
		if err != nil {
			return m.failed(err)
		}
		if batch = append(batch, item); len(batch) < planBatch {
			continue
		}
		if err := p.showBatch(ctx, i, batch); err != nil {
			return err
		}
		batch = batch[:0]
	}
	return p.showBatch(ctx, i, batch)
}

// showBatch tells those of a member's records that no member before it has.
func (p *unionPass) showBatch(ctx context.Context, i int, batch []websync.Item) error {
	ids := make([]string, len(batch))
	for n := range batch {
		ids[n] = batch[n].Resource.ID
	}
	said, err := ask(ctx, p.Members[:i], ids)
	if err != nil {
		return err
	}
	said = append(said, batch)
	for n := range batch {
		if said.speaker(n) < i {
			continue
		}
		if err := p.tell(p.put(said, i, n)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// A unionEntry is one of a member's log.
type unionEntry struct {
	member int
	id     string
	at     time.Time
}

// follow tells what the members' logs say between the point and heads, and moves the
// point there.
func (p *unionPass) follow(ctx context.Context, heads []websync.Head) error {
	logs := make([]iter.Seq2[websync.Item, error], len(p.Members))
	for i, h := range heads {
		logs[i] = p.log(ctx, i, h.Last)
	}
	batch := make([]unionEntry, 0, planBatch)
	for entry, err := range merge(logs, compareTimes) {
		if err != nil {
			return p.Members[entry.from].failed(err)
		}
		item := &entry.value
		batch = append(batch, unionEntry{entry.from, item.Resource.ID, item.Time})
		at := &p.at[entry.from]
		at.Seq, at.Time = item.Seq, item.Time
		if len(batch) < planBatch {
			continue
		}
		if err := p.tellBatch(ctx, batch); err != nil {
			return err
		}
		batch = batch[:0]
	}
	p.enter(heads)
	return p.tellBatch(ctx, batch)
}

// log returns what a member's log has behind the point, up to an entry.
func (p *unionPass) log(ctx context.Context, i int, until websync.Seq) iter.Seq2[websync.Item, error] {
	m, at := &p.Members[i], &p.at[i]
	if at.Seq == until {
		return func(func(websync.Item, error) bool) {}
	}
	return m.Catalog.Changes(ctx, websync.Range{Sources: []string{m.Source}, Generation: at.Generation, After: at.Seq, Until: until})
}

// tellBatch tells what is now of the ids of some entries. An entry says nothing when its
// member has a younger one of the id, which is still to be read, or when a member before
// it speaks, whose own entry is told, or was.
func (p *unionPass) tellBatch(ctx context.Context, batch []unionEntry) error {
	ids := make([]string, len(batch))
	for n := range batch {
		ids[n] = batch[n].id
	}
	said, err := ask(ctx, p.Members, ids)
	if err != nil {
		return err
	}
	var events []Event
	told := map[string]bool{}
	for n, e := range batch {
		speaker := said.speaker(n)
		if e.member > speaker || told[e.id] || said[e.member][n].Time.After(e.at) {
			continue
		}
		told[e.id] = true
		if speaker < len(said) {
			events = append(events, p.put(said, speaker, n))
		} else {
			events = append(events, Event{Kind: Delete, Resource: websync.Resource{ID: e.id}})
		}
	}
	if len(events) > 0 && !p.listing {
		events[len(events)-1].Resume = p.at.checkpoint()
	}
	for _, ev := range events {
		if err := p.tell(ev); err != nil {
			return err
		}
	}
	return ctx.Err()
}
