package anyfeed_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mmcdole/gofeed/rss"

	"github.com/websync-go/websync/atom/anyfeed"
)

// BenchmarkParse shows what the outline costs on top of gofeed.
func BenchmarkParse(b *testing.B) {
	var s strings.Builder
	s.WriteString(`<rss version="2.0"><channel><title>Acts</title>`)
	for i := range 1000 {
		fmt.Fprintf(&s, `<item><guid>urn:act:%d</guid><title>Act %[1]d</title><link>/act/%[1]d</link>
			<pubDate>Wed, 01 May 2024 10:30:00 +0200</pubDate><description>&lt;p&gt;%s&lt;/p&gt;</description></item>`, i, strings.Repeat("Text of it. ", 30))
	}
	s.WriteString(`</channel></rss>`)
	doc := s.String()
	b.Run("anyfeed", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := anyfeed.Parse(strings.NewReader(doc), testURL, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("gofeed", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := new(rss.Parser).Parse(strings.NewReader(doc)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
