package sitemap_test

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

// FuzzWriter: Validate accepts each entry that a Writer accepts, and a Reader returns it.
// A refused entry leaves nothing in the document.
func FuzzWriter(f *testing.F) {
	f.Add("https://www.example.com/?a=1&b=2", "2025-02-03T04:05:06.789+02:00", "weekly", float32(0.3), "urn:x", "a", "<a xmlns='urn:x'>text</a>", false)
	f.Add("http://[::1]:8080/a", "2025", "", float32(-1), google.ImageNamespace, "image",
		"<image xmlns='"+google.ImageNamespace+"'><loc>https://www.example.com/i.png</loc></image>", true)
	f.Add("https://www.example.com/", "2016-12-31T23:59:60Z", "", float32(1e-20), sitemap.XHTMLNamespace, "link",
		"<link xmlns='"+sitemap.XHTMLNamespace+"' rel='alternate' hreflang='de' href='https://www.example.com/'/>", false)
	f.Add("https://www.example.com/", "", "", float32(2), google.NewsNamespace, "news", news, true)
	f.Fuzz(func(t *testing.T, loc, lastMod, changeFreq string, priority float32, space, local, xml string, index bool) {
		e := sitemap.Entry{Loc: loc, ChangeFreq: sitemap.ChangeFreq(changeFreq), Priority: priority}
		e.LastMod, _ = websync.ParseDatetime(lastMod)
		if xml != "" {
			e.Elements = []websync.Element{{Space: space, Local: local, XML: xml}}
		}
		good := sitemap.Entry{Loc: "https://www.example.com/good"}
		var b bytes.Buffer
		w := sitemap.NewWriter(&b)
		w.Extensions = google.Extensions()
		h := sitemap.Head{Kind: sitemap.URLSet}
		if index {
			h.Kind = sitemap.Index
		}
		require.NoError(t, w.WriteHead(&h))
		err := w.Write(&e)
		require.NoError(t, w.Write(&good))
		require.NoError(t, w.Close())
		require.EqualValues(t, b.Len(), w.Bytes())
		requireValid(t, b.Bytes())
		got, readErr := readAll(sitemap.NewReader(&b))
		require.NoError(t, readErr)
		require.Equal(t, "https://www.example.com/good", got[len(got)-1].Loc)
		if err != nil {
			var entry *websync.EntryError
			require.ErrorAs(t, err, &entry)
			require.Len(t, got, 1)
			return
		}
		require.Len(t, got, 2)
		require.Equal(t, e.Loc, got[0].Loc)
		require.Equal(t, e.ChangeFreq, got[0].ChangeFreq)
		if e.Priority <= 0 || e.Priority >= 1e-6 {
			require.Equal(t, e.Priority, got[0].Priority)
		}
		require.Equal(t, e.LastMod.IsZero(), got[0].LastMod.IsZero())
		require.Len(t, got[0].Elements, len(e.Elements))
		for i, x := range got[0].Elements {
			require.Equal(t, []string{e.Elements[i].Space, e.Elements[i].Local}, []string{x.Space, x.Local})
		}

		// Writing it again changes nothing.
		again := write(t, h, got...)
		more, readErr := readAll(sitemap.NewReader(bytes.NewReader(again)))
		require.NoError(t, readErr)
		require.Equal(t, again, write(t, h, more...))
	})
}

// FuzzValidate: for all bytes, the findings of Validate have positions, include those of
// the Reader, and do not depend on the size of the reads. Validate ends as the Reader
// does.
func FuzzValidate(f *testing.F) {
	seeds(f, "protocol", "field", "not-a-sitemap", "damaged", "encoding", "text", "writer")
	f.Add([]byte(inEntry("<i:image/><v:video/><n:news/><x:link rel='alternate' hreflang='de' href='x'/>")))
	f.Add([]byte("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>" + strings.Repeat(" ", 5000) + "</a></b></c> and more")) // fails in its second block
	rules := make(map[string]sitemap.Rule)
	for _, r := range append(sitemap.Rules(), google.Rules()...) {
		rules[r.Name] = r
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var findings []websync.Finding
		o := sitemap.ValidateOptions{Extensions: google.Extensions(), Document: documentURL, MaxBytes: 1 << 20, Now: now, Report: func(f websync.Finding) { findings = append(findings, f) }}
		sum, err := sitemap.Validate(bytes.NewReader(data), o)
		errs := 0
		for _, f := range findings {
			r, ok := rules[f.Rule]
			require.True(t, ok, f)
			require.Equal(t, r.Section, f.Section)
			require.Equal(t, r.Severity, f.Severity)
			if f.Severity == websync.SeverityError {
				errs++
			}
			switch f.Rule {
			case "sitemap-gzip", "sitemap-size", "sitemap-empty", "sitemap-document", "sitemap-truncated":
			default:
				require.Positive(t, f.Line, f)
				require.Positive(t, f.Column, f)
			}
		}
		require.Equal(t, errs, sum.Errors)
		if err != nil {
			require.NotZero(t, errs, err)
			var parse *websync.ParseError
			require.ErrorAs(t, err, &parse)
		}

		var read []websync.Finding
		r := limited(bytes.NewReader(data))
		r.Now = now
		r.Report = func(f websync.Finding) { read = append(read, f) }
		entries, readErr := readAll(r)
		require.Equal(t, readErr == nil, err == nil)
		require.Equal(t, len(entries), sum.Entries)
		require.Equal(t, r.Skipped(), sum.Skipped)
		for _, f := range read {
			require.Contains(t, findings, f)
		}

		all := findings
		findings = nil
		again, _ := sitemap.Validate(iotest.OneByteReader(bytes.NewReader(data)), o)
		if err != nil {
			again.Bytes = sum.Bytes // what was read ahead of the error
		}
		require.Equal(t, sum, again)
		require.Equal(t, all, findings)

		// Lenient changes severities, and nothing else.
		findings = nil
		o.Lenient = true
		lenient, _ := sitemap.Validate(bytes.NewReader(data), o)
		require.Len(t, findings, len(all))
		require.Equal(t, sum.Entries, lenient.Entries)
		if err == nil && sum.Skipped == 0 {
			require.Zero(t, lenient.Errors, findings)
		}
		if sum.Skipped > 0 {
			require.NotZero(t, lenient.Errors)
		}
	})
}

// FuzzURL: net/url accepts each URL that the Writer accepts.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"https://www.example.com/a?b#c", "http://me@[::1]:80/%41", "HTTP://a.b:/x", "https://a:b:c/", "http://[v1.a]/", "https://x]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w := sitemap.NewWriter(io.Discard)
		err := w.Write(&sitemap.Entry{Loc: s})
		if err == nil {
			parsed, parseErr := url.Parse(s)
			require.NoError(t, parseErr, s)
			require.NotEmpty(t, parsed.Host)
			require.True(t, strings.EqualFold(parsed.Scheme, "http") || strings.EqualFold(parsed.Scheme, "https"))
			return
		}
		var entry *websync.EntryError
		require.True(t, errors.As(err, &entry))
	})
}
