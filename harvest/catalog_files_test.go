package harvest_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

// A fileCatalog is a Catalog on a Store in a file. Its long bodies are other files.
type fileCatalog struct {
	*harvest.Catalog
	db   *sqlitestore.Store
	file string
}

// openFile opens file. If now is nil, the clock is that of the system.
func openFile(t testing.TB, file string, now func() time.Time) *fileCatalog {
	t.Helper()
	db, err := sqlitestore.Open(t.Context(), file, nil)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	c := &fileCatalog{harvest.NewCatalog(db), db, file}
	c.Now = now
	return c
}

// newFile returns the name of a file that is not there.
func newFile(t testing.TB) string { return filepath.Join(t.TempDir(), "store.db") }

func TestCatalogOnSQLite(t *testing.T) {
	runSuite(t, suiteOptions{
		Open: func(t testing.TB) checkedCatalog { return openFile(t, newFile(t), nil) },
		Reopen: func(t testing.TB, s checkedCatalog) checkedCatalog {
			old := s.(*fileCatalog)
			require.NoError(t, old.db.Close())
			return openFile(t, old.file, nil)
		},
		OpenClock: func(t testing.TB, now func() time.Time) checkedCatalog { return openFile(t, newFile(t), now) },
	})
}

// needOwners skips a test on a system without file locks.
func needOwners(t *testing.T, c *fileCatalog) {
	t.Helper()
	if c.db.Owner() == "" {
		t.Skip("no file locks on this system")
	}
}

// A fileTester is a fileCatalog whose bodies of more than 100 bytes are files, with a
// clock and a claim of the source "a".
type fileTester struct {
	*fileCatalog
	t     *testing.T
	clock *clock
	claim *harvest.Claim
}

func newFileTester(t *testing.T) *fileTester {
	t.Helper()
	clock := newClock()
	c := openFile(t, newFile(t), clock.Now)
	c.ChunkSize = 100
	return &fileTester{c, t, clock, claim(t, c.Catalog)}
}

// body writes data in small steps.
func (f *fileTester) body(data []byte) (harvest.BodyWriter, websync.Digest) {
	f.t.Helper()
	w, err := f.NewBody(ctx)
	require.NoError(f.t, err)
	for part := range slices.Chunk(data, 33) {
		_, err = w.Write(part)
		require.NoError(f.t, err)
	}
	key, size, err := w.Finish()
	require.NoError(f.t, err)
	require.EqualValues(f.t, len(data), size)
	return w, key
}

// batch returns one that puts id with a body.
func (f *fileTester) batch(id string, key websync.Digest, ws ...harvest.BodyWriter) *harvest.Batch {
	f.t.Helper()
	recs, err := f.Lookup(ctx, "a", []string{id})
	require.NoError(f.t, err)
	b := harvest.NewBatch("a")
	b.Puts = []harvest.Change{withBodies(changeTo(id, recs[0].Seq, websync.Updated), key)}
	b.Bodies = ws
	return b
}

func (f *fileTester) commit(b *harvest.Batch) {
	f.t.Helper()
	commit(f.t, f.Catalog, f.claim, b)
}

// fails checks that a Commit of b returns the error want.
func (f *fileTester) fails(b *harvest.Batch, want error) {
	f.t.Helper()
	_, err := f.Commit(ctx, f.claim, b)
	require.ErrorIs(f.t, err, want)
}

func (f *fileTester) put(id string, data []byte) websync.Digest {
	f.t.Helper()
	w, key := f.body(data)
	f.commit(f.batch(id, key, w))
	return key
}

func (f *fileTester) read(key websync.Digest) ([]byte, error) {
	r, err := f.Open(ctx, websync.Body{Key: key})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// holds checks that the Catalog has the body data.
func (f *fileTester) holds(data []byte) {
	f.t.Helper()
	got, err := f.read(websync.SHA256(data))
	require.NoError(f.t, err)
	assert.Equal(f.t, data, got)
}

// lacks checks that the Catalog has no body of this key.
func (f *fileTester) lacks(key websync.Digest) {
	f.t.Helper()
	_, err := f.read(key)
	assert.ErrorIs(f.t, err, websync.ErrNotFound)
}

// files returns the names of the files of bodies, uncommitted ones too.
func (f *fileTester) files() []string {
	names, _ := filepath.Glob(filepath.Join(f.file+".bodies", "*", "*"))
	return names
}

// leave writes a file as that of a body with this name.
func (f *fileTester) leave(name string) (path string) {
	f.t.Helper()
	path = filepath.Join(f.file+".bodies", name[:2], name[2:])
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(f.t, os.WriteFile(path, []byte("x"), 0o600))
	return path
}

func large(c byte) []byte { return bytes.Repeat([]byte{c}, 1000) }

func TestFilesDiscard(t *testing.T) {
	f := newFileTester(t)
	unfinished, err := f.NewBody(ctx)
	require.NoError(t, err)
	_, err = unfinished.Write(large('u'))
	require.NoError(t, err)
	finished, key := f.body(large('f'))
	require.Len(t, f.files(), 2)
	for range 2 {
		require.NoError(t, unfinished.Discard())
		require.NoError(t, finished.Discard())
		assert.Empty(t, f.files())
	}
	_, err = unfinished.Write([]byte("x"))
	assert.Error(t, err)
	f.fails(f.batch("1", key, finished), fs.ErrClosed)

	taken, key := f.body(large('t'))
	f.commit(f.batch("1", key, taken))
	require.NoError(t, taken.Discard())
	_, err = f.read(key)
	assert.NoError(t, err, "Discard removed a body that a Commit had taken")
}

func TestFilesSameTwice(t *testing.T) {
	f := newFileTester(t)
	key := f.put("1", large('x'))
	f.put("2", large('x'))
	one, _ := f.body(large('y'))
	two, _ := f.body(large('y'))
	f.commit(f.batch("3", key, one))
	f.commit(f.batch("4", key, two, two))
	require.NoError(t, two.Discard())
	assert.Len(t, f.files(), 2, "a copy stayed")
}

// A body that a batch brings several times is one file.
func TestFilesSameTwiceLeavesNothing(t *testing.T) {
	f := newFileTester(t)
	data := bytes.Repeat([]byte("long"), 100)
	for i := range 3 {
		var ws []harvest.BodyWriter
		var key websync.Digest
		for range 4 {
			w, k := f.body(data)
			ws, key = append(ws, w), k
		}
		b := f.batch(string(rune('a'+i)), key, ws...)
		f.commit(b)
		_, err := f.Commit(ctx, f.claim, b) // again, as after a lost answer
		require.NoError(t, err)
		assert.Len(t, f.files(), 1)
	}
	// An answer that was lost: the batch comes again with new writers.
	w, key := f.body(data)
	b := f.batch("x", key, w)
	f.commit(b)
	again, _ := f.body(data)
	b.Bodies = []harvest.BodyWriter{again}
	f.commit(b)
	assert.Len(t, f.files(), 1)
}

func TestFilesOfAnotherStore(t *testing.T) {
	one, other := newFileTester(t), newFileTester(t)
	w, key := one.body(large('x'))
	other.fails(other.batch("1", key, w), harvest.ErrBatch)
	one.commit(one.batch("1", key, w))
}

// A Commit that fails leaves the bodies to their writers.
func TestFilesAfterFailure(t *testing.T) {
	f := newFileTester(t)
	w, key := f.body(large('x'))
	b := f.batch("1", key, w)
	missing := websync.Digest{Algorithm: "sha-256", Sum: strings.Repeat("\a", 32)}
	b.Puts = append(b.Puts, withBodies(changeTo("2", 0, websync.Updated), missing))
	for range 2 {
		f.fails(b, harvest.ErrNoBody)
		assert.Len(t, f.files(), 1)
	}
	before := f.files()
	b.Puts = b.Puts[:1]
	f.commit(b)
	assert.Equal(t, before, f.files())
}

func TestFilesKeyIsNone(t *testing.T) {
	f := newFileTester(t)
	held := f.put("2", large('x'))
	for _, key := range []websync.Digest{{Algorithm: "md5", Sum: "0123456789abcdef"}, {Algorithm: "sha-256", Sum: "short"},
		{Algorithm: "sha3-256", Sum: held.Sum}} {
		f.fails(f.batch("1", key), harvest.ErrNoBody)
		f.lacks(key)
	}
	f.commit(f.batch("1", websync.Digest{}))
}

// The next Commit that brings the bytes of a removed file restores it.
func TestFilesLost(t *testing.T) {
	f := newFileTester(t)
	key := f.put("1", large('x'))
	require.NoError(t, os.Remove(f.files()[0]))
	f.lacks(key)
	f.fails(f.batch("2", key), harvest.ErrNoBody)
	f.put("2", large('x'))
	f.holds(large('x'))
}

// Stores with different limits share a body that is short for one and a file for the
// other.
func TestFilesLimitsDiffer(t *testing.T) {
	f := newFileTester(t)
	all := openFile(t, f.file, nil)
	all.ChunkSize = -1
	f.put("1", large('x'))
	require.NoError(t, os.Remove(f.files()[0]))
	w, _ := write(t, all.Catalog, large('x'))
	assert.Empty(t, f.files())
	c, err := all.Claim(ctx, "source/b", time.Hour)
	require.NoError(t, err)
	b := harvest.NewBatch("b")
	b.Bodies = []harvest.BodyWriter{w}
	commit(t, all.Catalog, c, b)
	f.holds(large('x'))
	f.put("2", large('x'))
	assert.Empty(t, f.files())
}

// What is written to a file that was removed or replaced would be lost: a Commit fails.
func TestCommitWithoutFile(t *testing.T) {
	for name, replace := range map[string]bool{"removed": false, "replaced": true} {
		t.Run(name, func(t *testing.T) {
			f := newFileTester(t)
			f.put("1", []byte("short"))
			aside := f.file + ".aside"
			if err := os.Rename(f.file, aside); err != nil {
				t.Skip("an open file can't be moved here:", err)
			}
			if replace {
				require.NoError(t, os.WriteFile(f.file, nil, 0o600))
			}
			_, err := f.Commit(ctx, f.claim, f.batch("2", websync.Digest{}))
			assert.ErrorContains(t, err, f.file)
			require.NoError(t, os.Rename(aside, f.file))
			f.commit(f.batch("2", websync.Digest{}))
		})
	}
}

// A body that a record names stays, whatever a Commit does between the steps of Vacuum.
func TestVacuumBesideCommit(t *testing.T) {
	for name, data := range map[string][]byte{"small": []byte("x"), "large": large('x')} {
		t.Run(name, func(t *testing.T) {
			for at := range 6 {
				f := newFileTester(t)
				key := f.put("1", data)
				f.put("1", []byte("another"))
				other := f.put("2", large('y'))
				f.clock.step(time.Hour)
				steps := 0
				vacuum := harvest.NewCatalog(&stepStore{f.db, func() {
					if steps++; steps == at+1 {
						f.renames(data, key, other)
					}
				}})
				vacuum.Now = f.clock.Now
				_, err := vacuum.Vacuum(ctx, 0)
				require.NoError(t, err)
				assert.Greater(t, steps, 2)
				if steps <= at {
					continue
				}
				t.Log("Commit before step", at)
				f.holds(data)
				f.holds(large('y'))
			}
		})
	}
}

// renames commits that other ids name the bodies, while Vacuum runs. The bytes of key are
// data.
func (f *fileTester) renames(data []byte, key, other websync.Digest) {
	b := f.batch("0", key)
	if _, err := f.read(key); err != nil { // Vacuum has removed it
		w, _ := f.body(data)
		b.Bodies = append(b.Bodies, w)
	}
	f.clock.step(-3 * time.Hour) // no grace protects the body
	f.commit(b)
	// the id comes after the one that Vacuum is to see
	f.commit(f.batch("2", key))
	f.commit(f.batch("1", other))
}

// A stepStore calls step before everything that it does.
type stepStore struct {
	*sqlitestore.Store
	step func()
}

func (s *stepStore) View(ctx context.Context, fn func(harvest.Reader) error) error {
	s.step()
	return s.Store.View(ctx, fn)
}

func (s *stepStore) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	s.step()
	return s.Store.Update(ctx, fn)
}

func (s *stepStore) RemoveBlob(ctx context.Context, name string) error {
	s.step()
	return s.Store.RemoveBlob(ctx, name)
}

// Vacuum removes the files of owners that are dead, and those that nobody owns.
func TestVacuumLeftovers(t *testing.T) {
	f := newFileTester(t)
	needOwners(t, f.fileCatalog)
	f.put("1", large('n'))
	waiting, key := f.body(large('w'))
	some := strings.Repeat("a", 26)
	kept := append(f.files(), f.leave(some+" not ours"), f.leave(some+"."+f.db.Owner()+"x"))
	f.leave(some + "." + strings.Repeat("d", 26)) // its owner is dead
	nobody := f.leave(some)
	require.NoError(t, os.Chtimes(nobody, time.Time{}, f.clock.Now().Add(-time.Minute)))
	n, err := f.Vacuum(ctx, 0)
	require.NoError(t, err)
	assert.Zero(t, n, "files that are not counted as bodies")
	assert.ElementsMatch(t, kept, f.files())
	f.holds(large('n'))
	f.commit(f.batch("2", key, waiting))
	f.holds(large('w'))
}

// A claim ends when its Store is closed, and is fenced when another has taken it.
func TestOwnersAreStores(t *testing.T) {
	file := newFile(t)
	one, two := openFile(t, file, nil), openFile(t, file, nil)
	needOwners(t, one)
	a, err := one.Claim(ctx, "source/a", time.Hour)
	require.NoError(t, err)
	_, err = two.Claim(ctx, "source/a", time.Hour)
	require.ErrorIs(t, err, harvest.ErrHeld, "the owner is alive")
	require.NoError(t, one.db.Close())
	_, err = one.Commit(ctx, a, harvest.NewBatch("a"))
	assert.ErrorIs(t, err, os.ErrClosed)
	b, err := two.Claim(ctx, "source/a", time.Hour)
	require.NoError(t, err, "the owner is gone")
	assert.Greater(t, b.Epoch, a.Epoch)
	_, err = two.Commit(ctx, a, harvest.NewBatch("a"))
	assert.ErrorIs(t, err, harvest.ErrFenced)
	_, err = two.Commit(ctx, b, harvest.NewBatch("a"))
	assert.NoError(t, err)
	require.NoError(t, two.db.Close())
	assert.NoDirExists(t, file+".owners")
}
