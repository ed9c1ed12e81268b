package anyfeed_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mmcdole/gofeed"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
)

// jsonItem reads one item of a JSON Feed, and returns the rules that it departs from.
func jsonItem(t *testing.T, item string) (*atom.Entry, []string) {
	t.Helper()
	var found []string
	feed, items, err := anyfeed.Parse(strings.NewReader(jsonStart+"\"items\":[\n"+item+"]}"), atom.Origin{URL: testURL}, func(f websync.Finding) {
		if f.Rule != "anyfeed-tolerant" {
			assert.Equal(t, 2, f.Line, f)
			found = append(found, strings.TrimPrefix(f.Rule, "anyfeed-"))
		}
	})
	require.NoError(t, err)
	if len(items) == 0 {
		assert.Equal(t, 1, feed.Skipped)
		return nil, found
	}
	assert.Zero(t, feed.Skipped)
	return items[0].Entry, found
}

func TestJSONMembers(t *testing.T) {
	member := func(name, value string) websync.Element {
		return websync.Element{Space: anyfeed.JSONNamespace, Local: "member",
			XML: fmt.Sprintf(`<member xmlns=%q name=%q>%s</member>`, anyfeed.JSONNamespace, name, value)}
	}
	enclosure := websync.Link{Rel: "enclosure", Href: "https://example.org/a.mp3"}
	tests := []struct {
		name, members string
		want          atom.Entry
		found         []string
	}{
		{"names in other letters", `"Title":"A","ID":"2"`,
			atom.Entry{Elements: []websync.Element{member("ID", `"2"`), member("Title", `"A"`)}}, nil},
		{"names with escapes", `"t\u0069tle":"A"`, atom.Entry{Title: atom.Text{Type: "text", Value: "A"}}, nil},
		{"null", `"title":null,"attachments":null,"_x":null`, atom.Entry{}, nil},
		{"an extension", `"_x":{"a":[1, "<&"]}`,
			atom.Entry{Elements: []websync.Element{member("_x", `{"a":[1, "&lt;&amp;"]}`)}}, nil},
		{"images", `"image":"/a.png","banner_image":"/b.png"`,
			atom.Entry{Links: []websync.Link{{Rel: "icon", Href: "https://example.org/a.png"}},
				Elements: []websync.Element{member("banner_image", `"/b.png"`)}}, nil},
		{"text before HTML", `"content_text":"A","content_html":"<p>A"`,
			atom.Entry{Content: atom.Content{Link: websync.Link{Type: "html"}, Value: "<p>A"}}, nil},
		{"HTML before text", `"content_html":"<p>A","content_text":"A"`,
			atom.Entry{Content: atom.Content{Link: websync.Link{Type: "html"}, Value: "<p>A"}}, nil},
		{"authors before an author", `"author":{"name":"A"},"authors":[{"name":"B","url":"/b"},{"name":"C"}]`,
			atom.Entry{Authors: []websync.Person{{Name: "B", URI: "https://example.org/b"}, {Name: "C"}}}, nil},
		{"an author after authors", `"authors":[{"name":"B"}],"author":{"name":"A"}`,
			atom.Entry{Authors: []websync.Person{{Name: "B"}}}, nil},
		{"an author", `"author":{"name":"A"},"authors":[]`, atom.Entry{Authors: []websync.Person{{Name: "A"}}}, nil},
		{"links in another order", `"attachments":[{"url":"/a.mp3"}],"external_url":"https://x.example/","url":"/1"`,
			atom.Entry{Links: []websync.Link{{Rel: "alternate", Href: "https://example.org/1"},
				{Rel: "related", Href: "https://x.example/"}, enclosure}}, nil},
		{"sizes", `"attachments":[{"url":"/a.mp3","size_in_bytes":0},{"url":"/a.mp3","size_in_bytes":"12"},{"url":"/a.mp3","size_in_bytes":1.2e3}]`,
			atom.Entry{Links: []websync.Link{enclosure, {Rel: "enclosure", Href: enclosure.Href, Length: 12},
				{Rel: "enclosure", Href: enclosure.Href, Length: 1200}}}, nil},
		{"a size that is none", `"attachments":[{"url":"/a.mp3","size_in_bytes":-1}]`,
			atom.Entry{Links: []websync.Link{enclosure}}, []string{"left-out"}},
		{"a member twice in an attachment", `"attachments":[{"url":"/a.mp3","url":"/b.mp3"}]`,
			atom.Entry{Links: []websync.Link{enclosure}}, nil},
		{"a duration", `"attachments":[{"url":"/a.mp3","duration_in_seconds":1.5}]`,
			atom.Entry{Links: []websync.Link{{Rel: "enclosure", Href: enclosure.Href,
				Attrs: []websync.Attr{{Space: anyfeed.JSONNamespace, Local: "duration_in_seconds", Value: "1.5"}}}}}, nil},
		{"something else of an attachment", `"attachments":[{"url":"/a.mp3","_x":1}]`,
			atom.Entry{Links: []websync.Link{enclosure},
				Elements: []websync.Element{member("attachments", `[{"url":"/a.mp3","_x":1}]`)}}, nil},
		{"a title of another type", `"title":["A"]`, atom.Entry{}, []string{"left-out"}},
		{"tags of another type", `"tags":["a",1,"b"]`, atom.Entry{Categories: []atom.Category{{Term: "a"}, {Term: "b"}}},
			[]string{"left-out"}},
		{"tags that are no array", `"tags":"a"`, atom.Entry{}, []string{"left-out"}},
		{"authors of another type", `"authors":"A","author":"B"`, atom.Entry{}, []string{"left-out", "left-out"}},
		{"characters", `"title":"A` + "\x01" + `"`, atom.Entry{Title: atom.Text{Type: "text", Value: "A\uFFFD"}},
			[]string{"bytes"}},
		{"half a surrogate pair", `"title":"A\ud83d"`, atom.Entry{Title: atom.Text{Type: "text", Value: "A\uFFFD"}},
			[]string{"bytes"}},
		{"a date", `"date_published":"yesterday"`, atom.Entry{PublishedText: "yesterday"}, []string{"date"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found := jsonItem(t, `{"id":"1",`+tt.members+`}`)
			want := tt.want
			want.ID, want.Base, want.Line, want.Column = "1", testURL, 2, 1
			if want.Links == nil {
				want.Links = got.Links[:0]
			}
			assert.Equal(t, &want, got)
			assert.Equal(t, tt.found, found)
		})
	}
}

// The id is a string or a number, as it is written.
func TestJSONIDs(t *testing.T) {
	for id, want := range map[string]string{
		`"a"`: "a", `" a "`: "a", `1`: "1", `1.0`: "1.0", `12345678901234567890`: "12345678901234567890", `-1e3`: "-1e3", `"1"`: "1",
	} {
		e, found := jsonItem(t, `{"id":`+id+`}`)
		assert.Equal(t, want, e.ID)
		assert.Empty(t, found)
	}
}

// An item is left out, and counts as skipped, if something that it cannot be without
// can't be read.
func TestJSONEssential(t *testing.T) {
	for _, members := range []string{
		`"id":true`, `"id":{"a":1},"url":"/a"`, `"id":"1","url":5`, `"id":"1","content_html":["a"]`, `"id":"1","content_text":{}`,
		`"id":"1","attachments":{"url":"/a"}`, `"id":"1","attachments":["/a"]`, `"id":"1","attachments":[{"url":false}]`,
	} {
		e, found := jsonItem(t, "{"+members+"}")
		assert.Nil(t, e, members)
		assert.Equal(t, []string{"left-out", "left-out"}, found, members)
	}
}

// The members of the feed may come in any order, and what the document is, last.
func TestJSONOrder(t *testing.T) {
	members := []string{`"items":[{"id":"1","url":"1","title":"A"}]`, `"language":"en"`, `"next_url":"2"`, `"home_page_url":"/"`,
		`"feed_url":"f"`, `"hubs":[{"url":"/hub","type":"WebSub"}]`, `"_x":1`, `"_a":1`, `"version":"https://jsonfeed.org/version/1.1"`}
	want, err := parse(strings.NewReader("{" + strings.Join(members, ",") + "}"))
	require.NoError(t, err)
	for range members {
		members = append(members[1:], members[0])
		got, err := parse(strings.NewReader("{" + strings.Join(members, ",") + "}"))
		require.NoError(t, err)
		assert.Equal(t, want.Feed, got.Feed)
		for i := range got.Items {
			want.Items[i].Entry.Column = got.Items[i].Entry.Column
		}
		assert.Equal(t, want.Items, got.Items)
	}
	assert.Equal(t, "en", want.Items[0].Entry.Lang)
}

// BenchmarkParseJSON compares Parse with gofeed, on a feed of articles and one of a
// podcast.
func BenchmarkParseJSON(b *testing.B) {
	article := `{"id":"https://example.org/posts/%d","url":"https://example.org/posts/%[1]d","title":"Post \"%[1]d\"",
		"content_html":"` + strings.Repeat(`<p>Some text of the post, with <a href=\"https://example.org/\">a link<\/a> &amp; more.<\/p>\n`, 20) + `",
		"date_published":"2024-05-01T10:00:00+02:00","date_modified":"2024-05-02T10:00:00Z","authors":[{"name":"Nora"}],"tags":["a","b"]}`
	episode := `{"id":"%d","url":"https://example.org/%[1]d","title":"Episode %[1]d","summary":"What it is about.",
		"content_text":"Notes é of the episode.","date_published":"2024-05-01T10:00:00+02:00","image":"https://example.org/%[1]d.png",
		"attachments":[{"url":"https://example.org/%[1]d.mp3","mime_type":"audio/mpeg","size_in_bytes":12345678,"duration_in_seconds":3600}]}`
	for name, item := range map[string]string{"articles": article, "podcast": episode} {
		var items []string
		for i := range 1000 {
			items = append(items, fmt.Sprintf(item, i))
		}
		doc := jsonStart + `"items":[` + strings.Join(items, ",\n") + `]}`
		b.Run(name+"/anyfeed", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := anyfeed.Parse(strings.NewReader(doc), atom.Origin{URL: testURL}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/gofeed", func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := gofeed.NewParser().Parse(strings.NewReader(doc)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
