package atom

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/websync-go/websync/internal/document"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

const maxDigests = 64 // of one link

// link reads a link (RFC 4287 §4.2.7). ok is false if it has no usable target.
func (r *Reader) link(l *linkView, s *scope) (ok bool, err error) {
	in := s.with(r.stated(s.inherited))
	r.linkAttrs(l, in.base)
	if l.Rel.IsEmpty() {
		l.Rel = r.view.buf.Add([]byte("alternate"))
	}
	if r.check != nil {
		r.check.link(s, l)
	}
	if href, ok := r.scan.Attr("", "href"); ok {
		if ok = s.model != &entryModel || !leadsToBody(r.view.buf.Of(l.Rel)) || !r.isItself(in.base, href); !ok {
			r.reportChild(ruleItself, nil, "an empty href leads to the feed itself: the link is left out")
		}
		if r.check != nil {
			return ok, r.skipUndefined()
		}
		return ok, r.scan.Skip()
	}
	value, err := r.characters(&ruleValueElement, asText)
	if err != nil {
		return false, err
	}
	text := r.view.buf.Of(value)
	if isBlank(text) {
		r.reportChild(ruleHref, nil, "a link must have an href: this one is left out")
		return false, nil
	}
	r.reportChild(ruleHref, text, "a link must have its IRI in href, not in its text")
	l.Href = r.target(&ruleHref, in.base, "href", text)
	return true, nil
}

// leadsToBody reports whether a link of an entry with this relation leads to a
// representation of its resource, or to a part of it.
func leadsToBody(rel []byte) bool {
	name := syntax.RelationName(rel)
	return string(name) == "alternate" || string(name) == "enclosure"
}

// isItself reports whether a reference in an entry is known to lead to the feed around
// it: it is empty, and there is no xml:base.
func (r *Reader) isItself(base string, ref []byte) bool {
	return base != "" && base == r.Document && r.kind == FeedDocument && len(xmlscan.Trim(ref)) == 0
}

// skipUndefined checks, for Validate, the content of a link or category, which has no
// meaning in Atom, and passes over it.
func (r *Reader) skipUndefined() error {
	local := r.scan.Name().Local
	for {
		kind, err := r.next()
		if err != nil || kind == xmlscan.End {
			return err
		}
		if kind != xmlscan.Start {
			continue
		}
		if name := r.scan.Name(); r.own(name.Space) {
			r.report(ruleValueElement, r.position(), local, []byte(name.Local), local+" must hold no element of Atom")
		}
		if err := r.scan.Skip(); err != nil {
			return err
		}
	}
}

// linkAttrs reads the attributes of a link, or of content.
func (r *Reader) linkAttrs(l *linkView, base string) {
	v := &r.view
	attrs := len(v.attrs)
	var hash, md5 []byte
	all := r.scan.Attrs()
	for i := range all {
		a := &all[i]
		switch {
		case a.Name.Space == "" && a.Name.Local == "hash":
			hash = a.Value
		case a.Name.Space == "":
			r.linkAttr(l, base, a)
		case a.Name.Space == xmlNamespace:
		case a.Name.Space == LinkExtNamespace && a.Name.Local == "md5":
			md5 = xmlscan.Trim(a.Value)
		default:
			v.attrs = append(v.attrs, attrView{a.Name.Space, a.Name.Local, v.buf.Add(a.Value)})
		}
	}
	l.Attrs = span{From: attrs, To: len(v.attrs)}
	if hash != nil || md5 != nil {
		r.digests(l, hash, md5)
	}
	if r.check != nil {
		r.check.linkExtensions(l)
	}
}

// linkAttr reads an attribute of a link, or of content, which has other ones.
func (r *Reader) linkAttr(l *linkView, base string, a *xmlscan.Attr) {
	buf := &r.view.buf
	isLink := r.scan.Name().Local == "link"
	switch a.Name.Local {
	case "type":
		l.Type = buf.Add(xmlscan.Trim(a.Value))
		return
	case "length":
		l.Length = r.length(a.Value, isLink)
		return
	case "modified":
		l.Modified, _ = r.attrDate(&ruleLinkModified, "modified", a.Value)
		return
	}
	if !isLink {
		if a.Name.Local == "src" {
			l.Href = r.target(&ruleContentSrc, base, "src", a.Value)
		}
		return
	}
	switch a.Name.Local {
	case "href":
		l.Href = r.target(&ruleHref, base, "href", a.Value)
	case "rel":
		l.Rel = r.rel(a.Value)
	case "hreflang":
		l.Lang = buf.Add(xmlscan.Trim(a.Value))
	case "title":
		l.Title = buf.Add(a.Value)
	}
}

// target reads the target of a link, or of content with src. A reference is not usable if
// it has bytes that are not UTF-8, or the replacement character, which no IRI has.
func (r *Reader) target(rule *Rule, base, attr string, ref []byte) span {
	target := r.resolved(base, ref)
	href := r.view.buf.Of(target)
	if bytes.Contains(href, []byte("\uFFFD")) {
		r.unusable = true
		r.loss(*rule, r.at, r.scan.Name().Local, href, attr+" must be UTF-8: what it belongs to is skipped")
	} else if r.check != nil {
		r.checkReference(rule, attr, ref)
	}
	return target
}

// digests reads hash, or le:md5 if hash holds no usable digest.
func (r *Reader) digests(l *linkView, hash, md5 []byte) {
	v := &r.view
	from := len(v.digests)
	for field := range bytes.FieldsSeq(hash) {
		if len(v.digests)-from == maxDigests {
			r.reportChild(ruleHash, nil, fmt.Sprintf("more than %d digests: the others are left out", maxDigests))
			break
		}
		switch added := r.addDigest(field); {
		case !added:
			r.reportDigest(field, cmp.Or(syntax.DigestFault(field), "not an algorithm, a colon and a digest"))
		case r.check != nil:
			r.reportDigest(field, syntax.DigestFault(field))
			r.check.conflict(from)
		}
	}
	if found := len(v.digests); md5 != nil && (found == from || r.check != nil) {
		switch added := r.addMD5(md5); {
		case !added:
			r.reportChild(ruleMD5, md5, "le:md5 must be an MD5 digest in hex")
		case found > from:
			r.check.conflict(from)
			v.digests = v.digests[:found]
		}
	}
	l.Digests = span{From: from, To: len(v.digests)}
}

// reportDigest reports what is wrong with one "algorithm:sum".
func (r *Reader) reportDigest(field []byte, fault string) {
	if fault != "" {
		r.reportAttr(ruleHash, "hash", field, fault)
	} else if name, _, _ := bytes.Cut(field, []byte(":")); syntax.DigestSize(name) == 0 {
		r.reportAttr(ruleHashForm, "hash", field, "the link extensions do not name this algorithm")
	}
}

// addDigest adds one "algorithm:sum". It returns false if field is not one.
func (r *Reader) addDigest(field []byte) bool {
	d, err := r.view.buf.AddDigest(field)
	if err == nil {
		r.view.digests = append(r.view.digests, d)
	}
	return err == nil
}

// addMD5 adds the sum of le:md5. It returns false if it is not one.
func (r *Reader) addMD5(sum []byte) bool {
	d, ok := r.view.buf.AddHex([]byte("md5"), sum)
	if !ok {
		return r.addDigest(slices.Concat([]byte("md5:"), sum))
	}
	r.view.digests = append(r.view.digests, d)
	return true
}

// rel reads a relation. The IRI of a registered one equals its name (RFC 4287 §4.2.7.2),
// in which capitals make no difference (RFC 8288 §2.1.1).
func (r *Reader) rel(value []byte) span {
	rel := xmlscan.Trim(value)
	if len(rel) == 0 {
		r.reportChild(ruleRel, value, "rel must not be empty: this one is taken for alternate")
		return span{}
	}
	if name := syntax.RelationName(rel); len(name) > 0 {
		rel = name
	}
	added, _ := r.view.buf.AddRelation(rel)
	return added
}

// length reads a number of bytes as websync.Link states it. Only links have one, so a
// fault in content is not reported.
func (r *Reader) length(value []byte, isLink bool) int64 {
	n, fault := document.Length(value)
	if isLink && (fault != "" || r.check != nil && len(xmlscan.Trim(value)) < len(value)) {
		r.reportChild(ruleLength, value, "length must be a number of bytes, in digits")
	}
	return n
}

// category reads a category (RFC 4287 §4.2.2). ok is false if it has no term, or an empty
// one.
func (r *Reader) category(c *categoryView, in inherited) (ok bool, err error) {
	v := &r.view
	c.Lang, _ = r.stated(in)
	for _, a := range r.scan.Attrs() {
		if a.Name.Space != "" {
			continue
		}
		switch a.Name.Local {
		case "term":
			c.Term = v.buf.Add(xmlscan.Trim(a.Value))
		case "scheme":
			c.Scheme = v.buf.Add(r.trimmed(a.Value))
			if r.check != nil {
				r.check.scheme(v.buf.Of(c.Scheme))
			}
		case "label":
			c.Label = v.buf.Add(a.Value)
		}
	}
	if c.Term.IsEmpty() {
		if _, stated := r.scan.Attr("", "term"); stated {
			r.reportChild(ruleTerm, nil, "a category should have a term that is not empty: this one is left out")
		} else {
			r.reportChild(ruleCategory, nil, "a category must have a term: this one is left out")
		}
	}
	if r.check != nil {
		return !c.Term.IsEmpty(), r.skipUndefined()
	}
	return !c.Term.IsEmpty(), r.scan.Skip()
}

// person reads an author, a contributor, or the at:by of a tombstone (RFC 4287 §3.2).
func (r *Reader) person(p *personView, in inherited) error {
	s := r.scopeOf(&personModel, r.at, in)
	for {
		tag, err := r.nextTag()
		if err != nil {
			return err
		}
		if tag == xmlscan.End {
			break
		}
		name := r.scan.Name()
		switch child := r.childOf(&s, name); {
		case child == 0:
			r.foreign(&s, name)
			if r.check == nil && !r.own(name.Space) {
				r.reportChild(rulePersonExt, nil, "an extension of a person is left out")
			}
			err = r.scan.Skip()
		case r.admits(&s, child):
			err = r.personValue(p, &s, child)
		default:
			err = r.discard(func() error { return r.personValue(new(personView), &s, child) })
		}
		if err != nil {
			return err
		}
	}
	if r.check == nil && p.isZero() || r.check != nil && !s.seen.has(childName) {
		r.report(rulePersonChild, s.at, s.name, nil, s.name+" must have a name")
	}
	return nil
}

func (r *Reader) personValue(p *personView, s *scope, child children) (err error) {
	switch child {
	case childURI:
		p.URI, err = r.reference(s.inherited)
	case childName:
		if p.Name, err = r.value(); err == nil && p.Name.IsEmpty() && r.check != nil {
			r.reportChild(rulePersonName, nil, "a name should not be empty")
		}
	case childEmail:
		var text span
		text, err = r.characters(&ruleValueElement, asText)
		if p.Email = r.view.buf.Trimmed(text); err == nil && r.check != nil {
			r.check.email(r.view.buf.Of(text))
		}
	}
	return err
}

// value reads a text and returns it without white space around it.
func (r *Reader) value() (span, error) {
	text, err := r.characters(&ruleValueElement, asText)
	return r.view.buf.Trimmed(text), err
}
