package sqlitestore

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/logkey"
)

// randomKey returns a key of the log, or one near the first or the last of them.
func randomKey(rng *rand.Rand) []byte {
	numbers := []uint64{0, 1, 2, 255, 256, 1<<logkey.SeqBits - 1}
	generations := []uint64{0, 1, 2, 1<<logkey.GenerationBits - 1}
	if rng.IntN(3) == 0 {
		return []byte(fmt.Sprintf("%c%d", "aklmz"[rng.IntN(5)], rng.IntN(20)))
	}
	key := binary.BigEndian.AppendUint64([]byte{'l'}, generations[rng.IntN(len(generations))])
	return binary.BigEndian.AppendUint64(key, numbers[rng.IntN(len(numbers))])
}

// randomBound returns a key, or something shorter or longer.
func randomBound(rng *rand.Rand) []byte {
	key := randomKey(rng)
	switch rng.IntN(4) {
	case 0:
		return key[:1+rng.IntN(len(key))]
	case 1:
		return append(key, 0)
	case 2:
		return []byte{key[0] + 1}
	}
	return key
}

// Keys of the log and other keys are in one order, whatever table they are in.
func TestOrderOfKeys(t *testing.T) {
	s := reopen(t, filepath.Join(t.TempDir(), "store.db"))
	rng := rand.New(rand.NewPCG(1, 2))
	want := map[string]string{}
	ctx := context.Background()
	require.NoError(t, s.db.Update(ctx, func(tx harvest.Tx) error {
		for i := range 400 {
			key, value := randomKey(rng), fmt.Sprint(i)
			if i%5 == 4 {
				delete(want, string(key))
				require.NoError(t, tx.Delete(key))
				continue
			}
			if key[0] == 'l' && len(key) != logkey.Size {
				require.ErrorContains(t, tx.Set(key, []byte(value)), "a key of the log")
				continue
			}
			want[string(key)] = value
			require.NoError(t, tx.Set(key, []byte(value)))
		}
		return nil
	}))
	sorted := slices.Sorted(maps.Keys(want))
	require.NoError(t, s.db.View(ctx, func(r harvest.Reader) error {
		for range 3000 {
			from, to, most := randomBound(rng), randomBound(rng), 1+rng.IntN(40)
			var expected, got []string
			for _, k := range sorted {
				if k >= string(from) && k < string(to) && len(expected) < most {
					expected = append(expected, k+"="+want[k])
				}
			}
			require.NoError(t, r.Scan(from, to, 1, func(k, v []byte) bool {
				got = append(got, string(k)+"="+string(v))
				return len(got) < most
			}))
			require.Equal(t, expected, got, "from %q to %q", from, to)
			k := randomKey(rng)
			v, err := r.Get(k)
			require.NoError(t, err)
			require.Equal(t, want[string(k)], string(v), "%q", k)
		}
		return nil
	}))
}
