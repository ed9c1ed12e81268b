package sqlitestore

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/fill"
	"github.com/websync-go/websync/internal/testing/racing"
)

// Secrets are texts that are looked for on the disk.
var secret = regexp.MustCompile(`<secret [0-9]+>`)

// secretsOf returns the secrets in all files whose names begin with that of a database,
// and the length of these files.
func secretsOf(t *testing.T, file string) (found map[string]bool, size int) {
	found = map[string]bool{}
	require.NoError(t, filepath.WalkDir(filepath.Dir(file), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(path, file) {
			return err
		}
		data, err := os.ReadFile(path)
		for _, s := range secret.FindAll(data, -1) {
			found[string(s)] = true
		}
		size += len(data)
		return err
	}))
	return found, size
}

// opened returns the Store in file, which is closed when the test ends.
func opened(t *testing.T, file string) *Store {
	s, err := Open(t.Context(), file, nil)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// After Shrink nothing is left of what was deleted or overwritten, in whatever way the
// tree has grown and split and shrunk, and the file is about as long as what it holds.
func TestShrinkLeavesNothing(t *testing.T) {
	for seed := range uint64(racing.Some(20)) {
		r := rand.New(rand.NewPCG(seed, 2))
		file := filepath.Join(t.TempDir(), "store.db")
		s := opened(t, file)
		held := map[string]string{}
		written := 0
		for range 200 {
			require.NoError(t, s.Update(t.Context(), func(tx harvest.Tx) error {
				for range 1 + r.IntN(200) {
					key := fmt.Sprintf("r%d", r.IntN(3000))
					if r.IntN(3) == 0 {
						delete(held, key)
						require.NoError(t, tx.Delete([]byte(key)))
						continue
					}
					written++
					held[key] = fmt.Sprintf("<secret %d>", written) + strings.Repeat("x", r.IntN([]int{30, 300, 1500, 9000}[r.IntN(4)]))
					require.NoError(t, tx.Set([]byte(key), []byte(held[key])))
				}
				return nil
			}))
		}
		live, size := map[string]bool{}, 0
		for _, v := range held {
			live[secret.FindString(v)] = true
			size += len(v)
		}
		before, _ := secretsOf(t, file)
		require.NoError(t, s.Shrink(t.Context()))
		after, length := secretsOf(t, file)
		assert.Equal(t, live, after, "seed %d", seed)
		assert.Greater(t, len(before), 2*len(after))
		assert.Less(t, length, size*13/10)
		require.NoError(t, s.View(t.Context(), func(r harvest.Reader) error {
			return r.Scan([]byte("r"), []byte("s"), 1, func(key, value []byte) bool {
				assert.Equal(t, held[string(key)], string(value))
				delete(held, string(key))
				return true
			})
		}))
		assert.Empty(t, held)
		answer, err := s.writer.pragma("integrity_check")
		require.NoError(t, err)
		assert.Equal(t, "ok", answer)
	}
}

// Shrink goes on beside others, who may read the write-ahead log for ever.
func TestShrinkBesideReaders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	s, other := opened(t, file), opened(t, file)
	write := func(value string) {
		require.NoError(t, other.Update(t.Context(), func(tx harvest.Tx) error { return tx.Set([]byte("key"), []byte(value)) }))
	}
	write("<secret 1>")
	require.NoError(t, other.View(t.Context(), func(r harvest.Reader) error {
		was, err := r.Get([]byte("key"))
		write("<secret 2>")
		require.NoError(t, s.Shrink(t.Context()))
		is, getErr := r.Get([]byte("key"))
		assert.Equal(t, was, is)
		require.NoError(t, getErr)
		return err
	}))
	found, _ := secretsOf(t, file)
	assert.Contains(t, found, "<secret 1>", "this test needs a reader in the way")
	require.NoError(t, s.Shrink(t.Context()))
	found, _ = secretsOf(t, file)
	assert.Equal(t, map[string]bool{"<secret 2>": true}, found)
	ended, end := context.WithCancel(t.Context())
	end()
	assert.ErrorIs(t, s.Shrink(ended), context.Canceled)
}

// Shrink leaves a file as it is that has no pointer map, as those of earlier versions.
func TestShrinkEarlierFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	raw(t, file, append([]string{"PRAGMA auto_vacuum = none", fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)}, schema[:]...)...)
	s := opened(t, file)
	value := bytes.Repeat([]byte{pageTree}, 6000) // as if all pages were of trees
	keys := func(r harvest.Reader) (n int) {
		require.NoError(t, r.Scan([]byte{0}, []byte{255}, 1, func(_, v []byte) bool { n++; return bytes.Equal(value, v) }))
		return n
	}
	for _, of := range []int{1, 2} {
		require.NoError(t, s.Update(t.Context(), func(tx harvest.Tx) (err error) {
			for i := 0; i < 1000 && err == nil; i += of {
				if key := fmt.Appendf(nil, "r%04d", i); of == 1 {
					err = tx.Set(key, value)
				} else {
					err = tx.Delete(key)
				}
			}
			return err
		}))
		require.NoError(t, s.Shrink(t.Context()))
	}
	require.NoError(t, s.View(t.Context(), func(r harvest.Reader) error {
		assert.Equal(t, 500, keys(r))
		return nil
	}))
	for pragma, want := range map[string]string{"auto_vacuum": "0", "integrity_check": "ok"} {
		answer, err := s.writer.pragma(pragma)
		require.NoError(t, err)
		assert.Equal(t, want, answer)
	}
}

// What a publisher has withdrawn or replaced, descriptions and bodies of all lengths, is
// off the disk when the time of the Retention is over, and what is live is still there.
func TestWithdrawnIsOffTheDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	s := opened(t, file)
	c := harvest.NewCatalog(s)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c.Now = func() time.Time { return now }
	secrets := 0
	next := func() string {
		secrets++
		return fmt.Sprintf("<secret %d>", secrets)
	}
	live := map[string][]string{} // secrets by id
	put := func(size int, ids ...string) {
		var content []any
		for _, id := range ids {
			title, text := next(), strings.Repeat("x", size/2)+next()+strings.Repeat("y", size/2)
			live[id] = secret.FindAllString(title+text, -1)
			content = append(content, text, websync.Item{
				Resource: websync.Resource{ID: id, Title: title},
				Bodies:   []websync.Body{{Name: websync.ContentName, Key: websync.SHA256([]byte(text))}},
			})
		}
		require.NoError(t, fill.Commit(t.Context(), c, "s", content...))
	}
	sizes := []int{10, 600, 3000, 40_000, 200_000}
	var ids []string
	for _, size := range sizes {
		for i := range 8 {
			ids = append(ids, fmt.Sprintf("https://x.example/%d/%d", size, i))
			put(size, ids[len(ids)-1]) // alone: not in a pack
		}
		var together []string
		for i := range 8 {
			together = append(together, fmt.Sprintf("https://x.example/together/%d/%d", size, i))
		}
		put(size, together...)
		ids = append(ids, together...)
	}
	for i, id := range ids {
		switch i % 4 {
		case 0:
			delete(live, id)
			withdrawn := websync.Item{Kind: websync.Deleted, Resource: websync.Resource{ID: id, Title: next()}} // as the engine does
			require.NoError(t, fill.Commit(t.Context(), c, "s", withdrawn))
		case 1:
			put(sizes[i%len(sizes)], id)
		}
	}
	want := map[string]bool{}
	for _, of := range live {
		for _, s := range of {
			want[s] = true
		}
	}
	found, _ := secretsOf(t, file)
	assert.Len(t, found, secrets)
	const days = 24 * time.Hour
	for _, step := range []struct {
		after time.Duration
		gone  bool
	}{{44 * days, false}, {2 * days, false}, {days, true}} {
		now = now.Add(step.after)
		_, err := c.Retain(t.Context(), harvest.Retention{})
		require.NoError(t, err)
		found, _ = secretsOf(t, file)
		assert.Equal(t, step.gone, len(found) == len(want), "after %v", step.after)
	}
	assert.Equal(t, want, found)
	for item, err := range c.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		r, err := c.Open(t.Context(), item.Bodies[0])
		require.NoError(t, err)
		var text bytes.Buffer
		_, err = text.ReadFrom(r)
		require.NoError(t, err)
		assert.Contains(t, text.String(), live[item.Resource.ID][1])
		r.Close()
	}
}
