package sitemap_test

import (
	"fmt"
	"github.com/websync-go/websync/internal/testing/racing"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest/sourcetest"
)

// A history is a partSite whose publisher and cache do what a random number generator
// says.
type history struct {
	*partSite
	rand     *rand.Rand
	style    indexStyle
	versions [][]sourcetest.Document // of each part, oldest first
	lagging  []int                   // parts whose lastmod in the index is still to move
	added    int
	quiet    int               // one part of so many changes before a run
	shown    map[string]string // body of each part as the last run had it
}

// An indexStyle is when the index states that a part has changed.
type indexStyle int

const (
	truthful indexStyle = iota
	lagging             // a run later
	still               // never
	styles
)

// edit changes some parts.
func (h *history) edit() {
	for _, i := range h.lagging {
		h.parts[i].lastMod = h.parts[i].made
	}
	h.lagging = nil
	for i, p := range h.parts {
		if h.rand.IntN(h.quiet) > 0 {
			continue
		}
		stated := p.lastMod
		switch locs := slices.Sorted(maps.Keys(p.entries)); h.rand.IntN(4) {
		case 0:
			h.change(i, strconv.Itoa(1+h.rand.IntN(3)))
		case 1:
			h.added++
			h.change(i, fmt.Sprint("new-", h.added))
		case 2:
			h.change(i)
			if len(locs) > 0 {
				delete(p.entries, locs[h.rand.IntN(len(locs))])
			}
		case 3:
			h.change(i, "1", "2", "3")
		}
		switch h.style {
		case lagging:
			p.lastMod = stated
			h.lagging = append(h.lagging, i)
		case still:
			p.lastMod = stated
		}
		h.now = h.now.Add(time.Duration(h.rand.IntN(3)) * time.Second)
	}
	for i := range h.parts {
		h.versions[i] = append(h.versions[i], h.document(i))
	}
}

// A wrong is what the cache answers in the place of a part.
type wrong int

const (
	stale wrong = iota
	empty
	swapped
	wrongs
)

// misbehave lets the cache answer wrongly for some parts. It returns those.
func (h *history) misbehave() map[int]wrong {
	h.cached = make(map[string]sourcetest.Document)
	done := make(map[int]wrong)
	for i, p := range h.parts {
		if h.rand.IntN(2*h.quiet) > 0 {
			continue
		}
		w := wrong(h.rand.IntN(int(wrongs)))
		var doc sourcetest.Document
		switch w {
		case stale:
			doc = h.versions[i][h.rand.IntN(len(h.versions[i]))]
		case empty:
			doc.Body = string(urlset())
			if h.rand.IntN(2) > 0 {
				doc.ETag = `"empty"`
			}
		case swapped:
			other := (i + 1 + h.rand.IntN(len(h.parts)-1)) % len(h.parts)
			doc = h.document(other)
		}
		h.cached[p.url], done[i] = doc, w
	}
	return done
}

// listen runs, and returns what each part showed: the answer, or what it showed before.
func (h *history) listen() {
	before := h.shown
	h.run(time.Duration(1+h.rand.IntN(30)) * time.Hour)
	h.shown = make(map[string]string)
	for _, p := range h.parts {
		if h.shown[p.url] = h.web.pages[p.url].Body; !slices.Contains(h.web.asked, p.url) {
			h.shown[p.url] = before[p.url]
		}
	}
}

// mustDoubt reports whether the documents of the last run show that one of them is
// another document, if those of the run before were right: it is empty, or equal to
// another one of either run, and what it showed before is in none.
func (h *history) mustDoubt(before map[string]string) bool {
	nothing := string(urlset())
	for _, p := range h.parts {
		now, was := h.shown[p.url], before[p.url]
		if now == was {
			continue
		}
		isShown := func(doc string) bool {
			for _, other := range h.parts {
				if other != p && h.shown[other.url] == doc {
					return true
				}
			}
			return false
		}
		if now == nothing {
			return true
		}
		equal := isShown(now)
		for _, other := range h.parts {
			equal = equal || other != p && before[other.url] == now
		}
		if equal && !isShown(was) {
			return true
		}
	}
	return false
}

// TestHistories: whatever an index and a cache did, after both were truthful for three
// runs the Store has all that is listed. And a run is not in step if a document came that
// can't be the one that was asked for, as the documents of this run and the last one
// show.
func TestHistories(t *testing.T) {
	n := 300
	if racing.Few() {
		n = 30
	}
	doubted, trusted := 0, 0
	for seed := range uint64(n) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 28))
			parts, quiet := 3+random.IntN(10), 3
			if seed%5 == 0 { // many more than are asked for as a sample
				parts, quiet = 40, 20
			}
			h := &history{partSite: newPartSite(t, parts), rand: random, style: indexStyle(random.IntN(int(styles))), quiet: quiet, shown: map[string]string{}}
			h.plain = random.IntN(3) == 0
			h.versions = make([][]sourcetest.Document, len(h.parts))
			right := false // the documents of the last run
			for range 12 {
				h.edit()
				h.cached = nil
				var done map[int]wrong
				if random.IntN(2) > 0 {
					done = h.misbehave()
				}
				before := h.shown
				h.listen()
				if right && h.mustDoubt(before) {
					doubted++
					require.False(t, h.report.InStep(), "in step with %v", done)
				}
				right = len(done) == 0 && h.report.InStep()
				if len(h.asked()) < len(h.parts) {
					trusted++
				}
			}
			h.cached = nil
			for _, i := range h.lagging {
				h.parts[i].lastMod = h.parts[i].made
			}
			for range 3 {
				h.listen()
			}
			assert.Empty(t, h.difference())
			h.run(48 * time.Hour)
			assert.True(t, h.report.InStep())
		})
	}
	assert.Greater(t, doubted, n/3)
	assert.Greater(t, trusted, n/3)
}
