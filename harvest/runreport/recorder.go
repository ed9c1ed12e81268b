package runreport

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/page"
)

// A Recorder records runs for a page. The zero value is ready to use. Its methods may be
// called from several goroutines; its fields must not change while it is in use.
type Recorder struct {
	// Title is the heading of the page. If empty, it is "Harvest".
	Title string

	// Approve, AcceptSkipped and Recheck name the settings that the page recommends, such
	// as the flags of a program. If empty, they are those of [harvest.Harvester].
	Approve, AcceptSkipped, Recheck string

	mu          sync.Mutex
	began, last time.Time // the first call and the last one
	timeline    timeline
	requests    traffic // as Request reports them
	attempts    traffic // as Hooks.Attempt reports them
	outcomes    [numOutcomes]outcome
	failures    groups
	problems    groups
	noAnswers   groups // why requests got no answer
	findings    groups
	commits     commits
	runs        runs
	errors      []string // outside of runs
	hasRequests bool
}

// numOutcomes is the number of harvest.Outcome values.
const numOutcomes = harvest.OutcomeWithheld + 1

// Request records a request that a Fetcher has made: one attempt, also one for a redirect
// or robots.txt. It fits [fetch.Client].OnAttempt. If it is never called, the page shows
// what [harvest.Hooks].Attempt reports: that counts repeated attempts once, and its
// durations contain the waits for the host.
//
// [fetch.Client]: https://pkg.go.dev/github.com/websync-go/websync/harvest/fetch#Client
func (r *Recorder) Request(_ context.Context, q harvest.AttemptInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now(q.Duration)
	r.hasRequests = true
	r.timeline.at(now).requests[page.StatusClass(q.Status)]++
	r.timeline.spread(q.Bytes, now.Add(-q.Duration), now)
	r.requests.add(&q)
	if q.Status == 0 && q.Err != nil {
		r.noAnswers.add(reasonOf(q.Err, ""), page.Shown(q.URL))
	}
}

// now returns the time, and notes that something began so long ago.
func (r *Recorder) now(ago time.Duration) time.Time {
	now := time.Now()
	if began := now.Add(-ago); r.began.IsZero() {
		r.began = began
		r.timeline.at(began)
	}
	r.last = now
	return now
}

// Hooks returns what a [harvest.Harvester] calls during runs. [harvest.JoinHooks] joins
// them with others.
func (r *Recorder) Hooks() *harvest.Hooks {
	return &harvest.Hooks{Outcome: r.outcome, Attempt: r.attempt, Commit: r.commit, Finding: r.finding, Problem: r.problem}
}

func (r *Recorder) outcome(_, id string, o harvest.Outcome, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.timeline.at(r.now(0))
	if o != harvest.OutcomeDeferred { // which has another outcome later
		now.entries[entryClass(o)]++
	}
	if o < numOutcomes {
		r.outcomes[o].add(id)
	}
	if err != nil && (o == harvest.OutcomeFailed || o == harvest.OutcomeParked) {
		r.failures.add(reasonOf(err, id), page.Shown(id))
	}
}

// entryClass returns the class of an outcome.
func entryClass(o harvest.Outcome) int {
	switch o {
	case harvest.OutcomeUnchanged, harvest.OutcomeHistory:
		return entryUnchanged
	case harvest.OutcomeWithheld:
		return entryWithheld
	case harvest.OutcomeFailed, harvest.OutcomeParked, harvest.OutcomeGone:
		return entryFailed
	}
	return entryChanged
}

func (r *Recorder) attempt(_ context.Context, a harvest.AttemptInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timeline.at(r.now(a.Duration)).attempts[page.StatusClass(a.Status)]++
	r.attempts.add(&a)
}

func (r *Recorder) commit(_ context.Context, c harvest.CommitInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now(c.Duration)
	r.commits.n++
	r.commits.total += c.Duration
	r.commits.longest = max(r.commits.longest, c.Duration)
}

func (r *Recorder) finding(_ string, f websync.Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now(0)
	name := f.Rule
	if f.Section != "" {
		name += ", " + f.Section
	}
	f.Rule, f.Section = "", "" // which name the group
	r.findings.add(reason{name: page.Shown(name)}, page.Shown(f.String()))
}

func (r *Recorder) problem(_ string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now(0)
	r.problems.add(reasonOf(err, ""), page.Shown(err.Error()))
}

// traffic counts requests.
type traffic struct {
	all      host
	byStatus map[int]int64
	hosts    table[host, *host]
}

func (t *traffic) add(q *harvest.AttemptInfo) {
	status := q.Status
	if status < 0 || status > 999 {
		status = 0
	}
	if t.byStatus == nil {
		t.byStatus = map[int]int64{}
	}
	t.byStatus[status]++
	one := host{bytes: q.Bytes, total: q.Duration, longest: q.Duration, slowest: page.Shown(q.URL)}
	one.requests[page.StatusClass(status)] = 1
	t.all.add(&one)
	t.hosts.at(page.Shown(either(q.Host, "no host"))).add(&one)
}

// A host counts the requests to a host.
type host struct {
	requests [page.NumStatuses]int64
	bytes    int64
	total    time.Duration
	longest  time.Duration
	slowest  string // URL of the longest request
}

func (h *host) add(o *host) {
	for i, n := range o.requests {
		h.requests[i] += n
	}
	h.bytes += o.bytes
	h.total += o.total
	if o.longest >= h.longest {
		h.longest, h.slowest = o.longest, o.slowest
	}
}

// weight is the time that was spent on the host.
func (h *host) weight() int64 { return int64(h.total) }

// count returns the number of requests.
func (h *host) count() (n int64) {
	for _, m := range h.requests {
		n += m
	}
	return n
}

// mean returns the mean duration.
func (h *host) mean() time.Duration {
	if n := h.count(); n > 0 {
		return h.total / time.Duration(n)
	}
	return 0
}

// commits sums up the Commits of the Store.
type commits struct {
	n              int64
	total, longest time.Duration
}

// maxExamples is how many examples of each kind are kept.
const maxExamples = 5

// An outcome counts the entries with one outcome.
type outcome struct {
	n        int64
	examples []string // ids
}

func (o *outcome) add(id string) {
	if o.n++; len(o.examples) < maxExamples {
		o.examples = append(o.examples, page.Shown(id))
	}
}

// groups counts what went wrong by its reason.
type groups struct {
	n     int64
	table table[group, *group]
}

// A group is what has one reason.
type group struct {
	n        int64
	advice   string
	examples []string
}

func (g *groups) add(why reason, example string) {
	g.n++
	row := g.table.at(why.name)
	row.add(&group{n: 1, advice: why.advice, examples: []string{example}})
}

func (g *group) add(o *group) {
	g.n += o.n
	g.advice = o.advice
	for _, example := range o.examples {
		if len(g.examples) < maxExamples && !slices.Contains(g.examples, example) {
			g.examples = append(g.examples, example)
		}
	}
}

func (g *group) weight() int64 { return g.n }
