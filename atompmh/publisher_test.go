package atompmh_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atompmh"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// newPublisher returns a Publisher whose source "own" is its own.
func newPublisher(c websync.Catalog, size int) *atom.Publisher {
	p := &atom.Publisher{Profile: atompmh.Profile(), Place: websync.Place{Catalog: c, Base: www}, Author: websync.Person{Name: "Archive"}, ArchiveSize: size}
	p.Locator = websync.PathLocator{Base: www, Own: []string{"own"}, Reserved: p.Reserved}
	return p
}

// kept returns a body that is kept, with its name as bytes.
func kept(name, mediaType string) websync.Body {
	key := websync.SHA256([]byte(name))
	return websync.Body{Name: name, Key: key, Link: websync.Link{Type: mediaType, Length: int64(len(name)), Digests: websync.Digests{key}}}
}

func render(t require.TestingT, p websync.Publisher, path string) (*websync.Document, []byte) {
	doc, err := p.Document(context.Background(), path)
	require.NoError(t, err, path)
	var b bytes.Buffer
	require.NoError(t, doc.Write(context.Background(), &b), path)
	return doc, b.Bytes()
}

func paths(t require.TestingT, p websync.Publisher) (all []string) {
	for path, err := range p.Documents(context.Background()) {
		require.NoError(t, err)
		all = append(all, path)
	}
	return all
}

// requireValid checks each document and the whole chain: nothing may be wrong with them.
func requireValid(t require.TestingT, p *atom.Publisher) atom.ChainSummary {
	report := func(f websync.Finding) {
		if f.Severity > websync.SeverityInfo {
			assert.Fail(t, f.String())
		}
	}
	v := atompmh.NewChainValidator()
	v.Report = report
	sum := v.Walk(p.URL(), func(url string) (io.ReadCloser, error) {
		_, body := render(t, p, strings.TrimPrefix(url, strings.TrimSuffix(www, "/")))
		return io.NopCloser(bytes.NewReader(body)), nil
	})
	require.True(t, sum.Whole)
	for _, path := range paths(t, p) {
		_, body := render(t, p, path)
		_, err := atompmh.Validate(bytes.NewReader(body), atom.ValidateOptions{Document: www + path[1:], Report: report})
		require.NoError(t, err)
	}
	return sum
}

// gallery fills a store with records of all sorts.
func gallery(t *testing.T) *testkit.Store {
	s := testkit.NewStore(t)
	fill := func(source string, r websync.Resource, bodies ...websync.Body) {
		var texts []string
		for _, b := range bodies {
			texts = append(texts, b.Name)
		}
		s.Fill(source, texts, websync.Item{Resource: r, Bodies: bodies})
	}
	fill("own", websync.Resource{ID: www + "1", Title: "One", Summary: "The first"}, kept("content", "application/xml"),
		kept("alternate application/rdf+xml", "application/rdf+xml"), kept("graph", ""))
	fill("own", websync.Resource{ID: www + "2", Title: "Two", Links: []websync.Link{
		{Rel: "alternate", Href: "https://elsewhere.example.org/2", Type: "text/html"}, {Rel: "related", Href: www + "1"},
	}}, kept("content", "message/rfc822"), kept("alternate message/rfc822 2", "message/rfc822"))
	fill("found", websync.Resource{ID: "urn:ex:3", Title: "Three", Content: websync.Link{Href: "https://elsewhere.example.org/3"},
		Links: []websync.Link{{Rel: "alternate", Href: "https://elsewhere.example.org/3.pdf", Type: "application/pdf"}}})
	fill("found", websync.Resource{ID: "urn:ex:4"}, kept("content", "text/plain"))
	fill("found", websync.Resource{ID: "urn:ex:4", Title: "No bodies"})
	fill("found", websync.Resource{ID: "https://elsewhere.example.org/5"})
	s.Delete("own", www+"2")
	return s
}

func TestPublisher(t *testing.T) {
	s := gallery(t)
	for name, set := range map[string]func(*atom.Publisher){
		"archive":  func(*atom.Publisher) {},
		"latest":   func(p *atom.Publisher) { p.LatestOnly = true },
		"complete": func(p *atom.Publisher) { p.Complete = true },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPublisher(s, 3)
			p.Title, p.ID, p.Hubs = "Records", "tag:example.com,2026:records", []string{"https://hub.example.com/"}
			p.Report = func(f websync.Finding) { assert.Fail(t, f.String()) }
			set(p)
			require.NoError(t, p.Check())
			for i, path := range paths(t, p) {
				_, body := render(t, p, path)
				testkit.Golden(t, fmt.Sprintf("testdata/publisher/%s-%d.xml", name, i+1), body)
				r := atom.NewReader(bytes.NewReader(body))
				for _, err := range r.All() {
					require.NoError(t, err)
				}
				for _, rel := range []string{"self", "current"} {
					_, ok := r.Feed().Link(rel)
					assert.True(t, ok, rel)
				}
				assert.Equal(t, p.Complete, r.Feed().Complete)
			}
			requireValid(t, p)
		})
	}
	assert.ErrorContains(t, (&atom.Publisher{Profile: atompmh.Profile(), Place: websync.Place{Catalog: s, Base: www}}).Check(), "author")

	described := testkit.NewStore(t) // and not kept
	elsewhere := websync.Link{Rel: "alternate", Href: "https://elsewhere.example.org/1", Type: "text/html"}
	described.Fill("found", nil, websync.Item{
		Resource: websync.Resource{ID: "urn:ex:1", Links: []websync.Link{elsewhere}}, Bodies: []websync.Body{{Name: "content", Link: elsewhere}},
	})
	_, body := render(t, newPublisher(described, 3), "/feed.atom")
	assert.Contains(t, string(body), `<link rel="alternate" href="https://elsewhere.example.org/1" type="text/html"/>`)
	p := &atom.Publisher{Profile: atompmh.Profile(), Place: websync.Place{Catalog: s, Base: www, Sources: []string{"found"}}, Author: websync.Person{Name: "a"}, ArchivePeriod: 2 * time.Second}
	assert.Equal(t, www+"feed.atom", p.URL(), "the default Locator")
	requireValid(t, p)
	assert.True(t, p.Reserved("/feed.atom"))
	assert.False(t, p.Reserved("/feed"))
}
