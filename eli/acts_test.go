package eli_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// actQuads returns the metadata of an act as a Source stores it.
func actQuads(t *testing.T, uri, title string) string {
	var b strings.Builder
	graph := eli.NewGraph([]rdf.Triple{
		{Subject: rdf.IRI(uri), Predicate: rdf.IRI(rdf.Type), Object: rdf.IRI(eli.Ontology + "LegalResource")},
		{Subject: rdf.IRI(uri), Predicate: rdf.IRI(eli.Ontology + "title"), Object: rdf.Term{Kind: rdf.KindLiteral, Value: title}},
	}, nil)
	require.NoError(t, graph.WriteQuads(&b, uri))
	return b.String()
}

// actsOf returns the titles of acts and the errors, each with its type.
func actsOf(ctx context.Context, c websync.Catalog, sources ...string) (all []string) {
	for act, err := range eli.Acts(ctx, c, sources...) {
		one, is := errors.AsType[*eli.ActError](err)
		switch {
		case is:
			all = append(all, "ActError "+one.URI)
		case err != nil:
			all = append(all, err.Error())
		default:
			all = append(all, act.Titles[0].Value)
		}
	}
	return all
}

func TestActs(t *testing.T) {
	s := testkit.NewStore(t)
	put := func(source, uri, quads string, bodies ...string) {
		item := websync.Item{Resource: websync.Resource{ID: uri}}
		for _, name := range bodies {
			item.Bodies = append(item.Bodies, websync.Body{Name: name, Key: websync.SHA256([]byte(quads))})
		}
		var texts []string
		if len(bodies) > 0 {
			texts = []string{quads}
		}
		s.Fill(source, texts, item)
	}
	put("a", "https://x.example/1", actQuads(t, "https://x.example/1", "One"), "graph", "content")
	put("a", "https://x.example/2", "no quads", "graph")
	put("a", "https://x.example/3", actQuads(t, "https://x.example/other", "Other"), "graph")
	put("a", "https://x.example/4", "")
	put("a", "https://x.example/5", "text", "content")
	put("b", "https://x.example/6", actQuads(t, "https://x.example/6", "Six"), "graph")
	put("a", "https://x.example/7", actQuads(t, "https://x.example/7", "Seven"), "graph")
	put("a", "https://x.example/8", actQuads(t, "https://x.example/8", "Eight"), "graph")
	s.Delete("a", "https://x.example/7")

	faults := []string{"ActError https://x.example/2", "ActError https://x.example/3", "ActError https://x.example/4", "ActError https://x.example/5"}
	want := append(append([]string{"One"}, faults...), "Six", "Eight")
	assert.Equal(t, want, actsOf(t.Context(), s))
	assert.Equal(t, append(append([]string{"One"}, faults...), "Eight"), actsOf(t.Context(), s, "a"))
	assert.Equal(t, want, actsOf(t.Context(), s, "b", "a"))
	assert.Empty(t, actsOf(t.Context(), s, "c"))

	errs := map[string]error{}
	for act, err := range eli.Acts(t.Context(), s) {
		if one, ok := errors.AsType[*eli.ActError](err); ok {
			assert.Nil(t, act)
			errs[one.URI[len(one.URI)-1:]] = err
		}
	}
	var parse *websync.ParseError
	assert.ErrorAs(t, errs["2"], &parse)
	assert.ErrorIs(t, errs["3"], eli.ErrNotDescribed)
	assert.ErrorIs(t, errs["4"], websync.ErrNotFound)
	assert.ErrorIs(t, errs["5"], websync.ErrNotFound)

	for range eli.Acts(t.Context(), s) {
		break // releases everything
	}
}

// An error of the Catalog ends the loop.
func TestActsOfABrokenCatalog(t *testing.T) {
	s := testkit.NewStore(t)
	for i := range 3 {
		uri := fmt.Sprint("https://x.example/", i)
		quads := actQuads(t, uri, fmt.Sprint("Act ", i))
		s.Fill("a", []string{quads}, websync.Item{Resource: websync.Resource{ID: uri}, Bodies: []websync.Body{{Name: "graph", Key: websync.SHA256([]byte(quads))}}})
	}
	down := errors.New("down")
	for method, want := range map[string][]string{
		"Resources": {"Act 0", "eli: the catalog: down"},
		"Open":      {"Act 0", "eli: the catalog: the metadata of https://x.example/1: down"},
	} {
		c := &testkit.Catalog{Catalog: s, Before: func(m string, n int) error {
			if m == method && n == 2 {
				return down
			}
			return nil
		}}
		assert.Equal(t, want, actsOf(t.Context(), c), method)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range eli.Acts(ctx, s) {
		if n++; n == 1 {
			require.NoError(t, err)
			cancel()
			continue
		}
		require.ErrorIs(t, err, context.Canceled)
		_, one := errors.AsType[*eli.ActError](err)
		require.False(t, one)
	}
	require.Equal(t, 2, n)
}
