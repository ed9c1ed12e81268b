package sitemap_test

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/testkit"
	"github.com/websync-go/websync/sitemap"
)

// seeds adds the files under testdata/dir.
func seeds(f *testing.F, dirs ...string) {
	for _, dir := range dirs {
		testkit.Files(f, filepath.Join("testdata", dir), nil, func(_ string, data []byte) {
			if len(data) < 10_000 {
				f.Add(data)
			}
		})
	}
}

// FuzzReader: for all bytes, errors and findings have positions, entries have a loc and
// whole elements, and neither the size of the reads nor the use of views makes a
// difference.
func FuzzReader(f *testing.F) {
	seeds(f, "protocol", "field", "not-a-sitemap", "damaged", "encoding", "text")
	f.Fuzz(func(t *testing.T, data []byte) {
		var findings []websync.Finding
		r := limited(bytes.NewReader(data))
		r.Report = func(f websync.Finding) { findings = append(findings, f) }
		entries, err := readAll(r)
		testkit.CheckParseError(t, "sitemap", err)
		for _, f := range findings {
			switch f.Rule {
			case "sitemap-gzip", "sitemap-size", "sitemap-empty": // of the whole document
			default:
				require.Positive(t, f.Line, f)
				require.Positive(t, f.Column, f)
			}
		}
		for _, e := range entries {
			require.NotEmpty(t, e.Loc)
			require.Positive(t, e.Line)
			require.Positive(t, e.Column)
			p, _ := e.StatedPriority()
			require.True(t, p >= 0 && p <= 1)
			for _, x := range e.Elements {
				testkit.CheckElement(t, x)
			}
		}

		views := limited(iotest.OneByteReader(bytes.NewReader(data)))
		cloned := testkit.Views(t, err, func() (sitemap.Entry, error) {
			v, err := views.NextView()
			if err != nil {
				return sitemap.Entry{}, err
			}
			return v.Clone(), nil
		})
		require.Equal(t, entries, cloned)
		require.Equal(t, r.Kind(), views.Kind())
		require.Equal(t, r.Skipped(), views.Skipped())

		strict := limited(bytes.NewReader(data))
		strict.Strict = true
		if _, strictErr := readAll(strict); strictErr == nil {
			require.NoError(t, err, "strict is stricter")
		}
	})
}

func FuzzText(f *testing.F) {
	seeds(f, "text")
	f.Fuzz(func(t *testing.T, data []byte) {
		r := limited(io.MultiReader(strings.NewReader("http://www.example.com/0\n"), bytes.NewReader(data)))
		entries, err := readAll(r)
		require.NoError(t, err)
		require.Equal(t, sitemap.Text, r.Kind())
		for i, e := range entries {
			require.True(t, strings.HasPrefix(strings.ToLower(e.Loc), "http"))
			require.False(t, strings.ContainsAny(e.Loc, "\r\n"))
			if i > 0 {
				require.Greater(t, e.Line, entries[i-1].Line)
			}
		}
	})
}

func FuzzSitemaps(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /x\n\nSITEMAP : https://www.example.com/a.xml # first\r\nsitemap:https://www.example.com/b.xml"))
	f.Fuzz(func(t *testing.T, data []byte) {
		urls, err := sitemap.Sitemaps(bytes.NewReader(data))
		require.NoError(t, err)
		seen := make(map[string]bool)
		for _, u := range urls {
			require.NotEmpty(t, u)
			require.False(t, seen[u])
			require.NotContains(t, u, "#")
			seen[u] = true
		}
	})
}

func limited(src io.Reader) *sitemap.Reader {
	r := sitemap.NewReader(src)
	r.Document = documentURL
	r.MaxBytes = 1 << 20
	return r
}

func readAll(r *sitemap.Reader) (entries []sitemap.Entry, err error) {
	for e, err := range r.All() {
		if err != nil {
			return entries, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}
