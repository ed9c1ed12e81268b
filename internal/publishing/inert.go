package publishing

import (
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/element"
)

const (
	xhtmlSpace = "http://www.w3.org/1999/xhtml"
	atomSpace  = "http://www.w3.org/2005/Atom"
)

// RuleActive is not of a specification: it protects the host that publishes.
var RuleActive = websync.Rule{
	Name: "publish-active", Summary: "markup of another publisher on which a browser may act is not published",
}

// Rules returns the rules by which every Publisher leaves something out.
func Rules() []websync.Rule { return []websync.Rule{RuleActive, ruleLong} }

// Inert returns item without the elements and attributes on which a browser may act if it
// shows a document that holds them: those in the namespaces of XHTML, SVG, MathML, XSLT,
// XLink and others, at any depth, and processing instructions. Without them, no resource
// of a stranger can run a script in the host that lists it. What stays are links of XHTML
// to alternates, and texts of Atom whose XHTML does nothing but format, link and show
// images.
//
// If there is something to leave out, the result is a changed copy, and report, if not
// nil, receives a finding of the document for each.
func Inert(item *websync.Item, document string, report func(websync.Finding)) *websync.Item {
	r := &item.Resource
	active := func(l websync.Link) bool { return slices.ContainsFunc(l.Attrs, isActiveAttr) }
	isActive := func(x websync.Element) bool { return IsActive(&x) }
	if !slices.ContainsFunc(r.Elements, isActive) && !active(r.Content) && !slices.ContainsFunc(r.Links, active) {
		return item
	}
	leaveOut := func(space, local string) {
		if report != nil {
			message := "left out of " + r.ID + ": markup on which a browser may act"
			report(RuleActive.Finding(document, 0, 0, local, []byte("{"+space+"}"+local), message))
		}
	}
	inert := *item
	inert.Resource.Elements = slices.DeleteFunc(slices.Clone(r.Elements), func(x websync.Element) bool {
		if !isActive(x) {
			return false
		}
		leaveOut(x.Space, x.Local)
		return true
	})
	inertLink := func(l *websync.Link) {
		l.Attrs = slices.DeleteFunc(slices.Clone(l.Attrs), func(a websync.Attr) bool {
			if !isActiveAttr(a) {
				return false
			}
			leaveOut(a.Space, a.Local)
			return true
		})
	}
	inertLink(&inert.Resource.Content)
	inert.Resource.Links = slices.Clone(r.Links)
	for i := range inert.Resource.Links {
		inertLink(&inert.Resource.Links[i])
	}
	return &inert
}

// IsActive reports whether Inert leaves out an element: a browser may act on it, or on
// something in it. An element that is not well-formed is for the writers to refuse.
func IsActive(x *websync.Element) bool {
	if strings.Contains(x.XML, "<?") {
		return true
	}
	if x.Space != "" && !isActiveSpace(x.Space) && strings.Count(x.XML, "xmlns") == 1 {
		return false // the namespace of x is the only one
	}
	n, err := element.Parse(x)
	return err == nil && !isAlternate(n) && hasActive(n, nil)
}

// hasActive reports whether a browser may act on an element, or on something in it. Within
// a text of Atom, which is nil if there is none around n, formatting is allowed.
func hasActive(n, text *element.Node) bool {
	switch {
	case n.Space == xhtmlSpace && text != nil:
		if !formatting[n.Local] || slices.ContainsFunc(n.Attrs, func(a websync.Attr) bool { return !isFormatting(n.Local, a) }) {
			return true
		}
	case isActiveSpace(n.Space), slices.ContainsFunc(n.Attrs, isActiveAttr):
		return true
	}
	if n.Space == atomSpace {
		text = n
	}
	return slices.ContainsFunc(n.Children, func(child element.Node) bool { return hasActive(&child, text) })
}

// isAlternate reports whether n is a link to the same page in another language or for
// another medium, and nothing else.
func isAlternate(n *element.Node) bool {
	other := func(a websync.Attr) bool {
		switch a.Local {
		case "href", "hreflang", "media", "title", "type":
			return a.Space != ""
		case "rel":
			return a.Space != "" || !strings.EqualFold(strings.TrimSpace(a.Value), "alternate")
		}
		return true
	}
	return n.Space == xhtmlSpace && n.Local == "link" && n.Attr("rel") != "" && len(n.Children) == 0 &&
		!slices.ContainsFunc(n.Attrs, other)
}

// formatting are the elements of XHTML that do nothing but format text, links and images.
var formatting = names("a abbr acronym b bdi bdo big blockquote br caption cite code dd del dfn div dl dt em h1 h2 h3 h4 " +
	"h5 h6 hr i img ins kbd li mark ol p pre q rp rt ruby s samp small span strong sub sup table tbody td tfoot th thead tr " +
	"tt u ul var")

// isFormatting reports whether an attribute of an element of XHTML does nothing but
// format, or leads to a page or an image.
func isFormatting(local string, a websync.Attr) bool {
	switch {
	case a.Space != "":
		return !isActiveSpace(a.Space)
	case local == "a" && a.Local == "href", local == "img" && a.Local == "src":
		scheme, _, absolute := strings.Cut(a.Value, ":")
		return !absolute || strings.ContainsAny(scheme, "/?#") || linkSchemes[strings.ToLower(scheme)]
	}
	return formattingAttrs[a.Local]
}

var linkSchemes = names("http https mailto")

var formattingAttrs = names("alt class colspan dir height lang rowspan title width")

func isActiveAttr(a websync.Attr) bool { return isActiveSpace(a.Space) }

// isActiveSpace reports whether a namespace may be one on which browsers act. Of those of
// the W3C it allows vocabularies only, whose names end in "#".
func isActiveSpace(space string) bool {
	if strings.HasPrefix(space, "http://www.w3.org/") {
		return !strings.HasSuffix(space, "#") && !inertSpaces[space]
	}
	return strings.HasPrefix(space, "http://www.mozilla.org/") || strings.HasPrefix(space, "urn:schemas-microsoft-com:")
}

var inertSpaces = names(atomSpace + " http://www.w3.org/XML/1998/namespace http://www.w3.org/2001/XMLSchema-instance " +
	"http://www.w3.org/ns/odrl/2/")

// names returns the set of the words of a text.
func names(text string) map[string]bool {
	set := make(map[string]bool)
	for name := range strings.FieldsSeq(text) {
		set[name] = true
	}
	return set
}
