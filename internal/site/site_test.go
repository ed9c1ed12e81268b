package site_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/site"
)

func TestErr(t *testing.T) {
	for want, s := range map[string]site.Settings{
		"": {Base: "https://example.org/a/", Path: "b.xml"},
		`x: Publisher.Base "https://x" must be an http(s) URL ending in "/"`:                                                      {Base: "https://x"},
		`x: Publisher.Base "ftp://x/" must be an http(s) URL ending in "/"`:                                                       {Base: "ftp://x/"},
		`x: Publisher.Base "https://x:/" must be an http(s) URL ending in "/"`:                                                    {Base: "https://x:/"},
		`x: Publisher.Base must not hold a user or a password`:                                                                    {Base: "https://u:p@x/"},
		`x: Publisher.Base and Path make "https://x/a/", which must be the clean URL of a document, without query and fragment`:   {Base: "https://x/", Path: "/a/"},
		`x: Publisher.Base and Path make "https://x/?a", which must be the clean URL of a document, without query and fragment`:   {Base: "https://x/", Path: "?a"},
		`x: Publisher.Base and Path make "https://x/../a", which must be the clean URL of a document, without query and fragment`: {Base: "https://x/", Path: "../a"},
		`x: Publisher.Base and Path make "https://x/a b", which must be a URL: white space inside`:                                {Base: "https://x/", Path: "a b"},
		`x: Publisher.Base and Path make "https://x:99999/a", which must be a URL: a port above 65535`:                            {Base: "https://x:99999/", Path: "a"},
	} {
		s.Package, s.Catalog = "x", new(websync.Log)
		err := site.New(s).Err
		if want == "" {
			assert.NoError(t, err)
		} else {
			assert.EqualError(t, err, want)
		}
	}
	assert.EqualError(t, site.New(site.Settings{Package: "x", Base: "https://x/"}).Err, "x: Publisher.Catalog is nil")
}

func TestNumbered(t *testing.T) {
	s := site.New(site.Settings{Catalog: new(websync.Log), Base: "https://example.org/a/", Path: "b.xml"})
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
