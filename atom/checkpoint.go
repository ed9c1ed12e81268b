package atom

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/docfetch"
)

const (
	checkpointVersion = 1
	maxBorder         = 1000 // ids that a checkpoint knows
)

// A checkpoint is how far a Source has read a feed.
type checkpoint struct {
	ID      string `json:"id"`                // of the feed
	Options string `json:"options"`           // fingerprint of the Source's
	Archive string `json:"archive,omitempty"` // the newest archive document that is dealt with, and all before it

	// Skipped counts what was skipped in the documents that are dealt with and not read
	// again.
	Skipped int `json:"skipped,omitempty"`

	// Time is the greatest that was yielded, and Border stands for the ids of that time.
	// If there are more than maxBorder, none is kept: then nothing of that time counts as
	// known.
	Time   websync.Datetime `json:"time"`
	Border []uint64         `json:"border,omitempty"`

	// Ordered says that all pages of a paged feed are dealt with, and that they went from
	// the latest item to the oldest.
	Ordered bool `json:"ordered,omitempty"`

	// What the server said of the subscription document, if all of it is dealt with.
	docfetch.Validators
}

// bounded returns what is kept of c.
func (c checkpoint) bounded() checkpoint {
	if len(c.Border) > maxBorder {
		c.Border = nil
	}
	return c
}

// advance notes that an item has been yielded.
func (c *checkpoint) advance(id []byte, at websync.Datetime) {
	switch {
	case at.IsZero() || at.Before(c.Time):
		return
	case c.Time.IsZero() || c.Time.Before(at):
		c.Time, c.Border = at, nil
	}
	if key := borderKey(id); len(c.Border) <= maxBorder && !slices.Contains(c.Border, key) {
		c.Border = append(c.Border, key)
	}
}

// knows reports whether an item was yielded before, by its time.
func (c *checkpoint) knows(id []byte, at websync.Datetime) bool {
	switch {
	case at.IsZero() || c.Time.IsZero():
		return false
	case at.Before(c.Time):
		return true
	}
	return !c.Time.Before(at) && slices.Contains(c.Border, borderKey(id))
}

func borderKey(id []byte) uint64 {
	sum := sha256.Sum256(id)
	return binary.BigEndian.Uint64(sum[:])
}
