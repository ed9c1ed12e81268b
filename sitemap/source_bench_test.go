package sitemap_test

import (
	"log/slog"
	"testing"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/sitemap"
)

// BenchmarkSource lists one document of 50,000 entries: checked, then yielded.
func BenchmarkSource(b *testing.B) {
	doc := benchDocument()
	w := &web{pages: sourcetest.Site{site + "/sitemap.xml": {Body: string(doc)}}}
	run := &harvest.Run{Fetcher: w, Report: func(websync.Finding) {}, Expect: func(int64) {}, Log: slog.New(slog.DiscardHandler)}
	s := &sitemap.Source{URL: site + "/sitemap.xml"}
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for ev, err := range s.Events(b.Context(), run) {
			if err != nil {
				b.Fatal(err)
			}
			if ev.Kind == harvest.Put {
				n++
			}
		}
		if n != benchEntries {
			b.Fatal(n)
		}
	}
}
