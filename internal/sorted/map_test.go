package sorted

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/internal/testing/racing"
)

// contents returns what a Map holds as sorted "key=value".
func contents(m *Map, from, to string) (all []string) {
	m.Scan([]byte(from), []byte(to), func(k, v []byte) bool {
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

// A Map behaves as a plain map does, for any order of keys, and one that was cloned does
// not change.
func TestAgainstMap(t *testing.T) {
	racing.Skip(t)
	for name, key := range map[string]func(r *rand.Rand, i int) string{
		"random":     func(r *rand.Rand, _ int) string { return fmt.Sprintf("%04d", r.IntN(3000)) },
		"ascending":  func(_ *rand.Rand, i int) string { return fmt.Sprintf("%06d", i) },
		"descending": func(_ *rand.Rand, i int) string { return fmt.Sprintf("%06d", 999999-i) },
		"clustered":  func(r *rand.Rand, i int) string { return fmt.Sprintf("%c%06d", 'a'+r.IntN(5), i/7) },
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			held, model := New(), map[string]string{}
			i := 0
			for round := range 120 {
				was := contents(held, "", "z")
				next, scratch := held.Clone(), maps.Clone(model)
				for range r.IntN(200) {
					i++
					k := key(r, i)
					if len(scratch) > 0 && r.IntN(100) < 30+round/3 {
						for k = range scratch {
							break
						}
						delete(scratch, k)
						next.Delete([]byte(k))
						require.Nil(t, next.Get([]byte(k)))
						continue
					}
					scratch[k] = fmt.Sprint(i)
					next.Set([]byte(k), []byte(scratch[k]))
					require.Equal(t, scratch[k], string(next.Get([]byte(k))))
				}
				require.Equal(t, was, contents(held, "", "z"), "the Map that was cloned has changed")
				if round%7 == 3 {
					continue // the clone is not used
				}
				held, model = next, scratch
				var want []string
				for _, k := range slices.Sorted(maps.Keys(model)) {
					want = append(want, k+"="+model[k])
				}
				check(t, held.root, nil, nil)
				require.Equal(t, want, contents(held, "", "z"))
				if n := len(want); n > 0 {
					from, to := want[r.IntN(n)][:4], want[r.IntN(n)][:4]
					within := slices.DeleteFunc(want, func(w string) bool {
						k, _, _ := bytes.Cut([]byte(w), []byte("="))
						return string(k) < from || string(k) >= to
					})
					require.ElementsMatch(t, within, contents(held, from, to), "%q–%q", from, to)
				}
			}
		})
	}
}

// A queue that is filled at one end and emptied at the other leaves no empty nodes.
func TestQueue(t *testing.T) {
	m := New()
	for i := range 20_000 {
		m = m.Clone()
		m.Set(fmt.Appendf(nil, "%08d", i), []byte("x"))
		m.Delete(fmt.Appendf(nil, "%08d", i-100))
	}
	assert.Less(t, nodes(m.root), 30)
}

func nodes(n *node) int {
	sum := 1
	for _, k := range n.kids {
		sum += nodes(k)
	}
	return sum
}

// A node that is emptied between full ones is removed.
func TestHole(t *testing.T) {
	m := New()
	key := func(i int) []byte { return fmt.Appendf(nil, "%08d", i) }
	for i := range 10 * maxKeys {
		m.Set(key(i), []byte("x"))
	}
	full := nodes(m.root)
	m = m.Clone()
	for i := range maxKeys {
		m.Delete(key(5*maxKeys + i))
	}
	assert.Equal(t, full-1, nodes(m.root))
}
