package eli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/testing/racing"
)

// FuzzReadPage: for all bytes, what a page describes can be read, chosen from and stored,
// and normalising it again changes nothing.
func FuzzReadPage(f *testing.F) {
	pages, err := filepath.Glob("testdata/pages/*.html")
	require.NoError(f, err)
	require.NotEmpty(f, pages)
	for _, name := range pages {
		page, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(page)
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		var subjects []string
		g, err := eli.ReadPage(page, actURI, "text/html", all, func(f websync.Finding) {
			require.Equal(t, actURI, f.Document)
			require.NotEmpty(t, f.Message)
		})
		if err != nil {
			return
		}
		for _, triple := range g.Triples() {
			if triple.Subject.Kind == rdf.KindIRI && len(subjects) < 20 {
				subjects = append(subjects, triple.Subject.Value)
			}
		}
		for _, uri := range append(subjects, actURI) {
			r, err := g.Resource(uri)
			if err != nil {
				var fault *eli.ResourceError
				require.ErrorAs(t, err, &fault)
				continue
			}
			for _, p := range []eli.Preferences{{}, {AllLanguages: true}, {AllFormats: true}, {Strict: true, AllFormats: true, AllLanguages: true}} {
				for _, list := range r.FullText(p) {
					require.NotEmpty(t, list)
					for _, c := range list {
						require.NoError(t, rdf.IRI(c.URL).Check())
						require.NotEmpty(t, c.Step)
					}
				}
			}
		}
		require.Equal(t, g.Triples(), eli.NewGraph(g.Triples(), nil).Triples())
		var b bytes.Buffer
		require.NoError(t, g.WriteQuads(&b, actURI))
		held, _, err := eli.ReadGraph(&b)
		require.NoError(t, err)
		require.Equal(t, len(g.Triples()), len(held.Triples()))
	})
}

// Graphs in which many things link to the same ones. Each takes some milliseconds; what
// is quadratic would take minutes.
func TestManyLinks(t *testing.T) {
	racing.Skip(t)
	const n = 30_000
	iri := func(format string, a ...any) rdf.Term {
		return rdf.IRI("https://law.example/" + fmt.Sprintf(format, a...))
	}
	term := func(name string) rdf.Term { return rdf.IRI(eli.Ontology + name) }
	act, file := iri("1"), iri("file")
	for name, add := range map[string]func(add func(s rdf.Term, name string, o rdf.Term)){
		"expressions of one format": func(add func(s rdf.Term, name string, o rdf.Term)) {
			for i := range n {
				add(act, "is_realized_by", iri("x%d", i))
				add(iri("x%d", i), "is_embodied_by", file)
				add(file, "media_type", rdf.Text("text/html", ""))
				add(file, "media_type", rdf.Text(fmt.Sprint("text/x", i), ""))
				add(file, "is_exemplified_by", iri("file%d", i))
			}
		},
		"titles": func(add func(s rdf.Term, name string, o rdf.Term)) {
			for i := range n {
				add(act, "title", rdf.Text(fmt.Sprint("Act ", i), "en"))
				add(iri("en"), "realizes", act)
				add(iri("en"), "title", rdf.Text(fmt.Sprint("Act ", i), "en"))
			}
		},
		"members": func(add func(s rdf.Term, name string, o rdf.Term)) {
			for i := range n {
				add(iri("%d", i), "is_member_of", act)
				add(act, "has_member", iri("%d", i))
			}
		},
		"variants": func(add func(s rdf.Term, name string, o rdf.Term)) {
			for i := range n {
				add(iri("%d/", i+2), "cites", act)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var triples []rdf.Triple
			add(func(s rdf.Term, name string, o rdf.Term) {
				triples = append(triples, rdf.Triple{Subject: s, Predicate: term(name), Object: o})
			})
			findings := 0
			g := eli.NewGraph(triples, func(websync.Finding) { findings++ })
			r, err := g.Resource(act.Value)
			if name == "variants" {
				assert.ErrorIs(t, err, eli.ErrNotDescribed)
				return
			}
			require.NoError(t, err)
			assert.LessOrEqual(t, len(r.AllTitles()), n)
			lists := r.FullText(eli.Preferences{AllLanguages: true, AllFormats: true})
			assert.LessOrEqual(t, len(lists), n)
			assert.LessOrEqual(t, findings, 200)
		})
	}
}

func TestRules(t *testing.T) {
	names := make(map[string]bool)
	for _, r := range eli.Rules() {
		assert.NotEmpty(t, r.Summary)
		assert.NotEmpty(t, r.Section)
		assert.False(t, names[r.Name])
		names[r.Name] = true
	}
}
