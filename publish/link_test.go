package publish

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

func TestLinked(t *testing.T) {
	store := harvest.NewCatalog(memstore.New())
	for _, source := range []string{"a", "b"} {
		put(t, store, source, websync.Item{Resource: websync.Resource{ID: "https://example.org/" + source}}, map[string]string{"content": source})
		put(t, store, source, websync.Item{Resource: websync.Resource{ID: "https://example.org/x" + source}}, map[string]string{"content": source})
	}
	link := func(name string) websync.Link {
		return websync.Link{Rel: "resourcesync", Href: "https://example.org/" + name + ".xml"}
	}
	list := newSite()
	list.list("/list.xml", "application/xml", "<list/>")
	list.set("/own", func() (*websync.Document, error) {
		d, err := list.Document(t.Context(), "/list.xml")
		d.Links = []websync.Link{{Rel: "hub", Href: "https://hub.example.net/"}}
		return d, err
	})
	bodies := []websync.Publisher{
		Linked(Bodies(store, locator, "a"), link("a")), Linked(Linked(Bodies(store, locator, "b"), link("b")), link("all")),
	}
	h := newHandler(t, list, Linked(Join(bodies...), link("host")), Linked(list, link("list")))
	header := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, `<https://example.org/`+name+`.xml>; rel="resourcesync"`)
		}
		return all
	}
	for path, want := range map[string][]string{
		"/a": header("a", "host"), "/xa": header("a", "host"), "/b": header("b", "all", "host"), "/list.xml": nil, "/none": nil,
		"/own": {`<https://hub.example.net/>; rel="hub"`},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			assert.Equal(t, want, get(h, method, path).Header().Values("Link"), path)
		}
	}
	assert.Equal(t, []string{"/a", "/xa", "/b", "/xb", "/list.xml", "/own"}, paths(t, Join(list, Join(bodies...))), "bodies come first")

	assert.NoError(t, h.Check())
	assert.EqualError(t, Join(Linked(Bodies(store, nil), websync.Link{Rel: "x"})).(Checker).Check(),
		"publish: Bodies needs a Locator, not nil: PathLocator{Base: …} is the usual one\n"+
			"publish: Linked needs links with a Href and a Rel of printable ASCII")
	assert.EqualError(t, Join(Linked(nil, link("x"))).(Checker).Check(), "publish: Publisher 1 of 1 is nil")
}

// A reader of the page finds the values, whatever they are.
func TestHTMLLink(t *testing.T) {
	assert.Equal(t, `<link rel="resourcesync" href="https://example.org/capabilitylist.xml"/>`,
		HTMLLink(websync.Link{Rel: "resourcesync", Href: "https://example.org/capabilitylist.xml"}))
	assert.Empty(t, HTMLLink(websync.Link{Rel: "resourcesync"}))
	assert.Empty(t, HTMLLink(websync.Link{Href: "https://example.org/"}))
	for _, test := range []struct {
		link websync.Link
		want map[string]string
	}{
		{websync.Link{Rel: "resourcesync", Href: "https://example.org/a?b=c&amp=d"}, map[string]string{"rel": "resourcesync", "href": "https://example.org/a?b=c&amp=d"}},
		{websync.Link{Rel: "alternate", Href: "/x", Type: "text/html", Lang: "sv", Title: `"a" <b> & 'c'`},
			map[string]string{"rel": "alternate", "href": "/x", "type": "text/html", "hreflang": "sv", "title": `"a" <b> & 'c'`}},
		{websync.Link{Rel: `x"/><script>`, Href: `/"><script>å` + "\n"}, map[string]string{"rel": `x"/><script>`, "href": "/%22%3E%3Cscript%3E%C3%A5%0A"}},
		{websync.Link{Rel: "x", Href: "/", Title: "a\x00b\x85c\xff"}, map[string]string{"rel": "x", "href": "/", "title": "a\uFFFDb\uFFFDc\uFFFD"}},
	} {
		z := html.NewTokenizer(strings.NewReader(HTMLLink(test.link)))
		require.Equal(t, html.SelfClosingTagToken, z.Next())
		token := z.Token()
		assert.Equal(t, "link", token.Data)
		got := make(map[string]string)
		for _, a := range token.Attr {
			got[a.Key] = a.Val
		}
		assert.Equal(t, test.want, got)
		assert.Equal(t, html.ErrorToken, z.Next(), "nothing follows the element")
	}
}
