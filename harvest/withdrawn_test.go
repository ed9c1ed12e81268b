package harvest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// withContent returns a put with inline content, without returns one that states none.
func withContent(title, text string, modified websync.Datetime) harvest.Event {
	e := without(title, modified)
	e.Resource.Content.Type, e.Open = "text/plain", harvest.OpenBytes([]byte(text))
	e.Tag = websync.SHA256([]byte(text)).String()
	return e
}

func without(title string, modified websync.Datetime) harvest.Event {
	e := put("a", modified)
	e.Resource.Title, e.Resource.Content = title, websync.Link{}
	return e
}

// TestWithdrawnContent: a new description replaces the bodies that it no longer states.
func TestWithdrawnContent(t *testing.T) {
	linked := put("a", day(1))
	untyped := withContent("one", "secret", day(1))
	untyped.Resource.Content.Type, untyped.Tag = "", ""
	for name, test := range map[string]struct{ first, then harvest.Event }{
		"inline":                          {withContent("one", "secret", day(1)), without("two", day(2))},
		"inline, at the same time":        {withContent("one", "secret", day(1)), without("one", day(1))},
		"inline, with the same words":     {untyped, without("one", day(1))},
		"linked":                          {linked, without("", day(2))},
		"linked, at the same time":        {linked, without("", day(1))},
		"linked, with a time stated late": {put("a", websync.Datetime{}), without("", day(1))},
	} {
		for kind, source := range map[string]func(...harvest.Event) harvest.Source{
			"snapshot": snapshot,
			"log":      func(events ...harvest.Event) harvest.Source { return harvest.Of(src, events...) },
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				w := newWorld(t)
				w.page("a")
				w.run(source(test.first))
				require.NotEqual(t, map[string]string{"a": "-"}, w.live())
				then := source(test.then)
				r := w.audit(then)
				require.EqualValues(t, 1, r.Differences())
				require.EqualValues(t, 1, w.run(then).Updated)
				require.Empty(t, w.record("a").Bodies)
				require.Equal(t, test.then.Resource.Title, w.record("a").Resource.Title)
				n := len(w.log())
				require.EqualValues(t, 1, w.run(then).Unchanged)
				require.Len(t, w.log(), n)

				w.run(source(test.first))
				if test.first.Resource.Modified == test.then.Resource.Modified {
					require.Len(t, w.record("a").Bodies, 1, "stated again")
				}
			})
		}
	}
}

// TestSkippedBodiesAreNotTakenForNew changes a resource while bodies are skipped.
func TestSkippedBodiesAreNotTakenForNew(t *testing.T) {
	w := newWorld(t)
	w.page("a")
	w.run(snapshot(put("a", day(1))))
	w.page("a", "new")
	w.h.Bodies = harvest.SkipBodies
	list := snapshot(put("a", day(2)))
	require.EqualValues(t, 1, w.run(list).Updated)
	require.Equal(t, map[string]string{"a": "-"}, w.live(), "the old bytes are not those of the new state")
	require.EqualValues(t, 1, w.run(list).Unchanged)
	w.h.Bodies = harvest.KeepBodies
	require.EqualValues(t, 1, w.run(list).Updated)
	require.Equal(t, map[string]string{"a": "a new"}, w.live())
}
