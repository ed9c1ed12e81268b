package sqlitestore

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"zombiezen.com/go/sqlite"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

func open(t *testing.T, file string) *conn {
	t.Helper()
	c, err := sqlite.OpenConn(file, sqlite.OpenReadWrite|sqlite.OpenCreate)
	require.NoError(t, err)
	return &conn{Conn: c}
}

// raw opens a database as any other program would, runs statements and closes it.
func raw(t *testing.T, file string, statements ...string) {
	t.Helper()
	c := open(t, file)
	for _, sql := range statements {
		_, err := c.ask(sql)
		require.NoError(t, err, sql)
	}
	require.NoError(t, c.Close())
}

// A foreign database whose last transactions are still in its write-ahead log.
func TestOpenRefusesUnfinished(t *testing.T) {
	dir := t.TempDir()
	busy, file := filepath.Join(dir, "busy"), filepath.Join(dir, "copy")
	c := open(t, busy)
	defer c.Close()
	for _, sql := range []string{"PRAGMA journal_mode = wal", "CREATE TABLE t (a)", "PRAGMA wal_checkpoint", "INSERT INTO t VALUES (1)"} {
		_, err := c.ask(sql)
		require.NoError(t, err)
	}
	var before [2][]byte
	var err error
	for i, end := range []string{"", "-wal"} {
		before[i], err = os.ReadFile(busy + end)
		require.NoError(t, err)
		require.NotEmpty(t, before[i])
		require.NoError(t, os.WriteFile(file+end, before[i], 0o600))
	}
	_, err = Open(t.Context(), file, nil)
	require.ErrorIs(t, err, errForeign)
	for i, end := range []string{"", "-wal"} {
		after, err := os.ReadFile(file + end)
		require.NoError(t, err)
		assert.Equal(t, before[i], after, "FILE%s was changed", end)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, content string) string {
		require.NoError(t, os.WriteFile(file(name), []byte(content), 0o600))
		return file(name)
	}
	makeDB := func(name string, statements ...string) string {
		raw(t, file(name), statements...)
		return file(name)
	}
	foreign := "the file is not a websync store"
	for name, test := range map[string]struct{ file, message string }{
		"text":              {write("text", strings.Repeat("not a database\n", 1000)), foreign},
		"short text":        {write("short", "x"), foreign},
		"another's tables":  {makeDB("tables", "CREATE TABLE t (a)"), foreign},
		"another's WAL":     {makeDB("wal", "PRAGMA journal_mode = wal", "CREATE TABLE t (a)"), foreign},
		"another's mark":    {makeDB("mark", "PRAGMA application_id = 7"), foreign},
		"another's version": {makeDB("version", "PRAGMA user_version = 1"), foreign},
		"newer": {makeDB("newer", fmt.Sprintf("PRAGMA application_id = %d", applicationID),
			fmt.Sprintf("PRAGMA user_version = %d", schemaVersion+1)), "written by a newer version"},
		"older": {makeDB("older", "CREATE TABLE counters (a)", fmt.Sprintf("PRAGMA application_id = %d", applicationID),
			"PRAGMA user_version = 2"), "harvest again into a new file"},
		"a directory":  {dir, ""},
		"no directory": {file("no/such/dir.db"), ""},
		"in memory":    {":memory:", "not the name of a file"},
		"no name":      {"", "not the name of a file"},
	} {
		t.Run(name, func(t *testing.T) {
			before, _ := os.ReadFile(test.file)
			s, err := OpenCatalog(t.Context(), test.file, nil)
			require.Error(t, err)
			assert.Nil(t, s)
			assert.True(t, strings.HasPrefix(err.Error(), "sqlitestore: "), err)
			assert.Equal(t, 1, strings.Count(err.Error(), "sqlitestore: "), err)
			assert.ErrorContains(t, err, test.message)
			after, _ := os.ReadFile(test.file)
			assert.Equal(t, before, after, "the file was changed")
			assert.NoDirExists(t, test.file+".owners")
		})
	}
	_, err := Open(t.Context(), file("newer"), nil)
	assert.ErrorIs(t, err, harvest.ErrNewer)
	assert.NoFileExists(t, ":memory:")
}

// contents returns the files below dir with their bytes.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[path] = "a directory"
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	}))
	return all
}

// What is left of a Store whose database is gone is not touched: SQLite would delete the
// log and create an empty database beside the bodies.
func TestOpenRefusesLostFile(t *testing.T) {
	for name, left := range map[string][]string{
		"log": {"-wal"}, "bodies": {".bodies"}, "both": {"-wal", ".bodies"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.put("1", large('x'))
			dir, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			file, link := filepath.Join(dir, "store.db"), filepath.Join(t.TempDir(), "link")
			for _, end := range left {
				if end == ".bodies" {
					require.NoError(t, os.CopyFS(file+end, os.DirFS(b.db.blobDir())))
					continue
				}
				log, err := os.ReadFile(b.db.file + end)
				require.NoError(t, err)
				require.NotEmpty(t, log)
				require.NoError(t, os.WriteFile(file+end, log, 0o600))
			}
			before := contents(t, dir)
			files := []string{file}
			if os.Symlink(file, link) == nil {
				files = append(files, link)
			}
			for _, name := range files {
				s, err := OpenCatalog(t.Context(), name, nil)
				require.ErrorIs(t, err, fs.ErrNotExist)
				assert.Nil(t, s)
				assert.ErrorContains(t, err, "sqlitestore: "+file+": a Store that lost its main file: restore it")
				for _, end := range left {
					assert.ErrorContains(t, err, file+end)
				}
				assert.Equal(t, before, contents(t, dir))
			}
			require.NoError(t, os.RemoveAll(file+"-wal"))
			require.NoError(t, os.RemoveAll(file+".bodies"))
			s, err := OpenCatalog(t.Context(), file, nil)
			require.NoError(t, err, "nothing is left of the Store")
			require.NoError(t, s.Close())
		})
	}
}

func TestOpenEmptyFile(t *testing.T) {
	dir := t.TempDir()
	empty, header := filepath.Join(dir, "empty"), filepath.Join(dir, "header")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	// as a process leaves it that is killed while it creates the file
	raw(t, header, "PRAGMA journal_mode = wal")
	for _, file := range []string{empty, header} {
		s, err := OpenCatalog(t.Context(), file, nil)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}

func TestOpenOddNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b", "what?mode=ro", "100%25", "a#b", "ä&_pragma=x", ":memory:", `quo"te'`} {
		file := filepath.Join(dir, name)
		s, err := OpenCatalog(t.Context(), file, nil)
		require.NoError(t, err, name)
		require.NoError(t, s.Swap(t.Context(), "k", nil, []byte(name)))
		require.NoError(t, s.Close())
		assert.FileExists(t, file)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 7, "other files than the databases: %v", entries)
}

func TestOpenSymlink(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "real"), filepath.Join(other, "link")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	for range 2 { // the first creates it
		s, err := OpenCatalog(t.Context(), filepath.Join(other, "link"), nil)
		require.NoError(t, err)
		want, err := filepath.EvalSymlinks(dir)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(want, "real.bodies"), s.db.blobDir())
		require.NoError(t, s.Close())
	}
}

// Several processes may create the same file.
func TestOpenAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := OpenCatalog(t.Context(), file, nil)
			if assert.NoError(t, err) {
				assert.NoError(t, s.Close())
			}
		})
	}
	wg.Wait()
}

// Every statement finds its rows by the key and in order.
func TestQueryPlans(t *testing.T) {
	s := reopen(t, filepath.Join(t.TempDir(), "store.db"))
	for _, sql := range []string{sqlGet, sqlGetLong, sqlScan, sqlDelete, sqlGetLog, sqlScanLog, sqlDeleteLog} {
		plan, err := s.db.writer.Prepare("EXPLAIN QUERY PLAN " + sql)
		require.NoError(t, err)
		rows := 0
		for row, err := plan.Step(); row; row, err = plan.Step() {
			require.NoError(t, err)
			rows++
			assert.Regexp(t, "^SEARCH (kv|long|log) USING (INTEGER )?PRIMARY KEY", plan.ColumnText(3), sql)
		}
		assert.Equal(t, 1, rows, sql)
	}
}

// TestSettings checks the settings that durability and memory depend on.
func TestSettings(t *testing.T) {
	s, err := OpenCatalog(t.Context(), filepath.Join(t.TempDir(), "store.db"), nil)
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Head(t.Context())
	require.NoError(t, err)
	for name, want := range map[string][2]string{
		"synchronous":        {"2", "2"}, // FULL
		"fullfsync":          {"1", "1"},
		"journal_mode":       {"wal", "wal"},
		"mmap_size":          {"0", "0"},
		"temp_store":         {"1", "1"}, // in a file
		"cache_size":         {"-4096", "-1024"},
		"journal_size_limit": {"67108864", "67108864"},
		"query_only":         {"0", "1"},
	} {
		for i, c := range []*conn{s.db.writer, s.db.idle[0]} {
			got, err := c.pragma(name)
			require.NoError(t, err)
			assert.Equal(t, want[i], got, "%s of connection %d", name, i)
		}
	}
}

func TestDropKeepsTheNewest(t *testing.T) {
	s, err := OpenCatalog(t.Context(), filepath.Join(t.TempDir(), "store.db"), nil)
	require.NoError(t, err)
	defer s.Close()
	for _, before := range []uint64{99, 1 << 63} {
		require.NoError(t, s.Drop(t.Context(), before))
		head, err := s.Head(t.Context())
		require.NoError(t, err)
		for _, err := range s.Changes(t.Context(), websync.Range{Generation: head.Generation}) {
			require.NoError(t, err)
		}
		_, err = s.Compact(t.Context())
		require.NoError(t, err)
	}
}

func TestOpenNamesWhatIsMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	_, err := Open(t.Context(), filepath.Join(dir, "store.db"), nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, dir)
}

// A value that is replaced or deleted leaves nothing in the table of long values.
func TestLongValues(t *testing.T) {
	s := reopen(t, filepath.Join(t.TempDir(), "store.db"))
	value := func(size int) []byte { return bytes.Repeat([]byte{'v'}, size) }
	for _, size := range []int{longValue - 1, longValue, 5000, 1, 6000, 7000} {
		require.NoError(t, s.db.Update(t.Context(), func(tx harvest.Tx) error {
			require.NoError(t, tx.Set([]byte("a"), value(size)))
			require.NoError(t, tx.Set([]byte("b"), value(size+1)))
			got, err := tx.Get([]byte("a"))
			require.Equal(t, value(size), got)
			return err
		}))
		require.NoError(t, s.db.View(t.Context(), func(r harvest.Reader) error {
			var sizes []int
			err := r.Scan([]byte("a"), []byte("c"), 1, func(_, v []byte) bool {
				sizes = append(sizes, len(v))
				return true
			})
			require.Equal(t, []int{size, size + 1}, sizes)
			return err
		}))
	}
	count := func() string {
		n, err := s.db.writer.ask("SELECT count(*) FROM long")
		require.NoError(t, err)
		return n
	}
	assert.Equal(t, "2", count())
	require.NoError(t, s.db.Update(t.Context(), func(tx harvest.Tx) error {
		require.NoError(t, tx.Delete([]byte("a")))
		return tx.Set([]byte("b"), value(1))
	}))
	assert.Equal(t, "0", count())
}
