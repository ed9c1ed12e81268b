package atom

import (
	"bytes"
	"fmt"

	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// construct reads a text construct (RFC 4287 §3.1).
func (r *Reader) construct(t *textView, s *scope) (err error) {
	valid := true
	t.Type = PlainText
	if len(r.scan.Attrs()) > 0 {
		t.Lang, t.Base = r.stated(s.inherited)
		if stated, ok := r.scan.Attr("", "type"); ok {
			t.Type, valid = r.textType(stated)
		}
	}
	if t.Type == XHTML {
		t.Value, err = r.div()
	} else {
		inside := asText
		if t.Type == HTML {
			inside = asMarkup
		}
		var text span
		text, err = r.characters(&ruleTextElement, inside)
		t.Value = r.view.buf.Trimmed(text)
	}
	switch {
	case err != nil:
		*t = textView{} // half of one is none
	case r.check != nil && valid:
		r.check.construct(s, t)
	}
	return err
}

// textType reads the type of a text construct. Some publishers write a media type, which
// is not valid.
func (r *Reader) textType(stated []byte) (form string, valid bool) {
	for _, form := range [...]string{PlainText, HTML, XHTML} {
		if string(stated) == form {
			return form, true
		}
	}
	r.reportChild(ruleTextType, stated, "type must be text, html or xhtml")
	t := syntax.Essence(xmlscan.Trim(stated))
	switch {
	case syntax.EqualFold(t, HTML), syntax.EqualFold(t, "text/html"):
		return HTML, false
	case syntax.EqualFold(t, XHTML), syntax.EqualFold(t, "application/xhtml+xml"):
		return XHTML, false
	}
	return PlainText, false
}

const (
	divStart = `<div xmlns="` + xhtmlNamespace + `">`
	divEnd   = `</div>`
)

// div reads XHTML, which should be one div. It puts anything else into a div.
func (r *Reader) div() (span, error) {
	v := &r.view
	local := r.scan.Name().Local
	from := len(v.buf.Bytes)
	v.buf.Bytes = append(v.buf.Bytes, divStart...)
	inside := len(v.buf.Bytes)
	divs, faults := 0, 0
	fault := func(at position, value, message string) {
		if faults++; faults == 1 {
			r.report(ruleXHTML, at, local, []byte(value), message)
		}
	}
	for {
		kind, err := r.next()
		if err != nil {
			return span{}, err
		}
		if kind == xmlscan.End {
			break
		}
		if kind == xmlscan.Text {
			if text := r.scan.Text(); len(xmlscan.Trim(text)) > 0 && r.fits(from, len(text)) {
				fault(r.position(), string(xmlscan.Trim(text)), "xhtml must be one div, with no text beside it")
				if v.buf.Bytes, err = xmlscan.AppendText(v.buf.Bytes, string(text)); err != nil {
					return span{}, err
				}
			}
			continue
		}
		name := r.scan.Name()
		isDiv := name == xmlscan.Name{Space: xhtmlNamespace, Local: "div"}
		if isDiv {
			divs++
		}
		if !isDiv || divs > 1 {
			fault(r.position(), name.Local, "xhtml must be one div of XHTML, with no element beside it")
		}
		stop := r.scan.Stop
		if isDiv && r.check != nil {
			r.scan.Stop = r.check.inDiv(local)
		}
		err = r.captureInside(from)
		r.scan.Stop = stop
		if err != nil {
			return span{}, err
		}
	}
	if divs == 1 && faults == 0 {
		return v.buf.Since(inside), nil
	}
	if divs == 0 {
		fault(r.at, "", "xhtml must be one div")
	}
	v.buf.Bytes = append(v.buf.Bytes, divEnd...)
	return v.buf.Since(from), nil
}

// inlineOrElsewhere reads the content of an entry (RFC 4287 §4.1.3).
func (r *Reader) inlineOrElsewhere(s *scope) (err error) {
	c := &r.view.content
	lang, base := r.stated(s.inherited)
	r.linkAttrs(&c.linkView, s.with("", base).base)
	c.Lang, c.Base = r.view.buf.Add([]byte(lang)), base
	r.inContent, r.scan.MaxValue = true, r.maxContent()
	defer func() {
		if err != nil {
			*c = contentView{} // half of it is none
		}
		r.inContent, r.scan.MaxValue = false, r.MaxValue
	}()
	if src, elsewhere := r.scan.Attr("", "src"); elsewhere {
		if r.isItself(s.with("", base).base, src) {
			r.reportChild(ruleItself, nil, "an empty src leads to the feed itself")
			r.view.damaged = true
		}
		return r.contentElsewhere(c)
	}
	return r.inline(c)
}

// inline reads content that is in the entry.
func (r *Reader) inline(c *contentView) (err error) {
	form, valid := r.contentForm(c)
	mediaType := r.view.buf.Of(c.Type)
	r.mixed = false
	switch {
	case form == XHTML:
		c.Value, err = r.div()
	case form == HTML:
		c.Value, err = r.characters(&ruleContentElement, asMarkup)
	case form == PlainText, syntax.IsText(mediaType) && !syntax.IsXML(mediaType):
		c.Value, err = r.characters(&ruleContentElement, asText)
	default:
		c.Value, err = r.embedded(syntax.IsXML(mediaType), valid)
	}
	r.view.damaged = r.view.damaged || r.mixed
	if r.check != nil && valid && err == nil {
		r.check.content(c, form)
	}
	return err
}

// contentForm reads the type of inline content. It returns PlainText, HTML, XHTML, or ""
// for a media type.
func (r *Reader) contentForm(c *contentView) (form string, valid bool) {
	stated, ok := r.scan.Attr("", "type")
	if c.Type.IsEmpty() {
		c.Type = r.view.buf.Add([]byte(PlainText))
	}
	found := r.view.buf.Of(c.Type)
	for _, form := range [...]string{PlainText, HTML, XHTML} {
		if !syntax.EqualFold(found, form) {
			continue
		}
		valid := string(found) == form && (r.check == nil || !ok || string(stated) == form)
		if !valid {
			r.reportChild(ruleContentType, stated, "type must be text, html, xhtml or a media type")
			c.Type = r.view.buf.Add([]byte(form))
		}
		return form, valid
	}
	return "", r.check == nil || r.check.contentType(stated)
}

// contentElsewhere reads the type of content with src, and checks that the element is
// empty.
func (r *Reader) contentElsewhere(c *contentView) error {
	media, found := "", r.view.buf.Of(c.Type)
	switch {
	case syntax.EqualFold(found, PlainText):
		media = "text/plain"
	case syntax.EqualFold(found, HTML):
		media = "text/html"
	case syntax.EqualFold(found, XHTML):
		media = "application/xhtml+xml"
	}
	if media != "" {
		r.reportChild(ruleContentSrc, found, "type must be a media type if the content has src")
		c.Type = r.view.buf.Add([]byte(media))
	}
	if r.check != nil {
		r.check.contentElsewhere(media == "")
	}
	value, err := r.characters(&ruleContentSrc, asText)
	if text := r.view.buf.Of(value); !isBlank(text) {
		r.reportChild(ruleContentSrc, text, "content must be empty if it has src")
	}
	return err
}

// embedded reads content of a media type: one element if it is XML, or else Base64,
// without its white space.
func (r *Reader) embedded(isXML, valid bool) (span, error) {
	v := &r.view
	from := len(v.buf.Bytes)
	end, elements := from, 0 // of the text
	if isXML {
		// the content may be an entry or a feed
		r.scan.Stop = func(xmlscan.Name) bool { return false }
		defer func() { r.scan.Stop = r.stops }()
	}
	for {
		kind, err := r.next()
		if err != nil {
			return span{}, err
		}
		if kind == xmlscan.End {
			break
		}
		if kind == xmlscan.Text {
			if text := r.scan.Text(); elements == 0 && r.fits(from, len(text)) {
				v.buf.Bytes = append(v.buf.Bytes, text...)
				end = len(v.buf.Bytes)
			}
			continue
		}
		if elements++; elements == 1 {
			if !isXML {
				r.reportMixed(&ruleContentElement)
			}
			v.buf.Bytes, err = r.scan.AppendElement(v.buf.Bytes)
		} else {
			err = r.scan.Skip()
		}
		if err != nil {
			return span{}, err
		}
	}
	raw, element := v.buf.Bytes[from:end], v.buf.Since(end)
	text := v.buf.Trimmed(span{From: from, To: end})
	switch {
	case elements == 0 && isXML:
		r.reportChild(ruleContentXML, nil, "content of an XML type must be one element: there is none")
		return text, nil
	case !isXML:
		if r.check != nil && valid {
			r.check.base64(raw)
		}
		if elements == 0 {
			text.To = text.From + len(dropSpace(v.buf.Of(text)))
			return text, nil
		}
	case elements > 1:
		r.reportChild(ruleContentXML, nil,
			fmt.Sprintf("content of an XML type must be one element: there are %d, and the first counts", elements))
	case !text.IsEmpty():
		r.reportChild(ruleContentXML, v.buf.Of(text), "content of an XML type must be one element, with no text beside it")
	}
	return element, nil
}

// dropSpace removes white space in place.
func dropSpace(b []byte) []byte {
	if !bytes.ContainsAny(b, " \t\r\n") {
		return b
	}
	kept := b[:0]
	for _, c := range b {
		if !syntax.IsSpace(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// An htmlChecker checks HTML in a text, which must be valid inside a div. It is not a
// parser: it only finds tags that do not match.
type htmlChecker struct{ open []htmlTag }

// An htmlTag is the name of an open element, as positions in the text.
type htmlTag struct{ start, end int }

const maxHTMLDepth = 512

// fault returns the first departure; "" if there is none.
func (c *htmlChecker) fault(text []byte) string {
	c.open = c.open[:0]
	for i := 0; ; {
		at := bytes.IndexByte(text[i:], '<')
		if at < 0 {
			return c.atEnd(text)
		}
		end, fault := c.markup(text, i+at)
		if fault != "" {
			return fault
		}
		i = end
	}
}

// markup reads what starts with '<' and returns where it ends.
func (c *htmlChecker) markup(text []byte, at int) (end int, fault string) {
	rest := text[at+1:]
	switch {
	case bytes.HasPrefix(rest, []byte("!--")):
		n := bytes.Index(rest[3:], []byte("-->"))
		if n < 0 {
			return 0, "a comment without an end"
		}
		return at + 1 + 3 + n + 3, ""
	case len(rest) > 0 && syntax.IsAlpha(rest[0]):
		return c.start(text, at+1)
	case len(rest) > 1 && rest[0] == '/' && syntax.IsAlpha(rest[1]):
		return c.endTag(text, at+2)
	case len(rest) > 0 && (syntax.IsAlpha(rest[0]|0x20) || rest[0] == '!' || rest[0] == '?' || rest[0] == '/'):
		return 0, "a declaration or an instruction"
	}
	return 0, "a < that starts no tag"
}

// tagEnd returns the end of the name that starts at i, and the end of its tag, after '>';
// 0 if the tag does not end.
func tagEnd(text []byte, i int) (name, end int) {
	for name = i; name < len(text) && !syntax.IsSpace(text[name]) && text[name] != '/' && text[name] != '>'; name++ {
	}
	isValue := false // a value begins here
	for end = name; end < len(text); end++ {
		switch c := text[end]; {
		case isValue && (c == '"' || c == '\''):
			n := bytes.IndexByte(text[end+1:], c)
			if n < 0 {
				return name, 0
			}
			end += n + 1
			isValue = false
		case c == '>':
			return name, end + 1
		case c == '<':
			return name, 0
		case !syntax.IsSpace(c):
			isValue = c == '='
		}
	}
	return name, 0
}

func (c *htmlChecker) start(text []byte, i int) (end int, fault string) {
	n, end := tagEnd(text, i)
	name := text[i:n]
	switch {
	case end == 0:
		return 0, "a tag without an end"
	case isOutsideDiv(name) && !c.inForeign(text):
		return 0, "an element that can't stand in a div"
	case isOneOf(name, "area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"),
		text[end-2] == '/' && c.inForeign(text):
		return end, ""
	case isClosed(text[n:end]):
		return 0, "an element that is closed like one of XML"
	case isRaw(name):
		if end = rawEnd(text, name, end); end == 0 {
			return 0, "an element without its end tag"
		}
		return end, ""
	case len(c.open) == maxHTMLDepth:
		return 0, "elements nested too deep"
	}
	c.open = append(c.open, htmlTag{i, n})
	return end, ""
}

// isRaw reports whether the content of an element of HTML is not markup.
func isRaw(name []byte) bool {
	return isOneOf(name, "script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext")
}

// rawEnd returns where the end tag of an element that is raw ends; 0 if it has none.
func rawEnd(text, name []byte, i int) int {
	for {
		at := bytes.Index(text[i:], []byte("</"))
		if at < 0 {
			return 0
		}
		i += at + 2
		if rest := text[i:]; len(rest) >= len(name) && bytes.EqualFold(rest[:len(name)], name) {
			if _, end := tagEnd(text, i); end > 0 {
				return end
			}
		}
	}
}

func (c *htmlChecker) endTag(text []byte, i int) (end int, fault string) {
	n, end := tagEnd(text, i)
	if end == 0 {
		return 0, "a tag without an end"
	}
	for top := len(c.open) - 1; top >= 0; top-- {
		open := text[c.open[top].start:c.open[top].end]
		if bytes.EqualFold(open, text[i:n]) {
			c.open = c.open[:top]
			return end, ""
		}
		if !isEndOptional(open) {
			return 0, "an end tag that does not fit the open element"
		}
	}
	return 0, "an end tag without a start tag"
}

// atEnd checks that no element that needs an end tag is open.
func (c *htmlChecker) atEnd(text []byte) string {
	for _, t := range c.open {
		if !isEndOptional(text[t.start:t.end]) {
			return "an element without its end tag"
		}
	}
	return ""
}

// inForeign reports whether an element of SVG or MathML is open.
func (c *htmlChecker) inForeign(text []byte) bool {
	for _, t := range c.open {
		if name := text[t.start:t.end]; syntax.EqualFold(name, "svg") || syntax.EqualFold(name, "math") {
			return true
		}
	}
	return false
}

// isOneOf reports whether a name, in any case, is one of names.
func isOneOf(name []byte, names ...string) bool {
	for _, n := range names {
		if syntax.EqualFold(name, n) {
			return true
		}
	}
	return false
}

// isOutsideDiv reports whether an element can't stand in a div.
func isOutsideDiv(name []byte) bool {
	return isOneOf(name, "html", "head", "body", "title", "base", "frame", "frameset", "noframes")
}

func isEndOptional(name []byte) bool {
	return isOneOf(name, "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "caption", "option",
		"optgroup", "rt", "rp")
}
