package rdfa

import (
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
)

// copyPatterns carries out property copying (HTML+RDFa §3.5.1): a subject that has
// rdfa:copy gets the properties of the rdfa:Pattern that is the object, and patterns that
// were copied go. The type is copied, too: what copies a pattern can be copied in turn.
func copyPatterns(triples []rdf.Triple, limit int) ([]rdf.Triple, error) {
	c := copier{resources: make(map[rdf.Term]*resource), known: make(map[rdf.Triple]bool)}
	for _, t := range triples {
		c.add(t)
	}
	for i := 0; i < len(c.all); i++ {
		c.follow(c.all[i])
		if len(c.all) > limit || c.steps/4 > limit {
			return nil, fmt.Errorf("more than %d triples with the copied ones: %w", limit, websync.ErrLimit)
		}
	}
	copying := make(map[rdf.Term]bool) // the subjects that have copied a pattern
	for _, t := range c.all {
		if c.isCopy(t) {
			copying[t.Subject] = true
		}
	}
	kept := c.all[:0]
	for _, t := range c.all {
		own := c.of(t.Subject)
		switch {
		case own.pattern && len(own.copiers) > 0, c.isCopy(t), isPattern(t) && copying[t.Subject]:
		default:
			kept = append(kept, t)
		}
	}
	return kept, nil
}

func isPattern(t rdf.Triple) bool {
	return t.Predicate.Value == rdf.Type && t.Object == rdf.IRI(rdfaPattern)
}

// A copier holds the triples of a document while properties are copied.
type copier struct {
	resources map[rdf.Term]*resource
	known     map[rdf.Triple]bool
	all       []rdf.Triple
	steps     int
}

// A resource is a subject, or the object of rdfa:copy.
type resource struct {
	pattern    bool // has the type rdfa:Pattern
	copiers    []rdf.Term
	properties []rdf.Triple
}

func (c *copier) of(t rdf.Term) *resource {
	r := c.resources[t]
	if r == nil {
		r = new(resource)
		c.resources[t] = r
	}
	return r
}

// isCopy reports whether t copies a pattern.
func (c *copier) isCopy(t rdf.Triple) bool {
	return t.Predicate.Value == rdfaCopy && c.of(t.Object).pattern
}

// follow adds the triples that follow from t and those before it.
func (c *copier) follow(t rdf.Triple) {
	own := c.of(t.Subject)
	own.properties = append(own.properties, t)
	if t.Predicate.Value == rdfaCopy {
		target := c.of(t.Object)
		target.copiers = append(target.copiers, t.Subject)
		if target.pattern {
			c.copy(target.properties, t.Subject)
		}
	}
	switch {
	case isPattern(t) && !own.pattern:
		own.pattern = true
		c.copy(own.properties, own.copiers...)
	case own.pattern:
		c.copy([]rdf.Triple{t}, own.copiers...)
	}
}

func (c *copier) add(t rdf.Triple) {
	if !c.known[t] {
		c.known[t] = true
		c.all = append(c.all, t)
	}
}

// copy adds properties to subjects.
func (c *copier) copy(properties []rdf.Triple, subjects ...rdf.Term) {
	for _, subject := range subjects {
		for _, t := range properties {
			c.steps++
			t.Subject = subject
			c.add(t)
		}
	}
}
