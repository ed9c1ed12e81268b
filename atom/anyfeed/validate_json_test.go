package anyfeed_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
)

// validJSON is a JSON Feed without findings, a member a line.
const validJSON = `{
"version":"https://jsonfeed.org/version/1.1",
"title":"Notes & news",
"home_page_url":"https://example.org/",
"feed_url":"https://example.org/feed.json",
"next_url":"https://example.org/feed.json?page=2",
"icon":"https://example.org/icon.png",
"favicon":"https://example.org/favicon.png",
"description":"What is new",
"user_comment":"For readers",
"language":"en-GB",
"expired":false,
"authors":[{"name":"Nora"},{"url":"mailto:nora@example.org"}],
"hubs":[{"type":"WebSub","url":"https://hub.example.org/"}],
"items":[
{"id":"https://example.org/1",
"url":"https://example.org/1",
"title":"One",
"content_html":"<p>One</p>",
"content_text":"One",
"summary":"The first",
"image":"https://example.org/1.png",
"date_published":"2024-05-01T10:00:00+02:00",
"tags":["a","b"],
"language":"en",
"attachments":[{"url":"https://example.org/1.mp3","mime_type":"audio/mpeg","size_in_bytes":12,"duration_in_seconds":1.5}],
"_x":{"about":"https://example.org/x","list":[{"key":1}]}},
{"id":"https://example.org/2","url":"https://example.org/2","content_text":"Two","_x":[]}
]}`

// validateJSON returns the rules of the findings, without the prefix, and their lines.
func validateJSON(t *testing.T, doc string, o atom.ValidateOptions) (found []string, lines []int, sum atom.Summary, err error) {
	t.Helper()
	listed := map[string]websync.Rule{}
	for _, r := range anyfeed.JSONRules() {
		listed[r.Name] = r
	}
	o.Document = testURL
	o.Report = func(f websync.Finding) {
		r, ok := listed[f.Rule]
		require.True(t, ok, f.Rule)
		assert.Equal(t, r.Section, f.Section)
		assert.Equal(t, testURL, f.Document)
		found = append(found, strings.TrimPrefix(f.Rule, "jsonfeed-"))
		lines = append(lines, f.Line)
	}
	sum, err = anyfeed.ValidateJSON(strings.NewReader(doc), o)
	assert.Equal(t, len(found), sum.Errors+sum.Warnings+sum.Infos)
	return found, lines, sum, err
}

func TestValidateJSON(t *testing.T) {
	found, _, sum, err := validateJSON(t, validJSON, atom.ValidateOptions{})
	require.NoError(t, err)
	assert.Empty(t, found)
	assert.Equal(t, atom.Summary{Kind: atom.FeedDocument, Counts: websync.Counts{Entries: 2, Bytes: int64(len(validJSON))},
		ID: "https://example.org/feed.json", Self: "https://example.org/feed.json", Next: "https://example.org/feed.json?page=2"}, sum)
	item := `{"id":"https://example.org/2","url":"https://example.org/2","content_text":"Two","_x":[]}`
	tests := []struct{ name, old, new, want string }{
		{"another version", "version/1.1", "version/2", "version 1"},
		{"version 1", "version/1.1", "version/1", ""},
		{"a version that comes later", "\"version\":\"https://jsonfeed.org/version/1.1\",\n\"title\":\"Notes & news\"",
			"\"title\":\"Notes & news\",\n\"version\":\"https://jsonfeed.org/version/1.1\"", "version-first 3"},
		{"no title", `"title":"Notes & news",`, "", "title 1"},
		{"no home page", `"home_page_url":"https://example.org/",`, "", "home-page 1"},
		{"no feed_url", `"feed_url":"https://example.org/feed.json",`, "", "feed-url 1, hub-topic 1"},
		{"the feed again", `feed.json?page=2`, "feed.json", "next-url 1"},
		{"no favicon", `"favicon":"https://example.org/favicon.png",`, "", "icon 1"},
		{"a relative URL", `"https://example.org/icon.png"`, `"/icon.png"`, "url 7"},
		{"a URL with a space", `"https://example.org/icon.png"`, `"https://example.org/i con.png"`, "url 7"},
		{"a language", `"en-GB"`, `"English, British"`, "language 11"},
		{"another type", `"expired":false`, `"expired":"no"`, "type 12"},
		{"null", `"expired":false`, `"expired":null`, "type 12"},
		{"an author without anything", `{"name":"Nora"}`, `{"_y":1}`, "author 13"},
		{"authors that are one", `"authors":[{"name":"Nora"},{"url":"mailto:nora@example.org"}]`, `"authors":{"name":"Nora"}`, "type 13"},
		{"an author of version 1", `"authors":[{"name":"Nora"},{"url":"mailto:nora@example.org"}]`, `"author":{"name":"Nora"}`, "deprecated 1"},
		{"an author beside authors", `"authors":[{"name":"Nora"},`, `"author":{"name":"Nora"},"authors":[{"name":"Nora"},`, ""},
		{"a hub without a type", `"type":"WebSub",`, ``, "hub 14"},
		{"a member of another feed", `"user_comment"`, `"comment"`, "unknown-member 10"},
		{"a name in capitals", `"user_comment"`, `"User_comment"`, "unknown-member 10"},
		{"a member twice", `"user_comment"`, `"description"`, "duplicate 10"},
		{"HTML in a title", `"title":"One"`, `"title":"<b>One</b>"`, "markup 18"},
		{"an entity in a summary", `"The first"`, `"The&nbsp;first"`, "markup 21"},
		{"less than", `"The first"`, `"1 < 2 & 3 > 2; a <3"`, ""},
		{"HTML in a tag", `["a","b"]`, `["a","<i>b</i>"]`, "markup 24"},
		{"a tag that is a number", `["a","b"]`, `["a",2]`, "type 24"},
		{"a control character", `"title":"One"`, "\"title\":\"O\tne\"", "character 18"},
		{"half a surrogate pair", `"title":"One"`, `"title":"One\ud800"`, "character 18"},
		{"a date without a time", `"2024-05-01T10:00:00+02:00"`, `"2024-05-01"`, "date 23"},
		{"a date of mail", `"2024-05-01T10:00:00+02:00"`, `"Wed, 01 May 2024 10:00:00 GMT"`, "date 23"},
		{"a date without seconds", `"2024-05-01T10:00:00+02:00"`, `"2024-05-01T10:00+02:00"`, "date 23"},
		{"a date to come", `"2024-05-01T10:00:00+02:00"`, `"2034-05-01T10:00:00+02:00"`, "date-future 23"},
		{"an attachment without a type", `"mime_type":"audio/mpeg",`, ``, "attachment 26"},
		{"an attachment without a URL", `"url":"https://example.org/1.mp3",`, ``, "attachment 26"},
		{"a media type", `audio/mpeg`, `mp3`, "mime-type 26"},
		{"a negative size", `"size_in_bytes":12`, `"size_in_bytes":-12`, "number 26"},
		{"a size with a fraction", `"size_in_bytes":12`, `"size_in_bytes":1.2`, "number 26"},
		{"a size as text", `"size_in_bytes":12`, `"size_in_bytes":"12"`, "type 26"},
		{"an extension with a number", `"_x":{`, `"_1":{`, "extension-name 27"},
		{"an extension with a dot", `"_x":{`, `"_x.y":{`, "extension-name 27"},
		{"a name in an extension", `"list":[`, `"_list":[`, "extension-name 27"},
		{"a dot in a list of an extension", `{"key":1}`, `{"k.ey":1}`, "extension-name 27"},
		{"a name with a hyphen", `{"key":1}`, `{"k-ey":1}`, "extension-key 27"},
		{"an extension without about", `"about":"https://example.org/x",`, ``, "extension-about 28"},
		{"an item without id", `{"id":"https://example.org/2",`, `{`, "id 28"},
		{"an id that is a number", `{"id":"https://example.org/2",`, `{"id":2,`, "type 28, id-url 28"},
		{"an id that is no URL", `{"id":"https://example.org/2",`, `{"id":"2",`, "id-url 28"},
		{"an id twice", `{"id":"https://example.org/2",`, `{"id":"https://example.org/1",`, "id-duplicate 28"},
		{"no url", `"url":"https://example.org/2",`, ``, "item-url 28"},
		{"no content", `"content_text":"Two",`, ``, "content 28"},
		{"an item that is no object", item, `"2"`, "type 28"},
		{"no items", item, `{}`, "id 28, item-url 28, content 28"},
		{"a byte-order mark", `{` + "\n" + `"version"`, "\ufeff{\n\"version\"", "encoding 1"},
		{"Latin 1", `"The first"`, "\"Le cinqui\xe8me\"", "encoding 21, character 21"},
		{"a large feed", `"The first"`, `"` + strings.Repeat("a", 1e6) + `"`, "size 1"},
	}
	reported := map[string]bool{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, 1, strings.Count(validJSON, tt.old), "what is replaced is in the document once")
			doc := strings.Replace(validJSON, tt.old, tt.new, 1)
			found, lines, _, err := validateJSON(t, doc, atom.ValidateOptions{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
			require.NoError(t, err)
			var got []string
			for i, name := range found {
				reported[name] = true
				got = append(got, fmt.Sprint(name, " ", lines[i]))
			}
			assert.Equal(t, tt.want, strings.Join(got, ", "))
		})
	}
	for _, r := range anyfeed.JSONRules() {
		switch name := strings.TrimPrefix(r.Name, "jsonfeed-"); name {
		case "json", "truncated", "document", "gzip": // TestValidateJSONErrors
		default:
			assert.True(t, reported[name], "no test breaks %s", name)
		}
	}
}

func TestValidateJSONErrors(t *testing.T) {
	tests := map[string]struct {
		doc, rule string
		want      error
		line      int
	}{
		"cut":            {validJSON[:len(validJSON)-1], "truncated", websync.ErrTruncated, 29},
		"a fault":        {strings.Replace(validJSON, `"One",`, `"One"`, 1), "json", nil, 19},
		"no JSON Feed":   {`{"items":[]}`, "document", websync.ErrNotDocument, 1},
		"no items":       {`{"version":"https://jsonfeed.org/version/1.1"}`, "document", websync.ErrNotDocument, 1},
		"XML":            {oneItem, "document", websync.ErrNotDocument, 1},
		"an array":       {`[]`, "document", websync.ErrNotDocument, 1},
		"nothing":        {``, "document", websync.ErrNotDocument, 1},
		"too deep":       {`{"a":` + strings.Repeat("[", 300), "document", websync.ErrLimit, 1},
		"too long":       {validJSON + strings.Repeat(" ", 17<<20), "document", websync.ErrLimit, 0},
		"something else": {validJSON + "{", "json", nil, 29},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			found, lines, _, err := validateJSON(t, tt.doc, atom.ValidateOptions{})
			var parse *websync.ParseError
			require.ErrorAs(t, err, &parse)
			assert.Equal(t, tt.line, parse.Line)
			if tt.want != nil {
				assert.ErrorIs(t, err, tt.want)
			}
			require.NotEmpty(t, found)
			assert.Equal(t, tt.rule, found[len(found)-1])
			assert.Equal(t, tt.line, lines[len(lines)-1])
		})
	}
	_, err := anyfeed.ValidateJSON(iotest.ErrReader(errors.ErrUnsupported), atom.ValidateOptions{Report: func(f websync.Finding) { t.Error(f) }})
	assert.ErrorIs(t, err, errors.ErrUnsupported)
}

func gzipped(t *testing.T, doc string) string {
	var b strings.Builder
	z := gzip.NewWriter(&b)
	z.Write([]byte(doc))
	require.NoError(t, z.Close())
	return b.String()
}

func TestValidateJSONGzip(t *testing.T) {
	found, _, sum, err := validateJSON(t, gzipped(t, validJSON)+"more", atom.ValidateOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"gzip"}, found)
	assert.Equal(t, 2, sum.Entries)
}

// What a reader reads over is a warning if that is asked for.
func TestValidateJSONLenient(t *testing.T) {
	_, _, sum, err := validateJSON(t, `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":1}]}`, atom.ValidateOptions{Lenient: true})
	require.NoError(t, err)
	assert.Zero(t, sum.Errors)
	assert.Positive(t, sum.Warnings)
}
