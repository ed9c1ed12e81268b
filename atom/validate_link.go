package atom

import (
	"bytes"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

const feedType = "application/atom+xml"

// link reads a link.
func (v *validator) link(s *scope, at spot) error {
	report := func(rule Rule, value []byte, message string) { v.report(rule, at, "link", value, message) }
	href, ok := v.attr("href")
	if ok {
		v.reference(ruleHref, "link", "", href, at)
	} else {
		report(ruleHref, nil, "no href")
	}
	rel, stated := v.relation(at)
	mediaType, typed := v.attr("type")
	if fault := syntax.MediaTypeFault(mediaType); typed && fault != "" {
		report(ruleLinkType, mediaType, fault)
	}
	hreflang, ok := v.attr("hreflang")
	if fault := syntax.LanguageFault(hreflang); ok && fault != "" {
		report(ruleHreflang, hreflang, fault)
	}
	length, ok := v.attr("length")
	if fault := syntax.LengthFault(length); ok && fault != "" {
		report(ruleLength, length, fault)
	}
	if !ok && syntax.EqualFold(rel, "enclosure") {
		report(ruleEnclosure, nil, "no length")
	}
	if !stated || syntax.EqualFold(rel, "alternate") {
		s.alternate = true
		if s.model != &tombstoneModel && !s.alternates.add(v.alternateHash(mediaType, hreflang)) {
			report(ruleAlternate, href, "another alternate has the same type and hreflang")
		}
	}
	if s.model == &feedModel {
		v.headLink(rel, href, !typed || syntax.EqualFold(syntax.Essence(mediaType), feedType), at)
	}
	v.linkExtensions("link", at)
	return v.undefined("link")
}

// relation returns the relation of the current link, if it states one. A registered name
// is without the prefix that makes an IRI of it.
func (v *validator) relation(at spot) (name []byte, stated bool) {
	rel, ok := v.attr("rel")
	if !ok {
		return nil, false
	}
	name = bytes.TrimPrefix(rel, []byte(registered))
	if fault := syntax.RelationFault(rel); fault != "" {
		v.report(ruleRel, at, "link", rel, fault)
	} else if syntax.Scheme(name) == 0 && !syntax.IsRelation(name) {
		v.report(ruleRelUnknown, at, "link", rel, "not a registered name; others are IRIs")
	}
	return name, true
}

// alternateHash returns the hash of what makes an alternate unique.
func (v *validator) alternateHash(mediaType, hreflang []byte) uint64 {
	b := append(v.small[:0], mediaType...)
	b = append(b, 0)
	b = append(b, hreflang...)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	v.small = b
	return v.ids.hash(b)
}

// resolved returns a reference of the current element, which is the feed's, as an
// absolute IRI, if a base is known.
func (v *validator) resolved(href []byte) string {
	return string(syntax.AppendResolved(nil, v.baseOf(v.head.base), bytes.TrimSpace(href)))
}

// isLinkExtension tells whether the older drafts of the link extensions have an
// attribute.
func isLinkExtension(local string) bool {
	switch local {
	case "md5", "hash", "etag", "modified", "accessed", "media":
		return true
	}
	return false
}

// linkExtensions checks the attributes of link extensions: those of the last draft, and
// of older ones in their namespace.
func (v *validator) linkExtensions(element string, at spot) {
	var digests websync.Digests
	for _, a := range v.r.Attrs() {
		if a.Name.Space != "" && a.Name.Space != LinkExtNamespace {
			continue
		}
		switch a.Name.Local {
		case "hash":
			digests = v.hash(digests, element, a.Value, at)
		case "etag":
			if fault := syntax.EntityTagFault(a.Value); fault != "" {
				v.report(ruleETag, at, element, a.Value, fault)
			}
		case "modified", "accessed":
			v.date(ruleLinkModified, element, a.Value, at)
		case "md5":
			if a.Name.Space == "" {
				continue // not an attribute: reported
			}
			d, err := websync.ParseDigest("md5:" + strings.TrimSpace(string(a.Value)))
			if err != nil {
				v.report(ruleMD5, at, element, a.Value, "not an MD5 digest")
				continue
			}
			digests = v.addDigest(digests, d, element, at)
		}
	}
}

// hash checks a list of digests and adds them to others of the same element.
func (v *validator) hash(digests websync.Digests, element string, value []byte, at spot) websync.Digests {
	n := 0
	for field := range strings.FieldsSeq(string(value)) {
		n++
		if fault := syntax.DigestFault(field); fault != "" {
			v.report(ruleHash, at, element, []byte(field), fault)
			continue
		}
		if name, _, _ := strings.Cut(field, ":"); syntax.DigestSize(name) == 0 {
			v.report(ruleHashForm, at, element, []byte(field), "an algorithm that the link extensions do not name")
		}
		if d, err := websync.ParseDigest(field); err == nil {
			digests = v.addDigest(digests, d, element, at)
		}
	}
	if n == 0 {
		v.report(ruleHash, at, element, value, "an empty list of digests")
	}
	return digests
}

// addDigest adds a digest, which no other of its algorithm may contradict.
func (v *validator) addDigest(digests websync.Digests, d websync.Digest, element string, at spot) websync.Digests {
	known, ok := digests.Get(d.Algorithm)
	if !ok {
		return append(digests, d)
	}
	if known != d {
		v.report(ruleHashConflict, at, element, []byte(d.String()), "another digest says "+known.String())
	}
	return digests
}
