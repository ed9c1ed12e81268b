package harvest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// A Report says what a run did. Its JSON form is stable: names are added, never changed.
type Report struct {
	Source  string    `json:"source"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`

	// Complete: the source was listed to its end and every document of it was read. A run
	// of Work lists nothing and is complete.
	Complete bool `json:"complete"`
	// Snapshots counts the listings of everything there is that the source gave.
	Snapshots int `json:"snapshots"`
	// Events counts puts and deletions that the source told.
	Events int64 `json:"events"`
	// Skipped counts the entries that could not be read, or may be hidden in what was
	// read over. AcceptSkipped is that of the Harvester: the run may be in step all the
	// same.
	Skipped       int  `json:"skipped"`
	AcceptSkipped bool `json:"accept_skipped"`

	// What became of the events, and of the tasks that were carried out. What was
	// deferred and done in the same run counts for what was done.
	Created   int64 `json:"created"`
	Updated   int64 `json:"updated"`
	Deleted   int64 `json:"deleted"`
	Touched   int64 `json:"touched"`
	Unchanged int64 `json:"unchanged"`
	History   int64 `json:"history"`
	Deferred  int64 `json:"deferred"`
	Failed    int64 `json:"failed"` // parked ones included
	Gone      int64 `json:"gone"`   // by their server, which is not asked again
	Withheld  int64 `json:"withheld"`

	// Left counts what is left to do after the run.
	Left Left `json:"left"`

	// Requests by status, of lists and bodies; 0 stands for no answer. Fetched counts
	// bodies that were received, Bytes their bytes.
	Requests map[int]int64 `json:"requests"`
	Fetched  int64         `json:"fetched"`
	Bytes    int64         `json:"bytes"`

	// BudgetSpent: a limit of the Budget cut getting short.
	BudgetSpent bool `json:"budget_spent"`
	// Findings counts departures of documents from their specifications.
	Findings int64 `json:"findings"`
	// Problems are the first documents that could not be read, Failures the first
	// resources, up to 20 of each.
	Problems []Failure `json:"problems"`
	Failures []Failure `json:"failures"`
	// Guard says why this run withheld deletions; nil if it didn't.
	Guard *GuardError `json:"guard,omitempty"`

	// LogAhead is the time of the last entry of the Store's log when the run began, if
	// that is more than a minute ahead of the clock: the clock is wrong, or was once.
	// Until the clock gets there, new entries have times just after it.
	LogAhead time.Time `json:"log_ahead,omitzero"`

	// From and To are the checkpoints before and after.
	From Checkpoint `json:"from"`
	To   Checkpoint `json:"to"`

	mu           sync.Mutex
	bodyRequests int64
}

// Left counts the tasks of a source.
type Left struct {
	Waiting  int64     `json:"waiting"` // to be got, now or later
	Parked   int64     `json:"parked"`
	Gone     int64     `json:"gone"` // listed, but the server says for good that there is nothing; no reason not to be in step
	Withheld int64     `json:"withheld"`
	Next     time.Time `json:"next,omitzero"` // the earliest moment at which a waiting one is due
}

// A GuardError says why deletions are withheld.
type GuardError struct {
	// Rule is "skipped" (entries of the listing could not be read), "options" (the source
	// shows other things than before), "share" (Harvester.MaxDelete) or "number"
	// (Harvester.MaxDeletes).
	Rule string `json:"rule"`
	// Message gives the numbers, and says what carries the deletions out.
	Message string `json:"message"`
}

// Error returns the message.
func (g *GuardError) Error() string { return g.Message }

// A Failure is something that went wrong with one document or resource.
type Failure struct {
	Source  string    `json:"source"`
	ID      string    `json:"id,omitempty"`  // of the resource
	URL     string    `json:"url,omitempty"` // that was asked for
	Attempt int       `json:"attempt,omitempty"`
	Next    time.Time `json:"next,omitzero"`
	Error   string    `json:"error"`
}

const maxFailures = 20

// InStep reports whether nothing is left: the listing was complete, no entry of it was
// skipped, or that is accepted, and no task waits, is parked or withheld.
func (r *Report) InStep() bool {
	return r.Listed() && r.Left.Waiting == 0 && r.Left.Parked == 0 && r.Left.Withheld == 0
}

// Listed reports whether the source was listed to its end, and no entry was skipped, or
// that is accepted.
func (r *Report) Listed() bool { return r.Complete && r.readAll() }

// readAll reports whether no entry was skipped so far, or that is accepted.
func (r *Report) readAll() bool { return r.Skipped == 0 || r.AcceptSkipped }

func (r *Report) event() {
	r.mu.Lock()
	r.Events++
	r.mu.Unlock()
}

func (r *Report) outcome(o Outcome, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch o {
	case OutcomeCreated:
		r.Created += n
	case OutcomeUpdated:
		r.Updated += n
	case OutcomeDeleted:
		r.Deleted += n
	case OutcomeTouched:
		r.Touched += n
	case OutcomeUnchanged:
		r.Unchanged += n
	case OutcomeHistory:
		r.History += n
	case OutcomeDeferred:
		r.Deferred += n
	case OutcomeFailed, OutcomeParked:
		r.Failed += n
	case OutcomeGone:
		r.Gone += n
	case OutcomeWithheld:
		r.Withheld += n
	}
}

func (r *Report) done() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Created + r.Updated + r.Deleted + r.Touched + r.Unchanged + r.History + r.Failed + r.Gone
}

func (r *Report) failure(f Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.Failures) < maxFailures {
		r.Failures = append(r.Failures, f)
	}
}

func (r *Report) problem(f Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Complete = false
	if len(r.Problems) < maxFailures {
		r.Problems = append(r.Problems, f)
	}
}

// countLeft fills Left from the Store.
func (r *Report) countLeft(ctx context.Context, store Store) error {
	r.Left = Left{}
	for t, err := range store.Tasks(ctx, r.Source, "") {
		switch {
		case err != nil:
			return err
		case t.Kind == TaskWithheld:
			r.Left.Withheld++
		case t.isGone():
			r.Left.Gone++
		case t.Parked:
			r.Left.Parked++
		default:
			r.Left.Waiting++
			if r.Left.Next.IsZero() || t.Due.Before(r.Left.Next) {
				r.Left.Next = t.Due
			}
		}
	}
	return nil
}

// urlOf returns, without secrets, the URL that err names by a method RequestURL() string
// or as a ParseError's document, else the given one.
func urlOf(err error, url string) string {
	var request interface{ RequestURL() string }
	if errors.As(err, &request) {
		return request.RequestURL()
	}
	var parse *websync.ParseError
	if errors.As(err, &parse) && parse.Document != "" {
		url = parse.Document
	}
	return websync.RedactURL(url)
}
