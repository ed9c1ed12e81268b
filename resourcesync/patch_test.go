package resourcesync

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
	"github.com/websync-go/websync/harvest/sourcetest"
	"github.com/websync-go/websync/internal/testing/testkit"
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

// TestPatchThatPanics: it is an error that names the patch, whatever applies it.
func TestPatchThatPanics(t *testing.T) {
	for mediaType := range patchers {
		t.Run(mediaType, func(t *testing.T) {
			was := patchers[mediaType]
			defer func() { patchers[mediaType] = was }()
			patchers[mediaType] = func(io.Writer, []byte, []byte) error {
				var none *websync.Resource
				none.ID = ""
				return nil
			}
			err := applyPatch(io.Discard, strings.NewReader("{}"), strings.NewReader("[]"), mediaType)
			assert.ErrorContains(t, err, `resourcesync: a patch of the type "`+mediaType+`": panic: runtime error`)
			caught, ok := errors.AsType[*websync.PanicError](err)
			assert.True(t, ok)
			assert.Contains(t, string(caught.Stack), "TestPatchThatPanics")
		})
	}
}

// A patching is a Source whose Get applies patches.
type patching struct{ harvest.Source }

func (patching) Get(ctx context.Context, job *harvest.Job) error {
	if patched(ctx, job) {
		return nil
	}
	return job.Content(ctx)
}

// TestPatchThatPanicsInARun: what is patched is fetched in full, and the stack is logged.
func TestPatchThatPanicsInARun(t *testing.T) {
	const mediaType = "application/json-patch"
	was := patchers[mediaType]
	defer func() { patchers[mediaType] = was }()
	patchers[mediaType] = func(io.Writer, []byte, []byte) error { panic("on purpose") }
	site := sourcetest.Site{"https://example.org/p": {Body: "[]"}}
	store := harvest.NewCatalog(memstore.New())
	log := &bytes.Buffer{}
	h := harvest.Harvester{Catalog: store, Fetcher: &sourcetest.Fetcher{Site: site}, Log: slog.New(slog.NewTextHandler(log, nil))}
	for n, text := range []string{`{"a":1}`, `{"a":2}`} {
		site["https://example.org/a"] = sourcetest.Document{Body: text}
		e := testkit.Put("a", testkit.Day(n+1))
		e.Resource.Content.Digests = websync.Digests{websync.SHA256([]byte(text))}
		e.Hint = []byte(`{"patch":"https://example.org/p","type":"` + mediaType + `"}`)
		r, err := h.Run(t.Context(), patching{harvest.Of(testkit.Src, e)})
		assert.NoError(t, err)
		assert.True(t, r.InStep())
		assert.Equal(t, map[string]string{"a": text}, testkit.Live(t, store))
	}
	assert.Contains(t, log.String(), "https://example.org/p")
	assert.Contains(t, log.String(), "TestPatchThatPanicsInARun")
}
