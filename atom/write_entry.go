package atom

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

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
	c.elements(t.Elements, TombstoneNamespace)
	if len(c.b) == empty {
		c.b = append(c.b[:empty-1], "/>"...)
		return
	}
	c.end(name)
}

// begin begins the tag of an entry or a tombstone.
func (c *encoder) begin(name, declarations string) {
	if declarations != "" {
		c.margin = margins[:1]
	}
	c.open(name)
	if declarations != "" {
		c.b = append(c.b, declarations...)
		c.declared()
	}
}

// end ends it.
func (c *encoder) end(name string) {
	c.margin = c.margin[:len(c.margin)-2]
	c.b = append(c.b, c.margin...)
	c.close(name)
}

// deeper indents what follows.
func (c *encoder) deeper() { c.margin = margins[:len(c.margin)+2] }

// other returns value, or "" if that is the same outside.
func other(value, outer string) string {
	if value == outer {
		return ""
	}
	return value
}

// source appends the feed that an entry was copied from (RFC 4287 §4.2.11). lang and base
// are those around it.
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
	margin := c.margin
	c.margin = ""
	c.iri("uri", &ruleIRI, p.URI)
	c.margin = margin
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

// An alternate is what no two alternates may have in common: type and hreflang in small
// letters.
type alternate struct{ mediaType, lang string }

func alternateOf(l *websync.Link) alternate {
	return alternate{strings.ToLower(l.Type), strings.ToLower(l.Lang)}
}

// registered makes an IRI of the registered name of a relation (RFC 4287 §4.2.7.2).
const registered = "http://www.iana.org/assignments/relation/"

// isAlternate tells whether a relation is that of an alternate (RFC 4287 §4.2.7.2).
func isAlternate(rel string) bool {
	return rel == "alternate" || rel == "" || strings.TrimPrefix(rel, registered) == "alternate"
}

// links appends links.
func (c *encoder) links(links []websync.Link) {
	for i := range links {
		c.link(&links[i])
	}
}

// alternates returns how many links are alternates, of which no two may have one type and
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

// unlike refuses an alternate that can't be told from an earlier one.
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

// bytes appends digests and modified, which links and content have.
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

// hash appends digests, and MD5 once more for old readers.
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
			c.b = append(c.b, d.Algorithm...)
			c.b = appendHex(append(c.b, ':'), d.Sum)
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
		c.b = append(appendHex(c.b, md5.Sum), '"')
	}
}

func appendHex(b []byte, sum string) []byte {
	const digits = "0123456789abcdef"
	from := len(b)
	b = slices.Grow(b, 2*len(sum))[:from+2*len(sum)]
	to := b[from:]
	for i := range len(sum) {
		to[2*i], to[2*i+1] = digits[sum[i]>>4], digits[sum[i]&15]
	}
	return b
}

// attributes appends those of other namespaces.
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

// foreign appends an attribute of another namespace, under the prefix from the root or
// one with a number.
func (c *encoder) foreign(element string, a *websync.Attr, n int) {
	if !isForeign(a.Space) || !c.isName(a.Local) || a.Space == LinkExtNamespace && a.Local == "md5" {
		c.refuse(element, sectionForeign, errAttrSpace)
		return
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
		c.attr(element, `="`, a.Space)
	}
	c.b = append(c.b, ' ')
	c.b = append(c.b, prefix...)
	c.b = append(c.b, ':')
	c.b = append(c.b, a.Local...)
	c.attr(element, `="`, a.Value)
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

// form tells which form the content has.
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
	if form == srcContent {
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
		if _, err := c.fragment(value); err != nil {
			c.refuse(name, ruleContentXML.Section, err)
		}
		c.b = append(c.b, value...)
	case base64Content:
		c.check(name, &ruleContentBase64, syntax.Base64Fault(value))
		c.b = append(c.b, value...)
	default:
		c.value(name, value)
	}
}
