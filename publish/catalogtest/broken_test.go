package catalogtest_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/suite"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish/catalogtest"
)

var matrix = flag.Bool("matrix", false, "run every case on every broken catalog and log which ones catch it")

// A catalog is a Store with two sources and some history.
type catalog struct {
	*harvest.Catalog
	mu sync.Mutex // one claim at a time
}

func filled(t testing.TB) *catalog {
	c := &catalog{Catalog: harvest.NewCatalog(memstore.New())}
	for i := range 40 {
		c.put("a", fmt.Sprint("a", i), websync.Created, fmt.Sprint("body of ", i))
		c.put("b", fmt.Sprint("b", i), websync.Created, "a body of many")
	}
	for i := range 10 {
		c.put("a", fmt.Sprint("a", 3*i), websync.Updated, fmt.Sprint("newer ", i))
		c.put("b", fmt.Sprint("b", 2*i), websync.Deleted, "")
	}
	c.put("a", "long", websync.Created, strings.Repeat("a long body ", 20_000))
	if _, err := c.Vacuum(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	return c
}

// put commits one change. It returns nil.
func (c *catalog) put(source, id string, kind websync.ChangeKind, text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	item := websync.Item{Kind: kind, Resource: websync.Resource{ID: id, Title: "title", Links: []websync.Link{{Href: id}}}}
	var texts []string
	if text != "" {
		texts = []string{text}
		item.Bodies = []websync.Body{{Name: "content", Key: websync.SHA256([]byte(text))}}
	}
	testkit.Fill(testkit.Must, c.Catalog, source, texts, item)
	return nil
}

// A faulty is a catalog with faults in its answers.
type faulty struct {
	*catalog
	head      func(h *websync.Head)
	get       func(source string, ids []string, items []websync.Item) []websync.Item
	items     func(items []websync.Item) []websync.Item // of Resources and Changes
	resources func(r websync.Range, items []websync.Item) []websync.Item
	changes   func(r websync.Range, items []websync.Item, err error) ([]websync.Item, error)
	open      func(b websync.Body) (io.ReadSeekCloser, error)
	loop      func(yes func() bool) bool // around every step of every loop
	growing   bool                       // loops yield entries that were added after they began
	shares    bool                       // loops keep their caller's Range
	quiet     bool                       // loops end without the error of their context
	again     bool                       // loops continue after a break
	once      *iterOnce
}

type iterOnce struct{ at int }

func (f *faulty) Head(ctx context.Context) (websync.Head, error) {
	h, err := f.catalog.Head(ctx)
	if f.head != nil {
		f.head(&h)
	}
	return h, err
}

func (f *faulty) Get(ctx context.Context, source string, ids []string) ([]websync.Item, error) {
	items, err := f.catalog.Get(ctx, source, ids)
	if f.get != nil {
		items = f.get(source, ids, items)
	}
	return items, err
}

func (f *faulty) Resources(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return f.walk(ctx, r, func(r websync.Range) ([]websync.Item, error) {
		items, err := collect(f.catalog.Resources(ctx, r))
		if f.resources != nil {
			items = f.resources(r, items)
		}
		return items, err
	})
}

func (f *faulty) Changes(ctx context.Context, r websync.Range) iter.Seq2[websync.Item, error] {
	return f.walk(ctx, r, func(r websync.Range) ([]websync.Item, error) {
		items, err := collect(f.catalog.Changes(ctx, r))
		if f.changes != nil {
			items, err = f.changes(r, items, err)
		}
		return items, err
	})
}

func collect(seq iter.Seq2[websync.Item, error]) (items []websync.Item, err error) {
	for it, err := range seq {
		if err != nil {
			return items, err
		}
		items = append(items, it)
	}
	return items, nil
}

func (f *faulty) walk(ctx context.Context, r websync.Range, get func(websync.Range) ([]websync.Item, error)) iter.Seq2[websync.Item, error] {
	if !f.shares {
		r.Sources = slices.Clone(r.Sources)
	}
	return func(yield func(websync.Item, error) bool) {
		if f.loop != nil {
			inner := yield
			yield = func(it websync.Item, err error) bool { return f.loop(func() bool { return inner(it, err) }) }
		}
		items, err := get(r)
		if f.items != nil {
			items = f.items(items)
		}
		at := new(int)
		if f.once != nil {
			at = &f.once.at
			*at = 0
		}
		for ; *at < len(items); *at++ {
			if ctx.Err() != nil && !f.quiet {
				yield(websync.Item{}, ctx.Err())
				return
			}
			if ctx.Err() != nil || !yield(items[*at], nil) && !f.again {
				return
			}
			if f.growing {
				items, err = get(r)
			}
		}
		if err != nil {
			yield(websync.Item{}, err)
		}
	}
}

func (f *faulty) Open(ctx context.Context, b websync.Body) (io.ReadSeekCloser, error) {
	if f.open != nil {
		return f.open(b)
	}
	return f.catalog.Open(ctx, b)
}

func options(with func(f *faulty)) catalogtest.Options {
	return catalogtest.Options{
		Open: func(t testing.TB) websync.Catalog {
			f := &faulty{catalog: filled(t)}
			with(f)
			return f
		},
		Change: func(c websync.Catalog, n int) error {
			return c.(*faulty).put("a", fmt.Sprint("new ", n), websync.Created, "")
		},
		Replace: func(c websync.Catalog, n int) error {
			return c.(*faulty).put("a", "a1", websync.Updated, fmt.Sprint("replaced ", n))
		},
		Patience: 300 * time.Millisecond,
	}
}

// A clamped body counts no position after its end.
type clamped struct{ body }

func (c clamped) Seek(offset int64, whence int) (int64, error) {
	pos, err := c.body.Seek(offset, whence)
	if end := c.Size(); err == nil && pos > end {
		return c.body.Seek(0, io.SeekEnd)
	}
	return pos, err
}

// A pieced body that is read at the start can't seek to another piece.
type pieced struct{ body }

func (p pieced) Seek(offset int64, whence int) (int64, error) {
	from := p.Size() - int64(p.Len())
	pos, err := p.body.Seek(offset, whence)
	if pos>>17 != from>>17 && from != 0 && pos < p.Size() && pos != 0 {
		_, err = p.body.Seek(pos&^(1<<17-1), io.SeekStart)
	}
	return pos, err
}

// asBytes returns the fault that opens bodies as wrap returns them.
func (f *faulty) asBytes(wrap func(body) io.ReadSeekCloser) {
	f.open = func(b websync.Body) (io.ReadSeekCloser, error) {
		r, err := f.catalog.Open(context.Background(), b)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		data, err := io.ReadAll(r)
		return wrap(body{bytes.NewReader(data)}), err
	}
}

// eachItem returns the fault that calls f with each item.
func eachItem(f func(it *websync.Item)) func([]websync.Item) []websync.Item {
	return func(items []websync.Item) []websync.Item {
		for i := range items {
			f(&items[i])
		}
		return items
	}
}

type body struct{ *bytes.Reader }

func (body) Close() error { return nil }

func TestBrokenCatalogs(t *testing.T) {
	var all []suite.Broken[catalogtest.Options]
	for _, b := range []struct {
		name, caught string
		with         func(f *faulty)
	}{
		{"generation 0", "head/log", func(f *faulty) { f.head = func(h *websync.Head) { h.Generation = 0 } }},
		{"numbers from 0", "head/log", func(f *faulty) {
			f.items = eachItem(func(it *websync.Item) { it.Seq-- })
		}},
		{"times in whole seconds", "head/log", func(f *faulty) {
			f.items = eachItem(func(it *websync.Item) { it.Time = it.Time.Truncate(time.Second) })
		}},
		{"times in local time", "head/log", func(f *faulty) {
			f.items = eachItem(func(it *websync.Item) { it.Time = it.Time.In(time.FixedZone("", 3600)) })
		}},
		{"Head without a first", "head/log", func(f *faulty) { f.head = func(h *websync.Head) { h.First = 0 } }},
		{"Live counts entries", "head/live", func(f *faulty) { f.head = func(h *websync.Head) { h.Live["b"] = 50 } }},
		{"Born of Head is not kept", "head/born", func(f *faulty) { f.head = func(h *websync.Head) { h.Born = 1 } }},
		{"entries without a source", "log/entries", func(f *faulty) {
			f.items = eachItem(func(it *websync.Item) { it.Source = "" })
		}},
		{"Born is the number", "log/entries", func(f *faulty) { f.items = eachItem(func(it *websync.Item) { it.Born = it.Seq }) }},
		{"Prior counts from the first generation", "log/prior", func(f *faulty) {
			f.items = eachItem(func(it *websync.Item) {
				if it.Prior > 0 {
					it.Prior--
				}
			})
		}},
		{"Get has no Prior", "log/prior", func(f *faulty) {
			f.get = func(_ string, _ []string, items []websync.Item) []websync.Item {
				return eachItem(func(it *websync.Item) { it.Prior = 0 })(items)
			}
		}},
		{"Until is not reached", "log/range", func(f *faulty) {
			f.changes = func(r websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
				if r.Until > 0 && len(items) > 0 {
					items = items[:len(items)-1]
				}
				return items, err
			}
		}},
		{"Changes ignores Since", "log/since log/since-range", func(f *faulty) {
			f.changes = func(r websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
				if err == nil && !r.Since.IsZero() {
					r.Since = time.Time{}
					return collect(f.catalog.Changes(context.Background(), r))
				}
				return items, err
			}
		}},
		{"Since excludes its own time", "log/since", func(f *faulty) {
			f.changes = func(r websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
				return slices.DeleteFunc(items, func(it websync.Item) bool { return it.Time.Equal(r.Since) }), err
			}
		}},
		{"Since replaces After", "log/since-range", func(f *faulty) {
			f.changes = func(r websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
				if err == nil && !r.Since.IsZero() {
					r.After = 0
					return collect(f.catalog.Changes(context.Background(), r))
				}
				return items, err
			}
		}},
		{"Resources honours Since", "resources/range", func(f *faulty) {
			f.resources = func(r websync.Range, items []websync.Item) []websync.Item {
				return slices.DeleteFunc(items, func(it websync.Item) bool { return it.Time.Before(r.Since) })
			}
		}},
		{"an unknown generation is empty", "log/generations", func(f *faulty) {
			f.changes = func(_ websync.Range, items []websync.Item, _ error) ([]websync.Item, error) { return items, nil }
		}},
		{"Resources in the order of numbers", "resources/order", func(f *faulty) {
			f.resources = func(_ websync.Range, items []websync.Item) []websync.Item {
				slices.SortFunc(items, func(a, b websync.Item) int { return int(a.Seq) - int(b.Seq) })
				return items
			}
		}},
		{"Resources yields a deletion", "resources/order resources/log", func(f *faulty) {
			f.resources = func(_ websync.Range, items []websync.Item) []websync.Item {
				if len(items) > 0 {
					items[len(items)-1].Kind = websync.Deleted
				}
				return items
			}
		}},
		{"Resources omits one", "resources/log", func(f *faulty) {
			f.resources = func(_ websync.Range, items []websync.Item) []websync.Item { return items[:max(0, len(items)-1)] }
		}},
		{"Resources ignores After", "resources/range", func(f *faulty) {
			f.resources = func(r websync.Range, _ []websync.Item) []websync.Item {
				r.After = 0
				items, _ := collect(f.catalog.Resources(context.Background(), r))
				return items
			}
		}},
		{"Get omits unknown ids", "get/order", func(f *faulty) {
			f.get = func(_ string, _ []string, items []websync.Item) []websync.Item {
				return slices.DeleteFunc(items, func(it websync.Item) bool { return it.Resource.ID == "" })
			}
		}},
		{"Get returns items in its own order", "get/order", func(f *faulty) {
			f.get = func(_ string, _ []string, items []websync.Item) []websync.Item {
				slices.SortStableFunc(items, func(a, b websync.Item) int { return int(a.Seq) - int(b.Seq) })
				return items
			}
		}},
		{"Get omits deleted ids", "get/log", func(f *faulty) {
			f.get = func(_ string, _ []string, items []websync.Item) []websync.Item {
				return eachItem(func(it *websync.Item) {
					if it.Kind == websync.Deleted {
						*it = websync.Item{}
					}
				})(items)
			}
		}},
		{"Keys are md5", "bodies/keys", func(f *faulty) {
			f.items = eachItem(func(it *websync.Item) {
				for i := range it.Bodies {
					it.Bodies[i].Key.Algorithm = "md5"
				}
			})
		}},
		{"a position after the end is the end", "bodies/seek", func(f *faulty) {
			f.asBytes(func(b body) io.ReadSeekCloser { return clamped{b} })
		}},
		{"seeks to the start of a piece of 128 KiB", "bodies/seek", func(f *faulty) {
			f.asBytes(func(b body) io.ReadSeekCloser { return pieced{b} })
		}},
		{"entries that are replaced have no bodies", "growth/replaced", func(f *faulty) {
			f.changes = func(_ websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
				last := map[string]int{}
				for i, it := range items {
					last[it.Source+" "+it.Resource.ID] = i
				}
				for i, it := range items {
					if last[it.Source+" "+it.Resource.ID] != i {
						items[i].Bodies = nil
					}
				}
				return items, err
			}
		}},
		{"bodies are other bytes", "bodies/content bodies/seek", func(f *faulty) {
			f.open = func(websync.Body) (io.ReadSeekCloser, error) { return body{bytes.NewReader([]byte("other"))}, nil }
		}},
		{"a removed body is not ErrNotFound", "bodies/superseded bodies/unknown", func(f *faulty) {
			f.open = func(b websync.Body) (io.ReadSeekCloser, error) {
				r, err := f.catalog.Open(context.Background(), b)
				if err != nil {
					err = errors.New("gone")
				}
				return r, err
			}
		}},
		{"an unknown body is empty", "bodies/unknown", func(f *faulty) {
			f.open = func(b websync.Body) (io.ReadSeekCloser, error) {
				r, err := f.catalog.Open(context.Background(), b)
				if err != nil {
					return body{bytes.NewReader(nil)}, nil
				}
				return r, err
			}
		}},
		{"bodies are read from the start only", "bodies/seek", func(f *faulty) {
			f.open = func(b websync.Body) (io.ReadSeekCloser, error) {
				r, err := f.catalog.Open(context.Background(), b)
				return unseekable{r}, err
			}
		}},
		{"holds a lock across a yield", "iterators/inside iterators/paused iterators/many", func(f *faulty) {
			var mu sync.Mutex
			f.loop = func(yes func() bool) bool {
				mu.Lock()
				defer mu.Unlock()
				return yes()
			}
		}},
		{"continues after a break", "iterators/break", func(f *faulty) { f.again = true }},
		{"loops share a cursor", "iterators/again", func(f *faulty) { f.once = new(iterOnce) }},
		{"ends without an error when its context ends", "iterators/context", func(f *faulty) { f.quiet = true }},
		{"a loop reads its Range only when it begins", "iterators/arguments", func(f *faulty) { f.shares = true }},
		{"returns its own slices", "iterators/arguments", func(f *faulty) {
			links := map[string][]websync.Link{}
			f.items = eachItem(func(it *websync.Item) {
				if links[it.Resource.ID] == nil {
					links[it.Resource.ID] = it.Resource.Links
				}
				it.Resource.Links = links[it.Resource.ID]
			})
		}},
		{"loops yield entries that come later", "growth/ends", func(f *faulty) { f.growing = true }},
		{"a change is not in the log", "growth/appends growth/at-once", func(f *faulty) {
			f.changes = func(_ websync.Range, items []websync.Item, err error) ([]websync.Item, error) {
				return items[:min(len(items), 100)], err
			}
		}},
	} {
		all = append(all, suite.Broken[catalogtest.Options]{Name: b.name, Caught: b.caught,
			Options: func() catalogtest.Options { return options(b.with) }})
	}
	suite.CatchAll(t, catalogtest.Cases(), all, *matrix)
}

type unseekable struct{ io.ReadSeekCloser }

func (u unseekable) Seek(offset int64, whence int) (int64, error) {
	return u.ReadSeekCloser.Seek(0, io.SeekStart)
}

func TestSoundCatalog(t *testing.T) {
	o := options(func(*faulty) {})
	o.Patience = 0
	suite.Passes(t, catalogtest.Cases(), o)
	catalogtest.Run(t, o)
}

func Example() {
	_ = func(t *testing.T) { // func TestCatalog(t *testing.T)
		catalogtest.Run(t, catalogtest.Options{
			Open: func(t testing.TB) websync.Catalog { return filled(t) },
			Change: func(c websync.Catalog, n int) error {
				return c.(*catalog).put("a", fmt.Sprint("new ", n), websync.Created, "")
			},
		})
	}
}
