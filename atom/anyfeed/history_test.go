package anyfeed_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
)

const (
	rdfStart = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
		xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:atom="http://www.w3.org/2005/Atom">`
	rssStart = `<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"
		xmlns:a10="http://www.w3.org/2005/Atom" xmlns:fh="http://purl.org/syndication/history/1.0"><channel>`
	rssEnd    = `</channel></rss>`
	atomStart = `<feed version="0.3" xmlns="http://purl.org/atom/ns#" xmlns:fh="http://purl.org/syndication/history/1.0">`
	jsonStart = `{"version":"https://jsonfeed.org/version/1.1","title":"T",`
)

// TestTimes: a time of publication is never one of change.
func TestTimes(t *testing.T) {
	const published, changed = "2024-05-01T10:00:00Z", "2024-05-02T10:00:00Z"
	element := func(name, text string) string { return "<" + name + ">" + text + "</" + name + ">" }
	rss := func(s string) string { return rssStart + "<item><guid>1</guid>" + s + "</item>" + rssEnd }
	rdf := func(s string) string { return rdfStart + `<channel/><item rdf:about="1">` + s + `</item></rdf:RDF>` }
	old := func(s string) string { return atomStart + "<entry><id>1</id>" + s + "</entry></feed>" }
	json := func(s string) string { return jsonStart + `"items":[{"id":"1",` + s + `}]}` }
	tests := []struct{ name, src, updated, published string }{
		{"RSS pubDate", rss(element("pubDate", published)), "", published},
		{"RSS dc:date", rss(element("dc:date", published)), "", published},
		{"RSS dcterms:created", rss(element("dcterms:created", published)), "", published},
		{"RSS dcterms:modified", rss(element("dcterms:modified", changed) + element("pubDate", published)), changed, published},
		{"RSS atom:updated", rss(element("a10:updated", changed)), changed, ""},
		{"RSS without a time", rss(""), "", ""},
		{"RSS 1.0 dc:date", rdf(element("dc:date", published)), "", published},
		{"RSS 1.0 dcterms:modified", rdf(element("dcterms:modified", changed) + element("dc:date", published)), changed, published},
		{"Atom 0.3 issued", old(element("issued", published)), "", published},
		{"Atom 0.3 created", old(element("created", published)), "", published},
		{"Atom 0.3 issued goes before created", old(element("created", changed) + element("issued", published)), "", published},
		{"Atom 0.3 modified", old(element("modified", changed) + element("issued", published)), changed, published},
		{"JSON date_published", json(`"date_published":"` + published + `"`), "", published},
		{"JSON date_modified", json(`"date_modified":"` + changed + `","date_published":"` + published + `"`), changed, published},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parse(strings.NewReader(tt.src))
			require.NoError(t, err)
			require.Len(t, r.Items, 1)
			e := r.Items[0].Entry
			assert.Equal(t, tt.updated, e.Updated.String())
			assert.Equal(t, tt.published, e.Published.String())
		})
	}
	t.Run("one that can't be read", func(t *testing.T) {
		r, err := parse(strings.NewReader(rss(element("pubDate", "soon"))))
		require.NoError(t, err)
		assert.Empty(t, r.Items[0].Entry.UpdatedText)
		assert.Equal(t, "soon", r.Items[0].Entry.PublishedText)
	})
}

// TestLinksOfHistory: the links between the documents of a feed are there.
func TestLinksOfHistory(t *testing.T) {
	for _, rel := range []string{"first", "last", "next", "previous", "prev", "prev-archive", "next-archive", "current",
		" http://www.iana.org/assignments/relation/next"} {
		for name, src := range map[string]string{
			"RSS":      rssStart + `<a10:link rel="` + rel + `" href="b"/>` + rssEnd,
			"RSS 1.0":  rdfStart + `<channel><atom:link rel="` + rel + `" href="b"/></channel></rdf:RDF>`,
			"Atom 0.3": atomStart + `<link rel="` + rel + `" href="b"/></feed>`,
		} {
			r, err := parse(strings.NewReader(src))
			require.NoError(t, err, "%s %s", name, rel)
			require.Len(t, r.Feed.Links, 1, "%s %s", name, rel)
			assert.Equal(t, rel[strings.LastIndexByte(rel, '/')+1:], r.Feed.Links[0].Rel, name)
			assert.Equal(t, "https://example.org/gazette/b", r.Feed.Links[0].Href, name)
		}
	}
	r, err := parse(strings.NewReader(jsonStart + `"next_url":"feed?page=2","items":[]}`))
	require.NoError(t, err)
	next, _ := r.Feed.Link("next")
	assert.Equal(t, "https://example.org/gazette/feed?page=2", next.Href)
}

func TestMarksOfHistory(t *testing.T) {
	const item = `<item><guid>1</guid></item>`
	tests := []struct {
		name, src         string
		complete, archive bool
	}{
		{"neither", rssStart + item + rssEnd, false, false},
		{"RSS, complete", rssStart + `<fh:complete/>` + item + rssEnd, true, false},
		{"RSS, an archive document", rssStart + item + `<fh:archive></fh:archive>` + rssEnd, false, true},
		{"RSS 1.0", strings.Replace(rdfStart, " xmlns=", ` xmlns:h="http://purl.org/syndication/history/1.0" xmlns=`, 1) + `<channel><h:complete/></channel></rdf:RDF>`, true, false},
		{"Atom 0.3", atomStart + `<fh:complete/><fh:archive/></feed>`, true, true},
		{"in an item", rssStart + `<item><guid>1</guid><fh:complete/><fh:archive/></item>` + rssEnd, false, false},
		{"outside of the channel", rssStart + `</channel><fh:complete/></rss>`, false, false},
		{"another namespace", `<rss><channel><fh:complete/>` + item + rssEnd, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parse(strings.NewReader(tt.src))
			require.NoError(t, err)
			assert.Equal(t, tt.complete, r.Feed.Complete)
			assert.Equal(t, tt.archive, r.Feed.Archive)
		})
	}
}

// TestSourceFollows: a Source walks over the documents of a feed that is not Atom.
func TestSourceFollows(t *testing.T) {
	const base = "https://example.org/gazette/"
	rss := func(id int, head string) string {
		return fmt.Sprintf(`%s%s<item><guid>%d</guid><pubDate>2024-05-0%[3]dT00:00:00Z</pubDate></item>%s`, rssStart, head, id, rssEnd)
	}
	link := func(rel, to string) string { return `<a10:link rel="` + rel + `" href="` + to + `"/>` }
	json := func(id int, head string) string {
		return fmt.Sprintf(`%s%s"items":[{"id":"%d"}]}`, jsonStart, head, id)
	}
	tests := []struct {
		name     string
		pages    map[string]string
		want     []string
		complete bool
		problem  string
	}{
		{"pages of RSS", map[string]string{"feed": rss(3, link("next", "2")), "2": rss(2, link("next", "1")), "1": rss(1, "")}, []string{"1", "2", "3"}, false, ""},
		{"pages of JSON", map[string]string{"feed": json(2, `"next_url":"1",`), "1": json(1, "")}, []string{"1", "2"}, false, ""},
		{"an archive", map[string]string{"feed": rss(3, link("prev-archive", "2")), "2": rss(2, "<fh:archive/>"+link("prev-archive", "1")), "1": rss(1, "<fh:archive/>")},
			[]string{"1", "2", "3"}, false, ""},
		{"a complete feed", map[string]string{"feed": rss(1, "<fh:complete/>")}, []string{"1"}, true, ""},
		{"a complete feed with pages", map[string]string{"feed": rss(2, "<fh:complete/>"+link("next", "1")), "1": rss(1, "")}, []string{"1", "2"}, false, ""},
		{"a page that is missing", map[string]string{"feed": rss(2, link("next", "1"))}, []string{"2"}, false, base + "1"},
		{"a page that is cut", map[string]string{"feed": json(2, `"next_url":"1",`), "1": `{"version":`}, []string{"2"}, false, base + "1"},
		{"a page that leads back", map[string]string{"feed": rss(2, link("next", "feed"))}, []string{"2"}, false, "leads back"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			site := sourcetest.Site{}
			for path, body := range tt.pages {
				site[base+path] = sourcetest.Document{Body: body}
			}
			var ids []string
			complete, problem := false, ""
			s := &atom.Source{URL: testURL, Parser: anyfeed.Parse}
			for ev, err := range s.Events(t.Context(), &harvest.Run{Fetcher: &sourcetest.Fetcher{Site: site}}) {
				require.NoError(t, err)
				switch ev.Kind {
				case harvest.Put:
					ids = append(ids, ev.Resource.ID)
				case harvest.Problem:
					problem = ev.Err.Error()
				}
				complete = complete || ev.Complete
			}
			slices.Sort(ids)
			assert.Equal(t, tt.want, ids)
			assert.Equal(t, tt.complete, complete)
			assert.Contains(t, problem, tt.problem)
			assert.Equal(t, tt.problem == "", problem == "")
		})
	}
}
