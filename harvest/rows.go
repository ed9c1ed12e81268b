package harvest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/websync-go/websync"
)

// Rows is a Source over a table of a database, or anything else that a program can list.
// A run compares all rows with the records: the Catalog keeps the history, so the table
// need not.
//
// A run lists a complete snapshot: missing rows are deleted, within the delete guard. If
// Query fails, the run ends with its error, keeps the rows before it, and deletes no
// missing one. Query goes on while bytes are read: Open needs another connection to the
// database.
type Rows struct {
	// Name is the Key. It is required.
	Name string
	// Query yields all rows, in any order. An error is the last thing it yields. When ctx
	// ends, so does Query. It is required.
	Query func(ctx context.Context) iter.Seq2[Row, error]
}

// A Row is a resource. Its bytes are read when it is new, when Modified has changed or is
// zero, and with [Harvester].Recheck.
type Row struct {
	ID    string // a URI; required
	Title string
	Type  string // media type of the bytes
	// Modified is the time of the last change; zero if it is not known. If nothing else
	// has changed, the log gets no entry.
	Modified time.Time
	// Deleted states that the resource is gone since Modified, which must not be earlier
	// than before. Harvester.MaxDelete does not limit this, MaxDeletes does.
	Deleted bool
	// Open opens the bytes. It is called from several goroutines, also after Query has
	// ended. If it fails, that is a Problem: the run deletes no missing row, and the next
	// one tries again. If nil, the resource is a description only.
	Open func(ctx context.Context) (io.ReadCloser, error)
}

var _ Source = (*Rows)(nil)

// Key returns Name.
func (s *Rows) Key() string { return s.Name }

// Check returns an error if the settings are not valid.
func (s *Rows) Check() error {
	switch {
	case s.Name == "":
		return errors.New("harvest: Rows.Name is empty")
	case s.Query == nil:
		return errors.New("harvest: Rows.Query is nil")
	}
	return nil
}

// Events implements [Source].
func (s *Rows) Events(ctx context.Context, _ *Run) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if !yield(Event{Kind: SnapshotStart}, nil) {
			return
		}
		for row, err := range s.Query(ctx) {
			if err != nil {
				yield(Event{}, fmt.Errorf("harvest: the Query of the Rows %q: %w", s.Name, err))
				return
			}
			if !yield(row.event(ctx), nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil { // Query may have ended without an error
			yield(Event{}, err)
			return
		}
		yield(Event{Kind: SnapshotEnd, Complete: true}, nil)
	}
}

func (r *Row) event(ctx context.Context) Event {
	e := Event{Resource: websync.Resource{ID: r.ID, Title: r.Title, Content: websync.Link{Type: r.Type}}}
	if !r.Modified.IsZero() {
		e.Resource.Modified = websync.NewDatetime(r.Modified)
	}
	switch {
	case r.Deleted:
		e.Kind = Delete
	case r.Open != nil:
		e.Open = func() (io.ReadCloser, error) { return r.Open(ctx) }
		e.Recheck = r.Modified.IsZero()
	}
	return e
}
