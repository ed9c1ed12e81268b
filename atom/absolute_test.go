package atom_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// based returns the bytes of content with the base http://e/d/f.
func based(t *testing.T, typ, value string) string {
	t.Helper()
	c := atom.Content{Link: websync.Link{Type: typ}, Value: value, Base: "http://e/d/f"}
	got, err := c.Bytes()
	require.NoError(t, err)
	return string(got)
}

// TestContentReferences: relative references of HTML are resolved, and nothing else is
// changed.
func TestContentReferences(t *testing.T) {
	for value, want := range map[string]string{
		`<a href="x">`: `<a href="http://e/d/x">`,
		`<A  CLASS=y HREF = ../x?a&amp;b TITLE=z>`: `<A  CLASS=y HREF = "http://e/x?a&amp;b" TITLE=z>`,
		`<img alt="a" src='//h/x'/>`:               `<img alt="a" src="http://h/x"/>`,
		`<img src=x/>`:                             `<img src="http://e/d/x/">`,
		`<img
 src=" x
">`: `<img
 src="http://e/d/x">`,
		`<a href="?q">`:                                                     `<a href="http://e/d/f?q">`,
		`<img src=a srcset="a 1x, /b  2x,c 3w">`:                            `<img src="http://e/d/a" srcset="http://e/d/a 1x, http://e/b  2x,http://e/d/c 3w">`,
		`<img srcset="a, b,">`:                                              `<img srcset="http://e/d/a, http://e/d/b,">`,
		`<img srcset="data:,a 1x, b 2x">`:                                   `<img srcset="data:,a 1x, http://e/d/b 2x">`,
		`<base href="/g/"><a href="x"></a>`:                                 `<base href="http://e/g/"><a href="http://e/g/x"></a>`,
		`<p title="<a href='x'>"><q cite=x>`:                                `<p title="<a href='x'>"><q cite="http://e/d/x">`,
		`<a title=" href='x'" href=y>`:                                      `<a title=" href='x'" href="http://e/d/y">`,
		`<script src=a>x("<a href=b>")</script><a href=b>`:                  `<script src="http://e/d/a">x("<a href=b>")</script><a href="http://e/d/b">`,
		`<style><a href=b>`:                                                 ``,
		`<!-- <a href=x> --><a href=y>`:                                     `<!-- <a href=x> --><a href="http://e/d/y">`,
		`<a href="#x"><a href=""><a href="mailto:a@e"><a href="http://h/">`: ``,
		`<a href><a href=><a hrefs=x>a href=x`:                              ``,
		`</a href=x><1 href=x><?x href=x><!x href=x>`:                       ``,
		`<a href="x`:  ``,
		`<a href="x>`: ``,
		`<`:           ``,
		``:            ``,
	} {
		if want == "" {
			want = value
		}
		assert.Equal(t, want, based(t, atom.HTML, value), value)
	}
	assert.Equal(t, "<!-- x --><svg/>", based(t, "image/svg+xml", "<!-- x --><svg/>"))
	assert.Equal(t, "a href=x", based(t, atom.PlainText, "a href=x"))
}

// TestContentReferencesAsBrowsersRead: a parser of HTML finds the same document, with
// resolved references.
func TestContentReferencesAsBrowsersRead(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	for range 3000 {
		var b strings.Builder
		for range 1 + random.IntN(6) {
			name := pick("a", "IMG", "p", "b", "script", "style", "textarea", "object", "form", "video")
			b.WriteString("<" + name)
			for range random.IntN(4) {
				quote := pick(`"`, `'`, "")
				value := pick("x", "../y", "/z?a=1&amp;b", "#f", "http://h/", "mailto:a", "a1", "é", "%20")
				if quote != "" {
					value += pick("", " ", "<", ">", " href=x ", "&quot;")
				}
				fmt.Fprintf(&b, "%s%s%s=%s%s%s%s", pick(" ", "\n", " / "), pick("href", "SRC", "title", "cite", "data", "poster", "class"),
					pick("", "", " "), pick("", "", "\n"), quote, value, quote)
			}
			b.WriteString(pick(">", " >") + pick("", "text", "a < b", "<!-- <a href=x> -->", "</p>", `"`, "&lt;a href=x&gt;"))
			if random.IntN(3) > 0 {
				b.WriteString("</" + name + ">")
			}
		}
		want, got := tokens(b.String()), tokens(based(t, atom.HTML, b.String()))
		require.Len(t, got, len(want), b.String())
		for i, token := range want {
			for k, a := range token.Attr {
				if strings.Contains(" href src cite data poster ", " "+a.Key+" ") {
					if ref := strings.TrimSpace(a.Val); ref != "" && ref[0] != '#' && !strings.Contains(ref, ":") {
						assert.Contains(t, got[i].Attr[k].Val, "http://e/", b.String())
						continue
					}
				}
				assert.Equal(t, a, got[i].Attr[k], b.String())
			}
			token.Attr, got[i].Attr = nil, nil
			require.Equal(t, token, got[i], b.String())
		}
	}
}

func tokens(text string) (all []html.Token) {
	z := html.NewTokenizer(strings.NewReader(text))
	for z.Next() != html.ErrorToken {
		all = append(all, z.Token())
	}
	return all
}
