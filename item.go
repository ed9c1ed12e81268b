package websync

import (
	"fmt"
	"time"
)

// A Seq numbers the entries of a log of changes, or ids in the order of their first
// appearance. The first is 1; 0 is before all.
type Seq uint64

// A ChangeKind is what happened to a resource. Its text is the value that ResourceSync
// defines (Z39.99 §7).
type ChangeKind uint8

const (
	Updated ChangeKind = iota
	Created
	Deleted
)

var changeKinds = [...]string{Updated: "updated", Created: "created", Deleted: "deleted"}

// String returns "updated", "created" or "deleted".
func (k ChangeKind) String() string {
	if int(k) < len(changeKinds) {
		return changeKinds[k]
	}
	return fmt.Sprintf("ChangeKind(%d)", uint8(k))
}

// MarshalText implements [encoding.TextMarshaler].
func (k ChangeKind) MarshalText() ([]byte, error) {
	if int(k) >= len(changeKinds) {
		return nil, fmt.Errorf("ChangeKind %d is not Updated, Created or Deleted", uint8(k))
	}
	return []byte(changeKinds[k]), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. It accepts the three values only.
func (k *ChangeKind) UnmarshalText(text []byte) error {
	for i, name := range changeKinds {
		if string(text) == name {
			*k = ChangeKind(i)
			return nil
		}
	}
	return fmt.Errorf(`change %.40q is not "updated", "created" or "deleted"`, text)
}

// A Body is one stored representation of a resource.
type Body struct {
	// unique within its resource: "content", "alternate application/rdf+xml", "graph";
	// see Resource.BodyName
	Name string
	Link Link // as received
	// SHA-256 of the bytes, for [Catalog] Open; zero: the bytes were verified and not
	// kept
	Key Digest
}

// An Item is a record of a [Catalog], or an entry of its log. The zero Item stands for an
// unknown id.
type Item struct {
	Seq  Seq       // number in the log
	Born Seq       // number of the id's first appearance
	Time time.Time // of the commit: whole microseconds, UTC

	// Prior is the Seq of the id's preceding entry in the same generation of the log. If
	// zero, there is none, or the Catalog does not know it.
	Prior Seq

	Source   string
	Kind     ChangeKind
	At       Datetime // of the change, as the publisher states it
	Resource Resource
	Bodies   []Body
}

// Check returns [ErrCatalog] with the reason if i breaks the contract of [Catalog].
func (i *Item) Check() error {
	if i.Prior > 0 && i.Prior >= i.Seq {
		return fmt.Errorf("%w: entry %d of %.200q has the Prior %d, which must be less",
			ErrCatalog, i.Seq, i.Resource.ID, i.Prior)
	}
	for _, b := range i.Bodies {
		if !b.Key.IsZero() && (b.Key.Algorithm != "sha-256" || !b.Key.Known()) {
			return fmt.Errorf("%w: body %q of %.200q has the key %q, which is not a SHA-256",
				ErrCatalog, b.Name, i.Resource.ID, b.Key)
		}
	}
	return nil
}

// Body returns the body with the given name.
func (i *Item) Body(name string) (Body, bool) {
	for _, b := range i.Bodies {
		if b.Name == name {
			return b, true
		}
	}
	return Body{}, false
}
