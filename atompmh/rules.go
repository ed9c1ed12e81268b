package atompmh

import (
	"github.com/websync-go/websync/atom"
	"github.com/websync-go/websync/internal/document"
)

var rules = document.NewRules("atompmh")

// Rules returns the rules that Atom-PMH adds to those of package atom, in the order of
// the package's sources.
func Rules() []atom.Rule { return rules.All() }

const (
	sectionActive   = "Atom-PMH 1.0, Active entries"
	sectionDeletion = "Atom-PMH 1.0, Deletion entries"
	sectionTimes    = "Atom-PMH 1.0, Timestamps"
	sectionComplete = "Atom-PMH 1.0, Complete feeds"
	sectionTypes    = "Atom-PMH 1.0, Detecting entry type"
	sectionArchived = "Atom-PMH 1.0, Complete vs archive feeds"
)

// Entries.
var (
	ruleType = rules.Error("entry-type", sectionTypes,
		"an entry that is neither an active, a historical nor a deletion entry")
	ruleContent       = rules.Error("content", sectionActive, "an active or historical entry with content")
	ruleAlternateType = rules.Error("alternate-type", sectionActive,
		"an active entry without an alternate link that states its media type")
	ruleActiveTwice     = rules.Error("active-twice", sectionActive, "two entries of one record that have the latest time")
	ruleDeletionContent = rules.Error("deletion-content", sectionDeletion, "a deletion entry whose content is not empty")
	ruleDeletionTwice   = rules.Error("deletion-twice", sectionDeletion, "two deletion entries of one record and time")
	ruleSameTime        = rules.Warning("same-time", sectionDeletion,
		"a deletion entry with the time of another entry of its record")
	ruleTombstone = rules.Warning("tombstone", sectionDeletion, "a tombstone (RFC 6721) in the place of a deletion entry")
)

// Documents.
var (
	ruleUpdated = rules.Error("updated", sectionTimes, "a document that is older than one of its entries")
	ruleReferee = rules.Error("archive-updated", sectionTimes,
		"an archive document that is newer than an entry of the document that links to it")
	ruleComplete = rules.Error("complete", sectionComplete,
		"fh:complete in a document that lacks an active entry, or has an entry of a deleted record")
	ruleCompleteDeletion = rules.Warning("complete-deletion", sectionDeletion, "deletion entries in a document with fh:complete")
	ruleCompleteMissing  = rules.Info("complete-missing", sectionComplete,
		"a feed of one document without deletion entries and without fh:complete")
	rulePaged = rules.Info("paged", sectionArchived,
		"links between the pages of a paged feed, which Atom-PMH does not use")
	ruleCompletePaged = rules.Warning("complete-paged", sectionComplete, "a paged feed with fh:complete")
)
