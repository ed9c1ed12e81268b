package union

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A position is how far the log of each Catalog was read, in the order of the members,
// and with which options. A Checkpoint holds it.
type position struct {
	Options string   `json:"options"`
	Logs    []cursor `json:"logs"`
}

// A cursor is the position after an entry of a log. The entry may be of any source, so
// the cursor may stand at the end of the log.
type cursor struct {
	Sources    string      `json:"sources"` // a digest of those of the members
	Generation uint64      `json:"generation"`
	Seq        websync.Seq `json:"seq"`
	Time       time.Time   `json:"time"`
}

const positionVersion = 3

func (p position) checkpoint() harvest.Checkpoint {
	data, _ := json.Marshal(p) // numbers, times of a log and strings
	return harvest.Checkpoint{Version: positionVersion, Data: data}
}

// readPosition returns the empty position if c cannot be read.
func readPosition(c harvest.Checkpoint) (p position) {
	if c.Version != positionVersion || json.Unmarshal(c.Data, &p) != nil {
		return position{}
	}
	return p
}

// errStopped ends a pass whose consumer has stopped.
var errStopped = errors.New("the loop over the events has ended")

var errCompacted = errors.New("a member was compacted while it was listed")

// How many ids are looked up at once: fewer of long records. Those of other members may
// be long, too.
const (
	batchSize  = 32
	batchBytes = 256 << 10
)

// A pass is one walk over the members of a Source.
type pass struct {
	*Source
	members *members
	run     *harvest.Run
	yield   func(harvest.Event, error) bool
	at      position
	listing bool // inside a snapshot
}

func (p *pass) emit(ev harvest.Event) error {
	if !p.yield(ev, nil) {
		return errStopped
	}
	return nil
}

func (p *pass) walk(ctx context.Context) error {
	if err := p.check(); err != nil {
		return err
	}
	p.members = p.prepare()
	heads, err := p.heads(ctx)
	if err != nil {
		return err
	}
	p.at = readPosition(p.run.From)
	continues, err := p.continues(ctx, heads)
	if err != nil {
		return err
	}
	if !continues {
		return p.list(ctx, heads)
	}
	if p.isAt(heads) {
		return nil
	}
	if err := p.follow(ctx, heads); err != nil {
		return err
	}
	return p.emit(harvest.Event{Kind: harvest.Mark, Resume: p.at.checkpoint()})
}

// heads returns where the members' logs end.
func (p *pass) heads(ctx context.Context) ([]websync.Head, error) {
	heads := make([]websync.Head, len(p.members.logs))
	for i := range heads {
		var err error
		if heads[i], err = p.members.logs[i].catalog.Head(ctx); err != nil {
			return nil, p.failed(i, err)
		}
	}
	return heads, nil
}

// failed names a member that an error of a log comes from.
func (p *pass) failed(log int, err error) error {
	return p.Members[p.members.logs[log].members[0]].failed(err)
}

// moveTo makes heads the position.
func (p *pass) moveTo(heads []websync.Head) {
	p.at = position{p.options(), make([]cursor, len(heads))}
	for i, h := range heads {
		p.at.Logs[i] = cursor{p.members.sourcesOf(i), h.Generation, h.Last, h.LastTime}
	}
}

// sourcesOf returns a digest of the sources of a log's members.
func (ms *members) sourcesOf(log int) string {
	var b []byte
	for _, i := range ms.logs[log].members {
		b = appendString(b, ms.list[i].Source)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

func (p *pass) isAt(heads []websync.Head) bool {
	for i, h := range heads {
		if p.at.Logs[i].Seq != h.Last {
			return false
		}
	}
	return true
}

// continues reports whether the position is one of these members and their logs continue
// from it.
func (p *pass) continues(ctx context.Context, heads []websync.Head) (bool, error) {
	if len(p.at.Logs) != len(heads) || p.at.Options != p.options() {
		return false, nil
	}
	for i, h := range heads {
		c := &p.at.Logs[i]
		if c.Sources != p.members.sourcesOf(i) || c.Generation != h.Generation {
			return false, nil
		}
		ok, err := c.isIn(ctx, p.members.logs[i].catalog)
		if err != nil {
			return false, p.failed(i, err)
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}

// isIn reports whether the log has the cursor's entry. A Store that was restored or
// replaced has another entry there, or none.
func (c *cursor) isIn(ctx context.Context, log websync.Catalog) (bool, error) {
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

// list yields everything there is. Heads are the ends of the logs before. It first
// discards the position: if the listing is interrupted and the list of members returns to
// what it was, their logs would not contain what the listing has added.
func (p *pass) list(ctx context.Context, heads []websync.Head) error {
	if err := p.emit(harvest.Event{Kind: harvest.Mark, Resume: position{}.checkpoint()}); err != nil {
		return err
	}
	var total int64
	for k, h := range heads {
		for _, i := range p.members.logs[k].members {
			total += h.Live[p.Members[i].Source]
		}
	}
	p.run.Expect(total)
	p.listing = true
	p.moveTo(heads)
	if err := p.emit(harvest.Event{Kind: harvest.SnapshotStart}); err != nil {
		return err
	}
	for i := range p.Members {
		if err := p.listMember(ctx, i); err != nil {
			return err
		}
	}
	return p.endList(ctx)
}

// endList yields what changed while the members were listed, and ends the snapshot. An id
// that moved from one member to another may have been in neither when it was listed;
// without its change the snapshot would delete it.
func (p *pass) endList(ctx context.Context) error {
	heads, err := p.heads(ctx)
	if err != nil {
		return err
	}
	continues, err := p.continues(ctx, heads)
	if err != nil {
		return err
	}
	if !continues {
		if err := p.emit(harvest.Event{Kind: harvest.Problem, Err: errCompacted}); err != nil {
			return err
		}
		return p.emit(harvest.Event{Kind: harvest.SnapshotEnd})
	}
	if err := p.follow(ctx, heads); err != nil {
		return err
	}
	return p.emit(harvest.Event{Kind: harvest.SnapshotEnd, Complete: true, Options: p.options(), Resume: p.at.checkpoint()})
}

// listMember yields the records that a member owns.
func (p *pass) listMember(ctx context.Context, i int) error {
	return p.owners(ctx, i, func(id string, owner int, item *websync.Item) error {
		if owner != i {
			return nil
		}
		return p.emit(p.members.list[i].put(id, item))
	})
}

// owners calls see with each live record of a member, its id in the union, and the owner of
// that.
func (p *pass) owners(ctx context.Context, i int, see func(id string, owner int, item *websync.Item) error) error {
	m := &p.Members[i]
	batch, size := make([]websync.Item, 0, batchSize), 0
	for item, err := range m.Catalog.Resources(ctx, websync.Range{Sources: []string{m.Source}}) {
		if err != nil {
			return m.failed(err)
		}
		batch, size = append(batch, item), size+item.Resource.Size()
		if len(batch) < batchSize && size < batchBytes {
			continue
		}
		if err := p.ownersOf(ctx, i, batch, see); err != nil {
			return err
		}
		clear(batch)
		batch, size = batch[:0], 0
	}
	return p.ownersOf(ctx, i, batch, see)
}

// ownersOf is owners for some records.
func (p *pass) ownersOf(ctx context.Context, i int, batch []websync.Item, see func(string, int, *websync.Item) error) error {
	var ids []string
	var listed []websync.Item
	for n := range batch {
		if id, ok := p.members.published(&p.members.list[i], batch[n].Resource.ID); ok {
			ids, listed = append(ids, id), append(listed, batch[n])
		}
	}
	all, err := p.members.lookup(ctx, ids, i, listed, func(int, int, *websync.Item) {})
	if err != nil {
		return err
	}
	for n, id := range ids {
		if err := see(id, all[n].owner, &listed[n]); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// An entry is one entry of a member's log.
type entry struct {
	member int
	id     string // in the union
	at     time.Time
}

// follow yields what the members' logs have between the position and heads, and moves the
// position there.
func (p *pass) follow(ctx context.Context, heads []websync.Head) error {
	logs := make([]iter.Seq2[websync.Item, error], len(heads))
	for i, h := range heads {
		logs[i] = p.log(ctx, i, h.Last)
	}
	batch, size := make([]entry, 0, batchSize), 0
	for item, err := range mergeLogs(logs) {
		if err != nil {
			return p.failed(item.from, err)
		}
		m := p.members.logs[item.from].memberOf(&item.Item)
		if id, ok := p.members.published(&p.members.list[m], item.Resource.ID); ok {
			batch = append(batch, entry{m, id, item.Time})
		}
		at := &p.at.Logs[item.from]
		at.Seq, at.Time = item.Seq, item.Time
		size += item.Resource.Size()
		if len(batch) < batchSize && size < batchBytes {
			continue
		}
		if err := p.followBatch(ctx, batch); err != nil {
			return err
		}
		batch, size = batch[:0], 0
	}
	p.moveTo(heads)
	return p.followBatch(ctx, batch)
}

// memberOf returns the member of an entry.
func (l *memberLog) memberOf(item *websync.Item) int {
	if m, ok := l.of[item.Source]; ok {
		return m
	}
	return l.members[0] // the only one, in a Catalog that does not name it
}

// log returns what a log has of its members between the position and an entry.
func (p *pass) log(ctx context.Context, i int, until websync.Seq) iter.Seq2[websync.Item, error] {
	l, at := &p.members.logs[i], &p.at.Logs[i]
	if at.Seq == until {
		return func(func(websync.Item, error) bool) {}
	}
	return l.catalog.Changes(ctx, websync.Range{
		Sources: slices.Sorted(maps.Keys(l.of)), Generation: at.Generation, After: at.Seq, Until: until,
	})
}

// followBatch yields the present state of the ids of some entries. It skips an entry if
// its member has a later one of the id, which is still to be read.
func (p *pass) followBatch(ctx context.Context, batch []entry) error {
	ids := make([]string, len(batch))
	for n := range batch {
		ids[n] = batch[n].id
	}
	done := map[string]bool{}
	skip := make([]bool, len(batch))
	all, err := p.members.lookup(ctx, ids, none, nil, func(member, n int, item *websync.Item) {
		skip[n] = skip[n] || member == batch[n].member && item.Time.After(batch[n].at)
	})
	if err != nil {
		return err
	}
	var events []harvest.Event
	for n, e := range batch {
		if done[e.id] || skip[n] {
			continue
		}
		done[e.id] = true
		if o := &all[n]; o.owner >= 0 {
			events = append(events, p.members.list[o.owner].put(e.id, &o.item))
		} else {
			events = append(events, harvest.Event{Kind: harvest.Delete, Resource: websync.Resource{ID: e.id}})
		}
	}
	if len(events) > 0 && !p.listing {
		events[len(events)-1].Resume = p.at.checkpoint()
	}
	for _, ev := range events {
		if err := p.emit(ev); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// put returns the event for a record that the member owns, with its id in the union.
func (m *member) put(id string, item *websync.Item) harvest.Event {
	ev := harvest.Event{Kind: harvest.Put, Resource: item.Resource, Tag: m.tag(item)}
	ev.Resource.ID = id
	ev.Resource.Modified = websync.Datetime{} // Get sets it
	return ev
}

// tag identifies a state of a record of the member.
func (m *member) tag(item *websync.Item) string {
	sum := sha256.Sum256(binary.AppendVarint(appendString(nil, m.Source), item.Time.UnixMicro()))
	return fmt.Sprintf("%x", sum[:16])
}
