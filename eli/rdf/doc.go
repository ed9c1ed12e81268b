// Package rdf has the terms, triples and quads of RDF 1.1, and reads and writes them as
// N-Quads and N-Triples.
//
// Reading. A [Reader] streams the quads of an N-Quads document. Each N-Triples document
// is one, too. It checks the whole grammar: the first line that departs from it ends
// reading with a [*websync.ParseError].
//
// Writing. A [Writer] writes the canonical form of N-Quads: one space between terms, and
// an escape only where one is needed. It refuses terms that N-Quads can't carry, so a
// Reader reads all that it writes. Equal quads give equal lines.
//
// Terms are comparable with ==. Two graphs that differ in the labels of their blank nodes
// only are not equal in that sense.
//
// Not supported: Turtle, TriG, RDF/XML, the triple terms and base directions of RDF 1.2,
// canonical labels for blank nodes, and lines that end with a carriage return alone.
package rdf
