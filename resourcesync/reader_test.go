package resourcesync_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/resourcesync"
)

// A documentRead is what a Reader makes of a document, as golden files hold it.
type documentRead struct {
	Head     resourcesync.Head
	Entries  []resourcesync.Entry
	Findings []string
}

func readAll(r *resourcesync.Reader) (entries []resourcesync.Entry, err error) {
	for e, err := range r.All() {
		if err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// read reads a document to its end.
func read(t testing.TB, doc []byte) (d documentRead) {
	t.Helper()
	r := resourcesync.NewReader(bytes.NewReader(doc))
	r.Report = func(f websync.Finding) { d.Findings = append(d.Findings, f.String()) }
	entries, err := readAll(r)
	require.NoError(t, err)
	d.Entries = entries
	d.Head, err = r.Head()
	require.NoError(t, err)
	return d
}

// write writes a document.
func write(t testing.TB, head resourcesync.Head, entries ...resourcesync.Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := resourcesync.NewWriter(&b)
	require.NoError(t, w.WriteHead(&head))
	for i := range entries {
		require.NoError(t, w.Write(&entries[i]))
	}
	require.NoError(t, w.Close())
	require.NoError(t, w.Close(), "twice")
	require.Equal(t, len(entries), w.Entries())
	require.EqualValues(t, b.Len(), w.Bytes())
	return b.Bytes()
}

// schema returns the name of the schema of a document.
func schema(index bool) string {
	if index {
		return "sitemapindex.xsd"
	}
	return "urlset.xsd"
}

// same returns what a document has to have in common with its copy: all but positions,
// and what a Writer does not write.
func same(d documentRead) documentRead {
	d.Findings = nil
	utc := func(t *websync.Datetime) {
		if t.Precision() > websync.PrecisionDay {
			*t = t.UTC()
		}
	}
	metadata := func(m *resourcesync.Metadata) {
		m.Faulty = nil
		for _, at := range []*websync.Datetime{&m.At, &m.Completed, &m.From, &m.Until, &m.Datetime} {
			utc(at)
		}
	}
	links := func(all []resourcesync.Link) []resourcesync.Link {
		all = slices.Clone(all)
		for i := range all {
			all[i].Faulty = nil
			utc(&all[i].Modified)
		}
		return all
	}
	metadata(&d.Head.Metadata)
	d.Head.Links = links(d.Head.Links)
	d.Entries = slices.Clone(d.Entries)
	for i := range d.Entries {
		e := &d.Entries[i]
		e.Line, e.Column, e.LastModText = 0, 0, ""
		utc(&e.LastMod)
		metadata(&e.Metadata)
		e.Links = links(e.Links)
	}
	return d
}

// TestExamples reads the examples of both versions of the standard, and writes them
// again: what is written is equivalent, and valid against the schemas.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/1.[01]/*.xml")
	require.NoError(t, err)
	require.Greater(t, len(files), 30)
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"), ".xml")
		t.Run(name, func(t *testing.T) {
			doc, err := os.ReadFile(file)
			require.NoError(t, err)
			d := read(t, doc)
			golden, err := json.MarshalIndent(d, "", " ")
			require.NoError(t, err)
			testkit.Golden(t, strings.TrimSuffix(file, ".xml")+".golden", append(golden, '\n'))
			testkit.Lint(t, schema(d.Head.Index), doc)

			head := d.Head
			if slices.Contains([]string{"1.0/01", "1.0/02", "1.0/03", "1.0/04", "1.0/05", "1.0/08"}, name) {
				// The walkthrough of §1.3 leaves out the mandatory link.
				require.Empty(t, head.Href("up"))
				head.Links = append(head.Links, resourcesync.Link{Link: websync.Link{Rel: "up", Href: "http://example.com/capabilitylist.xml"}})
				d.Head = head
			}
			written := write(t, head, d.Entries...)
			testkit.Lint(t, schema(head.Index), written)
			again := read(t, written)
			assert.Empty(t, again.Findings)
			assert.Equal(t, same(d), same(again))
			assert.Equal(t, written, write(t, again.Head, again.Entries...), "the second time, nothing changes")
			requireValid(t, written)
		})
	}
}

// requireValid checks that Validate finds nothing against the standard.
func requireValid(t testing.TB, doc []byte) {
	t.Helper()
	_, err := resourcesync.Validate(bytes.NewReader(doc), resourcesync.ValidateOptions{Report: func(f websync.Finding) {
		if f.Severity == websync.SeverityError {
			t.Errorf("%v", f)
		}
	}})
	require.NoError(t, err)
}

// TestReaderReadsOver reads what is not as the standard demands: the value that is read,
// and what Faulty keeps of it.
func TestReaderReadsOver(t *testing.T) {
	const rel = `rel="via" href="urn:a:b" `
	for name, test := range map[string]struct {
		md, ln string
		want   string // of fmt for the fields that are stated
		faulty string // name=value
	}{
		"a time without zone":  {md: `at="2026-01-02T03:04:05"`, want: "at 2026-01-02T03:04:05Z", faulty: "at=2026-01-02T03:04:05"},
		"a time with spaces":   {md: `datetime=" 2026-01-02T03:04:05Z "`, want: "datetime 2026-01-02T03:04:05Z", faulty: "datetime= 2026-01-02T03:04:05Z "},
		"no time":              {md: `until="now"`, want: "", faulty: "until=now"},
		"hash in base64":       {md: `hash="md5:1B2M2Y8AsgTpgAmY7PhCfg=="`, want: "hash md5:d41d8cd98f00b204e9800998ecf8427e", faulty: "hash=md5:1B2M2Y8AsgTpgAmY7PhCfg=="},
		"hash in capitals":     {md: `hash="MD5:D41D8CD98F00B204E9800998ECF8427E"`, want: "hash md5:d41d8cd98f00b204e9800998ecf8427e", faulty: "hash=MD5:D41D8CD98F00B204E9800998ECF8427E"},
		"one good hash of two": {md: `hash="md5:d4 sha-1:1584abdf8ebdc9802ac0c6a7402c03b601234567"`, want: "hash sha-1:1584abdf8ebdc9802ac0c6a7402c03b601234567", faulty: "hash=md5:d4 sha-1:1584abdf8ebdc9802ac0c6a7402c03b601234567"},
		"line breaks in hash":  {md: "hash='md5:d41d8cd98f00b204e9800998ecf8427e&#10; sha-1:1584abdf8ebdc9802ac0c6a7402c03b601234567'", want: "hash md5:d41d8cd98f00b204e9800998ecf8427e sha-1:1584abdf8ebdc9802ac0c6a7402c03b601234567"},
		"no slash":             {md: `path="a/b"`, want: "path /a/b", faulty: "path=a/b"},
		"a dot and a slash":    {md: `path="./a/b"`, want: "path /a/b", faulty: "path=./a/b"},
		"out of the package":   {md: `path="../a"`, want: "", faulty: "path=../a"},
		"a drive":              {md: `path="C:\\a"`, want: "", faulty: `path=C:\\a`},
		"a change in capitals": {md: `change="DELETED"`, want: "change deleted", faulty: "change=DELETED"},
		"an unknown change":    {md: `change="moved"`, want: "", faulty: "change=moved"},
		"another capability":   {md: `capability="oai-pmh"`, want: "capability oai-pmh", faulty: "capability=oai-pmh"},
		"a length of nothing":  {md: `length=""`, want: "", faulty: "length="},
		"no attribute of md":   {md: `modified="2026-01-02"`, want: "", faulty: "modified=2026-01-02"},
		"a prefix":             {md: `rs:length="7"`, want: "length 7"},
		"an unknown one":       {md: `rs:size="7"`, want: "", faulty: "size=7"},
		"a relative href":      {ln: `rel="via" href="../b"`, want: "rel via href https://example.com/b", faulty: "href=../b"},
		"a rel in capitals":    {ln: `rel="Via" href="urn:a:b"`, want: "rel via href urn:a:b", faulty: "rel=Via"},
		"pri":                  {ln: rel + `pri="high"`, want: "rel via href urn:a:b", faulty: "pri=high"},
		"modified":             {ln: rel + `modified="2026-01-02T03:04:05"`, want: "rel via href urn:a:b modified 2026-01-02T03:04:05Z", faulty: "modified=2026-01-02T03:04:05"},
		"an attribute of md":   {ln: rel + `change="updated"`, want: "rel via href urn:a:b", faulty: "change=updated"},
	} {
		t.Run(name, func(t *testing.T) {
			element := "<rs:md " + test.md + "/>"
			if test.ln != "" {
				element = "<rs:ln " + test.ln + "/>"
			}
			found, isFault := 0, false
			r := resourcesync.NewReader(strings.NewReader(resources(page+element, other)))
			r.Document = "https://example.com/dir/doc.xml"
			r.Report = func(f websync.Finding) {
				found++
				isFault = isFault || f.Severity > websync.SeverityInfo
				assert.Equal(t, 3, f.Line)
			}
			entries, err := readAll(r)
			require.NoError(t, err)
			require.Len(t, entries, 2)
			assert.Zero(t, r.Skipped())
			m := entries[0].Metadata
			got := stated(m)
			faulty := m.Faulty
			if test.ln != "" {
				require.Len(t, entries[0].Links, 1)
				got, faulty = statedLink(entries[0].Links[0]), entries[0].Links[0].Faulty
			}
			assert.Equal(t, test.want, got)
			text := ""
			for _, a := range faulty {
				text += a.Local + "=" + a.Value
			}
			assert.Equal(t, test.faulty, text)
			assert.Equal(t, test.faulty != "" || strings.Contains(test.md, "rs:"), found > 0)
			assert.Equal(t, resourcesync.Metadata{}, entries[1].Metadata, "the next entry has no md")
			assert.Empty(t, entries[1].Links)

			strict := resourcesync.NewReader(strings.NewReader(resources(page+element, other)))
			strict.Strict = true
			_, err = readAll(strict)
			assert.Equal(t, isFault, err != nil)
			if err != nil {
				var parse *websync.ParseError
				require.ErrorAs(t, err, &parse)
				assert.Equal(t, "resourcesync", parse.Format)
				assert.Equal(t, 3, parse.Line)
			}
		})
	}
}

func stated(m resourcesync.Metadata) string {
	var all []string
	add := func(name string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "0" {
			all = append(all, name+" "+text)
		}
	}
	add("capability", m.Capability)
	add("at", m.At)
	add("until", m.Until)
	add("change", m.Change)
	add("datetime", m.Datetime)
	add("hash", m.Digests)
	add("length", m.Length)
	add("path", m.Path)
	return strings.Join(all, " ")
}

func statedLink(l resourcesync.Link) string {
	text := "rel " + l.Rel + " href " + l.Href
	if !l.Modified.IsZero() {
		text += " modified " + l.Modified.String()
	}
	return text
}

func TestReaderSkipsEntries(t *testing.T) {
	doc := resources("<rs:md length='1'/>"+up, page+"<rs:md length='2'/>", "<loc>&#9;</loc><rs:md length='3'/>", other)
	d := documentRead{}
	r := resourcesync.NewReader(strings.NewReader(doc))
	d.Entries, _ = readAll(r)
	require.Len(t, d.Entries, 2)
	assert.EqualValues(t, 2, d.Entries[0].Metadata.Length)
	assert.Empty(t, d.Entries[0].Links)
	assert.Zero(t, d.Entries[1].Metadata.Length)
	assert.Equal(t, 2, r.Skipped())
}

func TestReaderHead(t *testing.T) {
	doc := lists(page, other)
	r := resourcesync.NewReader(strings.NewReader(doc))
	h, err := r.Head()
	require.NoError(t, err)
	assert.True(t, h.Index)
	assert.Equal(t, resourcesync.ChangeList, h.Metadata.Capability)
	assert.Equal(t, "https://example.com/cap.xml", h.Href("up"))
	assert.Empty(t, h.Href("index"))
	entries, err := readAll(r)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "Head has lost none")

	late := resourcesync.NewReader(strings.NewReader(strings.Replace(doc, "</sitemapindex>", about+"<x xmlns='urn:x'/></sitemapindex>", 1)))
	late.MaxEntries = 2
	_, err = readAll(late)
	require.NoError(t, err)
	h, err = late.Head()
	require.NoError(t, err)
	assert.Equal(t, "https://example.com/about.xml", h.Href("describedby"), "what follows the entries is read")
	assert.Len(t, h.Elements, 1)

	empty := resourcesync.NewReader(strings.NewReader(changes()))
	empty.Strict = true
	h, err = empty.Head()
	require.NoError(t, err)
	assert.Equal(t, resourcesync.ChangeList, h.Metadata.Capability)
	_, err = empty.Next()
	assert.Equal(t, io.EOF, err)

	broken := resourcesync.NewReader(strings.NewReader(doc[:len(doc)-60]))
	h, err = broken.Head()
	require.NoError(t, err)
	assert.True(t, h.Index)
	_, err = readAll(broken)
	require.ErrorIs(t, err, websync.ErrTruncated)
	_, err = broken.Head()
	require.ErrorIs(t, err, websync.ErrTruncated)
}

func TestReaderErrors(t *testing.T) {
	for name, test := range map[string]struct {
		doc  string
		want error
		text string
	}{
		"a text":    {"https://example.com/a\n", websync.ErrNotDocument, "resourcesync: doc: line 1, column 1: a list of URLs in plain text"},
		"HTML":      {"<!DOCTYPE html><html/>", websync.ErrNotDocument, "resourcesync: doc: line 1, column 16: html: an HTML page, not a sitemap"},
		"nothing":   {"", websync.ErrNotDocument, "resourcesync: doc: line 1"},
		"cut short": {resources(page)[:280], websync.ErrTruncated, "resourcesync: doc: line 3"},
		"too many":  {resources(page, page, page), websync.ErrLimit, "resourcesync: doc: line 5"},
	} {
		t.Run(name, func(t *testing.T) {
			r := resourcesync.NewReader(strings.NewReader(test.doc))
			r.Document, r.MaxEntries = "doc", 2
			_, err := readAll(r)
			require.ErrorIs(t, err, test.want)
			assert.Contains(t, err.Error(), test.text)
			_, again := r.Next()
			assert.Equal(t, err, again, "errors stick")
		})
	}
}

func TestNextViewAllocatesNothing(t *testing.T) {
	var b bytes.Buffer
	w := resourcesync.NewWriter(&b)
	h := benchHead()
	require.NoError(t, w.WriteHead(&h))
	for i := range 2000 {
		e := benchEntry(i)
		e.Metadata.Attrs = []websync.Attr{{Space: "urn:x", Local: "x", Value: "y"}}
		require.NoError(t, w.Write(&e))
	}
	require.NoError(t, w.Close())
	r := resourcesync.NewReader(&b)
	next := func() {
		_, err := r.NextView()
		require.NoError(t, err)
	}
	for range 500 {
		next()
	}
	assert.Zero(t, testing.AllocsPerRun(1000, func() { r.NextView() }))
	v, err := r.NextView()
	require.NoError(t, err)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { v.Clone() }), 4.0)
}

func TestViewClone(t *testing.T) {
	doc, err := os.ReadFile("testdata/1.1/changedump-manifest.xml")
	require.NoError(t, err)
	want, err := readAll(resourcesync.NewReader(bytes.NewReader(doc)))
	require.NoError(t, err)
	r := resourcesync.NewReader(bytes.NewReader(doc))
	for i := 0; ; i++ {
		v, err := r.NextView()
		if err == io.EOF {
			require.Len(t, want, i)
			break
		}
		require.NoError(t, err)
		assert.Equal(t, want[i], v.Clone())
		assert.Equal(t, want[i].Loc, string(v.Loc))
		assert.Len(t, v.Links, len(want[i].Links))
	}
}
