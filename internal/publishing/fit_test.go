package publishing_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
)

// fitted returns what a Site with a limit lists for resources of the sources "own" and
// "other", its findings, and what it refuses.
func fitted(t *testing.T, limit int, source string, resources ...websync.Resource) (listed []websync.Resource, found []websync.Finding, refused []string) {
	t.Helper()
	log := new(websync.Log)
	for _, r := range resources {
		log.Append(websync.Item{Source: source, Kind: websync.Created, Resource: r})
	}
	s := publishing.New(publishing.Settings{Package: "test", Path: "list.xml", Place: websync.Place{
		Catalog: log, Base: "https://example.org/", Own: []string{"own"}, MaxDescription: limit,
		Report: func(f websync.Finding) { found = append(found, f) },
	}})
	require.NoError(t, s.Err)
	for range 2 {
		listed, refused = nil, nil
		refuse := func(item *websync.Item, why error) {
			refused = append(refused, fmt.Sprint(item.Resource.ID, ": ", why))
		}
		for item, err := range s.Resources(context.Background(), websync.Range{}, refuse) {
			require.NoError(t, err)
			listed = append(listed, item.Resource)
		}
	}
	return listed, found, refused
}

// TestLongDescriptions: what does not fit is left out, the least important first, and is
// reported once. What is needed stays.
func TestLongDescriptions(t *testing.T) {
	long := func(n int) string { return strings.Repeat("ü", n/2) }
	element := func(n int) websync.Element { return websync.Element{Local: "x", XML: "<x>" + long(n) + "</x>"} }
	content := websync.Link{Href: "https://other.example/a", Type: "text/plain"}
	via := websync.Link{Rel: "via", Href: "https://first.example/a", Title: long(9000), Digests: websync.Digests{websync.SHA256(nil)}}
	slim := via
	slim.Title = ""
	small, described := element(10), websync.Link{Rel: "describedby", Href: "https://other.example/d"}
	related := websync.Link{Rel: "related", Href: "https://other.example/" + long(6000)}
	r := websync.Resource{
		ID: "https://other.example/a", Title: "Title", Summary: long(1000), Content: content, Published: websync.NewDatetime(time.Unix(1e9, 0)),
		Links: []websync.Link{related, described, via}, Elements: []websync.Element{element(60_000), small},
		Authors: []websync.Person{{Name: "A"}}, Origin: &websync.Origin{ID: "urn:x"},
	}
	few, one := []websync.Link{described, slim}, []websync.Element{small}
	for name, c := range map[string]struct {
		limit  int
		source string
		change func(r, want *websync.Resource)
		left   string
	}{
		"it fits":         {1 << 20, "other", func(_, _ *websync.Resource) {}, ""},
		"there is none":   {-1, "other", func(_, _ *websync.Resource) {}, ""},
		"own work":        {0, "own", func(_, _ *websync.Resource) {}, ""},
		"an element":      {0, "other", func(_, w *websync.Resource) { w.Links, w.Elements = []websync.Link{related, described, slim}, one }, "elements"},
		"a link, as well": {3000, "other", func(_, w *websync.Resource) { w.Links, w.Elements = few, one }, "links, elements"},
		"the summary":     {1000, "other", func(_, w *websync.Resource) { w.Summary, w.Links, w.Elements = "", few, one }, "summary, links, elements"},
		"a title": {3000, "other", func(r, w *websync.Resource) {
			r.Title = long(5000)
			w.Title, w.Links, w.Elements = strings.Repeat("ü", 510)+"…", few, one
		}, "title, links, elements"},
	} {
		t.Run(name, func(t *testing.T) {
			of, want := r, r
			c.change(&of, &want)
			listed, found, refused := fitted(t, c.limit, c.source, of)
			assert.Empty(t, refused)
			assert.Equal(t, []websync.Resource{want}, listed)
			if c.left == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1, "once")
			assert.Equal(t, r.ID, found[0].Value)
			assert.Contains(t, found[0].Message, "what does not fit is left out ("+c.left+")")
		})
	}
	needed := r
	needed.ID, needed.Links = "https://other.example/b", slices.Repeat([]websync.Link{{Rel: "via", Href: long(1000)}}, 100)
	listed, _, refused := fitted(t, 8000, "other", needed)
	assert.Empty(t, refused, "a few links via are enough")
	assert.LessOrEqual(t, listed[0].Size(), 8000)
	needed.Content.Href += long(70_000)
	listed, _, refused = fitted(t, 0, "other", needed, r)
	assert.Len(t, listed, 1)
	const why = ": its id, its content's URL and the links that it needs are longer than Publisher.MaxDescription"
	assert.Equal(t, []string{needed.ID + why}, refused)
}
