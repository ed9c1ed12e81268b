package jsonld

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/document"
)

// A Rule is one requirement on JSON-LD.
type Rule = websync.Rule

var rules = document.NewRules("jsonld")

const (
	sectionHTML    = "JSON-LD 1.1 §7"
	sectionContext = "JSON-LD 1.1 §3.1"
	sectionNode    = "JSON-LD 1.1 §9.2"
)

// The page and its scripts.
var (
	ruleXML      = rules.Error("xml", "XML 1.0", "XHTML that is not well-formed")
	ruleGzip     = rules.Warning("gzip", "RFC 1952 §2.2", "bytes after the compressed data, or compressed twice")
	ruleEncoding = rules.Warning("encoding", "HTML §13.2.3", "an encoding that is not known, or bytes that it does not have")
	ruleMarkup   = rules.Warning("markup", sectionHTML, "a comment or a CDATA section around the JSON of a script")
	ruleJSON     = rules.Error("json", "RFC 8259", "a script whose text is not JSON")
)

// JSON-LD.
var (
	ruleContext  = rules.Error("context", sectionContext, "a remote context that is not built in: it is not fetched")
	ruleTerm     = rules.Error("term", "JSON-LD 1.1 §9.15", "an entry of a context that is wrong: it is ignored")
	ruleInvalid  = rules.Error("invalid", "JSON-LD 1.1", "JSON that is not JSON-LD")
	ruleEmpty    = rules.Warning("empty", sectionNode, "JSON-LD without a statement: its terms are not defined, perhaps")
	ruleNull     = rules.Warning("null", sectionNode, "an @id or @type that is null")
	ruleReserved = rules.Warning("reserved", "JSON-LD 1.1 §9.1", "a name of letters after an @ that is no keyword")
	ruleType     = rules.Warning("type", sectionNode, "a type that is not defined, because a context is not known")
	ruleDatatype = rules.Error("datatype", "JSON-LD 1.1 §9.5", "a value object with a type that is no datatype")
	ruleIRI      = rules.Warning("iri", sectionNode, "a character that no IRI has")
	ruleLang     = rules.Warning("lang", "JSON-LD 1.1 §4.2.4", "a language that is not a language tag")
	ruleGraph    = rules.Info("graph", "JSON-LD 1.1 §4.9", "a named graph: its statements count as those of the page")
)

// Rules returns all rules that findings of this package refer to.
func Rules() []Rule { return rules.All() }
