package harvest

import (
	"context"
	"math"
	"time"
)

// Restored makes the log of a Store that was restored from a backup begin anew. The
// numbers after the end of the backup were given to other entries before, which are lost,
// but which readers may have seen: under the same numbers they would miss what is written
// now. So Restored writes a generation of the log as Compact does, with a number that no
// other copy of the Store has used, and removes older ones. All its entries are of the
// time of the call, or a little later, and are the first state of the log (see
// [websync.Head]): what readers have of the lost changes is older, so they read all once,
// and go back to what the Store holds. Call it before the programs that use the Store
// start. It returns the generation.
func (s *Catalog) Restored(ctx context.Context) (generation uint64, err error) {
	generation, err = s.compact(ctx, &selection{last: math.MaxInt64, restored: s.now()})
	if err == nil {
		err = s.Drop(ctx, generation)
	}
	return generation, err
}

// unusedGeneration returns a generation from next on that no copy of the Store can have:
// it counts quarters of an hour, in which no log is compacted again and again. It is odd
// if next is, since the order of first appearances has room for the numbers of two
// generations.
func unusedGeneration(next uint64, now int64) uint64 {
	const quarter, begin = 15 * time.Minute, 1735689600 // 2025
	by := uint64(max(now/time.Second.Microseconds()-begin, 0)) / uint64(quarter.Seconds())
	return max(next, by+(by^next)&1)
}
