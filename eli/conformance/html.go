package conformance

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/display"
	"github.com/websync-go/websync/internal/syntax"
)

//go:embed report.html
var reportHTML string

var reportTemplate = template.Must(display.New("report").Funcs(template.FuncMap{
	"link": linkOf, "plural": plural, "class": classOf, "mark": markOf,
	"severity": func(s websync.Severity) string { return s.String() },
	"total":    func(r Row) int { return r.Errors + r.Warnings + r.Notes },
	"args":     func(name string, d Document) documentView { return documentView{name, d} },
}).Parse(reportHTML))

// A documentView is a document with its heading.
type documentView struct {
	Name     string
	Document Document
}

// classOf returns the class of a status in the style sheet.
func classOf(s Status) string {
	if s == NotChecked {
		return "none"
	}
	return string(s)
}

// markOf returns a status in words, with a sign that does not depend on colours.
func markOf(s Status) string {
	switch s {
	case Pass:
		return "✓ passed"
	case Fail:
		return "✗ failed"
	case Warn:
		return "! warning"
	}
	return "– not checked"
}

// WriteHTML writes the Result as one HTML document without scripts and without external
// resources, for people who know neither this package nor XML: a summary, what to do, and
// each rule with its outcome and examples. Secrets in URLs are left out.
func (r *Result) WriteHTML(w io.Writer) error {
	if err := reportTemplate.Execute(w, newReport(r)); err != nil {
		return fmt.Errorf("conformance: report: %w", err)
	}
	return nil
}

// A report is what the template shows.
type report struct {
	*Result
	Publisher string
	Verdict   string
	Outcome   Status // the class of the verdict
	Version   string // of the program
	Groups    []group
	Todo      []Row    // that failed, then those with warnings
	Files     partsSum // of an index
	Reasons   []reasonCount
}

// A group is the rules on one subject.
type group struct {
	Name, About string
	Rows        []Row
}

// A partsSum sums up the files of an index.
type partsSum struct{ Files, Unread, Errors int }

type reasonCount struct {
	Text  string
	Count int
}

var groups = []struct{ first, name, about string }{
	{"P4-001", "The two channels", "A publisher offers a list of everything (the sitemap) and a list of what is new (the feed)."},
	{"P4-010", "The sitemap as a file", "Programs of all kinds must be able to read the sitemap."},
	{"P4-020", "The sitemap as a list of ELIs", "The list must have all legal resources, each once, and nothing else."},
	{"P4-040", "The pages", "Each ELI must lead to a page that describes the legal resource for programs."},
	{"P4-050", "The feed", "The feed lists every day what has changed."},
	{"P4-080", "The full text", "From each page a program should find the text itself."},
}

var reasons = []struct {
	reason Reason
	text   string
}{
	{NeedsHTTP, "only files were given, or a URL is not known"},
	{NeedsPages, "no pages were visited"},
	{NeedsVisit, "a second visit is needed"},
	{NeedsRegistry, "the list of the ELI registry was not given"},
	{NeedsHuman, "a person has to judge"},
	{NeedsDocument, "a document could not be read"},
	{CannotFail, "they allow something, so nothing can break them"},
}

func newReport(r *Result) *report {
	v := &report{Result: r, Publisher: publisherOf(r), Version: websync.Version}
	v.Verdict, v.Outcome = verdict(r)
	counts := make(map[Reason]int)
	for _, row := range r.Rules {
		if at := len(v.Groups); at < len(groups) && row.ID == groups[at].first {
			v.Groups = append(v.Groups, group{Name: groups[at].name, About: groups[at].about})
		}
		g := &v.Groups[len(v.Groups)-1]
		g.Rows = append(g.Rows, row)
		if row.Status == NotChecked {
			counts[row.Reason]++
		}
	}
	for _, status := range []Status{Fail, Warn} {
		for _, row := range r.Rules {
			if row.Status == status {
				v.Todo = append(v.Todo, row)
			}
		}
	}
	for _, reason := range reasons {
		if n := counts[reason.reason]; n > 0 {
			v.Reasons = append(v.Reasons, reasonCount{reason.text, n})
		}
	}
	for _, part := range r.Parts {
		v.Files.Files++
		v.Files.Errors += part.Errors
		if part.Error != "" {
			v.Files.Unread++
		}
	}
	return v
}

// publisherOf returns the host of the publisher, or the name of a file.
func publisherOf(r *Result) string {
	documents := []Document{r.Sitemap, r.Feed}
	if r.Page != nil {
		documents = append(documents, *r.Page)
	}
	for _, d := range documents {
		if _, host := hostOf(d.URL); host != "" {
			return host
		}
	}
	if r.Page != nil {
		return r.Page.Name
	}
	return r.Sitemap.Name
}

// verdict sums up the result in words.
func verdict(r *Result) (string, Status) {
	switch {
	case r.Failed > 0:
		return fmt.Sprintf("The publisher does not conform to ELI Pillar IV yet: %s failed.",
			plural(r.Failed, "rule", "rules")), Fail
	case r.Warned > 0:
		return "No rule failed, but some have warnings.", Warn
	}
	return "No rule failed.", Pass
}

func plural(n int, one, many string) string { return display.Plural(int64(n), one, many) }

// linkOf returns a URL that can be a link: of the web, without secrets.
func linkOf(url string) string {
	if syntax.HTTPHost(url) == 0 || syntax.URLFlaws(url) != 0 || display.Shown(url) != url {
		return ""
	}
	return url
}
