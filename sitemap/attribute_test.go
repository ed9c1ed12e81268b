package sitemap_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/sitemap"
)

const dcTerms = "http://purl.org/dc/terms/"

// What a Writer writes as attributes of the root a Reader returns.
func TestRootAttributes(t *testing.T) {
	attrs := []websync.Attr{
		{Space: dcTerms, Local: "relation", Value: "https://www.example.com/feed?a=1&b=\"2\"\n"},
		{Space: "urn:x", Local: "é", Value: ""},
		{Space: dcTerms, Local: "type", Value: "Text"},
		{Space: "urn:x", Local: "more", Value: "'<>"},
	}
	for _, kind := range []sitemap.Kind{sitemap.URLSet, sitemap.Index} {
		var b bytes.Buffer
		w := sitemap.NewWriter(&b)
		namespaces := map[string]string{"dct": dcTerms, "unused": "urn:unused"}
		require.NoError(t, w.WriteHead(&sitemap.Head{Kind: kind, Attrs: attrs, Namespaces: namespaces}))
		require.NoError(t, w.Write(&sitemap.Entry{Loc: "https://www.example.com/a"}))
		require.NoError(t, w.Close())
		assert.EqualValues(t, b.Len(), w.Bytes())
		assert.Contains(t, b.String(), ` xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:dct="http://purl.org/dc/terms/" xmlns:unused="urn:unused" dct:relation="`)
		r := sitemap.NewReader(&b)
		r.Report = func(f websync.Finding) { assert.Fail(t, f.String()) }
		_, err := readAll(r)
		require.NoError(t, err)
		assert.Equal(t, attrs, r.Attrs())
	}
}

func TestWriterRefusesAttributes(t *testing.T) {
	one := func(space, local, value string) sitemap.Head {
		return sitemap.Head{Attrs: []websync.Attr{{Space: space, Local: local, Value: value}}}
	}
	prefix := func(prefix, space string) sitemap.Head {
		return sitemap.Head{Namespaces: map[string]string{prefix: space}}
	}
	for name, head := range map[string]sitemap.Head{
		"no namespace":               one("", "a", ""),
		"the namespace of sitemaps":  one(sitemap.Namespace, "a", ""),
		"the namespace of XML":       one("http://www.w3.org/XML/1998/namespace", "lang", "en"),
		"the namespace of xmlns":     one("http://www.w3.org/2000/xmlns/", "a", "urn:x"),
		"no name":                    one("urn:x", "", ""),
		"more than a name":           one("urn:x", `a="" b`, ""),
		"a name with a colon":        one("urn:x", "a:b", ""),
		"not XML in the value":       one("urn:x", "a", "\x00"),
		"not XML in the namespace":   one("urn:\x00", "a", ""),
		"twice":                      {Attrs: []websync.Attr{{Space: "urn:x", Local: "a"}, {Space: "urn:x", Local: "a"}}},
		"a prefix that begins xml":   prefix("xmlx", "urn:x"),
		"a generated prefix":         prefix("ns1", "urn:x"),
		"an empty prefix":            prefix("", "urn:x"),
		"a prefix that is no name":   prefix("a b", "urn:x"),
		"a prefix of no namespace":   prefix("a", ""),
		"the prefix of the appender": prefix("rs", "urn:x"),
	} {
		t.Run(name, func(t *testing.T) {
			w := sitemap.NewWriter(new(bytes.Buffer))
			w.Appender = &sitemap.Appender{Prefix: "rs", Space: rsNamespace, Document: func(b []byte) []byte { return b }}
			err := w.WriteHead(&head)
			var refused *websync.EntryError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, "urlset", refused.Element)
			assert.Equal(t, err, w.Write(&sitemap.Entry{Loc: "https://www.example.com/a"}), "it sticks")
			assert.Equal(t, err, w.Close(), "it sticks")
		})
	}
}
