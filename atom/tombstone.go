package atom

import "github.com/websync-go/websync"

// A TombstoneForm says how a deletion is written.
type TombstoneForm uint8

const (
	DeletedEntry    TombstoneForm = iota // at:deleted-entry (RFC 6721 §3)
	GDataDeleted                         // an entry with gd:deleted, as met in the wild; never written
	FeedSyncDeleted                      // an entry with sx:sync deleted="true", as met in the wild; never written
)

// A Tombstone says that an entry is gone (RFC 6721).
type Tombstone struct {
	// Ref is the id of the entry: trimmed, otherwise byte for byte.
	Ref string

	When     websync.Datetime
	WhenText string // the text of when where it is not RFC 3339, otherwise empty

	By      websync.Person // zero: not stated
	Comment Text
	Links   []websync.Link
	Source  *Feed

	// Elements are the elements of other namespaces, signatures among them, in their
	// order.
	Elements []websync.Element

	Form TombstoneForm

	Lang string // BCP 47: xml:lang of the tombstone, or of the feed around it; "und" if the tombstone takes that back
	Base string

	// Line and Column say where the tombstone starts, from 1; the column counts bytes of
	// UTF-8. Writers ignore them.
	Line, Column int
}

// An Item is what a feed lists: an entry or a tombstone. One of the two is set.
type Item struct {
	Entry     *Entry
	Tombstone *Tombstone
}

// ID returns the id of the entry that is there or gone.
func (i Item) ID() string {
	if i.Tombstone != nil {
		return i.Tombstone.Ref
	}
	return i.Entry.ID
}

// Time returns updated of an entry, when of a tombstone.
func (i Item) Time() websync.Datetime {
	if i.Tombstone != nil {
		return i.Tombstone.When
	}
	return i.Entry.Updated
}
