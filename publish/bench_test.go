package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/websync-go/websync"
)

// BenchmarkHandler serves a list of 5 MB over loopback. The peers are a http.ServeContent
// of the same bytes from memory, and the bare rendering.
func BenchmarkHandler(b *testing.B) {
	line := "<url><loc>https://example.org/eli/lov/2024/00000000</loc><lastmod>2024-02-29T12:00:00Z</lastmod></url>\n"
	text := strings.Repeat(line, 5_000_000/len(line))
	s := newSite()
	tag := 0
	write := func(_ context.Context, w io.Writer) error {
		for range len(text) / len(line) {
			if _, err := io.WriteString(w, line); err != nil {
				return err
			}
		}
		return nil
	}
	s.set("/a.xml", func() (*websync.Document, error) {
		return &websync.Document{Type: "application/xml", ETag: fmt.Sprint(tag), Modified: long, Write: write}, nil
	})
	h := newHandler(b, s)
	peer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		http.ServeContent(w, r, "", long, strings.NewReader(text))
	})
	ask := func(b *testing.B, handler http.Handler, bytes int, change bool, fields ...string) {
		server := httptest.NewServer(handler)
		defer server.Close()
		get(handler, "GET", "/a.xml", fields...) // so that it is there
		b.SetBytes(int64(bytes))
		b.ReportAllocs()
		for b.Loop() {
			if change {
				tag++
			}
			r, _ := http.NewRequest("GET", server.URL+"/a.xml", nil)
			r.Header.Set("Accept-Encoding", "identity")
			for i := 0; i < len(fields); i += 2 {
				r.Header.Set(fields[i], fields[i+1])
			}
			resp, err := server.Client().Do(r)
			if err != nil {
				b.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
	b.Run("get", func(b *testing.B) { ask(b, h, len(text), false) })
	b.Run("get-peer", func(b *testing.B) { ask(b, peer, len(text), false) })
	b.Run("get-gzip", func(b *testing.B) { ask(b, h, len(text), false, "Accept-Encoding", "gzip") })
	b.Run("conditional", func(b *testing.B) { ask(b, h, 0, false, "If-None-Match", `"0"`) })
	b.Run("render", func(b *testing.B) { ask(b, h, len(text), true) })
	b.Run("render-gzip", func(b *testing.B) { ask(b, h, len(text), true, "Accept-Encoding", "gzip") })
	b.Run("render-peer", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			write(b.Context(), io.Discard)
		}
	})
}

// BenchmarkPlan decides which of a million documents becomes which file, with as many
// files of an earlier export.
func BenchmarkPlan(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n /= 100
	}
	tree, err := openTree(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer tree.root.Close()
	var before, after runtime.MemStats
	for b.Loop() {
		e := &export{tree: tree, site: numbered(n)}
		runtime.GC()
		runtime.ReadMemStats(&before)
		err := errors.Join(tree.makeNew(), e.makePlan(b.Context()))
		runtime.GC()
		runtime.ReadMemStats(&after)
		err = errors.Join(err, e.writeManifest(b.Context(), e.writeOldNames, old), e.plan.lines.Close())
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/document")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/document")
}
