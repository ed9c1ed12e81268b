package conformance

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
)

// sitemapRules returns all rules about the sitemap that need the document itself.
func sitemapRules() []*Rule {
	return append(ruleSet.between("P4-010", "P4-039"), ruleSame, ruleMassive, ruleOneFeed, ruleFeedRegistered)
}

// A mapping is what a rule of another package means here: the finding counts for rule,
// with a severity of at most most. If rule is nil, the finding is dropped: this package
// makes the check itself, or ELI allows what is reported.
type mapping struct {
	rule *Rule
	most websync.Severity
}

const (
	asError = websync.SeverityError
	asWarn  = websync.SeverityWarning
)

// mappings returns the mappings of rules by their names, which white space separates.
func mappings(rows []mappingRow) map[string]mapping {
	all := make(map[string]mapping)
	for _, row := range rows {
		for name := range strings.FieldsSeq(row.names) {
			all[name] = row.mapping
		}
	}
	return all
}

type mappingRow struct {
	names string
	mapping
}

// ofSitemap are the rules of package sitemap, without their prefix.
var ofSitemap = mappings([]mappingRow{
	{"xml truncated prologue encoding gzip", mapping{ruleXML, asError}},
	{"document namespace root entry", mapping{ruleRoot, asError}},
	{"doctype", mapping{ruleDoctype, asError}},
	{"size entries", mapping{ruleSize, asError}},
	{"nesting loc-missing loc-relative loc-length loc-syntax loc-escape loc-fragment loc-user text-line",
		mapping{ruleLoc, asError}},
	{"duplicate-element", mapping{ruleLoc, asError}}, // the element decides: see ofDuplicate
	{"lastmod", mapping{ruleDate, asError}},
	{"lastmod-future", mapping{ruleDate, asWarn}},
	{"changefreq priority", mapping{ruleValues, asError}},
	{`unknown-element element-name element-order element-size text attribute index-element
		extension-namespace extension-place extension-element hreflang-value hreflang-region hreflang-repeated
		hreflang-self hreflang-return`,
		mapping{ruleExtend, asWarn}},
	{"empty loc-duplicate loc-short loc-space foreign-attribute lastmod-schema", mapping{}},

	// Of locations, of sets, of Sources and of Publishers: Validate does not report them,
	// or the rules of ELI differ.
	{"host location cross-submit index-site index-nested repeated robots cut profile index-lastmod doubt", mapping{}},
})

// ofDuplicate returns the rule about an element that occurs twice in an entry.
func ofDuplicate(element string) *Rule {
	switch element {
	case "lastmod":
		return ruleFields
	case "changefreq", "priority":
		return ruleValues
	}
	return ruleLoc
}

// A listing is what is known of the entries of the sitemap.
type listing struct {
	table   docfetch.Table[day]
	sampler *sampler
	total   int // entries with a usable loc, repetitions included

	newest, first websync.Datetime // lastmod
	dated         int              // entries with a lastmod
	differ        bool             // not all have the same lastmod
	indexNewest   websync.Datetime // of the entries of the index

	origins []origin
	prefix  prefix
	missing recent
	endings endings
	parts   []string // that the index lists
	revisit map[string]websync.Datetime

	lost  []string // documents that could not be read to their end
	other []string // that an index lists, and that were not given
}

// An origin is a scheme and a host that URLs of the list have.
type origin struct {
	name  syntax.Origin
	count int
	url   string // the first one
	at    position
}

// A prefix is where the ELIs of the sitemap have to be.
type prefix struct {
	origin syntax.Origin
	dir    string
	known  bool // by the URL of the sitemap, and not only from its entries
}

// recent counts entries that a feed of 60 days should have, and has not.
type recent struct {
	count    int
	examples []entryAt
}

type entryAt struct {
	url     string
	lastMod websync.Datetime
	at      position
}

const (
	maxOrigins = 100
	maxParts   = sitemap.MaxEntries
	history    = 60 * 24 * time.Hour
)

func (l *listing) init(c *Checker) {
	n := c.Sample
	if n == 0 {
		n = 30
	}
	l.sampler = newSampler(n, c.Seed)
	l.revisit = make(map[string]websync.Datetime)
	if c.Last != nil {
		for _, page := range c.Last.Pages {
			l.revisit[page.URL] = websync.Datetime{}
		}
	}
}

// readSitemap reads the sitemap with all that it lists.
func (k *check) readSitemap() error {
	s := k.sitemap
	if s.Name == "" && k.Alone {
		s.document.Kind = "unknown"
		k.skip(NeedsDocument, "No sitemap was given.", append(sitemapRules(), ruleOffered)...)
		return nil
	}
	if err := k.open(s); err != nil {
		k.find(ruleOffered, position{source: s}, s.Name, "the publisher must offer a sitemap: "+unreadable(err))
		k.skip(NeedsDocument, "There is no sitemap that can be read.", sitemapRules()...)
		return nil
	}
	k.list.prefix = prefixOf(s.URL)
	kind, err := k.readList(s, 0)
	if errors.Is(err, websync.ErrNotDocument) || kind == 0 {
		k.find(ruleOffered, position{source: s}, s.Name, "the publisher must offer a sitemap: the document is none")
		k.skip(NeedsDocument, "There is no sitemap that can be read.", sitemapRules()...)
		return nil
	}
	k.offered()
	for i := range k.list.parts {
		if err := k.ctx.Err(); err != nil {
			return err
		}
		k.readPart(k.list.parts[i])
	}
	k.checked(ruleXML, ruleRoot, ruleLoc, ruleValues, ruleSize, ruleNested, ruleSite, ruleDoctype, ruleDate, ruleExtend,
		ruleSplit)
	if kind == sitemap.Text {
		k.find(ruleRoot, position{source: s}, "", "the sitemap must be XML, and not plain text")
	}
	k.noteFiles(k.list.lost, "could not be read to the end")
	k.noteFiles(k.list.other, "was not given")
	k.checkList(kind)
	return nil
}

// noteFiles notes that documents of the sitemap are missing.
func (k *check) noteFiles(names []string, what string) {
	switch n := len(names); {
	case n == 1:
		k.note(fmt.Sprintf("%s %s.", websync.RedactURL(names[0]), what), sitemapRules()...)
	case n > 1:
		k.note(fmt.Sprintf("%s and %s %s.", websync.RedactURL(names[0]), plural(n-1, "other file", "other files"),
			what), sitemapRules()...)
	}
}

// readList reads one document of the sitemap.
func (k *check) readList(s *source, parent sitemap.Kind) (sitemap.Kind, error) {
	var sum sitemap.Summary
	err := s.read(func(src io.Reader) (err error) {
		sum, err = sitemap.Validate(src, sitemap.ValidateOptions{
			Document: s.Name, URL: s.URL, ContentType: s.ContentType, Now: k.now, Anywhere: true, MaxBytes: k.MaxBytes,
			Report: func(f websync.Finding) { k.foundInSitemap(s, f) },
			Entry: func(v *sitemap.View, kind sitemap.Kind) {
				if kind == sitemap.Index {
					k.partEntry(s, v, parent)
				} else {
					k.listEntry(s, v)
				}
			},
		})
		return err
	})
	s.document.Entries = sum.Entries
	if sum.Kind != 0 {
		s.document.Kind = sum.Kind.String()
	}
	if err != nil {
		s.document.Error = err.Error()
		k.list.lost = append(k.list.lost, s.Name)
	}
	return sum.Kind, err
}

// foundInSitemap passes on what package sitemap finds.
func (k *check) foundInSitemap(s *source, f websync.Finding) {
	name := strings.TrimPrefix(f.Rule, "sitemap-")
	as, at := ofSitemap[name], position{s, f.Line, f.Column, f.Element}
	switch name {
	case "duplicate-element":
		as.rule = ofDuplicate(f.Element)
	case "entries":
		if s.local == "sitemapindex" {
			break
		}
		k.find(ruleSplit, at, f.Value, f.Message+": the sitemap must be split, with an index")
	}
	if as.rule != nil {
		k.findAs(min(f.Severity, as.most), as.rule, at, f.Value, f.Message)
	}
}

// partEntry takes an entry of an index.
func (k *check) partEntry(s *source, v *sitemap.View, parent sitemap.Kind) {
	l, loc := &k.list, string(v.Loc)
	at := position{s, v.Line, v.Column, "loc"}
	if parent != 0 || syntax.HTTPHost(loc) == 0 {
		return // an index inside an index is a finding of its own
	}
	if l.indexNewest.Compare(v.LastMod) < 0 {
		l.indexNewest = v.LastMod
	}
	here, _ := syntax.OriginOf(s.URL)
	if here == "" && len(l.parts) > 0 {
		here, _ = syntax.OriginOf(l.parts[0])
	}
	if there, _ := syntax.OriginOf(loc); here != "" && there != here {
		k.find(ruleSite, at, loc, fmt.Sprintf("the sitemap is on %s, and the index on %s", there, here))
	}
	switch {
	case slices.Contains(l.parts[max(0, len(l.parts)-1000):], loc):
		k.findAs(asWarn, ruleTwice, at, loc, "the index lists this sitemap twice")
	case len(l.parts) == maxParts:
	default:
		l.parts = append(l.parts, loc)
	}
}

// readPart reads a document that the index lists.
func (k *check) readPart(loc string) {
	in, err := k.part(loc)
	if err != nil {
		if errors.Is(err, websync.ErrNotFound) {
			k.list.other = append(k.list.other, loc)
			return
		}
		k.find(ruleNested, position{source: k.sitemap}, loc, "the index lists what can't be read: "+err.Error())
		return
	}
	s := &source{Input: in, document: new(Document)}
	k.parts = append(k.parts, s.document)
	defer s.close()
	if err := k.open(s); err != nil {
		k.find(ruleNested, position{source: k.sitemap}, loc, "the index lists what can't be read: "+err.Error())
		return
	}
	kind, err := k.readList(s, sitemap.Index)
	switch {
	case kind == sitemap.Index:
		k.find(ruleNested, position{source: s}, loc, "an index must not list another index")
	case kind == 0 || errors.Is(err, websync.ErrNotDocument):
		k.find(ruleNested, position{source: s}, loc, "the index lists what is not a sitemap")
	}
}

// part returns a document that the index lists.
func (k *check) part(loc string) (Input, error) {
	err := error(websync.ErrNotFound)
	if k.Part != nil && k.Sitemap.Open != nil {
		var in Input
		if in, err = k.Part(loc); err == nil {
			in.URL = loc
			return in, nil
		}
	}
	if errors.Is(err, websync.ErrNotFound) && k.Fetcher != nil {
		return Input{Name: loc}, nil
	}
	return Input{}, err
}

// listEntry takes an entry of a list of pages.
func (k *check) listEntry(s *source, v *sitemap.View) {
	l, at := &k.list, position{s, v.Line, v.Column, "loc"}
	if v.LastMod.IsZero() && len(v.LastModText) == 0 {
		k.find(ruleFields, position{s, v.Line, v.Column, "url"}, string(v.Loc), "the entry must have a lastmod")
	}
	_, end := syntax.SplitHTTP(v.Loc)
	if end == 0 {
		return // reported
	}
	l.total++
	loc, d := string(v.Loc), dayOf(v.LastMod)
	if !addDay(&l.table, loc, d) {
		k.findAs(asWarn, ruleTwice, at, loc, "the URL is listed twice")
		return
	}
	l.sampler.add(v.Loc, v.LastMod)
	k.listDate(s, v, loc, d)
	if _, ok := l.revisit[loc]; ok {
		l.revisit[loc] = v.LastMod
	}
	if !k.isELI(loc) {
		k.find(ruleELI, at, loc, "the URL is no ELI: its path lacks the step \"eli\"")
	}
	k.listLocation(loc, end, at)
	l.endings.add(loc, end, at)
}

// listDate takes the lastmod of an entry.
func (k *check) listDate(s *source, v *sitemap.View, loc string, d day) {
	l := &k.list
	if v.LastMod.IsZero() {
		return
	}
	if l.dated++; l.dated == 1 {
		l.first = v.LastMod
	}
	l.differ = l.differ || v.LastMod != l.first
	if v.LastMod.Time().After(k.now.Add(24 * time.Hour)) {
		return // reported
	}
	if l.newest.Compare(v.LastMod) < 0 {
		l.newest = v.LastMod
	}
	if s.document.Newest.Compare(v.LastMod) < 0 {
		s.document.Newest = v.LastMod
	}
	if f := &k.feedFacts; f.read && d > f.since && d <= f.until {
		if k.entries.Find(loc) == nil {
			l.missing.count++
			if len(l.missing.examples) < maxExamples {
				l.missing.examples = append(l.missing.examples,
					entryAt{loc, v.LastMod, position{s, v.Line, v.Column, "lastmod"}})
			}
		}
	}
}

// listLocation compares where an entry is with where the sitemap is.
func (k *check) listLocation(loc string, end int, at position) {
	l := &k.list
	there, _ := syntax.OriginOf(loc)
	i := slices.IndexFunc(l.origins, func(o origin) bool { return o.name == there })
	if i < 0 {
		if len(l.origins) == maxOrigins {
			return
		}
		i = len(l.origins)
		l.origins = append(l.origins, origin{name: there, url: loc, at: at})
	}
	l.origins[i].count++
	path := syntax.PathOf(loc, end)
	if l.prefix.origin == "" {
		l.prefix = prefix{origin: there, dir: directory(path)}
	}
	if there == l.prefix.origin && !strings.HasPrefix(path, l.prefix.dir) {
		k.find(rulePrefix, at, loc, fmt.Sprintf("the URL must begin with %s%s, %s", l.prefix.origin, l.prefix.dir,
			l.prefix.why()))
	}
}

func (p *prefix) why() string {
	if p.known {
		return "the directory of the sitemap"
	}
	return "as the first entry does"
}

// prefixOf returns where the ELIs of a sitemap have to be, if its URL is known.
func prefixOf(url string) prefix {
	there, end := syntax.OriginOf(url)
	if there == "" {
		return prefix{}
	}
	path := syntax.PathOf(url, end)
	return prefix{there, path[:strings.LastIndexByte(path, '/')+1], true}
}

// directory returns the path of an ELI up to the step "eli".
func directory(path string) string {
	if before, _, ok := strings.Cut(path, "/eli/"); ok {
		return before + "/eli/"
	}
	return "/"
}

// checkList makes the checks for which the whole list is needed.
func (k *check) checkList(kind sitemap.Kind) {
	l, s := &k.list, position{source: k.sitemap}
	ofEntries := []*Rule{ruleTwice, rulePrefix, ruleDomains, ruleResources, ruleELI, ruleFields}
	switch {
	case kind == sitemap.Index && len(l.parts) > 0 && len(k.parts) == 0:
		k.skip(NeedsDocument, "None of the files that the index lists was given.",
			append(ofEntries, ruleCross, ruleComplete, ruleSame, ruleChanged)...)
	case l.total == 0:
		k.find(ruleComplete, s, "", "the sitemap must list all legal resources, and it lists none")
		fallthrough
	default:
		k.checked(ofEntries...)
	}
	k.checkLocations(kind)
	l.endings.check(k)
	k.checkRelation()
	k.checkRecord()
	k.checkMonthly()
	if syntax.HTTPHost(k.sitemap.URL) == 0 {
		const why = "The URL of the sitemap is not known."
		k.skip(NeedsHTTP, why, ruleLocation, ruleIndexLocation)
		return
	}
	k.checked(ruleLocation)
	if !k.isAt(k.sitemap, "/eli/sitemap.xml") {
		k.find(ruleLocation, s, k.sitemap.URL, "the path of the sitemap should end in /eli/sitemap.xml")
	}
	k.checked(ruleIndexLocation)
	switch {
	case kind == sitemap.Index && !k.isAt(k.sitemap, "/eli/sitemap.xml"):
		k.find(ruleIndexLocation, s, k.sitemap.URL, "the index must be at a path that ends in /eli/sitemap.xml")
	case kind != sitemap.Index && l.total > sitemap.MaxEntries:
		k.find(ruleIndexLocation, s, k.sitemap.URL, "the sitemap is too long for one file: an index must be at its URL")
	}
}
