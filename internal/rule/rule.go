// Package rule holds the table of a package's rules. A finding of a reader or validator
// names its rule.
package rule

import (
	"slices"

	"github.com/websync-go/websync"
)

// A Table is the rules of one package, in the order in which its source declares them:
//
//	var rules = rule.NewTable("sitemap")
//
//	var ruleEmpty = rules.Warning("empty", section, "no entries")
type Table struct {
	prefix string
	all    []websync.Rule
}

// NewTable returns a Table of rules whose names begin with prefix and a hyphen.
func NewTable(prefix string) *Table { return &Table{prefix: prefix + "-"} }

// Info adds a rule about something that is allowed but worth knowing.
func (t *Table) Info(name, section, summary string) websync.Rule {
	return t.Add(name, section, websync.SeverityInfo, summary)
}

// Warning adds a rule about something that is discouraged, or that readers accept.
func (t *Table) Warning(name, section, summary string) websync.Rule {
	return t.Add(name, section, websync.SeverityWarning, summary)
}

// Error adds a rule about a violation of the specification.
func (t *Table) Error(name, section, summary string) websync.Rule {
	return t.Add(name, section, websync.SeverityError, summary)
}

// Add adds a rule of a severity.
func (t *Table) Add(name, section string, severity websync.Severity, summary string) websync.Rule {
	r := websync.Rule{Name: t.prefix + name, Section: section, Severity: severity, Summary: summary}
	if slices.ContainsFunc(t.all, func(held websync.Rule) bool { return held.Name == r.Name }) {
		panic("rule: " + r.Name + " is declared twice")
	}
	t.all = append(t.all, r)
	return r
}

// All returns a copy of the rules, in the order of their declaration.
func (t *Table) All() []websync.Rule { return slices.Clone(t.all) }
