//go:build unix

package sqlitestore_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"github.com/websync-go/websync/internal/testing/racing"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/fill"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// childFile is the environment variable that makes the test binary the process to be
// killed.
const childFile = "SQLITESTORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if file := os.Getenv(childFile); file != "" {
		fmt.Fprintln(os.Stderr, commitForever(context.Background(), file))
		os.Exit(1)
	}
	if file := os.Getenv(retainFile); file != "" {
		fmt.Fprintln(os.Stderr, retainForever(context.Background(), file))
		os.Exit(1)
	}
	if file := os.Getenv(sqlitestore.UpgradeFile); file != "" {
		fmt.Fprintln(os.Stderr, sqlitestore.UpgradeForever(context.Background(), file))
		os.Exit(1)
	}
	if file := os.Getenv(workerFile); file != "" {
		if err := workOnce(context.Background(), file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// commitForever holds the source and prints the last number after each Commit.
func commitForever(ctx context.Context, file string) error {
	s, err := sqlitestore.OpenEager(ctx, file)
	if err != nil {
		return err
	}
	s.ChunkSize = 16 << 10 // so that some bodies are long
	ctx, _, err = s.Hold(ctx, "source/k", time.Hour)
	if err != nil {
		return err
	}
	for {
		head, err := s.Head(ctx)
		if err != nil {
			return err
		}
		content, last := nextContent(head)
		if err := fill.Commit(ctx, s.Catalog, "k", content...); err != nil {
			return err
		}
		fmt.Println(last)
	}
}

// nextContent creates some ids with bodies, short and long, and updates an old one. The
// titles are the numbers. The title of the task "last" is the last number, which it
// returns.
func nextContent(head websync.Head) (content []any, last int) {
	last = int(head.Last)
	put := func(id int) {
		last++
		text := strings.Repeat(strconv.Itoa(last), 1+rand.IntN(10_000))
		content = append(content, text, websync.Item{
			Resource: websync.Resource{ID: strconv.Itoa(id), Title: strconv.Itoa(last)},
			Bodies:   []websync.Body{{Name: "content", Key: websync.SHA256([]byte(text))}},
		})
	}
	born := int(head.Born)
	if born > 0 {
		put(1 + rand.IntN(born))
	}
	for i := range 1 + rand.IntN(8) {
		put(born + 1 + i)
	}
	task := harvest.Task{Source: "k", Resource: websync.Resource{ID: "last", Title: strconv.Itoa(last)}}
	return append(content, task), last
}

// killed runs the child with an environment variable, kills it at a random time after so
// many Commits, and returns the last number that it printed.
func killed(t *testing.T, env string, commits int) (acknowledged int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), env)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for n := 0; ; n++ {
		if n == commits {
			after := time.Duration(rand.Int64N(int64(500 * time.Millisecond)))
			timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
			defer timer.Stop()
		}
		if !lines.Scan() {
			break
		}
		acknowledged, err = strconv.Atoi(lines.Text())
		require.NoError(t, err)
	}
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.False(t, exit.Exited(), "the child ended by itself")
	return acknowledged
}

func TestKill(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	rounds := 6
	if racing.Few() {
		rounds = 2
	}
	least := 0
	for round := range rounds {
		least = max(least, killed(t, childFile+"="+file, round%2))
		s, err := sqlitestore.OpenCatalog(t.Context(), file, nil)
		require.NoError(t, err)
		_, release, err := s.Hold(t.Context(), "source/k", time.Hour)
		require.NoError(t, err, "the claim of a process that is dead")
		last := checkLog(t, s)
		assert.GreaterOrEqual(t, last, least, "a Commit that had succeeded is lost")
		least = last
		_, err = s.Vacuum(t.Context(), 0)
		require.NoError(t, err)
		checkBodies(t, s, file)
		require.NoError(t, s.Close(), "it ends the claim, too")
		release()
		owners, _ := os.ReadDir(file + ".owners")
		assert.Empty(t, owners, "files of dead owners")
	}
	assert.Positive(t, least, "no Commit succeeded before a kill: the test has checked nothing")
	assert.NotEmpty(t, bodyFiles(t, file)) // the first kill may come before the first of them
}

// checkLog returns the last number.
func checkLog(t *testing.T, s *sqlitestore.Catalog) int {
	t.Helper()
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	var last websync.Item
	for it, err := range s.Changes(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		require.Equal(t, last.Seq+1, it.Seq)
		require.True(t, it.Time.After(last.Time))
		require.Equal(t, strconv.Itoa(int(it.Seq)), it.Resource.Title)
		last = it
	}
	require.Equal(t, last.Seq, head.Last)
	if last.Seq > 0 {
		task := testkit.TaskOf(t, s.Catalog, "k", "last")
		require.Equal(t, strconv.Itoa(int(last.Seq)), task.Resource.Title)
	}
	born := websync.Seq(0)
	for it, err := range s.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		born++
		require.Equal(t, born, it.Born)
	}
	require.Equal(t, born, head.Born)
	require.Equal(t, int64(born), head.Total())
	return int(last.Seq)
}

// checkBodies reads all bodies, and fails if there are files that no record names.
func checkBodies(t *testing.T, s *sqlitestore.Catalog, file string) {
	t.Helper()
	for it, err := range s.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		r, err := s.Open(t.Context(), it.Bodies[0])
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, errors.Join(err, r.Close()))
		sum := sha256.Sum256(data)
		require.Equal(t, it.Bodies[0].Key.Sum, string(sum[:]))
	}
	checkFiles(t, s, file)
}

// checkFiles fails if there are files that no record names, or if some are missing.
func checkFiles(t *testing.T, s *sqlitestore.Catalog, file string) {
	t.Helper()
	var named []string
	require.NoError(t, s.View(t.Context(), func(r harvest.Reader) error {
		return r.Scan([]byte{harvest.BlobKey}, []byte{harvest.BlobKey + 1}, 100, func(key, _ []byte) bool {
			name := string(key[1:])
			named = append(named, filepath.Join(file+".bodies", name[:2], name[2:]))
			return true
		})
	}))
	assert.ElementsMatch(t, named, bodyFiles(t, file), "files of bodies after Vacuum")
	faults, err := s.Inspect(t.Context())
	require.NoError(t, err)
	assert.Empty(t, faults)
}

func bodyFiles(t *testing.T, file string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(file+".bodies", "*", "*"))
	require.NoError(t, err)
	return files
}
