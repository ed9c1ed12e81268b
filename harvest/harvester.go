package harvest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/survive"
)

// A Harvester brings a Catalog in step with Sources. Its fields must not change while it
// is in use. Its methods may be called at the same time for different sources.
type Harvester struct {
	Catalog *Catalog // required
	// Fetcher gets documents and bodies. If nil, only Sources that need none can run.
	Fetcher Fetcher

	// Concurrency limits how many resources are fetched at once. If zero or negative, it
	// is 8.
	Concurrency int
	// Bodies is what the run does with bodies. If zero, it keeps them.
	Bodies BodyMode
	// Full ignores the checkpoint: the source is listed from the beginning.
	Full bool
	// Recheck asks conditionally for every body that seems unchanged, and tries every
	// task that the source lists. It implies Full.
	Recheck bool

	// Sample makes each snapshot ask for one in Sample of the bodies that seem unchanged,
	// chosen at random, ten at least and 1,000 at most, within Budget. Report.Rechecked
	// counts those that had changed. If three or more had, and one in twenty, every body
	// is asked for, conditionally, until that is no longer so. If zero, it is 200; if
	// negative, the source is believed: the run asks for no sample, nor again for bytes
	// that are older than a stated change. See also Run.SampleSize.
	Sample int

	// MaxDelete limits the share of a source's records that one snapshot may delete, and
	// that ten complete snapshots in a row may delete in sum, less what was added
	// meanwhile. If a snapshot would delete more, all its deletions are withheld. If
	// zero, it is 0.5 of more than ten records, and of ten or fewer any number but not
	// all; if negative, there is no limit.
	MaxDelete float64
	// MaxDeletes limits how many records one run may delete. Of the deletions that a log
	// states, the first MaxDeletes are carried out and the others withheld; of those of a
	// snapshot, all are withheld. If zero or negative, there is no limit.
	MaxDeletes int
	// AcceptSkipped lets a snapshot delete, and a run be in step, although some entries
	// could not be read.
	AcceptSkipped bool

	// Attempts limits how often a resource is tried before its task is parked until its
	// source states something else. If zero, it is 8; if negative, there is no limit. The
	// next run makes the second attempt; the others follow after about 1, 4, 16 …
	// minutes, up to a day, even if the source lists the resource meanwhile.
	Attempts int
	// DeleteGone deletes records that their server has removed (see OutcomeGone).
	// MaxDelete does not limit this, MaxDeletes does. Those that were gone before it was
	// set are deleted once Recheck has asked for them again.
	DeleteGone bool
	// Window limits how many events are on their way at once. If zero or negative, it is
	// 1024.
	Window int
	// Budget limits getting; listing continues when it is spent.
	Budget Budget
	// TTL is how long a claim stands after this process has died, unless the Store knows
	// that it has (see Owners). If zero or negative, it is one minute.
	TTL time.Duration
	// Wait makes a run wait while another holder has the claim of the source, and for the
	// tasks that others have in hand, until the context ends. If false, the run ends with
	// ErrHeld.
	Wait bool

	Hooks *Hooks       // may be nil
	Log   *slog.Logger // if nil, nothing is logged

	// patience is how long, in all, listing waits for getting; then what cannot be got at
	// once is stored as tasks. If zero, it is 10 seconds; if negative, listing waits
	// without limit. Tests set it.
	patience time.Duration
	// dry is set for a Plan or an Audit.
	dry *dryRun
}

// A BodyMode is what a run does with the bytes of bodies.
type BodyMode uint8

const (
	KeepBodies   BodyMode = iota // fetches, verifies and stores them
	VerifyBodies                 // fetches and verifies them, and keeps their digests only
	SkipBodies                   // fetches none: only descriptions are kept
)

// A Budget limits what a run spends on bodies. If a field is zero, there is no limit.
// What is left when it is spent is stored as tasks.
type Budget struct {
	Time     time.Duration
	Requests int64
	Bytes    int64 // checked between bodies
}

// Run brings the Catalog in step with src: it lists what changed, gets the bodies, and
// carries out the tasks that are due. The Report is never nil. The error is what ended
// the run: the source could not be read, the Store failed ([StoreError]), the claim is
// held by another ([HeldError]) or lost ([ErrFenced]), or the context ended. The next run
// continues at the last Update. When the context ends, Run stores what it has got, within
// 10 seconds.
func (h *Harvester) Run(ctx context.Context, src Source) (*Report, error) {
	return h.claimed(ctx, src, (*run).claimSource, func(ctx context.Context, r *run) error {
		if err := r.list(ctx, cmp.Or(h.patience, 10*time.Second)); err != nil {
			return err
		}
		return r.workBeside(ctx)
	})
}

// List is the first half of Run: it lists what changed and stores everything that must be
// fetched as tasks, for Work to carry out, perhaps in another process. Only bytes that
// come with the listing are kept at once.
func (h *Harvester) List(ctx context.Context, src Source) (*Report, error) {
	return h.claimed(ctx, src, (*run).claimSource, func(ctx context.Context, r *run) error { return r.list(ctx, deferAll) })
}

// Work is the second half of Run: it carries out the tasks of src that are due now. It
// may run beside List, and in several processes at the same time: they share the tasks.
// Work returns when no task is left that is due and that no other process has in hand.
// The tasks of a process that has died are free when its claim ends: see TTL.
func (h *Harvester) Work(ctx context.Context, src Source) (*Report, error) {
	return h.claimed(ctx, src, (*run).claimWork, func(ctx context.Context, r *run) error {
		r.report.Complete = true
		return r.work(ctx)
	})
}

// deferAll is the patience of List.
const deferAll = time.Duration(0)

func (h *Harvester) ttl() time.Duration {
	if h.TTL <= 0 {
		return time.Minute
	}
	return h.TTL
}

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
	err = f(ctx, r)
	returned = true
	return r.end(ctx, err)
}

// named returns an error of the run with the source's name.
func (r *run) named(err error) error {
	return fmt.Errorf("harvest: %s: %w", websync.RedactURL(r.key), err)
}

// A claimFunc makes the claim that a run commits under.
type claimFunc func(*run, context.Context) (*claim, error)

// A runFunc is what a run does under its claim.
type runFunc func(context.Context, *run) error

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

// sleep waits for d. It returns the cause if ctx ends before.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

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
	if e := r.count(r.ending); e != nil && err == nil {
		err = e
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
	if e := r.commits.saveState(ctx); e != nil && err == nil {
		err = e
	}
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
	if to, err := catalog.Checkpoint(ctx, r.key); err == nil {
		r.report.To = to
	}
	return nil
}
