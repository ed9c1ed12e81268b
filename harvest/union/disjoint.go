package union

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// Disjoint checks that no id is live in two of the sources, so that they can be published
// together as one set: readers would see the records of such an id in turn. It returns
// nil or an [*OverlapError]; a [Source] makes one set of sources that overlap. Tombstones
// do not count, and a source that is named twice counts once.
//
// Disjoint reads the ids of the sources, side by side in their order: the
// memory that it takes does not depend on their number. It may or may not see what is
// committed meanwhile.
func Disjoint(ctx context.Context, store *harvest.Catalog, sources ...string) error {
	sources = distinct(sources)
	if len(sources) < 2 {
		return nil
	}
	ids := make([]iter.Seq2[string, error], len(sources))
	for i, source := range sources {
		ids[i] = store.IDs(ctx, source, "")
	}
	var found []Overlap
	var last merged[string]
	for at, err := range merge(ids, strings.Compare) {
		if err != nil {
			return fmt.Errorf("union: %s: %w", sources[at.from], err)
		}
		if id := at.value; id == last.value {
			if n := len(found); n == 0 || found[n-1].ID != id {
				if n == maxOverlaps {
					break
				}
				found = append(found, Overlap{ID: id, Sources: []string{sources[last.from]}})
			}
			overlap := &found[len(found)-1]
			overlap.Sources = append(overlap.Sources, sources[at.from])
		}
		last = at
	}
	if len(found) > 0 {
		return &OverlapError{found}
	}
	return ctx.Err()
}

// maxOverlaps is how many ids an OverlapError names.
const maxOverlaps = 5

// distinct returns the strings in their order, each once.
func distinct(all []string) (once []string) {
	for _, s := range all {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once
}

// An OverlapError names ids that are live in several sources.
type OverlapError struct {
	// Overlaps are the first ids, up to 5, in byte order.
	Overlaps []Overlap
}

// An Overlap is an id that is live in several sources.
type Overlap struct {
	ID      string
	Sources []string // two or more, in the order in which they were given to Disjoint
}

// Error returns, for example, "union: an id is live in more than one source:
// "https://example.org/a" in one, two". It leaves out secrets in URLs, as
// [websync.RedactURL] does.
func (e *OverlapError) Error() string {
	var b strings.Builder
	b.WriteString("union: an id is live in more than one source")
	for i, o := range e.Overlaps {
		separator := ": "
		if i > 0 {
			separator = "; "
		}
		fmt.Fprintf(&b, "%s%.200q in", separator, websync.RedactURL(o.ID))
		for i, source := range o.Sources {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(" " + websync.RedactURL(source))
		}
	}
	return b.String()
}
