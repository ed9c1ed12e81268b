package jsonld_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/jsonld"
)

const node = `{"@id":"x","http://e.example/p":"v"}`

// Where the JSON-LD of a page is.
func TestScripts(t *testing.T) {
	const html, xhtml = "text/html", "application/xhtml+xml"
	const open, shut = `<html xmlns="http://www.w3.org/1999/xhtml"><head>`, `</head></html>`
	for _, c := range []struct {
		name, media, doc string
		want             string // the subjects
		findings         string
	}{
		{"one", html, script(node), "<l:dir/x>", ""},
		{"several", html, script(node) + script(strings.Replace(node, "x", "y", 1)), "<l:dir/x> <l:dir/y>", ""},
		{"the same blank node label", html, script(`{"@id":"_:a","http://e.example/p":"v"}`) + script(`{"@id":"_:a","http://e.example/p":"v"}`), "_:b1 _:b2", ""},
		{"other types", html, `<script>var a = {"@id":"x"}</script><script type="application/json">` + node + `</script>`, "", ""},
		{"case and parameters", html, `<SCRIPT TYPE=' Application/LD+JSON; charset="utf-8"'>` + node + `</script>`, "<l:dir/x>", ""},
		{"a context", html, `<script type='application/ld+json;profile="http://www.w3.org/ns/json-ld#context"'>` + node + `</script>`, "", ""},
		{"a profile", html, `<script type='application/ld+json;profile="http://www.w3.org/ns/json-ld#expanded"'>` + node + `</script>`, "<l:dir/x>", ""},
		{"a base", html, `<base target=_top><base href=" /eli/#a "><base href="/other/">` + script(node), "<l:eli/x>", ""},
		{"a base after it", html, script(node) + `<base href="/eli/">`, "<l:eli/x>", ""},
		{"templates", html, `<template><base href="/a/">` + script(node) + `</template>` + script(strings.Replace(node, "x", "y", 1)), "<l:dir/y>", ""},
		{"comments", html, "<!--" + script(node) + "-->", "", ""},
		{"other raw text", html, "<textarea>" + script(node) + "</textarea>", "", ""},
		{"an empty one", html, `<script type="application/ld+json"></script><p>` + node, "", ""},
		{"a comment around the JSON", html, script("<!--\n" + node + "\n-->"), "<l:dir/x>", "3 jsonld-markup"},
		{"CDATA around the JSON", html, script("//<![CDATA[\n" + node + "\n//]]>"), "<l:dir/x>", "3 jsonld-markup"},
		{"cut short", html, `<script type="application/ld+json">` + node, "<l:dir/x>", ""},
		{"not JSON", html, script("\n{\n\"@id\":\"x\",\n}") + script(node), "<l:dir/x>", "6 jsonld-json"},
		{"no text", html, script(" "), "", "3 jsonld-json"},
		{"neither object nor array", html, script(`"https://e.example/"`), "", "3 jsonld-invalid"},
		{"Windows-1252", html + "; charset=iso-8859-1", script(`{"@id":"` + "\xe9" + `","http://e.example/p":"v"}`), "<l:dir/é>", ""},
		{"not UTF-8", html + "; charset=utf-8", script(`{"@id":"` + "\xe9" + `","http://e.example/p":"v"}`), "<l:dir/\uFFFD>", "0 jsonld-encoding"},
		{"XHTML", xhtml, open + `<base href="/eli/"/><script type="application/ld+json">{"@id":"x?a&amp;b","http://e.example/p":<![CDATA["<"]]>}</script>` + shut, "<l:eli/x?a&b>", ""},
		{"XHTML with elements in a script", xhtml, open + `<script type="application/ld+json">` + node + `<b/></script>` + `<script type="text/plain">x</script>` + shut, "<l:dir/x>", ""},
		{"XHTML that is not well-formed", xhtml, open + `<br>` + "\n" + script(node) + shut, "<l:dir/x>", "0 jsonld-xml"},
		{"SVG", "image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg" xmlns:h="http://www.w3.org/1999/xhtml"><script type="application/ld+json">` + node + `</script>` +
			`<h:script type="application/ld+json">` + strings.Replace(node, "x", "y", 1) + `</h:script></svg>`, "<l:dir/y>", ""},
		{"HTML without a type", "", script(node), "<l:dir/x>", ""},
		{"XHTML without a type", "text/plain", `<?xml version="1.0"?>` + open + `<script type="application/ld+json">` + node + `</script>` + shut, "<l:dir/x>", ""},
		{"JSON without a type", "application/octet-stream", " \n" + node, "<l:dir/x>", ""},
		{"JSON", "application/json; charset=utf-8", node, "<l:dir/x>", ""},
		{"an empty type", ";", node, "<l:dir/x>", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, findings := extract(t, new(jsonld.Extractor), c.doc, c.media)
			var subjects, names []string
			for _, line := range got {
				subject, _, _ := strings.Cut(line, " ")
				subjects = append(subjects, subject)
			}
			for _, f := range findings {
				names = append(names, string(rune('0'+f.Line))+" "+f.Rule)
			}
			assert.Equal(t, c.want, strings.Join(subjects, " "))
			assert.Equal(t, c.findings, strings.Join(names, ", "), findings)
		})
	}
}

func TestContexts(t *testing.T) {
	x := jsonld.Extractor{Contexts: map[string][]byte{
		"https://law.example/context.jsonld": []byte(`{"@context":["https://schema.org",{"p":"http://e.example/p"}]}`),
		"http://schema.org/":                 []byte(`{"@context":{"@vocab":"http://e.example/"}}`),
		"https://law.example/loop":           []byte(`{"@context":["/loop",{"p":"http://e.example/p"}]}`),
	}}
	got, findings := extract(t, &x, `{"@context":"/context.jsonld","@id":"x","p":"v","q":"w"}`, "application/ld+json")
	assert.Equal(t, []string{`<l:dir/x> <e:p> "v"`, `<l:dir/x> <e:q> "w"`}, got, "the user's contexts before those that are built in")
	assert.Empty(t, findings)

	got, findings = extract(t, &x, `{"@context":"/loop","@id":"x","p":"v"}`, "application/ld+json")
	assert.Equal(t, []string{`<l:dir/x> <e:p> "v"`}, got)
	require.Len(t, findings, 1)
	assert.Equal(t, "https://law.example/loop", findings[0].Value)

	for text, want := range map[string]string{
		"[":                         "must be a JSON object",
		"{}":                        "must have @context",
		strings.Repeat("[", 200):    "nested deeper than 100",
		`{"@context":"` + "\x01\"}": "must be a JSON object",
	} {
		x := jsonld.Extractor{Contexts: map[string][]byte{"https://law.example/c": []byte(text)}}
		_, err := x.Extract(strings.NewReader(node), base, "application/ld+json", nil)
		assert.ErrorContains(t, err, "jsonld: the context https://law.example/c")
		assert.ErrorContains(t, err, want)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, base, media, doc, want string
		is                           error
	}{
		{"no base", "/doc", "text/html", node, `jsonld: the base "/doc" must be an absolute URL`, nil},
		{"nothing", base, "text/html", "", "an empty document, not a document with JSON-LD", websync.ErrNotDocument},
		{"white space", base, "application/ld+json", " \n", "jsonld: ", websync.ErrNotDocument},
		{"a PDF", base, "application/pdf", "%PDF", `jsonld: the media type "application/pdf" can't hold JSON-LD: not a document of this kind`, websync.ErrNotDocument},
		{"a PDF without a type", base, "", "%PDF<", "a PDF file, not a document with JSON-LD", websync.ErrNotDocument},
		{"text as a page", base, "text/html", "gone", "neither markup nor JSON", websync.ErrNotDocument},
		{"too many bytes", base, "text/html", "<p>" + strings.Repeat(" ", 10_000), "more than 10000 bytes: over the limit", websync.ErrLimit},
		{"too many triples", base, "application/ld+json", `{"@id":"x","http://e.example/p":[1,2,3,4,5,6,7,8,9,10,11]}`, "line 1: script: more than 10 triples: over the limit", websync.ErrLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := jsonld.Extractor{MaxBytes: 10_000, MaxTriples: 10}
			triples, err := x.Extract(strings.NewReader(c.doc), c.base, c.media, nil)
			require.Error(t, err)
			assert.Nil(t, triples)
			assert.Contains(t, strings.ReplaceAll(err.Error(), base+": ", ""), c.want)
			if c.is != nil {
				assert.ErrorIs(t, err, c.is)
				assert.ErrorAs(t, err, new(*websync.ParseError))
			}
		})
	}
	broken := errors.New("connection reset")
	_, err := new(jsonld.Extractor).Extract(io.MultiReader(strings.NewReader(node), iotest.ErrReader(broken)), base, "application/ld+json", nil)
	assert.ErrorIs(t, err, broken)
	unlimited := jsonld.Extractor{MaxBytes: -1, MaxTriples: -1}
	triples, err := unlimited.Extract(strings.NewReader(node), base, "application/ld+json", nil)
	require.NoError(t, err)
	assert.Len(t, triples, 1)
}
