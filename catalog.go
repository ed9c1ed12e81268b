package websync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// ErrCatalog reports that a [Catalog] breaks its contract: a fault of the program, not of
// its data.
var ErrCatalog = errors.New("not what a Catalog holds")

// A Catalog is what a [Publisher] reads: the records of one or more sources and the log
// of their changes. That of package harvest is one, and a [Log] is one in memory.
// Package publish/catalogtest checks an implementation against this contract.
//
// A Catalog is safe for concurrent use. It copies its arguments and results, so that the
// caller may change either afterwards.
//
// An iterator holds no lock, connection or transaction while it yields: the loop may call
// any method, and may take days. An iterator yields at most one error, as its last value.
// It ends at the head that was current when it began: Resources yields no Born, and
// Changes no Seq, that was assigned later. So a loop that adds to the Catalog in each
// step ends.
//
// Publishers derive URLs, ETags and links from the numbers and keys of a Catalog. So the
// first generation is 1, Seq and Born are at least 1, and the Key of a body is zero or a
// SHA-256. A Publisher refuses other values with [ErrCatalog].
type Catalog interface {
	// Head returns the state of the log. It counts nothing, so a Publisher can call it
	// before every answer.
	Head(ctx context.Context) (Head, error)

	// Get returns the records of ids in one source, live or deleted. The result has the
	// length and order of ids; the result for an unknown id is the zero [Item].
	Get(ctx context.Context, source string, ids []string) ([]Item, error)

	// Resources yields the live records in the order of Born. r limits the sources and,
	// by After and Until, Born.
	Resources(ctx context.Context, r Range) iter.Seq2[Item, error]

	// Changes yields the log in the order of Seq: every put and every deletion,
	// superseded ones too. r limits the generation, the sources, by After and Until Seq,
	// and by Since Time. It yields [ErrNotFound] for an unknown generation. A deletion
	// has no bodies; its Resource should have the Content that it had before, since
	// readers may know it by that URL.
	//
	// An entry should have a Prior if the log has an earlier one of its id: a Publisher
	// of URLs looks there which URL the resource had. A Catalog that does not know it has
	// the Prior 0 everywhere; readers then keep a URL that a live resource no longer has,
	// and a deletion names all URLs that its resource may have had. Get and Resources
	// return the Prior of the entry whose Seq they return.
	Changes(ctx context.Context, r Range) iter.Seq2[Item, error]

	// Open opens the bytes of a body; the caller closes them. It returns [ErrNotFound]
	// for a body that the Catalog no longer keeps.
	Open(ctx context.Context, b Body) (io.ReadSeekCloser, error)
}

// A Head is the state of a log. Publishers derive ETags, indexes and the times of lists
// from it.
type Head struct {
	Generation uint64 // the latest; the first is 1

	// First and Last are the smallest and the greatest number of the latest generation;
	// both are 0 if it is empty.
	First, Last Seq
	// FirstTime and LastTime are the times of these two entries, whole microseconds UTC.
	// Times never go back. If LastTime is ahead of the clock, the clock was once ahead;
	// the times of later entries continue from LastTime, a microsecond apart, until the
	// clock passes them.
	FirstTime, LastTime time.Time

	// Baseline is the number of the last entry of the first state: up to there the log
	// has what there was when it began, and after it changes. It is 0 as long as that
	// state is not complete, and if it is not known. Then it is the same as long as the
	// generation is.
	Baseline Seq

	Born Seq              // the greatest Born assigned
	Live map[string]int64 // live records by source
}

// Check returns [ErrCatalog] with the reason if h breaks the contract of [Catalog].
func (h Head) Check() error {
	switch {
	case h.Generation == 0:
		return fmt.Errorf("%w: Head.Generation is 0; the first generation is 1", ErrCatalog)
	case h.First > h.Last || (h.First == 0) != (h.Last == 0):
		return fmt.Errorf("%w: Head.First is %d and Head.Last is %d; both are 0 in an empty log, otherwise First is at most Last",
			ErrCatalog, h.First, h.Last)
	case h.Baseline > h.Last:
		return fmt.Errorf("%w: Head.Baseline is %d and Head.Last is %d; Baseline is at most Last", ErrCatalog, h.Baseline, h.Last)
	}
	return nil
}

// Total returns the number of live records of the given sources, or of all sources if
// none is given. No source may be given twice.
func (h Head) Total(sources ...string) int64 {
	var n int64
	if len(sources) == 0 {
		for _, live := range h.Live {
			n += live
		}
		return n
	}
	for _, s := range sources {
		n += h.Live[s]
	}
	return n
}

// An Outliner is a [Catalog] that knows something of its resources without reading them. A
// Publisher then need not read the whole log before its first answer.
type Outliner interface {
	// Outlines yields the resources of a range of Born, deleted ones too. r limits the
	// sources and Born. r.Generation is that of the latest Head; if the log has a newer
	// one, Outlines yields [ErrNotFound]. What changes meanwhile may be yielded as it is
	// before or after.
	Outlines(ctx context.Context, r Range) iter.Seq2[Outline, error]
}

// An Outline is what an [Outliner] knows of a resource.
type Outline struct {
	Born, Seq Seq
	Deleted   bool
	// Bytes limits the entry of a live resource in a list of any protocol, if Base has at
	// most [OutlineBase] bytes. If 0, it is not known.
	Bytes int64
	Links bool // an Element of XHTML may link to other resources
}

// OutlineBase is the length of a [Place].Base up to which [Outline].Bytes holds.
const OutlineBase = 64

// OutlineOf returns Bytes and Links of an item.
func OutlineOf(item *Item) Outline {
	const around, link, attribute, escaped, digest, alternate = 500, 400, 400, len("&quot;"), 100, 200
	r := &item.Resource
	n, links := around+escaped*(max(len(r.ID), len(r.Content.Href))+OutlineBase+len(r.Content.Type)), false
	add := func(l *Link) {
		n += link + escaped*(len(l.Href)+len(l.Rel)+len(l.Type)+len(l.Encoding)+OutlineBase+len(r.ID)) + digest*len(l.Digests)
		for _, a := range l.Attrs {
			n += attribute + escaped*(len(a.Space)+len(a.Local)+len(a.Value))
		}
	}
	for i := range r.Links {
		add(&r.Links[i])
	}
	for i := range item.Bodies {
		add(&item.Bodies[i].Link)
	}
	for i := range r.Elements {
		n += len(r.Elements[i].XML)
		if r.Elements[i].Space == "http://www.w3.org/1999/xhtml" {
			n += 2*len(r.Elements[i].XML) + OutlineBase + alternate
			links = true
		}
	}
	return Outline{Born: item.Born, Seq: item.Seq, Deleted: item.Kind == Deleted, Bytes: int64(n), Links: links}
}

// A Range selects items by number: those with After < n <= Until. The zero Range selects
// all.
type Range struct {
	Sources    []string // if empty, all
	Generation uint64   // of the log, for Changes only; if zero, the latest
	After      Seq
	Until      Seq // if zero, there is no end
	// Since selects entries whose Time is not before it, for Changes only. With After,
	// the later position counts. If zero, there is no such limit.
	Since time.Time
}

// FirstSince returns the number of the first entry of the log whose Time is not before t,
// and head.Last+1 if there is none. head is a Head of c. It is a binary search that reads
// one entry in each step, for Catalogs that have no quicker way to honour [Range].Since.
func FirstSince(ctx context.Context, c Catalog, head Head, t time.Time) (Seq, error) {
	first, end := max(head.First, 1), head.Last+1
	for first < end {
		middle := first + (end-first)/2
		var entry Item
		for item, err := range c.Changes(ctx, Range{Generation: head.Generation, After: middle - 1, Until: middle}) {
			if err != nil {
				return 0, err
			}
			entry = item
		}
		switch {
		case entry.Seq != middle:
			return 0, fmt.Errorf("%w: the log has no entry %d; Head.First is %d and Head.Last is %d",
				ErrCatalog, middle, head.First, head.Last)
		case entry.Time.Before(t):
			first = middle + 1
		default:
			end = middle
		}
	}
	return first, nil
}

// A State holds small named values. It is safe for concurrent use. An empty value and no
// value are the same.
type State interface {
	// State returns the value of key, or nil if there is none. The caller may change the
	// result.
	State(ctx context.Context, key string) ([]byte, error)

	// Swap sets the value of key to new if the value is old. Otherwise it changes nothing
	// and returns [ErrConflict]. If old is nil, Swap creates the value; if new is nil, it
	// deletes the value. It does not keep its arguments.
	Swap(ctx context.Context, key string, old, new []byte) error
}
