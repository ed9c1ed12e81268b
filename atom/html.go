package atom

import (
	"bytes"

	"github.com/websync-go/websync/internal/syntax"
)

// An htmlChecker looks at HTML in a text, as it could stand in a div. It is no parser: it
// finds tags that do not fit together.
type htmlChecker struct{ open []htmlTag }

// An htmlTag is the name of an open element, as the place of it in the text.
type htmlTag struct{ start, end int }

const maxHTMLDepth = 512

// fault says what the first departure is; "" if there is none.
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

// tagEnd returns where the name that starts at i ends, and the tag, just behind its '>';
// 0 if it does not.
func tagEnd(text []byte, i int) (name, end int) {
	for name = i; name < len(text) && !syntax.IsSpace(text[name]) && text[name] != '/' && text[name] != '>'; name++ {
	}
	var quote byte
	for end = name; end < len(text); end++ {
		switch c := text[end]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && text[end-1] == '=':
			quote = c
		case c == '>':
			return name, end + 1
		case c == '<':
			return name, 0
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
	case isVoid(name), text[end-2] == '/' && c.inForeign(text):
		return end, ""
	case text[end-2] == '/' && !isUnquotedSlash(text[n:end]):
		return 0, "an element that is closed like one of XML"
	case isRaw(name):
		return c.raw(text, name, end)
	case len(c.open) == maxHTMLDepth:
		return 0, "elements nested too deep"
	}
	c.open = append(c.open, htmlTag{i, n})
	return end, ""
}

// isUnquotedSlash tells whether the slash at a tag's end belongs to a value without
// quotes: <a href=/x/>.
func isUnquotedSlash(tag []byte) bool {
	last := bytes.LastIndexAny(tag, " \t\r\n")
	equals := bytes.IndexByte(tag[last+1:], '=')
	return equals >= 0 && !bytes.ContainsAny(tag[last+1:], "\"'")
}

// raw passes over an element whose content is no markup.
func (c *htmlChecker) raw(text, name []byte, i int) (end int, fault string) {
	for {
		at := bytes.Index(text[i:], []byte("</"))
		if at < 0 {
			return 0, "an element without its end tag"
		}
		i += at + 2
		if rest := text[i:]; len(rest) >= len(name) && bytes.EqualFold(rest[:len(name)], name) {
			if _, end := tagEnd(text, i); end > 0 {
				return end, ""
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

// atEnd checks that nothing that needs an end tag is open.
func (c *htmlChecker) atEnd(text []byte) string {
	for _, t := range c.open {
		if !isEndOptional(text[t.start:t.end]) {
			return "an element without its end tag"
		}
	}
	return ""
}

// inForeign tells whether the place is inside of SVG or MathML, or begins it.
func (c *htmlChecker) inForeign(text []byte) bool {
	for _, t := range c.open {
		if name := text[t.start:t.end]; syntax.EqualFold(name, "svg") || syntax.EqualFold(name, "math") {
			return true
		}
	}
	return false
}

// isOneOf tells whether a name, in any case, is one of some.
func isOneOf(name []byte, names ...string) bool {
	for _, n := range names {
		if syntax.EqualFold(name, n) {
			return true
		}
	}
	return false
}

// isOutsideDiv tells whether an element can't stand in a div.
func isOutsideDiv(name []byte) bool {
	return isOneOf(name, "html", "head", "body", "title", "base", "frame", "frameset", "noframes")
}

func isVoid(name []byte) bool {
	return isOneOf(name, "area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
}

func isRaw(name []byte) bool {
	return isOneOf(name, "script", "style", "textarea", "xmp", "iframe", "noembed", "plaintext")
}

func isEndOptional(name []byte) bool {
	return isOneOf(name, "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "caption", "option",
		"optgroup", "rt", "rp")
}
