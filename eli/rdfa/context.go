package rdfa

const (
	xhv  = "http://www.w3.org/1999/xhtml/vocab#"
	rdfa = "http://www.w3.org/ns/rdfa#"

	rdfaCopy           = rdfa + "copy"
	rdfaPattern        = rdfa + "Pattern"
	rdfaUsesVocabulary = rdfa + "usesVocabulary"
)

// initialPrefixes are the prefixes of the initial context of RDFa Core 1.1,
// http://www.w3.org/2011/rdfa-context/rdfa-1.1.
var initialPrefixes = map[string]string{
	"as":      "https://www.w3.org/ns/activitystreams#",
	"cc":      "http://creativecommons.org/ns#",
	"csvw":    "http://www.w3.org/ns/csvw#",
	"ctag":    "http://commontag.org/ns#",
	"dc":      "http://purl.org/dc/terms/",
	"dc11":    "http://purl.org/dc/elements/1.1/",
	"dcat":    "http://www.w3.org/ns/dcat#",
	"dcterms": "http://purl.org/dc/terms/",
	"dqv":     "http://www.w3.org/ns/dqv#",
	"duv":     "https://www.w3.org/ns/duv#",
	"foaf":    "http://xmlns.com/foaf/0.1/",
	"gr":      "http://purl.org/goodrelations/v1#",
	"grddl":   "http://www.w3.org/2003/g/data-view#",
	"ical":    "http://www.w3.org/2002/12/cal/icaltzd#",
	"jsonld":  "http://www.w3.org/ns/json-ld#",
	"ldp":     "http://www.w3.org/ns/ldp#",
	"ma":      "http://www.w3.org/ns/ma-ont#",
	"oa":      "http://www.w3.org/ns/oa#",
	"odrl":    "http://www.w3.org/ns/odrl/2/",
	"og":      "http://ogp.me/ns#",
	"org":     "http://www.w3.org/ns/org#",
	"owl":     "http://www.w3.org/2002/07/owl#",
	"prov":    "http://www.w3.org/ns/prov#",
	"qb":      "http://purl.org/linked-data/cube#",
	"rdf":     "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
	"rdfa":    rdfa,
	"rdfs":    "http://www.w3.org/2000/01/rdf-schema#",
	"rev":     "http://purl.org/stuff/rev#",
	"rif":     "http://www.w3.org/2007/rif#",
	"rr":      "http://www.w3.org/ns/r2rml#",
	"schema":  "http://schema.org/",
	"sd":      "http://www.w3.org/ns/sparql-service-description#",
	"sioc":    "http://rdfs.org/sioc/ns#",
	"skos":    "http://www.w3.org/2004/02/skos/core#",
	"skosxl":  "http://www.w3.org/2008/05/skos-xl#",
	"sosa":    "http://www.w3.org/ns/sosa/",
	"ssn":     "http://www.w3.org/ns/ssn/",
	"time":    "http://www.w3.org/2006/time#",
	"v":       "http://rdf.data-vocabulary.org/#",
	"vcard":   "http://www.w3.org/2006/vcard/ns#",
	"void":    "http://rdfs.org/ns/void#",
	"wdr":     "http://www.w3.org/2007/05/powder#",
	"wdrs":    "http://www.w3.org/2007/05/powder-s#",
	"xhv":     xhv,
	"xml":     xmlSpace,
	"xsd":     "http://www.w3.org/2001/XMLSchema#",
}

// coreTerm returns the IRI of a term of the initial context, given in lower case; "" if
// it has none.
func coreTerm(term string) string {
	switch term {
	case "describedby":
		return "http://www.w3.org/2007/05/powder-s#describedby"
	case "license", "role":
		return xhv + term
	}
	return ""
}

// xhtmlTerm does the same for the initial context of XHTML+RDFa 1.1,
// http://www.w3.org/2011/rdfa-context/xhtml-rdfa-1.1.
func xhtmlTerm(term string) string {
	switch term {
	case "alternate", "appendix", "bookmark", "chapter", "cite", "contents", "copyright", "first", "glossary",
		"help", "icon", "index", "last", "license", "meta", "next", "p3pv1", "prev", "previous", "section",
		"start", "stylesheet", "subsection", "top", "up":
		return xhv + term
	}
	return ""
}

// commonSchemes are schemes of IRIs that are not followed by two slashes. Other names
// before a colon are probably prefixes that somebody forgot to declare.
var commonSchemes = map[string]bool{
	"about": true, "ark": true, "cid": true, "data": true, "did": true, "doi": true, "geo": true, "hdl": true,
	"info": true, "javascript": true, "mailto": true, "mid": true, "ni": true, "sms": true, "tag": true,
	"tel": true, "urn": true, "uuid": true, "xmpp": true,
}
