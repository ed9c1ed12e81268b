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
	sectionXML     = "XML 1.0 §2.2"
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

// An encoder appends elements to a buffer. Its methods go on after a refusal; finish then
// removes what they appended.
type encoder struct {
	b       []byte
	from    int                 // where the current feed, entry or tombstone begins
	refused *websync.EntryError // the first reason to refuse it
	depth   int                 // of the next element; zero: it begins no line
	space   string              // declarations for the next element

	lang, base string // of the feed
	legacyMD5  bool
	prefixes   []websync.Attr // Local is declared for Space on the root

	email string // the last valid one
	seen  map[alternate]struct{}
}

// margins are what precedes the name in a tag, by the element's depth.
var margins = [...]string{"<", "\n<", "\n  <", "\n    <", "\n      <"}

// start begins one feed, entry or tombstone.
func (c *encoder) start() {
	c.from, c.refused, c.depth, c.space = len(c.b), nil, 2, ""
}

// finish ends what start began. If it was refused, finish removes it.
func (c *encoder) finish(id string) error {
	if c.refused == nil {
		return nil
	}
	c.b = c.b[:c.from]
	c.refused.ID = id
	return c.refused
}

// refuse records why an element can't be written. Only the first reason counts.
func (c *encoder) refuse(element, section string, err error) {
	if c.refused == nil {
		local := element[strings.IndexByte(element, ':')+1:]
		c.refused = &websync.EntryError{Format: "atom", Element: local, Section: section, Err: err}
	}
}

// breaks refuses an element that breaks a rule.
func (c *encoder) breaks(element string, r *Rule) { c.check(element, r, r.Summary) }

// check refuses an element that breaks a rule, unless fault is "".
func (c *encoder) check(element string, r *Rule, fault string) {
	if fault != "" {
		c.refuse(element, r.Section, errors.New(fault))
	}
}

// declare prepares the namespaces of a document.
func (c *encoder) declare(namespaces map[string]string, legacyMD5 bool) {
	c.lang, c.base, c.legacyMD5, c.prefixes = "", "", legacyMD5, c.prefixes[:0]
	for _, prefix := range slices.Sorted(maps.Keys(namespaces)) {
		space := namespaces[prefix]
		switch taken := prefix == "at" || prefix == "fh" || prefix == "le"; {
		case taken, !element.IsPrefix(prefix):
			c.refuse(prefix, sectionNames, errPrefix)
		case !element.IsAttrSpace(space, Namespace):
			c.refuse(prefix, sectionNames, errAttrSpace)
		}
		c.prefixes = append(c.prefixes, websync.Attr{Space: space, Local: prefix})
	}
}

// declared appends the declarations of the root element.
func (c *encoder) declared() {
	if c.legacyMD5 {
		c.b = append(c.b, ` xmlns:le="`+LinkExtNamespace+`"`...)
	}
	for i := range c.prefixes {
		p := &c.prefixes[i]
		c.b = append(c.b, " xmlns:"...)
		c.b = append(c.b, p.Local...)
		c.attr(p.Local, `="`, p.Space)
	}
}

// open begins the start tag of an element.
func (c *encoder) open(name string) {
	c.b = append(c.b, margins[c.depth]...)
	c.b = append(c.b, name...)
	if c.space != "" {
		c.b = append(c.b, c.space...)
		c.space = ""
	}
}

// close ends an element.
func (c *encoder) close(name string) {
	c.b = append(c.b, "</"...)
	c.b = append(c.b, name...)
	c.b = append(c.b, '>')
}

// attr appends an attribute. name is everything before the value.
func (c *encoder) attr(element, name, value string) {
	b, err := xmlscan.AppendAttr(append(c.b, name...), value)
	if err != nil {
		c.refuse(element, sectionXML, err)
	}
	c.b = append(b, '"')
}

// stated appends an attribute unless its value is empty.
func (c *encoder) stated(element, name, value string) {
	if value != "" {
		c.attr(element, name, value)
	}
}

// plain appends an attribute whose value needs no escapes.
func (c *encoder) plain(name, value string) {
	c.b = append(c.b, name...)
	c.b = append(c.b, value...)
	c.b = append(c.b, '"')
}

// iriAttr appends an attribute whose value is an absolute IRI.
func (c *encoder) iriAttr(element, name string, r *Rule, s string) {
	switch isURL, isPlain := syntax.CommonURL(s); {
	case isPlain:
		c.plain(name, s)
		return
	case !isURL:
		c.check(element, r, syntax.IRIFault(s))
	}
	c.attr(element, name, s)
}

// langAttr appends an attribute that is a language tag, unless it is empty.
func (c *encoder) langAttr(element, name string, r *Rule, s string) {
	if s == "" {
		return
	}
	if len(s) != 2 || !syntax.IsAlpha(s[0]) || !syntax.IsAlpha(s[1]) {
		c.check(element, r, syntax.LanguageFault(s))
	}
	c.attr(element, name, s)
}

// typeAttr appends the type of a link or of content.
func (c *encoder) typeAttr(element string, r *Rule, s string) {
	if isPlainType(s) {
		c.plain(` type="`, s)
		return
	}
	c.check(element, r, syntax.MediaTypeFault(s))
	c.attr(element, ` type="`, s)
}

// value appends text.
func (c *encoder) value(element, text string) {
	b, err := xmlscan.AppendText(c.b, text)
	if err != nil {
		c.refuse(element, sectionXML, err)
	}
	c.b = b
}

// iri appends an element that is an absolute IRI, unless it is empty.
func (c *encoder) iri(name string, r *Rule, s string) {
	if s == "" {
		return
	}
	c.open(name)
	c.iriText(name, r, s)
}

// iriText appends the rest of an element that is an absolute IRI.
func (c *encoder) iriText(name string, r *Rule, s string) {
	c.b = append(c.b, '>')
	switch isURL, isPlain := syntax.CommonURL(s); {
	case isPlain:
		c.b = append(c.b, s...)
	case isURL:
		c.value(name, s)
	default:
		c.check(name, r, syntax.IRIFault(s))
		c.value(name, s)
	}
	c.close(name)
}

// date appends an element with a date, if it is stated.
func (c *encoder) date(name string, d websync.Datetime) {
	if d.IsZero() {
		return
	}
	c.open(name)
	c.b = append(c.b, '>')
	c.b = appendDate(c.b, d)
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
		c.b = append(c.b, ` type="html"`...)
	case XHTML:
		c.b = append(c.b, ` type="xhtml"`...)
	default:
		c.breaks(name, &ruleTextType)
	}
	c.within(name, t.Lang, t.Base)
	c.b = append(c.b, '>')
	if t.Type == XHTML {
		c.div(name, t.Value)
	} else {
		c.value(name, t.Value)
	}
	c.close(name)
}

// within appends xml:lang and xml:base, where they are stated.
func (c *encoder) within(name, lang, base string) {
	c.langAttr(name, ` xml:lang="`, &ruleLang, lang)
	if base != "" {
		c.iriAttr(name, ` xml:base="`, &ruleBase, base)
	}
}

// div appends a div of XHTML.
func (c *encoder) div(name, xml string) {
	root, err := element.Name(xml)
	switch {
	case err != nil:
		c.refuse(name, ruleXHTML.Section, err)
	case root != xmlscan.Name{Space: xhtmlNamespace, Local: "div"}:
		c.breaks(name, &ruleXHTML)
	}
	c.nesting(name, xml)
	c.b = append(c.b, xml...)
}

// elements appends foreign markup.
func (c *encoder) elements(elements []websync.Element, reserved ...string) {
	for i := range elements {
		x := &elements[i]
		if err := element.Check(x); err != nil {
			c.refuse(x.Local, sectionForeign, err)
		} else if x.Space == Namespace || slices.Contains(reserved, x.Space) {
			c.refuse(x.Local, sectionForeign, errSpace)
		}
		c.nesting(x.Local, x.XML)
		margin := margins[c.depth]
		c.b = append(c.b, margin[:len(margin)-1]...)
		c.b = append(c.b, x.XML...)
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
	c.b = append(c.b, ` xmlns="`+Namespace+`" xmlns:at="`+TombstoneNamespace+`"`...)
	if f.Complete || f.Archive {
		c.b = append(c.b, ` xmlns:fh="`+HistoryNamespace+`"`...)
	}
	c.declared()
	c.within("feed", f.Lang, f.Base)
	c.b = append(c.b, '>')
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
			c.b = append(append(c.b, declaration...), "/>"...)
		}
	}
	mark("fh:complete", f.Complete)
	mark("fh:archive", f.Archive)
}

// required refuses a feed or an entry without one of the elements that both must have.
func (c *encoder) required(id string, title *Text, updated websync.Datetime, r *Rule) {
	switch {
	case id == "":
		c.refuse("id", r.Section, errMissing)
	case title.IsZero():
		c.refuse("title", r.Section, errMissing)
	case updated.IsZero():
		c.refuse("updated", r.Section, errMissing)
	}
}

// metadata appends the elements that a feed and the source of an entry have in common.
func (c *encoder) metadata(f *Feed) {
	c.iri("id", &ruleID, f.ID)
	c.text("title", &f.Title)
	c.text("subtitle", &f.Subtitle)
	c.date("updated", f.Updated)
	c.people(f.Authors, f.Contributors)
	c.categories(f.Categories)
	c.generator(&f.Generator)
	c.iri("icon", &ruleIRI, f.Icon)
	c.iri("logo", &ruleIRI, f.Logo)
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
	c.b = append(c.b, '>')
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
	c.b = append(c.b, '>')
	c.deeper()
	c.required(e.ID, &e.Title, e.Updated, &ruleEntryChild)
	c.iri("id", &ruleID, e.ID)
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
		c.refuse("ref", ruleTombstoneRef.Section, errMissing)
	case t.When.IsZero():
		c.refuse("when", ruleTombstoneWhen.Section, errMissing)
	}
	c.iriAttr("ref", ` ref="`, &ruleTombstoneRef, t.Ref)
	c.b = append(c.b, ` when="`...)
	c.b = append(appendDate(c.b, t.When), '"')
	c.within(name, other(t.Lang, c.lang), other(t.Base, c.base))
	c.b = append(c.b, '>')
	empty := len(c.b)
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
	if len(c.b) == empty {
		c.b = append(c.b[:empty-1], "/>"...)
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
		c.b = append(c.b, declarations...)
		c.declared()
	}
}

// end ends an entry or a tombstone.
func (c *encoder) end(name string) {
	c.depth--
	c.b = append(c.b, margins[c.depth]...)
	c.b = append(c.b, '/')
	c.b = append(c.b, name...)
	c.b = append(c.b, '>')
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
	c.b = append(c.b, '>')
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
	c.b = append(c.b, "><name>"...)
	if strings.TrimSpace(p.Name) == "" {
		c.breaks(name, &rulePersonName)
	}
	c.value(name, p.Name)
	c.b = append(c.b, "</name>"...)
	if p.URI != "" {
		c.b = append(c.b, "<uri"...)
		c.iriText("uri", &ruleIRI, p.URI)
	}
	if p.Email != "" {
		if p.Email != c.email {
			c.check(name, &ruleEmail, syntax.EmailFault(p.Email))
		}
		c.b = append(c.b, "<email>"...)
		c.value(name, p.Email)
		c.b = append(c.b, "</email>"...)
		if c.refused == nil {
			c.email = p.Email
		}
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
	c.b = append(c.b, "/>"...)
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
	if rel := cmp.Or(l.Rel, "alternate"); isPlainRel(rel) {
		c.plain(` rel="`, rel)
	} else {
		c.check(name, &ruleRel, syntax.RelationFault(rel))
		c.attr(name, ` rel="`, rel)
	}
	c.iriAttr(name, ` href="`, &ruleHref, l.Href)
	if l.Type != "" {
		c.typeAttr(name, &ruleLinkType, l.Type)
	}
	c.langAttr(name, ` hreflang="`, &ruleHreflang, l.Lang)
	c.stated(name, ` title="`, l.Title)
	c.extent(name, l)
	c.bytes(name, l)
	c.attributes(name, l.Attrs)
	c.b = append(c.b, "/>"...)
}

// extent appends the length, which only links have.
func (c *encoder) extent(element string, l *websync.Link) {
	n, stated := l.StatedLength()
	if stated {
		c.b = append(c.b, ` length="`...)
		c.b = strconv.AppendInt(c.b, n, 10)
		c.b = append(c.b, '"')
	} else if l.Length != 0 {
		c.breaks(element, &ruleLength)
	}
}

// bytes appends digests and modified, which links and content can have.
func (c *encoder) bytes(element string, l *websync.Link) {
	_, stated := l.StatedLength()
	if l.Encoding != "" && (stated || len(l.Digests) > 0) {
		c.refuse(element, sectionHash, errCoded)
	}
	if len(l.Digests) > 0 {
		c.hash(element, l.Digests)
	}
	if !l.Modified.IsZero() {
		c.b = append(c.b, ` modified="`...)
		c.b = append(appendDate(c.b, l.Modified), '"')
	}
}

// hash appends digests. With legacyMD5 it also appends MD5 in le:md5.
func (c *encoder) hash(element string, digests websync.Digests) {
	c.b = append(c.b, ` hash="`...)
	for i, d := range digests {
		if i > 0 {
			c.b = append(c.b, ' ')
		}
		if first, _ := digests.Get(d.Algorithm); first != d {
			c.breaks(element, &ruleHashConflict)
		}
		if d.Known() {
			c.b = document.AppendDigest(c.b, d)
			continue
		}
		text := d.String()
		if parsed, err := websync.ParseDigest(text); err != nil || parsed != d {
			c.breaks(element, &ruleHash)
		}
		c.check(element, &ruleHash, syntax.DigestFault(text))
		c.value(element, text)
	}
	c.b = append(c.b, '"')
	if md5, ok := digests.Get("md5"); ok && c.legacyMD5 {
		c.b = append(c.b, ` le:md5="`...)
		c.b = append(document.AppendHex(c.b, md5.Sum), '"')
	}
}

// attributes appends foreign attributes.
func (c *encoder) attributes(element string, attrs []websync.Attr) {
	if len(attrs) > 100 {
		c.refuse(element, sectionForeign, errAttrCount)
		return
	}
	for i := range attrs {
		a := &attrs[i]
		for _, earlier := range attrs[:i] {
			if earlier.Space == a.Space && earlier.Local == a.Local {
				c.refuse(element, sectionForeign, errAttrTwice)
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
		c.refuse(in, sectionForeign, errAttrSpace)
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
		var buf [8]byte
		prefix = string(strconv.AppendInt(append(buf[:0], "ns"...), int64(n), 10))
		c.b = append(c.b, " xmlns:"...)
		c.b = append(c.b, prefix...)
		c.attr(in, `="`, a.Space)
	}
	c.b = append(c.b, ' ')
	c.b = append(c.b, prefix...)
	c.b = append(c.b, ':')
	c.b = append(c.b, a.Local...)
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
	case form == htmlContent || form == xhtmlContent:
		c.plain(` type="`, x.Type)
	case form != textContent && x.Type != "":
		c.typeAttr(name, &ruleContentType, x.Type)
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
		c.refuse(name, sectionHash, errInline)
	}
	c.within(name, x.Lang, x.Base)
	c.attributes(name, x.Attrs)
	if form == srcContent || form == textContent && x.Value == "" {
		c.b = append(c.b, "/>"...)
		return form
	}
	c.b = append(c.b, '>')
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
			c.refuse(name, ruleContentXML.Section, err)
		}
		c.nesting(name, value)
		c.b = append(c.b, value...)
	case base64Content:
		c.check(name, &ruleContentBase64, syntax.Base64Fault(value))
		c.b = append(c.b, value...)
	default:
		c.value(name, value)
	}
}

// plainBytes are the bytes of plain media types and relations.
var plainBytes = func() (t [256]bool) {
	for i := range t {
		c := byte(i)
		t[c] = syntax.IsAlpha(c) || syntax.IsDigit(c) || c == '-' || c == '.' || c == '+'
	}
	return t
}()

// isPlainType reports whether s is a media type of the most common kind, which needs
// neither a check nor escapes.
func isPlainType(s string) bool {
	slash := strings.IndexByte(s, '/')
	if slash <= 0 || slash == len(s)-1 {
		return false
	}
	for i := range len(s) {
		if !plainBytes[s[i]] && i != slash {
			return false
		}
	}
	return true
}

// isPlainRel reports whether s is the name of a relation of the most common kind, which
// needs neither a check nor escapes.
func isPlainRel(s string) bool {
	for i := range len(s) {
		if !plainBytes[s[i]] {
			return false
		}
	}
	return true
}

// appendDate appends d in the form that Atom and its schema have: a date with a time to
// the second or finer, and an offset of at most 14 hours (RFC 4287 §3.3).
func appendDate(b []byte, d websync.Datetime) []byte {
	if d.Precision() < websync.PrecisionSecond {
		d = d.WithPrecision(websync.PrecisionSecond)
	}
	b, _ = document.AppendSchemaDate(b, d)
	return b
}
