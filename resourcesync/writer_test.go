package resourcesync_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

func datetime(t testing.TB, text string) websync.Datetime {
	t.Helper()
	d, err := websync.ParseDatetime(text)
	require.NoError(t, err)
	return d
}

// headOf returns a head that is right for every kind of document.
func headOf(t testing.TB, c resourcesync.Capability) resourcesync.Head {
	h := resourcesync.Head{Metadata: resourcesync.Metadata{Capability: c}, Links: []resourcesync.Link{link("up", "https://example.com/up.xml")}}
	switch c {
	case resourcesync.ResourceList, resourcesync.ResourceDump, resourcesync.ResourceDumpManifest:
		h.Metadata.At = datetime(t, "2026-01-02T00:00:00Z")
	case resourcesync.ChangeList, resourcesync.ChangeDump, resourcesync.ChangeDumpManifest:
		h.Metadata.From = datetime(t, "2026-01-02T00:00:00Z")
	}
	return h
}

func link(rel, href string) resourcesync.Link {
	return resourcesync.Link{Link: websync.Link{Rel: rel, Href: href}}
}

func entry(loc string, m resourcesync.Metadata, links ...resourcesync.Link) resourcesync.Entry {
	return resourcesync.Entry{Entry: sitemap.Entry{Loc: loc}, Metadata: m, Links: links}
}

func TestWriter(t *testing.T) {
	h := headOf(t, resourcesync.ChangeDumpManifest)
	h.Metadata.From = datetime(t, "2026-01-02")
	h.Metadata.Until = datetime(t, "2026-02-01T12:00+01:00")
	h.Metadata.Attrs = []websync.Attr{{Space: "http://www.w3.org/XML/1998/namespace", Local: "lang", Value: "en"}}
	h.Elements = []websync.Element{{Space: "urn:x", Local: "x", XML: `<x xmlns="urn:x"/>`}}
	patch := link(resourcesync.RelationPatch, "https://example.com/a?b=1&c=2")
	patch.Type, patch.Path, patch.Length, patch.Priority, patch.Encoding = "application/json-patch+json", "/a.patch", websync.StatedZero, 7, "gzip"
	patch.Modified, patch.Digests = datetime(t, "2026-01-03T04:05:06.789+02:00"), websync.Digests{{Algorithm: "crc32c", Sum: "00ff00ff"}}
	patch.Attrs = []websync.Attr{{Space: "urn:y", Local: "y", Value: `"<&>"`}, {Space: "urn:x", Local: "y", Value: ""}}
	first := entry("https://example.com/a", resourcesync.Metadata{Change: resourcesync.Updated, Datetime: datetime(t, "2026-01-03"), Path: "/a b/ü",
		Type: `text/html; charset="utf-8"`, Digests: websync.Digests{websync.SHA256(nil), {Algorithm: "md5", Sum: strings.Repeat("\xff", 16)}}}, patch)
	first.LastMod, first.ChangeFreq, first.Elements = datetime(t, "2026-01-03T04:05:06+02:00"), sitemap.Daily, h.Elements
	second := entry("https://example.com/b", resourcesync.Metadata{Change: resourcesync.Deleted, Datetime: datetime(t, "2026-01-03T23:00:00Z")})
	second.LastMod = datetime(t, "2026-01-03")
	doc := write(t, h, first, second)
	testkit.Golden(t, "testdata/writer/changedump-manifest.xml", doc)
	requireValid(t, doc)
	testkit.Lint(t, schema(false), doc)
	d := read(t, doc)
	assert.Empty(t, d.Findings)
	require.Len(t, d.Entries, 2)
	assert.Equal(t, first.Links[0].Attrs, d.Entries[0].Links[0].Attrs)
	assert.Equal(t, first.Metadata.Digests, d.Entries[0].Metadata.Digests)
	assert.Equal(t, "2026-02-01T11:00:00Z", d.Head.Metadata.Until.String())
	assert.Equal(t, "2026-01-03T02:05:06Z", d.Entries[0].LastMod.String())
	assert.Equal(t, second.LastMod, d.Entries[1].LastMod, "a date stays a date")

	var zipped bytes.Buffer
	w := resourcesync.NewWriter(&zipped)
	w.Gzip = true
	require.NoError(t, w.WriteHead(&h))
	require.NoError(t, w.Write(&first))
	require.NoError(t, w.Write(&second))
	require.NoError(t, w.Close())
	z, err := gzip.NewReader(&zipped)
	require.NoError(t, err)
	plain, err := io.ReadAll(z)
	require.NoError(t, err)
	assert.Equal(t, string(doc), string(plain))
}

func TestWriterRefusesHeads(t *testing.T) {
	for name, test := range map[string]struct {
		change func(h *resourcesync.Head)
		want   string
	}{
		"nothing":             {func(h *resourcesync.Head) { *h = resourcesync.Head{} }, "md: md of a document must have a capability"},
		"no at":               {func(h *resourcesync.Head) { h.Metadata.At = websync.Datetime{} }, "must have at"},
		"from":                {func(h *resourcesync.Head) { h.Metadata.From = h.Metadata.At }, "from is not used for a Resource List"},
		"until":               {func(h *resourcesync.Head) { h.Metadata.Until = h.Metadata.At }, "until is not used for a Resource List"},
		"completed before at": {func(h *resourcesync.Head) { h.Metadata.Completed = datetime(t, "2025-01-01T00:00:00Z") }, "completed is before at"},
		"a year, written as its first second": {func(h *resourcesync.Head) {
			h.Metadata.At, h.Metadata.Completed = datetime(t, "2013-01-02T00:00:00Z"), datetime(t, "2013")
		}, "completed is before at"},
		"a hash":            {func(h *resourcesync.Head) { h.Metadata.Digests = websync.Digests{websync.SHA256(nil)} }, "md of a document has at"},
		"no link up":        {func(h *resourcesync.Head) { h.Links = nil }, "must have a link up"},
		"two links up":      {func(h *resourcesync.Head) { h.Links = append(h.Links, link("up", "https://example.com/other")) }, "another link up"},
		"an index of lists": {func(h *resourcesync.Head) { *h = headOf(t, resourcesync.CapabilityList); h.Index = true }, "must not have an index"},
		"a relative link":   {func(h *resourcesync.Head) { h.Links[0].Href = "up.xml" }, "href: not an absolute IRI"},
		"an element of md": {func(h *resourcesync.Head) {
			h.Elements = []websync.Element{{Space: resourcesync.Namespace, Local: "md", XML: "<md/>"}}
		}, "are in Metadata and Links"},
		"a bad element":       {func(h *resourcesync.Head) { h.Elements = []websync.Element{{Space: "urn:x", Local: "x", XML: "<x"}} }, "raw element"},
		"a control character": {func(h *resourcesync.Head) { h.Metadata.Capability = "a\x00b" }, "U+0000"},
		"a foreign attribute": {func(h *resourcesync.Head) { h.Metadata.Attrs = []websync.Attr{{Local: "x"}} }, "has no namespace"},
		"no name":             {func(h *resourcesync.Head) { h.Metadata.Attrs = []websync.Attr{{Space: "urn:x", Local: `a="" b`}} }, "attributes of others"},
		"the same twice": {func(h *resourcesync.Head) {
			h.Metadata.Attrs = []websync.Attr{{Space: "urn:x", Local: "a"}, {Space: "urn:x", Local: "a"}}
		}, "attributes of others"},
		"an odd space": {func(h *resourcesync.Head) {
			h.Metadata.Attrs = []websync.Attr{{Space: "http://www.w3.org/2000/xmlns/", Local: "a"}}
		}, "attributes of others"},
		"a control in another": {func(h *resourcesync.Head) {
			h.Metadata.Attrs = []websync.Attr{{Space: "urn:x", Local: "a", Value: "\x01"}}
		}, "U+0001"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w := resourcesync.NewWriter(&b)
			h := headOf(t, resourcesync.ResourceList)
			test.change(&h)
			err := w.WriteHead(&h)
			var refused *websync.EntryError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, "resourcesync", refused.Format)
			assert.ErrorContains(t, err, test.want)
			e := entry("https://example.com/a", resourcesync.Metadata{})
			assert.Equal(t, err, w.Write(&e), "it sticks")
			assert.Equal(t, err, w.Close(), "it sticks")
			assert.Zero(t, b.Len())
		})
	}
}

func TestWriterRefusesEntries(t *testing.T) {
	const (
		listing  = resourcesync.ResourceList
		changing = resourcesync.ChangeList
		manifest = resourcesync.ResourceDumpManifest
	)
	early, late := datetime(t, "2025-01-01T00:00:00Z"), datetime(t, "2026-01-05T00:00:00Z")
	with := func(l resourcesync.Link, change func(l *resourcesync.Link)) resourcesync.Entry {
		change(&l)
		return entry("https://example.com/a", resourcesync.Metadata{}, l)
	}
	md := func(m resourcesync.Metadata) resourcesync.Entry { return entry("https://example.com/a", m) }
	via := link("via", "https://example.com/via")
	good := map[resourcesync.Capability]resourcesync.Entry{
		listing:                     md(resourcesync.Metadata{}),
		changing:                    md(resourcesync.Metadata{Change: resourcesync.Created, Datetime: late}),
		manifest:                    md(resourcesync.Metadata{Path: "/a"}),
		resourcesync.CapabilityList: md(resourcesync.Metadata{Capability: listing}),
	}
	for name, test := range map[string]struct {
		in   resourcesync.Capability
		e    resourcesync.Entry
		want string
	}{
		"no loc":                {listing, entry("", resourcesync.Metadata{}), "resourcesync: loc"},
		"at":                    {listing, md(resourcesync.Metadata{At: late}), "at is not used"},
		"from":                  {changing, md(resourcesync.Metadata{Change: resourcesync.Created, From: late}), "from is not used"},
		"a change":              {listing, md(resourcesync.Metadata{Change: resourcesync.Created}), "has no change"},
		"datetime":              {listing, md(resourcesync.Metadata{Datetime: late}), "has no datetime"},
		"no change":             {changing, md(resourcesync.Metadata{}), "must have a change"},
		"an unknown change":     {changing, md(resourcesync.Metadata{Change: "moved"}), "not created, updated or deleted"},
		"before from":           {changing, md(resourcesync.Metadata{Change: resourcesync.Created, Datetime: early}), "not within the interval"},
		"a year before from":    {changing, md(resourcesync.Metadata{Change: resourcesync.Created, Datetime: datetime(t, "2026")}), "not within the interval"},
		"before the last":       {changing, md(resourcesync.Metadata{Change: resourcesync.Created, Datetime: datetime(t, "2026-01-04T00:00:00Z")}), "an entry before has"},
		"a path":                {listing, md(resourcesync.Metadata{Path: "/a"}), "has no path"},
		"no path":               {manifest, md(resourcesync.Metadata{}), "must have a path"},
		"a path twice":          {manifest, md(resourcesync.Metadata{Path: "/a"}), "another bitstream has this path"},
		"a path up":             {manifest, md(resourcesync.Metadata{Path: "/../a"}), "path: a segment that is . or .."},
		"no slash":              {manifest, md(resourcesync.Metadata{Path: "a"}), "path: a path begins with a slash"},
		"no capability":         {resourcesync.CapabilityList, md(resourcesync.Metadata{}), "must have a capability"},
		"a capability twice":    {resourcesync.CapabilityList, md(resourcesync.Metadata{Capability: listing}), "one entry for each capability"},
		"a short digest":        {listing, md(resourcesync.Metadata{Digests: websync.Digests{{Algorithm: "md5", Sum: "short"}}}), "hash: not an algorithm"},
		"a digest of spaces":    {listing, md(resourcesync.Metadata{Digests: websync.Digests{{Algorithm: "x", Sum: "a b"}}}), "hash: not an algorithm"},
		"no digest":             {listing, md(resourcesync.Metadata{Digests: websync.Digests{{}}}), "hash: not an algorithm"},
		"two digests":           {listing, md(resourcesync.Metadata{Digests: websync.Digests{websync.SHA256(nil), websync.SHA256([]byte("a"))}}), "another digest"},
		"a negative length":     {listing, md(resourcesync.Metadata{Length: -2}), "length: not a number"},
		"a long length":         {listing, md(resourcesync.Metadata{Length: 1e18}), "length: not a number"},
		"a type":                {listing, md(resourcesync.Metadata{Type: "html"}), "type: not a media type"},
		"an encoding":           {listing, md(resourcesync.Metadata{Encoding: "g zip"}), "encoding: not a list"},
		"no rel":                {listing, with(via, func(l *resourcesync.Link) { l.Rel = "" }), "ln: a link must have a rel"},
		"an unknown rel":        {listing, with(via, func(l *resourcesync.Link) { l.Rel = "sibling" }), "rel: neither"},
		"no href":               {listing, with(via, func(l *resourcesync.Link) { l.Href = "" }), "ln: a link must have an href"},
		"a relative href":       {listing, with(via, func(l *resourcesync.Link) { l.Href = "/a" }), "href: not an absolute IRI"},
		"pri":                   {listing, with(via, func(l *resourcesync.Link) { l.Priority = 1_000_000 }), "pri: not an integer"},
		"pri below":             {listing, with(via, func(l *resourcesync.Link) { l.Priority = -1 }), "pri: not an integer"},
		"a patch":               {listing, with(via, func(l *resourcesync.Link) { l.Rel, l.Type = resourcesync.RelationPatch, "text/plain" }), "a patch is for a change"},
		"an attribute of md":    {listing, with(via, func(l *resourcesync.Link) { l.Attrs = []websync.Attr{{Space: resourcesync.Namespace, Local: "x"}} }), "the standard's"},
		"an element":            {listing, resourcesync.Entry{Entry: sitemap.Entry{Loc: "https://example.com/a", Elements: []websync.Element{{Space: "http://www.openarchives.org/rs/terms", Local: "ln"}}}}, "are in Metadata and Links"},
		"a broken element":      {listing, resourcesync.Entry{Entry: sitemap.Entry{Loc: "https://example.com/a", Elements: []websync.Element{{Space: "urn:x", Local: "x", XML: "<y/>"}}}}, "raw element"},
		"a control character":   {listing, md(resourcesync.Metadata{Type: "text/html", Attrs: []websync.Attr{{Space: "urn:x", Local: "x", Value: "\x02"}}}), "U+0002"},
		"an unknown changefreq": {listing, resourcesync.Entry{Entry: sitemap.Entry{Loc: "https://example.com/a", ChangeFreq: "sometimes"}}, "changefreq"},
	} {
		t.Run(name, func(t *testing.T) {
			var b, want bytes.Buffer
			w, plain := resourcesync.NewWriter(&b), resourcesync.NewWriter(&want)
			h := headOf(t, test.in)
			require.NoError(t, w.WriteHead(&h))
			require.NoError(t, plain.WriteHead(&h))
			e := good[test.in]
			require.NoError(t, w.Write(&e))
			require.NoError(t, plain.Write(&e))
			err := w.Write(&test.e)
			var refused *websync.EntryError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, "resourcesync", refused.Format)
			assert.Equal(t, test.e.Loc, refused.ID)
			assert.ErrorContains(t, err, test.want)
			require.NoError(t, w.Close())
			require.NoError(t, plain.Close())
			assert.Equal(t, want.String(), b.String(), "nothing of it is written")
		})
	}
}

func TestWriterLimits(t *testing.T) {
	w := resourcesync.NewWriter(io.Discard)
	w.MaxEntries = 1
	h := headOf(t, resourcesync.ResourceDumpManifest)
	require.NoError(t, w.WriteHead(&h))
	require.ErrorContains(t, w.WriteHead(&h), "WriteHead must be called once")
	e := entry("https://example.com/a", resourcesync.Metadata{Path: "/a"})
	require.NoError(t, w.Write(&e))
	e.Metadata.Path = "/b"
	require.ErrorIs(t, w.Write(&e), websync.ErrLimit)
	require.ErrorIs(t, w.Write(&e), websync.ErrLimit, "what was not written has no path yet")
	require.NoError(t, w.Close())
	require.Error(t, w.Write(&e))

	w = resourcesync.NewWriter(io.Discard)
	w.MaxBytes = 100
	require.ErrorIs(t, w.WriteHead(&h), websync.ErrLimit)
	require.ErrorIs(t, w.Write(&e), websync.ErrLimit)

	w = resourcesync.NewWriter(io.Discard)
	require.ErrorContains(t, w.Close(), "must have a capability", "there is no document without a head")

	failure := errors.New("disk full")
	w = resourcesync.NewWriter(failing{failure})
	require.NoError(t, w.WriteHead(&h))
	require.ErrorIs(t, w.Close(), failure)
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
