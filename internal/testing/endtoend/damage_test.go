package endtoend

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/racing"
)

var (
	damages    = flag.Uint64("damages", racing.Some(uint64(600)), "how many documents TestDamage damages")
	damageSeed = flag.Uint64("damage-seed", 1, "the first seed of TestDamage")
	damageSite = flag.String("damage-site", "", "TestDamage damages only sites whose name contains this")
)

// A damage replaces the bytes from start to end of a document.
type damage struct {
	start, end int
	by         string
	what       string
}

func (d damage) apply(text string) string { return text[:d.start] + d.by + text[d.end:] }

var token = regexp.MustCompile(`(?s)<!--.*?-->|<!\[CDATA\[.*?\]\]>|<[^>]*>|[^<]+`)

// randomDamage damages a single byte or a single token; of a package, some bytes.
func randomDamage(r *rand.Rand, text string) damage {
	const marks = "<>&;\"'/=!-[]? :\n\x00"
	at := r.IntN(len(text))
	anyByte := func() string {
		if r.IntN(2) == 0 {
			return string(marks[r.IntN(len(marks))])
		}
		return string([]byte{byte(r.IntN(256))})
	}
	tokens := tokensOf(r, text)
	one := tokens[r.IntN(len(tokens))]
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

// tokensOf returns where the tokens of a document are; of a package, some runs of bytes.
func tokensOf(r *rand.Rand, text string) [][]int {
	if !strings.HasPrefix(text, "PK") {
		return token.FindAllStringIndex(text, -1)
	}
	var runs [][]int
	for range 3 {
		begin := r.IntN(len(text))
		runs = append(runs, []int{begin, begin + 1 + r.IntN(min(len(text)-begin, 1<<r.IntN(12)))})
	}
	return runs
}

var (
	value = regexp.MustCompile(`<loc>((?:[^<]|<!\[CDATA\[[^<]*>)*)</loc>|<id>([^<]*)</id>|ref="([^"]*)"|<updated>([^<]*)</updated>|when="([^"]*)"`)
	cdata = regexp.MustCompile(`(?s)<!\[CDATA\[(.*?)\]\]>`)
	// the bytes of URLs, ids and times, and of what looks like them; XML allows DEL
	plain = regexp.MustCompile(`^[!-;=?-\x7f]+$`)
)

// undetectable reports whether a damage leaves no trace: it makes another URL or another
// time of the one that was there, or another md of ResourceSync in its place. Only a
// digest of the document can detect that.
func undetectable(text string, d damage) bool {
	if md := "<rs:md "; strings.HasPrefix(text[d.start:d.end], md) && strings.HasPrefix(d.by, md) {
		return true // another statement of the resource
	}
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

// TestDamage harvests sites that list many resources, damages one document at one
// point and harvests again. It never deletes a record that the undamaged documents list,
// and nothing is missing once the document is undamaged again.
func TestDamage(t *testing.T) {
	type pair struct{ before, after *site }
	var sites []pair
	for _, shape := range shapes {
		s := shape(edition{end: 100, part: 25})
		sites = append(sites, pair{s, s})
	}
	for _, shape := range syncedShapes {
		before := shape(edition{end: 60, base: 60, part: 15})
		after := edition{end: 63, base: 60, gone: []int{3, 37, 58}, changed: []int{5, 28, 59}, part: 15}
		relisted := after
		relisted.relisted = true
		sites = append(sites, pair{before, shape(after)}, pair{before, shape(relisted)})
	}
	sites = slices.DeleteFunc(sites, func(p pair) bool { return !strings.Contains(p.after.name, *damageSite) })
	for seed := *damageSeed; seed < *damageSeed+*damages; seed++ {
		r := rand.New(rand.NewPCG(seed, 0))
		p := sites[r.IntN(len(sites))]
		s := p.after
		path := s.lists[r.IntN(len(s.lists))]
		text := s.files[path]
		d := randomDamage(r, text)
		if undetectable(text, d) {
			continue
		}
		name := fmt.Sprintf("seed %d: %s %s: %s at %d: %q by %q", seed, s.name, path, d.what, d.start, text[d.start:d.end], d.by)
		if s.verified {
			surviveChange(t, name, p.before, s, s.with(path, d.apply(text)), r)
			continue
		}
		survive(t, name, s, s.with(path, d.apply(text)), r.IntN(2) == 0)
	}
}

func survive(t *testing.T, name string, sound, damaged *site, full bool) {
	store := harvest.NewCatalog(memstore.New())
	run := func(s *site, full bool) *harvest.Report {
		h := &harvest.Harvester{Catalog: store, Fetcher: s.fetcher(), Bodies: harvest.SkipBodies, Full: full}
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

// surviveChange harvests one edition of a site, then the next one with a damaged
// document. That run deletes nothing that is still there, keeps no wrong bytes, and
// reports to be in step only if it is. So does the run after it, which finds the
// documents undamaged, and in the end nothing is missing.
func surviveChange(t *testing.T, name string, before, sound, damaged *site, r *rand.Rand) {
	store := harvest.NewCatalog(memstore.New())
	run := func(s *site, full, recheck bool) *harvest.Report {
		h := &harvest.Harvester{Catalog: store, Fetcher: s.fetcher(), Full: full, Recheck: recheck}
		report, err := h.Run(t.Context(), s.source())
		if err != nil {
			require.False(t, report.InStep(), name)
		}
		return report
	}
	key := sound.source().Key()
	held := map[string]string{}
	if r.IntN(3) > 0 {
		require.True(t, run(before, false, false).InStep(), name)
		held = live(t, store, key)
		require.Equal(t, before.truth, held, name)
	}
	full, times := r.IntN(2) == 0, 1+r.IntN(2)
	name += fmt.Sprintf(" known %t, full %t", len(held) > 0, full)
	check := func(what string, report *harvest.Report) {
		now := live(t, store, key)
		for id := range held {
			if has(sound.truth, id) && !has(now, id) {
				t.Errorf("%s: %s: %s is deleted", name, what, id)
			}
		}
		for id, text := range now {
			known := has(sound.truth, id) || has(before.truth, id)
			if known && text != sound.truth[id] && text != before.truth[id] {
				t.Errorf("%s: %s: %s is %q", name, what, id, text)
			}
		}
		if report.InStep() && report.Left.Gone == 0 && !maps.Equal(now, sound.truth) {
			t.Errorf("%s: %s: in step, but not the truth: %s", name, what, difference(sound.truth, now))
		}
	}
	for n := range times {
		check(fmt.Sprint("run ", n), run(damaged, full, false))
	}
	check("undamaged", run(sound, false, false))
	report := run(sound, false, true)
	check("everything again", report)
	if !report.InStep() && report.Left.Waiting == 0 { // a URL that damage has made is asked for again later
		t.Errorf("%s: not healed: %v %v", name, report.Problems, report.Failures)
	}
}

func has(m map[string]string, id string) bool {
	_, ok := m[id]
	return ok
}

// difference describes how two sets of resources differ.
func difference(want, got map[string]string) (text string) {
	for id := range want {
		if want[id] != got[id] {
			text += fmt.Sprintf(" %s is %q, not %q;", id, got[id], want[id])
		}
	}
	for id := range got {
		if !has(want, id) {
			text += fmt.Sprintf(" %s is still there;", id)
		}
	}
	return text
}
