package harvest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/websync-go/websync"
)

// A Union is a Source that makes one set of several that may have ids in common: a record
// for each id that is live in any of the members. A Harvester keeps it in a Store, from
// where it is published like every other source. That may be the Store of the members; a
// Union must not be a member of itself.
//
// Of an id that several members have live, the first of them speaks: its description and
// its bodies are the record, and the others' are not looked at. When it deletes the id,
// the next one speaks; the id is gone when no member has it any more.
//
// The first run lists all members, in a snapshot. Later ones read their logs and tell of
// each id that changed what the members say of it now. Its events state no times, since
// those of several publishers, or of several Stores, do not tell which state is the
// present one: the order decides. So clocks need not agree, and the record of an id may
// become one with an older Modified. Only Get brings the Modified: a Harvester that skips
// bodies keeps none.
//
// Members are listed anew when their list has changed, or when a log does not go on where
// it was left: its Store was compacted, restored or replaced. What only a member had that
// was taken off the list is withheld until Harvester.Approve.
//
// Bodies are copied from the member's Catalog and verified. A body that the member does
// not keep, since its bytes were only verified, is not in the union either.
type Union struct {
	// Name is the Key. Required.
	Name string
	// Members are the sets, those that take precedence first. At least one is required.
	Members []Member
}

// A Member is one of the sets of a Union: one source of a Catalog. Both fields are
// required.
type Member struct {
	Catalog websync.Catalog
	Source  string
}

var _ Getter = (*Union)(nil)

// Key returns u.Name.
func (u *Union) Key() string { return u.Name }

// Events tells what changed in the members since run.From, or everything there is.
func (u *Union) Events(ctx context.Context, run *Run) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		p := &unionPass{Union: u, run: run.WithDefaults(), yield: yield}
		if err := p.walk(ctx); err != nil && !errors.Is(err, errStopped) {
			yield(Event{}, err)
		}
	}
}

// Get obtains the bodies from the member that speaks for the resource now, and its
// description as it is now: if it has changed since it was told, its log will tell that
// again. If no member has the resource any more, the error is websync.ErrNotFound, and a
// log will tell that it is gone.
func (u *Union) Get(ctx context.Context, job *Job) error {
	said, err := ask(ctx, u.Members, []string{job.Resource.ID})
	if err != nil {
		return err
	}
	i := said.speaker(0)
	if i == len(u.Members) {
		return fmt.Errorf("in no member any more: %w", websync.ErrNotFound)
	}
	item := &said[i][0]
	job.Resource, job.Tag = item.Resource, u.tag(said, i, 0)
	for _, b := range item.Bodies {
		if b.Key.IsZero() {
			continue
		}
		if err := job.copyBody(ctx, u.Members[i].Catalog, b); err != nil {
			return u.Members[i].failed(fmt.Errorf("body %q: %w", b.Name, err))
		}
	}
	return nil
}

// copyBody keeps a body of a Catalog, without reading it if the same is held.
func (j *Job) copyBody(ctx context.Context, from websync.Catalog, b websync.Body) error {
	if j.Held != nil {
		if held, ok := j.Held.Body(b.Name); ok && bytes.Equal(description(nil).body(&held), description(nil).body(&b)) {
			_, err := j.Reuse(b.Name)
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
	_, err = j.Keep(ctx, b.Name, link, r)
	return err
}

// check returns what is wrong with the fields.
func (u *Union) check() error {
	if len(u.Members) == 0 {
		return errors.New("the union has no members")
	}
	for i, m := range u.Members {
		if m.Catalog == nil || m.Source == "" {
			return fmt.Errorf("member %d of the union needs a Catalog and a Source", i+1)
		}
	}
	return nil
}

// options is a fingerprint of what decides which ids are shown: the members, in whatever
// order.
func (u *Union) options() string {
	var sources []string
	for _, m := range u.Members {
		sources = append(sources, m.Source)
	}
	slices.Sort(sources)
	return fmt.Sprintf("%x", sha256.Sum256(description(nil).strings(sources...)))
}

// failed names the member that an error comes from.
func (m *Member) failed(err error) error { return fmt.Errorf("member %s: %w", m.Source, err) }

// answers are the members' records of some ids: by member, then by id.
type answers [][]websync.Item

// ask returns what the members have of ids.
func ask(ctx context.Context, members []Member, ids []string) (answers, error) {
	said := make(answers, len(members))
	for i := range members {
		m := &members[i]
		items, err := m.Catalog.Get(ctx, m.Source, ids)
		if err == nil && len(items) != len(ids) {
			err = fmt.Errorf("%d records for %d ids", len(items), len(ids))
		}
		if err != nil {
			return nil, m.failed(err)
		}
		said[i] = items
	}
	return said, nil
}

// speaker returns which member speaks for the id with this number; len(a): nobody does.
func (a answers) speaker(id int) int {
	for i := range a {
		if item := &a[i][id]; item.Resource.ID != "" && item.Kind != websync.Deleted {
			return i
		}
	}
	return len(a)
}

// put returns the event that tells what a member says of the id with this number.
func (u *Union) put(said answers, speaker, id int) Event {
	ev := Event{Kind: Put, Resource: said[speaker][id].Resource, Tag: u.tag(said, speaker, id)}
	ev.Resource.Modified = websync.Datetime{} // Get brings it
	return ev
}

// tag names the states of the records that make a member speak: its own, and those of the
// members before it, which have the id no more, or never had. They come back only when
// the list of members does.
func (u *Union) tag(said answers, speaker, id int) string {
	var d description
	for i := range said[:speaker+1] {
		d = d.strings(u.Members[i].Source)
		d = binary.AppendVarint(d, said[i][id].Time.UnixMicro())
	}
	sum := sha256.Sum256(d)
	return fmt.Sprintf("%x", sum[:16])
}

func (d description) body(b *websync.Body) description {
	return d.strings(b.Name, b.Key.Algorithm, b.Key.Sum).link(&b.Link)
}

// compareTimes orders the entries of several logs.
func compareTimes(a, b websync.Item) int { return a.Time.Compare(b.Time) }
