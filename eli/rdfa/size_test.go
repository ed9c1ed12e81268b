package rdfa

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// pieces are what the pages of FuzzCheckTree are made of.
var pieces = strings.Split(`x| |<b>|<b a=1>|<b a=2 b>|</b>|<i>|</i>|<a href=1>|<a>|</a>|<nobr>|</nobr>|<font color=1>|</font>|<p>|</p>|<div>|</div>|<span>|</span>|`+
	`<table>|</table>|<tr>|</tr>|<td>|</td>|<caption>|</caption>|<col>|<colgroup>|<tbody>|</tbody>|<th>|<ul>|<li>|</li>|</ul>|<dl>|<dd>|<h1>|</h1>|<h2>|`+
	`<button>|</button>|<select>|</select>|<option>|</option>|<optgroup>|<input>|<object>|</object>|<applet>|</applet>|<marquee>|</marquee>|`+
	`<svg>|</svg>|<g>|</g>|<path/>|<b/>|<foreignObject>|</foreignObject>|<desc>|</desc>|<title>|</title>|<style>|</style>|<script>|</script>|`+
	`<![CDATA[|]]>|<!--|-->|<math>|</math>|<mi>|</mi>|<annotation-xml encoding=text/html>|</annotation-xml>|<template>|</template>|<noscript>|</noscript>|`+
	`<frameset>|</frameset>|<frame>|<noframes>|</noframes>|<textarea>|</textarea>|<iframe>|</iframe>|<xmp>|</xmp>|<plaintext>|<image>|<br>|</br>|<img>|<hr>|<form>|</form>|`+
	`<body>|</body>|<html>|</html>|<head>|</head>|<x-y>|</x-y>|<p title=">|<p title='>|">|'>|<ruby>|<rt>|<rp>|<rb>|</ruby>|<address>|</address>|<pre>|</pre>|<listing>|<base>|<meta>|<link>`, "|")

// FuzzCheckTree: no tree is larger than what was counted for its document.
func FuzzCheckTree(f *testing.F) {
	f.Add([]byte{2, 5, 15, 16})
	f.Add([]byte("a page of nothing but the pieces that its letters stand for, and they overlap"))
	for i := range pieces {
		f.Add([]byte{15, 3, 4, 2, byte(i), 5, 16, 15, 0, 3, 13, byte(i), byte(i + 1), 16, 15, 0, byte(i + 2), 0})
	}
	f.Fuzz(func(t *testing.T, choice []byte) {
		var page strings.Builder
		for _, c := range choice[:min(len(choice), 300)] {
			page.WriteString(pieces[int(c)%len(pieces)])
		}
		requireCounted(t, page.String())
	})
}

func requireCounted(t *testing.T, page string) {
	tree, err := html.ParseWithOptions(strings.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		return // nested too deep
	}
	nodes, attrs := 0, 0
	for n := range tree.Descendants() {
		nodes++
		attrs += len(n.Attr)
	}
	require.Error(t, checkTree([]byte(page), nodes+attrs/2-1), "%d nodes, %d attributes in %s", nodes, attrs, page)
}

func TestCheckTree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 { // pages with few pieces, that occur often
		some := make([]string, 12)
		for i := range some {
			some[i] = pieces[random.IntN(len(pieces))]
			if i < 3 {
				some[i] = pieces[2+random.IntN(19)]
			}
		}
		var page strings.Builder
		for range random.IntN(80) {
			page.WriteString(some[random.IntN(len(some))])
		}
		requireCounted(t, page.String())
	}
}

// TestTreeOfPages: what is counted for pages as they are is near what they have.
func TestTreeOfPages(t *testing.T) {
	item := `<div class="card"><a href="/%[1]d" class="more"><svg viewBox="0 0 1 1"><title>Icon</title><g><path d="M0"/></g></svg> Article <b>%[1]d</b></a>
		<p>Text with <em>some <strong>emphasis</strong></em> and a <a href="#"><span>link</span></a>.<br><ul><li>one<li>two</ul><!-- end -->
		<table><tr><td><i>x</i><td>y</table><script>document.write("<b>" + x + "<a href=")</script></div>`
	var page strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&page, item, i)
	}
	tree, err := html.Parse(strings.NewReader(page.String()))
	require.NoError(t, err)
	nodes := 0
	for range tree.Descendants() {
		nodes++
	}
	assert.NoError(t, checkTree([]byte(page.String()), 2*nodes), "%d nodes", nodes)
}
