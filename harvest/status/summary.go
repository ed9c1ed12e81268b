package status

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/display"
)

// A Summary records what the runs of a program did, and writes it as one HTML page. The
// zero value is ready to use. Its methods may be called from several goroutines; its
// fields must not change while it is in use.
type Summary struct {
	// Title is the heading of the page. If empty, it is "Harvest".
	Title string

	// Approve, AcceptSkipped, Recheck and Plan name the settings that the page
	// recommends, such as the flags of a program. If empty, they are those of
	// [harvest.Harvester].
	Approve, AcceptSkipped, Recheck, Plan string

	mu          sync.Mutex
	began, last time.Time // the first call and the last one
	timeline    timeline
	requests    traffic // as Request reports them
	attempts    traffic // as Hooks.Attempt reports them
	outcomes    [harvest.OutcomeExcluded + 1]examples
	failures    groups
	problems    groups
	noAnswers   groups // why requests got no answer
	findings    groups
	commits     commits
	runs        runList
	errors      []string // outside of runs
	hasRequests bool
}

// Request records a request that a Fetcher has made: one attempt, also one for a redirect
// or robots.txt. It fits [fetch.Client].OnAttempt. If it is never called, the page shows
// what [harvest.Hooks].Attempt reports: that counts repeated attempts once, and its
// durations contain the waits for the host.
//
// [fetch.Client]: https://pkg.go.dev/github.com/websync-go/websync/harvest/fetch#Client
func (s *Summary) Request(_ context.Context, q harvest.AttemptInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now(q.Duration)
	s.hasRequests = true
	s.timeline.at(now).requests[statusClass(q.Status)]++
	s.timeline.spread(q.Bytes, now.Add(-q.Duration), now)
	s.requests.add(&q)
	if q.Status == 0 && q.Err != nil {
		s.noAnswers.add(reasonOf(q.Err, ""), display.Shown(q.URL))
	}
}

// now returns the time, and notes that something began so long ago.
func (s *Summary) now(ago time.Duration) time.Time {
	now := time.Now()
	if began := now.Add(-ago); s.began.IsZero() {
		s.began = began
		s.timeline.at(began)
	}
	s.last = now
	return now
}

// Hooks returns what a [harvest.Harvester] calls during runs. [harvest.JoinHooks] joins
// them with others.
func (s *Summary) Hooks() *harvest.Hooks {
	return &harvest.Hooks{Outcome: s.outcome, Attempt: s.attempt, Commit: s.commit, Finding: s.finding, Problem: s.problem}
}

// outcome records what became of an entry.
func (s *Summary) outcome(_, id string, o harvest.Outcome, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.timeline.at(s.now(0))
	if o != harvest.OutcomeDeferred { // which has another outcome later
		now.entries[entryClass(o)]++
	}
	if int(o) < len(s.outcomes) {
		s.outcomes[o].add(id)
	}
	if err != nil && (o == harvest.OutcomeFailed || o == harvest.OutcomeParked) {
		s.failures.add(reasonOf(err, id), display.Shown(id))
	}
}

// entryClass returns the class of an outcome.
func entryClass(o harvest.Outcome) int {
	switch o {
	case harvest.OutcomeUnchanged, harvest.OutcomeHistory, harvest.OutcomeExcluded:
		return entryUnchanged
	case harvest.OutcomeWithheld:
		return entryWithheld
	case harvest.OutcomeFailed, harvest.OutcomeParked, harvest.OutcomeGone:
		return entryFailed
	}
	return entryChanged
}

func (s *Summary) attempt(_ context.Context, a harvest.AttemptInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timeline.at(s.now(a.Duration)).attempts[statusClass(a.Status)]++
	s.attempts.add(&a)
}

func (s *Summary) commit(_ context.Context, c harvest.CommitInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now(c.Duration)
	s.commits.n++
	s.commits.total += c.Duration
	s.commits.longest = max(s.commits.longest, c.Duration)
}

func (s *Summary) finding(_ string, f websync.Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now(0)
	name := f.Rule
	if f.Section != "" {
		name += ", " + f.Section
	}
	f.Rule, f.Section = "", "" // which name the group
	s.findings.add(reason{name: display.Shown(name)}, display.Shown(f.String()))
}

func (s *Summary) problem(_ string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now(0)
	s.problems.add(reasonOf(err, ""), display.Shown(err.Error()))
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
	one := host{bytes: q.Bytes, total: q.Duration, longest: q.Duration, slowest: display.Shown(q.URL)}
	one.requests[statusClass(status)] = 1
	t.all.add(&one)
	t.hosts.at(display.Shown(cmp.Or(q.Host, "no host"))).add(&one)
}

// A host counts the requests to a host.
type host struct {
	requests [numStatuses]int64
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
func (h *host) count() int64 { return sum(h.requests[:]) }

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

// examples counts what has one outcome, and has the ids of the first.
type examples struct {
	n   int64
	ids []string
}

func (e *examples) add(id string) {
	if e.n++; len(e.ids) < maxExamples {
		e.ids = append(e.ids, display.Shown(id))
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
