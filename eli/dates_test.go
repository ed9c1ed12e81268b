package eli_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/jsonld"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// TestDatesOfRDFaCount: in whatever order the extractors are, and also when the Store
// gives the graph back.
func TestDatesOfRDFaCount(t *testing.T) {
	page, err := os.ReadFile("testdata/pages/local-dates.html")
	require.NoError(t, err)
	for _, extractors := range [][]eli.Extractor{{&rdfa.Extractor{}, &jsonld.Extractor{}}, {&jsonld.Extractor{}, &rdfa.Extractor{}}} {
		var findings []websync.Finding
		g, err := eli.ReadPage(page, actURI, "text/html", extractors, func(f websync.Finding) { findings = append(findings, f) })
		require.NoError(t, err)
		assert.Contains(t, testkit.Rules(findings), "eli-dates")
		act, err := g.Resource(actURI)
		require.NoError(t, err)
		assert.Equal(t, "2016-03-18", act.DatePublication.String())
		var quads bytes.Buffer
		require.NoError(t, g.WriteQuads(&quads, actURI))
		stored, _, err := eli.ReadGraph(&quads)
		require.NoError(t, err)
		act, err = stored.Resource(actURI)
		require.NoError(t, err)
		assert.Equal(t, "2016-03-18", act.DatePublication.String())
	}
	for name, test := range map[string]struct{ rdfa, json, date string }{
		"equal":                   {"2016-03-18", "2016-03-18", ""},
		"the day and the time":    {"2016-03-18", "2016-03-18T10:00:00Z", ""},
		"the same in Denmark":     {"18-03-2016 00:00:00", "2016-03-18", ""},
		"only JSON-LD has a date": {"soon", "2016-03-18", ""},
		"different":               {"2016-03-18", "2016-03-19", "2016-03-19"},
	} {
		var dates []string
		doc := `<html prefix="eli: http://data.europa.eu/eli/ontology#"><script type="application/ld+json">{"@id":"` + actURI + `","http://data.europa.eu/eli/ontology#date_publication":"` + test.json +
			`"}</script><body about="` + actURI + `" typeof="eli:LegalResource"><meta property="eli:date_publication" content="` + test.rdfa + `">`
		_, err := eli.ReadPage([]byte(doc), actURI, "text/html", all, func(f websync.Finding) {
			if f.Rule == "eli-dates" {
				dates = append(dates, f.Value)
			}
		})
		require.NoError(t, err)
		assert.Equal(t, test.date, strings.Join(dates, " "), name)
	}
}

// TestDates: how publishers write dates.
func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"2024-01-16": "2024-01-16", "16-01-2024 00:00:00": "2024-01-16", "05-01-2024 00:00:00": "2024-01-05", "5/1/2024": "2024-01-05", "05.01.2024": "2024-01-05",
		"16-01-2024 08:30:00": "2024-01-16T08:30:00Z", "2024-01-16T00:00:00": "2024-01-16", "2024-01-16 00:00:00": "2024-01-16", "2024-01-16T00:00:00Z": "2024-01-16T00:00:00Z",
		"2024-01-16+01:00": "2024-01-16", "01/31/2024": "2024-01-31", "31-02-2024": "", "16-01-24": "", "2024-13-01": "",
	} {
		r := resource(t, graph(t, nil, "1 a LegalResource", `1 date_document "`+text+`"`))
		assert.Equal(t, want, r.DateDocument.String(), text)
	}
}

// TestFeedInLocalTime: the times of the lists as Denmark writes them.
func TestFeedInLocalTime(t *testing.T) {
	l := newLister(t)
	got := l.pass(newSite(40).lists(urlset("a 05-01-2026 10:00:00", "b 09-02-2026"), feed("a 05-01-2026 10:00:00", "b 31-01-2026 00:00:00", "c 05-02-2026 00:00:00")))
	assert.Equal(t, []string{"put a 2026-01-05T10:00:00Z", "put b 2026-01-31T00:00:00Z", "put c 2026-02-05T00:00:00Z", "mark+", "start 2026-02-09"}, got[:5])
}
