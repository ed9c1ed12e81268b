package resourcesync_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// publishers are the shapes that a publisher's documents can have.
var publishers = map[string]func(*publisher){
	"one list":          func(*publisher) {},
	"an index":          func(p *publisher) { p.perList, p.perPart = 3, 2 },
	"rotation":          func(p *publisher) { p.perList, p.rotates = 3, true },
	"no times":          func(p *publisher) { p.noTimes = true },
	"no times, rotated": func(p *publisher) { p.noTimes, p.perList = true, 3 },
	"no from":           func(p *publisher) { p.noFrom = true },
	"no change list":    func(p *publisher) { p.noChange = true },
	"only a dump":       func(p *publisher) { p.dump, p.noList, p.noChange = 3, true, true },
	"no resource list":  func(p *publisher) { p.noList = true },
	"a change dump":     func(p *publisher) { p.perPack, p.noLog, p.contents = 3, true, true },
}

// mixed are shapes in which it depends on the moment how a resource is obtained, and so
// whether the server's validators are known.
var mixed = map[string]func(*publisher){
	"a dump":                      func(p *publisher) { p.dump = 2 },
	"a dump with manifests":       func(p *publisher) { p.dump, p.contents, p.perList = 2, true, 3 },
	"a dump without a list":       func(p *publisher) { p.dump, p.noList = 3, true },
	"a dump without times":        func(p *publisher) { p.dump, p.noTimes = 3, true },
	"only a change dump":          func(p *publisher) { p.perPack, p.noLog, p.noList = 3, true, true },
	"a growing change dump":       func(p *publisher) { p.perPack, p.noLog = 1000, true },
	"a change dump besides":       func(p *publisher) { p.perPack, p.contents = 4, true },
	"both dumps":                  func(p *publisher) { p.perPack, p.dump, p.perList = 5, 3, 7 },
	"a change dump without times": func(p *publisher) { p.perPack, p.noLog, p.noTimes, p.contents = 3, true, true, true },
	"a dump that is not offered":  func(p *publisher) { p.dump, p.noList, p.noChange, p.contents = 3, true, true, true },
}

// states returns what a publisher serves at some moments.
func states(shape func(*publisher)) (sites []sourcetest.Site) {
	p := newPublisher()
	shape(p)
	for i := range 5 {
		p.put(fmt.Sprint("r", i), fmt.Sprint("text ", i))
	}
	p.list()
	p.put("r1", "changed")
	sites = append(sites, p.site())
	p.put("r2", "")
	p.put("r0", "changed")
	p.put("r0", "again")
	p.put("new", "new")
	if p.noChange {
		p.list()
	}
	sites = append(sites, p.site())
	p.put("new", "")
	p.put("r2", "is back")
	p.list()
	p.put("r3", "after the list")
	if p.noChange {
		p.list()
	}
	return append(sites, p.site())
}

func TestSourceConformance(t *testing.T) {
	for name, shape := range publishers {
		if racing.Few() && name != "an index" && name != "only a dump" {
			continue // they have no more goroutines, and take ten times as long
		}
		t.Run(name, func(t *testing.T) {
			// Bodies take their time. Those of a dump are not the same: what a run did
			// not get from it, the next one fetches.
			bodies := harvest.SkipBodies
			if name == "one list" {
				bodies = harvest.KeepBodies
			}
			sourcetest.Run(t, sourcetest.Options{
				Bodies:    bodies,
				Source:    func() harvest.Source { return &resourcesync.Source{URL: sourceURL} },
				Sites:     states(shape),
				Store:     func(testing.TB) harvest.Store { return memstore.New() },
				Positions: racing.Some(4),
				// Nothing in a document says which part of the whole it is.
				// A list that is gone may be one that a new baseline makes good for.
				Tolerates: func(url string, f sourcetest.Failure) bool {
					return f == sourcetest.Mistaken || f == sourcetest.NotThere && name == "rotation" && strings.Contains(url, "changelist")
				},
			})
		})
	}
}

// histories is how many random histories a test of each shape has.
func histories() uint64 {
	return racing.Some[uint64](8)
}

// TestSourceHistories lets publishers change at random, and compares what is held.
func TestSourceHistories(t *testing.T) {
	all := maps.Clone(publishers)
	maps.Copy(all, mixed)
	for name, shape := range all {
		t.Run(name, func(t *testing.T) {
			for seed := range histories() {
				random := rand.New(rand.NewPCG(seed, 1))
				p := newPublisher()
				shape(p)
				p.put("kept", "a snapshot without any known resource deletes nothing")
				store := harvest.NewCatalog(memstore.New())
				for round := range 12 {
					p.live(random, round == 0)
					fetcher := &sourcetest.Fetcher{Site: p.site()}
					h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher, MaxDelete: 1}
					report, err := h.Run(t.Context(), &resourcesync.Source{URL: sourceURL})
					require.NoError(t, err, "seed %d round %d", seed, round)
					require.Equal(t, p.texts(), testkit.Live(t, store), "seed %d round %d: %v", seed, round, report)
					require.True(t, report.InStep(), "seed %d round %d: %v", seed, round, report)
				}
			}
		})
	}
}

// TestNoChangeList: a Resource List that has not changed is not read again, if no Change
// List is offered.
func TestNoChangeList(t *testing.T) {
	p := newPublisher()
	p.noChange = true
	p.put("a", "text")
	p.list()
	p.now = p.now.Add(time.Minute) // nothing else has changed in the second of the lastmod
	store := harvest.NewCatalog(memstore.New())
	var statuses []int
	for range 3 {
		fetcher := &sourcetest.Fetcher{Site: p.site()}
		report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher}).Run(t.Context(), &resourcesync.Source{URL: sourceURL})
		require.NoError(t, err)
		require.True(t, report.InStep())
		for _, x := range fetcher.Exchanges() {
			if strings.HasSuffix(x.URL, "resourcelist.xml") {
				statuses = append(statuses, x.Status)
			}
		}
	}
	assert.Equal(t, []int{200, 304, 304}, statuses)
	p.put("a", "changed")
	p.list()
	report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: &sourcetest.Fetcher{Site: p.site()}}).Run(t.Context(), &resourcesync.Source{URL: sourceURL})
	require.NoError(t, err)
	require.True(t, report.InStep())
	assert.Equal(t, p.texts(), testkit.Live(t, store))
}

// TestLongURI: an entry whose URI no Store takes is skipped, and the run not in step.
func TestLongURI(t *testing.T) {
	for name, change := range map[string]func(*publisher){
		"a Change List": func(p *publisher) { p.put("a", "text"); p.list(); p.put(strings.Repeat("x", 5000), "long") },
		"a list":        func(p *publisher) { p.put(strings.Repeat("x", 5000), "long"); p.list() },
		"a dump": func(p *publisher) {
			p.dump, p.noList = 5, true
			p.put(strings.Repeat("x", 5000), "long")
			p.list()
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher()
			change(p)
			report, said := run(t, harvest.NewCatalog(memstore.New()), p.site())
			assert.Positive(t, report.Skipped)
			assert.False(t, report.InStep())
			assert.Contains(t, said, "longer than any")
		})
	}
}

// TestSourceInterrupted: runs end at any request, lists lose their old entries, and the
// publisher's clock jumps. A run that says that it is in step is.
func TestSourceInterrupted(t *testing.T) {
	all := maps.Clone(publishers)
	maps.Copy(all, mixed)
	broken := errors.New("the connection broke")
	for name, shape := range all {
		t.Run(name, func(t *testing.T) {
			for seed := range histories() {
				random := rand.New(rand.NewPCG(seed, 2))
				p := newPublisher()
				shape(p)
				p.put("kept", "a snapshot without any known resource deletes nothing")
				store := harvest.NewCatalog(memstore.New())
				inStep := 0
				for round := range 20 {
					p.live(random, round == 0)
					// Where both happen, no times say that changes are missing.
					if jumps := seed%2 == 0; random.IntN(5) == 0 && !jumps && !p.noList {
						p.dropped += random.IntN(len(p.log) - p.dropped)
					} else if random.IntN(5) == 0 && jumps && !p.noTimes && !p.noChange {
						p.now = p.now.Add(time.Duration(random.IntN(20)-10) * time.Second)
					}
					if round == 18 {
						p.list()
					}
					site := p.site()
					n := -1
					if round < 18 {
						n = random.IntN(2 * len(site))
					}
					ctx, cancel := context.WithCancel(t.Context())
					fetcher := &sourcetest.Fetcher{Site: site, Hook: func(_ context.Context, i int, _ *harvest.Request, doc sourcetest.Document) (sourcetest.Document, error) {
						switch {
						case i == n && round%2 == 0:
							cancel()
						case i == n:
							return doc, broken
						}
						return doc, nil
					}}
					// What failed more than once waits, unless all is asked for.
					h := &harvest.Harvester{Sample: -1, Catalog: store, Fetcher: fetcher, MaxDelete: 1, Recheck: round >= 18}
					report, err := h.Run(ctx, &resourcesync.Source{URL: sourceURL})
					cancel()
					if err == nil && report.InStep() {
						inStep++
						require.Equal(t, p.texts(), testkit.Live(t, store), "seed %d round %d: %v", seed, round, report)
					}
				}
				assert.Positive(t, inStep, "seed %d", seed)
			}
		})
	}
}
