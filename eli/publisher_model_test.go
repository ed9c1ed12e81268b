package eli_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// A modelAct is what a history did to an act.
type modelAct struct {
	live      bool
	version   int // counts its states
	committed time.Time
	title     string

	listed time.Time // the time of its last state, as it was listed last
	sure   bool      // that no compaction hides an earlier state
	states int
	again  bool // published again after a deletion, and not changed since
}

// A reader is a client by annex 4.1 of the specification: it gets an act that it does not
// have, and one whose time is later than the one it has.
type reader struct {
	version map[string]int
	at      map[string]time.Time
}

func (r *reader) note(name string, at time.Time, truth *modelAct) {
	if stored, known := r.at[name]; !known || at.After(stored) {
		r.at[name], r.version[name] = at, truth.version
	}
}

// TestPublisherHistories: after each change both documents state the truth, and clients
// that read only the feed, or now and then the sitemap, miss no change.
func TestPublisherHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := testkit.NewStore(t)
		publisher := func() *eli.Publisher {
			p := newPublisher(s)
			p.PartSize = rapid.IntRange(1, 5).Draw(t, "PartSize")
			return p
		}
		p := publisher()
		acts := make(map[string]*modelAct)
		compacted := false
		daily := &reader{make(map[string]int), make(map[string]time.Time)}
		monthly := &reader{make(map[string]int), make(map[string]time.Time)}
		bytesOf := make(map[string]string) // of the feed by its ETag and settings

		put := func(t *rapid.T, name string) {
			a := acts[name]
			if a == nil {
				a = &modelAct{sure: !compacted}
				acts[name] = a
			}
			before := a.listed
			if !a.live && a.states > 0 {
				before = a.committed // of the deletion
			}
			a.again = !a.live && a.states > 0
			now := s.Clock.Add(time.Second)
			ago := rapid.SampledFrom([]time.Duration{-time.Hour, 0, time.Second, time.Minute, 36 * time.Hour, 1000 * time.Hour}).Draw(t, "ago")
			r := websync.Resource{ID: country + "eli/act/" + name}
			switch rapid.IntRange(0, 3).Draw(t, "form") {
			case 0:
				r.Modified = websync.NewDatetime(now.Add(-ago))
			case 1:
				r.Modified = websync.DateOf(now.Add(-ago))
			case 2: // a little later than the last one
				if a.states > 0 {
					r.Modified = websync.NewDatetime(before.Add(time.Millisecond))
				}
			}
			if rapid.Bool().Draw(t, "titled") {
				r.Title = fmt.Sprintf("Act %s, state %d", name, a.version)
			}
			kind := websync.Updated
			if !a.live {
				kind = websync.Created
			}
			s.Fill(ownSource, nil, websync.Item{Kind: kind, Resource: r})
			a.live, a.committed, a.title = true, s.Clock, r.Title
			a.version++
			a.states++
			want := a.committed
			if m := r.Modified.Time(); !r.Modified.IsZero() && !m.After(a.committed) && m.After(before) {
				want = m
			}
			all, _ := readSitemap(t, p, mapPath)
			got := instant(t, all[name])
			require.True(t, got.After(before), "the time of %s goes from %v to %v", name, before, got)
			if a.sure && a.states <= 9 {
				require.Equal(t, want.UTC(), got)
			} else if got != a.committed {
				require.Equal(t, r.Modified.Time().UTC(), got)
			}
			a.listed = got
		}
		existing := func(t *rapid.T, live bool) string {
			var names []string
			for name, a := range acts {
				if a.live || !live {
					names = append(names, name)
				}
			}
			if len(names) == 0 {
				t.Skip("there is none")
			}
			slices.Sort(names)
			return rapid.SampledFrom(names).Draw(t, "name")
		}
		t.Repeat(map[string]func(*rapid.T){
			"new":    func(t *rapid.T) { put(t, fmt.Sprint(len(acts)+1)) },
			"change": func(t *rapid.T) { put(t, existing(t, false)) },
			"delete": func(t *rapid.T) {
				name := existing(t, true)
				s.Delete(ownSource, country+"eli/act/"+name)
				acts[name].live, acts[name].committed = false, s.Clock
				acts[name].states++
			},
			"of another host": func(t *rapid.T) {
				s.Put(ownSource, websync.Resource{ID: "https://other.example/eli/act/1"})
			},
			"of another source": func(t *rapid.T) { s.Put("other", websync.Resource{ID: country + "eli/act/1"}) },
			"compact": func(t *rapid.T) {
				_, err := s.Compact(context.Background())
				require.NoError(t, err)
				compacted = true
				for _, a := range acts {
					a.sure = false
				}
			},
			"restart": func(t *rapid.T) { p = publisher() },
			"wait": func(t *rapid.T) {
				s.Clock = s.Clock.Add(time.Duration(rapid.IntRange(1, 59*24).Draw(t, "hours")) * time.Hour)
			},
			"read the sitemap": func(t *rapid.T) {
				all, _ := readSitemap(t, p, mapPath)
				for name, at := range all {
					monthly.note(name, instant(t, at), acts[name])
				}
				for name, a := range acts {
					if a.live && (a.sure || !a.again) {
						require.Equal(t, a.version, monthly.version[name], "a client that reads the sitemap misses %s", name)
					}
				}
			},
			"": func(t *rapid.T) {
				listed, _ := readSitemap(t, p, mapPath)
				feed := readFeed(t, p)
				head, err := s.Head(context.Background())
				require.NoError(t, err)
				var live, recent []string
				for name, a := range acts {
					if a.live {
						live = append(live, name)
					}
					if a.live && !a.committed.Before(head.LastTime.Add(-60*24*time.Hour)) {
						recent = append(recent, name)
					}
				}
				require.ElementsMatch(t, live, slices.Collect(maps.Keys(listed)))
				var inFeed []string
				for _, e := range feed.Entries {
					name := strings.TrimPrefix(e.ID, country+"eli/act/")
					inFeed = append(inFeed, name)
					a := acts[name]
					require.Equal(t, instant(t, listed[name]), e.Updated.UTC(), "both documents state the same time")
					if a.title == "" {
						require.Equal(t, e.ID, e.Title)
					} else {
						require.Equal(t, a.title, e.Title)
					}
					if a.sure {
						require.Equal(t, a.listed, e.Updated.UTC(), "it changes with the act only")
					} else if !a.again {
						require.False(t, e.Updated.Before(a.listed), "it does not go back")
					}
					a.listed = e.Updated.UTC()
					require.False(t, e.Updated.After(a.committed))
					daily.note(name, e.Updated.UTC(), a)
				}
				require.ElementsMatch(t, recent, inFeed)
				for name, a := range acts {
					if a.live {
						require.Equal(t, a.version, daily.version[name], "a client that reads the feed misses %s", name)
					}
				}
				doc, body := render(t, p, feedPath)
				if before, known := bytesOf[doc.ETag]; known {
					require.Equal(t, before, string(body))
				}
				bytesOf[doc.ETag] = string(body)
			},
		})
	})
}
