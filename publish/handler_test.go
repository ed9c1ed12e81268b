package publish

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
)

var (
	listText = "<urlset>" + strings.Repeat("<url/>", 500) + "</urlset>"
	bodyText = "<p>" + strings.Repeat("text ", 500) + "</p>"
)

func exampleSite() *site {
	s := newSite()
	s.list("/sitemap.xml", "application/xml", listText)
	s.list("/empty.xml", "application/xml", "")
	s.list("/list.bin", "application/x-unknown", "0123456789")
	s.set("/final.xml", func() (*websync.Document, error) {
		return &websync.Document{Type: "application/xml", ETag: "f", Final: true, Write: new(rendered).write(listText)}, nil
	})
	s.set("/untagged.xml", func() (*websync.Document, error) {
		return &websync.Document{Type: "application/xml", Write: new(rendered).write(listText)}, nil
	})
	s.file("/page", websync.Document{Type: "text/html", ETag: "p", Modified: long}, bodyText)
	s.file("/short", websync.Document{Type: "text/html", ETag: "s"}, "short")
	s.file("/coded", websync.Document{Type: "text/html", Encoding: "br", ETag: "c"}, bodyText)
	s.file("/picture", websync.Document{Type: "image/png", ETag: "i", Modified: long}, "0123456789")
	s.file("/nothing", websync.Document{Type: "image/png", ETag: "n"}, "")
	s.file("/untagged", websync.Document{Type: "image/png"}, "0123456789")
	s.file("/odd", websync.Document{Type: "text/html\r\nX: y", ETag: "a \"b\"", Encoding: "g zip"}, "x")
	s.file("/new", websync.Document{Type: "image/png", ETag: "new", Modified: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}, "x")
	s.file("/r/a=3A+b@c", websync.Document{Type: "text/plain", ETag: "m"}, "plain")
	s.fail("/gone", fmt.Errorf("it is %w", websync.ErrGone))
	s.fail("/broken", errors.New("secret"))
	s.fail("/busy", fmt.Errorf("secret: %w", context.DeadlineExceeded))
	s.fail("/large", fmt.Errorf("secret: %w", websync.ErrLimit))
	s.set("/unwritten.xml", func() (*websync.Document, error) {
		return &websync.Document{ETag: "u", Write: func(_ context.Context, w io.Writer) error {
			io.WriteString(w, "half of it")
			return errors.New("secret")
		}}, nil
	})
	s.set("/unopened", func() (*websync.Document, error) {
		return &websync.Document{ETag: "u", Open: func(context.Context) (io.ReadSeekCloser, error) { return nil, websync.ErrNotFound }}, nil
	})
	s.set("/panic.xml", func() (*websync.Document, error) {
		return &websync.Document{ETag: "u", Write: func(context.Context, io.Writer) error { panic("secret") }}, nil
	})
	return s
}

const listTag = `"e3b0c44298fc1c14"` // of nothing

func TestHandler(t *testing.T) {
	const modified = "Thu, 29 Feb 2024 12:00:00 GMT"
	tag := `"` + websync.SHA256([]byte(listText)).String()[8:24] + `"`
	zip := strings.TrimSuffix(tag, `"`) + `-gzip"`
	type fields = map[string]string
	for name, test := range map[string]struct {
		method, path string
		ask          []string
		status       int
		body         string
		want         fields
	}{
		"a list": {"GET", "/sitemap.xml", nil, 200, listText, fields{
			"Content-Type": "application/xml", "ETag": tag, "Last-Modified": modified, "Cache-Control": "no-cache", "Vary": "Accept-Encoding",
			"Content-Encoding": "", "Content-Length": fmt.Sprint(len(listText)), "X-Content-Type-Options": "nosniff", "Accept-Ranges": "bytes",
		}},
		"a query":         {"GET", "/sitemap.xml?x=1", nil, 200, listText, nil},
		"a final list":    {"GET", "/final.xml", nil, 200, listText, fields{"Cache-Control": "public, max-age=31536000, immutable", "Last-Modified": ""}},
		"an empty list":   {"GET", "/empty.xml", nil, 200, "", fields{"Content-Length": "0", "ETag": listTag}},
		"a binary list":   {"GET", "/list.bin", []string{"Accept-Encoding", "gzip"}, 200, "0123456789", fields{"Vary": "", "Content-Encoding": ""}},
		"untagged":        {"GET", "/untagged", nil, 200, "0123456789", fields{"ETag": `"84d89877f0d4041efb6bf91a16f0248f"`}},
		"an open one":     {"GET", "/page", nil, 200, bodyText, fields{"ETag": `"p"`, "Vary": "Accept-Encoding", "Content-Security-Policy": sandbox}},
		"an empty body":   {"GET", "/nothing", nil, 200, "", fields{"Content-Length": "0"}},
		"coded":           {"GET", "/coded", []string{"Accept-Encoding", "gzip"}, 200, bodyText, fields{"Content-Encoding": "br", "Content-Length": fmt.Sprint(len(bodyText)), "Vary": ""}},
		"coded, unwanted": {"GET", "/coded", []string{"Accept-Encoding", "identity"}, 200, bodyText, fields{"Content-Encoding": "br", "ETag": `"c"`}},
		"odd":             {"GET", "/odd", nil, 200, "x", fields{"Content-Type": "application/octet-stream", "Content-Encoding": "", "X": "", "ETag": `"34838019aa8c62fc1e516dc70842c1cf"`}},
		"short":           {"GET", "/short", []string{"Accept-Encoding", "gzip"}, 200, "short", fields{"Content-Encoding": "", "ETag": `"s"`, "Vary": "Accept-Encoding"}},
		"in the future":   {"GET", "/new", nil, 200, "x", fields{"Last-Modified": ""}},

		"HEAD":             {"HEAD", "/picture", nil, 200, "", fields{"Content-Length": "10", "ETag": `"i"`, "Content-Type": "image/png"}},
		"HEAD of a list":   {"HEAD", "/sitemap.xml", []string{"Accept-Encoding", "gzip"}, 200, "", fields{"Content-Length": "", "ETag": zip, "Content-Encoding": "gzip"}},
		"HEAD, untagged":   {"HEAD", "/untagged.xml", nil, 200, "", fields{"Content-Length": fmt.Sprint(len(listText))}},
		"HEAD of a range":  {"HEAD", "/picture", []string{"Range", "bytes=0-1"}, 200, "", fields{"Content-Length": "10"}},
		"HEAD, compressed": {"HEAD", "/page", []string{"Accept-Encoding", "gzip"}, 200, "", fields{"Content-Length": "", "ETag": `"p-gzip"`}},

		"If-None-Match":               {"GET", "/sitemap.xml", []string{"If-None-Match", tag}, 304, "", fields{"ETag": tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding", "Content-Type": ""}},
		"If-None-Match, of gzip":      {"GET", "/sitemap.xml", []string{"If-None-Match", `"x", W/` + zip}, 304, "", fields{"ETag": zip}},
		"If-None-Match, the other":    {"GET", "/sitemap.xml", []string{"If-None-Match", tag, "Accept-Encoding", "gzip"}, 304, "", fields{"ETag": tag}},
		"If-None-Match, star":         {"GET", "/sitemap.xml", []string{"If-None-Match", "*"}, 304, "", fields{"ETag": tag}},
		"If-None-Match, two lines":    {"GET", "/page", []string{"If-None-Match", `"x"`, "If-None-Match", `"p"`}, 304, "", nil},
		"If-None-Match, open, gzip":   {"GET", "/page", []string{"If-None-Match", `"p"`, "Accept-Encoding", "gzip"}, 304, "", fields{"ETag": `"p"`}},
		"If-None-Match, no gzip form": {"GET", "/picture", []string{"If-None-Match", `"i-gzip"`}, 200, "0123456789", nil},
		"If-None-Match, another":      {"GET", "/sitemap.xml", []string{"If-None-Match", `"x"`, "If-Modified-Since", modified}, 200, listText, nil},
		"If-None-Match, unreadable":   {"GET", "/picture", []string{"If-None-Match", `i, "i`}, 200, "0123456789", nil},
		"If-None-Match, untagged":     {"GET", "/untagged", []string{"If-None-Match", `"84d89877f0d4041efb6bf91a16f0248f"`}, 304, "", nil},
		"If-Modified-Since":           {"GET", "/sitemap.xml", []string{"If-Modified-Since", modified}, 304, "", fields{"ETag": tag, "Last-Modified": modified}},
		"If-Modified-Since, gzip":     {"GET", "/page", []string{"If-Modified-Since", modified, "Accept-Encoding", "gzip"}, 304, "", fields{"ETag": `"p-gzip"`}},
		"If-Modified-Since, before":   {"GET", "/picture", []string{"If-Modified-Since", "Thu, 29 Feb 2024 11:59:59 GMT"}, 200, "0123456789", nil},
		"If-Modified-Since, odd":      {"GET", "/picture", []string{"If-Modified-Since", "yesterday"}, 200, "0123456789", nil},
		"If-Modified-Since, unknown":  {"GET", "/short", []string{"If-Modified-Since", modified}, 200, "short", nil},
		"If-Modified-Since, future":   {"GET", "/new", []string{"If-Modified-Since", "Tue, 01 Jan 2030 00:00:00 GMT"}, 200, "x", nil},
		"If-Match":                    {"GET", "/picture", []string{"If-Match", `"x", "i"`}, 200, "0123456789", nil},
		"If-Match, star":              {"GET", "/picture", []string{"If-Match", "*"}, 200, "0123456789", nil},
		"If-Match, weak":              {"GET", "/picture", []string{"If-Match", `W/"i"`}, 412, "Precondition Failed\n", fields{"ETag": ""}},
		"If-Match, another":           {"GET", "/sitemap.xml", []string{"If-Match", `"x"`, "If-None-Match", tag}, 412, "Precondition Failed\n", nil},
		"If-Match, the other form":    {"GET", "/page", []string{"If-Match", `"p"`, "Accept-Encoding", "gzip"}, 412, "Precondition Failed\n", nil},
		"If-Unmodified-Since":         {"GET", "/picture", []string{"If-Unmodified-Since", modified}, 200, "0123456789", nil},
		"If-Unmodified-Since, before": {"GET", "/picture", []string{"If-Unmodified-Since", "Thu, 29 Feb 2024 11:59:59 GMT"}, 412, "Precondition Failed\n", nil},

		"a range":                 {"GET", "/picture", []string{"Range", "bytes=2-4"}, 206, "234", fields{"Content-Range": "bytes 2-4/10", "Content-Length": "3", "ETag": `"i"`}},
		"a range of a list":       {"GET", "/sitemap.xml", []string{"Range", "bytes=0-7"}, 206, "<urlset>", nil},
		"a range of coded bytes":  {"GET", "/coded", []string{"Range", "bytes=-4"}, 206, "</p>", fields{"Content-Encoding": "br", "Content-Length": "4"}},
		"a range beyond the end":  {"GET", "/coded", []string{"Range", "bytes=99999-"}, 416, "Requested Range Not Satisfiable\n", fields{"Content-Encoding": "", "Content-Range": fmt.Sprintf("bytes */%d", len(bodyText))}},
		"the refusal of a range":  {"GET", "/picture", []string{"Range", "bytes=10-"}, 416, "Requested Range Not Satisfiable\n", fields{"Content-Range": "bytes */10", "Cache-Control": "no-cache", "ETag": ""}},
		"a range past the end":    {"GET", "/picture", []string{"Range", "bytes=8-99"}, 206, "89", fields{"Content-Range": "bytes 8-9/10"}},
		"a range to no number":    {"GET", "/picture", []string{"Range", "bytes=8-99999999999999999999"}, 206, "89", fields{"Content-Range": "bytes 8-9/10"}},
		"a range from no number":  {"GET", "/picture", []string{"Range", "bytes=99999999999999999999-"}, 416, "Requested Range Not Satisfiable\n", fields{"Content-Range": "bytes */10"}},
		"a range of the last":     {"GET", "/picture", []string{"Range", "bytes=-99"}, 206, "0123456789", fields{"Content-Range": "bytes 0-9/10"}},
		"a range of the last 0":   {"GET", "/picture", []string{"Range", "bytes=-0"}, 416, "Requested Range Not Satisfiable\n", fields{"Content-Range": "bytes */10"}},
		"a range backwards":       {"GET", "/picture", []string{"Range", "bytes=5-2"}, 200, "0123456789", fields{"Content-Range": ""}},
		"no range":                {"GET", "/picture", []string{"Range", "bytes=a-b"}, 200, "0123456789", nil},
		"no range, a dash":        {"GET", "/picture", []string{"Range", "bytes=-"}, 200, "0123456789", nil},
		"no range, no dash":       {"GET", "/picture", []string{"Range", "bytes=5"}, 200, "0123456789", nil},
		"no range, a sign":        {"GET", "/picture", []string{"Range", "bytes=+1-2"}, 200, "0123456789", nil},
		"two fields of a range":   {"GET", "/picture", []string{"Range", "bytes=0-0", "Range", "bytes=1-1"}, 200, "0123456789", nil},
		"a range of nothing":      {"GET", "/nothing", []string{"Range", "bytes=0-"}, 200, "", nil},
		"a range of an empty one": {"GET", "/empty.xml", []string{"Range", "bytes=0-"}, 200, "", nil},
		"ranges":                  {"GET", "/picture", []string{"Range", "bytes=0-0,2-2"}, 200, "0123456789", nil},
		"other units":             {"GET", "/picture", []string{"Range", "lines=0-0"}, 200, "0123456789", nil},
		"If-Range":                {"GET", "/picture", []string{"Range", "bytes=0-0", "If-Range", `"i"`}, 206, "0", nil},
		"If-Range, another":       {"GET", "/picture", []string{"Range", "bytes=0-0", "If-Range", `"x"`}, 200, "0123456789", nil},
		"If-Range, weak":          {"GET", "/picture", []string{"Range", "bytes=0-0", "If-Range", `W/"i"`}, 200, "0123456789", nil},
		"If-Range, a date":        {"GET", "/picture", []string{"Range", "bytes=0-0", "If-Range", modified}, 206, "0", nil},
		"If-Range, another date":  {"GET", "/picture", []string{"Range", "bytes=0-0", "If-Range", "Thu, 29 Feb 2024 12:00:01 GMT"}, 200, "0123456789", nil},
		"If-Range, of two forms":  {"GET", "/page", []string{"Range", "bytes=0-0", "If-Range", modified}, 200, bodyText, nil},

		"not found":     {"GET", "/nowhere", nil, 404, "Not Found\n", fields{"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-cache"}},
		"gone":          {"GET", "/gone", nil, 410, "Gone\n", nil},
		"broken":        {"GET", "/broken", nil, 500, "Internal Server Error\n", fields{"ETag": ""}},
		"unwritten":     {"GET", "/unwritten.xml", nil, 500, "Internal Server Error\n", fields{"ETag": "", "Last-Modified": ""}},
		"a panic":       {"GET", "/panic.xml", nil, 500, "Internal Server Error\n", nil},
		"unopened":      {"GET", "/unopened", nil, 404, "Not Found\n", nil},
		"busy":          {"GET", "/busy", nil, 503, "Service Unavailable\n", nil},
		"over a limit":  {"GET", "/large", nil, 503, "Service Unavailable\n", nil},
		"POST":          {"POST", "/sitemap.xml", nil, 405, "Method Not Allowed\n", fields{"Allow": "GET, HEAD"}},
		"a dot segment": {"GET", "/../sitemap.xml", nil, 404, "Not Found\n", nil},
		"escaped":       {"GET", "/sitemap%2Exml", nil, 404, "Not Found\n", nil},
		"marks":         {"GET", "/r/a=3A+b@c", nil, 200, "plain", nil},
		"escaped marks": {"GET", "/r/a%3D3A%2bb%40c", nil, 200, "plain", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := get(newHandler(t, exampleSite()), test.method, test.path, test.ask...)
			require.Equal(t, test.status, w.Code)
			if test.method != "HEAD" {
				assert.Equal(t, test.body, w.Body.String())
			}
			if test.want != nil {
				assert.Equal(t, test.want, fieldsOf(w.Header(), test.want))
			}
		})
	}
}

func unzip(t testing.TB, r io.Reader) string {
	z, err := gzip.NewReader(r)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(text)
}

func TestHandlerCompresses(t *testing.T) {
	h := newHandler(t, exampleSite())
	for path, want := range map[string]string{"/sitemap.xml": listText, "/untagged.xml": listText, "/page": bodyText, "/empty.xml": ""} {
		first := get(h, "GET", path, "Accept-Encoding", "gzip")
		require.Equal(t, 200, first.Code)
		assert.Equal(t, "gzip", first.Header().Get("Content-Encoding"), path)
		assert.Regexp(t, `^"[^"]+-gzip"$`, first.Header().Get("ETag"))
		assert.Equal(t, fmt.Sprint(first.Body.Len()), first.Header().Get("Content-Length"))
		assert.Equal(t, want, unzip(t, bytes.NewReader(first.Body.Bytes())))

		// A list in the cache has a length and ranges.
		head := get(h, "HEAD", path, "Accept-Encoding", "gzip")
		assert.Equal(t, first.Header(), head.Header())
		part := get(h, "GET", path, "Accept-Encoding", "gzip", "Range", "bytes=5-", "If-Range", first.Header().Get("ETag"))
		require.Equal(t, 206, part.Code)
		assert.Equal(t, first.Body.Bytes()[5:], part.Body.Bytes())
		assert.Equal(t, "gzip", part.Header().Get("Content-Encoding"))
	}
}

func TestAcceptsGzip(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "x-gzip": true, "deflate, gzip;q=0.5": true, "gzip;q=0": false, "*": true, "*;q=0": false,
		"br": false, "identity;q=0": false, "identity;q=0, gzip": true, "identity, gzip;q=0.5": false, "identity;q=0.5, gzip;q=1.0": true,
		"gzip;q=0, *": false, "gzip; q = 0.1": true, "gzip;q=x": false, "gzip;q=2": false, "gzip;q=NaN": false, "gzip;level=9": true, "*;q=0.2, identity;q=0.5": false,
	} {
		assert.Equal(t, want, acceptsGzip([]string{text}), text)
	}
	assert.True(t, acceptsGzip([]string{"br", "gzip"}))
	assert.False(t, acceptsGzip(nil))
}

func TestHeaders(t *testing.T) {
	s := newSite()
	sum := websync.SHA256([]byte(bodyText))
	s.file("/body", websync.Document{Type: "text/html", ETag: "b",
		Digests: websync.Digests{sum, {Algorithm: "md5", Sum: "0123456789abcdef"}, {Algorithm: "crc32c", Sum: "x"}},
		Links: []websync.Link{
			{Rel: "via", Href: "https://example.com/\u00e9 <x>", Type: "text/html", Lang: "sv", Title: `a "b" \c`},
			{Rel: "self", Href: "/body", Title: "\u00e9\r\nX: y"},
			{Rel: "a\r\nb", Href: "/x"}, {Rel: "x"}, {Href: "/x"},
			{Rel: "up", Href: "/x\r\nX: y", Type: "a\nb", Lang: "a, b"},
		}}, bodyText)
	h := newHandler(t, s)
	want := map[string]string{
		"Repr-Digest": "sha-256=:6ndVXIltZQDMQz4RuuYzg6CB3pRJx09J/lNkL9AQdBI=:",
		"Digest":      "SHA-256=6ndVXIltZQDMQz4RuuYzg6CB3pRJx09J/lNkL9AQdBI=,MD5=MDEyMzQ1Njc4OWFiY2RlZg==",
		"Link": `<https://example.com/%C3%A9%20%3Cx%3E>; rel="via"; type="text/html"; hreflang=sv; title="a \"b\" \\c" | ` +
			`</body>; rel="self"; title*=UTF-8''%C3%A9%0D%0AX%3A%20y | </x%0D%0AX:%20y>; rel="up"`,
		"X": "",
	}
	assert.Equal(t, want, fieldsOf(get(h, "GET", "/body").Header(), want))
	assert.Equal(t, want, fieldsOf(get(h, "GET", "/body", "Range", "bytes=0-1").Header(), want), "they are of the whole")
	refused := get(h, "GET", "/body", "Range", "bytes=99999-")
	require.Equal(t, 416, refused.Code)
	assert.Equal(t, map[string]string{"Repr-Digest": "", "Digest": "", "Link": ""},
		fieldsOf(refused.Header(), map[string]string{"Repr-Digest": "", "Digest": "", "Link": ""}), "they are not those of the refusal")

	zipped := get(h, "GET", "/body", "Accept-Encoding", "gzip").Header()
	assert.Empty(t, zipped.Get("Repr-Digest"))
	assert.Empty(t, zipped.Get("Digest"))

	h.Trusted = true
	assert.Empty(t, get(h, "GET", "/body").Header().Get("Content-Security-Policy"))
}

func TestContentType(t *testing.T) {
	const none = "application/octet-stream"
	for text, want := range map[string]string{
		"": none, "text/html": "text/html", "text/html; charset=utf-8": "text/html; charset=utf-8", "html": none, "text/html;": "text/html;",
		"text/html\r\nX: y": none, "text/html; x=\"\u00e9\"": none, "text/html; x=\"\x01\"": none, "text/html, image/png": none, "form-data": none,
		"multipart/x-mixed-replace; boundary=x": none, "Multipart/X-Mixed-Replace": none, "multipart/related": "multipart/related",
	} {
		assert.Equal(t, want, contentType(text), text)
	}
}

// Two versions within a second must not have one Last-Modified.
func TestLastModifiedIsRoundedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.file("/x", websync.Document{Type: "image/png", ETag: "1", Modified: time.Now().Add(300 * time.Millisecond)}, "x")
		h := newHandler(t, s)
		time.Sleep(500 * time.Millisecond)
		assert.Empty(t, get(h, "GET", "/x").Header().Get("Last-Modified"))
		since := time.Now().UTC().Format(http.TimeFormat) // rounded down
		assert.Equal(t, 200, get(h, "GET", "/x", "If-Modified-Since", since).Code)
		time.Sleep(500 * time.Millisecond)
		last := get(h, "GET", "/x").Header().Get("Last-Modified")
		assert.Equal(t, time.Now().UTC().Format(http.TimeFormat), last)
		assert.Equal(t, 200, get(h, "GET", "/x", "If-Modified-Since", since).Code)
		assert.Equal(t, 304, get(h, "GET", "/x", "If-Modified-Since", last).Code)
	})
}

func TestListsAreRenderedOnce(t *testing.T) {
	s := newSite()
	r := s.list("/a.xml", "application/xml", listText)
	h := newHandler(t, s)
	tag := get(h, "HEAD", "/a.xml").Header().Get("ETag")
	get(h, "GET", "/a.xml", "If-None-Match", tag)
	get(h, "GET", "/a.xml", "If-Modified-Since", long.Format(http.TimeFormat), "Accept-Encoding", "gzip")
	get(h, "GET", "/a.xml", "If-Match", `"x"`)
	assert.Zero(t, r.count())
	for range 3 {
		get(h, "GET", "/a.xml")
		get(h, "GET", "/a.xml", "Accept-Encoding", "gzip")
		assert.NotEmpty(t, get(h, "HEAD", "/a.xml").Header().Get("Content-Length"))
	}
	assert.Equal(t, 1, r.count())

	changed := s.list("/a.xml", "application/xml", listText+" ")
	assert.Equal(t, listText+" ", get(h, "GET", "/a.xml").Body.String())
	assert.Equal(t, 1, changed.count())
	assert.Equal(t, 2, h.cache.recent.Len(), "of each coding the latest state is kept")
}

func TestConcurrentRequestsShareARendering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		var n int
		s.set("/a.xml", func() (*websync.Document, error) {
			return &websync.Document{Type: "application/xml", ETag: "a", Write: func(ctx context.Context, w io.Writer) error {
				n++
				time.Sleep(time.Minute)
				_, err := io.WriteString(w, listText)
				return err
			}}, nil
		})
		h := newHandler(t, s)
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				if i%2 == 0 {
					assert.Equal(t, listText, get(h, "GET", "/a.xml").Body.String())
				} else {
					assert.Equal(t, listText, unzip(t, get(h, "GET", "/a.xml", "Accept-Encoding", "gzip").Body))
				}
			})
		}
		// A caller that gives up does not cancel the rendering for the others.
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/a.xml", nil))
			assert.Equal(t, 503, w.Code)
		})
		all.Wait()
		assert.Equal(t, 1, n)
	})
}

func TestARenderingNobodyWaitsForIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		var mu sync.Mutex
		var ended []error
		s.set("/a.xml", func() (*websync.Document, error) {
			return &websync.Document{Type: "application/xml", ETag: "a", Write: func(ctx context.Context, w io.Writer) error {
				select {
				case <-ctx.Done():
				case <-time.After(10 * time.Second):
				}
				mu.Lock()
				ended = append(ended, ctx.Err())
				mu.Unlock()
				time.Sleep(time.Second) // it is slow to notice
				_, err := io.WriteString(w, listText)
				return err
			}}, nil
		})
		h := newHandler(t, s)
		var all sync.WaitGroup
		for wait := time.Second; wait <= 3*time.Second; wait += time.Second {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), wait)
				defer cancel()
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/a.xml", nil))
			})
		}
		all.Wait()
		assert.Equal(t, listText, get(h, "GET", "/a.xml").Body.String(), "the next one begins anew")
		assert.Equal(t, []error{context.Canceled, nil}, ended)
	})
}

// Concurrency limits how many lists are rendered at the same time, also if a compressed
// list waits for the plain one.
func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		running, most := 0, 0
		var mu sync.Mutex
		for i := range 6 {
			s.set(fmt.Sprintf("/%d.xml", i), func() (*websync.Document, error) {
				return &websync.Document{Type: "application/xml", ETag: "a", Write: func(ctx context.Context, w io.Writer) error {
					mu.Lock()
					running++
					most = max(most, running)
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					running--
					mu.Unlock()
					_, err := io.WriteString(w, listText)
					return err
				}}, nil
			})
		}
		h := newHandler(t, s)
		h.Concurrency = 1
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				assert.Equal(t, 200, get(h, "GET", fmt.Sprintf("/%d.xml", i), "Accept-Encoding", "gzip").Code)
			})
		}
		all.Wait()
		assert.Equal(t, 1, most)
	})
}

// moving is a Publisher whose Catalog changes during the first n renderings.
func moving(s *site, n int, tag string) {
	state := 0
	s.set("/a.xml", func() (*websync.Document, error) {
		now, etag := state, tag
		if tag != "" {
			etag = fmt.Sprint(tag, now)
		}
		return &websync.Document{Type: "application/xml", ETag: etag, Modified: long, Final: true, Digests: websync.Digests{websync.SHA256(nil)},
			Write: func(_ context.Context, w io.Writer) error {
				fmt.Fprintf(w, "state %d", now)
				if n--; n >= 0 {
					state++
					return fmt.Errorf("the log: %w", websync.ErrConflict)
				}
				return nil
			}}, nil
	})
}

func TestACatalogThatMovesOn(t *testing.T) {
	s := newSite()
	h := newHandler(t, s)
	for _, tag := range []string{"t", ""} {
		for _, coding := range []string{"gzip", "identity"} {
			moving(s, 2, tag)
			w := get(h, "GET", "/a.xml", "Accept-Encoding", coding)
			require.Equal(t, 200, w.Code)
			if coding == "gzip" {
				assert.Equal(t, "state 2", unzip(t, w.Body))
			} else {
				assert.Equal(t, "state 2", w.Body.String())
			}
		}
	}

	moving(s, 1000, "u")
	w := get(h, "GET", "/a.xml")
	require.Equal(t, 200, w.Code)
	assert.Equal(t, "state 3", w.Body.String())
	want := map[string]string{"ETag": `"` + fmt.Sprintf("%x", websync.SHA256([]byte("state 3")).Sum[:16]) + `"`,
		"Last-Modified": "", "Cache-Control": "no-cache", "Repr-Digest": "", "Content-Type": "application/xml"}
	assert.Equal(t, want, fieldsOf(w.Header(), want))
	assert.Equal(t, "state 7", get(h, "GET", "/a.xml").Body.String(), "nothing of it is kept")
	assert.Equal(t, "state 11", unzip(t, get(h, "GET", "/a.xml", "Accept-Encoding", "gzip").Body))

	// If the tag does not change, only a rendering without a concurrent change has it.
	n := 0
	s.set("/b.xml", func() (*websync.Document, error) {
		return &websync.Document{ETag: "b", Write: func(_ context.Context, w io.Writer) error {
			n++
			fmt.Fprint(w, n)
			if n < 6 {
				return websync.ErrConflict
			}
			return nil
		}}, nil
	})
	first, second := get(h, "GET", "/b.xml"), get(h, "GET", "/b.xml")
	assert.Equal(t, []string{"4", "6"}, []string{first.Body.String(), second.Body.String()})
	assert.NotEqual(t, `"b"`, first.Header().Get("ETag"))
	assert.Equal(t, `"b"`, second.Header().Get("ETag"))
}

func TestLimitsOfTheCache(t *testing.T) {
	s := newSite()
	short := strings.Repeat("x", 100<<10)
	long := strings.Repeat("x", 600<<10)
	counts := make(map[string]*rendered)
	for _, name := range []string{"a", "b", "c"} {
		counts[name] = s.list("/"+name, "image/x", short+name)
		counts[name+"l"] = s.list("/"+name+"l", "image/x", long+name)
	}
	h := newHandler(t, s)
	h.MemoryMax, h.SpoolMax = 250<<10, 1300<<10
	for _, name := range []string{"a", "b", "a", "c", "a", "b", "al", "bl", "al", "cl", "al", "bl"} {
		text := short
		if strings.HasSuffix(name, "l") {
			text = long
		}
		require.Equal(t, text+name[:1], get(h, "GET", "/"+name).Body.String())
	}
	for name, want := range map[string]int{"a": 1, "b": 2, "c": 1, "al": 1, "bl": 2, "cl": 1} {
		assert.Equal(t, want, counts[name].count(), name)
	}
	assert.LessOrEqual(t, h.cache.memory, h.MemoryMax)
	assert.LessOrEqual(t, h.cache.files, h.SpoolMax)
	require.NoError(t, h.Close())
	assert.Zero(t, h.cache.memory+h.cache.files)
	left, err := os.ReadDir(h.Dir)
	require.NoError(t, err)
	assert.Empty(t, left)

	h = newHandler(t, s)
	h.MemoryMax, h.SpoolMax = 1, 1 // nothing is kept, all is served
	assert.Equal(t, short+"a", get(h, "GET", "/a").Body.String())
	assert.Equal(t, long+"a", get(h, "GET", "/al").Body.String())
}

// A client reads its rendering to the end, even if the cache drops it.
func TestASlowReader(t *testing.T) {
	s := newSite()
	text := strings.Repeat("0123456789", 800<<10)
	s.list("/a", "image/x", text)
	h := newHandler(t, s)
	server := httptest.NewServer(h)
	defer server.Close()
	resp, err := http.Get(server.URL + "/a")
	require.NoError(t, err)
	defer resp.Body.Close()
	first := make([]byte, 10)
	_, err = io.ReadFull(resp.Body, first)
	require.NoError(t, err)

	s.list("/a", "image/x", "another")
	require.Equal(t, "another", get(h, "GET", "/a").Body.String())
	require.NoError(t, h.Close())

	rest, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, text, string(first)+string(rest))
}

func TestNoRoomForAList(t *testing.T) {
	s := newSite()
	r := s.list("/a", "image/x", strings.Repeat("x", 1<<20))
	s.list("/b", "image/x", "short")
	s.set("/stubborn", func() (*websync.Document, error) {
		return &websync.Document{ETag: "x", Write: func(_ context.Context, w io.Writer) error {
			for range 100 {
				w.Write(make([]byte, 10<<10))
			}
			return nil
		}}, nil
	})
	s.set("/masked", func() (*websync.Document, error) {
		return &websync.Document{ETag: "x", Write: func(_ context.Context, w io.Writer) error {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return errors.New("not written")
			}
			return nil
		}}, nil
	})
	var log bytes.Buffer
	h := newHandler(t, s)
	h.Log = slog.New(slog.NewTextHandler(&log, nil))
	h.start()
	h.cache.dir = filepath.Join(h.Dir, "nowhere")
	assert.Equal(t, 503, get(h, "GET", "/a").Code)
	assert.Equal(t, 503, get(h, "GET", "/stubborn").Code, "though the publisher hides the error")
	assert.Equal(t, 503, get(h, "GET", "/masked").Code)
	assert.Contains(t, log.String(), "level=WARN")
	assert.Equal(t, 200, get(h, "GET", "/b").Code)
	h.cache.dir = h.Dir
	assert.Equal(t, 200, get(h, "GET", "/a").Code)
	assert.Equal(t, 2, r.count())

	lost := &Handler{Publishers: []websync.Publisher{s}, Dir: h.Dir + "/nowhere"}
	assert.Equal(t, 503, get(lost, "GET", "/a").Code)
}

func TestErrorsAreLoggedNotShown(t *testing.T) {
	var log bytes.Buffer
	h := newHandler(t, exampleSite())
	h.Log = slog.New(slog.NewTextHandler(&log, nil))
	for _, path := range []string{"/broken", "/unwritten.xml", "/panic.xml"} {
		log.Reset()
		w := get(h, "GET", path)
		assert.NotContains(t, w.Body.String()+fmt.Sprint(w.Header()), "secret")
		assert.Contains(t, log.String(), "secret")
		assert.Contains(t, log.String(), "level=ERROR")
		assert.Contains(t, log.String(), "uri="+path)
	}
	log.Reset()
	get(h, "GET", "/nowhere")
	assert.Empty(t, log.String())
}

type failing struct {
	io.ReadSeeker
	left int
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	if f.left <= 0 {
		return 0, f.err
	}
	n, err := f.ReadSeeker.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, err
}

func (f *failing) Close() error { return nil }

// A client notices that an answer is incomplete.
func TestABrokenBodyBreaksTheConnection(t *testing.T) {
	s := newSite()
	for path, err := range map[string]error{"/fails": errors.New("the disk"), "/ends": io.EOF} {
		s.set(path, func() (*websync.Document, error) {
			return &websync.Document{Type: "image/png", ETag: "x", Open: func(context.Context) (io.ReadSeekCloser, error) {
				return &failing{strings.NewReader(strings.Repeat("x", 1<<20)), 500_000, err}, nil
			}}, nil
		})
	}
	for _, http2 := range []bool{false, true} {
		server := httptest.NewUnstartedServer(newHandler(t, s))
		server.EnableHTTP2 = http2
		server.StartTLS()
		for _, path := range []string{"/fails", "/ends"} {
			resp, err := server.Client().Get(server.URL + path)
			require.NoError(t, err)
			require.Equal(t, http2, resp.ProtoMajor == 2)
			_, err = io.ReadAll(resp.Body)
			assert.Error(t, err, path)
			resp.Body.Close()
		}
		server.Close()
	}
	assert.PanicsWithValue(t, http.ErrAbortHandler, func() { get(newHandler(t, s), "GET", "/ends") })
	assert.Equal(t, "xx", get(newHandler(t, s), "GET", "/fails", "Range", "bytes=0-1").Body.String())
}

// A wall is a ResponseWriter whose writes fail.
type wall struct{ http.ResponseWriter }

func (wall) Write([]byte) (int, error) { return 0, errors.New("nobody is there") }

func TestAReaderWhoGoesAwayIsNoError(t *testing.T) {
	var logged bytes.Buffer
	h := newHandler(t, exampleSite())
	h.Log = slog.New(slog.NewTextHandler(&logged, nil))
	for _, path := range []string{"/picture", "/sitemap.xml"} {
		assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
			h.ServeHTTP(wall{httptest.NewRecorder()}, httptest.NewRequest("GET", path, nil))
		})
	}
	assert.Empty(t, logged.String())

	s := newSite()
	text := strings.Repeat("0123456789", keptBody/10+1)
	s.set("/ends", func() (*websync.Document, error) {
		return &websync.Document{Type: "image/png", ETag: "x", Open: func(context.Context) (io.ReadSeekCloser, error) {
			return &failing{strings.NewReader(text), 5, errors.New("the disk")}, nil
		}}, nil
	})
	h = newHandler(t, s)
	h.Log = slog.New(slog.NewTextHandler(&logged, nil))
	assert.Panics(t, func() { get(h, "GET", "/ends") })
	assert.Regexp(t, `level=ERROR.*bytes=5 error="the disk"`, logged.String())

	// A short one is read before anything is sent.
	text = "0123456789"
	assert.Equal(t, http.StatusInternalServerError, get(h, "GET", "/ends").Code)
}

func TestBodiesAreClosed(t *testing.T) {
	s := newSite()
	o := s.file("/page", websync.Document{Type: "text/html", ETag: "p", Modified: long}, bodyText)
	h := newHandler(t, s)
	for _, ask := range [][]string{
		nil, {"Range", "bytes=0-1"}, {"Range", "bytes=9999-"}, {"If-None-Match", `"p"`}, {"If-Match", `"x"`}, {"Accept-Encoding", "gzip"},
		{"Accept-Encoding", "gzip"}, {"If-Modified-Since", long.Format(http.TimeFormat), "Accept-Encoding", "gzip"},
	} {
		get(h, "GET", "/page", ask...)
		get(h, "HEAD", "/page", ask...)
		opened, closed := o.counts()
		assert.Equal(t, opened, closed, ask)
	}
	opened, _ := o.counts()
	get(h, "GET", "/page", "If-None-Match", `"p"`, "Accept-Encoding", "gzip")
	now, _ := o.counts()
	assert.Equal(t, opened, now, "a known tag needs no reading")
}

func TestHandlerInAServeMux(t *testing.T) {
	s := newSite()
	s.list("/docs/a.xml", "application/xml", "a")
	s.list("/r/https=3A/=2Fx", "application/xml", "r")
	mux := http.NewServeMux()
	mux.Handle("/docs/", newHandler(t, s))
	mux.Handle("GET /r/", newHandler(t, s))
	assert.Equal(t, "a", get(mux, "GET", "/docs/a.xml").Body.String())
	assert.Equal(t, "r", get(mux, "GET", "/r/https=3A/=2Fx").Body.String())
	assert.Equal(t, 404, get(mux, "GET", "/a.xml").Code)
}

// Publishers receive the path of a raw request unchanged, and clients receive only their
// documents.
func TestRawPaths(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/secret", []byte("secret"), 0o600))
	var mu sync.Mutex
	var asked []string
	s := newSite()
	s.list("/a b", "text/plain", "never: it is not escaped")
	s.list("/a%20b", "text/plain", "found")
	spy := Join(asking{func(path string) { mu.Lock(); defer mu.Unlock(); asked = append(asked, path) }}, s)
	h := newHandler(t, spy)
	h.Dir = dir
	server := httptest.NewServer(h)
	defer server.Close()
	for _, test := range []struct{ target, path, status string }{
		{"/a%20b", "/a%20b", "200"},
		{"http://elsewhere.example/a%20b", "/a%20b", "200"},
		{"/../secret", "/../secret", "404"},
		{"/%2e%2e/secret", "/%2e%2e/secret", "404"},
		{"/..%2fsecret", "/..%2fsecret", "404"},
		{"/..%5csecret", "/..%5csecret", "404"},
		{"//secret", "//secret", "404"},
		{"/a%00b", "/a%00b", "404"},
		{"/a%zz", "", "400"},
		{"/a\x01b", "", "400"},
		{"/\xc3\xa9", "/%C3%A9", "404"},
		{"/" + strings.Repeat("x", 9000), "/" + strings.Repeat("x", 9000), "404"},
		{"*", "*", "404"},
	} {
		asked = nil
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err)
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", test.target)
		status, err := bufio.NewReader(c).ReadString('\n')
		require.NoError(t, err)
		c.Close()
		assert.Contains(t, status, " "+test.status+" ", "%.40q", test.target)
		mu.Lock()
		if test.path != "" {
			assert.Equal(t, []string{test.path}, asked)
		} else {
			assert.Empty(t, asked)
		}
		mu.Unlock()
	}
}

// asking is a Publisher without documents.
type asking struct{ asked func(path string) }

func (a asking) Document(_ context.Context, path string) (*websync.Document, error) {
	a.asked(path)
	return nil, websync.ErrNotFound
}

func (asking) Documents(context.Context) iter.Seq2[string, error] {
	return func(func(string, error) bool) {}
}

// Many clients read many documents while all of these change.
func TestHandlerUnderLoad(t *testing.T) {
	s := newSite()
	var mu sync.Mutex
	state := 0
	text := func(n, path int) string {
		return strings.Repeat(fmt.Sprintf("%d of %d\n", path, n), 20_000*(path%2)+10)
	}
	for i := range 6 {
		s.set(fmt.Sprintf("/%d.xml", i), func() (*websync.Document, error) {
			mu.Lock()
			defer mu.Unlock()
			now := state
			return &websync.Document{Type: "application/xml", ETag: fmt.Sprint(now), Write: func(_ context.Context, w io.Writer) error {
				if _, err := io.WriteString(w, text(now, i)); err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				if now != state {
					return websync.ErrConflict
				}
				return nil
			}}, nil
		})
	}
	h := newHandler(t, s)
	h.SpoolMax = 500 << 10
	server := httptest.NewServer(h)
	defer server.Close()
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for n := range 40 {
				i := (g + n) % 6
				resp, err := http.Get(fmt.Sprintf("%s/%d.xml", server.URL, i))
				if !assert.NoError(t, err) {
					return
				}
				got, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				assert.NoError(t, err)
				assert.Equal(t, 200, resp.StatusCode)
				var path, at int
				_, err = fmt.Sscanf(string(got), "%d of %d", &path, &at)
				assert.NoError(t, err)
				assert.True(t, string(got) == text(at, i), "mixed states")
				if tag := strings.TrimSuffix(strings.Trim(resp.Header.Get("ETag"), `"`), "-gzip"); len(tag) < 10 {
					assert.Equal(t, tag, fmt.Sprint(at), "the tag is that of another state")
				}
				if n%10 == 0 {
					mu.Lock()
					state++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
}
