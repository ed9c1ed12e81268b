package testkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// A T is a test, as a *testing.T, a *rapid.T or [Must].
type T interface {
	Errorf(format string, args ...any)
	FailNow()
}

// Must is a T that panics, for examples and for goroutines that cannot end their test.
var Must T = must{}

type must struct{}

func (must) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (must) FailNow()                          { panic("failed") }

// ok ends the test if err is not nil.
func ok(t T, err error) {
	if t, is := t.(interface{ Helper() }); is {
		t.Helper()
	}
	if err != nil {
		t.Errorf("%v", err)
		t.FailNow()
	}
}

// Fill commits items to a source: each is the state of its resource. Texts are the bodies
// that the items do not have in the Store yet; their Keys are the SHA-256 of them.
func Fill(t T, store *harvest.Catalog, source string, texts []string, items ...websync.Item) {
	if t, is := t.(interface{ Helper() }); is {
		t.Helper()
	}
	ctx := context.Background()
	claim, err := store.Claim(ctx, "source/"+source, time.Hour)
	ok(t, err)
	b := harvest.NewBatch(source)
	for _, text := range texts {
		w, err := store.NewBody(ctx)
		ok(t, err)
		_, err = io.WriteString(w, text)
		ok(t, err)
		b.Bodies = append(b.Bodies, w)
	}
	for _, item := range items {
		held, err := store.Lookup(ctx, source, []string{item.Resource.ID})
		ok(t, err)
		b.Puts = append(b.Puts, harvest.Change{Base: held[0].Seq, Record: harvest.Record{Item: item}})
	}
	conflicts, err := store.Commit(ctx, claim, b)
	if err == nil && len(conflicts) > 0 {
		err = fmt.Errorf("conflicts: %q", conflicts)
	}
	ok(t, errors.Join(err, store.Release(ctx, claim)))
}

// A catalog is embedded without the name of a Publisher's field.
type catalog = harvest.Catalog

// A Store is a Store in memory that is filled by hand. Each commit is a second later than
// the one before.
type Store struct {
	*catalog
	Clock time.Time
	t     T
}

// NewStore returns an empty Store.
func NewStore(t T) *Store {
	s := &Store{catalog: harvest.NewCatalog(memstore.New()), Clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), t: t}
	s.Now = func() time.Time { return s.Clock }
	return s
}

// Plain returns the Catalog itself.
func (s *Store) Plain() *harvest.Catalog { return s.catalog }

// Fill is [Fill] a second later.
func (s *Store) Fill(source string, texts []string, items ...websync.Item) {
	s.Clock = s.Clock.Add(time.Second)
	Fill(s.t, s.catalog, source, texts, items...)
}

// Put commits resources to a source, all at once.
func (s *Store) Put(source string, resources ...websync.Resource) {
	var items []websync.Item
	for _, r := range resources {
		items = append(items, websync.Item{Resource: r})
	}
	s.Fill(source, nil, items...)
}

// Delete commits deletions to a source, all at once.
func (s *Store) Delete(source string, ids ...string) {
	var items []websync.Item
	for _, id := range ids {
		items = append(items, websync.Item{Kind: websync.Deleted, Resource: websync.Resource{ID: id}})
	}
	s.Fill(source, nil, items...)
}
