package websync_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
)

func TestFindingString(t *testing.T) {
	tests := []struct {
		name string
		in   websync.Finding
		want string
	}{
		{"all", websync.Finding{
			Document: "https://example.com/sitemap.xml", Rule: "lastmod-format", Section: "lastmod",
			Severity: websync.SeverityError, Line: 12, Column: 5, Element: "lastmod", Value: "soon", Message: "not a W3C date",
		}, `https://example.com/sitemap.xml:12:5: error: not a W3C date: "soon" (lastmod-format, lastmod)`},
		{"no column", websync.Finding{
			Document: "a.xml", Rule: "feed-author", Section: "RFC 4287 §4.1.1", Line: 12, Message: "no author",
		}, "a.xml:12: warning: no author (feed-author, RFC 4287 §4.1.1)"},
		{"no line", websync.Finding{
			Document: "a.xml", Rule: "feed-author", Severity: websync.SeverityInfo, Column: 5, Message: "no author",
		}, "a.xml: info: no author (feed-author)"},
		{"no document", websync.Finding{Line: 12, Column: 5, Section: "§4", Message: "no author"},
			"12:5: warning: no author (§4)"},
		{"message only", websync.Finding{Message: "no author"}, "warning: no author"},
		{"password", websync.Finding{Document: "https://me:secret@example.com/a", Message: "no author"},
			"https://example.com/a: warning: no author"},
		{"control characters", websync.Finding{Document: "a\nb", Message: "not a date: \x1b[2J\u2028\u0085soon"},
			"a b: warning: not a date:  [2J  soon"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, tt.in.String())
		})
	}
}

func TestFindingJSON(t *testing.T) {
	in := websync.Finding{
		Document: "a.xml", Rule: "lastmod-format", Section: "lastmod", Severity: websync.SeverityError,
		Line: 12, Column: 5, Element: "lastmod", Value: "soon", Message: "not a W3C date",
	}
	text, err := json.Marshal(in)
	require.NoError(t, err)
	assert.Equal(t, `{"file":"a.xml","rule":"lastmod-format","section":"lastmod","severity":"error",`+
		`"line":12,"column":5,"element":"lastmod","value":"soon","message":"not a W3C date"}`, string(text))
	var out websync.Finding
	require.NoError(t, json.Unmarshal(text, &out))
	assert.Equal(t, in, out)

	text, err = json.Marshal(websync.Finding{})
	require.NoError(t, err)
	assert.Equal(t, `{"file":"","rule":"","section":"","severity":"warning",`+
		`"line":0,"column":0,"element":"","message":""}`, string(text))
}

func TestSeverity(t *testing.T) {
	assert.Less(t, websync.SeverityInfo, websync.SeverityWarning)
	assert.Less(t, websync.SeverityWarning, websync.SeverityError)
	assert.Zero(t, websync.SeverityWarning)
	for _, s := range []websync.Severity{websync.SeverityInfo, websync.SeverityWarning, websync.SeverityError} {
		text, err := s.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, s.String(), string(text))
		out := websync.Severity(100)
		require.NoError(t, out.UnmarshalText(text))
		assert.Equal(t, s, out)
	}
	for _, s := range []websync.Severity{-2, 2} {
		_, err := s.MarshalText()
		assert.Error(t, err)
		assert.Contains(t, s.String(), "Severity(")
	}
	s := websync.SeverityError
	assert.EqualError(t, s.UnmarshalText([]byte("fatal")), `severity "fatal" is not "info", "warning" or "error"`)
	assert.Equal(t, websync.SeverityError, s)
}

func TestParseError(t *testing.T) {
	cause := errors.New("not a W3C date")
	tests := []struct {
		name string
		in   websync.ParseError
		want string
	}{
		{"line", websync.ParseError{Format: "sitemap", Line: 12, Element: "lastmod", Err: cause},
			"sitemap: line 12: lastmod: not a W3C date"},
		{"all", websync.ParseError{
			Format: "atom", Document: "https://example.com/feed", Line: 12, Column: 5, Element: "updated", Err: cause,
		}, "atom: https://example.com/feed: line 12, column 5: updated: not a W3C date"},
		{"no line", websync.ParseError{Format: "atom", Document: "a.xml", Column: 5, Err: websync.ErrTruncated},
			"atom: a.xml: document ends too early"},
		{"no error", websync.ParseError{Format: "atom", Line: 1}, "atom: line 1"},
		{"password", websync.ParseError{Format: "atom", Document: "https://a:b@c:80/x@y", Err: cause},
			"atom: https://c:80/x@y: not a W3C date"},
		{"control characters", websync.ParseError{Format: "atom", Element: "a\r\nb", Err: errors.New("\x1b]0;")},
			"atom: a  b:  ]0;"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var err error = &tt.in
			assert.EqualError(t, err, tt.want)
			if tt.in.Err != nil {
				assert.ErrorIs(t, err, tt.in.Err)
			}
		})
	}
}

// What is no URL with a password stays as it is.
