package sitemap

import (
	"cmp"
	"errors"
	"slices"
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
	found := func(rule Rule, value, message string) {
		report(rule.Finding("", 0, 0, n.Local, []byte(value), message))
	}
	to, app := n.Attr("href"), isApp(n)
	fault := ""
	if app {
		fault = appFault(to)
	} else {
		fault = syntax.URLFault(to)
	}
	if fault == "" && len(to) >= maxLoc {
		fault = "2,048 characters or more"
	}
	if fault != "" {
		found(ruleLangValue, to, "href: "+fault)
	}
	lang := n.Attr("hreflang")
	switch fault := hreflangFault(lang); {
	case lang == "" && n.Attr("media") == "" && !app:
		found(ruleLangValue, "", "an alternate without hreflang")
	case lang != "" && fault != "":
		found(ruleLangValue, lang, "hreflang: "+fault)
	case strings.EqualFold(lang, "es-LA") || strings.EqualFold(lang, "pt-LA"):
		found(ruleLangRegion, lang, "hreflang: LA is Laos, and Latin America has no code: name countries, or the language only")
	}
}

// isApp reports whether an alternate is a page of an app.
func isApp(n *element.Node) bool {
	scheme, _, _ := strings.Cut(href(n), ":")
	return strings.EqualFold(scheme, "android-app") || strings.EqualFold(scheme, "ios-app")
}

// appFault checks the URI of a page of an app: android-app://package/scheme/path or
// ios-app://number/scheme/path.
func appFault(uri string) string {
	kind, rest, _ := strings.Cut(uri, "://")
	app, page, _ := strings.Cut(rest, "/")
	scheme, path, _ := strings.Cut(page, "/")
	ios := strings.EqualFold(kind, "ios-app")
	switch {
	case ios && (app == "" || strings.Trim(app, "0123456789") != ""):
		return "not the number of an app after ios-app://"
	case !ios && !isPackage(app):
		return "not the name of a package after android-app://"
	case path == "":
		return "not a scheme and a path after the app: " + kind + "://" + app + "/scheme/path"
	case syntax.Scheme(scheme+":") == 0:
		return "not a scheme after the app"
	}
	return syntax.URLFault("https://app/" + path)
}

// isPackage reports whether s is the name of a package of Android: two or more names with
// dots between them.
func isPackage(s string) bool {
	names := strings.Split(s, ".")
	return len(names) > 1 && !slices.ContainsFunc(names, func(name string) bool {
		return name == "" || !syntax.IsAlpha(name[0]) || strings.ContainsFunc(name, func(c rune) bool {
			return c != '_' && (c > 'z' || !syntax.IsAlpha(byte(c)) && !syntax.IsDigit(byte(c)))
		})
	})
}

// hreflangFault returns why Google does not accept s, and what is right if it is known.
// It accepts codes of ISO 639-1, ISO 15924 and ISO 3166-1, and not the regions of
// UN M.49, such as 419.
func hreflangFault(s string) (fault string) {
	if strings.EqualFold(s, "x-default") {
		return ""
	}
	hyphened := strings.ReplaceAll(s, "_", "-")
	lang, region, more := strings.Cut(hyphened, "-")
	script, after, two := strings.Cut(region, "-")
	if len(script) == 4 {
		region, more = after, two
	} else {
		script = ""
	}
	switch {
	case !syntax.IsLanguage(lang):
		fault = shorten(lang) + " is not a language of ISO 639-1, such as de"
	case script != "" && !syntax.IsScript(script):
		fault = shorten(script) + " is not a script of ISO 15924"
	case more && !syntax.IsCountry(region):
		fault = shorten(region) + " is not a country of ISO 3166-1, such as CH"
	case hyphened != s:
		fault = "an underscore instead of a hyphen"
	default:
		return ""
	}
	right := cmp.Or(syntax.LanguageMeant(lang), lang)
	if syntax.IsCountry(lang) && syntax.IsLanguage(region) {
		right, region = region, strings.ToUpper(lang)
	}
	for _, subtag := range []string{script, cmp.Or(syntax.CountryMeant(region), region)} {
		if subtag != "" {
			right += "-" + subtag
		}
	}
	if right != s && hreflangFault(right) == "" {
		fault += ": perhaps " + right
	}
	return fault
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
	if lang == "" || isApp(n) {
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
