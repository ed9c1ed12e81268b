package sqlitestore

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A bench is a Store with a clock and a claim.
type bench struct {
	*Catalog
	t     *testing.T
	claim *harvest.Claim
	mu    sync.Mutex
	now   time.Time
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s, err := OpenCatalog(t.Context(), filepath.Join(t.TempDir(), "store.db"), nil)
	require.NoError(t, err)
	s.ChunkSize, s.Now = 100, b.time
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	b.Catalog = s
	b.claim, err = s.Claim(t.Context(), "source/s", 100*time.Hour)
	require.NoError(t, err)
	return b
}

func (b *bench) time() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func (b *bench) body(data []byte) (harvest.BodyWriter, websync.Digest) {
	b.t.Helper()
	w, err := b.NewBody(b.t.Context())
	require.NoError(b.t, err)
	for part := data; len(part) > 0; { // in small steps
		n := min(len(part), 33)
		_, err = w.Write(part[:n])
		require.NoError(b.t, err)
		part = part[n:]
	}
	key, size, err := w.Finish()
	require.NoError(b.t, err)
	require.EqualValues(b.t, len(data), size)
	return w, key
}

// batch returns one that puts id with a body.
func (b *bench) batch(id string, key websync.Digest, ws ...harvest.BodyWriter) *harvest.Batch {
	b.t.Helper()
	recs, err := b.Lookup(b.t.Context(), "s", []string{id})
	require.NoError(b.t, err)
	batch := harvest.NewBatch("s")
	batch.Bodies = ws
	batch.Puts = []harvest.Change{{Base: recs[0].Seq, Record: harvest.Record{Item: websync.Item{
		Resource: websync.Resource{ID: id}, Bodies: []websync.Body{{Name: "content", Key: key}},
	}}}}
	return batch
}

func (b *bench) commit(batch *harvest.Batch) {
	b.t.Helper()
	conflicts, err := b.Commit(b.t.Context(), b.claim, batch)
	require.NoError(b.t, err)
	require.Empty(b.t, conflicts)
}

func (b *bench) put(id string, data []byte) websync.Digest {
	b.t.Helper()
	w, key := b.body(data)
	b.commit(b.batch(id, key, w))
	return key
}

func (b *bench) read(key websync.Digest) ([]byte, error) {
	r, err := b.Open(b.t.Context(), websync.Body{Key: key})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func (b *bench) there(key websync.Digest) bool {
	_, err := b.read(key)
	return err == nil
}

func (b *bench) vacuum(grace time.Duration) int {
	b.t.Helper()
	n, err := b.Vacuum(b.t.Context(), grace)
	require.NoError(b.t, err)
	return n
}

// files returns the names of the files of bodies, temporary ones too.
func (b *bench) files() []string {
	names, _ := filepath.Glob(filepath.Join(b.db.blobDir(), "*", "*"))
	return names
}

func large(c byte) []byte { return bytes.Repeat([]byte{c}, 1000) }

func TestBodyPlaces(t *testing.T) {
	b := newBench(t)
	for _, size := range []int{0, 1, 99, 100} {
		data := bytes.Repeat([]byte{'s'}, size)
		key := b.put("small", data)
		got, err := b.read(key)
		require.NoError(t, err)
		assert.Equal(t, len(data), len(got))
	}
	assert.NoDirExists(t, b.db.blobDir())
	key := b.put("large", bytes.Repeat([]byte{'l'}, 101))
	assert.Len(t, b.files(), 1)
	got, err := b.read(key)
	require.NoError(t, err)
	assert.Equal(t, bytes.Repeat([]byte{'l'}, 101), got)
}

func TestBodyDiscard(t *testing.T) {
	b := newBench(t)
	unfinished, err := b.NewBody(t.Context())
	require.NoError(t, err)
	_, err = unfinished.Write(large('u'))
	require.NoError(t, err)
	finished, key := b.body(large('f'))
	require.Len(t, b.files(), 2)
	for range 2 {
		require.NoError(t, unfinished.Discard())
		require.NoError(t, finished.Discard())
		assert.Empty(t, b.files())
	}
	_, err = unfinished.Write([]byte("x"))
	assert.Error(t, err)
	_, err = b.Commit(t.Context(), b.claim, b.batch("1", key, finished))
	assert.ErrorIs(t, err, fs.ErrClosed)

	taken, key := b.body(large('t'))
	b.commit(b.batch("1", key, taken))
	require.NoError(t, taken.Discard())
	_, err = b.read(key)
	assert.NoError(t, err, "Discard removed a body that a Commit had taken")
}

func TestBodySameTwice(t *testing.T) {
	b := newBench(t)
	key := b.put("1", large('x'))
	b.put("2", large('x'))
	one, _ := b.body(large('y'))
	two, _ := b.body(large('y'))
	b.commit(b.batch("3", key, one))
	b.commit(b.batch("4", key, two, two))
	require.NoError(t, two.Discard())
	assert.Len(t, b.files(), 2, "a copy stayed")
}

// A body that a batch brings several times is one file.
func TestBodySameTwiceLeavesNothing(t *testing.T) {
	b := newBench(t)
	data := bytes.Repeat([]byte("long"), 100)
	for i := range 3 {
		var ws []harvest.BodyWriter
		var key websync.Digest
		for range 4 {
			w, k := b.body(data)
			ws, key = append(ws, w), k
		}
		batch := b.batch(string(rune('a'+i)), key, ws...)
		b.commit(batch)
		_, err := b.Commit(t.Context(), b.claim, batch) // again, as after a lost answer
		require.NoError(t, err)
		assert.Len(t, b.files(), 1)
	}
	// An answer that was lost: the batch comes again with new writers.
	w, key := b.body(data)
	batch := b.batch("x", key, w)
	b.commit(batch)
	again, _ := b.body(data)
	batch.Bodies = []harvest.BodyWriter{again}
	b.commit(batch)
	assert.Len(t, b.files(), 1)
}

func TestBodyOfAnotherStore(t *testing.T) {
	a, b := newBench(t), newBench(t)
	w, key := a.body(large('x'))
	_, err := b.Commit(t.Context(), b.claim, b.batch("1", key, w))
	assert.ErrorIs(t, err, harvest.ErrBatch)
	a.commit(a.batch("1", key, w))
}

// A Commit that fails leaves the bodies to their writers.
func TestBodyAfterFailure(t *testing.T) {
	b := newBench(t)
	w, key := b.body(large('x'))
	batch := b.batch("1", key, w)
	missing := batch.Puts[0]
	missing.Record.Resource.ID = "2"
	missing.Record.Bodies = []websync.Body{{Key: websync.Digest{Algorithm: "sha-256", Sum: string(bytes.Repeat([]byte{7}, 32))}}}
	batch.Puts = append(batch.Puts, missing)
	for range 2 {
		_, err := b.Commit(t.Context(), b.claim, batch)
		require.ErrorIs(t, err, harvest.ErrNoBody)
		assert.Len(t, b.files(), 1)
	}
	before := b.files()
	batch.Puts = batch.Puts[:1]
	b.commit(batch)
	assert.Equal(t, before, b.files())
}

func TestBodyKeyIsNone(t *testing.T) {
	b := newBench(t)
	held := b.put("2", large('x'))
	for _, key := range []websync.Digest{{Algorithm: "md5", Sum: "0123456789abcdef"}, {Algorithm: "sha-256", Sum: "short"},
		{Algorithm: "sha3-256", Sum: held.Sum}} {
		_, err := b.Commit(t.Context(), b.claim, b.batch("1", key))
		assert.ErrorIs(t, err, harvest.ErrNoBody)
		_, err = b.read(key)
		assert.ErrorIs(t, err, websync.ErrNotFound)
	}
	b.commit(b.batch("1", websync.Digest{}))
}

// The next Commit that brings the bytes of a removed file restores it.
func TestBodyFileLost(t *testing.T) {
	b := newBench(t)
	key := b.put("1", large('x'))
	require.NoError(t, os.Remove(b.files()[0]))
	_, err := b.read(key)
	assert.ErrorIs(t, err, websync.ErrNotFound)
	_, err = b.Commit(t.Context(), b.claim, b.batch("2", key))
	assert.ErrorIs(t, err, harvest.ErrNoBody)
	b.put("2", large('x'))
	got, err := b.read(key)
	require.NoError(t, err)
	assert.Equal(t, large('x'), got)
}

// Open refuses a database that was copied without the files of its bodies.
func TestCopyWithoutBodies(t *testing.T) {
	b := newBench(t)
	b.put("1", []byte("short"))
	copyTo := func(name string) string {
		file := filepath.Join(t.TempDir(), name)
		_, err := b.db.writer.ask("VACUUM INTO '" + file + "'")
		require.NoError(t, err)
		return file
	}
	s, err := OpenCatalog(t.Context(), copyTo("short.db"), nil)
	require.NoError(t, err, "it has no bodies in files")
	require.NoError(t, s.Close())
	key := b.put("2", large('x'))
	file := copyTo("long.db")
	_, err = Open(t.Context(), file, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.ErrorContains(t, err, file+".bodies")
	assert.NoDirExists(t, file+".owners", "what Open leaves")
	require.NoError(t, os.CopyFS(file+".bodies", os.DirFS(b.db.blobDir())))
	s, err = OpenCatalog(t.Context(), file, nil)
	require.NoError(t, err)
	defer s.Close()
	r, err := s.Open(t.Context(), websync.Body{Key: key})
	require.NoError(t, err)
	require.NoError(t, r.Close())
}

// What is written to a file that was removed or replaced would be lost: a Commit fails.
func TestFileRemoved(t *testing.T) {
	for name, replace := range map[string]bool{"removed": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.put("1", []byte("short"))
			aside := b.db.file + ".aside"
			if err := os.Rename(b.db.file, aside); err != nil {
				t.Skip("an open file can't be moved here:", err)
			}
			if replace {
				require.NoError(t, os.WriteFile(b.db.file, nil, 0o600))
			}
			_, err := b.Commit(t.Context(), b.claim, b.batch("2", websync.Digest{}))
			assert.ErrorContains(t, err, b.db.file)
			require.NoError(t, os.Rename(aside, b.db.file))
			b.commit(b.batch("2", websync.Digest{}))
		})
	}
}

func TestVacuumGrace(t *testing.T) {
	for name, data := range map[string][]byte{"small": []byte("x"), "large": large('x')} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			key := b.put("1", data)
			b.pass(10 * time.Hour)
			assert.Zero(t, b.vacuum(0), "a body that is named")
			b.put("1", []byte("another"))
			b.pass(time.Minute)
			assert.Zero(t, b.vacuum(time.Hour), "a body that was named a minute ago")
			_, err := b.read(key)
			require.NoError(t, err)
			b.pass(time.Hour)
			assert.Equal(t, 1, b.vacuum(time.Hour))
			_, err = b.read(key)
			assert.ErrorIs(t, err, websync.ErrNotFound)
			assert.Empty(t, b.files())
			n, err := b.db.writer.ask("SELECT count(*) FROM kv WHERE substr(key, 1, 1) = CAST('D' AS BLOB)")
			require.NoError(t, err)
			assert.Equal(t, "1", n, "short bodies")
		})
	}
}

// A body that a record names stays, whatever a Commit does between the steps of Vacuum.
func TestVacuumBesideCommit(t *testing.T) {
	for name, data := range map[string][]byte{"small": []byte("x"), "large": large('x')} {
		t.Run(name, func(t *testing.T) {
			for at := range 6 {
				b := newBench(t)
				key := b.put("1", data)
				b.put("1", []byte("another"))
				other := b.put("2", large('y'))
				b.pass(time.Hour)
				steps := 0
				step := func() {
					if steps++; steps != at+1 {
						return
					}
					batch := b.batch("0", key)
					if !b.there(key) { // Vacuum has removed it
						w, _ := b.body(data)
						batch.Bodies = append(batch.Bodies, w)
					}
					b.pass(-3 * time.Hour) // no grace protects the body
					b.commit(batch)
					// the id comes after the one that Vacuum is to see
					b.commit(b.batch("2", key))
					b.commit(b.batch("1", other))
				}
				vacuum := harvest.NewCatalog(&stepDB{b.db, step})
				vacuum.Now = b.time
				_, err := vacuum.Vacuum(t.Context(), 0)
				require.NoError(t, err)
				assert.Greater(t, steps, 2)
				if steps <= at {
					continue
				}
				got, err := b.read(key)
				require.NoError(t, err, "Commit before step %d", at)
				assert.Equal(t, data, got)
				_, err = b.read(other)
				require.NoError(t, err, "Commit before step %d", at)
			}
		})
	}
}

// A stepDB calls step before everything that it does.
type stepDB struct {
	*Store
	step func()
}

func (d *stepDB) View(ctx context.Context, fn func(harvest.Reader) error) error {
	d.step()
	return d.Store.View(ctx, fn)
}

func (d *stepDB) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	d.step()
	return d.Store.Update(ctx, fn)
}

func (d *stepDB) RemoveBlob(ctx context.Context, name string) error {
	d.step()
	return d.Store.RemoveBlob(ctx, name)
}

func TestVacuumLeftovers(t *testing.T) {
	b := newBench(t)
	named := b.put("1", large('n'))
	waiting, key := b.body(large('w'))
	name := func(owner string) string {
		path := b.db.blobPath(strings.Repeat("a", 26) + owner)
		require.NoError(t, makeDir(filepath.Dir(path)))
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
		return path
	}
	kept := append(b.files(), name(" not ours"), name("."+b.db.owner.id+"x"))
	name("." + strings.Repeat("d", 26)) // its owner is dead
	nobody := name("")
	require.NoError(t, os.Chtimes(nobody, time.Time{}, b.time().Add(-time.Minute)))
	assert.Zero(t, b.vacuum(0), "files that are not counted as bodies")
	assert.ElementsMatch(t, kept, b.files())
	_, err := b.read(named)
	require.NoError(t, err)
	b.commit(b.batch("2", key, waiting))
	_, err = b.read(key)
	require.NoError(t, err)
}

// Without locks, another process may still be writing a new file.
func TestVacuumWithoutLocks(t *testing.T) {
	b := newBench(t)
	held := b.db.owner.file
	b.db.owner.file = nil
	defer func() { b.db.owner.file = held }()
	young, old := b.db.blobPath(strings.Repeat("y", 26)), b.db.blobPath(strings.Repeat("z", 26))
	for _, path := range []string{young, old} {
		require.NoError(t, makeDir(filepath.Dir(path)))
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	require.NoError(t, os.Chtimes(old, time.Time{}, time.Now().Add(-2*staleAfter)))
	b.pass(100 * 365 * 24 * time.Hour)
	b.vacuum(0)
	assert.Equal(t, []string{young}, b.files())
}

// Stores with different limits share a body that is short for one and a file for the
// other.
func TestBodyLimitsDiffer(t *testing.T) {
	b := newBench(t)
	all, err := OpenCatalog(t.Context(), b.db.file, nil)
	require.NoError(t, err)
	all.ChunkSize = -1
	defer all.Close()
	inline := func() harvest.BodyWriter {
		w, err := all.NewBody(t.Context())
		require.NoError(t, err)
		_, err = w.Write(large('x'))
		require.NoError(t, err)
		assert.Empty(t, b.files())
		return w
	}
	key := b.put("1", large('x'))
	require.NoError(t, os.Remove(b.files()[0]))
	claim, err := all.Claim(t.Context(), "source/t", time.Hour)
	require.NoError(t, err)
	batch := harvest.NewBatch("t")
	batch.Bodies = []harvest.BodyWriter{inline()}
	_, err = all.Commit(t.Context(), claim, batch)
	require.NoError(t, err)
	got, err := b.read(key)
	require.NoError(t, err)
	assert.Equal(t, large('x'), got)
	b.put("2", large('x'))
	assert.Empty(t, b.files())
}
