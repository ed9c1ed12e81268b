package websync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// ErrCatalog: a [Catalog] breaks its contract. That is a fault of the program, not of its
// data.
var ErrCatalog = errors.New("not what a Catalog holds")

// A Catalog is what a [Publisher] reads: the records of one or more sources and the log
// of their changes. Every Store of package harvest is one. Package publish/catalogtest
// checks an implementation against this contract.
//
// A Catalog is safe for concurrent use. Arguments and results are copied: what the caller
// does later to either does not reach the Catalog.
//
// No lock, connection or transaction is held across a yield: any method may be called
// inside the loop, and the loop may take days. An iterator yields at most one error, as
// the last thing. It ends at the head that was there when it began: Resources yields no
// Born, and Changes no Seq, that was given out since. So a loop that adds to the Catalog
// in each step comes to its end.
//
// Publishers make URLs, ETags and links of the numbers and keys of a Catalog. So the
// first generation is 1, Seq and Born are at least 1, and the Key of a body is zero or a
// SHA-256. A Publisher refuses others with [ErrCatalog]. Package publish/catalogtest
// checks anybody's Catalog.
type Catalog interface {
	// Head returns where the log stands. It counts nothing, so it is cheap enough to ask
	// before every answer.
	Head(ctx context.Context) (Head, error)

	// Get returns the records of ids in one source, live or deleted. The result has the
	// length and order of ids; an unknown id gives the zero [Item].
	Get(ctx context.Context, source string, ids []string) ([]Item, error)

	// Resources yields the live records in the order of Born. r limits the sources and,
	// by After and Until, Born.
	Resources(ctx context.Context, r Range) iter.Seq2[Item, error]

	// Changes yields the log in the order of Seq: every put and every deletion,
	// superseded ones too. r limits the generation, the sources and, by After and Until,
	// Seq. An unknown generation is [ErrNotFound].
	Changes(ctx context.Context, r Range) iter.Seq2[Item, error]

	// Open opens the bytes of a body. The caller closes them. A body that is no longer
	// kept is [ErrNotFound].
	Open(ctx context.Context, b Body) (io.ReadSeekCloser, error)
}

// A Head tells where a log stands: what ETags, indexes and the times of a list are made
// of.
type Head struct {
	Generation uint64 // the newest; the first is 1

	// First and Last are the smallest and the greatest number of the newest generation;
	// both are 0 when it is empty.
	First, Last Seq
	// FirstTime and LastTime are the times of these two entries, whole microseconds UTC.
	// Times never go back: a LastTime that lies ahead of the clock comes from a clock
	// that was once ahead. Later entries go on from it, a microsecond apart, until the
	// clock has caught up.
	FirstTime, LastTime time.Time

	Born Seq              // the greatest Born given out
	Live map[string]int64 // live records by source
}

// Check returns [ErrCatalog] with the reason if no Catalog can be in the state h.
func (h Head) Check() error {
	switch {
	case h.Generation == 0:
		return fmt.Errorf("%w: Head.Generation is 0, the first is 1", ErrCatalog)
	case h.First > h.Last || (h.First == 0) != (h.Last == 0):
		return fmt.Errorf("%w: Head.First is %d and Head.Last is %d", ErrCatalog, h.First, h.Last)
	}
	return nil
}

// Total returns the number of live records of the given sources, each named once; of all
// sources if none is given.
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

// A Range says which items to read: those with After < n <= Until. The zero Range is all
// of them.
type Range struct {
	Sources    []string // none: all
	Generation uint64   // of the log, for Changes only; 0: the newest
	After      Seq
	Until      Seq // 0: no end
}

// A State holds small named values. It is safe for concurrent use. An empty value and no
// value are the same.
type State interface {
	// State returns the value of key, or nil if there is none. The caller may change the
	// result.
	State(ctx context.Context, key string) ([]byte, error)

	// Swap sets the value of key to new if it is old, or else returns [ErrConflict] and
	// changes nothing. A nil old creates the value, a nil new deletes it. The arguments
	// are not kept.
	Swap(ctx context.Context, key string, old, new []byte) error
}
