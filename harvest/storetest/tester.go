package storetest

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/suite"
)

// A tester runs one case.
type tester struct {
	suite.Tester
	options Options
}

func newTester(t testing.TB, o Options) *tester { return &tester{suite.NewTester(t, o.Patience), o} }

// A db is the Store under test. Its methods end the case if a call fails; those that
// return an error do not.
type db struct {
	harvest.Store
	*tester
}

func (t *tester) open() *db { return &db{t.options.Open(t.TB), t} }

// beside returns another opening of d.
func (d *db) beside() *db { return &db{d.options.Beside(d.TB, d.Store), d.tester} }

// reopened returns two openings of a Store, which may be one, after the first is opened
// again, if it can be.
func reopened(d, other *db) (*db, *db) {
	if d.options.Reopen == nil {
		return d, other
	}
	again := &db{d.options.Reopen(d.TB, d.Store), d.tester}
	if other == d {
		other = again
	}
	return again, other
}

// offered returns v, a Store or a Tx, as one of the optional interfaces. It skips the
// case if it is not one.
func offered[I any](t *tester, v any) I {
	t.Helper()
	i, ok := v.(I)
	t.needs(ok, "%T is not a %s", v, reflect.TypeFor[I]())
	return i
}

// needs skips the case if something is missing.
func (t *tester) needs(has bool, missing string, args ...any) {
	t.Helper()
	if !has {
		t.Skipf("not checked: "+missing, args...)
	}
}

// tryView returns the error of a View. A panic is one, too.
func (d *db) tryView(ctx context.Context, fn func(t *tx)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // means nothing to later calls
	return d.Await(func() error {
		return d.View(ctx, func(r harvest.Reader) error { return (&tx{Reader: r}).run(fn) })
	})
}

// tryUpdate returns the error of an Update. A panic is one, too.
func (d *db) tryUpdate(ctx context.Context, fn func(t *tx)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return d.Await(func() error {
		return d.Update(ctx, func(w harvest.Tx) error { return (&tx{Reader: w, w: w}).run(fn) })
	})
}

func (d *db) view(fn func(t *tx)) {
	d.Helper()
	d.OK(d.tryView(d.Ctx, fn), "View")
}

func (d *db) update(fn func(t *tx)) {
	d.Helper()
	d.OK(d.tryUpdate(d.Ctx, fn), "Update")
}

// set writes p; "" deletes.
func (d *db) set(p pairs) {
	d.Helper()
	d.update(func(t *tx) {
		for _, k := range p.keys() {
			t.set(k, p[k])
		}
	})
}

// holds checks that d holds p and nothing else.
func (d *db) holds(p pairs) {
	d.Helper()
	d.view(func(t *tx) { t.holds(p) })
}

// A tx is a Reader or a Tx under test. It collects what its methods find.
type tx struct {
	harvest.Reader
	w    harvest.Tx // nil in a View
	err  error      // the first
	lent []loan
	// between is called before each key of a Scan. It may be nil.
	between func(keys int)
}

// A loan is a slice that the Store has returned or was given, and its bytes.
type loan struct {
	b   []byte
	was string
}

// behind lies in memory behind what a Store is given.
const behind = "behind"

// bytes returns a slice that the Store may keep, and may not change.
func (t *tx) bytes(s string) []byte {
	b := []byte(s + behind)
	t.lend(b)
	return b[:len(s)]
}

// reusable returns a slice that the Store may neither keep nor change, and what ends its
// use.
func (t *tx) reusable(s string) (b []byte, end func()) {
	all := []byte(s + behind)
	return all[:len(s)], func() {
		t.same(s+behind, string(all), "what the Store is given")
		clear(all)
	}
}

// run calls fn and returns what it has found.
func (t *tx) run(fn func(t *tx)) error {
	fn(t)
	for _, l := range t.lent {
		if string(l.b) != l.was {
			return fmt.Errorf("%.50q becomes %.50q before the function returns", l.was, l.b)
		}
	}
	return t.err
}

func (t *tx) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// same notes where got differs from want.
func (t *tx) same(want, got any, what string, args ...any) {
	if reflect.DeepEqual(want, got) {
		return // which Diff takes longer to find
	}
	if d := suite.Diff(want, got); d != "" {
		t.fail(fmt.Errorf("%s%s", fmt.Sprintf(what, args...), d))
	}
}

func (t *tx) lend(b []byte) string {
	l := loan{b, string(b)}
	t.lent = append(t.lent, l)
	return l.was
}

// get returns the value of key, "" if there is none.
func (t *tx) get(key string) string {
	k, end := t.reusable(key)
	v, err := t.Get(k)
	t.fail(err)
	t.same(len(v) == 0, v == nil, "Get %.50q returns %q; is it nil: ", key, v)
	end()
	return t.lend(v)
}

// is checks the value of key; "" if there is none.
func (t *tx) is(key, want string) { t.same(want, t.get(key), "Get %.50q", key) }

// scan returns the pairs that Scan yields, most of them at most, and checks the bounds
// and the order.
func (t *tx) scan(from, to string, n, most int) pairs {
	last, got := "", pairs{}
	f, endFrom := t.reusable(from)
	e, endTo := t.reusable(to)
	t.fail(t.Scan(f, e, n, func(k, v []byte) bool {
		if t.between != nil {
			t.between(len(got))
		}
		key := t.lend(k)
		if len(got) == most || key < from || key >= to || key <= last {
			t.fail(fmt.Errorf("%.50q after %.50q in a Scan of at most %d keys from %.50q to %.50q", key, last, most, from, to))
		}
		last = key
		got[key] = t.lend(v)
		return t.err == nil && len(got) < most
	}))
	endFrom()
	endTo()
	return got
}

// all is more than the keys that are used here.
const all = 1 << 30

// list returns what Scan yields.
func (t *tx) list(from, to string) pairs { return t.scan(from, to, 100, all) }

// holds checks that there is p and nothing else.
func (t *tx) holds(p pairs) {
	t.same(p, t.list(least, greatest), "Scan")
	t.prefetch(p.keys()...)
	for k, v := range p {
		t.is(k, v)
	}
}

func (t *tx) prefetch(keys ...string) {
	if p, ok := t.Reader.(harvest.Prefetcher); ok && len(keys) > 0 {
		list := make([][]byte, len(keys))
		for i, k := range keys {
			list[i] = t.bytes(k)
		}
		t.fail(p.Prefetch(list))
		for i, k := range keys {
			t.same(k, string(list[i]), "a key after Prefetch")
		}
	}
}

// set sets the value of key, or deletes it if value is "".
func (t *tx) set(key, value string) {
	if value == "" {
		t.fail(t.w.Delete(t.bytes(key)))
	} else {
		t.fail(t.w.Set(t.bytes(key), t.bytes(value)))
	}
}

// absent is called before set of a key that has no value.
func (t *tx) absent(key string) {
	if p, ok := t.Reader.(harvest.Prefetcher); ok {
		p.Absent(t.bytes(key))
	}
}

// pairs are keys and their values.
type pairs map[string]string

// keys returns the keys in their order.
func (p pairs) keys() []string { return slices.Sorted(maps.Keys(p)) }

// in returns the pairs whose keys are between two bounds.
func (p pairs) in(from, to string) pairs {
	part := pairs{}
	for k, v := range p {
		if from <= k && k < to {
			part[k] = v
		}
	}
	return part
}

// maxKey is the length of the longest keys.
const maxKey = 5000

// All keys that are used here are between these two.
var least, greatest = "\x00", strings.Repeat("\xff", maxKey)

// logKey returns a key of the log.
func logKey(generation, n uint64) string {
	k := binary.BigEndian.AppendUint64([]byte{harvest.LogKey}, generation)
	return string(binary.BigEndian.AppendUint64(k, n))
}

// oddKeys are keys of all sorts, in their order.
var oddKeys = sync.OnceValue(func() []string {
	keys := []string{
		"\x00", "\x00\x00", "\x00\x01", "\x01", " ", "10", "9", "A", "B", "a", "a\x00", "a\x00b", "a ", "a\xcc\x8a",
		"a\xff", "aa", "b", "k\xff\xff", "m", "\x7f", "\x80", "\xc3\xa5", "\xfe\xff", "\xff", "\xff\x00", "\xff\xff",
	}
	for _, n := range []int{255, 256, 1024, 2600, 2601, 2704, 4096, maxKey} {
		long := strings.Repeat("k", n-1)
		keys = append(keys, long+"\x00", long+"1", long+"\xff", "\xff"+strings.Repeat("\x00", n-1))
	}
	for _, generation := range []uint64{1, 2, 255, 256, 1<<16 + 1} {
		for _, n := range []uint64{1, 2, 255, 256, 1 << 32} {
			keys = append(keys, logKey(generation, n))
		}
	}
	slices.Sort(keys)
	return keys
})

// oddBounds are oddKeys and their neighbours, in their order.
var oddBounds = sync.OnceValue(func() []string {
	bounds := []string{least, greatest, "l", "l\x00", "l\xff", "l" + strings.Repeat("\xff", 16), "m"}
	for _, k := range oddKeys() {
		bounds = append(bounds, k, k[:max(len(k)-1, 1)], (k + "\x00")[:min(len(k)+1, maxKey)])
		if k[0] == harvest.LogKey {
			bounds = append(bounds, k[:4], k[:9], k[:12], k[:9]+"\xff", k+"\xff")
		}
	}
	slices.Sort(bounds)
	return slices.Compact(bounds)
})

// pattern returns n bytes of all values that differ for each seed and do not repeat.
func pattern(n, seed int) string {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)}).Read(b)
	return string(b)
}
