package harvest_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/pgtest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// backedUp is how many resources the Source of these tests lists.
const backedUp = 2400

// A duringRun is a Source that calls copy in the middle of its listing, while others of
// its resources are stored.
type duringRun struct{ copy func() }

func (*duringRun) Key() string { return "https://a.example/" }

func (s *duringRun) Events(context.Context, *harvest.Run) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		for i := range backedUp {
			if i == 2000 { // more than wait for a Commit
				s.copy()
			}
			e := testkit.Put(fmt.Sprint(i), testkit.Day(1))
			e.Open = harvest.OpenBytes([]byte(strings.Repeat(fmt.Sprint("body ", i, "\n"), 1+30*(i%9))))
			if !yield(e, nil) {
				return
			}
		}
	}
}

// isBackup checks a copy that was made in the middle of a run: it is sound, and after
// Restored a run brings it in step.
func isBackup(t *testing.T, c *harvest.Catalog) {
	isConsistent(t, c)
	harvest.OnePage(c)
	_, err := c.Restored(t.Context())
	require.NoError(t, err)
	_, err = (&harvest.Harvester{Catalog: c}).Run(t.Context(), &duringRun{func() {}})
	require.NoError(t, err)
	assert.Len(t, testkit.Live(t, c), backedUp)
	isConsistent(t, c)
}

// backUp runs a harvest into c, and copy in the middle of it.
func backUp(t *testing.T, c *harvest.Catalog, copy func()) {
	c.ChunkSize = 1 << 10
	report, err := (&harvest.Harvester{Catalog: c}).Run(t.Context(), &duringRun{copy})
	require.NoError(t, err)
	require.EqualValues(t, backedUp, report.Created)
}

func command(t *testing.T, name string, args ...string) {
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, "%s %q: %s", name, args, out)
}

func TestBackupOfSQLite(t *testing.T) {
	racing.Skip(t)
	for name, statement := range map[string]string{"VACUUM INTO": "VACUUM INTO '%s'", "backup": ".backup '%s'"} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("sqlite3"); err != nil {
				t.Skip("no sqlite3")
			}
			file, copied := filepath.Join(t.TempDir(), "store.db"), filepath.Join(t.TempDir(), "copy.db")
			c, db := openSQLite(t, file)
			defer db.Close()
			backUp(t, c, func() {
				command(t, "sqlite3", file, fmt.Sprintf(statement, copied))
				require.NoError(t, os.CopyFS(copied+".bodies", os.DirFS(file+".bodies")))
			})
			restored, db := openSQLite(t, copied)
			defer db.Close()
			log := testkit.Entries(t, restored)
			require.NotEmpty(t, log)
			assert.Equal(t, testkit.Entries(t, c)[:len(log)], log, "a state that there was")
			isBackup(t, restored)
		})
	}
}

// In the opposite order a copy may lack files that its database names: Inspect finds
// that.
func TestBackupInTheWrongOrder(t *testing.T) {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("no sqlite3")
	}
	file, copied := filepath.Join(t.TempDir(), "store.db"), filepath.Join(t.TempDir(), "copy.db")
	c, db := openSQLite(t, file)
	defer db.Close()
	backUp(t, c, func() {})
	require.NoError(t, os.CopyFS(copied+".bodies", os.DirFS(file+".bodies")))
	late := testkit.Put("late", testkit.Day(1))
	late.Open = harvest.OpenBytes(bytes.Repeat([]byte("late"), 1000))
	_, err := (&harvest.Harvester{Catalog: c}).Run(t.Context(), harvest.Of("https://a.example/", late))
	require.NoError(t, err)
	command(t, "sqlite3", file, fmt.Sprintf("VACUUM INTO '%s'", copied))
	restored, db := openSQLite(t, copied)
	defer db.Close()
	faults, err := restored.Inspect(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, faults)
}

func TestBackupOfPostgres(t *testing.T) {
	racing.Long(t)
	dsn := pgtest.Server(t)
	if _, err := exec.LookPath("pg_restore"); err != nil {
		t.Skip("no pg_restore")
	}
	schema, dump := pgtest.Schema(t, dsn), filepath.Join(t.TempDir(), "dump")
	other, drop, err := pgtest.NewDatabase()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, drop()) })
	backUp(t, openPostgres(t, dsn, schema).Catalog, func() {
		command(t, "pg_dump", "-Fc", "--schema", schema, "--file", dump, dsn)
	})
	command(t, "pg_restore", "--dbname", other, dump)
	c := openPostgres(t, other, schema)
	isBackup(t, c.Catalog)
	require.NoError(t, c.store.Close())
}

func TestBackupByExport(t *testing.T) {
	c, db := openSQLite(t, filepath.Join(t.TempDir(), "store.db"))
	defer db.Close()
	var export bytes.Buffer
	backUp(t, c, func() { require.NoError(t, c.Export(t.Context(), &export)) })
	restored := harvest.NewCatalog(memstore.New())
	require.NoError(t, restored.Import(t.Context(), &export))
	isBackup(t, restored)
}
