package document_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/internal/document"
)

func resolve(base, ref string) string { return string(document.AppendResolved(nil, base, []byte(ref))) }

// TestAppendResolved: the first are those of RFC 3986 §5.4.
func TestAppendResolved(t *testing.T) {
	const base = "http://a/b/c/d;p?q"
	tests := []struct{ base, ref, want string }{
		{base, "g:h", "g:h"},
		{base, "g", "http://a/b/c/g"},
		{base, "./g", "http://a/b/c/g"},
		{base, "g/", "http://a/b/c/g/"},
		{base, "/g", "http://a/g"},
		{base, "//g", "http://g"},
		{base, "?y", "http://a/b/c/d;p?y"},
		{base, "g?y", "http://a/b/c/g?y"},
		{base, "#s", "http://a/b/c/d;p?q#s"},
		{base, "g#s", "http://a/b/c/g#s"},
		{base, "g?y#s", "http://a/b/c/g?y#s"},
		{base, ";x", "http://a/b/c/;x"},
		{base, "", "http://a/b/c/d;p?q"},
		{base, ".", "http://a/b/c/"},
		{base, "./", "http://a/b/c/"},
		{base, "..", "http://a/b/"},
		{base, "../", "http://a/b/"},
		{base, "../g", "http://a/b/g"},
		{base, "../..", "http://a/"},
		{base, "../../g", "http://a/g"},
		{base, "../../../g", "http://a/g"},
		{base, "/./g", "http://a/g"},
		{base, "/../g", "http://a/g"},
		{base, "g.", "http://a/b/c/g."},
		{base, "..g", "http://a/b/c/..g"},
		{base, "./../g", "http://a/b/g"},
		{base, "g/./h", "http://a/b/c/g/h"},
		{base, "g/../h", "http://a/b/c/h"},
		{base, "g;x=1/../y", "http://a/b/c/y"},
		{base, "g?y/../x", "http://a/b/c/g?y/../x"},
		{base, "g#s/../x", "http://a/b/c/g#s/../x"},

		{"http://a", "g", "http://a/g"},
		{"http://a?q", "g", "http://a/g"},
		{"http://a/x?q#f", "", "http://a/x?q"},
		{"http://a/x#f", "#g", "http://a/x#g"},
		{"http://a/x?q#f", "?r", "http://a/x?r"},
		{"http://a/x?a/b", "g", "http://a/g"},
		{"http://a/b//c", "../g", "http://a/b/g"},
		{"file:///a/b", "c", "file:///a/c"},
		{"urn:a:b", "c", "urn:c"},
		{"urn:a:b", "#c", "urn:a:b#c"},
		{"http://a/b", "å ä%zz", "http://a/å ä%zz"},
		{"http://a/b", "1:2", "http://a/1:2"},
		{"http://a/b", ":", "http://a/:"},
		{"", "g", "g"},
		{"dir/file", "g", "g"},
		{"http://a/b", "HTTP:g", "HTTP:g"},
		{"http://a/b", "///x", "http:///x"},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, resolve(test.base, test.ref), "%s against %s", test.ref, test.base)
	}
	assert.Equal(t, "x http://a/g", string(document.AppendResolved([]byte("x "), "http://a/b", []byte("g"))))
}

// FuzzAppendResolved: what net/url can resolve gives the same, but for the escapes that it adds.
func FuzzAppendResolved(f *testing.F) {
	f.Add("http://a/b/c/d;p?q", "../g?x#y")
	f.Add("https://example.org", "a/./b/../c")
	f.Add("x:/a", "..//b")
	f.Fuzz(func(t *testing.T, base, ref string) {
		got := resolve(base, ref)
		if document.Scheme(base) > 0 && document.Scheme(ref) == 0 {
			assert.Equal(t, base[:document.Scheme(base)], got[:document.Scheme(got)])
		}
		b, err := url.Parse(base)
		if err != nil || !b.IsAbs() || b.Opaque != "" || b.Host == "" || b.String() != base || b.ForceQuery {
			return
		}
		u, err := url.Parse(ref)
		if err != nil || u.Opaque != "" || u.String() != ref || u.Scheme != "" || u.ForceQuery || u.Host == "" && len(ref) > 1 && ref[:2] == "//" {
			return
		}
		want := b.ResolveReference(u)
		if want.String() != got {
			again, err := url.Parse(got)
			assert.NoError(t, err)
			assert.Equal(t, want.String(), again.String(), "%s against %s", ref, base)
		}
	})
}
