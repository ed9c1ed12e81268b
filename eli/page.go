package eli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
)

// What is wrong with pages and their files, besides their metadata.
var (
	ruleRefresh = rules.Warning("html-redirect", sectionPages, "a page that redirects to another by HTML")
	ruleFormats = rules.Warning("formats", sectionPages, "more formats than are kept")
	ruleLinked  = rules.Warning("linked", sectionPages,
		"an expression that is only linked, and whose own page does not describe it")
	ruleFullTextGone = rules.Warning("full-text-gone", sectionFullText, "formats of which none is there")
	ruleFullTextNone = rules.Warning("full-text-none", sectionFullText, "formats of which none is among those to choose")
	ruleFormatType   = rules.Warning("format-type", sectionFullText,
		"a format that is sent with another media type than the metadata states")
)

// typeQuads is the media type of N-Quads.
const typeQuads = "application/n-quads"

// A page is the page of a legal resource, after redirects.
type page struct {
	uri         string // of the resource
	url         string // as requested
	final       string
	held        bool   // only graph is known: the page has not changed
	data        []byte // nil if held
	contentType string

	graph *Graph
	act   *LegalResource
}

// check returns an error if what was received is not a whole page. A page that may have
// been cut must have its end tag.
func (p *page) check(mayBeCut bool) error {
	switch kind := strings.ToLower(strings.TrimSpace(syntax.Essence(p.contentType))); {
	case len(p.data) == 0:
		return p.fault(errEmpty)
	case syntax.IsPage(kind):
	case (kind == "" || kind == "application/octet-stream" || kind == "text/plain") && startsAsMarkup(p.data):
	default:
		return p.fault(fmt.Errorf("the Content-Type is %.100q, and must be %s: %w", p.contentType, typeHTML,
			websync.ErrNotDocument))
	}
	if mayBeCut && !webpage.ContainsFold(p.data, "</html") {
		return p.fault(websync.ErrTruncated)
	}
	return nil
}

var errEmpty = errors.New("the answer is empty")

func (p *page) fault(err error) error { return fmt.Errorf("%s: %w", websync.RedactURL(p.final), err) }

func startsAsMarkup(data []byte) bool {
	data = bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	return len(data) > 0 && data[0] == '<'
}

// extraction is held while the metadata of a page is extracted. That takes several times
// the memory of the page, so all Sources of a process take turns.
var extraction sync.Mutex

// read extracts the metadata.
func (p *page) read(uri string, extractors []Extractor, report func(websync.Finding)) (err error) {
	extraction.Lock()
	defer extraction.Unlock()
	if p.graph, err = readPage(p.data, p.final, uri, p.contentType, extractors, report); err != nil {
		return err
	}
	p.act, err = p.graph.Resource(uri)
	return err
}

// describing extracts the metadata of the page of an expression.
func (p *page) describing(extractors []Extractor, report func(websync.Finding)) (*Graph, error) {
	extraction.Lock()
	defer extraction.Unlock()
	g, err := readPage(p.data, p.final, p.uri, p.contentType, extractors, report)
	if err != nil {
		return nil, err
	}
	if node, err := g.find(p.uri); err != nil {
		return nil, err
	} else if !g.describes(node) {
		return nil, &ResourceError{URI: p.uri, Err: ErrNotDescribed}
	}
	return g, nil
}

// restore reads the metadata that a Store holds.
func (p *page) restore(quads io.Reader) (err error) {
	if p.graph, _, err = ReadGraph(quads); err == nil {
		p.act, err = p.graph.Resource(p.uri)
	}
	p.held = err == nil
	return err
}

// refresh returns the URL to which the page redirects by HTML; "" if it does not.
func (p *page) refresh() string {
	z := webpage.NewTokenizer(p.data)
	base := p.final
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
		default:
			continue
		}
		name, _ := z.TagName()
		if tag := string(name); tag != "meta" && tag != "base" {
			continue
		}
		attrs := map[string]string{}
		for more := true; more; {
			var key, value []byte
			key, value, more = z.TagAttr()
			if _, ok := attrs[string(key)]; !ok {
				attrs[string(key)] = string(value)
			}
		}
		if href, ok := attrs["href"]; ok && string(name) == "base" {
			base = resolve(base, href)
		}
		if !strings.EqualFold(attrs["http-equiv"], "refresh") {
			continue
		}
		if target := resolve(base, refreshURL(attrs["content"])); target != "" && !samePage(target, p.final) &&
			!samePage(target, p.url) {
			return target
		}
	}
}

// refreshURL returns the URL in the content of a meta refresh, which is "0; url=…".
func refreshURL(content string) string {
	_, rest, ok := strings.Cut(strings.ReplaceAll(content, ",", ";"), ";")
	if !ok {
		return ""
	}
	rest = content[len(content)-len(rest):]
	if name, value, ok := strings.Cut(rest, "="); ok && strings.EqualFold(strings.TrimSpace(name), "url") {
		rest = value
	}
	return strings.Trim(strings.TrimSpace(rest), `"'`)
}

// resolve resolves a reference against a URL. It returns "" if the result is no HTTP URL.
func resolve(base, ref string) string {
	b, err := url.Parse(base)
	if err != nil || ref == "" {
		return ""
	}
	u, err := b.Parse(strings.TrimSpace(ref))
	if err != nil {
		return ""
	}
	u.Fragment, u.RawFragment = "", ""
	if absolute := u.String(); syntax.HTTPHost(absolute) > 0 {
		return absolute
	}
	return ""
}

// graphIRI returns the name of the graph of a resource: its URI, escaped if it is not an
// IRI.
func graphIRI(uri string) string {
	if rdf.IRI(uri).Check() == nil {
		return uri
	}
	return syntax.EscapeURL(uri)
}

// maxLinks limits the links of a resource.
const maxLinks = 1000

// links are the formats of a resource, each with the URLs of its file.
type links []formatLink

type formatLink struct {
	link websync.Link
	urls []string
}

// links returns a link to each format that has a URL.
func (r *LegalResource) links() links {
	var all links
	known := map[string]bool{}
	for i := range r.Expressions {
		x := &r.Expressions[i]
		for j := range x.Formats {
			f := &x.Formats[j]
			urls := append(slices.Clone(f.ExemplifiedBy), f.URI)
			urls = slices.DeleteFunc(urls, func(u string) bool { return syntax.HTTPHost(u) == 0 })
			if len(urls) == 0 || known[urls[0]] {
				continue
			}
			known[urls[0]] = true
			link := websync.Link{Rel: "alternate", Href: urls[0], Type: f.MediaType, Lang: x.Language}
			all = append(all, formatLink{link, urls})
		}
	}
	return all
}

// choose makes a candidate's URL that of its format. The result undoes that.
func (l links) choose(c *Candidate) (undo func()) {
	for i := range l {
		if x := &l[i]; slices.Contains(x.urls, c.URL) {
			before := x.link.Href
			x.link.Href = c.URL
			return func() { x.link.Href = before }
		}
	}
	return func() {}
}

// describe sets the links of a resource: all but its content.
func (l links) describe(r *websync.Resource) {
	r.Links = make([]websync.Link, 0, len(l))
	for i := range l {
		if l[i].link.Href != r.Content.Href {
			r.Links = append(r.Links, l[i].link)
		}
	}
}

// maxTitle limits the title of a resource, in bytes.
const maxTitle = 4096

// title returns the title in the first of some languages that has one, or else the first
// title. It prefers titles to short and alternative ones.
func (r *LegalResource) title(languages ...string) string {
	all := slices.DeleteFunc(append(r.AllTitles(), r.shortTitles()...), func(t Text) bool {
		return strings.TrimSpace(t.Value) == ""
	})
	if len(all) == 0 {
		return ""
	}
	best := all[0]
	for _, lang := range languages {
		i := slices.IndexFunc(all, func(t Text) bool {
			return lang != "" && (matchesLanguage(t.Lang, lang) || t.Lang != "" && matchesLanguage(lang, t.Lang))
		})
		if i >= 0 {
			best = all[i]
			break
		}
	}
	return cutText(strings.Join(strings.Fields(best.Value), " "), maxTitle)
}

func (r *LegalResource) shortTitles() []Text {
	all := slices.Concat(r.TitlesShort, r.TitlesAlternative)
	for i := range r.Expressions {
		all = append(all, r.Expressions[i].TitlesShort...)
		all = append(all, r.Expressions[i].TitlesAlternative...)
	}
	return all
}

// cutText returns the first bytes of a text, without half a character.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// isOfKind reports whether a Content-Type is that of the stated media type, or another
// one for the same format.
func isOfKind(contentType, stated string) bool {
	got := strings.ToLower(strings.TrimSpace(syntax.Essence(contentType)))
	if got == "" || stated == "" || got == stated || got == "application/octet-stream" {
		return true
	}
	a, b := kindOf(got), kindOf(stated)
	isPage := syntax.IsPage(a)
	return a == b || isPage == syntax.IsPage(b) && (isPage || syntax.IsXML(a) && syntax.IsXML(b))
}
