package atom_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
)

// A pubState is the state of an id: when it was put or deleted.
type pubState struct {
	at   time.Time
	live bool
}

// A pubModel is a Store and its expected contents.
type pubModel struct {
	*pubStore
	states map[string]pubState
}

func newPubModel(t testkit.T) *pubModel {
	s := newPubStore(t)
	s.Clock = time.Unix(1_700_000_000, 0).UTC()
	return &pubModel{s, map[string]pubState{}}
}

// change changes one id, of the site or of the harvested one.
func (m *pubModel) change(n int, remove, kept bool, related int) {
	id := func(n int) string { return fmt.Sprintf("%s/%d", []string{pubSite, pubFirst}[n%2], n) }
	item := websync.Item{Resource: websync.Resource{ID: id(n), Links: []websync.Link{{Rel: "related", Href: id(related)}}}}
	switch {
	case remove && !m.states[item.Resource.ID].live:
		return
	case remove:
		item.Kind = websync.Deleted
	case kept:
		item.Bodies = []websync.Body{pubKept("content", websync.Link{Type: "text/html"})}
	}
	m.commit("a", item)
	m.states[item.Resource.ID] = pubState{m.Clock, !remove}
}

// walkChain reads the whole chain as a simple reader does, and returns the latest state
// of each id.
func walkChain(t require.TestingT, p *atom.Publisher, between func()) (map[string]pubState, error) {
	states := map[string]pubState{}
	for url := p.URL(); url != ""; between() {
		doc, err := p.Document(context.Background(), strings.TrimPrefix(url, pubSite))
		if err != nil {
			return states, err
		}
		var b bytes.Buffer
		if err := doc.Write(context.Background(), &b); err != nil {
			return states, err
		}
		feed, items := pubRead(t, url, b.Bytes())
		for _, item := range items {
			if _, younger := states[item.ID()]; !younger {
				states[item.ID()] = pubState{item.Time().Time().UTC(), item.Tombstone == nil}
			}
		}
		prev, _ := feed.Link("prev-archive")
		url = prev.Href
	}
	return states, nil
}

// requireWalked checks what a reader of the chain has: the states that the log had when
// it began. With LatestOnly, those of ids that have changed meanwhile may be missing.
func (m *pubModel) requireWalked(t require.TestingT, began, got map[string]pubState, latestOnly bool) {
	for id, state := range began {
		if _, ok := got[id]; !ok && latestOnly && m.states[id] != state {
			got[id] = state
		}
	}
	require.Equal(t, began, got)
}

// TestPublisherModel: documents with the same tag have the same bytes, whatever happens
// to the Catalog and whichever Publisher writes them. An archive document stays as it is
// until its generation is dropped, or it is no final one. A reader of the chain ends with
// the state that the log had when it began.
func TestPublisherModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 3
		m := newPubModel(t)
		latestOnly := rapid.Bool().Draw(t, "latest only")
		period := time.Duration(rapid.SampledFrom([]int{0, 2, 5}).Draw(t, "period")) * time.Second
		publisher := func() *atom.Publisher {
			p := newPublisher(m, size)
			p.LatestOnly, p.ArchivePeriod = latestOnly, period
			return p
		}
		p := publisher()
		bytesOf := map[string]string{}     // by path and tag
		archives := map[string][2]string{} // tag and bytes by path
		generation, dropped := uint64(1), uint64(1)
		change := func() {
			m.change(rapid.IntRange(1, 12).Draw(t, "id"), rapid.IntRange(0, 2).Draw(t, "remove") == 0,
				rapid.Bool().Draw(t, "kept"), rapid.IntRange(1, 12).Draw(t, "related"))
		}
		compact := func() {
			next, err := m.Compact(context.Background())
			require.NoError(t, err)
			generation = next
		}
		t.Repeat(map[string]func(*rapid.T){
			"change":  func(*rapid.T) { change() },
			"changes": func(*rapid.T) { change(); change(); change() },
			"pause": func(*rapid.T) {
				m.Clock = m.Clock.Add(time.Duration(rapid.IntRange(1, 12).Draw(t, "seconds")) * time.Second)
			},
			"compact": func(*rapid.T) { compact() },
			"drop": func(*rapid.T) {
				require.NoError(t, m.Drop(context.Background(), generation))
				dropped = generation
			},
			"restart": func(*rapid.T) { p = publisher() },
			"walk": func(t *rapid.T) {
				want := maps.Clone(m.states)
				got, err := walkChain(t, p, func() {
					change()
					if rapid.IntRange(0, 5).Draw(t, "compact") == 0 {
						compact()
					}
				})
				require.NoError(t, err)
				m.requireWalked(t, want, got, latestOnly)
				got, err = walkChain(t, p, func() {})
				require.NoError(t, err)
				require.Equal(t, m.states, got)
			},
			"": func(t *rapid.T) {
				for _, path := range pubPaths(t, p) {
					doc, body := pubRender(t, p, path)
					key := path + " " + doc.ETag
					if before, known := bytesOf[key]; known {
						require.Equal(t, before, string(body), key)
					}
					bytesOf[key] = string(body)
					require.Equal(t, doc.Final, !latestOnly && path != "/feed.atom")
					if doc.Final {
						if before, known := archives[path]; known {
							require.Equal(t, before[0], doc.ETag, path)
						}
						archives[path] = [2]string{doc.ETag, string(body)}
					}
				}
				for path, before := range archives {
					var number uint64
					_, err := fmt.Sscanf(path, "/feed-%d-", &number)
					require.NoError(t, err)
					if number < dropped {
						_, err := p.Document(context.Background(), path)
						require.ErrorIs(t, err, websync.ErrGone)
						continue
					}
					doc, body := pubRender(t, p, path)
					require.Equal(t, before, [2]string{doc.ETag, string(body)}, path)
				}
				requireChain(t, p)
			},
		})
	})
}

// requireLive checks that a Store has the live resources of the model, with their times
// and bytes.
func requireLive(t *testing.T, m *pubModel, got *harvest.Catalog, bodies bool) {
	t.Helper()
	want, seen := map[string]string{}, map[string]string{}
	for id, state := range m.states {
		if state.live {
			want[id] = websync.NewDatetime(state.at).String()
		}
	}
	for item, err := range got.Resources(t.Context(), websync.Range{}) {
		require.NoError(t, err)
		seen[item.Resource.ID] = item.Resource.Modified.String()
		if bodies {
			body, ok := item.Body("content")
			require.True(t, ok, item.Resource.ID)
			require.Equal(t, websync.SHA256([]byte("content")), body.Key)
		}
	}
	require.Equal(t, want, seen)
}

// TestPublisherRoundTrip: a second store that harvests the Publisher of the first has the
// same ids, states and bytes, while the first one changes.
func TestPublisherRoundTrip(t *testing.T) {
	for _, bodies := range []bool{true, false} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("bodies %t %d", bodies, seed), func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 4))
				m := newPubModel(t)
				p := newPublisher(m, 20)
				second := harvest.NewCatalog(memstore.New())
				busy := false
				change := func() {
					m.change(random.IntN(150), random.IntN(3) == 0, bodies, random.IntN(150))
					if random.IntN(200) == 0 {
						generation, err := m.Compact(context.Background())
						require.NoError(t, err)
						if random.IntN(2) == 0 {
							require.NoError(t, m.Drop(context.Background(), generation))
						}
					}
				}
				p.Locator = websync.PathLocator{Base: p.Base, Own: []string{"a"}, Reserved: p.Reserved}
				web := &testkit.Mirror{Publisher: publish.Join(p, publish.Bodies(m.Store, p.Locator)), Before: func() {
					if busy {
						change()
					}
				}}
				out := &harvest.Harvester{Sample: -1, Catalog: second, Fetcher: web, MaxDelete: -1}
				source := &atom.Source{URL: p.URL(), Content: []string{"content"}}
				for round := range 6 {
					for range []int{0, 300, 1, 25, 400, 60}[round] {
						change()
					}
					// during the walk, but only without bodies: a changed body would be
					// retried later
					if !bodies {
						busy = true
						_, err := out.Run(t.Context(), source)
						require.NoError(t, err)
						busy = false
					}
					report, err := out.Run(t.Context(), source)
					require.NoError(t, err)
					require.True(t, report.InStep(), "%v %v", report.Failures, report.Problems)
					requireLive(t, m, second, bodies)
				}
			})
		}
	}
}

// A reader of a chain that is dropped gets ErrGone, and finds the new chain.
func TestPublisherDropInWalk(t *testing.T) {
	m := newPubModel(t)
	for i := range 40 {
		m.change(i%15, i%4 == 3, false, 0)
	}
	p := newPublisher(m, 4)
	n := 0
	_, err := walkChain(t, p, func() {
		if n++; n == 3 {
			generation, err := m.Compact(context.Background())
			require.NoError(t, err)
			require.NoError(t, m.Drop(context.Background(), generation))
		}
	})
	require.ErrorIs(t, err, websync.ErrGone)
	require.False(t, errors.Is(err, websync.ErrNotFound))
	states, err := walkChain(t, p, func() {})
	require.NoError(t, err)
	require.Equal(t, m.states, states)
	require.NotEmpty(t, slices.Collect(maps.Keys(states)))
}
