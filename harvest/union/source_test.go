package union_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// A library is a member of a union: a source in a Store, filled by hand.
type library struct {
	*harvest.Catalog
	source string
	now    *time.Time // of its publisher, not of the Store
}

func newLibrary(source string) *library {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &library{harvest.NewCatalog(memstore.New()), source, &now}
}

func (l *library) member() union.Member { return union.Member{Catalog: l.Catalog, Source: l.source} }

// beside returns another member in the same Store.
func (l *library) beside(source string) *library { return &library{l.Catalog, source, l.now} }

func (l *library) harvest(t require.TestingT, e harvest.Event) {
	*l.now = l.now.Add(time.Second)
	e.At = websync.NewDatetime(*l.now)
	r, err := (&harvest.Harvester{Sample: -1, Catalog: l.Catalog}).Run(context.Background(), harvest.Of(l.source, e))
	require.NoError(t, err)
	require.True(t, r.InStep(), "%+v", r)
}

// put publishes a text under a name.
func (l *library) put(t require.TestingT, name, text string, modified websync.Datetime) {
	e := put(name, modified)
	e.Open = harvest.OpenBytes([]byte(text))
	l.harvest(t, e)
}

func (l *library) del(t require.TestingT, name string) { l.harvest(t, del(name, websync.Datetime{})) }

// unionOf returns the union of members under the key that worlds use.
func unionOf(members ...*library) *union.Source {
	u := &union.Source{Name: src}
	for _, m := range members {
		u.Members = append(u.Members, m.member())
	}
	return u
}

// watch replaces the Catalog of a member with one that counts.
func watch(u *union.Source, member int) *testkit.Catalog {
	o := &testkit.Catalog{Catalog: u.Members[member].Catalog}
	u.Members[member].Catalog = o
	return o
}

func compact(t require.TestingT, s *harvest.Catalog) {
	_, err := s.Compact(context.Background())
	require.NoError(t, err)
}

func TestFirstWins(t *testing.T) {
	w, a, b := newWorld(t), newLibrary("a"), newLibrary("b")
	a.put(t, "x", "x of a", day(1))
	b.put(t, "x", "x of b", day(5))
	b.put(t, "y", "y of b", day(1))
	b.put(t, "z", "z of b", day(1))
	a.put(t, "z", "z of a", websync.Datetime{})
	a.del(t, "z")
	r := w.run(unionOf(a, b))
	assert.True(t, r.InStep())
	assert.EqualValues(t, 1, r.Snapshots)
	assert.Equal(t, map[string]string{"x": "x of a", "y": "y of b", "z": "z of b"}, w.live())
	assert.Equal(t, day(1), w.record("x").Resource.Modified)
	assert.Equal(t, base+"x", w.record("x").Resource.Content.Href)

	w = newWorld(t)
	w.run(unionOf(b, a))
	assert.Equal(t, map[string]string{"x": "x of b", "y": "y of b", "z": "z of b"}, w.live())
}

// TestFollows changes the members of a union, one step after the other.
func TestFollows(t *testing.T) {
	a, b := newLibrary("a"), newLibrary("b")
	future := date(t, "2199-01-01T00:00:00Z")
	steps := []struct {
		name    string
		happens func()
		live    map[string]string
		log     []string
	}{
		{"nothing", func() {}, map[string]string{}, nil},
		{"a new one", func() { b.put(t, "x", "b1", day(9)) }, map[string]string{"x": "b1"}, []string{"created x"}},
		{"a better one", func() { a.put(t, "x", "a1", day(3)) }, map[string]string{"x": "a1"}, []string{"updated x"}},
		{"an update nobody hears", func() { b.put(t, "x", "b2", day(10)) }, map[string]string{"x": "a1"}, nil},
		{"an update", func() { a.put(t, "x", "a2", day(4)) }, map[string]string{"x": "a2"}, []string{"updated x"}},
		{"an older time", func() { a.put(t, "x", "a3", day(2)) }, map[string]string{"x": "a3"}, []string{"updated x"}},
		{"the first falls silent", func() { a.del(t, "x") }, map[string]string{"x": "b2"}, []string{"updated x"}},
		{"the other too", func() { b.del(t, "x") }, map[string]string{}, []string{"deleted x"}},
		{"and speaks again", func() { b.put(t, "x", "b2", day(10)) }, map[string]string{"x": "b2"}, []string{"created x"}},
		{"a time to come", func() { b.put(t, "x", "b3", future) }, map[string]string{"x": "b3"}, []string{"updated x"}},
		{"and one that is past", func() { b.put(t, "x", "b4", day(11)) }, map[string]string{"x": "b4"}, []string{"updated x"}},
		{"in and out", func() { a.put(t, "y", "a", day(1)); a.del(t, "y") }, map[string]string{"x": "b4"}, nil},
		{"several changes", func() {
			for i := range 5 {
				a.put(t, "x", fmt.Sprint("a", i), day(1))
				b.put(t, "y", fmt.Sprint("b", i), day(1))
			}
		}, map[string]string{"x": "a4", "y": "b4"}, []string{"updated x", "created y"}},
		{"both go", func() { a.del(t, "x"); b.del(t, "x"); b.del(t, "y") }, map[string]string{}, []string{"deleted x", "deleted y"}},
	}
	w := newWorld(t)
	for _, step := range steps {
		before := len(w.log())
		step.happens()
		r := w.run(unionOf(a, b))
		require.True(t, r.InStep(), step.name)
		require.Equal(t, step.live, w.live(), step.name)
		require.ElementsMatch(t, step.log, w.log()[before:], step.name)
		require.Equal(t, step.name == "nothing", r.Snapshots == 1, step.name)
		require.Equal(t, step.name == "nothing", r.Events == 0, step.name)
		for name := range step.live {
			want, err := a.Get(t.Context(), "a", []string{base + name})
			require.NoError(t, err)
			if want[0].Seq == 0 || want[0].Kind == websync.Deleted {
				want, err = b.Get(t.Context(), "b", []string{base + name})
				require.NoError(t, err)
			}
			require.Equal(t, want[0].Resource, w.record(name).Resource, step.name)
		}
	}
}

func TestDoingItTwice(t *testing.T) {
	w, a, b := newWorld(t), newLibrary("a"), newLibrary("b")
	for i := range 600 { // more than one lookup takes
		a.put(t, fmt.Sprint(i), "of a", day(1))
		b.put(t, fmt.Sprint(i+300), "of b", day(1))
	}
	u := unionOf(a, b)
	of := []*testkit.Catalog{watch(u, 0), watch(u, 1)}
	w.run(u)
	require.Len(t, w.live(), 900)
	require.Equal(t, 600, of[0].Count("Open"))
	require.Equal(t, 300, of[1].Count("Open"))
	n := len(w.log())
	again := func(name string, snapshots int) {
		r := w.run(u)
		assert.True(t, r.InStep(), name)
		assert.Equal(t, snapshots, r.Snapshots, name)
		assert.Len(t, w.log(), n, name)
		assert.Equal(t, 900, of[0].Count("Open")+of[1].Count("Open"), name)
	}
	again("from the checkpoint", 0)
	w.h.Full = true
	again("in full", 1)
	w.h.Full = false
	compact(t, a.Catalog)
	again("compacted", 1)
	commits := 0
	w.h.Hooks = &harvest.Hooks{Commit: func(context.Context, harvest.CommitInfo) { commits++ }}
	again("and as before", 0)
	assert.Zero(t, commits, "nothing to say")
	for i := range 600 {
		a.put(t, fmt.Sprint(i), "of a", day(2))
	}
	r := w.run(u)
	assert.EqualValues(t, 600, r.Updated+r.Touched)
	assert.Zero(t, r.Snapshots)
	assert.Equal(t, 900, of[0].Count("Open")+of[1].Count("Open"), "another time, the same bytes")
	assert.Len(t, w.live(), 900)
}

func TestInTheSameStore(t *testing.T) {
	w := newWorld(t)
	a := &library{Catalog: w.store, source: "a", now: new(time.Time)}
	*a.now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := a.beside("b")
	live := func() map[string]string {
		all := map[string]string{}
		for item, err := range w.store.Resources(t.Context(), websync.Range{Sources: []string{src}}) {
			require.NoError(t, err)
			all[strings.TrimPrefix(item.Resource.ID, base)] = w.text(item.Bodies[0])
		}
		return all
	}
	a.put(t, "x", "a1", day(1))
	b.put(t, "x", "b1", day(1))
	b.put(t, "y", "b1", day(1))
	w.run(unionOf(a, b))
	require.Equal(t, map[string]string{"x": "a1", "y": "b1"}, live())
	a.del(t, "x")
	b.put(t, "y", "b2", day(1))
	r := w.run(unionOf(a, b))
	require.Zero(t, r.Snapshots)
	require.Equal(t, map[string]string{"x": "b1", "y": "b2"}, live())
	for range 2 {
		r = w.run(unionOf(a, b))
		require.Zero(t, r.Events, "what the union itself wrote is none of its business")
	}
	require.Equal(t, r.From, r.To)
	compact(t, w.store)
	n := 5 // a x and b x in the last state, b y, x and y of the union
	require.Len(t, w.log(), n)
	require.EqualValues(t, 1, w.run(unionOf(a, b)).Snapshots)
	require.Len(t, w.log(), n)
}

func (w *world) text(b websync.Body) string { return testkit.Read(w, w.store, b) }

func TestMembersChange(t *testing.T) {
	w, a, b, c := newWorld(t), newLibrary("a"), newLibrary("b"), newLibrary("c")
	a.put(t, "x", "a", day(2))
	b.put(t, "x", "b", day(1))
	a.put(t, "y", "a", day(1))
	c.put(t, "z", "c", day(1))
	w.run(unionOf(a, b))

	r := w.run(unionOf(b, a))
	assert.EqualValues(t, 1, r.Snapshots)
	assert.True(t, r.InStep(), "another order")
	assert.Equal(t, map[string]string{"x": "b", "y": "a"}, w.live())

	a.put(t, "gone", "a", day(1))
	w.run(unionOf(b, a))
	a.del(t, "gone")
	assert.True(t, w.run(unionOf(a, b)).InStep(), "the order does not decide what there is")
	assert.Equal(t, map[string]string{"x": "a", "y": "a"}, w.live())
	w.run(unionOf(b, a))

	r = w.run(unionOf(b, a, c))
	assert.True(t, r.InStep(), "one more")
	assert.Equal(t, map[string]string{"x": "b", "y": "a", "z": "c"}, w.live())

	r = w.run(unionOf(b, c))
	assert.EqualValues(t, 1, r.Withheld, "one less")
	assert.Equal(t, "options", r.Guard.Rule)
	assert.Equal(t, map[string]string{"x": "b", "y": "a", "z": "c"}, w.live())
	r, err := w.h.Approve(t.Context(), unionOf(b, c))
	require.NoError(t, err)
	assert.EqualValues(t, 1, r.Deleted)
	assert.Equal(t, map[string]string{"x": "b", "z": "c"}, w.live())
	b.put(t, "y", "b", day(1))
	r = w.run(unionOf(b, c))
	assert.Zero(t, r.Snapshots)
	assert.True(t, r.InStep())
	assert.Equal(t, map[string]string{"x": "b", "y": "b", "z": "c"}, w.live())
}

// TestURLChanges: what is on the host of the URL that a person has named is the member's
// own, wherever its document is, and members are listed again when that changes.
func TestURLChanges(t *testing.T) {
	w, a := newWorld(t), newLibrary("a")
	b := a.beside(base + "b")
	a.put(t, "x", "a", day(1))
	b.put(t, "x", "b", day(1))
	for _, test := range []struct{ url, owner string }{{"", "b"}, {"https://c.example/", "a"}, {base, "b"}} {
		u := unionOf(a, b)
		u.Members[1].URL = test.url
		assert.True(t, w.run(u).InStep())
		assert.Equal(t, map[string]string{"x": test.owner}, w.live(), test.url)
	}
}

// TestAnotherStore replaces the Store of a member with another one that has the same
// source and a longer log.
func TestAnotherStore(t *testing.T) {
	for name, more := range map[string]int{"shorter": 0, "as long": 1, "longer": 5} {
		t.Run(name, func(t *testing.T) {
			w, a, b := newWorld(t), newLibrary("a"), newLibrary("a")
			a.put(t, "x", "old", day(1))
			a.put(t, "y", "old", day(1))
			w.run(unionOf(a))
			for range more + 1 {
				b.put(t, "y", fmt.Sprint("new ", len(w.log())), day(1))
			}
			r := w.run(unionOf(b))
			assert.EqualValues(t, 1, r.Snapshots)
			assert.Equal(t, map[string]string{"y": "new 2"}, w.live())
		})
	}
}

// TestTimesInTheFuture takes away, in a snapshot, what was modified in the future, and
// publishes it again.
func TestTimesInTheFuture(t *testing.T) {
	w, a := newWorld(t), newLibrary("a")
	w.h.MaxDelete = -1
	a.put(t, "x", "1", date(t, "2199-01-01"))
	w.run(unionOf(a))
	a.del(t, "x")
	compact(t, a.Catalog)
	w.run(unionOf(a))
	assert.Empty(t, w.live())
	a.put(t, "x", "2", day(1))
	r := w.run(unionOf(a))
	assert.Zero(t, r.Snapshots)
	assert.Equal(t, map[string]string{"x": "2"}, w.live())
}

// TestClocks has a member whose clock is years ahead of the others' change first, and one
// whose clock is behind.
func TestClocks(t *testing.T) {
	for name, skew := range map[string][2]int{"first ahead": {3, 0}, "second ahead": {0, 3}, "first behind": {-3, 0}, "second behind": {0, -3}} {
		t.Run(name, func(t *testing.T) {
			w, a, b := newWorld(t), newLibrary("a"), newLibrary("b")
			for i, l := range []*library{a, b} {
				l.Catalog.Now = func() time.Time { return time.Now().AddDate(skew[i], 0, 0) }
			}
			u := unionOf(a, b)
			w.run(u)
			check := func(snapshots int, want string) {
				t.Helper()
				r := w.run(u)
				require.Equal(t, snapshots, r.Snapshots)
				require.True(t, r.InStep())
				require.Equal(t, want, w.live()["x"])
			}
			for i := range 2 {
				b.put(t, "x", fmt.Sprint("b1", i), day(1))
				check(0, fmt.Sprint("b1", i))
				a.put(t, "x", fmt.Sprint("a1", i), day(1))
				check(0, fmt.Sprint("a1", i))
				b.put(t, "x", fmt.Sprint("b2", i), day(1))
				check(0, fmt.Sprint("a1", i))
				a.put(t, "x", fmt.Sprint("a2", i), day(1))
				a.del(t, "x")
				check(0, fmt.Sprint("b2", i))
				b.put(t, "x", fmt.Sprint("b3", i), day(1))
				check(0, fmt.Sprint("b3", i))
				b.del(t, "x")
				check(0, "")
				compact(t, a.Catalog)
				check(1, "")
			}
		})
	}
}

// TestWanderer moves an id from the second member to the first while they are listed,
// after the first was.
func TestWanderer(t *testing.T) {
	w, a, b := newWorld(t), newLibrary("a"), newLibrary("b")
	a.put(t, "y", "a", day(1))
	b.put(t, "x", "b", day(1))
	b.put(t, "z", "b", day(1))
	w.run(unionOf(a, b))
	u := unionOf(a, b)
	moved := false
	watch(u, 1).Before = func(method string, _ int) error {
		if method == "Resources" && !moved {
			moved = true
			a.put(t, "x", "a", day(1))
			b.del(t, "x")
			a.del(t, "y")
			b.put(t, "z", "b2", day(1))
		}
		return nil
	}
	w.h.Full = true
	r := w.run(u)
	assert.True(t, moved)
	assert.True(t, r.InStep())
	assert.Equal(t, map[string]string{"x": "a", "z": "b2"}, w.live())
	assert.NotContains(t, w.log(), "deleted x")
	n := len(w.log())
	w.h.Full = false
	assert.Zero(t, w.run(u).Events, "all of it has been yielded")
	assert.Len(t, w.log(), n)
}

// TestLeap moves an id to the first member between the lookups in the first and in the
// second.
func TestLeap(t *testing.T) {
	w, a, b := newWorld(t), newLibrary("a"), newLibrary("b")
	b.put(t, "x", "b", day(1))
	w.run(unionOf(a, b))
	b.put(t, "x", "b2", day(1))
	u := unionOf(a, b)
	moved := false
	watch(u, 1).Before = func(method string, _ int) error {
		if method == "Get" && !moved {
			moved = true
			a.put(t, "x", "a", day(1))
			b.del(t, "x")
		}
		return nil
	}
	w.run(u)
	assert.True(t, moved)
	assert.True(t, w.run(u).InStep())
	assert.Equal(t, map[string]string{"x": "a"}, w.live())
	assert.Equal(t, []string{"created x", "updated x"}, w.log(), "it was there all the time")
}

func TestCompactedWhileListed(t *testing.T) {
	w, a, b := newWorld(t), newLibrary("a"), newLibrary("b")
	a.put(t, "x", "a", day(1))
	b.put(t, "y", "b", day(1))
	u := unionOf(a, b)
	o := watch(u, 1)
	o.Before = func(method string, _ int) error {
		if method == "Resources" {
			compact(t, b.Catalog)
		}
		return nil
	}
	r := w.run(u)
	assert.False(t, r.Complete)
	require.Len(t, r.Problems, 1)
	assert.Contains(t, r.Problems[0].Error, "compacted")
	assert.NotContains(t, string(r.To.Data), "generation", "nothing has been yielded so far")
	o.Before = nil
	assert.True(t, w.run(u).InStep())
	assert.Equal(t, map[string]string{"x": "a", "y": "b"}, w.live())
}

func TestWithoutBytes(t *testing.T) {
	for name, mode := range map[string]harvest.BodyMode{"verified": harvest.VerifyBodies, "skipped": harvest.SkipBodies} {
		t.Run(name, func(t *testing.T) {
			w, a, b := newWorld(t), newLibrary("a"), newLibrary("b")
			e := put("x", day(1))
			e.Open = harvest.OpenBytes([]byte("only looked at"))
			_, err := (&harvest.Harvester{Sample: -1, Catalog: a.Catalog, Bodies: mode}).Run(t.Context(), harvest.Of("a", e))
			require.NoError(t, err)
			b.put(t, "x", "b", day(1))
			for range 2 {
				assert.True(t, w.run(unionOf(a, b)).InStep())
			}
			assert.Equal(t, map[string]string{"x": "-"}, w.live())
			assert.Equal(t, e.Resource, w.record("x").Resource)
			assert.Len(t, w.log(), 1)
		})
	}
	t.Run("not copied", func(t *testing.T) {
		w, a := newWorld(t), newLibrary("a")
		a.put(t, "x", "a", day(1))
		w.h.Bodies = harvest.SkipBodies
		for range 2 {
			assert.True(t, w.run(unionOf(a)).InStep())
		}
		assert.Equal(t, map[string]string{"x": "-"}, w.live())
		assert.Len(t, w.log(), 1)
	})
}

func TestOfSeveralBodies(t *testing.T) {
	w, a := newWorld(t), newLibrary("a")
	source := &severalBodies{texts: []string{"one", "two", ""}}
	_, err := (&harvest.Harvester{Sample: -1, Catalog: a.Catalog}).Run(t.Context(), source)
	require.NoError(t, err)
	a.source = source.Key()
	u := unionOf(a)
	o := watch(u, 0)
	w.run(u)
	want, err := a.Get(t.Context(), a.source, []string{base + "x"})
	require.NoError(t, err)
	assert.Equal(t, want[0].Bodies, w.record("x").Bodies)
	assert.Equal(t, 3, o.Count("Open"))

	source.texts = []string{"one", "three", ""}
	_, err = (&harvest.Harvester{Sample: -1, Catalog: a.Catalog, Full: true}).Run(t.Context(), source)
	require.NoError(t, err)
	w.run(u)
	assert.Equal(t, 4, o.Count("Open"), "one of them is new")
	assert.Equal(t, "three", w.text(w.record("x").Bodies[1]))
}

// severalBodies is a Getter of one resource.
type severalBodies struct{ texts []string }

func (s *severalBodies) Key() string { return "several" }

func (s *severalBodies) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		e := harvest.Event{Resource: websync.Resource{ID: base + "x"}, Tag: strings.Join(s.texts, " ")}
		yield(e, nil)
	}
}

func (s *severalBodies) Get(ctx context.Context, job *harvest.Job) error {
	for i, text := range s.texts {
		if _, err := job.Keep(ctx, fmt.Sprint("body ", i), websync.Link{Type: "text/plain"}, strings.NewReader(text)); err != nil {
			return err
		}
	}
	return nil
}

// TestTrouble lets each method of a member fail in turn.
func TestTrouble(t *testing.T) {
	for _, method := range []string{"Head", "Get", "Resources", "Changes"} {
		t.Run(method, func(t *testing.T) {
			w, a, b := newWorld(t), newLibrary("a"), newLibrary("b")
			a.put(t, "x", "a", day(1))
			b.put(t, "x", "b", day(1))
			w.run(unionOf(a, b))
			a.put(t, "y", "a", day(1))
			u := unionOf(a, b)
			fail := watch(u, 0)
			fail.Before = func(m string, _ int) error {
				if m == method {
					return testkit.ErrCut
				}
				return nil
			}
			w.h.Full = method == "Resources"
			_, err := w.h.Run(t.Context(), u)
			require.ErrorIs(t, err, testkit.ErrCut)
			require.ErrorContains(t, err, "member a: ")
			require.Equal(t, map[string]string{"x": "a"}, w.live(), "nothing is taken for gone")
			fail.Before, w.h.Full = nil, false
			require.True(t, w.run(u).InStep())
			require.Equal(t, map[string]string{"x": "a", "y": "a"}, w.live())
		})
	}
}

// TestBodyTrouble has a body that can't be read, or that has changed.
func TestBodyTrouble(t *testing.T) {
	w, a := newWorld(t), newLibrary("a")
	a.put(t, "x", "1", day(1))
	w.run(unionOf(a))
	a.put(t, "x", "2", day(2))
	u := unionOf(a)
	o := watch(u, 0)
	o.Before = func(method string, _ int) error {
		if method == "Open" {
			return websync.ErrNotFound
		}
		return nil
	}
	r := w.run(u)
	assert.EqualValues(t, 1, r.Failed)
	assert.Contains(t, r.Failures[0].Error, `member a: body "content": `)
	assert.Equal(t, map[string]string{"x": "1"}, w.live(), "what is held stays")
	u.Members[0].Catalog = &forger{a.Catalog}
	r = w.run(u)
	assert.Contains(t, r.Failures[0].Error, "sha-256")
	assert.Equal(t, map[string]string{"x": "1"}, w.live())
	testkit.MakeDue(w, w.store)
	assert.True(t, w.run(unionOf(a)).InStep())
	assert.Equal(t, map[string]string{"x": "2"}, w.live())
}

// forger is a Catalog that opens other bytes than it lists, and states no digest of them.
type forger struct{ websync.Catalog }

func (f *forger) Get(ctx context.Context, source string, ids []string) ([]websync.Item, error) {
	items, err := f.Catalog.Get(ctx, source, ids)
	for i := range items {
		items[i].Bodies = slices.Clone(items[i].Bodies)
		for k := range items[i].Bodies {
			items[i].Bodies[k].Link.Digests = nil
		}
	}
	return items, err
}

func (f *forger) Open(context.Context, websync.Body) (io.ReadSeekCloser, error) {
	return forged{strings.NewReader("3")}, nil
}

type forged struct{ *strings.Reader }

func (forged) Close() error { return nil }

// TestOvertaken deletes or changes a resource between its event and Get.
func TestOvertaken(t *testing.T) {
	w, a := newWorld(t), newLibrary("a")
	a.put(t, "x", "1", day(1))
	a.put(t, "y", "1", day(1))
	r, err := w.h.List(t.Context(), unionOf(a))
	require.NoError(t, err)
	require.EqualValues(t, 2, r.Deferred)
	a.del(t, "x")
	a.put(t, "y", "2", day(1))
	r, err = w.h.Work(t.Context(), unionOf(a))
	require.NoError(t, err)
	assert.EqualValues(t, 1, r.Failed)
	assert.Contains(t, r.Failures[0].Error, "no member")
	assert.Equal(t, map[string]string{"y": "2"}, w.live(), "as it is now")
	assert.True(t, w.run(unionOf(a)).InStep())
	assert.Equal(t, map[string]string{"y": "2"}, w.live())
	assert.Empty(t, w.tasks())
}

// TestStateComesBack gets a later state than the one that was yielded; at the next run
// the yielded one is present again.
func TestStateComesBack(t *testing.T) {
	w, a, b := newWorld(t), newLibrary("a"), newLibrary("b")
	b.put(t, "x", "b", day(1))
	_, err := w.h.List(t.Context(), unionOf(a, b))
	require.NoError(t, err)
	a.put(t, "x", "a", day(1))
	_, err = w.h.Work(t.Context(), unionOf(a, b))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"x": "a"}, w.live())
	a.del(t, "x")
	assert.True(t, w.run(unionOf(a, b)).InStep())
	assert.Equal(t, map[string]string{"x": "b"}, w.live())
}

func TestIncomplete(t *testing.T) {
	a := newLibrary("a")
	for name, test := range map[string]struct {
		union *union.Source
		want  string
	}{
		"no name":    {&union.Source{Members: []union.Member{a.member()}}, "the Key of the Source, a *union.Source, is empty"},
		"no members": {&union.Source{Name: src}, "Source.Members is empty"},
		"no catalog": {&union.Source{Name: src, Members: []union.Member{a.member(), {Source: "b"}}}, "Source.Members[1] must have"},
		"no source":  {&union.Source{Name: src, Members: []union.Member{{Catalog: a.Catalog}}}, "Source.Members[0] must have"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New())}).Run(t.Context(), test.union)
			require.ErrorContains(t, err, test.want)
		})
	}
}

// TestConformance builds the members of each state anew, under a clock that makes them
// the same each time.
func TestConformance(t *testing.T) {
	history := []func(a, b *library){
		func(a, b *library) {
			for i := range 5 {
				a.put(t, fmt.Sprint(i), "a", day(i+1))
				b.put(t, fmt.Sprint(i+3), "b", day(9-i))
			}
		},
		func(a, b *library) {
			a.del(t, "4")
			b.put(t, "4", "b new", day(1))
			b.put(t, "0", "b", day(20))
			a.put(t, "1", "a new", day(1))
			b.del(t, "7")
			a.put(t, "new", "a", websync.Datetime{})
			b.put(t, "1", "b", day(20))
			a.put(t, "8", "a", day(1))
		},
		func(a, b *library) {
			compact(t, b.Catalog)
			b.put(t, "7", "again", day(1))
			a.del(t, "1")
		},
	}
	var members [2]library // in the present state
	sourcetest.Run(t, sourcetest.Options{
		Source: func() harvest.Source {
			return &union.Source{Name: src, Members: []union.Member{{Catalog: &members[0], Source: "a"}, {Catalog: &members[1], Source: "b"}}}
		},
		Sites: make([]sourcetest.Site, len(history)),
		Store: func(testing.TB) harvest.Store { return memstore.New() },
		Enter: func(_ testing.TB, state int) {
			now := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
			for i, source := range []string{"a", "b"} {
				members[i] = *newLibrary(source)
				members[i].Catalog.Now = func() time.Time { now = now.Add(time.Millisecond); return now }
			}
			for _, happens := range history[:state+1] {
				happens(&members[0], &members[1])
			}
		},
	})
}

// A union makes one set of two that have ids in common.
func ExampleSource() {
	ctx := context.Background()
	h := &harvest.Harvester{Sample: -1, Catalog: harvest.NewCatalog(memstore.New())}
	act := func(n int, title string) harvest.Event {
		return harvest.Event{Resource: websync.Resource{ID: fmt.Sprint("https://law.example/act/", n), Title: title}}
	}
	all := &union.Source{Name: "all acts", Members: []union.Member{
		{Catalog: h.Catalog, Source: "gazette", Rank: 1}, // takes precedence
		{Catalog: h.Catalog, Source: "archive"},
	}}
	for _, source := range []harvest.Source{
		harvest.Of("archive", act(1, "Act 1, scanned"), act(2, "Act 2, scanned")),
		harvest.Of("gazette", act(2, "Act 2"), act(3, "Act 3")),
		all,
	} {
		if _, err := h.Run(ctx, source); err != nil {
			fmt.Println(err)
		}
	}
	for item, err := range h.Catalog.Resources(ctx, websync.Range{Sources: []string{"all acts"}}) {
		fmt.Println(item.Resource.ID, item.Resource.Title, err)
	}
	// Unordered output:
	// https://law.example/act/1 Act 1, scanned <nil>
	// https://law.example/act/2 Act 2 <nil>
	// https://law.example/act/3 Act 3 <nil>
}

// A task that is carried out when other members are listed gets the bodies of those
// members. It does not count as the state that the task was stored for.
func TestTaskOfOtherMembers(t *testing.T) {
	w, a, b := newWorld(t), newLibrary("a"), newLibrary("b")
	a.put(t, "x", "of a", day(1))
	b.put(t, "x", "of b", day(1))
	w.run(unionOf(a))
	_, err := w.h.List(context.Background(), unionOf(b))
	require.NoError(t, err)
	require.Len(t, w.tasks(), 1)
	w.run(unionOf(a)) // carries out the task, too
	require.Empty(t, w.tasks())
	require.Equal(t, map[string]string{"x": "of a"}, w.live())
	w.run(unionOf(b))
	assert.Equal(t, map[string]string{"x": "of b"}, w.live())
}

// A listing of other members is interrupted. When the members are again those of before,
// what it listed is deleted.
func TestListingOfOtherMembersCutShort(t *testing.T) {
	strays := 0
	for cut := range 6 {
		w, a, b := newWorld(t), newLibrary("a"), newLibrary("b")
		a.put(t, "x", "of a", day(1))
		b.put(t, "y", "of b", day(1))
		w.run(unionOf(a))
		w.h.Catalog = harvest.NewCatalog(testkit.CutAfter(w.db, cut/2, cut%2 == 1))
		_, err := w.h.Run(t.Context(), unionOf(a, b))
		if err != nil && w.record("y").Seq > 0 {
			strays++
		}
		w.h.Catalog = w.store
		w.run(unionOf(a))
		_, err = w.h.Approve(t.Context(), unionOf(a)) // where it was not interrupted
		require.NoError(t, err)
		require.Equal(t, map[string]string{"x": "of a"}, w.live(), "cut %d", cut)
	}
	require.NotZero(t, strays)
}
