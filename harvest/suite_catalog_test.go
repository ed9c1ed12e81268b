package harvest_test

import (
	"fmt"
	"testing"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/publish/catalogtest"
)

// catalog returns the options of package catalogtest: what is checked is one.
func (o suiteOptions) catalog() catalogtest.Options {
	return catalogtest.Options{
		Open:   func(t testing.TB) websync.Catalog { return o.openFilled(t) },
		Change: func(c websync.Catalog, n int) error { return c.(*writer).putOne(n) },
		Replace: func(c websync.Catalog, n int) error {
			w := c.(*writer)
			w.keep(uri5, fmt.Appendf(nil, "replaced %d", n))
			return nil
		},
		Patience: o.Patience,
	}
}

// openFilled returns a writer to a Store with two sources, resources that came, changed
// and went, and bodies.
func (o suiteOptions) openFilled(tb testing.TB) *writer {
	tb.Helper()
	a := newTester(tb, o).open().writer("a")
	b := a.writer("b")
	for i, id := range []string{uri1, uri2, uri3, uri4, uri5} {
		a.keep(id, pattern(10_000*i, uint64(i)))
		b.create(id)
	}
	a.keep(uri2, []byte("newer"))
	a.delete(uri3)
	b.update(uri4, "newer")
	b.delete(uri1)
	b.create(uri1)
	a.addTasks(task("a", uri1, now()))
	return a
}

// putOne creates another resource for each n.
func (w *writer) putOne(n int) error {
	put := change(fmt.Sprint(uri5, "/", n), 0, websync.Created, "")
	return w.tryCommit(w.c, w.batch(harvest.Batch{Puts: []harvest.Change{put}}))
}
