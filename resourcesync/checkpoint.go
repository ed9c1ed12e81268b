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

	// Stale: the baseline is older than the oldest change that was listed then. Damaged:
	// entries of it could not be read. The next run begins with another one.
	Stale   bool `json:"stale,omitempty"`
	Damaged bool `json:"damaged,omitempty"`

	// Log is up to where changes were yielded. It has no URL before the first change list
	// was read: then Time is the moment that the baseline describes.
	Log cursor `json:"log"`

	// Root is the change list that the Capability List names, or what replaced it.
	// Validators are those of its last answer, if nothing is left to do until it changes.
	// Packed: it is a Change Dump.
	Root       string              `json:"root,omitempty"`
	Validators docfetch.Validators `json:"validators,omitzero"`
	Packed     bool                `json:"packed,omitempty"`

	// Idle: the log moved on while the last run read it, and nothing after Log was read.
	Idle bool `json:"idle,omitempty"`

	// Named is the change list that the Capability List named last, Dump the Change Dump
	// besides it. Capabilities are the validators of the Capability List.
	Named        string              `json:"named,omitempty"`
	Dump         string              `json:"dump,omitempty"`
	Capabilities docfetch.Validators `json:"capabilities,omitzero"`

	// List is the checkpoint of the Resource List, if the next run asks for it again.
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
	At    websync.Datetime `json:"at,omitzero"`    // that the baseline describes
	Time  websync.Datetime `json:"time,omitzero"`  // before which all changes were yielded
	Clock websync.Datetime `json:"clock,omitzero"` // the latest time of a change that was yielded
	N     int              `json:"n,omitempty"`    // how many entries of the list were yielded
	Sum   uint64           `json:"sum,omitempty"`  // of those entries
	Last  uint64           `json:"last,omitempty"` // of the last of them
	// Package is a digest of what the dump says of the package with that list.
	Package uint64 `json:"package,omitempty"`
	// Untimed: a change had no time, so Time says nothing of the order of other changes.
	Untimed bool `json:"untimed,omitempty"`
	// ByTime: its order is that of the times. Exact: so is it, or no change of it stood for
	// a later time than it states. Early: its changes are yielded again.
	Early  bool `json:"early,omitempty"`
	ByTime bool `json:"bytime,omitempty"`
	Exact  bool `json:"exact,omitempty"`
	// Skipped is how many changes of that list could not be read.
	Skipped    int                 `json:"skipped,omitempty"`
	Validators docfetch.Validators `json:"validators,omitzero"`
}
