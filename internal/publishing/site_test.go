package publishing_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/publishing"
)

func TestErr(t *testing.T) {
	for want, s := range map[string]publishing.Settings{
		"": {Place: websync.Place{Base: "https://example.org/a/"}, Path: "b.xml"},
		`x: Publisher.Base "https://x" must be an http(s) URL ending in "/"`:                                                      {Place: websync.Place{Base: "https://x"}},
		`x: Publisher.Base "ftp://x/" must be an http(s) URL ending in "/"`:                                                       {Place: websync.Place{Base: "ftp://x/"}},
		`x: Publisher.Base "https://x:/" must be an http(s) URL ending in "/"`:                                                    {Place: websync.Place{Base: "https://x:/"}},
		`x: Publisher.Base must not hold a user or a password`:                                                                    {Place: websync.Place{Base: "https://u:p@x/"}},
		`x: Publisher.Base and Path make "https://x/a/", which must be the clean URL of a document, without query and fragment`:   {Place: websync.Place{Base: "https://x/"}, Path: "/a/"},
		`x: Publisher.Base and Path make "https://x/?a", which must be the clean URL of a document, without query and fragment`:   {Place: websync.Place{Base: "https://x/"}, Path: "?a"},
		`x: Publisher.Base and Path make "https://x/../a", which must be the clean URL of a document, without query and fragment`: {Place: websync.Place{Base: "https://x/"}, Path: "../a"},
		`x: Publisher.Base and Path make "https://x/a b", which must be a URL: white space inside`:                                {Place: websync.Place{Base: "https://x/"}, Path: "a b"},
		`x: Publisher.Base and Path make "https://x:99999/a", which must be a URL: a port above 65535`:                            {Place: websync.Place{Base: "https://x:99999/"}, Path: "a"},
	} {
		s.Package, s.Catalog = "x", new(websync.Log)
		err := publishing.New(s).Err
		if want == "" {
			assert.NoError(t, err)
		} else {
			assert.EqualError(t, err, want)
		}
	}
	assert.EqualError(t, publishing.New(publishing.Settings{Package: "x", Place: websync.Place{Base: "https://x/"}}).Err, "x: Publisher.Catalog is nil")
}

func TestNumbered(t *testing.T) {
	s := publishing.New(publishing.Settings{Place: websync.Place{Catalog: new(websync.Log), Base: "https://example.org/a/"}, Path: "b.xml"})
	assert.Equal(t, "https://example.org/a/b.xml", s.URL())
	path := s.Numbered("1-0123abcd", 12)
	assert.Equal(t, "/a/b-1-0123abcd-12.xml", path)
	id, n, ok := s.ParseNumbered(path)
	assert.Equal(t, "1-0123abcd", id)
	assert.EqualValues(t, 12, n)
	assert.True(t, ok)
	for _, path := range []string{"/a/b.xml", "/a/b-.xml", "/a/b-x.xml", "/a/b-x-0.xml", "/a/b-x-01.xml", "/b-x-1.xml", "/a/b-x-1", "/a/b-x-99999999999999999999.xml"} {
		_, _, ok := s.ParseNumbered(path)
		assert.False(t, ok, path)
	}
}

// A Publisher of two sets has a Site for each, with one Locator.
func TestAt(t *testing.T) {
	log := new(websync.Log)
	for _, source := range []string{"a", "b"} {
		for _, id := range []string{"urn:x", "https://example.org/own"} {
			log.Append(websync.Item{Source: source, Resource: websync.Resource{ID: id}})
		}
	}
	first := publishing.New(publishing.Settings{
		Package: "x", Place: websync.Place{Catalog: log, Base: "https://example.org/", Sources: []string{"a"}, Locator: websync.PathLocator{
			Base: "https://example.org/", Own: []string{"a"}, Reserved: func(path string) bool { return strings.HasSuffix(path, ".xml") },
		}}, Path: "a.xml",
	})
	second := first.At("sub/b.xml", "b")
	assert.NoError(t, second.Check())
	assert.Equal(t, "https://example.org/sub/b.xml", second.URL())
	assert.Equal(t, first.Key(), second.Key())
	assert.EqualError(t, first.At("sub/").Err,
		`x: Publisher.Base and Path make "https://example.org/sub/", which must be the clean URL of a document, without query and fragment`)

	one := func(path string) publishing.Numbered {
		return func(n uint64) (string, bool, error) { return path, n == 1, nil }
	}
	var paths []string
	for path, err := range first.Documents([]publishing.Numbered{one("/a-1.xml"), one(""), one("/b-1.xml")}, first.Root, second.Root) {
		require.NoError(t, err)
		paths = append(paths, path)
	}
	assert.Equal(t, []string{"/a-1.xml", "/b-1.xml", "/a.xml", "/sub/b.xml"}, paths)

	for _, s := range []*publishing.Site{first, second} {
		var listed, refused []string
		refuse := func(item *websync.Item, why error) { refused = append(refused, item.Source+" "+item.Resource.ID) }
		for item, err := range s.Resources(t.Context(), websync.Range{}, refuse) {
			require.NoError(t, err)
			listed = append(listed, item.Source+" "+item.Resource.ID)
		}
		if s == first {
			assert.Equal(t, []string{"a urn:x", "a https://example.org/own"}, listed)
			assert.Empty(t, refused)
		} else {
			assert.Equal(t, []string{"b urn:x"}, listed)
			assert.Equal(t, []string{"b https://example.org/own"}, refused)
		}
	}
}
