package websync_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
)

func TestPathLocator(t *testing.T) {
	locator := websync.PathLocator{
		Base:     "https://example.org/docs/",
		Reserved: func(path string) bool { return path == "/docs/sitemap.xml" },
	}
	const r = "https://example.org/docs/r/"
	for name, test := range map[string]struct{ id, body, want string }{
		"under Base":             {"https://example.org/docs/a/b.html", "content", "https://example.org/docs/a/b.html"},
		"escaped under Base":     {"https://example.org/docs/a%20b~c", "content", "https://example.org/docs/a%20b~c"},
		"Base itself":            {"https://example.org/docs/", "content", "https://example.org/docs/"},
		"a directory":            {"https://example.org/docs/a/", "content", "https://example.org/docs/a/"},
		"another body":           {"https://example.org/docs/a", "graph", r + "https=3A/=2Fexample.org/docs/a~graph"},
		"another host":           {"https://example.com/a?b=c&d", "content", r + "https=3A/=2Fexample.com/a=3Fb=3Dc=26d~content"},
		"a URN":                  {"urn:isbn:1", "content", r + "urn=3Aisbn=3A1~content"},
		"a type":                 {"urn:x", "alternate text/html", r + "urn=3Ax~alternate=20text=2Fhtml"},
		"reserved":               {"https://example.org/docs/sitemap.xml", "content", r + "https=3A/=2Fexample.org/docs/sitemap.xml~content"},
		"under r/":               {"https://example.org/docs/r/x", "content", r + "https=3A/=2Fexample.org/docs/r/x~content"},
		"a long name":            {"https://example.org/docs/" + strings.Repeat("%20", 256), "content", ""},
		"a long name, decoded":   {"https://example.org/docs/" + strings.Repeat("%D0%B6", 127), "content", "https://example.org/docs/" + strings.Repeat("%D0%B6", 127)},
		"a long name, not UTF-8": {"https://example.org/docs/" + strings.Repeat("%FF", 86), "content", ""},
		"a long name of control": {"https://example.org/docs/" + strings.Repeat("%0A", 86), "content", ""},
		"a long name, backslash": {"https://example.org/docs/" + strings.Repeat("%5C", 86), "content", ""},
		"a long name, lower hex": {"https://example.org/docs/" + strings.Repeat("%d0%b6", 43), "content", ""},
		"a long name, no need":   {"https://example.org/docs/" + strings.Repeat("%41", 86), "content", ""},
		"an odd name":            {"https://example.org/docs/" + strings.Repeat("%fF", 85), "content", "https://example.org/docs/" + strings.Repeat("%fF", 85)},
		"a query":                {"https://example.org/docs/x?y", "content", r + "https=3A/=2Fexample.org/docs/x=3Fy~content"},
		"dots":                   {"https://example.org/docs/../x", "content", r + "https=3A/=2Fexample.org/docs/=2E./x~content"},
		"escaped dots":           {"https://example.org/docs/%2e%2E/x", "content", r + "https=3A/=2Fexample.org/docs/=252e=252E/x~content"},
		"an escaped slash":       {"https://example.org/docs/a%2Fb", "content", r + "https=3A/=2Fexample.org/docs/a=252Fb~content"},
		"two slashes":            {"https://example.org/docs/a//b", "content", r + "https=3A/=2Fexample.org/docs/a/=2Fb~content"},
		"not ASCII":              {"https://example.org/docs/\u00e9", "content", r + "https=3A/=2Fexample.org/docs/=C3=A9~content"},
		"not UTF-8":              {"\xff~", "a~b", r + "=FF=7E~a=7Eb"},
		"nothing":                {"", "", r + "~"},
		"a slash at the end":     {"urn:x/", "content", r + "urn=3Ax=2F~content"},
		"a dot at the beginning": {"x/.y", "content", r + "x/=2Ey~content"},
	} {
		t.Run(name, func(t *testing.T) {
			got := locator.URL(test.id, test.body)
			if test.want == "" {
				require.Contains(t, got, r)
			} else {
				require.Equal(t, test.want, got)
			}
			id, body, ok := locator.Find(strings.TrimPrefix(got, "https://example.org"))
			require.True(t, ok)
			assert.Equal(t, test.id, id)
			assert.Equal(t, test.body, body)
		})
	}
}

// What URL never returns, Find does not find: nothing has two URLs.
func TestPathLocatorFindsNothingElse(t *testing.T) {
	locator := websync.PathLocator{Base: "https://example.org/docs/", Reserved: func(p string) bool { return p == "/docs/s" }}
	for _, path := range []string{
		"", "/", "/docs", "docs/a", "/other/a", "/docs/s", "/docs/../a", "/docs/a//b", "/docs/%2e%2e/a", "/docs/a%zz", "/docs/a b",
		"/docs/r/", "/docs/r/a", "/docs/r/a=2", "/docs/r/a=~content", "/docs/r/a=2f~content", "/docs/r/=41~content",
		"/docs/r/a//b~content", "/docs/r/../b~content", "/docs/r/a~b~c", "/docs/r/https=3A/=2Fexample.org/docs/a~content", "/docs/r/a=/b~content",
	} {
		_, _, ok := locator.Find(path)
		assert.False(t, ok, path)
	}
}

func TestPathLocatorOfALongID(t *testing.T) {
	locator := websync.PathLocator{Base: "https://example.org/"}
	id := "https://example.com/" + strings.Repeat("x.\u00e9~", 800)
	got := locator.URL(id, strings.Repeat("n", 300))
	for segment := range strings.SplitSeq(got, "/") {
		assert.LessOrEqual(t, len(segment), 200)
	}
	back, _, ok := locator.Find(strings.TrimPrefix(got, "https://example.org"))
	require.True(t, ok)
	require.Equal(t, id, back)
}

func FuzzPathLocator(f *testing.F) {
	locator := websync.PathLocator{Base: "https://example.org/docs/", Reserved: func(p string) bool { return p == "/docs/s" }}
	f.Add("https://example.org/docs/a", "content", "/docs/r/a~content")
	f.Add("https://example.org/docs/s", "graph", "/docs/r/a=/b~content")
	f.Fuzz(func(t *testing.T, id, body, path string) {
		url := locator.URL(id, body)
		gotID, gotBody, ok := locator.Find(strings.TrimPrefix(url, "https://example.org"))
		require.True(t, ok, url)
		require.Equal(t, id, gotID)
		require.Equal(t, body, gotBody)
		if id, body, ok := locator.Find(path); ok {
			require.Equal(t, "https://example.org"+path, locator.URL(id, body))
		}
	})
}
