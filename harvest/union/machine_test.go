package union_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// libraries are members of a union whose records change at random, and a store that
// follows them under random failures.
type libraries struct {
	all    []*library
	listed []union.Member   // now, in their order
	target *harvest.Catalog // of the union, and perhaps of members

	mu     sync.Mutex
	calls  int
	dbs    map[*harvest.Catalog]harvest.Store
	during map[int]func() error // what happens at a call of a Catalog
	opened int
}

func newLibraries(t *rapid.T) *libraries {
	dbs := map[*harvest.Catalog]harvest.Store{}
	newCatalog := func() *harvest.Catalog {
		db := memstore.New()
		c := harvest.NewCatalog(db)
		dbs[c] = db
		return c
	}
	stores := []*harvest.Catalog{newCatalog(), newCatalog()}
	for i, s := range stores {
		ahead := rapid.SampledFrom([]time.Duration{0, 0, time.Hour, -time.Hour}).Draw(t, fmt.Sprint("clock ", i))
		s.Now = func() time.Time { return time.Now().Add(ahead) }
	}
	l := &libraries{dbs: dbs, target: rapid.SampledFrom(append(stores, newCatalog())).Draw(t, "target")}
	for _, name := range []string{base + "a", "https://b.example/b", "c"} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		l.all = append(l.all, &library{rapid.SampledFrom(stores).Draw(t, "store of "+name), name, &now})
	}
	l.list(t)
	return l
}

// list draws two or three members in any order, with any scopes, URLs and ranks.
func (l *libraries) list(t *rapid.T) {
	l.listed = nil
	for _, at := range rapid.Permutation(l.all).Draw(t, "members")[:rapid.IntRange(2, 3).Draw(t, "number of members")] {
		m := at.member()
		m.Rank = rapid.IntRange(0, 1).Draw(t, "rank")
		scopes := [][]string{nil, nil, {union.Everything}, {"https://b.example/"}, {"urn:", base + "v"}}
		m.Scope = rapid.SampledFrom(scopes).Draw(t, "scope")
		m.URL = rapid.SampledFrom([]string{"", "", "", base + "page", "https://b.example/", "https://c.example/", "c"}).Draw(t, "URL")
		l.listed = append(l.listed, m)
	}
}

// ids are what members call their resources: on the host of each, on none, without the
// form of an IRI, and, in two cases, with the form of those that a union gives.
var ids = []string{
	base + "u", base + "v", "https://b.example/w", "urn:x", "news-1", "not an IRI",
	websync.TagURI("c", "news-1"), websync.TagURI(base+"a", base+"u"),
}

// change draws a change and returns what makes it.
func (l *libraries) change(t *rapid.T) func() {
	at := rapid.SampledFrom(l.all).Draw(t, "member")
	id := rapid.SampledFrom(ids).Draw(t, "id")
	if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
		return func() {
			at.harvest(testkit.Must, harvest.Event{Kind: harvest.Delete, Resource: websync.Resource{ID: id}})
		}
	}
	e := put("x", rapid.SampledFrom([]websync.Datetime{{}, day(1), day(2), websync.DateOf(time.Now().AddDate(9, 0, 0))}).Draw(t, "modified"))
	e.Resource.ID = id
	e.Resource.Title = rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "title")
	e.Open = harvest.OpenBytes([]byte(rapid.SampledFrom([]string{"", "bytes", "other bytes"}).Draw(t, "text")))
	return func() { at.harvest(testkit.Must, e) }
}

// tidy draws a compaction of one of the stores.
func (l *libraries) tidy(t *rapid.T) func() {
	store := rapid.SampledFrom(l.all).Draw(t, "store to tidy").Catalog
	drop := rapid.Bool().Draw(t, "drop")
	return func() {
		ctx := context.Background()
		generation, err := store.Compact(ctx)
		if err == nil && drop {
			err = store.Drop(ctx, generation)
		}
		if err == nil {
			_, err = store.Vacuum(ctx, 0)
		}
		if err != nil {
			panic(err)
		}
	}
}

// source returns the union of the members. Their Catalogs count the opened bodies and
// call what during has for a call.
func (l *libraries) source() *union.Source {
	u := &union.Source{Name: src, Members: slices.Clone(l.listed)}
	watched := map[websync.Catalog]websync.Catalog{}
	for i := range u.Members {
		m := &u.Members[i]
		if watched[m.Catalog] == nil {
			watched[m.Catalog] = &testkit.Catalog{Catalog: m.Catalog, Before: l.call}
		}
		m.Catalog = watched[m.Catalog]
	}
	return u
}

func (l *libraries) call(method string, _ int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if method == "Open" {
		l.opened++
	}
	l.calls++
	if f := l.during[l.calls]; f != nil {
		return f()
	}
	return nil
}

// run follows the members once, with failures drawn at random.
func (l *libraries) run(t *rapid.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	l.calls, l.during = 0, map[int]func() error{}
	for range rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "happening meanwhile") {
		change := l.change(t)
		if rapid.IntRange(0, 7).Draw(t, "tidy meanwhile") == 0 {
			change = l.tidy(t)
		}
		l.during[rapid.IntRange(1, 20).Draw(t, "at call")] = func() error { change(); return nil }
	}
	switch call := rapid.IntRange(1, 25).Draw(t, "trouble at call"); rapid.SampledFrom([]string{"none", "none", "stop", "fail"}).Draw(t, "trouble") {
	case "stop":
		l.during[call] = func() error { stop(); return nil }
	case "fail":
		l.during[call] = func() error { return testkit.ErrCut }
	}
	h := &harvest.Harvester{Sample: -1, Catalog: l.target, Attempts: -1}
	h.MaxDelete = rapid.SampledFrom([]float64{0, -1, 0.1}).Draw(t, "max delete")
	h.Window = rapid.SampledFrom([]int{0, 1, 3}).Draw(t, "window")
	h.Concurrency = rapid.IntRange(1, 4).Draw(t, "concurrency")
	h.Full = rapid.IntRange(0, 7).Draw(t, "full") == 0
	if n := rapid.SampledFrom([]int{-1, -1, 0, 1, 2}).Draw(t, "cut at commit"); n >= 0 {
		h.Catalog = harvest.NewCatalog(testkit.CutAfter(l.dbs[l.target], n, rapid.Bool().Draw(t, "after it")))
	}
	once := rapid.SampledFrom([]func(context.Context, harvest.Source) (*harvest.Report, error){h.Run, h.Run, h.List, h.Work, h.Approve}).Draw(t, "what")
	_, err := once(ctx, l.source())
	l.during = nil
	if err != nil && !errors.Is(err, testkit.ErrCut) && !errors.Is(err, context.Canceled) && !errors.Is(err, harvest.ErrFenced) {
		require.ErrorIs(t, err, websync.ErrNotFound, "a generation that was dropped")
	}
}

// finish follows the members without failures until nothing is left, and compares the
// target with them.
func (l *libraries) finish(t *rapid.T) {
	h := &harvest.Harvester{Sample: -1, Catalog: l.target, MaxDelete: -1}
	for range 2 {
		_, err := h.Run(context.Background(), l.source())
		require.NoError(t, err)
		testkit.MakeDue(t, l.target)
	}
	_, err := h.Approve(context.Background(), l.source())
	require.NoError(t, err)
	r, err := h.Run(context.Background(), l.source())
	require.NoError(t, err)
	require.True(t, r.InStep(), "%+v", r)
	require.Equal(t, l.naive(t), l.live(t, l.target, src))

	before, opened := len(testkit.Entries(t, l.target)), l.opened
	for range 2 {
		r, err = h.Run(context.Background(), l.source())
		require.NoError(t, err)
		require.Zero(t, r.Events)
	}
	h.Full = true
	_, err = h.Run(context.Background(), l.source())
	require.NoError(t, err)
	require.Len(t, testkit.Entries(t, l.target), before, "doing it again changes nothing")
	require.Equal(t, opened, l.opened, "and reads no body")
}

// naive returns what the union must have, computed from the records of all members.
func (l *libraries) naive(t *rapid.T) map[string]string {
	all := map[string]string{}
	for _, id := range ids {
		if strings.Contains(id, ":") {
			if !strings.HasPrefix(id, "tag:") || !slices.ContainsFunc(l.listed, func(m union.Member) bool { return givesIDsLike(m, id) }) {
				l.naiveID(t, all, id, l.listed)
			}
			continue
		}
		for _, m := range l.listed { // the same name means something else in each
			mine := map[string]string{}
			m.Scope = nil
			l.naiveID(t, mine, id, []union.Member{m})
			if line, live := mine[id]; live {
				all[websync.TagURI(m.Source, id)] = line
			}
		}
	}
	return all
}

func givesIDsLike(m union.Member, id string) bool {
	return strings.HasPrefix(id, websync.TagURI(m.Source, ""))
}

// naiveID adds the record of the owner of an id, if there is one.
func (l *libraries) naiveID(t *rapid.T, all map[string]string, id string, members []union.Member) {
	type claim struct {
		union.Member
		item  websync.Item
		place int
	}
	var claims, scoped []claim
	for place, m := range members {
		items, err := m.Catalog.Get(context.Background(), m.Source, []string{id})
		require.NoError(t, err)
		within := false
		for _, host := range []string{base, "https://b.example/"} {
			within = within || len(m.Scope) == 0 && strings.HasPrefix(cmp.Or(m.URL, m.Source), host) && strings.HasPrefix(id, host)
		}
		for _, prefix := range m.Scope {
			within = within || prefix == union.Everything || strings.HasPrefix(id, prefix)
		}
		if items[0].Seq == 0 || len(m.Scope) > 0 && !within {
			continue
		}
		claims = append(claims, claim{m, items[0], place})
		if within {
			scoped = append(scoped, claims[len(claims)-1])
		}
	}
	if len(scoped) > 0 {
		claims = scoped
	}
	claims = slices.DeleteFunc(claims, func(c claim) bool { return c.item.Kind == websync.Deleted })
	if len(claims) == 0 {
		return
	}
	oneCatalog := !slices.ContainsFunc(l.listed, func(m union.Member) bool { return m.Catalog != l.listed[0].Catalog })
	owner := slices.MinFunc(claims, func(a, b claim) int {
		first := cmp.Compare(a.place, b.place)
		if oneCatalog {
			first = cmp.Compare(a.item.Born, b.item.Born)
		}
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), first)
	})
	all[id] = l.live(t, owner.Catalog.(*harvest.Catalog), owner.Source)[id]
}

// live returns the live records of a source in one line each. Of records that are
// otherwise the same, Modified may differ.
func (l *libraries) live(t *rapid.T, store *harvest.Catalog, source string) map[string]string {
	all := map[string]string{}
	for item, err := range store.Resources(context.Background(), websync.Range{Sources: []string{source}}) {
		require.NoError(t, err)
		var line strings.Builder
		fmt.Fprintf(&line, "%q %v %s", item.Resource.Title, item.Resource.Modified, item.Resource.Content.Href)
		for _, b := range item.Bodies {
			fmt.Fprintf(&line, " %s: %q", b.Name, testkit.Read(t, store, b))
		}
		all[item.Resource.ID] = line.String()
	}
	return all
}

// TestRandomUnions checks that a store follows its members through random changes of the
// records, of the list of members and of the runs.
func TestRandomUnions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLibraries(t)
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			for range rapid.IntRange(0, 6).Draw(t, "changes") {
				l.change(t)()
			}
			switch rapid.IntRange(0, 9).Draw(t, "also") {
			case 0:
				l.list(t)
			case 1:
				l.tidy(t)()
			}
			l.run(t)
		}
		l.finish(t)
	})
}
