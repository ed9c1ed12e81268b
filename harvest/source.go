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
// directory. It turns the publisher's documents into events. The package documentation
// lists the rules that Sources keep.
//
// A Source may have three more methods. Check() error returns what is wrong with its
// settings; the engine calls it first. Root() string returns the URL that the user gave,
// whose host may have a private address; without it the Key is that URL, if it is one.
// TwoLists() bool reports whether its log and its snapshots are two lists, each of which
// states a time of its own for one change. Then a time is compared with the last one of
// the same list: Event.Listed, of an entry of a snapshot, with Stated.Modified, and the
// Modified of all others with Stated.At.
type Source interface {
	// Key is the source's stable identity in a Store. It is given by the user and
	// defaults to the URL.
	Key() string

	// Events yields everything, or what changed since run.From, oldest first. A yielded
	// error is the last thing yielded. When ctx ends, Events yields the context's error.
	// It holds no connection, lock or cursor while yield runs, because yield may block
	// for days.
	Events(ctx context.Context, run *Run) iter.Seq2[Event, error]
}

// Host returns the host of a Source: scheme, name and port of the URL that the user gave.
// If there is no such URL, it is the Key.
func Host(src Source) string {
	u, err := url.Parse(rootOf(src))
	if err != nil || u.Host == "" {
		return src.Key()
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// A Getter is a Source that obtains the bodies of a resource itself: several
// representations, a choice of formats, a second level of documents, a patch, bytes
// without a URL. The engine calls Get from several goroutines.
type Getter interface {
	Source

	// Get obtains the bodies of job.Resource and hands them to job.Keep or job.Reuse.
	// job.Came opens the bytes that came with the event. job.Content does what the engine
	// does for a Source that is no Getter. job.Obtain fetches a link and keeps it as a
	// body. Get may change job.Resource, apart from its ID, according to the bytes. It
	// returns one of five answers:
	//
	//   - nil: the resource has the bodies that were kept or reused, and no others. They
	//     become visible all at once.
	//   - nil after job.ReuseAll: nothing is new. The resource keeps the bodies that the
	//     Store holds.
	//   - An error that matches websync.ErrGone: the resource no longer exists. Its text
	//     is the evidence, for example fmt.Errorf("the index of %s omits it: %w",
	//     package, websync.ErrGone). It counts as a failed attempt. If the last two of
	//     Harvester.Attempts return it, the resource is gone: it is counted in Left.Gone,
	//     no longer asked for, and deleted if Harvester.DeleteGone is set.
	//   - An error that matches ErrNotYet, for example that of job.NotYet: try later. It
	//     does not count as a failed attempt, and never parks the task. The next run
	//     tries again or, if RetryAfter finds a time in the error, the first run after
	//     that time.
	//   - Any other error, or a panic: the attempt failed. The record and its bodies stay,
	//     and a task is stored to try again, not before the time that RetryAfter finds in
	//     the error.
	//     After Harvester.Attempts the task is parked.
	Get(ctx context.Context, job *Job) error
}

// A Run is what the engine gives a Source for one pass. The engine sets every field; a
// program that calls Events itself may leave any of them zero, so a Source takes its Run
// from WithDefaults.
type Run struct {
	// From is where the last run ended; zero means from the beginning.
	From Checkpoint

	// Full asks for a pass from the beginning. From is zero, and the Source uses nothing
	// that earlier runs kept.
	Full bool

	// Fetcher gets documents, and the engine counts the requests. If nil, every Fetch
	// returns an error.
	Fetcher Fetcher

	// Report receives departures of the documents from their specifications. It may be
	// called from several goroutines. If nil, they are dropped.
	Report func(websync.Finding)

	// Expect receives the number of events of the whole pass, as soon as the Source knows
	// it, and again if it knows better. If nil, it is dropped.
	Expect func(total int64)

	// Document receives each document that lists resources of a complete snapshot, when it
	// was read to its end, before the SnapshotEnd. The engine compares it with the same
	// document of the last complete snapshot. If nil, it is dropped.
	Document func(ListedDocument)

	// Sample is Harvester.Sample. A Source that does not ask for a document because of
	// what another one states of it asks for a sample of such documents: see SampleSize.
	Sample int

	// Log receives what a Source logs. If nil, nothing is logged.
	Log *slog.Logger
}

// SampleSize returns how many of n documents that seem unchanged a Source asks for.
func (r *Run) SampleSize(n int) int { return int(min(sampleSize(r.Sample, int64(n)), int64(n))) }

// WithDefaults returns a copy of r in which Fetcher, Report, Expect, Document and Log are
// not nil.
// In place of a missing one it sets one that does nothing; the Fetch of such a
// Fetcher returns an error. A nil r counts as a zero Run.
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
	if run.Log == nil {
		run.Log = slog.New(slog.DiscardHandler)
	}
	return &run
}

// A noFetcher replaces a Fetcher that is missing.
type noFetcher struct{ err error }

func (f noFetcher) Fetch(context.Context, *Request) (*Response, error) { return nil, f.err }

// Of returns a Source that yields the given events in each pass, whatever the checkpoint.
// It serves tests, and it fills a Store by hand.
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
