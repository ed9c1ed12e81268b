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
	// What is done in Views and in Updates, a letter each. See step.
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
		if racing.Short() {
			steps = 20
		}
		for range 2 {
			openings := []*db{d, other}
			d.OK(suite.Together(workers, func(worker int) (err error) {
				rng := rand.New(rand.NewPCG(uint64(worker), 0))
				for step := 0; step < steps && err == nil; step++ {
					on, inside := openings[rng.IntN(2)], openings[rng.IntN(2)]
					if err = m.call("vuu"[rng.IntN(3)], on, inside, rng); err != nil {
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

// A call is one View or Update.
type call struct {
	*model
	isUpdate bool
	end      string // a letter of ends
	seed     uint64
	before   int      // Updates that are applied before it
	times    int      // that its function is called
	ids      []string // of the Update, one for each of them
	found    error    // what the function has found
}

// call makes a View (v) or an Update (u) of d. Inside, other may be called if it is not
// nil.
func (m *model) call(what byte, d, other *db, rng *rand.Rand) error {
	c := &call{model: m, isUpdate: what == 'u', seed: rng.Uint64(), end: string(m.ends[rng.IntN(len(m.ends))])}
	c.before = int(m.least.Load())
	try := d.tryView
	if c.isUpdate {
		try = d.tryUpdate
	}
	ctx, cancel := context.WithCancel(d.Ctx)
	defer cancel()
	switch c.end {
	case "b":
		cancel()
	case "a":
		go func() {
			for range c.seed % 2000 {
				runtime.Gosched()
			}
			cancel()
		}()
	}
	return c.judge(try(ctx, func(t *tx) { c.run(t, other, cancel) }))
}

// run is the function of a call.
func (c *call) run(t *tx, other *db, cancel func()) {
	c.times++
	v := c.version(t, c.before)
	next := &version{maps.Clone(v.pairs), v.n + 1}
	s := steps{model: c.model, t: t, held: next.pairs, ops: c.views, other: other, rng: rand.New(rand.NewPCG(c.seed, 0))}
	if c.isUpdate {
		s.ops = c.updates
	}
	s.run()
	if c.isUpdate {
		id := fmt.Sprint(c.model.ids.Add(1))
		t.set(idKey, id)
		next.pairs[idKey] = id
		c.versions.Store(id, next)
		c.ids = append(c.ids, id)
	}
	if c.found = t.err; c.found == nil {
		t.end(c.end, c.times, cancel)
	}
}

// judge returns what is wrong with err, the result of a call.
func (c *call) judge(err error) error {
	if errors.Is(err, suite.ErrBlocked) {
		return err
	}
	if c.end == "f" && c.times < 2 {
		c.end = "."
	}
	ended := func(err error) bool { return strings.Contains("bia", c.end) && errors.Is(err, context.Canceled) }
	succeeds := !strings.Contains("efps", c.end)
	switch {
	case c.found != nil && errors.Is(err, c.found) && !ended(c.found):
		return c.found
	case ended(err), err == nil && c.found == nil && c.times > 0 && succeeds:
		c.applied(err)
	case strings.Contains("efs", c.end) && errors.Is(err, errTest), strings.Contains("ps", c.end) && err != nil:
	default:
		return fmt.Errorf("a call that ends with %s returned %w", c.end, err)
	}
	for _, id := range c.ids {
		c.versions.Delete(id)
	}
	return nil
}

// applied notes that the last attempt of an Update is applied, or may be if err is not
// nil.
func (c *call) applied(err error) {
	if c.found == nil && len(c.ids) > 0 {
		c.ids = c.ids[:len(c.ids)-1]
		c.most.Add(1)
	}
	if err == nil && c.isUpdate {
		c.least.Add(1)
	}
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

// steps are the random things that are done in a View or an Update. What they do to a
// Store they do to a map, too.
type steps struct {
	*model
	t       *tx
	held    pairs // what the Store holds
	written pairs // whose keys the Tx has written
	ops     string
	other   *db // nil: no other call is made inside
	rng     *rand.Rand
}

// run makes some steps.
func (s *steps) run() {
	if s.other == nil {
		s.ops = strings.Trim(s.ops, "uv")
	}
	s.written = pairs{}
	bounds, keys := oddBounds(), oddKeys()
	near := keys[s.rng.IntN(3)*len(keys)/3:][:4] // are used often, so that they come again
	for range s.rng.IntN(30) {
		op, key, to := s.ops[s.rng.IntN(len(s.ops))], bounds[s.rng.IntN(len(bounds))], bounds[s.rng.IntN(len(bounds))]
		if write := strings.IndexByte("sdi", op) >= 0; write || s.rng.IntN(2) == 0 {
			if key = keys[s.rng.IntN(len(keys))]; s.rng.IntN(2) == 0 {
				key = near[s.rng.IntN(len(near))]
			}
			if write {
				s.written[key] = ""
			}
		}
		s.step(op, key, to, pattern([]int{1, 20, 100, 2000}[s.rng.IntN(4)], s.rng.IntN(1<<20)))
		if op != 'c' && s.rng.IntN(2) == 0 { // after a Scan, Get of key may be none
			s.t.is(key, s.held[key])
		}
	}
}

// step does one thing: Get (g), Set (s), Delete (d), Absent and Set (i), Prefetch (p),
// Scan (c), reading everything (h), a View (v) or an Update (u) of another goroutine.
func (s *steps) step(op byte, key, to, value string) {
	t := s.t
	switch op {
	case 's':
		t.set(key, value)
		s.held[key] = value
	case 'd':
		t.set(key, "")
		delete(s.held, key)
	case 'i':
		if s.held[key] != "" {
			t.set(key, "")
		}
		t.absent(key)
		t.set(key, value)
		s.held[key] = value
	case 'p':
		t.prefetch(key, to, key)
		t.is(to, s.held[to])
	case 'c':
		if at := s.rng.IntN(20); strings.Contains(s.ops, "u") {
			t.between = func(keys int) {
				if keys == at {
					t.fail(s.call('u', s.other, nil, s.rng))
				}
			}
		}
		page, most := 1+s.rng.IntN(40), 1+s.rng.IntN(100)
		t.scans(key, to, page, most, s.held, s.written)
		t.between = nil
	case 'h':
		if len(s.written) == 0 {
			t.holds(s.held)
		}
	case 'u', 'v':
		t.fail(s.call(op, s.other, nil, s.rng))
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
