package union_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/union"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestManyMembers: a run asks a Catalog no more often because many of its sources are
// members, and reads its log once.
func TestManyMembers(t *testing.T) {
	w, first := newWorld(t), newLibrary("0")
	counted := &testkit.Catalog{Catalog: first.Catalog}
	u := &union.Source{Name: src}
	var all []*library
	for i := range 50 {
		l := first.beside(fmt.Sprint(i))
		l.put(t, fmt.Sprint(i), "text", day(1))
		all = append(all, l)
		u.Members = append(u.Members, union.Member{Catalog: counted, Source: l.source})
	}
	run := func(changes, heads, read int) {
		counted.Reset()
		r := w.run(u)
		assert.True(t, r.InStep())
		assert.EqualValues(t, changes, r.Created+r.Updated+r.Touched)
		assert.Equal(t, heads, counted.Count("Head"))
		assert.Equal(t, read, counted.Count("Changes"))
	}
	run(50, 2, 1) // the last entry, to which the position belongs
	run(0, 1, 1)
	for _, l := range all {
		l.put(t, "of "+l.source, "more", day(1))
	}
	run(50, 1, 1+50)
}

// A verbose is a Catalog that holds a long description of whatever is looked up.
type verbose struct {
	websync.Catalog
	before func()
}

const longText = 64 << 10

func (v *verbose) Get(_ context.Context, source string, ids []string) ([]websync.Item, error) {
	v.before()
	items := make([]websync.Item, len(ids))
	for i, id := range ids {
		items[i] = websync.Item{Seq: 1, Born: 1, Source: source, Kind: websync.Created,
			Resource: websync.Resource{ID: id, Summary: strings.Repeat("a", longText)}}
	}
	return items, nil
}

// TestLongDescriptionsOfOthers: what other members state of the ids of a member is in
// memory for few ids of one member at a time.
func TestLongDescriptionsOfOthers(t *testing.T) {
	const others, ids = 10, 256
	w, a := newWorld(t), newLibrary("a")
	for i := range ids {
		a.put(t, fmt.Sprint(i), "text", day(1))
	}
	u := unionOf(a)
	u.Members[0].Rank = 1
	held, before := int64(0), int64(0)
	for i := range others {
		v := &verbose{harvest.NewCatalog(memstore.New()), func() {}}
		u.Members = append(u.Members, union.Member{Catalog: v, Source: fmt.Sprint(i)})
		if i == others-1 {
			var once sync.Once // when all the others have been asked, and nothing was yielded yet
			v.before = func() { once.Do(func() { held = testkit.Heap() - before }) }
		}
	}
	before = testkit.Heap()
	w.run(u)
	require.Len(t, w.live(), ids)
	assert.Less(t, held, int64(others*ids*longText/10), "bytes of %d", others*ids*longText)
}
