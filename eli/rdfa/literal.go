package rdfa

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/syntax"
)

const (
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"
	xhtmlSpace = "http://www.w3.org/1999/xhtml"
	svgSpace   = "http://www.w3.org/2000/svg"
	mathSpace  = "http://www.w3.org/1998/Math/MathML"
)

// text returns the text content of n.
func (p *processor) text(n *html.Node) string {
	child := n.FirstChild
	switch {
	case child == nil:
		return ""
	case child.NextSibling == nil && child.Type == html.TextNode && !p.isTemplate(n):
		return child.Data
	}
	p.buf = p.appendText(p.buf[:0], n)
	return p.copied(p.buf)
}

func (p *processor) appendText(dst []byte, n *html.Node) []byte {
	if p.isTemplate(n) || len(dst) > p.maxText {
		return dst
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch child.Type {
		case html.TextNode:
			dst = append(dst, child.Data...)
		case html.ElementNode:
			dst = p.appendText(dst, child)
		}
	}
	return dst
}

// copied returns b as a string.
func (p *processor) copied(b []byte) string {
	if !p.charge(len(b)) {
		return ""
	}
	return string(b)
}

// charge takes bytes off maxText, and reports whether there were enough. Nested elements
// can copy the same text again and again, and a long base or prefix is in many IRIs.
func (p *processor) charge(n int) bool {
	if p.maxText -= n; p.maxText >= 0 {
		return true
	}
	p.fail(fmt.Errorf("literals and IRIs repeat too much text: %w", websync.ErrLimit))
	p.maxText = 0
	return false
}

// timeValue returns the literal for a date, time or duration, with the datatype that its
// form has (HTML+RDFa §3.1). All else is a plain literal.
func timeValue(v, lang string) rdf.Term {
	if datatype := timeType(v); datatype != "" {
		return rdf.Literal(v, rdf.XSD+datatype)
	}
	return rdf.Text(v, lang)
}

// timeType returns the local name of the datatype of XML Schema of which v is a lexical
// form: duration, dateTime, date, time, gYearMonth or gYear; or "".
func timeType(v string) string {
	s := strings.TrimPrefix(v, "-")
	if rest, ok := strings.CutPrefix(s, "P"); ok {
		if isDuration(rest) {
			return "duration"
		}
		return ""
	}
	year := 0
	for year < len(s) && syntax.IsDigit(s[year]) {
		year++
	}
	switch {
	case year == 2 && s == v && isTime(s):
		return "time"
	case year < 4 || year > 4 && s[0] == '0':
		return ""
	case isZone(s[year:]) && (len(s) == year || s[year:] == "Z" || strings.Contains(s[year:], ":")):
		return "gYear"
	}
	return dateType(s[year-4:]) // the last four digits decide on leap years
}

// dateType returns the datatype of a form that begins with a year of four digits and a
// month.
func dateType(date string) string {
	s := date[4:]
	month, ok := digits(s, "-", 1, 12)
	switch {
	case !ok:
		return ""
	case isZone(s[month:]):
		return "gYearMonth"
	}
	s = s[month:]
	day, ok := digits(s, "-", 1, 31)
	if !ok {
		return ""
	}
	switch _, err := time.Parse(time.DateOnly, date[:4+month+day]); {
	case err != nil:
		return ""
	case isZone(s[day:]):
		return "date"
	case s[day] == 'T' && isTime(s[day+1:]):
		return "dateTime"
	}
	return ""
}

// digits reports whether s begins with a separator and two digits that are a number from
// least to most, and returns how long they are.
func digits(s, separator string, least, most int) (n int, ok bool) {
	rest, ok := strings.CutPrefix(s, separator)
	if !ok || len(rest) < 2 || !syntax.IsDigit(rest[0]) || !syntax.IsDigit(rest[1]) {
		return 0, false
	}
	number := int(rest[0]-'0')*10 + int(rest[1]-'0')
	return len(separator) + 2, number >= least && number <= most
}

// isTime reports whether s is hh:mm:ss with an optional fraction and zone.
func isTime(s string) bool {
	if rest, ok := strings.CutPrefix(s, "24:00:00"); ok {
		return isZone(rest)
	}
	for i, most := range [...]int{23, 59, 59} {
		separator := ":"
		if i == 0 {
			separator = ""
		}
		n, ok := digits(s, separator, 0, most)
		if !ok {
			return false
		}
		s = s[n:]
	}
	if rest, ok := strings.CutPrefix(s, "."); ok {
		if s = strings.TrimLeft(rest, "0123456789"); s == rest {
			return false
		}
	}
	return isZone(s)
}

// isZone reports whether s is empty, Z or an offset.
func isZone(s string) bool {
	if s == "" || s == "Z" || s == "+14:00" || s == "-14:00" {
		return true
	}
	if s[0] != '+' && s[0] != '-' {
		return false
	}
	n, ok := digits(s, s[:1], 0, 13)
	if !ok {
		return false
	}
	m, ok := digits(s[n:], ":", 0, 59)
	return ok && n+m == len(s)
}

// isDuration reports whether s is what follows the P of an xsd:duration.
func isDuration(s string) bool {
	date, time, timed := strings.Cut(s, "T")
	if timed && time == "" || !timed && date == "" {
		return false
	}
	return inUnits(date, "YMD") && inUnits(time, "HMS")
}

// inUnits reports whether s is a sequence of numbers, each followed by one of the units,
// in their order. Seconds can have a fraction.
func inUnits(s, units string) bool {
	for s != "" {
		rest := strings.TrimLeft(s, "0123456789")
		if rest == s {
			return false
		}
		fractional := false
		if after, ok := strings.CutPrefix(rest, "."); ok {
			if rest = strings.TrimLeft(after, "0123456789"); rest == after {
				return false
			}
			fractional = true
		}
		if rest == "" {
			return false
		}
		unit := strings.IndexByte(units, rest[0])
		if unit < 0 || fractional && rest[0] != 'S' {
			return false
		}
		s, units = rest[1:], units[unit+1:]
	}
	return true
}

// xmlLiteral returns what n contains as XML. Each of the outermost elements declares
// all namespaces that are declared where it stands (step 11). It also declares the
// prefixes of @prefix, so that the RDFa inside keeps its meaning. Comments are left
// out.
func (p *processor) xmlLiteral(n *html.Node, s *scope) string {
	var d declarations
	for at := n; at != nil; at = at.Parent {
		for _, a := range at.Attr {
			if name := attrName(a); isDeclaration(name) {
				d.add(name, a.Val)
			}
		}
	}
	if p.fromHTML {
		d.add("xmlns", xhtmlSpace)
	}
	for _, a := range d.all {
		d.known[strings.ToLower(a.Key)] = true // the prefixes are in lower case
	}
	for ; s != nil; s = s.outer {
		for prefix, iri := range s.prefixes {
			if name := "xmlns:" + prefix; isXMLName(name) && iri != "" && prefix != "xml" && prefix != "xmlns" {
				d.add(name, iri)
			}
		}
	}
	p.buf = p.buf[:0]
	(&xmlWriter{p}).children(n, d.sorted())
	return p.copied(p.buf)
}

// declarations are namespace declarations, of which the first one of a name counts.
type declarations struct {
	all   []html.Attribute
	known map[string]bool
}

func (d *declarations) add(name, space string) {
	if !d.known[name] {
		if d.known == nil {
			d.known = make(map[string]bool)
		}
		d.known[name] = true
		d.all = append(d.all, html.Attribute{Key: name, Val: space})
	}
}

// sorted returns the declarations in the order of canonical XML.
func (d *declarations) sorted() []html.Attribute {
	slices.SortFunc(d.all, func(a, b html.Attribute) int { return strings.Compare(a.Key, b.Key) })
	return d.all
}

func isDeclaration(name string) bool { return name == "xmlns" || strings.HasPrefix(name, "xmlns:") }

// attrName returns the name of an attribute as the document has it.
func attrName(a html.Attribute) string {
	if a.Namespace != "" {
		return a.Namespace + ":" + a.Key
	}
	return a.Key
}

// space returns the namespace of an attribute of n.
func space(n *html.Node, name string) string {
	prefix, _, ok := strings.Cut(name, ":")
	switch {
	case !ok:
		return ""
	case prefix == "xml":
		return xmlSpace
	}
	for ; n != nil; n = n.Parent {
		if space := attr(n, "xmlns:"+prefix); space != "" {
			return space
		}
	}
	return ""
}

func local(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// An xmlWriter writes elements as XML to the processor's buffer: in the form of Exclusive
// XML Canonicalization 1.0, but with all declarations that are given, and in the order of
// the attributes in HTML, where no canonical form is required (HTML+RDFa §3.4).
type xmlWriter struct{ *processor }

// children writes what n contains. Its elements declare the given namespaces, unless they
// do so themselves.
func (w *xmlWriter) children(n *html.Node, declare []html.Attribute) {
	if w.isTemplate(n) {
		return
	}
	for child := n.FirstChild; child != nil && len(w.buf) <= w.maxText; child = child.NextSibling {
		switch child.Type {
		case html.TextNode:
			w.escaped(child.Data, canonicalText)
		case html.ElementNode:
			w.element(child, declare)
		}
	}
}

func (w *xmlWriter) element(n *html.Node, declare []html.Attribute) {
	if !isXMLName(n.Data) {
		w.report(ruleXMLLiteral, n.Data, "", "an element name that XML does not have: only the content is kept")
		w.children(n, declare)
		return
	}
	var d declarations
	var attrs []html.Attribute
	for _, a := range n.Attr {
		name := attrName(a)
		switch {
		case !isXMLName(name):
			w.report(ruleXMLLiteral, n.Data, name, "an attribute name that XML does not have: left out")
		case isDeclaration(name):
			d.add(name, a.Val)
		default:
			attrs = append(attrs, html.Attribute{Key: name, Val: a.Val})
		}
	}
	// the HTML parser puts elements in a namespace without a declaration
	if w.fromHTML && (declare != nil || n.Namespace != n.Parent.Namespace) {
		d.add("xmlns", cmp.Or(foreign[n.Namespace], xhtmlSpace))
	}
	for _, outer := range declare {
		d.add(outer.Key, outer.Val)
	}
	w.buf = append(append(w.buf, '<'), n.Data...)
	if !w.fromHTML {
		slices.SortStableFunc(attrs, func(a, b html.Attribute) int {
			return cmp.Or(strings.Compare(space(n, a.Key), space(n, b.Key)), strings.Compare(local(a.Key), local(b.Key)))
		})
	}
	for _, a := range append(d.sorted(), attrs...) {
		w.attr(a.Key, a.Val)
	}
	w.buf = append(w.buf, '>')
	w.children(n, nil)
	w.buf = append(append(append(w.buf, "</"...), n.Data...), '>')
}

// foreign are the namespaces that the HTML parser abbreviates.
var foreign = map[string]string{"svg": svgSpace, "math": mathSpace}

func (w *xmlWriter) attr(name, value string) {
	w.buf = append(append(append(w.buf, ' '), name...), `="`...)
	w.escaped(value, canonicalAttr)
	w.buf = append(w.buf, '"')
}

// escaped writes s. Characters that XML does not have are left out.
func (w *xmlWriter) escaped(s string, escape *strings.Replacer) {
	legal := strings.Map(func(c rune) rune {
		if !syntax.IsXMLCharacter(c) {
			return -1
		}
		return c
	}, s)
	if legal != s {
		w.report(ruleXMLLiteral, "", s, "a character that XML does not have: left out")
	}
	w.buf = append(w.buf, escape.Replace(legal)...)
}

// The characters that canonical XML escapes (Canonical XML 1.0 §2.3).
var (
	canonicalText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#xD;")
	canonicalAttr = strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;", "\t", "&#x9;", "\n", "&#xA;", "\r", "&#xD;")
)

// isXMLName reports whether an element or attribute of a literal can have a name.
func isXMLName(s string) bool {
	prefix, local, ok := strings.Cut(s, ":")
	return isTerm(prefix) && !strings.Contains(prefix, "/") && (!ok || isTerm(local) && !strings.Contains(local, "/"))
}

// htmlLiteral returns what n contains as HTML (HTML §13.3).
func (p *processor) htmlLiteral(n *html.Node) string {
	p.buf = p.buf[:0]
	p.appendHTML(n)
	return p.copied(p.buf)
}

func (p *processor) appendHTML(n *html.Node) {
	for child := n.FirstChild; child != nil && len(p.buf) <= p.maxText; child = child.NextSibling {
		switch child.Type {
		case html.TextNode:
			if isRawText[n.Data] {
				p.buf = append(p.buf, child.Data...)
			} else {
				p.buf = append(p.buf, textEscaper.Replace(child.Data)...)
			}
		case html.CommentNode:
			p.buf = append(append(append(p.buf, "<!--"...), child.Data...), "-->"...)
		case html.ElementNode:
			p.buf = append(append(p.buf, '<'), child.Data...)
			for _, a := range child.Attr {
				p.buf = append(append(append(p.buf, ' '), attrName(a)...), `="`...)
				p.buf = append(append(p.buf, attrEscaper.Replace(a.Val)...), '"')
			}
			p.buf = append(p.buf, '>')
			if !isVoid[child.Data] {
				p.appendHTML(child)
				p.buf = append(append(append(p.buf, "</"...), child.Data...), '>')
			}
		}
	}
}

var (
	textEscaper = strings.NewReplacer("&", "&amp;", "\u00A0", "&nbsp;", "<", "&lt;", ">", "&gt;")
	attrEscaper = strings.NewReplacer("&", "&amp;", "\u00A0", "&nbsp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

	isRawText = map[string]bool{
		"style": true, "script": true, "xmp": true, "iframe": true, "noembed": true, "noframes": true, "plaintext": true,
	}
	isVoid = map[string]bool{
		"area": true, "base": true, "basefont": true, "bgsound": true, "br": true, "col": true, "embed": true,
		"frame": true, "hr": true, "img": true, "input": true, "keygen": true, "link": true, "meta": true,
		"param": true, "source": true, "track": true, "wbr": true,
	}
)
