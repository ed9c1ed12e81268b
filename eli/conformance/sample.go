package conformance

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// A sampler chooses URLs of a list as they pass, evenly from strata: groups of URLs of
// one kind of act and one year. Its choice depends on the seed and on the URLs only, not
// on their order. It holds at most n*n URLs.
type sampler struct {
	n      int
	seed   uint64
	strata map[string]*stratum
	order  []*stratum // by rank
	cut    bool       // strata were dropped: there are more than n
}

// A stratum holds the URLs of a group that have the lowest ranks.
type stratum struct {
	key  string
	rank uint64
	urls []candidate // by rank
}

// A candidate is a URL of the sitemap.
type candidate struct {
	url     string
	rank    uint64
	lastMod websync.Datetime
}

func newSampler(n int, seed uint64) *sampler {
	return &sampler{n: n, seed: seed, strata: make(map[string]*stratum)}
}

// rank returns a number that orders texts at random.
func (s *sampler) rank(text []byte) uint64 {
	var key [8]byte
	binary.LittleEndian.PutUint64(key[:], s.seed)
	h := fnv.New64a()
	h.Write(key[:])
	h.Write(text)
	// FNV's high bits depend little on the last bytes; this mixes all of them.
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// add offers a URL.
func (s *sampler) add(url []byte, lastMod websync.Datetime) {
	if s.n <= 0 {
		return
	}
	key := stratumOf(string(url))
	group := s.strata[key]
	if group == nil {
		if group = s.enter(key); group == nil {
			return
		}
	}
	most := s.n
	if s.cut {
		most = 1
	}
	c := candidate{rank: s.rank(url), lastMod: lastMod}
	if len(group.urls) == most && c.rank >= group.urls[most-1].rank {
		return
	}
	i, found := slices.BinarySearchFunc(group.urls, c.rank, func(held candidate, rank uint64) int {
		return cmp.Compare(held.rank, rank)
	})
	if found {
		return // the URL again
	}
	c.url = string(url)
	if len(group.urls) == most {
		group.urls = group.urls[:most-1]
	}
	group.urls = slices.Insert(group.urls, i, c)
}

// enter adds a stratum, unless n others have lower ranks.
func (s *sampler) enter(key string) *stratum {
	group := &stratum{key: key, rank: s.rank([]byte(key))}
	i, _ := slices.BinarySearchFunc(s.order, group.rank, func(held *stratum, rank uint64) int {
		return cmp.Compare(held.rank, rank)
	})
	if len(s.order) == s.n {
		if !s.cut {
			s.cut = true
			for _, held := range s.order {
				held.urls = held.urls[:min(len(held.urls), 1)]
			}
		}
		if i == s.n {
			return nil
		}
		delete(s.strata, s.order[s.n-1].key)
		s.order = s.order[:s.n-1]
	}
	s.order = slices.Insert(s.order, i, group)
	s.strata[key] = group
	return group
}

// chosen returns the sample: one URL of each stratum, then a second one, and so on.
func (s *sampler) chosen() (all []candidate) {
	for round := 0; len(all) < s.n; round++ {
		before := len(all)
		for _, group := range s.order {
			if round < len(group.urls) && len(all) < s.n {
				all = append(all, group.urls[round])
			}
		}
		if len(all) == before {
			break
		}
	}
	return all
}

// stratumOf returns the group of an ELI: the first step of its path after "eli", and the
// first step that is a year.
func stratumOf(url string) string {
	const longest = 40 // bytes of a step
	_, end := syntax.SplitHTTP(url)
	path := syntax.PathOf(url, end)
	if _, after, ok := strings.Cut(path, "/eli/"); ok {
		path = after
	}
	first, year := "", ""
	for step := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		switch {
		case first == "":
			first = step[:min(len(step), longest)]
		case year == "" && isYear(step):
			year = step
		}
	}
	if isYear(first) {
		first, year = "", first
	}
	return first + "/" + year
}

func isYear(step string) bool {
	return len(step) == 4 && (step[0] == '1' || step[0] == '2') && syntax.IsDigit(step[1]) && syntax.IsDigit(step[2]) &&
		syntax.IsDigit(step[3])
}
