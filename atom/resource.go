package atom

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"html"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/element"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// Resource returns the resource that the entry describes. feed is the feed that holds the
// entry; nil if there is none or it is not known. The result shares memory with e.
//
//   - Title and Summary are without markup. If the original has markup or a Lang, it is
//     among the Elements, as an atom:title or atom:summary. So are rights, contributors
//     and categories. EntryOf restores them.
//   - Authors are those that count (RFC 4287 §4.2.1): the entry's, else its source's,
//     else the feed's.
//   - Content is what atom:content links to, with the length that a link to the same
//     bytes states. Without src it has an empty Href and the media type of the bytes that
//     Content.Bytes returns. Without atom:content it is the zero Link.
//   - Links are all links, alternates and enclosures among them. Origin is the source.
func (e *Entry) Resource(feed *Feed) websync.Resource {
	if feed == nil {
		feed = new(Feed)
	}
	r := websync.Resource{
		ID: e.ID, Title: e.Title.plain(), Summary: e.Summary.plain(), Lang: cmp.Or(e.Lang, feed.Lang),
		Authors: e.Authors, Modified: e.Updated, Published: e.Published,
		Content: e.content(), Links: e.Links,
	}
	if s := e.Source; s != nil {
		self, _ := s.Link("self")
		r.Origin = &websync.Origin{ID: s.ID, Title: s.Title.plain(), Updated: s.Updated, Authors: s.Authors, Self: self.Href}
		if len(r.Authors) == 0 {
			r.Authors = s.Authors
		}
	}
	if len(r.Authors) == 0 {
		r.Authors = feed.Authors
	}
	r.Elements = e.kept(cmp.Or(e.Base, feed.Base))
	return r
}

// kept returns the elements that hold what no other field of a Resource can. The entry's
// texts are resolved against base.
func (e *Entry) kept(base string) []websync.Element {
	k := elementKeeper{kept: slices.Clip(e.Elements)}
	k.markup("title", e.Title, base)
	k.markup("summary", e.Summary, base)
	k.text("rights", e.Rights, base)
	for i := range e.Contributors {
		k.begin()
		k.enc.person("contributor", &e.Contributors[i])
		k.end("contributor")
	}
	for i := range e.Categories {
		k.begin()
		k.enc.category(&e.Categories[i])
		k.end("category")
	}
	return k.kept
}

// An elementKeeper collects elements of Atom. It leaves out what a Writer would refuse.
type elementKeeper struct {
	enc  encoder
	kept []websync.Element
}

func (k *elementKeeper) begin() {
	k.enc.B, k.enc.space = k.enc.B[:0], ` xmlns="`+Namespace+`"`
}

func (k *elementKeeper) end(local string) {
	if k.enc.Refusal("atom", "") != nil || len(k.enc.B) == 0 {
		return
	}
	k.kept = append(k.kept, websync.Element{Space: Namespace, Local: local, XML: string(k.enc.B)})
}

// markup keeps a text that a plain string does not hold in full.
func (k *elementKeeper) markup(local string, t Text, base string) {
	if t.IsZero() || t.Lang == "" && t.Value != "" && (t.Type == PlainText || t.Type == "") {
		return
	}
	k.text(local, t, base)
}

func (k *elementKeeper) text(local string, t Text, base string) {
	if t.Base = cmp.Or(t.Base, base); t.Type == PlainText || t.Type == "" || syntax.IRIFault(t.Base) != "" {
		t.Base = ""
	}
	if syntax.LanguageFault(t.Lang) != "" {
		t.Lang = ""
	}
	k.begin()
	k.enc.text(local, &t)
	k.end(local)
}

// content returns the link of a resource's content. If it lacks a length or digests, it
// takes those of another link to the same bytes.
func (e *Entry) content() websync.Link {
	c := e.Content.resource()
	for i := 0; i < len(e.Links) && c.Href != ""; i++ {
		if l := &e.Links[i]; l.Href == c.Href {
			c.Length = cmp.Or(c.Length, l.Length)
			if len(c.Digests) == 0 {
				c.Digests = l.Digests
			}
		}
	}
	return c
}

// resource returns the content as a link.
func (c *Content) resource() websync.Link {
	l := websync.Link{Href: c.Href, Type: c.Type, Lang: c.Lang, Attrs: c.Attrs}
	switch c.form() {
	case srcContent:
		l.Length, l.Digests, l.Modified = c.Length, c.Digests, c.Modified
	case textContent:
		l.Type = "text/plain"
	case htmlContent:
		l.Type = "text/html"
	case xhtmlContent:
		l.Type = "application/xhtml+xml"
	case xmlContent, otherTextContent:
		l.Type = inUTF8(c.Type)
	}
	return l
}

// inUTF8 returns a media type with charset utf-8 if it states another charset. A Value is
// always UTF-8, whatever the encoding of the document.
func inUTF8(mediaType string) string {
	kind, params, err := mime.ParseMediaType(mediaType)
	switch {
	case err != nil && strings.Contains(strings.ToLower(mediaType), "charset"):
		return syntax.Essence(mediaType) + "; charset=utf-8"
	case err != nil, params["charset"] == "", strings.EqualFold(params["charset"], "utf-8"):
		return mediaType
	}
	params["charset"] = "utf-8"
	return mime.FormatMediaType(kind, params)
}

// Bytes returns the bytes of inline content: the text, the HTML, the div, the XML, or the
// decoded Base64, whose white space is ignored. Without inline content the result is nil.
//
// If c.Base is set, relative references keep it (RFC 4287 §2). A div or XML gets it as its
// xml:base. The references of HTML are resolved: HTML has no such attribute, an element
// base would change the page in which somebody shows the content, and the header
// Content-Location states no base (RFC 9110 §8.7).
func (c *Content) Bytes() ([]byte, error) {
	switch form := c.form(); {
	case c.Base != "" && form.isXML():
		return withBase([]byte(c.Value), c.Base), nil
	case c.Base != "" && form == htmlContent:
		return absolute([]byte(c.Value), c.Base), nil
	case form != base64Content:
		return []byte(c.Value), nil
	}
	text := strings.Join(strings.Fields(c.Value), "")
	return base64.StdEncoding.DecodeString(text)
}

// contentBytes returns the bytes of inline content, whose base may be that of the entry or
// its feed. If it is the URL of the document, it counts without the name of the document,
// and in XML only if there are relative references: an entry that goes to another document
// of the feed stays the same.
func (e *Entry) contentBytes(document string) ([]byte, error) {
	c := e.Content
	if c.Base = cmp.Or(c.Base, e.Base); c.Base == document {
		c.Base = string(syntax.AppendResolved(nil, document, []byte(".")))
		if c.form().isXML() && string(absolute([]byte(c.Value), c.Base)) == c.Value {
			c.Base = ""
		}
	}
	return c.Bytes()
}

// withBase returns an element with an xml:base, against which one of its own is resolved.
// It comes after the namespaces, as where a Reader returns it.
func withBase(element []byte, base string) []byte {
	const attr = ` xml:base="`
	if len(element) < 2 || element[1] == '!' || element[1] == '?' {
		return element
	}
	name, end := tagEnd(element, 1)
	if end == 0 {
		return element
	}
	from := name
	for a := range attributes(element[name:end]) {
		if !bytes.HasPrefix(a.name, []byte("xmlns")) {
			break
		}
		from = name + a.to
	}
	to := from
	if at := bytes.Index(element[:end], []byte(attr)); at >= 0 {
		own, _, _ := bytes.Cut(element[at+len(attr):end], []byte{'"'})
		from, to = at, min(end, at+len(attr)+len(own)+1)
		base = string(syntax.AppendResolved(nil, base, []byte(html.UnescapeString(string(own)))))
	}
	value, err := xmlscan.AppendAttr(nil, attr, base)
	if err != nil {
		return element
	}
	return slices.Concat(element[:from], value, element[to:])
}

// EntryOf returns an entry that describes r. updated is its time; if zero, it is
// r.Modified. author is its author if r names none and author is not zero.
//
// A Writer accepts the entry, whatever the protocol of r, if r.ID is an absolute IRI,
// there are a time and an author, and r.Elements are well-formed:
//
//   - Without a title the title is the ID. Without a summary, where one is demanded, the
//     summary is empty.
//   - Content with an Href becomes atom:content, and a link that states its length, which
//     is related if there is an alternate; unless its Rel makes it one of the links.
//     Inline content is not in the entry, since r does not hold its bytes: to link to
//     them, set r.Content to a link to their URL.
//   - With neither content nor an alternate link, the ID is the alternate, or the content
//     is empty if the ID is no URL.
//   - Of two alternates with the same type and hreflang, the second is "related".
//   - What Atom can't state is left out: a link without an absolute IRI, a type that is
//     no media type, length and digests of bytes in a content coding, characters that XML
//     does not have.
//
// The elements of Atom that [Entry.Resource] puts among the Elements are restored: they
// take precedence over Title and Summary. Other elements of Atom are left out, and so are
// those of RFC 5005 and RFC 6721, which no entry has. The result shares memory with r.
func EntryOf(r *websync.Resource, updated websync.Datetime, author websync.Person) Entry {
	return new(entryMaker).entry(r, updated, author)
}

// An entryMaker makes entries from resources. It reuses its memory for the next one.
type entryMaker struct {
	xml *xmlscan.Reader
	src strings.Reader
}

func (m *entryMaker) entry(r *websync.Resource, updated websync.Datetime, author websync.Person) Entry {
	e := Entry{ID: r.ID, Updated: updated, Published: r.Published, Lang: r.Lang}
	if updated.IsZero() {
		e.Updated = r.Modified
	}
	if syntax.LanguageFault(e.Lang) != "" {
		e.Lang = ""
	}
	if e.Authors = cleanPeople(r.Authors); len(e.Authors) == 0 {
		e.Authors = cleanPeople([]websync.Person{author})
	}
	if o := r.Origin; o != nil {
		e.Source = sourceOf(o)
	}
	m.elements(&e, r.Elements)
	if e.Title.IsZero() {
		e.Title = Text{Type: PlainText, Value: cmp.Or(cleanText(r.Title), r.ID)}
	}
	if summary := cleanText(r.Summary); e.Summary.IsZero() && summary != "" {
		e.Summary = Text{Type: PlainText, Value: summary}
	}
	e.represent(r)
	return e
}

// represent sets content and links.
func (e *Entry) represent(r *websync.Resource) {
	e.Links = cleanLinks(r.Links)
	if content, ok := cleanLink(r.Content); ok {
		e.addContent(content)
	}
	if e.Content.IsZero() && !slices.ContainsFunc(e.Links, isPage) {
		if syntax.IsHTTP(e.ID) && syntax.IRIFault(e.ID) == "" {
			e.Links = append(e.Links, websync.Link{Rel: "alternate", Href: e.ID})
		} else {
			e.Content.Type = PlainText
		}
	}
	if e.Content.Href != "" && e.Summary.IsZero() {
		e.Summary.Type = PlainText
	}
}

func isPage(l websync.Link) bool { return isAlternate(l.Rel) }

// addContent makes the link to the content an atom:content.
func (e *Entry) addContent(l websync.Link) {
	if l.Rel == "" {
		if syntax.IsComposite(l.Type) {
			l.Type = ""
		}
		l.Title = ""
		e.Content = Content{Link: l}
		if l.Length == 0 || l.Href == "" {
			return
		}
		l.Rel = "alternate" // atom:content has no length
		if slices.ContainsFunc(e.Links, isPage) {
			l.Rel = "related" // the alternate is for people
		}
	}
	for i := range e.Links {
		if same := &e.Links[i]; same.Href == l.Href {
			if same.Length = cmp.Or(same.Length, l.Length); len(same.Digests) == 0 {
				same.Digests = l.Digests
			}
			return
		}
	}
	at := len(e.Links)
	if syntax.IsComposite(l.Type) { // the first alternate is what stands for a content
		at = 0
	}
	e.Links = slices.Insert(e.Links, at, l)
	relateEqual(e.Links)
}

func sourceOf(o *websync.Origin) *Feed {
	f := &Feed{Updated: o.Updated, Authors: cleanPeople(o.Authors)}
	if syntax.IRIFault(o.ID) == "" {
		f.ID = o.ID
	}
	if title := cleanText(o.Title); title != "" {
		f.Title = Text{Type: PlainText, Value: title}
	}
	if syntax.IRIFault(o.Self) == "" {
		f.Links = []websync.Link{{Rel: "self", Href: o.Self}}
	}
	return f
}

// elements assigns a resource's elements to the fields of the entry.
func (m *entryMaker) elements(e *Entry, elements []websync.Element) {
	foreign := 0
	for i := range elements {
		if isForeignElement(&elements[i]) {
			foreign++
		}
	}
	if foreign == len(elements) {
		e.Elements = elements
		return
	}
	for i := range elements {
		if x := &elements[i]; isForeignElement(x) {
			e.Elements = append(e.Elements, *x)
		} else if x.Space == Namespace {
			m.element(e, x)
		}
	}
}

// isForeignElement reports whether an element is allowed in Entry.Elements.
func isForeignElement(x *websync.Element) bool {
	return x.Space != Namespace && x.Space != HistoryNamespace && x.Space != TombstoneNamespace
}

// element reads an element of Atom if it is one that Resource writes.
func (m *entryMaker) element(e *Entry, x *websync.Element) {
	switch x.Local {
	case "title":
		m.text(&e.Title, x)
	case "summary":
		m.text(&e.Summary, x)
	case "rights":
		m.text(&e.Rights, x)
	case "contributor":
		if p := parsed(x, personOf); p.Name != "" && writable(&p, func(c *encoder, p *websync.Person) { c.person("", p) }) {
			e.Contributors = append(e.Contributors, p)
		}
	case "category":
		if c := parsed(x, categoryOf); writable(&c, func(w *encoder, c *Category) { w.category(c) }) {
			e.Categories = append(e.Categories, c)
		}
	}
}

// parsed returns the result of make for an element; the zero value if the element is not
// well-formed.
func parsed[T any](x *websync.Element, make func(*element.Node) T) (t T) {
	if n, err := element.Parse(x); err == nil {
		t = make(n)
	}
	return t
}

func personOf(n *element.Node) websync.Person {
	return websync.Person{Name: n.Child("name").Text, URI: n.Child("uri").Text, Email: n.Child("email").Text}
}

func categoryOf(n *element.Node) Category {
	c := Category{Term: n.Attr("term"), Scheme: n.Attr("scheme"), Label: n.Attr("label")}
	for _, a := range n.Attrs {
		if a.Space == xmlNamespace && a.Local == "lang" {
			c.Lang = a.Value
		}
	}
	return c
}

// text reads a text construct, with the XML of its div.
func (m *entryMaker) text(t *Text, x *websync.Element) {
	if m.xml == nil {
		m.xml = xmlscan.NewReader(nil)
	}
	m.src.Reset(x.XML)
	m.xml.Reset(&m.src)
	if _, err := m.xml.NextTag(); err != nil || m.xml.Name() != (xmlscan.Name{Space: Namespace, Local: x.Local}) {
		return
	}
	read := Text{Type: cmp.Or(m.attr("", "type"), PlainText), Lang: m.attr(xmlNamespace, "lang"),
		Base: m.attr(xmlNamespace, "base")}
	var value []byte
	var err error
	if read.Type != XHTML {
		value, err = m.xml.ElementText()
	} else if _, err = m.xml.NextTag(); err == nil {
		value, err = m.xml.AppendElement(nil)
	}
	read.Value = string(value)
	if err == nil && writable(&read, func(c *encoder, t *Text) { c.text("", t) }) {
		*t = read
	}
}

func (m *entryMaker) attr(space, local string) string {
	value, _ := m.xml.Attr(space, local)
	return string(value)
}

// plain returns the text without markup.
func (t *Text) plain() string {
	if t.Type == HTML || t.Type == XHTML {
		return plainMarkup(t.Value)
	}
	return t.Value
}

// plainMarkup returns the text of HTML or XHTML, with single spaces.
func plainMarkup(s string) string {
	if !strings.ContainsAny(s, "<&") {
		return strings.Join(strings.Fields(s), " ")
	}
	text, out := []byte(s), make([]byte, 0, len(s))
	for i := 0; i < len(text); {
		at := strings.IndexByte(s[i:], '<')
		if at < 0 {
			at = len(s) - i
		}
		out = append(out, html.UnescapeString(s[i:i+at])...)
		if i += at; i < len(s) {
			end, space := passMarkup(text, i)
			switch {
			case end == i:
				out, end = append(out, '<'), i+1
			case space:
				out = append(out, ' ')
			}
			i = end
		}
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// passMarkup returns where the markup at i ends, or i if there is none, and whether it
// separates words.
func passMarkup(text []byte, i int) (end int, space bool) {
	rest := text[i+1:]
	switch {
	case len(rest) == 0:
		return i, false
	case bytes.HasPrefix(rest, []byte("!--")):
		return passUntil(text, i+4, "-->"), false
	case rest[0] == '!' || rest[0] == '?':
		return passUntil(text, i+2, ">"), false
	case rest[0] == '/' && len(rest) > 1 && syntax.IsAlpha(rest[1]):
		name, end := tagEnd(text, i+2)
		return max(end, i), !isPhrase(text[i+2 : name])
	case !syntax.IsAlpha(rest[0]):
		return i, false
	}
	n, end := tagEnd(text, i+1)
	if end == 0 {
		return i, false
	}
	name := text[i+1 : n]
	if isOneOf(name, "script", "style", "template") && text[end-2] != '/' {
		if end = rawEnd(text, name, end); end == 0 {
			end = len(text)
		}
		return end, true
	}
	return end, !isPhrase(name)
}

// passUntil returns the offset after the next end from i on, or the end of the text.
func passUntil(text []byte, i int, end string) int {
	at := bytes.Index(text[min(i, len(text)):], []byte(end))
	if at < 0 {
		return len(text)
	}
	return i + at + len(end)
}

// isPhrase reports whether an element can occur within a word.
func isPhrase(name []byte) bool {
	return isOneOf(name, "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
		"ins", "kbd",
		"mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr")
}

// cleanText returns s without the characters that XML does not allow.
func cleanText(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && !syntax.IsSpace(c) || c >= utf8.RuneSelf {
			return strings.Map(func(r rune) rune {
				if !syntax.IsXMLCharacter(r) {
					return -1
				}
				return r
			}, strings.ToValidUTF8(s, "\uFFFD"))
		}
	}
	return s
}

// cleanPeople returns the people who have a name, or another field that can replace it.
func cleanPeople(people []websync.Person) []websync.Person {
	var clean []websync.Person
	for _, p := range people {
		p.Name = firstText(p.Name, p.Email, p.URI)
		if syntax.EmailFault(p.Email) != "" || cleanText(p.Email) != p.Email {
			p.Email = ""
		}
		if syntax.IRIFault(p.URI) != "" {
			p.URI = ""
		}
		if p.Name != "" {
			clean = append(clean, p)
		}
	}
	return clean
}

// firstText returns the first of some texts that is not blank, "" if all are.
func firstText(texts ...string) string {
	for _, text := range texts {
		if text = cleanText(text); strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// cleanLinks returns the links that Atom can state.
func cleanLinks(links []websync.Link) []websync.Link {
	if len(links) == 0 {
		return nil
	}
	clean := make([]websync.Link, 0, len(links)+1)
	for _, l := range links {
		if l, ok := cleanLink(l); ok {
			l.Rel = cmp.Or(l.Rel, "alternate")
			clean = append(clean, l)
		}
	}
	relateEqual(clean)
	return clean
}

// relateEqual makes each alternate "related" that has the type and hreflang of an earlier
// one.
func relateEqual(links []websync.Link) {
	seen := make(map[alternate]bool)
	for i := range links {
		l := &links[i]
		if !isAlternate(l.Rel) {
			continue
		}
		if key := alternateOf(l); seen[key] {
			l.Rel = "related"
		} else {
			seen[key] = true
		}
	}
}

// cleanLink returns the part of a link that Atom can state; ok is false if there is none.
func cleanLink(l websync.Link) (_ websync.Link, ok bool) {
	if syntax.IRIFault(l.Href) != "" || l.Rel != "" && syntax.RelationFault(l.Rel) != "" {
		return l, false
	}
	if syntax.Scheme(l.Rel) == 0 {
		l.Rel = strings.ToLower(l.Rel) // RFC 8288 §2.1.1
	}
	if syntax.MediaTypeFault(l.Type) != "" {
		l.Type = ""
	}
	if syntax.LanguageFault(l.Lang) != "" {
		l.Lang = ""
	}
	l.Title = cleanText(l.Title)
	if l.Length < websync.StatedZero {
		l.Length = 0
	}
	if l.Encoding != "" {
		l.Encoding, l.Length, l.Digests = "", 0, nil
	}
	l.Digests = clean(l.Digests, func(c *encoder, d websync.Digests) { c.hash("", d) })
	l.Attrs = clean(l.Attrs, func(c *encoder, a []websync.Attr) { c.attributes("", a) })
	return l, true
}

// clean returns the elements of all that write can write, given those before them.
func clean[S ~[]E, E any](all S, write func(*encoder, S)) S {
	if len(all) == 0 || writable(all, write) {
		return all
	}
	var some S
	for _, one := range all {
		if more := append(some, one); writable(more, write) {
			some = more
		}
	}
	return some
}

func writable[S any](s S, write func(*encoder, S)) bool {
	var c encoder
	write(&c, s)
	return c.Refusal("atom", "") == nil
}
