package atompmh

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// An again is what the subscription document lists when it is read again because the
// links of an entry lead to nothing (Atom-PMH 1.0, Resolvability of URIs). It is read
// once in a run, and again only for an entry that is later than all it had. It needs 16
// bytes for each entry.
type again struct {
	mu      sync.Mutex
	covers  time.Time // entries that are later need another reading
	err     error     // of the reading
	seed    maphash.Seed
	entries []listed // in the order of their keys
}

// A listed is one entry.
type listed struct {
	key uint64 // the hash of the id, whose last bit is set for a deletion
	at  int64  // in microseconds
}

const deleted = 1

// forget makes the next call of find read the document.
func (a *again) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.covers, a.entries = time.Time{}, nil
}

// find returns the latest state of an id in the document; ok is false if there is none.
// The document must be as new as at.
func (a *again) find(id string, at time.Time, read func(each func(atom.Item)) error) (found state, ok bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.covers.IsZero() || a.covers.Before(at) {
		a.seed, a.entries, a.covers = maphash.MakeSeed(), nil, at
		a.err = read(a.add)
		slices.SortFunc(a.entries, func(a, b listed) int { return cmp.Compare(a.key, b.key) })
	}
	if a.err != nil {
		return state{}, false, a.err
	}
	key := maphash.String(a.seed, id) &^ deleted
	i, _ := slices.BinarySearchFunc(a.entries, key, func(e listed, key uint64) int { return cmp.Compare(e.key, key) })
	for ; i < len(a.entries) && a.entries[i].key&^deleted == key; i++ {
		e := a.entries[i]
		t := time.UnixMicro(e.at).UTC()
		if !ok || !t.Before(found.at.Time()) {
			found, ok = state{websync.NewDatetime(t), e.key&deleted != 0}, true
		}
	}
	return found, ok, nil
}

// add adds an item of the document.
func (a *again) add(item atom.Item) {
	key, t := maphash.String(a.seed, item.ID())&^deleted, item.Time().Time()
	if item.Tombstone != nil {
		key |= deleted
	}
	a.entries = append(a.entries, listed{key, t.UnixMicro()})
	if t.After(a.covers) {
		a.covers = t
	}
}
