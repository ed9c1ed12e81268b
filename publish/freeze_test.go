package publish

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish/catalogtest"
)

// A shelf is a Store of two sources that changes at random, always in the same way.
type shelf struct {
	*testkit.Store
	rnd *rand.Rand
	ids int
	n   int // changes
}

func newShelf(t testing.TB, ids, changes int) *shelf {
	s := &shelf{Store: testkit.NewStore(t), rnd: rand.New(rand.NewPCG(1, 2)), ids: ids}
	for range changes {
		s.change()
	}
	return s
}

// change creates, updates or deletes a resource.
func (s *shelf) change() {
	s.n++
	source, id := "own", fmt.Sprintf("https://example.org/%d", s.rnd.IntN(s.ids))
	if s.rnd.IntN(3) == 0 {
		source, id = "other", fmt.Sprintf("urn:x:%d", s.rnd.IntN(s.ids))
	}
	if s.rnd.IntN(3) == 0 {
		s.Delete(source, id)
		return
	}
	text := fmt.Sprint("text ", s.n)
	key := websync.SHA256([]byte(text))
	s.Fill(source, []string{text}, websync.Item{
		Resource: websync.Resource{ID: id, Title: text},
		Bodies:   []websync.Body{{Name: "content", Link: websync.Link{Type: "text/plain", Length: int64(len(text))}, Key: key}},
	})
}

func (s *shelf) allIDs() (ids []string) {
	for i := range s.ids {
		ids = append(ids, fmt.Sprintf("https://example.org/%d", i), fmt.Sprintf("urn:x:%d", i))
	}
	return ids
}

// seen is everything that a Catalog shows, as far as an error.
func seen(ctx context.Context, c websync.Catalog, ids []string) (all []any, err error) {
	collect := func(items iter.Seq2[websync.Item, error]) []websync.Item {
		var found []websync.Item
		for item, e := range items {
			if err = errors.Join(err, e); e == nil {
				found = append(found, item)
			}
		}
		return found
	}
	head, e := c.Head(ctx)
	if e != nil {
		return nil, e
	}
	all = append(all, head)
	for _, r := range []websync.Range{
		{}, {Sources: []string{"own"}}, {Sources: []string{"other"}, After: 2}, {After: 1, Until: 4}, {After: 3, Until: 5000}, {After: 5000},
	} {
		all = append(all, collect(c.Resources(ctx, r)), collect(c.Changes(ctx, r)))
	}
	for _, source := range []string{"own", "other"} {
		items, e := c.Get(ctx, source, ids)
		err = errors.Join(err, e)
		all = append(all, items)
	}
	for _, item := range collect(c.Resources(ctx, websync.Range{})) {
		for _, b := range item.Bodies {
			r, e := c.Open(ctx, b)
			if err = errors.Join(err, e); e == nil {
				err = errors.Join(err, r.Close())
			}
		}
	}
	return all, err
}

// freeze freezes a shelf. Before each of the next calls of the Catalog below, and before
// each item that it yields, it calls before with the number of the call, from 1.
func freeze(t testing.TB, s *shelf, before func(method string, n int)) websync.Catalog {
	n := -1 // the first call is that of Freeze
	c, err := Freeze(t.Context(), &testkit.Catalog{Catalog: s, Before: func(method string, _ int) error {
		if n++; n > 0 {
			before(method, n)
		}
		return nil
	}})
	require.NoError(t, err)
	return c
}

// A frozen Catalog stays as it was, at whichever call of the Catalog below it changes.
func TestFreeze(t *testing.T) {
	for name, changes := range map[string]int{"an empty Catalog": 0, "some resources": 25} {
		t.Run(name, func(t *testing.T) {
			for at, last := 1, 1; at <= last; at++ {
				s := newShelf(t, 8, changes)
				want, err := seen(t.Context(), s, s.allIDs())
				require.NoError(t, err)
				got, err := seen(t.Context(), freeze(t, s, func(_ string, n int) {
					if last = n; n == at {
						for range 10 {
							s.change()
						}
					}
				}), s.allIDs())
				require.NoError(t, err)
				require.Equal(t, want, got, "changes at call %d", at)
			}
		})
	}
}

// A frozen Catalog states the outlines that there were.
func TestFreezeOutlines(t *testing.T) {
	s := newShelf(t, 100, 250)
	outlines := func(c websync.Catalog) (all []websync.Outline) {
		for o, err := range c.(websync.Outliner).Outlines(t.Context(), websync.Range{Generation: 1}) {
			require.NoError(t, err)
			if o.Bytes = 0; o.Deleted {
				o.Links = false
			}
			all = append(all, o)
		}
		return all
	}
	want := outlines(s)
	require.NotEmpty(t, want)
	c, err := Freeze(t.Context(), s)
	require.NoError(t, err)
	for range 300 {
		s.change()
	}
	require.Equal(t, want, outlines(c))
	require.NotEqual(t, want, outlines(s))
	empty, err := Freeze(t.Context(), testkit.NewStore(t))
	require.NoError(t, err)
	require.Empty(t, outlines(empty))
}

// Many resources change while they are listed, or are all deleted.
func TestFreezeManyResources(t *testing.T) {
	for name, change := range map[string]func(s *shelf, method string, n int){
		"change": func(s *shelf, method string, _ int) {
			if method != "Changes" { // else the log would grow while it is read
				s.change()
			}
		},
		"are deleted": func(s *shelf, _ string, n int) {
			for _, item := range testkit.All(t, s.Resources(t.Context(), websync.Range{})) {
				s.Delete(item.Source, item.Resource.ID)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t, 2*frozenPage, 4*frozenPage)
			want, err := seen(t.Context(), s, s.allIDs())
			require.NoError(t, err)
			got, err := seen(t.Context(), freeze(t, s, func(method string, n int) { change(s, method, n) }), s.allIDs())
			require.NoError(t, err)
			require.True(t, reflect.DeepEqual(want, got)) // the difference may be long
		})
	}
}

// The result of Freeze is a Catalog.
func TestFreezeIsACatalog(t *testing.T) {
	catalogtest.Run(t, catalogtest.Options{Open: func(t testing.TB) websync.Catalog {
		s := newShelf(t, 8, 40)
		c, err := Freeze(t.Context(), s)
		require.NoError(t, err)
		for range 20 {
			s.change()
		}
		return c
	}})
}

// If the log is compacted, a frozen Catalog returns what it did before, or ErrConflict.
func TestFreezeOfACompactedLog(t *testing.T) {
	for at, last := 1, 1; at <= last; at++ {
		s := newShelf(t, 8, 25)
		want, err := seen(t.Context(), s, s.allIDs())
		require.NoError(t, err)
		got, err := seen(t.Context(), freeze(t, s, func(_ string, n int) {
			if last = n; n == at {
				s.change()
				_, err := s.Compact(t.Context())
				require.NoError(t, err)
			}
		}), s.allIDs())
		if err == nil {
			require.Equal(t, want, got, "compacted at call %d", at)
		} else {
			require.ErrorIs(t, err, websync.ErrConflict)
		}
	}
}

// A Catalog that does not know a Prior can't be frozen longer than it stays as it is.
func TestFreezeWithoutPriors(t *testing.T) {
	s := newShelf(t, 8, 25)
	c, err := Freeze(t.Context(), withoutPriors{s})
	require.NoError(t, err)
	_, err = seen(t.Context(), c, s.allIDs())
	require.NoError(t, err)
	for range 10 {
		s.change()
	}
	_, err = seen(t.Context(), c, s.allIDs())
	require.ErrorIs(t, err, websync.ErrConflict)
	_, err = Freeze(t.Context(), &testkit.Catalog{Catalog: s, Before: func(string, int) error { return errors.New("the disk") }})
	require.EqualError(t, err, "publish: the catalog: the disk")
}

type withoutPriors struct{ websync.Catalog }

func (c withoutPriors) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return func(yield func(websync.Item, error) bool) {
		for item, err := range c.Catalog.Changes(ctx, r) {
			item.Prior = 0
			if !yield(item, err) {
				return
			}
		}
	}
}
