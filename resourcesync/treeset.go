package resourcesync

import (
	"fmt"
	"hash/maphash"

	"github.com/websync-go/websync"
)

// A tally is what is known of a list of entries in any order: their number, and the sum
// of their hashes.
type tally struct {
	n   int
	sum uint64
}

func (s *tally) add(o tally) { s.n, s.sum = s.n+o.n, s.sum+o.sum }

// tallyOf returns the tally of one entry of which only these values count.
func tallyOf[T comparable](seed maphash.Seed, values T) tally {
	return tally{1, maphash.Comparable(seed, values)}
}

// A namedEntry is what the lists of one set must agree on.
type namedEntry struct {
	loc    string
	change Change
}

// A bitstreamEntry is what two copies of a manifest must agree on.
type bitstreamEntry struct {
	namedEntry
	lastMod, datetime                        websync.Datetime
	hash, path, mediaType, encoding, modText string
	length                                   int64
}

// tally counts an entry of a list of resources, of changes or of bitstreams.
func (t *tree) tally(n *node, f *form, e *Entry) {
	if f.index || f.capability != ResourceList && !f.changes && !f.manifest {
		return
	}
	named, m := namedEntry{e.Loc, e.Metadata.Change}, &e.Metadata
	n.listed.add(tallyOf(t.seed, named))
	if f.manifest {
		n.all.add(tallyOf(t.seed, bitstreamEntry{
			named, e.LastMod.UTC(), m.Datetime.UTC(), m.Digests.String(), m.Path, m.Type, m.Encoding, e.LastModText, m.Length,
		}))
	}
}

// An interval is that of a closed list of changes, in UTC.
type interval struct{ from, until websync.Datetime }

// A set is the set of resources of one Capability List (Z39.99 §9).
type set struct {
	top *node // the Capability List

	snapshots, logs []*node              // the documents that it lists
	closed          map[interval][2]side // of each closed interval: the Change List, and the packages
}

// A side is one of two documents that must agree.
type side struct {
	url string
	tally
}

// finish is called with a document when it and all documents below it have been checked.
func (t *tree) finish(n *node) {
	for ; n != nil && n.pending == 0; n = n.above {
		t.agree(n)
		if above := n.above; above != nil {
			above.listed.add(n.listed)
			above.partial = above.partial || n.partial
			above.pending--
		}
	}
}

// agree compares a document, with all below it, with the other documents of its set.
func (t *tree) agree(n *node) {
	s, m := n.set, &n.head.Metadata
	switch {
	case s == nil:
	case n == s.top:
		t.compareSnapshots(s)
	case m.Capability == ResourceList, m.Capability == ResourceDump:
		if n.above == s.top {
			s.snapshots = append(s.snapshots, n)
		}
	case m.Capability == ChangeList, m.Capability == ChangeDump, m.Capability == ChangeDumpManifest:
		if n.above == s.top {
			s.logs = append(s.logs, n)
		}
		t.compareChanges(s, n)
	}
}

// compareSnapshots compares the Resource List of a set with its Resource Dump, if they
// are of one moment, and both with where the lists of changes begin.
func (t *tree) compareSnapshots(s *set) {
	for i, a := range s.snapshots {
		ma := &a.head.Metadata
		for _, b := range s.snapshots[:i] {
			mb := &b.head.Metadata
			ofOne := !ma.At.IsZero() && ma.At.UTC() == mb.At.UTC() && ma.Completed.UTC() == mb.Completed.UTC()
			if ofOne && ma.Capability != mb.Capability && !a.partial && !b.partial && a.listed != b.listed {
				message := differ("resources", a.listed, b.listed, b.url) + " of the same at and completed"
				t.report(ruleTreeSet, a.url, "", "", message)
			}
		}
		for _, log := range s.logs {
			if from := log.head.Metadata.From; from.After(ma.At) {
				t.report(ruleTreeGap, log.url, "md", from.String(), "from is after "+ma.At.String()+", the at of "+a.url)
			}
		}
	}
}

// compareChanges compares a closed list of changes with the packages of its interval.
func (t *tree) compareChanges(s *set, n *node) {
	m := &n.head.Metadata
	if n.partial || m.From.IsZero() || m.Until.IsZero() {
		return
	}
	at, own, other := interval{m.From.UTC(), m.Until.UTC()}, 0, 1
	if m.Capability != ChangeList {
		own, other = 1, 0
	}
	sides := s.closed[at]
	if sides[own].url != "" {
		return // an index and its only part
	}
	sides[own] = side{n.url, n.listed}
	if s.closed == nil {
		s.closed = make(map[interval][2]side)
	}
	s.closed[at] = sides
	if b := sides[other]; b.url != "" && b.tally != n.listed {
		t.report(ruleTreeSet, n.url, "", "", differ("changes", n.listed, b.tally, b.url)+" of the same from and until")
	}
}

func differ(what string, here, there tally, url string) string {
	if here.n == there.n {
		return fmt.Sprintf("%d %s, but not those of %s", here.n, what, url)
	}
	return fmt.Sprintf("%d %s, but %d in %s", here.n, what, there.n, url)
}
