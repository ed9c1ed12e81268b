package conformance

import (
	"slices"
	"time"

	"github.com/websync-go/websync"
)

// A Status is the outcome of a rule.
type Status string

// The outcomes of a rule.
const (
	Pass       Status = "pass"        // checked, without an error and a warning
	Warn       Status = "warn"        // warnings only
	Fail       Status = "fail"        // at least one error
	NotChecked Status = "not checked" // see Row.Reason
)

// A Reason is why a rule was not checked.
type Reason string

// The reasons why a rule was not checked. Row.Why states more.
const (
	NeedsHuman    Reason = "human"        // a person has to judge, or to ask for the check
	NeedsRegistry Reason = "registry"     // the registry's list of pairs was not given
	NeedsVisit    Reason = "second visit" // there is no profile of an earlier visit
	NeedsHTTP     Reason = "http"         // only files were given, or no URL is known
	NeedsPages    Reason = "no pages"     // no page was sampled, or none could be read
	NeedsDocument Reason = "document"     // the sitemap or the feed can't be read
	CannotFail    Reason = "permission"   // the rule allows something: nothing can break it
)

// A Document is one document that was checked.
type Document struct {
	Name     string           `json:"file"`          // URL or file name, as in findings
	URL      string           `json:"url,omitempty"` // where it is published; empty if not known
	Kind     string           `json:"kind"`          // urlset, sitemapindex, text, feed, entry or unknown
	Entries  int              `json:"entries"`
	Newest   websync.Datetime `json:"newest,omitzero"` // of its entries
	Errors   int              `json:"errors"`
	Warnings int              `json:"warnings"`
	Error    string           `json:"error,omitempty"` // why it could not be read to its end
}

// A Row is the outcome of one rule.
type Row struct {
	ID       string            `json:"id"`      // "P4-001"
	Kind     Kind              `json:"kind"`    // "M"
	Section  string            `json:"section"` // of the specification
	Rule     string            `json:"rule"`    // what it demands
	Status   Status            `json:"status"`
	Errors   int               `json:"errors"`
	Warnings int               `json:"warnings"`
	Notes    int               `json:"notes"`              // findings of severity info
	Examples []websync.Finding `json:"examples,omitempty"` // at most 5, errors first
	Reason   Reason            `json:"reason,omitempty"`   // if not checked
	Why      string            `json:"why,omitempty"`      // likewise, in a sentence
	Note     string            `json:"note,omitempty"`     // what limits the check
	Advice   string            `json:"advice,omitempty"`   // if it failed
}

// A Result is the outcome of [Checker.Check]. Its URLs are without secrets, except for
// those of the Profile.
type Result struct {
	Version int       `json:"version"` // of this form: 1
	Checked time.Time `json:"checked"`

	Sitemap Document   `json:"sitemap"`
	Parts   []Document `json:"parts,omitempty"` // that an index lists
	Feed    Document   `json:"feed"`
	Page    *Document  `json:"page,omitempty"` // that was given; nil: none

	Pages  int      `json:"pages"`            // that were visited
	Sample []string `json:"sample,omitempty"` // their URLs

	// Interval is the time between two pages, in seconds; 0 if no pages were visited.
	Interval float64 `json:"interval"`

	Passed  int   `json:"passed"`
	Warned  int   `json:"warned"`
	Failed  int   `json:"failed"`
	Skipped int   `json:"notChecked"`
	Rules   []Row `json:"rules"` // all 63, in the order of their ids

	// Profile describes this visit. Give it to the Checker of the next one. It is nil if
	// the sitemap or the feed could not be read.
	Profile *Profile `json:"-"`
}

// Row returns the row of a rule, such as "P4-001".
func (r *Result) Row(id string) (Row, bool) {
	for _, row := range r.Rules {
		if row.ID == id {
			return row, true
		}
	}
	return Row{}, false
}

// maxExamples is how many findings of a rule a Result keeps.
const maxExamples = 5

// A state is what is known of one rule during a check.
type state struct {
	checked                 bool
	errors, warnings, notes int
	examples                []websync.Finding
	reason                  Reason
	why, note               string
}

func (s *state) add(f websync.Finding) {
	s.checked = true
	switch f.Severity {
	case websync.SeverityError:
		s.errors++
	case websync.SeverityWarning:
		s.warnings++
	default:
		s.notes++
	}
	// Examples are ordered by severity, the first ones of each.
	at := len(s.examples)
	for at > 0 && s.examples[at-1].Severity < f.Severity {
		at--
	}
	if at < maxExamples {
		s.examples = slices.Insert(s.examples, at, f)
		s.examples = s.examples[:min(len(s.examples), maxExamples)]
	}
}

func (s *state) status() Status {
	switch {
	case s.errors > 0:
		return Fail
	case s.warnings > 0:
		return Warn
	case s.checked:
		return Pass
	}
	return NotChecked
}
