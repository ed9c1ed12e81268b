// Package union makes one set of several that may have ids in common: for each id, one of
// them owns it, so that a relay publishes one record of each id. A [Source] merges the
// members by this rule, and counts the [Conflict]s.
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
// If several members state an id, one of them owns it: its description and its bodies are
// the record, and those of the others are not read.
//
//   - Only a member that has the id in its scope may own it, if there is one: see
//     [Member]. While none of these has the id live, it is gone, whatever others state.
//   - Of those that remain and have it live, the one with the highest Rank owns it, then
//     the one that had it first, or, if the members have several Catalogs, the first of
//     Members.
//
// When the owner deletes the id, the next one owns it; the id is gone when no member that
// may own it has it any more.
//
// An id that is no IRI, such as the number of an item in a feed, means something within its
// member only. Its record has the id of [websync.TagURI], which no other member can state.
//
// The first run lists all members, in a snapshot. Later runs read their logs and yield,
// for each id that changed, its present state. The events state no times: the times of
// several publishers or Stores do not say which state is the present one, so the order
// decides. Clocks need not agree, and the Modified of a record may go back. Only Get sets
// Modified: a Harvester with SkipBodies keeps none.
//
// Members are listed again when their list, scopes, hosts or ranks have changed, or
// when a log does not continue where the last run ended: its Store was compacted, restored
// or replaced. Deletions of what only a removed member had, or what a scope has excluded
// since, are withheld until Harvester.Approve.
//
// Bodies are copied from the member's Catalog and verified. A body whose bytes the member
// did not keep, since it only verified them, is not in the union either.
type Source struct {
	// Name is the Key. Required.
	Name string
	// Members are the sets. At least one is required.
	Members []Member
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

// Get copies the bodies and the description from the member that owns the resource now. If
// they have changed since the event, a later run yields that change again. If no member
// owns the resource any more, the error is websync.ErrNotFound, and a later run yields the
// deletion.
func (u *Source) Get(ctx context.Context, job *harvest.Job) error {
	members := u.prepare()
	all, err := members.owners(ctx, job.Resource.ID)
	if err != nil {
		return err
	}
	owner, item := all[0].owner, &all[0].item
	if owner < 0 {
		return fmt.Errorf("in no member any more: %w", websync.ErrNotFound)
	}
	job.Tag = members.list[owner].tag(item)
	id := job.Resource.ID
	job.Resource = item.Resource
	job.Resource.ID = id
	for _, b := range item.Bodies {
		if b.Key.IsZero() {
			continue
		}
		if err := copyBody(ctx, job, u.Members[owner].Catalog, b); err != nil {
			return u.Members[owner].failed(fmt.Errorf("body %q: %w", b.Name, err))
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
	for i := range u.Members {
		m := &u.Members[i]
		if m.Catalog == nil || m.Source == "" {
			return fmt.Errorf("union: Source.Members[%d] must have a Catalog and a Source", i)
		}
		for _, prefix := range m.Scope {
			if err := CheckScope(prefix); err != nil {
				return fmt.Errorf("union: Source.Members[%d]: %w", i, err)
			}
		}
	}
	return nil
}

// options is a fingerprint of the settings that decide which ids there are and who owns
// them. The order of the members is not part of it.
func (u *Source) options() string {
	var members []string
	for _, m := range u.Members {
		b := binary.AppendVarint(appendString(nil, m.Source), int64(m.Rank))
		for _, prefix := range m.Scope {
			b = appendString(b, prefix)
		}
		if host := m.home(); host != httpHost(m.Source) {
			b = appendString(appendString(b, ""), host)
		}
		members = append(members, string(b))
	}
	slices.Sort(members)
	var b []byte
	for _, m := range members {
		b = appendString(b, m)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
