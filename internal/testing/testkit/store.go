package testkit

import (
	"context"
	"fmt"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/fill"
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
	content := make([]any, 0, len(texts)+len(items))
	for _, text := range texts {
		content = append(content, text)
	}
	for _, item := range items {
		content = append(content, item)
	}
	ok(t, fill.Commit(context.Background(), store, source, content...))
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
