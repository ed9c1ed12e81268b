package document

import (
	"slices"

	"github.com/websync-go/websync"
)

// Rules are those of one package, in the order in which its source declares them. A finding
// of a reader or validator names its rule.
//
//	var rules = document.NewRules("sitemap")
//
//	var ruleEmpty = rules.Warning("empty", section, "no entries")
type Rules struct {
	prefix string
	all    []websync.Rule
}

// NewRules returns Rules whose names begin with prefix and a hyphen.
func NewRules(prefix string) *Rules { return &Rules{prefix: prefix + "-"} }

// Info adds a rule about something that is allowed but worth knowing.
func (t *Rules) Info(name, section, summary string) websync.Rule {
	return t.Add(name, section, websync.SeverityInfo, summary)
}

// Warning adds a rule about something that is discouraged, or that readers accept.
func (t *Rules) Warning(name, section, summary string) websync.Rule {
	return t.Add(name, section, websync.SeverityWarning, summary)
}

// Error adds a rule about a violation of the specification.
func (t *Rules) Error(name, section, summary string) websync.Rule {
	return t.Add(name, section, websync.SeverityError, summary)
}

// Add adds a rule of a severity.
func (t *Rules) Add(name, section string, severity websync.Severity, summary string) websync.Rule {
	r := websync.Rule{Name: t.prefix + name, Section: section, Severity: severity, Summary: summary}
	if slices.ContainsFunc(t.all, func(held websync.Rule) bool { return held.Name == r.Name }) {
		panic("document: rule " + r.Name + " is declared twice")
	}
	t.all = append(t.all, r)
	return r
}

// All returns a copy of the rules, in the order of their declaration.
func (t *Rules) All() []websync.Rule { return slices.Clone(t.all) }
