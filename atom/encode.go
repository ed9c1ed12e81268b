package atom

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// The sections of the specifications for faults that no rule covers.
const (
	sectionForeign = "RFC 4287 §6"
	sectionNames   = "Namespaces in XML 1.0 §3"
)

var (
	errMissing   = errors.New("missing")
	errSpace     = errors.New("an element of Atom, or one that only the fields may state")
	errAttrSpace = errors.New("must be an attribute of another namespace")
	errAttrTwice = errors.New("an attribute that is stated twice")
	errAttrCount = errors.New("more than 100 attributes")
	errPrefix    = errors.New("a reserved or invalid prefix of a namespace")
)

// An encoder appends feeds, entries and tombstones. After a refusal, finish removes what
// its methods appended.
type encoder struct {
	document.Encoder
	from  int    // where the current feed, entry or tombstone begins
	depth int    // of the next element; zero: it begins no line
	space string // declarations for the next element

	lang, base string // of the feed
	legacyMD5  bool
	prefixes   []websync.Attr // Local is declared for Space on the root

	valid [32]validValue // those checked last, at their hash
	seen  map[alternate]struct{}
}

// A validValue is valid by a rule, and needs no escapes.
type validValue struct {
	rule  *Rule
	value string
}

// margins are what precedes the name in a tag, by the element's depth.
var margins = [...]string{"<", "\n<", "\n  <", "\n    <", "\n      <"}

// start begins one feed, entry or tombstone.
func (c *encoder) start() {
	c.from, c.depth, c.space = len(c.B), 2, ""
}

// finish ends what start began. If it was refused, finish removes it.
func (c *encoder) finish(id string) error {
	refused := c.Refusal("atom", id)
	if refused == nil {
		return nil
	}
	c.B = c.B[:c.from]
	refused.Element = refused.Element[strings.IndexByte(refused.Element, ':')+1:]
	return refused
}

// breaks refuses an element that breaks a rule.
func (c *encoder) breaks(element string, r *Rule) { c.check(element, r, r.Summary) }

// check refuses an element that breaks a rule, unless fault is "".
func (c *encoder) check(element string, r *Rule, fault string) {
	if fault != "" {
		c.Refuse(element, r.Section, errors.New(fault))
	}
}

// declare prepares the namespaces of a document.
func (c *encoder) declare(namespaces map[string]string, legacyMD5 bool) {
	c.lang, c.base, c.legacyMD5, c.prefixes = "", "", legacyMD5, c.prefixes[:0]
	for _, prefix := range slices.Sorted(maps.Keys(namespaces)) {
		space := namespaces[prefix]
		switch taken := prefix == "at" || prefix == "fh" || prefix == "le"; {
		case taken, !element.IsPrefix(prefix):
			c.Refuse(prefix, sectionNames, errPrefix)
		case !element.IsAttrSpace(space, Namespace):
			c.Refuse(prefix, sectionNames, errAttrSpace)
		}
		c.prefixes = append(c.prefixes, websync.Attr{Space: space, Local: prefix})
	}
}

// declared appends the declarations of the root element.
func (c *encoder) declared() {
	if c.legacyMD5 {
		c.B = append(c.B, ` xmlns:le="`+LinkExtNamespace+`"`...)
	}
	for i := range c.prefixes {
		p := &c.prefixes[i]
		c.attr(p.Local, " xmlns:"+p.Local+`="`, p.Space)
	}
}

// open begins the start tag of an element.
func (c *encoder) open(name string) {
	c.B = append(c.B, margins[c.depth]...)
	c.B = append(c.B, name...)
	if c.space != "" {
		c.B = append(c.B, c.space...)
		c.space = ""
	}
}

// close ends an element.
func (c *encoder) close(name string) {
	c.B = append(c.B, "</"...)
	c.B = append(c.B, name...)
	c.B = append(c.B, '>')
}

// attr appends an attribute. name is all that precedes its value.
func (c *encoder) attr(element, name, value string) {
	b, err := xmlscan.AppendAttr(c.B, name, value)
	if err != nil {
		c.Refuse(element, document.SectionXML, err)
	}
	c.B = b
}

// stated appends an attribute unless its value is empty.
func (c *encoder) stated(element, name, value string) {
	if value != "" {
		c.attr(element, name, value)
	}
}

// iriAttr appends an attribute whose value is an absolute IRI.
func (c *encoder) iriAttr(element, name string, r *Rule, s string) {
	c.B = append(c.B, name...)
	c.iri(element, r, s)
	c.B = append(c.B, '"')
}

// iri appends an absolute IRI, in an element or an attribute: it can hold no quote.
func (c *encoder) iri(element string, r *Rule, s string) {
	isURL, isPlain := syntax.CommonURL(s)
	if isPlain {
		c.B = append(c.B, s...)
		return
	}
	if !isURL {
		c.check(element, r, syntax.IRIFault(s))
	}
	c.value(element, s)
}

// valueAttr appends an attribute that has a grammar, unless it is empty.
func (c *encoder) valueAttr(element, name string, r *Rule, s string, fault func(string) string) {
	switch {
	case s == "":
	case c.recurs(element, r, s, fault):
		c.B = append(append(append(c.B, name...), s...), '"')
	default:
		c.attr(element, name, s)
	}
}

// recurs is check for a value that is not empty. It reports whether the value was checked
// before and needs no escapes: types, relations and languages recur.
func (c *encoder) recurs(element string, r *Rule, s string, fault func(string) string) bool {
	hash := (uint32(s[0])<<16 | uint32(s[len(s)-1])<<8 | uint32(len(s))) * 0x9e3779b1
	last := &c.valid[hash>>27] // its upper five bits
	if last.rule == r && last.value == s {
		return true
	}
	message := fault(s)
	c.check(element, r, message)
	if message == "" && xmlscan.IsPlain(s) && strings.IndexByte(s, '"') < 0 {
		*last = validValue{r, s}
	}
	return false
}

// value appends text.
func (c *encoder) value(element, text string) {
	b, err := xmlscan.AppendText(c.B, text)
	if err != nil {
		c.Refuse(element, document.SectionXML, err)
	}
	c.B = b
}

// iriElement appends an element that is an absolute IRI, unless it is empty.
func (c *encoder) iriElement(name string, r *Rule, s string) {
	if s == "" {
		return
	}
	c.open(name)
	c.B = append(c.B, '>')
	c.iri(name, r, s)
	c.close(name)
}

// date appends an element with a date, if it is stated.
func (c *encoder) date(name string, d websync.Datetime) {
	if d.IsZero() {
		return
	}
	c.open(name)
	c.B = document.AppendSchemaTime(append(c.B, '>'), d)
	c.close(name)
}

// text appends a text construct, if it is stated (RFC 4287 §3.1).
func (c *encoder) text(name string, t *Text) {
	if t.IsZero() {
		return
	}
	c.open(name)
	switch t.Type {
	case "", PlainText:
	case HTML:
		c.B = append(c.B, ` type="html"`...)
	case XHTML:
		c.B = append(c.B, ` type="xhtml"`...)
	default:
		c.breaks(name, &ruleTextType)
	}
	c.within(name, t.Lang, t.Base)
	c.B = append(c.B, '>')
	if t.Type == XHTML {
		c.div(name, t.Value)
	} else {
		c.value(name, t.Value)
	}
	c.close(name)
}

// within appends xml:lang and xml:base, where they are stated.
func (c *encoder) within(name, lang, base string) {
	c.valueAttr(name, ` xml:lang="`, &ruleLang, lang, syntax.LanguageFault[string])
	if base != "" {
		c.iriAttr(name, ` xml:base="`, &ruleBase, base)
	}
}

// div appends a div of XHTML.
func (c *encoder) div(name, xml string) {
	root, err := element.Name(xml)
	switch {
	case err != nil:
		c.Refuse(name, ruleXHTML.Section, err)
	case root != xmlscan.Name{Space: xhtmlNamespace, Local: "div"}:
		c.breaks(name, &ruleXHTML)
	}
	c.nesting(name, xml)
	c.B = append(c.B, xml...)
}

// elements appends foreign markup.
func (c *encoder) elements(elements []websync.Element, reserved ...string) {
	for i := range elements {
		x := &elements[i]
		if err := element.Check(x); err != nil {
			c.Refuse(x.Local, sectionForeign, err)
		} else if x.Space == Namespace || slices.Contains(reserved, x.Space) {
			c.Refuse(x.Local, sectionForeign, errSpace)
		}
		c.nesting(x.Local, x.XML)
		margin := margins[c.depth]
		c.B = append(c.B, margin[:len(margin)-1]...)
		c.B = append(c.B, x.XML...)
	}
}

// nesting refuses XML that has an entry or a tombstone in it: a Reader takes such an
// entry for one of the feed.
func (c *encoder) nesting(name, xml string) {
	if !strings.Contains(xml, "entry") {
		return
	}
	r := xmlscan.NewReader(strings.NewReader(xml))
	for kind, err := r.Next(); err == nil; kind, err = r.Next() {
		if x := r.Name(); kind == xmlscan.Start && (isTombstone(x) || x == xmlscan.Name{Space: Namespace, Local: "entry"}) {
			c.breaks(name, &ruleNesting)
		}
	}
}

// feed appends the root of a feed document, and its metadata (RFC 4287 §4.1.1).
func (c *encoder) feed(f *Feed) {
	c.depth = 1
	c.open("feed")
	c.B = append(c.B, ` xmlns="`+Namespace+`" xmlns:at="`+TombstoneNamespace+`"`...)
	if f.Complete || f.Archive {
		c.B = append(c.B, ` xmlns:fh="`+HistoryNamespace+`"`...)
	}
	c.declared()
	c.within("feed", f.Lang, f.Base)
	c.B = append(c.B, '>')
	c.deeper()
	c.required(f.ID, &f.Title, f.Updated, &ruleFeedChild)
	c.metadata(f)
	c.marks(f, "")
	c.history(f)
	c.elements(f.Elements, HistoryNamespace, TombstoneNamespace)
	for i := range f.Elements {
		if local := f.Elements[i].Local; strings.EqualFold(local, "entry") || strings.EqualFold(local, "deleted-entry") {
			c.breaks(local, &ruleUnknown) // a Reader takes it for an item
		}
	}
}

// marks appends the marks of RFC 5005. declaration declares their namespace if the root
// does not.
func (c *encoder) marks(f *Feed, declaration string) {
	mark := func(name string, is bool) {
		if is {
			c.open(name)
			c.B = append(append(c.B, declaration...), "/>"...)
		}
	}
	mark("fh:complete", f.Complete)
	mark("fh:archive", f.Archive)
}

// required refuses a feed or an entry without one of the elements that both must have.
func (c *encoder) required(id string, title *Text, updated websync.Datetime, r *Rule) {
	switch {
	case id == "":
		c.Refuse("id", r.Section, errMissing)
	case title.IsZero():
		c.Refuse("title", r.Section, errMissing)
	case updated.IsZero():
		c.Refuse("updated", r.Section, errMissing)
	}
}

// metadata appends the elements that a feed and the source of an entry have in common.
func (c *encoder) metadata(f *Feed) {
	c.iriElement("id", &ruleID, f.ID)
	c.text("title", &f.Title)
	c.text("subtitle", &f.Subtitle)
	c.date("updated", f.Updated)
	c.people(f.Authors, f.Contributors)
	c.categories(f.Categories)
	c.generator(&f.Generator)
	c.iriElement("icon", &ruleIRI, f.Icon)
	c.iriElement("logo", &ruleIRI, f.Logo)
	c.text("rights", &f.Rights)
	c.links(f.Links)
	c.alternates(f.Links)
}

// generator appends a generator, if there is one (RFC 4287 §4.2.4).
func (c *encoder) generator(g *Generator) {
	if *g == (Generator{}) {
		return
	}
	c.open("generator")
	if g.URI != "" {
		c.iriAttr("generator", ` uri="`, &ruleIRI, g.URI)
	}
	c.stated("generator", ` version="`, g.Version)
	c.B = append(c.B, '>')
	c.value("generator", g.Name)
	c.close("generator")
}

// pageRelations are the relations between the documents of one feed (RFC 5005 §3, §4).
var pageRelations = [...]string{"first", "last", "next", "previous", "prev", "prev-archive", "next-archive", "current"}

// history refuses a feed whose links to its other documents contradict each other.
func (c *encoder) history(f *Feed) {
	self, _ := f.Link("self")
	var targets [len(pageRelations)]string
	for i := range f.Links {
		l := &f.Links[i]
		n := slices.Index(pageRelations[:], l.Rel)
		if n < 0 {
			continue
		}
		switch same := l.Href == self.Href; {
		case targets[n] != "" && targets[n] != l.Href:
			c.breaks("link", &rulePagingTwice)
		case f.Complete && !same:
			c.breaks("link", &ruleCompletePaged)
		case f.Archive && same && l.Rel == "current":
			c.breaks("link", &ruleArchiveSelf)
		case same && strings.HasPrefix(l.Rel, "next"), same && strings.HasPrefix(l.Rel, "prev"):
			c.breaks("link", &rulePagingSelf)
		}
		targets[n] = l.Href
	}
	if f.Complete && f.Archive {
		c.breaks("complete", &ruleCompletePaged)
	}
}

var (
	errCoded  = errors.New("length and digests of bytes in a content coding, which Atom can't state")
	errInline = errors.New("a length or digests without src")
)

// entry appends an entry (RFC 4287 §4.1.2). declarations are those of a root element.
func (c *encoder) entry(e *Entry, declarations string) {
	c.begin("entry", declarations)
	c.within("entry", other(e.Lang, c.lang), other(e.Base, c.base))
	c.B = append(c.B, '>')
	c.deeper()
	c.required(e.ID, &e.Title, e.Updated, &ruleEntryChild)
	c.iriElement("id", &ruleID, e.ID)
	c.text("title", &e.Title)
	c.date("updated", e.Updated)
	c.date("published", e.Published)
	c.people(e.Authors, e.Contributors)
	c.categories(e.Categories)
	c.text("summary", &e.Summary)
	c.text("rights", &e.Rights)
	if e.Source != nil {
		c.source(e.Source, cmp.Or(e.Lang, c.lang), cmp.Or(e.Base, c.base))
	}
	c.links(e.Links)
	alternates := c.alternates(e.Links)
	form := c.content(&e.Content)
	switch {
	case form == noContent && alternates == 0:
		c.breaks("link", &ruleEntryAlternate)
	case form >= base64Content && e.Summary.IsZero():
		c.breaks("summary", &ruleEntrySummary)
	}
	c.elements(e.Elements, HistoryNamespace, TombstoneNamespace)
	c.end("entry")
}

// tombstone appends a tombstone (RFC 6721 §3). declarations are those of a root element.
func (c *encoder) tombstone(t *Tombstone, declarations string) {
	const name = "at:deleted-entry"
	c.begin(name, declarations)
	switch {
	case t.Ref == "":
		c.Refuse("ref", ruleTombstoneRef.Section, errMissing)
	case t.When.IsZero():
		c.Refuse("when", ruleTombstoneWhen.Section, errMissing)
	}
	c.iriAttr("ref", ` ref="`, &ruleTombstoneRef, t.Ref)
	c.Date(` when="`, t.When)
	c.within(name, other(t.Lang, c.lang), other(t.Base, c.base))
	c.B = append(c.B, '>')
	empty := len(c.B)
	c.deeper()
	if t.By != (websync.Person{}) {
		c.person("at:by", &t.By)
	}
	c.text("at:comment", &t.Comment)
	c.links(t.Links)
	if t.Source != nil {
		c.source(t.Source, cmp.Or(t.Lang, c.lang), cmp.Or(t.Base, c.base))
	}
	c.elements(t.Elements, HistoryNamespace, TombstoneNamespace)
	if len(c.B) == empty {
		c.B = append(c.B[:empty-1], "/>"...)
		return
	}
	c.end(name)
}

// begin begins the tag of an entry or a tombstone.
func (c *encoder) begin(name, declarations string) {
	if declarations != "" {
		c.depth = 1
	}
	c.open(name)
	if declarations != "" {
		c.B = append(c.B, declarations...)
		c.declared()
	}
}

// end ends an entry or a tombstone.
func (c *encoder) end(name string) {
	c.depth--
	c.B = append(c.B, margins[c.depth]...)
	c.B = append(c.B, '/')
	c.B = append(c.B, name...)
	c.B = append(c.B, '>')
}

// deeper indents what follows.
func (c *encoder) deeper() { c.depth++ }

// other returns value, or "" if outer is the same.
func other(value, outer string) string {
	if value == outer {
		return ""
	}
	return value
}

// source appends the feed that an entry was copied from (RFC 4287 §4.2.11). lang and base
// are those of the element around it.
func (c *encoder) source(f *Feed, lang, base string) {
	c.open("source")
	c.within("source", other(f.Lang, lang), other(f.Base, base))
	c.B = append(c.B, '>')
	c.deeper()
	c.metadata(f)
	c.marks(f, ` xmlns:fh="`+HistoryNamespace+`"`)
	c.elements(f.Elements, HistoryNamespace, TombstoneNamespace)
	c.end("source")
}

func (c *encoder) people(authors, contributors []websync.Person) {
	for i := range authors {
		c.person("author", &authors[i])
	}
	for i := range contributors {
		c.person("contributor", &contributors[i])
	}
}

// person appends a person construct (RFC 4287 §3.2).
func (c *encoder) person(name string, p *websync.Person) {
	c.open(name)
	c.B = append(c.B, "><name>"...)
	if strings.TrimSpace(p.Name) == "" {
		c.breaks(name, &rulePersonName)
	}
	c.value(name, p.Name)
	c.B = append(c.B, "</name>"...)
	if p.URI != "" {
		c.B = append(c.B, "<uri>"...)
		c.iri("uri", &ruleIRI, p.URI)
		c.close("uri")
	}
	if p.Email != "" {
		c.recurs(name, &ruleEmail, p.Email, syntax.EmailFault[string])
		c.B = append(c.B, "<email>"...)
		c.value(name, p.Email)
		c.B = append(c.B, "</email>"...)
	}
	c.close(name)
}

// categories appends categories (RFC 4287 §4.2.2).
func (c *encoder) categories(categories []Category) {
	for i := range categories {
		c.category(&categories[i])
	}
}

func (c *encoder) category(x *Category) {
	c.open("category")
	if strings.TrimSpace(x.Term) == "" {
		c.breaks("category", &ruleCategory)
	}
	c.attr("category", ` term="`, x.Term)
	if x.Scheme != "" {
		c.iriAttr("category", ` scheme="`, &ruleCategory, x.Scheme)
	}
	c.stated("category", ` label="`, x.Label)
	c.within("category", x.Lang, "")
	c.B = append(c.B, "/>"...)
}

// An alternate is the type and hreflang of an alternate link, in lower case. No two links
// of a feed or entry may have the same.
type alternate struct{ mediaType, lang string }

func alternateOf(l *websync.Link) alternate {
	return alternate{strings.ToLower(l.Type), strings.ToLower(l.Lang)}
}

// isAlternate reports whether a relation is that of an alternate (RFC 4287 §4.2.7.2).
// Capitals make no difference (RFC 8288 §2.1.1).
func isAlternate(rel string) bool {
	return rel == "alternate" || rel == "" || strings.EqualFold(syntax.RelationName(rel), "alternate")
}

// links appends links.
func (c *encoder) links(links []websync.Link) {
	for i := range links {
		c.link(&links[i])
	}
}

// alternates returns how many links are alternates. It refuses two with the same type and
// hreflang (RFC 4287 §4.1.1, §4.1.2).
func (c *encoder) alternates(links []websync.Link) (n int) {
	for i := range links {
		if !isAlternate(links[i].Rel) {
			continue
		}
		if n++; n <= 8 {
			c.unlike(&links[i], links[:i])
		}
	}
	if n > 8 {
		c.distinct(links, n)
	}
	return n
}

// unlike refuses an alternate that has the type and language of an earlier one.
func (c *encoder) unlike(l *websync.Link, earlier []websync.Link) {
	for i := range earlier {
		m := &earlier[i]
		if len(l.Type) == len(m.Type) && len(l.Lang) == len(m.Lang) && isAlternate(m.Rel) && alternateOf(l) == alternateOf(m) {
			c.breaks("link", &ruleAlternate)
		}
	}
}

// distinct is unlike for many links, n of which are alternates.
func (c *encoder) distinct(links []websync.Link, n int) {
	if c.seen == nil {
		c.seen = make(map[alternate]struct{})
	}
	clear(c.seen)
	for i := range links {
		if isAlternate(links[i].Rel) {
			c.seen[alternateOf(&links[i])] = struct{}{}
		}
	}
	if len(c.seen) < n {
		c.breaks("link", &ruleAlternate)
	}
}

// link appends a link (RFC 4287 §4.2.7) with the attributes of the link extensions.
func (c *encoder) link(l *websync.Link) {
	const name = "link"
	c.open(name)
	c.valueAttr(name, ` rel="`, &ruleRel, cmp.Or(l.Rel, "alternate"), syntax.RelationFault[string])
	c.iriAttr(name, ` href="`, &ruleHref, l.Href)
	c.valueAttr(name, ` type="`, &ruleLinkType, l.Type, syntax.MediaTypeFault[string])
	c.valueAttr(name, ` hreflang="`, &ruleHreflang, l.Lang, syntax.LanguageFault[string])
	c.stated(name, ` title="`, l.Title)
	if l.Length < websync.StatedZero {
		c.breaks(name, &ruleLength)
	}
	c.Number(` length="`, l.Length)
	c.bytes(name, l)
	c.attributes(name, l.Attrs)
	c.B = append(c.B, "/>"...)
}

// bytes appends digests and modified, which links and content can have.
func (c *encoder) bytes(element string, l *websync.Link) {
	_, stated := l.StatedLength()
	if l.Encoding != "" && (stated || len(l.Digests) > 0) {
		c.Refuse(element, sectionHash, errCoded)
	}
	c.hash(element, l.Digests)
	c.Date(` modified="`, l.Modified)
}

// hash appends digests. With legacyMD5 it also appends MD5 in le:md5.
func (c *encoder) hash(element string, digests websync.Digests) {
	for _, d := range digests {
		if first, _ := digests.Get(d.Algorithm); first != d {
			c.breaks(element, &ruleHashConflict)
		}
		if d.Known() {
			continue
		}
		text := d.String()
		if parsed, err := websync.ParseDigest(text); err != nil || parsed != d {
			c.breaks(element, &ruleHash)
		}
		c.check(element, &ruleHash, syntax.DigestFault(text))
	}
	c.Hash(digests)
	if md5, ok := digests.Get("md5"); ok && c.legacyMD5 {
		c.B = append(c.B, ` le:md5="`...)
		c.B = append(document.AppendHex(c.B, md5.Sum), '"')
	}
}

// attributes appends foreign attributes.
func (c *encoder) attributes(element string, attrs []websync.Attr) {
	if len(attrs) > 100 {
		c.Refuse(element, sectionForeign, errAttrCount)
		return
	}
	for i := range attrs {
		a := &attrs[i]
		for _, earlier := range attrs[:i] {
			if earlier.Space == a.Space && earlier.Local == a.Local {
				c.Refuse(element, sectionForeign, errAttrTwice)
			}
		}
		c.foreign(element, a, i+1)
	}
}

// foreign appends an attribute of another namespace to the element in, with the prefix
// that the root declares or a numbered one.
func (c *encoder) foreign(in string, a *websync.Attr, n int) {
	reserved := a.Space == TombstoneNamespace || a.Space == HistoryNamespace ||
		a.Space == LinkExtNamespace && slices.Contains([]string{"md5", "hash", "modified"}, a.Local)
	if reserved || !element.IsAttrSpace(a.Space, Namespace) || !element.IsLocal(a.Local) {
		c.Refuse(in, sectionForeign, errAttrSpace)
		return
	}
	if a.Space == LinkExtNamespace && a.Local == "etag" {
		c.check(in, &ruleETag, syntax.EntityTagFault(a.Value))
	}
	if a.Space == LinkExtNamespace && a.Local == "accessed" {
		_, fault := date3339(a.Value)
		c.check(in, &ruleLinkModified, fault)
	}
	prefix := ""
	for i := range c.prefixes {
		if c.prefixes[i].Space == a.Space {
			prefix = c.prefixes[i].Local
		}
	}
	if prefix == "" {
		prefix = "ns" + strconv.Itoa(n)
		c.B = append(append(c.B, " xmlns:"...), prefix...)
		c.attr(in, `="`, a.Space)
	}
	c.B = append(append(append(append(c.B, ' '), prefix...), ':'), a.Local...)
	c.attr(in, `="`, a.Value)
}

// A contentForm is one of the forms of content (RFC 4287 §4.1.3).
type contentForm uint8

const (
	noContent contentForm = iota
	textContent
	htmlContent
	xhtmlContent
	xmlContent
	otherTextContent // of another type of text
	base64Content
	srcContent
)

// isXML reports whether a Value of the form is an element.
func (f contentForm) isXML() bool { return f == xhtmlContent || f == xmlContent }

// form returns which form the content has.
func (c *Content) form() contentForm {
	switch {
	case c.IsZero():
		return noContent
	case c.Href != "":
		return srcContent
	case c.Type == "", c.Type == PlainText:
		return textContent
	case c.Type == HTML:
		return htmlContent
	case c.Type == XHTML:
		return xhtmlContent
	case syntax.IsXML(c.Type):
		return xmlContent
	case syntax.IsText(c.Type):
		return otherTextContent
	}
	return base64Content
}

// content appends content (RFC 4287 §4.1.3).
func (c *encoder) content(x *Content) contentForm {
	const name = "content"
	form := x.form()
	if form == noContent {
		return form
	}
	c.open(name)
	switch {
	case form == textContent && x.Value != "":
		c.B = append(c.B, ` type="text"`...) // the default, but a reader is known that takes none for Base64
	case form == htmlContent || form == xhtmlContent:
		c.attr(name, ` type="`, x.Type)
	case form != textContent:
		c.valueAttr(name, ` type="`, &ruleContentType, x.Type, syntax.MediaTypeFault[string])
		if syntax.IsComposite(x.Type) {
			c.breaks(name, &ruleContentType)
		}
	}
	if form == srcContent {
		c.iriAttr(name, ` src="`, &ruleContentSrc, x.Href)
		if x.Value != "" {
			c.breaks(name, &ruleContentSrc)
		}
		c.bytes(name, &x.Link)
	} else if x.Length != 0 || len(x.Digests) > 0 {
		c.Refuse(name, sectionHash, errInline)
	}
	c.within(name, x.Lang, x.Base)
	c.attributes(name, x.Attrs)
	if form == srcContent || form == textContent && x.Value == "" {
		c.B = append(c.B, "/>"...)
		return form
	}
	c.B = append(c.B, '>')
	c.inline(x.Value, form)
	c.close(name)
	return form
}

// inline appends the value of content.
func (c *encoder) inline(value string, form contentForm) {
	const name = "content"
	switch form {
	case xhtmlContent:
		c.div(name, value)
	case xmlContent:
		if _, err := element.Name(value); err != nil {
			c.Refuse(name, ruleContentXML.Section, err)
		}
		c.nesting(name, value)
		c.B = append(c.B, value...)
	case base64Content:
		c.check(name, &ruleContentBase64, syntax.Base64Fault(value))
		c.B = append(c.B, value...)
	default:
		c.value(name, value)
	}
}
