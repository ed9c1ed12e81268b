package eli

import (
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/websync-go/websync"
)

// updates are the entries of an update feed, the latest of each id, in the order of the
// document.
type updates struct {
	all    []update
	byID   map[string]int32 // positions in all, by what variants have in common
	limit  int              // of entries; negative: none
	bytes  int              // of their ids
	feedID string
	// the entries that are variants of others, or of what the sitemap has
	variants oddities
	skipped  int   // entries that can't be read
	inner    inner // checkpoint of the Source of the feed
	// The time by the server's clock. Later times than a day after it are not believed.
	// If zero, all are.
	now  time.Time
	read time.Time // when the feed was read, by the local clock if the server has none
}

// An update is one entry of an update feed.
type update struct {
	id      string // as the feed states it
	as      string // as the sitemap states it; "" if it does not, or is not known
	at      websync.Datetime
	deleted bool // it is a tombstone
	listed  bool // the sitemap has the id, too
}

// maxIDs limits the ids of a feed, in bytes.
const maxIDs = 128 << 20

// add adds an entry. Of two entries of one id or its variants the one with the later time
// counts, and of equal times the first.
func (u *updates) add(id string, at websync.Datetime, deleted bool) error {
	_, key := cutForm(id)
	if i, ok := u.byID[key]; ok {
		held := &u.all[i]
		if held.id != id {
			u.variants.add(id)
		}
		if newest(held.at, at) != held.at {
			held.at, held.deleted = at, deleted
		}
		return nil
	}
	if u.limit >= 0 && len(u.all) >= u.limit {
		return fmt.Errorf("more than %d entries: %w", u.limit, websync.ErrLimit)
	}
	if u.bytes += len(id); u.limit >= 0 && u.bytes > maxIDs {
		return fmt.Errorf("ids of more than %d bytes: %w", maxIDs, websync.ErrLimit)
	}
	u.byID[key] = int32(len(u.all))
	u.all = append(u.all, update{id: id, at: at, deleted: deleted})
	return nil
}

// find returns the entry of an id or of a variant of it, or nil. A nil updates has none.
func (u *updates) find(id string) *update {
	if u == nil {
		return nil
	}
	_, key := cutForm(id)
	if i, ok := u.byID[key]; ok {
		return &u.all[i]
	}
	return nil
}

// unlisted returns how many acts the sitemap does not have. A nil updates has none.
func (u *updates) unlisted() (n int) {
	if u == nil {
		return 0
	}
	for i := range u.all {
		if x := &u.all[i]; !x.listed && !x.deleted {
			n++
		}
	}
	return n
}

// ordered returns the entries from the oldest to the newest; first those without a time.
func (u *updates) ordered() []update {
	all := slices.Clone(u.all)
	slices.SortStableFunc(all, func(a, b update) int { return a.at.Compare(b.at) })
	return all
}

// since returns the entries, from the oldest to the newest, that an earlier reading of
// the feed did not have.
func (u *updates) since(before *updates) []update {
	return slices.DeleteFunc(u.ordered(), func(x update) bool {
		held := before.find(x.id)
		return held != nil && held.at == x.at && held.deleted == x.deleted
	})
}

// isOver reports whether no entry has a time that was not over when the feed was read,
// such as a date of that day. If one has, a page may have changed since although the feed
// remains the same byte for byte, so that it must be read again.
func (u *updates) isOver() bool {
	return !slices.ContainsFunc(u.all, func(x update) bool { return isBelieved(x.at, u.now) && !x.at.IsOver(u.read) })
}

// isBelieved reports whether a time is stated and does not lie in the future.
func isBelieved(at websync.Datetime, now time.Time) bool {
	return !at.IsZero() && (now.IsZero() || at.UTC().Time().Unix() <= now.Unix()+24*60*60)
}

// believed returns the entries whose times are believed, the newest first.
func (u *updates) believed() []update {
	all := slices.DeleteFunc(u.ordered(), func(x update) bool { return !isBelieved(x.at, u.now) })
	slices.Reverse(all)
	return all
}

// mark returns a hash of an entry.
func (x *update) mark() uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q %v %t", x.id, x.at, x.deleted)
	return h.Sum64()
}

// isSurelyAfter reports whether a time is after another one, whatever its zone is if it
// is a date and the time is not: a date without a zone ends up to 12 hours after the day
// in UTC.
func isSurelyAfter(t, at websync.Datetime) bool {
	if t.Precision() > websync.PrecisionDay && at.Precision() <= websync.PrecisionDay {
		return !t.Time().Before(at.End().Add(12 * time.Hour))
	}
	return t.After(at)
}

// newest returns the later of two times, of which any may be not stated. If they can mean
// the same moment, it is the finer one, and otherwise a.
func newest(a, b websync.Datetime) websync.Datetime {
	switch {
	case a.IsZero():
		return b
	case b.After(a), b.Overlaps(a) && b.Precision() > a.Precision():
		return b
	}
	return a
}
