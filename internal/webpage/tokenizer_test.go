package webpage

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/testing/racing"
)

func tag(attrs int, form string) string {
	var b strings.Builder
	b.WriteString("<p")
	for i := range attrs {
		fmt.Fprintf(&b, form, i)
	}
	return b.String() + ">"
}

func TestMaxAttrs(t *testing.T) {
	for _, form := range []string{" a%d", " a%d=b", " a%d = b", "\na%d='>'", `/a%d="<p x y z>"`, "\f=%d=x", ` a%d=""`, ` a %d=/`, "/ / a%d /"} {
		each := strings.Count(form, "a %d") + 1
		for n, want := range map[int]error{MaxAttrs / each: io.EOF, MaxAttrs/each + 1: ErrAttrs} {
			z := NewTokenizer([]byte("text<br/>" + tag(n, form)))
			for z.Next() != html.ErrorToken {
			}
			assert.Equal(t, want, z.Err(), "%d of %q", n, form)
			assert.Equal(t, html.ErrorToken, z.Next())
		}
	}
	assert.ErrorIs(t, ErrAttrs, websync.ErrLimit)
}

func TestMaxToken(t *testing.T) {
	racing.Skip(t)
	for _, around := range [][2]string{{"<p>", "<p>"}, {"<!--", "-->"}, {"<p title='", "'>"}, {"<script>", "</script>"}} {
		for n, want := range map[int]error{MaxToken / 2: io.EOF, MaxToken + 1: errToken} {
			z := NewTokenizer([]byte(around[0] + strings.Repeat("x", n) + around[1]))
			for z.Next() != html.ErrorToken {
			}
			assert.Equal(t, want, z.Err(), "%d in %s", n, around[0])
		}
	}
	assert.ErrorIs(t, errToken, websync.ErrLimit)
}

// What looks like tags in a script is text.
func TestRawText(t *testing.T) {
	for _, element := range []string{"script", "STYLE", "title", "textarea", "noscript", "iframe", "xmp", "noembed", "noframes", "plaintext"} {
		page := []byte("<" + element + ">" + tag(MaxAttrs+1, " a%d") + "</" + element + ">")
		z := NewTokenizer(page)
		for z.Next() != html.ErrorToken {
		}
		assert.Equal(t, io.EOF, z.Err(), element)
		z = NewTokenizer(page)
		z.Next()
		z.NextIsNotRawText()
		assert.Equal(t, html.ErrorToken, z.Next(), element)
		assert.Equal(t, ErrAttrs, z.Err(), element)
	}
}

// FuzzTokens: the tokens are those of package html, up to the first tag with more than
// three attributes.
func FuzzTokens(f *testing.F) {
	for _, page := range []string{
		"<!DOCTYPE html><p a b=c d='e' f>x</p>", "<script><p a b c d></script><p/a/b/c/d>", "<title></title><a =b=c ==d e = 'f' g>", "<a\x00b c=d></a e f g h><br/>", "<plaintext><p a b c d",
	} {
		f.Add([]byte(page))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		const most = 3
		z, want := NewTokenizer(page), html.NewTokenizer(bytes.NewReader(page))
		z.most = most
		for {
			token, other := z.Next(), want.Next()
			attrs := 0
			if other == html.StartTagToken || other == html.SelfClosingTagToken {
				for _, more := want.TagName(); more; attrs++ {
					_, _, more = want.TagAttr()
				}
			}
			if z.Err() == ErrAttrs {
				separators := bytes.Count(want.Raw(), []byte(" ")) + len(bytes.FieldsFunc(want.Raw(), func(c rune) bool { return strings.ContainsRune("\t\n\r\f/='\"", c) }))
				require.Greater(t, separators, most, "%q", want.Raw())
				return
			}
			require.LessOrEqual(t, attrs, most, "%q", want.Raw())
			if other == html.StartTagToken || other == html.SelfClosingTagToken {
				require.LessOrEqual(t, attrs, z.Attrs, "%q", want.Raw())
			}
			require.Equal(t, other, token)
			require.Equal(t, want.Raw(), z.Raw())
			require.Equal(t, want.Err(), z.Err())
			if token == html.ErrorToken {
				return
			}
		}
	})
}
