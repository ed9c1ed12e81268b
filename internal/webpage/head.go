package webpage

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// maxHead is how many bytes of a page are searched for the end of its head.
const maxHead = 1 << 20

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
	Links []Link
}

var errMany = fmt.Errorf("the head of the page has more than %d links: %w", maxLinks, websync.ErrLimit)

var errLong = fmt.Errorf("the head of the page has no end in its first %d bytes: %w", maxHead, websync.ErrLimit)

// ReadHead reads the head of a page. It is liberal: it searches up to the end tag of the
// head, the start of the body, or the end of the page. page is the URL of the page; the
// first base element takes its place as the base of references. With the contentType of
// XML, such as application/xhtml+xml, any element may be empty, and none has raw text. If
// src fails, or the head does not end in maxHead or has more than 2,000 links, ReadHead
// returns what it has found, and the error.
func ReadHead(src io.Reader, page, contentType string) (Head, error) {
	text, failed := io.ReadAll(io.LimitReader(src, maxHead))
	return ParseHead(text, failed, page, contentType)
}

// ParseHead does the same for the beginning of a page that is in memory. Cut is why the
// page goes on after it; nil if it does not.
func ParseHead(text []byte, cut error, page, contentType string) (Head, error) {
	if len(text) >= maxHead {
		text, cut = text[:maxHead], errLong
	}
	h, base, err := scanHead(text, page, syntax.IsXML(contentType))
	h.resolve(cmp.Or(base, page))
	if err == io.EOF {
		err = cut
	}
	return h, err
}

// scanHead returns what a page states up to the end of its head, with targets that are
// not resolved, and its base; empty if it states none. The error is io.EOF if the text
// ends before the head.
func scanHead(text []byte, page string, isXML bool) (h Head, base string, err error) {
	z := NewTokenizer(text)
	z.AllowCDATA(isXML)
	inTitle := false
	for {
		token := z.Next()
		switch token {
		case html.ErrorToken:
			return h, base, z.Err()
		case html.TextToken:
			if inTitle && h.Title == "" {
				h.Title = title(z.Text())
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "head" {
				return h, base, nil
			}
			inTitle = false
		case html.StartTagToken, html.SelfClosingTagToken:
			if isXML {
				z.NextIsNotRawText()
			}
			name, more := z.TagName()
			inTitle = string(name) == "title" && !(isXML && token == html.SelfClosingTagToken)
			switch string(name) {
			case "body":
				return h, base, nil
			case "base":
				if base == "" {
					base = Resolve(page, link(z, more).Target)
				}
			case "link":
				l := link(z, more)
				if l.Target != "" && len(h.Links) == maxLinks {
					return h, base, errMany
				}
				if l.Target != "" {
					h.Links = append(h.Links, l)
				}
			}
		}
	}
}

// resolve makes the targets absolute, and drops those that are no URLs.
func (h *Head) resolve(base string) {
	links := h.Links[:0]
	for _, l := range h.Links {
		if l.Target = Resolve(base, l.Target); l.Target != "" {
			links = append(links, l)
		}
	}
	h.Links = links
}

// link returns a start tag as a link. Its target is href, not resolved.
func link(z *Tokenizer, more bool) (l Link) {
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if string(key) == "href" {
			l.Target = string(value)
			continue
		}
		if len(l.Params) < maxAttrs {
			l.Params = append(l.Params, LinkParam{Name: string(key), Value: string(value)})
		}
	}
	return l
}

// title returns the text of a title.
func title(text []byte) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(text[:min(len(text), maxTitle)]), "")), " ")
}
