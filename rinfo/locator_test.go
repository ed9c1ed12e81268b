package rinfo_test

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/rinfo"
)

const base = "http://rinfo.example.se/"

func locators() map[string]rinfo.Locator {
	paths := websync.PathLocator{Base: base, Own: []string{"agency"}, Reserved: func(path string) bool { return strings.HasPrefix(path, "/feed") }}
	isAct := regexp.MustCompile(`^http://rinfo\.example\.se/publ/[^/]+/\d{4}:\d+$`).MatchString
	return map[string]rinfo.Locator{"default": {PathLocator: paths}, "acts": {PathLocator: paths, IsEntry: isAct}}
}

func itemOf(source, id string) *websync.Item {
	return &websync.Item{Source: source, Resource: websync.Resource{ID: id}}
}

func TestLocator(t *testing.T) {
	const act = base + "publ/exfs/2026:1"
	for name, test := range map[string]struct {
		id, body string
		want     map[string]string // by locator; "" if it is not the id's own
	}{
		"content":                 {act, "content", map[string]string{"default": act, "acts": act}},
		"RDF":                     {act, "alternate application/rdf+xml", map[string]string{"default": act + "/rdf", "acts": act + "/rdf"}},
		"a page in Swedish":       {act, "alternate text/html sv", map[string]string{"default": act + "/html,sv", "acts": act + "/html,sv"}},
		"an attachment":           {act, "enclosure bilaga_1.pdf", map[string]string{"default": act + "/bilaga_1.pdf", "acts": act + "/bilaga_1.pdf"}},
		"without extension":       {act, "enclosure bilaga", map[string]string{"default": "", "acts": act + "/bilaga"}},
		"in a directory":          {act, "enclosure bilagor/1.pdf", map[string]string{"default": "", "acts": act + "/bilagor/1.pdf"}},
		"an unknown type":         {act, "alternate application/x-unknown", map[string]string{"default": "", "acts": ""}},
		"with a digest":           {act, "alternate application/rdf+xml 0a1b2c3d", map[string]string{"default": "", "acts": ""}},
		"an enclosure by type":    {act, "enclosure application/pdf", map[string]string{"default": "", "acts": act + "/application/pdf"}},
		"another relation":        {act, "describedby application/rdf+xml", map[string]string{"default": "", "acts": ""}},
		"an attachment named rdf": {act, "enclosure rdf", map[string]string{"default": "", "acts": ""}},
		"hidden":                  {act, "enclosure .htaccess", map[string]string{"default": "", "acts": ""}},
		"upwards":                 {act, "enclosure ../x.pdf", map[string]string{"default": "", "acts": ""}},
		"nothing":                 {act, "enclosure ", map[string]string{"default": "", "acts": ""}},
		"no entry's form":         {base + "about.html", "content", map[string]string{"default": base + "about.html", "acts": base + "about.html"}},
		"an id like an alternate": {act + "/rdf", "content", map[string]string{"default": "", "acts": ""}},
		"an id like a file":       {act + "/x.pdf", "content", map[string]string{"default": "", "acts": ""}},
		"reserved":                {base + "feed", "content", map[string]string{"default": "", "acts": ""}},
		"below a reserved one":    {base + "feed", "alternate application/rdf+xml", map[string]string{"default": "", "acts": ""}},
		"of another host":         {"http://other.example/publ/1", "content", map[string]string{"default": "", "acts": ""}},
	} {
		for kind, l := range locators() {
			t.Run(name+", "+kind, func(t *testing.T) {
				item := itemOf("agency", test.id)
				got := l.URL(item, test.body)
				if want := test.want[kind]; want != "" {
					assert.Equal(t, want, got)
				} else {
					assert.True(t, strings.HasPrefix(got, base+"r/"), got)
				}
				id, body, ok := l.Find(strings.TrimPrefix(got, "http://rinfo.example.se"))
				assert.True(t, ok)
				assert.Equal(t, []string{test.id, test.body}, []string{id, body})
				assert.True(t, strings.HasPrefix(l.URL(itemOf("stranger", test.id), test.body), base+"r/"), "what a stranger wrote")
			})
		}
	}
	l := locators()
	assert.NotEqual(t, l["default"].String(), l["acts"].String())
	assert.NotEqual(t, l["default"].String(), l["default"].PathLocator.String())
	for kind, l := range locators() {
		for _, path := range []string{"/feed", "/elsewhere/../x", "/.htaccess", "x"} {
			_, _, ok := l.Find(path)
			assert.False(t, ok, "%s %s", kind, path)
		}
	}
}

// TestLocatorServes: everything that was harvested is served where the feed's depot has
// it, and a stranger's resource with the id of an attachment does not take its place.
func TestLocatorServes(t *testing.T) {
	store := testkit.NewStore(t)
	site := siteOf(map[string]string{"feed": feedOf(entryOf("exfs/2026:1", 1, pdf("files/1"), rdf("files/1.rdf"),
		enclosure("files/b.pdf", ""), enclosure("files/sub/c", ` dct:isFormatOf="#bilaga_1"`)))})
	h := &harvest.Harvester{Sample: -1, Catalog: store.Plain(), Fetcher: &sourcetest.Fetcher{Site: site}}
	report, err := h.Run(t.Context(), &rinfo.Source{URL: feedURL, Name: "agency"})
	require.NoError(t, err)
	require.True(t, report.InStep())
	const act = base + "publ/exfs/2026:1"
	body := websync.SHA256([]byte("evil"))
	store.Fill("stranger", []string{"evil"}, websync.Item{Resource: websync.Resource{ID: act + "/b.pdf"}, Bodies: []websync.Body{{Name: "content", Key: body}}})

	l := locators()["default"]
	bodies := publish.Bodies(store, l)
	feed := &atom.Publisher{Place: websync.Place{Catalog: store.Plain(), Base: base, Locator: l}, Author: websync.Person{Name: "Depot"}}
	doc, err := feed.Document(t.Context(), "/feed.atom")
	require.NoError(t, err)
	var listed strings.Builder
	require.NoError(t, doc.Write(t.Context(), &listed))
	for _, path := range []string{"", "/rdf", "/b.pdf", "/bilaga_1.pdf"} {
		assert.Regexp(t, `<(content|link) [^>]*(src|href)="`+act+path+`"`, listed.String())
	}
	assert.NotContains(t, listed.String(), act+"/b.pdf</id>")

	for path, want := range map[string]string{"": "files/1", "/rdf": "files/1.rdf", "/b.pdf": "files/b.pdf", "/bilaga_1.pdf": "files/sub/c"} {
		doc, err := bodies.Document(t.Context(), "/publ/exfs/2026:1"+path)
		require.NoError(t, err, path)
		r, err := doc.Open(t.Context())
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
		assert.NoError(t, r.Close())
	}
	_, err = bodies.Document(t.Context(), "/publ/exfs/2026:1/other.pdf")
	assert.ErrorIs(t, err, websync.ErrNotFound)
}

// FuzzLocator: a URL under Base leads to one body, and that body has no other URL.
func FuzzLocator(f *testing.F) {
	f.Add("publ/exfs/2026:1", "enclosure bilaga_1.pdf", "/publ/exfs/2026:1/rdf")
	f.Add("publ/exfs/2026:1/css", "enclosure x/y.z", "/publ/exfs/2026:1/css/x.y")
	f.Add("a/rdf,sv", "alternate application/rdf+xml sv", "/a//")
	all := locators()
	f.Fuzz(func(t *testing.T, id, body, path string) {
		for _, l := range all {
			for _, source := range []string{"agency", "stranger"} {
				url := l.URL(itemOf(source, base+id), body)
				rest, under := strings.CutPrefix(url, base)
				if !under {
					t.Fatalf("%q is not under Base", url)
				}
				gotID, gotBody, ok := l.Find("/" + rest)
				if !ok || gotID != base+id || gotBody != body {
					t.Fatalf("%q %q: URL %q is that of %q %q %t", id, body, url, gotID, gotBody, ok)
				}
				if source == "stranger" && !strings.HasPrefix(rest, "r/") {
					t.Fatalf("a stranger takes %q", url)
				}
			}
			gotID, gotBody, ok := l.Find(path)
			if ok && !strings.HasPrefix(path, "/r/") && l.URL(itemOf("agency", gotID), gotBody) != base+strings.TrimPrefix(path, "/") {
				t.Fatalf("%q is %q %q, whose URL is %q", path, gotID, gotBody, l.URL(itemOf("agency", gotID), gotBody))
			}
		}
	})
}
