package atom

import "github.com/websync-go/websync"

// What a Source finds, which no single document shows.
var (
	ruleGap          = websync.NewRule(201, "atom-window-gap", "RFC 5005 §1", websync.Warning, "a window of entries that begins after those of the last run")
	ruleHole         = websync.NewRule(202, "atom-archive-gap", "RFC 5005 §4", websync.Warning, "a document that can't be read, and a gap that the user accepts")
	rulePages        = websync.NewRule(203, "atom-pages-changed", "RFC 5005 §3", websync.Warning, "a paged feed that changes while it is read, and a gap that the user accepts")
	ruleTombstoneVia = websync.NewRule(204, "atom-tombstone-via", "RFC 6721 §3", websync.Warning, "a tombstone without via, where the targets of via links are the ids")
)
