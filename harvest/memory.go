package harvest

import (
	"context"
	"encoding/json"
)

// A memory is one value that the engine keeps of a source in the State.
type memory string

const (
	alikeState      memory = "alike"      // an alikeMemory
	beliefState     memory = "belief"     // a belief
	choiceState     memory = "choice"     // the choice of the last run
	documentsState  memory = "documents"  // documentNotes, in binary form
	guardState      memory = "guard"      // a guardMemory
	listingState    memory = "listing"    // a listingNote
	membershipState memory = "membership" // a membership
	workState       memory = "work"       // the handList of the workers
)

// of returns the key of the memory of a source.
func (m memory) of(source string) string { return "harvest/" + string(m) + "/" + source }

// recall reads a memory of the source; it is zero if there is none that can be read.
func recall[V any](ctx context.Context, r *run, m memory) (v V, err error) {
	data, err := r.catalog.State(ctx, m.of(r.key))
	if err != nil {
		return v, &StoreError{err}
	}
	if json.Unmarshal(data, &v) != nil {
		return *new(V), nil
	}
	return v, nil
}

// set sets a memory of the source. It consists of numbers, times and strings.
func (b *batch) set(m memory, value any) {
	if b.State == nil {
		b.State = map[string][]byte{}
	}
	b.State[m.of(b.Source)], _ = json.Marshal(value)
}
