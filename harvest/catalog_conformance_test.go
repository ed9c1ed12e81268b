package harvest_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/storetest"
)

// options opens Stores on DBs that newDB makes.
func options(newDB func(t testing.TB) harvest.Store) suiteOptions {
	var mu sync.Mutex
	dbs := map[checkedCatalog]harvest.Store{}
	open := func(db harvest.Store, now func() time.Time) checkedCatalog {
		s := harvest.NewCatalog(db)
		s.Now = now
		s.ChunkSize = 4 << 10
		mu.Lock()
		defer mu.Unlock()
		dbs[s] = db
		return s
	}
	return suiteOptions{
		Open:      func(t testing.TB) checkedCatalog { return open(inspected(t, newDB(t)), nil) },
		OpenClock: func(t testing.TB, now func() time.Time) checkedCatalog { return open(inspected(t, newDB(t)), now) },
		Reopen: func(t testing.TB, s checkedCatalog) checkedCatalog {
			mu.Lock()
			db := dbs[s]
			mu.Unlock()
			return open(db, nil)
		},
	}
}

// inspected checks db when the test has ended.
func inspected(t testing.TB, db harvest.Store) harvest.Store {
	t.Cleanup(func() { inspect(t, db) })
	return db
}

func inspect(t testing.TB, db harvest.Store) {
	t.Helper()
	faults, err := harvest.NewCatalog(db).Inspect(context.Background())
	if err != nil {
		t.Error(err)
	}
	for _, f := range faults {
		t.Error("inside: " + f)
	}
}

// TestConformance uses a Store that gives no more than the contract of Store does.
func TestConformance(t *testing.T) {
	runSuite(t, options(func(t testing.TB) harvest.Store { return &strictDB{t: t, db: memstore.New()} }))
}

// TestDriver checks the driver of the example.
func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Options{Open: func(testing.TB) harvest.Store { return newSortedMap() }})
}

// A strictDB finds Stores that rely on more than the contract: it overwrites values when
// the function has returned, runs each Update twice, and many Views again after a run in
// which reading fails. It fails the test if a Scan reads what the same Tx has written, or
// if a call breaks another rule.
type strictDB struct {
	t     testing.TB
	db    *memstore.Store
	views atomic.Int64
}

var errAgain = errors.New("again")

func (s *strictDB) View(ctx context.Context, fn func(harvest.Reader) error) error {
	run := func(r harvest.Reader) error {
		strict := &strictTx{strictDB: s, r: r}
		defer strict.destroy()
		return fn(strict)
	}
	reads := s.views.Add(1) % 5
	failing := &failingReader{reads: reads}
	err := s.db.View(ctx, func(r harvest.Reader) error {
		failing.Reader = r
		return run(failing)
	})
	if failing.reads >= 0 {
		return err
	}
	if !errors.Is(err, errAgain) {
		s.t.Errorf("reading has failed, and the View returns %v", err)
	}
	return s.db.View(ctx, run)
}

// A failingReader fails after some reads; a Scan then fails after its first key.
type failingReader struct {
	harvest.Reader
	reads int64
}

func (r *failingReader) Get(key []byte) ([]byte, error) {
	if r.reads--; r.reads < 0 {
		return nil, errAgain
	}
	return r.Reader.Get(key)
}

func (r *failingReader) Scan(from, to []byte, n int, fn func(key, value []byte) bool) error {
	if r.reads--; r.reads >= 0 {
		return r.Reader.Scan(from, to, n, fn)
	}
	r.Reader.Scan(from, to, n, func(k, v []byte) bool {
		fn(k, v)
		return false
	})
	return errAgain
}

func (s *strictDB) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	run := func(tx harvest.Tx) error {
		strict := &strictTx{strictDB: s, r: tx, tx: tx, written: map[string]bool{}}
		defer strict.destroy()
		err := fn(strict)
		strict.checkUnchanged()
		return err
	}
	s.db.Update(ctx, func(tx harvest.Tx) error {
		run(tx)
		return errAgain
	})
	return s.db.Update(ctx, run)
}

type strictTx struct {
	*strictDB
	r       harvest.Reader
	tx      harvest.Tx
	lent    [][]byte
	given   [][2][]byte // as they were, as they are
	written map[string]bool
	scans   int
}

// lend returns a copy to be destroyed.
func (s *strictTx) lend(b []byte) []byte {
	if b == nil {
		return nil
	}
	b = bytes.Clone(b)
	s.lent = append(s.lent, b)
	return b
}

func (s *strictTx) destroy() {
	for _, b := range s.lent {
		for i := range b {
			b[i] = 0xaa
		}
	}
}

func (s *strictTx) checkUnchanged() {
	for _, g := range s.given {
		if !bytes.Equal(g[0], g[1]) {
			s.t.Errorf("%q was changed to %q after Set", g[0], g[1])
		}
	}
}

func (s *strictTx) Get(key []byte) ([]byte, error) {
	if s.scans > 0 {
		s.t.Error("Get inside a Scan")
	}
	v, err := s.r.Get(key)
	return s.lend(v), err
}

func (s *strictTx) Scan(from, to []byte, n int, fn func(key, value []byte) bool) error {
	if n < 1 {
		s.t.Errorf("Scan of %d keys", n)
	}
	for k := range s.written {
		if k >= string(from) && k < string(to) {
			s.t.Errorf("Scan of %q, which the same Tx has written", k)
		}
	}
	s.scans++
	defer func() { s.scans-- }()
	return s.r.Scan(from, to, n, func(k, v []byte) bool { return fn(s.lend(k), s.lend(v)) })
}

func (s *strictTx) Set(key, value []byte) error {
	if len(key) == 0 || len(value) == 0 || len(key) > 5000 {
		s.t.Errorf("Set of a key of %d bytes and a value of %d", len(key), len(value))
	}
	s.write(key)
	s.given = append(s.given, [2][]byte{bytes.Clone(key), key}, [2][]byte{bytes.Clone(value), value})
	return s.tx.Set(bytes.Clone(key), bytes.Clone(value))
}

func (s *strictTx) Delete(key []byte) error {
	s.write(key)
	return s.tx.Delete(key)
}

func (s *strictTx) write(key []byte) {
	if s.scans > 0 {
		s.t.Error("a write inside a Scan")
	}
	s.written[string(key)] = true
}
