package anyfeed

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/rule"
)

var rules = rule.NewTable("anyfeed")

var (
	ruleTolerant = rules.Info("tolerant", "RFC 4287 §2", "a document that is not Atom, or not sound, and was read tolerantly")
	ruleID       = rules.Error("id", "RFC 4287 §4.2.6", "an entry without anything that could be its id, which is left out")
	ruleDate     = rules.Warning("date", "RFC 4287 §3.3", "a date that can't be read")
	ruleLeftOut  = rules.Warning("left-out", "RFC 4287 §4", "something that is stated and can't be kept")
	ruleBytes    = rules.Warning("bytes", "XML 1.0 §2.2", "bytes that the encoding does not have, or characters that XML does not have, which are replaced")
	ruleGzip     = rules.Warning("gzip", "RFC 1952 §2.2", "bytes after the compressed data, or compressed twice")
)

// Rules returns every rule, in the order of the source.
func Rules() []websync.Rule { return rules.All() }
