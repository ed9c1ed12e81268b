package anyfeed_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// idsOf returns the IDs of the items of a document.
func idsOf(t *testing.T, src string) []string {
	t.Helper()
	r, err := parse(strings.NewReader(src))
	require.NoError(t, err)
	ids := make([]string, len(r.Items))
	for i, item := range r.Items {
		ids[i] = item.ID()
	}
	return ids
}

func rssOf(items ...string) string {
	return rssStart + "<link>https://example.org/</link>" + strings.Join(items, "\n") + rssEnd
}

// linked returns an item without a guid.
func linked(path, title, published string, more ...string) string {
	return "<item><title>" + title + "</title><link>https://example.org/" + path + "</link><pubDate>" + published + "</pubDate>" +
		strings.Join(more, "") + "</item>"
}

// TestSharedLinks: items without an ID of their own have different IDs.
func TestSharedLinks(t *testing.T) {
	const may, june = "2024-05-01T10:00:00Z", "2024-06-01T10:00:00Z"
	file := func(name string) string {
		return `<enclosure url="https://example.org/` + name + `" length="1" type="a/b"/>`
	}
	json := func(items ...string) string { return jsonStart + `"items":[` + strings.Join(items, ",") + `]}` }
	tests := []struct {
		name, src string
		items     int // with different IDs
		rules     []string
		texts     []string // in the findings
	}{
		{"different links", rssOf(linked("1", "A", may), linked("2", "A", may)), 2, nil, nil},
		{"different titles", rssOf(linked("x", "A", may), linked("x", "B", may)), 2, []string{"anyfeed-link-id"}, []string{`entry 2, "B"`, `entry 1, "A"`, "https://example.org/x"}},
		{"different times", rssOf(linked("x", "A", may), linked("x", "A", june)), 2, []string{"anyfeed-link-id"}, nil},
		{"different enclosures", rssOf(linked("x", "A", may, file("1")), linked("x", "A", may, file("2"))), 2, []string{"anyfeed-link-id"}, nil},
		{"three", rssOf(linked("x", "A", may), linked("x", "B", may), linked("x", "C", may)), 3, []string{"anyfeed-link-id"}, []string{"entry 2", "entry 3"}},
		{"without more", rssOf(linked("x", "", "", "<description>A</description>"), linked("x", "", "", "<description>B</description>")), 2, []string{"anyfeed-link-id"}, nil},
		{"the same item twice", rssOf(linked("x", "A", may), linked("x", "A", may)), 1, nil, nil},
		{"what no ID tells apart", rssOf(linked("x", "A", may, "<description>1</description>"), linked("x", "A", may, "<description>2</description>")), 1,
			[]string{"anyfeed-link-id", "anyfeed-same-id"}, []string{"it is left out"}},
		{"the link of the channel", rssOf(linked("", "A", may)), 1, nil, nil},
		{"a guid that is the link of another", rssOf("<item><guid>https://example.org/x</guid></item>", linked("x", "B", may)), 2, []string{"anyfeed-link-id"}, nil},
		{"a fragment", rssOf(linked("x#1", "A", may), linked("x#1", "B", may)), 2, []string{"anyfeed-link-id"}, nil},
		{"RSS 1.0", rdfStart + "<channel/>" + linked("x", "A", may) + linked("x", "B", may) + "</rdf:RDF>", 2,
			[]string{"anyfeed-link-id"}, []string{"an entry without an id"}},
		{"Atom 0.3", atomStart + `<entry><title>A</title><link rel="alternate" href="/x"/></entry><entry><title>B</title><link rel="alternate" href="/x"/></entry></feed>`, 2,
			[]string{"anyfeed-link-id"}, nil},
		{"JSON", json(`{"url":"/x","title":"A"}`, `{"url":"/x","title":"B"}`), 2,
			[]string{"anyfeed-link-id"}, []string{`entry 2, "B" in line 1 with the link "https://example.org/x"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parse(strings.NewReader(tt.src))
			require.NoError(t, err)
			ids := map[string]bool{}
			for _, item := range r.Items {
				ids[item.ID()] = true
				assert.True(t, strings.HasPrefix(item.ID(), "https://example.org/"), item.ID())
				assert.LessOrEqual(t, strings.Count(item.ID(), "#"), 1)
			}
			assert.Len(t, ids, tt.items)
			assert.Equal(t, tt.rules, rulesOf(t, tt.src))
			for _, text := range tt.texts {
				assert.Contains(t, strings.Join(r.Findings, "\n"), text)
			}
		})
	}
}

// TestStableIDs: an ID stays while the document around the item changes.
func TestStableIDs(t *testing.T) {
	const may, june = "2024-05-01T10:00:00Z", "2024-06-01T10:00:00Z"
	a, b, c := linked("x", "A", may), linked("x", "B", june), linked("x", "C", june)
	together := idsOf(t, rssOf(a, b))
	require.NotEqual(t, together[0], together[1])
	t.Run("other order", func(t *testing.T) {
		assert.Equal(t, []string{together[1], together[0]}, idsOf(t, rssOf(b, a)))
	})
	t.Run("another item comes", func(t *testing.T) { assert.Equal(t, together, idsOf(t, rssOf(a, b, c))[:2]) })
	t.Run("one of three goes", func(t *testing.T) { assert.Equal(t, together[1], idsOf(t, rssOf(c, b))[1]) })
	t.Run("the description is edited", func(t *testing.T) {
		edited := strings.Replace(a, "</item>", "<description>new</description></item>", 1)
		assert.Equal(t, together, idsOf(t, rssOf(edited, b)))
	})
	t.Run("the time has another zone", func(t *testing.T) {
		assert.Equal(t, together, idsOf(t, rssOf(strings.Replace(a, may, "Wed, 01 May 2024 12:00:00 +0200", 1), b)))
	})
	t.Run("the only item of a link is edited", func(t *testing.T) {
		assert.Equal(t, []string{"https://example.org/x"}, idsOf(t, rssOf(a)))
		assert.Equal(t, []string{"https://example.org/x"}, idsOf(t, rssOf(b)))
	})
	t.Run("the link of the channel, alone or not", func(t *testing.T) {
		first, second := linked("", "A", may), linked("", "B", may)
		ids := idsOf(t, rssOf(first, second))
		assert.NotEqual(t, ids[0], ids[1])
		assert.Equal(t, idsOf(t, rssOf(first)), ids[:1])
	})
}

// rulesOf returns the rules of the findings beyond the first one, each once.
func rulesOf(t *testing.T, src string) []string {
	t.Helper()
	var findings []websync.Finding
	_, _, err := anyfeed.Parse(strings.NewReader(src), atom.Origin{URL: testURL}, func(f websync.Finding) { findings = append(findings, f) })
	require.NoError(t, err)
	if findings = findings[1:]; len(findings) == 0 {
		return nil
	}
	return testkit.Rules(findings)
}

// TestSameID: of several items with one ID that differ, one is read.
func TestSameID(t *testing.T) {
	item := func(id int, more string) string { return fmt.Sprintf("<item><guid>%d</guid>%s</item>", id, more) }
	ten := ""
	for i := range 10 {
		ten += item(1, fmt.Sprintf("<title>T%d</title>", i))
	}
	entry := func(updated, title string) string {
		return "<entry><id>1</id><title>" + title + "</title>" + updated + "</entry>"
	}
	const first, second = "<modified>2024-05-01T00:00:00Z</modified>", "<modified>2024-05-02T00:00:00Z</modified>"
	tests := []struct {
		name, src string
		items     int
		skipped   int
		text      string
	}{
		{"one guid", rssOf(item(1, "<title>A</title><link>/a</link>"), item(1, "<title>B</title><link>/b</link>")), 1, 1,
			`entry 2, "B" in line 3 with the link "https://example.org/b" has the id of entry 1, "A" in line 2 with the link "https://example.org/a"`},
		{"ten items", rssOf(ten), 1, 9, "has the id of entry 1"},
		{"different times of publication", rssOf(item(1, "<pubDate>2024-05-01</pubDate>"), item(1, "<pubDate>2024-05-02</pubDate>")), 1, 1, "it is left out"},
		{"the same item twice", rssOf(item(1, "<title>A</title>"), item(2, ""), item(1, "<title>A</title>")), 3, 0, ""},
		{"a third that is like the second", rssOf(item(1, ""), item(1, "<title>B</title>"), item(1, "<title>B</title>")), 1, 2, "entry 3"},
		{"RSS 1.0", rdfStart + `<channel/><item rdf:about="1"><title>A</title></item><item rdf:about="1"><title>B</title></item></rdf:RDF>`, 1, 1, "it is left out"},
		{"JSON", jsonStart + `"items":[{"id":"1","url":"/a"},{"id":"1","url":"/b"}]}`, 1, 1, `entry 2, "" in line 1 with the link "https://example.org/b" has the id of entry 1`},
		{"two versions", atomStart + entry(first, "A") + entry(second, "B") + "</feed>", 2, 0, ""},
		{"two entries of one time", atomStart + entry(first, "A") + entry(first, "B") + "</feed>", 1, 1, "it is left out"},
		{"two of three versions of one time", atomStart + entry(first, "A") + entry(second, "B") + entry(second, "C") + "</feed>", 2, 1, `entry 3, "C" in line 1 with the link "" has the id of entry 2`},
		{"one without a time", atomStart + entry(first, "A") + entry("", "B") + "</feed>", 1, 1, "it is left out"},
		{"the first without a time", atomStart + entry("", "A") + entry(first, "B") + entry(second, "C") + "</feed>", 1, 2, "it is left out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parse(strings.NewReader(tt.src))
			require.NoError(t, err)
			assert.Len(t, r.Items, tt.items)
			assert.Equal(t, tt.skipped, r.Feed.Skipped)
			assert.Len(t, r.Findings, 1+tt.skipped)
			assert.Contains(t, strings.Join(r.Findings, "\n"), tt.text)
		})
	}
}

// TestLackingID: where some entries have the ID that the format demands, one without may
// have lost its own.
func TestLackingID(t *testing.T) {
	for name, tt := range map[string]struct {
		src     string
		skipped int
	}{
		"JSON":               {jsonStart + `"items":[{"id":"1"},{"url":"/2"}]}`, 1},
		"JSON, all without":  {jsonStart + `"items":[{"url":"/1"},{"url":"/2"}]}`, 0},
		"RSS 1.0":            {rdfStart + `<channel/><item rdf:about="1"/>` + linked("2", "B", "") + `</rdf:RDF>`, 1},
		"RSS 2.0 demands no": {rssOf("<item><guid>1</guid></item>", linked("2", "B", "")), 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := parse(strings.NewReader(tt.src))
			require.NoError(t, err)
			assert.Len(t, r.Items, 2)
			assert.Equal(t, tt.skipped, r.Feed.Skipped)
		})
	}
}
