package atom

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"

	"github.com/websync-go/websync"
)

const (
	checkpointVersion = 1
	maxBorder         = 1000 // ids that a checkpoint knows
	maxValidator      = 512  // bytes of a header's value in it
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
	// the youngest item to the oldest.
	Ordered bool `json:"ordered,omitempty"`

	// What the server said of the subscription document, if all of it is dealt with.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"modified,omitempty"`
}

func (c *checkpoint) encode() []byte {
	kept := *c
	if len(kept.Border) > maxBorder {
		kept.Border = nil
	}
	b, _ := json.Marshal(kept) // strings, numbers and a time: nothing that can fail
	return b
}

func decodeCheckpoint(data []byte) (c checkpoint, ok bool) {
	return c, json.Unmarshal(data, &c) == nil
}

// settle notes what the server said of a subscription document that is dealt with.
func (c *checkpoint) settle(etag, lastModified string) {
	c.ETag, c.LastModified = "", ""
	if len(etag) <= maxValidator && len(lastModified) <= maxValidator {
		c.ETag, c.LastModified = etag, lastModified
	}
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
