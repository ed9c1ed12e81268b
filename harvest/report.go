package harvest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
)

// A Report is the result of a run. Its JSON form is stable: names are added, never
// changed.
type Report struct {
	Source  string    `json:"source"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`

	// Complete is set if the source was listed to its end and all its documents were
	// read. A run of Work lists nothing and is complete.
	Complete bool `json:"complete"`
	// Snapshots counts the listings of all resources.
	Snapshots int `json:"snapshots"`
	// Events counts the puts and deletions that the source yielded.
	Events int64 `json:"events"`
	// Skipped counts the entries that could not be read, or may be hidden in a part that
	// could not. AcceptSkipped is Harvester.AcceptSkipped: if set, the run may be in step
	// although entries were skipped.
	Skipped       int  `json:"skipped"`
	AcceptSkipped bool `json:"accept_skipped"`

	// These count the outcomes of events, and of tasks that were carried out. An event
	// that was deferred and then carried out in the same run counts once, by the outcome
	// of its task.
	Created   int64 `json:"created"`
	Updated   int64 `json:"updated"`
	Deleted   int64 `json:"deleted"`
	Touched   int64 `json:"touched"`
	Unchanged int64 `json:"unchanged"`
	History   int64 `json:"history"`
	Deferred  int64 `json:"deferred"`
	Failed    int64 `json:"failed"` // parked ones included
	Gone      int64 `json:"gone"`   // removed by their server, which is not asked again
	Withheld  int64 `json:"withheld"`

	// Left counts the tasks after the run.
	Left TaskCounts `json:"left"`

	// Requests counts requests for lists and bodies by status; 0 stands for no answer.
	// Fetched counts the bodies that were received, Bytes their bytes.
	Requests map[int]int64 `json:"requests"`
	Fetched  int64         `json:"fetched"`
	Bytes    int64         `json:"bytes"`

	// Rechecked says how often what the source stated to be unchanged was, by a sample.
	Rechecked Rechecks `json:"rechecked"`

	// Dry is set for a Plan or an Audit, which write nothing.
	Dry bool `json:"dry,omitempty"`
	// Latest is the latest time of a change that the source stated in this run; zero if
	// it stated none. A time that lies in the future by more than a day does not count.
	Latest time.Time `json:"latest,omitzero"`
	// BudgetSpent is set if the run stopped fetching bodies at a limit of the Budget.
	BudgetSpent bool `json:"budget_spent"`
	// Findings counts departures of documents from their specifications.
	Findings int64 `json:"findings"`
	// Problems are the first documents that could not be read, Failures the first
	// resources, up to 20 of each.
	Problems []Failure `json:"problems"`
	Failures []Failure `json:"failures"`
	// Guard is the first reason why this run withheld deletions or new bodies; nil if it
	// withheld none.
	Guard *GuardError `json:"guard,omitempty"`

	// LeftAlone are the hosts that this run leaves alone because they refused too many
	// requests in a row, up to 20. What they have is left as tasks.
	LeftAlone []*LeftAloneError `json:"left_alone,omitempty"`

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

// TaskCounts counts the tasks of a source.
type TaskCounts struct {
	Waiting int64 `json:"waiting"` // to be fetched, now or later
	Parked  int64 `json:"parked"`
	// listed, but removed by their server; a run is in step without them
	Gone     int64 `json:"gone"`
	Withheld int64 `json:"withheld"`
	// held as their server sends them, which may lag behind what the source states; a run
	// is in step with them, and later ones ask again
	Lagging int64 `json:"lagging"`
	// the earliest time at which a waiting one is due
	Next time.Time `json:"next,omitzero"`
}

// A GuardError is the reason why deletions are withheld, or why bodies stay as they are.
type GuardError struct {
	// Rule is "skipped" (entries of the listing could not be read), "options" (the
	// options of the source have changed), "share" (Harvester.MaxDelete), "number"
	// (Harvester.MaxDeletes) or "document" (a document of the listing is improbable: it
	// had entries and has none, it lists the same as another, it lost more than MaxDelete
	// allows by itself, is no longer listed, or is older than the one before). Of
	// "bodies" it is the reason why bodies were not replaced: most of the new ones are
	// equal to each other.
	Rule string `json:"rule"`
	// Message has the numbers, and what carries the deletions out.
	Message string `json:"message"`
}

// Error returns the message.
func (g *GuardError) Error() string { return g.Message }

// Sentence returns what is withheld and the message, such as "Deletions are withheld: …".
func (g *GuardError) Sentence() string {
	what := "Deletions"
	if g.Rule == "bodies" {
		what = "New bodies"
	}
	return what + " are withheld: " + g.Message
}

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

// InStep reports whether nothing is left: the listing was complete, no entry was skipped
// (or AcceptSkipped is set), what seemed unchanged was asked for if the source's
// statements are not believed, and no task is waiting, parked or withheld.
func (r *Report) InStep() bool {
	return r.Listed() && r.Rechecked.Unasked == 0 && r.Left.Waiting == 0 && r.Left.Parked == 0 && r.Left.Withheld == 0
}

// Listed reports whether the source was listed to its end and no entry was skipped (or
// AcceptSkipped is set).
func (r *Report) Listed() bool { return r.Complete && r.readAll() }

// readAll reports whether no entry was skipped so far (or AcceptSkipped is set).
func (r *Report) readAll() bool { return r.Skipped == 0 || r.AcceptSkipped }

// event counts an event whose change has the given time; zero if it has none.
func (r *Report) event(at websync.Datetime) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Events++
	if t := at.UTC().Time(); !at.IsZero() && t.After(r.Latest) {
		r.Latest = t
	}
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

// leftAlone notes a host that is left alone.
func (r *Report) leftAlone(e *LeftAloneError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.LeftAlone, func(known *LeftAloneError) bool { return known.Host == e.Host }); i >= 0 {
		r.LeftAlone[i] = e
	} else if len(r.LeftAlone) < maxFailures {
		r.LeftAlone = append(r.LeftAlone, e)
	}
}

// countLeft fills Left from the Store.
func (r *Report) countLeft(ctx context.Context, catalog *Catalog) error {
	r.Left = TaskCounts{}
	for t, err := range catalog.Tasks(ctx, r.Source, "") {
		switch {
		case err != nil:
			return err
		case t.Kind == TaskWithheld:
			r.Left.Withheld++
		case t.lags():
			r.Left.Lagging++
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

// An Outcome is the result of an event.
type Outcome uint8

const (
	// OutcomeUnchanged: the Store already has this state.
	OutcomeUnchanged Outcome = iota
	// OutcomeCreated: the id is new, or was deleted before.
	OutcomeCreated
	// OutcomeUpdated: the record has a new state.
	OutcomeUpdated
	// OutcomeDeleted: the record became a tombstone.
	OutcomeDeleted
	// OutcomeTouched: the bytes and the description are the same; the time that the
	// source states or the validators of the server are new. The log has no new entry.
	OutcomeTouched
	// OutcomeHistory: the Store has a later state, or the run has a later event of the
	// id.
	OutcomeHistory
	// OutcomeDeferred: a task is stored, for this run or a later one. After the last
	// attempt only another event makes it due again.
	OutcomeDeferred
	// OutcomeFailed: the bodies could not be fetched; a task is stored.
	OutcomeFailed
	// OutcomeParked: the last attempt failed; the task waits for an event that states
	// something else.
	OutcomeParked
	// OutcomeGone: the last two attempts returned [websync.ErrGone]; a task records this
	// until the source states something else.
	OutcomeGone
	// OutcomeWithheld: the guard did not allow a deletion, or a body that equals too many
	// others; a task is stored.
	OutcomeWithheld

	numOutcomes
)

var outcomes = [numOutcomes]string{"unchanged", "created", "updated", "deleted", "touched", "history", "deferred", "failed", "parked", "gone", "withheld"}

// String returns the outcome in one lower-case word.
func (o Outcome) String() string {
	if o < numOutcomes {
		return outcomes[o]
	}
	return fmt.Sprintf("outcome %d", uint8(o))
}

// isLogged reports whether the outcome is a new entry in the log.
func (o Outcome) isLogged() bool {
	return o == OutcomeCreated || o == OutcomeUpdated || o == OutcomeDeleted
}

// MarshalText returns the same word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Hooks are called while a run goes on. Any of them may be nil. They are called from
// several goroutines and block the engine while they run.
type Hooks struct {
	// Begin is called when a run begins, before it makes its claim, also for a Plan or an
	// Audit. It returns the context of the run: ctx, or one derived from it. Attempt,
	// Step, Commit and End get that context, or one derived from it.
	Begin func(ctx context.Context, source string) context.Context
	// End is called once for each Begin, when the run has ended, whatever ended it. The
	// Report and the error are those that the run returns; if it panics the error says
	// so. The context may have ended.
	End func(ctx context.Context, r *Report, err error)
	// Held is called when a run begins to wait for the claim of another holder: see
	// Harvester.Wait. Err matches ErrHeld, and is a HeldError if the Store knows until
	// when the claim stands.
	Held func(source string, err error)
	// Progress is called a few times a second at most, and at the end.
	Progress func(Progress)
	// Outcome is called for every event when its outcome is known. Err is the reason if
	// an attempt failed or a deletion is withheld.
	Outcome func(source, id string, o Outcome, err error)
	// Attempt is called after each request to the Fetcher, for lists and bodies alike,
	// when the body of the answer has been read or is closed.
	Attempt func(context.Context, AttemptInfo)
	// Step is called after each part of the work of the stages plan and sweep.
	Step func(context.Context, StepInfo)
	// Commit is called after each Commit that succeeded.
	Commit func(context.Context, CommitInfo)
	// Finding is called for each departure of a document from its specification.
	Finding func(source string, f websync.Finding)
	// Problem is called for each document that could not be read or may have been missed.
	Problem func(source string, err error)
}

// JoinHooks returns Hooks that call those of all, in their order. Nil ones are left out.
func JoinHooks(all ...*Hooks) *Hooks {
	var joined Hooks
	for _, h := range all {
		if h == nil {
			continue
		}
		joined.Progress = both(joined.Progress, h.Progress)
		joined.Attempt = bothOf(joined.Attempt, h.Attempt)
		joined.Step = bothOf(joined.Step, h.Step)
		joined.Commit = bothOf(joined.Commit, h.Commit)
		joined.Held = bothOf(joined.Held, h.Held)
		joined.Finding = bothOf(joined.Finding, h.Finding)
		joined.Problem = bothOf(joined.Problem, h.Problem)
		switch first, second := joined.Begin, h.Begin; {
		case first == nil:
			joined.Begin = second
		case second != nil:
			joined.Begin = func(ctx context.Context, source string) context.Context { return second(first(ctx, source), source) }
		}
		switch first, second := joined.End, h.End; {
		case first == nil:
			joined.End = second
		case second != nil:
			joined.End = func(ctx context.Context, r *Report, err error) {
				first(ctx, r, err)
				second(ctx, r, err)
			}
		}
		switch first, second := joined.Outcome, h.Outcome; {
		case first == nil:
			joined.Outcome = second
		case second != nil:
			joined.Outcome = func(source, id string, o Outcome, err error) {
				first(source, id, o, err)
				second(source, id, o, err)
			}
		}
	}
	return &joined
}

// both returns a function that calls two, either of which may be nil.
func both[A any](first, second func(A)) func(A) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(a A) {
		first(a)
		second(a)
	}
}

// bothOf is both for functions of a source, or a context, and a value.
func bothOf[Of, A any](first, second func(Of, A)) func(Of, A) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(of Of, a A) {
		first(of, a)
		second(of, a)
	}
}

// Progress is how far a run has come.
type Progress struct {
	Source  string
	Started time.Time
	Dry     bool  // of a Plan or an Audit
	Listed  int64 // events so far
	// events of the whole pass, as far as the Source knows, and never fewer than Listed
	// or Done; if 0, not known
	Total int64
	// resources whose bodies are being obtained or wait for it
	Getting int64
	Done    int64 // events that are finished
	Bytes   int64 // of bodies
	// hosts that the Fetcher waits for, and until when; if zero, not known
	Waiting map[string]time.Time
}

// Rate returns the number of finished events a second.
func (p Progress) Rate(now time.Time) float64 {
	if d := now.Sub(p.Started).Seconds(); d > 0 {
		return float64(p.Done) / d
	}
	return 0
}

// ETA returns how long the rest takes at the rate so far; 0 if that is not known.
func (p Progress) ETA(now time.Time) time.Duration {
	rate := p.Rate(now)
	if p.Total <= p.Done || rate == 0 {
		return 0
	}
	return time.Duration(float64(p.Total-p.Done) / rate * float64(time.Second))
}

// An AttemptInfo is one request that has ended. Hooks.Attempt reports a request of the
// engine or a Source to the Fetcher; a Fetcher may report each request that it makes for
// that, such as those for redirects and robots.txt.
type AttemptInfo struct {
	Source  string
	List    bool   // a document of the Source, rather than a body
	Method  string // of HTTP
	Host    string // scheme, name and port; without the port of the scheme
	URL     string // without secrets
	Attempt int    // of the Fetcher, from 1; if 0, all its attempts together
	Status  int    // if 0, no answer
	Bytes   int64  // of the body, as far as it was read; if a Fetcher reports it, as transferred
	// from sending the request to the end of the body; of a request to the Fetcher, with
	// the waits for the host
	Duration time.Duration
	Err      error // why there is no answer, or no whole body
}

// A StepInfo is a part of the work of a stage that has ended without an error. The stages
// list and get have requests instead, and commit has Commits.
type StepInfo struct {
	Source string
	// "plan": some events were compared with the Store, or what it holds was read for a
	// snapshot; "sweep": deletions were decided after a complete snapshot
	Stage    string
	Events   int // that were compared
	Duration time.Duration
}

// A CommitInfo describes one Commit.
type CommitInfo struct {
	Source                     string
	Puts, Touches, Tasks, Done int
	Checkpoint                 bool // a new one was stored
	Duration                   time.Duration
}
