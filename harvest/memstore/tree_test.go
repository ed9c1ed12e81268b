package memstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/racing"
)

// contents reads the map as sorted "key=value".
func contents(r harvest.Reader, from, to string) (all []string) {
	r.Scan([]byte(from), []byte(to), 1, func(k, v []byte) bool {
		all = append(all, string(k)+"="+string(v))
		return true
	})
	return all
}

// check requires a valid tree: keys in order and between those of the parents, no node
// too large, all leaves at one depth.
func check(t *testing.T, n *node, low, high []byte) (depth int) {
	t.Helper()
	require.LessOrEqual(t, len(n.keys), maxKeys)
	for i, k := range n.keys {
		require.True(t, bytes.Compare(low, k) <= 0 && (high == nil || bytes.Compare(k, high) < 0), "%q not in %q–%q", k, low, high)
		require.True(t, i == 0 || bytes.Compare(n.keys[i-1], k) < 0)
	}
	if n.leaf() {
		require.Len(t, n.values, len(n.keys))
		return 1
	}
	require.Len(t, n.kids, len(n.keys))
	for i, kid := range n.kids {
		below, above := n.keys[i], high
		if i+1 < len(n.keys) {
			above = n.keys[i+1]
		}
		d := check(t, kid, below, above)
		require.True(t, i == 0 || d == depth, "leaves at different depths")
		depth = d
	}
	return depth + 1
}

// The tree behaves as a plain map does, for any order of keys, and older states do not
// change.
func TestTreeAgainstMap(t *testing.T) {
	racing.Skip(t)
	ctx := context.Background()
	for name, next := range map[string]func(r *rand.Rand, i int) string{
		"random":     func(r *rand.Rand, _ int) string { return fmt.Sprintf("%04d", r.IntN(3000)) },
		"ascending":  func(_ *rand.Rand, i int) string { return fmt.Sprintf("%06d", i) },
		"descending": func(_ *rand.Rand, i int) string { return fmt.Sprintf("%06d", 999999-i) },
		"clustered":  func(r *rand.Rand, i int) string { return fmt.Sprintf("%c%06d", 'a'+r.IntN(5), i/7) },
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			db, model := New(), map[string]string{}
			i := 0
			for round := range 120 {
				before := *db.root.Load()
				was := contents(tx{root: &before}, "", "z")
				fail := round%7 == 3
				scratch := map[string]string{}
				for k, v := range model {
					scratch[k] = v
				}
				err := db.Update(ctx, func(tx harvest.Tx) error {
					for range r.IntN(200) {
						i++
						k := next(r, i)
						if len(scratch) > 0 && r.IntN(100) < 30+round/3 {
							for k = range scratch {
								break
							}
							delete(scratch, k)
							require.NoError(t, tx.Delete([]byte(k)))
							got, _ := tx.Get([]byte(k))
							require.Nil(t, got)
							continue
						}
						v := fmt.Sprint(i)
						scratch[k] = v
						require.NoError(t, tx.Set([]byte(k), []byte(v)))
						got, _ := tx.Get([]byte(k))
						require.Equal(t, v, string(got))
					}
					if fail {
						return errors.New("undo")
					}
					return nil
				})
				require.Equal(t, fail, err != nil)
				if !fail {
					model = scratch
				}
				require.Equal(t, was, contents(tx{root: &before}, "", "z"), "an older state changed")
				want := []string{}
				for k, v := range model {
					want = append(want, k+"="+v)
				}
				slices.Sort(want)
				root := db.root.Load()
				check(t, root, nil, nil)
				require.ElementsMatch(t, want, contents(tx{root: root}, "", "z"))
				if n := len(want); n > 0 {
					from, to := want[r.IntN(n)][:4], want[r.IntN(n)][:4]
					var part []string
					for _, w := range want {
						k, _, _ := bytes.Cut([]byte(w), []byte("="))
						if string(k) >= from && string(k) < to {
							part = append(part, w)
						}
					}
					require.Equal(t, part, contents(tx{root: root}, from, to), "%q–%q", from, to)
				}
			}
		})
	}
}

// A queue that is filled at one end and emptied at the other leaves no empty nodes.
func TestTreeQueue(t *testing.T) {
	db := New()
	for i := range 20_000 {
		db.Update(context.Background(), func(tx harvest.Tx) error {
			tx.Set(fmt.Appendf(nil, "%08d", i), []byte("x"))
			return tx.Delete(fmt.Appendf(nil, "%08d", i-100))
		})
	}
	assert.Less(t, nodes(db.root.Load()), 30)
}

func nodes(n *node) int {
	sum := 1
	for _, k := range n.kids {
		sum += nodes(k)
	}
	return sum
}

// A node that is emptied between full ones is removed.
func TestTreeHole(t *testing.T) {
	db := New()
	key := func(i int) []byte { return fmt.Appendf(nil, "%08d", i) }
	db.Update(context.Background(), func(tx harvest.Tx) error {
		for i := range 10 * maxKeys {
			tx.Set(key(i), []byte("x"))
		}
		return nil
	})
	full := nodes(db.root.Load())
	db.Update(context.Background(), func(tx harvest.Tx) error {
		for i := range maxKeys {
			tx.Delete(key(5*maxKeys + i))
		}
		return nil
	})
	assert.Equal(t, full-1, nodes(db.root.Load()))
}
