package naive

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"mime"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	atomSpace    = "http://www.w3.org/2005/Atom"
	historySpace = "http://purl.org/syndication/history/1.0"
	graveSpace   = "http://purl.org/atompub/tombstones/1.0"
	xmlSpace     = "http://www.w3.org/XML/1998/namespace"
	xhtmlSpace   = "http://www.w3.org/1999/xhtml"
)

// A node is an element of a document.
type node struct {
	xml.Name
	attrs  []xml.Attr
	nodes  []*node
	text   string // of the element itself, not of those in it
	number int    // among the elements of its parent
}

// is reports whether the node is an element of Atom with one of the names.
func (n *node) is(names ...string) bool {
	return n.Space == atomSpace && slices.Contains(names, n.Local)
}

func (n *node) attr(local string) (value string, ok bool) {
	for _, a := range n.attrs {
		if a.Name.Space == "" && a.Name.Local == local {
			return a.Value, true
		}
	}
	return "", false
}

// isAlternate reports whether a link has the relation alternate (§4.2.7.2).
func (n *node) isAlternate() bool {
	rel, ok := n.attr("rel")
	return !ok || strings.TrimPrefix(rel, "http://www.iana.org/assignments/relation/") == "alternate"
}

// all returns the elements in n with one of the names of Atom.
func (n *node) all(names ...string) (found []*node) {
	for _, m := range n.nodes {
		if m.is(names...) {
			found = append(found, m)
		}
	}
	return found
}

// A critic collects faults.
type critic struct{ faults []string }

func (c *critic) want(ok bool, format string, args ...any) {
	if !ok {
		c.faults = append(c.faults, fmt.Sprintf(format, args...))
	}
}

// Faults returns what is wrong with a Feed Document by RFC 4287, RFC 5005, RFC 6721 and
// the schema of RFC 4287, appendix B, with what they say a document should have. It knows
// nothing of other documents of the feed.
func Faults(doc []byte) []string {
	root, err := tree(doc)
	if err != nil {
		return []string{err.Error()}
	}
	if !root.is("feed") {
		return []string{"the root element is " + root.Local}
	}
	c := new(critic)
	c.common(root)
	c.feed(root)
	return c.faults
}

// isPrefix matches what encoding/xml has as the namespace if its prefix is not declared.
var isPrefix = regexp.MustCompile(`^[\pL_][\pL\pN._-]*$`)

// tree reads a document. It adds what encoding/xml does not check: that there is one
// root, that no attribute stands twice, and that prefixes are declared.
func tree(doc []byte) (root *node, err error) {
	d := xml.NewDecoder(bytes.NewReader(doc))
	var open []*node
	for {
		token, err := d.Token()
		if err == io.EOF {
			if root == nil {
				return nil, fmt.Errorf("empty")
			}
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			n := &node{Name: token.Name}
			for _, a := range token.Attr {
				if _, twice := n.attr(a.Name.Local); twice && a.Name.Space == "" {
					return nil, fmt.Errorf("%s has %s twice", n.Local, a.Name.Local)
				}
				isDeclaration := a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns"
				if !isDeclaration && isPrefix.MatchString(a.Name.Space) {
					return nil, fmt.Errorf("the prefix %s of an attribute is not declared", a.Name.Space)
				}
				if !isDeclaration {
					n.attrs = append(n.attrs, a)
				}
			}
			switch {
			case len(open) > 0:
				parent := open[len(open)-1]
				n.number = len(parent.nodes)
				parent.nodes = append(parent.nodes, n)
			case root != nil:
				return nil, fmt.Errorf("a second root element %s", n.Local)
			default:
				root = n
			}
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				open[len(open)-1].text += string(token)
			} else if strings.TrimSpace(string(token)) != "" {
				return nil, fmt.Errorf("text outside of the root element")
			}
		case xml.Directive:
			return nil, fmt.Errorf("a document type")
		}
	}
}

// The children of a container, with how often each may stand (RFC 4287 §4.1.1, §4.1.2,
// §4.2.11).
type children map[string]struct{ least, most int }

const many = 1 << 30

var (
	metadata = children{"author": {0, many}, "category": {0, many}, "contributor": {0, many}, "generator": {0, 1}, "icon": {0, 1},
		"id": {1, 1}, "link": {0, many}, "logo": {0, 1}, "rights": {0, 1}, "subtitle": {0, 1}, "title": {1, 1}, "updated": {1, 1}}
	ofFeed  = with(metadata, "entry", many)
	ofEntry = children{"author": {0, many}, "category": {0, many}, "content": {0, 1}, "contributor": {0, many}, "id": {1, 1},
		"link": {0, many}, "published": {0, 1}, "rights": {0, 1}, "source": {0, 1}, "summary": {0, 1}, "title": {1, 1}, "updated": {1, 1}}
)

func with(c children, name string, most int) children {
	more := children{name: {0, most}}
	for k, v := range c {
		more[k] = v
	}
	return more
}

// container checks the children of an element.
func (c *critic) container(n *node, allowed children) {
	c.want(strings.TrimSpace(n.text) == "", "text in %s", n.Local)
	counts := map[string]int{}
	for _, m := range n.nodes {
		if m.Space != atomSpace {
			continue
		}
		if _, ok := allowed[m.Local]; !ok {
			c.want(false, "%s in %s", m.Local, n.Local)
		}
		counts[m.Local]++
	}
	for name, limit := range allowed {
		c.want(counts[name] >= limit.least && counts[name] <= limit.most, "%d %s in %s", counts[name], name, n.Local)
	}
	targets := map[string]bool{}
	for _, m := range n.nodes {
		switch {
		case m.is("title", "subtitle", "rights", "summary"):
			c.textConstruct(m)
		case m.is("author", "contributor"):
			c.person(m)
		case m.is("updated", "published"):
			c.date(m.text, m.Local)
		case m.is("id"):
			c.simple(m)
			c.iri(m.text, true, "id")
		case m.is("icon", "logo", "generator"):
			c.simple(m)
		case m.is("link"):
			c.link(m)
			if m.isAlternate() {
				kind, _ := m.attr("type")
				lang, _ := m.attr("hreflang")
				key := strings.ToLower(kind + " " + lang)
				c.want(!targets[key], "two alternates of %s in %s", key, n.Local)
				targets[key] = true
			}
		case m.is("category"):
			term, ok := m.attr("term")
			c.want(ok && term != "", "a category without a term")
			if scheme, ok := m.attr("scheme"); ok {
				c.iri(scheme, true, "scheme")
			}
		}
	}
}

func (c *critic) feed(f *node) {
	c.container(f, ofFeed)
	selves := 0
	for _, l := range f.all("link") {
		if rel, _ := l.attr("rel"); rel == "self" {
			selves++
		}
	}
	c.want(selves == 1, "%d links self (§4.1.1)", selves)
	first := len(f.nodes)
	entries := f.all("entry")
	if len(entries) > 0 {
		first = entries[0].number
	}
	states := map[string]bool{}
	for _, n := range f.nodes {
		switch {
		case n.is("entry"):
			c.entry(n, len(f.all("author")) > 0)
			state := one(n, "id") + " " + one(n, "updated")
			c.want(!states[state], "twice in the feed: %s (§4.1.1)", state)
			states[state] = true
		case n.Space == graveSpace && n.Local == "deleted-entry":
			c.tombstone(n, states)
		}
		c.want(n.is("entry") || n.number < first, "%s after an entry (appendix B)", n.Local)
	}
	c.history(f)
}

// one returns the text of the first child of Atom with a name.
func one(n *node, name string) string {
	if found := n.all(name); len(found) > 0 {
		return strings.TrimSpace(found[0].text)
	}
	return ""
}

// history checks the marks and links of RFC 5005.
func (c *critic) history(f *node) {
	marks, links := map[string]int{}, map[string]int{}
	for _, n := range f.nodes {
		if n.Space == historySpace {
			marks[n.Local]++
			c.want(len(n.nodes) == 0 && n.text == "" && len(n.attrs) == 0, "fh:%s is not empty", n.Local)
		}
	}
	for _, l := range f.all("link") {
		rel, _ := l.attr("rel")
		links[rel]++
	}
	for _, rel := range []string{"prev-archive", "next-archive", "current", "next", "previous"} {
		c.want(links[rel] <= 1, "%d links %s", links[rel], rel)
	}
	c.want(marks["complete"] <= 1 && marks["archive"] <= 1 && marks["complete"]+marks["archive"] == len(marks), "marks: %v", marks)
	if marks["complete"] > 0 {
		c.want(marks["archive"]+links["prev-archive"]+links["next"] == 0, "a complete feed of several documents")
	}
	if marks["archive"] > 0 {
		c.want(links["current"] == 1, "an archive document without current")
	}
}

func (c *critic) entry(e *node, hasAuthor bool) {
	c.common(e)
	c.container(e, ofEntry)
	for _, s := range e.all("source") {
		c.container(s, metadata) // what it should have
		hasAuthor = hasAuthor || len(s.all("author")) > 0
	}
	c.want(hasAuthor || len(e.all("author")) > 0, "an entry without an author")
	alternate := slices.ContainsFunc(e.all("link"), (*node).isAlternate)
	contents := e.all("content")
	c.want(alternate || len(contents) > 0, "an entry with neither content nor alternate (§4.1.2)")
	for _, n := range contents {
		if c.content(n) {
			c.want(len(e.all("summary")) == 1, "content without a summary (§4.1.2)")
		}
	}
}

// content checks a content. It reports whether it demands a summary.
func (c *critic) content(n *node) bool {
	kind, stated := n.attr("type")
	media, _, err := mime.ParseMediaType(kind)
	isMedia := err == nil && strings.Contains(media, "/")
	c.want(!stated || isMedia || slices.Contains([]string{"text", "html", "xhtml"}, kind), "content of type %q", kind)
	c.want(!strings.HasPrefix(media, "multipart/") && !strings.HasPrefix(media, "message/"), "content of type %q (§4.1.3.1)", kind)
	if src, ok := n.attr("src"); ok {
		c.iri(src, false, "src")
		c.want(len(n.nodes) == 0 && n.text == "", "content with src is not empty (§4.1.3.2)")
		c.want(isMedia, "content with src and without a media type (§4.1.3.2)")
		return true
	}
	isXML := strings.HasSuffix(media, "/xml") || strings.HasSuffix(media, "+xml")
	switch {
	case kind == "xhtml":
		c.want(len(n.nodes) == 1 && n.nodes[0].Local == "div" && n.nodes[0].Space == xhtmlSpace, "content without a div")
	case !isXML:
		c.want(len(n.nodes) == 0, "elements in content of type %q", kind)
	}
	return isMedia && !isXML && !strings.HasPrefix(media, "text/")
}

func (c *critic) textConstruct(n *node) {
	kind, stated := n.attr("type")
	c.want(!stated || slices.Contains([]string{"text", "html", "xhtml"}, kind), "%s of type %q", n.Local, kind)
	if kind == "xhtml" {
		c.want(len(n.nodes) == 1 && n.nodes[0].Local == "div" && n.nodes[0].Space == xhtmlSpace, "%s without a div", n.Local)
	} else {
		c.want(len(n.nodes) == 0, "elements in %s", n.Local)
	}
	c.want(n.Local != "title" || strings.TrimSpace(n.text) != "" || kind == "xhtml", "a blank title")
}

func (c *critic) person(n *node) {
	c.want(len(n.all("name")) == 1 && one(n, "name") != "", "%s without one name", n.Local)
	c.want(len(n.all("uri")) <= 1 && len(n.all("email")) <= 1, "%s with several addresses", n.Local)
	for _, m := range n.nodes {
		if c.want(m.Space != atomSpace || m.is("name", "uri", "email"), "%s in %s", m.Local, n.Local); m.Space != atomSpace {
			continue
		}
		c.simple(m)
		switch m.Local {
		case "uri":
			c.iri(m.text, false, "uri")
		case "email":
			c.want(regexp.MustCompile(`^[^@]+@[^@]+$`).MatchString(m.text), "the address %q", m.text)
		}
	}
}

func (c *critic) link(n *node) {
	c.want(len(n.nodes) == 0 && strings.TrimSpace(n.text) == "", "a link that is not empty")
	href, ok := n.attr("href")
	c.want(ok, "a link without href")
	c.iri(href, false, "href")
	if rel, ok := n.attr("rel"); ok && strings.Contains(rel, ":") {
		c.iri(rel, true, "rel")
	} else if ok {
		c.want(rel != "" && !strings.ContainsAny(rel, " \t\r\n/?#[]@<>\"{}|\\^`"), "the relation %q", rel)
	}
	if kind, ok := n.attr("type"); ok {
		_, _, err := mime.ParseMediaType(kind)
		c.want(err == nil && strings.Contains(kind, "/"), "a link of type %q", kind)
	}
	if lang, ok := n.attr("hreflang"); ok {
		c.lang(lang)
	}
	if length, ok := n.attr("length"); ok {
		c.want(regexp.MustCompile(`^[0-9]+$`).MatchString(length), "the length %q", length)
	}
}

// tombstone checks a deletion (RFC 6721 §3).
func (c *critic) tombstone(n *node, states map[string]bool) {
	c.common(n)
	ref, _ := n.attr("ref")
	when, _ := n.attr("when")
	c.iri(ref, true, "ref")
	c.date(when, "when")
	state := "deleted " + ref + " " + when
	c.want(!states[state], "twice in the feed: %s (§3)", state)
	states[state] = true
	for _, m := range n.nodes {
		switch {
		case m.is("link"):
			c.link(m)
		case m.is("source"):
			c.container(m, metadata)
		case m.Space == graveSpace && m.Local == "by":
			c.person(m)
		case m.Space == graveSpace && m.Local == "comment":
			c.textConstruct(m)
		default:
			c.want(m.Space != atomSpace && m.Space != graveSpace, "%s in a deletion", m.Local)
		}
	}
}

// The attributes without a namespace that elements of Atom have, with those of the link
// extensions. Others are for none of these specifications (appendix B,
// undefinedAttribute).
var attributes = map[string][]string{
	"link":          {"href", "rel", "type", "hreflang", "title", "length", "hash", "modified"},
	"content":       {"type", "src", "hash", "modified"},
	"category":      {"term", "scheme", "label"},
	"generator":     {"uri", "version"},
	"title":         {"type"},
	"subtitle":      {"type"},
	"summary":       {"type"},
	"rights":        {"type"},
	"comment":       {"type"},
	"deleted-entry": {"ref", "when"},
}

// common checks the attributes of an element, and of those of Atom in it.
func (c *critic) common(n *node) {
	if n.Space != atomSpace && n.Space != graveSpace {
		return
	}
	for _, a := range n.attrs {
		switch {
		case a.Name.Space == xmlSpace && a.Name.Local == "lang":
			c.lang(a.Value)
		case a.Name.Space == xmlSpace && a.Name.Local == "base":
			c.iri(a.Value, false, "xml:base")
		case a.Name.Space == "":
			c.want(slices.Contains(attributes[n.Local], a.Name.Local), "the attribute %s of %s", a.Name.Local, n.Local)
		}
	}
	for _, m := range n.nodes {
		c.want(m.Space != "", "the element %s of no namespace", m.Local)
		if !m.is("content") && !m.is("entry") {
			c.common(m)
		}
	}
}

// simple checks an element that holds text only.
func (c *critic) simple(n *node) { c.want(len(n.nodes) == 0, "elements in %s", n.Local) }

func (c *critic) date(text, what string) {
	_, err := time.Parse(time.RFC3339Nano, text)
	ok := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`).MatchString(text)
	c.want(err == nil && ok, "%s is %q (§3.3)", what, text)
}

func (c *critic) lang(text string) {
	c.want(regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`).MatchString(text), "the language %q", text)
}

// iri checks an IRI, or a reference to one (RFC 3987 §2.2).
func (c *critic) iri(text string, absolute bool, what string) {
	const characters = `^(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|[^\x00-\x{9f}\x{fdd0}-\x{fdef}\x{fff0}-\x{ffff}])*$`
	ok := regexp.MustCompile(characters).MatchString(text) && strings.Count(text, "#") <= 1
	if absolute {
		ok = ok && regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`).MatchString(text)
	}
	c.want(ok, "%s is %q", what, text)
}
