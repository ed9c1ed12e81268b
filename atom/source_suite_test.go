package atom_test

import (
	"maps"
	"testing"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
)

// pageOf returns an entry with an alternate link to a page of its own.
func pageOf(id string, at int) string { return entryOf(id, at, linkTo("alternate", "page/"+id)) }

// inlineOf returns an entry with inline content.
func inlineOf(id string, at int, text string) string {
	return entryOf(id, at, "<content>"+text+"</content>")
}

// withPages adds the pages that entries link to.
func withPages(states ...map[string]string) (sites []sourcetest.Site) {
	for _, docs := range states {
		docs = maps.Clone(docs)
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			docs["page/"+id] = "page " + id
		}
		sites = append(sites, siteOf(docs))
	}
	return sites
}

func windowStates() []sourcetest.Site {
	return withPages(
		map[string]string{"feed": feedOf(pageOf("b", 2), pageOf("a", 1))},
		map[string]string{"feed": feedOf(tombstoneOf("b", 5), inlineOf("f", 4, "x"), pageOf("c", 3), pageOf("a", 1))},
		map[string]string{"feed": feedOf(pageOf("b", 7), tombstoneOf("e", 6), inlineOf("f", 6, "y"))},
	)
}

func completeStates() []sourcetest.Site {
	return withPages(
		map[string]string{"feed": feedOf(isComplete, pageOf("b", 2), pageOf("a", 1), inlineOf("f", 1, "x"))},
		map[string]string{"feed": feedOf(isComplete, pageOf("c", 3), pageOf("a", 1), inlineOf("f", 1, "y"))},
		map[string]string{"feed": feedOf(isComplete, pageOf("c", 3), pageOf("b", 9))},
	)
}

func archiveStates() []sourcetest.Site {
	one := map[string]string{
		"feed": feedOf(prev("2"), inlineOf("f", 22, "x"), pageOf("a", 21)),
		"2":    feedOf(isArchive, prev("1"), tombstoneOf("b", 12), pageOf("c", 11)),
		"1":    feedOf(isArchive, pageOf("b", 3), pageOf("a", 2), pageOf("d", 1)),
	}
	two := maps.Clone(one)
	two["4"] = feedOf(isArchive, prev("3"), pageOf("e", 42), tombstoneOf("c", 41))
	two["3"] = feedOf(isArchive, prev("2"), pageOf("b", 31), inlineOf("f", 22, "x"), pageOf("a", 21))
	two["feed"] = feedOf(prev("4"), tombstoneOf("a", 52), inlineOf("f", 51, "y"))
	three := map[string]string{ // another chain, with the latest state of each
		"feed":  feedOf(prev("new/2"), pageOf("a", 61), inlineOf("f", 51, "y")),
		"new/2": feedOf(isArchive, prev("new/1"), tombstoneOf("a", 52), pageOf("e", 42), tombstoneOf("c", 41)),
		"new/1": feedOf(isArchive, pageOf("b", 31), pageOf("d", 1)),
	}
	return withPages(one, two, three)
}

func pagedStates() []sourcetest.Site {
	next := func(path string) string { return linkTo("next", path) }
	return withPages(
		map[string]string{
			"feed": feedOf(next("2"), pageOf("d", 6), pageOf("c", 5)),
			"2":    feedOf(next("3"), inlineOf("f", 4, "x"), tombstoneOf("b", 3)),
			"3":    feedOf(pageOf("b", 2), pageOf("a", 1)),
		},
		map[string]string{
			"feed": feedOf(next("2"), pageOf("b", 12), inlineOf("f", 11, "y")),
			"2":    feedOf(next("3"), tombstoneOf("c", 10), pageOf("d", 6)),
			"3":    feedOf(pageOf("a", 1)),
		},
	)
}

func TestSourceConformance(t *testing.T) {
	for name, sites := range map[string][]sourcetest.Site{
		"window": windowStates(), "complete": completeStates(), "archive": archiveStates(), "pages": pagedStates(),
	} {
		t.Run(name, func(t *testing.T) {
			sourcetest.Run(t, sourcetest.Options{
				Source:    func() harvest.Source { return &atom.Source{URL: feedURL} },
				Sites:     sites,
				Store:     func(testing.TB) harvest.Store { return memstore.New() },
				Positions: racing.Some(20),
			})
		})
	}
	t.Run("kept", func(t *testing.T) {
		dir := t.TempDir()
		sourcetest.Run(t, sourcetest.Options{
			Source: func() harvest.Source { return &atom.Source{URL: feedURL, Dir: dir} },
			Sites:  archiveStates(), Bodies: harvest.SkipBodies,
			Store:     func(testing.TB) harvest.Store { return memstore.New() },
			Positions: racing.Some(6),
		})
	})
	t.Run("redirects", func(t *testing.T) {
		sites := archiveStates()
		for _, s := range sites {
			s[www+"moved"], s[feedURL] = s[feedURL], sourcetest.Document{Location: "/moved"}
		}
		sourcetest.Run(t, sourcetest.Options{
			Source: func() harvest.Source { return &atom.Source{URL: feedURL} },
			Sites:  sites, Bodies: harvest.SkipBodies, Positions: racing.Some(6),
			Store: func(testing.TB) harvest.Store { return memstore.New() },
		})
	})
}
