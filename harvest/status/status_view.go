package status

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/display"
)

//go:embed status.html
var statusHTML string

var statusTemplate = newTemplate(statusHTML)

// How much the pictures and tables show.
const (
	maxAttention = 10
	maxRows      = 25 // of a picture
	maxRunsShown = 15
	timelineSpan = 24 * time.Hour
)

// A view is what the template shows.
type view struct {
	*Status
	Version   string
	Removal   string // what Removed has
	Tiles     []tile
	Attention []runRow // sources that need it
	MoreToDo  int64
	Changes   chart
	Lags      []pictureRow
	LagTicks  []string
	MoreLags  int
	Timeline  []pictureRow
	MoreRows  int
	Strips    []pictureRow
	Runs      runTable
	Codes     []statusView
}

// A pictureRow is a name with a picture beside it.
type pictureRow struct {
	Name, Text string
	Label      string // of the picture
	Cells      []cell
}

// A cell is a rectangle in a picture.
type cell struct {
	Class, X, Y, Width, Height, Opacity, Text string
}

func newView(s *Status) *view {
	v := &view{Status: s, Version: websync.Version, Tiles: s.tiles()}
	v.Removal = display.Plural(s.Removed.Entries, "entry", "entries") + " of the log, " +
		display.Plural(int64(s.Removed.Bodies), "body", "bodies")
	var runs []runRow
	for i := range s.Sources {
		src := &s.Sources[i]
		for _, r := range src.Runs {
			runs = append(runs, newRunRow(src.Name, r))
		}
		switch {
		case src.Class != fail && src.Class != warn:
		case len(v.Attention) < maxAttention:
			v.Attention = append(v.Attention, v.attention(src))
		default:
			v.MoreToDo++
		}
	}
	slices.SortStableFunc(runs, func(x, y runRow) int { return y.Ended.Compare(x.Ended) })
	v.Runs = newRunTable(runs[:min(len(runs), maxRunsShown)])
	v.Changes = s.changes()
	v.lags()
	v.timeline()
	v.strips()
	var requests int64
	for _, c := range s.Statuses {
		requests += c.Requests
	}
	for _, c := range s.Statuses {
		v.Codes = append(v.Codes, newStatusView(c, requests))
	}
	return v
}

// attention returns the last run of a source that needs attention, with what the source
// needs it for now.
func (v *view) attention(src *Source) runRow {
	var last Run
	if len(src.Runs) > 0 {
		last = src.Runs[0]
	}
	row := newRunRow(src.Name, last)
	row.State, row.Class, row.When = src.State, src.Class, v.Ago(last.Ended)
	return row
}

func (s *Status) tiles() []tile {
	var today Day
	if n := len(s.Days); n > 0 && s.Days[n-1].Date == dateOf(s.Time) {
		today = s.Days[n-1]
	}
	var requests int64
	for _, n := range today.Requests {
		requests += n
	}
	least := ""
	if s.AtLeast {
		least = "≥ "
	}
	tasks := func(n int64, class, name string) tile {
		if n == 0 {
			class = none
		}
		return tile{class, least + display.Number(n), name}
	}
	return []tile{
		{none, display.Number(s.Live), "records"},
		{none, display.Number(today.Created + today.Updated + today.Deleted), "changes today"},
		{none, display.Number(requests), "requests today"},
		tasks(s.Tasks.Waiting, warn, "waiting"),
		tasks(s.Tasks.Parked, warn, "parked"),
		tasks(s.Tasks.Withheld, warn, "deletions withheld"),
	}
}

var changeClasses = []countClass{
	{"created", "created"}, {"updated", "updated"}, {"deleted", "deleted"},
}

// changes returns the chart of the changes of each of the last days.
func (s *Status) changes() chart {
	counts := map[string]Day{}
	for _, d := range s.Days {
		counts[d.Date] = d
	}
	first := s.Time.AddDate(0, 0, 1-maxDays)
	name := func(i int) string { return dateOf(first.AddDate(0, 0, i)) }
	c, most := stack(maxDays, changeClasses, func(i int) []int64 {
		d := counts[name(i)]
		return []int64{d.Created, d.Updated, d.Deleted}
	}, name, display.Number)
	c.ID, c.Title, c.About = "changes", "Changes per day", "the last "+fmt.Sprint(maxDays)+" days"
	c.Note = fmt.Sprintf("Days by UTC. The most were %s.", display.Plural(most, "change", "changes"))
	c.Left, c.Middle, c.Right = name(0), name(maxDays/2), "today"
	return c
}

const day = 24 * time.Hour

// lagScale has the ticks of the logarithmic scale of lags.
var lagScale = []struct {
	lag  time.Duration
	name string
}{
	{time.Minute, "1 min"}, {time.Hour, "1 h"}, {day, "1 d"}, {30 * day, "30 d"}, {365 * day, "1 y"}, {3650 * day, "10 y"},
}

// lags makes the picture of the lags, the greatest first.
func (v *view) lags() {
	known := slices.DeleteFunc(slices.Clone(v.Sources), func(s Source) bool { return s.Latest.IsZero() })
	slices.SortStableFunc(known, func(x, y Source) int { return cmp.Compare(y.Lag, x.Lag) })
	if len(known) == 0 {
		return
	}
	v.MoreLags = max(0, len(known)-maxRows)
	known = known[:len(known)-v.MoreLags]
	ticks := 2
	for ticks < len(lagScale) && time.Duration(known[0].Lag)*time.Second > lagScale[ticks-1].lag {
		ticks++
	}
	for _, t := range lagScale[:ticks] {
		v.LagTicks = append(v.LagTicks, t.name)
	}
	for _, s := range known {
		text := display.Duration(seconds(s.Lag))
		bar := cell{Class: "bytes", X: "0", Y: "0", Width: decimal(lagX(seconds(s.Lag), ticks)), Height: "1", Text: text}
		v.Lags = append(v.Lags, pictureRow{s.Name, text, "lag: " + text, []cell{bar}})
	}
}

// seconds returns a number of seconds as a Duration, which ends after 292 years.
func seconds(n int64) time.Duration {
	return time.Duration(min(n, math.MaxInt64/int64(time.Second))) * time.Second
}

// lagX returns the place of a lag on a scale of 100 with so many ticks, which are at
// equal distances.
func lagX(lag time.Duration, ticks int) float64 {
	step := 100 / float64(ticks-1)
	for i := 1; i < ticks; i++ {
		lower, upper := lagScale[i-1].lag, lagScale[i].lag
		if lag <= lower {
			return max(0.5, step*float64(i-1))
		}
		if lag <= upper {
			part := math.Log(float64(lag)/float64(lower)) / math.Log(float64(upper)/float64(lower))
			return step * (float64(i-1) + part)
		}
	}
	return 100
}

// timeline makes the picture of the runs of the last day.
func (v *view) timeline() {
	from := v.Time.Add(-timelineSpan)
	for i := range v.Sources {
		s := &v.Sources[i]
		r := pictureRow{Name: s.Name, Text: string(s.State)}
		for _, run := range slices.Backward(s.Runs) {
			if c, ok := v.span(run.Started, run.Ended, from); ok {
				c.Class, c.Text = run.State.colour(), runText(&run)
				if run.Count > 1 {
					c.Opacity = ".35"
				}
				r.Cells = append(r.Cells, c)
			}
		}
		for _, g := range s.Going {
			if c, ok := v.span(g.Started, g.Seen, from); ok {
				c.Class = "later"
				c.Text = fmt.Sprintf("%s to %s: %s listed", clock(g.Started), clock(g.Seen), display.Number(g.Listed))
				r.Cells = append(r.Cells, c)
			}
		}
		if len(r.Cells) == 0 {
			continue
		}
		if len(v.Timeline) == maxRows {
			v.MoreRows++
			continue
		}
		r.Label = display.Plural(int64(len(r.Cells)), "run or row of runs", "runs or rows of runs") +
			" in 24 hours; the last is " + string(s.State)
		v.Timeline = append(v.Timeline, r)
	}
}

// span returns the cell of a time that is in the last day. The shortest is visible.
func (v *view) span(began, ended, from time.Time) (c cell, ok bool) {
	if ended.Before(from) || began.After(v.Time) || ended.Before(began) {
		return c, false
	}
	x := max(0, 100*began.Sub(from).Hours()/timelineSpan.Hours())
	end := min(100, 100*ended.Sub(from).Hours()/timelineSpan.Hours())
	width := max(.5, end-x)
	return cell{X: decimal(min(x, 100-width)), Y: "0", Width: decimal(width), Height: "1", Opacity: "1"}, true
}

func clock(t time.Time) string { return t.UTC().Format("15:04") }

func runText(r *Run) string {
	what := string(r.State)
	if r.Count > 1 {
		what = display.Number(r.Count) + " runs with nothing to do"
	}
	return clock(r.Started) + " to " + clock(r.Ended) + ": " + what
}

// strips makes the picture of the requests to hosts: a cell for each hour, with the
// shares of the classes, and the paler the fewer requests there were.
func (v *view) strips() {
	var most int64
	for i := range v.Hosts {
		for k := range v.Hosts[i].Hours {
			most = max(most, v.Hosts[i].Hours[k].total())
		}
	}
	hour := v.Time.Truncate(time.Hour)
	for i := range v.Hosts {
		host := &v.Hosts[i]
		failed := int64(0)
		r := pictureRow{Name: host.Name}
		for _, h := range host.Hours {
			n := h.total()
			ago := int(hour.Sub(h.Start) / time.Hour)
			if n <= 0 || ago < 0 || ago >= maxHours {
				continue
			}
			failed += h.Requests[statusRefused] + h.Requests[statusBroken] + h.Requests[statusNone]
			opacity := .35 + .65*math.Log1p(float64(n))/math.Log1p(float64(most))
			r.Cells = append(r.Cells, shares(&h, maxHours-1-ago, decimal(opacity))...)
		}
		r.Text = display.Plural(host.total(), "request", "requests")
		if failed > 0 {
			r.Text += ", " + display.Number(failed) + " refused or failed"
		}
		r.Label = r.Text
		v.Strips = append(v.Strips, r)
	}
}

// shares returns the cells of one hour.
func shares(h *Hour, x int, opacity string) (cells []cell) {
	n := h.total()
	words := []string{}
	for class, m := range h.Requests {
		if m > 0 {
			words = append(words, display.Number(m)+" "+statusClasses[class].name)
		}
	}
	text := fmt.Sprintf("%s, from %s: %s, mean %s", dateOf(h.Start), clock(h.Start), strings.Join(words, ", "),
		display.Duration(time.Duration(h.Seconds/float64(n)*float64(time.Second))))
	y := 1.0
	for class, m := range h.Requests {
		if m == 0 {
			continue
		}
		height := float64(m) / float64(n)
		if class >= statusRefused {
			height = max(height, .12) // so that a few are visible
		}
		y = max(0, y-height)
		cells = append(cells, cell{
			Class: statusClasses[class].class, X: decimal(float64(x) + .05), Y: decimal(y), Width: ".9", Height: decimal(height),
			Opacity: opacity, Text: text,
		})
	}
	return cells
}

// Ago returns how long before the page a time was, in words.
func (v *view) Ago(t time.Time) string {
	d := v.Time.Sub(t)
	switch {
	case t.IsZero():
		return "—"
	case d <= -time.Second:
		return "in " + display.Duration(-d)
	case d < time.Second:
		return "now"
	}
	return display.Duration(d) + " ago"
}

// LagOf returns a lag in words; without a time of the publisher, that is not known.
func (v *view) LagOf(s Source) string {
	if s.Latest.IsZero() {
		return "—"
	}
	return display.Duration(seconds(s.Lag))
}

// Count returns a number of tasks.
func (v *view) Count(n int64, atLeast bool) string {
	if atLeast && n > 0 {
		return "≥ " + display.Number(n)
	}
	return display.Number(n)
}

// IsSilent reports whether a run has probably ended without a report.
func (v *view) IsSilent(g Going) bool { return g.isSilent(v.Time) }

// Due returns when a run is due, in words.
func (v *view) Due(t time.Time) string {
	if !t.After(v.Time) {
		return "now"
	}
	return v.Ago(t)
}

// These are numbers that the template writes.

func (v *view) LastNumber() int64       { return int64(v.Last) }
func (v *view) GenerationNumber() int64 { return int64(v.Generation) }
