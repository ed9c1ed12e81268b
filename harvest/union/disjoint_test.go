package union_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/internal/testkit"
)

// fill harvests each source's names, given as "a b c", into one store. It deletes a name
// with a minus again.
func fill(t require.TestingT, sources map[string]string) harvest.Store {
	h := &harvest.Harvester{Store: memstore.New(), Bodies: harvest.SkipBodies}
	for source, names := range sources {
		var events []harvest.Event
		for name := range strings.FieldsSeq(names) {
			name, gone := strings.CutPrefix(name, "-")
			if events = append(events, put(name, day(1))); gone {
				events = append(events, del(name, day(2)))
			}
		}
		_, err := h.Run(context.Background(), harvest.Of(source, events...))
		require.NoError(t, err)
	}
	return h.Store
}

func TestDisjoint(t *testing.T) {
	many := "n1 n2 n3 n4 n5 n6 n7"
	for name, test := range map[string]struct {
		sources map[string]string
		asked   []string
		want    []union.Overlap
	}{
		"none":              {},
		"one":               {sources: map[string]string{"a": "x y"}, asked: []string{"a"}},
		"unknown":           {sources: map[string]string{"a": "x y"}, asked: []string{"a", "b"}},
		"disjoint":          {sources: map[string]string{"a": "v x", "b": "w y", "c": "z"}, asked: []string{"a", "b", "c"}},
		"named twice":       {sources: map[string]string{"a": "x y"}, asked: []string{"a", "a"}},
		"not asked for":     {sources: map[string]string{"a": "x", "b": "y", "c": "x"}, asked: []string{"a", "b"}},
		"tombstone":         {sources: map[string]string{"a": "x -y", "b": "-x y"}, asked: []string{"a", "b"}},
		"tombstone between": {sources: map[string]string{"a": "x", "b": "-x", "c": "x"}, asked: []string{"a", "b", "c"}, want: []union.Overlap{{ID: base + "x", Sources: []string{"a", "c"}}}},
		"two":               {sources: map[string]string{"a": "u x", "b": "v x", "c": "w"}, asked: []string{"c", "b", "a"}, want: []union.Overlap{{ID: base + "x", Sources: []string{"b", "a"}}}},
		"three":             {sources: map[string]string{"a": "x y", "b": "x", "c": "x y"}, asked: []string{"a", "b", "c"}, want: []union.Overlap{{ID: base + "x", Sources: []string{"a", "b", "c"}}, {ID: base + "y", Sources: []string{"a", "c"}}}},
		"the first":         {sources: map[string]string{"a": many, "b": many}, asked: []string{"a", "b"}, want: overlaps("n1", "n2", "n3", "n4", "n5")},
		"of the first all":  {sources: map[string]string{"a": "n1 n2 n3 n4 n5", "b": "n1 n2 n3 n4 n5"}, asked: []string{"a", "b"}, want: overlaps("n1", "n2", "n3", "n4", "n5")},
	} {
		t.Run(name, func(t *testing.T) {
			err := union.Disjoint(t.Context(), fill(t, test.sources), test.asked...)
			if test.want == nil {
				require.NoError(t, err)
				return
			}
			var overlap *union.OverlapError
			require.ErrorAs(t, err, &overlap)
			assert.Equal(t, test.want, overlap.Overlaps)
		})
	}
}

// overlaps are names that a and b have.
func overlaps(names ...string) (all []union.Overlap) {
	for _, name := range names {
		all = append(all, union.Overlap{ID: base + name, Sources: []string{"a", "b"}})
	}
	return all
}

func TestOverlapErrorText(t *testing.T) {
	err := &union.OverlapError{Overlaps: []union.Overlap{
		{ID: base + "x", Sources: []string{"a", "c"}},
		{ID: "\n" + strings.Repeat("y", 500), Sources: []string{"a", "b"}},
	}}
	secret := &union.OverlapError{Overlaps: []union.Overlap{{ID: base + "x?token=s3cret", Sources: []string{base + "?key=s3cret", "https://u:s3cret@example.org/"}}}}
	assert.NotContains(t, secret.Error(), "s3cret")
	want := `union: an id is live in more than one source: "https://example.org/x" in a, c; "\n` + strings.Repeat("y", 199) + `" in a, b`
	assert.Equal(t, want, err.Error())
}

// openRecords counts the iterators that are under way, and fails in one source after some
// records.
type openRecords struct {
	harvest.Store
	open int
	most int    // records read
	fail string // this source
}

func (o *openRecords) Briefs(ctx context.Context, source, after string) iter.Seq2[harvest.Brief, error] {
	return func(yield func(harvest.Brief, error) bool) {
		o.open++
		defer func() { o.open-- }()
		for rec, err := range o.Store.Briefs(ctx, source, after) {
			if o.most++; source == o.fail {
				yield(harvest.Brief{}, testkit.ErrCut)
				return
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

func TestDisjointReleases(t *testing.T) {
	store := &openRecords{Store: fill(t, map[string]string{"a": "n1 n2 n3 n4 n5 n6 n7 n8 n9", "b": "n1 n2 n3 n4 n5 n6 n7 n8 n9", "c": "x"})}
	var overlap *union.OverlapError
	require.ErrorAs(t, union.Disjoint(t.Context(), store, "a", "b", "c"), &overlap)
	assert.Zero(t, store.open, "stopped when the answer is known")
	assert.Less(t, store.most, 16)

	for _, fail := range []string{"a", "b"} {
		store.fail = fail
		err := union.Disjoint(t.Context(), store, "a", "b")
		require.ErrorIs(t, err, testkit.ErrCut)
		assert.ErrorContains(t, err, "union: "+fail+": ")
		assert.Zero(t, store.open)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, union.Disjoint(ctx, store.Store, "a", "c"), context.Canceled)
}

// Sources that have an id in common can't be published as one set.
func ExampleDisjoint() {
	ctx := context.Background()
	h := &harvest.Harvester{Store: memstore.New()}
	for source, ids := range map[string][]string{"laws": {"urn:1", "urn:2"}, "cases": {"urn:3"}, "archive": {"urn:1"}} {
		var events []harvest.Event
		for _, id := range ids {
			events = append(events, harvest.Event{Resource: websync.Resource{ID: id}})
		}
		if _, err := h.Run(ctx, harvest.Of(source, events...)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(union.Disjoint(ctx, h.Store, "laws", "cases"))

	err := union.Disjoint(ctx, h.Store, "laws", "cases", "archive")
	if overlap, ok := errors.AsType[*union.OverlapError](err); ok {
		fmt.Println(overlap.Overlaps[0].ID, "is in", overlap.Overlaps[0].Sources)
	}
	// Output:
	// <nil>
	// urn:1 is in [laws archive]
}
