package atom

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

var grammarTests = map[string]struct {
	check     func(string) string
	good, bad []string
}{
	"date": {func(s string) string { _, fault := date3339(s); return fault }, []string{
		"1985-04-12T23:20:50.52Z", "1996-12-19T16:39:57-08:00", "1990-12-31T23:59:60Z", "1937-01-01T12:00:27.87+00:20", "2003-12-13T18:30:02.25+01:00",
	}, []string{
		"", "2003", "2003-12", "2003-12-13", "2003-12-13T18:30Z", "2003-12-13T18:30:02", "2003-12-13t18:30:02Z", "2003-12-13T18:30:02z", "2003-12-13 18:30:02Z",
		"2003-12-13T18:30:02+0100", "2003-12-13T18:30:02.Z", "2003-12-13T24:30:02Z", "2003-13-13T18:30:02Z", "Sat, 13 Dec 2003 18:30:02 GMT", "x", " 2003-12-13T18:30:02Z",
	}},
	"HTML": {func(s string) string { return new(htmlChecker).fault([]byte(s)) }, []string{
		"", "text & more", "<p>a<p>b", "<ul><li>a<li>b</ul>", "<img src=\"a>b\">", "<br/>", "<br>", "<a href=/x/>a</a>", "<A HREF='x'>a</a>", "<!-- <b> -->", "<!---->",
		"<table><tr><td>a<td>b</table>", "<svg><path d='x'/><title>t</title></svg>", "<script>if (a<b) '<i>'</script>", "<style></STYLE>", "<dl><dt>a<dd>b</dl>", "a &lt; b", "<x-y>a</x-y>",
		"<p title='it''s'>a</p>", "<textarea></text></textarea>", "<a href=x/y>a</a>",
	}, []string{
		"<b>", "</b>", "<b></i>", "<b><i></b></i>", "<b><i></b>", "a < b", "a <", "<", "<>", "<b", "<b x=\"", "<!-- ", "<!DOCTYPE html>", "<?php ?>", "<html></html>", "<BODY>", "<title>a</title>", "<div/>",
		"<a name=\"x\"/>", "<script>a", "</br", "<b <i>", "</p>", "<p></p></p>", "<ul><li></li></li></ul>", "<div x='/' />", "</ b>",
	}},
}

func TestDatesAndHTML(t *testing.T) {
	for name, test := range grammarTests {
		for _, s := range test.good {
			assert.Empty(t, test.check(s), "%s %q", name, s)
		}
		for _, s := range test.bad {
			assert.NotEmpty(t, test.check(s), "%s %q", name, s)
		}
	}
}

// TestDateMemory: reading a date allocates nothing.
func TestDateMemory(t *testing.T) {
	date := []byte("1985-04-12T23:20:50.52Z")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if _, fault := date3339(date); fault != "" {
			panic(fault)
		}
	}))
}

func FuzzDatesAndHTML(f *testing.F) {
	for _, test := range grammarTests {
		for _, s := range append(test.good, test.bad...) {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, test := range grammarTests {
			test.check(s)
		}
	})
}
