package resourcesync

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/sitemap"
)

// A subject is what a finding of a checker is about: a link, by its number from 0, or one
// of these.
type subject int

const (
	onEntry    subject = -2 // the entry or the document
	onMetadata subject = -1 // its md
)

// A checker checks what Z39.99 demands of a document and of its entries, one after the
// other. Validate and Writer share it.
type checker struct {
	// writing adds the checks of the syntax of values, which the Reader makes for
	// Validate, and leaves out some of what is not an error.
	writing bool

	// bare reports that no md precedes the entries. The Reader has a finding for it.
	bare bool

	report func(rule Rule, at subject, value, message string)

	head *Head
	form *form

	// Of the entries before.
	targets []Capability
	format  string           // media type of the packages
	last    websync.Datetime // datetime of a change, from of others
	lastMod websync.Datetime
	until   websync.Datetime
	isOpen  bool // the last one has from and no until
	paths   map[uint64]struct{}
	seed    maphash.Seed
}

// maxPaths limits the paths that each one is compared with.
const maxPaths = 1_000_000

// stated reports whether a faulty attribute is there. The Reader has a finding for it,
// and a Writer ignores it.
func (c *checker) stated(faulty []websync.Attr, local string) bool {
	return !c.writing && slices.ContainsFunc(faulty, func(a websync.Attr) bool { return a.Local == local })
}

// document checks the head. It comes before the entries.
func (c *checker) document(h *Head) {
	c.head, c.form = h, formOf(documentKind{h.Metadata.Capability, h.Index})
	m := &h.Metadata
	switch {
	case m.Capability == "" && c.bare:
		c.form = &anyForm
	case m.Capability == "":
		c.form = &anyForm
		c.report(ruleCapabilityMissing, onMetadata, "", "md of a document must have a capability")
	case c.form != nil:
	case !h.Index || !m.Capability.Known() || isArchive(m.Capability):
		c.form = &anyForm
	default:
		c.form = &anyForm
		listed := formOf(documentKind{capability: m.Capability})
		c.report(ruleIndex, onMetadata, string(m.Capability), listed.name+" must not have an index")
	}
	c.times(m, c.form.at, c.form.from, c.form.name)
	if m.Change != "" || !m.Datetime.IsZero() || m.Path != "" || describes(m.Digests, m.Length, m.Type, m.Encoding) {
		c.report(ruleHeadAttribute, onMetadata, "", "md of a document has at, capability, completed, from and until only")
	}
	c.metadata(m)
	c.headLinks(h)
}

// headLinks checks the links of the document.
func (c *checker) headLinks(h *Head) {
	for i := range h.Links {
		l := &h.Links[i]
		c.link(subject(i), l)
		if !l.Modified.IsZero() || l.Priority != 0 || l.Path != "" || describes(l.Digests, l.Length, l.Type, l.Encoding) {
			c.report(ruleHeadLink, subject(i), "", "a link of a document has rel and href only")
		}
		if (l.Rel == "up" || l.Rel == "index") && h.Href(l.Rel) != l.Href {
			c.report(ruleNavigation, subject(i), l.Href, "another link "+l.Rel+" leads to "+h.Href(l.Rel))
		}
	}
	if c.form.up == mandatory && h.Href("up") == "" {
		c.report(ruleUp, onEntry, "", c.form.name+" must have a link up")
	}
	if c.form.describedBy == recommended && h.Href("describedby") == "" {
		c.report(ruleDescribedBy, onEntry, "", c.form.name+" should have a link describedby")
	}
}

// describes reports whether an md or ln states something about the bytes that it is of.
func describes(digests websync.Digests, length int64, mediaType, encoding string) bool {
	return len(digests) > 0 || length != 0 || mediaType != "" || encoding != ""
}

// times checks which times md has, of a document or of its entries.
func (c *checker) times(m *Metadata, at, from need, what string) {
	for _, t := range [...]struct {
		need  need
		value websync.Datetime
		attr  string
	}{
		{at, m.At, "at"}, {min(at, optional), m.Completed, "completed"},
		{from, m.From, "from"}, {min(from, optional), m.Until, "until"},
	} {
		switch there := !t.value.IsZero() || c.stated(m.Faulty, t.attr); {
		case there && t.need == forbidden:
			c.report(ruleTimeForbidden, onMetadata, t.value.String(), t.attr+" is not used for "+what)
		case !there && t.need == mandatory:
			c.report(ruleTimeMissing, onMetadata, "", what+" must have "+t.attr)
		case !there && t.need == recommended:
			c.report(ruleTimeRecommended, onMetadata, "", what+" should have "+t.attr)
		}
	}
	c.intervals(m, at, from)
}

// intervals checks the two intervals of an md.
func (c *checker) intervals(m *Metadata, at, from need) {
	if at == optional && m.At.IsZero() && !m.Completed.IsZero() && !c.stated(m.Faulty, "at") {
		c.report(ruleIntervalStart, onMetadata, m.Completed.String(), "completed must come with at")
	}
	if from == optional && m.From.IsZero() && !m.Until.IsZero() && !c.stated(m.Faulty, "from") {
		c.report(ruleIntervalStart, onMetadata, m.Until.String(), "until must come with from")
	}
	if m.Until.Before(m.From) {
		c.report(ruleInterval, onMetadata, m.Until.String(), "until is before from, "+m.From.String())
	}
	if m.Completed.Before(m.At) {
		c.report(ruleInterval, onMetadata, m.Completed.String(), "completed is before at, "+m.At.String())
	}
}

// metadata checks the values of an md.
func (c *checker) metadata(m *Metadata) {
	c.bytes(onMetadata, m.Digests, m.Length, m.Type, m.Encoding, m.Path)
	if c.writing {
		if strings.ContainsAny(string(m.Capability), " \t\r\n") {
			c.report(ruleCapabilityMissing, onMetadata, string(m.Capability), "a capability has no white space")
		}
		if known := m.Capability.folded(); known != m.Capability {
			c.report(ruleCapabilityMissing, onMetadata, string(m.Capability), "it is written "+string(known))
		}
		if m.Change != "" && m.Change != Created && m.Change != Updated && m.Change != Deleted {
			c.report(ruleChange, onMetadata, string(m.Change), "not created, updated or deleted")
		}
		return
	}
	c.timeForm(onMetadata, "at", m.At)
	c.timeForm(onMetadata, "completed", m.Completed)
	c.timeForm(onMetadata, "from", m.From)
	c.timeForm(onMetadata, "until", m.Until)
	c.timeForm(onMetadata, "datetime", m.Datetime)
}

// timeForm reports a time that is not written as the standard recommends.
func (c *checker) timeForm(at subject, attr string, d websync.Datetime) {
	if !d.IsZero() && (d.Precision() < websync.PrecisionSecond || d != d.UTC()) {
		c.report(ruleTimeForm, at, d.String(), attr+" should be a complete date and time in UTC")
	}
}

// bytes checks what md and ln state of a representation.
func (c *checker) bytes(at subject, digests websync.Digests, length int64, mediaType, encoding, path string) {
	if mediaType != "" {
		if fault := syntax.MediaTypeFault(mediaType); fault != "" {
			c.report(ruleMediaType, at, mediaType, "type: "+fault)
		}
	}
	if encoding != "" && !isCodings(encoding) {
		c.report(ruleEncoding, at, encoding, "encoding: not a list of content codings")
	}
	c.digests(at, digests)
	if !c.writing {
		return
	}
	if length < 0 && length != websync.StatedZero || length > 999_999_999_999_999_999 {
		c.report(ruleLength, at, fmt.Sprint(length), "length: not a number of bytes")
	}
	if path != "" {
		if fault := pathFault(path); fault != "" {
			c.report(rulePath, at, path, "path: "+fault)
		}
	}
}

// digests checks a hash.
func (c *checker) digests(at subject, digests websync.Digests) {
	for i, d := range digests {
		text := ""
		if !d.Known() {
			text = d.String()
		}
		switch first, _ := digests[:i].Get(d.Algorithm); {
		case c.writing && !d.Known() && (syntax.DigestFault(text) != "" || !isReadBack(d, text)):
			c.report(ruleHash, at, text, "hash: not an algorithm in lower case and a digest of its length")
		case !first.IsZero() && first != d:
			c.report(ruleHashRepeated, at, d.String(), "hash: another digest is "+first.String())
		case !d.Known() && syntax.DigestSize(d.Algorithm) == 0:
			c.report(ruleHashAlgorithm, at, text, "hash: the algorithm is not known")
		}
	}
}

// isReadBack reports whether a digest is read from its text as it is.
func isReadBack(d websync.Digest, text string) bool {
	read, err := websync.ParseDigest(text)
	return err == nil && read == d
}

// isCodings reports whether s is a list of content codings (RFC 9110 §8.4), without white
// space around it.
func isCodings(s string) bool {
	if strings.Trim(s, " \t") != s {
		return false
	}
	for coding := range strings.SplitSeq(s, ",") {
		coding = strings.Trim(coding, " \t")
		if coding == "" || strings.ContainsFunc(coding, func(c rune) bool {
			return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
		}) {
			return false
		}
	}
	return true
}

// entry checks an entry. After it, add makes it one of those before.
func (c *checker) entry(e *Entry) {
	m, f := &e.Metadata, c.form
	c.times(m, f.entryAt, f.entryFrom, "an entry of "+f.name)
	c.metadata(m)
	if f.at == mandatory || f.from == mandatory {
		c.within(m)
	}
	c.target(m)
	c.change(e)
	c.changeFreq(e)
	c.path(m)
	if f.packages {
		c.packageOf(m)
	}
	if f.ordered {
		c.order(e)
	}
	if f.lastMod == forbidden && !e.LastMod.IsZero() {
		c.report(ruleLastMod, onEntry, e.LastMod.String(),
			"lastmod should be left out, unless "+f.name+" changes with each document that it lists")
	}
	if h := &c.head.Metadata; (f.capability == ResourceList || f.manifest) && !f.index && e.LastMod.After(h.Completed) {
		c.report(ruleSnapshot, onEntry, e.LastMod.String(), "lastmod is after the snapshot was completed, "+h.Completed.String())
	}
	c.links(e)
}

// add makes an entry that was checked one of those before the next.
func (c *checker) add(e *Entry) {
	m := &e.Metadata
	if c.form.capability == CapabilityList && m.Capability != "" {
		c.targets = append(c.targets, m.Capability)
	}
	if c.form.packages && c.format == "" {
		c.format = m.Type
	}
	if m.Path != "" && len(c.paths) < maxPaths {
		if c.paths == nil {
			c.paths, c.seed = make(map[uint64]struct{}), maphash.MakeSeed()
		}
		c.paths[maphash.String(c.seed, m.Path)] = struct{}{}
	}
	at := m.From
	if c.form.changes {
		at = m.Datetime
	}
	if !at.IsZero() {
		c.last = at
	}
	if !e.LastMod.IsZero() {
		c.lastMod = e.LastMod
	}
	c.until, c.isOpen = m.Until, !m.From.IsZero() && m.Until.IsZero()
}

// within checks that the interval of an entry lies within that of the document.
func (c *checker) within(m *Metadata) {
	h := &c.head.Metadata
	outside := func(attr string, d websync.Datetime, way string, limit websync.Datetime) {
		c.report(ruleIntervalEntry, onMetadata, d.String(), attr+" is "+way+" that of the document, "+limit.String())
	}
	if m.At.Before(h.At) {
		outside("at", m.At, "before", h.At)
	}
	if m.Completed.After(h.Completed) {
		outside("completed", m.Completed, "after", h.Completed)
	}
	if m.From.Before(h.From) {
		outside("from", m.From, "before", h.From)
	}
	if m.Until.After(h.Until) {
		outside("until", m.Until, "after", h.Until)
	}
}

// target checks the capability of an entry.
func (c *checker) target(m *Metadata) {
	is, f := m.Capability, c.form
	switch {
	case f.capability == Description && !f.index:
		if is != CapabilityList && (is != "" || !m.isZero()) {
			c.report(ruleTarget, onMetadata, string(is),
				"the capability of an entry of a Source Description must be capabilitylist")
		}
	case f.capability == CapabilityList:
		switch is {
		case "":
			c.report(ruleTarget, onMetadata, "", "an entry of a Capability List must have a capability")
		case Description, CapabilityList, ResourceDumpManifest, ChangeDumpManifest:
			c.report(ruleTarget, onMetadata, string(is), "not a capability of a set of resources")
		default:
			if slices.Contains(c.targets, is) {
				c.report(ruleTargetRepeated, onMetadata, string(is), "a Capability List must have one entry for each capability")
			}
		}
	case is == "":
	case f.target == forbidden:
		c.report(ruleTargetPlace, onMetadata, string(is), "an entry of "+f.name+" has no capability")
	case f.index && is != f.capability:
		c.report(ruleTargetPlace, onMetadata, string(is), "the documents of an index have its capability, "+string(f.capability))
	}
}

// change checks the change of an entry, and its time.
func (c *checker) change(e *Entry) {
	m, h := &e.Metadata, &c.head.Metadata
	if !c.form.changes {
		c.noChange(m)
		return
	}
	if m.Change == Deleted && describes(m.Digests, m.Length, m.Type, m.Encoding) {
		c.report(ruleDeleted, onMetadata, "", "a resource that was deleted has no hash, length, type or encoding")
	}
	if m.Change == "" && !c.stated(m.Faulty, "change") {
		c.report(ruleChangeMissing, onMetadata, "", "an entry of "+c.form.name+" must have a change")
	}
	if m.Datetime.Before(h.From) || m.Datetime.After(h.Until) {
		c.report(ruleDatetimeOutside, onMetadata, m.Datetime.String(), "datetime is not within the interval of the document")
	}
	if !m.Datetime.IsZero() || c.stated(m.Faulty, "datetime") {
		return
	}
	if e.LastMod.IsZero() && e.LastModText == "" {
		c.report(ruleChangeTime, onEntry, "", "neither datetime nor lastmod: only the order of the entries is known")
	}
	if e.LastMod.Before(h.From) || e.LastMod.After(h.Until) {
		c.report(ruleLastModOutside, onEntry, e.LastMod.String(), "lastmod is not within the interval of the document")
	}
}

// noChange checks an entry of a document whose entries are no changes.
func (c *checker) noChange(m *Metadata) {
	if m.Change != "" {
		c.report(ruleChangePlace, onMetadata, string(m.Change), "an entry of "+c.form.name+" has no change")
	}
	if !m.Datetime.IsZero() {
		c.report(ruleDatetimePlace, onMetadata, m.Datetime.String(), "an entry of "+c.form.name+" has no datetime")
	}
}

// changeFreq checks a hint about the frequency of changes.
func (c *checker) changeFreq(e *Entry) {
	m, f, hint := &e.Metadata, c.form, e.ChangeFreq
	switch {
	case hint == "" || f.index: // the rules of sitemaps allow none in an index
	case f.capability == Description, f.capability == CapabilityList, f.packages:
		c.report(ruleChangeFreqPlace, onEntry, string(hint), "an entry of "+f.name+" has no changefreq")
	case isArchive(f.capability) && hint != sitemap.Never:
		c.report(ruleChangeFreq, onEntry, string(hint), "changefreq should be never for what is archived")
	case hint == sitemap.Never && m.Change == Updated:
		c.report(ruleChangeFreq, onEntry, string(hint), "changefreq is never, but the resource was updated")
	case hint == sitemap.Always && len(m.Digests) > 0:
		c.report(ruleChangeFreq, onEntry, string(hint), "changefreq is always, but a hash is of bytes that do not change")
	}
}

// path checks whether an entry has a path.
func (c *checker) path(m *Metadata) {
	f := c.form
	switch there := m.Path != "" || c.stated(m.Faulty, "path"); {
	case !f.manifest && there:
		if f != &anyForm {
			c.report(rulePathPlace, onMetadata, m.Path, "an entry of "+f.name+" has no path")
		}
	case !f.manifest:
	case m.Change == Deleted && there:
		c.report(rulePathDeleted, onMetadata, m.Path, "there is no bitstream of a resource that was deleted")
	case m.Change == Deleted:
	case !there:
		c.report(rulePathMissing, onMetadata, "", "a bitstream must have a path")
	case m.Type == "":
		c.report(ruleTypeMissing, onMetadata, "", "a bitstream should have a type")
	}
	if m.Path != "" && c.paths != nil {
		if _, seen := c.paths[maphash.String(c.seed, m.Path)]; seen {
			c.report(rulePathRepeated, onMetadata, m.Path, "another bitstream has this path")
		}
	}
}

// packageOf checks the md of a package.
func (c *checker) packageOf(m *Metadata) {
	if m.Type == "" || m.Length == 0 && !c.stated(m.Faulty, "length") {
		c.report(rulePackage, onMetadata, "", "a package should have a type and a length")
	}
	if m.Type != "" && c.format != "" && !strings.EqualFold(syntax.Essence(m.Type), syntax.Essence(c.format)) {
		c.report(rulePackageTypes, onMetadata, m.Type, "the packages before are "+c.format)
	}
}
