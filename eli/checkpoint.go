package eli

import (
	"slices"
	"time"

	"github.com/websync-go/websync"
)

const (
	checkpointVersion = 1
	latestUpdates     = 32 // entries of a feed that a checkpoint keeps
)

// A checkpoint is how far a Source has read its lists.
//
// What the feed had at the last reading is connected to what it has now if any of the
// latest entries of then is still in it: a feed drops the oldest first. Its oldest entry
// alone proves nothing, because feeds have been seen with entries that are years older
// than the others.
type checkpoint struct {
	Options string `json:"options"`          // fingerprint of the Source's options
	FeedID  string `json:"feedID,omitempty"` // of the feed

	// Position is the latest time in the feed: changes up to it are known, except for
	// those before Since. If zero, the feed was not read, or has no times.
	Position websync.Datetime `json:"position,omitzero"`
	// Since is the oldest time in the feed when it was not connected to what was known
	// before. Changes before it are known when a sitemap of that time or later was read;
	// then it is zero.
	Since websync.Datetime `json:"since,omitzero"`
	// Latest has the marks of the latest entries of the feed.
	Latest []uint64 `json:"latest,omitempty"`

	Listed   time.Time        `json:"listed,omitzero"`   // when all of the sitemap was read, by its server's clock
	Resynced time.Time        `json:"resynced,omitzero"` // when all pages were last asked for, likewise
	Moment   websync.Datetime `json:"moment,omitzero"`   // the latest time in the sitemap

	// Forms are those of the sitemap's URIs. If nil, they are not known, or are too many.
	Forms *forms `json:"forms"`

	Feed    inner `json:"feed,omitzero"`
	Sitemap inner `json:"sitemap,omitzero"`
}

// An inner is the checkpoint of the Source of a feed or a sitemap: a harvest.Checkpoint.
type inner struct {
	Version int    `json:"version"`
	Data    []byte `json:"data"`
}

// continues reports whether the feed is connected to what is known.
func (c *checkpoint) continues(u *updates) bool {
	return slices.ContainsFunc(u.all, func(x update) bool { return slices.Contains(c.Latest, x.mark()) })
}

// follow records that the entries of the feed were yielded. If some could not be read,
// the position stays, so that the feed must still be connected to it later.
func (c *checkpoint) follow(u *updates) {
	c.FeedID = u.feedID
	if u.skipped > 0 {
		return
	}
	latest := u.believed()
	connected := c.continues(u)
	c.Feed, c.Position, c.Latest = inner{}, websync.Datetime{}, nil
	if u.isOver() {
		c.Feed = u.inner
	}
	if len(latest) == 0 {
		c.Since = websync.Datetime{}
		return
	}
	if !connected {
		c.Since = latest[len(latest)-1].at
	}
	c.Position = latest[0].at
	for _, x := range latest[:min(len(latest), latestUpdates)] {
		c.Latest = append(c.Latest, x.mark())
	}
}

// needsSitemap reports whether the feed alone is not enough: nothing is known yet,
// changes may have been missed, or which URIs of the feed are which of the sitemap.
func (c *checkpoint) needsSitemap() bool {
	return c.Forms == nil || c.Listed.IsZero() || c.Position.IsZero() || !c.Since.IsZero()
}

// read records all of the sitemap.
func (c *checkpoint) read(l *listing, now time.Time) {
	c.Moment, c.Sitemap, c.Forms = l.moment, inner{}, l.forms
	if l.moment.IsZero() || l.moment.IsOver(now) {
		c.Sitemap = l.inner
	}
	c.list(now)
}

// list records that all of the sitemap was read, or that it has not changed since. Its
// latest time is c.Moment.
func (c *checkpoint) list(now time.Time) {
	c.Listed = now
	if !c.hasHole() {
		c.Since = websync.Datetime{}
	}
}

// hasHole reports whether changes may be missing that are later than the sitemap and
// older than the feed. A sitemap without times proves nothing.
func (c *checkpoint) hasHole() bool {
	return !c.Moment.IsZero() && c.Moment.Before(c.Since)
}
