package status

import (
	_ "embed"
	"html/template"
	"slices"
	"strconv"

	"github.com/websync-go/websync/internal/page"
)

// What both pages have: the style sheet, and templates.
var (
	//go:embed runs.css
	runStyle string
	//go:embed common.html
	commonHTML string
)

// newTemplate returns the template of a page.
func newTemplate(html string) *template.Template {
	t := page.New("page").Funcs(template.FuncMap{
		"runStyle": func() template.CSS { return template.CSS(runStyle) },
	})
	return template.Must(template.Must(t.Parse(commonHTML)).Parse(html))
}

// A tile is a number on top of a page.
type tile struct{ Class, Value, Name string }

// A column is one number of all runs of a table.
type column struct {
	Name string
	of   func(*Run) int64
	text func(int64) string
}

// allColumns returns the numbers of runs, in the order of the pages.
func allColumns() []column {
	columns := []column{{"listed", func(r *Run) int64 { return r.Listed }, page.Number}}
	for _, o := range outcomes {
		columns = append(columns, column{o.outcome.String(), o.of, page.Number})
	}
	return append(columns,
		column{"left", func(r *Run) int64 { return r.Left.open() }, page.Number},
		column{"skipped", func(r *Run) int64 { return r.Skipped }, page.Number},
		column{"findings", func(r *Run) int64 { return r.Findings }, page.Number},
		column{"requests", func(r *Run) int64 { return r.Requests }, page.Number},
		column{"bodies", func(r *Run) int64 { return r.Fetched }, page.Number},
		column{"received", func(r *Run) int64 { return r.Bytes }, page.Bytes},
	)
}

// A runTable is a table of runs.
type runTable struct {
	Columns []column // those in which a run has a number that is not zero
	Rows    []runRow
}

// A runRow is a run as the pages show it.
type runRow struct {
	Run
	Name    string
	Class   string
	When    string // how long ago it ended, or empty
	Next    []step
	Numbers []shownNumber // one for each column
}

func newRunRow(name string, r Run) runRow { return runRow{Run: r, Name: name, Class: r.State.class()} }

// A shownNumber is one of a run.
type shownNumber struct {
	Name, Text string
	Zero       bool
}

// Mark returns the state with a sign.
func (r runRow) Mark() string { return page.Mark(r.Class, string(r.State)) }

// newRunTable completes rows to a table.
func newRunTable(rows []runRow) runTable {
	columns := slices.DeleteFunc(allColumns(), func(c column) bool {
		return !slices.ContainsFunc(rows, func(r runRow) bool { return c.of(&r.Run) != 0 })
	})
	for i := range rows {
		r := &rows[i]
		for _, c := range columns {
			n := c.of(&r.Run)
			r.Numbers = append(r.Numbers, shownNumber{c.Name, c.text(n), n == 0})
		}
	}
	return runTable{columns, rows}
}

// A statusView is a status in the table of requests.
type statusView struct{ Class, Name, Requests, Share string }

// newStatusView returns the view of the requests with a status, of so many in all.
func newStatusView(c StatusCount, all int64) statusView {
	class := statusClasses[statusClass(c.Status)].class
	return statusView{class, statusName(c.Status), page.Number(c.Requests), shareText(c.Requests, all)}
}

// shareText returns how many per cent of total n are.
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
