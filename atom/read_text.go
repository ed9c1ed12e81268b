package atom

import (
	"bytes"

	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// construct reads a text construct (RFC 4287 §3.1).
func (r *Reader) construct(t *TextView, in inherited) (err error) {
	t.Type = PlainText
	if len(r.scan.Attrs()) > 0 {
		t.Lang, t.Base = r.stated(in)
		if stated, ok := r.scan.Attr("", "type"); ok {
			t.Type = r.textType(stated)
		}
	}
	if t.Type == XHTML {
		t.Value, err = r.div()
		return err
	}
	text, err := r.characters(&ruleTextElement, t.Type == HTML)
	t.Value = xmlscan.Trim(text)
	return err
}

// textType reads the type of a text construct. Some publishers write a media type.
func (r *Reader) textType(stated []byte) string {
	switch string(stated) {
	case PlainText:
		return PlainText
	case HTML:
		return HTML
	case XHTML:
		return XHTML
	}
	r.reportChild(ruleTextType, stated, "the type of a text is text, html or xhtml")
	t := syntax.Essence(xmlscan.Trim(stated))
	switch {
	case syntax.EqualFold(t, HTML), syntax.EqualFold(t, "text/html"):
		return HTML
	case syntax.EqualFold(t, XHTML), syntax.EqualFold(t, "application/xhtml+xml"):
		return XHTML
	}
	return PlainText
}

const (
	divStart = `<div xmlns="` + xhtmlNamespace + `">`
	divEnd   = `</div>`
)

// div reads what should be one div of XHTML. What is not, it puts into one.
func (r *Reader) div() ([]byte, error) {
	v := &r.view
	from := len(v.buf)
	v.buf = append(v.buf, divStart...)
	inside := len(v.buf)
	divs, others := 0, 0
	for {
		kind, err := r.next()
		if err != nil {
			return nil, err
		}
		if kind == xmlscan.End {
			break
		}
		if kind == xmlscan.Text {
			if text := r.scan.Text(); len(xmlscan.Trim(text)) > 0 && r.fits(from, len(text)) {
				others++
				if v.buf, err = xmlscan.AppendText(v.buf, string(text)); err != nil {
					return nil, err
				}
			}
			continue
		}
		if r.scan.Name() == (xmlscan.Name{Space: xhtmlNamespace, Local: "div"}) {
			divs++
		} else {
			others++
		}
		if err := r.captureInside(from); err != nil {
			return nil, err
		}
	}
	if divs == 1 && others == 0 {
		return v.from(inside), nil
	}
	r.reportChild(ruleXHTML, nil, "not one div of XHTML")
	v.buf = append(v.buf, divEnd...)
	return v.from(from), nil
}

// content reads the content of an entry (RFC 4287 §4.1.3).
func (r *Reader) content(in inherited) (err error) {
	v := &r.view
	c := &v.Content
	lang, base := r.stated(in)
	r.linkAttrs(&c.LinkView, in.with("", base).base, "src")
	c.Rel, c.Title = nil, nil
	c.Lang, c.Base = v.add([]byte(lang)), base
	r.inContent, r.scan.MaxValue = true, r.maxContent()
	defer func() { r.inContent, r.scan.MaxValue = false, r.MaxValue }()
	if _, elsewhere := r.scan.Attr("", "src"); elsewhere {
		return r.contentElsewhere(c)
	}
	form := r.contentForm(c)
	switch {
	case form == XHTML:
		c.Value, err = r.div()
	case form == HTML:
		c.Value, err = r.characters(&ruleContentElement, true)
	case form == PlainText, syntax.IsText(c.Type) && !syntax.IsXML(c.Type):
		c.Value, err = r.characters(&ruleContentElement, false)
	default:
		c.Value, err = r.embedded(syntax.IsXML(c.Type))
	}
	return err
}

// contentForm reads the type of inline content. It returns PlainText, HTML, XHTML, or ""
// for a media type.
func (r *Reader) contentForm(c *ContentView) string {
	if len(c.Type) == 0 {
		c.Type = r.view.add([]byte(PlainText))
	}
	for _, form := range [...]string{PlainText, HTML, XHTML} {
		if string(c.Type) == form {
			return form
		}
		if syntax.EqualFold(c.Type, form) {
			r.reportChild(ruleContentType, c.Type, "the type is written in small letters")
			c.Type = r.view.add([]byte(form))
			return form
		}
	}
	return ""
}

// contentElsewhere reads the type of content with src, and that there is nothing inside.
func (r *Reader) contentElsewhere(c *ContentView) error {
	media := ""
	switch {
	case syntax.EqualFold(c.Type, PlainText):
		media = "text/plain"
	case syntax.EqualFold(c.Type, HTML):
		media = "text/html"
	case syntax.EqualFold(c.Type, XHTML):
		media = "application/xhtml+xml"
	}
	if media != "" {
		r.reportChild(ruleContentSrc, c.Type, "the type of content that is elsewhere is a media type")
		c.Type = r.view.add([]byte(media))
	}
	text, err := r.characters(&ruleContentSrc, false)
	if len(xmlscan.Trim(text)) > 0 {
		r.reportChild(ruleContentSrc, text, "content that is elsewhere and here")
	}
	return err
}

// embedded reads content of a media type: one element if it is XML, else Base64, of which
// it leaves out the white space.
func (r *Reader) embedded(isXML bool) ([]byte, error) {
	v := &r.view
	from := len(v.buf)
	end, elements := from, 0 // of the text
	if isXML {
		r.scan.Stop = func(xmlscan.Name) bool { return false } // it may well be an entry or a feed
		defer func() { r.scan.Stop = r.stops }()
	}
	for {
		kind, err := r.next()
		if err != nil {
			return nil, err
		}
		if kind == xmlscan.End {
			break
		}
		if kind == xmlscan.Text {
			if text := r.scan.Text(); elements == 0 && r.fits(from, len(text)) {
				v.buf = append(v.buf, text...)
				end = len(v.buf)
			}
			continue
		}
		if elements++; elements == 1 {
			v.buf, err = r.scan.AppendElement(v.buf)
		} else {
			err = r.scan.Skip()
		}
		if err != nil {
			return nil, err
		}
	}
	text, element := xmlscan.Trim(v.buf[from:end]), v.from(end)
	switch {
	case elements == 0 && isXML:
		r.reportChild(ruleContentXML, nil, "content of an XML type without an element")
		return text, nil
	case elements == 0:
		return dropSpace(text), nil
	case !isXML:
		r.reportChild(ruleContentElement, nil, "an element in content that is not XML")
	case elements > 1 || len(text) > 0:
		r.reportChild(ruleContentXML, nil, "content of an XML type that is not one element: the first counts")
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
