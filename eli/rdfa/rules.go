package rdfa

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

// A Rule is one requirement on a document with RDFa.
type Rule = websync.Rule

var rules = document.NewRules("rdfa")

const (
	sectionCURIE   = "RDFa Core §7.4"
	sectionTerm    = "RDFa Core §7.4.3"
	sectionPrefix  = "RDFa Core §7.5 step 3"
	sectionStep4   = "RDFa Core §7.5 step 4"
	sectionStep11  = "RDFa Core §7.5 step 11"
	sectionContext = "RDFa Core §9"
	sectionHTML    = "HTML §13.2.3"
)

// The bytes.
var (
	ruleXML      = rules.Error("xml", "XML 1.0", "XML that is not well-formed")
	rulePrologue = rules.Error("prologue", "XML 1.0 §2.8", "a line before the XML declaration")
	ruleGzip     = rules.Warning("gzip", "RFC 1952 §2.2", "bytes after the compressed data, or compressed twice")
	ruleEncoding = rules.Warning("encoding", sectionHTML, "an encoding that is not known, or bytes that it does not have")
	ruleEnd      = rules.Warning("end", "HTML §13.1.2.4", "a page with a start tag of html, but no end tag: it may be cut short")
)

// The attributes. The names of the RDFa processor graph's warnings are in parentheses.
var (
	ruleUndeclared = rules.Warning("prefix-undeclared", sectionCURIE,
		"a value that looks like a CURIE whose prefix is not declared (rdfa:UnresolvedCURIE)")
	ruleCURIE = rules.Warning("curie", sectionCURIE, "a CURIE in brackets that stands for nothing (rdfa:UnresolvedCURIE)")
	ruleTerm  = rules.Warning("term", sectionTerm, "a term that is not defined (rdfa:UnresolvedTerm)")
	ruleLink  = rules.Info("link-relation", sectionTerm,
		"a link relation that is not defined as a term (rdfa:UnresolvedTerm)")
	ruleRedefined = rules.Warning("prefix-redefined", sectionContext,
		"a prefix of the initial context that stands for something else (rdfa:PrefixRedefinition)")
	rulePrefix     = rules.Warning("prefix", sectionPrefix, "a value of @prefix that is not a list of prefixes and IRIs")
	ruleIRI        = rules.Warning("iri", sectionCURIE, "a character that no IRI has")
	rulePredicate  = rules.Warning("predicate", sectionCURIE, "a blank node where only an IRI can stand")
	ruleLang       = rules.Warning("lang", sectionStep4, "a language that is not a language tag")
	ruleXMLLiteral = rules.Warning("xml-literal", sectionStep11, "markup that an rdf:XMLLiteral can't hold")
)

// Rules returns all rules that findings of this package refer to.
func Rules() []Rule { return rules.All() }
