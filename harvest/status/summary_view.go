package status

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/display"
)

//go:embed summary.html
var summaryHTML string

var summaryTemplate = newTemplate(summaryHTML)

// WriteHTML writes the page. It may be called at any time, and more than once: the page
// shows what was recorded so far.
func (s *Summary) WriteHTML(w io.Writer) error {
	if err := summaryTemplate.Execute(w, s.view()); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	return nil
}

// How much the page shows.
const (
	maxBars     = 10 // hosts as bars
	maxHostRows = 25 // hosts in the table
	maxGroup    = 20 // groups of failures, rules and so on, each
	maxToDo     = 20 // sources that are not in step
)

// A summaryView is what the template shows.
type summaryView struct {
	Title, Period, Version string
	Verdict, Class         string
	Errors                 []string
	Sources                int64
	Source                 string   // if it is the only one
	ToDo                   []runRow // latest runs of sources that are not in step
	MoreToDo               int64
	Tiles                  []tile
	Outcomes               []segment
	Charts                 []chart
	Periods                []periodView
	Wire                   bool // requests are those of the wire
	Bars                   []hostBar
	Hosts                  []hostView
	Statuses               []statusView
	Groups                 []groupsView
	Runs                   runTable
	MoreRuns               int64
	Commits                commitsView
}

type commitsView struct {
	N             int64
	Mean, Longest time.Duration
}

func (s *Summary) view() *summaryView {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := &summaryView{
		Title: cmp.Or(s.Title, "Harvest"), Period: s.period(), Version: websync.Version, Errors: s.errors,
		Wire: s.hasRequests, Outcomes: s.segments(), MoreRuns: s.runs.dropped,
	}
	traffic := &s.attempts
	if s.hasRequests {
		traffic = &s.requests
	}
	var rows []runRow
	for _, f := range s.runs.all {
		rows = append(rows, f.runRow)
	}
	v.Runs = newRunTable(rows)
	v.judge(s.runs.all, len(s.errors) > 0)
	v.Tiles = s.tiles(traffic, v.Class)
	v.Charts, v.Periods = s.charts()
	v.Bars, v.Hosts = hostBars(traffic), hostViews(traffic)
	for _, status := range slices.Sorted(maps.Keys(traffic.byStatus)) {
		n := traffic.byStatus[status]
		v.Statuses = append(v.Statuses, newStatusView(StatusCount{status, n}, traffic.all.count()))
	}
	v.Groups = []groupsView{
		s.failures.view("failures", "Why resources failed", "resource", "resources"),
		s.problems.view("problems", "Documents of the sources that could not be read", "document", "documents"),
		s.noAnswers.view("unanswered", "Why requests got no answer", "request", "requests"),
		s.findings.view("findings", "Departures from the specifications", "finding", "findings"),
	}
	if n := s.commits.n; n > 0 {
		v.Commits = commitsView{n, s.commits.total / time.Duration(n), s.commits.longest}
	}
	return v
}

// period returns the time from the first to the last call in words.
func (s *Summary) period() string {
	if s.began.IsZero() {
		return ""
	}
	const day, clock = "2 January 2006, 15:04:05", "15:04:05"
	from, to := s.began.UTC(), s.last.UTC()
	format := day
	if from.YearDay() == to.YearDay() && from.Year() == to.Year() {
		format = clock
	}
	return from.Format(day) + " to " + to.Format(format) + " UTC"
}

// judge sums up the latest runs of all sources. failed is set if something else went
// wrong.
func (v *summaryView) judge(runs []finished, failed bool) {
	by := map[string]int64{}
	var only *finished
	for i := range runs {
		f := &runs[i]
		if !f.latest {
			continue
		}
		v.Sources++
		only = f
		by[f.Class]++
		switch {
		case f.State == InStep:
		case len(v.ToDo) < maxToDo:
			row := f.runRow
			row.Name = f.source
			v.ToDo = append(v.ToDo, row)
		default:
			v.MoreToDo++
		}
	}
	v.Verdict, v.Class = sumUp(by)
	switch {
	case v.Sources == 1:
		v.Source, v.Verdict = only.source, only.Verdict
		for i := range v.ToDo {
			v.ToDo[i].Name, v.ToDo[i].Verdict = "", "" // which the page begins with
		}
	case v.Sources == 0 && failed:
		v.Verdict = "Nothing was harvested."
	case v.Sources == 0:
		v.Verdict = "No run has ended yet."
	}
	if failed {
		v.Class = fail
	}
}

// tiles returns the numbers on top. A failure that was made good since is not marked.
func (s *Summary) tiles(t *traffic, class string) []tile {
	sum := &s.runs.sum
	received := sum.Bytes
	if s.hasRequests {
		received = t.all.bytes // as they were transferred
	}
	failed := tile{none, display.Number(sum.Failed), "failed"}
	if sum.Failed > 0 && class != pass {
		failed.Class = fail
	}
	tiles := []tile{
		{none, display.Number(sum.Listed), "entries listed"},
		{pass, display.Number(sum.Created + sum.Updated + sum.Deleted), "created, updated or deleted"},
		failed,
		{none, display.Number(t.all.count()), "requests"},
		{none, display.Bytes(received), "received"},
	}
	if took := s.last.Sub(s.began); took > 0 {
		tiles = append(tiles, tile{none, display.Duration(took), "in all"})
	}
	return tiles
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
func (s *Summary) segments() (all []segment) {
	const least = 0.7 // per cent
	var total int64
	for _, o := range outcomes {
		n, ids := o.of(&s.runs.sum), s.outcomes[o.outcome].ids
		if len(s.runs.all) == 0 { // before the first Report
			n = s.outcomes[o.outcome].n
		}
		if o.outcome == harvest.OutcomeFailed {
			parked := &s.outcomes[harvest.OutcomeParked]
			ids = slices.Concat(ids, parked.ids)
			ids = ids[:min(len(ids), maxExamples)]
			if len(s.runs.all) == 0 {
				n += parked.n
			}
		}
		if n > 0 {
			total += n
			all = append(all, segment{Class: o.outcome.String(), About: o.about, N: n, Examples: ids, More: n - int64(len(ids))})
		}
	}
	x := 0.0
	for i := range all {
		part := &all[i]
		width := least + float64(part.N)/float64(total)*(100-least*float64(len(all)))
		part.X, part.Width, part.Share = decimal(x), decimal(width), shareText(part.N, total)
		x += width
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
			Name: name, Slowest: h.slowest, N: h.count(), Mean: h.mean(), Longest: h.longest,
			MeanX: barX(h.mean(), longest), MaxX: barX(h.longest, longest),
		})
	}
	return all
}

// barX returns the length of a bar, of which the longest is 100.
func barX(d, longest time.Duration) string {
	if longest <= 0 {
		return "0"
	}
	return decimal(max(100*float64(d)/float64(longest), 0.5))
}

type hostView struct {
	Name          string
	N             int64
	Counts        [numStatuses]int64
	Bytes         int64
	Mean, Longest time.Duration
}

// hostViews returns the hosts on which most time was spent, and the others in one row.
func hostViews(t *traffic) (all []hostView) {
	names, others, folded := t.hosts.top(maxHostRows)
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
