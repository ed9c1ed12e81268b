package sitemap_test

import (
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

// write writes one document.
func write(t testing.TB, h sitemap.Head, entries ...sitemap.Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	writeTo(t, sitemap.NewWriter(&b), h, entries...)
	return b.Bytes()
}

// writeZipped is write with gzip.
func writeZipped(t testing.TB, h sitemap.Head, entries ...sitemap.Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := sitemap.NewWriter(&b)
	w.Gzip = true
	writeTo(t, w, h, entries...)
	return b.Bytes()
}

func writeTo(t testing.TB, w *sitemap.Writer, h sitemap.Head, entries ...sitemap.Entry) {
	t.Helper()
	w.Extensions = google.Extensions()
	require.NoError(t, w.WriteHead(&h))
	for _, e := range entries {
		require.NoError(t, w.Write(&e))
	}
	require.NoError(t, w.Close())
	require.NoError(t, w.Close(), "twice")
}

// requireValid checks that Validate finds nothing in a document except rules that only
// its caller can check, and advice on URLs.
func requireValid(t testing.TB, doc []byte) {
	t.Helper()
	_, err := sitemap.Validate(bytes.NewReader(doc), sitemap.ValidateOptions{Extensions: google.Extensions(), Report: func(f websync.Finding) {
		switch f.Rule {
		case "sitemap-host", "sitemap-index-site", "sitemap-loc-duplicate", "sitemap-loc-fragment", "sitemap-loc-user", "sitemap-empty":
			return
		}
		if f.Severity > websync.SeverityInfo {
			t.Errorf("%v", f)
		}
	}})
	require.NoError(t, err)
}

func TestWriter(t *testing.T) {
	md := websync.Element{Space: "http://www.openarchives.org/rs/terms/", Local: "md",
		XML: `<rs:md xmlns:rs="http://www.openarchives.org/rs/terms/" capability="resourcelist"/>`}
	entries := []sitemap.Entry{
		{Loc: "https://www.example.com/"},
		{Loc: "HTTP://www.example.com:8080/a;b/%C3%BC?q='1'&amp;x=2&y#z", LastMod: datetime(t, "2025-02-03"), ChangeFreq: sitemap.Weekly, Priority: 0.3},
		{Loc: "https://[2001:db8::1]/", LastMod: datetime(t, "2025-02-03T04:05:06.789+02:00"), Priority: websync.StatedZero, Elements: []websync.Element{md}},
		{Loc: "https://www.example.com/year", LastMod: datetime(t, "2025"), Priority: 1},
		{Loc: "https://www.example.com/month", LastMod: datetime(t, "2025-02"), Priority: 1e-30},
		{Loc: "https://www.example.com/minute", LastMod: datetime(t, "2025-02-03T04:05Z"), Priority: math.SmallestNonzeroFloat32},
		{Loc: "https://www.example.com/leap", LastMod: datetime(t, "2016-12-31T23:59:60Z"), LastModText: "not written"},
		{Loc: "https://www.example.com/offset", LastMod: datetime(t, "2025-02-03T04:05:06+15:00")},
	}
	doc := write(t, sitemap.Head{Elements: []websync.Element{md}}, entries...)
	testkit.Golden(t, "testdata/writer/urlset.xml", doc)
	requireValid(t, doc)
	testkit.Lint(t, "sitemap.xsd", doc)

	r := newReader(doc, func(f websync.Finding) { t.Error(f) })
	got, err := readAll(r)
	require.NoError(t, err)
	require.Len(t, got, len(entries))
	for i := range got {
		assert.Equal(t, entries[i].Loc, got[i].Loc)
		assert.Equal(t, entries[i].Elements, got[i].Elements)
	}
	assert.Equal(t, []websync.Element{md}, r.Elements())
	assert.Equal(t, entries[1].LastMod, got[1].LastMod, "the precision stays where the schema has it")
	assert.Equal(t, entries[2].LastMod, got[2].LastMod)

	odd := []sitemap.Entry{{Loc: "https://www.example.com/" + strings.Repeat("x", 2047-24)}}
	for _, loc := range []string{
		"http://%C3%BC.example/", "http://1.2.3.4.5/", "http://_x.example/", "https://www.example.com?x",
		"https://www.example.com#x", "https://u:p@www.example.com/", "https://www.example.com/!$&'()*+,;=:@~-._//?/?:@#/?",
		"https://[::ffff:1.2.3.4]:443/", "https://www.example.com/%20%00%ff", "https://www.example.com/.././a",
	} {
		odd = append(odd, sitemap.Entry{Loc: loc})
	}
	longest := write(t, sitemap.Head{}, odd...)
	requireValid(t, longest)
	testkit.Lint(t, "sitemap.xsd", longest)

	list := []sitemap.Entry{{Loc: "https://www.example.com/1.xml", LastMod: datetime(t, "2025-02-03")}, {Loc: "https://www.example.com/2.xml"}}
	doc = write(t, sitemap.Head{Kind: sitemap.Index}, list...)
	testkit.Golden(t, "testdata/writer/sitemapindex.xml", doc)
	requireValid(t, doc)
	testkit.Lint(t, "siteindex.xsd", doc)

	zipped := writeZipped(t, sitemap.Head{Kind: sitemap.Index}, list...)
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	require.NoError(t, err)
	plain, err := io.ReadAll(z)
	require.NoError(t, err)
	assert.Equal(t, string(doc), string(plain))
	assert.Equal(t, zipped, writeZipped(t, sitemap.Head{Kind: sitemap.Index}, list...), "the same bytes each time")

	empty := write(t, sitemap.Head{})
	sum, err := sitemap.Validate(bytes.NewReader(empty), sitemap.ValidateOptions{Extensions: google.Extensions()})
	require.NoError(t, err)
	assert.Equal(t, sitemap.Summary{Kind: sitemap.URLSet, Counts: websync.Counts{Bytes: int64(len(empty)), Warnings: 1}}, sum)
}

// TestWriterRefuses: nothing of a bad entry is written, and the Writer can go on.
func TestWriterRefuses(t *testing.T) {
	good := sitemap.Entry{Loc: "https://www.example.com/"}
	raw := func(space, local, xml string) sitemap.Entry {
		return sitemap.Entry{Loc: good.Loc, Elements: []websync.Element{{Space: space, Local: local, XML: xml}}}
	}
	image := func(n int) (e sitemap.Entry) {
		x, err := google.Image{Loc: "https://www.example.com/i.png"}.Element()
		require.NoError(t, err)
		e.Loc = good.Loc
		for range n {
			e.Elements = append(e.Elements, x)
		}
		return e
	}
	article, err := google.News{Publication: "P", Language: "en", Published: datetime(t, "2025"), Title: "T"}.Element()
	require.NoError(t, err)
	alternate, err := sitemap.Alternate{Lang: "de", Href: "https://www.example.com/de"}.Element()
	require.NoError(t, err)
	tests := map[string]struct {
		entry sitemap.Entry
		want  string
	}{
		"no loc":             {sitemap.Entry{}, "loc: not an absolute HTTP URL"},
		"relative":           {sitemap.Entry{Loc: "/a"}, "loc: not an absolute HTTP URL"},
		"another scheme":     {sitemap.Entry{Loc: "ftp://www.example.com/"}, "loc: not an absolute HTTP URL"},
		"no host":            {sitemap.Entry{Loc: "https:///path/to"}, "loc: not an absolute HTTP URL"},
		"a space":            {sitemap.Entry{Loc: "https://www.example.com/a b"}, "white space inside"},
		"a line feed":        {sitemap.Entry{Loc: "https://www.example.com/\n"}, `https://www.example.com/\n: loc: white space inside`},
		"not ASCII":          {sitemap.Entry{Loc: "https://www.example.com/ü"}, "not percent-encoded"},
		"a bad triplet":      {sitemap.Entry{Loc: "https://www.example.com/%e"}, "percent sign"},
		"long":               {sitemap.Entry{Loc: "https://www.example.com/" + strings.Repeat("x", 2048-24)}, "2,048 characters or more"},
		"short":              {sitemap.Entry{Loc: "http://t.co"}, "fewer than 12 characters"},
		"a port":             {sitemap.Entry{Loc: "http://www.example.com:99999/"}, "port above 65535"},
		"no port":            {sitemap.Entry{Loc: "http://www.example.com:/"}, "a colon without a port"},
		"changefreq":         {sitemap.Entry{Loc: good.Loc, ChangeFreq: "Daily"}, "changefreq: not one of"},
		"priority":           {sitemap.Entry{Loc: good.Loc, Priority: 1.01}, "priority: not a number"},
		"a negative one":     {sitemap.Entry{Loc: good.Loc, Priority: -0.5}, "priority: not a number"},
		"not a number":       {sitemap.Entry{Loc: good.Loc, Priority: float32(math.NaN())}, "priority: not a number"},
		"no element":         {raw("urn:x", "a", ""), "a: raw element: not one element"},
		"text":               {raw("urn:x", "a", "text"), "not one element"},
		"a declaration":      {raw("urn:x", "a", "<?xml version='1.0'?><a xmlns='urn:x'/>"), "not one element"},
		"a doctype":          {raw("urn:x", "a", "<!DOCTYPE a><a xmlns='urn:x'/>"), "not one element"},
		"two elements":       {raw("urn:x", "a", "<a xmlns='urn:x'/><a xmlns='urn:x'/>"), "raw element"},
		"an open element":    {raw("urn:x", "a", "<a xmlns='urn:x'>"), "raw element"},
		"a prefix":           {raw("urn:x", "a", "<x:a/>"), "raw element"},
		"control characters": {raw("urn:x", "a", "<a xmlns='urn:x'>\x01</a>"), "raw element"},
		"bytes":              {raw("urn:x", "a", "<a xmlns='urn:x'>\xff</a>"), "raw element"},
		"too deep":           {raw("urn:x", "a", strings.Repeat("<a xmlns='urn:x'>", 255)+strings.Repeat("</a>", 255)), "raw element"},
		"another name":       {raw("urn:x", "a", "<b xmlns='urn:x'/>"), "its name is {urn:x}b"},
		"no namespace":       {raw("", "a", "<a/>"), "namespace of its own"},
		"the own namespace":  {raw(sitemap.Namespace, "priority", "<priority xmlns='"+sitemap.Namespace+"'>0.5</priority>"), "namespace of its own"},
		"too long":           {raw("urn:x", "a", "<a xmlns='urn:x'>"+strings.Repeat("x", 1<<20)+"</a>"), "more extension elements than are kept"},
		"a bad image":        {raw(google.ImageNamespace, "image", "<image xmlns='"+google.ImageNamespace+"'/>"), "image: no loc"},
		"almost an image":    {raw(google.ImageNamespace+"/", "image", "<image xmlns='"+google.ImageNamespace+"/'/>"), "the namespace is"},
		"1,001 images":       {image(1001), "more than 1,000 images"},
		"two news":           {sitemap.Entry{Loc: good.Loc, Elements: []websync.Element{article, article}}, "two news elements"},
		"not the page":       {sitemap.Entry{Loc: good.Loc, Elements: []websync.Element{alternate}}, "none of the alternates is the page itself"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w := sitemap.NewWriter(&b)
			w.Extensions = google.Extensions()
			err := w.Write(&test.entry)
			require.ErrorContains(t, err, test.want)
			var entry *websync.EntryError
			require.ErrorAs(t, err, &entry)
			assert.Equal(t, test.entry.Loc, entry.ID)
			require.NoError(t, w.Write(&good))
			require.NoError(t, w.Close())
			assert.Equal(t, string(write(t, sitemap.Head{}, good)), b.String())
		})
	}
	t.Run("an index", func(t *testing.T) {
		w := sitemap.NewWriter(io.Discard)
		w.Extensions = google.Extensions()
		require.NoError(t, w.WriteHead(&sitemap.Head{Kind: sitemap.Index}))
		assert.ErrorContains(t, w.Write(&sitemap.Entry{Loc: good.Loc, Priority: 0.5}), "priority: an index has only loc and lastmod")
		assert.ErrorContains(t, w.Write(&sitemap.Entry{Loc: good.Loc, ChangeFreq: sitemap.Daily}), "changefreq: an index has only")
		one := image(1)
		assert.ErrorContains(t, w.Write(&one), "image: an index has only")
		assert.NoError(t, w.Write(&good))
	})
	t.Run("an extension of an entry around the entries", func(t *testing.T) {
		w := sitemap.NewWriter(io.Discard)
		w.Extensions = google.Extensions()
		assert.ErrorContains(t, w.WriteHead(&sitemap.Head{Elements: image(1).Elements}), "image: an extension element outside the element it belongs in")
	})
	t.Run("a kind that has no Writer", func(t *testing.T) {
		w := sitemap.NewWriter(io.Discard)
		w.Extensions = google.Extensions()
		assert.ErrorContains(t, w.WriteHead(&sitemap.Head{Kind: sitemap.Text}), "Head.Kind text must be URLSet or Index")
	})
	t.Run("a second head", func(t *testing.T) {
		var b bytes.Buffer
		w := sitemap.NewWriter(&b)
		require.NoError(t, w.Write(&good))
		require.ErrorContains(t, w.WriteHead(new(sitemap.Head)), "WriteHead must be called once")
		require.NoError(t, w.Write(&good), "it does not stick")
		require.NoError(t, w.Close())
		assert.Equal(t, string(write(t, sitemap.Head{}, good, good)), b.String())
		require.Error(t, w.WriteHead(new(sitemap.Head)))
	})
	t.Run("after Close", func(t *testing.T) {
		w := sitemap.NewWriter(io.Discard)
		w.Extensions = google.Extensions()
		require.NoError(t, w.Close())
		assert.Error(t, w.Write(&good))
	})
	assert.NoError(t, func() error {
		w := sitemap.NewWriter(io.Discard)
		w.Extensions = google.Extensions()
		e := image(1000)
		return w.Write(&e)
	}(), "1,000 images")
}

// TestWriterBroken: the Writer returns an error of the io.Writer, and returns it again.
func TestWriterBroken(t *testing.T) {
	for _, zip := range []bool{false, true} {
		w := sitemap.NewWriter(&limitedWriter{n: 100_000})
		w.Gzip = zip
		var err error
		for i := 0; i < 200_000 && err == nil; i++ {
			if err = w.Write(&sitemap.Entry{Loc: fmt.Sprintf("https://www.example.com/%x", uint64(i)*0x9E3779B97F4A7C15)}); errors.Is(err, websync.ErrLimit) {
				err = w.Close()
			}
		}
		require.ErrorIs(t, err, errNoSpace)
		assert.Less(t, w.Entries(), 20_000, "what is written does not pile up")
		assert.ErrorIs(t, w.Close(), errNoSpace)
		assert.ErrorIs(t, w.Write(&sitemap.Entry{Loc: "https://www.example.com/"}), errNoSpace)
	}
}

var errNoSpace = errors.New("no space left")

type limitedWriter struct{ n int }

func (w *limitedWriter) Write(p []byte) (int, error) {
	if len(p) > w.n {
		return 0, errNoSpace
	}
	w.n -= len(p)
	return len(p), nil
}

// parts holds the documents that a SetWriter has written.
type parts struct {
	docs [][]byte
	open int
	zip  bool
}

type partFile struct {
	bytes.Buffer
	p *parts
}

func (f *partFile) Close() error {
	f.p.open--
	data := f.Bytes()
	if f.p.zip {
		z, err := gzip.NewReader(&f.Buffer)
		if err != nil {
			return err
		}
		if data, err = io.ReadAll(z); err != nil {
			return err
		}
	}
	f.p.docs = append(f.p.docs, data)
	return nil
}

func (p *parts) create(part int) (io.WriteCloser, error) {
	if p.open > 0 || part != len(p.docs)+1 {
		return nil, fmt.Errorf("part %d while %d are open and %d closed", part, p.open, len(p.docs))
	}
	p.open++
	return &partFile{p: p}, nil
}

func partURL(part int) string { return fmt.Sprintf("https://www.example.com/part-%d.xml", part) }

// TestSetWriter: parts are full to the entry, and to the byte, before the next one
// begins.
func TestSetWriter(t *testing.T) {
	racing.Skip(t)
	for _, zip := range []bool{false, true} {
		t.Run(fmt.Sprintf("entries, gzip %v", zip), func(t *testing.T) {
			p := &parts{zip: zip}
			s := sitemap.NewSetWriter(p.create)
			s.Gzip = zip
			const n = 2*sitemap.MaxEntries + 1
			for i := range n {
				e := sitemap.Entry{Loc: fmt.Sprintf("https://www.example.com/%d", i), LastMod: websync.DateOf(now.AddDate(0, 0, -(i*7919)%1000))}
				require.NoError(t, s.Write(&e))
			}
			require.NoError(t, s.Close())
			require.NoError(t, s.Close())
			require.Len(t, p.docs, 3)
			var counts []int
			for i, part := range s.Parts() {
				counts = append(counts, part.Entries)
				assert.Equal(t, i+1, part.Number)
				assert.EqualValues(t, len(p.docs[i]), part.Bytes)
				entries, err := readAll(newReader(p.docs[i], func(f websync.Finding) { t.Error(f) }))
				require.NoError(t, err)
				assert.Len(t, entries, part.Entries)
				var newest websync.Datetime
				for _, e := range entries {
					if e.LastMod.Compare(newest) > 0 {
						newest = e.LastMod
					}
				}
				assert.Equal(t, newest, part.LastMod)
			}
			assert.Equal(t, []int{50_000, 50_000, 1}, counts)
			testkit.Lint(t, "sitemap.xsd", p.docs[2])

			var index bytes.Buffer
			require.NoError(t, s.WriteIndex(&index, partURL))
			entries, err := readAll(newReader(index.Bytes(), func(f websync.Finding) { t.Error(f) }))
			require.NoError(t, err)
			require.Len(t, entries, 3)
			for i, e := range entries {
				assert.Equal(t, partURL(i+1), e.Loc)
				assert.Equal(t, s.Parts()[i].LastMod, e.LastMod)
			}
			assert.ErrorContains(t, s.WriteIndex(io.Discard, func(int) string { return "part.xml" }), "not an absolute HTTP URL")
			assert.Error(t, s.Write(&sitemap.Entry{Loc: "https://www.example.com/"}), "after Close")
		})
	}
	t.Run("bytes", func(t *testing.T) {
		// The second entry fills the document to its last byte, or is one byte too long.
		first := sitemap.Entry{Loc: "https://www.example.com/1"}
		second := sitemap.Entry{Loc: "https://www.example.com/2"}
		size := int64(len(write(t, sitemap.Head{}, first, second)))
		for _, less := range []int64{0, 1} {
			p := new(parts)
			s := sitemap.NewSetWriter(p.create)
			s.MaxBytes = size - less
			require.NoError(t, s.Write(&first))
			require.NoError(t, s.Write(&second))
			require.NoError(t, s.Close())
			assert.Len(t, p.docs, 1+int(less))
			w := sitemap.NewWriter(io.Discard)
			w.Extensions = google.Extensions()
			w.MaxBytes = size - less
			require.NoError(t, w.Write(&first))
			err := w.Write(&second)
			assert.Equal(t, less == 1, errors.Is(err, websync.ErrLimit))
			require.NoError(t, w.Close())
			assert.LessOrEqual(t, w.Bytes(), w.MaxBytes)
		}
	})
	t.Run("the protocol's bytes", func(t *testing.T) {
		pad := websync.Element{Space: "urn:x", Local: "a", XML: "<a xmlns='urn:x'>" + strings.Repeat("x", 1000_000) + "</a>"}
		p := new(parts)
		s := sitemap.NewSetWriter(p.create)
		s.MaxBytes = 1 << 40 // not above the protocol's
		for i := range 55 {
			require.NoError(t, s.Write(&sitemap.Entry{Loc: fmt.Sprintf("https://www.example.com/%d", i), Elements: []websync.Element{pad}}))
		}
		require.NoError(t, s.Close())
		require.Len(t, p.docs, 2)
		assert.LessOrEqual(t, len(p.docs[0]), 52_428_800)
		assert.Greater(t, len(p.docs[0])+1_000_200, 52_428_800)
		requireValid(t, p.docs[0])
	})
	t.Run("an entry longer than a document", func(t *testing.T) {
		long := sitemap.Entry{Loc: "https://www.example.com/" + strings.Repeat("x", 1000)}
		good := sitemap.Entry{Loc: "https://www.example.com/"}
		for _, order := range [][]*sitemap.Entry{{&long, &good, &good}, {&good, &long, &good}} {
			p := new(parts)
			s := sitemap.NewSetWriter(p.create)
			s.MaxBytes = 500
			for _, e := range order {
				err := s.Write(e)
				assert.Equal(t, e == &long, errors.Is(err, websync.ErrLimit))
			}
			require.NoError(t, s.Close())
			require.Len(t, p.docs, 1)
			assert.Equal(t, 2, s.Parts()[0].Entries)
		}
	})
	t.Run("a bad entry", func(t *testing.T) {
		p := new(parts)
		s := sitemap.NewSetWriter(p.create)
		var entry *websync.EntryError
		require.ErrorAs(t, s.Write(&sitemap.Entry{Loc: "x"}), &entry)
		assert.Zero(t, p.open, "nothing to write, nothing is created")
		require.NoError(t, s.Close())
	})
	t.Run("a bad extension element in the first entry", func(t *testing.T) {
		s := sitemap.NewSetWriter(new(parts).create)
		s.Extensions = google.Extensions()
		bad := websync.Element{Space: google.ImageNamespace, Local: "image", XML: `<image xmlns="` + google.ImageNamespace + `"/>`}
		require.ErrorContains(t, s.Write(&sitemap.Entry{Loc: "https://www.example.com/", Elements: []websync.Element{bad}}), "no loc")
		require.NoError(t, s.Close())
	})
	t.Run("no entries", func(t *testing.T) {
		p := new(parts)
		s := sitemap.NewSetWriter(p.create)
		require.NoError(t, s.Close())
		assert.Len(t, p.docs, 1)
		assert.Equal(t, string(write(t, sitemap.Head{})), string(p.docs[0]))
	})
	t.Run("a head", func(t *testing.T) {
		h := sitemap.Head{
			Elements:   []websync.Element{{Space: "urn:x", Local: "x", XML: `<x xmlns="urn:x"/>`}},
			Attrs:      []websync.Attr{{Space: "urn:x", Local: "a", Value: "1"}},
			Namespaces: map[string]string{"x": "urn:x"},
		}
		e := sitemap.Entry{Loc: "https://www.example.com/"}
		p := new(parts)
		s := sitemap.NewSetWriter(p.create)
		s.MaxEntries = 1
		require.NoError(t, s.WriteHead(&h))
		assert.Zero(t, p.open)
		require.ErrorContains(t, s.WriteHead(&h), "WriteHead must be called once")
		require.NoError(t, s.Write(&e))
		require.NoError(t, s.Write(&e))
		require.NoError(t, s.Close())
		require.Len(t, p.docs, 2)
		for _, doc := range p.docs {
			assert.Equal(t, string(write(t, h, e)), string(doc))
		}
		s = sitemap.NewSetWriter(p.create)
		require.ErrorContains(t, s.WriteHead(&sitemap.Head{Kind: sitemap.Index}), "must be URLSet")
		h.Attrs[0].Local = ""
		require.ErrorContains(t, s.WriteHead(&h), "must have a name")
		require.ErrorContains(t, s.Write(&e), "must have a name")
		assert.Len(t, p.docs, 2)
	})
	t.Run("create fails", func(t *testing.T) {
		s := sitemap.NewSetWriter(func(int) (io.WriteCloser, error) { return nil, errNoSpace })
		require.ErrorIs(t, s.Write(&sitemap.Entry{Loc: "https://www.example.com/"}), errNoSpace)
		assert.ErrorIs(t, s.Close(), errNoSpace)
		assert.Empty(t, s.Parts())
	})
	t.Run("a part fails", func(t *testing.T) {
		closed := 0
		s := sitemap.NewSetWriter(func(int) (io.WriteCloser, error) { return &brokenFile{&closed}, nil })
		s.MaxEntries = 1
		require.NoError(t, s.Write(&sitemap.Entry{Loc: "https://www.example.com/"}))
		require.ErrorIs(t, s.Write(&sitemap.Entry{Loc: "https://www.example.com/"}), errNoSpace)
		assert.ErrorIs(t, s.Close(), errNoSpace)
		assert.Equal(t, 1, closed)
		assert.Empty(t, s.Parts())
	})
}

type brokenFile struct{ closed *int }

func (f *brokenFile) Write([]byte) (int, error) { return 0, errNoSpace }

func (f *brokenFile) Close() error {
	*f.closed++
	return nil
}

// TestWriterAllocations: an entry without extensions needs no memory of its own.
func TestWriterAllocations(t *testing.T) {
	w := sitemap.NewWriter(io.Discard)
	w.Extensions = google.Extensions()
	e := sitemap.Entry{Loc: "https://www.example.com/?a=1&b=2", LastMod: datetime(t, "2025-02-03T04:05:06Z"), ChangeFreq: sitemap.Weekly, Priority: 0.5}
	require.NoError(t, w.Write(&e))
	assert.Zero(t, testing.AllocsPerRun(10_000, func() {
		if err := w.Write(&e); err != nil {
			t.Fatal(err)
		}
	}))
}

// BenchmarkWriter writes one document of 50,000 entries with all four elements: with a
// Writer, and with an Encoder of encoding/xml.
func BenchmarkWriter(b *testing.B) {
	entries, err := readAll(sitemap.NewReader(bytes.NewReader(benchDocument())))
	require.NoError(b, err)
	run := func(name string, write func(io.Writer) error) {
		var out bytes.Buffer
		require.NoError(b, write(&out))
		testkit.Measure(b, name, out.Len(), func() error { return write(io.Discard) })
	}
	run("websync", func(dst io.Writer) error {
		w := sitemap.NewWriter(dst)
		for i := range entries {
			if err := w.Write(&entries[i]); err != nil {
				return err
			}
		}
		return w.Close()
	})
	run("encoding-xml", func(dst io.Writer) error {
		type url struct {
			XMLName    xml.Name  `xml:"url"`
			Loc        string    `xml:"loc"`
			LastMod    time.Time `xml:"lastmod"`
			ChangeFreq string    `xml:"changefreq"`
			Priority   float32   `xml:"priority"`
		}
		enc := xml.NewEncoder(dst)
		root := xml.StartElement{Name: xml.Name{Space: sitemap.Namespace, Local: "urlset"}}
		if err := enc.EncodeToken(root); err != nil {
			return err
		}
		for i := range entries {
			e := &entries[i]
			if err := enc.Encode(url{Loc: e.Loc, LastMod: e.LastMod.Time(), ChangeFreq: string(e.ChangeFreq), Priority: e.Priority}); err != nil {
				return err
			}
		}
		if err := enc.EncodeToken(root.End()); err != nil {
			return err
		}
		return enc.Flush()
	})
}

// BenchmarkValidate checks the document of BenchmarkReader; its peer is the encoding/xml
// figure there.
func BenchmarkValidate(b *testing.B) {
	doc := benchDocument()
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		sum, err := sitemap.Validate(bytes.NewReader(doc), sitemap.ValidateOptions{Extensions: google.Extensions(), Document: "https://www.example.com/sitemap.xml", Now: now})
		if err != nil || sum.Entries != benchEntries || sum.Errors+sum.Warnings > 0 {
			b.Fatal(sum, err)
		}
	}
}
