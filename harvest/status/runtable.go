package status

import (
	"slices"

	"github.com/websync-go/websync/internal/display"
)

// A runTable is a table of runs.
type runTable struct {
	Columns []column // those in which a run has a number that is not zero
	Rows    []runRow
}

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

// A column is one number of all runs of a table.
type column struct {
	Name string
	of   func(*Run) int64
	text func(int64) string
}

// allColumns returns the numbers of runs, in the order of the pages.
func allColumns() []column {
	columns := []column{{"listed", func(r *Run) int64 { return r.Listed }, display.Number}}
	for _, o := range outcomes {
		columns = append(columns, column{o.outcome.String(), o.of, display.Number})
	}
	return append(columns,
		column{"left", func(r *Run) int64 { return r.Left.open() }, display.Number},
		column{"skipped", func(r *Run) int64 { return r.Skipped }, display.Number},
		column{"findings", func(r *Run) int64 { return r.Findings }, display.Number},
		column{"requests", func(r *Run) int64 { return r.Requests }, display.Number},
		column{"bodies", func(r *Run) int64 { return r.Fetched }, display.Number},
		column{"received", func(r *Run) int64 { return r.Bytes }, display.Bytes},
	)
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

// Mark returns the state with a sign.
func (r runRow) Mark() string { return display.Mark(r.Class, string(r.State)) }

// A shownNumber is one of a run.
type shownNumber struct {
	Name, Text string
	Zero       bool
}
