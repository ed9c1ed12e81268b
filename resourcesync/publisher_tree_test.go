package resourcesync_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// A largeLog is a Catalog of resources whose bodies are short texts.
type largeLog struct {
	websync.Log
	texts map[websync.Digest]string
	last  time.Time // of a commit
}

// add adds a state of a resource, at the next moment.
func (l *largeLog) add(kind websync.ChangeKind, i int) {
	l.last = l.last.Add(time.Second)
	id := fmt.Sprintf("%sdocuments/%06d.html", www, i)
	item := websync.Item{Source: "own", Kind: kind, Time: l.last, Resource: websync.Resource{ID: id}}
	if kind != websync.Deleted {
		text := fmt.Sprint(id, l.last)
		key := websync.SHA256([]byte(text))
		l.texts[key] = text
		content := websync.Link{Href: id, Type: "text/html", Length: int64(len(text)), Digests: websync.Digests{key}}
		item.Resource = websync.Resource{
			ID: id, Modified: websync.NewDatetime(l.last.Add(-time.Hour)), Content: content,
			Links: []websync.Link{{Rel: "describedby", Href: id + ".rdf", Type: "application/rdf+xml"}},
		}
		item.Bodies = []websync.Body{{Name: websync.ContentName, Link: content, Key: key}}
	}
	l.Append(item)
}

// change adds n/4 updates of n resources, and a third as many deletions.
func (l *largeLog) change(n int) {
	for i := range n / 4 {
		if l.add(websync.Updated, i*7%n); i%3 == 0 {
			l.add(websync.Deleted, i*7%n)
		}
	}
}

// Open implements [websync.Catalog].
func (l *largeLog) Open(_ context.Context, b websync.Body) (io.ReadSeekCloser, error) {
	return nopCloser{strings.NewReader(l.texts[b.Key])}, nil
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
	sum := resourcesync.ValidateTree(www+".well-known/resourcesync", open, resourcesync.TreeOptions{Now: firstCommit.AddDate(1, 0, 0), OpenPackage: open, Report: report})
	require.NotZero(t, sum.Packages)
	return documents, length
}

// treePublisher returns a Publisher of everything that it can publish: n resources, whose
// Change Dump begins before the last of many changes.
func treePublisher(t testing.TB, n, size int) *resourcesync.Publisher {
	l := &largeLog{texts: make(map[websync.Digest]string), last: firstCommit}
	p := publisherOf(l, &resourcesync.Publisher{
		PartSize: size, ListSize: size, DescribedBy: www + "about", DescribedByHost: www + "about-all",
		Dumps: &resourcesync.Dumps{Dir: t.TempDir(), State: testkit.NewStore(t), MaxEntries: size},
	})
	for i := range n {
		l.add(websync.Created, i)
	}
	require.NoError(t, p.Pack(t.Context()))
	l.change(n)
	require.NoError(t, p.Pack(t.Context()))
	return p
}

// TestPublisherLargeTree checks a tree in the shape of BenchmarkPublisherTree's.
func TestPublisherLargeTree(t *testing.T) {
	n := 1200
	documents, _ := checkTree(t, treePublisher(t, n, 100))
	require.Greater(t, documents, n/100+n*5/4/100)
}

// BenchmarkPublisherTree writes and checks all documents and packages of 120,000
// resources, 30,000 updates and 10,000 deletions; of a tenth with -short.
func BenchmarkPublisherTree(b *testing.B) {
	n := 120_000
	if testing.Short() {
		n /= 10
	}
	p := treePublisher(b, n, 0)
	for b.Loop() {
		documents, length := checkTree(b, p)
		b.SetBytes(length)
		b.ReportMetric(float64(documents), "documents")
	}
}
