package harvest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
)

var ctx = context.Background()

// A hookDB counts, and calls before with the number of each Update, and inside with each
// key that an Update gets. If before returns an error the Update fails.
type hookDB struct {
	harvest.Store
	updates    atomic.Int64 // they may begin side by side
	gets, sets int
	before     func(n int) error
	inside     func(key []byte)
}

func (h *hookDB) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	n := h.updates.Add(1)
	if h.before != nil {
		if err := h.before(int(n)); err != nil {
			return err
		}
	}
	return h.Store.Update(ctx, func(tx harvest.Tx) error { return fn(hookTx{tx, h}) })
}

type hookTx struct {
	harvest.Tx
	h *hookDB
}

func (tx hookTx) Get(key []byte) ([]byte, error) {
	tx.h.gets++
	if tx.h.inside != nil {
		tx.h.inside(key)
	}
	return tx.Tx.Get(key)
}

func (tx hookTx) Set(key, value []byte) error {
	tx.h.sets++
	return tx.Tx.Set(key, value)
}

func changeTo(id string, base websync.Seq, kind websync.ChangeKind) harvest.Change {
	return harvest.Change{Base: base, Record: harvest.Record{Item: websync.Item{Kind: kind, Resource: websync.Resource{ID: id}}}}
}

func claim(t testing.TB, s *harvest.Catalog) *harvest.Claim {
	t.Helper()
	c, err := s.Claim(ctx, "source/a", time.Hour)
	require.NoError(t, err)
	return c
}

func commit(t testing.TB, s *harvest.Catalog, c *harvest.Claim, b *harvest.Batch) {
	t.Helper()
	conflicts, err := s.Commit(ctx, c, b)
	require.NoError(t, err)
	require.Empty(t, conflicts)
}

func write(t testing.TB, s *harvest.Catalog, data []byte) (harvest.BodyWriter, websync.Digest) {
	t.Helper()
	w, err := s.NewBody(ctx)
	require.NoError(t, err)
	_, err = w.Write(data)
	require.NoError(t, err)
	key, size, err := w.Finish()
	require.NoError(t, err)
	require.Equal(t, int64(len(data)), size)
	require.Equal(t, websync.SHA256(data), key)
	return w, key
}

// noise returns n bytes in which no two chunks are the same.
func noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

func withBodies(c harvest.Change, keys ...websync.Digest) harvest.Change {
	for i, k := range keys {
		c.Record.Bodies = append(c.Record.Bodies, websync.Body{Name: fmt.Sprint(i), Key: k})
	}
	return c
}

func small(db harvest.Store) *harvest.Catalog {
	s := harvest.NewCatalog(db)
	s.ChunkSize = 1000
	return s
}

// filled returns a store with something of everything.
func filled(t testing.TB) (*harvest.Catalog, *memstore.Store) {
	t.Helper()
	db := memstore.New()
	s := small(db)
	c := claim(t, s)
	b := harvest.NewBatch("a")
	long, longKey := write(t, s, bytes.Repeat([]byte("0123456789"), 450))
	short, shortKey := write(t, s, []byte("short"))
	spare, _ := write(t, s, []byte("spare"))
	b.Bodies = []harvest.BodyWriter{long, short, spare}
	b.Puts = []harvest.Change{withBodies(changeTo("1", 0, websync.Created), longKey, shortKey), changeTo("2", 0, websync.Created),
		withBodies(changeTo("3", 0, websync.Created), shortKey)}
	b.Tasks = []harvest.Task{{Resource: websync.Resource{ID: "2"}, Kind: harvest.TaskWithheld, Base: 2},
		{Resource: websync.Resource{ID: "4"}, Due: time.UnixMicro(5)}}
	b.Checkpoint = &harvest.Checkpoint{Version: 1, Data: []byte("x")}
	b.State = map[string][]byte{"k": []byte("v")}
	commit(t, s, c, b)
	b = harvest.NewBatch("a")
	b.Puts = []harvest.Change{changeTo("3", 3, websync.Deleted)}
	b.Touches = []harvest.Change{changeTo("5", 0, websync.Deleted)}
	commit(t, s, c, b)
	_, err := s.Compact(ctx)
	require.NoError(t, err)
	inspect(t, db)
	return s, db
}

func allKeys(db harvest.Store) (keys []string) {
	db.View(ctx, func(r harvest.Reader) error {
		return r.Scan([]byte{0}, []byte{0xff}, 1, func(k, _ []byte) bool {
			keys = append(keys, string(k))
			return true
		})
	})
	return keys
}

// Inspect reports every key that is missing.
func TestInspectSeesWhatIsMissing(t *testing.T) {
	_, db := filled(t)
	kinds := map[byte]bool{}
	for _, k := range allKeys(db) {
		kinds[k[0]] = true
		if strings.ContainsRune("pcS", rune(k[0])) || k == "r\x00\x00\x00\x01\xff5" || k == "t\x00\x00\x00\x01\xff2" {
			continue // nothing else depends on these
		}
		var value []byte
		db.Update(ctx, func(tx harvest.Tx) error {
			value, _ = tx.Get([]byte(k))
			return tx.Delete([]byte(k))
		})
		faults, err := harvest.NewCatalog(db).Inspect(ctx)
		assert.True(t, len(faults) > 0 || err != nil, "without %q", k)
		db.Update(ctx, func(tx harvest.Tx) error { return tx.Set([]byte(k), value) })
	}
	for _, kind := range "hgsnprbltqBDCZcS" {
		assert.True(t, kinds[byte(kind)], "no key of kind %c", kind)
	}
}

// use calls every method.
func use(s *harvest.Catalog) (errs []error) {
	add := func(err error) { errs = append(errs, err) }
	_, err := s.Head(ctx)
	add(err)
	_, err = s.Checkpoint(ctx, "a")
	add(err)
	_, err = s.Lookup(ctx, "a", []string{"1", "2", "3", "5"})
	add(err)
	for _, err = range s.Records(ctx, "a", "") {
		add(err)
	}
	for _, err = range s.Resources(ctx, websync.Range{}) {
		add(err)
	}
	for _, err = range s.Changes(ctx, websync.Range{}) {
		add(err)
	}
	for _, err = range s.Tasks(ctx, "a", "") {
		add(err)
	}
	_, err = s.Due(ctx, "a", time.Now(), 9)
	add(err)
	for _, data := range []string{strings.Repeat("0123456789", 450), "short"} {
		r, err := s.Open(ctx, websync.Body{Key: websync.SHA256([]byte(data))})
		add(err)
		if err == nil {
			_, err = io.ReadAll(r)
			add(err)
			r.Close()
		}
	}
	c, err := s.Claim(ctx, "source/a", 0)
	add(err)
	if err == nil {
		b := harvest.NewBatch("a")
		b.Puts = []harvest.Change{changeTo("1", 1, websync.Updated), changeTo("3", 3, websync.Updated)}
		b.Done = []harvest.TaskRef{{ID: "2"}, {ID: "4"}}
		_, err = s.Commit(ctx, c, b)
		add(err)
		add(s.Release(ctx, c))
	}
	_, err = s.Compact(ctx)
	add(err)
	_, err = s.Vacuum(ctx, 0)
	add(err)
	return errs
}

func TestUse(t *testing.T) {
	s, _ := filled(t)
	assert.NoError(t, errors.Join(use(s)...))
}

// Damage causes an error or nothing, but never a panic.
func TestDamaged(t *testing.T) {
	_, db := filled(t)
	r := rand.New(rand.NewPCG(3, 4))
	noticed := 0
	for i := range allKeys(db) {
		for range 8 {
			_, db := filled(t)
			k := allKeys(db)[i]
			db.Update(ctx, func(tx harvest.Tx) error {
				v, _ := tx.Get([]byte(k))
				v = bytes.Clone(v)
				switch r.IntN(3) {
				case 0:
					v[r.IntN(len(v))] ^= 1 << r.IntN(8)
				case 1:
					v = v[:1+r.IntN(len(v))]
				default:
					v = append(v, byte(r.Uint32()))
				}
				return tx.Set([]byte(k), v)
			})
			if errors.Join(use(small(db))...) != nil {
				noticed++
			}
		}
	}
	assert.Greater(t, noticed, 50)
}

// A layout or a record of a newer version is refused.
func TestNewer(t *testing.T) {
	for _, kind := range "hscBP" {
		_, db := filled(t)
		for _, k := range allKeys(db) {
			if k[0] == byte(kind) {
				db.Update(ctx, func(tx harvest.Tx) error {
					v, _ := tx.Get([]byte(k))
					return tx.Set([]byte(k), append([]byte{v[0] + 1}, v[1:]...))
				})
			}
		}
		errs := use(small(db))
		assert.ErrorIs(t, errors.Join(errs...), harvest.ErrNewer, "%c", kind)
	}
}

// The error of a layout that is too old for an upgrade says what to do.
func TestOlder(t *testing.T) {
	_, db := filled(t)
	db.Update(ctx, func(tx harvest.Tx) error {
		v, _ := tx.Get([]byte("h"))
		return tx.Set([]byte("h"), append([]byte{v[0] - 1}, v[1:]...))
	})
	before := allKeys(db)
	err := errors.Join(use(small(db))...)
	assert.ErrorContains(t, err, "harvest again into an empty Store")
	assert.NotErrorIs(t, err, harvest.ErrCorrupt)
	assert.Equal(t, before, allKeys(db))
}

// A Commit is one Update, whose number of reads and writes is proportional to the batch.
func TestCommitIsLinear(t *testing.T) {
	h := &hookDB{Store: memstore.New()}
	s := harvest.NewCatalog(h)
	c := claim(t, s)
	cost := func(n int) int {
		b := harvest.NewBatch("a")
		for i := range n {
			w, key := write(t, s, fmt.Appendf(nil, "%d of %d", i, n))
			b.Bodies = append(b.Bodies, w)
			b.Puts = append(b.Puts, withBodies(changeTo(fmt.Sprint(n, "/", i), 0, websync.Created), key))
		}
		h.updates.Store(0)
		h.gets, h.sets = 0, 0
		commit(t, s, c, b)
		require.EqualValues(t, 1, h.updates.Load())
		return h.gets + h.sets
	}
	few, many := cost(12), cost(512)
	assert.LessOrEqual(t, (many-few)/500, 8, "calls for each record with a body")
}

// Chunks of a process that has ended stay until Vacuum's grace is over; those that are
// being written stay at all times.
func TestCrashedBody(t *testing.T) {
	db := memstore.New()
	now := time.Unix(1e9, 0)
	crashed, s := small(db), small(db)
	crashed.Now = func() time.Time { return now }
	s.Now = crashed.Now
	data := noise(2, 300_500)
	left, key := write(t, crashed, data)
	w, _ := write(t, s, data[1:])
	require.Equal(t, 602, harvest.Keys(ctx, db, 'C'))

	vacuum := func(grace time.Duration) {
		n, err := s.Vacuum(ctx, grace)
		require.NoError(t, err)
		assert.Zero(t, n, "bodies that were never committed do not count")
		inspect(t, db)
	}
	vacuum(time.Second)
	require.Equal(t, 602, harvest.Keys(ctx, db, 'C'))
	now = now.Add(time.Hour)
	vacuum(time.Minute)
	require.Equal(t, 301, harvest.Keys(ctx, db, 'C'), "what s itself writes")

	b := harvest.NewBatch("a")
	b.Bodies = []harvest.BodyWriter{w}
	commit(t, s, claim(t, s), b)
	require.NoError(t, w.Discard(), "after a Commit it does nothing")
	require.Equal(t, 301, harvest.Keys(ctx, db, 'C'))
	n, err := s.Vacuum(ctx, -time.Second)
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.Zero(t, harvest.Keys(ctx, db, 'C'))
	assert.Zero(t, harvest.Keys(ctx, db, 'P'))

	// The other process was alive.
	b = harvest.NewBatch("b")
	b.Bodies = []harvest.BodyWriter{left}
	b.Puts = []harvest.Change{withBodies(changeTo("1", 0, websync.Created), key)}
	c, err := crashed.Claim(ctx, "source/b", time.Hour)
	require.NoError(t, err)
	_, err = crashed.Commit(ctx, c, b)
	assert.ErrorIs(t, err, harvest.ErrNoBody)
	inspect(t, db)
}

// A body whose bytes the Store has already leaves no chunks.
func TestSameBodyTwice(t *testing.T) {
	db := memstore.New()
	s := small(db)
	c := claim(t, s)
	for i, data := range [][]byte{noise(1, 5_000), []byte("z")} {
		for j := range 3 {
			one, key := write(t, s, data)
			two, _ := write(t, s, data)
			b := harvest.NewBatch("a")
			b.Bodies = []harvest.BodyWriter{one, two, one}
			b.Puts = []harvest.Change{withBodies(changeTo(fmt.Sprint(i, j), 0, websync.Created), key, key)}
			commit(t, s, c, b)
			inspect(t, db)
			if i == 0 {
				require.Equal(t, 5, harvest.Keys(ctx, db, 'C'))
			}
			require.NoError(t, one.Discard())
			require.NoError(t, two.Discard())
			r, err := s.Open(ctx, websync.Body{Key: key})
			require.NoError(t, err)
			require.NoError(t, iotest.TestReader(r, data))
			require.NoError(t, r.Close())
		}
	}
	assert.Equal(t, harvest.Keys(ctx, db, 'F'), harvest.Keys(ctx, db, 'P'), "blobs that no body names")
}

// Discard removes the chunks, also during a Commit, which then either has the body or
// fails.
func TestDiscard(t *testing.T) {
	db := memstore.New()
	h := &hookDB{Store: db}
	s := small(h)
	c := claim(t, s)
	var refused, taken int
	for i := range 60 {
		w, key := write(t, s, noise(uint64(i), 10+1400*(i%2)))
		b := harvest.NewBatch("a")
		b.Bodies = []harvest.BodyWriter{w}
		b.Puts = []harvest.Change{withBodies(changeTo(fmt.Sprint(i), 0, websync.Created), key)}
		done := make(chan error, 1)
		discard := func() { done <- w.Discard() }
		h.before, h.inside = nil, nil
		switch i / 20 {
		case 0:
			go discard()
		case 1:
			h.before = func(int) error {
				h.before = nil // for the Update of Discard
				discard()
				return nil
			}
		case 2:
			h.inside = func(key []byte) {
				if key[0] == 'B' {
					go discard()
					for range 1000 {
						runtime.Gosched()
					}
				}
			}
		}
		_, err := s.Commit(ctx, c, b)
		require.NoError(t, <-done)
		body, openErr := s.Open(ctx, websync.Body{Key: key})
		require.Equal(t, err == nil, openErr == nil, "%v, %v", err, openErr)
		if err != nil {
			refused++
			continue
		}
		taken++
		data, err := io.ReadAll(body)
		require.NoError(t, err)
		require.Equal(t, websync.SHA256(data), key)
	}
	inspect(t, db)
	assert.Equal(t, harvest.Keys(ctx, db, 'F'), harvest.Keys(ctx, db, 'P'), "blobs that no body names")
	assert.GreaterOrEqual(t, refused, 20)
	assert.NotZero(t, taken)
}

// A Commit does not use a body that Vacuum has begun to remove.
func TestHalfRemoved(t *testing.T) {
	db := memstore.New()
	slow := small(db)
	w, key := write(t, slow, noise(3, 600_000))
	h := &hookDB{Store: db}
	h.before = func(n int) error {
		if harvest.Keys(ctx, db, 'C') < 600 {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	_, err := small(h).Vacuum(ctx, -time.Hour)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	b := harvest.NewBatch("a")
	b.Bodies = []harvest.BodyWriter{w}
	b.Puts = []harvest.Change{withBodies(changeTo("1", 0, websync.Created), key)}
	_, err = slow.Commit(ctx, claim(t, slow), b)
	require.ErrorIs(t, err, harvest.ErrNoBody)
	require.NoError(t, w.Discard())
	assert.Zero(t, harvest.Keys(ctx, db, 'C'))
	inspect(t, db)
}

// Grace begins when the last record ceases to name the body, or when its bytes are
// committed again.
func TestGrace(t *testing.T) {
	db := memstore.New()
	now := time.Unix(1e9, 0)
	s := small(db)
	s.Now = func() time.Time { return now }
	c := claim(t, s)
	vacuum := func(want int, why string) {
		t.Helper()
		n, err := s.Vacuum(ctx, time.Hour)
		require.NoError(t, err)
		assert.Equal(t, want, n, why)
		inspect(t, db)
	}
	bring := func(changes ...harvest.Change) {
		w, key := write(t, s, []byte("x"))
		b := harvest.NewBatch("a")
		b.Bodies = []harvest.BodyWriter{w}
		for _, p := range changes {
			b.Puts = append(b.Puts, withBodies(p, key))
		}
		commit(t, s, c, b)
	}
	bring(changeTo("1", 0, websync.Created))
	now = now.Add(2 * time.Hour)
	vacuum(0, "named")
	b := harvest.NewBatch("a")
	b.Puts = []harvest.Change{changeTo("1", 1, websync.Deleted)}
	commit(t, s, c, b)
	now = now.Add(59 * time.Minute)
	vacuum(0, "let go 59 minutes ago")
	bring()
	now = now.Add(59 * time.Minute)
	vacuum(0, "came again 59 minutes ago")
	now = now.Add(time.Minute)
	vacuum(1, "an hour ago")
}

// Vacuum keeps a body that records name, though it is in the list of unused ones.
func TestVacuumIsCareful(t *testing.T) {
	s, db := filled(t)
	key := websync.SHA256([]byte("short"))
	db.Update(ctx, func(tx harvest.Tx) error {
		return tx.Set([]byte("Z\x00\x00\x00\x00\x00\x00\x00\x00"+key.Sum), []byte{1})
	})
	_, err := s.Vacuum(ctx, 0)
	require.NoError(t, err)
	_, err = s.Open(ctx, websync.Body{Key: key})
	require.NoError(t, err)
	inspect(t, db)
}

// A loop that commits ends, though each step adds pages.
func TestCommitInLoop(t *testing.T) {
	s := harvest.NewCatalog(memstore.New())
	c := claim(t, s)
	n := 0
	more := func(count int) {
		b := harvest.NewBatch("a")
		for range count {
			n++
			b.Puts = append(b.Puts, changeTo(fmt.Sprint(n), 0, websync.Created))
		}
		commit(t, s, c, b)
	}
	more(300)
	rng := websync.Range{Until: 1 << 40}
	for range s.Changes(ctx, rng) {
		more(2)
		require.LessOrEqual(t, n, 900)
	}
	for range s.Resources(ctx, rng) {
		more(2)
		require.LessOrEqual(t, n, 2700)
	}
	assert.Equal(t, 2700, n)
}

// Drop never removes the newest generation.
func TestDropTooMuch(t *testing.T) {
	s, db := filled(t)
	require.NoError(t, s.Drop(ctx, 1<<40))
	inspect(t, db)
	n := 0
	for _, err := range s.Changes(ctx, websync.Range{}) {
		require.NoError(t, err)
		n++
	}
	assert.Equal(t, 3, n)
	assert.Equal(t, 3, harvest.Keys(ctx, db, 'l'))
}

// state is what a reader sees of the records, without numbers of the log.
func stateIn(t testing.TB, s *harvest.Catalog) (seen []string) {
	t.Helper()
	head, err := s.Head(ctx)
	require.NoError(t, err)
	last := map[string]websync.Item{}
	for it, err := range s.Changes(ctx, websync.Range{}) {
		require.NoError(t, err)
		last[it.Resource.ID] = it
	}
	live := map[string]websync.Item{}
	for it, err := range s.Resources(ctx, websync.Range{}) {
		require.NoError(t, err)
		live[it.Resource.ID] = it
	}
	for r, err := range s.Records(ctx, "a", "") {
		require.NoError(t, err)
		if r.Live() {
			require.Equal(t, r.Item, live[r.Resource.ID])
			delete(live, r.Resource.ID)
		}
		it := last[r.Resource.ID]
		require.Equal(t, r.Seq, it.Seq, "the latest entry of %s", r.Resource.ID)
		seen = append(seen, fmt.Sprint(r.Resource.ID, r.Kind, r.Born, r.Time.UnixMicro(), it.Kind, it.Time.UnixMicro()))
	}
	for task, err := range s.Tasks(ctx, "a", "") {
		require.NoError(t, err)
		rec, err := s.Lookup(ctx, "a", []string{task.Resource.ID})
		require.NoError(t, err)
		seen = append(seen, fmt.Sprint(task.Resource.ID, task.Base == rec[0].Seq))
	}
	require.Empty(t, live, "Resources without a record")
	return append(seen, fmt.Sprint(head.Live, head.Born))
}

// worn has n ids, of which every third has a superseded entry and every fifth a withheld
// deletion.
func worn(t testing.TB, s *harvest.Catalog, n int) {
	c := claim(t, s)
	for from := 0; from < n; from += 100 {
		b, again := harvest.NewBatch("a"), harvest.NewBatch("a")
		head, err := s.Head(ctx)
		require.NoError(t, err)
		for i := from; i < from+100; i++ {
			seq := head.Last + websync.Seq(len(b.Puts)+1)
			id := fmt.Sprintf("%06d", i)
			b.Puts = append(b.Puts, changeTo(id, 0, websync.Created))
			if i%3 == 0 {
				again.Puts = append(again.Puts, changeTo(id, seq, websync.ChangeKind(1+i%2)))
			}
			if i%5 == 0 {
				b.Tasks = append(b.Tasks, harvest.Task{Kind: harvest.TaskWithheld, Resource: websync.Resource{ID: id}, Base: seq})
			}
		}
		commit(t, s, c, b)
		commit(t, s, c, again)
	}
	require.NoError(t, s.Release(ctx, c))
}

// A Compact that ends anywhere changes nothing that a reader sees, and the next one
// finishes the work.
func TestCompactInterrupted(t *testing.T) {
	racing.Skip(t)
	stop := errors.New("stop")
	for n := 1; ; n++ {
		db := memstore.New()
		s := harvest.NewCatalog(db)
		worn(t, s, 700)
		before := stateIn(t, s)

		broken := harvest.OnePage(harvest.NewCatalog(&hookDB{Store: db, before: func(i int) error {
			if i == n {
				return stop
			}
			return nil
		}}))
		_, err := broken.Compact(ctx)
		inspect(t, db)
		require.Equal(t, before, stateIn(t, s), "stopped before Update %d", n)

		c := claim(t, s)
		id := "000001"
		rec, lookupErr := s.Lookup(ctx, "a", []string{id})
		require.NoError(t, lookupErr)
		b := harvest.NewBatch("a")
		b.Puts = []harvest.Change{changeTo(id, rec[0].Seq, websync.Updated)}
		commit(t, s, c, b)
		inspect(t, db)
		middle := stateIn(t, s)

		if err != nil {
			require.ErrorIs(t, err, stop)
			_, err2 := s.Compact(ctx)
			require.NoError(t, err2)
			inspect(t, db)
			require.Equal(t, middle, stateIn(t, s))
			head, _ := s.Head(ctx)
			require.Equal(t, websync.Seq(700), head.Last)
			require.NoError(t, s.Drop(ctx, head.Generation))
			inspect(t, db)
			require.Equal(t, 700, harvest.Keys(ctx, db, 'l'))
			continue
		}
		require.Greater(t, n, 8)
		return
	}
}

// Drop loses no description, whenever the Compact before it has ended, and wherever the
// Drop itself ends.
func TestDropAfterInterruptedCompact(t *testing.T) {
	stop := errors.New("stop")
	stopped := func(db harvest.Store, n int) *harvest.Catalog {
		return harvest.OnePage(harvest.NewCatalog(&hookDB{Store: db, before: func(i int) error {
			if i == n {
				return stop
			}
			return nil
		}}))
	}
	drops := 0
	for n := 1; ; n += 2 {
		db := memstore.New()
		s := harvest.NewCatalog(db)
		worn(t, s, 400)
		before := stateIn(t, s)
		_, compactErr := stopped(db, n).Compact(ctx)
		head, err := s.Head(ctx)
		require.NoError(t, err)
		for k := 1; ; k++ {
			err := stopped(db, k).Drop(ctx, head.Generation)
			require.Equal(t, before, stateIn(t, s), "Compact stopped before Update %d, Drop before Update %d", n, k)
			if err == nil {
				inspect(t, db)
				break
			}
			require.ErrorIs(t, err, stop)
			drops++
		}
		require.Equal(t, int(head.Last), harvest.Keys(ctx, db, 'l')-written(t, db), "Compact stopped before Update %d", n)
		if compactErr == nil {
			break
		}
	}
	require.Greater(t, drops, 10)
}

// written returns how many entries an unfinished Compact has written.
func written(t testing.TB, db harvest.Store) (n int) {
	head, err := harvest.NewCatalog(db).Head(ctx)
	require.NoError(t, err)
	next := binary.BigEndian.AppendUint64([]byte{'l'}, head.Generation+1)
	require.NoError(t, db.View(ctx, func(r harvest.Reader) error {
		return r.Scan(next, []byte{'m'}, 1, func(_, _ []byte) bool { n++; return true })
	}))
	return n
}

// Commits between the steps of a Compact are all there afterwards, with all their
// entries, and what they have touched or deleted of entries that were copied or not.
func TestCompactBetweenCommits(t *testing.T) {
	db := memstore.New()
	s := harvest.NewCatalog(db)
	worn(t, s, 700)
	c := claim(t, s)
	var want []string
	fenced := 0
	h := &hookDB{Store: db}
	h.before = func(n int) error {
		id := fmt.Sprintf("%06d", n*37%700)
		rec, err := s.Lookup(ctx, "a", []string{id})
		require.NoError(t, err)
		b := harvest.NewBatch("a")
		b.Puts = []harvest.Change{changeTo(id, rec[0].Seq, websync.Updated), changeTo(fmt.Sprint("new", n), 0, websync.Created)}
		for i := range 70 {
			id := fmt.Sprintf("%06d", (n+i*10)%700)
			rec, err := s.Lookup(ctx, "a", []string{id})
			require.NoError(t, err)
			change := changeTo(id, rec[0].Seq, rec[0].Kind)
			change.Record.Resource.Title = fmt.Sprint("touched at ", n)
			change.Record.Stated.Hash = uint64(n)
			switch {
			case id == b.Puts[0].Record.Resource.ID:
			case i%7 == 6:
				change.Record.Kind = websync.Deleted
				b.Puts = append(b.Puts, change)
			default:
				b.Touches = append(b.Touches, change)
			}
		}
		_, err = s.Commit(ctx, c, b)
		if errors.Is(err, harvest.ErrFenced) {
			fenced++
			c = claim(t, s)
			_, err = s.Commit(ctx, c, b)
			if n > 0 && err == nil {
				want = append(want, id)
			}
			return err
		}
		want = append(want, id)
		return err
	}
	_, err := harvest.OnePage(harvest.NewCatalog(h)).Compact(ctx)
	require.NoError(t, err)
	assert.Equal(t, 1, fenced)
	require.Greater(t, len(want), 5)
	inspect(t, db)
	stateIn(t, s)
	for i := range want {
		rec, err := s.Lookup(ctx, "a", []string{fmt.Sprint("new", i+1)})
		require.NoError(t, err)
		assert.True(t, rec[0].Live())
	}
}

// Two processes that compact at the same time: the later one wins.
func TestCompactTwice(t *testing.T) {
	for n := 1; n < 12; n++ {
		db := memstore.New()
		s := harvest.NewCatalog(db)
		worn(t, s, 700)
		before := stateIn(t, s)
		other := harvest.OnePage(harvest.NewCatalog(&hookDB{Store: db, before: func(i int) error {
			if i == n {
				_, err := s.Compact(ctx)
				require.NoError(t, err)
			}
			return nil
		}}))
		_, err := other.Compact(ctx)
		if err != nil {
			require.ErrorIs(t, err, harvest.ErrHeld)
		}
		inspect(t, db)
		require.Equal(t, before, stateIn(t, s), "before Update %d", n)
	}
}

// A Compact that begins ends the one that is running, even if it soon fails itself.
func TestCompactTakenOver(t *testing.T) {
	db := memstore.New()
	s := harvest.NewCatalog(db)
	worn(t, s, 700)
	before := stateIn(t, s)
	second := harvest.OnePage(harvest.NewCatalog(&hookDB{Store: db, before: func(n int) error {
		if n == 5 {
			return io.ErrUnexpectedEOF
		}
		return nil
	}}))
	first := harvest.OnePage(harvest.NewCatalog(&hookDB{Store: db, before: func(n int) error {
		if n == 5 {
			_, err := second.Compact(ctx)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		}
		return nil
	}}))
	_, err := first.Compact(ctx)
	require.ErrorIs(t, err, harvest.ErrHeld)
	inspect(t, db)
	require.Equal(t, before, stateIn(t, s))
	_, err = s.Compact(ctx)
	require.NoError(t, err)
	inspect(t, db)
	require.Equal(t, before, stateIn(t, s))
}

// The records of a small source are found among many others, though whole pages have
// none.
func TestFewAmongMany(t *testing.T) {
	s := harvest.NewCatalog(memstore.New())
	c := claim(t, s)
	n := 0
	many := func(source string, count int) {
		b := harvest.NewBatch(source)
		for range count {
			n++
			b.Puts = append(b.Puts, changeTo(fmt.Sprint(n), 0, websync.Created))
		}
		commit(t, s, c, b)
	}
	many("few", 1)
	many("many", 9000)
	many("few", 1)
	many("many", 9000)
	many("few", 300)
	rng := websync.Range{Sources: []string{"few", "unknown"}}
	resources, changes := 0, 0
	for it, err := range s.Resources(ctx, rng) {
		require.NoError(t, err)
		require.Equal(t, "few", it.Source)
		resources++
	}
	for it, err := range s.Changes(ctx, rng) {
		require.NoError(t, err)
		require.Equal(t, "few", it.Source)
		changes++
	}
	assert.Equal(t, []int{302, 302}, []int{resources, changes})
	rng.After, rng.Until = 9002, 18003
	for it := range s.Changes(ctx, rng) {
		assert.Equal(t, websync.Seq(18003), it.Seq)
	}
	for range s.Changes(ctx, websync.Range{Sources: []string{"unknown"}}) {
		t.Fatal("an entry of an unknown source")
	}
}

// A page of large records has few, so that memory does not depend on their size.
func TestLargeRecords(t *testing.T) {
	var views atomic.Int32
	db := viewDB{memstore.New(), &views}
	s := harvest.NewCatalog(db)
	c := claim(t, s)
	for i := range 20 {
		b := harvest.NewBatch("a")
		p := changeTo(fmt.Sprint(i), 0, websync.Created)
		p.Record.Resource.Summary = strings.Repeat("x", 300_000)
		b.Puts = []harvest.Change{p}
		commit(t, s, c, b)
	}
	for _, walk := range []func() int{
		func() (n int) {
			for range s.Records(ctx, "a", "") {
				n++
			}
			return n
		},
		func() (n int) {
			for range s.Changes(ctx, websync.Range{}) {
				n++
			}
			return n
		},
		func() (n int) {
			for range s.Resources(ctx, websync.Range{}) {
				n++
			}
			return n
		},
	} {
		views.Store(0)
		assert.Equal(t, 20, walk())
		assert.GreaterOrEqual(t, views.Load(), int32(5))
	}
}

type viewDB struct {
	harvest.Store
	n *atomic.Int32
}

func (v viewDB) View(ctx context.Context, fn func(harvest.Reader) error) error {
	v.n.Add(1)
	return v.Store.View(ctx, fn)
}

// A name may be anything, the empty one included.
func TestSourceNames(t *testing.T) {
	s := harvest.NewCatalog(memstore.New())
	c := claim(t, s)
	names := []string{"", "\x00", "a", "a\x00", "\xff\xff", strings.Repeat("n", 3000)}
	for _, name := range names {
		b := harvest.NewBatch(name)
		b.Puts = []harvest.Change{changeTo("id", 0, websync.Created)}
		commit(t, s, c, b)
	}
	var got []string
	for it, err := range s.Resources(ctx, websync.Range{}) {
		require.NoError(t, err)
		got = append(got, it.Source)
	}
	assert.Equal(t, names, got)
	head, err := s.Head(ctx)
	require.NoError(t, err)
	assert.Len(t, head.Live, len(names))
}

// Random commits, tasks, bodies and maintenance leave a consistent Store.
func TestRandom(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 7))
		db := memstore.New()
		now := time.Unix(1e9, 0)
		s := small(db)
		s.Now = func() time.Time { return now }
		for range 150 {
			now = now.Add(time.Duration(r.IntN(100)-30) * time.Second)
			switch r.IntN(12) {
			case 0:
				_, err := s.Compact(ctx)
				require.NoError(t, err)
			case 1:
				_, err := s.Vacuum(ctx, time.Duration(r.IntN(100))*time.Second)
				require.NoError(t, err)
			case 2:
				head, err := s.Head(ctx)
				require.NoError(t, err)
				require.NoError(t, s.Drop(ctx, head.Generation))
			default:
				randomCommit(t, r, s)
			}
			inspect(t, db)
		}
	}
}

func randomCommit(t *testing.T, r *rand.Rand, s *harvest.Catalog) {
	source := string(rune('a' + r.IntN(3)))
	c, err := s.Claim(ctx, "source/"+source, 0)
	require.NoError(t, err)
	b := harvest.NewBatch(source)
	ids := r.Perm(30)[:r.IntN(15)]
	var names []string
	for _, i := range ids {
		names = append(names, fmt.Sprint(i))
	}
	held, err := s.Lookup(ctx, source, names)
	require.NoError(t, err)
	for i, rec := range held {
		p := changeTo(names[i], rec.Seq, websync.ChangeKind(r.IntN(3)))
		p.Record.Stated.Hash, p.Record.Early = uint64(r.IntN(3)), r.IntN(4) == 0
		for range r.IntN(3) {
			w, key := write(t, s, bytes.Repeat([]byte{byte(r.IntN(9))}, 1+r.IntN(3)*900))
			b.Bodies = append(b.Bodies, w)
			p = withBodies(p, key)
		}
		if r.IntN(3) == 0 {
			p.Record.Kind = websync.Deleted
			b.Touches = append(b.Touches, p)
		} else {
			b.Puts = append(b.Puts, p)
		}
	}
	for range r.IntN(5) {
		b.Tasks = append(b.Tasks, harvest.Task{Resource: websync.Resource{ID: fmt.Sprint(r.IntN(30))}, Kind: harvest.TaskKind(r.IntN(2)),
			Base: websync.Seq(r.IntN(50)), Parked: r.IntN(3) == 0, Due: time.Unix(int64(r.IntN(100)), 0)})
		b.Done = append(b.Done, harvest.TaskRef{ID: fmt.Sprint(r.IntN(30))})
	}
	if len(b.Bodies) > 0 && r.IntN(4) == 0 {
		b.Bodies[0].Discard()
		_, err := s.Commit(ctx, c, b)
		require.Error(t, err)
	} else if r.IntN(4) == 0 && len(held) > 0 {
		list := slices.Concat(b.Puts, b.Touches)
		list[r.IntN(len(list))].Base += 99
		b.Puts, b.Touches = list[:len(b.Puts)], list[len(b.Puts):]
		conflicts, err := s.Commit(ctx, c, b)
		require.NoError(t, err)
		require.Len(t, conflicts, 1)
	} else {
		commit(t, s, c, b)
	}
	for _, w := range b.Bodies {
		require.NoError(t, w.Discard())
	}
	require.NoError(t, s.Release(ctx, c))
}
