package sitemap

import (
	"bytes"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

const (
	maxLoc = 2048 // a loc is shorter than this many characters
	minLoc = 12   // the schema refuses a shorter one
)

// takeLoc reads the text of a loc into r.view, unless the text is not usable.
func (r *Reader) takeLoc(text []byte) {
	loc := r.trimLoc(text)
	if len(loc) == 0 {
		r.lose(ruleLocMissing, nil, "an empty loc")
		return
	}
	if r.parent {
		r.lose(ruleLocSyntax, text, "an element inside of loc: it is unclear which URL is meant")
		return
	}
	loc = r.escapeSpaces(loc, text)
	if syntax.HTTPHost(loc) == 0 {
		absolute, rule, message := r.base.resolve(loc)
		if absolute == nil {
			r.lose(rule, text, message)
			return
		}
		if message != "" {
			r.reportChild(rule, text, message)
		}
		loc = absolute
	}
	if holdsTwo(loc) {
		rule := ruleLocSyntax
		if r.lines != nil {
			rule = ruleTextLine
		}
		r.lose(rule, text, errTwo.Error())
		return
	}
	if len(loc) >= maxLoc && utf8.RuneCount(loc) >= maxLoc {
		r.reportChild(ruleLocLength, text, "2,048 characters or more")
	}
	if faults := syntax.URLFlaws(loc); faults != 0 && !r.bearsFlaws(loc, text, faults) {
		return
	}
	r.view.loc = r.view.buf.Add(loc)
	r.view.at = position{r.line, r.column}
}

// escapeSpaces returns a loc with percent-encoded spaces, which it reports: generators
// write the names of files as they are. A loc with other white space, or a space and
// another URL, can be something else.
func (r *Reader) escapeSpaces(loc, text []byte) []byte {
	space := bytes.IndexByte(loc, ' ')
	if space < 0 || isTwo(loc) || bytes.IndexByte(loc[syntax.HTTPHost(loc):space], '/') < 0 {
		return loc
	}
	escaped := bytes.ReplaceAll(loc, []byte(" "), []byte("%20"))
	if syntax.URLFlaws(escaped)&syntax.NotOne != 0 {
		return loc
	}
	r.reportChild(ruleLocEscape, text, "a space, which is read as %20")
	return escaped
}

// bearsFlaws reports the flaws of a loc, and whether it is usable in spite of them.
func (r *Reader) bearsFlaws(loc, text []byte, faults syntax.Flaws) bool {
	outside := faults&syntax.NotASCII != 0
	switch {
	case faults&syntax.NotOne != 0:
		r.lose(ruleLocSyntax, text, "white space or markup inside: it is unclear which URL is meant")
		return false
	case faults&syntax.NotURL != 0:
		r.reportChild(ruleLocSyntax, text, "a character that no URL has")
	}
	switch {
	case outside && isTwo(loc):
		r.lose(ruleLocSyntax, text, "white space inside, and another URL or line: it is unclear which URL is meant")
		return false
	case outside && bytes.Contains(loc, []byte("\ufffd")):
		r.lose(ruleLocSyntax, text,
			"bytes in the URL that are not in the document's encoding: it is unclear which URL is meant")
		return false
	case outside:
		r.reportChild(ruleLocEscape, text, "characters outside ASCII that are not percent-encoded")
	}
	return true
}

// trimLoc returns a loc without white space around it, which it reports.
func (r *Reader) trimLoc(text []byte) []byte {
	trimmed := xmlscan.Trim(text)
	if len(trimmed) == 0 {
		return nil
	}
	loc := trimmed
	if loc[0]|loc[len(loc)-1] >= utf8.RuneSelf {
		loc = bytes.TrimFunc(loc, isSpace)
	}
	switch {
	case len(loc) < len(trimmed):
		r.reportChild(ruleLocSyntax, text, "around loc, white space that XML does not have")
	case len(trimmed) < len(text):
		r.reportChild(ruleLocSpace, text, "white space around loc")
	}
	return loc
}

// isSpace reports whether a character is white space, or one without width.
func isSpace(c rune) bool { return unicode.IsSpace(c) || c == 0x200b || c == 0xfeff }

// isTwo reports whether a loc holds a line break outside ASCII, or white space outside
// ASCII and another URL after it.
func isTwo(loc []byte) bool {
	for {
		i := bytes.IndexFunc(loc, isSpace)
		if i < 0 {
			return false
		}
		c, n := utf8.DecodeRune(loc[i:])
		loc = loc[i+n:]
		if c == 0x85 || c == 0x2028 || c == 0x2029 || syntax.HTTPHost(loc) > 0 {
			return true
		}
	}
}

// holdsTwo reports whether a URL is followed by another one, as where the end of a line
// is lost. A URL may contain another one after a delimiter, as in "?url=https://…" and
// "/2020/https://…"; but not two of its own host after slashes.
func holdsTwo(url []byte) bool {
	first := syntax.HTTPHost(url)
	own := 0 // URLs of its own host after slashes
	for at := first; first > 0; {
		n := bytes.IndexByte(url[at:], ':')
		if n < 0 {
			return false
		}
		at += n + 1
		begin := at - len("http:")
		if url[at-2]|0x20 == 's' {
			begin--
		}
		if begin <= first || syntax.HTTPHost(url[begin:]) == 0 {
			continue
		}
		switch c := lastByte(url[first:begin]); {
		case strings.IndexByte(":/?#[]@!$&'()*+,;=|", c) < 0:
			return true
		case c == '/' && bytes.EqualFold(hostOf(url[first:]), hostOf(url[at+len("//"):])):
			own++
		}
		if own > 1 {
			return true
		}
	}
	return false // not an HTTP URL
}

// lastByte returns the last byte of a text that is not empty, without percent-encoding.
func lastByte(text []byte) byte {
	last := len(text) - 1
	if at := last - len("2F"); at >= 0 {
		if c, ok := syntax.Escaped(text, at); ok {
			return c
		}
	}
	return text[last]
}

// hostOf returns the host of what follows the scheme of a URL.
func hostOf(rest []byte) []byte {
	if end := bytes.IndexAny(rest, "/?#"); end >= 0 {
		return rest[:end]
	}
	return rest
}

// takeDamagedLoc is takeLoc for a text in which the XML reader may have passed over
// damage since before.
func (r *Reader) takeDamagedLoc(text []byte, before xmlscan.Losses) {
	now := r.xml.Losses()
	if now.Characters != before.Characters {
		r.lose(ruleLocSyntax, text, "characters inside that XML does not allow: it is unclear which URL is meant")
		return
	}
	if now.References != before.References {
		r.reports.Doubt(ruleLocSyntax, r.line, r.column, "loc", text, "an & that is not written as &amp;: the URL may be another")
	}
	r.takeLoc(text)
}

// lose reports that the current loc is not usable.
func (r *Reader) lose(rule Rule, value []byte, message string) {
	element := ""
	if r.xml != nil {
		element = "loc"
	}
	r.reports.Loss(rule, r.line, r.column, element, value, message)
}

// A base is the absolute HTTP URL that relative locs are resolved against; empty if there
// is none.
type base string

func newBase(document string) base {
	if _, end := syntax.SplitHTTP(document); end == 0 {
		return ""
	}
	return base(document)
}

// resolve makes a loc that is not an absolute HTTP URL absolute. It returns nil if the
// loc is not usable.
func (b base) resolve(loc []byte) (absolute []byte, _ Rule, message string) {
	if n := syntax.Scheme(loc); n > 0 {
		scheme := string(loc[:n])
		switch http := strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"); {
		case http && len(bytes.Trim(loc[n+1:], "/")) == 0:
			return nil, ruleLocSyntax, "a URL without a host"
		case http:
			return loc, ruleLocSyntax, "two slashes and a host do not follow the scheme"
		}
		return loc, ruleLocSyntax, "not an HTTP URL"
	}
	if b == "" {
		return loc, ruleLocRelative, "a relative URL, and nothing to resolve it against"
	}
	start, end := syntax.SplitHTTP(b)
	host := b[start:end]
	if len(loc) >= len(host) && string(loc[:len(host)]) == string(host) && (len(loc) == len(host) || loc[len(host)] == '/') {
		return append([]byte(b[:start]), loc...), ruleLocRelative, "a URL without its scheme"
	}
	absolute = syntax.AppendResolved(nil, string(b), loc)
	if _, err := url.Parse(string(absolute)); err != nil {
		return nil, ruleLocRelative, "a relative URL that can't be resolved"
	}
	return absolute, ruleLocRelative, "a relative URL"
}
