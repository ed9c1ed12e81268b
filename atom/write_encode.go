package atom

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// The sections that no rule is of.
const (
	sectionForeign = "RFC 4287 §6"
	sectionXML     = "XML 1.0 §2.2"
	sectionNames   = "Namespaces in XML 1.0 §3"
)

var (
	errMissing    = errors.New("missing")
	errNotElement = errors.New("not one element")
	errInherits   = errors.New("an element without a namespace that does not say so")
	errSpace      = errors.New("an element of Atom, or one that only the fields may state")
	errAttrSpace  = errors.New("an attribute that is not of another namespace")
	errAttrTwice  = errors.New("an attribute twice")
	errAttrCount  = errors.New("more than 100 attributes")
	errPrefix     = errors.New("a prefix that is taken, or none")
)

// An encoder appends elements to a buffer. Its methods go on after a refusal; what they
// then append is taken back by finish.
type encoder struct {
	b       []byte
	from    int         // where the element at hand begins
	refused *EntryError // the first reason why it can't be written
	margin  string      // what precedes an element
	space   string      // declarations for the next element

	lang, base string // of the feed
	legacyMD5  bool
	prefixes   []websync.Attr // Local is declared for Space on the root

	email string // the last that was found to be one
	xml   *xmlscan.Reader
	src   fragmentReader
	seen  map[alternate]struct{}
}

const margins = "\n        "

// start begins one feed, entry or tombstone.
func (c *encoder) start() {
	c.from, c.refused, c.margin, c.space = len(c.b), nil, margins[:3], ""
}

// finish ends what start began. If it was refused it is taken back.
func (c *encoder) finish(id string) error {
	if c.refused == nil {
		return nil
	}
	c.b = c.b[:c.from]
	c.refused.ID = id
	return c.refused
}

// refuse remembers why the element can't be written.
func (c *encoder) refuse(element, section string, err error) {
	if c.refused == nil {
		c.refused = &EntryError{Element: localName(element), Section: section, Err: err}
	}
}

// breaks refuses an element that breaks a rule.
func (c *encoder) breaks(element string, r *Rule) { c.check(element, r, r.Summary) }

// check refuses an element with a fault that is not "", by a rule.
func (c *encoder) check(element string, r *Rule, fault string) {
	if fault != "" {
		c.refuse(element, r.Section, errors.New(fault))
	}
}

func localName(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// declare readies the namespaces of a document.
func (c *encoder) declare(namespaces map[string]string, legacyMD5 bool) {
	c.lang, c.base, c.legacyMD5, c.prefixes = "", "", legacyMD5, c.prefixes[:0]
	for _, prefix := range slices.Sorted(maps.Keys(namespaces)) {
		space := namespaces[prefix]
		switch taken := prefix == "at" || prefix == "fh" || prefix == "le" || isGenerated(prefix); {
		case taken, !c.isName(prefix), len(prefix) >= 3 && strings.EqualFold(prefix[:3], "xml"):
			c.refuse(prefix, sectionNames, errPrefix)
		case !isForeign(space):
			c.refuse(prefix, sectionNames, errAttrSpace)
		}
		c.prefixes = append(c.prefixes, websync.Attr{Space: space, Local: prefix})
	}
}

// isGenerated tells whether a prefix could be one that attribute makes up.
func isGenerated(prefix string) bool {
	return len(prefix) > 2 && prefix[:2] == "ns" && syntax.IsDigit(prefix[2])
}

// isForeign tells whether attributes may have a namespace.
func isForeign(space string) bool {
	return space != "" && space != Namespace && space != xmlNamespace && space != "http://www.w3.org/2000/xmlns/"
}

// isName tells whether s is a name without a colon.
func (c *encoder) isName(s string) bool {
	for i := range len(s) {
		if ch := s[i]; !syntax.IsAlpha(ch) && ch != '_' && (i == 0 || !syntax.IsDigit(ch) && ch != '-' && ch != '.') {
			if ch < utf8.RuneSelf {
				return false
			}
			name, err := c.fragment("<" + s + ` xmlns=""/>`)
			return err == nil && name.Local == s
		}
	}
	return s != ""
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

// open begins the tag of an element.
func (c *encoder) open(name string) {
	c.b = append(c.b, c.margin...)
	c.b = append(c.b, '<')
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

// attr appends an attribute. name is all of it up to its value.
func (c *encoder) attr(element, name, value string) {
	b, err := xmlscan.AppendAttr(append(c.b, name...), value)
	if err != nil {
		c.refuse(element, sectionXML, err)
	}
	c.b = append(b, '"')
}

// stated appends an attribute that has a value.
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

// iriAttr appends an attribute that is an absolute IRI.
func (c *encoder) iriAttr(element, name string, r *Rule, s string) {
	if isPlainURL(s) {
		c.plain(name, s)
		return
	}
	c.check(element, r, syntax.IRIFault(s))
	c.attr(element, name, s)
}

// langAttr appends an attribute that is a language tag, if it is stated.
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

// iri appends an element that is an absolute IRI, if it is stated.
func (c *encoder) iri(name string, r *Rule, s string) {
	if s == "" {
		return
	}
	c.open(name)
	c.b = append(c.b, '>')
	if isPlainURL(s) {
		c.b = append(c.b, s...)
	} else {
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
func (c *encoder) div(element, xml string) {
	root, err := c.fragment(xml)
	switch {
	case err != nil:
		c.refuse(element, ruleXHTML.Section, err)
	case root != xmlscan.Name{Space: xhtmlNamespace, Local: "div"}:
		c.breaks(element, &ruleXHTML)
	}
	c.b = append(c.b, xml...)
}

// Foreign markup is read inside of an element with this default namespace, which it must
// not inherit: it would be that of Atom.
const (
	outerSpace = "about:blank"
	outerStart = `<w xmlns="` + outerSpace + `">`
	outerEnd   = "</w>"
)

// fragmentDepth is how deep foreign markup may be nested: what the Reader takes, less the
// elements around it.
const fragmentDepth = 256 - 4

// fragment returns the name of the one element that xml is, as it can stand in any
// document.
func (c *encoder) fragment(xml string) (xmlscan.Name, error) {
	if len(xml) < 2 || xml[0] != '<' || xml[1] == '!' || xml[1] == '?' {
		return xmlscan.Name{}, errNotElement
	}
	if c.xml == nil {
		c.xml = xmlscan.NewReader(nil)
		c.xml.MaxDepth = fragmentDepth
	}
	c.src = fragmentReader{outerStart, xml, outerEnd}
	c.xml.Reset(&c.src)
	var root xmlscan.Name
	for n := 0; ; n++ {
		kind, err := c.xml.Next()
		depth := c.xml.Depth()
		switch {
		case err == io.EOF:
			return root, nil
		case err != nil:
			return root, err
		case n > 0 && kind == xmlscan.Start && c.xml.Name().Space == outerSpace:
			return root, errInherits
		case n == 1:
			root = c.xml.Name()
		case n > 1 && (kind == xmlscan.Start && depth == 2 || kind == xmlscan.Text && depth == 1):
			return root, errNotElement
		}
	}
}

// A fragmentReader reads its strings.
type fragmentReader [3]string

func (r *fragmentReader) Read(p []byte) (n int, err error) {
	for i := range r {
		copied := copy(p[n:], r[i])
		r[i] = r[i][copied:]
		n += copied
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// elements appends foreign markup.
func (c *encoder) elements(elements []websync.Element, reserved ...string) {
	for i := range elements {
		x := &elements[i]
		name, err := c.fragment(x.XML)
		switch {
		case err != nil:
			c.refuse(x.Local, sectionForeign, err)
		case name != xmlscan.Name{Space: x.Space, Local: x.Local}:
			c.refuse(x.Local, sectionForeign, fmt.Errorf("its name is {%s}%s", name.Space, name.Local))
		case x.Space == Namespace, slices.Contains(reserved, x.Space):
			c.refuse(x.Local, sectionForeign, errSpace)
		}
		c.b = append(c.b, c.margin...)
		c.b = append(c.b, x.XML...)
	}
}
