package rdfa

import (
	"fmt"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
)

// copyPatterns carries out property copying (HTML+RDFa §3.5): a subject that has
// rdfa:copy gets the properties of the rdfa:Pattern that is the object, and patterns that
// were copied go.
func copyPatterns(triples []rdf.Triple, limit int) ([]rdf.Triple, error) {
	c := copier{patterns: make(map[rdf.Term]*pattern), known: make(map[rdf.Triple]bool)}
	isType := func(t rdf.Triple) bool { return t.Predicate.Value == rdf.Type && t.Object == rdf.IRI(rdfaPattern) }
	for _, t := range triples {
		if isType(t) && c.patterns[t.Subject] == nil {
			c.patterns[t.Subject] = new(pattern)
		}
	}
	for _, t := range triples {
		c.add(t)
	}
	for i := 0; i < len(c.all); i++ {
		t := c.all[i]
		if isType(t) {
			continue
		}
		if target := c.patterns[t.Object]; target != nil && t.Predicate.Value == rdfaCopy {
			target.copiers = append(target.copiers, t.Subject)
			for _, property := range target.properties {
				c.copy(t.Subject, property)
			}
		}
		if own := c.patterns[t.Subject]; own != nil {
			own.properties = append(own.properties, t)
			for _, copier := range own.copiers {
				c.copy(copier, t)
			}
		}
		if len(c.all) > limit || c.steps/4 > limit {
			return nil, fmt.Errorf("more than %d triples with the copied ones: %w", limit, websync.ErrLimit)
		}
	}
	kept := c.all[:0]
	for _, t := range c.all {
		own, target := c.patterns[t.Subject], c.patterns[t.Object]
		switch {
		case own != nil && len(own.copiers) > 0, target != nil && t.Predicate.Value == rdfaCopy:
		default:
			kept = append(kept, t)
		}
	}
	return kept, nil
}

// A copier holds the triples of a document while properties are copied.
type copier struct {
	patterns map[rdf.Term]*pattern
	known    map[rdf.Triple]bool
	all      []rdf.Triple
	steps    int
}

// A pattern is a resource with the type rdfa:Pattern.
type pattern struct {
	copiers    []rdf.Term
	properties []rdf.Triple
}

func (c *copier) add(t rdf.Triple) {
	if !c.known[t] {
		c.known[t] = true
		c.all = append(c.all, t)
	}
}

func (c *copier) copy(subject rdf.Term, t rdf.Triple) {
	c.steps++
	t.Subject = subject
	c.add(t)
}
