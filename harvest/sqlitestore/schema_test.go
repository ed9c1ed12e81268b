package sqlitestore

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// raw opens a database as any other program would, runs statements and closes it.
func raw(t *testing.T, file string, statements ...string) {
	t.Helper()
	c, err := connect(t.Context(), "file:"+file)
	require.NoError(t, err)
	for _, sql := range statements {
		require.NoError(t, c.exec(sql), sql)
	}
	require.NoError(t, c.Close())
}

// A foreign database whose last transactions are still in its write-ahead log.
func TestOpenRefusesUnfinished(t *testing.T) {
	dir := t.TempDir()
	busy, file := filepath.Join(dir, "busy"), filepath.Join(dir, "copy")
	c, err := connect(t.Context(), "file:"+busy)
	require.NoError(t, err)
	defer c.Close()
	for _, sql := range []string{"PRAGMA journal_mode = wal", "CREATE TABLE t (a)", "PRAGMA wal_checkpoint", "INSERT INTO t VALUES (1)"} {
		require.NoError(t, c.exec(sql))
	}
	var before [2][]byte
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
	sqlite := func(name string, statements ...string) string {
		raw(t, file(name), statements...)
		return file(name)
	}
	foreign := "the file is not a websync store"
	for name, test := range map[string]struct{ file, message string }{
		"text":              {write("text", strings.Repeat("not a database\n", 1000)), foreign},
		"short text":        {write("short", "x"), foreign},
		"another's tables":  {sqlite("tables", "CREATE TABLE t (a)"), foreign},
		"another's WAL":     {sqlite("wal", "PRAGMA journal_mode = wal", "CREATE TABLE t (a)"), foreign},
		"another's mark":    {sqlite("mark", "PRAGMA application_id = 7"), foreign},
		"another's version": {sqlite("version", "PRAGMA user_version = 1"), foreign},
		"newer": {sqlite("newer", fmt.Sprintf("PRAGMA application_id = %d", applicationID),
			fmt.Sprintf("PRAGMA user_version = %d", len(schema)+1)), "written by a newer version"},
		"a directory":  {dir, ""},
		"no directory": {file("no/such/dir.db"), ""},
		"in memory":    {":memory:", "not the name of a file"},
		"no name":      {"", "not the name of a file"},
	} {
		t.Run(name, func(t *testing.T) {
			before, _ := os.ReadFile(test.file)
			s, err := Open(t.Context(), test.file, nil)
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

func TestOpenEmptyFile(t *testing.T) {
	dir := t.TempDir()
	empty, header := filepath.Join(dir, "empty"), filepath.Join(dir, "header")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	raw(t, header, "PRAGMA journal_mode = wal") // as when the process that creates it is killed
	for _, file := range []string{empty, header} {
		s, err := Open(t.Context(), file, nil)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}

func TestOpenOddNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b", "what?mode=ro", "100%25", "a#b", "ä&_pragma=x", ":memory:", `quo"te'`} {
		file := filepath.Join(dir, name)
		s, err := Open(t.Context(), file, nil)
		require.NoError(t, err, name)
		require.NoError(t, s.Swap(t.Context(), "k", nil, []byte(name)))
		require.NoError(t, s.Close())
		assert.FileExists(t, file)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 7, "something stayed beside the databases: %v", entries)
}

func TestOpenSymlink(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "real"), filepath.Join(other, "link")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	for range 2 { // the first creates it
		s, err := Open(t.Context(), filepath.Join(other, "link"), nil)
		require.NoError(t, err)
		want, err := filepath.EvalSymlinks(dir)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(want, "real.bodies"), s.bodyDir())
		require.NoError(t, s.Close())
	}
}

// steps returns the schema and two more steps.
func steps() []string {
	return append(schema[:len(schema):len(schema)],
		"ALTER TABLE sources ADD COLUMN colour TEXT; UPDATE sources SET colour = 'red'",
		"CREATE TABLE colours (name TEXT); INSERT INTO colours SELECT colour FROM sources",
	)
}

func TestMigration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	s, err := Open(t.Context(), file, nil)
	require.NoError(t, err)
	defer s.Close()
	claim, err := s.Claim(t.Context(), "source/s", time.Hour)
	require.NoError(t, err)
	b := harvest.NewBatch("s")
	b.Checkpoint = &harvest.Checkpoint{Version: 1}
	_, err = s.Commit(t.Context(), claim, b)
	require.NoError(t, err)

	newer := newStore(file, nil)
	c, err := newer.connect(t.Context(), "rwc", 0)
	require.NoError(t, err)
	defer c.Close()
	failing := append(steps(), "CREATE TABLE half (a); INSERT INTO nowhere VALUES (1)")
	require.Error(t, newer.setUp(t.Context(), c, failing))
	v, err := version(c, 99)
	require.NoError(t, err)
	assert.Equal(t, len(schema)+2, v, "each step is a transaction of its own")
	n, err := c.number("SELECT count(*) FROM colours WHERE name = 'red'")
	require.NoError(t, err)
	assert.EqualValues(t, 1, n)
	n, err = c.number("SELECT count(*) FROM sqlite_schema WHERE name = 'half'")
	require.NoError(t, err)
	assert.Zero(t, n, "half a step was taken")
	require.NoError(t, newer.setUp(t.Context(), c, steps()), "again")

	// A Store that was open meanwhile stops writing.
	_, err = s.Commit(t.Context(), claim, harvest.NewBatch("s"))
	assert.ErrorIs(t, err, harvest.ErrNewer)
	_, err = Open(t.Context(), file, nil)
	assert.ErrorIs(t, err, harvest.ErrNewer)
}

// Every statement of the reading side finds its rows by an index and in order.
func TestQueryPlans(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), nil)
	require.NoError(t, err)
	defer s.Close()
	claim, err := s.Claim(t.Context(), "source/s", time.Hour)
	require.NoError(t, err)
	b := harvest.NewBatch("s")
	b.Puts = []harvest.Change{{Record: harvest.Record{Item: websync.Item{Resource: websync.Resource{ID: "1"}}}}}
	_, err = s.Commit(t.Context(), claim, b)
	require.NoError(t, err)
	claim, err = s.Claim(t.Context(), "source/t", time.Hour) // so that there are two sources
	require.NoError(t, err)
	b = harvest.NewBatch("t")
	b.Checkpoint = new(harvest.Checkpoint)
	_, err = s.Commit(t.Context(), claim, b)
	require.NoError(t, err)
	for _, r := range []websync.Range{{}, {Sources: []string{"s"}}, {Sources: []string{"s", "t"}}} {
		for range s.Resources(t.Context(), r) {
		}
		for range s.Changes(t.Context(), r) {
		}
	}
	for range s.Records(t.Context(), "s", "") {
	}
	for range s.Tasks(t.Context(), "s", "") {
	}
	_, err = s.Due(t.Context(), "s", time.Now(), 1)
	require.NoError(t, err)
	_, err = s.Lookup(t.Context(), "s", []string{"1"})
	require.NoError(t, err)

	require.Len(t, s.idle, 1)
	plans := 0
	for sql := range s.idle[0].stmts {
		if !strings.HasPrefix(sql, "SELECT") || strings.Contains(sql, "live > 0") {
			continue
		}
		plans++
		plan := strings.ReplaceAll(explain(t, s.writer, sql), "SCAN json_each", "")
		assert.NotContains(t, plan, "SCAN", sql)
		assert.NotContains(t, plan, "TEMP B-TREE", sql)
	}
	assert.GreaterOrEqual(t, plans, 10)
}

func explain(t *testing.T, c *conn, sql string) string {
	t.Helper()
	args := make([]any, strings.Count(sql, "?"))
	for i := range args {
		args[i] = int64(1)
	}
	rows, err := c.start("EXPLAIN QUERY PLAN "+sql, args)
	require.NoError(t, err, sql)
	defer rows.Close()
	var plan []string
	for row := c.row[:4]; rows.Next(row) == nil; {
		plan = append(plan, row[3].(string))
	}
	return strings.Join(plan, "\n")
}

// The settings that durability and memory rest on.
func TestSettings(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), nil)
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Head(t.Context())
	require.NoError(t, err)
	for name, want := range map[string][2]any{
		"synchronous":        {int64(2), int64(2)}, // FULL
		"fullfsync":          {int64(1), int64(1)},
		"journal_mode":       {"wal", "wal"},
		"mmap_size":          {int64(0), int64(0)},
		"temp_store":         {int64(1), int64(1)}, // in a file
		"cache_size":         {int64(-8 << 10), int64(-2 << 10)},
		"journal_size_limit": {int64(64 << 20), int64(64 << 20)},
		"query_only":         {int64(0), int64(1)},
	} {
		for i, c := range []*conn{s.writer, s.idle[0]} {
			row, err := c.one("PRAGMA " + name)
			require.NoError(t, err)
			assert.Equal(t, want[i], row[0], "%s of connection %d", name, i)
		}
	}
}

func TestDropKeepsTheNewest(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), nil)
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
