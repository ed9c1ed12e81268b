package resourcesync_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/resourcesync"
	"github.com/websync-go/websync/sitemap"
)

func seeds(f *testing.F) {
	files, err := filepath.Glob("testdata/1.[01]/*.xml")
	require.NoError(f, err)
	for _, file := range files {
		doc, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(doc)
	}
	for _, test := range brokenDocuments {
		if len(test.doc) < 10_000 {
			f.Add([]byte(test.doc))
		}
	}
}

func limited(src io.Reader) *resourcesync.Reader {
	r := resourcesync.NewReader(src)
	r.Document, r.MaxBytes = "https://example.com/dir/doc.xml", 1<<20
	return r
}

// FuzzReader: whatever the bytes, errors and findings have positions, views and owned
// entries are the same whatever the size of the reads, values are what the types promise,
// and what can be written is read back as it was.
func FuzzReader(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := limited(bytes.NewReader(data))
		r.Report = func(f websync.Finding) {
			switch f.Rule {
			case "sitemap-gzip", "sitemap-size", "resourcesync-md": // of the whole document
			default:
				require.Positive(t, f.Line, f)
				require.Positive(t, f.Column, f)
			}
		}
		entries, err := readAll(r)
		if err != nil {
			var parse *websync.ParseError
			require.ErrorAs(t, err, &parse)
			require.Equal(t, "resourcesync", parse.Format)
		}
		head, headErr := r.Head()
		require.Equal(t, err == nil, headErr == nil)
		for i := range entries {
			requireSound(t, &entries[i].Metadata, entries[i].Links)
		}
		requireSound(t, &head.Metadata, head.Links)

		views := limited(iotest.OneByteReader(bytes.NewReader(data)))
		first, _ := views.Head()
		require.Equal(t, head.Index, first.Index || len(entries) == 0 && head.Index)
		var cloned []resourcesync.Entry
		for {
			v, viewErr := views.NextView()
			if viewErr != nil {
				require.Equal(t, err == nil, viewErr == io.EOF)
				break
			}
			cloned = append(cloned, v.Clone())
		}
		require.Equal(t, entries, cloned)
		require.Equal(t, r.Skipped(), views.Skipped())

		strict := limited(bytes.NewReader(data))
		strict.Strict = true
		if _, strictErr := readAll(strict); strictErr == nil {
			require.NoError(t, err, "strict is stricter")
		}
		if err == nil {
			roundTrip(t, head, entries)
		}
	})
}

// requireSound checks what the types promise of their values.
func requireSound(t *testing.T, m *resourcesync.Metadata, links []resourcesync.Link) {
	sound := func(path string, length int64) {
		require.GreaterOrEqual(t, length, int64(websync.StatedZero))
		if path != "" {
			require.True(t, strings.HasPrefix(path, "/"))
			require.NotContains(t, path+"/", "/../")
			require.NotContains(t, path, `\`)
		}
	}
	sound(m.Path, m.Length)
	switch m.Change {
	case "", resourcesync.Created, resourcesync.Updated, resourcesync.Deleted:
	default:
		t.Errorf("change %q", m.Change)
	}
	for i := range links {
		sound(links[i].Path, links[i].Length)
		require.True(t, links[i].Priority >= 0 && links[i].Priority <= 999_999)
	}
}

// roundTrip writes what was read, without what a Writer refuses, and reads it again.
func roundTrip(t *testing.T, head resourcesync.Head, entries []resourcesync.Entry) {
	var b bytes.Buffer
	w := resourcesync.NewWriter(&b)
	if w.WriteHead(&head) != nil {
		return
	}
	var kept []resourcesync.Entry
	for i := range entries {
		err := w.Write(&entries[i])
		var refused *websync.EntryError
		switch {
		case err == nil:
			kept = append(kept, entries[i])
		case errors.As(err, &refused):
		default:
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	requireValid(t, b.Bytes())
	again := read(t, b.Bytes())
	want := same(documentRead{Head: head, Entries: kept})
	got := same(again)
	require.Equal(t, len(want.Entries), len(got.Entries))
	for i := range want.Entries {
		require.Equal(t, want.Entries[i].Loc, got.Entries[i].Loc)
		require.Equal(t, want.Entries[i].Metadata.Digests, got.Entries[i].Metadata.Digests)
		require.Equal(t, want.Entries[i].Metadata.Path, got.Entries[i].Metadata.Path)
		require.Len(t, got.Entries[i].Links, len(want.Entries[i].Links))
		for j := range want.Entries[i].Links {
			require.Equal(t, want.Entries[i].Links[j].Rel, got.Entries[i].Links[j].Rel)
			require.Equal(t, want.Entries[i].Links[j].Attrs, got.Entries[i].Links[j].Attrs)
		}
	}
	require.Equal(t, b.Bytes(), write(t, again.Head, again.Entries...), "the second time, nothing changes")
}

// FuzzWriter: what a Writer takes is valid, and is read back as it was.
func FuzzWriter(f *testing.F) {
	f.Add("resourcelist", false, "2026-01-01T00:00:00Z", "", "2026-01-01", "via", "https://example.com/", "md5", "\x01", int64(7), "text/html", "gzip", "/a", 3, "urn:x", "a", "b")
	f.Add("resourcelist", false, "", "", "", "via", "urn:a:b", "SHA-3", "00", int64(0), "", "", "", 0, "", "", "")
	f.Add("ResourceList", false, "", "", "", "via", "urn:a:b", "md5", "", int64(0), "", "", "", 0, "", "", "")
	f.Add("0", false, "", "", "", "via", "urn:a:b", "md5", "", int64(0), "a/b", "br,gzip ", "", 0, "", "", "")
	f.Add("changelist", true, "", "2026-01-01T00:00:00+01:00", "2026-01-02T00:00:00Z", resourcesync.RelationPatch, "urn:a:b", "x&y", "00", int64(-1), "a/b;c=d", "br, gzip", "/a/b", 0, "", "", "")
	f.Fuzz(func(t *testing.T, capability string, index bool, at, from, when, rel, href, algorithm, sum string, length int64, mediaType, encoding, path string, pri int, space, local, value string) {
		parse := func(text string) websync.Datetime {
			d, _ := websync.ParseDatetime(text)
			return d
		}
		head := resourcesync.Head{Index: index, Links: []resourcesync.Link{link("up", "https://example.com/up.xml")},
			Metadata: resourcesync.Metadata{Capability: resourcesync.Capability(capability), At: parse(at), From: parse(from)}}
		l := link(rel, href)
		l.Digests, l.Length, l.Type, l.Encoding, l.Path, l.Priority = websync.Digests{{Algorithm: algorithm, Sum: sum}}, length, mediaType, encoding, path, pri
		e := resourcesync.Entry{Entry: sitemap.Entry{Loc: "https://example.com/a", LastMod: parse(when)}, Links: []resourcesync.Link{l}}
		if space != "" || local != "" {
			e.Metadata.Attrs = []websync.Attr{{Space: space, Local: local, Value: value}}
		}
		switch head.Metadata.Capability {
		case resourcesync.ChangeList, resourcesync.ChangeDumpManifest:
			e.Metadata.Change, e.Metadata.Datetime, e.Metadata.Path = resourcesync.Updated, parse(when), path
		default:
			e.Metadata.At = parse(when)
		}
		roundTrip(t, head, []resourcesync.Entry{e, entry("https://example.com/b", resourcesync.Metadata{})})
	})
}

// FuzzValidate: whatever the bytes, findings are of known rules and have positions, the
// Summary counts them, and Validate ends as the Reader does.
func FuzzValidate(f *testing.F) {
	seeds(f)
	rules := make(map[string]resourcesync.Rule)
	for _, r := range append(sitemap.Rules(), resourcesync.Rules()...) {
		rules[r.Name] = r
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all, unplaced := 0, 0
		sum, err := resourcesync.Validate(bytes.NewReader(data), resourcesync.ValidateOptions{
			Document: "https://example.com/dir/doc.xml", MaxBytes: 1 << 20,
			Report: func(f websync.Finding) {
				all++
				r, ok := rules[f.Rule]
				require.True(t, ok, f)
				require.Equal(t, r.Severity, f.Severity)
				if f.Line == 0 {
					unplaced++
				}
			},
		})
		require.Equal(t, all, sum.Errors+sum.Warnings+sum.Infos)
		r := limited(bytes.NewReader(data))
		entries, readErr := readAll(r)
		require.Equal(t, readErr == nil, err == nil)
		if err == nil {
			require.Len(t, entries, sum.Entries)
			require.Equal(t, r.Skipped(), sum.Skipped)
			head, _ := r.Head()
			require.Equal(t, head.Metadata.Capability, sum.Capability)
			require.Equal(t, head.Index, sum.Index)
		}
	})
}
