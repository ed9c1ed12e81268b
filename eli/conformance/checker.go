package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/syntax"
)

// An Input is the sitemap or the feed that is checked, or a document that an index lists.
type Input struct {
	// Name is a URL or a file name. Findings carry it. It is required.
	Name string

	// URL is where the document is published, after redirects. If empty, it is Name, if
	// that is a URL; otherwise it is not known, and what depends on it is not checked.
	URL string

	// ContentType is the header of that name of the answer that Open returns; empty if
	// none is known.
	ContentType string

	// Open returns the bytes of the document from the start. It may be called several
	// times. If nil, the document is fetched from Name.
	Open func() (io.ReadCloser, error)

	// Modified is the time of the Last-Modified header of the answer that Open returns,
	// if it comes from the web; otherwise zero.
	Modified time.Time
}

// A Checker checks a pair of an ELI sitemap and an ELI update feed. Set its fields before
// the first Check, which may be called several times.
type Checker struct {
	// Sitemap and Feed are the documents. One without a Name is a finding: the publisher
	// must offer both.
	Sitemap, Feed Input

	// Alone: a document without a Name was not given, and may well exist. What it is
	// needed for is not checked.
	Alone bool

	// Page, if it has a Name, is the page of a legal resource, which is checked by the
	// rules on pages. Its ELI is Name, if that is a URL, and otherwise the first legal
	// resource that it describes. Sitemap and Feed are usually empty then: Alone is taken
	// as set, and no sample of pages is visited.
	Page Input

	// Part returns a document that the index lists at a URL, if the index was opened with
	// Input.Open; the error says why there is none. If nil, or if the error matches
	// websync.ErrNotFound, the document is fetched if there is a Fetcher, and otherwise
	// not checked.
	Part func(loc string) (Input, error)

	// Fetcher gets documents, pages and robots.txt files. If nil, only what Open returns
	// is checked.
	Fetcher harvest.Fetcher

	// Crawler is a Fetcher that calls itself the crawler of a search engine. Pages in
	// which the Fetcher finds no metadata are requested again with it, to find out
	// whether the server hides them from other clients. It should share the gates of
	// hosts with the Fetcher. If nil, this is not checked.
	Crawler harvest.Fetcher

	// Sample is how many pages are visited. If zero, it is 30; if negative, none is. They
	// are chosen evenly from the kinds and years of acts in the paths of the ELIs. Seed
	// chooses others: the same Seed and sitemap give the same pages.
	Sample int
	Seed   uint64

	// Interval is the least time between two requests for pages of one host. If zero, it
	// is 5 seconds, as the specification demands; if negative, there is none besides that
	// of the Fetcher.
	Interval time.Duration

	// Extractors extract the metadata of pages. If nil, only RDFa is read.
	Extractors []eli.Extractor

	// IsELI reports whether a URL is an ELI of the publisher. If nil, it is one whose
	// path has the step "eli".
	IsELI func(url string) bool

	// Human checks the feed as one that people are to read, too (§3.3.4).
	Human bool

	// Last is the profile of an earlier visit; nil if there was none. Some rules can be
	// checked only with it.
	Last *Profile

	// Registry is the pairs that are registered at EUR-Lex; nil if they are not known.
	Registry []Pair

	// Now is the time of the check. If zero, it is that of the clock.
	Now time.Time

	// MaxBytes limits each document, decompressed. If zero, it is 1 GiB; if negative,
	// there is no limit.
	MaxBytes int64

	// MaxFindings limits the findings of one rule that Report receives. If zero, it is
	// 100; if negative, there is no limit. The counts of the Result have no limit.
	MaxFindings int

	// Report, if set, receives the findings, in the order in which they are made.
	Report func(websync.Finding)

	// Progress, if set, is called before each page is visited: done of total are visited.
	Progress func(done, total int, url string)
}

// Check checks the pair by all rules. A document that can't be read is a finding, and its
// Error is in the Result. The error is that of ctx, or says which field is wrong.
func (c *Checker) Check(ctx context.Context) (*Result, error) {
	for _, in := range []*Input{&c.Sitemap, &c.Feed, &c.Page} {
		if in.Name != "" && in.Open == nil && (c.Fetcher == nil || syntax.HTTPHost(in.Name) == 0) {
			return nil, fmt.Errorf("conformance: %q: a document needs Input.Open, or a URL and Checker.Fetcher",
				websync.RedactURL(in.Name))
		}
	}
	k := newCheck(ctx, c)
	defer k.close()
	for _, step := range []func() error{
		k.readFeed, k.readSitemap, k.comparePair, k.visit, k.compareVisits, k.register, k.derive,
	} {
		if err := step(); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return k.end(), nil
}

// A check is one call of Check.
type check struct {
	*Checker
	ctx    context.Context
	now    time.Time
	result Result
	states []state // by Rule.number

	sitemap, feed *source
	parts         []*Document         // that the index lists
	list          listing             // of the sitemap
	entries       docfetch.Table[day] // of the feed
	feedFacts     feedFacts
	pages         pageFacts
	robots        map[string]robots
}

func newCheck(ctx context.Context, c *Checker) *check {
	own := *c
	own.Alone = c.Alone || c.Page.Name != ""
	c = &own
	k := &check{Checker: c, ctx: ctx, now: c.Now, states: make([]state, len(ruleSet.rules))}
	if k.now.IsZero() {
		k.now = time.Now()
	}
	k.result.Version, k.result.Checked = 1, k.now.UTC().Truncate(time.Second)
	k.sitemap = &source{Input: c.Sitemap, document: &k.result.Sitemap}
	k.feed = &source{Input: c.Feed, document: &k.result.Feed}
	k.list.init(c)
	k.skip(CannotFail, "The specification leaves the names to the publisher: nothing can break the rule.", ruleNames)
	k.skip(CannotFail, "The specification allows other sitemaps: nothing can break the rule.", ruleOther)
	k.skip(CannotFail, "The specification allows other elements: nothing can break the rule.", ruleFeedOther)
	return k
}

func (k *check) close() {
	k.sitemap.close()
	k.feed.close()
}

// A position is where a finding is.
type position struct {
	source       *source
	line, column int
	element      string
}

// find reports a departure from a rule, with the severity of the rule.
func (k *check) find(r *Rule, at position, value, message string) {
	k.findAs(r.Severity, r, at, value, message)
}

// findAs reports a departure from a rule with another severity.
func (k *check) findAs(severity websync.Severity, r *Rule, at position, value, message string) {
	if at.source == nil {
		k.add(r, websync.Finding{Severity: severity, Value: value, Message: message})
		return
	}
	f := r.Finding(at.source.Name, at.line, at.column, at.element, []byte(value), message)
	f.Severity = severity
	d := at.source.document
	switch severity {
	case websync.SeverityError:
		d.Errors++
	case websync.SeverityWarning:
		d.Warnings++
	}
	k.add(r, f)
}

// findPage reports a departure of a page, or of what it leads to.
func (k *check) findPage(severity websync.Severity, r *Rule, url, element, value, message string) {
	f := r.Finding(url, 0, 0, element, []byte(value), message)
	f.Severity = severity
	k.add(r, f)
}

func (k *check) add(r *Rule, f websync.Finding) {
	f.Rule, f.Section = r.Name, r.Section
	s := &k.states[r.number]
	s.add(f)
	most := k.MaxFindings
	if most == 0 {
		most = 100
	}
	if k.Report != nil && (most < 0 || s.errors+s.warnings+s.notes <= most) {
		k.Report(f)
	}
}

// checked marks rules as checked: without a finding they pass.
func (k *check) checked(rules ...*Rule) {
	for _, r := range rules {
		k.states[r.number].checked = true
	}
}

// skip states why rules are not checked, unless they are, or a reason is known.
func (k *check) skip(reason Reason, why string, rules ...*Rule) {
	for _, r := range rules {
		if s := &k.states[r.number]; s.reason == "" {
			s.reason, s.why = reason, why
		}
	}
}

// note adds to what limits the check of rules.
func (k *check) note(text string, rules ...*Rule) {
	for _, r := range rules {
		s := &k.states[r.number]
		if s.note != "" {
			s.note += " "
		}
		s.note += text
	}
}

// status returns the outcome of a rule so far.
func (k *check) status(r *Rule) Status { return k.states[r.number].status() }

// isELI reports whether a URL is an ELI.
func (k *check) isELI(url string) bool {
	if k.IsELI != nil {
		return k.IsELI(url)
	}
	_, end := syntax.SplitHTTP(url)
	if end == 0 {
		return false
	}
	return strings.Contains(syntax.PathOf(url, end)+"/", "/eli/")
}

// end makes the Result, without secrets in URLs.
func (k *check) end() *Result {
	k.skip(NeedsDocument, "The documents do not have what the rule is about.", ruleSet.rules...)
	r := &k.result
	for _, d := range k.parts {
		r.Parts = append(r.Parts, *d)
	}
	redact(&r.Sitemap)
	redact(&r.Feed)
	if r.Page != nil {
		redact(r.Page)
	}
	for i := range r.Parts {
		redact(&r.Parts[i])
	}
	for i, url := range r.Sample {
		r.Sample[i] = websync.RedactURL(url)
	}
	r.Rules = make([]Row, len(k.states))
	for i, rule := range ruleSet.rules {
		s := &k.states[i]
		for j := range s.examples {
			f := &s.examples[j]
			f.Document, f.Value = websync.RedactURL(f.Document), websync.RedactURL(f.Value)
		}
		row := Row{
			ID: rule.Name, Kind: rule.Kind, Section: rule.Section, Rule: rule.Summary, Status: s.status(),
			Errors: s.errors, Warnings: s.warnings, Notes: s.notes, Examples: s.examples, Note: s.note,
		}
		switch row.Status {
		case Pass:
			r.Passed++
		case Warn:
			r.Warned++
			row.Advice = rule.Advice
		case Fail:
			r.Failed++
			row.Advice = rule.Advice
		case NotChecked:
			r.Skipped++
			row.Reason, row.Why, row.Note = s.reason, s.why, ""
		}
		r.Rules[i] = row
	}
	return r
}

func redact(d *Document) { d.Name, d.URL = websync.RedactURL(d.Name), websync.RedactURL(d.URL) }

var errNoInput = errors.New("it was not given")
