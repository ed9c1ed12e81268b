// Package rdfsuites runs the public suites of tests for N-Quads, JSON-LD and RDFa. It has
// tests only. They run if WEBSYNC_RDF_SUITES names a folder with clones of the
// repositories w3c/json-ld-api, w3c/rdf-tests and rdfa/rdfa.github.io, in folders of their
// names:
//
//	WEBSYNC_RDF_SUITES=/tmp/suites go test ./internal/testing/rdfsuites
//
// The page docs/rdf.md names the tests that are not passed, with the reasons. The tests
// here fail if others are not, or if one of them is.
package rdfsuites
