package atom

import "github.com/websync-go/websync"

// Of the bytes and the XML.
var (
	ruleXML       = websync.NewRule(1, "atom-xml", "XML 1.0", websync.Error, "a fault of the XML")
	ruleTruncated = websync.NewRule(2, "atom-truncated", "XML 1.0", websync.Error, "the document ends too early")
	ruleDocument  = websync.NewRule(3, "atom-document", "RFC 4287 §2", websync.Error, "something that is not an Atom document, or that can't be read")
	rulePrologue  = websync.NewRule(4, "atom-prologue", "XML 1.0 §2.8", websync.Error, "a line before the XML declaration")
	ruleEncoding  = websync.NewRule(5, "atom-encoding", "RFC 4287 §2", websync.Info, "another encoding than UTF-8")
	ruleDoctype   = websync.NewRule(6, "atom-doctype", "RFC 4287 §2", websync.Info, "a DOCTYPE, which some readers refuse")
	ruleGzip      = websync.NewRule(7, "atom-gzip", "RFC 1952 §2.2", websync.Warning, "bytes after the compressed data, or compressed twice")
)

// Of what a Reader makes of a document.
var (
	ruleNamespace   = websync.NewRule(10, "atom-namespace", "RFC 4287 §1.2", websync.Error, "a namespace that is almost the one of Atom, or none")
	ruleElementSize = websync.NewRule(11, "atom-element-size", "RFC 4287 §6.4", websync.Error, "more than is kept of one entry, or of the feed itself")
	ruleRelative    = websync.NewRule(12, "atom-relative", "RFC 4287 §2", websync.Info, "a relative reference, and no absolute URL to resolve it against")
	rulePersonExt   = websync.NewRule(13, "atom-person-extension", "RFC 4287 §3.2", websync.Info, "an extension of a person, which is left out")
	ruleForm        = websync.NewRule(14, "atom-deleted-form", "RFC 6721 §3", websync.Info, "a deletion that is written as gd:deleted or sx:sync")
	ruleNesting     = websync.NewRule(15, "atom-nesting", "RFC 4287 §4.1", websync.Error, "an entry or a tombstone inside of another, or of an element that has none")
)

// readerRules are the rules above. A Reader reports some of the rules for Validate as
// well.
var readerRules = []Rule{
	ruleXML, ruleTruncated, ruleDocument, rulePrologue, ruleEncoding, ruleDoctype, ruleGzip,
	ruleNamespace, ruleElementSize, ruleRelative, rulePersonExt, ruleForm, ruleNesting,
}
