package resourcesync_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/racing"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/publish"
	"github.com/websync-go/websync/resourcesync"
)

// keptItem returns an item whose content is kept, and the bytes.
func keptItem(r websync.Resource, text string) websync.Item {
	return websync.Item{Resource: r, Bodies: []websync.Body{{Name: websync.ContentName, Link: r.Content, Key: websync.SHA256([]byte(text))}}}
}

// hostile are resources that a harvested publisher may describe.
func hostile() map[string]websync.Resource {
	const id = "https://theirs.example.net/x"
	all := make(map[string]websync.Resource)
	kept := websync.PathLocator{Base: www}.URL(&websync.Item{Resource: websync.Resource{ID: "https://others.example.net/v"}}, websync.ContentName)
	for i, url := range []string{
		www + "a", www + "new", www + "capabilitylist.xml", www + "resourcelist.xml", www + "changelist-open.xml", www + ".well-known/resourcesync", www + "robots.txt", www + "", kept,
	} {
		all[fmt.Sprint("id ", i)] = websync.Resource{ID: url}
		all[fmt.Sprint("content ", i)] = websync.Resource{ID: id, Content: websync.Link{Href: url}}
		all[fmt.Sprint("urn ", i)] = websync.Resource{ID: "urn:x:y", Content: websync.Link{Href: url}}
	}
	for i, text := range []string{
		"javascript:alert(1)", "file:///etc/passwd", "https://", "https:/x", "https://theirs.example.net/\n<loc>", "https://theirs.example.net/\"'<>&]]>", "https://theirs.example.net/ x",
		"https://theirs.example.net/\x00", "https://theirs.example.net/\xff", "https://theirs.example.net/\u202e\ufffe", "https://user:secret@theirs.example.net/", "https://www.example.com@theirs.example.net/a",
		"https://theirs.example.net\\a", "HTTPS://THEIRS.example.net/", "https://theirs.example.net/#fragment", "https://theirs.example.net:99999/", "https://größe.example.net/größe", "https://theirs.example.net/" + strings.Repeat("x", 3000),
	} {
		all[fmt.Sprint("text as id ", i)] = websync.Resource{ID: text}
		all[fmt.Sprint("text as content ", i)] = websync.Resource{ID: id, Content: websync.Link{Href: text, Type: text, Encoding: text}}
		all[fmt.Sprint("text as link ", i)] = websync.Resource{ID: id, Links: []websync.Link{
			{Rel: text, Href: id}, {Rel: "alternate", Href: text}, {Rel: "license", Href: id, Type: text, Encoding: text}, {Rel: "via", Href: text},
		}}
		all[fmt.Sprint("text as attribute ", i)] = websync.Resource{ID: id, Links: []websync.Link{
			{Rel: "license", Href: id, Attrs: []websync.Attr{{Space: "urn:x", Local: text, Value: "y"}, {Space: text, Local: "x", Value: text}}},
		}}
		all[fmt.Sprint("text as digest ", i)] = websync.Resource{ID: id, Content: websync.Link{Length: -7, Digests: websync.Digests{{Algorithm: "sha-256", Sum: text}, {Algorithm: text, Sum: "x"}}}}
	}
	for i, x := range []string{
		`</url><url><loc>` + www + `a</loc><rs:md change="deleted"/></url><url>`, `<!-- `, `<![CDATA[`, `<?xml version="1.0"?><x xmlns="urn:x"/>`, `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x xmlns="urn:x">&e;</x>`,
		`<x xmlns="urn:x"/><loc xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + www + `a</loc>`, `<rs:md xmlns:rs="http://www.openarchives.org/rs/terms/" change="deleted"/>`, `<md xmlns="http://www.openarchives.org/rs/terms/" until="2030-01-01T00:00:00Z"/>`,
		`<loc xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + www + `a</loc>`, `<x xmlns="urn:x">&undefined;</x>`, `<x:x/>`, `<x xmlns="urn:x" a="1" a="2"/>`, `<x xmlns="urn:x"><rs:md change="deleted"/></x>`,
		strings.Repeat(`<x xmlns="urn:x">`, 5000) + strings.Repeat(`</x>`, 5000), "<x xmlns=\"urn:x\">\x00\xff</x>", `text`, ``,
	} {
		for _, space := range []string{"urn:x", "", "http://www.openarchives.org/rs/terms/", "http://www.sitemaps.org/schemas/sitemap/0.9", "http://www.w3.org/2000/xmlns/"} {
			all[fmt.Sprint("element ", i, " of ", space)] = websync.Resource{ID: id, Elements: []websync.Element{{Space: space, Local: "x", XML: x}, {Space: space, Local: "md", XML: x}, {Space: space, Local: "loc", XML: x}}}
		}
	}
	all["attributes of the standard"] = websync.Resource{ID: id, Links: []websync.Link{{Rel: "license", Href: id, Attrs: []websync.Attr{
		{Space: resourcesync.Namespace, Local: "path", Value: "../x"}, {Local: "href", Value: www + "a"}, {Space: "http://www.w3.org/2000/xmlns/", Local: "rs", Value: "urn:x"}, {Local: "xmlns", Value: "urn:x"},
	}}}}
	all["links of documents"] = websync.Resource{ID: id, Links: []websync.Link{
		{Rel: "up", Href: id}, {Rel: "index", Href: id}, {Rel: "hub", Href: id}, {Rel: "self", Href: id}, {Rel: "resourcesync", Href: id}, {Rel: "contents", Href: id}, {Rel: resourcesync.Namespace + "anything", Href: id},
	}}
	return all
}

// TestPublisherOfStrangers: whatever a harvested publisher describes and withdraws, the
// resources of others stay as they are, all documents are valid, and no URL of the host
// is listed but those of own resources and of what is kept.
func TestPublisherOfStrangers(t *testing.T) {
	for name, r := range hostile() {
		for _, kept := range []bool{false, true} {
			if racing.Few() && kept == (len(name)%2 == 0) {
				continue
			}
			t.Run(fmt.Sprint(name, ", kept: ", kept), func(t *testing.T) {
				store := testkit.NewStore(t)
				p := &resourcesync.Publisher{Place: websync.Place{Catalog: store, Base: www}, ListSize: 2, PartSize: 2}
				p.Locator = websync.PathLocator{Base: www, Own: []string{"own"}, Reserved: p.Reserved}
				site := publish.Join(p, publish.Bodies(store, p.Locator))
				s := &server{t: t, site: site, handler: &publish.Handler{Publishers: []websync.Publisher{site}, Dir: t.TempDir()}, final: make(map[string][]byte)}
				defer s.handler.Close()
				store.Fill("own", []string{"ours"}, keptItem(websync.Resource{ID: www + "a", Content: websync.Link{Href: www + "a"}}, "ours"))
				store.Fill("others", []string{"victim"}, keptItem(websync.Resource{ID: "https://others.example.net/v", Content: websync.Link{Href: "https://others.example.net/v"}}, "victim"))
				follower := &reader{t: t, get: s.get, root: p.URL()}
				follower.sync()
				honest := maps.Clone(follower.holds)
				require.Len(t, honest, 2)
				item, texts := websync.Item{Resource: r}, []string(nil)
				if kept {
					item, texts = keptItem(r, "theirs"), []string{"theirs"}
				}
				gone := websync.Item{Kind: websync.Deleted, Resource: r}
				for _, step := range []websync.Item{item, gone, item} {
					store.Fill("theirs", texts, step)
					texts = nil
					for _, reading := range []*reader{follower, {t: t, get: s.get, root: p.URL()}} {
						reading.sync()
						for url, want := range honest {
							require.Equal(t, want, reading.holds[url], url)
						}
						require.LessOrEqual(t, len(reading.holds), 3)
						for url := range reading.holds {
							path, under := strings.CutPrefix(url, www)
							require.True(t, honest[url] != fixity{} || !under || kept && strings.HasPrefix(path, "r/"), url)
						}
						checkDocuments(t, p)
					}
					if kept && step.Kind != websync.Deleted {
						w := httptest.NewRecorder()
						s.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, strings.TrimPrefix(p.Locator.URL(&item, websync.ContentName), strings.TrimSuffix(www, "/")), nil))
						assert.NotContains(t, fmt.Sprint(w.Result().Header), "\n")
					}
				}
			})
		}
	}
}

// checkDocuments checks that all documents of a Publisher are valid.
func checkDocuments(t *testing.T, p *resourcesync.Publisher) {
	_, texts := documents(t, p)
	for path, text := range texts {
		_, err := resourcesync.Validate(bytes.NewReader([]byte(text)), resourcesync.ValidateOptions{Document: path, Report: func(f websync.Finding) {
			assert.Less(t, f.Severity, websync.SeverityError, f.String())
		}})
		require.NoError(t, err, text)
	}
}
