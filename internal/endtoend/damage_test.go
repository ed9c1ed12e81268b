package endtoend

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

var (
	damages    = flag.Int("damages", 500, "how many documents TestDamage damages")
	damageSeed = flag.Uint64("damage-seed", 1, "the first seed of TestDamage")
)

// A damage replaces the bytes from start to end of a document.
type damage struct {
	start, end int
	by         string
	what       string
}

func (d damage) apply(text string) string { return text[:d.start] + d.by + text[d.end:] }

var token = regexp.MustCompile(`(?s)<!--.*?-->|<!\[CDATA\[.*?\]\]>|<[^>]*>|[^<]+`)

// randomDamage damages a single byte or a single token.
func randomDamage(r *rand.Rand, text string) damage {
	const marks = "<>&;\"'/=!-[]? :\n\x00"
	at := r.IntN(len(text))
	anyByte := func() string {
		if r.IntN(2) == 0 {
			return string(marks[r.IntN(len(marks))])
		}
		return string([]byte{byte(r.IntN(256))})
	}
	tokens := token.FindAllStringIndex(text, -1)
	k := r.IntN(len(tokens))
	one := tokens[k]
	switch r.IntN(9) {
	case 0:
		return damage{at, at + 1, anyByte(), "byte replaced"}
	case 1:
		return damage{at, at + 1, "", "byte lost"}
	case 2:
		return damage{at, at, anyByte(), "byte added"}
	case 3:
		return damage{at, at + 1, string([]byte{text[at] ^ 1<<r.IntN(8)}), "bit flipped"}
	case 4:
		return damage{one[0], one[1], "", "token lost"}
	case 5:
		return damage{one[1], one[1], text[one[0]:one[1]], "token repeated"}
	case 6:
		other := tokens[r.IntN(len(tokens))]
		return damage{one[0], one[1], text[other[0]:other[1]], "token replaced"}
	case 7:
		other := tokens[r.IntN(len(tokens))]
		return damage{one[0], one[0], text[other[0]:other[1]], "token added"}
	default:
		return damage{one[0], one[0] + 1 + r.IntN(one[1]-one[0]), "", "beginning of a token lost"}
	}
}

var (
	value = regexp.MustCompile(`<loc>((?:[^<]|<!\[CDATA\[[^<]*>)*)</loc>|<id>([^<]*)</id>|ref="([^"]*)"|<updated>([^<]*)</updated>|when="([^"]*)"`)
	cdata = regexp.MustCompile(`(?s)<!\[CDATA\[(.*?)\]\]>`)
	// the bytes of URLs, ids and times, and of what looks like them
	plain = regexp.MustCompile(`^[!-;=?-~]+$`)
)

// undetectable reports whether a damage leaves no trace: it makes another URL or another
// time of the one that was there. Only a digest of the document can detect that.
func undetectable(text string, d damage) bool {
	for _, m := range value.FindAllStringSubmatchIndex(text, -1) {
		for g := 2; g < len(m); g += 2 {
			if m[g] < 0 || d.start < m[g] || d.end > m[g+1] {
				continue
			}
			now := text[m[g]:d.start] + d.by + text[d.end:m[g+1]]
			now = strings.ReplaceAll(now, "&amp;", "")
			if raw := cdata.ReplaceAllString(now, ""); strings.Contains(raw, "&") {
				return false
			}
			return plain.MatchString(strings.TrimSpace(cdata.ReplaceAllString(now, "$1")))
		}
	}
	return false
}

// TestDamage harvests sites that list a hundred resources, damages one document at one
// point and harvests again. It never deletes a record that the undamaged documents list,
// and nothing is missing once the document is undamaged again.
func TestDamage(t *testing.T) {
	var sites []*site
	for _, shape := range shapes {
		sites = append(sites, shape(edition{end: 100, part: 25}))
	}
	for seed := *damageSeed; seed < *damageSeed+uint64(*damages); seed++ {
		r := rand.New(rand.NewPCG(seed, 0))
		s := sites[r.IntN(len(sites))]
		path := s.lists[r.IntN(len(s.lists))]
		text := s.files[path]
		d := randomDamage(r, text)
		if undetectable(text, d) {
			continue
		}
		name := fmt.Sprintf("seed %d: %s %s: %s at %d: %q by %q", seed, s.name, path, d.what, d.start, text[d.start:d.end], d.by)
		survive(t, name, s, s.with(path, d.apply(text)), r.IntN(2) == 0)
	}
}

func survive(t *testing.T, name string, sound, damaged *site, full bool) {
	store := memstore.New()
	run := func(s *site, full bool) *harvest.Report {
		h := &harvest.Harvester{Store: store, Fetcher: s.fetcher(), Bodies: harvest.SkipBodies, Full: full}
		report, err := h.Run(t.Context(), s.source())
		if err != nil {
			require.False(t, report.InStep(), name)
		}
		return report
	}
	check := func(s *site) {
		held := live(t, store, s.source().Key())
		for id := range s.truth {
			if _, ok := held[id]; !ok {
				t.Errorf("%s: %s is deleted", name, id)
			}
		}
	}
	require.True(t, run(sound, false).InStep(), name)
	check(sound)
	noticed := !run(damaged, full).InStep()
	check(sound)
	if noticed && run(damaged, full).InStep() {
		t.Errorf("%s: in step when it is read again", name)
	}
	check(sound)
	require.True(t, run(sound, true).Complete, name)
	check(sound)
}
