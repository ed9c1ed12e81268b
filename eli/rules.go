package eli

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

// A Rule is one requirement of the specification.
type Rule = websync.Rule

var rules = document.NewRules("eli")

// Rules returns every rule, in the order of the package's sources. The rules of packages
// rdfa, jsonld, sitemap and atom apply, too.
func Rules() []Rule { return rules.All() }

const (
	sectionPages    = "ELI Pillar IV §3.2.2"
	sectionFullText = "ELI Pillar IV §4.2"
	sectionOntology = "ELI ontology"
)

// The metadata of a page.
var (
	ruleNamespace = rules.Error("namespace", sectionOntology, "a term whose namespace is not that of the ontology, byte for byte")
	rulePrefix    = rules.Error("prefix", sectionOntology, "a term whose prefix eli is not declared")
	ruleSpelling  = rules.Error("spelling", sectionOntology, "a term that the ontology spells otherwise")
	ruleTerm      = rules.Info("term", sectionOntology, "a term that the ontology does not have")
	ruleInverse   = rules.Info("inverse", sectionPages,
		"an expression or a format that is only linked from below, by realizes or embodies")
	ruleSchema = rules.Warning("schema", sectionPages,
		"a legal resource that only schema.org's terms describe: they count as those of the ontology that they stand for")
	ruleLiteral  = rules.Warning("literal", sectionOntology, "a literal where a URI must stand")
	ruleURI      = rules.Error("uri", sectionPages, "a page that describes a variant of the URI that was requested")
	ruleLevel    = rules.Warning("level", sectionOntology, "a resource that is on another level than its place in the tree says")
	ruleLanguage = rules.Warning("language", sectionOntology, "a language that is not a URI of the EU's table of languages")
	ruleDate     = rules.Warning("date", sectionOntology, "a date that is not an xsd:date")
	ruleDates    = rules.Warning("dates", sectionOntology,
		"a date that RDFa and other metadata of the page state differently: that of RDFa counts")
	ruleFileURL = rules.Warning("file-url", sectionFullText,
		"a value of is_exemplified_by that is no absolute http or https URL: it is left out")
	ruleMediaType = rules.Warning("media-type", sectionFullText,
		"a media type that is not a URI of IANA's registry as the specification writes it")
)
