package jsonld

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/websync-go/websync"
)

// Fixed limits of what is expanded. What exceeds one is websync.ErrLimit.
const (
	maxValues   = 100_000   // JSON values in all scripts of a document
	maxCost     = 1_000_000 // definitions of terms that are read or copied for all contexts
	maxExpanded = 64 << 20  // bytes of IRIs
	maxChain    = 8         // terms that are defined by each other
	maxSpecial  = 32        // contexts of a script that reset, import or do not propagate
)

// count counts the JSON values in v, up to one more than limit, and the imports.
func count(v any, limit int, imports *int) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if n > limit {
				break
			}
			n += count(item, limit-n, imports)
		}
	case object:
		for key, value := range v {
			if n > limit {
				break
			}
			if key == "@import" {
				*imports++
			}
			n += count(value, limit-n, imports)
		}
	}
	return n
}

// A measure is what determines how much memory and time the expansion of a script takes
// at most. Contexts of a script apply where they are, or, if a term's definition has one
// of its own, anywhere.
type measure struct {
	values   int             // JSON values outside of contexts
	contexts int             // that apply to objects
	terms    int             // definitions in all contexts
	names    map[string]bool // of the terms
	scoped   int             // contexts in definitions
	resets   int             // null, or @propagate
	base     int             // bytes that each IRI may begin with
	relative int             // bytes that a relative @vocab adds to the one before
	longest  int             // bytes of a definition
	path     int             // bytes of the JSON Pointer of the current value
	pointers int             // of all values

	definitions map[string][]string // terms, and those that define them
	known       map[uintptr]bool    // contexts that are measured
}

func newMeasure(base int) *measure {
	return &measure{base: base, names: make(map[string]bool),
		definitions: make(map[string][]string), known: make(map[uintptr]bool)}
}

// checkValues returns an error if a script has too many JSON values.
func (d *extraction) checkValues(doc any) error {
	imports := 0
	d.values += count(doc, maxValues-d.values, &imports)
	switch {
	case d.values > maxValues:
		return fmt.Errorf("more than %d JSON values: %w", maxValues, websync.ErrLimit)
	case imports > maxSpecial:
		return fmt.Errorf("more than %d contexts with @import: %w", maxSpecial, websync.ErrLimit)
	}
	return nil
}

// check returns an error if the expansion of nodes, whose contexts are prepared, could
// take too much. Their bases have at most base bytes.
func (d *extraction) check(nodes []any, base int) error {
	m := newMeasure(base)
	m.value(nodes)
	applied := m.contexts
	if m.scoped > 0 || m.resets > 0 {
		applied += m.values
	}
	if m.scoped > 0 {
		m.relative *= maxDepth // a context in a definition may apply again and again
	}
	chain := m.chain()
	d.cost += 3*float64(m.terms) + float64(applied)*float64(len(m.names))*float64(1+m.resets)
	switch {
	case m.resets > maxSpecial:
		return fmt.Errorf("more than %d contexts that are null or do not propagate: %w", maxSpecial, websync.ErrLimit)
	case chain > maxChain:
		return fmt.Errorf("more than %d terms that are defined by each other: %w", maxChain, websync.ErrLimit)
	case d.cost > maxCost:
		return fmt.Errorf("%d contexts with %d terms: %w", applied, m.terms, websync.ErrLimit)
	case float64(m.values+len(m.names))*float64(m.base+m.relative+(chain+1)*m.longest) > maxExpanded:
		return fmt.Errorf("IRIs that become too long: %w", websync.ErrLimit)
	case d.pointers > 0 && m.pointers > maxExpanded, d.pointers > maxExpanded:
		return fmt.Errorf("names that are too long beside a @base: %w", websync.ErrLimit)
	}
	return nil
}

// value measures a value of a node.
func (m *measure) value(v any) {
	m.values++
	m.pointers += m.path
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			m.value(item)
		}
	case object:
		for key, value := range v {
			if key == "@context" {
				m.contexts++
				m.context(value)
				continue
			}
			m.path += len(key)
			m.value(value)
			m.path -= len(key)
		}
	}
}

// context measures a context without references to others.
func (m *measure) context(v any) {
	switch v := v.(type) {
	case nil:
		m.resets++
	case []any:
		for _, item := range v {
			m.contexts++
			m.context(item)
		}
	case object:
		m.terms += len(v)
		id := reflect.ValueOf(v).Pointer()
		if m.known[id] {
			return // a context that several objects refer to
		}
		m.known[id] = true
		for term, definition := range v {
			m.term(term, definition)
		}
	}
}

func (m *measure) term(term string, definition any) {
	m.names[term] = true
	switch term {
	case "@vocab", "@base":
		s, _ := definition.(string)
		if strings.Contains(s, ":") {
			m.base = max(m.base, len(s))
		} else {
			m.relative += len(s)
		}
		m.defines(term, s)
		return
	case "@propagate":
		m.resets++
		return
	}
	if at := strings.IndexByte(term, ':'); at > 0 {
		m.defines(term, term[:at])
	}
	m.longest = max(m.longest, len(term))
	switch v := definition.(type) {
	case string:
		m.defines(term, v)
	case object:
		for _, key := range [...]string{"@id", "@type", "@reverse", "@index", "@nest"} {
			if s, ok := v[key].(string); ok {
				m.defines(term, s)
			}
		}
		if scoped, ok := v["@context"]; ok {
			m.scoped++
			m.contexts++
			m.context(scoped)
		}
	}
}

// defines notes that a term is defined by what s refers to.
func (m *measure) defines(term, s string) {
	m.longest = max(m.longest, len(s))
	prefix, _, _ := strings.Cut(s, ":")
	for _, other := range [...]string{s, prefix} {
		if other != "" && other != term {
			m.definitions[term] = append(m.definitions[term], other)
		}
	}
}

// chain returns the length of the longest chain of terms, or more than maxChain.
func (m *measure) chain() int {
	lengths := make(map[string]int)
	var length func(term string, depth int) int
	length = func(term string, depth int) int {
		others, defined := m.definitions[term]
		if !defined || depth > maxChain {
			return depth
		}
		if l, ok := lengths[term]; ok {
			return depth + l
		}
		longest := depth + 1
		for _, other := range others {
			longest = max(longest, length(other, depth+1))
		}
		if longest <= maxChain {
			lengths[term] = longest - depth
		}
		return longest
	}
	longest := 0
	for term := range m.definitions {
		if longest = max(longest, length(term, 0)); longest > maxChain {
			break
		}
	}
	return longest
}
