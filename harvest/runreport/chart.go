package runreport

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/websync-go/websync/internal/page"
)

// A classOf is a class of requests or entries: its name in the style sheet, and for
// people.
type classOf struct{ class, name string }

var requestClasses = [numStatuses]classOf{
	{"ok", "success (2xx)"}, {"same", "not modified, redirect (3xx)"}, {"refused", "refused (4xx)"}, {"broken", "server's fault (5xx)"},
	{"silent", "no answer"},
}

var entryClasses = [numEntries]classOf{
	{"ok", "changed"}, {"same", "unchanged"}, {"withheld", "withheld"}, {"broken", "failed or gone"},
}

var byteClasses = [1]classOf{{"bytes", "received"}}

// A chart is a row of bars over time, each of which is a stack of layers.
type chart struct {
	ID, Title     string
	Note          string
	Top, Half     string // labels of the scale
	Length        int    // of the axis, in periods
	Layers        []layer
	Tips          []tip
	Middle, Right string // labels of the axis of time
}

// A layer has one class of all bars as a path in SVG.
type layer struct {
	Class, Name, Path, Total string
}

// A tip explains one bar.
type tip struct {
	X    int
	Text string
}

// A periodView is a period in the table.
type periodView struct {
	From     string
	Requests [numStatuses]int64
	Entries  [numEntries]int64
	Bytes    int64
}

// leastLength is the length of an axis with few periods.
const leastLength = 12

// charts returns the charts, and the periods for the table.
func (r *Recorder) charts() (all []chart, table []periodView) {
	requests := func(p *period) []int64 { return p.attempts[:] }
	if r.hasRequests {
		requests = func(p *period) []int64 { return p.requests[:] }
	}
	for _, c := range []struct {
		id, title string
		classes   []classOf
		values    func(*period) []int64
		text      func(int64) string
	}{
		{"requests", "Requests", requestClasses[:], requests, page.Number},
		{"entries", "Entries", entryClasses[:], func(p *period) []int64 { return p.entries[:] }, page.Number},
		{"bytes", "Bytes received", byteClasses[:], func(p *period) []int64 { return []int64{p.bytes} }, page.Bytes},
	} {
		if one, ok := r.timeline.chart(c.classes, c.values, c.text); ok {
			one.ID, one.Title = c.id, c.title
			all = append(all, one)
		}
	}
	for i := range r.timeline.periods {
		p := &r.timeline.periods[i]
		if *p == (period{}) {
			continue
		}
		v := periodView{From: offset(time.Duration(i) * r.timeline.width), Entries: p.entries, Bytes: p.bytes}
		copy(v.Requests[:], requests(p))
		table = append(table, v)
	}
	return all, table
}

// chart returns a chart of the values of each period, one for each class; ok is false if
// all values are zero.
func (l *timeline) chart(classes []classOf, values func(*period) []int64, text func(int64) string) (c chart, ok bool) {
	var most int64
	for i := range l.periods {
		most = max(most, sumAll(values(&l.periods[i])))
	}
	if most == 0 {
		return c, false
	}
	top := niceCeiling(most)
	c.Length = max(len(l.periods), leastLength)
	c.Top, c.Half = text(top), text(top/2)
	c.Note = fmt.Sprintf("Each bar is %s. The highest is %s", page.Duration(l.width), text(most))
	if l.width != time.Second {
		c.Note += fmt.Sprintf(", or %s a second", rate(most, l.width, text))
	}
	c.Note += "."
	c.Middle, c.Right = offset(l.width*time.Duration(c.Length)/2), offset(l.width*time.Duration(c.Length))
	paths, totals := make([]strings.Builder, len(classes)), make([]int64, len(classes))
	for i := range l.periods {
		y := 100.0
		var words []string
		for class, n := range values(&l.periods[i]) {
			if n == 0 {
				continue
			}
			totals[class] += n
			words = append(words, text(n)+" "+classes[class].name)
			height := 100 * float64(n) / float64(top)
			y -= height
			fmt.Fprintf(&paths[class], "M%s %sh.86v%sh-.86z", decimal(float64(i)+0.07), decimal(y), decimal(height))
		}
		if len(words) > 0 {
			c.Tips = append(c.Tips, tip{i, offset(time.Duration(i)*l.width) + ": " + strings.Join(words, ", ")})
		}
	}
	for class, total := range totals {
		if total > 0 {
			c.Layers = append(c.Layers, layer{classes[class].class, classes[class].name, paths[class].String(), text(total)})
		}
	}
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

func sumAll(all []int64) (total int64) {
	for _, n := range all {
		total += n
	}
	return total
}

// niceCeiling returns the least of 2, 4, 6, 8, 10, 20, 40 and so on that is not less
// than n.
func niceCeiling(n int64) int64 {
	for scale := int64(1); scale < math.MaxInt64/100; scale *= 10 {
		for _, m := range []int64{2, 4, 6, 8, 10} {
			if m*scale >= n {
				return m * scale
			}
		}
	}
	return n
}

// offset returns a time after the start.
func offset(d time.Duration) string { return "+" + page.Duration(d) }
