package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
)

// pageRules returns the rules that a visit of pages checks.
func pageRules() []*Rule {
	return append(ruleSet.between("P4-040", "P4-046"), ruleSynonym, ruleFullText, ruleOwnURI, ruleOrder)
}

// ofELI are the rules of package eli, without their prefix. Findings of rules that are
// not here are dropped.
var ofELI = mappings([]mappingRow{
	{"namespace prefix spelling term inverse", mapping{ruleOntology, asError}},
	{"literal level language date dates", mapping{ruleOntology, asWarn}},
	{"uri", mapping{ruleDescribes, asError}},
	{"variant", mapping{ruleDescribes, asWarn}},
	{"media-type", mapping{ruleMediaType, asWarn}},
})

// A pageFacts is what is known of the pages that were visited.
type pageFacts struct {
	visited, read, bad int                  // pages; those that were read; those without metadata as demanded
	held               []ProfilePage        // for the profile
	ends               map[string]string    // the ELI of each URL that a page was found at
	subjects           map[string]string    // the ELI whose page describes a URI
	steps              map[string]int       // of annex 4.2
	missing            map[string]*download // answers for what does not exist, by the part of a site
}

// visit visits a sample of pages.
func (k *check) visit() error {
	k.pages.ends, k.pages.subjects = make(map[string]string), make(map[string]string)
	k.pages.steps, k.pages.missing = make(map[string]int), make(map[string]*download)
	if k.Page.Name != "" {
		return k.checkGiven()
	}
	sample := k.sample()
	switch {
	case k.Fetcher == nil:
		k.skip(NeedsHTTP, "No pages were requested: only files were checked.", pageRules()...)
		return nil
	case len(sample) == 0:
		k.skip(NeedsPages, "No page was sampled.", pageRules()...)
		return nil
	}
	for i, c := range sample {
		if err := k.ctx.Err(); err != nil {
			return err
		}
		if k.Progress != nil {
			k.Progress(i, len(sample), c.url)
		}
		k.result.Sample = append(k.result.Sample, c.url)
		k.visitPage(c)
	}
	k.result.Pages = k.pages.visited
	k.skip(NeedsPages, "No page had a format without is_exemplified_by.", ruleOwnURI)
	k.skip(NeedsPages, "None of the pages could be read, or had what the rule is about.", pageRules()...)
	k.reportSteps()
	return nil
}

// checkGiven checks the page that was given.
func (k *check) checkGiven() error {
	k.result.Page = new(Document)
	s := &source{Input: k.Page, document: k.result.Page}
	defer s.close()
	s.document.Name, s.document.Kind = s.Name, "page"
	p := &page{candidate: candidate{url: s.Name}}
	if s.Open == nil {
		k.visitPage(p.candidate)
		k.result.Pages = k.pages.visited
	} else if err := k.readGiven(s, p); err != nil {
		s.document.Error = err.Error()
	}
	s.document.URL = s.URL
	for i := range k.states {
		s.document.Errors += k.states[i].errors
		s.document.Warnings += k.states[i].warnings
	}
	k.skip(NeedsPages, "The page could not be read, or does not have what the rule is about.", pageRules()...)
	return nil
}

// readGiven checks the bytes of the page that was given.
func (k *check) readGiven(s *source, p *page) error {
	src, err := s.Open()
	if err == nil {
		p.body, err = io.ReadAll(io.LimitReader(src, maxPage+1))
		if err = errors.Join(err, src.Close()); err == nil && len(p.body) > maxPage {
			err = fmt.Errorf("more than %d bytes: %w", maxPage, websync.ErrLimit)
		}
	}
	if err != nil {
		return err
	}
	p.contentType = cmp.Or(s.ContentType, htmlType)
	p.download.url = cmp.Or(s.URL, s.Name)
	if syntax.HTTPHost(p.download.url) == 0 {
		p.download.url = "https://unknown.invalid/" // which URL it has is not known
	}
	if syntax.HTTPHost(s.Name) == 0 {
		if uri := k.subject(p); uri != "" {
			p.candidate.url = uri
		}
	}
	k.pages.visited++
	k.checkPage(p)
	return nil
}

// subject returns the first legal resource that a page describes; "" if there is none.
func (k *check) subject(p *page) string {
	g, err := eli.ReadPage(p.body, p.download.url, p.contentType, k.Extractors, nil)
	if err != nil {
		return ""
	}
	_, err = g.Resource(p.download.url)
	if other, ok := errors.AsType[*eli.ResourceError](err); ok && len(other.Described) > 0 {
		return other.Described[0]
	}
	return ""
}

// sample returns the pages to visit: half of them are those of the last visit, so that
// changes show.
func (k *check) sample() []candidate {
	chosen := k.list.sampler.chosen()
	n := k.list.sampler.n
	var all []candidate
	if k.Last != nil {
		for _, page := range k.Last.Pages {
			if len(all) < n/2 && k.list.table.Find(page.URL) != nil {
				all = append(all, candidate{url: page.URL, lastMod: k.list.revisit[page.URL]})
			}
		}
	}
	for _, c := range chosen {
		if len(all) < n && !slices.ContainsFunc(all, func(held candidate) bool { return held.url == c.url }) {
			all = append(all, c)
		}
	}
	return all
}

// A download is an answer, or its beginning.
type download struct {
	url, contentType string
	body             []byte
	err              error
}

const (
	maxPage  = document.PageBytes
	maxStart = 64 << 10 // that is read of a full text
	htmlType = "text/html"
)

// getPage requests a page with a Fetcher.
func (k *check) getPage(fetcher harvest.Fetcher, url string) download {
	return k.get(fetcher, &harvest.Request{URL: url, Accept: htmlType, MaxBytes: maxPage}, maxPage)
}

// getStart requests a file and reads its beginning.
func (k *check) getStart(url string) download {
	return k.get(k.Fetcher, &harvest.Request{URL: url, MaxBytes: -1}, maxStart)
}

// get makes a request and reads at most limit bytes of the answer.
func (k *check) get(fetcher harvest.Fetcher, req *harvest.Request, limit int64) download {
	req.Root, req.Interval = k.rootFor(req.URL), k.interval()
	resp, err := fetcher.Fetch(k.ctx, req)
	if err != nil {
		return download{url: req.URL, err: err}
	}
	d := download{url: cmp.Or(resp.URL, req.URL)}
	if types := resp.Header["Content-Type"]; len(types) > 0 {
		d.contentType = types[0]
	}
	d.body, d.err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	d.body = d.body[:min(int64(len(d.body)), limit)]
	resp.Body.Close() // the rest of a long answer is not needed
	return d
}

// A page is a page that was read.
type page struct {
	candidate
	download
	graph  *eli.Graph
	failed bool // a rule on the metadata
}

// find reports a departure of the page.
func (k *check) findOn(p *page, r *Rule, element, value, message string) {
	p.failed = true
	k.findPage(r.Severity, r, p.candidate.url, element, value, message)
}

func (k *check) visitPage(c candidate) {
	k.pages.visited++
	p := &page{candidate: c}
	p.download = k.getPage(k.Fetcher, c.url)
	if k.ctx.Err() == nil {
		k.checkPage(p)
	}
}

// checkPage checks a page that was received.
func (k *check) checkPage(p *page) {
	if !k.checkAnswer(p) {
		if p.failed {
			k.pages.bad++
		}
		return
	}
	k.pages.read++
	k.checkTwins(p)
	k.checkMetadata(p)
	if p.failed {
		k.pages.bad++
	}
}

// checkAnswer checks what a page was answered with, and reports whether its metadata can
// be read.
func (k *check) checkAnswer(p *page) bool {
	for hops := 0; ; hops++ {
		media := strings.ToLower(strings.TrimSpace(syntax.Essence(p.contentType)))
		switch {
		case errors.Is(p.err, harvest.ErrTemporary) || errors.Is(p.err, harvest.ErrNotYet):
			k.findPage(asWarn, rulePage, p.candidate.url, "", "", "the page could not be checked now: "+p.err.Error())
			return false
		case p.err != nil:
			k.findOn(p, rulePage, "", "", "the request must lead to a page: "+p.err.Error())
			return false
		case len(strings.TrimSpace(string(p.body[:min(len(p.body), 4096)]))) == 0:
			k.findOn(p, rulePage, "", "", "the answer is empty")
			return false
		case !syntax.IsPage(media):
			k.findOn(p, rulePage, "Content-Type", p.contentType, "the answer to a request for text/html must be HTML")
			return false
		}
		if p.graph = k.readGraph(p); p.graph == nil {
			return false
		}
		target := ""
		if !hasELI(p.graph) && k.Fetcher != nil {
			target = metaRefresh(p.body, p.download.url)
		}
		if target == "" {
			k.checked(rulePage)
			return true
		}
		if hops == 10 {
			k.findOn(p, rulePage, "meta", target, "more than 10 redirects")
			return false
		}
		k.findPage(asWarn, rulePage, p.candidate.url, "meta", target, "the page redirects in HTML: not every client follows that")
		p.download = k.getPage(k.Fetcher, target)
	}
}

// readGraph extracts the metadata of a page. It returns nil if they can't be read.
func (k *check) readGraph(p *page) *eli.Graph {
	g, err := eli.ReadPage(p.body, p.download.url, p.contentType, k.Extractors, func(f websync.Finding) { k.foundOnPage(p, f) })
	if err != nil {
		k.findOn(p, ruleMetadata, "", "", "the metadata can't be read: "+err.Error())
		return nil
	}
	return g
}

// foundOnPage passes on what package eli finds.
func (k *check) foundOnPage(p *page, f websync.Finding) {
	name, ours := strings.CutPrefix(f.Rule, "eli-")
	if as := ofELI[name]; ours && as.rule != nil {
		p.failed = p.failed || as.rule == ruleDescribes
		own := as.rule.Finding(p.candidate.url, f.Line, f.Column, f.Element, []byte(f.Value), f.Message)
		own.Severity = min(f.Severity, as.most)
		k.add(as.rule, own)
	}
}

// hasELI reports whether a graph has a term of the ontology.
func hasELI(g *eli.Graph) bool {
	return slices.ContainsFunc(g.Triples(), func(t rdf.Triple) bool {
		return strings.HasPrefix(t.Predicate.Value, eli.Ontology) || t.Predicate.Value == rdf.Type &&
			strings.HasPrefix(t.Object.Value, eli.Ontology)
	})
}

// checkTwins looks for two ELIs that lead to one page.
func (k *check) checkTwins(p *page) {
	at := p.download.url
	if other, ok := k.pages.ends[at]; ok && other != p.candidate.url {
		k.findPage(asWarn, ruleSynonym, p.candidate.url, "", other, "the ELI leads to the page of another one")
		return
	}
	k.pages.ends[at] = p.candidate.url
}

// checkMetadata checks what a page describes.
func (k *check) checkMetadata(p *page) {
	k.checked(ruleMetadata)
	if !hasELI(p.graph) {
		k.checkCloaked(p)
		return
	}
	k.checked(ruleOntology, ruleDescribes)
	if k.Page.Name == "" {
		k.checked(ruleSynonym)
	}
	k.hold(p)
	r, err := p.graph.Resource(p.candidate.url)
	if err != nil {
		k.checkOtherSubject(p, err)
		return
	}
	k.checkSubject(p, r)
	k.checkTree(p, r)
	if k.Page.Name == "" {
		k.checkTargets(p, r)
	}
	if k.Fetcher == nil {
		k.skip(NeedsHTTP, "The full text was not requested: only a file was checked.", ruleFullText, ruleOwnURI, ruleOrder)
		return
	}
	k.checkFullText(p, r)
}

// checkCloaked reports a page without metadata, and finds out whether the crawler of a
// search engine gets them.
func (k *check) checkCloaked(p *page) {
	const message = "the page must hold metadata with terms of the ELI ontology"
	if k.Crawler != nil {
		d := k.getPage(k.Crawler, p.candidate.url)
		if d.err == nil {
			g, err := eli.ReadPage(d.body, d.url, d.contentType, k.Extractors, nil)
			if err == nil && hasELI(g) {
				k.findOn(p, ruleMetadata, "", "cloaked",
					message+" for every client: only the crawlers of search engines get them")
				return
			}
		}
	}
	k.findOn(p, ruleMetadata, "", "", message)
}

// checkOtherSubject reports a page that describes something else.
func (k *check) checkOtherSubject(p *page, err error) {
	other, _ := errors.AsType[*eli.ResourceError](err)
	value := ""
	if other != nil && len(other.Described) > 0 {
		value = other.Described[0]
	}
	k.findOn(p, ruleDescribes, "", value, "the metadata must describe the URI that was requested")
	if other == nil {
		return
	}
	for _, uri := range other.Described {
		first, seen := k.pages.subjects[uri]
		switch {
		case k.list.table.Find(uri) != nil:
			k.findPage(ruleSynonym.Severity, ruleSynonym, p.candidate.url, "", uri,
				"the page describes another ELI, which is listed, too: the URL is a synonym")
			return
		case seen && first != p.candidate.url:
			k.findPage(ruleSynonym.Severity, ruleSynonym, p.candidate.url, "", uri,
				"the page describes the same ELI as that of "+websync.RedactURL(first))
			return
		}
		k.pages.subjects[uri] = p.candidate.url
	}
}

// legalResources are the classes of legal resources in the ontology.
var legalResources = []string{"LegalResource", "LegalResourceSubdivision", "ComplexWork", "Work"}

const sameAs = "http://www.w3.org/2002/07/owl#sameAs"

// checkSubject checks the legal resource itself.
func (k *check) checkSubject(p *page, r *eli.LegalResource) {
	switch {
	case r.IsA(legalResources...):
	case r.IsA("LegalExpression", "Expression", "Format", "Manifestation"):
		k.findPage(ruleResources.Severity, ruleResources, p.candidate.url, "", strings.Join(r.Types, " "),
			"the page says that the URL is that of an expression or a format")
	default:
		k.findOn(p, ruleDescribes, "", strings.Join(r.Types, " "),
			"the metadata must give the legal resource the type LegalResource")
	}
	if r.URI != "" {
		if first, seen := k.pages.subjects[r.URI]; seen && first != p.candidate.url {
			k.findPage(ruleSynonym.Severity, ruleSynonym, p.candidate.url, "", r.URI,
				"the page describes the same ELI as that of "+websync.RedactURL(first))
		}
		k.pages.subjects[r.URI] = p.candidate.url
	}
	for _, same := range r.Strings(sameAs) {
		if same != p.candidate.url && k.list.table.Find(same) != nil {
			k.findPage(ruleSynonym.Severity, ruleSynonym, p.candidate.url, "sameAs", same,
				"the page says that the ELI is the same as another one that is listed")
		}
	}
}

// checkTree checks the expressions and formats.
func (k *check) checkTree(p *page, r *eli.LegalResource) {
	k.checked(ruleTree, ruleLanguages)
	described, linked := 0, []string(nil)
	whole := false
	for i := range r.Expressions {
		x := &r.Expressions[i]
		if x.Linked {
			linked = append(linked, x.URI)
			continue
		}
		described++
		whole = whole || len(x.Formats) > 0
	}
	if whole {
		k.checked(ruleMediaType)
	}
	switch {
	case described == 0:
		k.findOn(p, ruleTree, "is_realized_by", "", "the metadata must describe an expression")
	case !whole:
		k.findOn(p, ruleTree, "is_embodied_by", "", "the metadata must describe a format of an expression")
	}
	if len(linked) > 0 {
		k.findPage(websync.SeverityInfo, ruleLanguages, p.candidate.url, "is_realized_by", linked[0],
			fmt.Sprintf("%d of %d expressions are only linked to", len(linked), len(r.Expressions)))
	}
}

// checkTargets compares what a page links to with the list.
func (k *check) checkTargets(p *page, r *eli.LegalResource) {
	for i := range r.Expressions {
		x := &r.Expressions[i]
		k.checkLevel(p, "is_realized_by", x.URI, "an expression")
		for j := range x.Formats {
			k.checkLevel(p, "is_embodied_by", x.Formats[j].URI, "a format")
		}
	}
	k.checked(ruleComplete)
	for _, links := range []struct {
		name string
		uris []string
	}{{"has_member", r.HasMember}, {"is_member_of", r.IsMemberOf}, {"consolidated_by", r.ConsolidatedBy}} {
		for _, uri := range links.uris {
			there, end := syntax.OriginOf(uri)
			within := there != "" && there == k.list.prefix.origin &&
				strings.HasPrefix(syntax.PathOf(uri, end), k.list.prefix.dir)
			if within && k.isELI(uri) && k.list.table.Find(uri) == nil {
				k.findPage(asWarn, ruleComplete, p.candidate.url, links.name, uri,
					"the page links to a legal resource that the sitemap lacks; if it has no page of its own, that is right")
			}
		}
	}
}

// checkLevel reports an expression or a format that is listed.
func (k *check) checkLevel(p *page, element, uri, what string) {
	if uri != "" && uri != p.candidate.url && k.list.table.Find(uri) != nil {
		k.findPage(ruleResources.Severity, ruleResources, p.candidate.url, element, uri, "the sitemap must not list "+what)
	}
}
