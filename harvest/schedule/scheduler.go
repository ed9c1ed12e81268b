package schedule

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
)

// ErrStalled is why a run ended that made no progress for the time of Scheduler.Stall.
var ErrStalled = errors.New("no progress")

// A Scheduler runs sources when they are due. Set its fields before the first call and do
// not change them afterwards. It is safe for concurrent use.
//
// Notices that come during a run, or before the next run is allowed, are coalesced into
// one run. Payloads are applied one after the other, in the order in which they come.
// Those that wait when a process dies are lost; the runs of Entry.Every find what they
// announced.
type Scheduler struct {
	// Harvester runs the sources, and its Store keeps when they are due. It is required.
	Harvester *harvest.Harvester

	// Entries are the sources; Add adds more.
	Entries []Entry

	// Concurrency limits how many sources run at the same time in this process. A run
	// does not count while it only waits, for an answer or for its turn to ask: when
	// there has been no event, request or commit for half a second, nor when it has gone on
	// for a quarter of an hour. So hosts that answer slowly, and sources that list without
	// end, do not keep the others waiting. At most 16 times as many run, whether they count
	// or not. If zero, it is 4; if negative, there is no limit.
	Concurrency int

	// PerHost limits how many sources of one host run at the same time in this process.
	// If zero, it is 1; if negative, there is no limit.
	PerHost int

	// Stall is how long a run may go on without progress: an event, a request or a
	// commit. After that time, and at the latest after twice as much, it is ended, with
	// [ErrStalled]. If zero, it is one hour, which is longer than any wait or transfer of
	// a fetch.Client with default settings; if negative, there is no limit.
	Stall time.Duration

	// Ended, if set, is called after each run, also of a payload. It may be called from
	// several goroutines. The Report is never nil.
	Ended func(source harvest.Source, report *harvest.Report, err error)

	// Retention is how long the Store keeps what is no longer current. Run removes the
	// rest once a day, as [harvest.Catalog.RetainDaily] does, and calls Retained, if that
	// is set, when something was removed or that failed.
	Retention harvest.Retention
	Retained  func(harvest.Retained, error)

	// Log receives runs (debug), their errors (warning), and those of the Store (error).
	// If nil, nothing is logged.
	Log *slog.Logger

	once   sync.Once
	err    error // of Check
	log    *slog.Logger
	signal chan struct{} // holds at most one: something has changed

	mu    sync.Mutex // guards the turns
	held  int        // bytes of payloads
	turns []*turn
	named map[string]*turn // by URL of notices

	// waitsAfter, if set, replaces the time after which a run only waits. Tests set it.
	waitsAfter time.Duration
	// run, if set, is used instead of the Harvester. Tests set it.
	run func(context.Context, harvest.Source) (*harvest.Report, error)
}

// A turn is an entry that waits for its next run, or runs.
type turn struct {
	*Entry
	key, host string
	loaded    bool   // from the State
	stored    []byte // what the State holds

	plan     plan
	noticed  bool      // since the last run began
	payloads [][]byte  // to be applied, oldest first
	came     time.Time // the oldest of them
	running  bool
	over     chan struct{}      // closed at the end of what is running
	cancel   context.CancelFunc // ends it; nil: it has not begun
	removed  bool
	began    time.Time    // what is running
	progress atomic.Int64 // when the run last made some, in nanoseconds since 1970
	recheck  time.Time    // until then another process may be running the source
}

// What does not count towards Scheduler.Concurrency.
const (
	waitsAfter = 500 * time.Millisecond // without progress
	countsFor  = 15 * time.Minute       // from its beginning
	maxRunning = 16                     // times Concurrency, if they do not count either
)

// goesOn notes that a run makes progress.
func (t *turn) goesOn() { t.progress.Store(time.Now().UnixNano()) }

// A plan is what the State keeps of an entry.
type plan struct {
	Due      time.Time `json:"due,omitzero"`   // of the next run; zero: after a notice only
	Ended    time.Time `json:"ended,omitzero"` // of the last run
	Failures int       `json:"failures,omitzero"`
}

// Check returns an error if the settings are not valid.
func (s *Scheduler) Check() error {
	if s.Harvester == nil || s.Harvester.Catalog == nil {
		return errors.New("schedule: Scheduler.Harvester must be set, and have a Store")
	}
	return checkAll(nil, s.Entries)
}

// checkAll returns an error if entries are not valid beside those of turns.
func checkAll(turns []*turn, entries []Entry) error {
	keys := make(map[string]bool, len(turns)+len(entries))
	for _, t := range turns {
		keys[t.key] = true
	}
	for i := range entries {
		e := &entries[i]
		if err := e.check(); err != nil {
			return err
		}
		if keys[e.Source.Key()] {
			return fmt.Errorf("schedule: two entries have a Source with the Key %q", websync.RedactURL(e.Source.Key()))
		}
		keys[e.Source.Key()] = true
	}
	return nil
}

func (s *Scheduler) start() error {
	s.once.Do(func() {
		s.log, s.signal = s.Log, make(chan struct{}, 1)
		if s.log == nil {
			s.log = slog.New(slog.DiscardHandler)
		}
		s.named = make(map[string]*turn)
		if s.err = s.Check(); s.err != nil {
			return
		}
		s.add(s.Entries)
	})
	return s.err
}

func (s *Scheduler) add(entries []Entry) {
	for i := range entries {
		t := &turn{Entry: &entries[i]}
		t.key, t.host = t.Source.Key(), harvest.Host(t.Source)
		s.turns = append(s.turns, t)
		for _, url := range t.URLs {
			s.named[url] = t
		}
	}
}

// Add adds entries, before Run or while it runs: for sources that become known later. The
// error says which of them is not valid; none is added then.
func (s *Scheduler) Add(entries ...Entry) error {
	if err := s.start(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := checkAll(s.turns, entries); err != nil {
		return err
	}
	s.add(slices.Clone(entries))
	s.wake()
	return nil
}

// Remove removes the entries of these Keys, if there are any, and ends their runs, as the
// end of the context of Run does. It returns when they have ended, or ctx has. Notices and
// payloads that wait are dropped; when the sources are due stays in the State, so that
// entries which are added again go on from there.
func (s *Scheduler) Remove(ctx context.Context, keys ...string) error {
	if err := s.start(); err != nil {
		return err
	}
	s.mu.Lock()
	var ending []chan struct{}
	s.turns = slices.DeleteFunc(s.turns, func(t *turn) bool {
		t.removed = slices.Contains(keys, t.key)
		if t.removed {
			s.release(t.payloads...)
			t.payloads = nil
		}
		if t.removed && t.running {
			ending = append(ending, t.over)
			if t.cancel != nil {
				t.cancel()
			}
		}
		return t.removed
	})
	maps.DeleteFunc(s.named, func(_ string, t *turn) bool { return t.removed })
	s.mu.Unlock()
	for _, over := range ending {
		select {
		case <-over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Run runs sources until ctx is cancelled, and returns the cause when all runs have
// ended. It returns earlier with an error if the settings are not valid, or if the Store
// is closed, damaged ([harvest.ErrCorrupt]) or that of a newer version
// ([harvest.ErrNewer]). While the Store fails otherwise, for example because its server
// is away, Run goes on trying. Call it once. Notices that came before count.
func (s *Scheduler) Run(ctx context.Context) error {
	if err := s.start(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var runs sync.WaitGroup
	defer runs.Wait()
	runs.Go(func() { s.Harvester.Catalog.RetainDaily(ctx, s.Retention, s.retained) })
	timer := time.NewTimer(0)
	for {
		wait, err := s.launch(ctx, func(t *turn) {
			runs.Go(func() {
				if err := s.serve(ctx, t); err != nil {
					cancel(err)
				}
				s.wake()
			})
		})
		if err != nil {
			cancel(err)
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			runs.Wait()
			return context.Cause(ctx)
		case <-s.signal:
		case <-timer.C:
		}
	}
}

// retained reports what Retention has removed, or why it could not.
func (s *Scheduler) retained(done harvest.Retained, err error) {
	if err != nil {
		s.log.Warn("schedule: retention", "error", err)
	}
	if s.Retained != nil {
		s.Retained(done, err)
	}
}

// wake makes Run look at the turns again.
func (s *Scheduler) wake() {
	select {
	case s.signal <- struct{}{}:
	default:
	}
}

// idle is how long Run sleeps if nothing is due.
const idle = 24 * time.Hour

// launch begins the runs that are due, as far as the limits allow, and returns how long
// it is until the next is due.
func (s *Scheduler) launch(ctx context.Context, begin func(*turn)) (wait time.Duration, err error) {
	if err := s.loadNew(ctx); err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		s.mu.Lock()
		t, at := s.first(time.Now())
		if t != nil {
			t.running, t.over, t.began = true, make(chan struct{}), time.Now()
			t.goesOn()
		}
		s.mu.Unlock()
		if t == nil {
			return at, nil
		}
		ready, err := s.stillDue(ctx, t)
		if err != nil {
			s.end(t)
			return 0, err
		}
		if !ready {
			s.end(t)
			continue
		}
		begin(t)
	}
	return idle, nil
}

// end ends what is running of a turn.
func (s *Scheduler) end(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.running, t.cancel = false, nil
	close(t.over)
}

// occupied counts the runs: by host, all, and those that are active, of which after free
// one may not count any more.
func (s *Scheduler) occupied(now time.Time) (running map[string]int, all, active int, free time.Duration) {
	running, free = make(map[string]int), idle
	for _, t := range s.turns {
		if !t.running {
			continue
		}
		running[t.host]++
		all++
		waits := time.Unix(0, t.progress.Load()).Add(cmp.Or(s.waitsAfter, waitsAfter))
		if left := min(waits.Sub(now), t.began.Add(countsFor).Sub(now)); left > 0 {
			active++
			free = min(free, left)
		}
	}
	return running, all, active, free
}

// first returns the turn that runs next; if there is none, it returns how long to wait.
func (s *Scheduler) first(now time.Time) (next *turn, wait time.Duration) {
	limit, perHost := cmp.Or(s.Concurrency, 4), cmp.Or(s.PerHost, 1)
	running, all, active, free := s.occupied(now)
	wait = idle
	var since time.Time
	for _, t := range s.turns {
		due, ok := t.due()
		switch {
		case t.running || !ok || !t.loaded:
			continue
		case due.After(now):
			wait = min(wait, due.Sub(now))
			continue
		case perHost > 0 && running[t.host] >= perHost, limit > 0 && all >= maxRunning*limit:
			continue // the end of a run wakes Run
		case limit > 0 && active >= limit:
			wait = min(wait, free)
			continue
		}
		fewer := next == nil || running[t.host] < running[next.host]
		if fewer || running[t.host] == running[next.host] && due.Before(since) {
			next, since = t, due
		}
	}
	return next, wait
}

// due returns when a turn may run. ok is false if it has no reason to.
func (t *turn) due() (at time.Time, ok bool) {
	at, ok = t.listsDue()
	if len(t.payloads) > 0 && (!ok || t.came.Before(at)) {
		return t.came, true // and not at once: others are due, too
	}
	return at, ok
}

// listsDue returns when a turn may run, apart from its payloads.
func (t *turn) listsDue() (at time.Time, ok bool) {
	switch {
	case !t.noticed && t.plan.Due.IsZero():
		return at, false
	case !t.noticed:
		at = t.plan.Due
	}
	return latest(at, t.plan.Ended.Add(max(0, cmp.Or(t.Interval, 10*time.Second))), t.recheck), true
}

// Due returns when each source runs next, by its Key. The time is zero if the source
// waits for a notice, or has not been looked up in the State yet. Notices may make it
// earlier.
func (s *Scheduler) Due() map[string]time.Time {
	if s.start() != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	due := make(map[string]time.Time, len(s.turns))
	for _, t := range s.turns {
		due[t.key] = time.Time{}
		if at, ok := t.due(); ok && t.loaded {
			due[t.key] = at
		}
	}
	return due
}

// isDue reports whether a turn may run now, apart from its payloads.
func (t *turn) isDue(now time.Time) bool {
	at, ok := t.listsDue()
	return ok && !at.After(now)
}

func latest(times ...time.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// Notify announces a change at url, and reports whether an entry has that URL. It never
// waits. It fits the fields Notify of notify.Receiver and notify.Subscriber.
func (s *Scheduler) Notify(url string) bool { return s.Payload(url, nil) }

// statePrefix begins the keys of plans in the State.
const statePrefix = "schedule/"

// read returns what the State holds of an entry.
func (s *Scheduler) read(ctx context.Context, t *turn) (stored []byte, err error) {
	err = s.persist(ctx, t, func() error {
		stored, err = s.Harvester.Catalog.State(ctx, statePrefix+t.key)
		return err
	})
	return stored, err
}

// persist repeats call, which reads or writes the plan of an entry, while the Store fails
// in a way that may pass: after about 1, 2, 4 and more seconds, at most 64.
func (s *Scheduler) persist(ctx context.Context, t *turn, call func() error) error {
	for failures := 1; ; failures++ {
		err := call()
		if err == nil {
			return nil
		}
		err = fmt.Errorf("schedule: the plan of %q: %w", websync.RedactURL(t.key), err)
		if ctx.Err() != nil || isFinal(err) {
			return err
		}
		wait := backoff(failures, time.Second)
		s.log.Error("schedule: store failed", "source", websync.RedactURL(t.key), "attempt", failures, "wait", wait, "error", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// isFinal reports whether an error of the Store will not pass.
func isFinal(err error) bool {
	return errors.Is(err, fs.ErrClosed) || errors.Is(err, harvest.ErrCorrupt) || errors.Is(err, harvest.ErrNewer)
}

// backoff returns how long to wait after a number of failures: first, twice as long, four
// times as long and so on, at most 64 times, less a random part of up to a half.
func backoff(failures int, first time.Duration) time.Duration {
	wait := first << min(failures-1, 6)
	return wait - rand.N(wait/2)
}

// loadNew reads the plans of the entries that are new.
func (s *Scheduler) loadNew(ctx context.Context) error {
	s.mu.Lock()
	turns := slices.Clone(s.turns)
	s.mu.Unlock()
	for _, t := range turns {
		if t.loaded {
			continue
		}
		if err := s.load(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// load reads the plan of an entry. One that is new or can't be read is due now. An
// interval that has become shorter counts.
func (s *Scheduler) load(ctx context.Context, t *turn) error {
	stored, err := s.read(ctx, t)
	if err != nil {
		return err
	}
	p := plan{Due: time.Now()}
	if len(stored) > 0 && json.Unmarshal(stored, &p) == nil {
		if next := t.next(p.Ended); !next.IsZero() && (p.Due.IsZero() || next.Before(p.Due)) {
			p.Due = next
		}
	} else if t.Every < 0 && len(t.Daily) == 0 {
		p.Due = time.Time{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.stored, t.plan, t.loaded = stored, p, true
	return nil
}

// stillDue reports whether a turn is due according to the State, too: another process may
// have run the source meanwhile.
func (s *Scheduler) stillDue(ctx context.Context, t *turn) (bool, error) {
	s.mu.Lock()
	known := string(t.stored)
	s.mu.Unlock()
	stored, err := s.read(ctx, t)
	if err != nil {
		return false, err
	}
	if string(stored) == known {
		return true, nil
	}
	if err := s.load(ctx, t); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(t.payloads) > 0 || t.isDue(time.Now()), nil
}

// save keeps the plan of an entry. If another process has changed it meanwhile, this one
// is newer.
func (s *Scheduler) save(ctx context.Context, t *turn, p plan) error {
	stored, err := json.Marshal(p)
	if err != nil {
		return err
	}
	key, old := statePrefix+t.key, t.stored
	err = s.persist(ctx, t, func() error {
		for {
			err := s.Harvester.Catalog.Swap(ctx, key, old, stored)
			if !errors.Is(err, websync.ErrConflict) {
				return err
			}
			if old, err = s.Harvester.Catalog.State(ctx, key); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.stored, t.plan = stored, p
	return nil
}

// serve applies the payloads of a turn, runs its source if that is due, and plans the
// next run. Payloads are applied first: afterwards the source's lists may be ahead of
// them.
func (s *Scheduler) serve(ctx context.Context, t *turn) error {
	defer s.end(t)
	s.mu.Lock()
	ctx, t.cancel = context.WithCancel(ctx)
	if t.removed {
		t.cancel()
	}
	defer t.cancel()
	payloads := t.payloads
	t.payloads = nil
	run := t.isDue(time.Now())
	s.mu.Unlock()
	for _, body := range payloads {
		applied := ctx.Err() != nil || s.apply(ctx, t, body)
		s.mu.Lock()
		s.release(body)
		t.noticed = t.noticed || !applied
		s.mu.Unlock()
	}
	if !run || ctx.Err() != nil {
		return nil
	}
	s.mu.Lock()
	noticed := t.noticed
	t.noticed = false
	s.mu.Unlock()
	report, err := s.harvest(ctx, t, t.Source)
	if ctx.Err() != nil {
		return nil // its time stays due
	}
	now := time.Now()
	if errors.Is(err, harvest.ErrHeld) || errors.Is(err, harvest.ErrFenced) {
		s.mu.Lock()
		defer s.mu.Unlock()
		t.recheck, t.noticed = now.Add(time.Minute), t.noticed || noticed
		return nil
	}
	if err := s.save(ctx, t, t.after(now, report, err)); ctx.Err() == nil {
		return err
	}
	return nil
}

// after returns the plan after a run that ended now.
func (t *turn) after(now time.Time, report *harvest.Report, err error) plan {
	const attempts = 5
	p := plan{Ended: now, Due: t.next(now)}
	sooner := func(at time.Time) {
		if p.Due.IsZero() || at.Before(p.Due) {
			p.Due = at
		}
	}
	switch {
	case err != nil && t.plan.Failures+1 < attempts:
		p.Failures = t.plan.Failures + 1
		sooner(now.Add(backoff(p.Failures, time.Minute)))
	case err != nil: // no more repetitions until it is due
	case report.OverQuota != nil: // its tasks are due, and left out again
	case report.BudgetSpent:
		sooner(now)
	case !report.Left.Next.IsZero():
		sooner(latest(report.Left.Next, now.Add(time.Second)))
	}
	return p
}

// harvest runs a source for a turn, and ends it if it stalls.
func (s *Scheduler) harvest(ctx context.Context, t *turn, src harvest.Source) (*harvest.Report, error) {
	began := time.Now()
	report, err := s.watch(ctx, t, src)
	if report == nil {
		report = &harvest.Report{Source: t.key, Started: began, Ended: time.Now()}
	}
	log := s.log.With("source", websync.RedactURL(t.key), "dur", time.Since(began))
	switch {
	case err == nil:
		log.Debug("schedule: run ended")
	case ctx.Err() == nil:
		log.Warn("schedule: run ended in an error", "attempt", t.plan.Failures+1, "error", err)
	}
	if s.Ended != nil {
		s.Ended(src, report, err)
	}
	return report, err
}
