package webpage

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"

	"github.com/websync-go/websync"
)

func TestReadHead(t *testing.T) {
	const page = "https://example.org/a/b"
	for _, test := range []struct {
		name, text string
		title      string
		links      []string // target, rel and type
		ended      bool
	}{
		{"nothing", "", "", nil, true},
		{"links in their order", `<head><link rel=a href=x><link rel=b href="/y" type="text/css"/></head>`, "",
			[]string{"https://example.org/a/x a ", "https://example.org/y b text/css"}, true},
		{"a title with entities and lines", "<title> Acts\n &amp; more </title><p>", "Acts & more", nil, true},
		{"the first title counts", "<title>One</title><title>Two</title>", "One", nil, true},
		{"capitals", `<LINK REL="Alternate" TYPE="text/x" HREF="x">`, "", []string{"https://example.org/a/x Alternate text/x"}, true},
		{"a base, which is that of all links", `<link rel=a href=x><base href="/c/"><base href="/d/"><link rel=b href=x>`, "",
			[]string{"https://example.org/c/x a ", "https://example.org/c/x b "}, true},
		{"a base on another host", `<base href="//other.example/"><link rel=a href=x>`, "", []string{"https://other.example/x a "}, true},
		{"a base without an address", `<base target=_top><base href="/c/"><link rel=a href=x>`, "", []string{"https://example.org/c/x a "}, true},
		{"links that lead nowhere", `<link rel=a><link rel=a href=""><link rel=a href="http://[bad"><link rel=a href="mailto:x@example.org">`, "", nil, true},
		{"after the head", `<head></head><link rel=a href=x>`, "", nil, true},
		{"in the body", `<body><link rel=a href=x>`, "", nil, true},
		{"in a comment and a script", `<!-- <link rel=a href=x> --><script>"<link rel=a href=x>"</script>`, "", nil, true},
		{"beyond the limit", strings.Repeat(" ", maxHead) + `<link rel=a href=x>`, "", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			h, err := ReadHead(strings.NewReader(test.text), page, "text/html; charset=utf-8")
			assert.Equal(t, !test.ended, errors.Is(err, websync.ErrLimit), "%v", err)
			assert.Equal(t, test.title, h.Title)
			var links []string
			for _, l := range h.Links {
				links = append(links, l.Target+" "+l.Get("rel")+" "+l.Get("type"))
			}
			assert.Equal(t, test.links, links)
		})
	}
	h, err := ReadHead(strings.NewReader("<link rel=a>"+strings.Repeat("<link rel=a href=x>", maxLinks)+"</head>"), page, "")
	assert.NoError(t, err)
	assert.Len(t, h.Links, maxLinks)
	h, err = ReadHead(strings.NewReader(strings.Repeat("<link rel=a href=x>", maxLinks+1)), page, "")
	assert.EqualError(t, err, "the head of the page has more than 2000 links: over the limit")
	assert.Len(t, h.Links, maxLinks)
	assert.Equal(t, "https://example.org/a/x", h.Links[0].Target)
	var attrs strings.Builder
	for i := range 2 * maxAttrs {
		fmt.Fprintf(&attrs, " a%d=b", i)
	}
	h, err = ReadHead(strings.NewReader("<link"+attrs.String()+" href=x>"), page, "")
	assert.NoError(t, err)
	assert.Len(t, h.Links[0].Params, maxAttrs)
	boom := errors.New("boom")
	h, err = ReadHead(io.MultiReader(strings.NewReader("<link rel=a href=x><link"), iotest.ErrReader(boom)), page, "")
	assert.Equal(t, boom, err)
	assert.Len(t, h.Links, 1)
}

// TestReadXHTML: in XML any element may be empty, and none has raw text. In HTML what
// follows each of these start tags is text, up to its end tag.
func TestReadXHTML(t *testing.T) {
	const link, want = `<link rel="a" href="x"/>`, "https://example.org/x"
	for name, test := range map[string]struct{ before, title string }{
		"a title":                {`<title/>`, ""},
		"a title with space":     {`<title />`, ""},
		"an empty title, a text": {`<title/>text`, ""},
		"a script":               {`<script src="x"/>`, ""},
		"a script in capitals":   {`<SCRIPT src="x"/>`, ""},
		"a style":                {`<style/>`, ""},
		"a noscript":             {`<noscript/>`, ""},
		"a template":             {`<template/>`, ""},
		"an iframe":              {`<iframe/>`, ""},
		"a textarea":             {`<textarea/>`, ""},
		"an open noscript":       {`<noscript>`, ""},
		"a title in CDATA":       {`<title><![CDATA[One & <two>]]></title>`, "One & <two>"},
		"a script in CDATA":      {`<script><![CDATA["</script><link rel='b' href='y'/>"]]></script>`, ""},
		"a title of two":         {`<title>One</title><title/>`, "One"},
	} {
		for _, contentType := range []string{"application/xhtml+xml", "Application/XHTML+XML; charset=utf-8", "application/xml", "text/xml"} {
			t.Run(name+" "+contentType, func(t *testing.T) {
				text := `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head>` + test.before + link + "</head>"
				h, err := ReadHead(strings.NewReader(text), "https://example.org/", contentType)
				assert.NoError(t, err)
				assert.Equal(t, test.title, h.Title)
				if assert.Len(t, h.Links, 1) {
					assert.Equal(t, want, h.Links[0].Target)
				}
			})
		}
	}
}

func FuzzReadHead(f *testing.F) {
	f.Add(`<head><title>x</title><base href="/a/"><link rel="alternate" href="b"></head>`)
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ReadHead(strings.NewReader(text), "https://example.org/", "application/xhtml+xml")
		if err != nil && len(text) < maxHead && len(h.Links) < maxLinks {
			t.Fatal(err)
		}
		for _, l := range h.Links {
			if !strings.Contains(l.Target, "//") {
				t.Fatalf("%q is not absolute", l.Target)
			}
		}
	})
}
