package anyfeed

import (
	"slices"

	"github.com/websync-go/websync"
)

var (
	ruleTolerant = websync.NewRule(301, "anyfeed-tolerant", "RFC 4287 §2", websync.Info, "a document that is not Atom, or not sound, and was read tolerantly")
	ruleID       = websync.NewRule(302, "anyfeed-id", "RFC 4287 §4.2.6", websync.Error, "an entry without anything that could be its id, which is left out")
	ruleDate     = websync.NewRule(303, "anyfeed-date", "RFC 4287 §3.3", websync.Warning, "a date that can't be read")
	ruleLeftOut  = websync.NewRule(304, "anyfeed-left-out", "RFC 4287 §4", websync.Warning, "something that is stated and can't be kept")
	ruleBytes    = websync.NewRule(305, "anyfeed-bytes", "XML 1.0 §2.2", websync.Warning, "bytes that the encoding does not have, or characters that XML does not have, which are replaced")
	ruleGzip     = websync.NewRule(306, "anyfeed-gzip", "RFC 1952 §2.2", websync.Warning, "bytes after the compressed data, or compressed twice")
)

var rules = [...]websync.Rule{ruleTolerant, ruleID, ruleDate, ruleLeftOut, ruleBytes, ruleGzip}

// Rules returns all rules, in the order of their numbers.
func Rules() []websync.Rule { return slices.Clone(rules[:]) }
