package harvest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestOutlines: outlines state what the records and the log do, at any number of records
// and after Compact.
func TestOutlines(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s := testkit.NewStore(t)
	alternate := websync.Element{Space: "http://www.w3.org/1999/xhtml", Local: "link", XML: `<link xmlns="http://www.w3.org/1999/xhtml"/>`}
	change := func() {
		source := fmt.Sprint("source ", random.IntN(2))
		id := fmt.Sprintf("https://example.org/%d", random.IntN(300))
		if random.IntN(4) == 0 {
			s.Delete(source, id)
			return
		}
		r := websync.Resource{ID: id, Title: fmt.Sprint(s.Clock), Content: websync.Link{Href: id}}
		switch random.IntN(5) {
		case 0:
			r.Elements = append(r.Elements, alternate)
		case 1:
			r.Elements = append(r.Elements, websync.Element{Space: "x", Local: "x", XML: strings.Repeat("x", random.IntN(30_000))})
		case 2:
			r.Links = make([]websync.Link, random.IntN(20))
		}
		s.Put(source, r)
	}
	check := func() (known int) {
		head, err := s.Head(t.Context())
		require.NoError(t, err)
		for _, r := range []websync.Range{
			{}, {Sources: []string{"source 1"}}, {Sources: []string{"none"}}, {After: 31, Until: 33}, {After: 40, Until: 1_000_000},
		} {
			want := map[websync.Seq]websync.Outline{}
			for _, item := range testkit.All(t, s.Changes(t.Context(), websync.Range{Sources: r.Sources})) {
				if item.Born > r.After && (r.Until == 0 || item.Born <= r.Until) {
					want[item.Born] = websync.OutlineOf(&item)
				}
			}
			r.Generation = head.Generation
			last := websync.Seq(0)
			for got, err := range s.Outlines(t.Context(), r) {
				require.NoError(t, err)
				require.Greater(t, got.Born, last)
				last = got.Born
				of := want[got.Born]
				delete(want, got.Born)
				if of.Deleted {
					assert.Equal(t, websync.Outline{Born: of.Born, Seq: of.Seq, Deleted: true}, got)
					continue
				}
				if got.Bytes > 0 {
					known++
					require.GreaterOrEqual(t, got.Bytes, of.Bytes)
					of.Bytes = got.Bytes
				} else {
					assert.Greater(t, of.Bytes, int64(16<<10))
					of.Bytes = 0
				}
				assert.Equal(t, of, got)
			}
			require.Empty(t, want)
		}
		for _, err := range s.Outlines(t.Context(), websync.Range{Generation: head.Generation + 1}) {
			require.ErrorIs(t, err, websync.ErrNotFound)
		}
		return known
	}
	check()
	for range 10 {
		for range 100 {
			change()
		}
		require.NotZero(t, check())
	}
	_, err := s.Compact(t.Context())
	require.NoError(t, err)
	check()
}

// TestHoldsBodies: a body is held from its Commit on.
func TestHoldsBodies(t *testing.T) {
	s := testkit.NewStore(t)
	s.Put("a", websync.Resource{ID: "https://example.org/"})
	held, err := s.HoldsBodies(t.Context())
	require.NoError(t, err)
	require.False(t, held)
	s.Fill("a", []string{"text"}, websync.Item{
		Resource: websync.Resource{ID: "https://example.org/1"},
		Bodies:   []websync.Body{{Name: websync.ContentName, Key: websync.SHA256([]byte("text"))}},
	})
	held, err = s.HoldsBodies(t.Context())
	require.NoError(t, err)
	require.True(t, held)
}
