package resourcesync

import (
	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
)

const checkpointVersion = 1

// A checkpoint is what an earlier run has dealt with.
type checkpoint struct {
	Options string `json:"options"` // fingerprint of the Source's options

	// Listed: the baseline is complete. Otherwise the next run begins with one.
	Listed bool `json:"listed,omitempty"`

	// Stale: the baseline is older than the oldest change that was listed then. The next
	// run begins with another one.
	Stale bool `json:"stale,omitempty"`

	// Log is up to where changes were yielded. It has no URL before the first change list
	// was read: then Time is the moment that the baseline describes.
	Log cursor `json:"log"`

	// Root is the change list that the Capability List names, Validators are those of its
	// last answer, if nothing is left to do until it changes.
	Root       string              `json:"root,omitempty"`
	Validators docfetch.Validators `json:"validators,omitzero"`

	// List is the checkpoint of the Resource List. It is kept only if there is no Root:
	// otherwise the list is not read again.
	List listCheckpoint `json:"list,omitzero"`

	// Skipped is how many changes could not be read since the baseline, in lists that are
	// not read again.
	Skipped int `json:"skipped,omitempty"`
}

// A cursor is a position in a log of change lists.
type cursor struct {
	URL   string           `json:"url,omitempty"`  // of the list that was read last
	From  websync.Datetime `json:"from,omitzero"`  // of that list
	Until websync.Datetime `json:"until,omitzero"` // of that list, if it is closed
	Time  websync.Datetime `json:"time,omitzero"`  // before which all changes were yielded
	N     int              `json:"n,omitempty"`    // how many entries of the list were yielded
	Sum   uint64           `json:"sum,omitempty"`  // of those entries
	Last  uint64           `json:"last,omitempty"` // of the last of them
	// Skipped is how many changes of that list could not be read.
	Skipped    int                 `json:"skipped,omitempty"`
	Validators docfetch.Validators `json:"validators,omitzero"`
}
