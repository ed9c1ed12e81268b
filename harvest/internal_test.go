package harvest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/sorted"
)

// TestLedger compares the ledger with a list that remembers everything.
func TestLedger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l ledger
		var open []*slot
		resumes := []int64{}
		n, passed := int64(0), int64(0)
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				n++
				s := &slot{n: n}
				l.enter(s)
				open = append(open, s)
			},
			"trivial": func(*rapid.T) { n++ },
			"resume": func(t *rapid.T) {
				if n > 0 && (len(resumes) == 0 || resumes[len(resumes)-1] < n) {
					resumes = append(resumes, n)
					l.resume(n, Checkpoint{Version: int(n)})
				}
			},
			"finish": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip()
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "i")
				l.leave(open[i])
				open = slices.Delete(open, i, i+1)
			},
			"batch": func(t *rapid.T) {
				for _, s := range open {
					s.batched = rapid.Bool().Draw(t, "batched")
				}
			},
			"pass": func(t *rapid.T) {
				if r, ok := l.covered(); ok {
					passed = r.n
					l.passed(r.n)
				}
			},
			"": func(t *rapid.T) {
				want := int64(0)
				for _, r := range resumes {
					blocked := slices.ContainsFunc(open, func(s *slot) bool { return !s.batched && s.n <= r })
					if r > passed && !blocked {
						want = r
					}
				}
				got, ok := l.covered()
				require.Equal(t, want > 0, ok)
				require.Equal(t, want, got.n)
				require.EqualValues(t, want, got.at.Version)
			},
		})
	})
}

// TestStuckKeepsNoCheckpoints yields a log that goes on after bytes that could not be
// read.
func TestStuckKeepsNoCheckpoints(t *testing.T) {
	p := (&run{h: &Harvester{}}).newPipe(-1)
	stuck := &slot{n: 1, state: slotStuck}
	p.ledger.enter(stuck)
	p.put([]*slot{stuck}, nil, nil)
	require.NoError(t, p.takeBack(t.Context()))
	for n := range int64(1000) {
		s := &slot{n: 2 + n, statement: statement{ev: Event{Resume: Checkpoint{Version: 1}}}}
		p.ledger.enter(s)
		p.resume(s)
		p.ledger.leave(s)
	}
	require.Empty(t, p.ledger.resumes)
}

func TestSeenTable(t *testing.T) {
	require.False(t, func() bool {
		table, room := newSeenTable(printKey{1}, 100), true
		for i := range 5000 {
			room = room && table.add(table.key.id(fmt.Sprint(i)), 2)
		}
		return room
	}(), "the count may be too small")
	for _, sized := range []int64{4900, 5000, 50_000} {
		table := newSeenTable(printKey{1}, sized)
		for i := range 5000 {
			require.True(t, table.add(table.key.id(fmt.Sprint(i)), uint32(i)*2+2))
		}
		require.False(t, table.allSeen())
		for i := range 5000 {
			id := fmt.Sprint(i)
			same, again, _ := table.see(table.hash(id), uint32(i)*2+2)
			require.True(t, same)
			require.False(t, again)
			same, again, _ = table.see(table.hash(id), uint32(i)*2+4)
			require.False(t, same)
			require.True(t, again)
			same, _, _ = table.see(table.hash(id), 0)
			require.False(t, same)
			require.True(t, table.seen(id))
			table.forget(id)
			require.True(t, table.seen(id))
			same, again, _ = table.see(table.hash(id), uint32(i)*2+2)
			require.False(t, same)
			require.True(t, again)
		}
		require.True(t, table.allSeen())
		require.False(t, table.seen("5000"))
		same, _, _ := table.see(table.hash("5000"), 2)
		require.False(t, same)
	}
}

// An id is known to be new only at its first appearance, and only if the table has all
// records.
func TestSeenTableKnowsNewIDs(t *testing.T) {
	table := newSeenTable(printKey{1}, 1000)
	for i := range 1000 {
		require.True(t, table.add(table.key.id(fmt.Sprint(i)), 2))
	}
	unknown := func(id string) bool {
		_, _, unknown := table.see(table.hash(id), 2)
		return unknown
	}
	require.False(t, unknown("new"), "there may be a tombstone")
	table.whole = true
	require.False(t, unknown("new"), "a second time")
	table.forget("deleted")
	require.False(t, unknown("deleted"))
	for i := range 1000 {
		require.False(t, unknown(fmt.Sprint(i)), "a record")
	}
	certain := 0
	for i := range 10_000 {
		id := fmt.Sprint("new", i)
		if unknown(id) {
			certain++
		}
		require.False(t, unknown(id), "a second time")
	}
	require.Greater(t, certain, 9_900)
}

func TestSeenTableTakes12BytesARecord(t *testing.T) {
	table := newSeenTable(printKey{1}, 1_000_000)
	require.LessOrEqual(t, len(table.slots)*8, 12_000_000)
}

// What a dry run has written is forgotten, but not its claims and its State.
func TestOverlayForgets(t *testing.T) {
	w := writes{keys: sorted.New(), n: maxPlanned + 1}
	kept, forgotten := [...]byte{claimKey, stateKey}, [...]byte{headKey, recordKey, logKey, taskKey, bodyKey}
	for _, kind := range append(forgotten[:], kept[:]...) {
		w.keys.Set(newKey(kind).text("key"), []byte{1})
	}
	left := w.forget([]byte("head"))
	for _, kind := range kept {
		require.NotNil(t, left.keys.Get(newKey(kind).text("key")), "kind %c", kind)
	}
	for _, kind := range forgotten {
		require.Nil(t, left.keys.Get(newKey(kind).text("key")), "kind %c", kind)
	}
	require.Zero(t, left.n)
	require.Equal(t, []byte("head"), left.head)
}

func TestBackoffGrows(t *testing.T) {
	require.Zero(t, backoff(1))
	for n := 2; n < 70; n++ {
		require.Positive(t, backoff(n))
		require.LessOrEqual(t, backoff(n).Hours(), 24.0)
	}
}

// TestFingerprintSeesEverything changes each field of a Resource in turn.
func TestFingerprintSeesEverything(t *testing.T) {
	full := websync.Resource{
		Title: "t", Authors: []websync.Person{{Name: "n"}}, Content: websync.Link{Href: "h", Digests: websync.Digests{{Algorithm: "a", Sum: "s"}}},
		Links: []websync.Link{{Attrs: []websync.Attr{{Local: "l"}}}}, Origin: &websync.Origin{ID: "o"}, Elements: []websync.Element{{XML: "x"}},
	}
	was := fingerprint(&full, "")
	changes := map[string]func(*websync.Resource){
		"Title":        func(r *websync.Resource) { r.Title = "" },
		"Summary":      func(r *websync.Resource) { r.Summary = "x" },
		"Lang":         func(r *websync.Resource) { r.Lang = "x" },
		"Authors":      func(r *websync.Resource) { r.Authors = []websync.Person{{URI: "n"}} },
		"Published":    func(r *websync.Resource) { r.Published, _ = websync.ParseDatetime("2026") },
		"Content.Href": func(r *websync.Resource) { r.Content.Href = "" },
		"Length":       func(r *websync.Resource) { r.Content.Length = 1 },
		"Digests":      func(r *websync.Resource) { r.Content.Digests = nil },
		"Links":        func(r *websync.Resource) { r.Links = nil },
		"Priority": func(r *websync.Resource) {
			r.Links = []websync.Link{{Priority: 1, Attrs: []websync.Attr{{Local: "l"}}}}
		},
		"Attrs":         func(r *websync.Resource) { r.Links = []websync.Link{{Attrs: []websync.Attr{{Space: "l"}}}} },
		"Link.Modified": func(r *websync.Resource) { r.Content.Modified, _ = websync.ParseDatetime("2026") },
		"Origin":        func(r *websync.Resource) { r.Origin = nil },
		"Origin.Self":   func(r *websync.Resource) { r.Origin = &websync.Origin{Self: "o"} },
		"Elements":      func(r *websync.Resource) { r.Elements = nil },
	}
	for name, change := range changes {
		other := full
		change(&other)
		require.NotEqual(t, was, fingerprint(&other, ""), name)
	}
	full.ID, full.Modified = "another", websync.NewDatetime(time.Unix(1e9, 0))
	require.Equal(t, was, fingerprint(&full, ""), "neither the id nor Modified counts")
}
