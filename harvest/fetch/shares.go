package fetch

import (
	"maps"
	"slices"
)

// A shares has what the hosts of each source take of a limit, by the origin of its root.
// What a source lists counts for that source, so that one that lists thousands of hosts
// makes nobody forget those of another.
type shares map[string]int

// rootOf returns the root for which the host at origin counts when another than the
// present one asks for it: its own or else the one that takes less.
func (s shares) rootOf(origin, present, other string) string {
	if other == origin || present != origin && s[other] < s[present] {
		return other
	}
	return present
}

// add makes size more count for root, or less if it is negative.
func (s shares) add(root string, size int) {
	if s[root] += size; s[root] <= 0 {
		delete(s, root)
	}
}

// fair returns how much each root may keep, so that all keep at most limit and no root
// loses anything to one that takes more.
func (s shares) fair(limit int) int {
	sizes := slices.Sorted(maps.Values(s))
	for i, size := range sizes {
		share := limit / (len(sizes) - i)
		if size > share {
			return share
		}
		limit -= size
	}
	return limit
}
