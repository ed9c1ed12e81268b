//go:build unix

package sqlitestore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sqlitestore"
	"github.com/websync-go/websync/internal/testing/fill"
	"github.com/websync-go/websync/internal/testing/racing"
)

// retainFile is the environment variable that makes the test binary a process that
// commits and retains.
const retainFile = "SQLITESTORE_TEST_RETAIN"

// retainForever commits states of 200 ids, and prints the number of each Commit, while it
// removes all that is not current.
func retainForever(ctx context.Context, file string) error {
	s, err := sqlitestore.OpenEager(ctx, file)
	if err != nil {
		return err
	}
	s.ChunkSize = 16 << 10
	failed := make(chan error, 1)
	go func() {
		for {
			if _, err := s.Retain(ctx, harvest.Retention{Log: 1, Bodies: 1, Readers: 1}); err != nil {
				failed <- err
				return
			}
		}
	}()
	for first := lastCommit(ctx, s) + 1; ; first++ {
		var content []any
		for i := range 20 {
			text := strings.Repeat(strconv.Itoa(first*20+i), 1+rand.IntN(2000))
			content = append(content, text, websync.Item{
				Resource: websync.Resource{ID: strconv.Itoa(first%10*20 + i), Title: strconv.Itoa(first)},
				Bodies:   []websync.Body{{Name: "content", Key: websync.SHA256([]byte(text))}},
			})
		}
		err := fill.Commit(ctx, s.Catalog, "k", content...)
		for errors.Is(err, websync.ErrConflict) { // a new generation has begun meanwhile
			err = fill.Commit(ctx, s.Catalog, "k", content...)
		}
		if err != nil {
			return err
		}
		select {
		case err := <-failed:
			return err
		default:
			fmt.Println(first)
		}
	}
}

// lastCommit returns the greatest number of a Commit.
func lastCommit(ctx context.Context, s *sqlitestore.Catalog) (last int) {
	for item := range s.Resources(ctx, websync.Range{}) {
		n, _ := strconv.Atoi(item.Resource.Title)
		last = max(last, n)
	}
	return last
}

// A process that is killed at any moment of a Retain loses nothing, and the next call
// goes on where it was.
func TestKillRetain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	last, generation := 0, uint64(0)
	for round := range racing.Some(20) {
		last = max(last, killed(t, retainFile+"="+file, 15*round%40))
		s, err := sqlitestore.OpenCatalog(t.Context(), file, nil)
		require.NoError(t, err)
		if round%2 == 1 { // otherwise the next process finds what this one has left
			_, err = s.Retain(t.Context(), harvest.Retention{Log: 1, Bodies: 1, Readers: 1})
			require.NoError(t, err)
			checkBodies(t, s, file)
		}
		require.GreaterOrEqual(t, lastCommit(t.Context(), s), last, "a Commit that had succeeded is lost")
		last = lastCommit(t.Context(), s)
		titles := map[string]bool{}
		for item, err := range s.Resources(t.Context(), websync.Range{}) {
			require.NoError(t, err)
			titles[item.Resource.Title] = true
		}
		for n := max(1, last-9); n <= last; n++ { // each Commit is whole
			require.Contains(t, titles, strconv.Itoa(n))
		}
		head, err := s.Head(t.Context())
		require.NoError(t, err)
		generation = head.Generation
		require.NoError(t, s.Close())
	}
	assert.Greater(t, generation, uint64(1))
}
