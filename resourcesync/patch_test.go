package resourcesync

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
)

func TestApplyPatch(t *testing.T) {
	long := `"` + strings.Repeat("x", maxPatched) + `"`
	for _, test := range []struct{ name, mediaType, held, patch, want, err string }{
		{"RFC 6902 A.1", "application/json-patch", `{ "foo": "bar"}`, `[{"op": "add", "path": "/baz", "value": "qux"}]`, `{"foo":"bar","baz":"qux"}`, ""},
		{"A.5, with a parameter", "application/json-patch+json; charset=utf-8", `{"baz": "qux", "foo": "<b>"}`, `[{"op": "replace", "path": "/baz", "value": "boo"}]`, `{"baz":"boo","foo":"<b>"}`, ""},
		{"A.9 a test that fails", "application/json-patch", `{"baz": "qux"}`, `[{"op": "test", "path": "/baz", "value": "bar"}]`, "", "the patch does not fit"},
		{"A.12 a path that is not there", "application/json-patch", `{"foo": "bar"}`, `[{"op": "add", "path": "/baz/bat", "value": "qux"}]`, "", "the patch does not fit"},
		{"no JSON", "application/json-patch", `{}`, `<diff/>`, "", "no JSON Patch"},
		{"held is no JSON", "application/json-patch", `<a/>`, `[{"op": "add", "path": "/baz", "value": 1}]`, "", "the patch does not fit"},
		{"RFC 5261", "application/patch-ops-error+xml", `<doc><note>one</note></doc>`, `<diff><replace sel="doc/note/text()">two</replace></diff>`, `<doc><note>two</note></doc>`, ""},
		{"RFC 7351", "application/xml-patch+xml", `<doc a="1"/>`, `<patch><remove sel="doc/@a"/></patch>`, `<doc/>`, ""},
		{"XML that does not fit", "application/xml-patch+xml", `<doc/>`, `<patch><remove sel="doc/@a"/></patch>`, "", "it locates 0 nodes"},
		{"another type", "application/x-tiff-diff", "II", "x", "", `no patches of the type "application/x-tiff-diff"`},
		{"no type", "", "II", "x", "", "no patches"},
		{"held is too long", "application/json-patch", long, "[]", "", "what is patched has more than"},
		{"the patch is too long", "application/json-patch", "{}", long, "", "the patch has more than"},
		{"copies of copies", "application/json-patch", `{"a":["` + strings.Repeat("x", 1000) + `"]}`, "[" + strings.Repeat(`{"op":"copy","from":"/a","path":"/a/0"},`, 40) + `{"op":"copy","from":"/a","path":"/a/0"}]`, "", "does not fit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.mediaType != "" && !strings.Contains(test.mediaType, "tiff"), canPatch(test.mediaType))
			var b strings.Builder
			err := applyPatch(&b, strings.NewReader(test.held), strings.NewReader(test.patch), test.mediaType)
			assert.Equal(t, test.want, b.String())
			if test.err == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, test.err)
			if strings.Contains(test.err, "more than") {
				assert.ErrorIs(t, err, websync.ErrLimit)
			}
		})
	}
}
