package sitemap_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

const documentURL = "https://www.example.com/maps/sitemap.xml"

func newReader(data []byte, report func(websync.Finding)) *sitemap.Reader {
	r := sitemap.NewReader(bytes.NewReader(data))
	r.Document = documentURL
	r.Now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r.Report = report
	return r
}

// TestGolden reads every file of testdata. The expected result is in the file of the same
// name with .golden behind it.
func TestGolden(t *testing.T) {
	testkit.GoldenFiles(t, "testdata", []string{"fuzz", "mutants", "schema", "writer", "publisher"}, transcript)
}

// transcript returns everything that a Reader reports about a document.
func transcript(_ *testing.T, data []byte) string {
	var b strings.Builder
	r := newReader(data, func(f websync.Finding) {
		f.Document = ""
		value := f.Value
		if len(value) > 100 {
			value = fmt.Sprintf("%s… %d bytes", value[:40], len(value))
		}
		fmt.Fprintf(&b, "  %s [%s] %q\n", f, f.Element, value)
	})
	for e, err := range r.All() {
		if err != nil {
			b.WriteString(testkit.ErrorLines(err))
			break
		}
		loc := e.Loc
		if len(loc) > 100 {
			loc = fmt.Sprintf("%s… %d bytes", loc[:40], len(loc))
		}
		fmt.Fprintf(&b, "%d:%d %s", e.Line, e.Column, loc)
		if !e.LastMod.IsZero() {
			fmt.Fprintf(&b, " lastmod=%v", e.LastMod)
		}
		if e.LastModText != "" {
			fmt.Fprintf(&b, " text=%q", e.LastModText)
		}
		if e.ChangeFreq != "" {
			fmt.Fprintf(&b, " changefreq=%v", e.ChangeFreq)
		}
		if p, ok := e.StatedPriority(); ok {
			fmt.Fprintf(&b, " priority=%v", p)
		}
		b.WriteByte('\n')
		for _, x := range e.Elements {
			fmt.Fprintf(&b, "    {%s}%s %s\n", x.Space, x.Local, x.XML)
		}
	}
	fmt.Fprintf(&b, "%v, skipped %d\n", r.Kind(), r.Skipped())
	for _, x := range r.Elements() {
		fmt.Fprintf(&b, "root: {%s}%s %s\n", x.Space, x.Local, x.XML)
	}
	return b.String()
}

// TestOneBadEntry: of 45,000 entries 1,000 are damaged, each in another way. They give
// findings, and all others are read.
func TestOneBadEntry(t *testing.T) {
	damages := []string{
		"<loc>%s</loc><priority>high-%d</priority>",
		"<loc>%s</loc><priority>%d,5</priority>",
		"<loc>%s</loc><lastmod>day %d</lastmod>",
		"<loc>%s</loc><lastmod>2020-%d-99</lastmod>",
		"<loc>%s</loc><changefreq>every %d days</changefreq>",
		"<loc>%s</loc><unknown-%d/>",
		"<loc>%s?a&b=%d</loc>",
		"<loc>%s/a\tb %d</loc>",
		"<loc>%s</loc><loc>https://www.example.com/second/%d</loc>",
		"<!-- %s --><loc></loc><priority>0.%d</priority>",
	}
	const entries, bad = 45_000, 1_000
	var doc bytes.Buffer
	doc.WriteString(`<urlset xmlns="` + sitemap.Namespace + "\">\n")
	for i := range entries {
		loc := fmt.Sprintf("https://www.example.com/%d", i)
		body := "<loc>" + loc + "</loc>"
		if i%(entries/bad) == 7 {
			n := i / (entries / bad)
			body = fmt.Sprintf(damages[n%len(damages)], loc, n)
		}
		doc.WriteString("<url>" + body + "</url>\n")
	}
	doc.WriteString("</urlset>\n")

	lines := make(map[int]bool)
	r := newReader(doc.Bytes(), func(f websync.Finding) {
		assert.Positive(t, f.Line)
		assert.Positive(t, f.Column)
		lines[f.Line] = true
	})
	n := 0
	for e, err := range r.All() {
		require.NoError(t, err)
		assert.Contains(t, e.Loc, "https://www.example.com/")
		n++
	}
	each := bad / len(damages)
	assert.Equal(t, entries-2*each+each, n, "left out: no loc, white space inside it; and a second loc is an entry")
	assert.Equal(t, 4*each, r.Skipped(), "those left out, a second loc, and a loc with a raw ampersand")
	assert.Len(t, lines, bad, "one line with a finding for each damaged entry")
}

func urlset(locs ...string) []byte {
	var b bytes.Buffer
	b.WriteString(`<urlset xmlns="` + sitemap.Namespace + "\">\n")
	for _, loc := range locs {
		b.WriteString("<url><loc>" + loc + "</loc></url>\n")
	}
	b.WriteString("</urlset>\n")
	return b.Bytes()
}

func TestLimits(t *testing.T) {
	racing.Skip(t)
	many := func(n int) []byte {
		locs := make([]string, n)
		for i := range locs {
			locs[i] = fmt.Sprintf("https://www.example.com/%d", i)
		}
		return urlset(locs...)
	}
	read := func(r *sitemap.Reader) (n int, err error) {
		for _, err := range r.All() {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}
	rules := func(r *sitemap.Reader) *[]string {
		var rules []string
		r.Report = func(f websync.Finding) { rules = append(rules, f.Rule) }
		return &rules
	}

	t.Run("the protocol's entries are a finding, reported once", func(t *testing.T) {
		r := newReader(many(sitemap.MaxEntries+2), nil)
		found := rules(r)
		n, err := read(r)
		require.NoError(t, err)
		assert.Equal(t, sitemap.MaxEntries+2, n)
		assert.Equal(t, []string{"sitemap-entries"}, *found)
	})
	t.Run("MaxEntries", func(t *testing.T) {
		r := newReader(many(11), nil)
		r.MaxEntries = 10
		n, err := read(r)
		assert.Equal(t, 10, n)
		require.ErrorIs(t, err, websync.ErrLimit)
		assert.ErrorContains(t, err, "line 12")
		_, again := r.Next()
		assert.Equal(t, err, again, "errors stick")

		r = newReader(many(10), nil)
		r.MaxEntries = 10
		_, err = read(r)
		assert.NoError(t, err)
	})
	t.Run("MaxBytes", func(t *testing.T) {
		doc := many(100)
		r := newReader(doc, nil)
		r.MaxBytes = int64(len(doc)) - 1
		_, err := read(r)
		require.ErrorIs(t, err, websync.ErrLimit)

		r = newReader(doc, nil)
		r.MaxBytes = int64(len(doc))
		n, err := read(r)
		require.NoError(t, err)
		assert.Equal(t, 100, n)
	})
	t.Run("MaxValue and MaxDepth", func(t *testing.T) {
		doc := "<urlset xmlns='" + sitemap.Namespace + "' xmlns:x='urn:x'><url><loc>https://www.example.com/1</loc><x:a><x:b><x:c>" + strings.Repeat("x", 300) + "</x:c></x:b></x:a></url>" +
			"<url><loc>https://www.example.com/" + strings.Repeat("x", 300) + "</loc></url><url><loc>https://www.example.com/2</loc></url></urlset>"
		for _, test := range []struct{ value, depth, entries, skipped int }{{0, 0, 3, 0}, {-1, -1, 3, 0}, {400, 5, 3, 0}, {300, 5, 2, 3}, {400, 4, 3, 1}} {
			r := newReader([]byte(doc), nil)
			r.MaxValue, r.MaxDepth = test.value, test.depth
			found := rules(r)
			n, err := read(r)
			require.NoError(t, err)
			assert.Equal(t, test.entries, n, "%+v", test)
			assert.Equal(t, test.skipped, r.Skipped(), "%+v", test)
			assert.GreaterOrEqual(t, len(*found), test.skipped)
			r = newReader([]byte(doc), nil)
			r.MaxValue, r.MaxDepth, r.Strict = test.value, test.depth, true
			if _, err = read(r); test.skipped > 0 {
				assert.ErrorIs(t, err, websync.ErrLimit, "%+v", test)
			} else {
				assert.NoError(t, err, "%+v", test)
			}
		}
	})
	t.Run("gzip bomb", func(t *testing.T) {
		r := sitemap.NewReader(io.MultiReader(bytes.NewReader(gzipOf(append([]byte("<urlset>"), bytes.Repeat([]byte(" "), 8<<20)...)))))
		r.MaxBytes = 1 << 20
		_, err := read(r)
		require.ErrorIs(t, err, websync.ErrLimit)
	})
	t.Run("the protocol's size is a finding", func(t *testing.T) {
		pad := "<!--" + strings.Repeat(" ", 1<<20) + "-->"
		r := sitemap.NewReader(io.MultiReader(
			strings.NewReader(`<urlset xmlns="`+sitemap.Namespace+`"><url><loc>https://www.example.com/</loc></url>`),
			strings.NewReader(strings.Repeat(pad, 50)), strings.NewReader("</urlset>")))
		found := rules(r)
		_, err := read(r)
		require.NoError(t, err)
		assert.Equal(t, []string{"sitemap-size"}, *found)
	})
	t.Run("extension elements of one entry", func(t *testing.T) {
		big := "<x:big xmlns:x='urn:x'>" + strings.Repeat("x", 700<<10) + "</x:big>"
		doc := "<urlset xmlns='" + sitemap.Namespace + "'>" + strings.Repeat(big, 3) + "<url><loc>https://www.example.com/</loc>" + strings.Repeat(big, 3) + "</url></urlset>"
		r := newReader([]byte(doc), nil)
		found := rules(r)
		e, err := r.Next()
		require.NoError(t, err)
		assert.Len(t, e.Elements, 2)
		assert.Len(t, r.Elements(), 2)
		assert.Equal(t, []string{"sitemap-element-size", "sitemap-element-size"}, *found)
	})
}

func TestStrict(t *testing.T) {
	tests := map[string]struct {
		doc  string
		want string
	}{
		"a finding": {
			"<urlset xmlns='" + sitemap.Namespace + "'>\n<url><loc>https://www.example.com/</loc><priority>2</priority></url></urlset>",
			"sitemap: " + documentURL + ": line 2, column 41: priority: not a number from 0.0 to 1.0",
		},
		"the root": {
			"<urlset><url><loc>https://www.example.com/</loc></url></urlset>",
			"sitemap: " + documentURL + ": line 1, column 1: urlset: the namespace is not " + sitemap.Namespace,
		},
		"a raw ampersand": {
			"<urlset xmlns='" + sitemap.Namespace + "'>\n<url><loc>https://www.example.com/?a&b</loc></url></urlset>",
			"sitemap: " + documentURL + ": line 2, column",
		},
		"a skipped entry": {
			"<urlset xmlns='" + sitemap.Namespace + "'><url/></urlset>",
			"an entry without loc",
		},
		"no entries": {
			"<urlset xmlns='" + sitemap.Namespace + "'/>",
			"no entries",
		},
		"a line of text": {
			"https://www.example.com/\nfoo\nhttps://www.example.com/2\n",
			"line 2, column 1: a line that is not an absolute URL",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newReader([]byte(test.doc), nil)
			r.Strict = true
			var last error
			for _, err := range r.All() {
				last = err
			}
			require.ErrorContains(t, last, test.want)
			var parse *websync.ParseError
			require.ErrorAs(t, last, &parse)
		})
	}
	t.Run("what is allowed passes", func(t *testing.T) {
		r := newReader(urlset(" https://www.example.com/ "), nil)
		r.Strict = true
		_, err := r.Next()
		require.NoError(t, err)
		_, err = r.Next()
		require.Equal(t, io.EOF, err)
	})
}

func TestView(t *testing.T) {
	doc, err := os.ReadFile("testdata/protocol/extensions.xml")
	require.NoError(t, err)
	want, err := newReader(doc, nil).Next()
	require.NoError(t, err)

	r := newReader(doc, nil)
	v, err := r.NextView()
	require.NoError(t, err)
	got := v.Clone()
	assert.Equal(t, want, got)
	assert.Equal(t, want.Loc, string(v.Loc))
	assert.Equal(t, want.Elements, v.Elements())
	_, err = r.NextView()
	require.Equal(t, io.EOF, err)
	assert.Equal(t, want, got, "a clone outlives the view")
}

// TestShortTexts: owned entries keep their text, whether it shares memory or not.
func TestShortTexts(t *testing.T) {
	var doc strings.Builder
	var want []string
	doc.WriteString(`<urlset xmlns="` + sitemap.Namespace + `">`)
	for i := range 300 {
		loc := fmt.Sprintf("https://example.org/%d/%s", i, strings.Repeat("x", i*7%200))
		want = append(want, loc+" on day "+strconv.Itoa(i))
		fmt.Fprintf(&doc, "<url><loc>%s</loc><lastmod>on day %d</lastmod></url>", loc, i)
	}
	doc.WriteString(`</urlset>`)
	var got []string
	entries, err := readAll(newReader([]byte(doc.String()), nil))
	require.NoError(t, err)
	for _, e := range entries {
		got = append(got, e.Loc+" "+e.LastModText)
	}
	assert.Equal(t, want, got)
}

// TestAllocations: owned entries without extensions share allocations, a view takes none.
func TestAllocations(t *testing.T) {
	doc := benchDocument()
	const runs = 1000
	r := newReader(doc, nil)
	view := testing.AllocsPerRun(runs, func() {
		_, err := r.NextView()
		require.NoError(t, err)
	})
	assert.Zero(t, view)
	owned := testing.AllocsPerRun(runs, func() {
		_, err := r.Next()
		require.NoError(t, err)
	})
	assert.Zero(t, owned, "less than one, rounded down")
}

// TestReadError: an error of the io.Reader never looks like the end of the document,
// wherever it comes.
func TestReadError(t *testing.T) {
	broken := errors.New("connection reset")
	docs := map[string][]byte{
		"urlset": urlset("https://www.example.com/1", "https://www.example.com/2"),
		"text":   []byte("https://www.example.com/1\nhttps://www.example.com/2\n"),
		"gzip":   gzipOf(urlset("https://www.example.com/1")),
	}
	for name, doc := range docs {
		t.Run(name, func(t *testing.T) {
			for n := range doc {
				r := sitemap.NewReader(io.MultiReader(bytes.NewReader(doc[:n]), &failing{broken}))
				var last error
				for _, err := range r.All() {
					last = err
				}
				require.ErrorIs(t, last, broken, "after %d bytes", n)
			}
		})
	}
}

// TestTruncated: a document that is cut anywhere is an error, and never an empty
// document.
func TestTruncated(t *testing.T) {
	for name, doc := range map[string][]byte{
		"urlset": bytes.TrimSpace(urlset("https://www.example.com/1", "https://www.example.com/2")),
		"gzip":   gzipOf(urlset("https://www.example.com/1")),
	} {
		t.Run(name, func(t *testing.T) {
			for n := range doc {
				var last error
				for _, err := range newReader(doc[:n], nil).All() {
					last = err
				}
				var parse *websync.ParseError
				require.ErrorAs(t, last, &parse, "after %d bytes", n)
				if n > 20 {
					require.ErrorIs(t, last, websync.ErrTruncated, "after %d bytes", n)
				}
			}
		})
	}
}

// failing returns its error once, and then goes on without it, as some Readers do.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) {
	err := f.err
	f.err = io.EOF
	return 0, err
}
