package document_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

func compress(data string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(data))
	z.Close()
	return b.String()
}

// open returns the document with what it reports, one line each.
func open(t *testing.T, data string, maxBytes int64) (d *document.Document, notes *[]string, err error) {
	notes = new([]string)
	d = &document.Document{
		Kind: document.Kind{Format: "test", Name: "a test", Else: "nothing known"}, URL: "test.xml",
		Report: func(d document.Departure, line, column int, value []byte, message string) {
			*notes = append(*notes, fmt.Sprintf("%d %d:%d %q %s", d, line, column, value, message))
		},
	}
	return d, notes, d.Open(strings.NewReader(data), maxBytes)
}

func TestOpen(t *testing.T) {
	const text = "some text"
	tests := map[string]struct {
		data  string
		max   int64
		want  string
		notes []string
		err   error
	}{
		"plain":            {data: text, want: text},
		"compressed":       {data: compress(text), want: text},
		"compressed twice": {data: compress(compress(text)), want: text, notes: []string{`0 0:0 "" compressed twice`}},
		"members":          {data: compress("some ") + compress("text"), want: text},
		"bytes after it":   {data: compress(text) + "more", want: text, notes: []string{`0 0:0 "" bytes after the end of the compressed data are left out`}},
		"empty":            {},
		"at the limit":     {data: text, max: 9, want: text},
		"over the limit":   {data: compress(text), max: 8, want: text[:8], err: websync.ErrLimit},
		"no limit":         {data: text, max: -5, want: text},
		"cut":              {data: compress(text)[:20], err: io.ErrUnexpectedEOF},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, notes, err := open(t, test.data, test.max)
			require.NoError(t, err)
			assert.Zero(t, d.Size())
			got, err := io.ReadAll(d)
			require.ErrorIs(t, err, test.err)
			if test.err != io.ErrUnexpectedEOF {
				assert.Equal(t, test.want, string(got))
				assert.EqualValues(t, len(test.want), d.Size())
			}
			assert.Equal(t, test.notes, *notes)
		})
	}
	t.Run("an invalid header", func(t *testing.T) {
		d, _, err := open(t, "\x1f\x8bxxxxxxxxxxxx", 0)
		require.ErrorIs(t, err, gzip.ErrHeader)
		_, err = d.Read(make([]byte, 1))
		require.ErrorIs(t, err, gzip.ErrHeader, "and it sticks")
	})
}

func TestXML(t *testing.T) {
	tests := map[string]struct {
		data     string
		root     string
		position [2]int
		notes    []string
		err      string
		kind     error
	}{
		"plain":           {data: "<a/>", root: "a", position: [2]int{1, 1}},
		"a mark":          {data: "\ufeff<a/>", root: "a", position: [2]int{1, 1}},
		"a line before":   {data: "Warning\n<?xml version='1.0'?>\n<a/>", root: "a", position: [2]int{3, 1}, notes: []string{`1 1:1 "Warning" a line before the XML declaration`}},
		"an encoding":     {data: "<?xml version='1.0' encoding='iso-8859-1'?><a/>", root: "a", position: [2]int{1, 44}, notes: []string{`3 1:1 "iso-8859-1" the declared encoding is not UTF-8`}},
		"UTF-16":          {data: "<\x00a\x00/\x00>\x00", root: "a", position: [2]int{1, 1}, notes: []string{`3 1:1 "" the document is in UTF-16, not UTF-8`}},
		"a DOCTYPE":       {data: "<!-- x -->\n<!DOCTYPE a>\n<a/>", root: "a", position: [2]int{3, 1}, notes: []string{`4 2:1 "" a DOCTYPE`}},
		"a fault":         {data: "<a x='&y'/>", root: "a", position: [2]int{1, 1}, notes: []string{`2 1:7 "" '&' does not start a reference`}},
		"empty":           {err: "test: test.xml: line 1, column 1: an empty document, not a test", kind: websync.ErrNotDocument},
		"white space":     {data: " \n ", err: "an empty document, not a test", kind: websync.ErrNotDocument},
		"text":            {data: "Sorry", err: "nothing known, not a test", kind: websync.ErrNotDocument},
		"JSON":            {data: " {}", err: "JSON, not a test", kind: websync.ErrNotDocument},
		"a broken page":   {data: "<html", err: "an HTML page, not a test", kind: websync.ErrNotDocument},
		"cut":             {data: "<feed", err: "document ends too early", kind: websync.ErrTruncated},
		"cut in the line": {data: "Warning\n<?xml version='1.0'?>\n<feed", err: "line 3, column 6: input ended inside the document: document ends too early", kind: websync.ErrTruncated},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, notes, err := open(t, test.data, 0)
			require.NoError(t, err)
			x, err := d.XML()
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				require.ErrorIs(t, err, test.kind)
				return
			}
			require.NoError(t, err)
			x.CheckPrologue()
			assert.Equal(t, test.root, x.Name().Local)
			line, column := x.Position()
			assert.Equal(t, test.position, [2]int{line, column})
			assert.Equal(t, test.notes, *notes)
			require.NoError(t, x.Skip())
			assert.NoError(t, x.End())
		})
	}
}

func TestFail(t *testing.T) {
	d := &document.Document{Kind: document.Kind{Format: "test"}, URL: "test.xml"}
	broken := errors.New("broken")
	assert.EqualError(t, d.Fail(3, 4, "a", broken), "test: test.xml: line 3, column 4: a: broken")
	assert.ErrorIs(t, d.Fail(0, 0, "", io.ErrUnexpectedEOF), websync.ErrTruncated)
	assert.NotErrorIs(t, d.Fail(0, 0, "", broken), websync.ErrTruncated)
}

func TestNextTagAndText(t *testing.T) {
	d, _, err := open(t, "line\n<?xml version='1.0'?><a> \n  text <b/>\n<c/></a>", 0)
	require.NoError(t, err)
	x, err := d.XML()
	require.NoError(t, err)
	var found []string
	for {
		kind, err := x.NextTagAndText(func(line, column int, text []byte) {
			found = append(found, fmt.Sprintf("%d:%d %s", line, column, text))
		})
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		found = append(found, kind.String()+" "+x.Name().Local)
	}
	assert.Equal(t, []string{"3:3 text", "Start b", "End b", "Start c", "End c", "End a"}, found)
}
