package atom

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
	"github.com/websync-go/websync/internal/xmlscan"
)

const maxDigests = 64 // of one link

// link reads a link (RFC 4287 §4.2.7). Ok is false if it leads nowhere.
func (r *Reader) link(l *LinkView, in inherited) (ok bool, err error) {
	in = in.with(r.stated(in))
	r.linkAttrs(l, in.base, "href")
	if len(l.Rel) == 0 {
		l.Rel = r.view.add([]byte("alternate"))
	}
	if _, ok := r.scan.Attr("", "href"); ok {
		return true, r.scan.Skip()
	}
	text, err := r.characters(&ruleValueElement, false)
	if err != nil {
		return false, err
	}
	if len(xmlscan.Trim(text)) == 0 {
		r.reportChild(ruleHref, nil, "a link without href")
		return false, nil
	}
	r.reportChild(ruleHref, text, "a link with text instead of href")
	l.Href = r.resolved(in.base, text)
	r.checkUTF8(l.Href, "href")
	return true, nil
}

// linkAttrs reads the attributes of a link, or of content; ref is the name of the one
// that says where it leads.
func (r *Reader) linkAttrs(l *LinkView, base, ref string) {
	v := &r.view
	attrs := len(v.attrs)
	var hash, md5 []byte
	all := r.scan.Attrs()
	for i := range all {
		a := &all[i]
		switch a.Name.Space {
		case "":
			switch a.Name.Local {
			case "href", "src":
				if a.Name.Local == ref {
					l.Href = r.resolved(base, a.Value)
					r.checkUTF8(l.Href, ref)
				}
			case "type":
				l.Type = v.add(xmlscan.Trim(a.Value))
			case "rel":
				l.Rel = r.rel(a.Value)
			case "hreflang":
				l.Lang = v.add(xmlscan.Trim(a.Value))
			case "title":
				l.Title = v.add(a.Value)
			case "length":
				l.Length = r.length(a.Value)
			case "hash":
				hash = a.Value
			case "modified":
				l.Modified = r.modified(a.Value)
			}
		case xmlNamespace:
		case LinkExtNamespace:
			if a.Name.Local == "md5" {
				md5 = xmlscan.Trim(a.Value)
				continue
			}
			fallthrough
		default:
			v.attrs = append(v.attrs, AttrView{a.Name.Space, a.Name.Local, v.add(a.Value)})
		}
	}
	l.Attrs = v.attrs[attrs:len(v.attrs):len(v.attrs)]
	if hash != nil || md5 != nil {
		r.digests(l, hash, md5)
	}
}

// checkUTF8 sees that a reference in which bytes were not UTF-8, or that has the
// replacement character, which no IRI has, is not used.
func (r *Reader) checkUTF8(href []byte, attr string) {
	if bytes.Contains(href, []byte("\uFFFD")) {
		r.reportPart(ruleHref, attr, href, "a reference that is not UTF-8: what it stands in is skipped")
		r.unusable = true
	}
}

// digests reads hash, and le:md5 if that gives nothing.
func (r *Reader) digests(l *LinkView, hash, md5 []byte) {
	v := &r.view
	from := len(v.digests)
	for field := range bytes.FieldsSeq(hash) {
		if len(v.digests)-from == maxDigests {
			r.reportPart(ruleHash, "hash", nil, "more digests than are kept")
			break
		}
		if fault := v.addDigest(field); fault != "" {
			r.reportPart(ruleHash, "hash", field, fault)
		}
	}
	if len(v.digests) == from && md5 != nil && !v.addHex("md5", md5) {
		if fault := v.addDigest(slices.Concat([]byte("md5:"), md5)); fault != "" {
			r.reportPart(ruleMD5, "md5", md5, fault)
		}
	}
	l.Digests = v.digests[from:len(v.digests):len(v.digests)]
}

// addDigest adds one "algorithm:sum".
func (v *View) addDigest(field []byte) (fault string) {
	if name, sum, _ := bytes.Cut(field, []byte(":")); v.addHex(string(name), sum) {
		return ""
	}
	d, err := websync.ParseDigest(string(field))
	if err != nil {
		return "a digest that can't be read"
	}
	v.digests = append(v.digests, DigestView{d.Algorithm, v.add([]byte(d.Sum))})
	return ""
}

// addHex adds a digest that is written as it should be.
func (v *View) addHex(name string, sum []byte) bool {
	algorithm, size := "", 0
	switch name {
	case "md5":
		algorithm, size = "md5", 16
	case "sha-1":
		algorithm, size = "sha-1", 20
	case "sha-256":
		algorithm, size = "sha-256", 32
	case "sha-512":
		algorithm, size = "sha-512", 64
	}
	if size == 0 || len(sum) != hex.EncodedLen(size) {
		return false
	}
	from := len(v.buf)
	v.buf = slices.Grow(v.buf, size)[:from+size]
	if _, err := hex.Decode(v.buf[from:], sum); err != nil {
		v.buf = v.buf[:from]
		return false
	}
	v.digests = append(v.digests, DigestView{algorithm, v.from(from)})
	return true
}

// rel reads a relation. The IRI of a registered one equals its name (RFC 4287 §4.2.7.2),
// in which capitals make no difference (RFC 8288 §2.1.1).
func (r *Reader) rel(value []byte) []byte {
	rel := xmlscan.Trim(value)
	if len(rel) == 0 {
		r.reportPart(ruleRel, "rel", value, "an empty rel, taken for alternate")
		return nil
	}
	if len(rel) > len(registered) && strings.HasPrefix(string(rel[:len(registered)]), registered) {
		rel = rel[len(registered):]
	}
	kept := r.view.add(rel)
	if syntax.Scheme(kept) == 0 {
		for i, c := range kept {
			if c >= 'A' && c <= 'Z' {
				kept[i] = c | 0x20
			}
		}
	}
	return kept
}

// length reads a number of bytes as websync.Link has it.
func (r *Reader) length(value []byte) (n int64) {
	digits := xmlscan.Trim(value)
	if fault := syntax.LengthFault(digits); fault != "" {
		r.reportPart(ruleLength, "length", value, fault)
		return 0
	}
	for _, c := range digits {
		n = n*10 + int64(c-'0')
	}
	if n == 0 {
		return websync.StatedZero
	}
	return n
}

func (r *Reader) modified(value []byte) websync.Datetime {
	d, ok := exactDate(value)
	if !ok {
		var fault string
		d, fault = date3339(value)
		r.reportPart(ruleLinkModified, "modified", value, fault)
	}
	return d
}

// category reads a category (RFC 4287 §4.2.2). Ok is false if it has no term, or an empty
// one.
func (r *Reader) category(c *CategoryView, in inherited) (ok bool, err error) {
	v := &r.view
	c.Lang, _ = r.stated(in)
	for _, a := range r.scan.Attrs() {
		if a.Name.Space != "" {
			continue
		}
		switch a.Name.Local {
		case "term":
			c.Term = v.add(xmlscan.Trim(a.Value))
		case "scheme":
			c.Scheme = v.add(r.trimmed(a.Value))
		case "label":
			c.Label = v.add(a.Value)
		}
	}
	if len(c.Term) > 0 {
		return true, r.scan.Skip()
	}
	if _, stated := r.scan.Attr("", "term"); stated {
		r.reportChild(ruleTerm, nil, "a category with an empty term: left out")
	} else {
		r.reportChild(ruleCategory, nil, "a category without term: left out")
	}
	return false, r.scan.Skip()
}

// person reads an author, a contributor, or who has deleted something (RFC 4287 §3.2).
func (r *Reader) person(p *PersonView, in inherited) error {
	in = in.with(r.stated(in))
	var seen children
	for {
		tag, err := r.nextTag()
		if err != nil {
			return err
		}
		if tag == xmlscan.End {
			break
		}
		name := r.scan.Name()
		child := personChildNamed(name.Local)
		switch {
		case !r.own(name.Space):
			r.reportChild(rulePersonExt, nil, "an extension of a person: left out")
			err = r.scan.Skip()
		case child == 0:
			r.reportChild(ruleUnknown, nil, "Atom has no such element here")
			err = r.scan.Skip()
		case !r.admits(child, &seen, 0, &rulePersonChild):
			err = r.scan.Skip()
		case child == childURI:
			p.URI, err = r.reference(in)
		case child == childName:
			p.Name, err = r.value()
		default:
			p.Email, err = r.value()
		}
		if err != nil {
			return err
		}
	}
	if p.isZero() {
		r.reportChild(rulePersonChild, nil, "a person without a name, or anything else: left out")
	}
	return nil
}

func personChildNamed(local string) children {
	switch local {
	case "name":
		return childName
	case "uri":
		return childURI
	case "email":
		return childEmail
	}
	return 0
}

// value reads a text that has no white space around it.
func (r *Reader) value() ([]byte, error) {
	text, err := r.characters(&ruleValueElement, false)
	return xmlscan.Trim(text), err
}
