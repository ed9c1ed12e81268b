//go:build unix

package sqlitestore_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
)

// childFile is the environment variable that makes the test binary the process to be
// killed.
const childFile = "SQLITESTORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if file := os.Getenv(childFile); file != "" {
		fmt.Fprintln(os.Stderr, commitForever(context.Background(), file))
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

// commitForever prints the last number after each Commit.
func commitForever(ctx context.Context, file string) error {
	s, err := sqlitestore.OpenCatalog(ctx, file, nil)
	if err != nil {
		return err
	}
	claim, err := s.Claim(ctx, "source/k", time.Hour)
	if err != nil {
		return err
	}
	for {
		head, err := s.Head(ctx)
		if err != nil {
			return err
		}
		b, err := nextBatch(ctx, s, head)
		if err != nil {
			return err
		}
		conflicts, err := s.Commit(ctx, claim, b)
		if err != nil || len(conflicts) > 0 {
			return fmt.Errorf("%w, conflicts %q", err, conflicts)
		}
		fmt.Println(int(head.Last) + len(b.Puts))
	}
}

// nextBatch creates some ids with bodies, short and long, and updates an old one. The
// titles are the numbers.
func nextBatch(ctx context.Context, s *sqlitestore.Catalog, head websync.Head) (*harvest.Batch, error) {
	b := harvest.NewBatch("k")
	put := func(id string, base websync.Seq) error {
		seq := int(head.Last) + len(b.Puts) + 1
		w, err := s.NewBody(ctx)
		if err != nil {
			return err
		}
		w.Write(bytes.Repeat([]byte(strconv.Itoa(seq)), 1+rand.IntN(10_000)))
		key, _, err := w.Finish()
		if err != nil {
			return err
		}
		b.Bodies = append(b.Bodies, w)
		b.Puts = append(b.Puts, harvest.Change{Base: base, Record: harvest.Record{Item: websync.Item{
			Resource: websync.Resource{ID: id, Title: strconv.Itoa(seq)},
			Bodies:   []websync.Body{{Name: "content", Key: key}},
		}}})
		return nil
	}
	if head.Born > 0 {
		id := strconv.Itoa(1 + rand.IntN(int(head.Born)))
		recs, err := s.Lookup(ctx, "k", []string{id})
		if err != nil {
			return nil, err
		}
		if err := put(id, recs[0].Seq); err != nil {
			return nil, err
		}
	}
	for i := range 1 + rand.IntN(8) {
		if err := put(strconv.Itoa(int(head.Born)+1+i), 0); err != nil {
			return nil, err
		}
	}
	b.Checkpoint = &harvest.Checkpoint{Version: 1, Data: []byte(strconv.Itoa(int(head.Last) + len(b.Puts)))}
	return b, nil
}

// killed runs the child, kills it after a random time, and returns the last number that
// it printed.
func killed(t *testing.T, file string) (acknowledged int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childFile+"="+file)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	timer := time.AfterFunc(time.Duration(rand.Int64N(int64(500*time.Millisecond))), func() { cmd.Process.Kill() })
	defer timer.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
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
	if testing.Short() {
		rounds = 2
	}
	epoch, least := uint64(0), 0
	for range rounds {
		least = max(least, killed(t, file))
		s, err := sqlitestore.OpenCatalog(t.Context(), file, nil)
		require.NoError(t, err)
		claim, err := s.Claim(t.Context(), "source/k", time.Hour)
		require.NoError(t, err, "the claim of a process that is dead")
		assert.Greater(t, claim.Epoch, epoch)
		epoch = claim.Epoch
		last := checkLog(t, s)
		assert.GreaterOrEqual(t, last, least, "a Commit that had succeeded is lost")
		least = last
		_, err = s.Vacuum(t.Context(), 0)
		require.NoError(t, err)
		checkBodies(t, s, file)
		require.NoError(t, s.Close())
		owners, _ := os.ReadDir(file + ".owners")
		assert.Empty(t, owners, "files of dead owners")
	}
	assert.Positive(t, least, "no Commit succeeded before a kill: the test has checked nothing")
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
	cp, err := s.Checkpoint(t.Context(), "k")
	require.NoError(t, err)
	if last.Seq > 0 {
		require.Equal(t, strconv.Itoa(int(last.Seq)), string(cp.Data))
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
	large := 0
	for it, err := range s.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		r, err := s.Open(t.Context(), it.Bodies[0])
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, errors.Join(err, r.Close()))
		sum := sha256.Sum256(data)
		require.Equal(t, it.Bodies[0].Key.Sum, string(sum[:]))
		if len(data) > 16<<10 {
			large++
		}
	}
	assert.Len(t, bodyFiles(t, file), large, "files of bodies after Vacuum")
}

func bodyFiles(t *testing.T, file string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(file+".bodies", "*", "*"))
	require.NoError(t, err)
	return files
}
