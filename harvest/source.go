package harvest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/url"
	"strings"

	"github.com/websync-go/websync"
)

// A Source is one set of resources: one sitemap, one feed, one Capability List, one
// directory. The package documentation has the rules for Sources.
//
// A Source may have three more methods:
//
//   - Check() error returns what is wrong with its settings. The engine calls it first.
//   - Root() string returns the URL that the user gave, whose host may have a private
//     address. Without it the Key is that URL, if it is one.
//   - TwoLists() bool reports whether its log and its snapshots are two lists with times
//     of their own for one change, such as a feed beside a sitemap. A time is then
//     compared with the last one of the same list, in which any other time states a
//     change: that is Stated.Modified for an Event.Listed, and Stated.At for all other
//     times.
type Source interface {
	// Key is the source's stable identity in a Catalog. It is given by the user and
	// defaults to the URL.
	Key() string
	// Events yields everything, or what changed since run.From, oldest first. An error is
	// the last thing it yields. When ctx ends, it yields the context's error. It holds no
	// connection, lock or cursor while yield runs: yield may block for days.
	Events(ctx context.Context, run *Run) iter.Seq2[Event, error]
}

// Host returns scheme, name and port of the URL that the user gave for a Source, or the
// Key if there is no such URL.
func Host(src Source) string {
	u, err := url.Parse(rootOf(src))
	if err != nil || u.Host == "" {
		return src.Key()
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// rootOf returns the URL that the user gave for src, "" if there is none.
func rootOf(src Source) string {
	if r, ok := src.(interface{ Root() string }); ok {
		return r.Root()
	}
	if u, err := url.Parse(src.Key()); err == nil && u.Host != "" {
		return src.Key()
	}
	return ""
}

// A Getter is a Source that obtains the bodies of a resource itself: several
// representations, a choice of formats, a second level of documents, a patch, bytes
// without a URL. The engine calls Get from several goroutines.
type Getter interface {
	Source
	// Get obtains the bodies of job.Resource by the methods of job. It may change
	// job.Resource, except its ID, according to the bytes. It returns
	//
	//   - nil: the resource has the bodies that were kept or reused, and no others. They
	//     become visible all at once. After job.ReuseAll it keeps those that it had.
	//   - an error that matches websync.ErrGone: the resource no longer exists, for the
	//     reason in the error's text. It counts as a failed attempt. If the last two of
	//     Harvester.Attempts return it, the resource is gone: see OutcomeGone.
	//   - an error that matches ErrNotYet, such as that of job.NotYet: the next run tries
	//     again or, if RetryAfter finds a time in the error, the first run after that. It
	//     does not count as a failed attempt.
	//   - any other error, or panics: the attempt failed. The record and its bodies stay,
	//     and a task is stored to try again, not before the time that RetryAfter finds in
	//     the error. After Harvester.Attempts the task is parked.
	Get(ctx context.Context, job *Job) error
}

// A Run is what the engine gives a Source for one pass, with every field set. A program
// that calls Events may leave any of them zero, so a Source uses its Run WithDefaults.
type Run struct {
	// From is where the last run ended; zero means from the beginning.
	From Checkpoint
	// Full asks for a pass from the beginning. From is zero, and the Source uses nothing
	// that earlier runs kept.
	Full bool
	// Fetcher gets documents. If nil, every Fetch returns an error.
	Fetcher Fetcher
	// Report receives departures of the documents from their specifications. It may be
	// called from several goroutines. If nil, they are dropped.
	Report func(websync.Finding)
	// Expect receives the number of events of the whole pass as soon as the Source knows
	// it, and again if it knows better. If nil, it is dropped.
	Expect func(total int64)
	// Document receives each document that lists resources of a complete snapshot, once
	// it is read to its end and before the SnapshotEnd. The engine compares it with that
	// of the last complete snapshot. If nil, it is dropped.
	Document func(ListedDocument)
	// Known reports whether the document at a URL may be stated as Unchanged in a snapshot:
	// the last snapshot was complete, nothing of it was in doubt, the Catalog knows what the
	// document listed, and no page of it is asked for in each run. It may be called from
	// several goroutines. If nil, no document is known.
	Known func(url string) bool
	// Samples is set if the engine asks for a sample of what seems unchanged, also of
	// what Unchanged documents list: see Harvester.Sample. If it is not set, a complete
	// pass of which all documents are Unchanged needs no snapshot.
	Samples bool
	// Sample is Harvester.Sample. Of the documents that seem unchanged because another
	// one states so, a Source asks for a sample: see SampleSize.
	Sample int
	// Log receives what a Source logs. If nil, nothing is logged.
	Log *slog.Logger
}

// SampleSize returns how many of n documents that seem unchanged a Source asks for.
func (r *Run) SampleSize(n int) int { return int(min(sampleSize(r.Sample, int64(n)), int64(n))) }

// WithDefaults returns a copy of r in which no Fetcher, function or Log is nil: those
// that it sets do what the fields say for nil. A nil r counts as a zero Run.
func (r *Run) WithDefaults() *Run {
	var run Run
	if r != nil {
		run = *r
	}
	if run.Fetcher == nil {
		run.Fetcher = noFetcher{errors.New("harvest: Run.Fetcher is nil")}
	}
	if run.Report == nil {
		run.Report = func(websync.Finding) {}
	}
	if run.Expect == nil {
		run.Expect = func(int64) {}
	}
	if run.Document == nil {
		run.Document = func(ListedDocument) {}
	}
	if run.Known == nil {
		run.Known = func(string) bool { return false }
	}
	if run.Log == nil {
		run.Log = slog.New(slog.DiscardHandler)
	}
	return &run
}

// A noFetcher replaces a Fetcher that is missing.
type noFetcher struct{ err error }

func (f noFetcher) Fetch(context.Context, *Request) (*Response, error) { return nil, f.err }

// Of returns a Source that yields the given events in each pass, whatever the checkpoint.
// It is for tests, and fills a Catalog by hand.
func Of(key string, events ...Event) Source { return &fixed{key, events} }

type fixed struct {
	key    string
	events []Event
}

func (f *fixed) Key() string { return f.key }

func (f *fixed) Events(ctx context.Context, _ *Run) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for _, e := range f.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

var _ Source = (*fixed)(nil)

// OpenBytes returns an Event.Open for bytes in memory.
func OpenBytes(b []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
}
