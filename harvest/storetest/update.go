package storetest

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync/internal/testing/suite"
)

var updateRules = []rule{
	withModel("own", "Get returns what the same Tx has written before, and Scan in it yields what others have.",
		"gch", "gsdsdch", ".", 1),
	withModel("failed", "If its function fails, Update applies nothing and returns that error, and so does View.",
		"gc", "gsdic", ".eeef", 1),
	withDB("errors", "View and Update return any error of their function, or one that wraps it, and do not call it again.",
		func(d *db) {
			for _, want := range []error{errTest, io.EOF, fs.ErrNotExist, os.ErrClosed, context.Canceled} {
				for _, try := range []func(context.Context, func(*tx)) error{d.tryView, d.tryUpdate} {
					returned := false
					d.Is(try(d.Ctx, func(t *tx) {
						t.get("a")
						if t.w != nil {
							t.set("a", "failed")
						}
						if t.err == nil && !returned {
							returned = true
							t.fail(want)
						}
					}), want, "a function that fails")
				}
			}
			d, _ = reopened(d, d)
			d.holds(pairs{})
		}),
	withModel("panic", "If a function panics, nothing is applied, and the Store can be used as before.", "gc", "gsd", ".pps", 1),
	withModel("context", "A context that ends makes a call fail, or does nothing; of an Update all is applied or nothing.",
		"gch", "gsdc", ".bia", 3),
	withTwo("waiting", "A context that ends while an Update waits for another one makes it fail, or does nothing.",
		func(d, other *db) {
			for n := range 4 {
				d.waiting([...]*db{other, d}[n%2])
			}
		}),
	withModel("one-state", "A View sees one state, whatever Updates are applied meanwhile.", "gghccu", "gssd", ".", 1),
	withModel("during", "A View begins and ends while an Update runs, and sees nothing of it.", "hg", "gssdv", ".", 1),
	withModel("at-once", "Any Views and Updates may be called at once.", "gch", "gsdc", ".", 3),
	withModel("random", "Any Views and Updates at once, some of which fail, do what they would do to a map.",
		"gcphu", "gsdipcv", ".......effpsbia", 3),
	withTwo("whole", "A View sees all that an Update has written, or nothing of it.", func(d, other *db) {
		d.set(pairs{"a": "1"})
		var over atomic.Bool
		d.Together(3, func(i int) (err error) {
			for n := 0; n < 20 && i == 0 && err == nil; n++ {
				err = d.tryUpdate(d.Ctx, func(t *tx) {
					t.set("ab"[n%2:][:1], "")
					t.set("ba"[n%2:][:1], "1")
				})
			}
			if i == 0 {
				over.Store(true)
			}
			for !over.Load() && err == nil {
				err = [...]*db{d, other, d}[i].tryView(d.Ctx, func(t *tx) {
					t.same("1", t.get("a")+t.get("b"), "the values of two keys")
					t.same(1, len(t.list("a", "c")), "keys")
				})
			}
			return err
		})
	}),
	withTwo("order", "Updates have one order, whatever they read and write.", inOrder),
	withTwo("many", "Many Views run at a time, also during an Update.", func(d, other *db) {
		var views atomic.Int64
		met := make(chan struct{})
		d.set(pairs{"v0": "0", "v1": "1", "v2": "2"})
		d.update(func(t *tx) {
			t.set("a", "1")
			t.fail(suite.Together(3, func(i int) error {
				return [...]*db{d, other, d}[i].tryView(d.Ctx, func(t *tx) {
					t.is(fmt.Sprint("v", i), fmt.Sprint(i))
					if t.is("a", ""); views.Add(1) == 3 {
						close(met)
					}
					select {
					case <-met:
					case <-d.Ctx.Done():
					}
				})
			}))
		})
		other.holds(pairs{"a": "1", "v0": "0", "v1": "1", "v2": "2"})
	}),
}

// waiting checks an Update of other whose context ends while one of d runs.
func (d *db) waiting(other *db) {
	d.Helper()
	ctx, cancel := context.WithCancel(d.Ctx)
	defer cancel()
	add := func(t *tx, what string) { t.set("a", t.get("a")+what) }
	over := make(chan struct{})
	var err error
	begin := sync.OnceFunc(func() {
		go func() {
			defer close(over)
			err = other.tryUpdate(ctx, func(t *tx) { add(t, "w") })
		}()
		for range 1000 {
			runtime.Gosched() // it begins to wait
		}
		cancel()
	})
	before, after := "", ""
	d.view(func(t *tx) { before = t.get("a") })
	d.update(func(t *tx) {
		add(t, "d")
		begin()
		select {
		case <-over:
		case <-time.After(50 * time.Millisecond): // it may wait for this one
		}
	})
	<-over
	if err != nil {
		d.Is(err, context.Canceled, "an Update whose context has ended")
	}
	d.view(func(t *tx) { after = t.get("a") })
	switch added := strings.TrimPrefix(after, before); {
	case added == "dw", added == "wd", added == "d" && err != nil:
	default:
		d.Errorf("two Updates, one of which returned %v, have added %q", err, added)
	}
}

// inOrder runs Updates of two openings of a Store at once, each of which adds one to a
// number of its own after it has read those of all by Get, with or without a Prefetch, or
// a key after it has read all keys.
func inOrder(d, other *db) {
	const workers = 4
	all := []string{"w0", "w1", "w2", "w3"}
	for _, by := range []string{"Get", "Prefetch", "Scan"} {
		var seen [workers][]int
		d.OK(suite.Together(workers, func(worker int) (err error) {
			for n := 0; n < 10 && err == nil; n++ {
				sum := 0
				err = [...]*db{d, other}[worker%2].tryUpdate(d.Ctx, func(t *tx) {
					key, value := fmt.Sprint("s", worker, n), "1"
					if sum = 0; by == "Scan" {
						sum = len(t.list("s", "t"))
					} else {
						if by == "Prefetch" {
							t.prefetch(all...)
						}
						for _, key := range all {
							sum += len(t.get(key))
						}
						key = all[worker]
						value += t.get(key)
					}
					for range 100 {
						runtime.Gosched() // others may read what this one has read
					}
					t.set(key, value)
				})
				seen[worker] = append(seen[worker], sum)
			}
			return err
		}), "Updates at once")
		had := 0
		if by == "Prefetch" {
			had = workers * 10 // by Get
		}
		for i, n := range slices.Sorted(slices.Values(slices.Concat(seen[:]...))) {
			d.FatalIf(had+i != n, "after %d Updates %s sees only %d", i, by, n)
		}
	}
}
