package websync_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
)

func item(source, id string) *websync.Item {
	return &websync.Item{Source: source, Resource: websync.Resource{ID: id}}
}

func TestPathLocator(t *testing.T) {
	locator := websync.PathLocator{
		Base:     "https://example.org/docs/",
		Own:      []string{"mine", "too"},
		Reserved: func(path string) bool { return path == "/docs/sitemap.xml" },
	}
	const (
		base = "https://example.org/docs/"
		r    = base + "r/"
		here = "https=3A/=2Fexample.org/docs/"
		kept = "kept" // its URL
		any  = ""     // one below r/
	)
	for name, test := range map[string]struct{ id, body, want string }{
		"under Base":              {base + "a/b.html", "content", kept},
		"escaped under Base":      {base + "a%20b~c", "content", kept},
		"Base itself":             {base, "content", kept},
		"a directory":             {base + "a/", "content", kept},
		"another body":            {base + "a", "graph", r + here + "a~graph"},
		"another host":            {"https://example.com/a?b=c&d", "content", r + "https=3A/=2Fexample.com/a=3Fb=3Dc=26d~content"},
		"a URN":                   {"urn:isbn:1", "content", r + "urn=3Aisbn=3A1~content"},
		"a type":                  {"urn:x", "alternate text/html", r + "urn=3Ax~alternate=20text=2Fhtml"},
		"a name like a script's":  {"urn:x", "x.php", r + "urn=3Ax~x=2Ephp"},
		"reserved":                {base + "sitemap.xml", "content", r + here + "sitemap.xml~content"},
		"under r/":                {base + "r/x", "content", r + here + "r/x~content"},
		"robots.txt":              {base + "robots.txt", "content", kept},
		"well known":              {base + ".well-known/security.txt", "content", kept},
		"well known directory":    {base + ".well-known/", "content", any},
		"well known as a file":    {base + ".well-known", "content", r + here + "=2Ewell-known~content"},
		"well known, deeper":      {base + "a/.well-known/x", "content", any},
		"hidden and well known":   {base + ".well-known/.x", "content", any},
		"well known, two slashes": {base + ".well-known//", "content", any},
		"hidden":                  {base + ".htaccess", "content", r + here + "=2Ehtaccess~content"},
		"hidden directory":        {base + "a/.git/config", "content", any},
		"hidden, escaped":         {base + "%2Ehtaccess", "content", any},
		"a long name":             {base + strings.Repeat("a", 255), "content", kept},
		"a longer name":           {base + strings.Repeat("%20", 256), "content", any},
		"a long name, decoded":    {base + strings.Repeat("%D0%B6", 127), "content", kept},
		"not UTF-8":               {base + "%FF", "content", any},
		"cut UTF-8":               {base + "%E9", "content", any},
		"a line break":            {base + "%0A", "content", any},
		"a tabulator":             {base + "%09", "content", any},
		"a backslash":             {base + "%5C", "content", any},
		"lower hex":               {base + "%d0%b6", "content", any},
		"mixed hex":               {base + "%c3%A9", "content", any},
		"no need of an escape":    {base + "%41", "content", any},
		"half an escape":          {base + "%4", "content", any},
		"no escape":               {base + "100%", "content", any},
		"a percent sign":          {base + "100%25", "content", kept},
		"a query":                 {base + "x?y", "content", r + here + "x=3Fy~content"},
		"a fragment":              {base + "x#y", "content", any},
		"dots":                    {base + "../x", "content", r + here + "=2E=2E/x~content"},
		"escaped dots":            {base + "%2e%2E/x", "content", any},
		"an escaped slash":        {base + "a%2Fb", "content", r + here + "a=252Fb~content"},
		"two slashes":             {base + "a//b", "content", r + here + "a/=2Fb~content"},
		"not ASCII":               {base + "\u00e9", "content", r + here + "=C3=A9~content"},
		"bytes":                   {"\xff~", "a~b", r + "=FF=7E~a=7Eb"},
		"nothing":                 {"", "", r + "~"},
		"a slash at the end":      {"urn:x/", "content", r + "urn=3Ax=2F~content"},
		"a dot at the beginning":  {"x/.y", "content", r + "x/=2Ey~content"},
		"a dot at the end":        {"x./y.", "content", r + "x=2E/y=2E~content"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, source := range []string{"mine", "too", "theirs"} {
				got := locator.URL(item(source, test.id), test.body)
				switch {
				case source != "theirs" && test.want == kept:
					require.Equal(t, test.id, got)
				case test.want == kept || test.want == any:
					require.True(t, strings.HasPrefix(got, r), got)
				default:
					require.Equal(t, test.want, got)
				}
				id, body, ok := locator.Find(strings.TrimPrefix(got, "https://example.org"))
				require.True(t, ok)
				assert.Equal(t, test.id, id)
				assert.Equal(t, test.body, body)
			}
		})
	}
}

// A resource that nobody has declared own has no URL outside of r/, whatever its id.
func TestPathLocatorOwnsNothingByDefault(t *testing.T) {
	locator := websync.PathLocator{Base: "https://example.org/"}
	for _, path := range []string{"", "robots.txt", "index.html", ".well-known/acme-challenge/x", ".htaccess", "x.php", "sitemap.xml"} {
		id := locator.Base + path
		for _, source := range []string{"", "content", id} {
			assert.False(t, locator.Owns(source))
			assert.True(t, strings.HasPrefix(locator.URL(item(source, id), "content"), locator.Base+"r/https=3A/=2Fexample.org"))
		}
		_, _, ok := locator.Find("/" + path)
		assert.False(t, ok, path)
	}
}

func TestPathLocatorString(t *testing.T) {
	locator := websync.PathLocator{Base: "https://example.org/"}
	before := locator.String()
	locator.Own = []string{"a b"}
	assert.NotEqual(t, before, locator.String())
	before = locator.String()
	locator.Own = []string{"a", "b"}
	assert.NotEqual(t, before, locator.String())
}

// What URL never returns, Find does not find: nothing has two URLs.
func TestPathLocatorFindsNothingElse(t *testing.T) {
	locator := websync.PathLocator{Base: "https://example.org/docs/", Own: []string{"mine"}, Reserved: func(p string) bool { return p == "/docs/s" }}
	for _, path := range []string{
		"", "/", "/docs", "docs/a", "/other/a", "/docs/s", "/docs/../a", "/docs/a//b", "/docs/%2e%2e/a", "/docs/a%zz", "/docs/a b",
		"/docs/r/", "/docs/r/a", "/docs/r/a=2", "/docs/r/a=~content", "/docs/r/a=2f~content", "/docs/r/=41~content",
		"/docs/r/a//b~content", "/docs/r/../b~content", "/docs/r/a~b~c", "/docs/r/a=/b~content", "/docs/r/a~b.c",
		"/docs/.a", "/docs/%41", "/docs/%c3%a9", "/docs/%E9",
	} {
		_, _, ok := locator.Find(path)
		assert.False(t, ok, path)
	}
}

func TestPathLocatorOfALongID(t *testing.T) {
	locator := websync.PathLocator{Base: "https://example.org/"}
	id := "https://example.com/" + strings.Repeat("x.\u00e9~", 800)
	got := locator.URL(item("theirs", id), strings.Repeat("n", 300))
	for segment := range strings.SplitSeq(got, "/") {
		assert.LessOrEqual(t, len(segment), 200)
	}
	back, _, ok := locator.Find(strings.TrimPrefix(got, "https://example.org"))
	require.True(t, ok)
	require.Equal(t, id, back)
}

func FuzzPathLocator(f *testing.F) {
	locator := websync.PathLocator{Base: "https://example.org/docs/", Own: []string{"mine"}, Reserved: func(p string) bool { return p == "/docs/s" }}
	f.Add("https://example.org/docs/a", "content", "/docs/r/a~content")
	f.Add("https://example.org/docs/s", "graph", "/docs/r/a=/b~content")
	f.Fuzz(func(t *testing.T, id, body, path string) {
		for _, source := range []string{"mine", "theirs"} {
			url := locator.URL(item(source, id), body)
			gotID, gotBody, ok := locator.Find(strings.TrimPrefix(url, "https://example.org"))
			require.True(t, ok, url)
			require.Equal(t, id, gotID)
			require.Equal(t, body, gotBody)
		}
		require.True(t, strings.HasPrefix(locator.URL(item("theirs", id), body), locator.Base+"r/"))
		if id, body, ok := locator.Find(path); ok {
			require.Contains(t, []string{locator.URL(item("mine", id), body), locator.URL(item("theirs", id), body)}, "https://example.org"+path)
		}
	})
}

func TestBodyName(t *testing.T) {
	pdf := websync.Link{Rel: "alternate", Href: "https://example.org/a.pdf", Type: "application/pdf"}
	german := websync.Link{Rel: "alternate", Href: "https://example.org/a.de", Type: "Text/HTML; charset=utf-8", Lang: "de"}
	other := websync.Link{Href: "https://example.org/b.pdf", Type: "application/pdf"}
	page := websync.Link{Rel: "alternate", Href: "https://example.org/a"}
	names := func(links ...websync.Link) (all []string) {
		r := websync.Resource{Content: websync.Link{Href: page.Href}, Links: links}
		for i := range links {
			all = append(all, r.BodyName(&links[i]))
		}
		return all
	}
	assert.Equal(t, []string{"alternate application/pdf", "alternate text/html de", "content"}, names(pdf, german, page))
	assert.Equal(t, []string{"alternate application/pdf", "alternate application/pdf"}, names(pdf, pdf), "one body")
	two := names(pdf, other)
	assert.NotEqual(t, two[0], two[1])
	assert.Equal(t, []string{two[1], two[0]}, names(other, pdf), "in either order")
	for _, name := range two {
		assert.Regexp(t, "^alternate application/pdf [0-9a-f]{8}$", name)
	}
}
