package rdfa

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/syntax"
)

// A scope is what determines the IRIs that the values of attributes stand for.
type scope struct {
	outer *scope
	base  string // absolute, without a fragment
	vocab string // the default vocabulary, or ""

	prefixes map[string]string // the IRIs of the prefixes that the element declares, in lower case
	iris     map[string]string // expansions of terms, CURIEs and absolute IRIs; "": ignored
}

// prefix returns the IRI that a prefix, in lower case, is mapped to.
func (s *scope) prefix(name string) (string, bool) {
	for ; s != nil; s = s.outer {
		if iri, ok := s.prefixes[name]; ok {
			return iri, true
		}
	}
	iri, ok := initialPrefixes[name]
	return iri, ok
}

// curie evaluates a CURIE that is not a blank node (RDFa Core §6). Ok is false if v is
// none: it has no colon, its prefix is not mapped, or its reference begins with two
// slashes.
func (s *scope) curie(v string) (iri string, ok bool) {
	prefix, reference, ok := strings.Cut(v, ":")
	switch {
	case !ok, strings.HasPrefix(reference, "//"):
		return "", false
	case prefix == "":
		return xhv + reference, true
	}
	if iri, ok = s.prefix(strings.ToLower(prefix)); !ok {
		return "", false
	}
	return iri + reference, true
}

// expand returns the IRI of one TERMorCURIEorAbsIRI, or "" if it is to be ignored (§7.4).
// Attribute is where it stands.
func (p *processor) expand(s *scope, v, attribute string) string {
	iri, known := s.iris[v]
	if !known {
		iri = p.expandNew(s, v, attribute)
		if s.iris == nil {
			s.iris = make(map[string]string)
		}
		s.iris[v] = iri
	}
	return iri
}

func (p *processor) expandNew(s *scope, v, attribute string) string {
	if isTerm(v) {
		if s.vocab != "" {
			return p.absolute(s.vocab+v, attribute)
		}
		lower := strings.ToLower(v)
		iri := coreTerm(lower)
		if iri == "" && p.host == xhtml1 {
			iri = xhtmlTerm(lower)
		}
		if iri == "" {
			r := ruleTerm
			if attribute == "rel" || attribute == "rev" {
				r = ruleLink
			}
			p.report(r, attribute, v, "the term is not defined, and there is no default vocabulary: ignored")
		}
		return iri
	}
	if iri, ok := s.curie(v); ok {
		return p.absolute(iri, attribute)
	}
	if syntax.Scheme(v) == 0 {
		p.report(ruleTerm, attribute, v, "neither a term nor a CURIE nor an absolute IRI: ignored")
		return ""
	}
	p.suspect(v, attribute)
	return p.clean(v, attribute)
}

// suspect reports an IRI that is probably a CURIE.
func (p *processor) suspect(v, attribute string) {
	scheme, rest, ok := strings.Cut(v, ":")
	if ok && !strings.HasPrefix(rest, "/") && !commonSchemes[strings.ToLower(scheme)] && !syntax.IsHTTP(v) {
		p.report(ruleUndeclared, attribute, v, "the prefix "+scheme+" is not declared: taken as an absolute IRI")
	}
}

// resource returns the term for the SafeCURIEorCURIEorIRI of @about or @resource, or the
// zero Term if it is to be ignored.
func (p *processor) resource(s *scope, v, attribute string) rdf.Term {
	v = trim(v)
	if inner, ok := strings.CutPrefix(v, "["); ok && strings.HasSuffix(inner, "]") {
		inner = strings.TrimSuffix(inner, "]")
		if strings.HasPrefix(inner, "_:") {
			return p.blank(inner)
		}
		iri, ok := s.curie(inner)
		if !ok {
			p.report(ruleCURIE, attribute, v, "no CURIE in the brackets: ignored")
			return rdf.Term{}
		}
		return rdf.IRI(p.absolute(iri, attribute))
	}
	if strings.HasPrefix(v, "_:") {
		return p.blank(v)
	}
	if iri, ok := s.curie(v); ok {
		return rdf.IRI(p.absolute(iri, attribute))
	}
	p.suspect(v, attribute)
	return p.link(s, v, attribute)
}

// link returns the term for the IRI of @href or @src, which may be relative. Resolution
// takes dot segments out of an absolute one, too (RFC 3986 §5.2.2).
func (p *processor) link(s *scope, v, attribute string) rdf.Term {
	v = trim(v)
	if n := syntax.Scheme(v); n > 0 && strings.HasPrefix(v[n:], "://") && strings.Contains(v, "/.") {
		p.ref = append(p.ref[:0], v[n+1:]...)
		p.buf = syntax.AppendResolved(p.buf[:0], v[:n+1], p.ref)
		return rdf.IRI(p.clean(p.copied(p.buf), attribute))
	}
	return rdf.IRI(p.clean(p.resolve(s.base, v), attribute))
}

// absolute returns the IRI that a prefix or a vocabulary and a reference make. If it is
// relative, because the declaration is, the document's URL makes it absolute: the base
// does not apply to declarations.
func (p *processor) absolute(iri, attribute string) string {
	p.charge(len(iri))
	return p.clean(p.resolve(p.url, iri), attribute)
}

// resolve resolves a reference against a base (RFC 3986 §5.2).
func (p *processor) resolve(base, ref string) string {
	switch {
	case syntax.Scheme(ref) > 0:
		return ref
	case ref == "" && strings.IndexByte(base, '#') < 0:
		return base
	}
	p.ref = append(p.ref[:0], ref...)
	p.buf = syntax.AppendResolved(p.buf[:0], base, p.ref)
	return p.copied(p.buf)
}

// clean percent-encodes characters that no IRI has.
func (p *processor) clean(iri, attribute string) string {
	escaped := rdf.EscapeIRI(iri)
	if escaped != iri {
		p.report(ruleIRI, attribute, iri, "a character that no IRI has is percent-encoded")
	}
	return escaped
}

// blank returns the blank node for a CURIE with the prefix "_", which is the same in the
// whole document.
func (p *processor) blank(curie string) rdf.Term {
	b, ok := p.blanks[curie]
	if !ok {
		b = p.newBlank()
		if p.blanks == nil {
			p.blanks = make(map[string]rdf.Term)
		}
		p.blanks[curie] = b
	}
	return b
}

func (p *processor) newBlank() rdf.Term {
	p.blankCount++
	return rdf.Blank("b" + strconv.Itoa(p.blankCount))
}

// isTerm reports whether v is a term (RDFa Core §7.4.3): a name without a colon, with
// slashes.
func isTerm(v string) bool {
	for i := range len(v) {
		switch c := v[i]; {
		case c >= utf8.RuneSelf, c == '_', syntax.IsAlpha(c):
		case i > 0 && (c == '-' || c == '.' || c == '/' || syntax.IsDigit(c)):
		default:
			return false
		}
	}
	return v != ""
}

func trim(s string) string { return strings.Trim(s, whiteSpace) }

// whiteSpace separates the values of an attribute, in XML and in HTML.
const whiteSpace = " \t\n\r\f"

// cutValue returns the first of the values that white space separates, and the rest. The
// value is empty after the last one.
func cutValue(s string) (value, rest string) {
	s = strings.TrimLeft(s, whiteSpace)
	if i := strings.IndexAny(s, whiteSpace); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}
