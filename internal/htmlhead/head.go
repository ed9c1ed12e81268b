// Package htmlhead reads the links in the head of an HTML page (HTML §4.2.4).
package htmlhead

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/htmlscan"
	"github.com/websync-go/websync/internal/linkformat"
)

// MaxBytes is how many bytes of a page are searched for the end of its head.
const MaxBytes = 1 << 20

const (
	maxTitle = 1 << 10 // bytes
	maxLinks = 2000
	maxAttrs = 100 // of a link that are kept
)

// A Head is what the head of a page states.
type Head struct {
	Title string // without white space around it

	// Links are the link elements that lead somewhere, in their order. Their targets are
	// absolute, and their parameters the other attributes, 100 at most, with names in
	// lower case.
	Links []linkformat.Link
}

var errMany = fmt.Errorf("the head of the page has more than %d links: %w", maxLinks, websync.ErrLimit)

var errLong = fmt.Errorf("the head of the page has no end in its first %d bytes: %w", MaxBytes, websync.ErrLimit)

// Read reads the head of a page. It is liberal: it searches up to the end tag of the
// head, the start of the body, or the end of the page. page is the URL of the page; the
// first base element takes its place as the base of references. If src fails, or the head
// does not end in MaxBytes or has more than 2,000 links, Read returns what it has found,
// and the error.
func Read(src io.Reader, page string) (Head, error) {
	text, failed := io.ReadAll(io.LimitReader(src, MaxBytes))
	return Parse(text, failed, page)
}

// Parse does the same for the beginning of a page that is in memory. Cut is why the page
// goes on after it; nil if it does not.
func Parse(text []byte, cut error, page string) (Head, error) {
	if len(text) >= MaxBytes {
		text, cut = text[:MaxBytes], errLong
	}
	z := htmlscan.New(text)
	var h Head
	base, inTitle := "", false
	for {
		token := z.Next()
		end := token == html.ErrorToken
		switch token {
		case html.TextToken:
			if inTitle && h.Title == "" {
				h.Title = title(z.Text())
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			end, inTitle = string(name) == "head", false
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := string(name)
			switch inTitle = tag == "title"; {
			case tag == "body":
				end = true
			case tag == "base" && base == "":
				l := link(z, more)
				base = linkformat.Resolve(page, l.Target)
			case tag == "link":
				l := link(z, more)
				if l.Target == "" {
					break
				}
				if len(h.Links) == maxLinks {
					h.resolve(page, base)
					return h, errMany
				}
				h.Links = append(h.Links, l)
			}
		}
		if !end {
			continue
		}
		h.resolve(page, base)
		switch err := z.Err(); {
		case token != html.ErrorToken:
			return h, nil
		case err != io.EOF:
			return h, err
		}
		return h, cut
	}
}

// resolve makes the targets absolute, and drops those that are no URLs.
func (h *Head) resolve(page, base string) {
	if base == "" {
		base = page
	}
	links := h.Links[:0]
	for _, l := range h.Links {
		if l.Target = linkformat.Resolve(base, l.Target); l.Target != "" {
			links = append(links, l)
		}
	}
	h.Links = links
}

// link returns a start tag as a link. Its target is href, not resolved.
func link(z *htmlscan.Tokenizer, more bool) (l linkformat.Link) {
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if string(key) == "href" {
			l.Target = string(value)
			continue
		}
		if len(l.Params) < maxAttrs {
			l.Params = append(l.Params, linkformat.Param{Name: string(key), Value: string(value)})
		}
	}
	return l
}

// title returns the text of a title.
func title(text []byte) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(text[:min(len(text), maxTitle)]), "")), " ")
}
