package union

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/websync-go/websync"
)

// A Conflict counts the ids that one member has live and that are not its own.
type Conflict struct {
	// Owner is the Source of the member that owns them. It is empty if no member does: they
	// are outside the Scope of Other, or the member in whose scope they are has deleted them.
	Owner   string `json:"owner"`
	Other   string `json:"other"` // the Source of the member that states them, too
	IDs     int64  `json:"ids"`
	Example string `json:"example"` // the first of these ids
}

// String returns, for example, `12 ids of "https://a.example/feed" are those of
// "https://b.example/feed", such as "https://b.example/1"`, without secrets in URLs.
func (c Conflict) String() string {
	other, example := websync.RedactURL(c.Other), websync.RedactURL(c.Example)
	if c.Owner == "" {
		return fmt.Sprintf("%d ids of %q are not for it to state, such as %.200q", c.IDs, other, example)
	}
	return fmt.Sprintf("%d ids of %q are those of %q, such as %.200q", c.IDs, other, websync.RedactURL(c.Owner), example)
}

// Conflicts counts the ids that members have live and do not own, by owner and other
// member. There are none if the members can be published side by side, without a Source:
// otherwise readers would see the records of such an id in turn.
//
// It reads the live records of all members, in memory that does not depend on their number,
// and may or may not see what is committed meanwhile.
func (u *Source) Conflicts(ctx context.Context) ([]Conflict, error) {
	if err := u.check(); err != nil {
		return nil, err
	}
	p := &pass{Source: u, members: u.prepare()}
	type pair struct{ owner, other int }
	found := map[pair]*Conflict{}
	for i := range u.Members {
		err := p.owners(ctx, i, func(id string, owner int, _ *websync.Item) error {
			if owner == i {
				return nil
			}
			c := found[pair{owner, i}]
			if c == nil {
				c = &Conflict{Other: u.Members[i].Source, Example: id}
				if owner >= 0 {
					c.Owner = u.Members[owner].Source
				}
				found[pair{owner, i}] = c
			}
			c.IDs++
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("union: %w", err)
		}
	}
	all := slices.Collect(maps.Values(found))
	slices.SortFunc(all, func(a, b *Conflict) int {
		return cmp.Or(cmp.Compare(b.IDs, a.IDs), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Other, b.Other))
	})
	list := make([]Conflict, len(all))
	for i, c := range all {
		list[i] = *c
	}
	return list, nil
}
