package conformance

import (
	"bytes"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
)

// checkFullText gets one full text of a legal resource, as annex 4.2 finds it.
func (k *check) checkFullText(p *page, r *eli.LegalResource) {
	k.checked(ruleFullText, ruleOrder)
	choices := r.FullText(eli.Preferences{Strict: true})
	if len(choices) == 0 {
		if choices = r.FullText(eli.Preferences{}); len(choices) > 0 {
			k.findPage(asWarn, ruleOrder, p.candidate.url, "media_type", "",
				"by the annex's steps no full text is found; clients that read media types in other forms find one")
		}
	}
	if len(choices) == 0 || len(choices[0]) == 0 {
		k.findPage(ruleFullText.Severity, ruleFullText, p.candidate.url, "", "",
			"the metadata lead to no full text in HTML, XHTML, XML or PDF")
		return
	}
	var fault string
	for _, c := range choices[0] {
		if k.ctx.Err() != nil {
			return
		}
		own := c.URL == c.Format && !isExemplified(r, c.Format)
		if own {
			k.checked(ruleOwnURI)
		}
		if fault = k.tryText(p, c); fault == "" {
			k.pages.steps[c.Step]++
			return
		}
		if own {
			k.findPage(ruleOwnURI.Severity, ruleOwnURI, p.candidate.url, "", c.URL,
				"the URI of a format without is_exemplified_by must return the document: "+fault)
		}
	}
	k.findPage(ruleFullText.Severity, ruleFullText, p.candidate.url, "", choices[0][len(choices[0])-1].URL,
		"the full text can't be obtained: "+fault)
}

// isExemplified reports whether a format has is_exemplified_by.
func isExemplified(r *eli.LegalResource, format string) bool {
	return slices.ContainsFunc(r.Expressions, func(x eli.Expression) bool {
		return slices.ContainsFunc(x.Formats, func(f eli.Format) bool { return f.URI == format && len(f.ExemplifiedBy) > 0 })
	})
}

// tryText gets a full text and returns what is wrong with it; "" if nothing is.
func (k *check) tryText(p *page, c eli.Candidate) string {
	if sameURL(c.URL, p.candidate.url) || sameURL(c.URL, p.download.url) {
		return "" // the page itself is the full text
	}
	d := k.getStart(c.URL)
	switch {
	case d.err != nil:
		return d.err.Error()
	case len(bytes.TrimSpace(d.body)) == 0:
		return "the answer is empty"
	}
	if fault := typeFault(c.MediaType, &d); fault != "" {
		return fault
	}
	if k.isSoft404(c.URL, &d) {
		return "the answer is the one for what does not exist"
	}
	return ""
}

// typeFault returns how an answer differs from the media type that the metadata state.
func typeFault(want string, d *download) string {
	sent, _, err := mime.ParseMediaType(d.contentType)
	if err != nil {
		sent = strings.ToLower(strings.TrimSpace(syntax.Essence(d.contentType)))
	}
	is := sniff(d.body)
	switch {
	case want == "" || isKin(want, is):
		return ""
	case is == "" && (sent == "" || isKin(want, sent)):
		return ""
	case is == "":
		is = sent
	}
	return fmt.Sprintf("the metadata state %s, and the answer is %s", want, is)
}

// isKin reports whether bytes of one media type may be meant by the other: XHTML is XML,
// and is often sent as HTML, and application/html and application/x-pdf are other names.
func isKin(want, is string) bool {
	both := func(part string) bool { return strings.Contains(want, part) && strings.Contains(is, part) }
	return want == is || both("html") || both("pdf") || syntax.IsXML(want) && syntax.IsXML(is)
}

// sniff returns the media type that the first bytes show, or "".
func sniff(body []byte) string {
	start := bytes.TrimLeft(bytes.TrimPrefix(body, []byte(document.ByteOrderMark)), " \t\r\n")
	head := strings.ToLower(string(start[:min(len(start), 1024)]))
	switch {
	case strings.HasPrefix(head, "%pdf-"):
		return "application/pdf"
	case strings.HasPrefix(head, "<!doctype html"), strings.HasPrefix(head, "<html"):
		return htmlType
	case strings.HasPrefix(head, "<?xml") && strings.Contains(head, "<html"):
		return "application/xhtml+xml"
	case strings.HasPrefix(head, "<?xml"):
		return "application/xml"
	}
	return ""
}

// isSoft404 reports whether an answer is the one that the host gives for a URL that
// surely does not exist.
func (k *check) isSoft404(url string, d *download) bool {
	_, end := syntax.OriginOf(url)
	path := url[end:][:syntax.IndexAny(url[end:], "?#")]
	// Servers hand the first steps of paths to different programs.
	part := url[:end]
	if steps := strings.SplitN(path, "/", 3); len(steps) == 3 {
		part += "/" + steps[1]
	}
	missing, ok := k.pages.missing[part]
	if !ok {
		probe := url[:end] + path[:strings.LastIndexByte(path, '/')+1] +
			fmt.Sprintf("no-such-document-%016x", k.list.sampler.rank([]byte(url)))
		got := k.getStart(probe)
		missing = &got
		k.pages.missing[part] = missing
	}
	if missing.err != nil || len(missing.body) == 0 {
		return false // as it should be
	}
	return bytes.Equal(missing.body, d.body) || sniff(d.body) == htmlType && visibleText(missing.body) == visibleText(d.body)
}

// reportSteps reports how the full texts were found.
func (k *check) reportSteps() {
	for _, step := range slices.Sorted(maps.Keys(k.pages.steps)) {
		k.add(ruleOrder, websync.Finding{
			Severity: websync.SeverityInfo, Document: k.sitemap.Name, Value: step,
			Message: fmt.Sprintf("the full text of %d pages was found by step %s", k.pages.steps[step], step),
		})
	}
}
