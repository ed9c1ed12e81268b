package anyfeed_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/atom/anyfeed"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

// tokens are the parts of a document that give it its structure.
var tokens = map[string]*regexp.Regexp{
	".xml":  regexp.MustCompile(`<!\[CDATA\[|\]\]>|<!--|-->|<[^!][^>]*>`),
	".json": regexp.MustCompile(`[{}\[\],:]|"(?:[^"\\]|\\.)*"`),
}

// others are tokens that come where they do not belong.
var others = map[string][]string{
	".xml":  {"</item>", "</channel>", "</rss>", "</rdf:RDF>", "</title>", "<item>", "<channel>", "<title>", "<![CDATA[", "<!--", "<!x "},
	".json": {"]", "}", "[", "{", "]}", "},{", ",", "\""},
}

// A damage is a document with one fault.
type damage struct{ name, src string }

// damages returns a document with each fault that one token can have.
func damages(doc, kind string) (all []damage) {
	add := func(format string, from, to int, src ...string) {
		what := fmt.Sprintf(format, doc[from:to])
		all = append(all, damage{fmt.Sprintf("%s at %d", what, from), strings.Join(src, "")})
	}
	spans := tokens[kind].FindAllStringIndex(doc, -1)
	for i, s := range spans {
		from, to := s[0], s[1]
		before, token, after := doc[:from], doc[from:to], doc[to:]
		add("without %s", from, to, before, after)
		add("%s twice", from, to, before, token, token, after)
		add("cut before %s", from, to, before)
		add("cut after %s", from, to, before, token)
		for _, other := range others[kind] {
			add(other+" before %s", from, to, before, other, token, after)
		}
		if i+1 < len(spans) {
			next := spans[i+1]
			add("%s after the next", from, to, before, doc[next[0]:next[1]], doc[to:next[0]], token, doc[next[1]:])
		}
		if kind == ".json" && token[0] == '"' && !strings.HasPrefix(strings.TrimSpace(after), ":") {
			continue // a value has no structure
		}
		quoted := false
		for at := from; at < to; at++ {
			if kind == ".xml" && doc[at] == '"' {
				quoted = !quoted
			}
			if quoted && doc[at] != '"' {
				continue
			}
			add("without byte %s", at, at+1, doc[:at], doc[at+1:])
			add("another byte than %s", at, at+1, doc[:at], "x", doc[at+1:])
		}
	}
	for _, rest := range []string{"x", "<item/>", "{}", "</item>", "<!-- x", "<![CDATA[x]]>"} {
		add("more at the end: "+rest+"%s", len(doc), len(doc), doc, rest)
	}
	return all
}

// TestDamages: an item that is lost is an error, or counts as skipped.
func TestDamages(t *testing.T) {
	documents := 0
	testkit.Files(t, "testdata", nil, func(path string, data []byte) {
		kind := filepath.Ext(path)
		if tokens[kind] == nil || strings.HasPrefix(filepath.Base(path), "atom") {
			return
		}
		whole, err := parse(bytes.NewReader(data))
		require.NoError(t, err)
		if whole.Feed.Skipped > 0 {
			return
		}
		documents++
		for i, d := range damages(string(data), kind) {
			if racing.Few() && i%10 > 0 {
				continue
			}
			r, err := parse(strings.NewReader(d.src))
			if err != nil || r.Feed.Skipped > 0 {
				continue
			}
			ids := map[string]bool{}
			for _, item := range r.Items {
				ids[item.ID()] = true
			}
			for _, item := range whole.Items {
				assert.True(t, ids[item.ID()], "%s %s: %s is lost\n%s", path, d.name, item.ID(), strings.Join(r.Findings, "\n"))
			}
		}
	})
	assert.GreaterOrEqual(t, documents, 9)
}

// TestStructure: text, elements and tags where none may be count as skipped.
func TestStructure(t *testing.T) {
	const one, two, three = "<item><guid>1</guid></item>", "<item><guid>2</guid></item>", "<item><guid>3</guid></item>"
	cdata := func(id int, text string) string {
		return fmt.Sprintf("<item><guid>%d</guid><description><![CDATA[%s</description></item>", id, text)
	}
	rss := func(items ...string) string { return rssStart + strings.Join(items, "\n") + rssEnd }
	rdf := func(items ...string) string { return rdfStart + strings.Join(items, "\n") + "</rdf:RDF>" }
	tests := []struct {
		name, src string
		items     int
		skipped   int
		text      string // of a finding
	}{
		{"RSS that is sound", rss(one, "<!-- x -->", two, "<?x y?>", three) + "\n<!-- x -->\n<?x y?>\n", 3, 0, ""},
		{"extensions", rss("<x:y xmlns:x='urn:x'>text<x:z/></x:y>", one, "<x:y xmlns:x='urn:x'/>"), 1, 0, ""},
		{"HTML in a text", rss("<item><guid>1</guid><description>a<br>b</p><img src='c'></description></item>"), 1, 0, ""},
		{"a link of HTML in a text", rss("<item><guid>1</guid><description><link>a<br/></link></description></item>"), 1, 0, ""},
		{"an unknown element of an item", rss("<item><guid>1</guid><place>Paris</place></item>"), 1, 0, ""},

		{"a lost ]]> of the first of two", rss(cdata(1, "a"), cdata(2, "b]]>")), 1, 1, "CDATA section"},
		{"a lost ]]> of the first of three", rss(cdata(1, "a"), cdata(2, "b]]>"), cdata(3, "c]]>")), 2, 1, ""},
		{"a lost ]]> in RSS 1.0", rdf("<channel/>", `<item rdf:about="1"><title><![CDATA[a</title></item>`, `<item rdf:about="2"><title><![CDATA[b]]></title></item>`), 1, 1, ""},
		{"a lost <item>", rss(one, two[len("<item>"):], three), 2, 2, `"item" ends and has not begun`},
		{"a lost <item>, the first one", rss(one[len("<item>"):], two), 1, 2, `"guid" in "channel"`},
		{"a lost <item> of RSS 1.0", rdf("<channel/>", "<title>1</title></item>", `<item rdf:about="2"/>`), 1, 2, `"title" in "RDF"`},
		{"a lost <item> and </item>", rss("<title>T</title>", one, "<title>2</title><link>/2</link>"), 1, 1, `a second "title"`},
		{"a lost </item><item>", rss("<item><guid>1</guid><title>A</title><guid>2</guid><title>B</title></item>"), 1, 2, `a second "guid"`},
		{"a lost </item>", rss("<item><guid>1</guid>", two, three), 1, 3, `"item" is not closed`},
		{"an early </rss>", rss(one, "</channel></rss>", two), 1, 1, "after the end of the feed"},
		{"an early </rss> that ends all", rss(one, "</rss>", two), 1, 2, `"channel" is not closed`},
		{"an early </rss> in an item", rss(one, "<item><guid>2</guid></rss>", three), 2, 3, `"item" is not closed`},
		{"an early </channel>", rss(one, "</channel>", two), 2, 1, `"channel" ends and has not begun`},
		{"an early </rdf:RDF>", rdf("<channel/>", `<item rdf:about="1"/>`, "</rdf:RDF>", `<item rdf:about="2"/>`), 1, 1, ""},

		{"text between items", rss(one, "Warning: no connection", two), 2, 1, "text between elements"},
		{"text between items of RSS 1.0", rdf("<channel/>", `<item rdf:about="1"/>`, "Warning: no connection"), 1, 1, ""},
		{"text in CDATA between items", rss(one, "<![CDATA[Warning]]>"), 1, 1, ""},
		{"text in an item", rss("<item><guid>1</guid>title>A</item>"), 1, 1, ""},
		{"text after the end", rss(one) + "\n<!-- x -->Warning", 1, 1, "after the end of the feed"},
		{"an element after the end", rss(one) + "<script/>", 1, 1, ""},
		{"an end tag after the end", rss(one) + "</rss>", 1, 1, ""},
		{"a declaration after the end", rss(one) + "<!x>", 1, 1, ""},
		{"an error message", rss(one, "<b>Warning</b>: no connection<br/>"), 1, 3, `"b" in "channel"`},
		{"an item in an element of another namespace", rss(one, "<x:y xmlns:x='urn:x'><item><guid>2</guid></item></x:y>"), 1, 1, "entries inside of other elements"},
		{"an element in a guid", rss("<item><guid>1<title>A</title></guid></item>"), 1, 1, `an element in "guid"`},
		{"a title that is not closed", rss("<item><guid>1</guid><title>A<link>/1</link></item>"), 1, 1, `"title" is not closed`},
		{"two channels", rss(one, "</channel><channel>", two), 2, 1, "a second channel"},
		{"a declaration", rss(one, "<!CDATA["+two+">"), 1, 1, "a declaration"},
		{"an instruction that is not closed", rss(one, "<?x", two, "<?y ?>"), 1, 1, "processing instruction"},
		{"metadata of Atom", atomStart + "<entry><id>1</id></entry><content>x</content></feed>", 1, 1, `"content" in "feed"`},
		{"text in Atom", atomStart + "<entry><id>1</id></entry>x</feed>", 1, 1, ""},

		{"JSON that is sound", jsonStart + `"items":[{"id":"1","_x":{"id":1,"a":{"id":2}}}]}` + "\n", 1, 0, ""},
		{"a list of items that is there twice", jsonStart + `"items":[{"id":"1"}],"items":[{"id":"2"}]}`, 1, 1, "the feed has a member twice"},
		{"two items in one", jsonStart + `"items":[{"id":"1","title":"A","id":"2","title":"B"}]}`, 1, 1, "item 1 has a member twice"},
		{"items that are no objects", jsonStart + `"items":[{"id":"1"},"2",null,[3]]}`, 1, 3, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parse(strings.NewReader(tt.src))
			require.NoError(t, err)
			assert.Len(t, r.Items, tt.items)
			assert.Equal(t, tt.skipped, r.Feed.Skipped, strings.Join(r.Findings, "\n"))
			assert.Contains(t, strings.Join(r.Findings, "\n"), tt.text)
			assert.Equal(t, tt.skipped > 0, len(r.Findings) > 1)
		})
	}
	for name, src := range map[string]string{
		"RSS, a quotation mark is lost": rss(`<item><guid a="b>1</guid></item><item><guid a="c">2</guid></item>`),
		"JSON, more at the end":         jsonStart + `"items":[]} x`,
		"JSON, items that end":          jsonStart + `"items":[{"id":"1"}],{"id":"2"}]}`,
		"JSON, items that are cut":      jsonStart + `"items":[{"id":"1"},`,
		"RSS, the last ]]> is lost":     rss(cdata(1, "a]]>"), cdata(2, "b")),
		"RSS, a comment is not closed":  rss(one, "<!-- ", two, "<!-- x -->"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(strings.NewReader(src))
			assert.Error(t, err)
		})
	}
}

// TestManyDoubts: all count, and the first of them are findings.
func TestManyDoubts(t *testing.T) {
	r, err := parse(strings.NewReader(rssStart + strings.Repeat("<x/>", 100_000) + rssEnd))
	require.NoError(t, err)
	assert.Equal(t, 100_000, r.Feed.Skipped)
	assert.Len(t, r.Findings, 1+100+2) // and that not all are kept
	assert.Contains(t, strings.Join(r.Findings, "\n"), "may have hidden an entry: 99900")
}

// TestDamagedDeletesNothing: a complete feed in RSS deletes what it lacks, unless
// something may have hidden it.
func TestDamagedDeletesNothing(t *testing.T) {
	const all = 20
	feed := func(damage string) string {
		var b strings.Builder
		b.WriteString(rssStart + "<fh:complete/>")
		for i := range all {
			fmt.Fprintf(&b, "<item><guid>%d</guid><description><![CDATA[Act %[1]d]]></description></item>\n", i)
		}
		b.WriteString(rssEnd)
		src := b.String()
		for pair := range strings.SplitSeq(damage, " | ") {
			old, replaced, _ := strings.Cut(pair, " -> ")
			require.Contains(t, src, old)
			src = strings.Replace(src, old, replaced, 1)
		}
		return src
	}
	const seven = "<item><guid>7</guid><description><![CDATA[Act 7]]></description></item>"
	for name, tt := range map[string]struct {
		damage  string
		deleted int64
	}{
		"an item is gone":                 {seven + " -> ", 1},
		"a lost ]]>":                      {"Act 6]]> -> Act 6", 0},
		"a lost <item>":                   {"<item><guid>7</guid> -> <guid>7</guid>", 0},
		"an early </rss>":                 {"<item><guid>19 -> </channel></rss><item><guid>19", 0},
		"an error message for an item":    {seven + " -> Warning: no connection", 0},
		"a lost </guid>":                  {"7</guid> -> 7", 0},
		"one guid for two items":          {"<guid>7</guid> -> <guid>6</guid>", 0},
		"an item is gone, text elsewhere": {seven + " ->  | <item><guid>9 -> x<item><guid>9", 0},
	} {
		t.Run(name, func(t *testing.T) {
			store := harvest.NewCatalog(memstore.New())
			run := func(src string) *harvest.Report {
				f := &sourcetest.Fetcher{Site: sourcetest.Site{testURL: {Body: src}}}
				report, err := (&harvest.Harvester{Sample: -1, Catalog: store, Fetcher: f}).Run(t.Context(), &atom.Source{URL: testURL, Parser: anyfeed.Parse})
				require.NoError(t, err)
				return report
			}
			first := run(feed(" -> "))
			assert.EqualValues(t, all, first.Created)
			assert.True(t, first.InStep())
			second := run(feed(tt.damage))
			assert.Equal(t, tt.deleted, second.Deleted)
			assert.Equal(t, tt.deleted > 0, second.InStep())
		})
	}
}

// A random damage of a token or a byte of a document.
func randomDamage(r *rand.Rand, doc string) damage {
	spans := tokens[".xml"].FindAllStringIndex(doc, -1)
	i := r.IntN(len(spans))
	s, other := spans[i], spans[r.IntN(len(spans))]
	before, token, after := doc[:s[0]], doc[s[0]:s[1]], doc[s[1]:]
	at := r.IntN(len(doc))
	switch kind := r.IntN(6); {
	case kind == 0:
		return damage{fmt.Sprintf("without byte %d, %q", at, doc[at]), doc[:at] + doc[at+1:]}
	case kind == 1:
		return damage{fmt.Sprintf("without %s at %d", token, s[0]), before + after}
	case kind == 2:
		return damage{fmt.Sprintf("%s at %d twice", token, s[0]), before + token + token + after}
	case kind == 3:
		name := regexp.MustCompile(`[\w:]+`).ReplaceAllString(token, "renamed")
		return damage{fmt.Sprintf("%s at %d renamed", token, s[0]), before + name + after}
	case kind == 4 && other[0] >= s[1]:
		moved := doc[other[0]:other[1]]
		return damage{fmt.Sprintf("%s at %d and %s at %d swapped", token, s[0], moved, other[0]),
			before + moved + doc[s[1]:other[0]] + token + doc[other[1]:]}
	}
	cut := s[0] + r.IntN(s[1]-s[0])
	return damage{fmt.Sprintf("%s at %d cut in two", token, s[0]), doc[:cut] + "\n" + doc[cut:]}
}

// TestRandomDamages: an item that is lost is an error, a finding, or counts as skipped.
func TestRandomDamages(t *testing.T) {
	var documents []string
	for _, name := range []string{"sound20.xml", "rss091.xml", "rss10.xml", "podcast.xml", "blog.xml", "journal.xml"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		documents = append(documents, string(data))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range racing.Some(2000) {
		doc := documents[r.IntN(len(documents))]
		whole, err := parse(strings.NewReader(doc))
		require.NoError(t, err)
		d := randomDamage(r, doc)
		damaged, err := parse(strings.NewReader(d.src))
		if err != nil || damaged.Feed.Skipped > 0 || len(damaged.Findings) > len(whole.Findings) {
			continue
		}
		assert.GreaterOrEqual(t, len(damaged.Items), len(whole.Items), "%s: an item is lost", d.name)
	}
}
