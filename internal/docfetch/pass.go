package docfetch

import (
	"cmp"
	"errors"
	"fmt"
	"iter"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// A Pass is one run of a Source.
type Pass struct {
	*harvest.Run
	Format string // of errors: the name of the Source's package
	Accept string // header of requests

	yield      func(harvest.Event, error) bool
	listed     int64 // puts and deletions
	stopped    bool
	incomplete bool
}

// ErrStopped is the error of a Pass after the caller has left the loop: nothing more may
// be yielded.
var ErrStopped = errors.New("stopped")

// Events returns the iterator of a Source. It calls walk with a Pass that has the fields
// of p and run, and yields the error of walk last.
func (p Pass) Events(run *harvest.Run, walk func(*Pass) error) iter.Seq2[harvest.Event, error] {
	return func(yield func(harvest.Event, error) bool) {
		pass := p
		pass.Run, pass.yield = run.WithDefaults(), yield
		if err := walk(&pass); err != nil && !pass.stopped && !errors.Is(err, ErrStopped) {
			yield(harvest.Event{}, err)
		}
	}
}

// Yield yields an event, which may be that of another Source. After a Problem no event
// has a Resume, and no snapshot is Complete or Whole.
func (p *Pass) Yield(ev harvest.Event) error {
	p.incomplete = p.incomplete || ev.Kind == harvest.Problem
	if p.incomplete {
		ev.Resume, ev.Complete, ev.Whole = harvest.Checkpoint{}, false, false
	}
	if ev.Kind == harvest.Put || ev.Kind == harvest.Delete {
		p.listed++
	}
	if !p.yield(ev, nil) {
		p.stopped = true
		return ErrStopped
	}
	return nil
}

// ExpectMore calls Expect with n puts and deletions more than were yielded.
func (p *Pass) ExpectMore(n int) { p.Expect(p.listed + int64(n)) }

// Problem yields a Problem.
func (p *Pass) Problem(err error) error {
	return p.Yield(harvest.Event{Kind: harvest.Problem, Err: err})
}

// Incomplete reports whether there was a Problem.
func (p *Pass) Incomplete() bool { return p.incomplete }

// Mark yields a Mark.
func (p *Pass) Mark(resume harvest.Checkpoint, skipped int) error {
	return p.Yield(harvest.Event{Kind: harvest.Mark, Resume: resume, Skipped: skipped})
}

// Drain yields a Mark that lets the engine read what came along with the events so far.
func (p *Pass) Drain() error { return p.Mark(harvest.Checkpoint{}, 0) }

// Snapshot yields a SnapshotStart, what list yields, and the event that end returns.
func (p *Pass) Snapshot(list func() error, end func() harvest.Event) error {
	if err := p.Yield(harvest.Event{Kind: harvest.SnapshotStart}); err != nil {
		return err
	}
	if err := list(); err != nil {
		return err
	}
	ev := end()
	ev.Kind = harvest.SnapshotEnd
	return p.Yield(ev)
}

// CheckURL returns an error if a Source of a package has no URL.
func CheckURL(format, url string) error {
	if url == "" {
		return fmt.Errorf("%s: Source.URL is empty", format)
	}
	return nil
}

// CheckLimit returns an error, with the URL of a document, if n documents are as many as
// may be read. If limit is zero, it is DefaultDocuments; if negative, there is no limit.
func (p *Pass) CheckLimit(url string, n, limit int) error {
	if limit = cmp.Or(limit, DefaultDocuments); limit < 0 || n < limit {
		return nil
	}
	return p.Named(url, fmt.Errorf("more than %d documents: %w", limit, websync.ErrLimit))
}

// Named returns err with the URL of its document, unless it has one already.
func (p *Pass) Named(url string, err error) error { return Named(p.Format, url, err) }

// Named returns err, of a document of a format, with the URL of the document, unless it
// has one already.
func Named(format, url string, err error) error {
	var parse *websync.ParseError
	if errors.As(err, &parse) && parse.Document != "" {
		return err
	}
	return &websync.ParseError{Format: format, Document: url, Err: err}
}

// Skipped returns the error for entries of the set at url that were skipped.
func Skipped(format, url string, entries int) error {
	return Named(format, url, fmt.Errorf("%d entries can't be read, or may be lost in what is damaged", entries))
}
