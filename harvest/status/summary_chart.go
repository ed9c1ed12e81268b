package status

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/websync-go/websync/internal/display"
)

var entryClasses = [numEntries]countClass{
	{"ok", "changed"}, {"same", "unchanged"}, {"withheld", "withheld"},
	{"broken", "failed or gone"},
}

var byteClasses = [1]countClass{{"bytes", "received"}}

// A periodView is a period in the table.
type periodView struct {
	From     string
	Requests [numStatuses]int64
	Entries  [numEntries]int64
	Bytes    int64
}

// charts returns the charts, and the periods for the table.
func (s *Summary) charts() (all []chart, table []periodView) {
	requests := func(p *period) []int64 { return p.attempts[:] }
	if s.hasRequests {
		requests = func(p *period) []int64 { return p.requests[:] }
	}
	for _, c := range []struct {
		id, title string
		classes   []countClass
		values    func(*period) []int64
		text      func(int64) string
	}{
		{"requests", "Requests", statusClasses[:], requests, display.Number},
		{"entries", "Entries", entryClasses[:], func(p *period) []int64 { return p.entries[:] }, display.Number},
		{"bytes", "Bytes received", byteClasses[:], func(p *period) []int64 { return []int64{p.bytes} }, display.Bytes},
	} {
		if one, ok := s.timeline.chart(c.classes, c.values, c.text); ok {
			one.ID, one.Title = c.id, c.title+" over time"
			all = append(all, one)
		}
	}
	for i := range s.timeline.periods {
		p := &s.timeline.periods[i]
		if *p == (period{}) {
			continue
		}
		v := periodView{From: offset(time.Duration(i) * s.timeline.width), Entries: p.entries, Bytes: p.bytes}
		copy(v.Requests[:], requests(p))
		table = append(table, v)
	}
	return all, table
}

// chart returns a chart of the values of each period, one for each class; ok is false if
// all values are zero.
func (l *timeline) chart(classes []countClass, values func(*period) []int64, text func(int64) string) (c chart, ok bool) {
	c, most := stack(len(l.periods), classes, func(i int) []int64 { return values(&l.periods[i]) },
		func(i int) string { return offset(time.Duration(i) * l.width) }, text)
	if most == 0 {
		return c, false
	}
	c.Note = fmt.Sprintf("Each bar is %s. The highest is %s", display.Duration(l.width), text(most))
	if l.width != time.Second {
		c.Note += fmt.Sprintf(", or %s a second", rate(most, l.width, text))
	}
	c.Note += "."
	c.About = "the table of periods has the numbers"
	c.Left, c.Middle, c.Right = "0", offset(l.width*time.Duration(c.Length)/2), offset(l.width*time.Duration(c.Length))
	return c, true
}

// rate returns a number in a second.
func rate(n int64, in time.Duration, text func(int64) string) string {
	if f := float64(n) / in.Seconds(); f >= 10 {
		return text(int64(math.Round(f)))
	} else {
		return strconv.FormatFloat(f, 'g', 2, 64)
	}
}

// offset returns a time after the start.
func offset(d time.Duration) string { return "+" + display.Duration(d) }
