package sitemap

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
)

// ValidateOptions are the settings of [Validate]. The zero value is usable; checks that
// need a missing field are skipped.
type ValidateOptions struct {
	// Document is the URL or file name of the document. Findings carry it.
	Document string

	// URL is where the document is published. If empty, it is Document, if that is a URL.
	// Without a URL, entries are compared with the host of the first one.
	URL string

	// ContentType is as in Reader.
	ContentType string

	// Aliases are other URLs by which a robots.txt may name the document: the one before
	// a redirect, and those of the indexes that list it.
	Aliases []string

	// Report receives every finding.
	Report func(websync.Finding)

	// Now, if set, makes dates more than a day after it findings. Extensions can use it
	// to report elements that are too old.
	Now time.Time

	// Robots returns the Sitemap lines of the robots.txt of an origin, for example
	// "https://www.example.org". Pages of another origin, and the sitemaps of an index, are
	// allowed if the robots.txt of that origin names the document. Robots is called once
	// for each of the first 100 other origins. If nil, entries on other hosts are errors.
	Robots func(origin string) ([]string, error)

	// Child returns the Kind of a document that an index lists; 0 if it is not known. If
	// nil, an index inside an index is not reported.
	Child func(loc string) Kind

	// Extensions are the extensions whose elements are checked, besides alternates: for
	// example those of package sitemap/google. Elements of others are not checked.
	Extensions []Extension

	// Anywhere disables the rules on the hosts and directories of a document and its
	// entries.
	Anywhere bool

	// Take is as in Reader.
	Take func(*Tag) bool

	// Entry, if set, is called with each entry, after its other checks, and with the Kind
	// of the document.
	Entry func(*View, Kind)

	// Lenient makes a finding at most a warning if it costs no entry, because a [Reader]
	// reads over it.
	Lenient bool

	// MaxBytes limits the bytes of the document, as in Reader. If zero, it is 1 GiB; if
	// negative, there is no limit.
	MaxBytes int64
}

// A Summary holds the counts of Validate.
type Summary struct {
	Kind Kind
	websync.Counts
}

// Validate reads one document as a [Reader] does, and reports every departure from the
// protocol, its schema, the rules for alternates and those of ValidateOptions.Extensions:
// see [Rules].
//
// The error is that of the Reader: the document is not a sitemap, is cut short, damaged
// or too long. It is reported as a finding, too, unless src itself has failed. The error
// is nil for a document that was read to its end, whatever the findings.
//
// Validate needs memory for one entry, and about 40 bytes for each loc to find
// duplicates; it compares each loc with the first million of them. To compare alternates
// with the pages that they lead to, it keeps at most 16 MiB of them; it does not compare
// those after that, nor those after an entry with more than 1 MiB of extension elements.
func Validate(src io.Reader, o ValidateOptions) (Summary, error) {
	v := &validator{o: o, exts: o.Extensions, source: document.Source{Src: src}, seed: maphash.MakeSeed(),
		seen: make(map[uint64]int)}
	v.links = linkChecker{seed: v.seed, known: make(map[uint64]int)}
	if v.o.URL == "" {
		v.o.URL = o.Document
	}
	v.r = NewReader(&v.source)
	v.r.Document, v.r.ContentType, v.r.Now, v.r.MaxBytes = v.o.URL, o.ContentType, o.Now, o.MaxBytes
	v.r.reports.Lenient = o.Lenient
	v.r.Report, v.r.Take = v.count, o.Take
	v.inEntry, v.inDocument = make([]int, len(o.Extensions)), make([]int, len(o.Extensions))
	v.locate()
	err := v.run()
	v.sum.Kind, v.sum.Skipped = v.r.Kind(), v.r.Skipped()
	if v.r.doc != nil {
		v.sum.Bytes = v.r.doc.Size()
	}
	return v.sum, err
}

// A validator is one run of Validate.
type validator struct {
	o      ValidateOptions
	r      *Reader
	source document.Source
	sum    Summary
	exts   extensions

	home   syntax.Origin // of the document, or of its first entry
	known  bool          // home is the document's
	dir    string        // of the document's path, with a slash at its end
	robots map[syntax.Origin]string

	seed maphash.Seed
	// the line of each loc; two locs share a hash once in 10 million full documents
	seen map[uint64]int

	links linkChecker

	inEntry, inDocument []int // number of elements of each extension
	roots               int   // number of r.elements that were checked
}

func (v *validator) count(f websync.Finding) {
	f.Document = v.o.Document
	if f.Rule == ruleElementSize.Name {
		v.links.full = true // what was left out may be an alternate
	}
	document.Counting(&v.sum.Counts, v.o.Report)(f)
}

// report reports on an element that starts at p.
func (v *validator) report(rule Rule, p position, element string, value []byte, message string) {
	if v.r.lines != nil {
		element = ""
	}
	v.r.reports.Add(rule, p.line, p.column, element, value, message)
}

// found reports a finding on an element that starts at p.
func (v *validator) found(p position, f websync.Finding) {
	rule := Rule{Name: f.Rule, Section: f.Section, Severity: f.Severity}
	v.report(rule, p, f.Element, []byte(f.Value), f.Message)
}

// locate sets the origin and directory in which entries may be.
func (v *validator) locate() {
	home, at := syntax.OriginOf(v.o.URL)
	if home == "" {
		return
	}
	v.home, v.known = home, true
	p := syntax.PathOf(v.o.URL, at)
	v.dir = p[:strings.LastIndexByte(p, '/')+1]
}

func (v *validator) run() error {
	for {
		view, err := v.r.NextView()
		v.rootElements()
		if err == io.EOF {
			v.returnLinks()
			return nil
		}
		if err != nil {
			v.fatal(err)
			return err
		}
		v.sum.Entries++
		v.entry(view)
		if v.o.Entry != nil {
			v.o.Entry(view, v.r.kind)
		}
	}
}

// fatal reports the error that ended reading.
func (v *validator) fatal(err error) {
	if parse, rule, ok := v.source.Blame(err, ruleTruncated, ruleDocument, ruleXML); ok {
		parse.Document = v.o.Document
		v.r.reports.Loss(rule, parse.Line, parse.Column, parse.Element, nil, parse.Err.Error())
	}
}

// rootElements checks the extension elements outside entries that were read since the
// last call.
func (v *validator) rootElements() {
	for ; v.roots < len(v.r.elements); v.roots++ {
		x := v.r.elements[v.roots]
		p := v.r.positions[v.roots]
		if v.exts.of(x.Space) >= 0 || x.Space == XHTMLNamespace && x.Local == "link" {
			v.report(ruleExtPlace, p, x.Local, nil, "an extension of an entry outside of entries")
		}
		v.nearNamespace(x.Space, x.Local, p)
	}
}

func (v *validator) nearNamespace(space, local string, p position) (near bool) {
	right := v.exts.near(space)
	if right != "" {
		v.report(ruleExtNamespace, p, local, []byte(space), "the namespace is not "+right)
	}
	return right != ""
}

func (v *validator) entry(e *View) {
	v.loc(e)
	if d := e.LastMod; !d.IsZero() && len(e.LastModText) == 0 && document.SchemaDate(d) != d {
		v.report(ruleLastModSchema, e.modAt, "lastmod", []byte(d.String()), "the schema takes full dates and full times only")
	}
	if len(e.pieces) > 0 {
		v.extensions(e)
	}
}

func (v *validator) loc(e *View) {
	loc := e.Loc
	report := func(rule Rule, message string) { v.report(rule, e.at, "loc", loc, message) }
	if len(loc) < 4*minLoc && utf8.RuneCount(loc) < minLoc {
		report(ruleLocShort, "fewer than 12 characters, which the schema refuses")
	}
	if first := v.seenBefore(loc, e.at.line); first > 0 {
		report(ruleLocTwice, fmt.Sprintf("listed before, in line %d", first))
	}
	host, end := syntax.SplitHTTP(loc)
	if end == 0 {
		return // the Reader has reported it
	}
	if syntax.URLFlaws(loc) == 0 {
		if message := syntax.URLFault(loc); message != "" {
			report(ruleLocSyntax, message)
		}
	}
	if bytes.IndexByte(loc, '#') >= 0 {
		report(ruleLocFragment, "a fragment, which names no page of its own")
	}
	if bytes.IndexByte(loc[host:end], '@') >= 0 {
		report(ruleLocUser, "a user name or password in the URL")
	}
	if v.r.Kind() == Index {
		v.child(string(loc), report)
		return
	}
	if !v.o.Anywhere {
		v.location(loc, end, report)
	}
}

const maxSeen = 1_000_000 // twenty times what the protocol allows

// seenBefore returns the line where a loc was listed before; if 0, nowhere.
func (v *validator) seenBefore(loc []byte, line int) int {
	h := maphash.Bytes(v.seed, loc)
	if first, ok := v.seen[h]; ok {
		return first
	}
	if len(v.seen) < maxSeen {
		v.seen[h] = line
	}
	return 0
}

// location checks that the document may list a page.
func (v *validator) location(loc []byte, end int, report func(Rule, string)) {
	// Most entries are on the document's own host, spelled as it is.
	if home := string(v.home); len(loc) > len(home) && end == len(home) && string(loc[:end]) == home &&
		(v.dir == "/" || !v.known) {
		return
	}
	there, _ := syntax.OriginOf(string(loc))
	switch {
	case v.home == "":
		v.home = there
	case there == v.home:
		if p := syntax.PathOf(string(loc), end); v.known && !strings.HasPrefix(p, v.dir) {
			report(ruleLocation, "not below "+v.dir+", the directory of the sitemap")
		}
	case !v.known:
		report(ruleHost, v.difference(there)+" than the first entry")
	case v.o.Robots == nil:
		report(ruleHost, v.difference(there)+" than the sitemap")
	default:
		if message := v.crossSubmit(there); message != "" {
			report(ruleCross, v.difference(there)+" than the sitemap, and "+message)
		}
	}
}

// difference returns how an origin differs from v.home.
func (v *validator) difference(there syntax.Origin) string {
	scheme, host := v.home.Split()
	otherScheme, otherHost := there.Split()
	switch {
	case host == otherHost:
		return "another scheme"
	case scheme == otherScheme && hostname(host) == hostname(otherHost):
		return "another port"
	}
	return "another host"
}

func hostname(host string) string {
	u := url.URL{Host: host}
	return u.Hostname()
}

const maxOrigins = 100 // whose robots.txt is read

// crossSubmit returns why the document may not list pages of another origin; "" if it
// may.
func (v *validator) crossSubmit(there syntax.Origin) string {
	if message, ok := v.robots[there]; ok {
		return message
	}
	if len(v.robots) >= maxOrigins {
		return "too many hosts to read the robots.txt of each"
	}
	if v.robots == nil {
		v.robots = make(map[syntax.Origin]string)
	}
	message := "the robots.txt there does not name the sitemap"
	named, err := v.o.Robots(string(there))
	switch {
	case err != nil:
		message = "the robots.txt there can't be read: " + err.Error()
	case slices.ContainsFunc(named, v.isDocument):
		message = ""
	}
	v.robots[there] = message
	return message
}

// isDocument reports whether a URL is one of the document's own.
func (v *validator) isDocument(url string) bool {
	url = syntax.Canonical(url)
	return url == syntax.Canonical(v.o.URL) || slices.ContainsFunc(v.o.Aliases,
		func(alias string) bool { return url == syntax.Canonical(alias) })
}

// child checks an entry of an index.
func (v *validator) child(loc string, report func(Rule, string)) {
	there, _ := syntax.OriginOf(loc)
	switch {
	case v.o.Anywhere:
	case v.home == "":
		v.home = there
	case there != v.home && v.known && v.o.Robots == nil:
		report(ruleSite, v.difference(there)+" than the index")
	case there != v.home && v.known:
		if message := v.crossSubmit(there); message != "" {
			report(ruleSite, v.difference(there)+" than the index, and "+message)
		}
	case there != v.home:
		report(ruleSite, v.difference(there)+" than the first sitemap")
	}
	switch {
	case v.known && v.isDocument(loc):
		report(ruleRepeated, "the index lists itself")
	case v.o.Child != nil && v.o.Child(loc) == Index:
		report(ruleNested, "an index inside an index")
	}
}

func (v *validator) extensions(e *View) {
	set := alternateSet{loc: string(e.Loc)}
	last := position{} // of the last alternate
	clear(v.inEntry)
	v.links.hrefs = v.links.hrefs[:0]
	for _, p := range e.pieces {
		found := func(f websync.Finding) { v.found(p.position, f) }
		i := v.exts.of(p.space)
		if v.nearNamespace(p.space, p.local, p.position) || i < 0 && p.space != XHTMLNamespace {
			continue
		}
		if v.r.Kind() == Index {
			v.report(ruleNotInIndex, p.position, p.local, nil, "an index has only loc and lastmod")
		}
		x := websync.Element{Space: p.space, Local: p.local, XML: string(e.buf.Of(p.span))}
		alternate, err := v.exts.check(&x, v.o.Now, found)
		switch {
		case err != nil: // impossible: the Reader wrote it
		case alternate != nil:
			set.add(alternate)
			last = p.position
			if alternate.Attr("hreflang") != "" && !isApp(alternate) {
				v.links.hrefs = append(v.links.hrefs, href(alternate))
			}
		case i >= 0 && p.local == v.exts[i].Local:
			v.tally(i, p)
		}
	}
	set.check(func(f websync.Finding) { v.found(last, f) })
	v.links.add(set.loc, last)
}

// tally counts an element of an extension.
func (v *validator) tally(i int, p piece) {
	x := &v.exts[i]
	v.inEntry[i]++
	v.inDocument[i]++
	if x.PerEntry > 0 && v.inEntry[i] == x.PerEntry+1 {
		v.report(x.EntryRule, p.position, p.local, nil, x.EntryRule.Summary)
	}
	if x.PerDocument > 0 && v.inDocument[i] == x.PerDocument+1 {
		v.report(x.DocumentRule, p.position, p.local, nil, x.DocumentRule.Summary)
	}
}
