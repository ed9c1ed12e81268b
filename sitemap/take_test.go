package sitemap_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

const rsNamespace = "http://www.openarchives.org/rs/terms/"

// taker takes the elements of one namespace, and lists them.
type taker struct{ tags []string }

func (t *taker) take(tag *sitemap.Tag) bool {
	if tag.Space != rsNamespace {
		return false
	}
	line, column := tag.Position()
	text := fmt.Sprintf("%d:%d %s", line, column, tag.Local)
	if tag.Entry != nil {
		text = fmt.Sprintf("%s in %d:%d", text, tag.Entry.Line, tag.Entry.Column)
	}
	for i := range tag.Attrs() {
		space, local, value := tag.Attr(i)
		got, gotErr := tag.ParseDatetime(value)
		want, wantErr := websync.ParseDatetime(string(value))
		if got != want || (gotErr == nil) != (wantErr == nil) {
			text += " not the same time"
		}
		text += fmt.Sprintf(" {%s}%s=%s", space, local, value)
	}
	t.tags = append(t.tags, text)
	return true
}

func TestTake(t *testing.T) {
	const start = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">` + "\n"
	const other = `<x xmlns="urn:x">kept</x>`
	doc := start + `<rs:md capability="a&amp;b"/>` + other + "\n<url>" + page1 + "<lastmod>2025-01-02</lastmod>" + other + `<rs:md xmlns:y="urn:y" y:a="2025-01-02"/><rs:ln></rs:ln></url>` + "\n<rs:ln/></urlset>"
	var (
		all   taker
		found []string
	)
	r := sitemap.NewReader(strings.NewReader(doc))
	r.Take = all.take
	r.Report = func(f websync.Finding) { found = append(found, fmt.Sprint(f.Rule, " ", f.Line, ":", f.Column)) }
	entries, err := readAll(r)
	require.NoError(t, err)
	assert.Equal(t, []string{"2:1 md {}capability=a&b", "3:101 md in 3:1 {urn:y}a=2025-01-02", "3:142 ln in 3:1", "4:1 ln"}, all.tags)
	assert.Equal(t, []string{"sitemap-element-order 4:1"}, found)
	kept := []websync.Element{{Space: "urn:x", Local: "x", XML: other}}
	require.Len(t, entries, 1)
	assert.Equal(t, kept, entries[0].Elements)
	assert.Equal(t, kept, r.Elements())

	for name, test := range map[string]struct {
		element string
		want    string
		entries int
	}{
		"text inside":                   {"<rs:md>text</rs:md>", "[sitemap-text]", 1},
		"an element inside":             {"<rs:md><rs:ln/></rs:md>", "[sitemap-xml sitemap-text]", 1},
		"an entry inside":               {"<rs:md><url>" + page1 + "</url></rs:md>", "[sitemap-xml sitemap-nesting]", 2},
		"the end of an entry inside":    {"<rs:md><![CDATA[</url>]]></rs:md>", "[sitemap-nesting]", 1},
		"white space and a comment":     {"<rs:md> <!-- a --> </rs:md>", "[]", 1},
		"an attribute that is repeated": {"<rs:md a='1' a='2'/>", "[]", 0},
	} {
		t.Run(name, func(t *testing.T) {
			for where, doc := range map[string]string{
				"in an entry":     start + "<url>" + page1 + test.element + "</url></urlset>",
				"in the document": start + test.element + "<url>" + page1 + "</url></urlset>",
			} {
				found := []string{}
				r := sitemap.NewReader(strings.NewReader(doc))
				r.Take = new(taker).take
				r.Report = func(f websync.Finding) { found = append(found, f.Rule) }
				entries, err := readAll(r)
				assert.Equal(t, test.entries == 0, err != nil, where)
				assert.Equal(t, test.want, fmt.Sprint(found), where)
				if test.entries > 0 && (test.entries == 1 || where == "in an entry") {
					assert.Len(t, entries, test.entries, where)
				}
				assert.Equal(t, strings.Contains(test.want, "nesting"), r.Skipped() > 0, where)
			}
		})
	}
}

func TestTakeAllocatesNothing(t *testing.T) {
	doc := inEntry("<rs:md xmlns:rs='" + rsNamespace + "' hash='md5:00'/>")
	doc = strings.Replace(doc, "</urlset>", "", 1) + strings.Repeat(doc[len(open):len(doc)-len("</urlset>")], 1000) + "</urlset>"
	r := sitemap.NewReader(strings.NewReader(doc))
	tags := 0
	r.Take = func(tag *sitemap.Tag) bool {
		_, _, value := tag.Attr(0)
		tags += len(value)
		return true
	}
	for range 100 {
		_, err := r.NextView()
		require.NoError(t, err)
	}
	assert.Zero(t, testing.AllocsPerRun(500, func() { r.NextView() }))
	assert.Equal(t, 601*len("md5:00"), tags)
}

func TestValidateAnywhere(t *testing.T) {
	doc := strings.Replace(inEntry(""), "</urlset>", "<url><loc>https://other.example.org/a/page</loc></url></urlset>", 1)
	for _, anywhere := range []bool{false, true} {
		var all taker
		entries := 0
		sum, err := sitemap.Validate(strings.NewReader(doc), sitemap.ValidateOptions{
			Document: "https://www.example.com/list/sitemap.xml", Anywhere: anywhere, Take: all.take, Entry: func(_ *sitemap.View, kind sitemap.Kind) { entries += int(kind) },
		})
		require.NoError(t, err)
		assert.Equal(t, anywhere, sum.Errors == 0, sum)
		assert.Equal(t, sum.Entries*int(sitemap.URLSet), entries)
	}
}

func TestAppender(t *testing.T) {
	var b bytes.Buffer
	w := sitemap.NewWriter(&b)
	w.Appender = &sitemap.Appender{
		Prefix: "rs", Space: rsNamespace,
		Document: func(b []byte) []byte { return append(b, "<rs:md capability=\"resourcelist\"/>\n"...) },
		Entry: func(b []byte, e *sitemap.Entry) []byte {
			return append(append(append(b, `<rs:md path="`...), e.Loc[len("https://www.example.com"):]...), `"/>`...)
		},
	}
	h := sitemap.Head{Elements: []websync.Element{{Space: "urn:x", Local: "x", XML: `<x xmlns="urn:x"/>`}}}
	require.NoError(t, w.WriteHead(&h))
	require.NoError(t, w.Write(&sitemap.Entry{Loc: "https://www.example.com/a", Elements: h.Elements}))
	require.NoError(t, w.Close())
	assert.Equal(t, `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/">
<rs:md capability="resourcelist"/>
<x xmlns="urn:x"/>
<url><loc>https://www.example.com/a</loc><rs:md path="/a"/><x xmlns="urn:x"/></url>
</urlset>
`, b.String())
	assert.EqualValues(t, b.Len(), w.Bytes())
	testkit.Lint(t, "urlset.xsd", b.Bytes())
	var all taker
	r := sitemap.NewReader(&b)
	r.Take = all.take
	_, err := r.Next()
	require.NoError(t, err)
	_, err = r.Next()
	require.Equal(t, io.EOF, err)
	assert.Len(t, all.tags, 2)
}
