package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/suite"
	"github.com/websync-go/websync/publish/catalogtest"
)

// catalogCases are those of package catalogtest: every Store is a Catalog.
func catalogCases() (all []Case) {
	for _, c := range catalogtest.Cases() {
		all = append(all, Case{
			Topic: "catalog", Name: c.Topic + "-" + c.Name, Rule: c.Rule,
			Lack: func(Options) string { return "" },
			Check: func(t testing.TB, o Options) {
				t.Helper()
				c.Check(t, catalogtest.Options{
					Open:     func(t testing.TB) websync.Catalog { return o.openFilled(t) },
					Change:   func(c websync.Catalog, n int) error { return c.(*writer).putOne(n) },
					Patience: o.Patience,
				})
			},
		})
	}
	return all
}

// openFilled returns a writer to a Store with two sources, resources that came, changed
// and went, and bodies.
func (o Options) openFilled(tb testing.TB) *writer {
	tb.Helper()
	t := &tester{suite.Tester{TB: tb, Ctx: tb.Context(), Patience: 20 * time.Second}, o}
	a := t.open().writer("a")
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
	b := w.batch()
	b.Puts = []harvest.Change{change(fmt.Sprint(uri5, "/", n), 0, websync.Created, "")}
	_, err := w.Commit(w.t.Ctx, w.c, b)
	return err
}
