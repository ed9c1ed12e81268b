package syntax

import "strings"

// relations are the registered names of link relations (RFC 8288 §4.2), those of 2026.
var relations = strings.Fields(`
about acl alternate amphtml api-catalog appendix apple-touch-icon apple-touch-startup-image archives author blocked-by
bookmark c2pa-manifest canonical chapter cite-as collection compression-dictionary contents convertedfrom copyright
create-form current deprecation describedby describes disclosure dns-prefetch duplicate edit edit-form edit-media
enclosure external first geofeed glossary help hosts hub ice-server icon index intervalafter intervalbefore
intervalcontains intervaldisjoint intervalduring intervalequals intervalfinishedby intervalfinishes intervalin
intervalmeets intervalmetby intervaloverlappedby intervaloverlaps intervalstartedby intervalstarts item last
latest-version license linkset lrdd manifest mask-icon me media-feed memento micropub modulepreload monitor
monitor-group next next-archive nofollow noopener noreferrer opener openid2.local_id openid2.provider original p3pv1
payment pingback preconnect predecessor-version prefetch preload prerender prev prev-archive preview previous
privacy-policy profile publication rdap-active rdap-bottom rdap-down rdap-top rdap-up related replies restconf ruleinput
search section self service service-desc service-doc service-meta sip-trunking-capability sponsored start status
stylesheet subsection successor-version sunset tag terms-of-service timegate timemap token_endpoint type ugc up
version-history via webmention working-copy working-copy-of
`)

// RelationName returns the name of a link relation: of a registered one that is written
// as an IRI, its name (RFC 4287 §4.2.7.2).
func RelationName[T Text](rel T) T {
	const registered = "http://www.iana.org/assignments/relation/"
	if len(rel) >= len(registered) && string(rel[:len(registered)]) == registered {
		return rel[len(registered):]
	}
	return rel
}

// IsRelation reports whether a name is a registered link relation.
func IsRelation[T Text](s T) bool {
	for _, known := range relations {
		if EqualFold(s, known) {
			return true
		}
	}
	return false
}

// RelationFault checks a link relation: a name without a colon or slash, or an IRI (RFC
// 4287 §4.2.7.2).
func RelationFault[T Text](s T) string {
	switch {
	case len(s) == 0:
		return "an empty relation"
	case Scheme(s) > 0:
		return IRIFault(s)
	case IndexAny(s, ":/?#") < len(s):
		return "neither a name nor an absolute IRI"
	}
	return charFault(s, hostChars|classAt|classUCS)
}
