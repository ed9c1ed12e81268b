package conformance_test

import (
	"fmt"
	"github.com/websync-go/websync/internal/testing/racing"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/eli/conformance"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const perPart = 50_000

// largePair returns a Checker of an index with full parts, as files, and a feed of
// entries that the last of them lists. atEnd is called when a part was read to its end.
func largePair(parts, entries int, atEnd func(part int)) *conformance.Checker {
	of := func(open func() io.Reader) func() (io.ReadCloser, error) {
		return func() (io.ReadCloser, error) { return io.NopCloser(open()), nil }
	}
	eli := func(n int) string { return fmt.Sprintf("%s/eli/act/%d/%d", host, 1900+n%120, n) }
	index := func() io.Reader {
		return testkit.Lines(`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`, parts, func(b []byte, i int) []byte {
			return fmt.Appendf(b, "<sitemap><loc>%s/eli/%d.xml</loc></sitemap>\n", host, i-1)
		}, "</sitemapindex>")
	}
	feed := func() io.Reader {
		return testkit.Lines(feedHead, entries, func(b []byte, i int) []byte {
			return append(b, entryOf(eli((parts-1)*perPart+i-1), "An act", fmt.Sprintf("2026-03-%02dT10:00:00Z", 1+i%8))...)
		}, "</feed>")
	}
	part := func(n int) io.Reader {
		return testkit.AtEnd(testkit.Lines(sitemapHead, perPart, func(b []byte, i int) []byte {
			at := n*perPart + i - 1
			return fmt.Appendf(b, "<url><loc>%s</loc><lastmod>2025-%02d-%02d</lastmod></url>\n", eli(at), 1+at%12, 1+at%28)
		}, "</urlset>"), func() { atEnd(n) })
	}
	return &conformance.Checker{
		Sitemap: conformance.Input{Name: "sitemap.xml", Open: of(index)}, Feed: conformance.Input{Name: "feed.atom", Open: of(feed)}, Now: now,
		Part: func(loc string) (conformance.Input, error) {
			var n int
			if _, err := fmt.Sscanf(strings.TrimPrefix(loc, host), "/eli/%d.xml", &n); err != nil {
				return conformance.Input{}, err
			}
			return conformance.Input{Name: loc, Open: of(func() io.Reader { return part(n) })}, nil
		},
	}
}

// Memory grows by at most 40 bytes for a URL of the sitemap.
func TestFlatMemory(t *testing.T) {
	racing.Long(t) // a long list
	const parts = 8
	heap := make(map[int]int64)
	c := largePair(parts, 2000, func(part int) {
		if _, ok := heap[part]; !ok {
			heap[part] = testkit.Heap()
		}
	})
	r, err := c.Check(t.Context())
	require.NoError(t, err)
	assert.Len(t, r.Parts, parts)
	assert.Equal(t, perPart, r.Parts[parts-1].Entries)
	grown := float64(heap[parts-1]-heap[0]) / float64((parts-1)*perPart)
	assert.Less(t, grown, 40.0, "bytes a URL")
	assert.Equal(t, []string{"P4-053"}, statuses(r, fail, warn), "the head of the feed has a later date")
}

func BenchmarkCheck(b *testing.B) {
	const parts, entries = 4, 2000
	testkit.Measure(b, "files", parts*perPart*90, func() error {
		_, err := largePair(parts, entries, func(int) {}).Check(b.Context())
		return err
	})
}
