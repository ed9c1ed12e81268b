package jsonld

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"golang.org/x/net/html"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/webpage"
	"github.com/websync-go/websync/internal/xmlscan"
)

// A script is the JSON-LD of one script element, or a whole document.
type script struct {
	text []byte
	line int // of its start tag
}

// isScript reports whether the type of a script is that of JSON-LD. A profile says that
// some hold a context or a frame instead of data.
func isScript(mediaType string) bool {
	media, params, err := mime.ParseMediaType(mediaType)
	if err != nil && media == "" {
		media = strings.ToLower(strings.TrimSpace(syntax.Essence(mediaType)))
	}
	profile := params["profile"]
	return media == "application/ld+json" && !strings.Contains(profile, "#context") && !strings.Contains(profile, "#frame")
}

// scanHTML returns the scripts of a page, and sets the base.
func (d *extraction) scanHTML(text []byte) (scripts []script, err error) {
	z := webpage.NewTokenizer(text)
	line, templates := 1, 0
	var start int // line of the script whose text comes next
	d.based = false
	for {
		k := z.Next()
		line += bytes.Count(z.Raw(), []byte("\n"))
		if k == html.TextToken && start > 0 {
			scripts = append(scripts, script{bytes.Clone(z.Text()), start})
		}
		start = 0
		switch k {
		case html.ErrorToken:
			if err := z.Err(); err != io.EOF {
				return nil, err
			}
			return scripts, nil
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "template" {
				templates = max(0, templates-1)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			switch element := string(name); {
			case element == "template" && k == html.StartTagToken:
				templates++
			case templates > 0:
			case element == "base":
				d.setBase(attribute(z, more, "href"))
			case element == "script":
				if value, _ := attribute(z, more, "type"); isScript(value) {
					start = line
				}
			}
		}
	}
}

// attribute returns the first attribute of a name.
func attribute(z *webpage.Tokenizer, more bool, name string) (value string, ok bool) {
	for more {
		var key, v []byte
		key, v, more = z.TagAttr()
		if string(key) == name && !ok {
			value, ok = string(v), true
		}
	}
	return value, ok
}

// scanXML does the same for XHTML, and for scripts of XHTML in other XML.
func (d *extraction) scanXML(data []byte, charset string) (scripts []script, err error) {
	const space = "http://www.w3.org/1999/xhtml"
	x := xmlscan.NewReader(bytes.NewReader(data))
	x.Charset, x.MaxDepth = charset, -1
	inScript := 0
	d.based = false
	for {
		k, err := x.Next()
		switch {
		case err == io.EOF:
			return scripts, nil
		case err != nil:
			return nil, err
		case k == xmlscan.Text && inScript > 0:
			s := &scripts[len(scripts)-1]
			s.text = append(s.text, x.Text()...)
		case k == xmlscan.End && x.Depth() <= inScript:
			inScript = 0
		case k != xmlscan.Start || x.Name().Space != space:
		case x.Name().Local == "base":
			href, ok := x.Attr("", "href")
			d.setBase(string(href), ok)
		case x.Name().Local == "script" && inScript == 0:
			if value, _ := x.Attr("", "type"); isScript(string(value)) {
				line, _ := x.Position()
				scripts = append(scripts, script{line: line})
				inScript = x.Depth()
			}
		}
	}
}

// setBase sets the base of the document to that of a <base> element, if that is the first
// one with an address.
func (d *extraction) setBase(href string, ok bool) {
	if d.based || !ok {
		return
	}
	d.based = true
	d.base, _, _ = strings.Cut(resolve(d.base, strings.Trim(href, " \t\n\r\f")), "#")
}

// resolve resolves a reference against a base (RFC 3986 §5.2).
func resolve(base, ref string) string {
	if ref == "" {
		return base
	}
	return string(syntax.AppendResolved(nil, base, []byte(ref)))
}

// extract extracts the triples of one script. The error is a limit that is exceeded.
func (d *extraction) extract(s script) error {
	d.script, d.undefined = s, false
	text := d.unwrap(s.text)
	if err := checkDepth(text); err != nil {
		return err
	}
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		d.badJSON(text, err)
		return nil
	}
	if err := d.checkValues(doc); err != nil {
		return err
	}
	nodes, isArray := doc.([]any)
	if _, isObject := doc.(map[string]any); isObject {
		nodes = []any{doc}
	} else if !isArray {
		d.add(ruleInvalid, "", "", "the JSON must be an object or an array")
		return nil
	}
	before := len(d.triples)
	if err := d.expand(nodes); err != nil {
		return err
	}
	if len(d.triples) == before && len(nodes) > 0 {
		d.add(ruleEmpty, "", "", "no statement: the terms are not defined, or there are none")
	}
	return nil
}

// unwrap removes what hides a script from old browsers, and from XML parsers.
func (d *extraction) unwrap(text []byte) []byte {
	text = bytes.TrimSpace(text)
	trimmed := text
	for _, mark := range [...]string{"//<![CDATA[", "/*<![CDATA[*/", "<![CDATA[", "<!--"} {
		trimmed = bytes.TrimSpace(bytes.TrimPrefix(trimmed, []byte(mark)))
	}
	for _, mark := range [...]string{"//]]>", "/*]]>*/", "]]>", "//-->", "-->"} {
		trimmed = bytes.TrimSpace(bytes.TrimSuffix(trimmed, []byte(mark)))
	}
	if len(trimmed) < len(text) {
		d.add(ruleMarkup, "script", string(text[:min(len(text), 12)]), "the comment or CDATA section around the JSON is ignored")
	}
	return trimmed
}

// badJSON reports a script that is not JSON.
func (d *extraction) badJSON(text []byte, err error) {
	line := d.script.line
	if fault, ok := errors.AsType[*json.SyntaxError](err); ok {
		if at := bytes.Index(d.script.text, text); at >= 0 && len(text) > 0 {
			line += bytes.Count(d.script.text[:at+int(min(fault.Offset, int64(len(text))))], []byte("\n"))
		}
	}
	d.addAt(ruleJSON, line, 0, "script", "", "the script is ignored: "+err.Error())
}

// maxDepth is how deep JSON may be nested.
const maxDepth = 100

// checkDepth returns an error for JSON that is nested too deep to be decoded.
func checkDepth(text []byte) error {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("JSON nested deeper than %d: %w", maxDepth, websync.ErrLimit)
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return nil
}
