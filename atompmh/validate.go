package atompmh

import (
	"fmt"
	"hash/maphash"
	"io"
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// Validate reads one document as [atom.Validate] does, and reports every departure from
// Atom-PMH, too: see [Rules]. Of a feed of several documents it sees one: whether they
// fit together is for [NewChainValidator].
//
// Besides the memory of atom.Validate it needs about 60 bytes for each record.
func Validate(src io.Reader, o atom.ValidateOptions) (atom.Summary, error) {
	var c checker
	o.Item, o.Feed = c.item(o.Item), c.feed(o.Feed)
	return atom.Validate(src, o)
}

// NewChainValidator returns an [atom.ChainValidator] that also checks the rules of
// Atom-PMH, of each document and of all together. Its other fields may be set before the
// first call. It needs about 60 bytes more for each record.
func NewChainValidator() *atom.ChainValidator {
	var c checker
	return &atom.ChainValidator{Item: c.item(nil), Feed: c.feed(nil)}
}

// A checker checks the documents of a feed, from the newest to the oldest.
type checker struct {
	seed    maphash.Seed
	records map[uint64]state // by the hash of an id: the latest state in the documents before
	whole   bool             // one of them is marked as complete
	lowest  websync.Datetime // the earliest time in the last of them that has any
	any     bool             // there is one

	// The current document.
	here           map[uint64]state
	faults         map[uint64]fault // of the latest states
	oldest, newest websync.Datetime
	entries        int
	deletions      int
}

// A state is what an entry states of its record.
type state struct {
	at      websync.Datetime
	deleted bool
}

// A fault of an entry is reported if the entry turns out to be the latest of its record.
type fault struct {
	rule    atom.Rule
	element string
	message string
	report  atom.ReportFunc
	n       int // the number of the entry in its document
}

// item returns the function that checks an item of the current document, after other.
func (c *checker) item(other func(*atom.Item, atom.ReportFunc)) func(*atom.Item, atom.ReportFunc) {
	c.seed, c.records = maphash.MakeSeed(), make(map[uint64]state)
	c.begin()
	return func(item *atom.Item, report atom.ReportFunc) {
		if other != nil {
			other(item, report)
		}
		if e := item.Entry; e != nil {
			c.entry(e, report)
		} else {
			report(ruleTombstone, "deleted-entry", item.ID(),
				"readers of Atom-PMH may not know it: a deletion entry has no alternate link and an empty content")
		}
	}
}

func (c *checker) begin() {
	c.here, c.faults = make(map[uint64]state), make(map[uint64]fault)
	c.oldest, c.newest, c.entries, c.deletions = websync.Datetime{}, websync.Datetime{}, 0, 0
}

func (c *checker) entry(e *atom.Entry, report atom.ReportFunc) {
	kind, err := kindOf(e, report)
	if err != nil {
		report(ruleType, "entry", e.ID, err.Error())
		return
	}
	if c.entries++; kind == deletion {
		c.deletions++
	}
	at := e.Updated
	if at.IsZero() {
		return // which package atom reports
	}
	if c.oldest.IsZero() || at.Time().Before(c.oldest.Time()) {
		c.oldest = at
	}
	if c.newest.IsZero() || at.Time().After(c.newest.Time()) {
		c.newest = at
	}
	c.add(e, state{at, kind == deletion}, report)
}

// add compares an entry with the others of its record.
func (c *checker) add(e *atom.Entry, s state, report atom.ReportFunc) {
	key := maphash.String(c.seed, e.ID)
	if newer, ok := c.records[key]; ok && newer.at.Time().Equal(s.at.Time()) {
		if f := sameTime(newer, s); f.rule.Name != "" {
			report(f.rule, f.element, e.ID, f.message+", in a newer document")
		}
	}
	held, known := c.here[key]
	switch {
	case known && held.at.Time().After(s.at.Time()):
		return
	case known && held.at.Time().Equal(s.at.Time()):
		f := sameTime(held, s)
		f.report, f.n = report, c.entries
		c.faults[key] = f
		s.deleted = s.deleted || held.deleted
	case !s.deleted && !hasType(e.Links):
		c.faults[key] = fault{ruleAlternateType, "link", "one alternate link at least must state a media type", report, c.entries}
	default:
		delete(c.faults, key)
	}
	c.here[key] = s
}

// sameTime returns the fault of two entries of one record and time.
func sameTime(a, b state) fault {
	switch {
	case a.deleted && b.deleted:
		return fault{rule: ruleDeletionTwice, element: "entry", message: "another deletion entry of the record has the same time"}
	case a.deleted || b.deleted:
		return fault{rule: ruleSameTime, element: "updated", message: "another entry of the record has the same time"}
	}
	return fault{rule: ruleActiveTwice, element: "entry", message: "another entry of the record has the same time"}
}

// hasType reports whether an alternate link states its media type.
func hasType(links []websync.Link) bool {
	for _, l := range alternates(links) {
		if l.Type != "" {
			return true
		}
	}
	return false
}

// feed returns the function that checks the current document at its end, after other.
func (c *checker) feed(other func(*atom.Feed, atom.ReportFunc)) func(*atom.Feed, atom.ReportFunc) {
	return func(f *atom.Feed, report atom.ReportFunc) {
		if other != nil {
			other(f, report)
		}
		c.times(f, report)
		c.complete(f, report)
		for _, l := range f.Links {
			if isPaging(l) {
				report(rulePaged, "link", l.Rel, "a link "+l.Rel+" does not lead to another document of the feed")
			}
		}
		var faults []fault
		for key, f := range c.faults {
			if newer, ok := c.records[key]; !ok || newer.at.Time().Before(c.here[key].at.Time()) {
				faults = append(faults, f)
			}
		}
		slices.SortFunc(faults, func(a, b fault) int { return a.n - b.n })
		for _, f := range faults {
			f.report(f.rule, f.element, "", f.message)
		}
		for key, s := range c.here {
			if newer, ok := c.records[key]; !ok || newer.at.Time().Before(s.at.Time()) {
				c.records[key] = s
			}
		}
		if !c.oldest.IsZero() {
			c.lowest = c.oldest
		}
		c.any = true
		c.begin()
	}
}

// times checks the updated of a document.
func (c *checker) times(f *atom.Feed, report atom.ReportFunc) {
	if f.Updated.IsZero() {
		return
	}
	updated := f.Updated.Time()
	if !c.newest.IsZero() && updated.Before(c.newest.Time()) {
		report(ruleUpdated, "updated", f.Updated.String(), "an entry is of "+c.newest.String())
	}
	if !c.lowest.IsZero() && updated.After(c.lowest.Time()) {
		report(ruleReferee, "updated", f.Updated.String(),
			"an entry of the document that links to this one is of "+c.lowest.String())
	}
}

// complete checks whether the documents that are marked as complete are.
func (c *checker) complete(f *atom.Feed, report atom.ReportFunc) {
	lacking, outdated, more := c.differences()
	if c.whole && more > 0 {
		report(ruleComplete, "feed", "",
			fmt.Sprintf("a newer document has fh:complete, and lacks %d active entries of this one", more))
	}
	if !f.Complete {
		_, archived := f.Link("prev-archive")
		if !c.any && !archived && !f.Archive && c.deletions == 0 && len(c.here) > 0 {
			report(ruleCompleteMissing, "feed", "", "it has all active entries, and should have fh:complete")
		}
		return
	}
	c.whole = true
	if lacking > 0 || outdated > 0 {
		report(ruleComplete, "complete", "",
			fmt.Sprintf("the document lacks %d active entries of newer ones, and has %d that these delete", lacking, outdated))
	}
	if c.deletions > 0 {
		report(ruleCompleteDeletion, "complete", "",
			fmt.Sprintf("a feed with deletion entries, of which there are %d, should not have it", c.deletions))
	}
}

// differences counts how the document differs from the newer ones: active entries that
// only they have, entries that they delete, and active entries that only it has.
func (c *checker) differences() (lacking, outdated, more int) {
	for key, newer := range c.records {
		held, ok := c.here[key]
		switch live := ok && !held.deleted; {
		case !newer.deleted && !live:
			lacking++
		case newer.deleted && live:
			outdated++
		}
	}
	for key, s := range c.here {
		if _, newer := c.records[key]; !newer && !s.deleted {
			more++
		}
	}
	return lacking, outdated, more
}
