package harvest_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// documents is a Source of one complete snapshot in documents.
type documents []listDoc

type listDoc struct {
	name string
	made time.Time
	puts []harvest.Event
}

func (l documents) Key() string { return src }

func (l documents) Events(ctx context.Context, run *harvest.Run) iter.Seq2[harvest.Event, error] {
	var all []harvest.Event
	for _, d := range l {
		all = append(all, d.puts...)
		doc := harvest.ListedDocument{URL: base + d.name, Entries: int64(len(d.puts)), Made: d.made}
		for _, e := range d.puts {
			h := fnv.New64a()
			fmt.Fprint(h, e.Resource.ID, e.Resource.Modified)
			doc.Sum += h.Sum64()
			if e.Resource.Modified.After(doc.Newest) || doc.Newest.IsZero() {
				doc.Newest = e.Resource.Modified
			}
		}
		run.Document(doc)
	}
	return snapshot(all...).Events(ctx, run)
}

// dated returns puts with these numbers, each changed on the day of its number.
func dated(numbers ...int) (events []harvest.Event) {
	for _, n := range numbers {
		events = append(events, put(fmt.Sprint("page-", n), day(n)))
	}
	return events
}

// TestDocumentsInDoubt: nothing is deleted because of a document that is not plausible.
func TestDocumentsInDoubt(t *testing.T) {
	one, two := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, []int{13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25}
	at := func(hour int) time.Time { return time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC) }
	doc := func(name string, numbers ...int) listDoc { return listDoc{name: name, puts: dated(numbers...)} }
	made := func(hour int, d listDoc) listDoc { d.made = at(hour); return d }
	three := doc("three", 31, 32, 33, 34, 35, 36, 37, 38, 39)
	whole := documents{doc("one", one...), doc("two", two...), three}
	for name, test := range map[string]struct {
		before, now documents
		why         string // empty: the records are deleted
	}{
		"plausible": {now: documents{doc("one", one...), doc("two", two[2:]...), three}},
		"empty":     {now: documents{doc("one"), doc("two", two...), three}, why: "one had 12 entries and has none"},
		"was always empty": {
			before: documents{doc("none"), doc("one", one...)}, now: documents{doc("none"), doc("one", one[1:]...)},
		},
		"the same as its sibling":   {now: documents{doc("one", two...), doc("two", two...), three}, why: "one lists the same as https://example.org/two"},
		"the same as the one after": {now: documents{doc("one", one...), doc("two", one...), three}, why: "two lists the same as https://example.org/one"},
		"reordered": {
			now: documents{doc("one", one...), doc("two", 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1), three}, why: "two lists the same as https://example.org/one",
		},
		"the same as before, both": {
			before: documents{doc("one", one...), doc("again", one...), doc("two", two...)},
			now:    documents{doc("one", one...), doc("again", one...), doc("two", two[1:]...)},
		},
		"lost too many": {now: documents{doc("one", one[7:]...), doc("two", two...), three}, why: "one had 12 entries and has 5"},
		"moved to the other": {
			now: documents{doc("one", one[8:]...), doc("two", append(one[:7:7], two...)...), three},
		},
		"older":                         {now: documents{doc("one", one...), doc("two", two[:11]...), three}, why: "two is older than the one that was read before"},
		"its newest has moved, changed": {now: documents{doc("one", one[1:11]...), {"two", time.Time{}, append(dated(two...), put("page-12", day(40)))}, three}},
		"its newest is as it was":       {now: documents{doc("one", one...), {"two", time.Time{}, append(dated(two[1:12]...), put("page-25", day(20)))}, three}, why: "two is older"},
		"no longer listed":              {now: documents{doc("two", two...), three}, why: "a document of 12 entries is no longer part of the listing"},
		"no longer listed, a small one": {now: documents{doc("one", one...), doc("two", two...)}},
		"renamed":                       {now: documents{doc("1", one[1:]...), doc("2", two[4:]...), doc("3", 31, 32, 33, 34, 35)}},
		"joined with another":           {now: documents{doc("two", append(one[2:12:12], two...)...), three}},
		"others have come":              {now: documents{doc("one", one...), doc("two", append(two[1:11:11], 26)...), three}},
		"the newest was removed":        {before: documents{made(1, whole[0]), made(1, whole[1])}, now: documents{made(1, whole[0]), made(2, doc("two", two[:12]...))}},
		"made before":                   {before: documents{made(1, whole[0]), made(2, whole[1])}, now: documents{made(1, whole[0]), made(1, doc("two", two[:12]...))}, why: "two is older"},
		"made before, without times":    {before: documents{{"one", at(2), numbered(0, 12)}}, now: documents{{"one", at(1), numbered(0, 11)}}, why: "one is older"},
		"made before, and newer inside": {before: documents{made(2, whole[1])}, now: documents{made(1, doc("two", append(two[1:13:13], 27)...))}},
	} {
		t.Run(name, func(t *testing.T) {
			w := describing(t)
			before := test.before
			if before == nil {
				before = whole
			}
			w.run(before)
			held := len(w.live())
			if test.why == "" {
				planned, r := w.plan(test.now), w.run(test.now)
				require.Nil(t, r.Guard)
				require.Positive(t, r.Deleted)
				require.Equal(t, r.Deleted, planned.Deleted)
				return
			}
			for range 2 { // the doubt does not become the truth
				planned, r := w.plan(test.now), w.run(test.now)
				require.NotNil(t, r.Guard)
				require.Equal(t, "document", r.Guard.Rule)
				require.Contains(t, r.Guard.Message, test.why)
				require.Equal(t, r.Guard, planned.Guard)
				require.Zero(t, r.Deleted)
				require.False(t, r.InStep())
				require.Len(t, w.live(), held)
			}
			healed := w.run(before)
			require.True(t, healed.InStep())
			require.Empty(t, w.tasks())
			withheld := w.run(test.now).Withheld
			require.Equal(t, withheld, w.approve().Deleted)
			require.True(t, w.run(test.now).InStep(), "it was approved")
		})
	}
}

// TestDocumentNotesAreAdvisory: notes that are damaged are as good as none.
func TestDocumentNotesAreAdvisory(t *testing.T) {
	w := describing(t)
	w.run(documents{{name: "one", puts: dated(1, 2, 3)}})
	const key = "harvest/documents/" + src
	value, err := w.store.State(t.Context(), key)
	require.NoError(t, err)
	require.NoError(t, w.store.Swap(t.Context(), key, value, value[:10]))
	require.EqualValues(t, 1, w.run(documents{{name: "one", puts: dated(1, 2)}}).Deleted)
	require.Equal(t, websync.Deleted, w.record("page-3").Kind)
}

// TestDocumentNotesWhileWithheld: a document that was right while another was in doubt is
// the one that later ones are compared with.
func TestDocumentNotesWhileWithheld(t *testing.T) {
	w := describing(t)
	doc := func(name string, numbers ...int) listDoc { return listDoc{name: name, puts: dated(numbers...)} }
	w.run(documents{doc("one", 1, 2, 3, 4), doc("two", 5, 6), doc("three", 7)})
	require.NotNil(t, w.run(documents{doc("one", 1, 2), doc("two", 5, 9), doc("three", 7)}).Guard)
	r := w.run(documents{doc("one", 1, 2, 3, 4), doc("two", 5), doc("three", 7)})
	require.Contains(t, r.Guard.Message, "two is older")
	require.True(t, w.run(documents{doc("one", 1, 2, 3, 4), doc("two", 5, 9), doc("three", 7)}).InStep())
}

// TestOlderDocumentForAWeek: what is in doubt as an older copy for a week is none.
func TestOlderDocumentForAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := describing(t)
		doc := func(numbers ...int) documents { return documents{{name: "one", puts: dated(numbers...)}} }
		w.run(doc(1, 2, 3, 4))
		for range 7 {
			require.NotNil(t, w.run(doc(1, 2, 3)).Guard)
			time.Sleep(24 * time.Hour)
		}
		require.NotNil(t, w.run(doc(1, 2)).Guard, "another one")
		time.Sleep(6 * 24 * time.Hour)
		require.NotNil(t, w.run(doc(1, 2)).Guard)
		time.Sleep(24 * time.Hour)
		r := w.run(doc(1, 2))
		require.True(t, r.InStep())
		require.EqualValues(t, 2, r.Deleted)
		require.Empty(t, w.tasks())
		require.EqualValues(t, 1, w.run(doc(1)).Withheld, "the note is that of the last one")

		time.Sleep(time.Second)
		made := doc(1)
		made[0].made = time.Now()
		r = w.run(made)
		require.True(t, r.InStep(), "it was made after the other one was read")
		require.EqualValues(t, 1, r.Deleted)
	})
}
