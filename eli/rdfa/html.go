package rdfa

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/webpage"
)

// parseHTML reads the document as HTML.
func (d *extraction) parseHTML(p *processor, charset string) error {
	p.host = html5
	data, err := d.document.All()
	if err != nil {
		return err
	}
	return d.parsePage(p, data, charset)
}

// parsePage reads HTML.
func (d *extraction) parsePage(p *processor, data []byte, charset string) error {
	d.text = webpage.Decode(data, charset, func(value, message string) {
		d.report(ruleEncoding, "", value, message)
	})
	if d.maxNodes > 0 {
		if err := checkTree(d.text, d.maxNodes); err != nil {
			return d.document.Fail(0, 0, "", err)
		}
	}
	// without scripting, what <noscript> contains are elements
	tree, err := html.ParseWithOptions(bytes.NewReader(d.text), html.ParseOptionEnableScripting(false))
	if err != nil {
		// the bytes are in memory: the only error is that elements are nested too deep
		return d.document.Fail(0, 0, "", fmt.Errorf("%w: %w", err, websync.ErrLimit))
	}
	p.fromHTML = true
	for p.root = tree.FirstChild; p.root != nil && p.root.Type != html.ElementNode; {
		p.root = p.root.NextSibling
	}
	if p.root == nil {
		return d.document.Fail(0, 0, "", errNoRoot)
	}
	if d.to != nil && webpage.ContainsFold(d.text, "<html") && !webpage.ContainsFold(d.text, "</html") {
		d.report(ruleEnd, "html", "", "a start tag of html, but no end tag: the page may be cut short")
	}
	return nil
}

// base returns the base of the document: that of the first <base> with an @href in HTML,
// else its URL.
func (d *extraction) base(p *processor) string {
	if p.host.isHTML() {
		if href, ok := baseHref(p.root, p); ok {
			return p.clean(p.baseOf(d.url, trim(href)), "href")
		}
	}
	return d.url
}

func baseHref(n *html.Node, p *processor) (href string, ok bool) {
	if is(n, "base") {
		for _, a := range n.Attr {
			if a.Key == "href" {
				return a.Val, true
			}
		}
	}
	if p.isTemplate(n) {
		return "", false
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if child.Type != html.ElementNode {
			continue
		}
		if href, ok = baseHref(child, p); ok {
			return href, true
		}
	}
	return "", false
}

// defaultLang returns the language that <meta http-equiv="content-language"> sets (HTML
// §4.2.5.3). The first one with a single language counts.
func (p *processor) defaultLang() string {
	if !p.host.hasHTMLRules() {
		return ""
	}
	for head := p.root.FirstChild; head != nil; head = head.NextSibling {
		if !is(head, "head") {
			continue
		}
		for n := head.FirstChild; n != nil; n = n.NextSibling {
			if !is(n, "meta") || !strings.EqualFold(attr(n, "http-equiv"), "content-language") {
				continue
			}
			if lang := trim(attr(n, "content")); lang != "" && !strings.Contains(lang, ",") {
				lang, _ = cutValue(lang)
				return p.lang(lang)
			}
		}
	}
	return ""
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
