//go:build unix

package sqlitestore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// UpgradeFile is the environment variable that makes the test binary a process that
// upgrades a file and does not get through the last step.
const UpgradeFile = "SQLITESTORE_TEST_UPGRADE"

// madeUp are steps from two schemas before this one; the table n shows which were made.
var madeUp = [][]string{{"UPDATE n SET n = n + 1"}, {"UPDATE n SET n = n * 10"}}

// UpgradeForever is that process.
func UpgradeForever(ctx context.Context, file string) error {
	forever := append(madeUp[1], "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT 1 FROM t) SELECT count(*) FROM t")
	_, err := openFile(ctx, file, new(Options), [][]string{madeUp[0], forever})
	return err
}

// A file of an older schema is brought up to date step by step, each made once, although a
// process is killed in the middle and several go on at the same time. A version without
// these steps refuses the file.
func TestUpgradeKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	s, err := OpenCatalog(t.Context(), file, nil)
	require.NoError(t, err)
	require.NoError(t, s.Swap(t.Context(), "k", nil, []byte("value")))
	require.NoError(t, s.Close())
	raw(t, file, "CREATE TABLE n (n)", "INSERT INTO n VALUES (1)", fmt.Sprintf("PRAGMA user_version = %d", schemaVersion-2))
	is := func(sql, want string) func() bool {
		return func() bool {
			c := open(t, file)
			defer c.Close()
			got, err := c.ask(sql)
			return err == nil && got == want
		}
	}
	between := is("PRAGMA user_version", fmt.Sprint(schemaVersion-1))

	killed := exec.CommandContext(t.Context(), os.Args[0])
	killed.Env = append(os.Environ(), UpgradeFile+"="+file)
	require.NoError(t, killed.Start())
	require.Eventually(t, between, time.Minute, time.Millisecond)
	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())
	require.True(t, between())
	require.True(t, is("SELECT n FROM n", "2")())
	_, err = Open(t.Context(), file, nil)
	require.ErrorIs(t, err, errOlder)
	require.True(t, between())

	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := openFile(t.Context(), file, new(Options), madeUp)
			if assert.NoError(t, err) {
				assert.NoError(t, s.Close())
			}
		})
	}
	all.Wait()
	assert.True(t, is("SELECT n FROM n", "20")())
	s, err = OpenCatalog(t.Context(), file, nil)
	require.NoError(t, err)
	defer s.Close()
	value, err := s.State(t.Context(), "k")
	require.NoError(t, err)
	assert.Equal(t, "value", string(value))
}
