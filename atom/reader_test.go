package atom_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
)

const readURL = "https://www.example.com/feeds/feed.atom"

func readerOf(data []byte, report func(websync.Finding)) *atom.Reader {
	r := atom.NewReader(bytes.NewReader(data))
	r.Document = readURL
	r.Now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r.Report = report
	return r
}

// TestReaderGolden reads every file of testdata/read. The expected result is in the file
// of the same name with .golden behind it.
func TestReaderGolden(t *testing.T) {
	testkit.GoldenFiles(t, "testdata/read", nil, readTranscript)
}

// readTranscript returns everything that a Reader yields and reports of a document.
func readTranscript(t *testing.T, data []byte) string {
	var b strings.Builder
	r := readerOf(data, func(f websync.Finding) {
		f.Document = ""
		fmt.Fprintf(&b, "  %s [%s]\n", f, f.Element)
	})
	r.Feed()
	b.WriteString("-- items\n")
	for item, err := range r.All() {
		if err != nil {
			b.WriteString(testkit.ErrorLines(err))
			break
		}
		if item.Tombstone != nil {
			b.WriteString("tombstone " + readFields(t, item.Tombstone))
		} else {
			b.WriteString("entry " + readFields(t, item.Entry))
		}
	}
	fmt.Fprintf(&b, "-- %v, skipped %d\n%s", r.Kind(), r.Skipped(), readFields(t, r.Feed()))
	return b.String()
}

// readFields returns the fields of v that are not zero, one a line.
func readFields(t *testing.T, v any) string {
	data, err := json.Marshal(v)
	require.NoError(t, err)
	var tree any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	require.NoError(t, d.Decode(&tree))
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	require.NoError(t, e.Encode(stated(tree)))
	return b.String()
}

// stated removes what is zero from a tree of JSON.
func stated(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if v[key] = stated(value); v[key] == nil {
				delete(v, key)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = stated(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	case json.Number:
		if v == "0" {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return v
}

const feedStart = `<feed xmlns="` + atom.Namespace + `" xmlns:at="` + atom.TombstoneNamespace + `"><id>urn:feed</id>` + "\n"

// TestReaderOneBadEntry: of 20,000 entries 500 are damaged, each in another way. They
// give findings, and all others are read.
func TestReaderOneBadEntry(t *testing.T) {
	damages := []string{
		"<id>%s</id><updated>day %d</updated>",
		"<id>%s</id><link href='a' length='n%d'/>",
		"<id>%s</id><link rel='x%d'/>",
		"<id>%s</id><title type='t%d'/>",
		"<id>%s</id><unknown-%d/>",
		"<id>%s</id><title>a & b %d</title>",
		"<id>%s</id><content type='xhtml'>text %d</content>",
		"<id>%s</id><id>urn:second:%d</id>",
		"<id>%s</id><link href='a' hash='md5:%d'/>",
		"<!-- %s --><title>%d</title>",
	}
	const entries, bad = 20_000, 500
	var doc bytes.Buffer
	doc.WriteString(feedStart)
	for i := range entries {
		id := fmt.Sprintf("urn:entry:%d", i)
		body := "<id>" + id + "</id>"
		if i%(entries/bad) == 7 {
			n := i / (entries / bad)
			body = fmt.Sprintf(damages[n%len(damages)], id, n)
		}
		doc.WriteString("<entry>" + body + "</entry>\n")
	}
	doc.WriteString("</feed>\n")

	lines := make(map[int]bool)
	r := readerOf(doc.Bytes(), func(f websync.Finding) {
		assert.Positive(t, f.Line)
		assert.Positive(t, f.Column)
		lines[f.Line] = true
	})
	n := 0
	for item, err := range r.All() {
		require.NoError(t, err)
		assert.Contains(t, item.ID(), "urn:entry:")
		n++
	}
	assert.Equal(t, entries-bad/len(damages), n, "only an entry without id is left out")
	assert.Equal(t, 2*bad/len(damages), r.Skipped(), "and a second id may be that of another entry")
	assert.Len(t, lines, bad, "one line with a finding for each damaged entry")
}

// TestReaderFeed: metadata before the first item is available before the first Next,
// metadata after it at the end.
func TestReaderFeed(t *testing.T) {
	doc := feedStart + "<title>before</title><entry><id>urn:1</id></entry><logo>after.png</logo><at:deleted-entry ref='urn:2' when='2024-05-01T12:00:00Z'/></feed>"
	r := readerOf([]byte(doc), nil)
	f := r.Feed()
	assert.Equal(t, atom.FeedDocument, r.Kind())
	assert.Equal(t, "urn:feed", f.ID)
	assert.Equal(t, "before", f.Title.Value)
	item, err := r.Next()
	require.NoError(t, err)
	assert.Equal(t, "urn:1", item.ID())
	assert.Empty(t, f.Logo)
	item, err = r.Next()
	require.NoError(t, err)
	assert.Equal(t, "urn:2", item.ID())
	assert.Equal(t, "https://www.example.com/feeds/after.png", r.Feed().Logo)
	_, err = r.Next()
	assert.Equal(t, io.EOF, err)
	_, err = r.Next()
	assert.Equal(t, io.EOF, err, "the end sticks")
}

// TestReaderDocument: relative references are resolved against a URL, and stay as they
// are against a file name.
func TestReaderDocument(t *testing.T) {
	for document, want := range map[string]string{
		"http://example.org/a/b":  "http://example.org/a/x",
		"file:///feeds/feed.atom": "file:///feeds/x",
		"feeds/feed.atom":         "x",
		`C:\feeds\feed.atom`:      "x",
		"":                        "x",
	} {
		var rules []string
		r := readerOf([]byte(feedStart+"<entry><id>1</id><link href='x'/></entry></feed>"), func(f websync.Finding) { rules = append(rules, f.Rule) })
		r.Document = document
		item, err := r.Next()
		require.NoError(t, err)
		assert.Equal(t, want, item.Entry.Links[0].Href, document)
		assert.Equal(t, want == "x", len(rules) == 1 && rules[0] == "atom-relative", document)
	}
}

// TestReaderFeedError: Next returns an error in the metadata, so that it never looks like
// an empty feed.
func TestReaderFeedError(t *testing.T) {
	r := readerOf([]byte(feedStart+"<title>"), nil)
	assert.Equal(t, "urn:feed", r.Feed().ID)
	_, err := r.Next()
	require.ErrorIs(t, err, websync.ErrTruncated)
	_, again := r.Next()
	assert.Equal(t, err, again)

	r = readerOf([]byte("<html/>"), nil)
	assert.Empty(t, r.Feed().ID)
	_, err = r.Next()
	require.ErrorIs(t, err, websync.ErrNotDocument)
}

func readAllItems(r *atom.Reader) (items []atom.Item, err error) {
	for item, err := range r.All() {
		if err != nil {
			return items, err
		}
		items = append(items, item)
	}
	return items, nil
}

func TestReaderLimits(t *testing.T) {
	racing.Skip(t)
	many := func(n int) []byte {
		var b bytes.Buffer
		b.WriteString(feedStart)
		for i := range n {
			fmt.Fprintf(&b, "<entry><id>urn:%d</id></entry>\n", i)
		}
		b.WriteString("</feed>")
		return b.Bytes()
	}
	t.Run("MaxEntries", func(t *testing.T) {
		r := readerOf(many(11), nil)
		r.MaxEntries = 10
		items, err := readAllItems(r)
		assert.Len(t, items, 10)
		require.ErrorIs(t, err, websync.ErrLimit)
		assert.ErrorContains(t, err, "line 12")

		r = readerOf(many(10), nil)
		r.MaxEntries = 10
		_, err = readAllItems(r)
		assert.NoError(t, err)
	})
	t.Run("MaxBytes", func(t *testing.T) {
		doc := many(100)
		r := readerOf(doc, nil)
		r.MaxBytes = int64(len(doc)) - 1
		_, err := readAllItems(r)
		require.ErrorIs(t, err, websync.ErrLimit)

		r = readerOf(doc, nil)
		r.MaxBytes = int64(len(doc))
		items, err := readAllItems(r)
		require.NoError(t, err)
		assert.Len(t, items, 100)
	})
	t.Run("gzip bomb", func(t *testing.T) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(feedStart))
		z.Write(bytes.Repeat([]byte(" "), 8<<20))
		require.NoError(t, z.Close())
		r := readerOf(b.Bytes(), nil)
		r.MaxBytes = 1 << 20
		_, err := readAllItems(r)
		require.ErrorIs(t, err, websync.ErrLimit)
	})
	t.Run("of one item and of the feed", func(t *testing.T) {
		for _, part := range []string{
			"<x xmlns='urn:x'>" + strings.Repeat("x", 700<<10) + "</x>",
			"<link href='" + strings.Repeat("x", 700<<10) + "'/>",
			"<category term='" + strings.Repeat("x", 700<<10) + "'/>",
			"<author><name>" + strings.Repeat("x", 700<<10) + "</name></author>",
		} {
			parts := strings.Repeat(part, 8)
			doc := feedStart + parts + "<entry>" + parts + "<id>urn:1</id></entry><at:deleted-entry ref='urn:2' when='2024-05-01T12:00:00Z'>" + parts + "</at:deleted-entry></feed>"
			var sizes int
			r := readerOf([]byte(doc), func(f websync.Finding) {
				if f.Rule == "atom-element-size" {
					sizes++
				}
			})
			items, err := readAllItems(r)
			require.NoError(t, err)
			require.Len(t, items, 2, "what can be there once is read all the same")
			e, f, d := items[0].Entry, r.Feed(), items[1].Tombstone
			assert.Equal(t, 6, len(e.Elements)+len(e.Links)+len(e.Categories)+len(e.Authors))
			assert.Equal(t, 6, len(f.Elements)+len(f.Links)+len(f.Categories)+len(f.Authors))
			assert.Equal(t, 6, len(d.Elements)+len(d.Links))
			assert.Equal(t, 6, sizes)
		}
	})
	t.Run("a value that elements interrupt", func(t *testing.T) {
		doc := feedStart + "<entry><id>urn:1</id><title>" + strings.Repeat(strings.Repeat("x", 1<<20)+"<b/>", 8) + "</title></entry></feed>"
		items, err := readAllItems(readerOf([]byte(doc), nil))
		require.NoError(t, err)
		assert.Len(t, items[0].Entry.Title.Value, 8<<20)
	})
	t.Run("digests", func(t *testing.T) {
		doc := feedStart + "<entry><id>urn:1</id><link href='a' hash='" + strings.Repeat("crc:0 ", 100) + "'/></entry></feed>"
		items, err := readAllItems(readerOf([]byte(doc), nil))
		require.NoError(t, err)
		assert.Len(t, items[0].Entry.Links[0].Digests, 64)
	})
	t.Run("one entry's", func(t *testing.T) {
		racing.Long(t)
		long := strings.Repeat("x", 11<<20)
		deep := strings.Repeat("<b>", 300) + strings.Repeat("</b>", 300)
		set := func(*atom.Reader) {}
		for name, test := range map[string]struct {
			part      string
			fits      func(*atom.Reader) // what makes it fit, if anything does
			byDefault bool
		}{
			"title":            {"<title>" + long + "</title>", func(r *atom.Reader) { r.MaxValue = 12 << 20 }, false},
			"extension":        {"<x xmlns='urn:x'><y>" + long + "</y></x>", func(r *atom.Reader) { r.MaxValue = 12 << 20 }, false},
			"attribute":        {"<link rel='x' href='urn:" + long + "'/>", nil, false},
			"attributes":       {"<x xmlns='urn:x'" + manyAttrs(300) + "/>", nil, false},
			"comment":          {"<!--" + long + "-->", set, true},
			"instruction":      {"<?x " + long + "?>", set, true},
			"Base64":           {"<content type='image/png'>" + long + "x</content>", set, true},
			"long Base64":      {"<content type='image/png'>" + strings.Repeat(long, 6) + "</content>", func(r *atom.Reader) { r.MaxContent = -1 }, false},
			"text":             {"<content>" + long + "</content>", set, true},
			"HTML":             {"<content type='html'><![CDATA[<p>" + long + "]]></content>", set, true},
			"XHTML":            {"<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>" + long + "</p><p>" + long + "</p></div></content>", set, true},
			"long XHTML":       {"<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>" + strings.Repeat("<p>"+long+"</p>", 6) + "</div></content>", nil, false},
			"XML":              {"<content type='image/svg+xml'><svg xmlns='http://www.w3.org/2000/svg'><p>" + long + "</p></svg></content>", set, true},
			"depth":            {"<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>" + deep + "</div></content>", func(r *atom.Reader) { r.MaxDepth = 400 }, false},
			"depth of a title": {"<title>" + deep + "</title>", func(r *atom.Reader) { r.MaxDepth = 400 }, false},
		} {
			t.Run(name, func(t *testing.T) {
				entry := "<entry><id>urn:%s</id><updated>2024-05-01T12:00:00Z</updated>%s</entry>"
				doc := []byte(feedStart + fmt.Sprintf(entry, "1", "") + fmt.Sprintf(entry, "2", test.part) + fmt.Sprintf(entry, "3", "") + "</feed>")
				if test.fits != nil {
					r := readerOf(doc, nil)
					test.fits(r)
					assert.Equal(t, []string{"urn:1", "urn:2", "urn:3"}, idsOf(t, r))
					assert.Zero(t, r.Skipped())
				}
				if test.byDefault {
					return
				}
				findings := 0
				r := readerOf(doc, func(f websync.Finding) {
					assert.Equal(t, 2, f.Line)
					findings++
				})
				assert.Equal(t, []string{"urn:1", "urn:3"}, idsOf(t, r))
				assert.Equal(t, 1, r.Skipped())
				assert.Positive(t, findings)
			})
		}
	})
	t.Run("of the feed", func(t *testing.T) {
		doc := feedStart + "<x xmlns='urn:x'>" + strings.Repeat("x", 9<<20) + "</x><entry><id>urn:1</id></entry><title>" + strings.Repeat("x", 9<<20) + "</title></feed>"
		r := readerOf([]byte(doc), nil)
		assert.Equal(t, []string{"urn:1"}, idsOf(t, r))
		assert.Equal(t, 2, r.Skipped())
	})
}

func manyAttrs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " a%d=''", i)
	}
	return b.String()
}

// idsOf returns the ids of all items, with a minus before those of tombstones.
func idsOf(t *testing.T, r *atom.Reader) (ids []string) {
	t.Helper()
	for item, err := range r.All() {
		require.NoError(t, err)
		if item.Tombstone != nil {
			ids = append(ids, "-"+item.ID())
		} else {
			ids = append(ids, item.ID())
		}
	}
	return ids
}

// TestReaderDoubt: damage that may hide an item counts as skipped, and the readable items
// are read.
func TestReaderDoubt(t *testing.T) {
	const (
		one   = "<entry><id>urn:1</id></entry>"
		two   = "<entry><id>urn:2</id></entry>"
		three = "<entry><id>urn:3</id></entry>"
		gone  = "<at:deleted-entry ref='urn:4' when='2024-05-01T12:00:00Z'/>"
	)
	for name, test := range map[string]struct {
		doc     string
		want    string
		skipped int
	}{
		"nothing":                          {one + two + gone, "urn:1 urn:2 -urn:4", 0},
		"an entry in an entry":             {"<entry><id>urn:1</id>" + two + "</entry>" + three, "urn:1 urn:2 urn:3", 1},
		"entries in an entry, and a rest":  {"<entry><id>urn:1</id>" + two + "<title>x</title>" + three + "<id>urn:0</id></entry>" + gone, "urn:1 urn:2 urn:3 -urn:4", 2},
		"before the id":                    {"<entry>" + two + "<id>urn:1</id></entry>" + three, "urn:2 urn:3", 2},
		"in a title":                       {"<entry><id>urn:1</id><title>x" + two + "</title></entry>" + three, "urn:1 urn:2 urn:3", 1},
		"in an id":                         {"<entry><id>urn:1" + two + "</id></entry>" + three, "urn:2 urn:3", 2},
		"in a link":                        {"<entry><id>urn:1</id><link href='a'>" + two + "</link></entry>" + three, "urn:1 urn:2 urn:3", 1},
		"in a person":                      {"<entry><id>urn:1</id><author><name>x</name>" + two + "</author></entry>" + three, "urn:1 urn:2 urn:3", 1},
		"in a source":                      {"<entry><id>urn:1</id><source><id>urn:0</id>" + two + "</source></entry>" + three, "urn:1 urn:2 urn:3", 1},
		"in text content":                  {"<entry><id>urn:1</id><content>x" + two + "</content></entry>" + three, "urn:1 urn:2 urn:3", 1},
		"in XHTML content":                 {"<entry><id>urn:1</id><content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'><p>x</p><a:entry xmlns:a='" + atom.Namespace + "'><a:id>urn:2</a:id></a:entry></div></content></entry>" + three, "urn:1 urn:2 urn:3", 1},
		"in Base64":                        {"<entry><id>urn:1</id><content type='image/png'>x" + two + "</content></entry>" + three, "urn:1 urn:2 urn:3", 1},
		"in XML content, where it belongs": {"<entry><id>urn:1</id><content type='application/atom+xml'><feed>" + two + "</feed></content></entry>" + three, "urn:1 urn:3", 0},
		"in an extension":                  {"<entry><id>urn:1</id><x xmlns='urn:x'><a:entry xmlns:a='" + atom.Namespace + "'><a:id>urn:2</a:id></a:entry><y/></x><title/></entry>" + three, "urn:1 urn:2 urn:3", 1},
		"in a tombstone":                   {"<at:deleted-entry ref='urn:4' when='2024-05-01T12:00:00Z'>" + two + "</at:deleted-entry>" + three, "-urn:4 urn:2 urn:3", 1},
		"in an unknown element":            {"<x xmlns='urn:x'><y><a:entry xmlns:a='" + atom.Namespace + "'><a:id>urn:2</a:id></a:entry></y><z/></x>" + three, "urn:2 urn:3", 1},
		"in metadata":                      {"<title>x" + one + "</title>" + three, "urn:1 urn:3", 1},
		"in a feed":                        {"<feed><title>x</title>" + one + "<title>y</title>" + two + "</feed>" + three, "urn:1 urn:2 urn:3", 2},
		"in another namespace":             {"<entry xmlns='http://www.w3.org/2005/Atoq'><id>urn:1</id></entry>" + three, "urn:3", 1},
		"a tombstone in an entry":          {"<entry><id>urn:1</id>" + gone + "</entry>" + three, "urn:1 urn:3", 1},
		"a tombstone in an extension":      {"<entry><id>urn:1</id><x xmlns='urn:x'>" + gone + "</x></entry>" + three, "urn:1 urn:3", 1},
		"an error message":                 {one + "\nError: database gone away\n" + three, "urn:1 urn:3", 1},
		"an error message in HTML":         {one + "<br />\n<b>Fatal error</b>: Allowed memory size exhausted", "urn:1", 3},
		"an error element":                 {one + "<error>timeout</error>", "urn:1", 1},
		"an unknown element, before all":   {"<language>en</language>" + one + two, "urn:1 urn:2", 0},
		"text in a person":                 {"<author>x<name>y</name></author>" + one + two, "urn:1 urn:2", 0},
		"two ids":                          {"<entry><id>urn:1</id><id>urn:2</id></entry>" + three, "urn:1 urn:3", 1},
		"one id, twice":                    {"<entry><id>urn:1</id><id> urn:1 </id></entry>" + three, "urn:1 urn:3", 0},
		"a CDATA section that runs on":     {"<entry><id>urn:1</id><title><![CDATA[x]></title></entry>" + two + "<entry><title><![CDATA[x]]></title></entry>" + three, "urn:1 urn:3", 1},
		"an id that runs on":               {"<entry><id><![CDATA[urn:1]></id></entry>" + two + "<entry><id><![CDATA[urn:x]]></id></entry>" + three, "urn:3", 2},
		"an id with markup":                {"<entry><id>urn:1&lt;/id></id></entry><entry><id>urn:2&gt;</id></entry>" + three, "urn:3", 2},
		"an id in two lines":               {"<entry><id>urn:1\nurn:2</id></entry><entry><id>urn:1&#13;x</id></entry>" + three, "urn:3", 2},
		"two ids in one":                   {"<entry><id>urn:1 http://e/</id></entry><entry><id>tag:e,2024:a b</id></entry>" + three, "tag:e,2024:a b urn:3", 2},
		"an id with a raw ampersand":       {"<entry><id>http://e/?a&b</id></entry>" + three, "http://e/?a&b urn:3", 1},
		"an id that is not UTF-8":          {"<entry><id>urn:\xff</id></entry><entry><id>urn:\xfe</id></entry>" + three, "urn:3", 2},
		"an id with a control character":   {"<entry><id>urn:\x012</id></entry>" + three, "urn:3", 1},
		"a ref that is not UTF-8":          {"<at:deleted-entry ref='urn:\xff' when='2024-05-01T12:00:00Z'/>" + three, "urn:3", 1},
		"a ref with markup":                {"<at:deleted-entry ref='urn:4&lt;' when='2024-05-01T12:00:00Z'/>" + three, "urn:3", 1},
		"a href that is not UTF-8":         {"<entry><id>urn:1</id><link href='http://e/\xff'/></entry>" + three, "urn:3", 1},
		"a src that is not UTF-8":          {"<entry><id>urn:1</id><content src='http://e/\xff'/></entry>" + three, "urn:3", 1},
		"a title that is not UTF-8":        {"<entry><id>urn:1</id><title>\xff</title><link title='\xff' href='a'/></entry>" + three, "urn:1 urn:3", 0},
		"a link of the feed":               {"<link rel='prev-archive' href='http://e/\xff'/>" + three, "urn:3", 1},
	} {
		t.Run(name, func(t *testing.T) {
			for _, watched := range []bool{true, false} {
				findings := 0
				r := readerOf([]byte(feedStart+test.doc+"</feed>"), nil)
				if watched {
					r.Report = func(f websync.Finding) {
						assert.Positive(t, f.Line)
						findings++
					}
				}
				assert.Equal(t, test.want, strings.Join(idsOf(t, r), " "))
				assert.Equal(t, test.skipped, r.Skipped())
				if watched {
					assert.GreaterOrEqual(t, findings, test.skipped)
				}
			}
		})
	}
	t.Run("an entry document", func(t *testing.T) {
		r := readerOf([]byte("<entry xmlns='"+atom.Namespace+"'><id>urn:1</id>"+two+"<title/></entry>"), nil)
		assert.Equal(t, "urn:1 urn:2", strings.Join(idsOf(t, r), " "))
		assert.Equal(t, 1, r.Skipped())
	})
}

func TestReaderStrict(t *testing.T) {
	tests := map[string]struct{ doc, want string }{
		"a finding": {
			feedStart + "<entry><id>urn:1</id><updated>2024-05-01</updated></entry></feed>",
			"atom: " + readURL + ": line 2, column 22: updated: a date without a time",
		},
		"in the metadata": {feedStart + "<title type='x'/></feed>", "line 2, column 1: title: type must be text, html or xhtml"},
		"before the end":  {feedStart + "<title type='x'/><title>", "line 2, column 1: title: type must be text, html or xhtml"},
		"the root":        {"<feed/>", "line 1, column 1: feed: the namespace must be " + atom.Namespace},
		"an ampersand":    {feedStart + "<title>a & b</title></feed>", "line 2, column 10"},
		"a skipped entry": {feedStart + "<entry/></feed>", "line 2, column 1: entry: an entry must have an id"},
		"a tombstone":     {feedStart + "<at:deleted-entry/></feed>", "deleted-entry: a tombstone must have a ref"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := readerOf([]byte(test.doc), nil)
			r.Strict = true
			_, err := readAllItems(r)
			require.ErrorContains(t, err, test.want)
			var parse *websync.ParseError
			require.ErrorAs(t, err, &parse)
		})
	}
	t.Run("what is allowed passes", func(t *testing.T) {
		r := readerOf([]byte(feedStart+"<entry><id>urn:1</id><x xmlns='urn:x'/></entry></feed>"), nil)
		r.Document, r.Strict = "feed.atom", true
		items, err := readAllItems(r)
		require.NoError(t, err)
		assert.Len(t, items, 1)
	})
}

// TestReaderView: a view equals the item, and a clone stays valid after the view.
func TestReaderView(t *testing.T) {
	for _, file := range []string{"rfc4287/feed.xml", "rfc4287/content.xml", "rfc6721/tombstones.xml", "linkext/digests.xml"} {
		doc, err := os.ReadFile(filepath.Join("testdata/read", file))
		require.NoError(t, err)
		want, err := readAllItems(readerOf(doc, nil))
		require.NoError(t, err)

		r := readerOf(doc, nil)
		var clones []atom.Item
		for i := 0; ; i++ {
			v, err := r.NextView()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			assert.Equal(t, want[i].ID(), string(v.ID))
			assert.Equal(t, want[i].Tombstone != nil, v.Deleted)
			assert.Equal(t, want[i].Time(), v.Updated)
			clones = append(clones, v.Clone())
		}
		assert.Equal(t, want, clones)
	}
}

// TestReaderAllocations: an owned entry takes one allocation for itself, one for its
// strings, and one each for authors, categories, links and digests. A view takes none.
func TestReaderAllocations(t *testing.T) {
	doc := writtenFeed(t)
	const runs = 1000
	r := readerOf(doc, nil)
	view := testing.AllocsPerRun(runs, func() {
		_, err := r.NextView()
		require.NoError(t, err)
	})
	assert.Zero(t, view)
	owned := testing.AllocsPerRun(runs, func() {
		_, err := r.Next()
		require.NoError(t, err)
	})
	assert.LessOrEqual(t, owned, 6.0)
}

// TestReaderSourceAllocations: a view takes none for a source, either.
func TestReaderSourceAllocations(t *testing.T) {
	const source = "<source xml:lang='en'><id>urn:source</id><title>Source</title><updated>2025-01-01T00:00:00Z</updated>" +
		"<author><name>A</name></author><category term='c'/><generator uri='https://example.org/g'>G</generator><icon>/i.png</icon>" +
		"<link rel='self' href='https://example.org/source' x:y='z'/><x:extension>e</x:extension></source>"
	doc := strings.Replace(feedStart, ">", " xmlns:x='urn:x'>", 1) +
		strings.Repeat("<entry><id>urn:1</id><title>E</title><updated>2025-01-01T00:00:00Z</updated>"+source+"</entry>\n", 1200) + "</feed>"
	r := readerOf([]byte(doc), nil)
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		_, err := r.NextView()
		require.NoError(t, err)
	}))
	item, err := r.Next()
	require.NoError(t, err)
	f := item.Entry.Source
	assert.Equal(t, []string{"urn:source", "Source", "en", "A", "c", "G", "https://example.org/source", "z", "e"},
		[]string{f.ID, f.Title.Value, f.Lang, f.Authors[0].Name, f.Categories[0].Term, f.Generator.Name, f.Links[0].Href, f.Links[0].Attrs[0].Value,
			f.Elements[0].XML[strings.IndexByte(f.Elements[0].XML, '>')+1:][:1]})
}

// TestReaderMemory: reading views needs memory for one item, whatever the length of the
// document.
func TestReaderMemory(t *testing.T) {
	r := readerOf(writtenFeed(t), nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for {
		if _, err := r.NextView(); err != nil {
			require.Equal(t, io.EOF, err)
			break
		}
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(512<<10))
}

// A failingReader returns its error once, and then goes on without it, as some Readers
// do.
type failingReader struct{ err error }

func (f *failingReader) Read([]byte) (int, error) {
	err := f.err
	f.err = io.EOF
	return 0, err
}

const cutFeed = `<feed xmlns="` + atom.Namespace + `"><id>urn:feed</id><entry><id>urn:1</id><title>x</title></entry><entry><id>urn:2</id><link href="a"/></entry></feed>`

func gzipped(data string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(data))
	z.Close()
	return b.Bytes()
}

// TestReaderCut: an error of the io.Reader never looks like the end of the document,
// wherever it comes, and a document that is cut never looks like an empty one.
func TestReaderCut(t *testing.T) {
	broken := errors.New("connection reset")
	for name, doc := range map[string][]byte{"plain": []byte(cutFeed), "gzip": gzipped(cutFeed)} {
		t.Run(name, func(t *testing.T) {
			for n := range doc {
				r := atom.NewReader(io.MultiReader(bytes.NewReader(doc[:n]), &failingReader{broken}))
				_, err := readAllItems(r)
				require.ErrorIs(t, err, broken, "after %d bytes", n)

				_, err = readAllItems(atom.NewReader(bytes.NewReader(doc[:n])))
				var parse *websync.ParseError
				require.ErrorAs(t, err, &parse, "after %d bytes", n)
				if n > 20 {
					require.ErrorIs(t, err, websync.ErrTruncated, "after %d bytes", n)
				}
			}
		})
	}
}

// TestReadHalf: of a text or content that an entry interrupts, nothing is kept.
func TestReadHalf(t *testing.T) {
	for _, child := range []string{`title type="xhtml"`, `summary type="html"`, `content type="xhtml"`, `content type="image/png"`, "content src='/a'"} {
		items, err := readAllItems(readerOf([]byte(feedStart+"<entry><id>urn:a</id><"+child+">text<entry><id>urn:b</id>"), nil))
		require.ErrorIs(t, err, websync.ErrTruncated, child)
		require.Len(t, items, 1, child)
		assert.True(t, items[0].Entry.Damaged, child)
		assert.Empty(t, items[0].Entry.Title, child)
		assert.Empty(t, items[0].Entry.Summary, child)
		assert.Empty(t, items[0].Entry.Content, child)
	}
}

// TestReadDamaged: an entry reports whether some of its links or content may be missing.
func TestReadDamaged(t *testing.T) {
	for markup, want := range map[string]bool{
		"<content/>":                                                        false,
		"<content type='html'>&lt;b></content>":                             false,
		"<content><b/></content>":                                           true,
		"<content type='application/xml'><b/></content>":                    false,
		"<title><b/></title><content/>":                                     false,
		"<title><b/></title><content type='application/xml'><b/></content>": false,
		"<content/><content>x</content>":                                    true,
		"<link/><content/>":                                                 true,
		"<link href='/x'/><content/>":                                       false,
	} {
		r := atom.NewReader(strings.NewReader(feedStart + "<entry><id>urn:x</id>" + markup + "</entry><entry><id>urn:y</id><content/></entry></feed>"))
		items, err := readAllItems(r)
		require.NoError(t, err)
		assert.Equal(t, want, items[0].Entry.Damaged, markup)
		assert.False(t, items[1].Entry.Damaged)
	}
}
