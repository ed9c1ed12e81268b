package eli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/eli/rdfa"
	"github.com/websync-go/websync/internal/webpage"
)

// An Extractor extracts the triples of a page: an rdfa.Extractor or a jsonld.Extractor,
// for example. It is safe for concurrent use.
type Extractor interface {
	// Extract returns the triples of the page in src. Base is the URL that the page was
	// obtained from, after redirects, and contentType the value of the HTTP header.
	// Report receives each departure from a specification that does not stop the
	// Extractor; it may be nil. A page without triples is no error. The error is
	// websync.ErrNotDocument for a page that is not of a kind that the Extractor reads.
	Extract(src io.Reader, base, contentType string, report func(websync.Finding)) ([]rdf.Triple, error)
}

var _ Extractor = (*rdfa.Extractor)(nil)

// ReadPage extracts the triples of a page with all extractors, and returns them as
// NewGraph does. If extractors is empty, it is RDFa only. Base and contentType are as in
// [Extractor]. Findings carry base as their document.
//
// The triples of RDFa come first, so that its dates count if others differ, which is a
// finding. A page without triples is an empty Graph, with one exception: if the page has
// JSON-LD, and no extractor but those of RDFa was given, the error is ErrNoMetadata and
// says so. The errors of extractors end reading, except for websync.ErrNotDocument of
// some of them: metadata of which a part is missing must not replace what is known.
func ReadPage(page []byte, base, contentType string, extractors []Extractor, report func(websync.Finding)) (*Graph, error) {
	return readPage(page, base, "", contentType, extractors, report)
}

// readPage reads the page of a legal resource whose URI is known; "" if it is not.
func readPage(
	page []byte, base, uri, contentType string, extractors []Extractor, report func(websync.Finding),
) (*Graph, error) {
	if len(extractors) == 0 {
		extractors = []Extractor{new(rdfa.Extractor)}
	}
	var all, others []rdf.Triple
	var refused []error
	for i, x := range extractors {
		triples, err := x.Extract(bytes.NewBuffer(page), base, contentType, report)
		switch {
		case errors.Is(err, websync.ErrNotDocument):
			refused = append(refused, err)
			continue
		case err != nil:
			return nil, err
		}
		if _, isRDFa := x.(*rdfa.Extractor); isRDFa {
			all = appendRelabelled(all, triples, i)
		} else {
			others = appendRelabelled(others, triples, i)
		}
	}
	if len(refused) == len(extractors) {
		return nil, refused[0]
	}
	g := newGraph(append(all, others...), len(all), base, uri, report)
	readsMore := func(x Extractor) bool { _, isRDFa := x.(*rdfa.Extractor); return !isRDFa }
	if !g.hasMetadata() && webpage.ContainsFold(page, "application/ld+json") && !slices.ContainsFunc(extractors, readsMore) {
		return nil, fmt.Errorf("eli: %s: %w in RDFa, but there is JSON-LD: add a jsonld.Extractor",
			websync.RedactURL(base), ErrNoMetadata)
	}
	return g, nil
}

// appendRelabelled appends triples to all. The labels of blank nodes are unique within
// the triples of one Extractor only, so each Extractor gets a prefix.
func appendRelabelled(all, triples []rdf.Triple, extractor int) []rdf.Triple {
	prefix := string(rune('a'+extractor%26)) + strconv.Itoa(extractor/26) + "-"
	relabel := func(t rdf.Term) rdf.Term {
		if t.Kind == rdf.KindBlank {
			t.Value = prefix + t.Value
		}
		return t
	}
	for _, t := range triples {
		t.Subject, t.Object = relabel(t.Subject), relabel(t.Object)
		all = append(all, t)
	}
	return all
}
