// Package rdfa extracts the triples of RDFa 1.1 from HTML, XHTML, SVG and other XML.
//
// It implements RDFa Core 1.1 (Third Edition), HTML+RDFa 1.1 (Second Edition) and
// XHTML+RDFa 1.1, of which RDFa Lite 1.1 is a part. [Extractor.Extract] reads one
// document:
//
//	var x rdfa.Extractor
//	triples, err := x.Extract(body, "https://law.example/eli/1", "text/html", nil)
//
// [rdf.Writer] writes them as N-Quads.
//
// Host languages. The media type decides on the host language, and in XML the root
// element, its @version and the DOCTYPE. Each has its own rules:
//
//   - text/html is read by the HTML parser of golang.org/x/net, and has the rules of
//     HTML+RDFa: base, lang, the default language of <meta>, @datetime and <time>, head
//     and body, no terms in @rel and @rev beside @property, rdf:HTML, and property
//     copying (rdfa:copy, rdfa:Pattern). Scripts do not run, so the content of <noscript>
//     counts. That of <template> does not.
//   - application/xhtml+xml, and other XML whose root is that of XHTML, has the same
//     rules, and xml:base. With a DOCTYPE of XHTML+RDFa 1.0 or 1.1, or one of these as
//     @version, it has those of XHTML+RDFa instead: the terms of its initial context,
//     base, lang, head and body. application/xhtml+xml that is not well-formed is read as
//     HTML.
//   - SVG and other XML has xml:base, and nothing besides RDFa Core.
//
// Encodings. In HTML a byte-order mark counts first, then the charset of the media type,
// then a <meta>. If none is stated, the document is in UTF-8 if its bytes are, else in
// Windows-1252. In XML a byte-order mark counts first, then the charset of the media
// type, then the XML declaration; where one of these two is UTF-8, the bytes decide.
//
// Faults. What a document does wrong does not stop the Extractor: it follows the
// recommendation, which often is to ignore a value, and reports a [websync.Finding].
// These take the place of the processor graph; the rules name its classes. A prefix that
// is not declared makes an absolute IRI of a CURIE, as the recommendation says: eli:title
// without the prefix eli is the IRI eli:title. Documents that are too large, nested too
// deep, or made so that their triples would take far more memory than they do, end with
// [websync.ErrLimit].
//
// IRIs have no characters that N-Quads can't carry: those are percent-encoded. A language
// that is no language tag is dropped.
//
// Not supported: RDFa 1.0, vocabulary expansion (RDFa Core §10), the processor graph as
// triples, RDF/XML inside of SVG, the role attribute, comments and processing
// instructions in literals of XML, the HTTP header Content-Language, encodings of East
// Asia, entity declarations, and positions of findings in HTML beyond the line on which a
// value first occurs.
package rdfa
