package runreport

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/page"
)

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(page.New("page").Funcs(template.FuncMap{
	"mark": markOf,
}).Parse(pageHTML))

// markOf returns the word of a class, so that the page does not depend on colours.
func markOf(class string) string {
	return map[string]string{"pass": "✓ in step", "warn": "! not in step", "fail": "✗ failed"}[class]
}

// WriteHTML writes the page. It may be called at any time, and more than once: the page
// shows what was recorded so far.
func (r *Recorder) WriteHTML(w io.Writer) error {
	if err := pageTemplate.Execute(w, r.view()); err != nil {
		return fmt.Errorf("runreport: %w", err)
	}
	return nil
}

// How much the page shows.
const (
	maxBars  = 10 // hosts as bars
	maxHosts = 25 // hosts in the table
	maxGroup = 20 // groups of failures, rules and so on, each
	maxToDo  = 20 // sources that are not in step
)

// A view is what the template shows.
type view struct {
	Title, Period, Version string
	Verdict, Class         string
	Errors                 []string
	Sources                int
	Source                 string    // if it is the only one
	ToDo                   []runView // latest runs of sources that are not in step
	MoreToDo               int
	Tiles                  []tile
	Outcomes               []segment
	Charts                 []page.Chart
	Periods                []periodView
	Wire                   bool // requests are those of the wire
	Bars                   []hostBar
	Hosts                  []hostView
	Statuses               []statusView
	Groups                 []groupsView
	Columns                []string // of Runs
	Runs                   []runView
	MoreRuns               int64
	Commits                commitsView
}

type tile struct {
	Class, Value, Name string
}

type runView struct {
	Name, Source, Verdict, Class, Guard string
	Err                                 []string
	Next                                []step
	Started                             string
	Took                                time.Duration
	Numbers                             []number // one for each of view.Columns
}

type commitsView struct {
	N             int64
	Mean, Longest time.Duration
}

func (r *Recorder) view() *view {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := &view{
		Title: either(r.Title, "Harvest"), Period: r.period(), Version: websync.Version, Errors: r.errors, MoreRuns: r.runs.dropped,
		Wire: r.hasRequests, Outcomes: r.segments(),
	}
	traffic := &r.attempts
	if r.hasRequests {
		traffic = &r.requests
	}
	columns := r.runs.columns()
	for _, c := range columns {
		v.Columns = append(v.Columns, c.name)
	}
	for _, f := range r.runs.all {
		v.Runs = append(v.Runs, newRunView(&f, columns))
	}
	v.judge(&r.runs, len(r.errors) > 0)
	v.Tiles = r.tiles(traffic, v.Class)
	v.Charts, v.Periods = r.charts()
	v.Bars, v.Hosts = hostBars(traffic), hostViews(traffic)
	v.Statuses = statusViews(traffic)
	v.Groups = []groupsView{
		r.failures.view("failures", "Why resources failed", "resource", "resources"),
		r.problems.view("problems", "Documents of the sources that could not be read", "document", "documents"),
		r.noAnswers.view("unanswered", "Why requests got no answer", "request", "requests"),
		r.findings.view("findings", "Departures from the specifications", "finding", "findings"),
	}
	if n := r.commits.n; n > 0 {
		v.Commits = commitsView{n, r.commits.total / time.Duration(n), r.commits.longest}
	}
	return v
}

// period returns the time from the first to the last call in words.
func (r *Recorder) period() string {
	if r.began.IsZero() {
		return ""
	}
	const day, clock = "2 January 2006, 15:04:05", "15:04:05"
	from, to := r.began.UTC(), r.last.UTC()
	format := day
	if from.YearDay() == to.YearDay() && from.Year() == to.Year() {
		format = clock
	}
	return from.Format(day) + " to " + to.Format(format) + " UTC"
}

// A number is one of a run.
type number struct {
	Name, Text string
	Zero       bool
}

// A column is one number of all runs.
type column struct {
	name string
	of   func(*sum) int64
	text func(int64) string
}

// columns returns the numbers that are not zero in all runs.
func (r *runs) columns() []column {
	columns := []column{{"listed", func(s *sum) int64 { return s.listed }, page.Number}}
	for _, o := range shownOutcomes {
		columns = append(columns, column{o.name, func(s *sum) int64 { return s.outcomes[o.outcome] }, page.Number})
	}
	columns = append(columns,
		column{"left", func(s *sum) int64 { return s.left }, page.Number},
		column{"skipped", func(s *sum) int64 { return s.skipped }, page.Number},
		column{"findings", func(s *sum) int64 { return s.findings }, page.Number},
		column{"requests", func(s *sum) int64 { return s.requests }, page.Number},
		column{"bodies", func(s *sum) int64 { return s.fetched }, page.Number},
		column{"received", func(s *sum) int64 { return s.bytes }, page.Bytes},
	)
	return slices.DeleteFunc(columns, func(c column) bool {
		return !slices.ContainsFunc(r.all, func(f finished) bool { return c.of(&f.sum) != 0 })
	})
}

func newRunView(f *finished, columns []column) runView {
	v := runView{
		Name: either(f.title, f.source), Source: f.source, Verdict: f.verdict, Err: f.err, Guard: f.guard, Next: f.next, Class: f.state.class(),
		Started: page.Time(f.started), Took: f.took,
	}
	for _, c := range columns {
		n := c.of(&f.sum)
		v.Numbers = append(v.Numbers, number{c.name, c.text(n), n == 0})
	}
	return v
}

func (s State) class() string { return [...]string{"pass", "warn", "warn", "fail"}[s] }

// judge sums up the latest runs of all sources.
func (v *view) judge(r *runs, failed bool) {
	inStep, worst := 0, InStep
	last := ""
	for i, f := range r.all {
		if !f.latest {
			continue
		}
		v.Sources++
		last, worst = f.verdict, max(worst, f.state)
		v.Source = f.source
		if f.state == InStep {
			inStep++
		} else if len(v.ToDo) < maxToDo {
			v.ToDo = append(v.ToDo, v.Runs[i])
		}
	}
	v.MoreToDo = v.Sources - inStep - len(v.ToDo)
	if v.Sources > 1 {
		v.Source = ""
	}
	switch {
	case v.Sources == 0:
		v.Verdict, v.Class = "No run has ended yet.", "none"
	case v.Sources == 1:
		v.Verdict, v.Class = last, worst.class()
	case inStep == v.Sources:
		v.Verdict, v.Class = fmt.Sprintf("All %d sources are in step.", v.Sources), worst.class()
	case inStep == 0:
		v.Verdict, v.Class = fmt.Sprintf("None of %d sources is in step.", v.Sources), worst.class()
	default:
		v.Verdict, v.Class = fmt.Sprintf("Not in step: %d of %d sources.", v.Sources-inStep, v.Sources), worst.class()
	}
	if failed {
		v.Class = Failed.class()
	}
	if failed && v.Sources == 0 {
		v.Verdict = "Nothing was harvested."
	}
}

// shownOutcomes are the outcomes in the order of the page.
var shownOutcomes = []struct {
	outcome harvest.Outcome
	name    string
	about   string
}{
	{harvest.OutcomeCreated, "created", "new, or back after a deletion"},
	{harvest.OutcomeUpdated, "updated", "the content or the description has changed"},
	{harvest.OutcomeDeleted, "deleted", "removed by the source"},
	{harvest.OutcomeTouched, "touched", "only the stated time, or what the server says of the version, is new"},
	{harvest.OutcomeUnchanged, "unchanged", "the store already had it"},
	{harvest.OutcomeHistory, "history", "the store has something later"},
	{harvest.OutcomeDeferred, "deferred", "to be fetched by a later run"},
	{harvest.OutcomeWithheld, "withheld", "deletions and new bodies that were not accepted, because they may be wrong"},
	{harvest.OutcomeGone, "gone", "listed, but removed by the server"},
	{harvest.OutcomeFailed, "failed", "could not be fetched"},
}

// tiles returns the numbers on top. A failure that was made good since is not marked.
func (r *Recorder) tiles(t *traffic, class string) []tile {
	s := &r.runs.sum
	changed := s.outcomes[harvest.OutcomeCreated] + s.outcomes[harvest.OutcomeUpdated] + s.outcomes[harvest.OutcomeDeleted]
	failed := s.outcomes[harvest.OutcomeFailed]
	tiles := []tile{
		{"none", page.Number(s.listed), "entries listed"},
		{"pass", page.Number(changed), "created, updated or deleted"},
		{"none", page.Number(failed), "failed"},
		{"none", page.Number(t.all.count()), "requests"},
		{"none", page.Bytes(r.bytes()), "received"},
	}
	if failed > 0 && class != InStep.class() {
		tiles[2].Class = "fail"
	}
	if took := r.last.Sub(r.began); took > 0 {
		tiles = append(tiles, tile{"none", page.Duration(took), "in all"})
	}
	return tiles
}

// bytes returns the bytes of all bodies, as they were transferred if that is known.
func (r *Recorder) bytes() int64 {
	if r.hasRequests {
		return r.requests.all.bytes
	}
	return r.runs.sum.bytes
}

// A segment is a part of the bar of outcomes.
type segment struct {
	Class, About string
	N            int64
	X, Width     string
	Share        string
	Examples     []string
	More         int64 // than the examples
}

// segments returns the outcomes that occurred. The smallest part is still visible.
func (r *Recorder) segments() (all []segment) {
	const least = 0.7 // per cent
	var total int64
	counts := r.outcomeCounts()
	parts := 0
	for _, o := range shownOutcomes {
		if n := counts[o.outcome]; n > 0 {
			total += n
			parts++
		}
	}
	x := 0.0
	for _, o := range shownOutcomes {
		n := counts[o.outcome]
		if n == 0 {
			continue
		}
		share := float64(n) / float64(total)
		width := least + share*(100-least*float64(parts))
		s := segment{
			Class: o.name, About: o.about, N: n, X: page.Decimal(x), Width: page.Decimal(width), Share: shareText(n, total), Examples: r.outcomes[o.outcome].examples,
		}
		if o.outcome == harvest.OutcomeFailed {
			s.Examples = slices.Concat(s.Examples, r.outcomes[harvest.OutcomeParked].examples)
			s.Examples = s.Examples[:min(len(s.Examples), maxExamples)]
		}
		s.More = n - int64(len(s.Examples))
		all = append(all, s)
		x += width
	}
	return all
}

// outcomeCounts returns the counts of the Reports or, before the first, of the Hooks.
func (r *Recorder) outcomeCounts() (counts [numOutcomes]int64) {
	if len(r.runs.all) > 0 {
		return r.runs.sum.outcomes
	}
	for o := range r.outcomes {
		counts[o] = r.outcomes[o].n
	}
	counts[harvest.OutcomeFailed] += counts[harvest.OutcomeParked]
	return counts
}

func shareText(n, total int64) string {
	share := 100 * float64(n) / float64(total)
	switch {
	case n == total:
		return "100%"
	case share < 0.1:
		return "<0.1%"
	case share > 99.9:
		return ">99.9%"
	}
	return strconv.FormatFloat(share, 'f', 1, 64) + "%"
}

type statusView struct {
	Status string
	Class  string
	N      int64
	Share  string
}

// statusViews returns the requests by status.
func statusViews(t *traffic) (all []statusView) {
	for _, status := range slices.Sorted(maps.Keys(t.byStatus)) {
		n := t.byStatus[status]
		all = append(all, statusView{page.StatusName(status), page.StatusClasses[page.StatusClass(status)].Class, n, shareText(n, t.all.count())})
	}
	return all
}

// A hostBar is a host with its times as bars.
type hostBar struct {
	Name, Slowest string
	N             int64
	Mean, Longest time.Duration
	MeanX, MaxX   string // of 100
}

// hostBars returns the slowest hosts.
func hostBars(t *traffic) (all []hostBar) {
	names := slices.SortedFunc(maps.Keys(t.hosts.rows), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.hosts.rows[b].mean(), t.hosts.rows[a].mean()), cmp.Compare(a, b))
	})
	var longest time.Duration
	names = names[:min(len(names), maxBars)]
	for _, name := range names {
		longest = max(longest, t.hosts.rows[name].longest)
	}
	for _, name := range names {
		h := t.hosts.rows[name]
		all = append(all, hostBar{
			Name: name, Slowest: h.slowest, N: h.count(), Mean: h.mean(), Longest: h.longest, MeanX: barX(h.mean(), longest), MaxX: barX(h.longest, longest),
		})
	}
	return all
}

// barX returns the length of a bar, of which the longest is 100.
func barX(d, longest time.Duration) string {
	if longest <= 0 {
		return "0"
	}
	return page.Decimal(max(100*float64(d)/float64(longest), 0.5))
}

type hostView struct {
	Name          string
	N             int64
	Counts        [page.NumStatuses]int64
	Bytes         int64
	Mean, Longest time.Duration
}

// hostViews returns the hosts on which most time was spent, and the others in one row.
func hostViews(t *traffic) (all []hostView) {
	names, others, folded := t.hosts.top(maxHosts)
	for _, name := range names {
		all = append(all, newHostView(name, t.hosts.rows[name]))
	}
	if folded > 0 {
		all = append(all, newHostView("all others", &others))
	}
	return all
}

func newHostView(name string, h *host) hostView {
	return hostView{name, h.count(), h.requests, h.bytes, h.mean(), h.longest}
}

// A groupsView is a table of what went wrong.
type groupsView struct {
	ID, Title, One, Many string
	N                    int64
	Groups               []groupView
}

type groupView struct {
	Name, Advice string
	N            int64
	Examples     []string
	More         int64 // than the examples
}

func (g *groups) view(id, title, one, many string) groupsView {
	v := groupsView{ID: id, Title: title, One: one, Many: many, N: g.n}
	names, others, folded := g.table.top(maxGroup)
	for _, name := range names {
		row := g.table.rows[name]
		v.Groups = append(v.Groups, groupView{name, row.advice, row.n, row.examples, row.n - int64(len(row.examples))})
	}
	if folded > 0 {
		v.Groups = append(v.Groups, groupView{Name: "all others", N: others.n})
	}
	return v
}
