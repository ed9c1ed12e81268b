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
	Complete  bool `json:"complete"`
	Snapshots int  `json:"snapshots"` // listings of all resources
	// Events counts the puts and deletions that the source yielded, and the entries of
	// documents that it stated to be unchanged.
	Events int64 `json:"events"`
	// Skipped counts the entries that could not be read, or may be hidden in a part that
	// could not. AcceptSkipped is Harvester.AcceptSkipped.
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
	Excluded  int64 `json:"excluded"` // by Harvester.Filter
	// ExcludedHeld counts the records that the Catalog holds and a new Filter leaves out,
	// in the first run with it. They stay.
	ExcludedHeld int64 `json:"excluded_held,omitempty"`

	Held int64      `json:"held"` // live records of the source after the run
	Left TaskCounts `json:"left"` // the tasks after the run
	// Requests counts requests for lists and bodies by status; 0 stands for no answer.
	Requests map[int]int64 `json:"requests"`
	Fetched  int64         `json:"fetched"` // bodies that were received
	Bytes    int64         `json:"bytes"`   // of these

	Rechecked Rechecks `json:"rechecked"`     // of a sample of what seemed unchanged
	Dry       bool     `json:"dry,omitempty"` // of a Plan or an Audit
	// Latest is the latest time of a change that the source stated in this run; zero if
	// it stated none. Times more than a day in the future do not count.
	Latest time.Time `json:"latest,omitzero"`
	// BudgetSpent is set if the run stopped fetching bodies at a limit of the Budget.
	BudgetSpent bool  `json:"budget_spent"`
	Findings    int64 `json:"findings"` // departures of documents from their specifications
	// Rules counts the findings by their rules.
	Rules map[string]int64 `json:"rules"`
	// Problems are the first documents that could not be read, Failures the first
	// resources, up to 20 of each.
	Problems []Failure `json:"problems"`
	Failures []Failure `json:"failures"`
	// Guard is the first reason why this run withheld deletions or new bodies; nil if it
	// withheld none.
	Guard *GuardError `json:"guard,omitempty"`
	// OverQuota is the first limit of Harvester.Quota that left something out; nil if none
	// did.
	OverQuota *QuotaError `json:"over_quota,omitempty"`
	// LeftAlone are up to 20 hosts that this run leaves alone.
	LeftAlone []*LeftAloneError `json:"left_alone,omitempty"`
	// LogAhead is the time of the last entry of the log when the run began, if that is
	// more than a minute ahead of the clock: the clock is wrong, or was once. Until the
	// clock gets there, new entries have times just after it.
	LogAhead time.Time  `json:"log_ahead,omitzero"`
	From     Checkpoint `json:"from"` // before the run
	To       Checkpoint `json:"to"`   // after it

	mu           sync.Mutex
	bodyRequests int64
	untried      int64 // of Left.Waiting: no attempt was made
}

// TaskCounts counts the tasks of a source.
type TaskCounts struct {
	Waiting  int64 `json:"waiting"` // to be fetched, now or later
	Parked   int64 `json:"parked"`
	Gone     int64 `json:"gone"` // removed by their server; a run is in step with them
	Withheld int64 `json:"withheld"`
	// Lagging counts what the server sends as it was before a stated change. A run is in
	// step with them, and later ones ask again.
	Lagging int64     `json:"lagging"`
	Next    time.Time `json:"next,omitzero"` // when the first waiting one is due
}

// A GuardError is the reason why deletions, or new bodies, are withheld.
type GuardError struct {
	// Rule is "skipped" (entries of the listing could not be read), "options" (those of
	// the source have changed), "share" (Harvester.MaxDelete), "number"
	// (Harvester.MaxDeletes), "document" (one of the listing is improbable) or, for
	// bodies, "bodies" (most of the new ones are equal to each other).
	Rule string `json:"rule"`
	// Message has the numbers, and what carries the deletions out.
	Message string `json:"message"`
}

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

// InStep reports whether nothing is left: the source was Listed, Rechecked.Unasked is
// zero, nothing is OverQuota, and no task is waiting, parked or withheld.
func (r *Report) InStep() bool {
	return r.Listed() && r.OverQuota == nil && r.Rechecked.Unasked == 0 &&
		r.Left.Waiting == 0 && r.Left.Parked == 0 && r.Left.Withheld == 0
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

// keep counts entries of unchanged documents.
func (r *Report) keep(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Events += int64(n)
	r.Unchanged += int64(n)
}

func (r *Report) outcome(o Outcome, n int64) {
	counts := [numOutcomes]*int64{
		OutcomeUnchanged: &r.Unchanged, OutcomeCreated: &r.Created, OutcomeUpdated: &r.Updated, OutcomeDeleted: &r.Deleted,
		OutcomeTouched: &r.Touched, OutcomeHistory: &r.History, OutcomeDeferred: &r.Deferred, OutcomeFailed: &r.Failed,
		OutcomeParked: &r.Failed, OutcomeGone: &r.Gone, OutcomeWithheld: &r.Withheld, OutcomeExcluded: &r.Excluded,
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	*counts[o] += n
}

func (r *Report) done() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Created + r.Updated + r.Deleted + r.Touched + r.Unchanged + r.History + r.Failed + r.Gone + r.Excluded
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

// countLeft fills Left from the Catalog.
func (r *Report) countLeft(ctx context.Context, catalog *Catalog) error {
	r.Left, r.untried = TaskCounts{}, 0
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
			if t.Attempts == 0 {
				r.untried++
			}
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
	OutcomeUnchanged Outcome = iota // the Catalog already has this state
	OutcomeCreated                  // the id is new, or was deleted before
	OutcomeUpdated                  // the record has a new state
	OutcomeDeleted                  // the record became a tombstone
	// OutcomeTouched: only the time that the source states, or validators of the server,
	// are new. The log has no new entry.
	OutcomeTouched
	OutcomeHistory  // the Catalog has a later state, or the run a later event of the id
	OutcomeDeferred // a task is stored, for this run or a later one
	OutcomeFailed   // the bodies could not be fetched; a task is stored
	OutcomeParked   // the last attempt failed: the task waits for another statement
	// OutcomeGone: the last two attempts returned [websync.ErrGone]. The record stays,
	// unless Harvester.DeleteGone is set. The server is not asked again until the source
	// states something else.
	OutcomeGone
	// OutcomeWithheld: a guard withheld a deletion or a body, and a task is stored; or the
	// Quota left it out.
	OutcomeWithheld
	OutcomeExcluded // Harvester.Filter leaves it out

	numOutcomes
)

var outcomes = [numOutcomes]string{"unchanged", "created", "updated", "deleted", "touched", "history",
	"deferred", "failed", "parked", "gone", "withheld", "excluded"}

// String returns the outcome as a lower-case word.
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

// Hooks are called during a run, from several goroutines. The engine waits for them. Any
// of them may be nil.
type Hooks struct {
	// Begin is called when a run begins, before it makes its claim, also for a Plan or an
	// Audit. It returns the context of the run: ctx, or one derived from it. Attempt,
	// Step, Commit and End receive that context, or one derived from it.
	Begin func(ctx context.Context, source string) context.Context
	// End is called once for each Begin, when the run has ended, with the Report and the
	// error that it returns, or an error if it panics. The context may have ended.
	End func(ctx context.Context, r *Report, err error)
	// Held is called when a run begins to wait for the claim of another holder, with a
	// HeldError: see Harvester.Wait.
	Held func(source string, err error)
	// Progress is called a few times a second at most, and at the end.
	Progress func(Progress)
	// Outcome is called for every event when its outcome is known. err is the reason if
	// an attempt failed, or something is withheld.
	Outcome func(source, id string, o Outcome, err error)
	// Attempt is called after each request to the Fetcher, for lists and bodies, when the
	// body of the answer has been read or is closed.
	Attempt func(context.Context, AttemptInfo)
	Step    func(context.Context, StepInfo)        // after each part of plan and sweep
	Commit  func(context.Context, CommitInfo)      // after each Update
	Finding func(source string, f websync.Finding) // for each that Report.Findings counts
	Problem func(source string, err error)         // also for those after the first 20
}

// JoinHooks returns Hooks that call those of all, in order. It omits nil ones.
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
	Total   int64 // events of the whole pass, at least Listed and Done; 0 if not known
	Getting int64 // resources whose bodies are being obtained, or wait for it
	Done    int64 // events that are finished
	Bytes   int64 // of bodies
	// Waiting has the hosts that the Fetcher waits for, and until when; zero if that is
	// not known.
	Waiting map[string]time.Time
}

// Rate returns how many events were finished a second.
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

// An AttemptInfo is one request that has ended. Hooks.Attempt reports requests of the
// engine or a Source to the Fetcher. A Fetcher may report each request that it makes,
// such as those for redirects and robots.txt.
type AttemptInfo struct {
	Source  string
	List    bool   // a document of the Source, rather than a body
	Method  string // of HTTP
	Host    string // scheme, name and port; without the port of the scheme
	URL     string // without secrets
	Attempt int    // of the Fetcher, from 1; if 0, all its attempts together
	Status  int    // if 0, no answer
	Bytes   int64  // of the body, as far as it was read; if a Fetcher reports it, as transferred
	// Duration is from sending the request to the end of the body. In Hooks.Attempt it
	// includes the waits for the host.
	Duration time.Duration
	Err      error // why there is no answer, or no whole body
}

// A StepInfo is a part of the work of the stage "plan" or "sweep" that has ended without
// an error. Of "plan", some events were compared with the Catalog, or its records were
// read for a snapshot; of "sweep", deletions were decided after a snapshot.
type StepInfo struct {
	Source   string
	Stage    string
	Events   int // that were compared
	Duration time.Duration
}

// A CommitInfo describes one Update: how many entries of the log, changes without an
// entry, stored tasks and ended tasks it has.
type CommitInfo struct {
	Source                     string
	Puts, Touches, Tasks, Done int
	Checkpoint                 bool // a new one was stored
	Duration                   time.Duration
}
