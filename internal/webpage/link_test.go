package webpage

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
)

func TestLinkReader(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []Link
	}{
		{"nothing", " \n", nil},
		{"one", `<http://example.com/a>; rel="original"`, []Link{{"http://example.com/a", []LinkParam{{"rel", "original"}}}}},
		{"without parameters", "<a>,<b>", []Link{{"a", nil}, {"b", nil}}},
		{
			"RFC 7089 §5.1.1", "<http://a.example.org>;rel=\"original\",\n <http://arxiv.example.net/timemap/http://a.example.org>\n" +
				"  ; rel=\"self\";type=\"application/link-format\"\n  ; from=\"Tue, 20 Jun 2000 18:02:59 GMT\"",
			[]Link{
				{"http://a.example.org", []LinkParam{{"rel", "original"}}},
				{"http://arxiv.example.net/timemap/http://a.example.org", []LinkParam{
					{"rel", "self"}, {"type", "application/link-format"}, {"from", "Tue, 20 Jun 2000 18:02:59 GMT"},
				}},
			},
		},
		{"delimiters in a target", "<http://example.com/?a,b;c=d>;rel=x", []Link{{"http://example.com/?a,b;c=d", []LinkParam{{"rel", "x"}}}}},
		{"delimiters in quotes", `<a>; title="one, \"two\"; <three>"`, []Link{{"a", []LinkParam{{"title", `one, "two"; <three>`}}}}},
		{"names of parameters in capitals, space around =", `<a>; REL = "Next"`, []Link{{"a", []LinkParam{{"rel", "Next"}}}}},
		{"a parameter without a value", "<a>;hreflang;rel=x", []Link{{"a", []LinkParam{{"hreflang", ""}, {"rel", "x"}}}}},
		{"empty parameters and elements", ", ,<a>;;rel=x; ,,\n<b>", []Link{{"a", []LinkParam{{"rel", "x"}}}, {"b", nil}}},
		{"more white space than a link may have", strings.Repeat("\n", 2*maxLink) + "<a>", []Link{{"a", nil}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []Link
			for l, err := range NewLinkReader(strings.NewReader(test.text), "").All() {
				require.NoError(t, err)
				got = append(got, l)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestLinkReaderErrors(t *testing.T) {
	for _, test := range []struct {
		name, text string
		links      int
		is         error
		want       string
	}{
		{"a login page", "<!doctype html><html>", 0, nil, `must be`},
		{"no target", "<a>,\n b", 1, nil, `timemap: line 2, column 2: a link must begin with "<"`},
		{"cut in a target", "<a>,<b", 1, websync.ErrTruncated, "the document ends in a link"},
		{"cut in quotes", `<a>;rel="me`, 0, websync.ErrTruncated, "the document ends in a link"},
		{"cut after =", `<a>;rel=`, 0, websync.ErrTruncated, "the document ends in a link"},
		{"cut after a comma", "<a>,\n", 1, websync.ErrTruncated, "the document ends with a comma"},
		{"text after a link", "<a> b", 0, nil, `timemap: line 1, column 5: 'b' after a link or parameter must be ';' or ','`},
		{"no name", `<a>; ="x"`, 0, nil, `'=' where the name of a parameter must be`},
		{"a link without end", "<a>,<" + strings.Repeat("b", maxLink), 1, websync.ErrLimit, "a link of more than 65536 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := NewLinkReader(strings.NewReader(test.text), "timemap")
			n := 0
			var err error
			for _, err = range r.All() {
				if err == nil {
					n++
				}
			}
			var parse *websync.ParseError
			require.ErrorAs(t, err, &parse)
			assert.Contains(t, err.Error(), test.want)
			assert.Equal(t, test.links, n)
			if test.is != nil {
				assert.ErrorIs(t, err, test.is)
			}
			_, again := r.Next()
			assert.Equal(t, err, again, "errors stick")
		})
	}
	failed := errors.New("connection reset")
	_, err := NewLinkReader(io.MultiReader(strings.NewReader("<a"), &failing{failed}), "").Next()
	assert.ErrorIs(t, err, failed)
	assert.NotErrorIs(t, err, websync.ErrTruncated)
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestHeaderLinks(t *testing.T) {
	links := HeaderLinks([]string{
		`<https://hub.example.org/>; rel="hub", </feed>; rel="self"`, `broken`, `</x>; rel=self; anchor="#y", <mailto:a@example.org>; rel=self`,
		`</set1/capabilitylist.xml>; rel="up ResourceSync"`,
	}, "https://example.org/a/b")
	require.Len(t, links, 3)
	assert.True(t, links[0].HasRel("hub"))
	assert.Equal(t, "https://example.org/feed", links[1].Target)
	assert.True(t, links[2].HasRel("resourcesync"))
	assert.False(t, links[2].HasRel("resource"))
}

func TestGet(t *testing.T) {
	l := Link{Params: []LinkParam{{"rel", "first"}, {"rel", "second"}}}
	assert.Equal(t, "first", l.Get("rel"))
	assert.Empty(t, l.Get("type"))
}

func TestResolve(t *testing.T) {
	const base = "https://example.org/a/b"
	for href, want := range map[string]string{
		"c": "https://example.org/a/c", " /c?d ": "https://example.org/c?d", "//other.example/": "https://other.example/", "http://x.example/#y": "http://x.example/#y",
		"": "", "mailto:a@example.org": "", "http://[bad": "", "%zz": "",
	} {
		assert.Equal(t, want, Resolve(base, href), href)
	}
	assert.Empty(t, Resolve("http://[bad", "c"))
	assert.Empty(t, Resolve("list.xml", "c"))
}

func FuzzLinks(f *testing.F) {
	f.Add(`<http://example.com/a>; rel="memento"; datetime="Tue, 20 Jun 2000 18:02:59 GMT",` + "\n<b>")
	f.Add(`<a>;title="\"";;=,`)
	f.Fuzz(func(t *testing.T, text string) {
		size := 0
		for l, err := range NewLinkReader(strings.NewReader(text), "x").All() {
			var parse *websync.ParseError
			if err != nil && (!errors.As(err, &parse) || parse.Line < 1 || parse.Column < 0) {
				t.Fatalf("%v has no position", err)
			}
			size += len(l.Target)
			for _, p := range l.Params {
				size += len(p.Name) + len(p.Value)
			}
		}
		if size > len(text) {
			t.Fatalf("%d bytes of links from %d bytes", size, len(text))
		}
	})
}
