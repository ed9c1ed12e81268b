package rdf

import (
	"fmt"
	"io"

	"github.com/websync-go/websync/internal/document"
)

// A Writer writes N-Quads (W3C N-Quads 1.1) in their canonical form.
type Writer struct {
	dst io.Writer
	buf []byte
	err error // sticks
}

// NewWriter returns a Writer to w. Call Flush after the last quad.
func NewWriter(w io.Writer) *Writer { return &Writer{dst: w} }

// Write writes one quad as a line. If N-Quads can't carry one of its terms, or a term is
// of a kind that can't stand in its position, nothing is written for it, and Write may be
// called again. An error of the underlying writer sticks.
func (w *Writer) Write(q Quad) error {
	if w.err != nil {
		return w.err
	}
	if err := check(q); err != nil {
		return err
	}
	w.buf = appendQuad(w.buf, q)
	if len(w.buf) >= document.FlushSize {
		return w.Flush()
	}
	return nil
}

// Flush writes what is buffered to the underlying writer.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.buf, w.err = document.Flush("rdf", w.dst, w.buf)
	}
	return w.err
}

// check returns an error for a quad that N-Quads can't carry.
func check(q Quad) error {
	for _, p := range [...]struct {
		name  string
		term  Term
		kinds string
		fits  bool
	}{
		{"subject", q.Subject, "an IRI or a blank node", q.Subject.Kind == KindIRI || q.Subject.Kind == KindBlank},
		{"predicate", q.Predicate, "an IRI", q.Predicate.Kind == KindIRI},
		{"object", q.Object, "a term", q.Object.Kind != 0},
		{"graph", q.Graph, "an IRI or a blank node", q.Graph.Kind != KindLiteral},
	} {
		if !p.fits {
			return fmt.Errorf("rdf: the %s is the %s %.80q, but must be %s", p.name, p.term.Kind, p.term, p.kinds)
		}
		if p.term.Kind == 0 {
			continue // the default graph
		}
		if fault := p.term.fault(); fault != "" {
			return fmt.Errorf("rdf: the %s %.80q is %s", p.name, p.term, fault)
		}
	}
	return nil
}
