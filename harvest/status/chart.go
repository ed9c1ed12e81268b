package status

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Classes of requests, by status.
const (
	statusOK = iota
	statusRedirect
	statusRefused
	statusBroken
	statusNone
	numStatuses
)

// A countClass is a class of what is counted: its name in the style sheet, and for
// people.
type countClass struct{ class, name string }

// statusClasses are the classes of requests.
var statusClasses = [numStatuses]countClass{
	{"ok", "success (2xx)"}, {"same", "not modified, redirect (3xx)"}, {"refused", "refused (4xx)"},
	{"broken", "server's fault (5xx)"}, {"silent", "no answer"},
}

// statusClass returns the class of a status.
func statusClass(status int) int {
	switch {
	case status >= 500:
		return statusBroken
	case status >= 400:
		return statusRefused
	case status >= 300:
		return statusRedirect
	case status >= 100:
		return statusOK
	}
	return statusNone
}

// statusMeanings are what common statuses mean.
var statusMeanings = map[int]string{
	401: "credentials are missing", 403: "forbidden", 404: "not found", 408: "timeout", 410: "gone", 429: "too many requests",
	451: "not available for legal reasons",
	500: "internal error", 502: "bad gateway", 503: "not available now", 504: "gateway timeout",
}

// statusName returns a status with what it means; 0 is no answer.
func statusName(status int) string {
	if status == 0 {
		return "no answer"
	}
	name := strconv.Itoa(status)
	if meaning := statusMeanings[status]; meaning != "" {
		name += ": " + meaning
	}
	return name
}

// A chart is a row of bars, each of which is a stack of layers.
type chart struct {
	ID, Title, Note     string
	About               string // where the numbers are
	Top, Half           string // labels of the scale
	Length              int    // of the axis, in bars
	Layers              []layer
	Tips                []tip
	Left, Middle, Right string // labels of the axis
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

// leastLength is the length of an axis with few bars.
const leastLength = 12

// stack returns a chart of n bars with the values of each, one for each class, and the
// highest bar; that is 0 if there is nothing to draw. Name names a bar, and text writes a
// value.
func stack(
	n int, classes []countClass, values func(int) []int64, name func(int) string, text func(int64) string,
) (c chart, most int64) {
	for i := range n {
		most = max(most, sum(values(i)))
	}
	if most == 0 {
		return c, 0
	}
	top := niceCeiling(most)
	c.Length = max(n, leastLength)
	c.Top, c.Half = text(top), text(top/2)
	paths, totals := make([]strings.Builder, len(classes)), make([]int64, len(classes))
	for i := range n {
		y := 100.0
		var words []string
		for class, n := range values(i) {
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
			c.Tips = append(c.Tips, tip{i, name(i) + ": " + strings.Join(words, ", ")})
		}
	}
	for class, total := range totals {
		if total > 0 {
			c.Layers = append(c.Layers, layer{classes[class].class, classes[class].name, paths[class].String(), text(total)})
		}
	}
	return c, most
}

func sum(all []int64) (total int64) {
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

// decimal returns a number for an attribute of SVG.
func decimal(f float64) string {
	text := strings.TrimRight(strconv.FormatFloat(f, 'f', 2, 64), "0")
	return strings.TrimSuffix(text, ".")
}
