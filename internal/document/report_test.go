package document_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

func TestReports(t *testing.T) {
	bad := websync.Rule{Name: "test-bad", Severity: websync.SeverityError}
	odd := websync.Rule{Name: "test-odd", Severity: websync.SeverityInfo}
	var got []string
	r := document.Reports{Format: "test", Document: "d", Lenient: true, To: func(f websync.Finding) { got = append(got, f.Severity.String()+" "+f.Message) }}
	r.Add(bad, 1, 2, "a", nil, "read over")
	r.Loss(bad, 1, 2, "a", nil, "lost")
	r.Doubt(odd, 1, 2, "a", nil, "in doubt")
	assert.Equal(t, []string{"warning read over", "error lost", "info in doubt"}, got)
	assert.Equal(t, 1, r.Skipped)
	assert.NoError(t, r.Fatal)

	strict := document.Reports{Format: "test", Document: "d", Strict: true}
	strict.Add(odd, 1, 2, "a", nil, "odd")
	require.NoError(t, strict.Fatal)
	strict.Add(bad, 3, 4, "b", nil, "first")
	strict.Add(bad, 5, 6, "c", nil, "second")
	require.EqualError(t, strict.Fatal, "test: d: line 3, column 4: b: first")
}

func TestBlame(t *testing.T) {
	cut, unreadable, malformed := websync.Rule{Name: "cut"}, websync.Rule{Name: "unreadable"}, websync.Rule{Name: "malformed"}
	src := document.Source{Src: strings.NewReader("")}
	for err, want := range map[error]websync.Rule{
		websync.ErrTruncated: cut, websync.ErrNotDocument: unreadable, websync.ErrLimit: unreadable, errors.New("x"): malformed,
	} {
		parse, rule, ok := src.Blame(&websync.ParseError{Line: 1, Err: err}, cut, unreadable, malformed)
		require.True(t, ok)
		assert.Equal(t, want, rule)
		assert.Equal(t, 1, parse.Line)
	}
	_, _, ok := src.Blame(io.ErrClosedPipe, cut, unreadable, malformed)
	assert.False(t, ok, "no ParseError")
	src = document.Source{Src: iotest.ErrReader(io.ErrClosedPipe)}
	io.ReadAll(&src)
	_, _, ok = src.Blame(&websync.ParseError{Err: io.ErrClosedPipe}, cut, unreadable, malformed)
	assert.False(t, ok, "the source has failed")
}

func TestAppendSchemaDate(t *testing.T) {
	for in, want := range map[string]string{
		"":                            "",
		"2025":                        "2025-01-01",
		"2025-06":                     "2025-06-01",
		"2025-06-07":                  "2025-06-07",
		"2025-06-07T08:09Z":           "2025-06-07T08:09:00Z",
		"2025-06-07T08:09:10.5+14:00": "2025-06-07T08:09:10.5+14:00",
		"2025-06-07T08:09:10+14:30":   "2025-06-06T17:39:10Z",
		"2025-06-07T08:09:10-23:00":   "2025-06-08T07:09:10Z",
		"2016-12-31T23:59:60Z":        "2017-01-01T00:00:00Z",
		"2016-12-31T23:59:60.5Z":      "2017-01-01T00:00:00Z",
		"2017-01-01T22:59:60+23:00":   "2017-01-01T00:00:00Z",
	} {
		var d websync.Datetime
		if in != "" {
			var err error
			d, err = websync.ParseDatetime(in)
			require.NoError(t, err)
		}
		b, wrote := document.AppendSchemaDate([]byte("x"), d)
		assert.Equal(t, "x"+want, string(b), in)
		assert.Equal(t, want, wrote.String(), in)
		assert.Equal(t, wrote, document.SchemaDate(d))
	}
}
