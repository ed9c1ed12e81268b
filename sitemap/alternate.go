package sitemap

import (
	"strings"

	"github.com/websync-go/websync"
)

// An Alternate is an <xhtml:link rel="alternate"> of an [Entry]: its page in another
// language, or for another medium. The alternates of a page for languages include the
// page itself.
type Alternate struct {
	Lang  string // hreflang: a language, perhaps with a script and a region, e.g. "de-CH", or "x-default"
	Href  string // absolute URL; required
	Media string // a media query, e.g. "only screen and (max-width: 640px)"
}

// Alternates returns the alternates of e: those for languages and those for media. It
// returns those that can be read even if there is an error, which joins an [*EntryError]
// for each of the others. Links of other relations are left out.
func (e *Entry) Alternates() ([]Alternate, error) {
	all, err := extensionsOf(e, XHTMLNamespace, "link", func(n *node) (Alternate, error) {
		if !n.isAlternate() {
			return Alternate{}, nil
		}
		a := Alternate{n.attr("hreflang"), strings.TrimSpace(n.attr("href")), n.attr("media")}
		if a.Href == "" {
			return a, &fault{message: "no href"}
		}
		return a, nil
	})
	kept := all[:0]
	for _, a := range all {
		if a.Href != "" {
			kept = append(kept, a)
		}
	}
	return kept, err
}

// Element returns the alternate as an extension element, for [Entry] Elements. It refuses
// with an [*EntryError] what the rules call an error.
func (a Alternate) Element() (websync.Element, error) {
	m := newMarkup("xhtml", XHTMLNamespace, "link")
	m.attr("rel", "alternate")
	m.attr("hreflang", a.Lang)
	m.attr("media", a.Media)
	m.attr("href", a.Href)
	m.b = append(m.b, "/>"...)
	return m.finish(XHTMLNamespace, "link")
}

// isAlternate tells whether n is an xhtml:link with the relation alternate.
func (n *node) isAlternate() bool {
	if n.space != XHTMLNamespace || n.local != "link" {
		return false
	}
	for rel := range strings.FieldsSeq(n.attr("rel")) {
		if strings.EqualFold(rel, "alternate") {
			return true
		}
	}
	return false
}

// checkAlternate tells what is wrong with an alternate by itself.
func (n *node) checkAlternate(found func(fault)) {
	if message := checkURL(n.attr("href")); message != "" {
		found(fault{ruleLangValue, n.local, n.attr("href"), "href: " + message})
	}
	switch lang := n.attr("hreflang"); {
	case lang == "" && n.attr("media") == "":
		found(fault{ruleLangValue, n.local, "", "an alternate without hreflang"})
	case lang != "" && !isHreflang(lang):
		found(fault{ruleLangValue, n.local, lang, "hreflang is not a language of two letters, perhaps with a script and a region, or x-default"})
	}
}

// isHreflang checks what Google takes: ISO 639-1, ISO 15924, ISO 3166-1.
func isHreflang(s string) bool {
	if strings.EqualFold(s, "x-default") {
		return true
	}
	lang, rest, more := strings.Cut(s, "-")
	if !letters(lang, 2, 2) {
		return false
	}
	if script, region, two := strings.Cut(rest, "-"); more && letters(script, 4, 4) {
		rest, more = region, two
	}
	return !more || letters(rest, 2, 2)
}
