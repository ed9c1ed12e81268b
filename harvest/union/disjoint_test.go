package union_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// fill harvests each source's names, given as "a b c", into one store. It deletes a name
// with a minus again.
func fill(t require.TestingT, db harvest.Store, sources map[string]string) *harvest.Catalog {
	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(db), Bodies: harvest.SkipBodies}
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
	return h.Catalog
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
			err := union.Disjoint(t.Context(), fill(t, memstore.New(), test.sources), test.asked...)
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

// TestDisjointOfAStoreThatFails: the error names a source, whichever read fails.
func TestDisjointOfAStoreThatFails(t *testing.T) {
	db := memstore.New()
	fill(t, db, map[string]string{"a": "n1 n2", "b": "n3", "c": "n4"})
	for n := 1; ; n++ {
		views := 0
		c := harvest.NewCatalog(&testkit.Watched{Store: db, Viewing: func(context.Context) error {
			if views++; views == n {
				return testkit.ErrCut
			}
			return nil
		}})
		err := union.Disjoint(t.Context(), c, "a", "b", "c")
		if views < n {
			require.NoError(t, err)
			require.Greater(t, n, 3)
			break
		}
		require.ErrorIs(t, err, testkit.ErrCut)
		require.Regexp(t, "^union: [abc]: ", err.Error())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, union.Disjoint(ctx, harvest.NewCatalog(db), "a", "c"), context.Canceled)
}

// Sources that have an id in common can't be published as one set.
func ExampleDisjoint() {
	ctx := context.Background()
	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New())}
	for source, ids := range map[string][]string{"laws": {"urn:1", "urn:2"}, "cases": {"urn:3"}, "archive": {"urn:1"}} {
		var events []harvest.Event
		for _, id := range ids {
			events = append(events, harvest.Event{Resource: websync.Resource{ID: id}})
		}
		if _, err := h.Run(ctx, harvest.Of(source, events...)); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(union.Disjoint(ctx, h.Catalog, "laws", "cases"))

	err := union.Disjoint(ctx, h.Catalog, "laws", "cases", "archive")
	if overlap, ok := errors.AsType[*union.OverlapError](err); ok {
		fmt.Println(overlap.Overlaps[0].ID, "is in", overlap.Overlaps[0].Sources)
	}
	// Output:
	// <nil>
	// urn:1 is in [laws archive]
}
