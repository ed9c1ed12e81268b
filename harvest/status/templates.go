package status

import (
	_ "embed"
	"html/template"
	"strconv"

	"github.com/websync-go/websync/internal/display"
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
	t := display.New("page").Funcs(template.FuncMap{
		"runStyle": func() template.CSS { return template.CSS(runStyle) },
	})
	return template.Must(template.Must(t.Parse(commonHTML)).Parse(html))
}

// A tile is a number on top of a page.
type tile struct{ Class, Value, Name string }

// A statusView is a status in the table of requests.
type statusView struct{ Class, Name, Requests, Share string }

// newStatusView returns the view of the requests with a status, of so many in all.
func newStatusView(c StatusCount, all int64) statusView {
	class := statusClasses[statusClass(c.Status)].class
	return statusView{class, statusName(c.Status), display.Number(c.Requests), shareText(c.Requests, all)}
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
