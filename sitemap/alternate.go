package sitemap

import (
	"errors"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/syntax"
)

// An Alternate is an <xhtml:link rel="alternate"> of an [Entry]: its page in another
// language, or for another medium. The alternates of a page for languages include the
// page itself.
type Alternate struct {
	// hreflang: a language, perhaps with a script and a region, e.g. "de-CH", or
	// "x-default"
	Lang  string
	Href  string // absolute URL; required
	Media string // a media query, e.g. "only screen and (max-width: 640px)"
}

// Alternates returns the alternates of e: those for languages and those for media. Links
// of other relations are left out. If some alternates can't be read, it returns the
// others and an error that joins a [*websync.EntryError] for each.
func (e *Entry) Alternates() (all []Alternate, err error) {
	var errs []error
	for i := range e.Elements {
		x := &e.Elements[i]
		if x.Space != XHTMLNamespace || x.Local != "link" {
			continue
		}
		n, err := element.Parse(x)
		if err == nil && !isAlternate(n) {
			continue
		}
		if err == nil && href(n) == "" {
			err = errors.New("no href")
		}
		if err != nil {
			errs = append(errs, &websync.EntryError{Format: "sitemap", ID: e.Loc, Element: x.Local, Err: err})
			continue
		}
		all = append(all, Alternate{n.Attr("hreflang"), href(n), n.Attr("media")})
	}
	return all, errors.Join(errs...)
}

// Element returns the alternate as an extension element, for [Entry] Elements. It returns
// a [*websync.EntryError] if the alternate breaks a rule of severity error.
func (a Alternate) Element() (websync.Element, error) {
	m := element.New("xhtml", XHTMLNamespace, "link")
	m.Attr("rel", "alternate")
	m.Attr("hreflang", a.Lang)
	m.Attr("media", a.Media)
	m.Attr("href", a.Href)
	x, err := m.Element()
	if err != nil {
		return x, &websync.EntryError{Format: "sitemap", Element: "link", Err: err}
	}
	if _, wrong := extensions(nil).refusal(&x); wrong != nil {
		return websync.Element{}, refused("", &x, wrong)
	}
	return x, nil
}

// isAlternate reports whether n is an xhtml:link with the relation alternate.
func isAlternate(n *element.Node) bool {
	if n.Space != XHTMLNamespace || n.Local != "link" {
		return false
	}
	for rel := range strings.FieldsSeq(n.Attr("rel")) {
		if strings.EqualFold(rel, "alternate") {
			return true
		}
	}
	return false
}

func href(n *element.Node) string { return strings.TrimSpace(n.Attr("href")) }

// checkAlternate reports the faults of a single alternate.
func checkAlternate(n *element.Node, report func(websync.Finding)) {
	found := func(value, message string) {
		report(ruleLangValue.Finding("", 0, 0, n.Local, []byte(value), message))
	}
	to := n.Attr("href")
	fault := syntax.URLFault(to)
	if fault == "" && len(to) >= maxLoc {
		fault = "2,048 characters or more"
	}
	if fault != "" {
		found(to, "href: "+fault)
	}
	switch lang := n.Attr("hreflang"); {
	case lang == "" && n.Attr("media") == "":
		found("", "an alternate without hreflang")
	case lang != "" && !isHreflang(lang):
		found(lang, "hreflang is not a language of two letters, perhaps with a script and a region, or x-default")
	}
}

// isHreflang reports whether Google accepts s: codes of ISO 639-1, ISO 15924, ISO 3166-1.
func isHreflang(s string) bool {
	if strings.EqualFold(s, "x-default") {
		return true
	}
	lang, rest, more := strings.Cut(s, "-")
	if !isLetters(lang, 2) {
		return false
	}
	if script, region, two := strings.Cut(rest, "-"); more && isLetters(script, 4) {
		rest, more = region, two
	}
	return !more || isLetters(rest, 2)
}

// isLetters reports whether s consists of n ASCII letters.
func isLetters(s string, n int) bool {
	for i := range len(s) {
		if !syntax.IsAlpha(s[i]) {
			return false
		}
	}
	return len(s) == n
}

// An alternateSet holds the alternates of one page for languages.
type alternateSet struct {
	loc   string
	langs map[string]bool
	self  bool
	twice []string
}

func (s *alternateSet) has(n *element.Node) bool { return s.langs[strings.ToLower(n.Attr("hreflang"))] }

func (s *alternateSet) add(n *element.Node) {
	lang := strings.ToLower(n.Attr("hreflang"))
	if lang == "" {
		return
	}
	if s.langs == nil {
		s.langs = make(map[string]bool)
	}
	if s.langs[lang] {
		s.twice = append(s.twice, lang)
	}
	s.langs[lang] = true
	s.self = s.self || href(n) == s.loc
}

// lacksSelf reports whether there are alternates for languages, but the page itself is
// not among them.
func (s *alternateSet) lacksSelf() bool { return len(s.langs) > 0 && !s.self }

func (s *alternateSet) check(report func(websync.Finding)) {
	for _, lang := range s.twice {
		report(ruleLangTwice.Finding("", 0, 0, "link", []byte(lang), "two alternates for one language"))
	}
	if s.lacksSelf() {
		report(ruleLangSelf.Finding("", 0, 0, "link", []byte(s.loc), "none of the alternates is the page itself"))
	}
}
