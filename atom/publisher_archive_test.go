package atom_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// pubLists returns what each document lists, the archive documents first, and its tag.
func pubLists(t *testing.T, p *atom.Publisher) (lists, tags []string) {
	for _, path := range pubPaths(t, p) {
		doc, body := pubRender(t, p, path)
		_, items := pubRead(t, pubSite+path, body)
		lists, tags = append(lists, strings.Join(pubList(items), " ")), append(tags, doc.ETag)
	}
	return lists, tags
}

// TestPublisherPeriods: an archive document covers a day in UTC, or less if there is too
// much.
func TestPublisherPeriods(t *testing.T) {
	s := newPubStore(t)
	at := func(day, hour, first, last int) {
		for _, r := range pubNumbered(first, last) {
			s.Clock = time.Date(2026, 1, day, hour, 0, first, 0, time.UTC)
			s.Store.Put("x", r)
		}
	}
	p := newPublisher(s, 3)
	p.ArchivePeriod = 24 * time.Hour
	at(1, 0, 1, 1)
	at(1, 23, 2, 2)
	lists, _ := pubLists(t, p)
	assert.Equal(t, []string{"/2 /1"}, lists, "the day is not over")
	s.Clock = s.Clock.AddDate(0, 0, 3)
	lists, _ = pubLists(t, p)
	assert.Equal(t, []string{"/2 /1"}, lists, "the log decides, not the clock")
	at(2, 0, 3, 3)
	at(5, 12, 4, 8)
	lists, _ = pubLists(t, p)
	assert.Equal(t, []string{"/2 /1", "/3", "/6 /5 /4", "/8 /7 /6 /5 /4"}, lists)
	before := pubPaths(t, p)
	at(5, 23, 9, 10)
	at(6, 0, 11, 11)
	lists, _ = pubLists(t, p)
	assert.Equal(t, []string{"/2 /1", "/3", "/6 /5 /4", "/9 /8 /7", "/10", "/11 /10"}, lists)
	assert.Equal(t, before[:3], pubPaths(t, p)[:3])
	requireChain(t, p)

	p = newPublisher(s, 3)
	p.ArchivePeriod, p.History = 24*time.Hour, 72*time.Hour
	lists, _ = pubLists(t, p)
	assert.Equal(t, "/11 /10 /9 /8 /7 /6 /5 /4", lists[len(lists)-1], "the last three days at least")
	for _, path := range []string{before[0], strings.Replace(before[1], "-3.atom", "-4.atom", 1), strings.Replace(before[1], "-3.atom", "-11.atom", 1)} {
		want := map[bool]error{true: websync.ErrGone, false: websync.ErrNotFound}[!strings.HasSuffix(path, "-11.atom")]
		if path == before[0] {
			want = nil
		}
		_, err := p.Document(t.Context(), path)
		require.ErrorIs(t, err, want, path)
	}
}

// TestPublisherLatestOnly: archive documents leave out what is no longer the latest state
// of its id.
func TestPublisherLatestOnly(t *testing.T) {
	s := newPubStore(t)
	s.Put("x", pubNumbered(1, 4)...)
	p := newPublisher(s, 2)
	p.LatestOnly = true
	lists, tags := pubLists(t, p)
	assert.Equal(t, []string{"/2 /1", "/4 /3", "/4 /3"}, lists)
	path := pubPaths(t, p)[0]
	doc, err := p.Document(t.Context(), path)
	require.NoError(t, err)
	assert.False(t, doc.Final)
	assert.True(t, doc.Modified.Equal(s.Clock), "the latest commit")

	s.Put("x", pubNumbered(1, 1)...)
	s.Delete("x", pubSite+"/3")
	assert.ErrorIs(t, doc.Write(t.Context(), new(strings.Builder)), websync.ErrConflict)
	after, changed := pubLists(t, p)
	assert.Equal(t, []string{"/2", "/4", "-/3 /1", "-/3 /1"}, after)
	assert.NotEqual(t, tags[0], changed[0])
	assert.Equal(t, path, pubPaths(t, p)[0])
	s.Put("x", pubNumbered(3, 3)...)
	s.Put("x", pubNumbered(2, 2)...)
	after, _ = pubLists(t, p)
	assert.Equal(t, []string{"", "/4", "/1", "/2 /3", "/2 /3"}, after, "a deletion stays until its id is published again")
	requireChain(t, p)

	generation, err := s.Compact(t.Context())
	require.NoError(t, err)
	old := pubPaths(t, p)
	require.Len(t, old, 3)
	_, body := pubRender(t, p, path)
	_, items := pubRead(t, pubSite+path, body)
	assert.Empty(t, items, "an older generation")
	s.Put("x", pubNumbered(4, 4)...)
	after, _ = pubLists(t, p)
	assert.Equal(t, []string{"/1", "/2 /3", "/4 /2 /3"}, after)
	require.NoError(t, s.Drop(t.Context(), generation))
	assert.NotEqual(t, pubPaths(t, newPublisher(s, 2))[0], pubPaths(t, p)[0], "other URLs than those of documents that never change")
}

// Long descriptions of other sources leave room for each entry, and an archive document
// stays as it is when the log goes on.
func TestPublisherArchiveBytes(t *testing.T) {
	s := newPubStore(t)
	const n = 20
	summary := func(i int) string {
		if i%2 == 0 {
			return strings.Repeat("long ", 12_000)
		}
		return strings.Repeat("fair ", 600)
	}
	for i := range n {
		s.Put("a", websync.Resource{ID: fmt.Sprint("urn:x:", i), Summary: summary(i)})
	}
	cut := 0
	place := websync.Place{Catalog: s, Base: pubSite + "/", Report: func(websync.Finding) { cut++ }}
	p := &atom.Publisher{Place: place, Author: websync.Person{Name: "A"}, ArchiveSize: n, ArchiveBytes: 100_000}
	archive := pubPaths(t, p)[0]
	_, before := pubRender(t, p, archive)
	assert.Less(t, len(before), 120_000)
	assert.Contains(t, string(before), "<summary>long ", "there is room for some")
	assert.Equal(t, n/2, bytes.Count(before, []byte("<summary>fair ")), "what is not longer than others stays")
	assert.Equal(t, n/2, cut+bytes.Count(before, []byte("<summary>long ")))
	s.Put("a", websync.Resource{ID: "urn:x:more"})
	_, after := pubRender(t, p, archive)
	assert.Equal(t, before, after)

	p = &atom.Publisher{Place: place, Author: websync.Person{Name: "A"}, ArchiveSize: n, ArchiveBytes: -1}
	unlimited := pubPaths(t, p)[0]
	assert.NotEqual(t, archive, unlimited)
	_, body := pubRender(t, p, unlimited)
	assert.Equal(t, n/2, bytes.Count(body, []byte("<summary>long ")))
}
