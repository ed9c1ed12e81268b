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
var texts = []string{"title", "subtitle", "tagline", "summary", "content", "rights", "copyright", "info", "description", "encoded"}

// notes are what gofeed does not return of a feed or an entry.
type notes struct {
	line, column int
	base         string // of references
	lang         string
	id           string            // atom:id as it is, or rdf:about
	types        map[string]string // of the texts
	deleted      bool              // a deletion in the form of an entry
}

// An outline is the result of a first pass over a document. It checks the limits, finds
// the format, and records what gofeed does not return. It also removes xml:base from the
// document: gofeed resolves it differently from RFC 3986, and can be made to resolve it
// without end.
type outline struct {
	p    *parser
	dec  *xml.Decoder
	data []byte

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

	stack  []frame
	open   []int64 // ends of tags of empty elements that are not closed
	hidden []disguise
	nodes  int
	scope  int
	text   *strings.Builder // of the id that is being read
}

// A frame is an element that is open.
type frame struct {
	space, local string // local in lower case
	base, lang   string
	scope        int    // number of namespace declarations
	of           *notes // the feed or the entry it belongs to
	verbatim     bool   // it is, or is in, one of texts
	isID         bool
	tagEnd       int64
	open         bool // in outline.open
}

// errStray: an end tag without a start tag, which would close the elements around it, was
// removed.
var errStray = errors.New("an end tag without a start tag")

// outline reads a document up to the end of its root element. After a repair it reads the
// document again, a limited number of times.
func (p *parser) outline(data []byte) (*outline, error) {
	const repairs = 16
	for range repairs {
		o := &outline{p: p, dec: xml.NewDecoder(bytes.NewReader(data)), data: data}
		o.dec.Strict = false
		err := o.read()
		switch {
		case len(o.open) > 0:
			data = o.closed()
		case err == nil:
			o.disguise()
			return o, o.check()
		case err != errStray:
			return nil, err
		}
		p.grown = 0
	}
	return nil, p.fail("", errStray)
}

// closed returns the document with end tags for elements that are open and should not be.
func (o *outline) closed() []byte {
	var b []byte
	from := int64(0)
	slices.Sort(o.open) // that of an outer element may have come later
	for _, end := range o.open {
		b = append(append(b, o.data[from:end]...), '/')
		from = end
	}
	return append(b, o.data[from:]...)
}

func (o *outline) read() error {
	p := o.p
	for {
		from := o.dec.InputOffset()
		p.at.line, p.at.column = o.dec.InputPos()
		token, err := o.dec.Token()
		if err == nil {
			switch t := token.(type) {
			case xml.StartElement:
				err = o.start(t, from)
			case xml.EndElement:
				err = o.end(from)
			case xml.CharData:
				if o.text != nil {
					o.text.Write(t)
				}
			}
		} else {
			err = o.syntax(err)
		}
		if err != nil || o.root.Local != "" && len(o.stack) == 0 {
			return err
		}
	}
}

// syntax returns an error of the decoder with its position.
func (o *outline) syntax(err error) error {
	line, column := o.dec.InputPos()
	var syntax *xml.SyntaxError
	switch {
	case err == io.EOF && o.root.Local == "":
		return o.p.doc.Fail(1, 1, "", o.p.doc.Not("an empty document"))
	case o.dec.InputOffset() == int64(len(o.data)):
		err = websync.ErrTruncated
	case errors.As(err, &syntax):
		err = errors.New(syntax.Msg)
	}
	return o.p.doc.Fail(line, column, "", err)
}

func (o *outline) start(t xml.StartElement, from int64) error {
	f := frame{base: o.p.doc.URL, of: &o.feed}
	if n := len(o.stack); n > 0 {
		f = o.stack[n-1]
	}
	f.space, f.local, f.scope = strings.TrimSpace(t.Name.Space), strings.ToLower(t.Name.Local), 0
	f.isID, f.open, f.tagEnd = false, false, o.dec.InputOffset()
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
	o.stack = append(o.stack, f)
	return o.limits(len(t.Attr))
}

// limits counts an element and checks the limits.
func (o *outline) limits(attributes int) error {
	o.nodes += 1 + attributes
	o.scope += o.stack[len(o.stack)-1].scope
	over := ""
	switch {
	case o.nodes > maxNodes:
		over = fmt.Sprintf("more than %d elements and attributes", maxNodes)
	case len(o.stack) > maxDepth:
		over = fmt.Sprintf("elements more than %d deep", maxDepth)
	case o.scope > maxScope:
		over = fmt.Sprintf("more than %d namespaces", maxScope)
	case len(o.items)+len(o.outside) > MaxEntries:
		over = fmt.Sprintf("more than %d entries", MaxEntries)
	default:
		return nil
	}
	return o.p.fail("", fmt.Errorf("%s: %w", over, websync.ErrLimit))
}

// attributes records the attributes of an element that apply to its content.
func (o *outline) attributes(f *frame, attrs []xml.Attr, from int64) error {
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
			o.hide(from, baseName)
		}
	}
	return nil
}

var (
	baseName  = regexp.MustCompile(`(\s[^\s=<>"']*:bas)e(\s*=)`)
	spaceName = regexp.MustCompile(`(\sxmln)s(\s*=)`)
)

// A disguise replaces names of attributes in a tag with meaningless ones of the same
// length.
type disguise struct {
	from, to int64
	name     *regexp.Regexp
}

// hide disguises attributes of the tag that starts at from. It does so once the document
// needs no more repair.
func (o *outline) hide(from int64, name *regexp.Regexp) {
	o.hidden = append(o.hidden, disguise{from, o.dec.InputOffset(), name})
}

func (o *outline) disguise() {
	for _, d := range o.hidden {
		tag := o.data[d.from:d.to]
		copy(tag, d.name.ReplaceAll(tag, []byte("${1}_$2")))
	}
}

// begin records the root element.
func (o *outline) begin(f *frame, t xml.StartElement, from int64) error {
	o.root = t.Name
	o.feed.take(f, o.p)
	o.version, _ = attribute(t, "", "version")
	switch f.local {
	case "rss", "rdf":
		o.spaces = rssSpaces
		if def, ok := attribute(t, "", "xmlns"); ok && def == f.space && !slices.Contains(rssSpaces, def) {
			// A namespace that RSS does not have, on the root, must not make its elements
			// foreign.
			o.spaces = append(slices.Clone(rssSpaces), def)
			o.hide(from, spaceName)
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
	if !slices.Contains(o.spaces, f.space) || !slices.Contains(o.spaces, parent.space) {
		o.foreign(f, t)
		return
	}
	switch depth := len(o.stack); {
	case f.local == "channel" && depth == 1:
		o.channels++
		o.dropped += len(o.items)
		o.items = nil
		o.feed.take(f, o.p)
	case f.local == "item" && depth == 1:
		o.entry(&o.outside, f, t)
	case f.local == "item" && depth == 2 && parent.local == "channel", f.local == "entry" && depth == 1:
		o.entry(&o.items, f, t)
	case depth == 1, depth == 2 && parent.local == "entry":
		o.child(f, t)
	case (f.local == "item" || f.local == "entry") && !o.within("content"):
		o.astray++
	}
	if (parent.local == "link" || parent.local == "category") && f.space == o.root.Space && o.isAtom() && !parent.open {
		parent.open = true
		o.open = append(o.open, parent.tagEnd-1)
	}
}

func (o *outline) isAtom() bool { return strings.EqualFold(o.root.Local, "feed") }

func (o *outline) within(local string) bool {
	return slices.ContainsFunc(o.stack, func(f frame) bool { return f.local == local })
}

func (o *outline) entry(to *[]*notes, f *frame, t xml.StartElement) {
	f.of = new(notes)
	f.of.take(f, o.p)
	f.of.id, _ = attribute(t, rdfNamespace, "about")
	*to = append(*to, f.of)
}

// child records a child of an Atom feed or entry.
func (o *outline) child(f *frame, t xml.StartElement) {
	if slices.Contains(atomNames, f.local) {
		o.atoms++
	}
	switch f.local {
	case "id":
		f.of.id, f.isID, o.text = "", true, new(strings.Builder)
	case "title", "subtitle", "tagline", "summary", "content", "rights", "copyright":
		typ, _ := attribute(t, "", "type")
		mode, _ := attribute(t, "", "mode")
		if f.of.types == nil {
			f.of.types = make(map[string]string)
		}
		f.of.types[f.local] = textType(typ, mode)
	}
}

// foreign records deletions.
func (o *outline) foreign(f *frame, t xml.StartElement) {
	if f.local == "deleted-entry" && f.space == atom.TombstoneNamespace {
		o.lost++
	}
	deleted, _ := attribute(t, "", "deleted")
	if f.local == "deleted" && f.space == atom.GDataNamespace || f.local == "sync" && f.space == atom.FeedSyncNamespace && deleted == "true" {
		f.of.deleted = true
	}
}

func (o *outline) end(from int64) error {
	if tag := o.data[from:o.dec.InputOffset()]; o.isStray(tag) {
		blank(tag)
		return errStray
	}
	last := len(o.stack) - 1
	f := o.stack[last]
	if f.isID {
		f.of.id, o.text = strings.TrimSpace(o.text.String()), nil
	}
	o.scope -= f.scope
	o.stack = o.stack[:last]
	return nil
}

// isStray reports whether no open element has the name of an end tag. The end tags that
// the decoder adds are empty.
func (o *outline) isStray(tag []byte) bool {
	name, ok := bytes.CutPrefix(tag, []byte("</"))
	if !ok {
		return false
	}
	name = bytes.TrimRight(name, "> \t\r\n")
	local := strings.ToLower(string(name[bytes.LastIndexByte(name, ':')+1:]))
	return !o.within(local)
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
	o.p.skipped = o.lost + o.astray + o.dropped
	o.items = append(o.items, o.outside...)
	return nil
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
