package anyfeed_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	gofeed "github.com/mmcdole/gofeed/atom"
	"github.com/mmcdole/gofeed/rss"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
)

var (
	entryOf = regexp.MustCompile(`(?s)<(item|entry)[ >].*</(item|entry)>\s*`)
	nameOf  = regexp.MustCompile(`<guid.*</guid>|rdf:about="[^"]*"|<id>.*</id>`)
)

// many returns a document of testdata with its items many times. Each has a name of its
// own.
func many(b *testing.B, name string) string {
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(b, err)
	s := entryOf.FindStringIndex(string(data))
	require.NotNil(b, s)
	items := string(data)[s[0]:s[1]]
	var all strings.Builder
	all.WriteString(string(data)[:s[0]])
	n := 0
	for range 500 {
		all.WriteString(nameOf.ReplaceAllStringFunc(items, func(name string) string {
			n++
			for _, end := range []string{"</guid>", `"`, "</id>"} {
				if rest, ok := strings.CutSuffix(name, end); ok {
					return fmt.Sprint(rest, n, end)
				}
			}
			return name
		}))
	}
	all.WriteString(string(data)[s[1]:])
	return all.String()
}

// BenchmarkParse compares with gofeed.
func BenchmarkParse(b *testing.B) {
	var s strings.Builder
	s.WriteString(`<rss version="2.0"><channel><title>Acts</title>`)
	for i := range 1000 {
		fmt.Fprintf(&s, `<item><guid>urn:act:%d</guid><title>Act %[1]d</title><link>/act/%[1]d</link>
			<pubDate>Wed, 01 May 2024 10:30:00 +0200</pubDate><description>&lt;p&gt;%s&lt;/p&gt;</description></item>`, i, strings.Repeat("Text of it. ", 30))
	}
	s.WriteString(`</channel></rss>`)
	for _, doc := range []struct{ name, src string }{
		{"acts", s.String()},
		{"blog", many(b, "blog.xml")},
		{"podcast", many(b, "podcast.xml")},
		{"RSS 1.0", many(b, "journal.xml")},
		{"Atom 0.3", many(b, "atom03.xml")},
	} {
		b.Run(doc.name+"/anyfeed", func(b *testing.B) {
			b.SetBytes(int64(len(doc.src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := anyfeed.Parse(strings.NewReader(doc.src), atom.Origin{URL: testURL}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(doc.name+"/gofeed", func(b *testing.B) {
			b.SetBytes(int64(len(doc.src)))
			b.ReportAllocs()
			parse := func() error { _, err := new(rss.Parser).Parse(strings.NewReader(doc.src)); return err }
			if strings.HasPrefix(doc.name, "Atom") {
				parse = func() error { _, err := new(gofeed.Parser).Parse(strings.NewReader(doc.src)); return err }
			}
			for b.Loop() {
				if err := parse(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
