// Package union makes one set of several: a [Source] that merges sources which may have
// ids in common, and [Disjoint], which checks that they have none.
package union

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A Source is the union of several members, which may have ids in common: it has a record
// for each id that is live in any of them. A Harvester keeps it in a Store, from where it
// is published like every other source. That may be the Store of the members; a Source
// must not be a member of itself.
//
// If several members have an id live, the first of them wins: its description and its
// bodies are the record, and those of the others are not read. When it deletes the id,
// the next one wins; the id is gone when no member has it any more.
//
// The first run lists all members, in a snapshot. Later runs read their logs and yield,
// for each id that changed, its present state. The events state no times: the times of
// several publishers or Stores do not say which state is the present one, so the order
// decides. Clocks need not agree, and the Modified of a record may go back. Only Get sets
// Modified: a Harvester with SkipBodies keeps none.
//
// Members are listed again when their list has changed, or when a log does not continue
// where the last run ended: its Store was compacted, restored or replaced. Deletions of
// what only a removed member had are withheld until Harvester.Approve.
//
// Bodies are copied from the member's Catalog and verified. A body whose bytes the member
// did not keep, since it only verified them, is not in the union either.
type Source struct {
	// Name is the Key. Required.
	Name string
	// Members are the sets, in order of precedence. At least one is required.
	Members []Member
}

// A Member is one of the sets of a Source: one source of a Catalog. Both fields are
// required.
type Member struct {
	Catalog websync.Catalog
	Source  string
}

var _ harvest.Getter = (*Source)(nil)

// Key returns u.Name.
func (u *Source) Key() string { return u.Name }

// Events yields what changed in the members since run.From, or everything there is.
func (u *Source) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		p := &pass{Source: u, run: run.WithDefaults(), yield: yield}
		if err := p.walk(ctx); err != nil && !errors.Is(err, errStopped) {
			yield(harvest.Event{}, err)
		}
	}
}

// Get copies the bodies and the description from the member that has the resource now. If
// they have changed since the event, a later run yields that change again. If no member
// has the resource any more, the error is websync.ErrNotFound, and a later run yields the
// deletion.
func (u *Source) Get(ctx context.Context, job *harvest.Job) error {
	records, err := lookup(ctx, u.Members, []string{job.Resource.ID})
	if err != nil {
		return err
	}
	i := records.winner(0)
	if i == len(u.Members) {
		return fmt.Errorf("in no member any more: %w", websync.ErrNotFound)
	}
	item := &records[i][0]
	job.Resource, job.Tag = item.Resource, u.tag(records, i, 0)
	for _, b := range item.Bodies {
		if b.Key.IsZero() {
			continue
		}
		if err := copyBody(ctx, job, u.Members[i].Catalog, b); err != nil {
			return u.Members[i].failed(fmt.Errorf("body %q: %w", b.Name, err))
		}
	}
	return nil
}

// copyBody keeps a body of a Catalog, without reading it if the job holds the same.
func copyBody(ctx context.Context, job *harvest.Job, from websync.Catalog, b websync.Body) error {
	if job.Held != nil {
		if held, ok := job.Held.Body(b.Name); ok && reflect.DeepEqual(held, b) {
			_, err := job.Reuse(b.Name)
			return err
		}
	}
	link := b.Link
	if _, ok := link.Digests.Get(b.Key.Algorithm); !ok {
		link.Digests = append(slices.Clone(link.Digests), b.Key)
	}
	r, err := from.Open(ctx, b)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = job.Keep(ctx, b.Name, link, r)
	return err
}

// check returns what is wrong with the fields.
func (u *Source) check() error {
	if len(u.Members) == 0 {
		return errors.New("union: Source.Members is empty; at least one is required")
	}
	for i, m := range u.Members {
		if m.Catalog == nil || m.Source == "" {
			return fmt.Errorf("union: Source.Members[%d] must have a Catalog and a Source", i)
		}
	}
	return nil
}

// options is a fingerprint of the settings that decide which ids there are: the members,
// in any order.
func (u *Source) options() string {
	var sources []string
	for _, m := range u.Members {
		sources = append(sources, m.Source)
	}
	slices.Sort(sources)
	var b []byte
	for _, s := range sources {
		b = appendString(b, s)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// failed names the member that an error comes from.
func (m *Member) failed(err error) error { return fmt.Errorf("member %s: %w", m.Source, err) }

// records are the members' records of some ids: by member, then by id.
type records [][]websync.Item

// lookup returns the members' records of ids.
func lookup(ctx context.Context, members []Member, ids []string) (records, error) {
	all := make(records, len(members))
	for i := range members {
		m := &members[i]
		items, err := m.Catalog.Get(ctx, m.Source, ids)
		if err == nil && len(items) != len(ids) {
			err = fmt.Errorf("Catalog.Get returned %d records for %d ids", len(items), len(ids))
		}
		if err != nil {
			return nil, m.failed(err)
		}
		all[i] = items
	}
	return all, nil
}

// winner returns the first member that has the id with this number live; len(r) if none
// has.
func (r records) winner(id int) int {
	for i := range r {
		if item := &r[i][id]; item.Resource.ID != "" && item.Kind != websync.Deleted {
			return i
		}
	}
	return len(r)
}

// put returns the event for a member's record of the id with this number.
func (u *Source) put(all records, member, id int) harvest.Event {
	ev := harvest.Event{Kind: harvest.Put, Resource: all[member][id].Resource, Tag: u.tag(all, member, id)}
	ev.Resource.Modified = websync.Datetime{} // Get sets it
	return ev
}

// tag identifies the states that decide which member wins: of its own record, and of
// those of the members before it, which do not have the id live. The same states come
// back only with the same list of members.
func (u *Source) tag(all records, member, id int) string {
	var b []byte
	for i := range all[:member+1] {
		b = appendString(b, u.Members[i].Source)
		b = binary.AppendVarint(b, all[i][id].Time.UnixMicro())
	}
	sum := sha256.Sum256(b)
	return fmt.Sprintf("%x", sum[:16])
}
