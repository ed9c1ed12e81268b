package conformance

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
)

// metaRefresh returns the target of a redirect in HTML; "" if there is none.
func metaRefresh(body []byte, base string) string {
	z := webpage.NewTokenizer(body)
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if t.DataAtom != atom.Meta || !strings.EqualFold(attr(t, "http-equiv"), "refresh") {
				continue
			}
			_, target, ok := strings.Cut(attr(t, "content"), ";")
			name, url, named := strings.Cut(target, "=")
			if !ok || !named || !strings.EqualFold(strings.TrimSpace(name), "url") {
				continue
			}
			url = string(syntax.AppendResolved(nil, base, []byte(strings.Trim(strings.TrimSpace(url), `'"`))))
			if syntax.HTTPHost(url) > 0 && url != base {
				return url
			}
		}
	}
}

func attr(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// visibleText returns the text of HTML, in words with one space between them. Two pages
// that differ in scripts, styles and attributes only have the same text.
func visibleText(body []byte) string {
	var b strings.Builder
	z := webpage.NewTokenizer(body)
	hidden := 0
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case html.StartTagToken:
			if isHidden(z) {
				hidden++
			}
			b.WriteByte(' ')
		case html.EndTagToken:
			if isHidden(z) {
				hidden = max(0, hidden-1)
			}
			b.WriteByte(' ')
		case html.TextToken:
			if hidden == 0 {
				b.Write(z.Text())
			}
		}
	}
}

func isHidden(z *webpage.Tokenizer) bool {
	name, _ := z.TagName()
	switch atom.Lookup(name) {
	case atom.Script, atom.Style, atom.Template:
		return true
	}
	return false
}
