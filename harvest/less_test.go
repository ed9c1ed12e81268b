package harvest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// enriching is a Getter that adds a summary to what is stated.
type enriching struct{ harvest.Source }

func (enriching) Get(ctx context.Context, job *harvest.Job) error {
	job.Resource.Summary = "by Get"
	return job.Content(ctx)
}

// TestTheSameStateInOtherWords lists one state with more and with less detail, in turns.
func TestTheSameStateInOtherWords(t *testing.T) {
	at := day(3)
	digested := put("a", at)
	digested.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte("a"))}
	digested.Resource.Content.Length, digested.Resource.Content.Type = 1, "text/plain"
	both := digested
	both.Resource.Title = "a title"
	coarse := put("a", at.WithPrecision(websync.PrecisionDay))
	untimed := digested
	untimed.Resource.Modified = websync.Datetime{}
	for name, test := range map[string]struct {
		list, change harvest.Event
		digest       bool
		title        string
	}{
		"no digest":           {digested, put("a", at), true, ""},
		"no title":            {titled("a", at, "a title"), put("a", at), false, "a title"},
		"no digest, no title": {both, put("a", at), true, "a title"},
		"a digest or a title": {digested, titled("a", at, "a title"), true, "a title"},
		"a coarser time":      {both, coarse, true, "a title"},
		"no time":             {digested, untimed, true, ""},
	} {
		for order, reversed := range map[string]bool{"list first": false, "change first": true} {
			for kind, source := range map[string]func(harvest.Source) harvest.Source{
				"fetched": func(s harvest.Source) harvest.Source { return s },
				"got":     func(s harvest.Source) harvest.Source { return enriching{s} },
			} {
				t.Run(name+"/"+order+"/"+kind, func(t *testing.T) {
					w := newWorld(t)
					w.page("a")
					rounds := []harvest.Source{source(snapshot(test.list)), source(harvest.Of(src, test.change))}
					if reversed {
						rounds[0], rounds[1] = source(snapshot(test.change)), source(harvest.Of(src, test.list))
					}
					for range 2 {
						w.run(rounds[0])
						w.run(rounds[1])
					}
					require.LessOrEqual(t, len(w.log()), 2)
					w.steady(rounds[0])
					w.steady(rounds[1])
					rec := w.record("a")
					_, ok := rec.Resource.Content.Digests.Strongest()
					require.Equal(t, test.digest, ok)
					require.Equal(t, test.title, rec.Resource.Title)
				})
			}
		}
	}
}

// TestLessAtALaterTime: what a later description no longer states is removed.
func TestLessAtALaterTime(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(snapshot(titled("a", day(1), "a title")))
	w.run(snapshot(put("a", day(2))))
	require.Empty(t, w.record("a").Resource.Title)
}

// TestOtherBytesAtTheSameTime: length and digest of the old bytes do not stay for the new
// ones.
func TestOtherBytesAtTheSameTime(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	digested := put("a", day(1))
	digested.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte("a"))}
	w.run(harvest.Of(src, digested))
	w.page("a", "new")
	next := put("a", day(1))
	next.Resource.Content.Length = 5
	require.EqualValues(t, 1, w.run(harvest.Of(src, next)).Updated)
	require.Equal(t, map[string]string{"a": "a new"}, w.live())
	require.Empty(t, w.record("a").Resource.Content.Digests)
}

// TestTaskKnowsMore lists the state of a waiting task again, with less detail.
func TestTaskKnowsMore(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.list(snapshot(titled("a", day(1), "a title")))
	w.list(harvest.Of(src, put("a", day(1))))
	w.work(harvest.Of(src))
	require.Equal(t, "a title", w.record("a").Resource.Title)
}
