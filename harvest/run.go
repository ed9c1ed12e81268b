package harvest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/survive"
	"github.com/websync-go/websync/internal/syntax"
)

// A run is one pass over one source. Its files follow the five stages: list.go; plan.go,
// which decides by decide.go and judge.go; get.go; commit.go; sweep.go.
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

	docs  documents // of the listing
	alike alikeGuard

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
		Requests: map[int]int64{}, Problems: []Failure{}, Failures: []Failure{}}
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

// clock returns the time by the publisher's clock: the latest Date of the answers with
// lists, or the start of the run if none had one.
func (r *run) clock() time.Time {
	if date := r.date.Load(); date != 0 {
		return time.Unix(date, 0)
	}
	return r.report.Started
}

// noteDate notes the Date of an answer with a list.
func (r *run) noteDate(resp *Response) {
	at := parseDate(resp.header("Date"))
	for date := r.date.Load(); !at.IsZero() && at.Unix() > date && !r.date.CompareAndSwap(date, at.Unix()); {
		date = r.date.Load()
	}
}

// parseDate parses the Date of an answer; the time is zero if it is none.
func parseDate(text string) time.Time {
	d, _, err := websync.ParseDatetimeLenient(text)
	if err != nil {
		return time.Time{}
	}
	return d.UTC().Time()
}

// past returns t, or the zero Datetime if t lies in the future.
func (r *run) past(t websync.Datetime) websync.Datetime {
	if r.isFuture(t) {
		return websync.Datetime{}
	}
	return t
}

// isFuture reports whether a stated time lies in the future.
func (r *run) isFuture(t websync.Datetime) bool { return isAfter(t, r.latest()) }

// latest returns the latest time that does not lie in the future, in seconds since 1970:
// a day later than the publisher's clock. If no answer had a Date, a full pass takes the
// local clock; for any other run no time lies in the future.
func (r *run) latest() int64 {
	now := r.date.Load()
	switch {
	case now != 0:
	case r.isFull():
		now = r.report.Started.Unix()
	default:
		return math.MaxInt64
	}
	return now + 24*60*60
}

// isFull reports whether the run lists from the beginning.
func (r *run) isFull() bool { return r.h.Full || r.h.Recheck || r.dry.audits() }

func (r *run) newBody(ctx context.Context) (pendingBody, error) {
	defer r.ours()
	if r.h.Bodies == VerifyBodies {
		return newSink(), nil
	}
	return r.catalog.newBody(ctx)
}

// recordsOf returns the records of ids, one for each.
func (r *run) recordsOf(ctx context.Context, ids []string) ([]Record, error) {
	records, err := r.catalog.lookup(ctx, r.key, ids)
	if err != nil {
		return nil, &StoreError{err}
	}
	return records, nil
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

// errBudget: a limit of the Budget is reached.
var errBudget = errors.New("the budget of this run is spent")

// spent reports whether the run gets no further body: the Budget does not allow it, or
// the last ones were too much alike.
func (r *run) spent() bool {
	if r.alike.stopped.Load() {
		return true
	}
	b := r.h.Budget
	if b == (Budget{}) {
		return false
	}
	r.report.mu.Lock()
	defer r.report.mu.Unlock()
	if b.Time > 0 && time.Since(r.report.Started) >= b.Time ||
		b.Requests > 0 && r.report.bodyRequests >= b.Requests ||
		b.Bytes > 0 && r.report.Bytes >= b.Bytes {
		r.report.BudgetSpent = true
	}
	return r.report.BudgetSpent
}

// counted is the Fetcher that Sources and jobs see: it sets what Requests have from the
// engine, and counts and reports them.
type counted struct {
	run  *run
	list bool
}

var errNoFetcher = errors.New("harvest: Harvester.Fetcher is nil")

func (c *counted) Fetch(ctx context.Context, req *Request) (*Response, error) {
	if c.run.h.Fetcher == nil {
		return nil, errNoFetcher
	}
	if !c.list && c.run.spent() {
		return nil, errBudget
	}
	sent := *req
	sent.Root, sent.Source, sent.List = cmp.Or(req.Root, c.run.root), c.run.key, c.list
	sent.Began = c.run.report.Started
	req = &sent
	began := time.Now()
	resp, err := c.run.h.Fetcher.Fetch(ctx, req)
	if wrong := breach(req, resp); err == nil && wrong != "" {
		err = fmt.Errorf("the Fetcher, a %T, returned %s", c.run.h.Fetcher, wrong)
	}
	if err == nil && resp.NotModified {
		// that of the bytes which are held, whatever the answer has (RFC 9111 §4.3.4)
		resp.Validator = req.Validator
	}
	status := statusOf(resp, err)
	if status != 0 || !aborted(ctx, err) && !errors.Is(err, ErrNotYet) && !errors.Is(err, ErrForbidden) {
		c.count(status)
	}
	if err == nil && c.list {
		c.run.noteDate(resp)
	}
	c.noteAlone(err)
	c.watch(ctx, req, resp, status, began, err)
	return resp, err
}

// noteAlone reports the host if err is that of one which the run leaves alone.
func (c *counted) noteAlone(err error) {
	alone, ok := errors.AsType[*LeftAloneError](err)
	if !ok {
		return
	}
	c.run.report.leftAlone(alone)
	if !c.list {
		c.run.alone.Store(alone.Host, alone)
	}
}

// breach returns how an answer without an error breaks the contract of a Fetcher; "" if
// it does not.
func breach(req *Request, resp *Response) string {
	switch {
	case resp == nil:
		return "neither a Response nor an error"
	case resp.Body == nil && !resp.NotModified:
		return "a Response without a Body"
	case resp.NotModified && req.Validator.IsZero():
		return "NotModified for a Request without a Validator"
	}
	return ""
}

// watch counts the bytes of the answer and reports the request: at once if its body is
// already read, or there is none, else when the caller has read or closed it.
func (c *counted) watch(ctx context.Context, req *Request, resp *Response, status int, began time.Time, err error) {
	ended := func(bytes int64, err error) {
		defer c.run.ours()
		if hook := c.run.hooks.Attempt; hook != nil {
			host, _ := syntax.OriginOf(req.URL)
			hook(ctx, AttemptInfo{
				Source: c.run.key, List: c.list, Method: "GET", Host: string(host), URL: websync.RedactURL(req.URL),
				Status: status, Bytes: bytes, Duration: time.Since(began), Err: err,
			})
		}
	}
	switch {
	case err != nil || resp.Body == nil:
		ended(0, err)
	case c.list && req.Spool && resp.Length >= 0:
		ended(resp.Length, nil)
	case !c.list || c.run.hooks.Attempt != nil:
		body := &countedBody{ReadCloser: resp.Body, ended: ended}
		if !c.list {
			body.report = c.run.report
		}
		resp.Body = body
	}
}

func (c *counted) count(status int) {
	r := c.run.report
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Requests[status]++
	if !c.list {
		r.bodyRequests++
		if status == 200 {
			r.Fetched++
		}
	}
}

// statusOf returns the status of an answer, 0 if there was none. An error states it with
// a method StatusCode() int.
func statusOf(resp *Response, err error) int {
	if err == nil {
		return resp.Status
	}
	var s interface{ StatusCode() int }
	if errors.As(err, &s) {
		return s.StatusCode()
	}
	return 0
}

// countedBody counts the bytes that are read, and calls ended once when there are no
// more.
type countedBody struct {
	io.ReadCloser
	report *Report // if nil, the Report does not count them
	bytes  atomic.Int64
	once   sync.Once
	ended  func(bytes int64, err error)
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.bytes.Add(int64(n))
	if b.report != nil {
		b.report.mu.Lock()
		b.report.Bytes += int64(n)
		b.report.mu.Unlock()
	}
	switch err {
	case nil:
	case io.EOF:
		b.end(nil)
	default:
		b.end(err)
	}
	return n, err
}

func (b *countedBody) Close() error {
	err := b.ReadCloser.Close()
	b.end(nil)
	return err
}

func (b *countedBody) end(err error) { b.once.Do(func() { b.ended(b.bytes.Load(), err) }) }
