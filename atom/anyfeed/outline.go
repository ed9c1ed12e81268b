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

// notes are what gofeed does not return of a feed or an entry.
type notes struct {
	line, column int
	base         string // of references
	lang         string
	id           string            // atom:id as it is, or rdf:about
	media        string            // the type of the content
	types        map[string]string // of the texts
	deleted      bool              // a deletion in the form of an entry
	dates        dates
	source       dates // of the feed that an entry was copied from
	single       uint8 // its elements that outline.once counts

	// of an entry
	all     span
	content int  // where it ends; all.to if there is no end tag
	empty   bool // the start tag is the end tag, too
	name    string
	outside bool // of a channel
	parts   int
}

// dates are the texts of dates.
type dates struct{ updated, published, created, built string }

// An outline is the result of a first pass over a document. It checks the limits, finds
// the format, and records what gofeed does not return. It also removes parts of the
// document that are not read or that gofeed reads at great cost: elements of other
// formats, of which it makes trees; dates, which it tries to read in a hundred forms; the
// types of texts, because it parses XHTML as HTML, which can multiply it; and xml:base,
// which it resolves differently from RFC 3986, and can be made to resolve without end.
type outline struct {
	p    *parser
	src  *source
	dec  *xml.Decoder
	data *pages

	root    xml.Name
	version string   // of rss or feed
	spaces  []string // of the format's own elements
	feed    notes
	// in the end, those outside of the channel come last, as gofeed has it
	items    []*notes
	outside  []*notes
	channels int
	atoms    int // elements of Atom
	lost     int // tombstones
	astray   int // entries outside of a feed or channel
	dropped  int // entries of channels before the last

	complete, archive bool // fh:complete and fh:archive

	doubts []websync.Finding // what may have hidden an entry: the first of them
	unsure int               // the number of them

	stack  []frame
	open   []int // ends of tags of empty elements that are not closed
	hidden []disguise
	gone   []span // parts that gofeed must not see
	nodes  int
	scope  int
	parts  int              // links, categories and people
	joins  int              // bytes that gofeed copies when it joins pieces of texts
	text   *strings.Builder // of the id or date that is being read

	rootTag, channelTag span
	around              [][]byte // those two, when gofeed reads them
	// the last end tag, until the element of its name has ended
	ending     int
	endingName string
}

// A frame is an element that is open.
type frame struct {
	space, local string // local in lower case
	base, lang   string
	scope        int     // number of namespace declarations
	of           *notes  // the feed or the entry it belongs to
	verbatim     bool    // it is, or is in, one of texts
	into         *string // the outline reads its text
	isEntry      bool
	gone         bool // it is, or is in, one of outline.gone
	outermost    bool // of those that are gone
	foreign      bool
	inText       bool   // its parent is verbatim
	isList       bool   // it has no text of its own: the root, a channel or an entry
	hasText      bool   // though it isList
	text         int    // bytes of its own text
	name         string // as it is in the tag
	from, tagEnd int
	div          div
	open         bool // in outline.open
}

// A div is what an XHTML text must contain, and nothing else (RFC 4287 §3.1.1.3).
type div struct {
	wanted     bool
	children   int
	start, end span // the tags of the only child
}

// errStray: an end tag without a start tag, which would close the elements around it, was
// removed.
var errStray = errors.New("an end tag without a start tag")

// outline reads a document up to the end of its root element. After a repair it reads the
// document again, a limited number of times.
func (p *parser) outline(data *pages) (*outline, error) {
	const (
		repairs = 16
		effort  = 64 << 20 // bytes that are read again at most
	)
	for range max(2, min(repairs, effort/data.size)) {
		o := &outline{p: p, src: &source{p: p, data: data}, data: data}
		o.dec = xml.NewDecoder(o.src)
		o.dec.Strict = false
		err := o.read()
		switch {
		case len(o.open) > 0:
			if data, err = p.read(o.closed(), nil); err != nil {
				return nil, p.fail("", err)
			}
		case err == nil:
			o.disguise()
			for _, s := range o.gone {
				o.data.erase(s)
			}
			o.around = [][]byte{o.data.bytes(o.rootTag), o.data.bytes(o.channelTag)}
			return o, o.check()
		case err != errStray:
			return nil, err
		}
		p.cost = int64(data.size)
	}
	return nil, p.fail("", errStray)
}

// closed returns the document with end tags for elements that are open and should not be.
func (o *outline) closed() io.Reader {
	var parts []io.Reader
	from := 0
	slices.Sort(o.open) // that of an outer element may have come later
	for _, end := range o.open {
		parts = append(parts, o.data.moved(span{from, end}), strings.NewReader("/"))
		from = end
	}
	return io.MultiReader(append(parts, o.data.moved(span{from, o.data.size}))...)
}

func (o *outline) read() error {
	p := o.p
	for {
		from := o.offset()
		p.at.line, p.at.column = o.dec.InputPos()
		o.src.begin(from)
		token, err := o.dec.Token()
		if err == nil {
			switch t := token.(type) {
			case xml.StartElement:
				err = o.start(t, from)
			case xml.EndElement:
				err = o.end(from)
			case xml.CharData:
				err = o.characters(t, from)
			case xml.ProcInst:
				if bytes.Contains(t.Inst, []byte("<?")) {
					o.doubt("", t.Inst, "a processing instruction contains the start of another: its end may be damaged")
				}
			case xml.Directive:
				if len(o.stack) > 0 {
					o.doubt("", t, "a declaration inside of a feed may hide an entry")
				}
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
		o.p.at.line, o.p.at.column = o.dec.InputPos()
		o.src.begin(o.offset())
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
			o.doubt("", nil, "something after the end of the feed may stand for an entry")
		}
		return
	}
}

// doubt records a departure that may have hidden an entry. It counts as skipped.
func (o *outline) doubt(element string, value []byte, message string) {
	const most = 100 // of those that are kept
	if o.unsure++; o.unsure <= most {
		o.doubts = append(o.doubts, ruleStructure.Finding(o.p.doc.URL, o.p.at.line, o.p.at.column, element, value, message))
	}
}

// syntax returns an error of the decoder with its position.
func (o *outline) syntax(err error) error {
	line, column := o.dec.InputPos()
	var syntax *xml.SyntaxError
	switch {
	case o.src.err != nil: // the decoder may have another
		err = o.src.err
	case err == io.EOF && o.root.Local == "":
		return o.p.doc.Fail(1, 1, "", o.p.doc.Not("an empty document"))
	case o.offset() == o.data.size:
		err = websync.ErrTruncated
	case errors.As(err, &syntax):
		err = errors.New(syntax.Msg)
	}
	return o.p.doc.Fail(line, column, "", err)
}

// tag returns the token that starts at from.
func (o *outline) tag(from int) []byte { return o.data.bytes(span{from, o.offset()}) }

func (o *outline) offset() int { return int(o.dec.InputOffset()) }

// characters takes some of the text of an element.
func (o *outline) characters(t []byte, from int) error {
	if o.text != nil {
		o.text.Write(t)
	}
	if len(o.stack) == 0 {
		return nil
	}
	f := &o.stack[len(o.stack)-1]
	isSection := from < o.data.size && o.data.byte(from) == '<'
	if isSection && bytes.Contains(t, []byte("<![CDATA[")) && bytes.Contains(t, []byte("</"+f.name)) {
		o.doubt(f.local, nil, "a CDATA section contains the start of another: its end may be damaged")
	}
	if f.isList && !f.hasText && len(bytes.TrimSpace(t)) > 0 {
		f.hasText = true
		o.doubt(f.local, t, "text between elements may stand for an entry, or be a part of one")
	}
	if f.foreign && !f.gone {
		const maxJoins = 256 << 20
		if o.joins += f.text; o.joins > maxJoins {
			return o.p.fail(f.local, fmt.Errorf("texts in too many pieces: %w", websync.ErrLimit))
		}
	}
	f.text += len(t)
	return nil
}

func (o *outline) start(t xml.StartElement, from int) error {
	f := frame{base: o.p.doc.URL, of: &o.feed}
	if n := len(o.stack); n > 0 {
		f = o.stack[n-1]
	}
	f.inText = f.verbatim
	f.space, f.local, f.scope = strings.TrimSpace(t.Name.Space), strings.ToLower(t.Name.Local), 0
	f.from, f.tagEnd, f.name = from, o.offset(), tagName(o.tag(from))
	f.into, f.isEntry, f.open, f.outermost, f.text, f.div = nil, false, false, false, 0, div{}
	f.isList, f.hasText = len(o.stack) == 0, false
	if err := o.attributes(&f, t.Attr, from); err != nil {
		return err
	}
	if len(o.stack) == 0 {
		if err := o.begin(&f, t, from); err != nil {
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
	case len(o.items)+len(o.outside) > o.p.scaled(MaxEntries):
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
	baseName  = regexp.MustCompile(`([\s"'][^\s=<>"']*:bas)e(\s*=)`)
	spaceName = regexp.MustCompile(`([\s"']xmln)s(\s*=)`)
	typeName  = regexp.MustCompile(`([\s"'](?:[^\s=<>"']*:)?)type(\s*=)`)
	modeName  = regexp.MustCompile(`([\s"'](?:[^\s=<>"']*:)?)mode(\s*=)`)

	withoutBase  = []renaming{{baseName, "${1}_$2"}}
	withoutSpace = []renaming{{spaceName, "${1}_$2"}}
	withoutType  = []renaming{{modeName, "${1}mod_$2"}, {typeName, "${1}typ_$2"}}
	typeAsMode   = []renaming{{modeName, "${1}mod_$2"}, {typeName, "${1}mode$2"}}
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

// begin records the root element.
func (o *outline) begin(f *frame, t xml.StartElement, from int) error {
	o.root, o.rootTag = t.Name, span{from, o.offset()}
	o.feed.take(f, o.p)
	o.version, _ = attribute(t, "", "version")
	switch f.local {
	case "rss", "rdf":
		o.spaces = rssSpaces
		if def, ok := attribute(t, "", "xmlns"); ok && def == f.space && !slices.Contains(rssSpaces, def) {
			// A namespace that RSS does not have, on the root, must not make its elements
			// foreign.
			o.spaces = append(slices.Clone(rssSpaces), def)
			o.hide(from, &withoutSpace)
		}
	case "feed":
		o.spaces = atomSpaces
	}
	if !slices.Contains(o.spaces, f.space) {
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
	if !slices.Contains(o.spaces, f.space) || !slices.Contains(o.spaces, parent.space) {
		o.foreign(f, t)
		return
	}
	if o.isAtom() {
		o.atomElement(parent, f, t)
	} else {
		o.rssElement(parent, f, t)
	}
	o.checkParent(parent, f)
	if (parent.local == "link" || parent.local == "category") && f.space == o.root.Space && o.isAtom() && !parent.open {
		parent.open = true
		o.open = append(o.open, parent.tagEnd-1)
	}
}

// atomElement records an element of Atom.
func (o *outline) atomElement(parent, f *frame, t xml.StartElement) {
	switch depth := len(o.stack); {
	case f.local == "entry" && depth == 1:
		o.entry(&o.items, f, t)
	case depth == 1 || parent.isEntry:
		o.child(f, t)
	case depth == 3 && parent.local == "source" && (f.local == "updated" || f.local == "modified"):
		o.take(f, &f.of.source.updated)
	}
}

// rssElement records an element of RSS.
func (o *outline) rssElement(parent, f *frame, t xml.StartElement) {
	depth := len(o.stack)
	inChannel := depth == 2 && parent.local == "channel"
	switch {
	case f.local == "channel" && depth == 1:
		o.channels++
		o.dropped += len(o.items)
		for _, n := range o.items {
			o.gone = append(o.gone, n.all)
		}
		o.items = nil
		o.channelTag = span{f.from, f.tagEnd}
		f.isList, o.feed.single = true, 0
		o.feed.take(f, o.p)
	case f.local == "item" && depth == 1:
		o.entry(&o.outside, f, t)
	case f.local == "item" && inChannel:
		o.entry(&o.items, f, t)
	case parent.isEntry || inChannel:
		o.rssChild(f)
	case depth == 1:
		f.gone = f.local != "image"
	}
}

// checkParent looks for an entry, or a part of one, where none may be, and for a second
// element of those that a feed or an entry has once.
func (o *outline) checkParent(parent, f *frame) {
	switch {
	case f.isEntry || len(o.stack) == 1 && f.local == "channel":
	case (f.local == "item" || f.local == "entry") && !o.within("content"):
		o.astray++
	case !o.mayHave(parent, f.local):
		message := fmt.Sprintf("%.100q in %.100q: it may stand for an entry, or be a part of one", f.name, parent.name)
		o.doubt(f.local, nil, message)
	case parent.isList:
		o.once(f)
	}
}

// checkValue checks that an element that can make an ID has no children. The link of Atom
// may have some, and makes it with an attribute.
func (o *outline) checkValue(parent, f *frame) {
	isValue := parent.local == "guid" || parent.local == "id" || parent.local == "link" && !o.isAtom()
	if isValue && !parent.inText && !parent.foreign {
		message := fmt.Sprintf("an element in %.100q, which has a value only: it may be a part of an entry", parent.name)
		o.doubt(f.local, nil, message)
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

// mayHave reports whether an element may have a child of the format's own namespaces,
// beside entries. It knows those that contain entries only.
func (o *outline) mayHave(parent *frame, local string) bool {
	switch {
	case len(o.stack) == 1 && o.isAtom():
		return slices.Contains(feedChildren, local)
	case len(o.stack) == 1:
		return slices.Contains(rssChildren, local)
	case len(o.stack) == 2 && parent.isList && !parent.isEntry:
		return slices.Contains(channelChildren, local)
	}
	return true
}

// once checks that a feed or an entry has but one of some elements: a second one may be
// that of an entry whose tags are lost.
func (o *outline) once(f *frame) {
	i := slices.Index([]string{"title", "guid", "id"}, f.local)
	if i < 0 {
		return
	}
	if f.of.single&(1<<i) != 0 {
		o.doubt(f.local, nil, fmt.Sprintf("a second %.100q: it may be that of another entry", f.name))
	}
	f.of.single |= 1 << i
}

func (o *outline) isAtom() bool { return strings.EqualFold(o.root.Local, "feed") }

func (o *outline) within(local string) bool {
	return slices.ContainsFunc(o.stack, func(f frame) bool { return f.local == local })
}

func (o *outline) entry(to *[]*notes, f *frame, t xml.StartElement) {
	f.of, f.isEntry, f.isList = &notes{all: span{f.from, f.from}, name: f.name, outside: len(o.stack) == 1}, true, true
	f.of.take(f, o.p)
	o.p.mustID = o.p.mustID || o.isAtom() || f.space == rss10Namespace
	for _, space := range []string{"rdf", rdfNamespace} { // the prefix may not be declared
		if about, ok := attribute(t, space, "about"); ok {
			f.of.id = about
		}
	}
	*to = append(*to, f.of)
}

// The elements of the formats that are read, except for dates and ids.
var (
	atomRead = []string{
		"title", "subtitle", "tagline", "summary", "content", "rights", "copyright", "generator", "icon", "logo",
		"link", "category", "author", "contributor", "source",
	}
	rssRead = []string{
		"title", "description", "language", "copyright", "managingeditor", "generator", "link", "category", "image",
		"author", "comments", "source", "enclosure", "guid",
	}
	// of Dublin Core and Atom
	foreignRead = []string{"title", "language", "rights", "creator", "subject", "date", "created", "modified", "updated", "link"}
	// those that become an element of a list
	listed = []string{"link", "category", "enclosure", "author", "contributor", "source", "creator", "subject"}
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

// rssChild records a child of a channel or an item.
func (o *outline) rssChild(f *frame) {
	switch f.local {
	case "pubdate":
		o.take(f, &f.of.dates.published)
	case "lastbuilddate":
		o.take(f, &f.of.dates.built)
	}
	f.gone = f.gone || !slices.Contains(rssRead, f.local)
}

// foreign records an element of another namespace, or in one, and leaves out what is not
// read.
func (o *outline) foreign(f *frame, t xml.StartElement) {
	parent := &o.stack[len(o.stack)-1]
	if (f.local == "item" || f.local == "entry") && slices.Contains(o.spaces, f.space) && !o.within("content") {
		o.astray++
	}
	o.extension(parent, f, t)
	switch {
	case f.foreign:
		f.gone = true
	case f.verbatim, f.gone:
	case o.isAtom(), len(o.stack) == 1:
		f.gone = true
	case parent.isEntry && f.local == "encoded" && strings.Contains(f.space, "content"): // gofeed reads it like a description
	case parent.isEntry, parent.local == "channel":
		f.foreign = true
		f.gone = !slices.Contains(foreignRead, f.local)
	}
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
	isFeed := (o.isAtom() || len(o.stack) == 2) && parent.isList && !parent.isEntry
	if isFeed && f.space == atom.HistoryNamespace {
		o.complete = o.complete || f.local == "complete"
		o.archive = o.archive || f.local == "archive"
	}
}

// kept records an element that gofeed reads, outside of texts.
func (o *outline) kept(f *frame, t xml.StartElement) {
	if f.foreign || slices.Contains(listed, f.local) {
		o.parts++
		f.of.parts++
	}
	if !o.isAtom() || f.local == "link" || f.local == "category" {
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
	if o.removeStray(from) {
		return errStray
	}
	last := len(o.stack) - 1
	f, end := o.stack[last], o.endTag(from)
	o.scope -= f.scope
	o.stack = o.stack[:last]
	if f.into != nil {
		*f.into, o.text = strings.TrimSpace(o.text.String()), nil
	}
	empty := end.from == f.tagEnd && o.data.byte(f.tagEnd-len("/>")) == '/'
	if end.from == end.to && !empty && !f.inText {
		o.doubt(f.local, nil, fmt.Sprintf("%.100q is not closed: it may contain what is not its own", f.name))
	}
	if f.isEntry {
		f.of.all.to, f.of.content, f.of.empty = end.to, end.from, empty
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
	case !f.gone && !f.isEntry && f.local != "channel" && end.to-f.from > o.p.maxValue():
		return o.p.fail(f.local, o.p.tooLong("an element"))
	}
	return nil
}

// endTag returns the end tag of the innermost element, which ends at a token that starts
// at from. The span is empty if there is none: in an empty element, or if the decoder
// closes an element because one around it ends.
func (o *outline) endTag(from int) span {
	f := &o.stack[len(o.stack)-1]
	to := o.offset()
	switch {
	case from < to:
		o.ending, o.endingName = from, tagName(o.tag(from))
	case o.endingName == "":
		return span{from, from}
	}
	if o.endingName != f.name {
		return span{o.ending, o.ending}
	}
	o.endingName = ""
	return span{o.ending, to}
}

// drop leaves out a child of parent, and text between children that are left out.
func (o *outline) drop(s span, parent *frame) {
	if n := len(o.gone); n > 0 && !parent.foreign {
		if to := &o.gone[n-1].to; *to <= s.from && !o.data.has(span{*to, s.from}, '<') {
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

// removeStray removes the end tag that starts at from if no open element has its name,
// and reports whether that is so. The end tags that the decoder adds are empty.
func (o *outline) removeStray(from int) bool {
	tag := o.tag(from)
	name, ok := bytes.CutPrefix(tag, []byte("</"))
	if !ok {
		return false
	}
	name = bytes.TrimRight(name, "> \t\r\n")
	local := strings.ToLower(string(name[bytes.LastIndexByte(name, ':')+1:]))
	if o.within(local) {
		return false
	}
	if !o.stack[len(o.stack)-1].verbatim {
		o.p.skipped++
		name := tagName(tag)
		o.p.find(ruleStructure, name, "", fmt.Sprintf("%.100q ends and has not begun: it may be that of an entry", name))
	}
	o.data.blank(span{from, o.offset()})
	return true
}

// check returns an error if the document is no feed, and reports what gofeed ignores of
// it.
func (o *outline) check() error {
	switch isAtom := o.isAtom(); {
	case len(o.items) == 0 && len(o.outside) == 0 && o.astray > 0:
		return o.p.doc.Fail(0, 0, "", errors.New("entries inside of other elements, and no others"))
	case isAtom && o.root.Space == "" && o.atoms == 0 && len(o.items) == 0:
		return o.p.doc.Fail(0, 0, "", o.p.doc.Not("a feed element with nothing of Atom in it"))
	case !isAtom && o.channels == 0 && len(o.outside) == 0:
		return o.p.doc.Fail(0, 0, "", o.p.doc.Not("an "+o.root.Local+" document without a channel"))
	}
	o.p.at = o.feed
	if o.channels > 1 {
		o.p.find(ruleLeftOut, "channel", "", fmt.Sprintf("%d channels, of which only the last is read", o.channels))
	}
	if o.lost > 0 {
		o.p.find(ruleLeftOut, "deleted-entry", "", fmt.Sprintf("tombstones are left out: %d", o.lost))
	}
	if o.astray > 0 {
		o.p.find(ruleLeftOut, "", "", fmt.Sprintf("entries inside of other elements are left out: %d", o.astray))
	}
	o.p.early = append(o.p.early, o.doubts...)
	if n := o.unsure - len(o.doubts); n > 0 {
		o.p.find(ruleStructure, "", "", fmt.Sprintf("more of what may have hidden an entry: %d", n))
	}
	o.p.skipped += o.lost + o.astray + o.dropped + o.unsure
	o.p.cost += o.cost()
	o.items = append(o.items, o.outside...)
	return nil
}

// cost returns what counts against the limit beyond the bytes of the document.
func (o *outline) cost() int64 {
	return partCost * int64(len(o.items)+len(o.outside)+o.parts)
}

// without returns the document without its entries.
func (o *outline) without() io.Reader {
	items := slices.SortedFunc(slices.Values(o.items), func(a, b *notes) int { return a.all.from - b.all.from })
	var parts []io.Reader
	from := 0
	for _, n := range items {
		parts = append(parts, o.data.remains(span{from, n.all.from}))
		from = n.all.to
	}
	return io.MultiReader(append(parts, o.data.remains(span{from, o.data.size}))...)
}

// only returns a document of nothing but some of the entries, all of them in the channel
// or outside of it.
func (o *outline) only(some []*notes) io.Reader {
	around := o.around
	if some[0].outside {
		around = around[:1]
	}
	var parts []io.Reader
	for _, tag := range around {
		parts = append(parts, bytes.NewReader(tag))
	}
	for _, n := range some {
		parts = append(parts, o.data.remains(span{n.all.from, n.content}))
		if !n.empty {
			parts = append(parts, strings.NewReader("</"+n.name+">"))
		}
	}
	for _, tag := range slices.Backward(around) {
		parts = append(parts, strings.NewReader("</"+tagName(tag)+">"))
	}
	return io.MultiReader(parts...)
}

// batch returns the first entries, which gofeed can parse together.
func batch(entries []*notes) (first, rest []*notes) {
	const enough = 256 << 10
	n, size := 1, 0
	for ; n < len(entries) && entries[n].outside == entries[0].outside; n++ {
		if size += entries[n-1].all.to - entries[n-1].all.from; size >= enough {
			break
		}
	}
	return entries[:n], entries[n:]
}

// take records the position and the inherited attributes of the feed or an entry.
func (n *notes) take(f *frame, p *parser) {
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

// A source feeds a decoder with a document. It limits the tokens, and the attributes of a
// tag, which become fifty times as large.
type source struct {
	io.Reader // for the type only: the decoder reads bytes
	p         *parser
	data      *pages
	page      []byte
	at        int

	from       int // of the token
	tag        bool
	quote      byte
	space      bool
	separators int // at most four for each attribute
	err        error
}

// begin starts a token.
func (s *source) begin(from int) {
	s.from, s.quote, s.space, s.separators = from, 0, false, 0
	s.tag = from+1 < s.data.size && s.data.byte(from) == '<' && s.data.byte(from+1) != '!' && s.data.byte(from+1) != '?'
}

func (s *source) ReadByte() (byte, error) {
	if s.at == s.data.size {
		return 0, io.EOF
	}
	if s.at%pageSize == 0 {
		s.page = s.data.rest(s.at)
	}
	b := s.page[s.at%pageSize]
	s.at++
	if s.at-s.from > s.p.maxValue() {
		s.err = s.p.tooLong("a text or tag")
	}
	if s.tag {
		s.count(b)
		if s.separators > 4*maxAttributes {
			s.err = fmt.Errorf("more than %d attributes: %w", maxAttributes, websync.ErrLimit)
		}
	}
	return b, s.err
}

func (s *source) count(b byte) {
	space := b == ' ' || b == '\n' || b == '\t' || b == '\r'
	switch {
	case s.quote != 0:
		if b == s.quote {
			s.quote = 0
		}
	case b == '"' || b == '\'':
		s.quote = b
	case b == '=', space && !s.space:
		s.separators++
	}
	s.space = space
}
