package harvest

import "github.com/websync-go/websync"

// The rules of the engine's own findings.
var (
	ruleFuture = websync.Rule{
		Name:     "future-time",
		Severity: websync.SeverityWarning,
		Summary:  "a change that is stated to be more than a day ahead of the publisher's clock: its time is not used",
	}
	ruleCame = websync.Rule{
		Name:     "came-along",
		Severity: websync.SeverityWarning,
		Summary: "bytes that came with a document, such as a member of a package, that can't be read or are not as stated: the " +
			"resource is fetched from its URL instead",
	}
	ruleCoded = websync.Rule{
		Name:     "content-coding",
		Severity: websync.SeverityInfo,
		Summary: "bytes whose stated length and digests are those of the content coding in which they were sent: they are " +
			"verified so, and stored without it",
	}
	ruleUnchanged = websync.Rule{
		Name:     "unchanged",
		Severity: websync.SeverityWarning,
		Summary:  "what a source states to be unchanged has often changed: all of it is asked for, conditionally",
	}
	ruleAlso = websync.Rule{
		Name:     "also",
		Severity: websync.SeverityWarning,
		Summary:  "a link of Harvester.Also to what its server does not have, or does not give: the resource is kept without it",
	}
	ruleMoment = websync.Rule{
		Name:     "snapshot-at",
		Severity: websync.SeverityWarning,
		Summary:  "a listing that contradicts the moment that it states for itself: that moment is not used",
	}
)

// Rules returns the rules of the engine's own findings, which hold for every Source. They
// are of no specification: their Section is empty.
func Rules() []websync.Rule {
	return []websync.Rule{ruleAlso, ruleCame, ruleCoded, ruleFuture, ruleMoment, ruleUnchanged}
}
