package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/suite"
)

// errTest is the error of a function.
var errTest = errors.New("the error of a function")

// A model makes random calls of View and Update and compares what they do with what they
// would do to a map.
type model struct {
	// What is done in Views and in Updates, a letter each. See do.
	views, updates string
	// How calls end, a letter each: return (.), fail (e), fail if they are called again
	// (f), panic (p), panic inside a Scan (s), and their context ends before (b), inside
	// (i) or at any time (a).
	ends string

	versions    sync.Map // by the value of idKey
	ids         atomic.Int64
	least, most atomic.Int64 // Updates that are applied
}

// A version is what a Catalog holds after n Updates.
type version struct {
	pairs
	n int
}

// idKey is the key that each Update sets to a value of its own.
const idKey = "id"

// withModel returns a rule that some goroutines check at once.
func withModel(name, sentence, views, updates, ends string, workers int) rule {
	return withTwo(name, sentence, func(d, other *db) {
		m := &model{views: views, updates: updates, ends: ends}
		m.versions.Store("", &version{pairs: pairs{}})
		steps := 40
		if racing.Few() {
			steps = 20
		}
		for range 2 {
			openings := []*db{d, other}
			d.OK(suite.Together(workers, func(worker int) (err error) {
				rng := rand.New(rand.NewPCG(uint64(worker), 0))
				for step := 0; step < steps && err == nil; step++ {
					if err = m.call(openings[rng.IntN(2)], openings[rng.IntN(2)], rng.IntN(3) > 0, rng); err != nil {
						err = fmt.Errorf("worker %d, step %d: %w", worker, step, err)
					}
				}
				return err
			}), "random Views and Updates")
			d, other = reopened(d, other)
			d.view(func(t *tx) {
				v := m.version(t, int(m.least.Load()))
				t.holds(v.pairs)
				if most := int(m.most.Load()); v.n > most {
					t.fail(fmt.Errorf("%d Updates are applied, want at most %d", v.n, most))
				}
			})
		}
	})
}

// version returns what the Store holds according to t, after at least n Updates.
func (m *model) version(t *tx, n int) *version {
	id := t.get(idKey)
	v, ok := m.versions.Load(id)
	if !ok {
		t.fail(fmt.Errorf("there is no Update %q, or it has failed", id))
		return &version{pairs: pairs{}}
	}
	if v := v.(*version); v.n < n {
		t.fail(fmt.Errorf("of %d Updates, %d are applied", n, v.n))
	}
	return v.(*version)
}

// call calls View or Update of d. Inside, other may be called if it is not nil.
func (m *model) call(d, other *db, update bool, rng *rand.Rand) error {
	seed, end, before := rng.Uint64(), string(m.ends[rng.IntN(len(m.ends))]), int(m.least.Load())
	try, ops := d.tryView, m.views
	if update {
		try, ops = d.tryUpdate, m.updates
	}
	ctx, cancel := context.WithCancel(d.Ctx)
	defer cancel()
	switch end {
	case "b":
		cancel()
	case "a":
		go func() {
			for range seed % 2000 {
				runtime.Gosched()
			}
			cancel()
		}()
	}
	var found error
	var ids []string // of the Update, one for each time that its function is called
	calls := 0
	err := try(ctx, func(t *tx) {
		calls++
		rng := rand.New(rand.NewPCG(seed, 0))
		v := m.version(t, before)
		next := &version{maps.Clone(v.pairs), v.n + 1}
		m.do(t, next.pairs, ops, other, rng)
		if update {
			id := fmt.Sprint(m.ids.Add(1))
			t.set(idKey, id)
			next.pairs[idKey] = id
			m.versions.Store(id, next)
			ids = append(ids, id)
		}
		if found = t.err; found == nil {
			t.end(end, calls, cancel)
		}
	})
	if end == "f" && calls < 2 {
		end = "."
	}
	ended := func(err error) bool { return strings.Contains("bia", end) && errors.Is(err, context.Canceled) }
	switch {
	case found != nil && errors.Is(err, found) && !ended(found):
		return found
	case ended(err), err == nil && found == nil && calls > 0 && !strings.Contains("efps", end):
		if found == nil && len(ids) > 0 { // the last attempt is applied, or may be
			ids = ids[:len(ids)-1]
			m.most.Add(1)
		}
		if err == nil && update {
			m.least.Add(1)
		}
	case strings.Contains("efs", end) && errors.Is(err, errTest), strings.Contains("ps", end) && err != nil:
	default:
		return fmt.Errorf("a call that ends with %s returned %w", end, err)
	}
	for _, id := range ids {
		m.versions.Delete(id)
	}
	return nil
}

// end ends the function of a call.
func (t *tx) end(how string, calls int, cancel func()) {
	switch how {
	case "f":
		if calls < 2 {
			return
		}
		fallthrough
	case "e":
		t.fail(errTest)
	case "p":
		panic(errTest)
	case "s":
		t.between = func(int) { panic(errTest) }
		t.list(least, greatest)
		t.fail(errTest) // there are no keys
	case "i":
		cancel()
	}
}

// do does random things in t and compares them with held, which it changes alike: Get
// (g), Set (s), Delete (d), Absent and Set (i), Prefetch (p), Scan (c), reading
// everything (h), a View (v) or an Update (u) of another goroutine.
func (m *model) do(t *tx, held pairs, ops string, other *db, rng *rand.Rand) {
	if other == nil {
		ops = strings.Trim(ops, "uv")
	}
	bounds, keys, written := oddBounds(), oddKeys(), pairs{}
	near := keys[rng.IntN(3)*len(keys)/3:][:4] // are used often, so that they come again
	for range rng.IntN(30) {
		op, key, to := ops[rng.IntN(len(ops))], bounds[rng.IntN(len(bounds))], bounds[rng.IntN(len(bounds))]
		if write := strings.IndexByte("sdi", op) >= 0; write || rng.IntN(2) == 0 {
			if key = keys[rng.IntN(len(keys))]; rng.IntN(2) == 0 {
				key = near[rng.IntN(len(near))]
			}
			if write {
				written[key] = ""
			}
		}
		switch value := pattern([]int{1, 20, 100, 2000}[rng.IntN(4)], rng.IntN(1<<20)); op {
		case 's':
			t.set(key, value)
			held[key] = value
		case 'd':
			t.set(key, "")
			delete(held, key)
		case 'i':
			if held[key] != "" {
				t.set(key, "")
			}
			t.absent(key)
			t.set(key, value)
			held[key] = value
		case 'p':
			t.prefetch(key, to, key)
			t.is(to, held[to])
		case 'c':
			if at := rng.IntN(20); strings.Contains(ops, "u") {
				t.between = func(keys int) {
					if keys == at {
						t.fail(m.call(other, nil, true, rng))
					}
				}
			}
			page, most := 1+rng.IntN(40), 1+rng.IntN(100)
			t.scans(key, to, page, most, held, written)
			t.between = nil
			continue // Get of key may be none
		case 'h':
			if len(written) == 0 {
				t.holds(held)
			}
		case 'u', 'v':
			t.fail(m.call(other, nil, op == 'u', rng))
		}
		if rng.IntN(2) == 0 {
			t.is(key, held[key])
		}
	}
}

// scans checks a Scan of t, which has written some keys: it may see them or not.
func (t *tx) scans(from, to string, page, most int, held, written pairs) {
	got, want := t.scan(from, to, page, most), held.in(from, to)
	if len(got) == most {
		want = want.in(from, got.keys()[most-1]+"\x00")
	}
	for k := range written {
		delete(want, k)
		delete(got, k)
	}
	t.same(want, got, "Scan from %.50q to %.50q", from, to)
}
