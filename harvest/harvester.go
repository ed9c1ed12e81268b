package harvest

import (
	"cmp"
	"context"
	"log/slog"
	"time"
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
	// chosen at random: ten at least, and at most 1,000 and half of Budget.Requests.
	// Report.Rechecked counts those that had changed. If three or more had, and one in
	// twenty, every body is asked for, conditionally, until that is no longer so. If
	// zero, it is 200; if negative, the source is believed: the run asks for no sample,
	// nor again for bytes that are older than a stated change. See also Run.SampleSize.
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
	// Filter chooses which resources are taken.
	Filter Filter
	// Also has the relations of links whose targets are got, too, such as "enclosure" and
	// "alternate". Each is a body beside the content, with the name that
	// [websync.Resource.BodyName] returns, and becomes visible together with it. What its
	// server does not have is a finding, and so are more than 1000 such links of one
	// resource, of which the first are followed; another failure fails the attempt. A run
	// in which Also has more than before asks for everything, conditionally. Later, a
	// target is asked for when the resource is.
	Also []string
	// Window limits how many events are on their way at once. If zero or negative, it is
	// 1024.
	Window int
	// Budget limits getting; listing continues when it is spent.
	Budget Budget
	// Quota limits what the Catalog takes of a source.
	Quota Quota
	// SameHost forbids requests to other hosts than that of the URL which the user named:
	// what a source lists there is [ErrForbidden]. So no list of a stranger makes this
	// process visit third parties. The Fetcher carries it out.
	SameHost bool
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
	// once is stored as tasks, which costs more. If zero, it is two minutes; if negative,
	// listing waits without limit. Tests set it.
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
	return h.claimed(ctx, src, (*run).claimSource, func(r *run, ctx context.Context) error {
		if err := r.list(ctx, cmp.Or(h.patience, 2*time.Minute)); err != nil {
			return err
		}
		return r.workBeside(ctx)
	})
}

// List is the first half of Run: it lists what changed and stores everything that must be
// fetched as tasks, for Work to carry out, perhaps in another process. Only bytes that
// come with the listing are kept at once.
func (h *Harvester) List(ctx context.Context, src Source) (*Report, error) {
	return h.claimed(ctx, src, (*run).claimSource, func(r *run, ctx context.Context) error { return r.list(ctx, deferAll) })
}

// Work is the second half of Run: it carries out the tasks of src that are due now. It
// may run beside List, and in several processes at the same time: they share the tasks.
// Work returns when no task is left that is due and that no other process has in hand.
// The tasks of a process that has died are free when its claim ends: see TTL.
func (h *Harvester) Work(ctx context.Context, src Source) (*Report, error) {
	return h.claimed(ctx, src, (*run).claimWork, func(r *run, ctx context.Context) error {
		r.report.Complete = true
		return r.work(ctx)
	})
}

// deferAll is the patience of List.
const deferAll = time.Duration(0)

func (h *Harvester) ttl() time.Duration { return cmp.Or(max(h.TTL, 0), time.Minute) }
