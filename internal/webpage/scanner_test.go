package webpage

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// requireScanned requires that a Scanner finds the tokens of package html.
func requireScanned(t *testing.T, page []byte) {
	z, want := NewScanner(page), html.NewTokenizer(bytes.NewReader(page))
	for {
		token, other := z.Next(), want.Next()
		if z.Err() == ErrAttrs {
			return
		}
		if other == html.DoctypeToken {
			other = html.CommentToken
		}
		require.Equal(t, other, token, "%q in %q", want.Raw(), page)
		require.Equal(t, want.Err(), z.Err(), "%q", page)
		if token == html.ErrorToken {
			return
		}
		require.Equal(t, string(want.Raw()), string(z.Raw()), "%q", page)
		attrs := 0
		name, more := want.TagName()
		for more {
			_, _, more = want.TagAttr()
			attrs++
		}
		if token != html.TextToken && token != html.CommentToken {
			require.Equal(t, string(name), string(z.Name()), "%q", page)
			require.LessOrEqual(t, attrs, z.Attrs, "%q", page)
		}
		if len(page)%2 == 1 && string(name) == "noscript" {
			z.NextIsNotRawText()
			want.NextIsNotRawText()
		}
	}
}

// scannerPieces are what the pages of TestScanner are made of.
var scannerPieces = strings.Split("x| |\n|-|--|<|>|/|!|=|\"|'|\x00|</|</>|<!|<?|<!-->|<!--->|<!--|-->|--!>|--!|<![CDATA[|]]>|<!DOCTYPE html>|<p|<p |<P\x00|a|a=|a=b/| a=\"x\"/>|"+
	" a='|<br/>|<br a/>|<br a = b/>|<br a a=/>|/>|</p>|</p a>|<script>|<Script |</script>|</SCRIPT |</script|<script|<title>|</title>|</titles>|"+
	"<noscript>|</noscript/|<textarea >|</textarea>|<xmp>|<style>|</style|<plaintext>|<iframe/>|<x-Y>|é|ſ", "|")

func TestScanner(t *testing.T) {
	for _, page := range []string{
		"<script><!-- -><script></script>x</script>", "<script><!-- --><script></script>x</script>", "<plaintext><p></plaintext><p>",
	} {
		requireScanned(t, []byte(page))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50_000 { // pages of few pieces, which occur often
		some := make([]string, 8)
		for i := range some {
			some[i] = scannerPieces[random.IntN(len(scannerPieces))]
		}
		var page []byte
		for range 1 + random.IntN(16) {
			page = append(page, some[random.IntN(len(some))]...)
		}
		requireScanned(t, page)
	}
}

func FuzzScanner(f *testing.F) {
	for _, piece := range scannerPieces {
		f.Add([]byte("<p>" + piece + "<b>"))
	}
	f.Add([]byte("<script><!--<script>--</script>--><b></script>"))
	f.Fuzz(requireScanned)
}

func TestScannerLimits(t *testing.T) {
	for page, want := range map[string]error{
		tag(MaxAttrs, " a%d"): io.EOF, tag(MaxAttrs+1, " a%d"): ErrAttrs,
		"<!--" + strings.Repeat("x", MaxToken/2): io.EOF, "<!--" + strings.Repeat("x", MaxToken): errToken,
	} {
		z := NewScanner([]byte(page + "<p>"))
		for z.Next() != html.ErrorToken {
		}
		assert.Equal(t, want, z.Err(), "%.20s", page)
		assert.Equal(t, html.ErrorToken, z.Next())
	}
}

func TestScannerAllocates(t *testing.T) {
	page := []byte(strings.Repeat("<p class=a title='x'/>text<!-- y --><b></b><script>z</script>", 100))
	assert.LessOrEqual(t, testing.AllocsPerRun(10, func() {
		for z := NewScanner(page); z.Next() != html.ErrorToken; {
		}
	}), 110.0)
}
