package anyfeed

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/xmlscan"
)

// The namespaces of what is read.
const (
	atom03Namespace  = "http://purl.org/atom/ns#"
	rdfNamespace     = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	rss10Namespace   = "http://purl.org/rss/1.0/"
	rss09Namespace   = "http://channel.netscape.com/rdf/simple/0.9/"
	rss09MyNamespace = "http://my.netscape.com/rdf/simple/0.9/"
	xmlNamespace     = "http://www.w3.org/XML/1998/namespace"

	dublinCoreNamespace  = "http://purl.org/dc/elements/1.1/"
	dublinTermsNamespace = "http://purl.org/dc/terms/"
	contentNamespace     = "http://purl.org/rss/1.0/modules/content/"
	mediaNamespace       = "http://search.yahoo.com/mrss/"
	itunesNamespace      = "http://www.itunes.com/dtds/podcast-1.0.dtd"
	slashNamespace       = "http://purl.org/rss/1.0/modules/slash/"
	syndicationNamespace = "http://purl.org/rss/1.0/modules/syndication/"
)

var (
	rssSpaces  = []string{"", "rss", "rdf", rdfNamespace, rss10Namespace, rss09Namespace, rss09MyNamespace}
	atomSpaces = []string{"", atom.Namespace, atom03Namespace}
)

// atomNames are elements of a feed; one of them shows that a root without a namespace is
// Atom.
var atomNames = []string{"id", "title", "link", "author", "updated", "modified"}

// texts are the elements whose content is kept as it is, with its markup.
var texts = []string{
	"title", "subtitle", "tagline", "summary", "content", "rights", "copyright", "info", "description", "encoded",
}

// notes are what applies to all that is in a feed or an entry.
type notes struct {
	line, column int
	base         string // of references
	lang         string
	single       uint16 // its elements of which it has one, as bits
	hasText      bool   // beside its elements
}

// An outlined is what gofeed does not return of a feed or an entry.
type outlined struct {
	notes
	id      string            // atom:id as it is
	media   string            // the type of the content
	types   map[string]string // of the texts
	deleted bool              // a deletion in the form of an entry
	dates   dates
	source  dates // of the feed that an entry was copied from

	// of an entry
	all     span
	content int  // where it ends; all.to if there is no end tag
	empty   bool // the start tag is the end tag, too
	name    string
	parts   int
}

// dates are the texts of dates.
type dates struct{ updated, published, created string }

// An outline is the result of a first pass over a document. It checks the limits, finds
// the format, and records what gofeed does not return. It also removes parts of the
// document that are not read or that gofeed reads at great cost: elements of other
// formats, of which it makes trees; dates, which it tries to read in a hundred forms; the
// types of texts, because it parses XHTML as HTML, which can multiply it; and xml:base,
// which it resolves differently from RFC 3986, and can be made to resolve without end.
type outline struct {
	*decoder

	root    xml.Name
	version string // of rss or feed
	feed    outlined
	items   []*outlined
	atoms   int // elements of Atom
	lost    int // tombstones
	astray  int // entries inside of other elements

	complete, archive bool // fh:complete and fh:archive

	stack  []frame
	hidden []disguise
	gone   []span // parts that gofeed must not see
	nodes  int
	scope  int
	parts  int              // links, categories and people
	text   *strings.Builder // of the id or date that is being read

	rootTag span
	around  []byte // it, when gofeed reads it
}

// A frame is an element that is open.
type frame struct {
	space, local string // local in lower case
	base, lang   string
	scope        int       // number of namespace declarations
	of           *outlined // the feed or the entry it belongs to
	verbatim     bool      // it is, or is in, one of texts
	into         *string   // the outline reads its text
	isEntry      bool
	gone         bool // it is, or is in, one of outline.gone
	outermost    bool // of those that are gone
	foreign      bool
	inText       bool   // its parent is verbatim
	isList       bool   // it has no text of its own: the root or an entry
	hasText      bool   // though it isList
	name         string // as it is in the tag
	from, tagEnd int
	div          div
}

// A div is what an XHTML text must contain, and nothing else (RFC 4287 §3.1.1.3).
type div struct {
	wanted     bool
	children   int
	start, end span // the tags of the only child
}

// outline reads a well-formed document up to the end of its root element.
func (p *parser) outline(data *pages) (*outline, error) {
	o := &outline{decoder: newDecoder(p, data)}
	if err := o.read(); err != nil {
		return nil, err
	}
	o.disguise()
	for _, s := range o.gone {
		o.data.erase(s)
	}
	o.around = o.data.bytes(o.rootTag)
	return o, o.check()
}

func (o *outline) read() error {
	for {
		from := o.offset()
		o.begin()
		token, err := o.dec.Token()
		if err == nil {
			switch t := token.(type) {
			case xml.StartElement:
				err = o.start(t, from)
			case xml.EndElement:
				err = o.end(from)
			case xml.CharData:
				o.characters(t)
			}
		} else {
			err = o.syntax(err)
		}
		if err != nil {
			return err
		}
		if o.root.Local != "" && len(o.stack) == 0 {
			o.after()
			return nil
		}
	}
}

// after reads what follows the root element, where only comments and processing
// instructions may be.
func (o *outline) after() {
	for {
		o.begin()
		token, err := o.dec.Token()
		switch t := token.(type) {
		case xml.Comment, xml.ProcInst:
			continue
		case xml.CharData:
			if len(bytes.TrimSpace(t)) == 0 {
				continue
			}
		}
		if err != io.EOF {
			o.p.doubt("", nil, "something after the end of the feed may stand for an entry")
		}
		return
	}
}

// tag returns the token that starts at from.
func (o *outline) tag(from int) []byte { return o.data.bytes(span{from, o.offset()}) }

// characters takes some of the text of an element.
func (o *outline) characters(t []byte) {
	if o.text != nil {
		o.text.Write(t)
	}
	if len(o.stack) == 0 {
		return
	}
	f := &o.stack[len(o.stack)-1]
	if f.isList && !f.hasText && len(bytes.TrimSpace(t)) > 0 {
		f.hasText = true
		o.p.doubt(f.local, t, "text between elements may stand for an entry, or be a part of one")
	}
}

func (o *outline) start(t xml.StartElement, from int) error {
	f := frame{base: o.p.doc.URL, of: &o.feed}
	if n := len(o.stack); n > 0 {
		f = o.stack[n-1]
	}
	f.inText = f.verbatim
	f.space, f.local, f.scope = strings.TrimSpace(t.Name.Space), strings.ToLower(t.Name.Local), 0
	f.from, f.tagEnd, f.name = from, o.offset(), tagName(o.tag(from))
	f.into, f.isEntry, f.outermost, f.div = nil, false, false, div{}
	f.isList, f.hasText = len(o.stack) == 0, false
	if err := o.attributes(&f, t.Attr, from); err != nil {
		return err
	}
	if len(o.stack) == 0 {
		if err := o.first(&f, t, from); err != nil {
			return err
		}
	} else {
		o.element(&f, t)
	}
	f.verbatim = f.verbatim || slices.Contains(texts, f.local)
	f.outermost = f.gone && !o.stack[len(o.stack)-1].gone
	if !f.gone && !f.inText {
		o.kept(&f, t)
	}
	o.stack = append(o.stack, f)
	return o.limits(len(t.Attr))
}

// limits counts an element and checks the limits.
func (o *outline) limits(attributes int) error {
	o.nodes += 1 + attributes
	o.scope += o.stack[len(o.stack)-1].scope
	over := ""
	switch {
	case o.nodes > o.p.scaled(maxNodes):
		over = fmt.Sprintf("more than %d elements and attributes", o.p.scaled(maxNodes))
	case attributes > maxAttributes:
		over = fmt.Sprintf("more than %d attributes", maxAttributes)
	case len(o.stack) > maxDepth:
		over = fmt.Sprintf("elements more than %d deep", maxDepth)
	case o.stack[len(o.stack)-1].of.parts > maxParts:
		over = fmt.Sprintf("more than %d links, categories and people of an entry", maxParts)
	case o.scope > maxScope:
		over = fmt.Sprintf("more than %d namespaces", maxScope)
	case len(o.items) > o.p.scaled(MaxEntries):
		over = fmt.Sprintf("more than %d entries", o.p.scaled(MaxEntries))
	default:
		return o.p.afford(o.cost())
	}
	return o.p.fail("", fmt.Errorf("%s: %w", over, websync.ErrLimit))
}

// attributes records the attributes of an element that apply to its content.
func (o *outline) attributes(f *frame, attrs []xml.Attr, from int) error {
	for _, a := range attrs {
		switch {
		case a.Name.Space == "xmlns", a.Name.Space == "" && a.Name.Local == "xmlns":
			f.scope++
		case a.Name.Space == xmlNamespace && a.Name.Local == "lang":
			f.lang = strings.TrimSpace(a.Value)
		case a.Name.Space == xmlNamespace && a.Name.Local == "base" && !f.verbatim:
			f.base = o.p.resolve(f.base, a.Value)
			if len(f.base) > maxBase {
				return o.p.fail(f.local, fmt.Errorf("xml:base of more than %d bytes: %w", maxBase, websync.ErrLimit))
			}
			o.hide(from, &withoutBase)
		}
	}
	return nil
}

var (
	baseName = regexp.MustCompile(`([\s"'][^\s=<>"']*:bas)e(\s*=)`)
	typeName = regexp.MustCompile(`([\s"'](?:[^\s=<>"']*:)?)type(\s*=)`)
	modeName = regexp.MustCompile(`([\s"'](?:[^\s=<>"']*:)?)mode(\s*=)`)

	withoutBase = []renaming{{baseName, "${1}_$2"}}
	withoutType = []renaming{{modeName, "${1}mod_$2"}, {typeName, "${1}typ_$2"}}
	typeAsMode  = []renaming{{modeName, "${1}mod_$2"}, {typeName, "${1}mode$2"}}
)

// A disguise replaces names of attributes in a tag with others of the same length.
type disguise struct {
	tag span
	as  *[]renaming
}

type renaming struct {
	name *regexp.Regexp
	as   string
}

// hide disguises attributes of the tag that starts at from. It does so once the document
// needs no more repair.
func (o *outline) hide(from int, as *[]renaming) {
	o.hidden = append(o.hidden, disguise{span{from, o.offset()}, as})
	o.parts++
}

func (o *outline) disguise() {
	for _, d := range o.hidden {
		tag := o.data.bytes(d.tag)
		for _, r := range *d.as {
			tag = r.name.ReplaceAll(tag, []byte(r.as))
		}
		o.data.put(d.tag.from, tag)
	}
}

// first records the root element.
func (o *outline) first(f *frame, t xml.StartElement, from int) error {
	o.root, o.rootTag = t.Name, span{from, o.offset()}
	o.feed.take(f, o.p)
	o.version, _ = attribute(t, "", "version")
	if !slices.Contains(atomSpaces, f.space) {
		what := document.WhatRoot(xmlscan.Name{Space: f.space, Local: t.Name.Local})
		return o.p.fail("", o.p.doc.Not(what))
	}
	return nil
}

// element records an element below the root.
func (o *outline) element(f *frame, t xml.StartElement) {
	parent := &o.stack[len(o.stack)-1]
	parent.div.children++
	o.checkValue(parent, f)
	if !slices.Contains(atomSpaces, f.space) || !slices.Contains(atomSpaces, parent.space) {
		o.foreign(f, t)
		return
	}
	o.atomElement(parent, f, t)
	o.checkParent(parent, f)
}

// atomElement records an element of Atom.
func (o *outline) atomElement(parent, f *frame, t xml.StartElement) {
	switch depth := len(o.stack); {
	case f.local == "entry" && depth == 1:
		o.entry(f)
	case depth == 1 || parent.isEntry:
		o.child(f, t)
	case depth == 3 && parent.local == "source" && (f.local == "updated" || f.local == "modified"):
		o.take(f, &f.of.source.updated)
	}
}

// checkParent looks for an entry, or a part of one, where none may be, and for a second
// element of those that a feed or an entry has once.
func (o *outline) checkParent(parent, f *frame) {
	switch {
	case f.isEntry:
	case (f.local == "item" || f.local == "entry") && !o.within("content"):
		o.astray++
	case len(o.stack) == 1 && !slices.Contains(feedChildren, f.local):
		o.p.doubt(f.local, nil, "%s in %s: it may stand for an entry, or be a part of one", f.name, parent.name)
	case parent.isList:
		o.once(f)
	}
}

// checkValue checks that an ID has no children.
func (o *outline) checkValue(parent, f *frame) {
	if parent.local == "id" && !parent.inText && !parent.foreign {
		o.p.doubt(f.local, nil, "an element in %s, which has a value only: it may be a part of an entry", parent.name)
	}
}

// The children of the own namespaces of a format that the root has, and a channel.
var (
	feedChildren = []string{
		"id", "title", "subtitle", "tagline", "rights", "copyright", "info", "updated", "modified", "generator", "icon",
		"logo", "link", "category", "author", "contributor",
	}
	rssChildren     = []string{"channel", "image", "textinput"}
	channelChildren = []string{
		"title", "link", "description", "language", "copyright", "managingeditor", "webmaster", "pubdate", "lastbuilddate",
		"category", "generator", "docs", "cloud", "ttl", "image", "rating", "textinput", "skiphours", "skipdays", "items",
	}
)

// once checks that a feed or an entry has but one of some elements: a second one may be
// that of an entry whose tags are lost.
func (o *outline) once(f *frame) {
	i := slices.Index([]string{"title", "guid", "id"}, f.local)
	if i < 0 {
		return
	}
	if f.of.single&(1<<i) != 0 {
		o.p.doubt(f.local, nil, "a second %s: it may be that of another entry", f.name)
	}
	f.of.single |= 1 << i
}

func (o *outline) within(local string) bool {
	return slices.ContainsFunc(o.stack, func(f frame) bool { return f.local == local })
}

func (o *outline) entry(f *frame) {
	f.of, f.isEntry, f.isList = &outlined{all: span{f.from, f.from}, name: f.name}, true, true
	f.of.take(f, o.p)
	o.items = append(o.items, f.of)
}

// The elements that are read, except for dates and ids.
var (
	atomRead = []string{
		"title", "subtitle", "tagline", "summary", "content", "rights", "copyright", "generator", "icon", "logo",
		"link", "category", "author", "contributor", "source",
	}
	// those that become an element of a list
	listed = []string{"link", "category", "author", "contributor", "source"}
)

// take lets the outline read the text of an element, instead of gofeed.
func (o *outline) take(f *frame, into *string) {
	if !f.gone {
		f.into, o.text, f.gone = into, new(strings.Builder), true
	}
}

// child records a child of an Atom feed or entry.
func (o *outline) child(f *frame, t xml.StartElement) {
	if slices.Contains(atomNames, f.local) {
		o.atoms++
	}
	switch f.local {
	case "id":
		o.take(f, &f.of.id)
	case "updated", "modified":
		o.take(f, &f.of.dates.updated)
	case "published", "issued":
		o.take(f, &f.of.dates.published)
	case "created":
		o.take(f, &f.of.dates.created)
	case "title", "subtitle", "tagline", "summary", "content", "rights", "copyright":
		typ, _ := attribute(t, "", "type")
		mode, _ := attribute(t, "", "mode")
		if f.of.types == nil {
			f.of.types = make(map[string]string)
		}
		f.of.types[f.local] = textType(typ, mode)
		if f.local == "content" {
			f.of.media = typ
		}
	}
	f.gone = f.gone || !slices.Contains(atomRead, f.local)
}

// foreign records an element of another namespace, or in one, and leaves out what is not
// read.
func (o *outline) foreign(f *frame, t xml.StartElement) {
	parent := &o.stack[len(o.stack)-1]
	if (f.local == "item" || f.local == "entry") && slices.Contains(atomSpaces, f.space) && !o.within("content") {
		o.astray++
	}
	o.extension(parent, f, t)
	f.foreign = true
	f.gone = f.gone || !f.verbatim
}

// extension records deletions, and what a feed states of its history (RFC 5005).
func (o *outline) extension(parent, f *frame, t xml.StartElement) {
	deleted, _ := attribute(t, "", "deleted")
	switch (xml.Name{Space: f.space, Local: f.local}) {
	case xml.Name{Space: atom.TombstoneNamespace, Local: "deleted-entry"}:
		o.lost++
	case xml.Name{Space: atom.GDataNamespace, Local: "deleted"}:
		f.of.deleted = true
	case xml.Name{Space: atom.FeedSyncNamespace, Local: "sync"}:
		f.of.deleted = f.of.deleted || deleted == "true"
	}
	if parent.isList && !parent.isEntry && f.space == atom.HistoryNamespace {
		o.complete = o.complete || f.local == "complete"
		o.archive = o.archive || f.local == "archive"
	}
}

// kept records an element that gofeed reads, outside of texts.
func (o *outline) kept(f *frame, t xml.StartElement) {
	if slices.Contains(listed, f.local) {
		o.parts++
		f.of.parts++
	}
	if f.local == "link" || f.local == "category" {
		return
	}
	// gofeed parses a text of these types as HTML, where elements can multiply, to take
	// it out of a div. Without a type it decodes the text, with an unknown mode it
	// leaves it as it is.
	for _, a := range t.Attr {
		typ := strings.ToLower(strings.TrimSpace(a.Value))
		switch {
		case a.Name.Local != "type":
		case strings.Contains(typ, "xhtml"):
			o.hide(f.from, &typeAsMode)
			f.div.wanted = true
			return
		case typ == "html":
			o.hide(f.from, &withoutType)
			return
		}
	}
}

func (o *outline) end(from int) error {
	last := len(o.stack) - 1
	f, end := o.stack[last], span{from, o.offset()} // empty in an empty element
	o.scope -= f.scope
	o.stack = o.stack[:last]
	if f.into != nil {
		*f.into, o.text = strings.TrimSpace(o.text.String()), nil
	}
	if f.isEntry {
		f.of.all.to, f.of.content, f.of.empty = end.to, end.from, end.from == end.to
	}
	if f.div.children == 1 && f.div.wanted {
		o.gone = append(o.gone, f.div.start, f.div.end)
	}
	if last == 0 {
		return nil
	}
	return o.leave(&o.stack[last-1], &f, end)
}

// leave returns to the parent of an element that has ended.
func (o *outline) leave(parent, f *frame, end span) error {
	if f.local == "div" {
		parent.div.start, parent.div.end = span{f.from, f.tagEnd}, end
	}
	switch {
	case f.outermost:
		o.drop(span{f.from, end.to}, parent)
	case !f.gone && !f.isEntry && end.to-f.from > o.p.maxValue():
		return o.p.fail(f.local, o.p.tooLong("an element"))
	}
	return nil
}

// drop leaves out a child of parent, and text between children that are left out.
func (o *outline) drop(s span, parent *frame) {
	if n := len(o.gone); n > 0 && !parent.foreign {
		if to := &o.gone[n-1].to; *to <= s.from && o.data.count(span{*to, s.from}, '<') == 0 {
			*to = s.to
			return
		}
	}
	o.gone = append(o.gone, s)
}

// tagName returns the name in a tag, with its prefix.
func tagName(tag []byte) string {
	name := bytes.TrimLeft(tag, "</")
	if end := bytes.IndexAny(name, " \t\r\n/>"); end >= 0 {
		name = name[:end]
	}
	return string(name)
}

// check returns an error if the document is no feed, and reports what gofeed ignores of
// it.
func (o *outline) check() error {
	switch {
	case len(o.items) == 0 && o.astray > 0:
		return o.p.doc.Fail(0, 0, "", errors.New("entries inside of other elements, and no others"))
	case o.root.Space == "" && o.atoms == 0 && len(o.items) == 0:
		return o.p.doc.Fail(0, 0, "", o.p.doc.Not("a feed element with nothing of Atom in it"))
	}
	o.p.at = o.feed.notes
	o.p.leftOut(o.lost, o.astray)
	o.p.cost += o.cost()
	return nil
}

// cost returns what counts against the limit beyond the bytes of the document.
func (o *outline) cost() int64 {
	return partCost * int64(len(o.items)+o.parts)
}

// without returns the document without its entries.
func (o *outline) without() io.Reader {
	var parts []io.Reader
	from := 0
	for _, n := range o.items {
		parts = append(parts, o.data.remains(span{from, n.all.from}))
		from = n.all.to
	}
	return io.MultiReader(append(parts, o.data.remains(span{from, o.data.size}))...)
}

// only returns a document of nothing but some of the entries.
func (o *outline) only(some []*outlined) io.Reader {
	parts := []io.Reader{bytes.NewReader(o.around)}
	for _, n := range some {
		parts = append(parts, o.data.remains(span{n.all.from, n.content}))
		if !n.empty {
			parts = append(parts, strings.NewReader("</"+n.name+">"))
		}
	}
	parts = append(parts, strings.NewReader("</"+tagName(o.around)+">"))
	return io.MultiReader(parts...)
}

// batch returns the first entries, which gofeed can parse together.
func batch(entries []*outlined) (first, rest []*outlined) {
	const enough = 256 << 10
	n, size := 1, 0
	for ; n < len(entries); n++ {
		if size += entries[n-1].all.to - entries[n-1].all.from; size >= enough {
			break
		}
	}
	return entries[:n], entries[n:]
}

// take records the position and the inherited attributes of the feed or an entry.
func (n *outlined) take(f *frame, p *parser) {
	n.line, n.column, n.base, n.lang = p.at.line, p.at.column, f.base, f.lang
}

func attribute(t xml.StartElement, space, local string) (value string, ok bool) {
	for _, a := range t.Attr {
		if a.Name.Space == space && a.Name.Local == local {
			return strings.TrimSpace(a.Value), true
		}
	}
	return "", false
}
