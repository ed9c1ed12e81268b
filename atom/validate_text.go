package atom

import (
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

// textConstruct reads a text construct.
func (v *validator) textConstruct(s *scope, local string, at spot) error {
	kind, stated := v.attr("type")
	if !stated {
		kind = []byte(PlainText)
	}
	full := true
	var err error
	switch string(kind) {
	case PlainText, HTML, XHTML:
		full, err = v.text(string(kind), local, ruleTextElement, at)
	default:
		v.report(ruleTextType, at, local, kind, "neither text nor html nor xhtml")
		err = v.skip()
	}
	if err == nil && !full && s.model == &entryModel && local != "rights" {
		v.report(ruleEntryText, at, local, nil, "an empty "+local)
	}
	return err
}

// text reads a text of one of the three types. It tells whether there is anything in it.
func (v *validator) text(kind, local string, rule Rule, at spot) (full bool, err error) {
	if kind == XHTML {
		return v.xhtml(local, at)
	}
	text, err := v.plain(local, rule)
	if err != nil {
		return false, err
	}
	if kind == HTML {
		if fault := v.html.fault(text); fault != "" {
			v.report(ruleHTML, at, local, text, fault)
		}
	}
	return !isBlank(text), nil
}

// xhtml reads a text whose content is one div.
func (v *validator) xhtml(local string, at spot) (full bool, err error) {
	divs, told := 0, false
	report := func(p spot, value, message string) {
		if !told {
			v.report(ruleXHTML, p, local, []byte(value), message)
			told = true
		}
	}
	for {
		kind, err := v.next()
		if err != nil {
			return full, err
		}
		switch kind {
		case xmlscan.End:
			if divs == 0 {
				report(at, "", "no div")
			}
			return full, nil
		case xmlscan.Text:
			if text := v.r.Text(); !isBlank(text) {
				full = true
				report(v.spot(), string(xmlscan.Trim(text)), "text outside of the div")
			}
		case xmlscan.Start:
			name := v.r.Name()
			if name != (xmlscan.Name{Space: xhtmlNamespace, Local: "div"}) {
				report(v.spot(), name.Local, "an element that is not the div of XHTML")
				full = true
				if err := v.skip(); err != nil {
					return full, err
				}
				continue
			}
			if divs++; divs == 2 {
				report(v.spot(), "", "a second div")
			}
			filled, err := v.div(local)
			if err != nil {
				return full, err
			}
			full = full || filled
		}
	}
}

// div reads the div whose Start is current.
func (v *validator) div(local string) (full bool, err error) {
	told := false
	for depth := v.r.Depth(); ; {
		kind, err := v.next()
		if err != nil {
			return full, err
		}
		switch kind {
		case xmlscan.End:
			if v.r.Depth() == depth {
				return full, nil
			}
		case xmlscan.Text:
			full = full || !isBlank(v.r.Text())
		case xmlscan.Start:
			full = true
			name := v.r.Name()
			if fault := inDiv(name); fault != "" && !told {
				v.report(ruleXHTMLMarkup, v.spot(), local, []byte(name.Local), fault)
				told = true
			}
		}
	}
}

// inDiv says why an element should not stand in a div.
func inDiv(name xmlscan.Name) string {
	switch name.Space {
	case xhtmlNamespace:
		if isOutsideDiv([]byte(name.Local)) {
			return "an element that can't stand in a div"
		}
	case Namespace, "":
		return "an element that is none of XHTML's"
	}
	return ""
}

// contentElement reads the content of an entry.
func (v *validator) contentElement(s *scope, at spot) error {
	s.content = at
	v.linkExtensions("content", at)
	kind, typed := v.attr("type")
	kind = append(v.small[:0], kind...)
	v.small = kind
	src, elsewhere := v.attr("src")
	if elsewhere {
		s.elsewhere = true
		v.reference(ruleContentSrc, "content", "src", src, at)
		return v.contentSrc(string(kind), typed, at)
	}
	if !typed {
		kind = []byte(PlainText)
	}
	full, err := v.inlineContent(s, string(kind), at)
	if err == nil && !full {
		v.report(ruleEntryText, at, "content", nil, "empty content")
	}
	return err
}

// contentSrc checks content that is elsewhere.
func (v *validator) contentSrc(kind string, typed bool, at spot) error {
	switch {
	case !typed:
		v.report(ruleContentSrcType, at, "content", nil, "no type")
	case kind == PlainText, kind == HTML, kind == XHTML:
		v.report(ruleContentSrc, at, "content", []byte(kind), "not a media type, as content with src has")
	default:
		v.contentType(kind, at)
	}
	text, err := v.plain("content", ruleContentSrc)
	if err == nil && !isBlank(text) {
		v.report(ruleContentSrc, at, "content", text, "not empty, though it has src")
	}
	return err
}

// contentType checks a media type. It returns false if it is none.
func (v *validator) contentType(kind string, at spot) bool {
	fault := syntax.MediaTypeFault(kind)
	if fault == "" && syntax.IsComposite(kind) {
		fault = "a composite media type"
	}
	if fault != "" {
		v.report(ruleContentType, at, "content", []byte(kind), fault)
	}
	return fault == ""
}

// inlineContent reads content that is in the entry. It tells whether there is anything in
// it.
func (v *validator) inlineContent(s *scope, kind string, at spot) (full bool, err error) {
	switch {
	case kind == PlainText, kind == HTML, kind == XHTML:
		return v.text(kind, "content", ruleContentElement, at)
	case !v.contentType(kind, at):
		return true, v.skip()
	case syntax.IsXML(kind):
		return v.xmlContent(kind, at)
	}
	text, err := v.plain("content", ruleContentElement)
	if err != nil || syntax.IsText(kind) {
		return !isBlank(text), err
	}
	s.binary = true
	if fault := syntax.Base64Fault(text); fault != "" {
		v.report(ruleContentBase64, at, "content", nil, fault)
	}
	return !isBlank(text), nil
}

// xmlContent reads content of an XML media type.
func (v *validator) xmlContent(kind string, at spot) (full bool, err error) {
	elements, text := 0, false
	for {
		token, err := v.next()
		if err != nil {
			return full, err
		}
		switch token {
		case xmlscan.Text:
			text = text || !isBlank(v.r.Text())
		case xmlscan.Start:
			elements++
			if err := v.skip(); err != nil {
				return full, err
			}
		case xmlscan.End:
			switch {
			case text:
				v.report(ruleContentXML, at, "content", []byte(kind), "text where one element of this type should be")
			case elements > 1:
				v.report(ruleContentXML, at, "content", []byte(kind), "more than one element")
			case elements == 0:
				v.report(ruleContentXML, at, "content", []byte(kind), "no element")
			}
			return text || elements > 0, nil
		}
	}
}
