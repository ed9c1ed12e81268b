package eli_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
)

// ownPage returns the page of an act, which is its own text.
func ownPage(title string) string {
	return `<!DOCTYPE html><html lang="en" prefix="eli: http://data.europa.eu/eli/ontology#"><head><title>` + title + `</title></head>
<body about="" typeof="eli:LegalResource"><div property="eli:is_realized_by" resource="#en" typeof="eli:LegalExpression">
<link property="eli:language" href="http://publications.europa.eu/resource/authority/language/ENG">
<h1 property="eli:title" lang="en">` + title + `</h1>
<div property="eli:is_embodied_by" resource="#html" typeof="eli:Format"><link property="eli:is_exemplified_by" href="">
<link property="eli:media_type" href="https://www.iana.org/assignments/media-types/text/html"></div></div></body></html>
`
}

// TestPublisherRoundTrip: a Store, a Publisher, a Source, a second Store: the same acts
// in the same state, on each day.
func TestPublisherRoundTrip(t *testing.T) {
	ctx := t.Context()
	random := rand.New(rand.NewPCG(5, 6))
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first, second := harvest.NewCatalog(memstore.New()), harvest.NewCatalog(memstore.New())
	first.Now = func() time.Time { return now }
	p := newPublisher(first)
	p.PartSize = 20
	p.Locator = websync.PathLocator{Base: country, Own: []string{ownSource}, Reserved: p.Reserved}
	web := &testkit.Mirror{Publisher: publish.Join(p, publish.Bodies(first, p.Locator))}
	out := &harvest.Harvester{Catalog: second, Fetcher: web, MaxDelete: -1, Sample: -1}
	source := &eli.Source{Sitemap: p.URL(), Feed: p.FeedURL(), Interval: -1, SitemapEvery: 30 * 24 * time.Hour}

	titles := map[string]string{}
	made := 0
	change := func(id string) {
		made++
		title := fmt.Sprintf("State %d", made)
		kind, page := websync.Updated, ownPage(title)
		if titles[id] == "" {
			kind = websync.Created
		}
		titles[id] = title
		r := websync.Resource{ID: id, Title: title}
		switch random.IntN(4) {
		case 0:
			r.Modified = websync.DateOf(now)
		case 1:
			r.Modified = websync.NewDatetime(now.Add(-time.Duration(random.IntN(300)) * time.Hour))
		case 2:
			r.Modified = websync.DateOf(time.Date(2025, 12, 1+random.IntN(31), 0, 0, 0, 0, time.UTC))
		}
		body := websync.Body{Name: "content", Link: websync.Link{Type: "text/html"}, Key: websync.SHA256([]byte(page))}
		testkit.Fill(t, first, ownSource, []string{page}, websync.Item{Kind: kind, Resource: r, Bodies: []websync.Body{body}})
	}
	for day := range 80 {
		now = now.Add(24 * time.Hour)
		if day == 0 || day == 40 {
			for i := range 50 {
				change(fmt.Sprintf("%s%d/%d", acts, day, i))
			}
		}
		for range random.IntN(4) {
			ids := slices.Sorted(maps.Keys(titles))
			now = now.Add(time.Minute)
			change(ids[random.IntN(len(ids))])
		}
		if day%7 == 3 {
			ids := slices.Sorted(maps.Keys(titles))
			gone := ids[random.IntN(len(ids))]
			testkit.Fill(t, first, ownSource, nil, websync.Item{Kind: websync.Deleted, Resource: websync.Resource{ID: gone}})
			delete(titles, gone)
		}
		if day%20 == 11 {
			_, err := first.Compact(ctx)
			require.NoError(t, err)
		}
		web.Date = now.Add(time.Hour).UTC().Format(http.TimeFormat)
		sitemapDue := day%35 == 34
		if sitemapDue {
			source.SitemapEvery = time.Second
		}
		report, err := out.Run(ctx, source)
		require.NoError(t, err)
		require.True(t, report.InStep(), "day %d: %v %v", day, report.Failures, report.Problems)
		source.SitemapEvery = 30 * 24 * time.Hour
		got := map[string]string{}
		for item, err := range second.Resources(ctx, websync.Range{}) {
			require.NoError(t, err)
			got[item.Resource.ID] = item.Resource.Title
		}
		for id, title := range titles {
			require.Equal(t, title, got[id], "day %d: %s", day, id)
		}
		if sitemapDue {
			require.Len(t, got, len(titles), "day %d: what is no longer listed is gone", day)
		}
	}
}
