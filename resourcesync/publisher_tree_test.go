package resourcesync_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// largeLog returns a log of n resources with digests and links, and n/4 changes of them.
func largeLog(n int) *websync.Log {
	log, at := new(websync.Log), firstCommit
	add := func(kind websync.ChangeKind, i int) {
		at = at.Add(time.Second)
		id := fmt.Sprintf("%sdocuments/%06d.html", www, i)
		text := []byte(fmt.Sprint(id, at))
		log.Append(websync.Item{Source: "own", Kind: kind, Time: at, Resource: websync.Resource{
			ID: id, Modified: websync.NewDatetime(at.Add(-time.Hour)), Content: websync.Link{Href: id, Type: "text/html", Length: int64(len(text)), Digests: websync.Digests{websync.SHA256(text)}},
			Links: []websync.Link{{Rel: "describedby", Href: id + ".rdf", Type: "application/rdf+xml"}},
		}})
	}
	for i := range n {
		add(websync.Created, i)
	}
	for i := range n / 4 {
		if add(websync.Updated, i*7%n); i%3 == 0 {
			log.Append(websync.Item{Source: "own", Kind: websync.Deleted, Time: at, Resource: websync.Resource{ID: fmt.Sprintf("%sdocuments/%06d.html", www, i*7%n)}})
		}
	}
	return log
}

// checkTree checks all documents of a Publisher: each against the published schema and by
// Validate, and all by ValidateTree. It returns their number and length.
func checkTree(t testing.TB, p *resourcesync.Publisher) (documents int, length int64) {
	report := func(f websync.Finding) {
		if f.Severity >= websync.SeverityWarning {
			t.Error(f)
		}
	}
	open := func(url string) (io.ReadCloser, error) {
		doc, err := p.Document(t.Context(), strings.TrimPrefix(url, strings.TrimSuffix(www, "/")))
		if err != nil {
			return nil, err
		}
		if doc.Write == nil {
			return doc.Open(t.Context())
		}
		var text bytes.Buffer
		err = doc.Write(t.Context(), &text)
		return io.NopCloser(&text), err
	}
	for path, err := range p.Documents(t.Context()) {
		require.NoError(t, err)
		if !strings.HasSuffix(path, ".xml") && path != resourcesync.WellKnown { // ValidateTree opens packages
			continue
		}
		r, err := open(www + path[1:])
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		testkit.Lint(t, schema(bytes.Contains(text[:min(len(text), 200)], []byte("<sitemapindex"))), text)
		_, err = resourcesync.Validate(bytes.NewReader(text), resourcesync.ValidateOptions{Document: www + path[1:], Report: report})
		require.NoError(t, err, path)
		documents, length = documents+1, length+int64(len(text))
	}
	resourcesync.ValidateTree(www+".well-known/resourcesync", open, resourcesync.TreeOptions{Now: firstCommit.AddDate(1, 0, 0), Report: report})
	return documents, length
}

// treePublisher returns a Publisher of everything that it can publish.
func treePublisher(n, size int) *resourcesync.Publisher {
	return publisherOf(largeLog(n), &resourcesync.Publisher{PartSize: size, ListSize: size, DescribedBy: www + "about", DescribedByHost: www + "about-all"})
}

// TestPublisherLargeTree checks a tree in the shape of BenchmarkPublisherTree's.
func TestPublisherLargeTree(t *testing.T) {
	n := 1200
	documents, _ := checkTree(t, treePublisher(n, 100))
	require.Greater(t, documents, n/100+n*5/4/100)
}

// BenchmarkPublisherTree writes and checks all documents of 120,000 resources and 30,000
// changes and more.
func BenchmarkPublisherTree(b *testing.B) {
	p := treePublisher(120_000, 0)
	for b.Loop() {
		documents, length := checkTree(b, p)
		b.SetBytes(length)
		b.ReportMetric(float64(documents), "documents")
	}
}
