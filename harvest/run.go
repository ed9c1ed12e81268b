package harvest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/survive"
)

// A run is one pass over one source. This file is its life, from the claim to the end. An
// event passes these files, each from its top to its end; pipe.go joins them:
//
//	list.go      the Source yields it
//	plan.go      it becomes part of a batch, which is looked up in the Catalog
//	filter.go    the Filter may leave it out
//	snapshot.go  the table of a snapshot may show that it states nothing new: see
//	             membership.go and seen.go; sample.go may choose it nevertheless
//	decide.go    what it leads to, if judge.go finds that it states something new
//	hold.go      it may have to wait for later events of its id
//	guard.go     limits of deletions
//	quota.go     limits of what the Catalog takes
//	get.go       it waits for one of the goroutines that obtain bodies
//	job.go       how one resource is obtained, for a Getter, too
//	requests.go  requests to the Fetcher
//	keep.go      bytes are verified and stored
//	change.go    the next state of the record
//	alike.go     bodies that replace others are compared with each other
//	commit.go    it is stored with others, by catalog_commit.go
//	sweep.go     at the end of a snapshot, what that did not list is deleted: see
//	             document.go
//
// work.go feeds tasks instead of events, and dry.go plans without writing.
type run struct {
	h       *Harvester
	catalog *Catalog // that of h
	src     Source
	getter  Getter // if nil, Job.Content
	key     string
	root    string // the URL that the user gave for src; empty if there is none
	// the log of src and its snapshots are two lists, each with times of its own
	twoLists bool
	began    websync.Seq // the last number of the log when the listing began
	id       [16]byte
	report   *Report
	hooks    Hooks
	log      *slog.Logger

	lists  Fetcher // for the Source
	bodies Fetcher // for jobs

	commits   *committer
	worker    *worker // if nil, the run takes no tasks
	workClaim *claim  // of the worker, if that has a second claim
	dry       *dryRun // if nil, this run writes

	hasTasks atomic.Bool // the source has tasks, or may have
	// date is the latest Date of the answers with lists, in seconds since 1970; 0 if none
	// had one.
	date atomic.Int64

	coded sync.Once // noteCoded
	docs  documents // of the listing
	// known has the documents that a snapshot may state as Unchanged, and members what the
	// last snapshot of the source has left.
	known, members membership
	alike          alikeGuard
	quota          *quota // of a pipe; nil: nothing is limited
	chooser        *chooser
	choice         choice

	alone      sync.Map     // the hosts of bodies that the run leaves alone
	aloneInRow atomic.Int64 // how many of the last resources were on them

	expect  atomic.Int64
	getting atomic.Int64
	deletes atomic.Int64 // records that this run has deleted, or is about to

	// ending is for what is to be done even if the run is cancelled. It ends endTime
	// after the caller's context.
	ending context.Context
	ended  context.CancelFunc

	cancel context.CancelCauseFunc
	beside sync.WaitGroup // the goroutines of goBeside
	caught atomic.Pointer[survive.Rethrown]
}

// newRun returns a run over src that has a report, and begins with check and setUp.
func newRun(h *Harvester, src Source) *run {
	r := &run{h: h, catalog: h.Catalog, src: src, id: newBatch("").ID, dry: h.dry, log: h.Log}
	r.report = &Report{Started: time.Now().UTC(), AcceptSkipped: h.AcceptSkipped, Dry: h.dry != nil,
		Requests: map[int]int64{}, Rules: map[string]int64{}, Problems: []Failure{}, Failures: []Failure{}}
	return r
}

// check returns what is missing or wrong in the settings.
func (r *run) check() error {
	switch {
	case r.catalog == nil:
		return errors.New("harvest: Harvester.Catalog is nil")
	case r.src == nil:
		return errors.New("harvest: the Source is nil")
	}
	var err error
	if r.chooser, err = r.h.Filter.chooser(); err != nil {
		return err
	}
	if c, ok := r.src.(interface{ Check() error }); ok {
		if err := c.Check(); err != nil {
			return err
		}
	}
	if r.src.Key() == "" {
		return fmt.Errorf("harvest: the Key of the Source, a %T, is empty", r.src)
	}
	return nil
}

// setUp sets what the run takes from settings that are right.
func (r *run) setUp() {
	r.key = r.src.Key()
	r.report.Source = r.key
	r.getter, _ = r.src.(Getter)
	if r.h.Hooks != nil {
		r.hooks = *r.h.Hooks
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	r.root = rootOf(r.src)
	if l, ok := r.src.(interface{ TwoLists() bool }); ok {
		r.twoLists = l.TwoLists()
	}
	r.lists = &counted{run: r, list: true}
	r.bodies = &counted{run: r}
	r.commits = &committer{run: r}
}

// isFull reports whether the run lists from the beginning.
func (r *run) isFull() bool { return r.h.Full || r.h.Recheck || r.dry.audits() }

// claimed calls f while it holds a claim, and the hooks Begin and End.
func (h *Harvester) claimed(ctx context.Context, src Source, claim claimFunc, f runFunc) (*Report, error) {
	r := newRun(h, src)
	if err := r.check(); err != nil {
		return r.report, err
	}
	r.setUp()
	if r.hooks.Begin != nil {
		ctx = r.hooks.Begin(ctx, r.key)
	}
	err := r.named(errPanic) // unless do returns
	defer func() {
		r.report.Ended = time.Now().UTC()
		if r.hooks.End != nil {
			r.hooks.End(ctx, r.report, err)
		}
	}()
	err = r.do(ctx, claim, f)
	return r.report, err
}

// do calls f while it holds a claim. If f panics, as a hook may, the panic goes on after
// the claim is released.
func (r *run) do(ctx context.Context, claim claimFunc, f runFunc) error {
	ctx, err := r.begin(ctx, claim)
	if err != nil {
		return err
	}
	returned := false
	defer func() {
		if !returned {
			r.end(ctx, errPanic)
		}
	}()
	err = f(r, ctx)
	returned = true
	return r.end(ctx, err)
}

// named returns an error of the run with the source's name, unless its text has it.
func (r *run) named(err error) error {
	name := websync.RedactURL(r.key)
	if strings.Contains(err.Error(), name+": ") {
		return fmt.Errorf("harvest: %w", err)
	}
	return fmt.Errorf("harvest: %s: %w", name, err)
}

// A claimFunc makes the claim that a run commits under.
type claimFunc func(*run, context.Context) (*claim, error)

// A runFunc is what a run does under its claim.
type runFunc func(*run, context.Context) error

// endTime is how long a cancelled run has to store what it has got and to release what it
// holds, however many calls of the Store that takes.
const endTime = 10 * time.Second

// begin makes a claim, and returns a context that ends when the claim is lost.
func (r *run) begin(ctx context.Context, claim claimFunc) (_ context.Context, err error) {
	if r.commits.claim, err = claim(r, ctx); err != nil {
		return ctx, r.named(err)
	}
	r.ending, r.ended = survive.Cancel(ctx, endTime)
	ctx, r.cancel = context.WithCancelCause(ctx)
	r.goBeside(ctx, func(ctx context.Context) { r.keepClaim(ctx, r.commits.renew) })
	r.goBeside(ctx, r.reportProgress)
	return ctx, nil
}

// claimSource makes the claim under which the source is listed.
func (r *run) claimSource(ctx context.Context) (*claim, error) {
	waits := false
	for {
		claim, err := r.claim(ctx, "source/"+r.key)
		if !r.h.Wait || !errors.Is(err, ErrHeld) {
			return claim, err
		}
		if !waits && r.hooks.Held != nil {
			r.hooks.Held(r.key, err)
		}
		waits = true
		if err := sleep(ctx, pollClaim); err != nil {
			return nil, err
		}
	}
}

// pollClaim is the interval at which a run that waits asks whether others have ended.
const pollClaim = time.Second

func (r *run) claim(ctx context.Context, name string) (*claim, error) {
	return r.catalog.claim(ctx, name, r.h.ttl())
}

// goBeside calls f in a goroutine of its own. A panic of f ends the run, and goes on in
// end.
func (r *run) goBeside(ctx context.Context, f func(context.Context)) {
	r.beside.Go(func() {
		r.catch(r.cancel, func() error {
			f(ctx)
			return nil
		})
	})
}

// keepClaim renews a claim until ctx ends, and ends ctx when the claim is lost.
func (r *run) keepClaim(ctx context.Context, renew func(context.Context) error) {
	tick := time.NewTicker(r.h.ttl() / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := renew(ctx)
		if errors.Is(err, ErrFenced) {
			r.cancel(err)
			return
		}
		if err != nil {
			r.log.Warn("claim not renewed", "source", r.key, "err", err)
		}
	}
}

// end releases what begin took and completes the report, also that of a cancelled run.
func (r *run) end(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	r.cancel(nil)
	r.beside.Wait()
	defer r.ended()
	err = r.release(r.ending, err)
	err = cmp.Or(err, r.count(r.ending))
	if err == nil && r.dry == nil && r.report.Complete && r.report.untried == 0 {
		if e := r.catalog.endBaseline(r.ending); e != nil {
			err = &StoreError{e}
		}
	}
	if v := r.caught.Load(); v != nil {
		panic(v)
	}
	r.progress()
	if err != nil {
		r.report.Complete = false
		return r.named(err)
	}
	return nil
}

// release stores what the Fetcher wants stored, and releases the claims, even if that
// panics.
func (r *run) release(ctx context.Context, err error) (joined error) {
	defer func() {
		for _, claim := range []*claim{r.workClaim, r.commits.claim} {
			if claim == nil {
				continue
			}
			if e := r.catalog.release(ctx, claim); e != nil {
				joined = errors.Join(joined, &StoreError{e})
			}
		}
	}()
	err = cmp.Or(err, r.commits.saveState(ctx))
	if lost := r.commits.lost; lost != nil && !errors.Is(err, lost) {
		err = errors.Join(err, lost)
	}
	return err
}

// count fills in the report what the run leaves. It comes after release: if it takes too
// long after a cancellation, nothing is held.
func (r *run) count(ctx context.Context) error {
	catalog := r.catalog
	if r.dry != nil {
		catalog = r.dry.below
	}
	if err := r.report.countLeft(ctx, catalog); err != nil {
		return &StoreError{err}
	}
	if head, err := catalog.Head(ctx); err == nil {
		r.report.Held = head.Live[r.report.Source]
	}
	if to, err := catalog.Checkpoint(ctx, r.key); err == nil {
		r.report.To = to
	}
	return nil
}

// outcome reports the outcome of an event.
func (r *run) outcome(id string, o Outcome, err error) {
	r.report.outcome(o, 1)
	if r.hooks.Outcome != nil {
		r.hooks.Outcome(r.key, id, o, err)
	}
}

func (r *run) finding(f websync.Finding) {
	defer r.ours()
	r.report.mu.Lock()
	r.report.Findings++
	r.report.Rules[f.Rule]++
	r.report.mu.Unlock()
	if r.hooks.Finding != nil {
		r.hooks.Finding(r.key, f)
	}
}

func (r *run) problem(err error) {
	r.report.problem(Failure{Source: r.key, URL: urlOf(err, ""), Error: err.Error()})
	r.log.Warn("problem", "source", r.key, "err", err)
	r.logPanic("", err)
	if r.hooks.Problem != nil {
		r.hooks.Problem(r.key, err)
	}
}

// step reports a part of the work of a stage that began some time ago.
func (r *run) step(ctx context.Context, stage string, events int, began time.Time) {
	if r.hooks.Step != nil {
		r.hooks.Step(ctx, StepInfo{Source: r.key, Stage: stage, Events: events, Duration: time.Since(began)})
	}
}

func (r *run) progress() {
	if r.hooks.Progress == nil {
		return
	}
	r.report.mu.Lock()
	p := Progress{Source: r.key, Started: r.report.Started, Dry: r.dry != nil, Listed: r.report.Events, Bytes: r.report.Bytes}
	r.report.mu.Unlock()
	p.Total, p.Getting, p.Done = r.expect.Load(), r.getting.Load(), r.report.done()
	if p.Total > 0 { // what a snapshot omits is deleted, and counts as done
		p.Total = max(p.Total, p.Listed, p.Done)
	}
	if w, ok := r.h.Fetcher.(interface{ Waiting() map[string]time.Time }); ok {
		p.Waiting = w.Waiting()
	}
	r.hooks.Progress(p)
}

func (r *run) reportProgress(ctx context.Context) {
	if r.hooks.Progress == nil {
		return
	}
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.progress()
		}
	}
}
