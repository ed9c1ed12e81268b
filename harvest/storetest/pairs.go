package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/testing/racing"
)

var pairRules = []rule{
	withDB("values", "A value has from one byte to several megabytes of all values, and any other one replaces it.", func(d *db) {
		odd := pairs{"a": "\x00", "b": "\x00\x00", "c": " \n", "d": "\xff", "e": "a\x00"}
		d.set(odd)
		d.holds(odd)
		d.set(pairs{"a": "", "b": "", "c": "", "d": "", "e": ""})
		sizes := []int{1, 2, 255, 256, 999, 1000, 1001, 4096, 65_535, 65_536, 70_000, 5 << 20}
		if racing.Short() {
			sizes[len(sizes)-1] = 1 << 20
		}
		want := pairs{}
		for round := range sizes {
			for i := range sizes {
				if size := sizes[(i+round)%len(sizes)]; size < 1<<20 || round%4 == 0 {
					want[fmt.Sprint("v", i)] = pattern(size, i+round)
					want["v"+strings.Repeat(fmt.Sprint(i), 1500)] = pattern(size, i)
				}
			}
			d.set(want)
			d.holds(want)
		}
		d, _ = reopened(d, d)
		d.holds(want)
	}),
	withDB("bounds", "A key has up to 5,000 bytes of all values. Scan yields each key from <= key < to, in order of the "+
		"bytes, and nothing if from is not less than to.",
		func(d *db) {
			want := pairs{}
			for _, k := range oddKeys() {
				want[k] = "v" + k
			}
			d.set(want)
			d.view(func(t *tx) {
				bounds := slices.Concat([]string{logKey(1+1<<24, 1), logKey(1, 1+1<<40)}, oddBounds())
				for i, from := range bounds {
					t.is(from, want[from])
					for _, j := range []int{0, i - 1, i, i + 1, i + 2, i + 3, i * 7 % len(bounds), len(bounds) - 1} {
						to := bounds[min(max(j, 0), len(bounds)-1)]
						t.same(want.in(from, to), t.list(from, to), "Scan from %.50q to %.50q", from, to)
					}
				}
			})
		}),
	withDB("many", "Scan yields thousands of keys, or as many as its function takes, and none that is deleted.", func(d *db) {
		want := manyPairs()
		d.set(want)
		d.Is(d.tryUpdate(d.Ctx, func(t *tx) {
			for k := range want {
				t.set(k, "failed")
			}
			t.fail(d.tryView(d.Ctx, func(t *tx) { t.pages(want, 100) }))
			t.fail(errTest)
		}), errTest, "an Update that fails")
		d.view(func(t *tx) { t.pages(want, 100) })
		for _, left := range []int{3000, 0} {
			gone := pairs{}
			for i, k := range want.keys() {
				if i*7%len(want) >= left {
					gone[k] = ""
				}
			}
			d.set(gone)
			maps.DeleteFunc(want, func(k, _ string) bool { _, is := gone[k]; return is })
			d.holds(want)
		}
		d.set(manyPairs())
		d, _ = reopened(d, d)
		d.update(func(t *tx) { t.pages(manyPairs(), 1) })
	}),
	withDB("expected", "Scan yields the same keys, whatever number of them is expected.", func(d *db) {
		want := manyPairs().in("m0", "m1")
		d.set(want)
		check := func(t *tx) {
			for _, n := range []int{1, 7, len(want) - 1, len(want), 2048, 1 << 40} {
				for _, most := range []int{1, 8, all} {
					t.scans(least, greatest, n, most, want, nil)
				}
			}
		}
		d.view(check)
		d.update(check)
	}),
}

// manyPairs returns thousands of pairs.
func manyPairs() pairs {
	p := pairs{}
	for i := range 9000 {
		key := fmt.Sprintf("m%04d", i)
		switch {
		case i < 256 && i != harvest.LogKey:
			key = string([]byte{byte(i)})
		case i%100 == 0:
			key += strings.Repeat("x", 3000)
		case i%7 == 0:
			key = logKey(uint64(i/1000), uint64(i))
		}
		p[key] = key + "."
	}
	return p
}

// pages checks Scans that end after different numbers of keys.
func (t *tx) pages(want pairs, n int) {
	keys := want.keys()
	for i, most := range []int{1, 2, 256, 257, 1000, 1280, 1281, 8000, all} {
		t.scans(keys[i*7], greatest, n, most, want, nil)
	}
}
