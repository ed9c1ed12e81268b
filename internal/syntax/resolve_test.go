package syntax_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync/internal/syntax"
)

func resolve(base, ref string) string { return string(syntax.AppendResolved(nil, base, []byte(ref))) }

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
		{"http://a", "..//b/../c", "http://a//c"},
	}
	for _, test := range tests {
		assert.Equal(t, test.want, resolve(test.base, test.ref), "%s against %s", test.ref, test.base)
	}
	assert.Equal(t, "x http://a/g", string(syntax.AppendResolved([]byte("x "), "http://a/b", []byte("g"))))
}

// FuzzAppendResolved: the same as the algorithm of the RFC, wherever the base has a path
// that starts with a slash, or an authority.
func FuzzAppendResolved(f *testing.F) {
	f.Add("http://a/b/c/d;p?q", "../g?x#y")
	f.Add("https://example.org", "a/./b/../c")
	f.Add("x:/a", "..//b")
	f.Add("s://e", "..//b/../c")
	f.Fuzz(func(t *testing.T, base, ref string) {
		got := resolve(base, ref)
		n := syntax.Scheme(base)
		if n == 0 || syntax.Scheme(ref) > 0 {
			assert.Equal(t, ref, got)
			return
		}
		if b := split(base[n+1:]); b.authority != "" || strings.HasPrefix(b.path, "/") {
			assert.Equal(t, base[:n+1]+resolveAsRFC3986(b, split(ref)), got, "%q against %q", ref, base)
		}
	})
}

// A reference is one without a scheme; its parts keep the characters that set them off.
type reference struct{ authority, path, query, fragment string }

func split(s string) (r reference) {
	s, r.fragment = cutAt(s, "#")
	s, r.query = cutAt(s, "?")
	if strings.HasPrefix(s, "//") {
		r.authority, r.path = cutAt(s[2:], "/")
		return reference{"//" + r.authority, r.path, r.query, r.fragment}
	}
	r.path = s
	return r
}

func cutAt(s, sep string) (before, rest string) {
	if i := strings.Index(s, sep); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// resolveAsRFC3986 is §5.2.2 as it is written there.
func resolveAsRFC3986(base, r reference) string {
	t := r
	switch {
	case r.authority != "":
		t.path = removeDotsAsRFC3986(r.path)
	case r.path == "":
		t.authority, t.path = base.authority, base.path
		if r.query == "" {
			t.query = base.query
		}
	default:
		t.authority = base.authority
		switch {
		case strings.HasPrefix(r.path, "/"):
		case base.authority != "" && base.path == "":
			t.path = "/" + r.path
		default:
			t.path = base.path[:strings.LastIndex(base.path, "/")+1] + r.path
		}
		t.path = removeDotsAsRFC3986(t.path)
	}
	return t.authority + t.path + t.query + t.fragment
}

// removeDotsAsRFC3986 is §5.2.4 for a path that is empty or starts with a slash.
func removeDotsAsRFC3986(in string) (out string) {
	for in != "" {
		switch {
		case strings.HasPrefix(in, "/./"):
			in = in[2:]
		case in == "/.":
			in = "/"
		case strings.HasPrefix(in, "/../"), in == "/..":
			in = "/" + strings.TrimPrefix(in[3:], "/")
			out = out[:max(0, strings.LastIndex(out, "/"))]
		default:
			segment, rest := cutAt(in[1:], "/")
			out, in = out+"/"+segment, rest
		}
	}
	return out
}
