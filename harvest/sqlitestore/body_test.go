package sqlitestore

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// A bench is a Store with a clock.
type bench struct {
	*Catalog
	t   *testing.T
	now time.Time
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	b.Catalog = reopen(t, filepath.Join(t.TempDir(), "store.db"))
	b.ChunkSize, b.Now = 100, func() time.Time { return b.now }
	t.Cleanup(func() { assert.NoError(t, b.Close()) })
	return b
}

func (b *bench) pass(d time.Duration) { b.now = b.now.Add(d) }

func (b *bench) put(id string, data []byte) websync.Digest {
	b.t.Helper()
	key := websync.SHA256(data)
	testkit.Fill(b.t, b.Catalog.Catalog, "s", []string{string(data)}, websync.Item{
		Resource: websync.Resource{ID: id}, Bodies: []websync.Body{{Name: "content", Key: key}},
	})
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

// Without locks, another process may still be writing a new file.
func TestVacuumWithoutLocks(t *testing.T) {
	b := newBench(t)
	held := b.db.owner.file
	b.db.owner.file = nil
	defer func() { b.db.owner.file = held }()
	young, old := b.db.blobPath(strings.Repeat("y", 26)), b.db.blobPath(strings.Repeat("z", 26))
	for _, path := range []string{young, old} {
		require.NoError(t, b.db.makeDir(filepath.Dir(path)))
		require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	require.NoError(t, os.Chtimes(old, time.Time{}, time.Now().Add(-2*staleAfter)))
	b.pass(100 * 365 * 24 * time.Hour)
	b.vacuum(0)
	assert.Equal(t, []string{young}, b.files())
}
