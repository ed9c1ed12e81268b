package anyfeed_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const testURL = "https://example.org/gazette/feed"

type result struct {
	Feed     *atom.Feed
	Items    []atom.Item
	Findings []string
}

func parse(src io.Reader) (r result, err error) {
	r.Feed, r.Items, err = anyfeed.Parse(src, atom.Origin{URL: testURL}, func(f websync.Finding) { r.Findings = append(r.Findings, f.String()) })
	return r, err
}

func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	require.NoError(t, err)
	for _, file := range files {
		if filepath.Ext(file) == ".golden" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			r, err := parse(bytes.NewReader(data))
			require.NoError(t, err)
			got, err := json.MarshalIndent(brief(t, r), "", "  ")
			require.NoError(t, err)
			testkit.Golden(t, file+".golden", append(got, '\n'))
		})
	}
}

// brief leaves out empty values everywhere.
func brief(t *testing.T, v any) any {
	data, err := json.Marshal(v)
	require.NoError(t, err)
	var tree any
	require.NoError(t, json.Unmarshal(data, &tree))
	return prune(tree)
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if x = prune(x); x == nil {
				delete(v, name)
			} else {
				v[name] = x
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	case float64:
		if v == 0 {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return v
}

const oneItem = `<rss version="2.0"><channel><title>T</title><item><guid>1</guid></item></channel></rss>`

func TestErrors(t *testing.T) {
	racing.Skip(t)
	deep := strings.Repeat("<x:a>", 300)
	tests := []struct {
		name, src string
		want      error
		text      string
	}{
		{"a login page", "<!DOCTYPE html><html><body><form>Log in</form></body></html>", websync.ErrNotDocument, "line 1, column 16: an HTML page, not a feed"},
		{"a page that is not well-formed", "<!doctype html><link rel='alternate' href='/feed'>", websync.ErrNotDocument, "line 1, column 16: an XML document with the root element \"link\", not a feed"},
		{"a login page that is cut short", "<html><body><form>", websync.ErrNotDocument, "an HTML page, not a feed"},
		{"text", "Service unavailable", websync.ErrNotDocument, "neither XML nor JSON, not a feed"},
		{"a PDF file", "%PDF-1.4\n\xe2\xe3", websync.ErrNotDocument, "a PDF file, not a feed"},
		{"nothing", "", websync.ErrNotDocument, "an empty document, not a feed"},
		{"white space", " \n", websync.ErrNotDocument, "an empty document, not a feed"},
		{"an XML declaration only", "<?xml version='1.0'?>\n", websync.ErrNotDocument, "an empty document, not a feed"},
		{"a sitemap", `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"/>`, websync.ErrNotDocument, "a sitemap, not a feed"},
		{"another kind of feed", `<feed><product/></feed>`, websync.ErrNotDocument, "a feed element with nothing of Atom in it, not a feed"},
		{"a feed in a namespace that is not Atom's", `<feed xmlns="urn:x"><id>1</id></feed>`, websync.ErrNotDocument, ""},
		{"RDF", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description/></rdf:RDF>`, websync.ErrNotDocument, "an RDF document without a channel, not a feed"},
		{"RSS without a channel", `<rss version="2.0"><error/></rss>`, websync.ErrNotDocument, "an rss document without a channel, not a feed"},
		{"JSON", `{"error": "no session"}`, websync.ErrNotDocument, "JSON that is no JSON Feed, not a feed"},
		{"a JSON array", `[]`, websync.ErrNotDocument, "JSON, not a feed"},
		{"a JSON Feed without items", `{"version": "https://jsonfeed.org/version/1"}`, websync.ErrNotDocument, "a JSON Feed without items, not a feed"},
		{"items that are no list", `{"version": "https://jsonfeed.org/version/1", "items": {}}`, websync.ErrNotDocument, "a JSON Feed without items, not a feed"},
		{"RSS, cut short", oneItem[:len(oneItem)-10], websync.ErrTruncated, "line 1, column 78: document ends too early"},
		{"RSS, cut short in a tag", oneItem[:len(oneItem)-3], websync.ErrTruncated, "document ends too early"},
		{"a comment, cut short", "<!-- feed", websync.ErrTruncated, "document ends too early"},
		{"JSON, cut short", `{"version": "https://jsonfeed.org/version/1", "items": [`, websync.ErrTruncated, "document ends too early"},
		{"JSON, cut short in a string", `{"version": "https://jsonf`, websync.ErrTruncated, "document ends too early"},
		{"JSON with a fault", "{\"version\": 1,\n  x", nil, "line 2, column 3: a member without a name"},
		{"XML with a fault", "<rss>\n<channel><=></channel></rss>", nil, "line 2, column 11: "},
		{"entries that an open tag has swallowed", "<rss><channel><title>T<item><guid>1</guid></item></channel></rss>", nil, "entries inside of other elements, and no others"},
		{"deep XML", `<rss><channel xmlns:x="x">` + deep, websync.ErrLimit, "elements more than 256 deep"},
		{"deep JSON", `{"x":` + strings.Repeat("[", 300), websync.ErrLimit, ""},
		{"many entries", `<rss><channel>` + strings.Repeat("<item/>", anyfeed.MaxEntries+1) + `</channel></rss>`, websync.ErrLimit, "more than 25000 entries"},
		{"many items", `{"version":"https://jsonfeed.org/version/1","items":[` + strings.Repeat("1,", anyfeed.MaxEntries) + `1]}`, websync.ErrLimit, "more than 25000 entries"},
		{"many elements", `<feed>` + strings.Repeat("<a b=''/>", 250_001) + `<b></feed>`, websync.ErrLimit, "more than 500000 elements and attributes"},
		{"many values", `{"items":[` + strings.Repeat("1,", 500_001), websync.ErrLimit, ""},
		{"many namespaces", `<feed>` + strings.Repeat("<a xmlns:a='b'>", 65) + `</feed>`, websync.ErrLimit, "more than 64 namespaces"},
		{"many attributes", `<rss><channel><a` + strings.Repeat(" b='c'", 257) + `/>`, websync.ErrLimit, "more than 256 attributes"},
		{"very many attributes", `<rss><channel><a` + strings.Repeat(" b='c'", 2000), websync.ErrLimit, "more than 256 attributes"},
		{"a long text", `<rss><channel><title>` + strings.Repeat("é", 2<<20), websync.ErrLimit, "a text or tag of more than 2097152 bytes"},
		{"a long element", `<rss><channel><title>` + strings.Repeat(strings.Repeat("a", 1<<20)+"<b/>", 3) + `</title>`, websync.ErrLimit, "title: an element of more than 2097152 bytes"},
		{"a long name of JSON", `{"` + strings.Repeat("a", 3<<20) + `":1}`, websync.ErrLimit, "a name or value of more than 2097152 bytes"},
		{"many links", `<rss><channel><item>` + strings.Repeat("<link>a</link>", 10_001), websync.ErrLimit, "more than 10000 links, categories and people of an entry"},
		{"many people", `<rss><channel>` + strings.Repeat("<item>"+strings.Repeat("<author/>", 9000)+"</item>", 20), websync.ErrLimit, "more than 16777216 bytes with its entries"},
		{"characters that grow", `<rss>` + strings.Repeat("\x01", 6<<20), websync.ErrLimit, "more than 16777216 bytes"},
		{"a long base", `<rss xml:base="http://x/` + strings.Repeat("b", 5000) + `"/>`, websync.ErrLimit, "xml:base of more than 4096 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parse(strings.NewReader(tt.src))
			var parse *websync.ParseError
			require.ErrorAs(t, err, &parse)
			assert.Equal(t, "anyfeed", parse.Format)
			assert.Equal(t, testURL, parse.Document)
			assert.ErrorContains(t, err, tt.text)
			for _, sentinel := range []error{websync.ErrNotDocument, websync.ErrTruncated, websync.ErrLimit} {
				assert.Equal(t, sentinel == tt.want, errors.Is(err, sentinel), "%v: %v", err, sentinel)
			}
			assert.Empty(t, r, "nothing but the error")
		})
	}
}

// References that grow when they are resolved must not fill the memory.
func TestExpansion(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://x/` + strings.Repeat("b", 4000) + `/">`)
	for range 20_000 {
		b.WriteString(`<link href="a"/>`)
	}
	b.WriteString(`</feed>`)
	_, err := parse(strings.NewReader(b.String()))
	assert.ErrorIs(t, err, websync.ErrLimit)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestSize(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.CopyN(z, zeros{}, anyfeed.MaxBytes+1)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	_, err = parse(&packed)
	assert.ErrorIs(t, err, websync.ErrLimit)
}

func TestBytes(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(oneItem))
	z.Close()
	wide := func(order func(b []byte, c uint16) []byte, text string) string {
		var b []byte
		for _, c := range utf16.Encode([]rune(text)) {
			b = order(b, c)
		}
		return string(b)
	}
	little := func(b []byte, c uint16) []byte { return append(b, byte(c), byte(c>>8)) }
	big := func(b []byte, c uint16) []byte { return append(b, byte(c>>8), byte(c)) }
	tests := []struct {
		name, src string
		findings  int
	}{
		{"plain", oneItem, 1},
		{"gzip", packed.String(), 1},
		{"gzip with something after it", packed.String() + "x", 2},
		{"a byte-order mark", "\ufeff" + oneItem, 1},
		{"UTF-16, little endian", wide(little, "\ufeff<?xml version='1.0' encoding='UTF-16'?>"+oneItem), 1},
		{"UTF-16, big endian", wide(big, "\ufeff"+oneItem), 1},
		{"UTF-16 without a mark", wide(big, oneItem), 1},
		{"an encoding that is not there", "<?xml version='1.0' encoding='UTF-16'?>" + oneItem, 2},
		{"an encoding that nobody knows", "<?xml version='1.0' encoding='x-nothing'?>" + oneItem, 2},
		{"white space before the declaration", "\n\n<?xml version='1.0' encoding='latin1'?>" + oneItem, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parse(iotest.HalfReader(strings.NewReader(tt.src)))
			require.NoError(t, err)
			require.Len(t, r.Items, 1)
			assert.Equal(t, "1", r.Items[0].ID())
			assert.Equal(t, "T", r.Feed.Title.Value)
			assert.Len(t, r.Findings, tt.findings)
		})
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("the line is down")
	_, err := parse(io.MultiReader(strings.NewReader(oneItem[:20]), iotest.ErrReader(broken)))
	assert.ErrorIs(t, err, broken)
	assert.NotErrorIs(t, err, websync.ErrNotDocument)
}

func TestEmptyFeeds(t *testing.T) {
	for _, src := range []string{
		`<rss version="2.0"><channel/></rss>`,
		`<feed xmlns="http://www.w3.org/2005/Atom"/>`,
		`{"version": "https://jsonfeed.org/version/1.1", "items": []}`,
	} {
		feed, items, err := anyfeed.Parse(strings.NewReader(src), atom.Origin{}, nil)
		require.NoError(t, err)
		assert.NotNil(t, feed)
		assert.Empty(t, items)
	}
}

// TestSkipped: items that are left out are counted.
func TestSkipped(t *testing.T) {
	rss := func(items string) string { return `<rss version="2.0"><channel>` + items + `</channel></rss>` }
	tests := map[string]struct {
		src  string
		want int
	}{
		"nothing":       {rss("<item><guid>1</guid></item>"), 0},
		"no id":         {rss("<item><guid>1</guid></item><item><title>T</title></item><item/>"), 2},
		"astray":        {rss("<item><guid>1</guid></item><items><item><guid>2</guid></item></items>"), 1},
		"wrong members": {`{"version":"https://jsonfeed.org/version/1","items":[{"id":"1"},{"id":"2","content_html":3},{"id":"3","attachments":[{"url":3}]},4]}`, 3},
		"deletions": {`<feed xmlns="http://purl.org/atom/ns#" xmlns:at="http://purl.org/atompub/tombstones/1.0" xmlns:gd="http://schemas.google.com/g/2005">
			<at:deleted-entry ref="3"/><entry><id>1</id></entry><entry><id>2</id><gd:deleted/></entry></feed>`, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := parse(strings.NewReader(tt.src))
			require.NoError(t, err)
			require.Len(t, r.Items, 1)
			assert.Equal(t, tt.want, r.Feed.Skipped)

			f := &sourcetest.Fetcher{Site: sourcetest.Site{testURL: {Body: tt.src}}}
			skipped := 0
			for ev, err := range (&atom.Source{URL: testURL, Parser: anyfeed.Parse}).Events(t.Context(), &harvest.Run{Fetcher: f}) {
				require.NoError(t, err)
				skipped += ev.Skipped
			}
			assert.Equal(t, tt.want, skipped)
		})
	}
}

func TestBrokenTags(t *testing.T) {
	tests := []struct{ name, items string }{
		{"not closed", "<item><guid>1</guid><title>A</item><item><guid>2</guid></item>"},
		{"not opened", "<item><guid>1</guid><title>A</b></title></item><item><guid>2</guid></item>"},
		{"crossed", "<item><guid>1</guid><description><b><i>A</b></i></description></item><item><guid>2</guid></item>"},
		{"markup of HTML", "<item><guid>1</guid><description>A<br>B<img src='a.png' alt></description></item><item><guid>2</guid></item>"},
		{"an ampersand", "<item><guid>1</guid><link>https://x.example/?a=1&b=2</link></item><item><guid>2</guid></item>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parse(strings.NewReader("<rss><channel>" + tt.items + "</channel></rss>"))
			require.NoError(t, err)
			require.Len(t, r.Items, 2)
			assert.Equal(t, "1", r.Items[0].ID())
			assert.Equal(t, "2", r.Items[1].ID())
		})
	}
}

func TestOpenLinks(t *testing.T) {
	r, err := parse(strings.NewReader(`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:x="urn:x">
		<link href="a"><x:y><link href="b"><id>0</id></x:y>
		<entry><id>1</id><category term="c"><link href="d"><title>T</title></entry></feed>`))
	require.NoError(t, err)
	require.Len(t, r.Items, 1)
	e := r.Items[0].Entry
	assert.Equal(t, "T", e.Title.Value)
	assert.Len(t, e.Categories, 1)
	assert.Len(t, e.Links, 1)
}

func TestIDs(t *testing.T) {
	const rdf = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/>`
	tests := []struct{ name, src, want string }{
		{"the guid goes before rdf:about", rdf + `<item rdf:about="about"><guid>guid</guid><link>link</link></item></rdf:RDF>`, "guid"},
		{"rdf:about goes before the link", rdf + `<item rdf:about="about"><link>link</link></item></rdf:RDF>`, "about"},
		{"a link is resolved", rdf + `<item><link>link</link></item></rdf:RDF>`, "https://example.org/gazette/link"},
		{"atom:id as it is", `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://b.example/"><entry><id> a/../ä%7e </id></entry></feed>`, "a/../ä%7e"},
		{"an alternate link of Atom", `<feed xmlns="http://purl.org/atom/ns#"><entry><link rel="alternate" href="/a"/></entry></feed>`, "https://example.org/a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parse(strings.NewReader(tt.src))
			require.NoError(t, err)
			require.Len(t, r.Items, 1)
			assert.Equal(t, tt.want, r.Items[0].ID())
		})
	}
}

// XML of one element is kept, with the declarations around it that it uses.
func TestXMLContent(t *testing.T) {
	for _, tt := range []struct{ value, want string }{
		{`<x:a xmlns:x="urn:x"/>`, `<x:a xmlns:x="urn:x"/>`},
		{`<y:a/>`, `<y:a xmlns:y="urn:y"/>`},
		{`<a/><b/>`, ""},
		{`text`, ""},
	} {
		r, err := parse(strings.NewReader(`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:y="urn:y"><entry><id>1</id>
			<content type="application/xml">` + tt.value + `</content></entry></feed>`))
		require.NoError(t, err)
		assert.Equal(t, tt.want, r.Items[0].Entry.Content.Value)
	}
}

// A declaration applies where it is in scope, not after it.
func TestManyDeclarations(t *testing.T) {
	r, err := parse(strings.NewReader(`<rss><channel>` + strings.Repeat(`<item xmlns:a="a"><guid>1</guid></item>`, 300) + `</channel></rss>`))
	require.NoError(t, err)
	assert.Len(t, r.Items, 300)
}

// TestRules: one of the documents breaks each rule, and every finding has one.
func TestRules(t *testing.T) {
	broken := map[string]bool{}
	report := func(f websync.Finding) { broken[f.Rule] = true }
	files, err := filepath.Glob("testdata/*.*")
	require.NoError(t, err)
	documents := []string{"<rss><channel><item/></channel></rss>", "<rss><channel><item><guid>1</guid><pubDate>x</pubDate></item></channel></rss>\x00",
		"<rss><channel><item><guid>1</guid></item><item><guid>1</guid><title>2</title></item></channel></rss>"}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte("<rss><channel><title>\x01</title></channel></rss>"))
	require.NoError(t, z.Close())
	documents = append(documents, zipped.String()+"more")
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		documents = append(documents, string(data))
	}
	for _, document := range documents {
		anyfeed.Parse(strings.NewReader(document), atom.Origin{URL: testURL}, report)
	}
	for _, r := range anyfeed.Rules() {
		assert.True(t, broken[r.Name], r.Name)
		delete(broken, r.Name)
	}
	assert.Empty(t, broken)
}

func TestParserLimit(t *testing.T) {
	item := `<rss><channel><item><guid>1</guid><title>` + strings.Repeat("a", 900) + `</title></item></channel></rss>`
	for max, want := range map[int64]error{0: nil, -1: nil, 8 << 10: nil, 4 << 10: websync.ErrLimit, 900: websync.ErrLimit} {
		p := anyfeed.Parser{MaxBytes: max}
		_, items, err := p.Parse(strings.NewReader(item), atom.Origin{URL: testURL}, nil)
		assert.ErrorIs(t, err, want, "%d", max)
		assert.Equal(t, err == nil, len(items) == 1)
	}
}

// References to what is no character are one finding, however they are written.
func TestForbiddenReferences(t *testing.T) {
	for _, ref := range []string{"&#0;", "&#x1F;", "&#xD800;", "&#xDFFF;", "&#xFFFE;", "&#x110000;", "&#99999999999;"} {
		found := 0
		_, items, err := anyfeed.Parse(strings.NewReader("<rss><channel><item><guid>1</guid><title>a"+ref+"b</title></item></channel></rss>"), atom.Origin{URL: testURL},
			func(f websync.Finding) {
				if f.Rule == "anyfeed-bytes" {
					found++
				}
			})
		require.NoError(t, err, ref)
		assert.Equal(t, "a\uFFFDb", items[0].Entry.Title.Value, ref)
		assert.Equal(t, 1, found, ref)
	}
}

// A reference that is longer than any that a program writes.
func TestLongForbiddenReference(t *testing.T) {
	_, err := parse(strings.NewReader("<rss><channel><item><guid>1</guid>\n<title>a&#" + strings.Repeat("0", 70) + "1;</title></item></channel></rss>"))
	assert.ErrorContains(t, err, "line 2, column 9: something that is no character: reference to a character that XML forbids")
	assert.ErrorAs(t, err, new(*websync.ParseError))
}

func TestManyTags(t *testing.T) {
	_, err := parse(strings.NewReader(`{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","tags":["1"` + strings.Repeat(`,"1"`, 140_000) + `]}]}`))
	assert.ErrorIs(t, err, websync.ErrLimit)
	assert.ErrorContains(t, err, "more than 10000 links")
}

// The other limits grow with MaxBytes.
func TestLargerParser(t *testing.T) {
	items := `<rss><channel>` + strings.Repeat("<item><guid>1</guid></item>", anyfeed.MaxEntries+1) + `</channel></rss>`
	p := anyfeed.Parser{MaxBytes: 2 * anyfeed.MaxBytes}
	_, read, err := p.Parse(strings.NewReader(items), atom.Origin{URL: testURL}, nil)
	require.NoError(t, err)
	assert.Len(t, read, anyfeed.MaxEntries+1)
}

// Entries that gofeed reads in several parts.
func TestManyEntries(t *testing.T) {
	racing.Skip(t)
	const n = 1000
	long := strings.Repeat("text ", 1000)
	tests := []struct{ name, start, item, end string }{
		{"RSS", `<rss xmlns:a="http://purl.org/dc/elements/1.1/"><channel>`, `<item><guid>%s</guid><a:title>T</a:title><title>T</title><pubDate>2024-01-02T00:00:00Z</pubDate>` + long + `</item>`, `</channel></rss>`},
		{"RSS that is not closed", `<rss><channel>`, `<item><guid>%s</guid><title>T</title><pubDate>2024-01-02T00:00:00Z</pubDate><b>` + long + `<b>A</item>`, `</channel></rss>`},
		{"RSS 1.0", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel/>`,
			`<item rdf:about="%s"><title>T</title><dc:date>2024-01-02T00:00:00Z</dc:date>` + long + `</item>`, `</rdf:RDF>`},
		{"Atom", `<feed xmlns="http://purl.org/atom/ns#">`, `<entry><id>%s</id><title>T</title><modified>2024-01-02T00:00:00Z</modified>` + long + `</entry>`, `</feed>`},
		{"empty ones between", `<rss><channel>`, `<item/><item></item><item><guid>%s</guid><title>T</title><pubDate>2024-01-02T00:00:00Z</pubDate><link/>` + long + `</item>`, `</channel></rss>`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString(tt.start)
			for i := range n {
				fmt.Fprintf(&b, tt.item, fmt.Sprint("urn:", i))
			}
			b.WriteString(tt.end)
			r, err := parse(strings.NewReader(b.String()))
			require.NoError(t, err)
			require.Len(t, r.Items, n)
			for i, item := range r.Items {
				require.Equal(t, fmt.Sprint("urn:", i), item.ID())
				require.Equal(t, "T", item.Entry.Title.Value)
				require.Equal(t, "2024-01-02T00:00:00Z", max(item.Entry.Updated.String(), item.Entry.Published.String()))
			}
		})
	}
}

// Items may be in the channel and outside of it.
func TestManyOutside(t *testing.T) {
	racing.Skip(t)
	const n = 500
	items := func(id string) string {
		return strings.Repeat("<item><guid>"+id+"</guid><title>"+id+"</title>"+strings.Repeat("text ", 1000)+"</item>", n)
	}
	r, err := parse(strings.NewReader("<rss>" + items("outside") + "<channel>" + items("inside") + "</channel></rss>"))
	require.NoError(t, err)
	require.Len(t, r.Items, 2*n)
	for i, item := range r.Items {
		want := "outside"
		if i >= n {
			want = "inside"
		}
		require.Equal(t, want, item.ID())
		require.Equal(t, want, item.Entry.Title.Value)
	}
}

// An end tag may close an item and the channel around it.
func TestUnclosedItem(t *testing.T) {
	for _, end := range []string{"</item></channel></rss>", "</channel></rss>", "<b></channel></rss>", "<b/></channel></rss>", "<itunes:x></channel></rss>"} {
		r, err := parse(strings.NewReader(`<rss><channel><title>T</title><item><guid>1</guid></item><item><guid>2</guid>` + end))
		require.NoError(t, err, end)
		require.Len(t, r.Items, 2, end)
		assert.Equal(t, "2", r.Items[1].ID(), end)
		assert.Equal(t, "T", r.Feed.Title.Value, end)
	}
}

// TestTextTypes: what is escaped once in XML is text, and never becomes an element.
func TestTextTypes(t *testing.T) {
	const div = `<div xmlns="http://www.w3.org/1999/xhtml">`
	tests := []struct{ name, content, typ, want string }{
		{"XHTML", `<content type="xhtml"> ` + div + `<p>a &lt; <br />b</p></div> </content>`, atom.XHTML, div + `<p>a &lt; <br/>b</p></div>`},
		{"XHTML without a div", `<content type="xhtml"><p xmlns="http://www.w3.org/1999/xhtml">a</p></content>`, atom.XHTML, div + `<p xmlns="http://www.w3.org/1999/xhtml">a</p></div>`},
		{"text beside a div", `<content type="xhtml">&lt;i>` + div + `a</div></content>`, atom.XHTML, div + `&lt;i&gt;` + div + `a</div></div>`},
		{"without a namespace", `<content type="xhtml"><p>a<br/><b c="&quot;" xml:lang="en" xml:base="/d"/></p></content>`, atom.HTML, `<p>a<br><b c="&quot;" lang="en"></b></p>`},
		{"two", `<content type="xhtml"><div>a</div><div>b</div></content>`, atom.HTML, `<div>a</div><div>b</div>`},
		{"HTML in a div", `<content type="html"><div>a</div></content>`, atom.HTML, `<div>a</div>`},
		{"HTML", `<content type="html">&lt;p&gt;a&lt;/p&gt;</content>`, atom.HTML, `<p>a</p>`},
		{"elements and escapes", `<content type="html">&lt;i&gt;<p>&lt;p&gt;a&lt;/p&gt;</p></content>`, atom.HTML, `&lt;i&gt;<p>&lt;p&gt;a&lt;/p&gt;</p>`},
		{"escaped", `<content type="text/html" mode="escaped">&lt;p&gt;a&lt;/p&gt;</content>`, atom.HTML, `<p>a</p>`},
		{"escaped, without a type", `<content mode="escaped">&lt;p&gt;a&lt;/p&gt;</content>`, atom.HTML, `<p>a</p>`},
		{"XML", `<content type="text/html" mode="xml">&lt;script&gt;a<b>b</b></content>`, atom.HTML, `&lt;script&gt;a<b>b</b>`},
		{"XML without an element", `<content type="text/html" mode="xml">&lt;script&gt;</content>`, atom.HTML, `&lt;script&gt;`},
		{"a media type of HTML, without a mode", `<content type="text/html">&lt;script&gt;</content>`, atom.HTML, `&lt;script&gt;`},
		{"XML, plain", `<content mode="xml">a &lt;b&gt;</content>`, atom.PlainText, `a <b>`},
		{"Base64 of HTML", `<content type="text/html" mode="base64">PHA+
			YTwvcD4=</content>`, atom.HTML, `<p>a</p>`},
		{"Base64 of a text", `<content mode="base64">PHA+YTwvcD4=</content>`, atom.PlainText, `<p>a</p>`},
		{"Base64 of a picture", `<content type="image/png" mode="base64">iVBO
			Rw0K</content>`, "image/png", "iVBORw0K"},
		{"Base64 that is none", `<content type="text/html" mode="base64">PHA</content>`, "", ""},
		{"another type that is none", `<content type="image/png">no picture!</content>`, "", ""},
		{"another text", `<content type="text/csv">a,b</content>`, "text/csv", "a,b"},
		{"HTML with a mode", `<content type='html' mode = 'escaped'>&lt;p&gt;a&lt;/p&gt;</content>`, atom.HTML, `<p>a</p>`},
		{"HTML in CDATA", `<content type="html"><![CDATA[<p>a</p>]]></content>`, atom.HTML, `<p>a</p>`},
		{"XHTML in CDATA", `<content type="xhtml"><![CDATA[<p>a</p>]]></content>`, atom.HTML, `&lt;p&gt;a&lt;/p&gt;`},
		{"a reference in the type", `<content type="&#120;html"><p>a</p></content>`, atom.HTML, `<p>a</p>`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parse(strings.NewReader(`<feed xmlns="http://purl.org/atom/ns#"><entry><id>1</id>` + tt.content + `</entry></feed>`))
			require.NoError(t, err)
			require.Len(t, r.Items, 1)
			assert.Equal(t, tt.typ, r.Items[0].Entry.Content.Type)
			assert.Equal(t, tt.want, r.Items[0].Entry.Content.Value)
			assert.Equal(t, tt.want == "", len(r.Findings) > 1)
		})
	}
}

// TestTextsInDamagedAtom: what is escaped in XHTML stays so, if there is a CDATA section,
// too.
func TestTextsInDamagedAtom(t *testing.T) {
	for _, namespace := range []string{"http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#"} {
		for _, local := range []string{"title", "summary", "content"} {
			text := `<` + local + ` type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">&lt;script&gt; <![CDATA[<i> &amp; ]]><b>c</b></div></` + local + `>`
			r, err := parse(strings.NewReader(`<feed xmlns="` + namespace + `"><entry><id>1</id>` + text + `<b></entry></feed>`))
			require.NoError(t, err)
			require.Len(t, r.Items, 1)
			e := r.Items[0].Entry
			assert.Equal(t, `&lt;script&gt; &lt;i&gt; &amp;amp; <b>c</b>`, e.Title.Value+e.Summary.Value+e.Content.Value, namespace)
		}
	}
}

func TestLongDate(t *testing.T) {
	long := strings.Repeat("1", 1<<20)
	for _, src := range []string{
		`<rss><channel><item><guid>1</guid><pubDate>` + long + `</pubDate></item></channel></rss>`,
		`<feed xmlns="http://purl.org/atom/ns#"><entry><id>1</id><issued>` + long + `</issued></entry></feed>`,
		`{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","date_published":"` + long + `"}]}`,
	} {
		r, err := parse(strings.NewReader(src))
		require.NoError(t, err)
		require.Len(t, r.Items, 1)
		assert.Equal(t, long[:256], r.Items[0].Entry.PublishedText)
		assert.Len(t, r.Findings, 2)
	}
}

// Faults at the borders of the pages of a document.
func TestFaultsAtBorders(t *testing.T) {
	racing.Skip(t)
	for _, fault := range []string{"\x01", "\xff\xfe", "\xe2\x82", "\uffff", "&#1;", "&#x0001;"} {
		for shift := range 8 {
			text := strings.Repeat("é€", 30_000) + strings.Repeat("a", shift)
			r, err := parse(strings.NewReader("<?xml version='1.0' encoding='UTF-8'?><rss><channel><item><guid>1</guid><description>" +
				text + fault + text + "</description></item></channel></rss>"))
			require.NoError(t, err)
			require.Len(t, r.Items, 1)
			require.Equal(t, text+"\ufffd"+text, r.Items[0].Entry.Summary.Value)
		}
	}
	for shift := range 8 { // the encoding is not stated
		text := strings.Repeat("a", shift) + strings.Repeat("é€", 30_000)
		r, err := parse(strings.NewReader("<rss><channel><item><guid>1</guid><description>" + text + "</description></item></channel></rss>"))
		require.NoError(t, err)
		require.Equal(t, text, r.Items[0].Entry.Summary.Value)
	}
}
