package harvest_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// pack puts ids with bodies in one Commit. Of a fileTester those are a pack if they have
// more than 100 bytes together.
func (f *fileTester) pack(texts map[string]string) {
	f.t.Helper()
	b := harvest.NewBatch("a")
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		w, key := f.body([]byte(texts[id]))
		one := f.batch(id, key, w)
		b.Puts, b.Bodies = append(b.Puts, one.Puts...), append(b.Bodies, one.Bodies...)
	}
	f.commit(b)
}

// isSound checks that Inspect finds nothing.
func (f *fileTester) isSound() {
	f.t.Helper()
	faults, err := f.Inspect(ctx)
	require.NoError(f.t, err)
	assert.Empty(f.t, faults)
}

// vacuum runs a Vacuum that removes n bodies.
func (f *fileTester) vacuum(n int) {
	f.t.Helper()
	f.clock.step(time.Hour)
	removed, err := f.Vacuum(ctx, time.Minute)
	require.NoError(f.t, err)
	assert.Equal(f.t, n, removed)
	f.isSound()
}

// onDisk reports whether a text is in a file of bodies.
func (f *fileTester) onDisk(text string) bool {
	for _, name := range f.files() {
		data, err := os.ReadFile(name)
		require.NoError(f.t, err)
		if bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

// The short bodies of a Commit are one file. A body that no record names any more is
// erased from it by Vacuum, and the file goes with the last of them.
func TestPack(t *testing.T) {
	f := newFileTester(t)
	one, two, three := strings.Repeat("1", 40), strings.Repeat("2", 41), strings.Repeat("3", 42)
	f.pack(map[string]string{"1": one, "2": two, "3": three, "4": three, "empty": ""})
	require.Len(t, f.files(), 1)
	f.isSound()
	for _, text := range []string{one, two, three, ""} {
		f.holds([]byte(text))
	}
	f.put("2", []byte("short"))
	f.put("empty", []byte("short"))
	require.Len(t, f.files(), 1, "a short body alone is in the Store")
	f.vacuum(2)
	f.lacks(websync.SHA256([]byte(two)))
	assert.False(t, f.onDisk(two), "what was withdrawn is on the disk")
	f.put("1", []byte("short"))
	f.put("3", []byte("short"))
	f.put("5", []byte(two)) // again
	f.vacuum(1)
	assert.False(t, f.onDisk(one), "what was withdrawn is on the disk")
	for _, text := range []string{two, three, "short"} {
		f.holds([]byte(text))
	}
	f.put("4", []byte("short"))
	f.vacuum(1)
	assert.Empty(t, f.files())
}

// A Commit whose changes conflict leaves no pack, nor does one whose bodies are all held
// already. One that fails leaves the bodies to their writers.
func TestPackIsNotLeft(t *testing.T) {
	f := newFileTester(t)
	texts := map[string]string{"1": strings.Repeat("1", 70), "2": strings.Repeat("2", 70)}
	b := harvest.NewBatch("a")
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		w, key := f.body([]byte(texts[id]))
		one := f.batch(id, key, w)
		b.Puts, b.Bodies = append(b.Puts, one.Puts...), append(b.Bodies, one.Bodies...)
	}
	base := b.Puts[0].Base
	b.Puts[0].Base = 99
	conflicts, err := f.Commit(ctx, f.claim, b)
	require.NoError(t, err)
	assert.Len(t, conflicts, 1)
	assert.Empty(t, f.files())
	b.Puts[0].Base = base
	missing := withBodies(changeTo("3", 0, websync.Updated), websync.SHA256([]byte("missing")))
	b.Puts = append(b.Puts, missing)
	f.fails(b, harvest.ErrNoBody)
	assert.Empty(t, f.files())
	b.Puts = b.Puts[:2]
	f.commit(b)
	require.Len(t, f.files(), 1)

	f.pack(texts)
	assert.Len(t, f.files(), 1)
	f.isSound()
	for _, text := range texts {
		f.holds([]byte(text))
	}
}

// The bodies of a pack that was lost, or damaged, are not there. The next Commits that
// bring them restore them.
func TestPackLost(t *testing.T) {
	for name, damage := range map[string]func(file string) error{
		"removed": os.Remove,
		"short":   func(file string) error { return os.Truncate(file, 100) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFileTester(t)
			one, two := strings.Repeat("1", 70), strings.Repeat("2", 70)
			f.pack(map[string]string{"1": one, "2": two})
			require.NoError(t, damage(f.files()[0]))
			lost := two
			if _, err := f.read(websync.SHA256([]byte(two))); err == nil {
				lost = one
			}
			_, err := f.read(websync.SHA256([]byte(lost)))
			assert.Error(t, err)
			f.put("3", []byte(lost))
			f.holds([]byte(lost))
			faults, err := f.Inspect(ctx)
			require.NoError(t, err)
			assert.Len(t, faults, map[string]int{"removed": 1}[name], "the other body is still lost")
			f.put("4", []byte(one))
			f.put("5", []byte(two))
			f.holds([]byte(one))
			f.holds([]byte(two))
			f.isSound()
		})
	}
}

// A body with other bytes than its own is never read.
func TestPackDamaged(t *testing.T) {
	f := newFileTester(t)
	one, two := strings.Repeat("1", 70), strings.Repeat("2", 70)
	f.pack(map[string]string{"1": one, "2": two})
	file := f.files()[0]
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, bytes.Replace(data, []byte("12"), []byte("1x"), 1), 0o600))
	bad := two
	if bytes.Contains(data, []byte("21")) {
		require.NoError(t, os.WriteFile(file, bytes.Replace(data, []byte("21"), []byte("2x"), 1), 0o600))
		bad = one
	}
	_, err = f.read(websync.SHA256([]byte(bad)))
	assert.ErrorIs(t, err, harvest.ErrCorrupt)
}

// A body that Vacuum erases while it is opened is not there.
func TestPackErasedMeanwhile(t *testing.T) {
	f := newFileTester(t)
	one, two := strings.Repeat("1", 70), strings.Repeat("2", 70)
	f.pack(map[string]string{"1": one, "2": two})
	f.put("1", []byte("short"))
	reader := harvest.NewCatalog(&openingStore{f.db, func() { f.vacuum(1) }})
	r, err := reader.Open(ctx, websync.Body{Key: websync.SHA256([]byte(one))})
	if !assert.ErrorIs(t, err, websync.ErrNotFound) {
		data, _ := io.ReadAll(r)
		t.Logf("read %q", data)
	}
}

// An openingStore calls first once, before a blob is opened.
type openingStore struct {
	*sqlitestore.Store
	first func()
}

func (s *openingStore) OpenBlob(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	if first := s.first; first != nil {
		s.first = nil
		first()
	}
	return s.Store.OpenBlob(ctx, name)
}

// An erasure that a Vacuum could not finish is that of the next one.
func TestPackEraseLater(t *testing.T) {
	f := newFileTester(t)
	one, two := strings.Repeat("1", 70), strings.Repeat("2", 70)
	f.pack(map[string]string{"1": one, "2": two})
	f.put("1", []byte("short"))
	f.clock.step(time.Hour)
	stop, cancel := context.WithCancel(ctx)
	broken := harvest.NewCatalog(&erasingStore{f.db, cancel})
	broken.Now = f.clock.Now
	_, err := broken.Vacuum(stop, 0)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, f.onDisk(one))
	f.isSound()
	f.vacuum(0)
	assert.False(t, f.onDisk(one))
	f.holds([]byte(two))
}

// An erasingStore fails to erase.
type erasingStore struct {
	*sqlitestore.Store
	failed func()
}

func (s *erasingStore) EraseBlob(ctx context.Context, _ string, _, _ int64) error {
	s.failed()
	return ctx.Err()
}

// A pack that Vacuum of another process has removed before its Commit ends is not named.
func TestPackRemovedBeforeCommit(t *testing.T) {
	f := newFileTester(t)
	one, two := strings.Repeat("1", 70), strings.Repeat("2", 70)
	remove := func() {
		for _, name := range f.files() {
			require.NoError(t, os.Remove(name))
		}
	}
	other := harvest.NewCatalog(&updatingStore{f.db, remove})
	other.ChunkSize, other.Now = 100, f.clock.Now
	b := harvest.NewBatch("a")
	for id, text := range map[string]string{"1": one, "2": two} {
		w, err := other.NewBody(ctx)
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
		key, _, err := w.Finish()
		require.NoError(t, err)
		b.Puts, b.Bodies = append(b.Puts, f.batch(id, key).Puts...), append(b.Bodies, w)
	}
	_, err := other.Commit(ctx, f.claim, b)
	require.ErrorIs(t, err, harvest.ErrNoBody)
	f.isSound()
}

// An updatingStore calls before before each Update.
type updatingStore struct {
	*sqlitestore.Store
	before func()
}

func (s *updatingStore) Update(ctx context.Context, fn func(harvest.Tx) error) error {
	s.before()
	return s.Store.Update(ctx, fn)
}

// Import puts packs into the Store if Blobs can't erase a part of one. There Inspect finds
// them, and what is missing of them, and Vacuum erases bodies.
func TestPackMovedInside(t *testing.T) {
	f := newFileTester(t)
	one, two, three := strings.Repeat("1", 70), strings.Repeat("2", 70), strings.Repeat("3", 60)
	f.pack(map[string]string{"1": one, "2": two})
	f.pack(map[string]string{"3": three, "4": strings.Repeat("4", 60)})
	var export bytes.Buffer
	require.NoError(t, f.Export(ctx, &export))
	db, blobs := memstore.New(), new(testkit.Blobs)
	c := blobs.On(db)
	c.Now, c.ChunkSize = f.clock.Now, 100
	require.NoError(t, c.Import(ctx, &export))
	require.NoError(t, blobs.ListBlobs(ctx, func(name string, _ time.Time) bool {
		t.Errorf("%s is where nothing can be erased from it", name)
		return true
	}))
	isConsistent(t, c)
	has := func(text string) bool {
		var chunks []byte
		require.NoError(t, db.View(ctx, func(r harvest.Reader) error {
			return r.Scan([]byte{'C'}, []byte{'D'}, 1, func(_, value []byte) bool {
				chunks = append(chunks, value...)
				return true
			})
		}))
		return bytes.Contains(chunks, []byte(text))
	}
	require.True(t, has(one))
	_, err := (&harvest.Harvester{Catalog: c}).Run(ctx, harvest.Of("a", harvest.Event{
		Resource: websync.Resource{ID: "1", Modified: testkit.Day(300)}, Open: harvest.OpenBytes([]byte("5")),
	}))
	require.NoError(t, err)
	f.clock.step(time.Hour)
	_, err = c.Vacuum(ctx, time.Minute)
	require.NoError(t, err)
	assert.False(t, has(one))
	assert.True(t, has(two))
	isConsistent(t, c)

	var keys, values [][]byte // of the packs
	require.NoError(t, db.View(ctx, func(r harvest.Reader) error {
		return r.Scan([]byte{'P'}, []byte{'Q'}, 1, func(key, value []byte) bool {
			keys, values = append(keys, bytes.Clone(key)), append(values, bytes.Clone(value))
			return true
		})
	}))
	require.Len(t, keys, 2)
	for _, other := range [][][]byte{{values[1], values[0]}, {nil, values[1]}} { // one is too short, one is not there
		require.NoError(t, db.Update(ctx, func(tx harvest.Tx) error {
			for i, value := range other {
				if value == nil {
					require.NoError(t, tx.Delete(keys[i]))
					continue
				}
				require.NoError(t, tx.Set(keys[i], value))
			}
			return nil
		}))
		faults, err := c.Inspect(ctx)
		require.NoError(t, err)
		assert.Contains(t, strings.Join(faults, "\n"), "is not there, or has another size")
	}
}
