package atom

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"html"
	"mime"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// Resource returns what the entry says, as a resource. feed is the feed that it stands
// in; nil: none, or not known. The result shares memory with e.
//
//   - Title and Summary are without markup. What that loses, and a Lang, is among the
//     Elements: as the atom:title or atom:summary that was there. So are rights,
//     contributors and categories. EntryOf takes them back.
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

// kept returns the elements that hold what no other field of a Resource does. base is
// what the entry's texts are resolved against.
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

// An elementKeeper collects elements of Atom. What a Writer would refuse is left out.
type elementKeeper struct {
	enc  encoder
	kept []websync.Element
}

func (k *elementKeeper) begin() {
	k.enc = encoder{b: k.enc.b[:0], space: ` xmlns="` + Namespace + `"`}
}

func (k *elementKeeper) end(local string) {
	if k.enc.refused != nil || len(k.enc.b) == 0 {
		return
	}
	k.kept = append(k.kept, websync.Element{Space: Namespace, Local: local, XML: string(k.enc.b)})
}

// markup keeps a text of which a plain string does not tell all.
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

// content returns the link of a resource's content. What it does not state of its length
// and digests, another link to the same bytes may.
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

// resource returns the link that the content is.
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

// inUTF8 returns a media type whose charset, if it states one, is that of the bytes: a
// Value is UTF-8, whatever the encoding of the document.
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

// Bytes returns the bytes of inline content: the text, the HTML, the div, the XML, or
// what the Base64 stands for, in which white space counts for nothing. A div gets an
// xml:base with c.Base, if that is set: what its references are relative to would be lost
// otherwise. Without inline content there are none.
func (c *Content) Bytes() ([]byte, error) {
	switch form := c.form(); {
	case form == xhtmlContent && c.Base != "":
		return withBase([]byte(c.Value), c.Base), nil
	case form != base64Content:
		return []byte(c.Value), nil
	}
	text := strings.Join(strings.Fields(c.Value), "")
	return base64.StdEncoding.DecodeString(text)
}

// contentBytes returns the bytes of inline content, whose div also gets the xml:base of
// the entry or its feed. Where the document came from is none.
func (e *Entry) contentBytes(document string) ([]byte, error) {
	c := e.Content
	if c.Base == "" && e.Base != document {
		c.Base = e.Base
	}
	return c.Bytes()
}

// withBase returns an element with an xml:base, against which one of its own is resolved.
func withBase(element []byte, base string) []byte {
	const attr = ` xml:base="`
	name, end := tagEnd(element, 1)
	from, to := name, name
	if at := bytes.Index(element[:end], []byte(attr)); at >= 0 {
		own, _, _ := bytes.Cut(element[at+len(attr):end], []byte{'"'})
		from, to = at, min(end, at+len(attr)+len(own)+1)
		base = string(syntax.AppendResolved(nil, base, []byte(html.UnescapeString(string(own)))))
	}
	value, err := xmlscan.AppendAttr([]byte(attr), base)
	if err != nil || end == 0 {
		return element
	}
	return slices.Concat(element[:from], value, []byte{'"'}, element[to:])
}

// EntryOf returns an entry that says what r says. updated is its time, and author its
// author if r names none; the zero Datetime stands for r.Modified, the zero Person for
// none.
//
// A Writer takes the entry, whatever protocol r came by, as long as r.ID is an absolute
// IRI, there is a time and an author, and r.Elements are well-formed:
//
//   - Without a title the title is the ID. Without a summary, where one is demanded, the
//     summary is empty.
//   - Content with an Href becomes atom:content, and a link that states its length,
//     unless its Rel says that it is one of the links. Content that came inline is not in
//     the entry, since r does not hold its bytes: a Content with their URL, given to
//     EntryOf, links to them.
//   - With neither content nor an alternate link, the ID is the alternate, or the content
//     is empty if the ID is no URL.
//   - Of two alternates that Atom can't tell apart, the second is "related".
//   - What Atom can't state is left out: a link without an absolute IRI, a type that is
//     no media type, length and digests of bytes in a content coding, characters that XML
//     does not have.
//
// The elements of Atom that [Entry.Resource] puts among the Elements are taken back: they
// win over Title and Summary. Other elements of Atom are left out, and so are those of
// RFC 5005 and RFC 6721, which no entry has. The result shares memory with r.
func EntryOf(r *websync.Resource, updated websync.Datetime, author websync.Person) Entry {
	return new(entryMaker).entry(r, updated, author)
}

// An entryMaker makes entries of resources. It keeps its memory from one to the next.
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
	isPage := func(l websync.Link) bool { return isAlternate(l.Rel) }
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

// addContent states the link to the content as what it is.
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
	}
	for i := range e.Links {
		if e.Links[i].Href == l.Href {
			return
		}
	}
	e.Links = append(e.Links, l)
	tellApart(e.Links)
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

// elements sorts out a resource's elements.
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

// isForeignElement tells whether an entry may have an element beside those that its
// fields state.
func isForeignElement(x *websync.Element) bool {
	return x.Space != Namespace && x.Space != HistoryNamespace && x.Space != TombstoneNamespace
}

// element reads an element of Atom, if it is one that Resource makes.
func (m *entryMaker) element(e *Entry, x *websync.Element) {
	if m.xml == nil {
		m.xml = xmlscan.NewReader(nil)
	}
	m.src.Reset(x.XML)
	m.xml.Reset(&m.src)
	if _, err := m.xml.NextTag(); err != nil || m.xml.Name() != (xmlscan.Name{Space: Namespace, Local: x.Local}) {
		return
	}
	switch x.Local {
	case "title":
		m.text(&e.Title)
	case "summary":
		m.text(&e.Summary)
	case "rights":
		m.text(&e.Rights)
	case "contributor":
		if p, ok := m.person(); ok && writable(&p, func(c *encoder, p *websync.Person) { c.person("", p) }) {
			e.Contributors = append(e.Contributors, p)
		}
	case "category":
		c := Category{m.attr("", "term"), m.attr("", "scheme"), m.attr("", "label"), m.attr(xmlNamespace, "lang")}
		if writable(&c, func(w *encoder, c *Category) { w.category(c) }) {
			e.Categories = append(e.Categories, c)
		}
	}
}

func (m *entryMaker) attr(space, local string) string {
	value, _ := m.xml.Attr(space, local)
	return string(value)
}

func (m *entryMaker) text(t *Text) {
	read := Text{Type: cmp.Or(m.attr("", "type"), PlainText), Lang: m.attr(xmlNamespace, "lang"), Base: m.attr(xmlNamespace, "base")}
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

func (m *entryMaker) person() (p websync.Person, ok bool) {
	for {
		kind, err := m.xml.NextTag()
		if err != nil {
			return p, false
		}
		if kind == xmlscan.End {
			return p, p.Name != ""
		}
		name := m.xml.Name().Local
		value, err := m.xml.ElementText()
		if err != nil {
			return p, false
		}
		switch name {
		case "name":
			p.Name = string(value)
		case "uri":
			p.URI = string(value)
		case "email":
			p.Email = string(value)
		}
	}
}
